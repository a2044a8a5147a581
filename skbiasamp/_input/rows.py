"""Label rows: containers are read, distinct rows counted, and labels named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, Array, NamedMissing, check_pair_limit
from skbiasamp._input.class_readers import (
    Classes,
    DistinctTexts,
    Groups,
    MarginalGroups,
    are_many_numbers,
)
from skbiasamp._input.classes import check_one_kind
from skbiasamp._input.coding import (
    Column,
    Continuous,
    as_numbers,
    distinct_maps,
    encode,
    read_weight,
    tally,
)
from skbiasamp._input.containers import (
    as_column,
    as_maps,
    check_index,
    check_lengths,
    check_shapes,
    columns_of,
    is_table,
    to_native,
)
from skbiasamp._input.errors import InputError, speaking
from skbiasamp._input.labels import Codes, Rows, Side
from skbiasamp._input.parameters import How, Parameter
from skbiasamp._input.probable_groups import in_each_group
from skbiasamp._input.readers import Indicators, Numbers, Reader


def read_rows(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_score: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    repeats: Array | None = None,
    apart: bool = False,
    **options: Any,
) -> Rows:
    """Read label rows; `options` are those of `How`.

    Without labels, `y_true` is None. `y_score` are scores beside predictions. `clusters` holds an
    id a row. With `repeats`, the weight of a row is that of so many rows. Rows stay in their order
    if they are to be `apart`.
    """
    options["embedding"] = options.get("embedding", False) and y_score is None
    how, maps = How(**options), as_maps(y_score)
    if maps is not None:
        maps, y_score = distinct_maps(maps, "y_score")
    compared = y_score is not None or how.scores or how.texts or how.numbers
    if y_true is None and (y_pred is None or compared):
        raise InputError("{y_true} is None: pass the labels to compare the predictions with.")
    if sensitive_features is None:
        raise InputError(
            "{sensitive_features} is None: pass the sensitive feature of every row, for example "
            "{sensitive_features=X['sex']}."
        )
    given = {
        "y_true": y_true,
        "y_pred": y_pred,
        "sensitive_features": sensitive_features,
        "sensitive_pred": sensitive_pred,
        "y_score": y_score,
    }
    native = {k: to_native(value, k) for k, value in given.items() if value is not None}
    n = check_lengths(native)
    check_shapes(native)
    check_index({**given, "sample_weight": sample_weight, "clusters": clusters})
    weight = None if sample_weight is None else read_weight(sample_weight, n)
    uncertain = how.groups == "probabilities" and is_table(native["sensitive_features"])
    if uncertain:
        native, weight, clusters = in_each_group(native, weight, clusters)
        n = len(weight)
    tasks = task_reader(native, how)
    score = _read_score(native, how)
    groups = group_reader(native, how)
    of_rows = {} if repeats is None else {"repeats": np.asarray(repeats, dtype=float)}
    if clusters is not None:
        of_rows["clusters"], n_clusters = read_clusters(clusters, n)
    parameters = [*tasks.parameters, *groups.parameters]
    scores = [] if score is None else [score]
    drop = how.missing == "drop"
    if apart:
        of_rows["kept"] = np.arange(n)
    weight, rows, n_dropped = _count(parameters, scores, weight, of_rows, n, drop=drop)
    _check_missing_names(groups)
    for reader in (tasks, groups):
        classes = reader is tasks and not (how.texts or how.like)
        for parameter in reader.parameters:
            parameter.check_labels(rows, classes=classes)
    with speaking({"y_true": "y_pred"} if y_true is None else {}):
        task, task_pred = tasks.sides(weight, rows)
    group, group_pred = groups.sides(weight, rows)
    group = replace(group, uncertain=uncertain)
    if not (how.scores or how.texts):  # attackers may know rows by number, or read them
        check_pair_limit(len(group.names), len(task.names))
    if score is None and task_pred is None:
        score = tasks.pred  # an embedding
    return Rows(
        weight,
        group,
        None if y_true is None else task,
        task if y_true is None else task_pred,
        group_pred,
        n_dropped,
        of_rows.get("repeats"),
        None if clusters is None else (of_rows["clusters"], n_clusters),
        None if score is None else tasks.scores(score, task) if maps is None else _of(score, maps),
        kept=of_rows.get("kept"),
    )


def _of(score: Parameter, maps: Array) -> Side:
    """Return which of some arrays each row has."""
    assert score.matrix is not None
    codes = Codes(score.matrix[:, 0].astype(np.intp), len(maps))
    return Side(tuple(range(len(maps))), codes, open=False, inputs=maps)


def _read_score(native: dict[str, Any], how: How) -> Parameter | None:
    """Read scores that stand beside predictions."""
    if "y_score" not in native or how.texts or how.numbers:
        return None
    titles, columns = zip(*columns_of(as_column(native["y_score"])), strict=True)
    numbers = [as_numbers(column, "y_score") for column in columns]
    return Parameter("y_score", matrix=np.column_stack(numbers), titles=titles)


def _count(
    parameters: list[Parameter],
    scores: list[Parameter],
    weight: Array | None,
    of_rows: dict[str, Array],
    n: int,
    *,
    drop: bool,
) -> tuple[Array, Array, float]:
    """Give parameters the labels of the rows that count, distinct where they can be.

    Columns of classes are tallied: equal rows become one. What is no code cannot be, and
    fractional weights are of single rows. Returned are the weights of the rows, how many rows of
    the data each is as far as this is known, and how many are dropped for missing values.
    """
    columns = [column for parameter in parameters for column in parameter.columns]
    matrices = [p for p in (*parameters, *scores) if p.matrix is not None]
    whole = weight is None or np.array_equal(weight, np.rint(weight))
    if whole and not (matrices or of_rows):
        positions, weight = tally(columns, weight)
        keep = np.ones(len(weight), dtype=bool)
    else:
        positions = [column.positions() for column in columns]
        weight = np.ones(n) if weight is None else weight
        keep = weight > 0
    n_dropped = 0.0
    if drop:
        missing = [codes == 0 for c, codes in zip(columns, positions, strict=True) if c.missing]
        lacking = np.any(missing, axis=0) if missing else np.zeros_like(keep)
        n_dropped = float(weight[lacking].sum())
        keep &= ~lacking
        if not keep.any():
            text = "{sensitive_features} is missing in every row: there is nothing left to audit."
            raise InputError(text)
    if not keep.all():
        positions, weight = [codes[keep] for codes in positions], weight[keep]
        of_rows |= {name: values[keep] for name, values in of_rows.items()}
        for parameter in matrices:
            assert parameter.matrix is not None
            parameter.matrix = parameter.matrix[keep]
    at = iter(positions)
    for parameter in parameters:
        parameter.labels = [column.occurring(next(at)) for column in parameter.columns]
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
    if is_table(column):
        text = "{clusters} must be one column of ids; got {seen} columns. Make one id of them."
        raise InputError(text, seen=len(columns_of(column)))
    check_lengths({"y_true": np.empty(n), "clusters": column})
    codes, ids = pd.factorize(column if isinstance(column, pd.Series) else np.asarray(column))
    missing = int((codes < 0).sum())
    if missing:
        raise InputError(
            "{clusters} has no id in {missing:,} rows. Give each of these rows an id of its own, "
            "or leave them out.",
            missing=missing,
        )
    if ids.dtype == object and pd.api.types.infer_dtype(ids).startswith("mixed"):
        check_one_kind(ids.tolist(), codes, "clusters")
    return codes.astype(np.int64), np.ones(len(ids))


def tallied(given: Mapping[Any, Any], weight: Any) -> tuple[list[Any], Array] | None:
    """Return the distinct rows of several columns of labels, and their total weights.

    None if they are not all columns of classes without missing values and with whole weights:
    those have to be read row by row.
    """
    native = {name: as_column(to_native(value, name)) for name, value in given.items()}
    n = check_lengths(native)
    check_index({**given, "sample_weight": weight})
    weight = None if weight is None else read_weight(weight, n)
    if weight is not None and not np.array_equal(weight, np.rint(weight)):
        return None
    columns: list[Column] = []
    for name, value in native.items():
        if is_table(value) and name != "sensitive_features":
            return None
        for _, labels in columns_of(value):
            column = encode(labels, name)
            if isinstance(column, Continuous):
                return None
            if column.missing and (column.raw == column.offset).any():
                return None
            columns.append(column)
    positions, total = tally(columns, weight)
    values = iter(c.values_at(at) for c, at in zip(columns, positions, strict=True))
    cells: list[Any] = []
    for value in native.values():
        if is_table(value) or isinstance(value, pd.Series):
            table = {label: next(values) for label, _ in columns_of(value)}
            cells.append(pd.DataFrame(table, dtype=object))
        else:
            cells.append(np.fromiter(next(values), dtype=object))
    return cells, total


# --------------------------------------------------------------------------- which reader


def task_reader(given: dict[str, Any], how: How) -> Reader:
    """Return the reader of labels and predictions, which has read them."""
    values: dict[str, Any] = {}
    for name in ("y_true", "y_pred"):
        if name in given:
            values[name] = as_column(given[name])
    columns: dict[str, Column | Continuous] = {}
    one_label = how.like is not None and how.like[1].one_label
    reader: type[Reader] = Classes
    if how.numbers:
        reader = Numbers
    elif how.texts:
        reader = DistinctTexts
    elif is_table(next(iter(values.values()))):
        reader = Classes if "y_true" not in values and one_label else Indicators
    elif how.scores and _are_numbers(values, columns, decided=how.threshold is not None):
        reader = Numbers
    return reader(values, how, columns=columns)


def group_reader(given: dict[str, Any], how: How) -> Reader:
    """Return the reader of the sensitive features, which has read them."""
    names = ("sensitive_features", "sensitive_pred")
    values = {name: given[name] for name in names if name in given}
    marginal = how.groups == "marginal"
    columns: dict[str, Column | Continuous] = {}
    reader: type[Reader] = Groups
    if how.groups == "indicator":
        values, reader = {name: _as_table(value) for name, value in values.items()}, Indicators
    elif len(columns_of(values["sensitive_features"])) > 1:
        reader = MarginalGroups if marginal else Groups
    elif how.scores and not marginal:
        alone = {name: as_column(value) for name, value in values.items()}
        if _are_numbers(alone, columns):
            # Whether training has numbers too is checked where both are counted.
            values, reader, how = alone, Numbers, replace(how, like=None)
    return reader(values, how, role="group", columns=columns)


def _are_numbers(
    values: dict[str, Any], columns: dict[str, Column | Continuous], *, decided: bool = False
) -> bool:
    """Whether labels are no classes, or predictions of whole numbers are none.

    `columns` takes up what was read, so that it need not be read again.
    """
    (name, label), *rest = values.items()
    column = columns[name] = encode(label, name)
    if isinstance(column, Continuous):
        return True
    for other, pred in rest:
        if not (decided or is_table(pred)) and are_many_numbers(column):
            columns[other] = encode(pred, other)
    return any(isinstance(column, Continuous) for column in columns.values())


def _as_table(value: Any) -> Any:
    if is_table(value):
        return value
    ((title, _),) = columns_of(value)
    return pd.DataFrame({title: value}) if isinstance(value, pd.Series) else value[:, None]
