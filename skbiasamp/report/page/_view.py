"""Content of the page, in its order."""

from __future__ import annotations

from typing import Any

from skbiasamp._words import (
    AMPLIFIES,
    BALANCED,
    CANNOT,
    NO_EFFECT,
    NOT_MEASURED,
    REDUCES,
    REVEALS_LESS,
    REVEALS_MORE,
    group_of,
    level_of,
    listed,
    name_of,
    number,
    p_value,
    rate,
    side_of,
    task_of,
)
from skbiasamp.inference._tests import significant
from skbiasamp.report.page._tables import (
    Axis,
    Table,
    count,
    interval,
    interval_mark,
    pair_names,
    shown,
)

_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
}

_UNCOUNTED = ("does not count",)

# How the values of each kind of metric are read.
_READING = {
    "signed": "Above 0 the predictions exaggerate the association in the labels, below 0 they "
    "weaken it.",
    "size": "The value is a size: it is never below 0. The verdict follows the signed mean.",
    "attack": "Above 0 the attacker guesses better from the model than from equally accurate "
    "random labels, below 0 worse.",
}

# Symbol and side (the colour) of each verdict.
TAGS = {
    AMPLIFIES: ("▲", "above"),
    REVEALS_MORE: ("▲", "above"),
    REDUCES: ("▼", "below"),
    REVEALS_LESS: ("▼", "below"),
    NO_EFFECT: ("◆", "across"),
    CANNOT: ("●", "zero"),
    NOT_MEASURED: ("–", "undefined"),
}


