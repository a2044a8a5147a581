"""The picture of an audit's page: rates of the task that is affected most, by group."""

from __future__ import annotations

from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import group_of, growth, in_people, points, task_of
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.inference.shares import difference_interval
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import Bar, Bars
from skbiasamp.results._audit_tables import has_few_rows, rates_with_reference, with_means
from skbiasamp.results._content import count, in_points
from skbiasamp.results._json import as_json
from skbiasamp.results._report import AuditReport, columns_alone
from skbiasamp.results._result import AuditResult
from skbiasamp.results.pair_tables import by_pair, pair_of

_MOST_BARS = 6  # groups of the picture
_SHARED = 0.005  # a smaller change of all rows is left in those of groups
_ENDS = ("base_rate", "predicted_rate")
_MEANS = (*_ENDS, "change")


def bars_of(report: AuditReport, result: AuditResult) -> Bars | None:
    """Return rates of the task that is affected most, by group, or None without predictions.

    If there are many groups, those in which most rows changed are shown: the largest change first,
    groups of few rows last. If a column alone shows what all of them together do not, its groups
    are shown.
    """
    known = _compared(report)
    columns = report.context.get("group_columns", ())
    if alone := next(iter(columns_alone(report).values()), []):
        known, columns = _of_column(report, alone[0]), alone[:1]
    if not known:
        return None
    pair = as_json(result.affected) or max(known, key=lambda row: abs(row["change"]))
    rows = [row for row in known if row["task"] == pair["task"]] or [
        row for row in known if row["task"] == known[0]["task"]
    ]
    n_rows, shared = len(rows), 0.0
    if n_rows > 2:
        shared = sum(row["n"] * row["change"] for row in rows) / sum(row["n"] for row in rows)
        shared *= abs(shared) >= _SHARED

        def by_rows_changed(row: dict[str, Any]) -> tuple[bool, float]:
            return row["group"] != pair["group"], -row["n"] * abs(row["change"])

        rows = sorted(rows, key=by_rows_changed)[:_MOST_BARS]
        rows.sort(key=lambda row: (has_few_rows(row), -round(abs(row["change"] - shared), 9)))
    pairs, gap = by_pair(result.table), ""
    if len(rows) == 2:
        gap = _gap(rows, columns, labelled=result.labelled)
    elif shared:
        gap = (
            f"All rows together: {in_points(shared)} percentage points. The "
            "verdict compares groups with this."
        )

    def bar(row: dict[str, Any]) -> Bar:
        verdict = _verdict_of(pairs.get(pair_of(row)), result)
        # What all rows share is part of a pair's change, and of no gap. If there are two
        # groups, the verdict is about their difference.
        if shared or (n_rows == 2 and verdict != words.NO_EFFECT):
            verdict = ""
        name = f"{group_of(row['group'], columns)} ({count(row['n'])} row{'s' * (row['n'] != 1)})"
        change = f"{in_points(row['change'])} percentage points, {in_people(row['change'])}"
        side = words.SIDE_OF.get(verdict, "across")
        return Bar(name, row["base_rate"], row["predicted_rate"], change, verdict, side)

    task = f"“{task_of(rows[0]['task'])}”"
    asked = f"How often is each group labelled {task}, and how often is it predicted so?"
    if not result.labelled:
        asked = f"How often is {task} in each group of the reference rows, and of these rows?"
    return Bars(
        asked,
        [bar(row) for row in rows],
        Axis.around((row[end] for row in rows for end in _ENDS), percent=True).high,
        gap,
        n_rows - len(rows),
        apart=not result.labelled,
    )


def _compared(report: AuditReport) -> list[dict[str, Any]]:
    """Return the rates that the verdict compares, and how each changes."""
    rows = with_means(report, rates_with_reference(report))
    return [row for row in rows if row["change"] is not None]


def _gap(rows: list[dict[str, Any]], columns: Any, *, labelled: bool) -> str:
    """Return the difference between two groups before and after, of the rates as they are shown.

    The interval of the latter is made of those of both rates (Newcombe).
    """
    gaps = _gaps(rows)
    names = ("the labels", "the predictions") if labelled else ("the reference rows", "these rows")
    sides = [f"{points(gap)} in {name}" for gap, name in zip(gaps, names, strict=True)]
    if gaps[0] * gaps[1] < 0:
        higher = [group_of(rows[gap < 0]["group"], columns) for gap in gaps]
        sides = [f"{side} ({name} higher)" for side, name in zip(sides, higher, strict=True)]
    interval, after = "", [f"predicted_rate{end}" for end in ("", "_low", "_high")]
    shares = [[row.get(name) for name in after] for row in rows]
    if None not in (*shares[0], *shares[1]):
        low, high = (in_points(end, ".1f") for end in difference_interval(*sorted(shares)[::-1]))
        interval = f" (95 % interval of the latter: {low} to {high})"
    return f"Difference between the groups: {', '.join(sides)}{interval}."


def gap_of_largest(report: AuditReport, column: str) -> str:
    """Say how the difference between the two largest groups of a sensitive column changes."""
    rows = sorted(_of_column(report, column), key=lambda row: -row["n"])
    rows = [row for row in rows if row["task"] == rows[0]["task"]][:2]
    names = (group_of(row["group"], [column]) for row in rows)
    of = f"in '{task_of(rows[0]['task'])}' between {' and '.join(names)}"
    return f"The difference {of} {growth(*_gaps(rows))}."


def _gaps(rows: list[dict[str, Any]]) -> list[float]:
    """Return the difference between two groups before and after, of the rates as they are shown."""
    return [round(rows[0][end], 3) - round(rows[1][end], 3) for end in _ENDS]


def _of_column(report: AuditReport, column: str) -> list[dict[str, Any]]:
    """Return the rates of each category of a sensitive column, and each task."""
    at = list(report.context["group_columns"]).index(column)
    sums: dict[str, dict[str, Any]] = {}
    for row in _compared(report):
        own = {"group": row["group"][at], "task": row["task"]}
        whole = sums.setdefault(pair_of(own), own | dict.fromkeys(("n", *_MEANS), 0.0))
        whole["n"] += row["n"]
        for name in _MEANS:
            whole[name] += row["n"] * row[name]
    return [row | {name: row[name] / row["n"] for name in _MEANS} for row in sums.values()]


def _verdict_of(pair: dict[str, Any] | None, result: AuditResult) -> str:
    """Return what a pair's change does, if the result has the pair: in the fixed vocabulary."""
    if pair is None or not result.kind.is_signed or not pair.get("sign"):
        return ""
    level = result.confidence_level or 0.95
    if not significant(pair.get("p_adjusted"), pair.get("low"), pair.get("high"), level):
        return words.NO_EFFECT
    if pair.get("direction_clear") is False:
        return "direction unclear"
    return words.AMPLIFIES if pair["amplification"] > 0 else words.REDUCES
