"""Cells: distinct rows of labels with their weights, and what is made from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np

from skbiasamp._input.checks import Array, Names, check_option, check_selection
from skbiasamp._input.classes import task_names, whole_classes
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.labels import (
    Codes,
    Labels,
    Members,
    Rows,
    Side,
    Summed,
    common,
    distinct_rows,
    in_order_of_bytes,
    join_columns,
    ranked,
)
from skbiasamp.counts.pair_sums import everywhere, pair_sums

SideName = Literal["group", "task", "task_pred", "group_pred", "task_decision"]
SIDES: tuple[SideName, ...] = ("group", "task", "task_pred", "group_pred")
# Sums of products that sums of tasks have beside those of labels and of predictions: of both, and
# of squares if predictions are probabilities.
BOTH, SQUARE, BOTH_SQUARE = "task_both", "task_square", "task_both_square"


class Clusters(NamedTuple):
    """The cluster profile that each cell is of, and how many clusters have each profile.

    Clusters of equal rows have one profile: what is held does not grow with their number.
    """

    of: Array
    n: Array

    @property
    def total(self) -> int:
        """Number of clusters."""
        return int(self.n.sum())

    def take(self, cells: Array) -> Clusters:
        """Return the profiles of some cells; clusters without them are none."""
        kept, of = np.unique(self.of[cells], return_inverse=True)
        return Clusters(of, self.n[kept])

    def apart(self, weight: Array) -> Clusters:
        """Return each cluster by itself, if every row of cells of whole weights is a cell."""
        starts = np.append(0, np.cumsum(self.n))[:-1].astype(np.int64)
        times = self.n[self.of].astype(np.int64)
        of = [
            np.repeat(starts[profile] + np.arange(n), weights // n)
            for profile, n, weights in zip(self.of, times, weight.astype(np.int64), strict=True)
        ]
        return Clusters(np.concatenate(of), np.ones(int(self.n.sum())))

    def each(self, weight: Array) -> Array:
        """Return the weight of each cell in one cluster, of its weight in all."""
        return weight / self.n[self.of]

    def spread(self, drawn: Array, weight: Array) -> Array:
        """Return weights of cells if `drawn` clusters of each profile are there."""
        return drawn[..., self.of] * self.each(weight)


class Cells:
    """Distinct rows of labels, and how often each occurs: what a `Contingency` reads and counts.

    If an engine summed each task by itself, a cell is a group (with its prediction), and labels and
    predictions hold sums. Nothing in cells changes after they were made, so a sum is computed once.

    `grouping` is the side that names the groups, `naming` the one that names classes and tasks:
    labels, or predictions without labels.
    `n_cells` is how many cells are held, and `total` how many rows, or the sum of their weights.
    `declared` is whether groups are indicator columns, rather than the values that occur, and
    `indicator` whether they may overlap. `models` are those whose predictions are held, if there
    are several.
    """

    # If rows are standardised: the cells with which each cell keeps its weight in resamples.
    poststrata: Array | None = None

    def __init__(
        self,
        weight: Array,
        sides: Mapping[Any, Side],
        *,
        n_dropped: float = 0.0,
        repeats: Array | None = None,
        summed: Summed | None = None,
        clusters: Clusters | None = None,
    ) -> None:
        self.weight, self.n_cells = weight, int(weight.shape[-1])
        total = weight.sum(axis=-1)
        self.total = total if np.ndim(total) else float(total)
        self.clusters = clusters
        self.n_dropped = n_dropped
        self.repeats = repeats
        self.summed = summed
        self._sides: dict[SideName, Side] = dict(sides)
        named = (name.partition(":") for name in self._sides)
        self.models = tuple(dict.fromkeys(model for _, colon, model in named if colon))
        group = self._sides["group"]
        self.grouping = group
        self.naming = task = self._sides[naming_names(self._sides)[0]]
        self.groups: Names = group.names
        unnamed = group.columns == tuple(range(len(group.columns)))
        self.group_columns: Names = () if unnamed else group.columns
        self.declared, self.indicator = not group.open, isinstance(group.labels, Members)
        self.classes: Names | None = task.names if task.one_label else None
        if task.one_label:
            self.tasks, self._task_positions = task_names(task.names, task.pos_label)
        else:
            self.tasks, self._task_positions = task.names, list(range(len(task.names)))
        self._computed: dict[Any, Any] = {}
        self._ordered: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # Stored models need none of it, and skops cannot store pairs as keys.
        kept = {"_computed", "_ordered"}
        return {name: value for name, value in self.__dict__.items() if name not in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def _forget(self) -> None:
        """Go on without what was computed once and kept."""
        self._computed, self._ordered = {}, None

    @classmethod
    def of_rows(cls, rows: Rows) -> Self:
        """Return the cells of rows that were read."""
        clusters = None if rows.clusters is None else Clusters(*rows.clusters)
        how: dict[str, Any] = {"n_dropped": rows.n_dropped, "repeats": rows.repeats}
        made = cls(rows.weight, rows.sides, summed=rows.summed, clusters=clusters, **how)
        return made._distinct() if clusters is not None or made.models else made

    # ------------------------------------------------------------------ which labels

    @property
    def pos_label(self) -> Hashable:
        """The positive class of a binary label in one column; None for all other labels."""
        chosen = self.naming.pos_label
        if chosen is not None or self.classes is None:
            return chosen
        return self.tasks[0] if len(whole_classes(self.classes)) == 2 else None

    def has(self, side: SideName) -> bool:
        """Whether a label or prediction is there."""
        return isinstance(side, str) and side in self._sides

    def soft(self, side: SideName) -> bool:
        """Whether a label or prediction is a probability."""
        if self.summed == "tasks" and self.has(side) and side.startswith("task"):
            return side == "task_pred" and SQUARE in self._sides
        return self.has(side) and self._sides[side].labels.soft

    def __repr__(self) -> str:
        contents = ["labels"] * self.has("task")
        contents += ["predictions"] * self.has("task_pred")
        contents += ["predicted groups"] * self.has("group_pred")
        contents += [f"predictions of {len(self.models)} models"] * bool(self.models)
        groups, tasks = len(self.groups), len(self.tasks)
        in_tasks = self.summed == "tasks"
        where = "with each task by itself" if in_tasks else f"in {self.n_cells:,} cells"
        return (
            f"{type(self).__name__}({np.max(self.total):,.15g} rows {where}: "
            f"{groups} group{'s' * (groups != 1)} x {tasks} task{'s' * (tasks != 1)}, "
            f"{', '.join(contents)})"
        )

    # ------------------------------------------------------------------ weights

    @cached_property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that sums and ties are exact."""
        return self.repeats is None and bool(np.array_equal(self.weight, np.rint(self.weight)))

    @cached_property
    def rows(self) -> Array:
        """How many rows each cell is: its weight, or one where weights are fractional."""
        if self.repeats is not None:
            return self.repeats
        # A fractional weight says how much a row counts, not how many rows there are.
        return self.weight if self.whole else np.ones(self.n_cells)

    @property
    def occurs(self) -> Array:
        """Positions of cells that have any weight."""
        return np.flatnonzero(self.weight.reshape(-1, self.n_cells).any(axis=0))

    @cached_property
    def row_weight(self) -> Array:
        """What each row of a cell weighs."""
        if self.whole:  # 1, and 0 without rows
            return self.unit_weight
        none = np.zeros(self.weight.shape)  # what no resample drew has no row, and weighs nothing
        return np.divide(self.weight, self.rows, out=none, where=self.rows > 0)

    @cached_property
    def unit_weight(self) -> Array:
        """What each independent row of a cell weighs.

        Whole weights are that many rows, also beside a few fractional ones. The more weights are
        fractional, the more does each weigh one row: no single weight decides it.
        """
        if self.whole:
            return np.greater(self.weight, 0).astype(float)
        each = self.row_weight
        whole = each == np.rint(each)
        counts = max(0.0, 2 * float(self.rows[whole].sum() / max(self.rows.sum(), 1)) - 1)
        return np.where(whole & (each > 1), counts + (1 - counts) * each, each)

    @cached_property
    def units(self) -> Array:
        """How many independent rows each cell is."""
        if self.whole:
            return np.asarray(self.weight, dtype=float)
        none = np.array(self.rows, dtype=float)
        return np.divide(self.weight, self.unit_weight, out=none, where=self.unit_weight > 0)

    @cached_property
    def rows_per_weight(self) -> float:
        """How many rows a unit of weight is worth: 1 where weights are repetitions.

        Fractional weights have no unit of their own; theirs is Kish's effective sample size.
        """
        if self.whole:
            return 1.0
        return float(self.weight.sum() / (self.weight @ self.unit_weight))

    @cached_property
    def units_per_weight(self) -> float:
        """How many independent rows a unit of weight is worth, if rows of a cluster are alike."""
        if self.clusters is None:
            return self.rows_per_weight
        of, n = self.clusters
        sizes = np.bincount(of, self.clusters.each(self.weight), minlength=len(n))
        return float(self.weight.sum() / (n @ sizes**2))

    # ------------------------------------------------------------------ sums

    def count(self, side: SideName) -> Array:
        """Return how many rows have each group or task of a label or prediction."""
        self.require(side)
        if (side,) not in self._computed:
            if side.startswith("task") and not self.indicator:
                count = self.joint("group", side).sum(axis=-2)  # every row is in one group
            else:
                summed = self.summed == "tasks" and side.startswith("task")
                weight = np.ones(self.n_cells) if summed else self.weight
                labels = labels_of(self, side)
                count = pair_sums(everywhere(self.n_cells), labels, weight)[..., 0, :]
            if not self.whole:  # in another order the same weights have another sum
                total = np.asarray(self.total)[..., None]
                count = np.where(np.abs(count - total) <= 1e-12 * total, total, count)
            self._computed[side,] = count
        return np.asarray(self._computed[side,])

    def joint(self, side: SideName, other: SideName) -> Array:
        """Return how many rows have each pair of two labels or predictions."""
        self.require(side, other)
        # The same pair of labels the other way round is the transpose.
        if (other, side) in self._computed:
            return np.swapaxes(self._computed[other, side], -1, -2)
        if (side, other) not in self._computed:
            weight = self.weight
            of_tasks = [name.startswith("task") for name in (side, other)]
            if self.summed == "tasks" and any(of_tasks):
                if all(of_tasks):
                    self.require_rows("Which tasks occur together")
                weight = np.ones(self.n_cells)  # sides of tasks hold sums of weights already
            sums = pair_sums(labels_of(self, side), labels_of(self, other), weight)
            self._computed[side, other] = sums
        return np.asarray(self._computed[side, other])

    def _distinct(self) -> Self:
        """Merge equal cells. Fractional weights stay apart: each is a row of its own."""
        if self.summed == "tasks":
            return self._added()
        if self.clusters is not None:
            return self._profiled(self.clusters)
        if not self.whole:
            return self
        keys = join_columns(key_columns(self), self.n_cells)
        in_order = np.sort(keys)
        if (in_order[1:] != in_order[:-1]).all():
            return self
        del in_order
        first, cell = ranked(keys, stable=True)
        some = take(self, first, self.weight[..., first])
        first, cell = in_order_of_bytes(keys_of(some), first, cell)
        weight = np.apply_along_axis(partial(np.bincount, cell), -1, self.weight)
        return take(self, first, weight)

    def _added(self) -> Self:
        """Add up the sums of equal groups, in an order that only the groups decide."""
        roles = [side for name, side in self._sides.items() if name.startswith("group")]
        first, cell = distinct_rows(np.hstack([side.labels.keys() for side in roles]))
        sides: dict[SideName, Side] = {}
        for name, side in self._sides.items():
            labels: Labels = side.labels.take(first)
            if name.startswith("task"):
                sums = np.zeros((len(first), side.labels.width))
                np.add.at(sums, cell, side.labels.dense(slice(None), float))
                labels = Members(sums)
            sides[name] = replace(side, labels=labels)
        return reweighted(self, np.bincount(cell, self.weight), sides)

    def _profiled(self, clusters: Clusters) -> Self:
        """Merge equal rows of a cluster, and equal clusters. Those of one row are no clusters.

        Cells are then in an order that only what they hold decides.
        """
        each = np.bincount(clusters.of, clusters.each(self.rows))
        if (each[clusters.of] == 1).all():
            return with_weight(self, self.weight, self.repeats)._distinct()
        _, code = distinct_rows(keys_of(self))
        _, unit = np.unique(self.row_weight, return_inverse=True)
        _, entry = np.unique(code * (unit.max() + 1) + unit, return_inverse=True)
        # One entry for each kind of row that a cluster has.
        pair, first, at = np.unique(
            clusters.of * (entry.max() + 1) + entry, return_index=True, return_inverse=True
        )
        n_rows = np.bincount(at, clusters.each(self.rows))  # of one cluster
        owner, kind = np.divmod(pair, entry.max() + 1)
        starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        sizes = np.diff(np.append(starts, len(owner)))
        times = clusters.n[owner[starts]]
        kept: list[Array] = []
        of: list[Array] = []
        n: list[Array] = []
        for size in np.unique(sizes):
            where = starts[sizes == size][:, None] + np.arange(size)
            content = np.hstack([kind[where].astype(float), n_rows[where]])
            _, representative, same = np.unique(
                content, axis=0, return_index=True, return_inverse=True
            )
            kept.append(where[representative].ravel())
            profile = np.arange(len(representative)) + sum(map(len, n))
            of.append(np.repeat(profile, size))
            n.append(np.bincount(same.reshape(-1), times[sizes == size]))
        profiles, cells = Clusters(np.concatenate(of), np.concatenate(n)), np.concatenate(kept)
        rows = n_rows[cells] * profiles.n[profiles.of]
        merged = take(self, first[cells], rows * self.row_weight[first[cells]])
        merged.repeats = None if self.whole else rows
        merged.clusters = profiles
        return merged

    def select(
        self,
        *,
        groups: Iterable[Hashable] | None = None,
        tasks: Iterable[Hashable] | None = None,
    ) -> Self:
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
            names = check_selection(groups, self.groups, "group")
            at = [self.groups.index(name) for name in names]
            # Rows of other groups are left out; those of other tasks stay.
            members = self._sides["group"].labels.select(np.array(at)).dense(slice(None), bool)
            rows = np.flatnonzero(members.any(axis=1))
            chosen = take(self, rows, self.weight[..., rows])
            chosen = with_sides(chosen, chosen._sides | selected(chosen, "group", at))
        if tasks is not None:
            if self.classes is not None:
                raise InputError(
                    "{tasks} can be chosen from indicator columns only: the classes of a "
                    "one-column label ({classes}) belong together.",
                    classes=quote(self.classes),
                )
            at = [self.tasks.index(name) for name in check_selection(tasks, self.tasks, "task")]
            chosen = with_sides(chosen, chosen._sides | selected(chosen, "task", at))
        return chosen._distinct()

    def __radd__(self, other: object) -> Self:
        """Let `sum()` start from 0."""
        return self if other == 0 else NotImplemented

    def rate(self, side: SideName, *, given: SideName) -> Array:
        """Return P(side | given) as groups × tasks; NaN where `given` never occurs.

        One of the two is of groups, the other of tasks.
        """
        joint, count = self.joint(side, given), self.count(given)
        if side.startswith("task") == given.startswith("task"):
            text = "{side} and {given} must be one of groups and one of tasks; got {sides}."
            raise InputError(text, sides=quote([side, given]))
        with np.errstate(invalid="ignore", divide="ignore"):  # 0 of 0 rows is undefined: NaN
            rate: Array = joint / count[..., None, :]
        return np.swapaxes(rate, -1, -2) if side.startswith("task") else rate

    def require(self, *sides: SideName) -> None:
        """Raise if a label or prediction is not there."""
        for side in sides:
            if not self.has(side):
                if isinstance(side, str) and side == "task":
                    raise InputError(
                        "These rows have no labels to compare predictions with: pass {y_true}."
                    )
                text = "{side} must be one of {known}, which this contingency holds; got {seen!r}."
                raise InputError(text, known=quote(self._sides), seen=side)

    def require_single(self, what: str) -> None:
        """Raise if there are several resamples where `what` takes one contingency."""
        if self.weight.ndim == 2:
            text = "{what} needs one contingency, and this one holds {n} resamples."
            raise InputError(text, what=what, n=len(self.weight))

    def require_rows(self, what: str) -> None:
        """Raise if an engine's sums stand for rows that `what` needs."""
        if self.summed is not None:
            raise InputError(
                "{what} needs rows, and this contingency holds each task by itself, not which "
                "tasks occur together in a row. Count with Contingency.from_frame(..., "
                "joint=True).",
                what=what,
            )


