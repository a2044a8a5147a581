"""What classifiers around other classifiers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar, cast

import sklearn
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skbiasamp._input.checks import check_instance
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.options import WithOptions
from skbiasamp._utils.compat import has_method
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import advance, progress
from skbiasamp.compose.sensitive import ROUTING, SensitiveColumns, own_request

Method = TypeVar("Method", bound=Callable[..., Any])


def available(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Let a method exist if a check of its object is true."""
    return available_if(check)


def _inner_has(name: str) -> Callable[[Method], Method]:
    """Let a method exist if the inner estimator has it."""

    def check(self: ClassifierWrapper) -> bool:
        inner = getattr(self, "estimator_", self.estimator)
        return has_method(inner, name) or bool(getattr(inner, name))  # which says why not

    return available(check)


class MetaClassifier(MetaEstimatorMixin, ClassifierMixin, WithOptions):
    """A classifier that trains others."""

    _two_classes: ClassVar[bool] = False  # whether it takes labels of two classes only
    # The methods of the estimators inside, by their parameter, to which metadata goes.
    _inside: ClassVar[dict[str, tuple[str, ...]]] = {"estimator": ("fit",)}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata goes to which estimator.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(own_request(self))
        for name, methods in self._inside.items():
            mapping = MethodMapping()
            for method in methods:
                mapping.add(caller=method, callee=method)
            if (inside := getattr(self, name)) is not None:
                router.add(method_mapping=mapping, **{name: inside})
        return router

    def __sklearn_tags__(self) -> Any:
        methods = ("fit", "__sklearn_tags__")
        check_instance(self.estimator, methods, "estimator must be a classifier")
        tags = get_tags(self.estimator)
        tags.transformer_tags = None  # what else it may be, this is a classifier
        tags.array_api_support = False  # labels are counted on the CPU
        if self._two_classes and tags.classifier_tags is not None:  # None: no classifier inside
            tags.classifier_tags.multi_class = False
        return tags


class ClassifierWrapper(MetaClassifier):
    """A classifier that does what the one inside does, unless it says otherwise."""

    _saw_X = cast("Any", None)  # knows the columns of X, if some were hidden

    @filling
    def predict(self, X: Any) -> Any:
        """Predict with the classifier inside.

        %(to labels)s
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._features(X))

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with the classifier inside.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or a list of these
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._features(X))

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classifier inside.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(self._features(X))

    @property
    def classes_(self) -> Any:
        """The classes of the classifier inside."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns of `X`."""
        return (self._saw_X or self.estimator_).n_features_in_

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns of `X`."""
        return (self._saw_X or self.estimator_).feature_names_in_

    def _features(self, X: Any) -> Any:
        """Return what the classifier inside sees of X."""
        return X


class SensitiveClassifier(SensitiveColumns, MetaClassifier):
    """A classifier that trains others and knows the sensitive feature."""

    get_metadata_routing = MetaClassifier.get_metadata_routing

    # The sensitive feature is for this class alone; weights are for the classifier inside.
    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": UNUSED}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for all that is fitted.
        **params : dict
            Metadata that the classifiers inside have requested.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        self._refuse_two(sensitive_features)
        require_labels(self, y)
        metadata = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        routed = fit_params(self, metadata, params)
        with progress(f"fitting {type(self).__name__}"):
            self._fit(X, y, sensitive_features, routed)
        advance("folds")
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        """Fit with the metadata of each classifier inside."""


class SensitiveWrapper(SensitiveClassifier, ClassifierWrapper):
    """A wrapper of one classifier, from which it can hide the sensitive columns."""

    def _hide(self, X: Any) -> Any:
        features = super()._hide(X)
        self._saw_X = None if self._hidden is None else FunctionTransformer().fit(X)
        return features


class SensitivePredictor(SensitiveWrapper):
    """A wrapper whose predictions may need the sensitive feature."""

    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> float:
        """Return the accuracy; for several tasks, a row counts if all labels are right.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        score : float
        """
        predict: Any = self.predict  # of the class below, which takes the sensitive feature
        y_pred = predict(X, sensitive_features=sensitive_features)
        return accuracy_score(y, y_pred, sample_weight=sample_weight)


def require_y(owner: Any, y: Any) -> None:
    """Raise if there are no labels."""
    if y is None:
        raise InputError(
            "{who} requires y to be passed, but the target {y} is None.",
            who=type(owner).__name__,
        )


def require_labels(owner: Any, y: Any) -> None:
    """Raise if there are no labels, or one column of them for a classifier of several tasks."""
    require_y(owner, y)
    estimator = owner.estimator
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    # Not by numpy, which does not survive a list that holds itself.
    first = y[0] if isinstance(y, list | tuple) and y else None
    row = len(first) if isinstance(first, list | tuple) else getattr(y, "shape", ())[1:]
    if row in (1, (1,)) and not get_tags(last).target_tags.single_output:
        raise InputError(
            "{y} has one column, and {kind} learns several. Pass y as a vector, and the classifier "
            "inside {kind}.",
            kind=type(last).__name__,
        )


def ready(estimator: Any) -> Any:
    """Return a clone that has its methods before `fit`, as scikit-learn asks for them.

    A StackingClassifier without a final estimator has none: it gets the one that `fit` would make.
    """
    # Imported here: most audits need neither.
    from sklearn.ensemble import StackingClassifier
    from sklearn.linear_model import LogisticRegression

    copied = clone(estimator)
    inside = {"": copied, **{f"{k}__": v for k, v in copied.get_params(deep=True).items()}}
    for name, inner in inside.items():
        if isinstance(inner, StackingClassifier) and inner.final_estimator is None:
            copied.set_params(**{f"{name}final_estimator": LogisticRegression()})
    return copied


def fit_params(
    owner: Any, metadata: dict[str, Any], params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return what goes to `fit` of each of the estimators inside the owner, routed or not.

    `metadata` is what the owner's own `fit` names, `params` what else it got.
    """
    given = {name: value for name, value in metadata.items() if value is not None}
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **given, **params)
        return {name: dict(routed.get(name, {"fit": {}})["fit"]) for name in owner._inside}
    who = type(owner).__name__
    if params:
        raise InputError(
            "{who}.fit got {names}, which it can only pass on under metadata routing. Enable it, "
            "{routing}, and let the estimator inside request it: .set_fit_request({first}=True).",
            who=who,
            names=quote(params),
            routing=ROUTING,
            first=next(iter(params)),
        )
    weight = {"sample_weight": given["sample_weight"]} if "sample_weight" in given else {}
    for name in owner._inside if weight else ():
        inner = getattr(owner, name)
        if inner is not None and not has_fit_parameter(inner, "sample_weight"):
            raise InputTypeError(
                "{kind} takes no {sample_weight} in fit. For a pipeline, make the {who} its last "
                "step, or enable metadata routing, {routing}, and let a step request it: "
                ".set_fit_request(sample_weight=True).",
                kind=type(inner).__name__,
                who=who,
                routing=ROUTING,
            )
    return dict.fromkeys(owner._inside, weight)
