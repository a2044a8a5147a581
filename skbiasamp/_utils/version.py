"""The version of the package, and of everything that matters to a report of a fault."""

from __future__ import annotations

import datetime
import platform
from functools import lru_cache
from importlib import metadata
from typing import Any

__version__ = "0.3.0"

_CORE = ("scikit-learn", "numpy", "scipy", "pandas", "joblib", "narwhals", "tqdm")
_EXTRAS = (
    "matplotlib",
    "jinja2",
    "imbalanced-learn",
    "polars",
    "duckdb",
    "pyarrow",
    "dask",
    "ibis-framework",
    "pyspark",
    "torch",
    "skorch",
)


# Each call reads and parses a file.
_version_of = lru_cache(metadata.version)


def show_versions() -> None:
    """Print the versions of Python, of skbiasamp and of the packages that it uses.

    Copy the text into a report of a fault. Optional packages that are not installed are left out.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import skbiasamp
    >>> skbiasamp.show_versions()
    Python            3...
    system            ...
    skbiasamp         0...
    scikit-learn      1...
    """
    shown = {"Python": platform.python_version(), "system": platform.platform()}
    for name in ("skbiasamp", *_CORE, *_EXTRAS):
        try:
            shown[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if name not in _EXTRAS:
                shown[name] = "not installed"
    for name, version in shown.items():
        print(f"{name:<17} {version}")


def made_now() -> dict[str, Any]:
    """Return when a report is made, and with which versions."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": {
            "skbiasamp": __version__,
            **{name: _version_of(name) for name in _CORE[:4]},
            "Python": platform.python_version(),
        },
    }
