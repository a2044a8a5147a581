"""Stored JSON, read by the names and types of its fields; what is of another type is refused.

A type is one that fields of a dataclass have. `Annotated` adds functions: each takes what was read,
and returns what this means or raises `Wrong`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass
from functools import cache, partial
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
_INTERVALS = (
    ("low", "high"),
    ("low_simultaneous", "high_simultaneous"),
    ("difference_low", "difference_high"),
)
_LARGEST = float(np.finfo(float).max)
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class Wrong(Exception):
    """What a field holds is not of its type."""

    def __init__(self, value: Any, field: str = "") -> None:
        self.value, self.path = value, [field] * bool(field)

    def __str__(self) -> str:
        """Return what follows "This is no result:"."""
        shown = "nothing" if self.value is _NOTHING else _SHORT.repr(self.value)
        return f"field {'.'.join(self.path)!r} holds {shown}" if self.path else f"it holds {shown}"


def _at(field: str, read: Callable[[Any], T], value: Any) -> T:
    try:
        return read(value)
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

Reader = Callable[[Any], Any]


@cache
def reader(kind: Any) -> Reader:
    """Return the function that reads plain JSON as a type: null is NaN, a list may be a tuple."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        read = reader(of[0])
        for step in of[1:]:
            read = partial(_then, read, step)
        return read
    if origin in (Union, UnionType):
        inner = reader(of[0])
        return lambda value: None if value is None else inner(value)
    if origin in (list, tuple):
        n = len(of) if origin is tuple and Ellipsis not in of else None
        return partial(_read_list, origin, reader(of[0]), n)
    if origin in (dict, Mapping):
        return object_reader({}, rest=of[1])
    if kind in (str, bool):
        return lambda value: value if isinstance(value, kind) else _refuse(value)
    if is_dataclass(kind):
        fields_of = object_reader(types_of(kind))
        return getattr(kind, "from_dict", lambda value: kind(**fields_of(value)))  # type: ignore[operator]
    return {float: _read_number, Hashable: read_name}.get(kind, lambda value: value)


def _then(read: Reader, step: Reader, value: Any) -> Any:
    return step(read(value))


def _refuse(value: Any) -> Any:
    raise Wrong(value)


def _read_list(kind: Any, read: Reader, n: int | None, value: Any) -> Any:
    if not isinstance(value, list) or len(value) != (len(value) if n is None else n):
        raise Wrong(value)
    return kind(map(read, value))


def _read_number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return value
    raise Wrong(value)


def read_name(value: Any) -> Any:
    """Return the name of a group, a task or a class: a list is a combination, a tuple."""
    if isinstance(value, list):
        return tuple(map(read_name, value))
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return NamedMissing(MISSING) if value == {TEXT_OF: MISSING} else _refuse(value)


