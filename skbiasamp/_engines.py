"""Counting where the data is: any data frame or query engine groups and sums, cells come back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input import MISSING, Array, InputError, InputTypeError, no_column, plain

COUNT = "n"
# Up to so many 0/1 columns an engine groups by which of them occur together.
MOST_JOINT = 12

# The options that name the columns of each side.
OPTION_OF = {
    "task": "target",
    "task_pred": "prediction",
    "group": "sensitive",
    "group_pred": "sensitive_prediction",
    "weight": "weight",
}

Sides = Mapping[str, str | list[str] | None]


class Opened(NamedTuple):
    """A frame of any library, lazily, and what its columns are."""

    frame: nw.LazyFrame[Any]
    eager: Any  # the frame as it came, where it is in memory
    schema: Mapping[str, Any]

    def check_columns(self, sides: Sides) -> None:
        """Raise where a column that is named is not there."""
        for side, named in sides.items():
            for name in names_of(named):
                if name not in self.schema:
                    raise no_column(name, self.schema, OPTION_OF[side])

    def key(self, name: str) -> nw.Expr:
        column, kind = nw.col(name), self.schema[name]
        # Categories group by their text everywhere, and missing ones stay missing.
        return column.cast(nw.String) if isinstance(kind, nw.Categorical | nw.Enum) else column

    def number(self, name: str) -> nw.Expr:
        """Return a column of 0 and 1, or of fractions, as numbers that can be summed."""
        column, kind = nw.col(name), self.schema[name]
        if kind.is_integer():
            return column
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise InputError(
                "column {column!r} is one of several, so it must be a 0/1 indicator of one label; "
                "got values of type {kind}.",
                column=name,
                kind=kind,
            )
        return column.cast(nw.Int8 if kind == nw.Boolean else nw.Float64)

    def fractions(self, name: str) -> bool:
        """Whether a column's type has room for fractions."""
        kind = self.schema[name]
        return bool(kind.is_float() or kind.is_decimal())

    def fractional(self, names: Iterable[str]) -> list[str]:
        """Return which columns hold numbers that are not whole."""
        asked = [name for name in dict.fromkeys(names) if self.fractions(name)]
        if not asked:
            return []
        numbers = [nw.col(name).cast(nw.Float64) for name in asked]
        parts = self.frame.select(
            *((one - one.round(0)).abs().alias(f"part {i}") for i, one in enumerate(numbers))
        )
        largest = parts.select(*(nw.col(f"part {i}").max() for i in range(len(asked)))).collect()
        found = [largest[f"part {i}"].to_list()[0] for i in range(len(asked))]
        return [name for name, part in zip(asked, found, strict=True) if part and part > 0]


def open_frame(frame: Any) -> Opened:
    """Return a frame of any library as a lazy one."""
    try:
        opened = nw.from_native(frame)
    except TypeError as error:
        raise InputTypeError(
            "{frame} must be a data frame or a query (pandas, polars, pyarrow, DuckDB, Dask, "
            "PySpark, Ibis). Got {kind} instead.",
            kind=type(frame).__name__,
        ) from error
    lazy = opened.lazy()
    eager = opened if isinstance(opened, nw.DataFrame) else None
    return Opened(lazy, eager, lazy.collect_schema())


def names_of(named: str | list[str] | None) -> list[str]:
    """Return the columns of a side."""
    return [] if named is None else [named] if isinstance(named, str) else list(named)


# --------------------------------------------------------------------------- cells


def count_cells(opened: Opened, sides: Sides, weight: str | None) -> pd.DataFrame:
    """Return the distinct rows of some columns with their counts, or sums of weights.

    Columns come back as ``side 0``, ``side 1``, ...: one column may serve two sides.
    """
    if weight is None:
        return _grouped(opened, sides, {}, {COUNT: nw.len()})
    number = nw.col(weight).cast(nw.Float64)
    return _grouped(opened, sides, {COUNT: number}, {COUNT: nw.col(COUNT).sum()})


