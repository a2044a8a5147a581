"""Long simulations and trainings in parts: what is done is kept in a file and not done again."""

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np


def add_arguments(parser):
    """Add the options that share a simulation out over several runs."""
    parser.add_argument("--keep", type=Path, help="file of trials that are done, and not repeated")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after them")


def markdown(header, rows):
    """Return a table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


class Trials:
    """Trials by what they are of, each with a seed of its own; `part` of them are run at once."""

    def __init__(self, keep=None, minutes=np.inf, part=20):
        self.keep, self.part = keep, part
        self.end = time.monotonic() + minutes * 60
        self.held = json.loads(keep.read_text()) if keep and keep.exists() else {}

    def run(self, function, name, *args, trials):
        """Return what `function` returns for `trials` seeds, which it gets in parts."""
        key = " ".join(map(str, name))
        seeds = np.random.SeedSequence([*key.encode()]).generate_state(trials)
        done = self.held.setdefault(key, [])
        while len(done) < trials:
            if time.monotonic() > self.end:
                raise SystemExit(f"The minutes are over; what is done is kept in {self.keep}.")
            part = [int(seed) for seed in seeds[len(done) :][: self.part]]
            done += np.asarray(function(*args, part)).tolist()
            if self.keep:
                self.keep.write_text(json.dumps(self.held))
        return np.array(done[:trials])


def complete(doc, file, columns, jobs, read, run, short):
    """Be the command of a script that keeps a row a job in a CSV file: add the rows that lack.

    A row is the job and what `run` returns for it. With --short `short` is called instead.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=np.inf, help="start no run after these")
    parser.add_argument("--short", action="store_true", help="one small run, not kept")
    options = parser.parse_args()
    if options.short:
        print(short())
        return
    if not file.exists():
        file.write_text(",".join(columns) + "\n", encoding="utf-8")
    start = time.monotonic()
    for job in jobs:
        if job in read() or time.monotonic() - start > 60 * options.minutes:
            continue
        row = (*job, *(f"{value:.6f}" for value in run(*job)))
        with file.open("a", encoding="utf-8", newline="") as opened:
            csv.writer(opened, lineterminator="\n").writerow(row)
        print(*row, f"{time.monotonic() - start:.0f} s", flush=True)
