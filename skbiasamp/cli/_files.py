"""Columns in: those that the options name, checked to have no gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from skbiasamp._files import scan
from skbiasamp._input import PARAMETER_OF, InputError

_ADVICE = {
    "sensitive": "--missing drop leaves these rows out, --missing group makes them a group",
    "target": "only labelled rows can be audited, leave these out of the file",
    "prediction": "every audited row needs a prediction, leave these out of the file",
    "score": "every audited row needs a score, leave these out of the file",
    "weight": "every row needs a weight, write 0 for those that count for nothing",
}


def open_columns(
    paths: list[Path], sides: dict[str, Any], *, missing: str
) -> tuple[nw.LazyFrame[Any], int]:
    """Return the columns that are needed, checked to have no gaps, and their number of rows."""
    needed: dict[str, str] = {}
    for side, named in sides.items():
        for column in [named] if isinstance(named, str) else named or ():
            needed.setdefault(column, side.replace("_", "-"))
    frame = scan(paths, list(needed))
    n_rows, *gaps = (
        frame.select(
            nw.len().alias("rows"),
            *(nw.col(name).is_null().sum().alias(f"gaps {i}") for i, name in enumerate(needed)),
        )
        .collect()
        .row(0)
    )
    where = ", ".join(map(str, paths[:3])) + ", ..." * (len(paths) > 3)
    if not n_rows:
        raise InputError("{where} has no rows: there is nothing to audit", where=where)
    for (column, side), n_gaps in zip(needed.items(), gaps, strict=True):
        attribute = side.startswith("sensitive")
        if n_gaps and not (attribute and missing != "error"):
            advice = _ADVICE["sensitive" if attribute else side]
            raise InputError(
                "--{side} {column} has no value in {n_gaps:,} of the {n_rows:,} rows of {where}: "
                "{advice}",
                side=side,
                column=column,
                n_gaps=n_gaps,
                n_rows=n_rows,
                where=where,
                advice=advice,
            )
    return frame, n_rows


def as_arguments(frame: nw.LazyFrame[Any], sides: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of single rows as the arguments of `skbiasamp.audit`."""
    rows = frame.collect()
    read = {}
    for side, named in sides.items():
        if named is not None:
            one = isinstance(named, str) or len(named) == 1
            columns = rows[named if isinstance(named, str) else named[0]] if one else rows[named]
            read[PARAMETER_OF[side]] = columns.to_native()
    return read


def writable(path: str) -> Path:
    """Return where to write, before anything is computed for it."""
    written = Path(path)
    if not written.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {written.parent} to write {written.name} to")
    if written.is_dir():
        raise IsADirectoryError(f"{written} is a folder: name the file to write")
    return written
