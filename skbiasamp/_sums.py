"""Weighted sums over cells: how often the columns of two sides occur together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skbiasamp._input import Array

# Cells multiplied at a time: a block stays in cache, and sums of 0 and 1 stay exact in single
# precision.
_BLOCK = 1 << 11
# Numbers drawn at once. What is drawn depends on it and on the data alone, never on how many
# jobs share the work.
_DRAWN = 1 << 21


class View(NamedTuple):
    """A side's columns over cells: one code a cell (-1: none of them), or a matrix."""

    width: int
    codes: Array | None
    matrix: Array | None

    @property
    def soft(self) -> bool:
        return self.matrix is not None and self.matrix.dtype.kind == "f"


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator; None is fresh entropy, never NumPy's global state."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint32)
    return np.random.default_rng(random_state)


def chunks(n_draws: int, numbers: int) -> list[int]:
    """Return how many draws to make at a time, where each is so many numbers."""
    size = max(1, _DRAWN // numbers)
    return [min(size, n_draws - low) for low in range(0, n_draws, size)]


def pair_sums(left: View, right: View, weight: Array) -> Array:
    """Return the weight of the cells in each pair of columns.

    `weight` is (n_cells,) or (n_draws, n_cells); the sums are (width, width) or with a leading
    axis of draws. Sums of whole weights are exact up to 2**53.
    """
    if left.codes is not None and right.codes is not None:
        return _sums_of_codes(left, right, weight)
    if weight.ndim == 1:
        return _sums_of_matrices(left, right, weight)
    if left.codes is None and right.codes is not None:
        return np.swapaxes(pair_sums(right, left, weight), -1, -2)
    sums = np.empty((len(weight), left.width, right.width))
    for i in range(left.width):
        cells, share = _members(left, i)
        drawn = weight[:, cells] if share is None else weight[:, cells] * share
        sums[:, i] = drawn @ dense(right, cells, weight.dtype)
    return sums


def _sums_of_codes(left: View, right: View, weight: Array) -> Array:
    assert left.codes is not None
    assert right.codes is not None
    n_pairs = left.width * right.width
    cells = np.flatnonzero((left.codes >= 0) & (right.codes >= 0))
    pair = left.codes[cells] * right.width + right.codes[cells]
    if weight.ndim == 1:
        sums = np.bincount(pair, weight[cells], minlength=n_pairs).astype(float)
    elif len(cells) == weight.shape[1] and (np.diff(pair) >= 0).all():
        present, starts = np.unique(pair, return_index=True)  # sorted cells need no product
        sums = np.zeros((len(weight), n_pairs))
        sums[:, present] = np.add.reduceat(weight, starts, axis=1)
    else:
        one_hot = sparse.csr_array(
            (np.ones(len(cells)), (pair, cells)), shape=(n_pairs, weight.shape[1])
        )
        sums = np.asarray((one_hot @ weight.T).T, dtype=float)
    return sums.reshape(*weight.shape[:-1], left.width, right.width)


def _sums_of_matrices(left: View, right: View, weight: Array) -> Array:
    plain = bool((weight == 1).all())
    dtype = np.float32 if plain and not (left.soft or right.soft) else np.float64
    sums = np.zeros((left.width, right.width))
    for low in range(0, len(weight), _BLOCK):
        cells = slice(low, low + _BLOCK)
        block = dense(left, cells, dtype)
        if not plain:
            block = block * weight[cells, None]
        sums += block.T @ dense(right, cells, dtype)
    return sums


def dense(view: View, rows: Any, dtype: Any) -> Array:
    """Return the membership of some cells as numbers."""
    if view.matrix is not None:
        return view.matrix[rows].astype(dtype)
    assert view.codes is not None
    return (view.codes[rows, None] == np.arange(view.width)).astype(dtype)


def _members(view: View, position: int) -> tuple[Any, Array | None]:
    """Return the cells in a column, and how much of each is in it (None: all)."""
    if view.codes is not None:
        cells = np.flatnonzero(view.codes == position)
        if len(cells) and cells[-1] - cells[0] + 1 == len(cells):
            return slice(cells[0], cells[-1] + 1), None  # sorted cells need no copy
        return cells, None
    assert view.matrix is not None
    values = view.matrix[:, position]
    cells = np.flatnonzero(values)
    return cells, values[cells] if values.dtype.kind == "f" else None


def pair_scores(groups: View, tasks: View, scores: Array) -> Array:
    """Return for each cell the sum of `scores` (groups × tasks) over the pairs it is in."""
    if tasks.codes is not None:
        padded = np.hstack([scores, np.zeros((len(scores), 1))])  # code -1: no task
        if groups.codes is not None:
            return np.where(groups.codes >= 0, padded[groups.codes, tasks.codes], 0.0)
        by_group = padded[:, tasks.codes].T
    else:
        assert tasks.matrix is not None
        by_group = tasks.matrix @ scores.T
    if groups.codes is not None:
        own = by_group[np.arange(len(by_group)), groups.codes]
        return np.where(groups.codes >= 0, own, 0.0)
    assert groups.matrix is not None
    return (by_group * groups.matrix).sum(axis=1)


def column_scores(view: View, scores: Array) -> Array:
    """Return for each cell the sum of `scores` over the columns it is in."""
    if view.codes is not None:
        return np.append(scores, 0.0)[view.codes]
    assert view.matrix is not None
    return view.matrix @ scores


def column(view: View, position: int) -> Array:
    """Return one column's membership as numbers."""
    if view.codes is not None:
        return (view.codes == position).astype(float)
    assert view.matrix is not None
    return view.matrix[:, position].astype(float)
