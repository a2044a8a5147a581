"""A report says what its numbers say, and keeps it in JSON and Markdown."""

import doctest
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

import skbiasamp
from skbiasamp import (
    AuditReport,
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.report._words import say
from skbiasamp.results import AuditResult

FEW_DRAWS = {"n_resamples": 50, "random_state": 0}


def a_result(metric="directional", direction="A->T", pairs=(), **fields):
    """A result with these pairs: (group, task, sign, delta, adjusted p)."""
    table = pd.DataFrame(
        {
            "group": [group for group, *_ in pairs],
            "task": [task for _, task, *_ in pairs],
            "sign": [sign for *_, sign, _, _ in pairs],
            "delta": [delta for *_, delta, _ in pairs],
            "p_adjusted": [p for *_, p in pairs],
        }
    )
    fields = {
        "value": 0.1,
        "low": 0.05,
        "high": 0.15,
        "confidence_level": 0.95,
        "p_value": 0.001,
        "n_samples": 100,
        "params": {"reference": "test"},
        **fields,
    }
    return AuditResult(metric=metric, direction=direction, table=table, **fields)


def told(metric, direction, data, model, **fields):
    table = pd.DataFrame({"quality_data": data, "quality_model": model})
    fields = {
        "value": 0.1,
        "low": 0.05,
        "high": 0.15,
        "params": {"quality": "accuracy", "equalize": "f1", "balanced": True},
        **fields,
    }
    return AuditResult(
        metric=metric,
        direction=direction,
        confidence_level=0.95,
        p_value=0.01,
        n_samples=100,
        table=table,
        **fields,
    )


# --------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("sign", "delta", "expected"),
    [
        (1, 0.123, "give f the label 1 more often than the labels do, by 12.3 points; the labels "
         "already leaned that way."),
        (-1, 0.123, "more often than the labels do, by 12.3 points; the labels leaned the other "
         "way."),
        (1, -0.02, "less often than the labels do, by 2.0 points; the labels leaned the other "
         "way."),
        (-1, -0.01, "less often than the labels do, by 1.0 point; the labels already leaned that "
         "way."),
        (0, 0.05, "more often than the labels do, by 5.0 points; the labels leaned neither way."),
    ],
)  # fmt: skip
def test_a_sentence_follows_sign_and_size_of_the_change(sign, delta, expected):
    assert expected in say(a_result(pairs=[("f", 1, sign, delta, 0.01), ("m", 1, 1, 0.0, 0.01)]))


def test_the_largest_change_that_is_sure_is_told():
    pairs = [("a", 1, 1, 0.5, 0.2), ("b", 1, 1, 0.1, 0.01), ("c", 1, 1, -0.2, 0.04)]
    chance = {"low": -0.05}
    assert say(a_result(pairs=pairs, **chance)).startswith(
        "Predictions give c the label 1 less often"
    )
    # Of a value above 0, one of the pairs that make it so.
    assert say(a_result(pairs=pairs)).startswith("Predictions give b the label 1 more often")
    unsure = [(*pair[:-1], 0.05) for pair in pairs]
    assert say(a_result(pairs=unsure)).startswith(
        "No single pair can be told from unchanged, p-values adjusted for 3 pairs; the largest: "
        "predictions give a the label 1 more often"
    )
    untested = [(*pair[:-1], np.nan) for pair in pairs]
    assert say(a_result(pairs=untested)).startswith("Predictions give a the label 1 more often")


def test_predictions_that_move_nothing_are_said_to():
    still = [("a", 1, 1, 0.0, 1.0), ("b", 1, 1, np.nan, np.nan)]
    none = "Predictions move no pair of group and task: the value is 0 in these rows"
    assert say(a_result(pairs=still, low=0, high=0)) == f"{none}."
    assert say(a_result(pairs=still, low=-0.1, high=0.2)) == (
        f"{none}; in others like them it may be from -0.1000 to +0.2000."
    )


