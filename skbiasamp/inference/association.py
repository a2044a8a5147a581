"""Associations of groups and tasks, and how much each row moves them.

An association is P(outcome | condition) − P(outcome): of a task in a group (A→T), or of a group in
a task (T→A). All variances, tests and verdicts are made of the influences of rows on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.labels import Codes, Labels, Members, common
from skbiasamp._input.options import keywords
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import require_cells
from skbiasamp.counts.pair_sums import everywhere, pair_sums
from skbiasamp.counts.parts import of_task
from skbiasamp.inference.influence import Linear, degrees_of_freedom, unit_sums

# Numbers held at once: rows × pairs.
_BLOCK = 1 << 21
# Rows that are projected at once: all of many would take many times the memory of their labels.
_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Term:
    """P(outcome | condition) − P(outcome) in one sample of rows; arrays are conditions × outcomes.

    `n` is the weight of each condition, and `share` what a unit of weight is of it; 0 if it has no
    rows. Without a `centre` it is P(outcome | condition) alone, or less the mean of all conditions
    with the `shares`. `times` says how often a row counts in its condition, if that is not once,
    and `total` is the weight of all rows, each as often as it counts.
    """

    cells: Contingency
    outcome: Labels
    given: Labels
    n: Array
    share: Array
    rate: Array
    overall: Array
    total: Any
    centre: bool = True
    times: Any = 1.0
    shares: Any = None

    @cached_property
    def leverage(self) -> Array:
        """By how much a row of each condition counts more, since it moves the rate to itself (HC2).

        One number a condition if all rows weigh the same, else cells × conditions.
        """
        weight = self.cells.unit_weight
        plain = bool(len(weight)) and bool((weight == weight[0]).all())
        row: Any = weight[0] if plain else weight[:, None]
        return np.asarray(1 / np.sqrt(1 - np.minimum(row * self.share, 0.5)))

    def is_same(self, other: Term) -> bool:
        """Return whether another term is of the same labels of the same rows."""
        if self is other:
            return True
        return (
            self.centre == other.centre
            and np.array_equal(self.shares, other.shares)
            and np.array_equal(self.n, other.n)
            and np.array_equal(self.rate, other.rate, equal_nan=True)
            and are_same(self.outcome, other.outcome)
            and are_same(self.given, other.given)
        )

    def project(self, weights: Array) -> Array:
        """Return how much a unit of weight of each cell moves a weighted sum over pairs."""
        if self.shares is not None:
            weights = weights - np.multiply.outer(self.shares, weights.sum(axis=0))
        scaled = weights * self.share[:, None]
        mean = np.where(scaled == 0, 0.0, scaled * self.rate).sum(axis=1)
        every = weights.sum(axis=0)
        n, parts = self.cells.n_cells, []
        for low in range(0, max(n, 1), _ROWS):
            rows = slice(low, low + _ROWS)
            outcome, given = self.outcome, self.given
            if n > _ROWS:
                outcome, given = outcome.take(rows), given.take(rows)
            times = self.times[rows] if np.ndim(self.times) else self.times
            # Labels are read once for both.
            scores = outcome.scores(np.vstack([scaled, every]))
            each, overall = scores[:, :-1], scores[:, -1]
            if self.leverage.ndim == 1:
                own = given.own(each * self.leverage)
                own -= times * given.scores(mean * self.leverage)
            else:
                own = given.own((each - np.multiply.outer(times, mean)) * self.leverage[rows])
            if self.centre:
                own = own - (overall - times * (self.overall @ every)) / self.total
            parts.append(own)
        return np.concatenate(parts)

    def influence(self, condition: int, outcomes: Array) -> Array:
        """Return how much a unit of weight of each cell moves some pairs (cells × pairs)."""
        if self.shares is not None:
            alone = replace(self, shares=None)
            parts = (share * alone.influence(at, outcomes) for at, share in enumerate(self.shares))
            return np.asarray(alone.influence(condition, outcomes) - sum(parts))
        values = self.outcome.select(outcomes).dense(slice(None), float)
        inside = self.given.column(condition) * self.share[condition]
        inside = inside * self.leverage[..., condition]
        times = self.times * np.ones(1)
        rate = known_or_zero(self.rate[condition, outcomes])
        own = np.asarray(values - np.multiply.outer(times, rate))
        own *= inside[:, None]  # in place: each array has a number for each row
        if self.centre:
            values -= np.multiply.outer(times, self.overall[outcomes])
            values /= self.total
            own -= values
        return own

    def lines(self) -> tuple[Array, Array]:
        """Return slopes and offsets of what rows add to pairs (groups × pairs), if they are plain.

        The conditions are groups, and the last numbers are those of rows without one.
        """
        assert isinstance(self.given, Codes)
        own = np.eye(self.given.width + 1, self.given.width)
        if self.shares is not None:
            own -= np.append(self.shares, 0.0)[:, None]
        scale = np.append(self.leverage * self.share, 0.0)
        rate = np.vstack([known_or_zero(self.rate), np.zeros(self.rate.shape[1])])
        around = int(self.centre) / self.total
        # Groups × conditions × outcomes.
        slopes = (scale[:, None] * own)[:, :, None] * np.ones(self.rate.shape[1])
        offsets = slopes * rate[:, None] - around * self.overall
        flat = len(own), -1
        return (slopes - around).reshape(flat), offsets.reshape(flat)

    def cross(self, other: Term) -> Array:
        """Return sums over rows of products of two influences on each pair, if rows are plain.

        The conditions of both are the same.
        """
        cells = self.cells
        unit = float(cells.unit_weight[0])
        if not self.outcome.soft and are_same(self.outcome, other.outcome):
            sums = known_or_zero(self.n[:, None] * self.rate)
            every = cells.total * self.overall
        else:
            if self.outcome.soft or other.outcome.soft:
                parts = (own.outcome.dense(slice(None), float) for own in (self, other))
                both: Labels = Members(np.multiply(*parts))
            else:
                both = common(self.outcome, other.outcome)
            sums = pair_sums(self.given, both, cells.weight)
            if isinstance(self.given, Codes) and self.n.sum() == cells.total:
                every = sums.sum(axis=0)
            else:
                every = pair_sums(everywhere(cells.n_cells), both, cells.weight)[0]
        inside = sums - self.n[:, None] * known_or_zero(self.rate * other.rate)
        own = (self.leverage * self.share)[:, None]
        overall = 1 / cells.total
        factor = own * (own - (int(self.centre) + int(other.centre)) * overall)
        products = factor * inside
        if self.centre and other.centre:
            alone = every - cells.total * self.overall * other.overall
            products = products + overall**2 * alone
        return np.asarray(unit * products)


class Sample(NamedTuple):
    """Terms of one sample of rows, each with a factor, or one for each pair."""

    cells: Contingency
    terms: tuple[tuple[Any, Term], ...]

    def influence(self, condition: int, outcomes: Array) -> tuple[Array, Array]:
        """Return what each row, or cluster, adds to some pairs (pairs × units), and its number."""
        moved = 0.0
        for factor, term in self.terms:
            own = factor[condition, outcomes] if np.ndim(factor) else factor
            moved = moved + own * term.influence(condition, outcomes)
        return unit_sums(self.cells, np.asarray(moved).T)

    def linear(self) -> Linear | None:
        """Return what rows add to pairs by their group; None if that is no straight line.

        Of few rows it takes longer than their influences.
        """
        cells, groups = self.cells, self.terms[0][1].given
        is_plain = cells.clusters is None and cells.poststrata is None
        if not (is_plain and isinstance(groups, Codes)):
            return None
        lines, labels = [], []
        for factor, term in self.terms:
            plain = [np.ndim(factor), np.ndim(term.times), term.leverage.ndim] == [0, 0, 1]
            few = cells.n_cells < term.rate.size
            if few or not (plain and are_same(term.given, groups)):
                return None
            if not isinstance(term.outcome, Members):
                return None
            lines.append(term.lines())
            labels.append((factor, term.outcome))
        slopes = lines[0][0]
        if not all(np.array_equal(own, slopes) for own, _ in lines):
            return None
        offsets = sum(factor * own for (factor, _), (_, own) in zip(labels, lines, strict=True))
        unit = float(cells.unit_weight[0])
        return Linear(groups, labels, slopes, offsets, cells.units, unit)

    @property
    def jackknife(self) -> float:
        """The factor of n independent rows, or clusters: n / (n − 1)."""
        cells = self.cells
        n = float(cells.units.sum() if cells.clusters is None else cells.clusters.total)
        if n > 1:
            return n / (n - 1)
        return 1.0 if cells.clusters is None else np.nan  # one cluster shows no variance


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
    is_predicted: bool = False  # whether the conditions are predictions
    # Whether it is known how pairs vary together, so that sums over pairs have intervals.
    is_joint: ClassVar[Any] = True
    few: Any = None  # variance of what few rows cannot show, if the unit is another one than a rate

    def oriented(self, values: Array) -> Array:
        """Turn conditions × outcomes into groups × tasks, or back."""
        return values if self.by_group else np.swapaxes(values, -2, -1)

    def __sub__(self, other: Association) -> Association:
        return self + other * -1.0

    def __mul__(self, factor: Any) -> Association:
        """Return the product with a number, or with one for each pair (groups × tasks)."""
        turned = self.oriented(factor) if np.ndim(factor) else factor
        samples = tuple(
            Sample(cells, tuple((turned * own, term) for own, term in terms))
            for cells, terms in self.samples
        )
        return replace(self, value=factor * self.value, samples=samples)

    def __add__(self, other: Association) -> Association:
        """Return the sum; rows that both are of are one sample. Equal terms may cancel."""
        if isinstance(other, TaskByTask):
            return TaskByTask.of([self.of_task(i) + part for i, part in enumerate(other.parts)])
        samples = {id(sample.cells.weight): sample for sample in self.samples}
        for cells, terms in other.samples:
            sum_of: list[tuple[Any, Term]] = []
            if id(cells.weight) in samples:
                cells, own_terms = samples[id(cells.weight)]
                sum_of += own_terms
            for factor, term in terms:
                same = next((i for i, (_, own) in enumerate(sum_of) if own.is_same(term)), None)
                if same is None:
                    sum_of.append((factor, term))
                else:
                    sum_of[same] = (sum_of[same][0] + factor, sum_of[same][1])
            kept = [part for part in sum_of if np.any(part[0])]
            samples[id(cells.weight)] = Sample(cells, tuple(kept or sum_of[:1]))
        return replace(self, value=self.value + other.value, samples=tuple(samples.values()))

    def of_task(self, position: int) -> Association:
        """Return the associations of one task."""
        at = [position]
        part: Any = (slice(None), at) if self.by_group else at
        samples = []
        for cells, terms in self.samples:
            parts = []
            for factor, term in terms:
                changed: dict[str, Any] = {"rate": term.rate[part]}
                if self.by_group:
                    changed["outcome"] = term.outcome.select(np.array(at))
                    changed["overall"] = term.overall[at]
                else:
                    changed["given"] = term.given.select(np.array(at))
                    changed |= {"n": term.n[at], "share": term.share[at]}
                own = factor[part] if np.ndim(factor) else factor
                parts.append((own, replace(term, **changed)))
            samples.append(Sample(cells, tuple(parts)))
        value, rate = self.value[:, at], self.rate[:, at]
        n = self.n if self.by_group else self.n[:, at]
        return replace(self, value=value, rate=rate, n=n, samples=tuple(samples))

    @property
    def largest(self) -> Any:
        """The largest size that each pair's association of rates can have."""
        if len(self.samples) != 1 or len(self.samples[0].terms) != 1:
            return 1.0
        ((_, term),) = self.samples[0].terms
        return 1 - self.n / term.total if term.centre else 1.0

    def without_centre(self) -> Association:
        """Return the rates alone."""
        samples = tuple(
            Sample(cells, tuple((factor, replace(term, centre=False)) for factor, term in terms))
            for cells, terms in self.samples
        )
        return replace(self, value=self.rate, samples=samples)

    def around(self, rows: Any) -> Association:
        """Return rates of groups less their mean in other rows, whose groups have other sizes."""
        sizes = np.where(np.isnan(self.rate).all(axis=-1), 0.0, rows.count("group"))
        with np.errstate(invalid="ignore"):  # no group is known
            shares = sizes / sizes.sum(axis=-1, keepdims=True)
        value = self.rate - shares[..., None, :] @ known_or_zero(self.rate)
        if shares.ndim > 1:  # resamples have values alone
            return replace(self, value=value)
        samples = tuple(
            Sample(cells, tuple((factor, replace(term, shares=shares)) for factor, term in terms))
            for cells, terms in self.without_centre().samples
        )
        return replace(self, value=value, samples=samples) + centre_of(self.rate, rows)

    def as_known(self) -> Association:
        """Return the same numbers as if their rows were no sample, but all that there are."""
        return replace(self, samples=())

    # ------------------------------------------------------------------ sums of rows

    def project(self, weights: Array) -> list[tuple[Array, Array, float]]:
        """Return what units add to a weighted sum over pairs, by sample.

        Beside it stands how often each unit is there, and the jackknife's factor.
        """
        known, samples = self.oriented(np.where(np.isnan(self.value), 0.0, weights)), []
        for sample in self.samples:
            moved = sum(term.project(factor * known) for factor, term in sample.terms)
            samples.append((*unit_sums(sample.cells, np.asarray(moved)), sample.jackknife))
        return samples

    def cross(self, other: Association) -> Array:
        """Return the covariance of each pair's association with that of another."""
        if isinstance(other, TaskByTask):
            of_tasks = [self.of_task(i).cross(part) for i, part in enumerate(other.parts)]
            return np.concatenate(of_tasks, axis=1)
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
        if self.few is not None:
            return unseen + self.few
        for cells, terms in self.samples:
            term = terms[0][1]
            if np.ndim(term.times) == 0 and term.leverage.ndim == 1:
                squares = term.n * cells.unit_weight[0]  # all rows weigh the same
            else:
                weight = cells.weight * cells.unit_weight
                squares = pair_sums(everywhere(cells.n_cells), term.given, weight)[0]
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

    @cached_property
    def units(self) -> Array:
        """By how many units each pair's variance is carried: its degrees of freedom."""
        squares, fourth = self.moments() + np.stack([self.unseen, self.unseen**2 / 2])
        if not squares.size:
            return squares
        n = sum(float(times.sum()) for _, times, _ in self.influences(np.zeros(1, dtype=np.intp)))
        return np.minimum(degrees_of_freedom(squares, fourth), max(n - 1, 1.0))

    def moments(self) -> Array:
        """Return sums of squares and of fourth powers of what units add: (2, groups, tasks)."""
        if not self.is_joint:
            return np.full((2, *self.value.shape), np.nan)
        sums = np.zeros((2, self.value.size))
        size = max(1, _BLOCK // max(1, self.samples[0].cells.n_cells if self.samples else 1))
        for low in range(0, self.value.size, size):
            pairs = np.arange(low, min(low + size, self.value.size))
            for moved, times, jackknife in self.influences(pairs):
                squares = jackknife * moved**2
                sums[:, pairs] += squares @ times, squares**2 @ times
        return sums.reshape(2, *self.value.shape)

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

    @cached_property
    def _linear(self) -> list[tuple[Linear, float]] | None:
        """What units add by their group, by sample; None if that is no straight line."""
        if not self.by_group:
            return None
        samples = [(sample.linear(), sample.jackknife) for sample in self.samples]
        known = [(linear, jackknife) for linear, jackknife in samples if linear is not None]
        return known if len(known) == len(samples) else None

    def gram(self, pairs: Array) -> Array:
        """Return the covariances of some pairs."""
        total = np.zeros((len(pairs), len(pairs)))
        if self._linear is not None:
            for linear, jackknife in self._linear:
                total += jackknife * linear.gram(pairs)
            return total
        for moved, times, jackknife in self.influences(pairs):
            total += jackknife * ((moved * times) @ moved.T)
        return total

    def squares(
        self, known: Array, unsure: Array, beside: Array
    ) -> list[tuple[Array, Array, float]]:
        """Return what units add to the variance of a sum over pairs, by sample, as `project` does.

        `known` are the pairs' weights, and `beside` is what the expected products of two weights
        are beside those of `known`, of some `unsure` pairs.
        """
        if self._linear is not None:
            return [
                (linear.squares(known.ravel(), unsure, beside), linear.times, jackknife)
                for linear, jackknife in self._linear
            ]
        squares = [(moved**2, times, factor) for moved, times, factor in self.project(known)]
        if len(unsure):
            for (square, _, _), (moved, _, _) in zip(squares, self.influences(unsure), strict=True):
                square += np.einsum("pu,pu->u", beside @ moved, moved)
        return squares


def centre_of(rates: Array, rows: Any) -> Association:
    """Return zeros that vary as minus the mean of known rates over the groups of rows."""
    if rows.summed == "tasks":
        tasks = range(rates.shape[1])
        return TaskByTask.of([centre_of(rates[:, [i]], of_task(rows, i)) for i in tasks])
    groups = labels_of(rows, "group")
    times = np.maximum(groups.scores(np.ones(len(rows.groups))), 1)  # groups of a row
    of_row = Members(groups.scores(known_or_zero(rates).T) / times[:, None])
    return replace(association_of(rows, of_row, groups, by_group=True), value=np.zeros(rates.shape))


@dataclass(frozen=True, eq=False)
class TaskByTask(Association):
    """Associations of tasks that were counted one by one.

    Each pair has a variance. How tasks vary together is not known, so that sums over pairs have
    no influences.
    """

    parts: tuple[Association, ...] = ()
    is_joint = False

    @classmethod
    def of(cls, parts: list[Association]) -> TaskByTask:
        """Return the associations of several tasks together."""
        value, rate = (
            np.concatenate([getattr(part, name) for part in parts], axis=1)
            for name in ("value", "rate")
        )
        first = parts[0]
        n = first.n if first.by_group else np.concatenate([part.n for part in parts], axis=1)
        return cls(
            value, rate, n, first.samples, first.by_group, first.is_predicted, None, tuple(parts)
        )

    def __add__(self, other: Association) -> Association:
        beside = (other.of_task(i) for i in range(len(self.parts)))
        parts = [own + part for own, part in zip(self.parts, beside, strict=True)]
        return replace(TaskByTask.of(parts), value=self.value + other.value)

    def of_task(self, position: int) -> Association:
        """Return the associations of one task."""
        return self.parts[position]

    def __mul__(self, factor: Any) -> Association:
        factors = [factor[:, [i]] if np.ndim(factor) else factor for i in range(len(self.parts))]
        parts = [own * part for own, part in zip(self.parts, factors, strict=True)]
        return replace(TaskByTask.of(parts), value=factor * self.value)

    def without_centre(self) -> Association:
        """Return the rates alone."""
        return TaskByTask.of([part.without_centre() for part in self.parts])

    def as_known(self) -> Association:
        """Return the same numbers as if their rows were no sample, but all that there are."""
        return TaskByTask.of([part.as_known() for part in self.parts])

    def around(self, rows: Any) -> Association:
        """Return rates less their mean in other rows."""
        apart = rows.summed == "tasks"
        parts = enumerate(self.parts)
        return TaskByTask.of(
            [part.around(of_task(rows, i) if apart else rows) for i, part in parts]
        )

    def cross(self, other: Association) -> Array:
        """Return the covariance of each pair's association with that of another."""
        of_tasks = [own.cross(other.of_task(i)) for i, own in enumerate(self.parts)]
        return np.concatenate(of_tasks, axis=1)

    @cached_property
    def unseen(self) -> Array:
        """Variance of what few rows cannot show."""
        return np.concatenate([part.unseen for part in self.parts], axis=1)

    @cached_property
    def units(self) -> Array:
        """By how many units each pair's variance is carried."""
        return np.concatenate([part.units for part in self.parts], axis=1)

    @property
    def largest(self) -> Any:
        """The largest size that each pair's association of rates can have."""
        parts = [part.largest + np.zeros(part.value.shape) for part in self.parts]
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, eq=False)
class Mapped(Association):
    """Weighted sums of associations: a row for each of them in sparse matrices.

    `maps` are (weights, association); weights are one number, or pairs × pairs of the association.
    """

    maps: tuple[tuple[Any, Association], ...] = ()
    _linear = None

    @classmethod
    def of(
        cls,
        value: Array,
        n: Array,
        maps: list[tuple[Any, Association]],
        *,
        few: Any = 0.0,
    ) -> Mapped:
        """Return sums."""
        samples = maps[0][1].samples
        return cls(value, value, n, samples, True, False, few, tuple(maps))

    def __mul__(self, factor: Any) -> Mapped:
        """Return the product with a number, or with one for each pair if weights are matrices."""
        if np.ndim(factor):
            times = sparse.diags_array(factor.ravel())
            maps = tuple((sparse.csr_array(times @ weights), own) for weights, own in self.maps)
        else:
            maps = tuple((factor * weights, association) for weights, association in self.maps)
        return replace(self, value=factor * self.value, maps=maps, few=factor**2 * self.few)

    def __add__(self, other: Association) -> Mapped:
        """Return the sum with others of the same rows."""
        assert isinstance(other, Mapped)
        return replace(self, value=self.value + other.value, maps=self.maps + other.maps)

    @property
    def is_joint(self) -> Any:
        """Whether it is known how the summed pairs vary together."""
        return all(association.is_joint for _, association in self.maps)

    def influences(self, pairs: Array) -> list[tuple[Array, Array, float]]:
        """Return what units add to some pairs, by sample."""
        total: list[tuple[Array, Array, float]] = []
        for weights, association in self.maps:
            if np.ndim(weights):
                rows = weights[pairs]
                needed = np.unique(rows.indices)
                parts = association.influences(needed)
                moved = [(rows[:, needed] @ own, times, factor) for own, times, factor in parts]
            else:
                parts = association.influences(pairs)
                moved = [(weights * own, times, factor) for own, times, factor in parts]
            total = (
                moved
                if not total
                else [
                    (before[0] + more[0], *before[1:])
                    for before, more in zip(total, moved, strict=True)
                ]
            )
        return total

    def cross(self, other: Association) -> Array:
        """Return the covariance of each pair's association with that of another."""
        assert other is self
        return np.asarray(self.moments()[0])

    def project(self, weights: Array) -> list[tuple[Array, Array, float]]:
        """Return what units add to a weighted sum over pairs, by sample."""
        every = np.arange(self.value.size)
        known = np.where(np.isnan(self.value), 0.0, weights).ravel()
        return [(known @ own, times, factor) for own, times, factor in self.influences(every)]


