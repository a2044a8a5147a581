"""Time audits of Parquet files beside the engines' own group-by of the same columns, in one run.

The table takes about five minutes, and a few seconds with --short. Files of 0.3 GB are written in
pieces into a temporary folder. What engine and library count is compared before anything is timed:
where they differ the script ends with an error.
"""

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import timing

# isort: split
import duckdb
import narwhals
import numpy as np
import polars
import pyarrow
import pyarrow.parquet

from skbiasamp import Contingency, DirectionalAuditor

ENGINES = ("DuckDB", "lazy polars")


class Sizes(NamedTuple):
    rows: int
    files: int
    many_rows: int
    tasks: int
    days: int
    rounds: int


FULL = Sizes(rows=100_000_000, files=200, many_rows=5_000_000, tasks=66, days=365, rounds=5)
SHORT = Sizes(rows=40_000, files=4, many_rows=8_000, tasks=14, days=20, rounds=1)

ONE = {"target": "target", "prediction": "prediction", "sensitive": ["group", "region"]}


def many(sizes):
    labels, predictions = ([f"{side}{i}" for i in range(sizes.tasks)] for side in "tp")
    return {"target": labels, "prediction": predictions, "sensitive": "group"}


def write_rows(folder, sizes):
    """Write files of four int8 columns, one after another."""
    rng = np.random.default_rng(0)
    for i in range(sizes.files):
        n = sizes.rows // sizes.files
        group, region = (rng.integers(0, k, n, dtype=np.int8) for k in (4, 2))
        target = rng.random(n, dtype=np.float32) < 0.2 + 0.1 * group
        prediction = target ^ (rng.random(n, dtype=np.float32) < 0.1)
        columns = {"group": group, "region": region}
        columns |= {"target": target.astype(np.int8), "prediction": prediction.astype(np.int8)}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"part-{i:03}.parquet")
    return folder / "part-*.parquet"


def write_many(folder, sizes):
    """Write one file of many 0/1 columns, a piece at a time."""
    rng = np.random.default_rng(1)
    columns, path, writer = many(sizes), folder / "many.parquet", None
    for low in range(0, sizes.many_rows, 250_000):
        n = min(250_000, sizes.many_rows - low)
        group = rng.integers(0, 2, n, dtype=np.int8)
        labels = rng.random((n, sizes.tasks), dtype=np.float32) < 0.1 + 0.1 * group[:, None]
        predictions = labels ^ (rng.random(labels.shape, dtype=np.float32) < 0.05)
        arrays = [group, *labels.astype(np.int8).T, *predictions.astype(np.int8).T]
        names = ["group", *columns["target"], *columns["prediction"]]
        piece = pyarrow.table(arrays, names=names)
        writer = writer or pyarrow.parquet.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    writer.close()
    return path


def opened(engine, path):
    if engine == "DuckDB":
        return duckdb.connect().read_parquet(str(path))
    return polars.scan_parquet(path)


def bare_count(engine, path):
    """Return the engine's own count of the groups of all four columns."""
    keys = ["group", "region", "target", "prediction"]
    if engine == "DuckDB":
        listed = ", ".join(f'"{key}"' for key in keys)  # group is a word of SQL
        query = f"select {listed}, count(*) from read_parquet('{path}') group by {listed}"
        return duckdb.connect().sql(query).fetchall()
    return polars.scan_parquet(path).group_by(keys).agg(polars.len()).collect().rows()


def bare_sums(engine, path, columns):
    """Return the engine's own sums of many columns by group."""
    names = [*columns["target"], *columns["prediction"]]
    if engine == "DuckDB":
        sums = ", ".join(f"sum({name})" for name in names)
        query = f"select \"group\", count(*), {sums} from read_parquet('{path}') group by 1"
        return duckdb.connect().sql(query).fetchall()
    sums = [polars.col(name).sum() for name in names]
    return polars.scan_parquet(path).group_by("group").agg(polars.len(), *sums).collect().rows()


def audit_rows(engine, path):
    return DirectionalAuditor(reference="test").audit(opened(engine, path), **ONE)


def audit_many(engine, path, columns, interval=None):
    """Return the audit of many tasks, with signs that are known before."""
    rng = np.random.default_rng(2)
    groups = np.repeat([0, 1], 500)
    labels = rng.random((1000, len(columns["target"]))) < 0.1 + 0.1 * groups[:, None]
    auditor = DirectionalAuditor(interval=interval).fit(labels, sensitive_features=groups)
    return auditor.audit(opened(engine, path), **columns)


