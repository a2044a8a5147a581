"""How many wrong labels, or how wrong a base, a verdict bears, tried with wrong ones."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import skbiasamp
from skbiasamp import DirectionalAuditor


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 3000)
    labels = (rng.random(3000) < 0.3 + 0.2 * (group == 1)).astype(int)
    predicted = np.where(rng.random(3000) < 0.1, group == 1, labels).astype(int)
    return group, labels, predicted


@pytest.mark.parametrize("verdict", ["amplifies", "reduces"])
def test_a_verdict_falls_with_so_many_wrong_labels_and_not_with_fewer(world, verdict):
    group, labels, predicted = world
    if verdict == "reduces":
        labels, predicted = predicted, labels
    auditor = DirectionalAuditor().fit(labels, sensitive_features=group)
    result = auditor.audit(labels, predicted, sensitive_features=group)
    assert result.verdict == verdict
    end = min(result.low, result.high, key=abs)
    for row in result.sensitivity()[1:].itertuples():
        wrong = 0 if row.label == "too rarely" else 1
        of_group = np.flatnonzero((group == row.group) & (labels == wrong))
        audits = []
        for part in (0.8, 1):
            changed = labels.copy()
            changed[of_group[: round(part * row.share * row.n)]] = 1 - wrong
            audits.append(auditor.audit(changed, predicted, sensitive_features=group))
        fewer, enough = audits
        assert fewer.verdict == verdict
        assert enough.verdict == "no clear effect"
        assert enough.value == pytest.approx(result.value - end, abs=0.5 / row.n)


def test_all_rates_may_be_off_by_the_first_share_at_once(world):
    group, labels, predicted = world
    rates = pd.DataFrame({1: [0.3, 0.5, 0.3], "rare": [0.02, 0.01, 0.9]})
    both = np.column_stack([labels, np.random.default_rng(2).random(3000) < 0.01])
    guesses = np.column_stack([predicted, np.random.default_rng(3).random(3000) < 0.25])
    names = pd.DataFrame(both.astype(int), columns=rates.columns)
    shown = pd.DataFrame(guesses.astype(int), columns=rates.columns)
    signs = np.sign(rates - rates.mean())

    def audit(base):
        auditor = DirectionalAuditor(base=base, sign=signs)
        auditor.fit(names, sensitive_features=group)
        return auditor.audit(names, shown, sensitive_features=group)

    result = audit(rates)
    whole, pairs = result.sensitivity().loc[0], result.sensitivity()[1:]
    assert (whole["group"], whole["task"], whole["label"]) == ("(all)", "(all)", "either")
    assert whole["share"] > 0.02  # more than rates of 0.01 and 0.02 can fall
    sides = np.where(pairs["label"] == "too rarely", whole["share"], -whole["share"])
    moves = pairs.assign(moves=sides).pivot(index="group", columns="task", values="moves")
    moves = moves[rates.columns]
    assert audit((rates + 0.95 * moves).clip(0, 1)).verdict == result.verdict == "reduces"
    assert audit((rates + 1.05 * moves).clip(0, 1)).verdict == "no clear effect"


def test_a_base_of_the_training_labels_is_one_of_two_groups(world):
    """Then the overall rate, which other group sizes would weigh otherwise, cancels."""
    group, labels, predicted = world
    two = group < 2
    auditor = DirectionalAuditor(base="train")
    auditor.fit(labels[two], sensitive_features=group[two])
    strong = (labels | (group == 1) & (np.arange(3000) % 3 == 0))[two]
    result = auditor.audit(None, strong, sensitive_features=group[two])
    end = min(result.low, result.high, key=abs)
    shares = result.sensitivity()["share"]
    np.testing.assert_allclose(shares, np.abs(end) * np.array([1, 2, 2]), rtol=1e-12)
    result = auditor.fit(labels, sensitive_features=group)
    with pytest.raises(ValueError, match="base='train' of two groups"):
        auditor.audit(labels, predicted, sensitive_features=group).sensitivity()


@pytest.mark.slow
def test_the_report_says_how_many_labels_may_be_wrong(world):
    group, labels, predicted = world
    how = {"sensitive_features": group, "auditor": DirectionalAuditor()}
    report = skbiasamp.audit(labels, predicted, **how)
    robust, first = report.facts.robust, report["directional A->T"].sensitivity().loc[1]
    assert (robust.wrong, robust.labels) == (round(first["share"] * first["n"]), first["n"])
    # Of 30 tasks no single pair decides: all rates together do.
    draws = np.random.default_rng(0).random((3000, 30))
    both = [(draws < 0.4 + by * (group == 1)[:, None]).astype(int) for by in (0.1, 0.3)]
    report = skbiasamp.audit(*both, **how)
    every, first, *_ = report["directional A->T"].sensitivity()["share"]
    assert (0 < every < 1, np.isnan(first)) == (True, True)
    assert report.facts.robust is skbiasamp.audit(labels, labels, **how).facts.robust is None


@pytest.mark.parametrize("names", [("a", "z"), ("z", "a")])
def test_two_groups_bear_the_same_share_and_the_one_worse_off_is_named(world, names):
    """The first by name was named, in a page about the other one."""
    group, labels, predicted = (part[world[0] < 2] for part in world)
    how = {"sensitive_features": np.array(names)[group], "auditor": DirectionalAuditor()}
    report = skbiasamp.audit(labels, predicted, favourable=1, **how)
    _, first, other = report["directional A->T"].sensitivity().itertuples()
    assert first.share == pytest.approx(other.share, rel=1e-9)
    robust = report.facts.robust
    assert robust.group == report.facts.who.group == names[0]
    assert robust.label == "too often"  # fewer true ones of them would have no gap to widen


def test_labels_are_taken_from_classes_that_have_some():
    """Labels of class 2 matter most for the first group, which has few of them."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.6, 0.3, 0.01, 0.09], [0.4, 0.3, 0.2, 0.1], [0.3, 0.2, 0.2, 0.3]])
    more = (shares + 0.3 * (shares - shares.mean(axis=0))).clip(0)
    group = rng.integers(0, 3, 3000)
    labels, predicted = (
        (rng.random((3000, 1)) > own[group].cumsum(axis=1)).sum(axis=1).clip(max=3)
        for own in (shares, more / more.sum(axis=1, keepdims=True))
    )
    auditor = DirectionalAuditor().fit(labels, sensitive_features=group)
    result = auditor.audit(labels, predicted, sensitive_features=group)
    distance = min(abs(result.low), abs(result.high))
    plain = DirectionalAuditor(interval=None).fit(labels, sensitive_features=group)
    alone = 0  # pairs for which one class has too few rows
    for row in result.sensitivity()[1:].query("label == 'too rarely'").itertuples():
        gains, most = [], []
        for other in {0, 1, 2, 3} - {row.task}:
            rows = np.flatnonzero((group == row.group) & (labels == other))
            moved = labels.copy()
            moved[rows[0]] = row.task
            moved = plain.audit(moved, predicted, sensitive_features=group).value
            gains.append(row.n * (abs(result.value) - abs(moved)))
            most.append(len(rows) / row.n)
        known = {"A_ub": [[-gain for gain in gains]], "b_ub": [-distance]}
        least = linprog(np.ones(3), bounds=[(0, end) for end in most], **known)
        assert row.share == pytest.approx(least.fun if least.success else np.nan, nan_ok=True)
        alone += least.success and least.fun > 1.01 * distance / max(gains)
    assert alone
    assert result.sensitivity()["share"][1:].dropna().is_monotonic_increasing


def test_without_a_clear_effect_there_is_nothing_to_lose(world):
    group, labels, _ = world
    auditor = DirectionalAuditor().fit(labels, sensitive_features=group)
    result = auditor.audit(labels, labels, sensitive_features=group)
    assert result.sensitivity()["share"].isna().all()
