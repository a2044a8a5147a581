"""Intervals: the bootstrap, the delta method, bounds where few rows differ, spread over runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference._growth import two_sided
from skbiasamp.inference._simultaneous import largest_deviation, widened
from skbiasamp.inference.independent_signs import (
    estimate,
    gradient,
    labels_alone,
    predicted_association,
)
from skbiasamp.inference.influence import mean_variance, pair_variances
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn

# Fewer rows make a pair's rates unreliable; fewer that differ, percentiles of its change too short.
FEW = 10


class Bounds(NamedTuple):
    """An interval of every pair's amplification (groups × tasks), and of the estimate.

    `sign` are the signs of the estimate.
    """

    low: Array
    high: Array
    estimate: float
    estimate_low: float
    estimate_high: float
    statistics: dict[str, Any]
    sign: Array
    # Of all pairs at once, if asked for, and how many standard errors these reach.
    all_low: Array | None = None
    all_high: Array | None = None
    times: float = math.nan
    # Of pairs and estimate, where the draws themselves are the test.
    p_value: Array | None = None
    estimate_p_value: float = float("nan")


def analytic(cells: Contingency, pairs: Pairs, sign: Array, *, confidence_level: float) -> Bounds:
    """Delta-method intervals from the influence of each row."""
    z = -float(special.ndtri((1 - confidence_level) / 2))
    half = z * np.sqrt(pair_variances((cells, pairs))) * np.abs(pairs.slopes)
    low, high = pairs.moved - half, pairs.moved + half
    published: dict[str, float] = {}
    if pairs.apart:
        reach = z * mean_variance(cells, pairs, pairs.gradient) ** 0.5
        published = {"value_low": pairs.value - reach, "value_high": pairs.value + reach}
    error = mean_variance(cells, pairs, gradient(pairs, sign), centred=True) ** 0.5
    value, statistics = float(estimate(pairs, sign)), {"standard_error": error, **published}
    return Bounds(low, high, value, value - z * error, value + z * error, statistics, sign)


def _named(name: str, low: float, high: float) -> dict[str, float]:
    return {f"{name}_low": float(low), f"{name}_high": float(high)}


class PairEnds(NamedTuple):
    """Bounds of every pair, and how far below and above they reach without few rows and with."""

    low: Array
    high: Array
    reach: Array
    wide: Array

    def of_mean(
        self, draws: Array, value: float, level: float, turn: Array | None = None
    ) -> tuple[float, float]:
        """Return the interval of a mean of these pairs.

        `turn` is −1 for pairs that count in the other direction, and 0 for those that do not count.
        """
        ends = _quantiles(draws, ((1 - level) / 2, (1 + level) / 2))
        reach, wide = self.reach, self.wide
        if turn is not None:
            reach, wide = (_turned(error, np.sign(turn)) for error in (reach, wide))
        return _stretched(ends, value, reach, wide)


def pair_ends(
    draws: Array,
    pairs: Pairs,
    changed: tuple[Array, Array] | None,
    *,
    unit: Any,
    confidence_level: float,
) -> PairEnds:
    """Return percentiles of draws of every pair, wider where few rows differ.

    `unit` is how many independent rows a unit of weight is worth.
    """
    low, high = _quantiles(draws, ((1 - confidence_level) / 2, (1 + confidence_level) / 2))
    centre = pairs.moved
    low, high = (np.where(np.isnan(centre), np.nan, end) for end in (low, high))
    reach = np.stack([centre - low, high - centre])
    wide = reach
    if changed is not None:
        few = _few_rows_reach(pairs, *changed, unit=unit, confidence_level=confidence_level)
        # A pair that does not vary at all is left to `widen_degenerate`.
        wide = np.where(high - low > 1e-12, np.fmax(reach, few), reach)
    low = np.where(wide[0] > reach[0], centre - wide[0], low)
    high = np.where(wide[1] > reach[1], centre + wide[1], high)
    return PairEnds(low, high, reach, wide)


def percentiles(
    drawn: Drawn,
    pairs: Pairs,
    sign: Array,
    changed: tuple[Array, Array] | None,
    *,
    unit: Any,
    simultaneous: bool = False,
    confidence_level: float,
) -> Bounds:
    """Return the percentiles of resamples, wider where few rows differ, if it is known how many."""
    joint, drawn = drawn.moved, drawn.around(pairs, sign)
    ends = pair_ends(drawn.moved, pairs, changed, unit=unit, confidence_level=confidence_level)
    every = None
    if simultaneous:
        every = _all_pairs(joint, pairs, changed, pairs.moved, unit, confidence_level)
        if pairs.growth is not None:
            all_low, all_high, times = every
            every = np.minimum(all_low, ends.low), np.maximum(all_high, ends.high), times
    published: dict[str, float] = {}
    if pairs.apart:
        value = float(pairs.value)
        low, high = ends.of_mean(drawn.value, value, confidence_level)
        if pairs.size:
            tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
            low, high = _quantiles(drawn.value, tails)
        # Noise makes these values too large, perhaps larger than what agrees with the rows.
        published = _named("value", min(low, value), max(high, value))
    value = float(estimate(pairs, sign))
    low, high = ends.of_mean(drawn.estimate, value, confidence_level, sign * pairs.slopes)
    known = drawn.estimate[~np.isnan(drawn.estimate)]
    error = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    statistics: dict[str, Any] = {"standard_error": error, **published}
    if drawn.predicted is not None and high < 0:  # does it reduce, or reverse?
        tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
        statistics |= _named("association_predictions", *_quantiles(drawn.predicted, tails))
    bounds = Bounds(ends.low, ends.high, value, low, high, statistics, sign, *(every or ()))
    return bounds if pairs.growth is None else _of_growth(bounds, drawn, pairs)


def _of_growth(bounds: Bounds, drawn: Drawn, pairs: Pairs) -> Bounds:
    """Return bounds that include the estimates of all pairs, with their tests."""
    return bounds._replace(
        low=np.minimum(bounds.low, pairs.moved),
        high=np.maximum(bounds.high, pairs.moved),
        estimate_low=min(bounds.estimate_low, float(pairs.value)),
        estimate_high=max(bounds.estimate_high, float(pairs.value)),
        p_value=np.where(np.isnan(pairs.moved), np.nan, two_sided(drawn.moved)),
        estimate_p_value=float(two_sided(drawn.value)),
    )


def of_sizes(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the ends of the size of a change that may go either way."""
    sizes = np.abs(low), np.abs(high)
    return np.where(low * high <= 0, 0.0, np.minimum(*sizes)), np.maximum(*sizes)


