"""What benchmarks share: tables, the command line, and what another script defines."""

import argparse
import ast
from pathlib import Path


def markdown(header, rows, n_numbers=0):
    """Return a table; its last columns, of numbers, are aligned to the right."""
    lines = ["| " + " | ".join(header) + " |"]
    lines.append("|" + "---|" * (len(header) - n_numbers) + "--:|" * n_numbers)
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def filled(script, **values):
    """Return the text that lies beside a script, with values in its braces."""
    return Path(script).with_suffix(".md").read_text("utf-8").format(**values)


def command(script, doc, measure, **more):
    """Be the command of a script: print the page, or write it.

    Its text is the Markdown file beside the script; `measure` returns its values for the options.
    `more` are options beside --short and --write, with what argparse needs to know of them.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="little data, few rounds: a check")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    for name, how in more.items():
        parser.add_argument(f"--{name}", **how)
    options = parser.parse_args()
    if options.short and options.write:
        parser.error("--short measures nothing worth writing down.")
    text = filled(script, **measure(options))
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


def is_short(doc):
    """Return whether a script is called with --short, its only option."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="little data, nothing is written")
    return parser.parse_args().short


def defined_in(path):
    """Return what a script imports and defines, without running the rest."""
    tree = ast.parse(path.read_text("utf-8"))

    def defines(node):
        constant = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).isupper()
        return constant or isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)

    tree.body = [node for node in tree.body if defines(node)]
    names = {}
    exec(compile(tree, path, "exec"), names)
    return names
