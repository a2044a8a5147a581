"""McNemar's exact test, p-values of many tests at once, and how many rows a test needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np
from scipy import special, stats

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Codes, side_of_model
from skbiasamp._input.options import keywords
from skbiasamp.counts.cells import labels_of, sides_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.counts.parts import differ
from skbiasamp.inference.influence import degrees_of_freedom

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


# --------------------------------------------------------------------------- changed rows


def n_changed(cells: Contingency, model: str, reference: str) -> float:
    """Return the number of rows, or clusters of them, that two models predict differently."""
    changed = _differ(cells, model, reference)
    if cells.clusters is None:
        return float(cells.rows @ changed)
    of, n = cells.clusters
    return float(n[np.unique(of[changed])].sum())


def _differ(cells: Contingency, model: str, reference: str) -> Array:
    of_task = side_of_model("task_pred", model) in sides_of(cells)
    return differ(cells, "task_pred" if of_task else "group_pred", model, reference)


@dataclass(frozen=True, eq=False)
class Churn:
    """How many rows of each group two models predict differently.

    `p_value` is that of the test that all groups have the same share of such rows.
    """

    n: Array
    changed: Array
    share: float
    p_value: float

    @property
    def shares(self) -> Array:
        """The share of each group's rows; NaN if it has none."""
        return np.divide(self.changed, self.n, out=np.full(len(self.n), np.nan), where=self.n > 0)


def churn_of(cells: Contingency, model: str, reference: str, *, tested: bool = True) -> Churn:
    """Count the rows whose prediction changed, of the task or else of the group.

    `tested` asks for the p-value that this share is the same in all groups.
    """
    changed = _differ(cells, model, reference)
    groups = labels_of(cells, "group")
    codes = Codes(np.where(changed, 0, -1), 1)
    n, moved = cells.count("group"), pair_sums(codes, groups, cells.weight)[0]
    table = np.stack([moved, n - moved]) * cells.units_per_weight
    table = table[:, table.sum(axis=0) > 0]
    p_value = float("nan")  # overlapping groups share rows, so that no test is valid
    if tested and not cells.indicator and table.shape[1] > 1:
        p_value = 1.0
        if (table.sum(axis=1) > 0).all():
            p_value = float(_homogeneity(table))
    return Churn(n, moved, float(cells.weight @ changed / cells.total), p_value)


def _homogeneity(table: Array) -> float:
    """Test that columns have the same shares: Fisher's exact test of two, else Pearson's χ².

    Where 1,000 rows or more are expected everywhere, both agree, and Pearson's is quicker.
    """
    expected = stats.contingency.expected_freq(table)
    if table.shape[1] == 2 and expected.min() < 1_000:
        return float(stats.fisher_exact(np.rint(table).astype(int)).pvalue)
    statistic = ((table - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, table.shape[1] - 1))


def check_share(name: str, value: object) -> float:
    """Return a number between 0 and 1 as a float, or raise."""
    if not isinstance(value, Real) or not 0 < cast(float, value) < 1:
        text = "{name} must be a number between 0 and 1; got {seen!r}."
        raise InputError(text, name=name, seen=value)
    return float(value)


