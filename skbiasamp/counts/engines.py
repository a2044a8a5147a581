"""Counting where the data is: any data frame or query engine groups and sums, cells come back."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, no_column
from skbiasamp._input.containers import twice_named
from skbiasamp._input.errors import OPTION_OF, PARAMETER_OF, InputError, InputTypeError
from skbiasamp.counts.cells import BOTH, BOTH_SQUARE, SQUARE

COUNT = "n"
# Up to so many 0/1 columns an engine groups by which of them occur together.
MOST_JOINT = 12

# Up to so many distinct rows come back from a query.
MOST_CELLS = 5_000_000

# The columns of labels and predictions, by the side they are.
Sides = Mapping[str, list[Hashable]]


class Opened(NamedTuple):
    """A frame of any library, lazily, and what its columns are."""

    frame: nw.LazyFrame[Any]
    eager: Any  # the frame in memory, where it is
    schema: Mapping[Hashable, Any]
    called: Mapping[Hashable, str]  # columns whose names engines would not take for names

    def as_query(self, numbers: Iterable[Hashable]) -> Opened:
        """Return a frame of few distinct rows as a query, so that its engine groups them."""
        many = self.fractional(numbers) or nw.Object in self.schema.values()  # or it cannot
        # Engines group categories as text.
        columns = () if self.eager is None else self.eager.iter_columns()
        are_numbers = any(
            column.cat.get_categories().dtype != nw.String
            for column in columns
            if isinstance(column.dtype, nw.Categorical | nw.Enum)
        )
        return self if many or are_numbers else self._replace(eager=None)

    def column(self, name: Hashable) -> nw.Expr:
        """Return a column by the name that the user gave it."""
        return nw.col(str(self.called.get(name, name)))

    def key(self, name: Hashable) -> nw.Expr:
        """Return what the engine groups a column by."""
        column, kind = self.column(name), self.schema[name]
        engine = self.frame.implementation
        # Categories group by their text, and missing ones stay missing. Dask's may be numbers.
        is_text = isinstance(kind, nw.Categorical | nw.Enum) and not engine.is_dask()
        # Tuples and bytes come back of types that only DuckDB knows.
        is_text |= isinstance(kind, nw.Unknown | nw.Duration) and engine.is_duckdb()
        return column.cast(nw.String) if is_text else column

    def number(self, name: Hashable) -> nw.Expr:
        """Return a column of 0 and 1, or of fractions, as numbers that can be summed."""
        column, kind = self.column(name), self.schema[name]
        if kind.is_integer():
            return column
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise no_indicator(name, f"values of type {kind}")
        return column.cast(nw.Int8 if kind == nw.Boolean else nw.Float64)

    def weight(self, name: Hashable) -> nw.Expr:
        """Return a column of weights as numbers."""
        kind = self.schema[name]
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):
            text = "{sample_weight} must hold numbers; got values of type {kind}."
            raise InputError(text, kind=kind)
        return self.column(name).cast(nw.Float64)

    def fractions(self, name: Hashable) -> bool:
        """Whether a column's type can hold fractions."""
        kind = self.schema[name]
        return bool(kind.is_float() or kind.is_decimal())

    def decided(self, names: Iterable[Hashable], threshold: float) -> Opened:
        """Return the frame with 0 and 1 for scores below a threshold, and for the others."""
        made, schema = [], dict(self.schema)
        for name in dict.fromkeys(names):
            if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
                text = "{y_pred} must hold numbers if there is a {threshold}; got type {kind}."
                raise InputError(text, kind=schema[name])
            score = self.column(name)
            score = score if schema[name].is_float() else score.cast(nw.Float64)
            # Of NaN some engines say that it is above any number.
            above = nw.when(~score.is_nan()).then((score >= threshold).cast(nw.Int8))
            made.append(above.alias(str(self.called.get(name, name))))
            schema[name] = nw.Int8()
        return self._replace(frame=self.frame.with_columns(*made), schema=schema)

    def fractional(self, names: Iterable[Hashable]) -> list[Hashable]:
        """Return which columns hold numbers that are not whole."""
        asked = [name for name in dict.fromkeys(names) if self.fractions(name)]
        if not asked:
            return []
        numbers = [self.column(name).cast(nw.Float64) for name in asked]
        parts = self.frame.select(
            *(
                (column - column.round(0)).abs().alias(f"part {i}")
                for i, column in enumerate(numbers)
            )
        )
        largest = parts.select(*(nw.col(f"part {i}").max() for i in range(len(asked)))).collect()
        shares = [largest[f"part {i}"].to_list()[0] for i in range(len(asked))]
        return [name for name, part in zip(asked, shares, strict=True) if part and part > 0]


