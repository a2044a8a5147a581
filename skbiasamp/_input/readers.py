"""Readers of labels and predictions: of classes, groups and texts, of 0/1 columns, of numbers.

A reader first reads each parameter as columns of codes or as a matrix, a row for each row. When the
distinct rows are counted, `sides` says what these are, and names their columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import (
    GROUPS,
    MISSING_POLICIES,
    Array,
    Names,
    check_columns,
    check_count,
    check_group_limit,
    check_kinds,
    check_known,
    check_option,
    check_same_columns,
    check_threshold,
)
from skbiasamp._input.classes import (
    are_probabilities,
    check_spelling,
    no_positive_class,
    positions_of,
    positive_class,
    recode,
    sort_names,
    task_names,
    united,
    whole_classes,
)
from skbiasamp._input.coding import (
    HOLES,
    Column,
    Continuous,
    as_numbers,
    encode,
    finite,
    indicator,
    measured,
    need_classes,
    numbers_of,
    of_floats,
    probabilities,
    refuse,
)
from skbiasamp._input.containers import as_column, columns_of
from skbiasamp._input.errors import InputError, plain, quote
from skbiasamp._input.labels import Codes, Members, Side, as_integers, narrow, ranked

Found = tuple[Array, Names]  # codes, and the values that they are positions of


@dataclass(frozen=True, eq=False)
class How:
    """How labels are read.

    `like` holds the group and task sides of the training labels. With `min_rows`, groups of fewer
    rows are one group together. With `scores`, labels may be numbers that are no classes, and
    predictions any scores; with `texts`, both must be texts, with `numbers` numbers. `pos_label` is
    the positive class of a binary label: by default that of `like`, or the class that sorts last.
    `max_groups` is how many groups may be found: None for what people mean. With a `threshold`,
    predictions are scores, and those of at least it are the positive class. Scores may have any
    columns if they are an `embedding`. Columns of a frame are `listed` in their order.
    """

    groups: str = "intersection"
    missing: str = "error"
    min_rows: int | None = None
    like: tuple[Side, Side] | None = None
    scores: bool = False
    pos_label: Any = None
    max_groups: float | None = np.inf
    texts: bool = False
    numbers: bool = False
    threshold: float | None = None
    embedding: bool = False
    listed: bool = False

    def __post_init__(self) -> None:
        check_option("groups", self.groups, GROUPS)
        check_option("missing", self.missing, MISSING_POLICIES)
        for name in ("scores", "texts", "numbers"):
            check_option(name, getattr(self, name), (True, False))
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.threshold is not None and (self.texts or self.numbers):
            text = "{threshold} turns scores into labels, and these rows hold {what}: leave it out."
            raise InputError(text, what="texts" if self.texts else "numbers")
        if self.min_rows is not None:
            check_count("min_rows", self.min_rows)
            if self.groups != "intersection":
                text = "{min_rows} is for {groups='intersection'}: leave it out."
                raise InputError(text)
        if self.max_groups is not None and self.max_groups is not np.inf:
            check_count("max_groups", self.max_groups)


@dataclass(eq=False)
class Parameter:
    """A parameter as it was read: columns of classes, or a matrix.

    `titles` are the names of its columns, `floats` is whether they came as floats. `labels` are the
    codes of the distinct rows, for each column of classes.
    """

    name: str
    columns: list[Column] = field(default_factory=list)
    matrix: Any = None
    titles: Names = ()
    floats: bool = False
    labels: list[Found] = field(default_factory=list)

    @classmethod
    def of_matrix(cls, name: str, matrix: Array, value: Any) -> Parameter:
        """Return numbers that were read from a column or a table."""
        titles = tuple(title for title, _ in columns_of(value)) if value.ndim == 2 else (name,)
        return cls(name, matrix=matrix, titles=titles, floats=of_floats(value))


class Reader:
    """Reads labels and their predictions: each parameter first, then the distinct rows.

    `label` is the first parameter: the predictions if there are no labels.
    """

    label: Parameter

    def __init__(
        self,
        values: dict[str, Any],
        how: How,
        *,
        role: str,
        columns: dict[str, Column | Continuous],
    ) -> None:
        self.how, self.role = how, role
        self._columns = columns  # those that were read to choose the reader
        self.known = None if how.like is None else how.like[role == "task"]
        self.parameters: list[Parameter] = []
        for name, value in values.items():
            self.parameters.append(self._read(name, value))
            self.label = self.parameters[0]
        self.pred = self.parameters[1] if len(self.parameters) > 1 else None

    def _read(self, name: str, value: Any) -> Parameter:
        """Read labels first, then their predictions."""
        raise NotImplementedError

    def sides(self, rows: Array) -> list[Side]:
        """Return the labels of distinct rows, then their predictions if there are any.

        `rows` is how many rows of the data each is.
        """
        raise NotImplementedError

    def is_embedding(self, side: Side) -> bool:
        """Whether predictions are other numbers than scores of the classes, and may be."""
        pred = self.pred if self.how.embedding and self.role == "task" else None
        return pred is not None and pred.matrix is not None and not _fits(pred.matrix, side)

    def scores(self, score: Parameter, side: Side) -> Side:
        """Return scores that stand beside predictions, or in place of them as an embedding does."""
        if not _fits(score.matrix, side):
            return Side(score.titles, Members(score.matrix), open=False)
        matrix = self.class_scores(score, side.names, side.pos_label)
        return Side(side.names, Members(matrix), one_label=side.one_label, open=side.open)

    def class_scores(self, score: Parameter, names: Names, pos_label: Hashable) -> Array:
        """Return scores with a column for each name."""
        return score.matrix


class Indicators(Reader):
    """Reads 0/1 columns, a task or a group each, and predictions of them or their probabilities."""

    what = "an indicator matrix"

    def _read(self, name: str, value: Any) -> Parameter:
        soft = name in ("y_pred", "sensitive_pred")
        if name == "y_pred" and self.how.threshold is not None:
            matrix = reached(value, self.how.threshold)
        elif value.ndim == 1:
            raise columns_differ(self.label, name, 1)
        else:
            scores = soft and self.how.scores and self.role == "task"
            matrix = indicator(value, name, soft=soft, scores=scores)
        return Parameter.of_matrix(name, matrix, value)

    def sides(self, rows: Array) -> list[Side]:
        if self.how.pos_label is not None and self.role == "task":
            raise no_positive_class(f"is {self.what}")
        label, pred, known = self.label, self.pred, self.known
        names, n = label.titles, len(label.titles)
        order: Any = slice(None)
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
            names, other = known.names, "columns of the training data"
            order = positions_of(names, label.titles, label.name, other, listed=self.how.listed)
        side = Side(names, Members(label.matrix[:, order]), open=False, floats=label.floats)
        if pred is None or self.is_embedding(side):
            return [side]
        if pred.matrix.shape[1] != n:
            raise columns_differ(label, pred.name, pred.matrix.shape[1])
        # Beside labels that have no names of their own, those of training count.
        named = names if label.titles == tuple(range(n)) else label.titles
        other = f"columns of {label.name}"
        of_labels = positions_of(named, pred.titles, pred.name, other, listed=self.how.listed)
        predicted = pred.matrix[:, of_labels][:, order]
        return [side, Side(names, Members(predicted), open=False, floats=pred.floats)]


class Numbers(Indicators):
    """Reads numbers that are no classes, such as prices or the scores of an attacker's target."""

    what = "continuous"

    def _read(self, name: str, value: Any) -> Parameter:
        if self.how.numbers and self.role == "task":
            titles, columns = zip(*columns_of(value), strict=True)
            if value.ndim == 1:
                # One column needs no name: it is that of training, or of the labels.
                known = () if self.known is None else self.known.names
                own = titles[0] if isinstance(titles[0], str) else "y"
                titles = known if len(known) == 1 else (own,)
            shown = [name + f" column {title!r}" * (value.ndim == 2) for title in titles]
            matrix = np.column_stack(list(map(measured, columns, shown)))
            if self.parameters and len(titles) == len(self.label.titles) == 1:
                titles = self.label.titles
            return Parameter(name, matrix=matrix, titles=tuple(titles), floats=of_floats(value))
        if value.ndim == 2 or (name == "y_pred" and self.how.threshold is not None):
            return super()._read(name, value)
        column = self._columns.get(name) or encode(value, name)
        floats = column.numbers if isinstance(column, Continuous) else value
        return Parameter.of_matrix(name, as_numbers(floats, name)[:, None], value)


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


