"""Classifiers that are to amplify less: what they promise of their predictions."""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from skbiasamp import (
    AuditedClassifier,
    BaseRateThresholdClassifier,
    DirectionalAuditor,
    cross_audit,
)
from skbiasamp.mitigation import (
    AmplificationThresholdClassifier,
    CorpusConstraintClassifier,
    DomainIndependentClassifier,
    MixedClassifier,
)

MARGIN = 0.05


# ---------------------------------------------------------------- CorpusConstraintClassifier


class Oracle(ClassifierMixin, BaseEstimator):
    """Says the probabilities that X holds."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.unique(y) if np.ndim(y) == 1 else [np.array([0, 1])] * np.shape(y)[1]
        return self

    def predict_proba(self, X):
        X = np.asarray(X)
        return X if np.ndim(self.classes_) == 1 else [np.column_stack([1 - p, p]) for p in X.T]

    def predict(self, X):
        return self.classes_[np.asarray(X).argmax(axis=1)]


def problem(rng, kind, n_rows=None, n_tasks=None):
    """Return a fitted classifier and a batch whose own labels keep the bounds.

    Its scores tell something of the labels, and exaggerate what tells the groups apart.
    """
    n_rows, n_tasks = n_rows or rng.integers(20, 1500), n_tasks or rng.integers(2, 15)
    n_groups = rng.integers(2, 4)
    group = rng.integers(0, n_groups, n_rows)
    if kind == "multiclass":
        shares = rng.dirichlet(np.full(n_tasks, 1.0 if n_tasks < 100 else 20.0), n_groups)
        y = (rng.random((n_rows, 1)) > shares.cumsum(axis=1)[group, :-1]).sum(axis=1)
        member = y[:, None] == np.arange(n_tasks)
    else:
        rates = rng.uniform(0.02, 0.6, (n_groups, n_tasks))
        y = member = rng.random((n_rows, n_tasks)) < rates[group]
    bias = rng.normal(size=(n_groups, n_tasks))
    score = rng.normal(0, 1.5, member.shape) + 1.5 * member + bias[group]
    score = softmax(score, axis=1) if kind == "multiclass" else expit(score - 1.5)
    # Labels of training are those of the batch but for a few.
    noisy = rng.random(n_rows) < 0.02
    train = np.where(noisy if y.ndim == 1 else noisy[:, None], rng.permutation(y), y).astype(int)
    model = CorpusConstraintClassifier(Oracle(), margin=MARGIN)
    model.fit(score, train, sensitive_features=group)
    return model, score, group, member


def within_margin(model, member, group):
    """Return for each task whether groups have their shares of it, to within the margin."""
    table = np.stack([member[group == code].sum(axis=0) for code in model.groups_])
    total = table.sum(axis=0)
    off = np.abs(table / np.where(total > 0, total, np.nan) - model.ratios_.to_numpy())
    return ~(off > MARGIN + 1e-9).any(axis=0)


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_feasible_problems_are_solved_and_others_reported(kind):
    rng = np.random.default_rng(0)
    solved = []
    while len(solved) < 40:
        model, score, group, member = problem(rng, kind)
        known = member.shape[1] == model.ratios_.shape[1]
        if not known or not within_margin(model, member, group).all():
            continue  # a class is missing, or nothing says that it can be solved
        constrained = model.constrain(score, sensitive_features=group)
        y_pred = constrained.y_pred
        chosen = y_pred if y_pred.ndim == 2 else y_pred[:, None] == model.classes_
        kept = within_margin(model, chosen, group)
        assert_array_equal(constrained.table["met"], np.tile(kept, len(model.groups_)))
        solved.append(kept.all())
    assert np.mean(solved) >= (0.95 if kind == "multiclass" else 1)


def bounds_on(ratio, mine):
    """Return by how much groups exceed their shares and fall short: both must not be above 0."""
    return [mine - np.minimum(ratio + MARGIN, 1), np.maximum(ratio - MARGIN, 0) - mine]


def best_by_linear_program(model, score, group):
    """Return the best sum of scores with a fraction of every row for every class."""
    n_rows, n_classes = score.shape
    log, ratio = np.log(score), model.ratios_.to_numpy()
    rows = []
    for a, t in np.ndindex(ratio.shape):
        for bound in bounds_on(ratio[a, t], group == a):
            rows.append(np.outer(bound, np.arange(n_classes) == t).ravel())
    each = np.kron(np.eye(n_rows), np.ones(n_classes))
    solution = linprog(-log.ravel(), np.array(rows), np.zeros(len(rows)), each, np.ones(n_rows))
    return -solution.fun


@pytest.mark.parametrize("seed", range(2))
def test_no_predictions_within_bounds_have_much_better_scores(seed):
    rng = np.random.default_rng(seed)
    model, score, group, _ = problem(rng, "multiclass", 300, 4)
    constrained = model.constrain(score, sensitive_features=group)
    assert constrained.table["met"].all()
    code = np.searchsorted(model.classes_, constrained.y_pred)
    reached = np.log(score[np.arange(300), code]).sum()
    alone = np.log(score.max(axis=1)).sum()
    best = best_by_linear_program(model, score, group)
    assert reached <= best + 1e-6 <= alone + 2e-6
    # Of what the bounds cost at least, little more is paid.
    assert alone - reached <= 1.1 * (alone - best) + 1


@pytest.mark.parametrize("seed", range(6))
def test_one_task_is_chosen_as_integer_programming_does(seed):
    rng = np.random.default_rng(seed)
    n, n_groups = rng.integers(20, 80), 2 + seed % 3
    group = rng.integers(0, n_groups, n)
    # Rounded, so that some scores tie.
    score = np.round(rng.normal(0, 2, n) + rng.normal(0, 1, n_groups)[group], 1)
    target = rng.dirichlet(np.full(n_groups, 3.0))
    rows = np.repeat(np.arange(n_groups), np.maximum(np.round(200 * target), 1).astype(int))
    train, labels = np.r_[rows, np.arange(n_groups)], np.repeat([1, 0], [len(rows), n_groups])
    model = CorpusConstraintClassifier(Oracle())
    model.fit(np.zeros((len(train), 2)), labels, sensitive_features=train)
    probability = 1 / (1 + np.exp(-score))
    shown = np.column_stack([1 - probability, probability])
    constrained = model.constrain(shown, sensitive_features=group)
    ratio = model.ratios_[1].to_numpy()[:, None]
    inside = np.concatenate(bounds_on(ratio, np.arange(n_groups)[:, None] == group))
    best = milp(
        -score,
        constraints=LinearConstraint(inside, -np.inf, 1e-9),
        bounds=Bounds(0, 1),
        integrality=np.ones(n),
        options={"mip_rel_gap": 0},
    )
    assert constrained.table["met"].all()
    assert score[constrained.y_pred == 1].sum() == pytest.approx(-best.fun, abs=1e-6)
    shifted = score + constrained.shifts[1].to_numpy()[group]
    assert (shifted[constrained.y_pred == 1] > -1e-9).all()
    assert (shifted[constrained.y_pred == 0] < 1e-9).all()


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_a_thousand_tasks_take_bounded_time(kind):
    model, score, group, _ = problem(np.random.default_rng(1), kind, 1000, 1000)
    score = score[:, -model.ratios_.shape[1] :]
    start = time.process_time()
    constrained = model.constrain(score, sensitive_features=group)
    assert time.process_time() - start < 20  # of a second, as a rule
    assert constrained.table["met"].mean() > 0.95
    assert np.isfinite(constrained.shifts.to_numpy()).all()


def people():
    """Return features (with the sex), labels and sex; skill is measured worse of women."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 2000, p=[0.4, 0.6])
    skill = rng.normal(size=2000)
    hired = (skill + 0.8 * (sex == "m") + rng.normal(0, 0.5, 2000) > 0.8).astype(int)
    X = pd.DataFrame({"sex": sex, "test": skill + rng.normal(0, 1, 2000), "tall": sex == "m"})
    return X.astype({"tall": float}), hired, sex


