"""How well a protected attribute can be told from features, as a model would see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from skbiasamp._cells import side_of
from skbiasamp._labels import Array, check_lengths, codes_of, columns_of, to_native
from skbiasamp.contingency import Contingency
from skbiasamp.metrics._arena import Arena
from skbiasamp.metrics._attack import Settings, make_attack
from skbiasamp.metrics._predictability import check_settings, play, warn_constant


class Told(NamedTuple):
    """How well the attribute was told, by chance as well, and its interval."""

    quality: float
    chance: float
    low: float
    high: float
    attacker: str


def tell_from_features(
    X: Any,
    sensitive_features: Any,
    settings: Settings,
    *,
    sample_weight: Any,
    groups: str,
    missing: str,
    n_resamples: int,
    confidence_level: float,
    rng: np.random.Generator,
) -> Told:
    """Cross-fit attackers that tell the attribute from the rows of X."""
    check_settings(settings)
    inputs = as_matrix(X)
    check_lengths({"X": inputs, "sensitive_features": to_native(sensitive_features, "sensitive")})
    # Every row is a class of its own, so that cells stay rows, in their order.
    rows = np.arange(len(inputs))
    cells = Contingency.from_labels(
        rows,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        scores=True,
    )
    task = side_of(cells, "task")
    kept = np.array(task.names, dtype=np.intp)[codes_of(task)]
    numbers = settings.quality == "inverse_rmse"
    attack = make_attack(
        cells, "task", "group", flips=False, numbers=numbers, features=inputs[kept]
    )
    warn_constant(attack, stacklevel=5)
    arena = Arena(attack, None, settings)
    played = play(arena, rng)
    values = played.redrawn(n_resamples, rng).data.mean(axis=1)
    tails = ((1 - confidence_level) / 2, (1 + confidence_level) / 2)
    low, high = (float(end) for end in np.quantile(values, tails))
    return Told(
        float(played.qualities.data.mean()),
        float(arena.chance().data.mean()),
        low,
        high,
        played.attacker_name,
    )


def as_matrix(X: Any) -> Array:
    """Return features as numbers.

    Columns of text or categories become indicators of their values, missing numbers the mean and
    an indicator.
    """
    if sparse.issparse(X):
        held: Any = X
        return np.asarray(held.toarray(), dtype=float)
    columns = []
    for _, column in columns_of(to_native(X, "X")):
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            numbers = values.astype(float)[:, None]
            missing = np.isnan(numbers)
            if missing.any():
                mean = numbers[~missing].mean() if not missing.all() else 0.0
                columns += [missing, np.where(missing, mean, numbers)]
            else:
                columns.append(numbers)
        else:
            codes, names = pd.factorize(values, use_na_sentinel=False)
            columns.append(codes[:, None] == np.arange(len(names)))
    return np.hstack(columns).astype(float)
