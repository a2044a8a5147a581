"""Two attacks with the same settings, on labels and on predictions, and what they reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from skbiasamp._cells import positive_position, side_of
from skbiasamp._input import Array, Codes, Members, Side
from skbiasamp._progress import progress
from skbiasamp.attackers._attack import Attack, Settings, as_numbers, hard
from skbiasamp.attackers._draws import draw_folds
from skbiasamp.attackers._perturbation import flip_rates, perturb
from skbiasamp.attackers._qualities import (
    ADDITIVE,
    OF_PROBABILITIES,
    confident,
    inverse_spread,
    of_sums,
    quality_of,
)
from skbiasamp.contingency import Contingency, SideName

# Numbers held at once while drawing.
_HELD = 1 << 22


class Qualities(NamedTuple):
    """What attackers reach on the labels and on the predictions: (draws, targets).

    `chance` is the quality of the best guess of the predictions that ignores its input.
    """

    data: Array
    model: Array
    chance: Array


# --------------------------------------------------------------------------- exact attackers


def majority(train: Array) -> Array:
    """Return the most frequent class of each input, as shares; ties share it."""
    table = _with_every_input(train)
    # Balanced weights carry rounding noise, which must not break a tie.
    top = table >= table.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return top / top.sum(axis=-1, keepdims=True)


def class_shares(train: Array) -> Array:
    """Return the share of each class among the rows of each input."""
    table = _with_every_input(train)
    total = table.sum(axis=-1, keepdims=True)
    even = np.full(table.shape, 1 / table.shape[-1])  # there are no rows at all
    return np.divide(table, total, out=even, where=total > 0)


def _with_every_input(train: Array) -> Array:
    """Give inputs without training rows the classes of all rows."""
    overall = train.sum(axis=-2, keepdims=True)
    return np.where(train.sum(axis=-1, keepdims=True) > 0, train, overall)


def balance(table: Array) -> Array:
    """Give every class the same weight, and the table its total."""
    total = table.sum(axis=-2, keepdims=True)
    scale = np.divide(1.0, total, out=np.zeros(total.shape), where=total > 0)
    n = np.maximum((total > 0).sum(axis=-1, keepdims=True), 1)
    return table * scale * total.sum(axis=-1, keepdims=True) / n


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
        return self.data.cells

    @property
    def attacks(self) -> list[Attack]:
        return [self.data] if self.model is None else [self.data, self.model]

    @property
    def rowwise(self) -> bool:
        """Whether each draw perturbs inputs row by row, rather than counts of inputs."""
        matrix = side_of(self.cells, self.truth).is_matrix
        return matrix and self.perturbed == "input" and not self.data.n_bits

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
            gap = as_numbers(prediction) - as_numbers(truth)
            return np.sqrt(weight @ gap**2 / weight.sum(axis=-1))[:, None]
        return self._flip_rates(cells, weight)[0]

    def _compared(self, cells: Contingency) -> tuple[Side, Side]:
        predicted: SideName = "task_pred" if self.truth == "task" else "group_pred"
        return side_of(cells, self.truth), side_of(cells, predicted)

    def _flip_rates(self, cells: Contingency, weight: Array) -> tuple[Array, Array]:
        truth, prediction = self._compared(cells)
        positive = positive_position(cells, self.truth)
        return flip_rates(
            truth,
            hard(prediction, truth, positive),
            weight,
            equalize=self.settings.equalize,
            positive=positive,
            shared=self.perturbed == "input",
        )

    def rate_of(self, attack: Attack, rates: Array) -> Array | None:
        """Return the rates of an attack whose labels are perturbed."""
        return rates if attack is self.data and self.perturbed is not None else None

    def tables(
        self, attack: Attack, weight: Array, rate: Array | None, rng: np.random.Generator | None
    ) -> Array:
        """Return (draws, folds, targets, inputs, classes), perturbed at a rate."""
        table = attack.tables(weight)
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
        n_draws, _, n_targets, _, n_classes = table.shape
        shape = (n_draws, n_targets, -1, n_classes)  # folds are more inputs
        table, predicted = (
            np.moveaxis(one, 1, 2).reshape(shape)
            for one in (table, np.broadcast_to(predicted, table.shape))
        )
        found = quality_of(
            self.settings.quality,
            table,
            predicted,
            balanced=self.settings.balanced,
            n_classes=self._n_classes,
        )
        return 0.5 + np.abs(found - 0.5) if self.settings.fold else found

    @property
    def adds_up(self) -> bool:
        """Whether rows can be scored one by one: nothing in them is perturbed."""
        return self.perturbed is None and self.settings.quality in ADDITIVE

    def score_rows(self, attack: Attack, weight: Array, predicted: Array) -> tuple[Array, Array]:
        """Return what `score` and `best_guess` do, without a table of inputs for each draw.

        `weight` is (draws, folds, cells), `predicted` (1, folds, targets, inputs, classes).
        """
        if self.settings.quality == "confidence":
            predicted = confident(predicted)
        target = attack.target
        assert isinstance(target, Codes | Members)
        own = target.codes if isinstance(target, Codes) else target.matrix
        # (cells, targets, classes): the class of each cell, and how sure of it its attacker is.
        held = own.reshape(len(own), -1, 1).astype(int) == np.arange(attack.n_classes)
        gain = np.moveaxis(predicted[0], 1, 2)[:, attack.input_codes] * held
        n, size = len(weight), held[0].size
        shape = (n, *held.shape[1:])
        right = (weight.reshape(n, -1) @ gain.reshape(-1, size)).reshape(shape)
        true = (weight.sum(axis=1) @ held.reshape(-1, size)).reshape(shape)
        found = of_sums(
            self.settings.quality,
            right,
            true,
            balanced=self.settings.balanced,
            n_classes=self._n_classes,
        )
        found = 0.5 + np.abs(found - 0.5) if self.settings.fold else found
        return found, self.best_guess(true[:, None, :, None])

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
        found = []
        weight = self.cells.weight[None, None]
        for attack in self.attacks:
            rate = self.rate_of(attack, self.rates(self.cells, weight[0]))
            if attack.n_classes:
                found.append(self.best_guess(self.tables(attack, weight, rate, None)))
            else:
                noise = 0.0 if rate is None or self.perturbed == "input" else float(rate[0, 0])
                found.append(inverse_spread(np.asarray(attack.target), weight[0, 0], noise))
        return Qualities(found[0], found[-1], found[-1])

    # ------------------------------------------------------------------ exact attackers

    def exact(
        self,
        n_draws: int,
        rng: np.random.Generator | None,
        *,
        resample: bool,
        perturb: bool = True,
    ) -> Qualities:
        """Return the qualities of the best tables, over draws of folds and perturbations.

        In closed form (``cv=None``), or without `perturb`, the perturbation is the expected one.
        """
        # Perturbations draw from a stream of their own, so that models with other errors still
        # get the same folds and resamples.
        noise = rng.spawn(1)[0] if rng is not None and perturb else None
        with progress("resamples" if resample else "draws", n_draws) as step:
            parts = [self._exact(n, rng, noise, resample) for n in step.parts(self.chunks(n_draws))]
        return Qualities(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _exact(
        self,
        n_draws: int,
        rng: np.random.Generator | None,
        noise: np.random.Generator | None,
        resample: bool,
    ) -> Qualities:
        folds = draw_folds(self.cells, self.settings.cv or 1, n_draws, rng, resample=resample)
        whole = folds.sum(axis=1, keepdims=True)
        rates = self.rates(self.cells, whole[:, 0])
        training = self.data.training
        if training is not None:
            drawn = draw_folds(training.cells, 1, n_draws, rng, resample=resample)
            train_rates = self.rates(training.cells, drawn[:, 0])
        perturbing = None if self.settings.cv is None else noise
        predict = class_shares if self.settings.quality in OF_PROBABILITIES else majority
        found = []
        for attack in self.attacks:
            rate = self.rate_of(attack, rates)
            if attack.training is None:
                table = train = self.tables(attack, folds, rate, perturbing)
            else:
                table = self.tables(attack, whole, rate, perturbing)
                rate = self.rate_of(attack, train_rates)
                train = self.tables(attack.training, drawn, rate, perturbing)
            found.append(self.score(table, predict(self.training_tables(train))))
        return Qualities(found[0], found[-1], self.best_guess(table))

    def chunks(self, n_draws: int, *, trained: bool = False) -> list[int]:
        """Return how many draws to make at a time, so that they fit into memory."""
        n_folds = self.settings.cv or 1
        if trained and self.adds_up:
            return _divided(n_draws, n_folds * self.cells.n_cells)
        size = max(
            max(
                n_folds * one.cells.n_cells,
                0 if one.training is None else one.training.cells.n_cells,
                n_folds * len(one.names) * one.n_inputs * one.n_classes,
                len(one.names) * one.n_classes**2 if callable(self.settings.quality) else 0,
            )
            for one in self.attacks
        )
        return _divided(n_draws, size)


def _divided(n_draws: int, size: int) -> list[int]:
    chunk = max(1, _HELD // size)
    return [min(chunk, n_draws - low) for low in range(0, n_draws, chunk)]
