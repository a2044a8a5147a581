"""From inputs to sides: what is missing, which values are groups, which are classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbiasamp._labels._coding import (
    Column,
    Continuous,
    as_numbers,
    encode,
    finite,
    indicator,
    need_classes,
    no_missing,
    probabilities,
    read_weight,
    tally,
)
from skbiasamp._labels._containers import (
    as_column,
    check_index,
    check_lengths,
    check_shapes,
    columns_of,
    is_table,
    to_native,
)
from skbiasamp._labels._errors import (
    GROUPS,
    MISSING,
    MISSING_POLICIES,
    Array,
    Names,
    check_columns,
    check_distinct,
    check_kinds,
    check_known,
    check_option,
    check_spelling,
    kind_of,
    plain,
    quote,
    spelt,
)
from skbiasamp._labels._sides import Codes, Members, Rows, Side


def sort_names(names: Iterable[Hashable]) -> Names:
    """Sort names; of mixed types by type first."""
    names = set(names)
    try:
        return tuple(sorted(names))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(names, key=lambda name: (type(name).__name__, str(name))))


def whole_classes(classes: Names) -> Names:
    """Return both classes of a binary label that happens to be constant, else the classes."""
    if classes == (-1,):
        return (-1, 1)
    if len(classes) == 1 and classes[0] in (0, 1):
        return tuple(type(classes[0])(i) for i in (0, 1))
    return classes


def positive_class(pos_label: Any, classes: Names) -> tuple[Names, Hashable]:
    """Return the classes of a binary label and which of them `pos_label` names.

    Text names a number or a truth value that is written so: files and commands know no types.
    """
    whole = whole_classes(classes)
    if len(whole) > 2:
        raise ValueError(
            "pos_label names the positive class of a binary label, and y_true has "
            f"{len(whole)} classes ({quote(whole)}), each a task of its own. Leave pos_label out."
        )
    wanted = plain(pos_label)
    found = [name for name in whole if name == wanted]
    if not found and isinstance(wanted, str):
        written = (name for name in whole if not isinstance(name, str))
        found = [name for name in written if spelt(name) == spelt(wanted)]
    if not found and len(whole) == 1 and kind_of(wanted) == kind_of(whole[0]):
        # A label that happens to be constant, in one of many chunks for example.
        found, whole = [wanted], sort_names((*whole, wanted))
    if not found:
        raise ValueError(
            f"pos_label must be one of the classes of y_true, {quote(whole)}. Got {wanted!r} "
            "instead."
        )
    return (classes if found[0] in classes else whole), found[0]


def no_positive_class(seen: str) -> ValueError:
    """Return the error for a positive class of labels that are not one column of classes."""
    return ValueError(
        f"pos_label names the positive class of a binary label in one column, and y_true {seen}. "
        "Leave pos_label out."
    )


def task_names(classes: Names, pos_label: Hashable = None) -> tuple[Names, list[int | None]]:
    """Return the tasks of a 1-D label, and for each its position among the classes.

    Two classes are one task, the positive class: `pos_label`, or the greater. A lone 0 or False,
    1 or True is a binary label that happens to be constant.
    """
    if pos_label is not None:
        return (pos_label,), [classes.index(pos_label)]
    if len(classes) == 2:
        return classes[1:], [1]
    whole = whole_classes(classes)
    if whole != classes:
        return whole[1:], [0 if classes == whole[1:] else None]
    return classes, list(range(len(classes)))


def recode(codes: Array, names: Names, onto: Names) -> Array:
    """Return codes into `names` as codes into `onto`, which holds them all."""
    position = {name: i for i, name in enumerate(onto)}
    # The last one is for code -1, which is none of the names and stays so.
    return np.array([*(position[name] for name in names), -1], dtype=np.intp)[codes]


@dataclass(eq=False)
class _Reader:
    """One call's inputs, step by step from containers to sides."""

    given: dict[str, Any]
    groups: str
    missing: str
    like: tuple[Side, Side] | None
    scores: bool
    pos_label: Any = None
    columns: dict[str, Column] = field(default_factory=dict)
    matrices: dict[str, Array] = field(default_factory=dict)
    column_names: dict[str, list[Hashable]] = field(default_factory=dict)

    def read(self, weight: Array | None) -> Rows:
        self._read_tasks()
        self._read_groups()
        fractional = weight is not None and not np.array_equal(weight, np.rint(weight))
        if self.matrices or fractional:
            n = len(next(iter(self.given.values())))
            weight = np.ones(n) if weight is None else weight
            positions = {
                key: column.raw.astype(np.intp) - column.offset
                for key, column in self.columns.items()
            }
            keep = weight > 0
            if not keep.all():
                positions, weight = {k: v[keep] for k, v in positions.items()}, weight[keep]
                self.matrices = {k: v[keep] for k, v in self.matrices.items()}
        else:
            cells, weight = tally(list(self.columns.values()), weight)
            positions = dict(zip(self.columns, cells, strict=True))
        positions, weight, n_dropped = self._drop_missing(positions, weight)
        labels = {key: self._present(key, codes) for key, codes in positions.items()}
        task, task_pred = self._task_sides(labels, weight)
        group, group_pred = self._group_sides(labels, weight)
        repeats = self.matrices.get("repeats")
        return Rows(
            weight,
            group,
            task,
            task_pred,
            group_pred,
            n_dropped,
            None if repeats is None else repeats[:, 0],
        )

    # ---- containers to codes

    def _read_tasks(self) -> None:
        y_true = as_column(self.given["y_true"])
        if is_table(y_true):
            self.matrices["y_true"] = indicator(y_true, "y_true", soft=False)
            self.column_names["y_true"] = [name for name, _ in columns_of(y_true)]
        else:
            advice = "Only labelled rows can be audited: leave these out."
            self._read_labels("y_true", y_true, advice)
        if "y_pred" in self.given:
            self._read_prediction("y_pred", "y_true")

    def _read_labels(self, name: str, value: Any, advice: str) -> None:
        """Read one column of classes, or of numbers where scores may come in."""
        column = encode(value, name)
        if self.scores and isinstance(column, Continuous):
            self._read_numbers(name, column.numbers)
            return
        column = need_classes(column, name)
        no_missing(column, name, advice)
        self.columns[name] = column

    def _read_numbers(self, name: str, numbers: Array) -> None:
        self.matrices[name] = finite(numbers, name)[:, None]
        self.column_names[name] = [name]

    def _read_prediction(self, name: str, truth: str) -> None:
        value = as_column(self.given[name])
        if is_table(value):
            self.matrices[name] = indicator(value, name, soft=True, scores=self.scores)
            self.column_names[name] = [column for column, _ in columns_of(value)]
            return
        if self.scores and self._continuous(truth):
            self._read_numbers(name, as_numbers(value, name))
            return
        if truth in self.matrices:
            raise ValueError(
                f"{truth} has {self.matrices[truth].shape[1]} columns but {name} is one column. "
                "Predict every column, in the same order."
            )
        column = encode(value, name)
        if isinstance(column, Column):
            advice = "Every audited row needs a prediction: leave these out."
            if name == "y_pred" or self.missing == "error":
                no_missing(column, name, advice)
            self.columns[name] = column
        elif self.scores and self._countable(truth):
            # Numbers that predict whole numbers: both are numbers.
            self._read_numbers(truth, as_numbers(as_column(self.given[truth]), truth))
            del self.columns[truth if truth in self.columns else f"{truth} 0"]
            self._read_numbers(name, column.numbers)
        elif self.scores:
            self._read_numbers(name, column.numbers)
        else:
            self.matrices[name] = probabilities(column.numbers, name)[:, None]

    def _continuous(self, truth: str) -> bool:
        return truth in self.matrices and self.matrices[truth].dtype.kind == "f"

    def _countable(self, truth: str) -> bool:
        """Whether labels are numbers with more values than a binary label has."""
        column = self.columns[truth if truth in self.columns else f"{truth} 0"]
        values = [value for value in column.values if value is not None]
        return len(values) > 2 and not any(isinstance(v, str | tuple) for v in values)

    def _read_groups(self) -> None:
        value = self.given["sensitive_features"]
        if self.groups == "indicator":
            table = value if is_table(value) else np.asarray(value)[:, None]
            self.matrices["sensitive_features"] = indicator(table, "sensitive_features", soft=False)
            self.column_names["sensitive_features"] = [n for n, _ in columns_of(value)]
            if "sensitive_pred" in self.given:
                value = self.given["sensitive_pred"]
                table = value if is_table(value) else np.asarray(value)[:, None]
                self.matrices["sensitive_pred"] = indicator(table, "sensitive_pred", soft=True)
                self.column_names["sensitive_pred"] = [n for n, _ in columns_of(value)]
            return
        n_columns = self._read_group_columns("sensitive_features")
        if "sensitive_pred" in self.given:
            value = self.given["sensitive_pred"]
            if n_columns == 1:
                self._read_prediction("sensitive_pred", "sensitive_features")
                if "sensitive_pred" in self.columns:
                    self.columns["sensitive_pred 0"] = self.columns.pop("sensitive_pred")
            elif not is_table(value) or value.shape[1] != n_columns:
                seen = value.shape[1] if is_table(value) else 1
                raise ValueError(
                    f"sensitive_features has {n_columns} columns but sensitive_pred has {seen}. "
                    "Pass a prediction of each column, in the same order."
                )
            else:
                self._read_group_columns("sensitive_pred")
                columns = [tuple(names) for names in self.column_names.values()][-2:]
                check_columns(columns[1], columns[0], "sensitive_pred", "sensitive_features")

    def _read_group_columns(self, name: str) -> int:
        columns = columns_of(self.given[name])
        self.column_names[name] = [column for column, _ in columns]
        for i, (label, values) in enumerate(columns):
            shown = name if len(columns) == 1 else f"{name} column {label!r}"
            if self.scores and len(columns) == 1:
                column = encode(values, shown)
                if isinstance(column, Continuous):
                    self._read_numbers(name, column.numbers)
                    break
            column = need_classes(encode(values, shown), shown)
            if self.missing == "error":
                no_missing(
                    column,
                    shown,
                    "Leave these rows out with missing='drop', or keep them as a group of their "
                    "own with missing='group'.",
                )
            self.columns[f"{name} {i}"] = column
        return len(columns)

    # ---- codes to sides

    def _drop_missing(
        self, positions: dict[str, Array], weight: Array
    ) -> tuple[dict[str, Array], Array, float]:
        if self.missing != "drop":
            return positions, weight, 0.0
        keep = np.ones(len(weight), dtype=bool)
        for key, codes in positions.items():
            if self.columns[key].missing:
                keep &= codes != 0
        if keep.all():
            return positions, weight, 0.0
        if not keep.any():
            raise ValueError(
                "sensitive_features is missing in every row: nothing is left to audit."
            )
        n_dropped = float(weight[~keep].sum())
        self.matrices = {key: matrix[keep] for key, matrix in self.matrices.items()}
        return {key: codes[keep] for key, codes in positions.items()}, weight[keep], n_dropped

    def _present(self, key: str, codes: Array) -> tuple[Array, Names]:
        """Return codes into the values that occur, and these values."""
        values = self.columns[key].values
        used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
        names = tuple(MISSING if values[i] is None else values[i] for i in used)
        return np.searchsorted(used, codes), names

    def _task_sides(
        self, labels: dict[str, tuple[Array, Names]], weight: Array
    ) -> tuple[Side, Side | None]:
        known = self.like[1] if self.like else None
        if "y_true" in self.matrices:
            if self.pos_label is not None:
                truth = self.matrices["y_true"]
                seen = "is continuous" if truth.dtype.kind == "f" else "is an indicator matrix"
                raise no_positive_class(seen)
            return self._multilabel_sides(known)
        if known is not None and not known.one_label:
            raise ValueError(
                f"y_true is one column of labels, but the training labels had {len(known.names)} "
                "indicator columns. Pass the same kind of labels to both."
            )
        found: dict[str, tuple[Array, Names]] = {
            name: labels[name] for name in ("y_true", "y_pred") if name in labels
        }
        classes = None if known is None else whole_classes(known.names)
        names, recoded = self._align(found, classes, "task", weight)
        both, pos_label = self._positive(names, known)
        recoded = {key: recode(codes, names, both) for key, codes in recoded.items()}
        names = both
        labels_of = {key: Codes(codes, len(names)) for key, codes in recoded.items()}
        task = Side(names, labels_of["y_true"], one_label=True, pos_label=pos_label)
        if "y_pred" in labels_of:
            return task, Side(names, labels_of["y_pred"], one_label=True)
        if "y_pred" not in self.matrices:
            return task, None
        matrix = self.matrices["y_pred"]
        if matrix.shape[1] <= 2:
            # Both classes of a label that happens to be constant have a column.
            names = whole_classes(names)
            task = task.onto(names)
        matrix = self._class_matrix(matrix, names, "y_pred", "classes", pos_label)
        return task, Side(names, Members(matrix), one_label=True)

    def _positive(self, names: Names, known: Side | None) -> tuple[Names, Hashable]:
        """Return the classes and the one that was chosen as positive, here or for training."""
        trained = None if known is None else known.pos_label
        if self.pos_label is None:
            return names, trained
        both, pos_label = positive_class(self.pos_label, names)
        if known is not None:
            tasks, _ = task_names(known.names, trained)
            if tasks != (pos_label,):
                raise ValueError(
                    f"pos_label is {pos_label!r}, but the positive class of the training labels is "
                    f"{tasks[0]!r}. Pass the same pos_label to both."
                )
        return both, pos_label

    def _class_matrix(
        self, matrix: Array, names: Names, argument: str, what: str, pos_label: Hashable = None
    ) -> Array:
        """Return predictions of one label's classes with a column for each class.

        One column is of the positive class: `pos_label`, or the last.
        """
        if matrix.shape[1] == 1 and len(names) == 1:
            raise ValueError(
                f"{argument} holds probabilities, of an unknown class: the labels are all "
                f"{names[0]!r}. Pass labels, or fit on labels that have both classes."
            )
        if matrix.shape[1] == 1 and len(names) == 2:
            positive = matrix.astype(float)
            if self.scores:
                return positive
            both = [1.0 - positive, positive]
            return np.hstack(both[::-1] if pos_label == names[0] else both)
        if matrix.shape[1] != len(names):
            seen = (
                "one column of probabilities"
                if matrix.shape[1] == 1
                else (f"{matrix.shape[1]} columns")
            )
            raise ValueError(
                f"{argument} has {seen} but there are {len(names)} {what} ({quote(names)}). Pass "
                "labels, or probabilities with one column for each of them in sorted order."
            )
        columns = tuple(self.column_names.get(argument, ()))
        check_columns(columns, names, argument, what)
        wrong = np.abs(matrix.sum(axis=1) - 1) > 0.01  # more than half precision rounds
        if wrong.any() and not self.scores:
            raise ValueError(
                f"{argument} has a column for each of {len(names)} {what}, so a row must sum to 1, "
                f"but one sums to {matrix[wrong][0].sum():.6g}. Apply a softmax, or pass labels."
            )
        return matrix

    def _multilabel_sides(self, known: Side | None) -> tuple[Side, Side | None]:
        names = tuple(self.column_names["y_true"])
        n = len(names)
        if known is not None:
            if known.one_label or len(known.names) != n:
                had = "one column" if known.one_label else f"{len(known.names)} columns"
                raise ValueError(
                    f"y_true has {n} columns but the training labels had {had}. Pass the same "
                    "tasks to both."
                )
            check_columns(names, known.names, "y_true", "the training data")
            unnamed = tuple(range(n))
            if unnamed not in (names, known.names):
                check_known(names, known.names, role="task")
            names = known.names
        task = Side(names, Members(self.matrices["y_true"]), open=False)
        if "y_pred" not in self.matrices:
            return task, None
        matrix = self.matrices["y_pred"]
        if matrix.shape[1] != n:
            raise ValueError(
                f"y_true has {n} columns but y_pred has {matrix.shape[1]}. Predict every column, "
                "in the same order."
            )
        check_columns(tuple(self.column_names["y_pred"]), names, "y_pred", "y_true")
        return task, Side(names, Members(matrix), open=False)

    def _group_sides(
        self, labels: dict[str, tuple[Array, Names]], weight: Array
    ) -> tuple[Side, Side | None]:
        known = self.like[0].names if self.like else None
        if self.groups == "indicator":
            return self._indicator_groups(known)
        arguments = [
            name for name in ("sensitive_features", "sensitive_pred") if name in self.given
        ]
        found: dict[str, list[tuple[Array, Names]]] = {}
        for name in arguments:
            columns = [labels[key] for key in labels if key.rpartition(" ")[0] == name]
            if columns:
                found[name] = columns
        if self.groups == "marginal" and len(found["sensitive_features"]) > 1:
            return self._marginal_groups(found, known, weight)
        if "sensitive_features" in self.matrices:
            sides = [
                Side(("sensitive_features",), Members(self.matrices[name]), open=False)
                for name in arguments
            ]
            return sides[0], sides[1] if len(sides) > 1 else None
        combined: dict[str, tuple[Array, Names]] = {
            name: _combine(columns) for name, columns in found.items()
        }
        # Of two 0/1 columns in another order the combinations look the same.
        titles = tuple(self.column_names["sensitive_features"])
        if self.like and len(titles) == len(self.like[0].columns):
            check_columns(titles, self.like[0].columns, "sensitive_features", "the training data")
        names, recoded = self._align(combined, known, "group", weight)
        coded = {key: Codes(codes, len(names)) for key, codes in recoded.items()}
        group = Side(names, coded["sensitive_features"], columns=titles)
        if "sensitive_pred" in coded:
            return group, Side(names, coded["sensitive_pred"])
        if "sensitive_pred" not in self.matrices:
            return group, None
        matrix = self.matrices["sensitive_pred"]
        matrix = self._class_matrix(matrix, names, "sensitive_pred", "groups")
        return group, Side(names, Members(matrix))

    def _indicator_groups(self, known: Names | None) -> tuple[Side, Side | None]:
        names = tuple(self.column_names["sensitive_features"])
        unnamed = tuple(range(len(names)))
        if known is not None:
            if len(known) != len(names):
                raise ValueError(
                    f"sensitive_features has {len(names)} columns but the training labels had "
                    f"{len(known)}. Pass the same groups to both."
                )
            check_columns(names, known, "sensitive_features", "the training data")
            if unnamed not in (names, known):
                check_known(names, known, role="group")
            names = known
        group = Side(names, Members(self.matrices["sensitive_features"]), open=False)
        if "sensitive_pred" not in self.matrices:
            return group, None
        matrix = self.matrices["sensitive_pred"]
        if matrix.shape[1] != len(names):
            raise ValueError(
                f"sensitive_features has {len(names)} columns but sensitive_pred has "
                f"{matrix.shape[1]}. Predict every column, in the same order."
            )
        columns = tuple(self.column_names["sensitive_pred"])
        check_columns(columns, names, "sensitive_pred", "sensitive_features")
        return group, Side(names, Members(matrix), open=False)

    def _marginal_groups(
        self,
        found: dict[str, list[tuple[Array, Names]]],
        known: Names | None,
        weight: Array,
    ) -> tuple[Side, Side | None]:
        titles = self.column_names["sensitive_features"]
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
            self._align({name: cols[i] for name, cols in named.items()}, None, "group", weight)
            for i in range(len(titles))
        ]
        names = tuple(name for part, _ in parts for name in part)
        if known is not None:
            check_known(names, known, role="group")
            names = known
        sides = []
        for name in found:
            matrix = np.zeros((len(weight), len(names)), dtype=bool)
            for part, recoded in parts:
                at = recode(np.arange(len(part)), part, names)
                matrix[np.arange(len(weight)), at[recoded[name]]] = True
            sides.append(Side(names, Members(matrix)))
        return sides[0], sides[1] if len(sides) > 1 else None

    def _align(
        self,
        found: dict[str, tuple[Array, Names]],
        known: Names | None,
        role: str,
        weight: Array,
    ) -> tuple[Names, dict[str, Array]]:
        """Bring labels and predictions onto one list of names, the fitted one if there is one."""
        (first, (_, names)), *others = found.items()
        for other, (_, other_names) in others:
            check_kinds(names, other_names, first, other)
            check_spelling(names, other_names, first, other)
        union = tuple(dict.fromkeys(name for _, values in found.values() for name in values))
        if known is None:
            known = sort_names(union)
        else:
            check_kinds(known, union, "the training data", first)
            rows: dict[Hashable, float] = {}
            for codes, values in found.values():
                totals = np.bincount(codes, weight, minlength=len(values))
                for name, n in zip(values, totals, strict=True):
                    rows[name] = max(rows.get(name, 0.0), float(n))
            check_known(union, known, role=role, rows=rows)
        return known, {key: recode(codes, values, known) for key, (codes, values) in found.items()}


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


