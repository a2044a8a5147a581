"""Labels are perturbed at random until they are as good as the model's predictions.

Labels are perturbed as counts of rows, so a million rows cost no more than a thousand.
"""

from __future__ import annotations

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Side, codes_of
from skbiasamp.attackers.qualities import divide

# --------------------------------------------------------------------------- rates


class Agreement:
    """How labels and predictions of some cells agree, from which rates of perturbation follow.

    `positive` is the class that the F1 of a binary label is about. With `shared` all columns of
    a row have one rate, else each has its own; the classes of one label always share theirs.
    Labels become as good as predictions, or as `at` if that is given.
    """

    def __init__(
        self,
        truth: Side,
        prediction: Side,
        *,
        equalize: str | None,
        positive: int | None,
        shared: bool,
        at: float | None = None,
    ) -> None:
        self._at = at
        self._accuracy = equalize == "accuracy"
        self._shared = shared or not truth.is_matrix
        self._n_others = 1 if truth.is_matrix else max(len(truth.names) - 1, 1)
        if self._accuracy and not truth.is_matrix:
            self._columns: Array = (codes_of(truth) != codes_of(prediction))[:, None]
            return
        labels, predictions = (side.labels.dense(slice(None), bool) for side in (truth, prediction))
        if not truth.is_matrix and truth.one_label and len(truth.names) == 2:
            labels, predictions = (side[:, [positive or 0]] for side in (labels, predictions))
        self._columns = (
            labels != predictions
            if self._accuracy
            else np.hstack([labels & predictions, labels, predictions])
        )

    def flip_rates(self, weight: Array) -> tuple[Array, Array]:
        """Return how often labels must be perturbed to be as good: (draws, targets).

        The rate is at most that of pure noise; the second array says where even that is too good.
        """
        n_others, total = self._n_others, weight.sum(axis=-1)[:, None]
        most, sums = pure_noise(n_others), weight @ self._columns
        if self._accuracy:
            wrong = sums / total if self._at is None else np.full(sums.shape, 1 - self._at)
            wrong = wrong.mean(axis=-1, keepdims=True) if self._shared else wrong
            return np.minimum(wrong, most), wrong > most + 1e-9
        axis = -2 if self._shared else -1
        right, true, predicted = (np.expand_dims(part, axis) for part in np.split(sums, 3, axis=-1))
        f1 = task_f1(right, true, predicted)
        f1 = f1 if self._at is None else np.full(f1.shape, self._at)
        least = f1_at(np.full(f1.shape, most), true, total[..., None], n_others)
        return rate_for_f1(f1, true, total[..., None], n_others), least > f1 + 1e-9


def task_f1(right: Array, true: Array, predicted: Array) -> Array:
    """Return the F1 averaged over tasks (the last axis)."""
    return divide(2 * right, true + predicted).mean(axis=-1)


def rate_for_f1(f1: Array, true: Array, total: Array, n_others: int) -> Array:
    """Return the rate at which labels must be perturbed for their expected F1 to be `f1`.

    `true` (..., tasks) and `total` (..., 1) count rows; a perturbed label moves to one of
    `n_others` classes. The rate is at most that of pure noise: labels that are perturbed more
    often carry information again.
    """
    # F1 falls with the rate, so that halving the interval finds it.
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
    """Return the expected F1, averaged over tasks, of labels that are perturbed at a rate."""
    kept = true * (1 - rate[..., None])
    predicted = kept + (total - true) * rate[..., None] / n_others
    return task_f1(kept, true, predicted)


# --------------------------------------------------------------------------- tables


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
    of so many 0/1 labels, which flip one by one; two classes are one such label. `rate` has the
    leading axes of `table`.
    """
    table = np.moveaxis(table, axis, -1)
    rate = rate[..., None, None]
    shape, n_others = table.shape, table.shape[-1] - 1
    for bit in range(n_bits or int(n_others == 1)):
        table = table.reshape(*shape[:-1], -1, 2, 2**bit)
        stay, go, unit = _movers(table, rate[..., None, None], rng, rows_per_weight)
        table = (stay + (go * unit)[..., ::-1, :]).reshape(shape)
    if n_bits or n_others < 2:
        return np.moveaxis(table, -1, axis)
    stay, go, unit = _movers(table, rate, rng, rows_per_weight)
    if rng is None:
        arrived = (go.sum(axis=-1, keepdims=True) - go) / n_others
    else:
        arrived = _scatter(go, unit, rng)
    return np.moveaxis(stay + arrived, -1, axis)


def _movers(
    table: Array, rate: Array, rng: np.random.Generator | None, rows_per_weight: float
) -> tuple[Array, Array, Array]:
    """Return the weight that stays in each cell, how many rows move, and the weight of a row.

    If all rows move, exactly nothing stays: not what rounding leaves of it.
    """
    if rng is None:
        return table * (1 - rate), table * rate, np.ones(1)
    # Fractional weights move as the rows they are worth.
    n = np.where(table > 0, np.maximum(np.rint(table * rows_per_weight), 1), 0).astype(np.int64)
    unit = divide(table, n)
    go = rng.binomial(n, rate)
    return (n - go) * unit, go, unit


def _scatter(count: Array, unit: Array, rng: np.random.Generator) -> Array:
    """Send each mover, with its weight, to a uniformly random other class of the last axis."""
    n_classes = count.shape[-1]
    if count.sum() < count.size * n_classes:  # few rows: one by one
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
