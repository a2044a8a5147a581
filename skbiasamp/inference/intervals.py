"""Intervals: the bootstrap, the delta method, bounds where few rows differ or all pairs count."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.changes import RowsOfPairs
from skbiasamp.inference.independent_signs import Signs, labels_alone
from skbiasamp.inference.influence import (
    mean_variance,
    pair_variances,
    units_of_pairs,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn, two_sided
from skbiasamp.inference.student import rows_of_largest, student, student_reach

# Fewer rows make a pair's rates unreliable; fewer that differ, percentiles of its change too short.
FEW = 10
_FLAT = 1e-12  # what does not vary


class Bounds(NamedTuple):
    """An interval of every pair's amplification, and of the estimate, with their tests.

    The first axis of `pairs` (2 × groups × tasks) and of `ends` are the lower and the upper end.
    `sign` are the signs of the estimate.
    """

    pairs: Array
    estimate: float
    ends: Array
    statistics: dict[str, Any]
    sign: Array
    # Intervals of all pairs at once, if requested, and how many standard errors they reach.
    every: Array | None = None
    times: float = math.nan
    # Those of pairs and estimate before `with_tests`, if the draws themselves are the test.
    p_value: Any = None
    estimate_p_value: float = math.nan


def _z(level: float) -> float:
    """Return how many standard errors the ends of a normal interval are away."""
    return -float(special.ndtri((1 - level) / 2))


def with_few_units(
    bounds: Bounds,
    pairs: Pairs,
    models: Sequence[tuple[Contingency, Pairs]],
    influence: Callable[[], Array],
    level: float,
) -> Bounds:
    """Return bounds that reach as far as few units need.

    `pairs` are those of the bounds: of a model, or between two. `influence` is that of rows on the
    estimate.
    """
    cells, _ = models[0]
    reach = student_reach(cells, influence, level, most=rows_of_largest(bounds.sign, pairs, cells))
    if reach:
        ends = _around(bounds.estimate, (reach, reach))
        bounds = bounds._replace(ends=including(bounds.ends, ends))
    if not cells.soft("task"):  # few changes of labels have exact bounds
        return bounds
    times = student(units_of_pairs(*models), level)
    half = times * np.sqrt(pair_variances(*models)) * np.abs(pairs.slopes)
    ends = including(bounds.pairs, _around(pairs.moved, (half, half)))
    return bounds._replace(pairs=np.where(times > 0, ends, bounds.pairs))


def _around(value: Any, reach: Any) -> Array:
    """Return the ends of an interval that reaches so far below and above."""
    below, above = reach
    return np.stack([value - below, value + above])


def including(ends: Array, other: Any) -> Array:
    """Return the ends of intervals that include others."""
    return np.stack([np.minimum(ends[0], other[0]), np.maximum(ends[1], other[1])])


def _further(value: Any, ends: Array, error: Any) -> Array:
    """Return the ends of intervals that also include an independent error."""
    return _around(value, np.hypot(ends - value, error))


def _named(name: str, ends: Any) -> dict[str, float]:
    return {f"{name}_low": float(ends[0]), f"{name}_high": float(ends[1])}


def normal_bounds(
    pairs: Pairs, value: float, variances: Array, error: float, sign: Array, level: float
) -> Bounds:
    """Return normal intervals of pairs whose changes have these variances, and of a mean."""
    z = _z(level)
    half, reach = z * np.sqrt(variances) * np.abs(pairs.slopes), z * error
    ends = _around(value, (reach, reach))
    statistics = {"standard_error": error}
    return Bounds(_around(pairs.moved, (half, half)), value, ends, statistics, sign)


def analytic(cells: Contingency, pairs: Pairs, sign: Array, level: float) -> Bounds:
    """Return delta-method intervals from the influence of each row."""
    error = mean_variance(cells, pairs, pairs.estimate_gradient(sign), centred=True) ** 0.5
    known = float(pairs.estimate(sign)), pair_variances((cells, pairs)), error
    bounds = normal_bounds(pairs, *known, sign, level)
    if pairs.apart:
        reach = _z(level) * mean_variance(cells, pairs, pairs.gradient) ** 0.5
        bounds.statistics.update(_named("value", _around(pairs.value, (reach, reach))))
    return bounds


class PairEnds(NamedTuple):
    """Bounds of every pair, and how far below and above they reach without few rows and with."""

    ends: Array
    reach: Array
    wide: Array

    def of_mean(self, draws: Array, value: float, level: float, turn: Array | None = None) -> Array:
        """Return the interval of a mean of these pairs.

        `turn` is −1 for pairs that count in the other direction, and 0 for those that do not count.
        It is as much longer as the pairs are by few rows. They keep how they depend on one another:
        a mean of pairs that are one number seen from both sides is stretched as that number is.
        """
        ends = _quantiles(draws, level)
        reach, wide = self.reach, self.wide
        if turn is not None:
            reach, wide = (_turned(error, np.sign(turn)) for error in (reach, wide))
        before, after = (
            np.nansum(error**2 * (error > 0), axis=(1, 2)) ** 0.5 for error in (reach, wide)
        )
        more = np.divide(after, before, out=np.ones(2), where=before > 0) - 1
        outwards = np.maximum(_distances(value, ends), 0) * more
        return np.array([ends[0] - outwards[0], ends[1] + outwards[1]])


def _distances(value: Any, ends: Array) -> Array:
    """Return how far below and above a value the ends are."""
    return np.stack([value - ends[0], ends[1] - value])


def pair_ends(draws: Array, pairs: Pairs, rows: RowsOfPairs) -> PairEnds:
    """Return percentiles of draws of every pair, wider where few rows differ."""
    centre = pairs.moved
    ends = np.where(np.isnan(centre), np.nan, _quantiles(draws, rows.level))
    wide = reach = _distances(centre, ends)
    if rows.changed is not None:
        few = _few_rows_reach(pairs, rows)
        # A pair that does not vary at all is left to `widen_degenerate`.
        wide = np.where(ends[1] - ends[0] > _FLAT, np.fmax(reach, few), reach)
    return PairEnds(np.where(wide > reach, _around(centre, wide), ends), reach, wide)


def percentiles(
    drawn: Drawn,
    pairs: Pairs,
    sign: Array,
    rows: RowsOfPairs,
    *,
    value: float | None = None,
    simultaneous: bool = False,
) -> Bounds:
    """Return the percentiles of resamples, wider where few rows differ, if it is known how many.

    `value` is the estimate, if it is not that of the pairs.
    """
    joint, drawn = drawn, drawn.around(pairs, sign)
    ends = pair_ends(drawn.moved, pairs, rows)
    every, times = None, math.nan
    if simultaneous:
        every, times = _all_pairs(joint, pairs, rows)
        if pairs.growth is not None:
            every = including(every, ends.ends)
    known = drawn.estimate[~np.isnan(drawn.estimate)]
    statistics: dict[str, Any] = {
        "standard_error": float(known.std(ddof=1)) if len(known) > 1 else math.nan
    }
    if pairs.apart:
        published = float(pairs.value)
        if pairs.size:
            of_value = _quantiles(drawn.value, rows.level)
        else:
            of_value = ends.of_mean(drawn.value, published, rows.level)
        # Noise makes these values too large, perhaps larger than what agrees with the rows.
        statistics |= _named("value", including(of_value, (published, published)))
    value = float(pairs.estimate(sign)) if value is None else value
    of_estimate = ends.of_mean(drawn.estimate, value, rows.level, sign * pairs.slopes)
    if drawn.predicted is not None and of_estimate[1] < 0:  # does it reduce, or reverse?
        reach = _quantiles(drawn.predicted, rows.level)
        statistics |= _named("association_predictions", reach)
    bounds = Bounds(ends.ends, value, of_estimate, statistics, sign, every, times)
    if pairs.growth is None:
        return bounds
    # Bounds that include the estimates of all pairs, with their tests.
    return bounds._replace(
        pairs=including(bounds.pairs, (pairs.moved, pairs.moved)),
        ends=including(bounds.ends, (pairs.value, pairs.value)),
        p_value=np.where(np.isnan(pairs.moved), np.nan, two_sided(drawn.moved)),
        estimate_p_value=float(two_sided(drawn.value)),
    )


def of_sizes(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the ends of the size of a change that may go either way."""
    sizes = np.abs(low), np.abs(high)
    return np.where(low * high <= 0, 0.0, np.minimum(*sizes)), np.maximum(*sizes)


