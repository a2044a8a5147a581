"""Guesses that ignore their input, and labels that are pure noise."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import DPAAuditor, LeakageAuditor
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import dpa_amplification, leakage_amplification


def test_what_the_group_decides_is_above_chance():
    rng = np.random.default_rng(2)
    group, task = rng.integers(2, size=(2, 400))
    predicted = np.where(rng.random(400) < 0.6, group, task)
    labels = {"y_true": task, "y_pred": predicted, "sensitive_features": group}
    # T→A: the group that is predicted is the task.
    turned = {"y_true": group, "sensitive_pred": predicted, "sensitive_features": task}
    qualities = ["accuracy", "balanced_accuracy", "f1", "inverse_log_loss"]
    attackers = [(quality, "exact") for quality in qualities]
    for (quality, attacker), (auditor, rows) in product(
        [*attackers, ("f1", LogisticRegression())],
        ((LeakageAuditor(), labels), (DPAAuditor(), labels), (DPAAuditor("T->A"), turned)),
    ):
        auditor.set_params(quality=quality, attacker=attacker, n_resamples=49, n_draws=2)
        auditor.set_params(random_state=0)
        result = auditor.audit(**rows)
        held, model = result.statistics, result.table["quality_model"].item()
        above = model - held["chance_model"]
        assert 0 < held["above_chance_low"] < above < held["above_chance_high"]
        assert result.low > 0


def test_predictions_of_a_single_class_have_the_quality_of_chance():
    for n_classes, cv in product((2, 3, 4), (5, None)):
        rng = np.random.default_rng(3)
        task, group = rng.integers(n_classes, size=400), rng.integers(2, size=400)
        options = {"equalize": None, "cv": cv, "n_resamples": 19, "random_state": 0}
        result = DPAAuditor(**options).audit(task, np.ones_like(task), sensitive_features=group)
        chance, held = pytest.approx(1 / n_classes, abs=1e-12), result.statistics
        assert result.table["quality_model"].item() == chance
        assert held["chance_data"] == held["chance_model"] == chance
        assert abs(held["above_chance_high"]) < 1e-12  # it was +0.33 of 0.5
    # A class that is never predicted counts among those that can be guessed.
    labels = {"y_true": [0, 1, 2] * 40, "sensitive_features": ["f"] * 60 + ["m"] * 60}
    options = {"equalize": None, "cv": None, "interval": None}
    for predicted, quality in (([0, 1, 0] * 40, 1 / 3), ([0] * 60 + [1] * 60, 2 / 3)):
        table = DPAAuditor(**options).audit(**labels, y_pred=predicted).table
        assert table["quality_model"].item() == pytest.approx(quality, abs=1e-12)


def test_numbers_that_are_all_the_same_are_not_above_chance():
    """Attackers and guesses are right without any error: both qualities are infinite."""
    rng = np.random.default_rng(3)
    group, numbers = rng.integers(2, size=100), rng.normal(size=100)
    auditor = DPAAuditor(quality="inverse_rmse", n_resamples=9, random_state=0)
    result = auditor.audit(numbers, np.ones(100), sensitive_features=group)
    assert "flip_rate" not in result.statistics
    assert result.statistics["chance_model"] == np.inf
    assert result.statistics["above_chance_low"] == result.statistics["above_chance_high"] == 0
    rest = auditor.audit(numbers, numbers + 3 * group, sensitive_features=group).statistics
    assert 0 < rest["above_chance_low"] < rest["above_chance_high"] < np.inf


def test_drawing_from_the_shares_is_the_best_blind_guess_for_f1():
    """By macro F1 the most frequent class is not the best guess: 1/3 against 1/2 for two."""
    options = {"quality": "f1", "attacker": "exact", "cv": None, "interval": None}
    for shares in ([20, 20], [32, 8], [24, 12, 4]):
        task = np.tile(np.repeat(np.arange(len(shares)), shares), 2)
        result = DPAAuditor(**options).audit(task, task, sensitive_features=["f", "m"] * 40)
        assert result.statistics["chance_model"] == pytest.approx(1 / len(shares), abs=1e-12)


def test_attackers_aim_at_the_quality_they_are_judged_by():
    """Balanced COMPAS: "no" is the best bet for both groups, and their shares differ."""
    group = np.repeat([0, 1], 1748)
    labels = {"y_true": np.tile(np.repeat([0, 1], 874), 2), "sensitive_features": group}
    predicted = np.repeat([0, 1, 0, 1], [1145, 603, 948, 800])
    value = dpa_amplification(**labels, y_pred=predicted, cv=None)
    best = (1145 / 2093 + 800 / 1403) / 2
    assert value == pytest.approx((best - 0.5) / (best + 0.5), abs=1e-12)


@pytest.mark.parametrize("kind", [LeakageAuditor, DPAAuditor])
def test_labels_flip_no_more_often_than_pure_noise(kind):
    rng = np.random.default_rng(5)
    group = rng.integers(2, size=500)
    for n_classes, equalize in product((2, 3, 5), ("accuracy", "f1")):
        task = rng.integers(n_classes, size=500)
        auditor = kind(equalize=equalize, interval=None, random_state=0)
        with pytest.warns(UncertaintyWarning, match="worse than random labels"):
            result = auditor.audit(task, (task + 1) % n_classes, sensitive_features=group)
        noise = (n_classes - 1) / n_classes
        assert result.statistics["flip_rate"] == pytest.approx(noise, abs=1e-12)
        assert result.statistics["flip_rate_capped"] is True
        better = np.where(rng.random(500) < 0.9 * noise, rng.integers(n_classes, size=500), task)
        # Warnings are errors: there is none.
        statistics = auditor.audit(task, better, sensitive_features=group).statistics
        assert statistics["flip_rate_capped"] is False
        assert 0 < statistics["flip_rate"] < noise
    # Balanced labels, F1 of 0: labels flipped with rate 1 were as informative as unflipped.
    task, group = np.tile([0, 0, 0, 1], 100), np.repeat([0, 1], 200)
    labels = {"y_true": np.where(group, 1 - task, task), "y_pred": np.zeros(400, int)}
    auditor = kind(equalize="f1", cv=None, interval=None)
    with pytest.warns(UncertaintyWarning, match="worse than random labels") as caught:
        assert auditor.score(**labels, sensitive_features=group) == pytest.approx(0, abs=1e-12)
    assert caught[0].filename == __file__
    # A model that is wrong half of the time is not beyond the cap, whatever rounding does.
    task, wrong = np.array([0, 1, 0, 1, 0, 1] * 20), np.roll(np.repeat([0, 1], 60), 30)
    for equalize, unit in product(("accuracy", "f1"), (1, 1 / 3)):
        rows = {"sensitive_features": ["f", "m", "m"] * 40, "sample_weight": np.full(120, unit)}
        statistics = auditor.set_params(equalize=equalize).audit(task, wrong, **rows).statistics
        assert statistics["flip_rate_capped"] is False
        assert statistics["flip_rate"] == pytest.approx(0.5, abs=1e-6)


def test_one_label_is_equalised_by_accuracy_and_several_by_f1():
    rng = np.random.default_rng(8)
    group = rng.integers(2, size=300)
    for shape, chosen in ((300, "accuracy"), ((300, 1), "accuracy"), ((300, 3), "f1")):
        task = (rng.random(shape) < 0.3).astype(int)
        predicted = np.where(rng.random(shape) < 0.3, 0, task)
        labels = {"y_true": task, "y_pred": predicted, "sensitive_features": group}
        values = {
            equalize: leakage_amplification(**labels, equalize=equalize, random_state=0)
            for equalize in ("auto", "accuracy", "f1")
        }
        assert leakage_amplification(**labels, random_state=0) == values["auto"]
        assert values["auto"] == values[chosen]
        assert values["accuracy"] != values["f1"]


@pytest.mark.parametrize("function", [leakage_amplification, dpa_amplification])
def test_the_positive_class_decides_f1_whatever_it_is_called(function):
    """Rows as in Adult: a rare class, and a model that misses much of it."""
    rng = np.random.default_rng(11)
    sex = rng.choice(["f", "m"], 600)
    rich = rng.random(600) < np.where(sex == "m", 0.35, 0.1)
    predicted = rich & (rng.random(600) < 0.6) | (rng.random(600) < 0.05)
    options = {"equalize": "f1", "attacker": "exact", "cv": None, "sensitive_features": sex}
    found = {"rich": [], "poor": []}
    # What is rich is the last to be sorted, or the first.
    for names in ((">50K", "<=50K"), ("<=50K", ">50K")):
        labels = [np.where(side, *names) for side in (rich, predicted)]
        for positive, name in zip(found, names, strict=True):
            found[positive].append(function(*labels, pos_label=name, **options))
    for values in found.values():
        assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert abs(found["rich"][0] - found["poor"][0]) > 1e-3


def test_the_p_value_of_a_constant_model_of_a_coin_is_one():
    """All redraws are exactly 0, which is on neither side."""
    labels = {"y_true": [0, 1] * 50, "sensitive_features": ["f", "f", "m", "m"] * 25}
    result = DPAAuditor(equalize=None, attacker="exact", random_state=0).audit(
        **labels, y_pred=labels["y_true"]
    )
    assert result.p_value == 1
    assert result.low == result.high == 0


@pytest.mark.slow
def test_resamples_do_not_count_the_cuts_into_folds_again():
    """At random groups the error is the spread of values: one cut a resample made it 1.37 of it."""
    rng, found = np.random.default_rng(3), []
    group, label, predicted = np.indices((2, 2, 2)).reshape(3, -1)
    chance = 0.25 * np.where(label == predicted, 0.95, 0.05)
    for seed in range(250):
        auditor = LeakageAuditor(n_resamples=99, random_state=seed)
        known = {"sensitive_features": group, "sample_weight": rng.multinomial(5_000, chance)}
        result = auditor.audit(label, predicted, **known)
        found.append((result.value, result.statistics["standard_error"]))
    values, errors = np.transpose(found)
    # The last digit of 250 spreads: 1 / sqrt(500) is 0.045.
    assert 0.9 < errors.mean() / values.std(ddof=1) < 1.25


def test_few_changed_rows_differ_by_the_interval_exactly_if_they_do_by_the_test():
    rng, label, group = np.random.default_rng(29), np.tile([0, 1], 40), np.repeat(["f", "m"], 40)
    old = np.where(rng.random(80) < 0.2, 1 - label, label)
    rows = np.flatnonzero((group == "f") & (old == 0))
    for n, auditor in ((7, DPAAuditor), (9, DPAAuditor), (5, LeakageAuditor), (9, LeakageAuditor)):
        models = {"old": old, "new": np.where(np.isin(np.arange(80), rows[:n]), 1, old)}
        result = auditor(random_state=0).compare(label, models, sensitive_features=group)
        row = result.table.iloc[1]
        clear = row["difference_low"] > 0 or row["difference_high"] < 0
        assert (row["p_value"] < 0.05) == clear
