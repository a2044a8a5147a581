"""What comes with the package: tables, and descriptions of data sets."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pandas as pd

_FOLDER = resources.files("skbiasamp.datasets")


def description_of(name: str) -> str:
    """Return the description of a data set."""
    return (_FOLDER / "descr" / f"{name}.rst").read_text("utf-8")


def embedded_table(name: str, **how: Any) -> pd.DataFrame:
    """Return a table; `how` is passed to pandas."""
    with (_FOLDER / "data" / name).open("rb") as stream:
        return pd.read_csv(stream, **how)
