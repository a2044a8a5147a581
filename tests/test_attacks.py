"""Leakage and DPA as they are used: properties, attackers of all kinds, inputs of all kinds."""

from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, root_mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from test_predictability import TOLD, closed, simulated

import skbiasamp
from skbiasamp import Contingency, DPAAuditor, LeakageAuditor
from skbiasamp.attackers import ExactAttacker
from skbiasamp.metrics import dataset_leakage, dpa_amplification, leakage_amplification

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
]

AUDITORS = {
    "leakage": LeakageAuditor(n_draws=2, n_resamples=19, random_state=0),
    "A->T": DPAAuditor("A->T", n_draws=2, n_resamples=19, random_state=0),
    "T->A": DPAAuditor("T->A", n_draws=2, n_resamples=19, random_state=0),
}
every_auditor = pytest.mark.parametrize("auditor", AUDITORS.values(), ids=AUDITORS)


def with_attribute(**labels):
    """Return simulated labels with a predicted attribute as well."""
    world = simulated(**labels)
    return world | {"sensitive_pred": np.roll(world["sensitive_features"], 1)}


def assert_close(value, expected):
    assert_allclose(value, expected, rtol=0, atol=1e-12)


def test_the_exact_attacker_of_the_library_is_the_public_one():
    """attacker="exact" counts cells; ExactAttacker() as an estimator learns from them."""
    world = simulated(400)
    for metric in ("leakage", "A->T"):
        options = {"cv": 3, "n_draws": 3, "equalize": None, "random_state": 0}
        fast = closed(world, metric, **options)
        for attacker in (ExactAttacker(), DecisionTreeClassifier()):
            assert_close(closed(world, metric, attacker=attacker, **options), fast)


def test_the_same_seed_gives_the_same_numbers_whatever_the_jobs():
    world = simulated(120)
    before = np.random.get_state()  # noqa: NPY002
    for metric, attacker in (
        ("leakage", "exact"),
        ("A->T", "exact"),
        ("leakage", DecisionTreeClassifier(max_features=1)),
    ):
        value_of = partial(closed, world, metric, attacker=attacker, cv=3, n_draws=3)
        value = value_of(random_state=3)
        with joblib.parallel_config(backend="threading"):
            assert value_of(random_state=3, n_jobs=2) == value
        for make in (np.random.RandomState, np.random.default_rng):
            one = make(0)
            values = [value_of(random_state=one) for _ in range(2)]
            assert values[0] != values[1]  # the next numbers, not the same ones
            assert value_of(random_state=make(0)) == values[0]
        assert len({value_of(random_state=seed) for seed in (3, 4, None, None)}) == 4
    after = np.random.get_state()  # noqa: NPY002
    assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


class Spy(DecisionTreeClassifier):
    """A tree that notes its seed; all of them share one list."""

    seeds: list = []  # noqa: RUF012  shared on purpose

    def fit(self, X, y, sample_weight=None):
        self.seeds.append(self.random_state)
        return super().fit(X, y, sample_weight)


def test_every_draw_fold_and_target_has_an_attacker_of_its_own():
    for metric, n_tasks, targets in (
        (dpa_amplification, None, 1),
        (dpa_amplification, 3, 3),
        (leakage_amplification, None, 1),
    ):
        Spy.seeds.clear()
        attacker = Spy()
        world = simulated(200, n_tasks=n_tasks)
        metric(**world, attacker=attacker, cv=4, n_draws=3, random_state=0)
        half = 3 * 4 * targets
        assert len(set(Spy.seeds[:half])) == half
        assert Spy.seeds[:half] == Spy.seeds[half:]  # both attackers of a pair start alike
        assert not hasattr(attacker, "tree_")


def test_training_labels_alone_only_measure_dataset_leakage():
    world, train = with_attribute(n=200), {"sensitive_features": ["f", "m", "m"] * 20}
    for auditor in AUDITORS.values():
        alone = auditor.audit(**world)
        known = clone(auditor).fit([0, 1] * 30, **train).audit(**world)
        assert_frame_equal(alone.table, known.table)
        assert "dataset_leakage" not in alone.statistics
        assert ("dataset_leakage" in known.statistics) == (auditor.metric == "leakage")


