"""Selection rates and impact ratios of the categories of each sensitive column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp.render.document import Document
from skbiasamp.results._shown import Paged

_MEASURES = ("selection_rate", "true_positive_rate", "false_positive_rate")


@dataclass(frozen=True, eq=False, repr=False)
class SelectionRates(Paged):
    """Selection rates and impact ratios of each sensitive column and of their combinations.

    `skbiasamp.selection_rates` returns it.

    .. versionadded:: 0.1

    Attributes
    ----------
    table : DataFrame
        One row a category and task: the sensitive column ``by``, the ``category``, its rows ``n``
        and their ``share``, the number ``selected``, the ``selection_rate`` and the
        ``impact_ratio`` with intervals (``_low``, ``_high``), and error rates if labels were
        given. ``impact_ratio_interval`` says what the interval of a ratio holds for: all categories
        of the column together. ``counted`` is False for categories that are left out of the
        ratios: unknown ones, and those with fewer rows than ``min_share``.
    context : dict
        Date, versions, and what was counted.

    Examples
    --------
    >>> import skbiasamp
    >>> rates = skbiasamp.selection_rates(
    ...     [1, 1, 0, 1, 0, 0], y_true=[1, 1, 0, 1, 1, 0], sensitive_features=list("aaabbb")
    ... )
    >>> rates.differences.round(3).T
                                       0
    by                             group
    task                               1
    demographic_parity_difference  0.333
    demographic_parity_ratio         0.5
    true_positive_rate_difference    0.5
    false_positive_rate_difference   0.0
    equalized_odds_difference        0.5
    """

    table: pd.DataFrame
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def differences(self) -> pd.DataFrame:
        """One row for each sensitive column and task: largest differences between categories.

        The names are those of Fairlearn. The equalized odds difference is the larger one of the
        differences in true and in false positive rate. Only categories in the ratios are compared.
        """
        return rate_differences(self.table)

    def to_document(self) -> Document:
        """Return what the rates say as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._selection_document import selection_document

        return selection_document(self)


def rate_differences(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest differences of rates between the categories of a table."""
    rows = []
    for keys, own in table[table["counted"]].groupby(
        [table["by"], table["task"].map(repr)], sort=False
    ):
        spans = {name: _span(own[name]) for name in _MEASURES if name in own}
        rates = own["selection_rate"].dropna()
        ratio = np.nan if not len(rates) or rates.max() == 0 else rates.min() / rates.max()
        row: dict[str, Any] = {
            "by": keys[0],
            "task": own["task"].iloc[0],
            "demographic_parity_difference": spans.pop("selection_rate"),
            "demographic_parity_ratio": ratio,
        }
        if spans:
            row |= {f"{name}_difference": span for name, span in spans.items()}
            row["equalized_odds_difference"] = max(spans.values())
        rows.append(row)
    return pd.DataFrame(rows)


def _span(rates: pd.Series[Any]) -> float:
    return float(rates.max() - rates.min())
