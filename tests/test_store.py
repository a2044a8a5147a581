"""A store of periods: what enters it, what is refused, and what it shows."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp._input.errors import InputError
from skbiasamp.cli import main
from skbiasamp.monitoring import Store

NAMES = ("--target", "hired", "--prediction", "predicted", "--sensitive", "sex")
FULL_WIDTH = "2026-02".translate({ord(str(i)): 0xFF10 + i for i in range(10)})


def rows_of(n=400, seed=0, wrong=0.1):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n)})
    rows["hired"] = (rng.random(n) < np.where(rows["sex"] == "f", 0.3, 0.5)).astype(int)
    missed = (rows["sex"] == "f") & (rows["hired"] == 1) & (rng.random(n) < wrong)
    rows["predicted"] = np.where(missed, 0, rows["hired"])
    return rows


def cells_of(rows):
    return Contingency.from_frame(rows, target="hired", prediction="predicted", sensitive="sex")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_a_store_shows_what_the_rows_would(store):
    days = {f"2026-01-{day:02d}": rows_of(seed=day) for day in range(1, 13)}
    for name, rows in days.items():
        store.add(cells_of(rows), name)
    auditor = DirectionalAuditor()
    whole = pd.concat(rows.assign(day=name) for name, rows in days.items())
    expected = skbiasamp.audit_over(
        whole, time="day", every="day", reference=5, auditor=auditor,
        target="hired", prediction="predicted", sensitive="sex",
    )  # fmt: skip
    shown = store.audit_over(reference=5, auditor=auditor)
    pd.testing.assert_frame_equal(shown.to_frame(), expected.to_frame())


def test_a_store_makes_the_folders_that_it_is_in(tmp_path):
    store = Store(tmp_path / "team" / "model")
    store.add(cells_of(rows_of()), "2026-01")
    assert (tmp_path / "team" / "model" / "2026-01.json").exists()


def test_late_rows_are_added_to_their_period(store):
    first, late = rows_of(seed=1), rows_of(seed=2)
    store.add(cells_of(first), "2026-01")
    store.add(cells_of(rows_of(seed=3)), "2026-02")
    added = store.add(cells_of(late), "2026-01", version="2.0")
    assert added["rows"] == 800
    assert store.counted().cells["2026-01"] == cells_of(pd.concat([first, late]))
    assert store.counted().versions == {"2026-01": "2.0"}


def test_a_period_has_the_version_of_most_of_its_rows(store):
    for seed, (n, version) in enumerate([(300, "1.4"), (500, "2.0"), (300, "1.4")]):
        store.add(cells_of(rows_of(n, seed)), "2026-01", version=version)
    assert store.counted().versions == {"2026-01": "1.4"}


def test_the_same_rows_are_refused_in_whichever_period(store):
    store.add(cells_of(rows_of()), "2026-01", source="abc")
    text = r"source was added before, to period 2026-01 at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    with pytest.raises(ValueError, match=text):
        store.add(cells_of(rows_of(seed=1)), "2026-02", source=["def", "abc"])
    store.add(cells_of(rows_of(seed=1)), "2026-02")
    with pytest.raises(ValueError, match=r"was added before, to period 2026-02.*Pass a source if"):
        store.add(cells_of(rows_of(seed=1).iloc[::-1]), "2026-02")
    store.add(cells_of(rows_of(seed=1)), "2026-02", source="other rows with the same counts")


def test_small_cells_are_left_out_and_reported(store):
    rows = rows_of()
    cells = cells_of(rows)
    counts = rows.groupby(["sex", "hired", "predicted"]).size()
    small = counts[counts < 20]
    assert len(small)
    added = store.add(cells, "2026-01", min_cell=20)
    assert added == {
        "rows": counts[counts >= 20].sum(),
        "suppressed_cells": len(small),
        "suppressed_rows": small.sum(),
    }
    held = json.loads((store.folder / "2026-01.json").read_text())
    assert min(held["cells"]["weight"]) >= 20
    (note,) = store.audit_over().notes[:1]
    assert note == {
        "period": "2026-01",
        "text": f"{small.sum()} rows in {len(small)} small cell{'s' * (len(small) > 1)} are not in "
        "the store.",
    }
    alone = rows.assign(hired=[1, *[0] * (len(rows) - 1)], predicted=[0, *[1] * (len(rows) - 1)])
    assert store.add(cells_of(alone), "2026-03", min_cell=1)["suppressed_cells"] == 0
    with pytest.raises(ValueError, match=r"All cells have fewer than min_cell rows"):
        store.add(cells, "2026-02", min_cell=1000)


def test_a_cell_of_exactly_the_smallest_number_of_rows_is_kept(store):
    """Four cells: of 9, 10, 11 and 30 rows."""
    hired, predicted = [np.repeat(of, [9, 10, 11, 30]) for of in ([1, 1, 0, 0], [1, 1, 0, 0])]
    sex = np.repeat(["f", "m", "f", "m"], [9, 10, 11, 30])
    cells = Contingency.from_labels(hired, predicted, sensitive_features=sex)
    added = store.add(cells, "2026-01", min_cell=10)
    assert added == {"rows": 51, "suppressed_cells": 1, "suppressed_rows": 9}


def test_rows_of_people_never_enter(store):
    rng = np.random.default_rng(0)
    rows = rows_of()
    with pytest.raises(ValueError, match=r"probabilities belong to single rows"):
        store.add(cells_of(rows.assign(predicted=rng.random(len(rows)))), "2026-01")
    weighted = Contingency.from_labels(
        rows["hired"], rows["predicted"], sensitive_features=rows["sex"],
        sample_weight=rng.random(len(rows)),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"fractional weights belong to single rows"):
        store.add(weighted, "2026-01")
    assert not store.folder.exists()


@pytest.mark.parametrize(
    ("change", "options", "text"),
    [
        ({"hired": "yes", "predicted": "yes"}, {}, r"Give both the same labels"),
        ({}, {"sensitive": ["sex", "age"]}, r"Give both the same labels"),
        ({}, {"target": ["hired", "age"], "prediction": ["predicted", "age"]}, r"different kinds"),
        ({}, {"sensitive_prediction": "sex"}, r"Only one of two contingencies has 'group_pred'"),
    ],
)
def test_labels_of_another_kind_never_enter(store, change, options, text):
    store.add(cells_of(rows_of(seed=1)), "2026-01")
    named = {"target": "hired", "prediction": "predicted", "sensitive": "sex"} | options
    other = Contingency.from_frame(rows_of().assign(age=[0, 1] * 200, **change), **named)
    with pytest.raises(ValueError, match=text):
        store.add(other, "2026-02")
    assert store.periods == ["2026-01"]
    with pytest.raises(ValueError, match=text):
        skbiasamp.audit_over({"2026-01": cells_of(rows_of(seed=1)), "2026-02": other})


def test_clusters_never_enter(store):
    rows = rows_of()
    cells = Contingency.from_labels(
        rows["hired"], rows["predicted"], sensitive_features=rows["sex"],
        clusters=np.arange(len(rows)) // 2,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"cannot take clusters into account"):
        store.add(cells, "2026-01")
    assert store.periods == []


@pytest.mark.parametrize(
    ("period", "text"),
    [
        ("21.11.2026", "period must name a day, week, month, quarter or year"),
        ("2026-13", "'2026-13' is no date"),
        ("../outside", "period must name"),
        (2026, "period must be text"),
        ("2026-W07", "is the name of a week, and this store has periods such as '2026-01'"),
        (FULL_WIDTH, "period must name a day, week, month, quarter or year"),  # was never seen
    ],
)
def test_names_of_periods_are_those_of_a_calendar(store, period, text):
    store.add(cells_of(rows_of()), "2026-01")
    with pytest.raises((ValueError, TypeError), match=text):
        store.add(cells_of(rows_of(seed=5)), period)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"source": 3}, "source must be text, or a list of texts; got 3"),
        ({"source": []}, "source must be text, or a list of texts; got"),
        ({"version": np.int64(2)}, "version must be text; got"),
        ({"version": object()}, "version must be text; got"),
    ],
)
def test_names_of_sources_and_versions_are_text(store, how, text):
    with pytest.raises(TypeError, match=text):
        store.add(cells_of(rows_of()), "2026-01", **how)
    assert store.periods == []


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"alpha": "x"}, "alpha must be a number between 0 and 1; got 'x'"),
        ({"n_draws": "x"}, "n_draws must be a whole number of 19 or more"),
        ({"strict": []}, "strict must be one of True, False"),
        ({"auditor": 3}, "auditor must be an auditor"),
    ],
)
def test_a_store_is_watched_as_rows_are(store, how, text):
    store.add(cells_of(rows_of()), "2026-01")
    with pytest.raises(ValueError, match=text):
        store.audit_over(**how)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda text: '{"schema": "other"}',
            r"This is no skbiasamp.Period/1: field 'schema' holds 'other'",
        ),
        (lambda text: text[:-20], "This is no JSON, or not all of it"),
        (lambda text: "", "This is no JSON, or not all of it"),
        (lambda text: text.replace('"weight": [', '"weight": [-1, '), "weight"),
        (lambda text: text, "period must be '2026-02'; got '2026-01'"),  # would count twice
    ],
    ids=["other", "cut", "empty", "wrong", "copy"],
)
def test_a_file_that_is_no_period_is_named(store, change, text):
    store.add(cells_of(rows_of()), "2026-01")
    path = store.folder / "2026-02.json"
    path.write_text(change((store.folder / "2026-01.json").read_text()))
    named = rf"{re.escape(str(path))}: .*{text}"
    with pytest.raises(ValueError, match=named):
        store.audit_over()
    with pytest.raises(ValueError, match=named):
        store.add(cells_of(rows_of(seed=1)), "2026-03")
    with pytest.raises(ValueError, match=named):
        store.add(cells_of(rows_of(seed=1)), "2026-02")
    assert sorted(one.name for one in store.folder.iterdir()) == [
        ".lock", "2026-01.json", "2026-02.json",
    ]  # fmt: skip


def test_a_folder_without_periods_has_nothing_to_watch(store):
    with pytest.raises(FileNotFoundError, match=r"there are no periods in"):
        Store(store.folder / "none").audit_over()


@pytest.mark.parametrize(
    ("name", "known"),
    [("2026-02 (1)", "2026-01"), ("2026", "2026-01"), (FULL_WIDTH, "2026-01")],
)
def test_a_file_of_another_name_is_not_passed_over(store, name, known):
    """Copies by sync clients, and files of another calendar."""
    for month in ("2026-01", "2026-03"):
        store.add(cells_of(rows_of(seed=int(month[-1]))), month)
    path = store.folder / f"{name}.json"
    shutil.copy(store.folder / "2026-01.json", path)
    named = rf"{re.escape(str(path))} is not named as the other periods .* such as '{known}'"
    for use in (store.audit_over, lambda: store.add(cells_of(rows_of()), "2026-04")):
        with pytest.raises(ValueError, match=named):
            use()
    (store.folder / "notes.json").write_text("{}")  # is no period, and does not look like one
    path.unlink()
    assert store.audit_over().verdict == "no alarm"


def test_copies_may_be_as_many_as_periods(store):
    store.add(cells_of(rows_of()), "2026-01")
    for copy in ("2026-01 copy", "2026-01 copy 2"):
        shutil.copy(store.folder / "2026-01.json", store.folder / f"{copy}.json")
    with pytest.raises(ValueError, match=r"2026-01 copy.json is not named .* such as '2026-01'"):
        store.audit_over()


def test_an_editor_may_have_marked_a_file_as_utf_8(store):
    store.add(cells_of(rows_of()), "2026-01")
    path = store.folder / "2026-01.json"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert store.counted().cells["2026-01"] == cells_of(rows_of())
    path.write_text(json.dumps(json.loads(path.read_text("utf-8-sig"))), encoding="utf-16")
    with pytest.raises(ValueError, match=r"2026-01.json' cannot be read as JSON"):
        store.counted()


def test_what_killed_writers_left_is_removed(store):
    store.add(cells_of(rows_of()), "2026-01")
    kept = [".lock", ".notes.tmp", "2026-01.json", "2026-02.json"]
    for name in (".0123456789abcdef.tmp", ".notes.tmp"):
        (store.folder / name).write_text("half")
    store.add(cells_of(rows_of(seed=1)), "2026-02")
    assert sorted(path.name for path in store.folder.iterdir()) == kept


def test_a_folder_that_is_write_protected_is_named(store, monkeypatch):
    """It was the name of a lock that its reader does not know. Root may write everywhere."""
    store.add(cells_of(rows_of()), "2026-01")
    opened = Path.open

    def refuse(path, mode="r", *rest, **options):
        if "r" not in mode:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, mode, *rest, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=rf"{re.escape(repr(str(store.folder)))}$"):
        store.add(cells_of(rows_of(seed=1)), "2026-02")
    assert store.audit_over().verdict == "not measured"  # to read it is enough


def test_rows_that_are_named_twice_are_refused(store):
    with pytest.raises(ValueError, match=r"source names the same rows twice"):
        store.add(cells_of(rows_of()), "2026-01", source=["abc", "def", "abc"])
    assert store.periods == []


def test_a_reference_may_be_a_number_of_numpy(store):
    store.add(cells_of(rows_of()), "2026-01")
    assert store.audit_over(reference=np.int64(3)).verdict == "not measured"


WRITER = """
import sys
import numpy as np
from skbiasamp import Contingency
from skbiasamp.monitoring import Store

