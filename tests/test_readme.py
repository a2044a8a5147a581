"""The README: its snippet, its workflow and its tables say what is so."""

import doctest
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from skbiasamp.cli import main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def names():
    """What the examples define. That they print what the page says, doctest checks."""
    defined = {}
    for example in doctest.DocTestParser().get_examples(TEXT):
        exec(compile(example.source, "README.md", "single"), defined)
    return defined


def test_it_can_be_read_in_a_minute():
    assert len(TEXT.splitlines()) <= 110
    examples = doctest.DocTestParser().get_examples(TEXT)
    code = "".join(example.source for example in examples)
    assert "load_compas()" in code
    assert "skbiasamp.audit(" in code
    assert len(examples) <= 10


def test_the_first_commands_are_those_of_a_copy_of_the_repository():
    before, commands = TEXT.split("```")[:2]
    assert len(before.splitlines()) < 25
    first, second = re.findall(r"^make (\w+)", commands, re.M)
    targets = (ROOT / "Makefile").read_text("utf-8")
    assert (first, second) == ("audit", "test")
    assert all(f"\n{target}: " in targets for target in (first, second))


def test_links_and_pictures_lead_somewhere():
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_the_workflow_audits_a_file_of_these_rows(names, tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    test = names["X_test"].assign(race=names["race_test"], charged=names["y_test"])
    test["predicted"] = names["predicted"]
    test.to_csv("test.csv", index=False)
    workflow = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[1]
    assert len(workflow.splitlines()) == 10
    (command,) = re.findall(r"- run: (skbiasamp .*\n +--.*)", workflow)
    program, *arguments = shlex.split(command)
    assert program == "skbiasamp"
    assert main(arguments) == 1  # the interval lies above the limit
    assert f"{names['report']['directional A->T'].value:+.4f}" in capsys.readouterr().out


def test_every_metric_of_the_table_exists():
    metrics = importlib.import_module("skbiasamp.metrics")
    named = re.findall(r"`(\w+Auditor|\w+_amplification|bias_disparity)\b", TEXT)
    assert len(named) == len(set(named)) == 12
    assert [name for name in named if not hasattr(metrics, name)] == []
