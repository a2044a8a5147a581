"""Multi-attribute bias amplification: sets of tasks that occur together."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import DIRECTIONS, Array
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp.counts.cells import labels_of, side_of, sides_of, unweighted, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.tasks import (
    OfSets,
    frequent_sets,
    patterns_of,
    set_names,
    superset_counts,
)
from skbiasamp.inference.association import Association, association_of
from skbiasamp.inference.pairs import MeanSize, Pairs
from skbiasamp.metrics._cooccurrence import BASES, CooccurrenceAuditor
from skbiasamp.metrics.base import as_frame
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.signs import association_sign, over_share, share_sign, with_audited_signs


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
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
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
        known = [patterns_of(unweighted(cells), "task", ()) for cells in labelled]
        most = len(train.tasks) if self.max_size is None else self.max_size
        if self.combinations == "all":
            sets = frequent_sets(known, most, self.min_count)
        else:
            patterns, counts = known[0]
            sets = patterns[(counts[:, 0] >= self.min_count) & (patterns.sum(axis=1) <= most)]
            for audited in known[1:]:
                sets = sets[superset_counts(*audited, sets)[:, 0] >= self.min_count]
        sets = sets[sets.sum(axis=1) >= self.min_size]
        # Small sets first, then in the order of the tasks.
        return {"sets": sets[np.lexsort((*(~sets).T[::-1], sets.sum(axis=1)))]}

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return how far predictions move sets of tasks, from training labels or those of rows."""
        sets, own = fixed["sets"], self._in_rows
        in_sets = OfSets(sets)
        rows, trained = in_sets(test), in_sets(train)
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
            set_names(train.tasks, sets),
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
        rows = test.count("group") if self.direction == "A->T" else np.ones(len(moved))
        return float((rows > 0).sum() * moved.shape[-1])

    def _sign(self, labels: Contingency) -> Array:
        return share_sign(labels) if self.direction is None else association_sign(labels)

    @property
    def _by_task(self) -> bool:
        return self.direction != "A->T"

    @property
    def y_at_(self) -> pd.DataFrame:
        """Signs of the training correlations of sets."""
        return as_frame(self._sign(self._trained), self._trained)

    @property
    def _trained(self) -> Contingency:
        """The training labels of sets of tasks."""
        sets = self._fixed(self.contingency_, self.contingency_)["sets"]
        of_sets = OfSets(sets)(self.contingency_)
        names = set_names(self.contingency_.tasks, sets)
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


multi_attribute_amplification = function_of(MultiAttributeAuditor)
