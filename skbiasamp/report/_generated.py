"""Several models with rows of their own, such as generators, compared with one reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.errors import InputError
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.metrics.comparing import numbers_of_difference
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.report.auditors import run_each
from skbiasamp.report.evidence import context_of
from skbiasamp.results import MODEL_COLUMNS, ComparisonResult

_OF_PAIR = ["group", "task", "n", "base", "sign"]
_OF_DIFFERENCE = ["reference", "observed", "difference", "gained", "lost", "amplification", "low"]
_OF_DIFFERENCE += ["high", "p_value", "p_adjusted"]
_CHURN = ("model", "group", "n", "changed", "share", "p_value")


def have_own_rows(y_true: Any, y_preds: Any, labels: Mapping[str, Any], columns: Any) -> bool:
    """Whether each model comes with rows of its own, in place of predictions of common rows."""
    if y_true is not None or not isinstance(y_preds, Mapping):
        return False
    whole = all(map(is_contingency, y_preds.values()))
    return bool(columns) or whole or isinstance(labels["sensitive_features"], Mapping)


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
    chosen = auditors or [DirectionalAuditor(base="train")]
    for auditor in chosen:
        known = isinstance(auditor, DirectionalAuditor) and auditor.direction == "A->T"
        if not known or auditor.base != "train" or auditor.sign is not None:
            text = (
                "Models with rows of their own are compared by {auditor}=DirectionalAuditor("
                "base='train'); got {seen!r}."
            )
            raise InputError(text, seen=auditor)

    def measured(auditor: Any, _: Contingency) -> ComparisonResult:
        return _compare(auditor, tables, reference)

    first = tables[reference]
    every = [(auditor, train, first, "") for auditor in chosen]
    context = context_of(first, train, {}, "")
    n = sum(cells.total for cells in tables.values())
    rows = f"{n:,.15g} rows of {len(tables)} models, {len(first.groups)} groups"
    return run_each("comparison", every, random_state, measured), context | {
        "rows": rows,
        "n_samples": n,
        "labelled": False,
        "own_rows": True,
    }


def _compare(auditor: Any, tables: Mapping[str, Contingency], reference: str) -> ComparisonResult:
    """Compare the tables of models with each other, by how far each is from the training rows.

    What all have in common, the training rates, cancels in a difference: it is that of two
    independent tables, in the direction of the training correlations.
    """
    own = {model: auditor.audit(cells) for model, cells in tables.items()}
    first = own[reference]
    sign = first.table.pivot(index="group", columns="task", values="sign")
    between = DirectionalAuditor(**auditor.get_params(deep=False) | {"sign": sign})
    between.fit(as_labels(tables[reference]))
    rows, pairs = [], []
    for model in [reference, *(model for model in tables if model != reference)]:
        result = own[model]
        row = {"model": model, **dict.fromkeys(MODEL_COLUMNS[1:], np.nan)}
        row |= {name: getattr(result, name) for name in ("value", "estimate", "low", "high")}
        rows.append(row | {"verdict": result.verdict})
        if model == reference:
            continue
        gap = between.audit(tables[model])
        rows[-1] |= numbers_of_difference(gap.estimate, gap.low, gap.high, gap.p_value)
        table = gap.table.rename(columns={"base": "reference", "delta": "difference"})
        table = table.assign(model=model, base=result.table["base"], gained=np.nan, lost=np.nan)
        pairs.append(table[["model", *_OF_PAIR, *_OF_DIFFERENCE]])
    table = pd.DataFrame(rows)
    table["p_adjusted"] = adjust_p_values(table["p_value"].to_numpy(float), auditor.adjust)
    return ComparisonResult(
        metric=first.metric,
        direction=first.direction,
        reference=reference,
        table=table,
        pairs=pd.concat(pairs, ignore_index=True),
        churn=pd.DataFrame({name: [] for name in _CHURN}),
        confidence_level=first.confidence_level,
        n_samples=sum(result.n_samples for result in own.values()),
        params=first.params,
        question=first.question,
        rank=first.rank,
        group_columns=first.group_columns,
        citation=first.citation,
    )
