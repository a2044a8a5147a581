"""The networks of an `AdversarialClassifier`, trained in turns.

The adversary learns to predict the group from what a layer of the network gives. The network
learns its task, and to make it fail. Its random numbers do not depend on the adversary: with an
adversary weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise, repeat
from math import prod
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, quote
from skbiasamp.attackers.networks import (
    check_outputs,
    distinct_inputs,
    draw_rows,
    hidden_widths,
    import_torch,
    make_module,
    seeded,
)

_ADVERSARY_WIDTH = 64


@dataclass(eq=False)
class Networks:
    """The predictor, the mask before it or None, and the adversary of a layer, or None.

    Without a layer, the adversary sees the masked inputs.
    """

    predictor: Any
    mask: Any
    layer: str | None
    adversary: Any = None

    @property
    def learners(self) -> list[Any]:
        """The networks that learn the task."""
        return [self.predictor] if self.mask is None else [self.mask, self.predictor]

    @property
    def every(self) -> list[Any]:
        """All networks."""
        return self.learners if self.adversary is None else [*self.learners, self.adversary]

    def __call__(self, inputs: Any) -> tuple[Any, Any, Any]:
        """Return logits, masked inputs and what the adversary sees."""
        masked = inputs if self.mask is None else self.mask(inputs) * inputs
        if self.layer is None:
            return self.predictor(masked), masked, masked
        features: list[Any] = []
        layer = self.predictor.get_submodule(self.layer)
        hook = layer.register_forward_hook(lambda *called: features.append(called[2]))
        try:
            logits = self.predictor(masked)
        finally:
            hook.remove()
        return logits, masked, features[-1] if features else None

    def train(self, learning: bool) -> None:
        """Set the predictor to training and the adversary to evaluation, or the other way round."""
        for network in self.every:
            network.train(learning != (network is self.adversary))


def build(rows: TrainingRows, n_outputs: int, settings: Any, seed: int) -> tuple[Networks, int]:
    """Return networks for rows, and how many numbers the adversary sees of each.

    The settings are those of an `AdversarialClassifier`, and the seed is for the adversary.
    """
    first = rows.inputs[:2]
    shape, device = tuple(first.shape[1:]), first.device
    module, mask = settings.module, None
    if module is None:
        hidden = hidden_widths(settings)
        if not hidden:
            # Without a hidden layer there is no representation.
            raise InputError("{hidden_layer_sizes} is empty. Pass a width for each hidden layer.")
        module = partial(default_predictor, hidden=hidden)
    predictor = make_module("module", module, shape[0], n_outputs).to(device)
    if settings.mask is not False:
        mask = default_mask if settings.mask is True else settings.mask
        mask = make_module("mask", mask, shape).to(device)
    layer = settings.layer or ("encoder" if mask is None else None)
    names = [name for name, _ in predictor.named_modules() if name]
    if layer is not None and layer not in names:
        raise InputError(
            "{layer}={setting}, and module has no submodule {wanted!r}. It has {names}.",
            setting="None means 'encoder'" if settings.layer is None else repr(layer),
            wanted=layer,
            names=quote(names, most=20) if names else "none with a name",
        )
    networks = Networks(predictor, mask, layer)
    networks.train(False)
    with import_torch().no_grad():
        logits, _, features = networks(first)
    n, of_layer = len(first), tuple(getattr(features, "shape", ()))
    if len(of_layer) < 2 or of_layer[0] != n:
        gave = "was never called" if features is None else f"returned a {type(features).__name__}"
        raise InputError(
            "{layer} {called!r} {gave}. It must be a submodule that forward() calls and that "
            "returns one tensor with a row for each row of {X}.",
            called=layer,
            gave=f"{gave} of shape {of_layer}" if of_layer else gave,
        )
    check_outputs(logits, n, n_outputs)
    n_seen = prod(of_layer[1:])
    if rows.group is not None:
        adversary = settings.adversary
        if adversary is None:
            adversary = partial(default_adversary, standardised=layer is not None)
        with seeded(seed):
            adversary = make_module("adversary", adversary, n_seen, rows.n_groups)
        networks.adversary = adversary.to(device)
    return networks, n_seen


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


# --------------------------------------------------------------------------- training


class TrainingRows:
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    `group` holds codes of `n_groups` groups, or is None.
    """

    def __init__(
        self, inputs: Array, target: Array, codes: Array | None, weight: Array, device: Any
    ) -> None:
        torch, n = import_torch(), len(inputs)
        columns = [inputs.reshape(n, -1), target.reshape(n, -1)]
        columns += [] if codes is None else [codes.reshape(n, 1)]
        code = distinct_inputs(np.hstack(columns).astype(np.float32))[1]
        first, total = np.unique(code, return_index=True)[1], np.bincount(code, weight)
        self.inputs = torch.tensor(inputs[first] + np.float32(0), device=device)
        self.target = torch.as_tensor(target[first], device=device)
        self.codes = np.zeros(len(first), int) if codes is None else codes[first]
        self.group: Any = None if codes is None else torch.as_tensor(self.codes, device=device)
        self.n_groups, self.weight = int(self.codes.max()) + 1, total / total.sum()
        whole = bool((weight == np.rint(weight)).all())
        self.n_rows = int(total.sum()) if whole else n

    def balanced(self, *, within_classes: bool) -> Array:
        """Return factors of the weights with which all groups weigh the same."""
        stratum = self.target.cpu().numpy() if within_classes else np.zeros_like(self.codes)
        cell = stratum * self.n_groups + self.codes
        share = np.bincount(cell, self.weight)[cell]
        return np.bincount(stratum, self.weight)[stratum] / (self.n_groups * share)


