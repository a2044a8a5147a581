"""Sensitive columns that are audited on their own: a request of each, and the reports together."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from skbiasamp._input.containers import columns_of, to_native
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.frames import names_of
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.report.request import Request
from skbiasamp.results import AuditReport, AuditResult, Finding, adjusted_verdict

_OF_GROUPS = ("sensitive_features", "sensitive_pred", "sensitive_train")
_NAMED = ("sensitive", "sensitive_prediction")


def requests_by_column(asked: Request) -> dict[str, Request]:
    """Return what is asked of each sensitive column alone, if columns are audited on their own.

    Nothing if there are counts, which do not say what group is of what column, or fitted auditors,
    which know the groups of all columns.
    """
    is_fitted = asked.y_train is None and any(
        hasattr(own, "contingency_") for own in asked.own or ()
    )
    counted = isinstance(asked.y_true, Contingency) or isinstance(asked.y_train, Contingency)
    if asked.groups != "marginal" or is_fitted or counted:
        return {}
    parts: dict[str, list[tuple[Hashable, Any]]] = {}
    for name in _OF_GROUPS:
        if (value := getattr(asked, name)) is not None:
            parts[name] = columns_of(to_native(value, name))
    for name in _NAMED:
        if (value := getattr(asked, name)) is not None:
            parts[name] = [(column, column) for column in names_of(value)]
    first, *others = parts.values() or [[]]
    if len(first) < 2 or any(len(other) != len(first) for other in others):
        return {}
    return {
        column if isinstance(column, str) else f"column {column}": replace(
            asked,
            groups="intersection",
            # As if the other columns were not there: they use up no random numbers.
            random_state=copy.deepcopy(asked.random_state),
            **{name: own[i][1] for name, own in parts.items()},
        )
        for i, (column, _) in enumerate(first)
    }


def with_columns(whole: AuditReport, columns: dict[str, AuditReport]) -> AuditReport:
    """Return a report of all columns with those of each."""
    measured = {name: own for name, own in columns.items() if own.primary is not None}
    by_column = table_by_column({name: own[str(own.primary)] for name, own in measured.items()})
    report = replace(whole, columns=measured, by_column=by_column, unknown=None)
    report.findings[:] = _findings_of_columns(report.judged_columns)
    return report


def _findings_of_columns(columns: Mapping[str, AuditReport]) -> list[Finding]:
    """Return the findings of columns, each once; what is not found for all names its column."""
    every = [own.findings for own in columns.values()]
    findings: list[Finding] = []
    for name, own in zip(columns, every, strict=True):
        for finding in own:
            if not all(finding in others for others in every):
                numbers = {**finding.numbers, "by_column": name}
                findings.append(replace(finding, numbers=numbers))
            elif finding not in findings:
                findings.append(finding)
    return findings


def table_by_column(results: Mapping[str, AuditResult]) -> pd.DataFrame:
    """Return one row for each of several sensitive columns: value, interval and verdict.

    A verdict allows for all columns: p-values are adjusted by Holm's method.
    """
    p_adjusted = adjust_p_values([result.p_value for result in results.values()])
    rows = [
        {
            "column": name,
            "groups": result.table["group"].nunique(),
            **{key: getattr(result, key) for key in ("value", "low", "high", "p_value")},
            "verdict": adjusted_verdict(result, p),
            "p_adjusted": p,
        }
        for (name, result), p in zip(results.items(), p_adjusted, strict=True)
    ]
    return pd.DataFrame(rows)
