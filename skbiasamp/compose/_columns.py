"""The protected attribute among the columns of X: found, taken out, left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input import quote, to_native


def sensitive_values(X: Any, sensitive: Any) -> Any:
    """Return the attribute of every row: columns of X, or what a function makes of X."""
    if callable(sensitive):
        return sensitive(X)
    frame = _frame(X)
    if frame is None:
        X = _array(X)
        return X[:, _positions(X.shape[1], None, sensitive)]
    return frame[:, _positions(frame.shape[1], frame.columns, sensitive)].to_native()


def names_of(X: Any, sensitive: Any) -> Any:
    """Return the names of columns that may be given by position, where X has names."""
    frame = _frame(X)
    if frame is None:
        return sensitive
    return [frame.columns[at] for at in _positions(frame.shape[1], frame.columns, sensitive)]


def without_sensitive(X: Any, sensitive: Any, *, may_lack: bool = False) -> Any:
    """Return X without the attribute's columns; with `may_lack` named ones may be gone already."""
    if callable(sensitive):
        return X
    frame = _frame(X)
    if frame is None:
        X = _array(X)
        dropped = _positions(X.shape[1], None, sensitive)
        return X[:, np.setdiff1d(np.arange(X.shape[1]), dropped)]
    names = frame.columns
    if may_lack:
        sensitive = [one for one in _listed(sensitive) if not isinstance(one, str) or one in names]
    dropped = _positions(len(names), names, sensitive)
    return frame[:, [i for i in range(len(names)) if i not in dropped]].to_native()


@contextmanager
def noting_text(owner: Any, X: Any) -> Iterator[None]:
    """Note beside an error that the classifier inside sees the attribute, and that it is text."""
    try:
        yield
    except (TypeError, ValueError) as error:
        named = owner.sensitive is not None and not callable(owner.sensitive)
        if named and not owner.drop_sensitive:
            columns = pd.DataFrame(to_native(sensitive_values(X, owner.sensitive), "sensitive"))
            if any(isinstance(value, str) for value in columns.to_numpy(object).flat):
                error.add_note(
                    f"sensitive={owner.sensitive!r} is text, and a feature that the classifier "
                    f"sees: {type(owner).__name__}(..., drop_sensitive=True) hides it, or a "
                    "pipeline inside encodes it."
                )
        raise


def _listed(sensitive: Any) -> list[Any]:
    return [sensitive] if isinstance(sensitive, str | Integral) else list(sensitive)


def _frame(X: Any) -> Any:
    """Return X as a frame of narwhals, or None where it is none."""
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
    if names is None and any(isinstance(one, str) for one in wanted):
        raise ValueError(
            f"sensitive={sensitive!r} names a column, but X is an array and its columns have no "
            f"names. Pass X as a data frame (a step before this one may have turned it into an "
            "array: .set_output(transform='pandas') keeps names), say which column it is by "
            "position, such as sensitive=0, or pass sensitive_features."
        )
    lacking = [one for one in wanted if isinstance(one, str) and one not in (names or ())]
    if lacking:
        raise ValueError(
            f"sensitive={sensitive!r}, but X has no column {quote(lacking)}. It has "
            f"{quote(names or (), most=10)}. Pass the X that still has the column, or pass "
            "sensitive_features."
        )
    positions = [(names or []).index(one) if isinstance(one, str) else int(one) for one in wanted]
    outside = [at for at in positions if not -n_columns <= at < n_columns]
    if outside:
        raise ValueError(
            f"sensitive={sensitive!r}, but X has {n_columns} columns: positions go from 0 to "
            f"{n_columns - 1}."
        )
    return [at % n_columns for at in positions]
