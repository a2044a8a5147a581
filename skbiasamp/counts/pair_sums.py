"""Weighted sums over rows: how often the columns of two sides occur together.

Many rows that cannot be tallied are drawn a block at a time. Blocks are made at random, so that
sums over drawn blocks vary as sums over drawn rows do. What a block adds to a sum is counted once
for all draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Labels, in_slices

# Numbers held at once.
_HELD = 1 << 21


@dataclass(frozen=True, eq=False)
class Blocks:
    """A division of rows into blocks: the weight of each cell in each block, mostly 0."""

    weight: sparse.csr_array  # blocks × cells

    @property
    def n(self) -> int:
        """How many blocks there are."""
        return int(self.weight.shape[0])

    def merged(self, into: Array, n_cells: int) -> Blocks:
        """Return the weights of the cells that each cell is merged into; -1 leaves one out."""
        entries = self.weight.tocoo()
        cells, rows, data = into[entries.col], entries.row, entries.data
        if not (kept := cells >= 0).all():
            cells, rows, data = cells[kept], rows[kept], data[kept]
        return Blocks(sparse.csr_array((data, (rows, cells)), shape=(self.n, n_cells)))

    def times(self, values: Array) -> Blocks:
        """Return the weights times a number for each cell."""
        weight = self.weight
        data = weight.data * values[weight.indices]
        return Blocks(sparse.csr_array((data, weight.indices, weight.indptr), shape=weight.shape))


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of cells (draws × cells) where blocks of rows were drawn, and how often each.

    It is read as the array that it stands for, which would not fit into memory.
    """

    blocks: Blocks
    drawn: Array  # (..., blocks)

    dtype = np.dtype(float)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return (*self.drawn.shape[:-1], self.blocks.weight.shape[1])

    @property
    def ndim(self) -> int:
        """Number of axes of the array."""
        return self.drawn.ndim

    def __len__(self) -> int:
        return len(self.drawn)

    def __getitem__(self, draws: Any) -> BlockWeights:
        """Return some draws; all axes but the last can be chosen from."""
        return replace(self, drawn=self.drawn[draws])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        table = np.zeros(self.shape)
        size = max(1, _HELD // max(1, self.shape[-1]))  # blocks whose cells are held at once
        for low in range(0, self.blocks.n, size):
            some = slice(low, low + size)
            table += self.drawn[..., some] @ self.blocks.weight[some].toarray()
        return table if dtype is None else table.astype(dtype)

    def __mul__(self, values: Array) -> BlockWeights:
        """Multiply by a number for each cell."""
        return replace(self, blocks=self.blocks.times(values))

    def __matmul__(self, values: Array) -> Array:
        return np.asarray(self.drawn @ (self.blocks.weight @ values))

    def sum(self, axis: int = -1, keepdims: bool = False) -> Any:
        """Return sums over cells, or over draws."""
        if axis % self.ndim < self.ndim - 1:
            if self.drawn.shape[axis] == 1 and not keepdims:  # nothing is copied
                return replace(self, drawn=self.drawn.squeeze(axis))
            return replace(self, drawn=self.drawn.sum(axis=axis, keepdims=keepdims))
        total = self @ np.ones(self.shape[-1])
        return total[..., None] if keepdims else total

    def reshape(self, *shape: int) -> BlockWeights:
        """Return the same draws along other axes; the last stays."""
        return replace(self, drawn=self.drawn.reshape(*shape[:-1], self.blocks.n))

    def merged(self, into: Array, n_cells: int) -> BlockWeights:
        """Return the weights of the cells that each cell is merged into; -1 leaves one out."""
        return replace(self, blocks=self.blocks.merged(into, n_cells))

    def pair_sums(self, left: Labels, right: Labels) -> Array:
        """Return the weight of the rows in each pair of columns: (..., width, width)."""
        if isinstance(left, Codes) and isinstance(right, Codes):
            pair = np.multiply(left.codes, right.width, dtype=np.intp)  # codes may be narrow
            pair += right.codes
            pair[(left.codes < 0) | (right.codes < 0)] = -1
            table = np.asarray(self.merged(pair, left.width * right.width))
            return table.reshape(*self.shape[:-1], left.width, right.width)
        wider = not isinstance(left, Codes) and left.width > right.width
        if isinstance(right, Codes) or wider:
            return np.swapaxes(self.pair_sums(right, left), -1, -2)
        sums: list[Array] = []
        weight: Any = self.blocks.weight.tocsc()
        for i in range(left.width):
            rows, share = left.within(i)
            inside = right.dense(rows, float)
            if share is not None:
                inside *= share[:, None]
            sums.append(self.drawn @ (weight[:, rows] @ inside))
        return np.stack(sums, axis=-2)


# --------------------------------------------------------------------------- sums over pairs


_MANY_ROWS = 1 << 10  # are counted draw by draw


def everywhere(n_rows: int) -> Codes:
    """Return labels of one column that every row is in."""
    return Codes(np.zeros(n_rows, dtype=np.intp), 1)


def pair_sums(left: Labels, right: Labels, weight: Any) -> Array:
    """Return the weight of the rows in each pair of columns.

    `weight` is (n_rows,) or (n_draws, n_rows); the sums are (width, width) or with a leading
    axis of draws. Sums of whole weights are exact up to 2**53.
    """
    if isinstance(weight, BlockWeights):
        return weight.pair_sums(left, right)
    if isinstance(left, Codes) and isinstance(right, Codes):
        n_pairs = left.width * right.width
        rows = np.flatnonzero((left.codes >= 0) & (right.codes >= 0))
        pair = np.multiply(left.codes[rows], right.width, dtype=np.intp)  # codes may be narrow
        pair += right.codes[rows]
        if weight.ndim == 1:
            sums = np.bincount(pair, weight[rows], minlength=n_pairs).astype(float)
        elif len(rows) == weight.shape[1] and (np.diff(pair) >= 0).all():
            present, starts = np.unique(pair, return_index=True)  # sorted rows need no product
            sums = np.zeros((len(weight), n_pairs))
            sums[:, present] = np.add.reduceat(weight, starts, axis=1)
        elif len(rows) > max(n_pairs, _MANY_ROWS):  # nothing is copied
            sums = np.stack([np.bincount(pair, drawn[rows], n_pairs) for drawn in weight])
        else:
            at = (pair, rows)
            one_hot = sparse.csr_array((np.ones(len(rows)), at), shape=(n_pairs, weight.shape[1]))
            sums = np.asarray((one_hot @ weight.T).T, dtype=float)
        return sums.reshape(*weight.shape[:-1], left.width, right.width)
    if weight.ndim == 1:
        plain = bool((weight == 1).all())
        kind = np.float32 if plain and not (left.soft or right.soft) else np.float64
        sums = np.zeros((left.width, right.width))
        for some in in_slices(len(weight)):
            block = left.dense(some, kind)
            if not plain:
                block = block * weight[some, None]
            sums += block.T @ right.dense(some, kind)
        return sums
    if isinstance(right, Codes):
        return np.swapaxes(pair_sums(right, left, weight), -1, -2)
    # A product for each column of one side needs no more memory than the draws themselves.
    sums = np.empty((len(weight), left.width, right.width))
    # Single precision would leave noise in sums of numbers that do not vary.
    dtype = np.float64 if right.soft else weight.dtype
    for i in range(left.width):
        rows, share = left.within(i)
        drawn = weight[:, rows] if share is None else weight[:, rows] * share
        sums[:, i] = drawn @ right.dense(rows, dtype)
    return sums
