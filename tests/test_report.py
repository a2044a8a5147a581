"""A report says what its numbers say, and keeps it in JSON and Markdown."""

import datetime
import doctest
import html
import json
import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix

import skbiasamp
from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import CooccurrenceAuditor, Pairs
from skbiasamp.render.document import Document, Section, Text
from skbiasamp.render.text import as_text
from skbiasamp.report._groups import audit_columns
from skbiasamp.report.checks import every_check
from skbiasamp.results import AuditReport, AuditResult

FEW_DRAWS = {"n_resamples": 50, "random_state": 0}


def a_result(auditor=None, pairs=(), columns=(), statistics=None, **fields):
    """A result of an auditor with these pairs: (group, task, sign, delta, adjusted p).

    Rates are 0.5 before, and 0.5 + delta after.
    """
    auditor = auditor or DirectionalAuditor(reference="test")
    names = ["group", "task", "sign", "delta", "p_adjusted"]
    table = pd.DataFrame(pairs or [("f", 1, 1, 0.1, 0.01)], columns=names)
    table = table.assign(
        base=0.5, observed=0.5 + table["delta"], amplification=table["sign"] * table["delta"],
        low=np.nan, high=np.nan,
    )  # fmt: skip
    fields = {
        "value": 0.1,
        "low": 0.05,
        "high": 0.15,
        "confidence_level": 0.95,
        "p_value": 0.001,
        "n_samples": 100,
        "params": auditor.get_params(),
        **fields,
    }
    declared = auditor._declaration_for(AuditResult)
    result = AuditResult(table=table, statistics=statistics or {}, **declared | fields)
    return auditor._declared(result, columns)


def attacked(auditor, data, model, **fields):
    table = pd.DataFrame({"quality_data": data, "quality_model": model, "delta": 0.1})
    table = table.assign(group="(all)", task="(all)", amplification=0.1)
    fields = {"value": 0.1, "low": 0.05, "high": 0.15, "statistics": {}, **fields}
    fields = {"confidence_level": 0.95, "n_samples": 100, "p_value": 0.01, **fields}
    fields["params"] = auditor.get_params()
    result = AuditResult(table=table, **auditor._declaration_for(AuditResult) | fields)
    return auditor._declared(result, ())


# --------------------------------------------------------------------------- verdicts

NOTHING = {"value": np.nan, "low": np.nan, "high": np.nan}
AROUND = {"low": -0.05, "high": 0.15, "p_value": 0.3}
BELOW = {"value": -0.1, "low": -0.15, "high": -0.05}
LEAKAGE = LeakageAuditor(quality="accuracy")


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "amplifies"),
        (BELOW, "reduces"),
        (AROUND, "no clear effect"),
        ({"low": 0.0}, "no clear effect"),
        ({"pairs": [("f", 1, 0, 0.1, 0.01), ("m", 1, 0, -0.1, 0.01)]}, "cannot amplify"),
        ({"pairs": [("f", 1, 0, 0.1, 0.01), ("m", 1, 1, 0.1, 0.01)]}, "amplifies"),
        ({"low": np.nan, "high": np.nan}, "not measured"),
        (NOTHING, "not measured"),
        ({"pairs": [("f", 1, 1, np.nan, np.nan)]}, "not measured"),
    ],
)
def test_the_verdict_follows_the_interval(fields, verdict):
    result = a_result(**fields)
    assert result.verdict == verdict
    word = {"amplifies": "The model amplifies", "reduces": "The model reduces"}.get(
        verdict, verdict
    )
    assert result.sentence.lower().startswith(word.lower())


@pytest.mark.parametrize(
    ("fields", "statistics", "verdict"),
    [
        ({}, {}, "reveals more"),
        ({}, {"above_chance_low": 0.01}, "reveals more"),
        ({}, {"above_chance_low": 0.0}, "no clear effect"),
        ({}, {"above_chance_low": np.nan}, "no clear effect"),
        (BELOW, {"above_chance_low": -0.1}, "reveals less"),
        (AROUND, {}, "no clear effect"),
        (NOTHING, {}, "not measured"),
        ({"low": np.nan, "high": np.nan}, {}, "not measured"),
    ],
)
def test_an_attack_reveals_more_only_if_it_beats_a_guess(fields, statistics, verdict):
    result = attacked(LEAKAGE, [0.5], [0.6], statistics=statistics, **fields)
    assert result.verdict == verdict
    assert AuditResult.from_dict(json.loads(result.to_json())).verdict == verdict


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"estimate": 0.02, "low": 0.01, "high": 0.03}, "amplifies"),
        ({"estimate": -0.02, "low": -0.03, "high": -0.01}, "reduces"),
        ({"estimate": 0.02, "low": -0.01, "high": 0.03}, "no clear effect"),
        ({"estimate": 0.02, "low": np.nan, "high": np.nan}, "not measured"),
    ],
)
def test_a_size_is_judged_by_its_estimate_which_has_a_direction(fields, verdict):
    fields |= {"statistics": {"variance": 0.00123}, "value": 0.071}
    result = a_result(MultiAttributeAuditor(reference="test"), **fields)
    assert result.verdict == verdict
    assert f"{fields['estimate']:+.4f}".replace("-", "−") in result.sentence
    assert "mean change" in result.sentence
    assert "The formula of the metric's paper gives +0.0710." in " ".join(repr(result).split())
    change = "change by 7.1 percentage points on average (variance 0.00123); this is a size"
    assert change in result.sentence


# --------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("sign", "delta", "expected"),
    [
        (1, 0.123, "the group f is predicted '1' for 62.3 % of its rows, and 50.0 % are labelled "
         "so; this widens the difference"),
        (-1, 0.123, "62.3 % of its rows, and 50.0 % are labelled so; this narrows the difference"),
        (1, -0.02, "48.0 % of its rows, and 50.0 % are labelled so; this narrows the difference"),
        (-1, -0.01, "49.0 % of its rows, and 50.0 % are labelled so; this widens the difference"),
    ],
)  # fmt: skip
def test_a_sentence_has_the_rates_before_and_after(sign, delta, expected):
    pairs = [(group, 1, 1, 0.0, 0.01) for group in "mx"]
    assert expected in a_result(pairs=[("f", 1, sign, delta, 0.01), *pairs]).sentence


@pytest.mark.parametrize(
    ("f", "m", "expected"),
    [
        # The estimate of 0.1 (0.05 to 0.15) is half of this change; of the others it is not.
        ((0.5, 0.6), (0.4, 0.3), "grows from 10.0 to 30.0 percentage points (95 % interval of "
         "this change: +10.0 to +30.0)."),
        ((0.5, 0.45), (0.4, 0.41), "shrinks from 10.0 to 4.0 percentage points."),
        ((0.5, 0.45), (0.4, 0.35), "stays at 10.0 percentage points."),
        ((0.5, 0.45), (0.4, 0.5), "reverses, from 10.0 percentage points to 5.0 in the other "
         "direction."),
        ((0.5, 0.5), (0.5, 0.49), "grows from 0.0 to 1.0 percentage point."),
        # 23.36 points, but a reader subtracts 30.1 from 53.4.
        ((0.519, 0.53415), (0.389, 0.30055), "grows from 13.0 to 23.3 percentage points."),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("reference", "where"), [("test", "The"), ("train", "In the audited rows, the")]
)
def test_of_two_groups_the_difference_is_said_before_and_after(f, m, expected, reference, where):
    auditor = DirectionalAuditor(reference=reference)
    pairs = [("f", 1, 1, f[1] - f[0], 0.01), ("m", 1, -1, m[1] - m[0], 0.01)]
    result = a_result(auditor, pairs)
    table = result.table.assign(base=[f[0], m[0]], observed=[f[1], m[1]])
    sentence = auditor._declared(replace(result, table=table), ()).sentence
    assert f"+0.1500). {where} difference between the groups {expected}" in sentence
    assert "on average" not in sentence  # half of this change is no second number to explain


def test_the_largest_change_that_is_sure_is_reported():
    pairs = [("a", 1, 1, 0.5, 0.2), ("b", 1, 1, 0.1, 0.01), ("c", 1, 1, -0.2, 0.04)]
    assert "Largest significant change: the group c is" in a_result(pairs=pairs, **AROUND).sentence
    # Of a value above 0, one of the pairs that make it so.
    assert (
        "Largest significant change in this direction: the group b is"
        in a_result(pairs=pairs).sentence
    )
    unsure = [(*pair[:-1], 0.05) for pair in pairs]
    sentence = a_result(pairs=unsure).sentence
    assert sentence.endswith("No single pair changes significantly.")
    untested = [(*pair[:-1], np.nan) for pair in pairs]
    assert "0. Largest change: the group a is" not in a_result(pairs=untested).sentence
    assert "). Largest change: the group a is" in a_result(pairs=untested).sentence


def test_the_pair_that_is_affected_most_is_plain_data():
    pairs = [("a", 1, 1, 0.5, 0.2), ("b", 1, 1, 0.1, 0.01), ("c", 1, -1, 0.0, 0.04)]
    result = a_result(pairs=pairs)
    affected = json.loads(result.to_json())["affected"]
    assert affected == AuditResult.from_json(result.to_json()).to_dict()["affected"]
    assert (affected["group"], affected["task"], affected["significant"]) == ("b", 1, True)
    assert affected["observed"] - affected["base"] == pytest.approx(affected["delta"])
    assert a_result(pairs=pairs[:1]).affected["significant"] is False
    assert a_result(pairs=pairs[2:]).affected is None
    assert attacked(LEAKAGE, [0.5], [0.7]).affected is None


def test_groups_and_tasks_that_are_integers_stay_integers_in_a_sentence():
    result = a_result(pairs=[(3, 1, 1, 0.5, 0.01), (4, 1, 1, 0.1, 0.01), (5, 1, 1, 0.1, 0.01)])
    assert result.table["group"].dtype == result.table["task"].dtype == int
    assert "the group 3 is predicted '1' for" in result.sentence
    assert result.to_dict()["affected"]["group"] == 3


def test_whole_numbers_are_names_without_decimals():
    """The largest change was that of "the group 0.0", predicted '1.0'."""
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, 2, (2, 600))
    predicted = np.where(rng.random(600) < 0.7, y, group)
    report = skbiasamp.audit(y, predicted, sensitive_features=group, random_state=0)
    compared = skbiasamp.compare(
        y, {"old": y, "new": predicted}, sensitive_features=group, random_state=0
    )
    ratios = skbiasamp.metrics.DifferentialFairnessAuditor()
    result = ratios.fit(y, sensitive_features=group).audit(y, predicted, sensitive_features=group)
    sentences = [
        report.verdict,
        compared.results["directional A->T"].sentence("new"),
        *(one.sentence for one in (*report.results.values(), result)),
    ]
    assert "the group 0 is predicted '1' for" in report.verdict
    assert "(0 / 1, '0')" in result.sentence
    assert "the group 0" in sentences[1]
    assert not [one for one in sentences if re.search(r"group [01]\.0|'[01]\.0'", one)]
    stored = json.loads(report.to_json())
    named = [
        dict(zip(stored["rates"]["columns"], row, strict=True)) for row in stored["rates"]["data"]
    ]
    for row in (*named, *stored["results"]["directional A->T"]["table"]):
        assert [type(row[one]) for one in ("group", "task")] == [int] * 2
    assert "labelled “1”, and how often is it predicted so?" in report.to_markdown()


