"""Parts of a value: each is a change of associations, as the value is, so that they sum to it.

Directional amplification (A→T) is linear in the predictions. What a part shares with signs of the
same labels is taken off part by part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Labels, Members
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.inference.association import Association, associate
from skbiasamp.inference.influence import degrees_of_freedom, interval, unit_sums

LABEL, DECISION = "task", "task_pred"


def dense_numbers(cells: Contingency, labels: Labels | str) -> Array:
    """Return labels or predictions as numbers (cells × tasks)."""
    known = labels_of(cells, labels) if isinstance(labels, str) else labels  # type: ignore[arg-type]
    return known.dense(slice(None), float)


def changes_of_decisions(cells: Contingency, score: Labels) -> dict[str, Association]:
    """Return the changes from labels to scores, to rounded scores, and to decisions."""
    score = Members(dense_numbers(cells, score))
    label, decision = (associate(cells, side, "group") for side in ("task", "task_pred"))
    scores, rounded = associate(cells, score, "group", by_group=True), _rounded(cells, score)
    return {"scores": scores - label, "rounding": rounded - scores, "threshold": decision - rounded}


def _rounded(cells: Contingency, score: Members) -> Association:
    """Return the associations if each task is predicted as often as it is labelled.

    Rows with the largest scores are predicted; those at the threshold are shared out. The threshold
    is of these rows: one that is labelled and not predicted lowers it, so that another row near it
    is predicted, of each group as often as it is there.
    """
    label = dense_numbers(cells, "task")
    rounded, near = np.zeros(label.shape), np.zeros(label.shape)
    for task in range(label.shape[1]):
        each = _at_threshold(cells, score.matrix[:, task], label[:, task])
        rounded[:, task], near[:, task] = each
    fixed = associate(cells, Members(rounded), "group", by_group=True)
    every = Members(np.ones((cells.n_cells, len(fixed.n))))
    moved = associate(cells, Members(label - rounded), every, by_group=True, centre=False)
    inside = pair_sums(labels_of(cells, "group"), Members(near), cells.weight)
    share = np.divide(inside, fixed.n, out=np.zeros(inside.shape), where=fixed.n > 0)
    return fixed + moved * (cells.total * share - 1)


def _at_threshold(cells: Contingency, score: Array, label: Array) -> tuple[Array, Array]:
    """Return by how much each row is predicted, and the density of rows near the threshold."""
    weight, need = cells.weight, float(cells.weight @ label)
    level, values = pd.factorize(-score, sort=True)  # from the largest score down
    inside = np.bincount(level, weight, minlength=len(values))
    before = np.cumsum(inside) - inside
    part = np.divide(need - before, inside, out=np.zeros(len(inside)), where=inside > 0)
    rounded = np.clip(part, 0, 1)[level]
    reach = math.sqrt(float((weight * cells.unit_weight) @ (label - rounded) ** 2))
    reach = max(reach, 1e-9 * cells.total)
    # Of each level, as much as is within a standard error of the last row that is predicted.
    first, last = np.maximum(before, need - reach), np.minimum(before + inside, need + reach)
    within = np.maximum(last - first, 0)
    near = np.divide(within, inside, out=np.zeros(len(inside)), where=inside > 0)[level]
    return rounded, near / (weight @ near)


def changes_of_predictors(
    cells: Contingency, base: Association | None, *, centre: bool = True
) -> dict[str, Association]:
    """Return what predicted tasks and predicted groups add to the shares of groups in a task.

    One predictor takes the place of its label, then the other: the mean of both orders. With a
    `base`, of training labels, the rest is how the labels of these rows differ from it.
    """

    def share(group: SideName, task: SideName) -> Association:
        known = associate(cells, group, given=task)
        return known if centre else known.without_centre()

    labels, both = share("group", "task"), share("group_pred", "task_pred")
    tasks, groups = share("group", "task_pred"), share("group_pred", "task")
    parts = {
        "task predictor": (tasks - labels + both - groups) * 0.5,
        "group predictor": (groups - labels + both - tasks) * 0.5,
    }
    if base is not None:
        parts["labels"] = labels - (base if centre else base.without_centre())
    return parts


def change_of_stratum(cells: Contingency, inside: Array) -> Association:
    """Return what some rows add to the change from labels to decisions."""
    added = (dense_numbers(cells, DECISION) - dense_numbers(cells, LABEL)) * inside[:, None]
    return associate(cells, Members(added), "group", by_group=True)


def within_rows(cells: Contingency, outcome: Labels, inside: Array) -> Association:
    """Return the associations of groups and tasks among some of the rows."""
    groups = labels_of(cells, "group")
    assert isinstance(groups, Codes)
    own = Codes(np.where(inside, groups.codes, -1), groups.width)
    every = Members(np.repeat(inside[:, None], groups.width, axis=1))
    how: dict[str, Any] = {"by_group": True, "centre": False}
    return associate(cells, outcome, own, **how) - associate(cells, outcome, every, **how)


# --------------------------------------------------------------------------- sums of rows


class Measured(NamedTuple):
    """A number, and how much a unit of weight of each cell moves it."""

    value: float
    influence: Array

    def row(self, cells: Contingency, level: float) -> dict[str, float]:
        """Return the number with its interval."""
        squares, fourth = _moments(cells, self.influence)
        df = degrees_of_freedom(squares, fourth)
        low, high, _ = interval(self.value, math.sqrt(squares), df, level)
        return {"value": self.value, "low": float(low), "high": float(high)}

    def z(self, cells: Contingency) -> float:
        """Return the number in standard errors; 0 if it does not vary."""
        error = math.sqrt(_moments(cells, self.influence)[0])
        return self.value / error if error > 0 and abs(self.value) > 1e-12 else 0.0

    def less(self, other: Measured) -> Measured:
        """Return the difference to another number of the same rows."""
        return Measured(self.value - other.value, self.influence - other.influence)


def mean_of(cells: Contingency, values: Array) -> Measured:
    """Return the mean of a number of each cell."""
    mean = float(cells.weight @ values) / cells.total
    return Measured(mean, (values - mean) / cells.total)


def _moments(cells: Contingency, influence: Array) -> tuple[float, float]:
    """Return sums of squares, and of fourth powers, of what independent rows or clusters add."""
    moved, times = unit_sums(cells, influence)
    n = float(times.sum())
    parts = np.asarray(moved) ** 2 * n / max(n - 1, 1)
    return float(times @ parts), float(times @ parts**2)


def weights_within(n: Array, share: Array) -> Array:
    """Return what rows of each group and stratum weigh if groups differ within strata alone.

    `n` are rows of groups × strata. Each stratum then is in every group as frequent as its `share`,
    and groups stay as large as they are (direct standardisation). Rows in strata without rows of
    all groups weigh nothing.
    """
    known = n * ((n > 0).all(axis=0, where=n.any(axis=1, keepdims=True)) & (share > 0))
    wanted = share * known.any(axis=0)
    size = known.sum(axis=1, keepdims=True) / (wanted.sum() or 1.0)
    return np.divide(wanted * size, known, out=np.zeros(n.shape), where=known > 0)


@dataclass(frozen=True, eq=False)
class StrataSums:
    """Rows of strata of groups, and how many of them are labelled and predicted as each task.

    `n` is groups × strata; `of` says by stage how many are of each task (one more axis).
    """

    n: Array
    of: Mapping[str, Array]

    @classmethod
    def count(cls, cells: Contingency, group: Array, stratum: Array, n_strata: int) -> StrataSums:
        """Count cells, whose groups and strata are known."""
        shape = len(cells.groups), n_strata
        codes = Codes(group * n_strata + stratum, shape[0] * shape[1])
        n = np.bincount(codes.codes, cells.weight, codes.width).reshape(shape)
        of = {
            stage: pair_sums(codes, labels_of(cells, stage), cells.weight)  # type: ignore[arg-type]
            for stage in (LABEL, DECISION)
        }
        return cls(n, {stage: sums.reshape(*shape, -1) for stage, sums in of.items()})

    @cached_property
    def weight(self) -> Array:
        """The share of each stratum in all rows."""
        return np.asarray(self.n.sum(axis=0) / self.n.sum())

    @cached_property
    def within(self) -> Array:
        """What a row of each group and stratum weighs if groups have the strata of all rows."""
        return weights_within(self.n, self.weight)

    @cached_property
    def shared(self) -> Array:
        """Which strata have rows of all groups."""
        return np.asarray(self.within.any(axis=0))

    def rate(self, stage: str) -> Array:
        """Return P(task | group): groups × tasks; NaN without rows."""
        return _share(self.of[stage].sum(axis=1), self.n.sum(axis=1)[:, None])

    def standardised_rate(self, stage: str) -> Array:
        """Return P(task | group) if each group has the strata of all rows."""
        yes = (self.of[stage] * self.within[..., None]).sum(axis=1)
        return _share(yes, (self.n * self.within).sum(axis=1)[:, None])

    def disparity(self, stage: str, *, within: bool) -> Array:
        """Return P(group | not the task) − P(group | task), or its mean within strata."""
        yes = self.of[stage]
        no = self.n[..., None] - yes
        if not within:
            yes, no = (counts.sum(axis=1, keepdims=True) for counts in (yes, no))
        apart = _share(no, no.sum(axis=0)) - _share(yes, yes.sum(axis=0))
        if not within:
            return np.asarray(apart[:, 0])
        return np.asarray(np.einsum("azt,z->at", np.nan_to_num(apart), self.weight))


def _share(part: Array, whole: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / whole)


@dataclass(frozen=True, eq=False)
class StrataRows:
    """Cells with the group and the stratum of each, and their sums."""

    cells: Contingency
    group: Array
    stratum: Array
    sums: StrataSums

    def not_shared(self, weights: Array) -> Measured:
        """Return what strata without rows of all groups add to the change within strata.

        `weights` are what each pair counts, with its sign. The shares of strata are known.
        """
        cells, total, influence = self.cells, 0.0, np.zeros(self.cells.n_cells)
        change = dense_numbers(cells, DECISION) - dense_numbers(cells, LABEL)
        for z in np.flatnonzero(~self.sums.shared):
            here = np.flatnonzero(self.stratum == z)
            group, weight, own = self.group[here], cells.weight[here], change[here]
            n = self.sums.n[:, z]
            moves = (self.sums.of[DECISION] - self.sums.of[LABEL])[:, z]
            rate, mean = np.nan_to_num(_share(moves, n[:, None])), moves.sum(axis=0) / n.sum()
            counts = weights * self.sums.weight[z] * (n > 0)[:, None]
            total += float((counts * (rate - mean)).sum())
            each = counts[group] * (own - rate[group]) * _leverage(cells, here, n[group])[:, None]
            influence[here] = each.sum(axis=1) / n[group]
            influence[here] -= (own - mean) @ counts.sum(axis=0) / weight.sum()
        return Measured(total, influence)

    def gap(self, y: Array, group: int, other: int) -> dict[str, Measured]:
        """Split the difference of the rates of two groups (Kitagawa 1955).

        `y` is 1 or 0 in each cell. *explained* is what the different strata of the groups make of
        it, *unexplained* the difference within strata. *no overlap* is how far rows in strata of
        one group alone move the rates (Ñopo 2008).
        """
        n = self.sums.n[[group, other]]
        both, some = (n > 0).all(axis=0), (n > 0).any(axis=0)
        explained, unexplained = self._within(y, group, other, n * both)
        alone = Measured(0.0, np.zeros(self.cells.n_cells))
        if not both.all(where=some):
            alone = self.difference(y, group, other).less(explained).less(unexplained)
        return {"explained": explained, "unexplained": unexplained, "no overlap": alone}

    def _within(self, y: Array, group: int, other: int, n: Array) -> tuple[Measured, Measured]:
        """Return what strata explain of a gap, and what they do not; `n` are rows that count."""
        size = n.sum(axis=1)
        share, rate = np.zeros(n.shape), np.zeros(n.shape)
        rows = [self._rows_of(which, n[i] > 0) for i, which in enumerate((group, other))]
        for i, here in enumerate(rows):
            if size[i]:
                share[i] = n[i] / size[i]
                yes = np.bincount(self.stratum[here], (self.cells.weight * y)[here], n.shape[1])
                rate[i] = np.divide(yes, n[i], out=np.zeros(len(yes)), where=n[i] > 0)
        mean, apart = rate.mean(axis=0), rate[0] - rate[1]
        more, both = share[0] - share[1], share.mean(axis=0)
        explained = np.zeros(self.cells.n_cells)
        unexplained = explained.copy()
        for i, (here, side) in enumerate(zip(rows, (1, -1), strict=True)):
            z = self.stratum[here]
            own = (y[here] - rate[i, z]) / n[i, z] * _leverage(self.cells, here, n[i, z])
            explained[here] = more[z] / 2 * own
            explained[here] += side * (mean[z] - share[i] @ mean) / max(size[i], 1e-300)
            unexplained[here] = side * both[z] * own
            unexplained[here] += (apart[z] - share[i] @ apart) / 2 / max(size[i], 1e-300)
        return Measured(float(more @ mean), explained), Measured(float(both @ apart), unexplained)

    def difference(self, y: Array, group: int, other: int, *, within: bool = False) -> Measured:
        """Return the difference of the rates of two groups, or of their standardised rates."""
        n = self.sums.n
        times = self.sums.within if within else np.ones(n.shape)
        rates, influence = [], np.zeros(self.cells.n_cells)
        for which, side in ((group, 1.0), (other, -1.0)):
            here = self._rows_of(which, times[which] > 0)
            z, total = self.stratum[here], float(n[which] @ times[which])
            weight = times[which, z] / total if total else times[which, z]
            rates.append(float((self.cells.weight[here] * weight) @ y[here]) if total else math.nan)
            centre: Any = rates[-1]
            size: Any = total
            if within:
                yes = np.bincount(z, self.cells.weight[here] * y[here], n.shape[1])
                centre, size = yes[z] / n[which, z], n[which, z]
            reach = _leverage(self.cells, here, size)
            influence[here] = side * weight * (y[here] - centre) * reach
        return Measured(rates[0] - rates[1], influence)

    def _rows_of(self, group: int, strata: Array) -> Array:
        return np.flatnonzero((self.group == group) & strata[self.stratum])


def _leverage(cells: Contingency, rows: Array, n: Any) -> Array:
    """Return by how much rows count more since they move their own rate (HC2)."""
    return np.asarray(1 / np.sqrt(1 - np.minimum(cells.unit_weight[rows] / n, 0.5)))
