"""Sensitivity of DPA to the attacker: App. B and Fig. 3 of Tokas, Nair & Kerner (2024).

The attackers are networks of several widths and depths. They predict a task T and its prediction T̂
from a normally distributed sensitive feature A. T and T̂ are second-degree polynomials of A plus
noise. The quality of an attacker is 1 / RMSE.

Result: the plain difference of qualities varies with the attacker. DPA divides the difference by
the sum of the qualities, and varies less. Both are negative, because T̂ has more noise, as in the
paper's Table 5 (its text says the opposite). Needs torch.
"""

import importlib.util
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker

HOW = {"quality": "inverse_rmse", "equalize": None, "n_draws": 1, "cv": 2, "interval": None}
TRAINED = {"activation": "tanh_relu", "loss": "squared_error", "learning_rate": 1e-3}


def polynomials(n_rows, rng):
    """Return A ~ N(3, 2) and T, T̂ = p(A + ε), p(A + 2ε), each with its own noise."""
    attribute = rng.normal(3, 2, n_rows)
    task, predicted = ((attribute + k * rng.normal(size=n_rows)) ** 2 for k in (1, 2))
    return attribute, task, predicted


def measure(widths, depths, n_rows, epochs, seed=0):
    """Return width, depth, plain difference and DPA, one row per attacker.

    All attackers get the same rows: one half to learn and the other half to score, and the reverse.
    """
    attribute, task, predicted = polynomials(n_rows, np.random.default_rng(seed))
    found = []
    for width, depth in product(widths, depths):
        attacker = MLPAttacker(hidden_layer_sizes=(width,) * depth, max_epochs=epochs, **TRAINED)
        auditor = DPAAuditor(attacker=attacker, random_state=seed, **HOW)
        row = auditor.audit(task, predicted, sensitive_features=attribute).table.iloc[0]
        found.append((width, depth, row["delta"], row["amplification"]))
    return pd.DataFrame(found, columns=["width", "depth", "difference", "DPA"])


def relative_spread(values):
    """Return the standard deviation over attackers, relative to their mean."""
    return float(np.std(values, ddof=1) / abs(np.mean(values)))


def show(found):
    """Print and draw the difference and DPA, each relative to its mean over attackers."""
    print(found.round(4).to_string(index=False))
    _, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    names = [f"{row.width:.0f} × {row.depth:.0f}" for row in found.itertuples()]
    for name, marker in (("difference", "s"), ("DPA", "o")):
        print(f"{name}: spread over attackers / mean {relative_spread(found[name]):.3f}")
        ax.plot(names, found[name] / found[name].mean(), marker, label=name)
    ax.set(xlabel="width × depth of the attacker", ylabel="value / mean over attackers")
    ax.legend()
    plt.show()


if importlib.util.find_spec("torch"):
    show(measure((20, 100, 500), (2, 4), n_rows=1000, epochs=30))
else:
    print("This page needs torch: pip install 'skbiasamp[torch]'")
