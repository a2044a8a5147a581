"""Text files as they are written: encoding, delimiter, decimal sign, and lines that do not fit."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import re
from pathlib import Path
from typing import IO, Any, NamedTuple

from skbiasamp._input.errors import InputError

PARQUET = ".parquet"
_SAMPLE = 100  # lines that are read to find delimiter and decimal sign
_CHUNK = 1 << 20
# The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, or what a compressed one holds."""
    compressed = path.suffix.lower() == ".gz"
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file: by its mark, as UTF-8 if all of it is, or Latin-1."""
    with open_bytes(path) as file:
        start = file.read(_CHUNK)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        if b"\0" in start:
            # Every second byte of Latin letters in UTF-16 is zero.
            zeros = [start[i::2].count(0) / len(start) * 2 for i in (0, 1)]
            if max(zeros) > 0.5 and min(zeros) < 0.1:
                return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
            raise InputError("{path} is no text file: it has bytes of value 0.", path=path)
        chunks = itertools.chain([start], iter(lambda: file.read(_CHUNK), b""))
        try:
            for _ in codecs.iterdecode(chunks, "utf-8"):
                pass
        except UnicodeDecodeError:
            return "cp1252"  # Latin-1 as Windows and Excel write it
    return "utf-8"


def kind_of(path: Path) -> str:
    """Return the ending of a file's name, without that of compression."""
    stem = path.name.lower()
    packed = stem.endswith(".gz")
    kind = Path(stem.removesuffix(".gz")).suffix
    return kind + ".gz" if packed and kind == PARQUET else kind


class Source(NamedTuple):
    """A file, its columns, and how it is written if it is text; only a table has a delimiter."""

    path: Path
    columns: tuple[str, ...] | None  # unknown before objects are read
    encoding: str = ""
    delimiter: str = ""
    decimal: str = "."

    @property
    def absolute(self) -> str:
        """The path as no library takes it for an option, a pattern or an address."""
        return str(self.path.absolute())

    def __str__(self) -> str:
        parts = ["JSON lines" if self.columns is None else kind_of(self.path)[1:].upper()]
        parts += [f"delimiter {self.delimiter!r}"] * bool(self.delimiter)
        parts += ["decimal comma"] * (self.decimal == ",") + [self.encoding] * bool(self.encoding)
        return ", ".join(parts)


def table_of(path: Path, needed: list[str], *, usual: str, **given: str | None) -> Source:
    """Return how a table is written; `given` has the delimiter, encoding and decimal sign, or None.

    The delimiter is the one that makes a header of the columns needed, or else of most columns.
    """
    encoding = given["encoding"] or encoding_of(path)
    with _open_text(path, encoding, errors="replace") as file:
        lines = list(itertools.islice(file, _SAMPLE))
    if not "".join(lines).strip():
        raise InputError("{path} is empty", path=path)
    if re.fullmatch(r'"?sep=.?"?\s*', lines[0]):
        text = "{path} begins with {line!r}, which only Excel reads: delete this line"
        raise InputError(text, path=path, line=lines[0].strip())
    delimiters = [given["delimiter"] or usual]
    if given["delimiter"] is None:
        delimiters += [mark for mark in ",;\t|" if mark != usual]
    headers = {mark: next(csv.reader(iter(lines), delimiter=mark)) for mark in delimiters}

    n_needed = {mark: sum(name in headers[mark] for name in needed) for mark in delimiters}
    delimiter = max(delimiters, key=lambda mark: (n_needed[mark], len(headers[mark])))
    columns = headers[delimiter]
    wanted = [i for i, name in enumerate(columns) if name in needed]
    rows = itertools.islice(csv.reader(iter(lines), delimiter=delimiter), 1, None)
    cells = [row[i] for row in rows for i in wanted if i < len(row)]
    commas, points = (
        any(re.fullmatch(rf"-?\d+{mark}\d+", cell) for cell in cells) for mark in (",", r"\.")
    )
    decimal = given["decimal"]
    if decimal is None:
        decimal = "," if delimiter != "," and commas and not points else "."
    return Source(path, tuple(columns), encoding, delimiter, decimal)


