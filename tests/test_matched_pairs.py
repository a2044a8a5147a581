"""Matched pairs: differences, tests and intervals, against data and numbers that are known."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp._input.errors import InputError
from skbiasamp.cli import main
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import MatchedPairsAuditor, matched_difference
from skbiasamp.results import AuditReport, Timeline

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
    assert result.sentence.startswith("A difference: within 400 pairs, predictions for a are 3.5")


def test_the_interval_is_agresti_and_min_s():
    row = of_two([[0, 1]] * 8 + [[1, 0]] * 20 + [[1, 1]] * 30 + [[0, 0]] * 42).table.iloc[0]
    # By hand: half a pair is added to each of the four kinds.
    centre, spread = 12 / 102, np.sqrt(29 - 12**2 / 102) / 102
    z = stats.norm.isf(0.025)
    np.testing.assert_allclose(
        [row["low"], row["high"]], [centre - z * spread, centre + z * spread]
    )
    assert row["p_value"] == pytest.approx(stats.binomtest(8, 28).pvalue)


def test_pairs_that_never_change_have_an_interval():
    row = of_two([[1, 1]] * 50 + [[0, 0]] * 50).table.iloc[0]
    assert (row["difference"], row["p_value"], row["ratio"]) == (0, 1, 1)
    assert -0.03 < row["low"] < 0 < row["high"] < 0.03


def test_scores_have_the_t_interval_and_sign_swaps():
    rng = np.random.default_rng(0)
    base, apart = rng.normal(size=40), rng.normal(0, 0.7, 20)
    scores = np.column_stack([base + 0.3 + np.r_[apart, -apart], base])
    row = of_two(scores, auditor=MatchedPairsAuditor(n_resamples=4999, random_state=1)).table.iloc[
        0
    ]
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
    """Of 300 data sets of 10 pairs, Student's t alone finds a difference in 10 %."""
    rng, found = np.random.default_rng(0), 0
    for _ in range(300):
        scores = np.column_stack([rng.exponential(size=10), np.ones(10)])
        row = of_two(scores, auditor=MatchedPairsAuditor(n_resamples=99)).table.iloc[0]
        found += not row["low"] <= 0 <= row["high"]
    assert found <= 23
    # By hand: Hall's cubic of the upper end, T + 2aT² + 4a²T³/3 + a = −t, a = skewness/(6√n).
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


def test_a_weight_counts_as_so_many_pairs():
    values = np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
    weight = np.array([5, 3, 2, 7])
    weighted = of_two(values, sample_weight=np.repeat(weight, 2))
    repeated = of_two(np.repeat(values, weight, axis=0))
    pd.testing.assert_frame_equal(weighted.table, repeated.table)
    scores = values + np.array([[0.5, 0], [0.25, 0], [0, 0], [0, 0.125]])
    names = np.arange(8) % 3
    weighted = of_two(scores, sample_weight=np.repeat(weight, 2), clusters=names)
    again = np.repeat(names.reshape(4, 2), weight, axis=0).ravel()
    repeated = of_two(np.repeat(scores, weight, axis=0), clusters=again)
    pd.testing.assert_frame_equal(weighted.table, repeated.table)


def test_the_two_way_variance_is_that_of_pairs_plus_names_minus_both():
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
    alone = audited(values, groups, pairs, clusters=pairs).table.iloc[0]
    plain = audited(values, groups, pairs).table.iloc[0]
    assert alone["standard_error"] == pytest.approx(plain["standard_error"])


