"""Bias disparity: how preferences of groups change in recommendations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of, known_or_zero
from skbiasamp.inference.pairs import MeanChange, Pairs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics.functions import function_of


class BiasDisparityAuditor(CooccurrenceAuditor):
    r"""Audit bias disparity: the relative change of the groups' preferences.

    Use it for recommendations: labels are what people chose, predictions what was recommended. A
    group prefers a task that it has more often than all rows have it. The value is the mean change
    in the direction of the preferences. In the paper's formula, ``published``, changes in opposite
    directions cancel.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        1 if the group prefers the task in the training labels, −1 if it avoids it, else 0.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.bias_disparity : The value as a function.
    DirectionalAuditor : The change of the groups' rates, in percentage points.

    Notes
    -----
    The preference of a group for a task is :math:`B(a, t) = P(t \mid a) / P(t)`. The published
    value is the mean over pairs of :math:`(\hat B - B) / B`; 0 means that preferences are kept.
    Pairs that never occur in the labels, and tasks that are never predicted, are left out. The
    ``amplification`` of a pair is its relative change in the direction of the preference: above 0
    if the group is predicted to prefer, or to avoid, the task more than before.

    References
    ----------
    .. [1] Lin, Sonboli, Mobasher, Burke. Crank up the volume: preference bias amplification
       in collaborative recommendation. RMSE workshop, RecSys 2019.

    Examples
    --------
    Three in four women cook and one in four men. All women are predicted to cook, and no man.

    >>> from skbiasamp.metrics import BiasDisparityAuditor
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooks = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> predicted = [1] * 40 + [0] * 40
    >>> auditor = BiasDisparityAuditor(interval=None).fit(cooks, sensitive_features=sex)
    >>> result = auditor.audit(cooks, predicted, sensitive_features=sex)
    >>> result.table[["group", "base", "observed", "amplification"]].round(4)
      group  base  observed  amplification
    0     f   1.5       2.0         0.3333
    1     m   0.5       0.0         1.0000
    >>> round(result.value, 4), round(result.published, 4)
    (0.6667, -0.3333)

    The same as a function:

    >>> from skbiasamp.metrics import bias_disparity
    >>> round(bias_disparity(cooks, predicted, sensitive_features=sex), 4)
    -0.3333
    """

    metric = "bias disparity"
    kind = "size"
    uncounted = "no preference in the labels"
    definition = (
        "Bias disparity (Lin et al., 2019): a group's preference for a task is its rate divided by "
        "that of all rows. The value is the mean relative change of preferences from labels to "
        "predictions."
    )
    question = "Do predictions exaggerate the groups' preferences?"
    amplified = "the groups' preferences in its labels"
    percent = False
    columns: ClassVar = {"base": "Preference, labels", "observed": "Preference, predictions"}

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula."""
        before, after = (_preferences(test, side) for side in ("task", "task_pred"))
        # A task that a group never has leaves nothing to compare with.
        known = before.rate > 0
        base = np.divide(1.0, before.rate, out=np.zeros(before.rate.shape), where=known)
        change = after * base - before * known_or_zero(after.rate * base**2)
        of_all = association_of(test, "task_pred", given="group")
        overall = known_or_zero(of_all.rate - of_all.value)
        per_rate = np.divide(base, overall, out=np.zeros(base.shape), where=overall > 0)
        change = replace(
            change,
            value=np.where(known, (after.rate - before.rate) * base, np.nan),
            few=after.unseen * per_rate**2,
        )
        reference = association_of(train, "task", given="group")
        return Pairs(
            test.groups,
            test.tasks,
            labelled=replace(before, rate=np.where(known, before.rate, np.nan)),
            predicted=after,
            reference=reference,
            change=change,
            delta=change,
            # Changes along and against the preferences cancel in the published value.
            aggregate=MeanUnsigned(bound=math.inf),
        )


@dataclass(frozen=True)
class MeanUnsigned(MeanChange):
    """The published value is the mean change, whatever the signs are."""

    def slopes(self, sign: Array, delta: Array) -> Array:
        """Return how the published value follows each change of a rate."""
        return self.weights(delta)


def _preferences(cells: Contingency, side: SideName) -> Association:
    """Return P(task | group) / P(task), whose association is the difference from 1."""
    centred = association_of(cells, side, given="group")
    rate, overall = centred.rate, centred.rate - centred.value
    with np.errstate(divide="ignore", invalid="ignore"):
        preference = np.where(overall > 0, rate / overall, np.nan)
        per_rate = np.where(overall > 0, 1 / overall, 0.0)
    # The overall rate is the rate less the association.
    alone = centred.without_centre()
    moved = alone * per_rate - (alone - centred) * np.nan_to_num(preference * per_rate)
    return replace(moved, rate=preference, value=preference - 1)


bias_disparity = function_of(
    BiasDisparityAuditor, "bias_disparity", without=("sensitive_pred", "y_train", "sensitive_train")
)
