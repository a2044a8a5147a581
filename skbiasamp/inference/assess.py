"""The interval and tests of a result and of its pairs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference._clustered import units
from skbiasamp.inference.hypothesis_tests import (
    adjust_p_values,
    bounds_and_tests,
    changed_clusters,
    changed_rows,
    pairs_per_changed_row,
)
from skbiasamp.inference.independent_signs import NO_DOUBT, Signs, doubted, estimate
from skbiasamp.inference.intervals import (
    FEW,
    Bounds,
    agreeing,
    analytic,
    errors_of_base,
    interval_p_value,
    of_sizes,
    percentiles,
    predicted_interval,
    widen_degenerate,
    with_errors_of_base,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn


class Uncertainty(NamedTuple):
    """Interval and tests of a result. The bounds hold the signs of its estimate."""

    bounds: Bounds
    p_value: Array
    p_adjusted: Array
    estimate_p_value: float


def is_unknown(pairs: Pairs, test: Contingency) -> bool:
    """Return whether there can be no interval: nothing is defined, or rows cannot be drawn."""
    # Rows of sums cannot be drawn, and without rates there is no other way.
    unknown_how = test.summed == "tasks" and pairs.rates is None
    infinite = pairs.growth is not None and not np.isfinite(pairs.value)
    return bool(np.isnan(pairs.delta).all() or unknown_how or infinite)


def unknown(pairs: Pairs, sign: Array) -> Uncertainty:
    """Return an interval without ends."""
    nothing, value = np.full(pairs.delta.shape, np.nan), float(estimate(pairs, sign))
    none = {"standard_error": np.nan}
    bounds = Bounds(nothing, nothing, value, np.nan, np.nan, none, sign)
    return Uncertainty(bounds, nothing, nothing, np.nan)


class IntervalOptions(Protocol):
    """The options of an auditor that say how intervals are made."""

    interval: str | None
    confidence_level: float
    n_resamples: int
    simultaneous: bool
    adjust: str | None
    random_state: Any
    n_jobs: int | None


def interval_and_tests(
    drawn: Drawn | None,
    signs: Signs,
    cells: Contingency,
    train: Contingency,
    pairs: Pairs,
    options: IntervalOptions,
) -> Uncertainty:
    """Return the bounds that the verdict is about, as wide as few rows need, with their tests.

    They are those of resamples, or of the delta method if there are none.
    """
    level, adjust = options.confidence_level, options.adjust
    n_resamples = None if drawn is None else options.n_resamples
    changed = changed_rows(cells, pairs)
    unit = units(cells, changed, changed_clusters(cells, pairs))
    if drawn is None:
        bounds = analytic(cells, pairs, signs.used, confidence_level=level)
    else:
        in_rows = pairs.rates is not None and pairs.rates.base is not None
        bounds = percentiles(
            drawn,
            pairs,
            signs.used,
            changed if in_rows else None,
            unit=unit,
            simultaneous=options.simultaneous,
            confidence_level=level,
        )
    bounds = widen_degenerate(
        bounds,
        pairs,
        unit=unit,
        confidence_level=level,
        per_row=lambda: math.nan if changed is None else pairs_per_changed_row(cells, pairs),
    )
    errors = errors_of_base(pairs, train, bounds.sign)
    if errors is not None:
        bounds = with_errors_of_base(bounds, pairs, errors, level)
    ends = doubted(bounds.estimate_low, bounds.estimate_high, signs.doubt(pairs), NO_DOUBT)
    bounds = bounds._replace(estimate_low=ends[0], estimate_high=ends[1])
    if bounds.estimate_high < 0:  # does it reduce, or reverse?
        reach = predicted_interval(cells, pairs, bounds.sign, level)
        bounds = bounds._replace(statistics=bounds.statistics | reach)
    if bounds.p_value is not None:  # the test of the draws
        tests = agreeing(bounds.p_value, bounds.low, bounds.high, level)
        p_value = agreeing(bounds.estimate_p_value, *ends, level)
        bounds = _with_ends(bounds, bounds.low, bounds.high)
        return Uncertainty(bounds, tests, adjust_p_values(tests, adjust), float(p_value))
    counted = None
    if changed is not None and cells.whole and cells.clusters is None and pairs.in_rows:
        counted = *changed, pairs.n
    how: dict[str, Any] = {"confidence_level": level, "n_resamples": n_resamples}
    ends_of_pairs = bounds.low, bounds.high
    low, high, tests = bounds_and_tests(pairs.moved, ends_of_pairs, pairs.slopes, counted, **how)
    p_value = interval_p_value(bounds.estimate, *ends, **how)
    bounds = _with_ends(bounds, low, high)
    if pairs.size:
        # The size of a change that may go either way may be 0.
        low, high = of_sizes(low, high)
        least = {"value_low": max(bounds.statistics["value_low"], 0.0)}
        bounds = bounds._replace(low=low, high=high, statistics=bounds.statistics | least)
    if pairs.size and bounds.all_low is not None and bounds.all_high is not None:
        every_low, every_high = of_sizes(bounds.all_low, bounds.all_high)
        bounds = bounds._replace(all_low=every_low, all_high=every_high)
    return Uncertainty(bounds, tests, adjust_p_values(tests, adjust), float(p_value))


def _with_ends(bounds: Bounds, low: Array, high: Array) -> Bounds:
    """Return bounds with other ends of pairs, which those of all pairs at once contain."""
    bounds = bounds._replace(low=low, high=high)
    if bounds.all_low is None or bounds.all_high is None:
        return bounds
    every = np.fmin(bounds.all_low, low), np.fmax(bounds.all_high, high)
    return bounds._replace(all_low=every[0], all_high=every[1])


def warn_uncertain(pairs: Pairs, certain: Array, reliable: Array) -> None:
    """Say once for a call which pairs rest on few rows, or on an uncertain sign."""
    few = ~np.isnan(pairs.delta) & ~reliable
    # NaN is no flag.
    weak = ~np.isnan(pairs.delta) & (certain == 0) & (pairs.sign != 0)

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
    if weak.any():
        parts.append(
            f"{int(weak.sum())} of {weak.size} pairs are so weakly correlated in the training "
            "labels that their sign is not statistically distinguishable from 0 "
            "(sign_certain=False in the table): "
            f"{named(weak)}."
        )
    if parts:
        warn(" ".join(parts), UncertaintyWarning)
