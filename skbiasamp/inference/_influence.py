"""What each row contributes to a pair and to the value, and the variances that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from skbiasamp._cells import Cells, SideName, column, labels_of
from skbiasamp._input import Array
from skbiasamp._task_sums import TaskSums
from skbiasamp.contingency import Contingency
from skbiasamp.inference._pairs import Pairs

# Numbers held at once: rows of a condition × pairs.
_BLOCK = 1 << 21


def pair_variances(*models: tuple[Contingency, Pairs]) -> Array:
    """Return the variance of every pair's change, or NaN if it is undefined.

    Of two models that predict the same rows, it is that of the difference of their changes.
    """
    (cells, pairs), *_ = models
    if isinstance(cells, TaskSums):
        every = [
            _variances([(cells.of_task(task), pairs)], slice(task, task + 1))
            for task in range(len(pairs.tasks))
        ]
        variances = np.concatenate(every, axis=1)
    else:
        variances = _variances(models, slice(None))
    undefined = np.any([np.isnan(one.delta) for _, one in models], axis=0)
    return np.where(undefined, np.nan, variances)


def _variances(models: Sequence[tuple[Cells, Pairs]], tasks: slice) -> Array:
    """Return the variances of the pairs of some tasks, which are all that the cells have."""
    (cells, pairs), *_ = models
    assert pairs.rates is not None
    by_group = pairs.rates.observed[1].startswith("group")
    delta = pairs.delta[:, tasks] if by_group else pairs.delta[:, tasks].T
    terms = [(held, term) for held, one in models for term in _terms(held, one, tasks)]
    squared = cells.weight * cells.row_weight
    variances = np.empty(delta.shape)
    # One condition (a group of A→T, a task of T→A) at a time: most cells do not meet it.
    for condition, into in enumerate(variances):
        met = [column(held, given, condition) for held, ((_, given), *_) in terms]
        rows = np.flatnonzero(np.any(met, axis=0))
        size = max(1, _BLOCK // max(1, len(rows)))
        for low in range(0, len(into), size):
            block = np.arange(low, min(low + size, len(into)))
            parts = []
            for (held, ((side, _), rates, factor, times)), y in zip(terms, met, strict=True):
                x = labels_of(held, side).take(rows).select(block).dense(slice(None), float)
                rate = (rates if by_group else rates.T)[condition, block]
                whole = y * times
                with np.errstate(invalid="ignore", divide="ignore"):
                    part = (y[rows, None] * x - whole[rows, None] * rate) / (held.weight @ whole)
                parts.append(factor * part)
            # Model by model, so that what two predict alike cancels exactly.
            own, *others = np.split(np.stack(parts), len(models))
            influence = own.sum(axis=0) - sum(one.sum(axis=0) for one in others)
            if cells.clusters is None:
                into[block] = squared[rows] @ influence**2
            else:
                sums = cells.clusters.sums(rows, cells.weight, influence)
                into[block] = cells.clusters.n @ sums**2
    return variances if by_group else variances.T


def _terms(
    cells: Cells, pairs: Pairs, tasks: slice = slice(None)
) -> Iterator[tuple[tuple[SideName, SideName], Array, float, Any]]:
    """Return the rates that a change is made of: sides, values, factor, how often rows count."""
    assert pairs.rates is not None
    for sides, rates, factor in (
        (pairs.rates.observed, pairs.observed, 1.0),
        (pairs.rates.base, pairs.base, -1.0),
    ):
        if sides is not None:
            yield sides, rates[:, tasks], factor, _times_counted(cells, pairs, sides[0])


def _times_counted(cells: Cells, pairs: Pairs, side: Any) -> Any:
    """Return how often a row counts in a denominator.

    Shares of a set of tasks sum over groups, so that a row of two groups counts twice there.
    """
    assert pairs.rates is not None
    if pairs.onto is None or pairs.rates.observed[1] != "task_pred":
        return 1.0
    return labels_of(cells, side).scores(np.ones(len(pairs.groups)))


def value_scores(cells: Cells, pairs: Pairs, *, centred: bool) -> Array:
    """Return each row's part in the value; centred, its influence on it."""
    scores = np.zeros(cells.n_cells)
    for (side, given), rates, factor, times in _terms(cells, pairs):
        by_group = given.startswith("group")
        if np.ndim(times):
            count = cells.joint(side, given).sum(axis=0)[None, :]
        else:
            count = cells.count(given)
            count = count[:, None] if by_group else count[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(pairs.gradient == 0, 0.0, factor * pairs.gradient / count)
        groups, tasks = (given, side) if by_group else (side, given)
        scores += labels_of(cells, groups).own(labels_of(cells, tasks).scores(weight))
        if centred:
            mean = np.where(weight == 0, 0.0, weight * rates).sum(axis=1 if by_group else 0)
            scores -= times * labels_of(cells, given).scores(mean)
    return scores


def variance_of(cells: Cells, influence: Array) -> float:
    """Return the variance of a sum of influences."""
    # A whole weight is that many rows; a fractional one is one row that counts so much.
    if cells.clusters is None:
        return float(cells.weight @ (cells.row_weight * influence**2))
    of, n = cells.clusters
    return float(n @ np.bincount(of, cells.clusters.each(cells.weight) * influence) ** 2)


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
