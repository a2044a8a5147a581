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


class Line(NamedTuple):
    """What a row adds to each pair: its code's slope × one of its values − its code's offset.

    `slopes` and `offsets` are codes × pairs; the last code is that of rows without one. `columns`
    says which value each pair follows.
    """

    codes: Codes
    values: Members
    columns: Array
    slopes: Array
    offsets: Array


class Part(NamedTuple):
    """Lines of the same slopes: values are a sum of labels with factors."""

    slopes: Array
    columns: Array
    values: list[tuple[float, Members]]


class Sums(NamedTuple):
    """Sums over the rows of one code: how many they are, their values and products of these."""

    number: float
    values: Array
    products: Array


@dataclass(frozen=True, eq=False)
class Linear:
    """What rows add to pairs: a sum of lines.

    `times` says how often each row is there, and `unit` what it weighs.
    """

    codes: Codes
    parts: list[Part]
    offsets: Array
    times: Array
    unit: float

    @classmethod
    def of(cls, lines: list[tuple[Any, Line]], times: Array, unit: float) -> Linear:
        """Return a sum of lines, each with a factor, or with one for each pair."""
        parts: list[Part] = []
        for factor, line in lines:
            slopes, scale = (line.slopes * factor, 1.0) if np.ndim(factor) else (line.slopes, factor)
            for part in parts:
                if np.array_equal(part.slopes, slopes) and np.array_equal(part.columns, line.columns):
                    part.values.append((scale, line.values))
                    break
            else:
                parts.append(Part(slopes, line.columns, [(scale, line.values)]))
        offsets = sum(factor * line.offsets for factor, line in lines)
        return cls(lines[0][1].codes, parts, np.asarray(offsets), times, unit)

    def _values(self, rows: Any, kind: Any) -> Array:
        """Return the values of some rows as numbers."""
        columns = []
        for part in self.parts:
            # Sums of bytes are much faster.
            exact = np.int8 if self._is_whole else float
            (scale, labels), *others = part.values
            values = labels.dense(rows, exact)
            if scale != 1:
                values *= exact(scale)
            for factor, more in others:
                values += exact(factor) * more.dense(rows, exact)
            columns.append(values)
        every = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        return every.astype(kind, copy=False)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether values are whole numbers from -4 to 4."""
        parts = (part.values for part in self.parts)
        return all(
            len(part) <= 4 and all(abs(scale) == 1 and not labels.soft for scale, labels in part)
            for part in parts
        )

    @cached_property
    def _rows(self) -> list[Array]:
        """The rows of each code, those without one last."""
        codes = self.codes.codes
        return [np.flatnonzero(codes == code) for code in [*range(self.codes.width), -1]]

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

    def _of(self, code: int, pairs: Array) -> tuple[Array, Array]:
        """Return the slopes (pairs × values) and offsets of some pairs."""
        slopes = []
        for part in self.parts:
            own = np.zeros((len(pairs), part.values[0][1].width))
            own[np.arange(len(pairs)), part.columns[pairs]] = part.slopes[code, pairs]
            slopes.append(own)
        return np.concatenate(slopes, axis=1), self.offsets[code, pairs]

    def gram(self, pairs: Array) -> Array:
        """Return sums over rows of products of what they add to two pairs (pairs × pairs)."""
        total = np.zeros((len(pairs), len(pairs)))
        for code, (number, sums, products) in enumerate(self._sums):
            slopes, offsets = self._of(code, pairs)
            mixed = np.outer(slopes @ sums, offsets)
            total += slopes @ products @ slopes.T - mixed - mixed.T
            total += number * np.outer(offsets, offsets)
        return self.unit**2 * total

    def squares(self, known: Array, unsure: Array, beside: Array) -> Array:
        """Return what each row adds to the variance of a sum over pairs.

        `known` are the pairs' weights, and `beside` is what the expected products of two weights
        are beside those of `known`, of some `unsure` pairs.
        """
        total, pairs = np.zeros(len(self.codes.codes)), np.flatnonzero(known)
        for code, rows in enumerate(self._rows):
            slopes, offsets = self._of(code, pairs)
            slope, offset = known[pairs] @ slopes, known[pairs] @ offsets
            slopes, offsets = self._of(code, unsure)
            square = slopes.T @ beside @ slopes
            linear, constant = 2 * offsets @ beside @ slopes, offsets @ beside @ offsets
            for some in in_slices(len(rows)):
                values = self._values(rows[some], float)
                each = (values @ slope - offset) ** 2
                if len(unsure):
                    each += np.einsum("ru,ru->r", values @ square - linear, values) + constant
                total[rows[some]] = each
        return self.unit**2 * total
