"""The first screens of a page, made of facts: who is worse off, by how much, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skbiasamp._utils.formatting import (
    DEPENDS,
    DIRECTION_OF,
    INCONCLUSIVE,
    NO_EFFECT,
    OUTSIDE,
    SIDE_OF,
    WITHIN,
    amount,
    decimals_of,
    number,
    rate,
    shown_change,
)
from skbiasamp.render.document import (
    Action,
    Actions,
    Answer,
    Axis,
    Card,
    Cell,
    Chip,
    Dumbbell,
    GapBar,
    IntervalBar,
    Lengths,
    Mark,
    Panel,
    Panels,
    Parts,
    Row,
    Section,
    Table,
    Text,
)
from skbiasamp.render.facts import EVERYBODY, Change, Facts, Finding, Watch, group_by
from skbiasamp.render.words import express

_TONES = {"above": "up", "below": "down", "reversed": "rev"}
_TONE_OF = {"grows": "up", "added": "up", "shrinks": "down", "reverses": "rev"}
_EFFECTS = ("reverses", "grows", "added", "shrinks", "unclear", "unknown")
_MOST_COLUMNS = 8  # groups of a table of tasks by groups
_QUESTIONS = ("who", "much", "source", "sure")
_FIRST, _LAST = 4, 3  # groups of a picture, of many
_FEW = 30  # rows; a smaller group leads no picture
_MOST_NUMBERS = 4  # groups whose rates are all written
_MOST_TASKS, _MOST_PAIRS, _MOST_ACTIONS = 3, 6, 3


def tone_of(verdict: str) -> str:
    """Return the colour of a verdict, which has one meaning."""
    return _TONES.get(SIDE_OF[verdict], "unc")


def first_screen(facts: Facts, topic: str) -> Card:
    """Return what a reader sees first."""
    answers = answers_of(facts, "audit")
    answers += _first_step(facts, "audit")
    return Card(
        express("audit", "title", facts, topic),
        chips_of(facts),
        express("audit", "lead", facts),
        answers,
        dumbbell(facts),
        express("audit", "scope", facts),
        facts.date or "",
    )


def first_screen_of_models(models: Sequence[Facts], topic: str) -> Card:
    """Return what a reader sees first of models beside a reference: one, or a line for each."""
    first = models[0]
    if len(models) == 1:
        texts = express("comparison", "title", first, topic), express("comparison", "lead", first)
        chips = [Chip(express("comparison", "chip", first), tone_of(first.verdict))]
        picture, answers = dumbbell(first, "comparison"), answers_of(first, "comparison")
    else:
        texts = (
            express("comparison", "title_of_models", models, topic),
            express("comparison", "lead_of_models", models),
        )
        chips, picture = [], _values_of(models)
        answers = [
            Answer(each.after, each.verdict.capitalize() + ".", express("comparison", "rest", each))
            for each in models
        ]
    answers += _first_step(first, "comparison")
    scope = express("comparison", "scope", first)
    title, lead = texts
    return Card(title, chips, lead, answers, picture, scope, first.date or "")


def first_screen_of_columns(
    facts: Facts, columns: Sequence[tuple[str, Facts, float | None]], topic: str
) -> Card:
    """Return what a reader sees first of sensitive columns that were audited on their own.

    `columns` are their names, their facts and their p-values that allow for all of them.
    """
    names, every = [name for name, *_ in columns], [own for _, own, _ in columns]
    chips = [
        Chip(express("audit", "column_chip", name, own), tone_of(own.verdict))
        for name, own, _ in columns
    ]
    answers = [
        Answer(
            f"{name}:",
            express("audit", "of_column", own),
            express("audit", "rest_of_column", own, p),
        )
        for name, own, p in columns
    ]
    return Card(
        express("audit", "title_of_columns", names, every[0], topic),
        [*chips, _limit_chip(facts)],
        express("audit", "lead_of_columns", facts),
        answers + _first_step(facts, "audit"),
        _beside_each_other(columns),
        express("audit", "scope", facts),
        facts.date or "",
    )


def _beside_each_other(columns: Sequence[tuple[str, Facts, float | None]]) -> Dumbbell | None:
    """Return the rates of the groups of all columns, those of the first column first."""
    pictures = [(name, picture) for name, own, _ in columns if (picture := dumbbell(own))]
    if not pictures:
        return None
    everybody = express("page", "everybody")
    marks = [
        replace(mark, name=group_by(name, mark.name))
        for name, picture in pictures
        for mark in picture.marks
        if mark.name != everybody
    ]
    first, axes = pictures[0][1], [picture.axis for _, picture in pictures]
    whole = Axis(min(axis.low for axis in axes), max(axis.high for axis in axes))
    ends = {picture.ends for _, picture in pictures}
    key = dict.fromkeys(sign for _, picture in pictures for sign in picture.key)
    return replace(
        first,
        marks=marks,
        axis=first.axis if first.axis.percent else whole,
        key=[*key],
        ends=first.ends if len(ends) == 1 else ("", ""),
        gaps=(),
        left_out="",
        cut=0,
    )


def _values_of(models: Sequence[Facts]) -> Dumbbell | None:
    """Return the value of each model beside that of the reference."""
    reference = models[0].models[0].value
    values = {each.name: each.value for each in models[0].models}
    if reference is None or None in values.values():
        return None
    axis = Axis.around(values.values(), balanced=True)
    marks = [
        Mark(each.after, reference, values[each.after], tone_of(each.verdict)) for each in models
    ]
    key = [("before", models[0].before), ("after", express("page", "each_model"))]
    caption = express("comparison", "caption_of_models", models[0])
    return Dumbbell(
        caption, marks, axis, (models[0].before, "value"), key, unit="value", of="Model"
    )


def answers_of(facts: Facts | Watch, file: str) -> list[Answer]:
    """Return the answers to four questions."""
    return [
        Answer(
            express(file, "question", key),
            express(file, f"{key}_strong", facts),
            express(file, f"{key}_rest", facts),
            big=key == "much",
        )
        for key in _QUESTIONS
    ]


def _first_step(facts: Facts, file: str) -> list[Answer]:
    """Return what to do first; if the verdict may be wrong, with the reason."""
    steps = actions_of(facts.caveats)[:1]
    question = express(file, "question", "first")
    return [
        Answer(question, each.text if each.severity == "wrong" else "", each.action)
        for each in steps
    ]


def finding_text(finding: Finding) -> Text:
    """Return a finding with its code and topic."""
    return Text(finding.text, f"{finding.code}, {finding.topic}.", finding.action)


def chips_of(facts: Facts) -> list[Chip]:
    """Return the verdict, and whether the limit is kept, in a word each."""
    tone = tone_of(facts.verdict)
    chips = [Chip(express("audit", "chip", facts), tone)]
    for each in facts.columns:
        if each.verdict in DIRECTION_OF and facts.verdict == NO_EFFECT:
            chips.append(Chip(express("audit", "alone_chip", each), tone_of(each.verdict)))
    if facts.unknown is not None and facts.unknown.verdict == DEPENDS:
        chips.append(Chip(express("audit", "chip", facts.unknown), "none"))
    return [*chips, _limit_chip(facts)]


def _limit_chip(facts: Facts) -> Chip:
    """Return whether the limit is kept, in a word; outside, it has the colour of the verdict."""
    tone = tone_of(facts.verdict)
    outside = tone if tone != "unc" else "up"
    tones = {None: "none", OUTSIDE: outside, WITHIN: "unc", INCONCLUSIVE: "unc"}
    return Chip(express("audit", "limit_chip", facts), tones[facts.limit_verdict])


def actions_of(caveats: Sequence[Finding]) -> list[Finding]:
    """Return at most three steps: the most urgent, then those that another owner can take."""
    able = [finding for finding in caveats if finding.severity != "note"]
    able.sort(key=lambda finding: finding.severity != "wrong")
    chosen: list[Finding] = []
    for finding in able:
        if finding.severity == "wrong" or finding.owner not in {each.owner for each in chosen}:
            chosen.append(finding)
    chosen += [finding for finding in able if finding not in chosen]
    return chosen[:_MOST_ACTIONS]


def next_steps(facts: Facts) -> Section:
    """Return the steps to take, each with its owner and the reason in these data."""
    actions = [
        Action(finding.owner, finding.action, finding.text) for finding in actions_of(facts.caveats)
    ]
    items = [Actions(actions, express("audit", "robust", facts))] if actions else []
    return Section(express("page", "next"), items, "next")


# --------------------------------------------------------------------------- the dumbbell


def dumbbell(facts: Facts, file: str = "audit") -> Dumbbell | None:
    """Return rates before and after, by group, or of the pairs that change most."""
    changes = facts.changes
    if not changes:
        return None
    if facts.view == "tasks":
        shown, names = _largest_tasks(changes), _pair_name
    elif facts.view == "pairs":
        shown = sorted(changes, key=lambda each: -abs(each.change or 0.0))[:_MOST_PAIRS]
        names = _pair_name if len(facts.tasks) > 1 else _group
    else:
        task = facts.worst.task if facts.worst else changes[0].task
        shown = by_harm([each for each in changes if each.task == task], facts)
        names = _group
    cut = 0
    if len(shown) > _FIRST + _LAST:
        large = [each for each in shown if (each.n or 0) >= _FEW]
        shown = large if len(large) > _FIRST + _LAST else shown
        shown, cut = [*shown[:_FIRST], *shown[-_LAST:]], _FIRST
    bands = {rate[:2]: rate[2:] for rate in (facts.unknown.rates if facts.unknown else ())}
    many = len(shown) > _MOST_NUMBERS and facts.view in ("groups", "pairs")
    marks = [
        Mark(
            names(each),
            each.before,
            each.after,
            _tone(each),
            _tail(each) if many else "",
            not many or each is facts.worst,
            bands.get((each.group, each.task)),
        )
        for each in shown
    ]
    if facts.everybody and facts.view == "groups":
        marks.append(Mark(express("page", "everybody"), *facts.everybody, numbers=not many))
    tones = dict.fromkeys(each.effect for each in shown)
    key = [(sign, express("audit", "key", sign, facts)) for sign in ("before", "after")]
    key += [("band", express("audit", "key", "band", facts))] * bool(bands)
    key += [
        (_TONE_OF.get(effect, "unc"), express("audit", "key", effect, facts)) for effect in tones
    ]
    ends = ("", "")
    if facts.who is not None and facts.view in ("gap", "groups"):
        ends = express("page", "worse"), express("page", "better")
        if facts.who.favourable not in facts.tasks:
            ends = express("page", "better_first"), express("page", "worse_last")
    return Dumbbell(
        express(file, "caption", facts),
        marks,
        _axis_of(shown, facts),
        (facts.before.capitalize(), facts.after.capitalize())
        if file == "audit"
        else (facts.before, facts.after),
        key,
        ends,
        _gap_bars(facts, shown) if facts.view == "gap" and facts.percent else (),
        express("page", "others", len(changes) - len(shown)) if cut else "",
        cut,
        "" if facts.percent else "amount",
    )


def by_harm(changes: Iterable[Change], facts: Facts) -> list[Change]:
    """Return changes, the most harmful first: the largest loss, or the largest change."""
    if facts.who is None:
        if facts.view == "gap":
            return sorted(changes, key=lambda each: -(each.after or 0.0))
        return sorted(changes, key=lambda each: (_is_small(each), -(each.change or 0.0)))
    sign = 1.0 if facts.who.favourable in facts.tasks else -1.0
    if facts.view == "gap" or express("audit", "by_level", facts):
        return sorted(changes, key=lambda each: sign * (each.after or 0.0))
    return sorted(changes, key=lambda each: (_is_small(each), sign * (each.change or 0.0)))


def _is_small(change: Change) -> bool:
    return change.n is not None and change.n < _FEW


def _largest_tasks(changes: Sequence[Change]) -> list[Change]:
    """Return the groups of the tasks that change most: both of two, of more the one that does."""
    largest: dict[str, float] = {}
    for each in changes:
        largest[each.task] = max(largest.get(each.task, 0.0), abs(each.change or 0.0))
    tasks = sorted(largest, key=lambda task: -largest[task])[:_MOST_TASKS]
    shown = []
    for task in tasks:
        own = [each for each in changes if each.task == task]
        most = max(own, key=lambda each: abs(each.change or 0.0))
        shown += own if len(own) == 2 else [most]
    return shown


def _group(change: Change) -> str:
    return change.group


def _pair_name(change: Change) -> str:
    return f"{change.task}, {change.group}"


def _tone(change: Change) -> str:
    return _TONE_OF.get(change.effect, "unc")


def _tail(change: Change) -> str:
    if change.effect in ("unclear", "unknown") or change.change is None:
        return express("page", "unclear")
    return number(100 * change.change, "+.1f")


def _axis_of(changes: Iterable[Change], facts: Facts) -> Axis:
    """Return the axis of shares, which runs to 100 %, or one that holds all means."""
    if facts.percent:
        return Axis(0.0, 1.0, percent=True)
    ends = [end for each in changes for end in (each.before, each.after) if end is not None]
    margin = 0.15 * (max(ends) - min(ends)) or 1.0
    return Axis(min(ends) - margin, max(ends) + margin)


def _gap_bars(facts: Facts, shown: Sequence[Change]) -> list[GapBar]:
    """Return the gap of two groups before and after, where it lies on the axis."""
    first, other = shown
    if facts.gap is None or None in (first.before, first.after, other.before, other.after):
        return []
    spans = [sorted((getattr(first, side), getattr(other, side))) for side in ("before", "after")]
    (a, b), (c, d) = spans
    kept = (max(a, c), min(b, d)) if max(a, c) < min(b, d) else None
    crosses = facts.gap.before * facts.gap.after < 0

    def of_gap(side: str) -> str:
        return express("page", "gap_in", side, bool(facts.models))

    return [
        GapBar(of_gap(facts.before), a, b, express("page", "from_data", facts)),
        GapBar(
            of_gap(facts.after),
            *(c, d),
            express("page", "from_model", facts),
            None if crosses else kept,
            tone_of(facts.verdict),
        ),
    ]


# --------------------------------------------------------------------------- a closer look


def look_closer(
    facts: Facts | None, *, strata: Panel | None = None, tables: Iterable[Table] = ()
) -> Section:
    """Return three small pictures: the change and its limit, the errors, and like with like."""
    able = [strata]
    if facts is not None:
        able = [_change_panel(facts), _error_panel(facts), strata]
    panels = [panel for panel in able if panel is not None]
    panels += [Panel(table.caption, table, wide=True) for table in tables]
    return Section(
        express("page", "closer"), [Panels(panels)] if panels else [], "closer", only="page"
    )


def _change_panel(facts: Facts) -> Panel | None:
    """Return the number that the first screen names with its interval, 0 and the limit."""
    numbers, unit = _named_number(facts)
    if None in numbers:
        return None
    value, low, high = numbers
    assert value is not None and low is not None and high is not None
    scale = 100 if unit == "points" else 1
    limit = None
    if facts.limit is not None:
        limit = facts.limit * scale * (2 if facts.view == "gap" and unit else 1)
    value, low, high = scale * value, scale * low, scale * high
    axis = Axis.around([value, low, high, limit], limit=limit, balanced=True)
    form = {"points": "+.1f", "means": "+.4g"}.get(unit, "+.3f")
    text = "{} ({} to {})".format(*(number(end, form) for end in (value, low, high)))
    picture = IntervalBar(value, low, high, axis, text, tone_of(facts.verdict), ends_of(facts))
    return Panel(
        express("page", "change_title", facts), picture, express("page", "change_text", facts, unit)
    )


def ends_of(facts: Facts) -> tuple[str, str]:
    """Return what lies at either end of an axis of changes."""
    return express("page", "less", facts), express("page", "more", facts)


def _named_number(facts: Facts) -> tuple[tuple[float | None, float | None, float | None], str]:
    """Return the number of the first screen that has an interval, and its unit."""
    # The limit is one of the mean, and no gap of one group is compared with it.
    gap = facts.gap if facts.view == "gap" or facts.limit is None else None
    if gap is not None and gap.low is not None and gap.high is not None and facts.percent:
        turns = gap.before * gap.after < 0 and gap.low * gap.high > 0
        if turns and gap.growth < 0:  # it moves to the other side
            return (-gap.growth, -gap.high, -gap.low), "points"
        return (gap.growth, gap.low, gap.high), "points"
    if gap is not None and gap.low is not None and gap.high is not None and facts.limit is None:
        return (gap.growth, gap.low, gap.high), "means"
    unit = "points" if facts.percent and facts.view in ("gap", "groups", "tasks", "pairs") else ""
    if (change := facts.limited) is not None:
        return (change.change, change.low, change.high), unit
    return (facts.value, facts.low, facts.high), unit


def like_with_like(
    facts: Facts,
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
) -> Panel:
    """Return the value of all rows, and that within strata."""
    scale = 100 if facts.percent else 1
    scale *= 2 if facts.view == "gap" else 1  # a gap of two groups changes by twice the value
    sizes = [(name, round(scale * value, 1)) for name, value, *_ in rows if value]
    blocks = [(express("page", "strata_unit", facts), sizes)]
    axis = Axis.around((value for _, block in blocks for _, value in block), balanced=True)
    text = express("page", "strata_text", facts.within, facts.given)
    return Panel(express("page", "strata_title"), Lengths(blocks, axis), text)


def changes_table(facts: Facts) -> Table | None:
    """Return all groups of a task, the most harmful change first, or tasks by groups."""
    if facts.view == "groups" and len(facts.changes) > 2:
        return _groups_table(facts)
    if facts.view == "tasks" and len(facts.groups) <= _MOST_COLUMNS:
        return _heat_map(facts)
    return None


def _groups_table(facts: Facts) -> Table:
    form, scale = (rate, 100) if facts.percent else (amount, 1)

    def moved(before: float | None, after: float | None) -> str:
        if before is None or after is None:
            return "–"
        change = shown_change(before, after) if facts.percent else after - before
        return number(scale * change, "+.1f")

    def beyond(each: Change) -> str:
        if not facts.everybody or not facts.percent or None in (each.before, each.after):
            return _size(each, facts)
        own = shown_change(each.before or 0.0, each.after or 0.0)
        return number(scale * (own - shown_change(*facts.everybody)), "+.1f")

    shown = by_harm(facts.changes, facts)
    rows = [
        Row(
            each.group,
            [
                Cell(form(each.before), each.before),
                Cell(form(each.after), each.after),
                Cell(moved(each.before, each.after)),
                Cell(beyond(each), each.change, side=_tone(each)),
                Cell(express("page", "effect", each.effect)),
            ],
        )
        for each in shown
    ]
    if facts.everybody:
        before, after = facts.everybody
        shared = [
            Cell(form(before), before),
            Cell(form(after), after),
            *(Cell(moved(before, after)), Cell("–"), Cell("–")),
        ]
        rows.insert(0, Row(express("page", "everybody"), shared))
    columns = (
        facts.before.capitalize(),
        facts.after.capitalize(),
        *headings_of("change", "beyond", "gap"),
    )
    by_level = bool(express("audit", "by_level", facts))
    caption = express("page", "all_groups", by_level, facts.who is not None)
    return Table(caption, express("page", "group"), columns, rows, len(rows), "groups")


def headings_of(*names: str) -> tuple[str, ...]:
    """Return headings."""
    return tuple(express("page", name) for name in names)


def _size(change: Change, facts: Facts) -> str:
    """Return a change of a rate in percentage points, or of a mean."""
    if change.change is None:
        return "–"
    return number(100 * change.change if facts.percent else change.change, "+.1f")


def _heat_map(facts: Facts) -> Table:
    """Return tasks by groups: their changes, the largest first, and what they do in words."""
    by_task: dict[str, dict[str, Change]] = {}
    for each in facts.changes:
        by_task.setdefault(each.task, {})[each.group] = each
    largest = sorted(
        by_task, key=lambda task: -max(abs(each.change or 0) for each in by_task[task].values())
    )
    rows = []
    for task in largest:
        own = [by_task[task].get(group) for group in facts.groups]
        cells = [
            Cell("–") if each is None else Cell(_size(each, facts), each.change, side=_tone(each))
            for each in own
        ]
        effects = [each.effect for each in own if each is not None]
        word = min(effects, key=_EFFECTS.index)
        rows.append(Row(task, [*cells, Cell(express("page", "effect", word))]))
    three = largest[:_MOST_TASKS]
    caption = express("page", "heat_map", facts, three)
    columns = (*facts.groups, express("page", "gap"))
    return Table(caption, express("page", "task"), columns, rows, len(rows), "tasks")


def _error_panel(facts: Facts) -> Panel | None:
    """Return who bears the errors: both kinds, of few groups, or of the worst one beside others."""
    errors = facts.errors
    if not errors:
        return None
    if len(errors) > _MOST_NUMBERS and facts.worst is not None:
        errors = tuple(each for each in errors if each.group in (facts.worst.group, EVERYBODY))
    blocks = []
    for kind in ("false_positive", "false_negative", "mean"):
        lengths = [
            (each.group, size) for each in errors if (size := getattr(each, kind)) is not None
        ]
        if lengths:
            blocks.append((express("page", f"errors_{kind}", facts), lengths))
    if not blocks:
        return None
    if facts.percent:
        axis, unit = Axis(0.0, 1.0, percent=True), "share"
    else:
        sizes = [size for _, block in blocks for _, size in block]
        digits = decimals_of(max(map(abs, sizes)))
        blocks = [
            (title, [(name, round(size, digits)) for name, size in each]) for title, each in blocks
        ]
        axis, unit = Axis.around((1.4 * size for size in sizes), balanced=True), ""
    text = express("page", "errors_text", facts)
    return Panel(express("page", "errors_title", facts), Lengths(blocks, axis, unit), text)


def parts_of(facts: Facts) -> Parts | None:
    """Return what all groups share, and what is between them, if papers would report the sum."""
    if facts.published is None or facts.value is None or facts.shift is None:
        return None
    if math.isclose(facts.published, facts.value, abs_tol=5e-5):
        return None
    return Parts(facts.published - facts.value, facts.value, express("page", "parts", facts))


def named_terms(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what statisticians look for, by its name."""
    names = ("value", "unknown", "published", "guesses", "gap", "trained", "signs", "rows")
    for name in names:
        text = express("page", f"stat_{name}", facts)
        if text:
            yield express("page", "stat_name", name), text
