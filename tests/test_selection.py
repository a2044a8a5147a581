"""Selection rates, impact ratios and differences: published tables, score tests, Newcombe."""

import html
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from document_parts import part_of, table_of
from scipy import optimize, stats
from scipy.stats import studentized_range

import skbiasamp
from skbiasamp import DirectionalAuditor

# Internals: the edge of each score test, of counts alone.
from skbiasamp.inference.shares import critical_values, ratios_to_highest

# The intersectional example in § 5-301 of the rules of New York City's Department of Consumer and
# Worker Protection for Local Law 144: applicants, selected, printed rate and impact ratio.
MEN = {
    "Hispanic": (205, 90, 43.9, 0.841),
    "White": (412, 215, 52.2, 1.000),
    "Black": (226, 95, 42.0, 0.806),
    "Pacific Islander": (87, 37, 42.5, 0.815),
    "Asian": (321, 167, 52.0, 0.997),
    "Native American": (24, 11, 45.8, 0.878),
    "Two or more": (115, 52, 45.2, 0.866),
}
WOMEN = {
    "Hispanic": (190, 82, 43.2, 0.827),
    "White": (385, 197, 51.2, 0.981),
    "Black": (164, 75, 45.7, 0.876),
    "Pacific Islander": (32, 15, 46.9, 0.898),
    "Asian": (295, 135, 45.8, 0.877),
    "Native American": (17, 7, 41.2, 0.789),
    "Two or more": (98, 44, 44.9, 0.860),
}
# Its table of races has 408 Hispanic applicants, and the intersections 395: that row is left out.
RACES = {
    "White": (797, 412, 0.52, 1.00),
    "Black": (390, 170, 0.44, 0.84),
    "Pacific Islander": (119, 52, 0.44, 0.85),
    "Asian": (616, 302, 0.49, 0.95),
    "Native American": (41, 18, 0.44, 0.85),
    "Two or more": (213, 96, 0.45, 0.87),
}


@pytest.fixture(scope="module")
def applicants():
    rows = [
        (sex, race, selected)
        for sex, table in (("Male", MEN), ("Female", WOMEN))
        for race, (n, k, *_) in table.items()
        for selected, times in ((1, k), (0, n - k))
        for _ in range(times)
    ]
    rows += [(None, None, i % 2) for i in range(250)]
    return pd.DataFrame(rows, columns=["sex", "race", "selected"])


@pytest.fixture(scope="module")
def published(applicants):
    return skbiasamp.selection_rates(applicants, prediction="selected", sensitive=["sex", "race"])


def by(rates, name):
    table = rates if isinstance(rates, pd.DataFrame) else rates.table
    return table[table["by"] == name].set_index("category")


def test_the_tables_of_local_law_144(published):
    sexes = by(published, "sex")
    assert sexes.loc["Male", ["n", "selected", "impact_ratio"]].tolist() == [1390, 667, 1]
    assert sexes.loc["Female", ["n", "selected"]].tolist() == [1181, 555]
    assert sexes.loc["Female", "impact_ratio"] == pytest.approx(0.979, abs=5e-4)
    columns, races = ["n", "selected", "selection_rate", "impact_ratio"], by(published, "race")
    for race, (n, k, rate, ratio) in RACES.items():
        row = races.loc[race, columns].tolist()
        # "44 %" of 390 is 43.59, and 0.84 of 0.52 is 43.59 / 51.69: cut off and rounded.
        assert row == [n, k, pytest.approx(rate, abs=0.0065), pytest.approx(ratio, abs=0.0065)]
    both = by(published, "sex and race")[columns].T
    for sex, rows in (("Male", MEN), ("Female", WOMEN)):
        for race, (n, k, rate, ratio) in rows.items():
            near = pytest.approx(rate / 100, abs=5.1e-4), pytest.approx(ratio, abs=1.1e-3)
            assert both[(sex, race)].tolist() == [n, k, *near]


