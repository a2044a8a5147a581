"""Differences between groups within matched pairs, with what their intervals rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import (
    amount,
    group_of,
    name_of,
    p_equals,
    points,
    rate,
    task_of,
)
from skbiasamp.render.document import Bullets, Document, Section
from skbiasamp.results._content import LIMITS, in_points, interval_in_words
from skbiasamp.results._shown import Paged, frame_table
from skbiasamp.results.pair_tables import row_of

_SHOWN = ("model", "group", "other", "task", "n_pairs", "mean", "mean_other", "difference", "low",
          "high", "p_value", "ratio")  # fmt: skip
_HEADINGS = {"n_pairs": "Pairs", "mean_other": "Mean of other", "p_value": "p-value"}


@dataclass(frozen=True, eq=False, repr=False)
class GroupDifferences(Paged):
    """Differences between groups within matched pairs.

    `MatchedPairsAuditor.audit` returns it.

    .. versionadded:: 0.2

    Attributes
    ----------
    table : DataFrame
        One row for each two groups and task: ``group`` and ``other``, the ``mean`` of each and
        their ``difference`` (group minus other), with ``standard_error``, interval (``low``,
        ``high``), ``p_value``, ``p_adjusted`` and the ``test``, ``n_pairs`` that have both groups
        and ``n_unmatched`` that have one of them, in how many pairs the group is ``higher`` and
        ``lower``, and the ``ratio`` with its interval.
    confidence_level : float
        Level of the intervals.
    group_columns : tuple
        Names of the sensitive columns, empty if they have none.
    percent : bool
        Whether predictions are 0 or 1, so that means are shares.
    title : str
        What was audited.
    notes : tuple of str
        What limits these numbers.

    Examples
    --------
    >>> from skbiasamp.metrics import MatchedPairsAuditor
    >>> invited = [1, 1, 1, 0, 0, 0, 0, 0]
    >>> name = ["Emily", "Lakisha"] * 4
    >>> advert = [1, 1, 2, 2, 3, 3, 4, 4]
    >>> result = MatchedPairsAuditor().audit(invited, sensitive_features=name, pairs=advert)
    >>> float(result)
    0.25
    """

    table: pd.DataFrame
    confidence_level: float
    group_columns: tuple[Any, ...] = ()
    percent: bool = True
    title: str = "Differences between groups"
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        if len(self.table) > 1:
            text = "There are {n} differences, and a number is one of them: read {table}."
            raise InputError(text, n=len(self.table))
        return float(self.table["difference"].iloc[0])

    @property
    def sentence(self) -> str:
        """What the table says of each two groups and task."""
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        return [self._of_row(row_of(self.table, i)) for i in range(len(self.table))]

    def _of_row(self, row: dict[str, Any]) -> str:
        group, other = (group_of(row[name], self.group_columns) for name in ("group", "other"))
        task = f", '{task_of(row['task'])}'" if self.table["task"].nunique() > 1 else ""
        if row["n_pairs"] == 0:
            return f"No pair has both {group} and {other}."
        if "model" in row:
            return self._of_model(row, f"{group} minus {other}{task}")
        difference, means = row["difference"], (row["mean"], row["mean_other"])
        side = "lower" if difference < 0 else "higher"
        # The difference of the rates that are shown, so that a reader can check it.
        shown = round(means[0], 3) - round(means[1], 3)
        size = points(shown) if self.percent else amount(abs(difference))
        first, second = map(rate if self.percent else amount, means)
        sure = "No clear difference" if row["low"] <= 0 <= row["high"] else "A difference"
        if math.isnan(row["low"]):
            sure = "Too few pairs for an interval"
        return (
            f"{sure}{task}: within {row['n_pairs']:,.0f} pairs, predictions for {group} are {size} "
            f"{side} than for {other} on average ({self._tested(row)}). The means are {first} and "
            f"{second}."
        )

    def _of_model(self, row: dict[str, Any], what: str) -> str:
        """Return how a model's difference differs from that of the reference."""
        names = ("mean", "mean_other", "difference")
        own, before, change = (self._form(row[name]) for name in names)
        unit = " percentage points" * self.percent
        sure = "No clear change" if row["low"] <= 0 <= row["high"] else "A change"
        return (
            f"{sure} by '{name_of(row['model'])}': within {row['n_pairs']:,.0f} pairs, the "
            f"difference {what} is {own}{unit}, and {before} by the reference: {change} "
            f"({self._tested(row)})."
        )

    def _tested(self, row: dict[str, Any]) -> str:
        ends = row["low"], row["high"]
        interval = interval_in_words(self.confidence_level, *ends, self._form)
        return f"{interval}, {p_equals(row['p_value'])}"

    def _form(self, value: Any) -> str:
        """Return a difference as sentences have it, in percentage points if it is of rates."""
        return in_points(value) if self.percent else amount(value, "+")

    def to_document(self) -> Document:
        """Return sentences and tables as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        shown = [name for name in _SHOWN if name in self.table]
        if self.table["task"].nunique() == 1:
            shown.remove("task")
        columns = self.group_columns
        names = {"mean": "difference", "mean_other": "reference", "difference": "change"}
        names = names if "model" in self.table else {}
        named = {
            side: [group_of(group, columns) for group in self.table[side]]
            for side in ("group", "other")
        }
        differences = self.table[shown].assign(**named).rename(columns=names)
        tables = [frame_table(differences, "Differences of two groups", _heading)]
        sentences = Bullets.of(self._sentences())
        notes = Bullets.of(self.notes)
        sections = [Section("Result", [sentences], "verdict", leading=True)]
        sections += [Section("Numbers", tables, "tables"), Section(LIMITS, [notes], "limits")]
        return Document(self.title, sections)


def _heading(name: str) -> str:
    return _HEADINGS.get(name, name.replace("_", " ").capitalize())


def differences_section(differences: GroupDifferences | None) -> Section:
    """Return what matched pairs say if there are any."""
    document = Document("", []) if differences is None else differences.to_document()
    items = [item for part in document.sections for item in part.items]
    return Section(document.title, items, "pairs", leading=True)
