"""A network and its adversaries, trained in turns.

Adversaries learn to predict the group from what layers of the network give. The network learns
its task, and to make them fail. Random numbers of the network do not depend on the adversaries:
with an adversary weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input import Array, InputError, quote
from skbiasamp._torch import import_torch, seeded
from skbiasamp.attackers._networks import draw_rows

_AT_ONCE = 4096  # rows whose outputs are computed together
_ADVERSARY_WIDTH = 64


class Rows(NamedTuple):
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    `inputs` and `target` are tensors; `group` holds codes of `n_groups` groups, or is None.
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


@dataclass(eq=False)
class Networks:
    """The predictor, the mask before it or None, and an adversary for each of some layers.

    Without layers, the only adversary sees the masked inputs.
    """

    predictor: Any
    mask: Any
    layers: tuple[str, ...]
    adversaries: list[Any] = field(default_factory=list)

    @property
    def learners(self) -> list[Any]:
        """The networks that learn the task."""
        return [self.predictor] if self.mask is None else [self.mask, self.predictor]

    def __call__(self, inputs: Any) -> tuple[Any, Any, list[Any]]:
        """Return logits, masked inputs and what the adversaries see."""
        masked = inputs if self.mask is None else self.mask(inputs) * inputs
        outputs: dict[str, Any] = {}

        def keep(name: str) -> Callable[..., None]:
            def hook(module: Any, given: Any, output: Any) -> None:
                outputs[name] = output

            return hook

        hooks = [
            self.predictor.get_submodule(name).register_forward_hook(keep(name))
            for name in self.layers
        ]
        try:
            logits = self.predictor(masked)
        finally:
            for hook in hooks:
                hook.remove()
        return logits, masked, [outputs.get(name) for name in self.layers] or [masked]

    def train(self, learning: bool) -> None:
        """Set the predictor to training and adversaries to evaluation, or the other way round."""
        for one in self.learners:
            one.train(learning)
        for one in self.adversaries:
            one.train(not learning)


# --------------------------------------------------------------------------- networks by default


def linear_layers(*widths: int) -> list[Any]:
    """Return linear layers with ReLU between them."""
    nn = import_torch().nn
    return [one for pair in pairwise(widths) for one in (nn.Linear(*pair), nn.ReLU())][:-1]


def default_predictor(n_inputs: int, hidden: Sequence[int], n_outputs: int) -> Any:
    """Return hidden layers, named encoder, and a linear head."""
    nn = import_torch().nn
    net = nn.Sequential()
    net.add_module("encoder", nn.Sequential(*linear_layers(n_inputs, *hidden), nn.ReLU()))
    net.add_module("head", nn.Linear(hidden[-1], n_outputs))
    return net


def default_adversary(n_inputs: int, n_groups: int) -> Any:
    """Return an MLP that standardises its inputs."""
    nn = import_torch().nn
    # Standardised over the batch: else the network could hide the group by small numbers.
    scale = nn.BatchNorm1d(n_inputs, affine=False, track_running_stats=False)
    return nn.Sequential(nn.Flatten(), scale, *linear_layers(n_inputs, _ADVERSARY_WIDTH, n_groups))


def default_mask(shape: tuple[int, ...]) -> Any:
    """Return an autoencoder whose mask starts nearly open."""
    nn = import_torch().nn
    n_inputs = prod(shape)
    layers = linear_layers(n_inputs, max(1, n_inputs // 4), n_inputs)
    nn.init.constant_(layers[-1].bias, 3.0)
    return nn.Sequential(nn.Flatten(), *layers, nn.Sigmoid(), nn.Unflatten(1, shape))


def find_layers(predictor: Any, layer: Any, *, masked: bool) -> tuple[str, ...]:
    """Return the names of the adversaries' layers, or none if they see the masked input."""
    if layer is None and masked:
        return ()
    names = [name for name, _ in predictor.named_modules() if name]
    wanted = ["encoder"] if layer is None else [layer] if isinstance(layer, str) else list(layer)
    lacking = [name for name in wanted if name not in names]
    if lacking or not wanted:
        said = "None means 'encoder'" if layer is None else repr(layer)
        has = f"It has {quote(names, most=20)}" if names else "It has none with a name"
        missing = f"module has no submodule {quote(lacking)}" if lacking else "names no submodule"
        raise InputError(
            "{layer}={said}, and {missing}. {has}: name one, or several in a list.",
            said=said,
            missing=missing,
            has=has,
        )
    return tuple(wanted)


def check_outputs(networks: Networks, inputs: Any, n_outputs: int) -> list[int]:
    """Return how many numbers each adversary sees of a row; raise if outputs are wrong."""
    torch = import_torch()
    with torch.no_grad():
        networks.train(False)
        logits, _, seen = networks(inputs)
    n = len(inputs)
    for name, one in zip(networks.layers, seen, strict=False):
        if not isinstance(one, torch.Tensor) or one.ndim < 2 or len(one) != n:
            gave = (
                f"returned a tensor of shape {tuple(one.shape)} for {n} rows"
                if isinstance(one, torch.Tensor)
                else "was never called"
                if one is None
                else f"returned a {type(one).__name__}"
            )
            raise InputError(
                "{layer} {called!r} {gave}. It must be a submodule that forward() calls and that "
                "returns one tensor with a row for each row of {X}.",
                called=name,
                gave=gave,
            )
    shape = tuple(getattr(logits, "shape", ()))
    if shape != (n, n_outputs):
        raise InputError(
            "{module} returned {shape} for {n} rows. It must return logits of shape {expected}: "
            "one for each class, or for each task of a multilabel {y}.",
            shape=shape or type(logits).__name__,
            n=n,
            expected=(n, n_outputs),
        )
    return [prod(one.shape[1:]) for one in seen]


# --------------------------------------------------------------------------- training


