"""Run the examples in docstrings of an older release with today's package.

    git worktree add ../released v0.1.0
    python benchmarks/released.py ../released

Each example works, works with a `FutureWarning`, prints something else (other numbers, other
sentences), or raises an error. Errors must be about names that docs/migration.md lists.
"""

import ast
import doctest
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "migration.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples(release):
    """Yield the name of each public docstring with an example, and the docstring."""
    for path in sorted(Path(release, "skbiasamp").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if re.search(r">>> .*\bskbiasamp\b", text):
                    yield node.name, text


def outcome(name, text):
    """Return how an example ends, and what it says."""
    example, printed = doctest.DocTestParser().get_doctest(text, {}, name, None, 0), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failed = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=printed.append).failed
    errors = re.findall(r"^    (\w*(?:Error|Exception): .*)$", "".join(printed), re.MULTILINE)
    if errors:
        return "error", errors[0]
    if failed:
        return "other output", "".join(printed).splitlines()[-1].strip()
    old = [str(warning.message) for warning in caught if warning.category is FutureWarning]
    return ("warning", old[0]) if old else ("works", "")


def main(release):
    """Print how examples end; 1 if one raises an error about what the page does not list."""
    page, counts, unlisted = PAGE.read_text("utf-8"), Counter(), []
    for name, text in examples(release):
        how, says = outcome(name, text)
        counts[how] += 1
        if says:
            print(f"{name}: {how}: {says}")
        if how == "error" and not any(word in page for word in re.findall(r"'(\w+)'", says)):
            unlisted.append(name)
    print(", ".join(f"{how}: {n}" for how, n in counts.most_common()))
    print("Not listed in docs/migration.md:", ", ".join(unlisted) or "nothing")
    return int(bool(unlisted))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
