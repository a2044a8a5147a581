"""A report says what its numbers say, and keeps it in JSON and Markdown."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix

import skbiasamp
from skbiasamp import DirectionalAuditor, DPAAuditor, LeakageAuditor, MultiAttributeAuditor
from skbiasamp.results import AuditReport


def counted(rows):
    """Labels, predictions and groups from {(group, label, prediction): how many}."""
    cells, counts = zip(*rows.items(), strict=True)
    group, y, y_pred = (np.repeat(np.array(one), counts) for one in zip(*cells, strict=True))
    return y, y_pred, group


AMPLIFIED = {
    ("f", 1, 1): 290, ("f", 1, 0): 10, ("f", 0, 1): 30, ("f", 0, 0): 70,
    ("m", 1, 1): 70, ("m", 1, 0): 30, ("m", 0, 1): 5, ("m", 0, 0): 295,
}  # fmt: skip


def report_of(rows, **options):
    y, y_pred, group = counted(rows)
    return skbiasamp.audit(y, y_pred, sensitive_features=group, random_state=0, **options)


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
def test_the_verdict_follows_the_interval(amplified, fields, signed, attack):
    fields = {"verdict": "", **fields}  # metrics without directions have none of their own
    y, y_pred, group = counted(AMPLIFIED)
    sets = MultiAttributeAuditor(reference="test").audit(y, y_pred, sensitive_features=group)
    for result in (amplified["directional A->T"], sets):
        assert replace(result, statistics={}, **fields).verdict == signed
    assert replace(amplified["leakage"], **fields).verdict == attack
    # An attacker that does not beat a guess reveals nothing more.
    guess = replace(amplified["leakage"], statistics={"above_chance_low": 0.0}, **fields)
    assert guess.verdict == ("no clear effect" if attack == "reveals more" else attack)


@pytest.fixture(scope="module")
def amplified():
    return report_of(AMPLIFIED)


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


def test_a_report_of_anything_has_a_verdict(amplified):
    assert AuditReport({}).primary is None
    assert AuditReport({}).facts.verdict == "not measured"
    report = AuditReport({name: amplified[name] for name in ("MALS", "DPA A->T")})
    assert report.primary == "DPA A->T"
    assert report.value == report["DPA A->T"].value
    assert report.limit_verdict is None
    assert report_of(AMPLIFIED, limit=0.02).limit_verdict == "outside the limit"


@pytest.mark.parametrize(
    "answers", ["nein ja", "Oui Non", "sí no", "Não Sim", "nee ja", "TAK NIE", "j n", "F T", "B A"]
)
def test_an_answer_is_named_with_its_column(answers):
    rows = pd.DataFrame({"hired": answers.split() * 20, "sex": ["f", "f", "m"] * 13 + ["m"]})
    columns = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
    report = skbiasamp.audit_frame(rows.assign(predicted=rows["hired"]), **columns)
    assert report.facts.tasks == (f"hired = {max(answers.split())}",)


def test_a_model_that_adds_a_difference_is_described_and_judged_by_its_changes():
    """Groups are labelled alike; the sentence has the change of the gap and not the value."""
    sex = np.repeat(["f", "m"], 1_000)
    hired = np.tile(np.arange(1_000) < 300, 2).astype(int)
    predicted = hired.copy()
    predicted[:80], predicted[1_900:] = 0, 1
    rows = {"sensitive_features": sex, "auditor": DirectionalAuditor(reference="test")}
    report = skbiasamp.audit(hired, predicted, limit=0.02, **rows)
    (result,) = report.values()
    assert report.facts.gap.growth == pytest.approx(0.18)
    assert report.facts.limit_verdict == "outside the limit"
    assert report.verdict.startswith("The model adds a gap between")
    assert f"{result.value:+.4f}" not in report.verdict
    (check,) = report.gate(0.02).checks
    assert (check.outcome, check.value) == ("failed", pytest.approx(result.table["change"].max()))
    models = {"labels": hired, "model": predicted}
    compared = skbiasamp.compare(hired, models, **rows)
    assert compared["directional A->T"].verdicts == {"model": "adds more"}
    assert compared["directional A->T"].facts("model").worst.group == "m"
    assert compared.gate(0.02).outcome == "failed"
    back = skbiasamp.compare(hired, models, reference="model", **rows)["directional A->T"]
    assert back.verdicts == {"labels": "adds less"}


@pytest.mark.parametrize(
    ("groups", "labels", "topic", "said"),
    [
        (["Female", "Male", "female "], [0, 1, 1], "group spelling",
         "The groups 'Female' and 'female ' differ only in"),
        (["Female", "Male", "Fem ale"], [0, 1, 1], "group spelling", None),
        (["f", "m", ""], ["no", "NULL", "yes"], "missing names",
         "The names of group '' and class 'NULL' stand"),
        ([("f", "US"), ("f", "n/a")] * 2, [0, 1, 1, 0], "missing names",
         "The names of group ('f', 'n/a') stand"),
        (["f", "(missing)"], ["unknown", "0"], "missing names", None),
    ],
)  # fmt: skip
def test_names_that_are_no_groups_of_their_own_are_found(groups, labels, topic, said):
    y = np.tile(labels, 60)
    sensitive = pd.DataFrame([name for name in groups for _ in range(len(y) // len(groups))])
    report = skbiasamp.audit(y, y[::-1], sensitive_features=sensitive, random_state=0)
    texts = [finding.text for finding in report.findings if finding.topic == topic]
    assert len(texts) == (said is not None)
    assert all(text.startswith(said) for text in texts)


def test_random_numbers_of_the_report_reach_auditors_that_have_none():
    own = [LeakageAuditor(), DPAAuditor()]
    report = report_of(AMPLIFIED, auditor=own)
    assert [one.params["random_state"] for one in report.values()] == [0, 0]
    assert own[0].random_state is None


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # 10 against 4 %, and 10 against 6 %.
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 40, ("m", 0, 0): 960},
         "Of rows not labelled “1”, the model wrongly predicts it for 10.0 % of f and 4.0 % of m."),
        ({("f", 0, 1): 100, ("f", 0, 0): 900, ("m", 0, 1): 60, ("m", 0, 0): 940}, None),
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


def test_scores_that_are_whole_numbers_are_no_classes_of_the_training_labels():
    rng = np.random.default_rng(0)
    (sex, hired), score = rng.integers(2, size=(2, 400)), rng.integers(1, 11, 400)
    labels = {"sensitive_features": sex, "y_score": score, "random_state": 0}
    training = {"y_train": hired, "sensitive_train": sex}
    report = skbiasamp.audit(hired, (score > 5).astype(int), **labels, **training)
    without = skbiasamp.audit(hired, (score > 5).astype(int), **labels)
    assert report["leakage of scores"].value == without["leakage of scores"].value


def test_changed_rows_of_procedures_are_means_over_pairs_of_runs():
    rng, sex = np.random.default_rng(0), np.repeat(["f", "m"], 400)
    hired = np.concatenate([np.arange(400) < 100, np.arange(400) < 200]).astype(int)
    runs = {
        name: [np.where(rng.random(800) < share, 1 - hired, hired) for _ in range(2)]
        for name, share in (("a", 0.1), ("b", 0.3))
    }
    auditor = DirectionalAuditor(reference="test")
    churn = auditor.compare(hired, runs, sensitive_features=sex).churn.set_index("group")
    for group in "fm":
        rows = group == sex
        changed = [(new != old)[rows].sum() for new in runs["b"] for old in runs["a"]]
        assert churn.loc[group, "changed"] == pytest.approx(np.mean(changed))


def test_rows_with_weights_are_counted_by_their_engine():
    rows = pd.DataFrame({"y": [0, 1] * 1000, "p": [0, 1, 1, 1] * 500, "weight": 3})
    rows["group"] = np.repeat(["a", "b"], 1000)
    query = pytest.importorskip("polars").from_pandas(rows).lazy()
    columns = {"target": "y", "prediction": "p", "sensitive": "group", "weight": "weight"}
    report = skbiasamp.audit_frame(query, **columns, auditor=DirectionalAuditor(interval=None))
    (finding,) = (finding for finding in report.findings if finding.topic == "weights")
    assert finding.text.startswith("2,000 rows came with weights that add up to 6,000")


def test_a_frame_of_one_column_is_labels():
    labels, sex = pd.DataFrame({"hired": [1, 0, 1, 1] * 20}), ["f", "m"] * 40
    predicted = [1, 0] * 40
    how = {"sensitive_features": sex, "auditor": DirectionalAuditor(), "random_state": 0}
    report, same = (skbiasamp.audit(y, predicted, **how) for y in (labels, labels["hired"]))
    assert (report.value, report.verdict) == (same.value, same.verdict)
