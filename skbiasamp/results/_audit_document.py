"""What the report of an audit says, in its order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    ASSOCIATION,
    group_of,
    in_people,
    level_of,
    limit_of,
    listed,
    metric_name,
    name_of,
    number,
    p_equals,
    p_value,
    points,
    rate,
    task_of,
)
from skbiasamp.render.document import Bullets, Card, Document, Figures, Item, Section, Terms, Text
from skbiasamp.results._audit_glossary import glossary, heading, with_words_of
from skbiasamp.results._audit_picture import bars_of, gap_of_largest
from skbiasamp.results._audit_tables import (
    columns_table,
    curve_table,
    groups_table,
    interval_text,
    rates_of,
    rates_table,
    ratios_read,
    strongest_pairs,
    summary_table,
    with_means,
    word_tables,
)
from skbiasamp.results._content import LIMITS, count, document_of, ends, record
from skbiasamp.results._json import records
from skbiasamp.results._report import AuditReport, Finding, columns_alone
from skbiasamp.results._result import AuditResult
from skbiasamp.results._selection_rates import selection_tables
from skbiasamp.results._sentences import gap_of, is_half_of_gap, published
from skbiasamp.results.explanation import explanation_section
from skbiasamp.results.thresholds import slider_of, threshold_section

_MOST_STEPS = 5
_LESS_THAN = "about {about} than {baseline} would"
# The sentence that the page opens with.
_HEADLINES = {
    words.AMPLIFIES: "The model amplifies {amplified}.",
    words.REVEALS_MORE: f"The model reveals more {_LESS_THAN}.",
    words.REDUCES: "The model reduces {amplified}.",
    words.REVERSES: "The model reverses {amplified}.",
    words.REVEALS_LESS: f"The model reveals less {_LESS_THAN}.",
    words.NO_EFFECT: f"{words.NO_EFFECT.capitalize()}: this audit does not show amplification.",
    words.ADDS: "The model adds a difference that the labels do not explain.",
    words.NOT_MEASURED: "Not measured.",
}

_LIMITED = {
    words.WITHIN: "The model changes the association by less than the limit of {limit}.",
    words.INCONCLUSIVE: "Inconclusive: these rows do not show whether the model is within {limit}.",
}

_REFERENCE = "what the model was trained on, or real rows if the model generated these."

_NO_LEVEL = (
    "Amplification compares predictions with labels; it does not say which group is predicted "
    "wrongly more often."
)
_ERRORS = f"{_NO_LEVEL} These rates do: accuracy counts all errors, the last two each kind."
_OF_NUMBERS = f"{_NO_LEVEL} Error rates are of classes, and the task is a number."
_NO_ERRORS = (
    "These rows have no labels, so nothing in them is right or wrong. They are compared with the "
    "reference: the rows that the model was trained on, or real rows if the model generated "
    "these. Both are samples, and intervals include the chance in both."
)

# Why a metric may differ from the verdict: what it compares.
_WHY = {
    "attack": "It compares the model with {baseline}, so errors alone do not count.",
    "T->A": "It asks the reverse: whether the label shifts the predicted group.",
    None: "It compares the groups' shares of the rows for which a task is predicted. They change "
    "too if a task is predicted more or less often for everybody.",
    "size": "It counts sets of tasks that occur together.",
}


def audit_document(report: AuditReport) -> Document:
    """Return what a report of an audit says."""
    first = look_next(report.findings)
    others = [finding for finding in report.findings if finding not in first]
    numbered = {name: f"audit-{i}" for i, name in enumerate(report, 1)}
    settings, slider = {}, slider_of(report)
    for name, result in report.items():
        own = {key: result.params[key] for key in result.params if key in result.settings}
        settings[f"{metric_name(name)}: parameters"] = own
        settings[f"{metric_name(name)}: statistics"] = result.statistics
    steps: list[Item | None] = [
        Bullets([_text_of(report, finding) for finding in first], numbered=True),
        curve_table(report, slider),
    ]
    limits: list[Item | None] = [
        Bullets([_text_of(report, finding) for finding in others]),
        what_is_missing(report),
    ]
    sections = [
        Section("Verdict", _opening(report, numbered), "verdict", leading=True),
        Section("What to do next", steps, "findings", leading=True),
        threshold_section(slider),
        explanation_section(report.explanation),
        Section("", [summary_table(report), metric_sentences(report)], only="short"),
        *_metrics(report, numbered),
        _errors(report),
        Section(LIMITS, limits, "limits"),
        record(report.context, report.data_files, settings),
        glossary(report, numbered),
    ]
    return document_of(
        report.context,
        "Bias amplification audit",
        sections,
        metric=metric_name(report.primary or ""),
        results=[
            (name, f"{metric_name(name)}: {result.verdict}", result.value)
            for name, result in report.items()
            if not math.isnan(result.value)
        ],
    )


# --------------------------------------------------------------------------- in short


def look_next(findings: list[Finding]) -> list[Finding]:
    """Return the findings to act on first, in their order; any if none is urgent."""
    urgent = [finding for finding in findings if finding.place != "note"]
    return (urgent or findings)[:_MOST_STEPS]


def _text_of(report: AuditReport, finding: Finding) -> Text:
    """Return a finding with one spelling of the directions in the names of results."""
    text, action = finding.text, finding.action
    for name in report:
        text, action = (part.replace(name, name.replace("->", "→")) for part in (text, action))
    return Text(text, f"{finding.topic.capitalize()}.", action)


def _opening(report: AuditReport, numbered: Mapping[str, str]) -> list[Item | None]:
    """Return the verdict and its picture."""
    name = report.primary
    if name is None:
        return []
    result = report[name]
    return [
        _card(report, result, (numbered[name], f"Metric: {heading(name)}")),
        bars_of(report, result),
        columns_table(report.by_column, result, report.limit),
    ]


def _card(report: AuditReport, result: AuditResult, link: tuple[str, str]) -> Card:
    """Return the verdict in plain sentences: what changed, for whom, and how sure that is."""
    # The verdict is the sentence's first, and what it rests on follows a colon: see `conclusion`.
    lead, _, rest = result.sentence.partition(". ")
    gap, change, effect = gap_of(result), "", ""
    rest = rest.removeprefix(gap).strip()
    if rest.startswith("Largest"):
        change, _, rest = rest.partition(": ")
    sure = _how_sure(result, lead.partition(": ")[2].rstrip("."))
    columns, headline, compared = report.by_column, _headline(report, result), report._compared
    word = result.verdict if compared is None else compared.word
    if alone := [name for names in columns_alone(report).values() for name in names]:
        headline, gap, rest = _of_columns(report), gap_of_largest(report, alone[0]), ""
        sure = f"{_sure_of(columns, alone)} All columns together: {sure}"
    elif word in _LIMITED:  # a verdict with a limit stands before what was found
        headline, effect = _LIMITED[word].format(limit=limit_of(report.limit)), headline
    explained = "(A is the group, T is the task: what is predicted.)" * ("→" in link[1])
    texts = [
        Text(effect) if effect else None,
        None if compared is None else Text(_of_limit(report, result), "Limit:"),
        None if result.labelled else Text(_REFERENCE, "Reference rows:"),
        Text(gap) if gap else None,
        _everybody(report),
        Text(rest, f"{change}:" * bool(change)) if rest else None,
        Text(sure, "How sure:", link=link, after=explained),
    ]
    return Card(
        word,
        words.SIDE_OF[result.verdict if word == words.OUTSIDE else word],
        report.verdict,
        headline=headline,
        name="" if columns.empty else "all columns together",
        others=[
            (name_of(name), verdict, words.SIDE_OF[verdict])
            for name, verdict in columns.reindex(columns=["column", "verdict"]).to_numpy()
        ],
        texts=[text for text in texts if text is not None],
    )


def _how_sure(result: AuditResult, stated: str) -> str:
    """Return value, interval and test; `stated` is what the sentence has of the first two."""
    if result.confidence_level is None:
        return f"value {number(result.value)} without an interval, so chance cannot be ruled out."
    rows, p = f"{count(result.n_samples)} rows.", p_value(result.p_value)
    if result.verdict == words.ADDS:
        return (
            f"measured from {rows} The interval of this change holds for all pairs together. "
            "The value has a direction, and these labels show none."
        )
    # A metric of a user's own file may say it in another way.
    ends = interval_text(result)
    stated = stated or f"value {number(result.value)}, confidence interval {ends}"
    tested = f"measured from {rows}"
    if p != "–":
        tested = f"p-value {p} (how often chance alone shows so large a change), from {rows}"
    if is_half_of_gap(result):
        return (
            f"{tested} The metric is the mean over both groups, so half of this change: {stated}."
        )
    return f"{stated}; {tested} 0 means no change."


def _of_limit(report: AuditReport, result: AuditResult) -> str:
    """Return how the value compares with the limit, and what the limit allows."""
    limit, compared = report.limit, report._compared
    assert limit is not None and compared is not None
    text = compared._against(limit)
    if gap_of(result):
        text += f" It lets the difference between the groups change by {points(2 * limit)}."
    if not is_half_of_gap(result):  # the change of the difference has its interval
        interval = ends(compared.low, compared.high) or "–"
        judged = "Largest change" if compared.verdict == words.ADDS else "Value"
        text += f" {judged} and interval: {number(compared.value)} ({interval})."
    return text


def _of_columns(report: AuditReport) -> str:
    """Return the headline if some column alone shows what all of them together do not."""
    clauses = [
        f"{verdict} {_association(report.context, names)}"
        for verdict, names in columns_alone(report).items()
    ]
    return f"The model {listed(clauses)}. {words.NO_EFFECT.capitalize()} of all columns together."


def _association(context: Mapping[str, Any], columns: Sequence[Any]) -> str:
    """Return what is associated: sensitive columns, if they are known, and the task."""
    tasks = context.get("tasks", ())
    if not columns:
        return ASSOCIATION
    task = f"'{task_of(tasks[0])}'" if len(tasks) == 1 else "the tasks"
    of = "combinations of " * (len(columns) > 1)
    return f"the association between {of}{listed([name_of(name) for name in columns])} and {task}"


def _sure_of(by_column: pd.DataFrame, names: Sequence[str]) -> str:
    """Return value, interval and adjusted p-value of sensitive columns."""
    rows = records(by_column[by_column["column"].isin(names)])
    return " ".join(
        f"{name_of(row['column'])}: {number(row['value'])} (confidence interval "
        f"{ends(row['low'], row['high'])}, adjusted p-value {p_value(row['p_adjusted'])})."
        for row in rows
    )


def _everybody(report: AuditReport) -> Text | None:
    """Return how often the task that changes most is predicted in all rows, and labelled."""
    sums: dict[str, tuple[float, float]] = {}
    for row in with_means(report, rates_of(report)):
        if row["change"] is not None and row["n"] is not None:
            before, after = sums.get(task := task_of(row["task"]), (0.0, 0.0))
            share = row["n"] / report.groups["n"].sum()
            sums[task] = before + share * row["base_rate"], after + share * row["predicted_rate"]
    if not sums:
        return None
    task = max(sums, key=lambda task: abs(sums[task][1] - sums[task][0]))
    before, after = sums[task]
    if rate(before) == rate(after):
        return Text(f"'{task}' is predicted as often as it is labelled.", "Over all rows:")
    return Text(
        f"'{task}' is predicted for {rate(after)} of all rows, and {rate(before)} are labelled so "
        f"({in_people(after - before)}). The verdict compares groups with each other.",
        "Over all rows:",
    )


def _headline(report: AuditReport, result: AuditResult) -> str:
    """Return the sentence that the page opens with; it names two groups and their one task."""
    context = report.context
    verdict, headline = result.verdict, with_words_of(_HEADLINES[result.verdict], result)
    groups, tasks, columns = (context.get(key, ()) for key in ("groups", "tasks", "group_columns"))
    one_difference = len(groups) == 2 and len(tasks) == 1 and result.direction != "T->A"
    if not one_difference or result.amplified != ASSOCIATION:
        return headline.replace(ASSOCIATION, _association(context, columns))
    task = f"'{task_of(tasks[0])}'"
    first, other = (group_of(group, columns if len(columns) > 1 else ()) for group in groups)
    of = f" ({name_of(columns[0])})" if len(columns) == 1 else ""
    if result.kind.has_attacker:
        return headline.replace("the group", f"the group ({first} or {other})")
    difference = f"the difference in {task} between {first} and {other}{of}"
    if verdict in (words.AMPLIFIES, words.REDUCES, words.REVERSES):
        worse, widens = "", verdict in (words.AMPLIFIES, words.REVERSES)
        if "favourable" in context and widens and report.rates["impact_ratio"].notna().all():
            least: Any = report.rates.sort_values("impact_ratio").iloc[0]
            worse = ", to the disadvantage of "
            worse += first if str(least["group"]) == str(groups[0]) else other
        return f"The model {verdict} {difference}{worse}."
    if verdict == words.NO_EFFECT:
        return f"{words.NO_EFFECT.capitalize()} on {difference}."
    return headline


def metric_sentences(report: AuditReport) -> Terms:
    """Return what each result says but the one that the verdict is about."""
    return Terms(
        [
            (metric_name(name), f"{_asks(report, name)} {result.sentence}")
            for name, result in report.items()
            if result.sentence and name != report.primary
        ]
    )


def _asks(report: AuditReport, name: str) -> str:
    """Return which question a metric answers, and why it may differ from the verdict."""
    result = report[name]
    key = result.kind if result.kind in _WHY else result.direction
    own = report.primary is None or result.verdict == report[report.primary].verdict
    why = "" if own else with_words_of(_WHY.get(key, ""), result)
    return f"{result.question} {why}".strip()


# --------------------------------------------------------------------------- metrics


def _metrics(report: AuditReport, numbered: Mapping[str, str]) -> Iterator[Section]:
    """Yield the numbers behind the verdict, and the other metrics: a line each, and on demand."""
    if report.primary is None:
        return
    result, compared = report[report.primary], report._compared
    limited = "" if compared is None else f"limit {limit_of(report.limit)}: {compared.word}"
    measured = _metric(report.primary, result, numbered[report.primary], limited=limited)
    yield Section("How was the verdict measured?", [measured], "measured", only="page")
    others = [name for name in report if name != report.primary]
    if not others:
        return
    explained = (
        "The verdict above is about the primary metric, whatever the others find. Each of these "
        "answers another question, on a scale of its own: compare each value with 0, not "
        "with others."
    )
    if len(others) > 1:
        explained += f" Their p-values and verdicts are adjusted for {len(others)} metrics (Holm)."
    caption = "Other metrics: value and interval, 0 marked"
    details = [
        Section(
            f"{heading(name)}: {_asks(report, name)}",
            [_metric(name, report[name], numbered[name], conclusion=True)],
            folded=True,
        )
        for name in others
    ]
    table = summary_table(report, others, numbered, id="others-table", caption=caption)
    items = [Text(explained), table, *details]
    yield Section("What do other metrics say?", items, "others", only="page")


def _metric(
    name: str, result: AuditResult, key: str, *, conclusion: bool = False, limited: str = ""
) -> Section:
    """Return what one metric says: numbers, sentence, pairs and words."""
    numbers, at, title = [number(result.value)], key.removeprefix("audit"), metric_name(name)
    if result.confidence_level is not None:
        numbers.append(f"{level_of(result.confidence_level)} interval {interval_text(result)}")
    if not math.isnan(result.p_value):
        numbers.append(p_equals(result.p_value))
    beside = published(result)
    # The question stands above what is folded.
    question, sentence = ("", result.sentence) if conclusion else (result.question, None)
    return Section(
        heading(name),
        [
            Text(question, link=(f"term-{key}", f"Definition of {title}"), quiet=True),
            Figures(
                result.verdict, words.SIDE_OF[result.verdict], numbers + [limited] * bool(limited)
            ),
            None if sentence is None else Text(sentence),
            Text(beside) if beside else None,
            strongest_pairs(f"pairs{at}", title, result),
            *word_tables(f"words{at}", result),
        ],
        key,
    )


# --------------------------------------------------------------------------- groups


def _errors(report: AuditReport) -> Section:
    """Return rows, rates and selection rates of groups."""
    context, groups, rates = report.context, groups_table(report), rates_table(report)
    kind, labelled = context.get("data_kind"), context.get("labelled", True)
    title = "Who bears the errors?" if kind != "texts" else "Rows of each group"
    if not labelled:
        title = "How often is each task in each group?"
    explained = Text(_ERRORS if labelled else _NO_ERRORS, link=("terms", "Definitions"))
    if groups is None and rates is None:
        explained = Text("Not measured: the report has no rates.")
    elif kind == "texts":
        explained = Text("No text is right or wrong, so rows are counted, and no errors.")
    elif kind == "numbers":
        explained = Text(_OF_NUMBERS if labelled else _NO_ERRORS)
    has_ratio = rates is not None and any("Impact ratio" in column for column in rates.columns)
    ratio = Text(ratios_read(context), quiet=True) if has_ratio else None
    # The last one is of all columns together: the rates have it.
    tables = selection_tables(records(report.selection), context.get("group_columns", ()))[:-1]
    return Section(title, [explained, groups, rates, ratio, *tables], "errors", only="page")


# --------------------------------------------------------------------------- limits and terms


def what_is_missing(report: AuditReport) -> Section:
    """Return what was not measured, and why."""
    reasons = {
        metric_name(name): result.sentence.partition(". ")[0].removeprefix("Not measured: ")
        for name, result in report.items()
        if result.verdict == words.NOT_MEASURED
    } | report.context.get("not_measured", {})
    texts = [Text(f"{reason}.", f"{name}:") for name, reason in reasons.items()]
    return Section(
        "What was not measured, and why",
        [Bullets(texts or [Text("The report does not say.")])],
        only="page",
    )
