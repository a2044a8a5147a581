"""Difference and DPA by attackers of 30 sizes: Appendix B of Tokas, Nair & Kerner (2024).

    python benchmarks/papers/attacker_grid.py               # the sizes that are not in the file yet
    python benchmarks/papers/attacker_grid.py --minutes 14  # so long, and the rest another time
    python benchmarks/papers/attacker_grid.py --short       # one small attacker, not kept

Table 5 of the paper gives widths of 20 to 500 and depths of 2 to 6. Data and training are those of
attacker_robustness.py, which has six of these sizes. Needs torch.
"""

from itertools import product

import numpy as np
from kept import Runs, number
from published._rows import filled, markdown, page

RUNS = Runs("attacker_grid", ("width", "depth", "seed"), ("difference", "DPA"))
WIDTHS, DEPTHS, SEEDS = (20, 50, 100, 200, 350, 500), (2, 3, 4, 5, 6), (0, 1, 2)
N_ROWS, EPOCHS = 1_000, 30


def run(width, depth, seed, n_rows=N_ROWS, epochs=EPOCHS):
    """Return difference and DPA of one attacker."""
    import torch

    torch.set_num_threads(1)
    table = page("attacker_robustness")["measure"]((width,), (depth,), n_rows, epochs, seed)
    return table.loc[0, ["difference", "DPA"]].tolist()


def section():
    """Return the table of the replication page."""
    results, rows = RUNS.read(), []
    spread = page("attacker_robustness")["relative_spread"]
    for seed in sorted({seed for *_, seed in results}):
        difference, dpa = np.array([own for (*_, its), own in results.items() if its == seed]).T
        spreads = (f"{spread(values):.2f}" for values in (difference, dpa))
        ends = (number(end, "") for end in (dpa.min(), dpa.max()))
        rows.append([f"draw {seed + 1}", len(dpa), *spreads, *ends])
    header = ["rows", "attackers", "spread of difference", "spread of DPA", "lowest DPA"]
    return filled(__file__, table=markdown([*header, "highest DPA"], rows, n_numbers=5))


if __name__ == "__main__":
    jobs = [(width, depth, seed) for seed, width, depth in product(SEEDS, WIDTHS, DEPTHS)]
    RUNS.command(__doc__, jobs, run, lambda: run(5, 2, 0, n_rows=100, epochs=1))
