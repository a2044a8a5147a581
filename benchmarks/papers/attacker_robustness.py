"""
Sensitivity of DPA to the attacker
==================================

This page repeats the experiment of Appendix B and Fig. 3 in "Making bias amplification in balanced
datasets directional and interpretable" (Tokas, Nair & Kerner 2024). The attackers are networks of
several widths and depths. They predict a task T and its prediction T̂ from a normally distributed
sensitive feature A. T and T̂ are second-degree polynomials of A plus noise. The quality of an
attacker is 1 / RMSE.

**Result:** the plain difference of qualities varies with the attacker. DPA divides the difference
by the sum of the qualities, and varies less. Both are negative, because T̂ has more noise, as in
the paper's Table 5 (its text says the opposite). The page needs torch.
"""

# %%
# The data
# --------

import importlib.util
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker


def polynomials(n_rows, rng):
    """Return A ~ N(3, 2) and T, T̂ = p(A + ε), p(A + 2ε), each with its own noise."""
    attribute = rng.normal(3, 2, n_rows)
    task, predicted = ((attribute + k * rng.normal(size=n_rows)) ** 2 for k in (1, 2))
    return attribute, task, predicted


# %%
# Six attackers
# -------------
# All attackers get the same rows. They are trained on one half and scored on the other half, and
# then the reverse.


def measure(widths, depths, n_rows, epochs, seed=0):
    """Return width, depth, plain difference and DPA, one row per attacker."""
    attribute, task, predicted = polynomials(n_rows, np.random.default_rng(seed))
    found = []
    for width, depth in product(widths, depths):
        attacker = MLPAttacker(
            hidden_layer_sizes=(width,) * depth,
            activation="tanh_relu",
            loss="squared_error",
            learning_rate=1e-3,
            max_epochs=epochs,
        )
        auditor = DPAAuditor(
            attacker=attacker,
            quality="inverse_rmse",
            equalize=None,
            n_draws=1,
            cv=2,
            interval=None,
            random_state=seed,
        )
        row = auditor.audit(task, predicted, sensitive_features=attribute).table.iloc[0]
        found.append((width, depth, row["delta"], row["amplification"]))
    return pd.DataFrame(found, columns=["width", "depth", "difference", "DPA"])


def relative_spread(values):
    """Return the standard deviation over attackers, relative to their mean."""
    return float(np.std(values, ddof=1) / abs(np.mean(values)))


# %%
# Difference and DPA by attacker
# ------------------------------


def show(found):
    """Print and draw the difference and DPA, each relative to its mean over attackers."""
    print(found.round(4).to_string(index=False))
    _, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    names = [f"{row.width:.0f} × {row.depth:.0f}" for row in found.itertuples()]
    for name, marker, color in (("difference", "s", "0.5"), ("DPA", "o", "#aa3377")):
        spread = relative_spread(found[name])
        print(f"{name}: spread over attackers / mean {spread:.3f}")
        ax.plot(names, found[name] / found[name].mean(), marker, color=color, label=name)
    ax.axhline(1, color="0.8", zorder=0)
    ax.set(xlabel="width × depth of the attacker", ylabel="value / mean over attackers")
    ax.set_title("DPA varies less with the attacker than the plain difference")
    ax.legend()
    plt.show()


if importlib.util.find_spec("torch"):
    show(measure((20, 100, 500), (2, 4), n_rows=1000, epochs=30))
else:
    print("This page needs torch: pip install 'skbiasamp[torch]'")