@keywords()
def required_rows(
    effect: float,
    power: float = 0.8,
    *,
    changed: float | None = None,
    groups: Sequence[float] = (0.5, 0.5),
    result: Any = None,
    confidence_level: float = 0.95,
) -> int:
    """Compute how many rows an audit needs to find an amplification.

    Use it before you collect data. Pass `changed` for one binary label and direction group → task
    (A→T: does the group shift the predicted task?), or the `result` of a small audit for any
    metric. An amplification is found if its verdict is "amplifies".

    .. versionadded:: 0.1

    Parameters
    ----------
    effect : float
        The amplification to find, as the metric measures it: 0.02 is a change of 2 percentage
        points on average.
    power : float, default=0.8
        Probability that the audit finds it.
    changed : float, default=None
        Share of rows whose prediction differs from the label: 1 − accuracy. It is assumed to be
        equal in all groups, and the labels' rates to differ clearly between them.
    groups : sequence of float, default=(0.5, 0.5)
        Shares of two groups or more.
    result : AuditResult, default=None
        A small audit of such rows, in place of `changed` and `groups`. Rows of clusters are
        then expected to come in such clusters again.
    confidence_level : float, default=0.95
        Level of the interval. That of `result`, if there is one.

    Returns
    -------
    n_rows : int

    See Also
    --------
    skbiasamp.results.AuditResult.smallest_effect : The reverse, for an audit that was made.

    Examples
    --------
    >>> from skbiasamp.inference import required_rows
    >>> required_rows(0.02, changed=0.2)
    3935
    >>> required_rows(0.02, changed=0.2, groups=(0.9, 0.1))
    10994
    """
    power = check_share("power", power)
    confidence_level = check_share("confidence_level", confidence_level)
    if not isinstance(effect, Real) or not 0 < effect < math.inf:
        raise InputError("{effect} must be a positive number; got {seen!r}.", seen=effect)
    if (changed is None) == (result is None):
        raise InputError("Pass either {changed}, or the {result} of a small audit.")
    if result is not None:
        if not hasattr(result, "judged"):
            raise InputError("{result} must be an AuditResult; got {seen!r}.", seen=result)
        level = result.confidence_level
        least = smallest_effect(*result.judged[1:], power=power, confidence_level=level)
        error = result.statistics.get("standard_error", math.nan)
        if error > 0:
            # The ends of resamples are noisier than their standard deviation, and too short.
            tail = float(stats.norm.isf((1 - level) / 2))
            least = max(error * (tail + float(stats.norm.ppf(power))), least)
        if not least > 0:
            raise InputError("{result} has no confidence interval: audit with an interval.")
        return math.ceil(result.n_samples * (least / effect) ** 2)
    assert changed is not None
    if not isinstance(changed, Real) or not effect <= changed <= 1:
        raise InputError(
            "{changed} must be a share of rows of {effect} or more, since other rows add nothing "
            "to the amplification; got {seen!r}.",
            seen=changed,
        )
    shares = numbers_of(groups, "groups")
    if shares.ndim != 1 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            "{groups} must be positive shares that sum to 1; got {seen!r}.", seen=groups
        )
    if len(shares) < 2:
        text = "{groups} must be two shares or more, since groups are compared; got {seen!r}."
        raise InputError(text, seen=groups)
    plan = float(effect), float(changed), shares, confidence_level
    high = 2
    while _chance(high, *plan) < power:
        high *= 2
    low = high // 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _chance(middle, *plan) >= power else (middle + 1, high)
    return high


def _chance(n: int, effect: float, changed: float, shares: Array, confidence_level: float) -> float:
    """Return the chance that n rows show an effect: that the interval of the value excludes 0.

    The interval is that of `estimate`. Each group's rate changes by the effect.
    """
    expected = n * shares
    size = expected / (1 + (1 - shares) / expected)  # sizes of groups are random
    # Rows change by 1, −1 or 0: the variance, and what is to be squared for degrees of freedom.
    variance = changed - effect**2
    gained, lost = (changed + effect) / 2, (changed - effect) / 2
    fourth = gained * (1 - effect) ** 4 + lost * (1 + effect) ** 4 + (1 - changed) * effect**4
    few = 1 / (1 - np.minimum(1 / expected, 0.5))  # HC2
    # Half a row gained, and half a row lost.
    squares = (few * variance / size + 1 / size**2).sum()
    fourths = (few**2 * fourth / size**3 + 1 / (2 * size**4)).sum()
    df = degrees_of_freedom(squares, fourths)
    reach = -special.stdtrit(df, (1 - confidence_level) / 2) * squares**0.5
    with np.errstate(divide="ignore"):  # an effect that each row shows does not vary
        away = (len(shares) * effect - reach) / (variance / size).sum() ** 0.5
    return float(special.ndtr(away))


def smallest_effect(
    low: float, high: float, *, power: float, confidence_level: float | None
) -> float:
    """Return the smallest effect whose interval, as wide as this one, excludes 0 with `power`."""
    if confidence_level is None:
        return math.nan
    tail = float(stats.norm.isf((1 - confidence_level) / 2))
    return (high - low) / 2 * (1 + float(stats.norm.ppf(power)) / tail)
