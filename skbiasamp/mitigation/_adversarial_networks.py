"""The networks of an `AdversarialClassifier`: predictor, mask, layers and adversaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, check_count
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp.attackers.networks import check_outputs, import_torch, make_module

_FROZEN = "frozen_epochs"  # the option of a group of parameters that is not the optimizer's
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
            for module in network.modules() if learning else ():
                own = [*module.parameters(recurse=False)]
                frozen = own and not any(parameter.requires_grad for parameter in own)
                if frozen and hasattr(module, "running_mean"):
                    module.eval()
        for network in self.adversaries:
            network.train(not learning)


def outputs_of(
    networks: Networks, parts: Iterable[Any], n_rows: int, *, representation: bool
) -> Array:
    """Return the logits of all rows, or what adversaries see of them, flat and side by side."""
    torch, done = import_torch(), 0
    outputs = np.empty(0)
    with torch.inference_mode():
        networks.train(False)
        for part in parts:
            logits, _, adversary_inputs = networks(part)
            shown = adversary_inputs if representation else [logits]
            flat = torch.cat([output.flatten(1) for output in shown], 1)
            if not done:
                # Small arrays between large ones would keep the memory of these from being reused.
                outputs = np.empty((n_rows, flat.shape[1]))
            outputs[done : done + len(part)] = flat.double().cpu().numpy()
            done += len(part)
    return outputs


def parameter_groups(networks: Networks, given: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
    """Return the groups of an optimizer, and after how many epochs which parameters thaw.

    Other parameters that the user has frozen stay as they are.
    """
    torch = import_torch()
    known = {*torch.optim.Adam([torch.zeros(1)]).defaults, _FROZEN}
    left = dict(networks.predictor.named_parameters())
    groups, frozen = [], []
    for group in given:
        pair = isinstance(group, tuple | list) and [type(part) for part in group]
        if pair != [str, dict] or not known.issuperset(group[1]):
            raise InputTypeError(
                "{param_groups} must hold pairs such as ('encoder.*', {options}), with options of "
                "torch.optim.Adam or {frozen!r}; got {seen!r}.",
                frozen=_FROZEN,
                options={"lr": 1e-4},
                seen=group,
            )
        pattern, options = group[0], dict(group[1])
        names = [name for name in left if fnmatchcase(name, pattern)]
        if not names:
            raise InputError(
                "{param_groups}: {pattern!r} matches no parameter of {module} that no group before "
                "it has. There are {names}.",
                pattern=pattern,
                names=quote([*left], most=20),
            )
        parameters, n_epochs = [left.pop(name) for name in names], options.pop(_FROZEN, 0)
        check_count(f"{_FROZEN} of param_groups", n_epochs, least=0)
        if n_epochs:
            frozen.append((n_epochs, [parameter.requires_grad_(True) for parameter in parameters]))
        groups.append({**options, "params": parameters})
    others = [] if networks.mask is None else networks.mask.parameters()
    groups.append({"params": [*left.values(), *others]})
    for group in groups:
        group["params"] = [parameter for parameter in group["params"] if parameter.requires_grad]
    return [group for group in groups if group["params"]], frozen


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


def build_adversaries(
    n_seen: list[int], n_groups: int, given: Any, device: Any, *, masked: bool
) -> list[Any]:
    """Return an adversary for each layer, by default an MLP; `n_seen` are the widths of layers.

    With `masked` there is one, for masked inputs.
    """
    if given is None:
        given = [partial(default_adversary, standardised=not masked)] * len(n_seen)
    elif not isinstance(given, list | tuple):
        given = [given]
    if len(given) != len(n_seen):
        raise InputError(
            "{adversary} has {n} networks for {layers} layers: pass a list with one for each.",
            n=len(given),
            layers=len(n_seen),
        )
    return [
        make_module("adversary", adversary, n, n_groups).to(device)
        for adversary, n in zip(given, n_seen, strict=True)
    ]


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