class Classes(Reader):
    """Reads labels in one column; predictions in one too, or as probabilities of the classes.

    Without labels, classes are those of training, or else those of the predictions.
    """

    spelling = True  # labels that are spelt alike are a mistake

    def _read(self, name: str, value: Any) -> Parameter:
        if name == "y_pred" and self.how.threshold is not None:
            above = reached(value, self.how.threshold)
            n = above.shape[1]
            if n == 1:
                return Parameter(name, [Column(above[:, 0].astype(np.uint8), 0, [False, True])])
            if not self.parameters:
                return Parameter.of_matrix(name, above, value)
            raise InputError(
                "{y_pred} has {n} columns, and {threshold} is for one score a row. Pass the column "
                "of the positive class.",
                n=n,
            )
        if value.ndim == 2:
            matrix = indicator(value, name, soft=True, scores=self.how.scores)
            return Parameter.of_matrix(name, matrix, value)
        column = self._columns.get(name) or encode(value, name)
        is_label = name in ("y_true", "sensitive_features")
        if isinstance(column, Continuous) and not is_label:
            if self.how.scores:
                return Parameter.of_matrix(name, finite(column.numbers, name)[:, None], value)
            columns = self.label.columns if self.parameters else []
            numbers = probabilities(
                column.numbers, name, lambda: any(map(are_many_numbers, columns))
            )
            return Parameter.of_matrix(name, numbers[:, None], value)
        advice = "Every audited row needs a prediction: leave these out."
        if is_label:
            labelled = "Only labelled rows can be audited: leave these out."
            advice = labelled if name == "y_true" else _KEEP_OR_DROP
        if self.role == "group" and self.how.missing != "error":
            advice = ""
        column = need_classes(column, name, advice)
        titles = tuple(title for title, _ in columns_of(value))
        return Parameter(name, [column], titles=titles, floats=column.floats)

    def sides(self, rows: Array) -> list[Side]:
        label, known = self.label, None if self.known is None else self.known.names
        if self.role == "task":
            alone, trained = label.name == "y_pred", self.known
            if alone and label.matrix is not None and (trained is None or not trained.one_label):
                raise InputError(
                    "{y_pred} holds probabilities, of an unknown class, since there are no "
                    "labels: pass predicted labels, a {threshold}, or training labels that have "
                    "both classes."
                )
            if trained is not None and not trained.one_label:
                raise InputError(
                    "{name} is one column of labels, but the training labels had {n} indicator "
                    "columns. Pass {fix}.",
                    name=label.name,
                    n=len(trained.names),
                    fix="a prediction for each of them"
                    if alone
                    else "the same kind of labels to both",
                )
            known = None if known is None else whole_classes(known)
        if self.how.threshold is not None and self.role == "task":
            self._name_decisions(known)
        pred = self.parameters[-1]
        predicted = pred.name not in ("y_true", "sensitive_features") and bool(pred.labels)
        if predicted and pred.floats and {0, 1}.issuperset(pred.labels[0][1]):
            # The floats 0.0 and 1.0 may be probabilities.
            codes, values = pred.labels[0]
            classes = known or sort_names(self.label.labels[0][1])
            if len(classes) < 3 or not self.how.scores:  # attackers know more by their numbers
                classes, positive = self._positive(classes)
                own = None if pred is self.label and known is None else classes
                if are_probabilities(values, own, positive, pred.name):
                    pred.matrix = np.array(values, dtype=float)[codes, None]
                    pred.labels, pred.floats = [], False
        one_label = self.role == "task"
        coded = {p.name: p.labels[0] for p in self.parameters if p.labels}
        names = align(coded, known, self.role, self.spelling) if coded else known or ()
        if self.role == "group" and known is None:
            check_group_limit(len(names), rows.sum(), self.how.max_groups, len(label.titles))
        names, pos_label = self._positive(names)  # with the positive class, if it is new
        if any(p.matrix is not None and p.matrix.shape[1] <= 2 for p in self.parameters):
            # Both classes of a label that happens to be constant have a column.
            names = whole_classes(names) if one_label else names
        columns = () if one_label else label.titles
        sides: list[Side] = []
        for parameter in self.parameters:
            labels: Codes | Members
            floats = parameter.floats
            if parameter.labels:
                codes, values = parameter.labels[0]
                labels = Codes(recode(codes, values, names), len(names))
                if parameter.name in ("y_pred", "sensitive_pred"):
                    floats = floats and {0, 1}.issuperset(values)
            elif sides and self.is_embedding(sides[0]):
                break
            else:
                labels = Members(self.class_scores(parameter, names, pos_label))
            more: dict[str, Any] = {} if sides else {"pos_label": pos_label, "columns": columns}
            sides.append(Side(names, labels, one_label, floats=floats, **more))
        return sides

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

    def class_scores(self, pred: Parameter, names: Names, pos_label: Hashable) -> Array:
        """Return predictions of one label's classes with a column for each class.

        One column is of the positive class: `pos_label`, or the last.
        """
        matrix, what = pred.matrix, "classes" if self.role == "task" else "groups"
        n = matrix.shape[1]
        if n == 1 and len(names) == 1:
            raise InputError(
                "{name} holds probabilities, of an unknown class: the labels are all {label!r}. "
                "Pass labels, or fit on labels that have both classes.",
                name=pred.name,
                label=names[0],
            )
        if n == 1 and len(names) == 2:
            positive = matrix.astype(float, copy=False)
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
        listed = self.how.listed
        order = positions_of(names, pred.titles, pred.name, what, listed=listed, classes=True)
        matrix = matrix[:, order]
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
        if value.ndim == 2:
            text = "{name} must hold one text a row; got {n} columns."
            raise InputError(text, name=name, n=value.shape[1])
        column = encode(value, name)
        if isinstance(column, Continuous):
            text = "{name} must hold texts; got {seen!r}."
            raise InputError(text, name=name, seen=plain(column.numbers[0]))
        advice = "Pass '' if there is no text, or leave these rows out."
        need_classes(column, name, advice)
        texts = [text for text in column.values if text is not None]
        odd = [text for text in texts if not isinstance(text, str)]
        if odd:
            raise InputError("{name} must hold texts; got {seen!r}.", name=name, seen=odd[0])
        if not any(text.strip() for text in texts):
            raise InputError("{name} must hold texts; all of them are empty.", name=name)
        return Parameter(name, [column])


