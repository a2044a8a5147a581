"""How much a measure of amplification depends on who attacks.

The experiment of Appendix B in "Making bias amplification in balanced datasets directional and
interpretable" (Tokas, Nair, Kerner 2024): A is normal, T and its prediction are second-degree
polynomials of A plus noise, and networks of many widths and depths tell them from A. Their
quality is 1 / RMSE. The plain difference of qualities follows the attacker; DPA divides by their
sum, and follows it less.

    python examples/attacker_robustness.py [--rows 2000] [--epochs 50]
"""

import argparse
from itertools import product

import numpy as np

from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker


def polynomials(n_rows, rng):
    """Return A ~ N(3, 2) and T, T̂ = p(A + ε), p(A + 2ε), with noise of their own."""
    attribute = rng.normal(3, 2, n_rows)
    task, predicted = ((attribute + k * rng.normal(size=n_rows)) ** 2 for k in (1, 2))
    return attribute, task, predicted


def measure(widths, depths, n_rows, epochs, seed=0):
    """Return (width, depth, plain difference, DPA) of every attacker."""
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
    return np.array(found)


def relative_spread(values):
    """Return the standard deviation over attackers, relative to their mean."""
    return float(np.std(values, ddof=1) / abs(np.mean(values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=50)
    options = parser.parse_args()
    found = measure((20, 100, 500), (2, 4, 6), options.rows, options.epochs)
    print("width  depth  difference      DPA")
    for width, depth, plain, normalised in found:
        print(f"{width:5.0f}  {depth:5.0f}  {plain:10.4f}  {normalised:7.4f}")
    plain, normalised = (relative_spread(found[:, i]) for i in (2, 3))
    print(f"\nspread over attackers / mean: difference {plain:.3f}, DPA {normalised:.3f}")


if __name__ == "__main__":
    main()
