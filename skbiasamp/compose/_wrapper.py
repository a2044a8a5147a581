"""What classifiers around a classifier share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skbiasamp._input import quote
from skbiasamp.compose._columns import names_of, without_sensitive

ROUTING = "sklearn.set_config(enable_metadata_routing=True)"

Method = TypeVar("Method", bound=Callable[..., Any])


def _inner_has(name: str) -> Callable[[Method], Method]:
    """Let a method exist where the inner estimator has it."""

    def check(self: ClassifierWrapper) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return available_if(check)


class ClassifierWrapper(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that is what the one inside is, where it does not say otherwise."""

    estimator: Any
    estimator_: Any
    _saw_X: Any = None  # what X looked like, where `estimator_` saw something else

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
        """How many columns `X` had."""
        return (self._saw_X or self.estimator_).n_features_in_

    @property
    def feature_names_in_(self) -> Any:
        """What its columns were named."""
        return (self._saw_X or self.estimator_).feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who takes which metadata.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(self.estimator)
        tags.transformer_tags = None  # what else it may be, this is a classifier
        tags.array_api_support = False  # labels are counted on the CPU
        return tags

    def _features(self, X: Any) -> Any:
        """Return what the classifier inside sees of X."""
        return X


class HidingWrapper(ClassifierWrapper):
    """One that can hide the columns of the protected attribute from the classifier inside."""

    sensitive: Any
    drop_sensitive: bool
    _hidden: Any = None

    def _hide(self, X: Any) -> Any:
        """Return what the classifier inside sees of the training data, now and from now on."""
        self._saw_X = self._hidden = None
        if not self.drop_sensitive:
            return X
        if self.sensitive is None or callable(self.sensitive):
            raise ValueError(
                "drop_sensitive=True hides the columns that sensitive= names, and sensitive="
                f"{self.sensitive!r} names none. Name the columns, or leave drop_sensitive=False "
                "if the attribute is not among the features."
            )
        self._hidden = names_of(X, self.sensitive)
        # Keeps count and names of the columns, of which the classifier sees only some.
        self._saw_X = FunctionTransformer().fit(X)
        return self._features(X)

    def _features(self, X: Any) -> Any:
        return X if self._hidden is None else without_sensitive(X, self._hidden, may_lack=True)


def fit_params(
    owner: Any, names: list[str], metadata: dict[str, Any], params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return what goes to `fit` of each of the owner's estimators, routed or not.

    `metadata` is what the owner's own `fit` names, `params` what else it got.
    """
    given = {name: value for name, value in metadata.items() if value is not None}
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **given, **params)
        return {name: dict(routed.get(name, {"fit": {}})["fit"]) for name in names}
    who = type(owner).__name__
    if params:
        raise ValueError(
            f"{who}.fit got {quote(params)}, which it can only pass on under metadata routing. "
            f"Enable it, {ROUTING}, and let the estimator inside ask for it: "
            f".set_fit_request({next(iter(params))}=True)."
        )
    weight = {"sample_weight": given["sample_weight"]} if "sample_weight" in given else {}
    for name in names if weight else ():
        inner = getattr(owner, name)
        if inner is not None and not has_fit_parameter(inner, "sample_weight"):
            raise TypeError(
                f"{type(inner).__name__} takes no sample_weight in fit. For a pipeline, make the "
                f"{who} its last step, or enable metadata routing, {ROUTING}, and let a step ask "
                "for it: .set_fit_request(sample_weight=True)."
            )
    return dict.fromkeys(names, weight)
