"""What every auditor and every estimator of the package promises, whatever it measures."""

import ast
import doctest
import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from discovery import auditors, public_estimators
from test_function_metric import gap

import skbiasamp
from skbiasamp import metrics
from skbiasamp.testing import check_auditor

AUDITORS, ESTIMATORS = auditors(), public_estimators()
every_auditor = pytest.mark.parametrize("kind", AUDITORS, ids=lambda kind: kind.__name__)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

RNG = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame({"sex": RNG.choice(["f", "m"], N), "hired": RNG.integers(0, 2, N)})
FRAME["predicted"] = np.where(RNG.random(N) < 0.2, FRAME["sex"] == "m", FRAME["hired"]).astype(int)
# The same rows for auditors that read texts.
SAID = {0: "a man paints a small house", 1: "a woman cooks some soup"}
TEXTS = FRAME.assign(**{name: FRAME[name].map(SAID) for name in ("hired", "predicted")})
COLUMNS = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}


def quick(kind):
    known = inspect.signature(kind).parameters
    options = {"n_resamples": 19, "random_state": 0, "n_draws": 2, "cv": 2}
    options |= {"function": gap, "percent": True}  # what a metric of any function must be given
    return kind(**{name: value for name, value in options.items() if name in known})


def rows_of(kind):
    return TEXTS if getattr(kind, "reads", "") == "texts" else FRAME


def fitted(kind, frame=None):
    frame = rows_of(kind) if frame is None else frame
    return quick(kind).fit(frame["hired"], sensitive_features=frame["sex"])


def audited(auditor, frame=None, method="audit", **options):
    frame = rows_of(auditor) if frame is None else frame
    labels = frame["hired"], frame["predicted"]
    return getattr(auditor, method)(*labels, sensitive_features=frame["sex"], **options)


NAMES = {kind.__name__ for kind in ESTIMATORS}
assert {"MALSAuditor", "DPAAuditor"} <= {kind.__name__ for kind in AUDITORS} <= NAMES
assert {"AuditedClassifier", "RatioBalancer", "MLPAttacker"} <= NAMES


def names_in(text, end=" : "):
    """Return the parameters of a docstring, of which some stand side by side."""
    entries = re.findall(rf"^\**(\w+(?:, \w+)*)(?:{end})", text, re.MULTILINE)
    return {name for entry in entries for name in entry.split(", ")}


@every_estimator
def test_parameters_are_stored_as_they_came_and_documented_with_their_defaults(kind):
    text, parameters = inspect.getdoc(kind), inspect.signature(kind).parameters
    assert set(parameters) <= names_in(text)
    marks = {name: object() for name in parameters}
    made = kind(**marks)
    assert all(getattr(made, name) is mark for name, mark in marks.items())
    found = re.findall(r"^(\w+) : .*\bdefault=(\([^)]*\)|[^,\n]+)", text, re.MULTILINE)
    assert found or kind not in AUDITORS
    for name, shown in found:
        if name in parameters:
            assert ast.literal_eval(shown) == parameters[name].default


@pytest.mark.parametrize("name", [one for one in skbiasamp.__all__ if one[0].islower()])
def test_every_parameter_of_a_function_is_documented(name):
    function = getattr(skbiasamp, name)
    if inspect.isfunction(function):
        documented = names_in(inspect.getdoc(function), " : |$")
        assert not set(inspect.signature(function).parameters) - documented


@every_auditor
def test_a_parameter_says_what_each_of_its_values_does(kind):
    text = inspect.getdoc(kind)
    entries = re.findall(r"^\w+ : .*?\{(.*)\}.*\n((?:    .*\n)+)", text, re.MULTILINE)
    assert entries
    for values, said in entries:
        said = " ".join(said.split())
        for value in values.split(", "):
            assert f"{value}: " in said or f"{value} (" in said or f"{value} and" in said


@every_auditor
def test_shared_texts_are_filled_in(kind):
    for method in ("fit", "partial_fit", "score", "audit"):
        text = getattr(kind, method).__doc__
        assert "Parameters\n" in text
        assert "%(" not in text


@every_auditor
def test_an_auditor_says_what_it_asks_and_how_it_is_read(kind):
    auditor = quick(kind)
    assert kind.metric
    assert kind.kind in ("signed", "size", "attack")
    assert re.fullmatch(r"[A-Z].*\?", auditor.question)
    assert re.fullmatch(r"[A-Z].*\.", auditor.definition)
    result = audited(fitted(kind))
    said = ("kind", "question", "definition", "rank", "uncounted", "amplified")
    for name in (*said, "pair_of", "percent", "unit"):
        assert getattr(result, name) == getattr(auditor, name)
    trained = {"base": "Training labels"} if getattr(auditor, "base", "") == "train" else {}
    assert result.columns == {**auditor.columns, **trained}
    assert result.sentence.endswith(".")


@every_auditor
def test_an_auditor_keeps_its_promises(kind):
    check_auditor(quick(kind))
    # A frame of any library is read alike.
    rows = rows_of(kind)
    value = audited(fitted(kind), method="score")
    for frame in (pl.from_pandas(rows), pa.Table.from_pandas(rows)):
        auditor = quick(kind).fit(frame, target="hired", sensitive="sex")
        assert auditor.score(frame, **COLUMNS) == value


# pytest looks for examples where a function was written, and these are made by `function_of`.
FUNCTIONS = [one for one in map(metrics.__dict__.get, metrics.__all__) if inspect.isfunction(one)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_the_example_of_a_function_that_an_auditor_made_runs(function):
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(function, function.__name__, module=False, globs={})
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_a_function_takes_only_labels_that_its_metric_uses():
    labels = {"y_pred", "sensitive_pred", "y_train", "sensitive_train"}
    used = {one.__name__: labels & {*inspect.signature(one).parameters} for one in FUNCTIONS}
    for name in ("bias_disparity", "differential_fairness_amplification", "matched_difference"):
        assert used[name] == {"y_pred"}
    assert used["dbac_amplification"] == used["lic_amplification"] == {"y_pred"}
    assert used["percentage_amplification"] == {"y_pred", "sensitive_pred"}
    assert (
        used["numeric_amplification"]
        == used["leakage_amplification"]
        == labels - {"sensitive_pred"}
    )
    assert used["directional_amplification"] == used["mals_amplification"] == labels
