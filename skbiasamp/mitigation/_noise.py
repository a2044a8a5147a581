"""NoiseRandomizer: noise on features, the baseline for mitigations."""

from __future__ import annotations

import zlib
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval
from skbiasamp.mitigation._pairs import checked_data


class NoiseRandomizer(OneToOneFeatureMixin, TransformerMixin, WithOptions):
    """Add random noise to features, in training and in prediction.

    With more noise, a model reveals less about the group and is less accurate. A mitigation is
    useful if it has a better trade-off than noise [1]_ (Fig. 5).

    .. versionadded:: 0.1

    Parameters
    ----------
    scale : float, default=1.0
        Standard deviation of the Gaussian noise, in standard deviations of each feature. 0 adds no
        noise. Values of text, categories, booleans and dates are replaced by random training
        values of the same feature, with probability ``1 - 1 / sqrt(1 + scale**2)``. The correlation
        with the original is then the same as for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        Standard deviation of each feature's noise; NaN if its values are replaced.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    search : Compare mitigations with noise and with each other.

    Notes
    -----
    The same data get the same noise again, so predictions can be repeated. Other data, or a part
    of the data, get other noise. Equal rows get different noise.

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

    scale: float = PositionalOption(
        Interval(Real, 0, None, closed="left"), default=1.0, kw_only=False
    )
    random_state: Any = Option(None, "random_state")

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
        data = self._read(X, reset=True)
        self._training: Any = data if isinstance(data, pd.DataFrame) else None
        if isinstance(data, pd.DataFrame):
            numbers = _numbers_of(data).std(ddof=0)
            self.scale_ = self.scale * numbers.reindex(data.columns).to_numpy(float)
        else:
            self.scale_ = self.scale * data.std(axis=0)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self

    def transform(self, X: Any) -> Any:
        """Add noise.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Data.

        Returns
        -------
        X_noisy : ndarray or data frame of shape (n_samples, n_features)
            A data frame if `X` has columns that are not numbers.
        """
        check_is_fitted(self)
        data = self._read(X, reset=False)
        # Noise on numbers suits booleans as well, so that a frame may take the place of numbers.
        if self._training is not None and not isinstance(data, pd.DataFrame):
            raise InputError(
                "{X} must be a data frame with columns that are not numbers, as the training data; "
                "got numbers."
            )
        # Not the same for rows at the same place of other data: a model that has memorised the
        # noise of its training rows would recognise them.
        if isinstance(data, pd.DataFrame):
            hashes = pd.util.hash_pandas_object(data, index=False).to_numpy()
            return self._noisy_frame(data, self._rng(hashes))
        rng = self._rng(data)
        noise = self.scale_ * rng.standard_normal(data.shape)
        return (data + noise).astype(data.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # of single rows; all of them are noisy alike
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return numbers, or a frame if some columns are not."""
        frame: Any = to_native(X, "X") if hasattr(X, "columns") else None
        if frame is None or _numbers_of(frame).shape == frame.shape:
            dtypes = [np.float64, np.float32]
            return checked_data(self, X, reset=reset, dtype=dtypes)
        checked_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return frame

    def _rng(self, data: Array) -> np.random.Generator:
        return np.random.default_rng([self._seed, zlib.crc32(data.tobytes())])

    def _noisy_frame(self, data: pd.DataFrame, rng: np.random.Generator) -> Any:
        n, noisy, keep = len(data), data.copy(), 1 / np.sqrt(1 + self.scale**2)
        for at, scale in enumerate(self.scale_):
            column = data.iloc[:, at]
            if np.isnan(scale):
                drawn = self._training.iloc[rng.integers(len(self._training), size=n), at]
                noisy.isetitem(at, column.where(rng.random(n) < keep, drawn.array).array)
            else:
                noisy.isetitem(at, (column + scale * rng.standard_normal(n)).array)
        return noisy


def _numbers_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.select_dtypes("number", exclude="timedelta")