def test_three_groups_are_compared_two_by_two():
    values, groups = [1, 0, 0, 1, 1, 0, 1, 0, 0], list("abc") * 3
    table = audited(values, groups, np.repeat([1, 2, 3], 3)).table
    assert list(zip(table["group"], table["other"], strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    np.testing.assert_allclose(table["difference"], [2 / 3, 1, 1 / 3])
    assert (table["p_adjusted"] >= table["p_value"]).all()
    with pytest.raises(InputError, match="There are 3 differences"):
        matched_difference(values, sensitive_features=groups, pairs=np.repeat([1, 2, 3], 3))


def test_classes_and_several_tasks():
    groups, pairs = ["f", "m"] * 2, [1, 1, 2, 2]
    answers = ["yes", "no", "no", "no"]
    assert matched_difference(answers, sensitive_features=groups, pairs=pairs) == 0.5
    how = {"sensitive_features": groups, "pairs": pairs, "pos_label": "no"}
    assert matched_difference(answers, **how) == -0.5
    assert matched_difference([1, 2, 2, 2], **how | {"pos_label": 2}) == -0.5
    two = pd.DataFrame({"hire": [1, 0, 0, 0], "call": [1, 1, 1, 0]})
    table = audited(two, groups, pairs).table
    assert dict(zip(table["task"], table["difference"], strict=True)) == {"hire": 0.5, "call": 0.5}


def test_the_order_of_rows_and_the_ids_change_nothing():
    rng = np.random.default_rng(0)
    values, groups = rng.integers(0, 2, 60), np.tile(list("ab"), 30)
    pairs, order = np.repeat(np.arange(15), 4), rng.permutation(60)
    table = audited(values, groups, pairs).table
    names = np.array([f"pair {i}" for i in pairs])
    again = audited(values[order], groups[order], names[order]).table
    pd.testing.assert_frame_equal(table, again, rtol=1e-12)


def test_pairs_of_one_group_are_named_and_counted():
    with pytest.warns(UncertaintyWarning, match=r"2 of 4 pairs have rows .* left out: 7 and 9\."):
        result = audited([1, 0, 1, 1, 1, 0], list("ababab"), [5, 5, 7, 8, 8, 9])
    assert (first(result, "n_pairs"), first(result, "n_unmatched")) == (2, 2)
    assert float(result) == 0.5


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"pairs": [1, 2, 3, 4]},
            r"pairs must give rows of two groups one id; each of 1, 2, 3 and 1 more has",
        ),
        ({"pairs": [1, 1, None, 2]}, "pairs has no id in 1 row"),
        ({"pairs": None}, "pairs is None"),
        ({"pairs": [1, 1]}, "pairs"),
        ({"y_pred": [1, 2, 2, 1]}, "y_pred holds 1 and 2: pass pos_label, or 0 and 1"),
        ({"y_pred": [1, 0, np.nan, 1]}, "y_pred has missing or infinite values"),
        ({"sensitive_features": ["a", "b", None, "b"]}, "sensitive_features"),
        ({"sample_weight": [1, 2, 1, 1]}, "the same for all rows of a pair"),
        ({"sample_weight": [1.5, 1.5, 1, 1]}, "must be whole"),
        ({"clusters": [1, 2, None, 1]}, "clusters has no id in 1 row"),
        ({"pear": "x"}, r"'pear'. Did you mean 'pair'\?|'pear'"),
    ],
)
def test_bad_input_is_named(changed, says):
    given = {"y_pred": [1, 0, 0, 1], "sensitive_features": list("abab"), "pairs": [1, 1, 2, 2]}
    given |= changed
    with pytest.raises(InputError, match=says):
        MatchedPairsAuditor().audit(given.pop("y_pred"), **given)


def covered(make, n_sets, **more):
    """Return how often the interval has 0, in data sets without an effect."""
    rows = [
        of_two(*make(np.random.default_rng(seed)), **more).table.iloc[0] for seed in range(n_sets)
    ]
    return np.mean([row["low"] <= 0 <= row["high"] for row in rows])


def test_a_model_without_an_effect_is_found_to_have_none():
    def binary(rng):
        chance = rng.beta(1, 4, size=(120, 1))
        return ((rng.random((120, 2)) < chance).astype(int),)

    def scores(rng):
        return (rng.exponential(size=(25, 1)) * (1 + rng.random((25, 2))),)

    quick = MatchedPairsAuditor(n_resamples=199, random_state=0)
    for make in (binary, scores):
        assert covered(make, 120, auditor=quick) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 120)


def test_clusters_that_all_differ_alike_are_not_certain():
    """Of three names, one in four draws of signs are all the same."""
    result = of_two([(1, 0)] * 9, clusters=np.repeat([*"xyz"], 6))
    assert (first(result, "difference"), first(result, "p_value")) == (1.0, 0.25)
    assert first(result, "low") < 0.7
    none = of_two([(1, 1)] * 9, clusters=np.repeat([*"xyz"], 6))
    assert first(none, "p_value") == 1
    assert first(none, "low") < -0.2 < 0.2 < first(none, "high")


