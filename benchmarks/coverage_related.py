"""Measure intervals and false positives of the related measures.

    python benchmarks/coverage_related.py            # the tables, half an hour on two cores
    python benchmarks/coverage_related.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_related.py --write docs/coverage-related.md
    python benchmarks/coverage_related.py --keep rows.json --minutes 10    # in parts

Chances are written down, so that the true values are known: they are those of the auditors on the
exact probabilities of all cells.
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
    BiasDisparityAuditor,
    Contingency,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
)

SIZES = (500, 5_000)
BALANCES = (0.5, 0.1)
TRAINING_ROWS = 1_000_000
AUDITORS = {
    "bias disparity": BiasDisparityAuditor,
    "differential fairness": DifferentialFairnessAuditor,
    "percentage": PercentageAuditor,
    "label": LabelAuditor,
}
SIGNED = "bias disparity, signed mean"
MEASURES = (*AUDITORS, SIGNED)
CLEAR = ("amplifies", "reduces")

# Of the rows with, and without, the label: how many are predicted to have it. "Balanced" errors
# keep the rate of the label.
MODELS = {
    "always right": lambda rate: (1.0, 0.0),
    "balanced errors": lambda rate: (0.8, 0.2 * rate / (1 - rate)),
    "over-predicting": lambda rate: (0.98, 0.3),
    "under-predicting": lambda rate: (0.5, 0.02),
}


def joint(shares, rates, hits, false):
    """Return the probabilities of (group, label, prediction)."""
    shares, rates, hits, false = np.broadcast_arrays(shares, rates, hits, false)
    present = [rates * (1 - hits), rates * hits]
    absent = [(1 - rates) * (1 - false), (1 - rates) * false]
    return shares[:, None, None] * np.moveaxis([absent, present], -1, 0)


def without_effect(n_groups, balance, model):
    """Return a world in which the group is random, and its training labels."""
    shares = np.full(n_groups, 1 / n_groups)
    return joint(shares, balance, *MODELS[model](balance))


def with_effect(name, balance):
    """Return a world in which the label depends on the group, and the model's errors do."""
    shares, rates, hits, false = {
        # Differences grow.
        "two groups": ((0.6, 0.4), (1.2, 0.7), (0.9, 0.7), (0.5, 0.16)),
        # Differences shrink, in the same way for all groups.
        "two groups, shrinking": ((0.5, 0.5), (1.2, 0.8), (0.85, 0.85), (0.3, 0.3)),
        # The smallest group has 5 % of the rows.
        "three groups": ((0.6, 0.35, 0.05), (1.0, 0.6, 1.3), (0.88, 0.7, 0.9), (0.4, 0.16, 0.5)),
        # Two groups are nearly equally far from the first.
        "near tie": ((0.4, 0.3, 0.3), (1.2, 0.7, 0.72), (0.9, 0.8, 0.8), (0.2, 0.2, 0.2)),
    }[name]
    rates = np.array(rates) * balance
    return joint(np.array(shares), rates, np.array(hits), np.array(false) * balance)


EFFECTS = ("two groups", "two groups, shrinking", "three groups", "near tie")


def counted(weight):
    """Return weights of (group, label, prediction) as a contingency."""
    group, task, task_pred = cell = np.nonzero(weight)
    return Contingency.from_labels(
        task, task_pred, sensitive_features=group, sample_weight=weight[cell]
    )


def truth_of(p):
    """Return the true values. Those that depend on the sign of a tie are left out."""
    exact, truth = counted(np.rint(p * TRAINING_ROWS)), {}
    for name, kind in AUDITORS.items():
        found = kind(interval=None).fit(exact.marginalise("task_pred")).audit(exact)
        truth[name] = round(found.value, 9) + 0.0
        if name == "bias disparity":
            truth[SIGNED] = round(found.statistics["signed_mean"], 9) + 0.0
    label, predicted = p.sum(axis=(0, 2))[1], p.sum(axis=(0, 1))[1]
    if label == 0.5 and abs(predicted - label) > 1e-9:
        del truth["label"]
    return truth


def nothing_to_find(p):
    """Return whether groups have the same rates: as many training rows then give random signs."""
    shares = p.sum(axis=(1, 2), keepdims=True)
    return np.allclose(p / shares, p.sum(axis=0))


def audits(p, n, resamples, seeds):
    """Return what each measure found in a data set a seed: value, interval, p < 0.05, verdict."""
    return Parallel(n_jobs=-1)(delayed(audit_all)(p, n, resamples, seed) for seed in seeds)


