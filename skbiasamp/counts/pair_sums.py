"""Weighted sums over rows: how often the columns of two sides occur together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Labels, in_slices
from skbiasamp.counts.blocks import BlockWeights

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
        pair = left.codes[rows] * right.width + right.codes[rows]
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
        return _sums_of_matrices(left, right, weight)
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


def _sums_of_matrices(left: Labels, right: Labels, weight: Array) -> Array:
    plain = bool((weight == 1).all())
    dtype = np.float32 if plain and not (left.soft or right.soft) else np.float64
    sums = np.zeros((left.width, right.width))
    for rows in in_slices(len(weight)):
        block = left.dense(rows, dtype)
        if not plain:
            block = block * weight[rows, None]
        sums += block.T @ right.dense(rows, dtype)
    return sums
