"""Coded labels: `Codes` and `Members` hold the labels of rows, `Side` gives them names.

A label is one of A, T, T̂ and Â. `Codes` and `Members` have the same interface, so that only few
functions need to know which of them a label is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from skbiasamp._input.checks import Array, Names

# Rows multiplied at a time: a block stays in cache, and sums of 0 and 1 stay exact in single
# precision.
_BLOCK = 1 << 12
# Rows of integers are joined to numbers below this.
_MOST_JOINED = 1 << 62


def in_slices(n_rows: int) -> Iterator[slice]:
    """Return slices of few rows, whose products are fast; one if there are no rows."""
    return (slice(low, low + _BLOCK) for low in range(0, max(n_rows, 1), _BLOCK))


def narrow(codes: Array, width: int) -> Array:
    """Return codes below `width`, or -1, in the smallest integers that hold them.

    Of many rows, each column of codes is held for long. NumPy does not widen small integers in
    products: make them `np.intp` first.
    """
    return codes.astype(np.min_scalar_type(-max(width, 1)), copy=False)


def ranked(values: Array, *, stable: bool = False) -> tuple[Array, Array]:
    """Return where each distinct value is, in their order, and which of them every value is.

    That is `np.unique`, which holds twice as many numbers. If it is `stable`, it is where each is
    first.
    """
    order = np.argsort(values, kind="stable" if stable else None)
    new = np.ones(len(values), dtype=bool)
    in_order = values[order]
    np.not_equal(in_order[1:], in_order[:-1], out=new[1:])
    del in_order
    kind = np.int32 if len(values) < 1 << 31 else np.int64
    rank: Array = np.empty(len(values), dtype=kind)
    rank[order] = np.cumsum(new, dtype=kind)
    rank -= 1
    return order[new], rank


@dataclass(frozen=True, eq=False)
class Codes:
    """Labels as the position of one column a row; -1 is none of the columns.

    Codes may be small integers, see `narrow`.
    """

    codes: Array
    width: int

    soft: ClassVar[bool] = False

    def take(self, rows: Any) -> Codes:
        """Return the labels of some rows."""
        return Codes(self.codes[rows], self.width)

    def select(self, positions: Array) -> Codes:
        """Return the labels with only some columns, in the order given."""
        kind = np.min_scalar_type(-1 - len(positions))
        lookup = np.full(self.width + 1, -1, dtype=kind)  # the last one is for code -1
        lookup[positions] = np.arange(len(positions))
        return Codes(lookup[self.codes], len(positions))

    def onto(self, positions: Array, width: int) -> Codes:
        """Return the labels over `width` columns; `positions` says where the old ones are."""
        return Codes(narrow(np.append(positions, -1), width)[self.codes], width)

    def dense(self, rows: Any, dtype: Any) -> Array:
        """Return the memberships of some rows (rows × columns) as numbers."""
        return (self.codes[rows, None] == np.arange(self.width)).astype(dtype)

    def column(self, position: int) -> Array:
        """Return the membership of every row in one column, as numbers."""
        return (self.codes == position).astype(float)

    def within(self, position: int) -> tuple[Any, Array | None]:
        """Return the rows in a column, and how much of each is in it (None: all)."""
        rows = np.flatnonzero(self.codes == position)
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
            return slice(rows[0], rows[-1] + 1), None  # a slice is no copy
        return rows, None

    def scores(self, scores: Array) -> Array:
        """Return for each row the sum of `scores` (..., columns) over its columns."""
        none = np.zeros((*scores.shape[:-1], 1))
        return np.concatenate([scores, none], axis=-1)[..., self.codes].T

    def own(self, values: Array) -> Array:
        """Return for each row the sum of its `values` (rows × columns) over its columns."""
        own = values[np.arange(len(values)), self.codes]
        return np.where(self.codes >= 0, own, 0.0)

    def keys(self) -> Array:
        """Return integers (rows × some) that are equal exactly where labels are."""
        return self.codes.astype(np.int64, copy=False)[:, None]

    def patterns(self) -> tuple[Array, Array]:
        """Return the distinct rows as memberships, and which one every row is."""
        distinct, code = np.unique(self.codes, return_inverse=True)
        return distinct[:, None] == np.arange(self.width), code


@dataclass(frozen=True, eq=False)
class Members:
    """Labels as a matrix (rows × columns) of 0 and 1; of floats if they are probabilities."""

    matrix: Array

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.matrix.shape[1])

    @property
    def soft(self) -> bool:
        """Whether the matrix holds probabilities."""
        return self.matrix.dtype.kind == "f"

    def take(self, rows: Any) -> Members:
        """Return the labels of some rows."""
        return Members(self.matrix[rows])

    def select(self, positions: Array) -> Members:
        """Return the labels with only some columns, in the order given."""
        return Members(self.matrix[:, positions])

    def onto(self, positions: Array, width: int) -> Members:
        """Return the labels over `width` columns; `positions` says where the old ones are."""
        matrix = np.zeros((len(self.matrix), width), dtype=self.matrix.dtype)
        matrix[:, positions] = self.matrix
        return Members(matrix)

    def dense(self, rows: Any, dtype: Any) -> Array:
        """Return the memberships of some rows (rows × columns) as numbers."""
        return self.matrix[rows].astype(dtype)

    def column(self, position: int) -> Array:
        """Return the membership of every row in one column, as numbers."""
        return self.matrix[:, position].astype(float)

    def within(self, position: int) -> tuple[Any, Array | None]:
        """Return the rows in a column, and how much of each is in it (None: all)."""
        values = self.matrix[:, position]
        rows = np.flatnonzero(values)
        return rows, values[rows] if self.soft else None

    def scores(self, scores: Array) -> Array:
        """Return for each row the sum of `scores` (..., columns) over its columns."""
        # NumPy makes a matrix of floats of one of booleans.
        return np.concatenate(
            [self.matrix[rows] @ scores.T for rows in in_slices(len(self.matrix))]
        )

    def own(self, values: Array) -> Array:
        """Return for each row the sum of its `values` (rows × columns) over its columns."""
        return (values * self.matrix).sum(axis=1)

    def keys(self) -> Array:
        """Return integers (rows × some) that are equal exactly where labels are."""
        if self.soft:
            return np.ascontiguousarray(self.matrix, dtype=float).view(np.int64)
        packed = np.packbits(self.matrix, axis=1)
        # In whole words, and in rows however the matrix lies in memory: a view needs both.
        padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.int64)

    def patterns(self) -> tuple[Array, Array]:
        """Return the distinct rows as memberships, and which one every row is."""
        first, code = self._distinct
        return self.matrix[first], code

    @cached_property
    def _distinct(self) -> tuple[Array, Array]:
        # Resamples share their matrix, so it is sorted once for all of them.
        packed = as_bytes(np.packbits(self.matrix, axis=1))
        _, first, code = np.unique(packed, return_index=True, return_inverse=True)
        return first, code.reshape(-1)


Labels = Codes | Members


def stack(parts: Sequence[Labels]) -> Labels:
    """Return the rows of several parts, which have the same columns."""
    codes = [part.codes for part in parts if isinstance(part, Codes)]
    if len(codes) == len(parts):
        return Codes(np.concatenate(codes), parts[0].width)
    # One model may have labels, and another probabilities.
    kind = float if any(part.soft for part in parts) else bool
    return Members(np.concatenate([part.dense(slice(None), kind) for part in parts]))


def occurring(every: Sequence[Labels]) -> Array:
    """Return which columns any of several labels has."""
    occurs = np.zeros(every[0].width, dtype=bool)
    for labels in every:
        if isinstance(labels, Codes):
            occurs[labels.codes[labels.codes >= 0]] = True
        else:
            occurs |= (labels.matrix != 0).any(axis=0)
    return occurs


def common(labels: Labels, other: Labels) -> Labels:
    """Return what labels and predictions of the same columns share."""
    if isinstance(labels, Codes) and isinstance(other, Codes):
        return Codes(np.where(labels.codes == other.codes, labels.codes, -1), labels.width)
    every = slice(None)
    return Members(labels.dense(every, bool) & other.dense(every, bool))


@dataclass(frozen=True, eq=False)
class Side:
    """One of A, T, T̂ and Â: labels, and the names of their columns.

    Attributes
    ----------
    names : of the columns: groups, or classes, or tasks.
    labels : `Codes` or `Members`.
    one_label : whether the names are the classes of a 1-D label, so that two of them are one task.
    open : whether other data may have other names. Indicator columns are a closed list.
    columns : those whose values make intersection groups.
    pos_label : the positive class of a binary label if one was chosen; one of the names then.
    floats : whether labels came as floats. Of predictions, whether all are 0.0 or 1.0: these may
        be probabilities too.
    inputs : what attackers see of each name if that is no row of numbers, such as an image.
    """

    names: Names
    labels: Labels
    one_label: bool = False
    open: bool = True
    columns: Names = ()
    pos_label: Hashable = None
    floats: bool = False
    inputs: Array | None = None

    @property
    def soft(self) -> bool:
        """Whether the labels are probabilities."""
        return self.labels.soft

    @property
    def is_matrix(self) -> bool:
        """Whether a row may be in several columns, or in a part of one."""
        return isinstance(self.labels, Members)

    def merged(self, into: Array, names: Names, columns: Names) -> Self:
        """Return groups that were merged; `into` is the position of each one's new name."""
        labels = self.labels.onto(into, len(names))
        return replace(self, names=names, labels=labels, columns=columns)

    def select(self, positions: Any) -> Self:
        """Return the labels with only some names, in the order given."""
        names = tuple(self.names[i] for i in positions)
        labels = self.labels.select(np.array(positions, dtype=np.intp))
        return replace(self, names=names, labels=labels)

    def onto(self, names: Names) -> Self:
        """Return the same labels with other names, which include all that there are."""
        if names == self.names:
            return self
        position = {name: i for i, name in enumerate(names)}
        positions = np.array([position[name] for name in self.names], dtype=np.intp)
        return replace(self, names=names, labels=self.labels.onto(positions, len(names)))


