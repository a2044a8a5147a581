"""The tables of an explanation: parts of the value as rows, with intervals, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.labels import Labels
from skbiasamp._utils.formatting import (
    REDUCES,
    REVERSES,
    group_of,
    listed,
    name_of,
    p_value,
    rate,
    task_of,
)
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.association import Association
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.influence import covariances_of, interval
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Estimate, Signs, estimate
from skbiasamp.report._value_parts import (
    DECISION,
    LABEL,
    StrataRows,
    change_of_stratum,
    changes_of_decisions,
    changes_of_predictors,
    dense_numbers,
    mean_of,
)
from skbiasamp.results import AuditResult
from skbiasamp.results.explanation import reversal
from skbiasamp.results.pair_tables import pair_names

LEVEL = 0.95
_BINS = 10


class Whole(NamedTuple):
    """The value that parts sum to: its audit, its pairs, and what each pair counts."""

    audit: AuditResult
    pairs: Pairs
    weights: Array

    @classmethod
    def of(cls, audit: AuditResult, pairs: Pairs) -> Whole:
        """Return the value of an audit and its pairs."""
        return cls(audit, pairs, pairs.aggregate.weights(pairs.change.value))

    def row(self, name: Any, change: Association, task: int | None = None) -> dict[str, Any]:
        """Return what a change adds to the value, of one task or of all."""
        weights = self._of(task)
        part = change if task is None else change * (weights != 0)
        number = estimate(part, self.pairs.signs, weights, confidence_level=LEVEL)
        verdict = self.pairs.direction.verdict(number, part)
        if verdict == REVERSES and change is not self.pairs.change:
            verdict = REDUCES  # all parts together may reverse a direction
        return {**_row(name, number), "verdict": verdict}

    def table(self, changes: Mapping[Any, Association]) -> pd.DataFrame:
        """Return a row for each part."""
        return pd.DataFrame([self.row(name, change) for name, change in changes.items()])

    def published(self, task: int | None = None) -> list[dict[str, Any]]:
        """Return the parts of the published value: the change, the shift and the selection."""
        pairs, weights, sign = self.pairs, self._of(task), np.asarray(self.pairs.sign, dtype=float)
        cells = pairs.predicted.samples[0].cells
        more = dense_numbers(cells, DECISION) - dense_numbers(cells, LABEL)
        shift = mean_of(cells, more @ (weights * sign).sum(axis=0))
        noise = sign * pairs.change.value - pairs.measured(None).amplifications
        selection = float(np.nansum(weights * noise))
        # It is a property of these rows, and has an interval only if it cannot be there.
        end = np.nan if pairs.signs.source is not None else 0.0
        return [
            self.row("change", pairs.change, task),
            {"part": "shift", **shift.row(cells, LEVEL), "verdict": None},
            {"part": "selection", "value": selection, "low": end, "high": end, "verdict": None},
        ]

    def _of(self, task: int | None) -> Array:
        if task is None:
            return self.weights
        return np.where(np.arange(self.weights.shape[1]) == task, self.weights, 0.0)


def _row(name: Any, number: Estimate) -> dict[str, Any]:
    return {"part": name, "value": number.value, "low": number.low, "high": number.high}


def of_change(whole: Whole, tasks: Names) -> dict[str, pd.DataFrame]:
    """Return the parts of the published value, of all tasks and of each."""
    rows: list[dict[str, Any]] = [
        {"task": task, **row}
        for i, task in enumerate(tasks)
        for row in whole.published(i if len(tasks) > 1 else None)
    ]
    return {"change": pd.DataFrame(whole.published()), "change_by_task": pd.DataFrame(rows)}


def of_predictors(whole: Whole, cells: Contingency) -> dict[str, pd.DataFrame]:
    """Return what the predictors of the task and of the group add to MALS, and to each pair."""
    pairs = whole.pairs
    base = pairs.labelled if pairs.signs.source is None else None  # of training labels
    changes = changes_of_predictors(cells, base)
    parts = {
        name: _ends_of(part)
        for name, part in changes_of_predictors(cells, base, centre=False).items()
    }
    counted = np.argwhere((np.asarray(pairs.sign) > 0) & ~np.isnan(pairs.change.value))
    rows = [
        {
            "group": pairs.groups[a],
            "task": pairs.tasks[t],
            "part": name,
            **{k: v[a, t] for k, v in part.items()},
        }
        for a, t in counted
        for name, part in parts.items()
    ]
    return {"predictors": whole.table(changes), "predictors_by_pair": pd.DataFrame(rows)}


def _ends_of(part: Association) -> dict[str, Array]:
    low, high, _ = interval(part.value, part.sd, part.units(), LEVEL)
    return {"value": part.value, "low": low, "high": high}


def of_decision(
    whole: Whole, cells: Contingency, score: Labels
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return what scores, rounding and threshold add, and whether the scores are calibrated."""
    calibration = _calibration(cells, score)
    decision = whole.table(changes_of_decisions(cells, score))
    return {"decision": decision, "calibration": calibration}, list(_uncalibrated(calibration))


