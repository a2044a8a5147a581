"""Sizes of groups, and rates by group with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import MISSING, Array, is_one
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.spelling import spelt
from skbiasamp.counts.cells import column, naming_side
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.task_sums import of_one_task
from skbiasamp.inference.intervals import FEW
from skbiasamp.inference.shares import (
    RowSets,
    Shares,
    differences_to_lowest,
    ratios_to_highest,
    share_interval,
)

# Error rates, and whether they are of rows that have the task.
_ERRORS = {"true_positive_rate": True, "false_positive_rate": False}


class TaskRows(NamedTuple):
    """The rows of one task: their groups, who is labelled with it, and who is predicted so."""

    sets: RowSets
    true: Array
    predicted: Array


def outcomes_of(test: Contingency, favourable: Any) -> list[bool | None]:
    """Return for each task whether people want it; None if that is unknown.

    Of two classes, the one that is no task may be the one that people want.
    """
    if favourable is None:
        return [True] * len(test.tasks)
    wanted = favourable if isinstance(favourable, list) else [favourable]
    side = naming_side(test)
    known = side.names if side.one_label and len(side.names) == 2 else test.tasks
    wanted = [_named(name, known) for name in wanted]
    if known is test.tasks:
        return [True if is_one(task, wanted) else None for task in test.tasks]
    return [is_one(test.tasks[0], wanted)]


def _named(name: Any, known: Sequence[Any]) -> Any:
    """Return the class or task that a user names; text names a number that is written so."""
    if is_one(name, known):
        return name
    for other in known:
        if isinstance(name, str) and not isinstance(other, str) and spelt(other) == spelt(name):
            return other
    raise InputError(
        "{favourable} must name a class or task; got {seen!r}. There are {known}.",
        seen=name,
        known=quote(known),
    )


def are_known(categories: Sequence[Any], wanted: list[bool | None]) -> Array:
    """Return of which categories and outcomes it is known who they are and whether they are wanted.

    Not of rows whose sensitive feature is missing.
    """
    every = (name if isinstance(name, tuple) else (name,) for name in categories)
    # A real category called as missing values are is a `NamedMissing`.
    missing = [any(type(part) is str and part == MISSING for part in name) for name in every]
    return ~np.array(missing)[:, None] & [outcome is not None for outcome in wanted]


def favoured(tasks: list[TaskRows], wanted: list[bool | None]) -> list[TaskRows]:
    """Return the rows with the outcome that people want in place of each task."""
    return [
        rows._replace(true=~rows.true, predicted=~rows.predicted) if outcome is False else rows
        for rows, outcome in zip(tasks, wanted, strict=True)
    ]


def outcome_names(test: Contingency, wanted: list[bool | None]) -> tuple[Any, ...]:
    """Return the names of these outcomes: of two classes, the wanted one may be no task."""
    if False not in wanted:
        return test.tasks
    return tuple(name for name in naming_side(test).names if name not in test.tasks)


def rows_by_task(test: Contingency, side: SideName) -> list[TaskRows]:
    """Return the rows of each task; a probability on `side` counts as the task from 0.5."""
    tasks: list[TaskRows] = []
    for j in range(len(test.tasks)):
        cells, position = of_one_task(test, j)
        same = tasks and tasks[-1].sets.cells is cells  # sums of tasks have cells of each task
        sets = tasks[-1].sets if same else RowSets.of_groups(cells)
        true: SideName = "task" if cells.has("task") else side  # of rows without labels, nothing
        labels = (column(cells, name, position) >= 0.5 for name in (true, side))
        tasks.append(TaskRows(sets, *labels))
    return tasks


def together(tasks: Sequence[Shares]) -> Shares:
    """Return the shares of all tasks: sets × tasks, and correlations if those of any are known."""
    n, selected, rows = np.stack([task[:3] for task in tasks], axis=-1)
    if all(task.correlation is None for task in tasks):
        return Shares(n, selected, rows)
    none = np.zeros((len(n), len(n)))
    each = [none if task.correlation is None else task.correlation for task in tasks]
    return Shares(n, selected, rows, np.stack(each, axis=-1))


def selected_shares(tasks: list[TaskRows]) -> Shares:
    """Return how many rows are predicted as each task."""
    return together([sets.shares(predicted, correlated=True) for sets, _, predicted in tasks])


def describe_groups(
    test: Contingency, *, labels: bool = True, favourable: Any = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task; of texts only the first."""
    if not labels:
        names = pd.Series(list(test.groups), dtype=object)
        by_group = pd.DataFrame({"group": names, "n": test.count("group")})
        return by_group.assign(share=by_group["n"] / test.total), pd.DataFrame()
    # Of probabilities that were summed it is not known which are above one half.
    rated = test.has("task_pred") and not (test.summed == "tasks" and test.soft("task_pred"))
    tasks = rows_by_task(test, "task_pred" if rated else "task")
    base = together([sets.shares(true) for sets, true, _ in tasks])
    n = base.n[:, 0]
    # Frames are made at once: adding column after column takes several times as long.
    groups: dict[str, Any] = {"group": list(test.groups), "n": n, "share": n / test.total}
    rates: dict[str, Array] = {"base_rate": base.share} if test.has("task") else {}
    if rated:
        selected, wanted = selected_shares(tasks), outcomes_of(test, favourable)
        rates |= share_columns("predicted_rate", selected)
        if test.has("task"):
            right = together([sets.shares(true == pred) for sets, true, pred in tasks])
            rates |= share_columns("accuracy", right) | error_columns(tasks)
            groups |= _accuracies(test, right)
        outcomes = selected_shares(favoured(tasks, wanted)) if False in wanted else selected
        rates |= impact_ratios(outcomes, "groups", are_known(test.groups, wanted))
    pairs = zip(*product(test.groups, test.tasks), strict=True)
    names_of_pairs = dict(zip(("group", "task"), map(list, pairs), strict=True))
    numbers = {name: values.ravel() for name, values in rates.items()}
    return pd.DataFrame(groups), pd.DataFrame(names_of_pairs | numbers)


