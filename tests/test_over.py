"""``skbiasamp over``: rows with times, and counts in a file a period."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import refused

import skbiasamp
from skbiasamp import Contingency
from skbiasamp.cli import main

COLUMNS = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
NAMES = [text for name, column in COLUMNS.items() for text in (f"--{name}", column)]


def rows_of(month, n=1500, seed=0):
    """Return rows of a month; from June on, the model misses most women."""
    rng = np.random.default_rng(100 * seed + month)
    rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n)})
    rows["hired"] = (rng.random(n) < np.where(rows["sex"] == "f", 0.3, 0.5)).astype(int)
    wrong = 0.1 if month < 6 else 0.7
    missed = (rows["sex"] == "f") & (rows["hired"] == 1) & (rng.random(n) < wrong)
    rows["predicted"] = np.where(missed, 0, rows["hired"])
    return rows.assign(day=f"2026-{month:02d}-15")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for month in range(1, 9):
        rows = rows_of(month)
        rows.to_csv(f"{month}.csv", index=False)
        Contingency.from_frame(rows, **COLUMNS).to_json(f"2026-{month:02d}.json")
    return tmp_path


def test_rows_and_counts_give_the_same_timeline(folder, capsys):
    pytest.importorskip("jinja2")
    of_rows = [*(f"{month}.csv" for month in range(1, 9)), "--time", "day", *NAMES]
    assert main(["over", *of_rows, "--reference", "3", "--json", "rows.jsonl"]) == 1
    said = capsys.readouterr().out
    assert "A clear change, most likely in 2026-06" in said
    assert "Files read:" in said
    counts = ["2026-*.json", "--reference", "3", "--html", "page.html"]
    assert main(["over", *counts, "--json", "counts.jsonl"]) == 1
    assert "A clear change, most likely in 2026-06" in (folder / "page.html").read_text("utf-8")
    files = ("rows.jsonl", "counts.jsonl")
    first, second = (json.loads((folder / name).read_text("utf-8")) for name in files)
    assert first["periods"] == second["periods"]
    assert first["onset"] == "2026-06"
    frame = pd.concat(map(rows_of, range(1, 9)))
    expected = skbiasamp.audit_over(frame, time="day", reference=3, **COLUMNS).to_frame()
    assert [each["value"] for each in first["periods"]] == expected["value"].tolist()
    assert first["context"]["call"].startswith("skbiasamp over 1.csv 2.csv")


def test_periods_are_named_by_years_and_by_names_of_their_own(folder, capsys):
    """And the exit code is that of the verdict."""
    assert main(["over", "2026-*.json", "--reference", "2026-06"]) == 0
    assert "No clear change" in capsys.readouterr().out
    rows = pd.concat([rows_of(month).assign(day=f"20{19 + month}-01-01") for month in (1, 2, 3)])
    rows.to_csv("years.csv", index=False)
    years = ["years.csv", "--time", "day", "--every", "year", *NAMES]
    # A reference of four digits is a year.
    assert main(["over", *years, "--reference", "2021", "--html", "page.html"]) == 0
    assert "before the reference" in (folder / "page.html").read_text("utf-8")
    rows = pd.concat([rows_of(month).assign(day=f"release {month}") for month in (1, 2)])
    rows.to_csv("named.csv", index=False)
    assert main(["over", "named.csv", "--time", "day", "--every", "name", *NAMES]) == 0
    assert "release 2" in capsys.readouterr().out


def test_bad_input_is_named(folder, capsys):
    (folder / "other").mkdir()
    text = (folder / "2026-01.json").read_text("utf-8")
    (folder / "other" / "2026-01.json").write_text(text, "utf-8")
    names = " ".join(NAMES)
    for arguments, says in (
        (f"1.csv {names}", "--time must name the column of dates or times"),
        ("2026-01.json --target hired", "--target hired names a column, and FILE holds counts"),
        ("2026-01.json other/2026-01.json", "another file has the period 2026-01 too"),
        ("2026-01.json 1.csv", "1.csv ends in '.csv'; only files of .json can be read"),
        ("2026-*.json --reference 2025-01", "--reference must name a period that has rows"),
        ("2026-*.json --json 2026-01.json", "would overwrite the input"),
    ):
        assert says in refused(capsys, "over", *arguments.split())


@pytest.mark.pages
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_for_cron_runs(tmp_path):
    pytest.importorskip("jinja2")
    for name, call in (("skbiasamp", "-m skbiasamp "), ("python", "")):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {call}"$@"\n')
        (tmp_path / name).chmod(0o755)
    Contingency.from_frame(rows_of(1), **COLUMNS).to_json(tmp_path / "2026-01-01.json")
    rows_of(2).to_csv(tmp_path / "2026-01-02.csv", index=False)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "COUNTS": ".", "DATA": "."}
    env = os.environ | env | {"DAY": "2026-01-02", "REFERENCE": "1", "PAGE": "page.html"}
    script = ["sh", Path(__file__).parents[1] / "examples" / "monitoring" / "watch.sh"]
    how = {"cwd": tmp_path, "env": env, "check": False}
    done = subprocess.run(script, capture_output=True, text=True, **how)
    assert done.returncode == 0, done.stderr
    assert "No alarm" in done.stdout
    assert "No clear change" in (tmp_path / "page.html").read_text("utf-8")
