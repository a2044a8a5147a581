"""Selection rates and impact ratios of the categories of each sensitive column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING
from skbiasamp._utils.formatting import count, group_of, name_of, number, rate, task_of
from skbiasamp.inference.shares import critical_values
from skbiasamp.render.document import Axis, Bullets, Cell, Document, Item, Section, Table, Text
from skbiasamp.render.facts import express
from skbiasamp.results._content import (
    Cells,
    document_of,
    estimates_table,
    only_task,
    record,
    table_columns,
    with_interval,
)
from skbiasamp.results.exports import Paged, records

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
        ratios: unknown ones, and those with fewer rows than ``min_share``. With
        ``missing="bounds"``, ``_lowest`` and ``_highest`` are bounds of rates and ratios if unknown
        rows belonged to any category, and ``impact_ratio_turned_by`` is how few of them move a
        ratio across 0.8.
    context : dict
        Date, versions, and what was counted.

    Examples
    --------
    >>> import skbiasamp
    >>> rates = skbiasamp.selection_rates(
    ...     [1, 1, 0, 1, 0, 0], y_true=[1, 1, 0, 1, 1, 0], sensitive_features=list("aaabbb")
    ... )
    >>> rates.differences[["demographic_parity_difference", "demographic_parity_ratio"]].round(3)
       demographic_parity_difference  demographic_parity_ratio
    0                          0.333                       0.5
    """

    table: pd.DataFrame
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def differences(self) -> pd.DataFrame:
        """One row for each sensitive column and task: largest differences between categories.

        The names are those of Fairlearn. The equalized odds difference is the larger one of the
        differences in true and in false positive rate. Only categories in the ratios are compared.
        The 95 % intervals of differences (``_low``, ``_high``) hold for all pairs of categories of
        a column together.
        """
        rows, table = [], self.table
        for keys, own in table[table["counted"]].groupby(
            [table["by"], table["task"].map(repr)], sort=False
        ):
            spans = {name: _span(own, name) for name in _MEASURES if name in own}
            rates = own["selection_rate"].dropna()
            ratio = np.nan if not len(rates) or rates.max() == 0 else rates.min() / rates.max()
            row: dict[str, Any] = {
                "by": keys[0],
                "task": own["task"].iloc[0],
                **_named("demographic_parity", spans.pop("selection_rate")),
                "demographic_parity_ratio": ratio,
            }
            for name, span in spans.items():
                row |= _named(name, span)
            if spans:
                row |= _named("equalized_odds", _larger(list(spans.values()), len(own)))
            rows.append(row)
        return pd.DataFrame(rows)

    def to_document(self) -> Document:
        """Return what the rates say as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        context, rows = self.context, records(self.table)
        task = only_task(row["task"] for row in rows)
        scored = "score" in context.get("selected", "")
        selected = express("selection", "selected", task, scored)
        task = "a score above the median" if scored else task
        tables = selection_tables(rows, context.get("group_columns", ()), task)
        opening: list[Item | None] = [Text(selected)]
        known = [row for row in rows if row["impact_ratio"] is not None]
        below = [row for row in known if row["impact_ratio"] < FOUR_FIFTHS]
        if below:
            below.sort(key=lambda row: row["impact_ratio_high"] or 0)  # beyond chance first
            names = [
                f"{name_of(row['by'])}: {group_of(row['category'])}, "
                + "{} ({} to {})".format(*(number(row[end], ".2f") for end in _RATIO))
                for row in below[:_MOST_BELOW]
            ]
            more = len(below) - _MOST_BELOW
            opening += [
                Text(express("selection", "some_below")),
                Bullets.of(names),
                Text(express("selection", "more", more), quiet=True) if more > 0 else None,
            ]
        else:
            opening.append(Text(express("selection", "none_below", len(known))))
        opening += [Text(text) for text in _unknown(rows)]
        together = Text(express("selection", "together"), quiet=True)
        kinds = context.get("min_share"), context.get("n_clusters")
        limits = []
        for i in range(6):
            lead, text = (express("selection", "limit", i, part, *kinds) for part in (0, 1))
            limits.append(Text(text, lead))
        return document_of(
            context,
            express("selection", "title_of_page"),
            sections=[
                Section(express("selection", "below"), opening, "verdict"),
                Section(express("selection", "tables"), [*tables, together], "tables"),
                _differences(records(self.differences)),
                Section(express("selection", "limits"), [Bullets(limits)], "limits", only="page"),
                record(context, context.get("data_files", ())),
            ],
        )


def _span(table: pd.DataFrame, name: str) -> tuple[float, float, float]:
    """Return how far the highest rate is above the lowest, with its interval if there is one."""
    rates = table[name]
    # The last of equal rates, as the first is the lowest.
    highest: dict[Any, Any] = table.iloc[-1 - int(rates.fillna(-1)[::-1].argmax())].to_dict()
    low, high = (highest.get(f"{name}_difference_{end}", np.nan) for end in ("low", "high"))
    if rates.notna().sum() < 2 <= len(rates):
        return np.nan, np.nan, np.nan
    return float(rates.max() - rates.min()), low, high


def _larger(
    spans: Sequence[tuple[float, float, float]], n_categories: int
) -> tuple[float, float, float]:
    """Return the larger of two differences: its interval holds whichever of them it is."""
    if any(np.isnan(value) for value, *_ in spans):
        return np.nan, np.nan, np.nan
    both, one = (critical_values(n_categories, alpha)[0] for alpha in (0.025, 0.05))
    lows = [value - (value - low) * both / one for value, low, _ in spans]
    highs = [value + (high - value) * both / one for value, _, high in spans]
    ends = np.clip([np.max(lows), np.max(highs)], -1.0, 1.0)
    return max(value for value, *_ in spans), float(ends[0]), float(ends[1])


def _named(name: str, span: tuple[float, float, float]) -> dict[str, float]:
    return dict(
        zip((f"{name}_difference{end}" for end in ("", "_low", "_high")), span, strict=True)
    )


FOUR_FIFTHS = 0.8
_MOST_BELOW = 10
_RATIO = ("impact_ratio", "impact_ratio_low", "impact_ratio_high")
_RATE = ("selection_rate", "selection_rate_low", "selection_rate_high")
_TITLES = {
    "demographic_parity_difference": "Selection rate difference",
    "demographic_parity_ratio": "Lowest impact ratio",
    "true_positive_rate_difference": "True positive rate difference",
    "false_positive_rate_difference": "False positive rate difference",
    "equalized_odds_difference": "Equalized odds difference",
}


def selection_tables(
    rows: list[dict[str, Any]], columns: Any, selected: str = "", *, ratios: bool = True
) -> list[Table]:
    """Return one table a sensitive column, its categories in the order of the data.

    `selected` says which rows are: by default, those of the only task. Without `ratios`, as nobody
    said what people want, the tables have rates alone.
    """
    selected = selected or only_task(row["task"] for row in rows)
    return [
        _table(i, by, [row for row in rows if row["by"] == by], columns, selected, ratios=ratios)
        for i, by in enumerate(dict.fromkeys(row["by"] for row in rows), 1)
    ]


def _table(
    i: int, by: str, rows: list[dict[str, Any]], columns: Any, selected: str, *, ratios: bool
) -> Table:
    # A few wide intervals would press all others together: their lines end at the margin.
    known = [row[end] for row in rows for end in _RATIO if row[end] is not None]
    axis = Axis.around([min(ratio, 2.0) for ratio in known] + [1.0], limit=FOUR_FIFTHS)
    drawn = _RATIO if ratios else _RATE

    def named(row: dict[str, Any]) -> dict[str, Any]:
        name = [group_of(row["category"], columns if isinstance(row["category"], list) else ())]
        name += [] if selected else [task_of(row["task"])]
        notes = () if row["counted"] or not ratios else ("not in the ratios",)
        says = number(row["impact_ratio"], ".2f") if ratios else rate(row["selection_rate"])
        return {"name": " · ".join(name), "side": "plain", "says": says, "notes": notes}

    rates = ("Rows", "Share of rows", "Selected", "Selection rate", "Impact ratio" * ratios)
    errors = ("True positive rate", "False positive rate") * ("true_positive_rate" in rows[0])
    rule: Cells = {"Four-fifths rule": _four_fifths} if ratios else {}
    rule |= {"Bounds of the ratio": _bounds} if "impact_ratio_lowest" in rows[0] else {}
    return estimates_table(
        rows,
        table_columns(*rates, rule, *errors),
        named,
        drawn,
        id=f"selection-{i}",
        caption=express("selection", "table", name_of(by), ratios, hold_together(rows), selected),
        first="Category",
        marks="Impact ratio" if ratios else "Selection rate",
        axis=axis if ratios else Axis(0.0, 1.0, percent=True),
        brief=("Rows", "Selected", "Selection rate", "Impact ratio"),
    )


def hold_together(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether intervals of impact ratios hold for all rows of a task together."""
    return any(row.get("impact_ratio_interval") for row in rows)


