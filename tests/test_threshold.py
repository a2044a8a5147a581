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
FRAME["single"] = SCORE.astype("f4")
QUIET = DirectionalAuditor(interval=None, reference="test")
BY = {"sensitive_features": SEX}


def decided(score=SCORE, threshold=0.4, classes=("no", "yes")):
    """The labels by hand: from the threshold on, the positive class."""
    return np.array(classes)[(score >= threshold).astype(int)]


def counted(labels=HIRED, predicted=SCORE, **how):
    return Contingency.from_labels(labels, predicted, **BY, **how)


LABELLED = counted(predicted=decided())


@pytest.mark.parametrize(
    "hold", [list, pd.Series, pl.Series, lambda v: np.array(v, "f4"), lambda v: v[:, None]]
)
def test_scores_of_at_least_the_threshold_are_the_positive_class(hold):
    for threshold in (0.4, 0.7, np.float64(0.7)):
        expected = counted(predicted=decided(threshold=threshold))
        assert counted(predicted=hold(SCORE), threshold=threshold) == expected
    assert (decided() == "yes")[:3].all()


def test_the_class_of_high_scores_is_known_from_training_or_by_name():
    expected = counted(predicted=decided(1 - SCORE, 0.7, ("yes", "no")), pos_label="no")
    for known in ({"pos_label": "no"}, {"like": counted(predicted=None, pos_label="no")}):
        assert counted(predicted=1 - SCORE, threshold=0.7, **known) == expected
    # Rows of a chunk may have one class.
    train, alone = counted(predicted=None), {"labels": ["no"] * N, "threshold": 0.4}
    assert counted(**alone, like=train) == counted(["no"] * N, decided(), like=train)
    assert counted(**alone, pos_label="yes").tasks == ("yes",)
    with pytest.raises(ValueError, match=r"threshold turns scores .* y_true has 1 \('no'\)"):
        counted(**alone)


def test_scores_are_any_numbers_and_no_classes():
    """Whole numbers would be read as classes without a threshold."""
    assert counted(predicted=FRAME["tenths"], threshold=4) == LABELLED
    logits = np.log((SCORE + 1e-9) / (1 - SCORE + 1e-9))
    assert counted(predicted=logits, threshold=0) == counted(predicted=decided(logits, 0))
    for n_tasks in (1, 3):
        labels, scores = RNG.integers(0, 2, (N, n_tasks)), RNG.random((N, n_tasks))
        expected = counted(labels, (scores >= 0.3).astype(int))
        assert counted(labels, scores, threshold=0.3) == expected


ENGINES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: pytest.importorskip("duckdb").from_df(frame),
    "dask": lambda frame: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2),
}


