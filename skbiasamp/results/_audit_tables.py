"""The picture and the tables of an audit: metrics, pairs, words, groups and their rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from skbiasamp._utils.formatting import (
    AMPLIFIES,
    NO_EFFECT,
    REDUCES,
    SIDE_OF,
    amount,
    group_of,
    growth,
    in_people,
    listed,
    metric_name,
    name_of,
    number,
    points,
    rate,
    task_of,
)
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.inference.independent_signs import FEWEST_ROWS
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import (
    MOST_ROWS,
    Bar,
    Bars,
    Cell,
    Table,
)
from skbiasamp.results._content import (
    Cells,
    count,
    ends,
    estimates_table,
    in_points,
    interval_mark,
    known_columns,
    naming_of_pairs,
    shown,
    with_interval,
)
from skbiasamp.results._json import as_json, records
from skbiasamp.results._report import AuditReport, columns_alone
from skbiasamp.results._result import AuditResult
from skbiasamp.results._selection_rates import TOGETHER, hold_together
from skbiasamp.results.thresholds import at_base_rate

_MOST_BARS = 6  # groups of the picture
_SHARED = 0.005  # a change of all rows that the picture shows apart
_MEANS = ("base_rate", "predicted_rate", "change")
_SHARES = [i / 10 for i in range(1, 10)]  # of rows, at whose thresholds the curve is shown
_UNCOUNTED = "adds 0"
_RATIO = (
    "Impact ratio: {rate} divided by the highest of any group. Simultaneous intervals hold for all "
    "groups of a task together, whichever of them truly has the highest rate. {wanted}"
)


def interval_of(result: AuditResult) -> str:
    """Return the ends of the interval, or a dash."""
    return ends(*as_json(result.judged)[1:]) or "–"


def summary_table(
    report: AuditReport,
    names: Sequence[str] | None = None,
    numbered: Mapping[str, str] | None = None,
    **options: Any,
) -> Table | None:
    """Return the metrics on one axis."""
    names = list(report if names is None else names)
    if not names:
        return None
    adjusted = pd.Series(report.p_adjusted)
    rows = records(report.summary.assign(p_adjusted=adjusted).loc[names].reset_index())
    several = ["Adjusted p"] * (len(report) > 2)
    columns = known_columns("Verdict", "Estimate", "Interval", "p-value", *several)
    if any(report[name].differs for name in names):
        columns["Published value"] = lambda row: Cell(
            number(row["value"]) if report[row["audit"]].differs else "the same", row["value"]
        )

    def named(row: dict[str, Any]) -> dict[str, Any]:
        name = row["audit"]
        return {"name": metric_name(name), "link": (numbered or {}).get(name, "")}

    return estimates_table(rows, columns, named, **{"caption": "", "first": "Metric", **options})


def columns_table(by_column: pd.DataFrame, combined: AuditResult) -> Table | None:
    """Return the metric by each sensitive column alone, and by their combinations."""
    if by_column.empty:
        return None
    rows = records(by_column)
    numbers = {key: as_json(getattr(combined, key)) for key in ("estimate", "low", "high")}
    rows.append(
        {"column": "all columns together", "p_adjusted": None, "verdict": combined.verdict}
        | {"groups": combined.table["group"].nunique(), **numbers}
    )
    return estimates_table(
        rows,
        known_columns("Verdict")
        | {"Groups": shown("groups", count)}
        | known_columns("Estimate", "Interval", "Adjusted p"),
        lambda row: {"name": name_of(row["column"])},
        id="columns-table",
        caption="Each sensitive column by itself. Its verdict is adjusted for their number",
        first="Sensitive column",
    )


def curve_table(curve: pd.DataFrame) -> Table | None:
    """Return the amplification at some thresholds."""
    nearest = at_base_rate(curve)
    if nearest is None:
        return None
    at = [int((curve["predicted_rate"] - share).abs().argmin()) for share in _SHARES]
    rows = records(curve.iloc[sorted({*at, list(curve["threshold"]).index(nearest["threshold"])})])
    return estimates_table(
        rows,
        {"Predicted": shown("predicted_rate", rate)} | known_columns("Estimate", "Interval"),
        lambda row: {
            "name": f"above {amount(row['threshold'])}",
            "notes": ("as often as labelled",) * (row == nearest),
        },
        id="curve-table",
        caption="directional A→T at other thresholds of the score; each interval for itself",
        first="Threshold",
    )


def strongest_pairs(table_id: str, name: str, result: AuditResult) -> Table | None:
    """Return a result's pairs, strongest first."""
    if not len(result.table):
        return None
    uncounted = _UNCOUNTED + f": {result.uncounted}" * bool(result.uncounted)
    rows = [_read(row, uncounted) for row in records(result.strongest(MOST_ROWS))]
    few = [row.get("n") is not None and row["n"] < FEWEST_ROWS for row in rows]
    rows = [row for last in (False, True) for row, of in zip(rows, few, strict=True) if of is last]
    heading, named = naming_of_pairs(result.table, result.group_columns)
    level = result.confidence_level or 0.95

    def form(value: Any) -> str:
        return rate(value) if result.percent else amount(value)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        """Colour a pair if it is significant, by the same rule as in plots."""
        value, low, high = (row[end] for end in ("amplification", "low", "high"))
        drawn = interval_mark(value, low, high)
        if drawn["side"] not in ("undefined", "unknown", "zero"):
            sure = significant(row["p_adjusted"], low, high, level)
            drawn["side"] = ("above" if value > 0 else "below") if sure else "across"
            drawn["says"] = f"{'significant' if sure else 'not significant'}, {drawn['says']}"
        says = uncounted if row["notes"][:1] == (uncounted,) else drawn["says"]
        return drawn | {"says": says, "name": named(row), "notes": row["notes"]}

    sizes = {abs(row["amplification"] or 0) for row in rows}
    columns: Cells = {
        title: shown(key, form) for key, title in result.columns.items() if key in rows[0]
    }
    if result.percent and rows[0].get("delta") is not None:
        columns["Change, percentage points"] = lambda row: in_points(row["delta"])
    columns["Amplification"] = shown("amplification")
    # Shares of two groups mirror each other: their numbers are those of the metric.
    if len(rows) < 2 or max(sizes) - min(sizes) > 1e-12:
        several = ["Adjusted p"] * (len(rows) > 1)
        columns |= known_columns("Interval", *several)
        columns["Rows of the task" if _of_tasks(result) else "Rows"] = shown("n", count)
    explained = ""
    if result.kind.is_signed and "delta" in rows[0]:
        explained = ". Amplification is the change along the association: above 0 it widens"
        if abs(result.statistics.get("shift", 0.0)) >= 5e-5:
            explained += ", what all rows share included"
    return Table.of(
        rows,
        columns,
        mark,
        n=len(result.table),
        id=table_id,
        caption=name
        + f": {heading.lower()}s, strongest first" * bool(rows[1:])
        + f", those with fewer than {FEWEST_ROWS} rows last" * (any(few) and not all(few))
        + f" (amplification in {result.unit})" * bool(result.unit)
        + explained,
        first=heading,
        marks="Amplification and interval",
        axis=Axis.around(row[end] for row in rows for end in ("amplification", "low", "high")),
    )


