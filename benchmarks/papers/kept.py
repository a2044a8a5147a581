"""Runs that take long: each is a row of a file in published/, and is not done again."""

import argparse
import ast
import csv
import time
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "published"


def parsed(cell):
    """Return the number or truth value that a cell has, or its text."""
    try:
        return ast.literal_eval(cell)
    except (SyntaxError, ValueError):
        return cell


class Runs:
    """The runs of a file: a job is the first columns, and the others are what came out of it."""

    def __init__(self, name, job, results):
        self.file = FOLDER / f"{name}.csv"
        self.job, self.results = job, results

    def read(self):
        """Return the results of each job that is done."""
        if not self.file.exists():
            return {}
        with self.file.open(encoding="utf-8", newline="") as opened:
            rows = [tuple(map(parsed, row)) for row in csv.reader(opened)][1:]
        return {row[: len(self.job)]: row[len(self.job) :] for row in rows}

    def command(self, doc, jobs, run, short):
        """Be the command of a script: add the rows that lack; with --short `short` is called."""
        parser = argparse.ArgumentParser(description=doc.splitlines()[0])
        parser.add_argument(
            "--minutes", type=float, default=np.inf, help="start no run after these"
        )
        parser.add_argument("--short", action="store_true", help="one small run, not kept")
        options = parser.parse_args()
        if options.short:
            print(short())
            return
        if not self.file.exists():
            self.file.write_text(",".join((*self.job, *self.results)) + "\n", encoding="utf-8")
        start = time.monotonic()
        for job in jobs:
            if job in self.read() or time.monotonic() - start > 60 * options.minutes:
                continue
            row = (*job, *(f"{value:.6f}" for value in run(*job)))
            with self.file.open("a", encoding="utf-8", newline="") as opened:
                csv.writer(opened, lineterminator="\n").writerow(row)
            print(*row, f"{time.monotonic() - start:.0f} s", flush=True)


def mean_and_spread(values):
    mean = f"{np.mean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.2f}"


def number(value, sign="+"):
    """Return a number with three decimals and a minus sign."""
    return f"{value:{sign}.3f}".replace("-", "−")
