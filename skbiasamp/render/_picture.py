"""The picture that a page opens with: how often groups are labelled with a task, and predicted."""

from __future__ import annotations

from typing import Any

from skbiasamp._utils.formatting import (
    AMPLIFIES,
    NO_EFFECT,
    REDUCES,
    REVERSES,
    group_of,
    growth,
    number,
    rate,
    task_of,
)
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.render._page_tables import Axis

MOST = 6  # groups


def picture_of(
    result: dict[str, Any] | None, rates: list[dict[str, Any]], context: dict[str, Any]
) -> dict[str, Any] | None:
    """Return rates of the task that is affected most, by group, or None without predictions."""
    ends = ("base_rate", "predicted_rate")
    known = [row for row in rates if all(row.get(end) is not None for end in ends)]
    if result is None or not known:
        return None
    pair = result["affected"] or max(known, key=lambda row: abs(row[ends[1]] - row[ends[0]]))
    rows = [row for row in known if row["task"] == pair["task"]] or [
        row for row in known if row["task"] == known[0]["task"]
    ]
    largest = sorted(
        rows, key=lambda row: (row["group"] != pair["group"], -abs(row[ends[1]] - row[ends[0]]))
    )[:MOST]
    axis = Axis.around((row[end] for row in largest for end in ends), percent=True)
    task = task_of(rows[0]["task"])
    return {
        "task": task,
        "end": rate(axis.high).replace(".0", ""),
        "n_left_out": len(rows) - len(largest),
        "bars": [_bar(row, result, axis, context) for row in rows if row in largest],
        "gap": _gap(rows),
    }


def _gap(rows: list[dict[str, Any]]) -> str:
    """Return how the difference between two groups changes; nothing if there are more groups."""
    if len(rows) != 2:
        return ""
    before, after = (rows[0][end] - rows[1][end] for end in ("base_rate", "predicted_rate"))
    return f"The difference between the groups {growth(before, after)}."


def _bar(
    row: dict[str, Any], result: dict[str, Any], axis: Axis, context: dict[str, Any]
) -> dict[str, Any]:
    before, after = row["base_rate"], row["predicted_rate"]
    verdict = _verdict_of(row, result)
    return {
        "group": group_of(row["group"], context.get("group_columns", ())),
        "before": rate(before),
        "after": rate(after),
        "change": f"{number((after - before) * 100, '+.1f')} percentage points",
        "verdict": verdict,
        "says": "predicted as often as labelled"
        if after == before
        else f"predicted {'more' if after > before else 'less'} often",
        "side": {AMPLIFIES: "above", REDUCES: "below", REVERSES: "below"}.get(verdict, "across"),
        "label": _percent(before / axis.high),
        "start": _percent(min(before, after) / axis.high),
        "width": _percent(abs(after - before) / axis.high),
        "added": after > before,
    }


def _verdict_of(row: dict[str, Any], result: dict[str, Any]) -> str:
    """Return what a pair's change does, if the result has the pair: in the fixed vocabulary."""
    alike = (
        one for one in result["table"] if (one["group"], one["task"]) == (row["group"], row["task"])
    )
    pair = next(alike, None)
    if pair is None or result["kind"] != "signed" or not pair.get("sign"):
        return ""
    if pair.get("sign_certain") is False:
        return "direction uncertain"
    level = result["confidence_level"] or 0.95
    value = pair["amplification"]
    sure = significant(pair.get("p_adjusted"), pair.get("low"), pair.get("high"), level)
    return (AMPLIFIES if value > 0 else REDUCES) if sure else NO_EFFECT


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
