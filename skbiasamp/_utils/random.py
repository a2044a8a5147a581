"""Random generators, and how many draws are made at a time."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

# Numbers drawn at once. What is drawn depends on it and on the data alone, never on how many
# jobs share the work.
_DRAWN = 1 << 21


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator; None is fresh entropy, never NumPy's global state."""
    check_seed(random_state)
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint32)
    return np.random.default_rng(random_state)


def same_draws(rng: Any) -> Any:
    """Return a copy that draws and spawns the same: copies of NumPy 1 spawn others."""
    if not isinstance(rng, np.random.Generator):
        return copy.deepcopy(rng)
    names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
    seeds = {name: getattr(rng.bit_generator.seed_seq, name) for name in names}
    made = type(rng.bit_generator)(np.random.SeedSequence(**seeds))
    made.state = rng.bit_generator.state
    return np.random.Generator(made)


def check_seed(random_state: Any) -> None:
    """Raise if a seed is a truth value, which counts as 0 or 1."""
    if isinstance(random_state, bool | np.bool_):
        raise ValueError(
            f"random_state must be a whole number, a generator or None; got {random_state!r}."
        )


def chunks(n_draws: int, numbers: int) -> list[int]:
    """Return how many draws to make at a time, where each is so many numbers."""
    size = max(1, _DRAWN // numbers)
    return [min(size, n_draws - low) for low in range(0, n_draws, size)]