PEOPLE, HIRED, SEX = people()
FEATURES = PEOPLE[["test", "tall"]]
NUMBERS = FEATURES.to_numpy()
BOTH = np.column_stack([HIRED, NUMBERS[:, 0] > 1])  # two tasks
BY = {"sensitive_features": SEX}
ROWS = {"f": SEX == "f", "m": SEX == "m"}
LINEAR = LogisticRegression()
SEVERAL = MultiOutputClassifier(LINEAR)


def test_what_cannot_be_met_is_said():
    model = CorpusConstraintClassifier(LINEAR).fit(FEATURES, HIRED, **BY)
    men, given = FEATURES[ROWS["m"]], {"sensitive_features": SEX[ROWS["m"]]}
    with pytest.warns(ConvergenceWarning, match=r"of 1 of 1 tasks: 1\. Predict larger"):
        y_pred = model.predict(men, **given)
    assert_array_equal(y_pred, model.estimator_.predict(men))
    assert not model.constrain(men, **given).table["met"].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right, weight = model.predict(FEATURES, **BY) == HIRED, np.arange(2000)
    score = model.score(FEATURES, HIRED, weight, **BY)
    assert score == pytest.approx(np.average(right, weights=weight))


# --------------------------------------------------------------- DomainIndependentClassifier


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["uniform", "training"])
def test_the_classifiers_of_groups_are_summed(n_classes, prior):
    y = HIRED + (n_classes == 3) * (NUMBERS[:, 0] > 1)
    weight = {"uniform": [0.5, 0.5], "training": [rows.mean() for rows in ROWS.values()]}
    heads = [LogisticRegression().fit(NUMBERS[rows], y[rows]) for rows in ROWS.values()]
    each = np.stack([head.predict_proba(NUMBERS) for head in heads])
    model = DomainIndependentClassifier(LINEAR, calibration=None, group_prior=prior)
    model.fit(NUMBERS, y, **BY)
    scores = np.average(np.log(each), axis=0, weights=weight[prior])
    assert_array_equal(model.predict(NUMBERS), scores.argmax(axis=1))
    shown = model.predict_proba(NUMBERS)
    assert_allclose(shown.sum(axis=1), 1)
    assert_array_equal(shown.argmax(axis=1), scores.argmax(axis=1))


