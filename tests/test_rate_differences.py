"""Differences between groups' rates have intervals: Newcombe's, for all pairs together."""

import numpy as np
import pytest
from scipy.stats import studentized_range

import skbiasamp

FPR = [f"false_positive_rate_difference{end}" for end in ("", "_low", "_high")]


def rows(counts):
    """Return labels, predictions and groups: `counts` of false positives and rows, by group."""
    pred = np.concatenate([np.repeat([1, 0], [k, n - k]) for k, n in counts.values()])
    group = np.repeat(list(counts), [n for _, n in counts.values()])
    positives = np.repeat(list(counts), 20)
    true = np.repeat([0, 1], [len(pred), len(positives)])
    return true, np.append(pred, np.ones(len(positives), int)), np.append(group, positives)


# R. G. Newcombe, "Interval estimation for the difference between independent proportions",
# Statistics in Medicine 17, 1998, Table II: method 10 (score), contrasts (a) to (c) and (g).
PUBLISHED = {
    (56, 70, 48, 80): (0.0524, 0.3339),
    (9, 10, 3, 10): (0.1705, 0.8090),
    (6, 7, 2, 7): (0.0582, 0.8062),
    (5, 56, 0, 29): (-0.0381, 0.1926),
}


@pytest.mark.parametrize("counts", PUBLISHED)
def test_two_groups_have_the_published_intervals(counts):
    true, pred, group = rows({"a": counts[:2], "b": counts[2:]})
    found = skbiasamp.selection_rates(pred, y_true=true, sensitive_features=group).differences
    assert found[FPR[1:]].iloc[0].tolist() == pytest.approx(PUBLISHED[counts], abs=5e-5)
    difference = counts[0] / counts[1] - counts[2] / counts[3]
    assert found[FPR[0]].item() == pytest.approx(difference, abs=1e-12)
    assert found["equalized_odds_difference_low"].item() == found[FPR[1]].item()
    if min(counts[1], counts[3]) >= 10:
        rates = skbiasamp.audit(true, pred, sensitive_features=group).rates
        assert rates.loc[0, FPR].tolist() == found[FPR].iloc[0].tolist()
        assert rates.loc[1, FPR[0]] == 0


def test_three_groups_have_intervals_for_all_pairs_together():
    counts = {"a": (30, 100), "b": (45, 150), "c": (80, 120)}
    true, pred, group = rows(counts)
    rates = skbiasamp.audit(true, pred, sensitive_features=group).rates.set_index("group")
    z = studentized_range.isf(0.05, 3, np.inf) / np.sqrt(2)

    def wilson(k, n):
        centre, reach = (
            k / n + z**2 / (2 * n),
            z * np.sqrt(k / n * (1 - k / n) / n + z**2 / (4 * n**2)),
        )
        return (centre + np.array([-1, 1]) * reach) / (1 + z**2 / n)

    (low, high), (base_low, base_high) = wilson(*counts["c"]), wilson(*counts["a"])
    p, base = 80 / 120, 0.3
    expected = (
        p - base - np.hypot(p - low, base_high - base),
        p - base + np.hypot(high - p, base - base_low),
    )
    assert rates.loc["c", FPR].tolist() == pytest.approx([p - base, *expected], abs=1e-12)
    assert rates.loc["a", FPR].isna().tolist() == [False, True, True]
    assert rates.loc["b", FPR[1]] < 0 < rates.loc["b", FPR[2]]


def test_the_finding_about_error_rates_rests_on_the_interval():
    true, pred, group = rows({"a": (56, 70), "b": (48, 80)})
    # A group of few rows is left out.
    true, pred, group = (
        np.append(one, [last] * 2) for one, last in ((true, 0), (pred, 1), (group, "c"))
    )
    report = skbiasamp.audit(true, pred, sensitive_features=group)
    (finding,) = (each for each in report.findings if each.code == "SBA202")
    assert "80.0 % of a and 60.0 % of b" in finding.text
    rates = report.rates.set_index("group")
    assert rates.loc["a", FPR[1:]].tolist() == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_comparisons_have_differences_for_each_model():
    true, pred, group = rows({"a": (56, 70), "b": (48, 80)})
    report = skbiasamp.compare(true, {"x": true, "y": pred}, sensitive_features=group)
    rates = report.rates.set_index(["model", "group"])
    assert rates.loc[("y", "a"), FPR[1:]].tolist() == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert rates.loc[("x", "a"), FPR[0]] == 0


def test_categories_that_do_not_count_are_in_no_difference():
    true, pred, group = rows({"a": (56, 70), "b": (48, 80), "c": (20, 20)})
    for least, expected in ((0.0, 0.4), (0.3, 0.2)):
        rates = skbiasamp.selection_rates(
            pred, y_true=true, sensitive_features=group, min_share=least
        )
        assert rates.differences[FPR[0]].item() == pytest.approx(expected, abs=1e-12)
    true, pred, group = rows({"a": (10, 50), "b": (10, 50)})
    equal = skbiasamp.selection_rates(pred, y_true=true, sensitive_features=group).differences
    difference, low, high = equal[FPR].iloc[0]
    assert difference == 0
    assert low == -high < 0
