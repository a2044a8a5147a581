"""Rows and folds of a cross-validation: models on row numbers, and what all folds say together."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Integral
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
import sklearn
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import KFold, StratifiedKFold, check_cv, cross_validate
from sklearn.utils.multiclass import type_of_target

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, of_auditor, renaming
from skbiasamp._utils.compat import has_method, take_rows
from skbiasamp._utils.progress import progress
from skbiasamp._utils.warnings import warn
from skbiasamp.compose import AuditedClassifier
from skbiasamp.compose.sensitive import (
    ClassifierWrapper,
    available,
    combination_codes,
    finds,
    names_columns,
    parameter_of,
    requests,
    routing,
    without,
)
from skbiasamp.metrics.functions import TRAINING
from skbiasamp.model_selection._scorer import AmplificationScorer
from skbiasamp.results import ComparisonResult

STRATIFY = ("task", "joint")

# --------------------------------------------------------------------------- rows


class RowData:
    """The rows that numbers stand for; copies of an estimator share it."""

    def __init__(self, X: Any, attribute: Any, labels: Any = None) -> None:
        # scikit-learn cannot take rows of a memoryview.
        self.X = np.asarray(X) if isinstance(X, memoryview) else X
        self.attribute = attribute
        self.labels = labels  # what a sampler resamples by, if that is not what is learned
        self.numbers = np.arange(len(to_native(attribute, "sensitive_features")))[:, None]

    def features(self, numbers: Any) -> Any:
        """Return the rows of X."""
        return take_rows(self.X, np.ravel(numbers))

    def sensitive(self, numbers: Any) -> Any:
        """Return their sensitive feature."""
        return take_rows(self.attribute, np.ravel(numbers))

    def __deepcopy__(self, memo: Any) -> RowData:
        return self


class RowClassifier(ClassifierWrapper):
    """A classifier of row numbers: it passes the rows on, and their groups if requested.

    Cross-validation passes the sensitive feature to `fit` at most, and some mitigations need it in
    `predict`. An array of row numbers says for every row what it is.
    """

    __metadata_request__fit: ClassVar = {"sample_weight": True}

    def __init__(self, estimator: Any, *, data: RowData, sampler: Any = None) -> None:
        self.estimator = estimator
        self.data = data
        self.sampler = sampler

    # The sensitive feature comes from the data: nothing else is routed.
    get_metadata_routing = BaseEstimator.get_metadata_routing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a clone of the classifier, on resampled rows if there is a sampler."""
        rows, features = np.ravel(X), self._features(X)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        # Weights are routed only if the caller has enabled it; else requests would be missing.
        with routing(enable=sample_weight is None):
            if self.sampler is not None:
                sampler = clone(self.sampler)
                known = inspect.signature(sampler.fit_resample).parameters
                asked = "sensitive_features" in known and not finds(sampler)
                labels = self.data.labels
                by = y if labels is None else take_rows(labels, rows)
                features, by = sampler.fit_resample(features, by, **self._attribute(rows, asked))
                chosen = getattr(sampler, "sample_indices_", slice(None))
                y = by if labels is None else take_rows(y, chosen)
                rows = rows[chosen]
                given = {key: np.asarray(value)[chosen] for key, value in given.items()}
            given |= self._attribute(rows, requests(self.estimator, "fit"))
            self.estimator_ = clone(self.estimator).fit(features, y, **given)
        return self

    def predict(self, X: Any) -> Any:
        """Predict rows."""
        return self._ask("predict", X)

    @available(lambda self: has_method(self.estimator, "predict_sensitive"))
    def predict_sensitive(self, X: Any) -> Any:
        """Predict the groups of rows."""
        return self.estimator_.predict_sensitive(self._features(X))

    def score(self, X: Any, y: Any, **params: Any) -> Any:
        """Return the score of the classifier inside."""
        if not has_method(self.estimator_, "score"):
            return super().score(X, y, **params)
        return self._ask("score", X, y, **params)

    def _ask(self, method: str, X: Any, *args: Any, **params: Any) -> Any:
        with routing(enable=not params):
            params |= self._attribute(np.ravel(X), requests(self.estimator, method))
            if parameter_of(self.estimator_, method, "random_state"):
                params["random_state"] = 0  # Fairlearn's decisions are random
            return getattr(self.estimator_, method)(self._features(X), *args, **params)

    def _features(self, X: Any) -> Any:
        return self.data.features(X)

    def _attribute(self, rows: Array, asked: bool) -> dict[str, Any]:
        return {"sensitive_features": self.data.sensitive(rows)} if asked else {}


