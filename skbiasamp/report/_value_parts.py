"""Parts of a value: each is a change of associations, as the value is, so that they sum to it.

Directional amplification (A→T) is linear in the predictions. What a part shares with signs of the
same labels is taken off part by part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, stats

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.labels import Codes, Labels, Members, narrow, ranked
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import group_of, listed, name_of, p_value, rate, task_of
from skbiasamp._utils.progress import give_back_memory
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.inference.association import Association, associate
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.influence import degrees_of_freedom, interval, unit_sums
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Estimate, Signs, estimate
from skbiasamp.results import AuditResult
from skbiasamp.results.explanation import reversal
from skbiasamp.results.kinds import pair_names

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

    def row(
        self, name: Any, change: Association, task: int | None = None, *, is_whole: bool = False
    ) -> dict[str, Any]:
        """Return what a change adds to the value, of one task or of all.

        One that begins with the labels and `is_whole` may reverse a direction; parts together may.
        """
        weights = self._of(task)
        part = change if task is None else change * (weights != 0)
        number = estimate(part, self.pairs.signs, weights, confidence_level=LEVEL)
        verdict = self.pairs.verdict(number, part)
        if verdict == words.REVERSES and not (is_whole or change is self.pairs.change):
            verdict = words.REDUCES
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
    parts = {}
    for name, part in changes_of_predictors(cells, base, centre=False).items():
        low, high, _ = interval(part.value, part.sd, part.units, LEVEL)
        parts[name] = {"value": part.value, "low": low, "high": high}
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


def of_decision(
    whole: Whole, cells: Contingency, score: Labels
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return what scores, rounding and threshold add, and whether the scores are calibrated.

    They are the changes from labels to scores, to rounded scores, and to decisions.
    """
    give_back_memory(cells.n_cells)
    calibration = _calibration(cells, score)
    give_back_memory(cells.n_cells)
    score = Members(dense_numbers(cells, score))
    label, decision = (associate(cells, side, "group") for side in ("task", "task_pred"))
    scores, rounded = associate(cells, score, "group", by_group=True), _rounded(cells, score)
    rows = [
        whole.row("scores", scores - label, is_whole=True),
        whole.row("rounding", rounded - scores),
        whole.row("threshold", decision - rounded),
    ]
    tables = {"decision": pd.DataFrame(rows), "calibration": calibration}
    return tables, list(_uncalibrated(calibration))


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
    cells, conditional = rows.cells, None
    moves = dense_numbers(cells, DECISION) - dense_numbers(cells, LABEL)
    changes = {}
    for i, name in enumerate(strata):
        added = Members(moves * (rows.stratum == i)[:, None])
        changes[name] = associate(cells, added, "group", by_group=True)
    if within is not None:  # and what strata without rows of all groups add to it
        share, audit = float(rows.sums.weight[rows.sums.shared].sum()), within.audit
        inside = {name: share * getattr(audit, name) for name in ("value", "low", "high")}
        # Signs are of other rows.
        alone = rows.not_shared(within.weights * within.pairs.signs.values)
        conditional = pd.DataFrame(
            [
                {"part": "within strata", **inside, "verdict": audit.verdict},
                {"part": "no overlap", **alone.row(cells, LEVEL), "verdict": None},
            ]
        )
    tables = {
        "strata": whole.table(changes),
        "conditional": conditional,
        "gaps": _gaps(rows, groups, tasks),
        "rates": _rates(rows, groups, tasks),
    }
    findings = [
        *_of_overlap(rows, strata, given),
        *_reversals(rows, [group_of(group, columns) for group in groups], tasks, given),
    ]
    return tables, findings


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
        of = _bins_of(cells, score)
        # One entry a row: of a matrix of bins × rows most would be 0.
        apart = sparse.csr_array((label - score, (of, np.arange(len(of)))))
        n, moved = np.bincount(of, cells.weight), apart @ cells.weight
        squares = cells.weight * cells.row_weight
        expected = np.bincount(of, score * (1 - score) * squares)
        own = apart.power(2) @ squares
        del squares
        scale = np.sqrt(np.divide(expected, own, out=np.zeros(len(n)), where=own > 0))
        sums, times = unit_sums(cells, apart)
        del apart
        spread = scale * ((sums * times) @ sums.T).toarray() * scale[:, None]
        del sums, times
        size = moved @ np.linalg.pinv(spread, hermitian=True) @ moved
        rank = max(int(np.linalg.matrix_rank(spread, hermitian=True)), 1)
        impossible = ((expected == 0) & (own > 0)).any()
        p = 0.0 if impossible else float(stats.chi2.sf(size, rank))
        of_bins: dict[str, Any] = {"n": n, "score": np.bincount(of, score * cells.weight) / n}
        of_bins |= {"label_rate": np.bincount(of, label * cells.weight) / n, "p_value": p}
        tables.append(pd.DataFrame({"task": [task] * len(n), **of_bins}))
    return pd.concat(tables, ignore_index=True)


