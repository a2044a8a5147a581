"""Tests that a model moves nothing, of pairs and of values, and p-values of many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from skbiasamp._cells import labels_of, take
from skbiasamp._draws import flips, swapped
from skbiasamp._input import Array, InputError, check_option, numbers_of
from skbiasamp._order import ordered
from skbiasamp._progress import progress
from skbiasamp._sums import chunks, generator
from skbiasamp.contingency import Contingency
from skbiasamp.inference._clustered import Changes, changes
from skbiasamp.inference._influence import pair_variances, value_scores, value_variance
from skbiasamp.inference._pairs import Pairs

ADJUSTMENTS = ("holm", "fdr", None)


def paired_p_values(gained: Any, lost: Any) -> Any:
    """Compute p-values of McNemar's exact test of labels against predictions on the same rows.

    Use it to test if a model predicts a label more or less often than it occurs.

    .. versionadded:: 0.1

    Parameters
    ----------
    gained : array-like of int
        Number of rows with the label in the predictions only.
    lost : array-like of int
        Number of rows with the label in the true labels only.

    Returns
    -------
    p_values : ndarray or float
        Two-sided p-values; 1 if no row differs.

    Examples
    --------
    >>> from skbiasamp.inference import paired_p_values
    >>> float(paired_p_values(5, 0))
    0.0625
    """
    gained, lost = numbers_of(gained, "gained"), numbers_of(lost, "lost")
    for name, held in (("gained", gained), ("lost", lost)):
        bad = ~(np.isfinite(held) & (held >= 0) & (held == np.rint(held)))
        if bad.any():
            text = "{name} must hold numbers of rows, whole and not negative; got {seen:.6g}."
            raise InputError(text, name=name, seen=held[bad].flat[0])
    try:
        gained, lost = np.broadcast_arrays(gained, lost)
    except ValueError:
        text = "{gained} and {lost} must have one shape; got {n} and {m}."
        raise InputError(text, n=gained.shape, m=lost.shape) from None
    p_values = 2 * stats.binom.cdf(np.minimum(gained, lost), gained + lost, 0.5)
    return np.minimum(np.where(gained + lost == 0, 1.0, p_values), 1.0)


def adjust_p_values(p_values: Any, method: str | None = "holm") -> Array:
    """Adjust p-values for multiple tests.

    .. versionadded:: 0.1

    Parameters
    ----------
    p_values : array-like
        p-values. Undefined ones (NaN) stay NaN and do not count.
    method : {"holm", "fdr", None}, default="holm"
        "holm": Holm's method, which controls the probability of any false rejection. "fdr":
        Benjamini and Hochberg's method, which controls the expected share of false rejections.
        None: no adjustment.

    Returns
    -------
    adjusted : ndarray
        In the shape of `p_values`.

    Examples
    --------
    >>> from skbiasamp.inference import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    check_option("method", method, ADJUSTMENTS)
    p_values = numbers_of(p_values, "p_values")
    outside = (p_values < 0) | (p_values > 1)
    if outside.any():
        text = "{p_values} must hold numbers from 0 to 1; got {seen:.6g}."
        raise InputError(text, seen=p_values[outside].flat[0])
    adjusted = p_values.copy()
    defined = ~np.isnan(p_values)
    tested = p_values[defined]
    if method is None or not tested.size:
        return adjusted
    if method == "fdr":
        adjusted[defined] = stats.false_discovery_control(tested)
        return adjusted
    order = np.argsort(tested, kind="stable")
    steps = tested[order] * np.arange(len(tested), 0, -1)
    holm = np.empty_like(tested)
    holm[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted[defined] = holm
    return adjusted


def sign_p_values(labels: Contingency, *, shares: bool) -> Array:
    """Test each pair's training correlation, the origin of its sign: Pearson's χ².

    With `shares`, the group's share of the task against an equal share.
    """
    groups, total = labels.count("group")[:, None], labels.total
    joint, tasks = labels.joint("group", "task"), labels.count("task")
    if shares:
        share = 1 / len(groups)
        expected = tasks * share
        spread = expected * (1 - share)
    else:
        expected = groups * tasks / total
        spread = expected * (1 - groups / total) * (1 - tasks / total)
    with np.errstate(invalid="ignore", divide="ignore"):
        chi2 = np.where(spread > 0, (joint - expected) ** 2 / spread, 0.0)
    return stats.chi2.sf(chi2 * labels.units_per_weight, 1)


def changed_rows(cells: Contingency, pairs: Pairs) -> tuple[Array, Array] | None:
    """Return how many rows each pair gained from label to prediction, and how many it lost.

    None if that cannot be counted: the prediction is in the condition, or is a probability, or
    there is no label to compare with.
    """
    if pairs.rates is None or pairs.own_base:
        return None
    side, given = pairs.rates.observed
    role: Any = side.partition("_")[0]
    if given.endswith("_pred") or not cells.has(role) or cells.soft(side):
        return None

    def rows(held: Contingency, name: Any) -> Array:
        joint = held.joint(name, given)
        return joint.T if name.startswith("task") else joint

    common = rows(cells.both(role), side)
    return rows(cells, side) - common, rows(cells, role) - common


def changed_clusters(cells: Contingency, pairs: Pairs) -> Changes | None:
    """Return which clusters each pair gained and lost from label to prediction.

    None if rows are no clusters, or if `changed_rows` cannot be counted.
    """
    if cells.clusters is None or pairs.rates is None or changed_rows(cells, pairs) is None:
        return None
    side, given = pairs.rates.observed
    role: Any = side.partition("_")[0]
    after, before, condition = (labels_of(cells, one) for one in (side, role, given))
    found = changes(cells, (after, condition), (before, condition))
    return found if side.startswith("task") else Changes(*(one.T for one in found))


def pair_p_values(cells: Contingency, pairs: Pairs, changed: tuple[Array, Array] | None) -> Array:
    """Test for every pair that the model does not move it.

    Labels and predictions are in the same rows, so the exact test is McNemar's, within the rows
    of a group (A→T) or of a task (T→A). Against a table of the user's own it is the binomial
    test. Probabilities and fractional weights have the delta method's normal test.
    """
    assert pairs.rates is not None
    undefined = np.isnan(pairs.delta)
    if (
        not cells.whole
        or cells.soft(pairs.rates.observed[0])
        or (pairs.own_base and cells.clusters is not None)
    ):
        p_values = normal_p_values(cells, pairs)
    elif pairs.own_base:
        hits = np.rint(np.where(undefined, 0, pairs.observed * pairs.n))
        below = stats.binom.cdf(hits, pairs.n, pairs.base)
        above = stats.binom.sf(hits - 1, pairs.n, pairs.base)
        p_values = np.minimum(2 * np.minimum(below, above), 1.0)
    else:
        assert changed is not None
        moved = changed_clusters(cells, pairs)
        p_values = paired_p_values(*changed) if moved is None else moved.p_value
    return np.where(undefined, np.nan, p_values)


def normal_p_values(cells: Contingency, pairs: Pairs) -> Array:
    """Test for every pair that the model does not move it, by the delta method."""
    p_values: Array = normal_test(pairs.delta, pair_variances((cells, pairs)))
    return p_values


def normal_test(estimate: Any, variance: Any) -> Any:
    """Test that estimates are 0, by the delta method; NaN if there is no variance."""
    # Where no row differs, sums of fractional weights leave rounding errors, in both.
    estimate = np.where(np.abs(estimate) <= 1e-12, 0.0, estimate)
    variance = np.where(variance <= 1e-24, 0.0, variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(estimate) / np.sqrt(variance)
    # Without any variation there is nothing to test with, unless nothing moved.
    p_values = np.where(np.isfinite(z), 2 * stats.norm.sf(z), np.nan)
    return np.where((variance == 0) & (np.abs(estimate) == 0), 1.0, p_values)


def swap_p_values(
    seen: Pairs,
    paired: Callable[[Contingency], Pairs],
    test: Contingency,
    sides: tuple[Any, ...],
    *,
    n_draws: int,
    random_state: Any,
) -> tuple[Array, float]:
    """Compare pairs and value with draws in which labels and predictions change places.

    `paired` measures predictions against the labels of the same rows, and found `seen`. A mean of
    absolute changes is tested for being larger than in the draws, other values for being further
    from 0. Of a value without a direction, the mean in the direction of the signs is tested.
    """
    n_pairs, value, rng = np.zeros(seen.delta.shape), 0, generator(random_state)
    with progress("draws", n_draws) as step:
        for size in step.parts(chunks(n_draws, 2 * test.n_cells)):
            drawn = paired(swapped(test, sides, size, rng))
            # A draw that ties with what was seen counts, whatever the rounding.
            n_pairs += (np.abs(drawn.delta) >= np.abs(seen.delta) - 1e-9).sum(axis=0)
            moved, here = np.asarray(drawn.value), seen.value
            if seen.undirected:
                moved, here = np.asarray(drawn.signed_mean), seen.signed_mean
            if not seen.size:
                moved, here = np.abs(moved), abs(here)
            value += int((moved >= here - 1e-9).sum())
    p_values = np.where(np.isnan(seen.delta), np.nan, (1 + n_pairs) / (1 + n_draws))
    return p_values, (1 + value) / (1 + n_draws)


def value_p_value(cells: Contingency, pairs: Pairs, *, n_draws: int, random_state: Any) -> float:
    """Test that the model does not move the value, a sum over rows."""
    if np.isnan(pairs.value):
        return float("nan")
    if pairs.own_base or cells.summed == "tasks":
        variance = value_variance(cells, pairs, centred=pairs.own_base)
        return float(normal_test(pairs.value, variance))
    cells = ordered(cells)
    scores = value_scores(cells, pairs, centred=False)
    return flip_p_value(cells, scores, n_draws=n_draws, random_state=random_state)


def flip_p_value(cells: Contingency, scores: Array, *, n_draws: int, random_state: Any) -> float:
    """Test that a sum of scores of rows is 0, if each row's is as likely to have the other sign."""
    observed = float(cells.weight @ scores)
    moved = np.flatnonzero(scores)
    if not moved.size:
        return 1.0
    # Rows that predictions leave alone stay what they are, and need not be drawn.
    drawn_from, rng = take(cells, moved, cells.weight[moved]), generator(random_state)
    extreme, noise = 0, 1e-11 * float(cells.weight @ np.abs(scores))
    with progress("draws", n_draws) as step:
        for size in step.parts(chunks(n_draws, len(moved))):
            picked = flips(drawn_from, size, rng)
            sums = observed - 2 * (picked @ scores[moved])
            # A draw that ties with what was seen counts, whatever the rounding.
            extreme += int((np.abs(sums) >= abs(observed) - noise).sum())
    return (1 + extreme) / (1 + n_draws)


def significant(p_adjusted: Any, low: Any, high: Any, confidence_level: float) -> Array:
    """Return which pairs differ from 0: by their adjusted p-value, or else by their interval.

    This is the one rule of sentences, pages and plots. NaN and None are no value.
    """
    p_adjusted, low, high = (np.asarray(one, dtype=float) for one in (p_adjusted, low, high))
    alpha = round(1 - confidence_level, 12)  # 1 - 0.95 is not 0.05
    return np.where(np.isnan(p_adjusted), (low > 0) | (high < 0), p_adjusted < alpha)