def _all_pairs(
    draws: Array,
    pairs: Pairs,
    changed: tuple[Array, Array] | None,
    centre: Array,
    unit: Any,
    confidence_level: float,
) -> tuple[Array, Array, float]:
    """Return intervals that hold for all pairs at once, as wide as few changed rows allow.

    The last number is how many standard errors they reach where rows are many.
    """
    error, times = largest_deviation(draws, confidence_level)
    reach = np.stack([times * error] * 2)
    exact = None
    if changed is not None:
        level = 1 - 2 * float(special.ndtr(-times))
        exact = _few_rows_reach(pairs, *changed, unit=unit, confidence_level=level)
    wide = widened(reach, exact, pairs, unit, times)
    return centre - wide[0], centre + wide[1], times


def change_reach(gained: Any, lost: Any, n: Any, *, confidence_level: float) -> Array:
    """Return how far below and above (gained − lost)/n the net change of a rate may be.

    Clopper and Pearson's exact bounds of the rows gained and of those lost; distances are squared
    and added (Zou and Donner 2008). Where no row differs both are 1 − (α/2)^(1/n).
    """
    tail = (1 - confidence_level) / 2
    down, up = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for count in (gained, lost):
            # A beta quantile is undefined where none or all of the rows count.
            least = np.where(count > 0, special.betaincinv(count, n - count + 1, tail), 0.0)
            most = np.where(count < n, special.betaincinv(count + 1, n - count, 1 - tail), 1.0)
            down.append(count / n - least)
            up.append(most - count / n)
    return np.stack([np.hypot(down[0], up[1]), np.hypot(up[0], down[1])])


def _few_rows_reach(
    pairs: Pairs, gained: Array, lost: Array, *, unit: Any, confidence_level: float
) -> Array:
    """Return how far below and above its change a pair of few differing rows may be, else NaN.

    Resamples hold no other rows than were seen: of two rows gained and none lost they know of no
    loss, and percentiles are too short.
    """
    gained, lost, n = (count * unit for count in (gained, lost, pairs.n))
    few = (gained + lost < FEW) & (pairs.slopes != 0)
    reach = change_reach(gained, lost, n, confidence_level=confidence_level)
    return _turned(np.where(few, reach, np.nan), pairs.slopes)


