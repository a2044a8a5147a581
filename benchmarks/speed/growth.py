"""Measure how time and memory grow with rows, groups, tasks and sets of tasks.

The curves take about ten minutes and 0.2 GB of disk, and a few seconds with --short. Every point is
measured in a process of its own, so that its peak of memory is its own.
"""

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import timing

# isort: split
import numpy as np
from engines import SHORT, audit_rows, write_rows

from skbiasamp import DirectionalAuditor, audit
from skbiasamp._utils.formatting import SERIES
from skbiasamp.metrics import multi_attribute_amplification

ROOT = Path(__file__).resolve().parents[2]
ROWS_OF_GROUPS = 200_000
ROWS_OF_TASKS = 5_000


class Series(NamedTuple):
    title: str
    full: list[int]
    short: list[int]
    tail: int  # of so many of the last points the exponent is fitted
    note: str


MILLIONS, FILES = [10**k for k in range(4, 8)], [10**k for k in range(4, 9)]
UNIQUE, SETS = [10**4, 10**5, 10**6], [127, 1023, 8191, 131_071, 1_048_575]
CURVES = {
    "memory": Series("rows in memory", MILLIONS, [10**3, 10**4], 2, "one label, int8"),
    "duckdb": Series("rows, DuckDB", FILES, [10**4], 2, "Parquet files"),
    "polars": Series("rows, lazy polars", FILES, [10**4], 2, "the same"),
    "groups": Series("groups", [2, 5, 10, 20, 50], [5], 3, f"{ROWS_OF_GROUPS:,} rows, one label"),
    "tasks": Series("tasks", [1, 10, 100, 300, 1000], [10], 3, f"{ROWS_OF_TASKS:,} rows, 2 groups"),
    "sets": Series("sets of tasks", SETS, [127], 3, "twice as many rows as sets, without interval"),
    "scores": Series("probabilities, all metrics", UNIQUE, [10**3], 2, "audit()"),
    "weights": Series("fractional weights, all metrics", UNIQUE, [10**3], 2, "audit()"),
}
ROWS = ("memory", "duckdb", "polars")
ENGINES = {"duckdb": "DuckDB", "polars": "lazy polars"}

# Rows that cannot be tallied: seconds and MB that the largest size may take.
APART = ("scores", "weights")
MOST_SECONDS, MOST_MEMORY = 10, 2_000


def work(name, size, path):
    """Return what is measured, ready to be called."""
    if name in ENGINES:
        return lambda: audit_rows(ENGINES[name], path)
    rng = np.random.default_rng(0)
    if name in APART:
        return apart(name, rng, size)
    if name == "sets":
        n_tasks = (size + 1).bit_length() - 1
        labels = rng.random((2 * size, n_tasks)) < 0.5
        predictions = labels ^ (rng.random(labels.shape) < 0.1)
        groups = rng.integers(0, 2, 2 * size)
        return lambda: multi_attribute_amplification(labels, predictions, sensitive_features=groups)
    if name == "groups":
        groups = rng.integers(0, size, ROWS_OF_GROUPS)
        labels = rng.integers(0, 2, ROWS_OF_GROUPS)
        predictions = labels ^ (rng.random(ROWS_OF_GROUPS) < 0.1)
    elif name == "tasks":
        rates = rng.uniform(0.05, 0.4, size)
        groups, *sides = timing.simulate(rng, ROWS_OF_TASKS, rates)
        labels, predictions = (side.astype(bool) for side in sides)
    else:
        rows = timing.simulate(rng, size, np.array([0.3]))
        groups, labels, predictions = (x.ravel().astype(np.int8) for x in rows)
    auditor = DirectionalAuditor(reference="test")
    return lambda: auditor.audit(labels, predictions, sensitive_features=groups)


def apart(name, rng, n):
    """Return an audit of rows that are all different."""
    groups = rng.integers(0, 2, n)
    labels = (rng.random(n) < 0.3 + 0.1 * groups).astype(int)
    how = {"sensitive_features": groups, "random_state": 0}
    predictions = np.clip(0.2 + 0.5 * labels + rng.normal(0, 0.1, n), 0.001, 0.999)
    if name == "weights":
        predictions = (predictions > 0.5).astype(int)
        how["sample_weight"] = rng.gamma(4, 0.25, n)
    return lambda: audit(labels, predictions, **how)


def alone(name, size, path, most=15):
    """Return seconds of several calls, and how far memory rose above what stood before, in MB."""
    warnings.simplefilter("ignore")  # of few rows, in the smallest
    call = work(name, int(size), path)
    timing.forget_peak()
    before = timing.resident()
    seconds = []
    while not seconds or (len(seconds) < most and sum(seconds) < 10):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    peak = timing.resident("VmHWM")
    return {"seconds": seconds, "peak": peak, "risen": max(peak - before, 0.0)}


