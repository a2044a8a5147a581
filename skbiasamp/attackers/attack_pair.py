"""Two attacks with the same settings, on labels and on predictions, and what they reach.

Labels are perturbed at random until they are as good as the model's predictions: as counts of rows,
so that a million rows cost no more than a thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Members, Side, codes_of
from skbiasamp._utils.progress import progress
from skbiasamp.attackers.attack import (
    OF_PROBABILITIES,
    Attack,
    Settings,
    divide,
    hard,
    inverse_spread,
    number_of_cells,
    quality_of,
    shares_of,
)
from skbiasamp.attackers.resampling import draw_folds
from skbiasamp.counts.cells import positive_position, side_of, sides_of, take
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.draws import divided_into_blocks
from skbiasamp.counts.pair_sums import Blocks


def task_f1(right: Array, true: Array, predicted: Array) -> Array:
    """Return the F1 averaged over tasks (the last axis)."""
    return divide(2 * right, true + predicted).mean(axis=-1)


def f1_at(rate: Array, true: Array, total: Array, n_others: int) -> Array:
    """Return the expected F1, averaged over tasks, of labels that are perturbed at a rate."""
    kept = true * (1 - rate[..., None])
    predicted = kept + (total - true) * rate[..., None] / n_others
    return task_f1(kept, true, predicted)


# --------------------------------------------------------------------------- tables


def perturb(
    table: Array,
    rate: Array,
    rng: np.random.Generator | None,
    *,
    axis: int,
    n_bits: int = 0,
    rows_per_weight: float = 1.0,
) -> Array:
    """Move labels along an axis of tables to another class, each with probability `rate`.

    Without `rng` the expected table is returned. `n_bits` says that the axis holds the patterns
    of so many 0/1 labels, which flip one by one; two classes are one such label. `rate` has the
    leading axes of `table`.
    """
    table = np.moveaxis(table, axis, -1)
    rate = rate[..., None, None]
    shape, n_others = table.shape, table.shape[-1] - 1
    for bit in range(n_bits or int(n_others == 1)):
        table = table.reshape(*shape[:-1], -1, 2, 2**bit)
        stay, go, unit = _movers(table, rate[..., None, None], rng, rows_per_weight)
        table = (stay + (go * unit)[..., ::-1, :]).reshape(shape)
    if n_bits or n_others < 2:
        return np.moveaxis(table, -1, axis)
    stay, go, unit = _movers(table, rate, rng, rows_per_weight)
    if rng is None:
        arrived = (go.sum(axis=-1, keepdims=True) - go) / n_others
    else:
        arrived = _scatter(go, unit, rng)
    return np.moveaxis(stay + arrived, -1, axis)


def _movers(
    table: Array, rate: Array, rng: np.random.Generator | None, rows_per_weight: float
) -> tuple[Array, Array, Array]:
    """Return the weight that stays in each cell, how many rows move, and the weight of a row.

    If all rows move, exactly nothing stays: not what rounding leaves of it.
    """
    if rng is None:
        return table * (1 - rate), table * rate, np.ones(1)
    # Fractional weights move as the rows they are worth.
    n = np.where(table > 0, np.maximum(np.rint(table * rows_per_weight), 1), 0).astype(np.int64)
    unit = divide(table, n)
    go = rng.binomial(n, rate)
    return (n - go) * unit, go, unit


def _scatter(count: Array, unit: Array, rng: np.random.Generator) -> Array:
    """Send each mover, with its weight, to a uniformly random other class of the last axis."""
    n_classes = count.shape[-1]
    if count.sum() < count.size * n_classes:  # few rows: one by one
        origin = np.repeat(np.arange(count.size), count.ravel())
        steps = rng.integers(1, n_classes, size=len(origin))
        aim = origin - origin % n_classes + (origin % n_classes + steps) % n_classes
        return np.bincount(aim, unit.ravel()[origin], minlength=count.size).reshape(count.shape)
    arrived = np.zeros(count.shape)
    for k in range(n_classes):
        others = np.delete(np.arange(n_classes), k)
        shares = np.full(n_classes - 1, 1 / (n_classes - 1))
        arrived[..., others] += rng.multinomial(count[..., k], shares) * unit[..., [k]]
    return arrived


# --------------------------------------------------------------------------- what attackers reach

# Numbers held at once while drawing.
_HELD = 1 << 22


class Qualities(NamedTuple):
    """What attackers reach on the labels and on the predictions: (draws, targets).

    `chance` is the quality of the best guess of the predictions that ignores its input.
    """

    data: Array
    model: Array
    chance: Array


def above_chance(qualities: Qualities) -> Array:
    """Return how far attackers on predictions beat the best guess that ignores its input."""
    model, chance = qualities.model, qualities.chance
    # Without any error both are infinite.
    return np.subtract(model, chance, out=np.zeros(model.shape), where=model != chance)


# --------------------------------------------------------------------------- exact attackers


def majority(train: Array) -> Array:
    """Return the most frequent class of each input, as shares; ties share it."""
    table = _with_every_input(train)
    # Balanced weights carry rounding noise, which must not break a tie.
    top = table >= table.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return np.asarray(top / top.sum(axis=-1, keepdims=True))


def class_shares(train: Array) -> Array:
    """Return the share of each class among the rows of each input."""
    return shares_of(_with_every_input(train), axis=-1)


def _with_every_input(train: Array) -> Array:
    """Give inputs without training rows the classes of all rows."""
    has_rows = train.sum(axis=-1, keepdims=True) > 0
    return train if has_rows.all() else np.where(has_rows, train, train.sum(axis=-2, keepdims=True))


def balance(table: Array) -> Array:
    """Give every class the same weight, and the table its total."""
    total = table.sum(axis=-2, keepdims=True)
    n = np.maximum((total > 0).sum(axis=-1, keepdims=True), 1)
    balanced = np.asarray(table * divide(1.0, total))
    balanced *= total.sum(axis=-1, keepdims=True)  # in place: tables are large
    balanced /= n
    return balanced


def other_folds(table: Array) -> Array:
    """Return for each fold the sum of the others; a lone one is itself."""
    return table if table.shape[1] == 1 else table.sum(axis=1, keepdims=True) - table


# --------------------------------------------------------------------------- the pair


@dataclass(frozen=True, eq=False)
class AttackPair:
    """Two attacks with the same settings: on the labels (`data`) and on the predictions (`model`).

    `perturbed` says which side of the attack on labels is perturbed until it is as good as the
    model; `truth` names these labels. Without a model there is only the first attack.
    """

    data: Attack
    model: Attack | None
    settings: Settings
    perturbed: Literal["input", "target"] | None = None
    truth: SideName = "task"

    @property
    def cells(self) -> Contingency:
        """The cells that both attacks read."""
        return self.data.cells

    @property
    def attacks(self) -> list[Attack]:
        """The attack on labels and, if there are predictions, the attack on them."""
        return [self.data] if self.model is None else [self.data, self.model]

    @property
    def rowwise(self) -> bool:
        """Whether each draw perturbs inputs row by row, rather than counts of inputs."""
        matrix = side_of(self.cells, self.truth).is_matrix
        return matrix and self.perturbed == "input" and not self.data.n_bits

    @property
    def few(self) -> bool:
        """Whether exact attackers have small tables, see `Attack.few`."""
        return all(attack.few for attack in self.attacks)

    @property
    def n_folds(self) -> int:
        """Number of folds of the audited rows: 1 if attackers learn from other rows."""
        return 1 if self.data.training is not None else self.settings.cv or 1

    def merged(self) -> AttackPair:
        """Return the pair over fewer cells: neighbours that attackers cannot tell apart are one."""
        cells, every = self.cells, [side for side in sides_of(self.cells).values() if not side.soft]
        if self.perturbed is not None:
            truth, prediction = self._compared(cells)
            every.append(hard(prediction, truth, positive_position(cells, self.truth)))
        keys = [side.labels.keys() for side in every]
        keys += [attack.input_codes[:, None] for attack in self.attacks]
        differ = np.zeros(cells.n_cells - 1, dtype=bool)
        for key in keys:
            differ |= (key[1:] != key[:-1]).any(axis=1)
        first = np.flatnonzero(np.append(True, differ))
        fewer = take(cells, first, np.add.reduceat(cells.weight, first))

        def over_fewer(attack: Attack) -> Attack:
            assert isinstance(attack.target, Codes | Members)
            codes, target = attack.input_codes[first], attack.target.take(first)
            return replace(attack, cells=fewer, input_codes=codes, target=target)

        model = None if self.model is None else over_fewer(self.model)
        return replace(self, data=over_fewer(self.data), model=model)

    # ------------------------------------------------------------------ equalisation

    @property
    def noisy(self) -> bool:
        """Whether labels are numbers, which get normal noise in place of flips."""
        numbers = self.perturbed == "target" and not self.data.n_classes
        return numbers or self.cells.soft(self.truth)

    @cached_property
    def capped(self) -> Array | None:
        """For each target that is perturbed, whether the model is worse than pure noise."""
        if self.perturbed is None or self.noisy:
            return None
        return self._flip_rates(self.cells, self.cells.weight[None])[1][0]

    @property
    def flips(self) -> dict[str, Any]:
        """The mean rate of flipped labels, and whether the model is worse than pure noise."""
        if self.capped is None:
            return {}
        rates = self.rates(self.cells, self.cells.weight[None])
        return {"flip_rate": float(rates.mean()), "flip_rate_capped": bool(self.capped.any())}

    def rates(self, cells: Contingency, weight: Array) -> Array:
        """Return how much to perturb until labels are as good as the model: (draws, 1 or targets).

        A rate of labels that change, or the standard deviation of noise.
        """
        if self.perturbed is None:
            return np.zeros((len(weight), 1))
        if self.noisy:
            truth, prediction = self._compared(cells)
            gap = number_of_cells(prediction) - number_of_cells(truth)
            return np.sqrt(weight @ gap**2 / weight.sum(axis=-1))[:, None]
        return self._flip_rates(cells, weight)[0]

    def _compared(self, cells: Contingency) -> tuple[Side, Side]:
        if self.settings.at is not None:
            return (side_of(cells, self.truth),) * 2
        predicted: SideName = "task_pred" if self.truth == "task" else "group_pred"
        if predicted == "task_pred" and cells.has("task_decision"):
            predicted = "task_decision"
        return side_of(cells, self.truth), side_of(cells, predicted)

    def _flip_rates(self, cells: Contingency, weight: Array) -> tuple[Array, Array]:
        """Return how often labels must be perturbed to be as good as predictions: (draws, targets).

        The rate is at most that of pure noise: labels that are perturbed more often carry
        information again. The second array says where even that is too good. All columns of an
        input have one rate, columns of a target one each; the classes of one label share theirs.
        """
        truth, at = side_of(cells, self.truth), self.settings.at
        shared = self.perturbed == "input" or not truth.is_matrix
        n_others = 1 if truth.is_matrix else max(len(truth.names) - 1, 1)
        if id(cells) not in self._agreements:
            # The cells are kept too: others that are made later could have the same id.
            self._agreements[id(cells)] = cells, self._agreement(cells)
        most, total = n_others / (n_others + 1), weight.sum(axis=-1)[:, None]
        sums = weight @ self._agreements[id(cells)][1]
        if self.settings.equalize == "accuracy":
            wrong = sums / total if at is None else np.full(sums.shape, 1 - at)
            wrong = wrong.mean(axis=-1, keepdims=True) if shared else wrong
            return np.minimum(wrong, most), wrong > most + 1e-9
        axis = -2 if shared else -1
        right, true, predicted = (np.expand_dims(part, axis) for part in np.split(sums, 3, axis=-1))
        f1 = task_f1(right, true, predicted)
        f1 = f1 if at is None else np.full(f1.shape, at)
        of_labels: Any = (true, total[..., None], n_others)
        # F1 falls with the rate, so that halving the interval finds it.
        low, high = np.zeros(f1.shape), np.full(f1.shape, most)
        for _ in range(50):
            middle = (low + high) / 2
            above = f1_at(middle, *of_labels) > f1
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        # The rate is exactly 0 for a perfect model.
        return low, f1_at(np.full(f1.shape, most), *of_labels) > f1 + 1e-9

    def _agreement(self, cells: Contingency) -> Array:
        """Return columns whose sums say how well labels and predictions agree.

        Where they differ or, for F1, where both are positive, labels are and predictions are. The
        F1 of a binary label is about its positive class.
        """
        positive = positive_position(cells, self.truth)
        truth, prediction = self._compared(cells)
        prediction = hard(prediction, truth, positive)
        accuracy = self.settings.equalize == "accuracy"
        if accuracy and not truth.is_matrix:
            return (codes_of(truth) != codes_of(prediction))[:, None]
        labels, predictions = (side.labels.dense(slice(None), bool) for side in (truth, prediction))
        if not truth.is_matrix and truth.one_label and len(truth.names) == 2:
            labels, predictions = (side[:, [positive or 0]] for side in (labels, predictions))
        if accuracy:
            return np.asarray(labels != predictions)
        return np.hstack([labels & predictions, labels, predictions])

    @cached_property
    def _agreements(self) -> dict[int, tuple[Contingency, Array]]:
        """Those of the audited rows, and of training rows, once they are asked for."""
        return {}

    def rate_of(self, attack: Attack, rates: Array | None) -> Array | None:
        """Return the rates of an attack whose labels are perturbed."""
        return rates if attack is self.data and self.perturbed is not None else None

    def tables(
        self, attack: Attack, weight: Array, rate: Array | None, rng: np.random.Generator | None
    ) -> Array:
        """Return (draws, folds, targets, inputs, classes), perturbed at a rate."""
        return self.perturbed_tables(attack, attack.tables(weight), rate, rng)

    def perturbed_tables(
        self, attack: Attack, table: Array, rate: Array | None, rng: np.random.Generator | None
    ) -> Array:
        """Return tables whose labels are perturbed at a rate; without `rng` the expected ones."""
        if rate is None or self.rowwise or not rate.any():
            return table
        on_input = self.perturbed == "input"
        return perturb(
            table,
            np.broadcast_to(rate[:, None], table.shape[:3]),
            rng,
            axis=-2 if on_input else -1,
            n_bits=attack.n_bits if on_input else 0,
            rows_per_weight=attack.cells.rows_per_weight,
        )

    # ------------------------------------------------------------------ scoring

    def score(self, table: Array, predicted: Array) -> Array:
        """Return the qualities (draws, targets) of what attackers predict for each input."""
        settings = self.settings
        how: dict[str, Any] = {"balanced": settings.balanced, "n_classes": self._n_classes}
        n_draws, _, n_targets, _, n_classes = table.shape
        shape = (n_draws, n_targets, -1, n_classes)  # folds are more inputs
        table, predicted = (
            np.moveaxis(weights, 1, 2).reshape(shape)
            for weights in (table, np.broadcast_to(predicted, table.shape))
        )
        quality = quality_of(settings.quality, table, predicted, **how)
        return 0.5 + np.abs(quality - 0.5) if settings.fold else quality

    @cached_property
    def _n_classes(self) -> Array:
        """How many classes each target has, in labels or in predictions."""
        tables = [attack.tables(self.cells.weight).sum(axis=-2) for attack in self.attacks]
        return (sum(tables) > 0).sum(axis=-1)

    def best_guess(self, table: Array) -> Array:
        """Return the quality of the best guess that ignores its input: (draws, targets)."""
        pooled = table.sum(axis=(1, 3), keepdims=True)
        train = self._weighted(pooled)
        # Naming the most frequent class is best for accuracy, drawing from the shares for F1.
        guesses: list[Callable[[Array], Array]] = [majority, class_shares]
        if self.settings.quality == "confidence":
            guesses = [class_shares] * 2  # whoever guesses has no reason to be sure
        return np.maximum(*(self.score(pooled, guess(train)) for guess in guesses))

    def _weighted(self, table: Array) -> Array:
        """Weight classes equally if the quality does, so that attackers aim at it."""
        equally = self.settings.balanced or self.settings.quality == "balanced_accuracy"
        return balance(table) if equally else table

    def training_tables(self, table: Array) -> Array:
        """Return what attackers learn from: all folds but the one they are scored on."""
        return self._weighted(other_folds(table))

    def chance(self) -> Qualities:
        """Return what the best guesses that ignore their input reach: (1, targets)."""
        scores = []
        weight = self.cells.weight[None, None]
        for attack in self.attacks:
            rate = self.rate_of(attack, self.rates(self.cells, weight[0]))
            if attack.n_classes:
                scores.append(self.best_guess(self.tables(attack, weight, rate, None)))
            else:
                noise = 0.0 if rate is None or self.perturbed == "input" else float(rate[0, 0])
                scores.append(inverse_spread(np.asarray(attack.target), weight[0, 0], noise))
        return Qualities(scores[0], scores[-1], scores[-1])

    # ------------------------------------------------------------------ exact attackers

    def exact(
        self, folds: Array, learnt: Array | None, noise: np.random.Generator | None
    ) -> Qualities:
        """Score tables on the folds that they did not learn from.

        `folds` are weights of cells (draws, folds, cells), `learnt` those of the training rows
        that all tables learn from, if there are any.
        """
        training = self.data.training
        if learnt is not None:
            folds = folds.sum(axis=1, keepdims=True)
        rates = self.rates(self.cells, folds.sum(axis=1))
        learnt_rates = rates
        if learnt is not None and training is not None:
            learnt_rates = self.rates(training.cells, learnt.sum(axis=1))
        predict = class_shares if self.settings.quality in OF_PROBABILITIES else majority
        scores = []
        for attack in self.attacks:
            table = train = self.tables(attack, folds, self.rate_of(attack, rates), noise)
            if learnt is not None and attack.training is not None:
                rate = self.rate_of(attack, learnt_rates)
                train = self.tables(attack.training, learnt, rate, noise)
            # Some draws at a time: what is made on the way takes several times their memory.
            size = max(1, _HELD // 8 // table[0].size)
            parts = [slice(low, low + size) for low in range(0, len(table), size)]
            qualities = [
                self.score(table[some], predict(self.training_tables(train[some])))
                for some in parts
            ]
            scores.append(np.concatenate(qualities))
        return Qualities(scores[0], scores[-1], self.best_guess(table))

    def chunks(self, n_draws: int, n_folds: int, blocks: Blocks | None = None) -> list[int]:
        """Return how many draws of rows, or of blocks, fit into memory at a time."""
        size = max(
            max(
                n_folds * (attack.cells.n_cells if blocks is None else blocks.n),
                0 if attack.training is None else attack.training.cells.n_cells,
                n_folds * len(attack.names) * attack.n_inputs * attack.n_classes,
                len(attack.names) * attack.n_classes**2 if callable(self.settings.quality) else 0,
            )
            for attack in self.attacks
        )
        chunk = max(1, _HELD // size)
        return [min(chunk, n_draws - low) for low in range(0, n_draws, chunk)]


def drawn_qualities(pair: AttackPair, n_draws: int, rng: np.random.Generator) -> Qualities:
    """Return the qualities of the best tables, over draws of folds and perturbations.

    In closed form (``cv=None``) the perturbation is the expected one.
    """
    # Perturbations draw from a stream of their own, so that models with other errors still get
    # the same folds.
    (stream,) = rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
    noise = None if pair.settings.cv is None else np.random.default_rng(stream)
    blocks = divided_into_blocks(pair.cells, rng) if pair.few else None
    training, parts = pair.data.training, []
    with progress("draws", n_draws) as step:
        for n in step.parts(pair.chunks(n_draws, pair.n_folds, blocks)):
            folds = draw_folds(pair.cells, pair.n_folds, n, rng, resampled=False, blocks=blocks)
            learnt = None
            if training is not None:
                learnt = draw_folds(training.cells, 1, n, rng, resampled=False)
            parts.append(pair.exact(folds, learnt, noise))
    return of_all_draws(parts)


def by_cuts(qualities: Qualities, n_cuts: int) -> Qualities:
    """Return qualities of resamples as (resamples, cuts, targets)."""
    return Qualities(*(array.reshape(-1, n_cuts, array.shape[-1]) for array in qualities))


def of_all_draws(parts: Sequence[Qualities]) -> Qualities:
    """Return the qualities of all draws."""
    return Qualities(*map(np.concatenate, zip(*parts, strict=True)))
