"""How well the sensitive feature can be predicted from features, as a model would get them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.containers import as_maps, check_lengths, columns_of, to_native
from skbiasamp._input.errors import fewer_groups, speaking
from skbiasamp.attackers.attack import (
    InputAndTarget,
    Inputs,
    Settings,
    check_dimensions,
    make_attack,
)
from skbiasamp.attackers.attack_pair import AttackPair
from skbiasamp.attackers.attack_run import redrawn, run_attack, warn_constant
from skbiasamp.attackers.resampling import own_generator
from skbiasamp.counts.cells import side_of
from skbiasamp.counts.contingency import Contingency


class FeatureLeakage(NamedTuple):
    """Qualities of the attacker: seen, in draws, resamples and folds; that of the best guess."""

    qualities: tuple[Array, Array, Array, Array | None]
    chance: float
    attacker: str


def attack_features(
    X: Any,
    sensitive_features: Any,
    settings: Settings,
    *,
    missing: str,
    n_resamples: int,
    random_state: Any,
) -> FeatureLeakage:
    """Cross-fit attackers that predict the sensitive feature from the rows of X."""
    features = as_matrix(X)
    check_lengths({"X": features, "sensitive_features": to_native(sensitive_features, "sensitive")})
    # Every row is a class of its own, so that cells stay rows, in their order.
    with speaking(max_groups=fewer_groups):
        cells = Contingency.from_labels(
            np.arange(len(features)),
            sensitive_features=sensitive_features,
            missing=missing,
            scores=True,
        )
    rows = side_of(cells, "task").names  # those of missing groups may be left out
    kept = np.array(rows, dtype=np.intp)
    distinct, of_class = np.unique(features[kept], axis=0, return_inverse=True)
    attack = make_attack(
        cells,
        InputAndTarget("task", "group"),
        numbers=settings.quality == "inverse_rmse",
        read=Inputs(distinct, of_class.reshape(-1)),
    )
    check_dimensions(attack, settings.attacker, "X")
    warn_constant(attack)
    rng = own_generator(random_state)
    pair = AttackPair(attack, None, settings)
    run = run_attack(pair, rng)
    draws, resamples, folds, _ = redrawn(run, n_resamples, rng)
    qualities = run.qualities.data, draws.data, resamples.data, folds and folds.data
    return FeatureLeakage(qualities, float(pair.chance().data.mean()), run.attacker_name)


def as_matrix(X: Any) -> Array:
    """Return features as numbers; those of more than two dimensions keep these.

    Columns of text or categories become indicators of their values, missing numbers the mean and
    an indicator.
    """
    if sparse.issparse(X):
        matrix: Any = X
        return np.asarray(matrix.toarray(), dtype=float)
    if not hasattr(X, "columns") and np.ndim(X) > 2:
        maps = as_maps(X)
        return as_numbers(np.asarray(X) if maps is None else maps, "X")
    columns = []
    for _, column in columns_of(to_native(X, "X")):
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            numbers = values.astype(float)[:, None]
            missing = np.isnan(numbers)
            if missing.any():
                columns.append(missing)
                numbers[missing] = 0.0 if missing.all() else numbers[~missing].mean()
            columns.append(numbers)
        else:
            codes, names = pd.factorize(values, use_na_sentinel=False)
            columns.append(codes[:, None] == np.arange(len(names)))
    return np.hstack(columns).astype(float)
