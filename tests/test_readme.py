"""The README: its first snippet, its picture and its command say what is so."""

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
    assert len(TEXT.splitlines()) < 150
    first = doctest.DocTestParser().get_examples(TEXT.split("All metrics")[0])
    code = "".join(example.source for example in first)
    assert "load_compas()" in code
    assert "skbiasamp.audit(" in code
    assert len(first) <= 10


def test_links_and_pictures_lead_somewhere():
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_the_picture_shows_the_audit_of_the_snippet(names):
    plt = pytest.importorskip("matplotlib.pyplot")
    spec = importlib.util.spec_from_file_location("draw", ROOT / "docs" / "images" / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    report = names["report"]
    draw.first_audit(report)
    shown = [text.get_text() for text in plt.gca().texts]
    plt.close("all")
    (described,) = re.findall(r"!\[(.*?)\]", TEXT, re.DOTALL)
    for _, row in report.rates.iterrows():
        for rate in (row["base_rate"], row["predicted_rate"]):
            assert f"{100 * rate:.1f} %" in shown
            assert f"{100 * rate:.1f} %" in described


def test_the_command_audits_files_of_these_rows(names, tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    train = names["X"].assign(race=names["race"], charged=names["y"])
    train.to_csv("train.csv", index=False)
    test = names["X_test"].assign(race=names["race_test"], charged=names["y_test"])
    test["predicted"] = names["model"].predict(names["X_test"])
    test.to_csv("test.csv", index=False)
    (command,) = re.findall(r"```\n(skbiasamp audit .*?)```", TEXT, re.DOTALL)
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    assert program == "skbiasamp"
    assert main(arguments) == 1  # the interval lies above the limit
    assert f"{names['report']['directional A->T'].value:+.4f}" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "the model widens the gap between African-American and Caucasian" in page
    assert "African-American." in page


def test_every_metric_of_the_table_exists():
    metrics = importlib.import_module("skbiasamp.metrics")
    named = re.findall(r"`(\w+Auditor|\w+_amplification|bias_disparity)\b", TEXT)
    assert len(named) > 12
    assert [name for name in named if not hasattr(metrics, name)] == []