def _turned(reach: Array, slope: Array) -> Array:
    """Return how far below and above slope times a number may be, of how far the number may."""
    return np.abs(slope) * np.where(slope < 0, reach[::-1], reach)


def _stretched(ends: Any, centre: float, reach: Array, wide: Array) -> tuple[float, float]:
    """Return the ends of a mean whose pairs reach no longer `reach`, but `wide`.

    They keep how the pairs depend on one another: a mean of pairs that are one number seen from
    both sides is stretched as that number is.
    """
    before, after = ((error**2 * (error > 0)) for error in (reach, wide))
    before, after = (np.nansum(squares, axis=(1, 2)) ** 0.5 for squares in (before, after))
    more = np.divide(after, before, out=np.ones(2), where=before > 0) - 1
    low, high = ends
    outwards = np.maximum([centre - low, high - centre], 0) * more
    return float(low - outwards[0]), float(high + outwards[1])


def _quantiles(draws: Array, tails: tuple[float, float]) -> Array:
    """Quantiles over the first axis; draws in which a pair was undefined do not count.

    The k-th smallest of B draws is at k/(B + 1), so that 199 draws leave out 5 %, as 999 do.
    """
    if not np.isnan(draws).any():
        return np.quantile(draws, tails, axis=0, method="weibull")
    known = ~np.isnan(draws).all(axis=0)  # pairs with a defined draw
    quantiles = np.full((len(tails), *draws.shape[1:]), np.nan)
    quantiles[:, known] = np.nanquantile(draws[:, known], tails, axis=0, method="weibull")
    return quantiles


def widen_degenerate(
    bounds: Bounds,
    pairs: Pairs,
    *,
    unit: Any,
    confidence_level: float,
    per_row: Callable[[], float],
) -> Bounds:
    """Give pairs without any variation the width that so few rows allow.

    Where no row of n differs, a share of up to 1 − (α/2)^(1/n) of them may still do so. Only a
    pair whose sign is 0 is certain: its amplification is 0 whatever the model does. Where no row of
    several pairs differs, all of them together hide no more rows than one of them alone may, which
    is worst if all are of the pair that counts them most. Each moves about `per_row` pairs.
    """
    alpha = 1 - confidence_level
    most = pairs.per_row  # a change of a whole rate
    with np.errstate(divide="ignore", invalid="ignore"):
        n = pairs.n * unit
        reach = most * np.where(n > 0, 1 - (alpha / 2) ** (1 / n), np.nan)
    flat = (bounds.high - bounds.low <= 1e-12) & (pairs.slopes != 0)
    # A metric that compares no rates may lie beyond what rates can.
    low = np.where(flat, np.fmin(bounds.low, np.maximum(bounds.low - reach, -most)), bounds.low)
    high = np.where(flat, np.fmax(bounds.high, np.minimum(bounds.high + reach, most)), bounds.high)
    counted = np.where(bounds.sign == 0, 0.0, np.nan_to_num(reach)) * pairs.share
    parts = np.where(flat, counted, 0.0)
    value, ends = bounds.estimate, (bounds.estimate_low, bounds.estimate_high)
    if ends[1] - ends[0] <= 1e-12:
        total = float(parts.sum() or counted.sum())
        if pairs.growth == "largest":
            total = float(np.nanmax(reach))
        floor = -1.0 if pairs.growth is None else -np.inf
        ends = min(ends[0], max(ends[0] - total, floor)), ends[1] + total
    elif flat.any() and pairs.growth != "largest":
        # Pairs that happen not to vary are as uncertain in the mean as they are alone.
        together = np.fmin(per_row() * parts.max(), float((parts**2).sum()) ** 0.5)
        ends = _further(value, ends, float(together))
    statistics = dict(bounds.statistics)
    if pairs.size and statistics["value_high"] - statistics["value_low"] <= 1e-12:
        statistics["value_high"] += float(np.nansum(reach * pairs.share))  # 0 is the least size
    return bounds._replace(
        low=low, high=high, estimate_low=ends[0], estimate_high=ends[1], statistics=statistics
    )


class BaseErrors(NamedTuple):
    """Variances of pairs, estimate and published value, by the rates of training labels."""

    pairs: Array
    estimate: float
    value: float


