"""Folds and resamples of rows, or of clusters, drawn as counts of cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._blocks import Blocks, BlockWeights
from skbiasamp._input import Array
from skbiasamp._sums import generator
from skbiasamp.contingency import Contingency


def own_generator(random_state: Any) -> np.random.Generator:
    """Return a generator whose numbers are not those that the same seed gives the user.

    Labels simulated with ``default_rng(0)`` would otherwise decide the folds of ``random_state=0``.
    """
    rng = generator(random_state)
    return rng if rng is random_state else rng.spawn(1)[0]


def split(cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Put every row into one of the folds at random: (draws, folds, cells), weights.

    Rows of a cluster come into one fold.
    """
    counts = _counts(cells)
    size = len(counts)
    if 8 * size < counts.sum():
        shares = np.full(n_folds, 1 / n_folds)
        drawn = rng.multinomial(counts, shares, size=(n_draws, size))
        folds = np.moveaxis(drawn, -1, 1)
    else:
        # With few rows a cell, drawing rows is faster than drawing counts.
        owner = np.repeat(np.arange(size), counts)
        folds = np.empty((n_draws, n_folds, size), dtype=np.int64)
        for one in folds:
            code = rng.integers(n_folds, size=len(owner)) * size + owner
            one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return _weights(cells, folds.astype(float))


def resample(cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Draw rows with replacement, each into a fold at random: (draws, folds, cells), weights.

    Every draw is a sample of its own from the rows, as these are one from the population. Equal
    rows may come into several folds, as equal rows of the population may. Rows of a cluster are
    drawn together.
    """
    counts = _counts(cells)
    size, n = len(counts), int(counts.sum())
    sizes = rng.multinomial(n, np.full(n_folds, 1 / n_folds), size=n_draws)
    if 8 * size < n:
        return _weights(cells, rng.multinomial(sizes, counts / n).astype(float))
    owner = None if (counts == 1).all() else np.repeat(np.arange(size), counts)
    starts = np.arange(n_folds) * size
    # Single precision is exact up to 2**24, and halves what the products have to read.
    single = cells.whole and cells.clusters is None and n < 2**24
    drawn = np.empty((n_draws, n_folds, size), np.float32 if single else np.float64)
    for one, ends in zip(drawn, sizes, strict=True):
        rows = rng.integers(n, size=n)
        code = np.repeat(starts, ends) + (rows if owner is None else owner[rows])
        one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return _weights(cells, drawn)


def _counts(cells: Contingency) -> Array:
    """Return how many are drawn by themselves: clusters of each profile, or rows of each cell.

    With fractional weights each cell is one row.
    """
    if cells.clusters is not None:
        return cells.clusters.n.astype(np.int64)
    return cells.weight.astype(np.int64) if cells.whole else np.ones(cells.n_cells, np.int64)


def _weights(cells: Contingency, drawn: Array) -> Array:
    """Return the weights of cells, of how many rows or clusters were drawn."""
    if cells.clusters is not None:
        return cells.clusters.spread(drawn, cells.weight)
    return drawn if cells.whole else drawn * cells.weight


def draw_folds(
    cells: Contingency,
    n_folds: int,
    n_draws: int,
    rng: np.random.Generator | None,
    *,
    resampled: bool,
    blocks: Blocks | None = None,
) -> Any:
    """Return the weight of each cell in each fold: (draws, folds, cells).

    Where rows are divided into blocks, blocks are drawn as rows are.
    """
    if blocks is not None and rng is not None and (n_folds > 1 or resampled):
        shares = np.full(n_folds, 1 / n_folds)
        if not resampled:
            drawn = rng.multinomial(1, shares, size=(n_draws, blocks.n))
            return BlockWeights(blocks, np.moveaxis(drawn, -1, 1).astype(float))
        sizes = rng.multinomial(blocks.n, shares, size=n_draws)
        even = np.full(blocks.n, 1 / blocks.n)
        return BlockWeights(blocks, rng.multinomial(sizes, even).astype(float))
    if rng is None or (n_folds == 1 and not resampled):
        return np.broadcast_to(cells.weight, (n_draws, 1, cells.n_cells))
    return (resample if resampled else split)(cells, n_folds, n_draws, rng)
