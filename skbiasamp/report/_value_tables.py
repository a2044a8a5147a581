"""The tables of an explanation: parts of the value as rows, with intervals, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.labels import side_of_model
from skbiasamp._utils.formatting import group_of, listed, name_of, p_value, rate, task_of
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.independent_signs import Signs, doubted, doubts, signs_beside
from skbiasamp.inference.influence import covariances_of
from skbiasamp.inference.value_parts import (
    DECISION,
    LABEL,
    ROUNDED,
    SCORE,
    StrataSums,
    mean_of_pairs,
)
from skbiasamp.results import AuditResult
from skbiasamp.results.explanation import reversal
from skbiasamp.results.pair_tables import pair_names

LEVEL = 0.95
_BINS = 10


class Part(NamedTuple):
    """A part: the mean change of pairs (draws × groups × tasks) in the direction of signs.

    `ends` are its interval if an audit knows it.
    """

    signs: Signs
    change: Array
    ends: tuple[float, float] | None = None

    def row(self, name: Any, task: int | None = None) -> dict[str, Any]:
        """Return its value and interval, of one of several tasks or of all."""
        signs, data = self.signs, self.change[:1]
        each = [(signs.used, self.change), (signs.turned, data)]
        each += [(np.abs(signs.used), signs.bias + 0 * data)]
        some = slice(None) if task is None else [task]
        draws, turned, bias = (mean_of_pairs(*both)[:, some].sum(axis=1) for both in each)
        row = {"part": name, **_row(draws, turned[0], bias[0])}
        if self.ends is not None and task is None:
            row["low"], row["high"] = self.ends
        if name == "selection" and draws.any():  # it is of these rows, and no resample repeats it
            row["low"] = row["high"] = np.nan
        return row


class Parts(NamedTuple):
    """The gap at signs that are independent of it, and what is left of the value beside it.

    `labels` are the associations in labels, and `shift` is how much more often tasks are predicted.
    """

    labels: Array
    shift: Array
    published: Array
    gap: Part

    @classmethod
    def of(cls, sums: StrataSums, audit: AuditResult, published: Array, signs: Signs) -> Parts:
        """Return the parts of the value of an audit, from the sums of its rows."""
        gap = Part(signs, sums.change(LABEL, DECISION), (audit.low, audit.high))
        shift = sums.overall(DECISION) - sums.overall(LABEL)
        return cls(sums.association(LABEL), shift, published, gap)

    def left(self, used: Array) -> dict[Any, Part]:
        """Return what is left of the value beside a gap, or its parts, at these signs."""
        total, counted = self.gap.change, self.gap.signs.counted
        shift, own = self.shift + 0 * total, np.where(counted, self.published, 0)
        return {
            "shift": Part(Signs(own, counted), shift),
            "selection": Part(Signs(own - used, counted), total),
            "small pairs": Part(Signs(self.published - own, counted), total + shift),
        }

    def summing(self, changes: Mapping[Any, Array]) -> dict[Any, Part]:
        """Return the parts of the gap, and what is left of the value: all of them sum to it."""
        of, whole = list(changes.values()), self.gap.signs
        moving = [bool((np.abs(change) > 1e-12).any()) for change in of]
        if sum(moving) == 1:  # the gap itself
            still = Part(whole._replace(bias=0.0), 0 * self.gap.change)
            parts = [self.gap if moves else still for moves in moving]
        else:
            each = [whole] * len(of)
            if whole.directions is not None:  # signs of training labels are independent as they are
                each = signs_beside(self.labels, of, whole.counted, whole.directions)
            parts = list(map(Part, each, of))
        return dict(zip(changes, parts, strict=True)) | self.left(parts[0].signs.used)

    def within(self, sums: StrataSums) -> dict[Any, Part]:
        """Return the parts within strata of `sums`, if these are those of the standardised rows.

        Strata without rows of all groups are a part of their own.
        """
        apart, shift = sums.not_shared()
        share = float(sums.weight[0, sums.shared].sum())
        low, high = self.gap.ends or (np.nan, np.nan)
        inside = Part(self.gap.signs, share * self.gap.change, (share * low, share * high))
        alone = Part(self.gap.signs._replace(bias=0.0), apart + 0 * self.gap.change)
        both = self._replace(
            shift=share * self.shift + shift,
            gap=self.gap._replace(change=inside.change + alone.change),
        )
        left = both.left(self.gap.signs.used)
        if not left["small pairs"].signs.used.any():
            del left["small pairs"]
        return {"within strata": inside, "no overlap": alone} | left


def of_change(parts: Parts, tasks: Names) -> dict[str, pd.DataFrame]:
    """Return the parts of every audit, of all tasks and of each."""
    change = {"gap": parts.gap} | parts.left(parts.gap.signs.used)
    rows: list[dict[str, Any]] = [
        {"task": task, **part.row(name, i if len(tasks) > 1 else None)}
        for i, task in enumerate(tasks)
        for name, part in change.items()
    ]
    return {"change": _table(change), "change_by_task": pd.DataFrame(rows)}


def of_decision(
    sums: StrataSums, parts: Parts, cells: Contingency
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return what scores, rounding and threshold add, and whether the scores are calibrated."""
    stages = {"scores": (LABEL, SCORE), "rounding": (SCORE, ROUNDED)}
    stages |= {"threshold": (ROUNDED, DECISION)}
    changes = {name: sums.change(*both) for name, both in stages.items()}
    calibration = _calibration(cells)
    tables = {"decision": _table(parts.summing(changes)), "calibration": calibration}
    return tables, list(_uncalibrated(calibration))


