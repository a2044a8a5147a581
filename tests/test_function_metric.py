"""A plain function of labels, predictions and groups is a metric with an interval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import average_precision_score

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


def test_clusters_are_left_out_whole():
    rows, ids = world(120), np.arange(120)
    auditor = FunctionAuditor(rise, percent=True)
    label, predicted, group = rows
    once = auditor.audit(label, predicted, sensitive_features=group, clusters=ids)
    label, predicted, group, ids = (np.tile(side, 3) for side in (*rows, ids))
    thrice = auditor.audit(label, predicted, sensitive_features=group, clusters=ids)
    assert_allclose([once.low, once.high], [thrice.low, thrice.high])


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


@pytest.mark.slow
def test_a_model_without_effect_is_found_in_one_of_twenty():
    found = 0
    for seed in range(120):
        label, _, group = world(150, seed)
        rng = np.random.default_rng(1000 + seed)
        predicted = np.where(rng.random(150) < 0.2, 1 - label, label)
        result = FunctionAuditor(gap, percent=True).audit(
            label, predicted, sensitive_features=group
        )
        found += result.verdict != "no clear effect"
    assert found <= 10  # 5 % and two standard errors


def test_without_an_interval_there_is_a_value_and_no_verdict():
    label, predicted, group = world(100)
    auditor = FunctionAuditor(gap, percent=True, interval=None)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.value == pytest.approx(gap(label, predicted, group))
    assert result.verdict == "not measured"
    assert np.isnan([result.low, result.high, result.p_value]).all()
    with pytest.raises(TypeError, match="'percent'"):
        FunctionAuditor(gap)


def test_what_cannot_be_measured_has_no_interval_or_is_refused():
    label, predicted, group = world(50)
    auditor = FunctionAuditor(gap, percent=True)
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers"):
        auditor.audit(label, predicted, sensitive_features=group, sample_weight=np.full(50, 0.5))
    with pytest.raises(TypeError, match="must return a number"):
        FunctionAuditor(lambda *rows: rows, percent=True).audit(
            label, predicted, sensitive_features=group
        )
    # Without its only row a group has no mean.
    group[:] = "f"
    group[0] = "m"
    with pytest.warns(RuntimeWarning):
        result = auditor.audit(label, predicted, sensitive_features=group)
    assert np.isnan(result.low)
    assert result.verdict == "not measured"


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


def test_a_metric_of_scikit_learn_is_measured_over_runs_of_scores():
    label, group, runs = rise_of_runs()
    rng = np.random.default_rng(0)
    scores = [np.clip(run * 0.4 + 0.5 * rng.random(len(run)), 0, 1) for run in runs]

    def precision(y_true, y_score, group):
        return average_precision_score(y_true, y_score)

    auditor = FunctionAuditor(precision, percent=False)
    result = auditor.audit_runs(label, scores, sensitive_features=group, method="runs")
    each = [average_precision_score(label, score) for score in scores]
    interval = stats.t.interval(0.95, 3, np.mean(each), stats.sem(each))
    assert_allclose([result.value, result.low, result.high], [np.mean(each), *interval])


def test_what_runs_share_is_their_covariance_over_rows():
    label, group, runs = rise_of_runs()
    auditor = FunctionAuditor(rise, percent=True)
    result = auditor.audit_runs(label, runs, sensitive_features=group)
    covariance = np.cov(np.array(runs) - label) / len(label)
    shared = covariance[~np.eye(4, dtype=bool)].mean()
    assert result.statistics["data_standard_error"] == pytest.approx(np.sqrt(shared))


def test_rows_of_one_cluster_have_a_value_and_no_interval():
    label, group, (run, *_) = rise_of_runs()
    auditor = FunctionAuditor(rise, percent=True)
    one = np.zeros(len(label), int)
    result = auditor.audit(label, run, sensitive_features=group, clusters=one)
    assert result.value == pytest.approx(rise(label, run, group))
    assert np.isnan([result.low, result.high]).all()
    assert result.verdict == "not measured"


def test_a_row_over_runs_has_the_interval_of_the_value_if_it_is_the_only_one():
    label, group, runs = rise_of_runs()

    def named(y_true, y_pred, group):
        return {"all rows": rise(y_true, y_pred, group)}

    auditor = FunctionAuditor(named, percent=True)
    result = auditor.audit_runs(label, runs, sensitive_features=group)
    (row,) = result.table[["amplification", "low", "high", "p_value"]].to_numpy()
    assert_allclose(row, [result.value, result.low, result.high, result.p_value])


def test_models_are_compared_row_by_row():
    label, group, (old, new, *_) = rise_of_runs()
    auditor = FunctionAuditor(rise, percent=True)
    models = {"old": old, "new": new}
    row = (
        auditor.compare(label, models, sensitive_features=group).table.set_index("model").loc["new"]
    )
    moved = new - old
    assert row["difference"] == pytest.approx(moved.mean())
    away = (moved - moved.mean()) ** 2
    df = away.sum() ** 2 / (away**2).sum()
    ends = stats.t.interval(0.95, df, moved.mean(), stats.sem(moved))
    assert_allclose([row["difference_low"], row["difference_high"]], ends)
    report = skbiasamp.compare(
        label, {"old": [old, new], "new": [new, new]}, sensitive_features=group, auditor=auditor
    )
    table = report.results["rise"].table.set_index("model")
    assert table["value"]["old"] == pytest.approx((old + new - 2 * label).mean() / 2)
