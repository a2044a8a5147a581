"""Alarms that hold over a whole watch: ranks among random divisions, and evidence of a change.

A period is compared with random divisions of the rows known so far, into as many rows of each
group as the period has. If nothing changed, its rank among them is uniform, and ranks of different
periods are independent (Vovk, Gammerman & Shafer 2005, Algorithmic Learning in a Random World,
Sec. 2.2: conformal p-values are). The error of the reference is thereby included, and values need
not be normal. Evidence is the likelihood ratio of a step of unknown size that began in an unknown
period, a mixture over both (Howard et al. 2021; Shin, Ramdas & Rinaldo 2023). Without a change it
is a supermartingale: the chance that it ever exceeds 1 / alpha is at most alpha (Ville).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array

# Standard deviation of the size of a step, in standard errors of the period in which it began.
STEP = 2.0
_TOTAL = 2.10974280  # the sum of 1 / (k log(k)²) over k of 2 and more
_DIGITS = 12  # sums of the same numbers in another order are the same value


def normal_scores(drawn: Array, observed: Array) -> Array:
    """Return the normal score of each observed value among its draws (first axis).

    Ties share the mean score of the ranks that they take up, so that no more random numbers are
    needed. Exponentials of such means are never larger than means of exponentials, so evidence
    made of them stays a supermartingale. NaN: undefined in the period.
    """
    drawn, observed = np.round(drawn, _DIGITS), np.round(observed, _DIGITS)
    known = ~np.isnan(drawn)
    below = (known & (drawn < observed)).sum(axis=0)
    ties = (known & (drawn == observed)).sum(axis=0) + 1
    n = known.sum(axis=0) + 1
    low, high = special.ndtri(below / n), special.ndtri((below + ties) / n)
    density = np.exp(-(np.stack([low, high]) ** 2) / 2) / np.sqrt(2 * np.pi)
    return np.where(np.isnan(observed), np.nan, (density[0] - density[1]) * n / ties)


class Evidence(NamedTuple):
    """Logarithm of the evidence of a change at each look, and where the change began.

    `onset` is the position of the period in which the likeliest step began. Arrays are
    (sequences × looks).
    """

    log: Array
    onset: Array


def evidence(scores: Array, rows: Array, n_reference: Array) -> Evidence:
    """Return the evidence that scores (sequences × looks) are not those of an unchanged model.

    `rows` is how many rows each score rests on, and `n_reference` on how many the reference does.
    They decide which changes are found first; no choice of them raises more false positives.
    """
    n_looks = scores.shape[1]
    used = ~np.isnan(scores) & (rows > 0) & (n_reference[:, None] > 0)
    rows = np.where(used, rows, 0.0)
    before = n_reference[:, None] + np.cumsum(rows, axis=1) - rows
    with np.errstate(invalid="ignore", divide="ignore"):
        pull = np.where(used, np.sqrt(rows / (before * (before + rows))), 0.0)
    pulled = np.where(used, pull * scores, 0.0)
    total = np.cumsum(pulled, axis=1)
    position = np.arange(2, n_looks + 2)
    prior = 1 / (position * np.log(position) ** 2 * _TOTAL)
    left = 1 - np.cumsum(prior)
    log = np.zeros(scores.shape)
    onset = np.zeros(scores.shape, dtype=np.intp)
    for look in range(n_looks):
        starts = slice(0, look + 1)
        base = before[:, starts]
        # What a step that began there adds up to by now, and its variance if there is none.
        distance = total[:, [look]] - (total[:, starts] - pulled[:, starts])
        after = before[:, [look]] + rows[:, [look]]
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = np.where(used[:, starts], STEP**2 / rows[:, starts], 0.0)
            spread = np.where(base > 0, unit * base * (after - base) / after, 0.0)
            ratio = unit * (base * distance) ** 2 / (2 * (1 + spread)) - np.log1p(spread) / 2
        parts = np.concatenate(
            [np.log(prior[starts]) + ratio, np.full((len(scores), 1), np.log(left[look]))], axis=1
        )
        log[:, look] = special.logsumexp(parts, axis=1)
        onset[:, look] = np.argmax(np.where(used[:, starts], parts[:, :-1], -np.inf), axis=1)
    return Evidence(log, onset)


def adjusted(log_evidence: Array, share: float) -> Array:
    """Return p-values that hold at every look and for every sequence together.

    `share` is the part of the error rate that each sequence is given.
    """
    best = np.maximum.accumulate(log_evidence, axis=1)
    return np.asarray(np.minimum(1.0, np.exp(-best) / share))