def test_rows_that_do_not_count_are_as_if_they_were_not_there():
    rng = np.random.default_rng(0)
    values, names = rng.integers(0, 2, (30, 2)), rng.integers(0, 8, 60)
    weight = np.repeat(rng.integers(0, 3, 30), 2)
    kept = weight > 0
    expected = audited(
        values.ravel()[kept],
        np.array(["a", "b"] * 30)[kept],
        np.repeat(np.arange(30), 2)[kept],
        sample_weight=weight[kept],
        clusters=names[kept],
    )
    found = of_two(values, sample_weight=weight, clusters=names)
    pd.testing.assert_frame_equal(found.table, expected.table)
    groups = np.array(["a", "b"] * 30, dtype=object)
    groups[[8, 9, 11]] = None
    report = skbiasamp.audit(
        None,
        values.ravel(),
        sensitive_features=groups,
        pairs=np.repeat(np.arange(30), 2),
        missing="drop",
    )
    assert first(report.differences, "n_pairs") == 28
    assert first(report.differences, "n_unmatched") == 1


def test_a_pair_of_one_group_is_named_by_its_id_if_other_rows_count_for_nothing():
    ids, weight = ["x", "x", "y", "y", "z", "z"], [0, 0, 1, 1, 1, 1]
    with pytest.warns(UncertaintyWarning, match="1 of 2 pairs .* left out: 'z'"):
        audited([1, 0, 1, 0, 1, 0], list("ababaa"), ids, sample_weight=weight)


def test_names_that_matter_are_a_second_cluster():
    """Thirty names a group, each with its own effect: pairs alone are far too sure."""

    def outcomes(seed):
        rng = np.random.default_rng(seed)
        name = np.stack([rng.integers(0, 30, 300), 30 + rng.integers(0, 30, 300)], axis=1)
        values = rng.normal(size=(300, 1)) + rng.normal(size=60)[name] + rng.normal(size=(300, 2))
        return values, name.ravel()

    quick = MatchedPairsAuditor(n_resamples=2, random_state=0)
    inside = []
    for seed in range(100):
        values, names = outcomes(seed)
        rows = [of_two(values, clusters=c, auditor=quick).table.iloc[0] for c in (None, names)]
        inside.append([row["low"] <= 0 <= row["high"] for row in rows])
    plain, clustered = np.mean(inside, axis=0)
    assert plain < 0.7
    assert clustered >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 100)


@pytest.mark.parametrize(("n_names", "power"), [(10, 2.0), (3, 0.0)])
def test_names_that_are_few_or_frequent_are_not_certain(n_names, power):
    """A name that most rows have draws the mean of its group to itself."""
    share = np.arange(1, n_names + 1) ** -power
    quick, inside = MatchedPairsAuditor(n_resamples=2, random_state=0), []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        name = rng.choice(n_names, (300, 2), p=share / share.sum())
        name[:, 1] += n_names
        values = rng.normal(size=(300, 1)) + rng.normal(0, 0.5, 2 * n_names)[name]
        values = values + rng.normal(size=(300, 2))
        row = of_two(values, clusters=name.ravel(), auditor=quick).table.iloc[0]
        inside.append(row["low"] <= 0 <= row["high"])
        assert (row["p_value"] >= 0.05) == inside[-1]
    assert np.mean(inside) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 100)


# --------------------------------------------------------------------------- in a report


@needs_data
def test_a_report_of_pairs_needs_no_labels(tmp_path, capsys):
    pytest.importorskip("jinja2")
    frame = pd.read_csv(RESUMES)
    columns = {"prediction": "received_callback", "sensitive": "race", "pair": "job_ad_id"}
    report = skbiasamp.audit(frame, **columns, random_state=0)
    alone = MatchedPairsAuditor(random_state=0).audit(frame, **columns)
    pd.testing.assert_frame_equal(report.matched, alone.table)
    assert "within 1,323 pairs" in report.verdict
    assert "3.3 percentage points lower" in report.verdict
    assert not report.results
    again = AuditReport.from_json(report.to_json())
    assert again.verdict == report.verdict
    assert "Groups compared within pairs" in again.to_html()
    call = ["--prediction", "received_callback", "--sensitive", "race", "--pair", "job_ad_id"]
    assert main(["audit", str(RESUMES), *call, "--html", str(tmp_path / "page.html")]) == 0
    assert "within 1,323 pairs" in " ".join(capsys.readouterr().out.split())
    assert "within 1,323 pairs" in (tmp_path / "page.html").read_text("utf-8")


