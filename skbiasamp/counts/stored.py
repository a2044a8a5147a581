"""Contingencies as tables and as JSON, and published cross tables: written and read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, Array, NamedMissing, check_names, is_one, no_column
from skbiasamp._input.coding import odd_values, read_weight
from skbiasamp._input.errors import OPTION_OF, InputError, InputTypeError, plain, quote
from skbiasamp._input.labels import Codes, Labels, Members, Side
from skbiasamp._utils.formatting import printable
from skbiasamp.counts.cells import (
    BOTH,
    BOTH_SQUARE,
    SIDES,
    SQUARE,
    Cells,
    Clusters,
    distinct,
    keys_of,
    naming_names,
    sides_of,
)

OPTIONS = {side: OPTION_OF[side] for side in ("task", "task_pred", "group", "group_pred")}


def read_counts(frame: pd.DataFrame, named: dict[str, Any]) -> dict[str, Any]:
    """Return a table of counts as the arguments of `read_rows`; `named` are its columns."""
    if not isinstance(frame, pd.DataFrame):
        text = "{frame} must be a pandas DataFrame of counts. Got {kind} instead."
        raise InputTypeError(text, kind=type(frame).__name__)
    check_names(named, table=True)
    count = named["count"]
    where = f"column {count!r}"
    if not is_one(count, frame.columns):
        if (
            any(named[option] is not None for option in OPTIONS.values())
            or not is_one(count, ["n"])
            or ("group" in frame.columns and not {"task", "task_pred"}.isdisjoint(frame.columns))
        ):
            raise no_column(count, frame.columns, "count")
        frame = _long_from_cross(frame)
        where = "the table of counts"
    at: dict[str, Any] = {side: named[option] for side, option in OPTIONS.items()}
    for side, columns in at.items():
        if columns is None:  # what `to_frame` writes: a column, or indicator columns
            prefix = f"{side}["
            several = [c for c in frame.columns if isinstance(c, str) and c.startswith(prefix)]
            at[side] = side if side in frame.columns else several or None
    needed = ["group"] if at["task_pred"] is not None else ["group", "task"]
    read: dict[str, Any] = dict.fromkeys(OPTIONS)
    for side, columns in at.items():
        asked = [side] if columns is None and side in needed else columns
        for column in asked if isinstance(asked, list) else [asked]:
            if column is not None and not is_one(column, frame.columns):
                raise no_column(column, frame.columns, OPTIONS[side])
        if columns is not None:
            read[side] = _labels(frame[columns], side, written=named[OPTIONS[side]] is None)
    missing = "error"
    for side in ("group", "group_pred"):
        groups = read[side]
        if isinstance(groups, pd.Series) and not groups.isna().any() and (groups == MISSING).any():
            # What `to_frame` calls missing values.
            read[side], missing = groups.astype(object).where(groups != MISSING, None), "group"
    indicator = isinstance(read["group"], pd.DataFrame) and named["sensitive"] is None
    return {
        "y_true": read["task"],
        "y_pred": read["task_pred"],
        "sensitive_features": read["group"],
        "sensitive_pred": read["group_pred"],
        "sample_weight": read_weight(frame[count], len(frame), where),
        "groups": "indicator" if indicator else "intersection",
        "missing": missing,
        "repeats": frame["rows"].to_numpy() if "rows" in frame.columns else None,
        "pos_label": frame["pos_label"].iloc[0] if "pos_label" in frame.columns else None,
    }


def _labels(labels: Any, side: str, *, written: bool) -> Any:
    """Return labels of a table; if `to_frame` has `written` it, its columns say no more."""
    if isinstance(labels, pd.DataFrame):
        if not written:
            return labels
        names = [_name(str(column)[len(side) + 1 : -1]) for column in labels]
        return labels.set_axis(pd.Index(names, tupleize_cols=False), axis=1)
    if len(labels) and isinstance(labels.iloc[0], list | np.ndarray):
        # Combinations come back as lists from files such as Parquet.
        labels = labels.map(tuple)
    return labels.rename(None) if written else labels


def _long_from_cross(frame: pd.DataFrame) -> pd.DataFrame:
    """Read groups in the index and classes in the columns as one row a cell."""
    for name, column in frame.items():
        odd = odd_values(column)
        if odd:
            raise InputError(
                "{frame} must have the columns 'task', 'group' and 'n', or be a cross table of "
                "counts with groups as index and classes as columns; got the columns {columns}, "
                "and {seen!r} in column {column!r}. Name the columns of labels, groups and counts "
                "with target=, sensitive= and count=.",
                columns=quote(frame.columns),
                column=name,
                seen=odd[0],
            )
    if frame.columns.nlevels > 1:
        text = "{frame} must have the classes of one label as columns; got {n} levels of columns."
        raise InputError(text, n=frame.columns.nlevels)
    numbers = frame.to_numpy(float, na_value=np.nan)
    for what, names, counts in (
        ("row", frame.index, numbers),
        ("column", frame.columns, numbers.T),
    ):
        of_others = counts.sum(axis=0) - counts
        for name, own, others in zip(names, counts, of_others, strict=True):
            first = name[0] if isinstance(name, tuple) else name  # of groups by several columns
            if str(first) in ("All", "Total") and (own == others).all():
                text = "{frame} has a {what} {seen!r} that is the sum of the others: leave it out."
                raise InputError(text, what=what, seen=first)
    if frame.index.nlevels > 1:
        frame = frame.set_axis(pd.Index([*frame.index], dtype=object, tupleize_cols=False))
    long = pd.Series(frame.rename_axis(index="group", columns="task").stack(), name="n")
    return long.reset_index()


def column_of_name(side: str, name: Hashable) -> str:
    """Return what an indicator column of a table is called: ``task[cook]``, ``task[3]``.

    Text that reads as another name is quoted: ``task["3"]``. Names that JSON does not know (dates)
    are their text.
    """
    name = plain(name)
    if not isinstance(name, str | int | float | tuple | None):
        name = str(name)
    as_it_is = isinstance(name, str) and _name(name) == name
    return f"{side}[{name if as_it_is else json.dumps(name, default=str, ensure_ascii=False)}]"


def _name(text: str) -> Hashable:
    """Return the name that `column_of_name` wrote."""
    try:
        name: Hashable = _read_name(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return name


# --------------------------------------------------------------------------- written as a table


_FORMAT = "skbiasamp contingency 1"
# The key of a name that is real, although missing values have it.
_TEXT_OF = "text"


def write_table(cells: Cells) -> pd.DataFrame:
    """Return one row a distinct cell, in an order that only what they hold decides."""
    cells.require_single("A table of cells")
    cells.require_rows("A table of cells")
    if cells.clusters is not None:
        raise InputError(
            "A table of cells does not hold which rows are of one cluster: use to_json."
        )
    for name, side in sides_of(cells).items():
        if side.labels.width < len(side.names):
            text = "A table of cells holds labels or probabilities, and {side} scores: use to_json."
            raise InputError(text, side=name)
    cells = distinct(cells)
    order = np.lexsort(keys_of(cells).T[::-1])
    columns: dict[str, Any] = {}
    for name, side in sides_of(cells).items():
        if isinstance(side.labels, Codes):
            labels = np.empty(len(side.names) + 1, dtype=object)
            labels[:-1] = side.names  # and None for code -1, a group that is not selected
            columns[name] = pd.Series(labels[side.labels.codes[order]]).infer_objects()
        else:
            matrix = side.labels.dense(order, float if side.soft else np.int8)
            columns |= {
                column_of_name(name, label): matrix[:, i] for i, label in enumerate(side.names)
            }
    weight = cells.weight[order]
    columns["n"] = weight.astype(np.int64) if cells.whole else weight
    if cells.repeats is not None:
        columns["rows"] = cells.repeats[order].astype(np.int64)
    pos_label = cells.naming.pos_label
    if pos_label is not None:
        columns["pos_label"] = [pos_label] * cells.n_cells
    return pd.DataFrame(columns)


# --------------------------------------------------------------------------- JSON


def write_cells(cells: Cells) -> dict[str, Any]:
    """Return cells as what JSON can hold."""
    cells.require_single("JSON")
    sides = {}
    for name, side in sides_of(cells).items():
        codes = side.labels.codes if isinstance(side.labels, Codes) else None
        kind = float if side.soft else int
        sides[name] = {
            "names": side.names,
            "codes": codes,
            "matrix": side.labels.dense(slice(None), kind) if codes is None else None,
            "soft": side.soft,
            "one_label": side.one_label,
            "open": side.open,
            "columns": side.columns,
            "pos_label": side.pos_label,
            "floats": side.floats,
        }
    fields = {
        "format": _FORMAT,
        "weight": cells.weight,
        "sides": sides,
        "n_dropped": cells.n_dropped,
        "repeats": cells.repeats,
        "summed": cells.summed,
        "clusters": cells.clusters,
    }
    written: dict[str, Any] = _written(fields)
    return written


def _written(value: Any) -> Any:
    """Return fields, numbers or a name as JSON has them; the list of a name is a combination."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Clusters):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _written(part) for name, part in value.items()}
    value = plain(value)
    if isinstance(value, tuple):
        return list(map(_written, value))
    if isinstance(value, NamedMissing):
        return {_TEXT_OF: str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputTypeError(
        "{shown} is the name of a group or a task, and JSON has no {kind}: name it with text or a "
        "number to store it.",
        shown=repr(value),
        kind=type(value).__name__,
    )


def load_cells(source: Any) -> dict[str, Any]:
    """Return what cells are made of, from JSON or from the file that a path names."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return _read_text(source)
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
        return _read_text(text)
    except InputError as error:
        error.begin_with(printable(f"{os.fspath(source)}: "))
        raise


def _read_text(text: str) -> dict[str, Any]:
    """Return what cells are made of; raise if `write_cells` did not write this."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("This is no JSON, or not all of it: {error}.", error=error) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(
            "This JSON is no contingency: its field 'format' must be {format!r}. Read a file that "
            "`Contingency.to_json` wrote.",
            format=_FORMAT,
        )
    read: dict[str, Any] = {}
    for field, read_field in _FIELDS.items():
        try:
            read[field] = read_field(content[field], read)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError(
                "This contingency is damaged: its field {field!r} is not what "
                "`Contingency.to_json` writes. Write it again.",
                field=field,
            ) from error
    return read


