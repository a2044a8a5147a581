"""Means over training runs, over draws of an attack, and differences of such means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array

METHODS = ("t", "runs")
_FEW = 10  # changed rows, of which resamples know too little


class Mean(NamedTuple):
    """A mean over runs, or a difference of two, with interval and test."""

    value: Any
    low: Any
    high: Any
    p_value: Any


def mean_of_runs(
    values: Array,
    rows: Any,
    *,
    other: Array | None = None,
    confidence_level: float,
    method: str = "t",
    df_of_rows: float = np.inf,
) -> Mean:
    """Return the mean over runs (the first axis), or its difference to that of an `other` training.

    The variance between runs already holds the noise of rows that runs do not share. So `rows`, the
    variance by rows, is the mean covariance between runs, not the variance of a run. Interval and
    test are those of Student's t; few runs know their own variance badly, and few rows or clusters
    theirs (`df_of_rows`). The method "runs" leaves the rows out, as papers do.
    """
    runs, tail = [part for part in (values, other) if part is not None], (1 - confidence_level) / 2
    value = np.asarray(values.mean(axis=0), dtype=float)
    if other is not None:
        value = value - other.mean(axis=0)
    parts = [each.var(axis=0, ddof=1) / len(each) for each in runs]
    between, rows = sum(parts), np.maximum(rows, 0.0)
    if method == "runs":
        rows = np.zeros_like(rows)
        df = np.full(np.shape(value), float(min(map(len, runs)) - 1))
    else:
        # Welch and Satterthwaite's degrees of freedom. If few runs vary little by chance, these
        # are too many: with 2 and 3 runs such intervals cover as little as 87 and 92 %. If the
        # variance of runs counts more, by how much longer its quantile is, 93 and 94 %.
        more = [special.stdtrit(len(each) - 1, tail) / special.ndtri(tail) for each in runs]
        counted = [times * part for times, part in zip(more, parts, strict=True)]
        squared = rows**2 / df_of_rows
        squared += sum(part**2 / (len(each) - 1) for part, each in zip(counted, runs, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(squared > 0, np.minimum((sum(counted) + rows) ** 2 / squared, 1e6), 1e6)
    times = -special.stdtrit(df, tail)
    reach = times * np.sqrt(between + rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(np.abs(value) <= 1e-12, 0.0, np.abs(value) / np.sqrt(between + rows))
    p_value = np.where(np.isnan(value) | np.isnan(reach), np.nan, 2 * special.stdtr(df, -away))
    return Mean(value, value - reach, value + reach, p_value)


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


def by_rows(resamples: Array, product: str = "nt,nt->t") -> Array:
    """Return the variance of resampled values (resamples, cuts into folds, values) by rows alone.

    If the rows of a resample are cut into folds at random, its values also vary by the cut, as
    the draws do that an estimate is a mean of: this must not count twice. Values of several cuts
    of the same rows have in common what rows do. The product "nt,nu->tu" gives the covariances.
    """
    n, n_cuts, _ = resamples.shape
    centred = resamples - resamples.mean(axis=0)
    whole = centred.sum(axis=1)
    squares = np.einsum(product, whole, whole)
    if n_cuts > 1:
        squares = squares - sum(np.einsum(product, cut, cut) for cut in np.moveaxis(centred, 1, 0))
    return np.asarray(squares / (max(n_cuts * (n_cuts - 1), 1) * (n - 1)))


def of_draws(
    values: Array,
    draws: Array,
    resamples: Array,
    folds: Array | None = None,
    *,
    confidence_level: float,
    n_changed: float | None = None,
    n_rows: int = 0,
) -> tuple[Array, Array, Array, Array]:
    """Return intervals of the means of `seen`, p-values that they are 0, and standard errors.

    All are (draws, targets). `draws` of folds, perturbations and training differ as those of
    `seen` do, and `resamples` (resamples, cuts into folds, targets) vary as rows do. Only their
    spread is used: resamples are biased as estimates are, and their percentiles were measured to be
    too short where few rows are wrong.
    If resamples do not train again, `folds` (draws, folds, targets) show how much training varies:
    Nadeau and Bengio's variance, with repeats as in Bouckaert and Frank (2004). If two
    models are compared, `n_changed` of `n_rows` predictions differ.
    """
    value, n_draws = values.mean(axis=0), len(draws)
    tail = (1 - confidence_level) / 2
    rows = np.maximum(by_rows(resamples), 0.0)
    noise = draws.var(axis=0, ddof=1) / len(values) if n_draws > 1 else np.zeros(value.shape)
    # Few draws, or folds, know their own variance badly: Welch and Satterthwaite's degrees of
    # freedom.
    squared = noise**2 / max(n_draws - 1, 1)
    if folds is not None:
        every = folds.reshape(-1, folds.shape[-1])
        trained = every.var(axis=0, ddof=1) * (1 / len(every) + 1 / (folds.shape[1] - 1))
        squared = squared + np.where(trained > rows, trained**2 / (len(every) - 1), 0.0)
        rows = np.fmax(rows, trained)
    error = np.sqrt(rows + noise)
    most = np.full(rows.shape, 1e6)
    df = np.minimum(np.divide(error**4, squared, out=most, where=squared > 0), 1e6)
    # Functions, not distributions: those check their arguments for longer than all else takes.
    reach = -special.stdtrit(df, tail) * error
    low, high = value - reach, value + reach
    # So far in the tails resamples know nothing.
    n, n_cuts, _ = resamples.shape
    least = 2 / (1 + n if n_cuts == 1 else n_cuts * n)
    away = np.divide(np.abs(value), error, out=np.full(value.shape, np.inf), where=error > 0)
    p_values = np.where(value == 0, 1.0, np.maximum(2 * special.stdtr(df, -away), least))
    if n_changed is not None and n_changed < _FEW:
        # Resamples know of no other changes than were seen: bounds of their number instead.
        unit = np.maximum(np.sqrt(rows / max(n_changed, 1)), 1 / n_rows)
        reach = unit * n_rows * _change_reach(n_changed, n_rows, tail)
        low, high = np.minimum(low, value - reach), np.maximum(high, value + reach)
        tails = _change_tails(n_changed, n_rows, np.abs(value) / (unit * n_rows))
        p_values = np.maximum(p_values, 2 * tails)
    if n_changed is not None:
        # If models are alike, each of these rows may as well be the other way round.
        alike = min(2.0 ** (1 - min(n_changed, 1000.0)), 1.0)
        p_values = np.maximum(p_values, alike)
        if alike >= 2 * tail:
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    return low, high, p_values, error


def _change_reach(changed: float, n: int, tail: Any) -> Array:
    """Return how far from changed / n the share of rows that are gained may be.

    Clopper and Pearson's exact bounds of the rows gained, and of those lost if none was; distances
    are squared and added (Zou and Donner 2008). The larger one of both sides is taken.
    """
    least = special.betaincinv(changed, n - changed + 1, tail) if changed > 0 else 0.0
    most = special.betaincinv(changed + 1, n - changed, 1 - tail) if changed < n else 1.0
    none = special.betaincinv(1, n, 1 - tail)
    return np.asarray(np.maximum(np.hypot(changed / n - least, none), most - changed / n))


def _change_tails(changed: float, n: int, reached: Array) -> Array:
    """Return the tails whose reach is as far as these distances: at most one half."""
    low, high = np.zeros(reached.shape), np.full(reached.shape, 0.5)
    for _ in range(60):
        middle = (low + high) / 2
        further = _change_reach(changed, n, middle) > reached
        low, high = np.where(further, middle, low), np.where(further, high, middle)
    return high