def _bins_of(cells: Contingency, score: Array) -> Array:
    """Return the bin that the score of each cell is in."""
    order = np.argsort(score, kind="stable")
    spread = score * (1 - score)
    spread += 1e-9
    spread *= cells.weight
    reached = np.cumsum(spread[order])
    del spread
    ends = score[order[np.searchsorted(reached, reached[-1] * np.arange(1, _BINS) / _BINS)]]
    del order, reached
    of = np.searchsorted(ends, score)
    return narrow(np.cumsum(np.bincount(of) > 0) - 1, _BINS)[of]  # without bins that are empty


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


LABEL, DECISION = "task", "task_pred"


def dense_numbers(cells: Contingency, labels: Labels | str) -> Array:
    """Return labels or predictions as numbers (cells × tasks)."""
    known = labels_of(cells, labels) if isinstance(labels, str) else labels  # type: ignore[arg-type]
    return known.dense(slice(None), float)


def _rounded(cells: Contingency, score: Members) -> Association:
    """Return the associations if each task is predicted as often as it is labelled.

    Rows with the largest scores are predicted; those at the threshold are shared out. The threshold
    is of these rows: one that is labelled and not predicted lowers it, so that another row near it
    is predicted, of each group as often as it is there.
    """
    label = dense_numbers(cells, "task")
    rounded, near = np.zeros(label.shape), np.zeros(label.shape)
    for task in range(label.shape[1]):
        each = _at_threshold(cells, score.matrix[:, task], label[:, task])
        rounded[:, task], near[:, task] = each
    fixed = associate(cells, Members(rounded), "group", by_group=True)
    every = Members(np.broadcast_to(np.True_, (cells.n_cells, len(fixed.n))))
    moved = associate(cells, Members(label - rounded), every, by_group=True, centre=False)
    inside = pair_sums(labels_of(cells, "group"), Members(near), cells.weight)
    share = np.divide(inside, fixed.n, out=np.zeros(inside.shape), where=fixed.n > 0)
    return fixed + moved * (cells.total * share - 1)


def _at_threshold(cells: Contingency, score: Array, label: Array) -> tuple[Array, Array]:
    """Return by how much each row is predicted, and the density of rows near the threshold."""
    weight, need = cells.weight, float(cells.weight @ label)
    _, level = ranked(-score)  # from the largest score down
    inside = np.bincount(level, weight)
    before = np.cumsum(inside) - inside
    part = np.divide(need - before, inside, out=np.zeros(len(inside)), where=inside > 0)
    rounded = np.clip(part, 0, 1)[level]
    del part
    reach = math.sqrt(float((weight * cells.unit_weight) @ (label - rounded) ** 2))
    reach = max(reach, 1e-9 * cells.total)
    # Of each level, as much as is within a standard error of the last row that is predicted.
    within = np.minimum(before + inside, need + reach)
    within -= np.maximum(before, need - reach)
    within = np.maximum(within, 0)
    near = np.divide(within, inside, out=np.zeros(len(inside)), where=inside > 0)[level]
    return rounded, near / (weight @ near)


def changes_of_predictors(
    cells: Contingency, base: Association | None, *, centre: bool = True
) -> dict[str, Association]:
    """Return what predicted tasks and predicted groups add to the shares of groups in a task.

    One predictor takes the place of its label, then the other: the mean of both orders. With a
    `base`, of training labels, the rest is how the labels of these rows differ from it.
    """

    def share(group: SideName, task: SideName) -> Association:
        known = associate(cells, group, given=task)
        return known if centre else known.without_centre()

    labels, both = share("group", "task"), share("group_pred", "task_pred")
    tasks, groups = share("group", "task_pred"), share("group_pred", "task")
    parts = {
        "task predictor": (tasks - labels + both - groups) * 0.5,
        "group predictor": (groups - labels + both - tasks) * 0.5,
    }
    if base is not None:
        parts["labels"] = labels - (base if centre else base.without_centre())
    return parts


def within_rows(cells: Contingency, outcome: Labels, inside: Array) -> Association:
    """Return the associations of groups and tasks among some of the rows."""
    groups = labels_of(cells, "group")
    assert isinstance(groups, Codes)
    own = Codes(np.where(inside, groups.codes, -1), groups.width)
    every = Members(np.repeat(inside[:, None], groups.width, axis=1))
    how: dict[str, Any] = {"by_group": True, "centre": False}
    return associate(cells, outcome, own, **how) - associate(cells, outcome, every, **how)


# --------------------------------------------------------------------------- sums of rows