class LabelledRows(NamedTuple):
    """Rows that models are trained on and audited with; what is not there is None."""

    X: Any
    y: Any
    attribute: Any
    sample_weight: Any = None

    def take(self, rows: Any) -> LabelledRows:
        """Return some of the rows."""
        return LabelledRows(*(None if part is None else take_rows(part, rows) for part in self))

    def for_model(
        self, model: AuditedClassifier, scoring: Any
    ) -> tuple[AuditedClassifier, LabelledRows]:
        """Return the model and what to pass to it: the rows, or their numbers if it needs these."""
        # Something may need a sensitive feature that nobody would pass on.
        needs_rows = requests(model.estimator, "predict")
        if not (needs_rows or sklearn.get_config()["enable_metadata_routing"]):
            scorers = scoring.values() if isinstance(scoring, Mapping) else [scoring]
            needs_rows = model.sensitive is None and any(
                isinstance(scorer, AmplificationScorer) and scorer.sensitive is None
                for scorer in scorers
            )
        if not needs_rows:
            return model, self if model.sensitive is None else self._replace(attribute=None)
        model._hide(self.X)
        data = RowData(model._features(self.X), self.attribute)
        changed = {"estimator": RowClassifier(model.estimator, data=data)}
        if model.sensitive_estimator is not None:
            named = names_columns(model.sensitive)
            blind = RowData(without(self.X, model.sensitive) if named else self.X, self.attribute)
            changed["sensitive_estimator"] = RowClassifier(model.sensitive_estimator, data=blind)
        model = clone(model).set_params(**changed, sensitive=data.sensitive, drop_sensitive=False)
        # The sensitive feature is found by row number.
        return model, self._replace(X=data.numbers, attribute=None)


# --------------------------------------------------------------------------- folds


def splits_of(cv: Any, X: Any, strata: Any, groups: Any, rng: np.random.RandomState) -> list[Any]:
    """Return the positions of the training and test rows of folds."""
    rows = np.arange(len(strata))  # a splitter may also give masks, or count from the end
    splitter = _splitter(cv, strata, rng)
    try:
        cut = list(splitter.split(X, strata, groups))
    except ValueError as error:
        raise InputError("{cv} cannot divide these rows: {error}", error=error) from error
    splits = [tuple(take_rows(rows, part) for part in both) for both in cut]
    if not splits:
        raise InputError(
            "{cv} has no splits: pass a number of folds, or a list with a split or more."
        )
    return splits


def _splitter(cv: Any, strata: Any, rng: np.random.RandomState) -> Any:
    """Return what makes the folds; a number of them makes shuffled ones."""
    if not isinstance(cv, Integral):
        return check_cv(cv, strata, classifier=True)
    if cv < 2:
        raise InputError(
            "{cv} must be 2 folds or more, a splitter, or a list of splits; got {seen!r}.", seen=cv
        )
    try:
        classes = type_of_target(strata) in ("binary", "multiclass")
    except TypeError as error:
        text = "y must hold labels that can be sorted, one a row or one a column; got {kind}."
        raise InputError(text, kind=type(strata).__name__) from error
    return (StratifiedKFold if classes else KFold)(
        cv, shuffle=True, random_state=rng.randint(2**31 - 1)
    )


def fold_strata(stratify: str, y: Any, attribute: Any) -> Any:
    """Return what folds are stratified by: labels, or each combination of labels and attribute."""
    labels = to_native(y, "y")
    if stratify == "task":
        return labels
    return combination_codes(labels, to_native(attribute, "sensitive_features"))


