"""Parts of a value: sums of rows by group and stratum, and the parts that are made of them.

Directional amplification (A→T) is linear in the predictions, so that its parts sum to it. All
arrays begin with draws. The first draw is the data, and the others are resamples of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.cells import Cells, labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.inference.resamples import measure_resamples  # W56

# Scores that are told apart in resamples: within so many standard errors of the threshold that
# predicts a task as often as it is labelled, in so many steps. All others are above or below it.
_ERRORS, _STEPS = 6.0, 100

LABEL, SCORE, ROUNDED, DECISION = "label", "score", "rounded", "decision"


class _Counted(NamedTuple):
    """Rows of each group, and of each pair of group and task by what labels or predicts it."""

    n: Array
    decision: Array
    label: Array | None = None
    score: Array | None = None
    rounded: Array | None = None


@dataclass(frozen=True, eq=False)
class StrataSums:
    """Rows of strata of groups, and how many of them are labelled and predicted as each task.

    `n` is draws × groups × strata; `of` says by stage how many are of each task (one more axis).
    """

    n: Array
    of: Mapping[str, Array]

    def rate(self, stage: str) -> Array:
        """Return P(task | group): draws × groups × tasks; NaN without rows."""
        return _share(self.of[stage].sum(axis=2), self.n.sum(axis=2)[..., None])

    def overall(self, stage: str) -> Array:
        """Return P(task): draws × 1 × tasks."""
        total = self.of[stage].sum(axis=(1, 2)) / self.n.sum(axis=(1, 2))[:, None]
        return np.asarray(total[:, None])

    def association(self, stage: str) -> Array:
        """Return P(task | group) − P(task)."""
        return self.rate(stage) - self.overall(stage)

    def change(self, before: str, after: str) -> Array:
        """Return by how much the associations change between two stages."""
        return self.association(after) - self.association(before)

    def of_stratum(self, position: int) -> Array:
        """Return what the rows of a stratum add to the change from labels to decisions."""
        added = self.of[DECISION][:, :, position] - self.of[LABEL][:, :, position]
        whole = added.sum(axis=1, keepdims=True) / self.n.sum(axis=(1, 2))[:, None, None]
        return _share(added, self.n.sum(axis=2)[..., None]) - whole

    # ------------------------------------------------------------------ within strata

    @cached_property
    def weight(self) -> Array:
        """The share of each stratum in all rows: draws × strata."""
        n = self.n.sum(axis=1)
        return np.asarray(n / n.sum(axis=1, keepdims=True))

    @cached_property
    def standardised(self) -> StrataSums:
        """The sums of rows with weights that make all groups have the strata of all rows.

        The strata, and groups, are as frequent in all draws as in the data.
        """
        weight = self.n[0] * weights_within(self.n[0], self.weight[0])
        each = np.divide(weight, self.n, out=np.zeros(self.n.shape), where=self.n > 0)
        of = {stage: _over_strata(sums, each) for stage, sums in self.of.items()}
        return StrataSums((self.n * each).sum(axis=2, keepdims=True), of)

    @cached_property
    def shared(self) -> Array:
        """Which strata of the data have rows of all groups."""
        return np.asarray(weights_within(self.n[0], self.weight[0]).any(axis=0))

    def not_shared(self) -> tuple[Array, Array]:
        """Return what the other strata add to the change within strata, and to the shift."""
        more, weight = self.of[DECISION] - self.of[LABEL], self.weight * ~self.shared
        whole = _share(more.sum(axis=1), self.n.sum(axis=1)[..., None])[:, None]
        apart = np.nan_to_num(_share(more, self.n[..., None]) - whole)
        shift = np.where(self.n[..., None] > 0, whole, 0.0)
        return _weighted(apart, weight), _weighted(shift, weight)

    def rate_within(self, stage: str) -> Array:
        """Return P(task | group, stratum), NaN without rows."""
        return _share(self.of[stage], self.n[..., None])

    def disparity(self, stage: str, *, within: bool) -> Array:
        """Return P(group | not the task) − P(group | task), or its mean within strata."""
        yes = self.of[stage]
        no = self.n[..., None] - yes
        if not within:
            yes, no = (counts.sum(axis=2, keepdims=True) for counts in (yes, no))
        apart = _share(no, no.sum(axis=1, keepdims=True)) - _share(
            yes, yes.sum(axis=1, keepdims=True)
        )
        return _weighted(np.nan_to_num(apart), self.weight) if within else apart[:, :, 0]

    def gap(self, stage: str, group: int, other: int) -> dict[str, Array]:
        """Split the difference of the rates of two groups (Kitagawa 1955): draws × tasks.

        *explained* is what the different strata of the groups make of it, *unexplained* the
        difference within strata. *no overlap* is how far rows in strata of one group alone move
        the rates (Ñopo 2008).
        """
        n = self.n[:, [group, other]]
        n = n * (n > 0).all(axis=1, keepdims=True)
        share = np.nan_to_num(_share(n, n.sum(axis=2, keepdims=True)))
        (own, theirs), rates = np.moveaxis(share, 1, 0), self.rate_within(stage)
        rate, reference = (np.nan_to_num(rates[:, members]) for members in (group, other))
        explained = np.einsum("rz,rzt->rt", own - theirs, (rate + reference) / 2)
        unexplained = np.einsum("rz,rzt->rt", (own + theirs) / 2, rate - reference)
        whole = self.rate(stage)[:, group] - self.rate(stage)[:, other]
        parts = {"explained": explained, "unexplained": unexplained}
        return parts | {"no overlap": whole - explained - unexplained}


def _over_strata(sums: Array, each: Array) -> Array:
    """Return sums of weighted rows of all strata: draws × groups × one stratum × tasks."""
    return np.asarray(np.einsum("razt,raz->rat", sums, each)[:, :, None])


def _weighted(values: Array, weight: Array) -> Array:
    """Return sums over strata, each times its weight: draws × groups × tasks."""
    return np.asarray(np.einsum("razt,rz->rat", values, weight))


def mean_of_pairs(sign: Array, of: Array) -> Array:
    """Return the mean over defined pairs in the direction of signs, by task: draws × tasks.

    The sum over tasks is the mean.
    """
    n = (~np.isnan(of)).sum(axis=(1, 2))[:, None]
    return np.asarray(np.nansum(sign * of, axis=1) / n)


def _share(part: Array, whole: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / whole)


# --------------------------------------------------------------------------- draws


def drawn_sums(
    cells: Contingency,
    group: Array,
    stratum: Array,
    sides: Mapping[str, Any],
    *,
    shape: tuple[int, int],
    n_resamples: int,
    random_state: Any,
) -> StrataSums:
    """Count the rows, and resamples of them, by strata of groups.

    `group` and `stratum` say which ones the groups of the cells stand for, of how many
    (`shape`), and `sides` where labels, decisions and scores are.
    """
    cells = ordered(cells)
    levels = [] if SCORE not in sides else _levels(cells, sides[SCORE])
    coarse = [_coarse(cells, of, task) for task, of in enumerate(levels)]

    def counted(resample: Cells, levels: Sequence[Codes]) -> _Counted:
        joint = {stage: resample.joint("group", side) for stage, side in sides.items()}
        rounded = _rounded(resample, levels) if levels else None
        return _Counted(resample.count("group"), rounded=rounded, **joint)

    (drawn,) = measure_resamples(
        lambda resample: (counted(resample, coarse),),
        cells,
        n_resamples,
        random_state=random_state,
        n_jobs=None,
    )
    data = counted(cells, levels)

    def spread(whole: Array, draws: Array) -> Array:
        every = np.concatenate([whole[None], draws])
        filled = np.zeros((len(every), *shape, *every.shape[2:]))
        filled[:, group, stratum] = every
        return filled

    each = zip(_Counted._fields, data, drawn, strict=True)
    of = {
        name: spread(whole, draws)
        for name, whole, draws in each
        if whole is not None and draws is not None
    }
    return StrataSums(of.pop("n"), of)


def _levels(cells: Cells, side: Any) -> list[Codes]:
    """Return for each task the distinct scores of rows, from the largest down, as codes."""
    scores = labels_of(cells, side).dense(slice(None), float)
    levels = []
    for score in scores.T:
        codes, values = pd.factorize(-score, sort=True)
        levels.append(Codes(codes, len(values)))
    return levels


def _coarse(cells: Cells, levels: Codes, task: int) -> Codes:
    """Return fewer levels of scores: those that resamples may put above or below the threshold.

    Rows of one level are shared out, so that steps far smaller than the standard error change
    nothing.
    """
    if levels.width <= 2 * _STEPS + 1:
        return levels
    total, need = cells.total, float(cells.count("task")[task])
    reached = np.cumsum(np.bincount(levels.codes, cells.weight, minlength=levels.width))
    rows = total * cells.units_per_weight
    error = max((2 * need * (total - need) / rows) ** 0.5, 1e-9 * total)
    step = np.rint((reached - need) / error * (_STEPS / _ERRORS)).clip(-_STEPS, _STEPS)
    return Codes(step.astype(int)[levels.codes] + _STEPS, 2 * _STEPS + 1)


def _rounded(cells: Cells, levels: Sequence[Codes]) -> Array:
    """Return how many rows have each task if it is predicted as often as it is labelled.

    Rows with the largest scores are; those at the threshold are shared out in expectation.
    """
    groups, need = labels_of(cells, "group"), cells.count("task")[..., None, :]
    parts = []
    for task, of in enumerate(levels):
        rows_in_pair = pair_sums(groups, of, cells.weight)
        weight = rows_in_pair.sum(axis=-2)
        left = need[..., task] - (np.cumsum(weight, axis=-1) - weight)
        part = np.divide(left, weight, out=np.zeros(weight.shape), where=weight > 0).clip(0, 1)
        parts.append((rows_in_pair * part[..., None, :]).sum(axis=-1))
    return np.stack(parts, axis=-1)
