"""Measure intervals that hold for all pairs at once, and how often a planned audit finds an effect.

    python benchmarks/coverage_pairs.py            # both tables, minutes on one core
    python benchmarks/coverage_pairs.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_pairs.py --write docs/coverage-pairs.md

Chances are written down, so that the true amplification of each pair is known.
"""

import argparse
import os
import warnings
from pathlib import Path

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed

from skbiasamp import DirectionalAuditor, MALSAuditor
from skbiasamp.inference import required_rows

ROWS = 5_000
RESAMPLES = 499
GROUPS = np.array([0.5, 0.3, 0.2])
AUDITORS = {"A→T": DirectionalAuditor, "MALS": MALSAuditor}

TEXT = """# Coverage of all pairs at once, and power

## All pairs at once

Group → task (A→T): does the group shift the predicted task?

{n_rows} rows of three groups (50, 30 and 20 %). How often do the 95 % intervals of *all* pairs
contain their true amplification, and how often is the largest true amplification in the interval
of `result.worst()`? "Above" is how often an interval of some pair is above 0. Without an effect,
the model changes as many rows up as down in each group; "above" is then the share of false
positives. (MALS compares with the training rows, whose shares differ a little from the true ones.)
The column "ordinary" is about `low` and `high`, the interval of each pair by itself.

{n} data sets a row; a share of 95 % has a standard error of {error:.1f} percentage points.

{pairs}

## Required rows

Rows that `required_rows(effect, changed=...)` asks for, and how often an audit of so many rows has
the verdict "amplifies". The aim is 80 %; in {n} data sets it has a standard error of
{power_error:.1f} percentage points. "Smallest effect" is the median of `result.smallest_effect()`
in these audits.

{power}

Made by `python benchmarks/coverage_pairs.py --write docs/coverage-pairs.md`.
"""
PAIRS = (
    "| metric | tasks | effect | all pairs, ordinary | all pairs, simultaneous | worst pair "
    "| above, ordinary | above, simultaneous |\n|---|---|---|---|---|---|---|---|"
)
POWER = (
    "| effect | changed | groups | required rows | finds it | smallest effect |\n"
    "|---|---|---|---|---|---|"
)


def tasks_of(n_tasks):
    """Return P(T = 1 | A), groups × tasks, and P(a row changes up or down | A, T)."""
    rng = np.random.default_rng(n_tasks)
    share = rng.uniform(0.15, 0.6, size=(3, n_tasks))
    return share, np.full((3, n_tasks), 0.05)


def drawn(n, share, up, down, rng):
    """Return groups, labels and predictions of n rows."""
    group = rng.choice(3, size=n, p=GROUPS)
    label = rng.random((n, share.shape[1])) < share[group]
    changed = rng.random(label.shape) < np.where(label, down[group], up[group])
    return group, label.astype(int), (label ^ changed).astype(int)


def at_once(metric, n_tasks, planted, seed, n=ROWS):
    """Return whether all pairs are in their intervals, and what is said of the worst one."""
    rng = np.random.default_rng(seed)
    share, moved = tasks_of(n_tasks)
    # As many rows of a task change up as down, unless a group is planted to gain.
    up, down = moved / (1 - share), moved / share
    if planted:
        up = up * np.array([[1.0], [1.3], [1.0]])
    predicted = share * (1 - down) + (1 - share) * up
    group, label, guess = drawn(n, share, up, down, rng)
    auditor = AUDITORS[metric](
        reference="train", n_resamples=RESAMPLES, simultaneous=True, random_state=seed
    )
    # Training labels have the chances themselves, as whole counts.
    train = drawn(20 * n, share, up, down, np.random.default_rng(0))
    auditor.fit(train[1], sensitive_features=train[0])
    result = auditor.audit(label, guess, sensitive_features=group)
    if metric == "MALS":
        joint, before = (
            GROUPS[:, None] * predicted,
            auditor.contingency_.rate("group", given="task"),
        )
        true = (joint / joint.sum(axis=0) - before) * result.table["sign"].to_numpy().reshape(3, -1)
    else:
        true = (predicted - share) * result.table["sign"].to_numpy().reshape(3, -1)
    true = true.ravel()
    table, worst = result.table, result.worst()
    inside = [
        bool(((table[f"low{end}"] <= true) & (true <= table[f"high{end}"])).all())
        for end in ("", "_simultaneous")
    ]
    held = worst["low"] <= true.max() <= worst["high"]
    return [*inside, held, bool((table["low"] > 0).any()), worst["low"] > 0]


def power_of(effect, changed, shares, seed):
    """Return whether an audit of the required rows finds the effect, and its smallest effect."""
    rng = np.random.default_rng(seed)
    n = required_rows(effect, changed=changed, groups=shares)
    group = rng.choice(2, size=n, p=shares)
    label = (rng.random(n) < 0.5).astype(int)
    sign = np.where(group == 1, 1, -1)
    up = (changed + sign * effect) / 2 / 0.5
    down = (changed - sign * effect) / 2 / 0.5
    change = rng.random(n) < np.where(label == 1, down, up)
    auditor = DirectionalAuditor(n_resamples=RESAMPLES, random_state=seed)
    auditor.fit([1] * 6 + [0] * 4 + [1] * 4 + [0] * 6, sensitive_features=[1] * 10 + [0] * 10)
    result = auditor.audit(label, label ^ change, sensitive_features=group)
    return result.verdict == "amplifies", result.smallest_effect()


def quiet(work, *how):
    """Run a data set without the warnings that small ones give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*how)


def main():
    """Print the tables, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    n_data = 3 if options.short else 200
    pairs, power = [PAIRS], [POWER]
    with Parallel(n_jobs=options.n_jobs) as parallel:
        for metric, n_tasks in (("A→T", 1), ("A→T", 10), ("MALS", 10)):
            for planted in (False, True):
                how = (metric, n_tasks, planted)
                work = (delayed(quiet)(at_once, *how, seed) for seed in range(n_data))
                shares = " | ".join(f"{100 * one:.1f} %" for one in np.mean(parallel(work), axis=0))
                pairs.append(f"| {metric} | {n_tasks} | {'yes' if planted else 'no'} | {shares} |")
        for effect, changed, shares in (
            (0.02, 0.1, (0.5, 0.5)),
            (0.02, 0.1, (0.9, 0.1)),
            (0.05, 0.1, (0.5, 0.5)),
            (0.05, 0.3, (0.7, 0.3)),
        ):
            work = (delayed(quiet)(power_of, effect, changed, shares, s) for s in range(n_data))
            found, smallest = np.transpose(parallel(work))
            n = required_rows(effect, changed=changed, groups=shares)
            named = " / ".join(f"{one:.0%}" for one in shares)
            cells = f"{n:,} | {100 * found.mean():.1f} % | {np.median(smallest):.4f}"
            power.append(f"| {effect} | {changed:.0%} | {named} | {cells} |")
    text = TEXT.format(
        n_rows=f"{ROWS:,}",
        n=n_data,
        error=100 * (0.95 * 0.05 / n_data) ** 0.5,
        power_error=100 * (0.8 * 0.2 / n_data) ** 0.5,
        pairs="\n".join(pairs),
        power="\n".join(power),
    )
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