def test_undefined_pairs_are_never_the_largest():
    pairs = [("a", 1, 1, np.nan, np.nan), ("b", 1, 1, 0.1, 0.01)]
    assert say(a_result(pairs=pairs)).startswith("Predictions give b")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "On the whole the model amplifies: the interval lies above 0."),
        ({"value": -0.1, "low": -0.2, "high": -0.01},
         "On the whole the model weakens what the labels lean to: the interval lies below 0."),
        ({"low": -0.01, "p_value": 0.3},
         "On the whole this may be chance: the interval holds 0."),
        ({"low": 0.0, "p_value": 0.3},
         "On the whole this may be chance: the interval holds 0."),
        ({"low": -0.01, "p_value": 0.002},
         "Predictions do differ from labels (p = 0.002), but which way on the whole may be "
         "chance: the interval holds 0."),
        ({"value": 0.0, "low": 0.0, "high": 0.0}, "The value is exactly 0."),
        ({"low": np.nan, "high": np.nan, "confidence_level": None},
         "The value is +0.1000; no interval was asked for."),
        ({"low": np.nan, "high": np.nan},
         "The value is +0.1000; which interval it has cannot be told from sums."),
    ],
)  # fmt: skip
def test_a_sentence_follows_the_interval(fields, expected):
    assert say(a_result(pairs=[("f", 1, 1, 0.1, 0.01)], **fields)).endswith(expected)


def test_labels_that_lean_nowhere_leave_nothing_to_amplify():
    exact = {"value": 0.0, "low": 0.0, "high": 0.0}
    assert say(a_result(pairs=[("f", 1, 0, 0.1, 0.01)], **exact)).endswith(
        "The labels lean to no group, so there is nothing to amplify: the value is 0."
    )


@pytest.mark.parametrize(
    ("metric", "direction", "delta", "expected"),
    [
        ("MALS", None, 0.1,
         "Among rows predicted cook, the share of f is higher than among those so labelled, by "
         "10.0 points. On"),
        ("MALS", None, -0.1, "the share of f is lower than among those so labelled"),
        ("directional", "T->A", 0.2,
         "Among rows labelled cook, the share that the model calls f is higher than the share "
         "that are, by 20.0 points; the labels already leaned that way."),
        ("directional", "T->A", -0.2, "is lower than the share that are, by 20.0 points"),
    ],
)  # fmt: skip
def test_each_metric_says_what_it_compares(metric, direction, delta, expected):
    assert expected in say(a_result(metric, direction, [("f", "cook", 1, delta, 0.01)]))


def test_training_labels_are_named_where_signs_come_from_them():
    pairs = [("f", 1, 1, 0.1, 0.01)]
    assert "; the training labels already" in say(a_result(pairs=pairs, params={
        "reference": "train"}))  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "direction", "expected"),
    [
        ("leakage", None,
         "Who sees the predictions tells the protected attribute in 75.0% of the cases, all "
         "groups counting the same; who sees labels with as many errors, in 50.0%."),
        ("DPA", "A->T",
         "Who knows the protected attribute tells the prediction in 75.0% of the rows; labels "
         "with as many errors, in 50.0%."),
        ("DPA", "T->A",
         "Who knows the label tells the predicted attribute in 75.0% of the rows; an attribute "
         "with as many errors, in 50.0%."),
    ],
)  # fmt: skip
def test_what_can_be_told_is_said_with_both_qualities(metric, direction, expected):
    result = told(metric, direction, [0.4, 0.6], [0.7, 0.8])
    assert say(result) == (
        f"{expected} On the whole the model adds to what can be told: the interval lies above 0."
    )


def test_what_can_be_told_follows_the_options():
    less = told("leakage", None, [0.6], [0.5], value=-0.1, low=-0.2, high=-0.1)
    assert "takes from what can be told: the interval lies below 0" in say(less)
    raw = {"quality": "accuracy", "equalize": None, "balanced": False}
    assert say(told("leakage", None, [0.5], [0.7], params=raw)).startswith(
        "Who sees the predictions tells the protected attribute in 70.0% of the rows; who sees "
        "the labels, in 50.0%."
    )
    assert say(told("DPA", "A->T", [0.5], [0.7], params=raw)).startswith(
        "Who knows the protected attribute tells the prediction in 70.0% of the rows; the label, "
        "in 50.0%."
    )
    f1 = {"quality": "f1", "equalize": "f1"}
    assert "with a quality of 0.7; labels with as many errors, with 0.5." in say(
        told("DPA", "A->T", [0.5], [0.7], params=f1)
    )
    assert say(told("leakage", None, [0.5], [0.7]), seen="scores").startswith("Who sees the scores")


