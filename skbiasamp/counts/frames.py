"""Frames and queries as rows of labels: what is counted where the data is, and read here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import (
    Array,
    Names,
    check_models,
    check_names,
    check_option,
    check_threshold,
)
from skbiasamp._input.classes import no_positive_class
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.containers import as_column, to_native
from skbiasamp._input.errors import OPTION_OF, InputError, counting
from skbiasamp._input.labels import Codes, Members, Rows, side_of_model
from skbiasamp._input.rows import read_rows
from skbiasamp._utils.progress import interruptible, progress
from skbiasamp.counts.cells import BOTH_SQUARE, SQUARE, C
from skbiasamp.counts.engines import (
    COUNT,
    MOST_CELLS,
    MOST_JOINT,
    Opened,
    Sides,
    count_cells,
    names_of,
    open_frame,
    sum_tasks,
)
from skbiasamp.counts.merging import require_cells


def read_frame(
    frame: Any,
    named: dict[str, Any],
    made: type[C],
    *,
    joint: bool | None,
    **how: Any,
) -> C:
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
            return _of_tasks(opened, sides, made, how)
        columns = _columns(opened, sides, joint=joint, numbers=how["numbers"])
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
        return made.of_rows(read_rows(columns["task"], **labels))


def _predictions(sides: Sides) -> list[Hashable]:
    """Return the columns of predictions, of all models."""
    return [name for side, names in sides.items() if side.startswith("task_pred") for name in names]


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
    assert rows.kept is not None
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
    assert kept is not None
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


def _columns(
    opened: Opened, sides: Sides, *, joint: bool | None, numbers: bool = False
) -> dict[str, Any]:
    """Return the columns of rows in memory, or else of the cells that an engine counted.

    `repeats` says how many rows a cell is, if weights are fractions.
    """
    prediction, weight = _predictions(sides), next(iter(sides["weight"]), None)
    columns: dict[str, Any] = {"repeats": None}
    if opened.eager is not None:
        for side, names in sides.items():
            called = [opened.called.get(name, name) for name in names]
            native = opened.eager[called].to_native() if names else None
            if called != names:
                native = pd.DataFrame(to_native(native, side)).set_axis(names, axis=1)
            columns[side] = native
        return columns
    fractions = opened.fractional(sides["weight"])
    models = any(":" in side for side in sides)
    if models and not joint and len(prediction) > MOST_JOINT:
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
    most = None if sides["cluster"] else MOST_CELLS
    cells = count_cells(opened, labels, weight, most, fractions=bool(fractions))
    if fractions:
        columns["repeats"] = cells["rows"].to_numpy()
    columns |= {side: _taken(cells, side, names) for side, names in labels.items()}
    return columns | {"weight": cells[COUNT].to_numpy()}


def _of_tasks(opened: Opened, sides: Sides, made: type[C], how: dict[str, Any]) -> C:
    """Sum every task by itself."""
    if sides["cluster"]:
        raise InputError(
            "{clusters} cannot be kept if an engine sums {n} columns each by itself. Pass "
            "{joint=True}, or read these columns into memory.",
            n=len(sides["task"] + sides["task_pred"]),
        )
    weight = next(iter(sides["weight"]), None)
    if weight is not None and opened.fractional([weight]):
        raise InputError(
            "{sample_weight} must hold whole numbers: sums task by task do not hold what "
            "fractions make of intervals. Pass {joint=True}, or whole weights."
        )
    if how["pos_label"] is not None:
        raise no_positive_class("is an indicator matrix")
    strata, sums = sum_tasks(opened, sides, weight)
    # Groups and names are read as those of any rows, one for each combination of groups.
    blank = np.zeros((len(strata), len(sides["task"])), dtype=np.int8)
    with counting(None if sides["weight"] else strata[COUNT].to_numpy()):
        rows = read_rows(
            pd.DataFrame(blank, columns=sides["task"]),
            pd.DataFrame(blank, columns=sides["task_pred"]) if sides["task_pred"] else None,
            sensitive_features=_taken(strata, "group", sides["group"]),
            sensitive_pred=_taken(strata, "group_pred", sides["group_pred"]),
            sample_weight=strata[COUNT].to_numpy(),
            apart=True,
            listed=True,
            **how,
        )
    kept, sides_read = rows.kept, rows.sides
    assert kept is not None
    of_tasks = {
        name: replace(sides_read["task"], labels=Members(values[kept]))
        for name, values in sums.items()
    }
    if SQUARE in sums and np.array_equal(sums[SQUARE], sums["task_pred"]):
        # Squares of columns of 0 and 1 are their sums.
        del of_tasks[SQUARE], of_tasks[BOTH_SQUARE]
    of_groups = {name: side for name, side in sides_read.items() if name.startswith("group")}
    return made.of_rows(rows._replace(sides=of_tasks | of_groups, summed="tasks"))


def _taken(cells: pd.DataFrame, side: str, names: list[Hashable]) -> Any:
    """Return the columns of one label or prediction with the names they had in the frame."""
    if cells.empty:
        raise InputError("{frame} has no rows: there is nothing to audit.")
    if not names:
        return None
    if side == "cluster":
        return cells["cluster 0"]
    return cells[[f"{side} {i}" for i in range(len(names))]].set_axis(names, axis=1)
