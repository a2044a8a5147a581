"""The benchmarks of engines and of growth run, and so does what sums all pages up."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks
FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"

for package in ("duckdb", "polars", "pyarrow"):
    pytest.importorskip(package)


def run(script, *arguments):
    command = [sys.executable, "-X", "utf8", "-W", "ignore", FOLDER / script, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_short_benchmark_of_engines_shows_every_row():
    header, _, *rows = cells(run("engines.py", "--short"))
    assert len(rows) == 14
    assert {len(row) for row in rows} == {len(header)}
    assert {row[-1] for row in rows} == {"not judged"}


def test_a_cluster_counts_and_attacks_as_one_process_does():
    """The script raises unless results are equal."""
    pytest.importorskip("distributed")
    rows = cells(run("clusters.py", "--short"))[2:]
    assert [row[0].partition(":")[0] for row in rows if "Spark" not in row[0]] == [
        "Dask, 2 worker processes",
        "Dask, 2 worker processes",
        "a watch of 40 periods",
    ]
    assert {row[-1] for row in rows} == {"equal", "no alarm"}


def test_the_short_benchmark_of_growth_shows_every_curve():
    rows = cells(run("growth.py", "--short"))
    exponents = [row for row in rows if row[-1] == "not judged"]
    assert len(exponents) == 8 + 2
    points = rows[len(exponents) + 4 :]
    assert len(points) == 9
    assert len({row[0] for row in points}) == 8


def test_the_summary_has_what_was_judged_on_every_page(tmp_path):
    run("run.py", "--collect", "--write", tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    names = run("run.py", "--help")
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
    done = subprocess.run(
        [sys.executable, FOLDER / "run.py", "enignes"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "there is no benchmark 'enignes'" in done.stderr
