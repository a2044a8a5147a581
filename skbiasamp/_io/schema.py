"""Schemas of stored JSON: what each field must hold, checked and converted as it is read.

A check takes what was held and the path of its field, and returns what this means (a list may be
a tuple, null may be NaN). Checks are combined: `list_of`, `dict_of`, `record`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from itertools import chain
from pathlib import Path
from reprlib import Repr
from typing import Any

import numpy as np

from skbiasamp._input.checks import MISSING, Array, NamedMissing
from skbiasamp._input.errors import InputError, InputTypeError, speaking
from skbiasamp._utils.formatting import printable

Check = Callable[[Any, str], Any]

NOTHING: Any = object()  # a field that is not there
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60
short = _SHORT.repr


def load(source: Any, check: Check, writer: str) -> Any:
    """Return what JSON means, or that of the file that a path names; `writer` wrote it."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return _meaning(source, check, writer)
    if not isinstance(source, str | os.PathLike):
        raise InputTypeError(
            "{text} must be JSON, or the path of a file that has it; got {kind}.",
            kind=type(source).__name__,
        )
    text = _content(Path(source))
    try:
        return _meaning(text, check, writer)
    except InputError as error:
        error.begin_with(printable(f"{os.fspath(source)}: "))
        raise


def _meaning(text: str, check: Check, writer: str) -> Any:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("This is no JSON, or not all of it: {error}.", error=error) from error
    return read(held, check, writer)


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # editors of Windows add a mark
    except ValueError as error:  # a path with NUL, a file that is no UTF-8
        text = "{path!r} cannot be read as JSON: {error}."
        raise InputError(text, path=str(path), error=error) from error


def read(held: Any, check: Check, writer: str) -> Any:
    """Return what plain objects mean that `writer` made."""
    try:
        with speaking(writer=writer):
            return check(held, "")
    except RecursionError as error:
        raise InputError("This JSON is nested too deeply.") from error


def wrong(field: str, expected: str, held: Any = NOTHING, *, seen: str | None = None) -> InputError:
    """Return the error about a field: what it must be, and what it holds."""
    return InputError(
        "{field} must be {expected}; got {seen}. Read what {writer} wrote, or write it again.",
        field=field or "The JSON",
        expected=expected,
        seen=seen or ("nothing" if held is NOTHING else short(held)),
    )


# --------------------------------------------------------------------------- single values


def value(expected: str, accepts: Callable[[Any], bool]) -> Check:
    """Check one value, which is returned as it is."""

    def check(held: Any, field: str) -> Any:
        if not accepts(held):
            raise wrong(field, expected, held)
        return held

    return check


TEXT = value("text", lambda held: isinstance(held, str))
TRUTH = value("true or false", lambda held: isinstance(held, bool))
ANYTHING = value("there", lambda held: held is not NOTHING)


def one_of(*options: Any) -> Check:
    """Check for one of some texts; null is only for `optional`."""
    shown = " or ".join(map(repr, options))
    return value(shown, lambda held: isinstance(held, str) and held in options)


def number(least: float = -math.inf, most: float = math.inf, *, whole: bool = False) -> Check:
    """Check for a finite number from `least` to `most`."""

    def accepts(held: Any) -> bool:
        return (
            isinstance(held, int | float)
            and not isinstance(held, bool)
            and abs(held) <= _LARGEST  # NaN is not
            and least <= held <= most
            and not (whole and held != int(held))
        )

    return value(_range(least, most, whole=whole), accepts)


_LARGEST = float(np.finfo(float).max)


def _range(least: float, most: float, *, whole: bool) -> str:
    kind = "a whole number" if whole else "a number"
    if math.isinf(least):
        return kind
    return f"{kind} of {least:g} or more" if math.isinf(most) else f"{kind} {least:g} to {most:g}"


# The key of a name that is real, although missing values have it.
TEXT_OF = "text"


def name(held: Any, field: str) -> Any:
    """Check for the name of a group, a task or a class: a list is a combination, a tuple."""
    if held == {TEXT_OF: MISSING}:
        return NamedMissing(MISSING)
    if isinstance(held, list):
        return tuple(name(one, f"{field}[{i}]") for i, one in enumerate(held))
    if held is None or isinstance(held, str | bool | int | float):
        return held
    raise wrong(field, "a name (text, a number, or a list of these)", held)


def optional(check: Check, instead: Any = None) -> Check:
    """Let null stand for what is not there."""
    return lambda held, field: instead if held is None else check(held, field)


# --------------------------------------------------------------------------- several values