def test_unknown_and_small_categories_are_counted_and_in_no_ratio(applicants):
    rates = skbiasamp.selection_rates(
        applicants, prediction="selected", sensitive=["sex", "race"], min_share=0.02
    )
    sexes, races = by(rates, "sex"), by(rates, "race")
    assert sexes.loc["(missing)", "n"] == 250
    assert not sexes.loc["(missing)", "counted"]
    assert np.isnan(sexes.loc["(missing)", "impact_ratio"])
    assert sexes["n"].sum() == races["n"].sum() == len(applicants)
    assert races.index[~races["counted"]].tolist() == ["(missing)", "Native American"]
    assert races.loc["Native American", "n"] == 41
    assert races.loc["Native American", "selection_rate"] == 18 / 41
    # Intervals are simultaneous over the others.
    intervals = races["impact_ratio_interval"]
    assert set(intervals[races["counted"]]) == {"simultaneous over 6 categories"}
    assert intervals[~races["counted"]].isna().all()
    kept = races[races["counted"]]
    _, low, high = limits(kept["selected"], kept["n"])
    assert kept["impact_ratio_low"].tolist() == pytest.approx(low.tolist())
    assert kept["impact_ratio_high"].tolist() == pytest.approx(high.tolist())


def test_a_small_category_is_no_base_if_it_is_left_out():
    group = ["a"] * 60 + ["(missing)"] * 39 + ["c"]  # a real category
    selected = [1, 0] * 30 + [1, 0, 0] * 13 + [1]
    kept, left = (
        by(skbiasamp.selection_rates(selected, sensitive_features=group, min_share=share), "group")
        for share in (0.0, 0.02)
    )
    ratios = {"a": 0.5, "(missing)": 1 / 3, "c": 1}
    assert kept["impact_ratio"].to_dict() == pytest.approx(ratios)
    ratios = {"a": 1, "(missing)": 2 / 3, "c": np.nan}
    assert left["impact_ratio"].to_dict() == pytest.approx(ratios, nan_ok=True)


# --------------------------------------------------------------------------- intervals


def limits(k, n, correlation=None):
    """Ratios to the highest and their limits, of one task."""
    k, n = (np.asarray(one, dtype=float)[:, None] for one in (k, n))
    return [found[:, 0] for found in ratios_to_highest(k / n, n, correlation)]


def test_critical_values_are_those_of_tukey_and_what_is_left():
    """Upper percentage points of the studentized range, 5 %, infinite degrees of freedom."""
    for n, range_ in ((2, 2.77), (3, 3.31), (5, 3.86), (12, 4.62), (20, 5.01)):
        upper, lower = critical_values(n)
        assert upper * 2**0.5 == pytest.approx(range_, abs=0.006)
        both = (n - 1) * stats.norm.sf(upper) + 1 - stats.norm.cdf(lower) ** (n - 1)
        assert both == pytest.approx(0.05)
        assert lower <= upper + 1e-9
    assert critical_values(2) == pytest.approx((1.96, 1.96), abs=1e-3)


def test_the_interval_of_two_categories_is_nearly_that_of_koopman_and_statsmodels():
    """Koopman (1984), Biometrics 40, 513-517, has 2.940 to 7.152 of 36 / 40 over 16 / 80.

    statsmodels 0.14: confint_proportions_2indep(..., compare="ratio"), at the upper end.
    """
    ratio, low, high = limits([36, 16], [40, 80])
    assert ratio[1] == pytest.approx(16 / 80 / (36 / 40))
    assert 1 / 7.152 - 0.005 < low[1] <= 1 / 7.152
    assert 1 / 2.940 <= high[1] == pytest.approx(0.34075654897614355, abs=1e-9)
    assert (low[0], high[0]) == (1, 1)
    assert limits([30, 50], [100, 100])[2][0] == pytest.approx(0.8522649097694313, abs=1e-9)


COUNTS = [(30, 90, 20, 40), (0, 30, 12, 50), (18, 20, 20, 20), (1, 200, 2, 9), (3, 52, 100, 900)]


