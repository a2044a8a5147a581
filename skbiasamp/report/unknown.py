"""Bounds of rates, ratios and the value if rows without a group belonged to any of the groups.

A *completion* puts every row without a group into a group that agrees with what is known of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import special

from skbiasamp._input.checks import MISSING, Array, Names
from skbiasamp._input.labels import Codes, Side, codes_of
from skbiasamp._utils.formatting import DEPENDS, HOLDS
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import column, distinct, side_of, sides_of, take, with_sides
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.directional import compares_rows
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.render.facts import Unknown
from skbiasamp.report.strata import RowSource
from skbiasamp.results import FOUR_FIFTHS, AuditResult

_MOST_SETS = 8  # groups whose subsets are all looked at
_MOST_MOVES = 5e5  # numbers that a search looks at together
_FEW_CELLS = 2e4  # cells × groups × tasks, whose bounds are there without asking
# How many steps rows of a kind are divided into, by how many sums there are.
_STEPS = ((12, 1), (6, 8), (4, 60), (2, np.inf))


def is_unknown(name: Any) -> bool:
    """Whether a group lacks a value; a real one called as missing values are has another type."""
    parts = name if isinstance(name, tuple) else (name,)
    return any(type(part) is str and part == MISSING for part in parts)


def agreement(names: Sequence[Any], groups: Names) -> Array:
    """Return which groups the rows of each name may be in (names × groups).

    Names that are no group are rare ones, which are one group together.
    """
    agree = np.array([[name == group for group in groups] for name in names])
    unknown = np.array([*map(is_unknown, names)])
    agree[~unknown & ~agree.any(axis=1)] = ~agree.any(axis=0)
    parts = np.array([name if isinstance(name, tuple) else (name,) for name in names], dtype=object)
    lacks = np.array([[is_unknown(part) for part in each] for each in parts])
    for i in np.flatnonzero(unknown):
        agree[i] = agree[~unknown & (lacks[i] | (parts == parts[i])).all(axis=1)].any(axis=0)
    return agree


# --------------------------------------------------------------------------- rates


class Rates:
    """Rates of groups and their bounds: `k` of `n` rows of each name have the task (names × tasks).

    `agree` says which groups rows of a name may be in. Arrays are groups × tasks.
    """

    def __init__(self, agree: Array, n: Array, k: Array) -> None:
        several = agree.sum(axis=1, keepdims=True) > 1
        self.open, alone = agree & several, agree & ~several
        self.without, self.having = n - k, k  # by name
        self.n, self.k = alone.T @ n, alone.T @ k
        self.zeros, self.ones = self.open.T @ self.without, self.open.T @ self.having
        self.whole = bool(np.array_equal(n, np.rint(n)))
        with np.errstate(invalid="ignore"):
            self.share = self.k / self.n
            self.lowest = self.k / (self.n + self.zeros)
            self.highest = (self.k + self.ones) / (self.n + self.ones)

    def ratios(self, counted: Array) -> dict[str, Array]:
        """Return bounds of impact ratios of the groups that count, and how many rows turn them."""
        ends = np.full((3, *counted.shape), np.nan)
        for a, t in np.argwhere(counted & (self.n > 0)):
            others = counted[:, t] & (self.n[:, t] > 0) & (np.arange(len(counted)) != a)
            low, high = self.lowest[a, t], self.highest[a, t]
            with np.errstate(invalid="ignore"):
                low /= max([low, *self.highest[others, t]])
                high /= self._lowest_maximum(a, t, others)
            ends[:2, a, t] = low, high
            if low < FOUR_FIFTHS <= high:
                ends[2, a, t] = self._rows_that_turn(a, t, np.flatnonzero(others))
        names = (f"impact_ratio_{end}" for end in ("lowest", "highest", "turned_by"))
        return dict(zip(names, ends, strict=True))

    def columns(self, name: str) -> dict[str, Array]:
        """Return the bounds as columns of a table."""
        return {f"{name}_lowest": self.lowest, f"{name}_highest": self.highest}

    def _lowest_maximum(self, a: int, t: int, others: Array) -> float:
        """Return the lowest that the highest rate can be if that of `a` is as high as it can be.

        Every set of other groups must find rows without the task to come down (Hall's condition).
        """
        low, high, n, k = float(self.highest[a, t]), 1.0, self.n[:, t], self.k[:, t]
        elsewhere, sets = self.open.copy(), _subsets(others)
        elsewhere[:, a] = False
        zeros = self.without[:, t] @ (elsewhere @ sets.T)
        forced = elsewhere.any(axis=1)[:, None] & ~self.open[:, [a]] & ~(elsewhere @ ~sets.T)
        ones = self.having[:, t] @ forced

        def is_reached(rate: float) -> bool:
            each = k / rate - n
            each = np.maximum(np.ceil(each - 1e-9) if self.whole else each, 0.0)
            together = (sets @ k + ones) / rate - sets @ n - ones
            return bool((np.maximum(sets @ each, together) <= zeros + 1e-9).all())

        if not low:
            return float(self.highest[others, t].max(initial=0.0) > 0)
        if is_reached(low):
            return low
        while high - low > 1e-13:
            middle = (low + high) / 2
            low, high = (low, middle) if is_reached(middle) else (middle, high)
        return high

    def _rows_that_turn(self, a: int, t: int, others: Array) -> float:
        """Return how few open rows move a ratio to the other side of four fifths."""
        if self.share[a, t] < FOUR_FIFTHS * self.share[others, t].max():
            return self._fewest(t, a, others, 1 / FOUR_FIFTHS, -1e-9)
        return min(self._fewest(t, b, np.array([a]), FOUR_FIFTHS, 1e-9) for b in others)

    def _fewest(self, t: int, up: int, down: Array, factor: float, strict: float) -> float:
        """Return how many rows bring the rates of some groups below one rate times a factor."""
        most = self.ones[up, t]
        more = np.linspace(0, most, int(min(most, 2000)) + 1).round()
        rate = factor * (self.k[up, t] + more) / (self.n[up, t] + more)
        with np.errstate(divide="ignore", invalid="ignore"):
            short = np.ceil(self.k[down, t, None] / rate - self.n[down, t, None] + strict)
        short = np.maximum(short, 0.0)
        able = (short <= self.zeros[down, t, None]).all(axis=0)
        able &= short.sum(axis=0) <= self.without[self.open.any(axis=1), t].sum()
        return float((more + short.sum(axis=0)).min(initial=np.inf, where=able))


def _subsets(members: Array) -> Array:
    """Return sets of some groups: all that there are, or of many groups the whole and some."""
    at = np.flatnonzero(members)[:_MOST_SETS]
    sets = np.zeros((2 ** len(at) + 1, len(members)), dtype=bool)
    sets[:-1, at] = np.arange(2 ** len(at))[:, None] >> np.arange(len(at)) & 1
    sets[-1] = members
    return sets


# --------------------------------------------------------------------------- the value


class Everyone:
    """All rows by cell, those without a group too, and the groups that each may be in.

    Rows of a cell are of a kind for each task: 2 if labelled, plus 1 if predicted. `signs` of pairs
    are NaN where the audited labels give them.
    """

    def __init__(self, cells: Contingency, test: Contingency) -> None:
        self.cells, self.test = cells, test
        self.signs = np.full((len(test.groups), len(test.tasks)), np.nan)
        self.agree = agreement(cells.groups, test.groups) & (test.count("group") > 0)
        name, at = codes_of(side_of(cells, "group")), [*map(cells.tasks.index, test.tasks)]
        self.lost = np.array([*map(is_unknown, cells.groups)])[name]
        self.may_be = self.agree[name]
        labels, predictions = (
            np.stack([column(cells, side, j) >= 0.5 for j in at], axis=1)
            for side in ("task" if cells.has("task") else "task_pred", "task_pred")
        )
        self.kinds = (2 * labels + predictions)[:, :, None] == np.arange(4)
        self.by_name = np.zeros((len(cells.groups), len(at), 4))
        np.add.at(self.by_name, name, self.kinds * cells.weight[:, None, None])
        self.is_divisible = cells.whole and cells.clusters is None

    def rates(self, *kinds: int, reverse: Any = False) -> Rates:
        """Return the rates of some kinds of rows, or of the others for tasks to `reverse`."""
        n, k = self.by_name.sum(axis=2), self.by_name[:, :, kinds].sum(axis=2)
        return Rates(self.agree, n, np.where(reverse, n - k, k))

    def rate_columns(self, wanted: Sequence[bool | None]) -> dict[str, Array]:
        """Return bounds of the rates of each group and task, as columns of a table."""
        reverse, known = ([each in kinds for each in wanted] for kinds in ([False], [True, False]))
        labels = self.rates(2, 3).columns("base_rate") if self.cells.has("task") else {}
        outcomes = self.rates(1, 3, reverse=reverse)
        ratios = outcomes.ratios(np.array(known) & (outcomes.n > 0))
        return labels | self.rates(1, 3).columns("predicted_rate") | ratios

    def value_bounds(self) -> Array:
        """Return an outer bound of the value, with tasks bounded one by one.

        All numbers of rows of each kind in each group are looked at, or of many rows some. Then the
        bound is wider by as much as what groups add can bend between these numbers.
        """
        groups = np.flatnonzero(self.agree.any(axis=0))
        several = self.agree.sum(axis=1, keepdims=True) > 1
        alone, open_ = ((self.agree & each)[:, groups].T for each in (~several, several))
        sums = max(len(groups) - 2, 0.1) * len(self.test.tasks)
        steps = next(n for n, most in _STEPS if sums <= most)
        ends = np.zeros(2)
        for kinds, signs in zip(self.by_name.swapaxes(0, 1), self.signs[groups].T, strict=True):
            rows = alone @ kinds, open_ @ kinds, several[:, 0] @ kinds
            ends += _extremes(*rows, signs, steps, self.is_divisible)
        return ends / self.signs[groups].size

    def turned(self, judge: Callable[[Contingency], str]) -> tuple[float, str] | None:
        """Return how few rows turn the verdict if they are in some groups, and into which.

        Rows come first that move most the value, the association in the labels or its change, up
        or down. All others stay left out.
        """
        lost, turns = np.where(self.lost, self.cells.weight, 0.0), []
        known = (self.may_be & ~self.lost[:, None]) * self.cells.weight[:, None]
        counts = np.tensordot(known.T, self.kinds, axes=1)
        small = np.argsort(-lost, kind="stable")[int(_MOST_MOVES / counts.size) + 1 :]
        lost[small] = 0.0
        cell, group = np.nonzero(self.may_be & (lost > 0)[:, None])
        moved = np.repeat(counts[None], len(cell), axis=0)
        moved[np.arange(len(cell)), group] += self.kinds[cell]
        gains = self._measures(moved) - self._measures(counts[None])
        verdict = judge(self._completed(known))
        for gain in (*gains, *-gains):
            order = np.argsort(-gain, kind="stable")[: (gain > 0).sum()]
            order = order[np.sort(np.unique(cell[order], return_index=True)[1])]
            ends = np.cumsum(lost[cell[order]])
            points = np.arange(1, ends[-1:].sum() + 1) if self.is_divisible else ends

            def word(n: float, order: Array = order, ends: Array = ends) -> str:
                weight, own = known.copy(), lost[cell[order]]
                weight[cell[order], group[order]] = np.clip(n - ends + own, 0, own)
                return judge(self._completed(weight))

            if len(points) and word(points[-1]) != verdict:
                n = points[bisect_left(points, True, key=lambda n: word(n) != verdict)]
                turns.append((float(n), word(n)))
        return min(turns, default=None)

    def _measures(self, counts: Array) -> Array:
        """Return value, association in the labels and its change of some tables (3 × tables)."""
        own, every = counts[:, self.agree.any(axis=0)], counts.sum(axis=1, keepdims=True)
        labels, preds = (
            own[..., kinds].sum(axis=-1) / own.sum(axis=-1)
            - every[..., kinds].sum(axis=-1) / every.sum(axis=-1)
            for kinds in ([2, 3], [1, 3])
        )
        value = _amplifications(own, every, self.signs[self.agree.any(axis=0)])
        return np.stack([value, abs(labels), abs(preds - labels)]).sum(axis=(2, 3))

    def _completed(self, weight: Array) -> Contingency:
        """Return the rows with these weights of cells × groups."""
        cell, group = np.nonzero(weight)
        made = take(self.cells, cell, weight[cell, group])
        codes = Codes(group, len(self.test.groups))
        groups = replace(side_of(self.test, "group"), labels=codes)
        sides: dict[Any, Side] = {**sides_of(made), "group": groups}
        sides.pop("group_pred", None)
        return distinct(with_sides(made, sides))


def _amplifications(counts: Array, totals: Array, signs: Any) -> Array:
    """Return what pairs add to the value: sign × change, as `inference` has it for whole rows.

    The last axis of `counts`, of a group, and of `totals`, of all rows, is of kinds.
    """
    n, total = counts.sum(axis=-1), totals.sum(axis=-1)
    (labels, all_labels), (preds, all_preds), (both, all_both) = (
        [c[..., kinds].sum(axis=-1) for c in (counts, totals)] for kinds in ([2, 3], [1, 3], [3])
    )
    x = labels / n - all_labels / total
    change = preds / n - all_preds / total - x
    own = 1 / n / np.sqrt(1 - np.minimum(1 / n, 0.5))  # HC2
    variance, shared = (
        own * (own - 2 / total) * (common - labels * other / n)
        + (all_common - all_labels * all_other / total) / total**2
        for common, other, all_common, all_other in (
            (labels, labels, all_labels, all_labels),
            (both, preds, all_both, all_preds),
        )
    )
    variance, shared = (each * total / (total - 1) for each in (variance, shared))
    sd = np.sqrt(np.maximum(variance, 0) + 1 / n**2)
    slope = 2 / np.sqrt(np.pi) * np.exp(-((x / sd) ** 2)) / sd
    soft = special.erf(x / sd) * change - slope * (shared - variance)
    return np.where(np.isnan(signs), np.where(variance > 1e-15, soft, 0.0), signs * change)


def _extremes(
    known: Array, most: Array, open_: Array, signs: Array, n_steps: int, divisible: bool
) -> Array:
    """Return the least and the most that groups add to the value (known rows: groups × kinds).

    At `most` so many rows may be added to each group, and all that are `open_` have to be. What a
    group adds follows from its own rows, so that groups are taken in one after the other.
    """
    steps = np.where(open_ > 0, np.minimum(open_, n_steps) if divisible else n_steps, 0).astype(int)
    size = np.divide(open_, steps, out=np.ones(4), where=steps > 0)
    at = np.moveaxis(np.indices((steps + 1).tolist()), 0, -1)
    shape = (len(known), *[1] * 4, 4)
    each = _amplifications(
        known.reshape(shape) + at * size, known.sum(axis=0) + open_, signs.reshape(shape[:-1])
    )
    slack = np.zeros(each.shape)
    for kind in np.flatnonzero((steps > 0) & ~((steps == open_) & divisible)):
        bend = np.abs(np.diff(each, 2, axis=kind + 1))
        slack += np.pad(bend, [(int(i == kind), int(i == kind)) for i in range(-1, 4)], "edge") / 8
    outside = (at > np.ceil(most / size - 1e-9).reshape(shape)).any(axis=-1)
    ends = []
    for sign in (-1, 1):
        *first, last = np.where(outside, -np.inf, sign * each + slack)
        ends.append(sign * (reduce(_added, first) + np.flip(last)).max())
    return np.array(ends)


def _added(best: Array, each: Array) -> Array:
    """Return the most that two add up to, for every number of rows that they share."""
    total = np.full(best.shape, -np.inf)
    for at in np.argwhere(np.isfinite(each)):
        to = tuple(slice(i, None) for i in at)
        of = tuple(slice(None, n - i) for i, n in zip(at, best.shape, strict=True))
        np.maximum(total[to], best[of] + each[tuple(at)], out=total[to])
    return total


# --------------------------------------------------------------------------- the report


def everyone_of(source: RowSource, test: Contingency, *, asked: bool) -> Everyone | None:
    """Return all rows that were passed, if some have no group and it is known what they are.

    Of many cells only if the user `asked` for bounds.
    """
    many = test.n_cells * len(test.groups) * len(test.tasks) > _FEW_CELLS
    if test.summed or not test.has("task_pred") or test.indicator or (many and not asked):
        return None
    cells = test
    if test.n_dropped and not isinstance(source.y_true, Contingency):
        how = {**source.how, "missing": "group", "min_rows": None, "max_groups": np.inf}
        rows = source.y_true, source.labels, source.columns
        cells = count_labels(*rows, like=test, engine={"joint": True}, **how)
        if source.how.get("min_rows"):  # rare groups are apart here, and none of the test's
            n = cells.count("group")
            cells = cells.select(
                groups=[name for name, m in zip(cells.groups, n, strict=True) if m]
            )
    if not any(map(is_unknown, cells.groups)):
        return None
    lost = [*map(is_unknown, test.groups)]
    if any(lost):
        known = [name for name, own in zip(test.groups, lost, strict=True) if not own]
        n, test = test.count("group")[lost].sum(), test.select(groups=known)
        test.n_dropped += n
    return Everyone(cells, test) if (test.count("group") > 0).sum() > 1 else None


def unknown_of(every: Everyone, auditor: Any, result: AuditResult) -> Unknown:
    """Return what rows without a group may change; the result is the auditor's of a report."""
    facts: dict[str, Any] = {"n": float(every.cells.weight[every.lost].sum())}
    rates = every.rates(1, 3)
    if rates.k.shape == (2, 1):
        ends = rates.lowest[0] - rates.highest[1], rates.highest[0] - rates.lowest[1]
        facts |= dict(zip(("gap_lowest", "gap_highest"), np.ravel(ends).tolist(), strict=True))
    if not compares_rows(auditor) or every.test.soft("task_pred"):
        return Unknown(**facts)
    with collected():
        known, (_, pairs) = auditor.audit(every.test), auditor.pairs_of(every.test)
        if pairs.signs.source is None or np.all(pairs.signs.fixed):
            every.signs = np.broadcast_to(pairs.signs.values, every.signs.shape)
        elif np.any(pairs.signs.fixed):
            every.signs = np.where(pairs.signs.fixed, pairs.signs.values, np.nan)
        turned = every.turned(lambda cells: auditor.audit(cells).verdict)
    if known.verdict != result.verdict:  # these rows are a group of their own there
        turned = 0.0, known.verdict
    if turned is not None:
        facts |= {"verdict": DEPENDS, "rows": turned[0], "turned_to": turned[1]}
    if every.is_divisible or not np.isnan(every.signs).any():
        lowest, highest = every.value_bounds().tolist()
        low, high = lowest - known.value + known.low, highest - known.value + known.high
        facts |= {"lowest": lowest, "highest": highest, "low": low, "high": high}
        crossed = (known.low > 0 >= low) or (known.high < 0 <= high)
        facts.setdefault("verdict", DEPENDS if crossed else HOLDS)
    return Unknown(**facts)