# What follows raises any error if a field cannot be read.


def _require(right: Any) -> None:
    if not right:
        raise ValueError


_MOST = 2.0**53  # a sum of more ones is not exact
_LARGEST = float(np.finfo(float).max)


def _numbers(
    value: Any, shape: tuple[int, ...], least: float = -_LARGEST, most: float = _LARGEST
) -> Array:
    array = np.array(value, dtype=float).reshape(shape)
    _require(((array >= least) & (array <= most)).all())
    return array


def _whole(value: Any, n: int, least: float, most: float = _MOST) -> Array:
    array = _numbers(value, (n,), least, most)
    _require((array == np.rint(array)).all())
    return array


def _read_summed(value: Any, _: Any) -> Any:
    _require(value in (None, "tasks"))
    return value


def _read_clusters(value: Any, read: dict[str, Any]) -> Clusters | None:
    if value is None:
        return None
    _require(read["summed"] is None)
    number = _whole(value["n"], len(value["n"]), 1)
    of = _whole(value["of"], len(read["weight"]), 0, len(number) - 1)
    return Clusters(of.astype(np.intp), number)


def _read_sides(value: Any, read: dict[str, Any]) -> dict[Any, Side]:
    n_cells, in_tasks = len(read["weight"]), read["summed"] == "tasks"
    sides = {name: _read_side(side, n_cells) for name, side in value.items()}
    possible = (*SIDES, BOTH, SQUARE, BOTH_SQUARE) if in_tasks else SIDES
    # A side is one of several models' unless tasks were summed.
    _require({name if in_tasks else name.partition(":")[0] for name in sides} <= {*possible})
    if in_tasks:
        _require((SQUARE in sides) == (BOTH_SQUARE in sides))
        _require(BOTH in sides or "task_pred" not in sides)
    # Predictions name the tasks if there are no labels.
    naming = sides["group"], sides["task" if in_tasks else naming_names(sides)[0]]
    for name, side in sides.items():
        of_groups = name.startswith("group")
        labels = naming[not of_groups]
        _require(side.names == labels.names and not (side.one_label and of_groups))
        # A label of two classes has one task, in labels and in predictions.
        _require(side.one_label == labels.one_label or len(labels.names) > 2)
    return sides


