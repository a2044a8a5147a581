"""Matched pairs: differences, tests and intervals, against data and numbers that are known."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import MatchedPairsAuditor, matched_difference

DATA = Path(os.environ.get("SKBIASAMP_DATA", "missing"))
RESUMES = DATA / "resume_callbacks.csv.gz"
needs_data = pytest.mark.skipif(not RESUMES.exists(), reason="needs SKBIASAMP_DATA")


def audited(values, groups, pairs, *, auditor=None, **more):
    auditor = auditor or MatchedPairsAuditor(random_state=0)
    return auditor.audit(values, sensitive_features=groups, pairs=pairs, **more)


def of_two(values, **more):
    """Audit pairs of one row of each group: `values` are pairs × 2."""
    values = np.asarray(values)
    groups, pairs = ["a", "b"] * len(values), np.repeat(np.arange(len(values)), 2)
    return audited(values.ravel(), groups, pairs, **more)


def first(result, name):
    return result.table[name].iloc[0]


@needs_data
def test_the_resumes_of_bertrand_and_mullainathan():
    frame = pd.read_csv(RESUMES)
    columns = {"prediction": "received_callback", "sensitive": "race", "pair": "job_ad_id"}
    auditor = MatchedPairsAuditor(random_state=0)
    (row,) = auditor.audit(frame, **columns).table.to_dict("records")
    # Table 1 of the paper, and its regression with a mean for each advertisement.
    assert (row["group"], row["other"], row["n_pairs"]) == ("black", "white", 1323)
    assert (round(row["mean_other"], 4), round(row["mean"], 4)) == (0.0965, 0.0645)
    assert round(row["mean_other"] - row["mean"], 4) == 0.0320
    assert round(row["ratio"], 3) == 0.668
    assert (round(row["difference"], 4), round(row["standard_error"], 4)) == (-0.0325, 0.0063)
    assert row["p_value"] <= 0.001
    named = auditor.audit(frame, **columns, cluster="firstname").table.iloc[0]
    assert named["difference"] == row["difference"]
    assert named["standard_error"] > row["standard_error"]
    polars = auditor.audit(pl.from_pandas(frame[list(columns.values())]), **columns)
    assert polars.table.iloc[0].to_dict() == row


def test_the_table_of_400_pairs_of_which_14_change():
    result = of_two([[0, 1]] * 14 + [[1, 1]] * 186 + [[0, 0]] * 200)
    row = result.table.iloc[0]
    assert row["test"] == "McNemar"
    assert row["p_value"] == pytest.approx(2 * 0.5**14)
    assert float(result) == row["difference"] == -14 / 400
    assert row["ratio"] == pytest.approx(186 / 200)
    # The logarithm of a ratio of paired shares has the variance (b + c) / ((a + b)(a + c)).
    se = np.sqrt(14 / (186 * 200))
    z = stats.norm.isf(0.025)
    assert row["ratio_low"] == pytest.approx(0.93 * np.exp(-z * se), rel=0.01)
    assert (result.metric, result.n_samples, result.verdict) == (
        "matched pairs", 800, "adds a difference"
    )  # fmt: skip
    assert (result.low, result.high, result.p_value) == (row["low"], row["high"], row["p_value"])
    assert of_two([[0, 1], [1, 0]] * 9).verdict == "no clear effect"
    assert audited([1.5, 0.25], ["a", "b"], [1, 1]).verdict == "not measured"
    row = of_two([[1, 1]] * 50 + [[0, 0]] * 50).table.iloc[0]
    assert (row["difference"], row["p_value"], row["ratio"]) == (0, 1, 1)
    assert -0.03 < row["low"] < 0 < row["high"] < 0.03
    row = of_two([[1, 0]]).table.iloc[0]
    assert (row["difference"], row["n_pairs"]) == (1.0, 1.0)
    assert np.isnan(row["standard_error"])


def test_the_interval_is_agresti_and_min_s():
    row = of_two([[0, 1]] * 8 + [[1, 0]] * 20 + [[1, 1]] * 30 + [[0, 0]] * 42).table.iloc[0]
    # By hand: half a pair is added to each of the four kinds.
    centre, spread = 12 / 102, np.sqrt(29 - 12**2 / 102) / 102
    z = stats.norm.isf(0.025)
    np.testing.assert_allclose(
        [row["low"], row["high"]], [centre - z * spread, centre + z * spread]
    )
    assert row["p_value"] == pytest.approx(stats.binomtest(8, 28).pvalue)


@pytest.mark.parametrize("more", [0, 1])
def test_an_interval_that_mcnemars_test_does_not_agree_with_ends_where_that_of_its_share_does(more):
    """Agresti and Min's would exclude 0 of 7 and 1 pairs of 100, whose p-value is 0.07."""
    seven, one = np.roll([0, 1], more), np.roll([1, 0], more)
    row = of_two([seven] * 7 + [one] + [[1, 1]] * 50 + [[0, 0]] * 42).table.iloc[0]
    assert row["p_value"] == pytest.approx(stats.binomtest(7, 8).pvalue)
    exact = 8 / 100 * (2 * stats.binomtest(1, 8).proportion_ci().high - 1)
    assert row["difference"] == pytest.approx(0.06 if more else -0.06)
    end = -row["low"] if more else row["high"]
    assert end == pytest.approx(exact)
    assert exact > 0


