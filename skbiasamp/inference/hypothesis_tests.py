"""McNemar's exact test, and p-values of many tests at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.keywords import keywords
from skbiasamp.inference.intervals import interval_p_value

ADJUSTMENTS = ("holm", "fdr", None)


@keywords()
def paired_p_values(gained: Any, lost: Any) -> Any:
    """Compute p-values of McNemar's exact test of labels against predictions on the same rows.

    Use it to test if a model predicts a label more or less often than it occurs.

    .. versionadded:: 0.1

    Parameters
    ----------
    gained : array-like of int
        Number of rows with the label in the predictions only.
    lost : array-like of int
        Number of rows with the label in the true labels only.

    Returns
    -------
    p_values : ndarray or float
        Two-sided p-values; 1 if no row differs.

    Examples
    --------
    >>> from skbiasamp.inference import paired_p_values
    >>> float(paired_p_values(5, 0))
    0.0625
    """
    gained, lost = numbers_of(gained, "gained"), numbers_of(lost, "lost")
    for name, counts in (("gained", gained), ("lost", lost)):
        bad = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts)))
        if bad.any():
            text = "{name} must hold numbers of rows, whole and not negative; got {seen:.6g}."
            raise InputError(text, name=name, seen=counts[bad].flat[0])
    try:
        gained, lost = np.broadcast_arrays(gained, lost)
    except ValueError:
        text = "{gained} and {lost} must have one shape; got {n} and {m}."
        raise InputError(text, n=gained.shape, m=lost.shape) from None
    fewer, more = np.minimum(gained, lost), np.maximum(gained, lost)
    # The chance of at most `fewer` of all these rows, of which each is gained with probability ½.
    p_values = 2 * special.betainc(more, fewer + 1, 0.5)
    return np.minimum(np.where(more == 0, 1.0, p_values), 1.0)


@keywords()
def adjust_p_values(p_values: Any, method: str | None = "holm") -> Array:
    """Adjust p-values for multiple tests.

    .. versionadded:: 0.1

    Parameters
    ----------
    p_values : array-like
        p-values. Undefined ones (NaN) stay NaN and do not count.
    method : {"holm", "fdr", None}, default="holm"
        "holm": Holm's method, which controls the probability of any false rejection. "fdr":
        Benjamini and Hochberg's method, which controls the expected share of false rejections.
        None: no adjustment.

    Returns
    -------
    adjusted : ndarray
        In the shape of `p_values`.

    Examples
    --------
    >>> from skbiasamp.inference import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    check_option("method", method, ADJUSTMENTS)
    p_values = numbers_of(p_values, "p_values")
    outside = (p_values < 0) | (p_values > 1)
    if outside.any():
        text = "{p_values} must hold numbers from 0 to 1; got {seen:.6g}."
        raise InputError(text, seen=p_values[outside].flat[0])
    adjusted = p_values.copy()
    defined = ~np.isnan(p_values)
    tested = p_values[defined]
    if method is None or not tested.size:
        return adjusted
    if method == "fdr":
        adjusted[defined] = stats.false_discovery_control(tested)
        return adjusted
    order = np.argsort(tested, kind="stable")
    steps = tested[order] * np.arange(len(tested), 0, -1)
    holm = np.empty_like(tested)
    holm[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted[defined] = holm
    return adjusted


def bounds_and_tests(
    moved: Array,
    ends: Array,
    slopes: Array,
    changed: tuple[Array, Array, Array] | None,
    confidence_level: float,
    n_resamples: int | None = None,
) -> tuple[Array, Array]:
    """Return bounds, and p-values that are below α exactly where these exclude 0.

    `moved` are signed changes, `slopes` times a change of a rate. `changed` are the rows that each
    pair gained and lost, of how many, if these are independent whole rows: the test is then
    McNemar's exact one. If the bounds of resamples disagree with it, the end at 0 is that of the
    exact test: Clopper and Pearson's bounds of the share gained among the changed rows. Otherwise
    the p-value is that of the interval.
    """
    low, high = ends
    if changed is None:
        p_value = interval_p_value(moved, ends, confidence_level, n_resamples)
        return ends, np.where(slopes == 0, np.nan, p_value)
    gained, lost, n = changed
    p_value = np.where(np.isnan(moved) | (slopes == 0), np.nan, paired_p_values(gained, lost))
    significant = p_value < round(1 - confidence_level, 12)
    wrong = (significant != ((low > 0) | (high < 0))) & ~np.isnan(p_value)
    if not wrong.any():
        return ends, p_value
    tail, every = (1 - confidence_level) / 2, gained + lost
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(gained > 0, special.betaincinv(gained, lost + 1, tail), 0.0)
        most = np.where(lost > 0, special.betaincinv(gained + 1, lost, 1 - tail), 1.0)
        exact = np.stack([2 * least - 1, 2 * most - 1]) * np.where(n > 0, every / n, 0.0) * slopes
    exact = np.sort(exact, axis=0)
    below = np.where(significant, exact[0], np.minimum(exact[0], 0.0))
    above = np.where(significant, exact[1], np.maximum(exact[1], 0.0))
    low = np.where(wrong & (moved > 0), below, low)
    high = np.where(wrong & (moved < 0), above, high)
    return np.stack([low, high]), p_value


def normal_test(estimate: Any, variance: Any) -> Any:
    """Test that estimates are 0, by the delta method; NaN if there is no variance."""
    # If no row differs, sums of fractional weights leave rounding errors, in both.
    estimate = np.where(np.abs(estimate) <= 1e-12, 0.0, estimate)
    variance = np.where(variance <= 1e-24, 0.0, variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(estimate) / np.sqrt(variance)
    # Without any variation there is nothing to test with, unless nothing moved.
    p_values = np.where(np.isfinite(z), 2 * special.ndtr(-z), np.nan)
    return np.where((variance == 0) & (np.abs(estimate) == 0), 1.0, p_values)


def significant(p_adjusted: Any, low: Any, high: Any, confidence_level: float) -> Array:
    """Return which pairs differ from 0: by their adjusted p-value, or else by their interval.

    This is the one rule of sentences, pages and plots. NaN and None are no value.
    """
    p_adjusted, low, high = (np.asarray(values, dtype=float) for values in (p_adjusted, low, high))
    alpha = round(1 - confidence_level, 12)  # 1 - 0.95 is not 0.05
    return np.where(np.isnan(p_adjusted), (low > 0) | (high < 0), p_adjusted < alpha)
