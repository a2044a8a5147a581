"""AuditedClassifier: the classifier it wraps, and an auditor of the same training rows."""

import pickle
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    amplification_scorer,
)
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


def tree(**options):
    return DecisionTreeClassifier(max_depth=3, random_state=0, **options)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(train, test, predicted):
    return directional_amplification(
        Y[test],
        predicted,
        sensitive_features=RACE[test],
        y_train=Y[train],
        sensitive_train=RACE[train],
    )


# ------------------------------------------------------------------ a plain wrapper


UNAUDITED = "AuditedClassifier was fitted without the sensitive feature"


def test_a_classifier_that_cannot_audit_says_so_when_it_is_fitted():
    with pytest.warns(UserWarning, match=UNAUDITED) as caught:
        AuditedClassifier(tree()).fit(NUMBERS, Y)
    (warning,) = caught
    for way in ("Pass sensitive_features", "AuditedClassifier(..., sensitive='sex')", "routing"):
        assert way in str(warning.message)


@pytest.mark.filterwarnings(f"ignore:{UNAUDITED}")
def test_without_an_attribute_it_is_the_classifier_inside():
    plain = LogisticRegression().fit(NUMBERS, Y)
    wrapped = AuditedClassifier(LogisticRegression()).fit(NUMBERS, Y)
    for method in ("predict", "predict_proba", "decision_function"):
        assert_array_equal(getattr(wrapped, method)(NUMBERS), getattr(plain, method)(NUMBERS))
    assert wrapped.score(NUMBERS, Y) == plain.score(NUMBERS, Y)
    weight = np.arange(N) % 3
    assert wrapped.score(NUMBERS, Y, weight) == plain.score(NUMBERS, Y, weight)
    assert wrapped.n_features_in_ == 3
    assert_array_equal(wrapped.classes_, [0, 1])
    assert not hasattr(wrapped, "feature_names_in_")
    assert not hasattr(wrapped, "auditor_")
    with pytest.raises(ValueError, match="fitted without the sensitive feature"):
        wrapped.audit(NUMBERS, Y, sensitive_features=RACE)


@pytest.mark.filterwarnings(f"ignore:{UNAUDITED}")
def test_methods_are_there_where_the_inner_estimator_has_them():
    fitted = AuditedClassifier(RidgeClassifier()).fit(NUMBERS, Y)
    assert hasattr(fitted, "decision_function")
    for model in (fitted, AuditedClassifier(RidgeClassifier())):
        assert not hasattr(model, "predict_proba")
    assert not hasattr(AuditedClassifier(tree()), "decision_function")


def test_tags_are_those_of_the_inner_estimator():
    model = AuditedClassifier(RandomForestClassifier())
    assert is_classifier(model)
    assert get_tags(model).classifier_tags == get_tags(RandomForestClassifier()).classifier_tags
    assert get_tags(AuditedClassifier(LogisticRegression())).input_tags.sparse
    assert not get_tags(
        AuditedClassifier(make_pipeline(KNeighborsClassifier()))
    ).target_tags.one_d_labels


def test_the_diagram_shows_what_is_inside():
    model = AuditedClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    page = model._repr_html_()
    assert "StandardScaler" in page
    assert "LogisticRegression" in page


