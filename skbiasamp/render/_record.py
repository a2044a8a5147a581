"""What pages of audits and of comparisons say of their rows and of how to repeat them."""

from __future__ import annotations

from typing import Any

from skbiasamp._utils.formatting import group_of, task_of

_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
}


def facts(context: dict[str, Any]) -> dict[str, str]:
    """Return what the title says of the audit."""
    groups = [group_of(one, context.get("group_columns", ())) for one in context.get("groups", ())]
    more = f" and {len(groups) - 4:,} more" if len(groups) > 4 else ""
    n_train = context.get("n_train")
    facts = {
        "Model": context.get("model_name") or "not named",
        "Data": context.get("data_name") or "not named",
        "Rows": context.get("rows", ""),
        "Groups": "; ".join(groups[:4]) + more,
        "Training labels": ""
        if context.get("data_kind") == "texts"
        else "none given: the audited labels are used instead"
        if n_train is None
        else f"{n_train:,.15g} rows",
        "Date": context.get("date", ""),
    }
    return {name: text for name, text in facts.items() if text} if context else {}


def record_of(context: dict[str, Any], schema: str) -> list[tuple[str, str]]:
    """Return what is needed to repeat the audit."""
    columns = context.get("group_columns", ())
    said: list[tuple[str, str]] = []
    for key, value in context.items():
        if key in ("not_measured", "rows") or value is None:
            continue
        if isinstance(value, dict):
            said += [(name, short(one)) for name, one in value.items()]
        elif isinstance(value, list):
            named = [group_of(one, columns) if key == "groups" else task_of(one) for one in value]
            names = ("; " if columns else ", ").join(named[:_NAMES])
            more = f" and {len(value) - _NAMES:,} more" if len(value) > _NAMES else ""
            said.append((key, names + more))
        else:
            said.append((key, f"{value:,.15g}" if isinstance(value, int | float) else str(value)))
    return [
        (_TITLES.get(key, key.replace("_", " ")), text)
        for key, text in (*said, ("JSON schema", schema))
    ]


def table_rows(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that was stored."""
    return [dict(zip(frame["columns"], row, strict=True)) for row in frame["data"]]


def short(value: Any) -> str:
    """Return a parameter as text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "–" if value is None else str(value)
    return text if len(text) <= _PARAMETER else text[: _PARAMETER - 1] + "…"
