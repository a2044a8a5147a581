"""Pairs: what a metric says about every pair of group and task, as inference needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from skbiasamp._input.checks import Array, Names
from skbiasamp.counts.contingency import Contingency, SideName


class Rates(NamedTuple):
    """Which rates of the audited rows a metric compares.

    A metric that declares them in its `Pairs` has analytic intervals and exact tests.

    .. versionadded:: 0.1

    Parameters
    ----------
    observed : tuple of two str
        The rate in the predictions: ``("task_pred", "group")`` is P(predicted task | group).
    base : tuple of two str, or None
        The rate that it is compared with, ``("task", "group")`` for example, given groups or tasks
        as the observed one is. None: a rate that is not from the audited rows.

    See Also
    --------
    skbiasamp.metrics.Pairs : What a metric says about every pair of group and task.

    Examples
    --------
    >>> from skbiasamp.metrics import Rates
    >>> Rates(observed=("task_pred", "group"), base=("task", "group"))
    Rates(observed=('task_pred', 'group'), base=('task', 'group'))
    """

    observed: tuple[SideName, SideName]
    base: tuple[SideName, SideName] | None


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a metric says about every pair of group and task, and how the pairs make its value.

    Arrays are groups × tasks, with a leading axis of draws if the contingency was resampled.

    .. versionadded:: 0.1

    Parameters
    ----------
    groups, tasks : tuple
        Names of the rows and columns.
    n : array
        Number of rows that each pair's rates are conditioned on.
    base : array
        The rate to compare with. NaN: the pair is undefined.
    observed : array
        The rate in the predictions. NaN: the pair is undefined.
    sign : array
        Sign of the training correlation: −1, 0 or 1.
    slope : array, default=None
        What `delta` is multiplied by to give `amplification`. None: `sign`.
    size : bool, default=False
        Whether the amplification is the size of the change, without its direction.
    divisor : float or array, default=None
        What the sum over pairs is divided by. None: the number of defined pairs.
    rates : Rates, default=None
        Which rates are compared, if `base` and `observed` are rates of the contingency. None: the
        metric has bootstrap intervals and permutation tests only.
    own_base : bool, default=False
        Whether `base` is a table of the user's own.
    sampled : bool, default=True
        Whether training labels that `base` is from are a sample. False: their rates are known.
    onto : callable, default=None
        Turns a contingency into one whose tasks are those of the pairs, if they are others.
    undefined_as_zero : bool, default=False
        Whether undefined pairs count as 0. False: they are left out of the mean.
    centre : tuple of two arrays, default=None
        What `base` and `observed` are if group and task are independent: the overall rate of the
        task in labels and in predictions, for example. The association of a pair is its rate minus
        its centre. None: not known; the value is then the estimate.
    association : Rates, default=None
        Which rates the association is made of. None: `rates`.
    unit : tuple of two arrays, default=(1.0, 1.0)
        What a difference of these rates is multiplied by to give the association, in labels and
        in predictions.
    given_sign : bool, default=False
        Whether `sign` is the user's own, and not that of an association in labels.
    above_only : bool, default=False
        Whether `sign` is 1 for associations above 0, and 0 for all others.
    largest_only : bool, default=False
        Whether `sign` is 1 for the task with the largest rate, and 0 for all others.
    undirected : bool, default=False
        Whether the value is the mean of ``slope * delta``, in which changes along and against the
        training correlations may cancel. Amplifications are these changes times `sign`, and the
        verdict is about their mean.
    growth : {"mean", "largest"}, default=None
        "mean", "largest": a pair's amplification is by how much its distance from `origin` grows,
        and the value is the mean over pairs, or by how much the largest distance grows. None:
        changes count as they are.
    origin : float, default=0.0
        Where `base` and `observed` are equal shares, if `growth` is measured.
    per_rate : array, default=None
        What a pair's amplification changes by if a rate of its `n` rows changes by 1. None: the
        size of `slope`.
    statistics : dict
        Further numbers, for ``result.statistics``.

    Attributes
    ----------
    delta : array
        The change from `base` to `observed`.
    amplification : array
        What each pair adds to the value: ``slope * delta``, or its size.
    value : float or array
        The sum of the amplifications, divided by `divisor`, or what `growth` says.
    change : array
        By how much the association changes: `delta` without the change of the centre.

    See Also
    --------
    skbiasamp.metrics.CooccurrenceAuditor : The class of metrics that return pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.metrics import Pairs
    >>> pairs = Pairs(
    ...     groups=("f", "m"),
    ...     tasks=("cook",),
    ...     n=np.array([[40], [40]]),
    ...     base=np.array([[0.75], [0.25]]),
    ...     observed=np.array([[1.0], [0.0]]),
    ...     sign=np.array([[1], [-1]]),
    ... )
    >>> pairs.amplification.tolist()
    [[0.25], [0.25]]
    >>> pairs.value
    0.25
    """

    groups: Names
    tasks: Names
    n: Array
    base: Array
    observed: Array
    sign: Array
    slope: Array | None = None
    size: bool = False
    divisor: Any = None
    rates: Rates | None = None
    own_base: bool = False
    sampled: bool = True
    onto: Callable[[Contingency], Contingency] | None = None
    undefined_as_zero: bool = False
    centre: tuple[Any, Any] | None = None
    association: Rates | None = None
    unit: tuple[Any, Any] = (1.0, 1.0)
    given_sign: bool = False
    above_only: bool = False
    largest_only: bool = False
    undirected: bool = False
    growth: Literal["mean", "largest"] | None = None
    origin: float = 0.0
    per_rate: Array | None = None
    statistics: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("n", "base"):  # one number for all groups, or for all tasks, is enough
            whole = np.broadcast_to(getattr(self, name), np.shape(self.observed))
            object.__setattr__(self, name, whole)

    @cached_property
    def delta(self) -> Array:
        """The change from `base` to `observed`; NaN where either is undefined."""
        return self.observed - self.base

    @cached_property
    def shift(self) -> Array:
        """By how much the centre changes: a task is predicted more often for everybody."""
        if self.centre is None:
            return np.zeros(1)
        return np.asarray(self.centre[1] - self.centre[0])

    @cached_property
    def change(self) -> Array:
        """By how much the association of each pair changes."""
        return self.delta - self.shift

    @property
    def scale(self) -> Any:
        """What a change counts in the mean, without the sign of its pair."""
        if self.slope is None:
            return 1.0
        return np.abs(self.slope) if self.centre is not None else np.abs(self.slopes)

    @cached_property
    def slopes(self) -> Array:
        """How each pair's amplification follows its change."""
        if self.undirected:
            return self.sign * np.asarray(self.slope)
        return np.asarray(self.sign if self.slope is None else self.slope)

    @cached_property
    def moved(self) -> Array:
        """The amplification with its direction, which intervals are made of."""
        if self.growth is not None:
            before, after = self.distances
            with np.errstate(invalid="ignore"):  # both may be infinite
                return np.abs(after) - np.abs(before)
        moved = self.slopes * self.delta + 0.0  # no minus before a zero
        # A size that does not count is 0, whatever the rates are.
        return np.where(self.slopes == 0, 0.0, moved) if self.size else moved

    @property
    def distances(self) -> tuple[Array, Array]:
        """How far `base` and `observed` are from `origin`, with a sign."""
        return self.base - self.origin, self.observed - self.origin

    @cached_property
    def amplification(self) -> Array:
        """What each pair adds to the value."""
        return np.abs(self.moved) if self.size else self.moved

    @cached_property
    def divisors(self) -> Any:
        """What the sum over pairs is divided by, NaN if no pair is defined."""
        if self.divisor is not None:
            return self.divisor
        n = (~np.isnan(self.delta)).sum(axis=(-2, -1))
        return np.where(n > 0, n, np.nan) if np.ndim(n) else float(n) or float("nan")

    @cached_property
    def value(self) -> Any:
        """The metric's value."""
        if self.growth == "largest":
            before, after = (largest(np.abs(distance)) for distance in self.distances)
            with np.errstate(invalid="ignore"):
                change = np.subtract(after, before)
            return change if np.ndim(change) else float(change)
        changes = self.slope * self.delta if self.undirected else self.amplification
        return _total(changes) / self.divisors

    @cached_property
    def signed_mean(self) -> Any:
        """The mean of changes in the direction of the training correlations."""
        return _total(self.sign * np.abs(self.slopes) * self.delta) / self.divisors

    def mean(self, sign: Array, of: Any) -> Any:
        """Return the mean over pairs of a number of each, in the direction of some signs."""
        return _total(np.where(sign == 0, 0.0, sign * self.scale * of)) / self.divisors

    @property
    def centres(self) -> tuple[Any, Any]:
        """The centre of the associations in labels and predictions; 0 if it is not known."""
        return self.centre or (0.0, 0.0)

    @property
    def has_centre(self) -> bool:
        """Whether the centre of associations is estimated from the same rows."""
        known = self.centre is not None and np.ndim(self.centre[1]) > 0
        return known or self.association is not None

    def estimate(self, sign: Array) -> Any:
        """Return what the verdict is about: the mean change of associations, in their direction."""
        return self.value if self.growth is not None else self.mean(sign, self.change)

    def estimate_gradient(self, sign: Array) -> Array:
        """Return how the estimate follows each pair's change; 0 for pairs that do not count."""
        none = (sign == 0) | np.isnan(self.delta)
        return np.where(none, 0.0, sign * self.scale * self.share)

    def predicted_association(self, sign: Array) -> Any:
        """Return the mean association in the predictions, measured like that in the labels."""
        return self.mean(sign, self.observed - self.centres[1])

    @property
    def compared(self) -> Rates | None:
        """The rates that are compared, or that what is compared is made of."""
        return self.rates or self.association

    @property
    def in_rows(self) -> bool:
        """Whether what is compared is known of the audited rows alone."""
        return self.own_base or (self.compared is not None and self.compared.base is not None)

    @property
    def are_chosen(self) -> bool:
        """Whether labels choose which pairs count; of two groups, each task has one anyway."""
        return self.above_only and len(self.groups) > 2

    @property
    def apart(self) -> bool:
        """Whether the verdict is about the signed mean, which is not the value."""
        return self.size or self.undirected

    @cached_property
    def per_row(self) -> Array:
        """What a pair's amplification changes by if a rate of its rows changes by 1."""
        if self.per_rate is None:
            return np.abs(self.slopes)
        return np.where(self.slopes == 0, 0.0, self.per_rate)

    @property
    def share(self) -> Array:
        """How much of the value each pair is."""
        return 1 / np.asarray(self.divisors, dtype=float)[..., None, None]

    @cached_property
    def gradient(self) -> Array:
        """How the value follows each pair's change; 0 for undefined pairs."""
        slope = self.slopes
        if self.size:
            # Sums of fractional weights leave rounding errors, which must not give a sign.
            slope = slope * np.where(np.abs(self.moved) <= 1e-12, 0.0, np.sign(self.moved))
        return np.where(np.isnan(self.delta), 0.0, slope * self.share)

    def as_signed(self) -> Self:
        """Return pairs whose value has no direction as those of the signed mean, others as is."""
        if not self.apart:
            return self
        slope = self.sign * np.abs(self.slopes)
        return replace(self, slope=slope, size=False, undirected=False)

    def seen_in(self, cells: Contingency) -> Contingency:
        """Return a contingency in terms of the pairs' own tasks."""
        return cells if self.onto is None else self.onto(cells)


def largest(values: Array) -> Any:
    """Return the largest of the defined pairs; 0 if there is none."""
    undefined = np.isnan(values)
    largest_value = np.where(undefined, -np.inf, values).max(axis=(-2, -1), initial=-np.inf)
    largest_value = np.where(undefined.all(axis=(-2, -1)), 0.0, largest_value)
    return largest_value if np.ndim(largest_value) else float(largest_value)


def _total(values: Array) -> Any:
    """Sum over the defined pairs."""
    total = values.sum(axis=(-2, -1), where=~np.isnan(values))
    return total if np.ndim(total) else float(total)
