"""Progress of what takes long, and interruption: on a terminal, in notebooks, and nowhere else."""

import contextlib
import io
import os
import re
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest
from hostile_made import IN_MONTHS, WATCHED
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import LeakageAuditor
from skbiasamp._io.files import opened
from skbiasamp._utils import progress
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers import MLPAttacker
from skbiasamp.mitigation import DomainIndependentClassifier, search

pty, fcntl, termios = map(pytest.importorskip, ("pty", "fcntl", "termios"))

rng = np.random.default_rng(0)
SEX = np.repeat(["f", "m"], 100)
SKILL = rng.normal(size=200)
HIRED = (SKILL + (SEX == "m") > 0).astype(int)
PREDICTED = (SKILL > 0).astype(int)
BY = {"sensitive_features": SEX}
X = SKILL[:, None]


class Slow(LogisticRegression):
    """An attacker that gives the line time to be drawn."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.01)
        return super().fit(X, y, sample_weight)


class Interrupted(LogisticRegression):
    """An attacker during whose training somebody presses Ctrl-C."""

    def fit(self, X, y, sample_weight=None):
        raise KeyboardInterrupt


def open_terminal():
    """Return both ends of a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return ours, theirs


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def __init__(self):
        super().__init__()
        self.ends = open_terminal()

    def isatty(self):
        return True

    def fileno(self):
        return self.ends[1]


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr itself: pytest puts its own there before each test.
    here = types.SimpleNamespace(stderr=stream, modules=sys.modules)
    monkeypatch.setattr(progress, "sys", here)
    monkeypatch.setattr(progress, "WAIT", 0.02)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    yield stream
    for end in stream.ends:
        os.close(end)


@pytest.fixture
def drawn(terminal, monkeypatch):
    """Return a terminal where everything is shown at once."""
    monkeypatch.setattr(progress, "WAIT", 0.0)
    return terminal


# --------------------------------------------------------------------------- what it says


def test_an_audit_says_which_metric_and_how_many_attackers(drawn):
    leakage = LeakageAuditor(attacker=Slow(), n_draws=3, cv=2, n_resamples=50, random_state=0)
    skbiasamp.audit(HIRED, PREDICTED, **BY, auditor=[leakage])
    shown = drawn.getvalue()
    assert re.search("audit.*leakage.*attackers: .* 7/12 ", shown, re.DOTALL)
    assert shown.endswith(" \r")