def _four_fifths(row: Mapping[str, Any]) -> Cell:
    """Say on which side of four fifths an impact ratio is, and whether its interval is too."""
    value, low, high = (row[end] for end in _RATIO)
    if value is None:
        return Cell("–")
    side = "below" if value < FOUR_FIFTHS else "not below"
    unsure = low is not None and high is not None and low < FOUR_FIFTHS <= high
    return Cell(side, value, "interval includes 0.8" * unsure)


def _bounds(row: Mapping[str, Any]) -> Cell:
    """Say where an impact ratio lies if unknown rows belong to any category."""
    low, high, rows = (row[f"impact_ratio_{end}"] for end in ("lowest", "highest", "turned_by"))
    if low is None or high is None:
        return Cell("–")
    turned = "" if rows is None else f"{count(rows)} rows turn it"
    return Cell(f"{low:.2f} to {high:.2f}", low, turned)


def _unknown(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say whether rows without a category could move impact ratios across four fifths."""
    if not any("impact_ratio_lowest" in row for row in rows):
        lost = any(MISSING in group_of(row["category"]) for row in rows)
        return [express("selection", "lost")] * lost
    turned = [row for row in rows if row["impact_ratio_turned_by"] is not None]
    words: tuple[str, ...] = ("", "")
    if turned:
        least = min(turned, key=lambda row: row["impact_ratio_turned_by"])
        which = f"{name_of(least['by'])}: {group_of(least['category'])}"
        words = count(least["impact_ratio_turned_by"]), which
    return [express("selection", "bounded", len(turned), len(rows), *words)]


def _differences(rows: list[dict[str, Any]]) -> Section:
    """Return how far the highest rates of a column are above the lowest."""
    cells: Cells = {
        title: with_interval(key, partial(number, form=".3f"))
        for key, title in _TITLES.items()
        if rows and key in rows[0]
    }
    table = Table.of(
        rows,
        cells,
        lambda row: {"name": name_of(row["by"])},
        id="differences-table",
        caption=express("selection", "differences_table"),
        first="Sensitive column",
    )
    title = express("selection", "differences")
    return Section(title, [table] if rows else [], "differences", only="page")
