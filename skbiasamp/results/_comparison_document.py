"""What the report of a comparison says, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    amount,
    group_of,
    level_of,
    listed,
    metric_name,
    name_of,
    number,
    p_equals,
    points,
    rate,
)
from skbiasamp.render.document import (
    Bullets,
    Card,
    Cell,
    Document,
    Item,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._comparison_report import ComparisonReport
from skbiasamp.results._content import (
    Cells,
    count,
    document_of,
    ends,
    estimates_table,
    facts,
    limits_section,
    naming_of_pairs,
    only_task,
    record,
    shown,
    table_columns,
    verdict_cell,
    with_interval,
)
from skbiasamp.results._json import as_json, records

_MOST_NAMED = 6
_RATES = {
    "accuracy": "Accuracy",
    "true_positive_rate": "True positive rate",
    "false_positive_rate": "False positive rate",
}
_LIMITS = {
    "A difference is no level": "The comparison says which model amplifies more. Both may amplify, "
    "and neither may: read the values of both.",
    "These rows": "Intervals say how a difference would vary with other test rows of the same "
    "kind. They do not say how it would vary if a model were trained again.",
    "No clear difference": "This does not mean that the models are equal: every value in the "
    "interval agrees with these rows.",
}


def comparison_document(report: ComparisonReport) -> Document:
    """Return what a report of a comparison says."""
    context, reference = report.context, name_of(report.reference)
    primary, steps = report[report.primary], Bullets(_steps(report), numbered=True)
    names = [name_of(model) for model in report.models]
    several = names[0] if len(names) == 1 else f"{len(names)} models"
    compared = f"{listed(names, _MOST_NAMED)}, compared with {reference}"
    changes = [_changes(report, model, i) for i, model in enumerate(report.models, 1)]
    settings = {
        f"{metric_name(name)}: parameters": result.params for name, result in report.items()
    }
    return document_of(
        context,
        f"Bias amplification: {several} compared with {reference}",
        facts={"Models": compared} | facts(context, without="Model"),
        metric=metric_name(report.primary),
        sections=[
            Section("Verdict", _verdicts(report, primary), "verdict", leading=True),
            Section("What to do next", [steps], "next", leading=True),
            Section("What changed, and for whom?", changes, "changed"),
            Section("Accuracy", [_accuracy(report)], "accuracy"),
            Section("Differences by every metric", _differences(report), "differences"),
            limits_section(_limits(report)),
            record(context, report.data_files, settings),
        ],
    )


def _verdicts(report: ComparisonReport, primary: ComparisonResult) -> list[Item | None]:
    """Return the verdict about each model, and what it is about."""
    notes = {
        model: [Text(note.replace("->", "→"), "Metrics disagree.")]
        for model, note in report.notes.items()
    }
    cards = [
        Card.of(primary.verdict(model), text, name=name_of(model), notes=notes.get(model, []))
        for model, text in report.verdicts.items()
    ]
    about = f"Metric: {metric_name(str(report.primary))}. Reference: {name_of(report.reference)}."
    return [*cards, Text(about, quiet=True)]


def _steps(report: ComparisonReport) -> list[Text]:
    """Return what to do next: of each model, then of the choice."""
    primary = report[report.primary]
    steps = [_step(report, primary, model) for model in report.models]
    if report.context.get("probabilities") and not primary.kind.has_attacker:
        text = (
            "Verdicts compare means of probabilities by group. Accuracy, error rates and changed "
            "predictions count 0.5 or more as the label."
        )
        action = "To compare decisions, pass predicted labels, or a threshold."
        steps.append(Text(text, "Probabilities.", action))
    choice = "A difference that was used to choose a model is too large on average."
    amplify = [
        f"{name_of(row['model'])} ({number(row['value'])})"
        for row in records(primary.table)
        if row.get("verdict") == words.AMPLIFIES
    ]
    if amplify:
        who = "These models amplify by themselves"
        if len(amplify) == 1:
            who = "This model amplifies by itself"
        choice = f"{who}: {listed(amplify, _MOST_NAMED)}."
    action = "Audit the model that you choose (skbiasamp audit), on other rows."
    return [*(step for step in steps if step is not None), Text(choice, "Choice.", action)]


def _step(report: ComparisonReport, primary: ComparisonResult, model: str) -> Text | None:
    """Return what to do about one model, if anything."""
    name, reference, verdict = name_of(model), name_of(report.reference), primary.verdict(model)
    if verdict == words.REVERSES:
        text = f"'{name}' turns the association around: this is no reduction."
        return Text(text, "Reversal.", "Check its predictions, and do not use it.")
    if verdict == words.NO_DIFFERENCE:
        text = f"These rows do not separate '{name}' from '{reference}'."
        others = "" if report.context.get("data_kind") == "texts" else ", or decide by accuracy"
        return Text(text, "Precision.", f"Audit more rows{others}.")
    of_model = {row["model"]: row for row in report._accuracies}.get(model, {})
    least, most = (of_model.get(f"difference_{end}") for end in ("low", "high"))
    if least is None or most is None:  # no evidence of a gain or a loss
        return None
    text = f"'{name}' {verdict} than '{reference}', and"
    if words.DIRECTION_OF.get(verdict, 0) > 0 >= least:
        action = f"Keep '{reference}', unless something else speaks for '{name}'."
        return Text(f"{text} is not clearly more accurate.", "No gain.", action)
    if words.DIRECTION_OF.get(verdict, 0) < 0 and most < 0:
        text += f" its accuracy is {points(of_model['difference'])} lower."
        text += _largest_change_of_errors(report, model)
        return Text(text, "Cost.", "Decide which errors do most harm before you choose.")
    return None


# --------------------------------------------------------------------------- what changed


def _changes(report: ComparisonReport, model: str, i: int) -> Section:
    """Return whose predictions changed, and how."""
    # Whose rates changed: of the first metric whose pairs count rows.
    counted = [
        result for result in report.values() if "change" in result.pairs and len(result.pairs)
    ]
    first = min(counted, key=lambda result: (result.direction is None, result.rank), default=None)
    return Section(
        f"{name_of(model)} compared with {name_of(report.reference)}",
        [
            None if first is None else changed_pairs(f"pairs-{i}", first, model),
            *_churn(f"churn-{i}", report[report.primary], model),
            _errors(f"errors-{i}", report, model),
        ],
        f"model-{i}",
    )


def changed_pairs(table_id: str, result: ComparisonResult, model: str) -> Table:
    """Return the rates of both models, the largest change first."""
    percent = result.percent
    rows = [row for row in records(result.pairs) if row["model"] == model]
    rows.sort(key=lambda row: -abs(row["change"] or 0))
    rows = [row | _drawn(*map(row.get, ("change", "low", "high")), percent=percent) for row in rows]
    heading, named = naming_of_pairs(result.pairs, result.group_columns)
    form, signs = (rate, "+.2f") if percent else (amount, "+.4f")
    labels = "Labelled so" if percent else "Labels"
    if has_own_rows := result.churn.empty:
        labels = "Training rows"
    # Means have units of their own, and the change that of the value.
    unit = result.unit or "percentage points" * percent
    change = f"Change, {unit}" * bool(unit) or "Change"
    rates = {
        labels: shown("base", form),
        "Reference": shown("reference", form),
        "Model": shown("observed", form),
        change: with_interval("value", partial(number, form=signs), ("low", "high")),
    }
    task = only_task(row["task"] for row in rows) or "each task"
    explained = {
        "A->T": f"how often {task} is{' predicted' * (not has_own_rows)} in each group",
        "T->A": f"how often rows labelled {task} are predicted to be in each group",
        None: "rates in the predictions" if percent else "values of each pair",
    }[result.direction]
    return _changes_table(
        rows,
        table_columns("Rows", rates, "Adjusted p"),
        lambda row: {"name": named(row)},
        id=table_id,
        caption=f"{name_of(model)}: {explained}, the largest change first. A "
        "change is that of the group less that of all rows, and has the interval",
        first=heading,
        marks="Change and interval",
        only="page",
    )


def _drawn(*change: float | None, percent: bool = True) -> dict[str, float | None]:
    """Return a change and its interval as a table draws them, of rates in percentage points."""
    scaled = [None if end is None else end * (100 if percent else 1) for end in change]
    return dict(zip_longest(("value", "low", "high"), scaled))


def _changes_table(rows: Any, columns: Cells, named: Any, **options: Any) -> Table:
    """Return rows with changes on one axis with 0 in its middle."""

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"side": "plain", **named(row)}

    return estimates_table(rows, columns, mark, balanced=True, **options)


def _churn(table_id: str, result: ComparisonResult, model: str) -> tuple[()] | tuple[Table, Text]:
    """Return the share of each group whose prediction changed, and what the test of it says."""
    rows = [row for row in records(result.churn) if row["model"] == model]
    if not rows:
        return ()  # each model has rows of its own
    p = rows[0]["p_value"]
    says = f"No clear difference between groups in how many predictions changed ({p_equals(p)})."
    if p is None:
        says = "No test: groups share rows, or one group has none."
    elif p < 0.05:
        says = f"Predictions changed more often in some groups than in others ({p_equals(p)})."

    columns = as_json(result.group_columns)
    table = Table.of(
        sorted(rows, key=lambda row: -(row["share"] or 0)),
        table_columns({"Share": shown("share", rate), "Changed": shown("changed", count)}, "Rows"),
        lambda row: {
            "name": group_of(row["group"], columns),
            "says": rate(row["share"]),
            "dot": row["share"],
        },
        id=table_id,
        caption=f"Rows that {name_of(model)} and {name_of(result.reference)} predict differently",
        first="Group",
        marks="Share of the group's rows",
        percent=True,
    )
    return table, Text(says)


def _largest_change_of_errors(report: ComparisonReport, model: str) -> str:
    """Say which rate of errors, of which group, changes most."""
    named = naming_of_pairs(report.rates, report.context.get("group_columns", ()))[1]
    changes = [
        (abs(new - old), f"the {title.lower()} of {named(row)}, from {rate(old)} to {rate(new)}")
        for row in _error_rates(report, model)
        for key, title in _RATES.items()
        if (new := row.get(key)) is not None and (old := row[f"{key}, reference"]) is not None
    ]
    return f" The rate that changes most is {max(changes)[1]}." if changes else ""


def _error_rates(report: ComparisonReport, model: str) -> list[dict[str, Any]]:
    """Return the error rates of both models by group."""
    own, before = (
        [row for row in records(report.rates) if row["model"] == name]
        for name in (model, report.reference)
    )
    return [
        row
        | {f"{key}, reference": old.get(key) for key in _RATES}
        | _drawn(row["accuracy"] - old["accuracy"])
        for row, old in zip(own, before, strict=True)
        if row.get("accuracy") is not None
    ]


def _errors(table_id: str, report: ComparisonReport, model: str) -> Table | None:
    """Return the error rates of both models by group."""
    rows = _error_rates(report, model)
    if not rows:
        return None
    heading, named = naming_of_pairs(report.rates, report.context.get("group_columns", ()))
    columns: Cells = {}
    for key, title in _RATES.items():
        columns[f"{title}, reference"] = shown(f"{key}, reference", rate)
        columns[f"{title}, model"] = shown(key, rate)
    return _changes_table(
        rows,
        columns,
        lambda row: {
            "name": named(row),
            "says": f"{number(row['value'], '+.2f')} percentage points",
        },
        id=table_id,
        caption=f"{name_of(model)}: accuracy and error rates of each group",
        first=heading,
        marks="Change of accuracy in percentage points",
        only="page",
    )


# --------------------------------------------------------------------------- every metric


def _accuracy(report: ComparisonReport) -> Item | None:
    """Return the accuracy of each model, or why there is none; nothing of texts."""
    rows, kind = report._accuracies, report.context.get("data_kind")
    if kind == "texts":
        return None
    if not rows:
        reason = "no predictions of the task were passed"
        if kind == "numbers":
            reason = "accuracy is of classes, and the task is a number"
        elif len(report.rates) and "base_rate" not in report.rates:
            reason = "the audited rows have no labels"
        return Text(f"Not measured: {reason}.")
    form = partial(number, form="+.2f")
    ends_of = [f"difference{end}" for end in ("", "_low", "_high")]
    reference = {"notes": ("reference",), "says": "reference"}
    return _changes_table(
        [row | _drawn(*map(row.get, ends_of)) for row in rows],
        {
            "Accuracy": shown("accuracy", rate),
            "Difference": shown("value", form),
            "Interval": lambda row: Cell(ends(row["low"], row["high"], form) or "–", row["low"]),
        },
        lambda row: (
            {"name": name_of(row["model"])}
            | (reference if row["model"] == report.reference else {})
        ),
        id="accuracy-table",
        caption="Accuracy; differences in percentage points, with 95 % intervals",
        first="Model",
        marks="Difference in percentage points",
    )


def _differences(report: ComparisonReport) -> list[Item | None]:
    """Return the values of all models by each metric, and their differences to the reference."""
    rows = [row for name, result in report.items() for row in _compared(name, result)]
    questions = Terms([(metric_name(name), result.question) for name, result in report.items()])

    def named(row: dict[str, Any]) -> dict[str, Any]:
        reference = {} if "verdict" in row else {"side": "plain", "says": "reference"}
        return {"group": row["metric"], "name": name_of(row["model"]), **reference}

    def verdict(row: Mapping[str, Any]) -> Cell:
        if "verdict" not in row:
            return Cell("reference")
        cell = verdict_cell(row["verdict"])
        return replace(cell, text=cell.text + "*" * row["doubtful"])

    values: Cells = {"Value": shown("own"), "Difference": shown("value")}
    table = estimates_table(
        rows,
        table_columns(values, "Interval", "Adjusted p", {"Verdict": verdict}),
        named,
        id="differences-table",
        caption=f"Differences to {name_of(report.reference)}: below 0 less, above 0 more",
        first="Metric and model",
        marks="Difference and interval",
        balanced=True,
        brief=("Value", "Difference", "Interval", "Verdict"),
    )
    footnote = "* not significant: p, adjusted for the number of models, is not below 0.05"
    own_scale = (
        "Compare each difference with 0, not with other metrics: every metric has its own scale."
    )
    return [
        table,
        Text(footnote) if any(row.get("doubtful") for row in rows) else None,
        Text(own_scale, quiet=True),
        Section("What each metric asks", [questions], only="page"),
    ]


def _compared(name: str, result: ComparisonResult) -> Iterator[dict[str, Any]]:
    """Yield a row for each model; the reference has neither a difference nor a verdict.

    A verdict is doubtful if the interval excludes 0, and the test for several models finds nothing.
    """
    for row in records(result.table):
        model: str = row["model"]
        ends: tuple[Any, ...] = (None, None, None)
        own = {"metric": metric_name(name), "model": model, "own": row["value"]}
        if model != result.reference:
            ends, verdict = result.judged(model), result.verdict(model)
            _, low, high = ends
            excludes = low > 0 or high < 0
            own |= {"verdict": verdict, "doubtful": excludes and verdict == words.NO_DIFFERENCE}
        shown_ends = zip(("value", "low", "high"), as_json(ends), strict=True)
        yield {**own, "p_adjusted": row["p_adjusted"], **dict(shown_ends)}


def _limits(report: ComparisonReport) -> dict[str, str]:
    """Return what limits these numbers, with what this comparison adds to it."""
    levels = {result.confidence_level for result in report.values()} - {None}
    level = level_of(levels.pop() or 0.95) if len(levels) == 1 else "confidence"
    own_rows = {
        "Rows of their own": "Each model has rows of its own, and all are compared with one "
        "reference. The error of the reference cancels in differences; the chance in the rows of "
        "both models counts."
    }
    same_rows = {
        "Same rows": f"All models predict the same rows, so what they have in common cancels in "
        f"the {level} intervals of differences. Two separate intervals may overlap although the "
        "difference is clear.",
    }
    limits = (own_rows if report.context.get("own_rows") else same_rows) | _LIMITS
    if len(report.models) > 1:
        limits["Several models"] = (
            f"p-values are adjusted for {len(report.models)} comparisons with the reference. "
            "Intervals are not. A verdict needs both."
        )
    if report.context.get("n_train") is None and report.context.get("data_kind") != "texts":
        limits["No training labels"] = (
            "Directions of associations come from the compared labels. Pass training labels to "
            "measure against what the models learned from."
        )
    if n := report.context.get("n_dropped"):
        limits["Rows left out"] = f"{count(n)} rows were left out: they have no sensitive feature."
    return limits
