"""Scores of classifiers, and decision thresholds that keep the base rate of the training labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import assert_all_finite
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, first_row, quote, renaming
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import N_JOBS, HasMethods, StrOptions, check_sample_weight
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp.compose.sensitive import ClassifierWrapper, fit_params, ready, require_labels
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.pair_sums import everywhere
from skbiasamp.metrics.score_order import between, passed

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
    group, task, share = (labels_of(cells, side) for side in ("group", "task", "task_pred"))
    own = np.rint(share.column(0) * n - 0.5)
    return cells, passed(own, group, task.column(0) > 0, cells.weight, np.arange(n + 1))


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
        known = np.asarray(estimator.classes_).tolist()
        if y.ndim == 1 and (len(known) != 2 or not {*y.tolist()} <= {*known}):
            text = (
                "{y} must hold the two classes that {estimator} was fitted on; got labels {seen}, "
                "and it was fitted on {known}."
            )
            raise InputError(text, seen=quote(np.unique(y).tolist()), known=quote(known))
        return estimator, output
    model = ready(estimator)
    folds = check_cv(cv, y, classifier=True)
    how: dict[str, Any] = {"cv": folds, "method": response_of(model), "n_jobs": n_jobs}
    output = cross_val_predict(model, X, y, params=params, **how)
    return clone(model).fit(X, y, **params), output


def binary_labels(y: Any, *, several: bool) -> Array:
    """Return labels of two classes, or of several tasks if these are allowed."""
    labels = np.asarray(to_native(y, "y"))
    assert_all_finite(labels, input_name="y")
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind not in ("binary", "multilabel-indicator")[: 1 + several]:
        text = (
            "Only binary classification is supported, of one task{or_more}. The type of "
            "the target is {kind}. Exclusive classes have no thresholds of their own; audit "
            "one class against the rest."
        )
        raise InputError(text, or_more=" or of several" * several, kind=kind)
    return column_or_1d(labels, warn=True) if kind == "binary" else labels


class BaseRateThresholdClassifier(ClassifierWrapper):
    """Classifier with decision thresholds that keep the base rate of the training labels.

    A threshold of 0.5 often predicts common tasks too often and rare tasks too rarely, which
    changes bias metrics. This classifier predicts each task as often as it occurs in the training
    labels [1]_ (Sec. 3.3).

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier: binary or multilabel, with ``predict_proba`` or ``decision_function``.
    cv : int, cross-validation splitter, iterable or "prefit", default=5
        Folds whose held-out scores give the thresholds; the classifier is then fitted on all rows.
        "prefit": `estimator` is fitted already, and the rows passed to `fit` give the scores. The
        base rates are theirs, or those of `y_train`, as in the paper.
    n_jobs : int, default=None
        Number of folds that are trained in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    base_rates_ : ndarray of shape (n_tasks,)
        The share of positive labels.
    thresholds_ : ndarray of shape (n_tasks,)
        Thresholds: a score of at least this value is positive. Equal scores get the same
        prediction, so the share of positives is the nearest possible.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier.

    See Also
    --------
    amplification_curve : Amplification at every threshold.

    Notes
    -----
    This is not a reliable mitigation, because a base rate that is right overall can be wrong in
    every group. In one published model, such a threshold for the predicted gender reduced MALS
    from 0.040 to 0.001 [1]_. On COMPAS, a logistic regression amplifies slightly more with it
    (see the user guide, Decision thresholds).

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    No predicted probability exceeds 0.5, but three in ten people are hired:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp import BaseRateThresholdClassifier
    >>> skill = np.arange(100).reshape(-1, 1) % 10
    >>> hired = np.isin(np.arange(100), range(3, 100, 10)) | (np.arange(100) % 5 == 4)
    >>> model = LogisticRegression().fit(skill, hired)
    >>> bool(model.predict(skill).any())
    False
    >>> model = BaseRateThresholdClassifier(LogisticRegression()).fit(skill, hired)
    >>> model.base_rates_, float(model.predict(skill).mean())
    (array([0.3]), 0.3)

    Of a model that is fitted already, training labels give the base rate, and validation rows the
    threshold:

    >>> fitted = LogisticRegression().fit(skill, hired)
    >>> model = BaseRateThresholdClassifier(fitted, cv="prefit")
    >>> model.fit(skill[:40], hired[:40], y_train=hired).base_rates_
    array([0.3])
    """

    # Weights are for the classifier inside, and thresholds follow it.
    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED, "y_train": UNUSED}

    _two_classes = True

    estimator: Any = PositionalOption(*GIVES_SCORES, kw_only=False)
    cv: Any = Option(5, "cv_object", StrOptions({"prefit"}))
    n_jobs: int | None = Option(None, *N_JOBS)

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, y_train: Any = None, **params: Any
    ) -> Self:
        """Fit the classifier and find its thresholds.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels of two classes, or 0/1 indicator columns.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for classifier, base rates and thresholds.
        y_train : array-like of shape (n_train,) or (n_train, n_tasks), optional
            The labels that a fitted classifier was trained on (``cv="prefit"``). They give the base
            rates, and `X` and `y` are validation rows. None: `y` gives the base rates.
        **params : dict
            Metadata that the classifier inside has requested.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        require_labels(self, y)
        y = labels = binary_labels(y, several=True)
        self._one_label = labels.ndim == 1
        inner = fit_params(self, {"sample_weight": sample_weight}, params)["estimator"]
        with progress(f"fitting {type(self).__name__}"):
            self.estimator_, output = held_out(
                self.estimator, X, y, cv=self.cv, params=inner, n_jobs=self.n_jobs
            )
        scores = self._columns(output)
        labels = self._indicators(labels)
        weight = check_sample_weight(inner.get("sample_weight"), labels, dtype=float)
        self.base_rates_ = np.average(labels, axis=0, weights=weight)
        if y_train is not None:
            self.base_rates_ = self._rates_of(y_train, labels.shape[1])
        n, thresholds = len(scores), []
        for own, rate in zip(scores.T, self.base_rates_, strict=True):
            known = between(own[weight > 0], n)
            reached = passed(own, everywhere(n), np.zeros(n, bool), weight, known)[0, 0]
            thresholds.append(known[np.argmin(np.abs(reached / reached[0] - rate))])
        self.thresholds_ = np.array(thresholds, dtype=float)
        return self

    @filling
    def predict(self, X: Any) -> Array:
        """Predict with the thresholds.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        check_is_fitted(self)
        scores = self._columns(response(self.estimator_, X))
        positive = (scores >= self.thresholds_).astype(int)
        return self.classes_[positive[:, 0]] if self._one_label else positive

    def _rates_of(self, y_train: Any, n_tasks: int) -> Array:
        """Return the base rates of training labels, which a fitted classifier was trained on."""
        if self.cv != "prefit":
            raise InputError("{y_train} needs cv='prefit': otherwise y holds the training labels.")
        with renaming(y_true="y_train"):
            labels = binary_labels(y_train, several=True)
        n_columns = 1 if labels.ndim == 1 else labels.shape[1]
        if n_columns != n_tasks or (labels.ndim == 1) != self._one_label:
            text = "{y_train} has {seen} tasks, and y has {n}. Pass labels of the same tasks."
            raise InputError(text, seen=n_columns, n=n_tasks)
        if self._one_label and (wrong := sorted({*labels.tolist()} - {*self.classes_.tolist()})):
            text = "{y_train} holds {seen!r}, which is no class of y: {classes}."
            raise InputError(text, seen=wrong[0], classes=quote(self.classes_.tolist()))
        return np.asarray(self._indicators(labels).mean(axis=0))

    def _indicators(self, labels: Array) -> Array:
        """Return labels with a column for each task."""
        return (labels == self.classes_[1])[:, None] if self._one_label else labels

    def _columns(self, output: Any) -> Array:
        """Return scores with a column for each task."""
        if self._one_label:
            return positive_scores(output)[:, None]
        return known_scores(task_scores(output, self.classes_))
