"""A network and its critics, trained in turns.

The critics hear what the network makes of its inputs, and learn to tell the group from it. The
network learns its task, and to be hard to tell from. Whatever the critics do, random numbers of
the network stay its own: with an adversary's weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input import Array, quote
from skbiasamp.attackers._networks import WeightedRows, draw_rows, hold_out, import_torch

_AT_ONCE = 4096  # rows whose outputs are computed together


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
        """Return what makes groups weigh the same, in all or in every class, times the weight."""
        assert self.group is not None
        stratum = self.target.cpu().numpy() if within_classes else np.zeros(len(self.group), int)
        cell = stratum * self.n_groups + self.group
        share = np.bincount(cell, self.weight)[cell]
        return np.bincount(stratum, self.weight)[stratum] / (self.n_groups * share)

    def part(self, cells: WeightedRows, n_rows: int) -> Rows:
        """Return some of the rows, with other weights."""
        group = None if self.group is None else self.group[cells.inputs]
        at = import_torch().as_tensor(cells.inputs, device=self.inputs.device)
        return self._replace(
            inputs=self.inputs[at],
            target=self.target[at],
            group=group,
            weight=cells.weight,
            n_rows=n_rows,
        )


class Plan(NamedTuple):
    """How to train."""

    adversary_weight: float
    reconstruction_weight: float
    learning_rate: float
    critic_learning_rate: float
    weight_decay: float
    batch_size: int
    predictor_epochs: int
    critic_epochs: int
    max_epochs: int
    critic_steps: int
    within_classes: bool  # whether groups weigh the same in every class, not only in all
    patience: int  # epochs without a better loss on held-out rows; 0 holds out none
    validation_fraction: float


@dataclass(eq=False)
class Networks:
    """The predictor, the mask in front of it or None, and a critic for each layer it listens to.

    Without layers the one critic listens to the masked inputs.
    """

    predictor: Any
    mask: Any
    layers: tuple[str, ...]
    critics: list[Any] = field(default_factory=list)

    @property
    def learners(self) -> list[Any]:
        """What learns the task."""
        return [self.predictor] if self.mask is None else [self.mask, self.predictor]

    def __call__(self, inputs: Any) -> tuple[Any, Any, list[Any]]:
        """Return what is predicted, the inputs as they were shown, and what critics hear."""
        shown = inputs if self.mask is None else self.mask(inputs) * inputs
        heard: dict[str, Any] = {}

        def listen(name: str) -> Callable[..., None]:
            def hook(module: Any, given: Any, output: Any) -> None:
                heard[name] = output

            return hook

        hooks = [
            self.predictor.get_submodule(name).register_forward_hook(listen(name))
            for name in self.layers
        ]
        try:
            logits = self.predictor(shown)
        finally:
            for hook in hooks:
                hook.remove()
        return logits, shown, [heard.get(name) for name in self.layers] or [shown]

    def train(self, learning: bool) -> None:
        """Let the predictor learn while critics only listen, or the other way round."""
        for one in self.learners:
            one.train(learning)
        for one in self.critics:
            one.train(not learning)


@contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """Seed torch, and leave its random numbers as they were."""
    torch = import_torch()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


# --------------------------------------------------------------------------- networks by default


def layers_of(widths: Sequence[int], *, last: bool) -> list[Any]:
    """Return linear layers with ReLU between them, and after the last one where asked."""
    nn = import_torch().nn
    found: list[Any] = []
    for before, after in pairwise(widths):
        found += [nn.Linear(before, after), nn.ReLU()]
    return found if last else found[:-1]


def default_predictor(n_inputs: int, hidden: Sequence[int], n_outputs: int) -> Any:
    """Return hidden layers, named encoder, and a linear head."""
    nn = import_torch().nn
    widths = (n_inputs, *hidden)
    net = nn.Sequential()
    net.add_module("encoder", nn.Sequential(*layers_of(widths, last=True)))
    net.add_module("head", nn.Linear(widths[-1], n_outputs))
    return net


def default_critic(n_inputs: int, hidden: Sequence[int], n_groups: int) -> Any:
    """Return a network that hears as well where the predictor whispers."""
    nn = import_torch().nn
    # Standardised over the batch: else shrinking what is heard would pass for hiding it.
    quiet = nn.BatchNorm1d(n_inputs, affine=False, track_running_stats=False)
    widths = (n_inputs, *hidden, n_groups)
    return nn.Sequential(nn.Flatten(), quiet, *layers_of(widths, last=False))


def default_mask(shape: tuple[int, ...]) -> Any:
    """Return an encoder and decoder with a bottleneck, whose mask starts nearly open."""
    nn = import_torch().nn
    n_inputs = prod(shape)
    net = nn.Sequential(
        nn.Flatten(),
        *layers_of((n_inputs, max(1, n_inputs // 4), n_inputs), last=False),
        nn.Sigmoid(),
        nn.Unflatten(1, shape),
    )
    nn.init.constant_(net[3].bias, 3.0)
    return net


def find_layers(predictor: Any, layer: Any, *, masked: bool) -> tuple[str, ...]:
    """Return the names of the layers to listen to, or none where it is the masked input."""
    if layer is None and masked:
        return ()
    names = [name for name, _ in predictor.named_modules() if name]
    wanted = ["encoder"] if layer is None else [layer] if isinstance(layer, str) else list(layer)
    lacking = [name for name in wanted if name not in names]
    if lacking or not wanted:
        said = "layer=None, so 'encoder', is" if layer is None else f"layer={layer!r} says"
        has = f"It has {quote(names, most=20)}" if names else "It has none with a name"
        raise ValueError(
            f"{said} where the critic listens, and module has no submodule "
            f"{quote(lacking) if lacking else 'of no name'}. {has}: name one, or several in a list."
        )
    return tuple(wanted)


def listen_once(networks: Networks, inputs: Any, n_outputs: int) -> list[Any]:
    """Return what critics hear of a few rows, and raise where it is none or outputs are wrong."""
    torch = import_torch()
    with torch.no_grad():
        networks.train(False)
        logits, _, heard = networks(inputs)
    n = len(inputs)
    for name, one in zip(networks.layers, heard, strict=False):
        if not isinstance(one, torch.Tensor) or one.ndim < 2 or len(one) != n:
            saw = (
                f"was given a tensor of shape {tuple(one.shape)} for {n} rows"
                if isinstance(one, torch.Tensor)
                else "was never called"
                if one is None
                else f"was given a {type(one).__name__}"
            )
            raise ValueError(
                f"The critic of layer {name!r} {saw}. It listens to a submodule that forward() "
                "calls, and that returns one tensor with a row for each row of X."
            )
    shape = tuple(getattr(logits, "shape", ()))
    if shape != (n, n_outputs):
        raise ValueError(
            f"module gave {shape or type(logits).__name__} for {n} rows, and must give logits of "
            f"shape ({n}, {n_outputs}): one a class, or one a task of a multilabel y."
        )
    return heard


# --------------------------------------------------------------------------- training


def train(
    networks: Networks, rows: Rows, plan: Plan, seed: np.random.SeedSequence
) -> list[tuple[str, float, float]]:
    """Train in three phases, and return (phase, loss, critics' loss) of every epoch."""
    return list(_Training(networks, rows, plan, seed).epochs())


class _Training:
    def __init__(
        self, networks: Networks, rows: Rows, plan: Plan, seed: np.random.SeedSequence
    ) -> None:
        torch = import_torch()
        # What the critics draw does not change what the predictor draws.
        own, critics, split = seed.spawn(3)
        self.rng, self.critic_rng = np.random.default_rng(own), np.random.default_rng(critics)
        self.networks, self.plan, self.rows, self.judged = networks, plan, rows, None
        if plan.patience:
            cells = WeightedRows(np.arange(len(rows.weight)), rows.weight, rows.weight)
            learnt, judged, n_rows = hold_out(
                cells, rows.n_rows, plan.validation_fraction, np.random.default_rng(split)
            )
            self.rows, self.judged = rows.part(learnt, n_rows), rows.part(judged, rows.n_rows)
            if self.rows.group is not None and len(np.unique(self.rows.group)) < rows.n_groups:
                raise ValueError(
                    "early_stopping=True held out all rows of a group, and critics have none to "
                    "learn from. Lower validation_fraction, or pass early_stopping=False."
                )
        self.steps = max(1, self.rows.n_rows // plan.batch_size)
        # What the user has frozen stays as it is.
        self.weights = [p for one in networks.learners for p in one.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(
            self.weights, plan.learning_rate, weight_decay=plan.weight_decay
        )
        if networks.critics:
            self.critic_optimizer = torch.optim.Adam(
                [p for one in networks.critics for p in one.parameters()],
                plan.critic_learning_rate,
            )
            device = self.rows.inputs.device
            self.group = torch.as_tensor(self.rows.group, device=device)
            self.balance = self.rows.balanced(within_classes=plan.within_classes)
            self.counts = torch.as_tensor(self.balance, dtype=torch.float32, device=device)

    def epochs(self) -> Iterator[tuple[str, float, float]]:
        plan, critics = self.plan, self.networks.critics
        yield from self._alone()
        for _ in range(plan.critic_epochs if critics else 0):
            told = [self._teach_critics(batch) for batch in self._critic_batches(1)]
            yield "critic", float("nan"), float(np.mean(told))
        for _ in range(plan.max_epochs):
            learnt, told = [], []
            heard = iter(self._critic_batches(plan.critic_steps) if critics else ())
            for batch in self._batches():
                told += [self._teach_critics(one) for one in islice(heard, plan.critic_steps)]
                learnt.append(self._learn(batch, adversary=plan.adversary_weight))
            yield "turns", float(np.mean(learnt)), float(np.mean(told)) if told else float("nan")

    def _alone(self) -> Iterator[tuple[str, float, float]]:
        """Train the predictor, until held-out rows are predicted no better."""
        best, kept, waited = float("inf"), None, 0
        for _ in range(self.plan.predictor_epochs):
            loss = float(np.mean([self._learn(batch, adversary=0) for batch in self._batches()]))
            yield "predictor", loss, float("nan")
            if self.judged is None:
                continue
            if (held_out := self._judge()) < best:
                best, waited = held_out, 0
                kept = [deepcopy(one.state_dict()) for one in self.networks.learners]
            elif (waited := waited + 1) >= self.plan.patience:
                break
        if kept is not None:
            for one, state in zip(self.networks.learners, kept, strict=True):
                one.load_state_dict(state)

    def _batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights of an epoch's steps; few distinct rows are in all of them."""
        torch = import_torch()
        weight, device = self.rows.weight, self.rows.inputs.device
        if len(weight) <= self.plan.batch_size:
            every = slice(None), torch.as_tensor(weight, dtype=torch.float32, device=device)
            yield from [every] * self.steps
            return
        drawn = draw_rows(weight, self.rows.n_rows, self.rng)
        for part in np.array_split(drawn, self.steps):
            yield torch.as_tensor(part, device=device), 1 / len(part)

    def _critic_batches(self, n_epochs: int) -> Iterator[tuple[Any, Any]]:
        """Yield rows and weights in which groups are equal, of a critic's epoch or several."""
        torch = import_torch()
        weight, group, device = self.rows.weight, self.rows.group, self.rows.inputs.device
        assert group is not None
        steps = n_epochs * self.steps
        if len(weight) <= self.plan.batch_size:
            balanced = torch.as_tensor(weight * self.balance, dtype=torch.float32, device=device)
            yield from [(slice(None), balanced)] * steps
            return
        size = -(-self.plan.batch_size // self.rows.n_groups)
        dealt = []
        for one in range(self.rows.n_groups):
            members = np.flatnonzero(group == one)
            share = (weight * self.balance)[members]
            share /= share.sum()
            drawn = draw_rows(share, steps * size, self.critic_rng)
            dealt.append(members[drawn].reshape(steps, size))
        for part in np.concatenate(dealt, axis=1):
            yield torch.as_tensor(part, device=device), 1 / len(part)

    def _learn(self, batch: tuple[Any, Any], *, adversary: float) -> float:
        """Take a step of the predictor, and return the loss of its task."""
        index, weight = batch
        networks, inputs = self.networks, self.rows.inputs[index]
        networks.train(True)
        logits, shown, heard = networks(inputs)
        loss = task = _task_loss(logits, self.rows.target[index], weight)
        if networks.mask is not None:
            lost = (inputs - shown).abs().flatten(1).mean(dim=1)
            loss = loss + self.plan.reconstruction_weight * (weight * lost).sum()
        if adversary and networks.critics:
            balanced = weight * self.counts[index]
            loss = loss - adversary * self._told(heard, self.group[index], balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.weights)
        self.optimizer.step()
        return task.item()

    def _teach_critics(self, batch: tuple[Any, Any]) -> float:
        """Take a step of the critics, and return their mean loss."""
        torch = import_torch()
        index, weight = batch
        with seeded(int(self.critic_rng.integers(2**63)), self.rows.inputs.device):
            self.networks.train(False)
            with torch.no_grad():
                heard = self.networks(self.rows.inputs[index])[2]
            loss = self._told(heard, self.group[index], weight)
            self.critic_optimizer.zero_grad()
            loss.backward()
            self.critic_optimizer.step()
        return loss.item() / len(self.networks.critics)

    def _told(self, heard: Sequence[Any], group: Any, weight: Any) -> Any:
        """Return the sum of the critics' losses."""
        return sum(
            _task_loss(critic(one), group, weight)
            for critic, one in zip(self.networks.critics, heard, strict=True)
        )

    def _judge(self) -> float:
        torch = import_torch()
        assert self.judged is not None
        weight = torch.as_tensor(self.judged.weight, dtype=torch.float32)
        with torch.no_grad():
            self.networks.train(False)
            logits = torch.cat(
                [self.networks(part)[0] for part in self.judged.inputs.split(_AT_ONCE)]
            )
            weight = weight.to(logits.device)
            return _task_loss(logits, self.judged.target, weight).item()


def _task_loss(logits: Any, target: Any, weight: Any) -> Any:
    """Return cross-entropy, of several tasks their mean; weights sum to 1."""
    functional = import_torch().nn.functional
    if target.ndim == 1:
        each = functional.cross_entropy(logits, target, reduction="none")
    else:
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        each = each.mean(dim=1)
    return (weight * each).sum()


def outputs_of(networks: Networks, inputs: Any) -> tuple[Array, Array]:
    """Return logits, and what critics would hear, flat and side by side."""
    torch = import_torch()
    logits, flat = [], []
    with torch.inference_mode():
        networks.train(False)
        for part in inputs.split(_AT_ONCE):
            given, _, heard = networks(part)
            logits.append(given.double().cpu().numpy())
            flat.append(torch.cat([one.flatten(1) for one in heard], dim=1).double().cpu().numpy())
    return np.concatenate(logits), np.concatenate(flat)
