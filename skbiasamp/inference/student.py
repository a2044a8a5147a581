"""Means of skewed numbers."""

import numpy as np

from skbiasamp._input.checks import Array


def skewed_reach(apart: Array, weight: Array, reach: float) -> Array:
    """Return how many standard errors below and above a mean reaches, if numbers are skewed.

    `apart` are the numbers less their mean. Each is Student's reach or, if that is further, its
    correction for skewness (Hall 1992), which is too short if tails are heavy on both sides.
    """
    n, square, cube = (weight @ apart**power for power in (0, 2, 3))
    part = cube / (square**3 / n) ** 0.5 / (6 * n**0.5)
    ends = np.array([reach, -reach])
    if abs(part) > 1e-9:  # else the limit is Student's
        ends = (np.cbrt(1 + 6 * part * (ends - part)) - 1) / (2 * part)
    return np.maximum(reach, ends * [1, -1])
