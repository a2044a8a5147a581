"""Measure how often intervals hold the true value, and how often tests reject a true hypothesis.

    python benchmarks/coverage.py                     # the tables, ten minutes on two cores
    python benchmarks/coverage.py --short             # seconds: only checks that it runs
    python benchmarks/coverage.py --write docs/coverage.md

Data sets are drawn from joint distributions that are written down, so that the true value is no
estimate: it is the library's own metric on the exact probabilities of all cells.
"""

import argparse
import os
import warnings
from pathlib import Path
from typing import NamedTuple

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed

from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp._cells import distinct

# The library's default where the intervals of one label are judged, fewer for many labels and for
# tests alone. The permutation test draws as often, and with either a p-value can be exactly 0.05.
RESAMPLES = (999, 199)
SIZES = (500, 5_000)
# So many training rows, with the frequencies of the distribution, leave no sign uncertain.
TRAINING_ROWS = 10_000_000
# Of the training labels whose signs are coins.
COIN_ROWS = 100_000
MOST_BATCHES = 40


class Joint(NamedTuple):
    """All cells of (A, T, T̂, Â) that can occur, and their probabilities."""

    group: np.ndarray
    task: np.ndarray
    task_pred: np.ndarray
    group_pred: np.ndarray
    p: np.ndarray

    def contingency(self, weight, *, labels_only=False):
        held = np.flatnonzero(weight)
        task, task_pred = (
            side[held, 0] if side.shape[1] == 1 else side[held]
            for side in (self.task, self.task_pred)
        )
        cells = Contingency.from_labels(
            task,
            None if labels_only else task_pred,
            sensitive_features=self.group[held],
            sensitive_pred=None if labels_only else self.group_pred[held],
            sample_weight=weight[held],
        )
        return distinct(cells)

    def draw(self, n, rng):
        return self.contingency(rng.multinomial(n, self.p))

    def exact(self):
        # Any factor will do; a set of tasks has to weigh 1 to count as one that occurs.
        return self.contingency(self.p * TRAINING_ROWS)

    def training(self):
        return self.contingency(np.rint(self.p * TRAINING_ROWS), labels_only=True)


# --------------------------------------------------------------------------- distributions


def joint(share, labels, attribute):
    """Mix distributions over latent classes (g, z).

    share[g, z] is a class's probability, labels[g, z, k] the 2 × 2 table of the k-th task's label
    and prediction in it, attribute[g, t] that of A and Â where the first task's label is t. Tasks
    are independent within a class, hence correlated overall.
    """
    n_groups, n_tasks = attribute.shape[-1], labels.shape[2]
    shape = (n_groups, n_groups, *([2] * (2 * n_tasks)))
    cells = np.indices(shape, dtype=np.int8).reshape(len(shape), -1)
    group, group_pred, rows = cells[0], cells[1], cells[2:].T
    task, task_pred = rows[:, :n_tasks], rows[:, n_tasks:]
    p = np.zeros(len(rows))
    for (g, z), weight in np.ndenumerate(share):
        tables = labels[g, z][np.arange(n_tasks), task, task_pred]
        p += weight * tables.prod(axis=1) * attribute[g, task[:, 0], group, group_pred]
    held = p > 0
    sides = (side[held] for side in (group, task, task_pred, group_pred, p / p.sum()))
    return Joint(*sides)


def errors_by_group(rates, hit, false):
    """Tables of label and prediction of tasks of these rates [g, z, k].

    A task that is present is predicted with probability hit[g, k], another with false[g, k].
    """
    rates = np.asarray(rates, dtype=float)
    hit, false = (
        np.broadcast_to(np.asarray(x, dtype=float)[:, None, :], rates.shape) for x in (hit, false)
    )
    absent = np.stack([(1 - rates) * (1 - false), (1 - rates) * false], axis=-1)
    present = np.stack([rates * (1 - hit), rates * hit], axis=-1)
    return np.stack([absent, present], axis=-2)


