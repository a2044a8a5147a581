"""Progress of what takes long, and interruption: on a terminal, and nowhere else."""

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp
from skbiasamp import LeakageAuditor, mitigation

pty, fcntl, termios = map(pytest.importorskip, ("pty", "fcntl", "termios"))

SEX = np.repeat(["f", "m"], 100)
SKILL = np.random.default_rng(0).normal(size=200)
HIRED = (SKILL + (SEX == "m") > 0).astype(int)
PREDICTED = (SKILL > 0).astype(int)
BY = {"sensitive_features": SEX}


class Slow(LogisticRegression):
    """An attacker that takes its time."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, sample_weight)


def open_terminal():
    """Return both ends of a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return ours, theirs


# --------------------------------------------------------------------------- what is shown


SLOW = """
import time
from sklearn.linear_model import LogisticRegression
from skbiasamp import LeakageAuditor

class Slow(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.025)
        return super().fit(X, y, sample_weight)

class Mine(LeakageAuditor):
    def __init__(self):
        super().__init__(attacker=Slow(), n_draws=N_DRAWS, n_jobs=N_JOBS)
"""
CALLS = """
import warnings
import numpy as np
import skbiasamp
from mine import LeakageAuditor, Slow
from skbiasamp._utils import progress  # internal: else both calls take seconds

progress.WAIT = 0.3
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
sex, x = np.repeat(["f", "m"], 100), rng.normal(size=(200, 1))
y = (x[:, 0] + (sex == "m") > 0).astype(int)
plain = skbiasamp.DirectionalAuditor(interval=None)
auditor = LeakageAuditor(attacker=Slow(), n_draws=8, cv=2, random_state=0)
skbiasamp.audit(y, (x[:, 0] > 0).astype(int), sensitive_features=sex, auditor=[auditor])
skbiasamp.cross_audit(Slow(), x, y, sensitive_features=sex, cv=20, random_state=0, auditor=plain)
"""


def test_a_terminal_shows_what_takes_long_in_bars_which_are_erased(tmp_path):
    """On a terminal, on one where it is turned off, and in a file: side by side, since all wait."""
    pytest.importorskip("tqdm")
    (tmp_path / "mine.py").write_text(SLOW.replace("N_JOBS", "1").replace("N_DRAWS", "8"))
    (tmp_path / "calls.py").write_text(CALLS)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ThreadPoolExecutor() as at_once:
        terminal = at_once.submit(on_a_terminal, ["calls.py"], tmp_path)
        off = at_once.submit(on_a_terminal, ["calls.py"], tmp_path, SKBIASAMP_PROGRESS="0")
        in_a_file = subprocess.run([sys.executable, "calls.py"], cwd=tmp_path, check=False, **pipes)
    code, shown = terminal.result()
    assert code == 0
    assert re.search(r"audit.*leakage.*attackers: .* \d+/\d+ ", shown, re.DOTALL)
    assert re.search(r"folds: .* \d+/40 ", shown)
    assert max(map(len, re.split(r"[\r\n]|\x1b\[A", shown))) <= 80
    assert shown.rstrip("\r").endswith(" ")
    assert off.result() == (0, "")
    assert (in_a_file.returncode, in_a_file.stdout, in_a_file.stderr) == (0, b"", b"")


def test_verbose_writes_few_lines_into_a_log(capsys):
    auditor = LeakageAuditor(attacker=Slow(), cv=2, n_draws=2, interval=None, verbose=1)
    auditor.audit(HIRED, PREDICTED, **BY)
    log = capsys.readouterr().err
    assert "attackers" in log
    assert max(log.count("\n"), log.count("\r")) <= 2
    how = {"candidates": {"same": LogisticRegression()}, "cv": 2, "limit": None, **BY}
    for verbose in (0, 1):
        mitigation.search(LogisticRegression(), SKILL[:, None], HIRED, verbose=verbose, **how)
        assert ("mitigations: 100%" in capsys.readouterr().err) == bool(verbose)


# --------------------------------------------------------------------------- Ctrl-C


AUDIT = ["-m", "skbiasamp", "audit", "rows.csv"]
AUDIT += ["--target", "y", "--prediction", "p", "--sensitive", "sex"]
ROWS = "sex,y,p\n" + "f,1,0\nm,0,0\nf,0,1\nm,1,1\n" * 20


def on_a_terminal(arguments, folder, stop_at=None, **variables):
    """Return the exit code and output of a process on a terminal; Ctrl-C after some text."""
    ours, theirs = open_terminal()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env=os.environ | variables,
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


def interrupted(n_jobs, folder):
    """Return the exit code and output of a command that is interrupted, and the files it leaves."""
    folder.mkdir()
    (folder / "mine.py").write_text(SLOW.replace("N_JOBS", str(n_jobs)).replace("N_DRAWS", "400"))
    (folder / "rows.csv").write_text(ROWS)
    options = ["--auditor", "mine:Mine", "--html", "page.html", "--json", "page.json"]
    code, said = on_a_terminal(
        [*AUDIT, *options], folder, stop_at=rb"attackers: .* [0-9]+/|skbiasamp: rows"
    )
    return code, said, {one.name for one in folder.iterdir()} - {"__pycache__"}


@pytest.mark.slow
def test_ctrl_c_ends_the_command_with_one_line(tmp_path):
    """With one process and with two workers: side by side, since both wait."""
    with ThreadPoolExecutor() as at_once:
        both = [*at_once.map(interrupted, (1, 2), (tmp_path / "one", tmp_path / "two"))]
    for code, said, left in both:
        assert code == 130
        assert "rows.csv" in said
        assert "skbiasamp: interrupted\r\n" in said
        assert left == {"mine.py", "rows.csv"}
    # Workers of joblib, which only an auditor of the user's own starts, may say more.
    (_, said, _), _ = both
    # A bar of tqdm is wiped; without tqdm, its line is ended.
    ends = (" \rskbiasamp: interrupted\r\n", "...\r\nskbiasamp: interrupted\r\n")
    assert said.endswith(ends)
    assert "Traceback" not in said


class Follower:
    """A callback of scikit-learn that follows all that is inside an estimator."""

    max_propagation_depth = None

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append(f"{type(estimator).__name__}, {context.max_subtasks} tasks")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.events.append(context.task_name)

    def teardown(self, estimator, context):
        self.events.append("over")


def test_callbacks_of_scikit_learn_follow_all_trainings_as_one():
    """Set up for each training, bars of scikit-learn would be drawn one after another."""
    pytest.importorskip("sklearn.callback")
    follower, how = Follower(), {"random_state": 0, **BY}
    rows = np.column_stack([SKILL, np.random.default_rng(1).normal(size=200)]), HIRED
    model = make_pipeline(StandardScaler(), LogisticRegression()).set_callbacks(follower)
    watched, plain = (
        skbiasamp.cross_audit(one, *rows, n_repeats=2, n_halvings=3, **how)
        for one in (model, clone(model).set_callbacks())
    )
    assert follower.events == ["cross_audit, 5 tasks", *["task"] * 5, "all", "over"]
    assert (watched.value, watched.low) == (plain.value, plain.low)
    follower.events.clear()
    candidates = {"other": LogisticRegression(C=0.1)}
    mitigation.search(model, *rows, candidates=candidates, cv=3, limit=None, **how)
    assert follower.events == ["search, 2 tasks", *["task"] * 2, "all", "over"]
    follower.events.clear()
    with pytest.raises(ValueError, match="scoring"):
        skbiasamp.cross_audit(model, *rows, scoring="none such", **how)
    assert follower.events == ["cross_audit, 11 tasks", "over"]
