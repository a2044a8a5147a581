"""What the documents of reports share: facts, record, and the cells of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from skbiasamp._utils.formatting import (
    SIDE_OF,
    count,
    group_of,
    in_points,
    level_of,
    number,
    p_value,
    rate,
    side_of_zero,
    task_of,
)
from skbiasamp.render.document import (
    Cell,
    Code,
    Document,
    Item,
    Section,
    Table,
    Terms,
)
from skbiasamp.render.facts import express
from skbiasamp.results.exports import as_json

Cells = dict[str, Callable[[Any], Cell]]  # by their headings

_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
    "n_models": "models that were trained",
}
# Text of a mark, for screen readers.
_SAYS = {
    "above": "above 0",
    "below": "below 0",
    "across": "the interval includes 0",
    "zero": "exactly 0",
    "unknown": "no interval",
    "undefined": "undefined",
}


# --------------------------------------------------------------------------- title and record


def _first(names: Sequence[str], most: int, joint: str) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" * (len(names) > most)
    return joint.join(names[:most]) + more


def only_task(tasks: Iterable[Any]) -> str:
    """Return the name of the task in quotation marks if there is only one, else nothing."""
    names = {str(task): task for task in tasks}
    return f"'{task_of(*names.values())}'" if len(names) == 1 else ""


def document_of(
    context: Mapping[str, Any],
    title: str,
    sections: Sequence[Section],
    facts: Mapping[str, Any] | None = None,
    **more: Any,
) -> Document:
    """Return a document about the rows and the model of a context; `facts` are known besides."""
    context = as_json(context)
    columns = context.get("group_columns") or ()
    known = {
        "Model": context.get("model_name"),
        "Data": context.get("data_name"),
        "Sensitive feature": ", ".join(map(str, columns)),
        "Label": context.get("target"),
        "Training rows": number(context["n_train"], ",.15g") if context.get("n_train") else None,
        **(facts or {}),
        "Call": context.get("call"),
    }
    about = ": ".join(filter(None, (known["Data"], context.get("rows"))))
    title = " of ".join(filter(None, (title, known["Model"])))
    facts = {name: str(text) for name, text in known.items() if text}
    version = context.get("versions", {}).get("skbiasamp", "")
    return Document(title, sections, **{"about": about, "facts": facts, "version": version, **more})


def record(
    context: Mapping[str, Any],
    data_files: Sequence[Mapping[str, Any]] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Section:
    """Return what is needed to repeat a report; `settings` are parameters, by their heading."""
    context = as_json(context)
    terms: list[tuple[str, str]] = []
    for key, value in context.items():
        if key in ("not_measured", "rows", "data_files") or value is None:
            continue
        if isinstance(value, Mapping):
            terms += [(name, short(text)) for name, text in value.items()]
        elif isinstance(value, list | tuple):
            columns = context.get("group_columns", ())
            names = [
                group_of(name, columns) if key == "groups" else task_of(name) for name in value
            ]
            terms.append((key, _first(names, _NAMES, "; " if columns else ", ")))
        else:
            is_number = isinstance(value, int | float)
            terms.append((key, f"{value:,.15g}" if is_number else str(value)))
    files = [
        (file["path"], "{rows_are}: {rows:,} rows, {format}, SHA-256 {sha256}".format_map(file))
        for file in data_files
    ]
    items: list[Item | None] = [
        Terms([(_TITLES.get(key, key.replace("_", " ")), text) for key, text in terms]),
        Section("Files read", [Terms(files)]),
        *(
            Section(title, [Terms([(key, short(value)) for key, value in as_json(own).items()])])
            for title, own in (settings or {}).items()
        ),
    ]
    call = context.get("call")
    made: list[Item] = [Code(call)] if call else []
    return Section("Record", [*made, *items], only="page", folded=True)


def folded(name: str, items: Sequence[Item | None], id: str) -> Section:
    """Return what a page shows on demand, and no short form."""
    return Section(express("page", name), items, id, only="page", folded=True)


def short(value: Any) -> str:
    """Return a parameter as text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "–" if value is None else str(value)
    return text if len(text) <= _PARAMETER else text[: _PARAMETER - 1] + "…"


# --------------------------------------------------------------------------- cells


def shown(key: str, form: Callable[[Any], str] = number) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number."""
    return lambda row: Cell(form(row.get(key)), row.get(key))


def with_interval(
    key: str, form: Callable[[Any], str] = rate, span: Sequence[str] = ()
) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number and the ends of its interval; `span` are the names of these."""

    def cell(row: Mapping[str, Any]) -> Cell:
        value, low, high = map(row.get, (key, *(span or (f"{key}_low", f"{key}_high"))))
        return Cell(form(value), value, ends(low, high, form))

    return cell


