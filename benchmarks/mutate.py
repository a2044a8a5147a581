"""Change modules a little, and count how many of the changes the tests catch.

`make mutate FILE=skbiasamp/inference SAMPLE=40 SEED=1` makes 40 changes of a folder. Cosmic Ray
makes them in a copy of the project. Each change meets the tests that execute its lines for half a
minute: fast ones of each file, those that execute little but its module, and those that compare all
that is said. Printed are the changes that no test notices.
"""

import argparse
import importlib
import json
import os
import pkgutil
import random
import re
import resource
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from difflib import unified_diff
from itertools import chain, count
from pathlib import Path

import coverage
import pytest
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).resolve().parents[1]
LINES = ROOT / ".coverage.mutate"  # which tests execute a line
TIMES = ROOT / ".coverage.mutate.json"  # how many seconds a test takes
LIMIT = 60.0  # half a minute without coverage, with which times are taken
# Tests that compare everything that was said.
WHOLE = "tests/test_whole_documents.py", "tests/test_input_table.py"
# The nearest operators: almost any test notices a distant one.
NEAREST = re.compile(
    "(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Div|Mod_FloorDiv|Pow_Mul|BitAnd_BitOr|BitOr_BitAnd|"
    "Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is|USub_UAdd|Delete_Not|"
    "Delete_Invert)$|AddNot|True|False|AndWithOr|OrWithAnd|Break|Number|Decorator|ForLoop"
)
# Assertions, and how arrays are held: what is computed is the same without them.
HELD = {"strict", "frozen", "dtype", "keepdims", "minlength", "out"}
PAIRS = "max/min maximum/minimum idxmax/idxmin argmax/argmin any/all floor/ceil sum/mean"
OPPOSITE = {a: b for pair in PAIRS.split() for a, b in (pair.split("/"), pair.split("/")[::-1])}


class CallOpposite:
    def mutation_positions(self, node):
        called = node.parent and (node.parent.type == "trailer" or node.get_next_leaf() == "(")
        if called and node.type == "name" and node.value in OPPOSITE:
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = OPPOSITE[node.value]
        return node


class DropKeyword:
    def mutation_positions(self, node):
        if node.type == "argument" and node.children[1] == "=":
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        if (comma := node.get_next_sibling()) == ",":
            comma.value = ""


class Times(dict):
    def pytest_runtest_logreport(self, report):
        # A test that fails without a change judges none.
        time = float("inf") if report.failed else report.duration
        self[report.nodeid] = self.get(report.nodeid, 0.0) + time


def pytest_runtest_setup():
    """Forget what functions remember, which would be executed by the first test that needs it."""
    for name in [name for name in sys.modules if name.startswith("skbiasamp")]:
        for value in vars(sys.modules[name]).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def measure():
    """Run all tests, and write down the lines and the time of each."""
    os.chdir(ROOT)
    os.environ["COVERAGE_FILE"] = str(LINES)
    options = ["--cov=skbiasamp", "--cov-context=test", "--cov-report=", "-q", "-n2"]
    times = Times()
    sys.path.append(str(Path(__file__).parent))
    pytest.main([*options, "-p", "mutate", "-m", "not benchmarks"], plugins=[times])
    TIMES.write_text(json.dumps(times), encoding="utf-8")


def is_left_alone(node):
    """Return whether a node is a type, a star of parameters, or a keyword that changes nothing."""
    return (
        node.type in {"annassign", "tfpdef"}
        or node.get_previous_sibling() == "->"
        or (node.type == "operator" and node.parent.type in {"parameters", "dictorsetmaker"})
        or (node.type == "argument" and node.children[0].get_code().strip() in HELD)
    )


def places_of(path):
    """Return the places of a module that can be changed, and the ways to change each."""
    names = [name for name in plugins.operator_names() if NEAREST.search(name)]
    nodes = list(ast_nodes(get_ast(path.read_text(encoding="utf-8"))))
    places = {}
    for make in (CallOpposite, DropKeyword, *map(plugins.get_operator, names)):
        operator = make()
        hits = ((node, at) for node in nodes for at in operator.mutation_positions(node))
        for occurrence, (node, at) in enumerate(hits):
            around = [node]
            while around[-1].parent is not None:
                around.append(around[-1].parent)
            if not any(map(is_left_alone, around)):
                places.setdefault(at, []).append((path, operator, occurrence, around))
    return list(places.values())


