"""What benchmarks of time and memory share: turns of contestants, rows of the tables, the machine.

Import it first: it limits the threads of the libraries that read this when NumPy is imported.
"""

import contextlib
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import scipy
import sklearn

# For the scripts of this folder, which have it alone on their path.
from pages import command as command
from pages import filled as filled
from pages import markdown as markdown

import skbiasamp

TOLERANCE = 1e-12
HEADER = ["measured", "compared with", "skbiasamp", "other", "ratio (quartiles)", "target", "met"]


class Row(NamedTuple):
    what: str
    beside: str
    our_time: str
    its_time: str
    ratio: str
    target: str
    met: bool | None


def simulate(rng, rows, rates, tilt=0.2, errors=0.1):
    """Return groups, labels and predictions; group 1 has every task more often."""
    groups = rng.integers(0, 2, rows)
    labels = rng.random((rows, len(rates))) < rates + tilt * rates * groups[:, None]
    predictions = labels ^ (rng.random(labels.shape) < errors)
    return groups, labels.astype(np.int64), predictions.astype(np.int64)


def agree(what, got, expected):
    """End the script unless two computations of the same numbers agree."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if got.shape != expected.shape or not np.allclose(got, expected, rtol=0, atol=TOLERANCE):
        raise SystemExit(f"{what}: the library and the computation beside it disagree.")


def take_turns(rounds, **contestants):
    """Return the seconds of every contestant's calls, one of each a round.

    A busy moment of the machine hits them alike. Seconds are of the processor: all runs in one
    thread, and other programs' turns do not count.
    """
    seconds = {name: [] for name in contestants}
    for turn in range(-1, rounds):
        for name, call in contestants.items():
            start = time.process_time()
            call()
            if turn >= 0:  # the first round warms up
                seconds[name].append(time.process_time() - start)
    return {name: np.array(values) for name, values in seconds.items()}


def faster(what, beside, ours, theirs, at_least=None):
    """Return the row of a ratio that is how many times faster the library is."""
    return compared(what, beside, ours, theirs, theirs / ours, "≥", at_least)


def slower(what, beside, ours, theirs, at_most=None):
    """Return the row of a ratio that is how many times slower the library is."""
    return compared(what, beside, ours, theirs, ours / theirs, "≤", at_most)


def compared(what, beside, ours, theirs, ratio, sign, limit):
    low, median, high = np.quantile(ratio, [0.25, 0.5, 0.75])
    spread = f"{median:.3g} ({low:.3g} to {high:.3g})"
    met, target = None, "none"
    if limit is not None:
        met = bool(median >= limit if sign == "≥" else median <= limit)
        target = f"{sign} {limit}"
    times = duration(np.median(ours)), duration(np.median(theirs))
    return Row(what, beside, *times, spread, target, met)


def of_size(what, shown, target="", met=None):
    """Return the row of a size or time that is compared with nothing but a target."""
    return Row(what, "", shown, "", "", target, met)


def duration(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(rows, *, short):
    """Return the table of rows; a short run judges none."""
    met = {None: "", True: "yes", False: "no"}
    return markdown(HEADER, [[*row[:-1], "not judged" if short else met[row.met]] for row in rows])


def processor():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def surroundings(cores="one thread"):
    """Return the day, the machine and the versions."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    packages = {"skbiasamp": skbiasamp, "NumPy": np, "SciPy": scipy, "pandas": pd}
    packages["scikit-learn"] = sklearn
    versions = ", ".join(f"{name} {module.__version__}" for name, module in packages.items())
    return (
        f"{datetime.date.today()}; {processor()}, {cores}; {platform.system()}; "
        f"Python {platform.python_version()}, {versions}; BLAS {blas}"
    )


def resident(field="VmRSS"):
    """Return the resident memory of this process, or its peak (VmHWM), in MB (on Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1e3


def forget_peak():
    """Forget the peak of memory so far: a process starts with that of the one that made it."""
    Path("/proc/self/clear_refs").write_text("5")


def apart(script, *args):
    """Return what the `alone` of a script returns in a process with a peak of memory of its own."""
    call = [sys.executable, script, "--alone", *map(str, args)]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(script, doc, measure, alone):
    """Be the command of a script, or of one of its processes."""
    if sys.argv[1:2] == ["--alone"]:
        print(json.dumps(alone(*sys.argv[2:])))
    else:
        command(script, doc, measure)
