"""Folds and resamples of rows, or of clusters, drawn as counts of cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import as_integers
from skbiasamp._utils.random import generator
from skbiasamp.counts.cells import keys_of, side_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import Blocks, BlockWeights
from skbiasamp.counts.parts import LABELS


def own_generator(random_state: Any) -> np.random.Generator:
    """Return a generator whose numbers are not those that the same seed gives the user.

    Labels simulated with ``default_rng(0)`` would otherwise decide the folds of ``random_state=0``.
    """
    rng = generator(random_state)
    return rng if rng is random_state else rng.spawn(1)[0]


# Counts are drawn where cells have so many rows or more on average, else rows: that is faster.
_MANY_ROWS = 64
_MOST_DRAWN = 10**9  # rows that NumPy's hypergeometric numbers can be drawn from


def split(cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Put every row into one of the folds at random: (draws, folds, cells), weights.

    If all weights are rows, they are small integers. Rows of a cluster come into one fold. The same
    seed puts the same labels into each fold whatever the predictions are, so that chance makes no
    difference between models of the same rows.
    """
    counts = _counts(cells)
    size = len(counts)
    if _MANY_ROWS * size < counts.sum():
        starts = np.arange(size)
        # Cells of one label, which differ in their predictions, stand together.
        if cells.clusters is None:
            keys = np.hstack([side_of(cells, side).labels.keys() for side in LABELS])
            starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        folds = _counts_in_folds(counts, starts, n_folds, n_draws, rng)
    else:
        # With few rows a cell, drawing rows is faster than drawing counts.
        owner = np.repeat(np.arange(size), counts)
        folds = np.empty((n_draws, n_folds, size), dtype=np.min_scalar_type(counts.max()))
        for fold in folds:
            code = rng.integers(n_folds, size=len(owner))
            code *= size
            code += owner
            fold[:] = np.bincount(code, minlength=fold.size).reshape(fold.shape)
    return _weights(cells, folds)


def _counts_in_folds(
    counts: Array, starts: Array, n_folds: int, n_draws: int, rng: np.random.Generator
) -> Array:
    """Divide counts among folds: (draws, folds, cells).

    First how many rows of each label are in a fold, then which of their predictions: these numbers
    have a generator of their own, so that `rng` is the same afterwards for all models.
    """
    totals = np.add.reduceat(counts, starts)
    if totals.max() >= _MOST_DRAWN:
        starts, totals = np.arange(len(counts)), counts
    n_free = rng.multinomial(totals, np.full(n_folds, 1 / n_folds), size=(n_draws, len(starts)))
    (inner,) = rng.spawn(1)
    folds = np.empty((n_draws, len(counts), n_folds), dtype=np.int64)
    sizes = np.diff(np.append(starts, len(counts)))
    for i in range(sizes.max()):
        last = np.flatnonzero(sizes == i + 1)
        folds[:, starts[last] + i] = n_free[:, last]
        labels = np.flatnonzero(sizes > i + 1)
        cell = starts[labels] + i
        left = np.tile(counts[cell], (n_draws, 1))
        for fold in range(n_folds):
            free, others = n_free[:, labels, fold], n_free[:, labels, fold + 1 :].sum(axis=-1)
            taken = inner.hypergeometric(free, others, left)
            folds[:, cell, fold] = taken
            n_free[:, labels, fold] -= taken
            left -= taken
    return np.moveaxis(folds, -1, 1)


