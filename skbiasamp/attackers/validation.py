"""Validation rows that a caller gives, to choose the epoch of training."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._utils.compat import check_sample_weight


class ValidationRows(NamedTuple):
    """Inputs, targets (codes of classes, or numbers) and weights of validation rows."""

    inputs: Array
    target: Array
    weight: Array


def read_validation(given: Any, X: Array, classes: Array | None, *, used: Any) -> ValidationRows:
    """Return the validation rows of a network that learns from X; `used` is its early_stopping."""
    if not used:
        raise InputError(
            "{validation} chooses the epoch, and early_stopping=False keeps the last one: set "
            "early_stopping=True or early_stopping='accuracy'."
        )
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        raise InputError(
            "{validation} must be a tuple (X, y) or (X, y, sample_weight); got {kind}.",
            kind=type(given).__name__,
        )
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
        inputs = check_array(
            given[0], dtype=np.float32, input_name="X of validation", allow_nd=X.ndim > 2
        )
    dtype = np.float64 if classes is None else None
    y = check_array(given[1], dtype=dtype, ensure_2d=False, input_name="y of validation")
    if inputs.shape[1:] != X.shape[1:] or y.shape != (len(inputs),):
        raise InputError(
            "{validation} must hold X of shape (n, {width}) and y of shape (n,); got {shapes}.",
            width=", ".join(map(str, X.shape[1:])),
            shapes=f"{inputs.shape} and {y.shape}",
        )
    weight = check_sample_weight(
        given[2] if len(given) == 3 else None, inputs, dtype=np.float64, ensure_non_negative=True
    )
    kept = weight > 0
    if not kept.any():
        raise InputError("{validation} has weights that are zero everywhere: leave them out.")
    if classes is not None:
        y = codes_in(classes, y, kept, "validation")
    return ValidationRows(inputs[kept], y[kept], weight[kept])


def codes_in(classes: Array, y: Array, used: Array, role: str) -> Array:
    """Return the position of each label among the sorted classes; raise if a used one has none."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = y[used & (classes[codes] != y)]
    if len(unknown):
        raise InputError(
            f"{{{role}}} has {{label!r}}, which is not in {{classes}}.",
            label=unknown[:1].tolist()[0],
        )
    return codes
