"""Related measures: bias disparity, differential fairness, percentage and label amplification."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse, special

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Codes, Members, Side
from skbiasamp._input.options import PositionalOption
from skbiasamp._utils import formatting as words
from skbiasamp._utils.compat import Interval
from skbiasamp._utils.formatting import group_of, task_of
from skbiasamp.counts.cells import labels_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, Mapped, association_of, known_or_zero
from skbiasamp.inference.influence import interval
from skbiasamp.inference.pairs import MeanChange, Models, Pairs, combine_associations
from skbiasamp.inference.value import Estimate, Signs, margin
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor, compare_counts
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.results import AuditResult


class BiasDisparityAuditor(CooccurrenceAuditor):
    r"""Audit bias disparity: the relative change of the groups' preferences.

    Use it for recommendations: labels are what people chose, predictions what was recommended. A
    group prefers a task that it has more often than all rows have it. The value is the mean change
    in the direction of the preferences. In the paper's formula, ``published``, changes in opposite
    directions cancel.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        1 if the group prefers the task in the training labels, −1 if it avoids it, else 0.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.bias_disparity : The value as a function.
    DirectionalAuditor : The change of the groups' rates, in percentage points.

    Notes
    -----
    The preference of a group for a task is :math:`B(a, t) = P(t \mid a) / P(t)`. The published
    value is the mean over pairs of :math:`(\hat B - B) / B`; 0 means that preferences are kept.
    Pairs that never occur in the labels, and tasks that are never predicted, are left out. The
    ``amplification`` of a pair is its relative change in the direction of the preference: above 0
    if the group is predicted to prefer, or to avoid, the task more than before.

    References
    ----------
    .. [1] Lin, Sonboli, Mobasher, Burke. Crank up the volume: preference bias amplification
       in collaborative recommendation. RMSE workshop, RecSys 2019.

    Examples
    --------
    Three in four women cook and one in four men. All women are predicted to cook, and no man.

    >>> from skbiasamp.metrics import BiasDisparityAuditor
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooks = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> predicted = [1] * 40 + [0] * 40
    >>> auditor = BiasDisparityAuditor(interval=None).fit(cooks, sensitive_features=sex)
    >>> result = auditor.audit(cooks, predicted, sensitive_features=sex)
    >>> result.table[["group", "base", "observed", "amplification"]].round(4)
      group  base  observed  amplification
    0     f   1.5       2.0         0.3333
    1     m   0.5       0.0         1.0000
    >>> round(result.value, 4), round(result.published, 4)
    (0.6667, -0.3333)

    The same as a function:

    >>> from skbiasamp.metrics import bias_disparity
    >>> round(bias_disparity(cooks, predicted, sensitive_features=sex), 4)
    -0.3333
    """

    metric = "bias disparity"
    kind = "size"
    uncounted = "no preference in the labels"
    definition = (
        "Bias disparity (Lin et al., 2019): a group's preference for a task is its rate divided by "
        "that of all rows. The value is the mean relative change of preferences from labels to "
        "predictions."
    )
    question = "Do predictions exaggerate the groups' preferences?"
    amplified = "the groups' preferences in its labels"
    _draws_apart = True
    percent = False
    columns: ClassVar = {
        "base": "Preference, labels",
        "observed": "Preference, predictions",
        "change": "Relative change",
    }

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        before, after = (_preferences(test, side) for side in ("task", "task_pred"))
        # A task that a group never has leaves nothing to compare with.
        known = before.rate > 0
        base = np.divide(1.0, before.rate, out=np.zeros(before.rate.shape), where=known)
        change = after * base - before * known_or_zero(after.rate * base**2)
        of_all = association_of(test, "task_pred", given="group")
        overall = known_or_zero(of_all.rate - of_all.value)
        per_rate = np.divide(base, overall, out=np.zeros(base.shape), where=overall > 0)
        change = replace(
            change,
            value=np.where(known, (after.rate - before.rate) * base, np.nan),
            few=after.unseen * per_rate**2,
        )
        reference = association_of(train, "task", given="group")
        return Pairs(
            test.groups,
            test.tasks,
            labelled=replace(before, rate=np.where(known, before.rate, np.nan)),
            predicted=after,
            reference=reference,
            change=change,
            delta=change,
            # Changes along and against the preferences cancel in the published value.
            aggregate=MeanUnsigned(bound=math.inf),
        )


@dataclass(frozen=True)
class MeanUnsigned(MeanChange):
    """The published value is the mean change, whatever the signs are."""

    def slopes(self, sign: Array, delta: Array) -> Array:
        """Return how the published value follows each change of a rate."""
        return self.weights(delta)


def _preferences(cells: Contingency, side: SideName) -> Association:
    """Return P(task | group) / P(task), whose association is the difference from 1."""
    centred = association_of(cells, side, given="group")
    rate, overall = centred.rate, centred.rate - centred.value
    with np.errstate(divide="ignore", invalid="ignore"):
        preference = np.where(overall > 0, rate / overall, np.nan)
        per_rate = np.where(overall > 0, 1 / overall, 0.0)
    # The overall rate is the rate less the association.
    alone = centred.without_centre()
    moved = alone * per_rate - (alone - centred) * np.nan_to_num(preference * per_rate)
    return replace(moved, rate=preference, value=preference - 1)


bias_disparity = function_of(
    BiasDisparityAuditor, "bias_disparity", without=("sensitive_pred", "y_train", "sensitive_train")
)


# ------------------------------------------------------------------ differential fairness

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
    _has_directions = False
    _draws_apart = True
    percent = False
    columns: ClassVar = {"base": "Log ratio, labels", "observed": "Log ratio, predictions"}
    concentration: float = PositionalOption(
        Interval(Real, 0, None, closed="left"), default=1.0, kw_only=False
    )

    # ------------------------------------------------------------------ the formula

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        before, after = _sizes(*(self._ratios(test, side) for side in _SIDES))
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
        """Return the logarithms of two groups' ratios: pairs of groups × outcomes.

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
        n_tasks, n_outcomes = len(test.tasks), logs.shape[1]
        at = np.arange(ratios.size)
        column = np.tile(np.arange(n_outcomes) % n_tasks, len(group))
        known = np.nan_to_num(per_rate, posinf=0.0, neginf=0.0)
        slopes = [known[group].ravel(), -known[other].ravel()]
        rates_of = [np.repeat(side, n_outcomes) * n_tasks + column for side in (group, other)]
        weights = sparse.csr_array(
            (np.concatenate(slopes), (np.tile(at, 2), np.concatenate(rates_of))),
            shape=(ratios.size, rates.value.size),
        )
        n = np.minimum(test.count("group")[group], test.count("group")[other])[:, None]
        few = few[group] + few[other]
        return Mapped.of(ratios, n, [(weights, rates)], few=few)

    def _result(self, test: Contingency) -> AuditResult:
        n = math.comb(len(test.groups), 2) * len(_outcomes(test))
        if self.interval is not None and n > _MOST_PAIRS:
            text = (
                "{interval} of differential fairness needs at most {most:,} pairs of groups and "
                "outcomes; got {n:,}. Merge groups, choose tasks, or use {interval=None}."
            )
            raise InputError(text, most=_MOST_PAIRS, n=n)
        return super()._result(test)


