"""Intervals of matched pairs."""

from typing import Any

import numpy as np
from scipy import special


def _z(level: float) -> float:
    return float(special.ndtri((1 + level) / 2))


def agreeing(p_values: Any, ends: Any, confidence_level: float) -> Any:
    """Return p-values of draws that are below α exactly where the interval excludes 0.

    Few draws, or few rows that widen the interval, may put the two on different sides.
    """
    alpha = round(1 - confidence_level, 12)
    below = np.minimum(p_values, np.nextafter(alpha, 0))
    excluded = (np.asarray(ends[0]) > 0) | (np.asarray(ends[1]) < 0)
    return np.where(excluded, below, np.maximum(p_values, alpha))


def interval_p_value(
    value: Any, ends: Any, confidence_level: float, n_resamples: int | None = None
) -> Any:
    """Return the p-value that a number is 0, which is below α where its interval excludes 0.

    It is that of the normal distribution whose quantiles are the ends of the interval. Resamples
    do not know of smaller chances than one in their number.
    """
    value, low, high = (np.asarray(number, dtype=float) for number in (value, *ends))
    z = _z(confidence_level)
    reach = np.maximum(np.where(value > 0, value - low, high - value), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * special.ndtr(-z * np.abs(value) / reach)
    least = 0.0 if n_resamples is None else 1 / (1 + n_resamples)
    if least < round(1 - confidence_level, 12):
        p_values = np.maximum(p_values, least)
    p_values = np.where(np.abs(value) <= 1e-12, 1.0, p_values)
    return np.where(np.isnan(value) | np.isnan(low) | np.isnan(high), np.nan, p_values)
