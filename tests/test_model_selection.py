"""Scorers, cross-audits, thresholds and curves, against definitions and scikit-learn itself."""

import pickle
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import (
    AuditedClassifier,
    BaseRateThresholdClassifier,
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    amplification_scorer,
    cross_audit,
)
from skbiasamp.datasets import load_compas
from skbiasamp.metrics import directional_amplification
from skbiasamp.mitigation import GroupOverSampler
from skbiasamp.model_selection import amplification_curve

# The warning that the classifier sees the column is tested in test_compose.
pytestmark = pytest.mark.filterwarnings("ignore:The classifier sees the sensitive feature")

RNG = np.random.default_rng(0)
N = 400
GROUP = RNG.integers(0, 2, N)
NUMBERS = RNG.normal(size=(N, 3)) + 0.5 * GROUP[:, None] * [1, 0, 0]
Y = (NUMBERS @ [1, 1, 0] + 0.5 * GROUP + RNG.normal(size=N) > 1).astype(int)
X = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(group=GROUP)
QUIET = DirectionalAuditor(interval=None)
CV = StratifiedKFold(4)
FOLDS = list(CV.split(X, Y))
TRAIN, TEST = HALF = (np.arange(N // 2), np.arange(N // 2, N))


def tree(**options):
    return DecisionTreeClassifier(**{"max_depth": 3, "random_state": 0, **options})


class ListedTree(DecisionTreeClassifier):
    def predict(self, X):
        return super().predict(X).tolist()


def audited(estimator=None, **options):
    options = {"auditor": QUIET, "sensitive": "group", **options}
    return AuditedClassifier(tree() if estimator is None else estimator, **options)


def known_auditor(rows=slice(None), **options):
    """Return an auditor that has seen the labels of some rows."""
    return DirectionalAuditor(interval=None, **options).fit(Y[rows], sensitive_features=GROUP[rows])


def by_hand(model, train, test, response="predict"):
    """Return the value of a fitted model, signs from the training rows."""
    predicted, labels = getattr(model, response)(X.iloc[test]), {"sensitive_features": GROUP[test]}
    value = known_auditor(train).score(Y[test], predicted, **labels)
    published = directional_amplification(
        Y[test], predicted, **labels, y_train=Y[train], sensitive_train=GROUP[train]
    )
    assert value == pytest.approx(published, abs=1e-12)  # of two groups and A→T
    return value


def by_hand_of_weights(weight, train, test):
    """Return the value of a tree that is fitted and audited with weights."""
    predicted = tree().fit(NUMBERS[train], Y[train], weight[train]).predict(NUMBERS[test])
    own, held_out = (
        {"sensitive_features": GROUP[rows], "sample_weight": weight[rows]} for rows in (train, test)
    )
    return clone(QUIET).fit(Y[train], **own).score(Y[test], predicted, **held_out)


def crossed(model, X=X, y=Y, **options):
    """Cross-audit by the groups of this module."""
    return cross_audit(model, X, y, **{"sensitive_features": GROUP, **options})


# ------------------------------------------------------------------ scorers


FITTED = audited(drop_sensitive=False).fit(X.iloc[TRAIN], Y[TRAIN])


@pytest.mark.parametrize(
    "model",
    [
        audited(ListedTree(max_depth=3, random_state=0)),
        make_pipeline(MinMaxScaler().set_output(transform="pandas"), audited()),
        TunedThresholdClassifierCV(audited(), scoring="balanced_accuracy", cv=3),
        CalibratedClassifierCV(audited(), cv=3, ensemble=False),
        CalibratedClassifierCV(make_pipeline(MinMaxScaler(), audited(sensitive=3)), cv=4),
        CalibratedClassifierCV(FrozenEstimator(FITTED), cv=3),
        BaseRateThresholdClassifier(audited(), cv=3),
        GridSearchCV(audited(), {"estimator__max_depth": [1, 2]}),
        make_pipeline("passthrough", FixedThresholdClassifier(audited(), threshold=0.3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_signs_come_from_the_audited_classifier_wherever_it_is(model):
    model, rows = clone(model).fit(X.iloc[TRAIN], Y[TRAIN]), (X.iloc[TEST], Y[TEST])
    expected = by_hand(model, TRAIN, TEST)
    assert expected != 0
    # A stranger's auditor would say the opposite; it is only what to measure.
    stranger = clone(QUIET).fit(1 - Y[TRAIN], sensitive_features=GROUP[TRAIN])
    for auditor in (None, stranger):
        scorer = amplification_scorer(auditor, objective="lowest", sensitive="group")
        assert_allclose(scorer(model, *rows), -expected)
    value = amplification_scorer()(model, *rows, sensitive_features=GROUP[TEST])
    assert_allclose(value, -abs(expected))


def test_a_calibrated_classifier_has_the_signs_of_all_its_training_rows():
    # All rows but the first are independent of the group: only folds that lack it are not.
    group, label = np.tile([0, 0, 1, 1], 30), np.tile([0, 1, 0, 1], 30)
    label[1] = 0
    data = np.column_stack([RNG.normal(size=120), group])
    folds = list(KFold(4).split(data))
    model = CalibratedClassifierCV(audited(tree(), sensitive=1), cv=folds, ensemble=True)
    model.fit(data, label)
    signs = [one.estimator.auditor_.y_at_.to_numpy()[:, 0] for one in model.calibrated_classifiers_]
    assert_array_equal(signs, [[0, 0], [-1, 1], [-1, 1], [-1, 1]])
    # Probabilities follow the group, so that the value is as large as the signs allow.
    truth, known = np.tile([0, 1], 60), {"y_train": label, "sensitive_train": group}
    shown = model.predict_proba(data)
    expected = directional_amplification(truth, shown, sensitive_features=group, **known)
    assert abs(expected) > 1e-6
    scorer = amplification_scorer(objective="lowest", response_method="predict_proba")
    assert scorer(model, data, truth) == pytest.approx(-expected)


def test_the_attribute_is_found_where_the_audited_classifier_finds_it():
    # After scaling, the groups are other numbers than those in X.
    scale = MinMaxScaler((2, 5)).set_output(transform="pandas")
    model = make_pipeline(scale, audited()).fit(X, Y)
    expected = directional_amplification(Y, model.predict(X), sensitive_features=GROUP)
    assert_allclose(amplification_scorer(objective="lowest")(model, X, Y), -expected)


def test_without_an_audited_classifier_the_auditor_given_has_the_signs():
    model = tree().fit(X.iloc[TRAIN], Y[TRAIN])
    scorer = amplification_scorer(known_auditor(TRAIN), sensitive="group")
    # A search or cross-validation clones the scorer, and keeps the auditor as it was fitted.
    for same in (scorer, clone(scorer), pickle.loads(pickle.dumps(scorer))):
        assert same(model, X.iloc[TEST], Y[TEST]) == -abs(by_hand(model, TRAIN, TEST))
    own = amplification_scorer(DirectionalAuditor(reference="test"), sensitive=3)
    expected = DirectionalAuditor(reference="test").score(
        Y, model.predict(X), sensitive_features=GROUP
    )
    assert own(model, X, Y) == -abs(expected)


def test_probabilities_can_be_scored():
    model = audited().fit(X.iloc[TRAIN], Y[TRAIN])
    scorer = amplification_scorer(objective="lowest", response_method="predict_proba")
    expected = by_hand(model, TRAIN, TEST, "predict_proba")
    assert_allclose(scorer(model, X.iloc[TEST], Y[TEST]), -expected)
    assert expected != by_hand(model, TRAIN, TEST)
    labels = np.column_stack([Y, NUMBERS[:, 1] > 0, np.zeros(N), np.ones(N)]).astype(int)
    several = audited(RandomForestClassifier(10, max_depth=3, random_state=0)).fit(X, labels)
    raw = several.predict_proba(X)
    positive = np.column_stack([raw[0][:, 1], raw[1][:, 1], np.zeros(N), np.ones(N)])
    expected = directional_amplification(labels, positive, sensitive_features=GROUP)
    assert_allclose(scorer(several, X, labels), -expected)


def test_the_attribute_as_predicted_can_be_scored():
    auditor = DirectionalAuditor("T->A", formula="published")
    model = audited(auditor=auditor, sensitive_estimator=LogisticRegression()).fit(X, Y)
    predicted = LogisticRegression().fit(NUMBERS, GROUP).predict(NUMBERS)
    expected = directional_amplification(
        Y, None, sensitive_features=GROUP, sensitive_pred=predicted, direction="T->A"
    )
    assert_allclose(amplification_scorer(objective="lowest")(model, X, Y), -expected)


def test_it_asks_for_the_attribute_and_can_be_told_not_to(routing):
    scorer = amplification_scorer()
    request = scorer.get_metadata_routing().score.requests
    assert request == {"sensitive_features": True, "sample_weight": None}
    assert scorer.__name__ == "amplification_score"  # what displays of scikit-learn show
    scorer = scorer.set_score_request(sensitive_features="race", sample_weight=True)
    model = audited(sensitive=None).set_fit_request(sensitive_features="race")
    model.estimator.set_fit_request(sample_weight=True)
    weight = np.arange(N) % 4
    scores = cross_validate(
        model, NUMBERS, Y, scoring=scorer, cv=CV, params={"race": GROUP, "sample_weight": weight}
    )
    expected = [-abs(by_hand_of_weights(weight, *split)) for split in FOLDS]
    assert_allclose(scores["test_score"], expected)


# ------------------------------------------------------------------ samplers


def test_a_search_does_not_choose_labels_balanced_before_the_audit():
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampler, scorer = GroupOverSampler(sensitive="group", random_state=0), amplification_scorer()
    model = pipeline.Pipeline([("sample", sampler), ("model", audited())])
    search = GridSearchCV(model, {"sample": [sampler, "passthrough"]}, scoring=scorer, cv=CV)
    with (
        pytest.warns(UserWarning, match="test scores are non-finite"),
        pytest.warns(UndefinedMetricWarning, match=r"step 'sample' .* put it inside"),
    ):
        search.fit(X, Y)
    sampled, plain = search.cv_results_["mean_test_score"]
    assert np.isnan(sampled)
    assert plain < 0
    assert search.best_params_ == {"sample": "passthrough"}


def test_a_value_of_balanced_training_labels_is_no_score():
    group, label = np.repeat([0, 1], 200), np.tile([0, 1], 200)
    data = np.column_stack([RNG.normal(size=400), group])
    model = audited(tree(max_depth=None), sensitive=1).fit(data, label)
    truth = (group + np.arange(400) % 3 > 1).astype(int)
    message = r"A->T is 0 whatever the model predicts: .* exactly balanced.* put it inside"
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert model.audit(data, truth).value == 0
    assert model.audit(data, label).value == 0  # balanced too: nothing to say
    for objective in ("closest_to_zero", "lowest"):
        with pytest.warns(UndefinedMetricWarning, match="NaN: the training labels .* balanced"):
            assert np.isnan(amplification_scorer(objective=objective)(model, data, truth))
    # Signs of the audited labels themselves do not depend on training.
    own = amplification_scorer(DirectionalAuditor(reference="test"))
    assert own(model, data, truth) < 0


def test_a_scorer_finds_the_attribute_behind_a_sampler():
    """Samplers change training rows only. It was an AttributeError: no attribute 'transform'."""
    imblearn = pytest.importorskip("imblearn")
    sampler = imblearn.over_sampling.RandomOverSampler(random_state=0)
    model = imblearn.pipeline.make_pipeline(sampler, make_pipeline(audited())).fit(X, Y)
    given = DirectionalAuditor(reference="test", interval=None)
    expected = given.score(Y, model.predict(X), sensitive_features=GROUP)
    assert amplification_scorer(given)(model, X, Y) == -abs(expected)


@pytest.mark.parametrize(
    ("scorer", "model", "error", "message"),
    [
        ({}, tree(), NotFittedError, "this model has none. Wrap the classifier, AuditedClas"),
        ({}, audited(auditor=[QUIET, MALSAuditor()]), ValueError, "2 auditors, and a score is one"),
        ({"auditor": MALSAuditor(groups="marginal")}, audited(), ValueError, "counted these group"),
    ],
)
def test_scorers_say_what_to_write_instead(scorer, model, error, message):
    with pytest.raises(error) as caught:
        amplification_scorer(**scorer)(clone(model).fit(X, Y), X, Y)
    assert message in str(caught.value)


def test_missing_values_are_for_the_auditor_to_settle():
    gaps = pd.Series(GROUP, dtype=object).where(np.arange(N) != 3)
    with pytest.raises(ValueError, match=r"\(auditor=DirectionalAuditor\(missing='drop'\)\)"):
        crossed(tree(), NUMBERS, sensitive_features=gaps, cv=3)
    settled = DirectionalAuditor(missing="drop", interval=None)
    result = crossed(tree(), NUMBERS, sensitive_features=gaps, auditor=settled)
    assert result.pooled.n_samples == N - 1


# ------------------------------------------------------------------ thresholds that are tuned


THRESHOLDS = np.linspace(0.1, 0.9, 9)


def values_at_thresholds(auditor):
    """Return the values of a tree of the first half's rows, on the second half."""
    shown = tree().fit(X.iloc[TRAIN], Y[TRAIN]).predict_proba(X.iloc[TEST])[:, 1]
    values = [
        auditor.score(Y[TEST], (shown >= at).astype(int), sensitive_features=GROUP[TEST])
        for at in THRESHOLDS
    ]
    assert len({*np.abs(values)}) > 1
    return np.array(values)


def test_a_search_over_thresholds_audits_against_the_correlations_of_the_training_rows():
    model = FixedThresholdClassifier(audited())
    sizes = np.abs(values_at_thresholds(known_auditor(TRAIN)))
    scorer = amplification_scorer()
    search = GridSearchCV(model, {"threshold": THRESHOLDS}, scoring=scorer, cv=[HALF]).fit(X, Y)
    assert_allclose(search.cv_results_["mean_test_score"], -sizes, rtol=0, atol=1e-12)
    assert search.best_params_["threshold"] == THRESHOLDS[sizes.argmin()]


def test_a_threshold_is_tuned_with_an_auditor_that_knows_the_correlations(routing):
    auditor = known_auditor()
    scorer = amplification_scorer(auditor)
    tuned = TunedThresholdClassifierCV(
        tree(), scoring=scorer, thresholds=THRESHOLDS, cv=[HALF], n_jobs=2, refit=False
    ).fit(X, Y, sensitive_features=GROUP)
    least = np.abs(values_at_thresholds(auditor)).min()
    assert tuned.best_score_ == pytest.approx(-least, abs=1e-12)


def test_tuned_thresholds_without_signs_or_groups_say_how_to_choose_a_threshold():
    tuned = TunedThresholdClassifierCV(audited(), scoring=amplification_scorer(), cv=[HALF])
    with pytest.raises(ValueError, match=r"passes a scorer labels without .*GridSearchCV\("):
        tuned.fit(X, Y)


# ------------------------------------------------------------------ ensembles


def test_ensembles_around_an_audited_classifier_say_to_turn_it_inside_out():
    rows, at = (X.to_numpy(), Y), {"sensitive": 3, "drop_sensitive": False}
    ensemble = OneVsRestClassifier(audited(LogisticRegression(), **at)).fit(*rows)
    with pytest.raises(ValueError, match=r"outside: AuditedClassifier\(OneVsRestClassifier\("):
        amplification_scorer()(ensemble, *rows)
    # An auditor that knows the correlations by itself needs no AuditedClassifier.
    given = DirectionalAuditor(reference="test", interval=None)
    value = given.score(Y, ensemble.predict(rows[0]), sensitive_features=GROUP)
    assert amplification_scorer(given, sensitive=3)(ensemble, *rows) == -abs(value)


# ------------------------------------------------------------------ other training samples


class Remembering(BaseEstimator, ClassifierMixin):
    """A tree that notes which rows it was trained on, and what it predicts for others."""

    seen: ClassVar[dict] = {}

    def fit(self, X, y):
        self.rows_ = frozenset(X["row"])
        self.tree_ = tree().fit(X.drop(columns="row"), y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        predicted = self.tree_.predict(X.drop(columns="row"))
        self.seen.setdefault(self.rows_, np.full(N, np.nan))[X["row"]] = predicted
        return predicted


def gap_of(labels, rows):
    return labels[rows & (GROUP == 1)].mean() - labels[rows & (GROUP == 0)].mean()


def by_hand_over_samples(seen):
    """Return the mean over folds, its error and degrees of freedom, from all that models said."""
    every = np.ones(N, bool)
    sizes = [len(rows) for rows in seen]
    folds, halves = max(sizes), min(sizes)
    inside = {rows: np.isin(np.arange(N), list(rows)) for rows in seen}

    def grows(predicted, rows, signs):
        return np.sign(gap_of(Y, signs)) * (gap_of(predicted, rows) - gap_of(Y, rows)) / 2

    values = [
        grows(predicted, ~inside[rows], inside[rows])
        for rows, predicted in seen.items()
        if len(rows) == folds
    ]
    # Each halving is a half and the rest.
    pairs = {frozenset([a, b]) for a in seen for b in seen if len(a) == halves and not a & b}
    said = {}  # of each halving, predictions for all rows
    for pair in pairs:
        a, b = pair
        said[pair] = np.where(inside[a], seen[b], seen[a])
    squares = []
    for pair in pairs:
        a, b = (inside[rows] for rows in pair)
        others = np.mean([said[other] for other in pairs if other != pair], axis=0)
        moved = [grows(said[pair], ~half, half) for half in (a, b)]
        of_rows = [grows(others, half, every) for half in (a, b)]
        apart = moved[0] + of_rows[0] - of_rows[1] - (moved[1] + of_rows[1] - of_rows[0])
        squares.append(apart**2 / 4)
    return np.mean(values), np.sqrt(np.mean(squares)), len(pairs)


def test_the_interval_is_made_of_models_that_are_trained_on_halves():
    Remembering.seen.clear()
    numbered = X.assign(row=np.arange(N))
    result = crossed(Remembering(), numbered, auditor=QUIET, n_halvings=6, random_state=0)
    assert len(Remembering.seen) == 5 + 2 * 6 == result.context["n_models"]
    value, error, df = by_hand_over_samples(Remembering.seen)
    reach = stats.t.isf(0.025, df) * error
    assert_allclose([result.value, result.low, result.high], [value, value - reach, value + reach])
    of_all = result["directional A->T"]
    assert of_all.p_value == pytest.approx(2 * stats.t.sf(abs(value) / error, df))
    # The changes of two groups are as large as the value on average, and vary as it does.
    changes = of_all.table["change"] * of_all.table["sign"]
    assert changes.mean() == pytest.approx(result.value)
    reaches = (of_all.table["high"] - of_all.table["low"]) / 2
    assert reaches.mean() == pytest.approx(reach, rel=0.1)
    assert (of_all.table["high_simultaneous"] > of_all.table["high"]).all()


def test_halves_keep_groups_of_rows_together_and_need_each_row_once():
    family = np.arange(N) // 20
    Remembering.seen.clear()
    numbered, how = X.assign(row=np.arange(N)), {"auditor": QUIET, "n_halvings": 2}
    crossed(Remembering(), numbered, cv=GroupKFold(4), groups=family, **how)
    for rows in Remembering.seen:
        inside = np.bincount(family[list(rows)], minlength=20)
        assert set(inside) == {0, 20}
    twice = crossed(tree(), cv=ShuffleSplit(4, random_state=0), **how)
    assert twice.context["n_models"] == 4


def test_differences_of_estimators_are_those_of_the_same_halves():
    how = {"auditor": QUIET, "cv": CV, "random_state": 0, "n_halvings": 2}
    models = {"tree": tree(), "same": tree(), "linear": LogisticRegression()}
    table = crossed(models, **how).table.set_index("model")
    alone = crossed(LogisticRegression(), **how)
    assert table.loc["same", ["difference", "difference_high", "p_value"]].tolist() == [0, 0, 1]
    assert table.loc["linear", ["value", "low"]].tolist() == [alone.value, alone.low]
    numbers = ["difference", "difference_low", "difference_high"]
    back = crossed(models, reference="linear", **how).table
    there = table.loc["linear", numbers].to_numpy(float)
    assert_allclose(back.set_index("model").loc["tree", numbers], -there[[0, 2, 1]])


def test_models_that_add_a_difference_to_equal_labels_are_said_to():
    group, y = np.tile([0, 0, 1, 1], 100), np.tile([0, 1, 0, 1], 100)
    how = {"sensitive_features": group, "n_halvings": 4, "random_state": 0}
    added = cross_audit(Score(), group[:, None], y, **how)
    assert added.facts.verdict == "adds a difference"
    # Whether a guess differs between groups is chance: that of the fitted models is no more.
    coin = cross_audit(Score(), np.tile([0, 1, 1, 0, 1, 0, 0], 58)[:400, None], y, **how)
    assert coin.facts.verdict == "no clear effect"


# ------------------------------------------------------------------ cross-audits


def spread_of_folds(values, ratio, rows_interval=None):
    """Return half of the interval of a mean over folds and its p-value, by their definition.

    Nadeau and Bengio: 1 / k and the test rows over the training rows. Folds vary at least as much
    as all rows make them; the few folds tell only how much more. `values` may be of repeats.
    """
    values = np.atleast_2d(values)
    k, df = values.shape[1], values.size - len(values)
    low, high = (0, 0) if rows_interval is None else rows_interval
    rows = k * ((high - low) / (2 * stats.norm.isf(0.025))) ** 2
    more = max(values.var(axis=1, ddof=1).mean() - rows, 0)
    df *= ((rows + more) / more) ** 2 if more else 1e9
    error = np.sqrt((rows + more) * (1 / k + ratio))
    return stats.t.isf(0.025, df) * error, 2 * stats.t.sf(abs(values.mean()) / error, df)


def test_the_numbers_do_not_depend_on_jobs_or_routes():
    options = {"n_repeats": 2, "n_halvings": 2, "cv": 3, "random_state": 0}
    first = crossed(tree(random_state=None), n_jobs=2, **options)
    model = audited(tree(random_state=None), auditor=DirectionalAuditor())
    for routed in (False, True):
        with sklearn.config_context(enable_metadata_routing=routed):
            other = cross_audit(model, X, Y, **options)
        assert_frame_equal(other.to_frame(), first.to_frame())
        assert_frame_equal(other.pooled.table, first.pooled.table)


def test_splitters_groups_and_overlapping_folds():
    family = np.arange(N) // 20
    by_family = crossed(tree(), cv=GroupKFold(4), groups=family, n_halvings=0)
    expected = cross_validate(tree(), X, Y, cv=GroupKFold(4), groups=family)
    assert_array_equal(by_family.table["score"], expected["test_score"])
    result = crossed(tree(), cv=ShuffleSplit(6, test_size=0.25, random_state=0))
    values = result.table["value"]
    assert (result.high - result.low) / 2 == pytest.approx(spread_of_folds(values, 1 / 3)[0])
    assert np.isnan(result.pooled.low)
    assert result.pooled.value == pytest.approx(values.mean(), abs=0.02)
    one = crossed(tree(), cv=[HALF])
    assert np.isnan(one.low)
    assert one.over == "1 fold"


def test_splitters_may_be_masks_and_what_can_be_read_once():
    how = {"n_repeats": 2, "n_halvings": 2, "random_state": 0}
    expected = crossed(tree(), cv=CV, **how)
    masks = [[np.isin(np.arange(N), rows) for rows in fold] for fold in FOLDS]
    for cv in (masks, CV.split(X, Y)):
        result = crossed(tree(), cv=cv, **how)
        assert_frame_equal(result.table, expected.table)
        assert (result.low, result.pooled.low) == (expected.low, expected.pooled.low)


def test_a_fold_of_one_group_measures_nothing():
    hospital = np.where(GROUP == 1, np.arange(N) % 5, np.arange(N) % 4)  # the last has one group
    how = {"cv": LeaveOneGroupOut(), "groups": hospital, "n_halvings": 0, "auditor": QUIET}
    # A difference that is 0 in such a fold would make all differences look small and sure.
    models = {"tree": tree(), "stump": tree(max_depth=1)}
    with pytest.warns(UndefinedMetricWarning, match="fold 4: its held-out rows are all of group 1"):
        compared = crossed(models, **how)
    differences = compared.folds.loc[compared.folds["model"] == "stump", "difference"]
    assert compared.table["difference"][1] == pytest.approx(differences[:4].mean())
    assert np.isnan(differences.iloc[4])
    result = compared.audits["tree"]
    values = result.table["value"].to_numpy()
    assert np.isnan(values).tolist() == [False] * 4 + [True]
    assert result.value == pytest.approx(values[:4].mean())
    sizes = result.table[["n_train", "n_test"]][:4].mean()
    reach, _ = spread_of_folds(values[:4], sizes["n_test"] / sizes["n_train"])
    assert (result.high - result.low) / 2 == pytest.approx(reach)
    assert result.over == "4 of 5 folds"
    assert result.folds[4] is not None


@pytest.mark.filterwarnings("ignore:no audited rows", "ignore:1 of 3 pairs are so")
@pytest.mark.parametrize("auditor", [QUIET, MALSAuditor(interval=None), LeakageAuditor()])
def test_a_fold_whose_training_rows_lack_a_group_is_not_measured(auditor):
    rare = np.arange(N) % 40 == 0
    fold = np.where(rare, 0, np.arange(N) % 4)
    cv = [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(4)]
    how = {"auditor": auditor, "random_state": 0, "n_halvings": 2}
    three = how | {"sensitive_features": np.where(rare, 2, GROUP)}
    with pytest.warns(UndefinedMetricWarning, match="fold 0: its training rows lack group 2"):
        result = crossed(tree(), cv=cv, **three)
    others = crossed(tree(), cv=cv[1:], **three)
    assert result.folds[0] is None
    columns = ["value", "published"]
    assert_array_equal(result.table[columns][1:], others.table[columns])
    assert result.value == pytest.approx(result.table["value"][1:].mean())
    assert result.pooled.n_samples == N  # its predictions are of a model as any other
    # Of two groups, the audit is left to all rows.
    with pytest.warns(UndefinedMetricWarning, match="fold 0: its training rows lack group True"):
        result = crossed(tree(), cv=cv, **how | {"sensitive_features": rare})
    assert np.isnan([result.value, result.low]).all()
    assert not np.isnan(result.pooled.value)


def test_joint_strata_put_small_groups_into_every_fold():
    group = np.where(np.arange(N) % 40 == 0, "rare", "common")
    y = np.where(group == "rare", np.arange(N) % 80 == 0, Y).astype(int)
    how = {"sensitive_features": group, "stratify": "joint", "random_state": 0, "n_halvings": 0}
    joint = crossed(tree(), NUMBERS, y, **how)
    assert {int(fold.table.set_index("group")["n"]["rare"]) for fold in joint.folds} == {2}
    assert all(fold.table.set_index("group")["base"]["rare"] == 0.5 for fold in joint.folds)


@pytest.mark.parametrize("routed", [False, True])
def test_amplification_is_a_score_of_a_cross_audit(routed):
    """It said that the AuditedClassifier has 1 auditors, or lacks the sensitive feature."""
    options = {"scoring": {"own": amplification_scorer(objective="lowest")}, "cv": CV}
    options["n_halvings"] = 0
    with sklearn.config_context(enable_metadata_routing=routed):
        passed = crossed(tree(), NUMBERS, auditor=QUIET, **options)
        for audit in (passed, cross_audit(audited(), X, Y, **options)):
            assert_allclose(audit.table["own"], -audit.table["value"])


# ------------------------------------------------------------------ estimators on the same folds


PAIR = {"deep": tree(max_depth=8), "flat": tree(max_depth=1), "linear": LogisticRegression()}


# In some of these comparisons folds agree by chance, in others not. Without an interval of rows,
# only folds tell.
@pytest.mark.parametrize(
    ("auditor", "references"), [(DirectionalAuditor(), list(PAIR)), (QUIET, ["deep"])]
)
def test_every_fold_is_audited_against_its_own_training_rows_and_compared(auditor, references):
    values, predicted = pd.DataFrame(index=range(4), columns=[*PAIR], dtype=float), {}
    for name, estimator in PAIR.items():
        predicted[name] = np.empty(N, int)
        for at, (train, test) in enumerate(FOLDS):
            model = clone(estimator).fit(X.iloc[train], Y[train])
            values.loc[at, name] = by_hand(model, train, test)
            predicted[name][test] = model.predict(X.iloc[test])
    # Held-out rows have no other labels than their own, which are no sign of their own chance.
    own, how = clone(auditor).set_params(reference="test"), {"cv": CV, "n_halvings": 0}
    for reference in references:
        result = crossed(PAIR, reference=reference, auditor=auditor, **how)
        others = [name for name in PAIR if name != reference]
        assert result.table["model"].tolist() == [reference, *others]
        assert np.isnan(result.table.loc[0, "difference"])
        table = result.table.set_index("model")
        for name in others:
            gaps = values[name] - values[reference]
            folds = result.folds[result.folds["model"] == name]
            assert_allclose(folds["value"], values[name])
            assert_allclose(folds["difference"], gaps)
            known = None if auditor is QUIET else result.pooled.judged(name)[1:]
            reach, p_value = spread_of_folds(gaps, 1 / 3, known)
            expected = [gaps.mean(), gaps.mean() - reach, gaps.mean() + reach, p_value]
            numbers = ["difference", "difference_low", "difference_high", "p_value"]
            assert_allclose(table.loc[name, numbers].astype(float), expected, rtol=1e-5)
            assert table.loc[name, "changed"] == np.mean(predicted[name] != predicted[reference])
        labels = {"sensitive_features": GROUP, "reference": reference}
        expected = own.compare(Y, predicted, **labels)
        assert_frame_equal(result.pooled.table, expected.table)
        assert_frame_equal(result.pooled.pairs, expected.pairs)
    for name, audit in result.audits.items():
        mean, pooled = values[name].mean(), audit.pooled
        known = None if auditor is QUIET else (pooled.low, pooled.high)
        reach, _ = spread_of_folds(values[name], 1 / 3, known)
        assert_allclose([audit.value, audit.low, audit.high], [mean, mean - reach, mean + reach])
        assert_array_equal(audit.table["value"], [fold.value for fold in audit.folds])
        assert_array_equal(audit.table["published"], [fold.published for fold in audit.folds])
        assert audit.published == pytest.approx(audit.table["published"].mean())
        assert pooled.n_samples == N
        assert pooled.value == own.score(Y, predicted[name], sensitive_features=GROUP)
    alone = crossed(PAIR["flat"], auditor=auditor, **how)
    assert_frame_equal(result.audits["flat"].table, alone.table)
    scores = cross_validate(PAIR["flat"], X, Y, cv=CV)["test_score"]
    assert_array_equal(alone.table["score"], scores)
    numbers = ["value", "low", "high"]
    assert table.loc["flat", numbers].tolist() == [getattr(alone, name) for name in numbers]


def test_estimators_get_the_same_folds_and_draws():
    forest = RandomForestClassifier(3, max_depth=2)
    models = {"one": forest, "two": audited(forest, sensitive=None, auditor=None)}
    models["linear"] = LogisticRegression()
    options = {"auditor": QUIET, "cv": 3, "random_state": 0, "n_halvings": 0}
    result = crossed(models, n_repeats=2, **options)
    table = result.table.set_index("model")
    assert table.loc["two", ["difference", "difference_low", "p_value"]].tolist() == [0, 0, 1]
    folds = result.folds[result.folds["model"] == "linear"]
    assert len(folds) == 3 * 2
    reach = (table.loc["linear", "difference_high"] - table.loc["linear", "difference_low"]) / 2
    gaps = folds["difference"].to_numpy().reshape(2, 3)
    assert reach == pytest.approx(spread_of_folds(gaps, 1 / 2)[0], rel=5e-3)  # 133 and 134 rows
    assert "over 6 folds of 2 repeats" in repr(result)
    # Of several repeats, the held-out predictions of the first are compared.
    once = crossed(models, **options).folds
    assert_array_equal(once.loc[once["model"] == "linear", "value"], folds["value"][:3])
    assert result.pooled.n_samples == N


def test_estimators_are_compared_by_several_metrics_and_predicted_groups():
    labels = pd.DataFrame({"t": Y, "u": (NUMBERS[:, 1] > 0).astype(int)})
    auditors, folds = [QUIET, DirectionalAuditor("T->A", interval=None)], KFold(3)
    inner = {"tree": (tree(), auditors), "linear": (LogisticRegression(), None)}
    models = {
        name: audited(MultiOutputClassifier(one), auditor=own, sensitive_estimator=one)
        for name, (one, own) in inner.items()
    }
    results = cross_audit(models, X, labels, cv=folds, n_halvings=2)
    assert list(results) == ["directional A->T", "directional T->A"]
    for name, (one, _) in inner.items():
        tasks = cross_val_predict(MultiOutputClassifier(one), X, labels, cv=folds)
        groups = {"sensitive_pred": cross_val_predict(one, NUMBERS, GROUP, cv=folds)}
        for way, given in {"A->T": {"y_pred": tasks}, "T->A": {"y_pred": None, **groups}}.items():
            expected = directional_amplification(
                labels, **given, sensitive_features=GROUP, direction=way
            )
            pooled = results[f"directional {way}"].pooled.table.set_index("model")
            assert pooled.loc[name, "published"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        ({"a": tree()}, {}, "estimator holds one model, 'a'. A comparison needs two"),
        (PAIR, {"reference": "dep"}, "reference must be one of .* did you mean 'deep'"),
        (tree(), {"sensitive_features": None}, "cross_audit needs the sensitive feat"),
        (tree(), {"auditor": DirectionalAuditor("T->A")}, "pass sensitive_estimator"),
        (tree(), {"n_halvings": 1}, "n_halvings must be 0, or 2 or more"),
        (tree(), {"cv": LeaveOneGroupOut(), "groups": GROUP}, "^cv leaves no fold to measure"),
    ],
)
def test_what_cannot_be_cross_audited_is_named(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        crossed(estimator, **{"auditor": QUIET, **options})


# ------------------------------------------------------------------ thresholds


@pytest.mark.parametrize(
    "inner", [LogisticRegression(), RidgeClassifier(), audited(LogisticRegression())], ids=str
)
def test_as_many_are_predicted_as_there_were(inner):
    y = np.where(Y, "yes", "no")
    scores = "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"
    held_out = cross_val_predict(inner, X, y, method=scores).reshape(N, -1)[:, -1]
    model = BaseRateThresholdClassifier(inner).fit(X, y)
    assert model.base_rates_ == pytest.approx(Y.mean())
    assert (held_out >= model.thresholds_[0]).sum() == Y.sum()
    shown = getattr(clone(inner).fit(X, y), scores)(X)
    assert_array_equal(getattr(model, scores)(X), shown)
    positive = shown.reshape(N, -1)[:, -1] >= model.thresholds_[0]
    assert_array_equal(model.predict(X), np.where(positive, "yes", "no"))


def test_training_labels_give_the_rate_and_validation_rows_the_threshold():
    """Of N validation rows, the Np with the highest scores are positive (Sec. 3.3)."""
    labels = np.array(["no", "yes"])[Y]
    inner = LogisticRegression().fit(NUMBERS[TRAIN], labels[TRAIN])
    rare = np.r_[labels[TRAIN], np.repeat("no", 3 * N)]  # p is lower than in y
    prefit = BaseRateThresholdClassifier(inner, cv="prefit")
    prefit.fit(NUMBERS[TEST], labels[TEST], y_train=rare)
    p = (rare == "yes").mean()
    assert prefit.base_rates_ == pytest.approx(p)
    score = inner.predict_proba(NUMBERS[TEST])[:, 1]
    highest = np.argsort(-score)[: round(len(score) * p)]
    positive = np.flatnonzero(prefit.predict(NUMBERS[TEST]) == "yes")
    assert {*positive} == {*highest}
    # A fitted classifier keeps its fit.
    for given, cv in ((FrozenEstimator(inner), 2), (inner, "prefit")):
        model = BaseRateThresholdClassifier(given, cv=cv).fit(NUMBERS[TEST], labels[TEST])
        assert np.sum(model.predict(NUMBERS[TEST]) == "yes") == Y[TEST].sum()
        assert_array_equal(model.predict_proba(NUMBERS), inner.predict_proba(NUMBERS))
    with pytest.raises(NotFittedError):
        clone(prefit).fit(NUMBERS, labels)


@pytest.mark.parametrize(
    "inner",  # a list of matrices, and one matrix
    [
        RandomForestClassifier(20, min_samples_leaf=10, random_state=0),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_every_task_has_its_own_threshold(inner):
    labels = np.column_stack([Y, NUMBERS[:, 2] > 1, RNG.random(N) < 0.1]).astype(int)
    model = BaseRateThresholdClassifier(inner, cv=3).fit(NUMBERS, labels)
    assert_allclose(model.base_rates_, labels.mean(axis=0))
    assert model.thresholds_.shape == (3,)
    prefit = BaseRateThresholdClassifier(clone(inner).fit(NUMBERS, labels), cv="prefit")
    predicted = prefit.fit(NUMBERS, labels).predict(NUMBERS)
    assert_allclose(predicted.mean(axis=0), labels.mean(axis=0), atol=1.5 / N)
    labels[:, 1:] = [0, 1]
    constant = BaseRateThresholdClassifier(tree(max_depth=2), cv=3).fit(NUMBERS, labels)
    assert_array_equal(constant.predict(NUMBERS)[:, 1:], labels[:, 1:])


def test_scores_that_tie_stay_together_and_neighbouring_numbers_do_not():
    scores = np.repeat([0.1, 0.4, 0.9], [50, 40, 10])[:, None]
    y = np.arange(100) % 4 == 0  # a quarter
    inner = tree(max_depth=None).fit(scores, y)
    model = BaseRateThresholdClassifier(inner, cv="prefit").fit(scores, y)
    shares = [np.mean(inner.predict_proba(scores)[:, 1] >= t) for t in (0.2, 0.26, 0.3, 1)]
    assert abs(model.predict(scores).mean() - 0.25) == min(abs(s - 0.25) for s in (*shares, 0))
    scores, y = np.tile([[0.5], [np.nextafter(0.5, 1)]], (50, 1)), np.tile([0, 1], 50)
    model = BaseRateThresholdClassifier(Score(), cv=2).fit(scores, y)
    assert_array_equal(model.predict(scores), y)


class Score(ClassifierMixin, BaseEstimator):
    """Scores rows by their first column, and predicts it."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return X[:, 0].astype(int)


def test_weights_make_base_rates_and_thresholds():
    weight, inner = np.where(Y, 3, 1), LogisticRegression()
    model = BaseRateThresholdClassifier(inner, cv=3).fit(NUMBERS, Y, sample_weight=weight)
    rate = np.average(Y, weights=weight)
    assert model.base_rates_ == pytest.approx(rate)
    how = {"cv": 3, "method": "predict_proba", "params": {"sample_weight": weight}}
    held_out = cross_val_predict(inner, NUMBERS, Y, **how)[:, 1]
    above = np.average(held_out >= model.thresholds_, weights=weight)
    assert above == pytest.approx(rate, abs=3 / weight.sum())
    # A row of weight 0 is not there, and one weight for all, a fraction too, changes nothing.
    prefit, half = BaseRateThresholdClassifier(inner.fit(NUMBERS, Y), cv="prefit"), np.arange(N) % 2
    for weight, rows in ((half, half > 0), (Fraction(1, 2), slice(None))):
        weighted = prefit.fit(NUMBERS, Y, sample_weight=weight).thresholds_
        assert_array_equal(weighted, prefit.fit(NUMBERS[rows], Y[rows]).thresholds_)


def test_thresholds_ask_for_two_classes_and_scores(routing):
    with pytest.raises(ValueError, match="The type of the target is multiclass"):
        BaseRateThresholdClassifier(tree()).fit(NUMBERS, np.arange(N) % 3)
    model = BaseRateThresholdClassifier(audited(sensitive=None), cv=3)
    model.fit(NUMBERS, Y, sensitive_features=GROUP)  # routed to the classifier inside
    assert model.estimator_.auditor_.groups_ == [0, 1]


# ------------------------------------------------------------------ curves


def test_the_published_curve_of_compas():
    compas = load_compas()
    assert len(compas.target) == 5278
    labels = {"sensitive_features": compas.sensitive_features}
    curve, published = (
        amplification_curve(compas.target, compas.decile_score, formula=formula, **labels)
        for formula in ("change", "published")
    )
    assert_array_equal(curve.published, published.values)
    assert_allclose(published.at([0, 10]), -0.0661, atol=5e-5)
    assert published.values.max() == pytest.approx(0.056, abs=5e-4)
    for threshold in range(11):
        predicted = (compas.decile_score > threshold).astype(int)
        expected = directional_amplification(compas.target, predicted, **labels)
        assert published.at(threshold) == pytest.approx(expected, abs=1e-12)
        # The labels are as sure of their direction as 9.6 standard errors.
        assert curve.at(threshold) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("weight", "n_tasks", "groups", "trained", "formula"),
    [
        (None, 1, "two", True, "change"),
        ("whole", 2, "three", False, "change"),
        ("fractional", 2, "overlapping", False, "change"),
        ("fractional", 1, "three", True, "published"),
    ],
)
def test_a_curve_has_the_value_and_interval_of_an_audit_at_every_threshold(
    weight, n_tasks, groups, trained, formula
):
    rng = np.random.default_rng(0)
    n = 150
    group = rng.choice(list("abc")[: 3 - (groups == "two")], n)
    often = (group == "a") ^ (rng.random(n) < 0.3)
    y = np.column_stack([often, rng.integers(0, 2, n)])[:, :n_tasks].astype(int)
    score = np.round(rng.random((n, n_tasks)) + 0.4 * y, 1) / 1.4
    weights = {"whole": rng.integers(0, 4, n), "fractional": rng.random(n)}
    attribute = np.column_stack([group, rng.choice(list("xy"), n)]) if groups[0] == "o" else group
    labels = {"sensitive_features": attribute, "sample_weight": weights.get(weight)}
    given = {"formula": formula, "confidence_level": 0.9, "interval": "analytic"}
    given["groups"] = "marginal" if groups == "overlapping" else "intersection"
    auditor = DirectionalAuditor(**given, reference="train" if trained else "test")
    if trained:
        auditor.fit(1 - y[:60], sensitive_features=attribute[:60])
        given |= {"y_train": 1 - y[:60], "sensitive_train": attribute[:60]}
    curve = amplification_curve(y, score, **labels, **given)
    for at, threshold in enumerate(curve.thresholds):
        result = auditor.audit(y, (score > threshold).astype(int), **labels)
        found = [getattr(curve, name)[at] for name in ("values", "low", "high", "published")]
        numbers = (result.value, result.low, result.high, result.published)
        assert_allclose(found, numbers, rtol=0, atol=1e-9)
    # Over all thresholds between 0 and 1, scores are probabilities.
    assert curve.integral == pytest.approx(auditor.score(y, score, **labels), abs=1e-12)
