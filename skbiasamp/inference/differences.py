"""Several models that predict the same rows: values, and differences on the same cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, common, side_of_model
from skbiasamp.counts.cells import labels_of, sides_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.counts.several_models import differ
from skbiasamp.inference.assess import IntervalOptions, Measured, covariances, unknown
from skbiasamp.inference.changes import RowsOfPairs, changes, units
from skbiasamp.inference.hypothesis_tests import adjust_p_values, with_tests
from skbiasamp.inference.independent_signs import doubted
from skbiasamp.inference.influence import pair_variances
from skbiasamp.inference.intervals import (
    normal_bounds,
    percentiles,
    widen_degenerate,
    with_few_units,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn
from skbiasamp.inference.runs import Mean


def difference(
    own: Measured, other: Measured, options: IntervalOptions
) -> tuple[Mean, dict[str, Array]]:
    """Return the difference of a model's estimate to that of the reference, and of each pair.

    The second are columns of a table of pairs, each groups × tasks. `gained` and `lost` are the
    rows that only the model, and only the reference, predicts so.
    """
    between, level = _between(own.pairs, other.pairs), options.confidence_level
    gained, lost, whole, moved = _rows_between(own, other)
    unit = units(own.cells, (gained, lost), moved)
    changed = (gained, lost) if whole and between.growth is None else None
    rows = RowsOfPairs(changed, unit, level)
    value = own.estimate - other.estimate
    bounds = unknown(between, value, between.sign)
    if own.is_known and other.is_known:
        gap = _drawn_gap(own, other, between)
        if gap is None:
            both = covariances([own, other])
            error = float(both[0, 0] + both[1, 1] - 2 * both[0, 1]) ** 0.5
            variances = pair_variances((own.cells, own.pairs), (other.cells, other.pairs))
            bounds = normal_bounds(between, value, variances, error, between.sign, level)
        else:
            bounds = percentiles(gap, between, own.signs.used, rows, value=value)
            bounds = bounds._replace(sign=between.sign)
        # Models that differ in few rows leave most pairs without any variation.
        bounds = widen_degenerate(bounds, between, rows, lambda: 1.0)
        if own.has_influence:
            apart = partial(np.subtract, own.influence, other.influence)
            models = [(own.cells, own.pairs), (other.cells, other.pairs)]
            bounds = with_few_units(bounds, between, models, apart, level)
        bounds = bounds._replace(ends=doubted(bounds.ends, own.doubt, other.doubt))
        if any(each.signs.are_idle(each.pairs) for each in (own, other)):
            bounds = bounds._replace(ends=np.full(2, np.nan))
        counted = None
        if whole and own.cells.clusters is None and not _moves(own.pairs):
            counted = gained, lost, own.pairs.n
        n_resamples = None if gap is None else options.n_resamples
        bounds = with_tests(bounds, between, counted, level, n_resamples)
    pair_p = np.where(np.isnan(between.delta), np.nan, bounds.p_value)
    columns = {
        "reference": other.pairs.observed,
        "difference": own.pairs.observed - other.pairs.observed,
        "gained": gained,
        "lost": lost,
        "p_value": pair_p,
        "p_adjusted": adjust_p_values(pair_p, options.adjust),
        "amplification": between.moved,
        **dict(zip(("low", "high"), bounds.pairs, strict=True)),
    }
    low, high = bounds.ends
    return Mean(value, low, high, bounds.estimate_p_value), columns


def _moves(pairs: Pairs) -> bool:
    """Return whether the rows that a rate is of differ between models."""
    return pairs.rates is None or pairs.rates.observed[1].endswith("_pred")


def _between(own: Pairs, other: Pairs) -> Pairs:
    """Return pairs that change from the reference to the model, in a direction."""
    own, other = own.as_signed(), other.as_signed()
    if own.growth is not None:
        return replace(own, base=other.observed)  # from one model's predictions to the other's
    after, before = own.delta, other.delta
    if own.undefined_as_zero:
        nothing = np.isnan(after) & np.isnan(before)
        after, before = (np.where(np.isnan(part) & ~nothing, 0.0, part) for part in (after, before))
    return replace(
        own, base=before, observed=after, rates=None, own_base=False, divisor=own.divisors
    )


def _drawn_gap(own: Measured, other: Measured, between: Pairs) -> Drawn | None:
    """Return draws of the differences, if there are resamples of both."""
    if own.drawn is None or other.drawn is None:
        return None
    moved = [own.drawn.moved, other.drawn.moved]
    sizes: tuple[Array | None, Array | None] = (None, None)
    if between.growth is not None:
        sizes = other.drawn.observed, own.drawn.observed
    else:
        # In the direction of the training correlation.
        new, old = between.slopes, own.pairs.slopes
        turn = np.divide(new, old, out=np.zeros(new.shape), where=old != 0)
        moved = [draws * turn for draws in moved]
    if between.undefined_as_zero:
        moved = [np.nan_to_num(draws) for draws in moved]
    apart = own.drawn.estimate - other.drawn.estimate
    return Drawn(moved[0] - moved[1], apart, apart, *sizes)


def _rows_between(model: Measured, reference: Measured) -> tuple[Array, Array, bool, Array | None]:
    """Return the rows that each pair gained and lost, whether these are whole, and the clusters.

    A row is of a pair if it is in the rate that the metric observes: predicted so, in the group.
    """
    own = model.pairs
    rows = [model.cells, reference.cells]
    sides: tuple[Any, Any] = ("task_pred", "group")
    if own.rates is not None:
        sides = own.rates.observed
    elif not rows[0].has("task_pred"):
        sides = ("group_pred", "task")
    nothing = np.full(own.delta.shape, np.nan)
    if any(cells.soft(side) for cells in rows for side in sides):
        return nothing, nothing, False, None
    labels = [[labels_of(cells, side) for side in sides] for cells in rows]
    labels.append([common(after, before) for after, before in zip(*labels, strict=True)])
    counts = [pair_sums(predicted, given, rows[0].weight) for predicted, given in labels]
    if sides[0].startswith("task"):
        counts = [count.T for count in counts]
    if counts[0].shape != own.delta.shape:
        return nothing, nothing, False, None  # a metric of pairs of its own
    moved = None
    if rows[0].clusters is not None and rows[0].whole:
        after, before = ((predicted, given) for predicted, given in labels[:2])
        moved = changes(rows[0], after, before)
        if sides[0].startswith("group"):
            moved = moved.swapaxes(1, 2)
    return counts[0] - counts[2], counts[1] - counts[2], rows[0].whole, moved


# --------------------------------------------------------------------------- changed predictions


def n_changed(cells: Contingency, model: str, reference: str) -> float:
    """Return the number of rows, or clusters of them, that two models predict differently."""
    changed = _differ(cells, model, reference)
    if cells.clusters is None:
        return float(cells.rows @ changed)
    of, n = cells.clusters
    return float(n[np.unique(of[changed])].sum())


def _differ(cells: Contingency, model: str, reference: str) -> Array:
    of_task = side_of_model("task_pred", model) in sides_of(cells)
    return differ(cells, "task_pred" if of_task else "group_pred", model, reference)


@dataclass(frozen=True, eq=False)
class Churn:
    """How many rows of each group two models predict differently.

    `p_value` is that of the test that all groups have the same share of such rows.
    """

    n: Array
    changed: Array
    share: float
    p_value: float

    @property
    def shares(self) -> Array:
        """The share of each group's rows; NaN if it has none."""
        return np.divide(self.changed, self.n, out=np.full(len(self.n), np.nan), where=self.n > 0)


