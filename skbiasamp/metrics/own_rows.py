"""Differences of several models that have rows of their own, such as generators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.comparing import comparison_result, numbers_of_difference
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.results import ComparisonResult

_OF_PAIR = ["group", "task", "n", "base", "sign"]
_OF_DIFFERENCE = ["reference", "observed", "difference", "gained", "lost", "amplification", "low"]
_OF_DIFFERENCE += ["high", "p_value", "p_adjusted"]
_OF_MODEL = ("value", "estimate", "low", "high", "verdict")


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
    sign = own[reference].table.pivot(index="group", columns="task", values="sign")
    between = DirectionalAuditor(**auditor.get_params(deep=False) | {"sign": sign})
    between.fit(as_labels(tables[reference]))
    numbers = {
        model: {name: getattr(result, name) for name in _OF_MODEL} for model, result in own.items()
    }

    def difference_of(model: str) -> tuple[dict[str, float], Any]:
        gap = between.audit(tables[model])
        table = gap.table.rename(columns={"base": "reference", "delta": "difference"})
        table = table.assign(base=own[model].table["base"], gained=np.nan, lost=np.nan)
        ends = numbers_of_difference(gap.estimate, gap.low, gap.high, gap.p_value)
        return ends, table[[*_OF_PAIR, *_OF_DIFFERENCE]]

    first = tables[reference]
    result = comparison_result(auditor, first, reference, numbers, difference_of, same_rows=False)
    return replace(result, n_samples=sum(audit.n_samples for audit in own.values()))
