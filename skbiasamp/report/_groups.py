"""Sizes and rates of groups; rates and the first metric by each sensitive column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, NamedMissing
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import column, with_merged_groups
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.parts import of_task, outcome_names, outcomes_of
from skbiasamp.inference.pairs import FEW
from skbiasamp.inference.shares import differences_to_lowest, ratios_to_highest, share_interval
from skbiasamp.report._columns import table_by_column
from skbiasamp.report._subgroups import RowSets, Shares
from skbiasamp.report.auditors import readied
from skbiasamp.report.unknown import Everyone, Rates, agreement, is_unknown
from skbiasamp.results.pair_tables import pair_names

# Error rates, and whether they are of rows that have the task.
_ERRORS = {"true_positive_rate": True, "false_positive_rate": False}


class _TaskRows(NamedTuple):
    """The rows of one task: their groups, who is labelled with it, and who is predicted so."""

    sets: RowSets
    true: Array
    predicted: Array


def _are_known(categories: Sequence[Any], wanted: list[bool | None]) -> Array:
    """Return of which categories and outcomes it is known who they are and whether they are wanted.

    Not of rows whose sensitive feature is missing.
    """
    missing = [*map(is_unknown, categories)]
    return ~np.array(missing)[:, None] & [outcome is not None for outcome in wanted]


def _favoured(tasks: list[_TaskRows], wanted: list[bool | None]) -> list[_TaskRows]:
    """Return the rows with the outcome that people want in place of each task."""
    return [
        rows._replace(true=~rows.true, predicted=~rows.predicted) if outcome is False else rows
        for rows, outcome in zip(tasks, wanted, strict=True)
    ]


def _is_summed(test: Contingency, side: SideName) -> bool:
    """Whether probabilities were summed: it is not known which are above one half."""
    return test.summed == "tasks" and test.soft(side)


def _rows_by_task(test: Contingency, side: SideName) -> list[_TaskRows]:
    """Return the rows of each task; a probability on `side` counts as the task from 0.5."""
    tasks: list[_TaskRows] = []
    for j in range(len(test.tasks)):
        cells, position = (of_task(test, j), 0) if test.summed else (test, j)
        same = tasks and tasks[-1].sets.cells is cells  # sums of tasks have cells of each task
        sets = tasks[-1].sets if same else RowSets.of_groups(cells)
        true: SideName = "task" if cells.has("task") else side  # of rows without labels, nothing
        labels = (column(cells, name, position) >= 0.5 for name in (true, side))
        tasks.append(_TaskRows(sets, *labels))
    return tasks


def _together(tasks: Sequence[Shares]) -> Shares:
    """Return the shares of all tasks: sets × tasks, and correlations if those of any are known."""
    n, selected, rows = np.stack([task[:3] for task in tasks], axis=-1)
    if all(task.correlation is None for task in tasks):
        return Shares(n, selected, rows)
    none = np.zeros((len(n), len(n)))
    each = [none if task.correlation is None else task.correlation for task in tasks]
    return Shares(n, selected, rows, np.stack(each, axis=-1))


def _selected_shares(tasks: list[_TaskRows]) -> Shares:
    """Return how many rows are predicted as each task."""
    return _together([sets.shares(predicted, correlated=True) for sets, _, predicted in tasks])


def describe_groups(
    test: Contingency,
    *,
    labels: bool = True,
    favourable: Any = None,
    every: Everyone | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task; of texts only the first.

    `every` are all rows, if those without a group give bounds of rates.
    """
    if not labels:
        names = pd.Series(list(test.groups), dtype=object)
        by_group = pd.DataFrame({"group": names, "n": test.count("group")})
        return by_group.assign(share=by_group["n"] / test.total), pd.DataFrame()
    rated = test.has("task_pred") and not _is_summed(test, "task_pred")
    tasks = _rows_by_task(test, "task_pred" if rated else "task")
    base = _together([sets.shares(true) for sets, true, _ in tasks])
    n = base.n[:, 0]
    # Frames are made at once: adding column after column takes several times as long.
    groups: dict[str, Any] = {"group": list(test.groups), "n": n, "share": n / test.total}
    rates: dict[str, Array] = {"base_rate": base.share} if test.has("task") else {}
    if rated:
        selected, wanted = _selected_shares(tasks), outcomes_of(test, favourable)
        rates |= _share_columns("predicted_rate", selected)
        if test.has("task"):
            right = _together([sets.shares(true == pred) for sets, true, pred in tasks])
            rates |= _share_columns("accuracy", right) | _error_columns(tasks)
            groups |= _accuracies(test, right)
        outcomes = _selected_shares(_favoured(tasks, wanted)) if False in wanted else selected
        rates |= _impact_ratios(outcomes, "groups", _are_known(test.groups, wanted))
        rates |= {} if every is None else every.rate_columns(wanted)
    pairs = zip(*product(test.groups, test.tasks), strict=True)
    names_of_pairs = dict(zip(("group", "task"), map(list, pairs), strict=True))
    numbers = {name: values.ravel() for name, values in rates.items()}
    return pd.DataFrame(groups), pd.DataFrame(names_of_pairs | numbers)


