"""Several models with rows of their own, such as generators, compared with one reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skbiasamp._input.errors import InputError
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.metrics.directional import compare_tables, compares_tables
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.report.asked import Asked
from skbiasamp.report.auditors import allowed, run_each
from skbiasamp.results import ComparisonResult


def have_own_rows(y_true: Any, y_preds: Any, labels: Mapping[str, Any], columns: Any) -> bool:
    """Whether each model comes with rows of its own, in place of predictions of common rows."""
    if y_true is not None or not isinstance(y_preds, Mapping):
        return False
    whole = all(map(is_contingency, y_preds.values()))
    return bool(columns) or whole or isinstance(labels["sensitive_features"], Mapping)


def count_tables(asked: Asked, train: Contingency | None) -> dict[str, Contingency]:
    """Return the rows of each model, counted; labels are those of each model by its name."""
    unused = ("given", "pairs", "pair", "sensitive_preds", "decision")
    passed = [name for name in unused if getattr(asked, name) is not None]
    if passed or asked.labels != "all":
        text = "{name} needs models that predict the same rows, and each has its own."
        raise InputError(text, name=[*passed, "labels"][0])
    if train is None:
        raise InputError("Models with rows of their own are compared with others: pass {y_train}.")
    given = {name: own for name, own in asked.of_rows.items() if own is not None}
    for name, own in given.items():
        if not isinstance(own, Mapping) or set(own) != set(asked.y_preds):
            text = "{name} must be a dict of all models in {y_preds}, since each has its own rows."
            raise InputError(text, name=name)
    tables = {}
    for model, rows in asked.y_preds.items():
        own = dict.fromkeys(asked.of_rows) | {name: of[model] for name, of in given.items()}
        if not (asked.columns or is_contingency(rows)):
            own, rows = {**own, "y_pred": rows}, None
        tables[model] = ordered(count_labels(rows, own, asked.columns, like=train, **asked.how))
    return tables


def compare_own_rows(
    tables: Mapping[str, Contingency], train: Any, asked: Asked, reference: str
) -> dict[str, ComparisonResult]:
    """Return the comparisons by each auditor."""
    first = tables[reference]
    able = [auditor for auditor in allowed(first) if compares_tables(auditor)]
    for auditor in asked.own or ():
        if not compares_tables(auditor):
            text = (
                "Models with rows of their own are compared by metrics of rates in each group, "
                "with those of training rows as base, such as {auditor}={able!r}; got {seen!r}."
            )
            raise InputError(text, able=able[0], seen=auditor)

    def measured(auditor: Any, _: Contingency) -> ComparisonResult:
        return compare_tables(auditor, tables, reference)

    every = [(auditor, train, first, "") for auditor in asked.own or able]
    return run_each("comparison", every, asked.random_state, measured)