@pytest.mark.parametrize(
    ("signed", "expected"),
    [
        (0.02, "With signs it is 2.0 points along what the labels lean to."),
        (-0.03, "With signs it is 3.0 points against what the labels lean to."),
    ],
)
def test_sets_are_said_with_size_and_side(signed, expected):
    result = a_result("multi-attribute", statistics={"signed_mean": signed}, value=0.071)
    assert say(result).startswith(
        "Predictions change how often sets of labels and groups come together by 7.1 points"
    )
    assert say(result).endswith(expected)


def test_nothing_measured_says_why():
    nothing = {"value": np.nan, "low": np.nan, "high": np.nan}
    assert "no pair has both labels and predictions to compare" in say(a_result(**nothing))
    sets = a_result("multi-attribute", params={"min_count": 10}, **nothing)
    assert "no set of labels occurs 10 times or more" in say(sets)


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
    auditor = DirectionalAuditor(reference="test", random_state=0)
    alone = auditor.audit(y, y_pred, sensitive_features=group)
    pd.testing.assert_frame_equal(amplified["directional A->T"].table, alone.table)
    assert amplified["directional A->T"].low == alone.low


def test_auditors_of_ones_own_replace_those_of_the_inputs():
    report = report_of(
        AMPLIFIED, auditors=[DirectionalAuditor(reference="test", interval=None)] * 2
    )
    assert list(report) == ["directional A->T", "directional A->T (2)"]
    assert "no interval was asked for" in report.sentences["directional A->T"]


def test_what_predictions_do_is_said_with_its_size(amplified):
    assert amplified.sentences["directional A->T"] == (
        # 320 of 400 women against 300; the 75 men of 400 against 100 are moved further.
        "Predictions give m the label 1 less often than the labels do, by 6.2 points; the labels "
        "already leaned that way. On the whole the model amplifies: the interval lies above 0."
    )
    mirrored = report_of({(g, 1 - y, 1 - p): n for (g, y, p), n in AMPLIFIED.items()})
    assert "give m the label 1 more often than" in mirrored.sentences["directional A->T"]


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
        auditors=[DirectionalAuditor(reference="test", interval=None)],
    )
    assert weighted["directional A->T"].value == report_of(AMPLIFIED)["directional A->T"].value
    assert weighted.context["rows"] == "800 rows, 2 groups, 1 task"


def test_contingencies_are_audited_as_their_rows(amplified):
    y, y_pred, group = counted(AMPLIFIED)
    cells = Contingency.from_labels(y, y_pred, sensitive_features=group)
    report = skbiasamp.audit(cells, random_state=0)
    assert report.summary.equals(amplified.summary)
    assert report.summary.index.name == "audit"


# --------------------------------------------------------------------------- findings


def topics(report):
    return {finding.topic for finding in report.findings}


def test_findings_of_a_plain_audit(amplified):
    assert topics(amplified) == {"error rates", "training labels", "labels as truth"}
    assert amplified.warnings == [finding.text for finding in amplified.findings]


def test_training_labels_are_asked_for_where_there_are_none():
    y, _, group = counted(AMPLIFIED)
    report = report_of(AMPLIFIED, y_train=y, sensitive_train=group)
    assert "training labels" not in topics(report)
    assert report.context["n_train"] == 800
    assert "the training labels already" in report.sentences["directional A->T"]


def test_balanced_labels_are_said_to_blind():
    report = report_of(BALANCED)
    assert report["directional A->T"].value == 0
    (found,) = (one.text for one in report.findings if one.topic == "balanced data")
    assert "(directional A->T)" in found
    assert "Look at leakage and DPA A->T, which can see there." in found
    assert "nothing to amplify" in report.sentences["directional A->T"]
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
    assert report.sentences["MALS"].startswith("Nothing could be measured")


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
        auditors=DirectionalAuditor(interval=None),
    )
    assert ("weights" in topics(report)) is said


