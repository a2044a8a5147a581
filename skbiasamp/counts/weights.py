"""What cells weigh: how many rows they are, and which clusters of rows belong together."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

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


# --------------------------------------------------------------------------- weights


class Weighted:
    """Weights of cells, and of how many rows each is if weights are not counts."""

    weight: Array
    n_cells: int
    total: Any  # how many rows there are, or the sum of their weights
    repeats: Array | None
    clusters: Clusters | None
    # If rows are standardised: the cells with which each cell keeps its weight in resamples.
    poststrata: Array | None = None

    @cached_property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that sums and ties are exact."""
        return self.repeats is None and bool(np.array_equal(self.weight, np.rint(self.weight)))

    @cached_property
    def rows(self) -> Array:
        """How many rows each cell is: its weight, or one where weights are fractional."""
        if self.repeats is not None:
            return self.repeats
        # A fractional weight says how much a row counts, not how many rows there are.
        return self.weight if self.whole else np.ones(self.n_cells)

    @property
    def occurs(self) -> Array:
        """Positions of cells that have any weight."""
        return np.flatnonzero(self.weight.reshape(-1, self.n_cells).any(axis=0))

    @cached_property
    def row_weight(self) -> Array:
        """What each row of a cell weighs."""
        none = np.zeros(self.weight.shape)  # what no resample drew has no row, and weighs nothing
        return np.divide(self.weight, self.rows, out=none, where=self.rows > 0)

    @cached_property
    def unit_weight(self) -> Array:
        """What each independent row of a cell weighs.

        Whole weights are that many rows, also beside a few fractional ones. The more weights are
        fractional, the more does each weigh one row: no single weight decides it.
        """
        if self.whole:
            return np.greater(self.weight, 0).astype(float)
        each = self.row_weight
        whole = each == np.rint(each)
        counts = max(0.0, 2 * float(self.rows[whole].sum() / max(self.rows.sum(), 1)) - 1)
        return np.where(whole & (each > 1), counts + (1 - counts) * each, each)

    @cached_property
    def units(self) -> Array:
        """How many independent rows each cell is."""
        if self.whole:
            return np.array(self.weight, dtype=float)
        none = np.array(self.rows, dtype=float)
        return np.divide(self.weight, self.unit_weight, out=none, where=self.unit_weight > 0)

    @cached_property
    def rows_per_weight(self) -> float:
        """How many rows a unit of weight is worth: 1 where weights are repetitions.

        Fractional weights have no unit of their own; theirs is Kish's effective sample size.
        """
        if self.whole:
            return 1.0
        return float(self.weight.sum() / (self.weight @ self.unit_weight))

    @cached_property
    def units_per_weight(self) -> float:
        """How many independent rows a unit of weight is worth, if rows of a cluster are alike."""
        if self.clusters is None:
            return self.rows_per_weight
        of, n = self.clusters
        sizes = np.bincount(of, self.clusters.each(self.weight), minlength=len(n))
        return float(self.weight.sum() / (n @ sizes**2))


def _members(cells: Weighted) -> tuple[Any, Array]:
    """Return which cells are in each poststratum, and what these weigh."""
    at: Any = (np.arange(cells.n_cells), cells.poststrata)
    members = sparse.csr_array((np.ones(cells.n_cells), at))
    return members, cells.weight @ members


def times_too_light(cells: Weighted, drawn: Any) -> Array:
    """Return by how much each poststratum weighs too little in draws (draws × poststrata)."""
    members, weight = _members(cells)
    own = drawn @ members
    return np.divide(weight, own, out=np.ones(own.shape), where=own > 0)


def within_poststrata(cells: Weighted, influences: Any) -> Any:
    """Return influences (sums × cells) less their mean in each poststratum.

    A row that is much of its poststratum pulls the mean to itself, so that it seems to vary too
    little: it counts by its leverage more (HC3).
    """
    members, weight = _members(cells)
    others = 1 - cells.row_weight / (weight @ members.T)
    times = np.divide(1, others, out=np.ones(cells.n_cells), where=others > 1e-9)
    return (influences - ((influences * cells.weight) @ members / weight) @ members.T) * times
