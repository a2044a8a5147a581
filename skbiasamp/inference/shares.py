"""Intervals of shares, of their differences and of their ratios.

They hold for few rows and for rates near 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array

_Z = float(stats.norm.isf(0.025))
_HALVINGS = 36
_BLOCK = 1 << 13  # pairs at once: more do not stay in the processor's cache


def share_interval(share: Any, rows: Any, z: Any = _Z) -> tuple[Array, Array]:
    """Return Wilson's 95 % interval of a share of so many rows; NaN without rows."""
    share, n = np.broadcast_arrays(np.asarray(share, dtype=float), np.asarray(rows, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.clip(share, 0, 1)
        reach = z * np.sqrt(p * (1 - p) / n + (z / n) ** 2 / 4)
        low, high = ((p + z**2 / (2 * n) + side * reach) / (1 + z**2 / n) for side in (-1, 1))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)  # of rounding


def difference_interval(first: Sequence[Any], other: Sequence[Any]) -> tuple[Any, Any]:
    """Return Newcombe's interval of the difference of two shares, each with its own interval."""
    (share, low, high), (base, base_low, base_high) = first, other
    difference = share - base
    return (
        difference - np.hypot(share - low, base_high - base),
        difference + np.hypot(high - share, base - base_low),
    )


def differences_to_lowest(share: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Return how far each share is above the lowest of its task, and the limits of intervals.

    The intervals are Newcombe's, of two shares, and hold for all pairs of a task together (Tukey).
    Shares and their numbers of rows are categories × tasks; a NaN share is in no difference.
    """
    known = ~np.isnan(share)
    z = np.array([critical_values(int(n))[0] for n in known.sum(axis=0)])
    low, high = share_interval(share, rows, z)
    lowest = np.where(known, share, np.inf).argmin(axis=0)[None]
    base, base_low, base_high = (
        np.take_along_axis(values, lowest, axis=0) for values in (share, low, high)
    )
    low, high = difference_interval((share, low, high), (base, base_low, base_high))
    own = np.arange(len(share))[:, None] == lowest
    return share - base, np.where(own, np.nan, low), np.where(own, np.nan, high)


@lru_cache
def critical_values(n_categories: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return how many standard errors upper and lower limits of ratios to the highest are away.

    Any category may be the highest, so upper limits compare all pairs (Tukey). Lower limits can
    only fail against the category that is truly the highest: they get what is left of `alpha`.
    """
    if n_categories < 2:
        return np.nan, np.nan
    others = n_categories - 1
    upper = float(stats.studentized_range.isf(alpha, n_categories, np.inf)) / np.sqrt(2)
    left = alpha - others * stats.norm.sf(upper)
    return upper, float(stats.norm.isf(1 - (1 - left) ** (1 / others)))


def ratios_to_highest(
    share: Array, rows: Array, correlation: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return each share over the highest of its task, and the limits of 95 % intervals.

    The intervals are of the ratio to the category that truly has the highest share, which need not
    be the highest in the sample. They hold for all categories of a task together. With two
    categories they are score intervals of one ratio (Koopman, Gart and Nam), cut off at 1.

    Shares and their numbers of rows are categories × tasks; a NaN share is in no ratio. The
    `correlation` of shares is categories × categories × tasks, or None if there is none.
    """
    share, rows = np.asarray(share, dtype=float), np.asarray(rows, dtype=float)
    known = ~np.isnan(share)
    top = np.where(known, share, 0.0).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(known, share / top, np.nan)
    values = [critical_values(int(n)) for n in known.sum(axis=0)]
    upper, lower = np.array(values).reshape(-1, 2).T
    own, base, task = np.nonzero(
        known[:, None] & known[None] & ~np.eye(len(share), dtype=bool)[:, :, None]
    )
    together = 0.0 if correlation is None else correlation[own, base, task]
    pairs = _Pairs(share[own, task], rows[own, task], share[base, task], rows[base, task], together)
    low, high = np.ones(share.shape), np.ones(share.shape)
    # A share is below the highest if it is below any other. Any other may be the highest.
    np.minimum.at(high, (own, task), _limits(pairs, upper[task], -1))
    np.minimum.at(low, (own, task), _limits(pairs, lower[task], 1))
    bounded = ~np.isnan(ratio) & (known.sum(axis=0) > 1)
    low = np.where(share == 0, 0.0, low)
    return ratio, np.where(bounded, low, np.nan), np.where(bounded, high, np.nan)


class _Pairs(NamedTuple):
    """Pairs of shares: each share and its rows, another share and its rows, their correlation."""

    share: Array
    rows: Array
    base: Array
    base_rows: Array
    correlation: Array | float

    def take(self, at: Array) -> _Pairs:
        """Return some of the pairs."""
        return _Pairs(*(np.broadcast_to(part, self.share.shape)[at] for part in self))


def _limits(pairs: _Pairs, critical: Array, side: int) -> Array:
    """Return the lower (side 1) or upper (side -1) limit of each ratio, at most 1."""
    limit = np.ones(len(pairs.share))
    for first in range(0, len(limit), _BLOCK):
        block = np.arange(first, min(first + _BLOCK, len(limit)))
        # A share is too high for ratios below its lower limit, too low for those above its upper.
        reach = side * _score(pairs.take(block), limit[block], side) - critical[block]
        searched = block[side * reach <= 0]
        some, crossed = pairs.take(searched), side * critical[searched]
        low, high = np.zeros(len(searched)), np.ones(len(searched))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = _score(some, middle, side) > crossed
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        limit[searched] = (low + high) / 2
    return limit


def _score(pairs: _Pairs, ratio: Array, side: int) -> Array:
    """Return the difference of shares at a ratio, in standard errors; it falls with the ratio.

    It is Koopman's score, or the same corrected for skewness (Gart and Nam), whichever is less
    far to the side that is asked for: of few rows, each alone rejects too often at one side.
    """
    share, n, other, n_other, correlation = pairs
    both = share * n + other * n_other
    # The likeliest shares that have this ratio: the lower root of a quadratic equation, in the
    # form that does not cancel.
    a = (n + n_other) * ratio
    b = n * ratio + share * n + n_other + other * n_other * ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        base = np.minimum(2 * both / (b + np.sqrt(np.maximum(b**2 - 4 * a * both, 0))), 1)
        own = np.minimum(ratio * base, 1)
        parts = own * (1 - own) / n, ratio**2 * base * (1 - base) / n_other
        apart = parts[0] + parts[1]
        together = apart - 2 * correlation * np.sqrt(parts[0] * parts[1])
        spread = np.sqrt(np.maximum(together, 1e-12 * apart))
        difference = share - ratio * other
        score = np.where(difference == 0, 0.0, difference / spread)
        third = parts[0] * (1 - 2 * own) / n - ratio * parts[1] * (1 - 2 * base) / n_other
        skew = np.where(apart > 0, third / (6 * apart**1.5), 0.0)
        root = np.sqrt(np.maximum(1 + 4 * skew * (score + skew), 0))
        # Again in the form that does not cancel.
        corrected = 2 * (score + skew) / (1 + root)
    nearer = np.minimum if side == 1 else np.maximum
    return nearer(score, corrected) * np.sqrt(1 - 1 / np.maximum(n + n_other, 1))
