"""Influences of many rows on many tasks, by sums of products of tasks in each group.

In the rows of one group, what a row adds to a pair of group and task is a straight line of what the
row has of the task. So no matrix of rows and pairs is needed: products of two tasks are summed once
a group.
"""

from __future__ import annotations

from collections.abc import Iterator
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


class Block(NamedTuple):
    """The rows of one code, with the sums over them of their number, values and products."""

    rows: Array
    number: float
    sums: Array
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

    def _values(self, rows: Any) -> Array:
        """Return the values of some rows: exact in single precision, if they are small integers."""
        labels = [each for part in self.parts for each in part.values]
        whole = all(abs(scale) == 1 and not label.soft for scale, label in labels)
        kind: Any = np.float32 if whole else np.float64
        columns = []
        for part in self.parts:
            of_part = (kind(scale) * label.dense(rows, kind) for scale, label in part.values)
            columns.append(sum(of_part))
        return np.concatenate(columns, axis=1)

    @cached_property
    def _blocks(self) -> list[Block]:
        plain = bool((self.times == 1).all())
        blocks = []
        for code in [*range(self.codes.width), -1]:
            rows = np.flatnonzero(self.codes.codes == code)
            sums: Any = 0.0
            products: Any = 0.0
            for some in in_slices(len(rows)):
                values = self._values(rows[some])
                counted = values if plain else values * self.times[rows[some], None]
                sums = sums + counted.sum(axis=0, dtype=float)
                products = products + counted.T @ values
            blocks.append(Block(rows, float(self.times[rows].sum()), sums, products))
        return blocks

    def _lines(self, pairs: Array) -> Iterator[tuple[Block, Array, Array]]:
        """Return each code's rows, with the slopes (pairs × values) and offsets of some pairs."""
        for code, block in enumerate(self._blocks):
            slopes = []
            for part in self.parts:
                own = np.zeros((len(pairs), part.values[0][1].width))
                own[np.arange(len(pairs)), part.columns[pairs]] = part.slopes[code, pairs]
                slopes.append(own)
            yield block, np.concatenate(slopes, axis=1), self.offsets[code, pairs]

    def gram(self, pairs: Array) -> Array:
        """Return sums over rows of products of what they add to two pairs (pairs × pairs)."""
        total = np.zeros((len(pairs), len(pairs)))
        for block, slopes, offsets in self._lines(pairs):
            mixed = np.outer(slopes @ block.sums, offsets)
            total += slopes @ block.products @ slopes.T - mixed - mixed.T
            total += block.number * np.outer(offsets, offsets)
        return self.unit**2 * total

    def squares(self, pairs: Array, weights: Array) -> Array:
        """Return for each row the sum over two pairs of their weight and what it adds to both."""
        total = np.zeros(len(self.codes.codes))
        for block, slopes, offsets in self._lines(pairs):
            square, linear = slopes.T @ weights @ slopes, 2 * slopes.T @ (weights @ offsets)
            for some in in_slices(len(block.rows)):
                rows = block.rows[some]
                values = self._values(rows).astype(float)
                total[rows] = ((values @ square - linear) * values).sum(axis=1)
            total[block.rows] += offsets @ weights @ offsets
        return self.unit**2 * total
