"""Files in: found, checked, and read by what is installed without loading them."""

from __future__ import annotations

import glob
import importlib.util
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from skbiasamp._input import InputError, meant, quote

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
# Where an error comes from if a file cannot be read, whichever library read it.
_READERS = ("duckdb", "_duckdb", "polars", "pandas", "pyarrow", "narwhals")


def are_files(value: Any) -> bool:
    """Whether a value names files: a path or pattern, or a list of them."""
    several = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(one, str | os.PathLike) for one in several)


def patterns_of(value: Any) -> list[str]:
    """Return paths and patterns as text."""
    return [os.fspath(one) for one in (value if isinstance(value, list | tuple) else [value])]


@contextmanager
def reading(patterns: list[str]) -> Iterator[list[Path]]:
    """Yield the files that patterns name; what a reader finds wrong with them is the input's."""
    paths = _files(patterns)
    try:
        yield paths
    except Exception as error:
        foreign = type(error).__module__.partition(".")[0] in _READERS
        if not foreign and not isinstance(error, UnicodeError):
            raise
        shown, first = ", ".join(patterns), str(error).partition("\n")[0]
        raise InputError(
            "{files} cannot be read as {kind}{form}: {first}",
            files=shown,
            kind=paths[0].suffix,
            form=", of which every line has as many cells as the first"
            * (paths[0].suffix in _SEPARATORS),
            first=first,
        ) from error


def _files(patterns: list[str]) -> list[Path]:
    found: list[Path] = []
    for pattern in patterns:
        if Path(pattern).exists():
            found.append(Path(pattern))
            continue
        matched = sorted(glob.glob(pattern, recursive=True))
        if not matched:
            what = "no file matches" if glob.has_magic(pattern) else "there is no file"
            raise FileNotFoundError(f"{what} {pattern}")
        found += map(Path, matched)
    for path in found:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name files, such as '{path}/*.parquet'")
        if path.suffix not in (*_SEPARATORS, _PARQUET):
            known = ", ".join((*_SEPARATORS, _PARQUET))
            text = "{path} ends in {seen!r}; only files of {known} can be read"
            raise InputError(text, path=path, seen=path.suffix, known=known)
        if path.stat().st_size == 0:
            raise InputError("{path} is empty", path=path)
    if len({path.suffix for path in found}) > 1:
        text = "{files} are files of different kinds: name files of one kind"
        raise InputError(text, files=", ".join(patterns))
    return found


def scan(paths: list[Path], needed: list[str]) -> nw.LazyFrame[Any]:
    """Return some columns of files, lazily where DuckDB or polars is installed."""
    return _scanner(paths[0].suffix)(paths, needed)


def _check_columns(needed: list[str], present: Iterable[str], path: Path) -> None:
    present = list(present)
    for name in needed:
        if name not in present:
            raise InputError(
                "{path} has no column {column!r}{meant} It has {known}.",
                path=path,
                column=name,
                meant=meant(name, present),
                known=quote(present, 12),
            )


def _scanner(suffix: str) -> Any:
    """Return what reads files here: DuckDB, polars or pandas.

    All read alike: nothing but an empty cell is missing, and types are those of the whole column.
    """
    has = {name: importlib.util.find_spec(name) for name in ("duckdb", "polars", "pyarrow")}
    if has["duckdb"] and has["pyarrow"]:  # DuckDB hands its cells back as Arrow tables
        return _scan_duckdb
    if has["polars"]:
        return _scan_polars
    if suffix == _PARQUET and not has["pyarrow"]:
        raise ImportError("Parquet needs polars (or pyarrow): pip install 'skbiasamp[polars]'")
    return _scan_pandas


def _scan_duckdb(paths: list[Path], needed: list[str]) -> nw.LazyFrame[Any]:
    import duckdb

    def quoted(value: object, mark: str) -> str:
        return mark + str(value).replace(mark, 2 * mark) + mark

    files = ", ".join(quoted(path, "'") for path in paths)
    suffix = paths[0].suffix
    if suffix == _PARQUET:
        source = f"read_parquet([{files}])"
    else:
        # By itself DuckDB would take 'f', 'n' and 'no' for false.
        source = (
            f"read_csv([{files}], header = true, skip = 0, delim = '{_SEPARATORS[suffix]}', "
            "quote = '\"', escape = '\"', comment = '', sample_size = -1, "
            "auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR'])"
        )
    relation = duckdb.connect().sql(f"select * from {source}")
    _check_columns(needed, relation.columns, paths[0])
    taken = {column: quoted(column, '"') for column in needed}
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    texts = [column for column in needed if kinds[column] == "VARCHAR"]
    if texts and suffix != _PARQUET:
        tests = (f"bool_and(lower({taken[text]}) in ('true', 'false'))" for text in texts)
        (answers,) = relation.aggregate(", ".join(tests)).fetchall()
        for text, is_truth in zip(texts, answers, strict=True):
            if is_truth:
                taken[text] = f"lower({taken[text]}) = 'true' as {taken[text]}"
    return nw.from_native(relation.project(", ".join(taken.values()))).lazy()


def _scan_polars(paths: list[Path], needed: list[str]) -> nw.LazyFrame[Any]:
    import polars

    if paths[0].suffix == _PARQUET:
        frame = polars.scan_parquet(paths)
    else:
        frame = polars.scan_csv(
            paths,
            separator=_SEPARATORS[paths[0].suffix],
            infer_schema_length=None,
            null_values=[""],
        )
    _check_columns(needed, frame.collect_schema(), paths[0])
    return nw.from_native(frame.select(needed)).lazy()


def _scan_pandas(paths: list[Path], needed: list[str]) -> nw.LazyFrame[Any]:
    import pandas

    frames = []
    for path in paths:
        if path.suffix == _PARQUET:
            import pyarrow.parquet

            _check_columns(needed, pyarrow.parquet.read_schema(path).names, path)
            frames.append(pandas.read_parquet(path, columns=needed))
            continue
        separator = _SEPARATORS[path.suffix]
        # With a header pandas cuts a first row that is too long; without one it refuses it.
        pandas.read_csv(path, sep=separator, header=None, nrows=2)
        # With usecols, pandas would not see that a row has too many cells.
        whole = pandas.read_csv(
            path,
            sep=separator,
            index_col=False,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
        )
        _check_columns(needed, whole.columns, path)
        frames.append(whole[needed])
    return nw.from_native(pandas.concat(frames, ignore_index=True)).lazy()