def _read_side(stored: dict[str, Any], n_cells: int) -> Side:
    _require(isinstance(stored["names"], list) and isinstance(stored["columns"], list))
    names, columns = _read_name(stored["names"]), _read_name(stored["columns"])
    codes, matrix = stored["codes"], stored["matrix"]
    pos_label = _read_name(stored["pos_label"])
    _require(len({*names}) == len(names) and (pos_label is None or pos_label in names))
    flags = {name: stored[name] for name in ("soft", "one_label", "open", "floats")}
    _require(all(isinstance(flag, bool) for flag in flags.values()))
    soft = flags.pop("soft")
    labels: Labels
    if codes is not None:
        positions = _whole(codes, n_cells, -1, len(names) - 1)
        labels = Codes(positions.astype(np.intp), len(names))
    else:
        width = 1 if soft and n_cells and len(matrix[0]) == 1 else len(names)
        members = _numbers(matrix, (n_cells, width))
        _require(soft or np.isin(members, (0, 1)).all())
        labels = Members(members if soft else members.astype(bool))
    return Side(names, labels, columns=columns, pos_label=pos_label, **flags)


def _read_name(value: Any) -> Any:
    """Return the name of a group, a task or a class: a list is a combination, a tuple."""
    if isinstance(value, list):
        return tuple(map(_read_name, value))
    if value == {_TEXT_OF: MISSING}:
        return NamedMissing(MISSING)
    _require(value is None or isinstance(value, str | bool | int | float))
    return value


# What reads each field: it is given the fields before it, too.
_FIELDS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "weight": lambda value, _: _numbers(value, (len(value),), 0, _MOST),
    "n_dropped": lambda value, _: float(_numbers(value, (), 0)),
    "repeats": lambda value, read: None if value is None else _whole(value, len(read["weight"]), 0),
    "summed": _read_summed,
    "sides": _read_sides,
    "clusters": _read_clusters,
}
