"""What each row contributes to a pair and to the value, and the variances that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp.counts.cells import SIDES, Cells, labels_of, shared
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.poststrata import within_poststrata
from skbiasamp.counts.task_sums import of_task
from skbiasamp.inference.pairs import Pairs, Rates

# Numbers held at once: rows of a condition × pairs.
_BLOCK = 1 << 21


def pair_variances(
    *models: tuple[Contingency, Pairs], factors: tuple[float, ...] = (1.0, -1.0)
) -> Array:
    """Return the variance of every pair's change, or NaN if it is undefined.

    If several models predict the same rows, it is the variance of the sum of their changes, each
    times its factor: by default that of the difference between two.
    """
    (cells, pairs), *others = models
    rates = pairs.rates
    assert rates is not None

    def variances(own: Cells) -> Array:
        if not others and _are_counts(own, pairs, rates):
            labels, both, predictions = _moments_of_counts(own, False, rates)
            return _oriented(labels + predictions - 2 * both, rates)
        return _of_changes([own, *(of for of, _ in others)], pairs, factors, _sum_of_squares)

    every = _by_task(cells, pairs, variances) if cells.summed == "tasks" else variances(cells)
    undefined = np.any([np.isnan(own.delta) for _, own in models], axis=0)
    return np.where(undefined, np.nan, every)


def units_of_pairs(*models: tuple[Contingency, Pairs]) -> Array:
    """Return how many independent rows, or clusters, carry the variance of every pair's change."""
    cells = [own for own, _ in models]
    return _of_changes(cells, models[0][1], (1.0, -1.0), _units_of_sums)


def _of_changes(
    models: Sequence[Cells],
    pairs: Pairs,
    factors: Sequence[float],
    of: Callable[[Array, Array], Array],
) -> Array:
    """Return what is made of each pair's sums of influences, and of how often each is there."""
    rates = pairs.rates
    assert rates is not None
    of_pairs = _nothing(models[0], rates)
    for at, rows, influences in _influences(models, pairs, rates):
        # Model by model, so that what two predict alike cancels exactly.
        of_models = zip(factors, np.split(np.stack(influences), len(models)), strict=False)
        change = sum(factor * (own[0] - own[1:].sum(axis=0)) for factor, own in of_models)
        of_pairs[at] = of(*_sums_of_rows(models[0], rows, change))
    return _oriented(of_pairs, rates)


def _sum_of_squares(sums: Array, times: Array) -> Array:
    return np.asarray(times @ sums**2)


def _units_of_sums(sums: Array, times: Array) -> Array:
    """Return how many units carry the variance of sums; none is carried by infinitely many."""
    squares = sums**2
    fourth = times @ squares**2
    many = np.full(fourth.shape, np.inf)
    return np.divide((times @ squares) ** 2, fourth, out=many, where=fourth > 0)


def _by_task(cells: Cells, pairs: Pairs, of: Callable[[Cells], Array]) -> Array:
    """Return numbers of pairs whose tasks were summed by themselves."""
    parts = [of(of_task(cells, task)) for task in range(len(pairs.tasks))]
    return np.concatenate(parts, axis=-1)


def _oriented(of_pairs: Array, rates: Rates) -> Array:
    """Return numbers of conditions × labels as groups × tasks."""
    return of_pairs if rates.observed[1].startswith("group") else np.swapaxes(of_pairs, -2, -1)


def _nothing(cells: Cells, rates: Rates) -> Array:
    """Return zeros for each condition and label."""
    side, given = (labels_of(cells, name).width for name in rates.observed)
    return np.zeros((given, side))


