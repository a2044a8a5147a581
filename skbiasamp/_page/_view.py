"""What the page shows, in the order it shows it: rows of text and where their marks stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from skbiasamp._page._words import listed, name_of, number, p_value, rate, verdict

SHORT = 10  # rows that are shown before a reader asks for more
_PARAMETER = 200  # characters of a parameter
_NAMES = 20  # groups and tasks of the record
_TITLES = {
    "n_samples": "audited rows",
    "n_train": "training rows",
    "n_dropped": "rows left out",
}

# What each metric asks, in one line.
ABOUT = {
    "directional A->T": (
        "Does the attribute sway the prediction of the task more than the labels bear out? Above 0 "
        "predictions exaggerate what the labels lean to, below 0 they weaken it."
    ),
    "directional T->A": (
        "Does the task sway the prediction of the attribute more than the labels bear out? Above 0 "
        "predictions exaggerate what the labels lean to, below 0 they weaken it."
    ),
    "MALS": (
        "Do tasks that lean to a group lean to it more in the predictions? It sees only groups "
        "above their equal share, and mixes both directions: prefer the directional audit."
    ),
    "multi-attribute": (
        "How far do predictions move sets of labels that occur together? The value is a size: "
        "never below 0, and larger where sets are rare."
    ),
    "leakage": (
        "Does what the model puts out tell more of the protected attribute than labels with as "
        "many errors?"
    ),
    "DPA A->T": (
        "Does the protected attribute tell more of the predictions than of labels with as many "
        "errors? Between −1 and 1; it sees bias where the labels are balanced, too."
    ),
    "DPA T->A": (
        "Do the labels tell more of the predicted attribute than of an attribute with as many "
        "errors? Between −1 and 1; it sees bias where the labels are balanced, too."
    ),
}

# Which to read first: one direction before both, signs before sizes.
_TELLING = ("directional", "DPA", "leakage", "MALS", "multi-attribute")

TAGS = {
    "above": ("▲", "amplifies"),
    "below": ("▼", "weakens"),
    "across": ("◆", "may be chance"),
    "zero": ("●", "exactly 0"),
    "unknown": ("?", "no interval"),
    "undefined": ("–", "not measured"),
}
_TAGS_TOLD = {**TAGS, "above": ("▲", "tells more"), "below": ("▼", "tells less")}
_TAGS_SIZE = {**TAGS, "above": ("▲", "moves sets")}

# What a mark shows, for those who do not see it.
SIDES = {
    "above": "above 0",
    "below": "below 0",
    "across": "the interval holds 0",
    "zero": "exactly 0",
    "unknown": "no interval",
    "undefined": "undefined",
}

# Findings that change what to do, most urgent first, and where to go on.
_NEXT = (
    "balanced data",
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
    """A scale that holds 0, and where numbers stand on it."""

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
        _audit(i, name, result, content["sentences"].get(name, ""), most)
        for i, (name, result) in enumerate(content["results"].items(), 1)
    ]
    groups, rates = (_records(content[one]) for one in ("groups", "rates"))
    findings = [
        {**one, "id": f"finding-{i}", "topic": one["topic"].capitalize()}
        for i, one in enumerate(content["findings"], 1)
    ]
    return {
        "context": content["context"],
        "record": _record(content["context"], content["schema"]),
        "audits": audits,
        "telling": sorted(audits, key=_telling)[:3],
        "sure": how_sure(audits),
        "next": look_next(findings),
        "summary": _summary(audits),
        "groups": _groups(groups, most),
        "rates": _rates(rates, most) if rates else None,
        "findings": findings,
    }


def _record(context: dict[str, Any], schema: str) -> list[tuple[str, str]]:
    """Return what someone needs who would repeat the audit."""
    said: list[tuple[str, str]] = []
    for key, value in context.items():
        if isinstance(value, dict):
            said += [(name, _short(one)) for name, one in value.items()]
        elif isinstance(value, list):
            names = ", ".join(map(name_of, value[:_NAMES]))
            more = f" and {len(value) - _NAMES:,} more" if len(value) > _NAMES else ""
            said.append((key, names + more))
        elif key != "rows" and value is not None:
            said.append((key, f"{value:,.15g}" if isinstance(value, int | float) else str(value)))
    return [(_TITLES.get(key, key), text) for key, text in (*said, ("JSON schema", schema))]


def _records(frame: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(frame["columns"], row, strict=True)) for row in frame["data"]]


# --------------------------------------------------------------------------- audits


def _audit(i: int, name: str, result: dict[str, Any], sentence: str, most: int) -> dict[str, Any]:
    metric, table = result["metric"], result["table"]
    tags = {"leakage": _TAGS_TOLD, "DPA": _TAGS_TOLD, "multi-attribute": _TAGS_SIZE}
    side = verdict(result["value"], result["low"], result["high"])
    symbol, word = tags.get(metric, TAGS)[side]
    level = result["confidence_level"]
    described = f"{metric} {result['direction']}" if result["direction"] else metric
    name = name_of(name).replace("->", "→")
    return {
        "id": f"audit-{i}",
        "name": name,
        "metric": metric,
        "about": ABOUT.get(described) or ABOUT.get(metric, ""),
        "sentence": sentence,
        "side": side,
        "symbol": symbol,
        "word": word,
        "numbers": {one: result[one] for one in ("value", "low", "high", "p_value")},
        "value": number(result["value"]),
        "interval": _interval(result),
        "level": "" if level is None else f"{level * 100:.6g}%",
        "p": p_value(result["p_value"]),
        "table": _pairs(f"pairs-{i}", name, result, most) if table else None,
        "n": len(table),
        "unreliable": sum(row.get("reliable") is False for row in table),
        "uncertain": sum(row.get("sign_certain") is False for row in table),
        "parameters": [(key, _short(one)) for key, one in result["params"].items()],
        "statistics": [(key, _short(one)) for key, one in result["statistics"].items()],
    }


def _interval(row: dict[str, Any]) -> str:
    low, high = row["low"], row["high"]
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= _PARAMETER else text[: _PARAMETER - 1] + "…"


def _telling(audit: dict[str, Any]) -> tuple[bool, bool, int]:
    """Sort what was measured first, what is sure before what may be chance."""
    metric, side = audit["metric"], audit["side"]
    rank = _TELLING.index(metric) if metric in _TELLING else len(_TELLING)
    # A size is above 0 by its making.
    sure = side in ("above", "below") and metric != "multi-attribute"
    return side == "undefined", not sure, rank


def _summary(audits: list[dict[str, Any]]) -> Table:
    numbers = [one["numbers"] for one in audits]
    axis = Axis.around(row[end] for row in numbers for end in ("value", "low", "high"))
    return Table(
        id="summary",
        caption="All audits: value and interval, zero marked",
        first="Audit",
        marks="Value and interval",
        columns=("Value", "Interval", "p"),
        axis=axis,
        rows=[
            Row(
                name=one["name"],
                link=one["id"],
                cells=[
                    (one["value"], row["value"]),
                    (one["interval"], row["low"]),
                    (one["p"], row["p_value"]),
                ],
                **_interval_mark(axis, row["value"], row["low"], row["high"]),
            )
            for one, row in zip(audits, numbers, strict=True)
        ],
        n=len(audits),
    )


def _interval_mark(
    axis: Axis, value: float | None, low: float | None, high: float | None
) -> dict[str, Any]:
    side = verdict(value, low, high)
    return {
        "side": side,
        "says": SIDES[side],
        "dot": None if value is None else axis.at(value),
        "span": None if low is None or high is None else (axis.at(low), axis.at(high)),
    }


def _pairs(table_id: str, name: str, result: dict[str, Any], most: int) -> Table:
    """Return a result's pairs, strongest first."""
    told = result["metric"] in ("leakage", "DPA")
    rows = sorted(result["table"], key=lambda row: -abs(row["amplification"] or 0))[:most]
    before, after = ("quality_data", "quality_model") if told else ("base", "observed")
    shares = not told or result["params"].get("quality") in ("accuracy", "balanced_accuracy")
    form: Callable[[Any], str] = rate if shares else (lambda value: number(value, ".4g"))
    axis = Axis.around(row[end] for row in rows for end in ("amplification", "low", "high"))
    if told:
        caption, first, columns = "what can be told", "Told", ("From labels", "From the model")
    else:
        caption, first, columns = "pairs, strongest first", "Pair", ("Labels", "Predictions")
    alone = len({str(row["task"]) for row in result["table"]}) == 1
    return Table(
        id=table_id,
        caption=f"{name}: {caption}",
        first="Group" if alone and not told else first,
        marks="Amplification and interval",
        columns=("Amplification", "Interval", "Adjusted p", *columns, "Rows"),
        axis=axis,
        rows=[
            Row(
                name=_pair_name(row, alone=alone),
                cells=[
                    (number(row["amplification"]), row["amplification"]),
                    (_interval(row), row["low"]),
                    (p_value(row["p_adjusted"]), row["p_adjusted"]),
                    (form(row[before]), row[before]),
                    (form(row[after]), row[after]),
                    (number(row["n"], ",.15g"), row["n"]),
                ],
                notes=tuple(
                    note
                    for flag, note in (("reliable", "few rows"), ("sign_certain", "sign uncertain"))
                    if row.get(flag) is False
                ),
                **_interval_mark(axis, row["amplification"], row["low"], row["high"]),
            )
            for row in rows
        ],
        n=len(result["table"]),
    )


