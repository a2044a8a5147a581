"""Several models with rows of their own, such as generators, compared with one reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skbiasamp._input.errors import InputError
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.metrics.directional import compare_tables, compares_tables
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.report.auditors import allowed, run_each
from skbiasamp.report.evidence import context_of
from skbiasamp.results import ComparisonResult


def have_own_rows(y_true: Any, y_preds: Any, labels: Mapping[str, Any], columns: Any) -> bool:
    """Whether each model comes with rows of its own, in place of predictions of common rows."""
    if y_true is not None or not isinstance(y_preds, Mapping):
        return False
    whole = all(map(is_contingency, y_preds.values()))
    return bool(columns) or whole or isinstance(labels["sensitive_features"], Mapping)


def check_unused(**given: Any) -> None:
    """Raise if something is given that needs models of the same rows."""
    for name, value in given.items():
        if value is not None:
            text = "{name} needs models that predict the same rows, and each has its own."
            raise InputError(text, name=name)


def count_tables(
    y_preds: Mapping[str, Any],
    labels: Mapping[str, Any],
    columns: dict[str, Any],
    train: Contingency | None,
    how: dict[str, Any],
) -> dict[str, Contingency]:
    """Return the rows of each model, counted; `labels` have those of each model by its name."""
    if train is None:
        raise InputError("Models with rows of their own are compared with others: pass {y_train}.")
    given = {name: own for name, own in labels.items() if own is not None}
    for name, own in given.items():
        if not isinstance(own, Mapping) or set(own) != set(y_preds):
            text = "{name} must be a dict of all models in {y_preds}, since each has its own rows."
            raise InputError(text, name=name)
    tables = {}
    for model, rows in y_preds.items():
        own = dict.fromkeys(labels) | {name: values[model] for name, values in given.items()}
        if not (columns or is_contingency(rows)):
            own, rows = {**own, "y_pred": rows}, None
        tables[model] = ordered(count_labels(rows, own, columns, like=train, **how))
    return tables


def compare_own_rows(
    tables: Mapping[str, Contingency],
    train: Any,
    auditors: list[Any] | None,
    reference: str,
    random_state: Any,
) -> tuple[dict[str, ComparisonResult], dict[str, Any]]:
    """Return the comparisons by each auditor, and what the report says of its data."""
    first = tables[reference]
    able = [auditor for auditor in allowed(first) if compares_tables(auditor)]
    for auditor in auditors or ():
        if not compares_tables(auditor):
            text = (
                "Models with rows of their own are compared by metrics of rates in each group, "
                "with those of training rows as base, such as {auditor}={able!r}; got {seen!r}."
            )
            raise InputError(text, able=able[0], seen=auditor)

    def measured(auditor: Any, _: Contingency) -> ComparisonResult:
        return compare_tables(auditor, tables, reference)

    every = [(auditor, train, first, "") for auditor in auditors or able]
    context = context_of(first, train, {}, "")
    n = sum(cells.total for cells in tables.values())
    rows = f"{n:,.15g} rows of {len(tables)} models, {len(first.groups)} groups"
    return run_each("comparison", every, random_state, measured), context | {
        "rows": rows,
        "n_samples": n,
        "labelled": False,
        "own_rows": True,
    }
