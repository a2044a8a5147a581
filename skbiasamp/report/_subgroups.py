"""Subgroups of rows: all that values of several columns make, and the value of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError, quote
from skbiasamp.counts.cells import labels_of, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.inference.association import Association
from skbiasamp.inference.influence import interval
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Estimate, estimate, margin_of
from skbiasamp.report._value_parts import within_rows


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
    members: Sequence[Array],
    *,
    level: float,
) -> pd.DataFrame:
    """Return the value of each subgroup, with intervals that hold for all of them together.

    `members` are the cells of each. `differs` says whether a subgroup differs from all rows, at
    the signs of all rows. The largest deviation counts (max-T), so that of columns that mean
    nothing all intervals include 0, and none differs, in as many data sets as the level says.
    """
    _, every = pairs_of(cells)
    values, differences = _Together(level), _Together(level)
    n_rows = []
    for rows in members:
        test = take(cells, rows, cells.weight[rows])
        n_rows.append(float(test.total))
        _, pairs = pairs_of(test)
        # Rows of one group have no associations.
        number = pairs.measured(level if differ_in_group(test) else None)
        inside = np.isin(np.arange(cells.n_cells), rows)
        labels, predicted = (
            within_rows(cells, labels_of(cells, side), inside) for side in ("task", "task_pred")
        )
        change = predicted - labels
        weights = pairs.aggregate.weights(change.value)
        values.add(number, change, weights * pairs.signs.values)
        between, signs = change - every.change, every.signs
        apart = estimate(between, signs, weights, confidence_level=level)
        differences.add(apart, between, weights * signs.values)
    value, low, high = values.intervals()
    _, below, above = differences.intervals()
    table = pd.DataFrame({"value": value, "rows": n_rows, "low": low, "high": high})
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
