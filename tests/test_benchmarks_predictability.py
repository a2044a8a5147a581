"""The benchmarks of leakage and DPA run and show their tables. Nothing is judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"

AUDITS = {
    "DPA A→T: 10,000 rows, one int8 label": "exact",
    "leakage: 10,000 rows, one int8 label": "exact",
    "DPA A→T: 500 rows, 8 labels": "exact",
    "leakage: 500 rows, 8 logits": "LogisticRegression",
}


def tables_of(script):
    """Return the rows of each table of a script's short run, by heading."""
    command = [sys.executable, "-X", "utf8", FOLDER / script, "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    found = {}
    for section in done.stdout.split("\n## ")[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        for row in rows:
            assert len(row) == len(header)
            assert "nan" not in " ".join(row)
        found["## " + section.partition("\n")[0]] = rows
    return found


@pytest.mark.torch
def test_the_short_run_of_speed_shows_every_audit():
    pytest.importorskip("torch")
    found = tables_of("predictability.py")
    audits, reports = found.values()
    assert {row[0]: row[1] for row in audits} == AUDITS
    sizes = [row[0].removeprefix("`skbiasamp.audit`: ") for row in reports]
    assert sizes == ["500 rows, one label", "300 rows, 8 labels"]
    assert {row[-1] for row in reports} == {"-"}  # a short run judges nothing


def test_the_short_run_says_when_equally_accurate_labels_exist():
    """A model that is worse than pure noise has none; of one label all others are equal."""
    command = [sys.executable, "-X", "utf8", FOLDER / "equalisation.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.split("\n\n**Exact**")[0].splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert len(rows) == 2 * 8 + 1
    for labels, score, model, *_, equal in rows:
        worse = model in ("60 % errors", "75 % errors") or (model, score) == (
            "never positive",
            "F1",
        )
        several = labels == "4 labels, leakage"
        assert (equal == "impossible") == worse
        assert (equal == "on average") == several
