"""Many 0/1 columns in one query: every task is counted by itself, with squares if asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable

import narwhals.stable.v2 as nw
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp.counts.engines import COUNT, Opened, Sides, grouped, holes, no_indicator

# Sums of products that sums of tasks have beside those of labels and of predictions: of both, and
# of squares if predictions are probabilities.
BOTH, SQUARE, BOTH_SQUARE = "task_both", "task_square", "task_both_square"


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


def _pairwise(combine: Callable[[nw.Expr, nw.Expr], nw.Expr], every: list[nw.Expr]) -> nw.Expr:
    """Return one expression of many, whose depth is the logarithm of their number.

    One after another they would be as deep as they are many, which engines refuse.
    """
    while len(every) > 1:
        pairs = [every[i : i + 2] for i in range(0, len(every), 2)]
        every = [combine(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return every[0]
