"""What to do about it: samplers and estimators that are to reduce amplification."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skbiasamp.mitigation._balance import RatioBalancer

# Public name -> its file; imported when it is first asked for.
_FILES = {
    "RatioBalancer": "_balance",
}

__all__ = [
    "RatioBalancer",
]


def __getattr__(name: str) -> Any:
    if name in _FILES:
        value = getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