def sum_weights(opened: Opened, sides: Sides, weight: str) -> pd.DataFrame:
    """Return cells of rows with fractional weights: how many `rows`, and their weight `n`.

    In a cell all rows have one weight, which few cells for each of the engine's make possible:
    together these have its number of rows, its sum of weights and its sum of their squares, and
    on no more than that do estimates and their variances depend.
    """
    number = nw.col(weight).cast(nw.Float64)
    made = {"sum": number, "square": number * number, "least": number}
    how = {"rows": nw.len(), "known": nw.col("sum").count(), "least": nw.col("least").min()}
    how |= {name: nw.col(name).sum() for name in ("sum", "square")}
    cells = _grouped(opened, sides, made, how)
    if (cells["least"] < 0).any():
        text = "{sample_weight} must be 0 or more; got negative values in some rows."
        raise InputError(text)
    _check_known(cells, weight)
    found = _repeated(cells, *two_values(cells["rows"], cells["sum"], cells["square"], most=np.inf))
    return found.assign(n=found["rows"] * found["value"])


def sum_scores(opened: Opened, sides: Sides, weight: str | None) -> pd.DataFrame:
    """Return cells of rows with probabilities, whose prediction is one in a cell.

    Few cells for each of the engine's have its number of rows, its sum of probabilities and its
    sum of their squares. Rows below and above one half stay apart.
    """
    (name,) = names_of(sides["task_pred"])
    score = nw.col(name).cast(nw.Float64)
    times = nw.lit(1) if weight is None else nw.col(weight).cast(nw.Float64)
    made = {"sum": score * times, "square": score * score * times, "score": score, "times": times}
    how = {"rows": nw.len(), "known": nw.col("score").count(), COUNT: nw.col("times").sum()}
    how |= {one: nw.col(one).sum() for one in ("sum", "square")}
    how |= {"least": nw.col("score").min(), "most": nw.col("score").max()}
    others = {side: named for side, named in sides.items() if side != "task_pred"}
    cells = _grouped(opened, others, made, how, also={"above": score >= 0.5})
    _check_known(cells, name)
    least, most = cells["least"].min(), cells["most"].max()
    if not -1e-6 <= least <= most <= 1 + 1e-6:
        raise InputError(
            "{y_pred} must hold labels or probabilities in [0, 1]; got {seen:.6g}. For logits or "
            "margins apply a sigmoid or softmax first, or pass the labels.",
            seen=least if least < -1e-6 else most,
        )
    above = cells["above"].to_numpy(dtype=bool)
    low = np.where(above, 0.5, 0.0)
    n, total = cells[COUNT], cells["sum"]
    square = cells["square"] - 2 * low * total + n * low**2
    values, counts = two_values(n, total - n * low, square, most=0.5)
    # One half is above.
    values = np.where(above[:, None], values + 0.5, np.minimum(values, np.nextafter(0.5, 0)))
    found = _repeated(cells, values, counts)
    return found.assign(**{"task_pred 0": found["value"], COUNT: found["rows"]})


def _check_known(cells: pd.DataFrame, name: str) -> None:
    if (cells["known"] < cells["rows"]).any() or cells["sum"].isna().any():
        raise _holes(f"column {name!r}")


def _holes(what: str) -> InputError:
    return InputError("There are missing values in {name}. Leave these rows out.", name=what)


def _repeated(cells: pd.DataFrame, values: Array, counts: Array) -> pd.DataFrame:
    """Return each cell once for each of its values that occurs."""
    row, at = np.nonzero(counts)
    repeated = cells.iloc[row].reset_index(drop=True)
    return repeated.assign(rows=counts[row, at], value=values[row, at])


def _grouped(
    opened: Opened,
    sides: Sides,
    sums: Mapping[str, nw.Expr],
    how: Mapping[str, nw.Expr],
    also: Mapping[str, nw.Expr] | None = None,
) -> pd.DataFrame:
    """Group by the columns of some sides and return what is summed of each group, in one query."""
    taken = {
        f"{side} {i}": opened.key(name)
        for side, named in sides.items()
        for i, name in enumerate(names_of(named))
    }
    taken |= also or {}
    # Sums of expressions fail on some engines: the column is made first, then summed.
    made = [one.alias(name) for name, one in {**taken, **sums}.items()]
    selected = opened.frame.select(*made)
    cells = selected.group_by(list(taken)).agg(*(one.alias(name) for name, one in how.items()))
    return _as_pandas(cells.collect(), list(taken))


