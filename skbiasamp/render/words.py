"""Sentences: macros of template files that turn facts into text, the same for every format.

A page, a terminal and Markdown escape the text and write its signs their own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from skbiasamp._utils.formatting import (
    amount,
    count,
    level_of,
    limit_of,
    listed,
    number,
    p_equals,
    rate,
)


def express(file: str, macro: str, *values: Any) -> str:
    """Return what a macro of a file in `sentences` makes of values, on one line."""
    return " ".join(str(getattr(_module(file), macro)(*values)).split())


@cache
def environment(lines: bool = False) -> Any:
    """Return the environment of templates: a name that is not defined is an error.

    `lines`: those of pages, which are written line by line. Sentences keep the space of each line.
    """
    import jinja2

    made = jinja2.Environment(
        autoescape=lines,
        loader=jinja2.PackageLoader("skbiasamp", "render"),
        trim_blocks=lines,
        lstrip_blocks=lines,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_compiled(jinja2),
    )
    made.filters |= _FORMATS
    return made


def _compiled(jinja2: Any) -> Any:
    """Return where compiled templates are kept: compiling them takes ten times as long."""
    try:
        return jinja2.FileSystemBytecodeCache()  # in a temporary folder of this user alone
    except (OSError, RuntimeError):  # there is no such folder, as in a sandbox: they are not kept
        return None


@cache
def _module(file: str) -> Any:
    return environment().get_template(f"sentences/{file}.txt").module


def _parameter(name: str, names: Any, value: Any = None) -> str:
    """Return a parameter, or the option of a command, and the value to pass."""
    shown = names.get(name, name)
    rest = "" if value is None else f"={value!r}"
    if callable(shown):
        return str(shown(rest))
    return f"{shown}{rest}" if shown == name else f"{shown} {value if rest else ''}".strip()


def _points(share: float, form: str = ".1f") -> str:
    """Return a difference of rates in percentage points, without the unit."""
    return number(100 * share, form)


_FORMATS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "count": count,
    "level": level_of,
    "limit": limit_of,
    "listed": listed,
    "named": _parameter,
    "number": number,
    "p": p_equals,
    "points": _points,
    "rate": rate,
    "shown_points": lambda share: round(100 * share, 1),
    "size": lambda share: _points(abs(share)),
    "rounded_up": lambda n: f"{round_up(n):,}",
    "times": lambda share: number(share, ".2f"),
    "start": lambda text: text[:1].upper() + text[1:],
}


def round_up(rows: float) -> int:
    """Return a number of rows to two digits, rounded up."""
    step = 10 ** max(0, math.floor(math.log10(max(rows, 1))) - 1)
    return math.ceil(rows / step) * step
