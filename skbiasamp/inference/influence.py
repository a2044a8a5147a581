"""What independent rows, or clusters of rows, add to sums, and the variances that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special

from skbiasamp._input.checks import Array
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
    cells: Cells, value: float, influence: Array, level: float, *, unseen: float = 0.0
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