def _as_pandas(cells: nw.DataFrame[Any], keys: list[str]) -> pd.DataFrame:
    """Return the few cells that came back, with plain numbers and one kind of missing."""
    read: dict[str, Any] = {}
    for name in cells.columns:
        values = cells[name].to_list()
        if name not in keys:
            # Engines count in integers of any size, and in decimals.
            read[name] = np.array([0.0 if one is None else float(one) for one in values])
            continue
        column: Array = np.empty(len(values), dtype=object)
        column[:] = [None if pd.isna(one) else one for one in values]
        read[name] = pd.Series(column).infer_objects()
    # Engines return cells in any order, and random draws go by order: theirs shall not tell.
    frame = pd.DataFrame(read)
    if COUNT in read and (frame[COUNT] >= 2.0**53).any():
        raise InputError(
            "A cell holds {most:.4g} rows, more than can be counted exactly (2**53). If these are "
            "weights, divide them by their mean.",
            most=frame[COUNT].max(),
        )
    return frame.sort_values(keys, key=lambda column: column.astype(str), ignore_index=True)


# --------------------------------------------------------------------------- many tasks


class Moments(NamedTuple):
    """Sums of squares of scores: what the variance of a mean over tasks needs beside the pairs.

    A row's score is the sum of its group's `signs` (groups × tasks) over the tasks that it has in
    the predictions, less those that it has in the labels if it is one of `change`.
    """

    groups: tuple[Hashable, ...]
    signs: Array
    change: bool
    squares: Any = None  # one a group


def sum_tasks(
    opened: Opened, sides: Sides, weight: str | None, moments: Moments | None
) -> tuple[pd.DataFrame, Moments | None]:
    """Count every task by itself, in one pass over many 0/1 columns.

    A row of what comes back is a combination of groups. Of task 3 it has ``true 3``, ``pred 3``,
    ``both 3``, and ``square 3`` and ``both square 3`` if predictions may be fractions.
    """
    labels, predictions = names_of(sides["task"]), names_of(sides["task_pred"])
    if predictions and len(predictions) != len(labels):
        raise InputError(
            "{y_true} has {n} columns but {y_pred} has {m}. Predict every column, in the same "
            "order.",
            n=len(labels),
            m=len(predictions),
        )
    groups = {side: named for side, named in sides.items() if side.startswith("group")}
    true = [opened.number(name) for name in labels]
    predicted = [opened.number(name) for name in predictions]
    sums = _products(opened, predictions, true, predicted)
    if moments is not None:
        sums |= {f"score {i}": one * one for i, one in enumerate(_scores(true, predicted, moments))}
    if weight is not None:
        times = nw.col(weight).cast(nw.Float64)
        sums = {name: one * times for name, one in sums.items()} | {COUNT: times}
    how = {name: nw.col(name).sum() for name in sums}
    if weight is None:
        how[COUNT] = nw.len()
    allowed = {name: opened.number(name).is_between(0, 1) for name in predictions}
    for name, label in zip(labels, true, strict=True):
        whole = (label == 0) | (label == 1)
        allowed[name] = whole if opened.fractions(name) else label.is_between(0, 1)
    flags = {
        "wrong": nw.any_horizontal(*(~one for one in allowed.values()), ignore_nulls=False),
        "holes": nw.any_horizontal(
            *(nw.col(name).is_null() for name in allowed), ignore_nulls=False
        ),
    }
    how |= {name: nw.col(name).sum() for name in flags}
    sums |= {name: flag.cast(nw.Int8) for name, flag in flags.items()}
    strata = _grouped(opened, groups, sums, how)
    if strata["holes"].any() or strata.drop(columns=_keys(strata)).isna().to_numpy().any():
        raise _holes("the columns of target or prediction")
    if strata["wrong"].any():
        raise _no_indicator(opened, allowed)
    if moments is not None:
        squares = _own_squares(strata, moments.groups)
        moments = None if squares is None else moments._replace(squares=squares)
    return strata[strata[COUNT] > 0].reset_index(drop=True), moments


def _products(
    opened: Opened, predictions: list[str], true: list[nw.Expr], predicted: list[nw.Expr]
) -> dict[str, nw.Expr]:
    """Return what is summed of each task: labels, predictions, both, and squares of fractions."""
    sums = {f"true {i}": label for i, label in enumerate(true)}
    for i, (name, label, one) in enumerate(zip(predictions, true, predicted, strict=False)):
        sums |= {f"pred {i}": one, f"both {i}": label * one}
        if opened.fractions(name):
            sums |= {f"square {i}": one * one, f"both square {i}": label * one * one}
    return sums