def test_scores_have_the_t_interval_and_sign_swaps():
    rng = np.random.default_rng(0)
    base, apart = rng.normal(size=40), rng.normal(0, 0.7, 20)
    scores = np.column_stack([base + 0.3 + np.r_[apart, -apart], base])
    auditor = MatchedPairsAuditor(n_resamples=4999, random_state=1)
    row = of_two(scores, auditor=auditor).table.iloc[0]
    expected = stats.ttest_rel(*scores.T)
    interval = expected.confidence_interval()
    np.testing.assert_allclose([row["low"], row["high"]], interval)
    assert row["test"] == "sign swaps"
    difference = scores[:, 0] - scores[:, 1]
    permuted = stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", n_resamples=4999, rng=2
    )
    assert row["p_value"] == pytest.approx(permuted.pvalue, abs=0.01)
    assert np.isnan(row["ratio"])


def test_few_skewed_differences_reach_as_far_as_their_skewness_needs():
    """Hall's cubic of the upper end, T + 2aT² + 4a²T³/3 + a = −t, where a = skewness/(6√n)."""
    rng = np.random.default_rng(0)
    scores = np.column_stack([rng.exponential(size=10), np.ones(10)])
    row = of_two(scores, auditor=MatchedPairsAuditor(n_resamples=99)).table.iloc[0]
    d, part = scores[:, 0] - 1, stats.skew(scores[:, 0]) / (6 * 10**0.5)
    t = (d.mean() - row["high"]) / stats.sem(d)
    assert part > 0
    cubic = t + 2 * part * t**2 + 4 * part**2 * t**3 / 3 + part
    assert cubic == pytest.approx(-stats.t.isf(0.025, 9))
    interval = stats.ttest_1samp(d, 0).confidence_interval()
    assert row["low"] == pytest.approx(interval.low)


def test_blocks_of_several_rows_count_once_each():
    values, groups = [1, 0, 1, 1, 0, 0], list("aabaab")
    pairs = [1, 1, 1, 2, 2, 2]
    result = audited(values, groups, pairs)
    # Pair 1: 1/2 − 1; pair 2: 1/2 − 0.
    assert float(result) == 0
    assert (first(result, "mean"), first(result, "mean_other")) == (0.5, 0.5)
    assert (first(result, "higher"), first(result, "lower")) == (1, 1)
    assert first(result, "test") == "sign swaps"


