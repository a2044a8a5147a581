"""Labels in: arrays, columns of a frame or of files, or a contingency, by one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from skbiasamp._input.checks import check_frame_columns, check_train
from skbiasamp._input.containers import as_maps, to_native
from skbiasamp._input.errors import (
    PARAMETER_OF,
    InputError,
    InputTypeError,
    meant,
    quote,
    renaming,
    worded,
)
from skbiasamp._input.rows import read_rows
from skbiasamp._io import FEW_ROWS, are_files, as_patterns, opened
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.frames import names_of, open_frame

P = ParamSpec("P")
R = TypeVar("R")

# What names the columns of a frame, wherever a frame may stand in place of labels.
COLUMNS = ("target", "prediction", "sensitive", "sensitive_prediction", "weight", "cluster")


def rest_by_name(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method say what goes by name if more came by position than it takes."""
    parameters = inspect.signature(method).parameters.values()
    _, *labels = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]

    @wraps(method)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        if len(given) - 1 > len(labels):
            name = method.__name__
            raise TypeError(
                f"{type(given[0]).__name__}.{name} takes {' and '.join(labels)} by position and "
                f"the rest by name: {name}({', '.join(labels)}, sensitive_features=A). Got "
                f"{len(given) - 1} arguments by position."
            )
        return method(*given, **named)

    return checked


def count_labels(
    y_true: Any,
    labels: dict[str, Any],
    columns: dict[str, Any],
    *,
    like: Contingency | None = None,
    scores: bool = False,
    engine: dict[str, Any] | None = None,
    **how: Any,
) -> Contingency:
    """Return labels, columns of a frame or of files, or a contingency in their place, counted.

    This is the one place where it is decided which of them it is.
    """
    named = {name: column for name, column in columns.items() if column is not None}
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise InputTypeError(
            "got an unexpected keyword argument {seen!r}{meant} Columns of a frame are named by "
            "{columns}.",
            seen=unknown[0],
            meant=meant(unknown[0], [*labels, *COLUMNS]),
            columns=quote(COLUMNS),
        )
    if named or isinstance(y_true, str | PathLike):
        check_frame_columns(named, labels.values())
        asked = {**named, "like": like, **how, **(engine or {})}
        with opened_rows(y_true, named) as (frame, _):
            return Contingency.from_frame(frame, **asked)
    if not isinstance(y_true, Contingency):
        names: dict[str, str] = {}
        if "y_score" in labels:
            # Leakage of scores: without predictions they are these, whatever columns they have.
            y_pred, y_score, how["embedding"] = labels["y_pred"], labels["y_score"], True
            if y_score is None and as_maps(y_pred) is not None:
                y_pred, y_score = None, y_pred
            elif y_pred is None and y_score is not None and as_maps(y_score) is None:
                y_pred, y_score, names = y_score, None, {"y_pred": "y_score"}
            labels = labels | {"y_pred": y_pred, "y_score": y_score}
        how.setdefault("max_groups", None)
        with renaming(names):
            read = read_rows(y_true, **labels, like=like, scores=scores, **how)
        return Contingency.of_rows(read)
    if any(other is not None for other in labels.values()):
        raise InputTypeError(
            "A Contingency already holds labels, predictions, groups and weights: pass it alone."
        )
    if how.get("threshold") is not None:
        raise InputError(
            "{threshold} is for scores, and a Contingency holds rows that were read. Pass it to "
            "Contingency.from_labels or Contingency.from_frame."
        )
    cells = y_true.with_positive(how["pos_label"])
    return cells if like is None else cells.conform(like)


def row_by_row(
    frame: Any, labels: dict[str, Any], columns: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the columns of a frame or of files as labels, with no columns left to name."""
    check_frame_columns(columns, labels.values())
    read = read_columns(frame, columns)
    rows = {PARAMETER_OF.get(option, option): values for option, values in read.items()}
    return rows.pop("y_true", None), labels | rows, {}


@contextmanager
def opened_rows(rows: Any, columns: dict[str, Any]) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield files as a frame of the columns named, and what they are; any rows else as they are."""
    if columns and are_files(rows):
        needed = dict.fromkeys(
            str(name) for column in columns.values() for name in names_of(column)
        )
        with opened(as_patterns(rows), list(needed), compact=True) as (read, files):
            # As the command line does: of sums of probabilities draws are others.
            few = sum(file["rows"] for file in files) <= FEW_ROWS
            yield (read.collect() if few else read), files
    else:
        yield rows, []


def read_columns(frame: Any, columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns of a frame or of files by what they are: tables of sensitive features."""
    with opened_rows(frame, columns) as (rows, _):
        sides = {what: list(names_of(named)) for what, named in columns.items()}
        opened = open_frame(rows, sides)
        # At once: an engine may return rows in another order each time.
        each = dict.fromkeys(name for names in sides.values() for name in names)
        table = opened.frame.select(*map(opened.column, each)).collect()
        own: dict[str, Any] = {new: name for name, new in opened.called.items()}

        def read(what: str, names: list[Any]) -> Any:
            part = table.select(*map(opened.column, names))
            part = part.rename({new: own[new] for new in part.columns if new in own})
            whole = what == "sensitive" or part.shape[1] > 1
            column = part if whole else part.get_column(part.columns[0])
            native = column.to_native()
            # A column of pyarrow has no name.
            return native if whole or hasattr(native, "name") else to_native(column, what)

        return {what: read(what, names) for what, names in sides.items()}


def read_train(
    y_train: Any, sensitive_train: Any, columns: dict[str, Any] | None = None, **how: Any
) -> Contingency | None:
    """Return training labels counted, or None if there are none."""
    if isinstance(y_train, Contingency):
        return y_train.with_positive(how["pos_label"])
    if not columns:
        check_train(y_train, sensitive_train)
    if y_train is None:
        return None
    labels = {"sensitive_features": sensitive_train}
    with renaming(y_true="y_train", sensitive_features="sensitive_train"):
        return count_labels(y_train, labels, columns or {}, **how)


def directions_of(test: Contingency) -> list[str]:
    """Return the directions in which rows have predictions."""
    return ["A->T"] * test.has("task_pred") + ["T->A"] * test.has("group_pred")


def require_predictions(
    test: Contingency, needed: tuple[SideName, ...], *, what: str, directed: bool = True
) -> None:
    """Raise if predictions are needed that the audited rows lack."""
    lacking = [side for side in needed if not test.has(side)]
    models = test.models
    if lacking and models:
        text = (
            "{y_true} holds the predictions of several models, {models}. Choose one, "
            "contingency.model({first!r}), or use compare."
        )
        raise InputError(text, models=quote(models), first=models[0])
    if "task_pred" in lacking:
        only = worded(" (Only {direction='T->A'} can do without.)") if directed else ""
        text = "{metric} compares the labels with their predictions: pass {y_pred}.{only}"
        raise InputError(text, metric=what, only=only)
    if lacking:
        raise InputError(
            "{metric} with {direction='T->A'} (task → group) needs the sensitive feature as "
            "predicted by the model: pass {sensitive_pred}. If your model does not predict it, use "
            "{direction='A->T'}.",
            metric=what,
        )
