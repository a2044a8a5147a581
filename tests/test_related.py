"""The related measures as auditors: values by hand, honest intervals, undefined cases."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

import skbiasamp
from skbiasamp import Contingency
from skbiasamp.metrics import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
)

SEX = ["f"] * 400 + ["m"] * 400
COOKS = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
PREDICTED = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330


def random_group(n, n_groups, rate, hit, false, rng):
    """Return the audited rows of a model that does not know a group that is random."""
    group = rng.integers(n_groups, size=n)
    task = (rng.random(n) < rate).astype(int)
    pred = (rng.random(n) < np.where(task == 1, hit, false)).astype(int)
    return Contingency.from_labels(task, pred, sensitive_features=group)


def test_the_table_has_the_log_ratio_of_each_pair_of_groups_and_outcome():
    auditor = DifferentialFairnessAuditor(0.0, reference="test", interval=None)
    result = auditor.audit(COOKS, PREDICTED, sensitive_features=SEX)
    table = result.table
    np.testing.assert_allclose(table["base"], [math.log(0.75 / 0.25), math.log(0.25 / 0.75)])
    observed = [math.log(0.85 / 0.175), math.log(0.15 / 0.825)]
    np.testing.assert_allclose(table["observed"], observed)
    assert list(table["group"]) == ["f / m"] * 2
    both = pd.DataFrame({"sex": SEX, "shop": "x"})
    (pair, _) = auditor.audit(COOKS, PREDICTED, sensitive_features=both).table["group"]
    assert pair == "sex = f, shop = x / sex = m, shop = x"
    assert list(table["task"]) == [1, 0]
    assert result.value == pytest.approx(math.log(0.825 / 0.15) - math.log(3))
    assert result.statistics["epsilon_labels"] == pytest.approx(math.log(3))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("auditor", "model"),
    [
        # One label in ten is predicted: ε is larger for the few positives alone.
        (DifferentialFairnessAuditor, (2000, 6, 0.5, 0.1, 0.0)),
        # 20 predicted rows are further from equal than 500 labelled ones.
        (PercentageAuditor, (1000, 3, 0.5, 0.04, 0.0)),
        # Noise in a denominator makes a mean of relative changes too large.
        (BiasDisparityAuditor, (400, 4, 0.1, 0.8, 0.02)),
    ],
)
def test_where_there_is_nothing_hardly_anything_is_found(auditor, model):
    rng, found, missed, values = np.random.default_rng(1), 0, 0, []
    for _ in range(60):
        result = auditor(reference="test").audit(random_group(*model, rng))
        found += not result.low <= 0 <= result.high
        missed += not result.published_low <= 0 <= result.published_high
        values.append(result.published)
        assert (result.p_value < 0.05) <= (not result.low <= 0 <= result.high)
    assert found <= 7  # 3 if the level were exactly 5 %
    assert missed <= 8
    assert np.mean(values) > 2 * np.std(values) / 60**0.5


def test_the_interval_of_a_ratio_that_is_clearly_the_largest_is_by_hand():
    sex, label = np.repeat(["f", "m"], 400), np.repeat([1, 0, 1, 0], [120, 280, 40, 360])
    guess = np.repeat([1, 0, 1, 0, 1, 0], [110, 30, 10, 250, 30, 370])
    result = DifferentialFairnessAuditor(0.0, reference="test").audit(
        label, guess, sensitive_features=sex
    )
    influence, unseen = np.zeros(800), 0.0
    for side, way in ((guess, 1), (label, -1)):
        for group, along in (("f", 1), ("m", -1)):
            mine = sex == group
            rate = side[mine].mean()
            own = mine * (side - rate) / 400 / rate / np.sqrt(1 - 1 / 400)
            influence += way * along * own
            unseen += (way == 1) / (400 * rate + 1) ** 2
    squares, fourth = (influence**2).sum() * 800 / 799, (influence**4).sum() * (800 / 799) ** 2
    df = (squares + unseen) ** 2 / (fourth + unseen**2 / 2)
    value = math.log(0.3 / 0.075) - math.log(0.3 / 0.1)
    expected = stats.t(df, value, math.sqrt(squares + unseen)).interval(0.95)
    assert [result.low, result.high] == pytest.approx(expected)
    assert [result.published_low, result.published_high] == pytest.approx(expected)


def test_a_ratio_that_is_infinite_or_of_one_group_is_not_measured_and_says_why():
    predicted = [1] * 400 + [0] * 400
    auditor = DifferentialFairnessAuditor(0.0, reference="test")
    result = auditor.audit(COOKS, predicted, sensitive_features=SEX)
    assert result.value == math.inf
    assert math.isnan(result.low)
    assert result.verdict == "not measured"
    assert "a ratio of rates is infinite" in result.sentence
    assert "concentration=1" in result.sentence
    assert json.loads(result.to_json())["value"] is None
    auditor = DifferentialFairnessAuditor().fit(COOKS, sensitive_features=SEX)
    rows = COOKS[:400], PREDICTED[:400]
    with pytest.warns(UndefinedMetricWarning, match="no audited rows for group 'f / m'"):
        result = auditor.audit(*rows, sensitive_features=SEX[:400])
    assert np.isnan(result.value)
    assert result.verdict == "not measured"


def test_a_perfect_model_may_change_a_ratio_by_the_rows_that_did_not_show_it():
    """Half a row gained and half a row lost in each group; a rare rate is changed by more."""
    sex = np.repeat(["f", "m"], [100, 200])
    hired = np.repeat([1, 0, 1, 0], [60, 40, 40, 160])
    auditor = DifferentialFairnessAuditor(0.0, reference="test")
    result = auditor.audit(hired, hired, sensitive_features=sex)
    change = [math.hypot(1 / (100 * f + 1), 1 / (200 * m + 1)) for f, m in ((0.6, 0.2), (0.4, 0.8))]
    reach = stats.t(2).isf(0.025) * np.array(change)
    ends = result.table.set_index("task").loc[[1, 0], "high"].tolist()
    assert ends == pytest.approx(reach)
    assert [result.low, result.high] == pytest.approx([-reach[0], reach[0]])
    assert (result.value, result.p_value, result.verdict) == (0, 1, "no clear effect")
    # A preference: of 40 men 1 is labelled, and of 160 women 48.
    sex, label = ["f"] * 160 + ["m"] * 40, [1] * 48 + [0] * 112 + [1] + [0] * 39
    table = BiasDisparityAuditor(reference="test").audit(label, label, sensitive_features=sex).table
    reach = stats.t(2).isf(0.025) * np.array([1 / 48, 1])
    np.testing.assert_allclose(table["high"], reach)
    np.testing.assert_allclose(table["low"], -reach)


def test_preferences_that_grow_are_amplified_although_their_mean_change_is_negative():
    auditor = BiasDisparityAuditor().fit(COOKS, sensitive_features=SEX)
    result = auditor.audit(COOKS, PREDICTED, sensitive_features=SEX)
    # Women from 0.75/0.5 to 0.85/0.5125, men from 0.25/0.5 to 0.175/0.5125.
    changes = 0.85 / 0.5125 / 1.5 - 1, 0.175 / 0.5125 / 0.5 - 1
    np.testing.assert_allclose(result.table["amplification"], np.abs(changes))
    assert result.published == pytest.approx(sum(changes) / 2)
    assert result.published_low < result.published < result.published_high < 0
    assert result.value == pytest.approx((changes[0] - changes[1]) / 2)
    assert 0 < result.low < result.value < result.high
    assert result.verdict == "amplifies"
    # Women from 1.5 times the rate of all rows to 1.66 times, men from 0.5 to 0.34.
    women, men = result.table[["base", "observed"]].to_numpy()[[0, 1]]
    assert women == pytest.approx((1.5, 1.66), abs=0.005)
    assert men == pytest.approx((0.5, 0.34), abs=0.005)
    assert result.facts.changes == ()  # no rates of groups


def test_a_group_without_a_label_has_no_preference_to_compare_with():
    sex, label = ["f"] * 160 + ["m"] * 40, [1] * 50 + [0] * 150
    guess = [0] * 3 + [1] * 47 + [0] * 110 + [1] * 2 + [0] * 38
    with pytest.warns(UndefinedMetricWarning):
        result = BiasDisparityAuditor(reference="test").audit(label, guess, sensitive_features=sex)
    assert result.published == pytest.approx((47 / 160) / (49 / 200) / (200 / 160) - 1)
    assert result.low < result.value < result.high
    assert np.isnan(result.table.set_index("group").loc["m", ["base", "low"]].tolist()).all()


@pytest.mark.slow
def test_intervals_of_distances_that_noise_makes_larger_cover():
    """Of 40 predicted rows 60 % are of women. By signs of erf(z) alone 87 % covered."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        group, label = rng.integers(0, 2, 1000), rng.random(1000) < 0.4
        guess = rng.random(1000) < 0.08 * np.where(group == 0, 0.6, 0.4)
        result = PercentageAuditor(reference="test").audit(label, guess, sensitive_features=group)
        inside += result.low <= 0.1 <= result.high
    assert 184 <= inside <= 198


