"""What each row contributes to a pair and to the value, and the variances that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.counts.cells import SIDES, Cells, SideName, column, labels_of, shared
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.task_sums import of_task
from skbiasamp.inference.pairs import Pairs, Rates

# Numbers held at once: rows of a condition × pairs.
_BLOCK = 1 << 21


def pair_variances(
    *models: tuple[Contingency, Pairs], factors: tuple[float, ...] = (1.0, -1.0)
) -> Array:
    """Return the variance of every pair's change, or NaN if it is undefined.

    Of several models that predict the same rows, it is that of the sum of their changes, each
    times its factor: by default that of the difference between two.
    """
    (cells, pairs), *others = models
    if not others and pairs.rates is not None and _are_counts(cells, pairs, pairs.rates):
        labels, both, predictions = _moments(cells, pairs, pairs.rates, centred=False)
        return np.where(np.isnan(pairs.delta), np.nan, labels + predictions - 2 * both)
    if cells.summed == "tasks":
        every = [
            _variances([(of_task(cells, task), pairs)], slice(task, task + 1), factors)
            for task in range(len(pairs.tasks))
        ]
        variances = np.concatenate(every, axis=1)
    else:
        variances = _variances(models, slice(None), factors)
    undefined = np.any([np.isnan(rates.delta) for _, rates in models], axis=0)
    return np.where(undefined, np.nan, variances)


def _variances(
    models: Sequence[tuple[Cells, Pairs]], tasks: slice, factors: Sequence[float]
) -> Array:
    """Return the variances of the pairs of some tasks, which are all that the cells have."""
    (cells, pairs), *_ = models
    assert pairs.rates is not None
    by_group = pairs.rates.observed[1].startswith("group")
    delta = pairs.delta[:, tasks] if by_group else pairs.delta[:, tasks].T
    terms = [(table, term) for table, rates in models for term in _terms(table, rates, tasks)]
    squared = cells.weight * cells.row_weight
    variances = np.empty(delta.shape)
    # One condition (a group of A→T, a task of T→A) at a time: most cells do not meet it.
    for condition, into in enumerate(variances):
        met = [column(table, given, condition) for table, ((_, given), *_) in terms]
        rows = np.flatnonzero(np.any(met, axis=0))
        size = max(1, _BLOCK // max(1, len(rows)))
        for low in range(0, len(into), size):
            block = np.arange(low, min(low + size, len(into)))
            parts = []
            for (cells, ((side, _), rates, factor, times)), y in zip(terms, met, strict=True):
                x = labels_of(cells, side).take(rows).select(block).dense(slice(None), float)
                rate = (rates if by_group else rates.T)[condition, block]
                whole = y * times
                with np.errstate(invalid="ignore", divide="ignore"):
                    part = (y[rows, None] * x - whole[rows, None] * rate) / (cells.weight @ whole)
                parts.append(factor * part)
            # Model by model, so that what two predict alike cancels exactly.
            of_models = np.split(np.stack(parts), len(models))
            influence = sum(
                factor * part.sum(axis=0) for factor, part in zip(factors, of_models, strict=False)
            )
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
            times = _times_counted(cells, pairs, sides[0])
            yield sides, rates[:, tasks], factor, times


def _times_counted(cells: Cells, pairs: Pairs, side: Any) -> Any:
    """Return how often a row counts in a denominator.

    Shares of a set of tasks, of labels and of predictions, sum over groups, so that a row of two
    groups counts twice there.
    """
    if pairs.onto is None or not pairs.above_only:
        return 1.0
    return labels_of(cells, side).scores(np.ones(len(pairs.groups)))


def row_influence(
    cells: Cells, pairs: Pairs, gradient: Array, *, centred: bool = False, labels: bool = True
) -> Array:
    """Return each row's influence on a mean over pairs that follows their changes by `gradient`.

    `centred`: changes of the association, without that of the centre. Without `labels`, of the
    rates in the predictions alone.
    """
    scores = np.zeros(cells.n_cells)
    for (side, given), rates, factor, times in _terms(cells, pairs):
        if factor < 0 and not labels:
            continue
        by_group = given.startswith("group")
        if np.ndim(times):
            count = cells.joint(side, given).sum(axis=0)[None, :]
        else:
            count = cells.count(given)
            count = count[:, None] if by_group else count[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(gradient == 0, 0.0, factor * gradient / count)
        groups, tasks = (given, side) if by_group else (side, given)
        scores += labels_of(cells, groups).own(labels_of(cells, tasks).scores(weight))
        mean = np.where(weight == 0, 0.0, weight * rates).sum(axis=1 if by_group else 0)
        scores -= times * labels_of(cells, given).scores(mean)
        if centred and has_centre(pairs):
            every = gradient.sum(axis=0 if by_group else 1) * (factor / cells.total)
            overall = labels_of(cells, side).scores(every)
            scores -= overall - (cells.weight @ overall) / cells.total
    if centred and labels and pairs.own_base:
        scores += _by_own_centre(cells, pairs, gradient)
    return scores


def _by_own_centre(cells: Cells, pairs: Pairs, gradient: Array) -> Array:
    """Return each row's influence by the centre of the user's own rates.

    The rates are fixed, and the sizes of groups, by which they are averaged, are not.
    """
    assert pairs.rates is not None
    groups = labels_of(cells, "group")
    size: Any = 1.0
    if pairs.rates.observed[1] == "group":
        every = pairs.base @ gradient.sum(axis=0)
        size = groups.scores(np.ones(len(pairs.groups)))
    else:
        every = gradient.sum(axis=1)
    overall, n = groups.scores(every), cells.weight @ (size * np.ones(cells.n_cells))
    return (overall - size * (cells.weight @ overall) / n) / n


def has_centre(pairs: Pairs) -> bool:
    """Return whether the centre of associations is estimated from the same rows."""
    if pairs.association is not None:
        return True
    return pairs.centre is not None and np.ndim(pairs.centre[1]) > 0


class Covariances(NamedTuple):
    """Variances of each pair's association in labels and in predictions, and their covariance."""

    labels: Array
    both: Array
    predictions: Array


