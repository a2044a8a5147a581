"""The architecture: the direction of imports, light imports, the public names."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skbiasamp

PACKAGE = Path(skbiasamp.__file__).parent

# From the bottom up: a layer imports only from layers below it.
LAYERS = [
    "_utils",
    "_input",
    "text",
    "_io",
    "counts",
    "attackers",
    "inference",
    "render",
    "results",
    "metrics",
    "compose",
    "model_selection",
    "mitigation",
    "plotting",
    "datasets",
    "report.checks",
    "report",
    "monitoring",
    "integrations",
    "testing",
    "app",
    "cli",
    "__main__",
]
HEIGHT = {layer: height for height, layer in enumerate(LAYERS)}


def layer_of(parts):
    """Return the layer of a module: the longest part of its path that has a height."""
    return max((".".join(parts[:n]) for n in (1, 2)), key=lambda one: (one in HEIGHT, len(one)))


def imported_by(code):
    """Yield the module and the names of each import of the package, wherever it stands."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports relatively"
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


def faults_of(layer, code):
    """Yield what a layer imports from above, and from other packages although it is private."""
    for module, names in imported_by(code):
        package, *parts = module.split(".")
        for name in names or [None] if package == "skbiasamp" else []:
            path = [part for part in (*parts, name) if part]
            above = path and HEIGHT[layer_of(path)] > HEIGHT[layer]
            private = any(re.match("_(?!_)", part) for part in path[1:])
            if above or (private and path[0] != layer.split(".")[0]):
                yield ".".join(path)


def modules():
    """Yield each module's parts of its name and its code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).with_suffix("").parts, path.read_text("utf-8")


def test_a_module_imports_only_from_below_and_nothing_private():
    layers = {}
    for parts, code in modules():
        if parts[0] != "__init__":
            layers.setdefault(layer_of(parts), []).extend(faults_of(layer_of(parts), code))
    assert layers == {layer: [] for layer in LAYERS}
    for code, is_fault in {
        "from skbiasamp import metrics": True,
        "import skbiasamp.metrics": True,
        "def late():\n    from skbiasamp.metrics import MALSAuditor": True,
        "from skbiasamp.counts.cells import _sides": True,
        "from skbiasamp._input.labels import Codes": False,
        "from skbiasamp.results._result import AuditResult": False,
    }.items():
        assert bool([*faults_of("results", code)]) == is_fault, code


def test_no_filter_of_warnings_is_touched():
    """An audit in one thread would hide warnings of another, and undo what it sets."""
    touching = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    for parts, code in modules():
        names = {getattr(node, "attr", None) for node in ast.walk(ast.parse(code))}
        assert not names & touching, parts


BASES = {"BaseAuditor", "AttackAuditor", "CooccurrenceAuditor"}


def test_reports_pages_plots_and_commands_import_no_metric():
    """But for a Display whose user names none, and for the value whose parts are exact."""
    found = set()
    for parts, code in modules():
        if parts[0] in ("report", "cli", "results", "plotting"):
            names = {name for _, imported in imported_by(code) for name in imported}
            found |= {(*parts, name) for name in names - BASES if name.endswith("Auditor")}
    assert found == {
        ("plotting", "_common", "DirectionalAuditor"),
        ("report", "explain", "DirectionalAuditor"),
        ("report", "explain", "MALSAuditor"),
    }


def test_importing_imports_no_layer_and_needs_no_optional_package():
    # scikit-learn's own search takes rich where it is installed.
    code = """
import sys, sklearn.model_selection
before = set(sys.modules)
import skbiasamp
assert not [name for name in sys.modules if name.startswith("skbiasamp.")]
from skbiasamp import *
import skbiasamp.cli
more = {"torch", "matplotlib", "skorch", "jinja2", "rich", "imblearn", "polars", "tqdm"}
print((more | {"starlette", "uvicorn"}) & (set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_public_names_exist_and_are_listed():
    for name in skbiasamp.__all__:
        thing = getattr(skbiasamp, name)
        assert name in dir(skbiasamp)
        if hasattr(thing, "__all__"):
            assert thing.__all__ == sorted(thing.__all__), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skbiasamp.nothing  # noqa: B018


def entered(call):
    """Return the functions of the package that a call enters, their files, and the depth."""
    seen, depth, deepest = set(), 0, 0

    def note(frame, event, _):
        nonlocal depth, deepest
        code = frame.f_code
        if "skbiasamp" not in Path(code.co_filename).parts or code.co_name.startswith("<"):
            return
        if event == "call":
            depth, deepest = depth + 1, max(deepest, depth + 1)
            seen.add((code.co_filename, code.co_qualname))
        elif event == "return":
            depth -= 1

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({path for path, _ in seen}), deepest


def test_the_path_of_an_audit_grows_no_longer():
    """Functions, files and depth of the plainest audit: the next redesign makes them fewer."""
    group, label = np.repeat(["a", "b"], 50), np.tile([0, 1], 50)

    def audit():
        rows = {"sensitive_features": group}
        skbiasamp.DirectionalAuditor().fit(label, **rows).audit(label, label, **rows)

    audit()  # what is computed once for all calls
    functions, files, depth = entered(audit)
    assert functions <= 131
    assert files <= 24
    assert depth <= 13