def _influences(
    models: Sequence[Cells], pairs: Pairs, rates: Rates, *, centred: bool = False
) -> Iterator[tuple[tuple[int, Array], Array, list[Array]]]:
    """Yield a condition and some labels, the rows that count, and their influences on each rate.

    The rates are those of each model in turn: the observed one, then its base if there is one.
    With `centred`, they are less the rate of all rows.
    """
    cells, sides = models[0], [rate for rate in rates if rate is not None]
    terms = [
        (labels_of(own, side), labels_of(own, given), _times_counted(own, pairs, side))
        for own in models
        for side, given in sides
    ]
    conditions, width = (terms[0][i].width for i in (1, 0))
    size = max(1, _BLOCK // max(1, cells.n_cells))
    for low in range(0, width, size):
        block = np.arange(low, min(low + size, width))
        labels = [label.select(block) for label, *_ in terms]
        values = [label.dense(slice(None), float) for label in labels if centred]
        overall = [(cells.weight @ x / cells.total - x) / cells.total for x in values]
        # One condition (a group of A→T, a task of T→A) at a time: most cells do not meet it.
        for condition in range(conditions):
            met = [given.column(condition) for _, given, _ in terms]
            rows = np.arange(cells.n_cells)
            if not centred and cells.poststrata is None:
                rows = np.flatnonzero(np.any(met, axis=0))
            weight, influences = cells.weight[rows], []
            for i, (label, inside, (*_, times)) in enumerate(zip(labels, met, terms, strict=True)):
                x = values[i] if centred else label.take(rows).dense(slice(None), float)
                y, whole = inside[rows, None], (inside * times)[rows, None]
                n, chosen = weight @ whole, y * x
                with np.errstate(invalid="ignore", divide="ignore"):
                    part = (chosen - whole * (weight @ chosen / n)) / n
                influences.append(part + overall[i] if centred else part)
            yield (condition, block), rows, influences


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
    assert pairs.rates is not None
    scores = np.zeros(cells.n_cells)
    terms = [(pairs.rates.observed, pairs.observed, 1.0)]
    if labels and pairs.rates.base is not None:
        terms.append((pairs.rates.base, pairs.base, -1.0))
    for (side, given), rates, factor in terms:
        times = _times_counted(cells, pairs, side)
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
        if centred and pairs.has_centre:
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
        return Covariances(*_by_task(cells, pairs, lambda own: _moments(own, pairs, rates)))
    return Covariances(*_moments(cells, pairs, rates))


def _are_counts(cells: Cells, pairs: Pairs, rates: Rates) -> bool:
    """Return whether variances follow from how many rows have each pair of labels."""
    if not cells.whole or cells.clusters is not None or cells.summed == "tasks":
        return False
    if cells.poststrata is not None:
        return False
    same = rates.base is None or rates.base[1] == rates.observed[1]
    return same and not (pairs.onto and pairs.above_only) and not any(map(cells.soft, SIDES))


def _moments(cells: Cells, pairs: Pairs, rates: Rates) -> Array:
    """Return `association_moments` stacked, as (3, groups, tasks)."""
    centred = pairs.has_centre
    if _are_counts(cells, pairs, rates):
        return _oriented(_moments_of_counts(cells, centred, rates), rates)
    of_pairs = np.stack([_nothing(cells, rates)] * 3)
    for at, rows, (after, *before) in _influences([cells], pairs, rates, centred=centred):
        of_pairs[2, *at] = _sum_of_products(cells, rows, after, after)
        for base in before:
            of_pairs[0, *at] = _sum_of_products(cells, rows, base, base)
            of_pairs[1, *at] = _sum_of_products(cells, rows, base, after)
    return _oriented(of_pairs, rates)


def _moments_of_counts(cells: Cells, centred: bool, rates: Rates) -> Array:
    """Return `_moments` as (3, conditions, labels), of what was counted: labels are 0 or 1."""
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


def _sum_of_products(cells: Cells, rows: Array, left: Array, right: Array) -> Array:
    """Return sums of products of two influences of each row, or of each cluster of rows."""
    sums, times = _sums_of_rows(cells, rows, left)
    other = sums if right is left else _sums_of_rows(cells, rows, right)[0]
    return np.asarray(times @ (sums * other))


def _sums_of_rows(cells: Cells, rows: Array, influence: Array) -> tuple[Array, Array]:
    """Return what each independent row, or cluster, adds to sums (units × sums), and how many are.

    `influence` is that of some rows (rows × sums), which are all if there are poststrata.
    """
    influence = within_poststrata(cells, influence.T).T
    if cells.clusters is None:
        return influence * cells.row_weight[rows, None], cells.rows[rows]
    return cells.clusters.sums(rows, cells.weight, influence), cells.clusters.n


def variance_of(cells: Cells, influence: Array) -> float:
    """Return the variance of a sum of influences."""
    return float(covariances_of(cells, influence[None])[0, 0])


def covariances_of(cells: Cells, influences: Array) -> Array:
    """Return the covariances of sums of influences (sums × rows)."""
    sums, times = unit_sums(cells, influences)
    return np.asarray((sums * times) @ sums.T)


def units_carrying(cells: Cells, influence: Array) -> float:
    """Return how many independent rows, or clusters, carry the variance of a sum of influences."""
    sums, times = unit_sums(cells, influence)
    return float(_units_of_sums(sums, times))


def unit_sums(cells: Cells, influences: Any) -> tuple[Any, Array]:
    """Return what each independent row, or cluster, adds to sums of influences (sums × rows).

    Beside it stands how often each of them is there. A whole weight is that many rows; a fractional
    one is one row that counts so much.
    """
    influences = within_poststrata(cells, influences)
    if cells.clusters is None:
        return influences * cells.row_weight, cells.rows
    of, n = cells.clusters
    inside = (cells.clusters.each(cells.weight), (np.arange(cells.n_cells), of))
    return influences @ sparse.csr_array(inside, shape=(len(of), len(n))), n


def mean_variance(
    cells: Cells, pairs: Pairs, gradient: Array, *, centred: bool = False, labels: bool = True
) -> float:
    """Return the variance of a mean over pairs that follows their changes by `gradient`.

    `centred` and `labels` are those of `row_influence`. It is NaN if tasks were summed by
    themselves and the squares that it takes were not.
    """
    if cells.summed == "tasks":
        return _variance_of_sums(cells, pairs, gradient, centred and pairs.has_centre, labels)
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
