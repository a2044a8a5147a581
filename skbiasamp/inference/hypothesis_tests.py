"""McNemar's exact test, p-values of many tests at once, and a test of rows that models change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