def test_several_labels_a_row_are_summed_and_mixed_task_by_task():
    model = DomainIndependentClassifier(SEVERAL, calibration=None).fit(NUMBERS, BOTH, **BY)
    shown = model.predict_proba(NUMBERS)
    for task in range(2):
        of_task = clone(model).set_params(estimator=LINEAR).fit(NUMBERS, BOTH[:, task], **BY)
        assert_allclose(shown[:, task], of_task.predict_proba(NUMBERS)[:, 1], rtol=1e-6)
        assert_array_equal(model.predict(NUMBERS)[:, task], of_task.predict(NUMBERS))
    mixed = MixedClassifier(SEVERAL, clone(model)).fit(NUMBERS, BOTH, **BY)
    first = clone(SEVERAL).fit(NUMBERS, BOTH).predict_proba(NUMBERS)
    first = np.column_stack([task[:, 1] for task in first])
    expected = (1 - mixed.share_) * first + mixed.share_ * shown
    assert_allclose(mixed.predict_proba(NUMBERS), expected)
    assert_allclose(mixed.predict(NUMBERS), expected > 0.5)


@pytest.mark.parametrize(
    "kind",
    [
        AmplificationThresholdClassifier,
        BaseRateThresholdClassifier,
        CorpusConstraintClassifier,
        DomainIndependentClassifier,
        partial(MixedClassifier, random_state=0),
    ],
)
def test_a_column_of_labels_is_one_label(kind):
    column, given = HIRED[:, None], {} if kind is BaseRateThresholdClassifier else BY
    with warnings.catch_warnings(action="ignore"):  # scikit-learn would take a vector
        at = given if kind is CorpusConstraintClassifier else {}
        first, second = (
            kind(LINEAR).fit(NUMBERS, y, **given).predict(NUMBERS, **at) for y in (column, HIRED)
        )
        assert_array_equal(first, second)


def test_calibrated_classifiers_are_those_of_scikit_learn():
    model = DomainIndependentClassifier(GaussianNB()).fit(NUMBERS, HIRED, **BY)
    for rows, head in zip(ROWS.values(), model.estimators_, strict=True):
        alone = CalibratedClassifierCV(GaussianNB(), cv=5).fit(NUMBERS[rows], HIRED[rows])
        assert_allclose(head.predict_proba(NUMBERS), alone.predict_proba(NUMBERS))
    # Each task is calibrated on its own, whether or not the classifier takes several.
    shown = model.predict_proba(NUMBERS)[:, 1]
    for inside in (GaussianNB(), MultiOutputClassifier(GaussianNB())):
        several = DomainIndependentClassifier(inside).fit(NUMBERS, BOTH, **BY)
        assert_allclose(several.predict_proba(NUMBERS)[:, 0], shown)