_KEEP_OR_DROP = (
    "Leave these rows out ({missing='drop'}), or keep them as a group of their own "
    "({missing='group'}). {skbiasamp.audit(missing='bounds')} says what they could change."
)


class Groups(Classes):
    """Reads a sensitive feature: groups are the values of its column."""

    def sides(self, rows: Array) -> list[Side]:
        titles, known = self.label.titles, self.known
        for parameter in self.parameters:
            if len(parameter.labels) > 1:  # the combinations that occur are tuples
                stacked = np.stack([codes for codes, _ in parameter.labels], axis=1)
                first, codes = ranked(as_integers(stacked), stable=True)
                of_columns = [values for _, values in parameter.labels]
                names = tuple(
                    tuple(values[i] for i, values in zip(row, of_columns, strict=True))
                    for row in stacked[first]
                )
                parameter.labels = [(narrow(codes, len(names)), names)]
        if self.how.min_rows is not None:
            self._merge_rare(self.how.min_rows, rows)
        # The combinations of two 0/1 columns in another order look the same.
        if known is not None and len(titles) == len(known.columns) and titles != known.columns:
            check_same_columns(titles, known.columns)
            check_columns(titles, known.columns, self.label.name, "the training data")
        return super().sides(rows)

    def _merge_rare(self, fewest: int, rows: Array) -> None:
        """Give groups of few rows one name, as training has it if that merged some."""
        codes, values = self.label.labels[0]
        n = np.bincount(codes, rows, minlength=len(values))
        known = () if self.known is None else self.known.names
        firsts = ((name, name[0] if isinstance(name, tuple) else name) for name in known)
        made = re.compile(r"other \(\d+ groups\)")
        other = next((name for name, first in firsts if made.fullmatch(str(first))), None)
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


