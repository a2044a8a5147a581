"""What every metric shares: an auditor that learns training labels and measures audited rows."""

from __future__ import annotations

import copy
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import (
    GROUPS,
    MISSING_POLICIES,
    MOST_GROUPS,
    Array,
    check_option,
    require_groups,
)
from skbiasamp._input.errors import InputError, called, of_the_model, renaming
from skbiasamp._input.options import Option, WithOptions
from skbiasamp._utils import formatting as words
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions
from skbiasamp._utils.docstrings import documented, filling
from skbiasamp._utils.progress import Step, progress
from skbiasamp._utils.warnings import collected, warn
from skbiasamp.counts import cells
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import differ_in_group, ordered
from skbiasamp.counts.parts import check_model, of_model
from skbiasamp.inference.runs import METHODS, Mean
from skbiasamp.metrics.comparing import RUN, Runs, by_run, compare_runs, each_run, mean_of_models
from skbiasamp.metrics.inputs import count_labels, require_predictions, rest_by_name
from skbiasamp.metrics.score_order import check_class
from skbiasamp.results import AuditResult, ComparisonResult, label_index
from skbiasamp.results.exports import paper_of
from skbiasamp.results.kinds import Kind

_HOW = ("groups", "missing", "min_rows", "pos_label")
# Methods that other packages of skbiasamp call: no part of the public API. Rows are counted once
# (`count_`), measured as `audit` measures them (`_of`), and a watch learns what stays the same
# (`learn_`). Counted metrics have `pairs_of` too.
INTERNAL = {"compare_tables", "count_audited", "count_models", "for_report", "learn_reference"}
INTERNAL |= {"learn_signs", "pairs_of", "values_of_draws", "verdict_for"}