_SIDES: tuple[SideName, SideName] = ("task", "task_pred")


def _sizes(before: Any, after: Any) -> tuple[Any, Any]:
    """Return the sizes of two numbers of each pair, those of labels and of predictions.

    A number that is exactly 0 may have either sign. It gets the one by which the change of the
    sizes varies more, whatever names come first: that against the other number, since labels and
    predictions vary together.
    """
    signs = [
        np.sign(np.where(np.abs(each.value) <= 1e-14, 0.0, known_or_zero(each.value)))
        for each in (before, after)
    ]
    first, last = (
        replace(
            each * np.where(own != 0, own, np.where(other != 0, -other, 1.0)),
            value=np.abs(each.value),
        )
        for each, own, other in zip((before, after), signs, signs[::-1], strict=True)
    )
    return first, last


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

    is_sum = False
    before: Any = None
    after: Any = None

    def published(self, sign: Array, delta: Array) -> float:
        """Return the paper's formula, of signs and changes of rates."""
        return _largest(self.after.value) - _largest(self.before.value)

    def sum_of_models(
        self, models: Models, confidence_level: float | None, *, published: bool
    ) -> Estimate:
        """Return a sum of values of models of the same labels, with its interval."""
        after = [pairs.predicted for factor, pairs in models if factor > 0]
        before = [pairs.predicted for factor, pairs in models if factor < 0]
        grows = LargestChange(
            before=combine_associations(before) if before else self.before,
            after=combine_associations(after),
        )
        # In a difference of models their labels cancel, whatever signs these have at 0.
        changes = [pairs.predicted if before else pairs.change for _, pairs in models]
        change = combine_associations(changes, [factor for factor, _ in models])
        number = grows.estimate(change, models[0][1].signs, confidence_level)
        return replace(number, value=sum(factor * pairs.published for factor, pairs in models))

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
        low, high, p_values = interval(change.value, change.sd, change.units, confidence_level)
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
            standard_error=float(change.sd[first | last].max()),
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


