"""Group and tasks of every row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from skbiasamp._input.checks import Array, Names, check_known, require_groups
from skbiasamp._input.classes import recode
from skbiasamp._input.containers import check_lengths, to_native, without_times
from skbiasamp._input.errors import InputError, InputTypeError, fewer_groups, renaming
from skbiasamp._input.labels import Rows, as_bytes, codes_of
from skbiasamp._input.rows import read_rows
from skbiasamp.compose.sensitive import check_frame

# Mitigations have no parameters `missing` and `max_groups`.
WITHOUT_POLICIES: dict[str, Any] = {
    "y_true": "y",
    "missing='drop'": "before fitting",
    "missing='group'": "called 'unknown', for example",
    "max_groups": fewer_groups,
}


@dataclass(frozen=True, eq=False)
class Memberships:
    """Rows as members of a group and of tasks.

    If rows have one label, every class is a task, also both classes of a binary label: what makes
    one of them independent of the group does not make the other so.
    """

    group: Array
    groups: Names
    member: Array  # rows × tasks, 0/1
    tasks: Names
    one_label: bool

    @cached_property
    def label_set(self) -> Array:
        """A number for each set of tasks that occurs."""
        packed = np.packbits(self.member, axis=1)
        return np.unique(as_bytes(packed), return_inverse=True)[1].reshape(-1)

    @cached_property
    def cell(self) -> Array:
        """A number for each combination of group and labels that occurs."""
        return np.unique(self.label_set * len(self.groups) + self.group, return_inverse=True)[1]

    def of_sets(self) -> tuple[Memberships, Array]:
        """Return the same rows with their sets as tasks, one a row; and the sets: sets × tasks."""
        names, sets = self.sets
        member = self.label_set[:, None] == np.arange(len(names))
        return Memberships(self.group, self.groups, member, names, one_label=True), sets

    @property
    def sets(self) -> tuple[Names, Array]:
        """The sets of tasks that occur: their names, and sets × tasks."""
        sets = self.member[np.unique(self.label_set, return_index=True)[1]]
        return tuple(
            tuple(task for task, has in zip(self.tasks, own, strict=True) if has) for own in sets
        ), sets

    def counts_of_sets(self, rows: Any = slice(None)) -> Array:
        """Return how many of some rows each group (rows) has of each set of tasks (columns).

        Without a column of members for each set: of 100,000 images most have a set of their own.
        """
        n_groups, n_sets = len(self.groups), int(self.label_set.max()) + 1
        cell = self.group[rows] * n_sets + self.label_set[rows]
        return np.bincount(cell, minlength=n_groups * n_sets).reshape(n_groups, n_sets)

    @cached_property
    def counts(self) -> Array:
        """How many rows each group (rows) has of each task (columns)."""
        return self.within(self.group) @ self.member.astype(float)

    def within(self, group: Array) -> Array:
        """Return a 0/1 row for each group: its members."""
        return (np.arange(len(self.groups))[:, None] == group).astype(float)

    def require_classes(self) -> None:
        """Raise if there is only one class to learn."""
        if self.one_label and len(self.tasks) < 2:
            raise InputError(
                "{y} has one class only, {seen!r}. Pass labels with two classes or more.",
                seen=self.tasks[0],
            )

    def require_all(self, *, why: str) -> None:
        """Raise if a group has no row of a task."""
        lacking = np.argwhere(self.counts == 0)
        if len(lacking):
            pairs = [(self.groups[a], self.tasks[t]) for a, t in lacking]
            text = (
                "There are no rows of {n} pairs of group and task, such as group {group!r} with "
                "task {task!r}: {why}"
            )
            raise InputError(text, n=len(pairs), group=pairs[0][0], task=pairs[0][1], why=why)


def check_rows(estimator: Any, X: Any, y: Any, *, allow_nd: bool = False) -> Any:
    """Return X as scikit-learn reads it; raise if it has no rows, or other rows than y.

    Text and missing values pass, and with `allow_nd` images: the next estimator may read them.
    """
    checked = checked_data(
        estimator,
        X,
        accept_sparse="csr",
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=2,
        allow_nd=allow_nd,
    )
    check_lengths({"X": range(checked.shape[0]), "y": to_native(y, "y")})
    return checked


def checked_data(estimator: Any, X: Any, *y: Any, **how: Any) -> Any:
    """Return what `validate_data` returns; its errors are errors about the input."""
    check_frame(X)
    with input_errors():
        return validate_data(estimator, without_times(X), *y, **how)


@contextmanager
def input_errors() -> Iterator[None]:
    """Make scikit-learn's errors about data errors about the input, with their texts."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            yield
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # the last one: torch
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        raise kind("{text}", text=error) from error


def as_index(names: Names) -> pd.Index:
    """Return names as an index; combinations stay single names."""
    return pd.Index(list(names), tupleize_cols=False)


def read_groups(attribute: Any, n_rows: int, known: Names) -> Array:
    """Return the groups of rows without labels, as positions among known groups."""
    own = _read(np.zeros(n_rows, int), attribute).sides["group"]
    group, names = codes_of(own), own.names
    heights = dict(zip(names, np.bincount(group, minlength=len(names)), strict=True))
    check_known(names, known, role="group", rows=heights)
    return recode(group, names, known).astype(np.intp)


def _read(y: Any, attribute: Any) -> Rows:
    # Halves are no counts, so that every row remains a cell of its own, in its place.
    n = max(len(to_native(y, "y")), 1)
    with renaming(WITHOUT_POLICIES):
        return read_rows(y, sensitive_features=attribute, sample_weight=np.full(n, 0.5))


def read_pairs(y: Any, attribute: Any) -> Memberships:
    """Read labels and sensitive feature, row by row."""
    sides = _read(y, attribute).sides
    task, groups = sides["task"], sides["group"].names
    group = codes_of(sides["group"]).astype(np.intp)  # they may be too narrow for products
    n = len(group)
    require_groups(groups, np.bincount(group, minlength=len(groups)), n, declared=False)
    member = task.labels.dense(slice(None), bool)
    return Memberships(group, groups, member, task.names, not task.is_matrix)
