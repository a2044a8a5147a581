"""The model card of an audit: its sections, and how each value was measured."""

from __future__ import annotations

from dataclasses import replace

from skbiasamp._utils.formatting import metric_name
from skbiasamp.render.document import Bullets, Cell, Document, Row, Section, Table, Terms, Text
from skbiasamp.results._audit_document import audit_document, metric_sentences, what_is_missing
from skbiasamp.results._audit_glossary import definition
from skbiasamp.results._audit_tables import rates_table, summary_table
from skbiasamp.results._report import AuditReport
from skbiasamp.results._result import AuditResult
from skbiasamp.results._sentences import reference_labels


def model_card(report: AuditReport) -> Document:
    """Return what a report says, in the sections of a Hugging Face model card."""
    page = audit_document(report)
    parts = {section.id: section.items for section in page.sections}
    data = [Text(text, f"{name}:") for name, text in page.facts.items() if name != "Groups"]
    if dropped := report.context.get("n_dropped"):
        data.append(Text(f"{dropped:,.15g} rows without a sensitive feature", "Left out:"))
    metrics = [
        (metric_name(name), f"{result.question} {definition(result)}")
        for name, result in report.items()
    ]
    results = [
        summary_table(report),
        metric_sentences(report),
        rates_table(report),
    ]
    limits = [
        *parts["verdict"],
        parts["limits"][0],
        Section("Recommendations", parts["findings"]),
        Section("Not measured", what_is_missing(report).items),
    ]
    tested = [
        Section("Testing Data", [Bullets(data)]),
        Section("Factors", [Text(f"Groups: {page.facts.get('Groups', 'none')}")]),
        Section("Metrics", [Terms(metrics), _measured_how(report)] if metrics else []),
    ]
    evaluation = [
        Section("Testing Data, Factors & Metrics", tested),
        Section("Results", results),
    ]
    sections = [
        Section("Bias, Risks, and Limitations", limits),
        Section("Evaluation", evaluation),
    ]
    return replace(page, title="", sections=sections)


def _measured_how(report: AuditReport) -> Table:
    """Return the runs, the attacker and the base of each metric, and which pairs it leaves out."""
    rows = [
        Row(
            metric_name(name),
            [
                Cell(f"{result.statistics.get('n_runs', 1):.0f}"),
                Cell(result.statistics.get("attacker", "–")),
                Cell(_base(result)),
                Cell(_left_out(result)),
            ],
        )
        for name, result in report.items()
    ]
    caption = "How each value was measured; the base is what predictions are compared with"
    columns = ("Runs", "Attacker", "Base", "Pairs left out")
    return Table(caption, "Metric", columns, rows, len(rows))


def _base(result: AuditResult) -> str:
    if result.kind.has_attacker:
        return "labels" if result.params.get("equalize", "") is None else result.baseline
    texts = {"test": "labels", "train": reference_labels(result)}
    return texts.get(str(result.params.get("base", "train")), "rates of the user's own")


def _left_out(result: AuditResult) -> str:
    n = int(result.table["delta"].isna().sum()) if "delta" in result.table else 0
    return f"{n} undefined pairs" if n else "none"
