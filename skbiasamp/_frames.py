"""Frames and queries as rows of labels: what is counted where the data is, and read here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._cells import Cells, Summed, side_of
from skbiasamp._engines import (
    COUNT,
    MOST_CELLS,
    MOST_JOINT,
    Moments,
    Opened,
    Sides,
    count_cells,
    names_of,
    open_frame,
    sum_scores,
    sum_tasks,
    sum_weights,
)
from skbiasamp._input import (
    OPTION_OF,
    Array,
    InputError,
    InputTypeError,
    Members,
    Role,
    Rows,
    check_names,
    check_option,
    no_positive_class,
    read_rows,
    tallied,
    to_native,
)
from skbiasamp._models import check_models, n_rows_of, of_the_model, side_of_model
from skbiasamp._task_sums import TaskSums


class Read(NamedTuple):
    """Rows, and what an engine summed in place of counting them."""

    rows: Rows
    summed: Summed | None = None


def read_labels(y_true: Any, y_pred: Any, *, like: Any = None, **labels: Any) -> Rows:
    """Read labels; groups and tasks are those of `like` if there is one."""
    if not (like is None or isinstance(like, Cells)):
        text = "{like} must be the Contingency of training labels. Got {kind} instead."
        raise InputTypeError(text, kind=type(like).__name__)
    sides = None if like is None else (side_of(like, "group"), side_of(like, "task"))
    return read_rows(y_true, y_pred, like=sides, **labels)


def read_frame(
    frame: Any,
    named: dict[str, Any],
    *,
    joint: bool | None,
    moments: tuple[Array, bool] | None,
    **how: Any,
) -> Read | TaskSums | dict[str, Rows]:
    """Count the rows of a frame, or sum them if they do not repeat.

    `named` says by their options where labels, predictions and weights are, `how` holds the
    options of labels.
    """
    check_names(named)
    check_option("joint", joint, (True, False, None))
    if any(isinstance(one, dict) for one in named.values()):
        return _of_models(frame, named, joint, how)
    every = {side: names_of(named[option]) for side, option in OPTION_OF.items()}
    opened = open_frame(frame, every)
    sides = {side: names for side, names in every.items() if side != "weight"}
    weight = next(iter(every["weight"]), None)
    target, prediction = sides["task"], sides["task_pred"]
    many = len(target) > 1 and len(target + prediction) > MOST_JOINT
    in_memory = opened.eager is not None
    if len(target) > 1 and not (in_memory or not many if joint is None else joint):
        return _of_tasks(opened, sides, weight, moments, how)
    fractions = opened.fractional(prediction + every["weight"])
    if in_memory and (many or fractions or opened.holds_objects):
        # Rows that do not repeat are in memory already: grouping them would only copy them.
        return Read(_of_rows(opened, every, how))
    summed: Summed | None = None
    repeats = None
    if len(prediction) == 1 and prediction[0] in fractions and not joint:
        if weight in fractions:
            raise InputError(
                "Both {y_pred} and {sample_weight} are fractions, and sums do not hold what they "
                "make together. Read these columns into memory."
            )
        cells, summed = sum_scores(opened, sides, weight), "scores"
    elif weight in fractions:
        cells, summed = sum_weights(opened, sides, weight), "weights"
        repeats = cells["rows"].to_numpy()
    else:
        most = None if in_memory or joint else MOST_CELLS
        cells = count_cells(opened, sides, weight, most)
    if cells.empty:
        raise _no_rows()
    rows = read_labels(
        _taken(cells, "task", target),
        _taken(cells, "task_pred", prediction),
        sensitive_features=_taken(cells, "group", sides["group"]),
        sensitive_pred=_taken(cells, "group_pred", sides["group_pred"]),
        sample_weight=cells[COUNT].to_numpy(),
        repeats=repeats,
        **how,
    )
    return Read(rows, summed)


def read_models(y_true: Any, y_pred: Any, sensitive_pred: Any, **labels: Any) -> dict[str, Rows]:
    """Read the same rows with the predictions of each model, one cell a row."""
    given = {"y_pred": y_pred, "sensitive_pred": sensitive_pred}
    models = check_models(given)
    weight = labels.pop("sample_weight", None)
    repeats = labels.pop("repeats", None)
    flat: dict[Any, Any] = {"y_true": y_true, "sensitive_features": labels["sensitive_features"]}
    flat |= {
        Role(name, f"[{model!r}]"): one[model]
        for name, one in given.items()
        if one is not None
        for model in models
    }
    known = None
    if repeats is None and labels["sensitive_features"] is not None:
        known = tallied(flat, weight) if y_true is not None else None
    if known is not None:
        cells, weight = known
        repeats = weight
        y_true, labels["sensitive_features"], *rest = cells.values()
        found = iter(rest)
        given = {
            name: None if one is None else {model: next(found) for model in models}
            for name, one in given.items()
        }
    # Rows stay apart, in their order, if it is said how many rows each of them is.
    elif weight is None:
        weight = repeats = np.ones(n_rows_of(y_true))
    elif repeats is None:
        weight = np.asarray(weight, dtype=float)
        whole = np.array_equal(weight, np.rint(weight))
        repeats = weight if whole else np.ones(len(weight))
    read = {}
    for model in models:
        mine = {name: one[model] for name, one in given.items() if one is not None}
        mine.setdefault("y_pred", None)
        with of_the_model(model):
            read[model] = read_labels(
                y_true, **mine, **labels, sample_weight=weight, repeats=repeats
            )
    return read


def _of_models(frame: Any, named: dict[str, Any], joint: bool | None, how: Any) -> dict[str, Rows]:
    """Count the rows of a frame with the predictions of several models."""
    predicted = {name: named[OPTION_OF[name]] for name in ("task_pred", "group_pred")}
    models = check_models({OPTION_OF[name]: one for name, one in predicted.items()})
    sides = {name: names_of(named[OPTION_OF[name]]) for name in ("task", "group")}
    sides |= {
        side_of_model(name, model): names_of(one[model])
        for name, one in predicted.items()
        if one is not None
        for model in models
    }
    weight = named["weight"]
    every = {**sides, "weight": names_of(weight)}
    opened = open_frame(frame, every)
    columns = [one for side, names in sides.items() if ":" in side for one in names]
    soft = opened.fractional(columns)
    many = len(sides["task"]) > 1 or bool(soft) or opened.holds_objects
    most = None if joint or opened.eager is not None else MOST_CELLS
    if opened.eager is not None and (many or opened.fractional(every["weight"])):
        held = _held(opened, every)
        repeats = None
    else:
        if soft or (len(columns) > MOST_JOINT and not joint):
            raise InputError(
                "Several models are compared row by row, and an engine can only sum "
                "{what}. Read these columns into memory.",
                what="probabilities" if soft else f"{len(columns)} columns of predictions",
            )
        if weight is not None and opened.fractional([weight]):
            cells = sum_weights(opened, sides, weight)
            repeats = cells["rows"].to_numpy()
        else:
            cells = count_cells(opened, sides, weight, most)
            repeats = cells[COUNT].to_numpy(dtype=float)
        if cells.empty:
            raise _no_rows()
        held = {name: _taken(cells, name, names) for name, names in sides.items()}
        held["weight"] = cells[COUNT].to_numpy()
    return read_models(
        held["task"],
        *(
            None if one is None else {model: held[side_of_model(name, model)] for model in models}
            for name, one in predicted.items()
        ),
        sensitive_features=held["group"],
        sample_weight=held["weight"],
        repeats=repeats,
        **how,
    )


def _of_tasks(
    opened: Opened,
    sides: Sides,
    weight: Hashable | None,
    moments: tuple[Array, bool] | None,
    how: dict[str, Any],
) -> TaskSums:
    """Sum every task by itself."""
    if weight is not None and opened.fractional([weight]):
        raise InputError(
            "{sample_weight} must hold whole numbers: sums task by task do not hold what "
            "fractions make of intervals. Pass {joint=True}, or whole weights."
        )
    if how["pos_label"] is not None:
        raise no_positive_class("is an indicator matrix")
    like = how["like"]
    asked = None
    if moments is not None and like is not None and not like.indicator:
        asked = Moments(like.groups, *moments)
    strata, found = sum_tasks(opened, sides, weight, asked)
    if strata.empty:
        raise _no_rows()

    def summed(name: str) -> Array:
        return strata[[f"{name} {i}" for i in range(len(sides["task"]))]].to_numpy(dtype=float)

    sums = {"task": summed("true")}
    if sides["task_pred"]:
        sums |= {"task_pred": summed("pred"), "task_both": summed("both")}
        squares = [
            np.stack([strata.get(f"{one} {i}", strata[f"{other} {i}"]) for i in range(len(total))])
            for one, other, total in (
                ("square", "pred", sums["task_pred"].T),
                ("both square", "both", sums["task_both"].T),
            )
        ]
        # Of columns of 0 and 1 the squares are the sums.
        if not np.array_equal(squares[0].T, sums["task_pred"]):
            sums |= {"task_square": squares[0].T, "task_both_square": squares[1].T}
    # Groups and names are read as those of any rows, one for each combination of groups. Which
    # of these are left out is told by their number, which takes the place of `repeats`.
    blank = np.zeros((len(strata), len(sides["task"])), dtype=np.int8)
    rows = read_labels(
        pd.DataFrame(blank, columns=sides["task"]),
        pd.DataFrame(blank, columns=sides["task_pred"]) if sides["task_pred"] else None,
        sensitive_features=_taken(strata, "group", sides["group"]),
        sensitive_pred=_taken(strata, "group_pred", sides["group_pred"]),
        sample_weight=strata[COUNT].to_numpy(),
        repeats=np.arange(len(strata)),
        **how,
    )
    assert rows.repeats is not None
    kept = rows.repeats.astype(np.intp)
    held = {name: replace(rows.task, labels=Members(values[kept])) for name, values in sums.items()}
    held |= {"group": rows.group}
    if rows.group_pred is not None:
        held["group_pred"] = rows.group_pred
    return TaskSums(rows.weight, held, n_dropped=rows.n_dropped, moments=found)


def _of_rows(opened: Opened, sides: Sides, how: dict[str, Any]) -> Rows:
    """Read columns that are in memory as labels, rows and all."""
    held = _held(opened, sides)
    return read_labels(
        held["task"],
        held["task_pred"],
        sensitive_features=held["group"],
        sensitive_pred=held["group_pred"],
        sample_weight=held["weight"],
        **how,
    )


def _held(opened: Opened, sides: Sides) -> dict[str, Any]:
    """Return the columns of a frame in memory, with the names they have in it."""
    held: dict[str, Any] = {}
    for side, names in sides.items():
        called = [opened.called.get(name, name) for name in names]
        held[side] = opened.eager[called].to_native() if names else None
        if called != names:
            held[side] = pd.DataFrame(to_native(held[side], side)).set_axis(names, axis=1)
    return held


def _taken(cells: pd.DataFrame, side: str, names: list[Hashable]) -> Any:
    """Return the columns of one label or prediction with the names they had in the frame."""
    if not names:
        return None
    return cells[[f"{side} {i}" for i in range(len(names))]].set_axis(names, axis=1)


def _no_rows() -> InputError:
    return InputError("{frame} has no rows: there is nothing to audit.")
