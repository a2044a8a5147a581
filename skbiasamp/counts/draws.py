"""Random draws of cells: rows with replacement, and rows divided between two data sets."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import stack
from skbiasamp._utils.compat import Interval, validate_parameter_constraints
from skbiasamp._utils.random import generator
from skbiasamp.counts.cells import (
    C,
    Cells,
    keys_of,
    of_single_rows,
    reweighted,
    side_of,
    sides_of,
    take,
    with_weight,
)
from skbiasamp.counts.merging import ordered
from skbiasamp.counts.pair_sums import Blocks

_RESAMPLE: dict[str, Any] = {
    "n_resamples": [Interval(Integral, 1, 2**31, closed="left"), None],
    "random_state": ["random_state", np.random.Generator],
}

_FEW_CELLS = 200  # more of them are drawn row by row
# More cells than this are drawn in blocks. Standard errors are then off by some 1.6 % at random,
# as those of 2,000 resamples are.
MANY_CELLS = 20_000
N_BLOCKS = 2_000
_MOST_ROWS = 1 << 24  # of more, a cell has so many that counts are drawn


def resampled(cells: C, n_resamples: int | None, random_state: Any) -> C:
    """Draw rows with replacement; with `n_resamples` weights have a leading axis of draws."""
    how = {"n_resamples": n_resamples, "random_state": random_state}
    validate_parameter_constraints(_RESAMPLE, how, "Contingency.resample")
    rng = generator(random_state)
    cells.require_single("A resample")
    cells.require_rows("A resample")
    cells = ordered(cells)
    weight, rows = _drawn(cells, 1 if n_resamples is None else n_resamples, rng)
    if cells.poststrata is not None:
        # A poststratum that weighs too little in a draw counts more.
        at: Any = (np.arange(cells.n_cells), cells.poststrata)
        members = sparse.csr_array((np.ones(cells.n_cells), at))
        drawn_weight = weight @ members
        times = np.ones(drawn_weight.shape)
        np.divide(cells.weight @ members, drawn_weight, out=times, where=drawn_weight > 0)
        weight = weight * times[:, cells.poststrata]
    if n_resamples is not None:
        return with_weight(cells, weight)
    drawn, drawn_rows = weight[0], None if rows is None else rows[0]
    clusters = cells.clusters
    if clusters is None:
        return with_weight(cells, drawn, drawn_rows)
    each = np.divide(drawn, cells.weight, out=np.zeros(len(drawn)), where=cells.weight > 0)
    n = np.array(clusters.n)
    n[clusters.of] = np.rint(each * clusters.n[clusters.of])
    kept = np.flatnonzero(drawn)
    once = reweighted(cells, drawn, sides_of(cells), drawn_rows, clusters._replace(n=n))
    return take(once, kept, drawn[kept])._distinct()


def in_blocks(cells: Cells) -> bool:
    """Return whether the rows of cells are drawn in blocks: there are many cells."""
    return bool(cells.n_cells > MANY_CELLS and cells.rows.sum() <= _MOST_ROWS)


def divided_into_blocks(cells: Cells, rng: np.random.Generator) -> Blocks | None:
    """Divide the rows of cells in order into blocks at random, if there are many cells.

    Clusters are not divided. If they are fewer than blocks would be, each is a block.
    """
    if not in_blocks(cells):
        return None
    clusters = of_single_rows(cells.rows) if cells.clusters is None else cells.clusters
    times = clusters.n[clusters.of].astype(np.int64)
    rows = np.repeat(np.arange(cells.n_cells), times)
    n_blocks = min(N_BLOCKS, clusters.total)
    # The cluster of each row: the first of its cell, and the place of the row in the cell.
    at = (np.cumsum(clusters.n) - clusters.n).astype(np.int64)[clusters.of][rows]
    at += np.arange(len(rows))
    at -= np.repeat(np.cumsum(times) - times, times)
    of = rng.permutation(np.arange(clusters.total) % n_blocks)[at]
    del at
    weight = clusters.each(cells.weight)[rows]
    shape = (n_blocks, cells.n_cells)
    entries = of.astype(np.int32), rows.astype(np.int32)  # half as large
    return Blocks(sparse.csr_array((weight, entries), shape=shape))


def _drawn(cells: Cells, n_draws: int, rng: np.random.Generator) -> tuple[Array, Array | None]:
    """Return drawn weights, and of how many rows each is if weights are not counts."""
    clusters, n = cells.clusters, int(cells.rows.sum())
    if clusters is not None:
        total = clusters.total
        drawn = rng.multinomial(total, clusters.n / total, size=n_draws)
        rows = clusters.spread(drawn, cells.rows)
    elif 8 * cells.n_cells < n:
        rows = rng.multinomial(n, cells.rows / n, size=n_draws).astype(float)
    else:
        # As many cells as rows: drawing row numbers is faster than drawing counts.
        owner = np.repeat(np.arange(cells.n_cells), cells.rows.astype(int))
        # Single precision is exact up to 2**24, and halves what the products have to read.
        single = cells.whole and n < 2**24
        rows = np.empty((n_draws, cells.n_cells), np.float32 if single else np.float64)
        for draw in rows:
            numbers = rng.integers(0, n, size=n, dtype=np.int32 if n < 2**31 else np.int64)
            picked = numbers if len(owner) == cells.n_cells else owner[numbers]
            draw[:] = np.bincount(picked, minlength=cells.n_cells)
    return (rows, None) if cells.whole else (rows * cells.row_weight, rows)


def divided(before: C, part: C, n_draws: int, rng: np.random.Generator) -> C:
    """Divide the rows of both again: draw as many rows of each group as `part` has, from all.

    Drawn without replacement, so every division is as likely as the one that was seen, if the
    rows of a group are exchangeable. The first contingency is `part` itself. Both must have the
    same groups and tasks.
    """
    _require_no_clusters(before, part)
    mine, theirs = sides_of(before), sides_of(part)
    sides = {
        name: replace(side, labels=stack([side.labels, theirs[name].labels]))
        for name, side in mine.items()
    }
    weight = np.concatenate([before.row_weight, part.row_weight])
    both = reweighted(before, weight, sides, weight)
    n_first = np.concatenate([np.zeros(before.n_cells), part.rows]).astype(np.int64)
    n_all = n_first + np.concatenate([before.rows, np.zeros(part.n_cells)]).astype(np.int64)
    keys = np.column_stack([keys_of(both), np.ascontiguousarray(weight).view(np.int64)])
    # In an order that only what is held decides: draws go by it.
    keys, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    n_all, n_first = (
        np.bincount(cell.reshape(-1), counts).astype(np.int64) for counts in (n_all, n_first)
    )
    weight = weight[first]
    both = take(both, first, weight)
    _, stratum = np.unique(side_of(both, "group").labels.keys(), axis=0, return_inverse=True)
    drawn = np.zeros((n_draws + 1, len(first)), dtype=np.int64)
    drawn[0] = n_first
    for stratum_number in range(stratum.max() + 1):
        own = np.flatnonzero(stratum.reshape(-1) == stratum_number)
        drawn[1:, own] = _some_of(n_all[own], int(n_first[own].sum()), n_draws, rng)
    return with_weight(both, drawn * weight)


def _require_no_clusters(*every: Cells) -> None:
    """Raise if rows of a cluster would be drawn one by one."""
    if any(cells.clusters is not None for cells in every):
        raise InputError(
            "{clusters} cannot be taken into account if rows of two periods are compared: single "
            "rows are drawn. Count both without {clusters}, and read intervals as too narrow."
        )


def resampled_like(cells: C, part: Cells, n_draws: int, rng: np.random.Generator) -> C:
    """Draw rows with replacement, as many of each group as `part` has."""
    _require_no_clusters(cells, part)
    cells = ordered(cells)
    keys = [side_of(table, "group").labels.keys() for table in (cells, part)]
    _, stratum = np.unique(np.vstack(keys), axis=0, return_inverse=True)
    mine, theirs = np.split(stratum.reshape(-1), [cells.n_cells])
    drawn = np.zeros((n_draws, cells.n_cells))
    for number in np.unique(mine):
        own = np.flatnonzero(mine == number)
        n = int(part.rows[theirs == number].sum())
        total = cells.rows[own].sum()
        if n and total:
            drawn[:, own] = rng.multinomial(n, cells.rows[own] / total, size=n_draws)
    return with_weight(cells, drawn * cells.row_weight)


def _some_of(counts: Array, n: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Draw `n` of so many rows a cell, without replacement."""
    if n in (0, counts.sum()):
        return np.tile(counts if n else 0 * counts, (n_draws, 1))
    if len(counts) <= _FEW_CELLS:
        return rng.multivariate_hypergeometric(counts, n, size=n_draws, method="marginals")
    owner = np.repeat(np.arange(len(counts)), counts)
    drawn = np.empty((n_draws, len(counts)), dtype=np.int64)
    for draw in drawn:
        picked = owner[rng.choice(len(owner), n, replace=False, shuffle=False)]
        draw[:] = np.bincount(picked, minlength=len(counts))
    return drawn