def audit_all(p, n, resamples, seed):
    rng = np.random.default_rng(seed)
    train, cells = (
        counted(rng.multinomial(size, p.ravel()).reshape(p.shape))
        for size in (n if nothing_to_find(p) else TRAINING_ROWS, n)
    )
    row = {}
    for name, kind in AUDITORS.items():
        one = kind(n_resamples=resamples, random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = one.fit(train.marginalise("task_pred")).audit(cells)
        tests = float(result.p_value < 0.05), float(result.verdict in CLEAR)
        row[name] = (result.value, result.low, result.high, *tests)
        if name == "bias disparity":
            row[SIGNED] = (*result.judged, *tests)
    return [row[name] for name in MEASURES]


def summary(truth, rows):
    """Return of each measure: truth, mean estimate, coverage, p below 0.05, clear verdicts."""
    found = {}
    for name, true in truth.items():
        value, low, high, rejected, clear = rows[:, MEASURES.index(name)].T
        known = ~np.isnan(low)
        covered = (low <= true + 1e-9) & (high >= true - 1e-9)
        shares = covered[known].mean(), rejected.mean(), clear.mean()
        found[name] = (true, value[known].mean(), *shares, (high - low)[known].mean())
    return found


def measure(worlds, n, trials, resamples, held):
    """Return the summaries of all worlds, by their names."""
    return {
        name: summary(
            truth_of(p), held.run(audits, (n, resamples, *name), p, n, resamples, trials=trials)
        )
        for name, p in worlds.items()
    }


def percent(share):
    return f"{share * 100:.1f}"


def null_table(found):
    """Return a row a world and measure, of those whose true value is 0."""
    lines = [
        "| groups | balance | model | measure | coverage | p < 0.05 | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for (groups, balance, model), measures in found.items():
        for name, (true, _, covered, rejected, clear, _) in measures.items():
            # Without a sensitive feature, over-predicting is amplification.
            if true == 0:
                cells = (percent(covered), percent(rejected), percent(clear))
                lines.append(f"| {groups} | {balance:g} | {model} | {name} | {' | '.join(cells)} |")
    return lines


def effect_table(found):
    lines = [
        "| world | balance | measure | true | mean estimate | coverage | mean width | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (world, balance), measures in found.items():
        for name, (true, mean, covered, _, clear, width) in measures.items():
            numbers = f"{true:+.4f} | {mean:+.4f} | {percent(covered)} | {width:.4f}"
            lines.append(f"| {world} | {balance:g} | {name} | {numbers} | {percent(clear)} |")
    return lines


PAGE = """# Coverage of the related measures

[Related measures](related.md): bias disparity, differential fairness, percentage amplification and
label amplification. How often do their 95 % intervals contain the true value, and how often do
audits find an effect if there is none? {trials} data sets a row, {resamples} resamples. A share of
95 % has a standard error of {error:.1f} percentage points in a row of the second and third table.

## In short

Means over all worlds, in per cent, and in parentheses the worst of them. A mean without an effect
is of {n_null} data sets (label amplification: fewer), with one of {n_effect}.

{short}

- **Differential fairness and percentage amplification**: these are a largest ratio and a mean of
  distances. Where ratios tie, or a distance is 0, as without an effect, they have a kink in the
  rates, and no estimator of them is unbiased (Hirano and Porter 2012). Percentiles are right away
  from kinks and deviations at kinks, and rows do not show which is the case. The interval is the
  longer of both at either end, so it covers too often in each.
- **Bias disparity**: without an effect the value is nearly 0 in every data set, and its interval
  nearly always includes 0. Of 500 rows with a rare label and a rare group it is too short, since
  the mean divides by rates of a few rows. The verdict is about the signed mean, whose interval is
  ordinary.
- **Label amplification**: a difference of two rates of the same rows, with ordinary intervals.

## Without an effect

The sensitive feature is random: it is independent of labels and predictions, in as many training
rows as test rows. "p < 0.05" and
"verdict" (a verdict other than "no clear effect" or "cannot amplify") are then false positives. A
model that over-predicts does amplify labels, so label amplification is left out there. The verdict
on bias disparity is about its signed mean.

{null}

## With an effect

The rates of groups differ, and so do the errors of the model. There are {training:,} training
rows. "Verdict" is how often the audit finds an effect.

{effect}

Made by `python benchmarks/coverage_related.py --trials {trials} --resamples {resamples} --write
docs/coverage-related.md`.
"""


def over_worlds(found, name, column, worst, keep=lambda true: True):
    """Return the mean of a share over all worlds, and the worst of them."""
    shares = [one[name][column] for one in found.values() if name in one and keep(one[name][0])]
    return f"{percent(np.mean(shares))} ({percent(worst(shares))})" if shares else "–"


def shortly(nulls, effects):
    """Return a row a measure: means over all worlds, and the worst of them."""
    lines = [
        "| measure | rows | coverage with an effect | coverage without | p < 0.05 without "
        "| verdict without |",
        "|---|---|---|---|---|---|",
    ]
    for n in nulls:
        for name in MEASURES:
            cells = [over_worlds(effects[n], name, 2, min)]
            for column, worst in ((2, min), (3, max), (4, max)):
                cells.append(over_worlds(nulls[n], name, column, worst, lambda true: true == 0))
            lines.append(f"| {name} | {n:,} | {' | '.join(cells)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--write", type=Path, help="the page to write")
    add_arguments(parser)
    options = parser.parse_args()
    trials, resamples = (2, 19) if options.short else (options.trials, options.resamples)
    nulls, effects = {}, {}
    held = Trials(options.keep, options.minutes)
    for n in SIZES[:1] if options.short else SIZES:
        how = (n, trials, resamples, held)
        worlds = {
            (groups, balance, model): without_effect(groups, balance, model)
            for groups in (2, 4)
            for balance in BALANCES
            for model in MODELS
        }
        nulls[n] = measure(worlds, *how)
        worlds = {
            (name, balance): with_effect(name, balance) for name in EFFECTS for balance in BALANCES
        }
        effects[n] = measure(worlds, *how)
        print(n, *null_table(nulls[n]), *effect_table(effects[n]), sep="\n", flush=True)
    text = PAGE.format(
        trials=trials,
        resamples=resamples,
        n_null=trials * len(nulls[n]),
        n_effect=trials * len(effects[n]),
        training=TRAINING_ROWS,
        error=(0.95 * 0.05 / trials) ** 0.5 * 100,
        short="\n".join(shortly(nulls, effects)),
        null="\n\n".join("\n".join([f"{n:,} rows:", "", *null_table(nulls[n])]) for n in nulls),
        effect="\n\n".join(
            "\n".join([f"{n:,} rows:", "", *effect_table(effects[n])]) for n in effects
        ),
    )
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
