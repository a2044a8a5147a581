"""Pairs: what a metric says about every pair of group and task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array, Names
from skbiasamp._utils import formatting as words
from skbiasamp.inference.association import Association, known_or_zero
from skbiasamp.inference.influence import interval
from skbiasamp.inference.value import Estimate, Signs, are_joint, estimate, reach_of_all

FEW = 10  # rows of a pair that is reliable
CLEAR = 2.0  # standard errors, beyond which a direction is clear


@dataclass(frozen=True)
class MeanChange:
    """The value is the mean over pairs of sign × change.

    Parameters
    ----------
    divisor : float, default=None
        What the sum over pairs is divided by. None: the number of defined pairs.
    bound : float, default=1.0
        The largest published value that there can be; inf if associations are no rates.
    """

    divisor: float | None = None
    bound: float = 1.0
    is_sum: ClassVar[bool] = True  # whether the published value is a sum over pairs

    def weights(self, change: Array) -> Array:
        """Return what each pair is of the value; undefined pairs add nothing."""
        defined = ~np.isnan(change)
        divisor = defined.sum() if self.divisor is None else self.divisor
        return defined / divisor if divisor else np.zeros(change.shape)

    def published(self, sign: Array, delta: Array) -> float:
        """Return the paper's formula, of signs and changes of rates."""
        if np.isnan(delta).all():
            return math.nan if self.divisor is None or math.isnan(self.divisor) else 0.0
        return float(known_or_zero(self.slopes(sign, delta) * delta).sum())

    def slopes(self, sign: Array, delta: Array) -> Array:
        """Return how the published value follows each change of a rate."""
        return self.weights(delta) * sign

    def estimate(
        self, change: Association, signs: Signs, confidence_level: float | None
    ) -> Estimate:
        """Return the value with its interval."""
        weights = self.weights(change.value)
        return estimate(change, signs, weights, confidence_level=confidence_level)

    def sum_of_models(
        self, models: Models, confidence_level: float | None, *, published: bool
    ) -> Estimate:
        """Return a sum of values of models of the same labels, with its interval.

        Each value is of the pairs that this model defines, and of its own directions of sizes.
        """
        first, factors = models[0][1], [factor for factor, _ in models]
        changes = [pairs.moved if published else pairs.change for _, pairs in models]
        each = np.stack(
            [
                pairs.aggregate.slopes(pairs.sign, pairs.rate_change)
                if published
                else pairs.aggregate.weights(pairs.change.value)
                for _, pairs in models
            ]
        )
        weights = np.abs(each).max(axis=0)
        direction = np.where(each[0] == 0, 1.0, np.sign(each[0]))
        signs = Signs(np.where(weights > 0, direction, 0.0)) if published else first.signs
        # What a pair is of each value, compared with the most that it is of one.
        ones = np.ones(each.shape)
        scales = np.divide(each * direction, weights, out=ones, where=weights > 0)
        change = combine_associations(changes, factors, scales)
        number = estimate(change, signs, weights, confidence_level=confidence_level)
        value, most = number.value, self.bound
        if published:
            value = sum(factor * pairs.published for factor, pairs in models)
        elif math.isfinite(most):
            predicted = sum(
                abs(factor) * own * pairs.predicted.largest
                for own, (factor, pairs) in zip(each, models, strict=True)
            )
            labelled = np.abs(np.tensordot(factors, each, 1)) * first.labelled.largest
            most = max(round(float((predicted + labelled).sum()), 12), abs(value))
        low, high = max(number.low, -most), min(number.high, most)
        return replace(number, value=value, low=low, high=high)


