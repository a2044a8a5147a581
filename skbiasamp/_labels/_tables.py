"""Tables of counts: what `Contingency.to_frame` writes, and published cross tables."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._labels._coding import NUMERIC, read_weight
from skbiasamp._labels._errors import plain, quote


def read_counts(
    frame: pd.DataFrame,
    *,
    target: Any,
    prediction: Any,
    sensitive: Any,
    sensitive_prediction: Any,
    count: Hashable,
) -> dict[str, Any]:
    """Return a table of counts as the arguments of `read_rows`, and what was `summed`."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"from_counts reads a pandas DataFrame of counts. Got {type(frame).__name__} instead."
        )
    where = f"column {count!r}"
    if count not in frame.columns:
        named = (target, prediction, sensitive, sensitive_prediction) != (None,) * 4
        if named or count != "n" or {"task", "group"} <= set(frame.columns):
            raise ValueError(
                f"The frame has no {where}, it has {quote(frame.columns)}: name the "
                "column of counts with count=."
            )
        frame = _long_from_cross(frame)
        where = "the table of counts"
    given = {
        "task": target,
        "task_pred": prediction,
        "group": sensitive,
        "group_pred": sensitive_prediction,
    }
    read: dict[str, Any] = {}
    for side, name in given.items():
        columns = _columns_of(frame, side) if name is None else name
        if columns is None and side in ("task", "group"):
            raise ValueError(
                f"The frame has no column {side!r}, it has {quote(frame.columns)}: name the "
                f"column with {'target' if side == 'task' else 'sensitive'}=."
            )
        if columns is not None:
            read[side] = frame[columns]
            if name is None and isinstance(columns, str):
                read[side] = read[side].rename(None)  # what `to_frame` calls it says nothing
            if isinstance(columns, str) and len(frame) and _listed(read[side].iloc[0]):
                # Combinations come back as lists from files such as Parquet.
                read[side] = read[side].map(tuple)
            if isinstance(columns, list) and name is None:
                read[side] = read[side].set_axis(_names_in(columns), axis=1)
    indicator = isinstance(read["group"], pd.DataFrame) and sensitive is None
    summed = sorted(set(frame["summed"])) if "summed" in frame.columns else [None]
    if summed not in ([None], ["scores"], ["weights"]):
        raise ValueError(f"The column 'summed' holds {quote(summed)}: one kind of sums is a table.")
    return {
        "y_true": read["task"],
        "y_pred": read.get("task_pred"),
        "sensitive_features": read["group"],
        "sensitive_pred": read.get("group_pred"),
        "sample_weight": read_weight(frame[count], len(frame), where),
        "groups": "indicator" if indicator else "intersection",
        "repeats": frame["rows"].to_numpy() if summed == ["weights"] else None,
        "summed": summed[0],
        "pos_label": frame["pos_label"].iloc[0] if "pos_label" in frame.columns else None,
    }


def _listed(value: Any) -> bool:
    return isinstance(value, list | np.ndarray)


def _long_from_cross(frame: pd.DataFrame) -> pd.DataFrame:
    """Read groups in the index and classes in the columns as one row a cell."""
    for name, column in frame.items():
        if pd.api.types.infer_dtype(column) in NUMERIC:
            continue
        odd = [v for v in map(plain, column) if not isinstance(v, int | float | Decimal)]
        if odd:
            raise ValueError(
                "The frame has no columns 'task', 'group' and 'n', and is no cross table either, "
                f"of groups (its index) and classes (its columns): {name!r} holds {odd[0]!r}. It "
                f"has {quote(frame.columns)}: name the columns of labels, groups and counts with "
                "target=, sensitive= and count=."
            )
    long = pd.Series(frame.rename_axis(index="group", columns="task").stack(), name="n")
    return long.reset_index()


def _columns_of(frame: pd.DataFrame, side: str) -> Any:
    """Return the column, or the list of indicator columns, that `to_frame` writes for a side."""
    if side in frame.columns:
        return side
    columns = [c for c in frame.columns if isinstance(c, str) and c.startswith(f"{side}[")]
    return columns or None


def _names_in(columns: list[str]) -> list[Hashable]:
    """Return the names inside ``task[name]``; positions come back as integers."""
    names = [column[column.index("[") + 1 : -1] for column in columns]
    positions = [str(i) for i in range(len(names))]
    return list(range(len(names))) if names == positions else list(names)
