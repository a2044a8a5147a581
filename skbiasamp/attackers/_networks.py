"""Many small networks trained at once: their weights stand side by side in one array.

A network of four hidden units takes longer to call than to compute. Here one call computes a step
of all of them: batched matrix products, one backward pass, one step of Adam, which works number by
number and so keeps networks apart. What a network learns depends on its own rows and seed alone.

Rows that are equal are one row with a weight, so training needs the distinct rows only: repeating
rows, weighting them and sorting them differently are the same to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._labels import Array

ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu", "tanh_relu")
# Of torch.nn.BatchNorm1d.
_EPSILON, _MOMENTUM = 1e-5, 0.1
# Numbers held at once: the weights of networks that are trained together, and what one layer
# gives for the rows that are predicted together.
_HELD = 1 << 24


class Design(NamedTuple):
    """What all networks of a batch have in common."""

    n_inputs: int
    hidden: tuple[int, ...]
    n_outputs: int
    activation: str
    batch_norm: bool
    classifies: bool
    learning_rate: float
    weight_decay: float
    batch_size: int
    max_epochs: int

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.n_inputs, *self.hidden, self.n_outputs)

    @property
    def n_weights(self) -> int:
        return sum((before + 1) * after for before, after in pairwise(self.widths))


class Cells(NamedTuple):
    """The distinct rows that one network learns from, in a fixed order.

    `inputs` says which distinct input a row has, `target` its class, or the mean of its numbers;
    weights sum to 1. `spread` is the variance of numbers around the means.
    """

    inputs: Array
    target: Array
    weight: Array
    spread: float = 0.0


class Lesson(NamedTuple):
    """What one network learns from: so many rows behind its cells, and cells to be judged on."""

    cells: Cells
    n_rows: int
    seed: np.random.SeedSequence
    judged: Cells | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """What training left, an entry a network.

    Attributes
    ----------
    tensors : arrays of weights by name, (networks, ...) each
    loss : mean loss of each epoch's steps, (networks, epochs)
    judged : loss on the rows to be judged on after each epoch, or None
    n_epochs : epochs behind the weights, (networks,)
    """

    tensors: dict[str, Array]
    loss: Array
    judged: Array | None
    n_epochs: Array


def import_torch(who: str = "MLPAttacker") -> Any:
    """Return torch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{who} needs torch: pip install 'skbiasamp[torch]'") from error
    return torch


def find_device(asked: str, *, needed: bool) -> Any:
    """Return the torch device; where no GPU is `needed`, the CPU takes its place."""
    torch = import_torch()
    if asked == "cpu" or (not torch.cuda.is_available() and not (needed and asked == "cuda")):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ValueError(
            "device='cuda' needs a GPU that torch can use, and torch sees none. Pass "
            "device='auto' to take one only where there is one."
        )
    return torch.device("cuda")


# --------------------------------------------------------------------------- rows