def recognised(kept):
    """Tables of A and Â: a group is recognised with probability kept[g, t]."""
    kept = np.asarray(kept, dtype=float)
    n = len(kept)
    tables = np.zeros((n, 2, n, n))
    for g in range(n):
        tables[g, :, g] = (1 - kept[g, :, None]) / (n - 1)
        tables[g, :, g, g] = kept[g]
    return tables


def binary():
    labels = errors_by_group([[[0.6]], [[0.35]]], [[0.9], [0.7]], [[0.25], [0.08]])
    return joint(np.array([[0.6], [0.4]]), labels, recognised([[0.8, 0.92], [0.9, 0.75]]))


def rare_group():
    rates = [[[0.5]], [[0.3]], [[0.65]]]
    labels = errors_by_group(rates, [[0.88], [0.7], [0.9]], [[0.2], [0.08], [0.3]])
    share = np.array([[0.6], [0.38], [0.02]])
    return joint(share, labels, recognised([[0.85, 0.93], [0.9, 0.8], [0.7, 0.8]]))


TASK_RATES = [
    [[0.55, 0.20, 0.50, 0.25, 0.35, 0.30], [0.80, 0.45, 0.75, 0.50, 0.65, 0.60]],
    [[0.30, 0.40, 0.30, 0.40, 0.25, 0.45], [0.60, 0.70, 0.55, 0.70, 0.50, 0.75]],
]


def multilabel():
    # Strongest in the first task, next to nothing in the last ones.
    hit = [[0.94, 0.75, 0.90, 0.80, 0.86, 0.85], [0.74, 0.92, 0.80, 0.88, 0.84, 0.85]]
    false = [[0.25, 0.08, 0.18, 0.10, 0.14, 0.12], [0.08, 0.22, 0.10, 0.16, 0.11, 0.13]]
    share = np.array([[0.3, 0.25], [0.25, 0.2]])
    return joint(
        share, errors_by_group(TASK_RATES, hit, false), recognised([[0.8, 0.92], [0.9, 0.75]])
    )


def imbalanced():
    # 3 % of all rows: 2.8 % of nine in ten, 4.8 % of the others.
    labels = errors_by_group([[[0.028]], [[0.048]]], [[0.7], [0.85]], [[0.005], [0.02]])
    return joint(np.array([[0.9], [0.1]]), labels, recognised([[0.97, 0.9], [0.8, 0.9]]))


def unmoved(share, rates, *, flip, stay):
    """Labels and predictions that are equally noisy copies of one truth.

    T and T̂ are exchangeable whatever A and Â, these whatever T and T̂, and both at once: each
    test's hypothesis holds.
    """
    rates, stay = np.asarray(rates, dtype=float), np.asarray(stay, dtype=float)
    copy = np.array([[1 - flip, flip], [flip, 1 - flip]])
    labels = np.einsum("lgzk,li,lj->gzkij", np.stack([1 - rates, rates]), copy, copy)
    attribute = np.einsum("ga,gb->gab", stay, stay)
    return joint(np.asarray(share), labels, np.repeat(attribute[:, None], 2, axis=1))


def unmoved_binary():
    stay = [[0.9, 0.1], [0.1, 0.9]]
    return unmoved([[0.6], [0.4]], [[[0.65]], [[0.3]]], flip=0.1, stay=stay)


def unmoved_rare_group():
    stay = [[0.93, 0.06, 0.01], [0.08, 0.91, 0.01], [0.05, 0.05, 0.9]]
    share = [[0.613], [0.375], [0.012]]
    return unmoved(share, [[[0.5]], [[0.3]], [[0.65]]], flip=0.1, stay=stay)


def unmoved_multilabel():
    stay = [[0.92, 0.08], [0.08, 0.92]]
    return unmoved([[0.3, 0.25], [0.25, 0.2]], TASK_RATES, flip=0.1, stay=stay)


