"""What the documents of reports share: facts, record, and the cells of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from skbiasamp._utils.formatting import (
    SIDE_OF,
    group_of,
    number,
    rate,
    side_of_zero,
    task_of,
)
from skbiasamp.render.document import Cell, Code, Document, Item, Section, Terms, Text

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
    if not context:
        return {}
    groups = [group_of(one, context.get("group_columns", ())) for one in context.get("groups", ())]
    n_train = context.get("n_train")
    known = {
        "Model": context.get("model_name") or "not named",
        "Data": context.get("data_name") or "not named",
        "Rows": context.get("rows", ""),
        "Groups": "; ".join(groups[:4]) + (f" and {len(groups) - 4:,} more" if groups[4:] else ""),
        "Training labels": ""
        if context.get("data_kind") == "texts"
        else "none given: the audited labels are used instead"
        if n_train is None
        else f"{n_train:,.15g} rows",
        "Date": context.get("date", ""),
    }
    return {name: text for name, text in known.items() if text}


def document_of(
    context: Mapping[str, Any], title: str, sections: Sequence[Section], **more: Any
) -> Document:
    """Return a document about the rows and the model of a context."""
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
    data_files: Sequence[Mapping[str, Any]],
    parts: Sequence[Section],
) -> Section:
    """Return what is needed to repeat a report; `parts` are parameters and statistics."""
    columns = context.get("group_columns", ())
    held: list[tuple[str, str]] = []
    for key, value in context.items():
        if key in ("not_measured", "rows", "data_files") or value is None:
            continue
        if isinstance(value, Mapping):
            held += [(name, short(one)) for name, one in value.items()]
        elif isinstance(value, list | tuple):
            names = [group_of(one, columns) if key == "groups" else task_of(one) for one in value]
            more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
            held.append((key, ("; " if columns else ", ").join(names[:_NAMES]) + more))
        else:
            held.append((key, f"{value:,.15g}" if isinstance(value, int | float) else str(value)))
    held += [("JSON schema", schema)] if schema else []
    files = [
        (
            one["path"],
            f"{one['rows_are']}: {one['rows']:,} rows, {one['format']}, SHA-256 {one['sha256']}",
        )
        for one in data_files
    ]
    folded: list[Item | None] = [
        Terms([(_TITLES.get(key, key.replace("_", " ")), text) for key, text in held]),
        *([Section("Files read", [Terms(files)])] if files else []),
        *parts,
    ]
    call = context.get("call")
    made: list[Item | None] = []
    if call:
        made = [Text("This call made the report:"), Code(call)]
    title = "Date, data, versions and parameters"
    return Section("Record", [*made, Section(title, folded, folded=True)], id="record", only="page")


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


def count(value: Any) -> str:
    """Return a number of rows."""
    return number(value, ",.15g")


def with_interval(
    key: str, form: Callable[[Any], str] = rate
) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number and the ends of its interval."""

    def cell(row: Mapping[str, Any]) -> Cell:
        low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
        return Cell(form(row.get(key)), row.get(key), ends(low, high, form))

    return cell


def ends(low: Any, high: Any, form: Callable[[Any], str] = number) -> str:
    """Return the ends of an interval, or nothing."""
    if low is None or high is None:
        return ""
    return f"{form(low).removesuffix(' %')} to {form(high).removesuffix(' %')}"


def verdict_cell(verdict: str) -> Cell:
    """Return the cell of a verdict, sorted by what it says."""
    return Cell(verdict, list(SIDE_OF).index(verdict), side=SIDE_OF[verdict])


def interval_mark(value: Any, low: Any, high: Any) -> dict[str, Any]:
    """Return a dot with a line."""
    side = side_of_zero(value, low, high)
    span = None if low is None or high is None else (low, high)
    return {"side": side, "says": _SAYS[side], "dot": value, "span": span}


def naming_of_pairs(
    groups: Iterable[Any], tasks: Iterable[Any], columns: Any
) -> tuple[str, Callable[[Any], str]]:
    """Return the heading of pairs, and how each is named: by what differs between rows."""
    alone = len(set(map(str, tasks))) == 1

    def name(row: Mapping[str, Any]) -> str:
        named = [group_of(row["group"], columns)] if row["group"] != "(all)" else []
        if row["task"] != "(all)" and not (alone and named):
            named.append(task_of(row["task"]))
        return " · ".join(named) or "all groups"

    every = set(map(str, groups)) == {"(all)"}
    return "Target" if every else "Group" if alone else "Pair", name