def test_intervals_at_tied_labels_do_not_depend_on_the_names_of_groups():
    group = np.repeat(["a", "b", "c"], [100, 100, 200])
    label = np.r_[np.tile([0, 1], 100), np.tile([0, 0, 0, 1], 50)]
    guess = label.copy()
    guess[np.flatnonzero((group == "a") & (label == 0))[:11]] = 1
    auditor, ends = DifferentialFairnessAuditor(reference="test"), ["low", "high", "p_value"]
    swapped = np.select([group == "a", group == "b"], ["b", "a"], "c")
    results = [auditor.audit(label, guess, sensitive_features=names) for names in (group, swapped)]
    first, second = (
        [result.value, result.low, result.high, *result.table[ends].iloc[:2].to_numpy().ravel()]
        for result in results
    )
    assert first == pytest.approx(second)
    # Of two groups one share is as far from a half as the other.
    group, label = ["a", "b"] * 100, [0] * 100 + [1] * 100
    guess = [0] * 70 + [1] * 10 + [0, 1] * 10 + [1] * 70 + [0] * 10 + [1, 1, 0, 1] * 5
    table = PercentageAuditor(reference="test").audit(label, guess, sensitive_features=group).table
    first, second = table[["amplification", *ends]].to_numpy()
    np.testing.assert_allclose(first, second)
    assert first[1] < 0 < first[2]


