"""Counting where the data is: any data frame or query engine groups and sums, cells come back."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import (
    Array,
    Names,
    check_models,
    check_names,
    check_option,
    check_threshold,
    no_column,
)
from skbiasamp._input.classes import no_positive_class
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.containers import as_column, as_precise, inferred, to_native, twice_named
from skbiasamp._input.errors import (
    OPTION_OF,
    PARAMETER_OF,
    InputError,
    InputTypeError,
    counting,
)
from skbiasamp._input.labels import Codes, Members, Rows, side_of_model
from skbiasamp._input.rows import read_rows
from skbiasamp._utils.progress import interruptible, progress
from skbiasamp.counts.cells import BOTH, BOTH_SQUARE, SQUARE
from skbiasamp.counts.merging import require_cells

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
            raise _no_indicator(name, f"values of type {kind}")
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
            score, least = self.column(name).cast(nw.Float64), as_precise(threshold, schema[name])
            # Of NaN some engines say that it is above any number.
            above = nw.when(~score.is_nan()).then((score >= least).cast(nw.Int8))
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
        opened: Any = nw.from_native(frame)
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
    called = {name: new for name, new in zip(named, free, strict=False) if not _is_plain(name)}
    if called:
        native = opened.to_native()
        if hasattr(native, "project"):
            # Renaming a column * of DuckDB would rename all.
            pairs = [(name, called.get(name, name)) for name in native.columns]
            quoted = ([f'"{n.replace(chr(34), 2 * chr(34))}"' for n in pair] for pair in pairs)
            opened = nw.from_native(native.project(", ".join(map(" as ".join, quoted))))
        else:
            opened = opened.rename(called)
        renamed = opened.lazy().collect_schema()
        schema = {**renamed, **{name: renamed[new] for name, new in called.items()}}
    eager = opened if isinstance(opened, nw.DataFrame) else None
    return Opened(opened.lazy(), eager, schema, called)


def _is_plain(name: object) -> bool:
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


# --------------------------------------------------------------------------- rows


def read_frame(frame: Any, named: dict[str, Any], *, joint: bool | None, **how: Any) -> Rows:
    """Count the rows of a frame, or sum them if they do not repeat.

    `named` says by their options where labels, predictions and weights are, `how` holds the
    options of labels.
    """
    check_names(named)
    if how["like"] is not None:
        require_cells("like", how["like"])
    check_option("joint", joint, (True, False, None))
    check_option("numbers", how["numbers"], (True, False))
    predicted = {side: named[OPTION_OF[side]] for side in ("task_pred", "group_pred")}
    models: tuple[str, ...] = ()
    if any(isinstance(names, dict) for names in predicted.values()):
        models = check_models({OPTION_OF[side]: names for side, names in predicted.items()})
    sides = {side: names_of(named[option]) for side, option in OPTION_OF.items()}
    for side, names in predicted.items():
        if models and sides.pop(side):
            sides |= {side_of_model(side, model): names_of(names[model]) for model in models}
    joint = True if how["numbers"] else joint  # sums of numbers do not hold how these vary
    with progress("counting rows"), interruptible():
        opened = open_frame(frame, sides)
        check_threshold(how["threshold"])
        prediction = _predictions(sides)
        if prediction and how["threshold"] is not None and opened.eager is None:
            opened = opened.decided(prediction, how["threshold"])
            how |= {"threshold": 0.5}  # between 0 and 1, which scores are now
        few = len(sides["task"] + prediction) <= MOST_JOINT
        apart = opened.eager is not None or few if joint is None else joint
        if len(sides["task"]) > 1 and not models and not apart:
            return _sum_tasks(opened, sides, how)
        columns = _columns(opened, sides, joint=joint)
    labels = how | {"sensitive_features": columns["group"], "sample_weight": columns["weight"]}
    labels |= {"repeats": columns["repeats"], "clusters": columns["cluster"], "listed": True}
    labels["merged"] = few and opened.eager is not None and not how["numbers"]
    for side, parameter in (("task_pred", "y_pred"), ("group_pred", "sensitive_pred")):
        if not models:
            labels[parameter] = columns[side]
        elif predicted[side]:
            of_models = {model: columns[side_of_model(side, model)] for model in models}
            labels[f"{parameter}s"] = of_models
    # A row that an engine counted stands for many.
    n = columns["weight"] if columns["repeats"] is None else columns["repeats"]
    with nullcontext() if opened.eager is not None else counting(None if sides["weight"] else n):
        return read_rows(columns["task"], **labels)


def _predictions(sides: Sides) -> list[Hashable]:
    """Return the columns of predictions, of all models."""
    return [name for side, names in sides.items() if side.startswith("task_pred") for name in names]


# --------------------------------------------------------------------------- queries


def _columns(opened: Opened, sides: Sides, *, joint: bool | None) -> dict[str, Any]:
    """Return the columns of rows in memory, or else of the cells that an engine counted.

    `repeats` says how many rows a cell is, if weights are fractions.
    """
    columns: dict[str, Any] = {"repeats": None}
    if opened.eager is not None:
        for side, names in sides.items():
            called = [opened.called.get(name, name) for name in names]
            native = opened.eager[called].to_native() if names else None
            if called != names:
                native = pd.DataFrame(to_native(native, side)).set_axis(names, axis=1)
            columns[side] = native
        return columns
    fractions, prediction = opened.fractional(sides["weight"]), _predictions(sides)
    if any(":" in side for side in sides) and not joint and len(prediction) > MOST_JOINT:
        raise InputError(
            "Several models are compared row by row, and an engine can only sum {n} columns of "
            "predictions. Read these columns into memory.",
            n=len(prediction),
        )
    if sides["cluster"] and fractions:
        raise InputError(
            "{sample_weight} must hold whole numbers if an engine counts {clusters}. Read these "
            "columns into memory."
        )
    labels = {side: names for side, names in sides.items() if side != "weight"}
    how: dict[str, nw.Expr] = {"rows": nw.len()}
    sums: dict[str, nw.Expr] = {}
    also: dict[str, nw.Expr] = {}
    weight = next(iter(sides["weight"]), None)
    if weight is not None:
        number = opened.weight(weight)
        sums = {"sum": number, "least": number}
        how |= {"known": nw.col("sum").count(), "sum": nw.col("sum").sum()}
        how |= {"least": nw.col("least").min()}
        also = {"weight": number} if fractions else {}  # rows of a cell have one weight, too
    most = None if sides["cluster"] else MOST_CELLS
    cells = _grouped(opened, labels, sums, how, also=also, most=most)
    columns["weight"] = cells["rows"].to_numpy()
    if weight is not None:
        if (cells["known"] < cells["rows"]).any() or cells["sum"].isna().any():
            raise _holes(f"column {weight!r}")
        if cells["least"].min() < 0:
            raise InputError("{sample_weight} must be 0 or more; got negative values in some rows.")
        columns["weight"] = cells["sum"].to_numpy()
    if fractions:
        columns["repeats"] = cells["rows"].to_numpy()
        columns["weight"] = columns["repeats"] * cells["weight"].to_numpy()
    return columns | {side: _taken(cells, side, names) for side, names in labels.items()}


def _grouped(
    opened: Opened,
    sides: Sides,
    sums: Mapping[str, nw.Expr],
    how: Mapping[str, nw.Expr],
    *,
    also: Mapping[str, nw.Expr],
    most: int | None,
) -> pd.DataFrame:
    """Group by the columns of some sides and return what is summed of each group, in one query.

    Columns come back as ``side 0``, ``side 1``, ...: one column may serve two sides. More than
    `most` distinct rows are an error.
    """
    taken = {
        f"{side} {i}": opened.key(name)
        for side, names in sides.items()
        for i, name in enumerate(names)
    }
    taken |= also
    # Sums of expressions fail on some engines: the column is made first, then summed.
    made = [column.alias(name) for name, column in {**taken, **sums}.items()]
    selected = opened.frame.select(*made)
    cells = selected.group_by(list(taken)).agg(
        *(column.alias(name) for name, column in how.items())
    )
    table = (cells if most is None else cells.head(most + 1)).collect()
    if most is not None and len(table) > most:
        sizes = {name: table[name].n_unique() for name in taken}
        widest = max(sizes, key=lambda name: sizes[name])
        side = widest.partition(" ")[0].partition(":")[0]
        option = OPTION_OF.get(side, side)
        raise InputError(
            "{name} has {n:,} values or more, and more than {most:,} combinations with the other "
            "columns. If it is an identifier, choose another column. Bin or round numbers, "
            "probabilities and weights, or read the columns into memory.",
            name=PARAMETER_OF.get(option, option),
            n=sizes[widest],
            most=most,
        )
    read: dict[str, Any] = {}
    for name in table.columns:
        values = table[name].to_list()
        if name not in taken:
            # Engines count in integers of any size, and in decimals.
            read[name] = np.array([0.0 if value is None else float(value) for value in values])
            continue
        column: Array = np.empty(len(values), dtype=object)
        column[:] = [None if pd.isna(value) else value for value in values]
        read[name] = inferred(pd.Series(column))
    # Sort the rows: engines return them in any order, and random draws depend on it.
    return pd.DataFrame(read).sort_values(
        list(taken), key=lambda column: column.astype(str), ignore_index=True
    )


def _taken(cells: pd.DataFrame, side: str, names: list[Hashable]) -> Any:
    """Return the columns of one label or prediction with the names they had in the frame."""
    if cells.empty:
        raise InputError("{frame} has no rows: there is nothing to audit.")
    if not names:
        return None
    if side == "cluster":
        return cells["cluster 0"]
    return cells[[f"{side} {i}" for i in range(len(names))]].set_axis(names, axis=1)


def _sum_tasks(opened: Opened, sides: Sides, how: dict[str, Any]) -> Rows:
    """Count every task by itself, in one pass over many 0/1 columns.

    What is summed for each combination of groups are labels, predictions and what both have, with
    squares if predictions may be fractions.
    """
    labels, predictions, weights = sides["task"], sides["task_pred"], sides["weight"]
    if sides["cluster"]:
        raise InputError(
            "{clusters} cannot be kept if an engine sums {n} columns each by itself. Pass "
            "{joint=True}, or read these columns into memory.",
            n=len(labels + predictions),
        )
    if opened.fractional(weights):
        raise InputError(
            "{sample_weight} must hold whole numbers: sums task by task do not hold what "
            "fractions make of intervals. Pass {joint=True}, or whole weights."
        )
    if how["pos_label"] is not None:
        raise no_positive_class("is an indicator matrix")
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
    if weights:
        times = opened.weight(weights[0])
        sums = {name: column * times for name, column in sums.items()} | {COUNT: times}
    asked = {COUNT: nw.len()} | {name: nw.col(name).sum() for name in sums}
    allowed = {name: opened.number(name).is_between(0, 1) for name in predictions}
    for name, label in zip(labels, true, strict=True):
        whole = (label == 0) | (label == 1)
        allowed[name] = whole if opened.fractions(name) else label.is_between(0, 1)
    flags = {
        "wrong": _pairwise(operator.or_, [~flag for flag in allowed.values()]),
        "holes": _pairwise(operator.or_, [opened.column(name).is_null() for name in allowed]),
    }
    asked |= {name: nw.col(name).sum() for name in flags}
    sums |= {name: flag.cast(nw.Int8) for name, flag in flags.items()}
    of_groups = {side: named for side, named in sides.items() if side.startswith("group")}
    strata = _grouped(opened, of_groups, sums, asked, also={}, most=None)
    if strata["holes"].any() or strata[list(asked)].isna().to_numpy().any():
        raise _holes("the columns of target or prediction")
    if strata["wrong"].any():
        for name, right in allowed.items():
            wrong = opened.frame.filter(~right).select(opened.column(name).alias("seen")).head(1)
            strangers = wrong.collect()["seen"].to_list()
            if strangers:
                break
        raise _no_indicator(name, f"{float(strangers[0]):.6g}")
    # Groups and names are read as those of any rows, one for each combination of groups.
    blank = np.zeros((len(strata), len(labels)), dtype=np.int8)
    with counting(None if weights else strata[COUNT].to_numpy()):
        rows = read_rows(
            pd.DataFrame(blank, columns=labels),
            pd.DataFrame(blank, columns=predictions) if predictions else None,
            sensitive_features=_taken(strata, "group", sides["group"]),
            sensitive_pred=_taken(strata, "group_pred", sides["group_pred"]),
            sample_weight=strata[COUNT].to_numpy(),
            apart=True,
            listed=True,
            **how,
        )
    kept, task = rows.kept, rows.sides["task"]
    table = {
        side: strata[[f"{side} {i}" for i in range(len(labels))]].to_numpy() for side in products
    }
    if SQUARE in table and np.array_equal(table[SQUARE], table["task_pred"]):
        # Squares of columns of 0 and 1 are their sums.
        del table[SQUARE], table[BOTH_SQUARE]
    made = {side: replace(task, labels=Members(values[kept])) for side, values in table.items()}
    made |= {name: side for name, side in rows.sides.items() if name.startswith("group")}
    return rows._replace(sides=made, summed="tasks")


def _pairwise(combine: Callable[[nw.Expr, nw.Expr], nw.Expr], every: list[nw.Expr]) -> nw.Expr:
    """Return one expression of many, whose depth is the logarithm of their number.

    One after another they would be as deep as they are many, which engines refuse.
    """
    while len(every) > 1:
        pairs = [every[i : i + 2] for i in range(0, len(every), 2)]
        every = [combine(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return every[0]


def _holes(what: str) -> InputError:
    """Return the error that values are missing where an engine sums."""
    return InputError("There are missing values in {name}. Leave these rows out.", name=what)


def _no_indicator(name: Hashable, problem: str) -> InputError:
    """Return the error that one of several columns holds more than 0 and 1."""
    return InputError(
        "column {column!r} is one of several, so it must be a 0/1 indicator of one label; got "
        "{seen}. For one label a row name a single column.",
        column=name,
        seen=problem,
    )


# --------------------------------------------------------------------------- periods


# Rows that are left out since the reference lacks their class, by period and class.
Others = dict[tuple[Any, Hashable], float]


class Periods(NamedTuple):
    """Rows in their cells, and the period and version of each cell."""

    rows: Rows
    period: Array
    version: Array | None
    dropped: pd.Series[float]  # rows without a sensitive feature, by period
    others: Others


def read_periods(
    frame: Any,
    named: dict[str, Any],
    period: str,
    version: Hashable | None,
    *,
    pos_label: Any,
    classes: Callable[[Array, Array, Names], Names | None],
    **how: Any,
) -> Periods:
    """Count the rows of a frame by period, in one query.

    `period` is the column of periods, `version` that of the model's version. `classes` returns
    those of the reference, from the periods of all rows, their labels as codes, and the names of
    these: probabilities in one column can be of two classes only, and later rows may have more.
    """
    check_names(named)
    sides = {side: names_of(named.get(option)) for side, option in OPTION_OF.items()}
    sides |= {"period": [period], "version": names_of(version)}
    opened, prediction = open_frame(frame, sides), sides["task_pred"]
    opened = opened.as_query(prediction + sides["weight"])
    columns = _columns(opened, sides, joint=True)
    periods = _objects(columns["period"], "period")
    if not len(periods):
        raise InputError("{frame} has no rows: there is nothing to audit.")
    how |= {"sensitive_features": columns["group"], "repeats": columns["repeats"], "apart": True}
    others: Others = {}
    floats = len(prediction) == 1 and opened.fractions(prediction[0])
    if floats and not (numbers_of(columns["task_pred"], "y_pred") > 1).any():
        # Probabilities, or what may be some, are those of this class.
        how["pos_label"] = pos_label
        columns["weight"], others = _of_reference(columns, periods, classes, how)
    rows = read_rows(
        columns["task"],
        columns["task_pred"],
        sensitive_pred=columns["group_pred"],
        sample_weight=columns["weight"],
        **how,
    )
    kept, lost = rows.kept, _weights(columns["weight"], periods)
    lost[kept] = 0
    version_of = columns["version"]
    return Periods(
        rows,
        periods[kept],
        None if version_of is None else _objects(version_of, "version")[kept],
        pd.Series(lost).groupby(pd.Series(periods), dropna=False).sum(),
        others,
    )


def _objects(column: Any, name: str) -> Array:
    """Return the values of a column as Python has them, of which each is made once."""
    codes, values = pd.factorize(as_column(to_native(column, name)), use_na_sentinel=False)
    return np.asarray(values, dtype=object)[codes]


def _of_reference(
    columns: dict[str, Any],
    periods: Array,
    classes: Callable[[Array, Array, Names], Names | None],
    how: dict[str, Any],
) -> tuple[Any, Others]:
    """Return weights that are 0 for rows of other classes than the reference has, and these."""
    weight = columns["weight"]
    if columns["task"] is None:
        return weight, {}
    rows = read_rows(columns["task"], None, sample_weight=weight, **how | {"pos_label": None})
    task, kept = rows.sides["task"], rows.kept
    if not isinstance(task.labels, Codes):
        return weight, {}
    names, codes = task.names, task.labels.codes
    known = classes(periods[kept], codes, names)
    if known is None:
        return weight, {}
    other = np.flatnonzero(~np.isin(codes, [i for i, name in enumerate(names) if name in known]))
    left = _weights(weight, periods)
    left[kept[other]] = 0
    lost: Others = {}
    for i in other:
        key = periods[kept[i]], names[codes[i]]
        lost[key] = lost.get(key, 0.0) + float(rows.weight[i])
    return left, lost


def _weights(weight: Any, rows: Array) -> Array:
    """Return a copy of weights; each row counts once if there are none."""
    return np.ones(len(rows)) if weight is None else np.array(weight, dtype=float).reshape(-1)
