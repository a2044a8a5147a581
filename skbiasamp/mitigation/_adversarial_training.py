"""Networks of an `AdversarialClassifier`, trained in turns.

Adversaries learn to predict the group from what layers of the network give. The network learns
its task, and to make them fail. Random numbers of the network do not depend on the adversaries:
with an adversary weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from math import prod
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, check_count
from skbiasamp._input.errors import InputError, quote
from skbiasamp.attackers.networks import (
    check_outputs,
    distinct_inputs,
    draw_rows,
    import_torch,
    make_module,
    seeded,
)

_ADVERSARY_WIDTH = 64


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

    @property
    def every(self) -> list[Any]:
        """All networks."""
        return [*self.learners, *self.adversaries]

    def __call__(self, inputs: Any) -> tuple[Any, Any, list[Any]]:
        """Return logits, masked inputs and what the adversaries see."""
        masked = inputs if self.mask is None else self.mask(inputs) * inputs
        layers = [self.predictor.get_submodule(name) for name in self.layers]
        outputs: dict[Any, Any] = {}

        def keep(layer: Any, given: Any, output: Any) -> None:
            outputs[layer] = output

        hooks = [layer.register_forward_hook(keep) for layer in layers]
        try:
            logits = self.predictor(masked)
        finally:
            for hook in hooks:
                hook.remove()
        return logits, masked, [outputs.get(layer) for layer in layers] or [masked]

    def train(self, learning: bool) -> None:
        """Set the predictor to training and adversaries to evaluation, or the other way round."""
        for network in self.learners:
            network.train(learning)
        for network in self.adversaries:
            network.train(not learning)

    def add_adversaries(self, n_seen: list[int], n_groups: int, given: Any) -> None:
        """Add an adversary for each layer, or for masked inputs, of which they see `n_seen`."""
        default = partial(default_adversary, standardised=bool(self.layers))
        given = [default] * len(n_seen) if given is None else given
        given = given if isinstance(given, list | tuple) else [given]
        if len(given) != len(n_seen):
            raise InputError(
                "{adversary} has {n} networks for {layers} layers: pass a list with one for each.",
                n=len(given),
                layers=len(n_seen),
            )
        device = next(self.predictor.parameters()).device
        self.adversaries = [
            make_module("adversary", adversary, n, n_groups).to(device)
            for adversary, n in zip(given, n_seen, strict=True)
        ]


# --------------------------------------------------------------------------- as they are asked for


def build(first: Any, n_outputs: int, settings: Any) -> tuple[Networks, list[int]]:
    """Return the networks without adversaries, and how many numbers each layer gives.

    They are for rows like the first ones, with the settings of an `AdversarialClassifier`.
    """
    shape, device = tuple(first.shape[1:]), first.device
    module, mask = settings.module, None
    if module is None:
        hidden = tuple(np.ravel(settings.hidden_layer_sizes).tolist())
        for width in hidden:
            check_count("each of hidden_layer_sizes", width)
        if not hidden:
            # Without a hidden layer there is no representation.
            raise InputError("{hidden_layer_sizes} is empty. Pass a width for each hidden layer.")
        module = partial(default_predictor, hidden=hidden)
    predictor = make_module("module", module, shape[0], n_outputs).to(device)
    if settings.mask is not False:
        mask = default_mask if settings.mask is True else settings.mask
        mask = make_module("mask", mask, shape).to(device)
    layers = find_layers(predictor, settings.layer, masked=mask is not None)
    networks = Networks(predictor, mask, layers)
    return networks, count_outputs(networks, first, n_outputs)


# --------------------------------------------------------------------------- by default


def linear_layers(*widths: int) -> list[Any]:
    """Return linear layers with ReLU between them."""
    nn = import_torch().nn
    return [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())][:-1]


def default_predictor(n_inputs: int, n_outputs: int, *, hidden: Sequence[int]) -> Any:
    """Return hidden layers, named encoder, and a linear head."""
    nn = import_torch().nn
    net = nn.Sequential()
    net.add_module("encoder", nn.Sequential(*linear_layers(n_inputs, *hidden), nn.ReLU()))
    net.add_module("head", nn.Linear(hidden[-1], n_outputs))
    return net


def default_adversary(n_inputs: int, n_groups: int, *, standardised: bool = True) -> Any:
    """Return an MLP that standardises its inputs, or takes them as they are."""
    nn = import_torch().nn
    layers = [nn.Flatten()]
    if standardised:
        # Over the batch: else the network could hide the group by small numbers. A mask has to do
        # just that, and learns nothing from an adversary to which dark and bright are the same.
        layers.append(nn.BatchNorm1d(n_inputs, affine=False, track_running_stats=False))
    return nn.Sequential(*layers, *linear_layers(n_inputs, _ADVERSARY_WIDTH, n_groups))


def default_mask(shape: tuple[int, ...]) -> Any:
    """Return an autoencoder whose mask starts nearly open."""
    nn = import_torch().nn
    n_inputs = prod(shape)
    layers = linear_layers(n_inputs, max(1, n_inputs // 4), n_inputs)
    nn.init.constant_(layers[-1].bias, 3.0)
    return nn.Sequential(nn.Flatten(), *layers, nn.Sigmoid(), nn.Unflatten(1, shape))


# --------------------------------------------------------------------------- layers and outputs


def find_layers(predictor: Any, layer: Any, *, masked: bool) -> tuple[str, ...]:
    """Return the names of the adversaries' layers, or none if they see the masked input."""
    if layer is None and masked:
        return ()
    names = [name for name, _ in predictor.named_modules() if name]
    wanted = ["encoder"] if layer is None else [layer] if isinstance(layer, str) else list(layer)
    lacking = [name for name in wanted if name not in names]
    if lacking or not wanted:
        missing = f"module has no submodule {quote(lacking)}" if lacking else "names no submodule"
        raise InputError(
            "{layer}={setting}, and {missing}. It has {names}: name one, or several in a list.",
            setting="None means 'encoder'" if layer is None else repr(layer),
            missing=missing,
            names=quote(names, most=20) if names else "none with a name",
        )
    return tuple(wanted)


