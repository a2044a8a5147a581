"""Tasks that were counted one by one: what is known where an engine summed many 0/1 columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Members, Side, Summed, as_bytes
from skbiasamp._io.writing import written
from skbiasamp.counts.cells import Cells, SideName, shared
from skbiasamp.counts.engines import Moments, two_values
from skbiasamp.counts.merging import conformed, merged, with_positive_class
from skbiasamp.counts.stored import BOTH, BOTH_SQUARE, SQUARE, write_cells


class TaskSums(Cells):
    """Counts of every task by itself, in every group.

    `Contingency.from_frame` returns them if an engine summed many 0/1 columns of a query. They are
    read and added as a `Contingency` is. Which tasks occur together in a row is not known, so that
    whatever needs rows raises an error: resamples, leakage, DPA, sets of tasks.

    Attributes
    ----------
    groups, tasks, total, n_dropped : as of a `Contingency`
    moments : what intervals of means over tasks need, if the engine was asked for it
    """

    # A cell is a group (with its prediction); labels and predictions hold sums, a column a task.

    def __init__(
        self,
        weight: Array,
        sides: Mapping[Any, Side],
        *,
        n_dropped: float = 0.0,
        repeats: Array | None = None,
        summed: Summed | None = "tasks",
        clusters: None = None,  # of tasks by themselves it is not known what a cluster has
        moments: tuple[Moments, ...] = (),
    ) -> None:
        super().__init__(weight, sides, n_dropped=n_dropped, repeats=repeats, summed=summed)
        self.moments = moments
        self._of_tasks: dict[int, Cells] = {}

    def soft(self, side: SideName) -> bool:
        """Whether a label or prediction is a probability."""
        if not isinstance(side, str):
            return False
        if side == "task_pred":
            return SQUARE in self._sides
        return side in ("group", "group_pred") and super().soft(side)

    def _weights(self, *sides: SideName) -> Array:
        # Sides of tasks hold sums of weights already; those of groups say which groups a cell has.
        tasks = sum(side.startswith("task") for side in sides)
        if tasks > 1:
            raise self._without_rows("Which tasks occur together")
        return np.ones(self.n_cells) if tasks else self.weight

    def of_task(self, position: int) -> Cells:
        """Return the rows of one task: of a task alone everything is known.

        Probabilities become few values with the same number, sum and sum of squares, which is all
        that rates and their variances depend on.
        """
        if position not in self._of_tasks:
            self._of_tasks[position] = self._one(position)
        return self._of_tasks[position]

    def _one(self, position: int) -> Cells:
        def held(name: Any, other: Any = None) -> Array:
            side = self._sides.get(name) or self._sides[other]
            return side.labels.column(position)

        n, true = self.weight, held("task")
        if self.has("task_pred"):
            pred, both = held("task_pred"), held(BOTH)
            square, both_square = held(SQUARE, "task_pred"), held(BOTH_SQUARE, BOTH)
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
            for name, side in self._sides.items()
            if name.startswith("group")
        }
        names = (self.tasks[position],)
        sides["task"] = Side(names, Members(label[at][:, None]), open=False)
        if self.has("task_pred"):
            soft = self.soft("task_pred")
            found = values[cell, at][:, None]
            sides["task_pred"] = Side(names, Members(found if soft else found == 1), open=False)
        return Cells(counts[cell, at], sides, n_dropped=self.n_dropped)

    def _where(self) -> str:
        return "with each task by itself"

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same sums."""
        if not isinstance(other, TaskSums):
            return NotImplemented
        return write_cells(self._distinct()) == write_cells(other._distinct())

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ as of a contingency

    def _distinct(self) -> Self:
        """Add up the sums of equal groups, in an order that only the groups decide."""
        roles = [side for name, side in self._sides.items() if name.startswith("group")]
        keys = as_bytes(np.ascontiguousarray(np.hstack([side.labels.keys() for side in roles])))
        _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
        sides: dict[Any, Side] = {}
        for name, side in self._sides.items():
            if name.startswith("group"):
                sides[name] = replace(side, labels=side.labels.take(first))
            else:
                sums = np.zeros((len(first), side.labels.width))
                np.add.at(sums, cell.reshape(-1), side.labels.dense(slice(None), float))
                sides[name] = replace(side, labels=Members(sums))
        weight = np.bincount(cell.reshape(-1), self.weight)
        return type(self)(weight, sides, n_dropped=self.n_dropped, moments=self.moments)

    def __add__(self, other: TaskSums) -> TaskSums:
        """Return the sums of both data sets together."""
        return TaskSums.sum([self, other]) if isinstance(other, Cells) else NotImplemented

    @classmethod
    def sum(cls, every: Iterable[TaskSums]) -> TaskSums:
        """Return the sums of several data sets together."""
        parts = list(every)
        if any(isinstance(part, cls) and part.soft("task_pred") for part in parts):
            parts = [part._with_squares() if isinstance(part, cls) else part for part in parts]
        total = merged(parts)
        # Squares were summed over the groups and tasks of each part: others cannot be added.
        if (total.groups, total.tasks) == (parts[0].groups, parts[0].tasks):
            total.moments = _added([part.moments for part in parts])
        return total

    def _with_squares(self) -> TaskSums:
        """Return sums with squares: those of 0 and 1 are the numbers themselves."""
        if SQUARE in self._sides or not self.has("task_pred"):
            return self
        sides: dict[Any, Side] = dict(self._sides)
        sides |= {SQUARE: sides["task_pred"], BOTH_SQUARE: sides[BOTH]}
        return self._like(sides)

    def _like(self, sides: Mapping[Any, Side]) -> TaskSums:
        return TaskSums(self.weight, sides, n_dropped=self.n_dropped, moments=self.moments)

    def conform(self, like: Cells) -> TaskSums:
        """Return the same sums with the groups and tasks of `like`, in that order."""
        found = conformed(self, like)
        if (found.groups, found.tasks) == (self.groups, self.tasks):
            found.moments = self.moments
        return found

    def with_positive(self, pos_label: Any) -> TaskSums:
        """Raise unless `pos_label` is None: columns of 0 and 1 have no class to choose."""
        return with_positive_class(self, pos_label)

    def marginalise(self, *sides: SideName) -> TaskSums:
        """Return the sums without the named predictions (``"task_pred"``, ...)."""
        for side in sides:
            check_option("side", side, ("task_pred", "group_pred"))
        left_out = {*sides, *((BOTH, SQUARE, BOTH_SQUARE) if "task_pred" in sides else ())}
        kept = {name: side for name, side in self._sides.items() if name not in left_out}
        return self._like(kept)._distinct()

    def both(self, role: str) -> TaskSums:
        """Return sums whose prediction is what label and prediction have in common."""
        check_option("role", role, ("task", "group"))
        if role == "group":
            return shared(self, role)
        self.require("task_pred")
        sides: dict[Any, Side] = {**self._sides, "task_pred": self._sides[BOTH]}  # type: ignore[index]
        if SQUARE in self._sides:
            sides[SQUARE] = sides[BOTH_SQUARE]
        return self._like(sides)

    @property
    def models(self) -> tuple[str, ...]:
        """No names: an engine sums the predictions of one model only."""
        return ()

    def model(self, name: str) -> NoReturn:
        """Raise: these are the predictions of one model."""
        raise InputError("These are sums of the predictions of one model, which has no name.")

    def resample(self, n_resamples: int | None = None, *, random_state: Any = None) -> NoReturn:
        """Raise: rows are drawn, and these are not known."""
        raise self._without_rows("A resample")

    def to_frame(self) -> NoReturn:
        """Raise: a table of cells holds rows, and these are not known."""
        raise self._without_rows("A table of cells")

    def to_json(self, path: Any = None) -> str:
        """Return everything it holds as JSON, which `Contingency.from_json` reads."""
        return written(json.dumps(write_cells(self, self.moments)), path)


def of_one_task(cells: Cells, position: int) -> tuple[Cells, int]:
    """Return cells in which one task is known, and its position there."""
    return (cells.of_task(position), 0) if isinstance(cells, TaskSums) else (cells, position)


def _added(every: list[tuple[Moments, ...]]) -> tuple[Moments, ...]:
    """Return the sums of squares that all parts have, added up."""
    first, *others = every
    found = []
    for moments in first:
        same = [[other for other in part if other.alike(moments)] for part in others]
        if all(same):
            parts = [moments, *(other for other, *_ in same)]
            crossed = None if moments.crossed is None else sum(part.crossed for part in parts)
            squares = sum(part.squares for part in parts)
            found.append(moments._replace(squares=squares, crossed=crossed))
    return tuple(found)
