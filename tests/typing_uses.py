"""Typical uses, checked from outside with `mypy --strict` by `make lint`. They are never run."""

from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    amplification_scorer,
    cross_audit,
)
from skbiasamp.inference import required_rows
from skbiasamp.metrics import Option, directional_amplification, function_of
from skbiasamp.results import (
    AuditReport,
    AuditResult,
    ComparisonReport,
    ComparisonResult,
    SelectionRates,
    Timeline,
)
from skbiasamp.testing import assert_amplification, check_auditor


class OwnAuditor(DirectionalAuditor):
    power: int = Option(1)


def labels(y: np.ndarray, predicted: np.ndarray, sex: pd.Series) -> None:
    auditor = DirectionalAuditor("A->T")
    fitted = auditor.fit(y, sensitive_features=sex)
    assert_type(fitted, DirectionalAuditor)
    own = OwnAuditor("T->A", power=2, interval=None, groups="marginal")
    assert_type(own.power, int)
    assert_type(own.ties, str)
    OwnAuditor(pover=2)  # type: ignore[call-arg]
    OwnAuditor(power="2")  # type: ignore[arg-type]
    DirectionalAuditor(tie="zero")  # type: ignore[call-arg]
    check_auditor(own)
    assert_type(function_of(OwnAuditor)(y, predicted, sensitive_features=sex), float)
    result = fitted.audit(y, predicted, sensitive_features=sex)
    assert_type(result, AuditResult)
    assert_type(result.value, float)
    assert_type(result.table, pd.DataFrame)
    assert_type(fitted.score(y, predicted, sensitive_features=sex), float)
    compared = fitted.compare(y, {"a": predicted, "b": y}, sensitive_features=sex)
    assert_type(compared, ComparisonResult)
    assert_type(directional_amplification(y, predicted, sensitive_features=sex), float)


def reports(frame: pd.DataFrame, folder: Path) -> None:
    report = skbiasamp.audit_frame(frame, target="hired", prediction="predicted", sensitive=["sex"])
    assert_type(report, AuditReport)
    assert_type(report["leakage"], AuditResult)
    assert_type(report.verdict, str)
    assert_type(report.to_html(folder / "report.html"), str)
    assert_type(report.to_json(folder / "report.json"), str)
    assert_amplification(report, below=0.02)
    compared = skbiasamp.compare(frame, target="y", prediction={"a": "p", "b": "q"}, sensitive="s")
    assert_type(compared, ComparisonReport)
    rates = skbiasamp.selection_rates(frame, prediction="p", sensitive=["sex", "race"])
    assert_type(rates, SelectionRates)
    assert_type(rates.differences, pd.DataFrame)
    watched = skbiasamp.audit_over(
        frame, time="day", every="month", target="y", prediction="p", sensitive="s"
    )
    assert_type(watched, Timeline)


def counts(frame: pd.DataFrame) -> Contingency:
    cells = Contingency.from_frame(frame, target="y", prediction="p", sensitive="s")
    return cells + cells


def estimators(X: pd.DataFrame, y: pd.Series) -> None:
    model = AuditedClassifier(
        LogisticRegression(), auditor=LeakageAuditor(), sensitive="sex", drop_sensitive=False
    )
    assert_type(model.fit(X, y), AuditedClassifier)
    cross_audit(model, X, y, sensitive_features=X["sex"], scoring=amplification_scorer())
    assert_type(required_rows(0.02, changed=0.1), int)