def test_pairs_stand_beside_the_metrics_of_labels_and_are_their_clusters():
    invited, labels = [0, 1] * 14 + [1, 1] * 186 + [0, 0] * 200, [0, 0, 1, 1] * 200
    how = {"sensitive_features": ["f", "m"] * 400, "random_state": 0}
    pairs = np.repeat(np.arange(400), 2)
    report = skbiasamp.audit(labels, invited, pairs=pairs, **how)
    assert report["directional A->T"].verdict == "cannot amplify"
    assert float(report.differences) == -0.035
    assert report["MALS"].statistics["n_clusters"] == 400
    assert "within 400 pairs" in repr(report)
    assert skbiasamp.audit(labels, invited, **how).differences is None
    with pytest.raises(InputError, match="need single rows with labels"):
        skbiasamp.audit(labels, np.array(invited) * 0.9, pairs=pairs, threshold=0.5, **how)


# --------------------------------------------------------------------------- two models


def two_models(seed, n=300, gap=0.0):
    """Return a pair a person and sex, and the decisions of two models; the new one has the gap."""
    rng = np.random.default_rng(seed)
    pair, sex = np.repeat(np.arange(n), 2), np.tile(["f", "m"], n)
    skill = np.repeat(rng.random(n), 2)
    old, new = (
        (skill + rng.normal(0, 0.1, 2 * n) > 0.5 + step * (sex == "f")).astype(int)
        for step in (0.05, 0.05 + gap)
    )
    return {"old": old, "new": new}, {"sensitive_features": sex, "pairs": pair}


def test_models_are_compared_by_the_change_within_pairs():
    models, by = two_models(0, gap=0.1)
    (row,) = MatchedPairsAuditor(random_state=0).compare(models, **by).table.to_dict("records")
    d = {name: own.reshape(-1, 2) @ [1, -1] for name, own in models.items()}
    change = d["new"] - d["old"]
    assert (row["model"], row["group"], row["other"], row["n_pairs"]) == ("new", "f", "m", 300)
    assert row["mean"] == pytest.approx(d["new"].mean())
    assert row["mean_other"] == pytest.approx(d["old"].mean())
    assert row["difference"] == pytest.approx(change.mean())
    assert row["standard_error"] == pytest.approx(change.std(ddof=1) / 300**0.5)
    # Agresti and Min: two pairs more, half of which change in each direction.
    n, total, squares = 302, change.sum(), (change**2).sum() + 1
    z = stats.norm.ppf(0.975) * np.sqrt(squares - total**2 / n) / n
    assert (row["low"], row["high"]) == pytest.approx((total / n - z, total / n + z))
    t = stats.ttest_1samp(change, 0).pvalue
    assert (row["test"], row["p_value"]) == ("sign swaps", pytest.approx(t, abs=0.004))
    same = MatchedPairsAuditor(random_state=0).compare(
        {"a": models["old"], "b": models["old"]}, **by
    )
    (row,) = same.table.to_dict("records")
    assert row["difference"] == 0
    assert row["low"] < 0 < row["high"]
    assert row["p_value"] == 1
    words = {name: np.where(own, "yes", "no") for name, own in models.items()}
    named = MatchedPairsAuditor(pos_label="yes", random_state=0).compare(words, **by)
    assert named.table["difference"].iloc[0] == pytest.approx(change.mean())


def test_models_without_another_gap_are_found_to_have_none():
    rows = [
        MatchedPairsAuditor(n_resamples=199, random_state=0)
        .compare(*(given := two_models(seed))[:1], **given[1])
        .table.iloc[0]
        for seed in range(200)
    ]
    false = np.mean([row["p_value"] < 0.05 for row in rows])
    covered = np.mean([row["low"] <= 0 <= row["high"] for row in rows])
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
    assert 0.95 - 2 * np.sqrt(0.05 * 0.95 / 200) <= covered