# ------------------------------------------------------------------ percentage amplification


class PercentageAuditor(CooccurrenceAuditor):
    r"""Audit percentage amplification: how far the shares of groups move away from equal.

    Use it for generated images or texts whose prompt names the task. It compares with equal
    shares, whatever the shares of all rows are.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's training correlation, which this metric does not use.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.percentage_amplification : The value as a function.
    MALSAuditor : Only the groups that have more than an equal share.

    Notes
    -----
    .. math::

        \left|\hat P(a \mid t) - 1/n\right| - \left|P(a \mid t) - 1/n\right|

    of n groups, averaged over groups a and tasks t: in the table of a result, ``delta`` is this
    change of the distance. Without `y_pred` tasks count as given: a prompt is not predicted.

    Distances from equal grow with noise, so shares of few rows seem further from equal. Intervals
    and tests take this into account.

    References
    ----------
    .. [1] Seshadri, Singh, Elazar. The bias amplification paradox in text-to-image
       generation. NAACL 2024.

    Examples
    --------
    Three in four of the nurses are women, and the model draws women only. (Of two jobs, the
    one that sorts last is the task.)

    >>> from skbiasamp.metrics import PercentageAuditor
    >>> job, sex = ["nurse"] * 4 + ["chef"] * 4, list("fffmffmm")
    >>> drawn = list("ffffffmm")
    >>> auditor = PercentageAuditor(reference="test", interval=None)
    >>> auditor.audit(job, sensitive_features=sex, sensitive_pred=drawn)
    percentage amplification: +0.2500 (8 rows, 2 groups x 1 task)
    group  task   n    base  observed   delta  sign  amplification
    f      nurse  4  0.7500    1.0000  0.2500     1         0.2500
    m      nurse  4  0.2500    0.0000  0.2500     1         0.2500

    The same as a function:

    >>> from skbiasamp.metrics import percentage_amplification
    >>> percentage_amplification(job, None, sensitive_features=sex, sensitive_pred=drawn)
    0.25
    """

    metric = "percentage amplification"
    percent = True
    definition = (
        "Percentage amplification (Seshadri et al., 2024): how much further the groups' shares of "
        "each task are from equal in the predictions than in the labels. The value is the mean "
        "over pairs."
    )
    question = "Are the groups' shares of each task further from equal in the predictions?"
    amplified = "the groups' distance from equal shares in its labels"
    _has_directions = False
    _draws_apart = True
    columns: ClassVar = {
        "base": "Share, labels",
        "observed": "Share, predictions",
        "change": "Change of distance from equal",
    }

    def _requires(self) -> tuple[SideName, ...]:
        return ()

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        if not (test.has("task_pred") or test.has("group_pred")):
            raise InputError(
                "percentage amplification compares labels with predictions: pass {y_pred} or "
                "{sensitive_pred}."
            )

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        predicted: SideName = "group_pred" if test.has("group_pred") else "group"
        given: SideName = "task_pred" if test.has("task_pred") else "task"
        equal = 1 / len(test.groups)
        sides: tuple[tuple[SideName, SideName], ...] = ("group", "task"), (predicted, given)
        before, after = _sizes(*(_distances(test, *names, equal) for names in sides))
        change = after - before
        return Pairs(
            test.groups,
            test.tasks,
            labelled=before,
            predicted=after,
            sign=np.ones(change.value.shape, dtype=int),
            change=change,
            delta=change,
        )


