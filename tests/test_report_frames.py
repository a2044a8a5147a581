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


def polars(folder, name):
    return pytest.importorskip("polars").scan_parquet(folder / f"{name}-*.parquet")


def pattern(folder, name):
    return str(folder / f"{name}-*.parquet")


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
