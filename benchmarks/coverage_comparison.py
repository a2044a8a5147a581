"""Measure how often intervals of differences between models hold the true difference.

    python benchmarks/coverage_comparison.py            # the tables, half an hour on two cores
    python benchmarks/coverage_comparison.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_comparison.py --write docs/coverage-comparison.md
    python benchmarks/coverage_comparison.py --keep rows.json --minutes 10    # in parts
    python benchmarks/coverage_comparison.py --metrics leakage "DPA A→T" --trials 300 --write ...
                                                        # these rows of the page again

Two models predict the same rows and agree on most of them. Under the null their predictions have
one distribution, so that the true difference is 0; otherwise the second model makes more errors
towards what is frequent in a group. Probabilities are written down, and the true difference is the
library's value on these; that value is checked elsewhere, against the papers.
"""

import argparse
import os
import warnings
from pathlib import Path

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed
from parts import Trials, add_arguments

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)

RESAMPLES = 199
SIZES = (500, 5_000)
# Share of rows in which the second model repeats the first; in the others it decides anew.
REPEATED = (0.0, 0.5, 0.8, 0.98)
ALPHA = 0.05
GROUPS = np.array([0.6, 0.4])
# P(T = 1 | A) of each task.
TASKS = np.array([[0.25, 0.5], [0.4, 0.3], [0.5, 0.45]])
# P(error | A, T): the second model of a planted difference has the second table.
WRONG = np.array([[0.12, 0.2], [0.15, 0.15]])
PLANTED = np.array([[0.05, 0.35], [0.3, 0.05]])


def common(interval="bootstrap"):
    return {"interval": interval, "n_resamples": RESAMPLES}


AUDITORS = {
    "A→T": lambda: DirectionalAuditor(**common()),
    "A→T, analytic": lambda: DirectionalAuditor(**common("analytic")),
    "T→A": lambda: DirectionalAuditor("T->A", **common()),
    "MALS": lambda: MALSAuditor(**common()),
    "Multi→ A→T, signed": lambda: MultiAttributeAuditor("A->T", **common()),
    "leakage": lambda: LeakageAuditor(n_resamples=RESAMPLES),
    "DPA A→T": lambda: DPAAuditor("A->T", n_resamples=RESAMPLES),
}


def joint(metric, repeated, planted):
    """Return the rows that can occur, (A, T..., T̂ of one, T̂ of the other), and their chances."""
    n_tasks = 3 if metric.startswith("Multi") else 1
    swapped = metric == "T→A"  # the group is predicted, from the task
    cells, chances = [], []
    for row in np.ndindex(2, *(2,) * (3 * n_tasks)):
        group, rest = row[0], np.reshape(row[1:], (3, n_tasks))
        chance = GROUPS[group]
        for task, (truth, one, other) in enumerate(rest.T):
            share = TASKS[task, group]
            chance *= share if truth else 1 - share
            right, given = (group, truth) if swapped else (truth, group)
            tables = (WRONG, PLANTED if planted else WRONG)
            own = [table[given, right] for table in tables]
            first = own[0] if one != right else 1 - own[0]
            fresh = own[1] if other != right else 1 - own[1]
            chance *= first * (repeated * (one == other) + (1 - repeated) * fresh)
        cells.append((group, *rest.ravel()))
        chances.append(chance)
    return np.array(cells), np.array(chances), n_tasks


def counted(metric, cells, weight, n_tasks):
    """Return the contingency of rows that occur so often."""
    held = weight > 0
    cells, weight = cells[held], weight[held]
    group = cells[:, 0]
    task, one, other = (
        cells[:, 1 + i * n_tasks : 1 + (i + 1) * n_tasks].squeeze() for i in range(3)
    )
    models = {"one": one, "other": other}
    return Contingency.from_labels(
        task,
        y_preds=None if metric == "T→A" else models,
        sensitive_features=group,
        sensitive_preds=models if metric == "T→A" else None,
        sample_weight=weight,
    )


def fitted(metric, whole):
    """Return the auditor; training labels, which give the signs, are in proportion to chances."""
    auditor = AUDITORS[metric]()
    return auditor if auditor.kind == "attack" else auditor.fit(whole)


def truth_of(metric, whole):
    """Return the true difference: on counts in proportion to the chances."""
    auditor = fitted(metric, whole).set_params(interval=None)
    if auditor.kind == "attack":
        auditor.set_params(cv=None)
    return auditor.compare(whole).judged("other")[0]


