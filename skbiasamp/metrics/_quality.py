"""How well an attacker does, and how labels are perturbed until they are as good as a model.

Everything is computed on tables of weights: (..., inputs, classes) for what an attacker saw and
what there was to tell, (..., classes, classes) for what there was and what it told. Leading axes
are draws, folds and targets.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from skbiasamp._input import Array

QUALITIES = ("accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss")
EQUALIZERS = ("f1", "accuracy", None)  # and "auto", of leakage

Quality = str | Callable[..., float]


def _divide(left: Array, right: Array) -> Array:
    """Divide; nothing of nothing is 0."""
    return np.divide(left, right, out=np.zeros(np.broadcast(left, right).shape), where=right != 0)


def quality_of(quality: Quality, told: Array, n_classes: Array | None = None) -> Array:
    """Return the quality of guesses: tables of (..., true class, guessed class).

    Balanced accuracy is the mean recall of `n_classes`, by default of the classes that occur. A
    class that does not occur has recall 0.
    """
    right = np.diagonal(told, axis1=-2, axis2=-1)
    true, said = told.sum(axis=-1), told.sum(axis=-2)
    if quality == "accuracy":
        return _divide(right.sum(axis=-1), true.sum(axis=-1))
    if quality == "balanced_accuracy":
        n = (true > 0).sum(axis=-1) if n_classes is None else n_classes
        return _divide(_divide(right, true).sum(axis=-1), n)
    if quality == "f1":
        return _divide(_divide(2 * right, true + said).sum(axis=-1), (true + said > 0).sum(axis=-1))
    assert callable(quality)
    y_true, y_pred = (axis.ravel() for axis in np.indices(told.shape[-2:]))
    flat = told.reshape(-1, y_true.size)
    found = np.array([_call(quality, y_true, y_pred, weight) for weight in flat])
    return found.reshape(told.shape[:-2])


def _call(quality: Callable[..., float], y_true: Array, y_pred: Array, weight: Array) -> float:
    """Ask the user's quality; rows are repeated for one that takes no weights."""
    held = weight > 0
    y_true, y_pred, weight = y_true[held], y_pred[held], weight[held]
    if "sample_weight" in inspect.signature(quality).parameters:
        found = float(quality(y_true, y_pred, sample_weight=weight))
    else:
        # As many rows as resolve shares of a thousandth.
        times = np.rint(weight / weight.sum() * max(1000.0, weight.sum())).astype(int)
        found = float(quality(np.repeat(y_true, times), np.repeat(y_pred, times)))
    if not found >= 0:
        name = getattr(quality, "__name__", repr(quality))
        raise ValueError(
            f"quality={name} returned {found:.6g}: a quality is larger for better attackers and "
            "never negative, or amplification has no scale. Shift it, or take 1 / loss."
        )
    return found


def inverse_log_loss(judged: Array, shares: Array) -> Array:
    """Return 1 / log loss of the shares (..., inputs, classes) that attackers gave each class."""
    tiny = np.finfo(float).eps
    loss = -(judged * np.log(np.clip(shares, tiny, 1 - tiny))).sum(axis=(-2, -1))
    return judged.sum(axis=(-2, -1)) / loss


def relative_change(model: Array, data: Array) -> Array:
    """Return (model − data) / (model + data); 0 where both are 0."""
    with np.errstate(invalid="ignore"):
        change = _divide(model - data, model + data)
    # An attacker without any error has infinite quality: the limits.
    only = np.isinf(model).astype(float) - np.isinf(data)
    return np.where(np.isinf(model) | np.isinf(data), only, change)


# --------------------------------------------------------------------------- equalisation


def task_f1(right: Array, true: Array, said: Array) -> Array:
    """Return the F1 averaged over tasks (the last axis)."""
    return _divide(2 * right, true + said).mean(axis=-1)


def rate_for_f1(f1: Array, true: Array, total: Array, n_others: int) -> Array:
    """Return the rate at which labels must move for their expected F1 over tasks to be `f1`.

    `true` (..., tasks) and `total` (..., 1) count rows; a label that moves goes to one of
    `n_others` classes. F1 falls with the rate, so that halving the interval finds it. The rate is
    at most that of pure noise: labels that move more often carry information again.
    """
    low, high = np.zeros(f1.shape), np.full(f1.shape, pure_noise(n_others))
    for _ in range(50):
        middle = (low + high) / 2
        above = f1_at(middle, true, total, n_others) > f1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low  # exactly 0 for a perfect model


