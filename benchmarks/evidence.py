"""Measure false verdicts, coverage, width and power of all intervals, and make their page.

    python benchmarks/evidence.py --write docs/evidence.md     # all parts, an hour on two cores
    python benchmarks/evidence.py --part runs --part pairs     # these parts again
    python benchmarks/evidence.py --missing --write docs/evidence.md  # rows that lack
    python benchmarks/evidence.py --short                      # seconds: only checks that it runs

Each part keeps its rows in benchmarks/evidence/<part>.csv, and the page is made of these files, so
that parts can be measured at different times. Worlds are in evidence_worlds.py, what is drawn from
them in evidence_trials.py, and the rows in evidence_rows.py and the files that it imports.
"""

import argparse
import csv
import datetime
import math
import os
import sys
import time
import warnings
from pathlib import Path

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from evidence_page import Shares, page_of, tables_of
from evidence_rows import PARTS
from joblib import Parallel, delayed

FOLDER = Path(__file__).resolve().parent / "evidence"
TABLES = FOLDER.with_name("results") / "evidence.md"
NORMAL = 1.959964
FIELDS = (
    "question",
    "setting",
    "right",
    "data_sets",
    "measured",
    "false",
    "covered",
    "found",
    "tested",
    "agreed",
    "width",
    "width_error",
    "estimate",
    "true",
    "spread",
    "seconds",
    "date",
)


def drawn(trial, seeds):
    """Return the outcome of a data set a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows and uncertain signs are what is studied
        return [tuple(trial(np.random.default_rng(seed))) for seed in seeds]


def measured(row, trials, parallel, n_jobs):
    """Return the summary of a row over as many data sets."""
    start, n = time.monotonic(), min(trials, row.most)
    root = [*f"{row.question}: {row.setting}".encode()]
    seeds = [[*root, i] for i in range(n)]
    size = max(1, math.ceil(n / (8 * n_jobs)))
    batches = parallel(delayed(drawn)(row.trial, seeds[i : i + size]) for i in range(0, n, size))
    outcomes = np.array([outcome for batch in batches for outcome in batch], dtype=float)
    seconds = round((time.monotonic() - start) * n_jobs, 1)
    return {
        "question": row.question,
        "setting": row.setting,
        "right": row.right,
        "data_sets": n,
        **summary(outcomes, row.right),
        "seconds": seconds,
        "date": datetime.date.today().isoformat(),
    }


def summary(outcomes, right):
    """Return counts of verdicts and of intervals that contain the true value, and widths."""
    estimate, low, high, true, p_value, verdict, inside = outcomes.T
    # Rounding must not count as a miss where every number is 0.
    covered = np.where(np.isnan(inside), (low <= true + 1e-9) & (true <= high + 1e-9), inside)
    known = ~np.isnan(low) & ~np.isnan(true)
    judged, tested = known | ~np.isnan(inside), known & ~np.isnan(p_value)
    agreed = (p_value < 0.05) == ((low > 0) | (high < 0))
    width, error, spread = widths((high - low)[known] / 2, (estimate - true)[known])
    return {
        "measured": int(judged.sum()),
        "false": int(wrong(verdict, right).sum()),
        "covered": int(covered[judged].sum()),
        "found": int(rightly(verdict, right).sum()) if right else "",
        "tested": int(tested.sum()),
        "agreed": int(agreed[tested].sum()),
        "width": width,
        "width_error": error,
        "estimate": float(np.nanmean(estimate)) if known.any() else math.nan,
        "true": float(np.nanmean(true)) if known.any() else math.nan,
        "spread": spread,
    }


def wrong(verdict, right):
    """Return which verdicts are false: any effect if there is none, else the opposite one."""
    if not right:
        return np.nan_to_num(verdict) != 0
    return verdict < 0 if right in ("amplifies", "reveals more") else verdict > 0


def rightly(verdict, right):
    """Return which verdicts are the right one."""
    if right == "reverses":
        return verdict == -2
    return verdict > 0 if right in ("amplifies", "reveals more") else verdict < 0


def widths(reach, error):
    """Return mean half-width by what is needed, its standard error, and the errors' spread."""
    n = len(error)
    spread = float(np.std(error, ddof=1)) if n > 1 else math.nan
    if not spread > 0:
        return math.nan, math.nan, spread
    ratio = reach.mean() / (NORMAL * spread)
    tails = np.mean((error - error.mean()) ** 4) / spread**4
    relative = (max(tails - 1, 0) / (4 * n) + reach.var() / (n * reach.mean() ** 2)) ** 0.5
    return float(ratio), float(ratio * relative), spread


def read(file):
    """Return the rows of a file by question and setting."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as opened:
        return {(row["question"], row["setting"]): row for row in csv.DictReader(opened)}


def keep(file, rows, order):
    """Write rows in the order of the part; what the part no longer has is left out."""
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in order if key in rows)


def rounded(row):
    """Return a row as it is kept."""
    return {k: f"{v:.5g}" if isinstance(v, float) else str(v) for k, v in row.items()}


def run(part, options, parallel):
    """Measure the rows of a part, keep each as soon as it is measured, and return all rows."""
    file, rows = options.folder / f"{part}.csv", list(PARTS[part]())
    done, order = {} if options.short else read(file), [(row.question, row.setting) for row in rows]
    assert len(set(order)) == len(order)
    for row, key in zip(rows, order, strict=True):
        unwanted = (options.failed and not row.failed) or (options.missing and key in done)
        if unwanted or row.trial is None:  # its data are not at hand
            continue
        if time.monotonic() > options.end:
            raise SystemExit("The minutes are over: go on with --missing.")
        done[key] = rounded(measured(row, options.trials, parallel, options.n_jobs))
        print(" | ".join(Shares(done[key]).line()), file=sys.stderr, flush=True)
        if not options.short:
            keep(file, done, order)
    return [done[key] for key in order if key in done]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=list(PARTS), help="default: all")
    parser.add_argument("--trials", type=int, default=400, help="data sets a row, at most")
    parser.add_argument("--missing", action="store_true", help="only rows that are not kept yet")
    parser.add_argument("--failed", action="store_true", help="only rows that failed before")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no row after these")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where rows are kept")
    parser.add_argument("--short", action="store_true", help="two data sets a row, nothing kept")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--tables", type=Path, default=TABLES, help="the file of its tables")
    options = parser.parse_args()
    options.end = time.monotonic() + 60 * options.minutes
    if options.short:
        options.trials = 2
        if options.write:
            parser.error("--short measures nothing worth writing down.")
    return options


def main():
    options, rows = arguments(), []
    with Parallel(n_jobs=options.n_jobs) as parallel:
        for part in PARTS:
            if options.part and part not in options.part:
                rows += [] if options.short else read(options.folder / f"{part}.csv").values()
            else:
                rows += run(part, options, parallel)
    if options.short:
        print(page_of(rows), tables_of(rows), sep="\n")
    if options.write:
        options.write.write_text(page_of(rows), encoding="utf-8")
        options.tables.write_text(tables_of(rows), encoding="utf-8")
        keep(options.write.with_name("evidence-table.csv"), dict(enumerate(rows)), range(len(rows)))


if __name__ == "__main__":
    main()
