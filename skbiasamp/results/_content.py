"""What the documents of reports share: facts, record, and the cells of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from skbiasamp._utils.formatting import (
    SIDE_OF,
    group_of,
    name_of,
    number,
    p_value,
    rate,
    side_of_zero,
    task_of,
)
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import (
    Bullets,
    Cell,
    Code,
    Document,
    Item,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.results._json import as_json

Cells = dict[str, Callable[[Any], Cell]]  # by their headings

LIMITS = "What limits these numbers?"
_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
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


def facts(context: Mapping[str, Any]) -> dict[str, str]:
    """Return what the title says of the rows."""
    context = as_json(context)
    if not context:
        return {}
    columns, known_groups = (context.get(key, ()) for key in ("group_columns", "groups"))
    groups = [group_of(group, columns) for group in known_groups]
    if len(columns) > 1 and len(groups) > 4:  # of many combinations, the columns
        sizes = [len({str(group[i]) for group in known_groups}) for i in range(len(columns))]
        groups = [f"{name_of(name)} ({n})" for name, n in zip(columns, sizes, strict=True)]
    tasks, target = context.get("tasks", ()), context.get("target")
    of = f" of the column {name_of(target)}" * bool(target)
    n_train, labelled = context.get("n_train"), context.get("labelled", True)
    known = {
        "Model": context.get("model_name") or "not named",
        "Data": context.get("data_name") or "not named",
        "Rows": context.get("rows", ""),
        "Groups": "; ".join(groups[:4]) + (f" and {len(groups) - 4:,} more" if groups[4:] else ""),
        "Task": f"'{task_of(tasks[0])}'{of}" if len(tasks) == 1 else "",
        "Training labels": ""
        if context.get("data_kind") == "texts" or not labelled
        else "none given: the audited labels are used instead"
        if n_train is None
        else f"{n_train:,.15g} rows",
        "Reference": "" if labelled or n_train is None else f"{n_train:,.15g} rows",
        "Date": context.get("date", ""),
    }
    return {name: text for name, text in known.items() if text}


def document_of(
    context: Mapping[str, Any], title: str, sections: Sequence[Section], **more: Any
) -> Document:
    """Return a document about the rows and the model of a context."""
    context = as_json(context)
    versions = context.get("versions", {})
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    made = (
        f"Made {context.get('date', '')} by {context.get('call', '')}",
        f"Versions: {named}.",
    )
    known = {"facts": facts(context), "version": versions.get("skbiasamp", ""), "made": made}
    about = ": ".join(filter(None, (context.get("data_name"), context.get("rows"))))
    title = " of ".join(filter(None, (title, context.get("model_name"))))
    return Document(title, sections, **{"about": about, **known, **more})


def record(
    context: Mapping[str, Any],
    schema: str,
    data_files: Sequence[Mapping[str, Any]] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Section:
    """Return what is needed to repeat a report; `settings` are parameters, by their heading."""
    context = as_json(context)
    columns = context.get("group_columns", ())
    terms: list[tuple[str, str]] = []
    for key, value in context.items():
        if key in ("not_measured", "rows", "data_files") or value is None:
            continue
        if isinstance(value, Mapping):
            terms += [(name, short(text)) for name, text in value.items()]
        elif isinstance(value, list | tuple):
            names = [
                group_of(name, columns) if key == "groups" else task_of(name) for name in value
            ]
            more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
            terms.append((key, ("; " if columns else ", ").join(names[:_NAMES]) + more))
        else:
            terms.append((key, f"{value:,.15g}" if isinstance(value, int | float) else str(value)))
    terms += [("JSON schema", schema)] if schema else []
    files = [
        (
            file["path"],
            "{rows_are}: {rows:,} rows, {format}, SHA-256 {sha256}".format_map(file),
        )
        for file in data_files
    ]
    folded: list[Item | None] = [
        Terms([(_TITLES.get(key, key.replace("_", " ")), text) for key, text in terms]),
        Section("Files read", [Terms(files)]),
        *(Section(title, [parameters(own)]) for title, own in (settings or {}).items()),
    ]
    call = context.get("call")
    made: list[Item] = [Text("This call made the report:"), Code(call)] if call else []
    title = "Date, data, versions and parameters"
    return Section("Record", [*made, Section(title, folded, folded=True)], id="record", only="page")


def short(value: Any) -> str:
    """Return a parameter as text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "–" if value is None else str(value)
    return text if len(text) <= _PARAMETER else text[: _PARAMETER - 1] + "…"


