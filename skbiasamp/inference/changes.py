"""Rows, and clusters of them, that change from labels to predictions, or between two models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Labels, common
from skbiasamp.counts.cells import Cells, labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.pairs import Pairs


class RowsOfPairs(NamedTuple):
    """What intervals know of rows that change: how many each pair gained and lost, if it is known.

    `unit` is how many independent rows a unit of weight is worth, and `level` that of intervals.
    """

    changed: tuple[Array, Array] | None
    unit: Any
    level: float


def changed_rows(cells: Contingency, pairs: Pairs) -> tuple[Array, Array] | None:
    """Return how many rows each pair gained from label to prediction, and how many it lost.

    None if that cannot be counted: the prediction is in the condition, or is a probability, or
    there is no label to compare with.
    """
    if pairs.compared is None or pairs.own_base:
        return None
    side, given = pairs.compared.observed
    role: Any = side.partition("_")[0]
    if given.endswith("_pred") or not cells.has(role) or cells.soft(side):
        return None

    def rows(rows_of_table: Contingency, name: Any) -> Array:
        joint = rows_of_table.joint(name, given)
        return joint.T if name.startswith("task") else joint

    kept = rows(cells.both(role), side)
    return rows(cells, side) - kept, rows(cells, role) - kept


def pairs_per_changed_row(cells: Contingency, pairs: Pairs, changed: Any) -> float:
    """Return how many pairs a row moves on average if it moves any; NaN if that is not known.

    `changed` are the rows that each pair gained and lost, or None.
    """
    of_tasks = pairs.compared is not None and pairs.compared.observed == ("task_pred", "group")
    # Rows of a cluster, and of several groups, move more pairs than their labels say.
    alone = cells.clusters is None and not cells.indicator and cells.summed != "tasks"
    if changed is None or not (of_tasks and alone):
        return float("nan")
    before, after = (labels_of(cells, name) for name in ("task", "task_pred"))
    first, second, both = (
        labels.scores(np.ones(labels.width)) for labels in (before, after, common(after, before))
    )
    moved = first + second - 2 * both
    n_rows = float(cells.weight @ (moved > 0))
    return float(cells.weight @ moved) / n_rows if n_rows else float("nan")


def changed_clusters(cells: Contingency, pairs: Pairs, changed: Any) -> Array | None:
    """Return how many clusters each pair gained, and how many it lost, from label to prediction.

    None if rows are no clusters, or if the rows that `changed` cannot be counted.
    """
    if cells.clusters is None or pairs.compared is None or changed is None:
        return None
    side, given = pairs.compared.observed
    role: Any = side.partition("_")[0]
    after, before, condition = (
        labels_of(cells, name_of_side) for name_of_side in (side, role, given)
    )
    clusters = changes(cells, (after, condition), (before, condition))
    return clusters if side.startswith("task") else clusters.swapaxes(1, 2)


def changes(cells: Cells, after: tuple[Labels, Labels], before: tuple[Labels, Labels]) -> Array:
    """Return how many clusters gain, and lose, a pair of labels, net (2 × conditions × labels).

    `before` and `after` are a label and its condition.
    """
    clusters = cells.clusters
    assert clusters is not None
    changed = np.zeros((2, after[1].width, after[0].width))
    for condition in range(changed.shape[1]):
        met = [labels_of_side.column(condition) for _, labels_of_side in (after, before)]
        rows = np.flatnonzero(met[0] + met[1])
        parts = [
            labels.take(rows).dense(slice(None), float) * inside[rows, None]
            for (labels, _), inside in zip((after, before), met, strict=True)
        ]
        net = clusters.sums(rows, cells.weight, parts[0] - parts[1])
        changed[:, condition] = [clusters.n @ (net > 1e-9), clusters.n @ (net < -1e-9)]
    return changed


def units(cells: Cells, changed: tuple[Array, Array] | None, moved: Array | None) -> Any:
    """Return how many independent rows a unit of weight is worth, for each pair.

    `moved` are the clusters that changed; if rows changed together, they count once.
    """
    whole = cells.units_per_weight
    if moved is None or changed is None:
        return whole
    rows, clusters = changed[0] + changed[1], moved.sum(axis=0)
    each = np.divide(clusters, rows, out=np.zeros(rows.shape), where=rows > 0)
    return np.where(each > 0, np.minimum(each, 1.0), whole)
