"""What the report of an audit says, in its order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from skbiasamp._utils.formatting import (
    ABOVE,
    AMPLIFIES,
    ASSOCIATION,
    BALANCED,
    CANNOT,
    NO_EFFECT,
    NOT_MEASURED,
    REDUCES,
    REVEALS_LESS,
    REVEALS_MORE,
    REVERSES,
    SIDE_OF,
    amount,
    group_of,
    growth,
    level_of,
    listed,
    metric_name,
    name_of,
    number,
    p_value,
    rate,
    task_of,
)
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import (
    MOST_ROWS,
    Bar,
    Bars,
    Bullets,
    Card,
    Cell,
    Document,
    Figures,
    Item,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.results._content import (
    LIMITS,
    Cells,
    count,
    document_of,
    ends,
    interval_mark,
    naming_of_pairs,
    record,
    short,
    shown,
    verdict_cell,
    with_interval,
)
from skbiasamp.results._json import as_json, records
from skbiasamp.results._report import AuditReport, Finding
from skbiasamp.results._result import AuditResult
from skbiasamp.results._selection_document import TOGETHER, hold_together, selection_tables

_MOST_BARS = 6  # groups of the picture
_UNCOUNTED = "adds 0"
_LESS_THAN = "about {about} than {baseline} would"
# The sentence that the page opens with.
_HEADLINES = {
    AMPLIFIES: "The model amplifies {amplified}.",
    REVEALS_MORE: f"The model reveals more {_LESS_THAN}.",
    REDUCES: "The model reduces {amplified}.",
    REVERSES: "The model reverses {amplified}.",
    REVEALS_LESS: f"The model reveals less {_LESS_THAN}.",
    NO_EFFECT: "No clear effect: this audit does not show amplification.",
    CANNOT: "Cannot amplify: {cannot}.",
    NOT_MEASURED: "Not measured.",
}
# How the values of each kind of metric are read.
_READING = {
    "signed": "Above 0 the predictions exaggerate the association in the labels, below 0 they "
    "weaken it.",
    "size": "The published value has no direction. The estimate has one: above 0 the "
    "associations grow.",
    "attack": "Above 0 the attacker guesses better from the model than from {baseline}, below 0 "
    "worse.",
}
_READING_OTHERS = "Above 0 the model amplifies {amplified}, below 0 it reduces it."

_QUESTIONS = (
    (
        "associations",
        "Does the model exaggerate associations?",
        "These metrics compare how often each group is labelled with a task and how often the "
        "model predicts it.",
        ("signed", "size"),
    ),
    (
        "revealed",
        "Do predictions reveal the group?",
        "These metrics train an attacker: a classifier that tries to guess the group from the "
        "predictions, or the predictions from the group.",
        ("attack",),
    ),
)
_OF_NUMBERS = "These metrics compare each group's mean label with its mean prediction."

# Texts have no errors and no rates.
_OF_LABELS = {
    "Balanced accuracy",
    "Equally accurate random labels",
    "Selection rate",
    "True positive rate",
    "False positive rate",
    "Impact ratio",
}
_TERMS = {
    "Amplification": "The model exaggerates an association between group and task that is in its "
    "labels. 0 means that the predictions are as associated with the group as the labels are, not "
    "that they are fair.",
    "Group → task (A→T)": "A is the group, T is the task: what is predicted. Does the group shift "
    "the predicted task? Its reverse, task → group (T→A): does the task shift the predicted group?",
    "Pair": "One group and one task.",
    "Confidence interval": "Range of values that agree with the audited rows. If it includes 0, "
    "these rows can not tell an effect from none.",
    "p-value": "If the model had no effect, how often chance alone would show one this large. "
    "Adjusted: for the number of pairs of one metric, not for the number of metrics.",
    "Balanced accuracy": "Mean share of correct guesses over the classes. A guess that ignores its "
    "input has 1 / number of classes.",
    "Equally accurate random labels": "The labels with random errors, as many as the model makes. "
    "What an attacker guesses from them is what errors alone would reveal.",
    "Selection rate": "Share of a group's rows for which the task is predicted.",
    "True positive rate": "Share of the rows with the label for which it is predicted.",
    "False positive rate": "Share of the rows without the label for which it is predicted.",
    "Impact ratio": "Selection rate of a group divided by the highest selection rate of any group. "
    "Below 0.8 it fails the four-fifths rule of US employment guidelines, if being selected is an "
    "advantage.",
}
_RATIO = (
    "Impact ratio: {rate} divided by the highest of any group. Simultaneous intervals hold for all "
    "groups of a task together, whichever of them truly has the highest rate. {wanted}"
)


def audit_document(report: AuditReport) -> Document:
    """Return what a report of an audit says."""
    context, results, rates = as_json(report.context), report.results, records(report.rates)
    findings = [_spelled(one, results) for one in report.findings]
    first = look_next(findings)
    texts = [Text(one.text, f"{one.topic.capitalize()}.", one.action) for one in findings]
    urgent = [text for text, one in zip(texts, findings, strict=True) if one in first]
    numbered = {name: f"audit-{i}" for i, name in enumerate(results, 1)}
    settings = [
        Section(f"{metric_name(name)}: {what}", [Terms([(key, short(one)) for key, one in held])])
        for name, result in results.items()
        for what, held in _settings(result)
    ]
    sections = [
        Section("Verdict", _opening(report, rates, context, numbered), "verdict", leading=True),
        Section(
            "Findings and what to do next",
            [Bullets(urgent, numbered=True)],
            "findings",
            leading=True,
        ),
        Section("", [_summary(results), _sentences(report)], only="short"),
        *_questions(results, numbered, context),
        _errors(report, rates, context),
        Section(
            LIMITS,
            [
                Bullets([text for text in texts if text not in urgent]),
                _not_measured(results, context),
            ],
            "limits",
        ),
        record(context, report._schema, report.data_files, settings),
        _glossary(results, numbered, context),
    ]
    return document_of(
        context,
        "Bias amplification audit",
        sections,
        metric=metric_name(report.primary or ""),
        results=[
            (name, f"{metric_name(name)}: {one.verdict}", one.value)
            for name, one in results.items()
            if not math.isnan(one.value)
        ],
    )


def model_card(report: AuditReport) -> Document:
    """Return what a report says, in the sections of a Hugging Face model card."""
    page, results = audit_document(report), report.results
    parts = {section.id: section.items for section in page.sections}
    groups = f"Groups: {page.facts.get('Groups', 'none')}"
    data = [Text(text, f"{name}:") for name, text in page.facts.items() if name != "Groups"]
    metrics = [
        (metric_name(name), f"{one.question} {_definition(one)}") for name, one in results.items()
    ]
    return replace(
        page,
        title="",
        sections=[
            Section(
                "Bias, Risks, and Limitations",
                [
                    *parts["verdict"],
                    parts["limits"][0],
                    Section("Recommendations", parts["findings"]),
                    Section("Not measured", _not_measured(results, report.context).items),
                ],
            ),
            Section(
                "Evaluation",
                [
                    Section(
                        "Testing Data, Factors & Metrics",
                        [
                            Section("Testing Data", [Bullets(data)]),
                            Section("Factors", [Text(groups)]),
                            Section("Metrics", [Terms(metrics)]),
                        ],
                    ),
                    Section(
                        "Results",
                        [
                            _summary(results),
                            _sentences(report),
                            _rates(records(report.rates), report, as_json(report.context)),
                        ],
                    ),
                ],
            ),
        ],
    )


# --------------------------------------------------------------------------- in short


def look_next(findings: list[Finding]) -> list[Finding]:
    """Return the three findings to read first; any three if none is urgent."""
    urgent = [one for one in findings if one.place != "note"]
    return (urgent or findings)[:3]


def _spelled(finding: Finding, names: Iterable[str]) -> Finding:
    """Return a finding with one spelling of the directions in the names of results."""
    text, action = finding.text, finding.action
    for name in names:
        text, action = (part.replace(name, name.replace("->", "→")) for part in (text, action))
    return replace(finding, text=text, action=action)


def _opening(
    report: AuditReport,
    rates: list[dict[str, Any]],
    context: dict[str, Any],
    numbered: Mapping[str, str],
) -> list[Item | None]:
    """Return the verdict and its picture."""
    name = report.primary
    if name is None:
        return []
    result = report.results[name]
    # The verdict is the sentence's first, and what it rests on follows a colon: see `conclusion`.
    lead, _, rest = result.sentence.partition(". ")
    # A metric of a user's own file may say it in another way.
    sure = lead.partition(": ")[2].rstrip(".") or (
        f"estimate {number(result.estimate)}, confidence interval {_interval(result)}"
    )
    p = p_value(result.p_value)
    if result.confidence_level is None:
        sure = f"estimate {number(result.estimate)} without an interval"
        sure += ", so chance cannot be ruled out."
    else:
        sure += ". 0 means no change. " + ("Measured" if p == "–" else f"p-value {p},")
        sure += f" from {count(result.n_samples)} rows."
    compared = report._compared
    word = _word(result) if compared is None else compared.word
    # A verdict with a limit stands before what was found.
    found = [] if compared is None else [Text(compared.against(report.limit), "Limit:")]
    card = Card(
        word,
        SIDE_OF[result.verdict if word in (BALANCED, ABOVE) else word],
        report.verdict,
        headline=_headline(result, context),
        texts=[
            *found,
            *([Text(rest)] if rest else []),
            Text(
                sure,
                "How sure:",
                link=(numbered[name], f"Metric: {_heading(name)}"),
                after="A is the group, T is the task (what is predicted)."
                if "→" in metric_name(name)
                else "",
            ),
        ],
    )
    return [card, _bars(result, rates, context.get("group_columns", ()))]


def _word(result: AuditResult) -> str:
    return BALANCED if result.verdict == CANNOT and not result.cannot else result.verdict


def _heading(name: str) -> str:
    """Return the name of a result, its direction in words."""
    arrows = {"A→T": "group → task (A→T)", "T→A": "task → group (T→A)"}
    title = metric_name(name)
    for arrow, words in arrows.items():
        title = title.replace(arrow, words)
    return title


def _filled(text: str, result: AuditResult) -> str:
    """Return text with what the metric says of itself."""
    return text.format(
        about=result.about,
        baseline=result.baseline,
        amplified=result.amplified,
        cannot=result.cannot or "group and task are balanced in the labels",
    )


def _headline(result: AuditResult, context: Mapping[str, Any]) -> str:
    """Return the sentence that the page opens with; it names two groups and their one task."""
    verdict, headline = result.verdict, _filled(_HEADLINES[result.verdict], result)
    groups, tasks, columns = (context.get(key, ()) for key in ("groups", "tasks", "group_columns"))
    one_difference = len(groups) == 2 and len(tasks) == 1 and result.direction != "T->A"
    if not one_difference or result.amplified != ASSOCIATION:
        return headline
    task = f"'{task_of(tasks[0])}'"
    one, other = (group_of(group, columns if len(columns) > 1 else ()) for group in groups)
    of = f" ({name_of(columns[0])})" if len(columns) == 1 else ""
    if result.kind == "attack":
        return headline.replace("the group", f"the group ({one} or {other})")
    if verdict in (AMPLIFIES, REDUCES, REVERSES):
        return f"The model {verdict} the difference in {task} between {one} and {other}{of}."
    if verdict == NO_EFFECT:
        return f"No clear effect on the difference in {task} between {one} and {other}{of}."
    return headline


def _sentences(report: AuditReport) -> Terms:
    """Return what each result says but the one that the verdict is about."""
    return Terms(
        [
            (metric_name(name), one.sentence)
            for name, one in report.results.items()
            if one.sentence and name != report.primary
        ]
    )


# --------------------------------------------------------------------------- the picture


def _bars(result: AuditResult, rates: list[dict[str, Any]], columns: Any) -> Bars | None:
    """Return rates of the task that is affected most, by group, or None without predictions."""
    ends = ("base_rate", "predicted_rate")
    known = [row for row in rates if all(row.get(end) is not None for end in ends)]
    if not known:
        return None
    pair = as_json(result.affected) or max(known, key=_change)
    rows = [row for row in known if row["task"] == pair["task"]] or [
        row for row in known if row["task"] == known[0]["task"]
    ]
    largest = sorted(rows, key=lambda row: (row["group"] != pair["group"], -_change(row)))
    largest = largest[:_MOST_BARS]
    is_of_task = [as_json(task) == rows[0]["task"] for task in result.table["task"]]
    of_task = records(result.table[is_of_task])
    pairs = {repr((one["group"], one["task"])): one for one in of_task}
    gap = ""
    if len(rows) == 2:
        before, after = (rows[0][end] - rows[1][end] for end in ends)
        gap = f"The difference between the groups {growth(before, after)}."
    return Bars(
        f"How often is each group labelled “{task_of(rows[0]['task'])}”, and how often is it "
        "predicted so?",
        [_bar(row, pairs, result, columns) for row in rows if row in largest],
        Axis.around((row[end] for row in largest for end in ends), percent=True).high,
        gap,
        len(rows) - len(largest),
    )


def _change(row: Mapping[str, Any]) -> float:
    return float(abs(row["predicted_rate"] - row["base_rate"]))


def _bar(
    row: dict[str, Any], pairs: Mapping[str, dict[str, Any]], result: AuditResult, columns: Any
) -> Bar:
    before, after = row["base_rate"], row["predicted_rate"]
    verdict = _verdict_of(pairs.get(repr((row["group"], row["task"]))), result)
    change = f"{number((after - before) * 100, '+.1f')} percentage points"
    side = SIDE_OF.get(verdict, "across")
    return Bar(group_of(row["group"], columns), before, after, change, verdict, side)


def _verdict_of(pair: dict[str, Any] | None, result: AuditResult) -> str:
    """Return what a pair's change does, if the result has the pair: in the fixed vocabulary."""
    if pair is None or result.kind != "signed" or not pair.get("sign"):
        return ""
    if pair.get("sign_certain") is False:
        return "direction uncertain"
    level = result.confidence_level or 0.95
    sure = significant(pair.get("p_adjusted"), pair.get("low"), pair.get("high"), level)
    return (AMPLIFIES if pair["amplification"] > 0 else REDUCES) if sure else NO_EFFECT


