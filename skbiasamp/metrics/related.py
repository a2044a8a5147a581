"""Related measures of amplification that the papers compare with."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from skbiasamp._compat import Interval
from skbiasamp._input import Array, InputError, to_native
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.inference._pairs import Pairs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor, predicted_labels
from skbiasamp.metrics._functions import function_of
from skbiasamp.metrics._signs import compare_counts

SIDES: tuple[SideName, SideName] = ("task", "task_pred")


class RelatedAuditor(CooccurrenceAuditor):
    """A measure whose signs are not those of training correlations."""

    def _sign_p_values(self, labels: Contingency) -> None:
        return None


class BiasDisparityAuditor(RelatedAuditor):
    r"""Audit bias disparity: the relative change of the groups' preferences.

    The preference of a group for a task is :math:`B(a, t) = P(t \mid a) / P(t)`.

    Parameters
    ----------
    %(shared)s

    Notes
    -----
    The value is the mean over pairs of :math:`(\hat B - B) / B`; 0 means that preferences are
    kept. Pairs that never occur in the labels are left out.

    References
    ----------
    .. [1] Lin, Sonboli, Mobasher, Burke. Crank up the volume: preference bias amplification
       in collaborative recommendation. RMSE workshop, RecSys 2019.

    Examples
    --------
    >>> from skbiasamp.metrics import bias_disparity
    >>> sex, likes = list("ffffmmmm"), [1, 1, 0, 0, 1, 0, 0, 0]
    >>> round(bias_disparity(likes, [1, 1, 1, 0, 0, 0, 0, 0], sensitive_features=sex), 12)
    -0.25
    """

    metric = "bias disparity"
    question = "Do predictions change the groups' preferences?"

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        def preference(side: SideName) -> Array:
            share = test.count(side) / np.asarray(test.total)[..., None]
            rate = test.rate(side, given="group") / share[..., None, :]
            return np.where(np.isfinite(rate), rate, np.nan)

        with np.errstate(invalid="ignore", divide="ignore"):
            before, after = preference("task"), preference("task_pred")
            # A task that a group never has leaves nothing to compare with.
            before = np.where(before > 0, before, np.nan)
            return _pairs(test, before, after, slope=1 / before)


class PercentageAuditor(RelatedAuditor):
    r"""Audit percentage amplification: how far the shares of groups move away from equal.

    Parameters
    ----------
    %(shared)s

    Notes
    -----
    .. math::

        \left|\hat P(a \mid t) - 1/n\right| - \left|P(a \mid t) - 1/n\right|

    of n groups, averaged over groups a and tasks t. Without `y_pred` tasks count as given: a
    prompt is not predicted.

    References
    ----------
    .. [1] Seshadri, Singh, Elazar. The bias amplification paradox in text-to-image
       generation. NAACL 2024.

    Examples
    --------
    Three in four of the nurses are women, and the model draws women only. (Of two jobs, the
    one that sorts last is the task.)

    >>> from skbiasamp.metrics import percentage_amplification
    >>> job, sex = ["nurse"] * 4 + ["chef"] * 4, list("fffmffmm")
    >>> percentage_amplification(job, None, sensitive_features=sex, sensitive_pred=list("ffffffmm"))
    0.25
    """

    metric = "percentage"
    question = "Are the groups' shares of each task further from equal in the predictions?"

    def _requires(self) -> tuple[SideName, ...]:
        return ()

    def _swaps(self, test: Contingency) -> tuple[SideName, ...]:
        return predicted_labels(test)

    def _check(self, test: Contingency) -> None:
        if not (test.has("task_pred") or test.has("group_pred")):
            raise InputError(
                "percentage amplification compares labels with predictions: pass {y_pred} or "
                "{sensitive_pred}."
            )

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        predicted: SideName = "group_pred" if test.has("group_pred") else "group"
        given: SideName = "task_pred" if test.has("task_pred") else "task"
        share = 1 / len(test.groups)
        before = np.abs(test.rate("group", given="task") - share)
        return _pairs(test, before, np.abs(test.rate(predicted, given=given) - share))


class DifferentialFairnessAuditor(RelatedAuditor):
    r"""Audit differential fairness: how much the worst ratio between two groups' outcomes grows.

    Parameters
    ----------
    concentration : float, default=1.0
        Rows that Dirichlet smoothing adds to each group, spread evenly over the outcomes.
    %(shared)s

    Notes
    -----
    The value is :math:`\hat\varepsilon - \varepsilon` with
    :math:`\varepsilon = \max_{t,a,a'} |\log P(t \mid a) - \log P(t \mid a')|`, where t runs
    over the classes, or over presence and absence of each task of an indicator. Without smoothing
    it is infinite or NaN if a group never has an outcome that another group has.

    References
    ----------
    .. [1] Foulds, Islam, Keya, Pan. An intersectional definition of fairness. ICDE 2020.

    Examples
    --------
    >>> from skbiasamp.metrics import differential_fairness_amplification
    >>> sex, hired = list("ffffmmmm"), [1, 0, 0, 0, 1, 1, 0, 0]
    >>> value = differential_fairness_amplification(
    ...     hired, [0, 0, 0, 0, 1, 1, 0, 0], sensitive_features=sex
    ... )
    >>> round(value, 4)
    1.0986
    """

    metric = "differential fairness"
    question = "Does the worst ratio between two groups' outcomes grow?"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "concentration": [Interval(Real, 0, None, closed="left")],
        **CooccurrenceAuditor._parameter_constraints,
    }

    def __init__(
        self,
        concentration: float = 1.0,
        *,
        groups: str = "intersection",
        reference: str = "train",
        missing: str = "error",
        pos_label: Any = None,
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        simultaneous: bool = False,
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            groups=groups,
            reference=reference,
            missing=missing,
            pos_label=pos_label,
            interval=interval,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            simultaneous=simultaneous,
            adjust=adjust,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.concentration = concentration

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        unit = fixed["rows_per_weight"]
        before, after = (self._epsilon(test, side, unit) for side in SIDES)
        return _pairs(test, before, after, groups=("(all)",), tasks=("(all)",))

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        # Smoothing adds rows, so fractional weights count as the rows they are worth.
        return {"rows_per_weight": test.rows_per_weight}

    def _epsilon(self, test: Contingency, side: Any, rows_per_weight: float) -> Array:
        """Return the largest log ratio of two groups' smoothed probabilities of an outcome."""
        counts = test.joint("group", side) * rows_per_weight
        sizes = test.count("group")[..., None] * rows_per_weight
        one_label = test.classes is not None and len(test.tasks) > 1
        outcomes = len(test.tasks) if one_label else 2
        present = (counts + self.concentration / outcomes) / (sizes + self.concentration)
        rates = present if one_label else np.concatenate([present, 1 - present], axis=-1)
        rates = np.where(sizes > 0, rates, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(rates)
            spread = np.nanmax(logs, axis=-2) - np.nanmin(logs, axis=-2)
        # An outcome that no group ever has separates none of them.
        never = (np.nan_to_num(rates) == 0).all(axis=-2)
        return np.where(never, 0.0, spread).max(axis=-1)[..., None, None]


class LabelAuditor(RelatedAuditor):
    r"""Audit label amplification: how much more often the majority class is predicted.

    This measure uses no sensitive feature.

    Parameters
    ----------
    %(shared)s

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
    >>> from skbiasamp.metrics import label_amplification
    >>> label_amplification([1, 1, 1, 0], [1, 1, 1, 1])
    0.25
    """

    metric = "label"
    question = "Is the majority class predicted more often than it occurs?"
    _uses_groups = False

    def _count(self, y_true: Any, labels: Any, columns: Any, **known: Any) -> Contingency:
        if not columns and labels["sensitive_features"] is None:
            one_group = np.zeros(len(to_native(y_true, "y_true")), int)
            labels = {**labels, "sensitive_features": one_group}
        return super()._count(y_true, labels, columns, **known)

    def _check_groups(self, cells: Contingency) -> None:
        """Groups play no part."""

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        one_label = test.classes is not None and len(test.tasks) > 1
        counts, total = train.count("task"), np.asarray(train.total)
        if one_label:
            most = compare_counts(counts, counts.max(), exact=train.whole) == 0
            sign, divisor = most.astype(int), float(most.sum())
        else:
            sign, divisor = compare_counts(2 * counts, total, exact=train.whole), None
        n = np.asarray(test.total)[..., None]
        before, after = (test.count(side)[..., None, :] / n[..., None] for side in SIDES)
        return _pairs(test, before, after, sign=sign[None], groups=("(all)",), divisor=divisor)


def _pairs(
    test: Contingency,
    before: Array,
    after: Array,
    *,
    sign: Any = 1,
    groups: tuple[str, ...] | None = None,
    tasks: tuple[str, ...] | None = None,
    **how: Any,
) -> Pairs:
    """Return pairs whose change counts as it is, or by a sign."""
    n = np.asarray(test.total)[..., None, None] if groups else test.count("group")[..., None]
    return Pairs(
        groups or test.groups,
        tasks or test.tasks,
        n=np.broadcast_to(n, after.shape),
        base=before,
        observed=after,
        sign=np.broadcast_to(sign, after.shape),
        **how,
    )


bias_disparity = function_of(
    BiasDisparityAuditor,
    "bias_disparity",
    without=("sensitive_pred", "y_train", "sensitive_train"),
)
percentage_amplification = function_of(
    PercentageAuditor, "percentage_amplification", without=("y_train", "sensitive_train")
)
differential_fairness_amplification = function_of(
    DifferentialFairnessAuditor,
    "differential_fairness_amplification",
    without=("sensitive_pred", "y_train", "sensitive_train"),
)
label_amplification = function_of(
    LabelAuditor,
    "label_amplification",
    without=("sensitive_features", "sensitive_pred", "sensitive_train", "groups", "missing"),
)