def _scores(true: list[nw.Expr], predicted: list[nw.Expr], moments: Moments) -> list[nw.Expr]:
    """Return each row's score with the signs of every group."""
    scores = []
    for signs in moments.signs:
        more, less = [nw.lit(0)], [nw.lit(0)]
        for sign, label, one in zip(signs, true, predicted, strict=True):
            if sign:
                (more if sign > 0 else less).append(one.cast(nw.Float64))
                if moments.change:
                    (less if sign > 0 else more).append(label.cast(nw.Float64))
        scores.append(nw.sum_horizontal(*more) - nw.sum_horizontal(*less))
    return scores


def _no_indicator(opened: Opened, allowed: Mapping[str, nw.Expr]) -> InputError:
    """Return the error for the first column that holds what it must not."""
    for name, right in allowed.items():
        seen = opened.frame.filter(~right).select(nw.col(name)).head(1).collect()
        if len(seen):
            break
    return InputError(
        "column {column!r} is one of several, so it must be a 0/1 indicator of one label; got "
        "{seen:.6g}. For one label a row name a single column.",
        column=name,
        seen=float(seen[name].to_list()[0]),
    )


def _keys(strata: pd.DataFrame) -> list[str]:
    return [name for name in strata.columns if name.startswith("group")]


def _own_squares(strata: pd.DataFrame, groups: tuple[Hashable, ...]) -> Array | None:
    """Return the sum of squares of each group's rows with its own signs.

    None if the engine calls a group what labels do not, so that no sum is short of its rows.
    """
    columns = [name for name in strata.columns if name.startswith("group ")]
    squares = np.zeros(len(groups))
    for row, values in enumerate(strata[columns].itertuples(index=False, name=None)):
        own = tuple(MISSING if pd.isna(one) else plain(one) for one in values)
        name = own if len(own) > 1 else own[0]
        if name in groups:
            position = groups.index(name)
            squares[position] += strata[f"score {position}"].iloc[row]
        elif MISSING not in own:  # else it is left out
            return None
    return squares


def two_values(n: Any, total: Any, square: Any, *, most: float = 1.0) -> tuple[Array, Array]:
    """Return few values between 0 and `most`, and how often each occurs.

    Together they are `n` numbers with the sum and the sum of squares given. Two values do it,
    except where the number of either would have to be a fraction: then one number is a third.

    Returns
    -------
    values, counts : arrays of shape (..., 3)
    """
    n, total, square = (np.asarray(one, dtype=float) for one in (n, total, square))
    n, total, square = np.broadcast_arrays(n, total, square)
    values, counts = np.zeros((*n.shape, 3)), np.zeros((*n.shape, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        variance = np.maximum(square / n - mean**2, 0.0)
        # So many numbers at most may have the greater value, else the lesser would be negative.
        upper = np.floor(n * mean**2 / (variance + mean**2) * (1 + 1e-12) + 1e-9)
        upper = np.where(total > 0, np.clip(upper, 1, n), 0.0)
        lower = n - upper
        spread = np.sqrt(variance)
        high = np.where(lower > 0, mean + spread * np.sqrt(lower / upper), mean)
        low = np.where(lower > 0, mean - spread * np.sqrt(upper / lower), 0.0)
        # So few of them that they would have to be above the most: they are the most, and of the
        # others one is greater than the rest.
        full = (high > most) & (lower > 0)
        rest, left = total - upper * most, square - upper * most**2
        mean = rest / lower
        spread = np.sqrt(np.maximum(left / lower - mean**2, 0.0))
        third = mean + spread * np.sqrt(lower - 1)
        beside = np.where(lower > 1, mean - spread / np.sqrt(lower - 1), 0.0)
    exact = (square == total) & (total == np.rint(total)) & (most == 1)  # all are 0 or 1
    values[..., 0] = np.where(exact, 1.0, np.where(full, most, high))
    values[..., 1] = np.where(full, third, 0.0)
    values[..., 2] = np.where(exact, 0.0, np.where(full, beside, low))
    counts[..., 0] = np.where(exact, total, upper)
    counts[..., 1] = full & ~exact
    counts[..., 2] = n - counts[..., 0] - counts[..., 1]
    return np.clip(np.where(counts > 0, values, 0.0), 0.0, most), counts