def test_undefined_pairs_are_never_the_largest():
    pairs = [("a", 1, 1, np.nan, np.nan), ("b", 1, 1, 0.1, 0.01)]
    assert "the group b is" in a_result(pairs=pairs).sentence


def test_a_model_that_changes_nothing_is_said_to():
    still = [("a", 1, 1, 0.0, 1.0), ("b", 1, 1, np.nan, np.nan)]
    zero = {"value": 0.0, "low": 0.0, "high": 0.0, "p_value": 1.0}
    assert a_result(pairs=still, **zero).sentence == (
        "No clear effect: the value is exactly 0. No pair of group and task changes."
    )
    assert a_result(pairs=still, **zero | {"low": -0.1, "high": 0.2}).sentence.startswith(
        "No clear effect: 0.0000, on average 0.0 percentage points along the association "
        "(the 95 % confidence interval −0.1000 to +0.2000 includes 0). If there were an effect of "
        "21.4 percentage points, 80 % of audits of this size would find it. No"
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "The model amplifies the association: +0.1000, on average 10.0 percentage points "
         "along the association (95 % confidence interval +0.0500 to +0.1500)."),
        ({**BELOW, "statistics": {"association_labels": 0.1, "association_predictions_high": -0.1}},
         "The model reverses the association: −0.1000, on average 10.0 percentage points"),
        (BELOW, "The model reduces the association: −0.1000, on average 10.0 percentage points "
         "against the association (95 % confidence interval −0.1500 to −0.0500)."),
        (AROUND, "If there were an effect of 14.3 percentage points, 80 % of audits of this size "
         "would find it."),
        ({"low": np.nan, "high": np.nan, "confidence_level": None},
         "Not measured: the value is +0.1000, and no interval was requested."),
        ({"low": np.nan, "high": np.nan},
         "the value is +0.1000, and the data were summed in a way that gives no interval."),
        ({"statistics": {"row_weighted": -0.02}},
         "If every pair counts by its rows, the estimate is −0.0200, outside this interval: pairs "
         "with many rows change otherwise than those with few."),
        ({**AROUND, "statistics": {"row_weighted": 0.3}},
         "If every pair counts by its rows, the estimate is +0.3000, outside this interval"),
    ],
)  # fmt: skip
def test_a_sentence_opens_with_verdict_and_interval(fields, expected):
    assert expected in a_result(**fields).sentence
    if "row_weighted" not in fields.get("statistics", {}):
        assert "counts by its rows" not in a_result(**fields).sentence


def test_balanced_labels_cannot_be_amplified_and_the_sentence_says_what_to_do():
    exact = {"value": 0.0, "low": 0.0, "high": 0.0}
    assert a_result(pairs=[("f", 1, 0, 0.1, 0.01)], **exact).sentence == (
        "Cannot amplify (labels are balanced): no group is associated with a task in the labels, "
        "so there is nothing to amplify. Leakage and DPA also measure balanced labels, and "
        "MatchedPairsAuditor rows that come in matched pairs."
    )


@pytest.mark.parametrize(
    ("auditor", "expected"),
    [
        (MALSAuditor(reference="test"),
         "the group f makes up 60.0 % of the rows predicted 'cook', and 50.0 % of the rows "
         "labelled so; this widens the difference"),
        (MALSAuditor(), "and 50.0 % of the training rows labelled so; this"),
        (DirectionalAuditor("T->A", reference="test"),
         "of the rows labelled 'cook', 60.0 % are predicted to be in the group f, and 50.0 % are "
         "in it; this widens the difference"),
        (DirectionalAuditor(), "this widens the difference"),
        (DirectionalAuditor(base="train"), "and 50.0 % are labelled so in training; this"),
        (DirectionalAuditor("T->A", base="train"), "50.0 % are in it in the training labels; this"),
        (DirectionalAuditor(base=pd.DataFrame()), "and 50.0 % is the given base rate; this"),
    ],
)  # fmt: skip
def test_each_metric_says_what_it_compares(auditor, expected):
    assert expected in a_result(auditor, [("f", "cook", 1, 0.1, 0.01)]).sentence


def test_groups_of_two_columns_are_named_with_them():
    pairs = [(("f", "old"), "cook", 1, 0.1, 0.01)]
    assert "the group sex = f, age = old is predicted" in (
        a_result(pairs=pairs, columns=("sex", "age")).sentence
    )
    assert "the group f, old is predicted" in a_result(pairs=pairs).sentence


@pytest.mark.parametrize(
    ("auditor", "expected"),
    [
        (LEAKAGE,
         "From the predictions, an attacker guesses the group correctly for 75.0 % of rows (all "
         "groups weighted equally), compared with 50.0 % from equally accurate random labels."),
        (LeakageAuditor(quality="accuracy", equalize=None, balanced=False),
         "guesses the group correctly for 75.0 % of rows, compared with 50.0 % from the true "
         "labels."),
        (DPAAuditor("A->T", quality="accuracy"),
         "Knowing it, an attacker guesses the prediction correctly for 75.0 % of rows, "
         "compared with 50.0 % for equally accurate random labels."),
        (DPAAuditor("T->A", quality="accuracy"),
         "Knowing the label, an attacker guesses the predicted group correctly for 75.0 % of rows, "
         "compared with 50.0 % for equally accurate random groups."),
        (DPAAuditor("A->T", quality="balanced_accuracy"),
         "guesses the prediction with a balanced accuracy of 75.0 %, compared with "
         "50.0 % for equally accurate random labels."),
        (DPAAuditor("A->T", quality="f1"),
         "guesses the prediction with a quality (f1) of 0.75, compared with 0.5 for"),
    ],
)  # fmt: skip
def test_an_attack_is_said_with_both_qualities(auditor, expected):
    sentence = attacked(auditor, [0.4, 0.6], [0.7, 0.8]).sentence
    assert sentence.startswith(
        "The model reveals more about the group: +0.1000 (95 % confidence interval +0.0500 to "
        "+0.1500). "
    )
    assert expected in sentence


def test_an_attack_says_what_it_sees_and_why_it_is_not_clear():
    scores = attacked(LEAKAGE, [0.5], [0.7], statistics={"input": "scores"})
    assert "From the scores, an attacker" in scores.sentence
    guess = attacked(LEAKAGE, [0.5], [0.7], statistics={"above_chance_low": -0.01})
    assert guess.sentence.startswith(
        "No clear effect: +0.1000 (95 % confidence interval +0.0500 to +0.1500), but the attacker "
        "on the predictions is not clearly better than a guess that ignores its input."
    )


def test_nothing_measured_says_why():
    nothing = {**NOTHING, "pairs": [("f", 1, 1, np.nan, np.nan)]}
    assert "no pair has both labels and predictions to compare" in a_result(**nothing).sentence
    sets = a_result(MultiAttributeAuditor(min_count=10), **nothing)
    assert "no set of tasks occurs 10 times or more" in sets.sentence


# --------------------------------------------------------------------------- audit()


