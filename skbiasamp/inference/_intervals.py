"""Intervals: the bootstrap, the delta method, bounds where few rows differ, spread over runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special, stats

from skbiasamp._input import Array, check_option
from skbiasamp._jobs import side_by_side
from skbiasamp._order import ordered
from skbiasamp._sums import chunks, generator
from skbiasamp.contingency import Contingency
from skbiasamp.inference._growth import growth_draws, two_sided
from skbiasamp.inference._influence import pair_variances, value_variance
from skbiasamp.inference._pairs import Pairs
from skbiasamp.inference._simultaneous import largest_deviation, widened

# Fewer rows make a pair's rates unreliable; fewer that differ, percentiles of its change too short.
FEW = 10

# audited rows -> pairs
Measure = Callable[[Contingency], Pairs]


class Bounds(NamedTuple):
    """An interval of every pair's amplification (groups × tasks), and of the value."""

    low: Array
    high: Array
    value_low: float
    value_high: float
    statistics: dict[str, Any]
    # Of all pairs at once, if asked for.
    all_low: Array | None = None
    all_high: Array | None = None
    # Of pairs and value, where the test is that of the interval.
    p_value: Array | None = None
    value_p_value: float = float("nan")


def analytic(cells: Contingency, pairs: Pairs, *, confidence_level: float) -> Bounds:
    """Delta-method intervals from the influence of each row."""
    z = float(stats.norm.isf((1 - confidence_level) / 2))
    half = z * np.sqrt(pair_variances((cells, pairs))) * np.abs(pairs.slopes)
    error = value_variance(cells, pairs) ** 0.5
    statistics: dict[str, Any] = {"standard_error": error}
    if pairs.size:
        reach = z * value_variance(cells, pairs.as_signed()) ** 0.5
        statistics["signed_mean_low"] = pairs.signed_mean - reach
        statistics["signed_mean_high"] = pairs.signed_mean + reach
    return Bounds(
        pairs.amplification - half,
        pairs.amplification + half,
        pairs.value - z * error,
        pairs.value + z * error,
        statistics,
    )


def bootstrap(
    measure: Measure,
    test: Contingency,
    pairs: Pairs,
    changed: tuple[Array, Array] | None,
    *,
    unit: Any,
    simultaneous: bool = False,
    n_resamples: int,
    confidence_level: float,
    random_state: Any,
    n_jobs: int | None,
) -> Bounds:
    """Percentile intervals: audited rows are resampled, labels and predictions together.

    `changed` are the rows that each pair gained and lost, where they can be counted. `unit` is how
    many independent rows a unit of weight is worth.
    """

    def measured(cells: Contingency) -> tuple[Drawn]:
        return (Drawn.of(measure(cells)),)

    (drawn,) = measure_resamples(
        measured, test, n_resamples, random_state=random_state, n_jobs=n_jobs
    )
    return percentiles(
        drawn,
        Drawn.of(pairs),
        pairs,
        changed if pairs.rates is not None and pairs.rates.base is not None else None,
        unit=unit,
        simultaneous=simultaneous,
        confidence_level=confidence_level,
    )


