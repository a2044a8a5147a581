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
    """Put every row into one of the folds at random: (draws, folds, cells), counts of rows."""
    counts = cells.weight.astype(np.int64) if cells.whole else np.ones(cells.n_cells, np.int64)
    if 8 * cells.n_cells < counts.sum():
        shares = np.full(n_folds, 1 / n_folds)
        folds = rng.multinomial(counts, shares, size=(n_draws, cells.n_cells))
        return np.moveaxis(folds, -1, 1)
    # With few rows a cell, drawing rows is faster than drawing counts.
    owner = np.repeat(np.arange(cells.n_cells), counts)
    folds = np.empty((n_draws, n_folds, cells.n_cells), dtype=np.int64)
    for one in folds:
        code = rng.integers(n_folds, size=len(owner)) * cells.n_cells + owner
        one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return folds


def redraw(folds: Array, rng: np.random.Generator) -> Array:
    """Resample the rows of each fold with replacement: a row's duplicates stay in its fold."""
    sizes = folds.sum(axis=-1)
    n_cells = folds.shape[-1]
    if 8 * n_cells < sizes.max(initial=0):
        shares = folds / np.maximum(sizes, 1)[..., None]
        shares[sizes == 0] = 1 / n_cells  # of an empty fold nothing is drawn
        return rng.multinomial(sizes, shares)
    drawn = np.zeros(folds.shape, dtype=np.int64)
    for counts, out in zip(folds.reshape(-1, n_cells), drawn.reshape(-1, n_cells), strict=True):
        owner = np.repeat(np.arange(n_cells), counts)
        if len(owner):
            rows = owner[rng.integers(len(owner), size=len(owner))]
            out[:] = np.bincount(rows, minlength=n_cells)
    return drawn


def weighed(cells: Contingency, counts: Array) -> Array:
    """Return counts of rows as weights."""
    return counts.astype(float) if cells.whole else counts * cells.weight


def draw_folds(
    cells: Contingency,
    n_folds: int,
    n_draws: int,
    rng: np.random.Generator | None,
    *,
    resample: bool,
) -> Array:
    """Return the weight of each cell in each fold: (draws, folds, cells)."""
    if rng is None or (n_folds == 1 and not resample):
        return np.broadcast_to(cells.weight, (n_draws, 1, cells.n_cells))
    folds = split(cells, n_folds, n_draws, rng)
    return weighed(cells, redraw(folds, rng) if resample else folds)
