"""Many 0/1 columns in one query: every task is counted by itself, with squares if asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp.counts.engines import COUNT, Opened, Sides, grouped, holes, no_indicator

# Sums of products that sums of tasks have beside those of labels and of predictions: of both, and
# of squares if predictions are probabilities.
BOTH, SQUARE, BOTH_SQUARE = "task_both", "task_square", "task_both_square"


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
    strata = grouped(opened, groups_of(sides), sums, how)
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


def groups_of(sides: Sides) -> dict[str, list[Hashable]]:
    """Return the columns of groups and of predicted groups."""
    return {side: named for side, named in sides.items() if side.startswith("group")}


def sum_squares(
    opened: Opened,
    sides: Sides,
    weight: Hashable | None,
    strata: pd.DataFrame,
    asked: list[Moments],
) -> tuple[Moments, ...]:
    """Return moments with their sums, which take one more pass over the columns of tasks.

    `strata` are combinations of groups, and in ``position`` the group that each is.
    """
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
    squares = strata.merge(grouped(opened, groups_of(sides), sums, how))
    groups = range(len(asked[0].groups))
    of_groups = squares.groupby("position")[list(sums)].sum().reindex(groups, fill_value=0.0)

    def own(name: str) -> Array:
        """Return what each group's rows have with the group's own signs."""
        return np.diagonal(of_groups[[f"{name} {i}" for i in groups]])

    summed = []
    for k, moments in enumerate(asked):
        crossed = None
        if moments.shared.any():
            crossed = np.stack([own(f"crossed {k}"), of_groups[f"shared {k}"]])
        summed.append(moments._replace(squares=own(f"score {k}"), crossed=crossed))
    return tuple(summed)


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
