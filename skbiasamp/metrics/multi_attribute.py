"""Multi-attribute bias amplification: sets of tasks that occur together."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from math import comb
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from skbiasamp._input.checks import DIRECTIONS, Array, Names
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Members, Side, as_bytes, in_slices
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp.counts.cells import C, labels_of, side_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of
from skbiasamp.inference.pairs import MeanSize, Pairs
from skbiasamp.metrics._cooccurrence import (
    BASES,
    CooccurrenceAuditor,
    association_sign,
    over_share,
    share_sign,
    with_audited_signs,
)
from skbiasamp.metrics.base import as_frame
from skbiasamp.metrics.functions import function_of


class MultiAttributeAuditor(CooccurrenceAuditor):
    r"""Audit multi-attribute bias amplification (Multi→ and Multi_MALS).

    A model can keep the association of a group with every single task and still change that with
    combinations of tasks [1]_. The value is the mean change over groups and sets of tasks, in the
    direction of the labels. The paper's formula, ``published``, is the mean *size* of the changes:
    it cannot be negative, grows with noise in rare sets, and does not say whether the association
    grew or shrank.

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A", None}, default="A->T"
        "A->T" (group → task) and "T->A" (task → group): as for `DirectionalAuditor`. None:
        Multi_MALS, which has no direction.
    combinations : {"observed", "all"}, default="observed"
        "observed": the label sets that some training row has as its whole set. "all": every set
        of tasks that occurs.
    min_size : int, default=1
        Smallest number of tasks in a set.
    max_size : int, default=None
        Largest number of tasks in a set. None: no limit.
    min_count : float, default=1
        How many training rows and how many audited rows must have a set. A row of fractional
        weight counts as one row.
    base : {"train", "test"}, default="train"
        What predictions are compared with. "train": the training labels, as in the paper. "test":
        the labels of the audited rows, as in the authors' code. Multi_MALS always takes the
        training labels.
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of the training correlation with each single task.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.multi_attribute_amplification : The value as a function.
    DirectionalAuditor : Single tasks, with their direction.

    Notes
    -----
    With M the sets and :math:`\Delta_{gm}` as in `DirectionalAuditor`, m in place of t,

    .. math::

        \mathrm{Multi}_\rightarrow = \frac{1}{|G||M|} \sum_{g,m} |\Delta_{gm}|, \qquad
        \mathrm{Multi}_{MALS} = \frac{1}{|M|} \sum_{g,m} |\Delta_{gm}|

    where Multi_MALS takes :math:`\Delta_{gm} = [b(m,g) > 1/|G|]\,(\hat b(m,g) - b(m,g))` with
    b(m, g) the group's share among the rows that have m. A group without audited rows leaves the
    mean of A→T. Other undefined pairs add nothing and still count.
    ``statistics["variance"]`` is the variance of :math:`\Delta_{gm}` over groups and sets, as in
    the paper.

    References
    ----------
    .. [1] Zhao, Andrews, Xiang. Men also do laundry: multi-attribute bias amplification.
       ICML 2023.

    Examples
    --------
    Half of the women do both cooking and cleaning, and half of the men: no direction. The model
    predicts both for all women and for no man, though single tasks hardly change.

    >>> from skbiasamp import MultiAttributeAuditor
    >>> both, cook, clean = [1, 1], [1, 0], [0, 1]
    >>> labels = [both, both, cook, clean] * 2
    >>> predicted = [both] * 4 + [cook, cook, clean, clean]
    >>> sex = ["f"] * 4 + ["m"] * 4
    >>> auditor = MultiAttributeAuditor(min_size=2, base="test", interval=None)
    >>> auditor.fit(labels, sensitive_features=sex).audit(labels, predicted, sensitive_features=sex)
    multi-attribute A->T: +0.0000 (8 rows, 2 groups x 1 set of tasks)
    group    task  n    base  observed    delta  sign  amplification
    f      (0, 1)  4  0.5000    1.0000   0.5000     0              -
    m      (0, 1)  4  0.5000    0.0000  -0.5000     0              -
    <BLANKLINE>
    Papers would report +0.5000.

    The same as a function:

    >>> from skbiasamp.metrics import multi_attribute_amplification
    >>> multi_attribute_amplification(labels, predicted, sensitive_features=sex, min_size=2)
    0.5
    """

    metric = "multi-attribute"
    percent = True
    definition = (
        "Multi-attribute bias amplification (Zhao et al., 2023): how far the association of "
        "groups with sets of tasks moves from labels to predictions. The value is the mean "
        "size of the changes."
    )
    kind = "size"
    question = "How much do predictions change the association between groups and sets of tasks?"
    rank = 6
    direction: str | None = PositionalOption(
        StrOptions(set(DIRECTIONS)), None, default="A->T", kw_only=False
    )
    combinations: str = Option("observed", StrOptions({"observed", "all"}))
    min_size: int = Option(1, Interval(Integral, 1, None, closed="left"))
    max_size: int | None = Option(None, Interval(Integral, 1, None, closed="left"), None)
    min_count: float = Option(1, Interval(Real, 0, None, closed="neither"))
    base: str = Option("train", StrOptions(set(BASES)))

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        several = len(test.tasks) > 1 and test.classes is None and test.has("task_pred")
        if scores or not several or test.soft("task_pred") or test.summed is not None:
            return []
        # Sets of labels are many, and most of them rare.
        return [cls(min_count=10, adjust="fdr")]

    # ------------------------------------------------------------------ the formula

    @property
    def _in_rows(self) -> bool:
        """Whether predictions are compared with the labels of the same rows."""
        return self.reference == "test" or (self.base == "test" and self.direction is not None)

    def _why_labels(self) -> str:
        if self._in_rows or self.direction == "T->A":
            return super()._why_labels()
        return ""

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        """Return the sets of tasks that occur in all labels, as rows of booleans."""
        # Sets are chosen by how many rows have them, not by how much these rows weigh.
        labelled = (cells for cells in (train, test) if cells.has("task"))
        known = [_sets_of_rows(cells) for cells in labelled]
        most = len(train.tasks) if self.max_size is None else self.max_size
        if self.combinations == "all":
            sets = _frequent_sets(known, most, self.min_count)
        else:
            patterns, counts = known[0]
            sets = patterns[(counts >= self.min_count) & (patterns.sum(axis=1) <= most)]
            for audited in known[1:]:
                sets = sets[_superset_counts(*audited, sets) >= self.min_count]
        sets = sets[sets.sum(axis=1) >= self.min_size]
        # Small sets first, then in the order of the tasks.
        return {"sets": sets[np.lexsort((*(~sets).T[::-1], sets.sum(axis=1)))]}

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return how far predictions move sets of tasks, from training labels or those of rows."""
        sets, own = fixed["sets"], self._in_rows
        rows = _onto_sets(test, sets)
        trained = rows if train is test else _onto_sets(train, sets)
        sides: tuple[SideName, SideName] = ("task", "group")
        predicted: tuple[SideName, SideName] = ("task_pred", "group")
        if self.direction != "A->T":
            sides, predicted = ("group", "task"), ("group_pred", "task")
        if self.direction is None:
            predicted = "group_pred" if test.has("group_pred") else "group", "task_pred"
        shares = self.direction is None
        reference = _associate(trained, *sides, shares=shares)
        labelled = _associate(rows, *sides, shares=shares) if own else reference
        after = _associate(rows, *predicted, shares=shares)
        if not own and (shares or not self._sampled):
            labelled = labelled.as_known()
        if not own and self.direction == "A->T":
            labelled = labelled.around(rows)
        if shares:
            joint = trained.joint("group", "task")
            whole = joint.sum(axis=-2, keepdims=True)
            sign = over_share(joint, whole, len(train.groups), exact=train.whole)
        else:
            sign = association_sign(trained)
        pairs = Pairs(
            train.groups,
            _set_names(train.tasks, sets),
            labelled=labelled,
            predicted=after,
            sign=sign,
            reference=reference,
            statistics={"n_combinations": len(sets)},
        )
        if own and not shares:
            pairs = with_audited_signs(pairs, trained, labelled)
        moved = pairs.rate_change
        if shares:
            moved = np.where(sign == 0, 0.0, sign * moved)
        variance = math.nan if np.isnan(moved).all() else float(np.nanvar(moved))
        return replace(
            pairs,
            aggregate=MeanSize(self._divisor(moved, test), only_signed=shares),
            statistics=pairs.statistics | {"variance": variance},
        )

    def _divisor(self, moved: Array, test: Contingency) -> float:
        """Return the number of pairs of the mean, NaN if nothing is defined."""
        if self.direction is None:
            return float(moved.shape[-1]) or math.nan
        if np.isnan(moved).all():
            return math.nan
        # A group without audited rows leaves the mean; one without training rows does not.
        rows = np.ones(moved.shape[-2])
        if self.direction == "A->T":
            rows = np.atleast_2d(test.count("group"))[0]  # draws have the same groups
        return float((rows > 0).sum() * moved.shape[-1])

    def _sign(self, labels: Contingency) -> Array:
        return share_sign(labels) if self.direction is None else association_sign(labels)

    @property
    def _by_task(self) -> bool:
        return self.direction != "A->T"

    @property
    def _publishes_one_group(self) -> bool:  # type: ignore[override]
        return self.direction is not None

    @property
    def y_at_(self) -> pd.DataFrame:
        """Signs of the training correlations of sets."""
        return as_frame(self._sign(self._trained), self._trained)

    @property
    def _trained(self) -> Contingency:
        """The training labels of sets of tasks."""
        sets = self._fixed(self.contingency_, self.contingency_)["sets"]
        of_sets = _onto_sets(self.contingency_, sets)
        names = _set_names(self.contingency_.tasks, sets)
        side = replace(side_of(of_sets, "task"), names=names)
        return with_sides(of_sets, {**sides_of(of_sets), "task": side})

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        what = "Multi-attribute amplification"
        test.require_rows(what)
        text = "{metric} needs labels, and {name} holds probabilities. Threshold them first."
        roles: dict[SideName, str] = {"task_pred": "y_pred", "group_pred": "sensitive_pred"}
        for side, name in roles.items():
            if test.soft(side):
                raise InputError(text, metric=what, name=name)