def test_a_comparison_takes_pairs_with_labels_and_without():
    models, by = two_models(0, gap=0.1)
    alone = skbiasamp.compare(None, models, **by, random_state=0)
    assert (alone.reference, alone.models, alone.primary) == ("old", ["new"], None)
    assert "A change by 'new': within 300 pairs, the difference f minus m is" in alone.verdict
    assert alone.differences.table["difference"].iloc[0] < 0
    assert "no counterfactual fairness" not in alone.verdict
    read = skbiasamp.results.ComparisonReport.from_json(alone.to_json())
    assert read.to_dict() == alone.to_dict()
    assert str(read) == str(alone)
    labels = np.roll(models["old"], 1)
    both = skbiasamp.compare(labels, models, **by, random_state=0)
    assert both.matched.equals(alone.matched)
    assert both.primary == "directional A->T"
    assert "A change by 'new'" in str(both)
    counts = skbiasamp.Contingency.from_labels(
        labels, models["old"], sensitive_features=by["sensitive_features"]
    )
    for rows, more, says in (
        (labels, {"groups": "marginal"}, "pairs need single rows with labels as predictions"),
        (counts, {}, "pairs need single rows, and a Contingency has counts"),
    ):
        inputs = by if rows is labels else {"pairs": by["pairs"]}
        several = models if rows is labels else None
        with pytest.raises(InputError, match=says):
            skbiasamp.compare(rows, several, **more, **inputs)
        with pytest.raises(InputError, match=says):
            skbiasamp.audit(rows, several and several["old"], **more, **inputs)


def test_models_are_compared_by_columns_and_by_the_command(tmp_path, capsys):
    models, by = two_models(0, gap=0.1)
    arrays = skbiasamp.compare(None, models, **by, random_state=0)
    frame = pd.DataFrame({**models, "sex": by["sensitive_features"], "id": by["pairs"]})
    columns = {"prediction": {"old": "old", "new": "new"}, "sensitive": "sex", "pair": "id"}
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    for rows in (frame, pl.from_pandas(frame), path):
        named = skbiasamp.compare(rows, **columns, random_state=0)
        numbers = named.matched.drop(columns="task")
        pd.testing.assert_frame_equal(numbers, arrays.matched.drop(columns="task"))
    label = np.roll(models["old"], 1)
    of_label = {"target": "label", **columns, "random_state": 0}
    both = skbiasamp.compare(frame.assign(label=label), **of_label)
    same = skbiasamp.compare(label, models, **by, random_state=0)
    assert both["directional A->T"].table.equals(same["directional A->T"].table)
    within, apart = (
        skbiasamp.compare(frame.assign(label=label, half=half), given="half", **of_label)
        for half in (1, label * (frame["sex"] == "f"))
    )
    assert within["directional A->T"].table.equals(same["directional A->T"].table)
    assert not apart["directional A->T"].table.equals(same["directional A->T"].table)
    line = f"compare {path} --prediction old=old new=new --sensitive sex --pair id"
    assert main([*line.split(), "--json", str(tmp_path / "out.json")]) == 0
    assert "A change by 'new': within 300 pairs" in " ".join(capsys.readouterr().out.split())
    read = skbiasamp.results.ComparisonReport.from_json(tmp_path / "out.json")
    assert read.matched["difference"].tolist() == arrays.matched["difference"].tolist()


def test_columns_of_pairs_are_read_once():
    """An engine may return rows in another order each time, and reading costs."""
    models, by = two_models(0, gap=0.1)
    frame = pd.DataFrame({**models, "sex": by["sensitive_features"], "id": by["pairs"]})
    frame["label"] = np.roll(models["old"], 1)
    read = []

    def rows(part):
        read.append(part.shape)
        return part

    lazy = pl.from_pandas(frame).lazy().map_batches(rows, schema=None)
    columns = {"target": "label", "sensitive": "sex", "pair": "id"}
    skbiasamp.compare(lazy, prediction={"old": "old", "new": "new"}, **columns, random_state=0)
    assert len(read) == 1


def test_models_have_the_same_tasks_whatever_their_columns_and_classes_are_called():
    models, by = two_models(0, gap=0.1)
    expected = MatchedPairsAuditor(random_state=0).compare(models, **by).table
    titled = {name: pd.Series(own, name=f"p_{name}") for name, own in models.items()}
    table = MatchedPairsAuditor(random_state=0).compare(titled, **by).table
    assert table["difference"].tolist() == expected["difference"].tolist()
    # One model says "no" to all: its only class is not the positive one.
    words = {"old": np.where(models["old"], "yes", "no"), "none": np.full(600, "no")}
    zeros = MatchedPairsAuditor().compare({"old": models["old"], "none": 0 * models["old"]}, **by)
    result = MatchedPairsAuditor().compare(words, **by)
    assert result.table["difference"].tolist() == zeros.table["difference"].tolist()


