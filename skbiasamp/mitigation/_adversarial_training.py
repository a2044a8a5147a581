"""A network and its adversaries, trained in turns.

Adversaries learn to predict the group from what layers of the network give. The network learns
its task, and to make them fail. Random numbers of the network do not depend on the adversaries:
with an adversary weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp.attackers.networks import draw_rows
from skbiasamp.attackers.optional_torch import import_torch, seeded
from skbiasamp.mitigation._adversarial_networks import Networks, parameter_groups
from skbiasamp.mitigation._adversarial_rows import TrainingRows, consecutive


class Training:
    """Training in three phases, with the settings of an `AdversarialClassifier`.

    With validation rows, the networks end as they were in the best epoch of the last phase.
    """

    def __init__(
        self,
        networks: Networks,
        rows: TrainingRows,
        settings: Any,
        seed: np.random.SeedSequence,
        validation: TrainingRows | None = None,
    ) -> None:
        adam = import_torch().optim.Adam
        # What is drawn for the adversaries does not change what is drawn for the predictor.
        self.rng, self.adversary_rng = map(np.random.default_rng, seed.spawn(2))
        self.networks, self.rows, self.settings = networks, rows, settings
        self.validation = validation
        self.best = float("inf"), 0  # the value of validation rows, and its epoch
        self.state: list[Any] = []
        self.batch_size = int(settings.batch_size)  # small integers of NumPy overflow
        self.steps = max(1, rows.n_rows // self.batch_size)
        self.device = rows.target.device
        groups, self.frozen = parameter_groups(networks, settings.param_groups)
        self.weights = [p for group in groups for p in group["params"]]
        self._thaw(0)
        self.optimizer = adam(groups, settings.learning_rate)
        if networks.adversaries:
            weights = [p for adversary in networks.adversaries for p in adversary.parameters()]
            self.adversary_optimizer = adam(weights, settings.learning_rate)
            self.group = self._codes(rows)
            self.balance = rows.balanced(within_classes=settings.balance == "class")
            self.factor = self._tensor(self.balance)

    @property
    def n_epochs(self) -> int:
        """How many epochs `epochs` trains."""
        settings = self.settings
        adversarial = settings.adversary_epochs if self.networks.adversaries else 0
        return int(settings.pretrain_epochs + adversarial + settings.max_epochs)

    def epochs(self) -> Iterator[tuple[Any, ...]]:
        """Train, and yield phase, loss, adversaries' mean loss and validation losses of epochs."""
        settings, nan = self.settings, float("nan")
        for epoch in range(settings.pretrain_epochs):
            self._thaw(epoch)
            losses = self._epoch(0, 0)
            yield "predictor", *losses, *self._validate(epoch, last=not settings.max_epochs)
        # Alone, too: only an adversary that has learned something is worth hiding from.
        for _ in range(settings.adversary_epochs if self.networks.adversaries else 0):
            batches = self.rows.loaded(self._adversary_batches(1))
            adversary_losses = [self._step_adversaries(batch) for batch in batches]
            unknown = () if self.validation is None else (nan, nan)
            yield "adversary", nan, _mean(adversary_losses), *unknown
        for epoch in range(settings.max_epochs):
            self._thaw(settings.pretrain_epochs + epoch)
            losses = self._epoch(settings.adversary_weight, settings.adversary_steps)
            epoch += self.n_epochs - settings.max_epochs
            yield "alternating", *losses, *self._validate(epoch)
        self._thaw(np.inf)
        for network, state in zip(self.networks.every, self.state, strict=False):
            network.load_state_dict(state)

    def _epoch(self, adversary_weight: float, adversary_steps: int) -> tuple[float, float]:
        """Train the network in turns with adversaries; return its loss and their mean loss."""
        turns = adversary_steps if self.networks.adversaries else 0
        adversary_batches = self.rows.loaded(self._adversary_batches(turns) if turns else ())
        losses: list[Any] = []
        adversary_losses: list[Any] = []
        for batch in self.rows.loaded(self._batches()):
            adversary_losses += map(self._step_adversaries, islice(adversary_batches, turns))
            losses.append(self._step(batch, adversary_weight))
        return _mean(losses), _mean(adversary_losses)

    def _thaw(self, epoch: float) -> None:
        """Let the parameters learn that are no longer frozen in an epoch of the network."""
        for n_epochs, parameters in self.frozen:
            for parameter in parameters:
                parameter.requires_grad_(epoch >= n_epochs)
        self.learning = [p for p in self.weights if p.requires_grad]
        if not self.learning:
            raise InputError(
                "All parameters of {module} are frozen in epoch {epoch}, so it learns nothing. "
                "Leave some out of {param_groups}, or set their requires_grad.",
                epoch=epoch + 1,
            )

    def _validate(self, epoch: int, *, last: bool = True) -> tuple[float, ...]:
        """Return the loss and the adversaries' mean loss on validation rows; keep the best epoch.

        Only an epoch of the last phase can be the best.
        """
        rows, settings = self.validation, self.settings
        if rows is None:
            return ()
        torch, adversaries = import_torch(), self.networks.adversaries
        task, hidden = torch.zeros(2, device=self.device)
        weight = self._tensor(rows.weight)
        outputs: list[list[Any]] = []  # what adversaries see of each batch
        for network in self.networks.every:
            network.eval()
        with torch.no_grad(), self._autocast():
            every = consecutive(len(weight), self.batch_size)
            for inputs, index, share in rows.loaded((part, weight[part]) for part in every):
                logits, _, adversary_inputs = self.networks(inputs)
                task += _loss(logits, rows.target[index], share)
                outputs.append(adversary_inputs)
            if adversaries:
                # All at once: adversaries standardise, and rows in memory are sorted.
                features = [torch.cat(parts) for parts in zip(*outputs, strict=True)]
                balance = rows.balanced(within_classes=settings.balance == "class")
                balanced = weight * self._tensor(balance)
                hidden = self._adversary_loss(features, self._codes(rows), balanced)
        loss, adversary_loss = task.item(), hidden.item() / max(1, len(adversaries))
        # An adversary that is worse than a guess knows the group, with the signs changed.
        known = abs(adversary_loss - float(np.log(max(1, rows.n_groups)))) * len(adversaries)
        if last and (value := loss + settings.adversary_weight * known) < self.best[0]:
            self.best = value, epoch
            self.state = [deepcopy(network.state_dict()) for network in self.networks.every]
        return loss, adversary_loss if adversaries else float("nan")

    def _codes(self, rows: TrainingRows) -> Any:
        return import_torch().as_tensor(rows.group, device=self.device)

    def _autocast(self) -> Any:
        torch = import_torch()
        enabled = self.settings.mixed_precision
        return torch.autocast(self.device.type, torch.bfloat16, enabled=enabled)

    def _tensor(self, weight: Array) -> Any:
        torch = import_torch()
        return torch.as_tensor(weight, dtype=torch.float32, device=self.device)

    def _batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights of an epoch's steps; few distinct rows are in all of them."""
        weight = self.rows.weight
        if len(weight) <= self.batch_size:
            yield from self._every(weight, self.steps)
            return
        drawn = draw_rows(weight, self.rows.n_rows, self.rng)
        yield from map(self._equal, np.array_split(drawn, self.steps))

    def _adversary_batches(self, n_epochs: int) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights in which groups are equal, of one epoch or several."""
        weight, group = self.rows.weight * self.balance, self.rows.group
        steps = n_epochs * self.steps
        if len(weight) <= self.batch_size:
            yield from self._every(weight, steps)
            return
        size = -(-self.batch_size // self.rows.n_groups)
        parts = []
        for label in range(self.rows.n_groups):
            members = np.flatnonzero(group == label)
            share = weight[members] / weight[members].sum()
            drawn = draw_rows(share, steps * size, self.adversary_rng)
            parts.append(members[drawn].reshape(steps, size))
        yield from map(self._equal, np.concatenate(parts, axis=1))

    def _every(self, weight: Array, steps: int) -> list[tuple[Any, Any]]:
        rows = import_torch().arange(len(weight), device=self.device)
        return [(rows, self._tensor(weight))] * steps

    def _equal(self, rows: Array) -> tuple[Any, Any]:
        return import_torch().as_tensor(rows, device=self.device), 1 / len(rows)

    def _step(self, batch: tuple[Any, Any, Any], adversary_weight: float) -> Any:
        """Take a step of the predictor, and return the loss of its task."""
        inputs, index, weight = batch
        networks = self.networks
        networks.train(True)
        with self._autocast():
            logits, masked, adversary_inputs = networks(inputs)
            loss = task = _loss(logits, self.rows.target[index], weight)
            if networks.mask is not None:
                lost = (inputs - masked).abs().flatten(1).mean(dim=1)
                loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
            if adversary_weight and networks.adversaries:
                balanced = weight * self.factor[index]
                if networks.layers:
                    against = self._adversary_loss(adversary_inputs, self.group[index], balanced)
                    loss = loss - adversary_weight * against
                else:
                    loss = loss + adversary_weight * self._certainty(adversary_inputs, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.learning)
        self.optimizer.step()
        return task.detach()

    def _step_adversaries(self, batch: tuple[Any, Any, Any]) -> Any:
        """Take a step of the adversaries, and return their mean loss."""
        torch = import_torch()
        inputs, index, weight = batch
        with seeded(int(self.adversary_rng.integers(2**63)), self.device):
            self.networks.train(False)
            with self._autocast():
                with torch.no_grad():
                    adversary_inputs = self.networks(inputs)[2]
                loss = self._adversary_loss(adversary_inputs, self.group[index], weight)
            self.adversary_optimizer.zero_grad()
            loss.backward()
            self.adversary_optimizer.step()
        return loss.detach() / len(self.networks.adversaries)

    def _adversary_loss(self, adversary_inputs: Sequence[Any], group: Any, weight: Any) -> Any:
        """Return the sum of the adversaries' losses."""
        pairs = zip(self.networks.adversaries, adversary_inputs, strict=True)
        return sum(_loss(adversary(features), group, weight) for adversary, features in pairs)

    def _certainty(self, adversary_inputs: Sequence[Any], weight: Any) -> Any:
        """Return how far adversaries are from guessing: the cross-entropy to equal probabilities.

        Unlike the negative loss of an adversary that is always right, it has a gradient.
        """
        pairs = zip(self.networks.adversaries, adversary_inputs, strict=True)
        return sum(
            -(weight * adversary(features).float().log_softmax(dim=1).mean(dim=1)).sum()
            for adversary, features in pairs
        )


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