def count_outputs(networks: Networks, inputs: Any, n_outputs: int) -> list[int]:
    """Return how many numbers each adversary sees of a row; raise if outputs are wrong."""
    torch = import_torch()
    with torch.no_grad():
        networks.train(False)
        logits, _, adversary_inputs = networks(inputs)
    n = len(inputs)
    for name, output in zip(networks.layers, adversary_inputs, strict=False):
        shape = tuple(getattr(output, "shape", ()))
        if len(shape) < 2 or shape[0] != n:
            gave = "was never called" if output is None else f"returned a {type(output).__name__}"
            raise InputError(
                "{layer} {called!r} {gave}. It must be a submodule that forward() calls and that "
                "returns one tensor with a row for each row of {X}.",
                called=name,
                gave=f"{gave} of shape {shape}" if shape else gave,
            )
    check_outputs(logits, n, n_outputs)
    return [prod(output.shape[1:]) for output in adversary_inputs]


# --------------------------------------------------------------------------- training


class TrainingRows:
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    `group` holds codes of `n_groups` groups, or is None.
    """

    def __init__(
        self,
        inputs: Array,
        target: Array,
        codes: Array | None,
        n_groups: int,
        weight: Array,
        device: Any,
    ) -> None:
        torch, n = import_torch(), len(inputs)
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


class Training:
    """Training in three phases, with the settings of an `AdversarialClassifier`."""

    def __init__(
        self, networks: Networks, rows: TrainingRows, settings: Any, seed: np.random.SeedSequence
    ) -> None:
        # What is drawn for the adversaries does not change what is drawn for the predictor.
        self.rng, self.adversary_rng = map(np.random.default_rng, seed.spawn(2))
        self.networks, self.rows, self.settings = networks, rows, settings
        self.batch_size = int(settings.batch_size)  # small integers of NumPy overflow
        self.steps = max(1, rows.n_rows // self.batch_size)
        rate = settings.learning_rate
        rates = rate if isinstance(rate, tuple | list) else (rate, rate)
        self.optimizer = _adam(networks.learners, rates[0])
        if networks.adversaries:
            self.adversary_optimizer = _adam(networks.adversaries, rates[1])
            self.balance = rows.balanced(within_classes=settings.balance == "class")

    @property
    def n_epochs(self) -> int:
        """How many epochs `epochs` trains."""
        settings = self.settings
        adversarial = settings.adversary_epochs if self.networks.adversaries else 0
        return int(settings.pretrain_epochs + adversarial + settings.max_epochs)

    def epochs(self) -> Iterator[tuple[str, float, float]]:
        """Train, and yield phase, loss and adversaries' mean loss of epochs."""
        settings = self.settings
        for _ in range(settings.pretrain_epochs):
            yield "predictor", *self._epoch(0, 0)
        # Alone, too: only an adversary that has learned something is worth hiding from.
        for _ in range(settings.adversary_epochs if self.networks.adversaries else 0):
            losses = [self._step_adversaries(*batch) for batch in self._adversary_batches(1)]
            yield "adversary", float("nan"), _mean(losses)
        for _ in range(settings.max_epochs):
            losses = self._epoch(settings.adversary_weight, settings.adversary_steps)
            yield "alternating", *losses

    def _epoch(self, adversary_weight: float, adversary_steps: int) -> tuple[float, float]:
        """Train the network in turns with adversaries; return its loss and their mean loss."""
        turns = adversary_steps if self.networks.adversaries else 0
        adversary_batches = self._adversary_batches(turns) if turns else iter(())
        losses: list[Any] = []
        adversary_losses: list[Any] = []
        for batch in self._batches():
            for adversary_batch in islice(adversary_batches, turns):
                adversary_losses.append(self._step_adversaries(*adversary_batch))
            losses.append(self._step(*batch, adversary_weight))
        return _mean(losses), _mean(adversary_losses)

    def _batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights of an epoch's steps; few distinct rows are in all of them."""
        weight = self.rows.weight
        if len(weight) <= self.batch_size:
            yield from [(np.arange(len(weight)), weight)] * self.steps
            return
        drawn = draw_rows(weight, self.rows.n_rows, self.rng)
        for part in np.array_split(drawn, self.steps):
            yield part, np.full(len(part), 1 / len(part))

    def _adversary_batches(self, n_epochs: int) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights in which groups are equal, of one epoch or several."""
        rows, steps = self.rows, n_epochs * self.steps
        weight = rows.weight * self.balance
        if len(weight) <= self.batch_size:
            yield from [(np.arange(len(weight)), weight)] * steps
            return
        size, parts = -(-self.batch_size // rows.n_groups), []
        for label in range(rows.n_groups):
            members = np.flatnonzero(rows.codes == label)
            share = weight[members] / weight[members].sum()
            drawn = draw_rows(share, steps * size, self.adversary_rng)
            parts.append(members[drawn].reshape(steps, size))
        for part in np.concatenate(parts, axis=1):
            yield part, np.full(len(part), 1 / len(part))

    def _tensor(self, numbers: Array) -> Any:
        torch, device = import_torch(), self.rows.target.device
        return torch.as_tensor(numbers, dtype=torch.float32, device=device)

    def _step(self, index: Array, share: Array, adversary_weight: float) -> Any:
        """Take a step of the predictor, and return the loss of its task."""
        networks, rows, weight = self.networks, self.rows, self._tensor(share)
        inputs = rows.inputs[index]
        networks.train(True)
        logits, masked, adversary_inputs = networks(inputs)
        loss = task = _loss(logits, rows.target[index], weight)
        if networks.mask is not None:
            lost = (inputs - masked).abs().flatten(1).mean(dim=1)
            loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
        if adversary_weight and networks.adversaries:
            balanced = weight * self._tensor(self.balance[index])
            group = rows.group[index] if networks.layers else None
            loss = loss - adversary_weight * self._hidden(adversary_inputs, group, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.optimizer.param_groups[0]["params"])
        self.optimizer.step()
        return task.detach()

    def _step_adversaries(self, index: Array, share: Array) -> Any:
        """Take a step of the adversaries, and return their mean loss."""
        with seeded(int(self.adversary_rng.integers(2**63))):
            self.networks.train(False)
            with import_torch().no_grad():
                adversary_inputs = self.networks(self.rows.inputs[index])[2]
            loss = self._hidden(adversary_inputs, self.rows.group[index], self._tensor(share))
            self.adversary_optimizer.zero_grad()
            loss.backward()
            self.adversary_optimizer.step()
        return loss.detach() / len(self.networks.adversaries)

    def _hidden(self, adversary_inputs: Sequence[Any], group: Any, weight: Any) -> Any:
        """Return how well the group is hidden: the sum of the adversaries' losses.

        Without groups it is minus their cross-entropy to equal probabilities. Unlike the loss of an
        adversary that is always right, it has a gradient.
        """
        total: Any = 0.0
        for adversary, features in zip(self.networks.adversaries, adversary_inputs, strict=True):
            logits = adversary(features).float()
            if group is None:
                total = total + (weight * logits.log_softmax(dim=1).mean(dim=1)).sum()
            else:
                total = total + _loss(logits, group, weight)
        return total


def _adam(networks: Sequence[Any], learning_rate: float) -> Any:
    """Return an optimizer of what the user has not frozen."""
    weights = [p for network in networks for p in network.parameters() if p.requires_grad]
    if not weights:
        raise InputError("All parameters of {module} are frozen, so that it learns nothing.")
    return import_torch().optim.Adam(weights, learning_rate)


def _loss(logits: Any, target: Any, weight: Any) -> Any:
    """Return cross-entropy, of several tasks their mean; weights sum to 1."""
    functional, logits = import_torch().nn.functional, logits.float()
    if target.ndim == 1:
        each = functional.cross_entropy(logits, target, reduction="none")
    else:
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        each = each.mean(dim=1)
    return (weight * each).sum()


def _mean(losses: Sequence[Any]) -> float:
    """Return the mean of an epoch's losses, which leave their device only here."""
    return float(import_torch().stack(losses).double().mean()) if losses else float("nan")