class SeveralGroups(Groups):
    """Reads several sensitive features: groups are their combinations that occur."""

    def _read(self, name: str, value: Any) -> Parameter:
        parameter = Parameter(name, titles=tuple(title for title, _ in columns_of(value)))
        label = self.label if self.parameters else parameter
        if len(parameter.titles) != len(label.titles):
            raise columns_differ(label, name, len(parameter.titles))
        advice = _KEEP_OR_DROP if self.how.missing == "error" else ""
        for title, values in columns_of(value):
            column = f"{name} column {title!r}"
            parameter.columns.append(need_classes(encode(values, column), column, advice))
        parameter.floats = parameter.columns[0].floats
        if self.parameters:
            check_columns(parameter.titles, label.titles, name, label.name)
        return parameter


class MarginalGroups(SeveralGroups):
    """Reads several sensitive features whose groups stand side by side."""

    def sides(self, rows: Array) -> list[Side]:
        for parameter in self.parameters:
            columns = zip(self.label.titles, parameter.labels, strict=True)
            parameter.labels = [
                (codes, tuple(f"{title}={value}" for value in values))
                for title, (codes, values) in columns
            ]
            groups = tuple(group for _, values in parameter.labels for group in values)
            twice = [group for group, n in Counter(groups).items() if n > 1]
            if twice:
                raise InputError(
                    "{groups='marginal'} names groups column=value, and two groups of {name} would "
                    "be {twice!r}. Give columns and values distinct names.",
                    name=parameter.name,
                    twice=twice[0],
                )
        names: Names = ()
        for i in range(len(self.label.titles)):
            sides_by_name = {p.name: p.labels[i] for p in self.parameters}
            names += align(sides_by_name, None, "group")
        if self.known is None:
            check_group_limit(len(names), rows.sum(), self.how.max_groups, len(self.label.titles))
        else:
            known = self.known.names
            if set(names).isdisjoint(known):
                check_known(names, known, role="group")
            names = (*known, *(name for name in names if name not in known))
        sides = []
        for parameter in self.parameters:
            matrix = np.zeros((len(rows), len(names)), dtype=bool)
            for codes, values in parameter.labels:
                matrix[np.arange(len(rows)), recode(codes, values, names)] = True
            sides.append(Side(names, Members(matrix)))
        return sides


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


