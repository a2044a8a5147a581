"""Numeric tasks: prices, scores, waiting times."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import skbiasamp
from skbiasamp import DirectionalAuditor, NumericAuditor
from skbiasamp.metrics import numeric_amplification

N = 600


def world(seed=0, n=N, widen=0.1):
    """Return prices of two groups, what a model predicts, and the groups."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    x = rng.normal(size=n)
    price = np.exp(6 + 0.3 * (sex == "f") + 0.4 * x + 0.2 * rng.normal(size=n))
    predicted = np.exp(6 + (0.3 + widen) * (sex == "f") + 0.4 * x)
    return pd.Series(price, name="price"), predicted, pd.Series(sex, name="sex")


TRAIN, TEST = world(1), world(2)


def fitted(**options):
    price, _, sex = TRAIN
    return NumericAuditor(**options).fit(price, sensitive_features=sex)


def audited(auditor, **options):
    price, predicted, sex = TEST
    return auditor.audit(price, predicted, sensitive_features=sex, **options)


# --------------------------------------------------------------------------- the number


def test_it_is_the_formula_by_hand():
    trained, _, train_sex = (np.asarray(values) for values in TRAIN)
    price, predicted, sex = (np.asarray(values) for values in TEST)
    change = predicted - price
    parts = [
        np.sign(trained[train_sex == a].mean() - trained.mean())
        * (change[sex == a].mean() - change.mean())
        / trained.std()
        for a in "fm"
    ]
    result = audited(fitted())
    assert result.value == pytest.approx(np.mean(parts), rel=1e-12)
    given = {"sensitive_features": sex, "y_train": trained, "sensitive_train": train_sex}
    assert numeric_amplification(price, predicted, **given) == result.value
    np.testing.assert_allclose(result.table["amplification"], parts, rtol=1e-12)
    columns = {
        "base": (price, sex),
        "observed": (predicted, sex),
        "train_mean": (trained, train_sex),
    }
    for name, (values, group) in columns.items():
        means = [values[group == a].mean() for a in "fm"]
        np.testing.assert_allclose(result.table[name], means, rtol=1e-12)
    np.testing.assert_allclose(result.table["sd"], trained.std(), rtol=1e-12)
    # A direction is clear as Welch says.
    coin = np.random.default_rng(0).choice(["f", "m"], N)
    for group, clear in ((train_sex, True), (coin, False)):
        t = stats.ttest_ind(trained[group == "f"], trained[group == "m"], equal_var=False)
        assert (abs(t.statistic) > 2) == clear
        table = audited(NumericAuditor().fit(trained, sensitive_features=group)).table
        assert (table["direction_clear"] == clear).all()


def test_the_change_of_a_rate_integrates_over_all_thresholds_to_that_of_the_mean():
    price, predicted, sex = (np.asarray(values) for values in world(3, n=60))
    result = fitted(interval=None).audit(price, predicted, sensitive_features=sex)
    sign = pd.DataFrame([[1], [-1]], index=["f", "m"], columns=[True])
    thresholds = np.unique(np.concatenate([price, predicted]))
    integral = np.zeros((2, 2))
    for low, high in pairwise(thresholds):
        labels = DirectionalAuditor(interval=None, sign=sign, reference="test").audit(
            price > low, predicted > low, sensitive_features=sex
        )
        integral += labels.table[["delta", "amplification"]].to_numpy().T * (high - low)
    np.testing.assert_allclose(integral[0], result.table["delta"], rtol=1e-10)
    parts = result.table["amplification"] * result.table["sd"]
    np.testing.assert_allclose(integral[1], parts, rtol=1e-10)


def test_several_tasks_are_each_in_their_unit():
    rng = np.random.default_rng(0)
    price, predicted, sex = TEST
    how = {"sensitive_features": sex}
    # One task is so much larger that rounding its numbers is more than the others vary. A task of 0
    # and 1 is the label metric in standard deviations.
    tasks = pd.DataFrame({"price": price * 1e18, "days": rng.integers(0, 90, N) + 5 * (sex == "f")})
    tasks["late"] = (rng.random(N) < 0.3 + 0.2 * (sex == "f")).astype(int)
    late = (rng.random(N) < 0.3 + 0.3 * (sex == "f")).astype(int)
    predictions = pd.DataFrame(
        {"price": predicted * 1e18, "days": tasks["days"] * 1.1, "late": late}
    )
    auditor = NumericAuditor().fit(tasks, **how)
    table = auditor.audit(tasks, predictions, **how).table
    assert auditor.tasks_ == ["price", "days", "late"]
    for task in tasks:
        train = {"y_train": tasks[task], "sensitive_train": sex}
        own = numeric_amplification(tasks[task], predictions[task], **how, **train)
        rows = table[table["task"] == task]
        assert rows["amplification"].mean() == pytest.approx(own, rel=1e-12)
    labels = DirectionalAuditor(interval=None).fit(tasks["late"], **how)
    assert labels.score(tasks["late"], late, **how) == pytest.approx(
        own * tasks["late"].std(ddof=0)
    )


