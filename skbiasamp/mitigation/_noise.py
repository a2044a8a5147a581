"""NoiseRandomizer: noise on features, the baseline for mitigations."""

from __future__ import annotations

import zlib
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval
from skbiasamp.mitigation._pairs import checked_data

_NUMBERS, _FRAME = "numbers", "a data frame with columns that are not numbers"


class NoiseRandomizer(OneToOneFeatureMixin, TransformerMixin, WithOptions):
    """Add random noise to features, in training and in prediction.

    With more noise, a model reveals less about the group and is less accurate. A mitigation is
    useful if it has a better trade-off than noise [1]_ (Fig. 5).

    .. versionadded:: 0.1

    Parameters
    ----------
    scale : float, default=1.0
        Standard deviation of the Gaussian noise, in standard deviations of each feature. 0 adds no
        noise. Values of text, categories, booleans, dates and sparse matrices are replaced by
        random training values of the same feature, with probability
        ``1 - 1 / sqrt(1 + scale**2)``. The correlation with the original is then the same as for
        numbers.
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
    of the data, get other noise. Equal rows get different noise. Sparse matrices stay sparse.

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
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training data.
        y : Ignored
            Here for pipelines.

        Returns
        -------
        self : object
        """
        self._validate_params()
        data = self._read(X, reset=True)
        self._training: Any = data if not isinstance(data, np.ndarray) else None
        if isinstance(data, np.ndarray):
            self.scale_ = self.scale * data.std(axis=0)
        elif isinstance(data, pd.DataFrame):
            numbers = _numbers_of(data).std(ddof=0)
            self.scale_ = self.scale * numbers.reindex(data.columns).to_numpy(float)
        else:
            self.scale_ = np.full(data.shape[1], np.nan)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self

    def transform(self, X: Any) -> Any:
        """Add noise.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data.

        Returns
        -------
        X_noisy : ndarray, sparse matrix or data frame of shape (n_samples, n_features)
            A data frame if `X` has columns that are not numbers.
        """
        check_is_fitted(self)
        data = self._read(X, reset=False)
        known, kind = _kind(self._training), _kind(data)
        # Noise on numbers suits booleans as well, so that a frame may take the place of numbers.
        if known != kind and (known, kind) != (_NUMBERS, _FRAME):
            text = "{X} must be {known}, as the training data; got {seen}."
            raise InputError(text, known=known, seen=kind)
        # Not the same for rows at the same place of other data: a model that has memorised the
        # noise of its training rows would recognise them.
        rng = np.random.default_rng([self._seed, zlib.crc32(_bytes(data))])
        keep = 1 / np.sqrt(1 + self.scale**2)
        if isinstance(data, pd.DataFrame):
            return self._noisy_frame(data, keep, rng)
        if sparse.issparse(data):
            return self._noisy_sparse(data, keep, rng)
        noise = self.scale_ * rng.standard_normal(data.shape)
        return (data + noise).astype(data.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # of single rows; all of them are noisy alike
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return a matrix of numbers, dense or sparse, or a frame if some columns are not."""
        frame: Any = to_native(X, "X") if hasattr(X, "columns") else None
        if frame is None or _numbers_of(frame).shape == frame.shape:
            dtypes = [np.float64, np.float32]
            return checked_data(self, X, reset=reset, dtype=dtypes, accept_sparse="csc")
        checked_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return frame

    def _noisy_frame(self, data: pd.DataFrame, keep: float, rng: np.random.Generator) -> Any:
        n, noisy = len(data), data.copy()
        for at, scale in enumerate(self.scale_):
            column = data.iloc[:, at]
            if np.isnan(scale):
                drawn = self._training.iloc[rng.integers(len(self._training), size=n), at]
                noisy.isetitem(at, column.where(rng.random(n) < keep, drawn.array).array)
            else:
                noisy.isetitem(at, (column + scale * rng.standard_normal(n)).array)
        return noisy

    def _noisy_sparse(self, data: Any, keep: float, rng: np.random.Generator) -> Any:
        cells, known, n = data.tocoo(), self._training, data.shape[0]
        n_stored = np.diff(known.indptr)
        # How often a cell is replaced by a stored value; else it is kept, or replaced by 0.
        rate = (1 - keep) * n_stored / known.shape[0]
        luck = rng.random(cells.nnz)
        kept = luck < keep
        drawn = ~kept & (luck < keep + rate[cells.col])
        filled = [rng.choice(n, k, replace=False) for k in rng.binomial(n, rate)]
        row = np.concatenate(filled).astype(int)
        column = np.repeat(np.arange(len(rate)), list(map(len, filled)))
        empty = ~np.isin(row * len(rate) + column, cells.row.astype(int) * len(rate) + cells.col)
        rows = np.concatenate([cells.row[kept], cells.row[drawn], row[empty]])
        columns = np.concatenate([cells.col[kept], cells.col[drawn], column[empty]])
        new = columns[kept.sum() :]
        values = known.data[known.indptr[new] + rng.integers(n_stored[new])]
        made = sparse.csr_array if isinstance(data, sparse.sparray) else sparse.csr_matrix
        return made((np.append(cells.data[kept], values), (rows, columns)), shape=data.shape)


def _numbers_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.select_dtypes("number", exclude="timedelta")


def _kind(data: Any) -> str:
    if sparse.issparse(data):
        return "a sparse matrix"
    return _FRAME if isinstance(data, pd.DataFrame) else _NUMBERS


def _bytes(data: Any) -> bytes:
    if isinstance(data, pd.DataFrame):
        return pd.util.hash_pandas_object(data, index=False).to_numpy().tobytes()
    parts = [data.data, data.indices, data.indptr] if hasattr(data, "indptr") else [data]
    return b"".join(part.tobytes() for part in parts)
