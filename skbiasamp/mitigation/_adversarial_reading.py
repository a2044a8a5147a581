"""What an `AdversarialClassifier` reads: features or a Dataset, labels and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError, quote
from skbiasamp._utils.compat import check_sample_weight, take_rows
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers.networks import check_total
from skbiasamp.compose.sensitive import SensitiveColumns, names_columns
from skbiasamp.mitigation._adversarial_rows import Stream, TrainingRows, is_stream, training_rows
from skbiasamp.mitigation._pairs import (
    check_frame,
    checked_data,
    input_errors,
    read_groups,
    read_pairs,
    require_y,
)


class RowsReader(SensitiveColumns):
    """Reads the rows of an `AdversarialClassifier`, in memory or batch by batch."""

    adversary_weight: float
    module: Any
    balance: str
    batch_size: int
    groups_: Names

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, attribute: Any, device: Any, seed: int
    ) -> TrainingRows:
        """Return the rows to learn from; keep their shape, classes and groups."""
        inputs, y, attribute = self._read(X, y, attribute, seed, reset=True)
        weight = check_sample_weight(
            sample_weight, inputs, dtype=np.float64, ensure_non_negative=True
        )
        with np.errstate(over="ignore"):
            check_total(weight.sum())
        rows = np.flatnonzero(weight)
        self.classes_, target, self._one_label = read_classes(y[rows])
        group, self.groups_ = None, ()
        if attribute is not None:
            classes = self.classes_[target] if self._one_label else target
            within_classes = self.balance == "class"
            group, self.groups_ = read_members(
                classes, take_rows(attribute, rows), within_classes=within_classes
            )
        self._shape = inputs.shape[1:]
        inputs = inputs.take(rows) if isinstance(inputs, Stream) else inputs[rows]
        return training_rows(inputs, target, group, len(self.groups_), weight[rows], device)

    def _validation_rows(self, validation: Any, device: Any, seed: int) -> TrainingRows:
        """Return the rows that choose the epoch, with the classes and groups of training rows."""
        given = (validation, None) if is_stream(validation) else validation
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise InputError(
                "{validation} must be (X, y), (X, y, sensitive_features) or a Dataset; got {kind}.",
                kind=type(validation).__name__,
            )
        X, y, attribute = (*given, None)[:3]
        inputs, y, attribute = self._read(X, y, attribute, seed, reset=False)
        self._check_shape(inputs)
        target = known_classes(y, self.classes_, one_label=self._one_label)
        group = None if attribute is None else read_groups(attribute, len(y), self.groups_)
        if group is not None and self.balance == "class":
            read_members(self.classes_[target], attribute, within_classes=True)
        weight = np.ones(len(target))
        return training_rows(inputs, target, group, len(self.groups_), weight, device)

    def _read(
        self, X: Any, y: Any, attribute: Any, seed: int, *, reset: bool
    ) -> tuple[Any, Array, Any]:
        """Return rows, labels and the sensitive feature; the latter is None if none is hidden."""
        hides = self.sensitive is not None or attribute is not None or self.adversary_weight > 0
        hides = hides if reset else bool(self.groups_)
        if is_stream(X):
            inputs, y, attribute = self._read_stream(X, y, attribute, seed, hides=hides)
            hides = hides or (reset and attribute is not None)
        else:
            check_frame(X)
            require_y(self, y)
            features = self._hide(X) if reset else self._features(X)
            with self._noting(X):
                inputs, y = checked_data(
                    self,
                    features,
                    y,
                    dtype=np.float32,
                    multi_output=True,
                    allow_nd=self.module is not None,
                    ensure_min_samples=2 if hides else 1,  # a row of each group
                    reset=reset,
                )
        attribute = self._sensitive(X, attribute, "fit") if hides else None
        if attribute is not None:
            attribute = to_native(attribute, "sensitive_features")
            check_lengths({"X": inputs, "sensitive_features": attribute})
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return inputs, y, attribute

    def _read_stream(
        self, X: Any, y: Any, attribute: Any, seed: int, *, hides: bool
    ) -> tuple[Stream, Array, Any]:
        """Return the rows of a Dataset, and what was not passed from its rows."""
        inputs = self._stream(X, seed)
        self._hide(X)
        from_rows = hides and attribute is None and self.sensitive is None
        if y is None or from_rows:
            columns = inputs.labels(self.batch_size)
            if y is None and not columns:
                raise InputError(
                    "{X} is a Dataset of inputs only, and {y} is None. Pass {y}, or a Dataset of "
                    "rows (x, y, sensitive)."
                )
            y = columns[0] if y is None else y
            if self.sensitive is None and attribute is None and len(columns) > 1:
                attribute = columns[1]
        y = to_native(y, "y")
        check_lengths({"X": inputs, "y": y})
        # As `validate_data` leaves them, so that arrays may be predicted too.
        self.n_features_in_ = inputs.shape[1]
        vars(self).pop("feature_names_in_", None)
        return inputs, np.asarray(y), attribute

    def _stream(self, X: Any, seed: int = 0) -> Stream:
        if names_columns(self.sensitive):
            raise InputError(
                "sensitive={sensitive!r} names columns, and {X} is a Dataset, which has none. Pass "
                "{sensitive_features}, or a Dataset of rows (x, y, sensitive).",
                sensitive=self.sensitive,
            )
        stream = Stream(X, seed)
        if self.module is None and len(stream.shape) > 2:
            raise InputError(
                "{X} has rows of shape {shape}, and the default network takes rows of one "
                "dimension. Pass a {module} that takes them.",
                shape=stream.shape[1:],
            )
        return stream

    def _rows(self, X: Any) -> Any:
        """Return rows to predict: numbers, or a stream."""
        if is_stream(X):
            inputs: Any = self._stream(X)
        else:
            inputs = checked_data(
                self,
                self._features(X),
                dtype=np.float32,
                allow_nd=self.module is not None,
                reset=False,
            )
        self._check_shape(inputs)
        return inputs

    def _check_shape(self, inputs: Any) -> None:
        if inputs.shape[1:] != self._shape:
            raise InputError(
                "{X} has rows of shape {shape}, and fit saw rows of {known}. Pass rows like those "
                "of the training data.",
                shape=inputs.shape[1:],
                known=self._shape,
            )


def read_classes(y: Array) -> tuple[Array, Array, bool]:
    """Return classes or positions of tasks, codes or an indicator matrix, and if it is codes."""
    with input_errors():
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
    if kind == "multilabel-indicator":
        given: Any = y
        target = (given.toarray() if hasattr(y, "toarray") else y).astype(np.float32)
        return np.arange(target.shape[1]), target, False
    if kind not in ("binary", "multiclass"):
        raise InputError(
            "{y} is {kind}: pass one column of classes, or 0/1 columns, one a task.", kind=kind
        )
    classes, target = np.unique(y, return_inverse=True)
    return classes, target.reshape(-1), True


def known_classes(y: Array, classes: Array, *, one_label: bool) -> Array:
    """Return the labels of validation rows as those of training rows."""
    names, target, own = read_classes(y)
    if own != one_label or (not own and len(names) != len(classes)):
        raise InputError(
            "{validation} must have labels of the same columns as {y}; got shape {shape}.",
            shape=y.shape,
        )
    if not one_label:
        return target
    new = [name for name in names.tolist() if name not in classes]
    if new:
        raise InputError(
            "{validation} has {new}, which {y} does not have: leave these rows out.",
            new=quote(new),
        )
    return np.searchsorted(classes, names)[target]


def read_members(y: Array, attribute: Any, *, within_classes: bool) -> tuple[Array, Names]:
    """Return codes and names of groups; warn or raise if a class reveals them."""
    pairs = read_pairs(y, attribute)
    pairs.require_classes()
    if within_classes:
        if not pairs.one_label:
            raise InputError(
                "{balance='class'} balances groups within classes, and {y} is multilabel: pass "
                "{balance='group'}."
            )
        pairs.require_all(
            why="balance='class' weighs groups the same in each class. Leave that class out, "
            "merge groups or classes, or pass balance='group'."
        )
    elif pairs.one_label and (pairs.counts == 0).any():
        a, t = np.argwhere(pairs.counts == 0)[0]
        warn(
            f"There are no rows of group {pairs.groups[a]!r} with class {pairs.tasks[t]!r}: "
            "the class reveals the group, so no network can predict one and hide the other."
        )
    return pairs.group, pairs.groups
