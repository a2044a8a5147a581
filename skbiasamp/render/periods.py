"""Periods in pictures: which are typical, and means over the last ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def typical(n: Iterable[float]) -> list[bool]:
    """Return which periods have about as many rows as most: others may not squeeze a picture."""
    every = list(n)
    held = sorted(one for one in every if one > 0)
    least = _SMALL * held[len(held) // 2] if held else 0
    return [one >= least for one in every]


def running_mean(values: Sequence[float | None], n: Sequence[float]) -> tuple[int, list[float]]:
    """Return means over the last periods, by their rows, and of how many: single ones vary much."""
    size = max(1, len(values) // _PARTS)
    held = [
        (0.0, 0.0) if one is None or math.isnan(one) else (one * m, m)
        for one, m in zip(values, n, strict=True)
    ]
    means = []
    for i in range(len(held)):
        last = held[i - size + 1 : i + 1] if i >= size - 1 else []
        total = sum(m for _, m in last)
        means.append(sum(one for one, _ in last) / total if total else math.nan)
    return size, means


_PARTS = 20
_SMALL = 0.1  # of the rows of the middle period