def largest_deviation(draws: Array, level: float) -> tuple[Array, float]:
    """Return each pair's standard error, and how many of them all pairs stay within (max-T).

    `draws` are (resamples, groups, tasks). Deviations are standardised, and the largest one of each
    resample counts. Pairs that do not vary take no part.
    """
    error = np.zeros(draws.shape[1:])
    known = (~np.isnan(draws)).sum(axis=0) > 1
    error[known] = np.nanstd(draws[:, known], axis=0, ddof=1)
    varying = error > _FLAT
    if not varying.any():
        return error, _z(level)
    some = draws[:, varying]
    deviations = np.abs(some - np.nanmean(some, axis=0)) / error[varying]
    deviations = deviations[~np.isnan(deviations).all(axis=1)]  # some resamples have no pair
    return error, float(np.quantile(np.nanmax(deviations, axis=1), level, method="higher"))


def _all_pairs(drawn: Drawn, pairs: Pairs, rows: RowsOfPairs) -> tuple[Array, float]:
    """Return intervals that hold for all pairs at once, as wide as few changed rows allow.

    The last number is how many standard errors they reach where rows are many. A pair that does not
    vary at all may still change in so many rows as are likely not to be seen.
    """
    error, times = largest_deviation(drawn.moved, rows.level)
    if drawn.change is not None:  # pairs that do not count could have been those that do
        _, times = largest_deviation(drawn.change, rows.level)
    wide = reach = np.stack([times * error] * 2)
    tail = float(special.ndtr(-times))
    if rows.changed is not None:
        wide = np.fmax(reach, _few_rows_reach(pairs, rows._replace(level=1 - 2 * tail)))
    unseen = _unseen(pairs, rows.unit, tail)
    wide = np.where(reach <= _FLAT, np.fmax(wide, unseen), wide)
    return _around(pairs.moved, wide), times


