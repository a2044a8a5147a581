"""NoiseRandomizer: the baseline that a remedy has to beat."""

from __future__ import annotations

import zlib
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._compat import Interval
from skbiasamp._input import Array


class NoiseRandomizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Add Gaussian noise to features, in training and in prediction.

    With growing noise a model tells less of the protected attribute, and of everything else.
    The line from no noise to much is the trade-off that costs nothing to make, and a remedy is
    worth its name where it does better [1]_ (Fig. 5).

    .. versionadded:: 0.1

    Parameters
    ----------
    scale : float, default=1.0
        Standard deviation of the noise, in standard deviations of each feature.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        Standard deviation of each feature's noise.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    compare_mitigations : Draws remedies beside this line.

    Notes
    -----
    The same data get the same noise again, so that predictions can be repeated; other data get
    other noise, and so does a part of them. Rows that are alike get noise of their own.

    What it costs: accuracy, by design.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough. ICCV 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from skbiasamp.mitigation import NoiseRandomizer
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> y = X[:, 0] > 0
    >>> for scale in (0, 1, 4):
    ...     model = make_pipeline(NoiseRandomizer(scale, random_state=0), LogisticRegression())
    ...     print(round(model.fit(X, y).score(X, y), 2))
    1.0
    0.74
    0.57
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scale": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    scale_: Array

    def __init__(self, scale: float = 1.0, *, random_state: Any = None) -> None:
        self.scale = scale
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how much each feature varies.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : Ignored
            Here for pipelines.

        Returns
        -------
        self : object
        """
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self.scale_ = self.scale * X.std(axis=0)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self

    def transform(self, X: Any) -> Array:
        """Add noise.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Data.

        Returns
        -------
        X_noisy : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        # Not the same for rows at the same place of other data: a model that has learned the
        # noise of its training rows by heart would recognise them.
        rng = np.random.default_rng([self._seed, zlib.crc32(X.tobytes())])
        return (X + self.scale_ * rng.standard_normal(X.shape)).astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # of single rows; all of them are noisy alike
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
