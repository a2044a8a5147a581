"""Associations of groups and tasks, and how much each row moves them.

An association is P(outcome | condition) − P(outcome): of a task in a group (A→T), or of a group in
a task (T→A). All variances, tests and verdicts are made of the influences of rows on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Labels, Members, common
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.pair_sums import everywhere, pair_sums
from skbiasamp.counts.poststrata import within_poststrata

# Numbers held at once: rows × pairs.
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Term:
    """P(outcome | condition) − P(outcome) in one sample of rows; arrays are conditions × outcomes.

    Without a `centre` it is P(outcome | condition) alone. `times` says how often a row counts in
    its condition, if that is not once.
    """

    cells: Contingency
    outcome: Labels
    given: Labels
    n: Array
    rate: Array
    overall: Array
    value: Array
    centre: bool = True
    times: Any = 1.0

    @cached_property
    def share(self) -> Array:
        """What a unit of weight is of its condition; 0 if the condition has no rows."""
        return np.divide(1.0, self.n, out=np.zeros(len(self.n)), where=self.n > 0)

    @cached_property
    def leverage(self) -> Array:
        """By how much a row of each condition counts more, since it moves the rate to itself (HC2).

        One number a condition if all rows weigh the same, else cells × conditions.
        """
        weight = self.cells.row_weight
        plain = bool(len(weight)) and bool((weight == weight[0]).all())
        row: Any = weight[0] if plain else weight[:, None]
        return np.asarray(1 / np.sqrt(1 - np.minimum(row * self.share, 0.5)))

    @property
    def is_plain(self) -> bool:
        """Whether all rows count the same, so that variances follow from counts."""
        cells = self.cells
        alone = cells.clusters is None and cells.poststrata is None and np.ndim(self.times) == 0
        return alone and np.ndim(self.leverage) == 1

    def project(self, weights: Array) -> Array:
        """Return how much a unit of weight of each cell moves a weighted sum over pairs."""
        scaled = weights * self.share[:, None]
        mean = np.where(scaled == 0, 0.0, scaled * self.rate).sum(axis=1)
        each = self.outcome.scores(scaled)
        if self.leverage.ndim == 1:
            own = self.given.own(each * self.leverage)
            own -= self.times * self.given.scores(mean * self.leverage)
        else:
            own = self.given.own((each - np.multiply.outer(self.times, mean)) * self.leverage)
        if not self.centre:
            return own
        every = weights.sum(axis=0)
        overall = self.outcome.scores(every) - self.overall @ every
        return np.asarray(own - overall / self.cells.total)

    def influence(self, condition: int, outcomes: Array) -> Array:
        """Return how much a unit of weight of each cell moves some pairs (cells × pairs)."""
        values = self.outcome.select(outcomes).dense(slice(None), float)
        inside = self.given.column(condition) * self.share[condition]
        inside = inside * self.leverage[..., condition]
        rate = np.nan_to_num(self.rate[condition, outcomes])
        own = inside[:, None] * (values - np.multiply.outer(self.times * np.ones(1), rate))
        if not self.centre:
            return np.asarray(own)
        return np.asarray(own - (values - self.overall[outcomes]) / self.cells.total)

    def cross(self, other: Term) -> Array:
        """Return sums over rows of products of two influences on each pair, if rows are plain.

        The conditions of both are the same.
        """
        cells = self.cells
        unit = float(cells.row_weight[0])
        if not self.outcome.soft and are_same(self.outcome, other.outcome):
            both: Labels = self.outcome
        elif self.outcome.soft or other.outcome.soft:
            parts = (own.outcome.dense(slice(None), float) for own in (self, other))
            both = Members(np.multiply(*parts))
        else:
            both = common(self.outcome, other.outcome)
        sums = pair_sums(self.given, both, cells.weight)
        inside = sums - self.n[:, None] * np.nan_to_num(self.rate * other.rate)
        own = (self.leverage * self.share)[:, None]
        overall = 1 / cells.total
        factor = own * (own - (int(self.centre) + int(other.centre)) * overall)
        products = factor * inside
        if self.centre and other.centre:
            every = pair_sums(everywhere(cells.n_cells), both, cells.weight)[0]
            alone = every - cells.total * self.overall * other.overall
            products = products + overall**2 * alone
        return np.asarray(unit * products)


class Sample(NamedTuple):
    """Terms of one sample of rows, with their factors."""

    cells: Contingency
    terms: tuple[tuple[float, Term], ...]

    def project(self, weights: Array) -> tuple[Array, Array]:
        """Return what each row, or cluster, adds to a weighted sum, and how often it is there."""
        moved = sum(factor * term.project(weights) for factor, term in self.terms)
        return unit_sums(self.cells, np.asarray(moved))

    def influence(self, condition: int, outcomes: Array) -> tuple[Array, Array]:
        """Return what each row, or cluster, adds to some pairs (pairs × units), and its number."""
        moved = sum(factor * term.influence(condition, outcomes) for factor, term in self.terms)
        return unit_sums(self.cells, np.asarray(moved).T)

    @property
    def is_plain(self) -> bool:
        """Whether variances follow from counts."""
        given = self.terms[0][1].given
        return all(term.is_plain and are_same(term.given, given) for _, term in self.terms)

    @property
    def jackknife(self) -> float:
        """The factor of n independent rows, or clusters: n / (n − 1)."""
        cells = self.cells
        n = float(cells.rows.sum() if cells.clusters is None else cells.clusters.total)
        return n / max(n - 1, 1e-9) if n > 1 else 1.0


@dataclass(frozen=True, eq=False)
class Association:
    """Associations of all pairs, with the influences of rows.

    Arrays are groups × tasks. They may be differences, or means, of associations of several
    samples or models: `associate` makes one, and ``-``, ``+`` and ``*`` combine them.
    """

    value: Array
    rate: Array
    n: Array
    samples: tuple[Sample, ...]
    by_group: bool  # whether groups are the conditions

    def oriented(self, values: Array) -> Array:
        """Turn conditions × outcomes into groups × tasks, or back."""
        return values if self.by_group else np.swapaxes(values, -2, -1)

    def __sub__(self, other: Association) -> Association:
        return self + other * -1.0

    def __mul__(self, factor: float) -> Association:
        samples = tuple(
            Sample(cells, tuple((factor * own, term) for own, term in terms))
            for cells, terms in self.samples
        )
        return replace(self, value=factor * self.value, samples=samples)

    def __add__(self, other: Association) -> Association:
        """Return the sum; rows that both are of are one sample."""
        samples: dict[int, Sample] = {}
        for sample in (*self.samples, *other.samples):
            key = id(sample.cells.weight)
            known = samples.get(key, Sample(sample.cells, ()))
            samples[key] = Sample(known.cells, (*known.terms, *sample.terms))
        return replace(self, value=self.value + other.value, samples=tuple(samples.values()))

    def as_known(self) -> Association:
        """Return the same numbers as if their rows were no sample, but all that there are."""
        return replace(self, samples=())

    # ------------------------------------------------------------------ sums of rows

    def project(self, weights: Array) -> list[tuple[Array, Array, float]]:
        """Return what units add to a weighted sum over pairs, by sample.

        Beside it stands how often each unit is there, and the jackknife's factor.
        """
        known = self.oriented(np.where(np.isnan(self.value), 0.0, weights))
        return [(*sample.project(known), sample.jackknife) for sample in self.samples]

    def cross(self, other: Association) -> Array:
        """Return the covariance of each pair's association with that of another."""
        covariance = np.zeros(self.value.shape)
        for sample in self.samples:
            for beside in other.samples:
                if beside.cells.weight is sample.cells.weight:
                    products = _products(sample, beside, self.oriented(self.value).shape)
                    covariance += sample.jackknife * self.oriented(products)
        return covariance

    @cached_property
    def unseen(self) -> Array:
        """Variance of what few rows cannot show: half a row gained and half a row lost a pair."""
        unseen = np.zeros(self.value.shape)
        for cells, terms in self.samples:
            term = terms[0][1]
            squares = pair_sums(
                everywhere(cells.n_cells), term.given, cells.weight * cells.row_weight
            )[0]
            unseen += self.oriented(((squares * term.share**2) ** 2)[:, None] * np.ones((1, 1)))
        return unseen

    @cached_property
    def variance(self) -> Array:
        """Variance of each pair's association; without that of what few rows cannot show."""
        return self.cross(self)

    @cached_property
    def sd(self) -> Array:
        """Standard error of each pair's association."""
        return np.sqrt(np.maximum(self.variance, 0.0) + self.unseen)

    @cached_property
    def z(self) -> Array:
        """Each association in standard errors; NaN if it does not vary at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.variance > 0, self.value / self.sd, np.nan)

    def units(self) -> Array:
        """Return by how many units each pair's variance is carried: its degrees of freedom."""
        shape = self.oriented(self.value).shape
        squares, fourth = np.zeros(shape), np.zeros(shape)
        for sample in self.samples:
            jackknife = sample.jackknife
            for condition, outcomes in _blocks(sample, shape):
                moved, times = sample.influence(condition, outcomes)
                parts = jackknife * moved**2
                squares[condition, outcomes] += parts @ times
                fourth[condition, outcomes] += parts**2 @ times
        unseen = self.oriented(self.unseen)
        squares, fourth = squares + unseen, fourth + unseen**2 / 2
        units = np.divide(squares**2, fourth, out=np.ones(shape), where=fourth > 0)
        return np.maximum(self.oriented(units), 1.0)

    def influences(self, pairs: Array) -> list[tuple[Array, Array, float]]:
        """Return what units add to some pairs (pairs × units), by sample, as `project` does.

        `pairs` are positions in flat groups × tasks.
        """
        at = np.unravel_index(pairs, self.value.shape)
        conditions, outcomes = at if self.by_group else at[::-1]
        samples = []
        for sample in self.samples:
            moved: Any = None
            for condition in np.unique(conditions):
                here = np.flatnonzero(conditions == condition)
                part, times = sample.influence(int(condition), outcomes[here])
                moved = np.empty((len(pairs), part.shape[1])) if moved is None else moved
                moved[here] = part
            samples.append((moved, times, sample.jackknife))
        return samples

    def gram(self, pairs: Array) -> Array:
        """Return the covariances of some pairs."""
        total = np.zeros((len(pairs), len(pairs)))
        for moved, times, jackknife in self.influences(pairs):
            total += jackknife * ((moved * times) @ moved.T)
        return total


