"""All that is known about how sure a result is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._labels import Array
from skbiasamp._sums import generator
from skbiasamp._warnings import UncertaintyWarning
from skbiasamp.contingency import Contingency
from skbiasamp.inference._intervals import (
    FEW,
    Bounds,
    Measure,
    analytic,
    bootstrap,
    widen_degenerate,
)
from skbiasamp.inference._tests import (
    adjust_p_values,
    moved_rows,
    pair_p_values,
    swap_p_values,
    value_p_value,
)
from skbiasamp.metrics._pairs import Pairs


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
