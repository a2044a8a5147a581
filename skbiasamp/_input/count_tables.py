"""Tables of counts: what `Contingency.to_frame` writes, and published cross tables."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, check_names, is_one, no_column
from skbiasamp._input.coding import odd_values, read_weight
from skbiasamp._input.errors import OPTION_OF, InputError, InputTypeError, plain, quote

OPTIONS = {side: OPTION_OF[side] for side in ("task", "task_pred", "group", "group_pred")}


def read_counts(frame: pd.DataFrame, named: dict[str, Any]) -> dict[str, Any]:
    """Return a table of counts as the arguments of `read_labels`; `named` are its columns."""
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
    at = {
        side: _columns_of(frame, side) if named[option] is None else named[option]
        for side, option in OPTIONS.items()
    }
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
    long = pd.Series(frame.rename_axis(index="group", columns="task").stack(), name="n")
    return long.reset_index()


def _columns_of(frame: pd.DataFrame, side: str) -> Any:
    """Return the column, or the list of indicator columns, that `to_frame` writes for a side."""
    if side in frame.columns:
        return side
    columns = [c for c in frame.columns if isinstance(c, str) and c.startswith(f"{side}[")]
    return columns or None


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
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict) else _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
