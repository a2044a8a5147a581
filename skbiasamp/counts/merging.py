"""The order of cells, and contingencies that are compared, added, and given other names."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import (
    Array,
    Names,
    check_kinds,
    check_known,
    check_missing_names,
    check_order,
    check_same_columns,
)
from skbiasamp._input.classes import no_positive_class, positive_class, united, whole_classes
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.labels import Side, join_columns, occurring, stack
from skbiasamp.counts.cells import (
    BOTH,
    BOTH_SQUARE,
    SQUARE,
    C,
    Cells,
    Clusters,
    SideName,
    distinct,
    key_columns,
    keys_of,
    labels_of,
    naming_names,
    of_single_rows,
    selected,
    side_of,
    sides_of,
    take,
    with_sides,
)
from skbiasamp.counts.pair_sums import pair_sums


def equal(cells: Cells, other: Cells) -> bool:
    """Return whether both hold the same rows equally often, in whatever order."""
    if (cells.groups, cells.classes, cells.tasks) != (other.groups, other.classes, other.tasks):
        return False
    if (set(cells._sides), cells.weight.ndim) != (set(other._sides), other.weight.ndim):
        return False
    # Cells without weight, their order, and equal cells apart or merged make no difference.
    mine, theirs = (
        _in_order(distinct(take(c, c.occurs, c.weight[..., c.occurs]))) for c in (cells, other)
    )
    return np.array_equal(mine, theirs)


def _in_order(cells: Cells) -> Array:
    """Return all that cells hold as one row of integers a cell, in an order of their own."""
    weights = np.atleast_2d(cells.weight).astype(float)
    table = [keys_of(cells), np.ascontiguousarray(weights.T).view(np.int64)]
    if cells.clusters is not None:
        of, n = cells.clusters
        table.append(np.column_stack([of, n[of].astype(np.int64)]))
    rows = np.hstack(table)
    return np.asarray(rows[np.lexsort(rows.T[::-1])])


def by_counts(cells: C) -> C:
    """Return cells whose groups and classes are in the order of their counts.

    Random numbers drawn over `ordered` cells then do not depend on what these are called. Groups
    without rows are last.
    """
    sides = sides_of(cells)
    groups = {name: side for name, side in sides.items() if name.startswith("group")}
    classes = {name: side for name, side in sides.items() if name.startswith("task")}
    known = cells.has("task") and not cells.soft("task") and not cells.soft("group")
    if not known or any(side.is_matrix for side in groups.values()):
        return cells
    joint = pair_sums(labels_of(cells, "group"), side_of(cells, "task").labels, cells.weight)
    n = cells.count("group")
    rest = n - joint.sum(axis=1)  # of rows without a task
    keys = [(m == 0, m, *np.sort([*row, r])) for m, row, r in zip(n, joint, rest, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    moved = {name: side.select(order) for name, side in groups.items()}
    has_codes = not any(side.is_matrix or side.inputs is not None for side in classes.values())
    if has_codes and joint.shape[1] > 1:
        # Most rows first, as 0 before 1 mostly is.
        keys = [(-column.sum(), *np.sort(column)) for column in joint.T]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        moved |= {name: side.select(order) for name, side in classes.items()}
        if cells.pos_label is not None:
            moved |= _with_positive({name: moved[name] for name in classes}, cells.pos_label)
    return with_sides(cells, {**sides, **moved})


def ordered(cells: C) -> C:
    """Return the same cells in an order that only what they hold decides, by group first.

    Random numbers drawn over them are then the same for the same rows in any order, and each
    group's cells are a slice. Equal cells are merged, as `distinct` does.
    """
    if cells._ordered is None:
        given = cells
        if cells.clusters is not None:
            cells = distinct(cells)
        labels, clusters = join_columns(key_columns(cells), cells.n_cells), cells.clusters
        # The last key counts most. Weights order rows of equal labels.
        ties = [cells.rows, cells.weight] if clusters is None else [clusters.of]
        order = np.lexsort([*ties, labels])
        weight, labels = cells.weight[order], labels[order]
        if cells.whole and clusters is None:
            new = np.append(True, labels[1:] != labels[:-1])
            order, weight = order[new], np.add.reduceat(weight, np.flatnonzero(new))
        same = np.array_equal(order, np.arange(cells.n_cells))
        in_order = cells if same else take(cells, order, weight)
        in_order._ordered = True  # not itself, or its memory would not be free after its last use
        if in_order is not given:
            given._ordered = in_order
        cells = in_order
    result: C = cells if cells._ordered is True else cells._ordered
    return result


# --------------------------------------------------------------------------- merging


# Kinds of sums. If several are merged, the sum is of the kind of which least is known.
_ROLES: tuple[SideName, ...] = ("group", "task")


def require_cells(name: str, value: object) -> None:
    """Raise unless labels are counted."""
    if not isinstance(value, Cells):
        text = "{name} must be a Contingency; got {kind}. Contingency.from_labels makes one."
        raise InputTypeError(text, name=name, kind=type(value).__name__)


def merged(contingencies: Iterable[C]) -> C:
    """Return the cells of several data sets together."""
    if not np.iterable(contingencies):
        require_cells("contingencies", contingencies)
    every = list(contingencies)
    for part in every:
        require_cells("contingencies", part)
    if not every:
        raise InputError("There is no contingency to sum: the list is empty.")
    first = every[0]
    in_tasks = first.summed == "tasks"
    if any((part.summed == "tasks") != in_tasks for part in every):
        raise InputError(
            "Contingencies of different kinds cannot be added: one counts rows, another each task "
            "by itself. Make all of them with the same {joint} of Contingency.from_frame."
        )
    own, *others = dict.fromkeys(part.group_columns for part in every if part.group_columns) or [()]
    if others:
        text = "Contingencies of different sensitive columns cannot be added: {one} and {seen}."
        raise InputError(text, one=quote(own), seen=quote(others[0]))
    for part in every:
        part.require_single("A sum")
    if in_tasks and any(part.soft("task_pred") for part in every):
        every = list(map(_with_squares, every))
    # Before anything is stacked, so that an error is about what the user passed.
    pos_label = common_positive(every)
    groups, tasks = common_names(every)
    parts = [_onto(part, groups, tasks) for part in every]
    sides = {
        name: replace(
            side,
            labels=stack([part[name].labels for part in parts]),
            floats=all(part[name].floats for part in parts),
        )
        for name, side in parts[0].items()
    }
    columns = next(filter(None, (part.group_columns for part in every)), ())
    if columns:
        sides["group"] = replace(sides["group"], columns=columns)
    if pos_label is not None:
        positive_class(pos_label, tasks)  # raises if the sum has more than two
        sides = _with_positive(sides, pos_label)
    # Rows of a weight each beside whole ones: of these each is a row as often as it counts.
    split = any(not part.whole for part in every)
    clusters = None
    if any(part.clusters is not None for part in every):
        each = [part.clusters or of_single_rows(part.rows) for part in every]
        before = np.cumsum([0, *(len(own.n) for own in each)])  # no cluster is in two data sets
        of = [own.of + low for own, low in zip(each, before, strict=False)]
        clusters = Clusters(np.concatenate(of), np.concatenate([own.n for own in each]))
    total = type(first)(
        np.concatenate([part.weight for part in every]),
        sides,
        n_dropped=math.fsum(part.n_dropped for part in every),
        repeats=np.concatenate([part.rows for part in every]) if split else None,
        summed=first.summed,
        clusters=clusters,
    )
    return distinct(total)


def _with_squares(cells: C) -> C:
    """Return sums with squares: those of 0 and 1 are the numbers themselves."""
    sides: dict[Any, Side] = dict(sides_of(cells))
    if SQUARE in sides or "task_pred" not in sides:
        return cells
    return with_sides(cells, sides | {SQUARE: sides["task_pred"], BOTH_SQUARE: sides[BOTH]})


def conformed(cells: C, like: Cells) -> C:
    """Return cells with the groups and tasks of `like`, in that order, and their own.

    Raise if they cannot have those of the training labels.
    """
    require_cells("like", like)
    if (cells.classes is None) != (like.classes is None):
        kinds = ["indicator columns", "one column of classes"]
        raise InputError(
            "The training labels were {trained} but the audited ones are {seen}. Pass the same "
            "kind of labels to both.",
            trained=kinds[like.classes is not None],
            seen=kinds[cells.classes is not None],
        )
    for role in _ROLES:
        mine, known = _naming(cells, role), _known_names(_naming(like, role))
        check_kinds(known, mine.names, "the training labels", f"the audited {role}")
        check_missing_names(known, mine.names)
        if not mine.open or set(mine.names).isdisjoint(known):
            check_known(mine.names, known, role=role)
        lacking = [] if mine.open else [name for name in known if name not in mine.names]
        if lacking:
            raise InputError(
                "The training labels had the {role} columns {lacking}, which the audited ones "
                "lack. Pass the same columns to both.",
                role=role,
                lacking=quote(lacking),
            )
    columns, trained_columns = (side_of(part, "group").columns for part in (cells, like))
    check_order(trained_columns, columns)
    check_same_columns(columns, trained_columns)
    if like.indicator != cells.indicator:
        raise InputError(
            "One of training and audited groups overlap ({groups='indicator'} or 'marginal'), the "
            "other do not: make both contingencies with the same {groups}."
        )
    chosen, trained_class = cells.naming.pos_label, like.pos_label
    if chosen not in (None, trained_class):
        raise InputError(
            "The positive class of the audited labels is {chosen!r}, and that of the training "
            "labels is {trained!r}. Make both contingencies with the same {pos_label}.",
            chosen=chosen,
            trained=trained_class,
        )
    group, task = side_of(like, "group"), like.naming
    mine, own = cells.naming, side_of(cells, "group")
    groups, tasks = united([like.groups, cells.groups]), united([_known_names(task), mine.names])
    columns = cells.group_columns or group.columns
    own_names = (cells.groups, mine.names, mine.pos_label, own.columns)
    if own_names == (groups, tasks, task.pos_label, columns):
        return cells  # with the sums that were computed
    sides = _onto(cells, groups, tasks)
    sides["group"] = replace(sides["group"], columns=columns)
    return with_sides(cells, _with_positive(sides, task.pos_label))


def within(cells: C, like: Cells) -> tuple[C, dict[str, dict[Hashable, float]]]:
    """Return the rows whose groups and classes `like` knows, under its names.

    The rows of others are left out: how many of which group or class is returned too, by role.
    """
    lost: dict[str, dict[Hashable, float]] = {"group": {}, "task": {}}
    keep = np.ones(cells.n_cells, dtype=bool)
    rows_with: dict[tuple[SideName, Hashable], Array] = {}
    sides = {}
    for name, side in sides_of(cells).items():
        role: SideName = "group" if name.startswith("group") else "task"
        known = _known_names(_naming(like, role))
        unknown = [i for i, name in enumerate(side.names) if name not in known]
        for i in unknown:
            has_label = side.labels.column(i) > 0
            # A label and its prediction may both be of it, in one row or in two.
            has_earlier = rows_with.get((role, side.names[i]), False)
            rows_with[role, side.names[i]] = has_label | has_earlier
            keep &= ~has_label
        if unknown:
            side = side.select([i for i in range(len(side.names)) if i not in unknown])
        columns = side_of(like, name).columns if like.has(name) else side.columns
        sides[name] = replace(side.onto(known), columns=columns)
    sides = _with_positive(sides, like.naming.pos_label)
    for (kind, label), has_label in rows_with.items():
        if n := float(cells.weight[has_label].sum()):
            lost[kind][label] = n
    rows = np.flatnonzero(keep)
    return take(with_sides(cells, sides), rows, cells.weight[rows]), lost


def _known_names(side: Side) -> Names:
    """Return the names that other data may have."""
    return whole_classes(side.names) if side.one_label else side.names


def differ_in_group(cells: Cells) -> bool:
    """Whether rows differ in their groups: rows of one group alone have nothing to compare."""
    n = cells.count("group")
    return bool(((n > 0) & (n < cells.total * (1 - 1e-9))).any())


def present(cells: C) -> C:
    """Return cells under the names of only those groups and classes that occur.

    A binary label keeps both of its classes, as in the rows that `within` returns.
    """
    sides = {name: side.onto(_known_names(side)) for name, side in sides_of(cells).items()}
    for role in _ROLES:
        own = [side for name, side in sides.items() if name.startswith(role)]
        binary = own[0].one_label and len(own[0].names) <= 2
        # Columns are there if nobody is in them.
        if not binary and not any(side.is_matrix or not side.open for side in own):
            occurs = occurring([side.labels.take(cells.weight > 0) for side in own])
            sides |= selected(cells, role, np.flatnonzero(occurs))
    return with_sides(cells, sides)


def renamed_onto(cells: C, groups: Names, tasks: Names) -> C:
    """Return cells with more names of groups and of tasks or classes."""
    if (cells.groups, cells.naming.names) == (groups, tasks):
        return cells  # with the sums that were computed
    return with_sides(cells, _onto(cells, groups, tasks))


def with_positive_class(cells: C, pos_label: Any) -> C:
    """Return cells of one binary label with one of its classes chosen as positive, if one is."""
    if pos_label is None:
        return cells
    if cells.classes is None:
        raise no_positive_class("is an indicator matrix")
    names, chosen = positive_class(pos_label, cells.classes)
    own_class = cells.naming.pos_label
    if own_class is not None and own_class != chosen:
        raise InputError(
            "The positive class of this contingency is {held!r}, and {pos_label} is {chosen!r}. "
            "Leave {pos_label} out, or make the contingency with it.",
            held=own_class,
            chosen=chosen,
        )
    sides = _onto(cells, cells.groups, names)
    # Said, and not only first in order: a sum has to know that it was chosen.
    return with_sides(cells, _with_positive(sides, chosen))


def _with_positive(sides: dict[SideName, Side], pos_label: Hashable) -> dict[SideName, Side]:
    """Return sides of which the one that names the classes says which is positive."""
    named = {name: replace(sides[name], pos_label=pos_label) for name in naming_names(sides)}
    return {**sides, **named}


def _naming(cells: Cells, role: SideName) -> Side:
    """Return the side that names the groups, or the classes."""
    return side_of(cells, role) if role == "group" else cells.naming


def _onto(cells: Cells, groups: Names, tasks: Names) -> dict[SideName, Side]:
    return {
        name: side.onto(groups if name.startswith("group") else tasks)
        for name, side in sides_of(cells).items()
    }


def common_names(every: list[C]) -> tuple[Names, Names]:
    """Return the groups and the tasks of all; raise unless all hold the same kinds of labels."""
    for other in every[1:]:
        lacking = sorted(set(sides_of(every[0])) ^ set(sides_of(other)))
        if lacking:
            raise InputError(
                "Only one of two contingencies has {lacking}: all must hold the same of labels, "
                "predictions and predicted groups to be added.",
                lacking=quote(lacking),
            )
    return _names_of_all(every, "group", "group_pred"), _names_of_all(every, "task", "task_pred")


def _names_of_all(every: list[C], name: SideName, predicted: SideName) -> Names:
    """Return the names of all; indicator columns must be the same ones."""

    def is_certain(side: Side) -> bool:
        """Whether floats 0.0 and 1.0 were read as classes: beside others they are probabilities."""
        return side.floats and not side.is_matrix

    # Those that go with any others last.
    first, *others = sorted(
        every, key=lambda part: part.has(predicted) and is_certain(side_of(part, predicted))
    )
    mine = _naming(first, name)
    for other in others:
        theirs = _naming(other, name)
        same_form = mine.one_label == theirs.one_label
        if first.has(name):
            same_form &= mine.is_matrix == theirs.is_matrix
        if first.has(predicted):
            # Both are classes, probabilities, or scores in their first column.
            pair = [side_of(part, predicted) for part in (first, other)]
            same_form &= len({side.labels.width < len(side.names) for side in pair}) == 1
            same_form &= len({side.is_matrix for side in pair}) == 1 or any(map(is_certain, pair))
        if not same_form:
            raise InputError(
                "The two contingencies hold {role}s of different kinds (one column of labels, "
                "indicator columns, probabilities) and cannot be added.",
                role=name,
            )
        check_order(mine.columns, theirs.columns)
        check_missing_names(mine.names, theirs.names)
        if mine.names == theirs.names:
            continue
        check_kinds(mine.names, theirs.names, f"one contingency's {name}", f"the other's {name}")
        only = sorted(map(str, set(mine.names) ^ set(theirs.names)))
        if only and not mine.open:
            raise InputError(
                "The two contingencies have different {role} columns: {only} is in only one of "
                "them.",
                role=name,
                only=quote(only),
            )
    return united([_naming(part, name).names for part in every])


def common_positive(every: list[C]) -> Hashable:
    """Return the positive class that was chosen for some of them, which must be that of all."""
    chosen = [part.naming.pos_label for part in every]
    positive = next((name for name in chosen if name is not None), None)
    if positive is not None:
        for own in (part.pos_label for part in every):
            if own not in (None, positive):
                raise InputError(
                    "The positive class of one contingency is {found!r}, and that of another is "
                    "{own!r}. Make all of them with the same {pos_label} to add them.",
                    found=positive,
                    own=own,
                )
    return positive
