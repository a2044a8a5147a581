"""Differences of models that predict the same rows: intervals and tests on the same cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from skbiasamp._cells import labels_of, sides_of, with_sides
from skbiasamp._draws import exchanged
from skbiasamp._input import Array, Codes, common
from skbiasamp._models import LABELS, differ, models_of, of_model, side_of_model
from skbiasamp._order import ordered
from skbiasamp._progress import progress
from skbiasamp._sums import chunks, generator, pair_sums
from skbiasamp.contingency import Contingency
from skbiasamp.inference._clustered import Changes, changes, units
from skbiasamp.inference._influence import pair_variances, value_scores, variance_of
from skbiasamp.inference._intervals import (
    Bounds,
    Drawn,
    Measure,
    analytic,
    measure_resamples,
    percentiles,
    widen_degenerate,
)
from skbiasamp.inference._pairs import Pairs
from skbiasamp.inference._reference import ReferenceLabels
from skbiasamp.inference._tests import (
    changed_clusters,
    changed_rows,
    flip_p_value,
    normal_test,
    paired_p_values,
)


@dataclass(frozen=True, eq=False)
class Difference:
    """How a model differs from the reference, with interval and test.

    Arrays are groups × tasks. `bounds` and `p_value` are about the value; of a mean of absolute
    changes they
    are about the signed mean, and `sizes` is the interval of the value. `gained` and `lost` are the
    rows that only the model, and only the reference, predicts so.
    """

    value: float
    signed: float
    bounds: Bounds
    sizes: tuple[float, float]
    p_value: float
    observed: Array
    amplification: Array
    gained: Array
    lost: Array
    pair_p_values: Array


@dataclass(frozen=True, eq=False)
class Compared:
    """The values of all models, with intervals, and their differences to the reference."""

    pairs: dict[str, Pairs]
    bounds: dict[str, Bounds | None]
    differences: dict[str, Difference]


def compare_models(
    measure: Measure,
    cells: Contingency,
    reference: str,
    *,
    labels: ReferenceLabels | None = None,
    interval: str | None,
    n_resamples: int,
    confidence_level: float,
    random_state: Any,
    n_jobs: int | None,
) -> Compared:
    """Measure every model on the same cells, and the differences on the same resamples of them."""
    cells = ordered(cells)
    models = models_of(cells)
    views = _views(cells)
    pairs = {model: measure(views[model]) for model in models}
    others = [model for model in models if model != reference]
    rng = generator(random_state)
    how: dict[str, Any] = {"confidence_level": confidence_level}
    drawn: dict[str, Drawn] = {}
    if interval == "bootstrap":

        def measured(resample: Contingency) -> tuple[Drawn, ...]:
            return tuple(Drawn.of(measure(view)) for view in _views(resample).values())

        every = measure_resamples(measured, cells, n_resamples, random_state=rng, n_jobs=n_jobs)
        drawn = dict(zip(models, every, strict=True))
    bounds: dict[str, Bounds | None] = dict.fromkeys(models)
    if interval is not None:
        for model in models:
            held, own = pairs[model].seen_in(views[model]), pairs[model]
            unit: Any = held.units_per_weight
            if interval == "analytic":
                found = analytic(held, own, **how)
            else:
                rows = changed_rows(held, own)
                unit = units(held, rows, changed_clusters(held, own))
                in_rows = own.rates is not None and own.rates.base is not None
                found = percentiles(
                    drawn[model],
                    Drawn.of(own),
                    own,
                    rows if in_rows else None,
                    unit=unit,
                    **how,
                )
            found = widen_degenerate(found, own, unit=unit, **how)
            bounds[model] = found if labels is None else labels.widen(found, own, **how)
    differences = {}
    for model in others:
        differences[model] = _difference(
            measure,
            cells,
            (model, reference),
            (views[model], views[reference]),
            (pairs[model], pairs[reference]),
            (drawn[model], drawn[reference]) if drawn else None,
            labels=labels,
            interval=interval,
            options={"n_draws": n_resamples, "random_state": rng},
            confidence_level=confidence_level,
        )
    return Compared(pairs, bounds, differences)


def _views(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells of each model; what is counted of the labels alone is counted once."""
    if not cells.indicator:
        cells.joint("group", "task")
        for side in LABELS:
            cells.count(side)
    return {model: of_model(cells, model) for model in models_of(cells)}


def signed(pairs: Pairs) -> Pairs:
    """Return pairs whose changes have a direction; of a size, those of the signed mean."""
    return pairs.as_signed() if pairs.apart else pairs


