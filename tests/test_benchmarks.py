"""The benchmarks run, and what they time computes the same numbers. No timing is judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "cooccurrence.py"

MEASURED = [
    ("A→T audit", "NumPy-mask loop over pairs"),
    ("A→T fit and audit", "NumPy-mask loop over pairs"),
    ("A→T audit", "plain Python loop over pairs and rows"),
    ("A→T audit of float64", "matrix products in float64"),
    ("A→T audit of int64", "matrix products in float64"),
    ("A→T audit of bool", "matrix products in float64"),
    ("Multi→ fit and audit", "NumPy-mask loop over sets"),
    ("Multi→ fit and audit", "plain Python loop over sets and rows"),
    ("one-label audit", "`np.bincount` of int8 codes"),
    ("the same: resident at most", ""),
    ("`import skbiasamp`", "`import sklearn.metrics, pandas`"),
    ("`from skbiasamp import DirectionalAuditor`", "`import sklearn.metrics, pandas`"),
]


def test_the_short_benchmark_runs_and_shows_every_row():
    command = [sys.executable, "-X", "utf8", SCRIPT, "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert header[:2] == ["measured", "compared with"]
    assert len(rows) == len(MEASURED)
    for row, (measured, beside) in zip(rows, MEASURED, strict=True):
        assert len(row) == len(header)
        assert row[0].startswith(measured)
        assert row[1].startswith(beside)
        assert row[-1] == "not judged"


def test_the_short_benchmark_of_the_wrapper_runs():
    command = [sys.executable, "-X", "utf8", SCRIPT.with_name("sklearn_overhead.py"), "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.endswith("| not judged |")]
    assert len(rows) == 10


def test_the_short_run_of_watches_agrees_with_the_package():
    """It raises unless `at_once` finds what `audit_over` does."""
    command = [sys.executable, "-X", "utf8", SCRIPT.with_name("watching.py"), "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    tables = [part.split("|---|")[1:] for part in done.stdout.split("\n\n") if "|---|" in part]
    assert [part[-1].count("\n| ") for part in tables] == [5, 9, 2]
    assert "nan" not in done.stdout


def test_trials_that_are_done_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    from parts import Trials

    seen = []

    def drawn(factor, seeds):
        seen.extend(seeds)
        return [factor * one for one in seeds]

    keep = tmp_path / "trials.json"
    first = Trials(keep, part=3).run(drawn, ("rows", 5), 2, trials=4)
    again = Trials(keep, part=3).run(drawn, ("rows", 5), 2, trials=7)
    assert len(seen) == len(set(seen)) == 7
    assert list(again) == [2 * one for one in seen]
    assert list(first) == list(again[:4])
    with pytest.raises(SystemExit, match="minutes are over"):
        Trials(keep, minutes=0).run(drawn, ("rows", 5), 2, trials=8)