def _distances(cells: Contingency, outcome: SideName, given: SideName, equal: float) -> Association:
    """Return how far the groups' shares are from equal, above it or below.

    The nearer a share is to equal, the less its distance varies: the side on which it lies is then
    uncertain. A distance from an equal share varies as the size of a normal number does.
    """
    shares = association_of(cells, outcome, given=given, centre=False)
    distance = shares.rate - equal
    sure = special.erf(np.abs(known_or_zero(distance)) / np.maximum(shares.sd, 1e-12)) ** 2
    varies = np.sqrt(sure + (1 - sure) * (1 - 2 / np.pi))
    return replace(shares * varies, value=distance)


percentage_amplification = function_of(PercentageAuditor, without=("y_train", "sensitive_train"))


# ------------------------------------------------------------------ label amplification

_EVERYONE = ("(all)",)


class LabelAuditor(CooccurrenceAuditor):
    r"""Audit label amplification: how much more often the majority class is predicted.

    Use it if there is no sensitive feature. An uncertain model that predicts the majority class
    has a value above 0.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (1, n_tasks)
        1 if the task is in the majority in the training labels, −1 if it is in the minority, 0 if
        neither. If there are several classes: 1 for the most frequent, else 0.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.label_amplification : The value as a function.
    DirectionalAuditor : The same change for every group, in the direction of its association.

    Notes
    -----
    The value is :math:`P(\hat T_t) - P(T_t)` of the majority class t of the training labels; of
    an indicator, the mean over tasks, each in the direction of its majority of present or absent.
    A tie has no majority: 0 for a binary task, the mean over the tied classes otherwise.

    References
    ----------
    .. [1] Leino, Black, Fredrikson, Sen, Datta. Feature-wise bias amplification. ICLR 2019.

    Examples
    --------
    >>> from skbiasamp.metrics import LabelAuditor
    >>> ill, predicted = [1] * 20 + [0] * 80, [1] * 10 + [0] * 90
    >>> LabelAuditor().fit(ill).audit(ill, predicted)
    label amplification: +0.1000 [+0.0316, +0.1684], p = 0.00726 (100 rows, 1 task)
    group  task    n    base  observed    delta      low     high  p_value  sign  amplification
    (all)     1  100  0.2000    0.1000  -0.1000  -0.1684  -0.0316   0.0073    -1         0.1000

    The same as a function:

    >>> from skbiasamp.metrics import label_amplification
    >>> label_amplification([1, 1, 1, 0], [1, 1, 1, 1])
    0.25
    """

    metric = "label amplification"
    _joint = False
    _draws_apart = True
    percent = True
    estimand, null = BaseAuditor.estimand, BaseAuditor.null
    uncounted = "no majority"
    definition = (
        "Label amplification (Leino et al., 2019): how much more often the majority class of the "
        "training labels is predicted than it occurs. It uses no sensitive feature."
    )
    question = "Is the majority class predicted more often than it occurs?"
    amplified = "the majority class of its labels"
    columns: ClassVar = {"base": "Labelled so", "observed": "Predicted so"}
    _uses_groups = False
    _compares_groups = False

    def _count(self, y_true: Any, labels: Any, columns: Any, **known: Any) -> Contingency:
        if columns or isinstance(y_true, Contingency):  # groups were counted too
            like = known.pop("like", None)
            cells = _without_groups(super()._count(y_true, labels, columns, **known))
            return cells if like is None else cells.conform(like)
        rows = labels.get("y_pred") if y_true is None else y_true
        n = len(to_native(rows, "y_true"))
        everyone: Any = [_EVERYONE[0]] * n
        if self.groups == "indicator":
            everyone = pd.DataFrame({_EVERYONE[0]: np.ones(n, int)})
        labels = {**labels, "sensitive_features": everyone, "sensitive_pred": None}
        return _without_groups(super()._count(y_true, labels, columns, **known))

    def _learn(self, cells: Contingency) -> Self:
        return super()._learn(_without_groups(cells))

    def pairs_of(self, test: Contingency, *, warns: bool = False) -> tuple[Contingency, Pairs]:
        """Return the labels that give the signs, and the pairs of audited rows."""
        return super().pairs_of(_without_groups(test), warns=warns)

    def _sign(self, labels: Contingency) -> Array:
        counts, total = labels.count("task"), np.asarray(labels.total)
        if is_one_label(labels):
            most = compare_counts(counts, counts.max(axis=-1, keepdims=True), exact=labels.whole)
            signs = (most == 0).astype(int)
        else:
            signs = compare_counts(2 * counts, total[..., None], exact=labels.whole)
        return signs[..., None, :]

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        labels, predicted = (
            association_of(test, side, given="group", centre=False)
            for side in ("task", "task_pred")
        )
        change = predicted - labels
        reference, sign = _ahead(train, "task"), self._sign(train)
        signs = None
        if is_one_label(test) and train is test:  # which class is the majority may be chance
            signs = Signs.of(reference, above=True)
        return _Majorities(
            _EVERYONE,
            test.tasks,
            labelled=replace(_ahead(test, "task"), rate=labels.rate),
            predicted=replace(_ahead(test, "task_pred"), rate=predicted.rate),
            sign=sign / max(sign.sum(), 1) if is_one_label(train) else sign,
            reference=reference,
            change=change,
            delta=change,
            signs=signs,
            aggregate=MeanChange(divisor=1.0 if is_one_label(train) else None),
        )


