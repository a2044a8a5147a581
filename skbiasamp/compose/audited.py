"""AuditedClassifier: a classifier that is audited against its own training rows."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, cast

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array, require_auditor
from skbiasamp._input.coding import as_classes
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, of_auditor, renaming
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import HasMethods, has_method
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import warn
from skbiasamp.compose.sensitive import (
    SENSITIVE,
    SensitiveWrapper,
    combination_codes,
    how_to_pass,
    names_columns,
    parameter_of,
    requests,
    routes,
    routing,
    without,
)
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.results import AuditReport, AuditResult

BALANCED = "the training labels that the auditor counted are exactly balanced: no pair has a sign."
SAMPLER_INSIDE = (
    "If a sampler resamples the training rows, put it inside: "
    "AuditedClassifier(make_pipeline(sampler, classifier)). The auditor then counts the labels "
    "before they are resampled."
)


def has_no_signs(auditor: Any, value: float) -> bool:
    """Return whether a value is 0 only since the training labels have no association."""
    if getattr(auditor, "reference", "") != "train":
        return False
    return bool(value == 0 and (auditor.y_at_.to_numpy() == 0).all())


@filling
class AuditedClassifier(SensitiveWrapper):
    """Audit a classifier, which keeps the sensitive column as a feature unless asked to drop it.

    `fit` fits a classifier and, on the same rows, an auditor of its training labels. The column
    that `sensitive` names stays a feature of the classifier unless ``drop_sensitive=True``. Use it
    in cross-validation or a search: each model is then audited against the correlations of its own
    training fold. Without a sensitive feature, it predicts like the classifier that it wraps and
    cannot audit.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier: binary, multiclass or multilabel, a pipeline, or a skorch net.
    auditor : auditor or list of auditors, default=None
        The metrics. A list makes `audit` return a report. None: ``DirectionalAuditor()``.
    %(sensitive)s
        Metadata routing requests it by default.
    drop_sensitive : bool, default=None
        True hides these columns from the classifier; data frames to predict may then lack them.
        False passes them on, which fails for text unless the classifier encodes it. None passes
        them on too, and warns that the sensitive feature is a feature of the classifier.
    sensitive_estimator : classifier, default=None
        Classifier that learns to predict the sensitive feature from `X`, without the columns of
        `sensitive`. Auditors of direction "T->A" need it. Use it only if your model predicts the
        sensitive feature anyway [1]_ (Sec. 5.1). None: direction "T->A" raises an error.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    auditors_ : dict of str to auditor
        The fitted auditors by name, such as "directional A->T"; empty if `fit` had no sensitive
        feature.
    auditor_ : auditor
        The fitted auditor, if `auditor` is not a list.
    sensitive_estimator_ : classifier or None
        The fitted classifier of the sensitive feature. Its classes are numbers if there are
        several columns.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier; hidden columns are counted.

    See Also
    --------
    amplification_scorer : Scorer for selecting models by their amplification.
    cross_audit : Audit over the folds of a cross-validation.

    Notes
    -----
    A classifier inside that needs the sensitive feature itself, such as
    `CorpusConstraintClassifier` or Fairlearn's `ThresholdOptimizer`, gets it in `fit`, `audit` and
    `score`, and in `predict` if `sensitive` finds it in `X`. In a pipeline, the step must request
    it (``set_fit_request``, ``set_predict_request``).

    With metadata routing, the classifier inside requests ``sample_weight``
    (``LogisticRegression().set_fit_request(sample_weight=True)``). The auditor uses the same
    weights.

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
    ...     auditor=DirectionalAuditor(),
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
    directional A->T: -0.2500 [-0.2935, -0.2065], p = 9.48e-23 (400 rows, 2 groups x 1 task)
    ...
    """

    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}
    _inside: ClassVar = {"estimator": ("fit", "score"), "sensitive_estimator": ("fit",)}
    _learn: ClassVar = "fit"  # how auditors learn the training labels

    estimator: Any = PositionalOption(HasMethods(["fit", "predict"]), kw_only=False)
    auditor: Any = Option(None, HasMethods(["fit", "audit"]), list, None)
    sensitive: Any = Option(None, *SENSITIVE)
    drop_sensitive: bool | None = Option(None, "boolean", None)
    sensitive_estimator: Any = Option(None, HasMethods(["fit", "predict"]), None)
    _combinations = cast("Array | None", None)  # the values of several sensitive columns

    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        features = self._hide(X)
        auditors, inner = named_auditors(self), routed["estimator"]
        attribute = self._sensitive(X, sensitive_features, "fit", required=False)
        if self.drop_sensitive is None and names_columns(self.sensitive):
            warn(
                f"The classifier sees the sensitive feature: sensitive={self.sensitive!r} is a "
                "feature of X. drop_sensitive=True hides it, and drop_sensitive=False keeps it "
                "without this warning."
            )
        self.auditors_: dict[str, Any] = {}
        self.sensitive_estimator_: Any = None
        if attribute is None:
            warn(
                "AuditedClassifier was fitted without the sensitive feature: it predicts, but it "
                f"cannot audit. {how_to_pass(type(self).__name__)}"
            )
        else:
            # First, since it is quick: labels that cannot be audited should not cost a training.
            for name, auditor in auditors.items():
                with renaming(of_auditor(auditor)):
                    self.auditors_[name] = getattr(clone(auditor), self._learn)(
                        y, sensitive_features=attribute, sample_weight=inner.get("sample_weight")
                    )
        if attribute is not None and self.sensitive_estimator is not None:
            table = to_native(attribute, "sensitive_features")
            code, self._combinations = np.ravel(table), None
            if table.ndim == 2 and table.shape[1] > 1:
                code = combination_codes(table)
                first = np.unique(code, return_index=True)[1]
                self._combinations = np.asarray(table, dtype=object)[first]
            self.sensitive_estimator_ = clone(self.sensitive_estimator).fit(
                self._without_sensitive(X), code, **routed["sensitive_estimator"]
            )
        if attribute is not None and requests(self.estimator, "fit"):
            inner = {"sensitive_features": attribute, **inner}
        with self._noting(X), _passing(self.estimator, "fit", inner):
            self.estimator_ = clone(self.estimator).fit(features, y, **inner)

    @filling
    def predict(self, X: Any) -> Any:
        """Predict with the classifier inside, which gets the columns of `sensitive` if it asks.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        check_is_fitted(self)
        return self._ask("predict", X)

    def audit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> AuditResult | AuditReport:
        """Audit the classifier's predictions for bias amplification.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        result : AuditResult or AuditReport
            A report with one result for each auditor, if `auditor` is a list.
        """
        check_is_fitted(self)
        if not self.auditors_:
            raise InputError(
                "This AuditedClassifier was fitted without the sensitive feature, so it does not "
                "know the correlations of its training labels. Fit it again. {advice}",
                advice=how_to_pass(type(self).__name__),
            )
        labels = self._labels(X, y, sensitive_features, sample_weight)
        results = {}
        for name, auditor in self.auditors_.items():
            with renaming(of_auditor(auditor)):
                results[name] = auditor.audit(**labels)
            value = results[name].value
            if has_no_signs(auditor, value) and not has_no_signs(
                clone(auditor).partial_fit(auditor.count_audited(**labels)), value
            ):
                warnings.warn(
                    f"{name} is 0 whatever the model predicts: {BALANCED} But groups and tasks are "
                    f"associated in the audited labels. {SAMPLER_INSIDE}",
                    UndefinedMetricWarning,
                    stacklevel=2,
                )
        if isinstance(self.auditor, list):
            return AuditReport(results)
        return next(iter(results.values()))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Return the classifier's own score, usually its accuracy; accuracy if it has none.

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
        if not has_method(self.estimator_, "score"):  # as classifiers of Fairlearn
            weight = params.pop("sample_weight", None)
            return accuracy_score(y, self._ask("predict", X, **params), sample_weight=weight)
        return self._ask("score", X, y, **params)

    @property
    def auditor_(self) -> Any:
        """The fitted auditor."""
        if isinstance(self.auditor, list) or not self.auditors_:
            raise AttributeError(
                "auditor_ exists after a fit with the sensitive feature, if auditor= is not a "
                "list. auditors_ holds the auditors of a list."
            )
        return next(iter(self.auditors_.values()))

    # ------------------------------------------------------------------ inside

    def _ask(self, method: str, X: Any, *args: Any, **params: Any) -> Any:
        """Call a method of the classifier inside, with the sensitive feature if it requests it."""
        if "sensitive_features" not in params and requests(self.estimator_, method):
            attribute = self._sensitive(X, None, method, required=False)
            params |= {} if attribute is None else {"sensitive_features": attribute}
            asked = parameter_of(self.estimator_, method)
            if attribute is None and asked and asked.default is asked.empty:
                text = (
                    "{kind}.{method} needs the sensitive feature: name its column of X, "
                    "AuditedClassifier(..., sensitive='sex'). If it is no column of X, only audit "
                    "and score pass it on."
                )
                raise InputError(text, kind=type(self.estimator_).__name__, method=method)
        with _passing(self.estimator_, method, params):
            return getattr(self.estimator_, method)(self._features(X), *args, **params)

    def _predict_sensitive(self, X: Any) -> Any:
        """Return the predicted sensitive feature, or None if nothing predicts it."""
        if self.sensitive_estimator_ is None:
            joint = has_method(self.estimator_, "predict_sensitive")
            return self.estimator_.predict_sensitive(self._features(X)) if joint else None
        predicted = as_classes(self.sensitive_estimator_.predict(self._without_sensitive(X)))
        return predicted if self._combinations is None else self._combinations[predicted]

    def _without_sensitive(self, X: Any) -> Any:
        return without(X, self.sensitive) if names_columns(self.sensitive) else X

    def _labels(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
    ) -> dict[str, Any]:
        """Return the rows as an auditor takes them."""
        attribute = self._sensitive(X, sensitive_features, "audit")
        asked = requests(self.estimator_, "predict")
        given = {"sensitive_features": attribute} if asked else {}
        return {
            "y_true": y,
            "y_pred": as_classes(self._ask("predict", X, **given)),
            "sensitive_features": attribute,
            "sensitive_pred": self._predict_sensitive(X),
            "sample_weight": sample_weight,
        }