labels = np.arange(20) % 2
cells = Contingency.from_labels(labels, labels, sensitive_features=list("fm") * 10)
print("ready", flush=True)
for i in range(20):
    Store(sys.argv[1]).add(cells, "2026-01", source=f"{sys.argv[2]} {i}")
"""


def test_two_processes_write_and_nothing_is_lost(store, monkeypatch):
    other = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store.folder), "a"], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    monkeypatch.setattr(sys, "argv", ["", str(store.folder), "b"])
    exec(WRITER, {})
    assert other.wait(timeout=120) == 0
    other.stdout.close()
    assert store.counted().cells["2026-01"].total == 2 * 20 * 20
    assert sorted(path.name for path in store.folder.iterdir()) == [".lock", "2026-01.json"]


HOLDER = """
import sys, time
from pathlib import Path
from skbiasamp.monitoring._store import _locked

with _locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_process_leaves_no_lock(store):
    store.add(cells_of(rows_of()), "2026-01")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store.folder)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait(timeout=60)
    before = time.monotonic()
    store.add(cells_of(rows_of(seed=1)), "2026-01")
    assert time.monotonic() - before < 30
    holder.stdout.close()


DYING = """
import os, signal, sys
from pathlib import Path

Path.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)  # complete, and not yet named
""" + WRITER.replace("2026-01", "2026-02")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("half", [True, False])
def test_a_writer_that_is_killed_leaves_the_store_as_it_was(store, half):
    store.add(cells_of(rows_of()), "2026-01")
    code = DYING.replace("Path.replace", "os.fsync") if half else DYING
    killed = subprocess.run([sys.executable, "-c", code, str(store.folder), "a"], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = [path.name for path in store.folder.iterdir() if path.suffix == ".tmp"]
    assert len(left) == 1
    assert store.periods == ["2026-01"]  # a reader passes it over
    assert store.counted().cells["2026-01"] == cells_of(rows_of())
    store.add(cells_of(rows_of(seed=1)), "2026-02", source="a 0")  # and may be added again
    kept = [".lock", "2026-01.json", "2026-02.json"]
    assert sorted(path.name for path in store.folder.iterdir()) == kept


# ------------------------------------------------------------------ the command


def test_the_command_adds_and_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    for month in range(1, 9):
        rows_of(1500, seed=month, wrong=0.1 if month < 6 else 0.7).to_csv(
            f"{month}.csv", index=False
        )
        version = ("--model-version", "1.0" if month < 6 else "2.0")
        call = ["watch", "add", "store", f"{month}.csv", "--period", f"2026-{month:02d}"]
        assert main([*call, *NAMES, *version, "--min-cell", "5"]) == 0
    assert "2026-08 in store has 1,500 rows now." in capsys.readouterr().out
    show = ["watch", "show", "store", "--reference", "3", "--html", "page.html"]
    assert main([*show, "--json", "timeline.json"]) == 0
    said = capsys.readouterr().out
    assert "Verdict (directional A->T): alarm" in said
    assert main([*show, "--fail-on-alarm"]) == 1
    timeline = skbiasamp.results.Timeline.from_json(tmp_path / "timeline.json")
    assert timeline.onset == "2026-06"
    assert timeline.version_changes == [("2026-06", "2.0")]
    assert "Changed since 2026-06" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    assert main(["watch", "show", "store", "--reference", "2026-06", "--fail-on-alarm"]) == 0
    assert "no alarm" in capsys.readouterr().out


def test_the_command_refuses_the_same_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows_of().to_csv("a.csv", index=False)
    rows_of().to_csv("copy.csv", index=False)
    assert main(["watch", "add", "store", "a.csv", "--period", "2026-01", *NAMES]) == 0
    capsys.readouterr()
    assert main(["watch", "add", "store", "copy.csv", "--period", "2026-02", *NAMES]) == 2
    assert "copy.csv was added before, to period 2026-01" in capsys.readouterr().err
    assert main(["watch", "add", "new", "a.csv", "copy.csv", "--period", "2026-01", *NAMES]) == 2
    assert "a.csv, copy.csv names the same rows twice" in capsys.readouterr().err
    assert main(["watch", "add", "store", "a.csv", "--period", "21/11/2026", *NAMES]) == 2
    assert "--period must name a day" in capsys.readouterr().err
    assert main(["watch", "show", "store", "--reference", "0"]) == 2
    assert "--reference must be a number of first periods from 1 to 1" in capsys.readouterr().err
    assert main(["watch", "show", "nowhere"]) == 2
    assert main(["watch", "show", "store", "--html", "store/page.html"]) == 2
    assert "is in the store" in capsys.readouterr().err
    assert main(["watch", "show", "store", "--fail-on-alarm"]) == 0
    assert "not measured" in capsys.readouterr().out


def test_a_file_is_no_store(tmp_path, monkeypatch, capsys):
    """The store was forgotten: the error was '[Errno 17] File exists'."""
    monkeypatch.chdir(tmp_path)
    rows_of().to_csv("a.csv", index=False)
    text = "STORE, the first argument, must be a folder, not a file; got 'a.csv'."
    assert main(["watch", "add", "a.csv", "a.csv", "--period", "2026-01", *NAMES]) == 2
    assert text in capsys.readouterr().err
    assert main(["watch", "show", "a.csv"]) == 2
    assert text in capsys.readouterr().err
    with pytest.raises(InputError, match=r"folder must be a path without NUL; got 'a\\x00b'"):
        Store("a\0b")


def test_a_store_that_grows_waits_for_its_reference(store):
    for day in range(1, 5):
        store.add(cells_of(rows_of(seed=day)), f"2026-01-{day:02d}")
        found = store.audit_over(reference=3)
        text = f"The reference has {day} of 3 periods so far. Alarms begin after them."
        waits = [one for one in found.notes if one["text"] == text]
        assert len(waits) == (day < 3)
        assert found.verdict == ("no alarm" if day > 3 else "not measured")


def command_in(folder):
    """Return an environment whose shell finds the command in a folder."""
    command = folder / "skbiasamp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skbiasamp "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


RECIPES = Path(__file__).parents[1] / "examples" / "monitoring"


@pytest.mark.pages
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_recipe_for_cron_runs(tmp_path):
    pytest.importorskip("jinja2")
    env = command_in(tmp_path)
    env |= {"STORE": "store", "DATA": ".", "REFERENCE": "1", "PAGE": "page.html"}
    store = Store(tmp_path / "store")
    store.add(cells_of(rows_of(1000, seed=1)), "2026-01-01", min_cell=5)
    rows_of(1000, seed=2).to_csv(tmp_path / "2026-01-02.csv", index=False)
    done = subprocess.run(
        ["sh", str(RECIPES / "watch.sh")],
        cwd=tmp_path,
        env=env | {"DAY": "2026-01-02"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [*store.periods] == ["2026-01-01", "2026-01-02"]
    assert "Verdict (directional A->T): no alarm" in done.stdout
    assert "No clear change" in (tmp_path / "page.html").read_text()


@pytest.mark.pages
@pytest.mark.skipif(os.name == "nt" or shutil.which("git") is None, reason="needs git and a shell")
def test_the_recipe_for_github_runs(tmp_path):
    pytest.importorskip("jinja2")
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load((RECIPES / "watch.yml").read_text("utf-8"))["jobs"]["watch"]["steps"]
    add, show = (step["run"] for step in steps if "skbiasamp watch" in step.get("run", ""))
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    env = command_in(tools)
    (tools / "date").write_text('#!/bin/sh\necho "$DAY"\n')  # of a chosen yesterday
    (tools / "date").chmod(0o755)

    def run(text, **more):
        called = ["bash", "-e", "-c", text]
        return subprocess.run(called, cwd=work, env=env | more, capture_output=True, text=True)

    work.mkdir()
    begun = (
        "git init -q -b main; git init -q --bare ../remote; git remote add origin ../remote; "
        "git config user.name a; git config user.email a@b; "
        "git commit -q --allow-empty -m begun; git push -qu origin main"
    )
    assert run(begun).returncode == 0
    (work / "predictions").mkdir()

    store = Store(work / "store")
    for i in range(1, 36):
        rows = rows_of(1000, i, 0.1 if i <= 30 else 0.7)
        store.add(cells_of(rows), f"2026-01-{i:02d}" if i <= 30 else f"2026-02-{i - 30:02d}")
    rows_of(1000, 40, 0.7).to_csv(work / "predictions" / "2026-02-06.csv", index=False)
    added = run(add, DAY="2026-02-06")
    assert added.returncode == 0, added.stderr
    assert "Counts of 2026-02-06" in run("git log --format=%s origin/main").stdout
    kept = run("git ls-tree --name-only origin/main store/").stdout.split()
    assert kept == [f"store/{name}.json" for name in store.periods]
    shown = run(show)
    assert shown.returncode == 1, shown.stderr
    assert "Verdict (directional A->T): alarm" in shown.stdout
    assert (work / "watch.html").is_file()


def test_a_misspelt_option_of_a_store_is_named(store):
    with pytest.raises(TypeError, match=r"Store\.audit_over\(\) has no parameter 'alhpa'.*'alpha'"):
        store.audit_over(alhpa=0.1)
    with pytest.raises(TypeError, match=r"Store\.add\(\) has no parameter 'overwritten'"):
        store.add("2026-01", cells_of(rows_of()), overwritten=True)
