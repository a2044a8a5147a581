"""Intervals and tests of values and pairs, and p-values that are adjusted."""

import numpy as np
import pytest
from by_hand import AUDITED, METRICS, audit, fitted, numbers, perfect, rows, world
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.inference import adjust_p_values, paired_p_values

# Internal: the formula of Bouckaert and Frank, on numbers whose variance is known.
from skbiasamp.inference.runs import of_draws

every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
pytestmark = pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")


@every_metric
def test_an_interval_is_student_s_t(metric):
    for level in (0.5, 0.9, 0.99):
        result = audit(metric(confidence_level=level), world(n_groups=3))
        error = result.statistics["standard_error"]
        df = result.statistics["degrees_of_freedom"]
        reach = stats.t.ppf((1 + level) / 2, df) * error
        assert_allclose([result.low, result.high], [result.value - reach, result.value + reach])
        assert result.p_value == pytest.approx(2 * stats.t.sf(abs(result.value) / error, df))
        assert (result.p_value < 1 - level) == (result.low > 0 or result.high < 0)
        assert result.confidence_level == level
    without = audit(metric(interval=None), world(n_groups=3))
    assert np.isnan([without.low, without.high, without.p_value]).all()
    assert (without.value, without.verdict) == (result.value, "not measured")


@every_metric
def test_the_interval_comes_from_counts_as_from_rows(metric):
    data = world(kind="multiclass", n=240, n_groups=3)
    auditor = fitted(metric(), data)
    cells = Contingency.from_labels(**{key: data[key] for key in AUDITED if key in data})
    expected = audit(auditor, data)
    for counted in (cells, Contingency.from_counts(cells.to_frame())):
        result = auditor.audit(counted)
        for name in ("change", "amplification", "low", "high", "p_value"):
            assert_allclose(numbers(result, name), numbers(expected, name), atol=1e-12)
        assert_allclose([result.low, result.high], [expected.low, expected.high], atol=1e-12)


@every_metric
def test_a_perfect_model_may_have_changed_rows_that_were_not_seen(metric):
    data = perfect(world(300, kind="multilabel"))
    options = {"base": "test"} if metric in list(METRICS.values())[3:5] else {"reference": "test"}
    result = audit(metric(**options), data)
    if result.published == 0:
        assert (result.value, result.p_value) == (0, 1)
    assert result.low < 0 < result.high
    assert result.high < 0.1


def test_a_pair_is_reliable_from_ten_rows():
    data = world(n=400)
    first, second = (np.flatnonzero(data["sensitive_features"] == name) for name in ("g0", "g1"))
    for n in (9, 10):
        result = audit(DirectionalAuditor(), rows(data, np.r_[first, second[:n]]))
        assert result.table["reliable"].tolist() == [True, n == 10]


def test_the_paired_test_is_mcnemar_s_exact_one():
    gained, lost = np.meshgrid([0, 1, 2, 5, 17, 60], [0, 1, 2, 3, 8, 20, 61, 400])
    expected = [
        stats.binomtest(int(a), int(a + b)).pvalue if a + b else 1.0
        for a, b in zip(gained.ravel(), lost.ravel(), strict=True)
    ]
    assert_allclose(paired_p_values(gained, lost).ravel(), expected, rtol=1e-9)
    assert_allclose(paired_p_values(lost, gained).ravel(), expected, rtol=1e-9)
    assert float(paired_p_values(0, 0)) == 1


P_VALUES = np.random.default_rng(4).uniform(0, 0.2, 23)


@pytest.mark.parametrize("method", ["holm", "fdr"])
def test_undefined_p_values_stay_and_do_not_count(method):
    seen = np.array([[0.01, np.nan, 0.04], [0.03, 0.01, np.nan]])
    adjusted = adjust_p_values(seen, method)
    assert_array_equal(np.isnan(adjusted), np.isnan(seen))
    assert_allclose(adjusted[~np.isnan(seen)], adjust_p_values([0.01, 0.04, 0.03, 0.01], method))
    nothing = adjust_p_values([np.nan, np.nan], method)
    assert np.isnan(nothing).all()
    assert adjust_p_values([], method).shape == (0,)


def test_holm_multiplies_by_the_number_of_tests_left():
    expected, largest = np.empty(23), 0.0
    for rank, i in enumerate(sorted(range(23), key=lambda i: P_VALUES[i])):
        largest = max(largest, min(1.0, (23 - rank) * P_VALUES[i]))
        expected[i] = largest
    assert_allclose(adjust_p_values(P_VALUES, "holm"), expected)
    assert_allclose(adjust_p_values(P_VALUES), expected)
    assert_allclose(adjust_p_values([0.02, 0.02, 0.9]), [0.06, 0.06, 0.9])


def test_the_false_discovery_rate_is_scipy_s():
    assert_allclose(adjust_p_values(P_VALUES, "fdr"), stats.false_discovery_control(P_VALUES))
    assert_array_equal(adjust_p_values(P_VALUES, None), P_VALUES)
    data = world(kind="multilabel", n_tasks=5)
    for adjust in ("holm", "fdr", None):  # the table adjusts over its pairs
        table = audit(DirectionalAuditor(adjust=adjust), data).table
        assert_allclose(table["p_adjusted"], adjust_p_values(table["p_value"].to_numpy(), adjust))


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


@pytest.mark.parametrize("changed", [0, 4])
def test_few_changed_rows_reach_as_far_as_clopper_and_pearson(changed):
    """Resamples of so few rows know of no others; those gained and lost are bounded each."""
    n, seen = 200, np.full((1, 1), changed / 200)
    resamples = np.full((99, 1, 1), changed / 200)
    how = {"confidence_level": 0.9, "n_changed": changed, "n_rows": n}
    low, high, p_value, _ = of_draws(seen, np.zeros((1, 1)), resamples, **how)
    gained = stats.binomtest(changed, n).proportion_ci(0.9)
    most = max(gained.high - changed / n, np.hypot(
        changed / n - gained.low, stats.binomtest(0, n).proportion_ci(0.9).high
    ))  # fmt: skip
    assert high[0] - changed / n == pytest.approx(most)
    assert changed / n - low[0] == pytest.approx(most)
    assert p_value[0] >= min(2.0 ** (1 - changed), 1)
