"""What scripts share that write a page of results: its tables, and the command line."""

import argparse
from pathlib import Path


def markdown(header, rows):
    """Return a table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def command(doc, page, **more):
    """Be the command of a script: print the page that `page` returns for the options, or write it.

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
    text = page(options)
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
