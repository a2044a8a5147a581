"""Displays refuse what they cannot draw, by the name of the parameter."""

import numpy as np
import pandas as pd
import pytest
from hostile import HIRED, PREDICTED, SEX, X
from hostile_made import made
from sklearn.linear_model import LogisticRegression

from skbiasamp import AuditedClassifier
from skbiasamp._input.errors import InputError
from skbiasamp.plotting import (
    AmplificationCurveDisplay,
    AmplificationDisplay,
    AmplificationHeatmapDisplay,
    ComparisonDisplay,
    MitigationDisplay,
    TimelineDisplay,
    WordsDisplay,
)

pytest.importorskip("matplotlib").use("Agg")


def table(**columns):
    return made("AuditResult").table.assign(**columns)


def from_result(**options):
    return AmplificationDisplay.from_result(made("AuditResult"), **options)


def heatmap(**options):
    return AmplificationHeatmapDisplay.from_result(made("AuditResult"), **options)


def from_predictions(**options):
    return AmplificationDisplay.from_predictions(
        HIRED, PREDICTED, sensitive_features=SEX, **options
    )


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: from_result(ax=3), "ax must be Axes of matplotlib, or None; got int"),
        (lambda: heatmap(ax="x"), "ax must be Axes of matplotlib, or None; got 'x'"),
        (lambda: from_result(point_kwargs=3), "Options of matplotlib must be a dict"),
        (lambda: from_result(point_kwargs={1: 2}), "Options of matplotlib must be a dict"),
        (lambda: from_result(max_pairs=1.5), "max_pairs must be a whole number of 1 or more"),
        (lambda: from_result(model_name=3), "model_name must be text; got 3"),
        (lambda: heatmap(max_tasks=[]), "max_tasks must be a whole number"),
        (lambda: heatmap(transpose=np.array([])), "transpose must be one of None, True, False"),
        (lambda: heatmap(values_format="bogus"), "values_format must be a format of numbers"),
        (lambda: from_predictions(auditor={}), "auditor must be an auditor"),
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
            lambda: AmplificationDisplay(table(amplification="x")),
            "table must hold numbers in column 'amplification'",
        ),
        (lambda: AmplificationDisplay(table(low="x")), "table must hold numbers in column 'low'"),
        (
            lambda: AmplificationDisplay(table(group=[[1]] * 2)),
            "table must hold names in column 'group'",
        ),
        (
            lambda: AmplificationHeatmapDisplay(table(group=pd.NaT)),
            "table must hold names in column 'group', such as text or numbers; some are missing",
        ),
        (
            lambda: AmplificationHeatmapDisplay(table(), confidence_level=None),
            "confidence_level must be a number between 0 and 1; got None",
        ),
        (
            lambda: TimelineDisplay(made("Timeline").to_frame().assign(n=[(1, 2)] * 3)),
            "table must hold numbers in column 'n'",
        ),
        (
            lambda: AmplificationDisplay(pd.concat([table(), table()[["n", "low"]]], axis=1)),
            "table has two columns named 'n'",
        ),
        (
            lambda: AmplificationDisplay(table(), confidence_level="x"),
            "confidence_level must be a number between 0 and 1; got 'x'",
        ),
        (
            lambda: AmplificationDisplay(table(), group_columns=3),
            "group_columns must be a list of names; got 3",
        ),
        (lambda: AmplificationDisplay(table(), kind=[]), "kind must be one of 'signed'"),
        (lambda: AmplificationCurveDisplay(3, [1, 2]), "values has 2 numbers but there are 1"),
        (lambda: AmplificationCurveDisplay([], []), "thresholds must have a number that is finite"),
        (
            lambda: AmplificationCurveDisplay([0, 1], ["a", "b"]),
            "values must hold numbers: what they are drawn by",
        ),
        (
            lambda: AmplificationCurveDisplay([0, 1], [0, 1], rates=3),
            "rates must be a dict or a data frame; got int",
        ),
        (
            lambda: AmplificationCurveDisplay([0, 1], [0, 1], rates={"f": None}),
            r"rates\['f'\] has 1 numbers but there are 2 thresholds",
        ),
        (
            lambda: AmplificationCurveDisplay([0, 1], [0, 1], operating_point="x"),
            "operating_point must be a number; got 'x'",
        ),
        (
            lambda: AmplificationCurveDisplay([0, 1], [0, 1], operating_point=-(10**400)),
            "operating_point must be a number",
        ),
        (lambda: AmplificationCurveDisplay([0, 1], [0, 1]).plot([]), "ax must be one or two Axes"),
        (
            lambda: AmplificationCurveDisplay.from_estimator("x", X, HIRED, sensitive_features=SEX),
            "estimator must be a fitted classifier with predict_proba",
        ),
        (
            lambda: AmplificationCurveDisplay.from_predictions(
                HIRED, PREDICTED, sensitive_features=SEX, rates=np.array([1, 2])
            ),
            "rates must be one of True, False",
        ),
        (
            lambda: TimelineDisplay.from_timeline(made("Timeline"), pair=3),
            "pair must be a group and a task; got 3",
        ),
        (
            lambda: TimelineDisplay(made("Timeline").to_frame(), versions=3),
            "versions must be a list of periods and names",
        ),
        (
            lambda: ComparisonDisplay.from_result(made("ComparisonResult"), max_rows="x"),
            "max_rows must be a whole number",
        ),
        (
            lambda: MitigationDisplay.from_result(made("MitigationSearch"), score=[]),
            r"The comparison has no measure \[\]",
        ),
        (
            lambda: WordsDisplay(made("words").words.assign(weight="x")),
            "words must hold numbers in column 'weight'",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(draw, message):
    with pytest.raises(InputError, match=message):
        draw()


def test_a_positive_class_of_any_type_is_looked_for():
    fitted = LogisticRegression().fit(X, HIRED)
    with pytest.raises(ValueError, match="'pos_label' parameter of amplification_curve"):
        AmplificationCurveDisplay.from_estimator(
            fitted, X, HIRED, sensitive_features=SEX, pos_label=np.array([1, 2])
        )
