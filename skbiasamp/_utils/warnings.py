"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import joblib
import sklearn
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._utils.formatting import printable
from skbiasamp._utils.progress import clear

# Folders of the package and of what calls its methods for the user, with a separator at the end.
_FOLDERS = (
    *(
        str(Path(folder) / "_")[:-1]
        for folder in (Path(__file__).parents[1], *sklearn.__path__, *joblib.__path__)
    ),
    contextlib.__file__,  # contexts that decorate functions
)
# Collectors of this thread alone: `warnings.catch_warnings` changes the filters of the whole
# process, and leaves them changed if threads overlap.
_collectors: ContextVar[tuple[Collected, ...]] = ContextVar("collectors", default=())


class Collected(list[tuple[str, type[Warning]]]):
    """Warnings that were held back, in their order."""

    def issue(self, kind: type[Warning] = Warning) -> None:
        """Issue each distinct warning of a kind once, at the user's line."""
        for message, category in dict.fromkeys(self):
            if issubclass(category, kind):
                warn(message, category)


@contextmanager
def collected() -> Iterator[Collected]:
    """Hold back the package's warnings about numbers, and give them to the caller.

    The caller issues them, or says the same in another place. Warnings of other libraries, and
    those about parameters, are issued as ever.
    """
    collector = Collected()
    token = _collectors.set((*_collectors.get(), collector))
    try:
        yield collector
    finally:
        _collectors.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line that is outside the package, scikit-learn and joblib."""
    collectors = _collectors.get()
    if collectors and issubclass(category, (UncertaintyWarning, UndefinedMetricWarning)):
        collectors[-1].append((message, category))
        return
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDERS):
        level, frame = level + 1, frame.f_back
    clear()
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
