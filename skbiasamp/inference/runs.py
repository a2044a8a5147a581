"""Means over training runs, and differences of such means, on the same rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array, check_option

METHODS = ("t", "normal")


class Mean(NamedTuple):
    """A mean over runs, or a difference of two, with interval, test and both sources of error.

    `between` is its variance by runs, and `rows` that by the audited rows.
    """

    value: Any
    low: Any
    high: Any
    p_value: Any
    between: Any
    rows: Any


def mean_of_runs(values: Array, rows: Any, *, confidence_level: float, method: str = "t") -> Mean:
    """Return the mean over runs (the first axis); `rows` is its variance by resampled rows.

    The variance between runs already holds the noise of rows that runs do not share. So `rows` is
    the mean covariance between runs, not the variance of a run.
    """
    between = values.var(axis=0, ddof=1) / len(values)
    squared = between**2 / (len(values) - 1)
    return _tested(values.mean(axis=0), between, squared, rows, confidence_level, method)


def difference_of_means(
    own: Array, other: Array, rows: Any, *, confidence_level: float, method: str = "t"
) -> Mean:
    """Return the difference of the means of two training procedures with runs of their own."""
    parts = [runs.var(axis=0, ddof=1) / len(runs) for runs in (own, other)]
    squared = sum(part**2 / (len(runs) - 1) for part, runs in zip(parts, (own, other), strict=True))
    gap = own.mean(axis=0) - other.mean(axis=0)
    return _tested(gap, parts[0] + parts[1], squared, rows, confidence_level, method)


def shared_rows(covariance: Array) -> float:
    """Return the variance by rows of a mean over runs: the mean covariance between two runs.

    `covariance` (runs × runs) is that of their values, by resampled rows.
    """
    n = len(covariance)
    return max(float((covariance.sum() - np.trace(covariance)) / (n * (n - 1))), 0.0)


def shared_rows_of_difference(covariance: Array, n: int) -> float:
    """Return the variance by rows of the difference between the mean of `n` runs and the others'.

    It is paired: all runs predict the same rows.
    """
    own, other = shared_rows(covariance[:n, :n]), shared_rows(covariance[n:, n:])
    return max(own + other - 2 * float(covariance[:n, n:].mean()), 0.0)


def _tested(
    value: Any, between: Any, squared: Any, rows: Any, confidence_level: float, method: str
) -> Mean:
    """Return the interval and test of Student's t; few runs know their own variance badly."""
    check_option("method", method, METHODS)
    value, between = np.asarray(value, dtype=float), np.asarray(between, dtype=float)
    total = between + np.maximum(rows, 0.0)
    df = np.full(np.shape(total), 1e6)
    if method == "t":  # Welch and Satterthwaite's degrees of freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(np.asarray(squared) > 0, np.minimum(total**2 / squared, 1e6), 1e6)
    error = np.sqrt(total)
    reach = -special.stdtrit(df, (1 - confidence_level) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(np.abs(value) <= 1e-12, 0.0, np.abs(value) / error)
    p_value = np.where(np.isnan(value) | np.isnan(error), np.nan, 2 * special.stdtr(df, -away))
    return Mean(value, value - reach, value + reach, p_value, between, total - between)
