"""The facts of results and reports: numbers, and names as a reader knows them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import MISSING
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import group_of, name_of, shown_change, task_of
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.render.facts import (
    EVERYBODY,
    Change,
    Errors,
    Facts,
    Gap,
    Guesses,
    Model,
    Ratios,
    Robust,
    Unknown,
    Who,
    group_by,
    grown,
    is_against,
    is_mixed,
)
from skbiasamp.results.exports import as_json, records


def result_facts(result: Any, context: Mapping[str, Any] | None = None) -> Facts:
    """Return what one result tells; `context` is that of its report."""
    known = context or {}
    columns = tuple(known.get("group_columns") or result.group_columns)
    # A published value counts what all groups share, which is in no gap.
    shift = abs(result.statistics.get("shift") or 0.0)
    shifted = shift > 1e-9 and result.params.get("formula") == "published"
    changes = () if shifted else changes_of(result, known)
    some = grown(changes)
    widens = result.verdict not in (words.REDUCES, words.NO_EFFECT)
    shared = facts_of_changes(result, changes, known, widens=widens or bool(some))
    view, who = shared["view"], shared["who"]
    mixed = is_mixed(result.verdict, view, changes)
    worst = max(some, key=lambda each: each.size) if mixed else None
    worst = worst or _worst(result, view, changes, known)
    # Of groups that lose, or of none that the model harms, the one that is worst off.
    if who is not None and view == "groups" and (who.loses or not (widens or mixed)):
        worst = next(change for change in changes if change.group == who.group)
    # Whether the labels show a clear association of any pair.
    clear = [each for each in result.table.get("direction_clear", ()) if each in (0, 1)]
    reference = result.params.get("reference")
    sides = ("labels", "predictions") if result.labelled else ("reference rows", "these rows")
    if result.labelled and result.columns.get("base") == words.TRAINING_LABELS:
        sides = ("training labels", "predictions")
    trained = bool(known.get("n_train")) and reference == "train"
    # Of numbers, or a function of one's own, no paper reports any.
    is_published = result.kind.has_attacker or "formula" in result.params
    published = ("published", "published_low", "published_high") * is_published
    numbers = {
        name: as_json(getattr(result, name))
        for name in ("value", "low", "high", "p_value", *published)
    }
    numbers |= {name: as_json(result.statistics.get(name)) for name in ("shift", "selection")}
    return Facts(
        result.verdict,
        gap=_gap(result, view, changes, worst, mixed=mixed),
        worst=worst,
        everybody=_everybody(result, view, changes, worst),
        guesses=_guesses(result),
        robust=None if mixed else _robust(result, columns, known, who or worst),
        before=sides[0],
        after=sides[1],
        signs_from="training labels" if trained else sides[0],
        labels_differ=any(clear) if clear else None,
        amplified=result.amplified,
        about=result.about,
        guessed_from=result.guessed_from,
        baseline="the labels" if result.params.get("equalize", "") is None else result.baseline,
        reason=_reason(result),
        model=known.get("model_name"),
        **numbers,
        **shared,
    )


def facts_of_changes(
    result: Any, changes: tuple[Change, ...], context: Mapping[str, Any], *, widens: bool = True
) -> dict[str, Any]:
    """Return the facts that an audit and a comparison have in common."""
    groups, tasks = (
        tuple(dict.fromkeys(getattr(change, name) for change in changes))
        for name in ("group", "task")
    )
    view, favourable = view_of(result, changes, groups, tasks), wanted_in(context)
    rated, percent = view in ("gap", "groups", "tasks"), result.percent
    who = who_of(changes, tasks, favourable, widens=widens, percent=percent) if rated else None
    return {
        "view": view,
        "metric": result.metric,
        "direction": result.direction,
        "level": result.confidence_level,
        "unit": result.unit,
        "percent": percent,
        "who": who,
        "ratios": ratios_of(changes, tasks, favourable) if rated and percent else None,
        "changes": changes,
        "tasks": tasks,
        "target": context.get("target"),
        "groups": groups,
        "favourable": favourable,
        "n": as_json(result.n_samples),
        "n_train": context.get("n_train"),
        "n_dropped": context.get("n_dropped") or None,
        "date": (context.get("date") or "").partition(" ")[0] or None,
        "data": context.get("data_name"),
    }


def report_facts(report: Any) -> Facts:
    """Return what the report of an audit tells: of its primary result, its rates and its limit."""
    if report.primary is None:
        return Facts(words.NOT_MEASURED, "none", reason="none")
    if report.columns:
        return _facts_of_columns(report)
    facts = result_facts(report[report.primary], report.context)
    rated = facts.percent and {"base_rate", "predicted_rate"} <= set(report.rates)
    if not facts.changes and rated:
        # Rates that no interval judges: the verdict is about something else.
        columns = report.context.get("group_columns", ())
        n_of, known = _rows_of_groups(report), []
        for row in records(report.rates):
            before, after = row["base_rate"], row["predicted_rate"]
            if before is not None and after is not None:
                row |= {"observed": after, "change": after - before}
                row["n"] = n_of.get(str(row["group"]))
                known.append(change_in(row, columns, report.context, "base_rate", "unknown"))
        changes = tuple(known)
        tasks = tuple(dict.fromkeys(change.task for change in changes))
        ratios = ratios_of(changes, tasks, facts.favourable)
        facts = replace(facts, changes=changes, ratios=ratios)
    limited: dict[str, Any] = {"unknown": _unknown(report)}
    if report.explanation is not None and report.explanation.conditional is not None:
        limited["given"] = tuple(name_of(name) for name in report.explanation.context["given"])
        # Values within strata are directional: beside another metric they would mislead.
        audit = report.explanation.audit
        if (audit.metric, audit.direction) == (facts.metric, facts.direction):
            within = [row.get("verdict") for row in records(report.explanation.conditional)]
            limited["within"] = next(filter(None, within), words.NO_EFFECT)
    if report.limit is not None:
        gate = report.gate(report.limit, on=report.primary)
        # A metric of labels and of scores has one name.
        check = next(check for check in gate.checks if check.name == report.primary)
        limited |= {
            "limit": report.limit,
            "limit_verdict": gate._word(check),
            "lacking": check.missing,
            "rows_needed": None if math.isnan(check.rows) else check.rows,
        }
    return replace(
        facts,
        errors=_errors(report, facts),
        columns=tuple(
            Model(
                name_of(row["column"]),
                *(row[key] for key in ("value", "low", "high", "verdict")),
            )
            for row in records(report.by_column)
        ),
        **limited,
    )


def possible_changes(facts: Facts, low: float, high: float) -> dict[str, Any]:
    """Return what rows agree with if no effect is clear: of the gap, as on the first screen."""
    # Of groups, a limit is one of the mean.
    of_gap = facts.percent and (facts.view == "gap" or facts.limit is None)
    gap = facts.gap if of_gap and facts.gap is not None and facts.gap.low is not None else None
    return {
        "low": low if gap is None else gap.low,
        "high": high if gap is None else gap.high,
        "points": gap is not None,
        "group": gap.group if gap is not None and gap.other == EVERYBODY else None,
        "percent": facts.percent and facts.view in ("groups", "tasks"),
    }


def facts_by_column(report: Any) -> list[tuple[str, Facts, float | None]]:
    """Return what each column tells that was audited on its own, and its adjusted p-value."""
    p_adjusted = {row["column"]: row["p_adjusted"] for row in records(report.by_column)}
    return [
        (name_of(name), own.facts, p_adjusted[name]) for name, own in report.judged_columns.items()
    ]


def _facts_of_columns(report: Any) -> Facts:
    """Return what columns tell together that were audited on their own: no number is of all."""
    known = facts_by_column(report)
    first = known[0][1]
    limited: dict[str, Any] = {}
    if report.limit is not None:
        checked = [own.limit_verdict for _, own, _ in known]
        worst = min(checked, key=[words.OUTSIDE, None, words.INCONCLUSIVE, words.WITHIN].index)
        limited = {"limit": report.limit, "limit_verdict": worst}
    changes = tuple(
        replace(change, group=group_by(name, change.group))
        for name, own, _ in known
        for change in own.changes
    )
    same = [
        *("metric", "direction", "level", "unit", "percent", "before", "after", "tasks", "target"),
        *("favourable", "amplified", "n_train", "date"),
    ]
    return Facts(
        first.verdict,
        "columns",
        **{name: getattr(first, name) for name in same},
        changes=changes,
        groups=tuple(dict.fromkeys(change.group for change in changes)),
        columns=tuple(
            Model(name, own.value, own.low, own.high, own.verdict) for name, own, _ in known
        ),
        n=max((own.n or 0.0) + (own.n_dropped or 0.0) for _, own, _ in known),
        **limited,
    )


def _unknown(report: Any) -> Unknown | None:
    """Return what rows without a group may change, with bounds of rates if there are some."""
    if report.unknown is None or "predicted_rate_lowest" not in report.rates:
        return report.unknown
    columns, ends = report.context["group_columns"], ("lowest", "highest")
    rates = tuple(
        (
            group_name(row["group"], columns),
            task_name(row["task"], report.context),
            *(row[f"predicted_rate_{end}"] for end in ends),
        )
        for row in records(report.rates)
    )
    return replace(report.unknown, rates=rates)


def task_name(task: Any, context: Mapping[str, Any]) -> str:
    """Return a task as sentences name it: a number by its column, if that is known."""
    text, target = task_of(task), context.get("target")
    alone = _is_word(text) and len(text) > 1  # y, n, t and f are answers, and A is a grade
    return f"{name_of(target)} = {text}" if target and not alone else text


# What says nothing without the name of its column, in the languages of spreadsheets.
_ANSWERS = re.compile(
    "yes|no|true|false|ja|nein|wahr|falsch|oui|non|vrai|faux|s[iíì]|verdadero|vero|falso|sim|n[ãa]o|"
    "verdadeiro|nee|waar|onwaar|tak|nie|prawda|fałsz"
)


def _is_word(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]", text)) and not _ANSWERS.fullmatch(text.lower())


def group_name(group: Any, columns: Sequence[Any]) -> str:
    """Return a group as sentences name it: of one column by its value if that is a word."""
    text = group_of(group, columns if len(columns) > 1 else ())
    if _is_word(text) or len(columns) > 1:
        return text
    return group_of(group, columns) if columns else f"group {text}"


def wanted_in(context: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the classes or tasks that people want, if they were declared."""
    return tuple(task_name(name, context) for name in classes_wanted(context))


