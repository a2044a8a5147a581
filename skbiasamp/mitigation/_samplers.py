"""What samplers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import is_tensor, to_native
from skbiasamp._input.options import Option, WithOptions
from skbiasamp._utils.compat import take_rows
from skbiasamp._utils.progress import progress
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns
from skbiasamp.compose.wrapper import require_y
from skbiasamp.mitigation._pairs import Memberships, check_rows, read_pairs


class Sampler(SensitiveColumns, WithOptions, ABC):
    """Takes rows out of the training data, or repeats them.

    Like the samplers of imbalanced-learn, whose pipelines call `fit_resample` in training only.
    """

    _estimator_type = "sampler"
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    sensitive: Any = Option(None, *SENSITIVE)
    random_state: Any = Option(None, "random_state")

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Self:
        """Choose the rows to keep or repeat.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training data of any kind.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        self : object
        """
        self._validate_params()
        require_y(self, y)
        check_rows(self, X, y)
        attribute = self._sensitive(X, sensitive_features, "fit_resample")
        rng = check_random_state(self.random_state)
        with progress("choosing rows"):
            self.sample_indices_ = self._choose(read_pairs(y, attribute), rng)
        return self

    def fit_resample(self, X: Any, y: Any, *, sensitive_features: Any = None) -> tuple[Any, Any]:
        """Return the chosen rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training data of any kind.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        X, y : the same, with the chosen rows
        """
        self.fit(X, y, sensitive_features=sensitive_features)
        labels = to_native(y, "y") if isinstance(y, Mapping | memoryview) or is_tensor(y) else y
        return take_rows(X, self.sample_indices_), take_rows(labels, self.sample_indices_)

    def get_metadata_routing(self) -> Any:
        """Return which metadata is requested.

        Returns
        -------
        routing : MetadataRequest
        """
        request = super().get_metadata_routing()
        asked = getattr(request, "fit_resample", None)  # a method that imblearn adds
        if asked and self.sensitive is None and asked.requests.get("sensitive_features") is None:
            asked.add_request(param="sensitive_features", alias=True)
        return request

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @abstractmethod
    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        """Return the positions of the chosen rows."""


def draw(cell: Array, quota: Array, rng: np.random.RandomState) -> Array:
    """Return the positions of as many rows of each cell as it has a quota of."""
    order = rng.permutation(len(cell))
    rank = pd.Series(order).groupby(cell[order]).cumcount().to_numpy()
    return np.sort(order[rank < quota[cell[order]]])