# What is made from a contingency is one again.
C = TypeVar("C", bound=Cells)


# --------------------------------------------------------------------------- parts


def side_of(cells: Cells, side: SideName) -> Side:
    """Return labels or predictions with the names they were given."""
    return cells._sides[side]


def naming_names(sides: Iterable[Any]) -> list[Any]:
    """Return which sides name classes and tasks: those of every model without labels."""
    predicted = [name for name in sides if name.startswith("task_pred")]
    return ["task"] if "task" in sides or not predicted else predicted


def sides_of(cells: Cells) -> dict[SideName, Side]:
    """Return all labels and predictions that are there."""
    return dict(cells._sides)


def labels_of(cells: Cells, side: SideName) -> Labels:
    """Return labels or predictions in terms of groups or tasks, whatever classes there were."""
    own = cells._sides[side]
    if not own.one_label or cells._task_positions == list(range(len(own.names))):
        return own.labels
    if own.labels.soft and own.labels.width < len(own.names):
        text = "{side} holds scores, which are no labels: only attackers can use them."
        raise InputError(text, side=side)
    # The positive class of a binary label is its one task, which may not occur.
    position = cells._task_positions[0]
    if position is None:
        return Codes(np.full(cells.n_cells, -1), 1)
    return own.labels.select(np.array([position]))


