"""Shares of sets of rows, with weights and clusters; intervals of shares and of their ratios.

They hold for few rows and for rates near 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes
from skbiasamp.counts.cells import Cells, labels_of
from skbiasamp.inference.influence import interval_of, unit_sums

_Z = float(stats.norm.isf(0.025))
_HALVINGS = 36
_BLOCK = 1 << 13  # pairs at once: more do not stay in the processor's cache
# Clusters whose rows are all alike, added to those that are there: the variance between few
# clusters is not known well, and seems to be 0 where nobody was selected.
_ADDED = 0.5


def share_interval(share: Any, rows: Any, z: Any = _Z) -> tuple[Array, Array]:
    """Return Wilson's 95 % interval of a share of so many rows; NaN without rows."""
    share, n = np.broadcast_arrays(np.asarray(share, dtype=float), np.asarray(rows, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.clip(share, 0, 1)
        reach = z * np.sqrt(p * (1 - p) / n + (z / n) ** 2 / 4)
        low, high = ((p + z**2 / (2 * n) + side * reach) / (1 + z**2 / n) for side in (-1, 1))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)  # of rounding


def difference_interval(first: Sequence[Any], other: Sequence[Any]) -> tuple[Any, Any]:
    """Return Newcombe's interval of the difference of two shares, each with its own interval."""
    (share, low, high), (base, base_low, base_high) = first, other
    difference = share - base
    return (
        difference - np.hypot(share - low, base_high - base),
        difference + np.hypot(high - share, base - base_low),
    )


def differences_to_lowest(share: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Return how far each share is above the lowest of its task, and the limits of intervals.

    The intervals are Newcombe's, of two shares, and hold for all pairs of a task together (Tukey).
    Shares and their numbers of rows are categories × tasks; a NaN share is in no difference.
    """
    known = ~np.isnan(share)
    z = np.array([critical_values(int(n))[0] for n in known.sum(axis=0)])
    low, high = share_interval(share, rows, z)
    lowest = np.where(known, share, np.inf).argmin(axis=0)[None]
    base, base_low, base_high = (
        np.take_along_axis(values, lowest, axis=0) for values in (share, low, high)
    )
    low, high = difference_interval((share, low, high), (base, base_low, base_high))
    own = np.arange(len(share))[:, None] == lowest
    return share - base, np.where(own, np.nan, low), np.where(own, np.nan, high)


@lru_cache
def critical_values(n_categories: int) -> tuple[float, float]:
    """Return how many standard errors upper and lower limits of ratios to the highest are away.

    Any category may be the highest, so upper limits compare all pairs (Tukey). Lower limits can
    only fail against the category that is truly the highest: they get what is left of 5 %.
    """
    if n_categories < 2:
        return np.nan, np.nan
    others = n_categories - 1
    upper = float(stats.studentized_range.isf(0.05, n_categories, np.inf)) / np.sqrt(2)
    left = 0.05 - others * stats.norm.sf(upper)
    return upper, float(stats.norm.isf(1 - (1 - left) ** (1 / others)))


def ratios_to_highest(
    share: Array, rows: Array, correlation: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return each share over the highest of its task, and the limits of 95 % intervals.

    The intervals are of the ratio to the category that truly has the highest share, which need not
    be the highest in the sample. They hold for all categories of a task together. With two
    categories they are score intervals of one ratio (Koopman, Gart and Nam), cut off at 1.

    Shares and their numbers of rows are categories × tasks; a NaN share is in no ratio. The
    `correlation` of shares is categories × categories × tasks, or None if there is none.
    """
    share, rows = np.asarray(share, dtype=float), np.asarray(rows, dtype=float)
    known = ~np.isnan(share)
    top = np.where(known, share, 0.0).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(known, share / top, np.nan)
    values = [critical_values(int(n)) for n in known.sum(axis=0)]
    upper, lower = np.array(values).reshape(-1, 2).T
    own, base, task = np.nonzero(
        known[:, None] & known[None] & ~np.eye(len(share), dtype=bool)[:, :, None]
    )
    together = 0.0 if correlation is None else correlation[own, base, task]
    pairs = _Pairs(share[own, task], rows[own, task], share[base, task], rows[base, task], together)
    low, high = np.ones(share.shape), np.ones(share.shape)
    # A share is below the highest if it is below any other. Any other may be the highest.
    np.minimum.at(high, (own, task), _limits(pairs, upper[task], -1))
    np.minimum.at(low, (own, task), _limits(pairs, lower[task], 1))
    bounded = ~np.isnan(ratio) & (known.sum(axis=0) > 1)
    low = np.where(share == 0, 0.0, low)
    return ratio, np.where(bounded, low, np.nan), np.where(bounded, high, np.nan)


class _Pairs(NamedTuple):
    """Pairs of shares: each share and its rows, another share and its rows, their correlation."""

    share: Array
    rows: Array
    base: Array
    base_rows: Array
    correlation: Array | float

    def take(self, at: Array) -> _Pairs:
        """Return some of the pairs."""
        return _Pairs(*(np.broadcast_to(part, self.share.shape)[at] for part in self))


def _limits(pairs: _Pairs, critical: Array, side: int) -> Array:
    """Return the lower (side 1) or upper (side -1) limit of each ratio, at most 1."""
    limit = np.ones(len(pairs.share))
    for first in range(0, len(limit), _BLOCK):
        block = np.arange(first, min(first + _BLOCK, len(limit)))
        # A share is too high for ratios below its lower limit, too low for those above its upper.
        reach = side * _score(pairs.take(block), limit[block], side) - critical[block]
        searched = block[side * reach <= 0]
        some, crossed = pairs.take(searched), side * critical[searched]
        low, high = np.zeros(len(searched)), np.ones(len(searched))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = _score(some, middle, side) > crossed
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        limit[searched] = (low + high) / 2
    return limit


def _score(pairs: _Pairs, ratio: Array, side: int) -> Array:
    """Return the difference of shares at a ratio, in standard errors; it falls with the ratio.

    It is Koopman's score, or the same corrected for skewness (Gart and Nam), whichever is less
    far to the side that is asked for: of few rows, each alone rejects too often at one side.
    """
    share, n, other, n_other, correlation = pairs
    both = share * n + other * n_other
    # The likeliest shares that have this ratio: the lower root of a quadratic equation, in the
    # form that does not cancel.
    a = (n + n_other) * ratio
    b = n * ratio + share * n + n_other + other * n_other * ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        base = np.minimum(2 * both / (b + np.sqrt(np.maximum(b**2 - 4 * a * both, 0))), 1)
        own = np.minimum(ratio * base, 1)
        parts = own * (1 - own) / n, ratio**2 * base * (1 - base) / n_other
        apart = parts[0] + parts[1]
        together = apart - 2 * correlation * np.sqrt(parts[0] * parts[1])
        spread = np.sqrt(np.maximum(together, 1e-12 * apart))
        difference = share - ratio * other
        score = np.where(difference == 0, 0.0, difference / spread)
        third = parts[0] * (1 - 2 * own) / n - ratio * parts[1] * (1 - 2 * base) / n_other
        skew = np.where(apart > 0, third / (6 * apart**1.5), 0.0)
        root = np.sqrt(np.maximum(1 + 4 * skew * (score + skew), 0))
        # Again in the form that does not cancel.
        corrected = 2 * (score + skew) / (1 + root)
    nearer = np.minimum if side == 1 else np.maximum
    return nearer(score, corrected) * np.sqrt(1 - 1 / np.maximum(n + n_other, 1))


def mean_change_interval(cells: Cells, change: Array) -> tuple[float, float]:
    """Return the 95 % interval of a mean of what changes in each row between two models.

    A row counts in each of its groups, as in the mean of its groups.
    """
    groups = labels_of(cells, "group")
    times = groups.scores(np.ones(groups.width))
    share = times / (cells.weight @ times)
    value = float(cells.weight @ (share * change))
    # Half a row gained and half a row lost, of which so few rows show nothing.
    unseen = (float(cells.row_weight.max()) / cells.total) ** 2
    return interval_of(cells, value, share * (change - value), 0.95, unseen=unseen)


# --------------------------------------------------------------------------- sets of rows


class Shares(NamedTuple):
    """The weight of sets of rows, the weight of selected ones, and what the shares are worth.

    `rows` is the number of independent rows that have the same variance. The `correlation` of the
    shares is sets × sets, or None if no row and no cluster is in two of them.
    """

    n: Array
    selected: Array
    rows: Array
    correlation: Array | None = None

    @property
    def share(self) -> Array:
        """The selected share of each set; NaN without rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.minimum(self.selected / self.n, 1.0)  # of rounding


@dataclass(frozen=True, eq=False)
class RowSets:
    """Sets of rows, which may overlap: entries of a cell and the set that it is in."""

    cells: Cells
    cell: Any
    owner: Array
    width: int

    @classmethod
    def of_groups(cls, cells: Cells) -> RowSets:
        """Return the rows of each group."""
        labels = labels_of(cells, "group")
        if isinstance(labels, Codes):
            some = labels.codes >= 0
            cell = slice(None) if some.all() else np.flatnonzero(some)  # a slice is no copy
            return cls(cells, cell, labels.codes[cell], labels.width)
        owner, cell = np.nonzero(labels.dense(slice(None), bool).T)
        return cls(cells, cell, owner, labels.width)

    def merged(self, into: Array) -> RowSets:
        """Return larger sets; `into` is the one that each set becomes a part of."""
        return RowSets(self.cells, self.cell, into[self.owner], int(into.max()) + 1)

    def shares(
        self, selected: Array, among: Array | None = None, *, correlated: bool = False
    ) -> Shares:
        """Return the shares of selected rows, among some rows or among all.

        Only if shares are compared with one another does their correlation matter.
        """
        cells, weight, chosen = self.cells, self._weight, selected[self.cell]
        inside: Any = 1.0
        if among is not None:
            inside = among[self.cell]
            weight = weight * inside
        n = self._total if among is None else self._sum(weight)
        k = self._sum(weight * chosen)
        simple = cells.whole and cells.clusters is None
        if simple and not (correlated and self._linked):
            return Shares(n, k, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(k / n, 0, 1)
            binary = share * (1 - share) * n
            # What each row adds to the deviation of a share from its mean.
            deviation = inside * (chosen - share[self.owner])
            rows = n
            if not simple:
                alike = self._squared(inside) / n
                variance = self._squared(deviation) + _ADDED * alike**2
                rows = n * (binary + _ADDED * alike) / variance
                # Never more than there are: a unit of weight counts less if weights differ (Kish).
                rows = np.minimum(rows, n**2 / self._sum(weight * cells.row_weight[self.cell]))
            if not (correlated and self._linked):
                return Shares(n, k, rows)
            scale = np.sqrt(binary * n / rows)
            correlation = self._products(deviation) / (scale[:, None] * scale)
            # What few selected rows have in common is not known well.
            few = np.minimum(share, 1 - share) * rows
            known = np.maximum(1 - 1 / np.minimum(few[:, None], few), 0)
            correlation = np.where(correlation > 0, known * correlation, correlation)
        correlation = np.where(np.isfinite(correlation), np.clip(correlation, -1, 1), 0.0)
        return Shares(n, k, rows, correlation)

    def _sum(self, values: Array) -> Array:
        return np.bincount(self.owner, values, minlength=self.width)

    @cached_property
    def _weight(self) -> Array:
        """The weight of each entry."""
        return np.asarray(self.cells.weight[self.cell], dtype=float)

    @cached_property
    def _total(self) -> Array:
        """The weight of each set."""
        return self._sum(self._weight)

    @cached_property
    def _linked(self) -> bool:
        """Whether a row, or a cluster, is in two sets."""
        sums, _ = self._by_unit(1.0)
        return bool((np.bincount(sums.tocsr().indices) > 1).any())

    def _by_unit(self, values: Any) -> tuple[Any, Array]:
        """Return the sums of entries of each set and independent row, and the number of rows."""
        entries = self.owner, np.arange(self.cells.n_cells)[self.cell]
        each = np.broadcast_to(values, len(self.owner))
        shape = (self.width, self.cells.n_cells)
        return unit_sums(self.cells, sparse.csr_array((each, entries), shape=shape))

    def _squared(self, values: Any) -> Array:
        """Return for each set the sum over rows or clusters of squares of their sums."""
        sums, times = self._by_unit(values)
        return np.asarray((sums * sums) @ times)

    def _products(self, values: Any) -> Array:
        """Return sums over rows or clusters of products, sets × sets."""
        sums, times = self._by_unit(values)
        products = np.asarray(((sums * times) @ sums.T).todense())
        np.fill_diagonal(products, 0.0)
        return products
