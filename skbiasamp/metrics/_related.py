"""Related measures of amplification that the papers compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._labels import Array, check_concentration, require_task_pred, to_native
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._pairs import (
    compare_counts,
    mean_defined,
    read_pair,
    read_train,
    warn_undefined,
)


def disparity(test: Contingency) -> Array:
    """Relative change of P(t|a)/P(t) from labels to predictions, groups × tasks."""

    def preference(side: SideName) -> Array:
        return test.rate(side, given="group") / (test.count(side) / test.total)

    with np.errstate(invalid="ignore", divide="ignore"):
        truth, predicted = preference("task"), preference("task_pred")
        change = (predicted - truth) / truth
    return np.where(np.isfinite(change), change, np.nan)


def differential_fairness(test: Contingency, side: SideName, concentration: float) -> float:
    """ε: the largest log ratio of two groups' smoothed probabilities of an outcome."""
    # Smoothing adds rows, so fractional weights count as the rows they are worth.
    counts = test.joint("group", side) * test.rows_per_weight
    sizes = test.count("group")[:, None] * test.rows_per_weight
    one_label = test.classes is not None and len(test.tasks) > 1
    outcomes = len(test.tasks) if one_label else 2
    present = (counts + concentration / outcomes) / (sizes + concentration)
    rates = present if one_label else np.hstack([present, 1 - present])
    rates = rates[sizes[:, 0] > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.log(rates).max(axis=0) - np.log(rates).min(axis=0)
    # An outcome that no group ever has separates none of them.
    return float(np.max(np.where((rates == 0).all(axis=0), 0.0, spread)))


def percentage(test: Contingency) -> Array:
    """Change of the distance of P(a|t) from an equal share, groups × tasks."""
    predicted: SideName = "group_pred" if test.has("group_pred") else "group"
    given: SideName = "task_pred" if test.has("task_pred") else "task"
    share = 1 / len(test.groups)
    truth = np.abs(test.rate("group", given="task") - share)
    return np.abs(test.rate(predicted, given=given) - share) - truth


def towards_majority(train: Contingency, test: Contingency) -> Array:
    """Change of P(t) from labels to predictions, towards what most training labels are."""
    change = (test.count("task_pred") - test.count("task")) / test.total
    counts, total = train.count("task"), np.asarray(train.total)
    if train.classes is not None and len(train.tasks) > 1:
        return change[compare_counts(counts, counts.max(), exact=train.whole) == 0]
    return compare_counts(2 * counts, total, exact=train.whole) * change


# --------------------------------------------------------------------------- public functions


def bias_disparity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell how predictions change the groups' preferences, relative to the labels.

    A group's preference for a task is :math:`B(a, t) = P(t \mid a) / P(t)`. The value is the
    mean over pairs of :math:`(\hat B - B) / B`; 0 means that preferences are kept.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like
        Predicted labels or probabilities.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred, y_train, sensitive_train : None
        Accepted for a common signature; this measure does not use them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns make groups.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.

    Returns
    -------
    value : float
        Mean relative change; pairs that never occur in the labels are left out.

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
    _, test = read_pair(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    require_task_pred(test.has("task_pred"), metric="bias disparity")
    change = disparity(test)
    lost = int(np.isnan(change).sum())
    warn_undefined(
        f"{lost} of {change.size} pairs of group and task are undefined because the task never "
        "occurs for the group, or is never predicted; they are left out of the mean."
        if lost
        else None,
        stacklevel=2,
    )
    return mean_defined(change)


def differential_fairness_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    concentration: float = 1.0,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell whether the worst ratio between two groups' outcomes is worse in the predictions.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like
        Predicted labels or probabilities.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred, y_train, sensitive_train : None
        Accepted for a common signature; this measure does not use them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    concentration : float, default=1.0
        Rows that Dirichlet smoothing adds to each group, spread evenly over the outcomes.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns make groups.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.

    Returns
    -------
    value : float
        :math:`\hat\varepsilon - \varepsilon`. Infinite or NaN without smoothing where a group
        never has an outcome that another has.

    Notes
    -----
    :math:`\varepsilon = \max_{t,a,a'} |\log P(t \mid a) - \log P(t \mid a')|`, where t runs
    over the classes, or over presence and absence of each task of an indicator.

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
    check_concentration(concentration)
    _, test = read_pair(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    require_task_pred(test.has("task_pred"), metric="differential-fairness amplification")
    labels, predictions = (
        differential_fairness(test, side, concentration) for side in ("task", "task_pred")
    )
    return predictions - labels


def percentage_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell whether the groups' shares of each task are further from equal in the predictions.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels, of the prompts for example.
    y_pred : array-like or None
        Predicted labels; None takes the tasks as given (a prompt is not predicted).
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred : array-like, optional
        The attribute as predicted, or as seen in what was generated.
    y_train, sensitive_train : None
        Accepted for a common signature; this measure does not use them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns make groups.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.

    Returns
    -------
    value : float
        How much further from equal, in the mean over groups and tasks.

    Notes
    -----
    .. math::

        \left|\hat P(a \mid t) - 1/n\right| - \left|P(a \mid t) - 1/n\right|

    of n groups, averaged over groups a and tasks t.

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
    _, test = read_pair(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    require_task_pred(
        test.has("task_pred") or test.has("group_pred"), metric="percentage amplification"
    )
    change = percentage(test)
    lost = np.asarray(np.isnan(change).all(axis=0))
    warn_undefined(
        f"{int(lost.sum())} of {len(lost)} tasks never occur, or are never predicted; they are "
        "left out of the mean."
        if lost.any()
        else None,
        stacklevel=2,
    )
    return mean_defined(change)


def label_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell whether the model predicts the majority class more often than it occurs.

    This kind of amplification knows no protected attribute.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like
        Predicted labels or probabilities.
    sensitive_features, sensitive_pred, sensitive_train : None
        Accepted for a common signature; this measure does not use them.
    y_train : array-like, optional
        Training labels, which tell the majority. By default the audited labels do.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    missing : {"error", "drop", "group"}, default="error"
        Accepted for a common signature; this measure does not use it.
    pos_label : class, optional
        Which of two classes probabilities in one column are of. By default the class that sorts
        last.

    Returns
    -------
    value : float
        :math:`P(\hat T_t) - P(T_t)` of the majority class t; of an indicator, the mean over
        tasks, each towards its majority of present or absent. A tie has no majority: 0 for a
        binary task, the mean over the tied classes otherwise.

    References
    ----------
    .. [1] Leino, Black, Fredrikson, Sen, Datta. Feature-wise bias amplification. ICLR 2019.

    Examples
    --------
    >>> from skbiasamp.metrics import label_amplification
    >>> label_amplification([1, 1, 1, 0], [1, 1, 1, 1])
    0.25
    """
    # One group for all: this measure only looks at the tasks.
    train = None
    if y_train is not None:
        one_group = np.zeros(len(to_native(y_train, "y_train")), int)
        train = read_train(y_train, one_group, pos_label=pos_label)
    test = Contingency.from_labels(
        y_true,
        y_pred,
        sensitive_features=np.zeros(len(to_native(y_true, "y_true")), int),
        sample_weight=sample_weight,
        pos_label=pos_label,
        like=train,
    )
    require_task_pred(test.has("task_pred"), metric="label amplification")
    return float(towards_majority(test if train is None else train, test).mean())
