"""Blocks of rows: many rows that cannot be tallied are resampled a block at a time.

Blocks are made at random, so that sums over resampled blocks vary as sums over resampled rows do.
What is counted of a block is counted once for all resamples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skbiasamp._cells import C, sides_of, take, with_sides, with_weight
from skbiasamp._clusters import of_single_rows
from skbiasamp._input import Blocks

# More cells than this are resampled in blocks. Standard errors are then off by some 1.6 % at
# random, and so are those of 2,000 resamples.
MANY_CELLS = 20_000
N_BLOCKS = 2_000
_MOST_ROWS = 1 << 24  # more are so many rows a cell that drawing counts is as fast


def blocked(cells: C, rng: np.random.Generator) -> C:
    """Return cells that are blocks of rows, or of clusters; `cells` are in order.

    Where there are fewer clusters than blocks, each is a block.
    """
    clusters = cells.clusters or of_single_rows(cells.rows)
    times = clusters.n[clusters.of].astype(np.int64)
    # Each row of a cell is one of each of its clusters.
    rows = np.repeat(np.arange(cells.n_cells), times)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    starts = (np.cumsum(clusters.n) - clusters.n).astype(np.int64)
    n_blocks = min(N_BLOCKS, clusters.total)
    of = rng.permutation(np.arange(clusters.total) % n_blocks)[starts[clusters.of[rows]] + nth]
    order = np.argsort(of, kind="stable")
    rows, of = rows[order], of[order]
    weight = clusters.each(cells.weight)[rows]
    whole = np.bincount(of, weight, minlength=n_blocks)
    apart = take(with_weight(cells, cells.weight), rows, weight)
    share = weight / whole[of]
    sides = {
        name: replace(side, labels=Blocks(side.labels, of, share))
        for name, side in sides_of(apart).items()
    }
    return with_sides(with_weight(cells, whole), sides)


def in_blocks(cells: C) -> bool:
    """Return whether cells are so many that blocks of their rows are resampled."""
    return cells.n_cells > MANY_CELLS and cells.rows.sum() <= _MOST_ROWS


def resampled_blocks(blocks: C, n_draws: int, rng: np.random.Generator) -> C:
    """Draw blocks with replacement."""
    n = blocks.n_cells
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=n_draws)
    return with_weight(blocks, drawn * blocks.weight)
