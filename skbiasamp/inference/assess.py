"""The interval and tests of a result and of its pairs."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.changes import (
    changed_clusters,
    changed_rows,
    pairs_per_changed_row,
    units,
)
from skbiasamp.inference.hypothesis_tests import with_tests
from skbiasamp.inference.independent_signs import NO_DOUBT, Signs, doubted, estimate
from skbiasamp.inference.intervals import (
    FEW,
    Bounds,
    analytic,
    of_sizes,
    percentiles,
    predicted_interval,
    widen_degenerate,
    with_errors_of_base,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn


def is_unknown(pairs: Pairs, test: Contingency) -> bool:
    """Return whether there can be no interval: nothing is defined, or rows cannot be drawn."""
    # Rows of sums cannot be drawn, and without rates there is no other way.
    unknown_how = test.summed == "tasks" and pairs.rates is None
    infinite = pairs.growth is not None and not np.isfinite(pairs.value)
    return bool(np.isnan(pairs.delta).all() or unknown_how or infinite)


def unknown(pairs: Pairs, sign: Array) -> Bounds:
    """Return an interval without ends."""
    nothing = np.full((2, *pairs.delta.shape), np.nan)
    known = float(estimate(pairs, sign)), np.full(2, np.nan), {"standard_error": np.nan}, sign
    return Bounds(nothing, *known, p_value=nothing[0])


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
) -> Bounds:
    """Return the bounds that the verdict is about, as wide as few rows need, with their tests.

    They are those of resamples, or of the delta method if there are none.
    """
    level = options.confidence_level
    changed = changed_rows(cells, pairs)
    unit = units(cells, changed, changed_clusters(cells, pairs))
    how: dict[str, Any] = {"confidence_level": level}
    if drawn is None:
        bounds = analytic(cells, pairs, signs.used, **how)
    else:
        in_rows = pairs.rates is not None and pairs.rates.base is not None
        few = changed if in_rows else None
        how |= {"unit": unit, "simultaneous": options.simultaneous}
        bounds = percentiles(drawn, pairs, signs.used, few, **how)
    bounds = widen_degenerate(
        bounds,
        pairs,
        unit=unit,
        confidence_level=level,
        per_row=lambda: math.nan if changed is None else pairs_per_changed_row(cells, pairs),
    )
    bounds = with_errors_of_base(bounds, pairs, train, level)
    bounds = bounds._replace(ends=doubted(bounds.ends, signs.doubt(pairs), NO_DOUBT))
    if bounds.ends[1] < 0:  # does it reduce, or reverse?
        reach = predicted_interval(cells, pairs, bounds.sign, level)
        bounds = bounds._replace(statistics=bounds.statistics | reach)
    counted = None
    if changed is not None and cells.whole and cells.clusters is None and pairs.in_rows:
        counted = *changed, pairs.n
    n_resamples = None if drawn is None else options.n_resamples
    bounds = with_tests(bounds, pairs, counted, confidence_level=level, n_resamples=n_resamples)
    if not pairs.size:
        return bounds
    # The size of a change that may go either way may be 0.
    least = {"value_low": max(bounds.statistics["value_low"], 0.0)}
    return bounds._replace(
        pairs=np.stack(of_sizes(*bounds.pairs)),
        statistics=bounds.statistics | least,
        every=None if bounds.every is None else np.stack(of_sizes(*bounds.every)),
    )


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
