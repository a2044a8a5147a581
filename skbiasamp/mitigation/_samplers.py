"""What samplers share, and GroupOverSampler, which repeats rows."""

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
from skbiasamp._utils.docstrings import filling
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
            Training data of any kind; arrays of images may have more axes.
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
        check_rows(self, X, y, allow_nd=True)
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
            Training data of any kind; arrays of images may have more axes.
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


@filling
class GroupOverSampler(Sampler):
    """Oversample: repeat random rows until all pairs of group and class are equally frequent.

    With several labels per row, rows of each set of tasks are repeated until every group has the
    set equally often. Sets that some group never has stay as they are.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(sensitive)s
        It stays in `X`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of repeated rows.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_sampled,)
        Positions of the rows: all of them, then the repeated ones.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    RatioBalancer : Drop rows instead.

    Notes
    -----
    Training takes longer, and flexible models memorise the few rows of a rare pair. Classes become
    equally frequent too: probabilities and base rates differ from those of the data, and rare
    classes are predicted more often.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import GroupOverSampler
    >>> sex = np.repeat(["f", "m"], [40, 80])
    >>> hired = np.repeat([0, 1, 0, 1], [30, 10, 20, 60])
    >>> X = np.arange(120).reshape(-1, 1)
    >>> sampler = GroupOverSampler(random_state=0)
    >>> X_more, y_more = sampler.fit_resample(X, hired, sensitive_features=sex)
    >>> [int(np.sum((sex[X_more[:, 0]] == a) & (y_more == t))) for a in "fm" for t in (0, 1)]
    [60, 60, 60, 60]
    """

    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        if pairs.one_label:
            pairs.require_all(why="there is nothing to repeat. Merge groups or classes.")
            cell, counts = pairs.cell, np.bincount(pairs.cell)
            lacking = counts.max() - counts
        else:
            counts = pairs.counts_of_sets()
            cell = pairs.group * counts.shape[1] + pairs.label_set
            most = np.where(counts.min(axis=0) > 0, counts.max(axis=0), counts)
            lacking = (most - counts).ravel()
        rows = np.split(np.argsort(cell, kind="stable"), np.bincount(cell).cumsum()[:-1])
        repeated = [rng.choice(rows[code], lacking[code]) for code in np.flatnonzero(lacking)]
        return np.concatenate([np.arange(len(cell)), *repeated])
