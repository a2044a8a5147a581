"""Measure how time and memory grow with rows, groups, tasks and sets of tasks.

    python benchmarks/growth.py                    # the curves, about ten minutes, 0.2 GB of disk
    python benchmarks/growth.py --short            # seconds: only checks that it runs
    python benchmarks/growth.py --write benchmarks/results/growth.md   # and docs/images/growth.svg
    python benchmarks/growth.py --draw benchmarks/results/growth.md    # only the picture

Every point is measured in a process of its own, so that its peak of memory is its own.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

# First: it limits the threads of NumPy.
from cooccurrence import simulate, surroundings
from engines import SHORT, audit_rows, forget_peak, resident, write_rows

# isort: split
import numpy as np
from parts import markdown

from skbiasamp import (
    DirectionalAuditor,
    audit,
)
from skbiasamp._utils.formatting import SERIES
from skbiasamp.metrics import multi_attribute_amplification

ROOT = Path(__file__).resolve().parents[1]
PICTURE = "docs/images/growth.svg"
ROWS_OF_GROUPS = 200_000
ROWS_OF_TASKS = 5_000


class Series(NamedTuple):
    title: str
    unit: str
    full: list[int]
    short: list[int]
    tail: int  # of so many of the last points the exponent is fitted
    note: str


MEMORY = "rows in memory"
CURVES = {
    "memory": Series(
        MEMORY, "rows", [10**k for k in range(4, 8)], [10**3, 10**4], 2, "one label, int8"
    ),
    "duckdb": Series(
        "rows, DuckDB", "rows", [10**k for k in range(4, 9)], [10**4], 2, "Parquet files"
    ),
    "polars": Series(
        "rows, lazy polars", "rows", [10**k for k in range(4, 9)], [10**4], 2, "the same"
    ),
    "groups": Series(
        "groups", "groups", [2, 5, 10, 20, 50], [5], 3, f"{ROWS_OF_GROUPS:,} rows, one label"
    ),
    "tasks": Series(
        "tasks", "tasks", [1, 10, 100, 300, 1000], [10], 3, f"{ROWS_OF_TASKS:,} rows, 2 groups"
    ),
    "sets": Series(
        "sets of tasks",
        "sets",
        [127, 1023, 8191, 131_071, 1_048_575],
        [127],
        3,
        "twice as many rows as sets, without interval",
    ),
    "scores": Series(
        "probabilities, all metrics", "rows", [10**4, 10**5, 10**6], [10**3], 2, "audit()"
    ),
    "weights": Series(
        "fractional weights, all metrics", "rows", [10**4, 10**5, 10**6], [10**3], 2, "audit()"
    ),
}

# Rows that cannot be tallied: seconds and MB that the largest size may take.
APART = ("scores", "weights")
MOST_SECONDS, MOST_MEMORY = 10, 2_000

DESCRIBED = """\
Four panels, axes in powers of ten. Seconds over rows are flat, then a straight line, in
memory, with DuckDB and with polars. Seconds over groups, tasks and sets of tasks rise to straight
lines. The peak of memory over rows is flat."""


# --------------------------------------------------------------------------- one point


def work(name, size, path):
    """Return what is measured, ready to be called."""
    rng = np.random.default_rng(0)
    auditor = DirectionalAuditor(reference="test")
    if name in ("duckdb", "polars"):
        engine = {"duckdb": "DuckDB", "polars": "lazy polars"}[name]
        return lambda: audit_rows(engine, path)
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
        groups, labels, predictions = simulate(rng, ROWS_OF_TASKS, rng.uniform(0.05, 0.4, size))
        labels, predictions = labels.astype(bool), predictions.astype(bool)
    else:
        groups, labels, predictions = (
            x.ravel().astype(np.int8) for x in simulate(rng, size, np.array([0.3]))
        )
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


def point(name, size, path, most=15):
    """Return seconds of several calls, and how far memory rose above what stood before, in MB."""
    import warnings

    warnings.simplefilter("ignore")  # of few rows, in the smallest
    call = work(name, size, path)
    forget_peak()
    before = resident()
    seconds = []
    while not seconds or (len(seconds) < most and sum(seconds) < 10):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    peak = resident("VmHWM")
    return {"seconds": seconds, "peak": peak, "risen": max(peak - before, 0.0)}


# --------------------------------------------------------------------------- all points


def measure(folder, *, short):
    curves = {}
    for name, series in CURVES.items():
        curves[name] = []
        for size in series.short if short else series.full:
            path = ""
            if name in ("duckdb", "polars"):
                path = parts(folder, size)
            if short and name != "memory":
                # Nothing is judged: one process more is enough to see that it works.
                curves[name].append((size, point(name, size, path, most=1)))
                continue
            command = [sys.executable, __file__, "--point", name, str(size), str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            curves[name].append((size, json.loads(done.stdout)))
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


# --------------------------------------------------------------------------- the page


def shown(size):
    power = round(np.log10(size))
    return f"1e{power}" if size == 10**power and power > 3 else f"{size:,}"


def duration(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def rows_of(curves):
    rows = []
    for name, points in curves.items():
        series = CURVES[name]
        for size, cost in points:
            low, high = min(cost["seconds"]), max(cost["seconds"])
            spread = f"{duration(median(cost))} ({duration(low)} to {duration(high)})"
            rows.append(
                [series.title, shown(size), spread, f"{cost['risen']:.0f}", f"{cost['peak']:.0f}"]
            )
    return rows


def judged(curves):
    """Return the exponents, and which are as they should be."""
    rows = []
    for name, points in curves.items():
        series = CURVES[name]
        slope = exponent(points, series.tail, median)
        target, met = "none", ""
        if name in ("memory", "duckdb", "polars"):
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
    for name in ("duckdb", "polars"):
        points = curves[name]
        rise = points[-1][1]["peak"] / points[max(len(points) - 2, 0)][1]["peak"]
        met = "yes" if rise <= 1.25 else "no"
        what = f"peak of memory, {CURVES[name].title}"
        rows.append([what, "all rows / a tenth of them", f"× {rise:.2f}", "flat (≤ 1.25)", met])
    return rows


def curves_of(text):
    """Return the curves of a page that `page` made, with the medians of its times."""
    curves = {name: [] for name in CURVES}
    names = {series.title: name for name, series in CURVES.items()}
    row = r"^\| (.+?) \| ([\de,]+) \| ([\d.]+) (m?s) \(.*?\) \| \d+ \| (\d+) \|$"
    for title, size, number, unit, peak in re.findall(row, text, re.MULTILINE):
        seconds = float(number) / (1000 if unit == "ms" else 1)
        cost = {"seconds": [seconds], "peak": float(peak)}
        curves[names[title]].append((int(float(size.replace(",", ""))), cost))
    return curves


def draw(curves):
    from matplotlib import ticker
    from sheet import NOTE, TEXT, sheet

    figure, axes = sheet(8.4, rows=4)
    rows = ("memory", "duckdb", "polars")
    panels = [
        ("seconds", rows),
        ("seconds", ("tasks", "groups")),
        ("seconds", ("sets",)),
    ]
    panels += [("peak of the process, MB", rows)]
    for axis, (title, names) in zip(axes, panels, strict=True):
        for name, color in zip(names, SERIES, strict=False):
            sizes = [size for size, _ in curves[name]]
            costs = [cost["peak"] if "MB" in title else median(cost) for _, cost in curves[name]]
            label = CURVES[name].title.removeprefix("rows").strip(", ") or "rows"
            axis.plot(sizes, costs, "o-", color=color, label=label, markersize=4)
        axis.set(xscale="log", xlabel="rows" if names[0] in rows else "number of them")
        axis.set_title(title, fontsize=TEXT, loc="left")
        if "MB" in title:
            axis.set_ylim(bottom=0)
        else:
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_minor_formatter(ticker.NullFormatter())
        axis.legend(fontsize=NOTE, frameon=False)
        axis.grid(alpha=0.25)
    return figure


def write_picture(curves):
    sys.path.append(str(ROOT / "docs" / "_extensions"))
    from sheet import write

    write(lambda: draw(curves), ROOT / PICTURE)


def page(curves, picture, *, short):
    exponents = judged(curves)
    if short:
        exponents = [[*row[:-1], "not judged"] for row in exponents]
    exponents = markdown(["measured", "data", "exponent", "target", "met"], exponents)
    points = markdown(["curve", "size", "time (range)", "rise, MB", "peak, MB"], rows_of(curves))
    image = f"\n![{DESCRIBED}]({picture})\n" if picture else ""
    return f"""# Benchmark: time and memory by data size

