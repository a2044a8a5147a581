"""Contingencies as JSON and as tables: what they hold, with the types of its names."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, NamedMissing
from skbiasamp._input.count_tables import column_of_name
from skbiasamp._input.errors import InputError, InputTypeError, plain
from skbiasamp._input.labels import Codes, Labels, Members, Side
from skbiasamp._io import schema
from skbiasamp.counts.cells import SIDES, Cells, distinct, keys_of, naming_side, sides_of
from skbiasamp.counts.clusters import Clusters
from skbiasamp.counts.engines import Moments

_FORMAT = "skbiasamp contingency 1"
_WRITER = "Contingency.to_json"
# Sums of products that `TaskSums` has beside those of labels and of predictions: of both, and of
# squares if predictions are probabilities.
BOTH, SQUARE, BOTH_SQUARE = "task_both", "task_square", "task_both_square"
_ROUNDING = 1e-6  # how far from 0 and 1 a probability may be


def write_table(cells: Cells) -> pd.DataFrame:
    """Return one row a distinct cell, in an order that only what they hold decides."""
    cells.require_single("A table of cells")
    if cells.clusters is not None:
        raise InputError(
            "A table of cells does not hold which rows are of one cluster: use to_json."
        )
    for name, side in sides_of(cells).items():
        if side.labels.width < len(side.names):
            text = "A table of cells holds labels or probabilities, and {side} scores: use to_json."
            raise InputError(text, side=name)
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
            columns |= {column_of_name(name, one): matrix[:, i] for i, one in enumerate(side.names)}
    weight = cells.weight[order]
    columns["n"] = weight.astype(np.int64) if cells.whole else weight
    if cells.repeats is not None:
        columns["rows"] = cells.repeats[order].astype(np.int64)
    if cells.summed is not None:
        columns["summed"] = cells.summed
    pos_label = naming_side(cells).pos_label
    if pos_label is not None:
        columns["pos_label"] = [pos_label] * cells.n_cells
    return pd.DataFrame(columns)


# --------------------------------------------------------------------------- JSON


def write_cells(cells: Cells, moments: tuple[Moments, ...] = ()) -> dict[str, Any]:
    """Return cells as what JSON can hold."""
    cells.require_single("JSON")
    sides = sides_of(cells)
    return {
        "format": _FORMAT,
        "weight": cells.weight.tolist(),
        "sides": {name: _write_side(side) for name, side in sides.items()},
        "scores": cells.summed is None and any(map(_scores, sides.values())),
        "n_dropped": cells.n_dropped,
        "repeats": None if cells.repeats is None else cells.repeats.tolist(),
        "summed": cells.summed,
        "clusters": None
        if cells.clusters is None
        else {"of": cells.clusters.of.tolist(), "n": cells.clusters.n.tolist()},
        "moments": [_write_moments(one) for one in moments] or None,
    }


def _write_moments(moments: Moments) -> dict[str, Any]:
    return {
        "groups": [_write_name(name) for name in moments.groups],
        "signs": moments.signs.tolist(),
        "change": moments.change,
        "squares": moments.squares.tolist(),
        "crossed": None if moments.crossed is None else moments.crossed.tolist(),
    }


def _write_side(side: Side) -> dict[str, Any]:
    codes, matrix = None, None
    if isinstance(side.labels, Codes):
        codes = side.labels.codes.tolist()
    else:
        matrix = side.labels.dense(slice(None), float if side.soft else int).tolist()
    return {
        "names": [_write_name(name) for name in side.names],
        "codes": codes,
        "matrix": matrix,
        "soft": side.soft,
        "one_label": side.one_label,
        "open": side.open,
        "columns": [_write_name(name) for name in side.columns],
        "pos_label": _write_name(side.pos_label),
        "floats": side.floats,
    }


def _scores(side: Side) -> bool:
    """Return whether labels are numbers that are no probabilities, which attackers can use."""
    if not isinstance(side.labels, Members) or not side.soft:
        return False
    matrix = side.labels.matrix
    return matrix.shape[1] != len(side.names) or bool((abs(matrix - 0.5) > 0.5 + _ROUNDING).any())


def _write_name(name: Hashable) -> Any:
    """Return a name as JSON has it; a list is a combination."""
    name = plain(name)
    if isinstance(name, tuple):
        return [_write_name(part) for part in name]
    if isinstance(name, NamedMissing):
        return {schema.TEXT_OF: str(name)}
    if name is None or isinstance(name, str | bool | int | float):
        return name
    raise InputTypeError(
        "{shown} is the name of a group or a task, and JSON has no {kind}: name it with text or a "
        "number to store it.",
        shown=repr(name),
        kind=type(name).__name__,
    )


def read_cells(source: Any) -> dict[str, Any]:
    """Return from JSON what cells are made of; `moments` are there if tasks were summed."""
    read: dict[str, Any] = schema.load(source, _cells, _WRITER)
    return read


_SIDE = schema.record(
    {
        "names": schema.names,
        "codes": schema.optional(schema.array(-1, whole=True)),
        "matrix": schema.optional(schema.array(n_axes=2)),
        "soft": schema.TRUTH,
        "one_label": schema.TRUTH,
        "open": schema.TRUTH,
        "columns": schema.list_of(schema.name),
    },
    {"pos_label": schema.name, "floats": schema.TRUTH},
)
_MOMENTS = schema.record(
    {
        "groups": schema.names,
        "signs": schema.array(n_axes=2),
        "change": schema.TRUTH,
        "squares": schema.array(0),
    },
    {"crossed": schema.optional(schema.array(n_axes=2))},
)
_EVERY_MOMENTS = schema.list_of(_MOMENTS)


def _moments(held: Any, field: str) -> Any:
    """Return a list of moments; older files hold one."""
    return [_MOMENTS(held, field)] if isinstance(held, dict) else _EVERY_MOMENTS(held, field)


_CLUSTERS = schema.record(
    {"of": schema.array(0, whole=True), "n": schema.array(1, whole=True)},
)
_CELLS = schema.record(
    {
        "format": schema.value(repr(_FORMAT), lambda held: held == _FORMAT),
        "weight": schema.array(0, 2.0**53),
        "sides": schema.record({"group": _SIDE}, rest=_SIDE),
        "n_dropped": schema.number(0),
        "repeats": schema.optional(schema.array(0, whole=True)),
        "summed": schema.optional(schema.one_of("scores", "weights", "tasks")),
        "moments": schema.optional(_moments),
    },
    {"scores": schema.TRUTH, "clusters": schema.optional(_CLUSTERS)},
)


def _cells(held: Any, field: str) -> dict[str, Any]:
    """Check fields, and what they must be to one another."""
    read = _CELLS(held, field)
    weight, sides, moments = read["weight"], read["sides"], read["moments"]
    if read["repeats"] is not None:
        schema.of_length(read["repeats"], len(weight), "repeats")
    in_tasks = read["summed"] == "tasks"
    known = (*SIDES, BOTH, SQUARE, BOTH_SQUARE) if in_tasks else SIDES
    most = np.full((len(weight), 1), 1 + _ROUNDING)
    if read.get("scores") and not in_tasks:
        most[:] = np.inf
    # Predictions name the tasks if there are no labels.
    naming = {"group": "group", "task": "task"}
    if "task" not in sides and "task_pred" in sides and not in_tasks:
        naming["task"] = "task_pred"
    if naming["task"] not in sides:
        raise schema.wrong("sides.task", "an object")
    for name in dict.fromkeys([*naming.values(), *sides]):
        role, side = name.partition("_")[0], sides[name]
        if name.partition(":")[0] not in known or (":" in name and in_tasks):
            raise schema.wrong("sides", "an object of " + ", ".join(known), name)
        # Sums of a task are those of so many rows, whose weights were rounded as they were added.
        top = weight[:, None] * (1 + 1e-9) if in_tasks and role == "task" else most
        sides[name] = _side(side, f"sides.{name}", top)
        labels = sides[naming[role]]
        if side["names"] != labels.names:
            raise schema.wrong(f"sides.{name}.names", "those of the labels", list(side["names"]))
        # Of two classes one is the task, in labels and predictions alike.
        if side["one_label"] and role == "group":
            raise schema.wrong(f"sides.{name}.one_label", "false", seen="true")
        if side["one_label"] != labels.one_label and len(labels.names) < 3:
            raise schema.wrong(f"sides.{name}.one_label", "that of the labels", side["one_label"])
    if in_tasks and "task_pred" in sides and BOTH not in sides:
        raise schema.wrong(f"sides.{BOTH}", "an object")
    if (SQUARE in sides) != (BOTH_SQUARE in sides):
        raise schema.wrong("sides", f"an object with both {SQUARE} and {BOTH_SQUARE}", [*sides])
    made = {"weight", "sides", "n_dropped", "repeats", "summed"}
    made_of = {key: one for key, one in read.items() if key in made}
    clusters = read.get("clusters")
    if clusters is not None:
        of = clusters["of"]
        schema.of_length(of, len(weight), "clusters.of")
        if in_tasks or (of >= len(clusters["n"])).any():
            raise schema.wrong(
                "clusters.of", f"positions in {len(clusters['n'])} clusters", of.max()
            )
        made_of["clusters"] = Clusters(of.astype(np.intp), clusters["n"])
    groups = sides["group"].names
    for one in moments or []:
        if one["groups"] != groups or not in_tasks:
            raise schema.wrong("moments.groups", "those of sums of tasks", list(one["groups"]))
        schema.of_length(one["squares"], len(groups), "moments.squares")
        schema.of_shape(one["signs"], (len(groups), len(sides["task"].names)), "moments.signs")
        if one.get("crossed") is not None:
            schema.of_shape(one["crossed"], (2, len(groups)), "moments.crossed")
    if moments:
        made_of["moments"] = tuple(Moments(**one) for one in moments)
    return made_of


def _side(held: dict[str, Any], field: str, most: Array) -> Side:
    """Return labels; numbers of each cell are at most `most`."""
    names, codes, matrix = held["names"], held["codes"], held["matrix"]
    if (codes is None) == (matrix is None):
        raise schema.wrong(field, "an object with either codes or a matrix", seen="both or neither")
    labels: Labels
    if codes is not None:
        schema.of_length(codes, len(most), f"{field}.codes")
        if (codes >= len(names)).any():
            raise schema.wrong(f"{field}.codes", f"positions in {len(names)} names", codes.max())
        labels = Codes(codes.astype(np.intp), len(names))
    else:
        scores = bool(np.isinf(most).any())
        width = matrix.shape[1] if scores and matrix.shape[1] == 1 else len(names)
        schema.of_shape(matrix, (len(most), width), f"{field}.matrix")
        if held["soft"]:
            what = f"lists of numbers from 0 to {'the weight' if (most > 2).any() else 1}"
            outside = (matrix > most) | ((matrix < -_ROUNDING) & (not scores))
        else:
            what, outside = "lists of 0 and 1", (matrix != 0) & (matrix != 1)
        if outside.any():
            raise schema.wrong(f"{field}.matrix", what, matrix[outside].flat[0].item())
        labels = Members(matrix if held["soft"] else matrix.astype(bool))
    pos_label = held.get("pos_label")
    if pos_label is not None and pos_label not in names:
        raise schema.wrong(f"{field}.pos_label", "one of the names", pos_label)
    how = held["one_label"], held["open"], tuple(held["columns"]), pos_label
    return Side(names, labels, *how, floats=held.get("floats", False))