def test_what_only_tells_of_the_group_is_not_learned():
    model = DomainIndependentClassifier(LogisticRegression(), sensitive="sex").fit(PEOPLE, HIRED)
    blind = LogisticRegression().fit(FEATURES, HIRED)
    women, men = (FEATURES.assign(tall=value) for value in (0.0, 1.0))
    difference = np.abs(blind.predict_proba(women) - blind.predict_proba(men)).max()
    assert difference > 0.25
    assert np.abs(model.predict_proba(women) - model.predict_proba(men)).max() < difference / 100
    # Nothing about the group is needed to predict, not even its column.
    assert_array_equal(model.predict(PEOPLE), model.predict(FEATURES))
    assert_array_equal(model.feature_names_in_, PEOPLE.columns)


@pytest.mark.parametrize("routed", [False, True])
def test_weights_of_rows_are_those_of_each_group(routed):
    weight = np.random.default_rng(0).integers(0, 3, 2000)
    rows = np.repeat(np.arange(2000), weight)
    options = {"calibration": None, "group_prior": "training"}
    inside, bayes = LogisticRegression(tol=1e-8), GaussianNB()
    repeated = DomainIndependentClassifier(clone(inside), **options)
    repeated.fit(NUMBERS[rows], HIRED[rows], sensitive_features=SEX[rows])
    with sklearn.config_context(enable_metadata_routing=routed):
        if routed:
            inside, bayes = (one.set_fit_request(sample_weight=True) for one in (inside, bayes))
        weighted = DomainIndependentClassifier(inside, **options)
        weighted.fit(NUMBERS, HIRED, **BY, sample_weight=weight)
        calibrated = DomainIndependentClassifier(bayes)  # of two tasks
        plain = clone(calibrated).fit(NUMBERS, BOTH, **BY)
        calibrated.fit(NUMBERS, BOTH, **BY, sample_weight=np.where(HIRED, 3.0, 1.0))
    assert_allclose(weighted.group_prior_, repeated.group_prior_)
    assert_allclose(weighted.predict_proba(NUMBERS), repeated.predict_proba(NUMBERS), rtol=1e-4)
    more, less = (one.predict_proba(NUMBERS)[:, 0] for one in (calibrated, plain))
    assert (more > less).all()


def test_bad_input_of_groups_classifiers():
    model = DomainIndependentClassifier(LINEAR)
    kept = ROWS["m"] | (HIRED == 0)
    with pytest.raises(ValueError, match=r"group 'f' with task 1: the group's own classifier"):
        model.fit(FEATURES[kept], HIRED[kept], sensitive_features=SEX[kept])
    kept[np.flatnonzero(~kept)[0]] = True
    rows = {"X": FEATURES[kept], "y": HIRED[kept], "sensitive_features": SEX[kept]}
    with pytest.raises(ValueError, match="Group 'f' has 1 row of task 1, and calibration needs t"):
        model.fit(**rows)
    clone(model).set_params(calibration=None).fit(**rows)


@pytest.mark.parametrize(("routing", "scoring"), [(False, "accuracy"), (True, None)])
def test_folds_of_a_classifier_that_needs_the_group_to_predict(routing, scoring):
    model = CorpusConstraintClassifier(LINEAR)
    splits = list(StratifiedKFold(3).split(NUMBERS, HIRED))
    with sklearn.config_context(enable_metadata_routing=routing):
        how = {"cv": splits, "scoring": scoring, "n_halvings": 0}
        audited = cross_audit(model, NUMBERS, HIRED, **BY, **how)
    for (train, test), result, score in zip(
        splits, audited.folds, audited.table["score"], strict=True
    ):
        own, held_out = ({"sensitive_features": SEX[rows]} for rows in (train, test))
        fitted = clone(model).fit(NUMBERS[train], HIRED[train], **own)
        y_pred = fitted.predict(NUMBERS[test], **held_out)
        auditor = DirectionalAuditor().fit(HIRED[train], **own)
        assert result.value == auditor.score(HIRED[test], y_pred, **held_out)
        assert score == np.mean(y_pred == HIRED[test])


# ------------------------------------------------------------------- pairs of group and label