def share_columns(name: str, shares: Shares) -> dict[str, Array]:
    """Return shares (sets × tasks) and Wilson's intervals, which hold near 0 and 1 too."""
    low, high = share_interval(shares.share, shares.rows)
    return {name: shares.share, f"{name}_low": low, f"{name}_high": high}


def difference_columns(name: str, shares: Shares, counted: Array) -> dict[str, Array]:
    """Return how far each share that counts is above the lowest of its task, with intervals."""
    differences = differences_to_lowest(np.where(counted, shares.share, np.nan), shares.rows)
    ends = (f"{name}_difference{end}" for end in ("", "_low", "_high"))
    return dict(zip(ends, differences, strict=True))


def error_columns(tasks: list[TaskRows], counted: Array | None = None) -> dict[str, Array]:
    """Return the error rates of sets, and their differences.

    Those of sets that count are compared; None: of those with enough rows for an error rate.
    """
    columns: dict[str, Array] = {}
    for name, positive in _ERRORS.items():
        errors = together([sets.shares(pred, true == positive) for sets, true, pred in tasks])
        compared = errors.n > FEW - 1e-9 if counted is None else counted
        columns |= share_columns(name, errors) | difference_columns(name, errors, compared)
    return columns


def impact_ratios(shares: Shares, sets: str, counted: Array) -> dict[str, Array]:
    """Return each share over the highest of its task, with intervals and what these hold for."""
    share = np.where(counted, shares.share, np.nan)
    ratio, low, high = ratios_to_highest(share, shares.rows, shares.correlation)
    scope = [f"simultaneous over {n} {sets}" for n in (~np.isnan(share)).sum(axis=0)]
    interval = np.broadcast_to(np.array(scope, dtype=object), low.shape).copy()
    interval[np.isnan(low)] = None
    return {
        "impact_ratio": ratio,
        "impact_ratio_low": low,
        "impact_ratio_high": high,
        "impact_ratio_interval": interval,
    }


def _accuracies(test: Contingency, right: Shares) -> dict[str, Array]:
    """Return the accuracy of each group, over all tasks."""
    if test.classes is not None and len(test.tasks) > 1:  # only one of several classes is right
        both = test.both("task")
        hit = sum(column(both, "task_pred", j) for j in range(len(test.tasks)))
        right = together([RowSets.of_groups(both).shares(np.asarray(hit) > 0)])
    share = right.share.mean(axis=1)
    # A mean over tasks varies less than one task of as many rows: its interval is not too narrow.
    low, high = share_interval(share, right.rows.min(axis=1))
    return {"accuracy": share, "accuracy_low": low, "accuracy_high": high}
