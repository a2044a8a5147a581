"""Rows that say more than labels do: matched pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skbiasamp._input.errors import PARAMETER_OF, InputError
from skbiasamp.counts.contingency import is_contingency
from skbiasamp.metrics.inputs import row_by_row
from skbiasamp.metrics.matched_pairs import within_pairs
from skbiasamp.report.asked import Asked


@dataclass
class OtherEvidence:
    """What is known of single rows besides labels, and what a report says of it."""

    given: Any  # strata: values of rows, or names of columns
    tables: dict[str, Any] = field(default_factory=dict)

    @property
    def is_alone(self) -> bool:
        """Whether there is a result without any metric of labels."""
        return bool(self.tables)


def read_evidence(
    rows: Any, asked: Asked
) -> tuple[Any, dict[str, Any], dict[str, Any], OtherEvidence]:
    """Return rows, labels and columns as they can be counted, and what else is known of rows."""
    given, columns, how, beside = asked.data, asked.columns, asked.how, asked.beside
    evidence = OtherEvidence(asked.given)
    if not beside:
        return rows, given, columns, evidence
    check_single(PARAMETER_OF[next(iter(beside))], rows)
    if columns:
        rows, given, columns = row_by_row(rows, given, asked.needed)
        evidence.given = given.pop("given", asked.given)
        beside = {name: given.pop(PARAMETER_OF[name], values) for name, values in beside.items()}
    if (pairs := beside.get("pair")) is not None:
        check_single("pairs", rows, how)
        own = {name: given[name] for name in given if not name.startswith("sensitive_pred")}
        own |= {"pairs": pairs} | ({"reference": asked.reference} if "y_preds" in given else {})
        matched = within_pairs(own, asked.random_state, how)
        evidence.tables["matched"] = matched.table
        given = given | {"clusters": pairs}
    return rows, given, columns, evidence


def check_single(name: str, rows: Any, how: dict[str, Any] | None = None) -> None:
    """Raise unless there are single rows and, if `how` they are read is passed, plain ones."""
    if is_contingency(rows):
        raise InputError("{name} need single rows, and a Contingency has counts.", name=name)
    if how and (how["groups"] != "intersection" or how["threshold"] is not None):
        text = "{name} need single rows with labels as predictions, and known groups."
        raise InputError(text, name=name)