def _pair_name(row: dict[str, Any], *, alone: bool) -> str:
    """Return group and task, or the one of them that says something."""
    named = [one for one in (row["group"], row["task"]) if one != "(all)"]
    if not named:
        return "the attribute"
    if alone and len(named) == 2:
        named.pop()
    return " · ".join(map(name_of, named))


# --------------------------------------------------------------------------- in short


def how_sure(audits: list[dict[str, Any]]) -> list[str]:
    """Say which intervals hold 0, and how many pairs rest on little."""
    said = []
    levels = sorted({one["level"] for one in audits if one["level"]})
    # The size of a change is above 0 by its making.
    signed = [one for one in audits if one["metric"] != "multi-attribute"]
    for sides, leaves_out in ((("above", "below"), True), (("across", "zero"), False)):
        names = [one["name"] for one in signed if one["side"] in sides]
        if names:
            verb = ("leave" if leaves_out else "hold") + "s" * (len(names) == 1)
            said.append(
                f"The {' or '.join(levels)} interval{'s' * (len(names) > 1)} of {listed(names)} "
                + (f"{verb} 0 out." if leaves_out else f"{verb} 0: this may be chance.")
            )
    few = max(audits, key=lambda one: one["unreliable"], default=None)
    if few and few["unreliable"]:
        said.append(
            f"{few['unreliable']:,} of {few['n']:,} pairs of {few['name']} rest on fewer than 10 "
            "rows."
        )
    lacking = [one["name"] for one in audits if one["side"] == "unknown"]
    if lacking:
        said.append(f"{listed(lacking)}: no interval was made, so noise cannot be told from fact.")
    if len(audits) > 1:
        said.append(
            "p-values are adjusted for the pairs of one audit, not for the number of audits."
        )
    return said