{surroundings().replace("one thread", f"{os.cpu_count()} cores")}.
{image}
{exponents}

An exponent of 1 means that time doubles if the size doubles. It is fitted to the largest sizes,
after subtracting the time of the smallest size, which every call needs. Times are medians of
processor time over all threads, of up to fifteen calls in a separate process. The rise in memory is
the peak during the calls minus the memory before the first call, which includes the labels.

- Rows: audits with intervals and all tests, of labels in memory and of Parquet files.
- Probabilities and fractional weights cannot be tallied. They are audited with all metrics of a
  report, leakage included.
- Sets of tasks: all sets of 7, 10, 13, 17 and 20 tasks; each set occurs in some row.

{points}

`python benchmarks/growth.py --write benchmarks/results/growth.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="small sizes: a check")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    parser.add_argument("--draw", metavar="FILE", type=Path, help="draw a written page again")
    parser.add_argument("--folder", metavar="PATH", help="where the temporary folder is made")
    parser.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        name, size, path = arguments.point
        print(json.dumps(point(name, int(size), path)))
        return
    if arguments.draw:
        write_picture(curves_of(arguments.draw.read_text("utf-8")))
        return
    if arguments.short and arguments.write:
        parser.error("--short measures nothing worth writing down.")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        curves = measure(Path(folder), short=arguments.short)
    picture = None
    if arguments.write:
        picture = f"../../{PICTURE}"
        write_picture(curves)
    text = page(curves, picture, short=arguments.short)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
