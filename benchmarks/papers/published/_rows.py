"""A published number beside ours, and runs that are kept.

Runs that take long are rows of files in this folder, and are not done again.
"""

import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).resolve().parents[2]))

# For the scripts of this folder, which have it alone on their path.
from pages import command as command
from pages import filled as filled
from pages import is_short
from pages import markdown as markdown

FOLDER = Path(__file__).resolve().parent
ARROWS = {"T->A": "T→A", "A->T": "A→T"}


class Row(NamedTuple):
    """A number as printed, such as ``"0.061 ± 0.008"``, ``"> 60"`` or ``"≈ 0.06"``, and ours."""

    where: str
    what: str
    published: str
    ours: float
    why: str = ""

    def number(self):
        """Return the printed number, without its spread, “more than” and “about”."""
        return self.published.removeprefix("> ").removeprefix("≈ ").split()[0]

    def digits(self):
        return len(self.number().partition(".")[2])

    def difference(self):
        return self.ours - float(self.number())

    def rounded(self):
        """Return ours with one digit more than what is printed; counts have none.

        One more where rounding twice would hide a difference: 0.6949 is 0.69, 0.695 is 0.70.
        """
        digits = self.digits() and self.digits() + 1
        if digits and self._replace(ours=round(self.ours, digits)).agrees() != self.agrees():
            digits += 1
        return round(self.ours, digits) + 0.0, digits  # + 0.0: a negative zero is printed as such

    def agrees(self):
        """Tell whether ours is the printed number, once rounded as that one is, or is more."""
        if self.published.startswith(">"):
            return self.difference() > 0
        return abs(self.difference()) <= 0.5 * 10 ** -self.digits() + 1e-12

    def cells(self):
        """Return the cells of the table; the difference is that of the printed numbers."""
        ours, digits = self.rounded()
        less = ours - float(self.number())
        difference = "0" if self.agrees() else f"{less:+.{digits}f}"
        numbers = self.published, f"{ours:.{digits}f}", difference
        return (self.where, self.what, *(number.replace("-", "−") for number in numbers), self.why)


class Runs:
    """The runs of a file: a job is the first columns, and the others are what came out of it."""

    def __init__(self, name, job, results):
        self.file = FOLDER / f"{name}.csv"
        self.job, self.results = job, results

    def read(self):
        """Return the results of each job that is done."""
        if not self.file.exists():
            return {}
        rows = pd.read_csv(self.file).itertuples(index=False, name=None)
        return {row[: len(self.job)]: row[len(self.job) :] for row in rows}

    def command(self, doc, jobs, run, short):
        """Be the command of a script: add the rows that lack; with --short `short` is called."""
        if is_short(doc):
            print(short())
            return
        for job in jobs:
            if job in self.read():
                continue
            start = time.monotonic()
            row = (*job, *(f"{value:.6f}" for value in run(*job)))
            frame = pd.DataFrame([row], columns=[*self.job, *self.results])
            how = {"header": not self.file.exists(), "index": False, "lineterminator": "\n"}
            frame.to_csv(self.file, mode="a", **how)
            print(*row, f"{time.monotonic() - start:.0f} s", flush=True)


def mean_and_spread(values):
    mean = f"{np.mean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.2f}"


def number(value, sign="+"):
    """Return a number with three decimals and a minus sign."""
    return f"{value:{sign}.3f}".replace("-", "−")