# --------------------------------------------------------------------------- metrics


def _interval(result: AuditResult) -> str:
    return ends(*as_json(result.judged)[1:]) or "–"


def _summary(
    results: Mapping[str, AuditResult], numbered: Mapping[str, str] | None = None, **options: Any
) -> Table | None:
    """Return the metrics on one axis."""
    if not results:
        return None
    rows = [(name, one, as_json(one.judged), as_json(one.value)) for name, one in results.items()]
    columns: Cells = {
        "Verdict": lambda row: verdict_cell(row[1].verdict),
        "Estimate": lambda row: Cell(number(row[2][0]), row[2][0]),
        "Interval": lambda row: Cell(_interval(row[1]), row[2][1]),
        "p-value": lambda row: Cell(p_value(row[1].p_value), as_json(row[1].p_value)),
    }
    if any(one.differs for one in results.values()):
        columns["Published value"] = lambda row: Cell(
            number(row[3]) if row[1].differs else "the same", row[3]
        )

    def mark(row: Any) -> dict[str, Any]:
        named = {"name": metric_name(row[0]), "link": (numbered or {}).get(row[0], "")}
        return interval_mark(*row[2]) | {"side": SIDE_OF[row[1].verdict]} | named

    axis = Axis.around(end for row in rows for end in row[2])
    options = {"caption": "", "marks": "Estimate and interval", **options}
    return Table.of(rows, columns, mark, first="Metric", axis=axis, **options)


