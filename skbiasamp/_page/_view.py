"""Content of the page, in its order: rows of text and the positions of their marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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

SHORT = 10  # rows that are shown before a reader asks for more
_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
}

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

# Text of a mark, for screen readers.
SIDES = {
    "above": "above 0",
    "below": "below 0",
    "across": "the interval includes 0",
    "zero": "exactly 0",
    "unknown": "no interval",
    "undefined": "undefined",
}

# Findings that change what to do, most urgent first, and where to go on.
_BESIDE = ("different directions", "balanced data")  # with the verdict
_NEXT = (
    "worse than chance",
    "threshold",
    "errors",
    "uncertain signs",
    "small cells",
    "undefined pairs",
    "error rates",
    "training labels",
)


@dataclass(frozen=True)
class Axis:
    """A scale that includes 0, and the positions of numbers on it."""

    low: float
    high: float
    percent: bool = False

    @classmethod
    def around(cls, values: Iterable[float | None], *, percent: bool = False) -> Axis:
        """Return the least axis of round ends that holds all values."""
        known = [one for one in values if one is not None and math.isfinite(one)]
        low, high = _round_up(-min([0, *known])), _round_up(max([0, *known]))
        if low == high == 0:
            high = 1.0 if percent else 0.01
        # Room for the 0 beside the label of a short end.
        low, high = (
            max(low, _round_up(high / 4)) if low else 0,
            max(high, _round_up(low / 4)) if high else 0,
        )
        return cls(-low, high, percent)

    def at(self, value: float) -> str:
        """Return the position of a value; the margins hold marks that stand at an end."""
        return f"{3 + 94 * (value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str, str]]:
        """Position, text and anchor of 0 and of both ends."""
        form = "{:.0%}".format if self.percent else "{:+.3g}".format
        ends = {self.low: "start", self.high: "end"}
        middle = {} if 0 in ends else {0.0: "middle"}
        return [
            (self.at(value), "0" if value == 0 else form(value).replace("-", "−"), anchor)
            for value, anchor in sorted({**ends, **middle}.items())
        ]


def _round_up(size: float) -> float:
    """Return the next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    if size <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if size <= step * power * (1 + 1e-9))


@dataclass(frozen=True)
class Row:
    """One row of a table: a name, text and number of each cell, and what its mark shows."""

    name: str
    cells: list[tuple[str, float | None]]
    side: str
    says: str  # the mark in words
    span: tuple[str, str] | None  # ends of a line
    dot: str | None
    ring: str | None = None
    link: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of rows, strongest first, with marks on one axis."""

    id: str
    caption: str
    first: str  # heading of the names
    marks: str  # heading of the marks
    columns: tuple[str, ...]
    axis: Axis
    rows: list[Row]
    n: int  # of how many these are the strongest

    @property
    def short(self) -> list[Row]:
        """The rows that are shown unasked."""
        return self.rows[:SHORT]


def view(content: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Return what the template fills in; no table has more than `most` rows."""
    audits = [
        _audit(i, name, result, most)
        for i, (name, result) in enumerate(content["results"].items(), 1)
    ]
    columns = content["context"].get("group_columns", ())
    groups, rates = (_records(content[one]) for one in ("groups", "rates"))
    findings = [
        {**one, "id": f"finding-{i}", "topic": one["topic"].capitalize()}
        for i, one in enumerate(content["findings"], 1)
    ]
    return {
        "context": content["context"],
        "record": _record(content["context"], content["schema"]),
        "audits": audits,
        "primary": next((one for one in audits if one["key"] == content["primary"]), None),
        "beside": [one for one in findings if one["topic"].lower() in _BESIDE],
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
        "interval": _interval(result),
        "level": "" if level is None else level_of(level),
        "p": p_value(result["p_value"]),
        "table": _pairs(f"pairs-{i}", title, result, most) if table else None,
        "n": len(table),
        "unreliable": sum(row.get("reliable") is False for row in table),
        "uncertain": sum(row.get("sign_certain") is False for row in table),
        "parameters": [(key, _short(one)) for key, one in result["params"].items()],
        "statistics": [(key, _short(one)) for key, one in statistics.items()],
    }


