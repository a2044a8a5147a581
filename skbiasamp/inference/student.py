"""Variances that few units carry, and means of skewed numbers: how far Student's t reaches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array
from skbiasamp.counts.cells import Cells
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.independent_signs import FEWEST_ROWS
from skbiasamp.inference.influence import units_carrying, variance_of
from skbiasamp.inference.pairs import Pairs


def student_reach(
    cells: Cells, influence: Callable[[], Array], level: float, most: float = math.inf
) -> float:
    """Return how far Student's t reaches if few clusters, weights or numbers carry a variance.

    There are no more than `most` degrees of freedom. It is 0 if many carry it.
    """
    df = min(degrees_of_freedom(cells, influence), most)
    if df == math.inf:
        return 0.0
    return float(student(df, level)) * variance_of(cells, influence()) ** 0.5


def degrees_of_freedom(cells: Cells, influence: Callable[[], Array]) -> float:
    """Return how many clusters, weights or numbers carry a variance; many are infinitely many.

    A variance of few is itself uncertain. Rows that count once are many: they change a rate no more
    than others do, and have exact bounds where they are few.
    """
    n_units = math.inf if _are_even(cells) else units_carrying(cells, influence())
    return n_units if n_units < FEWEST_ROWS else math.inf


def _are_even(cells: Cells) -> bool:
    """Whether every row counts as much as any other, for itself."""
    n_units = cells.total * cells.units_per_weight
    return bool(np.isclose(n_units, cells.rows.sum(), rtol=1e-9)) and not cells.soft("task")


def student(n_units: Any, level: float) -> Array:
    """Return how many standard errors Student's t reaches, 0 if many units carry the variance."""
    few = np.where(n_units < FEWEST_ROWS, n_units, 1.0)
    return np.where(n_units < FEWEST_ROWS, special.stdtrit(few, (1 + level) / 2), 0.0)


def rows_of_largest(sign: Array, pairs: Pairs, cells: Contingency) -> float:
    """Return the degrees of freedom of the largest pair: if all are small, all of them count."""
    largest = np.max(pairs.n, where=sign != 0, initial=0) * cells.units_per_weight
    return float(largest - 1) if 1 + 1e-12 < largest < FEWEST_ROWS - 1e-9 else math.inf


def skewed_reach(apart: Array, weight: Array, reach: float) -> Array:
    """Return how many standard errors below and above a mean reaches, if numbers are skewed.

    `apart` are the numbers less their mean. Each is Student's reach or, if that is further, its
    correction for skewness (Hall 1992), which is too short if tails are heavy on both sides.
    """
    n, square, cube = (weight @ apart**power for power in (0, 2, 3))
    part = cube / (square**3 / n) ** 0.5 / (6 * n**0.5)
    ends = np.array([reach, -reach])
    if abs(part) > 1e-9:  # else the limit is Student's
        ends = (np.cbrt(1 + 6 * part * (ends - part)) - 1) / (2 * part)
    return np.maximum(reach, ends * [1, -1])