@pytest.mark.parametrize(("k", "n", "base", "n_base"), COUNTS)
def test_ends_of_intervals_are_on_the_edge_of_a_score_test(k, n, base, n_base):
    """The likeliest shares with the ratio of an end are found here by a search, not by a root."""
    _, *ends = limits([k, base], [n, n_base])
    for (end, _), side in zip(ends, (1, -1), strict=True):
        if end in (0, 1):  # nobody selected, or cut off
            assert (k == 0) if end == 0 else side == -1
            continue

        def unlikely(p, ratio=end):
            own = ratio * p
            return -(stats.binom.logpmf(k, n, own) + stats.binom.logpmf(base, n_base, p))

        found = optimize.minimize_scalar(
            unlikely, bounds=(1e-9, min(1, 1 / end) - 1e-12), method="bounded",
            options={"xatol": 1e-13},
        )  # fmt: skip
        p, own = found.x, end * found.x
        spread = own * (1 - own) / n + end**2 * p * (1 - p) / n_base
        third = own * (1 - own) * (1 - 2 * own) / n**2
        third -= end**3 * p * (1 - p) * (1 - 2 * p) / n_base**2
        score = side * (k / n - end * base / n_base) / spread**0.5
        skew = side * third / spread**1.5
        # Gart and Nam (1988), Biometrics 44, 323-338: score = z + skew (z² - 1) / 6.
        z = stats.norm.isf(0.025) / np.sqrt(1 - 1 / (n + n_base))
        assert max(z, z + skew * (z**2 - 1) / 6) == pytest.approx(score, rel=1e-4)


def test_a_category_is_compared_with_every_other():
    """Few rows have the highest rate by chance; many rows show that the last one is lower."""
    _, low, high = limits([4, 1000, 600], [5, 2000, 2000])
    assert high[2] < 0.7
    assert (high[:2] == 1).all()
    assert low[1] < 0.6  # of 0.625: the first may be the highest


def test_everybody_selected_leaves_a_ratio_open():
    """If all are selected, the score at a ratio u is sqrt(n (1 - u) / u)."""
    ratio, low, high = limits([30, 40], [30, 40])
    assert ratio.tolist() == high.tolist() == [1, 1]
    z2 = stats.norm.isf(0.025) ** 2 * 70 / 69
    assert low.tolist() == pytest.approx([30 / (30 + z2), 40 / (40 + z2)], abs=1e-9)


def test_the_interval_of_the_highest_ends_at_1_and_nobody_selected_has_one():
    rates = skbiasamp.selection_rates(
        [0] * 30 + [1] * 20 + [0] * 20 + [1] * 22 + [0] * 18,
        sensitive_features=["a"] * 30 + ["b"] * 40 + ["c"] * 40,
    )
    table = by(rates, "group")
    columns = ["impact_ratio", "impact_ratio_low", "impact_ratio_high"]
    lowest, highest = table.loc["a", columns].tolist(), table.loc["c", columns].tolist()
    assert lowest[:2] == [0, 0]
    assert 0.1 < lowest[2] < 0.4
    assert highest[::2] == [1, 1]
    assert 0.5 < highest[1] < 0.8  # b may be the highest
    assert set(table["impact_ratio_interval"]) == {"simultaneous over 3 categories"}
    assert "simultaneous: they hold for all categories" in repr(rates)
    none = skbiasamp.selection_rates([0] * 4, sensitive_features=list("aabb")).table
    assert none["impact_ratio"].isna().all()
    alone = skbiasamp.selection_rates([1, 0, 1], sensitive_features=["a"] * 3).table
    assert alone["impact_ratio"].tolist() == [1]
    assert alone[[*columns[1:], "impact_ratio_interval"]].isna().all(axis=None)


# --------------------------------------------------------------------------- one ratio a group


def credit():
    """Return who defaults, as predicted and in truth, with missing education."""
    rng, n = np.random.default_rng(0), 3000
    sex = rng.choice(["female", "male"], n)
    education = rng.choice(["university", "school", None], n, p=[0.5, 0.45, 0.05])
    truth = np.where(rng.random(n) < 0.25, "default", "paid")
    predicted = np.where(rng.random(n) < 0.2 + 0.1 * (sex == "male"), "default", "paid")
    return truth, predicted, pd.DataFrame({"sex": sex, "education": education})


