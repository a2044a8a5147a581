"""Selection rates and impact ratios: a published table, enumeration, score tests, Fairlearn."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import skbiasamp
from skbiasamp import AuditReport, DirectionalAuditor
from skbiasamp.cli import main
from skbiasamp.inference._shares import ratios_to_highest

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


def test_the_table_of_local_law_144_by_sex(published):
    table = by(published, "sex")
    assert table.loc["Male", ["n", "selected"]].tolist() == [1390, 667]
    assert table.loc["Female", ["n", "selected"]].tolist() == [1181, 555]
    assert table.loc["Male", "impact_ratio"] == 1
    assert table.loc["Female", "impact_ratio"] == pytest.approx(0.979, abs=5e-4)


def test_the_table_of_local_law_144_by_race(published):
    table = by(published, "race")
    for race, (n, k, rate, ratio) in RACES.items():
        assert table.loc[race, ["n", "selected"]].tolist() == [n, k]
        # "44 %" of 390 is 43.59, and 0.84 of 0.52 is 43.59 / 51.69: cut off and rounded.
        assert table.loc[race, "selection_rate"] == pytest.approx(rate, abs=0.0065)
        assert table.loc[race, "impact_ratio"] == pytest.approx(ratio, abs=0.0065)


def test_the_table_of_local_law_144_by_intersection(published):
    table = by(published, "sex and race")
    for sex, rows in (("Male", MEN), ("Female", WOMEN)):
        for race, (n, k, rate, ratio) in rows.items():
            row = table.loc[[(sex, race)]].iloc[0]
            assert (row["n"], row["selected"]) == (n, k)
            assert 100 * row["selection_rate"] == pytest.approx(rate, abs=0.051)
            assert row["impact_ratio"] == pytest.approx(ratio, abs=1.1e-3)


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


def test_a_small_category_is_no_base_if_it_is_left_out():
    group = ["a"] * 60 + ["b"] * 39 + ["c"]
    selected = [1, 0] * 30 + [1, 0, 0] * 13 + [1]
    kept, left = (
        by(skbiasamp.selection_rates(selected, sensitive_features=group, min_share=share), "group")
        for share in (0.0, 0.02)
    )
    assert kept["impact_ratio"].tolist() == pytest.approx([0.5, 1 / 3, 1])
    assert left["impact_ratio"].tolist()[:2] == pytest.approx([1, 2 / 3])
    assert np.isnan(left.loc["c", "impact_ratio"])


def test_a_real_category_that_is_called_missing_is_in_the_ratios():
    group = ["(missing)"] * 4 + ["b"] * 4
    table = skbiasamp.selection_rates([1, 0] * 4, sensitive_features=group).table
    assert table["counted"].all()


# --------------------------------------------------------------------------- intervals


def test_intervals_of_ratios_are_those_of_koopman():
    """The example of Koopman (1984), Biometrics 40, 513-517."""
    low, high = ratio_interval(36, 40, 16, 80)
    assert (low, high) == pytest.approx((2.940, 7.152), abs=1e-3)


COUNTS = [(3, 40, 30, 90), (0, 30, 12, 50), (20, 20, 20, 20), (1, 200, 2, 9)]


@pytest.mark.parametrize(("k", "n", "base", "n_base"), COUNTS)
def test_ends_of_intervals_are_on_the_edge_of_a_score_test(k, n, base, n_base):
    """The likeliest shares with the ratio of an end are found here by a search, not by a root."""
    for end in map(float, ratio_interval(k, n, base, n_base)):
        if end == 0:
            assert k == 0
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
        statistic = (k / n - end * base / n_base) ** 2 / spread
        assert statistic == pytest.approx(stats.chi2.isf(0.05, 1), rel=1e-4)


def test_the_highest_category_has_no_interval_and_nobody_selected_has_one():
    table = by(
        skbiasamp.selection_rates(
            [0] * 30 + [1] * 20 + [0] * 20, sensitive_features=["a"] * 30 + ["b"] * 40
        ),
        "group",
    )
    assert table.loc["a", ["impact_ratio", "impact_ratio_low"]].tolist() == [0, 0]
    assert 0.1 < table.loc["a", "impact_ratio_high"] < 0.3
    assert table.loc["b", "impact_ratio"] == 1
    assert np.isnan(table.loc["b", ["impact_ratio_low", "impact_ratio_high"]].astype(float)).all()


def test_nobody_selected_at_all_has_no_ratio():
    table = skbiasamp.selection_rates(
        np.array([0, 0, 0, 0]), sensitive_features=list("aabb"), pos_label=0
    ).table
    assert (table["impact_ratio"] == 1).all()
    labels = pd.Categorical([0, 0, 0, 0], categories=[0, 1])
    frame = pd.DataFrame({"p": labels.codes, "y": [0, 1, 0, 1], "g": list("aabb")})
    none = skbiasamp.selection_rates(frame, prediction="p", target="y", sensitive="g").table
    assert none["impact_ratio"].isna().all()
    assert none["selection_rate"].tolist() == [0, 0]


# --------------------------------------------------------------------------- scores and weights


def test_the_class_that_means_selected_is_named():
    """Of "approved" and "denied" the one that sorts last is no selection."""
    pytest.importorskip("jinja2")
    decisions, sex = ["approved"] * 30 + ["denied"] * 10, ["f", "m"] * 20
    rates = skbiasamp.selection_rates(decisions, sensitive_features=sex)
    assert "Selected: predicted 'denied'." in repr(rates)
    assert "Selected: the model predicts 'denied'." in rates.to_html()
    rates = skbiasamp.selection_rates(decisions, sensitive_features=sex, pos_label="approved")
    assert "Selected: predicted 'approved'." in repr(rates)


def test_scores_are_compared_with_the_median_of_all_rows():
    scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    group = list("aaabbbb")
    table = by(
        skbiasamp.selection_rates(scores, sensitive_features=group, scores=True), "group"
    )  # the median is 4: the row that has it is not above
    assert table["selected"].tolist() == [0, 3]
    assert table["selection_rate"].tolist() == [0, 0.75]


def test_whole_weights_are_repetitions():
    rng = np.random.default_rng(0)
    scores, weight = rng.integers(0, 9, 60).astype(float), rng.integers(1, 5, 60)
    group = rng.choice(["a", "b", "c"], 60)
    for as_scores in (True, False):
        held = scores if as_scores else (scores > 4).astype(int)
        weighted = skbiasamp.selection_rates(
            held, sensitive_features=group, sample_weight=weight, scores=as_scores
        )
        repeated = skbiasamp.selection_rates(
            np.repeat(held, weight), sensitive_features=np.repeat(group, weight), scores=as_scores
        )
        pd.testing.assert_frame_equal(weighted.table, repeated.table)


@pytest.mark.parametrize("scores", [True, False])
def test_frames_and_arrays_say_the_same(applicants, scores):
    frame = applicants.assign(y=np.arange(len(applicants)) % 3 == 0).astype({"y": int})
    held = frame["selected"] + np.arange(len(frame)) % 5 * 0.01 if scores else frame["selected"]
    frame["held"] = held
    columns = {"prediction": "held", "target": "y", "sensitive": ["sex", "race"]}
    one = skbiasamp.selection_rates(frame, **columns, scores=scores)
    other = skbiasamp.selection_rates(
        held, y_true=frame["y"], sensitive_features=frame[["sex", "race"]], scores=scores
    )
    pd.testing.assert_frame_equal(one.table, other.table)
    pl = pytest.importorskip("polars")
    lazy = pl.from_pandas(frame).lazy()
    again = skbiasamp.selection_rates(lazy, **columns, scores=scores)
    pd.testing.assert_frame_equal(one.table, again.table)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"y_pred": [0.1, 0.2, np.nan, 1], "scores": True}, "finite scores"),
        ({"y_pred": list("abcd"), "scores": True}, "must hold numbers"),
        ({"y_pred": [0, 1, 0, 1], "min_share": 1}, "min_share must be 0 or more and below 1"),
        ({"y_pred": [0, 1, 0, 1], "min_share": "x"}, "min_share must be 0 or more and below 1"),
        ({"y_pred": [0, 1, 0, 1], "scores": []}, "scores must be one of True, False"),
        (
            {"y_pred": [0.1, 0.2, 0.3, 1], "scores": True, "sample_weight": [1, 2]},
            "sample_weight has 2 rows but y_pred has 4",
        ),
        ({"y_pred": [0.1, 0.2, 0.3, 0.7]}, "y_pred"),
    ],
)
def test_what_is_no_prediction_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        skbiasamp.selection_rates(**given, sensitive_features=list("aabb"))


def test_rates_are_those_of_one_model():
    frame = pd.DataFrame({"g": list("fmfm"), "y": [0, 1] * 2, "p": [0, 1] * 2})
    with pytest.raises(ValueError, match="the predictions of one model; got those of 'a' and 'b'"):
        skbiasamp.selection_rates(frame, sensitive="g", target="y", prediction={"a": "p", "b": "y"})


# --------------------------------------------------------------------------- in a report


@pytest.fixture(scope="module")
def report(applicants):
    known = applicants.dropna().assign(y=lambda held: np.arange(len(held)) % 2)
    return skbiasamp.audit(
        known, target="y", prediction="selected", sensitive=["sex", "race"],
        auditors=DirectionalAuditor(reference="test", interval=None),
    )  # fmt: skip


def test_a_report_of_several_columns_has_their_tables(report, published):
    own, whole = by(report.selection, "race"), by(published, "race").drop("(missing)")
    shared = ["n", "selected", "selection_rate", "impact_ratio", "impact_ratio_low"]
    pd.testing.assert_frame_equal(own[shared], whole.loc[own.index, shared])
    # The same numbers as in the rates of the combinations.
    both = by(report.selection, "sex and race")
    rates = report.rates.set_index("group")
    for ours, theirs in (
        ("selection_rate", "predicted_rate"),
        ("impact_ratio_high", "impact_ratio_high"),
        ("true_positive_rate", "true_positive_rate"),
    ):
        np.testing.assert_allclose(both[ours], rates[theirs], rtol=0, atol=1e-12)
    again = AuditReport.from_json(report.to_json())
    pd.testing.assert_frame_equal(again.selection, report.selection)


def test_pages_show_the_tables_and_say_what_they_are_not(report, applicants, tmp_path):
    pytest.importorskip("jinja2")
    assert "Selection rates by race" in report.to_html()
    shown = skbiasamp.selection_rates(
        applicants.replace({"race": {"Asian": "<b>Asian</b>"}}),
        prediction="selected", sensitive=["sex", "race"], min_share=0.02,
    ).to_html(tmp_path / "rates.html")  # fmt: skip
    assert (tmp_path / "rates.html").read_text("utf-8") == shown
    assert "Not a compliance claim" in shown
    assert 'class="limit"' in shown
    assert "&lt;b&gt;Asian" in shown
    assert "<b>Asian" not in shown
    assert "not in the ratios" in shown


def test_the_command_prints_the_table_and_writes_the_page(applicants, tmp_path, capsys):
    pytest.importorskip("jinja2")
    applicants.to_csv(tmp_path / "applicants.csv", index=False)
    page = tmp_path / "rates.html"
    code = main(
        ["rates", str(tmp_path / "applicants.csv"), "--prediction", "selected", "--sensitive",
         "sex", "race", "--min-share", "0.02", "--html", str(page)]
    )  # fmt: skip
    said = capsys.readouterr().out
    assert code == 0
    assert "0.9793" in said
    assert "Impact ratios below 0.8: 0 (whole interval: 0)" in said
    assert "(2,821 rows, CSV" in said.replace("\n", " ")
    assert "SHA-256" in page.read_text("utf-8")


@pytest.mark.benchmarks
def test_the_coverage_benchmark_runs():
    script = Path(__file__).resolve().parents[1] / "benchmarks" / "coverage_impact.py"
    done = subprocess.run(
        [sys.executable, "-X", "utf8", script, "--short"],
        capture_output=True, encoding="utf-8", timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and "%" in line]
    assert len(rows) == 5 * 4 * 3
