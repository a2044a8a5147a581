"""Many 0/1 columns in one query: every task is counted by itself, with squares if asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, Array
from skbiasamp._input.errors import InputError, plain
from skbiasamp.counts.engines import COUNT, Opened, Sides, grouped, holes, no_indicator


class Moments(NamedTuple):
    """Sums of squares of scores: what the variance of a mean over tasks needs beside the pairs.

    A row's score is the sum of its group's `signs` (groups × tasks) over the tasks that it has in
    the predictions, less those that it has in the labels if it is one of `change`.
    """

    groups: tuple[Hashable, ...]
    signs: Array
    change: bool
    squares: Any = None  # a number for each group
    # Products with the score by the sum of all groups' signs, and the squares of that score.
    crossed: Any = None

    @property
    def shared(self) -> Array:
        """The sum of the groups' signs of each task; 0 where two groups have opposite ones."""
        return np.asarray(self.signs.sum(axis=0))

    def alike(self, other: Moments) -> bool:
        """Return whether both are of the same scores."""
        same = (self.groups, self.change) == (other.groups, other.change)
        return same and np.array_equal(self.signs, other.signs)


def sum_tasks(opened: Opened, sides: Sides, weight: Hashable | None) -> pd.DataFrame:
    """Count every task by itself, in one pass over many 0/1 columns.

    A row of what comes back is a combination of groups. Of task 3 it has ``true 3``, ``pred 3``,
    ``both 3``, and ``square 3`` and ``both square 3`` if predictions may be fractions.
    """
    labels, predictions = sides["task"], sides["task_pred"]
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
    strata = grouped(opened, groups, sums, how)
    if strata["holes"].any() or strata[list(how)].isna().to_numpy().any():
        raise holes("the columns of target or prediction")
    if strata["wrong"].any():
        for name, right in allowed.items():
            wrong = opened.frame.filter(~right).select(opened.column(name).alias("seen")).head(1)
            strangers = wrong.collect()["seen"].to_list()
            if strangers:
                break
        raise no_indicator(name, f"{float(strangers[0]):.6g}")
    return strata[strata[COUNT] > 0].reset_index(drop=True)


def sum_squares(
    opened: Opened, sides: Sides, weight: Hashable | None, asked: list[Moments]
) -> tuple[Moments, ...]:
    """Return moments with their sums, which take one more pass over the columns of tasks."""
    if not asked:
        return ()
    true = [opened.number(name) for name in sides["task"]]
    predicted = [opened.number(name) for name in sides["task_pred"]]
    sums: dict[str, nw.Expr] = {}
    for k, moments in enumerate(asked):
        scores = [_score(true, predicted, signs, moments.change) for signs in moments.signs]
        sums |= {f"score {k} {i}": score * score for i, score in enumerate(scores)}
        if moments.shared.any():
            shared = _score(true, predicted, moments.shared, moments.change)
            sums |= {f"crossed {k} {i}": score * shared for i, score in enumerate(scores)}
            sums[f"shared {k}"] = shared * shared
    if weight is not None:
        times = opened.weight(weight)
        sums = {name: column * times for name, column in sums.items()}
    how = {name: nw.col(name).sum() for name in sums}
    strata = grouped(opened, {"group": sides["group"]}, sums, how)
    every = [_own_squares(strata, k, moments) for k, moments in enumerate(asked)]
    return tuple(moments for moments in every if moments is not None)


def _products(
    opened: Opened, predictions: list[Hashable], true: list[nw.Expr], predicted: list[nw.Expr]
) -> dict[str, nw.Expr]:
    """Return what is summed of each task: labels, predictions, both, and squares of fractions."""
    sums = {f"true {i}": label for i, label in enumerate(true)}
    for i, (name, label, guess) in enumerate(zip(predictions, true, predicted, strict=False)):
        sums |= {f"pred {i}": guess, f"both {i}": label * guess}
        if opened.fractions(name):
            sums |= {f"square {i}": guess * guess, f"both square {i}": label * guess * guess}
    return sums


def _score(true: list[nw.Expr], predicted: list[nw.Expr], signs: Array, change: bool) -> nw.Expr:
    """Return each row's score by some signs of the tasks."""
    more, less = [nw.lit(0)], [nw.lit(0)]
    for sign, label, guess in zip(signs, true, predicted, strict=True):
        if sign:
            size = abs(float(sign))
            (more if sign > 0 else less).append(guess.cast(nw.Float64) * size)
            if change:
                (less if sign > 0 else more).append(label.cast(nw.Float64) * size)
    return _pairwise(operator.add, more) - _pairwise(operator.add, less)


def _pairwise(combine: Callable[[nw.Expr, nw.Expr], nw.Expr], every: list[nw.Expr]) -> nw.Expr:
    """Return one expression of many, whose depth is the logarithm of their number.

    One after another they would be as deep as they are many, which engines refuse.
    """
    while len(every) > 1:
        pairs = [every[i : i + 2] for i in range(0, len(every), 2)]
        every = [combine(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return every[0]


def _own_squares(strata: pd.DataFrame, k: int, moments: Moments) -> Moments | None:
    """Return the `k`-th moments with the sums of squares of each group's rows with its own signs.

    None if the engine calls a group what labels do not, so that no sum is short of its rows.
    """
    groups = moments.groups
    columns = [name for name in strata.columns if name.startswith("group ")]
    squares, crossed = np.zeros(len(groups)), np.zeros((2, len(groups)))
    for row, values in enumerate(strata[columns].itertuples(index=False, name=None)):
        own = tuple(MISSING if pd.isna(value) else plain(value) for value in values)
        name = own if len(own) > 1 else own[0]
        if name in groups:
            position = groups.index(name)
            squares[position] += strata[f"score {k} {position}"].iloc[row]
            if f"shared {k}" in strata:
                crossed[0, position] += strata[f"crossed {k} {position}"].iloc[row]
                crossed[1, position] += strata[f"shared {k}"].iloc[row]
        elif MISSING not in own:  # else it is left out
            return None
    has_shared = f"shared {k}" in strata
    return moments._replace(squares=squares, crossed=crossed if has_shared else None)
