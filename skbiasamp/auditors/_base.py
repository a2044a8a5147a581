"""What auditors share: training labels in, audits out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skbiasamp._compat import Interval, StrOptions
from skbiasamp._labels import (
    GROUPS,
    MISSING_POLICIES,
    Array,
    check_frame_columns,
    check_runs,
    renamed,
    require_groups,
)
from skbiasamp.contingency import Contingency
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.inference._assess import Uncertainty, assess, warn_uncertain
from skbiasamp.inference._intervals import FEW, across_runs
from skbiasamp.inference._tests import sign_p_values
from skbiasamp.metrics._pairs import (
    Pairs,
    describe_undefined,
    row_weighted,
    warn_undefined,
)
from skbiasamp.results import AuditResult, conclusion, label_index, pair_table

P = ParamSpec("P")
R = TypeVar("R")

# Parameters that every auditor has, as scikit-learn checks them.
COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "groups": [StrOptions(set(GROUPS))],
    "missing": [StrOptions(set(MISSING_POLICIES))],
    "pos_label": [Hashable],
    "interval": [StrOptions({"bootstrap", "bca", "analytic"}), None],
    "adjust": [StrOptions({"holm", "fdr"}), None],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": [Integral, None],
}


_NO_INTERVAL = (
    "Each task was summed by itself, so how tasks depend on one another is not known: pairs have "
    "intervals, and their mean has none. For A->T and groups that do not overlap, a fitted auditor "
    "with interval='analytic' has the engine sum what it takes; otherwise count with joint=True, "
    "or read the rows into memory."
)


def rest_by_name(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method say what goes by name where more came by position than it takes."""
    parameters = signature(method).parameters.values()
    _, *labels = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]

    @wraps(method)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        if len(given) - 1 > len(labels):
            name = checked.__name__
            raise TypeError(
                f"{type(given[0]).__name__}.{name} takes {' and '.join(labels)} by position and "
                f"the rest by name: {name}({', '.join(labels)}, sensitive_features=A). Got "
                f"{len(given) - 1} arguments by position."
            )
        return method(*given, **named)

    return checked


class Audited(NamedTuple):
    """The labels that give signs, the training labels, the audited rows, and what was found."""

    signs: Contingency
    train: Contingency
    test: Contingency
    pairs: Pairs


