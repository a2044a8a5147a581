"""Results as JSON: how they are written, and what a check of them lets through."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._io import schema
from skbiasamp._io.writing import written


class Stored:
    """What can be stored as JSON: a class with `to_dict`, and a check of what it returned."""

    def to_json(self, path: Any = None, **options: Any) -> str:
        """Return `to_dict` as JSON, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, default=None
            Where to write.
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        text : str
        """
        content = self.to_dict()  # type: ignore[attr-defined]
        return written(json.dumps(content, allow_nan=False, **options), path)

    @classmethod
    def from_json(cls, text: Any) -> Self:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str or path
            The JSON, or the file that has it.

        Returns
        -------
        stored : object
            The result or report.
        """
        read: Self = schema.load(text, cls._checked, f"{cls.__name__}.to_json")
        return read

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` returned.

        Parameters
        ----------
        content : dict
            The content; parameters that JSON cannot hold come back as text.

        Returns
        -------
        stored : object
            The result or report.
        """
        read: Self = schema.read(content, cls._checked, f"{cls.__name__}.to_dict")
        return read

    @classmethod
    def _checked(cls, held: Any, field: str) -> Self:
        """Return what stored content means, once its fields are checked."""
        raise NotImplementedError


class OfMetric(Stored):
    """What can be stored, and is about one metric."""

    metric: str
    direction: str | None

    @property
    def name(self) -> str:
        """Metric and direction, such as "directional A->T"."""
        return self.metric if self.direction is None else f"{self.metric} {self.direction}"


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, pd.DataFrame):
        return {
            "index": as_json(list(value.index)),
            "columns": as_json(list(value.columns)),
            "data": as_json(list(value.itertuples(index=False, name=None))),
        }
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(one) for one in value]
    return repr(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON holds them."""
    columns = {str(name): map(as_json, table[name].tolist()) for name in table}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# What JSON holds in place of a number, a flag or a name that there is not: null.
NUMBER = schema.optional(schema.number(), math.nan)
NAME = schema.optional(schema.name, math.nan)
COUNT = schema.optional(schema.number(0), math.nan)
FLAG = schema.optional(schema.TRUTH, math.nan)
SHARE = schema.optional(schema.number(0, 1), math.nan)


def names_if_list(held: Any, field: str) -> Any:
    """Check for anything; a list is a list of names."""
    return schema.list_of(NAME)(held, field) if isinstance(held, list) else held


def scalar(held: Any, field: str) -> Any:
    """Check for anything; null is NaN."""
    return math.nan if held is None else held
