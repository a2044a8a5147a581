"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = f"{Path(__file__).parent}{os.sep}"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line that is outside the package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level += 1
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


class UncertaintyWarning(UserWarning):
    """A number rests on few rows, on an uncertain sign, or on a comparison with pure noise.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import warnings
    >>> from skbiasamp.inference import UncertaintyWarning
    >>> warnings.simplefilter("ignore", UncertaintyWarning)
    """
