"""Results as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._io.writing import written
from skbiasamp.results.kinds import Kind


class Stored:
    """A dataclass that is written as JSON: its fields, and what it says."""

    # Fields and properties that are written before or after the other fields.
    _first: ClassVar[tuple[str, ...]] = ()
    _last: ClassVar[tuple[str, ...]] = ()
    _if_any: ClassVar[tuple[str, ...]] = ("citation",)  # left out if they are empty
    _in_rows: ClassVar[bool] = False  # whether tables are written row by row

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        own: Any = self
        others = [field.name for field in fields(own) if field.name not in self._last]
        order = dict.fromkeys([*self._first, *others, *self._last])
        values = {name: getattr(self, name) for name in order}
        return {
            name: records(value) if self._in_rows and isinstance(value, pd.DataFrame)
            else as_json(value)
            for name, value in values.items()
            if name not in self._if_any or len(value)
        }  # fmt: skip

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
        return written(json.dumps(self.to_dict(), allow_nan=False, **options), path)


class OfMetric(Stored):
    """What can be stored, and is about one metric."""

    _in_rows = True
    metric: str
    direction: str | None
    kind: Kind

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
    if isinstance(value, Kind):
        return str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, pd.DataFrame):
        return {
            "index": as_json(list(value.index)),
            "columns": as_json(list(value.columns)),
            "data": as_json(list(value.itertuples(index=False, name=None))),
        }
    if isinstance(value, Stored):
        return value.to_dict()
    if is_dataclass(value):
        return {
            each.name: as_json(getattr(value, each.name)) for each in fields(value) if each.repr
        }
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(item) for item in value]
    return str(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON holds them."""
    columns = {str(name): map(as_json, values.tolist()) for name, values in table.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
