"""Signs of correlations, from counts, with exact ties, and the rates of all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Signs


def compare_counts(
    left: Array, right: Array, *, exact: bool, times: tuple[Any, Any] = (1, 1)
) -> Array:
    """Return the sign of left − right, 0 if they are equal; of products, if there are `times`.

    Sums of whole weights are exact; those of fractional weights carry rounding noise, which
    must not give an independent pair a sign.
    """
    counts = [np.asarray(count) for count in (left, times[0], right, times[1])]
    if exact:
        # Products of whole counts up to 2**53 outgrow floats first and 64-bit integers later.
        most = [float(np.max(count, initial=0)) for count in counts]
        limit = max(most[0] * most[1], most[2] * most[3])
        if limit >= 2**62:
            counts = [np.vectorize(int, otypes=[object])(count) for count in counts]
        elif limit >= 2**53:
            counts = [count.astype(np.int64) for count in counts]
    left, right = counts[0] * counts[1], counts[2] * counts[3]
    difference = left - right
    if exact:
        return np.sign(difference).astype(int)
    noise = 1e-12 * np.maximum(np.abs(left), np.abs(right)).astype(float)
    return np.where(np.abs(difference) <= noise, 0, np.sign(difference)).astype(int)


def overall_rate(cells: Contingency, side: SideName) -> Array:
    """Return the rate of each task, or group, in all rows, to compare with groups × tasks."""
    share = cells.count(side) / np.asarray(cells.total)[..., None]
    return share[..., None, :] if side.startswith("task") else share[..., :, None]


def association_sign(labels: Contingency) -> Array:
    """Return the sign of P(a, t) − P(a) P(t) for every pair of group and task; a tie is 0."""
    # Counts, not frequencies: exact ties must stay ties (1/3 of 3/7 does not survive division).
    return compare_counts(
        labels.joint("group", "task"),
        labels.count("group")[..., :, None],
        times=(np.asarray(labels.total)[..., None, None], labels.count("task")[..., None, :]),
        exact=labels.whole,
    )


def share_sign(labels: Contingency) -> Array:
    """Return 1 for every group that has more than its equal share of a task, else 0."""
    joint, tasks = labels.joint("group", "task"), labels.count("task")[..., None, :]
    return over_share(joint, tasks, len(labels.groups), exact=labels.whole)


def over_share(part: Array, whole: Array, shares: int, *, exact: bool) -> Array:
    """Return 1 where part/whole > 1/shares, else 0; exactly 1/shares is not above it."""
    return (compare_counts(part, whole, times=(shares, 1), exact=exact) > 0).astype(int)


def with_audited_signs(pairs: Pairs, train: Contingency, audited: Association) -> Pairs:
    """Let audited labels give the directions of groups and tasks that training lacks.

    In the published value these pairs are ties.
    """
    # Numbers may add up to 0.
    tasks = np.array(not train.soft("task")) & (train.count("task") == 0)
    lacking = (train.count("group") == 0)[:, None] | tasks
    if pairs.reference is None or not lacking.any() or audited.value.ndim > 2:
        return pairs
    trained, open_ = pairs.reference, lacking * 1.0
    parts = (
        replace(own * of, value=np.where(of, own.value, 0.0))
        for own, of in ((trained, 1 - open_), (audited, open_))
    )
    reference = next(parts) + next(parts)
    known = np.where(lacking, np.nan, pairs.signs.values)
    return replace(pairs, reference=reference, signs=Signs.of(reference, known=known))
