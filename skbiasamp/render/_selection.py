"""Selection rates and impact ratios, for the page of a report and for a page of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skbiasamp._utils.formatting import group_of, name_of, number, rate, task_of
from skbiasamp.render._page_tables import Axis, Cell, Table, count, interval_mark, shown
from skbiasamp.render._page_tables import with_interval as bounded
from skbiasamp.render._record import facts, record_of, table_rows

FOUR_FIFTHS = 0.8


def selection_tables(rows: list[dict[str, Any]], columns: Any, most: int) -> list[Table]:
    """Return one table a sensitive column, its categories in the order of the data."""
    several, tables = _several(rows), []
    for i, by in enumerate(dict.fromkeys(row["by"] for row in rows), 1):
        own = [row for row in rows if row["by"] == by]
        tables.append(_table(f"selection-{i}", by, own, columns, most, several=several))
    return tables


def _several(rows: Iterable[dict[str, Any]]) -> bool:
    """Return whether there are several tasks."""
    return len({str(row["task"]) for row in rows}) > 1


def _table(
    table_id: str, by: str, rows: list[dict[str, Any]], columns: Any, most: int, *, several: bool
) -> Table:
    ends = ("impact_ratio", "impact_ratio_low", "impact_ratio_high")
    # A few wide intervals would press all others together: their lines end at the margin.
    known = [row[end] for row in rows for end in ends if row[end] is not None]
    axis = Axis.around([min(one, 2.0) for one in known] + [1.0], limit=FOUR_FIFTHS)
    errors = {
        title: shown(key, rate)
        for key, title in (
            ("true_positive_rate", "True positive rate"),
            ("false_positive_rate", "False positive rate"),
        )
        if key in rows[0]
    }

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        value, low, high = (None if row[end] is None else min(row[end], axis.high) for end in ends)
        drawn = interval_mark(axis, value, low, high)
        name = [group_of(row["category"], columns if isinstance(row["category"], list) else ())]
        name += [task_of(row["task"])] if several else []
        notes = () if row["counted"] else ("not in the ratios",)
        ratio = number(row["impact_ratio"], ".2f")
        return drawn | {"name": " · ".join(name), "side": "plain", "says": ratio, "notes": notes}

    return Table(
        id=table_id,
        caption=f"Selection rates by {name_of(by)}, with 95 % intervals"
        f"{TOGETHER if hold_together(rows) else ''}; line: four fifths",
        first="Category",
        marks="Impact ratio",
        axis=axis,
        columns={
            "Rows": shown("n", count),
            "Share of rows": shown("share", rate),
            "Selected": shown("selected", count),
            "Selection rate": bounded("selection_rate"),
            "Impact ratio": bounded("impact_ratio", lambda value: number(value, ".2f")),
            "Four-fifths rule": four_fifths,
            **errors,
        },
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


TOGETHER = " (of impact ratios: simultaneous)"


def hold_together(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether intervals of impact ratios hold for all rows of a task together."""
    return any(row.get("impact_ratio_interval") for row in rows)


def four_fifths(row: Mapping[str, Any]) -> Cell:
    """Say on which side of four fifths an impact ratio is, and whether its interval is too."""
    value, low, high = (row[f"impact_ratio{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "–", None
    side = "below" if value < FOUR_FIFTHS else "not below"
    unsure = low is not None and high is not None and low < FOUR_FIFTHS <= high
    return side + "\ninterval includes 0.8" * unsure, value


def selection_view(content: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Return what the page of selection rates fills in."""
    context = dict(content["context"])
    files = context.pop("data_files", [])
    rows = table_rows(content["selection"])
    differences = table_rows(content["differences"])
    scored = "score" in context.get("selected", "")
    model = context.get("model_name")
    return {
        "title": " of ".join(filter(None, ("Selection rates and impact ratios", model))),
        "context": context,
        "facts": {name: text for name, text in facts(context).items() if name != "Training labels"},
        "record": [one for one in record_of(context, "") if one[0] != "JSON schema"],
        "data_files": files,
        "audits": [],
        "tables": selection_tables(rows, context.get("group_columns", ()), most),
        "scored": scored,
        "clusters": count(context["n_clusters"]) if context.get("n_clusters") else "",
        "task": "" if _several(rows) else task_of(rows[0]["task"]),
        "least": rate(context["min_share"]) if context.get("min_share") else "",
        "below": _below(rows),
        "titles": [_TITLES[key] for key in _TITLES if differences and key in differences[0]],
        "differences": [
            (name_of(row["by"]), [number(row[key], ".3f") for key in _TITLES if key in row])
            for row in differences[:most]
        ],
    }


_TITLES = {
    "demographic_parity_difference": "Selection rate difference",
    "demographic_parity_ratio": "Lowest impact ratio",
    "true_positive_rate_difference": "True positive rate difference",
    "false_positive_rate_difference": "False positive rate difference",
    "equalized_odds_difference": "Equalized odds difference",
}


def _below(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Name the categories below four fifths, those that are so beyond chance first."""
    found = [
        row for row in rows if row["impact_ratio"] is not None and row["impact_ratio"] < FOUR_FIFTHS
    ]
    found.sort(key=lambda row: row["impact_ratio_high"] or 0)
    return [
        f"{name_of(row['by'])}: {group_of(row['category'])}, {number(row['impact_ratio'], '.2f')} "
        f"({number(row['impact_ratio_low'], '.2f')} to {number(row['impact_ratio_high'], '.2f')})"
        for row in found
    ]
