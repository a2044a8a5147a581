"""Intervals that hold for all pairs at once: the bootstrap of the largest deviation (max-T)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp.inference.pairs import Pairs

FLAT = 1e-12


def largest_deviation(draws: Array, level: float) -> tuple[Array, float]:
    """Return each pair's standard error, and how many of them all pairs stay within.

    `draws` are (resamples, groups, tasks). Deviations are standardised, and the largest one of each
    resample counts. Pairs that do not vary take no part.
    """
    error = np.zeros(draws.shape[1:])
    known = (~np.isnan(draws)).sum(axis=0) > 1
    error[known] = np.nanstd(draws[:, known], axis=0, ddof=1)
    varying = error > FLAT
    if not varying.any():
        return error, float(stats.norm.isf((1 - level) / 2))
    some = draws[:, varying]
    deviations = np.abs(some - np.nanmean(some, axis=0)) / error[varying]
    deviations = deviations[~np.isnan(deviations).all(axis=1)]  # some resamples have no pair
    return error, float(np.quantile(np.nanmax(deviations, axis=1), level, method="higher"))


def widened(reach: Array, exact: Array | None, pairs: Pairs, unit: Any, times: float) -> Array:
    """Return distances below and above, at least those that few changed rows allow.

    `exact` are these distances where they are known. A pair that does not vary at all may still
    change in so many rows as are likely not to be seen.
    """
    wide = reach if exact is None else np.fmax(reach, exact)
    tail = float(stats.norm.sf(times))
    with np.errstate(divide="ignore", invalid="ignore"):
        n = pairs.n * unit
        unseen = pairs.per_row * np.where(n > 0, 1 - tail ** (1 / n), np.nan)
    return np.where(reach <= FLAT, np.fmax(wide, unseen), wide)
