"""Pairs of attacks, on the data's labels and on the model's, and how well both do.

Labels are perturbed as counts of cells, so that an exact attacker costs no more for a million
rows than for a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from skbiasamp._cells import positive_position, side_of
from skbiasamp._labels import Array
from skbiasamp._sums import pair_sums
from skbiasamp.attackers._fitting import TrainingTask, predictions_of
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._attack import Attack, Settings, as_numbers, hard, redraw, split, weighed
from skbiasamp.metrics._quality import (
    f1_at,
    inverse_log_loss,
    perturb,
    pure_noise,
    quality_of,
    rate_for_f1,
    task_f1,
)

# Numbers held at once while drawing.
_HELD = 1 << 22


class Qualities(NamedTuple):
    """What attackers on the data's labels and on the model's reached: (draws, targets).

    `chance` is what the best guess that ignores its input reaches on the model's targets.
    """

    data: Array
    model: Array
    chance: Array


# --------------------------------------------------------------------------- exact attackers


def _most(train: Array) -> Array:
    """Return the class that a table tells for each input, as shares; ties share it."""
    overall = train.sum(axis=-2, keepdims=True)
    table = np.where(train.sum(axis=-1, keepdims=True) > 0, train, overall)
    # Balanced weights carry rounding noise, which must not break a tie.
    top = table >= table.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return top / top.sum(axis=-1, keepdims=True)


def _shares(train: Array) -> Array:
    overall = train.sum(axis=-2, keepdims=True)
    table = np.where(train.sum(axis=-1, keepdims=True) > 0, train, overall)
    total = table.sum(axis=-1, keepdims=True)
    even = np.full(table.shape, 1 / table.shape[-1])  # nothing was learnt at all
    return np.divide(table, total, out=even, where=total > 0)


def _balance(table: Array) -> Array:
    """Give every class the same weight, and the table its total."""
    total = table.sum(axis=-2, keepdims=True)
    scale = np.divide(1.0, total, out=np.zeros(total.shape), where=total > 0)
    n = np.maximum((total > 0).sum(axis=-1, keepdims=True), 1)
    return table * scale * total.sum(axis=-1, keepdims=True) / n


def _up_to_noise(wrong: Array, n_others: int) -> tuple[Array, Array]:
    """Return shares of wrong labels, at most those of pure noise, and where that is less."""
    most = pure_noise(n_others)
    return np.minimum(wrong, most), wrong > most + 1e-9


def _as_good(f1: Array, true: Array, total: Array, n_others: int) -> tuple[Array, Array]:
    """Return the rates at which labels have an F1, at most that of noise, and where it is less."""
    best = f1_at(np.full(f1.shape, pure_noise(n_others)), true, total, n_others)
    return rate_for_f1(f1, true, total, n_others), best > f1 + 1e-9


# --------------------------------------------------------------------------- the arena


@dataclass(frozen=True, eq=False)
class Arena:
    """Two attacks with the same settings: on the data's labels and on the model's.

    `role` names the labels that the model's quality is taken from; `moves` says which side of the
    data's attack is perturbed until its labels are no better. Without a model there is only the
    first attack.
    """

    data: Attack
    model: Attack | None
    settings: Settings
    role: Literal["group", "task"] = "group"
    moves: Literal["seen", "told"] | None = None

    @property
    def cells(self) -> Contingency:
        return self.data.cells

    @property
    def attacks(self) -> list[Attack]:
        return [self.data] if self.model is None else [self.data, self.model]

    @property
    def rowwise(self) -> bool:
        """Whether each draw perturbs inputs row by row, rather than counts of inputs."""
        matrix = side_of(self.cells, self.role).is_matrix
        return matrix and self.moves == "seen" and not self.data.n_bits

    @property
    def noisy(self) -> bool:
        """Whether labels are numbers, which get noise where classes move."""
        return self.cells.soft(self.role) or (self.moves == "told" and not self.data.n_classes)

    @property
    def capped(self) -> Array | None:
        """For each target that is perturbed, whether the model is worse than pure noise."""
        if self.moves is None or self.noisy:
            return None
        return self._solve(self.cells, self.cells.weight[None])[1][0]

    def rates(self, cells: Contingency, weight: Array) -> Array:
        """Return how much to perturb until labels are as good as the model: (draws, 1 or targets).

        A rate of labels that move, or the standard deviation of noise.
        """
        if self.moves is None:
            return np.zeros((len(weight), 1))
        if self.noisy:
            truth, prediction = (side_of(cells, side) for side in self._compared)
            gap = as_numbers(prediction) - as_numbers(truth)
            return np.sqrt(weight @ gap**2 / weight.sum(axis=-1))[:, None]
        return self._solve(cells, weight)[0]

    @property
    def _compared(self) -> tuple[SideName, SideName]:
        return ("group", "group_pred") if self.role == "group" else ("task", "task_pred")

    def _solve(self, cells: Contingency, weight: Array) -> tuple[Array, Array]:
        """Return the rates of labels that move, and where pure noise is still too good."""
        truth, prediction = (side_of(cells, side) for side in self._compared)
        positive = positive_position(cells, self.role)
        prediction = hard(prediction, truth, positive)
        n_others = 1 if truth.is_matrix else max(len(truth.names) - 1, 1)
        total = weight.sum(axis=-1)[:, None]
        if not truth.is_matrix:
            n = len(truth.names)
            agreed = pair_sums(truth.labels, prediction.labels, weight)
            if self.settings.equalize == "accuracy":
                wrong = np.where(np.eye(n, dtype=bool), 0.0, agreed).sum(axis=(-2, -1))
                return _up_to_noise(wrong[:, None] / total, n_others)
            right = np.diagonal(agreed, axis1=-2, axis2=-1)
            true, said = agreed.sum(axis=-1), agreed.sum(axis=-2)
            if truth.one_label and n == 2:  # the positive class is the task
                right, true, said = (one[:, [positive or 0]] for one in (right, true, said))
            f1 = task_f1(right, true, said)[:, None]
            return _as_good(f1, true[:, None], total[:, None], n_others)
        labels, predicted = (one.labels.dense(slice(None), bool) for one in (truth, prediction))
        if self.settings.equalize == "accuracy":
            wrong = weight @ (labels != predicted) / total
            if self.moves == "seen":
                wrong = wrong.mean(axis=-1, keepdims=True)
            return _up_to_noise(wrong, n_others)
        sums = [weight @ one for one in (labels & predicted, labels, predicted)]
        # Columns of one target share a rate; each target has its own.
        axis = -1 if self.moves == "told" else -2
        right, true, said = (np.expand_dims(one, axis) for one in sums)
        return _as_good(task_f1(right, true, said), true, total[..., None], n_others)

    # ---- tables of classes

    def _tables(
        self, attack: Attack, weight: Array, rate: Array | None, rng: np.random.Generator | None
    ) -> Array:
        """Return (draws, folds, targets, inputs, classes), perturbed at a rate."""
        table = attack.tables(weight)
        if rate is None or self.rowwise or not rate.any():
            return table
        return perturb(
            table,
            np.broadcast_to(rate[:, None], table.shape[:3]),
            rng,
            axis=-2 if self.moves == "seen" else -1,
            n_bits=attack.n_bits if self.moves == "seen" else 0,
            rows_per_weight=attack.cells.rows_per_weight,
        )

    def _judge(self, judged: Array, answer: Array) -> Array:
        """Return the qualities (draws, targets) of answers to what is judged."""
        settings = self.settings
        answer = np.broadcast_to(answer, judged.shape)
        if settings.quality == "inverse_log_loss":
            if settings.balanced:
                pooled = judged.sum(axis=(1, 3), keepdims=True)
                judged = judged * np.divide(1.0, pooled, out=0 * pooled, where=pooled > 0)
            n_draws, _, n_targets, _, n_classes = judged.shape
            shape = (n_draws, n_targets, -1, n_classes)  # folds are more inputs
            return inverse_log_loss(
                *(np.moveaxis(one, 1, 2).reshape(shape) for one in (judged, answer))
            )
        told = (np.swapaxes(judged, -1, -2) @ answer).sum(axis=1)  # over inputs, then folds
        if settings.balanced:
            true = told.sum(axis=-1, keepdims=True)
            told = np.divide(told, true, out=np.zeros(told.shape), where=true > 0)
        found = quality_of(settings.quality, told, self._n_classes)
        return 0.5 + np.abs(found - 0.5) if settings.fold else found

    @cached_property
    def _n_classes(self) -> Array:
        """How many classes each target has, in labels or in predictions."""
        tables = [attack.tables(self.cells.weight).sum(axis=-2) for attack in self.attacks]
        return (sum(tables) > 0).sum(axis=-1)

    def _guessed(self, judged: Array) -> Array:
        """Return the quality of the best guess that ignores its input: (draws, targets)."""
        pooled = judged.sum(axis=(1, 3), keepdims=True)
        learnt = self._balanced(pooled)
        # Naming the most frequent class is best for accuracy, drawing from the shares for F1.
        most, drawn = (self._judge(pooled, guess(learnt)) for guess in (_most, _shares))
        return np.maximum(most, drawn)

    def _balanced(self, table: Array) -> Array:
        """Give classes the same weight where the quality does, so that attackers aim at it."""
        balanced = self.settings.balanced or self.settings.quality == "balanced_accuracy"
        return _balance(table) if balanced else table

    def _learnt(self, judged: Array) -> Array:
        """Return what attackers learn from: all folds but the one they are judged on."""
        train = judged if judged.shape[1] == 1 else judged.sum(axis=1, keepdims=True) - judged
        return self._balanced(train)

    def _rate_of(self, attack: Attack, rate: Array) -> Array | None:
        return rate if attack is self.data and self.moves is not None else None

    def _chunks(self, n_draws: int) -> list[int]:
        n_folds = self.settings.cv or 1
        size = max(
            max(
                n_folds * one.cells.n_cells,
                0 if one.lessons is None else one.lessons.cells.n_cells,
                n_folds * len(one.names) * len(one.inputs) * one.n_classes,
                len(one.names) * one.n_classes**2,
            )
            for one in self.attacks
        )
        chunk = max(1, _HELD // size)
        return [min(chunk, n_draws - low) for low in range(0, n_draws, chunk)]

    def chance(self) -> Qualities:
        """Return what the best guesses that ignore their input reach: (1, targets)."""
        found = []
        weight = self.cells.weight[None, None]
        for attack in self.attacks:
            rate = self._rate_of(attack, self.rates(self.cells, weight[0]))
            if attack.n_classes:
                found.append(self._guessed(self._tables(attack, weight, rate, None)))
            else:
                noise = 0.0 if rate is None or self.moves != "told" else float(rate[0, 0])
                found.append(_inverse_spread(np.asarray(attack.told), weight[0, 0], noise))
        return Qualities(found[0], found[-1], found[-1])

    # ---- exact attackers

    def exact(self, n_draws: int, rng: np.random.Generator | None, *, resample: bool) -> Qualities:
        """Return the qualities of the best tables, over draws of folds and perturbations.

        In closed form (``cv=None``) the perturbation is the expected one, and only `resample`
        draws anything.
        """
        parts = [self._exact(n, rng, resample) for n in self._chunks(n_draws)]
        return Qualities(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _exact(self, n_draws: int, rng: np.random.Generator | None, resample: bool) -> Qualities:
        folds = _folds(self.cells, self.settings.cv or 1, n_draws, rng, resample=resample)
        whole = folds.sum(axis=1, keepdims=True)
        rates = self.rates(self.cells, whole[:, 0])
        taught = self.data.lessons
        if taught is not None:
            learnt = _folds(taught.cells, 1, n_draws, rng, resample=resample)
            own_rates = self.rates(taught.cells, learnt[:, 0])
        perturbing = None if self.settings.cv is None else rng
        answer = _shares if self.settings.quality == "inverse_log_loss" else _most
        found = []
        for attack in self.attacks:
            rate = self._rate_of(attack, rates)
            if attack.lessons is None:
                judged = train = self._tables(attack, folds, rate, perturbing)
            else:
                judged = self._tables(attack, whole, rate, perturbing)
                rate = self._rate_of(attack, own_rates)
                train = self._tables(attack.lessons, learnt, rate, perturbing)
            found.append(self._judge(judged, answer(self._learnt(train))))
        return Qualities(found[0], found[-1], self._guessed(judged))

    # ---- trained attackers

    def train(self, attacker: Any, rng: np.random.Generator) -> Campaign:
        """Train an attacker for every draw, fold and target."""
        settings = self.settings
        n_folds = settings.cv or 1
        folds = split(self.cells, n_folds, settings.n_draws, rng)
        weight = weighed(self.cells, folds)
        taught = self.data.lessons
        if taught is None:
            rates = self.rates(self.cells, weight.sum(axis=1))
        else:
            own = self.rates(taught.cells, taught.cells.weight[None])
            rates = np.repeat(own, settings.n_draws, axis=0)
        n_targets = max(len(attack.names) for attack in self.attacks)
        # Both attackers of a pair start from the same seed.
        seeds = rng.integers(2**31, size=(settings.n_draws, n_folds, n_targets))
        lessons: list[TrainingTask] = []
        for attack in self.attacks:
            rate = self._rate_of(attack, rates)
            for draw in range(settings.n_draws):
                lessons += self._lessons(
                    attack,
                    weight[[draw]],
                    None if rate is None else rate[[draw]],
                    seeds[draw],
                    rng,
                )
        found = iter(
            predictions_of(
                attacker,
                lessons,
                probabilities=settings.quality == "inverse_log_loss",
                n_jobs=settings.n_jobs,
                verbose=settings.verbose,
            )
        )
        told: list[list[Array]] = []
        for attack in self.attacks:
            shape = (1, 1 if attack.lessons else n_folds, len(attack.names))
            n = shape[1] * shape[2]
            draws = [np.stack([next(found) for _ in range(n)]) for _ in range(settings.n_draws)]
            told.append([one.reshape(*shape, *one.shape[1:]) for one in draws])
        return Campaign(self, folds, told)

    def _lessons(
        self,
        attack: Attack,
        weight: Array,
        rate: Array | None,
        seeds: Array,
        rng: np.random.Generator,
    ) -> list[TrainingTask]:
        """Return what the attackers of one draw learn, by fold and target.

        `rate` is that of the rows they learn from.
        """
        source = attack.lessons or attack
        if attack.lessons is not None:
            weight = source.cells.weight[None, None]
        inputs = attack.inputs
        if rate is not None and self.rowwise:
            # Every row of the draw has its own perturbed input.
            by_input = np.full((len(inputs), 1), rate[0, 0])
            if attack.lessons is not None:
                by_input[attack.seen] = self.rates(self.cells, self.cells.weight[None])[0, 0]
            inputs = self._perturbed(inputs, by_input, rng)
        per_weight = source.cells.rows_per_weight
        n_rows = max(1, round(float(weight.sum()) * per_weight))
        if weight.shape[1] > 1:
            n_rows = round(n_rows * (1 - 1 / weight.shape[1]))
        found = []
        if not attack.n_classes:
            learnt = weight if weight.shape[1] == 1 else weight.sum(axis=1, keepdims=True) - weight
            target = self._numbers(source, rate, rng)
            for fold, held in enumerate(learnt[0]):
                seed = int(seeds[fold, 0])
                found.append(
                    TrainingTask(source.of_rows, target, held, inputs, 0, n_rows, seed, per_weight)
                )
            return found
        tables = self._learnt(self._tables(source, weight, rate, rng))[0]
        n_classes = attack.n_classes
        one_each = bool(((tables > 0).sum(axis=-1) <= 1).all())
        combined = inputs if one_each else attack.of_classes
        every = np.tile(np.arange(n_classes), len(inputs))
        for fold, by_target in enumerate(tables):
            for position, table in enumerate(by_target):
                target = table.argmax(axis=-1) if one_each else every
                held = table.sum(axis=-1) if one_each else table.ravel()
                seed = int(seeds[fold, position])
                found.append(
                    TrainingTask(
                        combined, target, held, inputs, n_classes, n_rows, seed, per_weight
                    )
                )
        return found

    def _perturbed(self, inputs: Array, rate: Array, rng: np.random.Generator) -> Array:
        if self.cells.soft(self.role):
            return inputs + rate * rng.standard_normal(inputs.shape)
        return np.abs(inputs - (rng.random(inputs.shape) < rate))

    def _numbers(self, attack: Attack, rate: Array | None, rng: np.random.Generator) -> Array:
        """Return numbers to be told, with noise where they are the data's."""
        assert isinstance(attack.told, np.ndarray)
        if rate is None or self.moves != "told":
            return attack.told
        return attack.told + float(rate[0, 0]) * rng.standard_normal(len(attack.told))


