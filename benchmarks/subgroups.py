"""Measure how often a search of subgroups finds something where there is nothing to find.

python benchmarks/subgroups.py            # minutes on two cores
python benchmarks/subgroups.py --short    # seconds: only checks that it runs
python benchmarks/subgroups.py --write benchmarks/results/subgroups.md
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import skbiasamp

COLUMNS, VALUES = 4, 3
SUBGROUPS = COLUMNS * VALUES + COLUMNS * (COLUMNS - 1) // 2 * VALUES**2

TEXT = """# Subgroups without an effect

`explanation.subgroups` searches {subgroups} subgroups: the values of {columns} random columns of
{values} values each, and of pairs of columns, in {rows:,} rows. Labels have the same association
with the group in all rows, and predictions change as many labels from 0 to 1 as from 1 to 0 in
each group, so that no subgroup is amplified and none differs from the others. *Above 0*: data
sets in which the interval of a subgroup lies above 0. *Differs*: data sets in which a subgroup
differs from all rows. Both should be at most 5 % on average.

| signs from | groups | changed labels | above 0, % | differs, % |
|---|---|---|---|---|
{table}

{n_sets:,} data sets in each setting; a share of 5 % has a standard error of {error:.1f} percentage
points.

Made by `python benchmarks/subgroups.py --write benchmarks/results/subgroups.md`.
"""

ROWS = 2_000
SETTINGS = [
    (signs, share, errors)
    for signs in ("training rows", "the audited rows")
    for share in (0.5, 0.2)
    for errors in (0.05, 0.2)
]


def search_once(signs, share, errors, seed):
    """Return whether an interval lies above 0, and whether a subgroup differs."""
    rng = np.random.default_rng(seed)

    def draw():
        group = (rng.random(ROWS) < share).astype(int)
        return group, (rng.random(ROWS) < np.where(group, 0.6, 0.4)).astype(int)

    group, label = draw()
    # As many changes in each direction, so that no group's rate changes.
    rate = np.where(group, 0.6, 0.4)
    changed = rng.random(ROWS) < errors / 2 / np.where(label, rate, 1 - rate)
    frame = pd.DataFrame(rng.integers(VALUES, size=(ROWS, COLUMNS))).astype(str)
    train = draw() if signs == "training rows" else None
    given = {} if train is None else {"y_train": train[1], "sensitive_train": train[0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explanation = skbiasamp.explain(
            label, label ^ changed, sensitive_features=group, random_state=seed, **given
        )
        table = explanation.subgroups(frame.rename(columns="c{}".format))
    return (table["low"] > 0).any(), table["differs"].any()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    n_sets = 4 if arguments.short else 400
    lines = []
    for at, (signs, share, errors) in enumerate(SETTINGS[:2] if arguments.short else SETTINGS):
        found = Parallel(arguments.n_jobs)(
            delayed(search_once)(signs, share, errors, 10_000 * at + seed) for seed in range(n_sets)
        )
        above, differs = 100 * np.mean(found, axis=0)
        groups = f"{100 * (1 - share):.0f} and {100 * share:.0f} %"
        cells = (signs, groups, f"{100 * errors:.0f} %")
        lines.append("| " + " | ".join([*cells, f"{above:.1f}", f"{differs:.1f}"]) + " |")
        print(lines[-1], flush=True)
    text = TEXT.format(
        subgroups=SUBGROUPS,
        rows=ROWS,
        columns=COLUMNS,
        values=VALUES,
        table="\n".join(lines),
        n_sets=n_sets,
        error=100 * np.sqrt(0.05 * 0.95 / n_sets),
    )
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