def associate(
    cells: Contingency,
    outcome: SideName | Labels,
    given: SideName | Labels,
    *,
    by_group: bool | None = None,
    centre: bool = True,
    times: Any = 1.0,
) -> Association:
    """Measure the associations of two labels or predictions.

    Parameters
    ----------
    cells : Contingency
        The rows.
    outcome, given : {"group", "task", "task_pred", "group_pred"}
        ``associate(cells, "task_pred", given="group")`` is P(predicted task | group) minus
        P(predicted task), for each pair.
    by_group : bool, default=None
        Whether `given` are groups; None: by its name.
    centre : bool, default=True
        False: rates alone, without what they are in all rows.
    times : array of shape (n_cells,), default=1.0
        How often each row counts in its condition.

    Returns
    -------
    association : Association
    """
    if by_group is None:
        by_group = isinstance(given, str) and given.startswith("group")
    known = isinstance(outcome, str) and isinstance(given, str) and np.ndim(times) == 0
    outcomes = labels_of(cells, outcome) if isinstance(outcome, str) else outcome
    conditions = labels_of(cells, given) if isinstance(given, str) else given
    if known:
        joint, n, whole = cells.joint(given, outcome), cells.count(given), cells.count(outcome)
    else:
        joint = pair_sums(conditions, outcomes, cells.weight)
        one = everywhere(cells.n_cells)
        n = pair_sums(one, conditions, cells.weight * times)[0]
        whole = pair_sums(one, outcomes, cells.weight)[0]
    total = cells.total
    with np.errstate(divide="ignore", invalid="ignore"):  # a condition without rows has no rate
        rate = joint / n[:, None]
        if centre:
            value = (total * joint - np.outer(n, whole)) / (total * n[:, None])  # a tie is exactly 0
        else:
            value = rate
    # Sums of fractional weights leave rounding errors.
    value = np.where(np.abs(value) <= 1e-14, 0.0, value)
    term = Term(cells, outcomes, conditions, n, rate, whole / total, value, centre, times)
    sample = Sample(cells, ((1.0, term),))
    association = Association(value, rate, n[:, None], (sample,), by_group)
    if by_group:
        return association
    return replace(association, value=value.T, rate=rate.T, n=n[None, :])