def test_label_amplification_has_the_tests_and_intervals_of_a_difference_of_paired_rates():
    rng = np.random.default_rng(5)
    task = (rng.random(300) < 0.7).astype(int)
    pred = np.where(rng.random(300) < 0.2, 1, task)
    gained, lost = int(((pred == 1) & (task == 0)).sum()), int(((pred == 0) & (task == 1)).sum())
    result = LabelAuditor(reference="test").audit(task, pred)
    change = (gained - lost) / 300
    own = (pred - task - change) / 300 / math.sqrt(1 - 1 / 300)
    # Beside the rows: half a row gained, and half a row lost.
    squares = np.r_[own**2 * 300 / 299, [0.5 / 300**2] * 2]
    df, error = squares.sum() ** 2 / (squares**2).sum(), math.sqrt(squares.sum())
    interval = stats.t(df, change, error).interval(0.95)
    assert [result.low, result.high] == pytest.approx(interval)
    p_value = 2 * stats.t(df).sf(change / error)
    assert result.p_value == pytest.approx(p_value)
    assert result.table["p_value"].item() == pytest.approx(p_value)


def test_label_amplification_of_classes_that_tie_does_not_depend_on_their_names():
    label, rng = np.repeat([0, 1, 2], 1200), np.random.default_rng(0)
    both = label, np.where(rng.random(3600) < 0.2, 0, label)
    first, second = (
        LabelAuditor(reference="test").audit(*(named[each] for each in both))
        for named in (np.array([0, 1, 2]), np.array([2, 1, 0]))
    )
    ends = [(each.value, each.low, each.high) for each in (first, second)]
    np.testing.assert_allclose(*ends)


def test_label_amplification_does_not_depend_on_groups():
    rng = np.random.default_rng(5)
    runs = [(rng.random(200) < 0.4).astype(int) for _ in range(5)]
    task = runs.pop()
    models, auditor = {"old": runs[:2], "new": runs[2:]}, LabelAuditor(reference="test")
    how = {"auditor": auditor, "limit": 0.1, "sensitive_features": rng.integers(0, 2, 200)}
    found = skbiasamp.compare(task, models, **how)["label amplification"].table
    pd.testing.assert_frame_equal(found, auditor.compare(task, models).table)


def test_label_amplification_speaks_of_no_groups():
    labels, groups = np.tile([0, 1], 1000), np.repeat(["a", "b"], 1000)
    more, fewer = labels.copy(), labels.copy()
    more[np.flatnonzero(labels == 0)[:60]] = 1
    fewer[np.flatnonzero(labels == 1)[:200]] = 0
    given = {"sensitive_features": groups, "auditor": LabelAuditor(), "random_state": 0}
    # No class is in the majority, and none can be predicted more often than it.
    assert skbiasamp.audit(labels, more, **given).facts.verdict == "no clear effect"
    learned = {"y_train": [1, *labels], "sensitive_train": ["a", *groups]}
    compared = skbiasamp.compare(labels, {"more": more, "fewer": fewer}, **given, **learned)
    assert compared["label amplification"].verdict("fewer") == "amplifies less"
    assert not re.search("gap|prefer|told", str(compared))
    assert "By amplification alone" not in compared.to_markdown()
    at = np.arange(2000)
    days = pd.DataFrame({"y": (at % 10 < 3) * 1, "g": groups, "day": at // 10 % 10})
    days["p"] = days["y"]
    days["p"] = days["p"].where(days["day"] < 5, 1)
    named = {"time": "day", "target": "y", "prediction": "p", "sensitive": "g", "every": None}
    watch = skbiasamp.audit_over(days, auditor=LabelAuditor(), reference=3, random_state=0, **named)
    assert "This metric compares no groups." in str(watch)


def test_a_group_of_any_name_is_a_group():
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"g": rng.choice(["f (all)", "m (all)"], 6000), "day": np.arange(6000) % 10}
    )
    rows["y"] = (rng.random(6000) < np.where(rows["g"] == "f (all)", 0.6, 0.4)).astype(int)
    rows["p"] = rows["y"].where((rows["day"] < 5) | (rows["g"] == "f (all)"), 0)
    named = {"time": "day", "target": "y", "prediction": "p", "sensitive": "g", "every": None}
    how = {"auditor": BiasDisparityAuditor(), "reference": 3, "random_state": 0}
    assert "Their numbers raised the alarm." in str(skbiasamp.audit_over(rows, **named, **how))