@dataclass(frozen=True)
class MeanSize(MeanChange):
    """The published value is the mean *size* of the changes; the value has their direction.

    Parameters
    ----------
    only_signed : bool, default=False
        Whether the sizes of pairs with the sign 0 do not count.
    """

    only_signed: bool = False

    def slopes(self, sign: Array, delta: Array) -> Array:
        """Return how the published value follows each change of a rate."""
        directions = np.sign(known_or_zero(delta))
        if self.only_signed:
            directions = np.where(sign == 0, 0.0, directions)
        return super().slopes(directions, delta)


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a metric says about every pair of group and task, and how pairs make its value.

    Arrays are groups × tasks.

    .. versionadded:: 0.3

    Parameters
    ----------
    groups, tasks : tuple
        Names of the rows and columns.
    labelled, predicted : Association
        The association of each pair in the labels and in the predictions; `associate` makes them.
    sign : array, default=None
        Sign of each pair: −1, 0 or 1. None: that of the association in `reference`.
    reference : Association, default=None
        The labels that give the direction of each pair: of training, or those that are audited.
        None: the directions are known.
    change : Association, default=None
        What the value is made of. None: `predicted` − `labelled`.
    delta : Association, default=None
        What the published value is made of. None: the change of the rates.
    signs : Signs, default=None
        By how much each pair's change counts. None: by `sign`; if `reference` has rows in common
        with the change, by how sure the labels are of it.
    aggregate : MeanChange, default=MeanChange()
        How pairs become the value.
    statistics : dict
        Further numbers, for ``result.statistics``.

    See Also
    --------
    skbiasamp.metrics.CooccurrenceAuditor : The class of metrics that return pairs.

    Examples
    --------
    >>> from skbiasamp import Contingency
    >>> from skbiasamp.metrics import associate, Pairs
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> hired = [1] * 20 + [0] * 20 + [1] * 30 + [0] * 10
    >>> predicted = [1] * 16 + [0] * 24 + [1] * 35 + [0] * 5
    >>> cells = Contingency.from_labels(hired, predicted, sensitive_features=sex)
    >>> labelled, predicted = (
    ...     associate(cells, side, given="group") for side in ("task", "task_pred")
    ... )
    >>> signs = {"sign": [[-1], [1]]}
    >>> pairs = Pairs(cells.groups, cells.tasks, labelled=labelled, predicted=predicted, **signs)
    >>> round(pairs.measured().value, 4)
    0.1125
    """

    groups: Names
    tasks: Names
    labelled: Association
    predicted: Association
    sign: Any = None
    reference: Association | None = None
    change: Any = None
    delta: Any = None
    signs: Any = None
    aggregate: MeanChange = field(default_factory=MeanChange)
    statistics: dict[str, Any] = field(default_factory=dict)
    rate_change: Array = field(init=False)  # of each pair, which the published value is made of

    def __post_init__(self) -> None:
        with np.errstate(invalid="ignore"):  # infinite ratios
            rate_change = self.predicted.rate - self.labelled.rate
        known: dict[str, Any] = {"rate_change": rate_change}
        if self.delta is not None:
            known["rate_change"] = self.delta.value
        if self.change is None:
            change = self.predicted - self.labelled
            # Associations that are computed in two ways differ in the last digit.
            value = np.where(np.abs(change.value) <= 1e-14, 0.0, change.value)
            known["change"] = replace(change, value=value)
        reference, change = self.reference, self.change or known["change"]
        sign = self.sign
        if sign is None:
            assert reference is not None
            sign = np.sign(known_or_zero(reference.value)).astype(int)
            known["sign"] = sign
        # Also after dataclasses.replace, which passes what was made here.
        if self.signs is None or self.signs.made:
            signs = Signs(np.asarray(sign, dtype=float))
            rows = {id(sample.cells.weight) for sample in change.samples}
            if reference is not None and any(
                id(sample.cells.weight) in rows for sample in reference.samples
            ):
                signs = Signs.of(reference)
            known["signs"] = replace(signs, made=True)
        for name, value in known.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> Array:
        """Number of rows that each pair's rates are conditioned on."""
        return np.broadcast_to(self.predicted.n, self.change.value.shape)

    @property
    def base(self) -> Array:
        """The rate in the labels, which predictions are compared with."""
        return self.labelled.rate

    @property
    def observed(self) -> Array:
        """The rate in the predictions."""
        return self.predicted.rate

    @cached_property
    def moved(self) -> Association:
        """The change of each pair's rate, which the published value is made of."""
        if self.delta is not None:
            return self.delta
        return self.predicted.without_centre() - self.labelled.without_centre()

    @cached_property
    def reach(self) -> Array:
        """The largest change that each pair can have; inf if associations are no rates."""
        if math.isinf(self.aggregate.bound):
            return np.full(self.change.value.shape, math.inf)
        return self.labelled.largest + self.predicted.largest + np.zeros(self.change.value.shape)

    @property
    def most(self) -> float:
        """The largest size that the value can have; inf if associations are no rates."""
        if math.isinf(self.aggregate.bound):
            return math.inf
        return round(float((self.aggregate.weights(self.change.value) * self.reach).sum()), 12)

    def ends(self, confidence_level: float) -> dict[str, Array]:
        """Return the interval and test of each change, and the interval of all changes at once."""
        value, sd, df = self.change.value, self.change.sd, self.change.units
        low, high, p_value = interval(value, sd, df, confidence_level)
        together = reach_of_all(self.change, confidence_level)
        ends = {"low": low, "high": high}
        ends |= {
            "low_simultaneous": value - together,
            "high_simultaneous": value + together,
        }
        most = np.maximum(np.round(self.reach, 12), np.abs(value))
        clipped = {name: np.clip(end, -most, most) for name, end in ends.items()}
        return {**clipped, "p_value": p_value}

    @cached_property
    def published(self) -> float:
        """The number that the metric's paper defines."""
        return self.aggregate.published(self.sign, self.rate_change)

    @cached_property
    def shift(self) -> float:
        """What the published value has of tasks, or groups, predicted more often for everybody."""
        with np.errstate(invalid="ignore"):  # infinite ratios
            shift = self.rate_change - self.change.value
        slopes = self.aggregate.slopes(self.sign, self.rate_change)
        return float(known_or_zero(slopes * shift).sum())

    def measured(self, confidence_level: float | None = 0.95) -> Estimate:
        """Return the value with its interval."""
        number = self.aggregate.estimate(self.change, self.signs, confidence_level)
        if math.isnan(number.low):
            return number
        most = max(self.most, abs(number.value))
        return replace(number, low=max(number.low, -most), high=min(number.high, most))

    def measured_as_published(self, confidence_level: float | None = 0.95) -> Estimate:
        """Return the published value with its interval, at signs that are taken as given."""
        if not self.aggregate.is_sum:
            return self.measured(confidence_level)
        slopes = self.aggregate.slopes(self.sign, self.rate_change)
        signs, level = Signs(np.sign(slopes, dtype=float)), confidence_level
        number = estimate(self.moved, signs, np.abs(slopes), confidence_level=level)
        bound = self.aggregate.bound
        least = 0.0 if isinstance(self.aggregate, MeanSize) else -bound
        low, high = max(number.low, least), min(number.high, bound)
        return replace(number, value=self.published, low=low, high=high)

    @cached_property
    def clear(self) -> Array:
        """Which pairs have a clear direction in the labels; all, if signs are the user's own."""
        if self.reference is None:
            return np.asarray(self.signs.values != 0)
        return np.asarray(np.abs(known_or_zero(self.reference.z)) > CLEAR)

    def verdict(
        self,
        number: Estimate,
        part: Association | None = None,
        *,
        published: bool = False,
        n_tests: int = 1,
    ) -> str:
        """Return what an interval says of the model, with the name that its direction allows.

        `part` is the change that the number is of, if it is a part of this one. `published`: the
        interval is that of the published value. `n_tests`: how many models, whose largest changes
        are tested together.
        """
        change, fixed = self.change if part is None else part, self.signs.source is None
        if published:
            change, fixed = self.moved, True
        # The size that some papers publish has no direction.
        unknown = published and isinstance(self.aggregate, MeanSize)
        if unknown or math.isnan(number.value) or math.isnan(number.low):
            return words.NOT_MEASURED
        # Whether groups differ in the labels: their associations are jointly significant.
        labels_differ = self.reference is None or are_joint(self.reference)
        if number.low <= 0 <= number.high:
            # With signs of training labels the interval has spent 5 % already.
            level = 0.99 if fixed or np.any(self.signs.fixed) else 0.95
            level = 1 - (1 - level) / n_tests
            adds = not labels_differ and are_joint(change, level)
            if adds:  # few units need more standard errors
                adds = bool((np.abs(change.value) > reach_of_all(change, level)).any())
            return words.ADDS if adds else words.NO_EFFECT
        parts = known_or_zero(number.parts)
        counted = self.clear & (parts != 0)
        if not labels_differ or parts[counted].sum() / number.value < 0.5:
            return words.ADDS
        if number.low > 0:
            return words.AMPLIFIES
        # Are predictions associated against the clear directions (at 5 %)?
        values = self.signs.values if self.reference is None else self.reference.value
        along = np.where(counted, np.sign(known_or_zero(values)), 0.0)
        mean = float((along * known_or_zero(self.predicted.value)).sum())
        variance = sum(float(moved**2 @ times) for moved, times, _ in self.predicted.project(along))
        reverses = mean < special.ndtri(0.05) * math.sqrt(variance)
        return words.REVERSES if reverses else words.REDUCES

    @property
    def is_reliable(self) -> Array:
        """Which pairs have 10 rows or more."""
        cells = self.predicted.samples[0].cells
        # Weights that add up to ten rows may miss it by the last digit.
        return np.asarray(self.n * cells.units_per_weight >= FEW - 1e-9)

    def beside(self, other: Pairs) -> Pairs:
        """Return the pairs of the difference to another model, of the same rows and labels."""
        # The same whichever model is the reference: conditions that are predicted are their own.
        few = (self.change.unseen + other.change.unseen) / 2
        change = replace(self.change - other.change, few=few)
        delta = self.moved - other.moved
        return replace(self, labelled=other.predicted, change=change, delta=delta)


Models = Sequence[tuple[float, Pairs]]


def combine_associations(
    associations: Sequence[Association], factors: Any = None, scales: Any = None
) -> Association:
    """Return the mean of associations of the same pairs, or their sum with `factors`.

    `scales` are further factors of each pair, from −1 to 1; with 0 it may be undefined.
    """
    n = len(associations)
    factors = [1 / n] * n if factors is None else factors
    scales = np.ones((n, 1, 1)) if scales is None else scales
    total: Any = None
    few, counted = 0.0, 0.0
    for association, factor, scale in zip(associations, factors, scales, strict=True):
        alike = bool((scale == 1).all())
        part = association * (factor if alike else factor * scale)
        if not alike:
            part = replace(part, value=np.where(scale == 0, 0.0, part.value))
        total = part if total is None else total + part
        few = few + abs(factor) * scale**2 * association.unseen
        counted = counted + abs(factor) * (scale != 0)
    rate = np.mean([association.rate for association in associations], axis=0)
    return replace(total, rate=rate, few=few / np.maximum(counted, 1e-12))
