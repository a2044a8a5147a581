"""Tasks that an engine counted one by one.

Which tasks occur together in a row is not known, so whatever needs rows raises an error:
resamples, leakage, DPA, sets of tasks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Members, Side
from skbiasamp.counts.cells import BOTH, BOTH_SQUARE, SQUARE, C, Cells, sides_of, with_sides


def of_task(cells: Cells, position: int) -> Cells:
    """Return the rows of one task: of a task alone everything is known.

    Probabilities become few values with the same number, sum and sum of squares, which is all that
    rates and their variances depend on.
    """
    key = "rows of task", position
    if key in cells._computed:
        known: Cells = cells._computed[key]
        return known
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
    made = Cells(counts[cell, at], sides, n_dropped=cells.n_dropped)
    cells._computed[key] = made
    return made


def two_values(n: Any, total: Any, square: Any) -> tuple[Array, Array]:
    """Return few values between 0 and 1, and how often each occurs.

    Together they are `n` numbers with the sum and the sum of squares given. Two values do it,
    except where the number of either would have to be a fraction: then one number is a third.

    Returns
    -------
    values, counts : arrays of shape (..., 3)
    """
    n, total, square = (np.asarray(values, dtype=float) for values in (n, total, square))
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
        full = (high > 1) & (lower > 0)
        rest, left = total - upper, square - upper
        mean = rest / lower
        spread = np.sqrt(np.maximum(left / lower - mean**2, 0.0))
        third = mean + spread * np.sqrt(lower - 1)
        beside = np.where(lower > 1, mean - spread / np.sqrt(lower - 1), 0.0)
    exact = (square == total) & (total == np.rint(total))  # all are 0 or 1
    values[..., 0] = np.where(exact, 1.0, np.where(full, 1.0, high))
    values[..., 1] = np.where(full, third, 0.0)
    values[..., 2] = np.where(exact, 0.0, np.where(full, beside, low))
    counts[..., 0] = np.where(exact, total, upper)
    counts[..., 1] = full & ~exact
    counts[..., 2] = n - counts[..., 0] - counts[..., 1]
    return np.clip(np.where(counts > 0, values, 0.0), 0.0, 1.0), counts


def of_one_task(cells: Cells, position: int) -> tuple[Cells, int]:
    """Return cells in which one task is known, and its position there."""
    return (of_task(cells, position), 0) if cells.summed == "tasks" else (cells, position)


def with_squares(cells: C) -> C:
    """Return sums with squares: those of 0 and 1 are the numbers themselves."""
    sides: dict[Any, Side] = dict(sides_of(cells))
    if SQUARE in sides or "task_pred" not in sides:
        return cells
    return with_sides(cells, sides | {SQUARE: sides["task_pred"], BOTH_SQUARE: sides[BOTH]})
