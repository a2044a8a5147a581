"""How many wrong labels, or how wrong a base, a verdict can bear."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import DIRECTION_OF

if TYPE_CHECKING:
    from skbiasamp.results._result import AuditResult


def bears_errors(result: AuditResult) -> bool:
    """Return whether it is known how the value of a result follows each rate of its base."""
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
    return not from_training or bool((by_task["sign_weight"].sum() == 0).all())


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
    total = pairs.groupby("task", sort=False)["sign_weight"].transform("sum")
    slope = (pairs["sign_weight"] - pairs["n"] / result.n_samples * total) / len(pairs)
    slope, base = slope * (1 if distance > 0 else -1), pairs["base"].to_numpy(float)
    too_low = (slope > 0).to_numpy()
    possible, moves = np.where(too_low, 1 - base, base), np.abs(slope).to_numpy()
    of_groups = pairs.groupby("group", sort=False)
    exclusive, group = np.allclose(of_groups["base"].sum(), 1), of_groups.ngroup().to_numpy()
    slopes, shares = slope.to_numpy(), []
    for i in range(len(pairs)):
        gains, labels = moves[i : i + 1], possible[i : i + 1]
        if exclusive:  # a wrong label is taken from one class and added to another
            others = group == group[i]
            gains = slopes[i] - slopes[others] if too_low[i] else (slopes[others] - slopes[i]).max()
            labels = base[others] if too_low[i] else labels
        shares.append(_least(abs(distance), np.atleast_1d(gains), labels))
    # All rates at once: each moves as far as the others, or to 0 or 1.
    steps = np.unique([0.0, *possible])
    reached = [moves @ np.minimum(possible, step) for step in steps]
    every = np.interp(abs(distance), reached, steps, right=math.nan)
    table = pairs[["group", "task", "n"]].assign(
        label=np.where(too_low, "too rarely", "too often"),
        share=shares,
    )
    table = table.sort_values("share", kind="stable")
    whole = pd.DataFrame([("(all)", "(all)", result.n_samples, "either", every)])
    return pd.concat([whole.set_axis(table.columns, axis=1), table], ignore_index=True)


def _least(distance: float, gains: Array, labels: Array) -> float:
    """Return the least share of labels that is worth a distance: those that gain most come first.

    `labels` are the shares that there are of each gain.
    """
    order = np.argsort(-gains)[: int((gains > 1e-12).sum())]
    reached = np.cumsum(np.append(0, gains[order] * labels[order]))
    if not distance <= reached[-1]:
        return math.nan
    return float(np.interp(distance, reached, np.cumsum(np.append(0, labels[order]))))


def _defined(result: AuditResult) -> pd.DataFrame:
    table = result.table
    return table[table["amplification"].notna()] if "sign_weight" in table else table[:0]