def test_a_classifier_that_sees_the_group_unasked_is_said_to_see_it():
    with pytest.warns(UserWarning, match="The classifier sees the sensitive feature: sens"):
        AuditedClassifier(tree(), auditor=QUIET, sensitive="race").fit(CODED, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for drop in (True, False):
            model = AuditedClassifier(tree(), auditor=QUIET, sensitive="race", drop_sensitive=drop)
            model.fit(CODED, Y)
        AuditedClassifier(tree(), auditor=QUIET).fit(CODED, Y, sensitive_features=RACE)


def test_weights_reach_classifier_and_auditor():
    weight = RNG.integers(0, 4, N)
    weighted = AuditedClassifier(tree(), sensitive="race", drop_sensitive=True)
    weighted.fit(X[["a", "race"]], Y, sample_weight=weight)
    repeated = clone(weighted).fit(X[["a", "race"]].loc[X.index.repeat(weight)], Y.repeat(weight))
    assert_array_equal(weighted.predict(X[["a"]]), repeated.predict(X[["a"]]))
    assert weighted.auditor_.contingency_ == repeated.auditor_.contingency_


@pytest.mark.parametrize("method", [pickle.dumps, clone], ids=["pickle", "clone"])
def test_it_can_be_copied(method):
    model = AuditedClassifier(
        tree(), auditor=[QUIET, MALSAuditor()], sensitive="race", drop_sensitive=False
    )
    if method is clone:
        assert clone(model).auditor[0] is not model.auditor[0]
        assert clone(model).get_params()["estimator__max_depth"] == 3
    else:
        model.fit(CODED, Y)
        again = pickle.loads(pickle.dumps(model))
        assert again.audit(CODED, Y)["MALS"].value == model.audit(CODED, Y)["MALS"].value


@pytest.mark.parametrize("routed", [False, True], ids=["plain", "routed"])
@pytest.mark.parametrize("inside", ["alone", "in a pipeline"])
def test_a_classifier_inside_that_needs_the_attribute_gets_it(inside, routed):
    """Without routing `fit` failed, with routing `audit`; both if the attribute is a column."""
    held = CorpusConstraintClassifier(LogisticRegression(), margin=0.01)
    expected = clone(held).fit(NUMBERS, Y, sensitive_features=RACE)
    expected = expected.predict(NUMBERS, sensitive_features=RACE)
    with sklearn.config_context(enable_metadata_routing=routed):
        model = held if inside == "alone" else make_pipeline(FunctionTransformer(), held)
        apart = AuditedClassifier(model, auditor=QUIET).fit(NUMBERS, Y, sensitive_features=RACE)
        by_column = AuditedClassifier(model, auditor=QUIET, sensitive=3, drop_sensitive=True)
        coded = np.column_stack([NUMBERS, RACE == "x"])
        by_column.fit(coded, Y)
        value = by_hand(np.arange(N), np.arange(N), expected)
        assert apart.audit(NUMBERS, Y, sensitive_features=RACE).value == pytest.approx(value)
        assert by_column.audit(coded, Y).value == pytest.approx(value)
        assert_array_equal(by_column.predict(coded), expected)
        accuracy = np.mean(expected == Y)
        assert by_column.score(coded, Y) == accuracy
        assert apart.score(NUMBERS, Y, sensitive_features=RACE) == accuracy


class MajorityOfGroup(BaseEstimator):
    """Predict a group's most frequent label, as Fairlearn's classifiers without any request."""

    def fit(self, X, y, *, sensitive_features):
        labels = pd.Series(np.asarray(y)).groupby(np.ravel(sensitive_features))
        self.majority_ = labels.agg(lambda one: one.mode()[0])
        return self

    def predict(self, X, *, sensitive_features):
        return self.majority_[np.ravel(sensitive_features)].to_numpy()


class Constrained(ClassifierMixin, BaseEstimator):
    """A classifier that passes anything on to its constraints, as Fairlearn's reductions do."""

    def __init__(self, constraints):
        self.constraints = constraints

    def fit(self, X, y, **data):
        self.constraints.load_data(X, y, **data)
        self.label_ = max(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


class Constraint:
    def load_data(self, X, y, *, sensitive_features):
        self.seen = np.asarray(sensitive_features)


def test_a_classifier_that_takes_the_attribute_by_name_gets_it_without_a_request():
    labels = np.where(RACE == "x", Y | (NUMBERS[:, 1] > 0), Y & (NUMBERS[:, 1] > 0))
    expected = (RACE == "x").astype(int)  # the most frequent label of each
    apart = AuditedClassifier(MajorityOfGroup(), auditor=QUIET)
    apart.fit(NUMBERS, labels, sensitive_features=RACE)
    inside = AuditedClassifier(
        MajorityOfGroup(), auditor=QUIET, sensitive="race", drop_sensitive=False
    ).fit(X, labels)
    value = directional_amplification(labels, expected, sensitive_features=RACE)
    assert apart.audit(NUMBERS, labels, sensitive_features=RACE).value == pytest.approx(value)
    assert inside.audit(X, labels).value == pytest.approx(value)
    assert_array_equal(inside.predict(X), expected)
    # It has no score of its own: accuracy is that of its predictions.
    accuracy = np.mean(expected == labels)
    assert inside.score(X, labels) == pytest.approx(accuracy)
    assert apart.score(NUMBERS, labels, sensitive_features=RACE) == pytest.approx(accuracy)
    weight = np.arange(N)
    weighted = np.average(expected == labels, weights=weight)
    assert inside.score(X, labels, sample_weight=weight) == pytest.approx(weighted)
    found = cross_validate(inside, X, labels, cv=2, scoring=amplification_scorer())
    assert np.isfinite(found["test_score"]).all()
    folds = skbiasamp.cross_audit(
        MajorityOfGroup(), X, labels, sensitive_features=RACE, cv=2, auditor=QUIET
    )
    assert np.isfinite(folds.value)
    with pytest.raises(ValueError, match=r"MajorityOfGroup.predict needs .*sensitive='sex'"):
        apart.predict(NUMBERS)


def test_constraints_inside_get_the_attribute():
    model = AuditedClassifier(
        Constrained(Constraint()), auditor=QUIET, sensitive="race", drop_sensitive=False
    )
    model.fit(X, Y)
    assert_array_equal(np.ravel(model.estimator_.constraints.seen), RACE)


def test_a_step_that_lacks_the_attribute_is_told_how_to_request_it():
    pipeline = make_pipeline(FunctionTransformer(), MajorityOfGroup())
    with pytest.raises(TypeError) as caught:
        AuditedClassifier(pipeline, auditor=QUIET, sensitive="race", drop_sensitive=False).fit(X, Y)
    (note,) = [one for one in caught.value.__notes__ if "pipeline" in one][:1]
    assert "enable_metadata_routing=True" in note
    assert ".set_predict_request(sensitive_features=True)" in note
    with sklearn.config_context(enable_metadata_routing=True):
        asked = MajorityOfGroup().set_fit_request(sensitive_features=True)
        asked = asked.set_predict_request(sensitive_features=True)
    pipeline = make_pipeline(FunctionTransformer(), asked)
    model = AuditedClassifier(pipeline, auditor=QUIET, sensitive="race", drop_sensitive=False).fit(
        X, Y
    )
    assert np.isfinite(model.audit(X, Y).value)


# ------------------------------------------------------------------ where the attribute is


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("sensitive", "columns"),
    [
        ("race", ["race"]),
        (["race"], ["race"]),
        (3, ["race"]),
        (-1, ["race"]),
        (["race", "sex"], ["race", "sex"]),
        ([3, "sex"], ["race", "sex"]),
    ],
    ids=str,
)
def test_named_columns_and_passed_ones_are_the_same(library, sensitive, columns):
    data = library({name: X[name].to_numpy() for name in ["a", "b", "c", *columns]})
    features = data[["a", "b", "c"]]
    attribute = RACE if columns == ["race"] else X[columns]
    named = AuditedClassifier(tree(), auditor=QUIET, sensitive=sensitive, drop_sensitive=True)
    passed = AuditedClassifier(tree(), auditor=QUIET)
    named.fit(data, Y)
    passed.fit(features, Y, sensitive_features=attribute)
    assert_array_equal(named.predict(data), passed.predict(features))
    assert_frame_equal(
        named.audit(data, Y).table, passed.audit(features, Y, sensitive_features=attribute).table
    )
    assert named.n_features_in_ == data.shape[1]
    if hasattr(passed, "feature_names_in_"):  # scikit-learn 1.7 does not see those of polars 2
        assert_array_equal(named.feature_names_in_, data.columns)
        assert_array_equal(named.estimator_.feature_names_in_, ["a", "b", "c"])
    # In use, the attribute need not be there.
    assert_array_equal(named.predict(features), named.predict(data))


@pytest.mark.parametrize(
    "container", [np.asarray, np.ndarray.tolist, sparse.csr_array, sparse.coo_array], ids=str
)
def test_positions_in_arrays(container):
    table = np.column_stack([NUMBERS, RACE == "x"])
    model = AuditedClassifier(LogisticRegression(), auditor=QUIET, sensitive=3, drop_sensitive=True)
    model.fit(container(table), Y)
    other = AuditedClassifier(LogisticRegression(), auditor=QUIET)
    other.fit(container(NUMBERS), Y, sensitive_features=RACE == "x")
    assert model.estimator_.n_features_in_ == 3
    assert_allclose(
        model.audit(container(table), Y).value,
        other.audit(container(NUMBERS), Y, sensitive_features=RACE == "x").value,
    )


def test_a_function_makes_the_attribute():
    model = AuditedClassifier(tree(), auditor=QUIET, sensitive=lambda X: X["a"] > 0)
    model.fit(CODED, Y)
    assert model.auditor_.groups_ == [False, True]
    expected = directional_amplification(
        Y, model.predict(CODED), sensitive_features=NUMBERS[:, 0] > 0
    )
    assert model.audit(CODED, Y).published == expected


@pytest.mark.filterwarnings(f"ignore:{UNAUDITED}")
def test_refitting_forgets():
    model = AuditedClassifier(tree(), auditor=QUIET, sensitive="race", drop_sensitive=True)
    model.fit(X.drop(columns="sex"), Y)
    model.set_params(sensitive=None, drop_sensitive=False).fit(NUMBERS, Y)
    assert model.n_features_in_ == 3
    assert model.auditors_ == {}
    assert not hasattr(model, "feature_names_in_")


# ------------------------------------------------------------------ the audit


def test_an_audit_is_the_auditors_own():
    train, test = np.arange(N) < 250, np.arange(N) >= 250
    model = AuditedClassifier(
        tree(), auditor=DirectionalAuditor(), sensitive="race", drop_sensitive=False
    )
    model.fit(CODED[train], Y[train])
    auditor = DirectionalAuditor()
    auditor.fit(Y[train], sensitive_features=CODED.race[train])
    held_out = CODED[test]
    expected = auditor.audit(Y[test], model.predict(held_out), sensitive_features=held_out.race)
    assert_frame_equal(model.audit(held_out, Y[test]).table, expected.table)


def test_a_list_of_auditors_gives_a_report():
    auditors = [QUIET, DirectionalAuditor(base="train", interval=None), MALSAuditor()]
    model = AuditedClassifier(tree(), auditor=auditors, sensitive="race", drop_sensitive=False).fit(
        CODED, Y
    )
    report = model.audit(CODED, Y)
    assert isinstance(report, AuditReport)
    assert list(report) == ["directional A->T", "directional A->T #2", "MALS"]
    alone = AuditedClassifier(
        tree(), auditor=auditors[1], sensitive="race", drop_sensitive=False
    ).fit(CODED, Y)
    assert report["directional A->T #2"].value == alone.audit(CODED, Y).value
    assert "MALS" in report.to_markdown()


@pytest.mark.parametrize(
    "auditor", [LeakageAuditor(random_state=0), DPAAuditor(random_state=0)], ids=["leakage", "dpa"]
)
def test_auditors_without_signs(auditor):
    model = AuditedClassifier(tree(), auditor=auditor, sensitive="race", drop_sensitive=False).fit(
        CODED, Y
    )
    expected = clone(auditor).fit(Y, sensitive_features=CODED.race)
    expected = expected.audit(Y, model.predict(CODED), sensitive_features=CODED.race)
    assert model.audit(CODED, Y).value == expected.value


def test_multilabel_multioutput_and_multiclass():
    labels = np.column_stack([Y, NUMBERS[:, 2] > 0, RNG.random(N) < 0.3]).astype(int)
    inner = MultiOutputClassifier(LogisticRegression())
    several = AuditedClassifier(inner, auditor=MultiAttributeAuditor(interval=None))
    several.fit(NUMBERS, labels, sensitive_features=RACE)
    assert several.auditor_.tasks_ == [0, 1, 2]
    assert len(several.predict_proba(NUMBERS)) == 3
    expected = MultiAttributeAuditor(interval=None).fit(labels, sensitive_features=RACE)
    expected = expected.score(
        labels, inner.fit(NUMBERS, labels).predict(NUMBERS), sensitive_features=RACE
    )
    assert several.audit(NUMBERS, labels, sensitive_features=RACE).value == expected
    classes = np.array(["low", "mid", "high"])[Y + labels[:, 1]]
    one = AuditedClassifier(tree(), auditor=QUIET).fit(NUMBERS, classes, sensitive_features=RACE)
    assert one.auditor_.tasks_ == ["high", "low", "mid"]
    assert_array_equal(one.classes_, ["high", "low", "mid"])


def test_the_attribute_is_predicted_from_everything_but_itself():
    auditor = DirectionalAuditor("T->A", interval=None)
    model = AuditedClassifier(
        tree(),
        auditor=auditor,
        sensitive="race",
        sensitive_estimator=LogisticRegression(),
        drop_sensitive=False,
    ).fit(CODED, Y)
    other = LogisticRegression().fit(CODED.drop(columns="race"), CODED.race)
    predicted = other.predict(CODED.drop(columns="race"))
    expected = auditor.fit(Y, sensitive_features=CODED.race)
    expected = expected.score(Y, sensitive_features=CODED.race, sensitive_pred=predicted)
    assert model.audit(CODED, Y).value == expected
    assert (predicted != CODED.race).any()


def test_combinations_of_attributes_are_predicted_together():
    both = X[["race", "sex"]]
    model = AuditedClassifier(
        tree(), auditor=DirectionalAuditor("T->A", interval=None), sensitive_estimator=tree()
    ).fit(NUMBERS, Y, sensitive_features=both)
    joined = both.race + both.sex
    predicted = tree().fit(NUMBERS, joined).predict(NUMBERS)
    expected = directional_amplification(
        Y, None, sensitive_features=joined, sensitive_pred=predicted, direction="T->A"
    )
    assert_allclose(model.audit(NUMBERS, Y, sensitive_features=both).published, expected)


@pytest.mark.torch
def test_a_net_of_skorch():
    torch = pytest.importorskip("torch")
    skorch = pytest.importorskip("skorch")
    torch.manual_seed(0)
    net = skorch.NeuralNetClassifier(
        torch.nn.Linear,
        module__in_features=3,
        module__out_features=2,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=2,
        verbose=0,
    )
    model = AuditedClassifier(net, auditor=QUIET)
    model.fit(NUMBERS.astype(np.float32), Y.astype(np.int64), sensitive_features=RACE)
    result = model.audit(NUMBERS.astype(np.float32), Y, sensitive_features=RACE)
    predicted = model.estimator_.predict(NUMBERS.astype(np.float32))
    assert result.published == directional_amplification(Y, predicted, sensitive_features=RACE)
    assert is_classifier(model)


# ------------------------------------------------------------------ in scikit-learn


class Spy(DecisionTreeClassifier):
    """A tree that writes down the rows it is trained on, by their number in the first column."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Spy.seen.append(np.asarray(X)[:, 0].astype(int))
        return super().fit(X, y, sample_weight)


def test_signs_are_those_of_each_training_fold():
    # Nearly independent, so that folds disagree on the signs.
    rng = np.random.default_rng(12)
    n = 120
    group, label = rng.integers(0, 2, n), rng.integers(0, 2, n)
    data = pd.DataFrame({"row": np.arange(n), "noise": rng.normal(size=n), "group": group})
    model = AuditedClassifier(
        Spy(max_depth=2), auditor=QUIET, sensitive="group", drop_sensitive=False
    )
    Spy.seen.clear()
    signs = []

    def watch(estimator, X, y):
        signs.append(estimator.auditor_.y_at_.to_numpy())
        return 0.0

    search = GridSearchCV(model, {"estimator__max_depth": [1, 2]}, scoring=watch, cv=8)
    search.fit(data, label)
    assert len(Spy.seen) == 17  # two candidates of eight folds, and the refit
    for rows, sign in zip(Spy.seen[:16], signs, strict=True):
        assert len(rows) == n - n // 8
        a, t = group[rows], label[rows]
        expected = [
            np.sign(len(rows) * ((a == g) & (t == 1)).sum() - (a == g).sum() * t.sum())
            for g in (0, 1)
        ]
        assert_array_equal(sign[:, 0], expected)
    assert len({sign.tobytes() for sign in signs}) > 1


CV = StratifiedKFold(4)
SCORING = {"accuracy": "accuracy", "amplification": amplification_scorer(objective="lowest")}
NAMED = AuditedClassifier(tree(), auditor=QUIET, sensitive="race", drop_sensitive=True)
ROUTED = AuditedClassifier(tree(), auditor=QUIET)
GIVEN = X[["a", "b", "c", "race"]]
PLAIN = GIVEN[["a", "b", "c"]]


def expected_amplification():
    return [
        -by_hand(train, test, tree().fit(NUMBERS[train], Y[train]).predict(NUMBERS[test]))
        for train, test in CV.split(NUMBERS, Y)
    ]


def test_both_routes_give_the_same_in_cross_validate(routing):
    one = cross_validate(NAMED, GIVEN, Y, scoring=SCORING, cv=CV)
    two = cross_validate(
        ROUTED, PLAIN, Y, scoring=SCORING, cv=CV, params={"sensitive_features": RACE}
    )
    for key in ("test_accuracy", "test_amplification"):
        assert_array_equal(one[key], two[key])
    assert_allclose(one["test_amplification"], expected_amplification())


def test_both_routes_give_the_same_in_a_search_over_a_pipeline(routing):
    grid = {"auditedclassifier__estimator__max_depth": [1, 3]}
    scale = StandardScaler().set_output(transform="pandas")
    named = make_pipeline(
        sklearn.compose.make_column_transformer(
            (scale, ["a", "b", "c"]), remainder="passthrough", verbose_feature_names_out=False
        ).set_output(transform="pandas"),
        NAMED,
    )
    routed = make_pipeline(scale, ROUTED)
    one = GridSearchCV(named, grid, scoring=SCORING, cv=CV, refit="accuracy").fit(GIVEN, Y)
    two = GridSearchCV(routed, grid, scoring=SCORING, cv=CV, refit="accuracy")
    two.fit(PLAIN, Y, sensitive_features=RACE)
    for key in ("mean_test_accuracy", "mean_test_amplification"):
        assert_array_equal(one.cv_results_[key], two.cv_results_[key])
    deep = [one.cv_results_[f"split{i}_test_amplification"][1] for i in range(4)]
    assert_allclose(deep, expected_amplification())
    assert_frame_equal(
        one.best_estimator_[-1].audit(one.best_estimator_[:-1].transform(GIVEN), Y).table,
        two.best_estimator_[-1]
        .audit(two.best_estimator_[:-1].transform(PLAIN), Y, sensitive_features=RACE)
        .table,
    )


def test_named_columns_need_no_routing():
    found = cross_validate(NAMED, GIVEN, Y, scoring=SCORING, cv=CV)
    assert_allclose(found["test_amplification"], expected_amplification())


def test_under_routing_weights_are_asked_for_inside(routing):
    weight = RNG.integers(1, 4, N)
    inner = tree().set_fit_request(sample_weight=True)
    model = AuditedClassifier(inner, auditor=QUIET)
    model.fit(NUMBERS, Y, sensitive_features=RACE, sample_weight=weight)
    plain = tree().fit(NUMBERS, Y, sample_weight=weight)
    assert_array_equal(model.predict(NUMBERS), plain.predict(NUMBERS))
    assert model.auditor_.contingency_.total == weight.sum()
    with pytest.raises(UnsetMetadataPassedError):
        AuditedClassifier(tree()).fit(NUMBERS, Y, sample_weight=weight)
    inner = LogisticRegression().set_fit_request(sample_weight="importance")
    model = AuditedClassifier(inner, auditor=QUIET, sensitive_estimator=tree())
    model.fit(NUMBERS, Y, sensitive_features=RACE, importance=weight)
    assert model.auditor_.contingency_.total == weight.sum()


def test_a_calibrated_classifier_can_be_audited():
    inner = CalibratedClassifierCV(tree(), cv=3)
    model = AuditedClassifier(inner, auditor=QUIET).fit(NUMBERS, Y, sensitive_features=RACE)
    expected = directional_amplification(Y, model.predict(NUMBERS), sensitive_features=RACE)
    assert model.audit(NUMBERS, Y, sensitive_features=RACE).published == expected


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("model", "call", "error", "message"),
    [
        (
            AuditedClassifier(tree(), sensitive="ethnicity", drop_sensitive=False),
            lambda m: m.fit(CODED, Y),
            ValueError,
            "X has no column 'ethnicity'. It has 'a', 'b', 'c', 'race' and 'sex'",
        ),
        (
            AuditedClassifier(tree(), sensitive="race", drop_sensitive=False),
            lambda m: m.fit(NUMBERS, Y),
            ValueError,
            "X is an array and its columns have no names. Pass X as a data frame",
        ),
        (
            AuditedClassifier(tree(), sensitive=7, drop_sensitive=False),
            lambda m: m.fit(NUMBERS, Y),
            ValueError,
            "X has 3 columns: positions go from 0 to 2",
        ),
        (
            AuditedClassifier(tree(), sensitive=0, drop_sensitive=False),
            lambda m: m.fit(NUMBERS[:, 0], Y),
            ValueError,
            "its shape is (400,). Pass sensitive_features instead",
        ),
        (
            AuditedClassifier(tree(), sensitive="race", drop_sensitive=False),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE),
            ValueError,
            "passed twice: as sensitive='race' and as sensitive_features",
        ),
        (
            AuditedClassifier(tree(), drop_sensitive=True),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE),
            ValueError,
            "drop_sensitive=True hides the columns that sensitive= names",
        ),
        (
            AuditedClassifier(tree(), auditor=[]),
            lambda m: m.fit(CODED, Y),
            ValueError,
            "auditor is an empty list",
        ),
        (
            AuditedClassifier(tree(), auditor=DirectionalAuditor("T->A")),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE),
            ValueError,
            "pass sensitive_estimator",
        ),
        (
            AuditedClassifier(tree()),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE).audit(CODED, Y),
            ValueError,
            "needs the sensitive feature in audit. Pass sensitive_features",
        ),
        (
            AuditedClassifier(tree()),
            lambda m: m.fit(CODED, Y, eval_set=3),
            ValueError,
            "got 'eval_set', which it can only pass on under metadata routing. Enable it, "
            "sklearn.set_config(enable_metadata_routing=True), and let the estimator inside "
            "request it: .set_fit_request(eval_set=True)",
        ),
        (
            AuditedClassifier(KNeighborsClassifier()),
            lambda m: m.fit(CODED, Y, sample_weight=np.ones(N)),
            TypeError,
            "KNeighborsClassifier takes no sample_weight in fit",
        ),
        (
            AuditedClassifier(tree()),
            lambda m: m.audit(CODED, Y, sensitive_features=RACE),
            NotFittedError,
            "not fitted yet",
        ),
        (
            AuditedClassifier(tree(), auditor=DirectionalAuditor),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE),
            TypeError,
            "got the class DirectionalAuditor. Pass an instance: DirectionalAuditor().",
        ),
        (
            AuditedClassifier(tree(), auditor=["directional"]),
            lambda m: m.fit(CODED, Y, sensitive_features=RACE),
            TypeError,
            "such as DirectionalAuditor(); got 'directional', which has no method audit.",
        ),
        (
            AuditedClassifier(tree(), sensitive=3.5, drop_sensitive=False),
            lambda m: m.fit(CODED, Y),
            ValueError,
            "'sensitive' parameter of AuditedClassifier must be",
        ),
    ],
)
def test_errors_say_what_to_write_instead(model, call, error, message):
    with pytest.raises(error) as caught:
        call(model)
    assert message in " ".join(str(caught.value).split())


def test_missing_values_are_for_the_auditor_to_settle():
    gaps = pd.Series(RACE, dtype=object).where(np.arange(N) != 3)
    message = r"Leave these rows out \(auditor=MALSAuditor\(missing='drop'\)\), or"
    model = AuditedClassifier(tree(), auditor=MALSAuditor(interval=None))
    with pytest.raises(ValueError, match=message):
        model.fit(NUMBERS, Y, sensitive_features=gaps)
    model.fit(NUMBERS, Y, sensitive_features=RACE)
    with pytest.raises(ValueError, match=message):
        model.audit(NUMBERS, Y, sensitive_features=gaps)
    told = clone(model).set_params(auditor=MALSAuditor(interval=None, missing="drop"))
    result = told.fit(NUMBERS, Y, sensitive_features=gaps)
    assert result.audit(NUMBERS, Y, sensitive_features=gaps).n_samples == N - 1


@pytest.mark.parametrize("sensitive", ["sex", ["race", "sex"], 4])
def test_text_that_the_classifier_cannot_read_is_pointed_at(sensitive):
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        AuditedClassifier(tree(), sensitive=sensitive, drop_sensitive=False).fit(X, Y)
    (note,) = caught.value.__notes__
    assert note.startswith(f"sensitive={sensitive!r} is text, and a feature that the classifier")
    assert "AuditedClassifier(..., drop_sensitive=True) hides it" in note


def test_other_errors_of_the_classifier_come_as_they_are():
    with pytest.raises(ValueError, match="contains NaN") as caught:
        AuditedClassifier(LogisticRegression(), sensitive="sex", drop_sensitive=False).fit(
            CODED.assign(a=np.nan), Y
        )
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("model", "X", "passed", "message"),
    [
        (
            AuditedClassifier(tree(), sensitive="race", drop_sensitive=False),
            X[[]],
            {},
            "X has no columns. Pass one",
        ),
        (AuditedClassifier(tree()), X[[]], {"sensitive_features": RACE}, "X has no columns"),
        (NAMED, X[["race"]], {}, "X has no columns besides 'race'. Pass one column"),
        (NAMED, pl.DataFrame({"race": RACE}), {}, "X has no columns besides 'race'"),
        (
            AuditedClassifier(tree(), sensitive="rac", drop_sensitive=False),
            X,
            {},
            "no column 'rac': did you mean 'race'",
        ),
    ],
)
def test_frames_without_features_are_named(model, X, passed, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, Y, **passed)


def test_a_stack_with_its_default_final_estimator_can_be_audited():
    """Its methods are there after `fit` only."""
    stack = StackingClassifier([("tree", tree()), ("line", LogisticRegression())])
    model = AuditedClassifier(stack, auditor=QUIET, sensitive="race", drop_sensitive=True)
    model.fit(GIVEN, Y)
    expected = by_hand(slice(None), slice(None), stack.fit(PLAIN, Y).predict(PLAIN))
    assert model.audit(GIVEN, Y).published == expected
    # It has probabilities after `fit`: what asks for them before must not say that it has none.
    calibrated = CalibratedClassifierCV(clone(model), cv=2).fit(GIVEN, Y)
    assert_allclose(calibrated.predict_proba(GIVEN).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("auditors", "message"),
    [
        ("directional", "auditor must be an auditor, .* got 'directional'"),
        (["MALS"], "auditor must be an auditor, .* got 'MALS'"),
        (DirectionalAuditor, r"got the class DirectionalAuditor. Pass an instance: Direct"),
        ([QUIET, DirectionalAuditor], "got the class DirectionalAuditor"),
        ([], "auditor is an empty list: pass one auditor or more"),
    ],
)
def test_audit_asks_for_auditors(auditors, message):
    with pytest.raises(ValueError, match=message):
        skbiasamp.audit(Y, Y, sensitive_features=RACE, auditor=auditors)


def test_a_sensitive_feature_that_the_classifier_sees_is_said():
    kept = AuditedClassifier(tree(), auditor=QUIET, sensitive="race")
    with pytest.warns(
        UserWarning, match=r"sensitive='race' is a feature of X\. drop_sensitive=True"
    ):
        kept.fit(CODED, Y)
    # Asked for, hidden, or no column of X: nothing to say.
    for asked in (True, False):
        clone(kept).set_params(drop_sensitive=asked).fit(CODED, Y)
    AuditedClassifier(tree(), auditor=QUIET).fit(CODED, Y, sensitive_features=CODED["race"])
    first = AuditedClassifier.__doc__.splitlines()[0]
    assert "keeps the sensitive column as a feature unless asked" in first
