"""`sensitive=`: the same values mean the same in every class that has it."""

import inspect
from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from discovery import public_classes
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skbiasamp import DirectionalAuditor, amplification_scorer, cross_audit, mitigation

# The warning that the classifier sees the column is tested in test_compose.
pytestmark = pytest.mark.filterwarnings("ignore:The classifier sees the sensitive feature")

RNG = np.random.default_rng(0)
N = 240
NUMBERS = RNG.normal(size=(N, 2))
RACE, SEX = RNG.integers(0, 2, (2, N))
Y = (NUMBERS[:, 0] + RACE / 2 + RNG.normal(size=N) > 0.3).astype(int)
X = pd.DataFrame(NUMBERS, columns=["a", "b"]).assign(race=RACE, sex=SEX)


# Every public class of the package whose constructor has `sensitive`.
CLASSES = public_classes(BaseEstimator, needs=["sensitive"])
assert {"AmplificationScorer", "LeakageProbe"} < {kind.__name__ for kind in CLASSES}
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
QUICK = {"max_epochs": 1, "batch_size": 120, "random_state": 0, "n_resamples": 5}
QUICK |= {"limit": 0.9, "pretrain_epochs": 1, "adversary_epochs": 1, "hidden_layer_sizes": (2,)}
QUICK |= {"cv": 2, "calibration": None}


def make(kind, **options):
    if kind.__name__ == "AdversarialClassifier":
        pytest.importorskip("torch")
    known = inspect.signature(kind).parameters
    options |= {name: value for name, value in QUICK.items() if name in known}
    if "estimator" in known:
        options["estimator"] = LogisticRegression()
    if callable(kind(**options)):
        options["auditor"] = DirectionalAuditor(reference="test")
    return kind(**options)


def outcome(model, X, **passed):
    """Return what a class makes of the groups, whatever else X holds."""
    if callable(model):  # a scorer; these predictions do not depend on X
        fitted = DummyClassifier(strategy="stratified", random_state=0).fit(X, Y)
        return model(fitted, X, Y, **passed)
    model.fit(X, Y, **passed)
    if hasattr(model, "auditors_"):
        return model.auditor_.base_rates_.to_numpy()
    return next(
        getattr(model, name)
        for name in ("sample_indices_", "leakage_", "groups_", "share_")
        if hasattr(model, name)
    )


@lru_cache
def passed(kind, columns, *, hidden):
    """Return the outcome of groups that are passed beside X, which may lack their columns."""
    attribute = X[list(columns)] if len(columns) > 1 else X[columns[0]]
    seen = X.drop(columns=list(columns)) if hidden else X
    return outcome(make(kind), seen, sensitive_features=attribute)


def third(X):
    return np.asarray(X)[:, 2].astype(int)


FORMS = [
    ("pandas", "race", ["race"]),
    ("pandas", -2, ["race"]),
    ("polars", ("race",), ["race"]),
    ("array", 2, ["race"]),
    ("polars", ["race", "sex"], ["race", "sex"]),
    ("array", (2, 3), ["race", "sex"]),
    ("pandas", third, ["race"]),
    ("array", third, ["race"]),
]


@every_class
def test_columns_and_values_that_are_passed_are_the_same(kind):
    polars = pl.DataFrame({name: X[name].to_numpy() for name in X})
    held = {"pandas": X, "polars": polars, "array": np.asarray(X)}
    for container, sensitive, columns in FORMS:
        # A probe that is given a function does not know which column it should not see.
        expected = passed(kind, tuple(columns), hidden=not callable(sensitive))
        found = outcome(make(kind, sensitive=sensitive), held[container])
        assert_array_equal(found, expected, err_msg=f"{container}, {sensitive}")


WRONG = [
    ("age", X, "X has no column 'age'. It has 'a', 'b', 'race' and 'sex'"),
    ("race", X.to_numpy(), "X is an array and its columns have no names"),
    ((0, -5), X.to_numpy(), "X has 4 columns: positions go from 0 to 3"),
    ([2.5], X, "must hold names or positions of columns; got 2.5"),
    ([], X, "sensitive=[] names no column"),
    (2.5, X, "The 'sensitive' parameter of"),
]


@every_class
def test_errors_are_the_same(kind):
    for sensitive, data, message in WRONG:
        with pytest.raises((ValueError, TypeError)) as caught:
            outcome(make(kind, sensitive=sensitive), data)
        assert message in " ".join(str(caught.value).split())
    # A feature that is passed twice, or never.
    message = r"passed twice: as sensitive='race' and as sensitive_features. Pass one of them\."
    with pytest.raises(ValueError, match=message):
        outcome(make(kind, sensitive="race"), X, sensitive_features=RACE)
    model = make(kind)
    message = r"Pass sensitive_features; if it is a column of X, name it: .*sensitive='sex'\)"
    with (
        pytest.warns(UserWarning, match=message)
        if kind.__name__ in ("AuditedClassifier", "LeakageProbe")
        else pytest.raises(ValueError, match=f"needs the sensitive feature in .*{message}")
    ):
        model.fit(X, Y) if hasattr(model, "fit") else outcome(model, X)


@pytest.mark.parametrize("kind", public_classes(BaseEstimator, ["sensitive", "drop_sensitive"]))
def test_only_columns_that_are_named_can_be_hidden(kind):
    for sensitive, passed in ((None, {"sensitive_features": RACE}), (lambda X: X["race"], {})):
        with pytest.raises(ValueError, match="drop_sensitive=True hides the columns that sensit"):
            make(kind, sensitive=sensitive, drop_sensitive=True).fit(X, Y, **passed)
    # Numbers of the hidden columns do not matter, and frames to predict may lack them.
    model = make(kind, sensitive=("race",), drop_sensitive=True).fit(X, Y)
    if "sensitive_features" not in inspect.signature(model.predict).parameters:
        assert_array_equal(model.predict(X), model.predict(X.drop(columns="race")))
        assert_array_equal(model.predict(X), model.predict(X.assign(race="text")))


@pytest.mark.parametrize("around", [lambda model: model, make_pipeline], ids=["bare", "pipeline"])
def test_routing_passes_the_feature_to_nobody_who_has_it(around):
    """It was an error: passed twice, by cross_audit and by the column that the user named."""
    model = around(mitigation.CorpusConstraintClassifier(LogisticRegression(), sensitive="race"))
    how = {"scoring": {"amplification": amplification_scorer()}, "cv": 2, "n_halvings": 2}
    how["random_state"] = 0
    found = []
    for enable in (False, True):
        with sklearn.config_context(enable_metadata_routing=enable):
            result = cross_audit(model, X, Y, sensitive_features=RACE, **how)
            found.append(result.table)
    pd.testing.assert_frame_equal(*found)
    assert_array_equal(found[0]["amplification"], -found[0]["value"].abs())
