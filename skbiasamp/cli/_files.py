"""Columns and files that options name: checked before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from skbiasamp._input import PARAMETER_OF, InputError

_ADVICE = {
    "sensitive": "--missing drop leaves these rows out, --missing group makes them a group",
    "target": "only labelled rows can be audited, leave these out of the file",
    "prediction": "every audited row needs a prediction, leave these out of the file",
    "score": "every audited row needs a score, leave these out of the file",
    "weight": "every row needs a weight, write 0 for those that count for nothing",
}


def check_roles(sides: dict[str, list[str]]) -> None:
    """Raise if a column has two roles; only scores may be the predictions too."""
    roles: dict[str, str] = {}
    for side, columns in sides.items():
        for column in columns:
            if column in roles and (roles[column], side) != ("prediction", "score"):
                raise InputError(
                    "--{side} {column}: this column is named by --{first} already. Name another "
                    "column in one of them.",
                    side=side.replace("_", "-"),
                    column=column,
                    first=roles[column].replace("_", "-"),
                )
            roles[column] = side


def check_gaps(
    frame: nw.LazyFrame[Any], sides: dict[str, list[str]], files: list[dict[str, Any]], missing: str
) -> int:
    """Raise if there are no rows, or if values are missing; return the number of rows."""
    side_of = {column: side for side, columns in sides.items() for column in columns}
    n_rows = sum(one["rows"] for one in files)
    where = ", ".join(one["path"] for one in files[:3]) + ", ..." * (len(files) > 3)
    if not n_rows:
        raise InputError("{where} has no rows: there is nothing to audit", where=where)
    gaps = frame.select(nw.col(*side_of).is_null().sum()).collect().row(0)
    for (column, side), n_gaps in zip(side_of.items(), gaps, strict=True):
        attribute = side.startswith("sensitive")
        if n_gaps and not (attribute and missing != "error"):
            raise InputError(
                "--{side} {column} has no value in {n_gaps:,} of the {n_rows:,} rows of {where}: "
                "{advice}",
                side=side.replace("_", "-"),
                column=column,
                n_gaps=n_gaps,
                n_rows=n_rows,
                where=where,
                advice=_ADVICE["sensitive" if attribute else side],
            )
    return n_rows


def as_arguments(frame: nw.LazyFrame[Any], labels: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of single rows as the arguments of `skbiasamp.audit`."""
    rows = frame.collect()
    return {PARAMETER_OF[side]: rows[named].to_native() for side, named in labels.items()}


def check_outputs(outputs: dict[str, Path], inputs: list[Path]) -> None:
    """Raise if a file cannot be written, or would overwrite an input or another output."""
    taken = {path.resolve(): f"the input {path}" for path in inputs}
    for option, path in outputs.items():
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name the file to write")
        real = path.resolve()
        if real in taken:
            raise InputError(
                "--{option} {path} would overwrite {what}: name another file",
                option=option,
                path=path,
                what=taken[real],
            )
        taken[real] = f"what --{option} writes"