def _associate(
    cells: Contingency, outcome: SideName, given: SideName, *, shares: bool
) -> Association:
    """Return associations; with `shares`, those of groups that overlap add up to 1 in a set."""
    if not (shares and cells.indicator):
        return association_of(cells, outcome, given=given)
    times = labels_of(cells, outcome).scores(np.ones(len(cells.groups)))
    return association_of(
        cells, labels_of(cells, outcome), labels_of(cells, given), by_group=False, times=times
    )


# --------------------------------------------------------------------------- sets of tasks

# A set is a row of booleans, with a column for each task.

# Above this many combinations "all" is a mistake more often than a wish.
_MOST_COMBINATIONS = 2_000_000
# Multiplications that counting the candidates of one size may take: some 20 seconds.
_MOST_WORK = 2e11


def _sets_of_rows(cells: Contingency) -> tuple[Array, Array]:
    """Return the distinct sets of tasks that rows have as labels, and how many rows have each."""
    cells.require_rows("Which sets of tasks occur")
    sets, code = labels_of(cells, "task").patterns()
    return sets, np.bincount(code, cells.rows, minlength=len(sets))


def _superset_counts(patterns: Array, counts: Array, sets: Array) -> Array:
    """Return for each set the sum of the counts of the patterns that hold all of it."""
    n_tasks = patterns.shape[1]
    if n_tasks <= 20 and 2**n_tasks * n_tasks <= len(sets) * len(patterns):
        # One addition a task sums over all supersets at once (a transform of the lattice).
        powers = 1 << np.arange(n_tasks)[::-1]
        lattice = np.bincount(patterns @ powers, counts, minlength=2**n_tasks)
        shaped = lattice.reshape((2,) * n_tasks + (1,))
        for axis in range(n_tasks):
            absent, present = np.moveaxis(shaped, axis, 0)
            absent += present
        return lattice[sets @ powers]
    sums = np.empty(len(sets))
    # Sums of so few whole numbers are exact in single precision too, which is faster.
    few = np.array_equal(counts, np.rint(counts)) and counts.sum() <= 2**24
    counts = counts.astype(np.float32 if few else float)
    columns = patterns.T.astype(np.float32)
    block = max(1, (1 << 24) // max(1, len(patterns)))
    for low in range(0, len(sets), block):
        chosen = sets[low : low + block]
        common = chosen.astype(np.float32) @ columns
        # Few patterns hold a set of several tasks.
        holds = sparse.csr_array(common == chosen.sum(axis=1, keepdims=True), dtype=counts.dtype)
        sums[low : low + block] = holds @ counts
    return sums


def _frequent_sets(known: list[tuple[Array, Array]], max_size: int, min_count: float) -> Array:
    """Grow sets task by task; a set is frequent only if all its subsets are."""
    every_set: list[Array] = []
    n_tasks = known[0][0].shape[1]
    largest = _frequent_together(known, min_count)
    if sum(comb(largest, k) for k in range(1, min(max_size, largest) + 1)) > _MOST_COMBINATIONS:
        text = (
            "{combinations='all'} finds more than {most:,} sets: all those of {n} tasks that some "
            "rows have together. Bound them with {max_size} or {min_count}, or use "
            "{combinations='observed'}."
        )
        raise InputError(text, most=_MOST_COMBINATIONS, n=largest)
    candidates = np.eye(n_tasks, dtype=bool)
    for size in range(1, max_size + 1):
        often = np.ones(len(candidates), dtype=bool)
        for patterns, counts in known:
            often &= _superset_counts(patterns, counts, candidates) >= min_count
        level = candidates[often]
        every_set.append(level)
        if sum(map(len, every_set)) > _MOST_COMBINATIONS:
            text = (
                "{combinations='all'} finds more than {most:,} sets of up to {size} tasks. Bound "
                "them with {max_size} or {min_count}, or use {combinations='observed'}."
            )
            raise InputError(text, most=_MOST_COMBINATIONS, size=size)
        members = np.nonzero(level)[1].reshape(-1, size)
        members = members[np.lexsort(members.T[::-1])]
        partners = _partners(members)
        n_grown = int(partners.sum())  # before they are made
        n_distinct = max(len(patterns) for patterns, _ in known)
        if size < max_size and float(n_grown) * n_distinct * n_tasks > _MOST_WORK:
            text = (
                "{combinations='all'} would have to count {n:,} sets of {size} tasks in {rows:,} "
                "distinct rows. Bound them with {max_size} or {min_count}, or use "
                "{combinations='observed'}."
            )
            raise InputError(text, n=n_grown, size=size + 1, rows=n_distinct)
        grown = _grown(members, partners)
        if not len(grown):
            break
        candidates = np.zeros((len(grown), n_tasks), dtype=bool)
        np.put_along_axis(candidates, grown, True, axis=1)
    return np.concatenate(every_set)


def _frequent_together(known: list[tuple[Array, Array]], min_count: float) -> int:
    """Return the size of a set that is frequent in all labels; there may be larger ones."""
    frequent = np.ones((1, known[0][0].shape[1]), dtype=bool)
    for patterns, counts in known:
        often = patterns[counts >= min_count]
        often = often[np.argsort(-often.sum(axis=1))[:100]]
        frequent = (frequent[:, None] & often).reshape(-1, frequent.shape[1])
    return int(frequent.sum(axis=1).max(initial=0))


# Here a set is a row of positions of tasks, and rows are sorted.


def _partners(members: Array) -> Array:
    """Return how many of the following sets differ from each in their last task only."""
    differs = (members[1:, :-1] != members[:-1, :-1]).any(axis=1)
    run = np.concatenate([[0], np.cumsum(differs)]) if len(members) else np.empty(0, dtype=int)
    return np.searchsorted(run, run, side="right") - np.arange(len(run)) - 1


def _grown(members: Array, partners: Array) -> Array:
    """Return the sets with one task more of which all subsets are there: two make one."""
    first = np.repeat(np.arange(len(members)), partners)
    start = np.cumsum(partners) - partners
    second = np.arange(len(first)) - start[first] + first + 1
    grown = np.column_stack([members[first], members[second, -1]])
    for left_out in range(members.shape[1] - 1):  # without one of the last two tasks it is known
        subsets = as_bytes(np.delete(grown, left_out, axis=1))
        grown = grown[np.isin(subsets, as_bytes(members))]
    return grown


def _onto_sets(cells: C, sets: Array) -> C:
    """Return cells whose tasks are sets of tasks, present when all of them are."""
    cells.require_rows("Which sets of tasks occur")
    sides = sides_of(cells)
    names, size = tuple(range(len(sets))), sets.sum(axis=1)
    columns = sets.T.astype(np.float32)
    labelled: tuple[SideName, ...] = ("task", "task_pred")
    for name in labelled:
        if name in sides:
            labels = labels_of(cells, name)
            has_set = np.empty((cells.n_cells, len(sets)), dtype=bool)
            for rows in in_slices(cells.n_cells):
                has_set[rows] = labels.dense(rows, np.float32) @ columns == size
            sides[name] = Side(names, Members(has_set), open=False)
    return with_sides(cells, sides)


def _set_names(tasks: Names, sets: Array) -> Names:
    """Return each set of tasks as the tuple of their names."""
    flat = [tasks[i] for i in np.nonzero(sets)[1].tolist()]
    ends = np.cumsum(sets.sum(axis=1)).tolist()
    return tuple(tuple(flat[low:high]) for low, high in pairwise([0, *ends]))


multi_attribute_amplification = function_of(MultiAttributeAuditor)