def column(cells: Cells, side: SideName, position: int) -> Array:
    """Return which cells have one group or task, as numbers."""
    return labels_of(cells, side).column(position)


def positive_position(cells: Cells, role: str) -> int | None:
    """Return the position of the class that one column of scores is about."""
    return cells._task_positions[0] if role == "task" else 1


def with_sides(cells: C, sides: Mapping[SideName, Side]) -> C:
    """Return cells of the same weight with other labels."""
    same = reweighted(cells, cells.weight, sides, cells.repeats, cells.clusters)
    same.poststrata = cells.poststrata
    return same


def with_merged_groups(cells: C, into: Array, names: Names, columns: Names) -> C:
    """Return cells in which groups are merged; `into` is the position of each group's new one."""
    sides: dict[SideName, Side] = dict(sides_of(cells))
    sides.pop("group_pred", None)
    sides["group"] = sides["group"].merged(into, names, columns)
    return distinct(with_sides(cells, sides))


def with_weight(cells: C, weight: Any, repeats: Array | None = None) -> C:
    """Return the same cells with other weights, of `repeats` rows if weights are not counts."""
    return reweighted(cells, weight, cells._sides, repeats)


def reweighted(
    cells: C,
    weight: Array,
    sides: Mapping[SideName, Side],
    repeats: Array | None = None,
    clusters: Clusters | None = None,
) -> C:
    """Return cells with other labels and weights; rows that were left out stay so."""
    how: dict[str, Any] = {"repeats": repeats, "summed": cells.summed, "clusters": clusters}
    return type(cells)(weight, sides, n_dropped=cells.n_dropped, **how)


