"""What independent rows, or clusters of rows, add to sums, and the variances that follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Members, in_slices
from skbiasamp.counts.cells import Cells


def unit_sums(cells: Cells, influences: Any) -> tuple[Any, Array]:
    """Return what each independent row, or cluster, adds to sums of influences (sums × cells).

    Beside it stands how often each of them is there. A whole weight is that many rows; a fractional
    one is one row that counts so much.
    """
    if cells.poststrata is not None:
        # Less their mean in each poststratum. A row that is much of its poststratum pulls the mean
        # to itself, so that it seems to vary too little: it counts by its leverage more (HC3).
        at: Any = (np.arange(cells.n_cells), cells.poststrata)
        members = sparse.csr_array((np.ones(cells.n_cells), at))
        weight = cells.weight @ members
        others = 1 - cells.row_weight / (weight @ members.T)
        times = np.divide(1, others, out=np.ones(cells.n_cells), where=others > 1e-9)
        mean = ((influences * cells.weight) @ members / weight) @ members.T
        influences = (influences - mean) * times
    if cells.clusters is None:
        return influences * cells.unit_weight, cells.units
    of, n = cells.clusters
    inside = (cells.clusters.each(cells.weight), (np.arange(cells.n_cells), of))
    return influences @ sparse.csr_array(inside, shape=(len(of), len(n))), n


def variance_of(cells: Cells, influence: Array) -> float:
    """Return the variance of a sum of influences."""
    sums, times = unit_sums(cells, influence[None])
    return float(((sums * times) @ sums.T)[0, 0])


def degrees_of_freedom(variance: Any, fourth: Any) -> Any:
    """Return by how many independent units variances are carried (Satterthwaite).

    `fourth` are the sums of squares of what units add to the variances.
    """
    ones = np.ones(np.shape(variance))
    return np.maximum(
        np.divide(np.square(variance), fourth, out=ones, where=np.greater(fourth, 0)), 1.0
    )


def interval(value: Any, error: Any, df: Any, confidence_level: float) -> tuple[Any, Any, Any]:
    """Return the interval of Student's t and the p-value of the same test that a number is 0."""
    reach = -special.stdtrit(df, (1 - confidence_level) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.abs(np.divide(value, error))
        p_value = np.where(np.equal(value, 0), 1.0, 2 * special.stdtr(df, -away))
    return value - reach, value + reach, p_value if np.ndim(p_value) else float(p_value)


def interval_of(
    cells: Cells, value: float, influence: Array, level: float, *, unseen: float
) -> tuple[float, float]:
    """Return the interval of a number by what rows add to it: Student's t.

    `unseen` is the variance of half a row gained and half a row lost.
    """
    sums, times = unit_sums(cells, influence)
    n = times.sum()
    parts = sums**2 * n / max(n - 1, 1)
    variance = float(times @ parts) + unseen
    fourth = float(times @ parts**2) + unseen**2 / 2
    low, high, _ = interval(value, variance**0.5, degrees_of_freedom(variance, fourth), level)
    return float(low), float(high)


class Sums(NamedTuple):
    """Sums over the rows of one group: how many they are, their values and products of these."""

    number: float
    values: Array
    products: Array


@dataclass(frozen=True, eq=False)
class Linear:
    """What rows add to pairs: a slope of their group × what they have of the task − an offset.

    In the rows of one group this is a straight line. So no matrix of rows and pairs is needed:
    products of two tasks are summed once a group.

    `slopes` and `offsets` are groups × pairs, those of rows without a group last, and pairs are
    flat groups × tasks. What a row has of the tasks is a sum of `labels`, each with a factor.
    `times` says how often each row is there, and `unit` what it weighs.
    """

    groups: Codes
    labels: list[tuple[float, Members]]
    slopes: Array
    offsets: Array
    times: Array
    unit: float

    def _values(self, rows: Array, kind: Any) -> Array:
        """Return what some rows have of the tasks as numbers."""
        total: Any = None
        for factor, labels in self.labels:
            own = labels.matrix.take(rows, axis=0)
            # Sums of bytes are much faster.
            own = np.int8(factor) * own.view(np.int8) if self._is_whole else factor * own
            total = own if total is None else np.add(total, own, out=total)
        return np.asarray(total.astype(kind, copy=False))

    @cached_property
    def _is_whole(self) -> bool:
        """Whether all values are small whole numbers."""
        each = (abs(factor) == 1 and not labels.soft for factor, labels in self.labels)
        return len(self.labels) <= 4 and all(each)

    @cached_property
    def _rows(self) -> list[Array]:
        """The rows of each group, those without one last."""
        codes = self.groups.codes
        return [np.flatnonzero(codes == code) for code in [*range(self.groups.width), -1]]

    @cached_property
    def _sums(self) -> list[Sums]:
        plain = bool((self.times == 1).all())
        # In single precision, sums of few small whole numbers are exact, and twice as fast.
        kind = np.float32 if self._is_whole and plain else np.float64
        every = []
        for rows in self._rows:
            sums: Any = 0.0
            products: Any = 0.0
            for some in in_slices(len(rows)):
                values = self._values(rows[some], kind)
                times = self.times[rows[some]].astype(kind)
                counted = values if plain else values * times[:, None]
                sums = sums + (times @ values).astype(float)
                products = products + (counted.T @ values).astype(float)
            every.append(Sums(float(self.times[rows].sum()), sums, products))
        return every

    def _of(self, group: int, pairs: Array) -> tuple[Array, Array]:
        """Return the slopes (pairs × tasks) and offsets of some pairs."""
        width = self.labels[0][1].width
        slopes = np.zeros((len(pairs), width))
        slopes[np.arange(len(pairs)), pairs % width] = self.slopes[group, pairs]
        return slopes, self.offsets[group, pairs]

    def gram(self, pairs: Array) -> Array:
        """Return sums over rows of products of what they add to two pairs (pairs × pairs)."""
        total = np.zeros((len(pairs), len(pairs)))
        for group, (number, sums, products) in enumerate(self._sums):
            slopes, offsets = self._of(group, pairs)
            mixed = np.outer(slopes @ sums, offsets)
            total += slopes @ products @ slopes.T - mixed - mixed.T
            total += number * np.outer(offsets, offsets)
        return self.unit**2 * total

    def squares(self, known: Array, unsure: Array, beside: Array) -> Array:
        """Return what each row adds to the variance of a sum over pairs.

        `known` are the pairs' weights, and `beside` is what the expected products of two weights
        are beside those of `known`, of some `unsure` pairs.
        """
        total, pairs = np.zeros(len(self.groups.codes)), np.flatnonzero(known)
        for group, rows in enumerate(self._rows):
            slopes, offsets = self._of(group, pairs)
            slope, offset = known[pairs] @ slopes, known[pairs] @ offsets
            slopes, offsets = self._of(group, unsure)
            square = slopes.T @ beside @ slopes
            linear, constant = 2 * offsets @ beside @ slopes, offsets @ beside @ offsets
            for some in in_slices(len(rows)):
                values = self._values(rows[some], float)
                each = (values @ slope - offset) ** 2
                if len(unsure):
                    each += np.einsum("ru,ru->r", values @ square - linear, values) + constant
                total[rows[some]] = each
        return self.unit**2 * total
