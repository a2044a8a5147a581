"""What `cross_audit` returns of several estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from skbiasamp._utils.formatting import printable
from skbiasamp.results import (
    MODEL_COLUMNS,
    ComparisonResult,
    CrossAuditResult,
    without_equal_values,
)
from skbiasamp.results.exports import Exported

# An interval stands beside the number that it is of.
CROSS_COLUMNS = (*(name for name in MODEL_COLUMNS if name != "published"), "published")


@dataclass(frozen=True, eq=False, repr=False)
class CrossComparisonResult(Exported):
    """Estimators compared on the same folds, as returned by `cross_audit`.

    It holds two answers. ``table`` is about the estimators: would models trained on other samples
    of this size differ? ``pooled`` is about the models that were trained here.

    .. versionadded:: 0.1

    Attributes
    ----------
    reference : str
        The estimator that the others are compared with.
    table : DataFrame
        One row an estimator, the reference first: ``model``, its mean over folds ``value`` with
        ``low`` and ``high``, and ``published``; the mean ``difference`` of values to the reference
        on the same folds with ``difference_low``, ``difference_high`` and ``p_value``,
        ``p_adjusted`` (for the number of estimators), and ``changed``: the share of held-out rows
        with another prediction than the reference's.
    folds : DataFrame
        One row for each estimator, repeat and fold: ``model``, ``repeat``, ``fold``, ``n_train``,
        ``n_test``, ``value``, ``published``, and the ``difference`` to the reference on that fold.
    pooled : ComparisonResult
        All held-out predictions together (of the first repeat), compared on the same rows and
        resamples. Its intervals are those of the rows, given the models that were trained.
    audits : dict of str to CrossAuditResult
        The audit of each estimator.
    confidence_level : float
        Level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import cross_audit
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex / 2 + rng.normal(size=600) > 0).astype(int)
    >>> result = cross_audit(
    ...     {"tree": DecisionTreeClassifier(random_state=0), "linear": LogisticRegression()},
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     random_state=0,
    ... )
    >>> result
    directional A->T over 5 folds, compared with 'tree'
     model   value     low   high  difference  difference_low  difference_high  p_value  changed
      tree -0.0227 -0.0748 0.0294           -               -                -        -        -
    linear  0.0411  0.0108 0.0714      0.0638         -0.0049           0.1325   0.0654   0.2417
    pooled directional A->T, compared with 'tree' (600 rows)
    ...
    “linear” amplifies more than “tree”. The gap goes from 11.5 to 24.2 percentage points. Allowing
    for chance, the gap grows by 4.8 to 20.8 percentage points.
    """

    reference: str
    table: pd.DataFrame
    folds: pd.DataFrame
    pooled: ComparisonResult
    audits: dict[str, CrossAuditResult]
    confidence_level: float

    def __repr__(self) -> str:
        audit = self.audits[self.reference]
        title = f"{self.pooled.name} over {audit.over}, compared with {self.reference!r}"
        shown = without_equal_values(self.table)
        shown = shown.drop(columns=["p_adjusted"] if len(self.table) < 3 else [])
        options: dict[str, Any] = {"float_format": "{:.4f}".format, "na_rep": "-"}
        lines = [title, shown.to_string(index=False, **options), f"pooled {self.pooled}"]
        return printable("\n".join(lines))

    @property
    def _papers(self) -> list[str]:
        return [self.pooled.citation]