def are_many_numbers(column: Column) -> bool:
    """Whether labels are numbers with more values than a binary label has."""
    present = (column.values[i] for i in pd.unique(column.positions()))
    values = [value for value in present if value is not None]
    return len(values) > 2 and not any(isinstance(v, str | tuple) for v in values)


# --------------------------------------------------------------------------- which reader


def read_values(
    role: str, values: dict[str, Any], how: How, columns: dict[str, Column | Continuous]
) -> Reader:
    """Return labels and predictions, of tasks or of groups, with the reader that they need.

    `columns` holds what was read of them already, and takes up what has to be read to choose.
    """
    reader: type[Reader] = Classes if role == "task" else Groups
    if role == "task":
        values = {name: as_column(value) for name, value in values.items()}
        one_label = how.like is not None and how.like[1].one_label
        if how.numbers:
            reader = Numbers
        elif how.texts:
            reader = DistinctTexts
        elif next(iter(values.values())).ndim == 2:
            reader = Classes if "y_true" not in values and one_label else Indicators
        elif how.scores and _are_numbers(values, columns, decided=how.threshold is not None):
            reader = Numbers
    elif how.groups == "indicator":
        reader = Indicators
        for name, value in values.items():
            if value.ndim == 1:
                ((title, _),) = columns_of(value)
                named = isinstance(value, pd.Series)
                values[name] = pd.DataFrame({title: value}) if named else value[:, None]
    elif len(columns_of(values["sensitive_features"])) > 1:
        reader = MarginalGroups if how.groups == "marginal" else SeveralGroups
    else:
        values = {name: as_column(value) for name, value in values.items()}
        if how.scores and how.groups != "marginal" and _are_numbers(values, columns):
            # Whether training has numbers too is checked where both are counted.
            reader, how = Numbers, replace(how, like=None)
    return reader(values, how, role=role, columns=columns)


def _are_numbers(
    values: dict[str, Any], columns: dict[str, Column | Continuous], *, decided: bool = False
) -> bool:
    """Whether labels are no classes, or predictions of whole numbers are none."""
    (name, label), *rest = values.items()
    column = columns[name] = columns.get(name) or encode(label, name)
    if isinstance(column, Continuous):
        return True
    for other, pred in rest:
        if not (decided or pred.ndim == 2) and are_many_numbers(column):
            columns[other] = encode(pred, other)
    return any(isinstance(column, Continuous) for column in columns.values())