@keywords()
def associate(
    cells: Any,
    outcome: SideName | Labels,
    given: SideName | Labels,
    *,
    by_group: bool | None = None,
    centre: bool = True,
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

    Returns
    -------
    association : Association

    Examples
    --------
    >>> from skbiasamp import Contingency
    >>> from skbiasamp.metrics import associate
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> hired = [1] * 20 + [0] * 20 + [1] * 30 + [0] * 10
    >>> predicted = [1] * 16 + [0] * 24 + [1] * 35 + [0] * 5
    >>> cells = Contingency.from_labels(hired, predicted, sensitive_features=sex)
    >>> associate(cells, "task", given="group").value.round(3).tolist()
    [[-0.125], [0.125]]
    """
    require_cells("cells", cells)
    for side in (outcome, given):
        if not isinstance(side, Codes | Members):
            cells.require(side)
    check_option("by_group", by_group, (None, True, False))
    check_option("centre", centre, (True, False))
    return association_of(cells, outcome, given, by_group=by_group, centre=centre)


def association_of(
    cells: Any,
    outcome: SideName | Labels,
    given: SideName | Labels,
    *,
    by_group: bool | None = None,
    centre: bool = True,
    times: Array | None = None,
) -> Association:
    """Return what `associate` does, of what is known to be valid.

    `times` says how often each row counts in its condition, if that is not once.
    """
    are_named = isinstance(outcome, str) and isinstance(given, str) and times is None
    # Labels are counted once for all audits that are compared with them.
    key = outcome, given, by_group, centre
    if are_named and key in cells._computed:
        known: Association = cells._computed[key]
        return known
    if by_group is None:
        by_group = isinstance(given, str) and given.startswith("group")
    if cells.summed == "tasks":
        how: dict[str, Any] = {"by_group": by_group, "centre": centre}
        parts = (of_task(cells, task) for task in range(len(cells.tasks)))
        return TaskByTask.of([association_of(part, outcome, given, **how) for part in parts])
    outcomes = labels_of(cells, outcome) if isinstance(outcome, str) else outcome
    conditions = labels_of(cells, given) if isinstance(given, str) else given
    if are_named:
        joint, n, whole = cells.joint(given, outcome), cells.count(given), cells.count(outcome)
    else:
        joint = pair_sums(conditions, outcomes, cells.weight)
        every = everywhere(cells.n_cells)
        counted = cells.weight if times is None else cells.weight * times
        n = pair_sums(every, conditions, counted)[0]
        whole = pair_sums(every, outcomes, cells.weight)[0]
    # Resamples have a leading axis, and values alone.
    rows = cells.total if times is None else cells.weight @ times
    total, size = np.asarray(rows)[..., None, None], n[..., :, None]
    with np.errstate(invalid="ignore"):  # a condition without rows has no rate
        rate, overall = joint / size, whole / total[..., 0]
        if not cells.whole:  # what all rows have is 1 in any order of their sum
            rate, overall = (np.where(np.abs(of - 1) <= 1e-12, 1.0, of) for of in (rate, overall))
        # So that a tie is exactly 0.
        apart = (total * joint - size * whole[..., None, :]) / (total * size)
        value = apart if centre else rate
    # Sums of fractional weights leave rounding errors.
    value = np.where(np.abs(value) <= 1e-14, 0.0, value)
    each = 1.0 if times is None else times
    share = np.divide(1.0, n, out=np.zeros(n.shape), where=n > 0)
    term = Term(cells, outcomes, conditions, n, share, rate, overall, rows, centre, each)
    sample = Sample(cells, ((1.0, term),))
    is_predicted = isinstance(given, str) and given.endswith("_pred")
    if not by_group:
        value, rate, size = (np.swapaxes(numbers, -2, -1) for numbers in (value, rate, size))
    made = Association(value, rate, size, (sample,), by_group, is_predicted)
    if are_named:
        cells._computed[key] = made
    return made


def known_or_zero(values: Array) -> Array:
    """Return numbers with 0 in place of undefined ones."""
    return np.where(np.isnan(values), 0.0, values)


def are_same(labels: Labels, other: Labels) -> bool:
    """Return whether two labels are equal in every row."""
    if labels is other:
        return True
    if isinstance(labels, Codes) and isinstance(other, Codes):
        return labels.width == other.width and np.array_equal(labels.codes, other.codes)
    if isinstance(labels, Members) and isinstance(other, Members):
        return labels.matrix is other.matrix or np.array_equal(labels.matrix, other.matrix)
    return False


def _products(first: Sample, second: Sample, shape: tuple[int, ...]) -> Array:
    """Return sums over units of products of two influences on each pair."""
    cells, given = first.cells, first.terms[0][1].given
    products = np.zeros(shape)
    same = first is second
    # If all rows count the same, variances follow from counts.
    is_plain = cells.clusters is None and cells.poststrata is None
    is_plain = is_plain and all(
        np.ndim(term.times) == 0
        and term.shares is None
        and term.leverage.ndim == 1
        and are_same(term.given, given)
        for _, term in (first.terms if same else first.terms + second.terms)
    )
    if is_plain:
        for i, (factor, term) in enumerate(first.terms):
            for j, (other, second_term) in enumerate(second.terms):
                if not same or i <= j:  # products of two terms are symmetric
                    twice = 2 if same and i < j else 1
                    products += twice * factor * other * term.cross(second_term)
        return products
    # So few outcomes at once that their influences fit into memory.
    size = max(1, _BLOCK // max(1, cells.n_cells))
    for condition, low in product(range(shape[0]), range(0, shape[1], size)):
        outcomes = np.arange(low, min(low + size, shape[1]))
        moved, times = first.influence(condition, outcomes)
        beside = moved if same else second.influence(condition, outcomes)[0]
        products[condition, outcomes] = (moved * beside) @ times
    return products
