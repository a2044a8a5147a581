"""A plain function of labels, predictions and groups is a metric with an interval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import skbiasamp
from skbiasamp.metrics import FunctionAuditor


def rates(y_true, y_pred, group):
    return {name: (y_pred - y_true)[group == name].mean() for name in ("f", "m")}


def rise(y_true, y_pred, group):
    return (y_pred - y_true).mean()


def gap(y_true, y_pred, group):
    moved = y_pred - y_true
    return moved[group == "m"].mean() - moved[group == "f"].mean()


def world(n, seed=0, rise=0.1):
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.5, "f", "m")
    label = (rng.random(n) < 0.4).astype(int)
    changed = rng.random(n) < rise * (group == "m")
    return label, np.where(changed, 1, label), group


def test_the_jackknife_of_a_mean_is_student_s_t():
    label, predicted, group = world(300)
    result = FunctionAuditor(rise, percent=True).audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    assert result.value == pytest.approx(moved.mean())
    assert result.statistics["standard_error"] == pytest.approx(stats.sem(moved))
    # Degrees of freedom: by the fourth powers of what rows add.
    away = (moved - moved.mean()) ** 2
    df = away.sum() ** 2 / (away**2).sum()
    reach = stats.t.ppf(0.975, df) * stats.sem(moved)
    assert_allclose([result.low, result.high], [moved.mean() - reach, moved.mean() + reach])
    assert (result.p_value < 0.05) == (result.low > 0)
    assert result.percent
    # Clusters are left out whole: of three copies of each row, nothing is known but the row.
    label, predicted, group, ids = (
        np.tile(side, 3) for side in (label, predicted, group, np.arange(300))
    )
    how = {"sensitive_features": group, "clusters": ids}
    thrice = FunctionAuditor(rise, percent=True).audit(label, predicted, **how)
    assert_allclose([thrice.low, thrice.high], [result.low, result.high])


def test_names_of_a_mapping_are_rows_of_the_table_and_their_mean_is_the_value():
    label, predicted, group = world(400)
    auditor = FunctionAuditor(rates, percent=False)
    result = auditor.audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    each = [moved[group == name].mean() for name in "fm"]
    assert result.table["group"].tolist() == ["f", "m"]
    assert_allclose(result.table["amplification"], each)
    assert result.value == pytest.approx(np.mean(each))
    assert auditor.score(label, predicted, sensitive_features=group) == result.value
    assert not result.percent


def test_many_rows_are_left_out_in_blocks_and_the_error_stays_about_the_same():
    label, predicted, group = world(5000)
    result = FunctionAuditor(gap, percent=True).audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    variance = sum(stats.sem(moved[group == name]) ** 2 for name in "fm")
    # 500 blocks: the standard error of a standard error is 1 in 32.
    assert result.statistics["standard_error"] == pytest.approx(np.sqrt(variance), rel=0.13)
    again = FunctionAuditor(gap, percent=True).audit(
        label[::-1], predicted[::-1], sensitive_features=group[::-1]
    )
    assert_allclose([result.low, result.high], [again.low, again.high])


def test_what_cannot_be_measured_has_no_interval_or_is_refused():
    label, predicted, group = world(50)
    auditor = FunctionAuditor(gap, percent=True)
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers"):
        auditor.audit(label, predicted, sensitive_features=group, sample_weight=np.full(50, 0.5))
    with pytest.raises(TypeError, match="must return a number"):
        FunctionAuditor(lambda *rows: rows, percent=True).audit(
            label, predicted, sensitive_features=group
        )
    with pytest.raises(TypeError, match="'percent'"):
        FunctionAuditor(gap)
    how = {"sensitive_features": group}
    alone = FunctionAuditor(gap, percent=True, interval=None).audit(label, predicted, **how)
    of_one = auditor.audit(label, predicted, **how, clusters=np.zeros(50, int))
    for result in (alone, of_one):
        assert result.value == pytest.approx(gap(label, predicted, group))
        assert np.isnan([result.low, result.high, result.p_value]).all()
        assert result.verdict == "not measured"
    # Without its only row a group has no mean.
    group[:] = "f"
    group[0] = "m"
    with pytest.warns(RuntimeWarning):
        result = auditor.audit(label, predicted, **how)
    assert np.isnan(result.low)


def false_positives(y_true, y_pred, group):
    return {name: y_pred[(group == name) & (y_true == 0)].mean() for name in ("f", "m")}


def rise_of_runs(n=300, n_runs=4):
    label, predicted, group = world(n)
    rng = np.random.default_rng(5)
    runs = [np.where(rng.random(n) < 0.1, 1 - predicted, predicted) for _ in range(n_runs)]
    return label, group, runs


def test_a_rate_of_each_group_over_runs_has_the_interval_of_the_papers():
    label, group, runs = rise_of_runs()
    auditor = FunctionAuditor(false_positives, percent=True)
    result = auditor.audit_runs(label, runs, sensitive_features=group, method="runs")
    rates = np.array([[*false_positives(label, run, group).values()] for run in runs])
    low, high = stats.t.interval(0.95, 3, rates.mean(axis=0), stats.sem(rates))
    assert result.table["group"].tolist() == ["f", "m"]
    assert_allclose(result.table["amplification"], rates.mean(axis=0))
    assert_allclose(result.table[["low", "high"]], np.c_[low, high])
    of_mean = stats.t.interval(0.95, 3, rates.mean(), stats.sem(rates.mean(axis=1)))
    assert_allclose([result.low, result.high], of_mean)


def test_what_runs_share_is_their_covariance_over_rows():
    """And a row that is the only one has the interval of the value; runs may be of scores."""
    label, group, runs = rise_of_runs()
    scores = [0.4 * run + 0.6 * np.random.default_rng(0).random(len(run)) for run in runs]

    def named(y_true, y_score, group):
        return {"all rows": (y_score - y_true).mean()}

    auditor = FunctionAuditor(named, percent=False)
    result = auditor.audit_runs(label, scores, sensitive_features=group)
    covariance = np.cov(np.array(scores) - label) / len(label)
    shared = covariance[~np.eye(4, dtype=bool)].mean()
    assert result.statistics["data_standard_error"] == pytest.approx(np.sqrt(shared))
    (row,) = result.table[["amplification", "low", "high", "p_value"]].to_numpy()
    assert_allclose(row, [result.value, result.low, result.high, result.p_value])


def test_models_are_compared_row_by_row():
    label, group, (old, new, *_) = rise_of_runs()
    auditor = FunctionAuditor(rise, percent=True)
    models = {"old": old, "new": new}
    row = auditor.compare(label, models, sensitive_features=group).table.iloc[1]
    moved = new - old
    assert row["difference"] == pytest.approx(moved.mean())
    away = (moved - moved.mean()) ** 2
    df = away.sum() ** 2 / (away**2).sum()
    ends = stats.t.interval(0.95, df, moved.mean(), stats.sem(moved))
    assert_allclose([row["difference_low"], row["difference_high"]], ends)
    trainings = {"old": [old, new], "new": [new, new]}
    report = skbiasamp.compare(label, trainings, sensitive_features=group, auditor=auditor)
    value = report.results["rise"].table["value"][0]
    assert value == pytest.approx((old + new - 2 * label).mean() / 2)