CALLS = {
    "resamples": lambda: LeakageAuditor(attacker="exact", n_resamples=50_000, random_state=0).audit(
        HIRED, PREDICTED, **BY
    ),
    "epochs": lambda: MLPAttacker(max_epochs=20, hidden_layer_sizes=(64,)).fit(X, HIRED),
    "folds": lambda: skbiasamp.cross_audit(Slow(), X, HIRED, **BY, random_state=0),
    "mitigations": lambda: search(
        Slow(), X, HIRED, **BY, candidates={"other": Slow()}, cv=2, random_state=0
    ),
    "comparison": lambda: skbiasamp.compare(
        HIRED, {"a": HIRED, "b": PREDICTED}, **BY, random_state=0
    ),
    "thresholds": lambda: skbiasamp.model_selection.amplification_curve(
        HIRED, SKILL, **BY, interval="analytic"
    ),
    "groups": lambda: DomainIndependentClassifier(Slow()).fit(X, HIRED, **BY),
    "periods": lambda: skbiasamp.audit_over(WATCHED, **IN_MONTHS, n_draws=5000),
    "counting rows": lambda: skbiasamp.Contingency.from_labels(
        [*map(str, HIRED)] * 500, sensitive_features=[*SEX] * 500
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", CALLS)
def test_what_takes_long_is_named(what, drawn):
    if what == "epochs":
        pytest.importorskip("torch")
    CALLS[what]()
    assert re.search(rf"\b{what}(:| \[)", drawn.getvalue())


def test_files_are_read_with_progress(drawn, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("sex,y,p\n" + "f,1,0\nm,0,0\nf,0,1\nm,1,1\n" * 20_000)
    with opened([str(path)], ["sex"]):
        pass
    assert "reading files" in drawn.getvalue()


def test_a_fold_counts_when_its_model_is_fitted(drawn):
    skbiasamp.cross_audit(Slow(), X, HIRED, **BY, random_state=0)
    assert re.search("folds: .* 4/5 ", drawn.getvalue())


# --------------------------------------------------------------------------- where


def busy(seconds=0.05):
    with progress.progress("work", 9, verbose=0) as step:
        time.sleep(seconds)
        step.advance(4)


def test_a_terminal_has_a_bar_which_is_erased(terminal):
    busy()
    *_, drawn = (part for part in terminal.getvalue().split("\r") if "4/9" in part)
    assert drawn.startswith("work:  44%|")
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith(f"\r{' ' * len(drawn)}\r")


def test_bars_start_no_thread_and_settle_no_start_method(terminal):
    code = """
        import multiprocessing, threading, time
        from skbiasamp._utils import progress
        progress.WAIT = 0
        with progress.progress("work", 9, verbose=1) as step:
            step.advance()
            assert threading.active_count() == 1
        assert multiprocessing.get_start_method(allow_none=True) is None
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_what_is_quick_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(progress, "WAIT", 2.0)
    busy(0.1)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_in_a_file_a_thread_or_when_turned_off(terminal, monkeypatch):
    thread = threading.Thread(target=busy)
    thread.start()
    thread.join()
    monkeypatch.setenv("SKBIASAMP_PROGRESS", "0")
    busy()
    monkeypatch.delenv("SKBIASAMP_PROGRESS")
    monkeypatch.setattr(terminal, "isatty", lambda: False, raising=False)
    busy()
    monkeypatch.setattr("multiprocessing.parent_process", lambda: "a worker has one")
    busy()
    assert terminal.getvalue() == ""


def test_an_error_or_a_warning_takes_the_bars_away(drawn):
    with contextlib.suppress(RuntimeError), progress.progress("outer"):
        inner = progress.progress("inner")
        inner.__enter__()  # as a generator that a traceback keeps alive
        raise RuntimeError
    assert drawn.getvalue().endswith(" \r")
    busy()
    assert "outer" not in drawn.getvalue().rpartition("work")[2]
    with progress.progress("outer"):
        with pytest.warns(UserWarning, match="said"):
            warn("said")
        assert drawn.getvalue().endswith(" \r")


def test_names_drive_no_terminal_and_fit_its_width(drawn):
    with progress.progress("\x1b[31m\x07" + "長" * 200):
        pass
    assert "\x1b" not in drawn.getvalue()
    assert "\x07" not in drawn.getvalue()
    widest = max(drawn.getvalue().split("\r"), key=len)
    assert 70 < len(widest) + widest.count("長") <= 79


def test_verbose_writes_few_lines_into_a_log(capsys):
    auditor = LeakageAuditor(attacker=Slow(), cv=2, interval=None, verbose=1)
    auditor.audit(HIRED, PREDICTED, **BY)
    log = capsys.readouterr().err
    assert "attackers" in log
    assert log.count("\n") <= 2
    assert log.count("\r") <= 2


# --------------------------------------------------------------------------- Ctrl-C


def test_an_interrupted_auditor_is_usable(drawn):
    auditor = LeakageAuditor(cv=2, n_draws=2, n_resamples=20, random_state=0)
    expected = auditor.audit(HIRED, PREDICTED, **BY)
    auditor.set_params(attacker=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        auditor.audit(HIRED, PREDICTED, **BY)
    assert drawn.getvalue().endswith(" \r")
    auditor.set_params(attacker="auto")
    again = auditor.audit(HIRED, PREDICTED, **BY)
    assert (again.value, again.low, again.high) == (expected.value, expected.low, expected.high)


def test_an_interrupted_query_is_an_interruption():
    with pytest.raises(KeyboardInterrupt), progress.interruptible():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="other"), progress.interruptible():
        raise RuntimeError("other")


SLOW = """
import time
from sklearn.linear_model import LogisticRegression
from skbiasamp import LeakageAuditor

class Slow(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)

class Mine(LeakageAuditor):
    def __init__(self):
        super().__init__(attacker=Slow(), n_draws=400, n_jobs=N_JOBS)
"""


AUDIT = ["-m", "skbiasamp", "audit", "rows.csv"]
AUDIT += ["--target", "y", "--prediction", "p", "--sensitive", "sex"]
ROWS = "sex,y,p\n" + "f,1,0\nm,0,0\nf,0,1\nm,1,1\n" * 20


def on_a_terminal(arguments, folder, stop_at=None):
    """Return the exit code and output of a process on a terminal; Ctrl-C after some text."""
    ours, theirs = open_terminal()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said, stopped = b"", False
    with contextlib.suppress(OSError):  # how a terminal ends whose processes have ended
        while part := os.read(ours, 65536):
            said += part
            if stop_at is not None and not stopped and re.search(stop_at, said):
                os.killpg(process.pid, signal.SIGINT)
                stopped = True
    os.close(ours)
    code = process.wait(timeout=60)
    end = time.monotonic() + 20
    while is_alive(process.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_alive(process.pid)  # nor any worker
    return code, said.decode()


def is_alive(group):
    """Return whether a group has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_command_with_one_line(n_jobs, tmp_path):
    (tmp_path / "mine.py").write_text(SLOW.replace("N_JOBS", str(n_jobs)))
    (tmp_path / "rows.csv").write_text(ROWS)
    options = ["--auditor", "mine:Mine", "--html", "page.html", "--json", "page.json"]
    code, said = on_a_terminal(
        [*AUDIT, *options], tmp_path, stop_at=rb"attackers: .* [0-9]+/|skbiasamp: rows"
    )
    assert code == 130
    assert "rows.csv" in said
    assert "skbiasamp: interrupted\r\n" in said
    # Workers of joblib, which only an auditor of the user's own starts, may say more.
    if n_jobs == 1:
        # A bar of tqdm is wiped; without tqdm, its line is ended.
        ends = (" \rskbiasamp: interrupted\r\n", "...\r\nskbiasamp: interrupted\r\n")
        assert said.endswith(ends)
        assert "Traceback" not in said
    left = {one.name for one in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"mine.py", "rows.csv"}


def test_ctrl_c_while_the_command_starts(tmp_path):
    code = textwrap.dedent(
        """
        import sys, _thread
        class Finder:
            def find_spec(self, name, *_):
                if name == "sklearn":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Finder())
        from skbiasamp.cli import main
        sys.exit(main(["audit", "x.csv"]))
        """
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (130, "skbiasamp: interrupted\n")