@pytest.mark.parametrize("joint", [None, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_columns_of_a_frame_are_decided_where_they_are(engine, joint):
    frame = ENGINES[engine](FRAME)

    def read(**how):
        columns = {"target": "hired", "sensitive": "sex", "joint": joint, "threshold": 0.4}
        return Contingency.from_frame(frame, **columns | how)

    both = read(prediction={"old": "score", "new": "other"})
    for one in (
        read(prediction="score"),
        read(prediction="tenths", threshold=4),
        both.model("old"),
    ):
        assert (one, one.summed) == (LABELLED, None)
    assert both.model("new") == counted(predicted=decided(1 - SCORE))
    # 0.7 in 32 bits is less than 0.7 in 64.
    single = read(prediction="single", threshold=0.7)
    assert single == counted(predicted=decided(threshold=0.7))
    assert read() == counted(predicted=None)
    # Some engines say that NaN is above any number, others that it is not.
    frame = ENGINES[engine](FRAME.assign(score=np.where(np.arange(N) == 7, np.nan, SCORE)))
    with pytest.raises(ValueError, match=r"has missing values in 1 row"):
        read(prediction="score")


@pytest.mark.parametrize("n_tasks", [3, 20])
def test_tasks_that_an_engine_sums_are_decided_first(n_tasks):
    labels, scores = RNG.integers(0, 2, (N, n_tasks)), RNG.random((N, n_tasks))
    names, predicted = ([f"{kind}{i}" for i in range(n_tasks)] for kind in "tp")
    frame = pd.DataFrame(np.c_[labels, scores], columns=names + predicted).assign(sex=SEX)
    columns = {"target": names, "prediction": predicted, "sensitive": "sex"}
    read = Contingency.from_frame(ENGINES["duckdb"](frame), **columns, threshold=0.3, joint=False)
    labelled = counted(labels, (scores >= 0.3).astype(int))
    np.testing.assert_allclose(*(one.rate("task_pred", given="group") for one in (read, labelled)))


@pytest.mark.parametrize(
    ("predicted", "how", "message"),
    [
        (SCORE, {"threshold": "0.4"}, "threshold must be a finite number; got '0.4'"),
        (decided(), {}, "y_pred must hold numbers; got 'yes'"),
        (np.c_[1 - SCORE, SCORE], {}, "y_pred has 2 columns, .* column of the positive class"),
        (SCORE, {"labels": np.arange(N) % 3}, r"has 3 \(0, 1 and 2\). Pass predicted labels"),
        (np.where(SCORE > 0.5, np.nan, SCORE), {}, "y_pred has missing values in"),
    ],
)
def test_what_no_threshold_can_decide(predicted, how, message):
    with pytest.raises(ValueError, match=message):
        counted(predicted=predicted, **{"threshold": 0.4, **how})


def test_whole_scores_that_were_read_as_classes_are_found():
    scores = (100 * SCORE).astype(int)
    report = skbiasamp.audit(HIRED == "yes", scores, **BY, auditor=QUIET)
    (finding,) = [one for one in report.findings if one.code == "SBA105"]
    n = len(np.unique(scores))
    assert finding.text.startswith(f"The labels are 2 numbers and the predictions {n}, and each")
    assert finding.action.endswith("they count as the label (threshold).")


def test_comparisons_take_a_threshold():
    columns = {"target": "hired", "prediction": {"old": "score", "new": "other"}}
    how, both = {"threshold": 0.4, "auditor": [QUIET]}, {"old": SCORE, "new": 1 - SCORE}
    values = {name: QUIET.score(HIRED, decided(own), **BY) for name, own in both.items()}
    for compared in (
        skbiasamp.compare(HIRED, both, **BY, **how),
        skbiasamp.compare(FRAME, sensitive="sex", **columns, **how),
    ):
        table = compared["directional A->T"].table.set_index("model")["value"]
        assert table.to_dict() == pytest.approx(values, abs=1e-12)
        assert "threshold=0.4" in compared.context["call"]


@pytest.mark.parametrize("truth", [{}, {"y_true": HIRED, "favourable": "yes"}], ids=bool)
def test_selected_are_scores_of_at_least_the_threshold(truth):
    by, at = {"sensitive_features": FRAME["sex"]}, {"threshold": 0.4}
    expected = selection_rates(decided(), **by, **{**truth, "favourable": "yes"}).table
    columns = {"target": "hired", "favourable": "yes"} if truth else {}
    for rates in (
        selection_rates(SCORE, **by, **at, **truth),
        selection_rates(FRAME, prediction="score", sensitive="sex", **at, **columns),
    ):
        found = rates.table.drop(columns="task")
        pd.testing.assert_frame_equal(found, expected.drop(columns="task"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.assign(decided=decided(), undecided=decided(1 - SCORE)).to_csv(path, index=False)
    return str(path)


def test_the_commands_take_a_threshold(file, tmp_path, capsys):
    columns, at = ["--target", "hired", "--sensitive", "sex"], ["--threshold", "0.4"]
    found, said = [], []
    for options in (["score", *at], ["decided"]):
        out = tmp_path / f"{options[0]}.json"
        assert main(["audit", file, *columns, "--json", str(out), "--prediction", *options]) == 0
        results = json.loads(out.read_text())["results"]
        found.append({name: one["value"] for name, one in results.items()})
    assert found[0].pop("leakage of scores") > 0  # as of audit_frame(threshold=)
    assert found[0] == found[1]
    capsys.readouterr()
    for predictions in (["a=score", "b=other", *at], ["a=decided", "b=undecided"]):
        assert main(["compare", file, *columns, "--prediction", *predictions]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_scores_of_any_container_give_the_same_report(file):
    """A threshold gave no split of the decision, and a frame's scores no curve and no leakage."""
    frame = FRAME.assign(decided=decided())
    labels = {"sensitive_features": FRAME[["sex"]], "random_state": 0}
    expected = skbiasamp.audit(FRAME["hired"], frame["decided"], y_score=FRAME["score"], **labels)
    assert "leakage of scores" in expected
    value = QUIET.score(HIRED, decided(), **BY)
    assert expected["directional A->T"].value == pytest.approx(value)
    assert len(expected.curve) > 1
    assert expected.explanation.decision is not None
    assert "pass predicted labels" not in repr(expected).lower()
    for rows, columns in (
        (frame, {"prediction": "score", "threshold": 0.4}),
        (frame, {"prediction": "decided", "score": "score"}),
        (file, {"prediction": "score", "threshold": 0.4}),
    ):
        options = {"sensitive": "sex", "target": "hired", "random_state": 0, **columns}
        report = skbiasamp.audit_frame(rows, **options)
        assert list(report) == list(expected)
        for found, known in zip(report.findings, expected.findings, strict=True):
            assert replace(found, numbers=known.numbers) == known
            assert values_differ(found.numbers, known.numbers) is None
        for name in ("summary", "curve", "passed"):
            pd.testing.assert_frame_equal(getattr(report, name), getattr(expected, name))
        pd.testing.assert_frame_equal(report.explanation.decision, expected.explanation.decision)