def test_an_estimator_without_weights_sees_the_rows_that_they_stand_for():
    world = {"y_true": [0] * 60 + [1] * 120, "y_pred": np.tile([0, 1], 90)}
    world["sensitive_features"] = np.repeat(["a", "b"], [60, 120])
    options = {"cv": 5, "n_draws": 2, "equalize": None, "random_state": 0}
    for scale in (1, 1e-3):  # of weights that are shares, too
        weighted = world | {"sample_weight": np.full(180, scale)}
        value = dpa_amplification(**weighted, attacker=KNeighborsClassifier(5), **options)
        assert value == pytest.approx((0.5 - 1) / 1.5, abs=0.07)


@pytest.mark.parametrize(
    ("attacker", "name"),
    [
        (make_pipeline(StandardScaler(), KNeighborsClassifier(3)), "KNeighborsClassifier"),
        (LinearSVC(), "LinearSVC"),
        pytest.param("mlp", "MLPAttacker", marks=pytest.mark.torch),
    ],
)
def test_attackers_of_scikit_learn_find_what_is_plain_to_see(attacker, name):
    """Predictions that are the attribute, and labels that are chance."""
    if attacker == "mlp":
        pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    group = rng.choice(["f", "m"], 300)
    world = {"y_true": rng.choice(["no", "yes"], 300), "sensitive_features": group}
    how = {"cv": 2, "n_draws": 1} if attacker == "mlp" else {"n_draws": 5}
    auditor = LeakageAuditor(attacker=attacker, n_resamples=19, random_state=0, **how)
    result = auditor.audit(**world, y_pred=np.where(group == "f", "yes", "no"))
    assert result.table["quality_model"].item() == 1
    assert result.table["quality_data"].item() == pytest.approx(0.5, abs=0.12)
    assert result.low > 0.3
    assert result.statistics["attacker"] == name


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_logistic_regressions_side_by_side_are_those_of_scikit_learn(scaled, n_groups):
    rng, n = np.random.default_rng(0), 240
    group = rng.integers(0, n_groups, n)
    label = (rng.random(n) < 0.3 + 0.2 * group).astype(int)
    score = np.clip(0.4 * label + 0.4 * rng.random(n) + 0.05 * group, 0, 1)
    # The second number is constant in all folds of training rows but one.
    score = np.column_stack([score, 3 + 5 * (np.arange(n) == 7)])
    how = {"sensitive_features": group.astype(str), "sample_weight": rng.integers(1, 4, n)}
    results = []
    # Only those by default are fitted side by side: to the optimum, which a low `tol` nears.
    for options in ({}, {"tol": 1e-11, "max_iter": 10_000}):
        attacker = LogisticRegression(**options)
        attacker = make_pipeline(StandardScaler(), attacker) if scaled else attacker
        auditor = LeakageAuditor(
            attacker=attacker, quality="inverse_log_loss", n_draws=3, random_state=0
        )
        results.append(auditor.audit(label, score, **how))
    for name in ("value", "low", "high"):
        own, other = (getattr(result, name) for result in results)
        assert own == pytest.approx(other, rel=1e-5), name
    assert results[0].value != 0


def test_auto_says_which_attacker_it_was():
    world, wide = simulated(200), simulated(200, n_tasks=30)
    few = {name: one[:39] for name, one in world.items()}
    for auditor, rows, name in (
        (LeakageAuditor, world, "exact"),
        (LeakageAuditor, wide, "LogisticRegression"),
        (LeakageAuditor, few, "LogisticRegression"),
        (DPAAuditor, wide, "exact"),  # the attribute has two values, however many labels are told
    ):
        result = auditor(n_draws=1, interval=None, random_state=0).audit(**rows)
        assert result.statistics["attacker"] == name