def look_next(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the three findings that most change what to do; any, where none does."""
    urgent = [one for topic in _NEXT for one in findings if one["topic"].lower() == topic]
    return (urgent or findings)[:3]


# --------------------------------------------------------------------------- groups


def _groups(rows: list[dict[str, Any]], most: int) -> Table | None:
    """Return how many rows each group has, and how often the model is right."""
    if not rows:
        return None
    rated = "accuracy" in rows[0] or any("accuracy" in row for row in rows)
    axis = Axis(0.0, 1.0, percent=True)
    shown = "accuracy" if rated else "share"
    return Table(
        id="groups-table",
        caption="Groups" + (": how often the model is right" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        columns=("Rows", "Share", *(["Accuracy"] * rated)),
        axis=axis,
        rows=[
            Row(
                name=name_of(row["group"]),
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


def _rates(rows: list[dict[str, Any]], most: int) -> Table:
    """Return base and predicted rate of each pair, the furthest apart first."""
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
                name=_pair_name(row, alone=alone),
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
        titles.insert(2, "Change, points")
    return Table(
        id="rates-table",
        caption="How often each group has a label (ring), and gets it predicted (dot)"
        if predicted
        else "How often each group has a label",
        first="Group" if alone else "Pair",
        marks="From labels to predictions" if predicted else "Labels",
        columns=tuple(titles),
        axis=axis,
        rows=made,
        n=len(rows),
    )
