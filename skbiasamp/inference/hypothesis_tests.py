"""McNemar's exact test, and p-values of many tests at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import keywords

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


def significant(p_adjusted: Any, low: Any, high: Any, confidence_level: float) -> Array:
    """Return which pairs differ from 0: by their adjusted p-value, or else by their interval.

    This is the one rule of sentences, pages and plots. NaN and None are no value.
    """
    p_adjusted, low, high = (np.asarray(values, dtype=float) for values in (p_adjusted, low, high))
    alpha = round(1 - confidence_level, 12)  # 1 - 0.95 is not 0.05
    return np.where(np.isnan(p_adjusted), (low > 0) | (high < 0), p_adjusted < alpha)