def test_continuous_labels_and_attributes_are_told_by_regressors():
    """Inverse RMSE, against the means of what is known."""
    rng = np.random.default_rng(0)
    group, number = rng.integers(2, size=500), rng.normal(size=500)
    leaning = 2.0 * group + rng.normal(size=500)
    guess = (number + 0.5 * rng.normal(size=500) > 0).astype(int)
    options = {"quality": "inverse_rmse", "equalize": None, "interval": None, "random_state": 0}
    dpa = DPAAuditor("T->A", attacker=KNeighborsRegressor(50), **options)
    of_number = {"y_true": group, "sensitive_features": number}
    for result, target, known in (
        (DPAAuditor(**options).audit(number, leaning, sensitive_features=group), leaning, group),
        (LeakageAuditor(**options).audit(**of_number, y_pred=guess), number, guess),
        (dpa.audit(**of_number, sensitive_pred=leaning), leaning, group),
    ):
        mean = pd.Series(target).groupby(known).transform("mean")
        inside = 1 / root_mean_squared_error(target, mean)
        # Held out, a mean of n rows has a variance of its own: 1 + 1/n of the other one's.
        assert 0.98 * inside < result.table["quality_model"].item() < inside
        assert result.table["quality_data"].item() == pytest.approx(1 / number.std(), rel=0.05)
    result = DPAAuditor(**options).set_params(interval="bootstrap", n_resamples=99)
    result = result.audit(number, leaning, sensitive_features=group)
    assert result.statistics["attacker"] == "LinearRegression"
    assert result.low < float(result) < result.high


def test_numbers_are_equalised_with_noise_as_large_as_the_errors():
    rng = np.random.default_rng(0)
    group = rng.choice(["f", "m"], 4000)
    task = 2.0 * (group == "f") + rng.normal(size=4000)
    predicted = task + rng.normal(scale=1.5, size=4000)
    result = DPAAuditor(quality="inverse_rmse", interval=None, n_draws=20, random_state=0).audit(
        task, predicted, sensitive_features=group
    )
    expected = 1 / np.sqrt(1 + 1.5**2)
    assert result.table["quality_data"].item() == pytest.approx(expected, rel=0.03)
    assert float(result) == pytest.approx(0, abs=0.01)


def test_scores_of_few_values_are_the_labels_they_stand_for():
    """They are as good as labels, for the table as well as for what is told."""
    rng = np.random.default_rng(0)
    two, tasks = simulated(200), simulated(200, n_tasks=4)
    p, columns = two["y_pred"], two["y_pred"][:, None]
    task, predicted = rng.integers(3, size=(2, 200))
    three = two | {"y_true": task, "y_pred": predicted}
    for world, scores in [
        (two, np.where(p, 1.7, -0.4)),  # logits
        (two, np.where(p, 0.9, 0.2).astype(np.float32)),
        (two, np.where(columns, [0.1, 0.9], [0.8, 0.2])),
        (two, np.eye(2, dtype=int)[p]),
        (three, 5 * np.eye(3)[predicted] - 2),
        (tasks, 3.0 * tasks["y_pred"] - 1),
    ]:
        for metric in ("leakage", "A->T"):
            assert_close(closed(world | {"y_pred": scores}, metric), closed(world, metric))
    world, hard = with_attribute(n=200), two["sensitive_features"] == "m"
    value = closed(world | {"sensitive_pred": np.where(hard, 0.8, 0.3)}, "T->A")
    assert_close(value, closed(world | {"sensitive_pred": np.where(hard, "m", "f")}, "T->A"))


def test_several_attributes_are_told_by_an_attacker_each():
    world = simulated(400)
    both = pd.DataFrame({"sex": world.pop("sensitive_features")})
    both["age"] = np.tile(["old", "young"], 200)
    options = {"equalize": "accuracy", "cv": None, "interval": None}
    result = LeakageAuditor(groups="marginal", **options).audit(**world, sensitive_features=both)
    assert result.table["group"].tolist() == ["sex=f", "sex=m", "age=old", "age=young"]
    for column, rows in (("sex", [0, 1]), ("age", [2, 3])):
        own = LeakageAuditor(**options).audit(**world, sensitive_features=both[column])
        assert_close(result.table["amplification"][rows], float(own))


@every_auditor
def test_runs_of_a_model_are_averaged(auditor):
    world = with_attribute(n=100)
    one, attribute = world.pop("y_pred"), world.pop("sensitive_pred")
    runs, attributes = [one, np.roll(one, 5)], [attribute, np.roll(attribute, 1)]
    result = auditor.audit_runs(**world, y_preds=runs, sensitive_preds=attributes)
    each = [
        auditor.audit(**world, y_pred=run, sensitive_pred=guess)
        for run, guess in zip(runs, attributes, strict=True)
    ]
    values = [float(single) for single in each]
    assert float(result) == pytest.approx(np.mean(values), abs=1e-12)
    assert result.statistics["between_run_sd"] == pytest.approx(np.std(values, ddof=1), abs=1e-12)
    # Quantiles of Student's t, which are as far below as above.
    assert 0 < result.high - result.value == pytest.approx(result.value - result.low)
    for name in ("quality_model", "delta", "amplification"):
        expected = np.mean([single.table[name] for single in each], axis=0)
        assert_allclose(result.table[name], expected, atol=1e-12)
    # Folds and perturbations are the same for all runs, so more runs do not average them out.
    alike = auditor.audit_runs(**world, y_preds=[one] * 3, sensitive_preds=[attribute] * 3)
    error = alike.statistics["data_standard_error"]
    assert error == pytest.approx(each[0].statistics["standard_error"], rel=1e-9)