def named_auditors(model: AuditedClassifier) -> dict[str, Any]:
    """Return the auditors of a model by name, or raise."""
    auditor = DirectionalAuditor() if model.auditor is None else model.auditor
    named: dict[str, Any] = {}
    for metric in auditor if isinstance(auditor, list) else [auditor]:
        require_auditor(metric)
        name = " ".join(filter(None, (metric.metric, metric.direction)))
        twins = sum(other.partition(" #")[0] == name for other in named)
        named[f"{name} #{twins + 1}" if twins else name] = metric
        able = model.sensitive_estimator is not None or has_method(
            model.estimator, "predict_sensitive"
        )
        if metric.direction == "T->A" and not able:
            raise InputError(
                "{auditor} needs predictions of the sensitive feature: pass "
                "sensitive_estimator, a classifier that learns to predict it. If your model "
                "does not predict it, measure direction='A->T'.",
                auditor=str(metric),
            )
    if not named:
        raise InputError("{auditor} is an empty list: pass one auditor or more, or None.")
    return named


def _passing(estimator: Any, method: str, params: dict[str, Any]) -> Any:
    """Return a context in which a pipeline passes the sensitive feature on to the step that asks.

    Not with weights: without routing, nothing has requested these. Nor to a method that takes the
    feature without a request: what is inside may not know of routing.
    """
    given = "sensitive_features" in params and "sample_weight" not in params
    return routing(enable=given and routes(estimator, method))
