"""Contingencies as JSON and as tables: what they hold, with the types of its names."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, NotRequired

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, NamedMissing
from skbiasamp._input.count_tables import column_of_name
from skbiasamp._input.errors import InputError, InputTypeError, plain
from skbiasamp._input.labels import Codes, Labels, Members, Side
from skbiasamp._io.json import (
    TEXT_OF,
    Names,
    Wrong,
    known,
    limited,
    matrix,
    object_reader,
    one_of,
    reader,
    vector,
)
from skbiasamp.counts.cells import (
    SIDES,
    Cells,
    distinct,
    keys_of,
    naming_names,
    naming_side,
    sides_of,
)
from skbiasamp.counts.clusters import Clusters
from skbiasamp.counts.task_queries import BOTH, BOTH_SQUARE, SQUARE, Moments

FORMAT = "skbiasamp contingency 1"
_ROUNDING = 1e-6  # how far from 0 and 1 a probability may be


def write_table(cells: Cells) -> pd.DataFrame:
    """Return one row a distinct cell, in an order that only what they hold decides."""
    cells.require_single("A table of cells")
    cells.require_rows("A table of cells", but=("scores", "weights"))
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
            columns |= {
                column_of_name(name, label): matrix[:, i] for i, label in enumerate(side.names)
            }
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


def write_cells(cells: Cells) -> dict[str, Any]:
    """Return cells as what JSON can hold."""
    cells.require_single("JSON")
    sides = sides_of(cells)
    return {
        "format": FORMAT,
        "weight": _written(cells.weight),
        "sides": {name: _write_side(side) for name, side in sides.items()},
        "scores": cells.summed is None and any(map(_scores, sides.values())),
        "n_dropped": cells.n_dropped,
        "repeats": _written(cells.repeats),
        "summed": cells.summed,
        "clusters": _written(cells.clusters),
        "moments": [_written(moments) for moments in cells.moments] or None,
    }


def _written(value: Any) -> Any:
    """Return what a field holds as JSON has it: numbers, names, or fields of its own."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Clusters | Moments):
        return {name: _written(part) for name, part in value._asdict().items()}
    return [_write_name(name) for name in value] if isinstance(value, tuple) else value


