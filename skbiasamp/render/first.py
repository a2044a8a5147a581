"""The first screens of a page, made of facts: who is worse off, by how much, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    amount,
    count,
    decimals_of,
    in_points,
    name_of,
    number,
    rate,
    shown_change,
)
from skbiasamp.render.document import (
    Action,
    Actions,
    Answer,
    Axis,
    Bullets,
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
from skbiasamp.render.facts import (
    EVERYBODY,
    Change,
    Facts,
    Finding,
    Gap,
    Watch,
    Who,
    express,
    group_by,
)

_TONES = {"above": "up", "below": "down", "reversed": "rev"}
_TONE_OF = {"grows": "up", "added": "up", "shrinks": "down", "reverses": "rev"}
_TONE_OF |= {"unclear": "unc", "unknown": "unc"}
_EFFECTS = ("reverses", "grows", "added", "shrinks", "unclear", "unknown")
_MOST_COLUMNS = 8  # groups of a table of tasks by groups
_MOST_MOVED = 8  # groups of a picture of a watch
_QUESTIONS = ("who", "much", "source", "sure")
_FIRST, _LAST = 4, 3  # groups of a picture, of many
_FEW = 30  # rows; a smaller group leads no picture
_MOST_NUMBERS = 4  # groups whose rates are all written
_MOST_TASKS, _MOST_PAIRS, _MOST_ACTIONS = 3, 6, 3


def tone_of(verdict: str) -> str:
    """Return the colour of a verdict, which has one meaning."""
    return _TONES.get(words.SIDE_OF[verdict], "unc")


def _tone_of(facts: Facts) -> str:
    """Return the colour of a verdict, or of the gap if this moves in another way."""
    if facts.against and facts.gap is not None:
        return "up" if abs(facts.gap.after) > abs(facts.gap.before) else "down"
    return "unc" if facts.mixed else tone_of(facts.verdict)


def first_screen(facts: Facts, topic: str) -> Card:
    """Return what a reader sees first."""
    chips = [Chip(express("audit", "chip", facts), _tone_of(facts))]
    for each in facts.columns:
        if each.verdict in words.DIRECTION_OF and facts.verdict == words.NO_EFFECT:
            chips.append(Chip(express("audit", "alone_chip", each), tone_of(each.verdict)))
    if facts.unknown is not None and facts.unknown.verdict == words.DEPENDS:
        chips.append(Chip(express("audit", "chip", facts.unknown), "none"))
    title, lead = express("audit", "title", facts, topic), express("audit", "lead", facts)
    chips.append(_limit_chip(facts))
    return _card("audit", facts, title, chips, lead, answers_of(facts, "audit"), dumbbell(facts))


def first_screen_of_models(models: Sequence[Facts], topic: str, limits: Mapping[str, str]) -> Card:
    """Return what a reader sees first of models beside a reference: one, or a line for each.

    `limits` say of each model by itself whether it keeps a declared limit.
    """
    first = models[0]
    if len(models) == 1:
        texts = express("comparison", "title", first, topic), express("comparison", "lead", first)
        chips = [Chip(express("comparison", "chip", first), _tone_of(first))]
        picture, answers = dumbbell(first, "comparison"), answers_of(first, "comparison")
    else:
        texts = (
            express("comparison", "title_of_models", models, topic),
            express("comparison", "lead_of_models", models),
        )
        chips, picture = [], _values_of(models)
        answers = [
            Answer(
                each.after,
                express("comparison", "chip", each) + ".",
                express("comparison", "rest", each),
            )
            for each in models
        ]
    for verdict in dict.fromkeys(limits.values()):
        names = [name_of(name) for name, own in limits.items() if own == verdict]
        tone = "up" if verdict == words.OUTSIDE else "unc"
        chips.append(Chip(express("comparison", "limit_chip", verdict, names), tone))
    return _card("comparison", first, texts[0], chips, texts[1], answers, picture)


def first_screen_of_columns(
    facts: Facts, columns: Sequence[tuple[str, Facts, float | None]], topic: str
) -> Card:
    """Return what a reader sees first of sensitive columns that were audited on their own.

    `columns` are their names, their facts and their p-values that allow for all of them.
    """
    names, every = [name for name, *_ in columns], [own for _, own, _ in columns]
    chips = [
        Chip(express("audit", "column_chip", name, own), _tone_of(own)) for name, own, _ in columns
    ]
    answers = [
        Answer(
            f"{name}:",
            express("audit", "of_column", own),
            express("audit", "rest_of_column", own, p),
        )
        for name, own, p in columns
    ]
    title = express("audit", "title_of_columns", names, every[0], topic)
    lead, picture = express("audit", "lead_of_columns", facts), _beside_each_other(columns)
    chips.append(_limit_chip(facts))
    return _card("audit", facts, title, chips, lead, answers, picture)


def _card(
    file: str,
    facts: Facts,
    title: str,
    chips: list[Chip],
    lead: str,
    answers: list[Answer],
    picture: Dumbbell | None,
) -> Card:
    """Return a first screen; what to do first has its reason if the verdict may be wrong."""
    for each in actions_of(facts.caveats)[:1]:
        step = (each.action, each.text) if each.severity == "wrong" else ("", each.action)
        answers.append(Answer(express(file, "question", "first"), *step))
    scope = express(file, "scope", facts)
    return Card(title, chips, lead, answers, picture, scope, facts.date or "")


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
        note=express("audit", "ratios_by", [(name, own) for name, own, _ in columns]),
    )


def first_screen_of_watch(watch: Watch, date: str, *, dropped: float, lacking: float) -> Card:
    """Return what a reader sees first of a watch over time.

    So many rows were `dropped` without a group, or are of one that the reference is `lacking`.
    """
    answers = answers_of(watch, "over")
    if watch.who:
        answers[0] = replace(answers[0], question=express("over", "question", "worse"))
    if step := express("over", "step", watch.verdict, 0, 1):
        answers.append(Answer(express("over", "question", "first"), "", step))
    return Card(
        express("over", "title", watch),
        [Chip(watch.verdict.capitalize(), tone_of(watch.verdict))],
        express("over", "lead", watch),
        answers,
        _rates_of(watch),
        express("over", "scope", watch, dropped, lacking),
        date,
    )


def _rates_of(watch: Watch) -> Dumbbell | None:
    """Return how often groups are predicted a task, in the reference and later."""
    own = [each for each in watch.moved if each.task == watch.moved[0].task][:_MOST_MOVED]
    if not own:
        return None
    own.sort(key=lambda each: -each.after)
    tone = tone_of(watch.verdict) if watch.gap and watch.gap.growth > 0 else "unc"
    bars = list[GapBar]()
    if watch.gap:
        names = [express("over", "gap", side, watch) for side in ("before", "after")]
        bars = bars_of_gap(own, names, ("", ""), watch.gap, tone)
    before, after = (express("over", "side", side, watch) for side in ("before", "after"))
    return Dumbbell(
        express("over", "rates", watch),
        [Mark(each.group, each.before, each.after, tone) for each in own],
        Axis(0.0, 1.0, percent=True),
        (before, after),
        [("before", before), ("after", after)],
        _ends_of(watch.who, [own[0].task]),
        gaps=bars,
        note=express("over", "ratios", watch),
    )


def steps_of_watch(watch: Watch) -> Section:
    """Return the steps to take after a watch."""
    n_steps = int(express("over", "n_steps", watch.verdict))
    steps = [
        Action(*(express("over", "step", watch.verdict, i, part) for part in range(3)))
        for i in range(n_steps)
    ]
    return Section(express("page", "next"), [Actions(steps)], "next")


def _values_of(models: Sequence[Facts]) -> Dumbbell | None:
    """Return the value of each model beside that of the reference."""
    reference = models[0].models[0].value
    if reference is None or any(each.value is None for each in models[0].models):
        return None
    views = {each.view for each in models if each.percent}
    scale = 200 if views == {"gap"} else 100 if views <= {"groups", "tasks"} and views else 1
    reference *= scale
    values = {each.name: scale * (each.value or 0.0) for each in models[0].models}
    axis = Axis.around(values.values(), balanced=True)
    marks = [
        Mark(each.after, reference, values[each.after], tone_of(each.verdict)) for each in models
    ]
    key = [("before", models[0].before), ("after", express("page", "each_model"))]
    caption, unit = express("comparison", "caption_of_models", models[0], scale), "value"
    if scale > 1:
        unit = "points"
    return Dumbbell(caption, marks, axis, (models[0].before, unit), key, unit=unit, of="Model")


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


def _limit_chip(facts: Facts) -> Chip:
    """Return whether the limit is kept, in a word; outside, it has the colour of the verdict."""
    tone = _tone_of(facts)
    outside = tone if tone != "unc" else "up"
    tones = {None: "none", words.OUTSIDE: outside, words.WITHIN: "unc", words.INCONCLUSIVE: "unc"}
    return Chip(express("audit", "limit_chip", facts), tones[facts.limit_verdict])


def actions_of(caveats: Sequence[Finding]) -> list[Finding]:
    """Return at most three steps: the most urgent, then those that another owner can take."""
    able = [finding for finding in caveats if finding.severity != "note"]
    # What is outside a limit is held before anybody looks for the cause.
    able.sort(key=lambda finding: (not finding.numbers.get("hold"), finding.severity != "wrong"))
    chosen: list[Finding] = []
    for finding in able:
        if finding.severity == "wrong" or finding.owner not in {each.owner for each in chosen}:
            chosen.append(finding)
    chosen += [finding for finding in able if finding not in chosen]
    # Two findings may ask for one step: the first of them says why.
    steps = {finding.action: finding for finding in reversed(chosen)}
    return [finding for finding in chosen if steps[finding.action] is finding][:_MOST_ACTIONS]


def next_steps(facts: Facts) -> Section:
    """Return the steps to take, each with its owner and the reason in these data."""
    actions = [
        Action(finding.owner, finding.action, finding.text) for finding in actions_of(facts.caveats)
    ]
    items = [Actions(actions, express("audit", "robust", facts))] if actions else []
    return Section(express("page", "next"), items, "next")


def other_findings(caveats: Sequence[Finding]) -> Section:
    """Return the findings that are no step to take, with their codes and topics."""
    steps = actions_of(caveats)
    texts = [
        Text(finding.text, f"{finding.code}, {finding.topic}.", finding.action)
        for finding in caveats
        if finding not in steps
    ]
    return Section(express("tables", "findings"), [Bullets(texts)], folded=True)


# --------------------------------------------------------------------------- the dumbbell


def dumbbell(facts: Facts, file: str = "audit") -> Dumbbell | None:
    """Return rates before and after, by group, or of the pairs that change most."""
    changes = facts.changes
    if not changes:
        return None
    several = facts.view == "tasks" or (facts.view == "pairs" and len(facts.tasks) > 1)
    if facts.view == "tasks":
        shown = _largest_tasks(changes)
    elif facts.view == "pairs":
        shown = sorted(changes, key=lambda each: -abs(each.change or 0.0))[:_MOST_PAIRS]
    else:
        task = facts.worst.task if facts.worst else changes[0].task
        shown = by_harm([each for each in changes if each.task == task], facts)
    if file == "comparison" and express(file, "opposed", facts):
        shown = [replace(each, effect="reverses") for each in shown]
    if facts.against:  # the picture shows the gap
        effect = "grows" if _tone_of(facts) == "up" else "shrinks"
        shown = [replace(each, effect=effect) for each in shown]
    cut = 0
    if len(shown) > _FIRST + _LAST:
        large = [each for each in shown if (each.n or 0) >= _FEW]
        shown = large if len(large) > _FIRST + _LAST else shown
        shown, cut = [*shown[:_FIRST], *shown[-_LAST:]], _FIRST
    # Bounds are of groups' rates: pairs show shares among rows with a task.
    unknown = None if facts.view == "pairs" else facts.unknown
    bands = {rate[:2]: rate[2:] for rate in (unknown.rates if unknown else ())}
    many = len(shown) > _MOST_NUMBERS and facts.view in ("groups", "pairs")
    marks = []
    for each in shown:
        tail = ""
        if many:
            is_clear = each.is_clear and each.change is not None
            tail = in_points(each.change) if is_clear else express("page", "unclear")
        marks.append(
            Mark(
                f"{each.task}, {each.group}" if several else each.group,
                each.before,
                each.after,
                _tone(each),
                tail,
                not many or each is facts.worst,
                bands.get((each.group, each.task)),
            )
        )
    if facts.everybody and facts.view == "groups":
        marks.append(Mark(express("page", "everybody"), *facts.everybody, numbers=not many))
    signs = ["before", "after", *["band"] * bool(bands)]
    signs += dict.fromkeys(each.effect for each in shown)
    key = [(_TONE_OF.get(sign, sign), express("audit", "key", sign, facts)) for sign in signs]
    levels = [end for each in shown for end in (each.before, each.after) if end is not None]
    axis = Axis(0.0, 1.0, percent=True)  # shares run to 100 %
    if not facts.percent:
        margin = 0.15 * (max(levels) - min(levels)) or 1.0
        axis = Axis(min(levels) - margin, max(levels) + margin)
    bars: Sequence[GapBar] = ()
    if facts.view == "gap" and facts.percent and facts.gap and len(levels) == 2 * len(shown):
        is_model, sides = bool(facts.models), (facts.before, facts.after)
        titles = [express("page", "gap_in", side, is_model) for side in sides]
        texts = express("page", "from_data", facts), express("page", "from_model", facts)
        bars = bars_of_gap(shown, titles, texts, facts.gap, _tone_of(facts))
    ends = _ends_of(facts.who, facts.tasks) if facts.view in ("gap", "groups") else ("", "")
    return Dumbbell(
        express(file, "caption", facts),
        marks,
        axis,
        (facts.before.capitalize(), facts.after.capitalize())
        if file == "audit"
        else (facts.before, facts.after),
        key,
        ends,
        bars,
        express("page", "others", len(changes) - len(shown)) if cut else "",
        cut,
        "" if facts.percent else "amount",
        note=express(file, "ratios", facts),
    )


def _ends_of(who: Who | None, tasks: Sequence[str]) -> tuple[str, str]:
    """Return which end of an axis of rates is better, if it is known what people want."""
    if who is None:
        return "", ""
    ends = ("worse", "better") if who.favourable in tasks else ("better_first", "worse_last")
    return express("page", ends[0]), express("page", ends[1])


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


def _tone(change: Change) -> str:
    return _TONE_OF[change.effect]


def bars_of_gap(
    pair: Sequence[Any], names: Sequence[str], texts: Sequence[str], gap: Gap, tone: str
) -> list[GapBar]:
    """Return the bars of a gap before and after, of two groups with such rates."""
    (a, b), (c, d) = (sorted(getattr(each, side) for each in pair) for side in ("before", "after"))
    shared = max(a, c), min(b, d)
    kept = shared if shared[0] < shared[1] and gap.before * gap.after >= 0 else None
    return [GapBar(names[0], a, b, texts[0]), GapBar(names[1], c, d, texts[1], kept, tone)]


# --------------------------------------------------------------------------- a closer look


def look_closer(
    facts: Facts | None, *, strata: Panel | None = None, tables: Iterable[Table]
) -> Section:
    """Return three small pictures: the change and its limit, the errors, and like with like."""
    able = [strata]
    if facts is not None:
        able = [_change_panel(facts), _error_panel(facts), strata]
    panels = [panel for panel in able if panel is not None]
    panels += [Panel(table.caption, table, wide=True) for table in tables]
    items = [Panels(panels)] if panels else []
    return Section(express("page", "closer"), items, "closer", only="page")


def _change_panel(facts: Facts) -> Panel | None:
    """Return the number that the first screen names with its interval, 0 and the limit."""
    # The limit is one of the mean, and no gap of one group is compared with it.
    gap = facts.gap if facts.view == "gap" or facts.limit is None else None
    value, low, high = facts.value, facts.low, facts.high
    ratios = facts.view == "attack" or (facts.view == "none" and facts.models)
    unit = "points" if facts.percent and not ratios else ""
    if gap is not None and gap.low is not None and gap.high is not None:
        if facts.percent:
            value, low, high, unit = gap.growth, gap.low, gap.high, "points"
            if gap.before * gap.after < 0 < low * high and value < 0:  # it moves to the other side
                value, low, high = -value, -high, -low
        elif facts.limit is None:
            value, low, high, unit = gap.growth, gap.low, gap.high, "means"
    if (limited := facts.limited) is not None:
        value, low, high = limited.change, limited.low, limited.high
        if value is not None and low is not None and high is not None and value < 0:
            value, low, high = -value, -high, -low  # labels have no gap that could shrink
    if value is None or low is None or high is None:
        return None
    scale = 100 if unit == "points" else 1
    limit = None
    if facts.limit is not None:
        limit = facts.limit * scale * (2 if facts.view == "gap" and unit and limited is None else 1)
    value, low, high = scale * value, scale * low, scale * high
    axis = Axis.around([value, low, high, limit], limit=limit, balanced=True)
    form = {"points": "+.1f", "means": "+.4g"}.get(unit, "+.3f")
    text = "{} ({} to {})".format(*(number(end, form) for end in (value, low, high)))
    ends = express("page", "less", facts), express("page", "more", facts)
    tone = _tone_of(facts)
    if facts.mixed and gap is not None:  # of the group that is named
        tone = "rev" if gap.before * gap.after < 0 else "up"
    picture = IntervalBar(value, low, high, axis, text, tone, ends)
    return Panel(
        express("page", "change_title", facts), picture, express("page", "change_text", facts, unit)
    )


def like_with_like(facts: Facts, rows: Iterable[tuple[str, float | None]]) -> Panel:
    """Return the value of all rows, and that within strata."""
    scale = 200 if facts.view == "gap" else 100  # a gap of two groups changes by twice the value
    sizes = [(name, round(scale * value, 1)) for name, value in rows if value]
    blocks = [(express("page", "strata_unit", facts), sizes)]
    axis = Axis.around((value for _, block in blocks for _, value in block), balanced=True)
    text = express("audit", "alike_rows", facts)
    return Panel(express("page", "strata_title"), Lengths(blocks, axis), text)


def changes_table(facts: Facts) -> Table | None:
    """Return all groups of a task, the most harmful change first, or tasks by groups."""
    if facts.view == "groups" and len(facts.changes) > 2:
        return _groups_table(facts)
    if facts.view == "tasks" and len(facts.groups) <= _MOST_COLUMNS:
        return _heat_map(facts)
    return None


def _groups_table(facts: Facts) -> Table:
    form, moved = (rate, in_points) if facts.percent else (amount, partial(amount, form="+"))
    shown = by_harm(facts.changes, facts)
    levels = [level or 0.0 for each in shown for level in (each.before, each.after)]
    largest = None if facts.percent else max(map(abs, levels))
    shared = shown_change(*facts.everybody, largest) if facts.everybody else None
    rows = []
    for each in shown:
        own = shown_change(each.before or 0.0, each.after or 0.0, largest)
        # The change of a pair of numbers is in standard deviations, and not in their unit.
        unknown = _size(each, facts) if facts.percent else "–"
        beyond = unknown if shared is None else moved(own - shared)
        cells = [
            Cell(count(each.n), each.n),
            Cell(form(each.before), each.before),
            Cell(form(each.after), each.after),
            Cell(moved(own)),
            Cell(beyond, each.change, side=_tone(each)),
            Cell(express("page", "effect", each.effect)),
        ]
        rows.append(Row(each.group, cells))
    columns = (
        express("page", "rows"),
        facts.before.capitalize(),
        facts.after.capitalize(),
        *(express("page", name) for name in ("change", "beyond", "gap")),
    )
    by_level = bool(express("audit", "by_level", facts))
    caption = express("page", "all_groups", facts, by_level)
    return Table(caption, express("page", "group"), columns, rows, len(rows), "groups")


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
        axis, unit = Axis.around(sizes, balanced=True), ""
    text = express("page", "errors_text", facts, errors)
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
