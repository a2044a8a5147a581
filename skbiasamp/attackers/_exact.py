"""ExactAttacker: the best table, no training."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._compat import check_sample_weight
from skbiasamp._labels import Array


class ExactAttacker(ClassifierMixin, BaseEstimator):
    """Predict the most frequent class of each distinct input: no attacker does better in-sample.

    Where inputs take few values, the best possible attacker is a table, and needs no training.
    An input that was not seen gets the most frequent class of all.

    .. versionadded:: 0.1

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    table_ : ndarray of shape (n_inputs, n_classes)
        How often each distinct input came with each class, as weights.
    inputs_ : ndarray of shape (n_inputs, n_features)
        The distinct inputs, in sorted order.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    MLPAttacker : Small networks, trained many at once.

    Examples
    --------
    >>> from skbiasamp.attackers import ExactAttacker
    >>> attacker = ExactAttacker().fit([[0], [0], [0], [1]], ["no", "no", "yes", "yes"])
    >>> attacker.predict([[0], [1], [7]])
    array(['no', 'yes', 'no'], dtype='<U3')
    >>> attacker.predict_proba([[0]]).round(2)
    array([[0.67, 0.33]])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, of few distinct values.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        self : object
        """
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if not weight.any():  # releases before 1.8 let it pass
            raise ValueError("Sample weights must contain at least one non-zero number.")
        self.classes_, target = np.unique(y, return_inverse=True)
        self.inputs_, seen = np.unique(X, axis=0, return_inverse=True)
        shape = (len(self.inputs_), len(self.classes_))
        code = seen.reshape(-1) * shape[1] + target
        self.table_ = np.bincount(code, weight, minlength=shape[0] * shape[1]).reshape(shape)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class among the rows with the same input.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        n = len(self.inputs_)
        # Seen and asked inputs are coded together: whatever the type, equal rows are equal.
        _, code = np.unique(np.vstack([self.inputs_, X]), axis=0, return_inverse=True)
        code = code.reshape(-1)
        row = np.full(code.max() + 1, n)
        row[code[:n]] = np.arange(n)
        table = np.vstack([self.table_, self.table_.sum(axis=0)])
        empty = table.sum(axis=1) == 0
        table[empty] = table[-1]
        return (table / table.sum(axis=1, keepdims=True))[row[code[n:]]]

    def predict(self, X: Any) -> Array:
        """Return the most frequent class of each input, the first where several are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]
