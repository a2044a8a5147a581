"""What the terminal shows."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import textwrap

from skbiasamp._words import DIRECTION_OF, printable
from skbiasamp.results import AuditReport

_TITLES = ("audit", "value", "95 % interval", "p", "verdict")
_MOST_FILES = 5


def say(text: str = "", *, end: str = "\n", flush: bool = False, styled: bool = False) -> None:
    """Print text, until its reader has seen enough (head, less): then the run goes on silently."""
    try:
        print(text if styled else printable(text), end=end, flush=flush)
    except OSError as error:
        # Python would try to write what is left once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def _width() -> int:
    return max(40, min(80, shutil.get_terminal_size().columns))


def filled(text: str, indent: str = "", first: str | None = None) -> str:
    """Return text in lines that the terminal has room for."""
    start = indent if first is None else first
    return textwrap.fill(printable(text), _width(), initial_indent=start, subsequent_indent=indent)


def say_summary(report: AuditReport) -> None:
    """Print the table of a report, with rich where it is installed."""
    rows = report._cells
    if importlib.util.find_spec("rich") is None:
        say()
        for name, value, interval, p_value, verdict in (_TITLES, *rows):
            say(f"{name:<20}{value:>9}  {interval:<18}{p_value:>9}  {verdict}".rstrip())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, justify="right" if title in ("value", "p") else "left")
    for texts in rows:
        table.add_row(*map(Text, texts), style="bold" if texts[-1] in DIRECTION_OF else None)
    console = Console(width=_width())
    with console.capture() as shown:  # by itself rich ends the process if nobody reads on
        console.print(table)
    say(shown.get(), end="", styled=True)


def say_files(report: AuditReport) -> None:
    """Print the files that were read."""
    say("\nFiles read:")
    for one in report.data_files[:_MOST_FILES]:
        say(filled("{path} ({rows:,} rows, {format})".format(**one), "  ", first="- "))
        say(f"  SHA-256 {one['sha256']}")
    n_more = len(report.data_files) - _MOST_FILES
    if n_more > 0:
        say(f"- and {n_more:,} more, which --json lists")
