"""Writing is atomic: whatever happens in the middle, a reader finds the old file or the new one."""

import math
import os
import resource
import signal
import stat
import subprocess
import sys
import time

import pytest

import skbiasamp

CELLS = skbiasamp.Contingency.from_labels([0, 1, 1], sensitive_features=["f", "f", "m"])
OLD = "the old report, whole"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "report.json").write_text(OLD)
    return tmp_path / "report.json"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))  # as on a full disk
    try:
        with pytest.raises(OSError, match="File too large"):
            CELLS.to_json(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == OLD
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("nowhere/x.json", FileNotFoundError, "there is no folder nowhere to write x.json to"),
        (".", IsADirectoryError, ". is a folder: name the file to write"),
        ("x" * 300, OSError, "File name too long: '" + "x" * 300 + "'"),
    ],
)
def test_a_path_that_cannot_be_written_is_named(name, kind, text, path, monkeypatch):
    """It was the name of a temporary file in a folder that is not there."""
    monkeypatch.chdir(path.parent)
    with pytest.raises(kind) as caught:
        CELLS.to_json(name)
    assert str(caught.value).endswith(text)


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it has its name by now
        return math.inf


def test_a_kill_in_the_middle_leaves_the_old_file(path):
    size = 30_000_000
    path.write_text("0" * size)
    write = f"while 1: written('1' * {size}, sys.argv[1])"
    code = f"import sys; from skbiasamp._io import written\n{write}"
    process = subprocess.Popen([sys.executable, "-c", code, path])
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        # The moment to end it is when a file in the folder is not complete.
        if any(size_of(one) < size for one in path.parent.iterdir()):
            process.send_signal(signal.SIGKILL)
            break
    assert process.wait() == -signal.SIGKILL
    content = path.read_text()
    assert len(content) == size
    assert len(set(content)) == 1


def test_a_new_file_has_the_mode_of_any_and_an_old_one_and_a_link_stay_what_they_are(path):
    fresh, plain = path.with_name("fresh.json"), path.with_name("plain")
    plain.touch()
    CELLS.to_json(fresh)
    assert stat.S_IMODE(fresh.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    link = path.with_name("latest.json")
    link.symlink_to(path.name)
    CELLS.to_json(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert skbiasamp.Contingency.from_json(path) == CELLS


def test_a_protected_file_stays(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to every file
    with pytest.raises(PermissionError, match=r"report\.json is write-protected"):
        CELLS.to_json(path)
    assert path.read_text() == OLD