# ------------------------------------------------------------------------------ over time


def watched(n_months=6, n=150, *, drop=0.0, start=4, seed=0):
    """Return pairs of both sexes a month; from month `start` on, women lose decisions."""
    rng = np.random.default_rng(seed)
    size = n_months * n
    month = np.repeat(np.arange(n_months), n)
    men = rng.random(size) < 0.4
    women = np.where(rng.random(size) < 0.2, rng.random(size) < 0.4, men)
    women &= (month < start) | (rng.random(size) >= drop)
    frame = pd.DataFrame({"advert": [*range(size)] * 2, "month": [*month] * 2})
    frame["day"] = "2026-" + (1 + frame["month"]).map("{:02d}".format) + "-15"
    frame["sex"] = ["w"] * size + ["m"] * size
    frame["chosen"] = np.r_[women, men].astype(int)
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


PAIRS = {"time": "day", "pair": "advert", "prediction": "chosen", "sensitive": "sex"}


def test_a_watch_of_pairs_has_the_difference_of_each_month():
    frame = watched(drop=0.5)
    timeline = skbiasamp.audit_over(frame, **PAIRS, reference=3, random_state=0)
    for row in timeline.periods.to_dict("records"):
        rows = frame[frame["day"].str.startswith(row["period"])]
        alone = audited(rows["chosen"], rows["sex"], rows["advert"]).table.iloc[0]
        assert row["value"] == pytest.approx(alone["difference"], abs=1e-12)
        assert row["n"] == alone["n_pairs"]
        ratio = (row["high"] - row["low"]) / (alone["high"] - alone["low"])
        assert 0.8 < ratio < 1.25  # of resamples, not of Agresti and Min
    assert (timeline.verdict, timeline.onset) == ("alarm", "2026-05")
    assert "m minus w" in timeline.question
    assert timeline.pairs.empty
    again = Timeline.from_json(timeline.to_json())
    assert again.sentence == timeline.sentence


def test_pairs_that_change_nothing_raise_few_alarms():
    # At most 5 %: of 60 watches without a change, 8 or more alarms have a chance of 1 %.
    alarms = [
        skbiasamp.audit_over(watched(seed=seed, n=60), **PAIRS, n_draws=99, reference=2).verdict
        for seed in range(60)
    ]
    assert alarms.count("alarm") < 8
    # A change of both groups is none of the difference.
    frame = watched(drop=0.0, seed=1)
    frame["chosen"] = np.where(frame["month"] >= 3, 1 - frame["chosen"], frame["chosen"])
    swapped = skbiasamp.audit_over(frame, **PAIRS, reference=3, random_state=0)
    assert swapped.verdict == "no alarm"


def test_a_pair_belongs_to_the_month_of_its_earlier_row_and_weights_repeat_it():
    frame = watched(n_months=4, n=40).assign(
        chosen=lambda rows: rows["chosen"].map({0: "no", 1: "yes"})
    )
    frame.loc[frame["sex"] == "m", "day"] = "2026-12-31"
    plain = skbiasamp.audit_over(frame, **PAIRS, n_draws=19)
    assert plain.periods["n"].tolist() == [40] * 4
    other = skbiasamp.audit_over(frame, **PAIRS, n_draws=19, pos_label="no")
    np.testing.assert_allclose(other.periods["value"], -plain.periods["value"], atol=1e-12)
    twice = skbiasamp.audit_over(frame.assign(times=2), **PAIRS, n_draws=19, weight="times")
    assert twice.periods["n"].tolist() == [80] * 4
    assert twice.periods["value"].tolist() == plain.periods["value"].tolist()
    lazy = skbiasamp.audit_over(pl.from_pandas(frame).lazy(), **PAIRS, n_draws=19)
    assert lazy.periods["value"].tolist() == plain.periods["value"].tolist()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"target": "chosen"}, "target.* plays no part where matched pairs are watched"),
        ({"given": "month"}, "given.* plays no part"),
        ({"auditor": DirectionalAuditor()}, "auditor plays no part"),
        ({"groups": "marginal"}, "groups plays no part"),
        ({"prediction": None}, "prediction must name a column of the frame beside pair"),
        ({"sensitive": None}, "sensitive must name a column of the frame beside pair"),
        ({"sensitive": "age"}, "two groups"),
        ({"prediction": "score"}, "one decision of 0 or 1"),
        ({"prediction": "chsen"}, "prediction must name a column; .* did you mean 'chosen'"),
        ({"time": "dya"}, "time must name a column; there is no column 'dya': did you mean 'day'"),
        ({"pair": "month"}, "one row of each group to be watched; 592 rows repeat"),
    ],
)
def test_what_a_watch_of_pairs_cannot_be_asked(more, says):
    frame = watched(n_months=2)
    frame = frame.assign(age=np.arange(len(frame)) % 3, score=np.arange(len(frame)) / 1000)
    if more.get("sensitive") == "age":
        frame["advert"] = np.arange(len(frame)) // 3
    if "pair" in more:
        frame["month"] = np.arange(len(frame)) % 4
    with pytest.raises(InputError, match=says):
        skbiasamp.audit_over(frame, **PAIRS | more)


