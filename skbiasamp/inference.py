"""Uncertainty: bootstrap and analytic intervals, paired tests, intervals across runs.

Everything is computed on cells. Rows drawn with replacement are a multinomial draw of the
cells' counts; a row's influence is its cell's; labels and predictions that change places within
rows are a binomial number of each cell's rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.utils.parallel import Parallel, delayed

from skbiasamp._labels import Array, check_option
from skbiasamp._sums import generator
from skbiasamp.contingency import Contingency
from skbiasamp.metrics._multi_attribute import occurrences_of
from skbiasamp.metrics._pairs import Pairs

__all__ = ["UncertaintyWarning", "adjust_p_values", "paired_p_values"]

ADJUSTMENTS = ("holm", "fdr", None)

# Numbers drawn at once. What is drawn depends on it and on the data alone, never on how many
# jobs share the work.
_DRAWN = 1 << 21
# Fewer rows make a pair's rates unreliable; fewer that differ, percentiles of its change too short.
FEW = 10

# labels that give the signs, training labels, audited rows -> pairs
Measure = Callable[[Contingency, Contingency, Contingency], Pairs]


class UncertaintyWarning(UserWarning):
    """A number rests on few rows, or on a sign that is a coin's.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import warnings
    >>> from skbiasamp.inference import UncertaintyWarning
    >>> warnings.simplefilter("ignore", UncertaintyWarning)
    """


class Bounds(NamedTuple):
    """An interval of every pair's amplification (groups × tasks), and of the value."""

    low: Array
    high: Array
    value_low: float
    value_high: float
    statistics: dict[str, Any]