def selection_table(
    test: Contingency, *, min_share: float = 0.0, favourable: Any = None, bounds: bool = False
) -> pd.DataFrame:
    """Return one row for each category of each sensitive column, and of all columns together.

    What is selected are the predictions, or the labels of rows that have nothing else. `bounds`:
    what rates could be if rows without a category belonged to any.
    """
    side: SideName = "task_pred" if test.has("task_pred") else "task"
    if _is_summed(test, side):
        return pd.DataFrame()
    wanted = outcomes_of(test, favourable)
    outcomes, names = _favoured(_rows_by_task(test, side), wanted), outcome_names(test, wanted)
    parts = []
    for by, categories, into in _columns_of_groups(test):
        tasks = _merged(outcomes, into)
        shares = _selected_shares(tasks)
        share = shares.n / test.total
        counted = (share >= min_share) & _are_known(categories, wanted) & (shares.n > 0)
        numbers = {"n": shares.n, "share": share, "selected": shares.selected}
        numbers |= _share_columns("selection_rate", shares) | {"counted": counted}
        numbers |= _difference_columns("selection_rate", shares, counted)
        numbers |= _impact_ratios(shares, "categories", counted)
        numbers |= _bounds(categories, shares, counted) if bounds else {}
        if test.has("task") and test.has("task_pred"):
            numbers |= _error_columns(tasks, counted)
        of_pairs = pair_names(tuple(categories), names)
        table = pd.DataFrame({"by": by, "category": of_pairs["group"], "task": of_pairs["task"]})
        parts.append(table.assign(**{name: values.ravel() for name, values in numbers.items()}))
    return pd.concat(parts, ignore_index=True)


def audit_columns(chosen: list[Any], test: Contingency, random_state: Any) -> pd.DataFrame:
    """Return one row for each of several sensitive columns: value, interval and verdict.

    It is of the first auditor that was chosen, if its value is signed.
    """
    if not chosen or test.summed == "tasks" or not chosen[0][0].kind.is_signed:
        return pd.DataFrame()
    auditor, train, *_ = chosen[0]
    learned = {} if train is None else _by_column(train)
    results = {}
    for name, audited in _by_column(test).items():
        with collected():
            results[name] = readied(auditor, learned.get(name), random_state).audit(audited)
    return table_by_column(results)