class Measured(NamedTuple):
    """A number, and how much a unit of weight of each cell moves it."""

    value: float
    influence: Array

    def row(self, cells: Contingency, level: float) -> dict[str, float]:
        """Return the number with its interval."""
        squares, fourth = _moments(cells, self.influence)
        df = degrees_of_freedom(squares, fourth)
        low, high, _ = interval(self.value, math.sqrt(squares), df, level)
        return {"value": self.value, "low": float(low), "high": float(high)}

    def z(self, cells: Contingency) -> float:
        """Return the number in standard errors; 0 if it does not vary."""
        error = math.sqrt(_moments(cells, self.influence)[0])
        return self.value / error if error > 0 and abs(self.value) > 1e-12 else 0.0

    def less(self, other: Measured) -> Measured:
        """Return the difference to another number of the same rows."""
        return Measured(self.value - other.value, self.influence - other.influence)


def mean_of(cells: Contingency, values: Array) -> Measured:
    """Return the mean of a number of each cell."""
    mean = float(cells.weight @ values) / cells.total
    return Measured(mean, (values - mean) / cells.total)


def _moments(cells: Contingency, influence: Array) -> tuple[float, float]:
    """Return sums of squares, and of fourth powers, of what independent rows or clusters add."""
    moved, times = unit_sums(cells, influence)
    n = float(times.sum())
    parts = np.asarray(moved) ** 2 * n / max(n - 1, 1)
    return float(times @ parts), float(times @ parts**2)


def weights_within(n: Array, share: Array) -> Array:
    """Return what rows of each group and stratum weigh if groups differ within strata alone.

    `n` are rows of groups × strata. Each stratum then is in every group as frequent as its `share`,
    and groups stay as large as they are (direct standardisation). Rows in strata without rows of
    all groups weigh nothing.
    """
    known = n * ((n > 0).all(axis=0, where=n.any(axis=1, keepdims=True)) & (share > 0))
    wanted = share * known.any(axis=0)
    size = known.sum(axis=1, keepdims=True) / (wanted.sum() or 1.0)
    return np.divide(wanted * size, known, out=np.zeros(n.shape), where=known > 0)


@dataclass(frozen=True, eq=False)
class StrataSums:
    """Rows of strata of groups, and how many of them are labelled and predicted as each task.

    `n` is groups × strata; `of` says by stage how many are of each task (one more axis).
    """

    n: Array
    of: Mapping[str, Array]

    @classmethod
    def count(cls, cells: Contingency, group: Array, stratum: Array, n_strata: int) -> StrataSums:
        """Count cells, whose groups and strata are known."""
        shape = len(cells.groups), n_strata
        codes = Codes(group * n_strata + stratum, shape[0] * shape[1])
        n = np.bincount(codes.codes, cells.weight, codes.width).reshape(shape)
        of = {
            stage: pair_sums(codes, labels_of(cells, stage), cells.weight)  # type: ignore[arg-type]
            for stage in (LABEL, DECISION)
        }
        return cls(n, {stage: sums.reshape(*shape, -1) for stage, sums in of.items()})

    @cached_property
    def weight(self) -> Array:
        """The share of each stratum in all rows."""
        return np.asarray(self.n.sum(axis=0) / self.n.sum())

    @cached_property
    def within(self) -> Array:
        """What a row of each group and stratum weighs if groups have the strata of all rows."""
        return weights_within(self.n, self.weight)

    @cached_property
    def shared(self) -> Array:
        """Which strata have rows of all groups."""
        return np.asarray(self.within.any(axis=0))

    def rate(self, stage: str) -> Array:
        """Return P(task | group): groups × tasks; NaN without rows."""
        return _share(self.of[stage].sum(axis=1), self.n.sum(axis=1)[:, None])

    def standardised_rate(self, stage: str) -> Array:
        """Return P(task | group) if each group has the strata of all rows."""
        yes = (self.of[stage] * self.within[..., None]).sum(axis=1)
        return _share(yes, (self.n * self.within).sum(axis=1)[:, None])

    def disparity(self, stage: str, *, within: bool) -> Array:
        """Return P(group | not the task) − P(group | task), or its mean within strata."""
        yes = self.of[stage]
        no = self.n[..., None] - yes
        if not within:
            yes, no = (counts.sum(axis=1, keepdims=True) for counts in (yes, no))
        apart = _share(no, no.sum(axis=0)) - _share(yes, yes.sum(axis=0))
        if not within:
            return np.asarray(apart[:, 0])
        return np.asarray(np.einsum("azt,z->at", np.nan_to_num(apart), self.weight))


def _share(part: Array, whole: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / whole)


