"""Blocks of rows: many rows that cannot be tallied are drawn a block at a time.

Blocks are made at random, so that sums over drawn blocks vary as sums over drawn rows do. What a
block adds to a sum is counted once for all draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Labels

# Numbers held at once.
_HELD = 1 << 21
# Columns of numbers that are summed one by one: of more, a product for each block is faster.
_FEW_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Blocks:
    """A division of rows into blocks.

    Parameters
    ----------
    rows : the cell that each row is of, block by block.
    weight : of each row.
    starts : where blocks start.
    n_cells : how many cells there are.
    """

    rows: Array
    weight: Array
    starts: Array
    n_cells: int

    @property
    def n(self) -> int:
        """How many blocks there are."""
        return len(self.starts)

    @property
    def ends(self) -> Array:
        """Where blocks end, after the start of the first."""
        return np.append(self.starts, len(self.rows))

    def sums(self, values: Array) -> Array:
        """Return the sums of values of cells (cells × some) in each block."""
        if values.ndim == 1:
            return np.add.reduceat(self.weight * values[self.rows], self.starts)
        summed = np.empty((self.n, values.shape[1]))
        for block, (low, high) in enumerate(pairwise(self.ends)):
            summed[block] = self.weight[low:high] @ values[self.rows[low:high]]
        return summed


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
        return (*self.drawn.shape[:-1], self.blocks.n_cells)

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
        blocks = self.blocks
        times = np.repeat(self.drawn, np.diff(blocks.ends), axis=-1) * blocks.weight
        table = np.zeros(self.shape)
        at: Any = (..., blocks.rows)
        np.add.at(table, at, times)
        return table if dtype is None else table.astype(dtype)

    def __mul__(self, values: Array) -> BlockWeights:
        """Multiply by a number for each cell."""
        blocks = self.blocks
        return replace(self, blocks=replace(blocks, weight=blocks.weight * values[blocks.rows]))

    def __matmul__(self, values: Array) -> Array:
        return np.asarray(self.drawn @ self.blocks.sums(values))

    def sum(self, axis: int = -1, keepdims: bool = False) -> Any:
        """Return sums over cells, or over draws."""
        if axis % self.ndim < self.ndim - 1:
            return replace(self, drawn=self.drawn.sum(axis=axis, keepdims=keepdims))
        total = self @ np.ones(self.blocks.n_cells)
        return total[..., None] if keepdims else total

    def reshape(self, *shape: int) -> BlockWeights:
        """Return the same draws along other axes; the last stays."""
        return replace(self, drawn=self.drawn.reshape(*shape[:-1], self.blocks.n))

    def merged(self, into: Array, n_cells: int) -> BlockWeights:
        """Return the weights of the cells that each cell is merged into."""
        blocks = replace(self.blocks, rows=into[self.blocks.rows], n_cells=n_cells)
        return replace(self, blocks=blocks)

    def pair_sums(self, left: Labels, right: Labels) -> Array:
        """Return the weight of the rows in each pair of columns: (..., width, width)."""
        blocks, n_pairs = self.blocks, left.width * right.width
        left, right = left.take(blocks.rows), right.take(blocks.rows)
        sums = np.zeros((*self.drawn.shape[:-1], n_pairs))
        size = max(1, _HELD // n_pairs)  # blocks whose sums are held at once
        ends = blocks.ends
        for low in range(0, blocks.n, size):
            some = slice(low, min(low + size, blocks.n))
            of_blocks = self._sums_of_blocks(left, right, ends[low : some.stop + 1])
            sums += self.drawn[..., some] @ of_blocks.reshape(-1, n_pairs)
        return sums.reshape(*self.drawn.shape[:-1], left.width, right.width)

    def _sums_of_blocks(self, left: Labels, right: Labels, ends: Array) -> Array:
        """Return the sums of some blocks: (blocks, width, width)."""
        n, weight = len(ends) - 1, self.blocks.weight
        if not isinstance(left, Codes) and isinstance(right, Codes):
            return np.swapaxes(self._sums_of_blocks(right, left, ends), 1, 2)
        if isinstance(left, Codes) and (isinstance(right, Codes) or right.width <= _FEW_COLUMNS):
            rows = slice(ends[0], ends[-1])
            code = np.repeat(np.arange(n) * left.width, np.diff(ends)) + left.codes[rows]
            inside = left.codes[rows] >= 0
            if isinstance(right, Codes):
                inside &= right.codes[rows] >= 0
                code = code * right.width + right.codes[rows]
                columns = [weight[rows]]
            else:
                columns = [weight[rows] * right.column(j)[rows] for j in range(right.width)]
            size = n * left.width * (right.width if len(columns) == 1 else 1)
            code = code[inside]
            counts = [np.bincount(code, column[inside], minlength=size) for column in columns]
            return np.stack(counts, axis=-1).reshape(n, left.width, right.width)
        products = np.empty((n, left.width, right.width))
        for block, (low, high) in enumerate(pairwise(ends)):
            rows = slice(low, high)
            share = weight[rows, None] * left.dense(rows, float)
            products[block] = share.T @ right.dense(rows, float)
        return products
