"""Changes of inputs: noise on features, and regions of images hidden."""

from __future__ import annotations

import zlib
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.ndimage import uniform_filter
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp._utils.warnings import warn
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
            rng, noisy, n = self._rng(hashes), data.copy(), len(data)
            keep = 1 / np.sqrt(1 + self.scale**2)
            for at, scale in enumerate(self.scale_):
                column = data.iloc[:, at]
                if np.isnan(scale):
                    drawn = self._training.iloc[rng.integers(len(self._training), size=n), at]
                    noisy.isetitem(at, column.where(rng.random(n) < keep, drawn.array).array)
                else:
                    noisy.isetitem(at, (column + scale * rng.standard_normal(n)).array)
            return noisy
        rng = self._rng(data)
        noise = self.scale_ * rng.standard_normal(data.shape)
        return (data + noise).astype(data.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # of single rows; all of them are noisy alike
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.string = tags.input_tags.categorical = True
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


def _numbers_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.select_dtypes("number", exclude="timedelta")


# --------------------------------------------------------------------------- regions of images


class RegionMask(TransformerMixin, WithOptions):
    """Hide regions of images: a person, by a segment or a box.

    Train and audit a model on images as they are and on masked ones: what changes comes from the
    region [1]_. A mask that looks complete may still reveal the group: attack the masked images.

    .. versionadded:: 0.2

    Parameters
    ----------
    how : {"black", "blur", "noise"}, default="black"
        "black": pixels become 0. "blur": the mean of the pixels around. "noise": Gaussian noise is
        added. Blurred and noisy pixels stay between the smallest and the largest value of the
        images.
    boxes : array-like of shape (4,) or (n_images, 4), default=None
        Top, left, bottom and right of a box, in pixels; bottom and right are outside. One for all
        images, or one for each.
    masks : array-like of bool of shape (height, width) or (n_images, height, width), default=None
        Which pixels are hidden. With `boxes`, both are.
    size : int, default=5
        Height and width of the window of a blur, in pixels.
    scale : float, default=1.0
        Standard deviation of the noise, in the unit of the pixels.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021, Table 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import RegionMask
    >>> images = np.ones((1, 1, 2, 4))
    >>> mask = RegionMask("black", boxes=(0, 2, 2, 4))
    >>> mask.fit_transform(images)[0, 0].tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
    >>> mask.share_outside(np.array([[[[3, 0, 1, 0], [0, 0, -1, 0]]]]))
    array([0.6])
    """

    how: str = PositionalOption(
        StrOptions({"black", "blur", "noise"}), default="black", kw_only=False
    )
    boxes: Any = Option(None, "array-like", None)
    masks: Any = Option(None, "array-like", None)
    size: int = Option(5, Interval(Integral, 1, None, closed="left"))
    scale: float = Option(1.0, Interval(Real, 0, None, closed="left"))
    random_state: Any = Option(None, "random_state")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing is learned.

        Parameters
        ----------
        X : array-like of shape (n_images, n_channels, height, width)
            Images.
        y : Ignored
            Here for pipelines.

        Returns
        -------
        self : RegionMask
        """
        self._validate_params()
        self._region(_maps(X, "X"))
        return self

    def transform(self, X: Any) -> Array:
        """Hide the regions.

        Parameters
        ----------
        X : array-like of shape (n_images, n_channels, height, width)
            Images. Masks and boxes of single images must be of these images, in their order.

        Returns
        -------
        masked : ndarray of the shape and type of X
        """
        self._validate_params()
        X = _maps(X, "X")
        region, hidden = self._region(X), np.zeros_like(X)
        if self.how != "black" and X.size:
            blurred = uniform_filter(X, (1, 1, self.size, self.size), output=float)
            noise = check_random_state(self.random_state).normal(0, self.scale, X.shape)
            values = blurred if self.how == "blur" else X + noise
            values = np.clip(values, X.min(), X.max())
            hidden = (np.rint(values) if X.dtype.kind in "iu" else values).astype(X.dtype)
        return np.where(region, hidden, X)

    def share_outside(self, attributions: Any) -> Array:
        """Return the share of attributions outside the regions, of each image.

        It says how much a model relies on the rest of the image, as the attribution score of
        Tokas, Nair and Kerner does. Attributions are from another package, such as SHAP.

        Parameters
        ----------
        attributions : array-like of shape (n_images, n_channels, height, width)
            Attributions of pixels. Their sizes count.

        Returns
        -------
        shares : ndarray of shape (n_images,)
            NaN if all attributions of an image are 0.
        """
        self._validate_params()
        sizes = np.abs(_maps(attributions, "attributions").astype(float))
        outside = np.where(self._region(sizes), 0, sizes).sum(axis=(1, 2, 3))
        with np.errstate(invalid="ignore"):
            return np.asarray(outside / sizes.sum(axis=(1, 2, 3)))

    def _region(self, images: Array) -> Array:
        """Return which pixels are hidden: (1 or images, 1, height, width)."""
        if self.boxes is None and self.masks is None:
            raise InputError("Pass {boxes=} or {masks=}: there is no region to hide.")
        n, _, height, width = images.shape
        region = np.zeros((1, height, width), bool)
        if self.masks is not None:
            masks = np.asarray(self.masks)
            of_one = masks.shape == (height, width)
            if masks.dtype.kind not in "biu" or not (of_one or masks.shape == (n, height, width)):
                raise InputError(
                    "{masks} must be 0/1, of shape {one} or {each}; got {kind} of shape {shape}.",
                    one=(height, width),
                    each=(n, height, width),
                    kind=masks.dtype,
                    shape=masks.shape,
                )
            region = region | (masks != 0)
        if self.boxes is not None:
            region = region | _inside(_checked_boxes(self.boxes, n), height, width)
        return region[:, None]


def _checked_boxes(given: Any, n: int) -> Array:
    """Return boxes of pixels, one or one for each image, as rows."""
    boxes = np.asarray(given)
    if boxes.dtype.kind not in "iuf" or boxes.shape not in ((4,), (n, 4)):
        text = "{boxes} must be numbers of shape (4,) or {each}; got {kind} of shape {shape}."
        raise InputError(text, each=(n, 4), kind=boxes.dtype, shape=boxes.shape)
    boxes = boxes.reshape(-1, 4)
    wrong = boxes[~(boxes[:, :2] <= boxes[:, 2:]).all(axis=1)]  # NaN too
    if len(wrong):
        raise InputError(
            "{boxes} must be top, left, bottom and right, and bottom and right the larger ones; "
            "got {seen}.",
            seen=wrong[0].tolist(),
        )
    if boxes.dtype.kind == "f" and boxes.any() and boxes.min() >= 0 and boxes.max() <= 1:
        raise InputError(
            "{boxes} must be in pixels; got fractions from 0 to 1, such as {seen}. Multiply top "
            "and bottom by the height of the images, and left and right by their width. (Boxes "
            "of the first pixel alone are whole numbers.)",
            seen=boxes[boxes.any(axis=1)][0].tolist(),
        )
    return boxes


def _inside(boxes: Array, height: int, width: int) -> Array:
    """Return which pixels boxes hold: (boxes, height, width)."""
    top, left, bottom, right = boxes.T[..., None, None]
    row, column = np.ogrid[:height, :width]
    inside = (row >= top) & (row < bottom) & (column >= left) & (column < right)
    missed = boxes[(boxes[:, :2] < boxes[:, 2:]).all(axis=1) & ~inside.any(axis=(1, 2))]
    if len(missed):
        warn(
            f"{len(missed)} of {len(boxes)} boxes hold no pixel of images of {height} × {width} "
            f"pixels, so that they hide nothing, such as {missed[0].tolist()}. Boxes must be top, "
            "left, bottom and right, in pixels of these images."
        )
    return inside


def _maps(values: Any, name: str) -> Array:
    """Return images or their attributions as an array of numbers with four axes."""
    images = np.asarray(values)
    if images.ndim != 4 or images.dtype.kind not in "biuf":
        text = (
            "{name} must be numbers of shape (n_images, n_channels, height, width); got {kind} of "
            "shape {shape}."
        )
        raise InputError(text, name=name, kind=images.dtype, shape=images.shape)
    return images.astype(np.uint8) if images.dtype.kind == "b" else images
