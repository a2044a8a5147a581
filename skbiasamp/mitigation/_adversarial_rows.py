"""The rows of an `AdversarialClassifier`: in memory, or read from a Dataset batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp.attackers.networks import distinct_inputs
from skbiasamp.attackers.optional_torch import import_torch

_AT_ONCE = 4096  # rows of features whose outputs are computed together
# What a DataLoader says of how rows are read. Which rows are in a batch is not its choice.
_HOW = (
    *("num_workers", "prefetch_factor", "worker_init_fn", "multiprocessing_context", "timeout"),
    *("collate_fn", "pin_memory"),
)
_ROWS = "Its rows must be x, (x, y) or (x, y, sensitive), with a tensor or an array x."


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
        self.shape = (len(self.dataset), *next(self.inputs([[0]])).shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Array) -> Stream:
        """Return the stream with only some rows."""
        if len(rows) == len(self):
            return self
        taken = object.__new__(Stream)
        taken.__dict__ |= self.__dict__
        taken.dataset = import_torch().utils.data.Subset(self.dataset, rows.tolist())
        taken.shape = (len(rows), *self.shape[1:])
        return taken

    def _parts(self, batches: Sequence[Sequence[int]]) -> Iterator[Any]:
        loader = import_torch().utils.data.DataLoader
        how: dict[str, Any] = {"batch_sampler": batches, "generator": self.generator, **self.how}
        return iter(loader(self.dataset, **how))

    def inputs(self, batches: Sequence[Sequence[int]]) -> Iterator[Any]:
        """Yield the inputs of batches of rows."""
        torch = import_torch()
        for rows, part in zip(batches, self._parts(batches), strict=True):
            batch = part[0] if isinstance(part, list | tuple) and part else part
            if not isinstance(batch, torch.Tensor) or batch.ndim < 2 or len(batch) != len(rows):
                kind = type(batch).__name__
                if isinstance(batch, torch.Tensor):
                    kind += f" of shape {tuple(batch.shape)}"
                raise InputError(
                    "{X} is a Dataset that gave a {kind} for a batch of {n} rows. " + _ROWS,
                    kind=kind,
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


def consecutive(n_rows: int, batch_size: int) -> list[list[int]]:
    """Return all rows in their order, in batches of about the same size."""
    n_batches = -(-n_rows // batch_size)
    return [part.tolist() for part in np.array_split(np.arange(n_rows), n_batches)]


def parts_of(inputs: Array | Stream, batch_size: int, *, dtype: Any, device: Any) -> Iterator[Any]:
    """Yield all rows in their order, in tensors on a device."""
    torch = import_torch()
    # Features are small: with more at once they are done sooner.
    size = batch_size if len(inputs.shape) > 2 else max(batch_size, _AT_ONCE)
    batches = consecutive(len(inputs), size)
    if isinstance(inputs, Stream):
        for part in inputs.inputs(batches):
            yield part.to(device, dtype)
    else:
        for rows in batches:
            yield torch.tensor(inputs[rows[0] : rows[-1] + 1], dtype=dtype, device=device)


# --------------------------------------------------------------------------- rows to learn from


class TrainingRows(NamedTuple):
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    `inputs` is a tensor or a `Stream`, whose rows are not compared, and `target` is a tensor;
    `group` holds codes of `n_groups` groups, or is None.
    """

    inputs: Any
    target: Any
    group: Array | None
    n_groups: int
    weight: Array
    n_rows: int

    def balanced(self, *, within_classes: bool) -> Array:
        """Return factors of the weights with which all groups weigh the same."""
        assert self.group is not None
        stratum = self.target.cpu().numpy() if within_classes else np.zeros(len(self.group), int)
        cell = stratum * self.n_groups + self.group
        share = np.bincount(cell, self.weight)[cell]
        return np.bincount(stratum, self.weight)[stratum] / (self.n_groups * share)

    def first(self, n: int) -> Any:
        """Return the inputs of the first rows."""
        return next(self.loaded([(slice(n), None)]))[0]

    def loaded(self, batches: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the inputs, the rows and the weights of batches, which are rows and weights."""
        if not isinstance(self.inputs, Stream):
            for index, weight in batches:
                yield self.inputs[index], index, weight
            return
        drawn, every = list(batches), np.arange(len(self.weight))
        rows = [every[i].tolist() if isinstance(i, slice) else i.tolist() for i, _ in drawn]
        for part, (index, weight) in zip(self.inputs.inputs(rows), drawn, strict=True):
            yield part.to(self.target.device, import_torch().float32), index, weight


def training_rows(
    inputs: Array | Stream,
    target: Array,
    group: Array | None,
    n_groups: int,
    weight: Array,
    device: Any,
) -> TrainingRows:
    """Return the rows with a weight: in memory the distinct rows of inputs, labels and group."""
    torch = import_torch()
    distinct: Any
    if isinstance(inputs, Stream):
        total, distinct, first = weight, inputs, np.arange(len(weight))
    else:
        n = len(inputs)
        columns = [inputs.reshape(n, -1), target.reshape(n, -1)]
        columns += [] if group is None else [group.reshape(n, 1)]
        table, code = distinct_inputs(np.hstack(columns).astype(np.float32))
        first = np.unique(code, return_index=True)[1]
        total = np.bincount(code, weight)
        table = table[:, : columns[0].shape[1]].reshape(-1, *inputs.shape[1:])
        distinct = torch.tensor(table, device=device)
    whole = bool((weight == np.rint(weight)).all())
    return TrainingRows(
        distinct,
        torch.as_tensor(target[first], device=device),
        None if group is None else group[first],
        n_groups,
        total / total.sum(),
        int(total.sum()) if whole else len(inputs),
    )
