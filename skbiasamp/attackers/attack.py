"""One attack over the cells of a contingency: its input and target, and how well it predicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._input.checks import Array, Names, check_call
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.labels import Codes, Labels, Members, Side, codes_of, narrow, ranked
from skbiasamp._utils.compat import check_sample_weight
from skbiasamp.counts.cells import positive_position, side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.draws import MANY_CELLS
from skbiasamp.counts.pair_sums import everywhere, pair_sums
from skbiasamp.counts.parts import decided

# At most so many 0/1 labels are held as all their patterns, so that flips move counts.
MOST_BITS = 12
# Tables of fewer inputs x classes x cells are one dense product.
SMALL = 1 << 12
# A logistic attacker learns from so many means of neighbouring scores at most.
MOST_MEANS = 10_000
_ROUNDING = 1e-9  # of sums of probabilities
# Qualities of probabilities, not of predicted classes.
OF_PROBABILITIES = ("confidence", "inverse_log_loss")
# Qualities that add up over rows, class by class.
ADDITIVE = ("accuracy", "balanced_accuracy", "confidence")
QUALITIES = (*ADDITIVE, "f1", "inverse_rmse", "inverse_log_loss")
# Probabilities of 0 and 1 have no finite logarithm.
TINY = float(np.finfo(float).eps)
Quality = str | Callable[..., float]


class ExactAttacker(ClassifierMixin, BaseEstimator):
    """Table of the most frequent class of each input: the best attacker if inputs take few values.

    On the rows it was fitted on, no classifier is more accurate. An input without training rows
    gets the most frequent class of all rows.

    .. versionadded:: 0.1

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    table_ : ndarray of shape (n_inputs, n_classes)
        Sum of the weights of each distinct input and class.
    inputs_ : ndarray of shape (n_inputs, n_features)
        The distinct inputs, in sorted order.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    MLPAttacker : Small neural networks, for inputs of many values.

    Examples
    --------
    >>> from skbiasamp.attackers import ExactAttacker
    >>> attacker = ExactAttacker().fit([[0], [0], [0], [1]], ["no", "no", "yes", "yes"])
    >>> attacker.predict([[0], [1], [7]])
    array(['no', 'yes', 'no'], dtype='<U3')
    >>> attacker.predict_proba([[0]]).round(2)
    array([[0.67, 0.33]])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the classes of each distinct input.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with many rows for each distinct one.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; 0 leaves a row out. By default every row weighs 1.

        Returns
        -------
        self : object
        """
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if np.iscomplexobj(weight):
            raise InputError("{sample_weight} must hold real numbers; got complex ones.")
        if not weight.any():  # scikit-learn checks this since 1.8
            raise ValueError("Sample weights must contain at least one non-zero number.")
        self.classes_ = unique_labels(y)  # refuses a mix of types, which cannot be sorted
        target = np.searchsorted(self.classes_, y)
        self.inputs_, row = np.unique(X, axis=0, return_inverse=True)
        self.table_ = np.zeros((len(self.inputs_), len(self.classes_)))
        np.add.at(self.table_, (row.reshape(-1), target), weight)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class among the training rows with the same input."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        n = len(self.inputs_)
        # Coded together with the training inputs: equal rows are equal whatever their type.
        _, code = np.unique(np.vstack([self.inputs_, X]), axis=0, return_inverse=True)
        code = code.reshape(-1)
        table = np.zeros((code.max() + 1, len(self.classes_)))
        table[code[:n]] = self.table_
        # Inputs that are new, or have no weight, get the shares of all rows.
        table[table.sum(axis=1) == 0] = self.table_.sum(axis=0)
        return (table / table.sum(axis=1, keepdims=True))[code[n:]]

    def predict(self, X: Any) -> Array:
        """Return the most frequent class for each row of X; of equally frequent ones the first."""
        # Called first: before fit it raises NotFittedError, and classes_ does not exist.
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


@dataclass(frozen=True)
class Settings:
    """How attackers are trained and scored: the parameters of auditors of the same names."""

    attacker: Any
    quality: Quality
    equalize: str | None = None
    balanced: bool = False
    cv: int | None = 5
    n_draws: int = 10
    fold: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    holdout: bool = False
    at: float | None = None

    def __post_init__(self) -> None:
        # Small integers of NumPy overflow in products.
        object.__setattr__(self, "n_draws", int(self.n_draws))
        object.__setattr__(self, "cv", None if self.cv is None else int(self.cv))


class Inputs(NamedTuple):
    """Texts or features that an attacker reads in place of the classes of its input.

    `patterns` are the distinct texts, the counts of their words, or the distinct features;
    `of_class` says which of them each class is.
    """

    patterns: Any
    of_class: Array
    texts: Any = None


class InputAndTarget(NamedTuple):
    """Which labels are an attacker's input, and which are its target."""

    input: SideName
    target: SideName