def _questions(
    results: Mapping[str, AuditResult], numbered: Mapping[str, str], context: Mapping[str, Any]
) -> Iterator[Section]:
    """Yield a section for each question, with the metrics that answer it."""
    for key, title, explained, kinds in _QUESTIONS:
        own = {name: one for name, one in results.items() if one.kind in kinds}
        if context.get("data_kind") == "numbers":
            explained = _OF_NUMBERS
        items: list[Item | None] = [Text(explained)]
        if not own:
            if context.get("data_kind") == "texts":
                continue
            items = [
                Text("Not measured: see", link=("limits", "what limits these numbers"), after="")
            ]
        if len(own) > 1:
            caption = "All metrics of this section: estimate and interval, 0 marked"
            items += [_summary(own, numbered, id=f"{key}-table", caption=caption), _OWN_SCALE]
        items += [_metric(name, one, numbered[name]) for name, one in own.items()]
        yield Section(title, items, key, only="page")


_OWN_SCALE = Text(
    "Compare each value with 0, not with other values: every metric has its own scale.",
    quiet=True,
)


def _metric(name: str, result: AuditResult, key: str) -> Section:
    """Return what one metric says: numbers, sentence, pairs and words."""
    numbers, p, title = [number(result.estimate)], p_value(result.p_value), metric_name(name)
    if result.confidence_level is not None:
        numbers.append(f"{level_of(result.confidence_level)} interval {_interval(result)}")
    numbers += [f"p {p}" if "<" in p else f"p = {p}"] if p != "–" else []
    if number(result.value) != numbers[0]:
        numbers.append(f"published value {number(result.value)}")
    return Section(
        _heading(name),
        [
            Text(
                result.question,
                link=(f"term-{key}", f"Definition of {metric_name(name)}"),
                quiet=True,
            ),
            Figures(_word(result), SIDE_OF[result.verdict], numbers),
            Text(result.sentence),
            _pairs(f"pairs{key.removeprefix('audit')}", title, result),
            *_words(f"words{key.removeprefix('audit')}", result),
        ],
        key,
    )


