"""Handwritten digits whose colour is correlated with the digit."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state

from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import Interval, validate_params
from skbiasamp.datasets._embedded import description_of


@keywords()
@validate_params(
    {
        "correlation": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
    }
)
def load_colored_digits(*, correlation: float = 0.9, random_state: Any = None) -> Bunch:
    """Load handwritten digits in two colours; the colour correlates with the digit.

    The images are scikit-learn's `load_digits`, so nothing is downloaded.

    .. versionadded:: 0.1

    Parameters
    ----------
    correlation : float, default=0.9
        Share of images with the usual colour of their digit (red for even digits, green for odd).
        1: all images. 0.5: colour and digit are independent. 0: no image.
    random_state : int, RandomState instance or None, default=None
        Seed of the colours.

    Returns
    -------
    data : Bunch
        ``images``: red, green and blue in [0, 1], of shape (1797, 8, 8, 3). ``data``: the red and
        green channels as 128 columns. ``target``: the digit. ``sensitive``: "red" or "green".
        ``DESCR``: a description.

    References
    ----------
    M. Arjovsky, L. Bottou, I. Gulrajani, D. Lopez-Paz, "Invariant risk minimization",
    arXiv:1907.02893, 2019 (coloured MNIST).

    Examples
    --------
    Every even digit is red and every odd one green:

    >>> from skbiasamp.datasets import load_colored_digits
    >>> digits = load_colored_digits(correlation=1.0)
    >>> digits.data.shape
    (1797, 128)
    >>> digits.target[:4].tolist(), digits.sensitive[:4].tolist()
    ([0, 1, 2, 3], ['red', 'green', 'red', 'green'])
    """
    from sklearn.datasets import load_digits  # imports rich where that is installed

    random_state = check_random_state(random_state)
    digits = load_digits()
    odd = digits.target % 2
    as_its_digit = random_state.uniform(size=len(odd)) < correlation
    channel = np.where(as_its_digit, odd, 1 - odd)
    images = np.zeros((*digits.images.shape, 3))
    images[np.arange(len(odd)), :, :, channel] = digits.images / 16
    return Bunch(
        data=images[..., :2].reshape(len(odd), -1),
        images=images,
        target=pd.Series(digits.target, name="digit"),
        sensitive=pd.Series(np.array(["red", "green"])[channel], name="color"),
        DESCR=description_of("colored_digits"),
    )
