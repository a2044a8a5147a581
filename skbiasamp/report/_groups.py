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
ERRORS = {"true_positive_rate": True, "false_positive_rate": False}


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


def are_unknown(categories: Sequence[Any]) -> Array:
    """Return which categories are of rows whose sensitive feature is missing."""
    every = (name if isinstance(name, tuple) else (name,) for name in categories)
    # A real category called as missing values are is a `NamedMissing`.
    return np.array([any(type(part) is str and part == MISSING for part in name) for name in every])


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
    base = [sets.shares(true) for sets, true, _ in tasks]
    n = base[0].n
    # Frames are made at once: adding column after column takes several times as long.
    groups: dict[str, Any] = {"group": list(test.groups), "n": n, "share": n / test.total}
    pairs = zip(*product(test.groups, test.tasks), strict=True)
    rates: dict[str, Any] = dict(zip(("group", "task"), map(list, pairs), strict=True))
    labelled = test.has("task")
    if labelled:
        rates["base_rate"] = np.stack([task.share for task in base], axis=1).ravel()
    if not rated:
        return pd.DataFrame(groups), pd.DataFrame(rates)
    selected = [sets.shares(predicted, correlated=True) for sets, _, predicted in tasks]
    wanted = outcomes_of(test, favourable)
    outcomes = [
        sets.shares(~predicted, correlated=True) if outcome is False else shares
        for (sets, _, predicted), outcome, shares in zip(tasks, wanted, selected, strict=True)
    ]
    unknown = are_unknown(test.groups)[:, None] | np.array([outcome is None for outcome in wanted])
    ratios = impact_ratios(outcomes, "groups", ~unknown)
    if not labelled:
        numbers = share_columns("predicted_rate", selected) | ratios
        rates |= {name: values.ravel() for name, values in numbers.items()}
        return pd.DataFrame(groups), pd.DataFrame(rates)
    right = [sets.shares(true == predicted) for sets, true, predicted in tasks]
    numbers = share_columns("predicted_rate", selected) | share_columns("accuracy", right)
    for name, positive in ERRORS.items():
        errors = [sets.shares(pred, true == positive) for sets, true, pred in tasks]
        enough = np.stack([task.n for task in errors], axis=1) > FEW - 1e-9
        numbers |= share_columns(name, errors) | difference_columns(name, errors, enough)
    numbers |= ratios
    rates |= {name: values.ravel() for name, values in numbers.items()}
    return pd.DataFrame(groups | _accuracies(test, tasks, right)), pd.DataFrame(rates)


def share_columns(name: str, tasks: list[Shares]) -> dict[str, Array]:
    """Return shares (sets × tasks) and Wilson's intervals, which hold near 0 and 1 too."""
    share = np.stack([task.share for task in tasks], axis=1)
    low, high = share_interval(share, np.stack([task.rows for task in tasks], axis=1))
    return {name: share, f"{name}_low": low, f"{name}_high": high}


def difference_columns(name: str, tasks: list[Shares], counted: Array) -> dict[str, Array]:
    """Return how far each share that counts is above the lowest of its task, with intervals."""
    share, rows = (
        np.stack([getattr(task, part) for task in tasks], axis=1) for part in ("share", "rows")
    )
    differences = differences_to_lowest(np.where(counted, share, np.nan), rows)
    ends = (f"{name}_difference{end}" for end in ("", "_low", "_high"))
    return dict(zip(ends, differences, strict=True))


def impact_ratios(tasks: list[Shares], sets: str, counted: Array | bool = True) -> dict[str, Array]:
    """Return each share over the highest of its task, with intervals and what these hold for."""
    share = np.where(counted, np.stack([task.share for task in tasks], axis=1), np.nan)
    rows = np.stack([task.rows for task in tasks], axis=1)
    correlation = None
    if any(task.correlation is not None for task in tasks):
        none = np.zeros((len(share), len(share)))
        each = [none if task.correlation is None else task.correlation for task in tasks]
        correlation = np.stack(each, axis=-1)
    ratio, low, high = ratios_to_highest(share, rows, correlation)
    scope = [f"simultaneous over {n} {sets}" for n in (~np.isnan(share)).sum(axis=0)]
    interval = np.broadcast_to(np.array(scope, dtype=object), low.shape).copy()
    interval[np.isnan(low)] = None
    return {
        "impact_ratio": ratio,
        "impact_ratio_low": low,
        "impact_ratio_high": high,
        "impact_ratio_interval": interval,
    }


def _accuracies(test: Contingency, tasks: list[TaskRows], right: list[Shares]) -> dict[str, Array]:
    """Return the accuracy of each group, over all tasks."""
    if test.classes is not None and len(tasks) > 1:  # of several classes only one can be right
        both = test.both("task")
        hit = sum(column(both, "task_pred", j) for j in range(len(tasks)))
        right = [RowSets.of_groups(both).shares(np.asarray(hit) > 0)]
    share = np.mean([task.share for task in right], axis=0)
    # A mean over tasks varies less than one task of as many rows: its interval is not too narrow.
    low, high = share_interval(share, np.min([task.rows for task in right], axis=0))
    return {"accuracy": share, "accuracy_low": low, "accuracy_high": high}