def _folds(
    cells: Contingency,
    n_folds: int,
    n_draws: int,
    rng: np.random.Generator | None,
    *,
    resample: bool,
) -> Array:
    """Return the weight of each cell in each fold: (draws, folds, cells)."""
    if rng is None or (n_folds == 1 and not resample):
        return np.broadcast_to(cells.weight, (n_draws, 1, cells.n_cells))
    folds = split(cells, n_folds, n_draws, rng)
    return weighed(cells, redraw(folds, rng) if resample else folds)


@dataclass(frozen=True, eq=False)
class Campaign:
    """Trained attackers: by attack and draw, what each tells every input."""

    arena: Arena
    folds: Array
    told: list[list[Array]]

    def qualities(self, n_draws: int, rng: np.random.Generator, *, resample: bool) -> Qualities:
        """Judge the attackers of each draw on rows that they did not learn from.

        The rows that are judged can be drawn anew; `n_draws` is shared by the draws.
        """
        arena = self.arena
        data: list[Array] = []
        model: list[Array] = []
        chance: list[Array] = []
        for draw, counts in enumerate(self.folds):
            share = len(range(draw, n_draws, len(self.folds)))
            for n in arena._chunks(share) if share else []:
                folds = np.broadcast_to(counts, (n, *counts.shape))
                weight = weighed(arena.cells, redraw(folds, rng) if resample else folds)
                rates = arena.rates(arena.cells, weight.sum(axis=1))
                for i, attack in enumerate(arena.attacks):
                    rate = arena._rate_of(attack, rates)
                    held = weight if attack.lessons is None else weight.sum(axis=1, keepdims=True)
                    judged = self._judged(attack, held, rate, self.told[i][draw], rng)
                    if i == 0:
                        data.append(judged[0])
                model.append(judged[0])
                chance.append(judged[1])
        return Qualities(*map(np.concatenate, (data, model, chance)))

    def _judged(
        self,
        attack: Attack,
        weight: Array,
        rate: Array | None,
        answer: Array,
        rng: np.random.Generator,
    ) -> tuple[Array, Array]:
        """Return the qualities of answers, and of the best guess that ignores its input."""
        arena = self.arena
        if attack.n_classes:
            judged = arena._tables(attack, weight, rate, rng)
            return arena._judge(judged, answer), arena._guessed(judged)
        found, guessed = np.empty((2, len(weight), 1))
        for one, held in enumerate(weight):
            target = arena._numbers(attack, None if rate is None else rate[[one]], rng)
            error = (target - answer[0, :, 0][:, attack.seen]) ** 2
            loss = np.sqrt((held * error).sum() / held.sum())
            found[one] = 1 / loss if loss > 0 else np.inf
            guessed[one] = _inverse_spread(target, held.sum(axis=0), 0.0)
        return found, guessed


def _inverse_spread(numbers: Array, weight: Array, noise: float) -> Array:
    """Return 1 / RMSE of the mean as a guess, of numbers with noise: (1, 1)."""
    mean = np.average(numbers, weights=weight)
    variance = np.average((numbers - mean) ** 2, weights=weight) + noise**2
    return np.array([[variance**-0.5 if variance > 0 else np.inf]])
