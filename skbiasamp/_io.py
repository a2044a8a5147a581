"""Files in and out: read by what is installed without loading them, and written whole."""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import hashlib
import importlib.util
import io
import itertools
import json
import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import narwhals.stable.v2 as nw

from skbiasamp._input.containers import may_be_rounded
from skbiasamp._input.errors import InputError, InputTypeError, meant, quote
from skbiasamp._utils.formatting import printable
from skbiasamp._utils.progress import interruptible, progress
from skbiasamp._utils.warnings import warn

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


# --------------------------------------------------------------------------- files


FEW_ROWS = 1_000_000  # are read; an engine counts more
_SMALL = 128 << 20  # bytes of text files that pandas reads, in parts of so many rows
_ROWS = 50_000
# Compressed files of which a warning says how large they are: bytes, and times their size.
_LARGE, _PACKED = 100 << 20, 20
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_OBJECTS = (".jsonl", ".ndjson")
# Where an error comes from if a file cannot be read, whichever library read it.
_READERS = ("duckdb", "_duckdb", "polars", "pandas", "pyarrow", "narwhals")
_UNREADABLE = (UnicodeError, EOFError, zlib.error, gzip.BadGzipFile)


def are_files(value: Any) -> bool:
    """Whether a value names files: a path or pattern, or a list of them."""
    several = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(path, str | os.PathLike) for path in several)


def as_patterns(value: Any) -> list[str]:
    """Return paths and patterns as text."""
    return [os.fspath(path) for path in (value if isinstance(value, list | tuple) else [value])]


@contextmanager
def opened(
    patterns: list[str], needed: list[str], *, compact: bool = False, **written_as: str | None
) -> Iterator[tuple[nw.LazyFrame[Any], list[dict[str, Any]]]]:
    """Yield some columns of the files that patterns name, and what these files are.

    The columns are lazy if polars is installed, or DuckDB for Parquet. Of each file there is its
    `path`, `rows`, `sha256` and `format`. `written_as` has the delimiter, encoding and decimal sign
    of text files, as far as they are known. Rows in memory may be made `compact`: of pandas, text
    of few values becomes categories, and integers as small as they can be. What a reader finds
    wrong with files is the input's fault, and so is a file that changes before rows are read.
    """
    paths = find(patterns)
    sources: list[Source] = []
    before = [_version(path) for path in paths]
    try:
        with progress("reading files", len(paths)) as step, interruptible():
            for path in paths:
                source = source_of(path, needed, **written_as)
                sources.append(source)
                if source.columns is not None:
                    # Readers of text give columns of one name other names.
                    named = filter(None, source.columns) if source.delimiter else []
                    for name in [*needed, *named]:
                        if source.columns.count(name) != 1:
                            raise _no_column(name, source.columns, source.path)
            _warn_of_size(sources)
            frame, rows = _scanner(sources)(sources, needed)
            _check_rows(frame, needed, sources)
            frame = _compacted(frame) if compact else frame
            files = []
            for source, n in zip(sources, rows, strict=True):
                step.advance()
                with source.path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                path_text = printable(str(source.path))
                files.append(
                    {"path": path_text, "rows": n, "sha256": digest, "format": str(source)}
                )
        yield frame, files
        for path, version in zip(paths, before, strict=True):
            if not path.exists() or _version(path) != version:
                raise InputError("{path} changed while it was read: run again", path=path)
    except Exception as error:
        foreign = type(error).__module__.partition(".")[0] in _READERS
        if not foreign and not isinstance(error, _UNREADABLE):
            raise
        for source in sources:
            if source.delimiter:
                check_lines(source)
        raise InputError(
            "{files} cannot be read as {kind}: {first}",
            files=", ".join(patterns),
            kind=kind_of(paths[0]),
            first=str(error).partition("\n")[0],
        ) from error


def find(
    patterns: list[str], known: tuple[str, ...] = (*_DELIMITERS, *_OBJECTS, PARQUET)
) -> list[Path]:
    """Return the files that paths and patterns name; a path that exists is no pattern."""
    files: list[Path] = []
    for pattern in patterns:
        if os.path.lexists(pattern):
            files.append(Path(pattern))
            continue
        matched = sorted(glob.glob(pattern, recursive=True))
        if not matched:
            what = "no file matches" if glob.has_magic(pattern) else "there is no file"
            raise FileNotFoundError(f"{what} {pattern}")
        files += map(Path, matched)
    for path in files:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name files, such as '{path}/*.parquet'")
        if kind_of(path) not in known:
            text = (
                "{path} ends in {seen!r}; only files of {known} can be read. Save the table as one "
                "of these."
            )
            raise InputError(text, path=path, seen=path.suffix, known=", ".join(known))
        if not path.is_file():
            raise FileNotFoundError(f"{path} is no file that can be read twice")
        if path.stat().st_size == 0:
            raise InputError("{path} is empty", path=path)
    if len({kind_of(path) for path in files}) > 1:
        text = "{files} are files of different kinds: name files of one kind"
        raise InputError(text, files=", ".join(patterns))
    real = [path.resolve() for path in files]
    for i, path in enumerate(real):
        if path in real[:i]:
            text = "{path} is named twice: its rows would count twice"
            raise InputError(text, path=files[i])
    return files


