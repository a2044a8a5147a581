"""Label amplification: how much more often the majority class is predicted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.labels import Codes, Members, Side
from skbiasamp.counts.cells import labels_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of
from skbiasamp.inference.pairs import MeanChange, Pairs
from skbiasamp.inference.value import Signs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.signs import compare_counts

_EVERYONE = ("(all)",)


class LabelAuditor(CooccurrenceAuditor):
    r"""Audit label amplification: how much more often the majority class is predicted.

    Use it if there is no sensitive feature. An uncertain model that predicts the majority class
    has a value above 0.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (1, n_tasks)
        1 if the task is in the majority in the training labels, −1 if it is in the minority, 0 if
        neither. If there are several classes: 1 for the most frequent, else 0.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.label_amplification : The value as a function.
    DirectionalAuditor : The same change for every group, in the direction of its association.

    Notes
    -----
    The value is :math:`P(\hat T_t) - P(T_t)` of the majority class t of the training labels; of
    an indicator, the mean over tasks, each in the direction of its majority of present or absent.
    A tie has no majority: 0 for a binary task, the mean over the tied classes otherwise.

    References
    ----------
    .. [1] Leino, Black, Fredrikson, Sen, Datta. Feature-wise bias amplification. ICLR 2019.

    Examples
    --------
    >>> from skbiasamp.metrics import LabelAuditor
    >>> ill, predicted = [1] * 20 + [0] * 80, [1] * 10 + [0] * 90
    >>> LabelAuditor().fit(ill).audit(ill, predicted)
    label amplification: +0.1000 [+0.0316, +0.1684], p = 0.00726 (100 rows, 1 task)
    group  task    n    base  observed    delta      low     high  p_value  sign  amplification
    (all)     1  100  0.2000    0.1000  -0.1000  -0.1684  -0.0316   0.0073    -1         0.1000

    The same as a function:

    >>> from skbiasamp.metrics import label_amplification
    >>> label_amplification([1, 1, 1, 0], [1, 1, 1, 1])
    0.25
    """

    metric = "label amplification"
    _joint = False
    percent = True
    estimand, null = BaseAuditor.estimand, BaseAuditor.null
    uncounted = "no majority"
    definition = (
        "Label amplification (Leino et al., 2019): how much more often the majority class of the "
        "training labels is predicted than it occurs. It uses no sensitive feature."
    )
    question = "Is the majority class predicted more often than it occurs?"
    amplified = "the majority class of its labels"
    columns: ClassVar = {"base": "Labelled so", "observed": "Predicted so"}
    _uses_groups = False
    _compares_groups = False

    def _count(self, y_true: Any, labels: Any, columns: Any, **known: Any) -> Contingency:
        if columns or isinstance(y_true, Contingency):  # groups were counted too
            like = known.pop("like", None)
            cells = super()._count(y_true, labels, columns, **known)
            sides: dict[SideName, Side] = {
                "group": Side(_EVERYONE, Codes(np.zeros(cells.n_cells, int), 1))
            }
            sides |= {n: side for n, side in sides_of(cells).items() if not n.startswith("group")}
            cells = with_sides(cells, sides)
            return cells if like is None else cells.conform(like)
        rows = labels.get("y_pred") if y_true is None else y_true
        everyone = [_EVERYONE[0]] * len(to_native(rows, "y_true"))
        labels = {**labels, "sensitive_features": everyone, "sensitive_pred": None}
        return super()._count(y_true, labels, columns, **known)

    def _sign(self, labels: Contingency) -> Array:
        counts, total = labels.count("task"), np.asarray(labels.total)
        if is_one_label(labels):
            most = compare_counts(counts, counts.max(axis=-1, keepdims=True), exact=labels.whole)
            signs = (most == 0).astype(int)
        else:
            signs = compare_counts(2 * counts, total[..., None], exact=labels.whole)
        return signs[..., None, :]

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        labels, predicted = (
            association_of(test, side, given="group", centre=False)
            for side in ("task", "task_pred")
        )
        change = predicted - labels
        reference, sign = _ahead(train, "task"), self._sign(train)
        signs = None
        if is_one_label(test) and train is test:  # which class is the majority may be chance
            signs = Signs.of(reference, above=True)
        return Pairs(
            _EVERYONE,
            test.tasks,
            labelled=replace(_ahead(test, "task"), rate=labels.rate),
            predicted=replace(_ahead(test, "task_pred"), rate=predicted.rate),
            sign=sign / max(sign.sum(), 1) if is_one_label(train) else sign,
            reference=reference,
            change=change,
            delta=change,
            signs=signs,
            aggregate=MeanChange(divisor=1.0 if is_one_label(train) else None),
        )


def is_one_label(cells: Contingency) -> bool:
    """Return whether tasks are the classes of one label, more than two of them."""
    return cells.classes is not None and len(cells.tasks) > 1


def _ahead(cells: Contingency, side: SideName) -> Association:
    """Return by how much each class is ahead of the largest other one, or a task of one half."""
    rates = association_of(cells, side, given="group", centre=False)
    if not is_one_label(cells):
        return replace(rates, value=rates.rate - 0.5)
    first, second = np.argsort(-rates.rate[0], kind="stable")[:2]
    rival = np.full(len(cells.tasks), first)
    rival[first] = second
    has = labels_of(cells, side).dense(slice(None), float)
    return association_of(cells, Members(has - has[:, rival]), "group", by_group=True, centre=False)


label_amplification = function_of(
    LabelAuditor,
    without=("sensitive_features", "sensitive_pred", "sensitive_train", "groups", "missing"),
)
