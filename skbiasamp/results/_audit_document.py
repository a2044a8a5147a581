"""What the page of an audit shows: the first screens of its facts, and the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from skbiasamp._utils.formatting import NOT_MEASURED, group_of, level_of, metric_name, name_of
from skbiasamp.render.document import (
    Bullets,
    Card,
    Document,
    Item,
    Panel,
    Panels,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.render.first import (
    changes_table,
    first_screen,
    first_screen_of_columns,
    like_with_like,
    look_closer,
    named_terms,
    next_steps,
    other_findings,
    parts_of,
)
from skbiasamp.render.words import express
from skbiasamp.results._audit_tables import (
    columns_table,
    curve_table,
    models_table,
    rates_table,
    slider_of,
    strongest_pairs,
    summary_table,
    word_tables,
)
from skbiasamp.results._content import document_of, folded, record
from skbiasamp.results._facts import facts_by_column, topic_of
from skbiasamp.results._report import AuditReport
from skbiasamp.results._selection_rates import selection_tables
from skbiasamp.results.explanation import explanation_items
from skbiasamp.results.exports import records

_MOST_GROUPS = 30  # whose rows Markdown has


def audit_document(report: AuditReport) -> Document:
    """Return what a report of an audit says."""
    if report.columns:
        return _document_of_columns(report)
    facts, slider = report.facts, slider_of(report)
    combined = None if report.primary is None else report[report.primary]
    tables = [
        columns_table(report.by_column, combined, report.limit),
        changes_table(facts),
        models_table(facts),
    ]
    thresholds: list[Item | None] = [slider, Text(express("tables", "thresholds"), quiet=True)]
    thresholds += [curve_table(report, slider)]
    if slider is None:
        thresholds = thresholds[2:]
    sections = [
        Section(express("page", "report"), [first_screen(facts, topic_of(facts))], "first"),
        look_closer(facts, strata=_strata(report), tables=filter(None, tables)),
        next_steps(facts),
        folded("thresholds", thresholds if any(thresholds) else [], "thresholds"),
        folded("source", [*explanation_items(report.explanation)], "why"),
        folded("statistics", [*_statistics(report)], "statistics"),
    ]
    return document_of(
        report.context,
        express("page", "audit"),
        sections,
        _facts_of(report),
        about="",
        results=[
            (name, f"{metric_name(name)}: {result.verdict}", result.value)
            for name, result in report.items()
            if not math.isnan(result.value)
        ],
    )


def _document_of_columns(report: AuditReport) -> Document:
    """Return what a report says of sensitive columns that were audited on their own.

    After the first screen, each column has what its own page would show.
    """
    facts, columns = report.facts, facts_by_column(report)
    first = first_screen_of_columns(facts, columns, topic_of(columns[0][1]))
    sections, statistics, results = [], list[Item | None](), list[tuple[str, str, float]]()
    for i, (name, own) in enumerate(report.judged_columns.items(), 1):
        document = audit_document(own)
        screen, closer, _, *beside, numbers = document.sections
        (card,) = screen.items
        assert isinstance(card, Card)
        title = f"{name_of(name)}: {card.title}"
        items = [replace(card, title=""), *closer.items, *(replace(each, id="") for each in beside)]
        sections.append(Section(title, _numbered(items, i), f"column-{i}", only="page"))
        *own_numbers, _ = numbers.items  # the record is that of the whole report
        statistics.append(Section(name_of(name), _numbered(own_numbers, i), folded=True))
        results += [(f"{kind}, {name_of(name)}", key, x) for kind, key, x in document.results]
    statistics.append(record(report.context, report.data_files))
    table = columns_table(report.by_column, None, report.limit)
    return document_of(
        report.context,
        express("page", "audit"),
        [
            Section(express("page", "report"), [first], "first"),
            next_steps(facts),
            *sections,
            Section(
                express("page", "statistics"),
                [table, *statistics],
                "statistics",
                only="page",
                folded=True,
            ),
        ],
        {"Sensitive feature": ", ".join(map(name_of, report.columns))} | _facts_of(report),
        about="",
        results=results,
    )


def _numbered(items: Iterable[Item | None], i: int) -> list[Item | None]:
    """Return items whose tables have an id of their own beside those of other columns."""

    def numbered(item: Any) -> Any:
        match item:
            case Table():
                return replace(item, id=item.id and f"{item.id}-{i}")
            case Section():
                return replace(item, items=_numbered(item.items, i))
            case Panels():
                return Panels(
                    [replace(each, picture=numbered(each.picture)) for each in item.panels]
                )
        return item

    return [*map(numbered, items)]


def _facts_of(report: AuditReport) -> dict[str, str]:
    """Return what its first screen leaves out, for those who have nothing but Markdown."""
    groups, known = report.groups, dict[str, str]()
    if report.context.get("n_train") is None:
        known["Training rows"] = "none"
    if "n" in groups and len(groups) <= _MOST_GROUPS:
        columns = tuple(report.context.get("group_columns") or ())
        each = zip(groups["group"], groups["n"], strict=True)
        known["Rows by group"] = "; ".join(f"{group_of(g, columns)}: {n:,.15g}" for g, n in each)
    if report.primary is not None:
        level = report[report.primary].confidence_level
        known["Confidence level"] = "" if level is None else level_of(level)
    versions = report.context.get("versions", {})
    return known | {"Made by": f"skbiasamp {versions.get('skbiasamp', '')}".strip()}


def _strata(report: AuditReport) -> Panel | None:
    """Return the gap within strata beside that of all rows, if strata were passed."""
    explanation, facts = report.explanation, report.facts
    if explanation is None or explanation.conditional is None:
        return None
    rows = [("all rows", facts.value, facts.low, facts.high)]
    within = records(explanation.conditional)
    rows += [(row["part"], row["value"], row["low"], row["high"]) for row in within]
    return like_with_like(facts, rows)


def _statistics(report: AuditReport) -> Iterator[Item | None]:
    """Yield what statisticians look for: terms, metrics, pairs, rates, findings and the record."""
    facts = report.facts
    yield Terms([*named_terms(facts)])
    yield parts_of(facts)
    if len(report) > 1:
        yield Text(express("tables", "metrics_differ", len(report) - 1), quiet=True)
        yield summary_table(report, id="metrics-table", caption=express("tables", "metrics"))
    if report.primary is not None:
        yield strongest_pairs("pairs", metric_name(report.primary), report[report.primary])
    for i, (_, result) in enumerate(report.items()):
        yield from word_tables(f"words-{i}", result)
    yield rates_table(report)
    # The last one is of all columns together: the rates have it.
    context, selection = report.context, records(report.selection)
    columns, wanted = context.get("group_columns", ()), "favourable" in context
    yield from selection_tables(selection, columns, ratios=wanted)[:-1]
    yield other_findings(report.findings)
    yield _not_measured(report)
    settings: dict[str, Any] = {}
    for name, result in report.items():
        own = {key: result.params[key] for key in result.params if key in result.settings}
        settings[metric_name(name)] = own | dict(result.statistics)
    yield record(report.context, report.data_files, settings)


def _not_measured(report: AuditReport) -> Section:
    """Return what was not measured, and why."""
    texts = [
        Text(express("audit", "lead", result.facts), f"{metric_name(name)}:")
        for name, result in report.items()
        if result.verdict == NOT_MEASURED
    ]
    for code in report.context.get("not_measured", ()):
        texts.append(
            Text(express("tables", "left_out", code, 1), express("tables", "left_out", code, 0))
        )
    return Section(express("tables", "not_measured"), [Bullets(texts)], folded=True)
