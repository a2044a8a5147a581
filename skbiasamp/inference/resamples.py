"""Resamples of the audited rows, and what a metric says about them.

A distance is never below 0, and the largest of many is the luckiest, so both grow with noise.
Percentiles of resamples have that bias twice: once from the rows, once from the resampling.

The other way is to draw deviations of signed changes only. They count in every direction in which
the distance could lie, and for each pair that could be the largest (Fang and Santos 2019; Andrews
and Soares 2010). That is right if distances are 0 or tie, and too short if they nearly do, where
percentiles are right. So the interval reaches as far as the longer of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.random import chunks, generator
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.draws import divided_into_blocks, resampled_blocks
from skbiasamp.inference.pairs import Pairs, largest

# What is nearer to the largest than so many standard errors could be the largest.
_NEAR = 3.0
# What is measured of resamples: a named tuple of arrays, or None, with draws first.
D = TypeVar("D", bound=tuple[Any, ...])


class Drawn(NamedTuple):
    """What a metric says about resamples: each pair's amplification, value and estimate.

    `predicted` is the mean association in the predictions, if there is no other way to know how it
    varies.
    """

    moved: Array
    value: Array
    estimate: Array
    # What sizes are of.
    base: Array | None = None
    observed: Array | None = None
    predicted: Array | None = None
    # Changes of all pairs, if noise chose which of them count.
    change: Array | None = None

    @classmethod
    def of(cls, pairs: Pairs, sign: Array, data: Pairs) -> Self:
        """Return what is needed of the pairs of resamples of data."""
        moved = pairs.moved
        if pairs.undirected:
            # A resample without any of the few labelled rows of a pair says nothing of it.
            known, names = ~np.isnan(pairs.delta), ("base", "observed", "slope")
            both = [(getattr(pairs, name), getattr(data, name)) for name in names]
            filled = [np.where(known, *of) for of in both]
            pairs = replace(pairs, **dict(zip(names, filled, strict=True)))
        base, observed = (None, None) if pairs.growth is None else pairs.distances
        own = np.asarray(pairs.estimate(sign))
        value, predicted = np.asarray(pairs.value) if pairs.apart else own, None
        if pairs.rates is None and pairs.centre is not None:
            predicted = np.asarray(pairs.predicted_association(sign))
        change = pairs.delta if pairs.are_chosen else None
        return cls(moved, value, own, base, observed, predicted, change)

    def around(self, pairs: Pairs, sign: Array) -> Self:
        """Return draws whose percentiles are the interval, although noise makes them too large."""
        if pairs.undirected:
            # Relative changes divide by rates that are noisy themselves, so their mean is too large
            # on average, and that of a resample twice as much. Small rates are the noisiest, so
            # that signs do not cancel it.
            data = self.of(pairs, sign, pairs)
            value, own = (
                draws - 2 * (np.nanmean(draws) - number)
                for draws, number in ((self.value, data.value), (self.estimate, data.estimate))
            )
            return self._replace(value=value, estimate=own)
        if self.base is None or self.observed is None:
            return self
        moved, value = growth_draws(pairs, self.moved, self.value, self.base, self.observed)
        return self._replace(moved=moved, value=value, estimate=value)


def draws_of_all(parts: Sequence[D]) -> D:
    """Return the draws of all parts, which are tuples of arrays."""
    every: list[Any] = [
        None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)
    ]
    return type(parts[0])(*every)


def measure_resamples(
    measured: Callable[[Contingency], tuple[D, ...]],
    test: Contingency,
    n_resamples: int,
    *,
    random_state: Any,
    n_jobs: int | None,
) -> tuple[D, ...]:
    """Measure resamples of the audited rows, in chunks that fit into memory.

    Many rows that cannot be tallied are resampled in blocks.
    """
    cells = ordered(test)
    seed = np.random.SeedSequence(generator(random_state).integers(2**63, size=2).tolist())
    blocks = divided_into_blocks(cells, np.random.default_rng(seed))
    sizes = chunks(n_resamples, cells.n_cells if blocks is None else blocks.n)

    def draw(n_draws: int, stream: np.random.SeedSequence) -> tuple[D, ...]:
        rng = np.random.default_rng(stream)
        if blocks is None:
            return measured(cells.resample(n_draws, random_state=rng))
        return measured(resampled_blocks(cells, blocks, n_draws, rng))

    parts = side_by_side(
        draw,
        zip(sizes, seed.spawn(len(sizes)), strict=True),
        n_jobs=n_jobs,
        what="resamples",
        total=n_resamples,
        each=max(sizes),
    )
    return tuple(map(draws_of_all, zip(*parts, strict=True)))


# --------------------------------------------------------------------------- growth of distances


def growth_draws(
    pairs: Pairs, moved: Array, value: Array, base: Array, observed: Array
) -> tuple[Array, Array]:
    """Return draws of each pair's growth and of the value, whose percentiles are the interval.

    `moved` and `value` are those of resamples, `base` and `observed` their distances, draws first.
    """
    parts = [*zip(pairs.distances, (base, observed), strict=True)]
    before, after = (_deviations_of_sizes(*part) for part in parts)
    shift = after - before
    if pairs.growth == "largest":
        before, after = (_deviations_of_largest(*part) for part in parts)
        whole = after - before
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


def _deviations_of_sizes(observed: Array, drawn: Array) -> Array:
    """Return how far the size of each signed distance may deviate, by draws of it."""
    with np.errstate(invalid="ignore"):
        deviation = drawn - observed
    turned = np.where(observed < 0, -deviation, deviation)
    # A size that is small for its error may as well be on the other side of 0.
    slack = _slack(2 * np.abs(observed), 2 * _error(deviation))
    return np.fmax(turned, -turned - slack)


def _deviations_of_largest(observed: Array, drawn: Array) -> Array:
    """Return how far the largest size of signed distances may deviate."""
    with np.errstate(invalid="ignore"):
        deviation = drawn - observed
    signed = np.stack([observed, -observed])
    turn, group, task = np.unravel_index(int(np.nanargmax(signed)), signed.shape)
    top = deviation[:, group, task] * (1 - 2 * int(turn))
    every = []
    for turned, sign in zip(signed, (1, -1), strict=True):
        apart = _error(sign * deviation - top[:, None, None])
        slack = _slack(signed[turn, group, task] - turned, apart)
        every.append(largest(sign * deviation - slack))
    return np.fmax(*every)


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
