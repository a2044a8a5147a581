"""Numbers of changed clusters, where rows of a cluster depend on one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Labels
from skbiasamp.counts.cells import Cells


class Changes(NamedTuple):
    """How many clusters gain, and lose, a pair of labels, net."""

    gained: Array
    lost: Array


def changes(cells: Cells, after: tuple[Labels, Labels], before: tuple[Labels, Labels]) -> Changes:
    """Return how clusters change from `before` to `after`; each is a label and its condition.

    Arrays are conditions × labels.
    """
    clusters = cells.clusters
    assert clusters is not None
    shape = (after[1].width, after[0].width)
    changed = Changes(np.zeros(shape), np.zeros(shape))
    for condition in range(shape[0]):
        met = [labels_of_side.column(condition) for _, labels_of_side in (after, before)]
        rows = np.flatnonzero(met[0] + met[1])
        parts = [
            labels.take(rows).dense(slice(None), float) * inside[rows, None]
            for (labels, _), inside in zip((after, before), met, strict=True)
        ]
        net = clusters.sums(rows, cells.weight, parts[0] - parts[1])
        changed.gained[condition] = clusters.n @ (net > 1e-9)
        changed.lost[condition] = clusters.n @ (net < -1e-9)
    return changed


def units(cells: Cells, changed: tuple[Array, Array] | None, moved: Any) -> Any:
    """Return how many independent rows a unit of weight is worth, for each pair.

    `moved` are the clusters that changed; if rows changed together, they count once.
    """
    whole = cells.units_per_weight
    if moved is None or changed is None:
        return whole
    rows, clusters = changed[0] + changed[1], moved.gained + moved.lost
    each = np.divide(clusters, rows, out=np.zeros(rows.shape), where=rows > 0)
    return np.where(each > 0, np.minimum(each, 1.0), whole)
