"""What the metrics share: pairs of group and task, their signs, and how labels become cells."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._labels import Array, Names, check_train, quote, renamed, require_groups
from skbiasamp.contingency import Contingency, SideName


@dataclass(frozen=True, eq=False)
class Pairs:
    """A metric before it is summed up: one number a pair, and their aggregate.

    Arrays are groups × tasks, behind leading axes where the contingency was resampled.

    Attributes
    ----------
    n : how many rows a pair's rates are conditioned on.
    share : how much of the value a pair is: one over the number of pairs.
    gradient : how the value follows a pair's `delta`; 0 where it is undefined.
    observed_rate, base_rate : which rates `delta` compares in the audited rows, as (side,
        given); `base_rate` is None where the second term does not come from them.
    sets : the sets of single tasks that `tasks` stand for, as rows of booleans, or None.
    """

    groups: Names
    tasks: Names
    n: Array
    base: Array
    observed: Array
    sign: Array
    delta: Array
    amplification: Array
    value: Any
    share: Any
    gradient: Array
    observed_rate: tuple[SideName, SideName]
    base_rate: tuple[SideName, SideName] | None
    sets: Array | None = None
    statistics: dict[str, Any] = field(default_factory=dict)


def compare_counts(left: Array, right: Array, *, exact: bool) -> Array:
    """Return the sign of left − right, 0 where they are equal.

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


def association_sign(
    n: Any, joint: Array, groups: Array, tasks: Array, *, exact: bool, ties: str = "zero"
) -> Array:
    """Return the sign of P(a, t) − P(a) P(t) for every pair."""
    total, joint, groups, tasks = countable(n, np.asarray(n), joint, groups, tasks, exact=exact)
    # Counts, not frequencies: exact ties must stay ties (1/3 of 3/7 does not survive division).
    chance = groups[..., :, None] * tasks[..., None, :]
    sign = compare_counts(total[..., None, None] * joint, chance, exact=exact)
    return np.where(sign == 0, -1, sign) if ties == "negative" else sign


def leans_over_share(part: Array, whole: Array, shares: int, *, exact: bool) -> Array:
    """Return 1 where part/whole > 1/shares, else 0; exactly 1/shares is not above it."""
    limit = np.max(whole, initial=1)
    part, whole = countable(limit, part, whole, exact=exact, factor=shares)
    return (compare_counts(part * shares, whole, exact=exact) > 0).astype(int)


def total_defined(values: Array) -> Any:
    """Sum over the defined pairs."""
    total = np.nansum(values, axis=(-2, -1))
    return total if total.ndim else float(total)


def mean_defined(values: Array) -> Any:
    """Mean over the defined pairs, NaN where there is none."""
    n = (~np.isnan(values)).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore"):
        mean = np.nansum(values, axis=(-2, -1)) / n
    return mean if mean.ndim else float(mean)


def row_weighted(pairs: Pairs) -> float:
    """Return the value if every pair counts by its rows; the weights of all pairs stay their sum.

    A mean over pairs counts a group of 58 rows as much as one of 10,914.
    """
    defined = ~np.isnan(pairs.delta)
    n = np.where(defined, pairs.n, 0.0)
    if not n.sum():
        return float("nan")
    mean = (n * np.where(defined, pairs.amplification, 0.0)).sum() / n.sum()
    return float(mean * np.broadcast_to(pairs.share, n.shape)[defined].sum())


def describe_undefined(pairs: Pairs, *, condition: str, kept_as_zero: bool = False) -> str | None:
    """Say which pairs are undefined: no rows for the group or task they are conditioned on."""
    undefined = np.isnan(pairs.delta)
    if not pairs.delta.size:
        return "no set of tasks occurs often enough in both labels: the value is NaN."
    if not undefined.any():
        return None
    fate = "count as 0" if kept_as_zero else "are left out of the mean"
    sides = [(1, "group", pairs.groups), (0, "task", pairs.tasks)]
    # The side that the rates are conditioned on is the likelier cause: it comes first.
    for axis, kind, names in sides if pairs.observed_rate[1] == "group" else sides[::-1]:
        whole = np.asarray(undefined.all(axis=axis))
        if (undefined == np.expand_dims(whole, axis)).all():
            gone: list[Hashable] = [n for n, is_whole in zip(names, whole, strict=True) if is_whole]
            plural = len(gone) > 1
            each = int(undefined.sum()) // len(gone)
            pair = f"pair is NaN and {fate.replace('are', 'is').replace('count', 'counts')}"
            return (
                f"no {condition} rows for {kind}{'s' * plural} {quote(gone)}: "
                f"{'their' if plural else 'its'} "
                + (
                    pair
                    if each * len(gone) == 1
                    else f"{each * len(gone)} pairs are NaN and {fate}"
                )
                + "."
            )
    which = [
        f"({pairs.groups[i]!r}, {pairs.tasks[j]!r})"
        for i, j in zip(*np.where(undefined), strict=True)
    ]
    shown = ", ".join(which[:5]) + (f" and {len(which) - 5} more" if len(which) > 5 else "")
    return f"{len(which)} pairs of group and task are NaN and {fate}, no {condition} rows: {shown}."


def warn_undefined(message: str | None, *, stacklevel: int) -> None:
    """Warn once for all undefined pairs of a call."""
    if message is not None:
        warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel + 1)


def read_train(y_train: Any, sensitive_train: Any, **options: Any) -> Contingency | None:
    """Return the contingency of training labels, or None where there are none."""
    check_train(y_train, sensitive_train)
    if y_train is None:
        return None
    with renamed(y_true="y_train", sensitive_features="sensitive_train"):
        return Contingency.from_labels(y_train, sensitive_features=sensitive_train, **options)


def read_pair(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any,
    y_train: Any,
    sensitive_train: Any,
    sample_weight: Any,
    groups: str,
    missing: str,
    pos_label: Any = None,
) -> tuple[Contingency, Contingency]:
    """Return the contingencies of training labels and of audited rows.

    Without training labels the audited labels stand in for them.
    """
    options: dict[str, Any] = {"groups": groups, "missing": missing, "pos_label": pos_label}
    train = read_train(y_train, sensitive_train, **options)
    if train is not None:
        require_groups(train.groups, train.count("group"), train.total, declared=train.declared)
    test = Contingency.from_labels(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        sample_weight=sample_weight,
        like=train,
        **options,
    )
    if train is None:
        require_groups(test.groups, test.count("group"), test.total, declared=test.declared)
    return (test if train is None else train), test