def lines_by_test(recorded):
    """Return how many lines of each file a test executes."""
    lines = {}
    for file in recorded.measured_files():
        of_file = lines[file] = Counter()
        for contexts in recorded.contexts_by_lineno(file).values():
            of_file.update({context.rpartition("|")[0] for context in contexts})
    return lines


def tests_of(contexts, around, times, shares, folder):
    """Return the tests that execute a change: fast ones, of little else, and of all."""
    for node in around:
        lines = range(node.start_pos[0], node.end_pos[0] + 1)
        names = {name.rpartition("|") for line in lines for name in contexts.get(line, ()) if name}
        if names:
            break
    # What is set up for one test of a file is used by the others.
    whole = tuple(test.partition("::")[0] if on == "setup" else test for test, _, on in names)
    # The app runs in a process of its own, whose lines no coverage knows.
    whole += ("tests/test_app",) if folder == "app" else ()
    reaching = [test for test in times if test.startswith(whole)]
    left, chosen = LIMIT, []
    fast, of_file = sorted(reaching, key=times.get), defaultdict(count)
    place = {test: next(of_file[test.partition("::")[0]]) for test in fast}
    orders = (place.get, lambda test: -shares.get(test, 0.0), lambda t: not t.startswith(WHOLE))
    turns = zip(*(sorted(fast, key=order) for order in orders), strict=True)
    for test in dict.fromkeys(chain.from_iterable(turns)):
        if times[test] <= left:
            left -= times[test]
            chosen.append(test)
    return chosen


def is_caught(copy, tests):
    """Run tests on the changed copy until one fails, in a process that has the libraries."""
    (copy / "tests.txt").write_text("\n".join(tests), encoding="utf-8")
    child = os.fork()
    if not child:
        # A change that never ends is caught. Time of the processor, which others may keep busy.
        resource.setrlimit(resource.RLIMIT_CPU, (60 + 4 * int(LIMIT),) * 2)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        os.environ["PYTHONPATH"] = str(copy)
        with open(copy / "log.txt", "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        # The app's libraries bring a plugin of pytest, which is imported already.
        quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        try:
            os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *quiet, "@tests.txt"]))
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="modules or folders")
    parser.add_argument("--measure", action="store_true", help="which tests execute which line")
    parser.add_argument("--sample", type=int, default=20, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    args = parser.parse_args()
    if args.measure:
        return measure()
    recorded, times = coverage.CoverageData(LINES), json.loads(TIMES.read_text(encoding="utf-8"))
    recorded.read()
    files = [file.resolve() for path in args.paths for file in [path, *sorted(path.rglob("*.py"))]]
    places = [place for file in files if file.is_file() for place in places_of(file)]
    draw = random.Random(args.seed)
    sample = list(map(draw.choice, draw.sample(places, min(args.sample, len(places)))))
    # Libraries are imported once, the package anew for each change.
    for module in pkgutil.walk_packages([str(ROOT / "skbiasamp")], "skbiasamp."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "skbiasamp"]:
        del sys.modules[name]
    executed, caught = lines_by_test(recorded), 0
    every = sum(executed.values(), Counter())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        ignore = shutil.ignore_patterns(".venv*", ".git", ".*_cache", "_build")
        shutil.copytree(ROOT, copy, ignore=ignore)
        if is_caught(copy, sorted(times, key=times.get)[:20]):
            raise SystemExit("Tests fail without a change:\n" + (copy / "log.txt").read_text())
        for done, (path, operator, occurrence, around) in enumerate(sample, start=1):
            target, before = copy / path.relative_to(ROOT), path.read_text(encoding="utf-8")
            after = mutate_code(before, operator, occurrence)
            target.write_text(after, encoding="utf-8")
            # A time of its own: compiled code of the change before is not reused.
            os.utime(target, (done, done))
            contexts = recorded.contexts_by_lineno(str(path))
            shares = {test: n / every[test] for test, n in executed.get(str(path), {}).items()}
            tests = tests_of(contexts, around, times, shares, path.parent.name)
            if tests and is_caught(copy, tests):
                caught += 1
            else:
                lines = list(unified_diff(before.splitlines(), after.splitlines(), "", "", n=1))
                print(f"\n{path}: {len(tests)} tests, none fails", *lines[2:], sep="\n")
            shutil.copy2(path, target)
            print(f"{caught} of {done} changes caught", flush=True)


if __name__ == "__main__":
    main()
