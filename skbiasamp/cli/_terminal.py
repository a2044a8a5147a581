"""What the terminal shows."""

from __future__ import annotations

import importlib.util
import shutil
import textwrap

from skbiasamp._words import DIRECTION_OF, printable
from skbiasamp.results import AuditReport

_TITLES = ("audit", "value", "95 % interval", "p", "verdict")


def _width() -> int:
    return max(40, min(80, shutil.get_terminal_size().columns))


def filled(text: str, indent: str = "", first: str | None = None) -> str:
    """Return text in lines that the terminal has room for."""
    start = indent if first is None else first
    return textwrap.fill(printable(text), _width(), initial_indent=start, subsequent_indent=indent)


def print_summary(report: AuditReport) -> None:
    """Print the table of a report, with rich where it is installed."""
    rows = report._cells
    if importlib.util.find_spec("rich") is None:
        print()
        for name, value, interval, p_value, verdict in (_TITLES, *rows):
            print(f"{name:<20}{value:>9}  {interval:<18}{p_value:>9}  {verdict}".rstrip())
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
    Console(width=_width()).print(table)