def check(sizes, rows, wide):
    """End the script unless engine and library count alike."""
    for engine in ENGINES:
        table = Contingency.from_frame(opened(engine, rows), **ONE).to_frame()
        counted = [[*group, t, p, n] for group, t, p, n in table.to_numpy()]
        timing.agree(f"{engine}, cells", sorted(counted), sorted(bare_count(engine, rows)))
        columns = many(sizes)
        cells = Contingency.from_frame(opened(engine, wide), joint=False, **columns)
        sums = [cells.joint("group", side) for side in ("task", "task_pred")]
        got = np.column_stack([np.arange(2), cells.count("group"), *sums])
        timing.agree(f"{engine}, sums", got, sorted(bare_sums(engine, wide, columns)))


def alone(what, engine, path, tasks):
    """Return the most memory that this process holds during one audit, in MB."""
    timing.forget_peak()
    if what == "rows":
        audit_rows(engine, path)
    else:
        audit_many(engine, path, many(SHORT._replace(tasks=int(tasks))), "analytic")
    return timing.resident("VmHWM")


def memory(what, engine, path, sizes, limit=None):
    gigabytes = timing.apart(__file__, what, engine, path, sizes.tasks) / 1e3
    target, met = ("", None) if limit is None else (f"≤ {limit} GB", gigabytes <= limit)
    return timing.of_size("the same: peak of the process", f"{gigabytes:.2g} GB", target, met)


def measure(sizes, folder):
    rows, wide = write_rows(folder, sizes), write_many(folder, sizes)
    check(sizes, rows, wide)
    columns, results = many(sizes), []
    for engine in ENGINES:
        seconds = timing.take_turns(
            sizes.rounds,
            ours=partial(audit_rows, engine, rows),
            bare=partial(bare_count, engine, rows),
        )
        what = f"{engine}: audit of {sizes.rows:,} rows in {sizes.files} files, 4 int8 columns"
        beside = "its own group-by and count"
        results.append(timing.slower(what, beside, seconds["ours"], seconds["bare"], 1.3))
        results.append(memory("rows", engine, rows, sizes, 1.5))
    for engine in ENGINES:
        seconds = timing.take_turns(
            sizes.rounds,
            ours=partial(audit_many, engine, wide, columns),
            moments=partial(audit_many, engine, wide, columns, "analytic"),
            bare=partial(bare_sums, engine, wide, columns),
        )
        what = f"{engine}: audit of {sizes.many_rows:,} rows, 2 groups, {sizes.tasks} tasks"
        beside = f"its own sums of the {2 * sizes.tasks} columns by group"
        results.append(timing.slower(what, beside, seconds["ours"], seconds["bare"], 2))
        what += ", with an analytic interval"
        results.append(timing.slower(what, beside, seconds["moments"], seconds["bare"]))
        results.append(memory("many", engine, wide, sizes))
    return results


def days(sizes):
    """Time the sum of a year of days, of classes and of tasks."""
    rng = np.random.default_rng(3)

    def day(several):
        n = 2_000
        group = rng.choice(["a", "b", "c"], n)
        if several:
            labels = rng.random((n, 10)) < 0.2
            predictions = labels ^ (rng.random((n, 10)) < 0.05)
            columns = [f"{side}{i}" for side in "tp" for i in range(10)]
            frame = dict(zip(columns, np.hstack([labels, predictions]).T, strict=True))
            names = {"target": columns[:10], "prediction": columns[10:]}
            lazy = polars.LazyFrame({**frame, "group": group})
            return Contingency.from_frame(lazy, sensitive="group", joint=False, **names)
        target = rng.integers(0, 10, n)
        predicted = np.where(rng.random(n) < 0.8, target, rng.integers(0, 10, n))
        return Contingency.from_labels(target, predicted, sensitive_features=group)

    results = []
    for what, several in (("10 classes", False), ("10 separately summed tasks", True)):
        every = [day(several) for _ in range(sizes.days)]
        for how, add in (("sum(days)", sum), ("Contingency.sum(days)", Contingency.sum)):
            ms = 1e3 * timing.take_turns(sizes.rounds, add=partial(add, every))["add"]
            took = np.median(ms)
            spread = f"{took:.3g} ms ({min(ms):.3g} to {max(ms):.3g})"
            title = f"`{how}`: {sizes.days} days of 3 groups × {what} × predictions"
            results.append(timing.of_size(title, spread, "≤ 100 ms", took <= 100))
    return results


def measured(options):
    sizes = SHORT if options.short else FULL
    with tempfile.TemporaryDirectory() as folder:
        rows = [*measure(sizes, Path(folder)), *days(sizes)]
    machine = timing.surroundings(f"{os.cpu_count()} cores")
    packages = {"duckdb": duckdb, "polars": polars, "narwhals": narwhals, "pyarrow": pyarrow}
    table = timing.table(rows, short=options.short)
    return {"machine": machine, "table": table, "columns": 2 * sizes.tasks} | packages


if __name__ == "__main__":
    timing.main(__file__, __doc__, measured, alone)