def _interval(row: dict[str, Any]) -> str:
    low, high = row["low"], row["high"]
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


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
    return Table(
        id="summary",
        caption="All audits: value and interval, zero marked",
        first="Audit",
        marks="Value and interval",
        columns=("Verdict", "Value", "Interval", "p"),
        axis=axis,
        rows=[
            Row(
                name=one["name"],
                link=one["id"],
                cells=[
                    (f"{one['symbol']} {one['verdict']}", list(TAGS).index(one["verdict"])),
                    (one["value"], row["value"]),
                    (one["interval"], row["low"]),
                    (one["p"], row["p_value"]),
                ],
                **_interval_mark(axis, row["value"], row["low"], row["high"])
                | {"side": one["side"]},
            )
            for one, row in zip(audits, numbers, strict=True)
        ],
        n=len(audits),
    )


def _interval_mark(
    axis: Axis, value: float | None, low: float | None, high: float | None
) -> dict[str, Any]:
    side = side_of(value, low, high)
    return {
        "side": side,
        "says": SIDES[side],
        "dot": None if value is None else axis.at(value),
        "span": None if low is None or high is None else (axis.at(low), axis.at(high)),
    }


def _pairs(table_id: str, name: str, result: dict[str, Any], most: int) -> Table:
    """Return a result's pairs, strongest first."""
    attack, columns = result["kind"] == "attack", result["group_columns"]
    rows = sorted(result["table"], key=lambda row: -abs(row["amplification"] or 0))[:most]
    before, after = ("quality_data", "quality_model") if attack else ("base", "observed")
    shares = not attack or result["params"].get("quality") in ("accuracy", "balanced_accuracy")
    form: Callable[[Any], str] = rate if shares else (lambda value: number(value, ".4g"))
    ends = ("amplification", "low", "high")
    axis = Axis.around(row[end] for row in rows for end in ends if not _uncounted(row))
    if attack:
        caption, first = "what the attacker guesses", "Target"
        headings = ("From labels", "From the model")
    else:
        caption, first, headings = "pairs, strongest first", "Pair", ("Labels", "Predictions")
    alone = len({str(row["task"]) for row in result["table"]}) == 1
    return Table(
        id=table_id,
        caption=f"{name}: {caption}",
        first="Group" if alone and not attack else first,
        marks="Amplification and interval",
        columns=("Amplification", "Interval", "Adjusted p", *headings, "Rows"),
        axis=axis,
        rows=[
            Row(
                name=_pair_name(row, columns, alone=alone),
                cells=[
                    *_measured(row),
                    (form(row[before]), row[before]),
                    (form(row[after]), row[after]),
                    (number(row["n"], ",.15g"), row["n"]),
                ],
                notes=_notes(row),
                **_pair_mark(axis, row, result["confidence_level"]),
            )
            for row in rows
        ],
        n=len(result["table"]),
    )


def _uncounted(row: dict[str, Any]) -> bool:
    """Whether a pair has no sign, so that its part of the value is always 0."""
    return row.get("sign") == 0 == row["amplification"]


def _measured(row: dict[str, Any]) -> list[tuple[str, float | None]]:
    """Return amplification, interval and p-value of a pair, dashes if it does not count."""
    if _uncounted(row):
        return [("–", None)] * 3
    return [
        (number(row["amplification"]), row["amplification"]),
        (_interval(row), row["low"]),
        (p_value(row["p_adjusted"]), row["p_adjusted"]),
    ]


def _notes(row: dict[str, Any]) -> tuple[str, ...]:
    if _uncounted(row):
        return ("does not count",)
    flags = {"reliable": "few rows", "sign_certain": "sign uncertain"}
    return tuple(note for flag, note in flags.items() if row.get(flag) is False)


