"""Percentage amplification: how far the groups' shares move away from equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import special

from skbiasamp._input.errors import InputError
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of, known_or_zero
from skbiasamp.inference.pairs import Pairs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics.functions import function_of


class PercentageAuditor(CooccurrenceAuditor):
    r"""Audit percentage amplification: how far the shares of groups move away from equal.

    Use it for generated images or texts whose prompt names the task. It compares with equal
    shares, whatever the shares of all rows are.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's training correlation, which this metric does not use.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.percentage_amplification : The value as a function.
    MALSAuditor : Only the groups that have more than an equal share.

    Notes
    -----
    .. math::

        \left|\hat P(a \mid t) - 1/n\right| - \left|P(a \mid t) - 1/n\right|

    of n groups, averaged over groups a and tasks t: in the table of a result, ``delta`` is this
    change of the distance. Without `y_pred` tasks count as given: a prompt is not predicted.

    Distances from equal grow with noise, so shares of few rows seem further from equal. Intervals
    and tests take this into account.

    References
    ----------
    .. [1] Seshadri, Singh, Elazar. The bias amplification paradox in text-to-image
       generation. NAACL 2024.

    Examples
    --------
    Three in four of the nurses are women, and the model draws women only. (Of two jobs, the
    one that sorts last is the task.)

    >>> from skbiasamp.metrics import PercentageAuditor
    >>> job, sex = ["nurse"] * 4 + ["chef"] * 4, list("fffmffmm")
    >>> drawn = list("ffffffmm")
    >>> auditor = PercentageAuditor(reference="test", interval=None)
    >>> auditor.audit(job, sensitive_features=sex, sensitive_pred=drawn)
    percentage amplification: +0.2500 (8 rows, 2 groups x 1 task)
    group  task   n    base  observed   delta  sign  amplification
    f      nurse  4  0.7500    1.0000  0.2500     1         0.2500
    m      nurse  4  0.2500    0.0000  0.2500     1         0.2500

    The same as a function:

    >>> from skbiasamp.metrics import percentage_amplification
    >>> percentage_amplification(job, None, sensitive_features=sex, sensitive_pred=drawn)
    0.25
    """

    metric = "percentage amplification"
    percent = True
    definition = (
        "Percentage amplification (Seshadri et al., 2024): how much further the groups' shares of "
        "each task are from equal in the predictions than in the labels. The value is the mean "
        "over pairs."
    )
    question = "Are the groups' shares of each task further from equal in the predictions?"
    amplified = "the groups' distance from equal shares in its labels"
    columns: ClassVar = {"base": "Share, labels", "observed": "Share, predictions"}

    def _requires(self) -> tuple[SideName, ...]:
        return ()

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        if not (test.has("task_pred") or test.has("group_pred")):
            raise InputError(
                "percentage amplification compares labels with predictions: pass {y_pred} or "
                "{sensitive_pred}."
            )

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        predicted: SideName = "group_pred" if test.has("group_pred") else "group"
        given: SideName = "task_pred" if test.has("task_pred") else "task"
        equal = 1 / len(test.groups)
        before, after = (
            _distances(test, *sides, equal) for sides in (("group", "task"), (predicted, given))
        )
        change = after - before
        return Pairs(
            test.groups,
            test.tasks,
            labelled=before,
            predicted=after,
            sign=np.ones(change.value.shape, dtype=int),
            change=change,
            delta=change,
        )


def _distances(cells: Contingency, outcome: SideName, given: SideName, equal: float) -> Association:
    """Return how far the groups' shares are from equal.

    The nearer a share is to equal, the less its distance varies: the side on which it lies is then
    uncertain. A distance from an equal share varies as the size of a normal number does.
    """
    shares = association_of(cells, outcome, given=given, centre=False)
    distance = shares.rate - equal
    sure = special.erf(np.abs(known_or_zero(distance)) / np.maximum(shares.sd, 1e-12)) ** 2
    varies = np.sqrt(sure + (1 - sure) * (1 - 2 / np.pi))
    return replace(shares * np.where(distance < 0, -varies, varies), value=np.abs(distance))


percentage_amplification = function_of(PercentageAuditor, without=("y_train", "sensitive_train"))