def errors_of_base(pairs: Pairs, train: Contingency, sign: Array) -> BaseErrors | None:
    """Return the variances by training rates, or None if predictions are not compared with them."""
    known = pairs.in_rows or pairs.growth is not None
    if pairs.rates is None or known or not pairs.sampled:
        return None
    # The training labels, and pairs that compare their rates with 0.
    rates, nothing = labels_alone(pairs.rates), np.zeros(pairs.base.shape)
    cells = pairs.seen_in(train)
    before = replace(pairs, rates=rates, observed=pairs.base, base=nothing)
    of_pairs = np.nan_to_num(pair_variances((cells, before))) * pairs.slopes**2
    # Where tasks were summed by themselves, it is not known how their errors add up: NaN.
    whole = mean_variance(cells, before, gradient(pairs, sign), centred=True)
    value = mean_variance(cells, before, pairs.gradient) if pairs.apart else 0.0
    return BaseErrors(of_pairs, whole, value)


def with_errors_of_base(bounds: Bounds, pairs: Pairs, errors: BaseErrors, level: float) -> Bounds:
    """Return bounds that also count the error of training rates."""
    z = -float(special.ndtri((1 - level) / 2))
    reach = z * np.sqrt(errors.pairs)
    low = pairs.moved - np.hypot(pairs.moved - bounds.low, reach)
    high = pairs.moved + np.hypot(bounds.high - pairs.moved, reach)
    every: dict[str, Any] = {}
    if bounds.all_low is not None and bounds.all_high is not None:
        reach = bounds.times * np.sqrt(errors.pairs)
        every["all_low"] = pairs.moved - np.hypot(pairs.moved - bounds.all_low, reach)
        every["all_high"] = pairs.moved + np.hypot(bounds.all_high - pairs.moved, reach)
    ends = bounds.estimate_low, bounds.estimate_high
    ends = _further(bounds.estimate, ends, z * errors.estimate**0.5)
    statistics = dict(bounds.statistics)
    statistics["standard_error"] = float(
        np.hypot(statistics["standard_error"], errors.estimate**0.5)
    )
    if pairs.apart:
        known = statistics["value_low"], statistics["value_high"]
        statistics |= _named("value", *_further(float(pairs.value), known, z * errors.value**0.5))
    return bounds._replace(
        low=low,
        high=high,
        estimate_low=ends[0],
        estimate_high=ends[1],
        statistics=statistics,
        **every,
    )


def _further(value: float, ends: tuple[float, float], reach: float) -> tuple[float, float]:
    """Return the ends of an interval that also counts an independent error."""
    return (
        value - float(np.hypot(value - ends[0], reach)),
        value + float(np.hypot(ends[1] - value, reach)),
    )


def predicted_interval(
    cells: Contingency, pairs: Pairs, sign: Array, confidence_level: float
) -> dict[str, float]:
    """Return the interval of the mean association in the predictions, by the delta method."""
    if pairs.centre is None or pairs.rates is None:
        return {}
    variance = mean_variance(cells, pairs, gradient(pairs, sign), centred=True, labels=False)
    if math.isnan(variance):
        return {}
    reach = -float(special.ndtri((1 - confidence_level) / 2)) * variance**0.5
    middle = float(predicted_association(pairs, sign))
    return _named("association_predictions", middle - reach, middle + reach)


def agreeing(p_values: Any, low: Any, high: Any, confidence_level: float) -> Any:
    """Return p-values of draws that are below α exactly where the interval excludes 0.

    Few draws, or few rows that widen the interval, may put the two on different sides.
    """
    alpha = round(1 - confidence_level, 12)
    below = np.minimum(p_values, np.nextafter(alpha, 0))
    excluded = (np.asarray(low) > 0) | (np.asarray(high) < 0)
    return np.where(excluded, below, np.maximum(p_values, alpha))


