"""audit() of frames, queries and files: counted where they are, with the numbers of memory."""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor

pytest.importorskip("pyarrow")
ONE = {"target": "target", "prediction": "prediction", "sensitive": ["group", "region"]}
LABELS, PREDICTIONS = ([f"{side}{i}" for i in range(9)] for side in "tp")


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    target = (rng.random(n) < 0.3 + 0.3 * (group == "a")).astype(int)
    frame = pd.DataFrame({"group": group, "region": rng.choice([1, 2], n), "target": target})
    frame["prediction"] = np.where(rng.random(n) < 0.1, group == "a", target).astype(int)
    frame["score"] = np.clip(0.8 * frame["prediction"] + 0.2 * rng.random(n), 0, 1)
    frame["weight"] = rng.gamma(2, 1, n)
    labels = rng.random((n, 9)) < 0.2 + 0.2 * (group == "a")[:, None]
    frame[LABELS] = labels.astype(int)
    frame[PREDICTIONS] = (labels ^ (rng.random((n, 9)) < 0.1)).astype(int)
    return frame


@pytest.fixture(scope="module")
def rows():
    return simulate(1500, 0), simulate(2000, 1)


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name, frame in zip(("train", "test"), rows, strict=True):
        for i in range(3):
            frame.iloc[i::3].to_parquet(folder / f"{name}-{i}.parquet")
    return folder


def pandas(folder, name):
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.glob(f"{name}-*.parquet"))])


def polars(folder, name):
    return pytest.importorskip("polars").scan_parquet(folder / f"{name}-*.parquet")


def duckdb(folder, name):
    return pytest.importorskip("duckdb").read_parquet(str(folder / f"{name}-*.parquet"))


def pattern(folder, name):
    return str(folder / f"{name}-*.parquet")


def paths(folder, name):
    return sorted(folder.glob(f"{name}-*.parquet"))


@pytest.fixture(scope="module")
def in_memory(rows):
    """Return the report of labels, by whether labels of training are known."""
    train, test = rows
    counted = skbiasamp.Contingency.from_frame(test, **ONE)
    given = {"y_train": train["target"], "sensitive_train": train[ONE["sensitive"]]}
    return {
        trained: skbiasamp.audit(counted, **(given if trained else {}), random_state=0)
        for trained in (False, True)
    }


@pytest.mark.parametrize(
    ("source", "trained"),
    [(pandas, False), (polars, True), (duckdb, False), (pattern, True), (paths, False)],
)
def test_a_report_of_files_is_that_of_memory(in_memory, folder, source, trained):
    given = {"train": source(folder, "train")} if trained else {}
    found = skbiasamp.audit_frame(source(folder, "test"), **given, **ONE, random_state=0)
    expected = in_memory[trained]
    # Cells are in another order, and random draws go by it.
    values = ["value"]
    pd.testing.assert_frame_equal(found.summary[values], expected.summary[values], atol=0.02)
    one, other = (report["directional A->T"] for report in (found, expected))
    pd.testing.assert_frame_equal(one.table.iloc[:, :8], other.table.iloc[:, :8])
    pd.testing.assert_frame_equal(found.rates, expected.rates)
    assert len(found.findings) == len(expected.findings)


@pytest.mark.parametrize(("weights", "n"), [("weight", 2), ("whole", 2), (None, 1)])
def test_a_query_runs_no_more_often_than_needed(folder, monkeypatch, weights, n):
    """Of weights, a second time: are they fractions, or how many rows come with whole ones?"""
    query = polars(folder, "test").with_columns(whole=2)
    calls, collect = [], type(query).collect
    monkeypatch.setattr(type(query), "collect", lambda *a, **k: calls.append(1) or collect(*a, **k))
    skbiasamp.audit_frame(query, **ONE, weight=weights, auditor=skbiasamp.DirectionalAuditor())
    assert len(calls) == n


def test_scores_of_files_without_labels_are_refused(folder):
    columns = {"prediction": "score", "sensitive": "group"}
    with pytest.raises(ValueError, match=r"column 'score' \(prediction\) holds probabilities"):
        skbiasamp.selection_rates(pattern(folder, "test"), **columns)


