"""Tables as LaTeX, BibTeX, and the rows behind a pair."""

import importlib.util
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import metrics, mitigation, model_selection
from skbiasamp.results import find_changed_rows

SEX = np.array(["f"] * 400 + ["m"] * 400)
HIRED = np.array([1] * 100 + [0] * 300 + [1] * 200 + [0] * 200)
PREDICTED = np.array([1] * 60 + [0] * 340 + [1] * 250 + [0] * 150)


@pytest.fixture(scope="module")
def report():
    return skbiasamp.audit(HIRED, PREDICTED, sensitive_features=SEX, random_state=0)


def test_bibtex_names_the_package_and_the_papers(report):
    text = report.cite()
    entries = re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)
    assert entries[:2] == ["skbiasamp", "wang2021directional"]
    assert len(entries) == len(set(entries)) == 5
    assert "author = {Zhao and Wang and Yatskar and Ordonez and Chang}" in text
    one = report["MALS"].cite()
    assert re.findall(r"^@\w+\{(\w+),", one, re.MULTILINE) == ["skbiasamp", "zhao2017men"]


def test_every_metric_has_a_paper_or_says_so():
    auditors = [getattr(metrics, name) for name in metrics.__all__ if name.endswith("Auditor")]
    cited = [one for one in auditors if ".. [1]" in one.__doc__ and not inspect.isabstract(one)]
    assert {metrics.DirectionalAuditor, metrics.LICAuditor} <= {*cited}
    assert len(cited) > 9
    assert all(one().citation.startswith("@misc{") for one in cited if hasattr(one, "citation"))
    assert metrics.NumericAuditor().citation == ""


def test_curves_folds_gates_and_searches_are_exported_too(report):
    X = np.column_stack([PREDICTED, SEX == "m"])
    tree, linear = DecisionTreeClassifier(max_depth=1), LogisticRegression()
    how = {"sensitive_features": SEX, "cv": 2, "random_state": 0}
    curve = model_selection.amplification_curve(HIRED, PREDICTED, sensitive_features=SEX)
    folds = skbiasamp.cross_audit(tree, X, HIRED, n_halvings=2, **how)
    several = skbiasamp.cross_audit({"a": tree, "b": linear}, X, HIRED, n_halvings=2, **how)
    search = mitigation.search(tree, X, HIRED, candidates={"linear": linear}, limit=None, **how)
    for result in (curve, folds, several):
        assert result.cite() == report["directional A->T"].cite()
    assert "wang2021directional" in search.cite()
    gate = report.gate(0.02, on="all")
    assert gate.to_frame()["outcome"].tolist() == [check.outcome for check in gate.checks]
    if importlib.util.find_spec("jinja2"):
        for result in (curve, folds, several, search, gate):
            rows = [line for line in result.to_latex().splitlines() if line.endswith(r"\\")]
            assert len(rows) == 1 + len(result.to_frame())


def test_changed_rows_are_those_that_the_counts_of_a_pair_miss(report):
    rows, of_men, of_most = (
        find_changed_rows(HIRED, PREDICTED, sensitive_features=SEX, pair=pair)
        for pair in (("f", 1), ("m", 1), report["directional A->T"].affected)
    )
    assert rows.tolist() == list(range(60, 100))
    assert len(of_men) == 50
    assert of_most.tolist() == rows.tolist()


def test_changed_rows_of_several_columns_and_tasks():
    labels = pd.DataFrame({"cook": [1, 0, 1], "run": [0, 1, 1]})
    predicted = pd.DataFrame({"cook": [0, 0, 0], "run": [0, 0, 1]})
    how = {"sensitive_features": pd.DataFrame({"sex": ["f", "m", "f"], "age": [1, 1, 2]})}
    assert find_changed_rows(labels, predicted, pair=(("f", 1), "cook"), **how).tolist() == [0]
    assert find_changed_rows(labels, predicted, pair=(("m", 1), "run"), **how).tolist() == [1]