class BaseAuditor(ABC, WithOptions):
    """What all auditors share: training labels in, audits out.

    A metric is a subclass that says what it is and how it is measured. Reports, pages and plots
    never compare its name.
    """

    groups: str = Option("intersection", StrOptions(set(GROUPS)))
    missing: str = Option("error", StrOptions(set(MISSING_POLICIES)))
    min_rows: int | None = Option(None, Interval(Integral, 2, None, closed="left"), None)
    pos_label: Any = Option(None, Hashable)
    interval: str | None = Option("analytic", StrOptions({"analytic"}), None)
    confidence_level: float = Option(0.95, Interval(Real, 0, 1, closed="neither"))
    n_resamples: int = Option(999, Interval(Integral, 2, None, closed="left"))
    adjust: str | None = Option("holm", StrOptions({"holm", "fdr"}), None)
    random_state: Any = Option(None, "random_state", np.random.Generator)
    n_jobs: int | None = Option(None, *N_JOBS)

    metric: ClassVar[str]
    kind: ClassVar[Any] = "signed"  # the name of a `Kind`
    definition: ClassVar[str] = ""  # what it measures, for the glossary of a report
    direction = cast("str | None", None)
    # What a pair compares: columns of a result's table, and their headings.
    columns: ClassVar[Mapping[str, str]] = {"base": "Labels", "observed": "Predictions"}
    baseline: ClassVar[str] = "equally accurate random labels"  # what attackers are compared with
    pair_of: ClassVar[tuple[str, str]] = ("group", "task")  # what a row of the table is about
    about = "the group"  # what attackers guess, and predictions reveal
    guessed_from = ""  # what attackers see, if it is not the predictions
    unit: ClassVar[str] = ""  # of the value, if it is no share
    amplified: ClassVar[str] = words.ASSOCIATION  # what a report says that the model amplifies
    uncounted: ClassVar[str] = ""  # why a pair without a sign adds 0
    # What the interval is about, and what the test asks. {labels} give the signs.
    estimand: ClassVar[str] = "The value in the population that the audited rows are a sample of."
    null: ClassVar[str] = "The value is 0 in this population."
    _uses_groups: ClassVar[bool] = True
    _compares_groups: ClassVar[bool] = True  # whether rows of one group alone have no value
    # Of rows of one group: whether the published value is defined, and whether it is judged.
    _publishes_one_group = False
    _judges_one_group = False
    _of_scores: ClassVar[tuple[str, ...]] = ()  # what `audit` takes besides: y_score
    _of_function: ClassVar[tuple[str, ...]] = ()  # what its function takes besides: validation
    # Whether engines are asked for rows; else they decide whether rows or tasks are counted.
    _joint: ClassVar[bool] = True
    _scores: ClassVar[bool] = False  # whether labels may be numbers, and predictions any scores
    # What labels and predictions are: "labels", "texts" or "numbers".
    reads: ClassVar[Literal["labels", "texts", "numbers"]] = "labels"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = Kind(cls.kind)
        if cls.__doc__:
            cls.__doc__ = documented(cls)

    @rest_by_name
    def fit(
        self,
        y_train: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **columns: Any,
    ) -> Self:
        """Learn the correlations of the training labels.

        Parameters
        ----------
        y_train : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels of the training rows.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, or several.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights. A whole number counts as that many rows.
        **columns : column name or list of names
            If `y_train` is a frame: `target`, `sensitive` and `weight` name its columns.

        Returns
        -------
        self : object
            The fitted auditor.
        """
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        return self._fit(y_train, labels, columns)

    def _fit(self, y_train: Any, labels: dict[str, Any], columns: dict[str, Any]) -> Self:
        self._validate_params()
        with renaming(y_true="y_train"):
            cells = self._count(y_train, labels, columns)
            cells.require("task")
        if self._compares_groups:
            counts = cells.count("group")
            require_groups(cells.groups, counts, cells.total, declared=cells.declared)
        return self._learn(cells)

    @rest_by_name
    def partial_fit(
        self,
        y_train: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **columns: Any,
    ) -> Self:
        """Add a chunk of training labels to those learned before.

        Parameters
        ----------
        y_train, sensitive_features, sample_weight, **columns
            As for `fit`.

        Returns
        -------
        self : object
            The auditor, as if fitted on the sum of all chunks.
        """
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        self._validate_params()
        with renaming(y_true="y_train"):
            # A chunk may have few rows of each group.
            cells = self._count(y_train, labels, columns, max_groups=MOST_GROUPS)
            cells.require("task")
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
        **columns: Any,
    ) -> float:
        """Return the value: the number that `audit` judges.

        Parameters
        ----------
        y_true, y_pred, sensitive_features, sensitive_pred, sample_weight, **columns
            As for `audit`.

        Returns
        -------
        value : float
        """
        labels = {"sensitive_features": sensitive_features, "sensitive_pred": sensitive_pred}
        labels["sample_weight"] = sample_weight
        with self._progress():
            test = self.count_audited(y_true, y_pred, **labels, **columns)
            if not (self._scores or isinstance(y_true, Contingency)):
                check_class(test)
            value = self._value(test)
        if self._compares_groups and not (differ_in_group(test) or self._judges_one_group):
            warn(f"{self.metric} is undefined: only one group has rows.", UndefinedMetricWarning)
            return value * math.nan
        return value

    @rest_by_name
    @filling
    def audit(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        **columns: Any,
    ) -> AuditResult:
        """Measure the audited rows, with a table of pairs, confidence intervals and tests.

        Parameters
        ----------
        %(y_true)s
        %(y_pred)s
        %(sensitive_features)s
        %(sensitive_pred)s
        %(sample_weight)s
        %(clusters)s
        %(columns)s

        Returns
        -------
        result : AuditResult
        """
        labels = {"sensitive_features": sensitive_features, "sensitive_pred": sensitive_pred}
        labels |= {"sample_weight": sample_weight, "clusters": clusters}
        with self._progress():
            test = self.count_audited(y_true, y_pred, **labels, **columns)
            if not (self._scores or isinstance(y_true, Contingency)):
                check_class(test)
            return self._result(test)

    @rest_by_name
    @filling
    def compare(
        self,
        y_true: Any,
        y_preds: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_preds: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        reference: str | None = None,
        **columns: Any,
    ) -> ComparisonResult:
        """Compare several models on the same rows.

        Differences are measured on resamples of the rows of both models, so that what they have in
        common cancels. Two separate intervals may overlap although the models differ.

        Parameters
        ----------
        y_true : array-like, Contingency or frame
            Labels of the audited rows; None for metrics that do not use them; or predictions of an
            old model, to ask how far new ones move from it. A `Contingency` of several models, or
            a frame, may stand in their place.
        y_preds : dict of array-like, or of lists of them
            The predictions of each model, by its name. Lists are runs of a training procedure,
            two or more each: the means over runs are then compared, with an interval that
            includes the uncertainty of runs and rows.
        %(sensitive_features)s
        sensitive_preds : dict of array-like, default=None
            The sensitive feature as each model predicts it, for task → group.
        %(sample_weight)s
        %(clusters)s
        reference : str, default=None
            The model that the others are compared with. None: the first.
        **columns : column name, list of names, or dict of them
            If `y_true` is a frame, names of its columns as for `audit`; ``prediction`` and
            ``sensitive_prediction`` are dicts of model names:
            ``prediction={"champion": "p0", "challenger": "p1"}``.

        Returns
        -------
        result : ComparisonResult
        """
        labels = {"y_preds": y_preds, "sensitive_preds": sensitive_preds}
        labels |= {"sensitive_features": sensitive_features}
        labels |= {"sample_weight": sample_weight, "clusters": clusters}
        with self._progress():
            self._validate_params()
            self._check_fitted()
            runs: dict[str, list[str]] = {}
            if not (isinstance(y_true, Contingency) or columns):
                runs, labels = each_run(y_true, labels)
            cells = self.count_models(y_true, labels, columns)
            models = tuple(runs) or cells.models
            if not models:
                raise InputError(
                    "{y_true} holds the predictions of one model. Compare needs those of two or "
                    "more: Contingency.from_labels(y_true, y_preds={{'old': ..., 'new': ...}})."
                )
            named = models[0] if reference is None else reference
            check_model(named, models, "reference")
            alike = self._for_models(cells)
            if runs:
                return compare_runs(alike, cells, named, runs)
            return alike._compare_models(cells, named)

    def audit_runs(
        self,
        y_true: Any,
        y_preds: Sequence[Any],
        *,
        sensitive_features: Any = None,
        sensitive_preds: Sequence[Any] | None = None,
        sample_weight: Any = None,
        clusters: Any = None,
        method: str = "t",
    ) -> AuditResult:
        """Measure several training runs of one model on the same rows.

        Models that differ only in their seed can differ in their amplification. The value is
        the mean over runs. Its interval includes how other runs would differ, and how other
        rows would.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels of the audited rows; None for metrics that do not use them.
        y_preds : list of array-like
            The predictions of each run; None for each if the direction needs none.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, or several.
        sensitive_preds : list of array-like, optional
            The sensitive feature as predicted in each run.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        clusters : array-like of shape (n_samples,), optional
            One id per row: rows of one person or image share it.
        method : {"t", "runs"}, default="t"
            "t": Student's t, with the variance of runs and that of rows. "runs": Student's t over
            runs alone, as in the papers; other rows would differ by more.

        Returns
        -------
        result : AuditResult
            The mean over runs; ``statistics`` holds ``n_runs``, ``between_run_sd`` (of the
            value) and ``data_standard_error``: the error of the mean by the audited rows. The
            interval of the published value is Student's t over runs alone.
        """
        labels = {"sensitive_features": sensitive_features}
        labels |= {"sample_weight": sample_weight, "clusters": clusters}
        with self._progress():
            with collected() as warned:  # what runs share is said once
                self._validate_params()
                self._check_fitted()
                check_option("method", method, METHODS)
                _check_runs(y_preds, sensitive_preds)
                names = {RUN: [f"run {i + 1}" for i in range(len(y_preds))]}
                given = {"y_preds": y_preds, "sensitive_preds": sensitive_preds}
                runs = {name: runs and {RUN: runs} for name, runs in given.items()}
                cells = self.count_models(y_true, labels | by_run(names, runs))
                result = mean_of_models(self, cells, method)
            warned.issue()
            return result

    # ------------------------------------------------------------------ what a metric declares

    def _requires(self) -> tuple[SideName, ...]:
        """Return the predictions that the metric cannot do without."""
        return ("group_pred",) if self.direction == "T->A" else ("task_pred",)

    def _why_labels(self) -> str:
        """Return what the metric needs labels of the audited rows for; "" if it needs none."""
        return "compares predictions with labels: pass {y_true}."

    @property
    def question(self) -> str:
        """Question that the metric answers, in one sentence."""
        return ""

    @property
    def citation(self) -> str:
        """BibTeX entry of the paper: the first reference of the metric's docstring, or ""."""
        return paper_of(type(self))

    @property
    def rank(self) -> int:
        """Rank in a report: the lowest that can be measured gives the verdict."""
        return 9

    @property
    def fewest_rows(self) -> int:
        """With how many rows an audit is no error."""
        return 1

    @property
    def percent(self) -> bool:
        """Whether the columns that a pair compares are shares of 1."""
        return True

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        """Return the auditors that a report of these rows runs unasked: none, by default.

        With `scores`, the rows hold scores in place of predictions.
        """
        return []

    def _made(
        self, test: Contingency, *, table: Any, published_ends: Any = None, **parts: Any
    ) -> AuditResult:
        """Return a result of audited rows.

        A function may make the table, and the interval of the published value, when it is read.
        """
        numbers: dict[str, Any] = dict.fromkeys(("low", "high", "p_value"), math.nan)
        later: dict[str, Any] = {"table": lambda _: table()} if callable(table) else {}
        declared, labelled = self._declaration_for(AuditResult), test.has("task")
        columns, labels = dict(self.columns), "labels"
        if declared["params"].get("reference") == "train":
            labels = "training labels"
            if isinstance(base := declared["params"].get("base"), str) and base == "train":
                columns |= {"base": words.TRAINING_LABELS}
        if not labelled:
            labels = "reference rows"
            parts["statistics"] = {**parts.get("statistics", {}), "labelled": False}
            if "base" in columns:
                columns |= {"base": "Reference", "observed": "These rows"}
        if self._compares_groups and not (differ_in_group(test) or self._judges_one_group):
            # One group alone is compared with nothing.
            parts["statistics"] = {**parts.get("statistics", {}), "n_groups": 1}
            lost = ("value",) if self._publishes_one_group else ("value", "published")
            unknown = dict.fromkeys(lost, math.nan)
            parts |= numbers | unknown | {"verdict": words.NOT_MEASURED}
        known = {"labels": labels, "about": self.about, "baseline": self.baseline}
        of_result: dict[str, Any] = {
            "n_samples": int(test.total) if test.whole else test.total,
            "columns": columns,
            "settings": tuple(
                name
                for name, parameter in inspect.signature(type(self)).parameters.items()
                if declared["params"].get(name, parameter.default) is not parameter.default
                and repr(declared["params"][name]) != repr(parameter.default)
            ),
            "group_columns": tuple(test.group_columns or ()),
            "estimand": self.estimand.format(**known),
            "null": self.null.format(**known),
        }
        if published_ends is not None:
            later["published_low"] = lambda _: published_ends().low
            later["published_high"] = lambda _: published_ends().high
        result = AuditResult(table=table, **declared | of_result | numbers | parts)
        for name, make in later.items():  # made by a function of the result when it is read
            del vars(result)[name]
            vars(result)[f"_{name}"] = make
        return result

    def _declaration_for(self, results: type) -> dict[str, Any]:
        """Return what the metric says about itself, as fields of a kind of results."""
        # Those with a default that an auditor has too.
        known = (field for field in fields(results) if field.default is not field.default_factory)
        names = (field.name for field in known if hasattr(BaseAuditor, field.name))
        declared = {name: getattr(self, name) for name in names}
        return declared | {
            "metric": self.metric,
            "direction": self.direction,
            "confidence_level": None if self.interval is None else self.confidence_level,
            "params": self.get_params(deep=False),
        }

    @classmethod
    def for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        """Return the auditors that a report of these rows runs unasked, with labels or without."""
        auditors = cls._for_report(test, scores=scores)
        return [auditor for auditor in auditors if test.has("task") or not auditor._why_labels()]

    def _progress(self) -> AbstractContextManager[Step]:
        """Show that this metric is being measured, if it takes long."""
        # Before parameters are checked, the direction may be anything.
        named = (name for name in (self.metric, self.direction) if isinstance(name, str))
        return progress(" ".join(named))

    # ------------------------------------------------------------------ labels in

    @property
    def _fitted(self) -> bool:
        return hasattr(self, "contingency_")

    def count_audited(self, y_true: Any, y_pred: Any = None, **given: Any) -> Contingency:
        """Return the audited rows as a contingency; `given` are labels and names of columns.

        If scores are of the other class, reports have a finding, and auditors raise.
        """
        self._validate_params()
        self._check_fitted()
        rows = ("sensitive_features", "sensitive_pred", "sample_weight", "clusters")
        others = (*rows, *self._of_scores)
        labels = {"y_pred": y_pred} | {name: given.pop(name, None) for name in others}
        like = self.contingency_ if self._fitted else None
        test = self._count(y_true, labels, columns=given, like=like)
        self._check(test)
        return test

    def _count(
        self,
        y_true: Any,
        labels: dict[str, Any],
        columns: dict[str, Any],
        *,
        like: Contingency | None = None,
        max_groups: int | None = None,
    ) -> Contingency:
        how: dict[str, Any] = {"like": like, "scores": self._scores, "max_groups": max_groups}
        how |= {name: getattr(self, name) for name in _HOW}
        how |= {} if self.reads == "labels" else {self.reads: True}
        engine = {"joint": True} if columns and self._joint else {}
        # Users of an auditor pass it elsewhere; those of an estimator do not.
        limit = "Contingency.from_labels(..., max_groups{})".format
        with renaming({"max_groups": limit} if called("max_groups") == "max_groups" else {}):
            cells = count_labels(y_true, labels, columns, engine=engine, **how)
        if isinstance(y_true, Contingency):
            self._check_read(cells)
        return cells

    def _check_read(self, cells: Contingency) -> None:
        """Raise if numbers were counted for a metric of classes, or classes for one of numbers."""
        if cells.soft("task") != (self.reads == "numbers") and not self._scores:
            counted, needed = ("classes", "numbers")[:: -1 if cells.soft("task") else 1]
            raise InputError(
                "{y_true} holds {held}, and {metric} needs {needed}: count them {how}.",
                held=counted,
                metric=type(self).__name__,
                needed=needed,
                how=f"with{'out' * (needed == 'classes')} numbers=True",
            )

    def _learn(self, cells: Contingency) -> Self:
        self.contingency_ = cells
        self.groups_ = list(cells.groups)
        self.tasks_ = list(cells.tasks)
        self.n_samples_fit_ = int(cells.total) if cells.whole else cells.total
        return self

    # Not stored: formats for models, such as that of skops, hold arrays and no data frames.
    @property
    def base_rates_(self) -> pd.DataFrame:
        """P(task | group) in the training labels, or P(group | task) if shares are compared."""
        cells = self._trained
        if cells.soft("group") or cells.soft("task"):
            raise AttributeError("base_rates_ exists if groups and tasks are labels, not scores.")
        sides: tuple[SideName, SideName] = ("task", "group")
        outcome, given = sides[::-1] if self._by_task else sides
        return as_frame(cells.rate(outcome, given=given), cells)

    @property
    def _by_task(self) -> bool:
        """Whether shares of groups in a task are compared, and not rates of a task in a group."""
        return self.direction == "T->A"

    @property
    def _trained(self) -> Contingency:
        """The training labels, of which tables are shown."""
        return self.contingency_

    # ------------------------------------------------------------------ checks

    def _check(self, test: Contingency) -> None:
        """Raise if the audited rows lack what the metric needs."""
        why = "" if test.has("task") else self._why_labels()
        if why:
            raise InputError(
                "There are no labels of the audited rows, and {metric} " + why,
                metric=type(self).__name__,
            )
        what = f"{self.metric.removesuffix(' amplification')} amplification"
        directed = self.direction is not None
        require_predictions(test, self._requires(), what=what, directed=directed)

    def _check_fitted(self) -> None:
        """Raise if the metric cannot do without training labels."""

    # ------------------------------------------------------------------ what other packages call

    def count_models(
        self, y_true: Any, labels: dict[str, Any], columns: dict[str, Any] | None = None
    ) -> Contingency:
        """Return audited rows with the predictions of several models, in an order of their own."""
        like = self.contingency_ if self._fitted else None
        # Random numbers then do not depend on the order of rows.
        test = ordered(self._count(y_true, labels, columns or {}, like=like))
        for model in test.models:
            with of_the_model(model):
                self._check(of_model(test, model))
        if not (self._scores or isinstance(y_true, Contingency)):
            check_class(test)
        return test

    def learn_reference(self, reference: Contingency, *, random_state: Any = None) -> Self:
        """Return a copy that chooses nothing from audited rows, so that periods are comparable.

        `random_state` is that of an auditor that has none.
        """
        self._check_read(reference)
        learned = self._with_reference(reference)
        if learned.get_params(deep=False).get("random_state", 0) is None:
            learned.set_params(random_state=random_state)
        learned._validate_params()
        learned._check(reference)
        return learned

    def _with_reference(self, reference: Contingency) -> Self:
        """Return a copy whose choices are made from the reference."""
        return copy.copy(self)

    def learn_signs(self, pooled: Contingency) -> Self:
        """Return a copy with the signs of pooled rows, if those of a reference were learned."""
        return self

    def values_of_draws(self, drawn: Contingency) -> tuple[Array, Array]:
        """Return the value of each draw, and what each pair adds to it (draws × pairs), if any."""
        values = [self._value(cells.drawn(drawn, i)) for i in range(len(drawn.weight))]
        return np.array(values), np.empty((len(values), 0))

    @abstractmethod
    def _value(self, test: Contingency) -> float:
        """Return the value of audited rows."""

    @abstractmethod
    def _result(self, test: Contingency) -> AuditResult:
        """Return the result of audited rows."""

    def verdict_for(self, test: Contingency, mean: Mean) -> str:
        """Return what an interval says of the value of audited rows; "" if only its side counts."""
        return ""

    def _for_models(self, cells: Contingency) -> Self:
        """Return the auditor that measures the models of ordered cells alike."""
        return self

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        """Compare the models of ordered cells with one of them."""
        raise InputError(
            "{metric} cannot compare models: derive it from CooccurrenceAuditor or AttackAuditor.",
            metric=type(self).__name__,
        )

    def _runs(self, cells: Contingency) -> Runs:
        """Measure the models of ordered cells, which are runs of trainings."""
        raise InputError(
            "{metric} cannot audit runs: derive it from CooccurrenceAuditor or AttackAuditor.",
            metric=type(self).__name__,
        )


def _check_runs(y_preds: Any, sensitive_preds: Any) -> None:
    """Raise if there are no runs to compare."""
    if not isinstance(y_preds, list | tuple) or len(y_preds) < 2:
        raise InputError(
            "{y_preds} must be a list with the predictions of two runs or more; got {seen}. The "
            "spread between runs cannot be measured in one: use audit for a single run.",
            seen=len(y_preds) if isinstance(y_preds, list | tuple) else type(y_preds).__name__,
        )
    if sensitive_preds is not None:
        n = len(sensitive_preds) if isinstance(sensitive_preds, list | tuple) else 0
        if n != len(y_preds):
            text = "{sensitive_preds} must be a list with as many runs as {y_preds}, {m}; got {n}."
            raise InputError(text, n=n or type(sensitive_preds).__name__, m=len(y_preds))


def as_frame(values: Array, cells: Contingency) -> pd.DataFrame:
    """Return an array of groups × tasks as a data frame."""
    return pd.DataFrame(values, label_index(cells.groups), label_index(cells.tasks))
