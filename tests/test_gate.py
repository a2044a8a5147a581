"""Gates and limits of reports: passed, failed or inconclusive, in Python as in the command."""

import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scenarios import audit_of

import skbiasamp
from skbiasamp import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import BiasDisparityAuditor, PercentageAuditor

SEX = ["f"] * 400 + ["m"] * 400
HIRED = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
MORE = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
LESS = [1] * 140 + [0] * 260 + [1] * 160 + [0] * 240
REVERSED = [1] * 400 + [0] * 400
NOISY = [1] * 80 + [0] * 20 + [1] * 20 + [0] * 280 + [1] * 180 + [0] * 20 + [1] * 16 + [0] * 184


def report_of(predicted, labels=HIRED, sex=SEX, **options):
    auditors = [DirectionalAuditor()]
    return skbiasamp.audit(labels, predicted, sensitive_features=sex, auditor=auditors, **options)


@pytest.mark.parametrize(
    ("predicted", "limit", "one_sided", "outcome"),
    [
        (MORE, 0.5, False, "passed"),
        (MORE, 0.02, False, "failed"),
        (MORE, 0.11, False, "inconclusive"),
        (LESS, 0.5, False, "passed"),
        (LESS, 0.02, False, "failed"),
        (LESS, 0.02, True, "passed"),
        (LESS, 0.1, False, "inconclusive"),
        (REVERSED, 0.99, False, "failed"),
        (REVERSED, 0.99, True, "failed"),
        (NOISY, 0.005, True, "inconclusive"),
    ],
)
def test_the_whole_interval_decides(predicted, limit, one_sided, outcome):
    report = report_of(predicted)
    gate = report.gate(limit, one_sided=one_sided)
    assert gate.outcome == outcome
    assert bool(gate) == (outcome == "passed")
    (check,) = gate.checks
    result = report["directional A->T"]
    assert (check.value, check.low, check.high) == result.judged
    assert math.isnan(check.rows) == (outcome != "inconclusive")
    if outcome == "inconclusive":  # so many rows that four in five samples of them are decided
        distance = abs((check.value if one_sided else abs(check.value)) - limit)
        least = (check.high - check.low) / 2 * (1 + 0.8416 / 1.96)
        expected = 800 * (least / distance) ** 2 if distance else math.inf
        assert check.rows == pytest.approx(expected, rel=1e-3)


def test_a_limit_and_what_it_checks_are_refused_by_name():
    report = report_of(MORE)
    # The last one is a limit in percent, for changes of rates.
    for limit, said in ((math.nan, "of 0 or mo"), (True, "of 0 or mo"), (2, r"points are 0\.02")):
        for call in (partial(report.gate, limit), partial(report_of, MORE, limit=limit)):
            with pytest.raises((ValueError, TypeError), match=f"limit .*{said}"):
                call()
    assert report.gate(0.99)
    with pytest.raises(TypeError, match="on must be the name of a result; got 5"):
        report.gate(0.02, on=5)


@pytest.mark.parametrize(
    ("predicted", "one_sided", "sentence"),
    [
        (MORE, True, "Failed: the interval of directional A->T lies above 0."),
        (LESS, False, "Failed: {of} lies below 0, which a limit on one side allows."),
        (LESS, True, "Passed: every interval lies below 0."),
        (HIRED, False, "Inconclusive: {of} includes 0 and other values."),
    ],
)
def test_a_limit_of_0_has_no_sign(predicted, one_sided, sentence):
    report = report_of(predicted, limit=0)
    of = "the interval of directional A->T"
    assert report.gate(0, one_sided=one_sided).sentence == sentence.format(of=of)
    assert re.search(r"the limit (in both directions )?is 0 points\.", report.to_markdown())
    assert not re.search(r"[±−]0(?![.\d])", report.verdict + report.to_markdown())


@pytest.mark.parametrize(
    ("one_sided", "sentence"),
    [
        (False, "Failed: the interval of directional A->T lies below −0.02."),
        (True, "Failed: changes of directional A->T lie below −0.02: labels without a direction "
         "have no side that is allowed."),
    ],
)  # fmt: skip
def test_no_side_is_promised_if_the_labels_have_no_direction(one_sided, sentence):
    added = [1] * 100 + [0] * 300 + [1] * 220 + [0] * 180
    report = report_of(added, labels=([1] * 200 + [0] * 200) * 2)
    assert report["directional A->T"].verdict == "adds a difference"
    assert report.gate(0.02, one_sided=one_sided).sentence == sentence


