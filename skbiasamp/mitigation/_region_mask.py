"""RegionMask: regions of images hidden, and the share of attributions outside them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.ndimage import uniform_filter
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp._utils.warnings import warn


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
        raise InputError(
            "{boxes} must be numbers of shape (4,) or {each}; got {kind} of shape {shape}.",
            each=(n, 4),
            kind=boxes.dtype,
            shape=boxes.shape,
        )
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
        raise InputError(
            "{name} must be numbers of shape (n_images, n_channels, height, width); got {kind} of "
            "shape {shape}.",
            name=name,
            kind=images.dtype,
            shape=images.shape,
        )
    return images.astype(np.uint8) if images.dtype.kind == "b" else images
