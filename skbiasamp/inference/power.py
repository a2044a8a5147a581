"""How many rows an audit needs, and the smallest amplification that it finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, cast

from scipy import stats

from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import keywords


def check_share(name: str, value: object) -> float:
    """Return a number between 0 and 1 as a float, or raise."""
    if not isinstance(value, Real) or not 0 < cast(float, value) < 1:
        text = "{name} must be a number between 0 and 1; got {seen!r}."
        raise InputError(text, name=name, seen=value)
    return float(value)


@keywords()
def required_rows(
    effect: float,
    power: float = 0.8,
    *,
    changed: float | None = None,
    groups: Sequence[float] = (0.5, 0.5),
    result: Any = None,
    confidence_level: float = 0.95,
) -> int:
    """Compute how many rows an audit needs to find an amplification.

    Use it before you collect data. Pass `changed` for one binary label and direction group → task
    (A→T: does the group shift the predicted task?), or the `result` of a small audit for any
    metric. An amplification is found if its verdict is "amplifies".

    .. versionadded:: 0.1

    Parameters
    ----------
    effect : float
        The amplification to find, as the metric measures it: 0.02 is a change of 2 percentage
        points on average.
    power : float, default=0.8
        Probability that the audit finds it.
    changed : float, default=None
        Share of rows whose prediction differs from the label: 1 − accuracy. It is assumed to be
        equal in all groups.
    groups : sequence of float, default=(0.5, 0.5)
        Shares of the groups.
    result : AuditResult, default=None
        A small audit of such rows, in place of `changed` and `groups`. Rows of clusters are
        then expected to come in such clusters again.
    confidence_level : float, default=0.95
        Level of the interval. That of `result`, if there is one.

    Returns
    -------
    n_rows : int

    See Also
    --------
    skbiasamp.results.AuditResult.smallest_effect : The reverse, for an audit that was made.

    Examples
    --------
    >>> from skbiasamp.inference import required_rows
    >>> required_rows(0.02, changed=0.2)
    3923
    >>> required_rows(0.02, changed=0.2, groups=(0.9, 0.1))
    10895
    """
    power = check_share("power", power)
    confidence_level = check_share("confidence_level", confidence_level)
    if not isinstance(effect, Real) or not 0 < effect < math.inf:
        raise InputError("{effect} must be a positive number; got {seen!r}.", seen=effect)
    if (changed is None) == (result is None):
        raise InputError("Pass either {changed}, or the {result} of a small audit.")
    if result is not None:
        if not hasattr(result, "judged"):
            raise InputError("{result} must be an AuditResult; got {seen!r}.", seen=result)
        level = result.confidence_level
        least = smallest_effect(*result.judged[1:], power=power, confidence_level=level)
        error = result.statistics.get("standard_error", math.nan)
        if error > 0:
            # The ends of resamples are noisier than their standard deviation, and too short.
            tail = float(stats.norm.isf((1 - level) / 2))
            least = max(error * (tail + float(stats.norm.ppf(power))), least)
        if not least > 0:
            raise InputError("{result} has no confidence interval: audit with an interval.")
        return math.ceil(result.n_samples * (least / effect) ** 2)
    assert changed is not None
    if not isinstance(changed, Real) or not effect <= changed <= 1:
        raise InputError(
            "{changed} must be a share of rows of {effect} or more, since other rows add nothing "
            "to the amplification; got {seen!r}.",
            seen=changed,
        )
    shares = numbers_of(groups, "groups")
    if shares.ndim != 1 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            "{groups} must be positive shares that sum to 1; got {seen!r}.", seen=groups
        )
    # The variance of the change of a group's row, without amplification and with it.
    spread = (1 / shares).sum() / len(shares) ** 2
    test, least = ((spread * (changed - mean**2)) ** 0.5 for mean in (0.0, effect))
    tail, miss = stats.norm.isf((1 - confidence_level) / 2), stats.norm.ppf(power)
    return math.ceil(((tail * test + miss * least) / effect) ** 2)


def smallest_effect(
    low: float, high: float, *, power: float, confidence_level: float | None
) -> float:
    """Return the smallest effect whose interval, as wide as this one, excludes 0 with `power`."""
    if confidence_level is None:
        return math.nan
    tail = float(stats.norm.isf((1 - confidence_level) / 2))
    return (high - low) / 2 * (1 + float(stats.norm.ppf(power)) / tail)
