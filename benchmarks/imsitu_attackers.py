"""Dataset leakage of imSitu with the attackers of Wang et al. (2019): Table 1 and Table 2.

    python benchmarks/imsitu_attackers.py               # the runs that are not in the file yet
    python benchmarks/imsitu_attackers.py --minutes 14  # so long, and the rest another time
    python benchmarks/imsitu_attackers.py --short       # one epoch of one run, to try it out

Each attacker trains for 100 epochs at a learning rate of 5e-5, and keeps the epoch that is most
accurate on the original validation rows, as in the paper. A run takes up to ten minutes, so
finished runs are kept in benchmarks/published/imsitu_attackers.csv, which the replication page
reads. Needs the imSitu annotations (docs/datasets.md) and torch.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from skbiasamp.attackers import MLPAttacker
from skbiasamp.datasets import fetch_imsitu_annotations
from skbiasamp.metrics import dataset_leakage

FILE = Path(__file__).parent / "published" / "imsitu_attackers.csv"
COLUMNS = ("split", "layers", "width", "share", "seed", "epochs", "leakage")
SPLITS = {"original": None, "α = 3": 3, "α = 2": 2, "α = 1": 1}
# Layers, width of the hidden ones, and share of the training rows; the first is that of Table 1.
TABLE_2 = (
    *((4, 300, 1.0), (1, 0, 1.0), (2, 100, 1.0), (2, 300, 1.0)),
    *((4, 300, 0.25), (4, 300, 0.5), (4, 300, 0.75)),
)
# λ_M in Table 2 of the paper, of the same attackers on COCO.
PUBLISHED_2 = (
    *("70.46 ± 0.36", "68.82 ± 0.35", "70.83 ± 0.58", "71.03 ± 0.52"),
    *("68.54 ± 1.10", "69.89 ± 0.98", "69.93 ± 0.51"),
)


def jobs():
    """Yield what is to be run, the most telling first."""
    yield from ((("α = 1", *TABLE_2[0]), seed) for seed in range(5))
    yield from (((split, *TABLE_2[0]), 0) for split in SPLITS)
    yield from ((("original", *attacker), 0) for attacker in TABLE_2)
    for seed in (1, 2, 3, 4):
        yield from ((("original", *attacker), seed) for attacker in TABLE_2)
        yield from (((split, *TABLE_2[0]), seed) for split in ("α = 3", "α = 2"))


def run(split, layers, width, share, seed, epochs):
    """Return dataset leakage of one attacker."""
    import torch

    torch.set_num_threads(1)
    train = fetch_imsitu_annotations(subset="train", alpha=SPLITS[split])
    val, test = (fetch_imsitu_annotations(subset=one) for one in ("val", "test"))
    # A share of each verb, so that every verb keeps a row.
    kept = train.frame.groupby("verb").sample(frac=share, random_state=seed).index
    lost = np.setdiff1d(train.target, train.target[kept])
    kept = kept.union(train.target[train.target.isin(lost)].drop_duplicates().index)
    attacker = MLPAttacker.preset(
        "leakage",
        hidden_layer_sizes=(width,) * (layers - 1),
        max_epochs=epochs,
        early_stopping="accuracy",
    )
    return dataset_leakage(
        test.target,
        sensitive_features=test.sensitive,
        y_train=train.target[kept],
        sensitive_train=train.sensitive[kept],
        validation=(val.target, val.sensitive),
        attacker=attacker,
        n_draws=1,
        random_state=seed,
    )


def read():
    """Return the finished runs: leakage by split, layers, width, share and seed."""
    if not FILE.exists():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            (row["split"], *(float(row[name]) for name in COLUMNS[1:5])): float(row["leakage"])
            for row in csv.DictReader(file)
        }


def about(values):
    """Return mean and spread of runs, in percent."""
    mean = f"{100 * np.mean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ± {100 * np.std(values, ddof=1):.2f}"


def section():
    """Return the table of the attackers, beside those of the paper on another data set."""
    found = {}
    for (*what, _), leakage in read().items():
        found.setdefault(tuple(what), []).append(leakage)
    if not any(split == "original" for split, *_ in found):
        return ""
    lines = [
        "## Attackers of several sizes (Wang et al. 2019, Table 2)",
        "",
        "The paper varies the attacker on a network's outputs for COCO, which are not available.",
        "Here the same attackers predict gender from imSitu's verbs (original split, λ_D in %,",
        "mean ± standard deviation over runs). Each trains for 100 epochs at a learning rate of",
        "5e-5, and keeps the epoch that is most accurate on the validation rows.",
        "`python benchmarks/imsitu_attackers.py` makes the numbers.",
        "",
        "| layers | width | training rows | runs | λ_D, imSitu | published λ_M, COCO |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for (layers, width, share), published in zip(TABLE_2, PUBLISHED_2, strict=True):
        runs = found.get(("original", layers, width, share))
        if runs:
            size = f"| {layers} | {width or ''} | {share:.0%} | {len(runs)} "
            lines.append(f"{size}| {about(runs)} | {published} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=np.inf, help="start no run after these")
    parser.add_argument("--short", action="store_true", help="one epoch of one run, not kept")
    options = parser.parse_args()
    if options.short:
        print(run("α = 1", 2, 10, 0.1, seed=0, epochs=1))
        return
    if not FILE.exists():
        FILE.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    start = time.monotonic()
    for what, seed in jobs():
        if (*what, seed) in read() or time.monotonic() - start > 60 * options.minutes:
            continue
        leakage = run(*what, seed=seed, epochs=100)
        with FILE.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow((*what, seed, 100, f"{leakage:.6f}"))
        print(*what, seed, f"{leakage:.4f}", f"{time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