@dataclass(frozen=True, eq=False)
class Attack:
    """The input and the target of an attacker, in every cell.

    Attributes
    ----------
    cells : the rows that attackers are scored on.
    patterns : the distinct inputs, as numbers or texts; None if inputs are classes.
    n_inputs : number of distinct inputs.
    input_codes : which input each cell has.
    target : the classes of cells, for all targets; or numbers.
    n_classes : of each target; 0 for numbers.
    names : of the targets.
    n_bits : of how many 0/1 labels `patterns` holds all patterns; 0 if it does not.
    soft : whether inputs are scores.
    texts : the distinct inputs as texts, if they are some.
    training : the same attack on training rows, if attackers learn there.
    validation : the same attack on the rows on which attackers choose their epoch, if any.
    """

    cells: Contingency
    patterns: Array | None
    n_inputs: int
    input_codes: Array
    target: Labels | Array
    n_classes: int
    names: Names
    n_bits: int = 0
    soft: bool = False
    texts: Array | None = None
    training: Attack | None = None
    validation: Attack | None = None

    @property
    def by_rows(self) -> bool:
        """Whether attackers learn from rows as they are, since vectorizers count rows."""
        return self.texts is not None and self.cells.whole

    @property
    def of_maps(self) -> bool:
        """Whether inputs have more than two dimensions, such as images."""
        return self.patterns is not None and self.patterns.ndim > 2

    @property
    def few(self) -> bool:
        """Whether tables are so small that every block of rows can have one."""
        return len(self.names) * self.n_inputs * self.n_classes < SMALL

    @cached_property
    def rows_per_input(self) -> float:
        """Number of rows of each distinct input, on average."""
        n_inputs = self.n_inputs
        if not self.n_bits:
            n_inputs = int(np.count_nonzero(np.bincount(self.input_codes)))
        return float(self.cells.weight.sum() * self.cells.rows_per_weight) / n_inputs

    @property
    def constant(self) -> Array:
        """Which targets have one value only."""
        if not self.n_classes:
            return np.array([np.ptp(np.asarray(self.target)) == 0])
        table = self.tables(self.cells.weight).sum(axis=-2)
        return np.asarray((table > 0).sum(axis=-1) < 2)

    @cached_property
    def inputs(self) -> Any:
        """The distinct inputs, as attackers see them. Exact attackers do without."""
        if self.patterns is not None:
            return self.patterns
        return np.eye(self.n_inputs) if self.n_inputs != 2 else np.arange(2.0)[:, None]

    @cached_property
    def of_rows(self) -> Any:
        """The input of each cell."""
        return self.inputs[self.input_codes]

    @cached_property
    def of_classes(self) -> Any:
        """Every input once for each class, which networks that share inputs can share."""
        return self.inputs[np.repeat(np.arange(self.n_inputs), self.n_classes)]

    def tables(self, weight: Any) -> Array:
        """Return the weight of each input and class: (..., targets, inputs, classes)."""
        assert isinstance(self.target, Codes | Members)
        flat = weight.reshape(-1, weight.shape[-1])
        inputs = Codes(self.input_codes, self.n_inputs)
        if isinstance(self.target, Codes):
            sums = pair_sums(inputs, self.target, flat)[:, None]
        else:
            present = pair_sums(inputs, self.target, flat)
            absent = pair_sums(inputs, everywhere(len(self.input_codes)), flat) - present
            sums = np.moveaxis(np.stack([absent, present], axis=-1), 2, 1)
        return sums.reshape(*weight.shape[:-1], *sums.shape[1:])


def of_means(attack: Attack) -> Attack:
    """Return the attack on means of neighbouring scores, if one number says all scores of a row.

    That is one column, or the probabilities of two classes. Every mean is of as many distinct
    scores.
    """
    scores, n = attack.patterns, attack.n_inputs
    if scores is None or not attack.soft or not attack.n_classes or n <= MANY_CELLS:
        return attack
    if scores.shape[1] > 1 and (scores.shape[1] > 2 or np.ptp(scores.sum(axis=1)) > _ROUNDING):
        return attack
    mean_of = np.arange(n) * MOST_MEANS // n
    parts = [part for part in (attack, attack.training) if part is not None]
    weight = sum(np.bincount(part.input_codes, part.cells.weight, n) for part in parts)
    sums = np.stack([np.bincount(mean_of, weight * column) for column in scores.T], axis=1)
    patterns = sums / np.bincount(mean_of, weight)[:, None]
    codes = narrow(mean_of, MOST_MEANS)
    attack, *training = (
        replace(part, patterns=patterns, n_inputs=MOST_MEANS, input_codes=codes[part.input_codes])
        for part in parts
    )
    return replace(attack, training=training[0] if training else None)


def check_dimensions(attack: Attack, attacker: Any, name: str) -> None:
    """Raise if inputs of more than two dimensions, called `name`, need another attacker."""
    if attack.of_maps and isinstance(attacker, str) and attacker != "exact":
        assert attack.patterns is not None
        text = (
            "{name} has {n} dimensions, and attacker={attacker!r} takes two. Pass an estimator "
            "that takes all of them, such as a skorch net, or flatten the rows: "
            "{name}.reshape(len({name}), -1)."
        )
        raise InputError(text, name=name, n=attack.patterns.ndim, attacker=attacker)


