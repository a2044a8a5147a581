"""Which class of a binary label is the positive one, and so the task."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.cli import main
from skbiasamp.metrics import (
    bias_disparity,
    directional_amplification,
    label_amplification,
    percentage_amplification,
)

# Internal: its test of hundreds of columns of scores, without an audit of each.
from skbiasamp.metrics.score_order import score_order
from skbiasamp.model_selection import amplification_curve

SEX = list("ffffmmmm")
LABELS = ["yes", "yes", "yes", "no", "yes", "no", "no", "no"]
PREDICTED = ["yes", "yes", "no", "no", "yes", "yes", "no", "no"]
P_YES = np.array([0.9, 0.8, 0.4, 0.1, 0.7, 0.6, 0.3, 0.2])


def flipped(labels):
    """The same labels with names of which the other one sorts last."""
    return [{"yes": "a", "no": "b"}[one] for one in labels]


def cells(pos_label=None, labels=LABELS, predicted=PREDICTED, **how):
    return Contingency.from_labels(
        labels, predicted, sensitive_features=SEX[: len(labels)], pos_label=pos_label, **how
    )


@pytest.mark.parametrize("metric", [bias_disparity, percentage_amplification, label_amplification])
def test_the_positive_class_and_not_its_name_decides(metric):
    groups = {} if metric is label_amplification else {"sensitive_features": SEX}
    for predicted, other in ((PREDICTED, flipped(PREDICTED)), (P_YES, P_YES)):
        expected = metric(LABELS, predicted, **groups)
        found = metric(flipped(LABELS), other, pos_label="a", **groups)
        assert found == pytest.approx(expected, abs=1e-12)


def test_rates_by_hand_of_the_chosen_class():
    no = cells("no")
    assert (no.tasks, no.classes, no.pos_label) == (("no",), ("no", "yes"), "no")
    np.testing.assert_allclose(no.rate("task", given="group"), [[1 / 4], [3 / 4]])
    np.testing.assert_allclose(no.rate("task_pred", given="group"), [[2 / 4], [2 / 4]])
    assert cells().pos_label == "yes"


PART = {"labels": ["yes", "yes"], "predicted": ["yes", "yes"]}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cells("maybe"), r"pos_label must be one of .*'no' and 'yes'.* 'maybe'"),
        (lambda: cells(1, labels=[0, 1, 2, 0], predicted=None), "3 classes"),
        (
            lambda: Contingency.from_labels(np.eye(2), sensitive_features=["f", "m"], pos_label=1),
            "indicator matrix",
        ),
        (lambda: cells("yes", like=cells("no")), r"'yes', but .* training labels is 'no'"),
        (
            lambda: cells("yes").conform(cells("no")),
            r"audited labels is 'yes'.* training\s+labels is 'no'",
        ),
        (lambda: cells("yes") + cells("no"), "'yes', and that of another is 'no'"),
    ],
)
def test_a_class_that_cannot_be_the_positive_one_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_rows_have_the_positive_class_of_those_before_them():
    train = cells("no", predicted=None)
    assert cells(like=train).tasks == ("no",)
    assert cells("no", like=train) == cells("no") == cells().conform(train)
    both = cells("no") + cells("no")
    assert (both.tasks, both.total) == (("no",), 16)
    chunk = cells("no", **PART)  # of one class
    assert chunk.tasks == (chunk + cells("no")).tasks == ("no",)
    np.testing.assert_array_equal(chunk.count("task"), [0])


@pytest.mark.parametrize("predicted", [PREDICTED, 1 - P_YES])
def test_it_survives_being_stored_selected_and_resampled(predicted):
    no = cells("no", predicted=predicted)
    for same in (
        Contingency.from_counts(no.to_frame()),
        Contingency.from_json(no.to_json()),
        pickle.loads(pickle.dumps(no)),
        no.select(groups=["f", "m"]),
        no.conform(no),
        no.with_positive(None),
    ):
        assert same == no
        assert same.pos_label == "no"
    assert no.resample(random_state=0).tasks == ("no",)
    assert Contingency.from_counts(cells().to_frame(), pos_label="no") == cells("no")


@pytest.mark.parametrize(
    "auditor", [DirectionalAuditor, MALSAuditor, MultiAttributeAuditor], ids=lambda one: one.metric
)
def test_auditors_take_the_positive_class(auditor):
    groups = {"sensitive_features": SEX}
    expected = auditor().fit(LABELS, **groups).audit(LABELS, PREDICTED, **groups)
    mine = auditor(pos_label="a")
    labels, predicted = flipped(LABELS), flipped(PREDICTED)
    frame = pd.DataFrame({"t": labels, "p": predicted, "a": SEX})
    names = {"target": "t", "sensitive": "a"}
    by_labels = mine.fit(labels, **groups).audit(labels, predicted, **groups)
    by_frame = mine.fit(frame, **names).audit(frame, prediction="p", **names)
    counted = Contingency.from_frame(frame, prediction="p", **names)
    by_cells = mine.fit(counted).audit(counted)
    for found in (by_labels, by_frame, by_cells):
        assert found.table["task"].iloc[0] in ("a", ("a",))
        np.testing.assert_allclose(
            [found.value, found.low, found.high],
            [expected.value, expected.low, expected.high],
            atol=1e-12,
        )
    with pytest.raises(ValueError, match="positive class of this contingency is 'b'"):
        mine.fit(counted.with_positive("b"))


def reversed_scores(n=200):
    """Labels with scores that fit them, and groups."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    return labels, np.clip(0.3 + 0.4 * labels + rng.normal(0, 0.2, n), 0.01, 0.99), "fm" * (n // 2)


