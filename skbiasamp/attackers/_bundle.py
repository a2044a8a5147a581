"""Networks that were trained at once, as NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_array

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp.attackers.networks import predict_outputs
from skbiasamp.attackers.optional_torch import find_device


@dataclass(eq=False, repr=False)
class MLPBundle:
    """Networks that `MLPAttacker.fit_many` trained at once.

    .. versionadded:: 0.1

    Attributes
    ----------
    classes : ndarray of shape (n_classes,), or None
        The classes; None for regressors.
    loss_curve : ndarray of shape (n_networks, max_epochs)
        Mean loss of each epoch's steps, in the unit of the target.
    validation_curve : ndarray of shape (n_networks, max_epochs), or None
        Loss on the validation rows after each epoch, or accuracy with
        ``early_stopping="accuracy"``; None without `early_stopping`.
    n_iter : ndarray of shape (n_networks,)
        Number of epochs that led to the weights.
    tensors : dict of ndarray of shape (n_networks, ...)
        The weights as NumPy arrays, on whatever device the networks were trained: `weight0` and
        `bias0` of the first layer, and so on.

    Examples
    --------
    >>> from skbiasamp.attackers import MLPAttacker
    >>> group = [[0], [0], [1], [1]]
    >>> tasks = [[0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]
    >>> networks = MLPAttacker(random_state=0).fit_many(group, tasks, n_rows=400)
    >>> networks.predict([[0], [1]])
    array([[0, 1],
           [1, 0],
           [1, 1]])
    >>> networks.loss_curve.shape
    (3, 100)
    """

    tensors: dict[str, Array]
    loss_curve: Array
    validation_curve: Array | None
    n_iter: Array
    classes: Array | None
    _centres: Array
    _activation: str
    _device: str

    def __len__(self) -> int:
        return len(self.loss_curve)

    def _outputs(self, X: Any) -> Array:
        X = check_array(X, dtype=np.float32, input_name="X")
        n_inputs = self.tensors["weight0"].shape[1]
        if X.shape[1] != n_inputs:
            text = "X has {n} features, but the networks expect {m}."
            raise InputError(text, n=X.shape[1], m=n_inputs)
        # Networks that were trained on a GPU also predict without one.
        device = find_device(self._device, needed=False)
        return predict_outputs(self._activation, self.tensors, X, device)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class: (n_networks, n_samples, n_classes)."""
        if self.classes is None:
            raise AttributeError("Networks with loss='squared_error' have no probabilities.")
        return softmax(self._outputs(X), axis=2)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, or a number: (n_networks, n_samples)."""
        outputs = self._outputs(X)
        if self.classes is not None:
            return self.classes[outputs.argmax(axis=2)]
        mean, scale = self._centres.T[:, :, None]
        return outputs[:, :, 0] * scale + mean
