"""AuditedClassifier: a classifier that keeps the books on what it was trained on."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from skbiasamp._compat import HasMethods
from skbiasamp._input import Array, check_auditor, of_auditor, speaking, to_native
from skbiasamp.auditors import DirectionalAuditor
from skbiasamp.compose._columns import noting_text, sensitive_values, without_sensitive
from skbiasamp.compose._wrapper import HidingWrapper, fit_params
from skbiasamp.results import AuditReport, AuditResult


class AuditedClassifier(HidingWrapper):
    """A classifier that can tell whether it amplifies the bias of its own training rows.

    It fits any classifier and, on the same rows, an auditor: in a cross-validation or a search
    every model is audited against the correlations of its own training fold. Without a
    protected attribute it is the classifier it wraps.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier: binary, multiclass, multilabel; a pipeline; a skorch net.
    auditor : auditor or list of auditors, default=None
        What measures; None is ``DirectionalAuditor()``.
    sensitive : str, int, list or callable, default=None
        Where the protected attribute is: the name of a column of `X`, its position, a list of
        several, or a function that makes the attribute from `X`, such as
        ``lambda X: X["age"] > 40``. None: it is passed as ``sensitive_features``, also through
        scikit-learn's metadata routing, which needs no further request.
    drop_sensitive : bool, default=False
        Hide these columns from the classifier, as columns of text have to be from most. Data
        frames to predict may then lack them.
    sensitive_estimator : classifier, default=None
        A classifier that learns to predict the attribute from `X` (never from the columns of
        `sensitive` themselves), for auditors whose direction is "T->A". Predicting a protected
        attribute is itself questionable: it should be measured where a model does so anyway,
        and such a model not be built for the measurement's sake [1]_ (Sec. 5.1).

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    auditors_ : dict of str to auditor
        The fitted auditors by name, such as "directional A->T"; empty where `fit` had no
        attribute.
    auditor_ : auditor
        The fitted auditor, where `auditor` is no list.
    sensitive_estimator_ : classifier or None
        The fitted classifier of the attribute. The combinations of several columns are its
        classes, as numbers.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier, and of the columns that were hidden from it.

    See Also
    --------
    amplification_scorer : Selects models by their amplification.
    cross_audit : Audits over the folds of a cross-validation.

    Notes
    -----
    Under metadata routing ``sample_weight`` is requested by the classifier inside
    (``LogisticRegression().set_fit_request(sample_weight=True)``); the auditor weights rows as
    the classifier does.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp import AuditedClassifier, DirectionalAuditor
    >>> X = pd.DataFrame({"sex": list("ffffmmmm") * 50, "skill": [3, 2, 1, 0, 3, 2, 1, 0] * 50})
    >>> hired = [1, 0, 0, 0, 1, 1, 1, 0] * 50
    >>> model = AuditedClassifier(
    ...     LogisticRegression(),
    ...     auditor=DirectionalAuditor(random_state=0),
    ...     sensitive="sex",
    ...     drop_sensitive=True,
    ... )
    >>> model.fit(X, hired).score(X, hired)
    0.75
    >>> model.auditor_.y_at_
       1
    f -1
    m  1
    >>> model.audit(X, hired)
    directional A->T: -0.2500 [-0.2925, -0.2081], p = 0.001 (400 rows, 2 groups x 1 task)
    group  task   n   base  observed  sign   delta  amplification     low    high p_value
        f     1 200 0.2500    0.5000    -1  0.2500        -0.2500 -0.3138 -0.1905 1.8e-15
        m     1 200 0.7500    0.5000     1 -0.2500        -0.2500 -0.3100 -0.1927 1.8e-15
    """

    # The attribute is for this class alone; weights are for the classifier inside, and the
    # auditor follows it.
    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": UNUSED}
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "auditor": [HasMethods(["fit", "audit"]), list, None],
        "sensitive": [str, Integral, list, callable, None],
        "drop_sensitive": ["boolean"],
        "sensitive_estimator": [HasMethods(["fit", "predict"]), None],
    }

    estimator_: Any
    auditors_: dict[str, Any]
    sensitive_estimator_: Any

    def __init__(
        self,
        estimator: Any,
        *,
        auditor: Any = None,
        sensitive: Any = None,
        drop_sensitive: bool = False,
        sensitive_estimator: Any = None,
    ) -> None:
        self.estimator = estimator
        self.auditor = auditor
        self.sensitive = sensitive
        self.drop_sensitive = drop_sensitive
        self.sensitive_estimator = sensitive_estimator

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier, and the auditor on the same rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute, where it is not in `X`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for classifier and auditor.
        **params : dict
            Metadata that the classifiers inside have requested.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        features = self._hide(X)
        auditors = self._auditors()
        metadata = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        routed = fit_params(self, ["estimator", "sensitive_estimator"], metadata, params)
        inner = routed["estimator"]
        attribute = self._attribute(X, sensitive_features)
        self.auditors_ = {}
        self.sensitive_estimator_ = None
        if attribute is not None:
            # First, since it is quick: labels that cannot be audited should not cost a training.
            for name, auditor in auditors.items():
                with speaking(of_auditor(auditor)):
                    self.auditors_[name] = clone(auditor).fit(
                        y, sensitive_features=attribute, sample_weight=inner.get("sample_weight")
                    )
            self._fit_sensitive(X, attribute, routed["sensitive_estimator"])
        with noting_text(self, X):
            self.estimator_ = clone(self.estimator).fit(features, y, **inner)
        return self

    def audit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> AuditResult | AuditReport:
        """Measure the amplification of the classifier's predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute, where it is not in `X`.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        result : AuditResult or AuditReport
            A report, with a result by each auditor's name, where `auditor` is a list.
        """
        check_is_fitted(self)
        if not self.auditors_:
            raise ValueError(
                "This AuditedClassifier was fitted without the protected attribute, so it does "
                "not know the correlations of its training labels. Fit it with sensitive_features, "
                "or name the column: AuditedClassifier(..., sensitive='sex')."
            )
        labels = self._labels(X, y, sensitive_features, sample_weight)
        results = {}
        for name, auditor in self.auditors_.items():
            with speaking(of_auditor(auditor)):
                results[name] = auditor.audit(**labels)
        if isinstance(self.auditor, list):
            return AuditReport(results)
        return next(iter(results.values()))

    def predict(self, X: Any) -> Any:
        """Predict with the classifier inside.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._features(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Return the classifier's own score, which is its accuracy as a rule.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.
        **params : dict
            Metadata that the classifier inside has requested.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).estimator.score
        return self.estimator_.score(self._features(X), y, **params)

    @property
    def auditor_(self) -> Any:
        """The fitted auditor."""
        if isinstance(self.auditor, list) or not self.auditors_:
            raise AttributeError(
                "auditor_ is there after a fit with the protected attribute, where auditor= is no "
                "list; auditors_ holds those of a list."
            )
        return next(iter(self.auditors_.values()))

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who takes which metadata.

        Returns
        -------
        routing : MetadataRouter
        """
        fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        if self.sensitive_estimator is not None:
            router.add(sensitive_estimator=self.sensitive_estimator, method_mapping=fit)
        both = MethodMapping().add(caller="fit", callee="fit").add(caller="score", callee="score")
        return router.add(estimator=self.estimator, method_mapping=both)

    # ------------------------------------------------------------------ inside

    def _auditors(self) -> dict[str, Any]:
        """Return the auditors by name."""
        auditor = DirectionalAuditor() if self.auditor is None else self.auditor
        named: dict[str, Any] = {}
        for one in auditor if isinstance(auditor, list) else [auditor]:
            check_auditor(one)
            name = one.metric if one.direction is None else f"{one.metric} {one.direction}"
            twins = sum(other.partition(" #")[0] == name for other in named)
            named[f"{name} #{twins + 1}" if twins else name] = one
            if one.direction == "T->A" and self.sensitive_estimator is None:
                raise ValueError(
                    f"{one} asks how the task biases the prediction of the protected attribute, "
                    "and nothing predicts it: pass sensitive_estimator, a classifier that learns "
                    "to. If your model does not predict the attribute, direction='A->T' is the "
                    "one to measure."
                )
        if not named:
            raise ValueError("auditor is an empty list: name one auditor or more, or pass None.")
        return named

    def _attribute(self, X: Any, sensitive_features: Any) -> Any:
        """Return the attribute, from wherever it comes, or None."""
        if self.sensitive is None:
            return sensitive_features
        if sensitive_features is not None:
            raise ValueError(
                f"The protected attribute came twice: as sensitive={self.sensitive!r} and as "
                "sensitive_features. Leave one out; under metadata routing, with "
                ".set_fit_request(sensitive_features=False)."
            )
        return sensitive_values(X, self.sensitive)

    def _fit_sensitive(self, X: Any, attribute: Any, params: dict[str, Any]) -> None:
        """Train the classifier of the attribute."""
        if self.sensitive_estimator is None:
            return
        table = to_native(attribute, "sensitive_features")
        self._combinations: Array | None = None
        if table.ndim == 2 and table.shape[1] > 1:
            rows = pd.DataFrame(table)
            code = rows.groupby(list(rows.columns), dropna=False, observed=True).ngroup().to_numpy()
            self._combinations = rows.to_numpy(dtype=object)[np.unique(code, return_index=True)[1]]
        else:
            code = np.ravel(table)
        features = X if self.sensitive is None else without_sensitive(X, self.sensitive)
        self.sensitive_estimator_ = clone(self.sensitive_estimator).fit(features, code, **params)

    def _predict_sensitive(self, X: Any) -> Any:
        """Return the attribute as predicted, or None where nothing predicts it."""
        if self.sensitive_estimator_ is None:
            return None
        features = X if self.sensitive is None else without_sensitive(X, self.sensitive)
        predicted = self.sensitive_estimator_.predict(features)
        return predicted if self._combinations is None else self._combinations[predicted]

    def _labels(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
    ) -> dict[str, Any]:
        """Return the rows as an auditor takes them."""
        attribute = self._attribute(X, sensitive_features)
        if attribute is None:
            raise ValueError(
                "An audit needs the protected attribute of the rows to predict: pass "
                "sensitive_features, or name its column, AuditedClassifier(..., sensitive='sex')."
            )
        return {
            "y_true": y,
            "y_pred": self.predict(X),
            "sensitive_features": attribute,
            "sensitive_pred": self._predict_sensitive(X),
            "sample_weight": sample_weight,
        }
