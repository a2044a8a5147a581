"""MALS: the first measure of bias amplification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils import formatting as words
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of
from skbiasamp.inference.pairs import MeanChange, Pairs
from skbiasamp.inference.value import Signs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor, share_sign
from skbiasamp.metrics.functions import function_of


class MALSAuditor(CooccurrenceAuditor):
    r"""Audit MALS, the first measure of bias amplification.

    For each task and each group that has more than its equal share of the task in training: is
    its share larger in the predictions? MALS confuses the two directions and sees no other groups
    [2]_. Use `DirectionalAuditor` unless you compare with published numbers.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        1 if the group has more than its equal share of the task in training, else 0.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.mals_amplification : The value as a function.
    DirectionalAuditor : Separates the two directions and respects base rates.

    Notes
    -----
    .. math::

        \frac{1}{|T|} \sum_{a,t} y_{at} \left[ P(\hat A_a \mid \hat T_t) -
        P_{train}(A_a \mid T_t) \right], \quad
        y_{at} = \left[ P_{train}(A_a \mid T_t) > \tfrac{1}{|A|} \right]

    as in eq. 1 of [2]_. A task that is never predicted counts as 0. Without `sensitive_pred` the
    group counts as predicted perfectly.

    A group may have more than its equal share of a task and still be no more frequent there than in
    all rows, or the other way round: MALS then counts a group that is not associated with the task
    [2]_. ``statistics["n_unassociated"]`` is the number of such pairs.

    References
    ----------
    .. [1] Zhao, Wang, Yatskar, Ordonez, Chang. Men also like shopping: reducing gender bias
       amplification using corpus-level constraints. EMNLP 2017.
    .. [2] Wang, Russakovsky. Directional bias amplification. ICML 2021, Sec. 3.2.

    Examples
    --------
    >>> from skbiasamp import MALSAuditor
    >>> sex = ["f"] * 50 + ["m"] * 50
    >>> cooks = [1] * 40 + [0] * 10 + [1] * 10 + [0] * 40
    >>> auditor = MALSAuditor().fit(cooks, sensitive_features=sex)
    >>> round(auditor.score(cooks, [1] * 40 + [0] * 60, sensitive_features=sex), 12)
    0.2

    The same as a function: four in five of those who cook are women, and the model predicts that
    nobody else cooks.

    >>> from skbiasamp.metrics import mals_amplification
    >>> predicted = [1] * 40 + [0] * 60
    >>> round(mals_amplification(cooks, predicted, sensitive_features=sex), 12)
    0.2
    """

    metric = "MALS"
    percent = True
    uncounted = "no more than an equal share"
    definition = (
        "MALS (after the paper Men Also Like Shopping; Zhao et al., 2017): for each task and "
        "each group that has more than its equal "
        "share of the task in training, how far that share grows from labels to predictions. "
        "The value is the mean over tasks."
    )
    question = "Is the share of groups that are overrepresented in a task raised further?"
    rank = 5
    _by_task = True
    _joint = False

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        if scores or not test.has("task_pred"):
            return []
        return [cls()]

    def _why_labels(self) -> str:
        if self.reference == "train":
            return ""
        return (
            "with {reference='test'} compares predictions with labels: pass {y_true}, or training "
            "labels (fit, or {y_train})."
        )

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return how far predictions move each task's shares from those in training, or in rows."""
        own = self.reference == "test"
        predicted: SideName = "group_pred" if test.has("group_pred") else "group"
        reference = association_of(test if own else train, "group", given="task")
        sign, signs = self._sign(train), None
        if own:  # which groups count is read from the audited labels
            share = replace(reference.without_centre(), value=reference.rate - 1 / len(test.groups))
            signs = Signs.of(share, above=True)
        return Pairs(
            test.groups,
            test.tasks,
            # The interval is for these training rows.
            labelled=reference if own else reference.as_known(),
            predicted=association_of(test, predicted, given="task_pred"),
            sign=sign,
            reference=reference,
            signs=signs,
            aggregate=MeanChange(divisor=len(test.tasks), bound=2.0),
            statistics={"n_unassociated": _count_unassociated(reference, sign)},
        )

    def _sign(self, labels: Contingency) -> Array:
        return share_sign(labels)

    @property
    def columns(self) -> Mapping[str, str]:  # type: ignore[override]
        """What a pair compares: with training labels, their shares."""
        base = "Labels" if self.reference == "test" else words.TRAINING_LABELS
        return {**super().columns, "base": base}


def _count_unassociated(labels: Association, sign: Array) -> int:
    """Return how many pairs count although their group is not associated with the task.

    The group has more than an equal share of the task, and no larger one than of all rows, or the
    other way round (Wang and Russakovsky 2021, Sec. 3.2).
    """
    known = ~np.isnan(labels.value)
    equal = 1 / labels.value.shape[0]
    share, overall = labels.rate, labels.rate - labels.value
    between = (np.minimum(equal, overall) < share) & (share < np.maximum(equal, overall))
    return int((known & between).sum())


mals_amplification = function_of(MALSAuditor)
