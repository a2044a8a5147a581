"""The benchmarks run, and what they time computes the same numbers. No timing is judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def output_of(script, *arguments):
    """Run a script, and return what it prints. It fails if its own comparisons do."""
    command = [sys.executable, "-X", "utf8", "-W", "ignore", FOLDER / script, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def rows_of(text):
    """Return the rows of one table, none of which lacks a cell or a number."""
    header, _, *rows = cells(text)
    assert {len(row) for row in rows} == {len(header)}
    assert "nan" not in text
    return rows


@pytest.mark.parametrize(
    ("script", "n_rows", "n_judged"),
    [
        ("speed/cooccurrence.py", 14, 14),
        ("speed/sklearn_overhead.py", None, 10),
        ("speed/engines.py", 14, 14),
        ("speed/growth.py", None, 10),
    ],
)
def test_a_short_benchmark_shows_every_row(script, n_rows, n_judged):
    for package in ("duckdb", "polars", "pyarrow"):
        pytest.importorskip(package)
    text = output_of(script, "--short")
    assert [row[-1] for row in cells(text)].count("not judged") == n_judged
    assert n_rows is None or len(rows_of(text)) == n_rows


def test_the_short_run_of_watches_agrees_with_the_package():
    """It raises unless `at_once` finds what `audit_over` does."""
    text = output_of("evidence/watching.py", "--short")
    tables = [part.split("|---|")[1:] for part in text.split("\n\n") if "|---|" in part]
    assert [part[-1].count("\n| ") for part in tables] == [5, 9, 2]
    assert "nan" not in text


@pytest.mark.torch
def test_the_short_runs_of_attacks_show_every_audit():
    for package in ("torch", "skorch"):
        pytest.importorskip(package)
    audits, reports = map(
        rows_of, output_of("speed/predictability.py", "--short").split("\n## ")[1:]
    )
    assert {row[0]: row[1] for row in audits} == {
        "DPA A→T: 10,000 rows, one int8 label": "exact",
        "leakage: 10,000 rows, one int8 label": "exact",
        "DPA A→T: 500 rows, 8 labels": "exact",
        "leakage: 500 rows, 8 logits": "LogisticRegression",
    }
    assert [row[-1] for row in reports] == ["-"] * 2  # a short run judges nothing
    # Networks beside those of skorch: both sides learn the same.
    lines = output_of("speed/attackers.py", "--short").splitlines()
    assert len([line for line in lines if line.endswith("not judged |")]) == 6


def test_the_short_run_says_when_equally_accurate_labels_exist():
    """A model that is worse than pure noise has none; of one label all others are equal."""
    rows = cells(output_of("evidence/equalisation.py", "--short").split("\n\n**Exact**")[0])[2:]
    assert len(rows) == 2 * 8 + 1
    for labels, score, model, *_, equal in rows:
        never = (model, score) == ("never positive", "F1")
        worse = model in ("60 % errors", "75 % errors") or never
        assert (equal == "impossible") == worse
        assert (equal == "on average") == (labels == "4 labels, leakage")


def test_a_cluster_counts_and_attacks_as_one_process_does():
    """The script raises unless results are equal."""
    pytest.importorskip("distributed")
    rows = cells(output_of("speed/clusters.py", "--short"))[2:]
    assert len([row for row in rows if "Spark" not in row[0]]) == 3
    assert {row[-1] for row in rows} == {"equal", "no alarm"}


def test_the_summary_has_what_was_judged_on_every_page(tmp_path):
    output_of("run.py", "--collect", "--write", tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    names = output_of("run.py", "--help")
    pages = [page for page in (FOLDER / "results").glob("*.md") if page.stem in names]
    assert len(pages) == 6
    judged = []
    for page in pages:
        of_page = [row[-1] for row in cells(page.read_text("utf-8")) if row[-1] in ("yes", "no")]
        judged.append(of_page)
        assert f"](../benchmarks/results/{page.name})" in text
    counts = [sum(some.count(word) for some in judged) for word in ("yes", "no")]
    assert f"{counts[0]} of {sum(counts)} targets are met" in " ".join(text.split())
    shown = [row[-1] for row in cells(text) if row[-1] in ("yes", "no")]
    assert shown.count("no") == counts[1]
    assert shown.count("yes") == sum(some[0] == "yes" for some in judged)
