"""AuditedClassifier: the classifier it wraps, and an auditor of the same training rows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from skbiasamp import AuditedClassifier, DirectionalAuditor, MALSAuditor
from skbiasamp.metrics import directional_amplification
from skbiasamp.mitigation import CorpusConstraintClassifier
from skbiasamp.results import AuditReport

RNG = np.random.default_rng(0)
N = 400
RACE = RNG.choice(["x", "y"], N)
SEX = RNG.choice(["f", "m"], N)
NUMBERS = RNG.normal(size=(N, 3)) + 0.5 * (RACE == "x")[:, None] * [1, 0, 0]
Y = (NUMBERS @ [1, 1, 0] + 0.5 * (RACE == "x") + RNG.normal(size=N) > 0.5).astype(int)
X = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(race=RACE, sex=SEX)
CODED = X.assign(race=(RACE == "x").astype(int), sex=(SEX == "m").astype(int))
QUIET = DirectionalAuditor(interval=None)
BY = {"sensitive_features": RACE}


def tree(**options):
    return DecisionTreeClassifier(max_depth=3, random_state=0, **options)


def audited(estimator=None, **options):
    """Wrap a classifier that may see the sensitive feature, if it is a column of X."""
    options = {"auditor": QUIET, "drop_sensitive": False, **options}
    return AuditedClassifier(tree() if estimator is None else estimator, **options)


# ------------------------------------------------------------------ a plain wrapper


UNAUDITED = "AuditedClassifier was fitted without the sensitive feature"


@pytest.mark.filterwarnings(f"ignore:{UNAUDITED}")
def test_without_an_attribute_it_is_the_classifier_inside():
    plain = LogisticRegression().fit(NUMBERS, Y)
    wrapped = AuditedClassifier(LogisticRegression()).fit(NUMBERS, Y)
    for method in ("predict", "predict_proba", "decision_function"):
        assert_array_equal(getattr(wrapped, method)(NUMBERS), getattr(plain, method)(NUMBERS))
    for weight in (None, np.arange(N) % 3):
        assert wrapped.score(NUMBERS, Y, weight) == plain.score(NUMBERS, Y, weight)
    assert wrapped.n_features_in_ == 3
    with pytest.raises(ValueError, match="fitted without the sensitive feature"):
        wrapped.audit(NUMBERS, Y, **BY)
    ridge = AuditedClassifier(RidgeClassifier())
    for model in (ridge, clone(ridge).fit(NUMBERS, Y)):
        assert not hasattr(model, "predict_proba")
    assert not hasattr(AuditedClassifier(tree()), "decision_function")
    model = AuditedClassifier(RandomForestClassifier())
    assert is_classifier(model)
    assert get_tags(model).classifier_tags == get_tags(RandomForestClassifier()).classifier_tags
    assert get_tags(AuditedClassifier(LogisticRegression())).input_tags.sparse


def test_a_classifier_that_sees_the_group_unasked_is_said_to_see_it():
    message = r"The classifier sees .* sensitive='race' is a feature of X\. drop_sensitive=True"
    with pytest.warns(UserWarning, match=message):
        AuditedClassifier(tree(), auditor=QUIET, sensitive="race").fit(CODED, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for drop in (True, False):
            audited(sensitive="race", drop_sensitive=drop).fit(CODED, Y)
        AuditedClassifier(tree(), auditor=QUIET).fit(CODED, Y, **BY)


@pytest.mark.parametrize("routed", [False, True], ids=["plain", "routed"])
@pytest.mark.parametrize("inside", ["alone", "in a pipeline"])
def test_a_classifier_inside_that_needs_the_attribute_gets_it(inside, routed):
    """Without routing `fit` failed, with routing `audit`; both if the attribute is a column."""
    held = CorpusConstraintClassifier(LogisticRegression(), margin=0.01)
    expected = clone(held).fit(NUMBERS, Y, **BY).predict(NUMBERS, **BY)
    value, accuracy = directional_amplification(Y, expected, **BY), np.mean(expected == Y)
    coded = np.column_stack([NUMBERS, RACE == "x"])
    with sklearn.config_context(enable_metadata_routing=routed):
        model = held if inside == "alone" else make_pipeline(FunctionTransformer(), held)
        apart = AuditedClassifier(model, auditor=QUIET).fit(NUMBERS, Y, **BY)
        by_column = audited(model, sensitive=3, drop_sensitive=True).fit(coded, Y)
        assert apart.audit(NUMBERS, Y, **BY).value == pytest.approx(value)
        assert by_column.audit(coded, Y).value == pytest.approx(value)
        assert_array_equal(by_column.predict(coded), expected)
        assert by_column.score(coded, Y) == accuracy
        assert apart.score(NUMBERS, Y, **BY) == accuracy


class MajorityOfGroup(BaseEstimator):
    """Predict a group's most frequent label, as Fairlearn's classifiers without any request."""

    def fit(self, X, y, *, sensitive_features):
        labels = pd.Series(np.asarray(y)).groupby(np.ravel(sensitive_features))
        self.majority_ = labels.agg(lambda one: one.mode()[0])
        return self

    def predict(self, X, *, sensitive_features):
        return self.majority_[np.ravel(sensitive_features)].to_numpy()


def test_a_classifier_that_takes_the_attribute_by_name_gets_it_without_a_request():
    labels = np.where(RACE == "x", Y | (NUMBERS[:, 1] > 0), Y & (NUMBERS[:, 1] > 0))
    expected = (RACE == "x").astype(int)  # the most frequent label of each
    apart = AuditedClassifier(MajorityOfGroup(), auditor=QUIET).fit(NUMBERS, labels, **BY)
    inside = audited(MajorityOfGroup(), sensitive="race").fit(X, labels)
    value = directional_amplification(labels, expected, **BY)
    assert apart.audit(NUMBERS, labels, **BY).value == pytest.approx(value)
    assert inside.audit(X, labels).value == pytest.approx(value)
    assert_array_equal(inside.predict(X), expected)
    # It has no score of its own: accuracy is that of its predictions.
    accuracy, weight = expected == labels, np.arange(N)
    assert inside.score(X, labels) == pytest.approx(accuracy.mean())
    assert apart.score(NUMBERS, labels, **BY) == pytest.approx(accuracy.mean())
    weighted = inside.score(X, labels, sample_weight=weight)
    assert weighted == pytest.approx(np.average(accuracy, weights=weight))
    with pytest.raises(ValueError, match=r"MajorityOfGroup.predict needs .*sensitive='sex'"):
        apart.predict(NUMBERS)


def test_a_step_that_lacks_the_attribute_is_told_how_to_request_it():
    pipeline = make_pipeline(FunctionTransformer(), MajorityOfGroup())
    with pytest.raises(TypeError) as caught:
        audited(pipeline, sensitive="race").fit(X, Y)
    said = " ".join(caught.value.__notes__)
    assert ".set_predict_request(sensitive_features=True)" in said


# ------------------------------------------------------------------ where the attribute is


@pytest.mark.parametrize("container", [np.ndarray.tolist, sparse.csr_array, sparse.coo_array])
def test_positions_in_arrays(container):
    table, group = np.column_stack([NUMBERS, RACE == "x"]), {"sensitive_features": RACE == "x"}
    model = audited(LogisticRegression(), sensitive=3, drop_sensitive=True)
    value = model.fit(container(table), Y).audit(container(table), Y).value
    other = audited(LogisticRegression()).fit(container(NUMBERS), Y, **group)
    assert model.estimator_.n_features_in_ == 3
    assert_allclose(value, other.audit(container(NUMBERS), Y, **group).value)


# ------------------------------------------------------------------ the audit


def test_a_list_of_auditors_gives_a_report():
    auditors = [QUIET, DirectionalAuditor(base="train", interval=None), MALSAuditor(interval=None)]
    model = audited(auditor=auditors, sensitive="race").fit(CODED, Y)
    report = pickle.loads(pickle.dumps(model)).audit(CODED, Y)
    assert isinstance(report, AuditReport)
    assert list(report) == ["directional A->T", "directional A->T #2", "MALS"]
    alone = audited(auditor=auditors[1], sensitive="race").fit(CODED, Y)
    assert report["directional A->T #2"].value == alone.audit(CODED, Y).value


def test_the_attribute_is_predicted_from_everything_but_itself():
    auditor = DirectionalAuditor("T->A", interval=None)
    model = audited(auditor=auditor, sensitive="race", sensitive_estimator=LogisticRegression())
    others = CODED.drop(columns="race")
    predicted = LogisticRegression().fit(others, CODED.race).predict(others)
    known = auditor.fit(Y, sensitive_features=CODED.race)
    expected = known.score(Y, sensitive_features=CODED.race, sensitive_pred=predicted)
    assert model.fit(CODED, Y).audit(CODED, Y).value == expected
    assert (predicted != CODED.race).any()
    # Combinations are predicted together.
    both = X[["race", "sex"]]
    model = audited(auditor=auditor, sensitive_estimator=tree())
    model.fit(NUMBERS, Y, sensitive_features=both)
    joined = both.race + both.sex
    predicted = tree().fit(NUMBERS, joined).predict(NUMBERS)
    given = {"sensitive_features": joined, "sensitive_pred": predicted}
    expected = directional_amplification(Y, None, **given, direction="T->A")
    assert_allclose(model.audit(NUMBERS, Y, sensitive_features=both).published, expected)


# ------------------------------------------------------------------ in scikit-learn


def test_under_routing_weights_are_asked_for_inside(routing):
    weight = RNG.integers(1, 4, N)
    inner = tree().set_fit_request(sample_weight=True)
    model = AuditedClassifier(inner, auditor=QUIET).fit(NUMBERS, Y, **BY, sample_weight=weight)
    plain = tree().fit(NUMBERS, Y, sample_weight=weight)
    assert_array_equal(model.predict(NUMBERS), plain.predict(NUMBERS))
    assert model.auditor_.contingency_.total == weight.sum()
    with pytest.raises(UnsetMetadataPassedError):
        AuditedClassifier(tree()).fit(NUMBERS, Y, sample_weight=weight)


def test_text_that_the_classifier_cannot_read_is_pointed_at():
    for sensitive in ("sex", ["race", "sex"], 4):
        with pytest.raises(ValueError, match="could not convert string to float") as caught:
            audited(sensitive=sensitive).fit(X, Y)
        (note,) = caught.value.__notes__
        assert "AuditedClassifier(..., drop_sensitive=True) hides it" in note


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"sensitive": "race", "drop_sensitive": True}, [X[["race"]]], "besides 'race'"),
        ({"sensitive": "rac"}, [X], "no column 'rac': did you mean 'race'"),
        ({}, [CODED, {"eval_set": 3}], "which it can only pass on under metadata rou"),
    ],
)
def test_errors_say_what_to_write_instead(options, given, message):
    features, passed = (*given, {})[:2]
    with pytest.raises(ValueError, match=message):
        audited(**options).fit(features, Y, **passed)


def test_a_stack_with_its_default_final_estimator_can_be_audited():
    """Its methods are there after `fit` only."""
    seen = CODED.drop(columns="race")
    stack = StackingClassifier([("tree", tree()), ("line", LogisticRegression())])
    model = audited(stack, sensitive="race", drop_sensitive=True).fit(CODED, Y)
    expected = directional_amplification(Y, stack.fit(seen, Y).predict(seen), **BY)
    assert model.audit(CODED, Y).published == expected
    # It has probabilities after `fit`: what asks for them before must not say that it has none.
    calibrated = CalibratedClassifierCV(clone(model), cv=2).fit(CODED, Y)
    assert_allclose(calibrated.predict_proba(CODED).sum(axis=1), 1)
