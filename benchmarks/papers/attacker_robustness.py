"""Sensitivity of DPA to the attacker: App. B, Fig. 3 and Table 5 of Tokas, Nair & Kerner (2024).

It runs the sizes that are not in the file yet; with --short one small attacker, which is not kept.
The attackers are networks of 30 widths and depths, as in Table 5. They predict a task T and its
prediction T̂ from a normally distributed sensitive feature A. T and T̂ are second-degree polynomials
of A plus noise. The quality of an attacker is 1 / RMSE.

Result: the plain difference of qualities varies with the attacker. DPA divides the difference by
the sum of the qualities, and varies less. Both are negative, because T̂ has more noise, as in the
paper's Table 5 (its text says the opposite). Needs torch.
"""

from itertools import product

import numpy as np
from published._rows import Runs, filled, markdown, number

from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker

RUNS = Runs("attacker_robustness", ("width", "depth", "seed"), ("difference", "DPA"))
WIDTHS, DEPTHS, SEEDS = (20, 50, 100, 200, 350, 500), (2, 3, 4, 5, 6), (0, 1, 2)
HOW = {"quality": "inverse_rmse", "equalize": None, "n_draws": 1, "cv": 2, "interval": None}
TRAINED = {"activation": "tanh_relu", "loss": "squared_error", "learning_rate": 1e-3}


def polynomials(n_rows, rng):
    """Return A ~ N(3, 2) and T, T̂ = p(A + ε), p(A + 2ε), each with its own noise."""
    attribute = rng.normal(3, 2, n_rows)
    task, predicted = ((attribute + k * rng.normal(size=n_rows)) ** 2 for k in (1, 2))
    return attribute, task, predicted


def run(width, depth, seed, n_rows=1_000, epochs=30):
    """Return the plain difference and DPA of one attacker.

    Attackers of a seed get the same rows: one half to learn and the other half to score, and the
    reverse.
    """
    import torch

    torch.set_num_threads(1)
    attribute, task, predicted = polynomials(n_rows, np.random.default_rng(seed))
    attacker = MLPAttacker(hidden_layer_sizes=(width,) * depth, max_epochs=epochs, **TRAINED)
    auditor = DPAAuditor(attacker=attacker, random_state=seed, **HOW)
    row = auditor.audit(task, predicted, sensitive_features=attribute).table.iloc[0]
    return row["delta"], row["amplification"]


def relative_spread(values):
    """Return the standard deviation over attackers, relative to their mean."""
    return float(np.std(values, ddof=1) / abs(np.mean(values)))


def of_seed(seed):
    """Return the differences and DPA of all attackers of a seed."""
    return np.array([own for (*_, its), own in RUNS.read().items() if its == seed]).T


def section():
    """Return the table of the replication page."""
    rows = []
    for seed in sorted({seed for *_, seed in RUNS.read()}):
        difference, dpa = of_seed(seed)
        spreads = (f"{relative_spread(values):.2f}" for values in (difference, dpa))
        ends = (number(end, "") for end in (dpa.min(), dpa.max()))
        rows.append([f"draw {seed + 1}", len(dpa), *spreads, *ends])
    header = ["rows", "attackers", "spread of difference", "spread of DPA", "lowest DPA"]
    return filled(__file__, table=markdown([*header, "highest DPA"], rows, n_numbers=5))


if __name__ == "__main__":
    jobs = [(width, depth, seed) for seed, width, depth in product(SEEDS, WIDTHS, DEPTHS)]
    RUNS.command(__doc__, jobs, run, lambda: run(5, 2, 0, n_rows=100, epochs=1))
