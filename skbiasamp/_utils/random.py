"""Random generators, and how many draws are made at a time."""

from __future__ import annotations

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
