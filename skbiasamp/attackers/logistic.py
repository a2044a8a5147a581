"""Logistic regressions of the same rows with many weights, fitted side by side.

scikit-learn takes milliseconds to begin with each of them. The optimum is that of its
`LogisticRegression`, which stops a little earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from skbiasamp._input.checks import Array

# Numbers held at once: fits × rows × classes, and rows × features².
_HELD = 1 << 20
_MOST_STEPS = 50


def is_plain(attacker: Any) -> bool:
    """Whether an estimator is a logistic regression by default, of scaled inputs or not."""
    # Imported here, since most audits need none of them.
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    *before, last = getattr(attacker, "named_steps", {"": attacker}).values()
    return (
        type(last) is LogisticRegression
        and last.get_params() | {"max_iter": 100} == LogisticRegression().get_params()
        and [type(step) for step in before] in ([], [StandardScaler])
        and all(step.get_params() == StandardScaler().get_params() for step in before)
    )


def is_small(inputs: Any, n_classes: int) -> bool:
    """Whether inputs are rows of numbers, and all products of features can be held."""
    if not isinstance(inputs, np.ndarray) or inputs.ndim != 2 or inputs.dtype.kind not in "biuf":
        return False
    n_rows, n_features = inputs.shape
    return n_rows * max((n_features + 1) ** 2, n_classes) <= _HELD


def predictions_of_many(
    inputs: Array,
    codes: Sequence[Array],
    weights: Sequence[Array],
    query: Array,
    n_classes: int,
    *,
    scaled: bool,
) -> Array:
    """Return the probabilities that each fit predicts: fits × queries × classes.

    `codes` and `weights` are those of each fit; each class has a weight in each. `scaled`: each fit
    standardises the inputs by the rows that it has.
    """
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    design, asked = (
        np.column_stack([(rows - centre) / spread, np.ones(len(rows))]) for rows in (inputs, query)
    )
    size = max(1, _HELD // (len(inputs) * n_classes))
    predicted = np.empty((len(weights), len(query), n_classes))
    for low in range(0, len(weights), size):
        some = slice(low, low + size)
        weight = np.stack(weights[some])
        ridge = np.zeros((len(weight), design.shape[1]))
        ridge[:, :-1] = _spread_within(design[:, :-1], weight) ** 2 if scaled else spread**-2
        coef = _optimum(design, np.stack(codes[some]), weight, ridge, n_classes)
        predicted[some] = special.softmax(_logits(coef, asked, n_classes), axis=1).swapaxes(1, 2)
    return predicted


def _spread_within(features: Array, weights: Array) -> Array:
    """Return the standard deviation of each feature in the rows of each fit; 1 in place of 0."""
    used = (weights > 0).astype(float)
    used /= used.sum(axis=1, keepdims=True)
    squares = used @ features**2
    variance = squares - (used @ features) ** 2
    # Rounding leaves a little of a feature that is constant in these rows.
    return np.sqrt(np.where(variance > 1e-13 * squares, variance, 1.0))


def _logits(coef: Array, design: Array, n_classes: int) -> Array:
    """Return fits × classes × rows; of two classes, only the second has coefficients."""
    logits = coef @ design.T
    if n_classes > 2:
        return np.asarray(logits)
    return np.concatenate([np.zeros(logits.shape), logits], axis=1)


def _loss(coef: Array, design: Array, codes: Array, weights: Array, ridge: Array, c: int) -> Array:
    logits = _logits(coef, design, c)
    own = np.take_along_axis(logits, codes[:, None], axis=1)[:, 0]
    lost = weights * (special.logsumexp(logits, axis=1) - own)
    return np.asarray(lost.sum(axis=1) + (ridge[:, None] * coef**2).sum(axis=(1, 2)) / 2)


def _optimum(design: Array, codes: Array, weights: Array, ridge: Array, n_classes: int) -> Array:
    """Return the coefficients of each fit (fits × classes × features), by Newton's method."""
    n_rows, width = design.shape
    n_free = n_classes if n_classes > 2 else 1
    products = (design[:, :, None] * design[:, None]).reshape(n_rows, -1)
    coef = np.zeros((len(codes), n_free, width))
    active = np.arange(len(codes))
    for _ in range(_MOST_STEPS):
        code, weight, penalty = codes[active], weights[active], ridge[active]
        probability = special.softmax(_logits(coef[active], design, n_classes), axis=1)
        is_class = code[:, None] == np.arange(n_classes)[:, None]
        away = weight[:, None] * (probability - is_class)
        gradient = away[:, -n_free:] @ design + penalty[:, None] * coef[active]
        del away, is_class  # arrays of fits × classes × rows are large
        free = probability[:, -n_free:]
        shape = len(active), n_free, width, n_free, width
        curvature = np.zeros(shape)
        for i in range(n_free):
            for j in range(n_free):
                spread = weight * free[:, i] * ((i == j) - free[:, j])
                curvature[:, i, :, j] = (spread @ products).reshape(-1, width, width)
            curvature[:, i, np.arange(width), i, np.arange(width)] += penalty
        del probability, free, spread
        if n_free > 1:  # a number added to all intercepts changes nothing
            curvature[:, :, -1, :, -1] += 1.0
        flat = n_free * width
        square = curvature.reshape(-1, flat, flat)
        # Where classes are apart, the loss is flat: a step of any length would do.
        diagonal = np.arange(flat)
        square[:, diagonal, diagonal] += 1e-10 * square[:, diagonal, diagonal] + 1e-12
        step = np.linalg.solve(square, gradient.reshape(-1, flat, 1))
        step = step.reshape(gradient.shape)
        decrease = (gradient * step).sum(axis=(1, 2))
        before = _loss(coef[active], design, code, weight, penalty, n_classes)
        length = np.ones(len(active))
        for _ in range(30):
            tried = coef[active] - length[:, None, None] * step
            worse = (
                _loss(tried, design, code, weight, penalty, n_classes)
                > before - 1e-4 * length * decrease + 1e-9
            )
            if not worse.any():
                break
            length[worse] /= 2
        coef[active] = coef[active] - length[:, None, None] * step
        active = active[decrease > 1e-10]
        if not len(active):
            break
    return coef
