"""Amplification of numeric tasks: prices, scores, waiting times."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Members
from skbiasamp.counts.cells import labels_of, side_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import ordered
from skbiasamp.inference.association import association_of
from skbiasamp.inference.pairs import MeanChange, Pairs
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor, with_audited_signs
from skbiasamp.metrics.functions import function_of
from skbiasamp.results import AuditResult, ComparisonResult

_ROUNDING = 1e-12  # smaller differences of means, and spreads, are those of floats


class Scale(NamedTuple):
    """Mean and standard deviation of each task in the training labels: origin and unit."""

    mean: Array
    sd: Array

    @classmethod
    def of(cls, labels: Contingency) -> Scale:
        """Return the scale of labels; a constant task keeps its own unit."""
        values, weight = labels_of(labels, "task").dense(slice(None), float), labels.weight
        first = values[0]  # centred before anything is squared, twice: means of large numbers round
        mean = first + weight @ (values - first) / labels.total
        mean = mean + weight @ (values - mean) / labels.total
        sd = np.sqrt(weight @ (values - mean) ** 2 / labels.total)
        largest = np.abs(values).max(axis=0)
        return cls(mean, np.where(sd > _ROUNDING * largest, sd, 1.0))

    def standardised(self, cells: Contingency) -> Contingency:
        """Return cells whose tasks are standard deviations from the training mean."""
        sides: dict[Any, Any] = sides_of(cells)
        for name in [side for side in sides if side.startswith("task")]:
            values = labels_of(cells, name).dense(slice(None), float)
            labels = Members((values - self.mean) / self.sd)
            sides[name] = replace(side_of(cells, name), labels=labels)
        return with_sides(cells, sides)


class NumericAuditor(CooccurrenceAuditor):
    r"""Audit numeric tasks (prices, scores, waiting times) for bias amplification.

    For every group: do the predictions move its mean further in the direction of the training
    difference, away from the mean of all rows or towards it? Use it for a regression model. It is
    our extension of directional amplification (group → task), not from a paper.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each group's difference from the mean of all training rows: −1, 0 or 1.
    groups_, tasks_ : list
        Groups and tasks of the training labels.
    n_samples_fit_ : int or float
        Number of training rows, or the sum of their weights.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    skbiasamp.metrics.numeric_amplification : The value as a function.
    DirectionalAuditor : Labels instead of numbers.

    Notes
    -----
    .. math::

        \frac{1}{|A||T|} \sum_{a,t} s_{at} \frac{E[\hat T_t \mid A_a] - E[T_t \mid A_a]}{\sigma_t},
        \quad s_{at} = \operatorname{sign}\left( E_{train}[T_t \mid A_a] - E_{train}[T_t] \right)

    The unit is :math:`\sigma_t`, the standard deviation of the task in the training labels, so that
    tasks with different units have one value. In the table of a result, ``base``, ``observed``,
    ``train_mean`` and ``delta`` have the unit of the task. ``amplification`` and its interval are
    in standard deviations, and ``sd`` is how large one is.

    Cut the task at a threshold, and directional amplification has a change of each group's rate.
    The integral of this change over all thresholds is the change of the mean.

    Numbers are read as numbers, also if they are whole. Predictions of a task need its unit. A
    model that predicts closer to the mean than the labels are, as most regressors do, narrows the
    differences between groups, and its value is negative.

    Examples
    --------
    Women wait 10 minutes longer than men. The model predicts 16.

    >>> from skbiasamp import NumericAuditor
    >>> sex = ["f"] * 4 + ["m"] * 4
    >>> waited = [30, 40, 40, 50, 20, 30, 30, 40]
    >>> predicted = [33, 43, 43, 53, 17, 27, 27, 37]
    >>> auditor = NumericAuditor(interval=None).fit(waited, sensitive_features=sex)
    >>> result = auditor.audit(waited, predicted, sensitive_features=sex)
    >>> result.table[["group", "train_mean", "base", "observed", "delta", "sd"]].round(2)
      group  train_mean  base  observed  delta    sd
    0     f        40.0  40.0      43.0    3.0  8.66
    1     m        30.0  30.0      27.0   -3.0  8.66

    Three minutes are 0.35 standard deviations.

    >>> from skbiasamp.metrics import numeric_amplification
    >>> train = {"y_train": waited, "sensitive_train": sex}
    >>> round(numeric_amplification(waited, predicted, sensitive_features=sex, **train), 4)
    0.3464
    """

    reads = "numbers"
    metric = "numeric"
    question = "Do predictions widen the differences between the groups' means?"
    uncounted = "no difference of means in the labels"
    columns: ClassVar[dict[str, str]] = {
        "base": "Mean label",
        "observed": "Mean prediction",
        "delta": "Change of mean",
    }
    rank = 0
    estimand = (
        "The mean change of the groups' differences from the mean of all rows, from labels to "
        "predictions, in the direction that they have in the {labels}, in the population that the "
        "audited rows are a sample of."
    )
    null = "Groups differ as much in the predictions as in the labels: this mean change is 0."
    percent = False
    has_formula = False
    formula = "change"  # there is no other one
    unit = "standard deviations"
    pos_label = None
    definition = (
        "Numeric amplification (an extension of BiasAmp→ by this package): how far the mean of a "
        "group moves from labels to predictions. A change in the direction of the difference from "
        "the mean of all training rows counts as positive. The value is the mean over all pairs, "
        "in standard deviations of the task in training; means have the unit of the task."
    )

    # ------------------------------------------------------------------ the formula

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs, all in standard deviations from the training mean."""
        scale: Scale = fixed["scale"]
        scaled = scale.standardised(test)
        labels = scaled if train is test else scale.standardised(train)
        labelled = association_of(scaled, "task", given="group")
        pairs = Pairs(
            test.groups,
            test.tasks,
            labelled=labelled,
            predicted=association_of(scaled, "task_pred", given="group"),
            sign=fixed["sign"],
            reference=association_of(labels, "task", given="group"),
            aggregate=MeanChange(bound=math.inf),
        )
        return with_audited_signs(pairs, train, labelled)

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        return {"scale": Scale.of(train), "sign": self._sign(train)}

    def _sign(self, labels: Contingency) -> Array:
        """Return the sign of each group's mean minus that of all rows; 0 for a group of no row."""
        scale = Scale.of(labels)
        gap = scale.standardised(labels).rate("task", given="group")
        known = np.abs(gap) > _ROUNDING * (1 + np.abs(scale.mean) / scale.sd)  # no NaN is
        return np.where(known, np.sign(np.nan_to_num(gap)), 0).astype(int)

    # ------------------------------------------------------------------ how it is run

    def _count(self, *labels: Any, **how: Any) -> Contingency:
        # Sums of floats depend on the order of rows, which is not to decide anything.
        return ordered(super()._count(*labels, **how))

    def _made(self, test: Contingency, *, table: Any, **parts: Any) -> AuditResult:
        train = self._signs_from(test)
        scale, shape = Scale.of(train), (len(test.groups), len(test.tasks))

        def in_units() -> pd.DataFrame:
            return _in_units(table(), scale, shape).assign(
                train_mean=train.rate("task", given="group").ravel(),
                sd=np.broadcast_to(scale.sd, shape).ravel(),
            )

        return super()._made(test, table=in_units, **parts)

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        result = super()._compare_models(cells, reference)
        train = self._signs_from(cells)
        shape = (len(result.models) * len(cells.groups), len(cells.tasks))
        return replace(result, pairs=_in_units(result.pairs, Scale.of(train), shape))


def _in_units(table: pd.DataFrame, scale: Scale, shape: tuple[int, int]) -> pd.DataFrame:
    """Return a table of pairs whose means and their changes have the units of their tasks."""
    mean, sd = (np.broadcast_to(number, shape).ravel() for number in scale)
    means = table.columns.intersection(["base", "observed", "reference"])
    changes = table.columns.intersection(["delta", "difference"])
    return table.assign(
        **{name: mean + sd * table[name] for name in means},
        **{name: sd * table[name] for name in changes},
    )


numeric_amplification = function_of(NumericAuditor, without=("sensitive_pred",))
