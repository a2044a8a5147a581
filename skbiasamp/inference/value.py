"""One number and two statements: how much associations changed, and in which direction.

A value is a sum of sign × change over pairs. The interval is ordinary: it follows from how much
each row moves the value. The direction names the verdict and never touches the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array
from skbiasamp.inference.association import Association, known_or_zero
from skbiasamp.inference.influence import degrees_of_freedom, interval

FEWEST_ROWS = 30  # of an attack, and of a group that pages show first
# Gaussian draws of the largest deviation, always the same ones: a verdict is not random.
_N_DRAWS = 1000
# Beyond so many pairs all correlations would need too much memory: bounds of independent pairs.
_MOST_PAIRS = 2000


@dataclass(frozen=True, eq=False)
class Signs:
    """The sign by which each pair's change counts, as far as labels are sure of it.

    `values` are −1 to 1. `source` are the labels' associations, if these decide the signs and their
    rows are those of the changes; None if the signs are known. `fixed` are pairs whose sign is
    known all the same. `made`: by `Pairs`, not given.
    """

    values: Array
    source: Association | None = None
    above: bool = False
    fixed: Array | bool = False
    made: bool = False

    @classmethod
    def of(cls, labels: Association, *, above: bool = False, known: Any = math.nan) -> Signs:
        """Return signs of labels whose rows are those of the changes: erf(z).

        It is the mean, over all ways to part the rows, of signs from two thirds of them, so that
        changes in the other third share no noise with them. `above`: pairs above 0 count, and
        those below do not. `known` are signs that labels do not decide; NaN where they do.
        """
        values = np.where(labels.variance > 0, special.erf(known_or_zero(labels.z)), 0.0)
        values = (1 + values) / 2 if above else values
        fixed = ~np.isnan(known)
        return cls(np.where(fixed, known, values), labels, above, fixed)

    @property
    def sd(self) -> Array:
        """By how much signs that labels leave open may be others."""
        assert self.source is not None
        # 1 − erf² without its rounding errors.
        rest = special.erfc(np.abs(known_or_zero(self.source.z)))
        open_ = np.where(self.source.variance > 0, np.sqrt(rest * (2 - rest)), 1.0)
        return np.where(self.fixed, 0.0, open_ / 2 if self.above else open_)

    @property
    def slope(self) -> Array:
        """By how much each sign follows the labels' association; 0 for signs that are known."""
        labels = self.source
        if labels is None:
            return np.zeros(self.values.shape)
        slope = (
            (1 if self.above else 2) / math.sqrt(math.pi) * np.exp(-(known_or_zero(labels.z) ** 2))
        )
        varies = (labels.variance > 0) & ~np.asarray(self.fixed)
        return np.divide(slope, labels.sd, out=np.zeros(slope.shape), where=varies)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value with its interval and test.

    `amplifications` are sign × change of each pair, and `parts` what they add to the value.
    """

    value: float
    low: float
    high: float
    p_value: float
    standard_error: float
    degrees_of_freedom: float
    parts: Array
    amplifications: Array


def estimate(
    change: Association,
    signs: Signs,
    weights: Array,
    *,
    confidence_level: float | None = 0.95,
) -> Estimate:
    """Return the sum over pairs of weight × sign × change, with its interval.

    Parameters
    ----------
    change : Association
        What changes.
    signs : Signs
        The sign of each pair.
    weights : array of shape (n_groups, n_tasks)
        What a pair is of the value; 0 for pairs that do not count.
    confidence_level : float or None, default=0.95
        Level of the interval. None: the value alone.

    Returns
    -------
    estimate : Estimate
    """
    defined = ~np.isnan(change.value)
    weights = np.where(defined, weights, 0.0)
    amplifications = np.where(signs.values == 0, 0.0, signs.values * change.value)
    shared = np.zeros(signs.values.shape)
    if signs.source is not None:  # what signs and changes have in common by chance is no change
        shared = signs.slope * signs.source.cross(change)
    amplifications = np.where(defined, amplifications - shared, np.nan)
    parts = weights * amplifications
    value = float(known_or_zero(parts).sum()) if defined.any() else math.nan
    low = high = p_value = error = df = math.nan
    if confidence_level is not None and defined.any() and change.is_joint:
        counted = counted_pairs(signs, weights)
        squares = fourth = units = 0.0
        unsure, beside = np.zeros(0, dtype=np.intp), np.zeros((0, 0))
        if signs.source is not None:
            # Signs of the same rows vary too: two pairs count by the expected product of their
            # signs.
            unsure, beside = _products_of_signs(signs, weights, counted)
        known = np.where(counted, weights * signs.values, 0.0)
        if len(unsure) or change.value.shape[1] > 1:
            moved = change.squares(known, unsure, beside)
        else:
            moved = [(own**2, times, factor) for own, times, factor in change.project(known)]
        for square, times, jackknife in moved:
            each = jackknife * square
            squares += float(each @ times)
            fourth += float(each**2 @ times)
            units += float(times.sum())
        # Half a row gained, and half a row lost.
        unseen = (weights**2 * change.unseen)[counted]
        squares, fourth = squares + float(unseen.sum()), fourth + float((unseen**2).sum() / 2)
        error = math.sqrt(squares)
        df = min(float(degrees_of_freedom(squares, fourth)), max(units - 1, 1.0))
        low, high, p_value = interval(value, error, df, confidence_level)
        low, high = float(low), float(high)
        if math.isnan(error):  # one cluster shows neither variance nor how sure signs are
            value, p_value = math.nan if signs.source is not None else value, math.nan
    return Estimate(value, low, high, p_value, error, df, parts, amplifications)


def counted_pairs(signs: Signs, weights: Array) -> Array:
    """Return which pairs add to a value."""
    has_sign = signs.values != 0
    if signs.source is not None:
        has_sign = np.where(signs.fixed, has_sign, signs.source.variance > 0)
    return np.asarray((weights != 0) & has_sign)


def sign_products(signs: Signs, weights: Array) -> Array:
    """Return the expected products of two pairs' weighted signs (pairs × pairs)."""
    counted = counted_pairs(signs, weights)
    known = np.where(counted, weights * signs.values, 0.0).ravel()
    products = np.outer(known, known)
    if signs.source is not None:
        unsure, beside = _products_of_signs(signs, weights, counted)
        products[np.ix_(unsure, unsure)] += beside
    return products


