"""Rows that say more than labels do: pairs, labels of people, groups and labels known in part."""

from __future__ import annotations

from typing import Any, NamedTuple

from skbiasamp._input.errors import PARAMETER_OF, InputError
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.metrics.few_labels import prediction_powered_rates
from skbiasamp.metrics.inputs import row_by_row
from skbiasamp.metrics.matched_pairs import within_pairs
from skbiasamp.report.partly_known import PartlyKnown, probable_groups, selected_labels
from skbiasamp.results import AuditResult, Finding, GroupDifferences


class OtherEvidence(NamedTuple):
    """What is known of single rows besides labels; None of each that they do not have."""

    matched: GroupDifferences | None = None
    labelled: GroupDifferences | None = None
    partly: PartlyKnown | None = None

    @property
    def is_alone(self) -> bool:
        """Whether there is a result without any metric of labels."""
        return self.matched is not None or self.labelled is not None

    @property
    def results(self) -> dict[str, AuditResult]:
        """The amplification of the labels of people and machines, by its name."""
        result = None if self.labelled is None else self.labelled.amplification
        return {} if result is None else {result.name: result}

    @property
    def without(self) -> str:
        """Why other metrics are left out, if they are."""
        if self.partly is not None:
            return "what is unknown gives them no bounds"
        return "they need a label of each row" * (self.labelled is not None)

    @property
    def findings(self) -> list[Finding]:
        """What to know of this evidence."""
        notes = () if self.labelled is None else self.labelled.notes
        own = [] if self.partly is None else self.partly.findings
        return own + [Finding("few human labels", text) for text in notes]

    @property
    def tables(self) -> dict[str, Any]:
        """The tables of a report."""
        tables: dict[str, Any] = {} if self.matched is None else {"matched": self.matched.table}
        if self.labelled is not None:
            tables |= {"labelled": self.labelled.table, "labelled_rates": self.labelled.rates}
        return tables


def check_beside(labels: str, beside: dict[str, Any], how: dict[str, Any]) -> None:
    """Raise if something is known of rows that this call does not ask for."""
    selected, probable = labels == "selected", how["groups"] == "probabilities"
    for name, used, option in (
        ("decision", selected, "labels='selected'"),
        ("check", probable, "groups='probabilities'"),
    ):
        if beside[name] is not None and not used:
            raise InputError("{name} is used with {option} only.", name=name, option=option)


def other_evidence(
    rows: Any,
    given: dict[str, Any],
    columns: dict[str, Any],
    beside: dict[str, Any],
    labels: str,
    train: Contingency | None,
    how: dict[str, Any],
    random_state: Any,
) -> tuple[Any, dict[str, Any], dict[str, Any], OtherEvidence]:
    """Return what can be counted of rows, and what else is known of them.

    `beside` are pairs, labels of people, decisions and groups that are known: values, or the
    names of columns.
    """
    check_beside(labels, beside, how)
    selected, probable = labels == "selected", how["groups"] == "probabilities"
    asked = [name for name, values in beside.items() if values is not None]
    if not (asked or selected or probable) or (probable and is_contingency(rows)):
        return rows, given, columns, OtherEvidence()
    for name in asked[:1]:
        check_single(PARAMETER_OF[name], rows)
    if columns:
        rows, given, columns = row_by_row(rows, given, columns)
        beside = {name: given.pop(PARAMETER_OF[name], beside[name]) for name in beside}
    evidence = OtherEvidence()
    if (pairs := beside["pair"]) is not None:
        check_single("pairs", rows, how)
        own = {name: given[name] for name in given if name != "sensitive_pred"} | {"pairs": pairs}
        evidence = evidence._replace(matched=within_pairs(own, how["pos_label"], random_state))
        given = given | {"clusters": pairs}
    if (human := beside["labelled"]) is not None:
        check_single("labelled", rows, how)
        if any(v is not None for v in (rows, pairs, given["sample_weight"], given["clusters"])):
            text = "{labelled} needs rows that are independent, and no {y_true} beside it."
            raise InputError(text)
        own = {name: given[name] for name in ("y_pred", "sensitive_features")}
        powered = prediction_powered_rates(
            **own, labelled=human, y_train=train, pos_label=how["pos_label"]
        )
        evidence = evidence._replace(labelled=powered)
    rows, given, partly = _partly_known(rows, given, beside, labels, how)
    return rows, given, columns, evidence._replace(partly=partly)


def check_single(name: str, rows: Any, how: dict[str, Any] | None = None) -> None:
    """Raise unless there are single rows and, if `how` they are read is passed, plain ones."""
    if is_contingency(rows):
        raise InputError("{name} need single rows, and a Contingency has counts.", name=name)
    if how and (how["groups"] != "intersection" or how["threshold"] is not None):
        text = "{name} need single rows with labels as predictions, and known groups."
        raise InputError(text, name=name)


def known_in_part(
    rows: Any,
    given: dict[str, Any],
    columns: dict[str, Any],
    labels: str,
    decision: Any,
    how: dict[str, Any],
) -> tuple[Any, dict[str, Any], dict[str, Any], PartlyKnown | None]:
    """Return the rows of several models, and what is known of all if labels or groups miss."""
    beside = {"decision": decision, "check": None}
    check_beside(labels, beside, how)
    selected, probable = labels == "selected", how["groups"] == "probabilities"
    if not (selected or probable) or (probable and is_contingency(rows)):
        return rows, given, columns, None
    check_single("decision", rows)
    if columns:
        named = {"decision": decision} if isinstance(decision, str) else {}
        rows, given, columns = row_by_row(rows, given, columns | named)
        decision = given.pop("decision", decision)
    given = given | {"y_pred": given["y_preds"]}
    rows, given, partly = _partly_known(rows, given, beside | {"decision": decision}, labels, how)
    given["y_preds"] = given.pop("y_pred")
    return rows, given, columns, partly


def _partly_known(
    rows: Any, given: dict[str, Any], beside: dict[str, Any], labels: str, how: dict[str, Any]
) -> tuple[Any, dict[str, Any], PartlyKnown | None]:
    """Return the rows that can be counted, and what is known of all if labels or groups miss."""
    selected, probable = labels == "selected", how["groups"] == "probabilities"
    if selected and probable:
        text = "{labels='selected'} needs known groups, and these have probabilities."
        raise InputError(text)
    if selected:
        return selected_labels(rows, given, beside["decision"], how)
    return rows, given, probable_groups(rows, given, beside["check"], how) if probable else None
