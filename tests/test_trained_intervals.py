"""Intervals of trained attackers count how much training varies."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import Contingency, LeakageAuditor
from skbiasamp.attackers.attack_run import redrawn
from skbiasamp.inference.runs import of_draws

STUMP = DecisionTreeClassifier(max_depth=1)


def people(seed, n=100, rows=5):
    """Return people of equal rows, whose group is random: nothing can be amplified."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rows)
    group, label, wrong = (rng.random((3, n)) < np.array([[0.5], [0.5], [0.15]]))[:, person]
    return label.astype(int), (label ^ wrong).astype(int), group.astype(int), person


def test_a_random_group_is_no_alarm():
    """Attackers that stay what they are in resamples find 15 alarms in these 40 data sets."""
    alarms = 0
    for seed in range(40):
        label, predicted, group, person = people(seed)
        auditor = LeakageAuditor(attacker=STUMP, n_draws=1, n_resamples=49, random_state=seed)
        result = auditor.audit(label, predicted, sensitive_features=group, clusters=person)
        alarms += result.p_value < 0.05
    assert alarms <= 4


def test_an_empty_fold_has_no_quality():
    label, predicted, group, _ = people(3, n=300, rows=1)
    cells = Contingency.from_labels(label, predicted, sensitive_features=group)
    auditor = LeakageAuditor(attacker=STUMP, equalize="accuracy", n_draws=2)
    trained = auditor._run(cells, np.random.default_rng(0)).trained
    assert trained.by_fold() is not None
    folds = trained.folds.copy()
    folds[1, 1] += folds[1, 0]
    folds[1, 0] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert replace(trained, folds=folds).by_fold() is None


def test_each_fold_is_scored_by_itself():
    """Without perturbation the qualities of folds are the shares of rows that an attacker gets."""
    label, predicted, group, _ = people(3, n=300, rows=1)
    cells = Contingency.from_labels(label, predicted, sensitive_features=group)
    auditor = LeakageAuditor(attacker=STUMP, equalize=None, balanced=False, n_draws=2)
    done = auditor._run(cells, np.random.default_rng(0))
    again = redrawn(done, 9, np.random.default_rng(1))
    trained = done.trained
    attack = trained.pair.model
    for draw, folds in enumerate(trained.folds):
        right = np.zeros(len(folds))
        for fold, weight in enumerate(folds):
            table = attack.tables(weight)[0]  # inputs x groups
            right[fold] = (table * trained.predicted[1][draw][0, fold, 0]).sum() / weight.sum()
        np.testing.assert_allclose(again.folds.model[draw, :, 0], right)
        share = folds.sum(axis=1) / folds.sum()
        whole = done.qualities.model[draw, 0]
        assert share @ right == pytest.approx(whole)


def test_the_variance_of_training_is_that_of_bouckaert_and_frank():
    rng = np.random.default_rng(0)
    seen, folds = rng.normal(size=(3, 1)), rng.normal(0, 2, size=(3, 5, 1))
    still = np.zeros((50, 1, 1))
    low, high, p_value, error = of_draws(seen, seen, still, folds, confidence_level=0.95)
    trained = (1 / 15 + 1 / 4) * folds.ravel().var(ddof=1)
    drawn = seen.var(ddof=1) / 3
    assert error[0] ** 2 == pytest.approx(trained + drawn)
    df = (trained + drawn) ** 2 / (trained**2 / 14 + drawn**2 / 2)
    reach = stats.t.isf(0.025, df) * error[0]
    assert (high - low)[0] / 2 == pytest.approx(reach)
    assert p_value[0] == pytest.approx(2 * stats.t.sf(abs(seen.mean()) / error[0], df))


def test_rows_vary_as_what_cuts_of_a_resample_share():
    """Each value is a number of its rows plus one of its cut: only the first varies with rows."""
    rng = np.random.default_rng(0)
    by_rows, by_cuts = rng.normal(0, 3, (20_000, 1, 2)), rng.normal(0, 4, (20_000, 2, 2))
    no_draws, seen = np.zeros((1, 2)), np.full((1, 2), 0.1)
    *_, error = of_draws(seen, no_draws, by_rows + by_cuts, confidence_level=0.95)
    np.testing.assert_allclose(error, 3, rtol=0.05)
    *_, error = of_draws(seen, no_draws, by_rows, confidence_level=0.95)
    np.testing.assert_allclose(error, by_rows.std(axis=0, ddof=1)[0])


def test_a_fold_without_rows_or_without_errors_counts_for_nothing():
    seen, resamples = np.array([[0.1], [0.2]]), np.random.default_rng(0).normal(size=(50, 1, 1))
    without = of_draws(seen, seen, resamples, confidence_level=0.95)
    folds = np.full((2, 5, 1), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = of_draws(seen, seen, resamples, folds, confidence_level=0.95)
    np.testing.assert_allclose(found, without)
