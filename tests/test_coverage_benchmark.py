"""The coverage benchmarks run and show their tables. Three data sets judge no coverage."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPT = BENCHMARKS / "coverage.py"

# Rows of each table, all for n = 500: five scenarios with five values, four with four tests, one.
TABLES = {"## Intervals": 5 * 5, "## Tests": 4 * 4, "## Uncertain signs": 1}


def test_the_short_run_shows_every_table():
    command = [sys.executable, "-X", "utf8", SCRIPT, "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    _, *sections = done.stdout.split("\n## ")
    assert ["## " + section.partition("\n")[0] for section in sections[:3]] == list(TABLES)
    for section, n_rows in zip(sections, TABLES.values(), strict=False):
        table = [line for line in section.splitlines() if line.startswith("|")]
        header, _, *rows = [line.split("|")[1:-1] for line in table]
        assert len(rows) == n_rows
        for row in rows:
            assert len(row) == len(header)
            assert "nan" not in " ".join(row)


def test_the_short_run_counts_false_alarms_of_every_audit():
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "null.py", "--short", "--n-jobs", "1"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line[:1] == "|"]
    expected = {"DPA A->T", "DPA T->A", "MALS", "directional A->T", "directional T->A", "leakage"}
    assert expected | {"gate", "gate --on all", "report"} <= set(rows)
    assert done.stdout.count(" p |") == 2 * len(expected)  # of two groups, and of four


def test_the_short_run_compares_models_by_every_metric():
    script = BENCHMARKS / "coverage_comparison.py"
    command = [sys.executable, "-X", "utf8", script, "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line[:1] == "|"][2:]
    assert {row[1].strip() for row in rows} == {"alike", "different"}
    assert len(rows) == 2 * 7


def test_the_short_run_compares_learners_over_folds():
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "coverage_cross_audit.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    header, _, *rows = [line for line in done.stdout.splitlines() if line[:1] == "|"]
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {header.count("|")}
    assert "nan" not in "".join(rows)


def test_the_short_runs_of_clusters_and_of_all_pairs_show_their_tables():
    for name, sizes in (("coverage_clusters", [18]), ("coverage_pairs", [6, 4])):
        command = [sys.executable, "-X", "utf8", BENCHMARKS / f"{name}.py", "--short"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
        assert done.returncode == 0, done.stderr
        tables = [part.split("|---|")[1:] for part in done.stdout.split("\n\n") if "|---|" in part]
        assert [part[-1].count("\n| ") for part in tables] == sizes
        assert "nan" not in done.stdout


def test_the_short_run_measures_intervals_of_texts():
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "coverage_text.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    header, _, *rows = [line for line in done.stdout.splitlines() if line[:1] == "|"]
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {header.count("|")}


def test_the_short_run_measures_intervals_of_numbers():
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "coverage_numeric.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    header, _, *rows = [
        line for line in done.stdout.partition("## Each")[2].splitlines() if line[:1] == "|"
    ]
    assert len(rows) == 3 * 2 * 6
    assert {row.count("|") for row in rows} == {header.count("|")}
    assert "nan" not in "".join(rows)


def test_the_short_run_of_watches_agrees_with_the_package():
    """It raises unless `at_once` finds what `audit_over` does."""
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "watching.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    tables = [part.split("|---|")[1:] for part in done.stdout.split("\n\n") if "|---|" in part]
    assert [part[-1].count("\n| ") for part in tables] == [5, 9, 2]
    assert "nan" not in done.stdout


def test_trials_that_are_done_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
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


def test_the_short_run_measures_related_measures():
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "coverage_related.py", "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    for name in ("bias disparity", "differential fairness", "percentage", "label"):
        assert f"| {name} | 500 |" in done.stdout
    assert "nan" not in done.stdout
