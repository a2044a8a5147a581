"""What the terminal shows."""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import sys
import textwrap
from typing import Any, TextIO

from skbiasamp._utils.formatting import (
    DIRECTION_OF,
    NO_DIFFERENCE,
    group_of,
    name_of,
    printable,
    rate,
)
from skbiasamp._utils.formatting import p_value as p_text
from skbiasamp.results import AuditReport, ComparisonReport

_TITLES = ("audit", "estimate", "95 % interval", "p", "verdict")
_MOST_FILES = 5
_MOST_GROUPS = 10
_MOST_UNREAD = 3
_LONGEST_MODEL = 15


def say(text: str = "", *, end: str = "\n", styled: bool = False) -> None:
    """Print text, until its reader has seen enough (head, less): then the run goes on silently."""
    try:
        # Flushed at once: an error is raised here, and not by rich or as Python ends.
        print(text if styled else printable(text), end=end, flush=True)
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


def _width() -> int:
    return max(40, min(80, shutil.get_terminal_size().columns))


def in_lines(text: str, indent: str = "", first: str | None = None) -> str:
    """Return text in lines that fit the terminal."""
    start = indent if first is None else first
    return textwrap.fill(printable(text), _width(), initial_indent=start, subsequent_indent=indent)


def say_summary(report: AuditReport) -> None:
    """Print the table of a report, with rich if it is installed."""
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
        table.add_column(title, justify="right" if title in ("estimate", "p") else "left")
    for texts in rows:
        table.add_row(*map(Text, texts), style="bold" if texts[-1] in DIRECTION_OF else None)
    console = Console(width=_width())
    with console.capture() as shown:  # by itself rich ends the process if nobody reads on
        console.print(table)
    say(shown.get(), end="", styled=True)


def say_audit(report: AuditReport, rows: str) -> None:
    """Print a report: verdict first, then what every metric says, and what to know."""
    say(in_lines(f"Audit of {rows}"))
    say(f"\nVerdict ({report.primary})")
    for text in report._opening:
        say(in_lines(text, "  "))
    say_summary(report)
    for name, sentence in report.sentences.items():
        if name != report.primary:
            say(f"\n{name}\n{in_lines(sentence, '  ')}")
    say("\nBefore you use these numbers:")
    for text in report._rest:
        say(in_lines(text, "  ", first="- "))


def say_comparison(report: ComparisonReport, rows: str) -> None:
    """Print a comparison: verdicts first, then every metric, accuracy, and whose rows changed."""
    models = [report.reference, *report.models]
    say(in_lines(f"Comparison of {len(models)} models with '{name_of(models[0])}' on {rows}"))
    say(f"\nVerdict ({report.primary})")
    for text in (*report.verdicts.values(), *report._disagreements):
        say(in_lines(text, "  ", first="- "))
    say(f"\n{'':17}{'estimate':>9}{'difference':>12}  {'95 % interval':<18}  verdict")
    doubtful = False
    for name, one in report.items():
        say(printable(name))
        for model, value in zip(one.table["model"], one.table["estimate"], strict=True):
            if model == models[0]:
                _say_row(model, f"{value:+.4f}", verdict="reference")
                continue
            difference, low, high = one.judged(model)
            ends = "" if math.isnan(low) else f"{low:+.4f} to {high:+.4f}"
            verdict = one.verdict(model)
            if verdict == NO_DIFFERENCE and (low > 0 or high < 0):
                verdict, doubtful = f"{verdict}*", True
            _say_row(model, f"{value:+.4f}", f"{difference:+.4f}", ends, verdict)
    if report.accuracy["accuracy"].notna().any():
        say("accuracy")
        for model, value, difference in report.accuracy.itertuples(index=False):
            change = "" if model == models[0] else f"{difference:+.4f}"
            _say_row(model, f"{value:.4f}", change)
    if doubtful:
        say("\n* not significant: p, adjusted for the number of models, is not below 0.05")
    _say_churn(report)


def _say_row(
    model: str, value: str, difference: str = "", ends: str = "", verdict: str = ""
) -> None:
    name = name_of(model)
    if len(name) > _LONGEST_MODEL:
        name = f"{name[: _LONGEST_MODEL - 1]}…"
    row = f"  {name:<{_LONGEST_MODEL}}{value:>9}{difference:>12}  {ends:<18}  {verdict}"
    say(row.rstrip())


def _say_churn(report: ComparisonReport) -> None:
    """Print for each model in which groups its predictions differ from the reference's."""
    churn = report[report.primary].churn
    for model, own in churn.groupby("model", sort=False):
        p_value = float(own["p_value"].iloc[0])
        pair = f"'{name_of(model)}' and '{name_of(report.reference)}'"
        say()
        say(in_lines(f"Rows for which {pair} predict differently, by group:"))
        for row in own.sort_values("share", ascending=False)[:_MOST_GROUPS].to_dict("records"):
            group = group_of(row["group"], report[report.primary].group_columns)
            count = f"{row['changed']:,.15g} of {row['n']:,.15g} rows"
            say(in_lines(f"{group}: {rate(row['share'])} ({count})", "  ", first="- "))
        if len(own) > _MOST_GROUPS:
            say(f"- and {len(own) - _MOST_GROUPS:,} more groups, which --json lists")
        if not math.isnan(p_value):
            sure = p_value < 0.05
            found = "The groups differ in this" if sure else "No clear difference between groups"
            size = p_text(p_value)
            say(f"  {found} (p {size if '<' in size else f'= {size}'}).")


def say_unread(unread: dict[str, list[str]]) -> None:
    """Print examples of texts from which no label was read."""
    for column, texts in unread.items():
        shown = "; ".join(f"'{name_of(text)}'" for text in texts[:_MOST_UNREAD])
        say()
        say(in_lines(f"No label was read from some texts of {name_of(column)}, such as: {shown}."))


def say_files(files: list[dict[str, Any]]) -> None:
    """Print the files that were read."""
    say("\nFiles read:")
    for one in files[:_MOST_FILES]:
        say(in_lines("{path} ({rows:,} rows, {format})".format(**one), "  ", first="- "))
        say(f"  SHA-256 {one['sha256']}")
    n_more = len(files) - _MOST_FILES
    if n_more > 0:
        say(f"- and {n_more:,} more, which --json lists")