def trial(metric, cells, chances, n_tasks, whole, truth, n, seed):
    """Return whether the interval holds the truth, whether the test rejects, widths, agreement."""
    weight = np.random.default_rng(seed).multinomial(n, chances)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = counted(metric, cells, weight, n_tasks)
        result = fitted(metric, whole).set_params(random_state=seed).compare(test)
    _, low, high = result.judged("other")
    row = result.table.iloc[1]
    # What two separate intervals give: their errors add as if the models shared nothing.
    apart = np.hypot(*(result.table["high"] - result.table["low"]))
    return (
        low - 1e-12 <= truth <= high + 1e-12,
        row["p_value"] < ALPHA,
        (high - low) / apart if apart and result.kind != "size" else np.nan,
        1 - row["changed"],
    )


def several(metric, cells, chances, n_tasks, whole, truth, n, seeds):
    """Run a data set a seed."""
    how = metric, cells, chances, n_tasks, whole, truth, n
    return Parallel(n_jobs=-1)(delayed(trial)(*how, seed) for seed in seeds)


def study(metrics, sizes, repeated, trials, held):
    """Return one row a cell of the study."""
    rows = []
    for metric in metrics:
        for planted in (False, True):
            for copied in repeated:
                cells, chances, n_tasks = joint(metric, copied, planted)
                whole = counted(metric, cells, np.rint(chances * 1e10), n_tasks)
                truth = truth_of(metric, whole)
                for n in sizes:
                    how = metric, cells, chances, n_tasks, whole, truth, n
                    found = held.run(several, (metric, planted, copied, n), *how, trials=trials)
                    included, rejected, ratio, agreed = np.mean(found, axis=0)
                    rows.append((metric, planted, n, agreed, truth, included, rejected, ratio))
                    print(*rows[-1], flush=True)
    return rows


def percent(share):
    return f"{share * 100:.1f} %"


def table_of(rows):
    lines = [
        "| metric | models | rows | agree on | true difference | interval includes it "
        "| test rejects | width / separate |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for metric, planted, n, agreed, truth, held, rejected, ratio in rows:
        lines.append(
            f"| {metric} | {'different' if planted else 'alike'} | {n:,} | {percent(agreed)} | "
            f"{truth:+.4f} | {percent(held)} | {percent(rejected)} | "
            f"{'–' if np.isnan(ratio) else format(ratio, '.2f')} |"
        )
    return lines


def merged(lines, before, page, metrics):
    """Return the lines of a page of all metrics, of which some were measured again."""
    if not before.startswith(page):
        raise SystemExit("The other rows have other trials: measure all metrics, or use theirs.")
    header, rows = lines[:2], lines[2:] + before.removeprefix(page).splitlines()[2:]
    named = {
        metric: [row for row in rows if row.startswith(f"| {metric} |")] for metric in AUDITORS
    }
    half = {
        metric: len(own) // 2 if metric in metrics else len(own) for metric, own in named.items()
    }
    return header + [row for metric, own in named.items() for row in own[: half[metric]]]


PAGE = """# Coverage of differences between models

Two models predict the same rows. How often does the 95 % interval of their difference include the
true difference? How often does the test find a difference if there is none? The metrics are
directional amplification group → task (A→T) and task → group (T→A), MALS, sets of tasks, leakage
and DPA.

"alike": both models have one distribution of predictions, so the test should reject in 5 % of data
sets. "different": the second model makes more errors in the direction of what is frequent in a
group. The last column is the width of the interval, relative to that of the difference of two
separate intervals.

{trials} data sets a row, {resamples} resamples each: a share of 95 % has a standard error of
{error:.1f} percentage points. Made by `python benchmarks/coverage_comparison.py --write`.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--write", type=Path, help="write the page here")
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--metrics", nargs="+", default=list(AUDITORS), choices=list(AUDITORS))
    add_arguments(parser)
    args = parser.parse_args()
    trials = 3 if args.short else args.trials
    repeated, sizes = (REPEATED[1:2], SIZES[:1]) if args.short else (REPEATED, SIZES)
    held = Trials(args.keep, args.minutes, part=50)
    rows = study(args.metrics, sizes, repeated, trials, held)
    lines = table_of(rows)
    print("\n".join(lines))
    if args.write:
        error = 100 * (0.95 * 0.05 / trials) ** 0.5
        page = PAGE.format(trials=trials, resamples=RESAMPLES, error=error)
        if len(args.metrics) < len(AUDITORS):
            lines = merged(lines, args.write.read_text(), page, args.metrics)
        args.write.write_text(page + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
