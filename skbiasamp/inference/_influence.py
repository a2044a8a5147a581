"""What each row contributes to a pair and to the value, and the variances that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._cells import Cells, column, column_scores, pair_scores
from skbiasamp._input import Array
from skbiasamp._task_sums import TaskSums, of_one_task
from skbiasamp.contingency import Contingency
from skbiasamp.inference._pairs import Pairs


def pair_variances(cells: Contingency, pairs: Pairs) -> Array:
    """Return the variance of every pair's change, NaN where it is undefined."""
    variances = np.full(pairs.delta.shape, np.nan)
    for group, task in zip(*np.where(~np.isnan(pairs.delta)), strict=True):
        held, position = of_one_task(cells, task)
        influence = pair_influence(held, pairs, group, task, position)
        variances[group, task] = variance_of(held, influence)
    return variances


def pair_influence(cells: Cells, pairs: Pairs, group: int, task: int, position: int) -> Array:
    """Return how much one more row of each cell would move a pair's change, times n.

    The task of the pair is at `position` in the cells.
    """
    assert pairs.rates is not None

    def term(rate: tuple[Any, Any], value: float) -> Array:
        side, given = rate
        at = {"group": group, "task": position}
        x = column(cells, side, at[side.partition("_")[0]])
        y = column(cells, given, at[given.partition("_")[0]])
        whole = y * _times_counted(cells, pairs, side)
        return (y * x - whole * value) / (cells.weight @ whole)

    influence = term(pairs.rates.observed, pairs.observed[group, task])
    if pairs.rates.base is not None:
        influence = influence - term(pairs.rates.base, pairs.base[group, task])
    return influence


def _times_counted(cells: Cells, pairs: Pairs, side: Any) -> Any:
    """Return how often a row counts in a denominator.

    Shares of a set of tasks sum over groups, so that a row of two groups counts twice there.
    """
    assert pairs.rates is not None
    if pairs.onto is None or pairs.rates.observed[1] != "task_pred":
        return 1.0
    return column_scores(cells, side, np.ones(len(pairs.groups)))


def value_scores(cells: Cells, pairs: Pairs, *, centred: bool) -> Array:
    """Return each row's part in the value; centred, its influence on it."""
    assert pairs.rates is not None
    scores = np.zeros(cells.n_cells)
    terms = [(pairs.rates.observed, pairs.observed, 1.0)]
    if pairs.rates.base is not None:
        terms.append((pairs.rates.base, pairs.base, -1.0))
    for (side, given), rates, factor in terms:
        by_group = given.startswith("group")
        times = _times_counted(cells, pairs, side)
        if np.ndim(times):
            count = cells.joint(side, given).sum(axis=0)[None, :]
        else:
            count = cells.count(given)
            count = count[:, None] if by_group else count[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(pairs.gradient == 0, 0.0, factor * pairs.gradient / count)
        scores += pair_scores(cells, side, given, weight)
        if centred:
            mean = np.where(weight == 0, 0.0, weight * rates).sum(axis=1 if by_group else 0)
            scores -= times * column_scores(cells, given, mean)
    return scores


def variance_of(cells: Cells, influence: Array) -> float:
    """Return the variance of a sum of influences."""
    # A whole weight is that many rows; a fractional one is one row that counts so much.
    return float(cells.weight @ (cells.row_weight * influence**2))


def value_variance(cells: Cells, pairs: Pairs, *, centred: bool = True) -> float:
    """Return the variance of the value; not centred, if each row's part may change its sign.

    It is NaN where tasks were summed by themselves and the squares that it takes were not.
    """
    if not isinstance(cells, TaskSums):
        return variance_of(cells, value_scores(cells, pairs, centred=centred))
    assert pairs.rates is not None
    moments, n = cells.moments, cells.count("group")
    signs = pairs.gradient / pairs.share  # 0 in groups without rows
    if (
        moments is None
        or pairs.rates.observed != ("task_pred", "group")
        or not np.array_equal(moments.signs[n > 0], signs[n > 0])
        or moments.change != (pairs.rates.base is not None)
    ):
        return float("nan")
    squares = moments.squares
    if centred:
        base = pairs.base if moments.change else 0.0
        mean = np.where(n > 0, np.nansum(signs * (pairs.observed - base), axis=1), 0.0)
        squares = np.maximum(squares - n * mean**2, 0.0)
    parts = np.divide(pairs.share.ravel(), n, out=np.zeros(len(n)), where=n > 0) ** 2
    return float(parts @ squares)
