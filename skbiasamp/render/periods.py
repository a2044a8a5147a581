"""Periods in pictures: which are typical, and means over the last ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd


def typical(n: Iterable[float]) -> list[bool]:
    """Return which periods have about as many rows as most: others may not squeeze a picture."""
    every = list(n)
    known = sorted(rows for rows in every if rows > 0)
    least = _SMALL * known[len(known) // 2] if known else 0
    return [rows >= least for rows in every]


def running_mean(values: Sequence[float | None], n: Sequence[float]) -> tuple[int, list[float]]:
    """Return means over the last periods, by their rows, and of how many: single ones vary much."""
    size = max(1, len(values) // _PARTS)
    value = pd.Series(np.array(values, dtype=float))
    rows = pd.Series(np.array(n, dtype=float)).where(value.notna(), 0.0)
    total = rows.rolling(size).sum()
    sums = (value.fillna(0.0) * rows).rolling(size).sum()
    return size, (sums / total.where(total > 0)).tolist()


_PARTS = 20
_SMALL = 0.1  # of the rows of the middle period
