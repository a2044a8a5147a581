"""Label rows: containers are read, distinct rows counted, and labels named."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, MOST_PAIRS, Array, NamedMissing, check_models
from skbiasamp._input.classes import FEW_TEXTS, check_no_texts, check_one_kind, united
from skbiasamp._input.coding import (
    Column,
    Continuous,
    as_numbers,
    distinct_maps,
    read_weight,
    refuse,
    tally,
)
from skbiasamp._input.containers import (
    as_column,
    as_maps,
    check_index,
    check_lengths,
    columns_of,
    to_native,
)
from skbiasamp._input.errors import (
    InputError,
    InputTypeError,
    of_one_model,
    of_the_model,
    plain,
    renaming,
)
from skbiasamp._input.labels import Codes, Rows, Side, narrow, side_of_model
from skbiasamp._input.readers import How, Parameter, Reader, read_values
from skbiasamp._utils.progress import progress

# Labels and their predictions, by what they are about.
_PARAMETERS = {"task": ("y_true", "y_pred"), "group": ("sensitive_features", "sensitive_pred")}


@progress("counting rows")
def read_rows(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_preds: Any = None,
    sensitive_preds: Any = None,
    y_score: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    like: Any = None,
    repeats: Array | None = None,
    apart: bool = False,
    merged: bool = False,
    **options: Any,
) -> Rows:
    """Read label rows; `options` are those of `How`.

    Without labels, `y_true` is None. `y_preds` and `sensitive_preds` are predictions of several
    models by name, `y_score` are scores beside predictions. `clusters` holds an id a row. Groups
    and tasks are those of the cells `like` if there are any. With `repeats`, the weight of a row is
    that of so many rows. Rows stay in their order if they are to be `apart`; equal rows of 0/1
    columns become one if they are to be `merged`.
    """
    models: tuple[str, ...] = ()
    if not (y_preds is None and sensitive_preds is None):
        if not (y_pred is None and sensitive_pred is None):
            raise InputTypeError("Pass {y_pred} of one model or {y_preds} of several, not both.")
        models = check_models({"y_preds": y_preds, "sensitive_preds": sensitive_preds})
    options["embedding"] = options.get("embedding", False) and y_score is None
    how = How(like=None if like is None else (like.grouping, like.naming), **options)
    maps = None if y_score is None else as_maps(y_score)
    if maps is not None:
        maps, y_score = distinct_maps(maps, "y_score")
    compared = y_score is not None or how.scores or how.texts or how.numbers
    if y_true is None and ((y_pred is None and y_preds is None) or compared):
        raise InputError("{y_true} is None: pass the labels to compare the predictions with.")
    if sensitive_features is None:
        raise InputError(
            "{sensitive_features} is None: pass the sensitive feature of every row, for example "
            "{sensitive_features=X['sex']}."
        )
    given: dict[Any, Any] = {"y_true": y_true, "y_pred": y_pred}
    given |= {of_one_model("y_pred", model): own for model, own in (y_preds or {}).items()}
    given |= {"sensitive_features": sensitive_features, "sensitive_pred": sensitive_pred}
    for model, own in (sensitive_preds or {}).items():
        given[of_one_model("sensitive_pred", model)] = own
    given["y_score"] = y_score
    native = {name: to_native(value, name) for name, value in given.items() if value is not None}
    n = check_lengths(native)
    for name, table in native.items():
        if table.ndim == 2 and table.shape[1] == 0:
            text = "{name} has no columns, its shape is {shape}."
            raise InputError(text, name=name, shape=table.shape)
        if isinstance(table, pd.DataFrame) and not table.columns.is_unique:
            twice = plain(table.columns[table.columns.duplicated()][0])
            text = "{name} has more than one column named {twice!r}: rename one or leave it out."
            raise InputError(text, name=name, twice=twice)
    check_index({**given, "sample_weight": sample_weight, "clusters": clusters})
    weight = None if sample_weight is None else read_weight(sample_weight, n)
    tasks = _read_each("task", native, how, () if y_preds is None else models)
    score = None
    if y_score is not None and not (how.texts or how.numbers):
        titles, columns = zip(*columns_of(as_column(native["y_score"])), strict=True)
        numbers = [as_numbers(column, "y_score") for column in columns]
        score = Parameter("y_score", matrix=np.column_stack(numbers), titles=titles)
    groups = _read_each("group", native, how, () if sensitive_preds is None else models)
    of_rows = {} if repeats is None else {"repeats": np.asarray(repeats, dtype=float)}
    if clusters is not None:
        of_rows["clusters"], n_clusters = read_clusters(clusters, n)
    if apart:
        of_rows["kept"] = np.arange(n)
    every = [*tasks.values(), *groups.values()]
    parameters = [parameter for reader in every for parameter in reader.parameters]
    parameters += [] if score is None else [score]
    drop = how.missing == "drop"
    weight, rows, n_dropped = _count(parameters, weight, of_rows, n, drop=drop, merged=merged)
    if how.missing == "group":
        for reader in groups.values():
            _check_missing_names(reader)
    task_sides = _sides(tasks, rows, alone=y_true is None)
    group_sides = _sides(groups, rows)
    sides: dict[Any, Side] = {}
    for model in models or (None,):
        task, *task_pred = task_sides.get(model) or task_sides[None]
        group, *group_pred = group_sides.get(model) or group_sides[None]
        sides["group"] = group
        if y_true is None:
            task_pred = [task]
        else:
            sides["task"] = task
        sides |= {side_of_model("task_pred", model): side for side in task_pred}
        sides |= {side_of_model("group_pred", model): side for side in group_pred}
    # Attackers may know rows by number, or read them.
    if len(group.names) * len(task.names) > MOST_PAIRS and not (how.scores or how.texts):
        raise InputError(
            "{y_true} has {n_tasks:,} classes, which with {n_groups:,} groups make more than "
            "{most:,} pairs. Is it an identifier, or a number to bin?",
            n_tasks=len(task.names),
            n_groups=len(group.names),
            most=MOST_PAIRS,
        )
    if not models:
        if score is None and "task_pred" not in sides:
            score = tasks[None].pred  # an embedding
        if score is not None:  # what attackers see; the predictions say how accurate they are
            if "task_pred" in sides:
                sides["task_decision"] = sides["task_pred"]
            if maps is None:
                sides["task_pred"] = tasks[None].scores(score, sides["task"])
            else:  # each row has one of some arrays
                codes = Codes(score.matrix[:, 0].astype(np.intp), len(maps))
                names = tuple(range(len(maps)))
                sides["task_pred"] = Side(names, codes, open=False, inputs=maps)
    return Rows(
        weight,
        sides,
        n_dropped,
        of_rows.get("repeats"),
        None if clusters is None else (of_rows["clusters"], n_clusters),
        kept=of_rows.get("kept"),
    )


def _read_each(
    role: str, native: dict[str, Any], how: How, models: tuple[str, ...]
) -> dict[Any, Reader]:
    """Return the readers of each model's predictions, beside the labels; one without models."""
    readers: dict[Any, Reader] = {}
    columns: dict[str, Column | Continuous] = {}
    labels, preds = _PARAMETERS[role]
    for model in models or (None,):
        asked = {labels: labels, preds: of_one_model(preds, model) if model else preds}
        values = {name: native[own] for name, own in asked.items() if own in native}
        own_columns = dict(columns)
        with of_the_model(model) if model else nullcontext():
            readers[model] = read_values(role, values, how, own_columns)
        label = readers[model].label
        if label.name == labels and len(label.columns) == 1:
            columns[label.name] = label.columns[0]  # the same beside all predictions
    return readers