def list_of(check: Check) -> Check:
    """Check every item of a list."""

    def checked(held: Any, field: str) -> list[Any]:
        if not isinstance(held, list):
            raise wrong(field, "a list", held)
        return [check(one, f"{field}[{i}]") for i, one in enumerate(held)]

    return checked


def tuple_of(check: Check) -> Check:
    """Check every item of a list, which becomes a tuple."""
    return lambda held, field: tuple(list_of(check)(held, field))


def names(held: Any, field: str) -> tuple[Any, ...]:
    """Check for a list of names, each of which occurs once."""
    found = tuple(list_of(name)(held, field))
    if len(set(found)) < len(found):
        raise wrong(field, "a list of names that are all different", held)
    return found


def dict_of(check: Check) -> Check:
    """Check every value of an object."""

    def checked(held: Any, field: str) -> dict[str, Any]:
        held = _object(held, field)
        return {key: check(one, f"{field}[{key!r}]") for key, one in held.items()}

    return checked


def record(
    needed: Mapping[str, Check],
    others: Mapping[str, Check] | None = None,
    rest: Check | None = None,
) -> Check:
    """Check the fields of an object; `others` may lack, and `rest` is of any further field.

    Without `rest` further fields are left out: a later version may have added them.
    """
    known = {**needed, **(others or {})}

    def checked(held: Any, field: str) -> dict[str, Any]:
        held = _object(held, field)
        found = {}
        for key in (*needed, *(key for key in held if key not in needed)):
            check = known.get(key, rest)
            if check is not None:
                inner = f"{field}.{key}" if field else str(key)
                found[key] = check(held.get(key, NOTHING), inner)
        return {key: found[key] for key in held if key in found}

    return checked


def _object(held: Any, field: str) -> dict[str, Any]:
    if not isinstance(held, dict) or not all(isinstance(key, str) for key in held):
        raise wrong(field, "an object whose keys are text", held)
    return held


def of_intervals(rows: list[Any], field: str, ends: Collection[tuple[str, str]]) -> None:
    """Raise unless rows of one table have the same keys, and intervals their low end first."""
    for i, row in enumerate(rows):
        where = f"{field}[{i}]" if len(rows) > 1 else field
        if list(row) != list(rows[0]):
            raise wrong(where, "an object with the keys of the first row", list(row))
        for low, high in ends:
            if low in row and high in row and row[low] > row[high]:
                raise wrong(f"{where}.{low}".strip("."), f"at most {high}, {row[high]}", row[low])


# --------------------------------------------------------------------------- arrays


def array(
    least: float = -math.inf, most: float = math.inf, *, n_axes: int = 1, whole: bool = False
) -> Check:
    """Check a list of finite numbers, or a list of such lists of one length."""
    single = number(least, most, whole=whole)

    def checked(held: Any, field: str) -> Array:
        if not isinstance(held, list):
            raise wrong(field, "a list of numbers" if n_axes == 1 else "a list of lists", held)
        flat, width = held, 0
        if n_axes == 2:
            width = len(held[0]) if held and isinstance(held[0], list) else 0
            for i, row in enumerate(held):
                if not isinstance(row, list) or len(row) != width:
                    raise wrong(f"{field}[{i}]", f"a list of {width or 'some'} numbers", row)
            flat = list(chain.from_iterable(held))
        # Only where something is wrong is every number looked at in Python.
        if set(map(type, flat)) <= {int, float}:
            try:
                found = np.array(flat, dtype=float)
            except OverflowError:
                found = np.array([np.nan])
            inside = np.isfinite(found) & (found >= least) & (found <= most)
            if inside.all() and not (whole and (found != np.rint(found)).any()):
                return found if n_axes == 1 else found.reshape(len(held), width)
        for i, one in enumerate(flat):
            single(one, f"{field}[{i}]" if n_axes == 1 else f"{field}[{i // width}][{i % width}]")
        raise wrong(field, "a list of numbers", held)

    return checked


def of_length(found: Collection[Any], n: int, field: str) -> None:
    """Raise unless a list has one item for each of `n` others."""
    if len(found) != n:
        raise wrong(field, f"a list of length {n}", seen=f"{len(found)} items")


def of_shape(found: Array, shape: tuple[int, int], field: str) -> None:
    """Raise unless an array has so many rows and columns."""
    if found.shape != shape and found.size + shape[0] * shape[1]:
        n, m = shape
        shown = f"{len(found)} lists of length {found.shape[1]}"
        raise wrong(field, f"{n} lists of length {m}", seen=shown)
