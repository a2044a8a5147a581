"""What the columns of a file hold, and how the file is written.

Run as a process of its own, since a file may need more memory than is allowed.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._io import PARQUET, Source, encoding_of, source_of

_MOST_COLUMNS = 1_000
_MOST_CLASSES = 50  # values of a column that are listed
_SHOWN = 5  # rows
_CHUNK = 100_000  # rows
_MOST_SAMPLED = 10_000  # numbers of a column of which thirds are made
_FEW = 10  # numbers that are groups as they are
_SMALL = 30  # rows: groups of fewer seldom show anything


def describe_columns(path: Path, given: dict[str, str]) -> dict[str, Any]:
    """Return how a file is written, its first rows, and what its columns hold."""
    table = _table_of(path, given)
    chunks = _chunks(table)
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
    encoding = table.encoding.removesuffix("-sig")
    return {
        "format": {"encoding": encoding, "delimiter": table.delimiter, "decimal": table.decimal},
        "n_rows": n_rows,
        "rows": [["" if pd.isna(cell) else str(cell)[:80] for cell in row] for row in shown.values],
        "columns": [{"name": name} | column.describe() for name, column in columns.items()],
    }


def count_groups(path: Path, asked: dict[str, Any]) -> dict[str, int]:
    """Return how many combinations of values some columns have, and how many rows the smallest.

    `cuts` has the columns, each with the numbers at which it is cut.
    """
    sizes: Counter[Any] = Counter()
    for chunk in _chunks(_table_of(path, asked)):
        for name, cuts in asked["cuts"].items():
            if cuts:
                edges = [-math.inf, *cuts, math.inf]
                chunk[name] = pd.cut(chunk[name], edges, right=False, labels=False)
        groups = chunk[list(asked["cuts"])].astype(object)
        in_group = asked["missing"] == "group"
        groups = groups.where(groups.notna(), None) if in_group else groups.dropna()
        sizes.update(zip(*(groups[name] for name in groups), strict=True))
    small = [size for size in sizes.values() if size < _SMALL]
    return {"groups": len(sizes), "small": len(small), "smallest": min(small, default=0)}


class _Column:
    """What is known of a column after some rows."""

    def __init__(self) -> None:
        self.counts: Counter[Any] | None = Counter()  # None: more values than are listed
        self.n_missing = 0
        self.is_number = True
        self.ends: list[float] = []
        self.sample, self.step = np.empty(0), 1  # every so manieth number

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
            self.sample = np.append(self.sample, present.to_numpy(float)[:: self.step])
            while len(self.sample) > _MOST_SAMPLED:
                self.sample, self.step = self.sample[::2], 2 * self.step
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
            "cuts": _cuts(self.sample) if self.is_number and not 0 < len(values) <= _FEW else [],
        }


def _cuts(numbers: np.ndarray[Any, Any]) -> list[float]:
    """Return round numbers near the thirds of numbers, each of which parts some from others."""
    above = numbers[numbers > numbers.min(initial=math.inf)]
    if len(above) == 0:
        return []
    thirds, cuts = np.quantile(numbers, [1 / 3, 2 / 3]), list[float]()
    if distance := float(thirds[1] - thirds[0]):
        unit = 10.0 ** math.floor(math.log10(distance))
        unit *= 5 if 5 * unit <= distance else 1
        cuts = sorted({float(f"{round(third / unit) * unit:.12g}") for third in thirds})
    inner = [cut for cut in cuts if above.min() <= cut <= above.max()]
    return inner or [float(max(thirds[1], above.min()))]  # most numbers are equal


def _table_of(path: Path, given: dict[str, Any]) -> Source:
    """Return a file with its columns, and how it is or seems to be written if it is text."""
    known = {name: given.get(name) or None for name in ("encoding", "delimiter", "decimal")}
    if path.suffix != PARQUET:
        encoding = known["encoding"] or encoding_of(path)
        known["encoding"] = "utf-8-sig" if encoding == "utf-8" else encoding
    columns = source_of(path, [], **known).columns
    return source_of(path, list(columns or ()), **known)  # decimal signs of all


def _chunks(table: Source) -> Iterator[pd.DataFrame]:
    _check_header(table.columns or ())
    if table.delimiter:
        yield from pd.read_csv(
            table.path,
            sep=table.delimiter,
            encoding=table.encoding,
            decimal=table.decimal,
            names=table.columns,
            header=0,
            index_col=False,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            chunksize=_CHUNK,
        )
        return
    try:
        import pyarrow.parquet
    except ImportError:
        import polars

        for part in polars.read_parquet(table.path).iter_slices(_CHUNK):
            yield pd.DataFrame(part.to_dict(as_series=False))
    else:
        for batch in pyarrow.parquet.ParquetFile(table.path).iter_batches(_CHUNK):
            yield batch.to_pandas()


def _check_header(names: Sequence[str]) -> None:
    if len(names) > _MOST_COLUMNS:
        raise ValueError(f"It has {len(names):,} columns; at most {_MOST_COLUMNS:,} are allowed.")
    for name, n in Counter(names).items():
        if n > 1:
            raise ValueError(f"It has {n} columns named {name!r}: give each a name of its own.")


if __name__ == "__main__":
    try:
        asked = json.loads(sys.argv[2])
        answer = count_groups if "cuts" in asked else describe_columns
        json.dump(answer(Path(sys.argv[1]), asked), sys.stdout)
    except (ValueError, csv.Error, OSError, ImportError) as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        sys.exit(text.replace(sys.argv[1], "It"))
