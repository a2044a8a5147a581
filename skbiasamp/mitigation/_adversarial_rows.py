"""The rows of an `AdversarialClassifier`: in memory, or read from a Dataset batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError
from skbiasamp._utils.compat import check_sample_weight, take_rows
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers.networks import check_total, distinct_inputs, import_torch
from skbiasamp.attackers.validation import codes_in
from skbiasamp.compose.sensitive import SensitiveColumns, names_columns
from skbiasamp.mitigation._pairs import (
    checked_data,
    input_errors,
    read_groups,
    read_pairs,
)

_AT_ONCE = 4096  # rows of features whose outputs are computed together
# What a DataLoader says of how rows are read. Which rows are in a batch is not its choice.
_HOW = (
    *("num_workers", "prefetch_factor", "worker_init_fn", "multiprocessing_context", "timeout"),
    *("collate_fn", "pin_memory"),
)


def is_stream(X: Any) -> bool:
    """Return whether X is a Dataset or a DataLoader of torch."""
    if "torch" not in sys.modules:
        return False
    utils = import_torch().utils.data
    return isinstance(X, utils.Dataset | utils.DataLoader)


class Stream:
    """The rows of a Dataset or a DataLoader of torch, read in batches of any rows."""

    def __init__(self, X: Any, seed: int = 0) -> None:
        torch = import_torch()
        utils = torch.utils.data
        loader = isinstance(X, utils.DataLoader)
        self.dataset = X.dataset if loader else X
        self.how = {name: getattr(X, name) for name in _HOW} if loader else {}
        # Without a generator of its own, a loader draws from torch's random numbers.
        self.generator = torch.Generator().manual_seed(seed)
        if isinstance(self.dataset, utils.IterableDataset) or not hasattr(self.dataset, "__len__"):
            raise InputError(
                "{X} is an iterable Dataset, and batches need rows by their number. Pass a Dataset "
                "with __len__ and __getitem__."
            )
        if not len(self.dataset):
            raise InputError("{X} is a Dataset without rows. Pass one row or more.")
        self.shape = (len(self.dataset), *next(self.inputs([np.zeros(1, int)])).shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Array) -> Stream:
        """Return the stream with only some rows."""
        if len(rows) == len(self):
            return self
        taken = copy(self)
        taken.dataset = import_torch().utils.data.Subset(self.dataset, rows.tolist())
        taken.shape = (len(rows), *self.shape[1:])
        return taken

    def _parts(self, batches: Sequence[Any]) -> Any:
        rows = [batch.tolist() for batch in batches]
        how: dict[str, Any] = {"batch_sampler": rows, "generator": self.generator, **self.how}
        return import_torch().utils.data.DataLoader(self.dataset, **how)

    def inputs(self, batches: Sequence[Any]) -> Iterator[Any]:
        """Yield the inputs of batches of rows."""
        torch = import_torch()
        for rows, part in zip(batches, self._parts(batches), strict=True):
            batch = part[0] if isinstance(part, list | tuple) and part else part
            if not isinstance(batch, torch.Tensor) or batch.ndim < 2 or len(batch) != len(rows):
                raise InputError(
                    "{X} is a Dataset that gave a {kind} of shape {shape} for a batch of {n} rows. "
                    "Its rows must be x, (x, y) or (x, y, sensitive), with a tensor or an array x.",
                    kind=type(batch).__name__,
                    shape=tuple(getattr(batch, "shape", ())),
                    n=len(rows),
                )
            yield batch

    def labels(self, batch_size: int) -> list[Array]:
        """Return what rows hold beside their inputs: labels, or labels and sensitive features.

        All rows are read once for it.
        """
        columns: dict[int, list[Any]] = {}
        for part in self._parts(consecutive(len(self), batch_size)):
            for i, column in enumerate(part[1:] if isinstance(part, list | tuple) else ()):
                # No arrays, see `outputs_of`.
                columns.setdefault(i, []).extend(np.asarray(column).tolist())
        return [np.array(column) for column in columns.values()]


def consecutive(n_rows: int, batch_size: int) -> list[Array]:
    """Return all rows in their order, in batches of about the same size."""
    return np.array_split(np.arange(n_rows), -(-n_rows // batch_size))


def read_batches(inputs: Any, batches: Sequence[Any], *, dtype: Any, device: Any) -> Iterator[Any]:
    """Yield batches of rows in tensors on a device, whether inputs are in memory or a stream."""
    if isinstance(inputs, Stream):
        parts = inputs.inputs(batches)
    else:
        parts = (import_torch().as_tensor(inputs[rows]) for rows in batches)
    return (part.to(device, dtype) for part in parts)


def parts_of(inputs: Array | Stream, batch_size: int, *, dtype: Any, device: Any) -> Iterator[Any]:
    """Yield all rows in their order, in tensors on a device."""
    # Features are small: with more at once they are done sooner.
    size = batch_size if len(inputs.shape) > 2 else max(batch_size, _AT_ONCE)
    return read_batches(inputs, consecutive(len(inputs), size), dtype=dtype, device=device)


# --------------------------------------------------------------------------- rows to learn from


class TrainingRows:
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    In memory equal rows are one; the rows of a `Stream` are not compared. `group` holds codes of
    `n_groups` groups, or is None.
    """

    def __init__(
        self,
        inputs: Array | Stream,
        target: Array,
        codes: Array | None,
        n_groups: int,
        weight: Array,
        device: Any,
    ) -> None:
        torch, n = import_torch(), len(inputs)
        total, first = weight, np.arange(n)
        self.inputs: Any = inputs
        if not isinstance(inputs, Stream):
            columns = [inputs.reshape(n, -1), target.reshape(n, -1)]
            columns += [] if codes is None else [codes.reshape(n, 1)]
            code = distinct_inputs(np.hstack(columns).astype(np.float32))[1]
            first, total = np.unique(code, return_index=True)[1], np.bincount(code, weight)
            self.inputs = torch.tensor(inputs[first] + np.float32(0), device=device)
        self.target = torch.as_tensor(target[first], device=device)
        self.codes = None if codes is None else codes[first]
        self.group: Any = None if codes is None else torch.as_tensor(self.codes, device=device)
        self.n_groups, self.weight = n_groups, total / total.sum()
        whole = bool((weight == np.rint(weight)).all())
        self.n_rows = int(total.sum()) if whole else n

    def balanced(self, *, within_classes: bool) -> Array:
        """Return factors of the weights with which all groups weigh the same."""
        assert self.codes is not None
        stratum = self.target.cpu().numpy() if within_classes else np.zeros_like(self.codes)
        cell = stratum * self.n_groups + self.codes
        share = np.bincount(cell, self.weight)[cell]
        return np.bincount(stratum, self.weight)[stratum] / (self.n_groups * share)

    def tensor(self, numbers: Array) -> Any:
        """Return numbers as a tensor on the device of these rows."""
        torch = import_torch()
        return torch.as_tensor(numbers, dtype=torch.float32, device=self.target.device)

    def loaded(self, batches: Iterable[tuple[Array, Array]]) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the inputs, the rows and the weights of batches, which are rows and weights."""
        torch, drawn, device = import_torch(), list(batches), self.target.device
        how = {"dtype": torch.float32, "device": device}
        parts = read_batches(self.inputs, [rows for rows, _ in drawn], **how)
        for part, (rows, weight) in zip(parts, drawn, strict=True):
            yield part, torch.as_tensor(rows, device=device), self.tensor(weight)


# --------------------------------------------------------------------------- reading


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
            check_total(float(weight.sum()))
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
        inputs, weight = inputs[rows], weight[rows]
        return TrainingRows(inputs, target, group, len(self.groups_), weight, device)

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
        names, target, one_label = read_classes(y)
        if one_label != self._one_label or not (one_label or len(names) == len(self.classes_)):
            raise InputError(
                "{validation} must have labels of the same columns as {y}; got shape {shape}.",
                shape=y.shape,
            )
        if one_label:
            target = codes_in(self.classes_, names, np.ones(len(names), bool), "validation")[target]
        group = None if attribute is None else read_groups(attribute, len(y), self.groups_)
        if group is not None and self.balance == "class":
            read_members(self.classes_[target], attribute, within_classes=True)
        weight = np.ones(len(target))
        return TrainingRows(inputs, target, group, len(self.groups_), weight, device)

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
            features = self._hide(X) if reset else self._features(X)
            least = 2 if hides else 1  # a row of each group
            how = {"multi_output": True, "ensure_min_samples": least, "reset": reset}
            with self._noting(X):
                inputs, y = self._numbers(features, y, **how)
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

    def _numbers(self, features: Any, *y: Any, **how: Any) -> Any:
        """Return what scikit-learn reads; images need a network that takes them."""
        allow_nd = self.module is not None
        return checked_data(self, features, *y, dtype=np.float32, allow_nd=allow_nd, **how)

    def _rows(self, X: Any) -> Any:
        """Return rows to predict: numbers, or a stream."""
        stream = is_stream(X)
        inputs = self._stream(X) if stream else self._numbers(self._features(X), reset=False)
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