def ends(low: Any, high: Any, form: Callable[[Any], str] = number) -> str:
    """Return the ends of an interval, or nothing."""
    if low is None or high is None:
        return ""
    return f"{form(low).removesuffix(' %')} to {form(high).removesuffix(' %')}"


def interval_in_words(level: float | None, low: Any, high: Any, form: Callable[[Any], str]) -> str:
    """Return an interval as sentences have it: "95 % confidence interval −0.01 to +0.06"."""
    return f"{level_of(level or 0.95)} confidence interval {form(low)} to {form(high)}"


def verdict_cell(verdict: str) -> Cell:
    """Return the cell of a verdict, sorted by what it says."""
    return Cell(verdict, list(SIDE_OF).index(verdict), side=SIDE_OF[verdict])


_COLUMNS: Cells = {
    "Verdict": lambda row: verdict_cell(row["verdict"]),
    "Value": shown("value"),
    "Interval": lambda row: Cell(ends(row["low"], row["high"]) or "–", row["low"]),
    "p-value": shown("p_value", p_value),
    "Adjusted p": shown("p_adjusted", p_value),
    "Rows": shown("n", count),
    "Share of rows": shown("share", rate),
    "Labelled so": shown("base_rate", rate),
    "Predicted so": with_interval("predicted_rate"),
    "Selected": shown("selected", count),
    "Selection rate": with_interval("selection_rate"),
    "Impact ratio": with_interval("impact_ratio", lambda value: number(value, ".2f")),
    "Accuracy": with_interval("accuracy"),
    "True positive rate": with_interval("true_positive_rate"),
    "False positive rate": with_interval("false_positive_rate"),
    "Expected": shown("expected"),
    "Difference": shown("difference"),
    "Change, percentage points": shown("change", in_points),
}


def table_columns(*parts: str | Cells) -> Cells:
    """Return columns in their order: known ones by their headings, others with their cells.

    Without a heading there is no column.
    """
    columns: Cells = {}
    for part in parts:
        if isinstance(part, str):
            part = {part: _COLUMNS[part]} if part else {}
        columns |= part
    return columns


# --------------------------------------------------------------------------- units


def scaled(rows: Iterable[dict[str, Any]], scale: float) -> list[dict[str, Any]]:
    """Return rows whose values are in the unit of the page; a scale of 1 keeps that of the metric.

    Values of rates are changes of shares, and a page has percentage points.
    """
    names = ("value", "low", "high", "expected", "difference")
    return [
        row | {name: scale * row[name] for name in names if row.get(name) is not None}
        for row in rows
    ]


def form_of(scale: float) -> Callable[[Any], str]:
    """Return how values of a scale are written."""
    return partial(number, form="+.1f" if scale > 1 else "+.4f")


def estimate_columns(scale: float) -> Cells:
    """Return the columns of a value and its interval."""
    form = form_of(scale)
    interval: Cells = {
        "Interval": lambda row: Cell(ends(row["low"], row["high"], form) or "–", row["low"])
    }
    return {"Value": shown("value", form)} | interval


# --------------------------------------------------------------------------- tables


def estimates_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Cells,
    named: Callable[[Any], Mapping[str, Any]],
    ends: Sequence[str] = ("value", "low", "high"),
    **options: Any,
) -> Table:
    """Return rows with values and intervals on one axis; a verdict colours a mark.

    `named` returns the name of a row, and what else its mark has. `ends` are the columns that are
    drawn.
    """

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        verdict = {"side": SIDE_OF[row["verdict"]]} if "verdict" in row else {}
        return interval_mark(*map(row.get, ends)) | verdict | {**named(row)}

    return Table.of(rows, columns, mark, **{"marks": "Value and interval", **options})


def interval_mark(value: Any, low: Any, high: Any) -> dict[str, Any]:
    """Return a dot with a line."""
    side = side_of_zero(value, low, high)
    span = None if low is None or high is None else (low, high)
    return {"side": side, "says": _SAYS[side], "dot": value, "span": span}


def naming_of_pairs(table: pd.DataFrame, columns: Any) -> tuple[str, Callable[[Any], str]]:
    """Return the heading of pairs, and how each is named: by what differs between rows."""
    alone = table["task"].map(str).nunique() == 1

    def name(row: Mapping[str, Any]) -> str:
        named = [group_of(row["group"], columns)] if row["group"] != "(all)" else []
        if row["task"] != "(all)" and not (alone and named):
            named.append(task_of(row["task"]))
        return " · ".join(named) or "all groups"

    every = set(table["group"].map(str)) == {"(all)"}
    return "Target" if every else "Group" if alone else "Pair", name