def test_errors_name_the_columns_of_a_frame(rows):
    _, test = rows
    calls = [(skbiasamp.audit_frame, "prediction"), (skbiasamp.explain, "prediction")]
    calls += [(skbiasamp.compare, {"a": "prediction", "b": "target"})]
    for verb, prediction in calls:
        columns = {"target": "target", "prediction": prediction, "sensitive": ["group"]}
        with pytest.raises(ValueError, match=r"^column 'group' \(sensitive\) has one group only"):
            verb(test.assign(group="a"), **columns)


def test_what_is_wrong_with_files_is_said(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        skbiasamp.audit_frame(str(tmp_path / "*.parquet"), **ONE)
    with pytest.raises(ValueError, match=r"^target= and sensitive= must name"):
        skbiasamp.audit_frame(pattern(folder, "test"))
    with pytest.raises(ValueError, match="has no column 'race'"):
        skbiasamp.audit_frame(pattern(folder, "test"), **ONE | {"sensitive": "race"})
    short = (folder / "test-0.parquet").read_bytes()[:-50]
    (tmp_path / "short.parquet").write_bytes(short)
    with pytest.raises(ValueError, match=r"short.parquet cannot be read as .parquet"):
        skbiasamp.audit_frame(tmp_path / "short.parquet", **ONE)


@pytest.mark.parametrize("source", [pattern, paths])
def test_an_auditor_reads_the_same_files(folder, rows, source):
    train, test = rows
    columns = {name: ONE[name] for name in ("target", "sensitive")}
    auditor = DirectionalAuditor().fit(source(folder, "train"), **columns)
    value = auditor.score(source(folder, "test"), **columns, prediction=ONE["prediction"])
    again = DirectionalAuditor().fit(train, **columns)
    assert value == again.score(test, **columns, prediction=ONE["prediction"])


@pytest.mark.parametrize("source", [polars, duckdb, pattern])
def test_probabilities_of_files_and_queries_have_parts(folder, rows, source):
    """Parts are of rows that are kept apart, which an engine would sum."""
    _, test = rows
    frame, columns = source(folder, "test"), ONE | {"sensitive": "group"}
    soft = columns | {"prediction": "score"}
    for more in (soft, soft | {"given": "region"}, columns | {"score": "score"}):
        found, expected = (
            skbiasamp.explain(each, **more, random_state=0).audit for each in (frame, test)
        )
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    how = soft | {"given": "region", "auditor": DirectionalAuditor()}
    found, expected = (
        skbiasamp.audit_frame(each, **how)["directional A->T"] for each in (frame, test)
    )
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_strata_of_a_query_of_many_tasks_are_those_of_rows(folder, rows):
    """A query would sum each task by itself, and strata need the rows of all together."""
    columns = {"target": LABELS, "prediction": PREDICTIONS, "sensitive": "group"}
    found, expected = (
        skbiasamp.audit_frame(frame, **columns, given="region", auditor=DirectionalAuditor())
        for frame in (polars(folder, "test"), rows[1])
    )
    pd.testing.assert_frame_equal(found.explanation.strata, expected.explanation.strata)
    pd.testing.assert_frame_equal(found.summary, expected.summary)


@pytest.mark.parametrize("library", ["polars", "ibis", "dask"])
def test_rows_with_weights_are_counted_by_their_engine(folder, rows, library):
    frame = rows[1].assign(weight=3)
    if library == "ibis":
        table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
        frame = pytest.importorskip("ibis").memtable(table)
    elif library == "dask":
        frame = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
    else:
        frame = pytest.importorskip("polars").from_pandas(frame).lazy()
    columns = ONE | {"sensitive": "group", "weight": "weight"}
    report = skbiasamp.audit_frame(frame, **columns, auditor=DirectionalAuditor(interval=None))
    (finding,) = (finding for finding in report.findings if finding.topic == "weights")
    assert finding.text.startswith("2,000 rows came with weights that add up to 6,000")


@pytest.mark.parametrize("source", [pandas, polars, duckdb])
def test_columns_of_rows_keep_their_names(folder, source):
    frame, columns = source(folder, "test"), {"prediction": "prediction", "sensitive": "group"}
    if source is pandas:
        frame = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    columns |= {"target": "target", "score": "score", "given": "region"}
    report = skbiasamp.audit_frame(frame, **columns, auditor=DirectionalAuditor())
    assert report.explanation.context["given"] == ("region",)
