"""Intervals that hold for all pairs at once, and the number of rows an audit needs."""

from dataclasses import replace

import numpy as np
import pytest
from by_hand import METRICS, audit, world
from scipy import stats

from skbiasamp import Contingency, DirectionalAuditor, LeakageAuditor, MALSAuditor
from skbiasamp.inference import required_rows
from skbiasamp.metrics import MultiAttributeAuditor

ENDS = ["low_simultaneous", "high_simultaneous"]


def rows(n=800, n_tasks=4, seed=0):
    """Return groups, labels and predictions that change a tenth of the labels."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], n)
    share = np.where(group == "f", 0.4, 0.6)[:, None]
    labels = (rng.random((n, n_tasks)) < share).astype(int)
    change = rng.random(labels.shape) < 0.1
    guesses = np.where(change, rng.random(labels.shape) < share, labels)
    return group, labels, guesses.astype(int)


def test_all_pairs_at_once_are_the_largest_deviation_of_the_resamples():
    """By hand, with the resamples that the contingency itself draws."""
    group, labels, guesses = rows(4_000)
    cells = Contingency.from_labels(labels, guesses, sensitive_features=group)
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(cells).table
    drawn = cells.resample(999, random_state=1)
    moved = drawn.rate("task_pred", given="group") - drawn.rate("task", given="group")
    share = drawn.count("group")[..., None] / 4_000
    moved = moved - (share * moved).sum(axis=1, keepdims=True)
    error = moved.std(axis=0, ddof=1)
    largest = (np.abs(moved - moved.mean(axis=0)) / error).max(axis=(1, 2))
    # Other resamples than the auditor's: a quantile of 999 has an error of its own.
    half = (table[ENDS[1]] - table[ENDS[0]]).to_numpy() / 2
    np.testing.assert_allclose(half, np.quantile(largest, 0.95) * error.ravel(), rtol=0.15)
    np.testing.assert_allclose(table[ENDS].mean(axis=1), table["change"], atol=1e-12)
    # Of two pairs, hardly wider than of one: 2.24 standard errors if they are independent.
    two = auditor.audit(labels[:, 0], guesses[:, 0], sensitive_features=group).table
    ratio = (two[ENDS[1]] - two[ENDS[0]]) / (two["high"] - two["low"])
    assert ratio.between(1, 1.25, inclusive="left").all()
    # Bonferroni's bound is the widest that it can be.
    assert (half < 1.1 * stats.norm.isf(0.025 / 8) * error.ravel()).all()
    assert (half > stats.norm.isf(0.025) * error.ravel()).all()


def shares(n, rng):
    """Return four groups, and labels of 15 tasks that do not depend on them."""
    group, labels = rng.integers(0, 4, n), (rng.random((n, 15)) < 0.4).astype(int)
    return group, labels, np.where(rng.random(labels.shape) < 0.2, 1 - labels, labels)


def test_all_pairs_are_candidates_whatever_their_sign():
    """MALS counts pairs that the labels choose, by noise that the changes share."""
    group, labels, guesses = shares(4_000, np.random.default_rng(0))
    auditor = MALSAuditor(reference="test")
    table = auditor.audit(labels, guesses, sensitive_features=group).table
    counts = table["sign"] == 1
    assert 20 < counts.sum() < 40
    width, whole = (table[high] - table[low] for low, high in (("low", "high"), ENDS))
    # Of 60 independent pairs 3.34 standard errors, of 30 of them 3.14, of one 1.96.
    assert (whole / width).mean() * 1.96 > 3.2
    # Holm: the smallest p-value times the number of pairs.
    guesses[(group == 0) & (np.arange(4_000) % 8 == 0)] = 1
    table = auditor.audit(labels, guesses, sensitive_features=group).table
    least = table["p_value"].idxmin()
    assert table["p_adjusted"][least] == pytest.approx(60 * table["p_value"][least])
    assert table["p_adjusted"].isna().equals(table["p_value"].isna())


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
def test_pairs_of_few_changes_stay_as_wide_as_exact_bounds():
    """No row of 50 changes: 1 − (α/2)^(1/50) is not ruled out, and α is smaller for all."""
    labels = [1] * 30 + [0] * 20 + [1] * 20 + [0] * 30
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(labels, labels, sensitive_features=["f"] * 50 + ["m"] * 50).table
    assert (table[ENDS[1]] >= 1 - 0.025 ** (1 / 50) - 1e-12).all()
    assert (table[ENDS[0]] <= table["low"]).all()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", METRICS)
def test_intervals_of_all_pairs_contain_those_of_single_pairs(name):
    """Also where few rows carry a pair, whose interval is that of Student's t."""
    for seed in range(30):
        auditor = METRICS[name](reference="test" if seed % 2 else "train")
        data = world(n=60 + 4 * seed, n_train=200, seed=seed)
        table = audit(auditor, data).table
        known = table[["low", *ENDS]].notna().all(axis=1)
        assert known.any()
        assert (table[ENDS[0]] <= table["low"])[known].all()
        assert (table[ENDS[1]] >= table["high"])[known].all()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
def test_the_interval_of_a_size_does_not_reach_below_0():
    """The published value of sets of tasks is a mean size."""
    auditor = MultiAttributeAuditor("A->T", combinations="all", max_size=1, formula="published")
    lowest = []
    for seed in range(20):
        group, labels, guesses = rows(300, 2, seed)
        auditor.fit(labels, sensitive_features=group)
        result = auditor.audit(labels, guesses, sensitive_features=group)
        lowest.append(result.low)
        assert result.low <= result.value == result.published <= result.high
    assert min(lowest) == 0