class BaseAuditor(ABC, BaseEstimator):
    """What all auditors share: training labels in, audits out."""

    metric: ClassVar[str]
    # A metric declares how it is read; reports, pages and plots never compare its name.
    kind: ClassVar[str] = "signed"  # "signed", "size" or "attack"
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    _rates: ClassVar[tuple[str, str]] = ("base", "observed")  # columns of a result's table
    _scores: ClassVar[bool] = False  # whether labels may be numbers, and predictions any scores

    groups: str
    missing: str
    pos_label: Any = None
    direction: str | None
    interval: str | None
    confidence_level: float
    n_resamples: int
    adjust: str | None
    random_state: Any
    n_jobs: int | None
    contingency_: Contingency

    @rest_by_name
    def fit(
        self,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        target: Any = None,
        sensitive: Any = None,
        weight: str | None = None,
    ) -> Self:
        """Learn the correlations of the training labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels that the model was trained on; or a data frame, lazy frame or query that has
            them, whose engine then counts.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; whole numbers count as that many rows each.
        target, sensitive, weight : column name or list of names, optional
            Where labels, attribute and weights are, if `y` is a frame.

        Returns
        -------
        self : object
            The fitted auditor.
        """
        self._validate_params()
        cells = self._count_training(
            y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            target=target,
            sensitive=sensitive,
            weight=weight,
        )
        self._require_groups(cells)
        return self._learn(cells)

    @rest_by_name
    def partial_fit(
        self,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        target: Any = None,
        sensitive: Any = None,
        weight: str | None = None,
    ) -> Self:
        """Add a chunk of training labels to those learned before.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels, or a frame that has them.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; whole numbers count as that many rows each.
        target, sensitive, weight : column name or list of names, optional
            Where labels, attribute and weights are, if `y` is a frame.

        Returns
        -------
        self : object
            The auditor, as if fitted on the sum of all chunks.
        """
        self._validate_params()
        cells = self._count_training(
            y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            target=target,
            sensitive=sensitive,
            weight=weight,
        )
        known = getattr(self, "contingency_", None)
        return self._learn(cells if known is None else known + cells)

    @rest_by_name
    def score(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        target: Any = None,
        prediction: Any = None,
        sensitive: Any = None,
        sensitive_prediction: Any = None,
        weight: str | None = None,
    ) -> float:
        """Return the amplification as the papers define it.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels of the audited rows; or a data frame, lazy frame or query that has everything.
        y_pred : array-like
            Predicted labels or probabilities.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_pred : array-like, optional
            The attribute as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        target, prediction, sensitive, sensitive_prediction, weight : column name or list of names
            Where labels, predictions, attribute, its predictions and weights are, if `y_true` is
            a frame.

        Returns
        -------
        value : float
        """
        test = self._read(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
            target=target,
            prediction=prediction,
            sensitive=sensitive,
            sensitive_prediction=sensitive_prediction,
            weight=weight,
        )
        return self._value(test)

    @rest_by_name
    def audit(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        target: Any = None,
        prediction: Any = None,
        sensitive: Any = None,
        sensitive_prediction: Any = None,
        weight: str | None = None,
    ) -> AuditResult:
        """Measure the amplification, pair by pair.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels of the audited rows; or a data frame, lazy frame or query that has everything.
        y_pred : array-like
            Predicted labels or probabilities.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute.
        sensitive_pred : array-like, optional
            The attribute as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        target, prediction, sensitive, sensitive_prediction, weight : column name or list of names
            Where labels, predictions, attribute, its predictions and weights are, if `y_true` is
            a frame.

        Returns
        -------
        result : AuditResult
        """
        test = self._read(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
            target=target,
            prediction=prediction,
            sensitive=sensitive,
            sensitive_prediction=sensitive_prediction,
            weight=weight,
        )
        return self._declared(self._result(test), getattr(test, "group_columns", None))

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
        runs: list[AuditResult] = []
        for i, y_pred in enumerate(y_preds):
            with warnings.catch_warnings():
                if runs:  # what the first run warned of is the same rows again
                    warnings.simplefilter("ignore", UncertaintyWarning)
                    warnings.simplefilter("ignore", UndefinedMetricWarning)
                runs.append(
                    self.audit(
                        y_true,
                        y_pred,
                        sensitive_features=sensitive_features,
                        sensitive_pred=None if sensitive_preds is None else sensitive_preds[i],
                        sample_weight=sample_weight,
                    )
                )
        return self._over_runs(runs, method)

    def _over_runs(self, runs: list[AuditResult], method: str) -> AuditResult:
        values = np.array([run.value for run in runs])
        value, low, high = across_runs(values, self.confidence_level, method=method)
        tables = [run.table.set_index(["group", "task"]) for run in runs]
        aligned = [table.reindex(tables[0].index) for table in tables]
        table = runs[0].table.copy()
        for name in ("n", *self._rates, "delta", "amplification"):
            stacked = np.stack([one[name].to_numpy(float) for one in aligned])
            if name == "amplification":
                table[name], table["low"], table["high"] = across_runs(
                    stacked, self.confidence_level, method=method
                )
            else:
                table[name] = stacked.mean(axis=0)
        table[["p_value", "p_adjusted"]] = np.nan
        errors = np.array([run.statistics.get("standard_error", np.nan) for run in runs])
        mean = replace(
            runs[0],
            value=float(value),
            low=float(low),
            high=float(high),
            confidence_level=self.confidence_level,
            p_value=float("nan"),
            table=table,
            statistics={
                **{k: v for k, v in runs[0].statistics.items() if k == "attacker"},
                "n_runs": len(runs),
                "between_run_sd": float(values.std(ddof=1)),
                "data_standard_error": float(np.sqrt((errors**2).mean())),
            },
        )
        return self._declared(mean, runs[0].group_columns)

    # ------------------------------------------------------------------ inside

    @property
    def question(self) -> str:
        """Question that the metric answers, in one sentence."""
        return ""

    @property
    def headline(self) -> int:
        """Rank in a report: the lowest that can be measured gives the verdict."""
        return 9

    def _declared(self, result: AuditResult, columns: Any) -> AuditResult:
        """Return a result with what its metric declares, and what it says."""
        result = replace(
            result,
            kind=self.kind,
            question=self.question,
            headline=self.headline,
            group_columns=tuple(columns or ()),
        )
        return replace(result, sentence=self._sentence(result))

    def _sentence(self, result: AuditResult) -> str:
        """Return what a result says; a metric adds who is affected and by how much."""
        return conclusion(result)

    def _count(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        like: Contingency | None = None,
        **columns: Any,
    ) -> Contingency:
        """Return the contingency of labels or of a frame, or the one passed in their place."""
        others = (y_pred, sensitive_features, sensitive_pred, sample_weight)
        named = {name: one for name, one in columns.items() if one is not None}
        if named:
            check_frame_columns(named, others)
            return Contingency.from_frame(
                y_true,
                **named,
                groups=self.groups,
                missing=self.missing,
                pos_label=self.pos_label,
                like=like,
                **self._asked(like),
            )
        if not isinstance(y_true, Contingency):
            return Contingency.from_labels(
                y_true,
                y_pred,
                sensitive_features=sensitive_features,
                sensitive_pred=sensitive_pred,
                sample_weight=sample_weight,
                groups=self.groups,
                missing=self.missing,
                pos_label=self.pos_label,
                like=like,
                scores=self._scores,
            )
        if any(other is not None for other in others):
            raise TypeError(
                "A Contingency already holds labels, predictions, groups and weights: pass it "
                "alone."
            )
        cells = y_true.with_positive(self.pos_label)
        return cells if like is None else cells.conform(like)

    def _asked(self, like: Contingency | None) -> dict[str, Any]:
        """Return what an engine is asked for beside counts; `like` are the training labels."""
        return {"joint": True}

    @property
    def _fitted(self) -> bool:
        return hasattr(self, "contingency_")

    def _count_training(self, y: Any, **labels: Any) -> Contingency:
        """Return training labels as a contingency; errors name what `fit` calls them."""
        with renamed(y_true="y"):
            return self._count(y, **labels)

    def _read(self, y_true: Any, y_pred: Any, **labels: Any) -> Contingency:
        """Return the audited rows."""
        self._validate_params()
        self._check_fitted()
        like = self.contingency_ if self._fitted else None
        return self._count(y_true, y_pred, like=like, **labels)

    def _learn(self, cells: Contingency) -> Self:
        self.contingency_ = cells
        self.groups_ = list(cells.groups)
        self.tasks_ = list(cells.tasks)
        self.n_samples_fit_ = int(cells.total) if cells.whole else cells.total
        if not (cells.soft("group") or cells.soft("task")):
            index, columns = label_index(cells.groups), label_index(cells.tasks)
            self.base_rates_ = pd.DataFrame(cells.rate("task", given="group"), index, columns)
        return self

    def _require_groups(self, cells: Contingency) -> None:
        require_groups(cells.groups, cells.count("group"), cells.total, declared=cells.declared)

    def _check_fitted(self) -> None:
        """Raise if the metric cannot do without training labels."""

    @abstractmethod
    def _value(self, test: Contingency) -> float:
        """Return the value of audited rows."""

    @abstractmethod
    def _result(self, test: Contingency) -> AuditResult:
        """Return the result of audited rows."""


