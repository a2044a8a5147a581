"""Subgroups of rows: all that values of several columns make, and the value of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, special

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError, quote
from skbiasamp.counts.cells import Cells, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.changes import RowsOfPairs, changed_rows, pairs_per_changed_row
from skbiasamp.inference.independent_signs import NO_DOUBT, Doubt, Signs, doubted, signs_of
from skbiasamp.inference.influence import (
    mean_variance,
    pair_variances,
    row_influence,
    unit_sums,
)
from skbiasamp.inference.intervals import (
    largest_deviation,
    normal_bounds,
    rests_on_few,
    widen_degenerate,
)
from skbiasamp.inference.pairs import Pairs

_DRAWS, _BLOCK = 1000, 100


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
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the value of each subgroup, with intervals that hold for all of them together.

    `members` are the cells of each. `differs` says whether a subgroup differs from all rows, at
    the signs of all rows. The largest deviation counts in each draw, so that of columns that mean
    nothing all intervals include 0, and none differs, in as many data sets as the level says. A
    subgroup with fewer than 10 rows of a group that counts has no interval, nor one without signs.
    """
    numbers, influences, doubts, few, unseen = [], [], [], [], []
    every: Signs | None = None
    for rows in [np.arange(cells.n_cells), *members]:
        test = take(cells, rows, cells.weight[rows])
        train, pairs = pairs_of(test)
        signs = signs_of(pairs, train, test)
        every = signs if every is None else every
        if signs.directions is not None and every.directions is not None:
            # Few rows may show a direction by chance that all rows do not show.
            signs = signs._replace(directions=signs.directions.within(every.directions))
        doubts.append(signs.doubt(pairs))
        few.append(rests_on_few(signs, pairs, test) or signs.are_idle(pairs))
        unseen.append(_unseen(test, pairs, signs.used))
        numbers.append([pairs.value, float(test.total)])
        for sign in (signs.used, every.used):
            numbers[-1].append(float(pairs.estimate(sign)))
            influence = row_influence(test, pairs, pairs.estimate_gradient(sign), centred=True)
            place = [0, len(rows)]
            influences.append(sparse.csr_array((influence, rows, place), (1, cells.n_cells)))
    table = pd.DataFrame(numbers, columns=["value", "rows", "estimate", "along"])
    # SciPy 1.11 makes a matrix of arrays.
    draws = _normal_sums(cells, sparse.csr_array(sparse.vstack(influences)), rng)
    apart = table.pop("along").to_numpy()
    error, times = largest_deviation((draws[:, 3::2] - draws[:, :1])[:, None], level)
    more = [further(times) for further in unseen[1:]]
    differs = np.abs(apart - apart[0])[1:] > np.hypot(times * error[0], more) + 1e-12
    error, times = largest_deviation(draws[:, None, 2::2], level)
    own = table[1:].reset_index(drop=True)
    reach = times * error[0] + [further(times) for further in unseen[1:]]
    ends = own["estimate"] - reach, own["estimate"] + reach
    own["low"], own["high"] = doubted(ends, Doubt(*np.transpose(doubts[1:])), NO_DOUBT)
    own.loc[few[1:], ["low", "high"]] = np.nan
    return own.assign(differs=differs & ~np.array(few[1:]))


def _unseen(test: Contingency, pairs: Pairs, sign: Array) -> Callable[[float], float]:
    """Return how much further an interval of so many errors reaches where no row of a pair changes.

    Rows that happen not to change are no proof that none would.
    """
    changed, slopes = changed_rows(test, pairs), pairs.estimate_gradient(sign)
    value, variances = float(pairs.estimate(sign)), pair_variances((test, pairs))
    error = mean_variance(test, pairs, slopes, centred=True) ** 0.5
    per_row = partial(pairs_per_changed_row, test, pairs, changed)

    def further(times: float) -> float:
        level = 1 - 2 * float(special.ndtr(-times))
        bounds = normal_bounds(pairs, value, variances, error, sign, level)
        rows = RowsOfPairs(changed, test.units_per_weight, level)
        return float((widen_degenerate(bounds, pairs, rows, per_row).ends - bounds.ends)[1])

    return further


def _normal_sums(cells: Cells, influences: Any, rng: np.random.Generator) -> Array:
    """Return normal draws (draws × sums) of sums of influences (sums × cells)."""
    sums, times = unit_sums(cells, influences)
    spread = (sums * np.sqrt(times)).tocsr()
    blocks = [spread @ rng.normal(size=(spread.shape[1], _BLOCK)) for _ in range(_DRAWS // _BLOCK)]
    return np.concatenate(blocks, axis=1).T
