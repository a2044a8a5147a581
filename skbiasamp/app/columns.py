"""What the columns of a file hold, and how the file is written.

Run as a process of its own, since a file may need more memory than is allowed.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

_MOST_COLUMNS = 1_000
_MOST_CLASSES = 50  # values of a column that are listed
_SHOWN = 5  # rows
_SAMPLE = 1 << 20  # bytes in which delimiter and decimal sign are looked for
_CHUNK = 100_000  # rows


def describe_columns(path: Path, given: dict[str, str]) -> dict[str, Any]:
    """Return how a file is written, its first rows, and what its columns hold."""
    form: dict[str, str] = {}
    if path.suffix == ".parquet":
        chunks = _chunks_of_parquet(path)
    else:
        form = _proposed_format(path, given) | given
        chunks = _chunks_of_text(path, form)
    first = next(chunks, pd.DataFrame())
    if first.empty:
        raise ValueError("It has no rows: there is nothing to audit.")
    columns = {str(name): _Column() for name in first.columns}
    n_rows = 0
    for chunk in itertools.chain([first], chunks):
        n_rows += len(chunk)
        for name, column in columns.items():
            column.add(chunk[name])
    shown = first.head(_SHOWN).astype(object)
    return {
        "format": form,
        "n_rows": n_rows,
        "rows": [["" if pd.isna(cell) else str(cell)[:80] for cell in row] for row in shown.values],
        "columns": [{"name": name} | column.describe() for name, column in columns.items()],
    }


class _Column:
    """What is known of a column after some rows."""

    def __init__(self) -> None:
        self.counts: Counter[Any] | None = Counter()  # None: more values than are listed
        self.n_missing = 0
        self.is_number = True
        self.ends: list[float] = []

    def add(self, values: pd.Series[Any]) -> None:
        """Take some more rows into account."""
        present = values.dropna()
        self.n_missing += len(values) - len(present)
        if present.empty:
            return
        is_number = pd.api.types.is_numeric_dtype(values) and values.dtype != bool
        self.is_number &= is_number
        if is_number:
            ends = [*self.ends, float(present.min()), float(present.max())]
            self.ends = [min(ends), max(ends)]
        if self.counts is not None:
            self.counts.update(present.value_counts().to_dict())
            if len(self.counts) > _MOST_CLASSES:
                self.counts = None

    def describe(self) -> dict[str, Any]:
        """Return what the page knows of it."""
        values = sorted(self.counts or (), key=None if self.is_number else str)
        return {
            "number": self.is_number and bool(self.ends),
            "missing": self.n_missing,
            "classes": [str(value) for value in values],
            "range": self.ends,
        }


def _proposed_format(path: Path, given: dict[str, str]) -> dict[str, str]:
    """Return the encoding, delimiter and decimal sign that a text file seems to have."""
    encoding = given.get("encoding") or _encoding_of(path)
    with path.open(encoding=_codec(encoding), errors="replace", newline="") as file:
        lines = file.read(_SAMPLE).splitlines(keepends=True)[:200]
    if not "".join(lines).strip():
        raise ValueError("It is empty.")
    marks = dict.fromkeys(["\t" if path.suffix == ".tsv" else ",", *",;\t|"])
    tables = {mark: list(csv.reader(lines, delimiter=mark)) for mark in marks}
    delimiter = given.get("delimiter") or max(marks, key=lambda mark: len(tables[mark][0]))
    cells = [cell for row in tables[delimiter][1:] for cell in row]
    commas, points = (
        any(re.fullmatch(rf"-?\d+{sign}\d+", cell) for cell in cells) for sign in (",", r"\.")
    )
    return {
        "encoding": encoding,
        "delimiter": delimiter,
        "decimal": "," if commas and not points else ".",
    }


def _encoding_of(path: Path) -> str:
    with path.open("rb") as file:
        is_marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    with contextlib.suppress(UnicodeDecodeError), path.open(encoding="utf-8") as text:
        while text.read(_SAMPLE):
            pass
        return "utf-8"
    return "utf-16" if is_marked else "cp1252"  # as Windows and Excel write it


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _chunks_of_text(path: Path, form: dict[str, str]) -> Iterator[pd.DataFrame]:
    encoding, delimiter = _codec(form["encoding"]), form["delimiter"]
    with path.open(encoding=encoding, newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter))
    _check_header(header)
    yield from pd.read_csv(
        path,
        sep=delimiter,
        encoding=encoding,
        decimal=form["decimal"],
        names=header,
        header=0,
        index_col=False,
        keep_default_na=False,
        na_values=[""],
        low_memory=False,
        chunksize=_CHUNK,
    )


def _chunks_of_parquet(path: Path) -> Iterator[pd.DataFrame]:
    try:
        import pyarrow.parquet
    except ImportError:
        import polars

        _check_header(list(polars.read_parquet_schema(path)))
        for part in polars.read_parquet(path).iter_slices(_CHUNK):
            yield pd.DataFrame(part.to_dict(as_series=False))
    else:
        file = pyarrow.parquet.ParquetFile(path)
        _check_header(file.schema_arrow.names)
        for batch in file.iter_batches(_CHUNK):
            yield batch.to_pandas()


def _check_header(names: list[str]) -> None:
    if len(names) > _MOST_COLUMNS:
        raise ValueError(f"It has {len(names):,} columns; at most {_MOST_COLUMNS:,} are allowed.")
    for name, n in Counter(names).items():
        if n > 1:
            raise ValueError(f"It has {n} columns named {name!r}: give each a name of its own.")


if __name__ == "__main__":
    try:
        json.dump(describe_columns(Path(sys.argv[1]), json.loads(sys.argv[2])), sys.stdout)
    except (ValueError, csv.Error, OSError, ImportError) as error:
        sys.exit(str(error).removeprefix("Error tokenizing data. C error: ").strip())
