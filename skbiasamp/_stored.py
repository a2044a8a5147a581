"""Contingencies as JSON: what they hold, with the types of its names."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np

from skbiasamp._engines import Moments
from skbiasamp._input import Rows, Side, plain

_FORMAT = "skbiasamp contingency 1"
_SIDES = ("group", "task", "task_pred", "group_pred")


def write_cells(rows: Rows, summed: str | None, moments: Moments | None) -> dict[str, Any]:
    """Return cells as what JSON can hold."""
    return {
        "format": _FORMAT,
        "weight": rows.weight.tolist(),
        "sides": {
            name: _write_side(side) for name in _SIDES if (side := getattr(rows, name)) is not None
        },
        "n_dropped": rows.n_dropped,
        "repeats": None if rows.repeats is None else rows.repeats.tolist(),
        "summed": summed,
        "moments": None
        if moments is None
        else {
            "groups": [_write_name(name) for name in moments.groups],
            "signs": moments.signs.tolist(),
            "change": moments.change,
            "squares": moments.squares.tolist(),
        },
    }


def read_cells(text: str) -> tuple[Rows, Any, Moments | None]:
    """Return cells from JSON."""
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
    rows = Rows(
        np.array(held["weight"], dtype=float),
        sides["group"],
        sides["task"],
        sides.get("task_pred"),
        sides.get("group_pred"),
        held["n_dropped"],
        None if repeats is None else np.array(repeats, dtype=float),
    )
    if moments is not None:
        moments = Moments(
            tuple(map(_read_name, moments["groups"])),
            np.array(moments["signs"]),
            moments["change"],
            np.array(moments["squares"], dtype=float),
        )
    return rows, held["summed"], moments


def _write_side(side: Side) -> dict[str, Any]:
    matrix = side.matrix
    if matrix is not None and not side.soft:
        matrix = matrix.astype(int)
    return {
        "names": [_write_name(name) for name in side.names],
        "codes": None if side.codes is None else side.codes.tolist(),
        "matrix": None if matrix is None else matrix.tolist(),
        "soft": side.soft,
        "one_label": side.one_label,
        "open": side.open,
        "columns": [_write_name(name) for name in side.columns],
        "pos_label": _write_name(side.pos_label),
    }


def _read_side(held: dict[str, Any]) -> Side:
    codes, matrix = held["codes"], held["matrix"]
    return Side(
        tuple(map(_read_name, held["names"])),
        None if codes is None else np.array(codes, dtype=np.intp),
        None if matrix is None else np.array(matrix, dtype=float if held["soft"] else bool),
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