def _sides(
    readers: dict[Any, Reader], rows: Array, *, alone: bool = False
) -> dict[Any, list[Side]]:
    """Return labels and each model's predictions, under the names of all.

    Raise if values look alike, or few are classes, and name those that are missing.
    """
    read = {}
    for model, reader in readers.items():
        classes = reader.role == "task" and not (reader.how.texts or reader.how.like)
        of_model = of_the_model(model) if model else nullcontext()
        with of_model, renaming({"y_true": "y_pred"}) if alone else nullcontext():
            for parameter in reader.parameters:
                titles = parameter.titles
                for i, (codes, values) in enumerate(parameter.labels):
                    column = f" column {titles[i]!r}" if len(titles) > 1 else ""
                    check_one_kind(values, codes, parameter.name + column, rows)
                    if classes and len(values) > FEW_TEXTS:
                        check_no_texts(values, rows.sum(), parameter.name)
                    if None in values or MISSING in values:
                        named: dict[Any, str] = {None: MISSING, MISSING: NamedMissing(MISSING)}
                        values = tuple(named.get(value, value) for value in values)
                        parameter.labels[i] = codes, values
            read[model] = reader.sides(rows)
    if len(read) == 1:
        return read
    names = united(label.names for label, *_ in read.values())
    return {model: [side.onto(names) for side in sides] for model, sides in read.items()}


