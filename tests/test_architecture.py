"""The architecture: the direction of imports, light imports, the public names."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor

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


def imports_of(path):
    """Return the import statements of a file, wherever in the file they are."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_layers(imports):
    """Yield the layers that import statements name."""
    for node in imports:
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for package, *rest in (name.split(".") for name in names):
            if package == "skbiasamp" and rest:
                yield layer_of(rest)


def files_of_layers():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] != "__init__":
            yield layer_of(parts), path


def test_a_module_imports_only_from_below_and_nothing_private():
    homes = set()
    for layer, path in files_of_layers():
        homes.add(layer)
        imports = imports_of(path)
        above = {other for other in imported_layers(imports) if HEIGHT[other] > HEIGHT[layer]}
        assert not above, path
        assert not list(private_imports(imports, layer.split(".")[0])), path
    assert homes == set(LAYERS)


def test_the_gates_see_upward_and_private_imports_second_meanings_and_named_metrics(tmp_path):
    file = tmp_path / "module.py"
    for statement in (
        "from skbiasamp import metrics",
        "import skbiasamp.metrics",
        "from skbiasamp.metrics import MALSAuditor",
        "def late():\n    from skbiasamp import metrics",
    ):
        file.write_text(statement)
        assert set(imported_layers(imports_of(file))) == {"metrics"}
    for statement, private in (
        ("from skbiasamp.metrics._attack_auditor import AttackAuditor", True),
        ("from skbiasamp.counts.cells import _sides", True),
        ("from skbiasamp._input.labels import Codes", False),
        ("from skbiasamp.results._result import AuditResult", False),
    ):
        file.write_text(statement)
        assert bool(list(private_imports(imports_of(file), "results"))) == private
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text("class Rows: ...")
    assert defined_twice(tmp_path) == {"Rows": ["one.py", "other.py"]}
    for code in (
        "one.metric == 'MALS'",
        "name.startswith(('leakage ', 'DPA'))",
        "report['directional A->T']",
        "isinstance(auditor, LeakageAuditor)",
        "from skbiasamp import MALSAuditor",
    ):
        assert list(metrics_named(code)), code


def private_imports(imports, package):
    """Yield what a package imports from others although its name is private there."""
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("skbiasamp."):
            _, home, *modules = node.module.split(".")
            names = [*modules, *(alias.name for alias in node.names)]
            if home != package and any(re.match("_(?!_)", name) for name in names):
                yield f"{node.module}: {', '.join(names[len(modules) :])}"


def names_of_modules(package):
    """Yield the functions and classes that a package's modules have for others."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path.relative_to(package).as_posix()


def defined_twice(package):
    found = defaultdict(list)
    for name, module in names_of_modules(package):
        found[name].append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def test_a_name_means_one_thing():
    assert not defined_twice(PACKAGE)


BASES = {"AttackAuditor", "CooccurrenceAuditor"}
AUDITORS = {name for name in skbiasamp.metrics.__all__ if name.endswith("Auditor")} - BASES
# A function has its own name.
METRICS = {
    getattr(skbiasamp.metrics, name).metric.lower() for name in AUDITORS - {"FunctionAuditor"}
}
READERS = ["report", "cli", "results", "plotting"]
# The auditor of a Display whose user names none, and that of the value whose parts are exact.
DEFAULTS = {
    "plotting/_common.py": ["DirectionalAuditor", "DirectionalAuditor"],
    "report/explain.py": ["DirectionalAuditor", "MALSAuditor"] * 2,
}


def metrics_named(source):
    """Yield the metrics that code names: as an object, or as text that is a name and no prose."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        names = [getattr(node, key, None) for key in ("id", "attr")]
        names += [node.name] if isinstance(node, ast.alias) else []
        yield from AUDITORS & {name for name in names if isinstance(name, str)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            first, *rest = [*node.value.split(), ""]
            whole = node.value.lower() in METRICS
            if whole or (
                first.lower() in METRICS and " ".join(rest).strip() in ("", "A->T", "T->A")
            ):
                yield node.value


def test_reports_pages_plots_and_commands_never_name_metrics():
    paths = [path for layer in READERS for path in (PACKAGE / layer).rglob("*.py")]
    named = {str(path.relative_to(PACKAGE)): [*metrics_named(path.read_text())] for path in paths}
    assert {name: found for name, found in named.items() if found} == DEFAULTS


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_needs_no_optional_package():
    optional = "{'torch', 'matplotlib', 'skorch', 'jinja2', 'rich', 'imblearn', 'polars', 'tqdm',"
    optional += " 'starlette', 'uvicorn'}"
    # scikit-learn's own search takes rich where it is installed.
    lines = ["import sys, sklearn.model_selection", "before = set(sys.modules)"]
    for statement in ("import skbiasamp", "from skbiasamp import *", "import skbiasamp.cli"):
        lines += [statement, f"print({optional} & (set(sys.modules) - before))"]
    assert run("\n".join(lines)).splitlines() == ["set()"] * 3


def test_importing_the_package_imports_no_layer():
    code = "import skbiasamp, sys; print([m for m in sys.modules if m.startswith('skbiasamp.')])"
    assert run(code) == "[]"


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
        DirectionalAuditor().fit(label, **rows).audit(label, label, **rows)

    audit()  # what is computed once for all calls
    functions, files, depth = entered(audit)
    assert functions <= 131
    assert files <= 24
    assert depth <= 13
