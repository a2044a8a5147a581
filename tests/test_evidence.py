"""The script of the evidence runs, and its worlds have the true values that it compares with."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

pytestmark = pytest.mark.benchmarks
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


def test_the_short_run_shows_every_question():
    from evidence_rows import PARTS

    rows = [row for part in PARTS.values() for row in part() if row.trial is not None]
    command = [sys.executable, "-X", "utf8", BENCHMARKS / "evidence.py", "--short", "--n-jobs=1"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    assert f"{2 * len(rows)} data sets in {len(rows)} settings" in done.stdout
    titles = [line[4:] for line in done.stdout.splitlines() if line.startswith("### ")]
    assert titles == list(dict.fromkeys(row.question for row in rows))
    for part in done.stdout.split("\n### ")[1:]:
        header, _, *lines = [line for line in part.splitlines() if line[:1] == "|"]
        assert 0 < len(lines) <= 5
        assert {line.count(" | ") for line in lines} == {header.count(" | ")}
    assert "nan" not in done.stdout


def test_rows_of_a_page_have_names_of_their_own():
    from evidence_rows import PARTS

    names = [(row.question, row.setting) for part in PARTS.values() for row in part()]
    assert len(set(names)) == len(names)


def test_the_page_is_made_of_the_rows_that_are_kept():
    from evidence import FOLDER, TABLES, read
    from evidence_page import page_of, tables_of
    from evidence_rows import PARTS

    rows = [row for part in PARTS for row in read(FOLDER / f"{part}.csv").values()]
    names = [(row.question, row.setting) for part in PARTS.values() for row in part()]
    assert [(row["question"], row["setting"]) for row in rows] == names
    docs = BENCHMARKS.parent / "docs"
    assert (docs / "evidence.md").read_text("utf-8") == page_of(rows)
    assert TABLES.read_text("utf-8") == tables_of(rows)
    assert list(read(docs / "evidence-table.csv").values()) == rows


def test_the_readme_has_the_mean_and_the_worst_false_positives():
    from evidence import FOLDER, read
    from evidence_page import Shares, mean_of, worst_of
    from evidence_rows import PARTS

    rows = [Shares(row) for part in PARTS for row in read(FOLDER / f"{part}.csv").values()]
    without = [row for row in rows if not row.row["right"]]
    readme = " ".join((BENCHMARKS.parent / "README.md").read_text("utf-8").split())
    worst = worst_of(without, "false", max)[1]
    assert f"{mean_of(without, 'false')} % did, and {worst} % in the worst setting" in readme


def test_worlds_have_the_rates_that_are_written_down():
    from evidence_worlds import MODELS, OF_CLASSES, world_of

    rng, n = np.random.default_rng(0), 60_000
    for name in MODELS:
        world = world_of((3, 4), (name,), 0.07, recorded=(0.8,), predicted=(0.7, 0.1))
        rows = world.draw(n, rng)
        group, guess = rows.group, rows.groups_predicted(rng)
        for side, model in (
            (rows.labels, None),
            (rows.predictions(*world.models, rng), *world.models),
        ):
            for seen, predicted in ((group, False), (guess, True)):
                joint = np.array([side[seen == one].sum(axis=0) for one in range(3)]) / n
                np.testing.assert_allclose(joint, world.joint(predicted, model), atol=0.008)
    for name in OF_CLASSES:
        world = world_of((3, 4), (name,), 0.4, classes=True)
        rows = world.draw(n, rng)
        for side, model in (
            (rows.labels, None),
            (rows.predictions(*world.models, rng), *world.models),
        ):
            joint = np.array([np.bincount(side[rows.group == one]) for one in range(3)]) / n
            np.testing.assert_allclose(joint, world.joint(model=model), atol=0.008)


def test_models_without_an_effect_keep_every_association():
    from evidence_worlds import change_of, world_of

    for name in ("exchangeable", "40 % errors", "over-predicts", "under-predicts", "scores"):
        world = world_of((4, 5), (name,), 0.05)
        change, _ = change_of(world, DirectionalAuditor(), world.models[0])
        np.testing.assert_allclose(change, 0, atol=1e-12)
    doubled = world_of((4, 5), ("differences doubled",), 0.05)
    assert np.abs(change_of(doubled, DirectionalAuditor(), doubled.models[0])[0]).max() > 0.04


def test_true_values_are_those_of_a_large_sample():
    from evidence_trials import at_signs
    from evidence_worlds import change_of, world_of

    world = world_of((2, 3), ("differences 1.5 times",), 0.14, predicted=(0.8,))
    # Groups of equal size are predicted equally often: values are changes of associations alone.
    world = replace(world, share=np.array([0.5, 0.5]))
    rng = np.random.default_rng(1)
    rows = world.draw(200_000, rng)
    labels = {"sensitive_features": rows.group}
    both = {"sensitive_pred": rows.groups_predicted(rng)}
    predicted = rows.predictions(world.models[0], rng)
    sets = {"combinations": "all", "max_size": 2, "base": "test"}
    for auditor in (
        DirectionalAuditor(interval=None),
        DirectionalAuditor("T->A", interval=None),
        MALSAuditor(interval=None),
        MultiAttributeAuditor("A->T", interval=None, **sets),
        MultiAttributeAuditor("T->A", interval=None, **sets),
    ):
        result = auditor.fit(rows.labels, **labels).audit(rows.labels, predicted, **labels, **both)
        value = result.estimate
        true = at_signs(result, *change_of(world, auditor, world.models[0]))
        assert abs(true) > 0.01
        assert value == pytest.approx(true, abs=0.003)


def test_verdicts_and_intervals_are_counted():
    from evidence import summary

    outcomes = np.array(
        [
            # estimate, low, high, true, p, verdict, inside
            [0.1, 0.05, 0.15, 0.12, 0.001, 1, math.nan],
            [0.1, -0.02, 0.2, 0.12, 0.2, 0, math.nan],
            [-0.1, -0.2, -0.05, 0.12, 0.001, -1, math.nan],
            [-0.1, -0.2, -0.05, 0.12, 0.3, -2, math.nan],
        ]
    )
    found = summary(outcomes, "amplifies")
    counts = {"measured": 4, "false": 2, "covered": 2, "found": 1, "tested": 4, "agreed": 3}
    assert {name: found[name] for name in counts} == counts
    assert summary(outcomes, "")["false"] == 3
    assert summary(outcomes, "reduces")["false"] == 1
    assert summary(outcomes, "reverses")["found"] == 1


def test_an_interval_of_the_necessary_width_has_width_one():
    from evidence import widths

    error = np.random.default_rng(0).normal(0, 2, 4_000)
    ratio, its_error, spread = widths(np.full(4_000, 1.959964 * 2), error)
    assert spread == pytest.approx(2, rel=0.03)
    assert abs(ratio - 1) < 3 * its_error
    assert its_error == pytest.approx((2 * 4_000) ** -0.5, rel=0.1)


def test_parts_are_kept_and_not_measured_again(tmp_path, monkeypatch, capsys):
    import evidence

    kept = ["--folder", str(tmp_path), "--trials", "3", "--n-jobs", "1", "--part", "numeric"]
    write = ["--write", str(tmp_path / "page.md"), "--tables", str(tmp_path / "tables.md")]
    monkeypatch.setattr(sys, "argv", ["evidence.py", *kept, *write])
    evidence.main()
    before = (tmp_path / "numeric.csv").read_text("utf-8")
    monkeypatch.setattr(evidence, "measured", None)
    monkeypatch.setattr(sys, "argv", ["evidence.py", *kept, "--missing"])
    evidence.main()
    assert (tmp_path / "numeric.csv").read_text("utf-8") == before
    assert "| Numeric tasks" in (tmp_path / "page.md").read_text("utf-8")
    assert "### Numeric tasks" in (tmp_path / "tables.md").read_text("utf-8")
    assert (tmp_path / "evidence-table.csv").read_text("utf-8") == before