def make_attack(
    cells: Contingency,
    sides: InputAndTarget,
    *,
    perturbed: bool = False,
    train: Contingency | None = None,
    validation: Contingency | None = None,
    numbers: bool = False,
    read: Inputs | None = None,
) -> Attack:
    """Return the attack that predicts one side of cells from another.

    `perturbed` says that the input will be perturbed. With `numbers` the target is taken as
    numbers, whatever it looks like. `read` holds what attackers see of the classes of the input.
    """
    parts = {"cells": cells, "training": train, "validation": validation}
    given = {name: part for name, part in parts.items() if part is not None}
    inputs = [side_of(part, sides.input) for part in given.values()]
    texts, n_bits = None, 0
    soft = inputs[0].soft
    if read is None:
        patterns, codes, n_bits = _inputs(inputs, perturbed=perturbed)
    else:
        patterns, texts, soft = read.patterns, read.texts, read.texts is None
        codes = [read.of_class[codes_of(side)] for side in inputs]
    n_inputs = len(inputs[0].names) if patterns is None else patterns.shape[0]
    attacks: dict[str, Any] = {}
    for (name, part), code in zip(given.items(), codes, strict=True):
        target = _target(part, sides.target, numbers=numbers)
        attacks[name] = Attack(part, patterns, n_inputs, code, *target, n_bits, soft, texts)
    return replace(attacks.pop("cells"), **attacks)


def _inputs(sides: list[Side], *, perturbed: bool) -> tuple[Array | None, list[Array], int]:
    """Return the patterns of inputs, which of them each cell has, and their number of bits."""
    first = sides[0]
    if not first.is_matrix:
        return first.inputs, [codes_of(side) for side in sides], 0
    matrices = [side.labels.matrix for side in sides if isinstance(side.labels, Members)]
    rows, n_bits = matrices[0] if len(matrices) == 1 else np.concatenate(matrices), 0
    if perturbed and not first.soft and rows.shape[1] <= MOST_BITS:
        n_bits = rows.shape[1]
        powers = 1 << np.arange(n_bits)
        inputs = np.arange(1 << n_bits)[:, None] & powers > 0
        joined = rows @ powers
    elif perturbed:  # each row has its own perturbation
        inputs, joined = rows, np.arange(len(rows))
    elif first.soft and rows.shape[1] == 1:  # numbers sort faster than rows
        first_of, joined = ranked(rows[:, 0])
        inputs = rows[first_of]
    elif first.soft:
        inputs, joined = np.unique(rows, axis=0, return_inverse=True)
    else:  # the labels of one side keep their patterns
        labels = first.labels if len(sides) == 1 else Members(rows)
        inputs, joined = labels.patterns()
    ends = np.cumsum([len(matrix) for matrix in matrices])
    return inputs.astype(float), np.split(joined.reshape(-1), ends[:-1]), n_bits


def _target(
    cells: Contingency, name: SideName, *, numbers: bool
) -> tuple[Labels | Array, int, Names]:
    """Return the target of each cell, its number of classes, and the names of the targets."""
    role = truth_of(name)
    side, truth = side_of(cells, name), side_of(cells, role)
    if numbers or truth.soft:
        return number_of_cells(side), 0, (role,)
    side = hard(side, truth, positive_position(cells, role))
    if not side.is_matrix:
        return side.labels, len(side.names), ("(all)",)
    return side.labels, 2, cells.tasks if role == "task" else cells.groups


def truth_of(side: SideName) -> SideName:
    """Return the labels that a side is, or predicts."""
    return "task" if side.startswith("task") else "group"


def hard(side: Side, truth: Side, positive: int | None = 1) -> Side:
    """Return predictions as labels of the same kind as the truth.

    `positive` is the position of the class that a single column of scores is about.
    """
    if truth.soft or not side.is_matrix or (truth.is_matrix and not side.soft):
        return side
    return decided(side, classes=not truth.is_matrix, positive=positive)


def number_of_cells(side: Side) -> Array:
    """Return labels as one number a cell."""
    if side.is_matrix:
        if side.labels.width > 1:
            raise InputError(
                "quality='inverse_rmse' is about one number a row, and there are {n} columns: "
                "pass one of them, or use another quality.",
                n=side.labels.width,
            )
        return side.labels.column(0)
    if any(isinstance(name, str | tuple) for name in side.names):
        raise InputError(
            "quality='inverse_rmse' is about numbers, and the labels are {seen!r}, ...: use "
            "quality='accuracy'.",
            seen=side.names[0],
        )
    return np.array([float(name) for name in side.names])[codes_of(side)]  # type: ignore[arg-type]


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

    Tables are (..., inputs, classes): the weight of each class, and the share of it that is
    predicted. No table of true by predicted classes is needed, which would make the cost quadratic
    in groups. Leading axes are draws and targets.

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