def found(topic, *labels, **how):
    report = skbiasamp.audit(
        *labels, auditor=DirectionalAuditor(interval=None, reference="test"), **how
    )
    return [str(one) for one in report.findings if one.topic == topic]


def test_scores_of_the_class_that_sorts_first_are_refused_or_what_a_report_says_first():
    """P(default) of "default" and "no default": every number is about the other class."""
    labels, score, sex = reversed_scores()
    named = np.where(labels == 1, "default", "no default")
    groups = {"sensitive_features": list(sex)}
    report = skbiasamp.audit(named, score, random_state=0, **groups)
    first = report.findings[0]
    assert (first.topic, first.severity) == ("positive class", "wrong")
    assert "choose pos_label='default'" in str(first)
    assert len(report.findings) > 3
    message = (
        r"^{} holds scores that are larger for rows labelled 'default' than for 'no default', "
        r".*pos_label='default' or pos_label='no default'"
    )
    models = {"a": score, "b": 1 - score}
    for rows, name, call in (
        (score, "y_pred", DirectionalAuditor().fit(named, **groups).score),
        (score, "y_pred", directional_amplification),
        (models, r"y_preds\['a'\]", DirectionalAuditor(reference="test").compare),
    ):
        with pytest.raises(ValueError, match=message.format(name)):
            call(named, rows, **groups)
    expected = directional_amplification(labels, score, **groups)
    chosen = directional_amplification(named, score, pos_label="default", **groups)
    other = directional_amplification(named, 1 - score, **groups)
    assert (chosen, other) == pytest.approx((expected, expected), abs=1e-12)
    assert np.isfinite(directional_amplification(named, score, pos_label="no default", **groups))


def test_scores_are_weak_only_if_they_may_be_of_the_other_class():
    labels, _, sex = reversed_scores()
    rng = np.random.default_rng(1)
    for truth in (labels, np.zeros_like(labels)):
        how = {"sensitive_features": list(sex), "y_score": rng.normal(size=len(labels))}
        assert not found("positive class", truth, labels, **how)
        assert not found("weak scores", truth, labels, **how)
    # They rank well.
    labels, score, sex = weak_scores(2000, 0.3)
    named = np.where(labels == 1, "no default", "default")
    assert not found("weak scores", named, score, sensitive_features=sex)
    # Numbers say which class is positive, unless scores rather rank the other way.
    labels, score, sex = weak_scores(300, -0.25)
    assert stats.mannwhitneyu(score[labels == 1], score[labels == 0], alternative="less")[1] < 0.02
    (text,) = found("weak scores", labels, score, sensitive_features=sex)
    assert "pos_label=0 or pos_label=1" in text
    assert not found("weak scores", labels, 1 - score, sensitive_features=sex)


