"""What each row contributes to a pair and to the value, and the variances that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._labels import Array
from skbiasamp.contingency import Contingency
from skbiasamp.metrics._pairs import Pairs


def pair_influence(cells: Contingency, pairs: Pairs, group: int, task: int) -> Array:
    """Return how much one more row of each cell would move a pair's delta, times n."""

    def term(rate: tuple[Any, Any], value: float) -> Array:
        side, given = rate
        at = {"group": group, "task": task}
        x = cells.column(side, at[side.partition("_")[0]])
        y = cells.column(given, at[given.partition("_")[0]])
        whole = y * _times_counted(cells, pairs, side)
        return (y * x - whole * value) / (cells.weight @ whole)

    influence = term(pairs.observed_rate, pairs.observed[group, task])
    if pairs.base_rate is not None:
        influence = influence - term(pairs.base_rate, pairs.base[group, task])
    return influence


def _times_counted(cells: Contingency, pairs: Pairs, side: Any) -> Any:
    """Return how often a row counts in a denominator.

    Multi_MALS sums over groups, so that a row of two groups counts twice there.
    """
    if pairs.sets is None or pairs.observed_rate[1] != "task_pred":
        return 1.0
    return cells.column_scores(side, np.ones(len(pairs.groups)))


def value_scores(cells: Contingency, pairs: Pairs, *, centred: bool) -> Array:
    """Return each row's part in the value; centred, its influence on it."""
    scores = np.zeros(cells.n_cells)
    terms = [(pairs.observed_rate, pairs.observed, 1.0)]
    if pairs.base_rate is not None:
        terms.append((pairs.base_rate, pairs.base, -1.0))
    for (side, given), rates, factor in terms:
        by_group = given.startswith("group")
        times = _times_counted(cells, pairs, side)
        if np.ndim(times):
            joint = cells.joint(side, given)
            count = joint.sum(axis=0)[None, :]
        else:
            count = cells.count(given)
            count = count[:, None] if by_group else count[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(pairs.gradient == 0, 0.0, factor * pairs.gradient / count)
        scores += cells.pair_scores(side, given, weight)
        if centred:
            mean = np.where(weight == 0, 0.0, weight * rates).sum(axis=1 if by_group else 0)
            scores -= times * cells.column_scores(given, mean)
    return scores


def moments_of(cells: Contingency, influence: Array) -> tuple[float, float]:
    """Return the variance of a sum of influences, and its acceleration for BCa."""
    # A whole weight is that many rows; a fractional one is one row that counts so much.
    part = cells.row_weight * influence
    variance = float(cells.weight @ (part * influence))
    third = float(cells.weight @ (part**2 * influence))
    return variance, third / (6 * variance**1.5) if variance > 0 else 0.0


def pair_moments(cells: Contingency, pairs: Pairs) -> tuple[Array, Array]:
    """Return variance and acceleration of every pair's delta, NaN where it is undefined."""
    variance, acceleration = (np.full(pairs.delta.shape, np.nan) for _ in range(2))
    for group, task in zip(*np.where(~np.isnan(pairs.delta)), strict=True):
        influence = pair_influence(cells, pairs, group, task)
        variance[group, task], acceleration[group, task] = moments_of(cells, influence)
    return variance, acceleration


def value_variances(cells: Contingency, pairs: Pairs) -> tuple[float, float]:
    """Return the variance of the value, and of the sum of rows' parts if each may change its sign.

    They are NaN where tasks were summed by themselves and the squares that it takes were not.
    """
    if cells.summed != "tasks":
        return (
            moments_of(cells, value_scores(cells, pairs, centred=True))[0],
            moments_of(cells, value_scores(cells, pairs, centred=False))[0],
        )
    moments = cells.moments
    if moments is None or pairs.observed_rate != ("task_pred", "group"):
        return float("nan"), float("nan")
    signs = pairs.gradient / pairs.share  # 0 in groups without rows
    n = cells.count("group")
    same = np.array_equal(moments.signs[n > 0], signs[n > 0])
    if not same or moments.change != (pairs.base_rate is not None):
        return float("nan"), float("nan")
    base = pairs.base if moments.change else 0.0
    mean = np.where(n > 0, np.nansum(signs * (pairs.observed - base), axis=1), 0.0)
    spread = np.maximum(moments.squares - n * mean**2, 0.0)
    parts = np.divide(pairs.share.ravel(), n, out=np.zeros(len(n)), where=n > 0) ** 2
    return float(parts @ spread), float(parts @ moments.squares)
