"""What the page about other programs says of our numbers and of the formulas."""

import inspect
import operator
import re
import sys
import warnings
from pathlib import Path

import pytest

import skbiasamp

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def migration():
    sys.path.insert(0, str(PROJECT / "benchmarks"))
    try:
        import migration
    finally:
        sys.path.pop(0)
    return migration


def test_ours_are_the_published_formulas(migration):
    for what, _, formula, _, ours in migration.measure(None):
        assert ours == pytest.approx(formula, abs=1e-12), what


def test_the_page_has_these_numbers(migration):
    page = (PROJECT / "docs" / "migration.md").read_text("utf-8")
    between = page.split(migration.BEGIN)[1].split(migration.END)[0]
    cells = [line.split("|")[1:-1] for line in between.strip().splitlines()[2:]]
    rows = migration.measure(None)
    assert len(cells) == len(rows)
    for (what, name, formula, peer, ours), row in zip(cells, rows, strict=True):
        assert (what.strip(), name.strip()) == (row[0], f"`{row[1]}`")
        assert [float(formula), float(ours)] == pytest.approx([row[2], row[4]], abs=5e-5)
        assert re.fullmatch(r" 0\.\d{4} ", peer)


def test_the_table_of_other_toolkits_has_our_numbers(migration):
    page = (PROJECT / "docs" / "migration.md").read_text("utf-8").replace("−", "-")
    between = page.split(migration.BEGIN_OTHERS)[1].split(migration.END)[0]
    cells = [line.split("|")[1:-1] for line in between.strip().splitlines()[2:]]
    rows = migration.measure_others(None)
    assert len(cells) == len(rows) == 6
    for (what, program, theirs, ours), row in zip(cells, rows, strict=True):
        assert (what.strip(), program.strip()) == row[:2]
        assert float(ours) == pytest.approx(row[3], abs=5e-5)
        if program.strip() == "OxonFair" and row[3]:  # a tie is the difference
            assert float(theirs) == -float(ours)
        if "README" in what and program.strip() == "AIF360":
            assert float(theirs) == float(ours)


def test_the_page_names_everything_public_that_is_renamed_or_gone():
    page = (PROJECT / "docs" / "migration.md").read_text("utf-8")
    section = page.split("## From 0.1.0")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    named = set(re.findall(r"[\w.]+", " ".join(rows)))
    changed = []
    for line in (PROJECT / "tests" / "data" / "public_0.1.0.txt").read_text("utf-8").splitlines():
        path, _, parameters = line.partition("(")
        owner, _, member = path.rpartition(".")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                public = operator.attrgetter(path)(skbiasamp)
            except (AttributeError, FutureWarning):
                if path not in named and owner not in named:
                    changed.append(path)
                continue
        if parameters.strip(")"):
            now = inspect.signature(public).parameters.values()
            if any(parameter.kind is parameter.VAR_KEYWORD for parameter in now):
                continue
            gone = set(parameters.strip(")").split(", ")) - {parameter.name for parameter in now}
            if gone and (not gone <= named or path not in named | {member}):
                changed.append((path, gone))
    assert not changed
