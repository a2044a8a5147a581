"""Co-occurrence: MALS, directional and multi-attribute amplification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._labels import (
    DIRECTIONS,
    Array,
    check_option,
    check_table,
    require_group_pred,
    require_task_pred,
)
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._pairs import (
    Pairs,
    association_sign,
    compare_counts,
    describe_undefined,
    leans_over_share,
    mean_defined,
    read_pair,
    total_defined,
    warn_undefined,
)

TIES = ("zero", "negative")
BASES = ("test", "train")


def mals(train: Contingency, test: Contingency, *, base: str = "train") -> Pairs:
    """MALS: how far predictions move each task towards the groups it leans to in training.

    With ``base="test"`` the shares to compare with are those of the audited labels.
    """
    predicted: SideName = "group_pred" if test.has("group_pred") else "group"
    rates = (test if base == "test" else train).rate("group", given="task")
    observed = test.rate(predicted, given="task_pred")
    sign = mals_sign(train)
    delta = observed - rates
    amplification = sign * delta + 0.0  # no minus before a zero
    n = test.count("task_pred")
    return Pairs(
        groups=train.groups,
        tasks=train.tasks,
        n=np.broadcast_to(n[..., None, :], delta.shape),
        base=rates,
        observed=observed,
        sign=sign,
        delta=delta,
        amplification=amplification,
        value=total_defined(amplification) / len(train.tasks),
        share=1 / len(train.tasks),
        gradient=np.where(np.isnan(delta), 0.0, sign / len(train.tasks)),
        observed_rate=(predicted, "task_pred"),
        base_rate=("group", "task") if base == "test" else None,
    )


def mals_sign(labels: Contingency) -> Array:
    """Return 1 where a group has more than its equal share of a task, else 0."""
    return leans_over_share(
        labels.joint("group", "task"),
        labels.count("task")[..., None, :],
        len(labels.groups),
        exact=labels.whole,
    )


def directional(
    train: Contingency,
    test: Contingency,
    *,
    direction: str,
    ties: str = "zero",
    base: str | pd.DataFrame = "test",
    sign: pd.DataFrame | None = None,
    labels: Contingency | None = None,
) -> Pairs:
    """BiasAmp→: how far predictions move each pair along its training correlation.

    `labels` give the signs where they are not those of `train`.
    """
    side: SideName = "task" if direction == "A->T" else "group"
    given: SideName = "group" if direction == "A->T" else "task"
    predicted: SideName = "task_pred" if direction == "A->T" else "group_pred"
    observed = test.rate(predicted, given=given)
    if isinstance(base, str):
        rates = (test if base == "test" else train).rate(side, given=given)
    else:
        rates = check_table(base, test.groups, test.tasks, "base")
    signs = directional_sign(
        train if labels is None else labels, direction=direction, ties=ties, base=base, sign=sign
    )
    delta = observed - rates
    amplification = signs * delta + 0.0  # no minus before a zero
    n = test.count(given)
    n = n[..., :, None] if given == "group" else n[..., None, :]
    defined = ~np.isnan(delta)
    n_defined = np.maximum(defined.sum(axis=(-2, -1), keepdims=True), 1)
    return Pairs(
        groups=test.groups,
        tasks=test.tasks,
        n=np.broadcast_to(n, delta.shape),
        base=rates,
        observed=observed,
        sign=signs,
        delta=delta,
        amplification=amplification,
        value=mean_defined(amplification),
        share=1 / n_defined,
        gradient=np.where(defined, signs / n_defined, 0.0),
        observed_rate=(predicted, given),
        base_rate=(side, given) if isinstance(base, str) and base == "test" else None,
    )


def directional_sign(
    labels: Contingency,
    *,
    direction: str,
    ties: str = "zero",
    base: str | pd.DataFrame = "test",
    sign: pd.DataFrame | None = None,
) -> Array:
    """Return the sign of every pair's correlation: the labels', or the user's own.

    A user's P(t|a) is compared with its mean over groups, weighted as the groups occur; a
    user's P(a|t) with the share of the group. The labels' own rates, given as `base`, so keep
    their signs.
    """
    if sign is not None:
        return check_table(sign, labels.groups, labels.tasks, "sign").astype(int)
    sizes = labels.count("group")
    if isinstance(base, str):
        return association_sign(
            labels.total,
            labels.joint("group", "task"),
            sizes,
            labels.count("task"),
            exact=labels.whole,
            ties=ties,
        )
    rates = check_table(base, labels.groups, labels.tasks, "base")
    if direction == "A->T":
        average = (sizes @ rates / sizes.sum(axis=-1, keepdims=True))[..., None, :]
    else:
        average = (sizes / np.asarray(labels.total)[..., None])[..., :, None]
    signs = compare_counts(*np.broadcast_arrays(rates, average), exact=False)
    return np.where(signs == 0, -1, signs) if ties == "negative" else signs


# --------------------------------------------------------------------------- public functions


def check_sides(test: Contingency, *, direction: str | None, metric: str) -> None:
    """Raise if a prediction that the direction needs is not there."""
    if direction == "T->A":
        require_group_pred(test.has("group_pred"))
    else:
        require_task_pred(test.has("task_pred"), metric=metric, directed=direction is not None)


def mals_amplification(
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
    r"""Tell whether tasks that lean to a group lean to it more in the predictions.

    A task leans to a group when the group has more than its equal share of it, that is more
    than :math:`1/|A|`. The value is the mean over tasks of the change of those shares. 0 means
    that predictions keep the shares; above 0 they exaggerate them.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like
        Predicted labels or probabilities.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred : array-like, optional
        The attribute as predicted by the model; by default it counts as predicted perfectly.
    y_train, sensitive_train : array-like, optional
        Labels the model was trained on. By default the audited labels stand in for them.
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
        Amplification; a task that is never predicted counts as 0.

    See Also
    --------
    skbiasamp.MALSAuditor : The same, with a table of pairs.
    directional_amplification : Tells the two directions apart and respects base rates.

    Notes
    -----
    .. math::

        \frac{1}{|T|} \sum_{a,t} y_{at} \left[ P(\hat A_a \mid \hat T_t) -
        P_{train}(A_a \mid T_t) \right], \quad
        y_{at} = \left[ P_{train}(A_a \mid T_t) > \tfrac{1}{|A|} \right]

    as written in eq. 1 of [2]_.

    References
    ----------
    .. [1] Zhao, Wang, Yatskar, Ordonez, Chang. Men also like shopping: reducing gender bias
       amplification using corpus-level constraints. EMNLP 2017.
    .. [2] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    Four in five of those who cook are women; the model lets nobody else cook:

    >>> from skbiasamp.metrics import mals_amplification
    >>> sex = ["f"] * 50 + ["m"] * 50
    >>> cooks = [1] * 40 + [0] * 10 + [1] * 10 + [0] * 40
    >>> predicted = [1] * 40 + [0] * 60
    >>> round(mals_amplification(cooks, predicted, sensitive_features=sex), 12)
    0.2
    """
    train, test = read_pair(
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
    require_task_pred(test.has("task_pred"), metric="MALS")
    pairs = mals(train, test, base="train" if y_train is not None else "test")
    warn_undefined(
        describe_undefined(pairs, condition="predicted", kept_as_zero=True), stacklevel=2
    )
    return pairs.value


def directional_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    direction: str = "A->T",
    ties: str = "zero",
    base: str | pd.DataFrame = "test",
    sign: pd.DataFrame | None = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell whether predictions exaggerate the correlations of the training labels.

    Each pair of group and task counts the change from labels to predictions, positive when it
    goes the way the training correlation goes. 0 means that predictions are as associated
    with the attribute as the labels are, not that they are fair.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels: one column of classes, or a 0/1 column a task.
    y_pred : array-like
        Predicted labels or probabilities. May be None for ``direction="T->A"``.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred : array-like, optional
        The attribute as predicted by the model, for ``direction="T->A"``.
    y_train, sensitive_train : array-like, optional
        Labels the model was trained on, which give the sign of each correlation. By default
        the audited labels do.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    direction : {"A->T", "T->A"}, default="A->T"
        Whether the attribute biases the prediction of the task, or the task that of the
        attribute. Values of the two directions are not comparable with each other.
    ties : {"zero", "negative"}, default="zero"
        The sign of a pair that is exactly independent in training: 0, as in the authors' code
        and tables, or −1, as in the printed formula.
    base : {"test", "train"} or DataFrame of groups × tasks, default="test"
        What predictions are compared with: the audited labels, the training labels, or
        correlations of your own, P(t|a) for A->T and P(a|t) for T->A. The sign then follows
        from them: P(t|a) against its mean over groups, P(a|t) against the group's share.
    sign : DataFrame of groups × tasks, optional
        Signs (−1, 0, 1) of your own.
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
        Amplification in [−1, 1]; undefined pairs are left out of the mean.

    See Also
    --------
    skbiasamp.DirectionalAuditor : The same, with a table of pairs.
    multi_attribute_amplification : Sets of tasks instead of single ones.

    Notes
    -----
    .. math::

        \frac{1}{|A||T|} \sum_{a,t} s_{at} \left[ P(\hat T_t \mid A_a) - P(T_t \mid A_a) \right],
        \quad s_{at} = \operatorname{sign}\left( P_{train}(A_a, T_t) -
        P_{train}(A_a) P_{train}(T_t) \right)

    for A->T, and with :math:`P(\hat A_a \mid T_t) - P(A_a \mid T_t)` for T->A; eq. 2 of [1]_.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    Three in four women cook and one in four men. A model that lets every woman cook and no man
    adds a quarter:

    >>> from skbiasamp.metrics import directional_amplification
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooking = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> predicted = [1] * 40 + [0] * 40
    >>> directional_amplification(cooking, predicted, sensitive_features=sex)
    0.25
    """
    check_option("direction", direction, DIRECTIONS)
    check_option("ties", ties, TIES)
    if not isinstance(base, pd.DataFrame):
        check_option("base", base, BASES)
    train, test = read_pair(
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
    check_sides(test, direction=direction, metric="directional amplification")
    pairs = directional(train, test, direction=direction, ties=ties, base=base, sign=sign)
    warn_undefined(describe_undefined(pairs, condition="audited"), stacklevel=2)
    return pairs.value
