"""Many tasks: sets of them, and tasks that an engine counted one by one.

A set is a row of booleans, with a column for each task.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Codes, Members, Side, as_bytes, in_slices
from skbiasamp.counts.cells import (
    BOTH,
    BOTH_SQUARE,
    SQUARE,
    C,
    Cells,
    SideName,
    labels_of,
    sides_of,
    with_sides,
)
from skbiasamp.counts.pair_sums import everywhere, pair_sums

# Above this many combinations "all" is a mistake more often than a wish.
_MOST_COMBINATIONS = 2_000_000
# Multiplications that counting the candidates of one size may take: some 20 seconds.
_MOST_WORK = 2e11


def patterns_of(cells: Cells, side: SideName, by: Iterable[SideName]) -> tuple[Array, Array]:
    """Return the distinct task sets of labels or predictions and their counts in each group.

    Returns
    -------
    patterns : ndarray of bool, shape (n_patterns, n_tasks)
    counts : ndarray, shape (..., n_patterns, 1 + n_groups * len(by))
        All rows with that set, then those of each group of each of `by`.
    """
    cells.require_rows("Which sets of tasks occur")
    label_sets, code = labels_of(cells, side).patterns()
    rows = Codes(code, len(label_sets))
    counts = [pair_sums(rows, everywhere(cells.n_cells), cells.weight)]
    counts += [pair_sums(rows, labels_of(cells, other), cells.weight) for other in by]
    return label_sets, np.concatenate(counts, axis=-1)


def superset_counts(patterns: Array, counts: Array, sets: Array) -> Array:
    """Return sets × columns: the sums of the counts of the patterns that hold all of a set.

    Patterns and sets are rows of booleans, with a column for each task.
    """
    n_tasks = patterns.shape[1]
    if n_tasks <= 20 and 2**n_tasks * n_tasks <= len(sets) * len(patterns):
        # One addition a task sums over all supersets at once (a transform of the lattice).
        powers = 1 << np.arange(n_tasks)[::-1]
        lattice = np.zeros((2**n_tasks, counts.shape[1]))
        np.add.at(lattice, patterns @ powers, counts)
        shaped = lattice.reshape((2,) * n_tasks + (-1,))
        for axis in range(n_tasks):
            absent, present = np.moveaxis(shaped, axis, 0)
            absent += present
        return lattice[sets @ powers]
    sums = np.empty((len(sets), counts.shape[1]))
    # Sums of so few whole numbers are exact in single precision too, which is faster.
    few = np.array_equal(counts, np.rint(counts)) and counts.sum(axis=0).max(initial=0) <= 2**24
    counts = counts.astype(np.float32 if few else float)
    columns = patterns.T.astype(np.float32)
    block = max(1, (1 << 24) // max(1, len(patterns)))
    for low in range(0, len(sets), block):
        chosen = sets[low : low + block]
        common = chosen.astype(np.float32) @ columns
        # Few patterns hold a set of several tasks.
        holds = sparse.csr_array(common == chosen.sum(axis=1, keepdims=True), dtype=counts.dtype)
        sums[low : low + block] = holds @ counts
    return sums


def frequent_sets(known: list[tuple[Array, Array]], max_size: int, min_count: float) -> Array:
    """Grow sets task by task; a set is frequent only if all its subsets are."""
    every_set: list[Array] = []
    n_tasks = known[0][0].shape[1]
    largest = _frequent_together(known, min_count)
    if sum(comb(largest, k) for k in range(1, min(max_size, largest) + 1)) > _MOST_COMBINATIONS:
        raise InputError(
            "{combinations='all'} finds more than {most:,} sets: all those of {n} tasks that some "
            "rows have together. Bound them with {max_size} or {min_count}, or use "
            "{combinations='observed'}.",
            most=_MOST_COMBINATIONS,
            n=largest,
        )
    candidates = np.eye(n_tasks, dtype=bool)
    for size in range(1, max_size + 1):
        often = np.ones(len(candidates), dtype=bool)
        for patterns, counts in known:
            often &= superset_counts(patterns, counts, candidates)[:, 0] >= min_count
        level = candidates[often]
        every_set.append(level)
        if sum(map(len, every_set)) > _MOST_COMBINATIONS:
            raise InputError(
                "{combinations='all'} finds more than {most:,} sets of up to {size} tasks. Bound "
                "them with {max_size} or {min_count}, or use {combinations='observed'}.",
                most=_MOST_COMBINATIONS,
                size=size,
            )
        members = np.nonzero(level)[1].reshape(-1, size)
        members = members[np.lexsort(members.T[::-1])]
        partners = _partners(members)
        n_grown = int(partners.sum())  # before they are made
        n_distinct = max(len(patterns) for patterns, _ in known)
        if size < max_size and float(n_grown) * n_distinct * n_tasks > _MOST_WORK:
            raise InputError(
                "{combinations='all'} would have to count {n:,} sets of {size} tasks in {rows:,} "
                "distinct rows. Bound them with {max_size} or {min_count}, or use "
                "{combinations='observed'}.",
                n=n_grown,
                size=size + 1,
                rows=n_distinct,
            )
        grown = _grown(members, partners)
        if not len(grown):
            break
        candidates = np.zeros((len(grown), n_tasks), dtype=bool)
        np.put_along_axis(candidates, grown, True, axis=1)
    return np.concatenate(every_set)


def _frequent_together(known: list[tuple[Array, Array]], min_count: float) -> int:
    """Return the size of a set that is frequent in all labels; there may be larger ones."""
    frequent = np.ones((1, known[0][0].shape[1]), dtype=bool)
    for patterns, counts in known:
        often = patterns[counts[:, 0] >= min_count]
        often = often[np.argsort(-often.sum(axis=1))[:100]]
        frequent = (frequent[:, None] & often).reshape(-1, frequent.shape[1])
    return int(frequent.sum(axis=1).max(initial=0))


# Here a set is a row of positions of tasks, and rows are sorted.


def _partners(members: Array) -> Array:
    """Return how many of the following sets differ from each in their last task only."""
    differs = (members[1:, :-1] != members[:-1, :-1]).any(axis=1)
    run = np.concatenate([[0], np.cumsum(differs)]) if len(members) else np.empty(0, dtype=int)
    return np.searchsorted(run, run, side="right") - np.arange(len(run)) - 1


def _grown(members: Array, partners: Array) -> Array:
    """Return the sets with one task more of which all subsets are there: two make one."""
    first = np.repeat(np.arange(len(members)), partners)
    start = np.cumsum(partners) - partners
    second = np.arange(len(first)) - start[first] + first + 1
    grown = np.column_stack([members[first], members[second, -1]])
    for left_out in range(members.shape[1] - 1):  # without one of the last two tasks it is known
        subsets = as_bytes(np.delete(grown, left_out, axis=1))
        grown = grown[np.isin(subsets, as_bytes(members))]
    return grown


class OfSets:
    """Brings cells onto sets of tasks: their tasks are then sets, present when all of them are.

    An audit asks for the same cells several times, which are made once.
    """

    def __init__(self, sets: Array) -> None:
        self.sets = sets
        self._made: list[tuple[Cells, Any]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return OfSets, (self.sets,)  # other processes have other cells

    def __call__(self, cells: C) -> C:
        """Return cells whose tasks are the sets."""
        for given, made in self._made:
            if given is cells:
                of_sets: C = made
                return of_sets
        made = self._of(cells)
        self._made.append((cells, made))
        return made

    def _of(self, cells: C) -> C:
        cells.require_rows("Which sets of tasks occur")
        sides = sides_of(cells)
        names, size = tuple(range(len(self.sets))), self.sets.sum(axis=1)
        columns = self.sets.T.astype(np.float32)
        for name in ("task", "task_pred"):
            if name not in sides:
                continue
            labels = labels_of(cells, name)
            has_set = np.empty((cells.n_cells, len(self.sets)), dtype=bool)
            for rows in in_slices(cells.n_cells):
                has_set[rows] = labels.dense(rows, np.float32) @ columns == size
            sides[name] = Side(names, Members(has_set), open=False)
        return with_sides(cells, sides)


def set_names(tasks: Names, sets: Array) -> Names:
    """Return each set of tasks as the tuple of their names."""
    flat = [tasks[i] for i in np.nonzero(sets)[1].tolist()]
    ends = np.cumsum(sets.sum(axis=1)).tolist()
    return tuple(tuple(flat[low:high]) for low, high in pairwise([0, *ends]))


# ------------------------------------------------------------------------ tasks counted one by one
#
# Which tasks occur together in a row is not known, so whatever needs rows raises an error:
# resamples, leakage, DPA, sets of tasks.


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