def roles(n, seed):
    """Return features of people, what they do, and their sex; what they do depends on it."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    rest = np.where(rng.random(n) < 0.5, "drive", "run")
    verb = np.where(rng.random(n) < np.where(sex == "f", 0.6, 0.3), "cook", rest)
    noise = rng.normal(0, [0.8, 0.8, 0.6], (n, 3))
    return np.column_stack([sex == "m", verb == "cook", verb == "run"]) + noise, verb, sex


@pytest.mark.parametrize("margin", [0.05, 0.001])
def test_label_and_group_are_predicted_together(margin):
    X, verb, sex = roles(3000, 0)
    model = CorpusConstraintClassifier(LINEAR, margin=margin, joint=True)
    model = model.fit(X, verb, sensitive_features=sex)
    shares = {task: np.mean(sex[verb == task] == "f") for task in ("cook", "drive", "run")}
    assert model.classes_.tolist() == list(shares)
    # Alone, the classifier of pairs exaggerates the share of women among cooks.
    pairs = np.char.add(sex, verb)
    plain = LogisticRegression().fit(X, pairs).predict(X)
    cooks = plain[(plain == "fcook") | (plain == "mcook")]
    assert np.mean(cooks == "fcook") > shares["cook"] + 0.1
    y_pred, group = model.predict(X), model.predict_sensitive(X)
    for task, share in shares.items():
        assert abs(np.mean(group[y_pred == task] == "f") - share) <= margin + 1e-9
    constrained = model.constrain(X)
    ours = np.array([one + other for one, other in zip(group, y_pred, strict=True)])
    assert constrained.n_changed == np.sum(ours != plain) > 0
    assert_array_equal(constrained.sensitive_pred, group)
    # It costs little: most of what changes is undecided.
    alone = np.array([pair[1:] for pair in plain])
    assert np.mean(y_pred == verb) > np.mean(alone == verb) - 0.01
    assert np.mean(ours == pairs) > np.mean(plain == pairs) - 0.02
    of_pairs = LogisticRegression().fit(X, pairs)
    of_class = np.char.endswith(of_pairs.classes_, model.classes_[:, None].astype(str))
    assert_allclose(model.predict_proba(X), of_pairs.predict_proba(X) @ of_class.T, atol=1e-6)


def test_pairs_are_audited_in_both_directions():
    X, verb, sex = roles(3000, 0)
    model = CorpusConstraintClassifier(LINEAR, margin=0.01, joint=True)
    auditor = DirectionalAuditor("T->A", interval=None)
    audited = AuditedClassifier(model, auditor=auditor).fit(X, verb, sensitive_features=sex)
    X, verb, sex = roles(3000, 1)
    group = audited.estimator_.predict_sensitive(X)
    expected = audited.auditor_.score(verb, None, sensitive_features=sex, sensitive_pred=group)
    assert audited.audit(X, verb, sensitive_features=sex).value == pytest.approx(expected)
    assert not hasattr(CorpusConstraintClassifier(LINEAR), "predict_sensitive")
    with pytest.raises(ValueError, match="joint=True needs one label a row"):
        model.fit(X, np.eye(3000, 2, dtype=int), sensitive_features=sex)


@pytest.mark.parametrize("joint", [False, True])
def test_sets_of_tasks_keep_their_shares(joint):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 3000)
    # Both sexes have each task as often, but women more often both or none.
    first, same = rng.random(3000) < 0.5, rng.random(3000) < np.where(sex == "f", 0.65, 0.35)
    tasks = np.column_stack([first, first == same]).astype(int)
    X = np.column_stack([tasks, sex == "m"]) + rng.normal(0, [1, 1, 0.2], (3000, 3))
    learner = make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=1000))
    learner = learner if joint else MultiOutputClassifier(learner)

    def shares(predicted, group):
        """Return the share of women of each set."""
        codes = predicted @ [1, 2]
        return np.array([np.mean(group[codes == code] == "f") for code in range(4)])

    def off(sets):
        """Return a model, and how far from their shares its sets are at most."""
        model = CorpusConstraintClassifier(learner, margin=0.01, sets=sets, joint=joint)
        model.fit(X, tasks, sensitive_features=sex)
        predicted = model.predict(X, **({} if joint else {"sensitive_features": sex}))
        assert predicted.shape == tasks.shape
        group = model.predict_sensitive(X) if joint else sex
        return model, np.abs(shares(predicted, group) - shares(tasks, sex)).max()

    model, most = off(sets=True)
    assert most <= 0.01 + 1e-9
    # Of tasks alone, single sets may have other shares.
    assert joint or off(sets=False)[1] > 0.02
    names = [(), (0,), (1,), (0, 1)]
    assert set(model.ratios_.columns) == set(names)
    for name, share in zip(names, shares(tasks, sex), strict=True):
        assert model.ratios_.loc["f", [name]].item() == pytest.approx(share)
