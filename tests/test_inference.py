"""Intervals and tests of values and pairs, adjusted p-values, signs, and the parts of a value."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    NumericAuditor,
)
from skbiasamp.inference import adjust_p_values, paired_p_values, required_rows

# Internal: the formula of Bouckaert and Frank, on numbers whose variance is known.
from skbiasamp.inference.runs import of_draws
from skbiasamp.metrics import BiasDisparityAuditor, LabelAuditor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
METRICS = {
    "A->T": partial(DirectionalAuditor, "A->T"),
    "T->A": partial(DirectionalAuditor, "T->A"),
    "MALS": MALSAuditor,
    "multi A->T": partial(MultiAttributeAuditor, "A->T"),
    "multi T->A": partial(MultiAttributeAuditor, "T->A"),
    "multi MALS": partial(MultiAttributeAuditor, None),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
AUDITED = ("y_true", "y_pred", "sensitive_features", "sensitive_pred", "sample_weight")


def world(n=150, kind="binary", *, n_groups=2, n_tasks=3, seed=0, n_train=400, bias=0.2):
    """Return labels whose attribute, tasks and predictions are all correlated."""
    rng, names = np.random.default_rng(seed), np.array(["g0", "g1", "g2", "g3"])
    width = n_tasks if kind == "multilabel" else 1

    def labels(n):
        group = rng.integers(0, n_groups, n)
        chance = 0.5 - bias + 2 * bias * ((group[:, None] + np.arange(width)) % 2)
        task = (rng.random((n, width)) < chance).astype(int)
        if kind == "multiclass":
            task = (task + 2 * (rng.random((n, 1)) < 0.3)) % 3
        return group, task

    (known_group, known), (group, task) = labels(n_train), labels(n)
    kept = rng.random(task.shape) < 0.75 + 0.15 * (group[:, None] == 0)
    sides = known, task, np.where(kept, task, rng.permutation(1 - task if width > 1 else task))
    known, task, predicted = (side if kind == "multilabel" else side[:, 0] for side in sides)
    guessed = np.where(rng.random(n) < 0.8, group, rng.integers(0, n_groups, n))
    train = {"y_train": known, "sensitive_train": names[known_group]}
    rows = {"y_true": task, "y_pred": predicted, "sensitive_features": names[group]}
    return train | rows | {"sensitive_pred": names[guessed]}


def fitted(auditor, world):
    return clone(auditor).fit(world["y_train"], sensitive_features=world["sensitive_train"])


def audit(auditor, world):
    return fitted(auditor, world).audit(**{key: world[key] for key in AUDITED if key in world})


# --------------------------------------------------------------------------- intervals and tests


@every_metric
def test_an_interval_is_student_s_t(metric):
    for level in (0.5, 0.9, 0.99):
        result = audit(metric(confidence_level=level), world(n_groups=3))
        error = result.statistics["standard_error"]
        df = result.statistics["degrees_of_freedom"]
        reach = stats.t.ppf((1 + level) / 2, df) * error
        assert_allclose([result.low, result.high], [result.value - reach, result.value + reach])
        assert result.p_value == pytest.approx(2 * stats.t.sf(abs(result.value) / error, df))
        assert (result.p_value < 1 - level) == (result.low > 0 or result.high < 0)
        assert result.confidence_level == level
    without = audit(metric(interval=None), world(n_groups=3))
    assert np.isnan([without.low, without.high, without.p_value]).all()
    assert (without.value, without.verdict) == (result.value, "not measured")


def test_a_pair_is_reliable_from_ten_rows():
    data = world(n=400)
    first, second = (np.flatnonzero(data["sensitive_features"] == name) for name in ("g0", "g1"))
    for n in (9, 10):
        few = {key: data[key][np.r_[first, second[:n]]] for key in AUDITED[:4]}
        result = audit(DirectionalAuditor(), data | few)
        assert result.table["reliable"].tolist() == [True, n == 10]


def test_the_paired_test_is_mcnemar_s_exact_one():
    gained, lost = np.meshgrid([0, 1, 2, 5, 17, 60], [0, 1, 2, 3, 8, 20, 61, 400])
    expected = [
        stats.binomtest(int(a), int(a + b)).pvalue if a + b else 1.0
        for a, b in zip(gained.ravel(), lost.ravel(), strict=True)
    ]
    assert_allclose(paired_p_values(gained, lost).ravel(), expected, rtol=1e-9)


P_VALUES = np.random.default_rng(4).uniform(0, 0.2, 23)


def test_holm_multiplies_by_the_number_of_tests_left():
    expected, largest = np.empty(23), 0.0
    for rank, i in enumerate(sorted(range(23), key=lambda i: P_VALUES[i])):
        largest = max(largest, min(1.0, (23 - rank) * P_VALUES[i]))
        expected[i] = largest
    assert_allclose(adjust_p_values(P_VALUES, "holm"), expected)
    assert_allclose(adjust_p_values(P_VALUES), expected)
    # Undefined ones stay, and do not count.
    assert_allclose(adjust_p_values([[0.02, np.nan], [0.02, 0.9]]), [[0.06, np.nan], [0.06, 0.9]])


def test_the_false_discovery_rate_is_scipy_s():
    assert_allclose(adjust_p_values(P_VALUES, "fdr"), stats.false_discovery_control(P_VALUES))
    assert_array_equal(adjust_p_values(P_VALUES, None), P_VALUES)
    data = world(kind="multilabel", n_tasks=5)
    for adjust in ("holm", "fdr", None):  # the table adjusts over its pairs
        table = audit(DirectionalAuditor(adjust=adjust), data).table
        assert_allclose(table["p_adjusted"], adjust_p_values(table["p_value"].to_numpy(), adjust))


def test_the_variance_of_training_is_that_of_bouckaert_and_frank():
    rng = np.random.default_rng(0)
    seen, folds = rng.normal(size=(3, 1)), rng.normal(0, 2, size=(3, 5, 1))
    still = np.zeros((50, 1, 1))
    low, high, p_value, error = of_draws(seen, seen, still, folds, confidence_level=0.95)
    trained = (1 / 15 + 1 / 4) * folds.ravel().var(ddof=1)
    drawn = seen.var(ddof=1) / 3
    assert error[0] ** 2 == pytest.approx(trained + drawn)
    df = (trained + drawn) ** 2 / (trained**2 / 14 + drawn**2 / 2)
    reach = stats.t.isf(0.025, df) * error[0]
    assert (high - low)[0] / 2 == pytest.approx(reach)
    assert p_value[0] == pytest.approx(2 * stats.t.sf(abs(seen.mean()) / error[0], df))


def test_rows_vary_as_what_cuts_of_a_resample_share():
    """Each value is a number of its rows plus one of its cut: only the first varies with rows."""
    rng = np.random.default_rng(0)
    by_rows, by_cuts = rng.normal(0, 3, (20_000, 1, 2)), rng.normal(0, 4, (20_000, 2, 2))
    no_draws, seen = np.zeros((1, 2)), np.full((1, 2), 0.1)
    *_, error = of_draws(seen, no_draws, by_rows + by_cuts, confidence_level=0.95)
    np.testing.assert_allclose(error, 3, rtol=0.05)
    *_, error = of_draws(seen, no_draws, by_rows, confidence_level=0.95)
    np.testing.assert_allclose(error, by_rows.std(axis=0, ddof=1)[0])


@pytest.mark.parametrize(("changed", "n"), [(0, 200), (4, 200), (7, 8)])
def test_few_changed_rows_reach_as_far_as_clopper_and_pearson(changed, n):
    """Resamples of so few rows know of no others; those gained and lost are bounded each."""
    seen, resamples = np.full((1, 1), changed / n), np.full((99, 1, 1), changed / n)
    how = {"confidence_level": 0.9, "n_changed": changed, "n_rows": n}
    low, high, p_value, _ = of_draws(seen, np.zeros((1, 1)), resamples, **how)
    gained = stats.binomtest(changed, n).proportion_ci(0.9)
    most = max(gained.high - changed / n, np.hypot(
        changed / n - gained.low, stats.binomtest(0, n).proportion_ci(0.9).high
    ))  # fmt: skip
    assert high[0] - changed / n == pytest.approx(most)
    assert changed / n - low[0] == pytest.approx(most)
    assert p_value[0] >= min(2.0 ** (1 - changed), 1)


# --------------------------------------------------------------------------- signs and parts


def worlds():
    """Yield worlds in which groups and tasks are hardly associated."""
    nearly_random = partial(world, 400, "multilabel", bias=0.03)
    yield "two groups", nearly_random(seed=1)
    yield "classes", world(400, "multiclass", bias=0.03, n_groups=3, seed=3)
    yield "three groups", nearly_random(n_groups=3, seed=4)
    rng = np.random.default_rng(5)
    yield "whole weights", nearly_random(seed=5) | {"sample_weight": rng.integers(1, 5, 400)}
    yield "weights", nearly_random(seed=6) | {"sample_weight": rng.uniform(0.2, 3, 400)}
    yield "few rows", world(120, "multilabel", bias=0.03, n_groups=3, seed=7)


@pytest.mark.parametrize("metric", METRICS)
def test_the_published_value_is_the_value_with_shift_and_selection(metric):
    for (name, data), reference in product(worlds(), ("test", "train")):
        result = audit(METRICS[metric](reference=reference), data)
        parts = result.value + result.statistics["shift"] + result.statistics["selection"]
        assert parts == pytest.approx(result.published, abs=1e-12), (name, reference)


def test_a_model_that_predicts_a_task_more_often_for_everybody_has_a_shift_and_no_change():
    group, label = np.repeat(["a", "b", "c"], 100), np.tile([1] * 20 + [0] * 80, 3)
    predicted = np.tile([1] * 50 + [0] * 50, 3)
    train = np.concatenate([[1] * ones + [0] * (100 - ones) for ones in (40, 30, 10)])
    auditor = DirectionalAuditor().fit(train, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 1, -1]
    # Every rate rises by 0.3, and two of three signs are +.
    assert result.published == pytest.approx(0.3 / 3)
    assert result.statistics["shift"] == pytest.approx(0.3 / 3)
    assert result.value == pytest.approx(0, abs=1e-12)
    assert result.verdict == "no clear effect"


@pytest.mark.parametrize("auditor", [DirectionalAuditor, MultiAttributeAuditor])
def test_rates_of_training_rows_are_compared_in_groups_of_the_audited_sizes(auditor):
    """Equal rates are no change, however many rows of each group are audited."""
    label = np.repeat([1, 0, 1, 0], [80, 20, 60, 240])
    trained = auditor("A->T", base="train").fit(
        label[:, None], sensitive_features=np.repeat(["a", "b"], [100, 300])
    )
    audited = np.repeat([1, 0, 1, 0], [240, 60, 20, 80])[:, None]
    group = np.repeat(["a", "b"], [300, 100])
    assert trained.score(audited, audited, sensitive_features=group) == pytest.approx(0, abs=1e-12)


def binary(rng, tasks=1, rate=0.5):
    return (rng.random((2, 300, tasks)) < rate).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "draw"),
    [
        (DirectionalAuditor, lambda rng: binary(rng, 4, 0.3)),
        (MALSAuditor, binary),
        (NumericAuditor, lambda rng: rng.normal(size=(2, 300))),
        (BiasDisparityAuditor, lambda rng: rng.integers(0, 3, (2, 300))),
        # It compares rates with a half, which six tasks have by chance.
        (LabelAuditor, lambda rng: binary(rng, 6)),
    ],
)
def test_soft_signs_are_unbiased_where_labels_and_predictions_have_the_same_law(metric, draw):
    """Signs of the same rows, taken as they are, would find that every model reduces."""
    values, auditor = [], metric(reference="test", interval=None)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 3, 300)
        values.append(auditor.score(*draw(rng), sensitive_features=group))
    assert abs(np.mean(values)) < 3.5 * stats.sem(values)


def test_ties_in_training_labels_count_as_0_and_stay_in_the_divisor():
    group = np.repeat(["a", "b"], 100)
    label = np.column_stack([np.repeat([1, 0, 1, 0], [70, 30, 30, 70]), np.tile([1, 0], 100)])
    predicted = label.copy()
    predicted[70:90] = 1  # more of each task in the first group
    auditor = DirectionalAuditor().fit(label, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 0, -1, 0]
    # The gap of the first task grows by 0.2: half of it for each group, and two ties beside them.
    assert result.value == pytest.approx(0.1 / 2)
    assert result.published == pytest.approx(result.value)


# --------------------------------------------------------------------------- all pairs at once


ENDS = ["low_simultaneous", "high_simultaneous"]


def people(n=800, n_tasks=4, seed=0):
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
    group, labels, guesses = people(4_000)
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


def test_pairs_of_few_changes_stay_as_wide_as_exact_bounds():
    """No row of 50 changes: 1 − (α/2)^(1/50) is not ruled out, and α is smaller for all."""
    labels = [1] * 30 + [0] * 20 + [1] * 20 + [0] * 30
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(labels, labels, sensitive_features=["f"] * 50 + ["m"] * 50).table
    assert (table[ENDS[1]] >= 1 - 0.025 ** (1 / 50) - 1e-12).all()
    assert (table[ENDS[0]] <= table["low"]).all()


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


def test_the_interval_of_a_size_does_not_reach_below_0():
    """The published value of sets of tasks is a mean size."""
    auditor = MultiAttributeAuditor("A->T", combinations="all", max_size=1, formula="published")
    lowest = []
    for seed in range(20):
        group, labels, guesses = people(300, 2, seed)
        auditor.fit(labels, sensitive_features=group)
        result = auditor.audit(labels, guesses, sensitive_features=group)
        lowest.append(result.low)
        assert result.low <= result.value == result.published <= result.high
    assert min(lowest) == 0


def test_worst_names_the_pair_and_covers_the_largest():
    group, labels, guesses = people(4_000, 3)
    planted = (group == "f") & (labels[:, 1] == 1)
    guesses[planted, 1] = 0
    auditor = DirectionalAuditor(reference="test")
    worst = auditor.audit(labels, guesses, sensitive_features=group).worst()
    share = (group == "f").mean()
    moved = [(guesses - labels)[group == name, 1].mean() for name in "fm"]
    # Of two groups, the one of fewer rows is further from all rows.
    few, change = ("f", moved[0] - moved[1]) if share < 0.5 else ("m", moved[1] - moved[0])
    assert (worst["group"], worst["task"], worst["n_changed"]) == (few, 1, 2)
    assert worst["change"] == pytest.approx(change * max(share, 1 - share))
    assert worst["low"] < worst["change"] < worst["high"]
    assert worst["low"] > 0 or worst["high"] < 0


def test_required_rows_and_the_smallest_effect_are_each_others_reverse():
    group, labels, guesses = people(1_000, 1)
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
    # By hand: the variance of a mean of two groups. Few rows need more than a normal law says.
    tails = stats.norm.isf(0.025) + stats.norm.ppf(0.9)
    by_hand = (1 / 0.8 + 1 / 0.2) / 4 * (0.1 - 0.003**2) * (tails / 0.003) ** 2
    assert by_hand < required_rows(0.003, 0.9, changed=0.1, groups=(0.8, 0.2)) < 1.01 * by_hand


@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.5, 0.5)])
def test_planned_rows_find_an_effect_of_few_changed_rows_as_often_as_asked(shares):
    n, found = required_rows(0.1, changed=0.1, groups=shares), 0
    auditor = DirectionalAuditor(reference="test")
    for seed in range(400):
        rng = np.random.default_rng(seed)
        group, drawn, changed = rng.random((3, n))
        group = (group < shares[1]).astype(int)
        label = (drawn < np.where(group == 1, 0.7, 0.2)).astype(int)
        # Of group 1 one row in ten gains the label, and of group 0 one in ten loses it.
        moves = (label != group) & (changed < np.where(group == 1, 0.1 / 0.3, 0.1 / 0.2))
        result = auditor.audit(label, np.where(moves, group, label), sensitive_features=group)
        found += result.verdict == "amplifies"
    assert 0.76 < found / 400 < 0.9


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
