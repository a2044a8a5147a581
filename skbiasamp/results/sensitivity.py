"""How many wrong labels, or how wrong a base, a verdict can bear."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import DIRECTION_OF

if TYPE_CHECKING:
    from skbiasamp.results._result import AuditResult


def bears_errors(result: AuditResult) -> bool:
    """Return whether it is known how the estimate of a result follows each rate of its base."""
    base = result.params.get("base")
    rates = result.kind.is_signed and result.percent and result.direction == "A->T"
    if base is None or not rates:
        return False
    pairs = _defined(result)
    by_task = pairs.groupby("task", sort=False)
    if pairs.empty or not np.allclose(by_task["n"].sum(), result.n_samples):
        return False
    # The overall rate moves by the group's share. Training rows have other shares, which do not
    # matter if the signs of a task add up to 0, as those of two groups do.
    from_training = isinstance(base, str) and base == "train"
    return not from_training or bool((by_task["sign_used"].sum() == 0).all())


def label_errors(result: AuditResult) -> pd.DataFrame:
    """Return by how much rates of the base must be wrong until the interval reaches 0."""
    if not bears_errors(result):
        raise InputError(
            "{name} needs changes of rates, A->T, of groups that do not overlap (with "
            "base='train' of two groups); got a result of {seen}.",
            name="sensitivity",
            seen=result.name,
        )
    pairs = _defined(result)
    ends = np.array([result.low, result.high])
    distance = ends[np.abs(ends).argmin()] if result.verdict in DIRECTION_OF else math.nan
    # A label that changes moves the rate of its group, and by the group's share that of everybody.
    total = pairs.groupby("task", sort=False)["sign_used"].transform("sum")
    slope = (pairs["sign_used"] - pairs["n"] / result.n_samples * total) / len(pairs)
    slope, base = slope * (1 if distance > 0 else -1), pairs["base"].to_numpy(float)
    too_low = slope > 0
    possible, moves = np.where(too_low, 1 - base, base), np.abs(slope)
    by_label, of_group = moves, slope.groupby(pairs["group"], sort=False)
    if np.allclose(pairs.groupby("group", sort=False)["base"].sum(), 1):
        # A wrong label of exclusive classes is taken from one and added to another.
        by_label = np.where(
            too_low, slope - of_group.transform("min"), of_group.transform("max") - slope
        )
    with np.errstate(divide="ignore"):
        change = abs(distance) / by_label
    # All rates at once: each moves as far as the others, or to 0 or 1.
    steps = np.unique([0.0, *possible])
    reached = [moves @ np.minimum(possible, step) for step in steps]
    every = np.interp(abs(distance), reached, steps, right=math.nan)
    table = pairs[["group", "task", "n"]].assign(
        label=np.where(too_low, "too rarely", "too often"),
        share=np.where(change <= possible, change, math.nan),
    )
    table = table.sort_values("share", kind="stable")
    whole = pd.DataFrame([("(all)", "(all)", result.n_samples, "either", every)])
    return pd.concat([whole.set_axis(table.columns, axis=1), table], ignore_index=True)


def _defined(result: AuditResult) -> pd.DataFrame:
    table = result.table
    return table[table["amplification"].notna()] if "sign_used" in table else table[:0]
