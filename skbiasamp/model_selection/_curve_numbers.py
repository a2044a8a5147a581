"""Values and intervals at every threshold of a score, as audits have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.association import Term
from skbiasamp.inference.influence import degrees_of_freedom, interval
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Signs, counted_pairs, sign_products

# Numbers held at once: thresholds × kinds of rows × pairs.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with the rank of each task's score, and what their pairs say of any predictions.

    A row of rank r is positive at the thresholds 0 to r, of 0 to `n`.
    """

    cells: Contingency
    pairs: Pairs
    ranks: Array  # cells × tasks
    n: int
    formula: str = "change"

    def of(self, formula: str) -> Scored:
        """Return the same rows, with the value of a formula: "change" or "published"."""
        return replace(self, formula=formula)

    @property
    def published(self) -> bool:
        """Whether the value is that of the paper's formula."""
        return self.formula == "published"

    @cached_property
    def term(self) -> Term:
        """The associations of the labels."""
        return self.pairs.labelled.samples[0].terms[0][1]

    @cached_property
    def member(self) -> Array:
        """Of which groups each cell is."""
        return self.term.given.dense(slice(None), float)

    @cached_property
    def labels(self) -> Array:
        """The labels, with a column a task."""
        return labels_of(self.cells, "task").dense(slice(None), float)

    @cached_property
    def signs(self) -> Signs:
        """The sign by which each pair counts."""
        return Signs.known(self.pairs.sign) if self.published else self.pairs.signs

    @cached_property
    def weights(self) -> Array:
        """What each pair is of the value."""
        return np.asarray(self.pairs.aggregate.weights(self.pairs.change.value))

    @property
    def _centre(self) -> float:
        """What a unit of weight is of all rows, if groups are compared with them; else 0."""
        return 0.0 if self.published else 1 / float(self.cells.total)

    def above(self, worth: Array) -> Array:
        """Return at each threshold the sum over positives; `worth` is cells × tasks."""
        return _above(self.ranks, worth, self.n)

    # ------------------------------------------------------------------ values

    def values(self) -> Array:
        """Return the value at each threshold: it is linear in the predictions."""
        cells, share = self.cells, self.term.share
        moved = np.where(self.weights == 0, 0.0, self.weights * self.signs.values)
        worth = (self.member * share) @ moved - self._centre * moved.sum(axis=0)
        worth = cells.weight[:, None] * worth
        if self.signs.source is not None:
            worth -= self._shared()
        return np.asarray(self.above(worth) - (worth * self.labels).sum())

    def _shared(self) -> Array:
        """Return what a positive adds to what signs and changes have in common."""
        cells, term, centre = self.cells, self.term, self._centre
        every = np.arange(len(cells.tasks))
        times = self.pairs.labelled.samples[0].jackknife * cells.units * cells.unit_weight**2
        own = cells.weight[:, None]
        shared = np.zeros(self.ranks.shape)
        for group, factor in enumerate(self.weights * self.signs.slope):
            inside, part = self.inside[:, group, None], self.member[:, [group]] * term.share[group]
            moved = factor * times[:, None] * term.influence(group, every)
            shared += moved * (inside - centre)
            shared -= own * part * (moved * inside).sum(axis=0)
            shared += own * centre**2 * moved.sum(axis=0)
        return shared

    @cached_property
    def inside(self) -> Array:
        """What a unit of weight is of each of its groups, by its leverage more."""
        return np.asarray(self.member * self.term.share * self.term.leverage)

    # ------------------------------------------------------------------ intervals

    def intervals(self, values: Array, confidence_level: float) -> tuple[Array, Array]:
        """Return the ends of the interval at each threshold."""
        squares, fourth = self._spread()
        df = degrees_of_freedom(squares, fourth)
        low, high, _ = interval(values, np.sqrt(squares), df, confidence_level)
        bound = self.pairs.aggregate.bound
        return np.maximum(low, -bound), np.minimum(high, bound)

    def _spread(self) -> tuple[Array, Array]:
        """Return the sums of squared influences of rows, and of their squares, at each threshold.

        Rows that differ in their weight alone move a value by a·A − b·B, with the same A and B:
        sums of powers of a and b are enough.
        """
        signs, weights = self.signs, self.weights
        products = sign_products(signs, weights)
        steps = self._steps()
        means, overall = self._means()
        squares, fourth = np.zeros((2, self.n + 1))
        size = max(1, _BLOCK // max(1, steps.inside.shape[0] * weights.size))
        sums = np.zeros((len(steps.inside), 8))
        for low in range(0, self.n + 1, size):
            at = slice(low, min(low + size, self.n + 1))
            every = sums + steps.sums(at).cumsum(axis=0)  # thresholds × kinds × powers
            sums = every[-1]
            change = steps.change[:, None, :]
            own = steps.inside[..., None] * (change - means[at, None])
            rest = np.broadcast_to(change - overall[at, None, None], own.shape)
            own, rest = (part.reshape(*part.shape[:2], -1) for part in (own, rest))
            by_own, by_rest = own @ products, rest @ products
            first = (by_own * own).sum(axis=-1)
            both = -2 * (by_own * rest).sum(axis=-1)
            last = (by_rest * rest).sum(axis=-1)
            powers = [first, both, last]
            mixed = both**2 + 2 * first * last
            squared = [first**2, 2 * first * both, mixed, 2 * both * last, last**2]
            for total, known, factors in (
                (squares, every[..., :3], powers),
                (fourth, every[..., 3:], squared),
            ):
                total[at] = np.einsum("kdp,pkd->k", known, np.stack(factors))
        jackknife = self.pairs.change.samples[0].jackknife
        unseen = (weights**2 * self.pairs.change.unseen)[counted_pairs(signs, weights)]
        return jackknife * squares + unseen.sum(), jackknife**2 * fourth + (unseen**2).sum() / 2

    def _means(self) -> tuple[Array, Array]:
        """Return the mean change of each group and task, and of each task, at each threshold."""
        cells, (n_groups, n_tasks) = self.cells, self.weights.shape
        every = np.full((cells.n_cells, n_groups + 1), 1 / float(cells.total))
        every[:, :-1] = self.member * self.term.share
        every *= cells.weight[:, None]
        means = np.zeros((self.n + 1, n_groups + 1, n_tasks))
        for task in range(n_tasks):
            above = _above(self.ranks[:, task], every, self.n)
            means[..., task] = above - self.labels[:, task] @ every
        return means[:, :-1], means[:, -1]

    def _steps(self) -> _Steps:
        """Return kinds of rows, and at which thresholds rows are of which kind."""
        n_tasks = self.ranks.shape[1]
        row_weight, inside = self.cells.unit_weight, self.inside
        own = row_weight
        if self.term.leverage.ndim == 2 and self.member.sum(axis=1).max(initial=0) <= 1:
            inside = self.member * self.term.share
            own = row_weight * (self.member * self.term.leverage).sum(axis=1)
        # Up to its lowest rank all tasks of a row are predicted, and above the highest none.
        ends = np.sort(self.ranks, axis=1) + 1
        starts = np.concatenate([np.zeros_like(ends[:, :1]), ends], axis=1)
        ends = np.concatenate([ends, np.full_like(ends[:, :1], self.n + 1)], axis=1)
        rows = np.tile(np.arange(len(self.ranks)), n_tasks + 1)
        starts, ends = starts.T.ravel(), ends.T.ravel()
        kept = starts < ends
        rows, starts, ends = rows[kept], starts[kept], ends[kept]
        change: Array = (self.ranks[rows] >= starts[:, None]) - self.labels[rows]
        kinds, kind = np.unique(
            np.concatenate([inside[rows], change], axis=1), axis=0, return_inverse=True
        )
        rest = row_weight * self._centre
        powers = [own**2, own * rest, rest**2]
        powers += [own ** (4 - power) * rest**power for power in range(5)]
        added = (self.cells.units * np.stack(powers)).T[rows]
        n_groups = inside.shape[1]
        at, kind = np.concatenate([starts, ends]), np.tile(kind.reshape(-1), 2)
        order = np.argsort(at, kind="stable")
        return _Steps(
            kinds[:, :n_groups],
            kinds[:, n_groups:],
            at[order],
            kind[order],
            np.concatenate([added, -added])[order],
        )


def _above(ranks: Array, worth: Array, n: int) -> Array:
    """Return at each threshold the sum of `worth` over what is positive."""
    sums = np.zeros((n + 1, *worth.shape[ranks.ndim :]))
    np.add.at(sums, ranks, worth)
    return np.asarray(np.cumsum(sums[::-1], axis=0)[::-1])


@dataclass(frozen=True, eq=False)
class _Steps:
    """Kinds of rows, with what they are of groups and how they change, and when rows become one.

    `at` are thresholds, in order, at which the sums of a `kind` change by `added`.
    """

    inside: Array
    change: Array
    at: Array
    kind: Array
    added: Array

    def sums(self, at: slice) -> Array:
        """Return what is added at some thresholds (thresholds × kinds × powers)."""
        first, last = np.searchsorted(self.at, [at.start, at.stop])
        sums: Any = np.zeros((at.stop - at.start, len(self.inside), self.added.shape[1]))
        here = slice(first, last)
        np.add.at(sums, (self.at[here] - at.start, self.kind[here]), self.added[here])
        return sums
