"""What the terminal shows."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any, TextIO

from skbiasamp._utils.formatting import name_of, printable
from skbiasamp.render.document import Document
from skbiasamp.render.text import as_text

_MOST_FILES = 5
_MOST_UNREAD = 3


def say(text: str = "", *, end: str = "\n") -> None:
    """Print text, until its reader has seen enough (head, less): then the run goes on silently."""
    try:
        # Flushed at once: an error is raised here, and not as Python ends.
        print(printable(text), end=end, flush=True)
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def complain(text: str = "", *, end: str = "\n") -> None:
    """Print text on standard error; if that cannot be written, the exit code remains."""
    try:
        print(printable(text), end=end, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Discard all further output: Python would try to write it as it ends, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width() -> int:
    """Return how many columns text has."""
    return max(40, min(80, shutil.get_terminal_size().columns))


def in_lines(text: str, indent: str = "", first: str | None = None) -> str:
    """Return text in lines that fit the terminal."""
    start = indent if first is None else first
    return textwrap.fill(printable(text), width(), initial_indent=start, subsequent_indent=indent)


def say_report(document: Document) -> None:
    """Print what a report says."""
    say(as_text(document, width()))


def say_and_write(report: Any, outputs: dict[str, Path], files: list[dict[str, Any]]) -> None:
    """Print what a report says and which files were read, and write it."""
    say_report(report.to_document())
    if files:
        say("\nFiles read:")
    for file in files[:_MOST_FILES]:
        say(in_lines("{path} ({rows:,} rows, {format})".format(**file), "  ", first="- "))
        say(f"  SHA-256 {file['sha256']}")
    if len(files) > _MOST_FILES:
        say(f"- and {len(files) - _MOST_FILES:,} more, which --json lists")
    for kind, path in outputs.items():
        getattr(report, f"to_{kind}")(path)
        say(f"\nWritten: {path}")


def say_unread(unread: dict[str, list[str]]) -> None:
    """Print examples of texts from which no label was read."""
    for column, texts in unread.items():
        shown = "; ".join(f"'{name_of(text)}'" for text in texts[:_MOST_UNREAD])
        say()
        say(in_lines(f"No label was read from some texts of {name_of(column)}, such as: {shown}."))