def _by_column(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells by each column, without the combination of all of them."""
    *columns, _ = _columns_of_groups(cells)
    return {
        name: with_merged_groups(cells, into, tuple(categories), (name,))
        for name, categories, into in columns
        if len(categories) > 1
    }


def _columns_of_groups(test: Contingency) -> Iterator[tuple[str, list[Any], Array]]:
    """Yield each sensitive column, its categories and that of each group; then all together."""
    groups, columns = test.groups, list(test.group_columns)
    single = np.arange(len(groups))
    first = groups[0]
    combined = isinstance(first, tuple) and all(
        isinstance(group, tuple) and len(group) == len(first) for group in groups
    )
    if combined:
        n = len(first)  # type: ignore[arg-type]
        names = columns if len(columns) == n else [f"column {k}" for k in range(n)]
        for k, name in enumerate(names):
            # A real category called as missing values are is another one.
            parts = [(group[k], isinstance(group[k], NamedMissing)) for group in groups]  # type: ignore[index]
            values = list(dict.fromkeys(parts))
            into = np.array([values.index(part) for part in parts])
            yield str(name), [part for part, _ in values], into
        yield " and ".join(map(str, names)), list(groups), single
    else:
        yield str(columns[0]) if len(columns) == 1 else "group", list(groups), single


def _merged(tasks: list[_TaskRows], into: Array) -> list[_TaskRows]:
    """Return the same rows with categories in place of groups; `into` is that of each group."""
    merged: list[_TaskRows] = []
    for j, rows in enumerate(tasks):
        same = j and rows.sets is tasks[j - 1].sets  # sums of tasks have cells of each task
        sets = merged[-1].sets if same else rows.sets.merged(into)
        merged.append(rows._replace(sets=sets))
    return merged


def _share_columns(name: str, shares: Shares) -> dict[str, Array]:
    """Return shares (sets × tasks) and Wilson's intervals, which hold near 0 and 1 too."""
    low, high = share_interval(shares.share, shares.rows)
    return {name: shares.share, f"{name}_low": low, f"{name}_high": high}


def _difference_columns(name: str, shares: Shares, counted: Array) -> dict[str, Array]:
    """Return how far each share that counts is above the lowest of its task, with intervals."""
    differences = differences_to_lowest(np.where(counted, shares.share, np.nan), shares.rows)
    ends = (f"{name}_difference{end}" for end in ("", "_low", "_high"))
    return dict(zip(ends, differences, strict=True))


def _error_columns(tasks: list[_TaskRows], counted: Array | None = None) -> dict[str, Array]:
    """Return the error rates of sets, and their differences.

    Those of sets that count are compared; None: of those with enough rows for an error rate.
    """
    columns: dict[str, Array] = {}
    for name, positive in _ERRORS.items():
        errors = _together([sets.shares(pred, true == positive) for sets, true, pred in tasks])
        compared = errors.n > FEW - 1e-9 if counted is None else counted
        columns |= _share_columns(name, errors) | _difference_columns(name, errors, compared)
    return columns


def _impact_ratios(shares: Shares, sets: str, counted: Array) -> dict[str, Array]:
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


def _bounds(categories: list[Any], shares: Shares, counted: Array) -> dict[str, Array]:
    """Return bounds of rates and impact ratios; NaN of unknown categories."""
    known = ~np.array([*map(is_unknown, categories)])
    names = tuple(name for name, own in zip(categories, known, strict=True) if own)
    rates = Rates(agreement(categories, names), shares.n, shares.selected)
    columns = rates.columns("selection_rate") | rates.ratios(counted[known])
    none = {name: np.full(counted.shape, np.nan) for name in columns}
    for name, values in columns.items():
        none[name][known] = values
    return none


def _accuracies(test: Contingency, right: Shares) -> dict[str, Array]:
    """Return the accuracy of each group, over all tasks."""
    if test.classes is not None and len(test.tasks) > 1:  # only one of several classes is right
        right = _together([RowSets.of_groups(test).shares(right_shares(test))])
    share = right.share.mean(axis=1)
    # A mean over tasks varies less than one task of as many rows: its interval is not too narrow.
    low, high = share_interval(share, right.rows.min(axis=1))
    return {"accuracy": share, "accuracy_low": low, "accuracy_high": high}


def right_shares(test: Contingency) -> Array:
    """Return the share of each row's tasks that is predicted rightly; of classes, 0 or 1."""
    if test.classes is not None and len(test.tasks) > 1:
        both = test.both("task")
        return np.asarray(sum(column(both, "task_pred", j) for j in range(len(test.tasks))))
    tasks = _rows_by_task(test, "task_pred")
    return np.asarray(sum(rows.true == rows.predicted for rows in tasks) / len(tasks))