def _unseen(pairs: Pairs, unit: Any, tail: float) -> Array:
    """Return how far each pair may be from where it is if no row of n differs.

    A share of up to 1 − tail^(1/n) of them may still do so.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = pairs.n * unit
        return np.asarray(pairs.per_row * np.where(n > 0, 1 - tail ** (1 / n), np.nan))


def change_reach(gained: Any, lost: Any, n: Any, *, confidence_level: float) -> Array:
    """Return how far below and above (gained − lost)/n the net change of a rate may be.

    Clopper and Pearson's exact bounds of the rows gained and of those lost; distances are squared
    and added (Zou and Donner 2008). If no row differs, both are 1 − (α/2)^(1/n).
    """
    tail = (1 - confidence_level) / 2
    count = np.stack(np.broadcast_arrays(gained, lost)).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A beta quantile is undefined where none or all of the rows count.
        least = np.where(count > 0, special.betaincinv(count, n - count + 1, tail), 0.0)
        most = np.where(count < n, special.betaincinv(count + 1, n - count, 1 - tail), 1.0)
        down, up = count / n - least, most - count / n
    return np.stack([np.hypot(down[0], up[1]), np.hypot(up[0], down[1])])


def _few_rows_reach(pairs: Pairs, rows: RowsOfPairs) -> Array:
    """Return how far below and above its change a pair of few differing rows may be, else NaN.

    Resamples hold no other rows than were seen: of two rows gained and none lost they know of no
    loss, and percentiles are too short.
    """
    assert rows.changed is not None
    gained, lost, n = (count * rows.unit for count in (*rows.changed, pairs.n))
    few = (gained + lost < FEW) & (pairs.slopes != 0)
    reach = change_reach(gained, lost, n, confidence_level=rows.level)
    return _turned(np.where(few, reach, np.nan), np.sign(pairs.slopes) * pairs.per_row)


def _turned(reach: Array, slope: Array) -> Array:
    """Return how far below and above slope times a number may be, of how far the number may."""
    return np.abs(slope) * np.where(slope < 0, reach[::-1], reach)


def _quantiles(draws: Array, level: float) -> Array:
    """Return quantiles over the first axis; draws in which a pair was undefined do not count.

    The k-th smallest of B draws is at k/(B + 1), so that 199 draws leave out 5 %, as 999 do.
    """
    tails = (1 - level) / 2, (1 + level) / 2
    if not np.isnan(draws).any():
        return np.quantile(draws, tails, axis=0, method="weibull")
    known = ~np.isnan(draws).all(axis=0)  # pairs with a defined draw
    quantiles = np.full((len(tails), *draws.shape[1:]), np.nan)
    quantiles[:, known] = np.nanquantile(draws[:, known], tails, axis=0, method="weibull")
    return quantiles


def widen_degenerate(
    bounds: Bounds, pairs: Pairs, rows: RowsOfPairs, per_row: Callable[[], float]
) -> Bounds:
    """Give pairs without any variation the width that so few rows allow.

    Only a pair whose sign is 0 is certain: its amplification is 0 whatever the model does. Where no
    row of several pairs differs, all of them together hide no more rows than one of them alone may,
    which is worst if all are of the pair that counts them most. Each moves about `per_row` pairs.
    """
    reach, most = _unseen(pairs, rows.unit, (1 - rows.level) / 2), pairs.per_row
    low, high = bounds.pairs
    flat = (high - low <= _FLAT) & (pairs.slopes != 0)
    # A metric that compares no rates may lie beyond what rates can.
    wide = including(bounds.pairs, (np.maximum(low - reach, -most), np.minimum(high + reach, most)))
    counted = np.where(bounds.sign == 0, 0.0, np.nan_to_num(reach)) * pairs.share
    parts = np.where(flat, counted, 0.0)
    ends = bounds.ends
    if ends[1] - ends[0] <= _FLAT:
        total = float(parts.sum() or counted.sum())
        if pairs.growth == "largest":
            total = float(np.nanmax(reach))
        floor = -1.0 if pairs.growth is None else -np.inf
        ends = np.array([min(ends[0], max(ends[0] - total, floor)), ends[1] + total])
    elif flat.any() and pairs.growth != "largest":
        # Pairs that happen not to vary are as uncertain in the mean as they are alone. Those of one
        # row cannot vary: each may be anywhere.
        single = pairs.n * rows.unit < 2 - _FLAT
        rest = np.where(single, 0.0, parts)
        together = np.fmin(per_row() * rest.max(), float((rest**2).sum()) ** 0.5)
        ends = _further(bounds.estimate, ends, together + float(parts[single].sum()))
    statistics = dict(bounds.statistics)
    if pairs.size and statistics["value_high"] - statistics["value_low"] <= _FLAT:
        statistics["value_high"] += float(np.nansum(reach * pairs.share))  # 0 is the least size
    return bounds._replace(
        pairs=np.where(flat & ~np.isnan(reach), wide, bounds.pairs),
        ends=ends,
        statistics=statistics,
    )


class BaseErrors(NamedTuple):
    """Variances of pairs, estimate and published value, by the rates of training labels."""

    pairs: Array
    estimate: float
    value: float


NO_ERRORS = BaseErrors(np.zeros(1), 0.0, 0.0)


def errors_of_base(pairs: Pairs, train: Contingency, sign: Array) -> BaseErrors:
    """Return the variances by training rates, 0 if predictions are not compared with them."""
    known = pairs.in_rows or pairs.growth is not None
    if pairs.rates is None or known or not pairs.sampled:
        return NO_ERRORS
    # The training labels, and pairs that compare their rates with 0.
    rates, nothing = labels_alone(pairs.rates), np.zeros(pairs.base.shape)
    cells = pairs.seen_in(train)
    before = replace(pairs, rates=rates, observed=pairs.base, base=nothing)
    of_pairs = np.nan_to_num(pair_variances((cells, before))) * pairs.slopes**2
    # If tasks were summed by themselves, it is not known how their errors add up: NaN.
    whole = mean_variance(cells, before, pairs.estimate_gradient(sign), centred=True)
    value = mean_variance(cells, before, pairs.gradient) if pairs.apart else 0.0
    return BaseErrors(of_pairs, whole, value)


def with_errors_of_base(bounds: Bounds, pairs: Pairs, train: Contingency, level: float) -> Bounds:
    """Return bounds that also include the error of training rates, if these are compared with."""
    errors = errors_of_base(pairs, train, bounds.sign)
    if errors is NO_ERRORS:
        return bounds
    z, of_pairs, own = _z(level), np.sqrt(errors.pairs), errors.estimate**0.5
    statistics, every = dict(bounds.statistics), bounds.every
    if every is not None:
        every = _further(pairs.moved, every, bounds.times * of_pairs)
    statistics["standard_error"] = float(np.hypot(statistics["standard_error"], own))
    if pairs.apart:
        ends = np.array([statistics["value_low"], statistics["value_high"]])
        ends = _further(float(pairs.value), ends, z * errors.value**0.5)
        statistics |= _named("value", ends)
    return bounds._replace(
        pairs=_further(pairs.moved, bounds.pairs, z * of_pairs),
        ends=_further(bounds.estimate, bounds.ends, z * own),
        statistics=statistics,
        every=every,
    )


def rests_on_few(signs: Signs, pairs: Pairs, test: Contingency) -> bool:
    """Whether a pair that counts has so few rows that its variance says nothing."""
    return bool((signs.counted & (pairs.n * test.units_per_weight < FEW - 1e-9)).any())


def predicted_interval(
    cells: Contingency, pairs: Pairs, sign: Array, confidence_level: float
) -> dict[str, float]:
    """Return the interval of the mean association in the predictions, by the delta method."""
    if pairs.centre is None or pairs.rates is None:
        return {}
    variance = mean_variance(
        cells, pairs, pairs.estimate_gradient(sign), centred=True, labels=False
    )
    if math.isnan(variance):
        return {}
    reach = _z(confidence_level) * variance**0.5
    middle = float(pairs.predicted_association(sign))
    return _named("association_predictions", _around(middle, (reach, reach)))


def agreeing(p_values: Any, ends: Any, confidence_level: float) -> Any:
    """Return p-values of draws that are below α exactly where the interval excludes 0.

    Few draws, or few rows that widen the interval, may put the two on different sides.
    """
    alpha = round(1 - confidence_level, 12)
    below = np.minimum(p_values, np.nextafter(alpha, 0))
    excluded = (np.asarray(ends[0]) > 0) | (np.asarray(ends[1]) < 0)
    return np.where(excluded, below, np.maximum(p_values, alpha))


def interval_p_value(
    value: Any, ends: Any, confidence_level: float, n_resamples: int | None = None
) -> Any:
    """Return the p-value that a number is 0, which is below α where its interval excludes 0.

    It is that of the normal distribution whose quantiles are the ends of the interval. Resamples
    do not know of smaller chances than one in their number.
    """
    value, low, high = (np.asarray(number, dtype=float) for number in (value, *ends))
    z = _z(confidence_level)
    reach = np.maximum(np.where(value > 0, value - low, high - value), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * special.ndtr(-z * np.abs(value) / reach)
    least = 0.0 if n_resamples is None else 1 / (1 + n_resamples)
    if least < round(1 - confidence_level, 12):
        p_values = np.maximum(p_values, least)
    p_values = np.where(np.abs(value) <= 1e-12, 1.0, p_values)
    return np.where(np.isnan(value) | np.isnan(low) | np.isnan(high), np.nan, p_values)
