"""Differences of several models that have rows of their own, such as generators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.metrics.comparing import numbers_of_difference
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.results import MODEL_COLUMNS, ComparisonResult

_OF_PAIR = ["group", "task", "n", "base", "sign"]
_OF_DIFFERENCE = ["reference", "observed", "difference", "gained", "lost", "amplification", "low"]
_OF_DIFFERENCE += ["high", "p_value", "p_adjusted"]
_CHURN = ("model", "group", "n", "changed", "share", "p_value")


def compares_tables(auditor: Any) -> bool:
    """Whether an auditor measures rates that are compared with those of training rows."""
    if not isinstance(auditor, DirectionalAuditor) or auditor.direction != "A->T":
        return False
    return isinstance(auditor.base, str) and auditor.base == "train" and auditor.sign is None


def compare_tables(
    auditor: Any, tables: Mapping[str, Contingency], reference: str
) -> ComparisonResult:
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
