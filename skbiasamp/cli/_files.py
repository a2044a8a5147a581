"""Columns and files that options name: checked before anything is computed."""

from __future__ import annotations

import argparse
import os
import shlex
from ast import literal_eval
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.containers import as_precise
from skbiasamp._input.errors import PARAMETER_OF, Called, InputError, Names
from skbiasamp._io import check_path, kind_of, open_bytes, opened

# Roles in errors that are called as their options are.
_ROLES = (
    "missing groups delimiter encoding min_rows decimal max_groups reference threshold time every"
)


@dataclass(frozen=True)
class Named:
    """Columns that an option names: --target income, or --prediction champion=p0.

    `shown` is the option of columns that were made of others, such as labels of texts.
    """

    side: str
    columns: list[str]
    model: str | None = None
    shown: str | None = None

    def as_typed(self, *columns: str) -> str:
        """Return the option with some of its columns, as on the command line."""
        if self.shown is not None:
            return self.shown
        flag = f"--{self.side.replace('_', '-')}"
        if self.model is not None:
            columns = (f"{self.model}={','.join(columns)}",)
        return " ".join([flag, *columns])


def named_columns(options: argparse.Namespace) -> list[Named]:
    """Return what options name, or raise if a column has two roles.

    Only scores may be the predictions too; and the labels, if models are compared with one of them.
    """
    columns_named = []
    for side in (*PARAMETER_OF, "target_text", "text"):
        value = getattr(options, side, None) or {}
        several = value if isinstance(value, dict) else {None: value}
        columns_named += [Named(side, columns, model) for model, columns in several.items()]
    first: dict[str, Named] = {}
    for given in columns_named:
        for column in given.columns:
            before = first.setdefault(column, given)
            shared = (before.side, given.side)
            allowed = shared == ("prediction", "score")
            of_label = shared in (("target", "prediction"), ("target_text", "text"))
            allowed |= of_label and given.model is not None
            if (before is not given or given.columns.count(column) > 1) and not allowed:
                raise InputError(
                    "{this}: this column is named by {first} already. Name another column in one "
                    "of them.",
                    this=given.as_typed(column),
                    first=before.as_typed(column) if before.model else before.as_typed(),
                )
    return columns_named


def columns_by_role(named: list[Named]) -> dict[str, Any]:
    """Return columns as `skbiasamp.audit` takes them."""
    labels: dict[str, Any] = {}
    for given in named:
        # One column is a column of classes; several are indicators, or combined attributes.
        label = given.columns[0] if len(given.columns) == 1 else given.columns
        if given.model is None:
            labels[given.side] = label
        else:
            labels.setdefault(given.side, {})[given.model] = label
    return labels


@contextmanager
def rows_of_files(
    options: argparse.Namespace,
    patterns: list[str],
    named: list[Named],
    *also: str,
    compact: bool = False,
) -> Iterator[tuple[nw.LazyFrame[Any], list[dict[str, Any]]]]:
    """Yield the columns that options name, and others, of files that have rows.

    They may be `compact`, see `opened`.
    """
    columns = dict.fromkeys([*(column for given in named for column in given.columns), *also])
    how = written_as(options)
    with opened(patterns, list(columns), compact=compact, **how) as (rows, files):
        if not any(file["rows"] for file in files):
            where = ", ".join(patterns)
            raise InputError("{where} has no rows: there is nothing to audit", where=where)
        yield _binned(rows, options.bins), files


def _binned(rows: nw.LazyFrame[Any], bins: list[tuple[str, list[float]]]) -> nw.LazyFrame[Any]:
    """Return rows with groups in place of the numbers of columns."""
    types = rows.collect_schema()
    for column, edges in bins:
        if column not in types:
            text = "--bins {column}: this column has no role. Name it in --sensitive, too."
            raise InputError(text, column=column)
        if not types[column].is_numeric():
            raise _no_numbers(column, rows.select(nw.col(column)).collect()[column].drop_nulls())
        numbers, texts = nw.col(column), [f"{edge:.15g}" for edge in edges]
        if types[column].is_float():
            numbers, known = numbers.cast(nw.Float64), ~numbers.is_nan()
            edges = [as_precise(edge, types[column]) for edge in edges]
        else:
            known = ~numbers.is_null()
        names = [f"under {texts[0]}", *(f"{a} to under {b}" for a, b in pairwise(texts))]
        last = f"{texts[-1]} or more"
        if rows.implementation.is_pandas():  # which would make a column of texts for each name
            values = rows.collect()[column].cast(nw.Float64).to_numpy()
            at = np.searchsorted(edges, values, side="right").astype(float)
            at[np.isnan(values)] = np.nan
            codes, present = pd.factorize(at)
            called = np.array([*names, last], object)[present.astype(int)]
            cut = pd.Series(pd.Categorical.from_codes(codes, called), name=column)
            rows = rows.with_columns(nw.from_native(cut, series_only=True))
            continue
        groups: nw.Expr = nw.when(known & (numbers >= edges[-1])).then(nw.lit(last))
        for edge, name in zip(edges[::-1], names[::-1], strict=True):
            groups = nw.when(numbers < edge).then(nw.lit(name)).otherwise(groups)
        rows = rows.with_columns(groups.alias(column))
    return rows


