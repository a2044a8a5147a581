"""Sets of rows, such as all that values of several columns make, and the value of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, special

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.labels import Codes
from skbiasamp.counts.cells import Cells, labels_of, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.inference.association import Association
from skbiasamp.inference.influence import interval, interval_of, unit_sums
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Estimate, estimate, margin_of
from skbiasamp.report._value_parts import within_rows

# Clusters whose rows are all alike, added to those that are there: the variance between few
# clusters is not known well, and seems to be 0 where nobody was selected.
_ADDED = 0.5


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


class Subgroup(NamedTuple):
    """Values of some columns, and which strata have them."""

    columns: Names
    values: Names
    strata: Array


def subgroups_of(
    columns: Names, strata: Names, rows: Array, *, depth: int, min_rows: float
) -> list[Subgroup]:
    """Return all subgroups of up to `depth` columns that have at least so many rows.

    A stratum is a value of each column, and `rows` are those of each stratum.
    """
    values = pd.DataFrame([name if len(columns) > 1 else (name,) for name in strata])
    subgroups = []
    for size in range(1, depth + 1):
        for chosen in combinations(range(len(columns)), size):
            code = values.groupby(list(chosen), sort=False).ngroup().to_numpy()
            n = np.bincount(code, rows)
            if size == 1 and n.max() < min_rows:
                raise InputError(
                    "{frame}: no value of {column} is in {n} rows. Bin numbers first, or choose a "
                    "smaller {min_rows}.",
                    column=quote([columns[chosen[0]]]),
                    n=min_rows,
                )
            for large in np.flatnonzero(n >= min_rows):
                own = values.iloc[int(np.argmax(code == large)), list(chosen)]
                names = tuple(columns[i] for i in chosen)
                subgroups.append(Subgroup(names, tuple(own), code == large))
    return subgroups


def assess_subgroups(
    pairs_of: Callable[[Contingency], tuple[Contingency, Pairs]],
    cells: Contingency,
    members: Sequence[tuple[str, Array]],
    *,
    level: float,
) -> pd.DataFrame:
    """Return the value of each subgroup, with intervals that hold for all of them together.

    `members` are the name and the cells of each; rows of one group alone have nothing to compare,
    and are left out. `differs` says whether a subgroup differs from all rows, at the signs of all
    rows. The largest deviation counts (max-T), so that of columns that mean nothing all intervals
    include 0, and none differs, in as many data sets as the level says.
    """
    _, every = pairs_of(cells)
    values, differences = _Together(level), _Together(level)
    names, n_rows, most = [], [], []
    for name, rows in members:
        test = take(cells, rows, cells.weight[rows])
        if not differ_in_group(test):
            continue
        names.append(name)
        n_rows.append(float(test.total))
        _, pairs = pairs_of(test)
        number = pairs.measured(level)
        inside = np.isin(np.arange(cells.n_cells), rows)
        labels, predicted = (
            within_rows(cells, labels_of(cells, side), inside) for side in ("task", "task_pred")
        )
        change = predicted - labels
        weights = pairs.aggregate.weights(change.value)
        values.add(number, change, weights * pairs.signs.values)
        most.append(max(pairs.most, abs(number.value)))
        between, signs = change - every.change, every.signs
        apart = estimate(between, signs, weights, confidence_level=level)
        differences.add(apart, between, weights * signs.values)
    if not names:
        raise InputError("{frame}: no value of its columns is in rows of two groups.")
    value, low, high = values.intervals()
    _, below, above = differences.intervals()
    low, high = np.clip([low, high], np.negative(most), most)
    table = pd.DataFrame(
        {"subgroup": names, "value": value, "rows": n_rows, "low": low, "high": high}
    )
    return table.assign(differs=~np.isnan(low) & ((below > 0) | (above < 0)))


class _Together:
    """Numbers of the same rows, whose intervals hold together."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.numbers: list[Estimate] = []
        self.moved: list[Array] = []

    def add(self, number: Estimate, change: Association, weights: Array) -> None:
        """Add a number: what it changes, and what each pair counts."""
        ((moved, times, jackknife),) = change.project(weights)
        self.numbers.append(number)
        self.moved.append(moved * np.sqrt(jackknife * times))

    def intervals(self) -> tuple[Array, Array, Array]:
        """Return the numbers, and the ends of their intervals."""
        values, errors, df = (
            np.array([getattr(number, name) for number in self.numbers])
            for name in ("value", "standard_error", "degrees_of_freedom")
        )
        moved = np.stack(self.moved)[errors > 0]
        scale = errors[errors > 0]
        # What signs that labels leave open add to an error is the number's own.
        correlation = moved @ moved.T / np.outer(scale, scale)
        np.fill_diagonal(correlation, 1.0)
        level = 1 - 2 * float(special.ndtr(-margin_of(correlation, self.level)))
        low, high, _ = interval(values, errors, df, level)
        return values, low, high
