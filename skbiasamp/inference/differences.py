"""Several models that predict the same rows: values, and differences on the same cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, common
from skbiasamp._utils.random import generator
from skbiasamp.counts.cells import labels_of, sides_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.counts.several_models import LABELS, differ, models_of, of_model, side_of_model
from skbiasamp.inference.assess import IntervalOptions, interval_and_tests, is_unknown, unknown
from skbiasamp.inference.changes import changes, units
from skbiasamp.inference.hypothesis_tests import adjust_p_values, with_tests
from skbiasamp.inference.independent_signs import (
    Doubt,
    Signs,
    doubted,
    estimate,
    gradient,
    signs_of,
)
from skbiasamp.inference.influence import covariances_of, pair_variances, row_influence
from skbiasamp.inference.intervals import (
    Bounds,
    pair_ends,
    percentiles,
    widen_degenerate,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn, measure_resamples


@dataclass(frozen=True, eq=False)
class Measured:
    """What was found of a model: its pairs, and its estimate with interval and test.

    `cells` are the rows in terms of the pairs' tasks. `drawn` is what resamples say, if the
    interval is made of them.
    """

    pairs: Pairs
    cells: Contingency
    signs: Signs
    estimate: float
    bounds: Bounds | None = None
    drawn: Drawn | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """The published value, the estimate, and its interval if there is one."""
        numbers = {"value": self.pairs.value, "estimate": self.estimate}
        if self.bounds is not None:
            numbers |= dict(zip(("low", "high"), map(float, self.bounds.ends), strict=True))
        return numbers

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return self.bounds is not None and not is_unknown(self.pairs, self.cells)

    @cached_property
    def influence(self) -> Array:
        """How much each row moves the estimate."""
        slopes = gradient(self.pairs, self.signs.used)
        return row_influence(self.cells, self.pairs, slopes, centred=True)

    @cached_property
    def doubt(self) -> Doubt:
        """How far signs may be wrong, or share noise with changes."""
        return self.signs.doubt(self.pairs)


class Difference(NamedTuple):
    """How a model differs from the reference, with interval and test.

    `pairs` are columns of a table of pairs, each groups × tasks. `gained` and `lost` are the rows
    that only the model, and only the reference, predicts so.
    """

    value: float
    low: float
    high: float
    p_value: float
    pairs: dict[str, Array]


def measure_models(
    measure: Callable[[Contingency], Pairs],
    cells: Contingency,
    train: Contingency | None,
    options: IntervalOptions,
    *,
    check: Callable[[Pairs], None],
    fewest: int,
) -> dict[str, Measured]:
    """Measure every model on the same cells, and on the same resamples of them: a run.

    `train` gave the signs; None: the audited labels did. `check` may refuse the pairs of the first
    model. Cells of one model alone have the name "".
    """
    views = _views(cells)
    pairs: dict[str, Pairs] = {}
    for model, view in views.items():
        pairs[model] = measure(view)
        if len(pairs) == 1:
            check(pairs[model])
    reference = {model: view if train is None else train for model, view in views.items()}
    trusted = {
        model: signs_of(pairs[model], reference[model], view, fewest=fewest)
        for model, view in views.items()
    }
    known = [model for model, own in pairs.items() if not is_unknown(own, views[model])]
    drawn: dict[str, Drawn] = {}
    if options.interval == "bootstrap" and known and cells.summed != "tasks":

        def measured(resample: Contingency) -> tuple[Drawn, ...]:
            every = _views(resample).items()
            return tuple(Drawn.of(measure(view), trusted[model].used) for model, view in every)

        rng = generator(options.random_state)
        how: dict[str, Any] = {"random_state": rng, "n_jobs": options.n_jobs}
        every = measure_resamples(measured, cells, options.n_resamples, **how)
        drawn = dict(zip(views, every, strict=True))
    models = {}
    for model, own in pairs.items():
        rows, signs, draws = own.seen_in(views[model]), trusted[model], drawn.get(model)
        value, sure = float(estimate(own, signs.used)), None
        if options.interval is not None and model not in known:
            draws, sure = None, unknown(own, signs.used)
        elif options.interval is not None:
            sure = interval_and_tests(draws, signs, rows, reference[model], own, options)
        models[model] = Measured(own, rows, signs, value, sure, draws)
    return models


def _views(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells of each model; what is counted of the labels alone is counted once."""
    if not models_of(cells):
        return {"": cells}
    if not cells.indicator and cells.has("task"):
        cells.joint("group", "task")
        for side in LABELS:
            cells.count(side)
    return {model: of_model(cells, model) for model in models_of(cells)}


def covariances(models: Sequence[Measured]) -> Array:
    """Return the covariances of the estimates of models, by resampled rows."""
    draws = [model.drawn.estimate for model in models if model.drawn is not None]
    if draws:
        return np.atleast_2d(np.cov(np.stack(draws)))
    if not all(model.is_known for model in models):
        return np.full((len(models), len(models)), np.nan)
    return covariances_of(models[0].cells, np.stack([model.influence for model in models]))


