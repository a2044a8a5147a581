"""Poststrata: cells that keep their weight together in resamples, since it was given to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp.counts.weights import Weighted


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