def take(cells: C, rows: Array, weight: Array) -> C:
    """Return some of the cells, or some of them several times."""
    sides = {
        name: replace(side, labels=side.labels.take(rows)) for name, side in cells._sides.items()
    }
    repeats = None if cells.repeats is None else cells.repeats[rows]
    clusters = None if cells.clusters is None else cells.clusters.take(rows)
    taken = reweighted(cells, weight, sides, repeats, clusters)
    if cells.poststrata is not None:
        taken.poststrata = cells.poststrata[rows]
    return taken


def drawn(cells: C, position: int) -> C:
    """Return one of several draws, without the cells that do not occur in it."""
    weight = cells.weight[position]
    rows = np.flatnonzero(weight)
    return take(cells, rows, weight[rows])


def selected(cells: Cells, role: str, positions: Any) -> dict[SideName, Side]:
    """Return labels and predictions of groups or tasks with only some of the names."""
    sides = cells._sides.items()
    return {name: side.select(positions) for name, side in sides if name.startswith(role)}


def shared(cells: C, role: str) -> C:
    """Return cells whose prediction is what label and prediction have in common."""
    check_option("role", role, ("task", "group"))
    names = cells.tasks if role == "task" else cells.groups
    label: SideName = "task" if role == "task" else "group"
    predicted: SideName = "task_pred" if role == "task" else "group_pred"
    cells.require(label, predicted)
    sides: dict[Any, Side] = dict(cells._sides)
    if cells.summed == "tasks" and role == "task":
        squared: dict[Any, Side] = {SQUARE: sides[BOTH_SQUARE]} if SQUARE in sides else {}
        return with_sides(cells, {**sides, "task_pred": sides[BOTH], **squared})
    both = common(labels_of(cells, label), labels_of(cells, predicted))
    if sides[label].one_label and sides[label].names != names:
        # Only the one task of a binary label is left of its classes.
        sides["task"] = Side(names, labels_of(cells, "task"))
    sides[predicted] = Side(names, both)
    return with_sides(cells, sides)


def as_labels(cells: C) -> C:
    """Return predictions alone as labels, to compare others with them."""
    if cells.soft("task_pred"):
        raise InputError(
            "{y_pred} holds probabilities, and there are no labels that later predictions could "
            "be compared with: pass predicted labels."
        )
    sides = dict(cells._sides)
    sides["task"] = sides.pop("task_pred")
    return with_sides(cells, {name: sides[name] for name in ("group", "task")})


# --------------------------------------------------------------------------- equal cells


def keys_of(cells: Cells) -> Array:
    """Return one row of integers a cell, equal exactly where all labels are."""
    return np.column_stack(list(key_columns(cells)))


def key_columns(cells: Cells) -> Iterator[Array]:
    """Yield the columns of `keys_of` one by one, which takes less memory."""
    for side in cells._sides.values():
        yield from side.labels.keys().T
    if cells.poststrata is not None:
        yield cells.poststrata


def distinct(cells: C) -> C:
    """Merge equal cells. Fractional weights stay apart: each is a row of its own."""
    return cells._distinct()


def of_single_rows(rows: Array) -> Clusters:
    """Return clusters of one row each."""
    return Clusters(np.arange(len(rows)), rows.astype(float))
