"""Counting where the data is: any data frame or query engine groups, only cells come back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._labels import Array, quote

COUNT = "n"


def as_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return a frame of any library as a lazy one of narwhals."""
    try:
        return nw.from_native(frame).lazy()
    except TypeError as error:
        raise TypeError(
            f"from_frame reads data frames and queries (pandas, polars, pyarrow, DuckDB, Dask, "
            f"PySpark, Ibis). Got {type(frame).__name__} instead."
        ) from error


def count_cells(
    frame: Any, sides: Mapping[str, str | list[str] | None], weight: str | None
) -> tuple[pd.DataFrame, dict[str, list[Hashable]]]:
    """Return the distinct rows of some columns with their counts, and which columns are whose.

    The engine groups and counts in one query. Columns come back as ``side 0``, ``side 1``, ...:
    one column may serve two sides.
    """
    lazy = as_frame(frame)
    schema = lazy.collect_schema()
    columns: dict[str, list[Hashable]] = {}
    taken: list[nw.Expr] = []
    for side, named in sides.items():
        names = [] if named is None else [named] if isinstance(named, str) else list(named)
        columns[side] = list(names)
        for i, name in enumerate(names):
            taken.append(_key(name, schema, side).alias(f"{side} {i}"))
    keys = [f"{side} {i}" for side, names in columns.items() for i in range(len(names))]
    if weight is None:
        selected, counted = lazy.select(*taken), nw.len().alias(COUNT)
    else:
        # Sums of expressions fail on some engines: the column is made first, then summed.
        number = _column(weight, schema, "weight").cast(nw.Float64).alias(COUNT)
        selected, counted = lazy.select(*taken, number), nw.col(COUNT).sum()
    cells = selected.group_by(keys).agg(counted).collect()
    return _as_pandas(cells), columns


def _column(name: str, schema: Mapping[str, Any], side: str) -> nw.Expr:
    if name not in schema:
        raise ValueError(f"The frame has no column {name!r} for {side}, it has {quote(schema)}.")
    return nw.col(name)


def _key(name: str, schema: Mapping[str, Any], side: str) -> nw.Expr:
    column = _column(name, schema, side)
    # Categories group by their text everywhere, and missing ones stay missing.
    return column.cast(nw.String) if isinstance(schema[name], nw.Categorical | nw.Enum) else column


def _as_pandas(cells: nw.DataFrame[Any]) -> pd.DataFrame:
    """Return the few cells that came back, with plain numbers and one kind of missing."""
    read: dict[str, Any] = {}
    for name in cells.columns:
        values = cells[name].to_list()
        if name == COUNT:
            read[name] = _exact(np.array([0.0 if one is None else float(one) for one in values]))
            continue
        column: Array = np.empty(len(values), dtype=object)
        column[:] = [None if pd.isna(one) else one for one in values]
        read[name] = pd.Series(column).infer_objects()
    # Engines return cells in any order, and random draws go by order: theirs shall not tell.
    frame = pd.DataFrame(read)
    keys = [name for name in read if name != COUNT]
    return frame.sort_values(keys, key=lambda column: column.astype(str), ignore_index=True)


def _exact(counts: Array) -> Array:
    """Return counts, checked to be below what floats count one by one."""
    if (counts >= 2.0**53).any():
        raise ValueError(
            f"A cell holds {counts.max():.4g} rows, more than can be counted exactly (2**53). If "
            "these are weights, divide them by their mean."
        )
    return counts
