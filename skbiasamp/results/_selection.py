"""Selection rates and impact ratios of the categories of each sensitive column."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._io.writing import written
from skbiasamp._utils.formatting import printable
from skbiasamp.results._json import as_json

_MEASURES = ("selection_rate", "true_positive_rate", "false_positive_rate")
_SHOWN = ("n", "selected", "selection_rate", "impact_ratio")


@dataclass(frozen=True, eq=False, repr=False)
class SelectionRates:
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

    def to_html(self, path: Any = None) -> str:
        """Return one self-contained page, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, optional
            Where to write.

        Returns
        -------
        text : str
        """
        from skbiasamp.render import selection_page

        content = {"context": as_json(self.context), "selection": as_json(self.table)}
        content["differences"] = as_json(self.differences)
        return written(selection_page(content), path)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        rated = self.table.loc[:, [*self._names, *_SHOWN]]
        shown = rated.to_string(index=False, float_format="{:.4g}".format, na_rep="-")
        low, high = self.table["impact_ratio_low"], self.table["impact_ratio_high"]
        below = int((self.table["impact_ratio"] < 0.8).sum())
        sure = int((high < 0.8).sum())
        across = int(((low <= 0.8) & (high >= 0.8)).sum())
        task = self.table["task"].iloc[0]
        if not self._several and isinstance(task, str) and task != "1":
            # Of two classes the one that sorts last may be "rejected".
            shown += f"\nSelected: predicted {task!r}."
        return printable(
            f"{shown}\nImpact ratios below 0.8: {below} (whole interval: {sure}). "
            f"Intervals that include 0.8: {across}.\n"
            "Intervals of impact ratios are simultaneous: they hold for all categories of a column."
        )

    @property
    def _several(self) -> bool:
        """Whether there are several tasks."""
        return bool(self.table["task"].map(repr).nunique() > 1)

    @property
    def _names(self) -> list[str]:
        return ["by", "category", *(["task"] if self._several else [])]


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
