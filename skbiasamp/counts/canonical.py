"""The order of cells, and whether two contingencies hold the same."""

from __future__ import annotations

import numpy as np

from skbiasamp.counts.cells import C, Cells, distinct, keys_of, take


def equal(cells: Cells, other: Cells) -> bool:
    """Return whether both hold the same rows equally often, in whatever order."""
    if (cells.groups, cells.classes, cells.tasks) != (other.groups, other.classes, other.tasks):
        return False
    if set(cells._sides) != set(other._sides):
        return False
    # Cells without weight, their order, and equal cells apart or merged make no difference.
    cells, other = (distinct(take(c, c.occurs, c.weight[..., c.occurs])) for c in (cells, other))
    if (cells.clusters is None) != (other.clusters is None):
        return False
    keys = keys_of(cells), keys_of(other)
    if cells.clusters is not None and other.clusters is not None:
        mine, theirs = cells.clusters, other.clusters
        if not np.array_equal(mine.n, theirs.n):
            return False
        keys = np.column_stack([keys[0], mine.of]), np.column_stack([keys[1], theirs.of])
    if (keys[0].shape, cells.weight.shape) != (keys[1].shape, other.weight.shape):
        return False
    orders = [np.lexsort(key.T[::-1]) for key in keys]
    return bool(
        np.array_equal(keys[0][orders[0]], keys[1][orders[1]])
        and np.array_equal(cells.weight[..., orders[0]], other.weight[..., orders[1]])
    )


def ordered(cells: C) -> C:
    """Return the same cells in an order that only what they hold decides, by group first.

    Random numbers drawn over them are then the same for the same rows in any order, and each
    group's cells are a slice. Equal cells are merged, as `distinct` does.
    """
    if cells._ordered is None:
        given = cells
        if cells.clusters is not None:
            cells = distinct(cells)
        keys, clusters = keys_of(cells), cells.clusters
        # The last key counts most: the group. Weights order rows of equal labels.
        ties = [cells.rows, cells.weight] if clusters is None else [clusters.of]
        order = np.lexsort([*ties, *keys.T[::-1]])
        weight, keys = cells.weight[order], keys[order]
        if cells.whole and clusters is None:
            new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
            order, weight = order[new], np.add.reduceat(weight, np.flatnonzero(new))
        same = np.array_equal(order, np.arange(cells.n_cells))
        in_order = cells if same else take(cells, order, weight)
        in_order._ordered = in_order  # in order already, if it is asked again
        given._ordered = in_order
        cells = given
    result: C = cells._ordered
    return result
