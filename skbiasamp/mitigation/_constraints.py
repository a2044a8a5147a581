"""Predictions whose group ratios lie within margins, at the least loss of score."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from skbiasamp._input.checks import Array

# The maximum over predictions is smoothed, less and less, so that it has a gradient.
_TEMPERATURES = (1.0, 0.3, 0.1, 0.03)
_MOST_STEPS = 50  # at each
_CLOSE = 1e-3  # scores that differ by less are the same
_TINY = 1e-9
_REACH = 4  # how many rows are moved at once to mend one task, at most
_SHIFTS = 1_000  # in how many ways


class Constrained(NamedTuple):
    """Predictions that were brought within bounds."""

    chosen: Array  # rows × tasks, bool
    shifts: Array  # groups × tasks: what multipliers add to scores
    unmet: Array  # tasks whose bounds are not kept


class ShareLimits(NamedTuple):
    """Between what shares of a task's predictions each group must have; groups × tasks."""

    low: Array
    high: Array

    def excess(self, table: Array) -> Array:
        """Return by how many rows each task is out of bounds."""
        total = table.sum(axis=0)
        over = np.maximum(table - self.high * total - _TINY * total, 0)
        under = np.maximum(self.low * total - table - _TINY * total, 0)
        return (over + under).sum(axis=0)


def constrain(scores: Array, group: Array, bounds: ShareLimits, *, exclusive: bool) -> Constrained:
    """Choose tasks for rows: the best sum of scores within bounds.

    Each row has the task with the greatest score if tasks are exclusive, and else all tasks with
    scores above 0. Tasks without bounds have (0, 1).
    """
    within = (np.arange(len(bounds.low))[:, None] == group).astype(float)
    # A group that is not here cannot have its share.
    absent = (bounds.low > 0) & (within.sum(axis=1) == 0)[:, None]
    hopeless = absent.any(axis=0)
    bounds = ShareLimits(np.where(hopeless, 0, bounds.low), np.where(hopeless, 1, bounds.high))
    chosen = choose_tasks(scores, exclusive=exclusive)
    shifts = np.zeros(bounds.low.shape)
    broken: Array = np.asarray(bounds.excess(within @ chosen) > 0)
    if exclusive and broken.any():
        shifts = _shifts(scores, bounds, lambda shift: shift[group], lambda share: within @ share)
        shifted = scores + shifts[group]
        repair = _Repair(shifted, group, within, bounds)
        chosen = repair.fix_all(choose_tasks(shifted, exclusive=True))
    elif not exclusive:
        for task in np.flatnonzero(broken):  # each stands alone
            chosen[:, task], shifts[:, task] = _best_of_one(
                scores[:, task], group, bounds.low[:, task], bounds.high[:, task]
            )
    return Constrained(chosen, shifts, hopeless | (bounds.excess(within @ chosen) > 0))


def choose_tasks(scores: Array, *, exclusive: bool) -> Array:
    """Choose tasks for rows, without bounds."""
    if not exclusive:
        return scores > 0
    return scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])