def association_moments(cells: Contingency, pairs: Pairs, rates: Rates) -> Covariances:
    """Return how the associations of pairs vary with the rows, in labels and in predictions.

    Where `rates` has no base, only the predictions vary.
    """
    if cells.summed == "tasks":
        every = [
            _moments(of_task(cells, task), pairs, rates, centred=has_centre(pairs))
            for task in range(len(pairs.tasks))
        ]
        return Covariances(*np.concatenate(every, axis=-1))
    return Covariances(*_moments(cells, pairs, rates, centred=has_centre(pairs)))


def _are_counts(cells: Cells, pairs: Pairs, rates: Rates) -> bool:
    """Return whether variances follow from how many rows have each pair of labels."""
    if not cells.whole or cells.clusters is not None or cells.summed == "tasks":
        return False
    same = rates.base is None or rates.base[1] == rates.observed[1]
    return same and not (pairs.onto and pairs.above_only) and not any(map(cells.soft, SIDES))


def _moments(cells: Cells, pairs: Pairs, rates: Rates, *, centred: bool) -> Array:
    """Return `association_moments` stacked, as (3, groups, tasks); or without a centre."""
    by_group = rates.observed[1].startswith("group")
    sides = [rate for rate in (rates.base, rates.observed) if rate is not None]
    if _are_counts(cells, pairs, rates):
        of_pairs = _moments_of_counts(cells, centred, rates)
        return of_pairs if by_group else np.swapaxes(of_pairs, 1, 2)
    labels = [labels_of(cells, side) for side, _ in sides]
    conditions = [labels_of(cells, given) for _, given in sides]
    times = [_times_counted(cells, pairs, side) for side, _ in sides]
    of_pairs = np.zeros((3, conditions[0].width, labels[0].width))
    size = max(1, _BLOCK // max(1, cells.n_cells))
    squares = _SumsOfSquares(cells)
    for low in range(0, of_pairs.shape[2], size):
        block = np.arange(low, min(low + size, of_pairs.shape[2]))
        values = [label.select(block).dense(slice(None), float) for label in labels]
        overall = [np.zeros(value.shape) for value in values]
        if centred:
            overall = [
                (cells.weight @ value / cells.total - value) / cells.total for value in values
            ]
        for condition in range(of_pairs.shape[1]):
            parts = []
            for conditions_of_block, given, n_times, common in zip(
                values, conditions, times, overall, strict=True
            ):
                inside = given.column(condition)
                whole = inside * n_times
                n = cells.weight @ whole
                with np.errstate(invalid="ignore", divide="ignore"):
                    rate = (cells.weight * inside) @ conditions_of_block / n
                    parts.append(
                        (inside[:, None] * conditions_of_block - whole[:, None] * rate) / n + common
                    )
            before, after = parts[0], parts[-1]
            of_pairs[2, condition, block] = squares.of(after, after)
            if rates.base is not None:
                of_pairs[0, condition, block] = squares.of(before, before)
                of_pairs[1, condition, block] = squares.of(before, after)
    return of_pairs if by_group else np.swapaxes(of_pairs, 1, 2)


def _moments_of_counts(cells: Cells, centred: bool, rates: Rates) -> Array:
    """Return `_moments`, as (3, conditions, labels), of what was counted: labels are 0 or 1."""
    (after, given), total = rates.observed, cells.total
    n = cells.count(given)[:, None]
    part = n / total
    moments = np.zeros((3, *cells.joint(given, after).shape))
    before = after if rates.base is None else rates.base[0]
    for i, (first_side, other) in enumerate([(before, before), (before, after), (after, after)]):
        if rates.base is None and i < 2:
            continue
        common = cells if first_side == other else shared(cells, after.partition("_")[0])
        both = common.joint(given, other)
        first, second = cells.joint(given, first_side), cells.joint(given, other)
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = both - first * second / n
            moments[i] = inside / part**2
            if centred:
                alone = common.count(other) - cells.count(first_side) * cells.count(other) / total
                moments[i] += alone - 2 * inside / part
    return moments / total**2


class _SumsOfSquares:
    """Sums of products of two influences of each row, or of each cluster of rows."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.weight = cells.weight * cells.row_weight

    def of(self, left: Array, right: Array) -> Array:
        """Return the sums, for each column."""
        clusters = self.cells.clusters
        if clusters is None:
            return np.einsum("i,ij,ij->j", self.weight, left, right)
        rows = np.arange(self.cells.n_cells)
        first, second = (clusters.sums(rows, self.cells.weight, part) for part in (left, right))
        return clusters.n @ (first * second)


def variance_of(cells: Cells, influence: Array) -> float:
    """Return the variance of a sum of influences."""
    return float(covariances_of(cells, influence[None])[0, 0])


def covariances_of(cells: Cells, influences: Array) -> Array:
    """Return the covariances of sums of influences (sums × rows)."""
    # A whole weight is that many rows; a fractional one is one row that counts so much.
    if cells.clusters is None:
        return (influences * (cells.weight * cells.row_weight)) @ influences.T
    of, n = cells.clusters
    each = cells.clusters.each(cells.weight)
    sums = np.stack(
        [np.bincount(of, each * influence, minlength=len(n)) for influence in influences]
    )
    return (sums * n) @ sums.T


def mean_variance(
    cells: Cells, pairs: Pairs, gradient: Array, *, centred: bool = False, labels: bool = True
) -> float:
    """Return the variance of a mean over pairs that follows their changes by `gradient`.

    `centred` and `labels` are those of `row_influence`. It is NaN where tasks were summed by
    themselves and the squares that it takes were not.
    """
    if cells.summed == "tasks":
        return _variance_of_sums(cells, pairs, gradient, centred and has_centre(pairs), labels)
    how: dict[str, bool] = {"centred": centred, "labels": labels}
    return variance_of(cells, row_influence(cells, pairs, gradient, **how))


def _variance_of_sums(
    cells: Cells, pairs: Pairs, gradient: Array, centred: bool, labels: bool
) -> float:
    """Return the variance of a mean over pairs where an engine summed each task by itself."""
    assert pairs.rates is not None
    n, of_labels = cells.count("group"), labels and pairs.rates.base is not None
    signs = gradient / pairs.share  # 0 in groups without rows
    moments = next(
        (
            moment
            for moment in cells.moments
            if moment.change == of_labels and np.array_equal(moment.signs[n > 0], signs[n > 0])
        ),
        None,
    )
    if moments is None or pairs.rates.observed != ("task_pred", "group"):
        return float("nan")
    share = float(np.ravel(pairs.share)[0])
    change = np.nan_to_num(pairs.observed - (pairs.base if moments.change else 0.0))
    mean = (signs * change).sum(axis=1)
    rows = np.maximum(n, 1)
    squares = np.maximum(moments.squares - n * mean**2, 0.0) / rows**2
    shared = moments.shared
    if centred and shared.any():
        if moments.crossed is None:
            return float("nan")
        both, alone = moments.crossed
        each = change @ shared
        overall = (n @ each) / cells.total
        if labels and pairs.own_base:  # its centre follows the sizes of groups
            own = pairs.base @ shared
            overall = overall + own - (n @ own) / cells.total
        squares = squares - 2 * (both - n * mean * each) / (rows * cells.total)
        squares = squares + (alone - n * overall * (2 * each - overall)) / cells.total**2
    return float(share**2 * squares[n > 0].sum())
