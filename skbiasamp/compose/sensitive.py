"""Where the sensitive feature is, and what classifiers around other classifiers share."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skbiasamp._input.checks import Array, check_call, check_instance
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError, meant, quote
from skbiasamp._input.options import WithOptions
from skbiasamp._utils.compat import has_method
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import advance, progress

# What `sensitive=` may be, as scikit-learn checks parameters.
SENSITIVE: list[Any] = [str, Integral, list, tuple, callable, None]
ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def how_to_pass(who: str) -> str:
    """Return what to do if the sensitive feature is missing."""
    return (
        f"Pass sensitive_features; if it is a column of X, name it: {who}(..., sensitive='sex'). "
        f"Inside a pipeline or a search, name the column, or enable metadata routing: {ROUTING}."
    )


def requests(estimator: Any, method: str) -> bool:
    """Return whether a method gets the sensitive feature and does not find it in a column."""
    if finds(estimator):
        return False
    return routes(estimator, method) or parameter_of(estimator, method) is not None


def parameter_of(
    estimator: Any, method: str, name: str = "sensitive_features"
) -> inspect.Parameter | None:
    """Return the parameter for the sensitive feature, which no metadata request need mention.

    Fairlearn's classifiers request nothing, and its reductions pass it to their constraints.
    """
    called = getattr(estimator, method, None)
    if method == "fit":
        called = getattr(getattr(estimator, "constraints", None), "load_data", called)
    try:
        return inspect.signature(called).parameters.get(name) if called else None
    except ValueError:  # of what is written in C nothing is known
        return None


def routes(estimator: Any, method: str) -> bool:
    """Return whether a method requests the sensitive feature as metadata."""
    with routing(enable=True):
        try:
            requests = get_routing_for_object(estimator)
        # Meta-estimators that route nothing, and classes whose `fit` lost a parameter they request.
        except (NotImplementedError, ValueError):
            return False
    return bool(requests.consumes(method, ["sensitive_features"]))


def finds(estimator: Any) -> bool:
    """Return whether an estimator, or one inside it, has `sensitive`."""
    # scikit-learn says what is no estimator, or a class of them.
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        return False
    return any(
        name.rpartition("__")[2] == "sensitive" and value is not None
        for name, value in estimator.get_params(deep=True).items()
    )


def own_request(estimator: Any) -> Any:
    """Return what metadata an estimator requests for itself, whatever is inside it."""
    request = BaseEstimator.get_metadata_routing(estimator)
    if getattr(estimator, "sensitive", None) is not None:
        for method in ("fit", "predict", "score", "transform"):
            asked = getattr(request, method)
            if "sensitive_features" in asked.requests:
                asked.add_request(param="sensitive_features", alias=False)
    return request


def routing(*, enable: bool) -> Any:
    """Return a context with metadata routing, or with the caller's setting."""
    return sklearn.config_context(**({"enable_metadata_routing": True} if enable else {}))


def names_columns(sensitive: Any) -> bool:
    """Return whether `sensitive` names columns of X, rather than compute them."""
    return sensitive is not None and not callable(sensitive)


class SensitiveColumns:
    """An estimator with the parameter `sensitive`, and perhaps `drop_sensitive`."""

    sensitive: Any
    drop_sensitive: bool | None = False
    _always_hides: ClassVar[bool] = False  # if named columns are hidden whatever is asked for
    _who: ClassVar[str] = ""  # its public name, if that is not the name of the class
    _hidden: Any = None

    def _sensitive(
        self, X: Any, sensitive_features: Any, method: str, *, required: bool = True
    ) -> Any:
        """Return the sensitive feature, or None if there is none and none is required."""
        if self.sensitive is None:
            if sensitive_features is None and required:
                who = self._who or type(self).__name__
                text = "{who} needs the sensitive feature in {method}. {advice}"
                raise InputError(text, who=who, method=method, advice=how_to_pass(who))
            return sensitive_features
        self._refuse_two(sensitive_features)
        if not callable(self.sensitive):
            return _columns(X, self.sensitive)
        check_call("sensitive", self.sensitive, X)
        return self.sensitive(X)

    def _refuse_two(self, sensitive_features: Any) -> None:
        """Raise if the sensitive feature was passed and `sensitive` finds it too."""
        if self.sensitive is not None and sensitive_features is not None:
            raise InputError(
                "The sensitive feature was passed twice: as sensitive={sensitive!r} and as "
                "{sensitive_features}. Pass one of them.",
                sensitive=self.sensitive,
            )

    def get_metadata_routing(self) -> Any:
        """Return which metadata is requested: no sensitive feature if `sensitive` finds it.

        Returns
        -------
        routing : MetadataRequest
        """
        return own_request(self)

    def _hide(self, X: Any) -> Any:
        """Return what is left of the training data, for this `fit` and the methods after it."""
        self._hidden = None
        named = names_columns(self.sensitive)
        if self.drop_sensitive and not named:
            raise InputError(
                "drop_sensitive=True hides the columns that sensitive= names, and sensitive="
                "{sensitive!r} names none. Name the columns, or set drop_sensitive=False if the "
                "sensitive feature is not a column of X.",
                sensitive=self.sensitive,
            )
        if named and (self.drop_sensitive or self._always_hides):
            _, names = _table(X)
            self._hidden = self.sensitive
            if names is not None:  # by name, since frames to predict may lack the columns
                positions = _positions(len(names), names, self.sensitive)
                self._hidden = [names[at] for at in positions]
        features = self._features(X)
        check_frame(features, hidden=self._hidden)
        return features

    def _features(self, X: Any) -> Any:
        """Return X without the hidden columns. Frames may lack them."""
        return X if self._hidden is None else without(X, self._hidden)

    @contextmanager
    def _noting(self, X: Any) -> Iterator[None]:
        """Note beside an error that the sensitive feature is text, or that a step lacks it."""
        try:
            yield
        except (TypeError, ValueError) as error:
            if isinstance(error, TypeError) and "'sensitive_features'" in str(error):
                error.add_note(
                    "A pipeline passes the sensitive feature to a step that requests it: enable "
                    f"metadata routing, {ROUTING}, and call the step's "
                    ".set_fit_request(sensitive_features=True) and "
                    ".set_predict_request(sensitive_features=True)."
                )
            if names_columns(self.sensitive) and not self.drop_sensitive:
                columns = pd.DataFrame(to_native(_columns(X, self.sensitive), "sensitive"))
                if any(isinstance(value, str) for value in columns.to_numpy(object).flat):
                    error.add_note(
                        f"sensitive={self.sensitive!r} is text, and a feature that the classifier "
                        f"sees. {type(self).__name__}(..., drop_sensitive=True) hides it; or "
                        "encode it in a pipeline inside."
                    )
            raise