@pytest.mark.parametrize("auditor", [DirectionalAuditor(), MALSAuditor()], ids=str)
def test_a_model_that_turns_labels_around_passes_no_gate(auditor):
    """Labels and their opposite: the middle of both associations is exactly 0."""
    sex = np.repeat(["f", "m"], 100)
    for share in (54, 58, 62, 66, 80):
        labels = np.r_[np.arange(100) < share, np.arange(100) >= share].astype(int)
        report = skbiasamp.audit(labels, 1 - labels, sensitive_features=sex, auditor=[auditor])
        # Few rows of nearly equal labels show neither a direction nor a change.
        outcome = report.gate(0.02).outcome
        assert outcome == "failed" or (outcome == "inconclusive" and share < 66)


@pytest.mark.parametrize("trained", [False, True])
def test_a_group_that_is_too_small_to_compare_with_does_not_pass(trained):
    rng = np.random.default_rng(0)
    sex = np.repeat(["f", "m"], 700)
    skill = rng.normal(size=1400) + (sex == "m") / 2
    hired = (skill + rng.normal(size=1400) > 0.5).astype(int)
    predicted = (sex == "m").astype(int)  # whatever women and men are labelled
    whole = {"y_train": hired, "sensitive_train": sex} if trained else {}
    for n_men in (1, 2, 12, 29):
        rows = slice(0, 700 + n_men)
        report = report_of(predicted[rows], hired[rows], sex[rows], **whole)
        (result,) = report.values()
        assert report.gate(0.02).outcome in ("inconclusive", "not measured", "failed")
        assert result.high > 0.1
        assert result.low <= result.value <= result.high


PAIRS = [DirectionalAuditor, MALSAuditor, MultiAttributeAuditor]
OF_GROUPS = [kind() for kind in (*PAIRS, PercentageAuditor, BiasDisparityAuditor)]
OF_GROUPS += [LeakageAuditor(random_state=0), DPAAuditor(random_state=0)]


@pytest.mark.parametrize("auditor", OF_GROUPS, ids=str)
def test_rows_of_one_group_pass_no_gate(auditor):
    """Such a group has all rows of every task (MALS +.35), and is guessed always (leakage 0)."""
    rng = np.random.default_rng(0)
    sex = np.repeat(["f", "m"], 300)
    hired = (rng.normal(size=600) + (sex == "m") > 0.5).astype(int)
    few = (np.arange(300) < 3).astype(int)  # women, whatever the labels say
    some = np.where(rng.random(300) < 0.1, 1 - hired[:300], hired[:300])
    rows = {"sensitive_features": sex[:300], "y_train": hired, "sensitive_train": sex}
    for predicted in (few, some):
        report = skbiasamp.audit(hired[:300], predicted, auditor=auditor, **rows)
        (result,) = report.values()
        assert result.verdict == "not measured"
        assert np.isnan([result.low, result.high]).all()
        reason = "at least 30 rows" if result.kind.has_attacker else "Only one group has rows"
        assert reason in result.sentence
        assert report.gate(0.5).outcome != "passed"
    comparison = skbiasamp.compare(hired[:300], {"few": few, "some": some}, auditor=auditor, **rows)
    (differences,) = comparison.values()
    assert differences.table[["value", "difference", "difference_low"]].isna().all(axis=None)


def test_a_small_group_counts_beside_two_larger_ones():
    """A third group that gets everything does not vanish below some number of rows."""
    groups = np.repeat(["a", "b", "c"], [500, 500, 20])
    rng = np.random.default_rng(0)
    labels = (rng.random(1020) < np.repeat([0.3, 0.5, 0.4], [500, 500, 20])).astype(int)
    predicted = np.where(groups == "c", 1, labels)
    result = report_of(predicted, labels, groups)["directional A->T"]
    assert result.value > 0.1
    assert result.low <= result.value <= result.high
    # A group that loses everything, and has one row less than are compared.
    groups = np.repeat(["a", "b", "c"], [400, 400, 29])
    labels = np.r_[HIRED, np.arange(29) < 9].astype(int)
    report = report_of(np.where(groups == "c", 0, labels), labels, groups)
    assert report.gate(0.02).outcome == report.gate(0.02, on="worst").outcome == "failed"


