"""Growth of distances: draws of their mean, or of the largest, that are not biased by noise.

A distance is never below 0, and the largest of many is the luckiest, so both grow with noise.
Percentiles of resamples have that bias twice: once from the rows, once from the resampling.

The other way is to draw deviations of signed changes only. They count in every direction in which
the distance could lie, and for each pair that could be the largest (Fang and Santos 2019; Andrews
and Soares 2010). That is right if distances are 0 or tie, and too short if they nearly do, where
percentiles are right. So the interval reaches as far as the longer of both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.inference.pairs import Pairs, largest

# What is nearer to the largest than so many standard errors could be the largest.
_NEAR = 3.0


def growth_draws(
    pairs: Pairs, moved: Array, value: Array, base: Array, observed: Array
) -> tuple[Array, Array]:
    """Return draws of each pair's growth and of the value, whose percentiles are the interval.

    `moved` and `value` are those of resamples, `base` and `observed` their distances, draws first.
    """
    before, after = (
        _Deviations(distances, drawn)
        for distances, drawn in zip(pairs.distances, (base, observed), strict=True)
    )
    shift = after.of_sizes() - before.of_sizes()
    if pairs.growth == "largest":
        whole = after.of_largest() - before.of_largest()
    else:
        whole = np.nansum(shift, axis=(1, 2)) / pairs.divisors
    # As far from the estimate as that may be from the truth, in the opposite direction.
    return _longer(moved, pairs.moved - shift), _longer(value, pairs.value - whole)


def _longer(first: Array, second: Array) -> Array:
    """Return draws whose quantiles are, at either end, those of the draws that reach further."""
    first, second = np.sort(first, axis=0), np.sort(second, axis=0)
    half = len(first) // 2
    ends = np.minimum(first[:half], second[:half]), np.maximum(first[half:], second[half:])
    return np.concatenate(ends)


class _Deviations:
    """How far draws of signed changes are from those observed."""

    def __init__(self, observed: Array, drawn: Array) -> None:
        self.observed = observed
        with np.errstate(invalid="ignore"):
            self.drawn = drawn - observed

    def of_sizes(self) -> Array:
        """Return how far the size of each pair may deviate."""
        turned = np.where(self.observed < 0, -self.drawn, self.drawn)
        # A size that is small for its error may as well be on the other side of 0.
        slack = _slack(2 * np.abs(self.observed), 2 * _error(self.drawn))
        return np.fmax(turned, -turned - slack)

    def of_largest(self) -> Array:
        """Return how far the largest size may deviate."""
        largest_by_draw = None
        signed = np.stack([self.observed, -self.observed])
        turn, group, task = np.unravel_index(int(np.nanargmax(signed)), signed.shape)
        top = self.drawn[:, group, task] * (1 - 2 * int(turn))
        for turned, sign in zip(signed, (1, -1), strict=True):
            drawn = sign * self.drawn
            slack = _slack(signed[turn, group, task] - turned, _error(drawn - top[:, None, None]))
            by_draw = largest(drawn - slack)
            largest_by_draw = (
                by_draw if largest_by_draw is None else np.fmax(largest_by_draw, by_draw)
            )
        return np.asarray(largest_by_draw)


def _slack(gap: Array, error: Array) -> Array:
    """Return how far something stays behind the largest, if that is more than chance."""
    return np.maximum(gap - _NEAR * error, 0.0)


def _error(drawn: Array) -> Array:
    """Return standard errors over the first axis."""
    error = np.zeros(drawn.shape[1:])
    known = np.isfinite(drawn).sum(axis=0) > 1
    some = np.where(np.isfinite(drawn[:, known]), drawn[:, known], np.nan)
    error[known] = np.nanstd(some, axis=0, ddof=1)
    return error


def two_sided(draws: Array) -> Any:
    """Return the p-value that a number is 0, of draws around its estimate; NaN if undefined.

    It is below α if the interval of the same draws excludes 0.
    """
    n = (~np.isnan(draws)).sum(axis=0)
    least = np.minimum((draws <= 1e-9).sum(axis=0), (draws >= -1e-9).sum(axis=0))
    p_values = np.minimum(2 * (1 + least) / (1 + n), 1.0)
    return np.where(n > 0, p_values, np.nan)