@dataclass(frozen=True, eq=False)
class StrataRows:
    """Cells with the group and the stratum of each, and their sums."""

    cells: Contingency
    group: Array
    stratum: Array
    sums: StrataSums

    def not_shared(self, weights: Array) -> Measured:
        """Return what strata without rows of all groups add to the change within strata.

        `weights` are what each pair counts, with its sign. The shares of strata are known.
        """
        cells, total, influence = self.cells, 0.0, np.zeros(self.cells.n_cells)
        change = dense_numbers(cells, DECISION) - dense_numbers(cells, LABEL)
        for z in np.flatnonzero(~self.sums.shared):
            here = np.flatnonzero(self.stratum == z)
            group, weight, own = self.group[here], cells.weight[here], change[here]
            n = self.sums.n[:, z]
            moves = (self.sums.of[DECISION] - self.sums.of[LABEL])[:, z]
            rate, mean = np.nan_to_num(_share(moves, n[:, None])), moves.sum(axis=0) / n.sum()
            counts = weights * self.sums.weight[z] * (n > 0)[:, None]
            total += float((counts * (rate - mean)).sum())
            each = counts[group] * (own - rate[group]) * _leverage(cells, here, n[group])[:, None]
            influence[here] = each.sum(axis=1) / n[group]
            influence[here] -= (own - mean) @ counts.sum(axis=0) / weight.sum()
        return Measured(total, influence)

    def gap(self, y: Array, group: int, other: int) -> dict[str, Measured]:
        """Split the difference of the rates of two groups (Kitagawa 1955).

        `y` is 1 or 0 in each cell. *explained* is what the different strata of the groups make of
        it, *unexplained* the difference within strata. *no overlap* is how far rows in strata of
        one group alone move the rates (Ñopo 2008).
        """
        n = self.sums.n[[group, other]]
        both, some = (n > 0).all(axis=0), (n > 0).any(axis=0)
        explained, unexplained = self._within(y, group, other, n * both)
        alone = Measured(0.0, np.zeros(self.cells.n_cells))
        if not both.all(where=some):
            alone = self.difference(y, group, other).less(explained).less(unexplained)
        return {"explained": explained, "unexplained": unexplained, "no overlap": alone}

    def _within(self, y: Array, group: int, other: int, n: Array) -> tuple[Measured, Measured]:
        """Return what strata explain of a gap, and what they do not; `n` are rows that count."""
        size = n.sum(axis=1)
        share, rate = np.zeros(n.shape), np.zeros(n.shape)
        rows = [self._rows_of(which, n[i] > 0) for i, which in enumerate((group, other))]
        for i, here in enumerate(rows):
            if size[i]:
                share[i] = n[i] / size[i]
                yes = np.bincount(self.stratum[here], (self.cells.weight * y)[here], n.shape[1])
                rate[i] = np.divide(yes, n[i], out=np.zeros(len(yes)), where=n[i] > 0)
        mean, apart = rate.mean(axis=0), rate[0] - rate[1]
        more, both = share[0] - share[1], share.mean(axis=0)
        explained = np.zeros(self.cells.n_cells)
        unexplained = explained.copy()
        for i, (here, side) in enumerate(zip(rows, (1, -1), strict=True)):
            z = self.stratum[here]
            own = (y[here] - rate[i, z]) / n[i, z] * _leverage(self.cells, here, n[i, z])
            explained[here] = more[z] / 2 * own
            explained[here] += side * (mean[z] - share[i] @ mean) / max(size[i], 1e-300)
            unexplained[here] = side * both[z] * own
            unexplained[here] += (apart[z] - share[i] @ apart) / 2 / max(size[i], 1e-300)
        return Measured(float(more @ mean), explained), Measured(float(both @ apart), unexplained)

    def difference(self, y: Array, group: int, other: int, *, within: bool = False) -> Measured:
        """Return the difference of the rates of two groups, or of their standardised rates."""
        n = self.sums.n
        times = self.sums.within if within else np.ones(n.shape)
        rates, influence = [], np.zeros(self.cells.n_cells)
        for which, side in ((group, 1.0), (other, -1.0)):
            here = self._rows_of(which, times[which] > 0)
            z, total = self.stratum[here], float(n[which] @ times[which])
            weight = times[which, z] / total if total else times[which, z]
            rates.append(float((self.cells.weight[here] * weight) @ y[here]) if total else math.nan)
            centre: Any = rates[-1]
            size: Any = total
            if within:
                yes = np.bincount(z, self.cells.weight[here] * y[here], n.shape[1])
                centre, size = yes[z] / n[which, z], n[which, z]
            reach = _leverage(self.cells, here, size)
            influence[here] = side * weight * (y[here] - centre) * reach
        return Measured(rates[0] - rates[1], influence)

    def _rows_of(self, group: int, strata: Array) -> Array:
        return np.flatnonzero((self.group == group) & strata[self.stratum])


def _leverage(cells: Contingency, rows: Array, n: Any) -> Array:
    """Return by how much rows count more since they move their own rate (HC2)."""
    return np.asarray(1 / np.sqrt(1 - np.minimum(cells.unit_weight[rows] / n, 0.5)))
