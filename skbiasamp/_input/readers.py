"""Readers of labels and predictions that are columns of numbers: `Indicators`, `Numbers`.

A reader first reads each parameter as columns of codes or as a matrix, a row for each row. When the
distinct rows are counted, `sides` says what these are, and names their columns.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, Names, check_known
from skbiasamp._input.classes import no_positive_class
from skbiasamp._input.coding import (
    HOLES,
    Column,
    Continuous,
    as_numbers,
    encode,
    indicator,
    measured,
    numbers_of,
    of_floats,
    refuse,
)
from skbiasamp._input.column_names import positions_of
from skbiasamp._input.containers import columns_of, is_table
from skbiasamp._input.errors import InputError, Role
from skbiasamp._input.labels import Members, Side
from skbiasamp._input.parameters import How, Parameter


class Reader:
    """Reads labels and their predictions: each parameter first, then the distinct rows."""

    def __init__(
        self,
        values: dict[str, Any],
        how: How,
        *,
        role: str = "task",
        columns: dict[str, Column | Continuous] | None = None,
    ) -> None:
        self.how, self.role = how, role
        self._columns = columns or {}  # those that were read to choose the reader
        self.known = None if how.like is None else how.like[role == "task"]
        self.parameters: list[Parameter] = []
        for name, value in values.items():
            self.parameters.append(self._read(name, value))

    @property
    def label(self) -> Parameter:
        """The labels; the predictions if there are no labels."""
        return self.parameters[0]

    @property
    def pred(self) -> Parameter | None:
        """The predictions of the labels."""
        return self.parameters[1] if len(self.parameters) > 1 else None

    def _read(self, name: str, value: Any) -> Parameter:
        """Read labels first, then their predictions."""
        raise NotImplementedError

    def sides(self, weight: Array, rows: Array) -> tuple[Side, Side | None]:
        """Return labels and predictions of distinct rows, with the names of their columns."""
        raise NotImplementedError

    def is_embedding(self, side: Side) -> bool:
        """Whether predictions are other numbers than scores of the classes, and may be."""
        pred = self.pred if self.how.embedding and self.role == "task" else None
        return pred is not None and pred.matrix is not None and not _fits(pred.matrix, side)

    def scores(self, score: Parameter, side: Side) -> Side:
        """Return scores that stand beside predictions, or in place of them as an embedding does."""
        assert score.matrix is not None
        if not _fits(score.matrix, side):
            return Side(score.titles, Members(score.matrix), open=False)
        matrix = self.class_scores(score, side.names, side.pos_label)
        return Side(side.names, Members(matrix), one_label=side.one_label, open=side.open)

    def class_scores(self, score: Parameter, names: Names, pos_label: Hashable) -> Array:
        """Return scores with a column for each name."""
        assert score.matrix is not None
        return score.matrix


class Indicators(Reader):
    """Reads 0/1 columns, a task or a group each, and predictions of them or their probabilities."""

    what = "an indicator matrix"

    def _read(self, name: str, value: Any) -> Parameter:
        soft = name in ("y_pred", "sensitive_pred")
        if name == "y_pred" and self.how.threshold is not None:
            matrix = reached(value, self.how.threshold)
        elif not is_table(value):
            raise columns_differ(self.label, name, 1)
        else:
            scores = soft and self.how.scores and self.role == "task"
            matrix = indicator(value, name, soft=soft, scores=scores)
        return Parameter.of_matrix(name, matrix, value)

    def sides(self, weight: Array, rows: Array) -> tuple[Side, Side | None]:
        if self.how.pos_label is not None and self.role == "task":
            raise no_positive_class(f"is {self.what}")
        label, pred, known = self.label, self.pred, self.known
        assert label.matrix is not None
        names, n, order = label.titles, len(label.titles), None
        if known is not None:
            if known.one_label or len(known.names) != n:
                raise InputError(
                    "{name} has {n} columns but the training labels had {had}. Pass the same "
                    "{role}s to both.",
                    name=label.name,
                    n=n,
                    had="one column" if known.one_label else f"{len(known.names)} columns",
                    role=self.role,
                )
            known_names = (names, known.names)
            if tuple(range(n)) not in known_names:  # both have names
                check_known(*known_names, role=self.role)
            order = self._order(known.names, label, "columns of the training data")
            names = known.names
        side = Side(names, Members(_taken(label.matrix, order)), open=False, floats=label.floats)
        if pred is None or self.is_embedding(side):
            return side, None
        assert pred.matrix is not None
        if pred.matrix.shape[1] != n:
            raise columns_differ(label, pred.name, pred.matrix.shape[1])
        # Beside labels that have no names of their own, those of training count.
        are_named = label.titles != tuple(range(n))
        of_labels = self._order(
            label.titles if are_named else names, pred, f"columns of {label.name}"
        )
        predicted = _taken(_taken(pred.matrix, of_labels), order)
        return side, Side(names, Members(predicted), open=False, floats=pred.floats)

    def _order(self, names: Names, read: Parameter, other: str) -> list[int] | None:
        """Return where the columns of these names are."""
        return positions_of(names, read.titles, read.name, other, listed=self.how.listed)


def _taken(matrix: Array, positions: list[int] | None) -> Array:
    """Return columns of a matrix; None: all as they are."""
    return matrix if positions is None else matrix[:, positions]


class Numbers(Indicators):
    """Reads numbers that are no classes, such as prices or the scores of an attacker's target."""

    what = "continuous"

    def _read(self, name: str, value: Any) -> Parameter:
        if self.how.numbers and self.role == "task":
            return self._measured(name, value)
        if is_table(value) or (name == "y_pred" and self.how.threshold is not None):
            return super()._read(name, value)
        column = self._columns.get(name) or encode(value, name)
        floats = column.numbers if isinstance(column, Continuous) else value
        return Parameter.of_matrix(name, as_numbers(floats, name)[:, None], value)

    def _measured(self, name: str, value: Any) -> Parameter:
        titles, columns = zip(*columns_of(value), strict=True)
        if not is_table(value):
            # One column needs no name: it is that of training, or of the labels.
            known = () if self.known is None else self.known.names
            own = titles[0] if isinstance(titles[0], str) else "y"
            titles = known if len(known) == 1 else (own,)
        shown = [Role(name, f" column {title!r}" * is_table(value)) for title in titles]
        matrix = np.column_stack(list(map(measured, columns, shown)))
        if self.parameters and len(titles) == len(self.label.titles) == 1:
            titles = self.label.titles
        return Parameter(name, matrix=matrix, titles=tuple(titles), floats=of_floats(value))


def reached(value: Any, threshold: float) -> Array:
    """Return which scores are at least the threshold, column by column."""
    above = []
    for _, column in columns_of(value):
        numbers, kind = numbers_of(column, "y_pred"), np.asarray(column).dtype
        refuse(np.isnan(numbers), HOLES, "y_pred")
        # 0.7 of single precision is at 0.7, as it is in NumPy.
        above.append(numbers >= (kind.type(threshold) if kind.kind == "f" else threshold))
    return np.column_stack(above)


def _fits(matrix: Array, side: Side) -> bool:
    """Whether numbers have a column for each class or task, or one for two classes."""
    width, n = matrix.shape[1], len(side.names)
    return width == n or (side.one_label and (width, n) == (1, 2))


def columns_differ(label: Parameter, other: str, m: int) -> InputError:
    """Return the error that a prediction has not as many columns as its label."""
    had = "is one column" if m == 1 else f"has {m}"
    text = "{name} has {n} columns but {other} {had}. Predict every column, in the same order."
    return InputError(text, name=label.name, other=other, n=len(label.titles), had=had)