def test_tasks_have_a_row_each_and_the_value_is_their_mean():
    world = simulated(200, n_tasks=3)
    result = DPAAuditor(n_draws=3, n_resamples=49, random_state=0).audit(**world)
    assert result.table["task"].tolist() == [0, 1, 2]
    assert float(result) == pytest.approx(result.table["amplification"].mean(), abs=1e-12)
    assert (result.table["p_adjusted"] >= result.table["p_value"]).all()
    table = DPAAuditor(quality="accuracy", cv=None, interval=None).audit(**world).table
    for task in range(3):  # one alone is told no worse than beside others
        alone = world | {name: world[name][:, task] for name in TOLD[:2]}
        assert_close(closed(alone, "A->T"), table["amplification"][task])


def test_trained_attackers_are_as_uncertain_as_the_exact_one():
    """Far from ties all tables are the same, and what is left is which rows they are judged on."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=600)
    task = np.where(rng.random(600) < 0.8, group, 1 - group)
    predicted = np.where(rng.random(600) < 0.9, group, 1 - group)
    labels = {"y_true": task, "y_pred": predicted, "sensitive_features": group}
    errors = []
    for attacker in ("exact", DecisionTreeClassifier()):
        auditor = DPAAuditor(attacker=attacker, equalize=None, n_draws=10, n_resamples=600)
        results = [auditor.set_params(random_state=seed).audit(**labels) for seed in range(4)]
        # Which folds are drawn makes 0.97 to 1.13 of it.
        errors.append(np.mean([result.statistics["standard_error"] for result in results]))
    right = task == group, predicted == group
    means = [one.mean() for one in right]
    gradient = np.array([-2 * means[1], 2 * means[0]]) / sum(means) ** 2
    expected = np.sqrt(gradient @ np.cov(right) @ gradient / 600)
    assert_allclose(errors, expected, rtol=0.1)


@pytest.mark.filterwarnings("error::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("attacker", ["exact", LogisticRegression(), GaussianNB()])
def test_what_has_one_value_is_told_by_chance_and_said_so(attacker):
    world = simulated(60)
    options = {"attacker": attacker, "n_draws": 1, "random_state": 0}
    constant = {"y_true": np.zeros(60, int), "y_pred": np.zeros(60, int)}
    columns = {name: np.c_[world[name], np.zeros(60, int)] for name in TOLD[:2]}
    for equalize in ("accuracy", "f1", None):
        options |= {"equalize": equalize}
        with pytest.warns(UndefinedMetricWarning, match="has one value only") as caught:
            assert dpa_amplification(**(world | constant), **options) == 0
        assert caught[0].filename == __file__
        auditor = LeakageAuditor(**options, n_resamples=9)
        with pytest.warns(UndefinedMetricWarning, match="has one value only") as caught:
            assert auditor.score(**world | {"sensitive_features": ["f"] * 60}) == 0
        assert caught[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match="The target 1 has one value only"):
        table = DPAAuditor(**options, n_resamples=9).audit(**(world | columns)).table
    assert (table["amplification"][1], table["quality_model"][1]) == (0, 1)


class NoPredict(BaseEstimator):
    def fit(self, X, y):
        return self


GOOD = simulated(60)
NUMBERS = np.linspace(0.1, 1.3, 60)
WIDE = {name: simulated(60, n_tasks=3)[name] for name in TOLD[:2]}
FEW = {name: one[:20] for name, one in GOOD.items()}
OTHERS = {"sensitive_features": ["x", "y"] * 30}


def dpa(**changed):
    return dpa_amplification(**{**GOOD, "random_state": 0, "n_draws": 2, **changed})


def leakage(**changed):
    return leakage_amplification(**GOOD | changed)


def fitted(**changed):
    auditor = LeakageAuditor().fit(GOOD["y_true"], sensitive_features=GOOD["sensitive_features"])
    return auditor.audit(**GOOD | changed)


of_numbers = partial(dpa, quality="inverse_rmse")
BAD = [
    (lambda: dpa(quality=lambda y, p: -1.0), r"<lambda> returned -1: .*never.*take 1 / loss"),
    (lambda: dpa(quality=lambda y, p: float("nan")), "quality=<lambda> returned nan"),
    (lambda: dpa(attacker=NoPredict()), "implementing 'fit' and 'predict'. Got NoPredict"),
    (lambda: dpa(attacker=GaussianNB), r"got the class .*\. Pass an instance: GaussianNB\(\)"),
    (lambda: dpa(attacker=DecisionTreeRegressor()), "must be a classifier, since the target is a"),
    (lambda: of_numbers(attacker=GaussianNB()), "must be a regressor, since the target is cont"),
    (lambda: of_numbers(attacker="exact"), "'exact' predicts classes, and the target is cont"),
    (lambda: of_numbers(**WIDE), "is about one number a row, and there are 3 columns"),
    (lambda: leakage(quality="inverse_rmse"), r"'inverse_rmse' is about numbers.*'[fm]'"),
    (lambda: dpa(y_true=NUMBERS, y_pred=NUMBERS), "is continuous.*Use quality='inverse_rmse'"),
    (lambda: dpa(cv=None, attacker=DecisionTreeClassifier()), "here is DecisionTreeClassifier"),
    (lambda: dpa(cv=None, **FEW), "use cv=5 .or attacker='exact', though inputs have fewer"),
    (lambda: dpa(attacker=LinearSVC(), quality="inverse_log_loss"), "LinearSVC has no predict_p"),
    (lambda: dpa(y_pred=None), r"DPA amplification compares .* pass y_pred"),
    (lambda: dpa(direction="T->A"), r"pass sensitive_pred"),
    (lambda: leakage(fold=True, quality="f1"), r"fold=True .* got quality='f1'"),
    (lambda: leakage(cv=None, **simulated(60, n_tasks=13)), "12 labels at most can be perturbed"),
    (lambda: fitted(**OTHERS), "groups 'x' and 'y' are in the audited data but were not"),
    (lambda: fitted(**WIDE), "y_true has 3 columns but the training labels had one"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_an_error_that_helps(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# Both attackers of a pair learn from rows of the same origin, on every path to an auditor:
# 100 rows of each label in each group to learn from; 150/50 and 50/150 to be judged on. With
# labels of the training rows and predictions of the test rows, a model that is always right once
# had leakage 0.25 and DPA 0.20.
TRAIN = {"y_true": np.tile([0, 1], 200), "sensitive_features": np.repeat(["f", "m"], 200)}
TEST = {
    "y_true": np.repeat([0, 1, 0, 1], [150, 50, 50, 150]),
    "sensitive_features": np.repeat(["f", "m"], 200),
}
ALONE = {"y_train": TRAIN["y_true"], "sensitive_train": TRAIN["sensitive_features"]}


def test_training_rows_teach_a_function_if_they_have_predictions():
    right = TEST | {"y_pred": TEST["y_true"]}
    predicted = TEST | {"y_pred": (TEST["sensitive_features"] == "m").astype(int)}
    train = Contingency.from_labels(
        **TRAIN, y_pred=TRAIN["y_true"], sensitive_pred=TRAIN["sensitive_features"]
    )
    closed = {"cv": None, "equalize": None}
    for metric in (leakage_amplification, dpa_amplification):
        assert metric(**right, **ALONE, random_state=0) == 0
        assert metric(**predicted, **closed) > 0.1
        # What was learnt from the training rows is that groups and labels are independent.
        assert metric(**predicted, y_train=train, **closed) == 0


def test_scores_are_cross_fitted_where_training_predictions_are_labels():
    labels, train = ({**rows, "y_pred": rows["y_true"]} for rows in (TEST, TRAIN))
    train = Contingency.from_labels(**train)
    scores = np.where(TEST["y_true"] == 1, 1.7, -0.4)
    report = skbiasamp.audit(**labels, y_score=scores, y_train=train, random_state=0)
    assert report["leakage"].table["quality_data"].item() == pytest.approx(0.5)
    assert report["leakage of scores"].value == 0
    assert report["leakage of scores"].table["quality_data"].item() == pytest.approx(0.75)


def test_tables_learnt_from_training_rows_are_judged_on_test_rows():
    """Both attackers by hand: tables of the training rows, applied to the test rows."""
    rng = np.random.default_rng(5)

    def rows(n, lean):
        group = rng.integers(2, size=n)
        task = rng.integers(3, size=n)
        return task, np.where(rng.random(n) < lean, 2 * group, task), group

    train, test = rows(300, 0.5), rows(200, 0.3)
    auditor = LeakageAuditor(attacker="exact", equalize=None, cv=None, interval=None)
    auditor.fit(Contingency.from_labels(*train[:2], sensitive_features=train[2]))
    result = auditor.audit(*test[:2], sensitive_features=test[2])
    for side, column in enumerate(("quality_data", "quality_model")):
        shares = pd.crosstab(train[side], train[2], normalize="columns")
        expected = balanced_accuracy_score(test[2], shares.idxmax(axis=1)[test[side]])
        assert result.table[column].item() == pytest.approx(expected, abs=1e-12)
        known = {"y_train": train[side], "sensitive_train": train[2]}
        leakage = dataset_leakage(test[side], sensitive_features=test[2], **known)
        assert leakage == pytest.approx(expected, abs=1e-12)
    assert result.statistics["dataset_leakage"] == result.table["quality_data"].item()


@pytest.mark.parametrize("attacker", ["exact", DecisionTreeClassifier()])
@pytest.mark.parametrize("errors", [(0.0, 0.4), (0.4, 0.0)])
def test_labels_of_each_origin_are_perturbed_as_often_as_the_model_errs_there(attacker, errors):
    """By log loss, which depends on the shares that were learnt, and on the labels judged."""
    rng = np.random.default_rng(6)
    sides, rates = [], []
    for error in errors:
        group = rng.integers(2, size=2000)
        task = np.where(rng.random(2000) < 0.7, group, rng.integers(3, size=2000))
        moved = (task + rng.integers(1, 3, size=2000)) % 3
        sides.append((task, np.where(rng.random(2000) < error, moved, task), group))
        rates.append((sides[-1][0] != sides[-1][1]).mean())
    options = {"quality": "inverse_log_loss", "attacker": attacker, "interval": None}
    exact = attacker == "exact"
    options |= {"cv": None} if exact else {"n_draws": 60, "random_state": 0}
    train, test = (Contingency.from_labels(t, p, sensitive_features=a) for t, p, a in sides)
    result = LeakageAuditor(**options).fit(train).audit(test)
    tables = []
    for (task, _, group), rate in zip(sides, rates, strict=True):
        table = pd.crosstab(task, group).to_numpy() * (1 - rate * 3 / 2)
        table = table + rate / 2 * np.bincount(group)
        tables.append(table / table.sum(axis=0))
    learnt, judged = tables
    shares = learnt / learnt.sum(axis=1, keepdims=True)
    expected = -2 / (judged * np.log(shares)).sum()
    found = result.table["quality_data"].item()
    assert found == pytest.approx(expected, rel=1e-12 if exact else 0.01)
    assert result.statistics["flip_rate"] == pytest.approx(rates[1], abs=1e-12)


def test_both_attackers_learn_from_the_same_resample():
    """A model with the labels' own predictions under other names differs in no resample."""
    rng = np.random.default_rng(7)
    group, task = rng.integers(2, size=(2, 80))
    train = Contingency.from_labels(task, task, sensitive_features=group)
    auditor = LeakageAuditor(n_resamples=50, random_state=0).fit(train)
    result = auditor.audit(task, task, sensitive_features=group)
    assert result.low == result.high == 0
    assert result.statistics["standard_error"] == 0


@pytest.mark.parametrize("leaf", [1, 20])
def test_leaves_of_so_many_rows_are_of_rows(leaf):
    """Half of the predictions are the group: 75 % of guesses are right, in leaves of any size."""
    group, label = np.repeat([0, 1], 500), np.tile([0, 1], 500)
    predicted = np.where(np.arange(1000) // 2 % 2, group, label)
    attacker = DecisionTreeClassifier(min_samples_leaf=leaf)
    result = LeakageAuditor(attacker=attacker, random_state=0).audit(
        label, predicted, sensitive_features=group
    )
    assert result.table["quality_model"].item() == pytest.approx(0.75, abs=0.03)
    assert result.verdict == "reveals more"
