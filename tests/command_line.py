"""What tests of the command line share: its report, and its line of errors."""

import importlib.util
from unittest.mock import patch

from skbiasamp.cli import main


def pretend_without(monkeypatch, *names):
    """Let packages look as if they were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name in names else find(name, *rest),
    )


def report_of(kind, capsys, command, *arguments):
    """Return the report that a command line makes."""
    with patch.object(kind, "to_json", autospec=True) as write:
        assert main([command, *arguments, "--json", "report.json"]) == 0
    capsys.readouterr()
    return write.call_args.args[0]


def refused(capsys, command, *arguments):
    """Return the one line on standard error of a command line that was refused."""
    assert main([command, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("skbiasamp: ")
    assert printed.err.endswith("\n")
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("skbiasamp: ").strip()
