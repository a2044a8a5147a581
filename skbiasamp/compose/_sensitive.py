"""Where the sensitive feature is: in columns of X, a function of X, or passed by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input import quote, to_native

# What `sensitive=` may be, as scikit-learn checks parameters.
SENSITIVE: list[Any] = [str, Integral, list, tuple, callable, None]
ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def how_to_pass(who: str) -> str:
    """Return what to do if the sensitive feature is missing."""
    return (
        f"Pass sensitive_features; if it is a column of X, name it: {who}(..., sensitive='sex'). "
        f"Inside a pipeline or a search, name the column, or enable metadata routing: {ROUTING}."
    )


class SensitiveColumns:
    """An estimator with the parameter `sensitive`, and perhaps `drop_sensitive`."""

    sensitive: Any
    drop_sensitive: bool = False
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
                raise ValueError(
                    f"{who} needs the sensitive feature in {method}. {how_to_pass(who)}"
                )
            return sensitive_features
        if sensitive_features is not None:
            raise ValueError(
                f"The sensitive feature was passed twice: as sensitive={self.sensitive!r} and as "
                "sensitive_features. Pass one of them; under metadata routing, with "
                f".set_{method}_request(sensitive_features=False)."
            )
        return self.sensitive(X) if callable(self.sensitive) else _columns(X, self.sensitive)

    def _hide(self, X: Any) -> Any:
        """Return what is left of the training data, for this `fit` and the methods after it."""
        self._hidden = None
        named = self.sensitive is not None and not callable(self.sensitive)
        if self.drop_sensitive and not named:
            raise ValueError(
                "drop_sensitive=True hides the columns that sensitive= names, and sensitive="
                f"{self.sensitive!r} names none. Name the columns, or set drop_sensitive=False if "
                "the sensitive feature is not a column of X."
            )
        if named and (self.drop_sensitive or self._always_hides):
            frame = _frame(X)
            self._hidden = self.sensitive
            if frame is not None:  # by name, since frames to predict may lack the columns
                positions = _positions(frame.shape[1], frame.columns, self.sensitive)
                self._hidden = [frame.columns[at] for at in positions]
        return self._features(X)

    def _features(self, X: Any) -> Any:
        """Return X without the hidden columns. Frames may lack them."""
        return X if self._hidden is None else without(X, self._hidden)

    @contextmanager
    def _noting_text(self, X: Any) -> Iterator[None]:
        """Note beside an error that the sensitive feature is text which the classifier sees."""
        try:
            yield
        except (TypeError, ValueError) as error:
            named = self.sensitive is not None and not callable(self.sensitive)
            if named and not self.drop_sensitive:
                columns = pd.DataFrame(to_native(_columns(X, self.sensitive), "sensitive"))
                if any(isinstance(value, str) for value in columns.to_numpy(object).flat):
                    error.add_note(
                        f"sensitive={self.sensitive!r} is text, and a feature that the classifier "
                        f"sees. {type(self).__name__}(..., drop_sensitive=True) hides it; or "
                        "encode it in a pipeline inside."
                    )
            raise


def without(X: Any, sensitive: Any) -> Any:
    """Return X without some columns. Frames may lack those that are named."""
    frame = _frame(X)
    if frame is None:
        X = _array(X)
        hidden = _positions(X.shape[1], None, sensitive)
        return X[:, np.setdiff1d(np.arange(X.shape[1]), hidden)]
    names = frame.columns
    sensitive = [one for one in _listed(sensitive) if not isinstance(one, str) or one in names]
    hidden = _positions(len(names), names, sensitive) if sensitive else []
    return frame[:, [at for at in range(len(names)) if at not in hidden]].to_native()


def _columns(X: Any, sensitive: Any) -> Any:
    frame = _frame(X)
    if frame is None:
        X = _array(X)
        return X[:, _positions(X.shape[1], None, sensitive)]
    return frame[:, _positions(frame.shape[1], frame.columns, sensitive)].to_native()


def _listed(sensitive: Any) -> list[Any]:
    return [sensitive] if isinstance(sensitive, str | Integral) else list(sensitive)


def _frame(X: Any) -> Any:
    """Return X as a frame of narwhals, or None if it is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _array(X: Any) -> Any:
    """Return X as something with two dimensions."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            "sensitive= picks columns of X, and X has no columns: its shape is "
            f"{tuple(X.shape)}. Pass sensitive_features instead."
        )
    return X.tocsr() if hasattr(X, "tocsr") else X  # the one sparse format that takes both slices


def _positions(n_columns: int, names: list[str] | None, sensitive: Any) -> list[int]:
    """Return where the columns are: text is a name, a whole number a position."""
    wanted = _listed(sensitive)
    if not wanted:
        raise ValueError(f"sensitive={sensitive!r} names no column: name one or pass None.")
    texts = [one for one in wanted if isinstance(one, str)]
    if names is None and texts:
        raise ValueError(
            f"sensitive={sensitive!r} names a column, but X is an array and its columns have no "
            "names. Pass X as a data frame (a step before may have turned it into an array: "
            ".set_output(transform='pandas') keeps names), a position such as sensitive=0, or "
            "sensitive_features."
        )
    lacking = [one for one in texts if one not in (names or ())]
    if lacking:
        raise ValueError(
            f"sensitive={sensitive!r}, but X has no column {quote(lacking)}. It has "
            f"{quote(names or (), most=10)}. Pass the X that still has the column, or pass "
            "sensitive_features."
        )
    strange = [one for one in wanted if not isinstance(one, str | Integral)]
    if strange:
        raise TypeError(
            f"sensitive={sensitive!r} must hold names or positions of columns, and has "
            f"{quote(strange)}."
        )
    positions = [(names or []).index(one) if isinstance(one, str) else int(one) for one in wanted]
    if not all(-n_columns <= at < n_columns for at in positions):
        raise ValueError(
            f"sensitive={sensitive!r}, but X has {n_columns} columns: positions go from 0 to "
            f"{n_columns - 1}."
        )
    return [at % n_columns for at in positions]
