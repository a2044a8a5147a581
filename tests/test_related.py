"""The related measures as auditors: values by hand, honest intervals, undefined cases."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import Contingency, amplification_scorer
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
)

AUDITORS = [
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    PercentageAuditor,
    LabelAuditor,
]
SEX = ["f"] * 400 + ["m"] * 400
COOKS = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
PREDICTED = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330


def random_group(n, n_groups, rate, hit, false, rng):
    """Return the audited rows of a model that does not know a group that is random."""
    group = rng.integers(n_groups, size=n)
    task = (rng.random(n) < rate).astype(int)
    pred = (rng.random(n) < np.where(task == 1, hit, false)).astype(int)
    return Contingency.from_labels(task, pred, sensitive_features=group)


# --------------------------------------------------------------------------- differential fairness


def test_the_table_has_the_log_ratio_of_each_pair_of_groups_and_outcome():
    auditor = DifferentialFairnessAuditor(0.0, reference="test", interval=None)
    result = auditor.audit(COOKS, PREDICTED, sensitive_features=SEX)
    expected = [math.log(0.75 / 0.25), math.log(0.25 / 0.75)]
    np.testing.assert_allclose(result.table["base"], expected)
    expected = [math.log(0.85 / 0.175), math.log(0.15 / 0.825)]
    np.testing.assert_allclose(result.table["observed"], expected)
    assert list(result.table["group"]) == ["f / m"] * 2
    assert list(result.table["task"]) == [1, 0]
    assert result.value == pytest.approx(math.log(0.825 / 0.15) - math.log(3))
    assert result.statistics["epsilon_labels"] == pytest.approx(math.log(3))
    assert "1 pair of groups x 2 outcomes" in repr(result)


def test_three_groups_have_three_pairs_and_columns_two_outcomes_each():
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(2, size=(2, 300, 2))
    race = rng.choice(list("xyz"), 300)
    frames = [pd.DataFrame(one, columns=["cook", "drive"]) for one in (labels, predicted)]
    auditor = DifferentialFairnessAuditor(reference="test", interval=None)
    result = auditor.audit(*frames, sensitive_features=race)
    pairs = set(zip(result.table["group"], result.table["task"], strict=True))
    tasks = ("cook", "drive", "not cook", "not drive")
    assert pairs == {(g, t) for g in ("x / y", "x / z", "y / z") for t in tasks}
    largest = result.table["observed"].abs().max() - result.table["base"].abs().max()
    assert result.value == pytest.approx(largest)


def test_the_largest_ratio_raises_no_false_alarm_where_percentiles_always_do():
    """A model that predicts one label in ten has a larger ε for its few positives alone."""
    rng, alarms, missed, percentile_alarms = np.random.default_rng(1), 0, 0, 0
    for _ in range(60):
        cells = random_group(2000, 6, 0.5, 0.1, 0.0, rng)
        auditor = DifferentialFairnessAuditor(reference="test")
        result = auditor.audit(cells)
        alarms += result.p_value < 0.05
        missed += not result.low <= 0 <= result.high
        draws = auditor._measure(cells, cells.resample(199, random_state=rng), rows_per_weight=1.0)
        percentile_alarms += np.quantile(draws.value, 0.025) > 0
    assert percentile_alarms >= 54
    assert alarms <= 7  # 3 if the level were exactly 5 %
    assert missed <= 7


def by_hand(cells, n_resamples, rng):
    """Return the interval of the largest log ratio with NumPy alone: the longer one at either end.

    Percentiles of resamples, and deviations of every pair that could be the largest.
    """

    def logs(joint, sizes):
        rates = (joint + 0.5) / (sizes + 1)
        rates = np.stack([rates, 1 - rates], axis=-1)
        one, other = np.where(~np.eye(rates.shape[-2], dtype=bool))
        return (np.log(rates)[..., one, :] - np.log(rates)[..., other, :]).reshape(
            *rates.shape[:-2], -1
        )

    def sides(held):
        sizes = held.count("group")
        return [logs(held.joint("group", side)[..., 0], sizes) for side in ("task", "task_pred")]

    seen, drawn = sides(cells), sides(cells.resample(n_resamples, random_state=rng))
    shift = 0
    for sign, one, draws in zip((-1, 1), seen, drawn, strict=True):
        deviation, most = draws - one, one.argmax()
        error = (deviation - deviation[:, [most]]).std(axis=0, ddof=1)
        behind = np.maximum(one[most] - one - 3 * error, 0)
        shift = shift + sign * (deviation - behind).max(axis=1)
    value = seen[1].max() - seen[0].max()
    ends = np.quantile(value - shift, [0.025, 0.975])
    plain = np.quantile(drawn[1].max(axis=1) - drawn[0].max(axis=1), [0.025, 0.975])
    return value, min(*ends[:1], *plain[:1], value), max(*ends[1:], *plain[1:], value)


def test_its_interval_is_that_of_all_pairs_that_could_be_the_largest():
    rng = np.random.default_rng(2)
    for rates in ((0.5, 0.1), (0.3, 0.02)):
        cells = random_group(1000, 3, rates[0], 0.8, rates[1], rng)
        auditor = DifferentialFairnessAuditor(reference="test")
        result = auditor.audit(cells)
        value, low, high = by_hand(cells, 2999, rng)
        assert result.value == pytest.approx(value)
        error = result.statistics["standard_error"]
        np.testing.assert_allclose([result.low, result.high], [low, high], atol=error / 4)


def test_a_model_that_is_right_leaves_the_ratio_as_it_is():
    result = DifferentialFairnessAuditor(reference="test").audit(
        COOKS, COOKS, sensitive_features=SEX
    )
    assert (result.value, result.p_value) == (0, 1)
    assert result.low < 0 < result.high  # so few rows do not prove that there is no error
    assert result.verdict == "no clear effect"


def test_an_infinite_ratio_is_not_measured_and_says_what_to_do():
    predicted = [1] * 400 + [0] * 400
    auditor = DifferentialFairnessAuditor(0.0, reference="test")
    result = auditor.audit(COOKS, predicted, sensitive_features=SEX)
    assert result.value == math.inf
    assert math.isnan(result.low)
    assert result.verdict == "not measured"
    assert "in the predictions, a group never has an outcome" in result.sentence
    assert "Use concentration=1" in result.sentence
    assert json.loads(result.to_json())["value"] is None
    smoothed = auditor.set_params(concentration=1.0)
    assert smoothed.audit(COOKS, predicted, sensitive_features=SEX).verdict == "amplifies"


def test_one_group_alone_has_no_ratio():
    auditor = DifferentialFairnessAuditor().fit(COOKS, sensitive_features=SEX)
    rows = COOKS[:400], PREDICTED[:400]
    with pytest.warns(UndefinedMetricWarning, match="nothing to measure for group 'f / m'"):
        result = auditor.audit(*rows, sensitive_features=SEX[:400])
    assert result.value == 0
    assert result.verdict == "not measured"


def test_too_many_pairs_of_groups_are_refused_before_memory_is():
    group = np.arange(1600) % 80
    label = np.tile([0, 1], 800)
    cells = Contingency.from_labels(
        np.stack([label, 1 - label], axis=1),
        np.stack([label, 1 - label], axis=1),
        sensitive_features=group,
    )
    auditor = DifferentialFairnessAuditor(reference="test")
    with pytest.raises(ValueError, match="at most 10,000 pairs of groups and outcomes; got 12,640"):
        auditor.audit(cells)
    assert auditor.set_params(interval=None).audit(cells).value == 0


def test_a_perfect_model_may_change_a_ratio_by_the_rows_that_did_not_show_it():
    """No row of 100 changes, so a rate may by 1 − 0.025^(1/100); a rare one is changed by more."""
    sex = np.repeat(["f", "m"], [100, 200])
    hired = np.repeat([1, 0, 1, 0], [60, 40, 40, 160])
    auditor = DifferentialFairnessAuditor(0.0, reference="test")
    result = auditor.audit(hired, hired, sensitive_features=sex)
    change = 1 - 0.025 ** (1 / 100)
    # Women are hired three times as often as the men, of whom 20 % are; 40 % of them are not hired.
    ends = result.table.set_index("task").loc[[1, 0], "high"].tolist()
    assert ends == pytest.approx([change / 0.2, change / 0.4])
    assert [result.low, result.high] == pytest.approx([-change / 0.2, change / 0.2])


# --------------------------------------------------------------------------- bias disparity


def test_preferences_that_grow_are_amplified_although_their_mean_change_is_negative():
    auditor = BiasDisparityAuditor().fit(COOKS, sensitive_features=SEX)
    result = auditor.audit(COOKS, PREDICTED, sensitive_features=SEX)
    # Women from 0.75/0.5 to 0.85/0.5125, men from 0.25/0.5 to 0.175/0.5125.
    changes = 0.85 / 0.5125 / 1.5 - 1, 0.175 / 0.5125 / 0.5 - 1
    np.testing.assert_allclose(result.table["amplification"], np.abs(changes))
    assert result.value == pytest.approx(sum(changes) / 2)
    assert result.statistics["value_low"] < result.value < result.statistics["value_high"] < 0
    assert result.estimate == pytest.approx((changes[0] - changes[1]) / 2)
    assert result.statistics["signed_mean"] == pytest.approx(result.estimate)
    assert 0 < result.low < result.estimate < result.high
    assert result.verdict == "amplifies"
    # Women from 1.5 times the rate of all rows to 1.66 times, men from 0.5 to 0.34.
    assert "move 21.1 % away from those of all rows" in result.sentence
    assert "m is predicted '1' 0.34 times as often as all rows" in result.sentence
    assert "and labelled so 0.50 times as often" in result.sentence


def test_the_mean_change_of_rare_preferences_is_not_found_where_there_is_none():
    """Noise in a denominator makes a mean of relative changes too large."""
    rng, missed, biased, found = np.random.default_rng(3), 0, [], 0
    for _ in range(60):
        cells = random_group(400, 4, 0.1, 0.8, 0.02, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = BiasDisparityAuditor(reference="test").audit(cells)
        missed += not result.statistics["value_low"] <= 0 <= result.statistics["value_high"]
        biased.append(result.value)
        found += not result.low <= 0 <= result.high
    assert np.mean(biased) > 2 * np.std(biased) / 60**0.5
    assert missed <= 8
    assert found <= 7  # 3 if the level were exactly 5 %


def test_the_mean_change_of_preferences_has_percentiles_without_twice_the_bias_of_resamples():
    """By hand: 20 groups whose preferences the model keeps, each of 60 rows."""
    counts, n_groups = [12, 12, 12, 24], 20  # rows that keep the label, lose it, gain it, have none
    label, guess = (np.tile(np.repeat(of, counts), n_groups) for of in ([1, 1, 0, 0], [1, 0, 1, 0]))
    result = BiasDisparityAuditor(reference="test").audit(
        label, guess, sensitive_features=np.repeat(np.arange(n_groups), 60)
    )
    rng, n = np.random.default_rng(1), 60 * n_groups
    drawn = rng.multinomial(n, np.tile(counts, n_groups) / n, 999).reshape(999, n_groups, 4)
    rows, labelled, guessed = drawn.sum(-1), drawn[..., :2].sum(-1), drawn[..., ::2].sum(-1)
    before, after = (one / rows / (one.sum(-1) / n)[:, None] for one in (labelled, guessed))
    values = (after / before - 1).mean(axis=1)
    # The change is 0, and that of a resample positive on average: few labels in a denominator.
    assert result.value == pytest.approx(0, abs=1e-12)
    assert values.mean() > 0.02
    expected = np.quantile(values, [0.025, 0.975]) - 2 * values.mean()
    ends = [result.statistics[f"value_{end}"] for end in ("low", "high")]
    assert ends == pytest.approx(expected, abs=0.006)


def test_the_verdict_on_preferences_has_percentiles_without_twice_the_bias_of_resamples():
    """By hand: half of 20 groups have the label rarely, and the model keeps all preferences.

    Rare labels make noisy denominators. Their changes are too large on average, and count as
    reductions.
    """
    counts, n_groups = np.array([[8, 8, 8, 36], [40, 8, 8, 4]]), 20
    label, guess = (
        np.tile(np.concatenate([np.repeat(of, each) for each in counts]), n_groups // 2)
        for of in ([1, 1, 0, 0], [1, 0, 1, 0])
    )
    result = BiasDisparityAuditor(reference="test").audit(
        label, guess, sensitive_features=np.repeat(np.arange(n_groups), 60)
    )
    rng, n = np.random.default_rng(1), 60 * n_groups
    cells = np.tile(counts.ravel(), n_groups // 2)
    drawn = rng.multinomial(n, cells / n, 9999).reshape(9999, n_groups, 4)
    rows, labelled, guessed = drawn.sum(-1), drawn[..., :2].sum(-1), drawn[..., ::2].sum(-1)
    before, after = (one / rows / (one.sum(-1) / n)[:, None] for one in (labelled, guessed))
    values = ((after / before - 1) * np.tile([-1, 1], n_groups // 2)).mean(axis=1)
    assert result.estimate == pytest.approx(0, abs=1e-12)
    assert values.mean() == pytest.approx(-0.015, abs=0.002)
    expected = np.quantile(values, [0.025, 0.975]) - 2 * values.mean()
    assert [result.low, result.high] == pytest.approx(expected, abs=0.012)


def test_few_labelled_rows_of_a_group_do_not_show_that_a_model_changes_preferences():
    """Groups are random, and so are the errors: 40 % false before exact bounds."""
    rng, found = np.random.default_rng(6), 0
    for _ in range(60):
        train, test = (random_group(n, 5, 0.03, 0.98, 0.02, rng) for n in (300, 200))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            auditor = BiasDisparityAuditor().fit(train)
            found += not auditor.audit(test).low <= 0 <= auditor.audit(test).high
    assert found <= 3


def test_a_preference_of_few_changed_rows_has_exact_bounds_of_these():
    """By hand: 1 of 40 rows is labelled, 2 more are predicted, in the smaller of two groups."""
    sex, label = ["f"] * 160 + ["m"] * 40, [1] * 48 + [0] * 112 + [1] + [0] * 39
    guess = [0] * 12 + [1] * 48 + [0] * 100 + [1] * 3 + [0] * 37
    result = BiasDisparityAuditor(reference="test").audit(label, guess, sensitive_features=sex)
    gained, lost = (stats.binomtest(n, 40).proportion_ci(0.95) for n in (2, 0))
    below, above = (
        math.hypot(2 / 40 - gained.low, lost.high),
        math.hypot(gained.high - 2 / 40, 0 - lost.low),
    )
    own = result.table.set_index("group").loc["m"]
    assert own["amplification"] == pytest.approx(1 - 3 * 49 / 51)  # towards the rate of all rows
    ends = [own["amplification"] - above * 40, own["amplification"] + below * 40]
    assert own[["low", "high"]].tolist() == pytest.approx(ends)
    # The group counts half, and the other one hardly varies.
    assert result.low < ends[0] / 2 + 0.5
    assert result.high > 0
    assert result.verdict == "no clear effect"


def test_the_only_group_with_a_label_cannot_be_compared():
    sex, label = ["f"] * 160 + ["m"] * 40, [1] * 50 + [0] * 150
    guess = [0] * 3 + [1] * 47 + [0] * 110 + [1] * 2 + [0] * 38
    with pytest.warns(UndefinedMetricWarning):
        result = BiasDisparityAuditor(reference="test").audit(label, guess, sensitive_features=sex)
    assert result.verdict == "not measured"
    assert "only one group has labels to compare with" in result.sentence


# --------------------------------------------------------------------------- percentage


def test_shares_of_few_rows_are_not_taken_for_shares_further_from_equal():
    rng, alarms, above = np.random.default_rng(4), 0, 0
    for _ in range(60):
        cells = random_group(1000, 3, 0.5, 0.04, 0.0, rng)
        result = PercentageAuditor(reference="test").audit(cells)
        alarms += result.p_value < 0.05
        above += result.value > 0
    assert above > 50  # 20 predicted rows are further from equal than 500 labelled ones
    assert alarms <= 7


def test_distances_of_zero_may_have_shrunk_as_far_as_they_may_have_grown():
    """By hand: half of the labelled rows are of women, and half of the few predicted ones.

    A resample of the 40 predicted rows is further from equal shares than one of 400, always in the
    direction of growth. So are the rows at hand: the truth may lie as far below.
    """
    label, guess = ([1] * n + [0] * (1000 - n) for n in (400, 40))
    sex = ["f", "m"] * 500
    result = PercentageAuditor(reference="test").audit(label, guess, sensitive_features=sex)
    assert result.value == 0
    rng = np.random.default_rng(1)
    cells = np.array([20, 20, 180, 180, 300, 300]) / 1000
    drawn = rng.multinomial(1000, cells, 2000).reshape(2000, 3, 2)
    both, labelled = drawn[:, 0], drawn[:, 0] + drawn[:, 1]
    distances = [np.abs(one[:, 0] / one.sum(axis=1) - 0.5) for one in (both, labelled)]
    reach = np.quantile(distances[0] - distances[1], 0.975)
    assert [result.low, result.high] == pytest.approx([-reach, reach], rel=0.1)


def test_a_task_that_is_never_predicted_leaves_the_others_as_they_are():
    rng = np.random.default_rng(6)
    sex, label = rng.choice(["f", "m"], 200), rng.integers(0, 2, (200, 2))
    guess = np.column_stack([np.where(rng.random(200) < 0.2, 1, label[:, 0]), np.zeros(200, int)])
    auditor = PercentageAuditor(reference="test")
    with pytest.warns(UndefinedMetricWarning):
        result = auditor.audit(label, guess, sensitive_features=sex)
    table = result.table.set_index("task")
    assert table.loc[1, ["amplification", "low", "high", "p_value"]].isna().all(axis=None)
    alone = auditor.audit(label[:, 0], guess[:, 0], sensitive_features=sex)
    assert result.value == pytest.approx(alone.value)
    assert [result.low, result.high] == pytest.approx([alone.low, alone.high], abs=0.01)


def test_groups_that_a_prompt_does_not_predict():
    job, sex = ["nurse"] * 80 + ["chef"] * 80, list("fffmffmm") * 20
    drawn = ["f"] * 100 + ["m"] * 60
    result = PercentageAuditor(reference="test").audit(
        job, sensitive_features=sex, sensitive_pred=drawn
    )
    np.testing.assert_allclose(result.table["base"], [5 / 8, 3 / 8])
    np.testing.assert_allclose(result.table["observed"], [1, 0])
    assert result.value == pytest.approx(0.5 - 0.125)


# --------------------------------------------------------------------------- label


def test_label_amplification_has_the_tests_and_intervals_of_a_difference_of_paired_rates():
    rng = np.random.default_rng(5)
    task = (rng.random(300) < 0.7).astype(int)
    pred = np.where(rng.random(300) < 0.2, 1, task)
    gained, lost = int(((pred == 1) & (task == 0)).sum()), int(((pred == 0) & (task == 1)).sum())
    result = LabelAuditor(reference="test").audit(task, pred)
    exact = stats.binomtest(gained, gained + lost).pvalue
    assert result.table["p_value"].item() == pytest.approx(exact)
    change = (gained - lost) / 300
    error = math.sqrt(((gained + lost) / 300 - change**2) / 300)
    z = stats.norm.isf(0.025)
    assert [result.low, result.high] == pytest.approx([change - z * error, change + z * error])
    boot = LabelAuditor(reference="test").audit(task, pred)
    assert [boot.low, boot.high] == pytest.approx([result.low, result.high], abs=error / 4)


def test_label_amplification_takes_a_contingency_and_ignores_its_groups():
    cells = Contingency.from_labels(COOKS, PREDICTED, sensitive_features=SEX)
    auditor = LabelAuditor().fit([1] * 6 + [0] * 4)
    alone, grouped = auditor.audit(COOKS, PREDICTED), auditor.audit(cells)
    assert alone.value == grouped.value == pytest.approx(10 / 800)
    assert grouped.table["p_value"].item() == alone.table["p_value"].item()
    assert auditor.y_at_.to_numpy().tolist() == [[1]]


def test_without_a_majority_nothing_can_be_amplified():
    result = LabelAuditor(reference="test").audit(COOKS, PREDICTED)
    assert result.verdict == "cannot amplify"
    assert "no class is in the majority" in result.sentence
    assert "group" not in result.sentence


# --------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_comparison_is_the_difference_of_two_audits(auditor):
    rng = np.random.default_rng(6)
    other = np.where(rng.random(800) < 0.1, 1 - np.array(PREDICTED), PREDICTED)
    labels = COOKS[:-20] + [1] * 20  # a majority
    one = auditor(reference="test", random_state=0, n_resamples=199)
    models = {"old": PREDICTED, "new": other}
    found = one.compare(labels, models, sensitive_features=SEX)
    values = {
        name: one.audit(labels, predicted, sensitive_features=SEX)
        for name, predicted in models.items()
    }
    table = found.table.set_index("model")
    for name, alone in values.items():
        assert table.loc[name, "value"] == pytest.approx(alone.value)
        assert table.loc[name, "estimate"] == pytest.approx(alone.estimate)
    expected = values["new"].estimate - values["old"].estimate
    assert found.difference("new") == pytest.approx(expected)
    row = table.loc["new"]
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    same = one.compare(labels, {"a": PREDICTED, "b": PREDICTED}, sensitive_features=SEX)
    assert same.verdicts == {"b": "no clear difference"}


@pytest.mark.parametrize("auditor", AUDITORS[:3])
def test_analytic_intervals_are_refused_where_there_are_none(auditor):
    one = auditor(reference="test", interval="analytic")
    message = f"{auditor.__name__} declares none. Use interval='bootstrap'"
    with pytest.raises(ValueError, match=message):
        one.audit(COOKS, PREDICTED, sensitive_features=SEX)
    with pytest.raises(ValueError, match=message):
        one.compare(COOKS, {"a": PREDICTED, "b": COOKS}, sensitive_features=SEX)


def test_an_equally_good_model_that_predicts_less_often_does_not_amplify_more():
    rng, found = np.random.default_rng(7), 0
    for _ in range(30):
        n = 1000
        group, task = rng.integers(4, size=n), rng.integers(2, size=n)
        models = {
            "often": np.where(rng.random(n) < 0.2, 1 - task, task),
            "rarely": task * (rng.random(n) < 0.1),
        }
        auditor = DifferentialFairnessAuditor(reference="test")
        comparison = auditor.compare(task, models, sensitive_features=group)
        found += comparison.verdict("rarely") != "no clear difference"
    assert found <= 5


def test_they_are_in_the_report_the_page_and_the_card():
    pytest.importorskip("jinja2")
    auditors = [one(n_resamples=99) for one in AUDITORS]
    report = skbiasamp.audit(
        COOKS, PREDICTED, sensitive_features=SEX, auditor=auditors, random_state=0
    )
    names = [
        "bias disparity",
        "differential fairness",
        "percentage amplification",
        "label amplification",
    ]
    assert list(report) == names
    page, card = report.to_html(), report.to_markdown()
    assert "The model amplifies the groups&#39; preferences in its labels." in page
    text = " ".join(page.split())
    assert "<b>+0.2114</b>" in text  # the mean change, which the verdict is about
    assert "The formula of the metric&#39;s paper gives −0.1057" in text
    for name, result in report.items():
        assert name in page
        assert result.sentence in card or result.sentence.replace("/", "\\/") in card
    content = json.loads(report.to_json())["results"]["differential fairness"]
    assert content["pair_of"] == ["pair of groups", "outcome"]


@pytest.mark.parametrize("auditor", AUDITORS)
def test_they_score_models(auditor):
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"sex": rng.integers(2, size=400), "skill": rng.normal(size=400)})
    y = (X["skill"] + X["sex"] + rng.normal(size=400) > 0.2).astype(int)
    scorer = amplification_scorer(auditor(reference="test"), sensitive="sex")
    assert -1 < scorer(LogisticRegression().fit(X, y), X, y) <= 0


@pytest.mark.parametrize("auditor", AUDITORS)
def test_they_have_no_interval_where_tasks_were_summed_by_themselves(auditor):
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.integers(2, size=(400, 5)), columns=["sex", *"abcd"])
    one = auditor(reference="test", random_state=0, n_resamples=99)
    columns = {"target": ["a", "b"], "prediction": ["c", "d"], "sensitive": "sex"}
    expected = one.audit(frame, **columns)
    relation = duckdb.from_df(frame)
    cells = Contingency.from_frame(relation, joint=False, **columns)
    assert cells.summed == "tasks"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertaintyWarning)
        result = one.audit(cells)
    assert result.value == pytest.approx(expected.value)
    if auditor is not LabelAuditor:
        assert math.isnan(result.low)
        assert result.verdict == "not measured"


def test_few_resamples_do_not_part_test_and_interval():
    """Shares of draws are rough: of 100, an interval may exclude 0 where their share is 6 %."""
    excluded, n_rough = [], 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sex = rng.integers(0, 2, 300)
        y = (rng.random(300) < np.where(sex == 0, 0.4, 0.6)).astype(int)
        y_pred = np.where(rng.random(300) < 0.12, rng.integers(0, 2, 300), y)
        auditor = PercentageAuditor(reference="test")
        result = auditor.set_params(interval="bootstrap").audit(y, y_pred, sensitive_features=sex)
        excluded.append(result.low > 0 or result.high < 0)
        assert (result.p_value < 0.05) == excluded[-1]
        pairs = (result.table["low"] > 0) | (result.table["high"] < 0)
        assert ((result.table["p_value"] < 0.05) == pairs).all()
        n_rough += excluded[-1] and result.p_value > 0.0499
    assert sum(excluded) > n_rough > 0
