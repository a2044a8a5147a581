"""A report says what its numbers say, and keeps it in JSON and Markdown."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix

import skbiasamp
from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.results import AuditReport

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


def result_of(auditor, rows=AMPLIFIED, *, trained=False, **options):
    y, y_pred, group = counted(rows)
    if trained:
        auditor.fit(y, sensitive_features=group)
    return auditor.audit(y, y_pred, sensitive_features=group, **options)


ANALYTIC = {"interval": "analytic"}
OWN_LABELS = {"reference": "test"} | ANALYTIC
ROUNDED = {
    ("f", 1, 1): 10380, ("f", 0, 1): 303, ("f", 0, 0): 9317,
    ("m", 1, 1): 6011, ("m", 1, 0): 1769, ("m", 0, 0): 12220,
}  # fmt: skip


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (lambda: result_of(DirectionalAuditor(reference="test", interval=None)),
         "Not measured: the gap between f and m. No interval was requested"),
        (lambda: result_of(MultiAttributeAuditor(min_count=10_000, **OWN_LABELS)),
         "No pair of group and task has both"),
        # 23.36 points, but a reader subtracts 30.1 from 53.4.
        (lambda: result_of(DirectionalAuditor(**OWN_LABELS), ROUNDED),
         "The gap is 13.0 percentage points in the labels, and 23.3 in the predictions."),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_sentence_says_how_much_changes(result, expected):
    assert expected in result().sentence


NOTHING = {"value": np.nan, "low": np.nan, "high": np.nan}
BELOW = {"value": -0.1, "low": -0.15, "high": -0.05}


@pytest.mark.parametrize(
    ("fields", "signed", "attack"),
    [
        ({"low": 0.01, "high": 0.2}, "amplifies", "reveals more"),
        (BELOW, "reduces", "reveals less"),
        ({"low": -0.01, "high": 0.2}, "no clear effect", "no clear effect"),
        ({"low": 0.0, "high": 0.2}, "no clear effect", "no clear effect"),
        ({"low": np.nan, "high": np.nan}, "not measured", "not measured"),
        (NOTHING, "not measured", "not measured"),
    ],
)
def test_the_verdict_follows_the_interval(amplified, everything, fields, signed, attack):
    fields = {"verdict": "", **fields}  # metrics without directions have none of their own
    assert replace(amplified["directional A->T"], statistics={}, **fields).verdict == signed
    assert replace(everything["multi-attribute A->T"], statistics={}, **fields).verdict == signed
    assert replace(amplified["leakage"], **fields).verdict == attack
    # An attacker that does not beat a guess reveals nothing more.
    guess = replace(amplified["leakage"], statistics={"above_chance_low": 0.0}, **fields)
    assert guess.verdict == ("no clear effect" if attack == "reveals more" else attack)


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


# --------------------------------------------------------------------------- the verdict


def test_a_report_of_anything_has_a_verdict(amplified):
    assert AuditReport({}).primary is None
    assert AuditReport({}).facts.verdict == "not measured"
    report = AuditReport({name: amplified[name] for name in ("MALS", "DPA A->T")})
    assert report.primary == "DPA A->T"
    assert report.value == report["DPA A->T"].value
    assert report.limit_verdict is None
    assert report_of(AMPLIFIED, limit=0.02).limit_verdict == "outside the limit"


def test_a_report_names_groups_by_their_columns_and_keeps_names_that_a_page_was_given():
    y, y_pred, group = counted(AMPLIFIED)
    both = pd.DataFrame({"sex": group, "age": np.where(np.arange(len(y)) % 2, "old", "young")})
    report = skbiasamp.audit(
        y, y_pred, sensitive_features=both, auditor=DirectionalAuditor(reference="test")
    )
    (result,) = report.values()
    assert "sex = f, age = young" in repr(result)
    assert "('" not in repr(result)
    assert report.sentences == {"directional A->T": result.sentence}
    assert report.warnings == [f"{finding.text} {finding.action}" for finding in report.findings]
    pytest.importorskip("jinja2")
    assert "march" in report.to_html(data_name="march")
    assert (report.context["model_name"], report.context["data_name"]) == (None, "march")


# --------------------------------------------------------------------------- findings


def topics(report):
    return {finding.topic for finding in report.findings}


def test_a_model_that_adds_a_difference_is_described_by_it():
    """Groups are labelled alike; the sentence has the change of the gap and not the value."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 8_000)
    hired = (rng.random(8_000) < 0.3).astype(int)
    drawn = rng.random(8_000) < np.where(sex == "f", 0.22, 0.42)
    predicted = np.where(rng.random(8_000) < 0.6, hired, drawn).astype(int)
    rows = {"sensitive_features": sex, "auditor": DirectionalAuditor(reference="test")}
    report = skbiasamp.audit(hired, predicted, limit=0.02, **rows)
    (result,) = report.values()
    rates = [[side[sex == name].mean() for side in (hired, predicted)] for name in "mf"]
    gaps = np.round(rates[0], 3) - np.round(rates[1], 3)
    assert report.facts.gap.growth == pytest.approx(abs(gaps[1]) - gaps[0] * np.sign(gaps[1]))
    assert report.facts.limit_verdict == "outside the limit"
    assert report.verdict.startswith("The model adds a gap between")
    assert f"{result.value:+.4f}" not in report.verdict
    # The gate judges the changes.
    (check,) = report.gate(0.02).checks
    assert check.outcome == "failed"
    assert check.value == pytest.approx(result.table["change"].max())
    # And so does a comparison.
    models = {"labels": hired, "model": predicted}
    compared = skbiasamp.compare(hired, models, **rows)["directional A->T"]
    assert compared.verdicts == {"model": "adds more"}
    assert compared.facts("model").worst.group == "m"
    assert skbiasamp.compare(hired, models, **rows).gate(0.02).outcome == "failed"
    back = skbiasamp.compare(hired, models, reference="model", **rows)["directional A->T"]
    assert back.verdicts == {"labels": "adds less"}


