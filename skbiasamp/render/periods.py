"""A picture of a value over periods: its points, bands and events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array


class Picture(NamedTuple):
    """What a picture shows, by the positions of periods; numbers that lack are NaN."""

    names: list[str]
    value: Array
    low: Array
    high: Array
    span: Array  # the periods of the reference
    alarms: Array
    onset: int | None
    versions: list[tuple[int, Any]]  # where each begins
    ends: tuple[float, float]
    beyond: list[str]  # periods with numbers outside
    n_mean: int  # periods of a mean
    mean: Array

    @classmethod
    def of(
        cls, periods: pd.DataFrame, reference: float | None, onset: Any, versions: Any
    ) -> Picture:
        """Return the picture of a table of periods, some columns of which may lack."""
        names = [str(period) for period in periods["period"]]
        columns = periods.reindex(columns=[*_DRAWN, "alarm", "n"]).astype(float)
        *drawn, alarm, n = columns.to_numpy().T
        value, low, high, _ = drawn
        kept = np.append(np.stack(drawn)[:, typical(n)], np.nan if reference is None else reference)
        least, most = with_margins(kept[~np.isnan(kept)])
        beyond = ((np.stack(drawn) < least) | (np.stack(drawn) > most)).any(axis=0)
        role = periods["role"] if "role" in periods else np.array([""])
        return cls(
            names,
            value,
            low,
            high,
            np.flatnonzero(role == "reference"),
            np.flatnonzero((alarm == 1) & ~np.isnan(value)),
            names.index(str(onset)) if str(onset) in names else None,
            [(names.index(str(first)), name) for first, name in versions if str(first) in names],
            (least, most),
            [names[i] for i in np.flatnonzero(beyond)],
            *running_mean(value, n),
        )


def with_margins(numbers: Array) -> tuple[float, float]:
    """Return the ends of an axis for numbers."""
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    margin = 0.06 * (high - low) or 0.01
    return low - margin, high + margin


def typical(n: Iterable[float]) -> list[bool]:
    """Return which periods have about as many rows as most: others may not squeeze a picture."""
    every = list(n)
    known = sorted(rows for rows in every if rows > 0)
    least = _SMALL * known[len(known) // 2] if known else 0
    return [not rows < least for rows in every]  # of an unknown number, too


def running_mean(values: Array, n: Array) -> tuple[int, Array]:
    """Return means over the last periods, by their rows, and of how many: single ones vary much."""
    size = max(1, len(values) // _PARTS)
    value = pd.Series(values)
    rows = pd.Series(n).where(value.notna(), 0.0)
    total = rows.rolling(size).sum()
    sums = (value.fillna(0.0) * rows).rolling(size).sum()
    return size, (sums / total.where(total > 0)).to_numpy()


_DRAWN = ["value", "low", "high", "expected"]
_PARTS = 20
_SMALL = 0.1  # of the rows of the middle period
