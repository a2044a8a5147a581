"""Paired tests and numbers of changed clusters, where rows of a cluster depend on one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skbiasamp._cells import Cells
from skbiasamp._input import Array, Labels

# Up to so many changed rows the distribution of swaps is computed exactly.
_EXACT = 4000


class Changes(NamedTuple):
    """Clusters that gain and that lose a pair of labels, net, and the p-value of their swaps."""

    gained: Array
    lost: Array
    p_value: Array


def changes(cells: Cells, after: tuple[Labels, Labels], before: tuple[Labels, Labels]) -> Changes:
    """Return how clusters change from `before` to `after`; each is a label and its condition.

    Arrays are conditions × labels. Under the hypothesis that both are alike, all rows of a cluster
    change places together.
    """
    clusters = cells.clusters
    assert clusters is not None
    shape = (after[1].width, after[0].width)
    found = Changes(np.zeros(shape), np.zeros(shape), np.ones(shape))
    for condition in range(shape[0]):
        met = [one.column(condition) for _, one in (after, before)]
        rows = np.flatnonzero(met[0] + met[1])
        parts = [
            labels.take(rows).dense(slice(None), float) * inside[rows, None]
            for (labels, _), inside in zip((after, before), met, strict=True)
        ]
        net = clusters.sums(rows, cells.weight, parts[0] - parts[1])
        found.gained[condition] = clusters.n @ (net > 1e-9)
        found.lost[condition] = clusters.n @ (net < -1e-9)
        for label in range(shape[1]):
            found.p_value[condition, label] = swap_test(net[:, label], clusters.n)
    return found


def swap_test(net: Array, n: Array) -> float:
    """Test that a sum over clusters is 0, if each one's part is as likely to have the other sign.

    `net` is the part of each of `n` clusters. With parts of 1 this is McNemar's exact test.
    """
    size = np.abs(net)
    squares = float(n @ size**2)
    if squares == 0:
        return 1.0
    seen = abs(float(n @ net))
    whole = np.array_equal(size, np.rint(size))
    if not whole or n @ size > _EXACT:
        return float(2 * stats.norm.sf(seen / squares**0.5))
    # The sum of the parts that are picked; the others have the other sign.
    picked = np.ones(1)
    for part in np.unique(size[size > 0]):
        times = int(n[size == part].sum())
        steps = np.zeros(int(part) * times + 1)
        steps[:: int(part)] = stats.binom.pmf(np.arange(times + 1), times, 0.5)
        picked = np.convolve(picked, steps)
    sums = np.abs(2 * np.arange(len(picked)) - (len(picked) - 1))
    return min(float(picked[sums >= seen - 1e-9].sum()), 1.0)


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
