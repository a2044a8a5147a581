"""audit_frame() of queries: rows are counted where they are."""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor

COLUMNS = {"target": "y", "prediction": "p", "sensitive": "group", "weight": "weight"}
ROWS = pd.DataFrame({"y": [0, 1] * 1000, "p": [0, 1, 1, 1] * 500, "weight": 3})
ROWS["group"] = np.repeat(["a", "b"], 1000)


@pytest.mark.parametrize(("weights", "n"), [("weight", 2), ("fraction", 2), (None, 1)])
def test_a_query_runs_no_more_often_than_needed(monkeypatch, weights, n):
    """Of weights, a second time: are they fractions, or how many rows come with whole ones?"""
    polars = pytest.importorskip("polars")
    query = polars.from_pandas(ROWS.assign(fraction=0.5)).lazy()
    calls, collect = [], type(query).collect
    monkeypatch.setattr(type(query), "collect", lambda *a, **k: calls.append(1) or collect(*a, **k))
    skbiasamp.audit_frame(query, **COLUMNS | {"weight": weights}, auditor=DirectionalAuditor())
    assert len(calls) == n


@pytest.mark.parametrize("library", ["polars", "ibis", "dask.dataframe"])
def test_rows_with_weights_are_counted_by_their_engine(library):
    engine = pytest.importorskip(library)
    if library == "ibis":
        frame = engine.memtable(pytest.importorskip("pyarrow").Table.from_pandas(ROWS))
    elif library == "polars":
        frame = engine.from_pandas(ROWS).lazy()
    else:
        frame = engine.from_pandas(ROWS, npartitions=2)
    report = skbiasamp.audit_frame(frame, **COLUMNS, auditor=DirectionalAuditor(interval=None))
    (finding,) = (finding for finding in report.findings if finding.topic == "weights")
    assert finding.text.startswith("2,000 rows came with weights that add up to 6,000")
