"""Codes to sides: groups and tasks of labels and predictions, on one list of names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skbiasamp._input.checks import (
    MISSING,
    Array,
    NamedMissing,
    Names,
    check_columns,
    check_distinct,
    check_group_limit,
    check_kinds,
    check_known,
    check_same_columns,
    check_spelling,
)
from skbiasamp._input.classes import (
    FEW_TEXTS,
    are_probabilities,
    check_no_texts,
    kinds_alike,
    mixed_kinds,
    no_positive_class,
    positive_class,
    recode,
    sort_names,
    task_names,
    whole_classes,
)
from skbiasamp._input.coding import Column
from skbiasamp._input.errors import InputError, Role, quote
from skbiasamp._input.labels import Codes, Members, Side


@dataclass(frozen=True, eq=False)
class How:
    """How one call's inputs are read: see `read_rows`."""

    groups: str
    missing: str
    like: tuple[Side, Side] | None
    scores: bool
    pos_label: Any
    max_groups: float | None
    texts: bool
    numbers: bool
    threshold: float | None = None
    embedding: bool = False


@dataclass(eq=False)
class Coded:
    """One call's inputs: columns of classes as codes, all else as matrices with a row for each row.

    Keys are the names of parameters; of sensitive features, with the position of their column:
    "sensitive_features 0". The weights and clusters of rows are in `matrices` too, since they go
    where the rows go.
    """

    columns: dict[str, Column]
    matrices: dict[str, Array]
    titles: dict[str, list[Hashable]]  # names of columns
    floats: set[str]  # matrices that came as floats


def columns_differ(name: str, other: str, n: int, m: int) -> InputError:
    """Return the error that a prediction has not as many columns as its label."""
    had = "is one column" if m == 1 else f"has {m}"
    text = "{name} has {n} columns but {other} {had}. Predict every column, in the same order."
    return InputError(text, name=name, other=other, n=n, had=had)