def _products_of_signs(signs: Signs, weights: Array, counted: Array) -> tuple[Array, Array]:
    """Return the positions of pairs whose sign labels leave open.

    Beside them stands what the expected product of two such signs is beside that of their means.
    """
    assert signs.source is not None
    pairs = np.flatnonzero(counted & (signs.sd > 3e-5))
    if not len(pairs):
        return pairs, np.zeros((0, 0))
    spread = signs.source.gram(pairs)
    sd = np.sqrt(np.diag(spread))
    correlation = np.clip(spread / np.outer(sd, sd), -1, 1)
    np.fill_diagonal(correlation, 1.0)  # near 1 the angle has large rounding errors
    angle = 2 / np.pi * np.arcsin(correlation)
    open_ = (signs.sd * weights).ravel()[pairs]
    return pairs, np.outer(open_, open_) * angle


# --------------------------------------------------------------------------- the largest pair


def margin(association: Association, level: float) -> float:
    """Return so many standard errors that all pairs stay within them together (max-T)."""
    sd = association.sd.ravel()
    pairs = np.flatnonzero((sd > 0) & ~np.isnan(association.value.ravel()))
    if not (1 < len(pairs) <= _MOST_PAIRS and association.is_joint):
        return _independent_margin(len(pairs), level)
    covariance = association.gram(pairs) + np.diag(association.unseen.ravel()[pairs])
    return margin_of(np.asarray(covariance / np.outer(sd[pairs], sd[pairs])), level)


def margin_of(correlation: Array, level: float) -> float:
    """Return so many standard errors that correlated numbers stay within them together (max-T)."""
    n = len(correlation)
    independent = _independent_margin(n, level)
    if not 1 < n <= _MOST_PAIRS:
        return independent
    # Sorted by what no order of names changes, so that the draws do not depend on it either.
    keys = ((np.abs(correlation) ** power).sum(axis=0).round(9) for power in (1, 2))
    order = np.lexsort([*keys])
    correlation = correlation[np.ix_(order, order)] + 1e-9 * np.eye(n)
    try:
        root = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:  # it is near to singular
        values, vectors = np.linalg.eigh(correlation)
        root = np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    largest = np.abs(_draws(n) @ root.T).max(axis=1)
    return min(float(np.quantile(largest, level)), independent)


@lru_cache(maxsize=1)
def _draws(n: int) -> Array:
    return np.random.default_rng(0).normal(size=(_N_DRAWS, n))


def _independent_margin(n: int, level: float) -> float:
    """Return the same of independent numbers; no correlation needs more (Sidak)."""
    return float(-special.ndtri((1 - level ** (1 / max(n, 1))) / 2))


def reach_of_all(association: Association, level: float) -> Array:
    """Return how far intervals reach that hold for all pairs at once.

    They are as many standard errors for all pairs, of Student's t as each pair alone has them.
    """
    tail = min((1 - level) / 2, float(special.ndtr(-margin(association, level))))
    return np.asarray(-special.stdtrit(association.units, tail) * association.sd)


def are_joint(association: Association, level: float = 0.95) -> bool:
    """Return whether the largest of all associations is significant (max-T)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(association.value) / association.sd
    z = z[np.isfinite(z)]
    if not z.size or z.max() <= _independent_margin(1, level):
        return False
    # No correlation needs more standard errors than independent pairs do (Sidak).
    if z.max() > _independent_margin(len(z), level):
        return True
    return bool(z.max() > margin(association, level))