def test_a_weight_counts_as_so_many_pairs_in_any_order():
    rng, weight = np.random.default_rng(0), np.array([5, 3, 2, 7, 0])
    values = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 0]])  # the last does not count
    scores = values + np.array([[0.5, 0], [0.25, 0], [0, 0], [0, 0.125], [0, 0]])
    names = np.arange(10) % 3
    again = np.repeat(names.reshape(5, 2), weight, axis=0).ravel()
    for table, clusters, repeated in ((values, None, None), (scores, names, again)):
        weighted = of_two(table, sample_weight=np.repeat(weight, 2), clusters=clusters)
        rows = np.repeat(table, weight, axis=0)
        result = of_two(rows, clusters=repeated)
        pd.testing.assert_frame_equal(weighted.table, result.table)
        order, pairs = rng.permutation(rows.size), np.repeat(np.arange(len(rows)), 2)
        moved = audited(
            rows.ravel()[order],
            np.array(["a", "b"] * len(rows))[order],
            np.array([f"pair {i}" for i in pairs])[order],
            clusters=None if repeated is None else repeated[order],
        )
        pd.testing.assert_frame_equal(moved.table, result.table, rtol=1e-12)


def test_the_two_way_variance_is_that_of_pairs_plus_names_minus_both():
    """Few names, or one of many rows, reach as far as the jackknife by names and Kish's df."""
    rng = np.random.default_rng(3)
    values, names = rng.normal(size=60), rng.integers(0, 7, 60)
    groups, pairs = np.tile([0, 1], 30), np.repeat(np.arange(30), 2)
    row = audited(values, groups, pairs, clusters=names).table.iloc[0]
    centred = values - np.array([values[groups == g].mean() for g in (0, 1)])[groups]
    influence = np.where(groups == 0, 1, -1) * centred / 30

    def variance(ids):
        sums = pd.Series(influence).groupby(ids).sum()
        return (sums**2).sum() * len(sums) / (len(sums) - 1)

    parts = [variance(pairs), variance(names), variance(pairs * 7 + names)]
    expected = np.sqrt(max(parts[0], parts[0] + parts[1] - parts[2]))
    assert row["standard_error"] == pytest.approx(expected)
    reach = stats.t.isf(0.025, 6) * expected
    assert row["high"] - row["difference"] == pytest.approx(reach)
    names = np.where(rng.random(60) < 0.5, 0, names)  # one draws the means to itself
    row = audited(values, groups, pairs, clusters=names).table.iloc[0]
    share = pd.Series(1 / 30, range(60)).groupby([names, groups]).transform("sum")
    shares = pd.Series(1 / 30, range(60)).groupby([names, groups]).sum()
    further = influence * np.sqrt(1 - 1 / 7) / (1 - share)
    squares = further.groupby(names).sum() ** 2
    both = variance(pairs * 7 + names)
    wider = max(variance(pairs), variance(pairs) + squares.sum() * 7 / 6 - both)
    reach = stats.t.isf(0.025, 4 / (shares**2).sum() - 2) * np.sqrt(wider)
    assert row["high"] - row["difference"] == pytest.approx(reach)
    alone = audited(values, groups, pairs, clusters=pairs).table.iloc[0]
    plain = audited(values, groups, pairs).table.iloc[0]
    assert alone["standard_error"] == pytest.approx(plain["standard_error"])


def test_pairs_that_are_treated_alike_show_no_difference():
    result = MatchedPairsAuditor().audit(
        [1, 1, 0, 0] * 30, sensitive_features=["a", "b"] * 60, pairs=np.repeat(np.arange(60), 2)
    )
    assert (result.value, result.verdict, result.p_value) == (0, "no clear effect", 1)


