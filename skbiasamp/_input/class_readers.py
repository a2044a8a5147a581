"""Readers of labels that are values of columns: `Classes`, `DistinctTexts`, `Groups`."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import (
    Array,
    Names,
    check_columns,
    check_distinct,
    check_group_limit,
    check_kinds,
    check_known,
    check_same_columns,
)
from skbiasamp._input.classes import (
    are_probabilities,
    positive_class,
    recode,
    sort_names,
    task_names,
    united,
    whole_classes,
)
from skbiasamp._input.coding import (
    Column,
    Continuous,
    encode,
    finite,
    indicator,
    need_classes,
    no_missing,
    probabilities,
    text_column,
)
from skbiasamp._input.column_names import positions_of
from skbiasamp._input.containers import as_column, columns_of, is_table
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.labels import Codes, Members, Side, as_integers
from skbiasamp._input.parameters import Found, Parameter
from skbiasamp._input.readers import Reader, columns_differ, reached
from skbiasamp._input.spelling import check_spelling


class Classes(Reader):
    """Reads labels in one column; predictions in one too, or as probabilities of the classes.

    Without labels, classes are those of training, or else those of the predictions.
    """

    spelling = True  # labels that are spelt alike are a mistake

    def _read(self, name: str, value: Any) -> Parameter:
        if name == "y_pred" and self.how.threshold is not None:
            return self._decisions(value, self.how.threshold)
        if is_table(value):
            matrix = indicator(value, name, soft=True, scores=self.how.scores)
            return Parameter.of_matrix(name, matrix, value)
        column = self._columns.get(name) or encode(value, name)
        if name in ("y_true", "sensitive_features"):
            column = need_classes(column, name)
            if name == "y_true":
                no_missing(column, name, "Only labelled rows can be audited: leave these out.")
            elif self.how.missing == "error":
                no_missing(column, name, _KEEP_OR_DROP)
        elif isinstance(column, Continuous):
            if self.how.scores:
                return Parameter.of_matrix(name, finite(column.numbers, name)[:, None], value)
            numbers = probabilities(column.numbers, name, self._countable)
            return Parameter.of_matrix(name, numbers[:, None], value)
        elif name == "y_pred" or self.how.missing == "error":
            no_missing(column, name, "Every audited row needs a prediction: leave these out.")
        return Parameter(name, [column])

    def _countable(self) -> bool:
        return bool(self.parameters) and are_many_numbers(self.label.columns[0])

    def _decisions(self, value: Any, threshold: float) -> Parameter:
        """Read scores as decisions: those of at least the threshold are positive."""
        above = reached(value, threshold)
        n = above.shape[1]
        if n == 1:
            return Parameter("y_pred", [Column(above[:, 0].astype(np.uint8), 0, [False, True])])
        if not self.parameters:
            return Parameter.of_matrix("y_pred", above, value)
        raise InputError(
            "{y_pred} has {n} columns, and {threshold} is for one score a row. Pass the column "
            "of the positive class.",
            n=n,
        )

    def sides(self, weight: Array, rows: Array) -> tuple[Side, Side | None]:
        known = self._known_classes()
        if self.how.threshold is not None and self.role == "task":
            self._name_decisions(known)
        self._take_probabilities(known)
        one_label = self.role == "task"
        coded = {p.name: p.labels[0] for p in self.parameters if p.labels}
        names = align(coded, known, self.role, self.spelling) if coded else known or ()
        self._check_number(len(names), rows)
        names, pos_label = self._positive(names)  # with the positive class, if it is new
        if any(p.matrix is not None and p.matrix.shape[1] <= 2 for p in self.parameters):
            # Both classes of a label that happens to be constant have a column.
            names = whole_classes(names) if one_label else names
        columns = () if one_label else self.label.titles
        sides: list[Side] = []
        for parameter in self.parameters:
            labels: Codes | Members
            floats = parameter.floats
            if parameter.labels:
                codes, values = parameter.labels[0]
                labels = Codes(recode(codes, values, names), len(names))
                floats = parameter.columns[0].floats
                if parameter.name in ("y_pred", "sensitive_pred"):
                    floats = _of_floats(parameter)
            elif sides and self.is_embedding(sides[0]):
                break
            else:
                labels = Members(self.class_scores(parameter, names, pos_label))
            own: dict[str, Any] = {} if sides else {"pos_label": pos_label, "columns": columns}
            sides.append(Side(names, labels, one_label, floats=floats, **own))
        return sides[0], sides[1] if len(sides) > 1 else None

    def _known_classes(self) -> Names | None:
        """Return the classes of training; raise if its labels are of another kind."""
        label, known = self.label, self.known
        alone = label.name == "y_pred"
        if alone and label.matrix is not None and (known is None or not known.one_label):
            raise InputError(
                "{y_pred} holds probabilities, of an unknown class, since there are no labels: "
                "pass predicted labels, a {threshold}, or training labels that have both classes."
            )
        if known is not None and not known.one_label:
            raise InputError(
                "{name} is one column of labels, but the training labels had {n} indicator "
                "columns. Pass {fix}.",
                name=label.name,
                n=len(known.names),
                fix="a prediction for each of them" if alone else "the same kind of labels to both",
            )
        return None if known is None else whole_classes(known.names)

    def _name_decisions(self, trained: Names | None) -> None:
        """Name scores below the threshold as the negative class, and the others as the positive."""
        pred = self.parameters[-1]
        if pred.name != "y_pred" or not pred.labels:
            return
        classes = trained or ((0, 1) if pred is self.label else self.label.labels[0][1])
        names, chosen = self._positive(sort_names(classes))
        whole = whole_classes(names)
        if len(whole) != 2:
            raise InputError(
                "{threshold} turns scores into two classes, and {y_true} has {n} ({classes}). Pass "
                "predicted labels.",
                n=len(whole),
                classes=quote(whole),
            )
        if chosen == whole[0]:
            whole = whole[::-1]
        codes, decisions = pred.labels[0]
        pred.labels = [(codes, tuple(whole[bool(above)] for above in decisions))]

    def _take_probabilities(self, known: Names | None) -> None:
        """Read the floats 0.0 and 1.0 of predictions as probabilities, if they are."""
        pred = self.parameters[-1]
        if pred.name in ("y_true", "sensitive_features") or not _of_floats(pred):
            return
        classes, positive = known or sort_names(self.label.labels[0][1]), None
        if self.how.scores and len(classes) > 2:
            return  # attackers know more classes by their numbers
        classes, positive = self._positive(classes)
        own = pred is self.label and known is None
        codes, values = pred.labels[0]
        if are_probabilities(values, None if own else classes, positive, pred.name):
            pred.matrix = np.array(values, dtype=float)[codes, None]
            pred.labels = []

    def _positive(self, names: Names) -> tuple[Names, Hashable]:
        """Return the classes and the one that was chosen as positive, here or for training."""
        if self.role == "group":
            return names, None
        known = self.known
        trained = None if known is None else known.pos_label
        if self.how.pos_label is None:
            return names, trained
        both, pos_label = positive_class(self.how.pos_label, names)
        if known is not None:
            tasks, _ = task_names(known.names, trained)
            if tasks != (pos_label,):
                raise InputError(
                    "{pos_label} is {seen!r}, but the positive class of the training labels is "
                    "{trained!r}. Pass the same {pos_label} to both.",
                    seen=pos_label,
                    trained=tasks[0],
                )
        return both, pos_label

    def _check_number(self, n: int, rows: Array) -> None:
        """Raise if there are more groups than people mean; classes may be many."""

    def class_scores(self, pred: Parameter, names: Names, pos_label: Hashable) -> Array:
        """Return predictions of one label's classes with a column for each class.

        One column is of the positive class: `pos_label`, or the last.
        """
        matrix, what = pred.matrix, "classes" if self.role == "task" else "groups"
        assert matrix is not None
        n = matrix.shape[1]
        if n == 1 and len(names) == 1:
            raise InputError(
                "{name} holds probabilities, of an unknown class: the labels are all {label!r}. "
                "Pass labels, or fit on labels that have both classes.",
                name=pred.name,
                label=names[0],
            )
        if n == 1 and len(names) == 2:
            positive = matrix.astype(float)
            if self.how.scores:
                return positive
            both = [1.0 - positive, positive]
            return np.hstack(both[::-1] if pos_label == names[0] else both)
        if n != len(names):
            raise InputError(
                "{name} has {seen} but there are {what}. Pass labels, or probabilities with one "
                "column for each of them in sorted order.",
                name=pred.name,
                seen="one column of probabilities" if n == 1 else f"{n} columns",
                what=f"{len(names)} {what} ({quote(names)})",
            )
        positions = positions_of(names, pred.titles, pred.name, what, listed=self.how.listed)
        matrix = matrix if positions is None else matrix[:, positions]
        wrong = np.abs(matrix.sum(axis=1) - 1) > 0.01  # more than half precision rounds
        if wrong.any() and not self.how.scores:
            raise InputError(
                "{name} has a column for each of {what}, so each row must sum to 1; one sums to "
                "{seen:.6g}. Apply a softmax, or pass labels.",
                name=pred.name,
                what=f"{len(names)} {what}",
                seen=matrix[wrong][0].sum(),
            )
        return matrix


class DistinctTexts(Classes):
    """Reads texts: each distinct text is a class."""

    spelling = False

    def _read(self, name: str, value: Any) -> Parameter:
        return Parameter(name, [text_column(value, name)])


_KEEP_OR_DROP = (
    "Leave these rows out ({missing='drop'}), or keep them as a group of their own "
    "({missing='group'}). {skbiasamp.audit(missing='bounds')} says what they could change."
)


class Groups(Classes):
    """Reads sensitive features: groups are the values of a column, or those of several together."""

    def _read(self, name: str, value: Any) -> Parameter:
        titles = tuple(title for title, _ in columns_of(value))
        n = len(self.label.titles) if self.parameters else len(titles)
        if n == 1:
            read = super()._read(name, as_column(value))
            read.titles = read.titles if self.parameters else titles
            return read
        if len(titles) != n:
            raise columns_differ(self.label, name, len(titles))
        parameter = Parameter(name, titles=titles)
        for i, (_, values) in enumerate(columns_of(value)):
            role = parameter.role(i)
            column = need_classes(encode(values, role), role)
            if self.how.missing == "error":
                no_missing(column, role, _KEEP_OR_DROP)
            parameter.columns.append(column)
        if self.parameters:
            check_columns(titles, self.label.titles, name, self.label.name)
        return parameter

    def sides(self, weight: Array, rows: Array) -> tuple[Side, Side | None]:
        titles, known = self.label.titles, self.known
        for parameter in self.parameters:
            if len(parameter.labels) > 1:
                parameter.labels = [_combined(parameter.labels)]
        if self.how.min_rows is not None:
            self._merge_rare(self.how.min_rows, rows)
        # The combinations of two 0/1 columns in another order look the same.
        if known is not None and len(titles) == len(known.columns) and titles != known.columns:
            check_same_columns(titles, known.columns)
            check_columns(titles, known.columns, self.label.name, "the training data")
        return super().sides(weight, rows)

    def _merge_rare(self, fewest: int, rows: Array) -> None:
        """Give groups of few rows one name, as training has it if that merged some."""
        codes, values = self.label.labels[0]
        n = np.bincount(codes, rows, minlength=len(values))
        known = () if self.known is None else self.known.names
        other = next((name for name in known if _is_other(name)), None)
        few = (value for value, m in zip(values, n, strict=True) if other or m < fewest)
        rare = {value for value in few if value not in known}
        if other is None and len(rare) < 2:
            return
        if other is None:
            name = f"other ({len(rare)} groups)"
            width = len(self.label.titles)
            other = (name,) * width if width > 1 else name
        for parameter in self.parameters:
            if parameter.labels:
                codes, own = parameter.labels[0]
                parameter.labels[0] = codes, tuple(other if v in rare else v for v in own)

    def _known_classes(self) -> Names | None:
        return None if self.known is None else self.known.names

    def _check_number(self, n: int, rows: Array) -> None:
        if self.known is None:
            check_group_limit(n, rows.sum(), self.how.max_groups, len(self.label.titles))


class MarginalGroups(Groups):
    """Reads several sensitive features whose groups stand side by side."""

    def sides(self, weight: Array, rows: Array) -> tuple[Side, Side | None]:
        for parameter in self.parameters:
            columns = zip(self.label.titles, parameter.labels, strict=True)
            parameter.labels = [
                (codes, tuple(f"{title}={value}" for value in values))
                for title, (codes, values) in columns
            ]
            groups = tuple(group for _, values in parameter.labels for group in values)
            check_distinct(groups, parameter.name)
        names: Names = ()
        for i in range(len(self.label.titles)):
            sides_by_name = {p.name: p.labels[i] for p in self.parameters}
            names += align(sides_by_name, None, "group")
        self._check_number(len(names), rows)
        if self.known is not None:
            known = self.known.names
            if set(names).isdisjoint(known):
                check_known(names, known, role="group")
            names = (*known, *(name for name in names if name not in known))
        sides = []
        for parameter in self.parameters:
            matrix = np.zeros((len(weight), len(names)), dtype=bool)
            for codes, values in parameter.labels:
                matrix[np.arange(len(weight)), recode(codes, values, names)] = True
            sides.append(Side(names, Members(matrix)))
        return sides[0], sides[1] if len(sides) > 1 else None


def align(sides: dict[str, Found], known: Names | None, role: str, spelling: bool = True) -> Names:
    """Return one list of names for labels, predictions and training."""
    (first, (_, names)), *others = sides.items()
    for other, (_, other_names) in others:
        if other_names == names:
            continue
        check_kinds(sort_names(names), sort_names(other_names), first, other)
        if spelling:
            check_spelling(names, other_names, known or (), first, other)
    union = tuple(dict.fromkeys(name for _, values in sides.values() for name in values))
    if known is None:
        return sort_names(union)
    if set(union) <= set(known):
        return known
    check_kinds(known, union, "the training data", first)
    # Labels that share nothing are coded in another way, and so are predictions that no label is.
    labelled = () if set(names).isdisjoint(known) else names
    check_known(tuple(name for name in union if name not in labelled), known, role=role)
    if spelling:
        check_spelling(known, union, (), "the training data", first)
    return united([known, union])


def _is_other(name: Hashable) -> bool:
    """Whether a group was made of rare ones."""
    first = name[0] if isinstance(name, tuple) else name
    return isinstance(first, str) and bool(re.fullmatch(r"other \(\d+ groups\)", first))


def _combined(labels: list[Found]) -> Found:
    """Return the combinations of several columns' values that occur, as tuples."""
    stacked = np.stack([codes for codes, _ in labels], axis=1)
    _, first, codes = np.unique(as_integers(stacked), return_index=True, return_inverse=True)
    names = tuple(
        tuple(values[i] for i, (_, values) in zip(row, labels, strict=True))
        for row in stacked[first]
    )
    return codes, names


def _of_floats(parameter: Parameter) -> bool:
    """Whether a column of one label has nothing but the floats 0.0 and 1.0."""
    if not parameter.labels:
        return False
    return parameter.columns[0].floats and {0, 1}.issuperset(parameter.labels[0][1])


def are_many_numbers(column: Column) -> bool:
    """Whether labels are numbers with more values than a binary label has."""
    present = (column.values[i] for i in pd.unique(column.positions()))
    values = [value for value in present if value is not None]
    return len(values) > 2 and not any(isinstance(v, str | tuple) for v in values)
