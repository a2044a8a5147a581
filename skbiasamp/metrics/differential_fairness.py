"""Differential fairness: the largest ratio between two groups' probabilities of an outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import PositionalOption
from skbiasamp._utils.compat import Interval
from skbiasamp._utils.formatting import group_of, task_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, Mapped, association_of
from skbiasamp.inference.influence import interval
from skbiasamp.inference.pairs import MeanChange, Pairs
from skbiasamp.inference.value import Estimate, Signs, margin
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.label import is_one_label
from skbiasamp.results import AuditResult

# Resamples of more pairs of groups and outcomes do not fit into memory.
_MOST_PAIRS = 10_000


class DifferentialFairnessAuditor(CooccurrenceAuditor):
    r"""Audit differential fairness: how much the largest ratio of two groups' rates grows.

    Use it if the worst case matters: the value is about the two groups and the outcome that are
    furthest apart. Each row of the table is a pair of groups and an outcome.

    .. versionadded:: 0.1

    Parameters
    ----------
    concentration : float, default=1.0
        Rows that Dirichlet smoothing adds to each group, spread evenly over the outcomes. 0: no
        smoothing. A group that never has an outcome then has an infinite ratio, and there is no
        interval.
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's training correlation, which this metric does not use.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.differential_fairness_amplification : The value as a function.
    DirectionalAuditor : The mean over groups and tasks, in percentage points.

    Notes
    -----
    The value is :math:`\hat\varepsilon - \varepsilon` with
    :math:`\varepsilon = \max_{t,a,a'} |\log P(t \mid a) - \log P(t \mid a')|`, where t runs
    over the classes, or over presence and absence of each task of an indicator.
    ``statistics`` of a result holds ``epsilon_labels`` and ``epsilon_predictions``. Without
    smoothing the value is infinite or NaN if a group never has an outcome that another group has.

    The largest of several ratios is too large on average, most of all where rows are few. The
    interval goes from the lowest end of all pairs that may be the largest in the labels, to the
    highest end of all that may be the largest in the predictions. It need not be symmetric, and is
    wider than needed if ratios are nearly equal. The p-value is that of the interval.

    References
    ----------
    .. [1] Foulds, Islam, Keya, Pan. An intersectional definition of fairness. ICDE 2020.

    Examples
    --------
    One in two women is hired and three in four men; of the women, one in four is predicted to be.

    >>> from skbiasamp.metrics import DifferentialFairnessAuditor
    >>> sex = ["f"] * 200 + ["m"] * 200
    >>> hired = [1] * 100 + [0] * 100 + [1] * 150 + [0] * 50
    >>> predicted = [1] * 50 + [0] * 150 + [1] * 150 + [0] * 50
    >>> auditor = DifferentialFairnessAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> result.table[["group", "task", "base", "observed", "amplification"]].round(4)
       group  task    base  observed  amplification
    0  f / m     1 -0.4038    -1.092         0.6882
    1  f / m     0  0.6882     1.092         0.4038
    >>> round(result.value, 4)
    0.4038

    The same as a function:

    >>> from skbiasamp.metrics import differential_fairness_amplification
    >>> value = differential_fairness_amplification(hired, predicted, sensitive_features=sex)
    >>> round(value, 4)
    0.4038
    """

    metric = "differential fairness"
    definition = (
        "Differential fairness (Foulds et al., 2020): the largest ratio between two groups' "
        "probabilities of one outcome. The value is by how much its logarithm grows from labels "
        "to predictions. Each row of the table is a pair of groups and an outcome, with the "
        "logarithm of their ratio."
    )
    question = "Does the largest ratio between two groups' rates grow?"
    pair_of = ("pair of groups", "outcome")
    amplified = "the largest ratio between two groups' rates in its labels"
    percent = False
    columns: ClassVar = {"base": "Log ratio, labels", "observed": "Log ratio, predictions"}
    concentration: float = PositionalOption(
        Interval(Real, 0, None, closed="left"), default=1.0, kw_only=False
    )

    # ------------------------------------------------------------------ the formula

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        before, after = (self._ratios(test, side) for side in _SIDES)
        change = Mapped.of(
            after.value - before.value,
            np.minimum(after.n, before.n),
            [(1.0, after), (-1.0, before)],
            few=after.few,
        )
        columns = test.group_columns or ()
        columns = columns if len(columns) > 1 else ()
        groups = combinations([group_of(group, columns) for group in test.groups], 2)
        return Pairs(
            tuple(f"{group} / {other}" for group, other in groups),
            _outcomes(test),
            labelled=before,
            predicted=after,
            sign=np.ones(change.value.shape, dtype=int),
            change=change,
            delta=change,
            aggregate=LargestChange(bound=math.inf, before=before, after=after),
            statistics={
                "epsilon_labels": _largest(before.value),
                "epsilon_predictions": _largest(after.value),
            },
        )

    def _ratios(self, test: Contingency, side: SideName) -> Mapped:
        """Return the sizes of the logarithms of two groups' ratios: pairs of groups × outcomes.

        Smoothing adds rows of weight 1: it makes no difference whether a row's weight is split.
        """
        rates = association_of(test, side, given="group", centre=False)
        size = test.count("group")[:, None]
        one_label = is_one_label(test)
        added = self.concentration / (len(test.tasks) if one_label else 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = np.nan_to_num(rates.rate) * size
            smooth = (counts + added) / (size + self.concentration)
            smooth = np.where(size > 0, smooth, np.nan)
            slope = np.where(size > 0, size / (size + self.concentration), 0.0)
            logs, per_rate = np.log(smooth), slope / smooth
            # A row more of a rare outcome changes its logarithm less than in proportion.
            unseen, row = np.sqrt(rates.unseen) * slope, slope / size
            few = (unseen / (smooth + row)) ** 2
            if not one_label:
                logs = np.concatenate([logs, np.log(1 - smooth)], axis=1)
                per_rate = np.concatenate([per_rate, -slope / (1 - smooth)], axis=1)
                few = np.concatenate([few, (unseen / (1 - smooth + row)) ** 2], axis=1)
        group, other = np.triu_indices(len(test.groups), 1)
        with np.errstate(invalid="ignore"):
            ratios = logs[group] - logs[other]
        # An outcome that neither group ever has separates them in nothing.
        ratios = np.where(np.isneginf(logs[group]) & np.isneginf(logs[other]), 0.0, ratios)
        turned = np.where(ratios < 0, -1.0, 1.0)
        n_tasks, n_outcomes = len(test.tasks), logs.shape[1]
        at = np.arange(ratios.size)
        column = np.tile(np.arange(n_outcomes) % n_tasks, len(group))
        known = np.nan_to_num(per_rate, posinf=0.0, neginf=0.0)
        slopes = [(turned * known[group]).ravel(), (-turned * known[other]).ravel()]
        rates_of = [np.repeat(side, n_outcomes) * n_tasks + column for side in (group, other)]
        weights = sparse.csr_array(
            (np.concatenate(slopes), (np.tile(at, 2), np.concatenate(rates_of))),
            shape=(ratios.size, rates.value.size),
        )
        n = np.minimum(test.count("group")[group], test.count("group")[other])[:, None]
        few = few[group] + few[other]
        return Mapped.of(np.abs(ratios), n, [(weights, rates)], signed=ratios, few=few)

    def _result(self, test: Contingency) -> AuditResult:
        n = math.comb(len(test.groups), 2) * len(_outcomes(test))
        if self.interval is not None and n > _MOST_PAIRS:
            raise InputError(
                "{interval} of differential fairness needs at most {most:,} pairs of groups and "
                "outcomes; got {n:,}. Merge groups, choose tasks, or use {interval=None}.",
                most=_MOST_PAIRS,
                n=n,
            )
        return super()._result(test)


_SIDES: tuple[SideName, SideName] = ("task", "task_pred")


def _outcomes(cells: Contingency) -> Names:
    """Return the names of all outcomes: classes, or presence and absence of each task."""
    if is_one_label(cells):
        return cells.tasks
    if cells.classes is not None and len(cells.classes) == 2:
        return (*cells.tasks, *(name for name in cells.classes if name not in cells.tasks))
    return (*cells.tasks, *(f"not {task_of(name)}" for name in cells.tasks))


def _largest(values: Array) -> float:
    """Return the largest of the defined pairs; 0 if there is none."""
    return float(np.max(values, where=~np.isnan(values), initial=0.0))


@dataclass(frozen=True)
class LargestChange(MeanChange):
    """The value is by how much the largest pair grows.

    The largest grows at least as much as the pair that is largest in the labels, and at most as
    much as the pair that is largest in the predictions. So the interval goes from the lowest end of
    all pairs that may be the first, to the highest end of all that may be the second.
    """

    before: Any = None
    after: Any = None

    def published(self, sign: Array, delta: Array) -> float:
        """Return the paper's formula, of signs and changes of rates."""
        return _largest(self.after.value) - _largest(self.before.value)

    def beside(self, other: Any) -> LargestChange:
        """Return by how much it grows from another model to this one."""
        return replace(self, before=other.after)

    def estimate(
        self, change: Association, signs: Signs, confidence_level: float | None
    ) -> Estimate:
        """Return the value with its interval."""
        value = self.published(signs.values, change.value)
        parts = change.value
        nan = math.nan
        nothing = Estimate(value, nan, nan, nan, nan, nan, parts, parts)
        if confidence_level is None or not (math.isfinite(value) and change.is_joint):
            return nothing
        low, high, p_values = interval(change.value, change.sd, change.units(), confidence_level)
        first, last = (
            _may_be_largest(ratios, confidence_level) for ratios in (self.before, self.after)
        )
        side, pairs = (1, first) if value > 0 else (-1, last)
        p_value = float(p_values[pairs].max()) if (side * change.value[pairs] > 0).all() else 1.0
        return replace(
            nothing,
            low=float(low[first].min()),
            high=float(high[last].max()),
            p_value=p_value,
            standard_error=float(change.sd[first].max()),
        )


def _may_be_largest(ratios: Association, confidence_level: float) -> Array:
    """Return which pairs may be the largest, by intervals that hold for all at once."""
    reach = margin(ratios, confidence_level) * ratios.sd
    known = ~np.isnan(ratios.value)
    least = np.max(ratios.value - reach, where=known, initial=-np.inf)
    return known & (ratios.value + reach >= least)


differential_fairness_amplification = function_of(
    DifferentialFairnessAuditor, without=("sensitive_pred", "y_train", "sensitive_train")
)
