"""Folds and resamples of rows, drawn as counts of cells."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    """Put every row into one of the folds at random: (draws, folds, cells), weights."""
    counts = _counts(cells)
    if 8 * cells.n_cells < counts.sum():
        shares = np.full(n_folds, 1 / n_folds)
        drawn = rng.multinomial(counts, shares, size=(n_draws, cells.n_cells))
        folds = np.moveaxis(drawn, -1, 1)
    else:
        # With few rows a cell, drawing rows is faster than drawing counts.
        owner = np.repeat(np.arange(cells.n_cells), counts)
        folds = np.empty((n_draws, n_folds, cells.n_cells), dtype=np.int64)
        for one in folds:
            code = rng.integers(n_folds, size=len(owner)) * cells.n_cells + owner
            one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return folds.astype(float) if cells.whole else folds * cells.weight


def resample(cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Draw rows with replacement, each into a fold at random: (draws, folds, cells), weights.

    Every draw is a sample of its own from the rows, as these are one from the population. Equal
    rows may come into several folds, as equal rows of the population may.
    """
    counts = _counts(cells)
    n = int(counts.sum())
    sizes = rng.multinomial(n, np.full(n_folds, 1 / n_folds), size=n_draws)
    if 8 * cells.n_cells < n:
        folds = rng.multinomial(sizes, counts / n)
        return folds.astype(float) if cells.whole else folds * cells.weight
    owner = None if (counts == 1).all() else np.repeat(np.arange(cells.n_cells), counts)
    starts = np.arange(n_folds) * cells.n_cells
    # Single precision is exact up to 2**24, and halves what the products have to read.
    single = cells.whole and n < 2**24
    drawn = np.empty((n_draws, n_folds, cells.n_cells), np.float32 if single else np.float64)
    for one, size in zip(drawn, sizes, strict=True):
        rows = rng.integers(n, size=n)
        code = np.repeat(starts, size) + (rows if owner is None else owner[rows])
        one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return drawn if cells.whole else drawn * cells.weight


def _counts(cells: Contingency) -> Array:
    """Return how many rows each cell is; with fractional weights each is one."""
    return cells.weight.astype(np.int64) if cells.whole else np.ones(cells.n_cells, np.int64)


def draw_folds(
    cells: Contingency,
    n_folds: int,
    n_draws: int,
    rng: np.random.Generator | None,
    *,
    resampled: bool,
) -> Array:
    """Return the weight of each cell in each fold: (draws, folds, cells)."""
    if rng is None or (n_folds == 1 and not resampled):
        return np.broadcast_to(cells.weight, (n_draws, 1, cells.n_cells))
    return (resample if resampled else split)(cells, n_folds, n_draws, rng)