def test_a_table_of_clusters_may_hold_the_pairs_too():
    frame = watched(n_months=1).assign(name=lambda rows: rows["advert"] % 9)
    values, sex, pairs = frame["chosen"], frame["sex"], frame["advert"]
    one = audited(values, sex, pairs, clusters=frame["name"]).table
    for clusters in (frame[["advert", "name"]], frame[["name", "advert"]].to_numpy()):
        both = audited(values, sex, pairs, clusters=clusters).table
        pd.testing.assert_frame_equal(both, one)
    named = {"prediction": "chosen", "sensitive": "sex", "pair": "advert"}
    columns = MatchedPairsAuditor().audit(frame, **named, cluster=["advert", "name"]).table
    pd.testing.assert_series_equal(columns["standard_error"], one["standard_error"])
    with pytest.raises(InputError, match="of two columns must be the ids of pairs and one more"):
        audited(values, sex, pairs, clusters=frame[["name", "month"]])


def test_a_report_of_pairs_takes_the_positive_class():
    frame = watched(n_months=1, drop=0.5, start=0)
    words = frame["chosen"].map({0: "no", 1: "yes"})
    given = {"sensitive_features": frame["sex"], "pairs": frame["advert"], "random_state": 0}
    differences = [
        skbiasamp.audit(words, words, pos_label=label, **given).matched["difference"].iloc[0]
        for label in ("yes", "no")
    ]
    assert differences[0] == -differences[1] != 0


def test_one_pair_has_a_difference_and_no_interval():
    row = audited([1, 0], ["a", "b"], [1, 1]).table.iloc[0]
    assert (row["difference"], row["n_pairs"]) == (1.0, 1.0)
    assert np.isnan(row["standard_error"])


def test_errors_of_the_function_name_what_it_has():
    groups, pairs = np.array(["f", "m"] * 100, dtype=object), np.arange(200) // 2
    decided = np.arange(200) % 3 == 0
    with pytest.raises(ValueError, match="fewer: merge small ones"):
        matched_difference(decided, sensitive_features=np.arange(200) % 40, pairs=pairs)
    groups[5] = None
    with pytest.raises(ValueError, match=r"\(MatchedPairsAuditor\(missing='drop'\)\)"):
        matched_difference(decided, sensitive_features=groups, pairs=pairs)


def test_a_column_of_arrow_names_its_task():
    table = pytest.importorskip("pyarrow").table(
        {"hired": [0, 1] * 20, "sex": ["f", "m"] * 20, "pair": np.arange(40) // 2}
    )
    columns = {"prediction": "hired", "sensitive": "sex", "pair": "pair"}
    assert MatchedPairsAuditor().audit(table, **columns).table["task"].tolist() == ["hired"]


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow", "duckdb"])
def test_columns_may_be_named_like_patterns(library):
    made = {"*": [0, 1] * 14 + [1, 1] * 186, "^s$": ["f", "m"] * 200, "^.*$": np.arange(400) // 2}
    frame = pd.DataFrame(made)
    if library in ("polars", "lazy"):
        frame = pl.from_pandas(frame)
        frame = frame.lazy() if library == "lazy" else frame
    elif library != "pandas":
        table = pytest.importorskip("pyarrow").table(made)
        frame = table if library == "pyarrow" else pytest.importorskip("duckdb").from_arrow(table)
    named = {"prediction": "*", "sensitive": "^s$", "pair": "^.*$"}
    row = MatchedPairsAuditor().audit(frame, **named).table.iloc[0]
    assert (row["group"], row["difference"]) == ("f", pytest.approx(-14 / 200))