def of_strata(
    rows: StrataRows,
    whole: Whole,
    within: Whole | None,
    names: tuple[Names, Names, Names],
    columns: Names,
    given: Names,
) -> tuple[dict[str, Any], list[str]]:
    """Return tables of strata, and findings; `within` is the value of the standardised rows.

    `names` are those of groups, tasks and strata.
    """
    groups, tasks, strata = names
    changes = (change_of_stratum(rows.cells, rows.stratum == i) for i in range(len(strata)))
    tables = {
        "strata": whole.table(dict(zip(strata, changes, strict=True))),
        "conditional": None if within is None else _conditional(rows, within),
        "gaps": _gaps(rows, groups, tasks),
        "rates": _rates(rows, groups, tasks),
    }
    findings = [
        *_of_overlap(rows, strata, given),
        *_reversals(rows, [group_of(group, columns) for group in groups], tasks, given),
    ]
    return tables, findings


def _conditional(rows: StrataRows, within: Whole) -> pd.DataFrame:
    """Return the value within strata, and what strata without rows of all groups add to it."""
    share = float(rows.sums.weight[rows.sums.shared].sum())
    audit = within.audit
    inside = {name: share * getattr(audit, name) for name in ("value", "low", "high")}
    # Signs are of other rows.
    alone = rows.not_shared(within.weights * within.pairs.signs.values)
    return pd.DataFrame(
        [
            {"part": "within strata", **inside, "verdict": audit.verdict},
            {"part": "no overlap", **alone.row(rows.cells, LEVEL), "verdict": None},
        ]
    )


def of_features(change: Association, signs: Signs, names: list[Any]) -> pd.DataFrame:
    """Return what each feature, a column, carries of the difference of the scores of groups."""
    weights = 1 / (~np.isnan(change.value[:, 0])).sum()
    rows = []
    for i, name in enumerate(names):
        own = np.where(np.arange(len(names)) == i, weights, np.zeros(change.value.shape))
        rows.append(_row(name, estimate(change, signs, own, confidence_level=LEVEL)))
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------- calibration


def _calibration(cells: Contingency, predicted: Labels) -> pd.DataFrame:
    """Return mean score and rate of the label in bins of each task, and the test that they agree.

    A label varies as its score says it does, times what weights and clusters make of it. Bins have
    equal shares of this variance, so that none has too few labels for the test.
    """
    labels, scores = dense_numbers(cells, LABEL), dense_numbers(cells, predicted)
    tables = []
    for task, label, score in zip(cells.tasks, labels.T, scores.T, strict=True):
        order = np.argsort(score, kind="stable")
        reached = np.cumsum((cells.weight * (score * (1 - score) + 1e-9))[order])
        ends = score[order][np.searchsorted(reached, reached[-1] * np.arange(1, _BINS) / _BINS)]
        of = np.unique(np.searchsorted(ends, score), return_inverse=True)[1]
        inside = (of == np.arange(of.max() + 1)[:, None]).astype(float)
        n, apart = inside @ cells.weight, inside * (label - score)
        moved, squares = apart @ cells.weight, cells.weight * cells.row_weight
        spread, own = covariances_of(cells, apart), apart**2 @ squares
        expected = (inside * (score * (1 - score))) @ squares
        scale = np.sqrt(np.divide(expected, own, out=np.zeros(len(n)), where=own > 0))
        spread = scale * spread * scale[:, None]
        size = moved @ np.linalg.pinv(spread, hermitian=True) @ moved
        rank = max(int(np.linalg.matrix_rank(spread, hermitian=True)), 1)
        impossible = ((expected == 0) & (own > 0)).any()
        p = 0.0 if impossible else float(stats.chi2.sf(size, rank))
        of_bins = {"n": n, "score": inside * score @ cells.weight / n}
        of_bins |= {"label_rate": inside * label @ cells.weight / n, "p_value": p}
        tables.append(pd.DataFrame({"task": [task] * len(n), **of_bins}))
    return pd.concat(tables, ignore_index=True)