def codes_of(side: Side) -> Array:
    """Return the one code a row of labels that are no matrix."""
    assert isinstance(side.labels, Codes)
    return side.labels.codes


# What an engine was asked for in place of rows, where it was.
Summed = Literal["tasks"]


class Rows(NamedTuple):
    """Label rows, distinct where they can be, with their weights.

    `sides` are the labels and predictions that are there, by name. `repeats` says how many rows
    each is where weights are fractional and do not tell. `clusters` are the cluster of each row,
    and how many clusters are like it. `kept` are the positions of the rows that count, if these
    were to stay apart.
    """

    weight: Array
    sides: dict[Any, Side]
    n_dropped: float
    repeats: Array | None = None
    clusters: tuple[Array, Array] | None = None
    summed: Summed | None = None
    kept: Any = None


def side_of_model(side: str, model: str | None) -> Any:
    """Return the name of a model's prediction among several; None if there is one model."""
    return side if model is None else f"{side}:{model}"


def as_bytes(rows: Array) -> Array:
    """Return each row of a 2-D array as one value that can be sorted and compared."""
    rows = np.ascontiguousarray(rows)
    if rows.dtype == np.uint8 and rows.shape[1] <= 8:
        # Integers sort faster than strings of bytes.
        width = next(w for w in (1, 2, 4, 8) if w >= rows.shape[1])
        padded = np.zeros((len(rows), width), np.uint8)
        padded[:, : rows.shape[1]] = rows
        return padded.view(f"u{width}").reshape(-1)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


