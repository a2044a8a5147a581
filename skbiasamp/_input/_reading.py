"""Labels as sides: which values are groups, which are classes, which class is positive."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from skbiasamp._input._checks import Array, Names, kind_of_name, spelt
from skbiasamp._input._errors import InputError, plain, quote


def sort_names(names: Iterable[Hashable]) -> Names:
    """Sort names; of mixed types by type first."""
    names = set(names)
    try:
        return tuple(sorted(names))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(names, key=lambda name: (type(name).__name__, str(name))))


def united(every: Iterable[Names]) -> Names:
    """Return the names of all: in the order of the first if it has all of them, else sorted."""
    first, *others = every
    names = set(first).union(*others)
    return first if len(names) == len(first) else sort_names(names)


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
    known = isinstance(wanted, Hashable)  # arrays and frames are no class
    found = [name for name in whole if known and kind_of_name(name) == kind_of_name(wanted)]
    found = [name for name in found if name == wanted]
    if not found and isinstance(wanted, str):
        written = (name for name in whole if not isinstance(name, str))
        found = [name for name in written if spelt(name) == spelt(wanted)]
    if not found and len(whole) == 1 and kind_of_name(wanted) == kind_of_name(whole[0]):
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
    if names == onto:
        return codes
    position = {name: i for i, name in enumerate(onto)}
    # The last one is for code -1, which is none of the names and stays so.
    return np.array([*(position[name] for name in names), -1], dtype=np.intp)[codes]