def pure_noise(n_others: int) -> float:
    """Return the rate at which labels that move to `n_others` classes keep no information."""
    return n_others / (n_others + 1)


def f1_at(rate: Array, true: Array, total: Array, n_others: int) -> Array:
    """Return the expected F1, averaged over tasks, of labels that move at a rate."""
    kept = true * (1 - rate[..., None])
    said = kept + (total - true) * rate[..., None] / n_others
    return task_f1(kept, true, said)


def perturb(
    table: Array,
    rate: Array,
    rng: np.random.Generator | None,
    *,
    axis: int,
    n_bits: int = 0,
    rows_per_weight: float = 1.0,
) -> Array:
    """Move labels along an axis of tables to another class, each with probability `rate`.

    Without `rng` the expected table is returned. `n_bits` says that the axis holds the patterns
    of so many 0/1 labels, which flip one by one. `rate` has the leading axes of `table`.
    """
    table = np.moveaxis(table, axis, -1)
    rate = rate[..., None, None]
    shape = table.shape
    if n_bits:
        for bit in range(n_bits):
            table = table.reshape(*shape[:-1], 2 ** (n_bits - 1 - bit), 2, 2**bit)
            stay, go, unit = _movers(table, rate[..., None, None], rng, rows_per_weight)
            table = (stay + (go * unit)[..., ::-1, :]).reshape(shape)
        return np.moveaxis(table, -1, axis)
    n_others = shape[-1] - 1
    if n_others == 0:
        return np.moveaxis(table, -1, axis)
    stay, go, unit = _movers(table, rate, rng, rows_per_weight)
    moved = go * unit
    if n_others == 1:
        arrived = moved[..., ::-1]
    elif rng is None:
        arrived = (moved.sum(axis=-1, keepdims=True) - moved) / n_others
    else:
        arrived = _scatter(go, unit, rng)
    return np.moveaxis(stay + arrived, -1, axis)


def _movers(
    table: Array, rate: Array, rng: np.random.Generator | None, rows_per_weight: float
) -> tuple[Array, Array, Array]:
    """Return the weight that stays in each cell, how many rows move, and what one of them weighs.

    Where all rows move, exactly nothing stays: not what rounding leaves of it.
    """
    if rng is None:
        return table * (1 - rate), table * rate, np.ones(1)
    # Of many inputs most have no row in a fold: only the others are drawn for.
    held = np.flatnonzero(table > 0)
    weight = table.ravel()[held]
    # Fractional weights move as the rows they are worth.
    n = np.maximum(np.rint(weight * rows_per_weight), 1).astype(np.int64)
    stay, unit = np.zeros(table.size), np.ones(table.size)
    go = np.zeros(table.size, np.int64)
    go[held] = rng.binomial(n, rate.ravel()[held // (table.size // rate.size)])
    unit[held] = weight / n
    stay[held] = (n - go[held]) * unit[held]
    return stay.reshape(table.shape), go.reshape(table.shape), unit.reshape(table.shape)


def _scatter(count: Array, unit: Array, rng: np.random.Generator) -> Array:
    """Send each mover, with its weight, to a uniformly random other class of the last axis."""
    n_classes = count.shape[-1]
    if count.sum() < count.size * n_classes:
        origin = np.repeat(np.arange(count.size), count.ravel())
        steps = rng.integers(1, n_classes, size=len(origin))
        aim = origin - origin % n_classes + (origin % n_classes + steps) % n_classes
        return np.bincount(aim, unit.ravel()[origin], minlength=count.size).reshape(count.shape)
    arrived = np.zeros(count.shape)
    for k in range(n_classes):
        others = np.delete(np.arange(n_classes), k)
        shares = np.full(n_classes - 1, 1 / (n_classes - 1))
        arrived[..., others] += rng.multinomial(count[..., k], shares) * unit[..., [k]]
    return arrived