def columns_of_files(patterns: list[str], **written_as: str | None) -> tuple[str, ...] | None:
    """Return the columns of the first file that patterns name; None if only reading tells them."""
    return source_of(find(patterns)[0], [], **written_as).columns


def source_of(
    path: Path,
    needed: list[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Source:
    """Return a file with its columns, and how it is written if it is text.

    The delimiter is the one that makes a header of the columns needed, or else of most columns.
    """
    kind = kind_of(path)
    if kind == PARQUET:
        if importlib.util.find_spec("pyarrow"):
            import pyarrow.parquet

            return Source(path, tuple(pyarrow.parquet.read_schema(path).names))
        if importlib.util.find_spec("polars"):
            import polars

            return Source(path, tuple(polars.read_parquet_schema(path)))
        raise ImportError("Parquet needs polars (or pyarrow): pip install 'skbiasamp[polars]'")
    encoding = encoding or encoding_of(path)
    if kind in _OBJECTS:
        return Source(path, None, encoding)
    with _open_text(path, encoding, errors="replace") as file:
        lines = list(itertools.islice(file, _SAMPLE))
    if not "".join(lines).strip():
        raise InputError("{path} is empty", path=path)
    if re.fullmatch(r'"?sep=.?"?\s*', lines[0]):
        text = "{path} begins with {line!r}, which only Excel reads: delete this line"
        raise InputError(text, path=path, line=lines[0].strip())
    usual = _DELIMITERS[kind]
    delimiters = [delimiter or usual]
    if delimiter is None:
        delimiters += [mark for mark in ",;\t|" if mark != usual]
    headers = {mark: next(csv.reader(iter(lines), delimiter=mark)) for mark in delimiters}
    n_needed = {mark: sum(name in headers[mark] for name in needed) for mark in delimiters}
    delimiter = max(delimiters, key=lambda mark: (n_needed[mark], len(headers[mark])))
    columns = headers[delimiter]
    if decimal is None:
        wanted = [i for i, name in enumerate(columns) if name in needed]
        rows = itertools.islice(csv.reader(iter(lines), delimiter=delimiter), 1, None)
        cells = [row[i] for row in rows for i in wanted if i < len(row)]
        commas, points = (
            any(re.fullmatch(rf"-?\d+{mark}\d+", cell) for cell in cells) for mark in (",", r"\.")
        )
        decimal = "," if delimiter != "," and commas and not points else "."
    return Source(path, tuple(columns), encoding, delimiter, decimal)


def _no_column(name: str, present: Iterable[str], path: Path) -> InputError:
    present = list(present)
    if name in present:
        text = "{path} has {n} columns named {column!r}: give each a name of its own."
        return InputError(text, path=path, n=present.count(name), column=name)
    return InputError(
        "{path} has no column {column!r}{meant} It has {known}.",
        path=path,
        column=name,
        meant=meant(name, present),
        known=quote(present, 12),
    )


def _warn_of_size(sources: list[Source]) -> None:
    """Say which compressed files are much larger than they look: all of them is read."""
    for path in (source.path for source in sources if source.path.suffix.lower() == ".gz"):
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            whole = int.from_bytes(file.read(4), "little")  # how gzip ends, if it is one member
        if whole > max(_LARGE, _PACKED * size):
            times = f"{whole / size:,.0f} times its size"
            warn(f"{printable(str(path))} unpacks to {whole / 2**20:,.0f} MB, {times}.")


def _check_rows(frame: nw.LazyFrame[Any], needed: list[str], sources: list[Source]) -> None:
    """Raise if a text file has its header again among its rows, or a last line that was cut off.

    The columns of such a file are text.
    """
    texts = [source for source in sources if source.delimiter]
    plain = not any(name == "*" or name.startswith("^") for name in needed)  # no patterns
    schema = frame.collect_schema() if texts and plain and needed else {}
    columns = [nw.col(name) for name, kind in schema.items() if kind == nw.String]
    if columns and len(columns) == len(schema):
        again = (column == name for column, name in zip(columns, schema, strict=True))
        if frame.filter(nw.all_horizontal(*again, ignore_nulls=True)).head(1).collect().shape[0]:
            for source in texts:
                check_lines(source, header=True)
    for source in texts:
        cut, name = last_cell(source), (source.columns or ("",))[-1]
        if cut and schema.get(name) == nw.String:
            alike = frame.select(nw.col(name)).filter(nw.col(name).str.starts_with(cut)).collect()
            values = alike[name].to_list()
            if values.count(cut) == 1 < len(values):
                raise InputError(
                    "{path} ends in {cut!r} without a line end, and other rows have {whole!r}: "
                    "its last line is cut off. Leave this line out.",
                    path=source.path,
                    cut=cut,
                    whole=next(value for value in values if value != cut),
                )


_MOST_CATEGORIES = 1_000


def _compacted(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the rows of pandas with columns as narrow as they can be; those of others as they are.

    They are held until the report is made.
    """
    if not frame.implementation.is_pandas():
        return frame
    import numpy as np
    import pandas

    given = frame.collect().to_native()
    columns = {}
    for i, name in enumerate(given.columns):
        column = given.iloc[:, i]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column):
            kind = np.min_scalar_type(min(int(column.min()), -1 - int(column.max())))
            if kind.kind == "i":  # a signed one, which holds both ends
                column = column.astype(kind)
        elif pandas.api.types.infer_dtype(column) == "string":
            codes, values = pandas.factorize(column)
            # Half of a surrogate pair is no text that can be written.
            if len(values) <= _MOST_CATEGORIES and all(map(str.isprintable, values)):
                categories = pandas.Index(values, dtype=object)
                column = pandas.Series(pandas.Categorical.from_codes(codes, categories))
        columns[name] = column
    compact = pandas.DataFrame(columns, copy=False) if columns else given
    return nw.from_native(compact).lazy()


def _version(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file is written."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


# --------------------------------------------------------------------------- readers


_Scanned = tuple[nw.LazyFrame[Any], list[int]]  # columns, and the rows of each file


def _scanner(sources: list[Source]) -> Any:
    """Return what reads files here: polars, DuckDB for Parquet, or pandas.

    All read alike: nothing but an empty cell is missing, and types are those of the whole column.
    pandas reads what polars cannot: JSON lines, other encodings than UTF-8, parts that are not
    written alike; and text that is small, in less time and memory.
    """
    kind = kind_of(sources[0].path)
    alike = len({source[2:] for source in sources}) == 1 and sources[0].encoding in ("", "utf-8")
    small = kind != PARQUET and sum(source.path.stat().st_size for source in sources) < _SMALL
    if kind in _OBJECTS or not alike or small:
        return _scan_pandas
    has = {name: importlib.util.find_spec(name) for name in ("duckdb", "polars", "pyarrow")}
    # DuckDB takes A and a for one name, and backslashes for folders; it returns Arrow tables.
    clear = all(
        len({name.lower() for name in source.columns or ()}) == len(source.columns or ())
        and "\\" not in (source.absolute if os.sep == "/" else "")
        for source in sources
    )
    if kind == PARQUET and has["duckdb"] and has["pyarrow"] and clear:
        zones = _zones(sources)
        named = all(zone[:1].isalpha() for zone in zones)  # no offset such as +01:00
        return _scan_duckdb if len(zones) < 2 and named else _scan_polars
    return _scan_polars if has["polars"] else _scan_pandas


def _zones(sources: list[Source]) -> set[str]:
    """Return the time zones of the columns of Parquet files."""
    import pyarrow.parquet

    schemas = (pyarrow.parquet.read_schema(source.absolute) for source in sources)
    zones = {getattr(field.type, "tz", None) for schema in schemas for field in schema}
    return {zone for zone in zones if zone is not None}


def _scan_duckdb(sources: list[Source], needed: list[str]) -> _Scanned:
    import duckdb
    import pyarrow.parquet

    # A path is a pattern to DuckDB, and a folder 'sex=f' would replace the column sex.
    files = ["".join(f"[{c}]" if c in "[*?" else c for c in source.absolute) for source in sources]
    connection = duckdb.connect()
    for zone in _zones(sources):  # DuckDB has none of a column, and would take the machine's
        connection.execute(f"SET TimeZone = '{zone}'")
    relation = connection.read_parquet(files, union_by_name=True, hive_partitioning=False)
    rows = [pyarrow.parquet.read_metadata(source.absolute).num_rows for source in sources]
    # By SQL: a column called * would be all columns.
    columns = ['"' + name.replace('"', '""') + '"' for name in needed]
    return nw.from_native(relation.project(", ".join(columns))).lazy(), rows


def _scan_polars(sources: list[Source], needed: list[str]) -> _Scanned:
    import polars

    parts, rows = [], []
    for source in sources:
        if not source.delimiter:
            whole = polars.scan_parquet(source.absolute, glob=False, hive_partitioning=False)
            rows.append(whole.select(polars.len()).collect().item())
        else:
            whole = polars.scan_csv(
                source.absolute,
                glob=False,
                separator=source.delimiter,
                decimal_comma=source.decimal == ",",
                infer_schema_length=None,
                null_values=[""],
            )
            n, short = whole.select(polars.len(), polars.last().null_count()).collect().row(0)
            # To polars a line that ends early has empty cells, and a blank one is a row of these;
            # of a line that is too long it does not tell if the last cells are not asked for.
            # A line that ends in \r alone goes on to polars.
            if (short or not is_unquoted(source, n)) and check_lines(source) != n:
                return _scan_pandas(sources, needed)
            rows.append(n)
        # By position: ^sex$ would be a pattern, and polars leaves quotes in a header doubled.
        where = {name: polars.nth(i) for i, name in enumerate(source.columns or ())}
        parts.append(whole.select(where[name].alias(name) for name in needed))
    return nw.from_native(polars.concat(parts, how="vertical_relaxed")).lazy(), rows


def _scan_pandas(sources: list[Source], needed: list[str]) -> _Scanned:
    import pandas

    frames = [_read_pandas(source, needed) for source in sources]
    together = pandas.concat(frames, ignore_index=True)
    for name in needed:
        # Beside an empty cell integers become floats, or text if they need all of 64 bits.
        column = together[name]
        is_text = bool(sources[0].delimiter) and (column == "").any()
        if not (is_text or may_be_rounded(column)):
            continue
        kind = "UInt64" if is_text or column.max() >= 2**63 else "Int64"
        with suppress(TypeError, ValueError, OverflowError):  # these are no integers
            parts = [_read_pandas(source, [name], kind)[name] for source in sources]
            together[name] = pandas.concat(parts, ignore_index=True)
    return nw.from_native(together).lazy(), [len(frame) for frame in frames]


def _read_pandas(source: Source, needed: list[str], kind: str | None = None) -> Any:
    """Return columns of a file as pandas reads them, all of one type if it is given."""
    import pandas

    if source.delimiter:
        read: Any = partial(
            pandas.read_csv,
            source.absolute,
            sep=source.delimiter,
            encoding=source.encoding,
        )
        # With a header pandas cuts a first row that is too long; without one it refuses it.
        read(header=None, nrows=2)
        read = partial(
            read,
            decimal=source.decimal,
            index_col=False,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            dtype=kind and dict.fromkeys(needed, kind),
        )
        whole, ends = _read_in_parts(read, needed)
        if ends.isna().any():
            check_lines(source)
    elif source.columns is None:
        columns = read_objects(source.path, needed, source.encoding)
        for name in needed:
            if name not in columns:
                raise _no_column(name, columns, source.path)
        whole = pandas.DataFrame({name: columns[name] for name in needed}, dtype=kind)
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.ParquetFile(source.absolute).read(columns=needed)
        mapper = kind and (lambda _: pandas.api.types.pandas_dtype(kind))
        whole = table.to_pandas(types_mapper=mapper)
    return whole[needed]


def _read_in_parts(read: Any, needed: list[str]) -> tuple[Any, Any]:
    """Return some columns of a table, and its last one.

    A whole table takes several times the memory of its file. With usecols, pandas would not see
    that a row has too many cells.
    """
    import pandas

    with read(chunksize=_ROWS) as chunks:
        parts = [(chunk[needed], chunk.iloc[:, -1]) for chunk in chunks]
    columns, ends = ([part[i] for part in parts] for i in (0, 1))
    kinds = ({part[name].dtype.kind for part in columns} for name in needed)
    if not parts or any(len(kind) > 1 and kind != {"i", "f"} for kind in kinds):
        whole = read()  # the type of a column is that of all of its cells
        return whole[needed], whole.iloc[:, -1]
    return pandas.concat(columns, ignore_index=True), pandas.concat(ends)


# --------------------------------------------------------------------------- writing


def written(text: str, path: Any) -> str:
    """Return text, once it is in the file that is named, if one is."""
    if path is not None:
        if not isinstance(path, str | os.PathLike):
            text = "path must be text or a path, or None; got {kind}."
            raise InputTypeError(text, kind=type(path).__name__)
        check_path(Path(path))
        _replace(Path(path), text.encode("utf-8"))
    return text


def check_path(path: Path) -> None:
    """Raise if no file can be written at a path."""
    if "\0" in str(path):
        raise InputError("path must hold no NUL character; got {path!r}.", path=str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name the file to write")


def _replace(path: Path, content: bytes) -> None:
    """Write a file beside the one that is named, and give it that name when it is complete."""
    if path.exists() and not path.is_file():  # a device such as /dev/stdout
        path.write_bytes(content)
        return
    target = path.resolve()  # a link keeps pointing to its file
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is write-protected")  # renaming would not ask
    beside = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # the reader knows this name, and not the temporary one
        raise
