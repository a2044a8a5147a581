"""Displays refuse what they cannot draw, by the name of the parameter."""

import numpy as np
import pytest
from hostile import HIRED, PREDICTED, SEX, X
from hostile_made import made
from sklearn.linear_model import LogisticRegression

from skbiasamp import AuditedClassifier, DirectionalAuditor
from skbiasamp.plotting import (
    AmplificationCurveDisplay,
    AmplificationDisplay,
    TimelineDisplay,
)

pytest.importorskip("matplotlib").use("Agg")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: AmplificationDisplay.from_predictions(
                HIRED, PREDICTED, sensitive_features=SEX, auditor={}
            ),
            "auditor must be an auditor",
        ),
        (
            lambda: AmplificationDisplay.from_estimator("x", X, HIRED, sensitive_features=SEX),
            "estimator must be a fitted classifier; got 'x'",
        ),
        (
            lambda: AmplificationDisplay.from_estimator(
                AuditedClassifier, X, HIRED, sensitive_features=SEX
            ),
            "estimator must be a fitted classifier; got the class AuditedClassifier",
        ),
        (
            lambda: AmplificationCurveDisplay.from_estimator("x", X, HIRED, sensitive_features=SEX),
            "estimator must be a fitted classifier with predict_proba",
        ),
        (
            lambda: TimelineDisplay.from_timeline(made("Timeline"), pair=3),
            "pair must be a group and a task; got 3",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_a_positive_class_of_any_type_is_looked_for():
    fitted = LogisticRegression().fit(X, HIRED)
    with pytest.raises(ValueError, match="'pos_label' parameter of amplification_curve"):
        AmplificationCurveDisplay.from_estimator(
            fitted, X, HIRED, sensitive_features=SEX, pos_label=np.array([1, 2])
        )


def test_an_empty_list_of_axes_is_refused():
    result = DirectionalAuditor(reference="test", interval=None).audit(
        [0, 1, 1, 0], [0, 1, 1, 1], sensitive_features=list("ffmm")
    )
    with pytest.raises(ValueError, match=r"ax must be axes of matplotlib, or None; got \[\]"):
        AmplificationDisplay.from_result(result, ax=[])