def _difference(
    measure: Measure,
    cells: Contingency,
    names: tuple[str, str],
    views: tuple[Contingency, Contingency],
    pairs: tuple[Pairs, Pairs],
    drawn: tuple[Drawn, Drawn] | None,
    *,
    labels: ReferenceLabels | None,
    interval: str | None,
    options: Any,
    confidence_level: float,
) -> Difference:
    """Compare a model with the reference."""
    own, other = pairs
    between = _between(own, other)
    gained, lost, whole, moved = _rows_between(views, pairs)
    unit = units(cells, (gained, lost), moved)
    if whole:
        pair_p = paired_p_values(gained, lost) if moved is None else moved.p_value
    else:
        pair_p = _normal_pairs(views, pairs)
    pair_p = np.where(np.isnan(between.delta), np.nan, pair_p)
    value = float(own.value - other.value)
    change = float(own.signed_mean - other.signed_mean) if own.apart else value
    nothing = np.full(between.delta.shape, np.nan)
    bounds, p_value = Bounds(nothing, nothing, np.nan, np.nan, {}), float("nan")
    sizes = (np.nan, np.nan)
    how: dict[str, Any] = {"confidence_level": confidence_level}
    if interval is not None:
        if drawn is None:
            bounds = _analytic(views, pairs, between, change, confidence_level)
        else:
            bounds = percentiles(
                _subtract(*drawn, between, own),
                _subtract(Drawn.of(own), Drawn.of(other), between, own),
                between,
                (gained, lost) if whole else None,
                unit=unit,
                **how,
            )
            tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
            low, high = np.quantile(drawn[0].value - drawn[1].value, tails)
            sizes = float(low), float(high)
        bounds = widen_degenerate(bounds, between, unit=unit, **how)
        if labels is not None:
            bounds = labels.widen_difference(bounds, between)
        if bounds.p_value is not None:  # the test of the interval
            p_value = bounds.value_p_value
        else:
            p_value = _p_value(measure, cells, names, views, pairs, options)
    return Difference(
        value,
        change,
        bounds,
        sizes if own.apart else (bounds.value_low, bounds.value_high),
        p_value,
        own.observed - other.observed,
        between.moved,
        gained,
        lost,
        pair_p,
    )


def _moves(pairs: Pairs) -> bool:
    """Return whether the rows that a rate is of differ between models."""
    return pairs.rates is None or pairs.rates.observed[1].endswith("_pred")


def _between(own: Pairs, other: Pairs) -> Pairs:
    """Return pairs that change from the reference to the model."""
    own, other = signed(own), signed(other)
    if own.growth is not None:
        return replace(own, base=other.observed)  # from one model's predictions to the other's
    after, before = own.delta, other.delta
    if own.undefined_as_zero:
        nothing = np.isnan(after) & np.isnan(before)
        after, before = (np.where(np.isnan(one) & ~nothing, 0.0, one) for one in (after, before))
    return replace(
        own, base=before, observed=after, rates=None, own_base=False, divisor=own.divisors
    )


def _subtract(own: Drawn, other: Drawn, between: Pairs, pairs: Pairs) -> Drawn:
    """Return differences, pair by pair with the direction of the training correlation."""
    slope = pairs.slopes
    if pairs.growth is not None:
        value = np.asarray(own.value - other.value)
        grown = own.moved - other.moved
        return Drawn(grown, value, own.signed, other.observed, own.observed)
    turn = np.divide(between.slopes, slope, out=np.zeros(between.slopes.shape), where=slope != 0)
    moved = [one.moved * turn for one in (own, other)]
    if pairs.undefined_as_zero:
        moved = [np.nan_to_num(one) for one in moved]
    # The value of `between` is the signed mean where that of the metric is a mean of sizes.
    return Drawn(
        moved[0] - moved[1],
        np.asarray(own.signed - other.signed if pairs.apart else own.value - other.value),
        np.asarray(own.signed - other.signed),
    )


def _analytic(
    views: tuple[Contingency, Contingency],
    pairs: tuple[Pairs, Pairs],
    between: Pairs,
    value: float,
    confidence_level: float,
) -> Bounds:
    """Delta-method intervals: of each row the difference of its two influences."""
    z = float(stats.norm.isf((1 - confidence_level) / 2))
    scores = [_scores(*both, centred=True) for both in zip(views, pairs, strict=True)]
    held = signed(pairs[0]).seen_in(views[0])
    error = variance_of(held, scores[0] - scores[1]) ** 0.5
    half = z * np.sqrt(_pair_variances(views, pairs)) * np.abs(between.slopes)
    return Bounds(
        between.moved - half,
        between.moved + half,
        value - z * error,
        value + z * error,
        {"standard_error": error},
    )


def _scores(view: Contingency, pairs: Pairs, *, centred: bool) -> Array:
    pairs = signed(pairs)
    return value_scores(pairs.seen_in(view), pairs, centred=centred)


def _pair_variances(views: tuple[Contingency, Contingency], pairs: tuple[Pairs, Pairs]) -> Array:
    """Return the variance of the difference of every pair's change."""
    held = (one.seen_in(view) for one, view in zip(pairs, views, strict=True))
    return pair_variances(*zip(held, pairs, strict=True))