def counted(rows):
    """Labels, predictions and groups from {(group, label, prediction): how many}."""
    cells, counts = zip(*rows.items(), strict=True)
    group, y, y_pred = (np.repeat(np.array(one), counts) for one in zip(*cells, strict=True))
    return y, y_pred, group


AMPLIFIED = {
    ("f", 1, 1): 290, ("f", 1, 0): 10, ("f", 0, 1): 30, ("f", 0, 0): 70,
    ("m", 1, 1): 70, ("m", 1, 0): 30, ("m", 0, 1): 5, ("m", 0, 0): 295,
}  # fmt: skip
BALANCED = {
    ("f", 1, 1): 100, ("f", 0, 1): 40, ("f", 0, 0): 60,
    ("m", 1, 1): 60, ("m", 1, 0): 40, ("m", 0, 0): 100,
}  # fmt: skip


def report_of(rows, **options):
    y, y_pred, group = counted(rows)
    return skbiasamp.audit(y, y_pred, sensitive_features=group, random_state=0, **options)


@pytest.fixture(scope="module")
def amplified():
    return report_of(AMPLIFIED)


@pytest.fixture(scope="module")
def everything():
    """All that an audit can be given: several tasks and attributes, scores, training labels."""
    rng = np.random.default_rng(0)
    n = 600
    groups = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "old": rng.integers(0, 2, n)})
    lean = 0.2 * (groups["sex"] == "f").to_numpy()
    y = (rng.random((n, 3)) < 0.3 + lean[:, None]).astype(int)
    score = y + rng.normal(size=(n, 3)) / 2 + lean[:, None]
    tasks = ["cook", "wash", "<b>iron|</b>"]
    return skbiasamp.audit(
        pd.DataFrame(y, columns=tasks),
        pd.DataFrame((score > 0.5).astype(int), columns=tasks),
        sensitive_features=groups,
        sensitive_pred=groups.sample(frac=1, random_state=0).set_axis(groups.index),
        y_score=pd.DataFrame(score, columns=tasks),
        y_train=pd.DataFrame(y, columns=tasks),
        sensitive_train=groups,
        random_state=0,
    )


def test_an_audit_runs_what_its_inputs_allow(amplified, everything):
    assert list(amplified) == ["directional A->T", "MALS", "leakage", "DPA A->T"]
    assert list(everything) == [
        "directional A->T", "directional T->A", "MALS", "multi-attribute A->T", "leakage",
        "DPA A->T", "DPA T->A", "leakage of scores",
    ]  # fmt: skip
    y, _, group = counted(AMPLIFIED)
    without = skbiasamp.audit(y, sensitive_features=group, sensitive_pred=group, random_state=0)
    assert list(without) == ["directional T->A", "DPA T->A"]
    assert "accuracy" not in without.groups
    assert "predicted_rate" not in without.rates


def test_results_are_those_of_the_auditors(amplified):
    y, y_pred, group = counted(AMPLIFIED)
    auditor = DirectionalAuditor(reference="test")
    alone = auditor.audit(y, y_pred, sensitive_features=group)
    pd.testing.assert_frame_equal(amplified["directional A->T"].table, alone.table)
    assert amplified["directional A->T"].low == alone.low


def test_auditors_of_ones_own_replace_those_of_the_inputs():
    report = report_of(AMPLIFIED, auditor=[DirectionalAuditor(reference="test", interval=None)] * 2)
    assert list(report) == ["directional A->T", "directional A->T (2)"]
    assert "no interval was requested" in report.sentences["directional A->T"]


def test_what_predictions_do_is_said_with_its_size(amplified):
    low, high = (f"{getattr(amplified['directional A->T'], end):+.4f}" for end in ("low", "high"))
    assert amplified.sentences["directional A->T"] == (
        # 320 of 400 women against 300; the 75 men of 400 against 100 change more.
        f"The model amplifies the association: +0.0563 (95 % confidence interval {low} to {high}). "
        "The difference between the groups grows from 50.0 to 61.2 percentage points (95 % "
        f"interval of this change: {2 * float(low) * 100:+.1f} to {2 * float(high) * 100:+.1f}). "
        "Largest change: the group m is predicted '1' for 18.8 % of its rows, and 25.0 % are "
        "labelled so (620 fewer per 10,000 rows of this group)."
    )
    mirrored = report_of({(g, 1 - y, 1 - p): n for (g, y, p), n in AMPLIFIED.items()})
    expected = "the group m is predicted '1' for 81.2 % of its rows, and 75.0 % are labelled so"
    assert expected in mirrored.sentences["directional A->T"]


def test_rates_are_those_of_scikit_learn(amplified):
    y, y_pred, group = counted(AMPLIFIED)
    for row in amplified.rates.itertuples():
        (tn, fp), (fn, tp) = confusion_matrix(y[group == row.group], y_pred[group == row.group])
        assert row.base_rate == (tp + fn) / 400
        assert row.predicted_rate == (tp + fp) / 400
        assert row.true_positive_rate == tp / (tp + fn)
        assert row.false_positive_rate == fp / (fp + tn)
    assert amplified.groups["accuracy"].tolist() == [0.9, 365 / 400]
    assert amplified.groups["share"].tolist() == [0.5, 0.5]


def test_rates_are_those_of_fairlearn(amplified):
    """Selection rate, accuracy, error rates, and the impact ratio from group_min and group_max."""
    fairness = pytest.importorskip("fairlearn.metrics")
    y, y_pred, group = counted(AMPLIFIED)
    names = ("accuracy", "true_positive_rate", "false_positive_rate")
    metrics = {"predicted_rate": fairness.selection_rate, "accuracy": accuracy_score}
    metrics |= {name: getattr(fairness, name) for name in names[1:]}
    frame = fairness.MetricFrame(metrics=metrics, y_true=y, y_pred=y_pred, sensitive_features=group)
    rates = amplified.rates.set_index("group")
    pd.testing.assert_frame_equal(
        frame.by_group, rates[list(metrics)], check_names=False, check_dtype=False
    )
    assert rates["impact_ratio"].min() == pytest.approx(frame.ratio()["predicted_rate"])


def test_rates_have_wilson_and_score_intervals(amplified):
    rates = amplified.rates.set_index("group")
    wilson = stats.binomtest(75, 400).proportion_ci(method="wilson")
    row = rates.loc["m"]
    assert (row["predicted_rate_low"], row["predicted_rate_high"]) == pytest.approx(tuple(wilson))
    assert row["impact_ratio"] == pytest.approx(75 / 320)
    # statsmodels 0.14: confint_proportions_2indep(75, 400, 320, 400, compare="ratio").
    score = (0.189319429609, 0.287701490077)
    assert row["impact_ratio_high"] == pytest.approx(score[1], abs=1e-9)
    assert row["impact_ratio_low"] == pytest.approx(score[0], abs=1e-3)  # corrected for skewness
    assert rates.loc["f", ["impact_ratio_low", "impact_ratio_high"]].to_list() == [1, 1]
    assert set(rates["impact_ratio_interval"]) == {"simultaneous over 2 groups"}
    # Nobody of the first 0: Wilson's interval is not empty there.
    assert rates.loc["m", "false_positive_rate_high"] > rates.loc["m", "false_positive_rate"]


@pytest.mark.parametrize("n", range(3, 60))
def test_intervals_of_rates_end_at_0_and_1(n):
    report = skbiasamp.audit(
        [1, 0] * n, [1, 0] * n, sensitive_features=(["f", "f", "m", "m"] * n)[: 2 * n],
        auditor=DirectionalAuditor(reference="test", interval=None),
    )  # fmt: skip
    ends = report.rates[["accuracy_high", "true_positive_rate_high", "false_positive_rate_low"]]
    assert ((ends >= 0) & (ends <= 1)).all(axis=None)


def test_weights_of_one_unit_or_another_give_the_same_intervals():
    y, y_pred, group = counted(dict.fromkeys(AMPLIFIED, 1))
    weight = np.array(list(AMPLIFIED.values())) / 7
    ends = [
        skbiasamp.audit(
            y, y_pred, sensitive_features=group, sample_weight=weight * unit,
            auditor=DirectionalAuditor(reference="test", interval=None),
        ).rates[["accuracy_low", "impact_ratio_high"]]
        for unit in (1, 3.3)
    ]  # fmt: skip
    pd.testing.assert_frame_equal(*ends)


def test_a_report_holds_the_call_that_made_it():
    y, y_pred, group = counted(AMPLIFIED)
    report = skbiasamp.audit(
        y.tolist(), y_pred, sensitive_features=pd.Series(group), random_state=0, groups="marginal",
        auditor=[MALSAuditor(reference="test", interval=None)], data_name="march",
    )  # fmt: skip
    assert report.context["call"] == (
        "skbiasamp.audit(y_true, y_pred, sensitive_features=sensitive_features, "
        "auditor=[MALSAuditor(interval=None, reference='test')], groups='marginal', "
        "random_state=0, data_name='march')"
    )
    assert (report.context["model_name"], report.context["data_name"]) == (None, "march")
    assert "Other metrics" in report.context["not_measured"]


def test_what_was_not_measured_is_said(amplified, everything):
    assert set(amplified.context["not_measured"]) == {
        "Task → group (T→A)", "Leakage from scores", "Sets of tasks", "Causes and consequences",
    }  # fmt: skip
    assert set(everything.context["not_measured"]) == {"Causes and consequences"}