def seeded_clone(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return a clone whose `random_state` parameters are seeds if they were None."""
    made = clone(estimator)
    for name, value in sorted(made.get_params(deep=True).items(), key=itemgetter(0)):
        if name.rpartition("__")[2] == "random_state" and value is None:
            made.set_params(**{name: rng.randint(2**31 - 1)})
    return made


def fitted_auditor(
    auditor: Any, rng: np.random.RandomState, y: Any, attribute: Any, sample_weight: Any = None
) -> Any:
    """Return a clone of an auditor, fitted on all rows."""
    with renaming(of_auditor(auditor)):
        return seeded_clone(auditor, rng).fit(
            y, sensitive_features=attribute, sample_weight=sample_weight
        )


def of_held_out(auditor: Any, splits: Any) -> Any:
    """Return the auditor of all held-out rows.

    Signs are those of these rows, so that they are no sign of their own chance. There is no
    interval if rows are tested several times.
    """
    params = auditor.get_params(deep=False)
    known: dict[str, Any] = {"reference": "test"} if "reference" in params else {}
    if isinstance(params.get("base"), str):
        known["base"] = "test"  # these labels are those of training
    if (np.bincount(np.concatenate([test for _, test in splits])) > 1).any():
        known["interval"] = None
    return copy.copy(auditor).set_params(**known)


class _OfFold(AuditedClassifier):
    """A classifier that is trained on rows of one group too, as a fold may have."""

    _learn = "partial_fit"


_OfFold.__name__ = AuditedClassifier.__name__  # in messages of scikit-learn


class Repeat(NamedTuple):
    """What one estimator did on the folds of one repeat."""

    fitted: dict[str, Any]  # what `cross_validate` returned
    held_out: list[tuple[AuditedClassifier, dict[str, Any]]]  # each fold's model and test labels


def run_folds(
    model: AuditedClassifier,
    rows: LabelledRows,
    splits: list[Any],
    auditors: list[Any],
    rng: np.random.RandomState,
    *,
    scoring: Any,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    done: Callable[[int], None] = lambda n: None,
) -> list[Repeat]:
    """Train a model on every fold of every repeat, and predict the held-out rows.

    `done` is called after each repeat.
    """
    model, rows = rows.for_model(model, scoring)
    model = clone(model)
    if type(model) is AuditedClassifier:
        model.__class__ = _OfFold  # metadata that it requests stays
    metadata = {"sensitive_features": rows.attribute, "sample_weight": rows.sample_weight}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    metadata |= params or {}
    repeats = []
    # Folds in other processes are not seen to be done.
    in_process = n_jobs in (None, 1)
    with progress("folds", sum(map(len, splits)) if in_process else None):
        for folds, own in zip(splits, auditors, strict=True):
            fitted = cross_validate(
                seeded_clone(clone(model).set_params(auditor=own), rng),
                rows.X,
                rows.y,
                cv=folds,
                scoring=scoring,
                params=metadata or None,
                n_jobs=n_jobs,
                return_estimator=True,
                error_score="raise",
            )
            held_out = [
                (fitted_model, fitted_model._labels(*rows.take(test)))
                for (_, test), fitted_model in zip(folds, fitted["estimator"], strict=True)
            ]
            repeats.append(Repeat(fitted, held_out))
            done(1)
    return repeats


def check_lacks(lacking: Mapping[str, str]) -> None:
    """Say which folds are not measured, and why; raise if training rows are why all are not."""
    reasons = [f"{name}: {reason}" for name, reason in lacking.items() if reason]
    if not reasons:
        return
    listed = "; ".join(reasons[:3] + [f"{len(reasons) - 3} more"] * (len(reasons) > 3))
    if all(reason.startswith(TRAINING) for reason in lacking.values()):
        raise InputError("{cv} leaves no fold to measure ({listed}).", listed=listed)
    warn(
        f"Means leave out {len(reasons)} of {len(lacking)} folds, which are not measured "
        f"({listed}). stratify='joint' puts small groups into every fold.",
        UndefinedMetricWarning,
    )


def over_folds(
    table: pd.DataFrame, measure: str, confidence_level: float, *, rows: float = 0.0
) -> tuple[float, float, float, float]:
    """Return the mean of a column over folds, its interval, and the p-value of 0.

    Folds that are not measured (NaN) are left out. Repeats estimate the variance of folds better,
    but bring no further rows; not all need have as many folds. Nadeau and Bengio's share is for
    training rows, or test rows, that folds have in common. `rows` is the variance of the mean by
    the audited rows alone, 0 if it is not known: folds vary at least as much as rows make them,
    and the few folds have to tell only how much more.
    """
    table = table.dropna(subset=measure)
    repeats = [values.to_numpy() for _, values in table.groupby("repeat")[measure]]
    mean = float(table[measure].mean())
    variances = [values.var(ddof=1) for values in repeats if len(values) > 1]
    if not variances:
        return mean, float("nan"), float("nan"), float("nan")
    n_repeats, n_folds = len(repeats), len(table) / len(repeats)
    part = 1 / n_folds + table["n_test"].mean() / table["n_train"].mean()
    known = n_folds * rows
    more = max(float(np.mean(variances)) - known, 0.0)
    error = float(np.sqrt((known + more) * part))
    # Welch and Satterthwaite's degrees of freedom: only a part of the variance is that of folds.
    df = n_repeats * (n_folds - 1) * ((known + more) / more if more else np.inf) ** 2
    student = stats.t(df) if math.isfinite(df) else stats.norm()
    reach = float(student.isf((1 - confidence_level) / 2)) * error
    # Folds that all agree leave no doubt, also if they agree on 0.
    p_value = 2 * student.sf(abs(mean) / error) if error != 0 else mean == 0
    return mean, mean - reach, mean + reach, float(p_value)


def pooled_comparison(
    auditor: Any, held_out: dict[str, list[dict[str, Any]]], reference: str
) -> ComparisonResult:
    """Compare all held-out predictions; `held_out` are the labels of each fold, by model."""
    cells: Any = 0
    for fold in zip(*held_out.values(), strict=True):
        given = dict(fold[0])
        for name in ("y_pred", "sensitive_pred"):
            predicted = dict(zip(held_out, (labels[name] for labels in fold), strict=True))
            lacking = any(values is None for values in predicted.values())
            given[f"{name}s"] = None if lacking else predicted
            given.pop(name, None)
        # Contingencies add, those of several models too.
        cells += auditor.count_models(given.pop("y_true"), given)
    result: ComparisonResult = auditor.compare(cells, reference=reference)
    return result
