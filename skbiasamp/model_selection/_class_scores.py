"""A scorer for each class or task, so that a mitigation's cost is known for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, make_scorer
from sklearn.utils.multiclass import type_of_target

from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputTypeError
from skbiasamp._utils.formatting import task_of


def class_scorers(
    y: Any, metric: Callable[..., float] = f1_score, **options: Any
) -> dict[str, Any]:
    """Make a scorer for each class or task: F1 of each, for example.

    Pass them as ``scoring=`` to `skbiasamp.mitigation.search` or `skbiasamp.cross_audit`: a
    mitigation may keep the mean score and lose one class [1]_.

    .. versionadded:: 0.2

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels, which name the classes or tasks.
    metric : callable, default=sklearn.metrics.f1_score
        Metric of two classes, called with true and predicted 0/1 labels.
    **options : dict
        Passed to `metric`, such as ``zero_division=0``.

    Returns
    -------
    scorers : dict of str to scorer
        By names such as "f1_score of 'cook'".

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough. ICCV 2019, Fig. 7.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.model_selection import class_scorers
    >>> X, job = [[0], [1], [2], [2], [2]], ["cook", "cook", "nurse", "pilot", "pilot"]
    >>> model = LogisticRegression().fit(X, job)
    >>> scorers = class_scorers(job, zero_division=0)
    >>> {name: round(float(scorer(model, X, job)), 2) for name, scorer in scorers.items()}
    {"f1_score of 'cook'": 1.0, "f1_score of 'nurse'": 0.0, "f1_score of 'pilot'": 0.8}
    """
    if not callable(metric):
        raise InputTypeError("{metric} must be a metric of two classes; got {seen!r}.", seen=metric)
    labels = to_native(y, "y")
    try:
        several = type_of_target(labels) == "multilabel-indicator"
        classes = np.unique(labels).tolist()
    except Exception as error:  # of the library whose container it is
        raise InputTypeError("{y} holds no labels that can be sorted: {why}", why=error) from error
    if several:
        classes = list(getattr(labels, "columns", range(np.shape(labels)[1])))
    name = getattr(metric, "__name__", type(metric).__name__)
    how = {"metric": metric, **options}
    return {
        f"{name} of '{task_of(label)}'": make_scorer(_of_class, of=i if several else label, **how)
        for i, label in enumerate(classes)
    }


def _of_class(y_true: Any, y_pred: Any, *, of: Any, metric: Any, **options: Any) -> float:
    """Return the metric of one class against all others, or of one column."""
    both = [np.asarray(labels) for labels in (y_true, y_pred)]
    true, pred = (labels[:, of] if labels.ndim > 1 else labels == of for labels in both)
    return float(metric(true, pred, **options))
