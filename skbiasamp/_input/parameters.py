"""How labels are read, and a parameter of a call as it was read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbiasamp._input.checks import (
    GROUPS,
    MISSING,
    MISSING_POLICIES,
    Array,
    NamedMissing,
    Names,
    check_count,
    check_option,
    check_threshold,
)
from skbiasamp._input.classes import check_no_texts, check_one_kind
from skbiasamp._input.coding import Column, of_floats
from skbiasamp._input.containers import columns_of, is_table
from skbiasamp._input.errors import InputError, Role
from skbiasamp._input.labels import Side
from skbiasamp._input.sentences import FEW_TEXTS

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

    `titles` are the names of its columns, `floats` is whether a matrix came as floats. `labels`
    are the codes of the distinct rows, for each column of classes.
    """

    name: str
    columns: list[Column] = field(default_factory=list)
    matrix: Array | None = None
    titles: Names = ()
    floats: bool = False
    labels: list[Found] = field(default_factory=list)

    @classmethod
    def of_matrix(cls, name: str, matrix: Array, value: Any) -> Parameter:
        """Return numbers that were read from a column or a table."""
        titles = tuple(title for title, _ in columns_of(value)) if is_table(value) else (name,)
        return cls(name, matrix=matrix, titles=titles, floats=of_floats(value))

    def role(self, i: int) -> Role:
        """Return what errors call a column."""
        return Role(self.name, f" column {self.titles[i]!r}" if len(self.titles) > 1 else "")

    def check_labels(self, rows: Array, *, classes: bool) -> None:
        """Raise if values look alike, or few are classes, and name those that are missing."""
        for i, (codes, values) in enumerate(self.labels):
            check_one_kind(values, codes, self.role(i), rows)
            if classes and len(values) > FEW_TEXTS:
                check_no_texts(values, rows.sum(), self.name)
            if None in values or MISSING in values:
                named: dict[Hashable, str] = {None: MISSING, MISSING: NamedMissing(MISSING)}
                self.labels[i] = codes, tuple(named.get(value, value) for value in values)