def test_rates_and_selection_have_one_impact_ratio_a_group():
    """Rows without education are in no ratio, in whichever table."""
    truth, predicted, groups = credit()
    how = {"missing": "group", "favourable": "paid"}
    auditor = DirectionalAuditor(interval=None)
    report = skbiasamp.audit(truth, predicted, sensitive_features=groups, auditor=auditor, **how)
    columns = ["impact_ratio", "impact_ratio_low", "impact_ratio_high"]
    rates = report.rates.set_index("group")[columns]
    combined = by(report.selection, "sex and education")[columns]
    assert len(rates) == 6
    for group in rates.index:
        assert rates.loc[[group]].equals(combined.loc[[group]]), group
        assert np.isnan(rates.loc[[group], "impact_ratio"].iloc[0]) == ("(missing)" in group)


def test_the_favourable_class_decides_what_ratios_compare():
    """A default is a harm: ratios then compare who is predicted to pay."""
    truth, predicted, groups = credit()
    sex, paid = groups["sex"], pd.Series(predicted) == "paid"
    how = {"pos_label": "default", "auditor": skbiasamp.DirectionalAuditor(interval=None)}
    of_sex = {**how, "sensitive_features": sex}
    report = skbiasamp.audit(truth, predicted, **of_sex, favourable="paid")
    both = {**how, "sensitive_features": groups, "missing": "group", "favourable": "paid"}
    selection = by(skbiasamp.audit(truth, predicted, **both).selection, "sex")
    shares, rates = paid.groupby(sex).mean(), report.rates.set_index("group")
    for group in ("female", "male"):
        expected = shares[group] / shares.max(), 1 - shares[group]
        assert rates.loc[group, ["impact_ratio", "predicted_rate"]].tolist() == pytest.approx(
            expected, abs=1e-12
        )
        assert selection.loc[group, ["task", "selection_rate"]].tolist() == ["paid", shares[group]]
    other = skbiasamp.audit(truth, predicted, **of_sex).rates.set_index("group")
    assert other["impact_ratio"]["female"] < 0.8 < rates["impact_ratio"].min()
    assert report.context["favourable"] == "paid"
    tasks = pd.DataFrame({"hired": paid, "fined": ~paid}).astype(int)
    report = skbiasamp.audit(tasks, 1 - tasks, sensitive_features=sex, favourable=["hired"])
    known = report.rates.set_index("task")["impact_ratio"].notna()
    assert known["hired"].all()
    assert not known["fined"].any()  # which nobody calls favourable


@pytest.mark.parametrize(
    ("kind", "names"), [(int, ["1", "1.0", True, [1]]), (bool, [1, "true"]), (float, ["1"])]
)
def test_a_favourable_class_may_be_spelt_otherwise(kind, names):
    """As on the command line, where everything is text."""
    hired, predicted = np.tile([1, 1, 0, 0], 200), np.r_[np.tile([1, 0], 200), np.tile([1, 0], 200)]
    predicted[:80] = 0
    rows = {"sensitive_features": np.repeat(["f", "m"], 400), "auditor": DirectionalAuditor()}
    number, *named = (
        skbiasamp.audit(hired.astype(kind), predicted.astype(kind), **rows, favourable=name)
        for name in (kind(1), *names)
    )
    assert number.facts.who.group == "f"
    for other in named:
        assert other.facts.who == number.facts.who
        assert [*map(str, other.findings)] == [*map(str, number.findings)]


