"""The interval and tests of a result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input import Array
from skbiasamp._sums import generator
from skbiasamp._warnings import UncertaintyWarning, warn
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.inference._clustered import units
from skbiasamp.inference._intervals import (
    FEW,
    Bounds,
    Measure,
    analytic,
    bootstrap,
    widen_degenerate,
)
from skbiasamp.inference._pairs import Pairs
from skbiasamp.inference._reference import ReferenceLabels
from skbiasamp.inference._tests import (
    adjust_p_values,
    changed_clusters,
    changed_rows,
    normal_p_values,
    pair_p_values,
    swap_p_values,
    value_p_value,
)


class Uncertainty(NamedTuple):
    """Interval, tests and warnings of a result."""

    bounds: Bounds
    p_value: Array
    p_adjusted: Array
    value_p_value: float


def assess(
    measure: Measure,
    paired: Measure,
    test: Contingency,
    pairs: Pairs,
    *,
    swaps: tuple[SideName, ...],
    labels: ReferenceLabels | None = None,
    interval: str,
    simultaneous: bool = False,
    n_resamples: int,
    confidence_level: float,
    adjust: str | None,
    random_state: Any,
    n_jobs: int | None,
) -> Uncertainty:
    """Give a measured value, and each of its pairs, an interval and a test.

    `measure` found `pairs` in the audited rows `test`, `paired` compares predictions with the
    labels of the same rows. `swaps` are the labels whose predictions take part.
    """
    nothing = np.full(pairs.delta.shape, np.nan)
    # Rows of sums cannot be drawn, and without rates there is no other way.
    unknown_how = test.summed == "tasks" and pairs.rates is None
    infinite = pairs.growth is not None and not np.isfinite(pairs.value)
    if np.isnan(pairs.delta).all() or unknown_how or infinite:
        unknown = Bounds(nothing, nothing, np.nan, np.nan, {"standard_error": np.nan})
        return Uncertainty(unknown, nothing, nothing, np.nan)
    cells = pairs.seen_in(test)
    rng = generator(random_state)
    changed = changed_rows(cells, pairs)
    unit = units(cells, changed, changed_clusters(cells, pairs))
    how: dict[str, Any] = {"confidence_level": confidence_level}
    if interval == "analytic" or test.summed == "tasks":
        # Rows of sums cannot be drawn.
        bounds = analytic(cells, pairs, **how)
    else:
        how |= {"n_resamples": n_resamples, "random_state": rng, "n_jobs": n_jobs}
        bounds = bootstrap(
            measure, test, pairs, changed, unit=unit, simultaneous=simultaneous, **how
        )
    bounds = widen_degenerate(bounds, pairs, unit=unit, confidence_level=confidence_level)
    if labels is not None:
        bounds = labels.widen(bounds, pairs, confidence_level=confidence_level)
    options: Any = {"n_draws": n_resamples, "random_state": rng}
    if bounds.p_value is not None:  # the test of the interval
        adjusted = adjust_p_values(bounds.p_value, adjust)
        return Uncertainty(bounds, bounds.p_value, adjusted, bounds.value_p_value)
    p_value, value_p = _test(paired, test, cells, pairs, changed, swaps, options)
    return Uncertainty(bounds, p_value, adjust_p_values(p_value, adjust), value_p)


def _test(
    paired: Measure,
    test: Contingency,
    cells: Contingency,
    pairs: Pairs,
    changed: tuple[Array, Array] | None,
    swaps: tuple[SideName, ...],
    options: Any,
) -> tuple[Array, float]:
    """Return p-values of every pair and of the value, that the model moves nothing."""
    nothing = np.full(pairs.delta.shape, np.nan), float("nan")
    tested = pairs if pairs.in_rows else paired(test)
    rates = tested.rates
    # Where predictions are in the condition, a row's part is no fixed score.
    fixed = tested.in_rows and rates is not None and not rates.observed[1].endswith("_pred")
    if fixed and not tested.size:
        value_p = value_p_value(cells, tested, **options)
        return pair_p_values(cells, tested, changed), value_p
    p_value, value_p = nothing
    if not (test.soft("task_pred") or test.soft("group_pred")):
        if test.summed != "tasks":
            p_value, value_p = swap_p_values(tested, paired, test, swaps, **options)
        elif rates is not None and tested.in_rows:
            p_value = normal_p_values(cells, tested)  # rows of sums cannot be swapped
    return (pair_p_values(cells, tested, changed) if fixed else p_value), value_p


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
