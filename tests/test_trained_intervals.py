"""Intervals of trained attackers count how much training varies."""

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import LeakageAuditor

# Internal: the formula of Bouckaert and Frank, on numbers whose variance is known.
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