def shared_rows_of_pairs(models: Sequence[Measured]) -> Array:
    """Return the mean covariance of each pair's amplification in several runs."""
    if models[0].drawn is not None:
        every = [model.drawn.moved for model in models if model.drawn is not None]
        total = np.sum(every, axis=0).var(axis=0, ddof=1)
        own = sum(draws.var(axis=0, ddof=1) for draws in every)
    else:
        known = [(model.cells, model.pairs) for model in models]
        slopes = models[0].pairs.slopes ** 2
        total = slopes * pair_variances(*known, factors=(1.0,) * len(known))
        own = sum(slopes * pair_variances(counted) for counted in known)
    n = len(models)
    return np.asarray(np.maximum((total - own) / (n * (n - 1)), 0.0))


def difference(own: Measured, other: Measured, options: IntervalOptions) -> Difference:
    """Compare a model with the reference: the difference of their estimates."""
    between, level = _between(own.pairs, other.pairs), options.confidence_level
    gained, lost, whole, moved = _rows_between(own, other)
    changed = (gained, lost) if whole else None
    unit = units(own.cells, (gained, lost), moved)
    value = own.estimate - other.estimate
    how: dict[str, Any] = {"confidence_level": level}
    bounds = unknown(between, between.sign)._replace(estimate=value)
    if options.interval is not None and own.is_known and other.is_known:
        n_resamples = None
        if own.drawn is None or other.drawn is None:
            bounds = _analytic(own, other, between, value, level)
        elif between.growth is not None:
            gap = _of_growth(own.drawn, other.drawn)
            bounds = percentiles(gap, between, between.sign, None, unit=unit, **how)
        else:
            draws = _moved(own, other, between)
            ends = pair_ends(draws, between, changed, unit=unit, **how)
            apart = own.drawn.estimate - other.drawn.estimate
            reach = ends.of_mean(apart, value, level, own.signs.used * between.slopes)
            bounds = Bounds(ends.ends, value, reach, {}, between.sign)
            n_resamples = len(own.drawn.estimate)
        # Models that differ in few rows leave most pairs without any variation.
        bounds = widen_degenerate(bounds, between, unit=unit, per_row=lambda: 1.0, **how)
        bounds = bounds._replace(ends=doubted(bounds.ends, own.doubt, other.doubt))
        counted = None
        if whole and own.cells.clusters is None and not _moves(own.pairs):
            counted = gained, lost, own.pairs.n
        bounds = with_tests(bounds, between, counted, n_resamples=n_resamples, **how)
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
    low, high = map(float, bounds.ends)
    return Difference(value, low, high, bounds.estimate_p_value, columns)


def _moves(pairs: Pairs) -> bool:
    """Return whether the rows that a rate is of differ between models."""
    return pairs.rates is None or pairs.rates.observed[1].endswith("_pred")


def _signed(pairs: Pairs) -> Pairs:
    """Return pairs whose changes have a direction; of a size, those of the signed mean."""
    return pairs.as_signed() if pairs.apart else pairs


def _between(own: Pairs, other: Pairs) -> Pairs:
    """Return pairs that change from the reference to the model."""
    own, other = _signed(own), _signed(other)
    if own.growth is not None:
        return replace(own, base=other.observed)  # from one model's predictions to the other's
    after, before = own.delta, other.delta
    if own.undefined_as_zero:
        nothing = np.isnan(after) & np.isnan(before)
        after, before = (np.where(np.isnan(part) & ~nothing, 0.0, part) for part in (after, before))
    return replace(
        own, base=before, observed=after, rates=None, own_base=False, divisor=own.divisors
    )


def _of_growth(own: Drawn, other: Drawn) -> Drawn:
    """Return draws of how much further one model's rates are from equal shares."""
    value = own.value - other.value
    moved = own.moved - other.moved
    return Drawn(moved, value, value, other.observed, own.observed)


def _moved(own: Measured, other: Measured, between: Pairs) -> Array:
    """Return draws of each pair's difference, in the direction of the training correlation."""
    slope, pairs = own.pairs.slopes, own.pairs
    turn = np.divide(between.slopes, slope, out=np.zeros(between.slopes.shape), where=slope != 0)
    assert own.drawn is not None and other.drawn is not None
    moved = [draws.moved * turn for draws in (own.drawn, other.drawn)]
    if pairs.undefined_as_zero:
        moved = [np.nan_to_num(draws) for draws in moved]
    return moved[0] - moved[1]


def _analytic(
    own: Measured, other: Measured, between: Pairs, value: float, confidence_level: float
) -> Bounds:
    """Delta-method intervals: of each row the difference of its two influences."""
    z = float(stats.norm.isf((1 - confidence_level) / 2))
    both = covariances([own, other])
    error = float(both[0, 0] + both[1, 1] - 2 * both[0, 1]) ** 0.5
    variances = pair_variances((own.cells, own.pairs), (other.cells, other.pairs))
    half = z * np.sqrt(variances) * np.abs(between.slopes)
    ends = np.array([value - z * error, value + z * error])
    pairs = np.stack([between.moved - half, between.moved + half])
    return Bounds(pairs, value, ends, {"standard_error": error}, between.sign)


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
        """The share of each group's rows; NaN where it has none."""
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
