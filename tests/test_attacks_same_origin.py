"""Both attackers of a pair learn from rows of the same origin, on every path to an auditor."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import Contingency, LeakageAuditor
from skbiasamp.metrics import dataset_leakage, dpa_amplification, leakage_amplification

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
        for labels in (right, right | {"y_pred": 1 - TEST["y_true"]}):
            options = {"n_draws": 2, "random_state": 0}
            alone = metric(**labels, **options)
            assert metric(**labels, **ALONE, **options) == alone
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


def test_trained_attackers_learn_from_training_rows_of_several_labels():
    """Thirteen labels are perturbed row by row, each origin at its own rate."""
    rng = np.random.default_rng(8)

    def rows(n, error):
        group = rng.integers(2, size=n)
        task = (rng.random((n, 13)) < np.where(group, 0.65, 0.35)[:, None]).astype(int)
        return task, np.where(rng.random(task.shape) < error, 1 - task, task), group

    train, test = rows(600, 0.0), rows(600, 0.3)
    options = {"attacker": LogisticRegression(), "interval": None, "random_state": 0}
    auditor = LeakageAuditor(equalize="accuracy", n_draws=3, **options)
    auditor.fit(Contingency.from_labels(*train[:2], sensitive_features=train[2]))
    result = auditor.audit(*test[:2], sensitive_features=test[2])
    assert abs(result.value) < 0.03
    known = {"y_train": train[0], "sensitive_train": train[2], "attacker": LogisticRegression()}
    learnt = dataset_leakage(test[0], sensitive_features=test[2], **known, n_draws=1)
    auditor.set_params(equalize=None, n_draws=1)
    clean = auditor.audit(*test[:2], sensitive_features=test[2]).table["quality_data"].item()
    assert clean == pytest.approx(learnt, abs=1e-12)
    # Perturbed labels reveal less.
    assert 0.53 < result.table["quality_data"].item() < clean - 0.02