def _pairs(table_id: str, name: str, result: AuditResult) -> Table | None:
    """Return a result's pairs, strongest first."""
    if not len(result.table):
        return None
    uncounted = _UNCOUNTED + f": {result.uncounted}" * bool(result.uncounted)
    rows = [_read(row, uncounted) for row in records(result.strongest(MOST_ROWS))]
    heading, named = naming_of_pairs(
        result.table["group"], result.table["task"], as_json(result.group_columns)
    )
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

    columns: Cells = {
        "Amplification": shown("amplification"),
        "Interval": lambda row: Cell(ends(row["low"], row["high"]) or "–", row["low"]),
        "Adjusted p": shown("p_adjusted", p_value),
        **{title: shown(key, form) for key, title in result.columns.items() if key in rows[0]},
        "Rows": shown("n", count),
    }
    return Table.of(
        rows,
        columns,
        mark,
        n=len(result.table),
        id=table_id,
        caption=f"{name}: {heading.lower()}s, strongest first"
        + f" (amplification in {result.unit})" * bool(result.unit),
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
    if low is not None and high is not None and (low > 0 or high < 0):
        notes += ("also if all pairs are considered at once",)
    return numbers | row | {"notes": notes}


def _words(table_id: str, result: AuditResult) -> Iterator[Table]:
    """Yield the words by which attackers recognise each target, one table a source of texts."""
    words = [] if result.words is None else records(result.words)
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
        ranks = dict.fromkeys(targets, 0)
        for row in own:  # the strongest of every target first
            row["rank"] = ranks[str(row["target"])]
            ranks[str(row["target"])] += 1
        yield Table.of(
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


# --------------------------------------------------------------------------- groups


def _errors(report: AuditReport, rows: list[dict[str, Any]], context: dict[str, Any]) -> Section:
    """Return rows, rates and selection rates of groups."""
    kind, columns = context.get("data_kind"), context.get("group_columns", ())
    rates = _rates(rows, report, context)
    selection = selection_tables(records(report.selection), columns)
    explained = Text(
        "Amplification compares predictions with labels; it does not say which group is predicted "
        "wrongly more often. These rates do.",
        link=("terms", "Definitions"),
    )
    if kind == "texts":
        explained = Text("No text is right or wrong, so rows are counted, and no errors.")
    elif kind == "numbers":
        explained = replace(
            explained,
            text=explained.text.replace(
                "These rates do.", "Error rates are of classes, and the task is a number."
            ),
            link=None,
        )
    groups = _groups(report, context)
    if groups is None and rates is None:
        explained = Text("Not measured: the report has no rates.")
    ratios = rates is not None and "Impact ratio" in rates.columns
    ratio = Text(_ratio(context), quiet=True) if ratios else None
    # The last one is of all columns together: the rates have it.
    tables = [groups, rates, ratio, *selection[:-1]]
    title = "Rows of each group" if kind == "texts" else "Who bears the errors?"
    return Section(title, [explained, *tables], "errors", only="page")


def _ratio(context: Mapping[str, Any]) -> str:
    """Return what impact ratios compare."""
    favourable = context.get("favourable")
    if favourable is None:
        return _RATIO.format(
            rate="selection rate",
            wanted="A low ratio is a disadvantage only if it is an advantage to be selected; if "
            "not, it is the reverse. favourable= names the class that people want.",
        )
    names = favourable if isinstance(favourable, list) else [favourable]
    wanted = listed([f"'{task_of(name)}'" for name in names])
    return _RATIO.format(
        rate=f"the share of a group for which {wanted} is predicted",
        wanted=f"A low ratio is a disadvantage: {wanted} was declared as what people want.",
    )


def _groups(report: AuditReport, context: Mapping[str, Any]) -> Table | None:
    """Return the rows of each group, and the accuracy of the model."""
    rows, columns = records(report.groups), context.get("group_columns", ())
    rated = any("accuracy" in row for row in rows)
    if not rows or (rated and len(context.get("tasks", ())) == 1):  # the rates have all of it
        return None

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        value = row.get("accuracy") if rated else row["share"]
        drawn = interval_mark(value, row.get("accuracy_low"), row.get("accuracy_high"))
        name = group_of(row["group"], columns)
        return drawn | {"name": name, "side": "plain", "says": rate(value)}

    cells: Cells = {"Rows": shown("n", count), "Share of rows": shown("share", rate)}
    if rated:
        cells["Accuracy"] = with_interval("accuracy")
    return Table.of(
        rows,
        cells,
        mark,
        id="groups-table",
        caption="Groups" + (": accuracy of the model, with 95 % intervals" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        axis=Axis(0.0, 1.0, percent=True),
    )


def _rates(
    rows: list[dict[str, Any]], report: AuditReport, context: Mapping[str, Any]
) -> Table | None:
    """Return the rates of each pair, the largest change first."""
    if not rows:
        return None
    columns_of_groups = context.get("group_columns", ())
    heading, named = naming_of_pairs(report.rates["group"], report.rates["task"], columns_of_groups)
    predicted, labelled = (one in rows[0] for one in ("predicted_rate", "base_rate"))
    edges = ("base_rate", "predicted_rate")
    sizes = {str(one["group"]): one["n"] for one in records(report.groups)}
    for row in rows:
        before, after = (row.get(end) for end in edges)
        row["n"] = sizes.get(str(row["group"]))  # a stored report may name other groups
        row["change"] = None if before is None or after is None else (after - before) * 100
    rows = sorted(rows, key=lambda row: -abs(row["change"] or 0))
    columns: Cells = {"Rows": shown("n", count)}
    if labelled:
        columns |= {"Labelled so": shown("base_rate", rate)}
    if predicted:
        columns |= {
            "Selection rate": with_interval("predicted_rate"),
            "Change, percentage points": shown("change", lambda value: number(value, "+.1f")),
            "Impact ratio": with_interval("impact_ratio", lambda value: number(value, ".2f")),
            "Accuracy": with_interval("accuracy"),
            "True positive rate": with_interval("true_positive_rate"),
            "False positive rate": with_interval("false_positive_rate"),
        }
    if not labelled:
        columns = {name: columns[name] for name in ("Rows", "Selection rate", "Impact ratio")}
    caption, marks = "labelled", "Labels"
    if predicted:
        caption = "labelled (ring) and " * labelled + "predicted (dot), with 95 % intervals"
        marks = "From labels to predictions" if labelled else "Predictions"

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
        caption=f"Rates of each group: {caption}" + TOGETHER * hold_together(rows),
        first=heading,
        marks=marks,
        axis=Axis.around((row.get(end) for row in rows for end in edges), percent=True),
    )


# --------------------------------------------------------------------------- limits and terms


def _not_measured(results: Mapping[str, AuditResult], context: Mapping[str, Any]) -> Section:
    """Return what was not measured, and why."""
    reasons = {
        metric_name(name): one.sentence.partition(". ")[0].removeprefix("Not measured: ")
        for name, one in results.items()
        if one.verdict == NOT_MEASURED
    } | context.get("not_measured", {})
    texts = [Text(f"{reason}.", f"{name}:") for name, reason in reasons.items()]
    return Section(
        "What was not measured, and why",
        [Bullets(texts or [Text("The report does not say.")])],
        only="page",
    )


def _settings(result: AuditResult) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Yield the parameters that are not at their default, and the statistics."""
    params = as_json(result.params)
    yield "parameters", [(key, params[key]) for key in params if key in result.settings]
    yield "statistics", list(as_json(result.statistics).items())


def _definition(result: AuditResult) -> str:
    reading = _READING.get(result.kind, "")
    if result.kind == "signed" and result.amplified != ASSOCIATION:
        reading = _READING_OTHERS
    return f"{result.definition} {_filled(reading, result)}".strip()


def _glossary(
    results: Mapping[str, AuditResult], numbered: Mapping[str, str], context: Mapping[str, Any]
) -> Section:
    """Return what every metric and term means."""
    texts = context.get("data_kind") == "texts"
    terms = {name: one for name, one in _TERMS.items() if not (texts and name in _OF_LABELS)}
    if context.get("groups") and context.get("tasks"):
        group = group_of(context["groups"][0], context.get("group_columns", ()))
        task = task_of(context["tasks"][0])
        terms["Pair"] = f"{_TERMS['Pair'][:-1]}, such as {group} and '{task}'."
    metrics = Terms(
        [(_heading(name), _definition(one)) for name, one in results.items()],
        [f"term-{key}" for key in numbered.values()],
    )
    return Section(
        "Glossary",
        [Section("Metrics", [metrics]), Section("Terms", [Terms(list(terms.items()))], "terms")],
        "glossary",
        only="page",
    )
