"""Stored JSON, read by the names and types of its fields; what is of another type is refused.

A type is one that fields of a dataclass have. `Annotated` adds functions: each takes what was read,
and returns what this means or raises `Wrong`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from reprlib import Repr
from types import UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, Array, NamedMissing
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._utils.formatting import printable

T = TypeVar("T")

_NOTHING: Any = object()  # a field that is not there
# The key of a name that is real, although missing values have it.
TEXT_OF = "text"
_LARGEST = float(np.finfo(float).max)
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class Wrong(Exception):
    """What a field holds is not of its type."""

    def __init__(self, value: Any, field: str = "") -> None:
        self.value, self.path = value, [field] * bool(field)

    def __str__(self) -> str:
        """Return what follows "This is no result:"."""
        seen = "nothing" if self.value is _NOTHING else _SHORT.repr(self.value)
        return f"field {'.'.join(self.path)!r} holds {seen}" if self.path else f"it holds {seen}"


@contextmanager
def _inside(field: str) -> Iterator[None]:
    try:
        yield
    except Wrong as wrong:
        wrong.path.insert(0, field)
        raise


def load_json(source: Any, read: Callable[[Any], T]) -> T:
    """Return what JSON means to `read`, or that of the file that a path names."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return read(_plain(source))
    if not isinstance(source, str | os.PathLike):
        raise InputTypeError(
            "{text} must be JSON, or the path of a file that has it; got {kind}.",
            kind=type(source).__name__,
        )
    try:
        text = Path(source).read_text(encoding="utf-8-sig")  # editors of Windows add a mark
    except ValueError as error:  # a path with NUL, a file that is no UTF-8
        template = "{path!r} cannot be read as JSON: {error}."
        raise InputError(template, path=str(Path(source)), error=error) from error
    try:
        return read(_plain(text))
    except InputError as error:
        error.begin_with(printable(f"{os.fspath(source)}: "))
        raise


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("This is no JSON, or not all of it: {error}.", error=error) from error


def understood(written_as: str, read: Callable[[Any], T], content: Any) -> T:
    """Return what `read` makes of plain objects, which were written in one format."""
    try:
        return read(content)
    except Wrong as wrong:
        text = "This is no {format}: {wrong}. Read it as skbiasamp wrote it, or write it again."
        raise InputError(text, format=written_as, wrong=wrong) from wrong
    except RecursionError as error:
        raise InputError("This JSON is nested too deeply.") from error


# --------------------------------------------------------------------------- types


def read_value(kind: Any, value: Any) -> Any:
    """Return what plain JSON means as a type: null is NaN as a number, a list may be a tuple."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        found = read_value(of[0], value)
        for step in of[1:]:
            found = step(found)
        return found
    if origin in (Union, UnionType):
        return None if value is None else read_value(of[0], value)
    if origin in (list, tuple):
        if not isinstance(value, list):
            raise Wrong(value)
        if origin is tuple and Ellipsis not in of and len(value) != len(of):
            raise Wrong(value)
        return origin(read_value(of[0], item) for item in value)
    if origin in (dict, Mapping):
        return read_fields(dict.fromkeys(_object(value), of[1]), value)
    if kind is float:
        return math.nan if value is None else _number(value)
    if kind is Hashable:
        return read_name(value)
    if kind in (str, bool):
        return value if isinstance(value, kind) else _refuse(value)
    if not is_dataclass(kind):
        return value
    stored = getattr(kind, "from_dict", None)
    return stored(value) if stored else kind(**read_fields(types_of(kind), value))


def _refuse(value: Any) -> Any:
    raise Wrong(value)


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return value
    raise Wrong(value)


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    raise Wrong(value)


def read_name(value: Any) -> Any:
    """Return the name of a group, a task or a class: a list is a combination, a tuple."""
    if isinstance(value, list):
        return tuple(map(read_name, value))
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return NamedMissing(MISSING) if value == {TEXT_OF: MISSING} else _refuse(value)


@cache
def types_of(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass' fields; those with a default may lack."""
    types = get_type_hints(kind, include_extras=True)
    return {
        one.name: types[one.name]
        if one.default is one.default_factory is NO_DEFAULT
        else NotRequired[types[one.name]]
        for one in fields(kind)
    }


