"""Intervals of shares and of their ratios, which hold for few rows and for rates near 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skbiasamp._input import Array

_Z = float(stats.norm.isf(0.025))
_FURTHEST = 40.0  # logarithm of a ratio that no interval needs to exceed


def share_interval(k: Any, n: Any) -> tuple[Array, Array]:
    """Return Wilson's 95 % interval of k / n; NaN without rows."""
    k, n = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(n, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.clip(k / n, 0, 1)
        reach = _Z * np.sqrt(p * (1 - p) / n + (_Z / n) ** 2 / 4)
        low, high = ((p + _Z**2 / (2 * n) + side * reach) / (1 + _Z**2 / n) for side in (-1, 1))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)  # of rounding


def ratio_interval(k: Any, n: Any, k_base: Any, n_base: Any) -> tuple[Array, Array]:
    """Return Koopman's 95 % score interval of (k / n) / (k_base / n_base), two separate shares.

    The ratios that a score test does not reject. Unlike the interval of the logarithm (Katz), it
    holds for few rows and exists if k is 0. NaN if nobody of the base is selected.
    """
    given = (np.asarray(one, dtype=float) for one in (k, n, k_base, n_base))
    k, n, k_base, n_base = np.broadcast_arrays(*given)

    def score(log_ratio: Array) -> Array:
        """Difference of the shares at a ratio, in standard errors; it falls with the ratio."""
        ratio = np.exp(log_ratio)
        # The likeliest shares that have this ratio: the lower root of a quadratic equation, in the
        # form that does not cancel.
        a = (n + n_base) * ratio
        b = n * ratio + k + n_base + k_base * ratio
        base = 2 * (k + k_base) / (b + np.sqrt(np.maximum(b**2 - 4 * a * (k + k_base), 0)))
        own = np.minimum(ratio * base, 1)
        spread = own * (1 - own) / n + ratio**2 * base * (1 - base) / n_base
        difference = k / n - ratio * k_base / n_base
        return np.where(difference == 0, 0.0, difference / np.sqrt(spread))

    crossed = np.array([_Z, -_Z]).reshape(2, *[1] * k.ndim)
    low, high = (np.full((2, *k.shape), end) for end in (-_FURTHEST, _FURTHEST))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(60):
            middle = (low + high) / 2
            above = score(middle) > crossed
            low, high = np.where(above, middle, low), np.where(above, high, middle)
    known = (k_base > 0) & (n > 0)
    lower, upper = np.where(known, np.exp((low + high) / 2), np.nan)
    return np.where(known & (k == 0), 0.0, lower), upper
