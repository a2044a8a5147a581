"""Contingency: the distinct label rows, and how often each occurs."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from skbiasamp._engines import (
    COUNT,
    MOST_JOINT,
    Moments,
    Opened,
    count_cells,
    names_of,
    open_frame,
    sum_scores,
    sum_tasks,
    sum_weights,
)
from skbiasamp._files import read_json, written
from skbiasamp._input import (
    Array,
    Names,
    Rows,
    Side,
    as_bytes,
    check_columns,
    check_kinds,
    check_known,
    check_selection,
    columns_named,
    no_positive_class,
    positive_class,
    quote,
    read_counts,
    read_rows,
    recode,
    sort_names,
    task_names,
    whole_classes,
)
from skbiasamp._stored import read_cells, write_cells
from skbiasamp._sums import (
    View,
    column,
    column_scores,
    dense,
    generator,
    pair_scores,
    pair_sums,
)

SideName = Literal["group", "task", "task_pred", "group_pred"]
SIDES: tuple[SideName, ...] = ("group", "task", "task_pred", "group_pred")
# What an engine was asked for in place of rows, where it was.
Summed = Literal["tasks", "scores", "weights"]
# Of a sum of several kinds, the one of which least is known.
_SUMMED: tuple[Summed, ...] = ("tasks", "scores", "weights")


class Contingency:
    """The distinct rows of (A, T, T̂, Â) and how often each occurs.

    Everything the library measures is a function of contingencies, and contingencies add:
    the contingency of two halves of the data, of two days or of two machines is the sum of
    theirs. Make one with `from_labels` or `from_counts`.

    Attributes
    ----------
    groups : tuple
        The values (or combinations of values) of the protected attribute.
    tasks : tuple
        The tasks: the positive class of a binary label, the classes of a multiclass label,
        the columns of a multilabel indicator.
    pos_label : class or None
        The positive class of a binary label in one column.
    group_columns : tuple
        The columns whose values make the groups, where they have names.
    total : float
        Number of rows, or the sum of their weights.
    n_cells : int
        Number of cells held: distinct rows, where rows repeat.
    n_dropped : float
        Rows left out because the protected attribute was missing and ``missing="drop"``.
    summed : {"tasks", "scores", "weights", None}
        What an engine summed in place of counting rows. Cells then have its sums, and sums of
        squares: of every task by itself (which tasks occur together is not known), of
        probabilities, or of fractional weights. What needs rows refuses them.

    Examples
    --------
    >>> from skbiasamp import Contingency
    >>> cells = Contingency.from_labels(
    ...     [1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0], sensitive_features=list("fffmmm")
    ... )
    >>> cells.rate("task", given="group")
    array([[0.66666667],
           [0.33333333]])
    >>> (cells + cells).total
    12.0
    >>> cells.to_frame()
      group  task  task_pred  n
    0     f     0          1  1
    1     f     1          1  2
    2     m     0          0  2
    3     m     1          0  1
    """

    def __init__(
        self, rows: Rows, *, summed: Summed | None = None, moments: Moments | None = None
    ) -> None:
        self.weight: Array = rows.weight
        self.summed = summed
        self.moments = moments
        self._repeats = rows.repeats
        self._sides: dict[SideName, Side] = {
            name: side
            for name, side in zip(SIDES, rows[1:5], strict=True)
            if isinstance(side, Side)
        }
        self.n_dropped = rows.n_dropped
        # Nothing here changes after it was made, so a sum is computed once.
        self._sums: dict[tuple[SideName, SideName], Array] = {}
        self._counts: dict[SideName, Array] = {}
        self._ordered: Contingency | None = None
        self.groups: Names = rows.group.names
        self.classes: Names | None = rows.task.names if rows.task.one_label else None
        if rows.task.one_label:
            self.tasks, self._task_positions = task_names(rows.task.names, rows.task.pos_label)
        else:
            self.tasks = rows.task.names
            self._task_positions = list(range(len(self.tasks)))

    # ------------------------------------------------------------------ making

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        groups: str = "intersection",
        missing: str = "error",
        like: Contingency | None = None,
        scores: bool = False,
        pos_label: Any = None,
    ) -> Contingency:
        """Count label rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: one column of classes, or a 0/1 indicator column a task.
        y_pred : array-like, optional
            Predicted labels, or probabilities of the tasks.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_pred : array-like, optional
            The attribute as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a whole number counts as that many repetitions.
        groups : {"intersection", "marginal", "indicator"}, default="intersection"
            How several columns make groups: every combination that occurs, each column's
            values side by side, or columns that are 0/1 memberships already.
        missing : {"error", "drop", "group"}, default="error"
            What to do where the attribute is missing.
        like : Contingency, optional
            Training labels: groups and tasks then come from there, in that order, and a new
            one is an error.
        scores : bool, default=False
            Whether labels may be numbers that are no classes, and predictions any scores (such
            as logits). Only attackers can do something with them.
        pos_label : class, optional
            Which of two classes is the positive one, and so the task; probabilities in one column
            are of that class. By default that of `like`, or the class that sorts last.

        Returns
        -------
        contingency : Contingency
        """
        return cls._read(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
            groups=groups,
            missing=missing,
            like=like,
            scores=scores,
            pos_label=pos_label,
        )

    @classmethod
    def _read(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        like: Contingency | None = None,
        summed: Summed | None = None,
        moments: Moments | None = None,
        **labels: Any,
    ) -> Contingency:
        sides = None if like is None else (like._sides["group"], like._sides["task"])
        rows = read_rows(y_true, y_pred, like=sides, **labels)
        return cls(rows, summed=summed, moments=moments)

    @classmethod
    @columns_named
    def from_counts(
        cls,
        frame: pd.DataFrame,
        *,
        target: Any = None,
        prediction: Any = None,
        sensitive: Any = None,
        sensitive_prediction: Any = None,
        count: Hashable = "n",
        pos_label: Any = None,
    ) -> Contingency:
        """Read a table of counts: the inverse of `to_frame`, or a published cross table.

        Parameters
        ----------
        frame : DataFrame
            One row a cell, with the columns that `to_frame` writes or those named below. A
            frame with none of them is read as a cross table, groups in the index and classes
            in the columns.
        target, prediction, sensitive, sensitive_prediction : column name or list of names
            Where the labels are; a list names 0/1 indicator columns. By default ``"task"``,
            ``"task_pred"``, ``"group"`` and ``"group_pred"``, the last three where present.
        count : column name, default="n"
            Where the counts are.
        pos_label : class, optional
            Which of two classes is the positive one. By default what `to_frame` wrote, or the
            class that sorts last.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> import pandas as pd
        >>> from skbiasamp import Contingency
        >>> published = pd.DataFrame({0: [1229, 1402], 1: [874, 1773]}, index=["C", "AA"])
        >>> Contingency.from_counts(published)
        Contingency(5,278 rows in 4 cells: 2 groups x 1 task, labels)
        """
        labels = read_counts(
            frame,
            target=target,
            prediction=prediction,
            sensitive=sensitive,
            sensitive_prediction=sensitive_prediction,
            count=count,
        )
        if pos_label is not None:
            labels["pos_label"] = pos_label
        return cls._read(**labels)

    @classmethod
    @columns_named
    def from_frame(
        cls,
        frame: Any,
        *,
        target: str | list[str],
        prediction: str | list[str] | None = None,
        sensitive: str | list[str],
        sensitive_prediction: str | list[str] | None = None,
        weight: str | None = None,
        groups: str = "intersection",
        missing: str = "error",
        like: Contingency | None = None,
        joint: bool | None = None,
        moments: tuple[Any, bool] | None = None,
        pos_label: Any = None,
    ) -> Contingency:
        """Count the rows of a data frame or query where they are.

        The engine groups and counts; only the cells come back, however many rows there are.
        Where rows of a query do not repeat, it sums: many 0/1 columns task by task,
        probabilities and fractional weights with their squares (`summed` then says so).

        Parameters
        ----------
        frame : data frame, lazy frame or query
            Of pandas, polars, pyarrow, DuckDB, Dask, PySpark, Ibis or whatever else narwhals
            knows.
        target : column name, or list of names
            The label, or 0/1 indicator columns.
        prediction : column name, or list of names, optional
            Its prediction, or one for each indicator column.
        sensitive : column name, or list of names
            The protected attribute.
        sensitive_prediction : column name, or list of names, optional
            Its prediction.
        weight : column name, optional
            Weights. Whole ones count as so many rows.
        groups : {"intersection", "marginal", "indicator"}, default="intersection"
            How several columns make groups.
        missing : {"error", "drop", "group"}, default="error"
            What to do where the attribute is missing.
        like : Contingency, optional
            Training labels: groups and tasks then come from there.
        joint : bool, optional
            Whether to keep rows apart that differ in which of several 0/1 columns they have, or
            in their probability, or to sum each task by itself, and probabilities. By default
            rows are kept apart in memory, and in queries with up to 12 such columns and no
            probabilities.
        moments : (array of shape (n_groups, n_tasks), bool), optional
            Signs of the pairs of `like`, where tasks are summed: the squares of what rows add to
            a mean over tasks are then summed in the same pass, of T̂ − T, or of T̂ if the second
            is False. `DirectionalAuditor` asks for them with ``interval="analytic"``.
        pos_label : class, optional
            Which of two classes is the positive one, and so the task; probabilities in one column
            are of that class. By default that of `like`, or the class that sorts last. Text names
            a number that is written so.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> import pandas as pd
        >>> from skbiasamp import Contingency
        >>> frame = pd.DataFrame({"sex": list("ffmm"), "hired": [1, 0, 1, 1]})
        >>> Contingency.from_frame(frame, target="hired", sensitive="sex")
        Contingency(4 rows in 3 cells: 2 groups x 1 task, labels)
        """
        sides = {
            "task": target,
            "task_pred": prediction,
            "group": sensitive,
            "group_pred": sensitive_prediction,
        }
        opened = open_frame(frame)
        opened.check_columns({**sides, "weight": weight})
        how: dict[str, Any] = {
            "groups": groups,
            "missing": missing,
            "like": like,
            "pos_label": pos_label,
        }
        several = not isinstance(target, str) and len(target) > 1
        many = several and len(names_of(target) + names_of(prediction)) > MOST_JOINT
        in_memory = opened.eager is not None
        if several and not (in_memory or not many if joint is None else joint):
            return cls._of_tasks(opened, sides, weight, moments, how)
        fractions = opened.fractional([*names_of(prediction), *names_of(weight)])
        if in_memory and (many or fractions):
            return cls._of_rows(opened, sides, weight, how)
        summed: Summed | None = None
        repeats = None
        if isinstance(prediction, str) and prediction in fractions and not joint:
            if weight in fractions:
                raise ValueError(
                    f"Both {prediction!r} and the weights in {weight!r} are fractions, and sums do "
                    "not hold what they make together. Read these columns into memory."
                )
            cells, summed = sum_scores(opened, sides, weight), "scores"
        elif weight in fractions:
            cells, summed = sum_weights(opened, sides, str(weight)), "weights"
            repeats = cells["rows"].to_numpy()
        else:
            cells = count_cells(opened, sides, weight)
        if cells.empty:
            raise ValueError("The frame has no rows: there is nothing to audit.")

        def side(name: str) -> Any:
            named = names_of(sides[name])
            if not named:
                return None
            held = cells[[f"{name} {i}" for i in range(len(named))]].set_axis(named, axis=1)
            return held.iloc[:, 0] if isinstance(sides[name], str) else held

        return cls._read(
            side("task"),
            side("task_pred"),
            sensitive_features=side("group"),
            sensitive_pred=side("group_pred"),
            sample_weight=cells[COUNT].to_numpy(),
            repeats=repeats,
            summed=summed,
            **how,
        )

    @classmethod
    def _of_tasks(
        cls,
        opened: Opened,
        sides: dict[str, Any],
        weight: str | None,
        moments: tuple[Array, bool] | None,
        how: dict[str, Any],
    ) -> Contingency:
        """Sum every task by itself."""
        if weight is not None and opened.fractional([weight]):
            raise ValueError(
                f"The weights in {weight!r} are no whole numbers, and sums task by task do not "
                "hold what these make of intervals. Pass joint=True, or whole weights."
            )
        asked = None
        like = how["like"]
        if moments is not None and like is not None and not like.indicator:
            asked = Moments(like.groups, *moments)
        cells = sum_tasks(opened, sides, weight, asked)
        if not len(cells.weight):
            raise ValueError("The frame has no rows: there is nothing to audit.")

        def side(name: str) -> Any:
            named = names_of(sides[name])
            if not named:
                return None
            held = cells.keys[[f"{name} {i}" for i in range(len(named))]].set_axis(named, axis=1)
            return held.iloc[:, 0] if isinstance(sides[name], str) else held

        predictions = None
        if cells.predictions is not None:
            predictions = pd.DataFrame(cells.predictions, columns=names_of(sides["task_pred"]))
        return cls._read(
            pd.DataFrame(cells.labels, columns=names_of(sides["task"])),
            predictions,
            sensitive_features=side("group"),
            sensitive_pred=side("group_pred"),
            sample_weight=cells.weight,
            summed="tasks",
            moments=cells.moments,
            **how,
        )

    @classmethod
    def _of_rows(
        cls, opened: Opened, sides: dict[str, Any], weight: str | None, how: dict[str, Any]
    ) -> Contingency:
        """Read columns that are in memory as labels, rows and all."""

        def side(named: str | list[str] | None) -> Any:
            return None if named is None else opened.eager[named].to_native()

        return cls.from_labels(
            side(sides["task"]),
            side(sides["task_pred"]),
            sensitive_features=side(sides["group"]),
            sensitive_pred=side(sides["group_pred"]),
            sample_weight=side(weight),
            **how,
        )

    # ------------------------------------------------------------------ what it holds

    @property
    def n_cells(self) -> int:
        """How many cells are held."""
        return int(self.weight.shape[-1])

    @cached_property
    def total(self) -> Any:
        """How many rows there are, or the sum of their weights."""
        total = self.weight.sum(axis=-1)
        return total if np.ndim(total) else float(total)

    @cached_property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that sums and ties are exact."""
        return self._repeats is None and bool(np.array_equal(self.weight, np.rint(self.weight)))

    @cached_property
    def rows(self) -> Array:
        """How many rows each cell is: its weight, or one where weights are fractional."""
        if self._repeats is not None:
            return self._repeats
        return self.weight if self.whole else np.ones(self.n_cells)

    @cached_property
    def row_weight(self) -> Array:
        """What each row of a cell weighs."""
        none = np.zeros(self.weight.shape)
        return np.divide(self.weight, self.rows, out=none, where=self.rows > 0)

    @cached_property
    def rows_per_weight(self) -> float:
        """How many rows a unit of weight is worth: 1 where weights are repetitions.

        Fractional weights have no unit of their own; theirs is Kish's effective sample size.
        """
        if self.whole:
            return 1.0
        return float(self.weight.sum() / (self.weight @ self.row_weight))

    @property
    def pos_label(self) -> Hashable:
        """The positive class of a binary label in one column; None for all other labels."""
        chosen = self._sides["task"].pos_label
        if chosen is not None or self.classes is None:
            return chosen
        return self.tasks[0] if len(whole_classes(self.classes)) == 2 else None

    @property
    def group_columns(self) -> Names:
        """The columns whose values make the groups, () where they have no names.

        A group of several columns is a tuple with a value of each.
        """
        columns = self._sides["group"].columns
        return () if columns == tuple(range(len(columns))) else columns

    @property
    def indicator(self) -> bool:
        """Whether groups may overlap."""
        return self._sides["group"].matrix is not None

    @property
    def declared(self) -> bool:
        """Whether groups are indicator columns, rather than the values that occur."""
        return not self._sides["group"].open

    def has(self, side: SideName) -> bool:
        """Whether a side is there."""
        return side in self._sides

    def soft(self, side: SideName) -> bool:
        """Whether a side holds probabilities."""
        return side in self._sides and self._sides[side].soft

    def __repr__(self) -> str:
        held = ["labels"]
        held += ["predictions"] * self.has("task_pred")
        held += ["predicted attribute"] * self.has("group_pred")
        groups, tasks = len(self.groups), len(self.tasks)
        return (
            f"Contingency({np.max(self.total):,.15g} rows in {self.n_cells:,} cells: "
            f"{groups} group{'s' * (groups != 1)} x {tasks} task{'s' * (tasks != 1)}, "
            f"{', '.join(held)})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same rows equally often, in whatever order."""
        if not isinstance(other, Contingency):
            return NotImplemented
        if self.groups != other.groups or self.classes != other.classes:
            return False
        if self.tasks != other.tasks or set(self._sides) != set(other._sides):
            return False
        mine, theirs = self.distinct(), other.distinct()
        keys = (mine._keys(), theirs._keys())
        if keys[0].shape != keys[1].shape:
            return False
        orders = [np.lexsort(key.T[::-1]) for key in keys]
        return bool(
            np.array_equal(keys[0][orders[0]], keys[1][orders[1]])
            and np.array_equal(mine.weight[orders[0]], theirs.weight[orders[1]])
        )

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ sums

    def _view(self, side: SideName) -> View:
        """Return a side in terms of groups or tasks, whatever its labels were."""
        held = self._sides[side]
        if not held.one_label or self._task_positions == list(range(len(held.names))):
            return View(len(held.names), held.codes, held.matrix)
        position = self._task_positions[0]  # of a binary label's one task
        if held.codes is not None:
            codes = np.where(held.codes == position, 0, -1)
            return View(1, codes, None)
        assert held.matrix is not None and position is not None
        return View(1, None, held.matrix[:, [position]])

    def count(self, side: SideName) -> Array:
        """Return how many rows have each group or task of a side."""
        if side not in self._counts:
            if side.startswith("task") and not self.indicator:
                count = self.joint("group", side).sum(axis=-2)  # every row is in one group
            else:
                everywhere = View(1, np.zeros(self.n_cells, dtype=np.intp), None)
                count = pair_sums(everywhere, self._view(side), self.weight)[..., 0, :]
            self._counts[side] = count
        return self._counts[side]

    def joint(self, side: SideName, other: SideName) -> Array:
        """Return how many rows have each pair of two sides."""
        if (other, side) in self._sums:
            return np.swapaxes(self._sums[other, side], -1, -2)
        if (side, other) not in self._sums:
            self._sums[side, other] = pair_sums(self._view(side), self._view(other), self.weight)
        return self._sums[side, other]

    def rate(self, side: SideName, *, given: SideName) -> Array:
        """Return P(side | given) as groups × tasks; NaN where `given` never occurs.

        One of the two is a side of groups, the other of tasks.
        """
        joint, count = self.joint(side, given), self.count(given)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate: Array = joint / count[..., None, :]
        return np.swapaxes(rate, -1, -2) if side.startswith("task") else rate

    # ------------------------------------------------------------------ patterns

    def patterns(self, side: SideName, by: Iterable[SideName]) -> tuple[Array, Array]:
        """Return the distinct task sets of a side and their counts in each group.

        Returns
        -------
        patterns : ndarray of bool, shape (n_patterns, n_tasks)
        counts : ndarray, shape (..., n_patterns, 1 + n_groups * len(by))
            All rows with that set, then those of each group of each side in `by`.
        """
        self.require_rows("Which sets of tasks occur", but=("scores", "weights"))
        view = self._view(side)
        if view.codes is not None:
            distinct, code = np.unique(view.codes, return_inverse=True)
            patterns = distinct[:, None] == np.arange(view.width)
        else:
            assert view.matrix is not None
            first, code = self._sides[side].distinct_rows
            patterns = view.matrix[first]
        rows = View(len(patterns), code, None)
        everywhere = View(1, np.zeros(self.n_cells, dtype=np.intp), None)
        counts = [pair_sums(rows, everywhere, self.weight)]
        counts += [pair_sums(rows, self._view(other), self.weight) for other in by]
        return patterns, np.concatenate(counts, axis=-1)

    # ------------------------------------------------------------------ adding and choosing

    def _keys(self) -> Array:
        """Return one row of bytes-like numbers a cell, equal exactly where the labels are."""
        parts = []
        for side in self._sides.values():
            if side.codes is not None:
                parts.append(side.codes.astype(np.int64)[:, None])
            elif side.soft:
                assert side.matrix is not None
                parts.append(np.ascontiguousarray(side.matrix, dtype=float).view(np.int64))
            else:
                assert side.matrix is not None
                packed = np.packbits(side.matrix, axis=1)
                padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
                padded[:, : packed.shape[1]] = packed  # in rows, however the matrix lies
                parts.append(padded.view(np.int64))
        return np.ascontiguousarray(np.hstack(parts))

    def distinct(self) -> Contingency:
        """Merge equal cells. Fractional weights stay apart: each is a row of its own."""
        if not self.whole:
            return self
        keys = self._keys()
        _, first, cell = np.unique(as_bytes(keys), return_index=True, return_inverse=True)
        if len(first) == self.n_cells:
            return self
        weight = np.bincount(cell.reshape(-1), self.weight)
        return self._take(first, weight)

    def _take(self, cells: Array, weight: Array) -> Contingency:
        sides = {
            name: replace(
                side,
                codes=None if side.codes is None else side.codes[cells],
                matrix=None if side.matrix is None else side.matrix[cells],
            )
            for name, side in self._sides.items()
        }
        repeats = None if self._repeats is None else self._repeats[cells]
        return self._with(weight, sides, repeats=repeats)

    def _with(
        self, weight: Array, sides: dict[SideName, Side], *, repeats: Array | None = None
    ) -> Contingency:
        if repeats is None and weight is self.weight:
            repeats = self._repeats
        rows = Rows(
            weight,
            sides["group"],
            sides["task"],
            sides.get("task_pred"),
            sides.get("group_pred"),
            self.n_dropped,
            repeats,
        )
        return Contingency(rows, summed=self.summed)

    def __add__(self, other: Contingency) -> Contingency:
        """Return the contingency of both data sets together."""
        if not isinstance(other, Contingency):
            return NotImplemented
        return Contingency.sum([self, other])

    @classmethod
    def sum(cls, contingencies: Iterable[Contingency]) -> Contingency:
        """Return the contingency of several data sets together, as adding them up does.

        All are merged at once, which is faster where there are many.

        Parameters
        ----------
        contingencies : iterable of Contingency
            Of days, of workers, of chunks. Groups and classes may differ: the sum has all.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> from skbiasamp import Contingency
        >>> days = [
        ...     Contingency.from_labels([0, 1], sensitive_features=["f", "m"]) for _ in range(365)
        ... ]
        >>> Contingency.sum(days)
        Contingency(730 rows in 2 cells: 2 groups x 1 task, labels)
        """
        every = list(contingencies)
        if not every:
            raise ValueError("There is no contingency to sum: the list is empty.")
        first = every[0]
        pos_label = _common_positive(every)
        for other in every[1:]:
            if set(first._sides) != set(other._sides):
                lacking = sorted(set(first._sides) ^ set(other._sides))
                raise ValueError(
                    f"Only one of two contingencies has {quote(lacking)}: all must hold the same "
                    "of labels, predictions and predicted attribute to be added."
                )
        groups, tasks = _union(every, "group"), _union(every, "task")
        parts = [one._onto(groups, tasks) for one in every]
        sides = {
            name: replace(
                side,
                codes=_stack([part[name].codes for part in parts]),
                matrix=_stack([part[name].matrix for part in parts]),
            )
            for name, side in parts[0].items()
        }
        named = next((one.group_columns for one in every if one.group_columns), ())
        sides["group"] = replace(sides["group"], columns=named or sides["group"].columns)
        if pos_label is not None:
            positive_class(pos_label, tasks)  # raises if the sum has more than two
            sides["task"] = replace(sides["task"], pos_label=pos_label)
        # Rows of a weight each beside whole ones: of these each is a row as often as it counts.
        split = any(not one.whole for one in every)
        rows = Rows(
            np.concatenate([one.weight for one in every]),
            sides["group"],
            sides["task"],
            sides.get("task_pred"),
            sides.get("group_pred"),
            math.fsum(one.n_dropped for one in every),
            np.concatenate([one.rows for one in every]) if split else None,
        )
        kinds = [one.summed for one in every]
        summed = next((kind for kind in _SUMMED if kind in kinds), None)
        moments = _added([one.moments for one in every])
        merged = Contingency(rows, summed=summed).distinct()
        merged.moments = moments if groups == first.groups and tasks == first.tasks else None
        return merged

    def __radd__(self, other: object) -> Contingency:
        """Let `sum()` start from 0."""
        return self if other == 0 else NotImplemented

    def _onto(self, groups: Names, tasks: Names) -> dict[SideName, Side]:
        sides: dict[SideName, Side] = {}
        for name, side in self._sides.items():
            names = groups if name.startswith("group") else tasks
            if side.names == names:
                sides[name] = side
            elif side.codes is not None:
                codes = recode(side.codes, side.names, names)
                sides[name] = replace(side, names=names, codes=codes)
            else:
                assert side.matrix is not None
                matrix = np.zeros((self.n_cells, len(names)), dtype=side.matrix.dtype)
                matrix[:, recode(np.arange(len(side.names)), side.names, names)] = side.matrix
                sides[name] = replace(side, names=names, matrix=matrix)
        return sides

    def conform(self, like: Contingency) -> Contingency:
        """Return the same cells with the groups and tasks of `like`, in that order."""
        if (self.classes is None) != (like.classes is None):
            raise ValueError(
                "The training labels were "
                f"{'indicator columns' if like.classes is None else 'one column of classes'} but "
                f"the audited ones are "
                f"{'indicator columns' if self.classes is None else 'one column of classes'}. "
                "Pass the same kind of labels to both."
            )
        group, task = like._sides["group"], like._sides["task"]
        for role, mine, trained in (
            ("group", self._sides["group"], group),
            ("task", self._sides["task"], task),
        ):
            known = whole_classes(trained.names) if trained.one_label else trained.names
            check_kinds(known, mine.names, "the training labels", f"the audited {role}")
            check_known(mine.names, known, role=role)
            lacking = [] if mine.open else [name for name in known if name not in mine.names]
            if lacking:
                raise ValueError(
                    f"The training labels had the {role} columns {quote(lacking)}, which the "
                    "audited ones lack. Pass the same columns to both."
                )
        _check_attributes(group, self._sides["group"])
        tasks = whole_classes(task.names) if task.one_label else task.names
        if like.indicator != self.indicator:
            raise ValueError(
                "One of training and audited groups overlap (groups='indicator' or 'marginal'), "
                "the other do not: make both contingencies with the same groups=."
            )
        chosen = self._sides["task"].pos_label
        if chosen not in (None, like.pos_label):
            raise ValueError(
                f"The positive class of the audited labels is {chosen!r}, and that of the training "
                f"labels is {like.pos_label!r}. Make both contingencies with the same pos_label."
            )
        columns = self.group_columns or group.columns
        held = (self.groups, self._sides["task"].names, chosen, self._sides["group"].columns)
        if held == (like.groups, tasks, task.pos_label, columns):
            return self
        onto = self._onto(like.groups, tasks)
        onto["group"] = replace(onto["group"], columns=columns)
        onto["task"] = replace(onto["task"], pos_label=task.pos_label)
        conformed = self._with(self.weight, onto)
        if (conformed.groups, conformed.tasks) == (self.groups, self.tasks):
            conformed.moments = self.moments
        return conformed

    def with_positive(self, pos_label: Any) -> Contingency:
        """Return the same cells with `pos_label` as the positive class; None changes nothing."""
        if pos_label is None:
            return self
        if self.classes is None:
            raise no_positive_class("is an indicator matrix")
        names, chosen = positive_class(pos_label, self.classes)
        held = self._sides["task"].pos_label
        if held is not None and held != chosen:
            raise ValueError(
                f"The positive class of this contingency is {held!r}, and pos_label is {chosen!r}. "
                "Leave pos_label out, or make the contingency with it."
            )
        sides = self._onto(self.groups, names)
        sides["task"] = replace(sides["task"], pos_label=chosen)
        return self._with(self.weight, sides)

    def require_rows(self, what: str, *, but: tuple[Summed, ...] = ()) -> None:
        """Raise if an engine's sums stand for rows that `what` needs."""
        if self.summed is None or self.summed in but:
            return
        held = {
            "tasks": "each task by itself, not which tasks occur together in a row",
            "scores": "sums of probabilities, not the probability of each row",
            "weights": "sums of fractional weights, not the weight of each row",
        }[self.summed]
        instead = (
            "Read these columns into memory."
            if self.summed == "weights"
            else "Count with Contingency.from_frame(..., joint=True)."
        )
        raise ValueError(f"{what} needs rows, and this contingency holds {held}. {instead}")

    def select(
        self,
        *,
        groups: Iterable[Hashable] | None = None,
        tasks: Iterable[Hashable] | None = None,
    ) -> Contingency:
        """Return only the rows of some groups, or only some columns of a multilabel task.

        Parameters
        ----------
        groups : list of group names, optional
            Rows of other groups are left out.
        tasks : list of task names, optional
            Columns of a multilabel task to keep. Rows stay.

        Returns
        -------
        contingency : Contingency
        """
        chosen = self
        if groups is not None:
            wanted = check_selection(groups, self.groups, "group")
            side = self._sides["group"]
            at = np.array([self.groups.index(name) for name in wanted], dtype=np.intp)
            if side.codes is not None:
                cells = np.flatnonzero(np.isin(side.codes, at))
            else:
                assert side.matrix is not None
                cells = np.flatnonzero(side.matrix[:, at].any(axis=1))
            chosen = self._take(cells, self.weight[cells])
            chosen = chosen._with(chosen.weight, _narrow(chosen._sides, "group", wanted, at))
        if tasks is not None:
            if self.classes is not None:
                raise ValueError(
                    "tasks can be chosen from indicator columns only: the classes of a one-column "
                    f"label ({quote(self.classes)}) belong together."
                )
            wanted = check_selection(tasks, self.tasks, "task")
            at = np.array([self.tasks.index(name) for name in wanted], dtype=np.intp)
            chosen = chosen._with(chosen.weight, _narrow(chosen._sides, "task", wanted, at))
        return chosen.distinct()

    def marginalise(self, *sides: SideName) -> Contingency:
        """Return the contingency without the named predictions (``"task_pred"``, ...)."""
        for side in sides:
            if side not in ("task_pred", "group_pred"):
                raise ValueError(
                    f"Only 'task_pred' and 'group_pred' can be summed over, got {side!r}: a "
                    "contingency always holds groups and tasks."
                )
        kept = {name: side for name, side in self._sides.items() if name not in sides}
        return self._with(self.weight, kept).distinct()

    def resample(self, n_resamples: int | None = None, *, random_state: Any = None) -> Contingency:
        """Draw the data anew: a bootstrap of rows, done on cells.

        Drawing n rows with replacement is a multinomial draw of the cells' counts, identical
        in law. Fractional weights are one row a cell: rows are drawn and keep their weight.

        Parameters
        ----------
        n_resamples : int, optional
            How many; None returns one plain contingency. Otherwise `weight`, and with it
            every count and rate, has a leading axis of that length.
        random_state : int, RandomState, Generator or None
            Where the draws come from. None never touches NumPy's global state.

        Returns
        -------
        contingency : Contingency
        """
        if self.weight.ndim == 2:
            raise ValueError("This contingency is resampled already.")
        cells, rng = self.ordered(), generator(random_state)
        weight, rows = cells._draw(1 if n_resamples is None else n_resamples, rng)
        if n_resamples is not None:
            return cells._with(weight, cells._sides)
        return cells._with(weight[0], cells._sides, repeats=None if rows is None else rows[0])

    def _draw(self, n_draws: int, rng: np.random.Generator) -> tuple[Array, Array | None]:
        """Return drawn weights, and of how many rows each is if weights do not tell."""
        n = int(self.rows.sum())
        if 8 * self.n_cells < n:
            rows = rng.multinomial(n, self.rows / n, size=n_draws).astype(float)
            return (rows, None) if self.whole else (rows * self.row_weight, rows)
        # As many cells as rows: drawing row numbers is faster than drawing counts.
        owner = np.repeat(np.arange(self.n_cells), self.rows.astype(int))
        single = self.whole and n < 2**24
        rows = np.empty((n_draws, self.n_cells), np.float32 if single else np.float64)
        for draw in rows:
            drawn = rng.integers(0, n, size=n, dtype=np.int32 if n < 2**31 else np.int64)
            cells = drawn if len(owner) == self.n_cells else owner[drawn]
            draw[:] = np.bincount(cells, minlength=self.n_cells)
        return (rows, None) if self.whole else (rows * self.row_weight, rows)

    def unweighted(self) -> Contingency:
        """Return the same cells with every row counting once; whole weights are rows."""
        return self if self.whole else self._with(self.rows, self._sides)

    def ordered(self) -> Contingency:
        """Return the same cells in an order that only what they hold decides, by group first.

        Random numbers drawn over them are then the same for the same rows in any order, and each
        group's cells are a slice. Equal cells are merged, as `distinct` does.
        """
        if self._ordered is None:
            keys = self._keys()
            order = np.lexsort([self.rows, self.weight, *keys.T[::-1]])
            weight, keys = self.weight[order], keys[order]
            if self.whole:
                new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
                order, weight = order[new], np.add.reduceat(weight, np.flatnonzero(new))
            same = np.array_equal(order, np.arange(self.n_cells))
            found = self if same else self._take(order, weight)
            found.moments, found._ordered = self.moments, found
            self._ordered = found
        return self._ordered

    def of_sets(self, sets: Array) -> Contingency:
        """Return the contingency whose tasks are sets of tasks, present when all of them are."""
        self.require_rows("Which sets of tasks occur", but=("scores", "weights"))
        sides = dict(self._sides)
        names = tuple(range(len(sets)))
        size = sets.sum(axis=1)
        for name in ("task", "task_pred"):
            if name not in sides:
                continue
            view = self._view(name)
            held = np.empty((self.n_cells, len(sets)), dtype=bool)
            for low in range(0, self.n_cells, 1 << 11):
                cells = slice(low, low + (1 << 11))
                held[cells] = dense(view, cells, np.float32) @ sets.T.astype(np.float32) == size
            sides[name] = Side(names, matrix=held, open=False)
        return self._with(self.weight, sides)

    def swapped(
        self, sides: Iterable[SideName], n_draws: int, rng: np.random.Generator
    ) -> Contingency:
        """Draw contingencies in which labels and predictions change places within rows.

        Under the hypothesis that the model moves nothing, a row's label and prediction are
        exchangeable. `sides` names the labels (``"task"``, ``"group"``) that change places with
        their predictions; each row does with probability one half.
        """
        cells = self.ordered()
        swapped = dict(cells._sides)
        for name in sides:
            predicted: SideName = "task_pred" if name == "task" else "group_pred"
            swapped[name], swapped[predicted] = swapped[predicted], swapped[name]
        both: dict[SideName, Side] = {
            name: replace(
                side,
                codes=_stack([side.codes, swapped[name].codes]),
                matrix=_stack([side.matrix, swapped[name].matrix]),
            )
            for name, side in cells._sides.items()
        }
        moved = cells.flips(n_draws, rng)
        return cells._with(np.hstack([cells.weight - moved, moved]), both)

    def flips(self, n_draws: int, rng: np.random.Generator) -> Array:
        """Draw how much of each cell's weight a fair coin a row would pick."""
        shape = (n_draws, self.n_cells)
        if (self.rows > 1).any():
            picked = rng.binomial(self.rows.astype(np.int64), 0.5, size=shape).astype(float)
            return picked if self.whole else picked * self.row_weight
        bits = np.frombuffer(rng.bytes(n_draws * -(-self.n_cells // 8)), np.uint8)
        coins = np.unpackbits(bits.reshape(n_draws, -1), axis=1, count=self.n_cells)
        return coins * self.weight

    # ------------------------------------------------------------------ scores of cells

    def pair_scores(self, side: SideName, given: SideName, scores: Array) -> Array:
        """Return for each cell the sum of `scores` over the pairs of two sides it is in."""
        groups, tasks = (given, side) if side.startswith("task") else (side, given)
        return pair_scores(self._view(groups), self._view(tasks), scores)

    def column_scores(self, side: SideName, scores: Array) -> Array:
        """Return for each cell the sum of `scores` over the columns of a side it is in."""
        return column_scores(self._view(side), scores)

    def column(self, side: SideName, position: int) -> Array:
        """Return one column of a side as numbers, one a cell."""
        return column(self._view(side), position)

    def both(self, role: str) -> Contingency:
        """Return the contingency whose predicted side holds what label and prediction share."""
        predicted: SideName = "task_pred" if role == "task" else "group_pred"
        label, prediction = self._view(role), self._view(predicted)  # type: ignore[arg-type]
        if label.codes is not None and prediction.codes is not None:
            shared = View(
                label.width, np.where(label.codes == prediction.codes, label.codes, -1), None
            )
        else:
            every = slice(None)
            left, right = dense(label, every, bool), dense(prediction, every, bool)
            shared = View(label.width, None, left & right)
        names = self.tasks if role == "task" else self.groups
        sides = dict(self._sides)
        side = sides[role]  # type: ignore[index]
        if side.one_label and len(side.names) != len(names):
            # A binary label's one task: its view is all that is left of the classes.
            sides["task"] = Side(names, label.codes, label.matrix)
        sides[predicted] = Side(names, shared.codes, shared.matrix)
        return self._with(self.weight, sides)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a distinct cell: the labels of each side, and the count `n`.

        Indicator columns are named ``task[name]``, ``group[name]`` and so on. Cells of fractional
        weights have a column `rows` as well, how many rows they are, those of sums a column
        `summed`, and those of labels whose positive class was chosen a column `pos_label`.
        `from_counts` reads it all back.
        """
        cells = self.distinct()
        keys = cells._keys()
        order = np.lexsort(keys.T[::-1])
        columns: dict[str, Any] = {}
        for name, side in cells._sides.items():
            if side.codes is not None:
                labels = np.empty(len(side.names) + 1, dtype=object)
                labels[:-1] = side.names  # and None for code -1, a group that is not selected
                columns[name] = pd.Series(labels[side.codes[order]]).infer_objects()
            else:
                assert side.matrix is not None
                matrix = side.matrix if side.soft else side.matrix.astype(np.int8)
                for i, column in enumerate(side.names):
                    columns[f"{name}[{column}]"] = matrix[order, i]
        weight = cells.weight[order]
        columns["n"] = weight.astype(np.int64) if cells.whole else weight
        if cells._repeats is not None:
            columns["rows"] = cells._repeats[order].astype(np.int64)
        if cells.summed is not None:
            columns["summed"] = cells.summed
        if cells._sides["task"].pos_label is not None:
            columns["pos_label"] = [cells._sides["task"].pos_label] * cells.n_cells
        return pd.DataFrame(columns)

    def to_json(self, path: Any = None) -> str:
        """Return everything it holds as JSON, to be stored, read with `from_json`, and added.

        Parameters
        ----------
        path : str or path, optional
            A file to write as well.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from skbiasamp import Contingency
        >>> cells = Contingency.from_labels([0, 1, 1], sensitive_features=["f", "f", "m"])
        >>> Contingency.from_json(cells.to_json()) == cells
        True
        """
        return written(json.dumps(write_cells(self._rows(), self.summed, self.moments)), path)

    @classmethod
    def from_json(cls, text: Any) -> Contingency:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str or path
            The text, or the file it is in.

        Returns
        -------
        contingency : Contingency
        """
        rows, summed, moments = read_cells(read_json(text))
        return cls(rows, summed=summed, moments=moments)

    def _rows(self) -> Rows:
        """Return what it was made of."""
        sides = self._sides
        return Rows(
            self.weight,
            sides["group"],
            sides["task"],
            sides.get("task_pred"),
            sides.get("group_pred"),
            self.n_dropped,
            self._repeats,
        )


def _stack(parts: list[Array | None]) -> Array | None:
    held = [part for part in parts if part is not None]
    return np.concatenate(held) if held else None


def _added(every: list[Moments | None]) -> Moments | None:
    """Return sums of squares of the same scores added up."""
    first, *others = every
    if first is None:
        return None
    squares = first.squares
    for other in others:
        alike = other is not None and (first.groups, first.change) == (other.groups, other.change)
        if other is None or not alike or not np.array_equal(first.signs, other.signs):
            return None
        squares = squares + other.squares
    return first._replace(squares=squares)


def _union(every: list[Contingency], name: SideName) -> Names:
    """Return the names of all; indicator columns must be the same ones."""
    first, *others = every
    mine = first._sides[name]
    names: dict[Hashable, None] = dict.fromkeys(mine.names)
    predicted: SideName = "task_pred" if name == "task" else "group_pred"
    for other in others:
        theirs = other._sides[name]
        same_form = (mine.codes is None) == (theirs.codes is None) and (
            mine.one_label == theirs.one_label
        )
        if predicted in first._sides:
            a, b = first._sides[predicted], other._sides[predicted]
            same_form &= (a.codes is None) == (b.codes is None)
        if not same_form:
            raise ValueError(
                f"The two contingencies hold {name}s of different kinds (one column of labels, "
                "indicator columns, probabilities) and cannot be added."
            )
        _check_attributes(mine, theirs)
        if mine.names == theirs.names:
            continue
        check_kinds(mine.names, theirs.names, f"one contingency's {name}", f"the other's {name}")
        if not mine.open and set(mine.names) != set(theirs.names):
            only = sorted(map(str, set(mine.names) ^ set(theirs.names)))
            raise ValueError(
                f"The two contingencies have different {name} columns: {quote(only)} is in only "
                "one of them."
            )
        names |= dict.fromkeys(theirs.names)
    return mine.names if len(names) == len(mine.names) else sort_names(names)


def _common_positive(every: list[Contingency]) -> Hashable:
    """Return the positive class that was chosen for some of them, which must be that of all."""
    chosen = [one._sides["task"].pos_label for one in every]
    found = next((name for name in chosen if name is not None), None)
    if found is not None:
        for one in every:
            if one.pos_label not in (None, found):
                raise ValueError(
                    f"The positive class of one contingency is {found!r}, and that of another is "
                    f"{one.pos_label!r}. Make all of them with the same pos_label to add them."
                )
    return found


def _check_attributes(one: Side, other: Side) -> None:
    """Combinations of (sex, age) are not those of (age, sex)."""
    if one.columns and other.columns and len(one.columns) == len(other.columns):
        check_columns(other.columns, one.columns, "the audited attribute", "the other")


def _narrow(
    sides: dict[SideName, Side], role: str, names: Names, positions: Array
) -> dict[SideName, Side]:
    """Return the sides with only some columns of groups or tasks."""
    narrowed: dict[SideName, Side] = {}
    for name, side in sides.items():
        if not name.startswith(role):
            narrowed[name] = side
        elif side.matrix is not None:
            narrowed[name] = replace(side, names=names, matrix=side.matrix[:, positions])
        else:
            assert side.codes is not None
            lookup = np.full(len(side.names), -1)
            lookup[positions] = np.arange(len(positions))
            narrowed[name] = replace(side, names=names, codes=lookup[side.codes])
    return narrowed
