"""Predictions alone, as of generated rows: compared with training labels or known rates."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor, metrics
from skbiasamp.metrics import (
    FunctionAuditor,
    LabelAuditor,
    MatchedPairsAuditor,
    MultiAttributeAuditor,
    directional_amplification,
    mals_amplification,
)

DATA = Path(os.environ.get("SKBIASAMP_DATA", "../shared/data"))
GENDER = ["F"] * 76 + ["M"] * 139
REAL = [1] * 48 + [0] * 28 + [1] * 100 + [0] * 39
SYNTHETIC = [1] * 48 + [0] * 28 + [1] * 98 + [0] * 41
COUNTED = Contingency.from_labels(REAL, REAL, sensitive_features=GENDER)
LABEL_FREE = [DirectionalAuditor(base="train"), MALSAuditor()]
ids = [one.metric for one in LABEL_FREE]


def predictions(y_pred=SYNTHETIC, group=GENDER, **how):
    return Contingency.from_labels(None, y_pred, sensitive_features=group, **how)


def test_the_value_by_hand():
    """P(placed | F) stays at 48/76, P(placed | M) falls from 100/139 to 98/139."""
    auditor = DirectionalAuditor(base="train", formula="published")
    auditor.fit(REAL, sensitive_features=GENDER)
    found = auditor.score(None, SYNTHETIC, sensitive_features=GENDER)
    assert found == pytest.approx((0 - 2 / 139) / 2, abs=1e-12)
    shares = MALSAuditor(formula="published").fit(REAL, sensitive_features=GENDER)
    found = shares.score(None, SYNTHETIC, sensitive_features=GENDER)
    assert found == pytest.approx(98 / 146 - 100 / 148, abs=1e-12)


@pytest.mark.parametrize("auditor", LABEL_FREE, ids=ids)
def test_labels_of_the_audited_rows_make_no_difference(auditor):
    rng = np.random.default_rng(0)
    auditor.fit(REAL, sensitive_features=GENDER)
    given, models = {"sensitive_features": GENDER}, {"a": SYNTHETIC, "b": REAL}
    other = rng.integers(0, 2, 215)
    alone, labelled = (auditor.audit(y, SYNTHETIC, **given) for y in (None, other))
    for number in ("value", "low", "high", "p_value", "published"):
        wanted = getattr(labelled, number)
        assert getattr(alone, number) == pytest.approx(wanted, abs=1e-12), number
    alone, labelled = (auditor.compare(y, models, **given) for y in (None, SYNTHETIC))
    for table in ("table", "pairs", "churn"):
        pd.testing.assert_frame_equal(getattr(alone, table), getattr(labelled, table))
    how = {"base": "train"} if auditor.metric == "directional" else {}
    measured = directional_amplification if how else mals_amplification
    given |= {"y_train": REAL, "sensitive_train": GENDER}
    assert measured(None, SYNTHETIC, **given, **how) == measured(other, SYNTHETIC, **given, **how)


def test_rates_of_ones_own_need_no_labels_and_no_training():
    own = pd.DataFrame({1: [0.5, 0.7]}, index=["F", "M"])
    auditor = DirectionalAuditor(base=own, reference="test")
    result = auditor.audit(None, SYNTHETIC, sensitive_features=GENDER)
    assert result.value == pytest.approx((-(48 / 76 - 0.5) + (98 / 139 - 0.7)) / 2, abs=1e-12)
    assert result.low < result.value < result.high


def test_probabilities_are_of_the_trained_positive_class():
    labels = np.where(REAL, "placed", "not")
    auditor = DirectionalAuditor(base="train", pos_label="placed", formula="published")
    auditor.fit(labels, sensitive_features=GENDER)
    scores = np.where(SYNTHETIC, 0.9, 0.2)
    rates = [0.2 + 0.7 * 48 / 76 - 48 / 76, 0.2 + 0.7 * 98 / 139 - 100 / 139]
    value = auditor.score(None, scores, sensitive_features=GENDER)
    assert value == pytest.approx((rates[1] - rates[0]) / 2, abs=1e-12)


def test_cells_without_labels_are_stored_added_and_drawn():
    cells = predictions()
    assert not cells.has("task")
    assert cells.tasks == (1,)
    assert Contingency.from_json(cells.to_json()) == cells
    assert Contingency.from_counts(cells.to_frame()) == cells
    assert (cells + cells).total == 430
    assert cells.resample(5, random_state=0).rate("task_pred", given="group").shape == (5, 2, 1)
    chosen = predictions(["no", "yes"] * 2, list("ffmm"), pos_label="no")
    assert chosen.tasks == (chosen + chosen).tasks == ("no",)
    assert Contingency.from_json(chosen.to_json()).pos_label == "no"


def auditors_that_need_labels():
    every = (getattr(metrics, name) for name in metrics.__all__)
    made = [one for one in every if isinstance(one, type) and hasattr(one, "audit")]
    made = [one for one in made if not getattr(one, "__abstractmethods__", None)]
    # MALS and sets are compared with training labels, matched pairs among predictions alone, and
    # functions need what their metric needs.
    able = (FunctionAuditor, MALSAuditor, MatchedPairsAuditor, MultiAttributeAuditor)
    return [one for one in made if one not in able]


@pytest.mark.parametrize("kind", auditors_that_need_labels())
def test_metrics_that_need_labels_say_so(kind):
    auditor = kind()
    labels = {"texts": list(map(str, REAL)), "numbers": np.array(REAL) * 1.5}
    y, given = labels.get(auditor.reads, REAL), {"sensitive_features": GENDER}
    if kind is LabelAuditor:
        given = {}
    if auditor.reads != "texts":  # these learn nothing from training
        auditor.fit(y, **given)
    with pytest.raises(ValueError, match=r"pass (y_true|the labels)|y_true is None"):
        auditor.score(None, y, **given)


MODELS = {"a": SYNTHETIC, "b": REAL}
PLACED = pd.DataFrame({"sex": GENDER, "placed": REAL})
TWO_MODELS = Contingency.from_labels(REAL, y_preds=MODELS, sensitive_features=GENDER)
SOFT = predictions(np.where(SYNTHETIC, 0.9, 0.2), like=COUNTED)
NAMED = {"prediction": "placed", "sensitive": "sex"}
BY = {"sensitive_features": GENDER}
LABELLED = Contingency.from_labels([0, 1] * 50, sensitive_features=["f", "m", "m", "f"] * 25)


def fitted(auditor, **how):
    return auditor.fit(REAL, sensitive_features=GENDER, **how)


def scored(auditor):
    return fitted(auditor).score(None, SYNTHETIC, sensitive_features=GENDER)


def of_generators(**changed):
    given = NAMED | {"y_train": PLACED} | changed
    return skbiasamp.compare(None, {"a": PLACED, "b": PLACED}, **given)


def over(**how):
    return skbiasamp.audit_over(periods(4, 9, np.random.default_rng(0)), **how)


UNLABELLED = "no labels of the audited rows"
REFUSED = [
    (lambda: predictions([0.1, 0.2, 0.3, 0.4], list("ffmm")), "of an unknown class"),
    (lambda: predictions().count("task"), "have no labels"),
    (lambda: predictions() + COUNTED, "Only one of two"),
    (lambda: scored(DirectionalAuditor("T->A", base="train")), UNLABELLED),
    (lambda: scored(MALSAuditor(reference="test")), UNLABELLED),
    (lambda: fitted(DirectionalAuditor()).compare(None, MODELS, **BY), UNLABELLED),
    (lambda: DirectionalAuditor(base="train").fit(PLACED, **NAMED), r"no labels.*y_train"),
    (lambda: DirectionalAuditor(reference="test").audit(TWO_MODELS),
     r"'a' and 'b'\. Choose one, contingency\.model\('a'\)"),
    (lambda: of_generators(y_train=None), "pass y_train"),
    (lambda: of_generators(auditor=MALSAuditor()), "such as auditor=DirectionalAuditor"),
    (lambda: report(y_train=None, sensitive_train=None), "selection_rates"),
    (lambda: report(auditor=DirectionalAuditor()), UNLABELLED),
    (lambda: skbiasamp.compare(None, MODELS, **BY), "selection_rates"),
    (lambda: skbiasamp.audit_frame(PLACED, **NAMED), "name their column: target="),
    (lambda: over(auditor=DirectionalAuditor()), "DirectionalAuditor with base='test' compares"),
    (lambda: over(reference=LABELLED), "has labels, and the periods have predictions only"),
    (lambda: skbiasamp.audit_over({"2026-01": SOFT, "2026-02": SOFT}), "probabilities"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_needs_labels_or_a_reference_says_so(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_models_without_labels_have_the_classes_of_all():
    """Each model predicts one class of its own, and nobody else knows others."""
    sex = {"sensitive_features": list("ffmm")}
    read = Contingency.from_labels(None, y_preds={"a": ["x"] * 4, "b": ["y"] * 4}, **sex)
    assert read.tasks == ("y",)
    assert Contingency.from_json(read.to_json()) == read
    rates = [read.model(name).rate("task_pred", given="group") for name in "ab"]
    assert [each.tolist() for each in rates] == [[[0], [0]], [[1], [1]]]


def report(**more):
    given = {"y_train": REAL, "sensitive_train": GENDER, "random_state": 0} | more
    return skbiasamp.audit(None, SYNTHETIC, sensitive_features=GENDER, **given)


def test_a_comparison_without_labels():
    pytest.importorskip("jinja2")
    models = {"old": REAL, "new": SYNTHETIC}
    given = {"sensitive_features": GENDER, "random_state": 0}
    found = skbiasamp.compare(None, models, y_train=REAL, sensitive_train=GENDER, **given)
    assert list(found) == ["directional A->T", "MALS"]
    # What both share cancels; the signs are as sure as the reference rows are of them.
    women, men = report()["directional A->T"].table["sign_weight"]
    assert -1 < women < 0 < men < 1
    wanted = (women * 2 / 215 + men * (2 / 215 - 2 / 139)) / 2
    assert found["directional A->T"].difference("new") == pytest.approx(wanted, abs=1e-12)
    assert "ccuracy is" not in found.verdict
    frame = pd.DataFrame({"gender": GENDER, "placed": REAL, **models})
    columns = {"prediction": {"old": "old", "new": "new"}, "sensitive": "gender"}
    trained = Contingency.from_labels(REAL, sensitive_features=GENDER)
    by_name = skbiasamp.compare(frame, **columns, y_train=trained, random_state=0)
    assert by_name.summary.equals(found.summary)


def generated(n, rates, rng):
    """Return a table of n rows: engineers of two sexes at these rates, and a prompt a row."""
    sex = rng.integers(0, 2, n)
    engineer = (rng.random(n) < np.array(rates)[sex]).astype(int)
    return pd.DataFrame(
        {"sex": np.array(["f", "m"])[sex], "engineer": engineer, "prompt": range(n)}
    )


def test_generators_with_rows_of_their_own_are_compared_with_one_reference():
    rng = np.random.default_rng(0)
    real = generated(1_000, (0.3, 0.5), rng)
    models = {
        "copy": generated(1_200, (0.3, 0.5), rng),
        "strong": generated(1_500, (0.15, 0.6), rng),
        "weak": generated(800, (0.4, 0.4), rng),
    }
    columns = {"prediction": "engineer", "sensitive": "sex"}
    found = skbiasamp.compare(None, models, **columns, y_train=real, random_state=0)
    (result,) = found.values()
    assert result.verdicts == {"strong": "amplifies more", "weak": "amplifies less"}
    gaps = {
        name: frame.groupby("sex")["engineer"].mean().diff()["m"] for name, frame in models.items()
    }
    for model in ("strong", "weak"):
        # Two groups: half of the change of their difference, whatever the real rows are.
        wanted = (gaps[model] - gaps["copy"]) / 2
        assert result.difference(model) == pytest.approx(wanted, abs=1e-12)
    table = result.table.set_index("model")
    sexes = [models[name].groupby("sex")["engineer"] for name in ("copy", "strong")]
    variances = [(own.mean() * (1 - own.mean()) / own.count()).sum() / 4 for own in sexes]
    wide = table.loc["strong", "difference_high"] - table.loc["strong", "difference_low"]
    assert wide == pytest.approx(2 * 1.96 * np.sqrt(sum(variances)), rel=0.06)
    assert table["verdict"].tolist() == ["no clear effect", "amplifies", "reduces"]
    sexes, made = (
        {name: frame[of] for name, frame in models.items()} for of in ("sex", "engineer")
    )
    train = {"y_train": real["engineer"], "sensitive_train": real["sex"], "random_state": 0}
    by_arrays = skbiasamp.compare(None, made, sensitive_features=sexes, **train)
    assert by_arrays.summary.equals(found.summary)


def test_a_fitted_auditor_brings_its_reference():
    known = DirectionalAuditor(base="train")
    known.fit(REAL, sensitive_features=GENDER, reference_is_sample=False)
    found = report(auditor=known, y_train=None, sensitive_train=None)["directional A->T"]
    alone = known.audit(None, SYNTHETIC, sensitive_features=GENDER)
    assert (found.low, found.high) == (alone.low, alone.high)


def periods(n_periods, changed, rng):
    made = {}
    for i in range(n_periods):
        group = rng.choice(["f", "m"], 800)
        rate = np.where(group == "f", 0.4, 0.6 + 0.25 * (i >= changed))
        placed = (rng.random(800) < rate).astype(int)
        made[f"2026-{i + 1:02}"] = predictions(placed, group)
    return made


def test_frames_are_watched_without_a_target():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": rng.choice(["f", "m"], 3000), "placed": rng.integers(0, 2, 3000)})
    frame["day"] = pd.date_range("2026-01-01", "2026-04-30", periods=3000)
    named = {"time": "day", "prediction": "placed", "sensitive": "g"}
    found = skbiasamp.audit_over(frame, **named, n_draws=99)
    assert found.verdict == "no alarm"
    assert len(found.periods) == 4
    trained = DirectionalAuditor(base="train").fit(frame, target="placed", sensitive="g")
    fitted = skbiasamp.audit_over(frame, **named, auditor=trained, n_draws=99)
    assert fitted.periods["value"].iloc[0] != 0


def test_rates_of_ones_own_are_watched():
    """The value of a period is the mean distance from these rates, by hand."""
    made = periods(6, 3, np.random.default_rng(0))
    base = pd.DataFrame({1: [0.4, 0.6]}, index=["f", "m"])
    timeline = skbiasamp.audit_over(made, auditor=DirectionalAuditor(base=base), reference=3)
    for name, value in timeline.periods.set_index("period")["value"].items():
        rates = made[name].rate("task_pred", given="group")
        assert value == pytest.approx((0.4 - rates[0, -1] + rates[1, -1] - 0.6) / 2, abs=1e-12)
    assert timeline.verdict == "alarm"


def test_a_reference_that_is_no_sample_has_no_error():
    """Of equally large tables the error of both is about √2 times one; MALS has that of one."""
    runs = [SYNTHETIC, REAL, SYNTHETIC]
    for auditor, ratio in zip(LABEL_FREE, (2**0.5, 1), strict=True):
        widths = []
        for sampled in (True, False):
            auditor.fit(REAL, sensitive_features=GENDER, reference_is_sample=sampled)
            result = auditor.audit(None, SYNTHETIC, sensitive_features=GENDER)
            table = auditor.audit_runs(None, runs, sensitive_features=GENDER).table
            widths.append((result.high - result.low, table["high"] - table["low"]))
        assert widths[0][0] / widths[1][0] == pytest.approx(ratio, rel=0.02)
        assert auditor.metric == "MALS" or (widths[0][1] > 1.1 * widths[1][1]).all()
