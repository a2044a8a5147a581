"""How many rows of each group and label pass thresholds of a score."""

from __future__ import annotations

import numpy as np

from skbiasamp._input.checks import Array


def between(scores: Array, most: int) -> Array:
    """Return thresholds halfway between distinct scores, −∞ and ∞; of more than `most`, some."""
    values = np.unique(scores)
    if len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).round().astype(int)]
    middle = values[:-1] + np.diff(values) / 2
    return np.concatenate([[-np.inf], np.where(middle > values[:-1], middle, values[1:]), [np.inf]])


def passed(
    scores: Array, member: Array, positive: Array, weight: Array, thresholds: Array
) -> Array:
    """Return the weight of rows with a score of at least each threshold.

    The result is labels (negative, positive) × groups × thresholds; `member` is rows × groups.
    """
    code = np.searchsorted(thresholds, scores, side="right")  # thresholds that a row passes
    sums = [
        [np.bincount(code, weight * group * rows, len(thresholds) + 1) for group in member.T]
        for rows in (~positive, positive)
    ]
    return np.cumsum(np.array(sums)[..., ::-1], axis=-1)[..., ::-1][..., 1:]