def test_one_of_several_classes_is_right_or_not():
    y, y_pred = np.array(list("aabbcc") * 10), np.array(list("abbbcc") * 10)
    report = skbiasamp.audit(
        y, y_pred, sensitive_features=["f", "m", "f", "m", "f", "m"] * 10, random_state=0
    )
    assert report.groups.set_index("group")["accuracy"].to_dict() == pytest.approx(
        {"f": 1.0, "m": 2 / 3}
    )


def test_weights_count_as_rows():
    y, y_pred, group = counted(dict.fromkeys(AMPLIFIED, 1))
    weighted = skbiasamp.audit(
        y,
        y_pred,
        sensitive_features=group,
        sample_weight=list(AMPLIFIED.values()),
        random_state=0,
        auditor=[DirectionalAuditor(reference="test", interval=None)],
    )
    assert weighted["directional A->T"].value == report_of(AMPLIFIED)["directional A->T"].value
    assert weighted.context["rows"] == "800 rows, 2 groups, 1 task"


def test_contingencies_are_audited_as_their_rows(amplified):
    y, y_pred, group = counted(AMPLIFIED)
    cells = Contingency.from_labels(y, y_pred, sensitive_features=group)
    report = skbiasamp.audit(cells, random_state=0)
    assert report.summary.equals(amplified.summary)
    assert report.summary.index.name == "audit"


# --------------------------------------------------------------------------- the verdict


def test_the_verdict_is_that_of_directional_amplification(amplified):
    assert amplified.primary == "directional A->T"
    assert amplified.verdict == amplified.sentences["directional A->T"]
    assert (
        repr(amplified).split("\n\n")[1].startswith("Verdict (directional A->T): amplifies\n  The")
    )
    assert amplified.to_markdown().split("\n\n")[2].startswith("The model amplifies the assoc")
    if find_spec("jinja2"):
        assert amplified.verdict in html.unescape(amplified._repr_html_())


def test_the_verdict_is_that_of_t_to_a_if_only_the_group_is_predicted():
    y, _, group = counted(AMPLIFIED)
    report = skbiasamp.audit(y, sensitive_features=group, sensitive_pred=group, random_state=0)
    assert report.primary == "directional T->A"


def test_a_report_of_anything_has_a_verdict(amplified):
    assert AuditReport({}).primary is None
    assert AuditReport({}).verdict == ""
    report = AuditReport({name: amplified[name] for name in ("MALS", "DPA A->T")})
    assert report.primary == "DPA A->T"
    content = json.loads(amplified.to_json())
    assert (content["primary"], content["verdict"]) == (amplified.primary, amplified.verdict)
    assert content["results"]["leakage"]["verdict"] == "reveals more"


# 900 rows of 1,000 lose 5 points against their sign, 100 lose 15 along theirs.
UNEQUAL = {
    ("big", 1, 1): 495, ("big", 1, 0): 45, ("big", 0, 0): 360,
    ("small", 1, 1): 15, ("small", 1, 0): 15, ("small", 0, 0): 70,
}  # fmt: skip


def test_the_value_weighted_by_rows_stands_beside_it():
    result = report_of(UNEQUAL)["directional A->T"]
    assert result.value == pytest.approx((-0.05 + 0.15) / 2)
    by_rows = result.statistics["row_weighted"]
    # Without what everybody shares: 6 points of 100.
    assert by_rows == pytest.approx((900 * 0.01 + 100 * 0.09) / 1000)
    assert result.low < by_rows < result.high
    assert "counts by its rows" not in result.sentence


@pytest.mark.parametrize("auditor", [MALSAuditor, DirectionalAuditor])
def test_of_groups_of_one_size_the_weighted_value_is_the_value(auditor):
    report = report_of(AMPLIFIED, auditor=[auditor(reference="test", interval=None)])
    (result,) = report.values()
    assert result.statistics["row_weighted"] == pytest.approx(result.value, abs=1e-15)


# Women are predicted 90 % for 60 %, men 65 % for 40 %: more than that of the larger group.
OFTEN = {
    ("f", 1, 1): 2400, ("f", 0, 1): 1200, ("f", 0, 0): 400,
    ("m", 1, 1): 2240, ("m", 0, 1): 1400, ("m", 0, 0): 1960,
}  # fmt: skip


def test_other_metrics_are_lines_with_their_question_and_why_they_may_differ():
    report = report_of(OFTEN)
    assert report["directional A->T"].verdict == "amplifies"
    assert report["MALS"].verdict == "no clear effect"
    printed = " ".join(repr(report).split())
    question = report["MALS"].question
    assert f"MALS {question} It compares the groups' shares of the rows for which" in printed
    assert printed.count(question) == 1
    alike = " ".join(repr(report_of(AMPLIFIED)).split())
    assert f"MALS {question} The model amplifies" in alike  # nothing to explain


def test_verdicts_of_other_metrics_count_their_number(amplified):
    changed = {
        name: replace(one, p_value=p)
        for (name, one), p in zip(amplified.items(), (0.04, 0.03, 0.02, 0.2), strict=True)
    }
    report = AuditReport(changed)
    assert np.isnan(report.p_adjusted["directional A->T"])
    assert list(report.p_adjusted.values())[1:] == [0.06, 0.06, 0.2]  # Holm, of three
    assert report.summary["verdict"].tolist() == ["amplifies", *["no clear effect"] * 3]


def test_lines_of_a_verdict_are_indented():
    report = report_of(OFTEN)
    # Every line of text is indented, also those that a long sentence goes on in.
    verdict = repr(report).partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(verdict) > 3
    assert all(line.startswith("  ") and len(line) <= 96 for line in verdict[1:])


def test_a_model_worse_than_chance_is_said(monkeypatch):
    measure = LeakageAuditor._result

    def capped(self, test):
        result = measure(self, test)
        return replace(result, statistics=result.statistics | {"flip_rate_capped": True})

    monkeypatch.setattr(LeakageAuditor, "_result", capped)
    report = report_of(AMPLIFIED)
    (text,) = (one.text for one in report.findings if one.topic == "worse than chance")
    assert "less accurate than a random guess, so the perturbed labels of leakage were" in text


def test_the_summary_shows_values_first(amplified):
    assert list(amplified.summary) == ["value", "estimate", "low", "high", "p_value", "verdict"]
    assert "..." not in str(amplified.summary)


def test_pairs_that_do_not_count_print_a_dash(amplified):
    mals = amplified["MALS"]
    assert np.isnan(mals.table["p_value"].tolist()[1])  # nothing of it is tested
    printed = repr(mals).splitlines()
    assert printed[3].split()[-4:] == ["-"] * 4
    assert "-" not in printed[2].split()


def test_combined_groups_are_named_with_their_columns(monkeypatch):
    monkeypatch.setattr(Contingency, "group_columns", ("sex", "age"), raising=False)
    y, y_pred, group = counted(AMPLIFIED)
    both = pd.DataFrame({"sex": group, "age": np.where(np.arange(len(y)) % 2, "old", "young")})
    report = skbiasamp.audit(
        y, y_pred, sensitive_features=both, random_state=0,
        auditor=[DirectionalAuditor(reference="test", **FEW_DRAWS)],
    )  # fmt: skip
    assert report.context["group_columns"] == ["sex", "age"]
    text = report.verdict + " ".join(report.warnings)
    assert "the group sex = m, age = " in report.verdict
    assert "the group sex = f, age = " in text
    assert "('" not in text + repr(report["directional A->T"])
    assert "sex = f, age = young" in repr(report["directional A->T"])
    again = AuditReport.from_json(report.to_json())
    assert repr(again) == repr(report)


class OddsAuditor(CooccurrenceAuditor):
    """A metric of one's own: how far predictions move the log odds of a task in each group."""

    metric = "odds"
    question = "Do predictions move the odds?"
    rank = -1
    columns: ClassVar = {"odds_labels": "Odds of labels", "odds_model": "Odds of predictions"}
    percent = False

    def _odds(self, cells, side):
        rate = cells.rate(side, given="group")
        return np.log(rate / (1 - rate))

    def _value(self, test):
        return float((self._odds(test, "task_pred") - self._odds(test, "task")).mean())

    def _measure(self, train, test):
        before, after = self._odds(test, "task"), self._odds(test, "task_pred")
        n = test.count("group")[..., None]
        return Pairs(test.groups, test.tasks, n, before, after, np.ones(before.shape))

    def _result(self, test):
        before, after = self._odds(test, "task"), self._odds(test, "task_pred")
        table = pd.DataFrame({"group": test.groups, "task": test.tasks[0]})
        table = table.assign(
            odds_labels=before[:, 0], odds_model=after[:, 0], amplification=(after - before)[:, 0]
        )
        value = self._value(test)
        return self._made(test, value=value, low=value - 0.01, high=value + 0.01, table=table)


