"""What the metrics and the terms of an audit mean."""

from __future__ import annotations

from collections.abc import Mapping

from skbiasamp._utils.formatting import ASSOCIATION, group_of, metric_name, task_of
from skbiasamp.render.document import Section, Terms
from skbiasamp.results._report import AuditReport
from skbiasamp.results._result import AuditResult

_READING_APART = "Above 0 the association is stronger in these rows, below 0 weaker."
_READING_OTHERS = "Above 0 the model amplifies {amplified}, below 0 it reduces it."

# Rows without labels are compared with those of a reference.
_APART = {
    "Reference rows": "The rows that these are compared with: those that the model was trained on, "
    "or real ones if a model generated these. Both tables are samples without common rows.",
    "Labels, predictions": "In definitions, the labels are the reference rows, and the predictions "
    "these rows.",
}
# Texts have no errors and no rates.
_OF_LABELS = {
    "Balanced accuracy",
    "Equally accurate random labels",
    "Predicted so",
    "True positive rate",
    "False positive rate",
    "Impact ratio",
}
_TERMS = {
    "Amplification": "The model exaggerates an association between group and task that is in its "
    "labels. A change along the association widens it. 0 means that the predictions are as "
    "associated with the group as the labels are, not that they are fair.",
    "Group → task (A→T)": "A is the group, T is the task: what is predicted. Does the group shift "
    "the predicted task? Its reverse, task → group (T→A): does the task shift the predicted group?",
    "Row, label": "A row is one case, such as a person. Its label is what is taken as the truth.",
    "Pair": "One group and one task.",
    "Confidence interval": "Range of values that agree with the audited rows. If it includes 0, "
    "these rows can not tell an effect from none.",
    "p-value": "If the model had no effect, how often chance alone would show one this large. "
    "Adjusted: for the number of pairs of one metric, or of the metrics in a table of metrics.",
    "Balanced accuracy": "Mean share of correct guesses over the classes. A guess that ignores its "
    "input has 1 / number of classes.",
    "Equally accurate random labels": "The labels with random errors, as many as the model makes. "
    "What an attacker guesses from them is what errors alone would reveal.",
    "Predicted so": "Share of a group's rows for which the task is predicted: its selection rate.",
    "True positive rate": "Share of the rows with the label for which it is predicted. The rest is "
    "the false negative rate.",
    "False positive rate": "Share of the rows without the label for which it is predicted.",
    "Impact ratio": "Selection rate of a group, or its rate of what people want if that was named, "
    "divided by the highest of any group. Below 0.8 it fails the four-fifths rule of US employment "
    "guidelines, if being selected is an advantage.",
}


def heading(name: str) -> str:
    """Return the name of a result, its direction in words."""
    arrows = {"A→T": "group → task (A→T)", "T→A": "task → group (T→A)"}
    title = metric_name(name)
    for arrow, words in arrows.items():
        title = title.replace(arrow, words)
    return title


def with_words_of(text: str, result: AuditResult) -> str:
    """Return text with what the metric says of itself."""
    return text.format(
        about=result.about,
        baseline=result.baseline,
        amplified=result.amplified,
    )


def definition(result: AuditResult) -> str:
    reading = result.kind.reading if result.labelled else _READING_APART
    if result.kind.is_signed and result.amplified != ASSOCIATION:
        reading = _READING_OTHERS
    return f"{result.definition} {with_words_of(reading, result)}".strip()


def glossary(report: AuditReport, numbered: Mapping[str, str]) -> Section:
    """Return what every metric and term means."""
    context = report.context
    texts = context.get("data_kind") == "texts"
    terms = {name: text for name, text in _TERMS.items() if not (texts and name in _OF_LABELS)}
    if not context.get("labelled", True):
        terms |= _APART
    if context.get("groups") and context.get("tasks"):
        group = group_of(context["groups"][0], context.get("group_columns", ()))
        task = task_of(context["tasks"][0])
        terms["Pair"] = f"{_TERMS['Pair'][:-1]}, such as {group} and '{task}'."
    metrics = Terms(
        [(heading(name), definition(result)) for name, result in report.items()],
        [f"term-{key}" for key in numbered.values()],
    )
    return Section(
        "Glossary",
        [Section("Metrics", [metrics]), Section("Terms", [Terms(list(terms.items()))], "terms")],
        "glossary",
        only="page",
    )
