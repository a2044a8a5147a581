"""What the page of a comparison shows: the first screens of its facts, and the tables behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any

from skbiasamp._utils.formatting import (
    amount,
    count,
    group_of,
    metric_name,
    name_of,
    number,
    rate,
)
from skbiasamp.render.document import Cell, Document, Item, Section, Table, Terms, Text
from skbiasamp.render.facts import express
from skbiasamp.render.first import (
    first_screen_of_models,
    look_closer,
    next_steps,
    other_findings,
)
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._content import (
    Cells,
    document_of,
    ends,
    estimates_table,
    folded,
    naming_of_pairs,
    record,
    shown,
    table_columns,
    verdict_cell,
    with_interval,
)
from skbiasamp.results._facts import has_rates, topic_of
from skbiasamp.results._report import ComparisonReport
from skbiasamp.results.exports import as_json, records

_RATES = {
    "accuracy": "Accuracy",
    "true_positive_rate": "True positive rate",
    "false_positive_rate": "False positive rate",
}


def comparison_document(report: ComparisonReport) -> Document:
    """Return what a report of a comparison says."""
    facts = [report.facts(model) for model in report.models]
    accuracy = _accuracy(report)
    return document_of(
        report.context,
        express("page", "comparison"),
        about="",
        sections=[
            Section(
                express("page", "report"),
                [first_screen_of_models(facts, topic_of(facts[0]), report.limit_verdicts)],
                "first",
            ),
            look_closer(
                facts[0] if len(facts) == 1 else None, tables=[accuracy] if accuracy else []
            ),
            next_steps(facts[0]),
            folded("statistics", [*_statistics(report)], "statistics"),
        ],
    )


def _statistics(report: ComparisonReport) -> Iterator[Item | None]:
    """Yield every metric, what changed for whom, findings and the record."""
    yield from _differences(report)
    for i, model in enumerate(report.models, 1):
        yield _changes(report, model, i)
    yield other_findings(report.findings)
    settings = {metric_name(name): result.params for name, result in report.items()}
    yield record(report.context, report.data_files, settings)


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
    """Return the pairs of both models, the largest change first."""
    percent = result.percent
    rows = [row for row in records(result.pairs) if row["model"] == model]
    rows.sort(key=lambda row: -abs(row["change"] or 0))
    rows = [row | _drawn(*map(row.get, ("change", "low", "high")), percent=percent) for row in rows]
    heading, named = naming_of_pairs(result.pairs, result.group_columns)
    form, signs = (rate, "+.2f") if percent else (amount, "+.4f")
    labels = "Labelled so" if percent else "Labels"
    if result.churn.empty:  # each model has rows of its own
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
    return estimates_table(
        rows,
        table_columns("Rows", rates, "Adjusted p"),
        lambda row: {"side": "plain", "name": named(row)},
        id=table_id,
        caption=express("tables", "changed", name_of(model), has_rates(result)),
        first=heading,
        marks="Change and interval",
        balanced=True,
        only="page",
    )


def _drawn(*change: float | None, percent: bool = True) -> dict[str, float | None]:
    """Return a change and its interval as a table draws them, of rates in percentage points."""
    scaled = [None if end is None else end * (100 if percent else 1) for end in change]
    return dict(zip_longest(("value", "low", "high"), scaled))


def _churn(table_id: str, result: ComparisonResult, model: str) -> tuple[()] | tuple[Table, Text]:
    """Return the share of each group whose prediction changed, and what the test of it says."""
    rows = [row for row in records(result.churn) if row["model"] == model]
    if not rows:
        return ()  # each model has rows of its own
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
        caption=express("tables", "churn", name_of(model), name_of(result.reference)),
        first="Group",
        marks="Share of the group's rows",
        percent=True,
    )
    return table, Text(express("tables", "churn_test", rows[0]["p_value"]))


def _errors(table_id: str, report: ComparisonReport, model: str) -> Table | None:
    """Return the error rates of both models by group."""
    own, before = (
        [row for row in records(report.rates) if row["model"] == name]
        for name in (model, report.reference)
    )
    rows = [
        row
        | {f"{key}, reference": old.get(key) for key in _RATES}
        | _drawn(row["accuracy"] - old["accuracy"])
        for row, old in zip(own, before, strict=True)
        if row.get("accuracy") is not None
    ]
    if not rows:
        return None
    heading, named = naming_of_pairs(report.rates, report.context.get("group_columns", ()))
    columns: Cells = {}
    for key, title in _RATES.items():
        columns[f"{title}, reference"] = shown(f"{key}, reference", rate)
        columns[f"{title}, model"] = shown(key, rate)
    return estimates_table(
        rows,
        columns,
        lambda row: {
            "side": "plain",
            "name": named(row),
            "says": f"{number(row['value'], '+.2f')} percentage points",
        },
        id=table_id,
        caption=express("tables", "model_errors", name_of(model)),
        first=heading,
        marks="Change of accuracy in percentage points",
        balanced=True,
        only="page",
    )


# --------------------------------------------------------------------------- every metric


def _accuracy(report: ComparisonReport) -> Table | None:
    """Return the accuracy of each model, if it is known."""
    rows = report._accuracies
    if not rows:
        return None
    form = partial(number, form="+.2f")
    ends_of = [f"difference{end}" for end in ("", "_low", "_high")]
    reference = {"notes": ("reference",), "says": "reference"}
    return estimates_table(
        [row | _drawn(*map(row.get, ends_of)) for row in rows],
        {
            "Accuracy": shown("accuracy", rate),
            "Difference": shown("value", form),
            "Interval": lambda row: Cell(ends(row["low"], row["high"], form) or "–", row["low"]),
        },
        lambda row: (
            {"side": "plain", "name": name_of(row["model"])}
            | (reference if row["model"] == report.reference else {})
        ),
        id="accuracy-table",
        caption=express("tables", "accuracy"),
        first="Model",
        marks="Difference in percentage points",
        balanced=True,
    )


def _differences(report: ComparisonReport) -> Iterator[Item | None]:
    """Yield the values of all models by each metric, and their differences to the reference."""
    rows: list[dict[str, Any]] = []
    for name, result in report.items():
        for row in records(result.table):
            own = {"metric": metric_name(name), "model": row["model"], "own": row["value"]}
            judged: tuple[Any, ...] = (None, None, None)  # of the reference
            if row["model"] != result.reference:
                judged = result.judged(row["model"])
                own["verdict"] = result.verdict(row["model"])
            numbers = zip(("value", "low", "high"), as_json(judged), strict=True)
            rows.append(own | {"p_adjusted": row["p_adjusted"], **dict(numbers)})

    def named(row: dict[str, Any]) -> dict[str, Any]:
        reference = {} if "verdict" in row else {"side": "plain", "says": "reference"}
        return {"group": row["metric"], "name": name_of(row["model"]), **reference}

    def verdict(row: Mapping[str, Any]) -> Cell:
        return verdict_cell(row["verdict"]) if "verdict" in row else Cell("reference")

    values: Cells = {"Value": shown("own"), "Difference": shown("value")}
    yield estimates_table(
        rows,
        table_columns(values, "Interval", "Adjusted p", {"Verdict": verdict}),
        named,
        id="differences-table",
        caption=express("tables", "differences", name_of(report.reference), len(report.models)),
        first="Metric and model",
        marks="Difference and interval",
        balanced=True,
    )
    yield Terms([(metric_name(name), result.question) for name, result in report.items()])
