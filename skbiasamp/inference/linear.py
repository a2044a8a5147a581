"""Influences of many rows on many tasks, by sums of products of tasks in each group.

In the rows of one group, what a row adds to a pair of group and task is a straight line of what the
row has of the task. So no matrix of rows and pairs is needed: products of two tasks are summed once
a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Members, in_slices


class Sums(NamedTuple):
    """Sums over the rows of one group: how many they are, their values and products of these."""

    number: float
    values: Array
    products: Array


@dataclass(frozen=True, eq=False)
class Linear:
    """What rows add to pairs: a slope of their group × what they have of the task − an offset.

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