@dataclass(frozen=True, eq=False)
class _Majorities(Pairs):
    """The tasks or classes of all rows."""

    def verdict(self, number: Estimate, *args: Any, **how: Any) -> str:
        """Return what the interval says: there are no groups to add a difference between."""
        if math.isnan(number.value) or math.isnan(number.low):
            return words.NOT_MEASURED
        if number.low <= 0 <= number.high:
            return words.NO_EFFECT
        return words.AMPLIFIES if number.low > 0 else words.REDUCES


def _without_groups(cells: Contingency) -> Contingency:
    """Return the cells of all rows together."""
    if cells.groups == _EVERYONE and not cells.indicator:
        return cells
    everyone = Side(_EVERYONE, Codes(np.zeros(cells.n_cells, int), 1))
    sides: dict[SideName, Side] = {"group": everyone}
    sides |= {n: side for n, side in sides_of(cells).items() if not n.startswith("group")}
    return with_sides(cells, sides)


def is_one_label(cells: Contingency) -> bool:
    """Return whether tasks are the classes of one label, more than two of them."""
    return cells.classes is not None and len(cells.tasks) > 1


def _ahead(cells: Contingency, side: SideName) -> Association:
    """Return by how much each class is ahead of the largest other one, or a task of one half.

    If several others are the largest, their mean counts, whatever they are called.
    """
    rates = association_of(cells, side, given="group", centre=False)
    if not is_one_label(cells):
        return replace(rates, value=rates.rate - 0.5)
    others = np.where(np.eye(len(cells.tasks), dtype=bool), -np.inf, rates.rate[0])
    rivals = (others == others.max(axis=1, keepdims=True)).astype(float)
    rivals /= np.maximum(rivals.sum(axis=1, keepdims=True), 1.0)
    has = labels_of(cells, side).dense(slice(None), float)
    ahead = Members(has - has @ rivals.T)
    return association_of(cells, ahead, "group", by_group=True, centre=False)


label_amplification = function_of(
    LabelAuditor,
    without=("sensitive_features", "sensitive_pred", "sensitive_train", "groups", "missing"),
)