def _read(row: dict[str, Any], uncounted: str) -> dict[str, Any]:
    """Return a pair with its notes; without a sign it adds 0, and shows no numbers."""
    numbers = dict.fromkeys(("amplification", "low", "high", "p_adjusted"))
    if row.get("sign") == 0 == row["amplification"]:
        return row | numbers | {"notes": (uncounted,)}  # blank, whatever the row holds
    flags = {"reliable": "few rows", "sign_certain": "sign uncertain"}
    notes = tuple(note for flag, note in flags.items() if row.get(flag) is False)
    low, high = (row.get(f"{end}_simultaneous") for end in ("low", "high"))
    known = row.get("sign_certain") is not False
    if known and low is not None and high is not None and (low > 0 or high < 0):
        notes += ("also clear if all pairs are judged together",)
    return numbers | row | {"notes": notes}


def _of_tasks(result: AuditResult) -> bool:
    """Return whether the rows of a pair are those of its task, whatever its group is."""
    table = result.table
    if result.direction == "A->T" or "n" not in table or table["group"].nunique() < 2:
        return False
    return bool(table["n"].groupby(table["task"].map(str)).nunique().max() == 1)


def word_tables(table_id: str, result: AuditResult) -> Iterator[Table]:
    """Yield the words by which attackers recognise each target, one table a source of texts."""
    if result.words is None:
        return
    of_target = result.words.groupby(["source", result.words["target"].map(str)])
    words = records(result.words.assign(rank=of_target.cumcount()))
    shares, columns = ("share", "share_others"), as_json(result.group_columns)
    axis = Axis.around((row[end] for row in words for end in shares), percent=True)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        dot, ring = (row[end] or 0.0 for end in shares)
        says = f"{rate(row['share'])} of these texts, {rate(row['share_others'])} of the others"
        return {"name": row["word"], "says": says, "span": (ring, dot), "ring": ring, "dot": dot}

    cells: Cells = {
        "Points to": lambda row: Cell(group_of(row["target"], columns), row["rank"]),
        "Weight": shown("weight", lambda value: number(value, ".2f")),
        "Share": shown("share", rate),
        "Of the others": shown("share_others", rate),
    }
    for i, source in enumerate(list(dict.fromkeys(row["source"] for row in words))[::-1]):
        own = [row for row in words if row["source"] == source]
        targets = list(dict.fromkeys(str(row["target"]) for row in own))
        yield Table.of(  # the strongest of every target first
            sorted(own, key=lambda row: (row["rank"], targets.index(str(row["target"])))),
            cells,
            mark,
            id=f"{table_id}-{i}",
            caption=f"Words in {source} by which an attacker recognises each target: share of "
            "texts that have the word, of this target (dot) and of the others (ring)",
            first="Word",
            marks="Share of texts",
            axis=axis,
        )