def interval_p_value(
    value: Any, low: Any, high: Any, confidence_level: float, n_resamples: int | None = None
) -> Any:
    """Return the p-value that a number is 0, which is below α where its interval excludes 0.

    It is that of the normal distribution whose quantiles are the ends of the interval. Resamples
    do not know of smaller chances than one in their number.
    """
    value, low, high = (np.asarray(number, dtype=float) for number in (value, low, high))
    z = -float(special.ndtri((1 - confidence_level) / 2))
    reach = np.maximum(np.where(value > 0, value - low, high - value), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * special.ndtr(-z * np.abs(value) / reach)
    least = 0.0 if n_resamples is None else 1 / (1 + n_resamples)
    if least < round(1 - confidence_level, 12):
        p_values = np.maximum(p_values, least)
    p_values = np.where(np.abs(value) <= 1e-12, 1.0, p_values)
    return np.where(np.isnan(value) | np.isnan(low) | np.isnan(high), np.nan, p_values)


def by_rows(resamples: Array, product: str = "nt,nt->t") -> Array:
    """Return the variance of resampled values (resamples, cuts into folds, values) by rows alone.

    Where the rows of a resample are cut into folds at random, its values also vary by the cut, as
    the draws do that an estimate is a mean of: this must not count twice. Values of several cuts
    of the same rows have in common what rows do. The product "nt,nu->tu" gives the covariances.
    """
    n, n_cuts, _ = resamples.shape
    centred = resamples - resamples.mean(axis=0)
    whole = centred.sum(axis=1)
    squares = np.einsum(product, whole, whole)
    if n_cuts > 1:
        squares = squares - sum(np.einsum(product, cut, cut) for cut in np.moveaxis(centred, 1, 0))
    return np.asarray(squares / (max(n_cuts * (n_cuts - 1), 1) * (n - 1)))


def of_draws(
    values: Array,
    draws: Array,
    resamples: Array,
    folds: Array | None = None,
    *,
    confidence_level: float,
    n_changed: float | None = None,
    n_rows: int = 0,
) -> tuple[Array, Array, Array, Array]:
    """Return intervals of the means of `seen`, p-values that they are 0, and standard errors.

    All are (draws, targets). `draws` of folds, perturbations and training differ as those of
    `seen` do, and `resamples` (resamples, cuts into folds, targets) vary as rows do. Only their
    spread is used: resamples are biased as estimates are, and their percentiles were measured to be
    too short where few rows are wrong.
    If resamples do not train again, `folds` (draws, folds, targets) tell how much training varies:
    Nadeau and Bengio's variance, with repeats as in Bouckaert and Frank (2004). Of two models
    `n_changed` of `n_rows` predictions differ.
    """
    value, n_draws = values.mean(axis=0), len(draws)
    tail = (1 - confidence_level) / 2
    rows = np.maximum(by_rows(resamples), 0.0)
    noise = draws.var(axis=0, ddof=1) / len(values) if n_draws > 1 else np.zeros(value.shape)
    # Few draws, or folds, know their own variance badly: Welch and Satterthwaite's degrees of
    # freedom.
    squared = noise**2 / max(n_draws - 1, 1)
    if folds is not None:
        every = folds.reshape(-1, folds.shape[-1])
        trained = every.var(axis=0, ddof=1) * (1 / len(every) + 1 / (folds.shape[1] - 1))
        squared = squared + np.where(trained > rows, trained**2 / (len(every) - 1), 0.0)
        rows = np.fmax(rows, trained)
    error = np.sqrt(rows + noise)
    most = np.full(rows.shape, 1e6)
    df = np.minimum(np.divide(error**4, squared, out=most, where=squared > 0), 1e6)
    # Functions, not distributions: those check their arguments for longer than all else takes.
    reach = -special.stdtrit(df, tail) * error
    low, high = value - reach, value + reach
    # So far in the tails resamples know nothing.
    n, n_cuts, _ = resamples.shape
    least = 2 / (1 + n if n_cuts == 1 else n_cuts * n)
    away = np.divide(np.abs(value), error, out=np.full(value.shape, np.inf), where=error > 0)
    p_values = np.where(value == 0, 1.0, np.maximum(2 * special.stdtr(df, -away), least))
    if n_changed is not None and n_changed < FEW:
        # Resamples know of no other changes than were seen: bounds of their number instead.
        unit = np.maximum(np.sqrt(rows / max(n_changed, 1)), 1 / n_rows)
        reach = n_rows * change_reach(n_changed, 0.0, n_rows, confidence_level=confidence_level)
        low = np.minimum(low, value - unit * reach.max())
        high = np.maximum(high, value + unit * reach.max())
    if n_changed is not None:
        # If models are alike, each of these rows may as well be the other way round.
        p_values = np.maximum(p_values, min(2.0 ** (1 - min(n_changed, 1000.0)), 1.0))
    return low, high, p_values, error
