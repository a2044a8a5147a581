"""The order of cells, and whether two contingencies hold the same."""

from __future__ import annotations

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import join_columns
from skbiasamp.counts.cells import (
    C,
    Cells,
    distinct,
    key_columns,
    keys_of,
    labels_of,
    sides_of,
    take,
    with_sides,
)
from skbiasamp.counts.pair_sums import pair_sums


def equal(cells: Cells, other: Cells) -> bool:
    """Return whether both hold the same rows equally often, in whatever order."""
    if (cells.groups, cells.classes, cells.tasks) != (other.groups, other.classes, other.tasks):
        return False
    if (set(cells._sides), cells.weight.ndim) != (set(other._sides), other.weight.ndim):
        return False
    # Cells without weight, their order, and equal cells apart or merged make no difference.
    mine, theirs = (
        _in_order(distinct(take(c, c.occurs, c.weight[..., c.occurs]))) for c in (cells, other)
    )
    return np.array_equal(mine, theirs)


def _in_order(cells: Cells) -> Array:
    """Return all that cells hold as one row of integers a cell, in an order of their own."""
    weights = np.atleast_2d(cells.weight).astype(float)
    table = [keys_of(cells), np.ascontiguousarray(weights.T).view(np.int64)]
    if cells.clusters is not None:
        of, n = cells.clusters
        table.append(np.column_stack([of, n[of].astype(np.int64)]))
    rows = np.hstack(table)
    return np.asarray(rows[np.lexsort(rows.T[::-1])])


def groups_by_counts(cells: C) -> C:
    """Return cells whose groups are in the order of their counts; those without rows last.

    Random numbers drawn over `ordered` cells then do not depend on the names of groups.
    """
    own = {name: side for name, side in sides_of(cells).items() if name.startswith("group")}
    known = cells.has("task") and not cells.soft("task") and not cells.soft("group")
    if not known or any(side.is_matrix for side in own.values()):
        return cells
    joint = pair_sums(labels_of(cells, "group"), labels_of(cells, "task"), cells.weight)
    n = cells.count("group")
    rest = n - joint.sum(axis=1)  # of a binary label only one class is counted
    keys = [(m == 0, m, *np.sort([*row, r])) for m, row, r in zip(n, joint, rest, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    moved = {name: side.select(order) for name, side in own.items()}
    return with_sides(cells, {**sides_of(cells), **moved})


def ordered(cells: C) -> C:
    """Return the same cells in an order that only what they hold decides, by group first.

    Random numbers drawn over them are then the same for the same rows in any order, and each
    group's cells are a slice. Equal cells are merged, as `distinct` does.
    """
    if cells._ordered is None:
        given = cells
        if cells.clusters is not None:
            cells = distinct(cells)
        labels, clusters = join_columns(key_columns(cells), cells.n_cells), cells.clusters
        # The last key counts most. Weights order rows of equal labels.
        ties = [cells.rows, cells.weight] if clusters is None else [clusters.of]
        order = np.lexsort([*ties, labels])
        weight, labels = cells.weight[order], labels[order]
        if cells.whole and clusters is None:
            new = np.append(True, labels[1:] != labels[:-1])
            order, weight = order[new], np.add.reduceat(weight, np.flatnonzero(new))
        same = np.array_equal(order, np.arange(cells.n_cells))
        in_order = cells if same else take(cells, order, weight)
        in_order._ordered = in_order  # in order already, if it is asked again
        given._ordered = in_order
        cells = given
    result: C = cells._ordered
    return result