class Training:
    """Training of epochs in three phases, with the settings of an `AdversarialClassifier`."""

    def __init__(
        self, networks: Networks, rows: TrainingRows, settings: Any, seed: np.random.SeedSequence
    ) -> None:
        # What is drawn for the adversaries does not change what is drawn for the predictor.
        self.rng, self.adversary_rng = map(np.random.default_rng, seed.spawn(2))
        self.networks, self.rows, self.settings = networks, rows, settings
        self.batch_size = int(settings.batch_size)  # small integers of NumPy overflow
        self.steps = max(1, rows.n_rows // self.batch_size)
        adam, rate = import_torch().optim.Adam, settings.learning_rate
        self.weights = [
            weights
            for network in networks.learners
            for weights in network.parameters()
            if weights.requires_grad  # the user may have frozen some
        ]
        if not self.weights:
            raise InputError("All parameters of {module} are frozen, so that it learns nothing.")
        self.optimizer = adam(self.weights, rate)
        if networks.adversary is not None:
            self.adversary_optimizer = adam(networks.adversary.parameters(), rate)
            self.balance = rows.balanced(within_classes=settings.balance == "class")

    @property
    def phases(self) -> list[str]:
        """The phase of each epoch."""
        settings, adversary = self.settings, self.networks.adversary
        # Alone, too: only an adversary that has learned something is worth hiding from.
        alone = 0 if adversary is None else settings.adversary_epochs
        names = ("predictor", "adversary", "alternating")
        return list(np.repeat(names, (settings.pretrain_epochs, alone, settings.max_epochs)))

    def epoch(self, phase: str) -> tuple[str, float, float]:
        """Train for an epoch; return its phase, loss and the adversary's loss."""
        settings, alone = self.settings, phase == "adversary"
        turns = 1 if alone else settings.adversary_steps
        if phase == "predictor" or self.networks.adversary is None:
            turns = 0
        # The network's random numbers do not depend on the adversary.
        batches = repeat(None, self.steps) if alone else self._batches()
        adversary_batches = self._adversary_batches(turns) if turns else iter(())
        losses: list[Any] = []
        adversary_losses: list[Any] = []
        for batch in batches:
            for adversary_batch in islice(adversary_batches, turns):
                adversary_losses.append(self._step_adversary(*adversary_batch))
            if batch is not None:
                losses.append(self._step(*batch, settings.adversary_weight if turns else 0))
        return phase, _mean(losses), _mean(adversary_losses)

    def _batches(self) -> Iterator[tuple[Array, Array]]:
        """Return rows and weights of an epoch's steps."""
        rows = self.rows
        all_alike = np.zeros_like(rows.weight)
        return self._drawn(rows.weight, all_alike, rows.n_rows, self.steps, self.rng)

    def _adversary_batches(self, n_epochs: int) -> Iterator[tuple[Array, Array]]:
        """Return rows and weights in which groups are equal, of one epoch or several."""
        rows, steps = self.rows, n_epochs * self.steps
        n = steps * -(-self.batch_size // rows.n_groups)
        weight = rows.weight * self.balance
        return self._drawn(weight, rows.codes, n, steps, self.adversary_rng)

    def _drawn(
        self, weight: Array, codes: Any, n: int, steps: int, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array]]:
        """Return rows and weights of steps, with n rows of each code in all of them together.

        Few distinct rows are in all steps.
        """
        if len(weight) <= self.batch_size:
            return repeat((np.arange(len(weight)), weight), steps)
        drawn = []
        for code in np.unique(codes):
            members = np.flatnonzero(codes == code)
            share = weight[members] / weight[members].sum()
            drawn.append(np.array_split(members[draw_rows(share, n, rng)], steps))
        batches = map(np.concatenate, zip(*drawn, strict=True))
        return ((rows, np.full(len(rows), 1 / len(rows))) for rows in batches)

    def _tensor(self, numbers: Array) -> Any:
        torch, device = import_torch(), self.rows.target.device
        return torch.as_tensor(numbers, dtype=torch.float32, device=device)

    def _step(self, index: Array, share: Array, adversary_weight: float) -> Any:
        """Take a step of the predictor, and return the loss of its task."""
        networks, rows, weight = self.networks, self.rows, self._tensor(share)
        inputs = rows.inputs[index]
        networks.train(True)
        logits, masked, features = networks(inputs)
        loss = task = _loss(logits, rows.target[index], weight)
        if networks.mask is not None:
            lost = (inputs - masked).abs().flatten(1).mean(dim=1)
            loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
        if adversary_weight:
            balanced = weight * self._tensor(self.balance[index])
            group = None if networks.layer is None else rows.group[index]
            loss = loss - adversary_weight * self._hidden(features, group, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.weights)
        self.optimizer.step()
        return task.detach()

    def _step_adversary(self, index: Array, share: Array) -> Any:
        """Take a step of the adversary, and return its loss."""
        with seeded(int(self.adversary_rng.integers(2**63))):
            self.networks.train(False)
            with import_torch().no_grad():
                features = self.networks(self.rows.inputs[index])[2]
            loss = self._hidden(features, self.rows.group[index], self._tensor(share))
            self.adversary_optimizer.zero_grad()
            loss.backward()
            self.adversary_optimizer.step()
        return loss.detach()

    def _hidden(self, features: Any, group: Any, weight: Any) -> Any:
        """Return how well the group is hidden: the adversary's loss.

        Without groups it is minus its cross-entropy to equal probabilities. Unlike the loss of an
        adversary that is always right, it has a gradient.
        """
        logits = self.networks.adversary(features)
        if group is None:
            return (weight * logits.log_softmax(dim=1).mean(dim=1)).sum()
        return _loss(logits, group, weight)


def _loss(logits: Any, target: Any, weight: Any) -> Any:
    """Return cross-entropy, of several tasks their mean; weights sum to 1."""
    functional = import_torch().nn.functional
    if target.ndim == 1:
        each = functional.cross_entropy(logits, target, reduction="none")
    else:
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        each = each.mean(dim=1)
    return (weight * each).sum()


def _mean(losses: Sequence[Any]) -> float:
    """Return the mean of an epoch's losses, which leave their device only here."""
    return float(import_torch().stack(losses).double().mean()) if losses else float("nan")
