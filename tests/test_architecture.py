"""The house keeps its shape: the direction of imports, light imports, the public names."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import skbiasamp

PACKAGE = Path(skbiasamp.__file__).parent

# From the ground up: a room imports only from rooms below it.
ROOMS = [
    "_compat",
    "_warnings",
    "_words",
    "_labels",
    "_sums",
    "_engines",
    "_files",
    "_cells",
    "_draws",
    "_merging",
    "_stored",
    "_task_sums",
    "_frames",
    "contingency",
    "attackers",
    "metrics",
    "inference",
    "_page",
    "results",
    "auditors",
    "compose",
    "model_selection",
    "mitigation",
    "plotting",
    "datasets",
    "report",
    "cli",
    "__main__",
]
FLOOR = {room: floor for floor, room in enumerate(ROOMS)}


def imported_rooms(path):
    """Yield the rooms a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for package, *rest in (name.split(".") for name in names):
            if package == "skbiasamp" and rest:
                yield rest[0]


def files_of_rooms():
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if room != "__init__":
            yield room, path


@pytest.mark.parametrize(
    ("room", "path"), [pytest.param(room, path, id=path.stem) for room, path in files_of_rooms()]
)
def test_a_room_imports_only_from_below(room, path):
    assert room in FLOOR, f"{room} has no floor: give it one in ROOMS"
    upward = {other for other in imported_rooms(path) if FLOOR[other] > FLOOR[room]}
    assert not upward


@pytest.mark.parametrize(
    "statement",
    [
        "from skbiasamp import auditors",
        "import skbiasamp.auditors",
        "from skbiasamp.auditors import MALSAuditor",
        "def late():\n    from skbiasamp import auditors",
    ],
)
def test_the_gate_sees_an_upward_import(tmp_path, statement):
    file = tmp_path / "room.py"
    file.write_text(statement)
    assert set(imported_rooms(file)) == {"auditors"}


METRICS = {"directional", "mals", "multi-attribute", "leakage", "dpa"}
READERS = ["report", "_page", "cli", "results", "plotting"]


def compared_metrics(source):
    """Yield the metric names that code compares with, tests the start of, or looks up by."""
    for node in ast.walk(ast.parse(source)):
        held = []
        if isinstance(node, ast.Compare):
            held = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            held = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.MatchValue):
            held = [node.value]
        elif isinstance(node, ast.Subscript):
            held = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            held = node.args if node.func.attr in ("startswith", "endswith", "get") else []
        for part in (inner for one in held for inner in ast.walk(one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                name = part.value.split()[0].lower() if part.value.strip() else ""
                if name in METRICS:
                    yield part.value


def test_the_metrics_are_those_of_the_auditors():
    auditors = importlib.import_module("skbiasamp.auditors")
    assert {getattr(auditors, name).metric.lower() for name in auditors.__all__} == METRICS


@pytest.mark.parametrize("room", READERS)
def test_reports_pages_plots_and_commands_never_compare_metric_names(room):
    files = sorted((PACKAGE / room).glob("*.py"))
    assert files
    assert {path.name: list(compared_metrics(path.read_text())) for path in files} == {
        path.name: [] for path in files
    }


@pytest.mark.parametrize(
    "code",
    [
        "one.metric == 'MALS'",
        "one.metric != 'DPA A->T'",
        "one.metric in ('leakage', 'other')",
        "name.startswith(('leakage', 'DPA'))",
        "TAGS = {'directional': 1}",
        "TAGS.get('multi-attribute')",
        "report['directional A->T']",
        "match one.metric:\n    case 'MALS': pass",
    ],
)
def test_the_gate_sees_a_compared_metric_name(code):
    assert list(compared_metrics(code))


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "statement", ["import skbiasamp", "from skbiasamp import *", "import skbiasamp.cli"]
)
def test_importing_needs_no_optional_package(statement):
    optional = "{'torch', 'matplotlib', 'skorch', 'jinja2', 'rich', 'pooch', 'imblearn', 'polars'}"
    # scikit-learn's own search takes rich where it is installed.
    before = "import sys, sklearn.model_selection; before = set(sys.modules)"
    assert run(f"{before}; {statement}; print({optional} & (set(sys.modules) - before))") == "set()"


def test_importing_the_package_imports_no_room():
    code = "import skbiasamp, sys; print([m for m in sys.modules if m.startswith('skbiasamp.')])"
    assert run(code) == "[]"


def test_public_names_exist_and_are_listed():
    for name in skbiasamp.__all__:
        assert getattr(skbiasamp, name) is not None
        assert name in dir(skbiasamp)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skbiasamp.nothing  # noqa: B018


@pytest.mark.parametrize(
    "module", ["datasets", "inference", "metrics", "model_selection", "plotting"]
)
def test_submodules_list_their_public_names(module):
    names = importlib.import_module(f"skbiasamp.{module}").__all__
    assert names == sorted(names)


def public_objects():
    for name in skbiasamp.__all__:
        thing = getattr(skbiasamp, name)
        if hasattr(thing, "__all__"):
            for inner in thing.__all__:
                yield pytest.param(getattr(thing, inner), id=f"{name}.{inner}")
        else:
            yield pytest.param(thing, id=name)


@pytest.mark.parametrize("thing", list(public_objects()))
def test_every_public_name_has_an_example(thing):
    assert "Examples\n" in thing.__doc__
    assert ">>> " in thing.__doc__
