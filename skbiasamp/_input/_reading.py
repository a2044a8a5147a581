"""Labels as sides: which values are groups, which are classes, which class is positive."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input._checks import Array, Names, kind_of, spelt
from skbiasamp._input._errors import InputError, plain, quote


@dataclass(frozen=True, eq=False)
class Side:
    """One of A, T, T̂, Â over cells: `codes` (one label a cell) or a `matrix` of memberships.

    `open` says that the names are the values seen so far, and that other data may have others;
    indicator columns are a closed list. `one_label` says that the names are the classes of a 1-D
    label, so that two of them are one task. A matrix of floats holds probabilities, any other
    matrix holds 0 and 1. `columns` names those whose values make intersection groups. `pos_label`
    is the positive class of a binary label if one was chosen, and is among the names then.
    """

    names: Names
    codes: Array | None = None
    matrix: Array | None = None
    one_label: bool = False
    open: bool = True
    columns: Names = ()
    pos_label: Hashable = None

    @property
    def soft(self) -> bool:
        """Whether the side holds probabilities."""
        return self.matrix is not None and self.matrix.dtype.kind == "f"

    @cached_property
    def distinct_rows(self) -> tuple[Array, Array]:
        """Where each distinct row of a 0/1 matrix first is, and which one each cell has."""
        assert self.matrix is not None
        packed = as_bytes(np.packbits(self.matrix, axis=1))
        _, first, code = np.unique(packed, return_index=True, return_inverse=True)
        return first, code.reshape(-1)


def as_bytes(rows: Array) -> Array:
    """Return each row of a 2-D array as one value that can be sorted and compared."""
    rows = np.ascontiguousarray(rows)
    if rows.dtype == np.uint8 and rows.shape[1] <= 8:
        # Integers sort faster than strings of bytes.
        width = next(w for w in (1, 2, 4, 8) if w >= rows.shape[1])
        padded = np.zeros((len(rows), width), np.uint8)
        padded[:, : rows.shape[1]] = rows
        return padded.view(f"u{width}").reshape(-1)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


class Rows(NamedTuple):
    """Label rows, distinct where they can be, with their weights.

    `repeats` says how many rows each is where weights are fractional and do not tell.
    """

    weight: Array
    group: Side
    task: Side
    task_pred: Side | None
    group_pred: Side | None
    n_dropped: float
    repeats: Array | None = None


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
        raise InputError(
            "{pos_label} names the positive class of a binary label, and {y_true} has {n} classes "
            "({classes}), each a task of its own. Leave {pos_label} out.",
            n=len(whole),
            classes=quote(whole),
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
        text = (
            "{pos_label} must be one of the classes of {y_true}, {classes}. Got {seen!r} instead."
        )
        raise InputError(text, classes=quote(whole), seen=wanted)
    return (classes if found[0] in classes else whole), found[0]


def no_positive_class(seen: str) -> InputError:
    """Return the error for a positive class of labels that are not one column of classes."""
    return InputError(
        "{pos_label} names the positive class of a binary label in one column, and {y_true} "
        "{seen}. Leave {pos_label} out.",
        seen=seen,
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