def open_frame(frame: Any, sides: Sides) -> Opened:
    """Return a frame of any library as a lazy one that has the columns which are named."""
    try:
        opened = nw.from_native(frame)
    except TypeError as error:
        raise InputTypeError(
            "{frame} must be a data frame or a query (pandas, polars, pyarrow, DuckDB, Dask, "
            "PySpark, Ibis). Got {kind} instead.",
            kind=type(frame).__name__,
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise twice_named("frame", error) from error
    schema = opened.lazy().collect_schema()
    for side, names in sides.items():
        for name in names:
            option = OPTION_OF.get(side.partition(":")[0], side)
            if not isinstance(name, Hashable) or name not in schema:
                raise no_column(name, schema, option)
            if schema[name].is_nested():
                text = "{name}: column {column!r} holds {kind}. Make a column of each value first."
                raise InputTypeError(text, name=option, column=name, kind=schema[name])
    named = dict.fromkeys(name for names in sides.values() for name in names)
    free = (new for i in count() if (new := f"column {i}") not in schema)
    called = {name: new for name, new in zip(named, free, strict=False) if not is_plain(name)}
    if called:
        opened = _renamed(opened, called)
        schema = opened.lazy().collect_schema()
        schema = {**schema, **{name: schema[new] for name, new in called.items()}}
    eager = opened if isinstance(opened, nw.DataFrame) else None
    return Opened(opened.lazy(), eager, schema, called)


def _renamed(opened: Any, called: Mapping[Hashable, str]) -> Any:
    """Return a frame with other names for some columns."""
    native = opened.to_native()
    if not hasattr(native, "project"):
        return opened.rename(dict(called))
    # Renaming a column * of DuckDB would rename all.
    pairs = ((name, called.get(name, name)) for name in native.columns)
    quoted = ([f'"{name.replace(chr(34), 2 * chr(34))}"' for name in pair] for pair in pairs)
    return nw.from_native(native.project(", ".join(" as ".join(pair) for pair in quoted)))


def is_plain(name: object) -> bool:
    """Whether engines take a column's name for a name: neither a number nor a pattern."""
    return isinstance(name, str) and name != "*" and not re.fullmatch(r"\^.*\$", name, re.DOTALL)


def n_rows(frame: Any) -> int:
    """Return how many rows a frame or query of any library has."""
    return int(nw.from_native(frame).lazy().select(nw.len()).collect().item())


def names_of(named: Any) -> list[Hashable]:
    """Return the columns that one name, or a list of names, stands for."""
    if named is None:
        return []
    if isinstance(named, dict):  # of several models
        return [name for columns_of_side in named.values() for name in names_of(columns_of_side)]
    return list(named) if isinstance(named, list | tuple) else [named]


# --------------------------------------------------------------------------- cells


def count_cells(
    opened: Opened,
    sides: Sides,
    weight: Hashable | None,
    most: int | None = None,
    *,
    fractions: bool = False,
) -> pd.DataFrame:
    """Return the distinct rows of some columns with their counts, or sums of weights.

    Columns come back as ``side 0``, ``side 1``, ...: one column may serve two sides. More than
    `most` distinct rows are an error. If weights are `fractions`, rows of a cell have one weight
    too: there is how many `rows` it is, and their weight `n`.
    """
    if weight is None:
        return grouped(opened, sides, {}, {COUNT: nw.len()}, most=most)
    number = opened.weight(weight)
    made = {"sum": number, "least": number}
    how = {"rows": nw.len(), "known": nw.col("sum").count()}
    how |= {"sum": nw.col("sum").sum(), "least": nw.col("least").min()}
    also = {"weight": number} if fractions else None
    cells = grouped(opened, sides, made, how, also=also, most=most)
    if (cells["known"] < cells["rows"]).any() or cells["sum"].isna().any():
        raise holes(f"column {weight!r}")
    if cells["least"].min() < 0:
        raise InputError("{sample_weight} must be 0 or more; got negative values in some rows.")
    if not fractions:
        return cells.rename(columns={"sum": COUNT})
    return cells.assign(**{COUNT: cells["rows"] * cells["weight"]})


def holes(what: str) -> InputError:
    """Return the error that values are missing where an engine sums."""
    return InputError("There are missing values in {name}. Leave these rows out.", name=what)


def grouped(
    opened: Opened,
    sides: Sides,
    sums: Mapping[str, nw.Expr],
    how: Mapping[str, nw.Expr],
    also: Mapping[str, nw.Expr] | None = None,
    most: int | None = None,
) -> pd.DataFrame:
    """Group by the columns of some sides and return what is summed of each group, in one query."""
    taken = {
        f"{side} {i}": opened.key(name)
        for side, names in sides.items()
        for i, name in enumerate(names)
    }
    taken |= also or {}
    # Sums of expressions fail on some engines: the column is made first, then summed.
    made = [column.alias(name) for name, column in {**taken, **sums}.items()]
    selected = opened.frame.select(*made)
    cells = selected.group_by(list(taken)).agg(
        *(column.alias(name) for name, column in how.items())
    )
    table = (cells if most is None else cells.head(most + 1)).collect()
    if most is not None and len(table) > most:
        raise _too_many({name: table[name].n_unique() for name in taken}, most)
    return _as_pandas(table, list(taken))


def _too_many(sizes: Mapping[str, int], most: int) -> InputError:
    """Return the error for columns of which some identifies rows."""
    widest = max(sizes, key=lambda name: sizes[name])
    side = widest.partition(" ")[0].partition(":")[0]
    option = OPTION_OF.get(side, side)
    return InputError(
        "{name} has {n:,} values or more, and more than {most:,} combinations with the other "
        "columns. If it is an identifier, choose another column. Bin or round numbers, "
        "probabilities and weights, or read the columns into memory.",
        name=PARAMETER_OF.get(option, option),
        n=sizes[widest],
        most=most,
    )


def _as_pandas(cells: nw.DataFrame[Any], keys: list[str]) -> pd.DataFrame:
    """Return the few cells that came back, with plain numbers and one kind of missing."""
    read: dict[str, Any] = {}
    for name in cells.columns:
        values = cells[name].to_list()
        if name not in keys:
            # Engines count in integers of any size, and in decimals.
            read[name] = np.array([0.0 if value is None else float(value) for value in values])
            continue
        column: Array = np.empty(len(values), dtype=object)
        column[:] = [None if pd.isna(value) else value for value in values]
        read[name] = pd.Series(column).infer_objects()
    # Sort the rows: engines return them in any order, and random draws depend on it.
    return pd.DataFrame(read).sort_values(
        keys, key=lambda column: column.astype(str), ignore_index=True
    )


def no_indicator(name: Hashable, problem: str) -> InputError:
    """Return the error that one of several columns holds more than 0 and 1."""
    return InputError(
        "column {column!r} is one of several, so it must be a 0/1 indicator of one label; got "
        "{seen}. For one label a row name a single column.",
        column=name,
        seen=problem,
    )


# --------------------------------------------------------------------------- many tasks


def sum_tasks(
    opened: Opened, sides: Sides, weight: Hashable | None
) -> tuple[pd.DataFrame, dict[str, Array]]:
    """Count every task by itself, in one pass over many 0/1 columns.

    Returned are the combinations of groups with their weights, and of each what is summed of every
    task: labels, predictions and what both have, with squares if predictions may be fractions.
    """
    labels, predictions = sides["task"], sides["task_pred"]
    if predictions and len(predictions) != len(labels):
        raise InputError(
            "{y_true} has {n} columns but {y_pred} has {m}. Predict every column, in the same "
            "order.",
            n=len(labels),
            m=len(predictions),
        )
    true = [opened.number(name) for name in labels]
    predicted = [opened.number(name) for name in predictions]
    products = {"task": true}
    if predictions:
        both = [label * guess for label, guess in zip(true, predicted, strict=True)]
        products |= {"task_pred": predicted, BOTH: both}
        if any(map(opened.fractions, predictions)):
            products[SQUARE] = [guess * guess for guess in predicted]
            products[BOTH_SQUARE] = [b * g for b, g in zip(both, predicted, strict=True)]
    sums = {f"{side} {i}": column for side in products for i, column in enumerate(products[side])}
    if weight is not None:
        times = opened.weight(weight)
        sums = {name: column * times for name, column in sums.items()} | {COUNT: times}
    how = {name: nw.col(name).sum() for name in sums}
    if weight is None:
        how[COUNT] = nw.len()
    allowed = {name: opened.number(name).is_between(0, 1) for name in predictions}
    for name, label in zip(labels, true, strict=True):
        whole = (label == 0) | (label == 1)
        allowed[name] = whole if opened.fractions(name) else label.is_between(0, 1)
    flags = {
        "wrong": _pairwise(operator.or_, [~flag for flag in allowed.values()]),
        "holes": _pairwise(operator.or_, [opened.column(name).is_null() for name in allowed]),
    }
    how |= {name: nw.col(name).sum() for name in flags}
    sums |= {name: flag.cast(nw.Int8) for name, flag in flags.items()}
    of_groups = {side: named for side, named in sides.items() if side.startswith("group")}
    strata = grouped(opened, of_groups, sums, how)
    if strata["holes"].any() or strata[list(how)].isna().to_numpy().any():
        raise holes("the columns of target or prediction")
    if strata["wrong"].any():
        for name, right in allowed.items():
            wrong = opened.frame.filter(~right).select(opened.column(name).alias("seen")).head(1)
            strangers = wrong.collect()["seen"].to_list()
            if strangers:
                break
        raise no_indicator(name, f"{float(strangers[0]):.6g}")
    of_tasks = {
        side: strata[[f"{side} {i}" for i in range(len(labels))]].to_numpy() for side in products
    }
    return strata, of_tasks


def _pairwise(combine: Callable[[nw.Expr, nw.Expr], nw.Expr], every: list[nw.Expr]) -> nw.Expr:
    """Return one expression of many, whose depth is the logarithm of their number.

    One after another they would be as deep as they are many, which engines refuse.
    """
    while len(every) > 1:
        pairs = [every[i : i + 2] for i in range(0, len(every), 2)]
        every = [combine(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return every[0]
