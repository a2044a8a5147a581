"""Results as JSON: how they are written, and how they are read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, ClassVar, NotRequired, Self, get_args

import numpy as np
import pandas as pd

from skbiasamp._io.json import (
    Count,
    Flag,
    Name,
    Reader,
    Share,
    Wrong,
    check_intervals,
    limited,
    load_json,
    object_reader,
    one_of,
    types_of,
    understood,
)
from skbiasamp._io.writing import written
from skbiasamp.results.kinds import Kind

OfKind = Annotated[Kind, one_of(*Kind)]


class Stored:
    """A dataclass that is stored as JSON: its fields are written, and read by their types."""

    _schema: ClassVar[str]
    _older: ClassVar[tuple[str, ...]] = ()  # schemas that are read too
    # Written before or after other fields, or in addition to them.
    _first: ClassVar[tuple[str, ...]] = ()
    _last: ClassVar[tuple[str, ...]] = ()
    _always: ClassVar[tuple[str, ...]] = ()  # fields that are written although they have a default
    _newer: ClassVar[tuple[str, ...]] = ("citation",)  # left out if they are empty
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
        # So that what was read is written as it was.
        kept = {name: own for name, own in values.items() if name not in self._newer or len(own)}
        plain = {
            name: records(own) if self._in_rows and isinstance(own, pd.DataFrame) else as_json(own)
            for name, own in kept.items()
        }
        return {"schema": self._schema, **plain}

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
        return load_json(text, cls.from_dict)

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
        return understood(cls._schema, cls._read, content)

    @classmethod
    def _read(cls, content: Any) -> Self:
        values = _reader(cls)(content)  # type: ignore[arg-type]  # a class is hashable
        if values.pop("schema") in cls._older:
            values |= cls._upgraded(values)
        check_intervals({name: [values[name]] for name in ("low", "high") if name in values})
        made = cls(**values)
        wrong = made._wrong_field()
        if wrong is not None:
            raise Wrong(content[wrong], wrong)
        return made

    @staticmethod
    def _upgraded(values: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that have another meaning since an older schema."""
        raise NotImplementedError

    def _wrong_field(self) -> str | None:
        """Return the name of a field that contradicts itself or another one."""
        return None


@cache
def _reader(kind: Any) -> Reader:
    """Return the function that reads what is written; a field that was added later may lack."""
    types = types_of(kind)
    types |= {name: get_args(types[name])[0] for name in kind._always}
    schema = Annotated[str, one_of(kind._schema, *kind._older)]
    return object_reader({"schema": schema, **types})


class OfMetric(Stored):
    """What can be stored, and is about one metric."""

    _in_rows = True
    metric: str
    direction: str | None
    kind: Kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))

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
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(item) for item in value]
    return str(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON holds them."""
    columns = {str(name): map(as_json, values.tolist()) for name, values in table.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# --------------------------------------------------------------------------- columns of tables

_RATES = (
    "accuracy",
    "predicted_rate",
    "true_positive_rate",
    "false_positive_rate",
    "selection_rate",
    "base_rate",
)


def _with_ends(*names: str) -> list[str]:
    return [name + end for name in names for end in ("", "_low", "_high")]


def may_lack(kind: Any, *names: str) -> dict[str, Any]:
    """Return columns of one type that a table may have."""
    return dict.fromkeys(names, NotRequired[kind])


PAIR = {"group": Name, "task": Name}
_DIFFER = ("true_positive_rate", "false_positive_rate", "selection_rate")
DIFFERENCES = may_lack(
    Annotated[float, limited(-1, 1)],
    *_with_ends(*(f"{name}_difference" for name in _DIFFER)),
)
RATES = may_lack(Share, *_with_ends(*_RATES)) | may_lack(Count, *_with_ends("impact_ratio"))
RATES |= DIFFERENCES
TESTS = may_lack(Share, "p_value", "p_adjusted")
FLAGS = may_lack(Flag, "direction_clear", "reliable")
