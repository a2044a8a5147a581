"""Intervals and tests of values and pairs, and p-values that are adjusted."""

import numpy as np
import pytest
from by_hand import AUDITED, METRICS, audit, fitted, numbers, perfect, rows, world
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.inference import adjust_p_values, paired_p_values

every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
pytestmark = pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")


# --------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@every_metric
def test_an_interval_is_student_s_t(metric, level):
    result = audit(metric(confidence_level=level), world(n_groups=3))
    error = result.statistics["standard_error"]
    df = result.statistics["degrees_of_freedom"]
    reach = stats.t.ppf((1 + level) / 2, df) * error
    assert_allclose([result.low, result.high], [result.value - reach, result.value + reach])
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(result.value) / error, df))
    assert (result.p_value < 1 - level) == (result.low > 0 or result.high < 0)
    assert result.confidence_level == level


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


def test_the_error_of_the_change_of_a_gap_is_welch_s():
    """Two groups and training labels: the value is half of the change of the gap."""
    data = world(n=1000)
    group = data["sensitive_features"] == "g0"
    moved = np.asarray(data["y_pred"] - data["y_true"], dtype=float)
    result = audit(DirectionalAuditor(), data)
    gap = abs(moved[group].mean() - moved[~group].mean())
    assert abs(result.value) == pytest.approx(gap / 2)
    error = np.sqrt(sum(stats.sem(moved[side]) ** 2 for side in (group, ~group)))
    # Half a row gained and half a row lost a pair, and the factors of small samples.
    assert result.statistics["standard_error"] == pytest.approx(error / 2, rel=0.02)


@every_metric
def test_a_perfect_model_may_have_changed_rows_that_were_not_seen(metric):
    data = perfect(world(300, kind="multilabel"))
    options = {"base": "test"} if metric in list(METRICS.values())[3:5] else {"reference": "test"}
    result = audit(metric(**options), data)
    if result.published == 0:
        assert (result.value, result.p_value) == (0, 1)
    assert result.low < 0 < result.high
    assert result.high < 0.1


@every_metric
def test_without_an_interval_there_is_no_test_and_no_verdict(metric):
    result = audit(metric(interval=None), world())
    assert np.isnan([result.low, result.high, result.p_value]).all()
    assert result.verdict == "not measured"
    assert result.value == audit(metric(), world()).value


@pytest.mark.parametrize("n", [9, 10])
def test_a_pair_is_reliable_from_ten_rows(n):
    data = world(n=400)
    first = np.flatnonzero(data["sensitive_features"] == "g0")
    second = np.flatnonzero(data["sensitive_features"] == "g1")[:n]
    result = audit(DirectionalAuditor(), rows(data, np.r_[first, second]))
    assert result.table["reliable"].tolist() == [True, n == 10]


# --------------------------------------------------------------------------- exact tests


@pytest.mark.parametrize("gained", [0, 1, 2, 5, 17, 60])
def test_the_paired_test_is_mcnemar_s_exact_one(gained):
    lost = np.array([0, 1, 2, 3, 8, 20, 61, 400])
    expected = [
        stats.binomtest(gained, gained + int(n)).pvalue if gained + n else 1.0 for n in lost
    ]
    assert_allclose(paired_p_values(gained, lost), expected, rtol=1e-9)
    assert_allclose(paired_p_values(lost, gained), expected, rtol=1e-9)


def test_the_paired_test_takes_numbers_and_tables():
    assert float(paired_p_values(0, 0)) == 1
    assert paired_p_values([[3, 4], [5, 6]], [[0, 0], [0, 1]]).shape == (2, 2)
    with pytest.raises(ValueError, match=r"one shape; got \(2,\) and \(3,\)\."):
        paired_p_values([3, 4], [0, 0, 1])


# --------------------------------------------------------------------------- many tests

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


def test_p_values_are_left_alone_when_asked():
    assert_array_equal(adjust_p_values(P_VALUES, None), P_VALUES)
    with pytest.raises(ValueError, match="method"):
        adjust_p_values(P_VALUES, "bonferroni")


@pytest.mark.parametrize("adjust", ["holm", "fdr", None])
def test_the_table_adjusts_over_its_pairs(adjust):
    data = world(kind="multilabel", n_tasks=5)
    result = audit(DirectionalAuditor(adjust=adjust), data)
    expected = adjust_p_values(result.table["p_value"].to_numpy(), adjust)
    assert_allclose(result.table["p_adjusted"], expected)
