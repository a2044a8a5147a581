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


def compare_counts(left: Array, right: Array, *, exact: bool) -> Array:
    """Return the sign of left − right, 0 if they are equal.

    Sums of whole weights are exact; those of fractional weights carry rounding noise, which
    must not give an independent pair a sign.
    """
    difference = left - right
    if exact:
        return np.sign(difference).astype(int)
    noise = 1e-12 * np.maximum(np.abs(left), np.abs(right)).astype(float)
    return np.where(np.abs(difference) <= noise, 0, np.sign(difference)).astype(int)


def countable(total: Any, *arrays: Array, exact: bool, factor: int = 1) -> tuple[Array, ...]:
    """Return counts in a type in which the product of two of them is exact."""
    if not exact:
        return arrays
    # Products of whole counts up to 2**53 outgrow floats first and 64-bit integers later.
    limit = float(np.max(total)) * max(float(np.max(total)), factor)
    if limit < 2**53:
        return arrays
    if limit < 2**62:
        return tuple(np.asarray(array).astype(np.int64) for array in arrays)
    return tuple(np.vectorize(int, otypes=[object])(array) for array in arrays)


def overall_rate(cells: Contingency, side: SideName) -> Array:
    """Return the rate of each task, or group, in all rows, to compare with groups × tasks."""
    share = cells.count(side) / np.asarray(cells.total)[..., None]
    return share[..., None, :] if side.startswith("task") else share[..., :, None]


def association_sign(labels: Contingency) -> Array:
    """Return the sign of P(a, t) − P(a) P(t) for every pair of group and task; a tie is 0."""
    n, exact = labels.total, labels.whole
    counts = labels.joint("group", "task"), labels.count("group"), labels.count("task")
    total, joint, groups, tasks = countable(n, np.asarray(n), *counts, exact=exact)
    # Counts, not frequencies: exact ties must stay ties (1/3 of 3/7 does not survive division).
    chance = groups[..., :, None] * tasks[..., None, :]
    return compare_counts(total[..., None, None] * joint, chance, exact=exact)


def share_sign(labels: Contingency) -> Array:
    """Return 1 for every group that has more than its equal share of a task, else 0."""
    joint, tasks = labels.joint("group", "task"), labels.count("task")[..., None, :]
    return over_share(joint, tasks, len(labels.groups), exact=labels.whole)


def over_share(part: Array, whole: Array, shares: int, *, exact: bool) -> Array:
    """Return 1 where part/whole > 1/shares, else 0; exactly 1/shares is not above it."""
    limit = np.max(whole, initial=1)
    part, whole = countable(limit, part, whole, exact=exact, factor=shares)
    return (compare_counts(part * shares, whole, exact=exact) > 0).astype(int)


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