def parameters(values: Mapping[str, Any]) -> Terms:
    """Return parameters and what they are."""
    return Terms([(key, short(value)) for key, value in as_json(values).items()])


def topics(texts: Mapping[str, str]) -> Bullets:
    """Return texts by their topics."""
    return Bullets([Text(text, f"{topic}.") for topic, text in texts.items()])


def limits_section(texts: Mapping[str, str]) -> Section:
    """Return what limits the numbers of a page, by topic."""
    return Section(LIMITS, [topics(texts)], "limits", only="page")


# --------------------------------------------------------------------------- cells


def shown(key: str, form: Callable[[Any], str] = number) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number."""
    return lambda row: Cell(form(row.get(key)), row.get(key))


def in_points(change: float | None, form: str = "+.1f") -> Cell:
    """Return the cell of a change of a rate, in percentage points."""
    return Cell(number(None if change is None else change * 100, form), change)


def count(value: Any) -> str:
    """Return a number of rows."""
    return number(None if value is None else round(value, 1), ",.15g")


def with_interval(
    key: str, form: Callable[[Any], str] = rate, span: Sequence[str] = ()
) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number and the ends of its interval; `span` are the names of these."""
    low, high = span or (f"{key}_low", f"{key}_high")
    return lambda row: Cell(
        form(row.get(key)), row.get(key), ends(row.get(low), row.get(high), form)
    )


def ends(low: Any, high: Any, form: Callable[[Any], str] = number) -> str:
    """Return the ends of an interval, or nothing."""
    if low is None or high is None:
        return ""
    return f"{form(low).removesuffix(' %')} to {form(high).removesuffix(' %')}"


def verdict_cell(verdict: str) -> Cell:
    """Return the cell of a verdict, sorted by what it says."""
    return Cell(verdict, list(SIDE_OF).index(verdict), side=SIDE_OF[verdict])


_COLUMNS: Cells = {
    "Verdict": lambda row: verdict_cell(row["verdict"]),
    "Estimate": shown("estimate"),
    "Interval": lambda row: Cell(ends(row["low"], row["high"]) or "–", row["low"]),
    "p-value": shown("p_value", p_value),
    "Adjusted p": shown("p_adjusted", p_value),
    "Rows": shown("n", count),
    "Share of rows": shown("share", rate),
    "Labelled so": shown("base_rate", rate),
    "Impact ratio": with_interval("impact_ratio", lambda value: number(value, ".2f")),
    "Accuracy": with_interval("accuracy"),
    "True positive rate": with_interval("true_positive_rate"),
    "False positive rate": with_interval("false_positive_rate"),
}


def known_columns(*titles: str) -> Cells:
    """Return the columns with these headings, for rows that have what they show."""
    return {title: _COLUMNS[title] for title in titles}


# --------------------------------------------------------------------------- tables


def estimates_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Cells,
    named: Callable[[Any], Mapping[str, Any]],
    *,
    balanced: bool = False,
    **options: Any,
) -> Table:
    """Return rows with ``estimate``, ``low`` and ``high`` on one axis; a verdict colours a mark.

    `balanced` puts 0 into the middle of the axis. `named` returns the name of a row, and what else
    its mark has.
    """
    keys = ("estimate", "low", "high")

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        verdict = {"side": SIDE_OF[row["verdict"]]} if "verdict" in row else {}
        return interval_mark(*(row[key] for key in keys)) | verdict | {**named(row)}

    axis = Axis.around((row[key] for row in rows for key in keys), balanced=balanced)
    options = {"marks": "Estimate and interval", "axis": axis, **options}
    return Table.of(rows, columns, mark, **options)


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
