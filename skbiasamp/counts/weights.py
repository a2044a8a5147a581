"""How many rows cells are, and what these weigh."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp.counts.clusters import Clusters


class Weighted:
    """Weights of cells, and of how many rows each is if weights are not counts."""

    weight: Array
    repeats: Array | None
    clusters: Clusters | None
    # If rows are standardised: the cells with which each cell keeps its weight in resamples.
    poststrata: Array | None = None

    @property
    def n_cells(self) -> int:
        """How many cells are held."""
        return int(self.weight.shape[-1])

    @cached_property
    def total(self) -> Any:
        """How many rows there are, or the sum of their weights."""
        total = self.weight.sum(axis=-1)
        return total if np.ndim(total) else float(total)

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
        each = self.row_weight
        if self.whole:
            return each
        whole = each == np.rint(each)
        counts = max(0.0, 2 * float(self.rows[whole].sum() / max(self.rows.sum(), 1)) - 1)
        return np.where(whole & (each > 1), counts + (1 - counts) * each, each)

    @cached_property
    def units(self) -> Array:
        """How many independent rows each cell is."""
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
