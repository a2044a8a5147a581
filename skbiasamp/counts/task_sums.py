"""Tasks that were counted one by one: what is known where an engine summed many 0/1 columns.

Which tasks occur together in a row is not known, so whatever needs rows raises an error: resamples,
leakage, DPA, sets of tasks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Members, Side
from skbiasamp.counts.cells import C, Cells, sides_of, with_sides
from skbiasamp.counts.engines import two_values
from skbiasamp.counts.task_queries import BOTH, BOTH_SQUARE, SQUARE


def of_task(cells: Cells, position: int) -> Cells:
    """Return the rows of one task: of a task alone everything is known.

    Probabilities become few values with the same number, sum and sum of squares, which is all that
    rates and their variances depend on.
    """
    if position not in cells._of_tasks:
        cells._of_tasks[position] = _task_cells(cells, position)
    return cells._of_tasks[position]


def _task_cells(cells: Cells, position: int) -> Cells:
    every: dict[Any, Side] = dict(sides_of(cells))

    def column(name: Any, other: Any = None) -> Array:
        side = every.get(name) or every[other]
        return side.labels.column(position)

    n, true = cells.weight, column("task")
    if cells.has("task_pred"):
        pred, both = column("task_pred"), column(BOTH)
        square, both_square = column(SQUARE, "task_pred"), column(BOTH_SQUARE, BOTH)
        # Rows with the label and rows without it: of each, predictions have a number, a sum and
        # a sum of squares.
        parts = [
            two_values(true, both, both_square),
            two_values(n - true, pred - both, square - both_square),
        ]
        values, counts = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
        label = np.repeat([True, False], 3)
    else:
        counts, label = np.stack([true, n - true], axis=-1), np.array([True, False])
    cell, at = np.nonzero(counts)  # a cell for each group and value that occurs
    sides: dict[Any, Side] = {
        name: replace(side, labels=side.labels.take(cell))
        for name, side in every.items()
        if name.startswith("group")
    }
    names = (cells.tasks[position],)
    sides["task"] = Side(names, Members(label[at][:, None]), open=False)
    if cells.has("task_pred"):
        soft = cells.soft("task_pred")
        predicted = values[cell, at][:, None]
        sides["task_pred"] = Side(names, Members(predicted if soft else predicted == 1), open=False)
    return Cells(counts[cell, at], sides, n_dropped=cells.n_dropped)


def of_one_task(cells: Cells, position: int) -> tuple[Cells, int]:
    """Return cells in which one task is known, and its position there."""
    return (of_task(cells, position), 0) if cells.summed == "tasks" else (cells, position)


def with_squares(cells: C) -> C:
    """Return sums with squares: those of 0 and 1 are the numbers themselves."""
    sides: dict[Any, Side] = dict(sides_of(cells))
    if SQUARE in sides or "task_pred" not in sides:
        return cells
    return with_sides(cells, sides | {SQUARE: sides["task_pred"], BOTH_SQUARE: sides[BOTH]})