def test_a_group_that_falls_further_behind_passes_no_gate_of_pairs():
    report = audit_of({"a": (0.4, 0.3), "b": (0.5, 0.5), "c": (0.5, 0.52)})
    for one_sided in (True, False):
        (check,) = report.gate(0.06, on="worst", one_sided=one_sided).checks
        assert (check.outcome, check.value > 0.06) == ("failed", True)
        assert "(group = a, 1; growth of its gap)" in check.name


def test_numbers_that_are_wrong_pass_no_gate():
    labels, groups = np.tile(["ja", "nein"], 200), np.repeat(["f", "m"], 200)
    english = np.where(labels == "ja", "yes", "no")
    for names, predicted, said in (
        (groups, english, "no audited row has that label"),
        (np.where(groups == "f", "men ", "men"), labels, "differ only in spaces"),
    ):
        report = skbiasamp.audit(labels, predicted, sensitive_features=names, favourable="ja")
        gate = report.gate(0.9)
        assert gate.outcome == "not measured"
        assert said in gate.sentence
        assert "these numbers are wrong" in report.verdict
        assert "Who is worse off? Cannot be said." in str(report)


def test_a_pair_without_rows_passes_no_gate_of_all_pairs():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 2000)
    labels = (rng.random(4000) < np.where(groups == "a", 0.3, 0.6)).astype(int)
    auditor = DirectionalAuditor()
    known = {"sensitive_features": groups, "auditor": auditor, "y_train": labels}
    whole = skbiasamp.audit(labels, labels, sensitive_train=groups, **known)
    assert whole.gate(0.02, on="worst")
    # The training rows have a group that the audited ones lack.
    known["y_train"] = np.r_[labels, np.ones(50, int)]
    groups = np.r_[groups, np.repeat("c", 50)]
    report = skbiasamp.audit(labels, labels, sensitive_train=groups, **known)
    gate = report.gate(0.02, on="worst")
    assert gate.outcome == "not measured"
    assert "worst pair of directional A->T (c, 1): undefined" in repr(gate)
    # The mean leaves the group out, and says so.
    gate = report.gate(0.02)
    assert (gate.outcome, gate.checks[0].missing) == ("inconclusive", ("c",))
    assert "The training labels have the group c, and the audited rows have not" in repr(gate)


@pytest.mark.parametrize("constant", [False, True])
def test_a_value_of_pairs_without_signs_passes_no_gate(constant):
    """It is 0 whatever the model does: here 25 percentage points more for women than for men."""
    sex, balanced = np.repeat(["f", "m"], 16), np.tile(np.repeat([1, 0], 8), 2)
    labels = np.ones(32, int) if constant else balanced
    predicted = np.r_[np.arange(16) < 10, np.arange(16) < 6].astype(int)
    how = {"sensitive_features": sex, "auditor": DirectionalAuditor()}
    if not constant:
        how |= {"y_train": balanced, "sensitive_train": sex}
    report = skbiasamp.audit(labels, predicted, **how)
    assert report["directional A->T"].judged == (0, 0, 0)
    (check,) = report.gate(0.02).checks
    assert check.outcome == "inconclusive"
    assert (abs(check.value), check.high - check.low > 0.3) == (0.125, True)
    comparison = skbiasamp.compare(labels, {"labels": labels, "model": predicted}, **how)
    assert comparison.gate(0.02).outcome == "inconclusive"
    assert report.gate(0.6).outcome == comparison.gate(0.6).outcome == "passed"


def test_an_attack_that_does_not_beat_a_guess_fails_no_gate():
    auditor = LeakageAuditor(n_draws=2, n_resamples=99, random_state=0)
    report = skbiasamp.audit(HIRED, MORE, sensitive_features=SEX, auditor=auditor)
    assert report.gate(0, one_sided=True).outcome == "failed"
    result = report["leakage"]
    guess = replace(result, verdict="", statistics=result.statistics | {"above_chance_low": -0.01})
    report = replace(report, results={"leakage": guess})
    assert report.gate(0, one_sided=True).outcome == "inconclusive"