@dataclass(frozen=True, eq=False)
class Sides:
    """Coded inputs brought onto one list of groups and one of tasks."""

    coded: Coded
    how: How
    weight: Array

    @property
    def rows(self) -> Array:
        """How many rows of the data each row is, as far as this is known."""
        if np.array_equal(self.weight, np.rint(self.weight)):
            return self.weight
        return self.coded.matrices.get("repeats", np.ones(len(self.weight)))

    def check_missing_names(self, positions: dict[str, Array]) -> None:
        """Raise if a real group has the name that missing values get, here or in other rows."""
        held: dict[str, set[Any]] = {}
        for key, codes in positions.items():
            role, _, column = key.rpartition(" ")
            if role.startswith("sensitive"):
                used = np.flatnonzero(np.bincount(codes))
                held.setdefault(column, set()).update(
                    self.coded.columns[key].values[i] for i in used
                )
        for i, values in enumerate(held.values()):
            trained = self.how.like is not None and any(
                isinstance(_part(name, i), NamedMissing) for name in self.how.like[0].names
            )
            if None not in values or not (trained or MISSING in values):
                continue
            where = "the training data a group" if trained else "a group"
            raise InputError(
                "{sensitive_features} has missing values and {where} named {seen!r}, and with "
                "{missing='group'} both would be one group. Rename that group.",
                where=where,
                seen=MISSING,
            )

    def present(self, key: str, codes: Array) -> tuple[Array, Names]:
        """Return codes into the values that occur, and these values, which are of one kind."""
        column = self.coded.columns[key]
        used = np.flatnonzero(np.bincount(codes, minlength=len(column.values)))
        present = [column.values[i] for i in used]
        gaps = used[-1] - used[0] >= len(used)
        codes = np.searchsorted(used, codes) if gaps else codes - used[0]
        if alike := kinds_alike(present):
            raise mixed_kinds(present, alike, np.bincount(codes, self.rows), self._role(key))
        # Classes of training are classes, however many.
        classes = len(present) > FEW_TEXTS and not (self.how.texts or self.how.like)
        if classes and key in ("y_true", "y_pred"):
            check_no_texts(present, self.rows.sum(), key)
        if None in present or MISSING in present:
            named = {None: MISSING, MISSING: NamedMissing(MISSING)}
            present = [named.get(value, value) for value in present]
        return codes, tuple(present)

    def _role(self, key: str) -> Role:
        """Return what errors call a column."""
        name, _, position = key.partition(" ")
        titles = self.coded.titles.get(name, ())
        return Role(name, f" column {titles[int(position)]!r}" if len(titles) > 1 else "")

    def task_sides(self, labels: dict[str, tuple[Array, Names]]) -> tuple[Side, Side | None]:
        known = self.how.like[1] if self.how.like else None
        if "y_true" in self.coded.matrices:
            if self.how.pos_label is not None:
                truth = self.coded.matrices["y_true"]
                seen = "is continuous" if truth.dtype.kind == "f" else "is an indicator matrix"
                raise no_positive_class(seen)
            return self._indicator_sides("y_true", "y_pred", "task", known)
        if known is not None and not known.one_label:
            raise InputError(
                "{y_true} is one column of labels, but the training labels had {n} indicator "
                "columns. Pass the same kind of labels to both.",
                n=len(known.names),
            )
        found: dict[str, tuple[Array, Names]] = {
            name: labels[name] for name in ("y_true", "y_pred") if name in labels
        }
        trained = None if known is None else whole_classes(known.names)
        if self.how.threshold is not None and "y_pred" in found:
            above, decisions = found["y_pred"]
            named = self._decided(trained or found["y_true"][1], known)
            found["y_pred"] = above, tuple(named[one] for one in decisions)
        soft = self._certain(found, trained, "y_true", "y_pred")
        aligned, recoded = self._align(found, trained, "task")
        names, pos_label = self._positive(aligned, known)  # with the positive class, if it is new
        coded = {
            key: Codes(recode(codes, aligned, names), len(names)) for key, codes in recoded.items()
        }
        floats = self._column("y_true").floats
        task = Side(names, coded["y_true"], one_label=True, pos_label=pos_label, floats=floats)
        if "y_pred" in coded:
            floats = self._of_floats("y_pred", found["y_pred"][1])
            return task, Side(names, coded["y_pred"], one_label=True, floats=floats)
        matrix = self.coded.matrices.get("y_pred", soft)
        if matrix is None:
            return task, None
        if matrix.shape[1] <= 2:
            # Both classes of a label that happens to be constant have a column.
            names = whole_classes(names)
            task = task.onto(names)
        if self._is_embedding("y_pred", task):
            return task, None
        matrix = self._class_matrix(matrix, names, "y_pred", "classes", pos_label)
        floats = "y_pred" in self.coded.floats
        return task, Side(names, Members(matrix), one_label=True, floats=floats)

    def predicted_side(self, labels: dict[str, tuple[Array, Names]]) -> Side:
        """Return predictions without labels: classes are those of training, or else their own."""
        known = self.how.like[1] if self.how.like else None
        matrix = self.coded.matrices.get("y_pred")
        trained = whole_classes(known.names) if known is not None and known.one_label else None
        if matrix is not None and trained is None:
            if "y_pred" not in self.coded.titles:
                raise InputError(
                    "{y_pred} holds probabilities, of an unknown class, since there are no labels: "
                    "pass predicted labels, or fit on labels that have both classes."
                )
            if self.how.pos_label is not None:
                raise no_positive_class("is None, and {y_pred} an indicator matrix")
            return self._indicator_sides("y_pred", "", "task", known)[0]
        if known is not None and trained is None:
            raise InputError(
                "{y_pred} is one column of labels, but the training labels had {n} indicator "
                "columns. Pass a prediction for each of them.",
                n=len(known.names),
            )
        found = {name: one for name, one in labels.items() if name == "y_pred"}
        if found and self.how.threshold is not None:
            codes, decisions = found["y_pred"]
            decided = self._decided(trained or (0, 1), known)
            found["y_pred"] = codes, tuple(decided[one] for one in decisions)
        soft = self._certain(found, trained, "y_pred", "y_pred")
        matrix = soft if matrix is None else matrix
        if matrix is not None:
            assert trained is not None  # else floats are classes
            names, pos_label = self._positive(trained, known)
            matrix = self._class_matrix(matrix, names, "y_pred", "classes", pos_label)
            floats = "y_pred" in self.coded.floats
            members = Members(matrix)
            return Side(names, members, one_label=True, pos_label=pos_label, floats=floats)
        floats = self._of_floats("y_pred", found["y_pred"][1])
        aligned, recoded = self._align(found, trained, "task")
        names, pos_label = self._positive(aligned, known)
        own = Codes(recode(recoded["y_pred"], aligned, names), len(names))
        return Side(names, own, one_label=True, pos_label=pos_label, floats=floats)

    def _decided(self, classes: Names, known: Side | None) -> dict[Hashable, Hashable]:
        """Return the class of scores below the threshold, and that of the others."""
        names, chosen = self._positive(sort_names(classes), known)
        whole = whole_classes(names)
        if len(whole) != 2:
            raise InputError(
                "{threshold} turns scores into two classes, and {y_true} has {n} ({classes}). Pass "
                "predicted labels.",
                n=len(whole),
                classes=quote(whole),
            )
        negative, positive = whole if chosen in (None, whole[1]) else whole[::-1]
        return {False: negative, True: positive}

    def _is_embedding(self, name: str, task: Side) -> bool:
        """Whether predictions are other numbers than scores of the classes, and may be."""
        allowed = self.how.embedding and name == "y_pred" and "y_score" not in self.coded.matrices
        return allowed and name in self.coded.matrices and not self._fits(name, task)

    def _fits(self, name: str, task: Side) -> bool:
        """Whether numbers have a column for each class or task, or one for two classes."""
        width, n = self.coded.matrices[name].shape[1], len(task.names)
        return width == n or (task.one_label and (width, n) == (1, 2))

    def score_side(self, task: Side) -> Side | None:
        """Return scores that stand beside predictions, or in place of them as an embedding does."""
        name = "y_pred" if self._is_embedding("y_pred", task) else "y_score"
        matrix = self.coded.matrices.get(name)
        if matrix is None:
            return None
        if not self._fits(name, task):
            return Side(tuple(self.coded.titles[name]), Members(matrix), open=False)
        if task.one_label:
            matrix = self._class_matrix(matrix, task.names, name, "classes", task.pos_label)
        return Side(task.names, Members(matrix), one_label=task.one_label, open=task.open)

    def _of_floats(self, name: str, values: Names) -> bool:
        """Whether a column of one label has nothing but the floats 0.0 and 1.0."""
        return self._column(name).floats and {0, 1}.issuperset(values)

    def _column(self, name: str) -> Column:
        """Return a column of labels, or the first of sensitive features."""
        return self.coded.columns.get(name) or self.coded.columns[f"{name} 0"]

    def _certain(
        self, found: dict[str, tuple[Array, Names]], known: Names | None, label: str, name: str
    ) -> Array | None:
        """Take floats 0.0 and 1.0 out of what was found, if they are probabilities."""
        if name not in found or not self._of_floats(name, found[name][1]):
            return None
        classes, positive = known or sort_names(found[label][1]), None
        if self.how.scores and len(classes) > 2:
            return None  # attackers know more classes by their numbers
        if name == "y_pred":
            classes, positive = self._positive(classes, self.how.like and self.how.like[1])
        codes, values = found[name]
        own = label == name and known is None
        if not are_probabilities(values, None if own else classes, positive, name):
            return None
        del found[name]
        return np.array(values, dtype=float)[codes, None]

    def _positive(self, names: Names, known: Side | None) -> tuple[Names, Hashable]:
        """Return the classes and the one that was chosen as positive, here or for training."""
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

    def _class_matrix(
        self, matrix: Array, names: Names, argument: str, what: str, pos_label: Hashable = None
    ) -> Array:
        """Return predictions of one label's classes with a column for each class.

        One column is of the positive class: `pos_label`, or the last.
        """
        if matrix.shape[1] == 1 and len(names) == 1:
            raise InputError(
                "{name} holds probabilities, of an unknown class: the labels are all {label!r}. "
                "Pass labels, or fit on labels that have both classes.",
                name=argument,
                label=names[0],
            )
        if matrix.shape[1] == 1 and len(names) == 2:
            positive = matrix.astype(float)
            if self.how.scores:
                return positive
            both = [1.0 - positive, positive]
            return np.hstack(both[::-1] if pos_label == names[0] else both)
        if matrix.shape[1] != len(names):
            n = matrix.shape[1]
            raise InputError(
                "{name} has {seen} but there are {what}. Pass labels, or probabilities with one "
                "column for each of them in sorted order.",
                name=argument,
                seen="one column of probabilities" if n == 1 else f"{n} columns",
                what=f"{len(names)} {what} ({quote(names)})",
            )
        columns = tuple(self.coded.titles.get(argument, ()))
        check_columns(columns, names, argument, what)
        wrong = np.abs(matrix.sum(axis=1) - 1) > 0.01  # more than half precision rounds
        if wrong.any() and not self.how.scores:
            raise InputError(
                "{name} has a column for each of {what}, so each row must sum to 1; one sums to "
                "{seen:.6g}. Apply a softmax, or pass labels.",
                name=argument,
                what=f"{len(names)} {what}",
                seen=matrix[wrong][0].sum(),
            )
        return matrix

    def _indicator_sides(
        self, name: str, other: str, role: str, known: Side | None
    ) -> tuple[Side, Side | None]:
        """Return 0/1 columns, and their predictions if there are any."""
        names = tuple(self.coded.titles[name])
        n = len(names)
        if known is not None:
            if known.one_label or len(known.names) != n:
                raise InputError(
                    "{name} has {n} columns but the training labels had {had}. Pass the same "
                    "{role}s to both.",
                    name=name,
                    n=n,
                    had="one column" if known.one_label else f"{len(known.names)} columns",
                    role=role,
                )
            check_columns(names, known.names, name, "the training data")
            if tuple(range(n)) not in (names, known.names):  # both have names
                check_known(names, known.names, role=role)
            names = known.names
        floats = [one in self.coded.floats for one in (name, other)]
        side = Side(names, Members(self.coded.matrices[name]), open=False, floats=floats[0])
        if other not in self.coded.matrices:
            return side, None
        matrix = self.coded.matrices[other]
        if self._is_embedding(other, side):
            return side, None
        if matrix.shape[1] != n:
            raise columns_differ(name, other, n, matrix.shape[1])
        check_columns(tuple(self.coded.titles[other]), names, other, name)
        return side, Side(names, Members(matrix), open=False, floats=floats[1])

    def group_sides(self, labels: dict[str, tuple[Array, Names]]) -> tuple[Side, Side | None]:
        like = self.how.like[0] if self.how.like else None
        if self.how.groups == "indicator":
            return self._indicator_sides("sensitive_features", "sensitive_pred", "group", like)
        known = None if like is None else like.names
        arguments = ("sensitive_features", "sensitive_pred")
        found: dict[str, list[tuple[Array, Names]]] = {}
        for name in arguments:
            columns = [labels[key] for key in labels if key.rpartition(" ")[0] == name]
            if columns:
                found[name] = columns
        if self.how.groups == "marginal" and len(found["sensitive_features"]) > 1:
            return self._marginal_groups(found, known)
        if "sensitive_features" in self.coded.matrices:
            sides = [
                Side(("sensitive_features",), Members(self.coded.matrices[name]), open=False)
                for name in arguments
                if name in self.coded.matrices
            ]
            return sides[0], sides[1] if len(sides) > 1 else None
        combined: dict[str, tuple[Array, Names]] = {
            name: _combine(columns) for name, columns in found.items()
        }
        # Of two 0/1 columns in another order the combinations look the same.
        titles = tuple(self.coded.titles["sensitive_features"])
        if self.how.like and len(titles) == len(self.how.like[0].columns):
            trained = self.how.like[0].columns
            check_same_columns(titles, trained)
            check_columns(titles, trained, "sensitive_features", "the training data")
        soft = self._certain(combined, known, *arguments)
        names, recoded = self._align(combined, known, "group")
        self._check_groups(names)
        coded = {key: Codes(codes, len(names)) for key, codes in recoded.items()}
        floats = self._column("sensitive_features").floats
        group = Side(names, coded["sensitive_features"], columns=titles, floats=floats)
        if "sensitive_pred" in coded:
            floats = self._of_floats("sensitive_pred", combined["sensitive_pred"][1])
            return group, Side(names, coded["sensitive_pred"], floats=floats)
        matrix = self.coded.matrices.get("sensitive_pred", soft)
        if matrix is None:
            return group, None
        matrix = self._class_matrix(matrix, names, "sensitive_pred", "groups")
        return group, Side(names, Members(matrix), floats="sensitive_pred" in self.coded.floats)

    def _check_groups(self, names: Names) -> None:
        """Raise if an identifier was taken for groups; those of training may be any."""
        if self.how.like is not None or self.how.max_groups == np.inf:
            return
        n_columns = len(self.coded.titles["sensitive_features"])
        check_group_limit(len(names), self.rows.sum(), self.how.max_groups, n_columns)

    def _marginal_groups(
        self,
        found: dict[str, list[tuple[Array, Names]]],
        known: Names | None,
    ) -> tuple[Side, Side | None]:
        titles = self.coded.titles["sensitive_features"]
        named = {
            name: [
                (codes, tuple(f"{title}={value}" for value in values))
                for title, (codes, values) in zip(titles, columns, strict=True)
            ]
            for name, columns in found.items()
        }
        for name, columns in named.items():
            check_distinct(tuple(group for _, values in columns for group in values), name)
        parts = [
            self._align({name: cols[i] for name, cols in named.items()}, None, "group")
            for i in range(len(titles))
        ]
        names = tuple(name for part, _ in parts for name in part)
        self._check_groups(names)
        if known is not None:
            check_known(names, known, role="group")
            names = known
        sides = []
        for name in found:
            matrix = np.zeros((len(self.weight), len(names)), dtype=bool)
            for part, recoded in parts:
                at = recode(np.arange(len(part)), part, names)
                matrix[np.arange(len(self.weight)), at[recoded[name]]] = True
            sides.append(Side(names, Members(matrix)))
        return sides[0], sides[1] if len(sides) > 1 else None

    def _align(
        self,
        found: dict[str, tuple[Array, Names]],
        known: Names | None,
        role: str,
    ) -> tuple[Names, dict[str, Array]]:
        """Bring labels and predictions onto one list of names, the fitted one if there is one."""
        (first, (_, names)), *others = found.items()
        for other, (_, other_names) in others:
            if other_names == names:
                continue
            check_kinds(names, other_names, first, other)
            if not (self.how.texts and role == "task"):  # texts that are spelt alike are two texts
                check_spelling(names, other_names, known or (), first, other)
        union = tuple(dict.fromkeys(name for _, values in found.values() for name in values))
        if known is None:
            known = sort_names(union)
        else:
            check_kinds(known, union, "the training data", first)
            rows: dict[Hashable, float] = {}
            for codes, values in found.values():
                totals = np.bincount(codes, self.weight, minlength=len(values))
                for name, n in zip(values, totals, strict=True):
                    # A label and its prediction are in the same rows: these count once.
                    rows[name] = max(rows.get(name, 0.0), float(n))
            check_known(union, known, role=role, rows=rows)
        return known, {key: recode(codes, values, known) for key, (codes, values) in found.items()}


def _part(name: Any, column: int) -> Any:
    """Return the value of one column of a combination."""
    return name[column] if isinstance(name, tuple) and column < len(name) else name


def _combine(columns: list[tuple[Array, Names]]) -> tuple[Array, Names]:
    """Return the combinations of several columns' values that occur, as tuples."""
    if len(columns) == 1:
        return columns[0]
    stacked = np.stack([codes for codes, _ in columns], axis=1)
    distinct, codes = np.unique(stacked, axis=0, return_inverse=True)
    names = tuple(
        tuple(values[i] for i, (_, values) in zip(row, columns, strict=True)) for row in distinct
    )
    return codes.reshape(-1), names
