"""torch, which is optional: asked for if it is needed, on a device, with a seed of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skbiasamp._input.errors import InputError


def import_torch(who: str = "MLPAttacker") -> Any:
    """Return torch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{who} needs torch: pip install 'skbiasamp[torch]'") from error
    return torch


def find_device(name: str, *, needed: bool) -> Any:
    """Return the torch device; if no GPU is `needed`, the CPU replaces a missing one."""
    torch = import_torch()
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and needed and not has_gpu:
        raise InputError(
            "{device='cuda'} needs a GPU that torch can use, and torch finds none. Pass "
            "{device='auto'} to use a GPU only if there is one."
        )
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


@contextmanager
def seeded(seed: int, device: Any = None) -> Iterator[None]:
    """Seed torch, and restore the caller's random state afterwards, by default on all devices."""
    torch = import_torch()
    devices = None if device is None else [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        if devices is None:
            torch.manual_seed(seed)
        else:  # torch.manual_seed seeds what is not restored, too, and formats a traceback
            torch.default_generator.manual_seed(seed)
            if devices:
                torch.cuda.manual_seed(seed)
        yield
