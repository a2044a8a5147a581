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

from skbiasamp._input.errors import InputError
from skbiasamp.attackers.networks import draw_rows, import_torch, seeded
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
        groups, self.frozen = parameter_groups(networks, settings.param_groups)
        self.weights = [p for group in groups for p in group["params"]]
        self._thaw(0)
        self.optimizer = adam(groups, settings.learning_rate)
        if networks.adversaries:
            weights = [p for adversary in networks.adversaries for p in adversary.parameters()]
            self.adversary_optimizer = adam(weights, settings.learning_rate)
            self.balance = rows.balanced(within_classes=settings.balance == "class")

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

    def _autocast(self) -> Any:
        torch, device = import_torch(), self.rows.target.device
        return torch.autocast(device.type, torch.bfloat16, enabled=self.settings.mixed_precision)

    def _step(self, batch: tuple[Any, Any, Any], adversary_weight: float) -> Any:
        """Take a step of the predictor, and return the loss of its task."""
        inputs, index, weight = batch
        networks, rows = self.networks, self.rows
        networks.train(True)
        with self._autocast():
            logits, masked, adversary_inputs = networks(inputs)
            loss = task = _loss(logits, rows.target[index], weight)
            if networks.mask is not None:
                lost = (inputs - masked).abs().flatten(1).mean(dim=1)
                loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
            if adversary_weight and networks.adversaries:
                balanced = weight * rows.tensor(self.balance)[index]
                group = rows.group[index] if networks.layers else None
                loss = loss - adversary_weight * self._hidden(adversary_inputs, group, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.learning)
        self.optimizer.step()
        return task.detach()

    def _step_adversaries(self, batch: tuple[Any, Any, Any]) -> Any:
        """Take a step of the adversaries, and return their mean loss."""
        inputs, index, weight = batch
        with seeded(int(self.adversary_rng.integers(2**63))):
            self.networks.train(False)
            with self._autocast():
                with import_torch().no_grad():
                    adversary_inputs = self.networks(inputs)[2]
                loss = self._hidden(adversary_inputs, self.rows.group[index], weight)
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

    def _validate(self, epoch: int, *, last: bool = True) -> tuple[float, ...]:
        """Return the loss and the adversaries' mean loss on validation rows; keep the best epoch.

        Only an epoch of the last phase can be the best.
        """
        rows, settings, adversaries = self.validation, self.settings, self.networks.adversaries
        if rows is None:
            return ()
        torch, loss, batches = import_torch(), 0.0, []
        for network in self.networks.every:
            network.eval()
        with torch.no_grad(), self._autocast():
            parts = consecutive(len(rows.weight), self.batch_size)
            for inputs, index, share in rows.loaded((part, rows.weight[part]) for part in parts):
                logits, _, adversary_inputs = self.networks(inputs)
                loss += _loss(logits, rows.target[index], share)
                batches.append(adversary_inputs)
            adversary_loss = float("nan")
            if adversaries:
                # All at once: adversaries standardise, and rows in memory are sorted.
                features = [torch.cat(own) for own in zip(*batches, strict=True)]
                balance = rows.balanced(within_classes=settings.balance == "class")
                balanced = rows.tensor(rows.weight * balance)
                hidden = self._hidden(features, rows.group, balanced)
                adversary_loss = float(hidden) / len(adversaries)
        value = loss = float(loss)
        if adversaries:
            # An adversary that is worse than a guess knows the group, with the signs changed.
            known = abs(adversary_loss - float(np.log(rows.n_groups))) * len(adversaries)
            value += settings.adversary_weight * known
        if last and value < self.best[0]:
            self.best = value, epoch
            self.state = [deepcopy(network.state_dict()) for network in self.networks.every]
        return loss, adversary_loss


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