class CooccurrenceAuditor(BaseAuditor):
    """What the auditors of co-occurrence share: signs from training labels, pairs, intervals."""

    reference: str
    resample: str

    def _learn(self, cells: Contingency) -> Self:
        super()._learn(cells)
        index, columns = label_index(cells.groups), label_index(cells.tasks)
        self.y_at_ = pd.DataFrame(self._sign(cells), index, columns)
        return self

    def _check_fitted(self) -> None:
        if not self._fitted and self.reference != "test":
            check_is_fitted(
                self,
                "contingency_",
                msg=(
                    "This %(name)s has not seen training labels: call fit(y_train, "
                    "sensitive_features=A_train) first, or make it with reference='test' to "
                    "take the correlations from the audited labels themselves."
                ),
            )

    def _value(self, test: Contingency) -> float:
        return self._measure(test).pairs.value

    def _result(self, test: Contingency) -> AuditResult:
        audited = self._measure(test)
        pairs = audited.pairs
        columns: dict[str, Array] = {
            name: getattr(pairs, name)
            for name in ("n", "base", "observed", "sign", "delta", "amplification")
        }
        low = high = p_value = float("nan")
        statistics = dict(pairs.statistics)
        if self.kind == "signed":
            statistics["row_weighted"] = row_weighted(pairs)
        if self.interval is not None:
            found = self._assess(audited)
            low, high = found.bounds.value_low, found.bounds.value_high
            p_value, statistics = found.value_p_value, statistics | found.bounds.statistics
            certain = self._sign_certain(audited)
            reliable = pairs.n * test.rows_per_weight >= FEW - 1e-9
            columns |= {
                "low": found.bounds.low,
                "high": found.bounds.high,
                "p_value": found.p_value,
                "p_adjusted": found.p_adjusted,
                "sign_certain": certain,
                "reliable": reliable,
            }
            warn_uncertain(pairs, certain, reliable, stacklevel=4)
            if np.isnan(low) and not np.isnan(pairs.value) and test.summed == "tasks":
                warnings.warn(_NO_INTERVAL, UncertaintyWarning, stacklevel=4)
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

    def _measure(self, test: Contingency) -> Audited:
        train = self.contingency_ if self._fitted else test
        self._require_groups(train)
        self._check(test)
        signs = train if self.reference == "train" else test
        pairs = self._pairs(signs, train, test, base=self._base(signs, train, test), sets=None)
        warn_undefined(self._undefined(pairs), stacklevel=5)
        return Audited(signs, train, test, pairs)

    def _assess(self, audited: Audited) -> Uncertainty:
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

    def _sign_certain(self, audited: Audited) -> Array:
        """Return whether the labels can tell each pair's sign from a coin's."""
        p_values = sign_p_values(audited.signs, audited.pairs, shares=self.direction is None)
        return p_values < 1 - self.confidence_level

    def _base(self, signs: Contingency, train: Contingency, test: Contingency) -> Any:
        """Return where the second term comes from: "train", "test" or the user's table."""
        return "test" if signs is test else "train"

    @abstractmethod
    def _sign(self, labels: Contingency) -> Array:
        """Return the signs of the labels, as groups × tasks."""

    @abstractmethod
    def _check(self, test: Contingency) -> None:
        """Raise if the audited rows lack what the metric needs."""

    @abstractmethod
    def _pairs(
        self,
        signs: Contingency,
        train: Contingency,
        test: Contingency,
        *,
        base: Any,
        sets: Array | None,
    ) -> Pairs:
        """Measure."""

    def _undefined(self, pairs: Pairs) -> str | None:
        return describe_undefined(pairs, condition="audited")