def classes_wanted(context: Mapping[str, Any]) -> list[Any]:
    """Return the classes that people want, of which a user declares one or a list."""
    names = context.get("favourable")
    return names if isinstance(names, list) else [] if names is None else [names]


# --------------------------------------------------------------------------- changes


def changes_of(result: Any, context: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the pairs of a result whose rates or means are known before and after."""
    table, columns = result.table, context.get("group_columns") or result.group_columns
    if not has_rates(result) or not {"base", "observed"} <= set(table):
        return ()
    rows = [row for row in records(table) if None not in (row["base"], row["observed"])]
    sums: dict[str, list[float]] = {}  # of each task, over all groups
    for row in rows:
        total = sums.setdefault(str(row["task"]), [0.0, 0.0])
        total[0] += (row.get("n") or 0) * row["base"]
        total[1] += row.get("n") or 0
    overall = {task: part / whole for task, (part, whole) in sums.items() if whole}
    return tuple(
        change_in(
            row, columns, context, "base", _effect(result, row, overall.get(str(row["task"])))
        )
        for row in rows
    )


def has_rates(result: Any) -> bool:
    """Return whether the pairs of a result are rates or means of groups, and no ratios."""
    named = bool(result.percent or result.unit)
    return not result.kind.has_attacker and named and has_groups(result)


def has_groups(result: Any) -> bool:
    """Return whether the pairs of a result are of groups, and not of all rows together."""
    table = result.pairs if hasattr(result, "pairs") else result.table
    return "group" in table and bool((table["group"] != "(all)").any())


def change_in(
    row: Mapping[str, Any],
    columns: Sequence[Any],
    context: Mapping[str, Any],
    before: str,
    effect: str,
) -> Change:
    """Return the change of a row of a table, from its column `before` to what is observed."""
    return Change(
        group_name(row["group"], columns),
        task_name(row["task"], context),
        row.get("n"),
        row[before],
        row["observed"],
        row.get("change", row.get("delta")),
        row.get("low_simultaneous"),
        row.get("high_simultaneous"),
        effect,
    )


def _effect(result: Any, row: Mapping[str, Any], overall: float | None) -> str:
    """Return what a change does to the association of its pair, if all pairs are judged at once."""
    low, high, change = (
        math.nan if row.get(key) is None else float(row[key])
        for key in ("low_simultaneous", "high_simultaneous", "change")
    )
    if math.isnan(low + high + change):
        return "unknown"
    if result.verdict != words.ADDS and is_half_of_gap(result):  # one interval judges both groups
        low, high = result.low, result.high
    if not (low > 0 or high < 0):
        return "unclear"
    ahead = 0.0 if overall is None or result.direction != "A->T" else row["base"] - overall
    if result.verdict == words.ADDS or row.get("direction_clear") is False:
        return "shrinks" if abs(ahead + change) < abs(ahead) else "added"
    if (row.get("sign") or 0) * change > 0:
        return "grows"
    # A gap that is gone is 0 to its last digit.
    return "reverses" if ahead * (ahead + change) < -1e-12 else "shrinks"


def is_half_of_gap(result: Any) -> bool:
    """Return whether the value is half of the growth of the one gap between two groups."""
    tasks = result.table["task"]
    if result.direction != "A->T" or len(tasks) != 2 or tasks.iloc[0] != tasks.iloc[1]:
        return False  # there are more pairs
    rates = np.array([result._column(name, math.nan) for name in ("base", "observed")])
    # The difference of the rates that are shown, so that a reader can check it.
    first, other = rates.round(3 if result.percent else 9).T
    before, after = first - other
    return bool(abs(2 * abs(result.value) - abs(after - before)) <= 2e-3)


# --------------------------------------------------------------------------- what is seen first


def view_of(
    result: Any, changes: Sequence[Change], groups: Sequence[str], tasks: Sequence[str]
) -> str:
    """Return what is seen first, see `Facts`."""
    if result.kind.has_attacker:
        return "attack"
    if not changes:
        return "none"
    if result.direction != "A->T" and result.percent:
        return "pairs"
    if len(tasks) > 1:
        return "tasks"
    return "gap" if len(groups) == 2 else "groups"


def _worst(
    result: Any, view: str, changes: Sequence[Change], context: Mapping[str, Any]
) -> Change | None:
    """Return the pair that is affected most; without an effect, the one that is most apart."""
    if not changes:
        return None
    if view == "gap":  # the changes of two groups compared with all rows mirror each other
        return max(changes, key=lambda each: abs((each.after or 0.0) - (each.before or 0.0)))
    pair = result.affected
    if pair is not None and pair["significant"] and result.verdict != words.NO_EFFECT:
        columns = context.get("group_columns") or result.group_columns
        name, task = group_name(pair["group"], columns), task_name(pair["task"], context)
        named = (each for each in changes if (each.group, each.task) == (name, task))
        return next(named, None)
    if view == "groups" and result.percent:
        mean = _of_all_rows(changes, "after")
        return max(changes, key=lambda each: abs((each.after or 0.0) - mean))
    return max(changes, key=lambda each: abs(each.change or 0.0))


def _gap(
    result: Any, view: str, changes: Sequence[Change], worst: Change | None, *, mixed: bool
) -> Gap | None:
    """Return the gap that a page begins with: it grows by what the numbers that are shown say.

    Of several groups it is that of the one that is named, unless the verdict says something else
    and is not `mixed`.
    """
    if view == "gap":
        gap = gap_of_two(changes, percent=result.percent)
        ends: tuple[float, float] | None = None
        if not result.percent:
            if result.value and result.low < result.high:
                unit = gap.growth / result.value
                low, high = sorted((unit * result.low, unit * result.high))
                ends = low, high
        elif (ends := _ends_of_growth(result, *ahead_first(changes, 3))) is not None:
            # A gap lies between −1 and 1.
            ends = max(ends[0], -1 - gap.before), min(ends[1], 1 - gap.before)
        return gap if ends is None else replace(gap, low=ends[0], high=ends[1])
    if view != "groups" or worst is None or worst.change is None or not result.percent:
        return None
    if not worst.is_clear and result.verdict != words.NO_EFFECT:
        return None  # the mean over groups is clear, and none of them alone
    if worst.is_clear and result.verdict == words.NO_EFFECT and not mixed:
        return None  # the other way round
    rows = [each for each in changes if each.task == worst.task]
    before, after = (
        shown_change(_of_all_rows(rows, side), getattr(worst, side) or 0.0)
        for side in ("before", "after")
    )
    # Across 0 the gap moves, else it grows or shrinks in the direction in which it is.
    sign = math.copysign(1.0, before or after) if before * after >= 0 else 1.0
    gap = Gap(worst.group, EVERYBODY, before, after, sign * (after - before), None, None)
    if is_against(result.verdict, gap) and not mixed:
        return None  # the mean over groups is clear, and this group is another one
    if worst.low is None or worst.high is None:
        return gap
    low, high = sorted((sign * worst.low, sign * worst.high))
    return replace(gap, low=low, high=high)


def _everybody(
    result: Any, view: str, changes: Sequence[Change], worst: Change | None
) -> tuple[float, float] | None:
    """Return the rate of all rows before and after, if every row is in one group."""
    rows = [each for each in changes if worst is not None and each.task == worst.task]
    total = sum(each.n or 0 for each in rows)
    if view not in ("gap", "groups") or not math.isclose(total, result.n_samples, rel_tol=1e-9):
        return None
    return _of_all_rows(rows, "before"), _of_all_rows(rows, "after")


def _of_all_rows(changes: Sequence[Change], side: str) -> float:
    """Return the rate or mean of all rows, before or after, of groups that do not overlap."""
    rows = [(each.n or 0.0, getattr(each, side) or 0.0) for each in changes]
    return sum(n * level for n, level in rows) / sum(n for n, _ in rows)


def gap_of_two(changes: Sequence[Change], *, percent: bool = True) -> Gap:
    """Return the gap of two groups, as the numbers that are shown say it; it has no interval."""
    first, other = ahead_first(changes, 3 if percent else 9)

    def apart(side: str) -> float:
        own, of = (getattr(each, side) or 0.0 for each in (first, other))
        return shown_change(of, own) if percent else float(round(own, 9) - round(of, 9))

    before, after = apart("before"), apart("after")
    return Gap(first.group, other.group, before, after, after - before, None, None)


def ahead_first(changes: Sequence[Change], places: int) -> list[Change]:
    """Return the group first that is ahead before, or after if nobody is ahead before."""
    return sorted(
        changes, key=lambda each: (-round(each.before or 0.0, places), -(each.after or 0.0))
    )


def _ends_of_growth(result: Any, first: Change, other: Change) -> tuple[float, float] | None:
    """Return the interval of the growth of a gap of two groups, if the result judges it."""
    if None in (first.change, other.change, first.low, first.high) or math.isnan(result.low):
        return None
    assert first.change is not None and other.change is not None
    assert first.low is not None and first.high is not None
    moved = first.change - other.change
    if not is_half_of_gap(result) or result.verdict == words.ADDS:
        # The changes of two groups mirror each other.
        times = abs(moved / first.change) if first.change else 2.0
        low, high = times * first.low, times * first.high
        return (low, high) if (low <= 0 <= high) == (result.verdict == words.NO_EFFECT) else None
    low, high = 2 * result.low, 2 * result.high
    return (low, high) if result.value * moved >= 0 else (-high, -low)


def who_of(
    changes: Sequence[Change],
    tasks: Sequence[str],
    favourable: Sequence[str],
    *,
    widens: bool = True,
    percent: bool = True,
) -> Who | None:
    """Return who is worse off, if it is known what people want.

    It is the group that loses most by the model, if this widens gaps; else who has it least. Groups
    that are harmed as much are named with it.
    """
    if not favourable:
        return None
    wanted = [name for name in tasks if name in favourable]
    sign = 1.0 if wanted else -1.0  # of two classes, the one that is no task
    if not wanted and len(tasks) > 1:
        return None
    name = wanted[0] if len(wanted) == 1 else favourable[0]
    # Who is missing a group is nobody in particular.
    own = [
        each
        for each in changes
        if (not wanted or each.task in wanted) and MISSING not in each.group
    ]
    any_of = len(wanted) > 1 and _are_exclusive(changes)
    if any_of:
        own = _of_any_class(own)
    losing = [
        each
        for each in own
        if each.is_clear
        and sign * (each.change or 0.0) < 0
        and sign * ((each.after or 0.0) - (each.before or 0.0)) < 0
    ]
    groups = {each.group for each in own}
    if len(groups) < 2:
        return None

    def rates(each: Change) -> tuple[float, float]:
        before, after = each.before or 0.0, each.after or 0.0
        return (before, after) if sign > 0 else (1 - before, 1 - after)

    by_loss = losing and widens and not (len(tasks) == 1 and len(groups) == 2)
    harmed, size = (losing, "change") if by_loss else (own, "after")

    def harm(each: Change) -> float:
        return round(-sign * (getattr(each, size) or 0.0), 3 if percent else 9)

    most = max(harmed, key=lambda each: -sign * (getattr(each, size) or 0.0))
    # Of several tasks, groups are compared in the one that is named.
    alike = [each for each in harmed if each.task == most.task and harm(each) == harm(most)]
    of_task = [each for each in own if each.task == most.task]
    return Who(
        most.group,
        most.task if wanted else name,
        *rates(most),
        most in losing,
        tuple(each.group for each in alike if each is not most),
        size == "after" and len(alike) == len(of_task),
        any(sign * ((each.before or 0.0) - (most.before or 0.0)) > 0 for each in own)
        and not any(sign * ((each.before or 0.0) - (most.before or 0.0)) < 0 for each in own),
        tuple(wanted) if any_of else (),
    )


def _are_exclusive(changes: Sequence[Change]) -> bool:
    """Return whether tasks are the classes of one label: a row has one of them."""
    shares: dict[str, float] = {}
    for each in changes:
        shares[each.group] = shares.get(each.group, 0.0) + (each.after or 0.0)
    return all(abs(share - 1) < 1e-9 for share in shares.values())


def _of_any_class(changes: Sequence[Change]) -> list[Change]:
    """Return how often each group has any of these classes.

    The name is that of the class which the group that has them least lacks most.
    """
    highest: dict[str, float] = {}
    by_group: dict[str, list[Change]] = {}
    for each in changes:
        highest[each.task] = max(each.after or 0.0, highest.get(each.task, 0.0))
        by_group.setdefault(each.group, []).append(each)
    least = min(by_group.values(), key=lambda own: sum(each.after or 0.0 for each in own))
    name = max(least, key=lambda each: highest[each.task] - (each.after or 0.0)).task
    before, after = (
        {group: sum(getattr(each, when) or 0.0 for each in own) for group, own in by_group.items()}
        for when in ("before", "after")
    )
    return [
        Change(group, name, own[0].n, before[group], after[group])
        for group, own in by_group.items()
    ]


def ratios_of(
    changes: Sequence[Change], tasks: Sequence[str], favourable: Sequence[str]
) -> Ratios | None:
    """Return the lowest rate over the highest, of the wanted task in which it is the lowest.

    Groups of few rows do not count, nor do rows whose group is not known. Groups that change sides
    have no ratio.
    """
    wanted = [name for name in tasks if name in favourable]
    if not wanted and favourable and len(tasks) == 1:  # of two classes, the one that is no task
        wanted = list(tasks)
    known = []
    for task in wanted:
        rates = [
            (each.before or 0.0, each.after or 0.0, each.group)
            for each in changes
            if each.task == task
            and MISSING not in each.group
            and (each.n is None or each.n >= FEWEST_ROWS)
        ]
        if task not in favourable:
            rates = [(1 - before, 1 - after, group) for before, after, group in rates]
        rates.sort(key=lambda each: each[1])
        if len(rates) < 2 or not rates[-1][0] * rates[-1][1]:
            continue
        (*low, group), (*high, other) = rates[0], rates[-1]
        before, after = (own / of for own, of in zip(low, high, strict=True))
        if before <= 1:
            name = task if task in favourable else favourable[0]
            known.append(Ratios(name, group, other, before, after))
    return min(known, key=lambda ratios: ratios.after, default=None)


def _guesses(result: Any) -> Guesses | None:
    """Return how well attackers guess on both sides."""
    if not result.kind.has_attacker or math.isnan(result.value) or len(result.columns) != 2:
        return None
    labels, predictions = (float(result.table[name].mean()) for name in result.columns)
    return guesses_of(result, labels, predictions, result.statistics.get("chance_model"))


def guesses_of(result: Any, before: float, after: float, chance: Any = None) -> Guesses:
    """Return how well attackers guess on both sides, and how a guess counts."""
    return Guesses(before, after, as_json(chance), result.params.get("quality") == "confidence")


def _robust(
    result: Any, columns: Sequence[Any], context: Mapping[str, Any], about: Who | Change | None
) -> Robust | None:
    """Return how many wrong labels of one group a verdict bears.

    Of groups that bear the same share, as two groups do, it is the one that a page is `about`.
    """
    if (
        result.verdict not in words.DIRECTION_OF
        or result.kind.has_attacker
        or not result._bears_errors
    ):
        return None
    pairs = result.sensitivity().iloc[1:]
    nearest = pairs[pairs["share"] <= min(1.0, pairs["share"].min() + 1e-9)]
    rows = [{**row, "name": group_name(row["group"], columns)} for row in records(nearest)]
    if not rows:
        return None
    row = next((row for row in rows if about and row["name"] == about.group), rows[0])
    n, task = round(row["n"]), task_name(row["task"], context)
    return Robust(row["name"], task, row["label"], max(1, round(row["share"] * n)), n)


def _reason(result: Any) -> str | None:
    """Return why there is no verdict: a word that templates know."""
    if result.verdict != words.NOT_MEASURED:
        unclear = result.verdict == words.NO_EFFECT and result.low > 0
        return "chance" if unclear and result.kind.has_attacker else None
    if result.statistics.get("n_groups") == 1:
        return "one group"
    if math.isinf(result.value) or any(
        math.isinf(value) for value in result.statistics.values() if isinstance(value, float)
    ):
        return "infinite"
    alone = np.isnan(result._column("low", 1.0)) & ~np.isnan(result._column("change", math.nan))
    if result.confidence_level is not None and alone.size and alone.all():
        return "one fold" if result.statistics.get("n_folds") == 1 else "one cluster"
    if math.isnan(result.value) or np.isnan(result._column("delta", 1.0)).all():
        return "undefined"  # no value, or no pair that has both sides
    if result.confidence_level is None:
        return "no interval"
    if result.kind.has_attacker:
        return "few rows"
    return "size" if not math.isnan(result.low) else "sums"


def _errors(report: Any, facts: Facts) -> tuple[Errors, ...]:
    """Return the error rates of each group for the task that is shown, or mean errors."""
    columns = report.context.get("group_columns", ())
    task = facts.worst.task if facts.worst is not None else None
    if report.context.get("data_kind") == "numbers":
        return tuple(
            Errors(each.group, None, None, each.after - each.before)  # type: ignore[operator]
            for each in facts.changes
            if each.task == task
        )
    if "false_positive_rate" not in report.rates or not facts.changes:
        return ()
    rows = records(report.rates)
    named = [row for row in rows if task_name(row["task"], report.context) == task] or [
        row for row in rows if row["task"] == rows[0]["task"]
    ]
    missed = [
        None if row["true_positive_rate"] is None else 1 - row["true_positive_rate"]
        for row in named
    ]
    errors = [
        Errors(group_name(row["group"], columns), row["false_positive_rate"], miss)
        for row, miss in zip(named, missed, strict=True)
    ]
    # Those of a metric's pairs may be of rows with the task.
    n_of = _rows_of_groups(report)
    sizes = [n_of[str(row["group"])] for row in named]
    overlap = abs(report.groups["share"].sum() - 1) > 1e-9
    if len(errors) > 2 and not overlap:
        labelled = [(row["base_rate"] or 0.0) * n for row, n in zip(named, sizes, strict=True)]
        others = [n - own for n, own in zip(sizes, labelled, strict=True)]
        of_all = (
            _mean([getattr(each, kind) for each in errors], weights)
            for kind, weights in (("false_positive", others), ("false_negative", labelled))
        )
        errors.append(Errors(EVERYBODY, *of_all))
    return tuple(errors)


def _rows_of_groups(report: Any) -> dict[str, float]:
    return {str(row["group"]): row["n"] for row in records(report.groups)}


def _mean(shares: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the share of all rows, of shares of groups that are known."""
    known = [(share, n) for share, n in zip(shares, weights, strict=True) if share is not None]
    total = sum(n for _, n in known)
    return sum(share * n for share, n in known) / total if total else None


def topic_of(facts: Facts) -> str:
    """Return the task as a title names it: first the outcome that people want, if it is another."""
    if len(facts.tasks) != 1 or not _is_word(facts.tasks[0]):
        return ""
    known = facts.favourable if facts.percent else ()  # of numbers, "less"
    names = (name_of(name).partition(" = ")[0] for name in known + facts.tasks)
    *wanted, task = (name.replace("_", " ") for name in names)
    # Beside "not paid", "paid" says nothing new, and it is the shorter one.
    others = [name for name in wanted if name not in task and task not in name]
    shorter = [name for name in wanted if name in task]
    return " or ".join([*others, *(shorter or [task])[:1]])