def _uncalibrated(table: pd.DataFrame) -> Iterator[str]:
    """Say for which tasks the scores are not calibrated (Holm's first step over tasks)."""
    each = table.drop_duplicates("task")
    wrong = each[each["p_value"] * len(each) < 1 - LEVEL]
    if len(wrong):
        which = listed([f"task {task_of(task)}" for task in wrong["task"]], 3)
        yield (
            f"The scores are not calibrated for {which} (smallest p-value: "
            f"{p_value(wrong['p_value'].min())}). Scores, rounding and threshold then describe the "
            "decisions. They do not say what calibrated scores would change."
        )


# --------------------------------------------------------------------------- strata


def _compared(rows: StrataRows) -> list[tuple[int, int]]:
    """Return the groups that have rows, each with the largest."""
    n = rows.sums.n.sum(axis=1)
    largest = int(np.argmax(n))
    return [(int(group), largest) for group in np.flatnonzero(n) if group != largest]


def _gaps(rows: StrataRows, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return how each group differs from the largest, in labels, in predictions, and the change."""
    numbers = [dense_numbers(rows.cells, stage) for stage in (LABEL, DECISION)]
    table = []
    for group, other in _compared(rows):
        for i, task in enumerate(tasks):
            labels, decisions = (rows.gap(y[:, i], group, other) for y in numbers)
            change = {part: decisions[part].less(own) for part, own in labels.items()}
            where = {"task": task, "group": groups[group], "other": groups[other]}
            each = {"labels": labels, "predictions": decisions, "change": change}
            table += [
                {**where, "of": of, "part": part, **own.row(rows.cells, LEVEL)}
                for of, parts in each.items()
                for part, own in parts.items()
            ]
    return pd.DataFrame(table)


def _rates(rows: StrataRows, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return rates and demographic disparities of each group, overall and by stratum."""
    tables, sums = [], rows.sums
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        numbers = {
            "rate": sums.rate(stage),
            "standardised": sums.standardised_rate(stage),
            "disparity": sums.disparity(stage, within=False),
            "conditional_disparity": sums.disparity(stage, within=True),
        }
        of_pairs = {name: values.ravel() for name, values in numbers.items()}
        tables.append(pd.DataFrame({**pair_names(groups, tasks), "of": of, **of_pairs}))
    return pd.concat(tables, ignore_index=True)


def _of_overlap(rows: StrataRows, strata: Names, columns: Names) -> Iterator[str]:
    """Name the strata in which a group has no rows."""
    alone = np.flatnonzero(~rows.sums.shared)
    if len(alone):
        shown = listed([group_of(strata[i], columns) for i in alone], 3)
        share = rate(float(rows.sums.weight[alone].sum()))
        yield (
            f"In {len(alone)} of {len(strata)} strata a group has no rows: {shown}. "
            f"They hold {share} of rows, and groups cannot be compared within them."
        )


def _reversals(rows: StrataRows, groups: list[str], tasks: Names, given: Names) -> Iterator[str]:
    """Say where groups differ in one direction overall, and in the other within strata.

    Both differences must be certain, for all groups and tasks together (Holm).
    """
    pairs, column = _compared(rows), name_of(list(given))
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        numbers = dense_numbers(rows.cells, stage)
        differences: list[tuple[Any, ...]] = []
        for own, other in pairs:
            for i, task in enumerate(tasks):
                both = [
                    rows.difference(numbers[:, i], own, other, within=within)
                    for within in (False, True)
                ]
                least = min(abs(each.z(rows.cells)) for each in both)
                differences.append((least, task, own, other, *(each.value for each in both)))
        p_values = adjust_p_values(2 * stats.norm.sf([each[0] for each in differences]), "holm")
        for p, (_, name, first, second, whole, part) in zip(p_values, differences, strict=True):
            if p < 1 - LEVEL and whole * part < 0:
                yield reversal(name, [groups[first], groups[second]], of, whole, part, column)