def combination_codes(*tables: Any) -> Array:
    """Return a number for each row: which combination of values its columns have."""
    parts = [pd.DataFrame(table).reset_index(drop=True) for table in tables]
    rows = pd.concat(parts, axis=1, ignore_index=True)
    return rows.groupby(list(rows.columns), dropna=False, observed=True).ngroup().to_numpy()


def without(X: Any, sensitive: Any) -> Any:
    """Return X without some columns. Frames may lack those that are named."""
    table, names = _table(X)
    if names is not None:
        given = _listed(sensitive)
        sensitive = [name for name in given if not isinstance(name, str) or name in names]
    hidden = _positions(table.shape[1], names, sensitive) if sensitive != [] else []
    return _taken(table, np.setdiff1d(np.arange(table.shape[1]), hidden))


def _columns(X: Any, sensitive: Any) -> Any:
    table, names = _table(X)
    return _taken(table, _positions(table.shape[1], names, sensitive))


def _listed(sensitive: Any) -> list[Any]:
    return [sensitive] if isinstance(sensitive, str | Integral) else list(sensitive)


def check_frame(X: Any, hidden: Any = None) -> None:
    """Raise if a data frame has no columns, or two of one name."""
    # What pyarrow calls columns are the columns themselves.
    columns = list(getattr(X, "column_names", None) or getattr(X, "columns", ["X"]))
    if not columns:
        raise InputError(
            "{X} has no columns{besides}. Pass one column or more for the model to learn from.",
            besides="" if hidden is None else f" besides {quote(hidden)}",
        )
    twice = [name for name, n in Counter(columns).items() if n > 1]
    if twice:
        raise InputError(
            "{X} has more than one column called {names}. Rename columns, so that each has a name "
            "of its own.",
            names=quote(twice),
        )


def _table(X: Any) -> tuple[Any, list[str] | None]:
    """Return X as something with two dimensions, and the names of its columns if it is a frame."""
    check_frame(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame, frame.columns
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise InputError(
            "sensitive= picks columns of X, and X has no columns: its shape is {shape}. Pass "
            "{sensitive_features} instead.",
            shape=tuple(X.shape),
        )
    # The one sparse format that takes both slices.
    return X.tocsr() if hasattr(X, "tocsr") else X, None


def _taken(table: Any, positions: Any) -> Any:
    columns = table[:, positions]
    return columns.to_native() if isinstance(columns, nw.DataFrame) else columns


def _positions(n_columns: int, names: list[str] | None, given: Any) -> list[int]:
    """Return where the columns are: text is a name, a whole number a position."""
    wanted = _listed(given)
    if not wanted:
        raise InputError("sensitive={given!r} names no column: name one or pass None.", given=given)
    texts = [column for column in wanted if isinstance(column, str)]
    if names is None and texts:
        raise InputError(
            "sensitive={given!r} names a column, but X is an array and its columns have no names. "
            "Pass X as a data frame, a position such as sensitive=0, or {sensitive_features}. A "
            "pipeline step that makes arrays keeps names with .set_output(transform='pandas'); an "
            "ensemble that makes arrays (BaggingClassifier, AdaBoostClassifier) belongs inside the "
            "estimator with sensitive=, not around it.",
            given=given,
        )
    lacking = [text for text in texts if text not in (names or ())]
    if lacking:
        raise InputError(
            "sensitive={given!r}, but X has no column {lacking}{meant} It has {names}. Pass the X "
            "that still has the column, or pass {sensitive_features}.",
            given=given,
            lacking=quote(lacking),
            meant=meant(lacking[0], names or ()),
            names=quote(names, most=10) if names else "no columns",
        )
    strange = [column for column in wanted if not isinstance(column, str | Integral)]
    if strange:
        raise InputTypeError(
            "sensitive={given!r} must hold names or positions of columns; got {strange}.",
            given=given,
            strange=quote(strange),
        )
    positions = [
        (names or []).index(column) if isinstance(column, str) else int(column) for column in wanted
    ]
    if not all(-n_columns <= at < n_columns for at in positions):
        raise InputError(
            "sensitive={given!r}, but X has {n} columns: positions go from 0 to {last}.",
            given=given,
            n=n_columns,
            last=n_columns - 1,
        )
    return [at % n_columns for at in positions]


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

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
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
            "{who} requires y to be passed, but the target {y} is None.", who=type(owner).__name__
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
            text = (
                "{kind} takes no {sample_weight} in fit. For a pipeline, make the {who} its last "
                "step, or enable metadata routing, {routing}, and let a step request it: "
                ".set_fit_request(sample_weight=True)."
            )
            raise InputTypeError(text, kind=type(inner).__name__, who=who, routing=ROUTING)
    return dict.fromkeys(owner._inside, weight)
