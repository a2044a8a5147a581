"""Rows that two models predict differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, side_of_model
from skbiasamp.counts.cells import labels_of, sides_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.counts.several_models import differ


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