def read_rows(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    sample_weight: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    like: tuple[Side, Side] | None = None,
    scores: bool = False,
    repeats: Array | None = None,
    pos_label: Any = None,
) -> Rows:
    """Read label rows; `like` holds the group and task sides of the training labels.

    With `scores`, labels may be numbers that are no classes, and predictions any scores. With
    `repeats`, the weight of a row is that of so many rows. `pos_label` is the positive class of a
    binary label; by default that of `like`, or the class that sorts last.
    """
    check_option("groups", groups, GROUPS)
    check_option("missing", missing, MISSING_POLICIES)
    if y_true is None:
        raise ValueError("y_true is None: pass the labels to compare the predictions with.")
    if sensitive_features is None:
        raise ValueError(
            "sensitive_features is None: pass the protected attribute of every row, for example "
            "sensitive_features=X['sex']."
        )
    given = {
        "y_true": y_true,
        "y_pred": y_pred,
        "sensitive_features": sensitive_features,
        "sensitive_pred": sensitive_pred,
    }
    native = {k: to_native(value, k) for k, value in given.items() if value is not None}
    n = check_lengths(native)
    check_shapes(native)
    check_index({**given, "sample_weight": sample_weight})
    weight = None if sample_weight is None else read_weight(sample_weight, n)
    reader = _Reader(native, groups, missing, like, scores, pos_label)
    if repeats is not None:
        reader.matrices["repeats"] = np.asarray(repeats, dtype=float)[:, None]
    return reader.read(weight)