def types_of(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass' fields; those with a default may lack."""
    types = get_type_hints(kind, include_extras=True)
    return {
        field.name: types[field.name]
        if field.default is field.default_factory is NO_DEFAULT
        else NotRequired[types[field.name]]
        for field in fields(kind)
    }


def _compiled(types: Mapping[str, Any]) -> tuple[dict[str, Reader], list[str]]:
    """Return the readers of fields, and the names of those that may not lack."""
    given = {name: get_args(kind)[0] for name, kind in types.items() if _may_lack(kind)}
    needed = [name for name in types if name not in given]
    return {name: reader(given.get(name, kind)) for name, kind in types.items()}, needed


def _may_lack(kind: Any) -> bool:
    return get_origin(kind) is NotRequired


def object_reader(types: Mapping[str, Any], rest: Any = None) -> Reader:
    """Return a function that reads an object, with further fields of the type `rest`.

    Without `rest` further fields are left out: a later version may have added them.
    """
    readers, needed = _compiled(types)
    other = reader(rest)

    def read(value: Any) -> dict[str, Any]:
        content, values = _object(value), {}
        for name in readers:  # in their order: the format comes first
            if name in content:
                values[name] = _at(name, readers[name], content[name])
            elif name in needed:
                raise Wrong(_NOTHING, name)
        return {
            name: values[name] if name in values else _at(name, other, item)
            for name, item in content.items()
            if name in values or rest is not None
        }

    return read


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    raise Wrong(value)


# --------------------------------------------------------------------------- what values must be


def limited(least: float, most: float = math.inf) -> Reader:
    """Return a function that refuses a number outside a range; NaN is none."""
    return lambda number: _refuse(number) if number < least or number > most else number


def known(number: float) -> float:
    """Refuse a number that is not there."""
    return _refuse(None) if math.isnan(number) else number


def one_of(*options: str) -> Reader:
    """Return a function that refuses what is none of some texts."""
    return lambda text: text if text in options else _refuse(text)


def all_different(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse names of which two are equal."""
    return names if len({*names}) == len(names) else _refuse([*names])


def nan_if_none(value: Any) -> Any:
    """Return NaN for a missing value, as tables and statistics have it."""
    return math.nan if value is None else value


Known = Annotated[float, known]
Share = Annotated[float, limited(0, 1)]
Level = Annotated[float, known, limited(0, 1)]
Count = Annotated[float, limited(0)]
Names = Annotated[tuple[Hashable, ...], all_different]
Name = Annotated[Hashable, nan_if_none]
Flag = Annotated[bool | None, nan_if_none]


# --------------------------------------------------------------------------- arrays and tables


def vector(least: float = -math.inf, most: float = math.inf, *, whole: bool = False) -> Reader:
    """Return a function that reads a list of numbers as an array."""

    def read(value: Any) -> Array:
        if not isinstance(value, list):
            raise Wrong(value)
        if not set(map(type, value)) <= {int, float}:
            value = [_refuse(item) if item is None else _read_number(item) for item in value]
        try:
            array = np.array(value, dtype=float)
        except OverflowError as error:
            raise Wrong(max(value, key=abs)) from error
        inside = np.isfinite(array) & (array >= least) & (array <= most)
        if whole:
            inside &= array == np.rint(array)
        return array if inside.all() else _refuse(array[~inside].tolist()[0])

    return read


def matrix(value: Any) -> Array:
    """Return a list of lists of one length as an array."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise Wrong(value)
    width = len(value[0]) if value else 0
    for row in value:
        if len(row) != width:
            raise Wrong(row)
    return vector()(list(chain.from_iterable(value))).reshape(len(value), width)


def table_reader(types: Mapping[Any, Any], rest: Any = Name) -> Reader:
    """Return a function that reads a table: a list of objects, or an object of three lists.

    Parameters
    ----------
    types : of the columns by name.
    rest : of any further column.
    """
    readers, needed = _compiled(types)
    other = reader(rest)

    def read(value: Any) -> pd.DataFrame:
        index, names, rows = _frame(value) if isinstance(value, dict) else _records(value, needed)
        if not rows:
            return pd.DataFrame(index=index, columns=_labels(names))
        missing = [name for name in needed if name not in names]
        if missing:
            raise Wrong(_NOTHING, missing[0])
        columns = {}
        for name, cells in zip(names, zip(*rows, strict=True), strict=True):
            read_cells = partial(_read_list, list, readers.get(name, other), None)
            columns[name] = _at(str(name), read_cells, [*cells])
        check_intervals({name: columns[name] for name in names if name in readers})
        rows = list(zip(*columns.values(), strict=True))
        return pd.DataFrame(rows, index, _labels(names)).infer_objects()

    return read


_frame_parts = object_reader({"index": list[Name], "columns": Names, "data": list[Any]})


def _frame(value: Any) -> tuple[Any, Any, Any]:
    parts = _frame_parts(value)
    index, names, rows = parts["index"], parts["columns"], parts["data"]
    if len(index) != len(rows):
        raise Wrong(index, "index")
    for row in rows:
        if not isinstance(row, list) or len(row) != len(names):
            raise Wrong(row, "data")
    return _labels(index), names, rows


def _records(value: Any, needed: list[str]) -> tuple[Any, Any, Any]:
    if not isinstance(value, list):
        raise Wrong(value)
    names = list(_object(value[0])) if value else needed
    for row in value:
        if _object(row).keys() != value[0].keys():
            raise Wrong(row)
    return None, names, [[row[name] for name in names] for row in value]


def _labels(names: Collection[Any]) -> pd.Index[Any]:
    return pd.Index(list(names), tupleize_cols=False)


def check_intervals(columns: Mapping[Any, Any]) -> None:
    """Raise unless intervals have their low end first, in every row of these columns."""
    for low, high in _INTERVALS:
        if low in columns and high in columns:
            for low_end, high_end in zip(columns[low], columns[high], strict=True):
                if low_end > high_end:
                    raise Wrong(low_end, low)
