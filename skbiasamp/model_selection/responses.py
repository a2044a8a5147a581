"""What a classifier says of rows, whichever method it says it with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, first_row, quote
from skbiasamp._utils.compat import HasMethods
from skbiasamp.compose.wrapper import ready
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.score_order import passed

# What `estimator=` may be if thresholds are put on its scores, as scikit-learn checks parameters.
GIVES_SCORES = [
    HasMethods(["fit", "predict", method]) for method in ("predict_proba", "decision_function")
]


def task_scores(output: Any, classes: Any) -> Array:
    """Return probabilities with a column a class or task, however the classifier gives them.

    `output` is such a matrix already, or a list with a matrix of classes for each task.
    """
    if not isinstance(output, list):
        return np.asarray(output)
    columns = np.zeros((len(output[0]), len(output)))
    for task, (column, known) in enumerate(zip(output, classes, strict=True)):
        positive = np.flatnonzero(np.asarray(known) == 1)  # a task that never occurs has none
        if len(positive):
            columns[:, task] = column[:, positive[0]]
    return columns


def rows_above(
    y_true: Any, rank: Array, n: int, labels: dict[str, Any]
) -> tuple[Contingency, Array]:
    """Return rows counted by their rank among `n`, and those with a rank of at least each.

    The latter are of the first task, as labels (negative, positive) × groups × ranks 0 to n.
    """
    # As probabilities that only rank, scores of any size can be read beside the labels.
    cells = Contingency.from_labels(y_true, (rank + 0.5) / n, **labels)
    group, task, shares = (
        labels_of(cells, side).dense(slice(None), float) for side in ("group", "task", "task_pred")
    )
    own = np.rint(shares[:, 0] * n - 0.5)
    return cells, passed(own, group, task[:, 0] > 0, cells.weight, np.arange(n + 1))


def most_probable(probability: Array, classes: Any, *, one_label: bool) -> Array:
    """Return the most probable class of each row, or which tasks are more probable than not."""
    if one_label:
        predicted: Array = classes[probability.argmax(axis=1)]
        return predicted
    return (probability > 0.5).astype(int)


def response_of(estimator: Any) -> str:
    """Return the method that a classifier has for scores."""
    return "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"


def response(estimator: Any, X: Any) -> Any:
    """Return what a fitted classifier gives as scores of rows."""
    return getattr(estimator, response_of(estimator))(X)


def positive_scores(output: Any) -> Array:
    """Return the scores of the second of two classes."""
    scores = np.asarray(output, dtype=float)
    return known_scores(scores if scores.ndim == 1 else scores[:, 1])


def known_scores(scores: Array) -> Array:
    """Return scores; raise if some are NaN, which no threshold decides."""
    missing = np.isnan(scores).reshape(len(scores), -1).any(axis=1)
    if missing.any():
        raise InputError(
            "{estimator} gives no score (NaN) for {rows}. Impute missing features before it, or "
            "leave these rows out.",
            rows=first_row(missing),
        )
    return scores


def held_out(
    estimator: Any, X: Any, y: Array, *, cv: Any, params: dict[str, Any], n_jobs: int | None
) -> tuple[Any, Any]:
    """Return the fitted classifier, and scores of rows that it was not fitted on."""
    if isinstance(cv, str):  # "prefit"
        output = response(estimator, X)
        check_classes(estimator, y)
        return estimator, output
    model = ready(estimator)
    folds = check_cv(cv, y, classifier=True)
    how: dict[str, Any] = {"cv": folds, "method": response_of(model), "n_jobs": n_jobs}
    output = cross_val_predict(model, X, y, params=params, **how)
    return clone(model).fit(X, y, **params), output


def check_classes(estimator: Any, y: Array) -> None:
    """Raise unless binary labels are of the classes of a classifier that was fitted before."""
    classes = estimator.classes_
    if y.ndim == 1 and (len(classes) != 2 or not {*y.tolist()} <= {*np.asarray(classes).tolist()}):
        raise InputError(
            "{y} must hold the two classes that {estimator} was fitted on; got labels {seen}, and "
            "it was fitted on {known}.",
            seen=quote(np.unique(y).tolist()),
            known=quote(np.asarray(classes).tolist()),
        )


def binary_labels(y: Any, *, several: bool) -> Array:
    """Return labels of two classes, or of several tasks if these are allowed."""
    labels = np.asarray(to_native(y, "y"))
    assert_all_finite(labels, input_name="y")
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind not in ("binary", "multilabel-indicator")[: 1 + several]:
        raise InputError(
            "Only binary classification is supported, of one task{or_more}. The type of "
            "the target is {kind}. Exclusive classes have no thresholds of their own; audit "
            "one class against the rest.",
            or_more=" or of several" * several,
            kind=kind,
        )
    return column_or_1d(labels, warn=True) if kind == "binary" else labels