def view(content: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Return what the template fills in; no table has more than `most` rows."""
    audits = [
        _audit(i, name, result, most)
        for i, (name, result) in enumerate(content["results"].items(), 1)
    ]
    columns = content["context"].get("group_columns", ())
    groups, rates = (_records(content[one]) for one in ("groups", "rates"))
    findings = [
        one
        | {"id": f"finding-{i}", "topic": one["topic"].capitalize()}
        | {"text": f"{one['text']} {one['action']}"}
        for i, one in enumerate(content["findings"], 1)
    ]
    return {
        "context": content["context"],
        "record": _record(content["context"], content["schema"]),
        "data_files": content.get("data_files", []),
        "audits": audits,
        "primary": next((one for one in audits if one["key"] == content["primary"]), None),
        "beside": [one for one in findings if one["place"] == "verdict"],
        "others": sorted(
            (one for one in audits if one["key"] != content["primary"]), key=_clear_first
        )[:3],
        "sure": how_sure(audits),
        "next": look_next(findings),
        "summary": _summary(audits),
        "groups": _groups(groups, columns, most),
        "rates": _rates(rates, columns, most) if rates else None,
        "findings": findings,
    }


def _record(context: dict[str, Any], schema: str) -> list[tuple[str, str]]:
    """Return what is needed to repeat the audit."""
    columns = context.get("group_columns", ())
    said: list[tuple[str, str]] = []
    for key, value in context.items():
        if isinstance(value, dict):
            said += [(name, _short(one)) for name, one in value.items()]
        elif isinstance(value, list):
            named = [group_of(one, columns) if key == "groups" else task_of(one) for one in value]
            names = ("; " if columns else ", ").join(named[:_NAMES])
            more = f" and {len(value) - _NAMES:,} more" if len(value) > _NAMES else ""
            said.append((key, names + more))
        elif key != "rows" and value is not None:
            said.append((key, f"{value:,.15g}" if isinstance(value, int | float) else str(value)))
    return [(_TITLES.get(key, key), text) for key, text in (*said, ("JSON schema", schema))]


def _records(frame: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(frame["columns"], row, strict=True)) for row in frame["data"]]


# --------------------------------------------------------------------------- audits


def _audit(i: int, name: str, result: dict[str, Any], most: int) -> dict[str, Any]:
    table, statistics = result["table"], result["statistics"]
    symbol, side = TAGS[result["verdict"]]
    level = result["confidence_level"]
    title = name_of(name).replace("->", "→")
    by_rows = statistics.get("row_weighted")
    return {
        "id": f"audit-{i}",
        "key": name,
        "name": title,
        "kind": result["kind"],
        "headline": result["headline"],
        "about": f"{result['question']} {_READING.get(result['kind'], '')}".strip(),
        "sentence": result["sentence"],
        "verdict": result["verdict"],
        "side": side,
        "symbol": symbol,
        "word": BALANCED if result["verdict"] == CANNOT else result["verdict"],
        "numbers": {one: result[one] for one in ("value", "low", "high", "p_value")},
        "value": number(result["value"]),
        "by_rows": "" if by_rows is None else number(by_rows),
        "interval": interval(result),
        "level": "" if level is None else level_of(level),
        "p": p_value(result["p_value"]),
        "table": _pairs(f"pairs-{i}", title, result, most) if table else None,
        "n": len(table),
        "unreliable": sum(row.get("reliable") is False for row in table),
        "uncertain": sum(row.get("sign_certain") is False for row in table),
        "parameters": [(key, _short(one)) for key, one in result["params"].items()],
        "statistics": [(key, _short(one)) for key, one in statistics.items()],
    }


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= _PARAMETER else text[: _PARAMETER - 1] + "…"


def _clear_first(audit: dict[str, Any]) -> tuple[bool, bool, int]:
    """Sort measured results first, clear ones before unclear ones, then by rank."""
    clear = audit["side"] in ("above", "below")
    return audit["verdict"] == NOT_MEASURED, not clear, audit["headline"]


def _summary(audits: list[dict[str, Any]]) -> Table:
    numbers = [one["numbers"] for one in audits]
    axis = Axis.around(row[end] for row in numbers for end in ("value", "low", "high"))

    def mark(one: dict[str, Any]) -> dict[str, Any]:
        row = one["numbers"]
        drawn = interval_mark(axis, row["value"], row["low"], row["high"])
        return drawn | {"side": one["side"], "name": one["name"], "link": one["id"]}

    return Table(
        id="summary",
        caption="All audits: value and interval, zero marked",
        first="Audit",
        marks="Value and interval",
        axis=axis,
        columns={
            "Verdict": lambda one: (
                f"{one['symbol']} {one['verdict']}",
                list(TAGS).index(one["verdict"]),
            ),
            "Value": lambda one: (one["value"], one["numbers"]["value"]),
            "Interval": lambda one: (one["interval"], one["numbers"]["low"]),
            "p": lambda one: (one["p"], one["numbers"]["p_value"]),
        },
        rows=audits,
        mark=mark,
        n=len(audits),
    )


def _pairs(table_id: str, name: str, result: dict[str, Any], most: int) -> Table:
    """Return a result's pairs, strongest first."""
    rows = [_read(row) for row in result["table"]]
    rows = sorted(rows, key=lambda row: -abs(row["amplification"] or 0))[:most]
    compared = {key: title for key, title in result["columns"].items() if key in rows[0]}
    axis = Axis.around(row[end] for row in rows for end in ("amplification", "low", "high"))
    heading, named = pair_names(result["table"], result["group_columns"])
    level = result["confidence_level"]

    def form(value: Any) -> str:
        return rate(value) if result["percent"] else number(value, ".4g")

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        """Colour a pair if it is significant, by the same rule as in plots."""
        value, low, high = (row[one] for one in ("amplification", "low", "high"))
        drawn = interval_mark(axis, value, low, high)
        if drawn["side"] not in ("undefined", "unknown", "zero"):
            sure = significant(row["p_adjusted"], low, high, 0.95 if level is None else level)
            drawn["side"] = ("above" if value > 0 else "below") if sure else "across"
            drawn["says"] = f"{'significant' if sure else 'not significant'}, {drawn['says']}"
        says = "does not count" if row["notes"] == _UNCOUNTED else drawn["says"]
        return drawn | {"says": says, "name": named(row), "notes": row["notes"]}

    return Table(
        id=table_id,
        caption=f"{name}: {heading.lower()}s, strongest first",
        first=heading,
        marks="Amplification and interval",
        axis=axis,
        columns={
            "Amplification": shown("amplification"),
            "Interval": lambda row: (interval(row), row["low"]),
            "Adjusted p": shown("p_adjusted", p_value),
            **{title: shown(key, form) for key, title in compared.items()},
            "Rows": shown("n", count),
        },
        rows=rows,
        mark=mark,
        n=len(result["table"]),
    )


def _read(row: dict[str, Any]) -> dict[str, Any]:
    """Return a pair with its notes; without a sign it does not count, and shows no numbers."""
    numbers = dict.fromkeys(("amplification", "low", "high", "p_adjusted"))
    if row.get("sign") == 0 == row["amplification"]:
        return row | numbers | {"notes": _UNCOUNTED}
    flags = {"reliable": "few rows", "sign_certain": "sign uncertain"}
    notes = tuple(note for flag, note in flags.items() if row.get(flag) is False)
    return numbers | row | {"notes": notes}


# --------------------------------------------------------------------------- in short


def how_sure(audits: list[dict[str, Any]]) -> list[str]:
    """Return which intervals include 0, and how many pairs have few rows."""
    said = []
    levels = sorted({one["level"] for one in audits if one["level"]})
    # A size is always above 0.
    signed = [one for one in audits if one["kind"] != "size"]
    sides = [(one["name"], side_of(*list(one["numbers"].values())[:3])) for one in signed]
    for wanted, verb in ((("above", "below"), "exclude"), (("across", "zero"), "include")):
        names = [name for name, side in sides if side in wanted]
        if names:
            said.append(
                f"The {' or '.join(levels)} confidence interval{'s' * (len(names) > 1)} of "
                f"{listed(names)} {verb}{'s' * (len(names) == 1)} 0."
            )
    few = max(audits, key=lambda one: one["unreliable"], default=None)
    if few and few["unreliable"]:
        said.append(
            f"{few['unreliable']:,} of {few['n']:,} pairs of {few['name']} have fewer than 10 rows."
        )
    lacking = [name for name, side in sides if side == "unknown"]
    if lacking:
        said.append(f"{listed(lacking)}: no interval, so chance cannot be ruled out.")
    if len(audits) > 1:
        said.append(
            "p-values are adjusted for the pairs of one audit, not for the number of audits."
        )
    return said


def look_next(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the three most urgent findings; any three if none is urgent."""
    urgent = [one for one in findings if one["place"] == "next"]
    return (urgent or findings)[:3]


# --------------------------------------------------------------------------- groups


def _groups(rows: list[dict[str, Any]], columns: Any, most: int) -> Table | None:
    """Return the rows of each group, and the accuracy of the model."""
    if not rows:
        return None
    rated = any("accuracy" in row for row in rows)
    axis = Axis(0.0, 1.0, percent=True)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        value = row["accuracy" if rated else "share"]
        at = None if value is None else axis.at(value)
        span = None if at is None else (axis.at(0), at)
        name = group_of(row["group"], columns)
        return {"name": name, "side": "plain", "says": rate(value), "dot": at, "span": span}

    cells = {"Rows": shown("n", count), "Share": shown("share", rate)}
    if rated:
        cells["Accuracy"] = shown("accuracy", rate)
    return Table(
        id="groups-table",
        caption="Groups" + (": accuracy of the model" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        axis=axis,
        columns=cells,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _rates(rows: list[dict[str, Any]], names: Any, most: int) -> Table:
    """Return base and predicted rate of each pair, the largest difference first."""
    heading, named = pair_names(rows, names)
    predicted = "predicted_rate" in rows[0]
    ends = ("base_rate", "predicted_rate")
    for row in rows:
        before, after = (row.get(end) for end in ends)
        row["change"] = None if before is None or after is None else (after - before) * 100
    rows = sorted(rows, key=lambda row: -abs(row["change"] or 0))
    axis = Axis.around((row.get(end) for row in rows[:most] for end in ends), percent=True)
    columns = {
        "Labels": shown("base_rate", rate),
        "Predictions": shown("predicted_rate", rate),
        "Change, percentage points": shown("change", lambda value: number(value, "+.1f")),
        "True positive rate": shown("true_positive_rate", rate),
        "False positive rate": shown("false_positive_rate", rate),
    }

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        ring, dot = (None if row.get(end) is None else axis.at(row[end]) for end in ends)
        says = rate(row["base_rate"])
        return {
            "name": named(row),
            "side": "plain",
            "says": f"from {says} to {rate(row.get(ends[1]))}" if predicted else says,
            "span": None if row["change"] is None else (ring, dot),
            "ring": ring,
            "dot": dot,
        }

    return Table(
        id="rates-table",
        caption="Rates of each group: labelled" + " (ring) and predicted (dot)" * predicted,
        first=heading,
        marks="From labels to predictions" if predicted else "Labels",
        axis=axis,
        columns=columns if predicted else {"Labels": columns["Labels"]},
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )
