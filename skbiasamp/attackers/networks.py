"""Many small networks, trained at once: the weights of all networks form one array per layer.

Calling a network with four hidden units takes longer than computing it. Here one call computes a
step of all networks: batched matrix products, one backward pass, one step of Adam. Adam updates
each number by itself, so a network depends on its own rows and seed alone.

Equal rows are one row with a weight, so training needs the distinct rows only. Repeating, weighting
or sorting rows gives the same network, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, repeat
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import as_bytes
from skbiasamp._utils.progress import progress
from skbiasamp.attackers.optional_torch import import_torch

if TYPE_CHECKING:
    from skbiasamp.attackers._mlp import MLPAttacker

ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu", "tanh_relu")
# The defaults of torch.nn.BatchNorm1d.
_EPSILON, _MOMENTUM = 1e-5, 0.1
# Most numbers in memory at once: the weights of networks that are trained together, and the
# outputs of one layer for the rows that are predicted together. 64 MiB in float32.
_MAX_NUMBERS = 1 << 24
# Rows that no epoch of training comes to the end of.
_MOST_ROWS = 1e10


class WeightedRows(NamedTuple):
    """Distinct rows in a fixed order.

    `inputs` are positions among the distinct inputs. `target` is a class, or the mean of the
    numbers of this input. Weights sum to 1. `spread` is the variance of numbers around the means.
    """

    inputs: Array
    target: Array
    weight: Array
    spread: float = 0.0


class TrainingData(NamedTuple):
    """Data of one network; `n_rows` counts its rows before equal rows were joined."""

    rows: WeightedRows
    n_rows: int
    seed: np.random.SeedSequence
    validation: WeightedRows | None = None


# --------------------------------------------------------------------------- rows


def check_total(rows: Array) -> None:
    """Raise if there are more rows, by their weights, than an epoch can go through."""
    if rows.max() > _MOST_ROWS:
        text = "{sample_weight} adds up to {total:.3g} rows: divide it by its mean."
        raise InputError(text, total=float(rows.max()))


def distinct_inputs(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows of float32 numbers, and the position of each row among them."""
    rows = rows + np.float32(0)  # which makes −0 and 0 the same bytes
    _, first, code = np.unique(as_bytes(rows), return_index=True, return_inverse=True)
    return rows[first], code.reshape(-1)


def join_equal_rows(inputs: Array, target: Array, weight: Array) -> WeightedRows:
    """Return the distinct rows with the sum of their weights."""
    values, code = np.unique(target, return_inverse=True)
    row, position = np.unique(inputs * len(values) + code, return_inverse=True)
    # Weights are added before they are divided: repeated rows stay exactly weighted rows.
    total = np.bincount(position, weight)
    return WeightedRows(row // len(values), values[row % len(values)], total / total.sum())


def average_targets(rows: WeightedRows) -> WeightedRows:
    """Return one row for each input, with its mean target.

    The squared error to the mean differs from the squared error to the numbers by `spread` only,
    which no prediction changes.
    """
    inputs, position = np.unique(rows.inputs, return_inverse=True)
    weight = np.bincount(position, rows.weight)
    mean = np.bincount(position, rows.weight * rows.target) / weight
    spread = rows.weight @ (rows.target - mean[position]) ** 2
    return WeightedRows(inputs, mean, weight, float(spread))


def draw_rows(weight: Array, n: float, rng: np.random.Generator) -> Array:
    """Return the positions of n rows in random order, each as often as its weight (sum 1) says.

    A row comes n times its weight, rounded up or down: with n rows of equal weight each comes
    once, as in an ordinary epoch.
    """
    # One random offset for all rows (systematic sampling) varies less than independent draws.
    offset = rng.random()
    ends = np.floor(np.cumsum(weight) * n + offset).astype(np.intp)
    # A whole n gives exactly n rows, whatever the rounding of the sum.
    ends[-1:] = int(n) + (n % 1 + offset >= 1)
    drawn = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    rng.shuffle(drawn)
    return drawn


def hold_out(
    rows: WeightedRows, n_rows: int, fraction: float, rng: np.random.Generator
) -> tuple[WeightedRows, WeightedRows, int]:
    """Split rows at random into training and validation rows; return the number of the former too.

    Rows are drawn one by one: of several equal rows some can be held out.
    """
    if n_rows < 2:
        raise InputError("early_stopping=True holds out rows, and there is only one.")
    n_out = min(ceil(fraction * n_rows), n_rows - 1)
    drawn = draw_rows(rows.weight, n_rows, rng)
    times, out = (np.bincount(part, minlength=len(rows.weight)) for part in (drawn, drawn[:n_out]))
    share = out / np.maximum(times, 1)
    split = []
    for weight in (rows.weight * (1 - share), rows.weight * share):
        kept = weight > 0
        total = weight[kept] / weight.sum()
        split.append(WeightedRows(rows.inputs[kept], rows.target[kept], total))
    return split[0], split[1], n_rows - n_out


# --------------------------------------------------------------------------- networks


def initial_weights(
    widths: Sequence[int], batch_norm: bool, rng: np.random.Generator
) -> dict[str, Array]:
    """Return a network's initial weights, drawn as torch.nn.Linear and BatchNorm1d draw theirs."""
    tensors: dict[str, Array] = {}
    for i, (before, after) in enumerate(pairwise(widths)):
        bound = before**-0.5
        tensors[f"weight{i}"] = rng.uniform(-bound, bound, (before, after))
        # Normalisation removes a bias. Its gradient would be rounding errors, which Adam scales up.
        if not batch_norm or i == len(widths) - 2:
            tensors[f"bias{i}"] = rng.uniform(-bound, bound, (1, after))
    for i, width in enumerate(widths[1:-1] if batch_norm else ()):
        for name, value in (("scale", 1.0), ("shift", 0.0), ("mean", 0.0), ("variance", 1.0)):
            tensors[f"{name}{i}"] = np.full((1, width), value)
    # NumPy draws them, on the CPU: networks start the same on every device.
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def _forward(
    activation: str, tensors: dict[str, Any], rows: Any, weight: Any = None, n_rows: Any = None
) -> Any:
    """Return the outputs of all networks: (networks, rows, outputs).

    With `weight` (networks, rows, 1; sum 1) this is a step of training: batch normalisation takes
    means and variances over these rows, which stand for `n_rows` rows.
    """
    torch = import_torch()
    last = sum(name.startswith("weight") for name in tensors) - 1
    for i in range(last):
        if f"scale{i}" not in tensors:
            rows = torch.baddbmm(tensors[f"bias{i}"], rows, tensors[f"weight{i}"])
        else:
            rows = torch.bmm(rows, tensors[f"weight{i}"])
            mean, variance = tensors[f"mean{i}"], tensors[f"variance{i}"]
            if weight is not None:
                running_mean, running_variance = mean, variance
                mean = (weight * rows).sum(dim=1, keepdim=True)
                variance = (weight * (rows - mean).square()).sum(dim=1, keepdim=True)
                # As in torch, the running variance is the unbiased one.
                unbiased = n_rows / (n_rows - 1).clamp(1)
                with torch.no_grad():
                    running_mean.lerp_(mean, _MOMENTUM)
                    running_variance.lerp_(variance * unbiased, _MOMENTUM)
            rows = (rows - mean) * (variance + _EPSILON).rsqrt()
            rows = rows * tensors[f"scale{i}"] + tensors[f"shift{i}"]
        name = ("tanh", "relu")[i % 2] if activation == "tanh_relu" else activation
        rows = getattr(torch.nn.functional, name)(rows)
    return torch.baddbmm(tensors[f"bias{last}"], rows, tensors[f"weight{last}"])


def _losses(loss: str, outputs: Any, target: Any, weight: Any) -> Any:
    """Return each network's loss: a mean over rows, since weights sum to 1."""
    if loss == "squared_error":
        return (weight * (outputs - target).square()).sum(dim=(1, 2))
    # −log softmax is logsumexp − output of the class; `target` holds the weight of each class.
    total = (weight[:, :, 0] * outputs.logsumexp(dim=2)).sum(dim=1)
    return total - (target * outputs).sum(dim=(1, 2))


def _parts(n: int, numbers_each: int) -> Iterator[slice]:
    """Split n items into parts that fit into memory."""
    size = max(1, _MAX_NUMBERS // numbers_each)
    return (slice(start, start + size) for start in range(0, n, size))


def _n_weights(tensors: dict[str, Array]) -> int:
    return sum(tensor[0].size for tensor in tensors.values())


def _widest(tensors: dict[str, Any]) -> int:
    return max(width for tensor in tensors.values() for width in tensor.shape[1:])


def predict_outputs(activation: str, tensors: dict[str, Array], rows: Array, device: Any) -> Array:
    """Return the outputs of all networks for the same rows: (networks, rows, outputs).

    In float64: in float32 a row's output depends on the rows that it is computed with.
    """
    torch = import_torch()
    outputs_of_parts = []
    with torch.inference_mode():
        for networks in _parts(len(tensors["weight0"]), _n_weights(tensors)):
            tensors_of_part = {
                name: torch.tensor(tensor[networks], dtype=torch.float64, device=device)
                for name, tensor in tensors.items()
            }
            n = len(tensors_of_part["weight0"])
            outputs = []
            for part in _parts(len(rows), n * _widest(tensors_of_part)):
                # A copy (not from_numpy): torch warns about read-only arrays.
                batch = torch.tensor(rows[part], dtype=torch.float64, device=device)
                batch = batch.expand(n, -1, -1)
                outputs.append(_forward(activation, tensors_of_part, batch).cpu().numpy())
            outputs_of_parts.append(np.concatenate(outputs, axis=1))
    return np.concatenate(outputs_of_parts)


# --------------------------------------------------------------------------- training


def train_networks(
    attacker: MLPAttacker,
    widths: Sequence[int],
    inputs: Array,
    data: Sequence[TrainingData],
    device: Any,
) -> tuple[dict[str, Array], Array, Array | None]:
    """Train a network on each data set; `inputs` are the distinct inputs of all of them.

    Returns the weights by name (networks, ...), the mean loss of each epoch's steps, and the loss
    or minus the accuracy on the validation rows after it (networks, epochs), None if there are
    none: the epoch with the smallest is kept, of equally good ones the first.
    """
    torch = import_torch()
    start = initial_weights(widths, attacker.batch_norm, np.random.default_rng(0))
    tensors = {name: np.stack([tensor] * len(data)) for name, tensor in start.items()}
    curves = np.empty((2, len(data), attacker.max_epochs))
    # A batched step needs arrays of one shape: networks are grouped by steps and rows per step.
    groups: dict[tuple[int, int], list[int]] = {}
    for i, training in enumerate(data):
        n_steps = ceil(training.n_rows / attacker.batch_size)
        full = len(np.unique(training.rows.inputs)) <= attacker.batch_size
        groups.setdefault((n_steps, 0 if full else ceil(training.n_rows / n_steps)), []).append(i)
    # The caller may have switched gradients off.
    with torch.inference_mode(False), torch.enable_grad():
        pool = torch.tensor(inputs, device=device)
        for shape, group in groups.items():
            for part in _parts(len(group), _n_weights(tensors)):
                networks = group[part]
                kept, curves[:, networks] = _train_together(
                    attacker, widths, pool, [data[i] for i in networks], *shape
                )
                for name, tensor in kept.items():
                    tensors[name][networks] = tensor.cpu().numpy()
    loss, judged = curves[0], None if data[0].validation is None else curves[1]
    # With early stopping an epoch may diverge after the best one.
    finite = np.isfinite(loss).all(axis=1) if judged is None else np.isfinite(judged.min(axis=1))
    for tensor in tensors.values():
        finite &= np.isfinite(tensor).all(axis=(1, 2))
    if not finite.all():
        raise InputError(
            "Training diverged: {n} of {m} networks have weights that are not finite. Lower "
            "learning_rate, or scale X (StandardScaler).",
            n=np.sum(~finite),
            m=len(data),
        )
    return tensors, loss, judged


def _train_together(
    attacker: MLPAttacker,
    widths: Sequence[int],
    pool: Any,
    data: Sequence[TrainingData],
    n_steps: int,
    size: int,
) -> tuple[dict[str, Any], Array]:
    """Train networks whose steps have the same shape; return their weights and two loss curves.

    A step uses `size` rows, which are drawn for it. If `size` is 0, it uses all rows, weighted.
    """
    torch = import_torch()
    device, loss, activation = pool.device, attacker.loss, attacker.activation
    # One generator per network: its draws do not depend on the networks beside it.
    rngs = [np.random.default_rng(training.seed) for training in data]
    starts = [initial_weights(widths, attacker.batch_norm, rng) for rng in rngs]
    tensors, weights = _trainable(
        {name: torch.tensor(np.stack([start[name] for start in starts])) for name in starts[0]},
        device,
    )
    adam = torch.optim.Adam(
        [weights],
        lr=float(attacker.learning_rate),
        weight_decay=float(attacker.weight_decay),
        fused=True,
    )
    rows = [training.rows for training in data]
    if size:
        steps = _drawn_steps(pool, rows, widths[-1], rngs, n_steps, size)
    else:
        index, *targets = _padded(rows, widths[-1], device)
        n_rows = torch.tensor([training.n_rows for training in data], device=device)[:, None, None]
        steps = repeat((pool[index], *targets, n_rows))
    held_out = [training.validation for training in data if training.validation is not None]
    kept = {name: tensor.detach() for name, tensor in tensors.items()}
    if held_out:
        validation = _padded(held_out, widths[-1], device)
        accurate = attacker.early_stopping == "accuracy"
        # Epochs with as many correct rows must have the same accuracy, whichever rows they are.
        number = torch.float64 if accurate else torch.float32
        least = torch.full((len(data),), torch.inf, device=device, dtype=number)
        # Copies, since training goes on after the best epoch.
        kept = {name: tensor.clone() for name, tensor in kept.items()}
    curves = np.zeros((2, len(data), attacker.max_epochs))
    with progress("epochs", attacker.max_epochs, verbose=attacker.verbose) as step:
        for epoch in range(attacker.max_epochs):
            total = torch.zeros(len(data), device=device)
            for inputs, target, weight, n_rows in islice(steps, n_steps):
                weights.grad.zero_()
                outputs = _forward(activation, tensors, inputs, weight, n_rows)
                losses = _losses(loss, outputs, target, weight)
                # Networks share no weight: the gradient of the sum holds the gradient of each.
                losses.sum().backward()
                adam.step()
                total += losses.detach()
            curves[0, :, epoch] = (total / n_steps).cpu().numpy()
            if held_out:
                total = torch.zeros(len(data), device=device, dtype=number)
                with torch.no_grad():
                    for part in _parts(validation[0].shape[1], len(data) * _widest(tensors)):
                        index, target, weight = (tensor[:, part] for tensor in validation)
                        outputs = _forward(activation, tensors, pool[index])
                        if accurate:
                            finite = outputs.isfinite().all(dim=2)
                            guessed = outputs.argmax(dim=2, keepdim=True)
                            right = target.gather(2, guessed)[:, :, 0].double()
                            total -= (right * finite).sum(dim=1)
                        else:
                            total += _losses(loss, outputs, target, weight)
                total = total.round(decimals=9) if accurate else total
                # A loss that is not a number must not count as the smallest.
                total = total.nan_to_num(nan=torch.inf, posinf=torch.inf)
                better = total < least
                least = torch.where(better, total, least)
                for name, tensor in tensors.items():
                    kept[name][better] = tensor.detach()[better]
                curves[1, :, epoch] = total.cpu().numpy()
            step.advance()
    # Averaging equal inputs took this out of the loss.
    for curve, parts in zip(curves, (rows, held_out), strict=True):
        curve += np.array([[part.spread] for part in parts] or 0.0)
    return kept, curves


def _trainable(tensors: dict[str, Any], device: Any) -> tuple[dict[str, Any], Any]:
    """Return tensors that can be trained, and the learned ones among them as one flat tensor.

    All weights lie in one piece of memory and all gradients in another: a step of Adam is then
    one operation instead of one for each layer.
    """
    torch = import_torch()
    tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
    # Running means and variances follow the batches; no gradient moves them.
    learned = [name for name in tensors if not name.startswith(("mean", "variance"))]
    weights = torch.cat([tensors[name].reshape(-1) for name in learned])
    weights.grad = torch.zeros_like(weights)
    sizes = [tensors[name].numel() for name in learned]
    parts = weights.split(sizes), weights.grad.split(sizes)
    for name, weight, gradient in zip(learned, *parts, strict=True):
        shape = tensors[name].shape
        tensors[name] = weight.view(shape).requires_grad_()
        tensors[name].grad = gradient.view(shape)
    return tensors, weights.requires_grad_()


def _padded(rows: Sequence[WeightedRows], n_outputs: int, device: Any) -> tuple[Any, Any, Any]:
    """Return tensors of the inputs' positions, targets and weights: (networks, inputs, ...).

    Equal inputs are one; their target is the weight of each class, or the mean of the numbers.
    Networks with fewer inputs are filled up with rows of weight 0.
    """
    torch = import_torch()
    distinct = [np.unique(row.inputs, return_inverse=True) for row in rows]
    shape = (len(rows), max(len(inputs) for inputs, _ in distinct))
    index = np.zeros(shape, dtype=np.int64)
    target = np.zeros((*shape, n_outputs), dtype=np.float32)
    weight = np.zeros((*shape, 1), dtype=np.float32)
    for i, (weighted, (inputs, position)) in enumerate(zip(rows, distinct, strict=True)):
        index[i, : len(inputs)] = inputs
        weight[i, : len(inputs), 0] = np.bincount(position, weighted.weight)
        if weighted.target.dtype.kind == "i":
            target[i, position, weighted.target] = weighted.weight
        else:
            target[i, : len(inputs), 0] = weighted.target
    index, target, weight = (
        torch.tensor(array, device=device) for array in (index, target, weight)
    )
    return index, target, weight


def _drawn_steps(
    pool: Any,
    rows: Sequence[WeightedRows],
    n_outputs: int,
    rngs: Sequence[np.random.Generator],
    n_steps: int,
    size: int,
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield inputs, targets, weights and number of rows of one step after another, without end."""
    torch = import_torch()
    device, embedding = pool.device, torch.nn.functional.embedding
    # The rows of all networks end to end, so that one look-up serves all.
    starts = np.cumsum([0, *(len(row.inputs) for row in rows[:-1])])
    inputs = torch.tensor(np.concatenate([row.inputs for row in rows]), device=device)
    targets = torch.tensor(np.concatenate([row.target for row in rows]), device=device)
    if targets.is_floating_point():
        targets = targets.float()[:, None]
    else:
        targets = torch.eye(n_outputs, device=device)[targets] / size
    weight = torch.full((1, size, 1), 1 / size, device=device)
    n_rows = torch.tensor(size, device=device)
    while True:
        # An epoch at a time: in it every row comes as often as its weight says.
        drawn = np.stack(
            [
                start + draw_rows(network_rows.weight, n_steps * size, rng)
                for start, network_rows, rng in zip(starts, rows, rngs, strict=True)
            ]
        )
        for part in torch.tensor(drawn, device=device).split(size, dim=1):
            # An embedding is the fastest look-up of short rows.
            yield embedding(inputs[part], pool), embedding(part, targets), weight, n_rows
