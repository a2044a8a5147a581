"""Bounds of rates, ratios and the value if rows without a group belonged to any of the groups.

A *completion* puts every row without a group into a group that agrees with what is known of it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skbiasamp._input.checks import MISSING, Array, Names
from skbiasamp._input.labels import Codes, Side, codes_of
from skbiasamp._utils import formatting as words
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import column, distinct, side_of, sides_of, take, with_sides
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.association import known_or_zero
from skbiasamp.inference.pairs import CLEAR, Pairs
from skbiasamp.inference.value import are_joint
from skbiasamp.metrics.directional import compares_rows
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.render.facts import Unknown
from skbiasamp.report.strata import RowSource
from skbiasamp.results import FOUR_FIFTHS, AuditResult

_MOST_SETS = 8  # groups whose subsets are all looked at
_MOST_MOVES = 5e5  # numbers that a search looks at together
_MOST_WAYS = 200  # completions that are all audited
_WIDER = 1.02  # by so much are intervals of completions wider than those that were audited
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
        signs = self.signs[self.agree.any(axis=0)]
        each = [_extremes(grid, own) for grid, own in zip(self._grids(), signs.T, strict=True)]
        return np.sum(each, axis=0) / signs.size

    def _grids(self) -> Iterator[_Grid]:
        """Yield the numbers of rows that groups may have of each kind, for each task."""
        groups = np.flatnonzero(self.agree.any(axis=0))
        several = self.agree.sum(axis=1, keepdims=True) > 1
        alone, open_ = ((self.agree & each)[:, groups].T for each in (~several, several))
        sums = max(len(groups) - 2, 0.1) * len(self.test.tasks)
        steps = next(n for n, most in _STEPS if sums <= most)
        for kinds in self.by_name.swapaxes(0, 1):
            rows = alone @ kinds, open_ @ kinds, several[:, 0] @ kinds
            yield _grid_of(*rows, steps, self.is_divisible)

    def keeps_direction(self, verdict: str, pairs: Pairs) -> bool:
        """Return whether every completion surely has the direction that a verdict rests on.

        Each pair is bounded alone, so that some directions that are kept are not seen to be.
        `pairs` are those of the rows with a group; the interval is the caller's to look at.
        """
        groups = self.agree.any(axis=0)
        signs, below, above = self.signs[groups], [], []
        fixed = ~np.isnan(signs)
        if fixed.any() and not fixed.all():  # labels of two samples give directions
            return False
        for grid, own in zip(self._grids(), signs.T, strict=True):
            numbers = np.stack(grid.associations(own), axis=-1)
            away = grid.outside[..., None]
            below.append(np.where(away, np.inf, numbers).min(axis=(1, 2, 3, 4)))
            above.append(np.where(away, -np.inf, numbers).max(axis=(1, 2, 3, 4)))
        ends = np.array([below, above])  # ends × tasks × groups × numbers
        part, after, z, _ = np.moveaxis(ends, -1, 0)
        of_part, of_after, of_labels, of_change = np.moveaxis(np.abs(ends).max(axis=0), -1, 0)
        if fixed.all():
            clear = pairs.clear[groups].T
            never, along = ~clear, np.sign(known_or_zero(pairs.signs.values[groups].T))
            always_differ = pairs.reference is None or are_joint(pairs.reference)
            never_differ = not always_differ
        else:
            least = np.where(z[0] * z[1] > 0, np.abs(z).min(axis=0), 0.0)
            clear, never, along = least > CLEAR, of_labels <= CLEAR, np.sign(z[0])
            always_differ = bool(least.max() > _margin(least.size, 0.95))
            never_differ = bool(of_labels.max() <= _margin(1, 0.95))
        if verdict == words.NO_EFFECT:
            level = 0.99 if fixed.all() else 0.95
            return always_differ or bool(of_change.max() <= _margin(1, level))
        up = part.sum() > 0

        def carry(chosen: Array) -> bool:
            """Whether the parts of some pairs surely are at least half of the value."""
            least = part[0] if up else -part[1]
            return bool(least[chosen].sum() >= of_part[~chosen].sum())

        if verdict == words.ADDS:
            return never_differ or carry(never)
        kept = np.where(along > 0, after[0], -after[1])[clear].sum()
        kept -= of_after[~clear & ~never].sum()
        return always_differ and carry(clear) and (up or kept >= 0)

    def completions(self) -> list[Contingency] | None:
        """Return the rows of all completions; None if there are many."""
        cells = np.flatnonzero(self.lost & self.may_be.any(axis=1) & (self.cells.weight > 0))
        rows = self.cells.weight[cells].astype(int)
        kinds = [(np.flatnonzero(self.may_be[i]), n) for i, n in zip(cells, rows, strict=True)]
        n_ways = math.prod(math.comb(n + len(able) - 1, n) for able, n in kinds)
        if not self.cells.whole or n_ways > _MOST_WAYS:
            return None
        known = (self.may_be & ~self.lost[:, None]) * self.cells.weight[:, None]
        every = []
        for way in product(*(combinations_with_replacement(able, n) for able, n in kinds)):
            weight = known.copy()
            for cell, groups in zip(cells, way, strict=True):
                np.add.at(weight[cell], list(groups), 1.0)
            every.append(self._completed(weight))
        return every

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
        value = _associations(own, every, self.signs[self.agree.any(axis=0)])[0]
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


def _associations(counts: Array, totals: Array, signs: Any) -> tuple[Array, ...]:
    """Return what pairs add to the value, predicted associations, and z of labels and of changes.

    The last axis of `counts`, of a group, and of `totals`, of all rows, is of kinds.
    """
    n, total = counts.sum(axis=-1), totals.sum(axis=-1)
    (labels, all_labels), (preds, all_preds), (both, all_both) = (
        [c[..., kinds].sum(axis=-1) for c in (counts, totals)] for kinds in ([2, 3], [1, 3], [3])
    )
    x = labels / n - all_labels / total
    after = preds / n - all_preds / total
    change = after - x
    own = 1 / n / np.sqrt(1 - np.minimum(1 / n, 0.5))  # HC2
    variance, shared, of_preds = (
        own * (own - 2 / total) * (common - first * other / n)
        + (all_common - all_first * all_other / total) / total**2
        for common, first, other, all_common, all_first, all_other in (
            (labels, labels, labels, all_labels, all_labels, all_labels),
            (both, labels, preds, all_both, all_labels, all_preds),
            (preds, preds, preds, all_preds, all_preds, all_preds),
        )
    )
    variance, shared, of_preds = (
        each * total / (total - 1) for each in (variance, shared, of_preds)
    )
    sd = np.sqrt(np.maximum(variance, 0) + 1 / n**2)
    slope = 2 / np.sqrt(np.pi) * np.exp(-((x / sd) ** 2)) / sd
    soft = special.erf(x / sd) * change - slope * (shared - variance)
    added = np.where(np.isnan(signs), np.where(variance > 1e-15, soft, 0.0), signs * change)
    moved = np.sqrt(np.maximum(variance + of_preds - 2 * shared, 0) + 1 / n**2)
    return added, after, x / sd, change / moved


def _margin(n: int, level: float) -> float:
    """Return so many standard errors that n independent numbers stay within them (Sidak)."""
    return float(-special.ndtri((1 - level ** (1 / n)) / 2))


class _Grid(NamedTuple):
    """The numbers of rows of each kind that may be added to each group: all, or some of many.

    `counts` of the group, and `totals` of all rows; `outside` are more than a group may have.
    Axes are groups, what is added of each kind, and kinds. `coarse` are kinds of which some numbers
    are left out.
    """

    counts: Array
    totals: Array
    outside: Array
    coarse: Array

    def associations(self, signs: Array) -> tuple[Array, ...]:
        """Return `_associations` of each group with each number of rows added."""
        return _associations(self.counts, self.totals, signs[:, None, None, None, None])


def _grid_of(known: Array, most: Array, open_: Array, n_steps: int, divisible: bool) -> _Grid:
    """Return what may be added to groups (known rows: groups × kinds).

    At `most` so many rows may be added to each group, and all that are `open_` have to be.
    """
    steps = np.where(open_ > 0, np.minimum(open_, n_steps) if divisible else n_steps, 0).astype(int)
    size = np.divide(open_, steps, out=np.ones(4), where=steps > 0)
    at = np.moveaxis(np.indices((steps + 1).tolist()), 0, -1)
    shape = (len(known), *[1] * 4, 4)
    outside = (at > np.ceil(most / size - 1e-9).reshape(shape)).any(axis=-1)
    coarse = np.flatnonzero((steps > 0) & ~((steps == open_) & divisible))
    return _Grid(known.reshape(shape) + at * size, known.sum(axis=0) + open_, outside, coarse)


def _extremes(grid: _Grid, signs: Array) -> Array:
    """Return the least and the most that groups add to the value.

    What a group adds follows from its own rows, so that groups are taken in one after the other.
    """
    each = grid.associations(signs)[0]
    slack = np.zeros(each.shape)
    for kind in grid.coarse:
        bend = np.abs(np.diff(each, 2, axis=kind + 1))
        slack += np.pad(bend, [(int(i == kind), int(i == kind)) for i in range(-1, 4)], "edge") / 8
    ends = []
    for sign in (-1, 1):
        *first, last = np.where(grid.outside, -np.inf, sign * each + slack)
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
    if (test.count("group") > 0).sum() < 2:
        return None
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
        judged: list[AuditResult] = []

        def judge(cells: Contingency) -> str:
            judged.append(auditor.audit(cells))
            return judged[-1].verdict

        turned, ways = every.turned(judge), every.completions()
        if ways is not None:
            judged = []
            others = [word for word in map(judge, ways) if word != known.verdict]
            if others and turned is None:
                turned = facts["n"], others[0]
    if known.verdict != result.verdict:  # these rows are a group of their own there
        turned = 0.0, known.verdict
    if turned is not None:
        facts |= {"verdict": words.DEPENDS, "rows": turned[0], "turned_to": turned[1]}
    numbers = np.array([[each.value, each.low, each.high] for each in [known, *judged]])
    bounds: tuple[float, ...] = ()
    if ways is not None:
        (lowest, low, _), (highest, _, high) = numbers[1:].min(axis=0), numbers[1:].max(axis=0)
        bounds = lowest, highest, low, high
        facts.setdefault("verdict", words.HOLDS)
    elif every.is_divisible or not np.isnan(every.signs).any():
        lowest, highest = every.value_bounds()
        under, over = numbers[:, 0] - numbers[:, 1], numbers[:, 2] - numbers[:, 0]
        low, high = lowest - under.max() * _WIDER, highest + over.max() * _WIDER
        bounds = lowest, highest, low, high
        if known.low <= 0 <= known.high:
            stays = highest - under.min() / _WIDER <= 0 <= lowest + over.min() / _WIDER
        else:
            stays = low > 0 or high < 0
            if not stays:
                facts.setdefault("verdict", words.DEPENDS)
        if stays and every.keeps_direction(known.verdict, pairs):
            facts.setdefault("verdict", words.HOLDS)
    if bounds:
        names = "lowest", "highest", "low", "high"
        facts |= dict(zip(names, map(float, bounds), strict=True))
    return Unknown(**facts)