def resample(
    cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator, n_cuts: int = 1
) -> Array:
    """Draw rows with replacement, each into a fold at random: weights (draws x cuts, folds, cells).

    Every draw is a sample of its own from the rows, as these are one from the population. Equal
    rows may come into several folds, as equal rows of the population may. Rows of a cluster are
    drawn together. The rows of a draw are cut into folds `n_cuts` times.
    """
    counts = _counts(cells)
    size, n = len(counts), int(counts.sum())
    shares = np.full(n_folds, 1 / n_folds)
    if 8 * size < n:  # counts are drawn faster than rows
        sizes = rng.multinomial(n, shares, size=n_draws)
        cuts = [rng.multinomial(sizes, counts / n)]
        total = cuts[0].sum(axis=1)
        cuts += [np.moveaxis(rng.multinomial(total, shares), -1, 1) for _ in range(n_cuts - 1)]
        every = np.stack(cuts, axis=1, dtype=float).reshape(-1, n_folds, size)
        return _weights(cells, every)
    owner = np.repeat(np.arange(size), counts)
    starts = np.arange(n_folds) * size
    # Single precision is exact up to 2**24, and halves what the products have to read.
    single = cells.whole and cells.clusters is None and n < 2**24
    drawn = np.empty((n_draws, n_cuts, n_folds, size), np.float32 if single else np.float64)
    for of_draw in drawn:
        ends = rng.multinomial(n, shares)
        cell = owner[rng.integers(n, size=n)]
        for i, folds in enumerate(of_draw):
            fold = starts[rng.integers(n_folds, size=n)] if i else np.repeat(starts, ends)
            folds[:] = np.bincount(fold + cell, minlength=folds.size).reshape(folds.shape)
    return _weights(cells, drawn.reshape(-1, n_folds, size))


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
    rng: np.random.Generator,
    *,
    resampled: bool,
    blocks: Blocks | None = None,
    n_cuts: int = 1,
) -> Any:
    """Return the weight of each cell in each fold: (draws x cuts, folds, cells).

    If rows are divided into blocks, blocks are drawn as rows are. The rows of each resample are cut
    into folds `n_cuts` times.
    """
    if n_folds == 1 and not resampled:
        return np.broadcast_to(cells.weight, (n_draws, 1, cells.n_cells))
    if blocks is not None:
        n, every = blocks.n, n_draws * n_cuts
        drawn = np.arange(n)
        if resampled:
            drawn = np.repeat(rng.integers(n, size=(n_draws, n)), n_cuts, axis=0)
        fold = rng.integers(n_folds, size=(every, n))
        fold += np.arange(every)[:, None] * n_folds
        fold *= n
        fold += drawn
        del drawn
        counts = np.bincount(fold.ravel(), minlength=every * n_folds * n)
        del fold
        return BlockWeights(blocks, counts.reshape(every, n_folds, n).astype(float))
    if resampled:
        return resample(cells, n_folds, n_draws, rng, n_cuts)
    return split(cells, n_folds, n_draws, rng).astype(float)


class Merged(NamedTuple):
    """How cells are merged into others: which of these each is part of, in order of these."""

    cells: Array
    into: Array
    n_cells: int

    def sums(self, weight: Any) -> Any:
        """Return the weights of merged cells, of (..., cells)."""
        if isinstance(weight, BlockWeights):
            return weight.merged(self.into[np.argsort(self.cells)], self.n_cells)
        filled, starts = np.unique(self.into, return_index=True)
        sums = np.zeros((*weight.shape[:-1], self.n_cells), weight.dtype)
        sums[..., filled] = np.add.reduceat(np.take(weight, self.cells, axis=-1), starts, axis=-1)
        return sums


def merged_into(cells: Contingency, others: Contingency) -> Merged:
    """Return how cells are merged into others of the same rows, whose labels are as theirs.

    If several cells of `others` have the same labels, each of them gets some.
    """
    keys = np.vstack([keys_of(others), keys_of(cells)])
    known, code = np.split(as_integers(keys), [others.n_cells])
    in_order, order = np.argsort(known, kind="stable"), np.argsort(code, kind="stable")
    known, code = known[in_order], code[order]
    first, last = (np.searchsorted(known, code, side) for side in ("left", "right"))
    turn = np.arange(len(code)) - np.searchsorted(code, code)
    into = in_order[first + np.minimum(turn, last - first - 1)]
    sort = np.argsort(into, kind="stable")
    return Merged(order[sort], into[sort], others.n_cells)
