"""Scores and a threshold in place of predicted labels, wherever predictions go in."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from whole_documents import values_differ

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, selection_rates
from skbiasamp.cli import main

RNG = np.random.default_rng(0)
N = 300
SEX = RNG.choice(["f", "m"], N)
HIRED = np.where(RNG.random(N) < np.where(SEX == "m", 0.6, 0.4), "yes", "no")
SCORE = np.round(
    np.clip(0.3 * (HIRED == "yes") + 0.1 * (SEX == "m") + 0.6 * RNG.random(N), 0, 1), 2
)
SCORE[:3], SCORE[3:6] = 0.4, 0.7  # exactly at the thresholds
FRAME = pd.DataFrame({"sex": SEX, "hired": HIRED, "score": SCORE, "other": 1 - SCORE})
FRAME["tenths"] = (10 * SCORE).astype(int)
QUIET = DirectionalAuditor(interval=None, reference="test")


def decided(score=SCORE, threshold=0.4, classes=("no", "yes")):
    """The labels by hand: from the threshold on, the positive class."""
    return np.array(classes)[(score >= threshold).astype(int)]


def counted(labels=HIRED, predicted=SCORE, **how):
    return Contingency.from_labels(labels, predicted, sensitive_features=SEX, **how)


LABELLED = counted(predicted=decided())


@pytest.mark.parametrize(
    "hold",
    [np.array, list, pd.Series, pl.Series, lambda v: np.array(v, "f4"), lambda v: v[:, None]],
)
def test_scores_of_at_least_the_threshold_are_the_positive_class(hold):
    for threshold in (0.4, 0.7, np.float64(0.7)):
        expected = counted(predicted=decided(threshold=threshold))
        assert counted(predicted=hold(SCORE), threshold=threshold) == expected
    assert (decided() == "yes")[:3].all()


def test_the_chosen_class_is_that_of_high_scores():
    swapped = decided(1 - SCORE, 0.7, ("yes", "no"))
    expected = counted(predicted=swapped, pos_label="no")
    assert counted(predicted=1 - SCORE, pos_label="no", threshold=0.7) == expected
    train = counted(predicted=None, pos_label="no")
    assert counted(predicted=1 - SCORE, like=train, threshold=0.7) == expected


def test_scores_are_any_numbers_and_no_classes():
    """Whole numbers would be read as classes without a threshold."""
    tenths = (10 * SCORE).astype(int)
    assert counted(predicted=tenths, threshold=4) == LABELLED
    logits = np.log((SCORE + 1e-9) / (1 - SCORE + 1e-9))
    expected = counted(predicted=decided(logits, 0))
    assert counted(predicted=logits, threshold=0) == expected
    numbers = (HIRED == "yes").astype(int)
    assert counted(numbers, SCORE, threshold=0.4) == counted(numbers, (SCORE >= 0.4).astype(int))


def test_every_task_has_the_threshold():
    labels = RNG.integers(0, 2, (N, 3))
    scores = RNG.random((N, 3))
    expected = counted(labels, (scores >= 0.3).astype(int))
    assert counted(labels, scores, threshold=0.3) == expected
    names = ["a", "b", "c"]
    frames = pd.DataFrame(labels, columns=names), pd.DataFrame(scores, columns=names)
    assert counted(*frames, threshold=0.3) == counted(frames[0], (frames[1] >= 0.3).astype(int))


def test_one_class_of_a_chunk_is_known_from_training_or_by_name():
    train = counted(predicted=None)
    alone = {"labels": ["no"] * N, "threshold": 0.4}
    expected = counted(["no"] * N, decided(), like=train)
    assert counted(**alone, like=train) == expected
    assert counted(**alone, pos_label="yes").tasks == ("yes",)
    with pytest.raises(ValueError, match=r"threshold turns scores .* y_true has 1 \('no'\)"):
        counted(**alone)


ENGINES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: pytest.importorskip("duckdb").from_df(frame),
}


@pytest.mark.parametrize("joint", [None, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_columns_of_a_frame_are_decided_where_they_are(engine, joint):
    frame = ENGINES[engine](FRAME)
    how = {"target": "hired", "sensitive": "sex", "joint": joint}
    read = Contingency.from_frame(frame, prediction="score", threshold=0.4, **how)
    assert (read, read.summed) == (LABELLED, None)
    tenths = Contingency.from_frame(frame, prediction="tenths", threshold=4, **how)
    assert tenths == LABELLED
    both = {"old": "score", "new": "other"}
    models = Contingency.from_frame(frame, prediction=both, threshold=0.4, **how)
    assert models.model("old") == LABELLED
    assert models.model("new") == counted(predicted=decided(1 - SCORE))
    training = Contingency.from_frame(frame, threshold=0.4, **how)
    assert training == counted(predicted=None)


@pytest.mark.parametrize("n_tasks", [3, 20])
def test_tasks_that_an_engine_sums_are_decided_first(n_tasks):
    labels, scores = RNG.integers(0, 2, (N, n_tasks)), RNG.random((N, n_tasks))
    names = [f"t{i}" for i in range(n_tasks)]
    frame = pd.DataFrame(np.c_[labels, scores], columns=names + [f"p{i}" for i in range(n_tasks)])
    frame = ENGINES["duckdb"](frame.assign(sex=SEX))
    read = Contingency.from_frame(
        frame, target=names, prediction=[f"p{i}" for i in range(n_tasks)], sensitive="sex",
        threshold=0.3, joint=False,
    )  # fmt: skip
    labelled = counted(labels, (scores >= 0.3).astype(int))
    np.testing.assert_allclose(
        read.rate("task_pred", given="group"), labelled.rate("task_pred", given="group")
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_score_is_no_decision(engine):
    """Some engines say that NaN is above any number, others that it is not."""
    frame = FRAME.copy()
    frame.loc[7, "score"] = np.nan
    named = {"target": "hired", "prediction": "score", "sensitive": "sex"}
    with pytest.raises(ValueError, match=r"has missing values in 1 row"):
        Contingency.from_frame(ENGINES[engine](frame), threshold=0.4, **named)


@pytest.mark.parametrize(
    ("predicted", "how", "message"),
    [
        (SCORE, {"threshold": "0.4"}, "threshold must be a finite number; got '0.4'"),
        (SCORE, {"threshold": np.nan}, "threshold must be a finite number; got nan"),
        (SCORE, {"threshold": True}, "threshold must be a finite number; got True"),
        (decided(), {}, "y_pred must hold numbers; got 'yes'"),
        (np.c_[1 - SCORE, SCORE], {}, "y_pred has 2 columns, .* column of the positive class"),
        (
            SCORE,
            {"labels": np.arange(N) % 3},
            r"y_true has 3 \(0, 1 and 2\). Pass predicted labels",
        ),
        (SCORE, {"labels": SCORE, "numbers": True}, "these rows hold numbers: leave it out"),
        (np.where(SCORE > 0.5, np.nan, SCORE), {}, "y_pred has missing values in"),
        (SCORE, {"labels": np.eye(2, dtype=int)[np.arange(N) % 2]}, "y_true has 2 columns"),
    ],
)
def test_what_no_threshold_can_decide(predicted, how, message):
    with pytest.raises(ValueError, match=message):
        counted(predicted=predicted, **{"threshold": 0.4, **how})


def test_comparisons_take_a_threshold():
    columns = {"target": "hired", "prediction": {"old": "score", "new": "other"}}
    how, both = {"threshold": 0.4, "auditor": [QUIET]}, {"old": SCORE, "new": 1 - SCORE}
    value, other = (
        QUIET.score(HIRED, decided(score), sensitive_features=SEX) for score in both.values()
    )
    for compared in (
        skbiasamp.compare(HIRED, both, sensitive_features=SEX, **how),
        skbiasamp.compare(FRAME, sensitive="sex", **columns, **how),
    ):
        table = compared["directional A->T"].table.set_index("model")["value"]
        assert table.to_dict() == pytest.approx({"old": value, "new": other}, abs=1e-12)
        assert "threshold=0.4" in compared.context["call"]


def test_a_threshold_without_predictions_decides_nothing():
    with pytest.raises(ValueError, match="score= needs predicted labels"):
        skbiasamp.audit_frame(FRAME, target="hired", score="score", threshold=0.4, sensitive="sex")


@pytest.mark.parametrize("labelled", [True, False])
def test_selected_are_scores_of_at_least_the_threshold(labelled):
    truth = {"y_true": HIRED, "favourable": "yes"} if labelled else {}
    wanted = {**truth, "favourable": "yes"}
    expected = selection_rates(decided(), sensitive_features=FRAME["sex"], **wanted).table
    given = selection_rates(SCORE, sensitive_features=FRAME["sex"], threshold=0.4, **truth).table
    columns = {"prediction": "score", "sensitive": "sex"} | (
        {"target": "hired", "favourable": "yes"} if labelled else {}
    )
    read = selection_rates(FRAME, threshold=0.4, **columns).table
    for found in (given, read):
        pd.testing.assert_frame_equal(found.drop(columns="task"), expected.drop(columns="task"))
    with pytest.raises(ValueError, match="scores=True or threshold, not both"):
        selection_rates(SCORE, sensitive_features=SEX, threshold=0.4, scores=True)
    with pytest.raises(ValueError, match="y_pred must"):
        selection_rates(decided(), sensitive_features=SEX, threshold=0.4, **truth)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.assign(decided=decided(), undecided=decided(1 - SCORE)).to_csv(path, index=False)
    return str(path)


COLUMNS = ["--target", "hired", "--sensitive", "sex"]


def run(*arguments):
    return main([*map(str, arguments)])


def test_the_commands_take_a_threshold(file, tmp_path, capsys):
    out, known = tmp_path / "scores.json", tmp_path / "labels.json"
    at = ["--threshold", "0.4"]
    assert run("audit", file, *COLUMNS, "--prediction", "score", *at, "--json", out) == 0
    assert run("audit", file, *COLUMNS, "--prediction", "decided", "--json", known) == 0
    found, expected = (
        {name: one["value"] for name, one in json.loads(path.read_text())["results"].items()}
        for path in (out, known)
    )
    assert found.pop("leakage of scores") > 0  # as of audit_frame(threshold=)
    assert found == expected
    capsys.readouterr()
    said = []
    for predictions in (["a=score", "b=other", *at], ["a=decided", "b=undecided"]):
        assert run("compare", file, *COLUMNS, "--prediction", *predictions) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "Share “yes” by each model" in said[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "high"], "--threshold: must be a finite number; got 'high'"),
        (["--threshold", "inf"], "--threshold: must be a finite number; got 'inf'"),
        (["--threshold", "1", "--numeric"], "--threshold turns scores into labels"),
        (["--threshold", "1", "--prediction", "decided"], "--prediction decided must hold numbers"),
    ],
)
def test_the_command_says_what_a_threshold_is_for(options, message, file, capsys):
    try:
        code = run("audit", file, *COLUMNS, "--prediction", "score", *options)
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_scores_of_any_container_give_the_same_report(file):
    """A threshold gave no split of the decision, and a frame's scores no curve and no leakage."""
    hired, sex = FRAME["hired"], FRAME[["sex"]]
    scores, frame = FRAME["score"], FRAME.assign(decided=decided())
    options = {"sensitive": "sex", "target": "hired", "random_state": 0}
    labels = {"sensitive_features": sex, "random_state": 0}
    expected = skbiasamp.audit(hired, frame["decided"], y_score=scores, **labels)
    assert "leakage of scores" in expected
    assert expected["directional A->T"].value == pytest.approx(
        QUIET.score(HIRED, decided(), sensitive_features=SEX)
    )
    assert len(expected.curve) > 1
    assert expected.explanation.decision is not None
    assert "pass predicted labels" not in repr(expected).lower()
    frame.to_csv(file, index=False)
    for report in (
        skbiasamp.audit_frame(frame, prediction="score", threshold=0.4, **options),
        skbiasamp.audit_frame(frame, prediction="decided", score="score", **options),
        skbiasamp.audit_frame(file, prediction="score", threshold=0.4, **options),
    ):
        assert list(report) == list(expected)
        for found, known in zip(report.findings, expected.findings, strict=True):
            assert replace(found, numbers=known.numbers) == known
            assert values_differ(found.numbers, known.numbers) is None
        for name in ("summary", "curve", "passed"):
            pd.testing.assert_frame_equal(getattr(report, name), getattr(expected, name))
        pd.testing.assert_frame_equal(report.explanation.decision, expected.explanation.decision)