def test_three_groups_are_compared_two_by_two():
    values, groups = [1, 0, 0, 1, 1, 0, 1, 0, 0], list("abc") * 3
    table = audited(values, groups, np.repeat([1, 2, 3], 3)).table
    assert (table["group"] + table["other"]).tolist() == ["ab", "ac", "bc"]
    np.testing.assert_allclose(table["difference"], [2 / 3, 1, 1 / 3])
    assert (table["p_adjusted"] >= table["p_value"]).all()
    rows = pd.DataFrame({"y": np.random.default_rng(0).random(90), "pair": np.arange(90) // 3})
    rows["group"] = list("abc") * 30
    of_all, *of_two = (
        audited(each["y"], each["group"], each["pair"]).table
        for each in (rows, rows.query("group != 'c'"), rows.query("group != 'b'"))
    )
    for row, alone in enumerate(of_two):
        names = ["standard_error", "low", "ratio_low"]
        np.testing.assert_allclose(of_all[names].iloc[row], alone[names].iloc[0])


def test_classes_and_several_tasks():
    groups, pairs = ["f", "m"] * 2, [1, 1, 2, 2]
    answers = ["yes", "no", "no", "no"]
    assert matched_difference(answers, sensitive_features=groups, pairs=pairs) == 0.5
    how = {"sensitive_features": groups, "pairs": pairs, "pos_label": "no"}
    assert matched_difference(answers, **how) == -0.5
    two = pd.DataFrame({"hire": [1, 0, 0, 0], "call": [1, 1, 1, 0]})
    table = audited(two, groups, pairs).table
    assert dict(zip(table["task"], table["difference"], strict=True)) == {"hire": 0.5, "call": 0.5}


def test_pairs_of_one_group_are_named_and_counted():
    with pytest.warns(UncertaintyWarning, match=r"2 of 4 pairs have rows .* left out: 7 and 9\."):
        result = audited([1, 0, 1, 1, 1, 0], list("ababab"), [5, 5, 7, 8, 8, 9])
    assert (first(result, "n_pairs"), first(result, "n_unmatched")) == (2, 2)
    assert float(result) == 0.5
    auditor = MatchedPairsAuditor(missing="drop", random_state=0)
    dropped = audited(
        [1, 0, 1, 0, 1, 1], [*"aba", None, *"ab"], [1, 1, 2, 2, 3, 3], auditor=auditor
    )
    assert (first(dropped, "n_pairs"), first(dropped, "n_unmatched")) == (2, 1)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"pairs": [1, 2, 3, 4]}, "pairs must give .* one id; each of 1, 2, 3 and 1 more has"),
        ({"y_pred": [1, 2, 2, 1]}, "y_pred holds 1 and 2: pass pos_label, or 0 and 1"),
        ({"sample_weight": [1, 2, 1, 1]}, "the same for all rows of a pair"),
    ],
)
def test_bad_input_is_named(changed, says):
    given = {"y_pred": [1, 0, 0, 1], "sensitive_features": list("abab"), "pairs": [1, 1, 2, 2]}
    with pytest.raises(ValueError, match=says):
        MatchedPairsAuditor().audit(**given | changed)


def test_clusters_that_all_differ_alike_are_not_certain():
    """Of three names, one in four draws of signs are all the same."""
    result = of_two([(1, 0)] * 9, clusters=np.repeat([*"xyz"], 6))
    assert (first(result, "difference"), first(result, "p_value")) == (1.0, 0.25)
    assert first(result, "low") < 0.7
    none = of_two([(1, 1)] * 9, clusters=np.repeat([*"xyz"], 6))
    assert first(none, "p_value") == 1
    assert first(none, "low") < -0.2 < 0.2 < first(none, "high")


def test_of_several_differences_the_value_is_the_largest_and_holds_for_all():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=120) + np.tile([0.4, 0, 0], 40), np.tile([*"abc"], 40)
    result = audited(values, groups, np.repeat(np.arange(40), 3))
    row = result.strongest(1).iloc[0]
    assert float(result) == row["difference"]
    assert abs(row["difference"]) == result.table["difference"].abs().max()
    assert result.low < row["low"]
    assert row["high"] < result.high
    assert result.p_value >= row["p_value"]
    assert (result.p_value < 0.05) == (result.verdict == "adds a difference")