class Training:
    """Training in three phases, with the settings of an `AdversarialClassifier`."""

    def __init__(
        self, networks: Networks, rows: Rows, settings: Any, seed: np.random.SeedSequence
    ) -> None:
        torch = import_torch()
        # What is drawn for the adversaries does not change what is drawn for the predictor.
        self.rng, self.adversary_rng = map(np.random.default_rng, seed.spawn(2))
        self.networks, self.rows, self.settings = networks, rows, settings
        self.steps = max(1, rows.n_rows // settings.batch_size)
        # Parameters that the user has frozen stay as they are.
        self.weights = [p for one in networks.learners for p in one.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(self.weights, settings.learning_rate)
        if networks.adversaries:
            self.adversary_optimizer = torch.optim.Adam(
                [p for one in networks.adversaries for p in one.parameters()],
                settings.learning_rate,
            )
            self.group = torch.as_tensor(rows.group, device=rows.inputs.device)
            self.balance = rows.balanced(within_classes=settings.balance == "class")
            self.factor = self._tensor(self.balance)

    def epochs(self) -> Iterator[tuple[str, float, float]]:
        """Train, and yield (phase, loss, adversaries' mean loss) of every epoch."""
        settings, nan = self.settings, float("nan")
        for _ in range(settings.pretrain_epochs):
            losses = [self._step(batch, adversary_weight=0) for batch in self._batches()]
            yield "predictor", float(np.mean(losses)), nan
        # Alone, too: only an adversary that has learned something is worth hiding from.
        for _ in range(settings.adversary_epochs if self.networks.adversaries else 0):
            losses = [self._step_adversaries(batch) for batch in self._adversary_batches(1)]
            yield "adversary", nan, float(np.mean(losses))
        for _ in range(settings.max_epochs):
            losses, adversary_losses, steps = [], [], settings.adversary_steps
            batches = iter(self._adversary_batches(steps) if self.networks.adversaries else ())
            for batch in self._batches():
                adversary_losses += [self._step_adversaries(one) for one in islice(batches, steps)]
                losses.append(self._step(batch, adversary_weight=settings.adversary_weight))
            adversary_loss = float(np.mean(adversary_losses)) if adversary_losses else nan
            yield "alternating", float(np.mean(losses)), adversary_loss

    def _tensor(self, weight: Array) -> Any:
        torch = import_torch()
        return torch.as_tensor(weight, dtype=torch.float32, device=self.rows.inputs.device)

    def _batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights of an epoch's steps; few distinct rows are in all of them."""
        weight = self.rows.weight
        if len(weight) <= self.settings.batch_size:
            yield from [(slice(None), self._tensor(weight))] * self.steps
            return
        drawn = draw_rows(weight, self.rows.n_rows, self.rng)
        yield from map(self._equal, np.array_split(drawn, self.steps))

    def _adversary_batches(self, n_epochs: int) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights in which groups are equal, of one epoch or several."""
        weight, group = self.rows.weight * self.balance, self.rows.group
        steps = n_epochs * self.steps
        if len(weight) <= self.settings.batch_size:
            yield from [(slice(None), self._tensor(weight))] * steps
            return
        size = -(-self.settings.batch_size // self.rows.n_groups)
        parts = []
        for one in range(self.rows.n_groups):
            members = np.flatnonzero(group == one)
            share = weight[members] / weight[members].sum()
            drawn = draw_rows(share, steps * size, self.adversary_rng)
            parts.append(members[drawn].reshape(steps, size))
        yield from map(self._equal, np.concatenate(parts, axis=1))

    def _equal(self, rows: Array) -> tuple[Any, Any]:
        return import_torch().as_tensor(rows, device=self.rows.inputs.device), 1 / len(rows)

    def _step(self, batch: tuple[Any, Any], *, adversary_weight: float) -> float:
        """Take a step of the predictor, and return the loss of its task."""
        index, weight = batch
        networks, inputs = self.networks, self.rows.inputs[index]
        networks.train(True)
        logits, masked, seen = networks(inputs)
        loss = task = _loss(logits, self.rows.target[index], weight)
        if networks.mask is not None:
            lost = (inputs - masked).abs().flatten(1).mean(dim=1)
            loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
        if adversary_weight and networks.adversaries:
            balanced = weight * self.factor[index]
            loss = loss - adversary_weight * self._adversary_loss(seen, index, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.weights)
        self.optimizer.step()
        return task.item()

    def _step_adversaries(self, batch: tuple[Any, Any]) -> float:
        """Take a step of the adversaries, and return their mean loss."""
        torch = import_torch()
        index, weight = batch
        with seeded(int(self.adversary_rng.integers(2**63)), self.rows.inputs.device):
            self.networks.train(False)
            with torch.no_grad():
                seen = self.networks(self.rows.inputs[index])[2]
            loss = self._adversary_loss(seen, index, weight)
            self.adversary_optimizer.zero_grad()
            loss.backward()
            self.adversary_optimizer.step()
        return loss.item() / len(self.networks.adversaries)

    def _adversary_loss(self, seen: Sequence[Any], index: Any, weight: Any) -> Any:
        """Return the sum of the adversaries' losses."""
        pairs = zip(self.networks.adversaries, seen, strict=True)
        return sum(_loss(adversary(one), self.group[index], weight) for adversary, one in pairs)


def _loss(logits: Any, target: Any, weight: Any) -> Any:
    """Return cross-entropy, of several tasks their mean; weights sum to 1."""
    functional = import_torch().nn.functional
    if target.ndim == 1:
        each = functional.cross_entropy(logits, target, reduction="none")
    else:
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        each = each.mean(dim=1)
    return (weight * each).sum()


def outputs_of(networks: Networks, inputs: Any) -> tuple[Array, Array]:
    """Return logits, and what adversaries see, flat and side by side."""
    torch = import_torch()
    logits, flat = [], []
    with torch.inference_mode():
        networks.train(False)
        for part in inputs.split(_AT_ONCE):
            given, _, seen = networks(part)
            logits.append(given.double().cpu().numpy())
            flat.append(torch.cat([one.flatten(1) for one in seen], dim=1).double().cpu().numpy())
    return np.concatenate(logits), np.concatenate(flat)
