"""Content of the page of a watch: verdict, picture over time, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skbiasamp._utils.formatting import level_of, listed, name_of, number, p_value
from skbiasamp.render._page_tables import Axis, Table, count, interval_mark, naming_of_pairs, shown
from skbiasamp.render._record import facts, record_of, short
from skbiasamp.render.periods import running_mean, typical

_TAGS = {
    "alarm": ("▲", "above"),
    "no alarm": ("◆", "across"),
    "not measured": ("–", "undefined"),
}
_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 30, 44
_MOST_LABELS, _MOST_DOTS, _FEW = 8, 120, 5
_MOST_NAMES = 6
_NEAR = 90  # beside a line: the name of a version takes so much
_KEPT = ("value", "low", "high", "expected")

LIMITS = {
    "What an alarm means": "The rows of a later period differ from the reference by more than "
    "chance. It does not say why, and it does not say that the model became worse: read the value.",
    "What no alarm means": "There is no clear evidence of a change. Small changes may be there, "
    "above all if the reference or the periods have few rows.",
    "Independent rows": "The rule treats rows of a group as independent. If the same people "
    "return, or days of the week differ, alarms may come from that: use longer periods.",
    "Intervals": "The interval of a period is for this period alone. Over many periods, some "
    "intervals exclude the reference by chance: only the alarm counts all periods.",
}
_STEPS = (
    "Look at what else changed when the change began: the model's version, its inputs, how labels "
    "are collected.",
    "Audit the periods before and after it (skbiasamp audit), and compare them.",
    "If the change is intended, start a new watch, with a later period as the reference.",
)


def timeline_view(
    content: dict[str, Any],
    causes: Sequence[str] = (),
    changes: Sequence[tuple[str, str]] = (),
    *,
    most: int,
) -> dict[str, Any]:
    """Return what the template fills in; no table has more than `most` rows."""
    context, periods = content["context"], content["periods"]
    symbol, side = _TAGS[content["verdict"]]
    metric = name_of(_named(content)).replace("->", "→")
    known = {
        **facts(context),
        "Periods": f"{len(periods)}, {periods[0]['period']} to {periods[-1]['period']}",
    }
    for name in ("Training labels", "Date"):
        known.pop(name, None)
    known["Date"] = context.get("date", "")
    watched = [row for row in periods if row["role"] == "watched"]
    found = [row for row in watched if row["alarm"]]
    notes = _noted(content["notes"])
    return {
        "title": f"Bias amplification over time{_of_model(context)}",
        "context": context,
        "facts": {name: text for name, text in known.items() if text},
        "symbol": symbol,
        "side": side,
        "word": content["verdict"],
        "headline": _headline(content),
        "sentence": content["sentence"],
        "metric": metric,
        "question": content["question"],
        "reference": content["reference"],
        "steps": _STEPS if found else (),
        "causes": listed(list(causes)) if causes else "",
        "picture": _picture(content, changes),
        "changes": [f"{period}: version {name_of(version)}" for period, version in changes],
        "pairs": _pairs(content, watched, most),
        "table": _periods(content, most),
        "notes": notes[:most],
        "n_notes": len(notes),
        "limits": LIMITS,
        "record": record_of(context, content["schema"]),
        "data_files": context.get("data_files", []),
        "audits": [
            {
                "name": metric,
                "parameters": [(key, short(value)) for key, value in content["params"].items()],
            }
        ],
    }


def _noted(notes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes, those of the same text once: a watch of working days has many empty ones."""
    periods: dict[str, list[str]] = {}
    for one in notes:
        held = periods.setdefault(one["text"], [])
        held += [one["period"]] if one["period"] is not None else []
    shown = []
    for text, names in periods.items():
        more = [f"{len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else []
        shown.append(f"{listed(names[:_MOST_NAMES] + more)}: {text}" if names else text)
    return shown


def _of_model(context: dict[str, Any]) -> str:
    named = context.get("model_name")
    return "" if named is None else f": {name_of(named)}"


def _named(content: dict[str, Any]) -> str:
    direction = content["direction"]
    return content["metric"] if direction is None else f"{content['metric']} {direction}"


def _headline(content: dict[str, Any]) -> str:
    if content["verdict"] == "alarm":
        return f"Changed since {content['onset']}"
    return {"no alarm": "No clear change"}.get(content["verdict"], "Nothing to compare yet")


# --------------------------------------------------------------------------- picture


def _picture(content: dict[str, Any], changes: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """Return the coordinates of the picture, or None if no period has a value."""
    periods = content["periods"]
    reference = content["reference"]
    known = [row[one] for row in _typical(periods) for one in _KEPT if row[one] is not None]
    if not known or reference["value"] is None:
        return None
    low, high = _ends([*known, reference["value"]])
    step = (_WIDTH - _LEFT - _RIGHT) / len(periods)

    def x(i: float) -> float:
        return round(_LEFT + (i + 0.5) * step, 2)

    def y(value: float) -> float:
        inner = _HEIGHT - _TOP - _BOTTOM
        return round(_TOP + inner * (high - min(max(value, low), high)) / (high - low), 2)

    at = {row["period"]: i for i, row in enumerate(periods)}
    runs = _runs(periods)
    roles = [i for i, row in enumerate(periods) if row["role"] == "reference"]
    alarms = [i for i, row in enumerate(periods) if row["alarm"] and row["value"] is not None]
    few = len(periods) <= _MOST_DOTS
    n_mean, means = running_mean(*([row[one] for row in periods] for one in ("value", "n")))
    every = max(1, math.ceil(len(periods) / _MOST_LABELS))
    onset = at.get(content["onset"]) if content["onset"] else None
    first = round(x(alarms[0]) - step / 2, 2) if alarms else math.inf
    versions = []
    for period, version in changes:
        line = round(x(at[period]) - step / 2, 2)
        # On the other side of its line if the line of the first alarm would cross it.
        left = line < first < line + _NEAR and line > _LEFT + _NEAR
        versions.append({"x": line, "left": left, "name": f"version {name_of(version)}"})
    beyond = [
        row["period"]
        for row in periods
        if any(row[one] is not None and not low <= row[one] <= high for one in _KEPT)
    ]
    # Names beside lines that stand close would cover one another.
    shown = versions if len(versions) <= _FEW else []
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "top": _TOP,
        "bottom": _HEIGHT - _BOTTOM,
        "bands": [
            " ".join(
                [f"{x(i)},{y(row['high'])}" for i, row in run]
                + [f"{x(i)},{y(row['low'])}" for i, row in reversed(run)]
            )
            for run in _runs(periods, "low")
        ],
        "lines": [" ".join(f"{x(i)},{y(row['value'])}" for i, row in run) for run in runs],
        "mean": ""
        if few
        else " ".join(f"{x(i)},{y(one)}" for i, one in enumerate(means) if not math.isnan(one)),
        "n_mean": n_mean,
        "dots": [
            {"x": x(i), "y": y(row["value"]), "says": _says(row)}
            for i, row in enumerate(periods)
            if row["value"] is not None and few
        ],
        "alarms": [
            {"x": x(i), "y": y(periods[i]["value"]), "says": _says(periods[i])} for i in alarms
        ]
        if few
        else [],
        "alarm": None if not alarms else {"x": first, "name": periods[alarms[0]]["period"]},
        "since": None if onset is None else round(x(onset) - step / 2, 2),
        "reference": y(reference["value"]),
        "span": None
        if not roles
        else (round(x(roles[0]) - step / 2, 2), round(step * (roles[-1] - roles[0] + 1), 2)),
        "versions": versions,
        "version_names": shown,
        "zero": y(0.0) if low <= 0 <= high else None,
        "ticks": [(y(one), number(one, "+.3g") if one else "0") for one in _ticks(low, high)],
        "labels": [(x(i), row["period"]) for i, row in enumerate(periods) if i % every == 0],
        "says": content["sentence"],
        "beyond": _noted([{"period": one, "text": _BEYOND} for one in beyond]),
        "level": None
        if content["confidence_level"] is None
        else level_of(content["confidence_level"]),
    }


_BEYOND = "few rows, and values or intervals beyond the picture."


def _typical(periods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the periods that decide where axes end."""
    of_size = typical([row["n"] for row in periods])
    return [row for row, one in zip(periods, of_size, strict=True) if one]


def _says(row: dict[str, Any]) -> str:
    text = f"{row['period']}: {number(row['value'])}"
    if row["low"] is not None:
        text += f" ({number(row['low'])} to {number(row['high'])})"
    return text + f", {count(row['n'])} rows" + ", alarm" * row["alarm"]


def _runs(periods: list[dict[str, Any]], key: str = "value") -> list[list[tuple[int, Any]]]:
    """Return stretches of periods that have a value; a line does not cross a gap."""
    runs: list[list[tuple[int, Any]]] = [[]]
    for i, row in enumerate(periods):
        if row[key] is None:
            runs.append([])
        else:
            runs[-1].append((i, row))
    return [run for run in runs if run]


def _ends(values: list[float]) -> tuple[float, float]:
    """Return where the axis ends: beside the values there is some space."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.01
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    size = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(size))
    step = next(one * power for one in (1, 2, 2.5, 5, 10) if size <= one * power)
    first = math.ceil(low / step)
    return [round(i * step, 12) for i in range(first, math.floor(high / step) + 1)]


# --------------------------------------------------------------------------- tables


def _periods(content: dict[str, Any], most: int) -> Table:
    """Return the periods, the latest first."""
    rows = list(reversed(content["periods"]))
    axis = Axis.around(row[one] for row in _typical(rows) for one in _KEPT)

    def within(value: float | None) -> float | None:
        return None if value is None else min(max(value, axis.low), axis.high)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        drawn = interval_mark(axis, *(within(row[one]) for one in ("value", "low", "high")))
        notes = [] if row["role"] == "watched" else [row["role"]]
        if row["alarm"]:
            notes.append("alarm")
        side = "above" if row["alarm"] else "plain"
        return drawn | {"name": row["period"], "notes": notes, "side": side}

    def value(row: Mapping[str, Any]) -> tuple[str, float | None]:
        text = number(row["value"])
        if row["low"] is not None:
            text += f"\n{number(row['low'])} to {number(row['high'])}"
        return text, row["value"]

    columns = {
        "Rows": shown("n", count),
        "Value": value,
        "Expected": shown("expected"),
        "Difference": shown("difference"),
        "Adjusted p": shown("p_adjusted", p_value),
    }
    return Table(
        id="periods-table",
        caption="Every period, the latest first",
        first="Period",
        marks="Value and interval",
        axis=axis,
        columns=columns,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _pairs(content: dict[str, Any], watched: list[dict[str, Any]], most: int) -> Table | None:
    """Return what every pair does since the change began, or in the last period."""
    names = [row["period"] for row in watched]
    if not content["pairs"] or not names:
        return None
    start = names.index(content["onset"]) if content["onset"] in names else len(names) - 1
    since = set(names[start:])
    held: dict[str, list[dict[str, Any]]] = {}
    for row in content["pairs"]:
        if row["period"] in since:
            held.setdefault(repr((row["group"], row["task"])), []).append(row)
    rows = sorted(map(_since, held.values()), key=lambda row: row["p_adjusted"])
    heading, named = naming_of_pairs(rows, content["group_columns"])
    ends = [row[one] for row in rows for one in ("value", "expected", "difference")]
    axis = Axis.around(ends)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        drawn = interval_mark(axis, row["value"], None, None)
        ring = None if row["expected"] is None else axis.at(row["expected"])
        notes = ["alarm"] if row["alarm"] else []
        side = "above" if row["alarm"] else "plain"
        return drawn | {"name": named(row), "notes": notes, "side": side, "ring": ring}

    columns = {
        "Rows": shown("n", count),
        "Value": shown("value"),
        "Expected": shown("expected"),
        "Difference": shown("difference"),
        "Adjusted p": shown("p_adjusted", p_value),
    }
    first, last = names[start], names[-1]
    span = first if first == last else f"{first} to {last}"
    return Table(
        id="pairs-table",
        caption=f"What each group and task adds, {span} (ring: expected from the reference)",
        first=heading,
        marks="Value",
        axis=axis,
        columns=columns,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _since(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of a pair over periods, by its rows."""
    known = [row for row in rows if row["value"] is not None and row["n"]]
    total = sum(row["n"] for row in known)
    found = {"group": rows[0]["group"], "task": rows[0]["task"], "n": total}
    for key in ("value", "expected", "difference"):
        held = [row for row in known if row[key] is not None]
        found[key] = sum(row[key] * row["n"] for row in held) / total if held else None
    last = rows[-1]
    return found | {"p_adjusted": last["p_adjusted"], "alarm": last["alarm"]}