class Drawn(NamedTuple):
    """What a metric says about resamples: each pair's change, the value and the signed mean."""

    moved: Array
    value: Array
    signed: Array
    # What sizes are of.
    base: Array | None = None
    observed: Array | None = None

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """Return what is needed of the pairs of resamples."""
        sides = () if pairs.growth is None else pairs.distances
        return cls(pairs.moved, np.asarray(pairs.value), np.asarray(pairs.signed_mean), *sides)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the draws of all parts."""
        every: list[Any] = [
            None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)
        ]
        return cls(*every)

    def around(self, pairs: Pairs) -> Self:
        """Return draws whose percentiles are the interval, although noise makes them too large."""
        if pairs.undirected:
            # Relative changes divide by rates that are noisy themselves, so their mean is too large
            # on average, and that of a resample twice as much.
            bias = np.nanmean(self.value) - pairs.value
            return self._replace(value=self.value - 2 * bias)
        if self.base is None or self.observed is None:
            return self
        moved, value = growth_draws(pairs, self.moved, self.value, self.base, self.observed)
        return self._replace(moved=moved, value=value)


def measure_resamples(
    measured: Callable[[Contingency], tuple[Drawn, ...]],
    test: Contingency,
    n_resamples: int,
    *,
    random_state: Any,
    n_jobs: int | None,
) -> tuple[Drawn, ...]:
    """Measure resamples of the audited rows, in chunks that fit into memory."""
    cells = ordered(test)
    sizes = chunks(n_resamples, cells.n_cells)
    seed = np.random.SeedSequence(generator(random_state).integers(2**63, size=2).tolist())

    def draw(n_draws: int, stream: np.random.SeedSequence) -> tuple[Drawn, ...]:
        return measured(cells.resample(n_draws, random_state=np.random.default_rng(stream)))

    parts = side_by_side(
        draw,
        zip(sizes, seed.spawn(len(sizes)), strict=True),
        n_jobs=n_jobs,
        what="resamples",
        total=n_resamples,
        each=max(sizes),
    )
    return tuple(map(Drawn.joined, zip(*parts, strict=True)))


def percentiles(
    drawn: Drawn,
    seen: Drawn,
    pairs: Pairs,
    changed: tuple[Array, Array] | None,
    *,
    unit: Any,
    simultaneous: bool = False,
    confidence_level: float,
) -> Bounds:
    """Return the percentiles of resamples, wider where few rows differ, if it is known how many.

    `seen` is what the rows themselves gave, `pairs` says how pairs make the value.
    """
    joint, drawn = drawn.moved, drawn.around(pairs)
    draws, values, signed = drawn[:3]
    tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
    low, high = _quantiles(draws, tails)
    value_low, value_high = (float(end) for end in _quantiles(values, tails))
    known = values[~np.isnan(values)]
    error = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    statistics: dict[str, Any] = {"standard_error": error}
    centre = seen.moved
    undefined = np.isnan(centre)
    every = None
    if simultaneous:
        every = _all_pairs(joint, pairs, changed, centre, unit, confidence_level)
    low, high = (np.where(undefined, np.nan, end) for end in (low, high))
    if every is not None and pairs.growth is not None:
        every = np.minimum(every[0], low), np.maximum(every[1], high)
    reach = np.stack([centre - low, high - centre])
    wide = reach
    if changed is not None:
        few = _few_rows_reach(pairs, *changed, unit=unit, confidence_level=confidence_level)
        # A pair that does not vary at all is left to `widen_degenerate`.
        wide = np.where(high - low > 1e-12, np.fmax(reach, few), reach)
    low = np.where(wide[0] > reach[0], centre - wide[0], low)
    high = np.where(wide[1] > reach[1], centre + wide[1], high)
    if pairs.apart:
        turned = (_turned(one, pairs.sign) for one in (reach, wide))
        ends = _stretched(_quantiles(signed, tails), float(seen.signed), *turned)
        statistics |= dict(zip(("signed_mean_low", "signed_mean_high"), ends, strict=True))
    if pairs.size:
        # The size of a change that may go either way may be 0.
        low, high = _of_sizes(low, high)
        every = every and _of_sizes(*every)
    else:
        value_low, value_high = _stretched((value_low, value_high), float(seen.value), reach, wide)
    found = Bounds(low, high, value_low, value_high, statistics, *(every or ()))
    if pairs.undirected or pairs.growth is not None:
        # Noise makes estimates too large, perhaps larger than what agrees with the rows.
        ends = min(value_low, float(pairs.value)), max(value_high, float(pairs.value))
        found = found._replace(value_low=ends[0], value_high=ends[1])
    return found if pairs.growth is None else _of_growth(found, drawn, pairs)


def _of_growth(bounds: Bounds, drawn: Drawn, pairs: Pairs) -> Bounds:
    """Return bounds that include the estimates of all pairs, with their tests."""
    return bounds._replace(
        low=np.minimum(bounds.low, pairs.moved),
        high=np.maximum(bounds.high, pairs.moved),
        p_value=np.where(np.isnan(pairs.moved), np.nan, two_sided(drawn.moved)),
        value_p_value=float(two_sided(drawn.value)),
    )


def _of_sizes(low: Array, high: Array) -> tuple[Array, Array]:
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
) -> tuple[Array, Array]:
    """Return intervals that hold for all pairs at once, as wide as few changed rows allow."""
    error, times = largest_deviation(draws, confidence_level)
    reach = np.stack([times * error] * 2)
    exact = None
    if changed is not None:
        level = 1 - 2 * float(stats.norm.sf(times))
        exact = _few_rows_reach(pairs, *changed, unit=unit, confidence_level=level)
    wide = widened(reach, exact, pairs, unit, times)
    return centre - wide[0], centre + wide[1]


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
            least = np.where(count > 0, stats.beta.ppf(tail, count, n - count + 1), 0.0)
            most = np.where(count < n, stats.beta.isf(tail, count + 1, n - count), 1.0)
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
    before, after = ((one**2 * (one > 0)) for one in (reach, wide))
    before, after = (np.nansum(one, axis=(1, 2)) ** 0.5 for one in (before, after))
    more = np.divide(after, before, out=np.ones(2), where=before > 0) - 1
    low, high = ends
    outwards = np.maximum([centre - low, high - centre], 0) * more
    return float(low - outwards[0]), float(high + outwards[1])


def _quantiles(draws: Array, tails: tuple[float, float]) -> Array:
    """Quantiles over the first axis; draws in which a pair was undefined do not count."""
    if not np.isnan(draws).any():
        return np.quantile(draws, tails, axis=0)
    known = ~np.isnan(draws).all(axis=0)  # pairs with a defined draw
    found = np.full((len(tails), *draws.shape[1:]), np.nan)
    found[:, known] = np.nanquantile(draws[:, known], tails, axis=0)
    return found


def widen_degenerate(
    bounds: Bounds,
    pairs: Pairs,
    *,
    unit: Any,
    confidence_level: float,
) -> Bounds:
    """Give pairs without any variation the width that so few rows allow.

    Where no row of n differs, a share of up to 1 − (α/2)^(1/n) of them may still do so. Only a
    pair whose sign is 0 is certain: its amplification is 0 whatever the model does.
    """
    alpha = 1 - confidence_level
    most = pairs.per_row  # a change of a whole rate
    with np.errstate(divide="ignore", invalid="ignore"):
        n = pairs.n * unit
        reach = most * np.where(n > 0, 1 - (alpha / 2) ** (1 / n), np.nan)
    flat = (bounds.high - bounds.low <= 1e-12) & (pairs.slopes != 0)
    sizes = pairs.size
    least = 0.0 if sizes else -most
    # A metric that compares no rates may lie beyond what rates can.
    low = np.where(flat, np.fmin(bounds.low, np.maximum(bounds.low - reach, least)), bounds.low)
    high = np.where(flat, np.fmax(bounds.high, np.minimum(bounds.high + reach, most)), bounds.high)
    value_low, value_high = bounds.value_low, bounds.value_high
    parts = np.where(flat, pairs.share * reach, 0.0)
    if value_high - value_low <= 1e-12:
        total = float(parts.sum() or np.nansum(pairs.share * reach))
        if pairs.growth == "largest":
            total = float(np.nanmax(reach))
        floor = 0.0 if sizes else -1.0 if pairs.growth is None else -np.inf
        value_low, value_high = min(value_low, max(value_low - total, floor)), value_high + total
    elif flat.any() and not sizes and pairs.growth != "largest":
        # Pairs that happen not to vary are as uncertain in the value as they are alone.
        more = float((parts**2).sum()) ** 0.5
        value_low = pairs.value - float(np.hypot(pairs.value - value_low, more))
        value_high = pairs.value + float(np.hypot(value_high - pairs.value, more))
    statistics = dict(bounds.statistics)
    ends = ("signed_mean_low", "signed_mean_high")
    if pairs.apart and statistics[ends[1]] - statistics[ends[0]] <= 1e-12:
        total = float(np.nansum(np.abs(pairs.sign) * pairs.share * reach))
        statistics[ends[0]] -= total
        statistics[ends[1]] += total
    return bounds._replace(
        low=low, high=high, value_low=value_low, value_high=value_high, statistics=statistics
    )


def across_runs(values: Array, confidence_level: float, *, method: str) -> tuple[Any, Any, Any]:
    """Return the mean over the first axis and the bounds of its interval."""
    check_option("method", method, ("t", "normal"))
    n = len(values)
    tail = (1 - confidence_level) / 2
    quantile = stats.t.isf(tail, n - 1) if method == "t" else stats.norm.isf(tail)
    mean = values.mean(axis=0)
    reach = quantile * values.std(axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def of_draws(
    seen: Array,
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
    `seen` do, and `resamples` vary as rows do. Only their spread is used: resamples are biased as
    estimates are, and their percentiles were measured to be too short where few rows are wrong.
    If resamples do not train again, `folds` (draws, folds, targets) tell how much training varies:
    Nadeau and Bengio's variance, with repeats as in Bouckaert and Frank (2004). Of two models
    `n_changed` of `n_rows` predictions differ.
    """
    value, n_draws = seen.mean(axis=0), len(draws)
    tail = (1 - confidence_level) / 2
    rows = resamples.var(axis=0, ddof=1)
    noise = draws.var(axis=0, ddof=1) / len(seen) if n_draws > 1 else np.zeros(value.shape)
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
    least = 2 / (1 + len(resamples))
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
