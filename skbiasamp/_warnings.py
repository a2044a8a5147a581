"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

from skbiasamp._words import printable

_PACKAGE = str(Path(__file__).parent / "_")[:-1]  # with the separator at its end


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line that is outside the package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)


class UncertaintyWarning(UserWarning):
    """A number rests on few rows, on an uncertain sign, or on a comparison with pure noise.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import warnings
    >>> from skbiasamp.inference import UncertaintyWarning
    >>> warnings.simplefilter("ignore", UncertaintyWarning)
    """
