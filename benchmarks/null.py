"""Measure how often an audit alarms if there is nothing to find.

    python benchmarks/null.py                  # the tables, half an hour on two cores
    python benchmarks/null.py --short          # seconds: only checks that it runs
    python benchmarks/null.py --write docs/coverage-null.md

The sensitive feature is random, independent of labels and predictions, in training rows and in
audited rows. Every audit of a report is counted, over class balances and models.
"""

import argparse
import contextlib
import io
import os
import warnings
from collections import Counter
from itertools import product
from pathlib import Path

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed

import skbiasamp
from skbiasamp.cli._gate import check as gate

ALPHA = 0.05
BALANCES = (0.5, 0.7, 0.9, 0.95)
SIZES = (500, 5_000)
GROUPS = (2, 4)
CLEAR = ("amplifies", "reduces", "reveals more", "reveals less")
# How often rows with, and without, the frequent class are predicted to have it, by its share.
MODELS = {
    "constant": lambda share: (1.0, 1.0),
    "calibrated": lambda share: (1 - 0.2 * (1 - share), 0.2 * share),
    "over-predicting": lambda share: (0.98, 0.5),
    "under-predicting": lambda share: (0.8, 0.05),
    "always right": lambda share: (1.0, 0.0),
}


def one_report(share, model, n, n_groups, seed):
    """Return the report of one data set whose sensitive feature is random."""
    rng = np.random.default_rng(seed)

    def rows():
        return rng.integers(n_groups, size=n), (rng.random(n) < share).astype(int)

    group, y_true = rows()
    group_train, y_train = rows()
    hits, false = MODELS[model](share)
    y_pred = (rng.random(n) < np.where(y_true == 1, hits, false)).astype(int)
    other = (group + rng.integers(1, n_groups, n)) % n_groups
    group_pred = np.where(rng.random(n) < 0.8, group, other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skbiasamp.audit(
            y_true,
            y_pred,
            sensitive_features=group,
            sensitive_pred=group_pred,
            y_train=y_train,
            sensitive_train=group_train,
            random_state=seed,
        )


def alarms(share, model, n, n_groups, seed):
    """Return which audits find something, by verdict and by p-value, and whether gates fail."""
    report = one_report(share, model, n, n_groups, seed)
    found = Counter()
    for name, result in report.items():
        found[name, "verdict"] += result.verdict in CLEAR
        found[name, "p"] += result.p_value < ALPHA
    found["report", "verdict"] += report[report.primary].verdict in CLEAR
    for on in (None, ["all"]):
        with contextlib.redirect_stdout(io.StringIO()):
            failed = gate(report, 0.0, on, allow_undefined=True)
        found["gate" + " --on all" * bool(on), "exit 1"] += failed
    return found


def measure(n, n_groups, trials, n_jobs):
    """Return the share of data sets with an alarm, by balance and model."""
    cells = [(share, model) for share in BALANCES for model in MODELS]
    # Every cell has data of its own: neighbouring numbers do not share their luck.
    seeds = (
        np.random.SeedSequence([n, n_groups])
        .generate_state(len(cells) * trials)
        .reshape(-1, trials)
    )
    found = Parallel(n_jobs=n_jobs)(
        delayed(alarms)(*cell, n, n_groups, int(seed))
        for cell, row in zip(cells, seeds, strict=True)
        for seed in row
    )
    counted = {}
    for i, cell in enumerate(cells):
        counted[cell] = Counter()
        for one in found[i * trials : (i + 1) * trials]:
            counted[cell].update(one)  # unlike a sum, this keeps what was never found
    return counted


def table_of(shares, trials):
    """Return one row a column of alarms: the mean over cells, and the worst of them."""
    keys = sorted({key for found in shares.values() for key in found})
    rows = ["| audit | counted by | mean | worst setting | which |", "|---|---|---|---|---|"]
    for key in keys:
        rates = {cell: found[key] / trials for cell, found in shares.items()}
        worst = max(rates, key=rates.get)
        mean = np.mean(list(rates.values()))
        rows.append(
            f"| {key[0]} | {key[1]} | {mean * 100:.1f} % | {rates[worst] * 100:.1f} % | "
            f"{worst[1]}, {worst[0]:g} |"
        )
    return rows


PAGE = """# False-positive rate of audits

How often does an audit find an effect if there is none? Here the sensitive feature is random and
independent of labels and predictions, in training rows and test rows. The share of the more
frequent class is {low} to {high}. The models are: {models}.

The p-value of a co-occurrence metric tests whether labels and predictions of a row could change
places. A model that predicts a class too often fails this test, also if groups are random: of two
groups, whose signs are opposite, this cancels, and of four it does not. A verdict needs both the
test and the interval, which counts that such signs are random.

There are {cells} settings (class balance × model) with {trials} data sets each. A false positive
is one of: a verdict other than "no clear effect" or "cannot amplify", a p-value below {alpha}, or
exit code 1 of the command with `--fail-above 0`. With {trials} data sets, a true rate of 5 % can
be measured as up to {noise:.1f} % in one setting, and as up to {worst:.1f} % in the worst of
{cells}.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--write", type=Path, help="the page to write")
    options = parser.parse_args()
    trials = 2 if options.short else options.trials
    cells = len(BALANCES) * len(MODELS)
    spread = (ALPHA * (1 - ALPHA) / trials) ** 0.5 * 100
    lines = [
        PAGE.format(
            low=BALANCES[0],
            high=BALANCES[-1],
            models=", ".join(MODELS),
            trials=trials,
            cells=cells,
            alpha=ALPHA,
            noise=5 + 1.96 * spread,
            worst=5 + 3.0 * spread,
        )
    ]
    for n, n_groups in product(SIZES[:1] if options.short else SIZES, GROUPS):
        lines += [
            f"## {n:,} test rows, {n_groups} groups",
            "",
            *table_of(measure(n, n_groups, trials, options.n_jobs), trials),
        ]
        lines.append("")
    text = "\n".join(lines) + f"\nMeasured by `benchmarks/null.py --trials {trials}`.\n"
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
