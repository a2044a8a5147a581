"""Columns of a table file: how it is written, what each column holds, and roles to propose.

Run as a process of its own, since a file may need more memory than is allowed.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

MOST_COLUMNS = 1_000
_MOST_CLASSES = 50  # values of a column that are listed
_SHOWN = 5  # rows
_SAMPLE = 1 << 20  # bytes that are read to propose a delimiter
_CHUNK = 100_000  # rows

# What names say about a role; the first role that fits takes a column.
_NAMES = {
    "weight": r"weight|^wt$",
    "prediction": r"pred|score|prob|y_?hat|decile|model|decision|output",
    "target": r"true|label|target|actual|truth|outcome|observed|recid|^y$|^class$",
    "sensitive": r"sex|gender|race|ethnic|^age|religio|disab|national|marital|skin|orientation",
    "cluster": r"(person|patient|customer|user|family|household|image|cluster).*(id|no|nr)?$",
}


def describe(path: Path, given: dict[str, str]) -> dict[str, Any]:
    """Return how a file is written, its first rows, and what its columns hold."""
    form: dict[str, str] = {}
    if path.suffix != ".parquet":
        proposed = _proposed_format(path, given)
        form = proposed | given
        chunks = _chunks_of_text(path, form)
    else:
        proposed, chunks = {}, _chunks_of_parquet(path)
    first = next(chunks, pd.DataFrame())
    if first.empty:
        raise ValueError("It has no rows: there is nothing to audit.")
    if len(first.columns) > MOST_COLUMNS:
        raise ValueError(_too_many(len(first.columns)))
    columns = {str(name): _Column() for name in first.columns}
    n_rows = 0
    for chunk in itertools.chain([first], chunks):
        n_rows += len(chunk)
        for name, column in columns.items():
            column.add(chunk[name])
    shown = first.head(_SHOWN).astype(object)
    return {
        "format": form,
        "proposed": proposed,
        "n_rows": n_rows,
        "rows": [["" if pd.isna(cell) else str(cell)[:80] for cell in row] for row in shown.values],
        "columns": [{"name": name} | column.described() for name, column in columns.items()],
        "roles": _proposed_roles(columns, n_rows),
    }


class _Column:
    """What is known of a column after some rows."""

    def __init__(self) -> None:
        self.counts: Counter[Any] | None = Counter()  # None: more values than are listed
        self.n_missing = 0
        self.is_number = True
        self.low, self.high = float("inf"), -float("inf")

    def add(self, values: pd.Series[Any]) -> None:
        present = values.dropna()
        self.n_missing += len(values) - len(present)
        if present.empty:
            return
        self.is_number &= pd.api.types.is_numeric_dtype(values) and values.dtype != bool
        if self.is_number:
            self.low = min(self.low, float(present.min()))
            self.high = max(self.high, float(present.max()))
        if self.counts is not None:
            self.counts.update(present.value_counts().to_dict())
            if len(self.counts) > _MOST_CLASSES:
                self.counts = None

    @property
    def classes(self) -> list[Any]:
        """Its values in order, if they can be listed."""
        values = list(self.counts or ())
        return sorted(values) if self.is_number else sorted(values, key=str)

    def described(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        ranged = self.is_number and self.low <= self.high
        return {
            "says": self.says(),
            "number": self.is_number,
            "missing": self.n_missing,
            "classes": [str(value) for value in self.classes],
            "range": [self.low, self.high] if ranged else None,
        }

    def says(self) -> str:
        """Return its content in words: two values, 0 and 1."""
        if self.counts is None:
            values = f"numbers from {self.low:.6g} to {self.high:.6g}"
            values = values if self.is_number else f"more than {_MOST_CLASSES} different texts"
        elif len(self.counts) == 2:
            values = "two values, {} and {}".format(*(str(value)[:30] for value in self.classes))
        else:
            values = f"{len(self.counts)} value" + "s" * (len(self.counts) != 1)
        return values + f", missing in {self.n_missing:,} rows" * (self.n_missing > 0)


def _proposed_roles(columns: dict[str, _Column], n_rows: int) -> dict[str, list[dict[str, str]]]:
    """Return columns that may have a role, each with the reason."""
    roles: dict[str, list[dict[str, str]]] = {role: [] for role in _NAMES}

    def propose(role: str, name: str, reason: str) -> None:
        why = f"{columns[name].says()}; {reason}"
        roles[role].append({"column": name, "why": why})

    for name, column in columns.items():
        role = next((r for r in _NAMES if re.search(_NAMES[r], name.lower())), None)
        n_values = len(column.counts or ())
        fits = {
            "target": n_values > 1 or column.is_number,
            "prediction": n_values > 1 or column.is_number,
            "sensitive": column.is_number or 1 < n_values <= 20,
            "weight": column.is_number and column.low >= 0,
            "cluster": column.counts is None,
        }
        if role is not None and fits[role]:
            propose(role, name, f"called {name[:40]}")
    # A label has the values of the prediction, whatever it is called; and the other way round.
    taken = {proposal["column"] for proposals in roles.values() for proposal in proposals}
    for role, other in (("target", "prediction"), ("prediction", "target")):
        if not roles[role] and roles[other]:
            partner = roles[other][0]["column"]
            for name, column in columns.items():
                same = column.classes and column.classes == columns[partner].classes
                if same and name not in taken:
                    propose(role, name, f"the same values as {partner[:40]}")
    return roles


# --------------------------------------------------------------------------- text files


def _proposed_format(path: Path, given: dict[str, str]) -> dict[str, str]:
    """Return the encoding, delimiter and decimal sign that a text file seems to have."""
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    encoding = given.get("encoding") or _encoding_of(path, start)
    text = start.decode(_codec(encoding), errors="replace")
    lines = io.StringIO(text).readlines()[:200]
    if not "".join(lines).strip():
        raise ValueError("It is empty.")
    usual = "\t" if path.suffix == ".tsv" else ","
    marks = [usual, *(mark for mark in ",;\t|" if mark != usual)]
    delimiter = given.get("delimiter") or max(marks, key=lambda mark: len(_cells(lines, mark)[0]))
    cells = [cell for row in _cells(lines, delimiter)[1:] for cell in row]
    commas, points = (
        any(re.fullmatch(rf"-?\d+{sign}\d+", cell) for cell in cells) for sign in (",", r"\.")
    )
    decimal = "," if commas and not points and delimiter != "," else "."
    return {"encoding": encoding, "delimiter": delimiter, "decimal": decimal}


def _encoding_of(path: Path, start: bytes) -> str:
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if start.startswith(mark):
            return "utf-16"
    with path.open("rb") as file:
        try:
            for _ in codecs.iterdecode(iter(lambda: file.read(_SAMPLE), b""), "utf-8"):
                pass
        except UnicodeDecodeError:
            return "cp1252"  # as Windows and Excel write it
    return "utf-8"


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    rows = list(itertools.islice(csv.reader(lines, delimiter=delimiter), len(lines)))
    return rows or [[]]


def _chunks_of_text(path: Path, form: dict[str, str]) -> Iterator[pd.DataFrame]:
    encoding, delimiter = _codec(form["encoding"]), form["delimiter"]
    with path.open(encoding=encoding, newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter))
    if len(header) > MOST_COLUMNS:
        raise ValueError(_too_many(len(header)))
    twice = [name for name, n in Counter(header).items() if n > 1]
    if twice:
        raise ValueError(f"It has two columns named {twice[0]!r}: give each a name of its own.")
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

        for part in polars.read_parquet(path).iter_slices(_CHUNK):
            yield pd.DataFrame(part.to_dict(as_series=False))
        return
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(_CHUNK):
        yield batch.to_pandas()


def _too_many(n: int) -> str:
    return f"It has {n:,} columns, and at most {MOST_COLUMNS:,} can be shown. Leave some out."


if __name__ == "__main__":
    try:
        answer = describe(Path(sys.argv[1]), json.loads(sys.argv[2]))
    except (ValueError, csv.Error, OSError, ImportError) as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        answer = {"error": text or type(error).__name__}
    json.dump(answer, sys.stdout)