def read_fields(types: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the fields of an object; others are left out: a later version may have them."""
    value, found = _object(value), {}
    for field, kind in types.items():
        needed, kind = _needed(kind)
        if needed or field in value:
            with _inside(field):
                held = value.get(field, _NOTHING)
                found[field] = _refuse(held) if held is _NOTHING else read_value(kind, held)
    return found


def _needed(kind: Any) -> tuple[bool, Any]:
    return (False, get_args(kind)[0]) if get_origin(kind) is NotRequired else (True, kind)


def check_intervals(found: Mapping[Any, Any]) -> None:
    """Raise unless intervals have their low end first."""
    for field in found:
        high = str(field).replace("low", "high")
        if high != field and high in found:
            low = np.atleast_1d(found[field])
            above = low > found[high]
            if above.any():
                raise Wrong(low[above].tolist()[0], field)


def object_reader(types: Mapping[str, Any], rest: Any = Any) -> Callable[[Any], dict[str, Any]]:
    """Return a function that reads an object, which may have further fields."""

    def read(value: Any) -> dict[str, Any]:
        every = dict.fromkeys(_object(value), rest) | types
        found = read_fields(every, value)
        return {field: found[field] for field in value}

    return read


# --------------------------------------------------------------------------- what values must be


def limited(least: float, most: float = math.inf) -> Callable[[T], T]:
    """Return a function that refuses numbers outside a range; NaN is none."""

    def check(found: Any) -> Any:
        numbers = np.asarray(found, dtype=float)
        outside = (numbers < least) | (numbers > most)
        return _refuse(numbers[outside].flat[0].item()) if outside.any() else found

    return check


def whole(found: Any) -> Any:
    """Refuse numbers that are not whole."""
    numbers = np.asarray(found, dtype=float)
    broken = numbers != np.rint(numbers)
    return _refuse(numbers[broken].flat[0].item()) if broken.any() else found


def known(found: Any) -> Any:
    """Refuse numbers that are not there."""
    return _refuse(None) if np.isnan(np.asarray(found, dtype=float)).any() else found


def one_of(*options: str) -> Callable[[Any], Any]:
    """Return a function that refuses what is none of some texts."""
    return lambda found: found if isinstance(found, str) and found in options else _refuse(found)


def all_different(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse names of which two are equal."""
    return found if len({*found}) == len(found) else _refuse([*found])


def nan_if_none(found: Any) -> Any:
    """Return what tables and statistics hold in place of what there is not."""
    return math.nan if found is None else found


Known = Annotated[float, known]
Share = Annotated[float, limited(0, 1)]
Level = Annotated[float, limited(0, 1), known]
Count = Annotated[float, limited(0)]
Whole = Annotated[float, known, whole]
Names = Annotated[tuple[Hashable, ...], all_different]
Name = Annotated[Hashable, nan_if_none]
Flag = Annotated[bool | None, nan_if_none]


# --------------------------------------------------------------------------- arrays and tables


def vector(value: Any) -> Array:
    """Return a list of numbers as an array."""
    if not isinstance(value, list) or None in value:
        raise Wrong(value)
    return _numbers(value).astype(float)


def matrix(value: Any) -> Array:
    """Return a list of lists of one length as an array."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise Wrong(value)
    width = len(value[0]) if value else 0
    for row in value:
        if len(row) != width:
            raise Wrong(row)
    return vector(list(chain.from_iterable(value))).reshape(len(value), width)


def _numbers(values: list[Any]) -> Array:
    """Return numbers as an array; null is NaN."""
    if not set(map(type, values)) <= {int, float, type(None)}:
        return np.array([read_value(float, one) for one in values])
    try:
        found = np.array(values, dtype=float)
        exact = np.array(values) if set(map(type, values)) == {int} else found
    except OverflowError as error:
        raise Wrong(max(values, key=abs)) from error
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong) > values.count(None):
        raise Wrong(next(values[i] for i in wrong if values[i] is not None))
    return exact if exact.dtype == np.int64 else found


_FRAME = {"index": list[Name], "columns": Names, "data": list[Any]}  # type: ignore[valid-type]


def table_reader(types: Mapping[Any, Any], rest: Any = Name) -> Callable[[Any], pd.DataFrame]:
    """Return a function that reads a table: a list of objects, or an object of three lists.

    Parameters
    ----------
    types : of the columns by name.
    rest : of any further column.
    """

    def read(value: Any) -> pd.DataFrame:
        index = None
        if isinstance(value, dict):
            parts = read_fields(_FRAME, value)
            index, names, rows = (parts[part] for part in _FRAME)
            if len(index) != len(rows):
                raise Wrong(index, "index")
            for row in rows:
                if not isinstance(row, list) or len(row) != len(names):
                    raise Wrong(row, "data")
            index = pd.Index(index, tupleize_cols=False)
        else:
            read_value(list[Any], value)
            names = tuple(_object(value[0])) if value else tuple(_always(types))
            for row in value:
                if _object(row).keys() != value[0].keys():
                    raise Wrong(row)
            rows = [[row[name] for name in names] for row in value]
        for name in _always(types):
            if rows and name not in names:
                raise Wrong(_NOTHING, name)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        found = {}
        for name, cells in zip(names, columns, strict=True):
            with _inside(str(name)):
                found[name] = _column(_needed(types.get(name, rest))[1], list(cells))
        check_intervals(found)
        table = pd.DataFrame(dict(enumerate(found.values())), index)
        return table.set_axis(pd.Index(names, tupleize_cols=False), axis="columns")

    return read


def _always(types: Mapping[Any, Any]) -> list[Any]:
    return [name for name, kind in types.items() if _needed(kind)[0]]


def _column(kind: Any, cells: list[Any]) -> Any:
    base, *steps = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if base is not float:
        return [read_value(kind, cell) for cell in cells]
    column = _numbers(cells)
    for step in steps:
        column = step(column)
    return column
