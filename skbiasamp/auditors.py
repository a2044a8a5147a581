"""Auditors: fit on training labels, audit predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skbiasamp._compat import Interval, StrOptions
from skbiasamp._labels import (
    DIRECTIONS,
    GROUPS,
    MISSING_POLICIES,
    Array,
    check_runs,
    require_groups,
    require_task_pred,
)
from skbiasamp.contingency import Contingency
from skbiasamp.inference import (
    FEW,
    Uncertainty,
    across_runs,
    assess,
    sign_p_values,
    warn_uncertain,
)
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
    CONDITIONS,
    check_hard,
    combinations_of,
    multi_attribute,
)
from skbiasamp.metrics._pairs import (
    Pairs,
    describe_undefined,
    warn_undefined,
)
from skbiasamp.results import AuditResult, label_index, pair_table

_ONE_COLUMN = {"groups": [StrOptions(set(GROUPS))], "missing": [StrOptions(set(MISSING_POLICIES))]}
_REFERENCE = {"reference": [StrOptions({"train", "test"})]}
_UNCERTAINTY = {
    "interval": [StrOptions({"bootstrap", "bca", "analytic"}), None],
    "resample": [StrOptions({"test", "both"})],
    "adjust": [StrOptions({"holm", "fdr"}), None],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": [Integral, None],
}


class _Audited(NamedTuple):
    """The labels that give signs, the training labels, the audited rows, and what was found."""

    signs: Contingency
    train: Contingency
    test: Contingency
    pairs: Pairs


class _CooccurrenceAuditor(BaseEstimator):
    """What the co-occurrence auditors share: training labels in, audits out."""

    metric: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    groups: str
    missing: str
    reference: str
    direction: str | None
    interval: str | None
    confidence_level: float
    n_resamples: int
    resample: str
    adjust: str | None
    random_state: Any
    n_jobs: int | None
    contingency_: Contingency

    def fit(self, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Learn the correlations of the training labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_tasks), or Contingency
            Labels that the model was trained on.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        self : object
            The fitted auditor.
        """
        self._validate_params()
        cells = self._count(y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        require_groups(cells.groups, indicator=cells.indicator)
        return self._learn(cells)

    def partial_fit(
        self, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a chunk of training labels to those learned before.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_tasks), or Contingency
            Labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        self : object
            The auditor, as if fitted on the sum of all chunks.
        """
        self._validate_params()
        cells = self._count(y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        known = getattr(self, "contingency_", None)
        return self._learn(cells if known is None else known + cells)

    def score(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return the amplification as the papers define it.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), or Contingency
            Labels of the audited rows.
        y_pred : array-like
            Predicted labels or probabilities.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_pred : array-like, optional
            The attribute as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        value : float
        """
        audited = self._measure(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
        )
        return audited.pairs.value

    def audit(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
    ) -> AuditResult:
        """Measure the amplification, pair by pair.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), or Contingency
            Labels of the audited rows.
        y_pred : array-like
            Predicted labels or probabilities.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_pred : array-like, optional
            The attribute as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        result : AuditResult
        """
        audited = self._measure(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
        )
        test, pairs = audited.test, audited.pairs
        columns: dict[str, Array] = {
            name: getattr(pairs, name)
            for name in ("n", "base", "observed", "sign", "delta", "amplification")
        }
        low = high = p_value = float("nan")
        statistics = dict(pairs.statistics)
        if self.interval is not None:
            found = self._assess(audited)
            low, high = found.bounds.value_low, found.bounds.value_high
            p_value, statistics = found.value_p_value, statistics | found.bounds.statistics
            certain = self._sign_certain(audited)
            columns |= {
                "low": found.bounds.low,
                "high": found.bounds.high,
                "p_value": found.p_value,
                "p_adjusted": found.p_adjusted,
                "sign_certain": certain,
                "reliable": pairs.n >= FEW,
            }
            warn_uncertain(pairs, certain, stacklevel=2)
        return AuditResult(
            metric=self.metric,
            direction=self.direction,
            value=pairs.value,
            low=low,
            high=high,
            confidence_level=None if self.interval is None else self.confidence_level,
            p_value=p_value,
            n_samples=int(test.total) if test.whole else test.total,
            table=pair_table(pairs.groups, pairs.tasks, **columns),
            params=self.get_params(deep=False),
            statistics=statistics,
        )

    def audit_runs(
        self,
        y_true: Any,
        y_preds: Sequence[Any],
        *,
        sensitive_features: Any = None,
        sensitive_preds: Sequence[Any] | None = None,
        sample_weight: Any = None,
        method: str = "t",
    ) -> AuditResult:
        """Measure the amplification of several runs of one model on the same rows.

        Models that differ only in their seed can differ in their amplification. The interval
        is that of the mean over runs; what the choice of audited rows adds to it is reported
        apart, as ``statistics["data_standard_error"]``.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels of the audited rows.
        y_preds : list of array-like
            The predictions of each run; None for each where the direction needs none.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_preds : list of array-like, optional
            The attribute as predicted in each run.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        method : {"t", "normal"}, default="t"
            Student's t with as many degrees as runs less one, or the papers' 1.96 standard
            errors.

        Returns
        -------
        result : AuditResult
            The mean over runs; ``statistics`` holds ``n_runs``, ``between_run_sd`` and
            ``data_standard_error`` (the root mean square over runs).
        """
        check_runs(y_preds, sensitive_preds)
        runs = [
            self.audit(
                y_true,
                y_pred,
                sensitive_features=sensitive_features,
                sensitive_pred=None if sensitive_preds is None else sensitive_preds[i],
                sample_weight=sample_weight,
            )
            for i, y_pred in enumerate(y_preds)
        ]
        return self._over_runs(runs, method)

    def _over_runs(self, runs: list[AuditResult], method: str) -> AuditResult:
        values = np.array([run.value for run in runs])
        value, low, high = across_runs(values, self.confidence_level, method=method)
        tables = [run.table.set_index(["group", "task"]) for run in runs]
        aligned = [table.reindex(tables[0].index) for table in tables]
        table = runs[0].table.copy()
        for name in ("n", "base", "observed", "delta", "amplification"):
            stacked = np.stack([one[name].to_numpy(float) for one in aligned])
            if name == "amplification":
                table[name], table["low"], table["high"] = across_runs(
                    stacked, self.confidence_level, method=method
                )
            else:
                table[name] = stacked.mean(axis=0)
        table[["p_value", "p_adjusted"]] = np.nan
        errors = np.array([run.statistics.get("standard_error", np.nan) for run in runs])
        return replace(
            runs[0],
            value=float(value),
            low=float(low),
            high=float(high),
            confidence_level=self.confidence_level,
            p_value=float("nan"),
            table=table,
            statistics={
                "n_runs": len(runs),
                "between_run_sd": float(values.std(ddof=1)),
                "data_standard_error": float(np.sqrt((errors**2).mean())),
            },
        )

    # ------------------------------------------------------------------ inside

    def _count(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        like: Contingency | None = None,
    ) -> Contingency:
        """Return the contingency of labels, or the one that was passed in their place."""
        if not isinstance(y_true, Contingency):
            return Contingency.from_labels(
                y_true,
                y_pred,
                sensitive_features=sensitive_features,
                sensitive_pred=sensitive_pred,
                sample_weight=sample_weight,
                groups=self.groups,
                missing=self.missing,
                like=like,
            )
        others = (y_pred, sensitive_features, sensitive_pred, sample_weight)
        if any(other is not None for other in others):
            raise TypeError(
                "A Contingency already holds labels, predictions, groups and weights: pass it "
                "alone."
            )
        return y_true if like is None else y_true.conform(like)

    def _learn(self, cells: Contingency) -> Self:
        self.contingency_ = cells
        self.groups_ = list(cells.groups)
        self.tasks_ = list(cells.tasks)
        self.n_samples_fit_ = int(cells.total) if cells.whole else cells.total
        index, columns = label_index(cells.groups), label_index(cells.tasks)
        self.base_rates_ = pd.DataFrame(cells.rate("task", given="group"), index, columns)
        self.y_at_ = pd.DataFrame(self._sign(cells), index, columns)
        return self

    def _measure(self, y_true: Any, y_pred: Any, **labels: Any) -> _Audited:
        self._validate_params()
        fitted = hasattr(self, "contingency_")
        if not fitted and self.reference != "test":
            check_is_fitted(
                self,
                "contingency_",
                msg=(
                    "This %(name)s has not seen training labels: call fit(y_train, "
                    "sensitive_features=A_train) first, or make it with reference='test' to "
                    "take the correlations from the audited labels themselves."
                ),
            )
        test = self._count(y_true, y_pred, like=self.contingency_ if fitted else None, **labels)
        train = self.contingency_ if fitted else test
        require_groups(train.groups, indicator=train.indicator)
        self._check(test)
        signs = train if self.reference == "train" else test
        pairs = self._pairs(signs, train, test, base=self._base(signs, train, test), sets=None)
        warn_undefined(self._undefined(pairs), stacklevel=3)
        return _Audited(signs, train, test, pairs)

    def _assess(self, audited: _Audited) -> Uncertainty:
        signs, train, test, pairs = audited
        base = self._base(signs, train, test)

        def measure(signs: Contingency, train: Contingency, test: Contingency) -> Pairs:
            return self._pairs(signs, train, test, base=base, sets=pairs.sets)

        def paired(test: Contingency) -> Pairs:
            return self._pairs(signs, train, test, base="test", sets=pairs.sets)

        return assess(
            measure,
            signs,
            train,
            test,
            pairs,
            paired=paired,
            own_base=not isinstance(base, str),
            interval=str(self.interval),
            resample=self.resample,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            adjust=self.adjust,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _sign_certain(self, audited: _Audited) -> Array:
        """Return whether the labels can tell each pair's sign from a coin's."""
        p_values = sign_p_values(audited.signs, audited.pairs, shares=self.direction is None)
        return p_values < 1 - self.confidence_level

    def _base(self, signs: Contingency, train: Contingency, test: Contingency) -> Any:
        """Return where the second term comes from: "train", "test" or the user's table."""
        return "test" if signs is test else "train"

    def _sign(self, labels: Contingency) -> Array:
        raise NotImplementedError

    def _check(self, test: Contingency) -> None:
        raise NotImplementedError

    def _pairs(
        self,
        signs: Contingency,
        train: Contingency,
        test: Contingency,
        *,
        base: Any,
        sets: Array | None,
    ) -> Pairs:
        raise NotImplementedError

    def _undefined(self, pairs: Pairs) -> str | None:
        return describe_undefined(pairs, condition="audited")


class MALSAuditor(_CooccurrenceAuditor):
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
    direction = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_ONE_COLUMN,
        **_REFERENCE,
        **_UNCERTAINTY,
    }

    def __init__(
        self,
        *,
        groups: str = "intersection",
        reference: str = "train",
        missing: str = "error",
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
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.resample = resample
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

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


class DirectionalAuditor(_CooccurrenceAuditor):
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions(set(DIRECTIONS))],
        "ties": [StrOptions(set(TIES))],
        "base": [StrOptions(set(BASES)), pd.DataFrame],
        "sign": [pd.DataFrame, None],
        **_ONE_COLUMN,
        **_REFERENCE,
        **_UNCERTAINTY,
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
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.resample = resample
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _sign(self, labels: Contingency) -> Array:
        return directional_sign(
            labels, direction=str(self.direction), ties=self.ties, base=self.base, sign=self.sign
        )

    def _check(self, test: Contingency) -> None:
        check_sides(test, direction=self.direction, metric="directional amplification")

    def _base(self, signs: Contingency, train: Contingency, test: Contingency) -> Any:
        return "test" if train is test and isinstance(self.base, str) else self.base

    def _sign_certain(self, audited: _Audited) -> Array:
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


class MultiAttributeAuditor(_CooccurrenceAuditor):
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
        How often a set has to occur, in training and in the audited labels.
    base : {"train", "test"}, default="train"
        Whether predictions are compared with the training labels, as in the paper, or with the
        audited ones, as in the authors' code. Multi_MALS always takes the training labels.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    reference : {"train", "test"}, default="train"
        Which labels are the training labels: those that `fit` saw, or the audited ones.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions(set(DIRECTIONS)), None],
        "combinations": [StrOptions(set(COMBINATIONS))],
        "min_size": [Interval(Integral, 1, None, closed="left")],
        "max_size": [Interval(Integral, 1, None, closed="left"), None],
        "min_count": [Interval(Real, 0, None, closed="neither")],
        "base": [StrOptions(set(BASES))],
        **_ONE_COLUMN,
        **_REFERENCE,
        **_UNCERTAINTY,
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
        return describe_undefined(pairs, condition=CONDITIONS[self.direction], kept_as_zero=True)