def _normal_pairs(views: tuple[Contingency, Contingency], pairs: tuple[Pairs, Pairs]) -> Array:
    """Test each pair by the delta method, where rows gained and lost cannot be counted."""
    if pairs[0].rates is None:
        return np.full(pairs[0].delta.shape, np.nan)
    p_values: Array = normal_test(pairs[0].delta - pairs[1].delta, _pair_variances(views, pairs))
    return p_values


def _rows_between(
    views: tuple[Contingency, Contingency], pairs: tuple[Pairs, Pairs]
) -> tuple[Array, Array, bool, Changes | None]:
    """Return the rows that each pair gained and lost, whether these are whole, and the clusters.

    A row is of a pair if it is in the rate that the metric observes: predicted so, in the group.
    """
    own = pairs[0]
    sides: tuple[Any, Any] = ("task_pred", "group")
    if own.rates is not None:
        sides = own.rates.observed
    elif not views[0].has("task_pred"):
        sides = ("group_pred", "task")
    nothing = np.full(own.delta.shape, np.nan)
    held = [one.seen_in(view) for one, view in zip(pairs, views, strict=True)]
    if any(one.soft(side) for one in held for side in sides):
        return nothing, nothing, False, None
    labels = [[labels_of(cells, side) for side in sides] for cells in held]
    labels.append([common(one, two) for one, two in zip(*labels, strict=True)])
    counts = [pair_sums(one, two, held[0].weight) for one, two in labels]
    if sides[0].startswith("task"):
        counts = [one.T for one in counts]
    if counts[0].shape != own.delta.shape:
        return nothing, nothing, False, None  # a metric of pairs of its own
    moved = None
    if held[0].clusters is not None and held[0].whole:
        after, before = ((one, two) for one, two in labels[:2])
        moved = changes(held[0], after, before)
        if sides[0].startswith("group"):
            moved = Changes(*(one.T for one in moved))
    return counts[0] - counts[2], counts[1] - counts[2], held[0].whole, moved


def _p_value(
    measure: Measure,
    cells: Contingency,
    names: tuple[str, str],
    views: tuple[Contingency, Contingency],
    pairs: tuple[Pairs, Pairs],
    options: Any,
) -> float:
    """Test that the models are alike: the two predictions of a row are exchangeable."""
    own, other = (signed(one) for one in pairs)
    if np.isnan(own.value - other.value):
        return float("nan")
    if not _moves(own):
        scores = [_scores(view, one, centred=False) for view, one in zip(views, pairs, strict=True)]
        return flip_p_value(own.seen_in(views[0]), scores[0] - scores[1], **options)
    every = sides_of(cells)
    turned: dict[Any, Any] = {name: every[name] for name in LABELS}
    for side in ("task_pred", "group_pred"):
        pair = [side_of_model(side, name) for name in names]
        if pair[0] in every:
            turned |= {pair[0]: every[pair[1]], pair[1]: every[pair[0]]}
    held = with_sides(cells, {name: every[name] for name in turned})
    held._ordered = held  # what is turned is in the order of these cells
    seen, extreme, rng = abs(own.value - other.value), 0, generator(options["random_state"])
    with progress("draws", options["n_draws"]) as step:
        for size in step.parts(chunks(options["n_draws"], 2 * cells.n_cells)):
            drawn = _views(exchanged(held, turned, size, rng))
            values = [np.asarray(signed(measure(drawn[name])).value) for name in names]
            # A draw that ties with what was seen counts, whatever the rounding.
            extreme += int((np.abs(values[0] - values[1]) >= seen - 1e-9).sum())
    return (1 + extreme) / (1 + options["n_draws"])


# --------------------------------------------------------------------------- changed predictions


def n_changed(cells: Contingency, model: str, reference: str) -> float:
    """Return the number of rows, or clusters of them, that two models predict differently."""
    changed = _differ(cells, model, reference)
    if cells.clusters is None:
        return float(cells.rows @ changed)
    of, n = cells.clusters
    return float(n[np.unique(of[changed])].sum())


def _differ(cells: Contingency, model: str, reference: str) -> Array:
    held = side_of_model("task_pred", model) in sides_of(cells)
    return differ(cells, "task_pred" if held else "group_pred", model, reference)


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


def churn_of(cells: Contingency, model: str, reference: str) -> Churn:
    """Count the rows whose prediction changed, of the task or else of the group."""
    changed = _differ(cells, model, reference)
    groups = labels_of(cells, "group")
    one = Codes(np.where(changed, 0, -1), 1)
    n, moved = cells.count("group"), pair_sums(one, groups, cells.weight)[0]
    table = np.stack([moved, n - moved]) * cells.units_per_weight
    table = table[:, table.sum(axis=0) > 0]
    p_value = float("nan")  # overlapping groups share rows, so that no test is valid
    if not cells.indicator and table.shape[1] > 1:
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
