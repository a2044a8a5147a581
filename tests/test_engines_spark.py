"""Spark, classic and Connect, counts what memory holds."""

import importlib.util
import json
import shutil
import subprocess
import sys

import pytest
from test_frames import COLUMNS, simulate

from skbiasamp import Contingency

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="needs pyspark, which is not installed"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is not found"),
]

# A process of its own: Spark's Java machine outlives what starts it, and warns of what it likes.
COUNT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
from skbiasamp import Contingency
mode, path, columns = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
builder = SparkSession.builder
builder = builder.remote("local[2]") if mode == "connect" else builder.master("local[2]")
session = builder.getOrCreate()
rows = session.read.parquet(path)
for weight in (None, "repeated"):
    counted = Contingency.from_frame(rows, weight=weight, **columns)
    print(counted.to_frame().to_json(orient="split"))
session.stop()
"""


@pytest.mark.parametrize("mode", ["classic", "connect"])
def test_spark_counts_what_memory_holds(tmp_path, mode):
    if mode == "connect" and importlib.util.find_spec("grpc") is None:
        pytest.skip("Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    rows = simulate(1_000_000)
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    command = [sys.executable, "-c", COUNT, mode, str(path), json.dumps(COLUMNS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    for weight, line in zip((None, "repeated"), lines, strict=True):
        held = Contingency.from_labels(
            rows["target"],
            rows["prediction"],
            sensitive_features=rows[["group", "region"]],
            sample_weight=None if weight is None else rows[weight],
        )
        expected = json.loads(held.to_frame().to_json(orient="split"))
        assert json.loads(line) == expected