def _write_side(side: Side) -> dict[str, Any]:
    codes = side.labels.codes if isinstance(side.labels, Codes) else None
    matrix = side.labels.dense(slice(None), float if side.soft else int) if codes is None else None
    return {
        "names": _written(side.names),
        "codes": _written(codes),
        "matrix": _written(matrix),
        "soft": side.soft,
        "one_label": side.one_label,
        "open": side.open,
        "columns": _written(side.columns),
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
        return {TEXT_OF: str(name)}
    if name is None or isinstance(name, str | bool | int | float):
        return name
    raise InputTypeError(
        "{shown} is the name of a group or a task, and JSON has no {kind}: name it with text or a "
        "number to store it.",
        shown=repr(name),
        kind=type(name).__name__,
    )


_POSITIONS = Annotated[Any, vector(-1, whole=True)]
_COUNTS = Annotated[Any, vector(0, whole=True)]
_MATRIX = Annotated[Any, matrix]
_SIDE = {
    "names": Names,
    "codes": _POSITIONS | None,
    "matrix": _MATRIX | None,
    **dict.fromkeys(("soft", "one_label", "open"), bool),
    "columns": tuple[Hashable, ...],
    "pos_label": NotRequired[Hashable],
    "floats": NotRequired[bool],
}
_MOMENTS = {
    "groups": Names,
    "signs": _MATRIX,
    "change": bool,
    "squares": Annotated[Any, vector(0)],
    "crossed": NotRequired[_MATRIX | None],
}
_read_moments = reader(list[Annotated[Any, object_reader(_MOMENTS)]])


def _listed(moments: Any) -> Any:
    """Return a list of moments; older files hold one."""
    return [moments] if isinstance(moments, dict) else moments


_CLUSTERS = {"of": _COUNTS, "n": Annotated[Any, vector(1, whole=True)]}
_CELLS = object_reader(
    {
        "format": Annotated[str, one_of(FORMAT)],
        "weight": Annotated[Any, vector(0, 2.0**53)],
        "sides": dict[str, Annotated[Any, object_reader(_SIDE)]],
        "n_dropped": Annotated[float, known, limited(0)],
        "repeats": _COUNTS | None,
        "summed": Annotated[str, one_of("scores", "weights", "tasks")] | None,
        "moments": Annotated[Any, _listed, _read_moments] | None,
        "scores": NotRequired[bool],
        "clusters": NotRequired[Annotated[Any, object_reader(_CLUSTERS)] | None],
    }
)


def read_cells(content: Any) -> dict[str, Any]:
    """Return what cells are made of; `moments` are there if tasks were summed."""
    read = _CELLS(content)
    weight, sides, repeats = read["weight"], read["sides"], read["repeats"]
    moments, clusters = read.pop("moments"), read.pop("clusters", None)
    in_tasks = read["summed"] == "tasks"
    _require(repeats is None or len(repeats) == len(weight), "repeats", repeats)
    most = np.full((len(weight), 1), 1 + _ROUNDING)
    if read.pop("scores", False) and not in_tasks:
        most[:] = np.inf
    # Predictions name the tasks if there are no labels.
    naming = {"group": "group", "task": "task" if in_tasks else naming_names(sides)[0]}
    possible = (*SIDES, BOTH, SQUARE, BOTH_SQUARE) if in_tasks else SIDES
    _require({*naming.values()} <= {*sides}, "sides", [*sides])
    # A side is one of several models' unless tasks were summed.
    kinds = {*sides} if in_tasks else {name.partition(":")[0] for name in sides}
    _require(kinds <= {*possible}, "sides", [*sides])
    for name in dict.fromkeys([*naming.values(), *sides]):
        role = name.partition("_")[0]
        # Sums of a task are those of so many rows, whose weights were rounded as they were added.
        top = weight[:, None] * (1 + 1e-9) if in_tasks and role == "task" else most
        side = sides[name] = _read_side(sides[name], f"sides.{name}", top)
        labels = sides[naming[role]]
        _require(side.names == labels.names, f"sides.{name}.names", side.names)
        # A label of two classes has one task, in labels and in predictions.
        alike = side.one_label == labels.one_label or len(labels.names) > 2
        of_role = alike and not (side.one_label and role == "group")
        _require(of_role, f"sides.{name}.one_label", side.one_label)
    both_squares = (SQUARE in sides) == (BOTH_SQUARE in sides)
    both = BOTH in sides or not (in_tasks and "task_pred" in sides)
    _require(both_squares and both, "sides", [*sides])
    if clusters is not None:
        of, n = clusters["of"], clusters["n"]
        known_clusters = not in_tasks and len(of) == len(weight) and (of < len(n)).all()
        _require(known_clusters, "clusters.of", of.tolist())
        read["clusters"] = Clusters(of.astype(np.intp), n)
    groups, n_tasks = sides["group"].names, len(sides[naming["task"]].names)
    n = len(groups)
    shapes = {"squares": (n,), "signs": (n, n_tasks), "crossed": (2, n)}
    for moment in moments or ():
        of_groups = in_tasks and moment["groups"] == groups
        _require(of_groups, "moments.groups", moment["groups"])
        for name, shape in shapes.items():
            sums = moment.get(name)
            _require(sums is None or sums.shape == shape, f"moments.{name}", sums)
    if moments:
        read["moments"] = tuple(Moments(**moment) for moment in moments)
    del read["format"]
    return read


def _require(right: Any, field: str, value: Any) -> None:
    if not right:
        raise Wrong(value.tolist() if isinstance(value, np.ndarray) else value, field)


def _read_side(stored: dict[str, Any], field: str, most: Array) -> Side:
    """Return labels; numbers of each cell are at most `most`."""
    names, codes, matrix = stored["names"], stored["codes"], stored["matrix"]
    pos_label = stored.get("pos_label")
    _require((codes is None) != (matrix is None), field, codes)
    _require(pos_label is None or pos_label in names, f"{field}.pos_label", pos_label)
    labels: Labels
    if codes is not None:
        positions = len(codes) == len(most) and (codes < len(names)).all()
        _require(positions, f"{field}.codes", codes)
        labels = Codes(codes.astype(np.intp), len(names))
    else:
        scores = bool(np.isinf(most).any())
        width = matrix.shape[1] if scores and matrix.shape[1] == 1 else len(names)
        n_empty = matrix.size + len(most) * width == 0
        _require(matrix.shape == (len(most), width) or n_empty, f"{field}.matrix", matrix)
        if stored["soft"]:
            outside = (matrix > most) | ((matrix < -_ROUNDING) & (not scores))
        else:
            outside = (matrix != 0) & (matrix != 1)
        _require(not outside.any(), f"{field}.matrix", matrix[outside])
        labels = Members(matrix if stored["soft"] else matrix.astype(bool))
    how = stored["one_label"], stored["open"], stored["columns"], pos_label
    return Side(names, labels, *how, floats=stored.get("floats", False))