def distinct(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows of float32 numbers, and which of them each row is."""
    # As bytes, which sort faster than columns; adding 0 makes −0 and 0 the same bytes.
    rows = np.ascontiguousarray(rows + np.float32(0))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    _, first, code = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], code.reshape(-1)


def count_cells(index: Array, target: Array, weight: Array) -> Cells:
    """Add up the weights of equal rows."""
    values, code = np.unique(target, return_inverse=True)
    cell, where = np.unique(index * len(values) + code, return_inverse=True)
    # Added before anything is divided: repeated rows stay exactly weighted rows.
    total = np.bincount(where, weight)
    return Cells(cell // len(values), values[cell % len(values)], total / total.sum())


def average(cells: Cells) -> Cells:
    """Return equal inputs as one, with the mean of their numbers: squares lose but a constant."""
    inputs, where = np.unique(cells.inputs, return_inverse=True)
    weight = np.bincount(where, cells.weight)
    mean = np.bincount(where, cells.weight * cells.target) / weight
    spread = cells.weight @ (cells.target - mean[where]) ** 2
    return Cells(inputs, mean, weight, float(spread))


def hold_out(
    cells: Cells, n_rows: int, share: float, rng: np.random.Generator
) -> tuple[Cells, Cells, int]:
    """Split rows at random: what to learn from, what to be judged on, rows behind the former.

    Cells are split, not dealt out whole: equal rows can go either way, as rows do.
    """
    if n_rows < 2:
        raise ValueError("early_stopping=True holds out rows, and there is only one.")
    n_out = min(ceil(share * n_rows), n_rows - 1)
    drawn = _draw(cells, n_rows, rng)
    times, out = (np.bincount(rows, minlength=len(cells.weight)) for rows in (drawn, drawn[:n_out]))
    part = out / np.maximum(times, 1)
    split = []
    for weight in (cells.weight * (1 - part), cells.weight * part):
        held = weight > 0
        total = weight[held] / weight.sum()
        split.append(Cells(cells.inputs[held], cells.target[held], total))
    return split[0], split[1], n_rows - n_out


def _draw(cells: Cells, n: int, rng: np.random.Generator) -> Array:
    """Return n rows in random order, each as often as its weight says, up to rounding.

    Rows of equal weight that number n come once each: an epoch of ordinary training.
    """
    ends = np.floor(np.cumsum(cells.weight) * n + rng.random()).astype(np.intp)
    ends[-1] = n
    drawn = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    rng.shuffle(drawn)
    return drawn


class _Rows(NamedTuple):
    """Rows of several networks side by side, those with fewer filled up with rows of no weight.

    Arrays are (networks, rows), targets and weights (networks, rows, outputs): the target is the
    weight of each class, or a number beside its weight.
    """

    inputs: Any
    target: Any
    weight: Any

    def columns(self, part: slice) -> _Rows:
        return _Rows(self.inputs[:, part], self.target[:, part], self.weight[:, part])


def _side_by_side(every: Sequence[Cells], design: Design) -> _Rows:
    held = [np.unique(cells.inputs, return_inverse=True) for cells in every]
    shape = (len(every), max(len(inputs) for inputs, _ in held))
    index = np.zeros(shape, dtype=np.int64)
    target = np.zeros((*shape, design.n_outputs))
    weight = np.zeros((*shape, 1))
    for i, (cells, (inputs, where)) in enumerate(zip(every, held, strict=True)):
        index[i, : len(inputs)] = inputs
        weight[i, : len(inputs), 0] = np.bincount(where, cells.weight)
        if design.classifies:
            target[i, where, cells.target] = cells.weight
        else:
            target[i, : len(inputs), 0] = cells.target
    return _Rows(index, target.astype(np.float32), weight.astype(np.float32))


# --------------------------------------------------------------------------- networks


def initial(design: Design, rng: np.random.Generator) -> dict[str, Array]:
    """Return the weights a network starts from: as torch.nn.Linear and BatchNorm1d do."""
    tensors: dict[str, Array] = {}
    for i, (before, after) in enumerate(pairwise(design.widths)):
        bound = before**-0.5
        tensors[f"weight{i}"] = rng.uniform(-bound, bound, (before, after))
        # Normalisation takes a bias away again, and leaves Adam to wander on its rounding errors.
        if i == len(design.hidden) or not design.batch_norm:
            tensors[f"bias{i}"] = rng.uniform(-bound, bound, (1, after))
    if design.batch_norm:
        for i, width in enumerate(design.hidden):
            for name, value in (("scale", 1), ("shift", 0), ("mean", 0), ("variance", 1)):
                tensors[f"{name}{i}"] = np.full((1, width), float(value))
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def _is_learned(name: str) -> bool:
    return not name.startswith(("mean", "variance"))


def _activate(design: Design, i: int) -> Callable[[Any], Any]:
    torch = import_torch()
    name = design.activation
    if name == "tanh_relu":
        name = ("tanh", "relu")[i % 2]
    if name == "leaky_relu":
        return torch.nn.functional.leaky_relu
    return getattr(torch, name)


def _outputs(
    design: Design, tensors: dict[str, Any], rows: Any, weight: Any = None, n_rows: Any = None
) -> Any:
    """Return (networks, rows, outputs).

    With `weight`, (networks, rows, 1) summing to 1, this is a step of training: batch
    normalisation takes means and variances over these rows, behind which stand `n_rows`.
    """
    torch = import_torch()
    for i in range(len(design.hidden)):
        if not design.batch_norm:
            rows = torch.baddbmm(tensors[f"bias{i}"], rows, tensors[f"weight{i}"])
        else:
            rows = torch.bmm(rows, tensors[f"weight{i}"])
            mean, variance = tensors[f"mean{i}"], tensors[f"variance{i}"]
            if weight is not None:
                running_mean, running_variance = mean, variance
                mean = (weight * rows).sum(dim=1, keepdim=True)
                variance = (weight * (rows - mean).square()).sum(dim=1, keepdim=True)
                with torch.no_grad():
                    running_mean.lerp_(mean, _MOMENTUM)
                    running_variance.lerp_(variance * (n_rows / (n_rows - 1).clamp(1)), _MOMENTUM)
            rows = (rows - mean) * (variance + _EPSILON).rsqrt()
            rows = rows * tensors[f"scale{i}"] + tensors[f"shift{i}"]
        rows = _activate(design, i)(rows)
    last = len(design.hidden)
    return torch.baddbmm(tensors[f"bias{last}"], rows, tensors[f"weight{last}"])


def _losses(design: Design, outputs: Any, target: Any, weight: Any) -> Any:
    """Return each network's loss, which is a mean where the weights sum to 1."""
    if design.classifies:
        # As −log softmax, with fewer numbers on the way.
        total = (weight[:, :, 0] * outputs.logsumexp(dim=2)).sum(dim=1)
        return total - (target * outputs).sum(dim=(1, 2))
    return (weight * (outputs - target).square()).sum(dim=(1, 2))


def _parts(n: int, size: int) -> Iterator[slice]:
    size = max(1, size)
    return (slice(start, start + size) for start in range(0, n, size))


def outputs_of(
    design: Design, tensors: dict[str, Array], rows: Array, device: Any
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield networks, rows and what they give, so many at once as fit; rows may be shared.

    In float64, so that a row gets the same number whatever rows it comes with.
    """
    torch = import_torch()
    shared = rows.ndim == 2
    widest = max(design.widths)
    with torch.inference_mode():
        for networks in _parts(len(tensors["weight0"]), _HELD // design.n_weights):
            held = {
                name: torch.tensor(tensor[networks], dtype=torch.float64, device=device)
                for name, tensor in tensors.items()
            }
            n_networks = len(held["weight0"])
            for part in _parts(rows.shape[-2], _HELD // (n_networks * widest)):
                given = rows[part] if shared else rows[networks, part]
                # A copy: torch warns about arrays it may not write to.
                given = torch.tensor(given, dtype=torch.float64, device=device).expand(
                    n_networks, -1, -1
                )
                yield networks, part, _outputs(design, held, given).cpu().numpy()


# --------------------------------------------------------------------------- training


def train(
    design: Design, pool: Array, lessons: Sequence[Lesson], *, device: Any, verbose: int = 0
) -> Trained:
    """Train a network on each lesson; `pool` holds the distinct inputs of all."""
    torch = import_torch()
    n = len(lessons)
    judged = lessons[0].judged is not None
    names = initial(design, np.random.default_rng(0))
    tensors = {name: np.empty((n, *one.shape), dtype=np.float32) for name, one in names.items()}
    loss = np.empty((n, design.max_epochs))
    judgements = np.empty((n, design.max_epochs)) if judged else None
    n_epochs = np.full(n, design.max_epochs)
    # Networks whose steps have the same shape go together.
    groups: dict[tuple[int, int], list[int]] = {}
    for i, lesson in enumerate(lessons):
        steps = max(1, ceil(lesson.n_rows / design.batch_size))
        whole = len(np.unique(lesson.cells.inputs)) <= design.batch_size
        groups.setdefault((steps, 0 if whole else ceil(lesson.n_rows / steps)), []).append(i)
    batches = [
        (*shape, group[part])
        for shape, group in groups.items()
        for part in _parts(len(group), _HELD // design.n_weights)
    ]
    # Whoever calls may have switched gradients off.
    with torch.inference_mode(False), torch.enable_grad():
        inputs = torch.tensor(pool, device=device)
        for steps, size, members in batches:
            batch = _Batch(design, inputs, [lessons[i] for i in members], steps, size, device)
            epochs: Iterable[int] = range(design.max_epochs)
            if verbose:
                epochs = shown(epochs, f"{len(members)} networks", design.max_epochs)
            for epoch in epochs:
                loss[members, epoch] = batch.learn()
                if judgements is not None:
                    judgements[members, epoch] = batch.judge()
            for name, held in batch.kept.items():
                tensors[name][members] = held.cpu().numpy()
    if judgements is not None:
        n_epochs = judgements.argmin(axis=1) + 1
    finite = np.isfinite(loss if judgements is None else judgements.min(axis=1, keepdims=True))
    finite = finite.all(axis=1)
    for one in tensors.values():
        finite &= np.isfinite(one).reshape(n, -1).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"Training diverged: {np.sum(~finite)} of {n} networks have weights that are not "
            "finite. Lower learning_rate, or scale X (StandardScaler)."
        )
    return Trained(tensors, loss, judgements, n_epochs)


class _Batch:
    """Networks that take their steps together.

    With `size` 0 every step sees all rows, weighted; else so many drawn ones.
    """

    def __init__(
        self,
        design: Design,
        pool: Any,
        lessons: Sequence[Lesson],
        steps: int,
        size: int,
        device: Any,
    ) -> None:
        torch = import_torch()
        self.design, self.pool, self.steps, self.size = design, pool, steps, size
        self.lessons, self.device = lessons, device
        self.rngs = [np.random.default_rng(lesson.seed) for lesson in lessons]
        starts = [initial(design, rng) for rng in self.rngs]
        self.tensors = {
            name: torch.tensor(np.stack([start[name] for start in starts]), device=device)
            for name in starts[0]
        }
        learned = [tensor for name, tensor in self.tensors.items() if _is_learned(name)]
        # All weights in one piece of memory, all gradients in another: a step of Adam is then one
        # operation instead of one for each layer.
        self.weights = torch.cat([tensor.reshape(-1) for tensor in learned])
        self.gradient = torch.zeros_like(self.weights)
        pieces = [tensor.numel() for tensor in learned]
        names = filter(_is_learned, self.tensors)
        for name, own, slope in zip(
            names, self.weights.split(pieces), self.gradient.split(pieces), strict=True
        ):
            shape = self.tensors[name].shape
            self.tensors[name] = own.view(shape).requires_grad_()
            self.tensors[name].grad = slope.view(shape)
        self.weights.grad = self.gradient
        self.adam = torch.optim.Adam(
            [self.weights.requires_grad_()],
            lr=design.learning_rate,
            weight_decay=design.weight_decay,
            fused=True,
        )
        spread = [lesson.cells.spread for lesson in lessons]
        self.spread = torch.tensor(spread, dtype=torch.float32, device=device)
        if size:
            self._prepare_draws()
        else:
            rows = self._put(_side_by_side([lesson.cells for lesson in lessons], design))
            self.whole = (pool[rows.inputs], rows.target, rows.weight)
            behind = torch.tensor([lesson.n_rows for lesson in lessons], device=device)
            self.n_rows = behind[:, None, None]
        self.kept = {name: tensor.detach() for name, tensor in self.tensors.items()}
        judged = [lesson.judged for lesson in lessons if lesson.judged is not None]
        if judged:
            self.judged = self._put(_side_by_side(judged, design))
            self.least = torch.full((len(lessons),), torch.inf, device=device)
            self.kept = {name: held.clone() for name, held in self.kept.items()}

    def _put(self, rows: _Rows) -> _Rows:
        torch = import_torch()
        return _Rows(*(torch.tensor(array, device=self.device) for array in rows))

    def _prepare_draws(self) -> None:
        """Lay all networks' cells end to end, so that a draw is one look-up."""
        torch = import_torch()
        cells = [lesson.cells for lesson in self.lessons]
        self.starts = np.cumsum([0, *(len(one.inputs) for one in cells)])
        inputs = np.concatenate([one.inputs for one in cells])
        target = np.concatenate([one.target for one in cells])
        self.drawn_inputs = torch.tensor(inputs, device=self.device)
        self.weight = torch.full((1, self.size, 1), 1 / self.size, device=self.device)
        self.n_rows = torch.tensor(self.size, device=self.device)
        if self.design.classifies:
            self.drawn_target = torch.tensor(target, device=self.device)
            self.shares = torch.eye(self.design.n_outputs, device=self.device) / self.size
        else:
            self.drawn_target = torch.tensor(target, dtype=torch.float32, device=self.device)

    def _batches(self) -> Iterable[tuple[Any, Any, Any]]:
        """Yield the inputs, targets and weights of an epoch's steps."""
        if not self.size:
            yield from [self.whole] * self.steps
            return
        torch = import_torch()
        n = self.steps * self.size
        drawn = np.stack(
            [
                start + _draw(lesson.cells, n, rng)
                for start, lesson, rng in zip(self.starts, self.lessons, self.rngs, strict=False)
            ]
        )
        for rows in torch.tensor(drawn, device=self.device).split(self.size, dim=1):
            target = self.drawn_target[rows]
            # An embedding is the fastest look-up of short rows.
            inputs = torch.nn.functional.embedding(self.drawn_inputs[rows], self.pool)
            if self.design.classifies:
                yield inputs, torch.nn.functional.embedding(target, self.shares), self.weight
            else:
                yield inputs, target[:, :, None], self.weight

    def learn(self) -> Array:
        """Take an epoch's steps, and return each network's mean loss before them."""
        torch = import_torch()
        total = torch.zeros(len(self.lessons), device=self.device)
        for rows, target, weight in self._batches():
            self.gradient.zero_()
            outputs = _outputs(self.design, self.tensors, rows, weight, self.n_rows)
            losses = _losses(self.design, outputs, target, weight)
            losses.sum().backward()
            self.adam.step()
            total += losses.detach()
        return (total / self.steps + self.spread).cpu().numpy()

    def judge(self) -> Array:
        """Return each network's loss on the rows it is judged on, and keep the best so far."""
        torch = import_torch()
        judged = self.judged
        found = torch.zeros(len(self.lessons), device=self.device)
        with torch.no_grad():
            width = max(self.design.widths) * len(self.lessons)
            for part in _parts(judged.inputs.shape[1], _HELD // width):
                some = judged.columns(part)
                outputs = _outputs(self.design, self.tensors, self.pool[some.inputs])
                found += _losses(self.design, outputs, some.target, some.weight)
            found = found.nan_to_num(nan=torch.inf, posinf=torch.inf)
            better = found < self.least
            self.least = torch.where(better, found, self.least)
            for name, tensor in self.tensors.items():
                self.kept[name][better] = tensor.detach()[better]
        spread = [lesson.judged.spread for lesson in self.lessons if lesson.judged is not None]
        return found.cpu().numpy() + spread


def shown(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Show how far a loop has come, for verbose=1."""
    try:
        from rich.progress import track
    except ImportError as error:
        raise ImportError("verbose=1 needs rich: pip install 'skbiasamp[cli]'") from error
    return track(items, what, total=total)