def test_each_sensitive_column_has_a_verdict_of_its_own():
    """School alone shows what is not clear of all columns; p-values count that two were seen."""
    rng, n = np.random.default_rng(1), 2000
    groups = pd.DataFrame({"school": rng.choice(["a", "b"], n), "town": rng.integers(0, 25, n)})
    pushed = groups["school"] == "b"
    truth = (rng.random(n) < 0.3 + 0.12 * pushed).astype(int)
    drawn = (rng.random(n) < 0.6, rng.random(n) < 0.25 + 0.3 * pushed)
    predicted = np.where(drawn[0], truth, drawn[1]).astype(int)
    report = skbiasamp.audit(truth, predicted, sensitive_features=groups, random_state=0)
    table = report.by_column.set_index("column")
    for name in groups:
        alone = DirectionalAuditor(reference="test").audit(
            truth, predicted, sensitive_features=groups[[name]]
        )
        expected = [alone.value, alone.low, alone.high, alone.p_value]
        columns = ["value", "low", "high", "p_value"]
        assert table.loc[name, columns].tolist() == pytest.approx(expected)
    p = table["p_value"]
    assert table["p_adjusted"].tolist() == [2 * p["school"], p["town"]]
    assert table["verdict"].tolist() == ["amplifies", "no clear effect"]
    assert report["directional A->T"].verdict == "no clear effect"
    card = part_of(report, "Card")
    assert "by school alone, the model amplifies" in card.title.lower()
    one = skbiasamp.audit(truth, predicted, sensitive_features=groups["school"], random_state=0)
    assert one.by_column.empty


# --------------------------------------------------------------------------- scores and weights


def test_the_class_that_means_selected_is_named():
    pytest.importorskip("jinja2")
    decisions, sex = ["approved"] * 30 + ["denied"] * 10, ["f", "m"] * 20
    with pytest.raises(ValueError, match=r"'approved' and 'denied'.*favourable='approved'"):
        skbiasamp.selection_rates(decisions, sensitive_features=sex)
    rates = skbiasamp.selection_rates(decisions, sensitive_features=sex, favourable="approved")
    for text in (repr(rates), html.unescape(rates.to_html())):
        assert "Selected: the model predicts 'approved'." in text
    assert rates.table["selection_rate"].tolist() == [0.75, 0.75]
    # Scores are compared with the median of all rows: the row that has it is not above.
    scores = np.arange(1.0, 8.0)
    rates = skbiasamp.selection_rates(scores, sensitive_features=list("aaabbbb"), scores=True)
    assert rates.table["selected"].tolist() == [0, 3]
    assert rates.table["selection_rate"].tolist() == [0, 0.75]
    assert table_of(rates, "selection-1").caption.endswith("selected: a score above the median")


ENDS = [f"{name}_{end}" for name in ("selection_rate", "impact_ratio") for end in ("low", "high")]


def test_intervals_count_fractional_weights():
    """Weights of 0.5 and 1.5 that go with nothing: 400 rows are worth 400 / 1.25 = 320."""
    group = np.repeat(["a", "b"], 400)
    selected = np.concatenate([np.arange(400) % 4 == 0, np.arange(400) % 2 == 0]).astype(int)
    weight = np.tile(np.repeat([0.5, 1.5], 4), 100)
    for unit in (1, 1 / 7):
        given = {"sensitive_features": group, "sample_weight": weight * unit}
        table = by(skbiasamp.selection_rates(selected, **given), "group")
        assert table["n"].tolist() == pytest.approx([400 * unit] * 2)
        wilson = stats.binomtest(80, 320).proportion_ci(method="wilson")
        _, low, high = limits([80, 160], [320, 320])
        expected = [*wilson, low[0], high[0]]
        assert table.loc["a", ENDS].tolist() == pytest.approx(expected)


# --------------------------------------------------------------------------- clusters


def test_rows_of_a_cluster_that_are_alike_count_once():
    rng = np.random.default_rng(0)
    group, y = rng.choice(["a", "b", "c"], 300), rng.integers(0, 2, 300)
    selected = (rng.random(300) < np.where(group == "a", 0.2, 0.5)).astype(int)
    once = skbiasamp.selection_rates(selected, y_true=y, sensitive_features=group)
    five = skbiasamp.selection_rates(
        np.repeat(selected, 5), y_true=np.repeat(y, 5), sensitive_features=np.repeat(group, 5),
        clusters=np.repeat(np.arange(300), 5),
    )  # fmt: skip
    assert (five.table["n"] == 5 * once.table["n"]).all()
    np.testing.assert_allclose(five.table[ENDS], once.table[ENDS], rtol=1e-9)
    assert (five.context["n_clusters"], once.context["n_clusters"]) == (300, None)