def test_a_metric_of_ones_own_has_all_that_others_have(tmp_path):
    report = report_of(AMPLIFIED, auditor=[OddsAuditor(), MALSAuditor(**FEW_DRAWS)])
    result = report["odds"]
    rates = report.rates
    logit = [np.log(rates[end] / (1 - rates[end])) for end in ("base_rate", "predicted_rate")]
    assert result.value == pytest.approx((logit[1] - logit[0]).mean())
    # The report: its verdict, summary, sentences, text, notebook, Markdown and JSON.
    assert report.primary == "odds"
    assert report.verdict.startswith(f"The model {result.verdict} the association")
    assert report.summary.loc["odds", "value"] == result.value
    assert re.search(r"odds +reduces +-0\.0400 +-0\.0500 to -0\.0300", repr(report))
    assert "odds" in report._repr_html_()
    assert f"| odds | {result.verdict} |" in report.to_markdown()
    again = AuditReport.from_json(report.to_json())
    assert repr(again) == repr(report)
    assert again["odds"].columns == OddsAuditor.columns
    # The page: a section with the columns that the metric declares, as numbers.
    pytest.importorskip("jinja2")
    page = report.to_html()
    assert again.to_html() == page
    section = page.split('<h3 id="audit-1-title">odds</h3>')[1].split("</section>")[0]
    assert "Do predictions move the odds?" in section
    for before in logit[0]:
        text = f"{before:.4g}".replace("-", "−")
        assert f'data-label="Odds of labels" data-value="{before}">{text}<' in section
    assert "Labels<" not in section


def test_a_metric_of_ones_own_can_be_drawn():
    pytest.importorskip("matplotlib.pyplot")
    from skbiasamp.plotting import AmplificationDisplay, AmplificationHeatmapDisplay

    result = report_of(AMPLIFIED, auditor=[OddsAuditor()])["odds"]
    drawn = AmplificationDisplay.from_result(result)
    assert drawn.ax_.get_title().startswith("odds: ")
    assert len(drawn.points_.get_offsets()) == 2
    heat = AmplificationHeatmapDisplay.from_result(result)
    assert heat.values.to_numpy().ravel().tolist() == result.table["amplification"].tolist()


def test_mitigations_are_compared_by_a_metric_of_ones_own():
    from skbiasamp.mitigation import search

    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 600)
    X = pd.DataFrame({"x": rng.normal(0, 1, 600), "sex": (sex == "m").astype(int)})
    y = (X["x"] + X["sex"] + rng.normal(0, 1, 600) > 0.5).astype(int)
    compared = search(
        LogisticRegression(), X, y, sensitive_features=sex, limit=None,
        candidates={"blunt": LogisticRegression(C=0.01)}, auditor=OddsAuditor(), cv=2,
        random_state=0,
    )  # fmt: skip
    assert compared.amplifications == ["odds"]


# --------------------------------------------------------------------------- findings


def topics(report):
    return {finding.topic for finding in report.findings}


def test_findings_of_a_plain_audit(amplified):
    assert topics(amplified) == {
        "error rates", "mitigation", "training labels", "labels as truth",
    }  # fmt: skip
    assert amplified.warnings == [f"{one.text} {one.action}" for one in amplified.findings]


def test_every_finding_says_what_to_do_next(everything):
    for report in (everything, report_of(BALANCED), report_of(OFTEN)):
        assert all(one.text and one.action for one in report.findings)


def test_training_labels_are_asked_for_where_there_are_none():
    y, _, group = counted(AMPLIFIED)
    report = report_of(AMPLIFIED, y_train=y, sensitive_train=group)
    assert "training labels" not in topics(report)
    assert report.context["n_train"] == 800
    assert "In the audited rows, the difference" in report.sentences["directional A->T"]


def test_balanced_labels_are_said_to_blind():
    report = report_of(BALANCED)
    assert report["directional A->T"].value == 0
    (found,) = (str(one) for one in report.findings if one.topic == "balanced data")
    assert "so directional A->T and MALS cannot show amplification" in found
    assert "Use leakage and DPA A->T instead" in found
    assert "nothing to amplify" in report.sentences["directional A->T"]
    assert report.primary == "leakage"
    assert report.verdict == report.sentences["leakage"]
    assert report.verdict.startswith("The model reveals more about the group: +")
    # The first finding says why the verdict is not about directional amplification.
    assert f"{report.verdict} What to do next 1. Balanced data. {found}" in " ".join(
        repr(report).split()
    )
    nearly = report_of({**BALANCED, ("f", 1, 1): 101})
    assert "balanced data" not in topics(nearly)
    assert "uncertain signs" in topics(nearly)


def test_a_report_is_a_mapping(amplified):
    assert dict(amplified) == amplified.results == dict(amplified.items())
    assert amplified.get("none of these") is None
    with pytest.raises(KeyError, match="this report has 'directional A->T', 'MALS'"):
        amplified["none of these"]


def test_labels_that_are_all_the_same_are_not_called_balanced():
    y, _, group = counted(AMPLIFIED)
    report = report_of(AMPLIFIED, y_train=np.zeros_like(y), sensitive_train=group)
    assert report["directional A->T"].value == 0
    assert "constant labels" in topics(report)
    assert not {"balanced data", "uncertain signs"} & topics(report)
    assert "constant labels" not in topics(report_of(BALANCED))


def test_a_model_that_takes_a_label_from_all_is_not_said_to_move_nothing():
    y, _, group = counted(AMPLIFIED)
    report = skbiasamp.audit(y, np.zeros_like(y), sensitive_features=group, random_state=0)
    assert np.isnan(report["MALS"].table["delta"]).all()
    assert report.sentences["MALS"].startswith("Not measured: no pair has both")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (["Female", "Male", "female "], "The groups 'Female' and 'female ' differ only in"),
        (["Female", "Male", "Fem ale"], None),
        ([1, 2, 3], None),
    ],
)
def test_two_spellings_of_a_group_are_found(groups, said):
    """They were two groups, and nothing said so."""
    y = np.tile([0, 1, 1], 60)
    report = skbiasamp.audit(y, 1 - y, sensitive_features=np.repeat(groups, 60), random_state=0)
    found = [one.text for one in report.findings if one.topic == "group spelling"]
    assert len(found) == (said is not None)
    assert all(one.startswith(said) for one in found)


