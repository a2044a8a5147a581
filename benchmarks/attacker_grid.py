"""Difference and DPA by attackers of 30 sizes: Appendix B of Tokas, Nair & Kerner (2024).

    python benchmarks/attacker_grid.py               # the sizes that are not in the file yet
    python benchmarks/attacker_grid.py --minutes 14  # so long, and the rest another time
    python benchmarks/attacker_grid.py --short       # one small attacker, not kept

Table 5 of the paper gives widths of 20 to 500 and depths of 2 to 6. The data and the training are
those of benchmarks/papers/attacker_robustness.py, which has six of these sizes. What is done is
kept in benchmarks/published/attacker_grid.csv, which the table of replications reads. Needs torch.
"""

import csv
from itertools import product
from pathlib import Path

import numpy as np
from parts import complete
from published._rows import page

FILE = Path(__file__).parent / "published" / "attacker_grid.csv"
COLUMNS = ("width", "depth", "seed", "difference", "DPA")
WIDTHS, DEPTHS, SEEDS = (20, 50, 100, 200, 350, 500), (2, 3, 4, 5, 6), (0, 1, 2)
N_ROWS, EPOCHS = 1_000, 30


def read():
    """Return difference and DPA by width, depth and seed of the data."""
    if not FILE.exists():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            tuple(int(row[name]) for name in COLUMNS[:3]): (
                float(row["difference"]),
                float(row["DPA"]),
            )
            for row in csv.DictReader(file)
        }


def run(width, depth, seed, n_rows=N_ROWS, epochs=EPOCHS):
    """Return difference and DPA of one attacker."""
    import torch

    torch.set_num_threads(1)
    table = page("attacker_robustness")["measure"]((width,), (depth,), n_rows, epochs, seed)
    return table.loc[0, ["difference", "DPA"]].tolist()


def section():
    """Return the table of the replication page."""
    results = read()
    seeds = sorted({seed for *_, seed in results})
    if not results:
        return ""
    spread = page("attacker_robustness")["relative_spread"]
    lines = [
        "## Attackers of 30 sizes (Tokas, Nair & Kerner 2024, App. B)",
        "",
        "Fig. 3 of the paper says that DPA varies less with the attacker than the plain difference",
        "of qualities. It prints no numbers. Here all attackers of six widths (20 to 500) and five",
        "depths (2 to 6) get the same 1,000 rows; each line is one random draw of rows. Spread is",
        "the standard deviation over attackers, relative to their mean.",
        "`python benchmarks/attacker_grid.py` makes the numbers.",
        "",
        "| rows | attackers | spread of difference | spread of DPA | lowest DPA | highest DPA |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for seed in seeds:
        values = np.array([pair for (*_, its), pair in results.items() if its == seed])
        difference, dpa = (spread(measure) for measure in values.T)
        low, high = (f"{value:.3f}".replace("-", "−") for value in np.sort(values[:, 1])[[0, -1]])
        cells = (f"draw {seed + 1}", str(len(values)), f"{difference:.2f}", f"{dpa:.2f}", low, high)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    jobs = [(width, depth, seed) for seed, width, depth in product(SEEDS, WIDTHS, DEPTHS)]
    complete(__doc__, FILE, COLUMNS, jobs, read, run, lambda: run(5, 2, 0, n_rows=100, epochs=1))