def unmoved_imbalanced():
    stay = [[0.97, 0.03], [0.2, 0.8]]
    return unmoved([[0.909], [0.091]], [[[0.02]], [[0.045]]], flip=0.01, stay=stay)


MOVED = {
    "binary": binary,
    "rare group": rare_group,
    "multilabel": multilabel,
    "imbalance": imbalanced,
}
UNMOVED = {
    "binary, no change": unmoved_binary,
    "rare group, no change": unmoved_rare_group,
    "multilabel, no change": unmoved_multilabel,
    "imbalance, no change": unmoved_imbalanced,
}
SCENARIOS = {**MOVED, **UNMOVED}
# Where intervals are judged.
INTERVALS = [*MOVED, "multilabel, no change"]
METHODS = ("bootstrap", "analytic")

# --------------------------------------------------------------------------- measuring

METRICS = ("A→T", "T→A", "MALS", "Multi→ A→T")
SIGNED = "Multi→ A→T, signed mean"


def auditor(metric, **options):
    if metric == "MALS":
        return MALSAuditor(**options)
    if metric == "Multi→ A→T":
        # Every single task and every pair of tasks: each occurs in every data set.
        return MultiAttributeAuditor(combinations="all", max_size=2, **options)
    return DirectionalAuditor("A->T" if metric == "A→T" else "T->A", **options)