def churn_of(cells: Contingency, model: str, reference: str, *, tested: bool = True) -> Churn:
    """Count the rows whose prediction changed, of the task or else of the group.

    `tested` asks for the p-value that this share is the same in all groups.
    """
    changed = _differ(cells, model, reference)
    groups = labels_of(cells, "group")
    codes = Codes(np.where(changed, 0, -1), 1)
    n, moved = cells.count("group"), pair_sums(codes, groups, cells.weight)[0]
    table = np.stack([moved, n - moved]) * cells.units_per_weight
    table = table[:, table.sum(axis=0) > 0]
    p_value = float("nan")  # overlapping groups share rows, so that no test is valid
    if tested and not cells.indicator and table.shape[1] > 1:
        p_value = 1.0
        if (table.sum(axis=1) > 0).all():
            p_value = float(_homogeneity(table))
    return Churn(n, moved, float(cells.weight @ changed / cells.total), p_value)


def _homogeneity(table: Array) -> float:
    """Test that columns have the same shares: Fisher's exact test of two, else Pearson's χ².

    Where 1,000 rows or more are expected everywhere, both agree, and Pearson's is quicker.
    """
    expected = stats.contingency.expected_freq(table)
    if table.shape[1] == 2 and expected.min() < 1_000:
        return float(stats.fisher_exact(np.rint(table).astype(int)).pvalue)
    statistic = ((table - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, table.shape[1] - 1))
