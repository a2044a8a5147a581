"""The script of the evidence runs, and its worlds have the true values that it compares with."""

import sys
from pathlib import Path

import numpy as np
import pytest

from skbiasamp.metrics import DirectionalAuditor

pytestmark = pytest.mark.benchmarks
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS / "evidence")


def test_the_short_run_shows_every_question(monkeypatch, capsys):
    import evidence
    from rows import PARTS

    parts = ("few", "equal", "compare", "runs")
    rows = [row for part in parts for row in PARTS[part]()]
    command = ["evidence.py", "--short", *(f"--part={part}" for part in parts)]
    monkeypatch.setattr(sys, "argv", command)
    evidence.main()
    said = capsys.readouterr().out
    assert f"{2 * len(rows)} data sets in {len(rows)} settings" in said
    titles = [line[3:] for line in said.splitlines() if line.startswith("## ")]
    assert titles[-4:] == list(dict.fromkeys(row.question for row in rows))
    for part in said.split("\n## ")[-4:]:
        header, _, *lines = [line for line in part.splitlines() if line[:1] == "|"]
        assert {line.count(" | ") for line in lines} == {header.count(" | ")}
    assert "nan" not in said


def test_the_page_is_made_of_the_rows_that_are_kept():
    from evidence import FOLDER, KEPT, TABLES, every_row, page_of, read, tables_of
    from rows import PARTS

    rows = every_row(FOLDER)
    names = [(row.question, row.setting) for part in PARTS.values() for row in part()]
    assert len(set(names)) == len(names)
    measured = [(row["question"], row["setting"]) for row in rows]
    assert measured[: len(names)] == names
    assert measured[len(names) :] == [key for part in KEPT for key in read(FOLDER / f"{part}.csv")]
    docs = BENCHMARKS.parent / "docs"
    assert (docs / "evidence.md").read_text("utf-8") == page_of(rows)
    assert TABLES.read_text("utf-8") == tables_of(rows)
    kept = read(docs / "evidence-table.csv")
    assert [row["false"] for row in kept.values()] == [row["false"] for row in rows]


def test_the_readme_has_the_mean_and_the_worst_false_positives():
    from evidence import FOLDER, Shares, every_row, mean_of, worst_of

    without = [Shares(row) for row in every_row(FOLDER) if not row["right"]]
    readme = " ".join((BENCHMARKS.parent / "README.md").read_text("utf-8").split())
    mean, worst = mean_of(without, "false"), worst_of(without, "false")
    assert f"{mean} % did, and {worst} % in the worst setting" in readme


def test_worlds_have_the_rates_that_are_written_down():
    from worlds import World

    labels, redrawn = np.array([[0.2, 0.4], [0.5, 0.3]]), np.array([[0.1, 0.4], [0.6, 0.5]])
    rows = World(labels, redrawn, keep=0.5, over=0.1)(np.random.default_rng(0), 200_000)
    for group in (0, 1):
        here = rows.g == group
        assert rows.y[here].mean(axis=0) == pytest.approx(labels[group], abs=0.006)
        expected = 0.9 * (labels[group] + redrawn[group]) / 2 + 0.1
        assert rows.q[here].mean(axis=0) == pytest.approx(expected, abs=0.006)
    soft = World(labels, redrawn, soft=True)(np.random.default_rng(0), 100_000)
    assert soft.q[soft.g == 1].mean(axis=0) == pytest.approx(redrawn[1], abs=0.006)


def test_the_true_value_is_that_of_a_large_sample():
    from rows import of_audit
    from worlds import World

    # 30 and 40 % become 27 and 43 %: each group moves by 3 points.
    trial = of_audit(World([0.3, 0.4], [0.27, 0.43]), DirectionalAuditor, 3_000, right="amplifies")
    outcome = trial(np.random.default_rng(0))
    assert outcome.true == pytest.approx(0.03, abs=0.003)
    assert outcome.low < outcome.true < outcome.high


def test_verdicts_and_intervals_are_counted():
    from evidence import summary
    from rows import ADDS, AMPLIFIES, NONE, REDUCES, SIGN, Outcome

    outcomes = [
        Outcome(0.1, 0.05, 0.15, 0.12, 0.001, AMPLIFIES),
        Outcome(0.1, -0.02, 0.2, 0.12, 0.2, NONE),
        Outcome(-0.1, -0.2, -0.05, 0.12, 0.001, REDUCES),
        Outcome(-0.1, -0.2, -0.05, 0.12, 0.3, ADDS),
    ]
    found = summary(outcomes, AMPLIFIES)
    counts = {"measured": 4, "false": 1, "covered": 2, "found": 1, "tested": 4, "agreed": 3}
    assert {name: found[name] for name in counts} == counts
    assert found["adds"] == 1
    assert summary(outcomes, "")["false"] == 3
    assert summary(outcomes, REDUCES)["false"] == 1
    assert summary(outcomes, ADDS)["false"] == 2
    assert summary(outcomes, SIGN)["false"] == 1
