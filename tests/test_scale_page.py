"""The page on scale: what needs an engine runs as it is written, where the engine is."""

import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency

pytestmark = pytest.mark.pages
PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
BLOCKS = [
    block
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if not block.startswith(">>>")  # those are doctests
]
COLUMNS = {"target": "cooks", "prediction": "predicted", "sensitive": "sex"}


def title(block):
    return re.split(r"[ .\n]", block.removeprefix("import ").removeprefix("from "))[0]


def test_every_engine_has_its_block():
    assert [title(block) for block in BLOCKS] == [
        "polars", "duckdb", "pyarrow", "dask", "ibis", "pyspark", "report", "distributed"
    ]  # fmt: skip


# Ibis calls what DuckDB has renamed; dask says how much it sends.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("block", BLOCKS, ids=title)
def test_a_block_runs_as_it_is_written(block, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    package = title(block)
    if package == "pyspark":
        pytest.skip("Spark runs in tests/test_engines_spark.py")
    if package != "report" and importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}, which is not installed")
    rows = pd.DataFrame(
        {
            "sex": ["f"] * 80 + ["m"] * 80,
            "cooks": [1] * 60 + [0] * 20 + [1] * 20 + [0] * 60,
            "predicted": [1] * 70 + [0] * 10 + [1] * 15 + [0] * 65,
        }
    )
    monkeypatch.chdir(tmp_path)
    rows.to_parquet("rows.parquet")
    expected = Contingency.from_frame(rows, **COLUMNS)
    known = {
        "Contingency": Contingency,
        "skbiasamp": skbiasamp,
        "columns": COLUMNS,
        "cells": expected,
    }
    exec(block, known)
    if package == "report":
        assert known["report"].context["n_samples"] == 160
    elif package == "distributed":
        assert known["result"].metric == "leakage"
    else:
        assert known["cells"] == expected