def test_groups_that_are_always_wrong_have_accuracy_0():
    y = np.tile(["a", "b", "c"], 20)
    predicted = np.append(y[:30], np.tile(["b", "c", "a"], 10))
    report = skbiasamp.audit(
        y, predicted, sensitive_features=np.repeat(["f", "m"], 30), random_state=0
    )
    assert report.groups["accuracy"].tolist() == [1, 0]


def test_there_must_be_something_to_audit():
    y, predicted, group = counted(AMPLIFIED)
    with pytest.raises(ValueError, match="nothing to audit: pass predictions as y_pred"):
        skbiasamp.audit(y, sensitive_features=group)
    with pytest.raises(ValueError, match=r"^y_score has 799 rows but y_true has 800"):
        skbiasamp.audit(
            y, predicted, sensitive_features=group, y_score=predicted[1:], auditors=None
        )


def test_a_fitted_auditor_keeps_the_training_labels_it_has_seen():
    y, predicted, group = counted(AMPLIFIED)
    fitted = DirectionalAuditor(interval=None).fit(1 - y, sensitive_features=group)
    report = skbiasamp.audit(y, predicted, sensitive_features=group, auditors=fitted)
    expected = fitted.score(y, predicted, sensitive_features=group)
    assert report["directional A->T"].value == expected < 0
    fresh = skbiasamp.audit(
        y, predicted, sensitive_features=group, auditors=[DirectionalAuditor(interval=None)]
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
    assert report.sentences["directional A->T"].startswith(
        "Predictions move no pair of group and task: the value is 0 in these rows"
    )
    assert topics(report) == {"training labels", "labels as truth"}


@pytest.mark.parametrize(
    ("dropped", "said"), [(0, False), (7, False), (8, True), (200, True)]
)  # of 800 rows, 1 point is 8
def test_a_threshold_off_the_base_rate_is_said(dropped, said):
    rows = {("f", 1, 1): 400 - dropped, ("f", 1, 0): dropped, ("m", 0, 0): 400}
    report = report_of(rows, auditors=[DirectionalAuditor(reference="test", interval=None)])
    assert ("threshold" in topics(report)) is said
    if said:
        text = next(one.text for one in report.findings if one.topic == "threshold")
        assert f"predicts 1 for {(400 - dropped) / 800:.1%} of the rows, and 50.0% have it" in text


@pytest.mark.parametrize(("wrong", "said"), [(100, False), (101, True)])
def test_low_accuracy_is_said(wrong, said):
    # 400 rows; right in 75 % or a little less.
    rows = {
        ("f", 1, 1): 150 - wrong // 2, ("f", 1, 0): wrong // 2, ("f", 0, 0): 50,
        ("m", 1, 1): 50, ("m", 0, 0): 150 - (wrong - wrong // 2), ("m", 0, 1): wrong - wrong // 2,
    }  # fmt: skip
    report = report_of(rows, auditors=[DirectionalAuditor(reference="test", interval=None)])
    assert ("errors" in topics(report)) is said


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
        auditors=[DirectionalAuditor(interval=None)],
    )
    found = {one.topic: one.text for one in report.findings}
    assert "1 of 3 in directional A->T" in found["undefined pairs"]
    assert "nan" not in " ".join(found.values())
    assert "errors" not in found


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # 10 of 100 against 4 of 100; and with a hundredth less.
        ({("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 4, ("m", 0, 0): 96},
         "Among rows not labelled 1, the model predicts it for 10.0% of f and 4.0% of m."),
        ({("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 6, ("m", 0, 0): 94}, None),
        ({("f", 1, 1): 50, ("f", 1, 0): 50, ("m", 1, 1): 70, ("m", 1, 0): 30},
         "Among rows labelled 1, the model predicts it for 70.0% of m and 50.0% of f."),
        # Nine rows are too few to speak of, ten are not.
        ({("f", 0, 0): 100, ("m", 0, 1): 9}, None),
        ({("f", 0, 0): 100, ("m", 0, 1): 10},
         "Among rows not labelled 1, the model predicts it for 100.0% of m and 0.0% of f."),
    ],
)  # fmt: skip
def test_a_gap_of_error_rates_is_said(rows, expected):
    # Rows that are right keep both labels in the data.
    right = {("f", 1, 1): 5, ("m", 1, 1): 5} if ("f", 0, 0) in rows else {("f", 0, 0): 5}
    report = report_of(right | rows, auditors=[DirectionalAuditor(reference="test", interval=None)])
    text = " ".join(one.text for one in report.findings if one.topic == "error rates")
    assert expected in text if expected else text == ""


@pytest.mark.parametrize(("n", "said"), [(9, True), (10, False)])
def test_small_cells_are_said(n, said):
    rows = {("f", 1, 1): 100, ("f", 0, 0): 100, ("m", 1, 0): n - 2, ("m", 0, 0): 2}
    report = report_of(rows, auditors=[DirectionalAuditor(reference="test", **FEW_DRAWS)])
    assert ("small cells" in topics(report)) is said
    if said:
        text = next(one.text for one in report.findings if one.topic == "small cells")
        assert text == "1 of 2 pairs of directional A->T rest on fewer than 10 rows: (m, 1)."


def test_attributes_left_out_are_counted():
    y, y_pred, group = counted(AMPLIFIED)
    group = group.astype(object)
    group[:3] = None
    report = skbiasamp.audit(
        y,
        y_pred,
        sensitive_features=group,
        missing="drop",
        auditors=[DirectionalAuditor(reference="test", interval=None)],
    )
    text = next(one.text for one in report.findings if one.topic == "missing values")
    assert text == "3 rows without a protected attribute were left out."
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
        auditors=[DirectionalAuditor(reference="test", interval=None)],
    )
    assert "probabilities" in topics(report)
    assert report["directional A->T"].table["observed"].tolist() == pytest.approx(
        [0.25 + 320 / 800, 0.25 + 75 / 800]
    )
    # Error rates are those at 0.5.
    assert report.rates["predicted_rate"].tolist() == [0.8, 0.1875]


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


def test_a_report_of_another_schema_is_refused(amplified):
    content = amplified.to_dict() | {"schema": "skbiasamp.AuditReport/99"}
    with pytest.raises(ValueError, match=r"no skbiasamp.AuditReport/1.*AuditReport/99'. Write it"):
        AuditReport.from_dict(content)
    with pytest.raises(ValueError, match="its schema is None"):
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
    assert json.loads((tmp_path / "report.json").read_text())["schema"] == "skbiasamp.AuditReport/1"


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
    assert len(rows) == 2 + 4
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 6
    assert "<script" not in text
    assert r"a\|b \| c \| d\\ \*e\* \[f\](javascript:g)" in text
    assert "- No training labels were given" in text
    assert f"skbiasamp {skbiasamp.__version__}" in lines[-1]


def test_text_and_notebook_say_the_same(amplified):
    text = " ".join(repr(amplified).split())
    for sentence in amplified.sentences.values():
        assert sentence in text
    for warning in amplified.warnings:
        assert warning in text
    html = amplified._repr_html_()
    assert html.count("<tr") == 1 + 1 + 4  # two lines of headings: the index has a name
    assert "&lt;" not in html


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
        y, y_pred, sensitive_features=group, sensitive_pred=group[::-1], auditors=[auditor]
    )
    (sentence,) = report.sentences.values()
    assert sentence.endswith(".")
    assert "nan" not in sentence
    assert AuditReport.from_json(report.to_json()).to_json() == report.to_json()
    for path in (tmp_path / "report.json", str(tmp_path / "report.json")):
        report.to_json(path)
        assert AuditReport.from_json(path).to_json() == report.to_json()


# --------------------------------------------------------------------------- its schema


SCHEMA_PAGE = Path(__file__).parents[1] / "docs" / "report-schema.md"


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
    assert {f"`{result['schema']}`" for result in results} == {"`skbiasamp.AuditResult/1`"}


def test_the_schema_page_lists_every_topic():
    source = (Path(skbiasamp.__file__).parent / "report" / "_findings.py").read_text()
    written = set(re.findall(r'Finding\(\s*"([^"]+)"', source))
    written |= set(re.findall(r'_flagged\(\s*report,\s*"\w+",\s*"([^"]+)"', source))
    assert len(written) == 19
    assert documented("Each of `findings`") == {"topic", "text"} | written


def test_the_examples_of_the_schema_page_run():
    failed, tried = doctest.testfile(str(SCHEMA_PAGE), module_relative=False)
    assert failed == 0
    assert tried == 6
