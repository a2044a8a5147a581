"""A classifier of row numbers: it gets at the sensitive feature of every row it predicts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, clone

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._utils.compat import has_method, take_rows
from skbiasamp.compose import AuditedClassifier
from skbiasamp.compose.sensitive import (
    finds,
    names_columns,
    parameter_of,
    requests,
    routing,
    without,
)
from skbiasamp.compose.wrapper import ClassifierWrapper, available
from skbiasamp.model_selection._scorer import AmplificationScorer


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
        if not _needs_rows(model, scoring):
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


def _needs_rows(model: AuditedClassifier, scoring: Any) -> bool:
    """Return whether something needs a sensitive feature that nobody would pass on."""
    if requests(model.estimator, "predict"):
        return True
    if sklearn.get_config()["enable_metadata_routing"]:
        return False
    scorers = scoring.values() if isinstance(scoring, Mapping) else [scoring]
    return model.sensitive is None and any(
        isinstance(scorer, AmplificationScorer) and scorer.sensitive is None for scorer in scorers
    )