def is_unquoted(table: Source, n_rows: int) -> bool:
    """Whether a file has just so many delimiters as its rows need: none is extra, or quoted."""
    mark = table.delimiter.encode()
    with open_bytes(table.path) as file:
        n_marks = sum(chunk.count(mark) for chunk in iter(lambda: file.read(_CHUNK), b""))
    return n_marks == (n_rows + 1) * (len(table.columns or ()) - 1)


def last_cell(table: Source) -> str:
    """Return the last cell of a file whose last line has no end; '' if it has one."""
    with table.path.open("rb") as file:
        file.seek(max(table.path.stat().st_size - _CHUNK, 0))
        end = file.read()
    if table.path.suffix.lower() == ".gz" or end.endswith((b"\n", b"\r")):
        return ""
    line = re.split(rb"[\r\n]", end)[-1].decode(table.encoding, errors="replace")
    return line.rpartition(table.delimiter)[2].strip('"')


def check_lines(table: Source, *, header: bool = False) -> int:
    """Raise for the first line that has not as many cells as the header, or is no text.

    Return how many lines have cells, without the header. With `header`, raise if this is repeated.
    """
    path, n_columns, line, n_rows = table.path, len(table.columns or ()), 1, -1
    try:
        with _open_text(path, table.encoding) as file:
            rows = csv.reader(file, delimiter=table.delimiter, strict=True)
            for row in rows:
                if row and len(row) != n_columns:
                    raise InputError(
                        "{path}, line {line}, has {seen} cells, and the first line has {n}. "
                        "Correct this line; if cells are not separated by {delimiter!r}, name the "
                        "{name}.",
                        path=path,
                        line=line,
                        seen=len(row),
                        n=n_columns,
                        delimiter=table.delimiter,
                        name="delimiter",
                    )
                if header and line > 1 and tuple(row) == table.columns:
                    text = "{path}, line {line}, is the header again: delete this line."
                    raise InputError(text, path=path, line=line)
                line, n_rows = rows.line_num + 1, n_rows + bool(row)
    except csv.Error as error:
        text = "{path}, line {line}: {error}. Is a quotation mark missing?"
        raise InputError(text, path=path, line=line, error=error) from error
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            line = 1
            with open_bytes(path) as whole:
                content = whole.read()
            try:
                content.decode(table.encoding)
            except UnicodeDecodeError as undecodable:
                line += content[: undecodable.start].count(b"\n")
        raise InputError(
            "{path}, line {line}, is no text in {seen}. Name its {name}, or save it as UTF-8.",
            path=path,
            line=line,
            seen=table.encoding,
            name="encoding",
        ) from error
    return n_rows


def read_objects(path: Path, needed: list[str], encoding: str) -> dict[str, list[Any]]:
    """Return columns of JSON lines, one object a line; what an object lacks is missing."""
    columns: dict[str, list[Any]] = {name: [] for name in needed}
    names: dict[str, None] = {}
    with _open_text(path, encoding) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text, object_pairs_hook=_unique)
                if not isinstance(row, dict):
                    raise ValueError("it is another value")
                for name in needed:
                    columns[name].append(row.get(name))
                    if isinstance(row.get(name), dict | list):
                        raise ValueError(f"{name!r} holds more than one value")
            except ValueError as error:
                raise InputError(
                    "{path}, line {line}, is no JSON object of single values: {error}",
                    path=path,
                    line=line,
                    error=error,
                ) from error
            names |= dict.fromkeys(row)
    return {name: columns.get(name, []) for name in names}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"it has two values named {twice!r}")
    return row


def _open_text(path: Path, encoding: str, errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, errors=errors, newline="")