def of_strata(
    sums: StrataSums,
    parts: Parts,
    inside: Parts,
    names: tuple[Names, Names, Names],
    columns: Names,
    given: Names,
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return tables of strata, and findings; `inside` are the parts of the standardised rows.

    `names` are those of groups, tasks and strata.
    """
    groups, tasks, strata = names
    changes = {name: sums.of_stratum(i) for i, name in enumerate(strata)}
    tables = {
        "strata": _table(parts.summing(changes)),
        "conditional": _table(inside.within(sums)),
        "gaps": _gaps(sums, groups, tasks),
        "rates": _rates(sums, groups, tasks),
    }
    findings = [
        *_of_overlap(sums, strata, given),
        *_reversals(sums, [group_of(group, columns) for group in groups], tasks, given),
    ]
    return tables, findings


def of_features(parts: Parts, sums: StrataSums, names: list[Any]) -> pd.DataFrame:
    """Return what each feature carries of the difference of the scores between groups."""
    carried = np.split(sums.association(DECISION), len(names), axis=2)
    signs = parts.gap.signs._replace(bias=0.0)
    return _table({name: Part(signs, of) for name, of in zip(names, carried, strict=True)})


def _table(parts: Mapping[Any, Part]) -> pd.DataFrame:
    """Return a row for each part."""
    return pd.DataFrame([part.row(name) for name, part in parts.items()])


def _row(draws: Array, turned: float = 0.0, bias: float = 0.0) -> dict[str, float]:
    """Return a value and percentiles of its draws, which count how far signs are in doubt."""
    tail = (1 - LEVEL) / 2
    known = draws[1:][~np.isnan(draws[1:])]
    ends = np.full(2, np.nan)
    if len(known):
        ends = np.quantile(known, [tail, 1 - tail], method="weibull")
    low, high = doubted(ends, *doubts(turned, bias))
    return {"value": float(draws[0]), "low": float(low), "high": float(high)}


# --------------------------------------------------------------------------- calibration


def _calibration(cells: Contingency) -> pd.DataFrame:
    """Return mean score and rate of the label in bins of each task, and the test that they agree.

    A label varies as its score says it does, times what weights and clusters make of it. Bins have
    equal shares of this variance, so that none has too few labels for the test.
    """
    labels = labels_of(cells, "task").dense(slice(None), float)
    scores = labels_of(cells, side_of_model("task_pred", SCORE)).dense(slice(None), float)
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


def _compared(sums: StrataSums) -> list[tuple[int, int]]:
    """Return the groups that have rows, each with the largest."""
    n = sums.n[0].sum(axis=1)
    largest = int(np.argmax(n))
    return [(int(group), largest) for group in np.flatnonzero(n) if group != largest]


def _gaps(sums: StrataSums, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return how each group differs from the largest, in labels, in predictions, and the change."""
    rows = []
    for group, other in _compared(sums):
        labels, decisions = (sums.gap(stage, group, other) for stage in (LABEL, DECISION))
        change = {part: decisions[part] - draws for part, draws in labels.items()}
        each = {"labels": labels, "predictions": decisions, "change": change}
        for i, task in enumerate(tasks):
            where = {"task": task, "group": groups[group], "other": groups[other]}
            rows += [
                {**where, "of": of, "part": part, **_row(draws[:, i])}
                for of, parts in each.items()
                for part, draws in parts.items()
            ]
    return pd.DataFrame(rows)


def _rates(sums: StrataSums, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return rates and demographic disparities of each group, overall and by stratum."""
    tables = []
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        numbers = {
            "rate": sums.rate(stage),
            "standardised": sums.standardised.rate(stage),
            "disparity": sums.disparity(stage, within=False),
            "conditional_disparity": sums.disparity(stage, within=True),
        }
        of_pairs = {name: draws[0].ravel() for name, draws in numbers.items()}
        tables.append(pd.DataFrame({**pair_names(groups, tasks), "of": of, **of_pairs}))
    return pd.concat(tables, ignore_index=True)


def _of_overlap(sums: StrataSums, strata: Names, columns: Names) -> Iterator[str]:
    """Name the strata in which a group has no rows."""
    alone = np.flatnonzero(~sums.shared)
    if len(alone):
        shown = listed([group_of(strata[i], columns) for i in alone], 3)
        share = rate(float(sums.weight[0, alone].sum()))
        yield (
            f"In {len(alone)} of {len(strata)} strata a group has no rows: {shown}. "
            f"They hold {share} of rows, and groups cannot be compared within them."
        )


def _reversals(sums: StrataSums, groups: list[str], tasks: Names, given: Names) -> Iterator[str]:
    """Say where groups differ in one direction overall, and in the other within strata.

    Both differences must be certain, for all groups and tasks together (Holm).
    """
    pairs = _compared(sums)
    own, other = (np.array(each) for each in zip(*pairs, strict=True))
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        rates = np.stack([sums.rate(stage), sums.standardised.rate(stage)])
        apart = rates[:, :, own] - rates[:, :, other]
        apart = np.where(np.abs(apart) > 1e-12, apart, 0.0)
        whole, within = apart[:, 0]
        error = np.nan_to_num(apart[:, 1:]).std(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            least = (np.abs(apart[:, 0]) / error).min(axis=0)
        p_values = adjust_p_values(2 * stats.norm.sf(np.nan_to_num(least)), "holm")
        for i, j in np.argwhere((p_values < 1 - LEVEL) & (whole * within < 0)):
            shown, column = [groups[k] for k in pairs[i]], name_of(list(given))
            yield reversal(tasks[j], shown, of, float(whole[i, j]), float(within[i, j]), column)
