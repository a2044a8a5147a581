"""Labels, groups and predictions whose true amplification is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state

from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import Interval, validate_params

_SHARE = [Interval(Real, 0, 1, closed="both")]
_DISTANCE = [Interval(Real, -1e300, 1e300, closed="both")]


@keywords()
@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_groups": [Interval(Integral, 2, None, closed="left")],
        # The population has n_groups * 4**n_tasks cells.
        "n_tasks": [Interval(Integral, 1, 6, closed="both")],
        "base_rate": _SHARE,
        "bias": _SHARE,
        "amplification": [Interval(Real, -1, 1, closed="both")],
        "accuracy": _SHARE,
        "class_sep": _DISTANCE,
        "group_sep": _DISTANCE,
        "random_state": ["random_state"],
    }
)
def make_biased_classification(
    n_samples: int = 1000,
    *,
    n_groups: int = 2,
    n_tasks: int = 1,
    group_weights: Sequence[float] | None = None,
    base_rate: float = 0.5,
    bias: float = 0.2,
    amplification: float = 0.05,
    accuracy: float = 0.8,
    class_sep: float = 1.0,
    group_sep: float = 2.0,
    random_state: Any = None,
) -> Bunch:
    """Make synthetic labels, groups and predictions with a known bias amplification.

    Use it to check an audit against the true value. Each row gets a group, then a label and a
    prediction for each task, independently of other tasks. Groups g0, g2, ... have tasks 0, 2, ...
    more often and tasks 1, 3, ... less often. For groups g1, g3, ... it is the reverse.

    .. versionadded:: 0.1

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_groups : int, default=2
        Number of groups, named "g0", "g1" and so on.
    n_tasks : int, default=1
        Number of binary tasks, at most 6.
    group_weights : sequence of float, default=None
        Shares of the groups in the population. None: equal shares.
    base_rate : float, default=0.5
        Rate of each task, halfway between the groups that have it more and less often.
    bias : float, default=0.2
        Difference of a task's rate between these groups. 0 makes task and group independent.
    amplification : float, default=0.05
        Difference between the rate of a task in predictions and in labels, within a group. Above
        0, predictions strengthen the association; below 0, they weaken it. If `bias` is above 0,
        this is the directional amplification group → task (A→T) of the population.
    accuracy : float, default=0.8
        Share of rows whose prediction equals the label, in every group and task.
    class_sep : float, default=1.0
        Shift of the ``signal_*`` features with the labels, in standard deviations. Larger: labels
        are easier to predict.
    group_sep : float, default=2.0
        Shift of the ``proxy_*`` features with the group, in standard deviations. Larger: the group
        is easier to predict.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows.

    Returns
    -------
    data : Bunch
        ``target`` and ``prediction``: Series for one task, else DataFrames of indicators.
        ``sensitive``: the groups. ``joint``: the population, with the probability ``n`` of each
        cell of group, labels and predictions, for `Contingency.from_counts`. ``data``: features
        for training a model, one normal column ``signal_*`` per task and one ``proxy_*`` per
        group. ``feature_names``: their names.

    Notes
    -----
    A metric of `joint` is the true value of that metric for `prediction`. `prediction` does not
    depend on the features. A model trained on the features has a different amplification: it grows
    with `group_sep` and falls with `class_sep`.

    Examples
    --------
    >>> from skbiasamp import Contingency, DirectionalAuditor
    >>> from skbiasamp.datasets import make_biased_classification
    >>> data = make_biased_classification(amplification=0.05, random_state=0)
    >>> auditor = DirectionalAuditor(reference="test", interval=None)
    >>> round(auditor.score(data.target, data.prediction, sensitive_features=data.sensitive), 3)
    0.044

    The true value, from the population:

    >>> data.joint.head(3)
      group  task  task_pred       n
    0    g0     0          0  0.1375
    1    g0     0          1  0.0625
    2    g0     1          0  0.0375
    >>> round(auditor.audit(Contingency.from_counts(data.joint)).published, 3)
    0.05
    """
    random_state = check_random_state(random_state)
    shares = _shares(group_weights, n_groups)
    lean = (-1) ** np.add.outer(np.arange(n_groups), np.arange(n_tasks))
    rate = base_rate + lean * bias / 2
    tables = _agreement_tables(rate, rate + lean * amplification, accuracy, amplification)
    probability = np.concatenate(
        [
            share * reduce(np.multiply.outer, table).ravel()
            for share, table in zip(shares, tables, strict=True)
        ]
    )
    # Every cell as its group and, for every task, 2 * label + prediction.
    group, *pair = np.indices((n_groups, *[4] * n_tasks)).reshape(1 + n_tasks, -1)
    labels, predictions = np.divmod(np.stack(pair, axis=1), 2)
    tasks = [f"task_{k}" for k in range(n_tasks)]
    groups = np.array([f"g{a}" for a in range(n_groups)])

    joint = pd.DataFrame({"group": groups[group]})
    for side, values in (("task", labels), ("task_pred", predictions)):
        columns = [side] if n_tasks == 1 else [f"{side}[{task}]" for task in tasks]
        joint[columns] = values
    joint["n"] = probability

    row = random_state.choice(len(joint), n_samples, p=probability)
    seps = float(class_sep), float(group_sep)  # and not an int that no array holds
    shift = np.hstack([seps[0] * labels[row], seps[1] * np.eye(n_groups)[group[row]]])
    features = [f"signal_{k}" for k in range(n_tasks)] + [f"proxy_{a}" for a in range(n_groups)]
    data = pd.DataFrame(shift + random_state.standard_normal(shift.shape), columns=features)

    def drawn(values: Any, name: str) -> pd.DataFrame | pd.Series[int]:
        if n_tasks == 1:
            return pd.Series(values[row, 0], name=name)
        return pd.DataFrame(values[row], columns=tasks)

    return Bunch(
        data=data,
        target=drawn(labels, "task"),
        prediction=drawn(predictions, "task_pred"),
        sensitive=pd.Series(groups[group[row]], name="group"),
        joint=joint[joint["n"] > 0].reset_index(drop=True),
        feature_names=features,
    )


def _shares(group_weights: Sequence[float] | None, n_groups: int) -> Any:
    given = np.ones(n_groups) if group_weights is None else group_weights
    weights = numbers_of(given, "group_weights")
    if weights.shape != (n_groups,) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InputError(
            "group_weights must hold a number above 0 for each of the {n} groups. Got {seen!r} "
            "instead.",
            n=n_groups,
            seen=group_weights,
        )
    return weights / weights.sum()


def _agreement_tables(rate: Any, rate_pred: Any, accuracy: float, amplification: float) -> Any:
    """Return, for every group and task, P(t, t̂ | a) with these margins and this accuracy."""
    for name, rates in (("labels", rate), ("predictions", rate_pred)):
        if not ((rates >= 0) & (rates <= 1)).all():
            raise InputError(
                "base_rate, bias and amplification ask for {what} that are positive at rates from "
                "{low:.4g} to {high:.4g}: choose them so that all lie in [0, 1].",
                what=name,
                low=rates.min(),
                high=rates.max(),
            )
    low, high = np.abs(1 - rate - rate_pred).max(), 1 - abs(amplification)
    if not low - 1e-12 <= accuracy <= high + 1e-12:
        raise InputError(
            "accuracy={accuracy:.4g} is out of reach: with these rates of labels and predictions, "
            "they agree in a share from {low:.4g} to {high:.4g} of rows.",
            accuracy=accuracy,
            low=low,
            high=high,
        )
    both = (accuracy - 1 + rate + rate_pred) / 2
    table = np.stack([accuracy - both, rate_pred - both, rate - both, both], axis=-1)
    return table.clip(0)
