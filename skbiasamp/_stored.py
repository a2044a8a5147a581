"""Contingencies as JSON and as tables: what they hold, with the types of its names."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._cells import Cells, distinct, keys_of, side_of, sides_of
from skbiasamp._engines import Moments
from skbiasamp._input import Codes, Members, Side, plain

_FORMAT = "skbiasamp contingency 1"


def write_table(cells: Cells) -> pd.DataFrame:
    """Return one row a distinct cell, in an order that only what they hold decides."""
    cells = distinct(cells)
    order = np.lexsort(keys_of(cells).T[::-1])
    columns: dict[str, Any] = {}
    for name, side in sides_of(cells).items():
        if isinstance(side.labels, Codes):
            labels = np.empty(len(side.names) + 1, dtype=object)
            labels[:-1] = side.names  # and None for code -1, a group that is not selected
            columns[name] = pd.Series(labels[side.labels.codes[order]]).infer_objects()
        else:
            matrix = side.labels.dense(order, float if side.soft else np.int8)
            columns |= {f"{name}[{one}]": matrix[:, i] for i, one in enumerate(side.names)}
    weight = cells.weight[order]
    columns["n"] = weight.astype(np.int64) if cells.whole else weight
    if cells.repeats is not None:
        columns["rows"] = cells.repeats[order].astype(np.int64)
    if cells.summed is not None:
        columns["summed"] = cells.summed
    pos_label = side_of(cells, "task").pos_label
    if pos_label is not None:
        columns["pos_label"] = [pos_label] * cells.n_cells
    return pd.DataFrame(columns)


def write_cells(cells: Cells, moments: Moments | None = None) -> dict[str, Any]:
    """Return cells as what JSON can hold."""
    return {
        "format": _FORMAT,
        "weight": cells.weight.tolist(),
        "sides": {name: _write_side(side) for name, side in sides_of(cells).items()},
        "n_dropped": cells.n_dropped,
        "repeats": None if cells.repeats is None else cells.repeats.tolist(),
        "summed": cells.summed,
        "moments": None
        if moments is None
        else {
            "groups": [_write_name(name) for name in moments.groups],
            "signs": moments.signs.tolist(),
            "change": moments.change,
            "squares": moments.squares.tolist(),
        },
    }


def read_cells(text: str) -> dict[str, Any]:
    """Return from JSON what cells are made of; `moments` are there if tasks were summed."""
    try:
        held = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"This is no JSON, or not all of it: {error}.") from error
    if not isinstance(held, dict) or held.get("format") != _FORMAT:
        raise ValueError(
            f"This JSON is not what Contingency.to_json writes (its format is {_FORMAT!r})."
        )
    sides = {name: _read_side(side) for name, side in held["sides"].items()}
    repeats, moments = held["repeats"], held["moments"]
    read: dict[str, Any] = {
        "weight": np.array(held["weight"], dtype=float),
        "sides": sides,
        "n_dropped": held["n_dropped"],
        "repeats": None if repeats is None else np.array(repeats, dtype=float),
        "summed": held["summed"],
    }
    if moments is not None:
        read["moments"] = Moments(
            tuple(map(_read_name, moments["groups"])),
            np.array(moments["signs"]),
            moments["change"],
            np.array(moments["squares"], dtype=float),
        )
    return read


def _write_side(side: Side) -> dict[str, Any]:
    coded = isinstance(side.labels, Codes)
    held = side.labels.codes if isinstance(side.labels, Codes) else side.labels.matrix
    if not coded and not side.soft:
        held = held.astype(int)
    return {
        "names": [_write_name(name) for name in side.names],
        "codes": held.tolist() if coded else None,
        "matrix": None if coded else held.tolist(),
        "soft": side.soft,
        "one_label": side.one_label,
        "open": side.open,
        "columns": [_write_name(name) for name in side.columns],
        "pos_label": _write_name(side.pos_label),
    }


def _read_side(held: dict[str, Any]) -> Side:
    names = tuple(map(_read_name, held["names"]))
    labels: Codes | Members
    if held["codes"] is not None:
        labels = Codes(np.array(held["codes"], dtype=np.intp), len(names))
    else:
        labels = Members(np.array(held["matrix"], dtype=float if held["soft"] else bool))
    return Side(
        names,
        labels,
        held["one_label"],
        held["open"],
        tuple(map(_read_name, held["columns"])),
        _read_name(held.get("pos_label")),
    )


def _write_name(name: Hashable) -> Any:
    """Return a name as JSON has it; a list is a combination."""
    name = plain(name)
    if isinstance(name, tuple):
        return [_write_name(part) for part in name]
    if name is None or isinstance(name, str | bool | int | float):
        return name
    raise TypeError(
        f"{name!r} is the name of a group or a task, and JSON has no {type(name).__name__}: name "
        "it with text or a number to store it."
    )


def _read_name(held: Any) -> Hashable:
    return tuple(map(_read_name, held)) if isinstance(held, list) else held