def measure(folder, *, short):
    curves = {}
    for name, series in CURVES.items():
        curves[name] = []
        for size in series.short if short else series.full:
            path = parts(folder, size) if name in ENGINES else ""
            if short and name != "memory":
                # Nothing is judged: one process more is enough to see that it works.
                cost = alone(name, size, path, most=1)
            else:
                cost = timing.apart(__file__, name, size, path)
            curves[name].append((size, cost))
    return curves


def parts(folder, n_rows):
    """Return files of so many rows, which are written once."""
    home = folder / str(n_rows)
    if not home.exists():
        home.mkdir()
        return write_rows(home, SHORT._replace(rows=n_rows, files=max(1, n_rows // 1_000_000)))
    return home / "part-*.parquet"


def exponent(points, tail, of):
    """Return the slope of the last points, both axes in logarithms."""
    sizes, values = zip(*((size, of(cost)) for size, cost in points[-tail:]), strict=True)
    if len(sizes) < 2:
        return float("nan")
    if tail < len(points):
        # What every call costs, however small the size.
        values = np.array(values) - of(points[0][1])
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def median(cost):
    return float(np.median(cost["seconds"]))


def shown(size):
    power = round(np.log10(size))
    return f"1e{power}" if size == 10**power and power > 3 else f"{size:,}"


def rows_of(curves):
    rows = []
    for name, points in curves.items():
        for size, cost in points:
            low, middle, high = map(timing.duration, np.quantile(cost["seconds"], [0, 0.5, 1]))
            memory = f"{cost['risen']:.0f}", f"{cost['peak']:.0f}"
            rows.append([CURVES[name].title, shown(size), f"{middle} ({low} to {high})", *memory])
    return rows


def judged(curves):
    """Return the exponents, and which are as they should be."""
    rows = []
    for name, points in curves.items():
        series = CURVES[name]
        slope = exponent(points, series.tail, median)
        target, met = "none", ""
        if name in ROWS:
            target, met = "0.9 to 1.1", "yes" if 0.9 <= slope <= 1.1 else "no"
        elif name in APART:
            largest = points[-1][1]
            within = median(largest) <= MOST_SECONDS and largest["peak"] <= MOST_MEMORY
            target = f"{MOST_SECONDS} s and {MOST_MEMORY:,} MB for {shown(points[-1][0])} rows"
            met = "yes" if within else "no"
        last = min(series.tail, len(points))
        fitted = f"{slope:.2f}, of the last {last}" if last > 1 else "of one size none"
        if name in APART:  # blocks begin between the sizes
            fitted = ""
        rows.append([f"time over {series.title}", series.note, fitted, target, met])
    for name in ENGINES:
        points = curves[name]
        rise = points[-1][1]["peak"] / points[max(len(points) - 2, 0)][1]["peak"]
        met = "yes" if rise <= 1.25 else "no"
        what = f"peak of memory, {CURVES[name].title}"
        rows.append([what, "all rows / a tenth of them", f"× {rise:.2f}", "flat (≤ 1.25)", met])
    return rows


def draw(curves):
    from matplotlib import ticker
    from sheet import NOTE, TEXT, sheet

    figure, axes = sheet(8.4, rows=4)
    panels = [("seconds", names) for names in (ROWS, ("tasks", "groups"), ("sets",))]
    panels.append(("peak of the process, MB", ROWS))
    for axis, (title, names) in zip(axes, panels, strict=True):
        of_memory = "MB" in title
        for name, color in zip(names, SERIES, strict=False):
            sizes, costs = zip(*curves[name], strict=True)
            values = [cost["peak"] if of_memory else median(cost) for cost in costs]
            label = CURVES[name].title.removeprefix("rows").strip(", ") or "rows"
            axis.plot(sizes, values, "o-", color=color, label=label, markersize=4)
        axis.set(xscale="log", xlabel="rows" if names == ROWS else "number of them")
        axis.set_title(title, fontsize=TEXT, loc="left")
        if of_memory:
            axis.set_ylim(bottom=0)
        else:
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_minor_formatter(ticker.NullFormatter())
        axis.legend(fontsize=NOTE, frameon=False)
        axis.grid(alpha=0.25)
    return figure


def measured(options):
    with tempfile.TemporaryDirectory() as folder:
        curves = measure(Path(folder), short=options.short)
    exponents = judged(curves)
    if options.short:
        exponents = [[*row[:-1], "not judged"] for row in exponents]
    if options.write:
        sys.path.append(str(ROOT / "docs" / "_extensions"))
        from sheet import write

        write(lambda: draw(curves), ROOT / "docs" / "images" / "growth.svg")
    header = ["curve", "size", "time (range)", "rise, MB", "peak, MB"]
    columns = ["measured", "data", "exponent", "target", "met"]
    return {
        "machine": timing.surroundings(f"{os.cpu_count()} cores"),
        "exponents": timing.markdown(columns, exponents),
        "points": timing.markdown(header, rows_of(curves)),
    }


if __name__ == "__main__":
    timing.main(__file__, __doc__, measured, alone)
