"""The benchmarks run, and what they time computes the same numbers. No timing is judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def run(script, *arguments):
    command = [sys.executable, "-X", "utf8", "-W", "ignore", FOLDER / script, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def output_of(script, *arguments):
    """Run a script, and return what it prints. It fails if its own comparisons do."""
    done = run(script, *arguments)
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


MEASURED = [
    ("A→T audit", "NumPy-mask loop over pairs"),
    ("A→T fit and audit", "NumPy-mask loop over pairs"),
    ("A→T audit", "plain Python loop over pairs and rows"),
    ("A→T audit of float64", "matrix products in float64"),
    ("A→T audit of int64", "matrix products in float64"),
    ("A→T audit of bool", "matrix products in float64"),
    ("the same with interval, int64", "matrix products in float64"),
    ("the same with interval, signs of the same rows", "matrix products in float64"),
    ("Multi→ fit and audit", "NumPy-mask loop over sets"),
    ("Multi→ fit and audit", "plain Python loop over sets and rows"),
    ("one-label audit", "`np.bincount` of int8 codes"),
    ("the same: resident at most", ""),
    ("`import skbiasamp`", "`import sklearn.metrics, pandas`"),
    ("`from skbiasamp import DirectionalAuditor`", "`import sklearn.metrics, pandas`"),
]


def test_the_short_benchmark_runs_and_shows_every_row():
    rows = rows_of(output_of("speed/cooccurrence.py", "--short"))
    for row, (measured, beside) in zip(rows, MEASURED, strict=True):
        assert row[0].startswith(measured)
        assert row[1].startswith(beside)
        assert row[-1] == "not judged"


def test_the_short_benchmark_of_the_wrapper_runs():
    rows = cells(output_of("speed/sklearn_overhead.py", "--short"))
    assert [row[-1] for row in rows].count("not judged") == 10


def test_the_short_run_of_watches_agrees_with_the_package():
    """It raises unless `at_once` finds what `audit_over` does."""
    text = output_of("evidence/watching.py", "--short")
    tables = [part.split("|---|")[1:] for part in text.split("\n\n") if "|---|" in part]
    assert [part[-1].count("\n| ") for part in tables] == [5, 9, 2]
    assert "nan" not in text


@pytest.mark.torch
def test_the_short_run_of_attacks_shows_every_audit():
    pytest.importorskip("torch")
    sections = output_of("speed/predictability.py", "--short").split("\n## ")[1:]
    audits, reports = map(rows_of, sections)
    assert {row[0]: row[1] for row in audits} == {
        "DPA A→T: 10,000 rows, one int8 label": "exact",
        "leakage: 10,000 rows, one int8 label": "exact",
        "DPA A→T: 500 rows, 8 labels": "exact",
        "leakage: 500 rows, 8 logits": "LogisticRegression",
    }
    sizes = [row[0].removeprefix("`skbiasamp.audit`: ") for row in reports]
    assert sizes == ["500 rows, one label", "300 rows, 8 labels"]
    assert {row[-1] for row in reports} == {"-"}  # a short run judges nothing


def test_the_short_run_says_when_equally_accurate_labels_exist():
    """A model that is worse than pure noise has none; of one label all others are equal."""
    rows = cells(output_of("evidence/equalisation.py", "--short").split("\n\n**Exact**")[0])[2:]
    assert len(rows) == 2 * 8 + 1
    for labels, score, model, *_, equal in rows:
        never = (model, score) == ("never positive", "F1")
        worse = model in ("60 % errors", "75 % errors") or never
        assert (equal == "impossible") == worse
        assert (equal == "on average") == (labels == "4 labels, leakage")


# --------------------------------------------------------------------------- engines and growth


@pytest.fixture
def engines():
    for package in ("duckdb", "polars", "pyarrow"):
        pytest.importorskip(package)


def test_the_short_benchmark_of_engines_shows_every_row(engines):
    rows = rows_of(output_of("speed/engines.py", "--short"))
    assert len(rows) == 14
    assert {row[-1] for row in rows} == {"not judged"}


def test_a_cluster_counts_and_attacks_as_one_process_does(engines):
    """The script raises unless results are equal."""
    pytest.importorskip("distributed")
    rows = cells(output_of("speed/clusters.py", "--short"))[2:]
    assert [row[0].partition(":")[0] for row in rows if "Spark" not in row[0]] == [
        "Dask, 2 worker processes",
        "Dask, 2 worker processes",
        "a watch of 40 periods",
    ]
    assert {row[-1] for row in rows} == {"equal", "no alarm"}


def test_the_short_benchmark_of_growth_shows_every_curve(engines):
    rows = cells(output_of("speed/growth.py", "--short"))
    exponents = [row for row in rows if row[-1] == "not judged"]
    assert len(exponents) == 8 + 2
    points = rows[len(exponents) + 4 :]
    assert len(points) == 9
    assert len({row[0] for row in points}) == 8


# --------------------------------------------------------------------------- all pages


def test_the_summary_has_what_was_judged_on_every_page(tmp_path):
    output_of("run.py", "--collect", "--write", tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    names = output_of("run.py", "--help")
    pages = [page for page in (FOLDER / "results").glob("*.md") if page.stem in names]
    assert len(pages) == 6
    of_page = {page.name: cells(page.read_text(encoding="utf-8")) for page in pages}
    verdicts = {
        name: [row[-1] for row in rows if row[-1] in ("yes", "no")]
        for name, rows in of_page.items()
    }
    assert all(f"](../benchmarks/results/{name})" in text for name in verdicts)
    judged = [verdict for some in verdicts.values() for verdict in some]
    assert f"{judged.count('yes')} of {len(judged)} targets are met" in " ".join(text.split())
    shown = [row[-1] for row in cells(text) if row[-1] in ("yes", "no")]
    assert shown.count("no") == judged.count("no")
    assert shown.count("yes") == sum(some[0] == "yes" for some in verdicts.values())
    assert "cooccurrence" in names


def test_an_unknown_benchmark_is_named():
    done = run("run.py", "enignes")
    assert done.returncode == 2
    assert "there is no benchmark 'enignes'" in done.stderr
