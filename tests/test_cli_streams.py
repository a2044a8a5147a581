"""Standard output and standard error of the command that are closed, full, or no longer read."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skbiasamp.cli import main

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")

NAMES = ("--target", "hired", "--prediction", "predicted", "--sensitive", "sex")
# One metric, since what is printed is all that is tested.
QUICK = (*NAMES, "--auditor", "skbiasamp:DirectionalAuditor")
COMMANDS = {
    "audit": ("audit", "test.csv", *QUICK),
    "compare": ("compare", "test.csv", *QUICK[:3], "a=predicted", "b=hired", *QUICK[4:]),
    "over": ("over", "01.csv", "02.csv", *NAMES, "--time", "month"),
    "demo": ("demo",),
    "--help": ("audit", "--help"),
    "--version": ("--version",),
}
each_stream = pytest.mark.parametrize(
    ("command", "buffered"),
    [*((command, True) for command in COMMANDS), ("audit", False), ("--help", False)],
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with files of rows, two of which are of a month each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for file, n in (("01.csv", 50), ("02.csv", 60), ("test.csv", 200)):
        sex = rng.choice(["f", "m"], n)
        hired = (rng.random(n) < np.where(sex == "f", 0.7, 0.3)).astype(int)
        predicted = np.where((sex == "f") & (rng.random(n) < 0.9), 1, hired)
        frame = pd.DataFrame({"sex": sex, "hired": hired, "predicted": predicted})
        frame.assign(month=f"2026-{file[:2]}-01").to_csv(file, index=False)
    return tmp_path


def stream(to, *, buffered):
    """Return a stream as Python makes it, or as it does with ``python -u``."""
    raw = open(to, "wb", buffering=-1 if buffered else 0)  # noqa: SIM115 (the caller closes it)
    return io.TextIOWrapper(raw, encoding="utf-8", write_through=not buffered)


def code_of(command):
    """Return the exit code, that of argparse too."""
    try:
        return main(COMMANDS[command])
    except SystemExit as ended:
        return ended.code


@each_stream
def test_full_standard_output_gives_exit_code_2(command, buffered, monkeypatch, capsys):
    # Closing writes what was left, as Python does at its end: that error would be exit code 120.
    with stream("/dev/full", buffered=buffered) as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert code_of(command) == 2
    assert capsys.readouterr().err == "skbiasamp: No space left on device\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_standard_output_changes_nothing(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert code_of(command) == 0
    assert capsys.readouterr().err == ""


@each_stream
def test_a_reader_who_leaves_changes_nothing(command, buffered, monkeypatch, capsys):
    """As in `skbiasamp audit ... | head -1`, with the pipe closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    with stream(write, buffered=buffered) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert code_of(command) == 0
    assert capsys.readouterr().err == ""


def test_a_reader_who_leaves_changes_neither_gate_nor_files(folder, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with stream(write, buffered=True) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main([*COMMANDS["audit"], "--fail-above", "0", "--json", "report.json"]) == 1
    assert "verdict" in json.loads((folder / "report.json").read_text("utf-8"))


@pytest.mark.parametrize("arguments", [("audit", "none.csv", *NAMES), ("audit",)])
def test_full_standard_error_does_not_change_the_exit_code(arguments, monkeypatch):
    """Of a file that is not there, and of arguments that argparse refuses."""
    monkeypatch.setitem(COMMANDS, "wrong", arguments)
    with stream("/dev/full", buffered=False) as full:
        monkeypatch.setattr(sys, "stderr", full)
        assert code_of("wrong") == 2


@pytest.mark.parametrize(
    ("redirected", "code", "error"),
    [
        (">&-", 0, ""),
        (">&- 2>&-", 0, ""),
        (">/dev/full", 2, "skbiasamp: No space left on device\n"),
    ],
)
def test_a_process_ends_with_the_code_of_its_command(redirected, code, error):
    command = f"'{sys.executable}' -m skbiasamp {' '.join(COMMANDS['audit'])} {redirected}"
    env = os.environ | {"PYTHONUNBUFFERED": ""}
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, error)