def are_same(labels: Labels, other: Labels) -> bool:
    """Return whether two labels are equal in every row."""
    if labels is other:
        return True
    if isinstance(labels, Codes) and isinstance(other, Codes):
        return labels.width == other.width and np.array_equal(labels.codes, other.codes)
    if isinstance(labels, Members) and isinstance(other, Members):
        return labels.matrix is other.matrix or np.array_equal(labels.matrix, other.matrix)
    return False


def unit_sums(cells: Contingency, influences: Array) -> tuple[Array, Array]:
    """Return what each independent row, or cluster, adds to sums of influences (sums × cells).

    Beside it stands how often each of them is there. A whole weight is that many rows; a fractional
    one is one row that counts so much.
    """
    influences = within_poststrata(cells, influences)
    if cells.clusters is None:
        return influences * cells.row_weight, cells.rows
    of, n = cells.clusters
    inside = (cells.clusters.each(cells.weight), (np.arange(cells.n_cells), of))
    return influences @ sparse.csr_array(inside, shape=(len(of), len(n))), n


def _products(first: Sample, second: Sample, shape: tuple[int, ...]) -> Array:
    """Return sums over units of products of two influences on each pair."""
    given, other_given = (sample.terms[0][1].given for sample in (first, second))
    if first.is_plain and second.is_plain and are_same(given, other_given):
        return np.asarray(
            sum(
                factor * other * term.cross(beside)
                for factor, term in first.terms
                for other, beside in second.terms
            )
        )
    products = np.zeros(shape)
    same = first is second or first.terms == second.terms
    for condition, outcomes in _blocks(first, shape):
        moved, times = first.influence(condition, outcomes)
        beside = moved if same else second.influence(condition, outcomes)[0]
        products[condition, outcomes] = (moved * beside) @ times
    return products


def _blocks(sample: Sample, shape: tuple[int, ...]) -> Iterator[tuple[int, Array]]:
    """Yield a condition and some outcomes, so few that their influences fit into memory."""
    size = max(1, _BLOCK // max(1, sample.cells.n_cells))
    for condition in range(shape[0]):
        for low in range(0, shape[1], size):
            yield condition, np.arange(low, min(low + size, shape[1]))