def test_mals_that_counts_a_group_that_is_not_associated_gives_no_advice():
    """The paper's own example (Sec. 3.2): MALS −0.6 of a model that amplifies as much as it can."""
    group = ["A1"] * 90 + ["A2"] * 30
    label = [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20
    rows = {"sensitive_features": group, "random_state": 0}
    report = skbiasamp.audit(label, [0] * 90 + [1] * 30, **rows)
    assert report["MALS"].published == pytest.approx(-0.6)
    (finding,) = (one for one in report.findings if one.topic == "unassociated groups")
    assert finding.text.startswith("MALS reads 2 of 2 pairs against the association")
    assert "reversal" not in topics(report)


def test_labels_that_are_all_the_same_are_not_called_balanced():
    y, _, group = counted(AMPLIFIED)
    report = report_of(AMPLIFIED, y_train=np.ones_like(y), sensitive_train=group)
    assert report["directional A->T"].value == 0
    assert "constant labels" in topics(report)
    assert not {"balanced data", "uncertain signs"} & topics(report)
    assert "constant labels" not in topics(report_of(BALANCED))


@pytest.mark.parametrize(
    ("groups", "labels", "topic", "said"),
    [
        (["Female", "Male", "female "], [0, 1, 1], "group spelling",
         "The groups 'Female' and 'female ' differ only in"),
        (["Female", "Male", "Fem ale"], [0, 1, 1], "group spelling", None),
        (["f", "m", "NA"], [0, 1, 1], "missing names",
         "The names of group 'NA' stand for missing values"),
        (["f", " none", "nan"], [0, 1, 1], "missing names",
         "The names of group ' none' and 'nan' stand for"),
        (["f", "m", ""], ["no", "NULL", "yes"], "missing names",
         "The names of group '' and class 'NULL' stand"),
        ([("f", "US"), ("f", "n/a")] * 2, [0, 1, 1, 0], "missing names",
         "The names of group ('f', 'n/a') stand"),
        (["Nan", "Nana"], ["no", "yes"], "missing names",
         "The names of group 'Nan' stand for missing values in"),
        (["f", "(missing)"], ["unknown", "0"], "missing names", None),
        ([1, 2, 3], [0, 1, 1], "missing names", None),
    ],
)  # fmt: skip
def test_names_that_are_no_groups_of_their_own_are_found(groups, labels, topic, said):
    """They were groups and classes as any others, and nothing said so."""
    y = np.tile(labels, 60)
    sensitive = pd.DataFrame([name for name in groups for _ in range(len(y) // len(groups))])
    report = skbiasamp.audit(y, y[::-1], sensitive_features=sensitive, random_state=0)
    texts = [finding.text for finding in report.findings if finding.topic == topic]
    assert len(texts) == (said is not None)
    assert all(text.startswith(said) for text in texts)


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
    assert found.startswith("The model predicts “perhaps” for 3 rows, and no audited row")


def test_groups_that_are_always_wrong_have_accuracy_0():
    y = np.tile(["a", "b", "c"], 20)
    predicted = np.append(y[:30], np.tile(["b", "c", "a"], 10))
    report = skbiasamp.audit(
        y, predicted, sensitive_features=np.repeat(["f", "m"], 30), random_state=0
    )
    assert report.groups["accuracy"].tolist() == [1, 0]


def test_random_numbers_of_the_report_reach_auditors_that_have_none():
    own = [LeakageAuditor(), DPAAuditor()]
    report = report_of(AMPLIFIED, auditor=own)
    assert [one.params["random_state"] for one in report.values()] == [0, 0]
    assert own[0].random_state is None


def weights_that_round_up():
    """All rows are predicted, and their weights add up to more than the total."""
    rng = np.random.default_rng(2)
    labels, sex = (rng.random(200) < 0.4).astype(int), rng.choice(list("fm"), 200)
    weight, score = np.exp(rng.normal(size=200)), rng.random(200)
    rows = {"sensitive_features": sex, "sample_weight": weight, "y_score": score}
    return labels, np.ones(200, int), rows


def one_group_of_four():
    """Two columns, of which one is audited with an undefined interval."""
    rows = pd.DataFrame({"sex": ["m"] * 40, "race": ["x"] * 40})
    train = pd.DataFrame({"sex": list("fm") * 50, "race": list("xxyy") * 25})
    rows = {"sensitive_features": rows, "y_train": [0, 1] * 50, "sensitive_train": train}
    return [0, 1] * 20, [0, 1, 1, 1] * 10, {**rows, "limit": 0.02}


def metric_of_labels_and_scores():
    """The metric that gives the verdict is measured twice."""
    rng = np.random.default_rng(0)
    labels, predicted = rng.choice(list("abc"), (2, 200))
    groups = np.column_stack([np.ones(200, int), np.zeros(200, int)])
    rows = {"sensitive_features": groups, "groups": "indicator", "limit": 0.02}
    return labels, predicted, {**rows, "y_score": rng.dirichlet(np.ones(3), 200)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.parametrize(
    "rows", [weights_that_round_up, one_group_of_four, metric_of_labels_and_scores]
)
def test_a_report_of_rare_rows_is_written(rows):
    labels, predicted, options = rows()
    report = skbiasamp.audit(labels, predicted, random_state=0, **options)
    assert report.verdict.split(".")[0] in " ".join(str(report).split())
    assert "<h1" in report.to_html()


def test_there_must_be_something_to_audit():
    y, _, group = counted(AMPLIFIED)
    with pytest.raises(ValueError, match="nothing to audit: pass predictions as y_pred"):
        skbiasamp.audit(y, sensitive_features=group)


def test_an_error_about_training_rows_names_their_parameter():
    y, predicted, group = counted(AMPLIFIED)
    cells, without_labels = (
        Contingency.from_labels(labels, predicted, sensitive_features=group) for labels in (y, None)
    )
    with pytest.raises(
        ValueError, match=r"have no labels to compare predictions with: pass y_train\."
    ):
        skbiasamp.audit(cells, y_train=without_labels)
    frame = pd.DataFrame({"y": y, "p": predicted, "group": group})
    columns = {"target": "y", "prediction": {"one": "y", "other": "p"}, "sensitive": "group"}
    with pytest.raises(TypeError, match=r"^y_train must be a data frame or a query"):
        skbiasamp.compare(frame, y_train=7, **columns)
    with pytest.raises(TypeError, match=r"^y_train must hold one value a row"):
        skbiasamp.audit(y, predicted, sensitive_features=group, y_train=7, sensitive_train=group)


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


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # 10 against 4 %, certain and not; and 10 against 6 %.
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 40, ("m", 0, 0): 960},
         "Of rows not labelled “1”, the model wrongly predicts it for 10.0 % of f and 4.0 % of m."),
        ({("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 4, ("m", 0, 0): 96}, None),
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 60, ("m", 0, 0): 940}, None),
        ({("f", 1, 1): 50, ("f", 1, 0): 50, ("m", 1, 1): 70, ("m", 1, 0): 30},
         "Of rows labelled “1”, the model misses it for 30.0 % of m and 50.0 % of f."),
        ({("f", 1, 1): 50, ("f", 1, 0): 50, ("m", 1, 1): 70, ("m", 1, 0): 30,
          ("f", 0, 1): 10, ("f", 0, 0): 90, ("m", 0, 1): 15, ("m", 0, 0): 85},
         "wrongly predicts it for 15.0 % of m and 10.0 % of f. Of those labelled so, the model "
         "misses it for 30.0 % of m and 50.0 % of f."),
        # As in the estimate, 29 rows are too few to speak of, 30 are not.
        ({("f", 0, 0): 100, ("m", 0, 1): 29}, None),
        ({("f", 0, 0): 100, ("m", 0, 1): 30},
         "Of rows not labelled “1”, the model wrongly predicts it for 100.0 % of m and 0.0 % of f"),
    ],
)  # fmt: skip
def test_a_gap_of_error_rates_is_said(rows, expected):
    # Rows that are right keep both labels in the data.
    right = {("f", 1, 1): 5, ("m", 1, 1): 5} if ("f", 0, 0) in rows else {("f", 0, 0): 5}
    report = report_of(right | rows, auditor=[DirectionalAuditor(reference="test", interval=None)])
    text = " ".join(one.text for one in report.findings if one.topic == "error rates")
    assert expected in text if expected else text == ""


# --------------------------------------------------------------------------- keeping it


def test_markdown_is_one_table_whatever_labels_hold():
    y, y_pred, group = counted(AMPLIFIED)
    names = {"f": "<script>alert(1)</script>", "m": "a|b\n| c | d\\ *e* [f](javascript:g)"}
    text = skbiasamp.audit(
        y, y_pred, sensitive_features=[names[one] for one in group], random_state=0
    ).to_markdown()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    columns = [len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows]
    assert columns == [4] * (2 + 2)  # labels, predictions and their change, by group
    assert "<script" not in text
    assert r"a\|b \| c \| d\\ \*e\* \[f\](javascript:g)" in text


# --------------------------------------------------------------------------- more findings


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
        (text,) = (one.text for one in found.findings if one.topic == "few rows")
        assert text.startswith("3 of 6 pairs of group and task have fewer than 10 rows, such as")


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
        assert row["value"] == pytest.approx(again.value)
        assert row["low"] == pytest.approx(again.low, abs=0.005)
    assert curve["base_rate"].tolist() == [scored["paid"].mean()] * len(curve)
    assert audit_at(scored, 0.6).curve.empty