def _count(
    parameters: list[Parameter],
    weight: Array | None,
    of_rows: dict[str, Array],
    n: int,
    *,
    drop: bool,
    merged: bool,
) -> tuple[Array, Array, float]:
    """Give parameters the labels of the rows that count, distinct where they can be.

    Columns of classes are tallied: equal rows become one. What is no code cannot be, and
    fractional weights are of single rows. Returned are the weights of the rows, how many rows of
    the data each is as far as this is known, and how many are dropped for missing values.
    """
    # A column of labels is read once beside the predictions of several models.
    columns = list(dict.fromkeys(c for parameter in parameters for c in parameter.columns))
    matrices = [parameter for parameter in parameters if parameter.matrix is not None]
    whole = weight is None or np.array_equal(weight, np.rint(weight))
    bits = [bit for p in matrices for bit in p.matrix.T] if merged else []
    if not all(((bit == 0) | (bit == 1)).all() for bit in bits):
        bits = []
    if whole and (bits or not matrices) and not of_rows:
        coded = [Column(bit.astype(np.uint8), 0, [0, 1]) for bit in bits]
        positions, weight = tally([*columns, *coded], weight)
        keep = np.ones(len(weight), dtype=bool)
        merged_bits, positions = positions[len(columns) :], positions[: len(columns)]
        for parameter in matrices:
            width, kind = parameter.matrix.shape[1], parameter.matrix.dtype
            parameter.matrix = np.column_stack(merged_bits[:width]).astype(kind)
            merged_bits = merged_bits[width:]
    else:
        positions = [column.positions() for column in columns]
        weight = np.ones(n) if weight is None else weight
        keep = weight > 0
    n_dropped = 0.0
    if drop:
        lacking = np.zeros_like(keep)
        for column, codes in zip(columns, positions, strict=True):
            if column.values[:1] == [None]:
                lacking |= codes == 0
        n_dropped = float(weight[lacking].sum())
        keep &= ~lacking
        if not keep.any():
            text = "{sensitive_features} is missing in every row: there is nothing left to audit."
            raise InputError(text)
    if not keep.all():
        positions, weight = [codes[keep] for codes in positions], weight[keep]
        of_rows |= {name: values[keep] for name, values in of_rows.items()}
        for parameter in matrices:
            parameter.matrix = parameter.matrix[keep]
    at = dict(zip(columns, positions, strict=True))
    for parameter in parameters:
        parameter.labels = []
        for column in parameter.columns:
            codes = at[column]
            used = np.flatnonzero(np.bincount(codes, minlength=len(column.values)))
            gaps = used[-1] - used[0] >= len(used)
            codes = (
                narrow(np.searchsorted(used, codes), len(used)) if gaps else codes - int(used[0])
            )
            parameter.labels.append((codes, tuple(column.values[i] for i in used)))
    rows = weight if whole else of_rows.get("repeats", np.ones(len(weight)))
    return weight, rows, n_dropped


def _check_missing_names(groups: Reader) -> None:
    """Raise if a real group has the name that missing values get, here or in other rows."""
    for i in range(max(len(parameter.labels) for parameter in groups.parameters)):
        values = {v for p in groups.parameters if p.labels for v in p.labels[i][1]}
        known = () if groups.known is None else groups.known.names
        of_column = [
            name[i] if isinstance(name, tuple) and i < len(name) else name for name in known
        ]
        trained = any(isinstance(name, NamedMissing) for name in of_column)
        if None in values and (trained or MISSING in values):
            raise InputError(
                "{sensitive_features} has missing values and {where} named {seen!r}, and with "
                "{missing='group'} both would be one group. Rename that group.",
                where="the training data a group" if trained else "a group",
                seen=MISSING,
            )


def read_clusters(clusters: Any, n: int) -> tuple[Array, Array]:
    """Return the cluster of each of `n` rows as a number, and how many clusters have each."""
    column = as_column(to_native(clusters, "clusters"))
    if column.ndim == 2:
        text = "{clusters} must be one column of ids; got {seen} columns. Make one id of them."
        raise InputError(text, seen=len(columns_of(column)))
    check_lengths({"y_true": np.empty(n), "clusters": column})
    codes, ids = pd.factorize(column if isinstance(column, pd.Series) else np.asarray(column))
    text = (
        "{name} has no id in {where}. Give each of these rows an id of its own, or leave them out."
    )
    refuse(codes < 0, text, "clusters")
    if ids.dtype == object and pd.api.types.infer_dtype(ids).startswith("mixed"):
        check_one_kind(ids.tolist(), codes, "clusters")
    return codes.astype(np.int64), np.ones(len(ids))
