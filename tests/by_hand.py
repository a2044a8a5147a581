"""Small worlds, and the metrics of pairs from their rows as the formulas are written."""

from functools import partial

import numpy as np
from sklearn.base import clone

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

A_TO_T, T_TO_A = partial(DirectionalAuditor, "A->T"), partial(DirectionalAuditor, "T->A")
METRICS = {
    "A->T": A_TO_T,
    "T->A": T_TO_A,
    "MALS": MALSAuditor,
    "multi A->T": partial(MultiAttributeAuditor, "A->T"),
    "multi T->A": partial(MultiAttributeAuditor, "T->A"),
    "multi MALS": partial(MultiAttributeAuditor, None),
}


# --------------------------------------------------------------------------- data


def world(n=150, kind="binary", *, n_groups=2, n_tasks=3, seed=0, n_train=400, accuracy=0.75):
    """Return labels whose attribute, tasks and predictions are all correlated."""
    rng = np.random.default_rng(seed)

    def labels(n):
        group = rng.integers(0, n_groups, n)
        width = {"binary": 1, "multiclass": 1}.get(kind, n_tasks)
        chance = 0.3 + 0.4 * ((group[:, None] + np.arange(width)) % 2)
        task = (rng.random((n, width)) < chance).astype(int)
        if kind == "multiclass":
            task = (task + 2 * (rng.random((n, 1)) < 0.3)) % 3
        return group, task

    names = np.array(["g0", "g1", "g2", "g3"])
    (fit_group, fit_task), (group, task) = labels(n_train), labels(n)
    other = (task + 1 + (kind == "multiclass") * rng.integers(0, 2, task.shape)) % (
        3 if kind == "multiclass" else 2
    )
    kept = rng.random(task.shape) < accuracy + 0.15 * (group[:, None] == 0)
    predicted = np.where(kept, task, other)
    group_predicted = np.where(rng.random(n) < 0.8, group, rng.integers(0, n_groups, n))
    one = kind in ("binary", "multiclass")
    return {
        "y_train": fit_task[:, 0] if one else fit_task,
        "sensitive_train": names[fit_group],
        "y_true": task[:, 0] if one else task,
        "y_pred": predicted[:, 0] if one else predicted,
        "sensitive_features": names[group],
        "sensitive_pred": names[group_predicted],
    }


AUDITED = ("y_true", "y_pred", "sensitive_features", "sensitive_pred", "sample_weight")


def fitted(auditor, world):
    return clone(auditor).fit(world["y_train"], sensitive_features=world["sensitive_train"])


def audit(auditor, world):
    return fitted(auditor, world).audit(**{key: world[key] for key in AUDITED if key in world})


def rows(world, chosen):
    """Return the world with other audited rows: a boolean or integer index."""
    return world | {key: world[key][chosen] for key in AUDITED if key in world}


def perfect(world):
    return world | {"y_pred": world["y_true"], "sensitive_pred": world["sensitive_features"]}


def weighted(world, weights, seed=0):
    rng, n = np.random.default_rng(seed), len(world["y_true"])
    drawn = rng.integers(1, 5, n) if weights == "whole" else rng.uniform(0.2, 3.0, n)
    return world | {"sample_weight": drawn}


def numbers(result, *names):
    """Return columns of a result's table as arrays of groups × tasks."""
    n_groups = result.table["group"].nunique()
    found = [result.table[name].to_numpy(float).reshape(n_groups, -1) for name in names]
    return found if len(found) > 1 else found[0]
