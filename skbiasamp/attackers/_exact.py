"""ExactAttacker: the most frequent class of each input, without training."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._utils.compat import check_sample_weight


class ExactAttacker(ClassifierMixin, BaseEstimator):
    """Table of the most frequent class of each input: the best attacker if inputs take few values.

    On the rows it was fitted on, no classifier is more accurate. An input without training rows
    gets the most frequent class of all rows.

    .. versionadded:: 0.1

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    table_ : ndarray of shape (n_inputs, n_classes)
        Sum of the weights of each distinct input and class.
    inputs_ : ndarray of shape (n_inputs, n_features)
        The distinct inputs, in sorted order.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    MLPAttacker : Small neural networks, for inputs of many values.

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
        """Count the classes of each distinct input.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with many rows for each distinct one.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; 0 leaves a row out. By default every row weighs 1.

        Returns
        -------
        self : object
        """
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if np.iscomplexobj(weight):
            raise InputError("{sample_weight} must hold real numbers; got complex ones.")
        if not weight.any():  # scikit-learn checks this since 1.8
            raise ValueError("Sample weights must contain at least one non-zero number.")
        self.classes_ = unique_labels(y)  # refuses a mix of types, which cannot be sorted
        target = np.searchsorted(self.classes_, y)
        self.inputs_, row = np.unique(X, axis=0, return_inverse=True)
        self.table_ = np.zeros((len(self.inputs_), len(self.classes_)))
        np.add.at(self.table_, (row.reshape(-1), target), weight)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class among the training rows with the same input."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        n = len(self.inputs_)
        # Coded together with the training inputs: equal rows are equal whatever their type.
        _, code = np.unique(np.vstack([self.inputs_, X]), axis=0, return_inverse=True)
        code = code.reshape(-1)
        table = np.zeros((code.max() + 1, len(self.classes_)))
        table[code[:n]] = self.table_
        # Inputs that are new, or have no weight, get the shares of all rows.
        table[table.sum(axis=1) == 0] = self.table_.sum(axis=0)
        return (table / table.sum(axis=1, keepdims=True))[code[n:]]

    def predict(self, X: Any) -> Array:
        """Return the most frequent class for each row of X; of equally frequent ones the first."""
        # Called first: before fit it raises NotFittedError, and classes_ does not exist.
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
