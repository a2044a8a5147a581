"""Where the sensitive feature is: in columns of X, a function of X, or passed by itself."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import get_routing_for_object

from skbiasamp._input.checks import Array, check_call
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError, meant, quote

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
                raise InputError(
                    "{who} needs the sensitive feature in {method}. {advice}",
                    who=who,
                    method=method,
                    advice=how_to_pass(who),
                )
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