def test_the_unit_of_a_task_does_not_matter():
    expected = audited(fitted())
    for factor, shift in ((1e-30, 0), (1e40, 0), (1, 1e7), (-1, 0)):
        trained, _, train_sex = TRAIN
        price, predicted, sex = TEST
        auditor = NumericAuditor()
        auditor.fit(trained * factor + shift, sensitive_features=train_sex)
        result = auditor.audit(
            price * factor + shift, predicted * factor + shift, sensitive_features=sex
        )
        assert result.value == pytest.approx(expected.value, rel=1e-6)
        assert result.high - result.low == pytest.approx(expected.high - expected.low, rel=1e-6)
        np.testing.assert_allclose(
            result.table["p_value"], expected.table["p_value"], rtol=1e-5, atol=1e-12
        )
        assert (result.verdict, expected.verdict) == ("amplifies", "amplifies")


# --------------------------------------------------------------------------- intervals and tests


def test_of_three_groups_it_is_the_change_of_differences_from_the_mean():
    """By hand. A model that predicts higher prices for everybody amplifies no difference."""
    trained, _, sex = (np.asarray(values) for values in world(1, 900))
    price, predicted, group = (np.asarray(values) for values in world(2, 900))
    rng = np.random.default_rng(3)
    sex, group = (np.where(rng.random(900) < 0.3, "x", values) for values in (sex, group))
    predicted = predicted + 300
    auditor = NumericAuditor().fit(trained, sensitive_features=sex)
    result = auditor.audit(price, predicted, sensitive_features=group)
    change = (predicted - price) / trained.std()
    signs = [np.sign(trained[sex == a].mean() - trained.mean()) for a in "fmx"]
    assert abs(sum(signs)) == 1
    value, influence, half_rows = 0.0, np.zeros(900), 0.0

    def ends(value, influence, half_rows):
        squares = np.r_[influence**2 * 900 / 899, half_rows / 2, half_rows / 2]
        df = squares.sum() ** 2 / (squares**2).sum()
        return stats.t(df, value, np.sqrt(squares.sum())).interval(0.95)

    for (_, row), a, sign in zip(result.table.iterrows(), "fmx", signs, strict=True):
        mine = group == a
        n, mean = mine.sum(), change[mine].mean()
        own = mine * (change - mean) / n / np.sqrt(1 - 1 / n) - (change - change.mean()) / 900
        apart, half_row = mean - change.mean(), 1 / n**2
        np.testing.assert_allclose(row[["low", "high"]].tolist(), ends(apart, own, half_row))
        value += sign * apart / 3
        influence += sign * own / 3
        half_rows = np.append(half_rows, half_row / 9)
    assert result.value == pytest.approx(value, rel=1e-9)
    assert abs(result.statistics["shift"]) == pytest.approx(change.mean() / 3, rel=1e-9)
    expected = ends(value, influence, half_rows)
    np.testing.assert_allclose([result.low, result.high], expected, rtol=1e-8)
    assert abs(result.statistics["shift"]) > 3 * abs(value)


def test_a_perfect_model_has_no_effect_and_no_certainty_beyond_its_rows():
    price, _, sex = TEST
    result = fitted().audit(price, price, sensitive_features=sex)
    assert result.value == 0
    assert result.verdict == "no clear effect"
    assert result.low < 0 < result.high
    # Nor has one that is wrong by as much for everybody.
    assert fitted().score(price, price + 100, sensitive_features=sex) == pytest.approx(0, abs=1e-12)


# --------------------------------------------------------------------------- numbers in


def test_what_is_no_number_is_refused():
    price, predicted, sex = TEST
    missing = "missing or infinite values in 1 row, at position 3"
    for bad, seen in ((np.nan, missing), (1e60, "beyond 1e50 in 1 row, at position 3")):
        for name in ("y_true", "y_pred"):
            given = {"y_true": list(price), "y_pred": list(predicted)}
            given[name][3] = bad
            with pytest.raises(ValueError, match=f"{name} .*{seen}"):
                fitted().audit(**given, sensitive_features=sex)


# --------------------------------------------------------------------------- reports, models


def test_reports_have_the_unit():
    price, predicted, sex = TEST
    train = {"y_train": TRAIN[0], "sensitive_train": TRAIN[2]}
    how = {"sensitive_features": sex, "auditor": NumericAuditor()}
    report = skbiasamp.audit(price, predicted, **how, **train)
    # With two groups, the gap of their means changes by twice the value.
    result = report["numeric"]
    low, high = (2 * end * result.table["sd"].iloc[0] for end in (result.low, result.high))
    assert report.facts.gap.low == pytest.approx(low, rel=1e-6)
    assert report.facts.gap.high == pytest.approx(high, rel=1e-6)
    assert result.sentence.endswith(f"the model adds {low:.4g} to {high:.4g}.")
    assert report["numeric"].unit == "standard deviations"


def test_a_comparison_of_runs_holds_the_means_of_their_predictions():
    rng, group = np.random.default_rng(3), np.repeat(["a", "b"], 60)
    wage = 40_000 + rng.normal(0, 900, 120)
    models = {name: [wage + shift, wage + shift + 10] for name, shift in (("old", 0), ("new", 500))}
    how = {"sensitive_features": group, "auditor": NumericAuditor(reference="test")}
    pairs = skbiasamp.compare(wage, models, **how)["numeric"].pairs.set_index("group")
    for name in "ab":
        mean = wage[group == name].mean()
        assert pairs.loc[name, "reference"] == pytest.approx(mean + 5)
        assert pairs.loc[name, "observed"] == pytest.approx(mean + 505)