def weak_scores(n, effect, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 2)
    score = special.expit(effect * labels + rng.normal(size=n))
    return labels, score, list("fm" * (n // 2))


def test_curves_explanations_and_commands_refuse_scores_of_the_other_class(tmp_path, capsys):
    labels, score, sex = reversed_scores()
    named = np.where(labels == 1, "default", "no default")
    groups = {"sensitive_features": list(sex)}
    columns = {"target": "t", "sensitive": "a"}
    path = tmp_path / "rows.csv"
    frame = pd.DataFrame({"t": named, "p": score, "q": 1 - score, "a": list(sex)})
    frame.to_csv(path, index=False)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(frame)) // 100 * 31, "D")
    watched = {"frame": frame.assign(day=days), "time": "day", **columns}
    message = "holds scores that are larger for rows labelled 'default'"
    for call in (
        lambda: amplification_curve(named, score, **groups),
        lambda: skbiasamp.explain(named, score, **groups),
        lambda: skbiasamp.explain(named, named, y_score=score, **groups),
        lambda: skbiasamp.explain(str(path), **columns, prediction="p"),
        lambda: skbiasamp.audit_over(**watched, prediction="p"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    amplification_curve(named, score, pos_label="default", **groups)
    skbiasamp.explain(named, 1 - score, **groups)
    skbiasamp.audit_over(**watched, prediction="q", n_draws=19)
    asked = ["compare", str(path), "--target", "t", "--sensitive", "a"]
    asked += ["--prediction", "one=q", "--prediction", "other=p"]
    assert main(asked) == 2
    refused = capsys.readouterr().err
    assert message in refused
    assert "--positive default or --positive 'no default'" in refused
    assert main([*asked, "--positive", "default"]) == 0


def test_the_order_of_scores_is_that_of_other_packages():
    rng = np.random.default_rng(2)
    labels, sex = rng.integers(0, 2, 80), rng.choice(["f", "m"], 80)
    score = np.round(special.expit(rng.normal(size=80) - 0.3 * labels), 1).clip(0.1, 0.9)
    weight = rng.integers(1, 4, 80)
    cells = Contingency.from_labels(labels, score, sensitive_features=sex, sample_weight=weight)
    expected = roc_auc_score(labels, score, sample_weight=weight)
    assert score_order(cells).auc == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spread", [0.3, 1, 3])
def test_the_test_of_scores_is_the_larger_of_two_published_ones(spread):
    """That of Mann and Whitney, and that of Brunner and Munzel."""
    rng = np.random.default_rng(2)
    labels, sex = np.arange(2000) % 10 == 0, list("fm" * 1000)
    score = special.expit(rng.normal(size=2000) * np.where(labels, spread, 1) - 0.15 * labels)
    order = score_order(Contingency.from_labels(labels.astype(int), score, sensitive_features=sex))
    of_class = score[labels], score[~labels]
    both = (
        stats.mannwhitneyu(*of_class, alternative="less").pvalue,
        stats.brunnermunzel(*of_class).pvalue / 2,
    )
    assert order.auc < 0.5
    assert order.p_below == pytest.approx(max(both), rel=0.05)
    assert order.p_above > 1 - max(both) - 0.01


def test_the_test_of_few_scores_has_the_degrees_of_freedom_of_the_rarer_class():
    labels = np.repeat([1, 0], [5, 20])
    score = np.r_[0.011, 0.02, 0.03, 0.04, 0.46, np.arange(1, 21) / 40]
    cells = Contingency.from_labels(labels, score, sensitive_features=list("fmfmf") * 5)
    order, of_class = score_order(cells), (score[:5], score[5:])
    shares = [(own[:, None] > other).mean(axis=1) for own, other in (of_class, of_class[::-1])]
    error = (shares[0].var() / 5 + shares[1].var() / 20) ** 0.5
    by_ranks = stats.t.cdf((order.auc - 0.5) / error, 4)
    by_chance = stats.mannwhitneyu(*of_class, alternative="less", method="asymptotic").pvalue
    assert by_ranks > by_chance
    assert order.p_below == pytest.approx(by_ranks)


def test_a_drawn_curve_of_a_classifier_takes_the_scores_of_the_positive_class():
    pytest.importorskip("matplotlib")
    from skbiasamp.plotting import AmplificationCurveDisplay

    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 200), rng.integers(0, 2, 200)
    X = (hired + rng.normal(size=200) + (sex == "m"))[:, None]
    renamed = np.where(hired == 1, "a", "b")
    asked = {"sensitive_features": sex, "rates": False}
    draw = AmplificationCurveDisplay.from_estimator
    model = LinearSVC()
    one = draw(model.fit(X, hired), X, hired, **asked)
    other = draw(model.fit(X, renamed), X, renamed, pos_label="a", **asked)
    np.testing.assert_allclose(other.values, one.values, rtol=0, atol=1e-9)
