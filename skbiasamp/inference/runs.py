"""Means over training runs, and differences of such means, on the same rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array, check_option
from skbiasamp.inference.independent_signs import NO_DOUBT, Doubt, doubted

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


def mean_of_runs(
    values: Array,
    rows: Any,
    *,
    confidence_level: float,
    method: str = "t",
    doubt: Doubt = NO_DOUBT,
) -> Mean:
    """Return the mean over runs (the first axis); `rows` is its variance by resampled rows.

    The variance between runs already holds the noise of rows that runs do not share. So `rows` is
    the mean covariance between runs, not the variance of a run.
    """
    return _tested(values.mean(axis=0), [values], rows, confidence_level, method, (doubt, NO_DOUBT))


def difference_of_means(
    own: Array,
    other: Array,
    rows: Any,
    *,
    confidence_level: float,
    method: str = "t",
    doubts: tuple[Doubt, Doubt] = (NO_DOUBT, NO_DOUBT),
) -> Mean:
    """Return the difference of the means of two training procedures with runs of their own."""
    gap = own.mean(axis=0) - other.mean(axis=0)
    return _tested(gap, [own, other], rows, confidence_level, method, doubts)


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
    value: Any,
    runs: list[Array],
    rows: Any,
    confidence_level: float,
    method: str,
    doubts: tuple[Doubt, Doubt],
) -> Mean:
    """Return the interval and test of Student's t; few runs know their own variance badly."""
    check_option("method", method, METHODS)
    value, tail = np.asarray(value, dtype=float), (1 - confidence_level) / 2
    parts = [each.var(axis=0, ddof=1) / len(each) for each in runs]
    between, rows = sum(parts), np.maximum(rows, 0.0)
    df = np.full(np.shape(value), 1e6)
    if method == "t":
        # Welch and Satterthwaite's degrees of freedom. Where few runs vary little by chance, these
        # are too many: with 2 and 3 runs such intervals cover as little as 87 and 92 %. If the
        # variance of runs counts more, by how much longer its quantile is, 93 and 94 %.
        more = [special.stdtrit(len(each) - 1, tail) / special.ndtri(tail) for each in runs]
        counted = [times * part for times, part in zip(more, parts, strict=True)]
        squared = sum(part**2 / (len(each) - 1) for part, each in zip(counted, runs, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(squared > 0, np.minimum((sum(counted) + rows) ** 2 / squared, 1e6), 1e6)
    times = -special.stdtrit(df, tail)
    reach = times * np.sqrt(between + rows)
    low, high = doubted(value - reach, value + reach, *doubts)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = times * np.abs(value) / np.where(value > 0, value - low, high - value)
    away = np.where(np.abs(value) <= 1e-12, 0.0, away)
    p_value = np.where(np.isnan(value) | np.isnan(reach), np.nan, 2 * special.stdtr(df, -away))
    return Mean(value, low, high, p_value, between, rows)