def _chunks(n_draws: int, numbers: int) -> list[int]:
    """Return how many draws to make at a time, where each is so many numbers."""
    size = max(1, _DRAWN // numbers)
    return [min(size, n_draws - low) for low in range(0, n_draws, size)]


# --------------------------------------------------------------------------- tests


def paired_p_values(gained: Any, lost: Any) -> Any:
    """Test whether predictions move a label in rows that have both: McNemar's exact test.

    .. versionadded:: 0.1

    Parameters
    ----------
    gained : array-like of int
        Rows that have the label in the predictions only.
    lost : array-like of int
        Rows that have it in the truth only.

    Returns
    -------
    p_values : ndarray or float
        Two-sided; 1 where no row differs.

    Examples
    --------
    >>> from skbiasamp.inference import paired_p_values
    >>> float(paired_p_values(5, 0))
    0.0625
    """
    gained, lost = np.asarray(gained, dtype=float), np.asarray(lost, dtype=float)
    p_values = 2 * stats.binom.cdf(np.minimum(gained, lost), gained + lost, 0.5)
    return np.minimum(np.where(gained + lost == 0, 1.0, p_values), 1.0)


def adjust_p_values(p_values: Any, method: str | None = "holm") -> Array:
    """Adjust p-values for their number.

    .. versionadded:: 0.1

    Parameters
    ----------
    p_values : array-like
        Undefined ones (NaN) stay so and do not count.
    method : {"holm", "fdr", None}, default="holm"
        Holm's step-down bound of any false rejection, Benjamini and Hochberg's bound of their
        expected share, or none.

    Returns
    -------
    adjusted : ndarray
        In the shape of `p_values`.

    Examples
    --------
    >>> from skbiasamp.inference import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    check_option("method", method, ADJUSTMENTS)
    p_values = np.asarray(p_values, dtype=float)
    adjusted = p_values.copy()
    defined = ~np.isnan(p_values)
    tested = p_values[defined]
    if method is None or not tested.size:
        return adjusted
    if method == "fdr":
        adjusted[defined] = stats.false_discovery_control(tested)
        return adjusted
    order = np.argsort(tested, kind="stable")
    steps = tested[order] * np.arange(len(tested), 0, -1)
    holm = np.empty_like(tested)
    holm[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted[defined] = holm
    return adjusted


def sign_p_values(labels: Contingency, pairs: Pairs, *, shares: bool) -> Array:
    """Test each pair's training correlation, the origin of its sign: Pearson's χ².

    With `shares`, the group's share of the task against an equal share.
    """
    groups, total = labels.count("group")[:, None], labels.total
    if pairs.sets is None:
        joint, tasks = labels.joint("group", "task"), labels.count("task")
    else:
        joint, tasks = occurrences_of(labels, "task", "group", pairs.sets)
    if shares:
        share = 1 / len(groups)
        expected = tasks * share
        spread = expected * (1 - share)
    else:
        expected = groups * tasks / total
        spread = expected * (1 - groups / total) * (1 - tasks / total)
    with np.errstate(invalid="ignore", divide="ignore"):
        chi2 = np.where(spread > 0, (joint - expected) ** 2 / spread, 0.0)
    return stats.chi2.sf(chi2 * labels.rows_per_weight, 1)


# --------------------------------------------------------------------------- influence


def pair_influence(cells: Contingency, pairs: Pairs, group: int, task: int) -> Array:
    """Return how much one more row of each cell would move a pair's delta, times n."""

    def term(rate: tuple[Any, Any], value: float) -> Array:
        side, given = rate
        at = {"group": group, "task": task}
        x = cells.column(side, at[side.partition("_")[0]])
        y = cells.column(given, at[given.partition("_")[0]])
        whole = y * _times_counted(cells, pairs, side)
        return (y * x - whole * value) / (cells.weight @ whole)

    influence = term(pairs.observed_rate, pairs.observed[group, task])
    if pairs.base_rate is not None:
        influence = influence - term(pairs.base_rate, pairs.base[group, task])
    return influence


def _times_counted(cells: Contingency, pairs: Pairs, side: Any) -> Any:
    """Return how often a row counts in a denominator.

    Multi_MALS sums over groups, so that a row of two groups counts twice there.
    """
    if pairs.sets is None or pairs.observed_rate[1] != "task_pred":
        return 1.0
    return cells.column_scores(side, np.ones(len(pairs.groups)))


def value_scores(cells: Contingency, pairs: Pairs, *, centred: bool) -> Array:
    """Return each row's part in the value; centred, its influence on it."""
    scores = np.zeros(cells.n_cells)
    terms = [(pairs.observed_rate, pairs.observed, 1.0)]
    if pairs.base_rate is not None:
        terms.append((pairs.base_rate, pairs.base, -1.0))
    for (side, given), rates, factor in terms:
        by_group = given.startswith("group")
        times = _times_counted(cells, pairs, side)
        if np.ndim(times):
            joint = cells.joint(side, given)
            count = joint.sum(axis=0)[None, :]
        else:
            count = cells.count(given)
            count = count[:, None] if by_group else count[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(pairs.gradient == 0, 0.0, factor * pairs.gradient / count)
        scores += cells.pair_scores(side, given, weight)
        if centred:
            mean = np.where(weight == 0, 0.0, weight * rates).sum(axis=1 if by_group else 0)
            scores -= times * cells.column_scores(given, mean)
    return scores


def _moments(cells: Contingency, influence: Array) -> tuple[float, float]:
    """Return the variance of a sum of influences, and its acceleration for BCa."""
    # A whole weight is that many rows; a fractional one is one row that counts so much.
    part = cells.row_weight * influence
    variance = float(cells.weight @ (part * influence))
    third = float(cells.weight @ (part**2 * influence))
    return variance, third / (6 * variance**1.5) if variance > 0 else 0.0


def pair_moments(cells: Contingency, pairs: Pairs) -> tuple[Array, Array]:
    """Return variance and acceleration of every pair's delta, NaN where it is undefined."""
    variance, acceleration = (np.full(pairs.delta.shape, np.nan) for _ in range(2))
    for group, task in zip(*np.where(~np.isnan(pairs.delta)), strict=True):
        influence = pair_influence(cells, pairs, group, task)
        variance[group, task], acceleration[group, task] = _moments(cells, influence)
    return variance, acceleration


def value_variances(cells: Contingency, pairs: Pairs) -> tuple[float, float]:
    """Return the variance of the value, and of the sum of rows' parts if each may change its sign.

    They are NaN where tasks were summed by themselves and the squares that it takes were not.
    """
    if cells.summed != "tasks":
        return (
            _moments(cells, value_scores(cells, pairs, centred=True))[0],
            _moments(cells, value_scores(cells, pairs, centred=False))[0],
        )
    moments = cells.moments
    if moments is None or pairs.observed_rate != ("task_pred", "group"):
        return float("nan"), float("nan")
    signs = pairs.gradient / pairs.share  # 0 in groups without rows
    n = cells.count("group")
    same = np.array_equal(moments.signs[n > 0], signs[n > 0])
    if not same or moments.change != (pairs.base_rate is not None):
        return float("nan"), float("nan")
    base = pairs.base if moments.change else 0.0
    mean = np.where(n > 0, np.nansum(signs * (pairs.observed - base), axis=1), 0.0)
    spread = np.maximum(moments.squares - n * mean**2, 0.0)
    parts = np.divide(pairs.share.ravel(), n, out=np.zeros(len(n)), where=n > 0) ** 2
    return float(parts @ spread), float(parts @ moments.squares)


# --------------------------------------------------------------------------- intervals


def analytic(cells: Contingency, pairs: Pairs, *, confidence_level: float) -> Bounds:
    """Delta-method intervals from the influence of each row."""
    z = float(stats.norm.isf((1 - confidence_level) / 2))
    variance, _ = pair_moments(cells, pairs)
    factor = np.abs(_slope(pairs))
    half = z * np.sqrt(variance) * factor
    value_variance, _ = value_variances(cells, pairs)
    reach = z * value_variance**0.5
    bounds = Bounds(
        pairs.amplification - half,
        pairs.amplification + half,
        pairs.value - reach,
        pairs.value + reach,
        {"standard_error": value_variance**0.5},
    )
    if "signed_mean" in pairs.statistics:
        signed = _moments(cells, value_scores(cells, signed_pairs(pairs), centred=True))[0] ** 0.5
        centre = pairs.statistics["signed_mean"]
        bounds.statistics["signed_mean_low"] = centre - z * signed
        bounds.statistics["signed_mean_high"] = centre + z * signed
    return bounds


def _slope(pairs: Pairs) -> Array:
    """Return how far a pair's amplification follows its delta: 0 where it never does."""
    sizes = pairs.sets is not None and pairs.observed_rate[1] != "task_pred"
    return np.ones(pairs.delta.shape) if sizes else pairs.sign


def signed_pairs(pairs: Pairs) -> Pairs:
    """Return the pairs of a mean of sizes as those of the signed mean."""
    return replace(pairs, gradient=np.where(np.isnan(pairs.delta), 0.0, pairs.sign * pairs.share))


def bootstrap(
    measure: Measure,
    labels: Contingency,
    train: Contingency,
    test: Contingency,
    pairs: Pairs,
    cells: Contingency,
    moved: tuple[Array, Array] | None,
    *,
    method: str,
    resample: str,
    n_resamples: int,
    confidence_level: float,
    random_state: Any,
    n_jobs: int | None,
) -> Bounds:
    """Bootstrap intervals: audited rows are drawn anew, labels and predictions together.

    With ``resample="both"`` the training labels are drawn anew too, and with them the signs.
    `cells` are the audited rows with the pairs' own tasks, `moved` the rows that each pair gained
    and lost, where they can be counted.
    """
    ordered = test.by_group()
    sizes = _chunks(n_resamples, ordered.n_cells)
    seed = np.random.SeedSequence(generator(random_state).integers(2**63, size=2).tolist())

    def draw(n_draws: int, stream: np.random.SeedSequence) -> tuple[Array, Array, Array]:
        rng = np.random.default_rng(stream)
        drawn = ordered.resample(n_draws, random_state=rng)
        if resample == "both":
            fitted = train.resample(n_draws, random_state=rng) if train is not test else drawn
            found = measure(drawn if labels is test else fitted, fitted, drawn)
        else:
            found = measure(labels, train, drawn)
        signed = found.statistics.get("signed_mean", np.zeros(n_draws))
        return _moved(found), np.asarray(found.value), np.asarray(signed)

    parts = Parallel(n_jobs=n_jobs)(
        delayed(draw)(n, stream) for n, stream in zip(sizes, seed.spawn(len(sizes)), strict=True)
    )
    draws, values, signed = (np.concatenate(part) for part in zip(*parts, strict=True))
    tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
    flat = draws.reshape(n_resamples, -1)
    if method == "bca":
        accelerations = pair_moments(cells, pairs)[1] * _slope(pairs)  # of deltas
        acceleration = _moments(cells, value_scores(cells, pairs, centred=True))[1]
        low, high = _bca(flat, _moved(pairs).ravel(), accelerations.ravel(), tails)
        (value_low,), (value_high,) = _bca(
            values[:, None], np.array([pairs.value]), np.array([acceleration]), tails
        )
    else:
        low, high = _quantiles(flat, tails)
        value_low, value_high = _quantiles(values, tails)
    statistics: dict[str, Any] = {"standard_error": float(np.nanstd(values, ddof=1))}
    centre = _moved(pairs)
    shape, undefined = centre.shape, np.isnan(centre)
    low, high = (np.where(undefined, np.nan, end.reshape(shape)) for end in (low, high))
    reach = np.stack([centre - low, high - centre])
    wide = reach
    if moved is not None and pairs.base_rate is not None:
        few = few_rows_reach(
            pairs,
            *moved,
            rows_per_weight=cells.rows_per_weight,
            confidence_level=confidence_level,
        )
        # A pair that does not vary at all is left to `widen_degenerate`.
        wide = np.where(high - low > 1e-12, np.fmax(reach, few), reach)
    low = np.where(wide[0] > reach[0], centre - wide[0], low)
    high = np.where(wide[1] > reach[1], centre + wide[1], high)
    if "signed_mean" in pairs.statistics:
        reach, wide = (_turned(one, pairs.sign) for one in (reach, wide))
        ends = _stretched(_quantiles(signed, tails), pairs.statistics["signed_mean"], reach, wide)
        statistics |= dict(zip(("signed_mean_low", "signed_mean_high"), ends, strict=True))
    else:
        value_low, value_high = _stretched((value_low, value_high), pairs.value, reach, wide)
    if pairs.sets is not None:
        # The size of a change that may go either way may be 0.
        low, high = (
            np.where(low * high <= 0, 0.0, np.minimum(np.abs(low), np.abs(high))),
            np.maximum(np.abs(low), np.abs(high)),
        )
    return Bounds(low, high, float(value_low), float(value_high), statistics)


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


def few_rows_reach(
    pairs: Pairs, gained: Array, lost: Array, *, rows_per_weight: float, confidence_level: float
) -> Array:
    """Return how far below and above its change a pair of few differing rows may be, else NaN.

    Resamples hold no other rows than were seen: of two rows gained and none lost they know of no
    loss, and percentiles are too short.
    """
    gained, lost, n = (count * rows_per_weight for count in (gained, lost, pairs.n))
    few = (gained + lost < FEW) & (_slope(pairs) != 0)
    reach = change_reach(gained, lost, n, confidence_level=confidence_level)
    return _turned(np.where(few, reach, np.nan), _slope(pairs))


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


def _moved(pairs: Pairs) -> Array:
    """Return what a pair's interval is made of: amplification, but changes where it is a size."""
    if pairs.sets is None:
        return pairs.amplification
    return np.where(pairs.amplification == 0, 0.0, pairs.delta)


def _quantiles(draws: Array, tails: tuple[float, float]) -> Array:
    """Quantiles over the first axis; draws in which a pair was undefined do not count."""
    if not np.isnan(draws).any():
        return np.quantile(draws, tails, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a pair without any defined draw
        return np.nanquantile(draws, tails, axis=0)


def _bca(
    draws: Array, observed: Array, acceleration: Array, tails: tuple[float, float]
) -> tuple[Array, Array]:
    """Bias-corrected and accelerated bounds, one column of draws at a time."""
    ends = np.full((2, draws.shape[1]), np.nan)
    for i in np.flatnonzero(~np.isnan(observed)):
        column = draws[~np.isnan(draws[:, i]), i]
        if not column.size:
            continue
        tie = np.abs(column - observed[i]) <= 1e-9 * max(1e-9, abs(observed[i]))
        below = ((column < observed[i]) & ~tie).mean() + tie.mean() / 2
        bias = stats.norm.ppf(np.clip(below, 0.5 / len(column), 1 - 0.5 / len(column)))
        shifted = bias + stats.norm.ppf(tails)
        ends[:, i] = np.quantile(
            column, stats.norm.cdf(bias + shifted / (1 - acceleration[i] * shifted))
        )
    return ends[0], ends[1]


def widen_degenerate(
    bounds: Bounds, pairs: Pairs, *, rows_per_weight: float, confidence_level: float
) -> Bounds:
    """Give pairs without any variation the width that so few rows allow.

    Where no row of n differs, a share of up to 1 − (α/2)^(1/n) of them may still do so. Only a
    pair whose sign is 0 is certain: its amplification is 0 whatever the model does.
    """
    alpha = 1 - confidence_level
    with np.errstate(divide="ignore", invalid="ignore"):
        n = pairs.n * rows_per_weight
        reach = np.where(n > 0, 1 - (alpha / 2) ** (1 / n), np.nan)
    flat = (bounds.high - bounds.low <= 1e-12) & (_slope(pairs) != 0)
    sizes = "signed_mean" in pairs.statistics
    floor = 0.0 if sizes else -1.0
    low = np.where(flat, np.maximum(bounds.low - reach, floor), bounds.low)
    high = np.where(flat, np.minimum(bounds.high + reach, 1.0), bounds.high)
    value_low, value_high = bounds.value_low, bounds.value_high
    parts = np.where(flat, np.abs(_slope(pairs)) * pairs.share * reach, 0.0)
    if value_high - value_low <= 1e-12:
        total = float(parts.sum() or np.nansum(np.abs(_slope(pairs)) * pairs.share * reach))
        value_low, value_high = max(value_low - total, floor), value_high + total
    elif flat.any() and not sizes:
        # Pairs that happen not to vary are as uncertain in the value as they are alone.
        more = float((parts**2).sum()) ** 0.5
        value_low = pairs.value - float(np.hypot(pairs.value - value_low, more))
        value_high = pairs.value + float(np.hypot(value_high - pairs.value, more))
    statistics = dict(bounds.statistics)
    ends = ("signed_mean_low", "signed_mean_high")
    if sizes and statistics[ends[1]] - statistics[ends[0]] <= 1e-12:
        total = float(np.nansum(np.abs(pairs.sign) * pairs.share * reach))
        statistics[ends[0]] -= total
        statistics[ends[1]] += total
    return Bounds(low, high, value_low, value_high, statistics)


# --------------------------------------------------------------------------- tests of an audit


def moved_rows(cells: Contingency, pairs: Pairs) -> tuple[Array, Array]:
    """Return how many rows a pair gained from label to prediction, and how many it lost."""
    side, given = pairs.observed_rate
    role: Any = side.partition("_")[0]

    def rows(held: Contingency, name: Any) -> Array:
        joint = held.joint(name, given)
        return joint.T if name.startswith("task") else joint

    common = rows(cells.both(role), side)
    return rows(cells, side) - common, rows(cells, role) - common


def pair_p_values(
    cells: Contingency, pairs: Pairs, moved: tuple[Array, Array] | None, *, own_base: bool
) -> Array:
    """Test for every pair that the model does not move it.

    Labels and predictions are in the same rows, so the exact test is McNemar's, within the rows
    of a group (A→T) or of a task (T→A). Against correlations of the user's own it is the
    binomial test. Probabilities and fractional weights have the delta method's normal test.
    """
    undefined = np.isnan(pairs.delta)
    if not cells.whole or cells.soft(pairs.observed_rate[0]):
        variance, _ = pair_moments(cells, pairs)
        p_values = _normal_p_values(pairs.delta, variance)
    elif own_base:
        hits = np.rint(np.where(undefined, 0, pairs.observed * pairs.n))
        below = stats.binom.cdf(hits, pairs.n, pairs.base)
        above = stats.binom.sf(hits - 1, pairs.n, pairs.base)
        p_values = np.minimum(2 * np.minimum(below, above), 1.0)
    else:
        assert moved is not None
        p_values = paired_p_values(*moved)
    return np.where(undefined, np.nan, p_values)


def _normal_p_values(estimate: Any, variance: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(estimate) / np.sqrt(variance)
    # Without any variation there is nothing to test with, unless nothing moved.
    p_values = np.where(np.isfinite(z), 2 * stats.norm.sf(z), np.nan)
    return np.where((variance == 0) & (np.abs(estimate) == 0), 1.0, p_values)


def swap_p_values(
    seen: Pairs,
    paired: Callable[[Contingency], Pairs],
    test: Contingency,
    sides: tuple[Any, ...],
    *,
    n_draws: int,
    random_state: Any,
) -> tuple[Array, float]:
    """Compare pairs and value with draws in which labels and predictions change places.

    `paired` measures predictions against the labels of the same rows, and found `seen`. A mean of
    sizes is tested for being larger than in the draws, other values for being further from 0.
    """
    n_pairs, value, rng = np.zeros(seen.delta.shape), 0, generator(random_state)
    for size in _chunks(n_draws, 2 * test.n_cells):
        drawn = paired(test.swapped(sides, size, rng))
        # A draw that ties with what was seen counts, whatever the rounding.
        n_pairs += (np.abs(drawn.delta) >= np.abs(seen.delta) - 1e-9).sum(axis=0)
        moved, here = np.asarray(drawn.value), seen.value
        if seen.sets is None:
            moved, here = np.abs(moved), abs(here)
        value += int((moved >= here - 1e-9).sum())
    p_values = np.where(np.isnan(seen.delta), np.nan, (1 + n_pairs) / (1 + n_draws))
    return p_values, (1 + value) / (1 + n_draws)


def value_p_value(
    cells: Contingency, pairs: Pairs, *, own_base: bool, n_draws: int, random_state: Any
) -> float:
    """Test that the model does not move the value, a sum over rows."""
    if np.isnan(pairs.value):
        return float("nan")
    if own_base or cells.summed == "tasks":
        centred, swapped = value_variances(cells, pairs)
        return float(_normal_p_values(pairs.value, centred if own_base else swapped))
    scores = value_scores(cells, pairs, centred=False)
    observed = float(cells.weight @ scores)
    moved = np.flatnonzero(scores)
    if not moved.size:
        return 1.0
    # Rows that predictions leave alone stay what they are, and need not be drawn.
    drawn_from, rng = cells._take(moved, cells.weight[moved]), generator(random_state)
    extreme, noise = 0, 1e-11 * float(cells.weight @ np.abs(scores))
    for size in _chunks(n_draws, len(moved)):
        flips = drawn_from.flips(size, rng)
        sums = observed - 2 * (flips @ scores[moved])
        # A draw that ties with what was seen counts, whatever the rounding.
        extreme += int((np.abs(sums) >= abs(observed) - noise).sum())
    return (1 + extreme) / (1 + n_draws)


class Uncertainty(NamedTuple):
    """What is known about how sure a result is."""

    bounds: Bounds
    p_value: Array
    p_adjusted: Array
    value_p_value: float


def assess(
    measure: Measure,
    labels: Contingency,
    train: Contingency,
    test: Contingency,
    pairs: Pairs,
    *,
    paired: Callable[[Contingency], Pairs],
    own_base: bool,
    interval: str,
    resample: str,
    n_resamples: int,
    confidence_level: float,
    adjust: str | None,
    random_state: Any,
    n_jobs: int | None,
) -> Uncertainty:
    """Give a measured value, and each of its pairs, an interval and a test."""
    nothing = np.full(pairs.delta.shape, np.nan)
    if np.isnan(pairs.delta).all():
        unknown = Bounds(nothing, nothing, np.nan, np.nan, {"standard_error": np.nan})
        return Uncertainty(unknown, nothing, nothing, np.nan)
    cells = test if pairs.sets is None else test.of_sets(pairs.sets)
    if interval == "bca":
        test.require_rows("interval='bca'")
    rng = generator(random_state)
    side, given = pairs.observed_rate
    role: Any = side.partition("_")[0]
    moved = None
    if given != "task_pred" and test.has(role) and not (own_base or test.soft(side)):
        moved = moved_rows(cells, pairs)
    if interval == "analytic":
        bounds = analytic(cells, pairs, confidence_level=confidence_level)
    else:
        bounds = bootstrap(
            measure,
            labels,
            train,
            test,
            pairs,
            cells,
            moved,
            method=interval,
            resample=resample,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            random_state=rng,
            n_jobs=n_jobs,
        )
        drawn = (test, train, labels) if resample == "both" else (test,)
        if any(one.summed == "tasks" for one in drawn):
            # How tasks depend on one another in these draws is made up.
            unknown_statistics = dict.fromkeys(bounds.statistics, float("nan"))
            bounds = Bounds(bounds.low, bounds.high, np.nan, np.nan, unknown_statistics)
    bounds = widen_degenerate(
        bounds,
        pairs,
        rows_per_weight=test.rows_per_weight,
        confidence_level=confidence_level,
    )
    p_value, value_p = nothing, float("nan")
    if swaps := given == "task_pred":
        # Predictions are in the condition, so that a row's part is no fixed score.
        testable = not (test.soft("task_pred") or test.soft("group_pred"))
    else:
        testable = test.has(role)
    if testable:
        tested = pairs if own_base or pairs.base_rate is not None else paired(test)
        options: Any = {"n_draws": n_resamples, "random_state": rng}
        if swaps:
            sides = ("task", "group") if test.has("group_pred") else ("task",)
            p_value, value_p = swap_p_values(tested, paired, test, sides, **options)
            value_p = float("nan") if test.summed == "tasks" else value_p
        else:
            p_value = pair_p_values(cells, tested, moved, own_base=own_base)
            if pairs.sets is None:
                value_p = value_p_value(cells, tested, own_base=own_base, **options)
            else:
                _, value_p = swap_p_values(tested, paired, test, (role,), **options)
    return Uncertainty(bounds, p_value, adjust_p_values(p_value, adjust), value_p)


def across_runs(values: Array, confidence_level: float, *, method: str) -> tuple[Any, Any, Any]:
    """Return the mean over the first axis and the bounds of its interval."""
    check_option("method", method, ("t", "normal"))
    n = len(values)
    tail = (1 - confidence_level) / 2
    quantile = stats.t.isf(tail, n - 1) if method == "t" else stats.norm.isf(tail)
    mean = values.mean(axis=0)
    reach = quantile * values.std(axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def warn_uncertain(pairs: Pairs, certain: Array, reliable: Array, *, stacklevel: int) -> None:
    """Say once for a call which pairs rest on few rows, or on an uncertain sign."""
    few = ~np.isnan(pairs.delta) & ~reliable
    coins = ~np.isnan(pairs.delta) & ~certain & (pairs.sign != 0)

    def named(mask: Array) -> str:
        where = list(zip(*np.where(mask), strict=True))
        shown = ", ".join(f"({pairs.groups[i]!r}, {pairs.tasks[j]!r})" for i, j in where[:3])
        return shown + (f" and {len(where) - 3} more" if len(where) > 3 else "")

    parts = []
    if few.any():
        parts.append(
            f"{int(few.sum())} of {few.size} pairs rest on fewer than {FEW} rows "
            f"(reliable=False in the table): {named(few)}."
        )
    if coins.any():
        parts.append(
            f"{int(coins.sum())} of {coins.size} pairs are so weakly correlated in the training "
            "labels that their sign could be a coin's (sign_certain=False in the table): "
            f"{named(coins)}."
        )
    if parts:
        warnings.warn(" ".join(parts), UncertaintyWarning, stacklevel=stacklevel + 1)