def test_nobody_selected_in_few_clusters_is_not_known_well():
    """20 clusters of 5 rows, and 100 rows that are worth 80: Wilson's upper end of 0 of these."""
    none, group = np.zeros(200, int), np.repeat(["a", "b"], 100)
    none[150:] = 1
    for given, n in (
        ({"clusters": np.arange(200) // 5}, 20),
        ({"sample_weight": np.tile([0.5, 1.5], 100)}, 80),
    ):
        table = by(skbiasamp.selection_rates(none, sensitive_features=group, **given), "group")
        wilson = stats.binomtest(0, n).proportion_ci(method="wilson")
        assert table.loc["a", "selection_rate_high"] == pytest.approx(wilson.high)


def test_clusters_with_rows_of_both_categories_are_paired():
    """McNemar's test of the same pairs: what they have in common cancels."""
    # Both selected, first alone, second alone, none.
    counts = (300, 40, 15, 145)
    first, second = np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)
    selected = np.concatenate([first, second])
    group = np.repeat(["a", "b"], 500)
    paired, apart = (
        by(
            skbiasamp.selection_rates(selected, sensitive_features=group, clusters=ids), "group"
        ).loc["b"]
        for ids in (np.tile(np.arange(500), 2), None)
    )
    assert apart["impact_ratio_high"] == 1  # 340 and 315 of 500
    assert paired["impact_ratio_high"] < 1
    # The delta method on the logarithm of a ratio of paired shares.
    spread = np.sqrt((40 + 15) / (340 * 315))
    near = paired["impact_ratio"] * np.exp(np.array([-1, 1]) * 1.96 * spread)
    ends = paired[["impact_ratio_low", "impact_ratio_high"]].to_numpy(float)
    np.testing.assert_allclose(np.log(ends), np.log(near), rtol=0.15)


def test_groups_that_overlap_share_rows():
    """All rows are in the first group: what both groups have in common cancels."""
    rng, n = np.random.default_rng(3), 1000
    member = pd.DataFrame({"all": np.ones(n, int), "most": (np.arange(n) < 0.9 * n).astype(int)})
    predicted = (rng.random(n) < np.where(member["most"], 0.5, 0.1)).astype(int)
    how = {"groups": "indicator", "auditor": DirectionalAuditor(reference="test", interval=None)}
    report = skbiasamp.audit(predicted, predicted, sensitive_features=member, **how)
    rates = report.rates.set_index("group")
    everybody = rates.loc["all"]
    assert everybody["impact_ratio_high"] < 1
    _, low, _ = limits(rates["predicted_rate"] * [1000, 900], [1000, 900])
    assert everybody["impact_ratio_low"] > low[0] + 0.03


def test_what_is_no_prediction_is_refused():
    labels = [0, 1, 0, 1]
    for given, says in (
        ({"y_pred": [0.1, 0.2, np.nan, 1], "scores": True}, "missing or infinite values in 1 row"),
        ({"y_pred": list("abcd"), "scores": True}, "must hold numbers"),
        ({"min_share": 1}, "min_share must be 0 or more and below 1"),
        ({"y_pred": [0.1, 0.2, 0.3, 0.7]}, "y_pred"),
    ):
        with pytest.raises(ValueError, match=says):
            skbiasamp.selection_rates(
                **{"y_pred": labels, "sensitive_features": list("aabb")} | given
            )
    frame = pd.DataFrame({"g": list("fmfm"), "y": labels, "p": labels})
    named = {"sensitive": "g", "target": "y"}
    with pytest.raises(ValueError, match="the predictions of one model; got those of 'a' and 'b'"):
        skbiasamp.selection_rates(frame, **named, prediction={"a": "p", "b": "y"})
    with pytest.raises(ValueError, match="prediction= must name the column"):
        skbiasamp.selection_rates(frame, **named)


# --------------------------------------------------------------------------- differences of rates

FPR = [f"false_positive_rate_difference{end}" for end in ("", "_low", "_high")]


def errors_of(counts):
    """Return labels, predictions and groups: `counts` of false positives and rows, by group."""
    pred = np.concatenate([np.repeat([1, 0], [k, n - k]) for k, n in counts.values()])
    group = np.repeat(list(counts), [n for _, n in counts.values()])
    positives = np.repeat(list(counts), 20)
    true = np.repeat([0, 1], [len(pred), len(positives)])
    return true, np.append(pred, np.ones(len(positives), int)), np.append(group, positives)


# R. G. Newcombe, "Interval estimation for the difference between independent proportions",
# Statistics in Medicine 17, 1998, Table II: method 10 (score), contrasts (a) to (c) and (g).
NEWCOMBE = {
    (56, 70, 48, 80): (0.0524, 0.3339),
    (9, 10, 3, 10): (0.1705, 0.8090),
    (6, 7, 2, 7): (0.0582, 0.8062),
    (5, 56, 0, 29): (-0.0381, 0.1926),
}


@pytest.mark.parametrize("counts", NEWCOMBE)
def test_two_groups_have_the_published_intervals(counts):
    true, pred, group = errors_of({"a": counts[:2], "b": counts[2:]})
    found = skbiasamp.selection_rates(pred, y_true=true, sensitive_features=group).differences
    assert found[FPR[1:]].iloc[0].tolist() == pytest.approx(NEWCOMBE[counts], abs=5e-5)
    difference = counts[0] / counts[1] - counts[2] / counts[3]
    assert found[FPR[0]].item() == pytest.approx(difference, abs=1e-12)
    # Whichever error rate differs more, both intervals hold: half of 5 % each.
    further = stats.norm.isf(0.0125) / stats.norm.isf(0.025)
    low = difference - (difference - found[FPR[1]].item()) * further
    assert found["equalized_odds_difference_low"].item() == pytest.approx(low)
    if min(counts[1], counts[3]) >= 10:
        rates = skbiasamp.audit(true, pred, sensitive_features=group).rates
        assert rates.loc[0, FPR].tolist() == found[FPR].iloc[0].tolist()
        assert rates.loc[1, FPR[0]] == 0


def test_three_groups_have_intervals_for_all_pairs_together():
    counts = {"a": (30, 100), "b": (45, 150), "c": (80, 120)}
    true, pred, group = errors_of(counts)
    rates = skbiasamp.audit(true, pred, sensitive_features=group).rates.set_index("group")
    z = studentized_range.isf(0.05, 3, np.inf) / np.sqrt(2)

    def wilson(k, n):
        p, wide = k / n, z**2 / n
        reach = np.array([-1, 1]) * z * np.sqrt(p * (1 - p) / n + wide / (4 * n))
        return (p + wide / 2 + reach) / (1 + wide)

    (low, high), (base_low, base_high) = wilson(*counts["c"]), wilson(*counts["a"])
    p, base = 80 / 120, 0.3
    reach = np.hypot(p - low, base_high - base), np.hypot(high - p, base - base_low)
    expected = p - base - reach[0], p - base + reach[1]
    assert rates.loc["c", FPR].tolist() == pytest.approx([p - base, *expected], abs=1e-12)
    assert rates.loc["a", FPR].isna().tolist() == [False, True, True]
    assert rates.loc["b", FPR[1]] < 0 < rates.loc["b", FPR[2]]


@pytest.mark.benchmarks
def test_the_coverage_benchmark_runs():
    script = Path(__file__).resolve().parents[1] / "benchmarks" / "evidence" / "coverage_impact.py"
    done = subprocess.run(
        [sys.executable, "-X", "utf8", script, "--short"],
        capture_output=True, encoding="utf-8", timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and "%" in line]
    assert len(rows) == 5 * 5 + 9 * 3
