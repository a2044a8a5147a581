"""Auditors of co-occurrence: MALS, directional and multi-attribute amplification."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._compat import Interval, StrOptions
from skbiasamp._labels import (
    DIRECTIONS,
    Array,
    require_task_pred,
)
from skbiasamp._words import CANNOT, DIRECTION_OF, points, rate, task_of
from skbiasamp.auditors._base import COMMON_CONSTRAINTS, Audited, CooccurrenceAuditor
from skbiasamp.contingency import Contingency
from skbiasamp.inference._tests import significant
from skbiasamp.metrics._cooccurrence import (
    BASES,
    TIES,
    check_sides,
    directional,
    directional_sign,
    mals,
    mals_sign,
)
from skbiasamp.metrics._multi_attribute import (
    COMBINATIONS,
    check_hard,
    combinations_of,
    multi_attribute,
    undefined_sets,
)
from skbiasamp.metrics._pairs import (
    Pairs,
    describe_undefined,
)
from skbiasamp.results import AuditResult, conclusion, label_index, labels_of, uncounted

_CONSTRAINTS: dict[str, list[Any]] = {
    "reference": [StrOptions({"train", "test"})],
    "resample": [StrOptions({"test", "both"})],
    **COMMON_CONSTRAINTS,
}


def _largest_change(result: AuditResult) -> tuple[str, Any]:
    """Return the pair that a verdict rests on, if there is one, and how sure it is."""
    table = result.table.dropna(subset=["delta"])
    table = table[~uncounted(table) & (table["delta"] != 0)]
    if table.empty:
        return "No pair of group and task changes.", None
    level = 0.95 if result.confidence_level is None else result.confidence_level
    sure = table[significant(table["p_adjusted"], table["low"], table["high"], level)]
    intro = "Most affected:"
    if sure.empty:
        tested = bool(table[["p_adjusted", "low"]].notna().any(axis=None))
        intro = "No single pair changes significantly. " * tested + "Largest change:"
    likely = table if sure.empty else sure
    direction = DIRECTION_OF.get(result.verdict, 0)
    along = likely[np.sign(likely["sign"] * likely["delta"]) == direction]
    likely = likely if along.empty else along
    return intro, likely.iloc[int(likely["delta"].abs().to_numpy().argmax())]


class MALSAuditor(CooccurrenceAuditor):
    """Tell whether tasks that lean to a group lean to it more in the predictions.

    The first measure of bias amplification [1]_. It only sees groups that have more than their
    equal share of a task, and confuses the two directions [2]_: prefer `DirectionalAuditor`
    unless you compare with published numbers.

    .. versionadded:: 0.1

    Parameters
    ----------
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups: every combination of values
        that occurs, each column's values side by side, or columns that are 0/1 memberships.
    reference : {"train", "test"}, default="train"
        Which labels are the training labels: those that `fit` saw, or the audited ones.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.
    interval : {"bootstrap", "bca", "analytic", None}, default="bootstrap"
        How `audit` makes intervals: percentiles of resamples, bias-corrected and accelerated
        ones, the delta method, or none (nor tests).
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Resamples of the bootstrap, and draws of the permutation test.
    resample : {"test", "both"}, default="test"
        What the bootstrap draws anew: the audited rows, the training labels and hence the signs
        held fixed, or both. "both" shows what an uncertain sign does to the value; its
        percentiles are not an interval of known coverage.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of pairs.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the resamples; the numbers do not depend on it.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        1 where the group has more than its equal share of the task, else 0.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    skbiasamp.metrics.mals_amplification : The formula, and the same as one function.

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
    """

    metric = "MALS"
    kind = "signed"
    question = (
        "Do predictions raise the share of groups that have more than an equal share of a task?"
    )
    headline = 5
    direction = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _CONSTRAINTS

    def __init__(
        self,
        *,
        groups: str = "intersection",
        reference: str = "train",
        missing: str = "error",
        pos_label: Any = None,
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        resample: str = "test",
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        self.reference = reference
        self.missing = missing
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.resample = resample
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _asked(self, like: Contingency | None) -> dict[str, Any]:
        return {}

    def _sign(self, labels: Contingency) -> Array:
        return mals_sign(labels)

    def _check(self, test: Contingency) -> None:
        require_task_pred(test.has("task_pred"), metric="MALS")

    def _pairs(
        self,
        signs: Contingency,
        train: Contingency,
        test: Contingency,
        *,
        base: Any,
        sets: Array | None,
    ) -> Pairs:
        return mals(signs, test, base=base)

    def _undefined(self, pairs: Pairs) -> str | None:
        return describe_undefined(pairs, condition="predicted", kept_as_zero=True)

    def _sentence(self, result: AuditResult) -> str:
        if result.verdict == CANNOT or result.table["delta"].isna().all():
            return _unmeasured(result)
        intro, pair = _largest_change(result)
        text = f"{conclusion(result)} {intro}"
        if pair is None:
            return text
        return (
            f"{text} the group {result.group_name(pair['group'])} makes up "
            f"{rate(pair['observed'])} of the rows predicted '{task_of(pair['task'])}', and "
            f"{rate(pair['base'])} of the {'training ' * (self.reference == 'train')}rows labelled "
            "so."
        )


class DirectionalAuditor(CooccurrenceAuditor):
    """Tell whether predictions exaggerate the correlations of the training labels.

    BiasAmp→ [1]_ asks, for every pair of group and task, whether the predictions move it the
    way the training correlation goes, and keeps apart what the attribute does to the task's
    prediction ("A->T") from what the task does to the attribute's ("T->A").

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A"}, default="A->T"
        Whether the attribute biases the prediction of the task, or the task that of the
        attribute. Values of the two directions are not comparable with each other. Predicting
        a protected attribute is itself questionable [1]_ (Sec. 5.1).
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups: every combination of values
        that occurs, each column's values side by side, or columns that are 0/1 memberships.
    ties : {"zero", "negative"}, default="zero"
        The sign of a pair that is exactly independent in training: 0, as in the authors' code
        and tables, or −1, as in the printed formula.
    base : {"test", "train"} or DataFrame of groups × tasks, default="test"
        What predictions are compared with: the audited labels, the training labels, or
        correlations of your own, P(t|a) for A->T and P(a|t) for T->A, whose sign is then used.
    sign : DataFrame of groups × tasks, optional
        Signs (−1, 0, 1) of your own.
    reference : {"train", "test"}, default="train"
        Where the sign comes from: the labels that `fit` saw, or the audited ones.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.
    interval : {"bootstrap", "bca", "analytic", None}, default="bootstrap"
        How `audit` makes intervals: percentiles of resamples, bias-corrected and accelerated
        ones, the delta method, or none (nor tests).
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Resamples of the bootstrap, and draws of the permutation test.
    resample : {"test", "both"}, default="test"
        What the bootstrap draws anew: the audited rows, the training labels and hence the signs
        held fixed, or both. "both" shows what an uncertain sign does to the value; its
        percentiles are not an interval of known coverage.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of pairs.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the resamples; the numbers do not depend on it.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's correlation: −1, 0 or 1.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    skbiasamp.metrics.directional_amplification : The formula, and the same as one function.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooking = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> auditor = DirectionalAuditor().fit(cooking, sensitive_features=sex)
    >>> auditor.y_at_
       1
    f  1
    m -1
    >>> auditor.score(cooking, [1] * 40 + [0] * 40, sensitive_features=sex)
    0.25
    """

    metric = "directional"
    kind = "signed"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions(set(DIRECTIONS))],
        "ties": [StrOptions(set(TIES))],
        "base": [StrOptions(set(BASES)), pd.DataFrame],
        "sign": [pd.DataFrame, None],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        direction: str = "A->T",
        *,
        groups: str = "intersection",
        ties: str = "zero",
        base: str | pd.DataFrame = "test",
        sign: pd.DataFrame | None = None,
        reference: str = "train",
        missing: str = "error",
        pos_label: Any = None,
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        resample: str = "test",
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.direction = direction
        self.groups = groups
        self.ties = ties
        self.base = base
        self.sign = sign
        self.reference = reference
        self.missing = missing
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.resample = resample
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def question(self) -> str:
        """Question that the metric answers."""
        if self.direction == "T->A":
            return "Do predicted groups exaggerate the association between task and group?"
        return "Do predictions exaggerate the association between group and task?"

    @property
    def headline(self) -> int:
        """Rank in a report: the first to read, or after leakage if the group is predicted."""
        return 3 if self.direction == "T->A" else 0

    def _sentence(self, result: AuditResult) -> str:
        if result.verdict == CANNOT or result.table["delta"].isna().all():
            return _unmeasured(result)
        intro, pair = _largest_change(result)
        text = f"{conclusion(result)} {intro}"
        if pair is None:
            return text
        group, task = result.group_name(pair["group"]), f"'{task_of(pair['task'])}'"
        observed, base = rate(pair["observed"]), rate(pair["base"])
        if self.direction == "T->A":
            text += f" of the rows labelled {task}, {observed} are predicted to be in the group "
            text += f"{group}, and {base} "
            text += {"test": "are in it", "train": "are in it in the training labels"}.get(
                str(self.base), "is the given base rate"
            )
        else:
            text += (
                f" the group {group} is predicted {task} for {observed} of its rows, and {base} "
            )
            text += {"test": "are labelled so", "train": "are labelled so in training"}.get(
                str(self.base), "is the given base rate"
            )
        if pair["sign"] == 0:
            return f"{text}; the {labels_of(result)} have no association here."
        moves = "strengthens" if pair["sign"] * pair["delta"] > 0 else "weakens"
        return f"{text}; this {moves} the association in the {labels_of(result)}."

    def _asked(self, like: Contingency | None) -> dict[str, Any]:
        if like is None or self.reference == "test" or self.interval != "analytic":
            return {}
        if self.direction == "T->A":
            return {}
        return {"moments": (self._sign(like), isinstance(self.base, str) and self.base == "test")}

    def _sign(self, labels: Contingency) -> Array:
        return directional_sign(
            labels, direction=str(self.direction), ties=self.ties, base=self.base, sign=self.sign
        )

    def _check(self, test: Contingency) -> None:
        check_sides(test, direction=self.direction, metric="directional amplification")

    def _base(self, signs: Contingency, train: Contingency, test: Contingency) -> Any:
        return "test" if train is test and isinstance(self.base, str) else self.base

    def _sign_certain(self, audited: Audited) -> Array:
        if self.sign is not None or not isinstance(self.base, str):
            return np.ones(audited.pairs.delta.shape, dtype=bool)  # the user's own are given
        return super()._sign_certain(audited)

    def _pairs(
        self,
        signs: Contingency,
        train: Contingency,
        test: Contingency,
        *,
        base: Any,
        sets: Array | None,
    ) -> Pairs:
        sign = self.sign
        if sign is None and not isinstance(self.base, str) and isinstance(base, str):
            # Compared with the labels in the same rows, the user's signs still hold.
            sign = pd.DataFrame(
                self._sign(signs), label_index(signs.groups), label_index(signs.tasks)
            )
        return directional(
            train,
            test,
            direction=str(self.direction),
            ties=self.ties,
            base=base,
            sign=sign,
            labels=signs,
        )


class MultiAttributeAuditor(CooccurrenceAuditor):
    """Tell how far predictions move sets of tasks that occur together.

    A model can keep every single correlation and still change those of combinations [1]_. The
    value is the mean size of the change: it cannot be negative, grows with noise in rare sets,
    and does not say whether bias grew or shrank. The result's ``statistics`` hold the signed
    mean, which does, and the variance.

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A", None}, default="A->T"
        The direction; None is Multi_MALS, which has none.
    combinations : {"observed", "all"}, default="observed"
        Sets that some training row has as its whole set, or every set that occurs.
    min_size : int, default=1
        Least number of tasks in a set.
    max_size : int, optional
        Greatest number of tasks in a set.
    min_count : float, default=1
        In how many rows a set has to occur, in training and in the audited labels. Rows of
        fractional weight count as one each, whatever they weigh.
    base : {"train", "test"}, default="train"
        Whether predictions are compared with the training labels, as in the paper, or with the
        audited ones, as in the authors' code. Multi_MALS always takes the training labels.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    reference : {"train", "test"}, default="train"
        Which labels are the training labels: those that `fit` saw, or the audited ones.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.
    interval : {"bootstrap", "bca", "analytic", None}, default="bootstrap"
        How `audit` makes intervals: percentiles of resamples, bias-corrected and accelerated
        ones, the delta method, or none (nor tests).
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Resamples of the bootstrap, and draws of the permutation test.
    resample : {"test", "both"}, default="test"
        What the bootstrap draws anew: the audited rows, the training labels and hence the signs
        held fixed, or both. "both" shows what an uncertain sign does to the value; its
        percentiles are not an interval of known coverage.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of pairs.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the resamples; the numbers do not depend on it.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and single tasks of the training labels.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) of single tasks in the training labels.
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each single pair's correlation.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    skbiasamp.metrics.multi_attribute_amplification : The formula, and the same as one function.

    References
    ----------
    .. [1] Zhao, Andrews, Xiang. Men also do laundry: multi-attribute bias amplification.
       ICML 2023.

    Examples
    --------
    >>> from skbiasamp import MultiAttributeAuditor
    >>> both, cook, clean = [1, 1], [1, 0], [0, 1]
    >>> labels = [both, both, cook, clean] * 2
    >>> predicted = [both] * 4 + [cook, cook, clean, clean]
    >>> sex = ["f"] * 4 + ["m"] * 4
    >>> auditor = MultiAttributeAuditor(min_size=2, interval=None)
    >>> auditor.fit(labels, sensitive_features=sex).audit(labels, predicted, sensitive_features=sex)
    multi-attribute A->T: +0.5000 (8 rows, 2 groups x 1 set of tasks)
    group   task  n   base  observed  sign   delta  amplification
        f (0, 1)  4 0.5000    1.0000     0  0.5000         0.5000
        m (0, 1)  4 0.5000    0.0000     0 -0.5000         0.5000
    """

    metric = "multi-attribute"
    kind = "size"
    question = "How much do predictions change the association between groups and sets of tasks?"
    headline = 6
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions(set(DIRECTIONS)), None],
        "combinations": [StrOptions(set(COMBINATIONS))],
        "min_size": [Interval(Integral, 1, None, closed="left")],
        "max_size": [Interval(Integral, 1, None, closed="left"), None],
        "min_count": [Interval(Real, 0, None, closed="neither")],
        "base": [StrOptions(set(BASES))],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        direction: str | None = "A->T",
        *,
        combinations: str = "observed",
        min_size: int = 1,
        max_size: int | None = None,
        min_count: float = 1,
        base: str = "train",
        groups: str = "intersection",
        reference: str = "train",
        missing: str = "error",
        pos_label: Any = None,
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        resample: str = "test",
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.direction = direction
        self.combinations = combinations
        self.min_size = min_size
        self.max_size = max_size
        self.min_count = min_count
        self.base = base
        self.groups = groups
        self.reference = reference
        self.missing = missing
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.resample = resample
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _sign(self, labels: Contingency) -> Array:
        if self.direction is None:
            return mals_sign(labels)
        return directional_sign(labels, direction=self.direction)

    def _check(self, test: Contingency) -> None:
        check_sides(test, direction=self.direction, metric="multi-attribute amplification")
        test.require_rows("Multi-attribute amplification", but=("scores", "weights"))
        check_hard(test)

    def _base(self, signs: Contingency, train: Contingency, test: Contingency) -> Any:
        if signs is test:
            return "test"
        return "train" if self.direction is None else self.base

    def _pairs(
        self,
        signs: Contingency,
        train: Contingency,
        test: Contingency,
        *,
        base: Any,
        sets: Array | None,
    ) -> Pairs:
        if sets is None:
            sets = combinations_of(
                signs,
                test,
                combinations=self.combinations,
                min_size=self.min_size,
                max_size=self.max_size,
                min_count=self.min_count,
            )
        return multi_attribute(signs, test, sets, direction=self.direction, base=base)

    def _undefined(self, pairs: Pairs) -> str | None:
        return undefined_sets(pairs, self.direction)

    def _sentence(self, result: AuditResult) -> str:
        if result.table["delta"].isna().all():
            return (
                f"Not measured: no set of tasks occurs {self.min_count:.15g} times or more in both "
                "the training labels and the audited ones."
            )
        return (
            f"{conclusion(result)} The rates of sets of tasks change by {points(result.value)} on "
            "average; this is a size and has no direction."
        )


def _unmeasured(result: AuditResult) -> str:
    """Return why there is no amplification to speak of, and what to do."""
    text = conclusion(result)
    if result.verdict == CANNOT:
        text += " Leakage and DPA also measure balanced labels."
    return text
