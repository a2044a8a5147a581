"""Pages and README say what is so: code on them runs, every public name is in the reference."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from test_architecture import LAYERS

import skbiasamp

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted(DOCS.glob("*.md"))


def public_names(module):
    """Yield the public names of a module, and of the public modules in it."""
    for name in module.__all__:
        if inspect.ismodule(thing := getattr(module, name)):
            yield from public_names(thing)
        else:
            yield f"{module.__name__}.{name}"


NAMES = sorted(public_names(skbiasamp))


def look_up(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def blocks(page):
    """Return the Python in a page's fences, in order, each without its indentation."""
    found = re.findall(r"^( *)```python\n(.*?)^\1```", page.read_text("utf-8"), re.DOTALL | re.M)
    return [inspect.cleandoc(code) for _, code in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_links_and_pictures_of_a_page_are_sound(page):
    text = page.read_text("utf-8")
    # Else the closing fence is what doctest expects, or Markdown takes >>> for a quotation.
    prompts = len(re.findall(r"^ *>>> ", text, re.M))
    fenced = re.findall(r"^ *```python\n( *>>> .*?)^ *```", text, re.DOTALL | re.M)
    assert sum(len(re.findall(r"^ *>>> ", block, re.M)) for block in fenced) == prompts
    assert all(re.search(r"\n *\n\Z", block) for block in fenced)
    pictures = re.findall(r"!\[(.*?)\]\(.*?\)", text, re.DOTALL)
    assert all(len(alt) > 40 for alt in pictures)
    for target in re.findall(r"\]\(([^)#\s]+\.md)", text):
        assert (DOCS / target).is_file() or target in {"api", "auto_examples/index"}, target
    for name in re.findall(r"auto_examples/([\w/]*plot_\w+)", text):
        assert (DOCS.parent / "examples" / f"{name}.py").is_file(), name


def test_doctest_sees_every_page_with_examples(pytestconfig):
    with_examples = {page for page in DOCS.rglob("*.md") if ">>> " in page.read_text("utf-8")}
    assert len(with_examples) > 10
    assert with_examples <= set(PAGES)
    assert "*.md" in pytestconfig.getoption("doctestglob")
    assert "docs/*.md" in pytestconfig.getini("testpaths")


# The blocks of scale.md need a file and engines; tests/test_scale_page.py runs them.
PLAIN = [
    page
    for page in PAGES
    if page.name != "scale.md" and any(">>>" not in block for block in blocks(page))
]


@pytest.mark.pages
@pytest.mark.parametrize("page", PLAIN, ids=lambda page: page.name)
def test_code_without_prompts_runs_too(page, tmp_path, monkeypatch):
    """After the examples that stand above it on the page."""
    monkeypatch.chdir(tmp_path)
    text = "\n".join(blocks(page))
    for package in ("torch", "skorch", "matplotlib", "jinja2", "fairlearn"):
        if re.search(rf"import {package}|from {package}|needs {package}", text):
            pytest.importorskip(package)
    if "matplotlib" in text or "plotting" in text:
        importlib.import_module("matplotlib").use("Agg")
    names = {"__name__": page.stem}
    for block in blocks(page):
        if "import mlflow" in block or "import skore" in block:
            continue  # tests/test_clients.py has the client
        if ">>>" in block:
            for example in doctest.DocTestParser().get_examples(block):
                exec(compile(example.source, page.name, "single"), names)
        else:
            exec(compile(block, page.name, "exec"), names)


def test_old_addresses_lead_to_pages():
    text = (DOCS / "conf.py").read_text("utf-8")
    names = {}
    exec(re.search(r"^redirects = \{.*?^\}", text, re.DOTALL | re.MULTILINE)[0], names)
    for old, new in names["redirects"].items():
        page, _, place = new.partition("#")
        assert not (DOCS / f"{old}.md").exists()
        headings = re.findall(r"^#+ (.*)", (DOCS / f"{page}.md").read_text("utf-8"), re.M)
        assert not place or place in [title.lower().replace(" ", "-") for title in headings]


def test_the_page_of_the_architecture_is_that_of_the_package():
    """Whoever looks for one of ten places finds the words in the file."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition("## Ten places")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 10
    for _, files, words in rows:
        named = [re.findall("`(.+?)`", cell) for cell in (files, words)]
        words = named[1] if len(named[1]) > 1 else named[1] * len(named[0])
        for file, word in zip(named[0], words, strict=True):
            assert word in (Path(skbiasamp.__file__).parent / file).read_text("utf-8"), word
    (row,) = re.findall(r"^`_utils` · .*?\n\n", text, re.M | re.DOTALL)
    layers = [name for name in LAYERS if name[:2] != "__" and "." not in name]
    assert re.findall("`(.+?)`", row) == layers


def test_the_readme_is_short_and_names_what_exists():
    assert len(README.splitlines()) <= 110
    before, commands = README.split("```")[:2]
    assert len(before.splitlines()) < 25
    assert re.findall(r"^make (\w+)", commands, re.M) == ["audit", "test"]
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).is_file()] == []
    named = re.findall(r"`(\w+Auditor|\w+_amplification|bias_disparity)\b", README)
    assert len(named) == len(set(named)) == 12
    assert [name for name in named if not hasattr(skbiasamp.metrics, name)] == []


def test_every_public_name_is_in_the_reference():
    """Names that are public in two places stand there once."""
    listed, module = [], ""
    for line in (DOCS / "api.rst").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            listed.append(f"{module}.{line.strip()}")
    assert len(listed) == len({id(look_up(name)) for name in listed})
    there = {id(look_up(name)) for name in listed}
    assert not [name for name in NAMES if id(look_up(name)) not in there]
    assert set(listed) <= set(NAMES)


def test_every_public_name_has_an_example_that_runs():
    """Doctest runs them; here is checked that they are there, and do something."""
    without = []
    for name in NAMES:
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(look_up(name)) or "")
        calls = [node for one in examples for node in ast.walk(ast.parse(one.source))]
        if not any(isinstance(node, ast.Call) for node in calls):
            without.append(name)
    assert not without