def test_worst_names_the_pair_and_covers_the_largest():
    group, labels, guesses = rows(4_000, 3)
    planted = (group == "f") & (labels[:, 1] == 1)
    guesses[planted, 1] = 0
    auditor = DirectionalAuditor(reference="test")
    worst = auditor.audit(labels, guesses, sensitive_features=group).worst()
    share = (group == "f").mean()
    moved = [(guesses - labels)[group == name, 1].mean() for name in "fm"]
    # Of two groups, the one of fewer rows is further from all rows.
    few, change = ("f", moved[0] - moved[1]) if share < 0.5 else ("m", moved[1] - moved[0])
    assert (worst["group"], worst["task"]) == (few, 1)
    assert worst["change"] == pytest.approx(change * max(share, 1 - share))
    assert worst["low"] < worst["change"] < worst["high"]
    assert worst["low"] > 0 or worst["high"] < 0
    assert worst["n_changed"] == 2
    for auditor in (DirectionalAuditor(interval=None, reference="test"), LeakageAuditor(n_draws=2)):
        result = auditor.audit(labels[:, 0], guesses[:, 0], sensitive_features=group)
        with pytest.raises(ValueError, match="no simultaneous intervals: audit with an interval"):
            result.worst()


@pytest.mark.parametrize(
    ("effect", "changed", "shares"), [(0.05, 0.2, (0.5, 0.5)), (0.03, 0.1, (0.8, 0.2))]
)
def test_an_audit_of_the_required_rows_finds_the_effect(effect, changed, shares):
    n, found, n_data = required_rows(effect, changed=changed, groups=shares), 0, 200
    rng = np.random.default_rng(0)
    auditor = DirectionalAuditor()
    # So many that the direction is clear.
    auditor.fit([1, 1, 0, 1, 0, 0] * 50, sensitive_features=list("aaabbb") * 50)
    for _ in range(n_data):
        group = rng.choice(["a", "b"], size=n, p=shares)
        label = rng.integers(0, 2, n)
        rises = effect * np.where(label == 1, -1, 1) * np.where(group == "a", 1, -1)
        change = rng.random(n) < changed + rises
        result = auditor.audit(label, label ^ change, sensitive_features=group)
        found += result.verdict == "amplifies"
    assert abs(found / n_data - 0.8) < 3.5 * (0.8 * 0.2 / n_data) ** 0.5


def test_required_rows_and_the_smallest_effect_are_each_others_reverse():
    group, labels, guesses = rows(1_000, 1)
    result = DirectionalAuditor(reference="test").audit(
        labels[:, 0], guesses[:, 0], sensitive_features=group
    )
    least = result.smallest_effect()
    error, df = (result.statistics[key] for key in ("standard_error", "degrees_of_freedom"))
    times = 1 + stats.norm.ppf(0.8) / stats.norm.isf(0.025)
    assert least == pytest.approx(stats.t.isf(0.025, df) * times * error, rel=1e-9)
    assert required_rows(least * (1 + 1e-9), result=result) == 1_000
    assert required_rows(least / 2, result=result) == pytest.approx(4_000, abs=1)
    assert result.smallest_effect(0.5) < least < result.smallest_effect(0.95)
    assert required_rows(0.02, 0.9, changed=0.2) > required_rows(0.02, changed=0.2)
    # Of resamples that are too close together, the standard deviation counts.
    wide = replace(result, statistics={"standard_error": 0.1})
    needed = 1_000 * (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2
    assert required_rows(0.1, result=wide) == np.ceil(needed)
    for effect, how, text in (
        (0.0, {"changed": 0.2}, "effect must be a positive number"),
        (0.1, {"changed": 0.05}, "changed must be a share"),
        (0.1, {}, "either changed, or the result"),
        (0.1, {"changed": 0.2, "power": 1.0}, "power must be a number between 0 and 1"),
        (0.1, {"changed": 0.2, "confidence_level": 10**400}, "confidence_level must be a number"),
        (0.1, {"changed": 0.2, "groups": (0.5, 0.4)}, "groups must be positive shares"),
    ):
        with pytest.raises(ValueError, match=text):
            required_rows(effect, **how)


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_no_change_is_larger_than_all_rows_allow(direction):
    """Of few rows, quantiles reach further. P(t|a) − P(t) is at most the share of other groups."""
    group = np.repeat(["f", "m", "x"], [12, 8, 3])
    labels = np.array([0] * 9 + [1] * 9 + [0, 1, 0, 1, 0])
    others = {"f": "m", "m": "x", "x": "f"}
    auditor = DirectionalAuditor(direction, reference="test")
    predicted = {"sensitive_pred": [others[one] for one in group]}
    if direction == "A->T":
        predicted = {"y_pred": 1 - labels}
    result = auditor.audit(labels, **predicted, sensitive_features=group)
    table = result.table
    most = 2 * (1 - table["n"] / 23)
    ends = table[["low", "high", *ENDS]].abs()
    assert (ends.max(axis=1) <= most + 1e-12).all()
    assert (ends.max(axis=1) > most - 1e-12).any()
    assert max(-result.low, result.high) <= most.mean() + 1e-12


def test_an_interval_contains_a_value_that_is_larger_than_1():
    """All of the one large group lose the label, and all of two small ones get it."""
    group = np.repeat(["a", "b", "c"], [1_000, 50, 50])
    labels = (group == "a").astype(int)
    auditor = DirectionalAuditor().fit(labels, sensitive_features=group)
    result = auditor.audit(labels, 1 - labels, sensitive_features=group)
    assert result.value == pytest.approx(-(200 + 2 * 2_000) / 1_100 / 3)
    assert result.low <= result.value <= result.high < -1