def _no_numbers(column: str, cells: nw.Series[Any]) -> InputError:
    """Return what is wrong with a column that is no column of numbers: with some cells, or all."""
    texts = list(map(str, cells.to_list()))
    # A number with a decimal comma is one: the file's decimal sign is another matter.
    numbers = pd.to_numeric([text.replace(",", ".") for text in texts], errors="coerce")
    others = [text for text, number in zip(texts, numbers, strict=True) if np.isnan(number)]
    if len(others) in (0, len(texts)):
        text = "--bins {column}: this column holds text, and only numbers can be cut."
        return InputError(text, column=column)
    return InputError(
        "--bins {column}: {what} of this column {are}, such as {seen!r}, and only numbers can be "
        "cut. Correct these cells, or make them empty (see {missing}).",
        column=column,
        what=f"{len(others):,} cell" + "s" * (len(others) > 1),
        are="are no numbers" if len(others) > 1 else "is no number",
        seen=others[0],
    )


def line_of(inputs: Sequence[Path], n_rows: int, row: int) -> str:
    """Return in which line of the one CSV file a row is; '' if not every line is a row."""
    if len(inputs) != 1 or kind_of(inputs[0]) not in (".csv", ".tsv"):
        return ""
    with open_bytes(inputs[0]) as file:
        n_lines = sum(1 for _ in file)
    # Blank lines are no rows, and a cell in quotes may have several lines.
    return f" (line {row + 2} of the file)" if n_lines == n_rows + 1 else ""


def written_as(options: argparse.Namespace) -> dict[str, str | None]:
    """Return how text files are read."""
    return {name: getattr(options, name) for name in ("delimiter", "encoding", "decimal")}


def names_of_options(named: list[Named]) -> dict[str, Called]:
    """Return what parameters are called on the command line: --target income, --missing drop."""
    names: dict[str, Called] = {
        "y_train and sensitive_train": "--train",
        "the training data": "--train",
        "NumericAuditor": "--numeric",
        "skbiasamp.audit(missing='bounds')": "skbiasamp audit --missing bounds",
        "LICAuditor": "--auditor skbiasamp:LICAuditor",
        "WordListLabeler": "--text and --labels",
    }
    for option, parameter in PARAMETER_OF.items():
        mine = [given for given in named if given.side == option]
        flag = f"--{option.replace('_', '-')}"
        for role in (option, parameter, f"{parameter}s"):  # y_preds are those of several models
            names[role] = flag
            for given in mine:
                whole = given.as_typed(*given.columns)
                names[role if given.model is None else f"{role}[{given.model!r}]"] = whole
                names |= {f"{role} column {each!r}": given.as_typed(each) for each in given.columns}
    names |= {"pandas.cut, KBinsDiscretizer": "--bins", "every=None": "--every name"}
    names["pos_label"] = partial(_option_named, "--positive")
    for role in _ROLES.split():
        names[role] = partial(_option_named, f"--{role.replace('_', '-')}")
    return names


# What the page of the app calls parameters, and those with a value, which findings advise.
_FIELDS = {
    "pos_label": "“High scores mean”",
    "y_train and sensitive_train": "the training file",
    "NumericAuditor": "“Label and prediction are numbers”",
    "missing": "“Rows without a value in these columns”",
    "missing='group'": "“a group of their own”",
    "missing='bounds'": "“leave these rows out, and say what they could change”",
    "favourable": "“Which outcome do people want?”",
    "threshold": "“People are selected from this score on”",
    "given": "“Strata” in step 2",
    "y_score": "“Scores behind the prediction” in step 2",
    "limit": "in step 3",
    "pandas.cut, KBinsDiscretizer": "“Cut into groups at these numbers” in step 2",
    "skbiasamp.mitigation.search": "in Python, skbiasamp.mitigation.search",
}


def names_of_findings(names: Names) -> Names:
    """Return what findings call parameters: options of the command, or fields of the app."""
    if not os.environ.get("SKBIASAMP_APP"):
        return names
    return {role: partial(_field_named, role) for role in _FIELDS}


def _field_named(role: str, rest: str) -> str:
    """Return the field of a parameter and its value; `rest` is as in Python: ='drop'."""
    shown = _FIELDS.get(f"{role}{rest}")
    return shown or f"{_FIELDS[role]}: {rest.removeprefix('=')}"


def _option_named(flag: str, rest: str) -> str:
    """Return an option and its value as on the command line; `rest` is as in Python: ='drop'."""
    value = rest.removeprefix("=")
    if value.startswith(("'", '"')):
        value = shlex.quote(literal_eval(value))
    return f"{flag} {value}".rstrip()


def checked_outputs(options: argparse.Namespace, inputs: Sequence[Path]) -> dict[str, Path]:
    """Return the files to write, or raise if one cannot be written or is an input or another."""
    wanted = {kind: getattr(options, kind) for kind in ("html", "json", "markdown")}
    outputs = {kind: Path(path) for kind, path in wanted.items() if path is not None}
    taken = {path.resolve(): f"the input {path}" for path in inputs}
    for option, path in outputs.items():
        check_path(path)
        real = path.resolve()
        if real in taken:
            text = "--{option} {path} would overwrite {what}: name another file"
            raise InputError(text, option=option, path=path, what=taken[real])
        taken[real] = f"what --{option} writes"
    return outputs
