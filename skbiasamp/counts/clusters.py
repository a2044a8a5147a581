"""Clusters: rows of one person, image or family, which belong together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array


class Clusters(NamedTuple):
    """The cluster profile that each cell is of, and how many clusters have each profile.

    Clusters of equal rows have one profile: what is held does not grow with their number.
    """

    of: Array
    n: Array

    @property
    def total(self) -> int:
        """Number of clusters."""
        return int(self.n.sum())

    def take(self, cells: Array) -> Clusters:
        """Return the profiles of some cells; clusters without them are none."""
        kept, of = np.unique(self.of[cells], return_inverse=True)
        return Clusters(of, self.n[kept])

    def apart(self, weight: Array) -> Clusters:
        """Return each cluster by itself, if every row of cells of whole weights is a cell."""
        starts = np.append(0, np.cumsum(self.n))[:-1].astype(np.int64)
        times = self.n[self.of].astype(np.int64)
        of = [
            np.repeat(starts[profile] + np.arange(n), weights // n)
            for profile, n, weights in zip(self.of, times, weight.astype(np.int64), strict=True)
        ]
        return Clusters(np.concatenate(of), np.ones(int(self.n.sum())))

    def each(self, weight: Array) -> Array:
        """Return the weight of each cell in one cluster, of its weight in all."""
        return weight / self.n[self.of]

    def spread(self, drawn: Array, weight: Array) -> Array:
        """Return weights of cells if `drawn` clusters of each profile are there."""
        return drawn[..., self.of] * self.each(weight)

    def sums(self, cells: Array, weight: Array, values: Array) -> Array:
        """Return for one cluster of each profile the sum of `values` (cells × some) over rows."""
        each = self.each(weight)[cells]
        at = (self.of[cells], np.arange(len(cells)))
        whole = sparse.csr_array((each, at), shape=(len(self.n), len(cells)))
        return np.asarray(whole @ values)


def profiled(
    clusters: Clusters, code: Array, rows: Array, row_weight: Array
) -> tuple[Array, Array, Array, Clusters]:
    """Merge equal rows of a cluster, and clusters of equal rows.

    `code` says which cells have equal labels. Returned are the cells that are kept, their rows and
    weights in all clusters, and the clusters, in an order that only what they hold decides.
    """
    _, unit = np.unique(row_weight, return_inverse=True)
    _, entry = np.unique(code * (unit.max() + 1) + unit, return_inverse=True)
    # One entry for each kind of row that a cluster has.
    pair, first, at = np.unique(
        clusters.of * (entry.max() + 1) + entry, return_index=True, return_inverse=True
    )
    n_clusters = np.bincount(at, clusters.each(rows))
    owner, kind = np.divmod(pair, entry.max() + 1)
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    sizes = np.diff(np.append(starts, len(owner)))
    times = clusters.n[owner[starts]]
    kept: list[Array] = []
    of: list[Array] = []
    n: list[Array] = []
    for size in np.unique(sizes):
        mine = starts[sizes == size]
        where = mine[:, None] + np.arange(size)
        content = np.hstack([kind[where].astype(float), n_clusters[where]])
        _, first_of_content, same = np.unique(
            content, axis=0, return_index=True, return_inverse=True
        )
        kept.append(where[first_of_content].ravel())
        of.append(
            np.repeat(np.arange(len(first_of_content)) + sum(len(before) for before in n), size)
        )
        n.append(np.bincount(same.reshape(-1), times[sizes == size]))
    profiles = Clusters(np.concatenate(of), np.concatenate(n))
    cells = np.concatenate(kept)
    rows = n_clusters[cells] * profiles.n[profiles.of]
    return first[cells], rows, rows * row_weight[first[cells]], profiles


def of_single_rows(rows: Array) -> Clusters:
    """Return clusters of one row each."""
    return Clusters(np.arange(len(rows)), rows.astype(float))


def stacked(parts: list[Clusters]) -> Clusters:
    """Return the clusters of several data sets; none of them is in two of these."""
    offsets = np.cumsum([0, *(len(part.n) for part in parts)])
    of = [part.of + low for part, low in zip(parts, offsets, strict=False)]
    return Clusters(np.concatenate(of), np.concatenate([part.n for part in parts]))
