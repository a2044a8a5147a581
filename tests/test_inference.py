"""Intervals, tests and flags: how sure a number is, checked against SciPy and by hand."""

import itertools
import math
import re
import warnings
from dataclasses import replace
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from by_hand import (
    A_TO_T,
    AUDITED,
    IN_ROWS,
    METRICS,
    OPTIONS,
    SIGN,
    T_TO_A,
    Plain,
    audit,
    fitted,
    numbers,
    overlapping,
    perfect,
    rows,
    weighted,
    world,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.inference import (
    UncertaintyWarning,
    adjust_p_values,
    paired_p_values,
)

looked_at = settings(max_examples=10)
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
every_metric_in_rows = pytest.mark.parametrize("metric", IN_ROWS.values(), ids=IN_ROWS)
directions = pytest.mark.parametrize("metric", [A_TO_T, T_TO_A], ids=["A->T", "T->A"])
every_interval = pytest.mark.parametrize("interval", ["bootstrap", "analytic"])
ignores_undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def pair_errors(result):
    """Return the standard errors that intervals are made of, by their ends away from 0.

    The other end may be that of the exact test.
    """
    low, high, mine = numbers(result, "low", "high", "amplification")
    reach = np.where(mine < 0, mine - low, high - mine)
    return reach / stats.norm.isf((1 - result.confidence_level) / 2)


# --------------------------------------------------------------------------- the delta method

every_option = pytest.mark.parametrize(("auditor", "data"), OPTIONS.values(), ids=OPTIONS)


@every_option
def test_the_oracle_and_the_library_measure_the_same(auditor, data):
    plain, result = Plain(auditor, data), audit(clone(auditor).set_params(interval=None), data)
    assert_allclose(numbers(result, "amplification"), plain.amplification(plain.weight), atol=1e-12)
    assert_allclose(result.value, plain.value(plain.weight), atol=1e-12)


@every_option
def test_the_analytic_error_is_the_derivative_by_each_row_s_weight(auditor, data):
    plain = Plain(auditor, data)
    result = audit(clone(auditor).set_params(interval="analytic"), data)
    expected = plain.standard_error(plain.amplification)
    assert (expected > 0).any()
    assert_allclose(pair_errors(result), expected, rtol=1e-6, atol=1e-10)
    estimate = partial(plain.estimate, numbers(result, "sign_used"))
    assert_allclose(result.estimate, estimate(plain.weight), atol=1e-12)
    expected = plain.standard_error(estimate)
    assert_allclose(result.statistics["standard_error"], expected, rtol=1e-6)
    # An association of the other sign in predictions: the interval counts that signs may be wrong.
    after = plain.association(plain.weight) + plain.change(plain.weight)
    reach = plain.reach(estimate)
    if not (numbers(result, "sign_used") * after < 0).any():
        assert_allclose(result.high - result.estimate, reach, rtol=1e-6)
        p_value = 2 * stats.norm.sf(abs(result.estimate) / reach * stats.norm.isf(0.025))
        assert_allclose(result.p_value, p_value, rtol=1e-6)
    assert_allclose(result.estimate - result.low, reach, rtol=1e-6)
    if plain.multi:
        ends = [result.statistics[f"value_{end}"] for end in ("low", "high")]
        expected = plain.standard_error(plain.value)
        reach = stats.norm.isf(0.025) * expected
        known = max(result.value - reach, 0), result.value + reach  # no size is below 0
        assert_allclose(ends, known, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_level_is_the_normal_quantile_of_the_analytic_interval(level):
    data = world()
    result = audit(DirectionalAuditor(confidence_level=level), data)
    assert_allclose(
        (result.high - result.value) / result.statistics["standard_error"],
        stats.norm.ppf((1 + level) / 2),
    )
    assert result.confidence_level == level


@every_metric
def test_the_analytic_interval_comes_from_counts_as_from_rows(metric):
    data = world(kind="multiclass", n=240, n_groups=3)
    auditor = fitted(metric(interval="analytic", random_state=0, n_resamples=99), data)
    cells = Contingency.from_labels(**{key: data[key] for key in AUDITED if key in data})
    for counted in (cells, Contingency.from_counts(cells.to_frame())):
        result, expected = auditor.audit(counted), audit(auditor, data)
        for name in ("amplification", "low", "high"):
            assert_allclose(numbers(result, name), numbers(expected, name), atol=1e-12)
        assert_allclose([result.low, result.high], [expected.low, expected.high], atol=1e-12)


# --------------------------------------------------------------------------- the bootstrap


def counts_of(drawn, n):
    """Return how often each of n rows was drawn, one draw a row."""
    drawn = np.atleast_2d(drawn)
    flat = drawn + n * np.arange(len(drawn))[:, None]
    return np.bincount(flat.ravel(), minlength=n * len(drawn)).reshape(len(drawn), n).astype(float)


def row_bootstrap(measure, *sizes, n_resamples, level):
    """SciPy's bootstrap of row numbers, of the audited rows and perhaps of training rows."""

    def statistic(*drawn, axis=-1):
        counts = (counts_of(one, n) for one, n in zip(drawn, sizes, strict=True))
        found = measure(*counts)
        return found if drawn[0].ndim > 1 else found[0]

    return stats.bootstrap(
        tuple(np.arange(n) for n in sizes),
        statistic,
        vectorized=True,
        n_resamples=n_resamples,
        batch=2500,
        confidence_level=level,
        method="percentile",
        random_state=np.random.default_rng(1),
    )


def quantile_noise(n_resamples, level):
    """How far, in standard errors, an end may be from another run's: 4.5 of its own errors.

    A quantile of B draws at probability p has the error √(p(1 − p)/B)/φ(z).
    """
    tail = (1 - level) / 2
    error = math.sqrt(tail * (1 - tail)) / stats.norm.pdf(stats.norm.isf(tail))
    return 4.5 * error * math.sqrt(2 / n_resamples)


@pytest.mark.parametrize("name", ["A->T", "T->A", "MALS", "multi A->T"])
def test_a_bootstrap_of_cells_is_a_bootstrap_of_rows(name):
    # The multilabel data has more sets of labels than eight rows a cell; one task has fewer.
    kind = "multilabel" if name.startswith("multi") else "binary"
    data, level, n_resamples = world(n=400, kind=kind, n_tasks=2, seed=3), 0.9, 4999
    auditor = METRICS[name](confidence_level=level, n_resamples=n_resamples, random_state=0)
    plain, result = Plain(auditor, data), audit(auditor, data)
    # MALS and Multi→ compare with shares in the training rows, which are a sample too.
    sizes = (400, 400) if plain.base == "train" else (400,)
    estimate = partial(plain.estimate, numbers(result, "sign_used"))
    expected = row_bootstrap(estimate, *sizes, n_resamples=n_resamples, level=level)
    error = expected.standard_error
    assert_allclose(result.statistics["standard_error"], error, rtol=4.5 / math.sqrt(n_resamples))
    noise = quantile_noise(n_resamples, level) * error
    assert_allclose([result.low, result.high], expected.confidence_interval, rtol=0, atol=noise)


FEW_OPTIONS = [
    *("A->T", "T->A", "MALS", "A->T, one task", "T->A, one task", "MALS, one task"),
    *("A->T, weights", "T->A, weights", "MALS, weights", "A->T, whole weights"),
    *("A->T, soft", "MALS, soft", "A->T, soft, weights"),
    *("A->T, overlapping groups", "T->A, overlapping groups"),
    *("A->T, own base", "T->A, own base", "A->T, base='train'", "T->A, base='train'"),
    *("A->T, reference='test'", "T->A, reference='test'", "MALS, reference='test'"),
]


@pytest.mark.parametrize("name", FEW_OPTIONS)
def test_the_bootstrap_s_error_is_the_analytic_one(name):
    auditor, data = OPTIONS[name]
    # Ten times the rows: the delta method is an expansion in one over the number of rows.
    data = rows(data, np.tile(np.arange(len(data["y_true"])), 10))
    drawn = audit(clone(auditor).set_params(n_resamples=3999, random_state=0), data)
    exact = audit(clone(auditor).set_params(interval="analytic", n_resamples=9), data)
    error = drawn.statistics["standard_error"] / exact.statistics["standard_error"]
    assert abs(error - 1) < 0.05
    moves = pair_errors(exact) > 0
    ratio = pair_errors(drawn)[moves] / pair_errors(exact)[moves]
    # Two quantiles of 3,999 draws: 2 % of their distance is one error of it.
    assert_allclose(ratio, 1, atol=0.1)
    assert_allclose(ratio.mean(), 1, atol=0.05)


# --------------------------------------------------------------------------- signs


@directions
def test_drawing_audited_rows_never_changes_a_sign(metric):
    data = world(kind="multilabel", n_train=40)
    auditor = fitted(metric(random_state=0, n_resamples=199), data)
    told = fitted(metric(sign=auditor.y_at_, random_state=0, n_resamples=199), data)
    names = ["low", "high", "amplification"]
    one, other = audit(auditor, data), audit(told, data)
    assert_frame_equal(one.table[names], other.table[names], check_exact=True)
    assert (one.low, one.high, one.estimate) == (other.low, other.high, other.estimate)


def coin(n=2000, seed=0):
    """Return labels that are all but independent, and a model that correlates them."""
    rng = np.random.default_rng(seed)
    group, task = np.array(["g0", "g1"] * (n // 2)), np.arange(n) // 2 % 2
    task[0] = 1  # one row more: a sign that the next sample would not have
    first, up = group == "g0", rng.random(n) < 0.3
    data = {"y_train": task, "sensitive_train": group, "y_true": task, "sensitive_features": group}
    data["y_pred"] = np.where(up, first, task).astype(int)
    data["sensitive_pred"] = np.where(up, np.where(task == 1, "g0", "g1"), group)
    return data


@every_metric
def test_a_sign_is_certain_where_the_correlation_is_strong(metric):
    data = world(n=400)
    assert audit(metric(random_state=0, n_resamples=49), data).table["sign_certain"].all()
    for name in ("y_train", "y_true"):
        # Exactly as many of each: neither correlated nor more than an equal share.
        data[name] = np.arange(400) // 2 % 2
    data["sensitive_train"] = data["sensitive_features"] = np.array(["g0", "g1"] * 200)
    certain = audit(metric(random_state=0, n_resamples=49), data).table["sign_certain"]
    assert not certain.any()


def test_a_sign_is_certain_where_pearson_s_test_says_so():
    for seed in range(8):
        data = world(n_train=40, seed=seed)
        table = pd.crosstab(data["sensitive_train"], data["y_train"])
        expected = stats.chi2_contingency(table, correction=False).pvalue < 0.05
        result = audit(DirectionalAuditor(), data)
        assert (result.table["sign_certain"] == expected).all()


@pytest.mark.parametrize("given", [{"sign": pd.DataFrame({1: [1, -1]}, index=["g0", "g1"])}, {}])
def test_a_sign_of_the_user_s_own_is_certain(given):
    given = given or {"base": pd.DataFrame({1: [0.5, 0.4]}, index=["g0", "g1"])}
    result = audit(DirectionalAuditor(**given), coin())
    assert result.table["sign_certain"].all()


# --------------------------------------------------------------------------- flags and warnings


def warned(call):
    """Return a call's result and the warnings of uncertainty it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    assert all(one.category in (UncertaintyWarning, UndefinedMetricWarning) for one in caught)
    return result, [one for one in caught if one.category is UncertaintyWarning]


def test_one_warning_names_the_pairs_of_few_rows_and_of_uncertain_sign():
    data = coin(60)
    data = rows(data, np.r_[np.flatnonzero(data["sensitive_features"] == "g0"), [0, 1, 2]])
    few = int((data["sensitive_features"] == "g1").sum())
    assert 0 < few < 10
    auditor = fitted(DirectionalAuditor(), data)
    labels = {key: data[key] for key in AUDITED if key in data}
    result, (warning,) = warned(lambda: auditor.audit(**labels))
    assert warning.filename == __file__
    text = str(warning.message)
    assert (
        "1 of 2 pairs rest on fewer than 10 rows (reliable=False in the table): ('g1', 1)" in text
    )
    assert "2 of 2 pairs are so weakly correlated" in text
    assert "(sign_certain=False in the table): ('g0', 1), ('g1', 1)" in text
    assert result.table["reliable"].tolist() == [True, False]
    with pytest.warns(UncertaintyWarning, match=r"fewer than 10 rows .*: \('g1', 1\)"):
        auditor.audit(**labels)


def test_a_warning_names_three_pairs_and_counts_the_others():
    data = world(n=12, kind="multilabel", n_tasks=4)
    _, (warning,) = warned(lambda: audit(DirectionalAuditor(), data))
    assert re.search(r"8 of 8 pairs rest on fewer than 10 rows .* and 5 more", str(warning.message))
    three = {"y_true": [1, 0, 1], "y_pred": [1, 1, 0], "sensitive_features": ["a", "b", "c"]}
    _, (warning,) = warned(lambda: DirectionalAuditor(reference="test").audit(**three))
    assert "(reliable=False in the table): ('a', 1), ('b', 1), ('c', 1)." in str(warning.message)


@every_metric
def test_nothing_is_warned_where_all_is_certain(metric):
    data = world(n=400, n_train=4000)
    _, caught = warned(lambda: audit(metric(random_state=0, n_resamples=9), data))
    assert not caught
    _, caught = warned(lambda: audit(metric(interval=None), world(n=12)))
    assert not caught


def test_runs_of_one_model_warn_once():
    data = world(n=12)
    auditor = fitted(DirectionalAuditor(), data)
    _, caught = warned(
        lambda: auditor.audit_runs(
            data["y_true"], [data["y_pred"]] * 3, sensitive_features=data["sensitive_features"]
        )
    )
    assert len(caught) == 1


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


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("name", ["A->T", "T->A", "multi A->T", "multi T->A"])
def test_a_pair_s_p_value_is_mcnemar_s_within_its_rows(name, kind):
    data = world(kind=kind, n=200, n_groups=3)
    in_rows = {"base": "test"} if name.startswith("multi") else {}
    auditor = METRICS[name](interval="analytic", **in_rows)
    plain = Plain(auditor, data)
    given, truth, predicted = plain.group, plain.task, plain.task_pred
    if auditor.direction == "T->A":
        given, truth, predicted = plain.task, plain.group, plain.group_pred
    expected = np.empty((given.shape[1], truth.shape[1]))
    for i, j in np.ndindex(expected.shape):
        held = given[:, i] == 1
        gained = int(((truth[:, j] == 0) & (predicted[:, j] == 1))[held].sum())
        lost = int(((truth[:, j] == 1) & (predicted[:, j] == 0))[held].sum())
        assert gained + lost > 0
        expected[i, j] = stats.binomtest(gained, gained + lost).pvalue
    expected = expected.T if auditor.direction == "T->A" else expected
    assert_allclose(numbers(audit(auditor, data), "p_value"), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["A->T", "T->A"])
def test_a_pair_s_p_value_with_overlapping_groups_is_mcnemar_s(name):
    data = overlapping(world(n=200))
    auditor = METRICS[name](groups="indicator", interval="analytic", n_resamples=9, random_state=0)
    plain = Plain(auditor, data)
    result = numbers(audit(auditor, data), "p_value")
    for i in range(3):
        if name == "A->T":
            held = plain.group[:, i] == 1
            moved = (plain.task_pred - plain.task)[held, 0]
        else:
            moved = (plain.group_pred - plain.group)[plain.task[:, 0] == 1, i]
        gained, lost = int((moved > 0).sum()), int((moved < 0).sum())
        expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert_allclose(result[i, 0], expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["A->T", "T->A"])
def test_a_pair_s_p_value_does_not_follow_the_sign_or_the_training_labels(name):
    data = world(kind="multilabel")
    expected = audit(METRICS[name](random_state=0), data).table["p_value"]
    assert expected.notna().all()
    for options in ({"sign": SIGN}, {"reference": "test"}):
        auditor = METRICS[name](random_state=0, n_resamples=9, **options)
        table = audit(auditor, data).table
        # What has no sign adds nothing, so there is nothing to test.
        assert_allclose(table["p_value"], expected.where(table["sign"] != 0))


@pytest.mark.parametrize(
    "name",
    [
        *("A->T, soft", "A->T, weights", "T->A, weights", "A->T, own base", "T->A, own base"),
        *("A->T, base='train'", "T->A, base='train'", "MALS", "MALS, reference='test'"),
        *("multi A->T", "multi T->A", "multi MALS"),
    ],
)
def test_pairs_without_an_exact_test_have_the_normal_test_of_their_interval(name):
    auditor, data = OPTIONS[name]
    auditor = clone(auditor).set_params(interval="analytic")
    plain, result = Plain(auditor, data), audit(auditor, data)
    expected = 2 * stats.norm.sf(
        np.abs(plain.delta(plain.weight)) / plain.standard_error(plain.delta)
    )
    expected = np.where(
        (plain.sign == 0) & (plain.kind == "MALS" or not plain.multi), np.nan, expected
    )
    assert_allclose(numbers(result, "p_value"), expected, rtol=1e-6)


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


# --------------------------------------------------------------------------- the estimate's test


def test_a_value_of_zero_is_no_evidence_whatever_its_rounding():
    # The changes add up to 0 in fractions, though not in floats: every swap is as far from it.
    group = np.repeat(["g0", "g1"], [6, 4])
    truth = [[0, 1, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]]
    truth += [[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    predicted = [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 0]]
    predicted += [[1, 1, 1], [1, 1, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]]
    sign = pd.DataFrame([[1, 1, 1], [-1, -1, -1]], index=["g0", "g1"])
    auditor = DirectionalAuditor(sign=sign)
    auditor.fit(truth, sensitive_features=group)
    result = auditor.audit(truth, predicted, sensitive_features=group)
    assert_allclose(result.value, 0, atol=1e-12)
    assert result.p_value == 1


@every_interval
@every_metric_in_rows
def test_a_perfect_model_has_a_p_value_of_one(metric, interval):
    data = perfect(world(kind="multilabel"))
    auditor = metric(interval=interval, random_state=0, n_resamples=49)
    result = audit(auditor, data)
    assert (result.estimate, result.p_value) == (0, 1)
    # MALS has pairs that count as 0; sizes of the other directions have none.
    counted = (result.table["sign"] != 0) | (
        result.kind == "size" and auditor.direction is not None
    )
    assert counted.any()
    assert (result.table.loc[counted, ["p_value", "p_adjusted"]] == 1).all(axis=None)
    assert result.table.loc[~counted, ["p_value", "p_adjusted"]].isna().all(axis=None)


@every_interval
@every_metric
def test_a_model_that_moves_much_is_found(metric, interval):
    data = world(n=600)
    data["y_pred"] = (data["sensitive_features"] == "g1").astype(int)
    data["sensitive_pred"] = np.where(data["y_true"] == 1, "g1", "g0")
    auditor = metric(interval=interval, random_state=0, n_resamples=99)
    if auditor.direction is None:
        del data["sensitive_pred"]
    result = audit(auditor, data)
    # Resamples know of no smaller chance than one in their number.
    assert result.p_value == 0.01 if interval == "bootstrap" else result.p_value < 1e-6
    assert result.low > 0.15
    assert result.verdict == "amplifies"


@every_option
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_p_value_is_below_alpha_where_the_interval_excludes_zero(auditor, data, level):
    for interval in ("bootstrap", "analytic"):
        options = {"interval": interval, "n_resamples": 99, "random_state": 0}
        result = audit(clone(auditor).set_params(confidence_level=level, **options), data)
        alpha = round(1 - level, 12)
        assert (result.p_value < alpha) == (result.low > 0 or result.high < 0)
        table = result.table[result.table["p_value"].notna()]
        excluded = (table["low"] > 0) | (table["high"] < 0)
        assert_array_equal(table["p_value"] < alpha, excluded)


# --------------------------------------------------------------------------- draws


RESAMPLED = {
    "few cells": np.array([50.0, 7.0, 120.0, 1.0, 30.0]),
    "few rows a cell": np.array([3.0, 1.0, 9.0, 5.0, 2.0]),
    "one row a cell": np.ones(6),
    "fractional weights": np.array([0.5, 2.25, 1.0, 3.5, 0.1]),
}


@pytest.mark.parametrize("weight", RESAMPLED.values(), ids=RESAMPLED)
def test_resampled_counts_are_multinomial(weight):
    n_draws, cells = 20_000, len(weight)
    held = Contingency.from_labels(
        np.eye(cells), sensitive_features=list("ababbb")[:cells], sample_weight=weight
    )
    # Each cell has a task of its own, so that the rows of a task are those of the cell.
    drawn = held.resample(n_draws, random_state=0).count("task")
    unit = np.ones(cells) if held.whole else weight
    counts = drawn / unit
    n, chance = (weight.sum(), weight / weight.sum()) if held.whole else (cells, 1 / cells)
    assert_allclose(counts.sum(axis=1), n)  # as many rows in every draw
    assert_allclose(counts, np.rint(counts), atol=1e-9)
    chance = np.broadcast_to(chance, cells)
    covariance = n * (np.diag(chance) - np.outer(chance, chance))
    noise = 4.5 / math.sqrt(n_draws)
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(counts.mean(axis=0) - n * chance) <= noise * spread).all()
    assert_allclose(np.cov(counts.T), covariance, atol=3 * noise * spread.max() ** 2)


def test_one_resample_is_a_plain_contingency():
    data = world()
    cells = Contingency.from_labels(data["y_true"], sensitive_features=data["sensitive_features"])
    drawn = cells.resample(random_state=0)
    assert drawn.total == cells.total
    assert drawn.weight.ndim == 1
    with pytest.raises(ValueError, match="holds 2 resamples"):
        cells.resample(2, random_state=0).resample(2)


# --------------------------------------------------------------------------- random numbers


def assert_same_result(one, other):
    assert_frame_equal(one.table, other.table, check_exact=True)
    for name in ("low", "high", "p_value"):
        assert getattr(one, name) == getattr(other, name)
    assert one.statistics == other.statistics


@every_metric
def test_the_numbers_do_not_depend_on_the_number_of_jobs(metric):
    data = world(kind="multilabel")
    one, two = (metric(random_state=0, n_resamples=53, n_jobs=jobs) for jobs in (1, 2))
    with joblib.parallel_config(backend="threading"):
        assert_same_result(audit(one, data), audit(two, data))


@every_metric
def test_numpy_s_global_state_is_left_alone(metric):
    before = np.random.get_state()  # noqa: NPY002
    auditor = metric(n_resamples=49)
    one, other = (audit(auditor, world()) for _ in range(2))
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]
    assert (one.low, one.high) != (other.low, other.high)  # fresh entropy each time


@pytest.mark.parametrize(
    "seeded",
    [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)],
    ids=["int", "RandomState", "Generator"],
)
def test_equal_seeds_give_equal_numbers(seeded):
    data = world(kind="multilabel")
    one, other = (
        audit(DirectionalAuditor().set_params(random_state=seeded()), data) for _ in range(2)
    )
    assert_same_result(one, other)
    assert one.low < one.high


# --------------------------------------------------------------------------- degenerate cases


@every_interval
@every_metric_in_rows
def test_where_no_row_differs_the_interval_has_the_width_so_few_rows_allow(metric, interval):
    data = perfect(world(n=60))
    auditor = metric(interval=interval, random_state=0, n_resamples=99)
    widths = []
    for n in (20, 60):
        result = audit(auditor, rows(data, slice(n)))
        low, high, sign, size = numbers(result, "low", "high", "sign", "n")
        moves = (
            np.ones_like(sign, dtype=bool)
            if auditor.direction and "multi" in result.metric
            else sign != 0
        )
        reach = 1 - 0.025 ** (1 / size)
        assert_allclose(high[moves], reach[moves])
        assert_allclose(low[moves], 0 if "multi" in result.metric else -reach[moves])
        assert_array_equal(high[~moves], low[~moves])
        assert (result.value, result.estimate) == (0, 0)
        # The estimate is a signed mean, also of sizes.
        assert result.low < -0.01
        assert result.high > 0.01
        if result.kind == "size":
            assert result.statistics["value_low"] == 0
            assert result.statistics["value_high"] > 0.01
        widths.append(result.high - result.low)
    assert widths[1] < widths[0]


@every_interval
def test_a_pair_whose_sign_is_zero_is_certain(interval):
    data = perfect(world(n=40))
    data["y_train"], data["sensitive_train"] = np.array([0, 1, 0, 1]), np.array(list("0011"))
    data["sensitive_train"] = np.array(["g0", "g0", "g1", "g1"])
    result = audit(DirectionalAuditor(interval=interval), data)
    assert (result.table[["sign", "low", "high"]] == 0).all(axis=None)
    assert (result.low, result.high) == (0, 0)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_the_width_of_a_perfect_model_follows_the_level(level):
    data = perfect(world(n=40))
    result = audit(DirectionalAuditor(confidence_level=level), data)
    expected = 1 - ((1 - level) / 2) ** (1 / result.table["n"])
    assert_allclose(result.table["high"], expected)
    assert_allclose(result.table["low"], -expected)
    # The value's width is that of its pairs together.
    assert_allclose([result.low, result.high], [-expected.mean(), expected.mean()])


@every_interval
def test_labels_that_gain_and_lose_alike_still_vary(interval):
    # Four rows a group gain the task and four lose it: nothing moves, but another sample would.
    group = np.repeat(["g0", "g1"], 40)
    truth = np.r_[np.ones(4), np.zeros(16), np.ones(20), np.ones(4), np.zeros(26), np.ones(10)]
    predicted = truth.copy()
    predicted[[0, 1, 2, 3, 40, 41, 42, 43]] = 0
    predicted[[4, 5, 6, 7, 44, 45, 46, 47]] = 1
    for auditor in (DirectionalAuditor(), MultiAttributeAuditor(base="test")):
        auditor.set_params(interval=interval, random_state=0, n_resamples=199)
        auditor.fit(truth, sensitive_features=group)
        result = auditor.audit(truth, predicted, sensitive_features=group)
        assert_allclose([result.value, result.estimate], 0, atol=1e-12)
        assert (result.table["high"] > 0.02).all()
        assert result.low < -0.02
        assert result.high > 0.02
        if result.kind == "size":
            assert result.statistics["value_high"] > 0.02


def test_a_gap_between_classes_is_capped_at_what_a_rate_can_change():
    data = world(n=6)
    data["y_true"], data["y_pred"] = np.zeros(6, int), np.ones(6, int)
    result = audit(DirectionalAuditor(), data)
    assert (result.table["low"].abs() <= 1).all()
    assert (result.table["high"].abs() <= 1).all()
    assert (result.table["high"] > result.table["low"]).all()


NUMBERS = [
    "observed", "delta", "amplification", "low", "high", "p_value", "p_adjusted",
]  # fmt: skip


@every_interval
@pytest.mark.parametrize("metric", [A_TO_T, T_TO_A, MALSAuditor], ids=["A->T", "T->A", "MALS"])
def test_an_undefined_pair_is_nan_in_every_column(metric, interval):
    data = world(n=120, kind="multilabel")
    lost = data["sensitive_features"] != "g1"
    if metric is not A_TO_T:
        lost = slice(None)
        for name in ("y_true", "y_pred"):
            data[name] = data[name].copy()
            data[name][:, 1] = 0
    auditor = metric(interval=interval, random_state=0, n_resamples=49)
    with pytest.warns(UndefinedMetricWarning, match="no (audited|predicted) rows"):
        result = audit(auditor, rows(data, lost))
    gone = result.table["n"] == 0
    assert 0 < gone.sum() < len(result.table)
    assert result.table.loc[gone, NUMBERS].isna().all(axis=None)
    tests = ["p_value", "p_adjusted"]
    assert result.table.loc[~gone, NUMBERS].drop(columns=tests).notna().all(axis=None)
    tested = ~gone & (result.table["sign"] != 0)
    assert_array_equal(result.table["p_value"].notna(), tested)
    assert_array_equal(result.table["p_adjusted"].notna(), tested)
    assert not result.table.loc[gone, "reliable"].any()
    # The other group would be compared with itself.
    assert np.isnan(result.low) if metric is A_TO_T else result.low <= result.high
    assert ("only one group has rows" in result.sentence) == (metric is A_TO_T)
    assert "fewer than 30 rows" not in repr(result)


@every_interval
def test_where_every_pair_is_undefined_so_are_interval_and_test(interval):
    data = world(n=60)
    data["y_true"] = np.zeros(60, dtype=int)
    auditor = DirectionalAuditor("T->A", interval=interval)
    with pytest.warns(UndefinedMetricWarning, match="no audited rows for task"):
        result = audit(auditor, data)
    assert np.isnan([result.value, result.low, result.high, result.p_value]).all()
    assert math.isnan(result.estimate)
    assert np.isnan(result.statistics["standard_error"])
    assert result.table[NUMBERS].isna().all(axis=None)


@every_interval
@pytest.mark.parametrize("direction", ["A->T", "T->A", None])
def test_without_any_set_of_tasks_everything_is_nan(direction, interval):
    auditor = MultiAttributeAuditor(direction, min_count=10_000, interval=interval)
    with pytest.warns(UndefinedMetricWarning, match="no set of tasks occurs often enough"):
        result = audit(auditor, world(kind="multilabel"))
    assert np.isnan([result.value, result.low, result.high, result.p_value]).all()
    assert result.table.empty
    assert math.isnan(result.statistics["signed_mean"])


@pytest.mark.parametrize("n_groups", [3, 15])
@ignores_undefined
@every_interval
def test_one_row_a_group_shows_no_change(n_groups, interval):
    """Each of them changes or does not, which says nothing of other rows of its group."""
    auditor = DirectionalAuditor(interval=interval)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        many, alone = rng.integers(0, n_groups, 2000), np.arange(n_groups)
        label, other, guess = (
            (rng.random(len(group)) < 0.3 + 0.4 * (group % 2)).astype(int)
            for group in (many, alone, alone)
        )
        auditor.fit(label, sensitive_features=many)
        result = auditor.audit(other, guess, sensitive_features=alone)
        assert result.verdict == "no clear effect"


@every_metric
def test_without_interval_there_is_neither_interval_nor_test(metric):
    result = audit(metric(interval=None), world(kind="multilabel"))
    assert np.isnan([result.low, result.high, result.p_value]).all()
    assert not math.isnan(result.estimate)
    assert result.confidence_level is None
    uncertain = ["low", "high", "p_value", "p_adjusted", "sign_certain", "reliable"]
    assert result.table[uncertain].isna().all(axis=None)
    assert "standard_error" not in result.statistics


# --------------------------------------------------------------------------- across runs


def runs(data, n=4):
    """Return the predictions of models that differ in their seed."""
    others = [world(len(data["y_true"]), "multilabel", seed=10 + i) for i in range(n)]
    keep = np.random.default_rng(0).random((n, *data["y_true"].shape)) < 0.8
    tasks = [
        np.where(kept, data["y_true"], other["y_true"])
        for kept, other in zip(keep, others, strict=True)
    ]
    groups = [
        np.where(kept[:, 0], data["sensitive_features"], other["sensitive_features"])
        for kept, other in zip(keep, others, strict=True)
    ]
    return tasks, groups


def by_run(auditor, data, tasks, groups):
    return [
        audit(auditor, data | {"y_pred": task, "sensitive_pred": group})
        for task, group in zip(tasks, groups, strict=True)
    ]


def over_runs(auditor, data, tasks, groups, **options):
    return fitted(auditor, data).audit_runs(
        data["y_true"],
        tasks,
        sensitive_features=data["sensitive_features"],
        sensitive_preds=groups,
        **options,
    )


def test_runs_of_sizes_and_attacks_have_the_verdict_of_one_run():
    rng = np.random.default_rng(0)
    sex, labels = rng.choice(["f", "m"], 400), rng.integers(0, 2, (400, 2))
    runs = [labels.copy() for _ in range(4)]
    for predicted in runs:
        predicted[(sex == "f") & (rng.random(400) < 0.7)] = 1
    train = np.where((sex == "f")[:, None], 1, labels)
    sets = MultiAttributeAuditor(base="test")
    sets.fit(train, sensitive_features=sex)
    found = sets.audit_runs(labels, runs, sensitive_features=sex)
    assert found.verdict == "amplifies"
    assert found.low > 0
    alone = [sets.audit(labels, run, sensitive_features=sex).statistics for run in runs]
    for name in ("variance", "n_combinations"):
        of_runs = [statistics[name] for statistics in alone]
        assert found.statistics[name] == pytest.approx(np.mean(of_runs), abs=1e-12)
    assert "(variance " in found.sentence
    noise = [rng.integers(0, 2, 400) for _ in range(4)]
    attacks = LeakageAuditor(n_resamples=99, random_state=0)
    result = attacks.audit_runs(labels[:, 0], noise, sensitive_features=sex)
    assert result.statistics["above_chance_low"] < 0
    # But no better than a guess.
    surely = replace(result, value=0.02, estimate=0.02, low=0.01, high=0.03)
    assert surely.verdict == "no clear effect"


def mean_of_runs(values, influences, square, level, method="t"):
    """Return interval, p-value and error by rows of a mean over runs, as it is defined.

    `values` and `influences` (rows first) have an axis of runs; that is the last one of the latter.
    """
    values, n = np.asarray(values), len(values)
    covariance = np.einsum("n,n...i,n...j->...ij", square, influences, influences)
    rows = (covariance.sum(axis=(-2, -1)) - np.trace(covariance, axis1=-2, axis2=-1)) / (
        n * (n - 1)
    )
    rows, between = np.maximum(rows, 0), values.var(axis=0, ddof=1) / n
    error = np.sqrt(rows + between)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Welch and Satterthwaite's, with the variance of few runs counted more.
        more = between * stats.t(n - 1).isf((1 - level) / 2) / stats.norm.isf((1 - level) / 2)
        df = (n - 1) * (rows + more) ** 2 / more**2
    student = stats.t(np.minimum(np.nan_to_num(df, nan=1e6, posinf=1e6), 1e6))
    if method == "normal":
        student = stats.t(1e6)  # the normal distribution, to six digits
    mean, times = values.mean(axis=0), student.isf((1 - level) / 2)
    with np.errstate(invalid="ignore"):
        p_value = 2 * student.sf(np.abs(mean) / error)
    return mean - times * error, mean + times * error, p_value, np.sqrt(rows)


@pytest.mark.parametrize(("level", "method"), [(0.95, "t"), (0.8, "t"), (0.9, "normal")])
@every_metric_in_rows
def test_the_interval_of_a_mean_over_runs_counts_runs_and_rows(metric, level, method):
    data = world(kind="multilabel", n=300)
    tasks, groups = runs(data)
    auditor = metric(interval="analytic", confidence_level=level)
    result = over_runs(auditor, data, tasks, groups, method=method)
    single = by_run(auditor, data, tasks, groups)
    plains = [
        Plain(auditor, data | {"y_pred": task, "sensitive_pred": group})
        for task, group in zip(tasks, groups, strict=True)
    ]
    values = [one.estimate for one in single]
    assert_allclose(result.estimate, np.mean(values))
    assert_allclose(result.value, np.mean([one.value for one in single]))
    every = [
        plain.influence(partial(plain.estimate, numbers(one, "sign_used")))
        for plain, one in zip(plains, single, strict=True)
    ]
    influences = np.stack([influence for influence, _ in every], axis=-1)
    low, high, p_value, rows = mean_of_runs(values, influences, every[0][1], level, method)
    assert_allclose([result.low, result.high], [low, high], rtol=1e-6)
    assert_allclose(result.p_value, p_value, rtol=1e-5)
    assert_allclose(result.statistics["data_standard_error"], rows, rtol=1e-6)
    assert_allclose(result.statistics["between_run_sd"], np.std(values, ddof=1))
    assert result.statistics["n_runs"] == 4
    assert result.confidence_level == level
    for name in ("n", "base", "observed", "delta", "amplification"):
        assert_allclose(result.table[name], np.mean([one.table[name] for one in single], axis=0))

    def signed(plain):
        """The change of each pair; sizes have no direction, and 0 counts as such for MALS."""
        sign = 1 if plain.multi and plain.kind != "MALS" else plain.sign
        return lambda w, v: sign * plain.delta(w, v)

    changes = [signed(plain)(plain.weight, None) for plain in plains]
    influences = np.stack([plain.influence(signed(plain))[0] for plain in plains], axis=-1)
    low, high, p_value, _ = mean_of_runs(changes, influences, every[0][1], level, method)
    if plains[0].multi:
        sizes = np.sort(np.abs([low, high]), axis=0)
        low, high = np.where(low * high <= 0, 0, sizes[0]), sizes[1]
    ends = numbers(result, "low", "high")
    assert_allclose(ends, [low, high], rtol=1e-6, atol=1e-12)
    assert_allclose(
        numbers(result, "p_value"), np.where(changes[0] == 0, np.nan, p_value), rtol=1e-5
    )


@every_metric_in_rows
def test_the_bootstrap_of_runs_is_that_of_the_delta_method(metric):
    data = world(kind="multilabel", n=1500)
    tasks, groups = runs(data)
    exact, drawn = (
        over_runs(metric(random_state=0, **how), data, tasks, groups)
        for how in ({"interval": "analytic"}, {"n_resamples": 1999})
    )
    assert drawn.estimate == pytest.approx(exact.estimate, abs=1e-12)
    errors = [one.statistics["data_standard_error"] for one in (drawn, exact)]
    assert errors[0] == pytest.approx(errors[1], rel=0.1)
    assert drawn.high - drawn.low == pytest.approx(exact.high - exact.low, rel=0.1)


@pytest.mark.parametrize("name", ["MALS", "multi A->T", "A->T, base='train'"])
def test_runs_that_are_compared_with_training_labels_share_their_error(name):
    auditor, data = OPTIONS[name]
    tasks, groups = [data["y_pred"]] * 3, [data["sensitive_pred"]] * 3
    auditor = clone(auditor).set_params(interval="analytic")
    result = over_runs(auditor, data, tasks, groups)
    alone = audit(auditor, data)
    same = 1e-5 * (alone.high - alone.low)
    assert_allclose([result.low, result.high], [alone.low, alone.high], rtol=0, atol=same)
    assert result.p_value == pytest.approx(alone.p_value, rel=1e-3)


@pytest.mark.parametrize("name", ["MALS", "multi A->T", "A->T, base='train'"])
def test_a_procedure_has_the_same_interval_alone_and_beside_another(name):
    auditor, data = OPTIONS[name]
    auditor = fitted(clone(auditor).set_params(interval="analytic"), data)
    groups = {"sensitive_features": data["sensitive_features"]}
    y_preds = {"one": runs(data, 3)[0], "other": [data["y_pred"]] * 2}
    table = auditor.compare(data["y_true"], y_preds, **groups).table.set_index("model")
    for model, predictions in y_preds.items():
        alone = auditor.audit_runs(data["y_true"], predictions, **groups)
        ends = [alone.value, alone.estimate, alone.low, alone.high]
        assert_allclose(table.loc[model, ["value", "estimate", "low", "high"]].tolist(), ends)


@every_interval
def test_runs_that_agree_have_no_spread_but_the_data_have(interval):
    data = world(kind="multilabel", n=300)
    tasks, groups = [data["y_pred"]] * 3, [data["sensitive_pred"]] * 3
    auditor = DirectionalAuditor(interval=interval)
    result, alone = over_runs(auditor, data, tasks, groups), audit(auditor, data)
    assert_allclose(result.statistics["between_run_sd"], 0, atol=1e-15)
    error = alone.statistics["standard_error"]
    assert_allclose(result.statistics["data_standard_error"], error, rtol=0.15)
    if interval == "analytic":
        assert_allclose(result.statistics["data_standard_error"], error)
        # So many degrees of freedom are a normal distribution.
        assert_allclose([result.low, result.high], [alone.low, alone.high], rtol=1e-5)


def test_runs_without_interval_have_none():
    data = world(kind="multilabel")
    tasks, groups = runs(data, 3)
    result = over_runs(DirectionalAuditor(interval=None), data, tasks, groups)
    expected = over_runs(DirectionalAuditor(), data, tasks, groups)
    assert result.estimate == expected.estimate
    assert result.statistics["between_run_sd"] == expected.statistics["between_run_sd"]
    assert np.isnan([result.low, result.high, result.p_value]).all()
    assert "data_standard_error" not in result.statistics
    assert result.verdict == "not measured"


def test_runs_have_the_flags_of_one_run():
    data = world(kind="multilabel", n=100)
    tasks, groups = runs(data, 2)
    auditor = DirectionalAuditor()
    one, several = audit(auditor, data), over_runs(auditor, data, tasks, groups)
    for name in ("sign", "sign_certain", "reliable"):
        assert_array_equal(several.table[name], one.table[name])


def test_weights_reach_every_run():
    data = weighted(world(kind="multilabel"), "fractional")
    tasks, groups = runs(data, 2)
    auditor = DirectionalAuditor(interval=None)
    result = over_runs(auditor, data, tasks, groups, sample_weight=data["sample_weight"])
    assert_allclose(
        result.value, np.mean([one.value for one in by_run(auditor, data, tasks, groups)])
    )


def test_predictions_of_the_attribute_alone_make_runs():
    data = world(kind="multilabel")
    _, groups = runs(data, 3)
    result = over_runs(DirectionalAuditor("T->A", interval=None), data, [None] * 3, groups)
    assert result.statistics["n_runs"] == 3


def test_there_may_be_as_many_runs_as_rows():
    auditor = DirectionalAuditor(reference="test", interval=None)
    labels, sex = [1, 0, 0, 1], list("fmfm")
    result = auditor.audit_runs(labels, [labels] * 4, sensitive_features=sex)
    assert (result.value, result.statistics["n_runs"]) == (0.0, 4)


# --------------------------------------------------------------------------- the same facts

ANALYTIC = {name: metric(interval="analytic", n_resamples=9) for name, metric in METRICS.items()}
analytic_auditors = st.sampled_from(list(ANALYTIC.values()))
COMPARED = ["n", "amplification", "low", "high", "p_value", "p_adjusted"]


@st.composite
def worlds(draw, weights=False):
    """Small worlds of every kind in which every group and every task occurs."""
    kind = draw(st.sampled_from(["binary", "multiclass", "multilabel"]))
    n_groups, seed = draw(st.integers(2, 3)), draw(st.integers(0, 10**6))
    data = world(draw(st.integers(20, 40)), kind, n_groups=n_groups, seed=seed, n_train=60)
    assume(len(np.unique(data["sensitive_features"])) == n_groups)
    assume(set(np.unique(data["y_true"])) == set(np.unique(data["y_train"])))
    assume(np.all(np.any(np.atleast_2d(data["y_true"].T) > 0, axis=1)))
    if weights:
        n = len(data["y_true"])
        data["sample_weight"] = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    return data


# The multi-attribute pairs' p-values are exact as well, except for Multi_MALS: they are drawn.
def assert_same_numbers(one, other, auditor, *, columns=COMPARED):
    if auditor.direction is None:
        columns = [name for name in columns if not name.startswith("p_")]
    for name in columns:
        assert_allclose(one.table[name], other.table[name], rtol=1e-9, atol=1e-12)
    assert_allclose([one.low, one.high], [other.low, other.high], rtol=1e-9, atol=1e-12)


@ignores_undefined
@looked_at
@given(worlds(weights=True), analytic_auditors)
def test_whole_weights_are_repetitions_also_for_intervals_and_tests(data, auditor):
    again = rows(data, np.repeat(np.arange(len(data["y_true"])), data["sample_weight"]))
    del again["sample_weight"]
    assert_same_numbers(audit(auditor, data), audit(auditor, again), auditor)


@ignores_undefined
@looked_at
@given(worlds(), analytic_auditors, st.integers(2, 9))
def test_k_times_the_rows_shrink_the_error_by_the_root_of_k(data, auditor, k):
    once = audit(auditor, data)
    # Training rows are a sample too: MALS and Multi→ compare with their shares.
    train = {"sensitive_features": data["sensitive_train"], "sample_weight": [k] * 60}
    known = clone(auditor).fit(data["y_train"], **train)
    labels = {key: data[key] for key in AUDITED if key in data}
    often = known.audit(**labels, sample_weight=np.full(len(data["y_true"]), k))
    # Pairs of few rows leave the estimate, and associations that few rows leave open keep their
    # sign if many rows show them.
    assume((once.table["sign_used"] == often.table["sign_used"]).all())
    one, many = (result.statistics["standard_error"] for result in (once, often))
    assert_allclose(many * math.sqrt(k), one, rtol=1e-9, atol=1e-12)


def cells_of(**groups):
    """Rows from counts of (label, prediction) in each group."""
    listed = [
        (group, label, predicted)
        for group, counts in groups.items()
        for (label, predicted), n in counts.items()
        for _ in range(n)
    ]
    group, truth, predicted = zip(*listed, strict=True)
    return list(group), list(truth), list(predicted)


@every_interval
def test_a_pair_that_happens_not_to_vary_is_as_uncertain_in_the_value(interval):
    group, truth, predicted = cells_of(
        a={(0, 0): 420, (0, 1): 6, (1, 1): 20, (1, 0): 4}, b={(0, 0): 46, (1, 1): 4}
    )
    auditor = DirectionalAuditor(interval=interval)
    auditor.fit(truth, sensitive_features=group)
    result = auditor.audit(truth, predicted, sensitive_features=group)
    reach = 1 - 0.025 ** (1 / 50)
    assert result.table["high"][1] == pytest.approx(reach)
    assert result.value - result.low > reach / 2
    assert result.high - result.value > reach / 2


def of_fifty(gained, lost):
    """Fifty rows of `b`, some of which gain or lose the task, and many of `a`."""
    b = {(0, 0): 30 - gained, (0, 1): gained, (1, 1): 20 - lost, (1, 0): lost}
    group, truth, predicted = cells_of(a={(0, 0): 160, (0, 1): 20, (1, 1): 200, (1, 0): 30}, b=b)
    return {"y_true": truth, "y_pred": predicted, "sensitive_features": group}


def of_training():
    """Training labels in which `b` has the task less often."""
    group, truth, _ = cells_of(a={(0, 0): 40, (1, 1): 60}, b={(0, 0): 60, (1, 1): 40})
    return {"y_train": truth, "sensitive_train": group}


def test_intervals_of_few_differing_rows_hold_the_change():
    # One row in fifty gains the task, half a row loses it: what each outcome's interval says.
    n, gain, loss = 50, 0.02, 0.01
    auditor = DirectionalAuditor()
    held = 0.0
    for gained, lost in itertools.product(range(6), range(4)):
        seen = [gained, lost, n - gained - lost]
        p = stats.multinomial.pmf(seen, n, [gain, loss, 1 - gain - loss])
        table = audit(auditor, of_training() | of_fifty(gained, lost)).table
        low, high = table.loc[1, ["low", "high"]]
        held += p * (low <= loss - gain <= high)
    assert held >= 0.95


@pytest.mark.parametrize("n_runs", [2, 3])
def test_means_of_few_runs_seldom_show_what_is_not_there(n_runs):
    """Student's t over the runs alone would know nothing of the rows that all of them share."""
    rng, shown, n_data = np.random.default_rng(0), 0, 200
    auditor = DirectionalAuditor()
    for _ in range(n_data):
        group, labels = rng.integers(0, 2, (2, 2_000))
        trained = (rng.random(2_000) < np.where(group, 0.7, 0.3)).astype(int)
        auditor.fit(trained, sensitive_features=group)
        once = np.where(rng.random(2_000) < 0.3, rng.integers(0, 2, 2_000), labels)
        runs = [
            np.where(rng.random(2_000) < 0.2, rng.integers(0, 2, 2_000), once)
            for _ in range(n_runs)
        ]
        result = auditor.audit_runs(labels, runs, sensitive_features=group)
        shown += result.low > 0 or result.high < 0
    assert shown <= 0.05 * n_data + 2.5 * math.sqrt(0.05 * 0.95 * n_data)


def test_the_estimate_of_single_tasks_is_the_directional_one_with_its_interval():
    data = of_training() | of_fifty(2, 1)
    one, many = (
        audit(metric(random_state=0, n_resamples=199), data)
        for metric in (DirectionalAuditor, partial(MultiAttributeAuditor, base="test"))
    )
    for name in ("estimate", "low", "high", "p_value"):
        assert getattr(many, name) == pytest.approx(getattr(one, name), abs=1e-12)


def test_the_size_of_a_change_that_may_go_either_way_may_be_zero():
    group, truth, predicted = cells_of(
        a={(0, 0): 200, (0, 1): 30, (1, 1): 200, (1, 0): 31},
        b={(0, 0): 150, (0, 1): 30, (1, 1): 200, (1, 0): 90},
    )
    auditor = MultiAttributeAuditor(base="test")
    auditor.fit(truth, sensitive_features=group)
    table = auditor.audit(truth, predicted, sensitive_features=group).table
    assert table["low"][0] == 0 < table["high"][0]
    assert 0 < table["low"][1] < table["amplification"][1] < table["high"][1]


def test_missing_p_values_stay_missing():
    for missing in (None, pd.NA, np.nan):
        adjusted = adjust_p_values([0.01, missing, 0.04])
        np.testing.assert_allclose(adjusted, [0.02, np.nan, 0.04])


@pytest.mark.torch
def test_p_values_may_be_tensors_that_need_a_gradient():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([0.01, 0.04], requires_grad=True)
    assert adjust_p_values(tensor).tolist() == pytest.approx([0.02, 0.04])
    rows = adjust_p_values([tensor, tensor])
    assert rows.tolist() == [pytest.approx(one) for one in ([0.04, 0.08], [0.04, 0.08])]


def test_few_resamples_leave_out_as_much_as_they_say():
    """The smallest and the largest of 19 draws are the ends of a 90 % interval: 1/(19 + 1) each."""
    rng = np.random.default_rng(0)
    auditor = DirectionalAuditor(reference="test", confidence_level=0.9)
    inside = 0
    for i in range(500):
        sex = rng.integers(2, size=1_000)
        labels, others = (rng.random((2, 1_000)) < 0.3 + 0.2 * sex).astype(int)
        predictions = np.where(rng.random(1_000) < 0.5, labels, others)  # the same distribution
        auditor.set_params(random_state=i)
        result = auditor.audit(labels, predictions, sensitive_features=sex)
        inside += result.low <= 0 <= result.high
    assert 0.86 <= inside / 500 <= 0.94  # 0.8 if the ends lie between two draws
