"""Count 100,000,000 rows on a cluster of processes, train attackers on it, watch 1,000 periods.

The table takes some minutes, and a few seconds with --short. The cluster is Dask's distributed
scheduler with two workers, and Spark with two threads if PySpark and Java are installed. Both run
on this machine: a network between workers is not measured.
"""

import importlib.util
import shutil
import tempfile
import time
from pathlib import Path

import timing

# isort: split
import dask
import dask.dataframe
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster
from engines import FULL, ONE, SHORT, opened, write_rows
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, LeakageAuditor
from skbiasamp.datasets import make_biased_classification


def timed(call):
    """Return what a call returns, and its seconds on the wall."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def line(run, rows, seconds, alone, result):
    alone = "" if alone is None else f"{alone:.1f}"
    return f"| {run} | {rows:,} | {seconds:.1f} | {alone} | {result} |"


def counted(sizes, folder):
    """Yield a line for each engine that counts all rows; DuckDB in one process is the reference."""
    path = write_rows(folder, sizes)
    expected, alone = timed(lambda: Contingency.from_frame(opened("DuckDB", path), **ONE))
    assert expected.total == sizes.rows

    def checked(name, open_rows):
        cells, seconds = timed(lambda: Contingency.from_frame(open_rows(), **ONE))
        assert cells == expected
        return line(f"{name}: counts of {sizes.files} files", sizes.rows, seconds, alone, "equal")

    yield checked("Dask, 2 worker processes", lambda: dask.dataframe.read_parquet(path))
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[2]").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield checked("Spark, local[2]", lambda: session.read.parquet(str(path)))
        session.stop()


def attacked(n_rows):
    """Return the line of attackers that joblib trains on Dask's workers."""
    data = make_biased_classification(n_rows, class_sep=0.5, random_state=0)
    scores = LogisticRegression().fit(data.data, data.target).predict_proba(data.data)[:, 1]
    labels = {"y_true": data.target, "y_pred": scores, "sensitive_features": data.sensitive}
    auditor = LeakageAuditor(attacker=LogisticRegression(), random_state=0, n_jobs=2)
    alone, seconds_alone = timed(lambda: auditor.set_params(n_jobs=1).audit(**labels).value)
    auditor.set_params(n_jobs=2)
    with parallel_config(backend="dask"):
        value, seconds = timed(lambda: auditor.audit(**labels).value)
    assert value == alone
    return line("Dask, 2 worker processes: leakage", n_rows, seconds, seconds_alone, "equal")


def watched(n_periods, n_rows):
    """Return the line of a watch without a change."""
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=n_periods * n_rows)
    hired = rng.random(sex.size) < 0.4 + 0.1 * sex
    rows = pd.DataFrame({"sex": sex, "hired": hired.astype(int)})
    rows["predicted"] = (hired ^ (rng.random(sex.size) < 0.1)).astype(int)
    rows["day"] = np.repeat(pd.date_range("2024-01-01", periods=n_periods), n_rows)
    columns = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
    auditor = DirectionalAuditor()
    timeline, seconds = timed(
        lambda: skbiasamp.audit_over(
            rows, time="day", every="day", reference=30, auditor=auditor, **columns
        )
    )
    return line(f"a watch of {n_periods:,} periods", len(rows), seconds, None, timeline.verdict)


def measure(sizes, short):
    with tempfile.TemporaryDirectory() as folder:
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster):
            yield from counted(sizes, Path(folder))
            yield attacked(2_000 if short else 100_000)
    yield watched(40 if short else 1_000, 50 if short else 200)


def measured(options):
    lines = "\n".join(measure(SHORT if options.short else FULL, options.short))
    return {"machine": timing.surroundings().replace(", one thread", ""), "lines": lines}


if __name__ == "__main__":
    timing.command(__file__, __doc__, measured)
