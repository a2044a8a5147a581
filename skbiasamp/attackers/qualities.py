"""How well an attacker predicts its target.

Qualities are computed on tables (..., inputs, classes): the weight of each class, and the share of
it that is predicted. No table of true by predicted classes is needed, which would make the cost
quadratic in groups. Leading axes are draws and targets.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, check_call
from skbiasamp._input.errors import InputError, InputTypeError

# Qualities of probabilities, not of predicted classes.
OF_PROBABILITIES = ("confidence", "inverse_log_loss")
# Qualities that add up over rows, class by class.
ADDITIVE = ("accuracy", "balanced_accuracy", "confidence")
QUALITIES = (*ADDITIVE, "f1", "inverse_rmse", "inverse_log_loss")

# Probabilities of 0 and 1 have no finite logarithm.
TINY = float(np.finfo(float).eps)

Quality = str | Callable[..., float]


def divide(left: Any, right: Array) -> Array:
    """Divide; 0/0 is 0."""
    if right.all():  # nothing has to be filled in, which keeps the order of axes in memory
        return np.asarray(left / right)
    return np.divide(left, right, out=np.zeros(np.broadcast(left, right).shape), where=right != 0)


def shares_of(table: Array, *, axis: int) -> Array:
    """Return the shares of an axis in its sum; equal ones of nothing."""
    total = table.sum(axis=axis, keepdims=True)
    even = np.full(table.shape, 1 / table.shape[axis])
    return np.divide(table, total, out=even, where=total > 0)


def quality_of(
    quality: Quality,
    table: Array,
    predicted: Array,
    *,
    balanced: bool = False,
    n_classes: Array | None = None,
) -> Array:
    """Return the quality of what is predicted for each input; `balanced` weighs classes equally.

    Balanced accuracy is the mean recall of `n_classes`, by default of the classes that occur. A
    class that does not occur has recall 0.
    """
    true = table.sum(axis=-2)
    if callable(quality):  # a function of the user's needs the table of true and predicted classes
        confusion = np.swapaxes(table, -1, -2) @ predicted
        return _called(quality, divide(confusion, true[..., None]) if balanced else confusion)
    if quality == "inverse_log_loss":
        # One over the log loss of the probabilities that attackers predict.
        table = divide(table, true[..., None, :]) if balanced else table
        logs = np.log(np.clip(predicted, TINY, 1 - TINY))
        return table.sum(axis=(-2, -1)) / -(table * logs).sum(axis=(-2, -1))
    if quality == "confidence":
        predicted = confident(predicted)
    # Whole weights are added up before anything is divided: equal qualities stay exactly equal.
    right = np.einsum("...ic,...ic->...c", table, predicted)
    if quality in ADDITIVE:
        return of_sums(quality, right, true, balanced=balanced, n_classes=n_classes)
    if balanced:
        table = divide(table, true[..., None, :])
        right, true = divide(right, true), (true > 0).astype(float)
    either = true + np.einsum("...i,...ic->...c", table.sum(axis=-1), predicted)
    return divide(divide(2 * right, either).sum(axis=-1), (either > 0).sum(axis=-1))


def of_sums(
    quality: Quality, right: Array, true: Array, *, balanced: bool, n_classes: Array | None
) -> Array:
    """Return an additive quality from what is predicted right of each class, and its rows."""
    if balanced:
        right, true = divide(right, true), (true > 0).astype(float)
    if quality == "balanced_accuracy":
        n = (true > 0).sum(axis=-1) if n_classes is None else n_classes
        return divide(divide(right, true).sum(axis=-1), n)
    return divide(right.sum(axis=-1), true.sum(axis=-1))


def confident(shares: Array) -> Array:
    """Return the probability of the predicted class, and 0 for the others; ties share it."""
    top = shares >= shares.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return divide(shares * top, top.sum(axis=-1, keepdims=True))


def _called(quality: Callable[..., float], confusion: Array) -> Array:
    """Call the user's quality for each table of (true class, predicted class).

    Rows are repeated for one that takes no weights.
    """
    name = getattr(quality, "__name__", repr(quality))
    if isinstance(quality, type):
        raise InputTypeError("{quality} must be a function; got the class {found}.", found=name)
    try:
        weighs = "sample_weight" in inspect.signature(quality).parameters
    except ValueError:  # what is written in C has no signature
        weighs = False
    classes = [axis.ravel() for axis in np.indices(confusion.shape[-2:])]
    values = []
    for weight in confusion.reshape(-1, classes[0].size):
        used = weight > 0
        y_true, y_pred = (codes[used] for codes in classes)
        weights = {"sample_weight": weight[used]} if weighs else {}
        check_call(f"quality={name}", quality, y_true, y_pred, **weights)
        if not weighs:
            # As many rows as resolve shares of a thousandth.
            n = max(1000.0, weight[used].sum())
            times = np.rint(weight[used] / weight[used].sum() * n).astype(int)
            y_true, y_pred = np.repeat(y_true, times), np.repeat(y_pred, times)
        value = quality(y_true, y_pred, **weights)
        is_number = isinstance(value, Real | np.ndarray) and np.size(value) == 1
        if not is_number or np.iscomplexobj(value):
            text = "quality={quality} must return a number; it returned {found!r}."
            raise InputTypeError(text, quality=name, found=value)
        if not float(value) >= 0:
            text = (
                "quality={quality} returned {found:.6g}: a quality is larger for better attackers "
                "and never negative, or amplification has no scale. Shift it, or take 1 / loss."
            )
            raise InputError(text, quality=name, found=float(value))
        values.append(float(value))
    return np.array(values).reshape(confusion.shape[:-2])


def inverse_spread(numbers: Array, weight: Array, noise: float = 0.0) -> Array:
    """Return 1 / RMSE of the mean as prediction, for numbers with added noise: (1, 1)."""
    mean = np.average(numbers, weights=weight)
    variance = np.average((numbers - mean) ** 2, weights=weight) + noise**2
    return np.array([[variance**-0.5 if variance > 0 else np.inf]])
