"""Dataset leakage at a performance: labels with random errors, against enumeration and by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import dataset_leakage

RNG = np.random.default_rng(0)
GROUP = np.repeat(["f", "m"], 500)


def labels(n_tasks, strength=0.25):
    """Return 0/1 labels of 1,000 rows, each more frequent among women."""
    share = np.where(GROUP[:, None] == "f", 0.5 + strength, 0.5 - strength)
    return (RNG.random((1000, n_tasks)) < share).astype(int)


@settings(max_examples=60)
@given(
    arrays(int, st.tuples(st.integers(2, 4), st.integers(2, 3)), elements=st.integers(1, 5)),
    st.floats(0.5, 1),
)
def test_one_label_is_wrong_as_often_as_asked_for(table, at):
    """`table` counts rows by label and group; the best guess of each wrong label is enumerated."""
    label, group = (np.repeat(axis.ravel(), table.ravel()) for axis in np.indices(table.shape))
    how = {"balanced": False, "cv": None, "attacker": "exact"}
    value = dataset_leakage(label, sensitive_features=group, at=at, **how)
    n = len(table)
    moved = np.full((n, n), (1 - at) / (n - 1))
    np.fill_diagonal(moved, at)
    assert value == pytest.approx((moved @ table).max(axis=1).sum() / table.sum(), abs=1e-12)


def test_several_labels_have_the_f1_asked_for():
    """Every pattern of three labels becomes every other, with the rate that gives the mean F1."""
    task, woman = labels(3), GROUP == "f"

    def f1(rate):
        right, all_true = task.sum(axis=0) * (1 - rate), task.sum(axis=0)
        return np.mean(2 * right / (all_true + right + (len(task) - all_true) * rate))

    patterns = np.array([*product((0, 1), repeat=3)])
    n_wrong = (task[:, None] != patterns).sum(axis=2)
    for at in (0.95, 0.8, 0.7):
        rate = brentq(lambda rate, at=at: f1(rate) - at, 0, 0.5)
        chance = rate**n_wrong * (1 - rate) ** (3 - n_wrong)
        shares = np.stack([chance[woman].mean(axis=0), chance[~woman].mean(axis=0)])
        value = dataset_leakage(task, sensitive_features=GROUP, at=at, cv=None)
        assert value == pytest.approx(shares.max(axis=0).sum() / 2, abs=1e-9)


def test_drawn_errors_reveal_as_much_as_the_expected_ones():
    task = labels(1)[:, 0]
    closed = dataset_leakage(task, sensitive_features=GROUP, at=0.8, cv=None)
    drawn = dataset_leakage(task, sensitive_features=GROUP, at=0.8, n_draws=200, random_state=0)
    assert closed == pytest.approx(0.5 + (task[:500].mean() - task[500:].mean()) * 0.3, abs=1e-12)
    assert drawn == pytest.approx(closed, abs=0.005)


def test_a_list_gives_a_curve():
    task, how = labels(2), {"sensitive_features": GROUP, "random_state": 3}
    curve = dataset_leakage(task, at=[1, 0.8, 0.6], **how)
    assert curve.tolist() == [dataset_leakage(task, at=at, **how) for at in (1.0, 0.8, 0.6)]
    assert curve[0] == dataset_leakage(task, **how)
    assert (np.diff(curve) < 0).all()
    assert dataset_leakage(task, at=[0.8], **how).shape == (1,)


@pytest.mark.parametrize(("n_tasks", "with_training"), [(2, True), (13, False), (13, True)])
def test_trained_attackers_see_labels_with_errors(n_tasks, with_training):
    """The same as flipping the labels by hand; thirteen are flipped row by row."""
    task, learned = labels(n_tasks, 0.15), labels(n_tasks, 0.15)
    how = {"sensitive_features": GROUP, "attacker": LogisticRegression()}

    def leakage(judged, trained, **options):
        train = {"y_train": trained, "sensitive_train": GROUP} if with_training else {}
        return dataset_leakage(judged, **how, **train, **options)

    rng = np.random.default_rng(1)
    flipped = []
    for seed in range(20):
        wrong = [np.where(rng.random(y.shape) < 0.25, 1 - y, y) for y in (task, learned)]
        flipped.append(leakage(*wrong, n_draws=1, random_state=seed))
    value = leakage(task, learned, at=0.75, equalize="accuracy", n_draws=20, random_state=0)
    assert value == pytest.approx(np.mean(flipped), abs=0.016)
    assert leakage(task, learned, random_state=0) > value + 0.02


def test_wide_labels_that_an_attacker_sees_have_the_f1_asked_for():
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(np.asarray(X))
            return super().fit(X, y, sample_weight)

    task = (RNG.random((1000, 14)) < 0.1).astype(int)
    dataset_leakage(
        task, sensitive_features=GROUP, y_train=task, sensitive_train=GROUP,
        attacker=Spy(), at=0.6, n_draws=4, random_state=0,
    )  # fmt: skip
    share, found = task.mean(axis=0), np.mean([X.mean(axis=0) for X in seen], axis=0)
    rate = np.mean((found - share) / (1 - 2 * share))  # of n labels, this share was flipped
    assert np.mean(2 * share * (1 - rate) / (share + found)) == pytest.approx(0.6, abs=0.01)


def test_labels_that_no_errors_can_make_are_named():
    task = labels(1)[:, 0]
    with pytest.warns(UncertaintyWarning, match="labels with a score of 0.3 are worse than random"):
        value = dataset_leakage(task, sensitive_features=GROUP, at=0.3, cv=None)
    assert value == pytest.approx(0.5)


@pytest.mark.parametrize("at", [1.2, [True], [[0.5]], np.nan])
def test_a_performance_is_a_share(at):
    with pytest.raises(ValueError, match="at must be shares between 0 and 1"):
        dataset_leakage([0, 1], sensitive_features=["f", "m"], at=at)
    with pytest.raises(ValueError, match="at is a performance of labels, and y_true holds numbers"):
        dataset_leakage(RNG.random(1000), sensitive_features=GROUP, at=0.9)


@pytest.mark.torch
def test_validation_rows_get_errors_too():
    pytest.importorskip("torch")
    from skbiasamp.attackers import MLPAttacker

    seen = []

    class Spy(MLPAttacker):
        def fit_many(self, X, y, sample_weight=None, **options):
            seen.append((X, options["validation"]))
            return super().fit_many(X, y, sample_weight, **options)

    for n_tasks in (1, 13):
        task = np.zeros((1000, n_tasks), int)
        task[:2] = 1
        y = task[:, 0] if n_tasks == 1 else task
        dataset_leakage(
            y, sensitive_features=GROUP, y_train=y, sensitive_train=GROUP, validation=(y, GROUP),
            attacker=Spy((2,), max_epochs=1, early_stopping="accuracy"), at=0.8,
            equalize="accuracy", n_draws=1, random_state=0,
        )  # fmt: skip
        inputs, _, weight = seen[-1][1]
        share = np.average(np.asarray(inputs)[:, -1], weights=weight)
        assert share == pytest.approx(0.2, abs=0.06)  # all labels were 0 but for two rows
