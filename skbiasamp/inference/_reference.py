"""Intervals count that signs and rates of the reference labels are those of a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from skbiasamp._input import Array
from skbiasamp._task_sums import TaskSums
from skbiasamp.contingency import Contingency
from skbiasamp.inference._influence import value_variance
from skbiasamp.inference._intervals import Bounds
from skbiasamp.inference._pairs import Pairs, Rates


@dataclass(frozen=True, eq=False)
class ReferenceLabels:
    """What is uncertain about the labels that give the signs, and perhaps the base rates.

    `uncertain` are the pairs (groups × tasks) whose sign may be random, because the labels do not
    show a correlation. `axis` is that of the groups if rates of tasks are compared, else that of
    the tasks. `with_base` says that signs and base rates are those of the same labels, and `error`
    is the standard error that base rates of training labels give the value.
    """

    uncertain: Array
    axis: int
    with_base: bool
    error: float

    def widen(self, bounds: Bounds, pairs: Pairs, *, confidence_level: float) -> Bounds:
        """Return the bounds of a value that other labels would give as well."""
        low, high = self.shifts(pairs)
        if self.with_base:
            # A rate that is high by chance has a positive sign, and predictions are seldom as high.
            high = max(high, -_added(pairs, pairs.delta, self.uncertain))
        reach = float(stats.norm.isf((1 - confidence_level) / 2)) * self.error
        return _longer(bounds, pairs, low, high, reach)

    def widen_difference(self, bounds: Bounds, pairs: Pairs) -> Bounds:
        """Return the bounds of a difference of two models, which have the base rates in common."""
        return _longer(bounds, pairs, *self.shifts(pairs), 0.0)

    def shifts(self, pairs: Pairs) -> tuple[float, float]:
        """Return how much lower, and higher, the value is without what is random about it.

        If a model predicts a task more often, the rates of all groups rise. Of two groups, whose
        signs are opposite, this cancels. Of three groups it does not: the sum of the signs decides
        whether it is an amplification.
        """
        delta = pairs.delta
        n = (~np.isnan(delta)).sum(axis=self.axis, keepdims=True)
        # A lone rate has nothing to be compared with: all of its change may be shared.
        shared = np.nansum(delta, axis=self.axis, keepdims=True) / np.maximum(n, 1)
        by_chance = _added(pairs, np.where(np.isnan(delta), np.nan, shared), self.uncertain)
        return max(by_chance, 0.0), max(-by_chance, 0.0)


def error_of_base(train: Contingency, pairs: Pairs) -> float:
    """Return the standard error that rates of training labels give the value.

    It is 0 where tasks were summed by themselves: what it takes was not.
    """
    held = pairs.seen_in(train)
    if isinstance(held, TaskSums):
        return 0.0
    assert pairs.rates is not None
    side, given = (name.removesuffix("_pred") for name in pairs.rates.observed)
    labels = Rates((side, given), None)  # type: ignore[arg-type]
    pairs = pairs.as_signed() if pairs.apart else pairs
    nothing = np.zeros(pairs.base.shape)
    before = replace(pairs, rates=labels, observed=pairs.base, base=nothing)
    return float(value_variance(held, before) ** 0.5)


def _added(pairs: Pairs, change: Array, where: Array) -> float:
    """Return what changes of some pairs add to what the verdict is about."""
    slopes = pairs.as_signed().slopes if pairs.apart else pairs.slopes
    return float(np.nansum(np.where(where, slopes * change, 0.0) * pairs.share))


def _longer(bounds: Bounds, pairs: Pairs, below: float, above: float, reach: float) -> Bounds:
    """Return bounds of what the verdict is about that are longer, unless it is of growth.

    They reach `below` and `above` further, and before that by a margin of error of its own.
    """
    if pairs.growth is not None:
        return bounds
    names = ("signed_mean_low", "signed_mean_high") if pairs.apart else ("value_low", "value_high")
    held = bounds.statistics if pairs.apart else bounds._asdict()
    low, high = (held[name] for name in names)
    if reach:
        value = float(pairs.signed_mean if pairs.apart else pairs.value)
        low = value - float(np.hypot(value - low, reach))
        high = value + float(np.hypot(high - value, reach))
    found = dict(zip(names, (low - below, high + above), strict=True))
    if pairs.apart:
        return bounds._replace(statistics=bounds.statistics | found)
    return bounds._replace(**found)