def as_integers(rows: Array) -> Array:
    """Return one integer for each row of integers, equal exactly where rows are.

    They sort much faster than rows do.
    """
    return join_columns(rows.T, len(rows))


def join_columns(columns: Iterable[Array], n_rows: int) -> Array:
    """Return one integer for each row of some columns, which are read one after the other."""
    joined, size = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns if n_rows else ():
        low, n = int(column.min()), int(column.max()) - int(column.min()) + 1
        if size * n > _MOST_JOINED:  # such as the bits of floats
            first, column = ranked(column)
            low, n = 0, len(first)
        if size * n > _MOST_JOINED:
            first, joined = ranked(joined)
            size, joined = len(first), joined.astype(np.int64)  # wide, since it grows
        # In place: of many rows, each copy is as large as a column of the file.
        joined *= n
        joined += column if low == 0 else np.subtract(column, low, dtype=np.int64)
        size *= n
    return joined


def distinct_rows(rows: Array) -> tuple[Array, Array]:
    """Return where each distinct row of integers is first, and which of these every row is.

    They are in the order of their bytes.
    """
    first, code = ranked(as_integers(rows), stable=True)
    return in_order_of_bytes(rows[first], first, code)


def in_order_of_bytes(rows: Array, first: Array, code: Array) -> tuple[Array, Array]:
    """Return where distinct rows are first, and which each row is, in the order of their bytes."""
    order = np.argsort(as_bytes(rows), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[code]