def groups_table(report: AuditReport) -> Table | None:
    """Return the rows of each group, and the accuracy of the model."""
    rows, columns = records(report.groups), report.context.get("group_columns", ())
    rated = any("accuracy" in row for row in rows)
    # With one task, the rates have all of it.
    if not rows or (rated and len(report.context.get("tasks", ())) == 1):
        return None

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        value = row.get("accuracy") if rated else row["share"]
        drawn = interval_mark(value, row.get("accuracy_low"), row.get("accuracy_high"))
        name = group_of(row["group"], columns)
        return drawn | {"name": name, "side": "plain", "says": rate(value)}

    return Table.of(
        rows,
        known_columns("Rows", "Share of rows", *["Accuracy"] * rated),
        mark,
        id="groups-table",
        caption="Groups" + (": accuracy of the model, with 95 % intervals" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        axis=Axis(0.0, 1.0, percent=True),
    )


def rates_of(report: AuditReport) -> list[dict[str, Any]]:
    """Return the rates of each pair, with the rows of its group and how its rate changes."""
    sizes = {str(row["group"]): row["n"] for row in records(report.groups)}
    rows = records(report.rates)
    for row in rows:
        before, after = row.get("base_rate"), row.get("predicted_rate")
        row["n"] = sizes.get(str(row["group"]))  # a stored report may name other groups
        row["change"] = None if before is None or after is None else after - before
    return rows


def _with_reference(report: AuditReport) -> list[dict[str, Any]]:
    """Return the rates of each pair; rows without labels are compared with the reference."""
    rows = rates_of(report)
    result = None if report.primary is None else report[report.primary]
    if result is None or result.labelled or result.direction != "A->T":
        return rows
    pairs = {repr((row["group"], row["task"])): row["base"] for row in records(result.table)}
    for row in rows:
        row["base_rate"] = before = pairs.get(repr((row["group"], row["task"])))
        row["change"] = None if before is None else row["predicted_rate"] - before
    return rows


def rates_table(report: AuditReport) -> Table | None:
    """Return the rates of each pair, the largest change first."""
    rows = sorted(_with_reference(report), key=lambda row: -abs(row["change"] or 0))
    if not rows:
        return None
    apart = not report.context.get("labelled", True)
    heading, named = naming_of_pairs(report.rates, report.context.get("group_columns", ()))
    predicted, labelled = (name in rows[0] for name in ("predicted_rate", "base_rate"))
    edges = ("base_rate", "predicted_rate")
    columns = known_columns("Rows", *["Labelled so"] * (labelled and not apart))
    if apart and labelled:
        columns["Reference"] = shown("base_rate", rate)
    if predicted:
        columns["Selection rate" if not apart else "Rate"] = with_interval("predicted_rate")
        if labelled:
            columns["Change, percentage points"] = lambda row: in_points(row["change"])
        errors = ("Accuracy", "True positive rate", "False positive rate")
        columns |= known_columns("Impact ratio", *errors * (labelled and not apart))
    caption, marks = "labelled", "Labels"
    if predicted:
        caption = "labelled (ring) and " * labelled + "predicted (dot), with 95 % intervals"
        marks = "From labels to predictions" if labelled else "Predictions"
    if apart and labelled:
        caption = "of the reference (ring) and of these rows (dot), with 95 % intervals"
        marks = "From the reference to these rows"

    favourable = as_json(report.context.get("favourable"))
    wanted = "" if favourable is None else f"; impact ratios of {_wanted(favourable)}"

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        ring, dot = (row.get(end) for end in edges)
        says = [rate(row[end]) for end in edges if end in row]
        return {
            "name": named(row),
            "says": f"from {says[0]} to {says[1]}" if len(says) == 2 else says[0],
            "span": None if row["change"] is None else (ring, dot),
            "ring": ring,
            "dot": dot,
        }

    return Table.of(
        rows,
        columns,
        mark,
        id="rates-table",
        caption=f"Rates of each group: {caption}" + TOGETHER * hold_together(rows) + wanted,
        first=heading,
        marks=marks,
        axis=Axis.around((row.get(end) for row in rows for end in edges), percent=True),
    )


def ratios_read(favourable: Any) -> str:
    """Return what impact ratios compare; `favourable` names what people want, if it is known."""
    if favourable is None:
        return _RATIO.format(
            rate="selection rate",
            wanted="A low ratio is a disadvantage only if it is an advantage to be selected; if "
            "not, it is the reverse. favourable= names the class that people want.",
        )
    wanted = _wanted(favourable)
    return _RATIO.format(
        rate=f"the share of a group for which {wanted} is predicted",
        wanted=f"A low ratio is a disadvantage: {wanted} was declared as what people want.",
    )


def _wanted(favourable: Any) -> str:
    names = favourable if isinstance(favourable, list) else [favourable]
    return listed([f"'{task_of(name)}'" for name in names])


# --------------------------------------------------------------------------- the picture


def bars_of(report: AuditReport, result: AuditResult) -> Bars | None:
    """Return rates of the task that is affected most, by group, or None without predictions.

    Of many groups, those are shown in which most rows changed, the largest first. If a column alone
    shows what all of them together do not, its groups are shown.
    """
    ends = ("base_rate", "predicted_rate")
    known = [row for row in _with_reference(report) if row["change"] is not None]
    columns = report.context.get("group_columns", ())
    for name in next(iter(columns_alone(report).values()), [])[:1]:
        known, columns = _of_column(report, name), [name]
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

        rows = sorted(sorted(rows, key=by_rows_changed)[:_MOST_BARS], key=lambda row: -row["n"])
    is_of_task = [as_json(task) == rows[0]["task"] for task in result.table["task"]]
    of_task = records(result.table[is_of_task])
    pairs = {repr((row["group"], row["task"])): row for row in of_task}
    gap = ""
    if len(rows) == 2:
        before, after = (round(rows[0][end], 3) - round(rows[1][end], 3) for end in ends)
        sides = ("the labels", "the predictions")
        if not result.labelled:
            sides = ("the reference rows", "these rows")
        gap = (
            f"Difference between the groups: {points(before)} in {sides[0]}, {points(after)} in "
            f"{sides[1]}{_interval_of_gap(rows)}."
        )
    elif shared:
        gap = (
            f"All rows together: {in_points(shared).text} percentage points. The association "
            "changes by what groups differ from that."
        )
    task = f"“{task_of(rows[0]['task'])}”"
    asked = f"How often is each group labelled {task}, and how often is it predicted so?"
    if not result.labelled:
        asked = f"How often is {task} in each group of the reference rows, and of these rows?"
    return Bars(
        asked,
        [_bar(row, pairs, result, columns, shared) for row in rows],
        Axis.around((row[end] for row in rows for end in ends), percent=True).high,
        gap,
        n_rows - len(rows),
        apart=not result.labelled,
    )


def _interval_of_gap(rows: list[dict[str, Any]]) -> str:
    """Return the interval of a difference of two predicted rates, from theirs (Newcombe)."""
    names = [f"predicted_rate{end}" for end in ("", "_low", "_high")]
    if any(row.get(name) is None for row in rows for name in names):
        return ""
    (p, low, high), (q, low_q, high_q) = sorted(
        ([row[name] for name in names] for row in rows), reverse=True
    )
    ends = (p - q - math.hypot(p - low, high_q - q), p - q + math.hypot(high - p, q - low_q))
    return " (95 % interval: " + " to ".join(f"{100 * end:.1f}" for end in ends) + ")"


def gap_of_largest(report: AuditReport, column: str) -> str:
    """Say how the difference between the two largest groups of a sensitive column changes."""
    rows = sorted(_of_column(report, column), key=lambda row: -row["n"])
    rows = [row for row in rows if row["task"] == rows[0]["task"]][:2]
    before, after = (
        round(rows[0][end], 3) - round(rows[1][end], 3) for end in ("base_rate", "predicted_rate")
    )
    names = (group_of(row["group"], [column]) for row in rows)
    of = f"in '{task_of(rows[0]['task'])}' between {' and '.join(names)}"
    return f"The difference {of} {growth(before, after)}."


def _of_column(report: AuditReport, column: str) -> list[dict[str, Any]]:
    """Return the rates of each category of a sensitive column, and each task."""
    at = list(report.context["group_columns"]).index(column)
    sums: dict[str, dict[str, Any]] = {}
    for row in _with_reference(report):
        if row["change"] is None:
            continue
        own = {"group": row["group"][at], "task": row["task"]}
        whole = sums.setdefault(repr(own), own | dict.fromkeys(("n", *_MEANS), 0.0))
        whole["n"] += row["n"]
        for name in _MEANS:
            whole[name] += row["n"] * row[name]
    return [row | {name: row[name] / row["n"] for name in _MEANS} for row in sums.values()]


def _bar(
    row: dict[str, Any],
    pairs: Mapping[str, dict[str, Any]],
    result: AuditResult,
    columns: Any,
    shared: float,
) -> Bar:
    verdict = _verdict_of(pairs.get(repr((row["group"], row["task"]))), result)
    change = f"{in_points(row['change']).text} percentage points, {in_people(row['change'])}"
    if shared:  # which is a part of the pair's change, and of no gap
        verdict = ""
        change += f"; {in_points(row['change'] - shared).text} compared with all rows"
    side = SIDE_OF.get(verdict, "across")
    name = f"{group_of(row['group'], columns)} ({count(row['n'])} rows)"
    return Bar(name, row["base_rate"], row["predicted_rate"], change, verdict, side)


def _verdict_of(pair: dict[str, Any] | None, result: AuditResult) -> str:
    """Return what a pair's change does, if the result has the pair: in the fixed vocabulary."""
    if pair is None or not result.kind.is_signed or not pair.get("sign"):
        return ""
    if pair.get("sign_certain") is False:
        return "direction uncertain"
    level = result.confidence_level or 0.95
    sure = significant(pair.get("p_adjusted"), pair.get("low"), pair.get("high"), level)
    return (AMPLIFIES if pair["amplification"] > 0 else REDUCES) if sure else NO_EFFECT
