"""Resamples of the audited rows, and what a metric says about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.random import chunks, generator
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.draws import divided_into_blocks, resampled_blocks
from skbiasamp.inference._growth import growth_draws
from skbiasamp.inference.independent_signs import estimate, predicted_association
from skbiasamp.inference.pairs import Pairs

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

    @classmethod
    def of(cls, pairs: Pairs, sign: Array) -> Self:
        """Return what is needed of the pairs of resamples."""
        base, observed = (None, None) if pairs.growth is None else pairs.distances
        own = np.asarray(estimate(pairs, sign))
        value, predicted = np.asarray(pairs.value) if pairs.apart else own, None
        if pairs.rates is None and pairs.centre is not None:
            predicted = np.asarray(predicted_association(pairs, sign))
        return cls(pairs.moved, value, own, base, observed, predicted)

    def around(self, pairs: Pairs, sign: Array) -> Self:
        """Return draws whose percentiles are the interval, although noise makes them too large."""
        if pairs.undirected:
            # Relative changes divide by rates that are noisy themselves, so their mean is too large
            # on average, and that of a resample twice as much. Small rates are the noisiest, so
            # that signs do not cancel it.
            data = self.of(pairs, sign)
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