def _pair_mark(axis: Axis, row: dict[str, Any], level: float | None) -> dict[str, Any]:
    """Return the mark of a pair: coloured if it is significant, by the same rule as in plots."""
    if _uncounted(row):
        return {"side": "undefined", "says": "does not count", "dot": None, "span": None}
    value, low, high = (row[one] for one in ("amplification", "low", "high"))
    mark = _interval_mark(axis, value, low, high)
    if mark["side"] not in ("undefined", "unknown", "zero"):
        sure = significant(row["p_adjusted"], low, high, 0.95 if level is None else level)
        mark["side"] = ("above" if value > 0 else "below") if sure else "across"
        mark["says"] = f"{'significant' if sure else 'not significant'}, {mark['says']}"
    return mark


def _pair_name(row: dict[str, Any], columns: Any, *, alone: bool) -> str:
    """Return group and task, or the one of them that differs between rows."""
    group, task = row["group"], row["task"]
    named = [group_of(group, columns)] if group != "(all)" else []
    if task != "(all)" and not (alone and named):
        named.append(task_of(task))
    return " · ".join(named) or "all groups"


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
    urgent = [one for topic in _NEXT for one in findings if one["topic"].lower() == topic]
    return (urgent or findings)[:3]


# --------------------------------------------------------------------------- groups


def _groups(rows: list[dict[str, Any]], columns: Any, most: int) -> Table | None:
    """Return the rows of each group, and the accuracy of the model."""
    if not rows:
        return None
    rated = "accuracy" in rows[0] or any("accuracy" in row for row in rows)
    axis = Axis(0.0, 1.0, percent=True)
    shown = "accuracy" if rated else "share"
    return Table(
        id="groups-table",
        caption="Groups" + (": accuracy of the model" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        columns=("Rows", "Share", *(["Accuracy"] * rated)),
        axis=axis,
        rows=[
            Row(
                name=group_of(row["group"], columns),
                cells=[
                    (number(row["n"], ",.15g"), row["n"]),
                    *((rate(row[one]), row[one]) for one in ("share", "accuracy") if one in row),
                ],
                side="plain",
                says=f"{rate(row[shown])}",
                span=None if row[shown] is None else (axis.at(0), axis.at(row[shown])),
                dot=None if row[shown] is None else axis.at(row[shown]),
            )
            for row in rows[:most]
        ],
        n=len(rows),
    )


def _rates(rows: list[dict[str, Any]], names: Any, most: int) -> Table:
    """Return base and predicted rate of each pair, the largest difference first."""
    predicted = "predicted_rate" in rows[0]

    def change(row: dict[str, Any]) -> Any:
        before, after = row["base_rate"], row.get("predicted_rate")
        return None if before is None or after is None else after - before

    if predicted:
        rows = sorted(rows, key=lambda row: -abs(change(row) or 0))
    alone = len({str(row["task"]) for row in rows}) == 1
    ends = ("base_rate", "predicted_rate")
    axis = Axis.around((row.get(end) for row in rows[:most] for end in ends), percent=True)
    columns = {
        "base_rate": "Labels",
        "predicted_rate": "Predictions",
        "true_positive_rate": "True positive rate",
        "false_positive_rate": "False positive rate",
    }
    columns = {key: title for key, title in columns.items() if key in rows[0]}
    made = []
    for row in rows[:most]:
        base: Any = row["base_rate"]
        after: Any = row.get("predicted_rate")
        moved = change(row)
        cells = [(rate(row[key]), row[key]) for key in columns]
        if predicted:
            text = "–" if moved is None else number(moved * 100, "+.1f")
            cells.insert(2, (text, moved))
        made.append(
            Row(
                name=_pair_name(row, names, alone=alone),
                cells=cells,
                side="plain",
                says=f"from {rate(base)} to {rate(after)}" if predicted else rate(base),
                span=None if moved is None else (axis.at(base), axis.at(after)),
                ring=None if base is None else axis.at(base),
                dot=None if after is None else axis.at(after),
            )
        )
    titles = list(columns.values())
    if predicted:
        titles.insert(2, "Change, percentage points")
    return Table(
        id="rates-table",
        caption="Rates of each group: labelled (ring) and predicted (dot)"
        if predicted
        else "Rates of each group: labelled",
        first="Group" if alone else "Pair",
        marks="From labels to predictions" if predicted else "Labels",
        columns=tuple(titles),
        axis=axis,
        rows=made,
        n=len(rows),
    )