def draws_of(scenario, n, datasets, work):
    """Run `work` on every data set's generator, in batches that two processes share."""
    root = [*scenario.encode(), n]
    size = -(-datasets // MOST_BATCHES)

    def batch(first):
        with warnings.catch_warnings():
            # Few rows and undefined pairs are what is studied here.
            warnings.simplefilter("ignore")
            last = min(first + size, datasets)
            return [work(np.random.default_rng([*root, i])) for i in range(first, last)]

    batches = Parallel(n_jobs=2)(delayed(batch)(i) for i in range(0, datasets, size))
    return [result for done in batches for result in done]


class Interval(NamedTuple):
    """What one audit says: its value with bounds, and whether each pair's bounds hold the truth."""

    value: float
    low: float
    high: float
    pairs: np.ndarray


def intervals_of(result, truth):
    # Both tables have the training labels' groups and tasks, in the same order.
    low, high, mine, sign = (
        result.table[name].to_numpy() for name in ("low", "high", "amplification", "sign")
    )
    defined = (sign != 0) & ~np.isnan(mine)
    true = truth.table["amplification"].to_numpy()
    held = (low <= true + 1e-12) & (high >= true - 1e-12)
    found = {None: Interval(result.value, result.low, result.high, held[defined])}
    if "signed_mean_low" in result.statistics:
        numbers = (result.statistics["signed_mean" + end] for end in ("", "_low", "_high"))
        found[SIGNED] = Interval(*numbers, np.array([]))
    return found


class Rejected(NamedTuple):
    """Whether tests of one audit reject at 5 %."""

    value: bool
    pairs: np.ndarray
    any_pair: bool


def rejected_by(result):
    tests = result.table[["p_value", "p_adjusted"]].dropna().to_numpy() <= 0.05
    return Rejected(result.p_value <= 0.05, tests[:, 0], tests[:, 1].any())


def study(scenario, distribution, n, datasets, methods, resamples):
    """Return how often intervals hold what is true, and how often tests reject."""
    training, exact = distribution.training(), distribution.exact()
    truths, auditors = {}, {}
    for metric in METRICS:
        truths[metric] = auditor(metric, interval=None).fit(training).audit(exact)
        for method in methods:
            # The delta method draws nothing; tests are judged as the bootstrap's audits make them.
            draws = 2 if method == "analytic" else resamples
            options = {"interval": method, "n_resamples": draws}
            auditors[metric, method] = auditor(metric, **options).fit(training)
    true_values = {metric: truth.value for metric, truth in truths.items()}
    true_values[SIGNED] = truths["Multi→ A→T"].statistics["signed_mean"]

    def work(rng):
        cells = distribution.draw(n, rng)
        intervals, tests = {}, {}
        for (metric, method), one in auditors.items():
            result = one.set_params(random_state=rng).audit(cells)
            for name, interval in intervals_of(result, truths[metric]).items():
                intervals[name or metric, method] = interval
            if method == "bootstrap":
                tests[metric] = rejected_by(result)
        return intervals, tests

    results, tests = zip(*draws_of(scenario, n, datasets, work), strict=True)
    covered, rejected = [], []
    for metric, true in true_values.items():
        row = {"scenario": scenario, "n": n, "metric": metric, "true": true, "pairs": {}}
        for method in methods:
            intervals = [result[metric, method] for result in results]
            value, low, high = np.array([interval[:3] for interval in intervals]).T
            row["mean"] = np.nanmean(value)
            row[method] = ((low <= true) & (true <= high))[~np.isnan(low)].mean()
            if metric != SIGNED:
                row["pairs"][method] = np.concatenate([one.pairs for one in intervals]).mean()
        covered.append(row)
    for metric in METRICS:
        value, pairs, any_pair = zip(*(test[metric] for test in tests), strict=True)
        rates = {"value": value, "pairs": np.concatenate(pairs), "any": any_pair}
        rates = {name: np.mean(rejections) for name, rejections in rates.items()}
        rejected.append({"scenario": scenario, "n": n, "metric": metric, **rates})
    return covered, rejected


def coins():
    """Tasks that do not depend on the group, and a model that moves every one of them."""
    rates = np.repeat([TASK_RATES[0]], 2, axis=0)
    hit, false = [[0.95] * 6, [0.75] * 6], [[0.15] * 6, [0.05] * 6]
    share = np.array([[0.3, 0.25], [0.25, 0.2]])
    share = np.outer(share.sum(axis=1), share.sum(axis=0))  # z does not depend on g either
    return joint(share, errors_by_group(rates, hit, false), recognised([[0.9, 0.9], [0.9, 0.9]]))


def signs(cells):
    joint_counts = cells.joint("group", "task")
    chance = cells.count("group")[..., :, None] * cells.count("task")[..., None, :]
    return np.sign(np.asarray(cells.total)[..., None, None] * joint_counts - chance)


def uncertain_signs(datasets, resamples):
    """Audit by training labels whose correlations are chance alone, new for each audit."""
    distribution, n = coins(), SIZES[-1]
    exact = distribution.exact()
    known = DirectionalAuditor(interval=None).fit(distribution.training()).audit(exact)
    deltas = known.table["delta"].to_numpy()

    def work(rng):
        train = distribution.draw(COIN_ROWS, rng).marginalise("task_pred", "group_pred")
        cells = distribution.draw(n, rng)
        seen = signs(train)
        again = signs(train.resample(resamples, random_state=rng))
        changed = (again != seen).any(axis=(-2, -1)).mean()
        true = np.mean(seen.ravel() * deltas)
        fitted = DirectionalAuditor(n_resamples=resamples, random_state=rng).fit(train)
        result = fitted.audit(cells)
        return (
            changed,
            result.low <= true <= result.high,
            result.low <= 0 <= result.high,
            result.high - result.low,
            (~result.table["sign_certain"]).mean(),
        )

    changed, *found = np.mean(draws_of("coins", n, datasets, work), axis=0)
    return changed, found


# --------------------------------------------------------------------------- the page


def percent(share):
    return "" if share is None else f"{100 * share:.1f}"


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def bold_unless(met, share):
    return percent(share) if met else f"**{percent(share)}**"


def on_target(n, share):
    return 0.93 <= share <= 0.97 if n == SIZES[-1] else share >= 0.9


def signed(value):
    return f"{value + 0.0:+.4f}".replace("-0.0000", "+0.0000")


def coverage_table(rows):
    header = ["scenario", "n", "metric", "true", "mean estimate", *METHODS]
    header += [f"pairs, {method}" for method in METHODS]
    lines = []
    for row in rows:
        found = (
            "" if method not in row else bold_unless(on_target(row["n"], row[method]), row[method])
            for method in METHODS
        )
        pairs = (percent(row["pairs"].get(method)) for method in METHODS)
        values = (signed(row["true"]), signed(row["mean"]))
        lines.append([row["scenario"], f"{row['n']:,}", row["metric"], *values, *found, *pairs])
    return markdown(header, lines)


def rejection_table(rows):
    header = ["scenario", "n", "metric", "value", "pairs", "any pair, adjusted"]
    lines = []
    for row in rows:
        value = bold_unless(0.04 <= row["value"] <= 0.06, row["value"])
        others = (percent(row["pairs"]), percent(row["any"]))
        lines.append([row["scenario"], f"{row['n']:,}", row["metric"], value, *others])
    return markdown(header, lines)


def sign_table(held, zero, width, flagged):
    header = ["includes the value at the estimated signs", "includes 0", "mean width", "flagged"]
    return markdown(header, [[percent(held), percent(zero), f"{width:.4f}", percent(flagged)]])


class Measured(NamedTuple):
    datasets: int
    resamples: tuple
    coverage: list
    rejections: list
    changed: float
    signs: list


def measure(datasets, sizes, resamples):
    covered, rejected = [], []
    for n in sizes:
        for name, make in SCENARIOS.items():
            distribution = make()
            one_label = distribution.task.shape[1] == 1
            # Of what is not among INTERVALS, only the tests are judged.
            methods = METHODS if name in INTERVALS else ("bootstrap",)
            draws = resamples[0 if one_label and name in MOVED else 1]
            intervals, tests = study(name, distribution, n, datasets, methods, draws)
            if name in UNMOVED:
                rejected += tests
            if name in INTERVALS:
                covered += intervals
    changed, signs = uncertain_signs(datasets, resamples[1])
    return Measured(datasets, resamples, covered, rejected, changed, signs)


def span(rows, n, metrics, method):
    found = [row[method] for row in rows if row["n"] == n and row["metric"] in metrics]
    return f"{percent(min(found))} to {percent(max(found))}" if found else "not measured"


def page(found):
    error = 100 * np.sqrt(0.95 * 0.05 / found.datasets)
    linear = [*METRICS[:3], SIGNED]
    spans = {
        (n, method): span(found.coverage, n, linear, method)
        for n in SIZES
        for method in ("bootstrap", "analytic")
    }
    small, large = SIZES
    many, few = found.resamples
    enclosed = {n: f"{95 * (n - 1) / (n + 1):.1f}" for n in found.resamples}
    return f"""# Coverage of confidence intervals, and error rates of tests

Each number is a percentage of {found.datasets:,} simulated data sets. Each data set is drawn from
a known joint distribution of group, labels and predictions (`benchmarks/coverage.py`). The
Monte-Carlo standard error is {error:.1f} percentage points for a coverage near 95 %, and the same
for a false-positive rate near 5 %. There are {TRAINING_ROWS:,} training rows with exactly the
frequencies of the distribution, the same for every data set. The signs are therefore certain. The
true value is the metric on the exact probabilities of all cells (up to 16,384), with the same
training rows.

Group → task (A→T): does the group shift the predicted task? Task → group (T→A): does the task
shift the predicted group?

- **binary**: one label, two groups (60 and 40 % of rows).
- **rare group**: one label, three groups. The smallest has 2 % of the rows, or 10 rows of
  {small}.
- **multilabel**: six tasks, correlated through a latent class, and two groups. The model changes
  the tasks by different amounts, the last one hardly at all.
- **imbalance**: one label that 3 % of the rows have, groups of 90 and 10 % of rows. The small
  group has about two positive rows of {small}.
- **no change**: labels and predictions are equally noisy copies of one true label. The group and
  its prediction are equally noisy copies of one true group. Every null hypothesis of the tests is
  true.

## Intervals

The nominal level is 95 %. Bold: outside 93 to 97 % at n = {large:,}, or below 90 % at n =
{small}. Multi→ uses every task and every pair of tasks, compared with the training labels (the
default). "Pairs" is the coverage of the intervals in the table of pairs, over all pairs that have
a sign.

{coverage_table(found.coverage)}

The bootstrap has {many} resamples in scenarios with one label, and {few} in scenarios with six
labels (the default is 999). With a perfect method, the 2.5 and 97.5 % quantiles enclose
{enclosed[many]} % of {many} draws and {enclosed[few]} % of {few}.

Conclusions:

- **Sums of signed changes** (A→T, T→A, MALS, the signed mean of Multi→): at n = {large:,},
  bootstrap intervals included the true value in {spans[large, "bootstrap"]} % of data sets.
  Analytic intervals did in {spans[large, "analytic"]} %.
- **n = {small}**: the ranges are {spans[small, "bootstrap"]} % and {spans[small, "analytic"]} %.
  The difficult case is A→T if label and prediction differ in almost no row of a group (rare
  group, imbalance). Resamples contain only observed rows, so percentiles alone would be too
  narrow. If fewer than 10 rows of a pair differ, intervals are therefore at least as wide as
  exact bounds of the rows gained and lost. Such intervals are too wide: bounds for one or two
  rows cover far more than 95 %. `reliable=False` marks only pairs of fewer than 10 rows. It does
  not mark pairs of 50 rows of which one differs.
- **Means of absolute changes** (the value of Multi→): do not trust the interval if some changes
  are near 0. An absolute change is never negative, so noise raises it. If nothing changes, the
  estimate is far above 0, and almost no interval includes the true value. Percentiles are worse
  than the delta method, because resampling adds the noise a second time. More rows help only if
  all changes are large compared with their standard errors. Report `statistics["signed_mean"]`
  with `signed_mean_low` and `signed_mean_high` instead. The value's `p_value` accounts for the
  noise: use it to test whether anything changes.

## Tests

The tables show how often p ≤ 0.05 although the model changes nothing. "Value" is the permutation
test ({few} draws), bold outside 4 to 6 %. "Pairs" is the share of rejected pairs: McNemar's exact
test, or the permutation test for MALS. The last column is the share of data sets in which the
p-value of any pair, adjusted by Holm's method, is ≤ 0.05.

{rejection_table(found.rejections)}

Neither test rejects too often. McNemar's exact test is conservative by construction. Its true
level is below 4 % if a dozen rows differ between label and prediction. It cannot reject if fewer
than six rows differ. The permutation test counts ties as extreme. It is conservative too if the
value depends on few rows: one task, a rare label or a rare group. Its rate is then below 4 %.
With two groups, the two T→A pairs of a task are the same test, and Holm's method corrects for it
twice.

## Uncertain signs

Six tasks are independent of the group. Each data set has {COIN_ROWS:,} new training rows and
{large:,} test rows. The metric is A→T, and the model changes every pair. The signs are then
random: at least one sign changed in {percent(found.changed)} % of bootstrap resamples of the
training rows (mean over data sets). "Flagged" is the share of pairs with `sign_certain=False`.

{sign_table(*found.signs)}

The interval includes the value *at the estimated signs* as often as it should. But these signs
are random. The interval excludes 0 most of the time, although there is no correlation that could
be amplified. If pairs are flagged, report their `delta`, which does not depend on the sign. Or
pass signs from another source (`sign=`).

`python benchmarks/coverage.py --write docs/coverage.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="three small data sets: a check")
    parser.add_argument("--datasets", metavar="N", type=int, default=1000, help="drawn for a cell")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    arguments = parser.parse_args()
    if arguments.short and arguments.write:
        parser.error("--short measures nothing worth writing down.")
    if arguments.short:
        found = measure(3, SIZES[:1], (19, 19))
    else:
        found = measure(arguments.datasets, SIZES, RESAMPLES)
    text = page(found)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
