"""Rows that say more than labels do: pairs, labels of people, groups and labels known in part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skbiasamp._input.errors import PARAMETER_OF, InputError
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.metrics.few_labels import prediction_powered_rates
from skbiasamp.metrics.inputs import row_by_row
from skbiasamp.metrics.matched_pairs import within_pairs
from skbiasamp.report.asked import Asked
from skbiasamp.report.partly_known import PartlyKnown, probable_groups, selected_labels
from skbiasamp.results import AuditResult, Finding


@dataclass
class OtherEvidence:
    """What is known of single rows besides labels, and what a report says of it."""

    partly: PartlyKnown | None = None
    results: dict[str, AuditResult] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    without: str = ""  # why other metrics are left out, if they are

    @property
    def is_alone(self) -> bool:
        """Whether there is a result without any metric of labels."""
        return bool(self.tables)


def read_evidence(
    rows: Any, asked: Asked, train: Contingency | None
) -> tuple[Any, dict[str, Any], dict[str, Any], OtherEvidence]:
    """Return rows, labels and columns as they can be counted, and what else is known of rows."""
    given, columns, how, beside = asked.data, asked.columns, asked.how, asked.beside
    selected, probable = asked.labels == "selected", how["groups"] == "probabilities"
    for name, is_used, option in (
        ("decision", selected, "labels='selected'"),
        ("check", probable, "groups='probabilities'"),
    ):
        if name in beside and not is_used:
            raise InputError(f"{{name}} is used with {{{option}}} only.", name=name)
    evidence = OtherEvidence()
    if not (beside or selected or probable) or (probable and is_contingency(rows)):
        return rows, given, columns, evidence
    if beside:
        check_single(PARAMETER_OF[next(iter(beside))], rows)
    if columns:
        rows, given, columns = row_by_row(rows, given, asked.needed)
        beside = {name: given.pop(PARAMETER_OF[name], values) for name, values in beside.items()}
    if (pairs := beside.get("pair")) is not None:
        check_single("pairs", rows, how)
        own = {name: given[name] for name in given if not name.startswith("sensitive_pred")}
        own |= {"pairs": pairs} | ({"reference": asked.reference} if "y_preds" in given else {})
        matched = within_pairs(own, asked.random_state, how)
        evidence.tables["matched"] = matched.table
        given = given | {"clusters": pairs}
    if (human := beside.get("labelled")) is not None:
        check_single("labelled", rows, how)
        if any(v is not None for v in (rows, pairs, given["sample_weight"], given["clusters"])):
            text = "{labelled} needs rows that are independent, and no {y_true} beside it."
            raise InputError(text)
        own = {name: given[name] for name in ("y_pred", "sensitive_features")}
        powered = prediction_powered_rates(
            **own, labelled=human, y_train=train, pos_label=how["pos_label"]
        )
        evidence.tables |= {"labelled": powered.table, "labelled_rates": powered.rates}
        if powered.amplification is not None:
            evidence.results[powered.amplification.name] = powered.amplification
        evidence.findings += [Finding("few human labels", text) for text in powered.notes]
        evidence.without = "they need a label of each row"
    if selected and probable:
        raise InputError("{labels='selected'} needs known groups, and these have probabilities.")
    if probable:
        evidence.partly = probable_groups(rows, given, beside.get("check"), how)
    if selected:
        rows, given, evidence.partly = selected_labels(rows, given, beside.get("decision"), how)
    if evidence.partly is not None:
        evidence.findings += evidence.partly.findings
        evidence.without = "what is unknown gives them no bounds"
    return rows, given, columns, evidence


def check_single(name: str, rows: Any, how: dict[str, Any] | None = None) -> None:
    """Raise unless there are single rows and, if `how` they are read is passed, plain ones."""
    if is_contingency(rows):
        raise InputError("{name} need single rows, and a Contingency has counts.", name=name)
    if how and (how["groups"] != "intersection" or how["threshold"] is not None):
        text = "{name} need single rows with labels as predictions, and known groups."
        raise InputError(text, name=name)
