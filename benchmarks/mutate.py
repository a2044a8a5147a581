"""Change the package a little, many times, and count how many changes the tests catch.

    make mutate FILE=skbiasamp/inference/_intervals.py           # 20 changes of one module
    make mutate FILE=skbiasamp/inference SAMPLE=40 SEED=1        # of all modules of a folder

Cosmic Ray makes the changes, in a copy of the project. Each is judged by the tests that execute the
changed line, fastest first. Which these are is measured once, in a run of all tests.
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
import time
from difflib import unified_diff
from pathlib import Path

import coverage
import pytest
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator

ROOT = Path(__file__).resolve().parents[1]
LINES = ROOT / ".coverage.mutate"
SECONDS = LINES.with_suffix(".seconds.json")
# Of an operator, the nearest others: what is far from it fails in any test.
NEAREST = re.compile(
    "(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Div|Mod_FloorDiv|Pow_Mul|BitAnd_BitOr|BitOr_BitAnd|"
    "Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is|USub_UAdd|Delete_Not|"
    "Delete_Invert)$|AddNot|True|False|AndWithOr|OrWithAnd|Break|Number|Decorator|ForLoop"
)
OPPOSITES = "max/min maximum/minimum idxmax/idxmin argmax/argmin any/all floor/ceil sum/mean"
SWAPS = {}
for pair in OPPOSITES.split():
    left, right = pair.split("/")
    SWAPS |= {left: right, right: left}


def is_called(name):
    return name.parent.type == "trailer" or name.get_next_leaf() == "("


class SwapName(Operator):
    """Call the function that does the opposite."""

    def mutation_positions(self, node):
        if node.type == "name" and node.value in SWAPS and is_called(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = SWAPS[node.value]
        return node

    @classmethod
    def examples(cls):
        return ()


class DropKeyword(SwapName):
    """Leave a keyword argument out."""

    def mutation_positions(self, node):
        if node.type == "argument" and node.children[1] == "=":
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        comma = node.get_next_sibling()
        if comma is not None and comma == ",":
            comma.value = ""
        return None


class Contexts:
    """Pytest plugin that writes down which tests execute a line, and how long each takes."""

    def __init__(self, measured):
        self.measured, self.seconds, self.failed = measured, {}, set()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        self.measured.switch_context(collector.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.measured.switch_context(item.nodeid)
        begun = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - begun
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        # What the first test of a file sets up is used by the others too.
        before = self.measured.switch_context(request.node.nodeid)
        result = yield
        self.measured.switch_context(before)
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)


def import_all():
    for module in pkgutil.walk_packages([str(ROOT / "skbiasamp")], "skbiasamp."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def measure():
    """Run all tests, and write down the lines that each executes."""
    os.chdir(ROOT)
    LINES.unlink(missing_ok=True)
    measured = coverage.Coverage(data_file=LINES, source=["skbiasamp"], config_file=False)
    measured.set_option("run:relative_files", True)
    measured.start()
    import_all()
    contexts = Contexts(measured)
    pytest.main(["-q", "-m", "not benchmarks and not pages"], plugins=[contexts])
    measured.stop()
    measured.save()
    passed = {test: time for test, time in contexts.seconds.items() if test not in contexts.failed}
    SECONDS.write_text(json.dumps(passed))


def is_left_alone(node):
    """Whether a node is a type, a star of arguments, or an assertion that no caller can see."""
    return (
        node.type in {"annassign", "tfpdef"}
        or node.get_previous_sibling() == "->"
        or (node.type == "operator" and node.parent.type in {"parameters", "dictorsetmaker"})
        or (node.type == "argument" and node.get_code().strip() == "strict=True")
    )


def changes(path):
    """List the places of a module that can be changed: of each, the ways to change it."""
    source = path.read_text(encoding="utf-8")
    names = [name for name in plugins.operator_names() if NEAREST.search(name)]
    operators = [SwapName(), DropKeyword(), *(plugins.get_operator(name)() for name in names)]
    nodes = list(ast_nodes(get_ast(source)))
    places = {}
    for operator in operators:
        hits = ((node, where) for node in nodes for where in operator.mutation_positions(node))
        for occurrence, (node, where) in enumerate(hits):
            parents = [node]
            while parents[-1].parent is not None:
                parents.append(parents[-1].parent)
            if not any(map(is_left_alone, parents)):
                places.setdefault(where, []).append((path, operator, occurrence, parents))
    return list(places.values())


def tests_of(path, parents, lines, seconds, limit):
    """List the tests that execute a change, fastest first, as many as the limit allows."""
    contexts = lines.contexts_by_lineno(str(path.relative_to(ROOT)))
    for node in parents:
        first, last = node.start_pos[0], node.end_pos[0]
        executed = {name for line in range(first, last + 1) for name in contexts.get(line, ())}
        executed = tuple(sorted(executed - {""}))
        if executed:
            break
    chosen = sorted((test for test in seconds if test.startswith(executed)), key=seconds.get)
    total = 0
    for index, test in enumerate(chosen):
        total += seconds[test]
        if total > limit:
            return chosen[: max(index, 1)]
    return chosen


def is_caught(copy, tests, limit):
    """Run the tests on the changed copy until one fails, in a process that has the libraries."""
    (copy / "tests.txt").write_text("\n".join(tests), encoding="utf-8")
    child = os.fork()
    if not child:
        # Time of the processor, so that no change is caught because the machine is busy.
        resource.setrlimit(resource.RLIMIT_CPU, (int(60 + 4 * limit),) * 2)
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path.insert(0, str(copy))
        with open(copy / "log.txt", "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "@tests.txt"]))
    return os.waitpid(child, 0)[1] != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="modules or folders to change")
    parser.add_argument("--measure", action="store_true", help="measure which tests execute a line")
    parser.add_argument("--sample", type=int, default=20, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--seconds", type=float, default=30, help="time of tests of one change")
    args = parser.parse_args()
    if args.measure:
        measure()
    lines = coverage.CoverageData(LINES)
    lines.read()
    seconds = json.loads(SECONDS.read_text())
    files = [
        file
        for path in args.paths
        for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    places = [place for file in files for place in changes(file.resolve())]
    draw = random.Random(args.seed)
    sample = draw.sample(places, min(args.sample, len(places)))
    caught = 0
    import_all()
    for name in [name for name in sys.modules if name.partition(".")[0] == "skbiasamp"]:
        del sys.modules[name]  # what it imports stays
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", "_build"))
        for count, place in enumerate(sample, start=1):
            path, operator, occurrence, parents = draw.choice(place)
            before = path.read_text(encoding="utf-8")
            after = mutate_code(before, operator, occurrence)
            target = copy / path.relative_to(ROOT)
            target.write_text(after, encoding="utf-8")
            # Times of its own: compiled code of the change before is not reused.
            os.utime(target, (count, count))
            tests = tests_of(path, parents, lines, seconds, args.seconds)
            result = bool(tests) and is_caught(copy, tests, args.seconds)
            caught += result
            if not result:
                difference = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
                name = path.relative_to(ROOT)
                print(f"\nsurvived {len(tests)} tests: {name}", *list(difference)[2:], sep="\n")
            print(f"{caught} of {count} changes caught", flush=True)
            shutil.copy2(path, target)


if __name__ == "__main__":
    main()