@pytest.mark.parametrize(
    ("groups", "labels", "said"),
    [
        (["f", "m", "NA"], [0, 1, 1], "The names of group 'NA' stand for missing values"),
        (["f", " none", "nan"], [0, 1, 1], "The names of group ' none' and 'nan' stand for"),
        (["f", "m", ""], ["no", "NULL", "yes"], "The names of group '' and class 'NULL' stand"),
        ([("f", "US"), ("f", "n/a")] * 2, [0, 1, 1, 0], "The names of group ('f', 'n/a') stand"),
        (["Nan", "Nana"], ["no", "yes"], "The names of group 'Nan' stand for missing values in"),
        (["f", "(missing)"], ["unknown", "0"], None),
        ([1, 2, 3], [0, 1, 1], None),
    ],
)
def test_names_that_stand_for_missing_values_are_found(groups, labels, said):
    """They were groups and classes as any others, and nothing said so."""
    y = np.tile(labels, 60)
    sensitive = pd.DataFrame([one for one in groups for _ in range(len(y) // len(groups))])
    report = skbiasamp.audit(y, y[::-1], sensitive_features=sensitive, random_state=0)
    found = [one.text for one in report.findings if one.topic == "missing names"]
    assert len(found) == (said is not None)
    assert all(one.startswith(said) for one in found)


def test_missing_values_in_a_file_that_are_text_are_found(tmp_path):
    rows = "\n".join(["sex,hired,predicted", *["f,1,1", "m,0,0", "NA,1,0", "m,1,1", "f,0,1"] * 20])
    (tmp_path / "rows.csv").write_text(rows)
    named = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
    report = skbiasamp.audit(tmp_path / "rows.csv", **named, random_state=0)
    assert "missing names" in topics(report)


def test_labels_in_another_spelling_are_an_error_and_strange_ones_are_said():
    y, predicted, group = counted(AMPLIFIED)
    names = np.array(["no", "yes"])
    for other, seen in (
        (["no", "Yes"], "'Yes' where y_true holds 'yes'"),
        (["no ", "yes"], "'no '"),
    ):
        with pytest.raises(ValueError, match=f"y_pred holds {seen}"):
            skbiasamp.audit(names[y], np.array(other)[predicted], sensitive_features=group)
    strange = names[predicted].astype(object)
    strange[:3] = "perhaps"
    report = skbiasamp.audit(names[y], strange, sensitive_features=group, random_state=0)
    (found,) = (one.text for one in report.findings if one.topic == "never labelled")
    assert found.startswith("The model predicts 'perhaps' for 3 rows, and no audited row")


@pytest.mark.parametrize(("scale", "said"), [(1, False), (1.5, False), (2, True), (1000, True)])
def test_weights_that_count_as_many_more_rows_are_said(scale, said):
    y, predicted, group = counted(AMPLIFIED)
    report = skbiasamp.audit(
        y,
        predicted,
        sensitive_features=group,
        sample_weight=np.full(len(y), scale),
        auditor=DirectionalAuditor(interval=None),
    )
    assert ("weights" in topics(report)) is said


def test_groups_that_are_always_wrong_have_accuracy_0():
    y = np.tile(["a", "b", "c"], 20)
    predicted = np.append(y[:30], np.tile(["b", "c", "a"], 10))
    report = skbiasamp.audit(
        y, predicted, sensitive_features=np.repeat(["f", "m"], 30), random_state=0
    )
    assert report.groups["accuracy"].tolist() == [1, 0]


def test_labels_that_are_text_in_a_list_are_no_files(amplified):
    y, y_pred, group = (list(map(str, one)) for one in counted(AMPLIFIED))
    report = skbiasamp.audit(
        y, y_pred, sensitive_features=group, auditor=DirectionalAuditor(**FEW_DRAWS)
    )
    assert report["directional A->T"].value == amplified["directional A->T"].value


def test_random_numbers_of_the_report_reach_auditors_that_have_none():
    own = [MALSAuditor(), DirectionalAuditor(**FEW_DRAWS)]
    report = report_of(AMPLIFIED, auditor=own)
    assert [one.params["random_state"] for one in report.values()] == [0, 0]
    assert own[0].random_state is None


def test_there_must_be_something_to_audit():
    y, predicted, group = counted(AMPLIFIED)
    with pytest.raises(ValueError, match="nothing to audit: pass predictions as y_pred"):
        skbiasamp.audit(y, sensitive_features=group)
    with pytest.raises(ValueError, match=r"^y_score has 799 rows but y_true has 800"):
        skbiasamp.audit(y, predicted, sensitive_features=group, y_score=predicted[1:], auditor=None)


def test_a_fitted_auditor_keeps_the_training_labels_it_has_seen():
    y, predicted, group = counted(AMPLIFIED)
    fitted = DirectionalAuditor(interval=None).fit(1 - y, sensitive_features=group)
    report = skbiasamp.audit(y, predicted, sensitive_features=group, auditor=fitted)
    expected = fitted.score(y, predicted, sensitive_features=group)
    assert report["directional A->T"].value == expected < 0
    fresh = skbiasamp.audit(
        y, predicted, sensitive_features=group, auditor=[DirectionalAuditor(interval=None)]
    )
    assert fresh["directional A->T"].value == -expected


def test_a_threshold_of_three_classes_is_named_without_advice_that_has_two():
    y = np.tile(["a", "b", "c"], 100)
    report = skbiasamp.audit(
        y,
        np.where(np.arange(300) < 60, "a", y),
        sensitive_features=np.tile(["f", "m"], 150),
        random_state=0,
    )
    (found,) = (one.text for one in report.findings if one.topic == "threshold")
    assert "BaseRateThresholdClassifier" not in found


def test_a_perfect_model_is_not_called_balanced():
    report = report_of({("f", 1, 1): 30, ("f", 0, 0): 10, ("m", 1, 1): 10, ("m", 0, 0): 30})
    assert report["directional A->T"].verdict == "no clear effect"
    assert report.verdict.endswith("No pair of group and task changes.")
    assert topics(report) == {
        "identical predictions", "precision", "training labels", "labels as truth",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dropped", "said"), [(0, False), (7, False), (8, True), (200, True)]
)  # of 800 rows, 1 point is 8
def test_a_threshold_off_the_base_rate_is_said(dropped, said):
    rows = {("f", 1, 1): 400 - dropped, ("f", 1, 0): dropped, ("m", 0, 0): 400}
    report = report_of(rows, auditor=[DirectionalAuditor(reference="test", interval=None)])
    assert ("threshold" in topics(report)) is said
    if said:
        text = next(one.text for one in report.findings if one.topic == "threshold")
        assert (
            f"'1' for {(400 - dropped) / 8:.1f} % of the rows, and 50.0 % are labelled so." in text
        )


def test_weights_in_a_column_are_a_finding_too():
    """Of a frame it was not known how many rows came with weights."""
    y, y_pred, group = counted(AMPLIFIED)
    frame = pd.DataFrame({"y": y, "p": y_pred, "sex": group, "w": 3})
    columns = {"target": "y", "prediction": "p", "sensitive": "sex", "weight": "w"}
    report = skbiasamp.audit(frame, **columns, auditor=DirectionalAuditor(interval=None))
    assert "weights" in topics(report)


def test_a_group_without_audited_rows_does_not_spoil_the_findings():
    y, y_pred, group = counted(AMPLIFIED)
    none = ["none"] * 20
    report = skbiasamp.audit(
        y,
        y_pred,
        sensitive_features=group,
        y_train=np.r_[y, [0, 1] * 10],
        sensitive_train=np.r_[group, none],
        random_state=0,
        auditor=[DirectionalAuditor(interval=None)],
    )
    found = {one.topic: one.text for one in report.findings}
    assert "1 of 3 in directional A->T" in found["undefined pairs"]
    assert "nan" not in " ".join(found.values())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # 10 against 4 %, certain and not; and 10 against 6 %.
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 40, ("m", 0, 0): 960},
         "Among rows not labelled '1', the model wrongly predicts it for 10.0 % of the group f and "
         "4.0 % of the group m (false positive rate; difference 6.0 percentage points, 95 % "
         "interval 3.8 to 8.3). Amplification"),
        ({("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 4, ("m", 0, 0): 96}, None),
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 60, ("m", 0, 0): 940}, None),
        ({("f", 1, 1): 50, ("f", 1, 0): 50, ("m", 1, 1): 70, ("m", 1, 0): 30},
         "Among rows labelled '1', the model misses it for 30.0 % of the group m and 50.0 % of "
         "the group f (false negative rate; difference 20.0 percentage points, 95 % interval 6.4 "
         "to 32.6). Amplification"),
        ({("f", 1, 1): 50, ("f", 1, 0): 50, ("m", 1, 1): 70, ("m", 1, 0): 30,
          ("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 15, ("m", 0, 0): 85},
         "wrongly predicts it for 15.0 % of the group m and 10.0 % of the group f (false positive "
         "rate; difference 5.0 percentage points, 95 % interval −4.4 to 14.4). Among rows labelled "
         "so, it misses it for 30.0 % and 50.0 % (false negative rate; difference 20.0 "
         "percentage points, 95 % interval 6.4 to 32.6). Amplification"),
        # As in the estimate, 29 rows are too few to speak of, 30 are not.
        ({("f", 0, 0): 100, ("m", 0, 1): 29}, None),
        ({("f", 0, 0): 100, ("m", 0, 1): 30},
         "Among rows not labelled '1', the model wrongly predicts it for 100.0 % of the group m "
         "and 0.0 % of the group f (false positive rate; difference 100.0 percentage points"),
    ],
)  # fmt: skip
def test_a_gap_of_error_rates_is_said(rows, expected):
    # Rows that are right keep both labels in the data.
    right = {("f", 1, 1): 5, ("m", 1, 1): 5} if ("f", 0, 0) in rows else {("f", 0, 0): 5}
    report = report_of(right | rows, auditor=[DirectionalAuditor(reference="test", interval=None)])
    text = " ".join(one.text for one in report.findings if one.topic == "error rates")
    assert expected in text if expected else text == ""


@pytest.mark.parametrize(("n", "said"), [(9, True), (10, False)])
def test_small_cells_are_said(n, said):
    rows = {("f", 1, 1): 100, ("f", 0, 0): 100, ("m", 1, 0): n - 2, ("m", 0, 0): 2}
    report = report_of(rows, auditor=[DirectionalAuditor(reference="test", **FEW_DRAWS)])
    assert ("small cells" in topics(report)) is said
    if said:
        text = next(one.text for one in report.findings if one.topic == "small cells")
        assert text == "1 of 2 pairs of directional A->T has fewer than 10 rows: (m; 1)."


def test_attributes_left_out_are_counted():
    y, y_pred, group = counted(AMPLIFIED)
    group = group.astype(object)
    group[:3] = None
    report = skbiasamp.audit(
        y,
        y_pred,
        sensitive_features=group,
        missing="drop",
        auditor=[DirectionalAuditor(reference="test", interval=None)],
    )
    text = next(one.text for one in report.findings if one.topic == "missing values")
    assert text == "3 rows without a sensitive feature were left out."
    assert report.context["n_dropped"] == 3


def test_what_the_papers_advise_against_is_said(amplified, everything):
    topics_of_all = topics(everything)
    for topic in ("predicted attribute", "directions", "risk prediction"):
        assert topic in topics_of_all
        assert topic not in topics(amplified)


def test_probabilities_are_said_to_be_means():
    y, y_pred, group = counted(AMPLIFIED)
    soft = report_of(AMPLIFIED)
    assert "probabilities" not in topics(soft)
    report = skbiasamp.audit(
        y,
        0.25 + y_pred / 2,
        sensitive_features=group,
        auditor=[DirectionalAuditor(reference="test", interval=None)],
    )
    assert "probabilities" in topics(report)
    assert "training labels" in topics(report)
    assert report["directional A->T"].table["observed"].tolist() == pytest.approx(
        [0.25 + 320 / 800, 0.25 + 75 / 800]
    )
    # Error rates are those at 0.5.
    assert report.rates["predicted_rate"].tolist() == [0.8, 0.1875]
    # Attackers compare no means, and need no signs.
    attacker = LeakageAuditor(interval=None, random_state=0)
    attacked = skbiasamp.audit(y, 0.25 + y_pred / 2, sensitive_features=group, auditor=attacker)
    assert not {"probabilities", "training labels"} & {*topics(attacked)}


def test_many_pairs_are_adjusted_so_that_permutations_suffice():
    rng = np.random.default_rng(0)
    y = (rng.random((300, 30)) < 0.3).astype(int)
    group = rng.choice(["f", "m"], 300)
    few, many = (
        skbiasamp.audit(y[:, :k], y[:, :k], sensitive_features=group, random_state=0)["MALS"]
        for k in (25, 26)
    )
    assert few.params["adjust"] == "holm"
    assert many.params["adjust"] == "fdr"


# --------------------------------------------------------------------------- keeping it


def test_json_gives_the_report_back(everything):
    text = everything.to_json()
    again = AuditReport.from_json(text)
    assert again.to_json() == text
    assert "NaN" not in text
    pd.testing.assert_frame_equal(again.summary, everything.summary)
    pd.testing.assert_frame_equal(again.rates, everything.rates)
    pd.testing.assert_frame_equal(again.groups, everything.groups)
    for name in everything:
        pd.testing.assert_frame_equal(again[name].table, everything[name].table)
    assert again.sentences == everything.sentences
    assert again.findings == everything.findings
    # Names that are tuples stay tuples, flags stay flags.
    assert ("f", 0) in again.context["groups"]
    assert again.context == everything.context
    assert again["multi-attribute A->T"].table["task"].map(type).eq(tuple).all()
    assert again["directional A->T"].table["sign_certain"].dtype == bool
    assert repr(again) == repr(everything)


def test_json_names_dates_as_pages_do():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 40
    report = skbiasamp.audit(
        [0, 1, 1, 0] * 20, [0, 1, 1, 1] * 20, sensitive_features=days, auditor=DirectionalAuditor()
    )
    again = AuditReport.from_json(report.to_json())
    assert again["directional A->T"].table["group"].tolist() == ["2020-01-01", "2020-01-02"]
    assert repr(again) == repr(report)
    assert again.to_markdown() == report.to_markdown()


def test_a_report_of_another_schema_is_refused(amplified):
    content = amplified.to_dict() | {"schema": "skbiasamp.AuditReport/99"}
    with pytest.raises(
        ValueError, match=r"AuditReport/2: field 'schema' holds 'skbiasamp.AuditReport/99'"
    ):
        AuditReport.from_dict(content)
    with pytest.raises(ValueError, match=r"field 'schema' holds nothing"):
        AuditReport.from_json("{}")


def test_files_hold_what_is_returned(amplified, tmp_path):
    pytest.importorskip("jinja2")
    for write, name in (
        (amplified.to_json, "report.json"),
        (amplified.to_markdown, "report.md"),
        (amplified.to_html, "report.html"),
    ):
        text = write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text == write()
    assert json.loads((tmp_path / "report.json").read_text())["schema"] == "skbiasamp.AuditReport/2"


def test_an_unknown_name_lists_those_there_are(amplified):
    with pytest.raises(KeyError, match="this report has 'directional A->T', 'MALS'"):
        amplified["nothing"]


def test_markdown_is_one_table_whatever_labels_hold():
    y, y_pred, group = counted(AMPLIFIED)
    names = {"f": "<script>alert(1)</script>", "m": "a|b\n| c | d\\ *e* [f](javascript:g)"}
    text = skbiasamp.audit(
        y, y_pred, sensitive_features=[names[one] for one in group], random_state=0
    ).to_markdown()
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    # Rates of the picture, how metrics were measured, results, and rates by group.
    columns = [len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows]
    assert columns == [5] * (2 + 2) + [5] * (2 + 4) + [6] * (2 + 4) + [9] * (2 + 2)
    assert "<script" not in text
    assert r"a\|b \| c \| d\\ \*e\* \[f\](javascript:g)" in text
    assert "- Training labels. No training labels were given" in text
    assert f"skbiasamp {skbiasamp.__version__}" in lines[-1]


def test_markdown_has_the_sections_and_results_of_a_model_card(amplified):
    yaml = pytest.importorskip("yaml")
    text = amplified.to_markdown()
    block, rest = text.removeprefix("---\n").split("---\n", 1)
    ((model),) = yaml.safe_load(block)["model-index"]
    assert model["name"] == "not named"
    (found,) = model["results"]
    assert set(found) == {"task", "dataset", "metrics"}
    assert {one["type"]: one["value"] for one in found["metrics"]} == {
        name: result.value for name, result in amplified.items()
    }
    assert re.findall("^#+ .*", rest, re.MULTILINE) == [
        "## Bias, Risks, and Limitations", "### Recommendations", "### Not measured",
        "## Evaluation", "### Testing Data, Factors & Metrics", "#### Testing Data",
        "#### Factors", "#### Metrics", "### Results",
    ]  # fmt: skip
    assert "| f | 400 | 75.0 % | 80.0 % (75.8 to 83.6) | +5.0 | 1.00 (1.00 to 1.00) |" in rest


def test_a_model_card_has_runs_attacker_and_base_and_what_was_left_out():
    sex = np.array(["f"] * 100 + ["m"] * 100 + [None] * 7, object)
    y = np.tile([0, 1, 1], 69)
    auditors = [
        DirectionalAuditor(reference="test"), DirectionalAuditor(base="train"),
        DirectionalAuditor(base=pd.DataFrame([[0.5], [0.4]], ["f", "m"], [1])),
        LeakageAuditor(attacker=LogisticRegression(), n_draws=1),
        LeakageAuditor(equalize=None),
    ]  # fmt: skip
    train = {"y_train": y[:200], "sensitive_train": sex[:200]}
    for name, auditor in zip("abcde", auditors, strict=True):
        auditor.metric = name
    report = skbiasamp.audit(
        y, y, sensitive_features=sex, missing="drop", auditor=auditors, **train
    )
    text = report.to_markdown()
    assert "- Left out: 7 rows without a sensitive feature" in text
    rows = [line for line in text.splitlines() if re.match(r"\| [a-e]( A→T)? \| 1 \|", line)]
    cells = [[cell.strip() for cell in line.split("|")[3:6]] for line in rows]
    assert cells == [
        ["–", "labels", "none"], ["–", "training labels", "none"],
        ["–", "rates of the user's own", "none"],
        ["LogisticRegression", "equally accurate random labels", "none"],
        ["exact", "labels", "none"],
    ]  # fmt: skip


def test_a_line_does_not_begin_with_a_percent_sign():
    for n in range(1, 90):  # wherever the line ends
        lines = as_text(Document("", [Section("Rates", [Text("x" * n + " of 95 % of rows")])]))
        assert "95 %" in lines


def test_text_and_notebook_say_the_same(amplified):
    text = " ".join(repr(amplified).split())
    for sentence in amplified.sentences.values():
        assert sentence in text
    for warning in amplified.warnings:
        assert warning in text
    pytest.importorskip("jinja2")
    shown = amplified._repr_html_()
    assert shown.count("<tr") == 1 + 4
    assert "&lt;" not in shown


def test_a_notebook_without_jinja2_shows_the_text(amplified, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert html.unescape(amplified._repr_html_()) == f"<pre>{amplified!r}</pre>"


@pytest.mark.parametrize(
    "auditor",
    [
        MALSAuditor(reference="test", **FEW_DRAWS),
        MultiAttributeAuditor(reference="test", **FEW_DRAWS),
        LeakageAuditor(n_draws=2, equalize=None, **FEW_DRAWS),
        DPAAuditor("A->T", n_draws=2, quality="f1", **FEW_DRAWS),
        DPAAuditor("T->A", n_draws=2, interval=None, random_state=0),
    ],
    ids=lambda auditor: type(auditor).__name__,
)
def test_every_auditor_is_put_into_words(auditor, tmp_path):
    y, y_pred, group = counted(AMPLIFIED)
    report = skbiasamp.audit(
        y, y_pred, sensitive_features=group, sensitive_pred=group[::-1], auditor=[auditor]
    )
    (sentence,) = report.sentences.values()
    assert sentence.endswith(".")
    assert "nan" not in sentence
    assert AuditReport.from_json(report.to_json()).to_json() == report.to_json()
    for path in (tmp_path / "report.json", str(tmp_path / "report.json")):
        report.to_json(path)
        assert AuditReport.from_json(path).to_json() == report.to_json()


# --------------------------------------------------------------------------- its schema


SCHEMA_PAGE = Path(__file__).parents[1] / "docs" / "files" / "report-schema.md"


def documented(heading):
    """The names in the first column of a section's tables."""
    section = re.split(r"^#+ ", SCHEMA_PAGE.read_text(), flags=re.MULTILINE)
    (section,) = (one for one in section if one.startswith(heading))
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(.+?)`", cell)}


def test_the_schema_page_lists_every_field_and_no_other(everything):
    content = everything.to_dict()
    assert documented("The report") == set(content)
    assert documented("`context`") == set(content["context"])
    assert documented("Columns of `groups`") == set(content["groups"]["columns"])
    assert documented("Columns of `rates`") == set(content["rates"]["columns"])
    results = content["results"].values()
    assert documented("A result") == {field for result in results for field in result}
    rows = [row for result in results for row in result["table"]]
    assert documented("Each row of `table`") == {field for row in rows for field in row}
    assert f"`{content['schema']}`" in SCHEMA_PAGE.read_text()
    assert {f"`{result['schema']}`" for result in results} == {"`skbiasamp.AuditResult/3`"}


def test_the_schema_page_lists_every_topic():
    topics = [check.topic for check in every_check()]
    assert len(set(topics)) == len(topics) > 20
    assert documented("Each of `findings`") == {"topic", "text", "action", "place", *topics}
    places = [check.place for check in every_check()]
    assert sorted(places, key=["verdict", "next", "note"].index) == places


def test_the_examples_of_the_schema_page_run():
    failed, tried = doctest.testfile(str(SCHEMA_PAGE), module_relative=False)
    assert failed == 0
    assert tried == 6


def test_scores_that_are_whole_numbers_are_no_classes_of_the_training_labels():
    rng = np.random.default_rng(0)
    sex, hired, score = (
        rng.integers(2, size=400),
        rng.integers(2, size=400),
        rng.integers(1, 11, 400),
    )
    labels = {"sensitive_features": sex, "y_score": score, "random_state": 0}
    training = {"y_train": hired, "sensitive_train": sex}
    report = skbiasamp.audit(hired, (score > 5).astype(int), **labels, **training)
    without = skbiasamp.audit(hired, (score > 5).astype(int), **labels)
    assert report["leakage of scores"].value == without["leakage of scores"].value


def test_identical_labels_and_predictions_are_a_finding():
    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 200), rng.choice(["no", "yes"], 200)
    guessed = np.where(rng.random(200) < 0.1, "f", sex)
    other = np.where(np.arange(200) == 7, np.where(hired == "no", "yes", "no"), hired)
    both = {"sensitive_features": sex, "random_state": 0}
    for predicted, sex_pred, said in (
        (hired, guessed, "In every row labels and predictions are identical"),
        (other, sex, "In every row the sensitive feature and its predictions are identical"),
        (hired, sex, "In every row labels and predictions and the sensitive feature and its"),
        (other, guessed, None),
    ):
        found = skbiasamp.audit(hired, predicted, sensitive_pred=sex_pred, **both).findings
        texts = [one.text for one in found if one.topic == "identical predictions"]
        assert len(texts) == (said is not None)
        assert all(text.startswith(said) for text in texts)


def test_few_rows_are_said_of_the_metric_with_most_such_pairs():
    """Six men, in three tasks; and one task that is predicted for five women."""
    sex, hired = ["f"] * 200 + ["m"] * 6, np.zeros((206, 3), dtype=int)
    for task, rows in enumerate([[(0, 100), (200, 203)], [(50, 150), (201, 204)], [(0, 40)]]):
        for first, last in rows:
            hired[first:last, task] = 1
    predicted = hired.copy()
    predicted[5:, 2] = 0
    auditors = [MALSAuditor(), DirectionalAuditor()]
    for order in (auditors, auditors[::-1]):
        found = skbiasamp.audit(
            hired, predicted, sensitive_features=sex, auditor=order, random_state=0
        )
        (text,) = (one.text for one in found.findings if one.topic == "small cells")
        assert text.startswith("3 of 6 pairs of directional A->T have fewer than 10 rows: (m; 0)")


# --------------------------------------------------------------------------- next steps


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 3000)
    inclination = rng.normal(size=3000) + 0.6 * (sex == "m")
    paid = (rng.random(3000) < 1 / (1 + np.exp(1 - inclination))).astype(int)
    score = 1 / (1 + np.exp(1 - 1.5 * inclination - 0.3 * (sex == "m")))
    return {"sex": sex, "paid": paid, "score": score.round(3)}


def audit_at(rows, threshold, **more):
    return skbiasamp.audit(
        rows["paid"],
        (rows["score"] > threshold).astype(int),
        sensitive_features=rows["sex"],
        y_train=rows["paid"],
        sensitive_train=rows["sex"],
        random_state=0,
        **more,
    )


def test_the_curve_of_a_report_is_the_audit_at_each_threshold(scored):
    report = audit_at(scored, 0.6, y_score=scored["score"])
    curve = report.curve
    for i in (10, 50, len(curve) - 5):
        row = curve.iloc[i]
        assert row["predicted_rate"] == pytest.approx((scored["score"] > row["threshold"]).mean())
        again = audit_at(scored, row["threshold"])["directional A->T"]
        assert row["estimate"] == pytest.approx(again.estimate)
        assert row["low"] == pytest.approx(again.low, abs=0.005)
    assert curve["base_rate"].tolist() == [scored["paid"].mean()] * len(curve)
    assert AuditReport.from_json(report.to_json()).curve.equals(curve)
    assert audit_at(scored, 0.6).curve.empty


def test_the_threshold_finding_says_what_predicting_as_often_as_labelled_changes(scored):
    report = audit_at(scored, 0.8, y_score=scored["score"])
    (finding,) = (one for one in report.findings if one.topic == "threshold")
    at = np.quantile(scored["score"], 1 - scored["paid"].mean(), method="inverted_cdf")
    value = audit_at(scored, at)["directional A->T"].estimate
    assert f"If scores above {at:.4g} count, the model predicts it for" in finding.action
    assert f"directional A->T is {value:+.4f}" in finding.action
    assert "can worsen them" in finding.action
    (without,) = (one for one in audit_at(scored, 0.8).findings if one.topic == "threshold")
    assert "with the scores of the predicted labels as y_score" in without.action


def test_small_groups_are_named_with_their_rows():
    more = {("x", 1, 1): 6, ("x", 0, 0): 6}
    (finding,) = (
        one for one in report_of(AMPLIFIED | more).findings if one.topic == "small groups"
    )
    assert finding.text.startswith("Groups with fewer than 30 rows: x (12).")
    assert "small groups" not in topics(report_of(AMPLIFIED))


def test_a_reversal_is_no_reduction():
    turned = {
        ("f", 1, 0): 250,
        ("f", 1, 1): 50,
        ("f", 0, 0): 100,
        ("m", 1, 1): 100,
        ("m", 0, 1): 300,
    }
    report = report_of(turned)
    assert report["directional A->T"].verdict == "reverses"
    (finding,) = (one for one in report.findings if one.topic == "reversal")
    assert "directional A->T" in finding.text
    assert "reversal" not in topics(report_of(AMPLIFIED))


def test_no_clear_effect_says_how_many_rows_would_decide():
    rows = {("f", 1, 1): 60, ("f", 0, 0): 40, ("m", 1, 1): 38, ("m", 1, 0): 2, ("m", 0, 0): 60}
    rows[("f", 0, 1)] = 2
    report = report_of(rows)
    result = report["directional A->T"]
    (finding,) = (one for one in report.findings if one.topic == "precision")
    needed = result.n_samples * (result.smallest_effect() / abs(result.estimate)) ** 2
    about = int(re.search(r"about ([\d,]+) rows", finding.action)[1].replace(",", ""))
    assert needed <= about <= 1.1 * needed


def test_a_verdict_of_a_column_counts_that_others_were_tested():
    y = np.repeat([1, 0, 1, 0], [160, 240, 240, 160])
    y_pred = y.copy()
    y_pred[np.r_[:12, 400:408]] = 0
    y_pred[np.r_[160:168, 640:660]] = 1
    columns = {"sex": np.repeat(["f", "m"], 400), "race": np.tile(["a", "b"], 400)}
    how = {"y_train": y, "random_state": 0}
    alone = {"sensitive_features": columns["sex"], "sensitive_train": columns["sex"]}
    report = skbiasamp.audit(y, y_pred, **alone, **how)
    assert report["directional A->T"].verdict == "amplifies"
    report = skbiasamp.audit(y, y_pred, sensitive_features=columns, sensitive_train=columns, **how)
    table = report.by_column.set_index("column")
    assert table["p_value"]["sex"] < 0.05 < table["p_adjusted"]["sex"]
    assert table["verdict"]["sex"] == "no clear effect"


def test_attackers_that_are_trained_have_fewer_draws_in_a_report():
    rng = np.random.default_rng(0)
    sex, label = rng.choice(["f", "m"], 60), rng.integers(0, 2, 60)
    for predicted, n_draws in ((label, 10), (rng.random(60).round(3), 4)):
        report = skbiasamp.audit(label, predicted, sensitive_features=sex, random_state=0)
        assert report["leakage"].params["n_draws"] == n_draws


def test_a_column_with_an_adjusted_p_value_of_5_percent_shows_no_clear_effect():
    """As in sentences and tables: 0.05 is not below 0.05, although it is below 1 - 0.95."""

    class Fixed(DirectionalAuditor):
        def audit(self, rows):
            return replace(super().audit(rows), p_value=0.025)

    sex, age = np.repeat(["f", "m"], 400), np.tile(["old", "old", "young", "young"], 200)
    y_true = (np.arange(800) % 8 < np.where(sex == "f", 2, 4) + (age == "old")).astype(int)
    y_pred = (np.arange(800) % 8 < np.where(sex == "f", 1, 5) + (age == "old")).astype(int)
    groups = pd.DataFrame({"sex": sex, "age": age})
    rows = Contingency.from_labels(y_true, y_pred, sensitive_features=groups)
    table = audit_columns([(Fixed(), None, rows, "")], rows, 0)
    assert table["p_adjusted"].tolist() == [0.05, 0.05]
    assert table.loc[0, "low"] > 0
    assert table["verdict"].tolist() == ["no clear effect"] * 2