def _best_of_one(scores: Array, group: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Choose the rows of one task with the best sum of scores within bounds.

    With a given number of rows, bounds are limits for each group's number, and best are the
    first rows of one order of all, but for groups that have reached a limit. So for every number
    of rows a bisection finds how far to go in that order, and the best number is chosen.
    """
    n, groups = len(scores), np.arange(len(low))[:, None]
    order = np.argsort(-scores, kind="stable")
    mine = groups == group[order]
    ahead = np.pad(mine.cumsum(axis=1), ((0, 0), (1, 0)))  # each group's rows of the first 0..n
    total = np.arange(n + 1)
    least = np.ceil(low[:, None] * total - _TINY * total).astype(int)
    most = np.floor(high[:, None] * total + _TINY * total).astype(int)
    most = np.minimum(most, ahead[:, [n]])
    fits = (least <= most).all(axis=0) & (least.sum(axis=0) <= total) & (total <= most.sum(axis=0))
    total, least, most = total[fits], least[:, fits], most[:, fits]
    few, many = np.zeros(len(total), int), np.full(len(total), n)
    while (few < many).any():
        half = (few + many) // 2
        enough = np.clip(ahead[:, half], least, most).sum(axis=0) >= total
        few, many = np.where(enough, few, half + 1), np.where(enough, half, many)
    counts = np.clip(ahead[:, few], least, most)
    own = np.sort(np.where(mine, -scores[order], np.inf), axis=1)  # each group's, best first
    sums = np.pad(np.cumsum(np.where(np.isfinite(own), -own, 0), axis=1), ((0, 0), (1, 0)))
    best = int(np.argmax(sums[groups, counts].sum(axis=0)))
    count = counts[:, [best]]
    chosen = np.zeros(n, bool)
    chosen[order] = (mine & (ahead[:, :-1] < count)).any(axis=0)
    # The least shift of each group's scores that makes them so.
    beyond = np.pad(own, ((0, 0), (1, 1)), constant_values=(-np.inf, np.inf))
    shift = np.clip(0, beyond[groups, count], beyond[groups, count + 1])
    return chosen, shift[:, 0]


def constrain_pairs(scores: Array, bounds: ShareLimits) -> Constrained:
    """Choose a pair of group and task for each row: the best sum of scores within bounds.

    `scores` are rows × groups × tasks, and so is what is chosen.
    """
    shape = bounds.low.shape
    flat = scores.reshape(len(scores), -1)
    chosen = choose_tasks(flat, exclusive=True)
    shifts = np.zeros(shape)
    if bounds.excess(chosen.sum(axis=0).reshape(shape)).any():
        shifts = _shifts(flat, bounds, np.ravel, lambda share: share.sum(axis=0).reshape(shape))
        flat = flat + shifts.ravel()
        chosen = choose_tasks(flat, exclusive=True)
    pairs = chosen.reshape(scores.shape)
    flat = flat.reshape(scores.shape)
    # A few rows are undecided: they go from one group to another, at the least loss of score.
    while (excess := bounds.excess(table := pairs.sum(axis=0))).any():
        task = int(excess.argmax())
        column, total = table[:, task], table[:, task].sum()
        over = column - bounds.high[:, task] * total
        under = bounds.low[:, task] * total - column
        source = int(np.argmax(over if (over > 0).any() else -under))
        to = int(np.argmax(under if (under > 0).any() else -over))
        moved = table.astype(float)
        moved[[source, to], task] += -1, 1
        if bounds.excess(moved).sum() >= excess.sum():
            break
        rows = np.flatnonzero(pairs[:, source, task])
        row = rows[np.argmin(flat[rows, source, task] - flat[rows, to, task])]
        pairs[row, source, task], pairs[row, to, task] = False, True
    return Constrained(pairs, shifts, excess > 0)


def _shifts(
    scores: Array,
    bounds: ShareLimits,
    spread: Callable[[Array], Array],
    collect: Callable[[Array], Array],
) -> Array:
    """Minimise the Lagrangian dual of exclusive choices; return how its multipliers shift scores.

    `spread` turns shifts of groups and tasks into shifts of scores, `collect` does the reverse.
    """
    bound = ((bounds.low > 0) | (bounds.high < 1)).any(axis=0)
    low, high = bounds.low[:, bound], bounds.high[:, bound]
    n = len(scores)

    def shifts(flat: Array) -> Array:
        up, down = flat.reshape(2, *low.shape)
        every = np.zeros(bounds.low.shape)
        every[:, bound] = down - up + (up * high - down * low).sum(axis=0)
        return every

    def dual(flat: Array, temperature: float) -> tuple[float, Array]:
        z = (scores + spread(shifts(flat))) / temperature
        top = z.max(axis=1, keepdims=True)
        share = np.exp(z - top)
        norm = share.sum(axis=1, keepdims=True)
        value = np.sum(np.log(norm) + top)
        table = collect(share / norm)[:, bound]
        total = table.sum(axis=0)
        slope = np.stack([high * total - table, table - low * total])
        return temperature * value / n, slope.ravel() / n

    flat = np.zeros(2 * low.size)
    for temperature in _TEMPERATURES:
        flat = minimize(
            dual,
            flat,
            args=(temperature,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * flat.size,
            options={"maxiter": _MOST_STEPS},
        ).x
    return shifts(flat)


class _Repair(NamedTuple):
    """Rows of groups that go from one exclusive task to another until all bounds are kept."""

    scores: Array
    group: Array
    within: Array  # groups × rows, 0/1
    bounds: ShareLimits

    def changes(self, chosen: Array) -> tuple[Array, Array, Array, Array]:
        """Return each task's excess, and how it changes with one row less, or more, of each group.

        The last array is the score that each row loses by going from its task to each other.
        """
        table = self.within @ chosen
        excess = self.bounds.excess(table)
        ones = np.eye(len(table))[:, :, None]
        less = np.stack([self.bounds.excess(np.maximum(table - row, 0)) for row in ones]) - excess
        more = np.stack([self.bounds.excess(table + row) for row in ones]) - excess
        return excess, less, more, self.scores[chosen][:, None] - self.scores

    def fix_all(self, chosen: Array) -> Array:
        """Move rows, those first that cost least score, until all bounds are kept."""
        every = np.arange(len(chosen))
        while True:
            excess, less, more, loss = self.changes(chosen)
            if not excess.any():
                return chosen
            now = chosen.argmax(axis=1)
            change = less[self.group, now][:, None] + more[self.group]
            change[every, now] = 0
            worth = np.where(change < -_TINY, change / (loss + _CLOSE), 0)
            to = worth.argmin(axis=1)
            worth = worth[every, to]
            untouched = np.ones(chosen.shape[1], bool)
            for row in np.argsort(worth, kind="stable")[: np.sum(worth < 0)]:
                if untouched[now[row]] and untouched[to[row]]:
                    untouched[[now[row], to[row]]] = False
                    chosen[row, now[row]], chosen[row, to[row]] = False, True
            if untouched.all():
                better = self.fix_one(chosen)
                if better is None:
                    return chosen
                chosen = better

    def fix_one(self, chosen: Array) -> Array | None:
        """Move several rows at once to mend one task without harm to others; None if none can."""
        table, bounds = self.within @ chosen, self.bounds
        for task in np.flatnonzero(bounds.excess(table)):
            for step in _steps(table[:, task], bounds.low[:, task], bounds.high[:, task]):
                trial = chosen.copy()
                if all(
                    self.move(trial, code, int(task), joins=n > 0)
                    for code, n in enumerate(step)
                    for _ in range(abs(n))
                ):
                    return trial
        return None

    def move(self, chosen: Array, code: int, task: int, *, joins: bool) -> bool:
        """Move a row of the group into the task, or out of it, if that does no harm to others."""
        _, less, more, loss = self.changes(chosen)
        less[:, task] = more[:, task] = 0  # this task may get worse on its way
        now, tasks = chosen.argmax(axis=1), np.arange(chosen.shape[1])
        harmless = (less[code, now] <= _TINY)[:, None] & (more[code] <= _TINY)
        own = (self.group == code)[:, None] & ~chosen
        able = harmless & own & (tasks == task if joins else (now == task)[:, None])
        if able.any():
            row, to = divmod(int(np.argmin(np.where(able, loss, np.inf))), len(tasks))
            chosen[row, now[row]], chosen[row, to] = False, True
        return bool(able.any())


def _steps(column: Array, low: Array, high: Array) -> list[tuple[int, ...]]:
    """Return what rows of each group may join or leave a task to bring it within bounds."""
    reach = int(np.clip((_SHIFTS ** (1 / len(column)) - 1) // 2, 1, _REACH))
    steps = np.array(list(product(range(-reach, reach + 1), repeat=min(len(column), 6))))
    steps = np.pad(steps, ((0, 0), (0, len(column) - steps.shape[1])))
    after = (column + steps).T
    inside = ShareLimits(low[:, None], high[:, None]).excess(after) == 0
    steps = steps[inside & (after >= 0).all(axis=0)]
    order = np.argsort(np.abs(steps).sum(axis=1), kind="stable")
    return [tuple(step) for step in steps[order][:20].tolist()]
