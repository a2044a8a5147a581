"""Measure intervals and tests of rows that depend on one another.

    python benchmarks/coverage_clusters.py            # the table, minutes on one core
    python benchmarks/coverage_clusters.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_clusters.py --write docs/coverage-clusters.md
    python benchmarks/coverage_clusters.py --keep rows.json --minutes 10    # in parts

People have several rows each. A share of the people has equal rows, those of the others are drawn
by themselves. Chances are written down, so that the true value is known.
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
from sklearn.base import BaseEstimator, ClassifierMixin

from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, LeakageAuditor

RESAMPLES = 199
ROWS = 5  # of a person
# P(T = 1 | A) of two groups, and P(prediction is changed to 1 or to 0 | A).
RATES = np.array([0.6, 0.4])
UP = np.array([0.14, 0.08])
DOWN = np.array([0.06, 0.10])
# Nothing is amplified: as many rows change up as down; or all rows are as likely to change.
EVEN = 0.04 / (1 - RATES), 0.04 / RATES
COIN = (np.full(2, 0.15), np.full(2, 0.15))


def common(**more):
    return {"n_resamples": RESAMPLES, **more}


class Majority(ClassifierMixin, BaseEstimator):
    """The most frequent class of one bit, by weight: what a logistic regression learns of it.

    The auditors treat it as any classifier that has to be trained, and it takes less time.
    """

    def fit(self, X, y, sample_weight):
        signed = np.where(y == 1, sample_weight, -sample_weight)
        self.second_ = np.bincount((X[:, 0] > 0).astype(int), signed, minlength=2) > 0
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return self.second_[(X[:, 0] > 0).astype(int)].astype(int)


def trained(auditor):
    return auditor(attacker=Majority(), **common(n_draws=3))


# Audits, and the share of data sets that each gets.
AUDITS = {
    "A→T, bootstrap": (lambda: DirectionalAuditor(**common()), 1.0),
    "A→T, analytic": (lambda: DirectionalAuditor(**common(interval="analytic")), 1.0),
    "leakage": (lambda: LeakageAuditor(**common()), 0.3),
    "DPA A→T": (lambda: DPAAuditor(**common()), 0.3),
    "leakage, trained": (lambda: trained(LeakageAuditor), 1.0),
    "DPA A→T, trained": (lambda: trained(DPAAuditor), 1.0),
}

TEXT = """# Coverage with clusters

People have {rows} rows each. Of a share of them all rows are equal ("alike"), the rows of the
others are independent. How often does a 95 % interval contain the true value, and how often does
the test reject if the model amplifies nothing? The metrics are directional amplification, group →
task (A→T), leakage and DPA, with the exact attacker and a trained one (3 draws), which predicts
the most frequent class.

If all rows of a person are equal, ordinary intervals contain the true value in {least} to {most} %
of data sets, and intervals with `clusters=` in {low} to {high} %. If rows are independent, both
kinds agree. With a trained attacker the test with `clusters=` rejects in {trained} % of data sets
at most.

The rows of A→T and of trained attackers have {sizes[0]} data sets each, those of the exact
attacker {sizes[2]}: a share of 95 % has a standard error of {errors[0]:.1f} and {errors[2]:.1f}
percentage points. Every interval has {resamples} resamples.
True values of leakage and DPA are those of the closed form on the chances. Made by
`python benchmarks/coverage_clusters.py --write docs/coverage-clusters.md`.

{header}
|---|---|---|---|---|---|---|
"""


HEADER = (
    "| people | alike | audit | contains it, ordinary | contains it, `clusters=` "
    "| rejects, ordinary | rejects, `clusters=` |"
)


def people(n, alike, up, down, rng):
    """Return group, label and prediction of rows of n people, and the people."""
    person = np.repeat(np.arange(n), ROWS)
    group = (rng.random(n) < 0.5).astype(int)[person]
    chance = rng.random((n, 2))[person]
    own = rng.random((n * ROWS, 2))
    first = (rng.random(n) < alike)[person]
    chance = np.where(first[:, None], chance, own)
    label = (chance[:, 0] < RATES[group]).astype(int)
    changed = chance[:, 1] < np.where(label == 1, down[group], up[group])
    return group, label, np.where(changed, 1 - label, label), person


def true_value(auditor):
    """Return the value of the chances; the first group has the task oftener."""
    if auditor.kind == "signed":
        change = UP * (1 - RATES) - DOWN * RATES
        return (change[0] - change[1]) / 2
    group, label, guess = (side.ravel() for side in np.indices((2, 2, 2)))
    chance = np.where(label == 1, RATES[group], 1 - RATES[group]) / 2
    change = np.where(label == 1, DOWN[group], UP[group])
    chance = chance * np.where(guess == label, 1 - change, change)
    cells = Contingency.from_labels(
        label, guess, sensitive_features=group, sample_weight=np.rint(chance * 1e10)
    )
    closed = type(auditor)(cv=None, interval=None)
    return closed.score(cells)


def one(name, n, alike, seed):
    """Return whether intervals contain the value, and tests reject: ordinary and clustered."""
    rng = np.random.default_rng(seed)
    auditor = AUDITS[name][0]().set_params(random_state=seed)
    value, even = true_value(auditor), COIN
    if auditor.kind == "signed":
        even = EVEN
        auditor.fit([1] * 6 + [0] * 4 + [1] * 4 + [0] * 6, sensitive_features=[0] * 10 + [1] * 10)
    found = []
    group, label, predicted, person = people(n, alike, UP, DOWN, rng)
    for clusters in (None, person):
        result = auditor.audit(label, predicted, sensitive_features=group, clusters=clusters)
        found.append(result.low <= value <= result.high)
    group, label, predicted, person = people(n, alike, *even, rng)
    for clusters in (None, person):
        result = auditor.audit(label, predicted, sensitive_features=group, clusters=clusters)
        found.append(result.p_value < 0.05)
    return found


def size_of(name, n_data):
    """Return how many data sets an audit gets."""
    return max(round(n_data * AUDITS[name][1]), 1)


def kept(page, start):
    """Return a row of the page as it is."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(start))


def main():
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument(
        "--audits", nargs="+", default=list(AUDITS), help="other rows stay as the page has them"
    )
    add_arguments(parser)
    options = parser.parse_args()
    n_data = 5 if options.short else 200
    held = Trials(options.keep, options.minutes)
    rows, found = [], []
    with Parallel(n_jobs=options.n_jobs) as parallel:
        for n in (100,) if options.short else (100, 1000):
            for alike in (0.0, 0.5, 1.0):
                for name in AUDITS:
                    if "trained" in name and n > 100:
                        continue  # trained attackers are slow
                    if name not in options.audits:
                        rows.append(kept(options.write, f"| {n:,} | {alike:.0%} | {name} |"))
                        shares = [float(one.split()[0]) for one in rows[-1].split("|")[4:8]]
                        found.append((name, alike, *shares))
                        continue
                    row, size = (name, n, alike), size_of(name, n_data)
                    shares = 100 * held.run(several, row, parallel, *row, trials=size).mean(axis=0)
                    found.append((name, alike, *shares))
                    cells = " | ".join(f"{share:.1f} %" for share in shares)
                    rows.append(f"| {n:,} | {alike:.0%} | {name} | {cells} |")
                    print(rows[-1], flush=True)
    alike_rows = [shares for _, alike, *shares in found if alike == 1]
    least, low, *_ = np.min(alike_rows, axis=0)
    most, high, *_ = np.max(alike_rows, axis=0)
    worst = max(shares[3] for name, _, *shares in found if "trained" in name)
    sizes = [size_of(name, n_data) for name in AUDITS]
    text = TEXT.format(
        rows=ROWS,
        sizes=sizes,
        errors=[100 * (0.95 * 0.05 / size) ** 0.5 for size in sizes],
        resamples=RESAMPLES,
        least=f"{least:.1f}",
        most=f"{most:.1f}",
        low=f"{low:.1f}",
        high=f"{high:.1f}",
        trained=f"{worst:.1f}",
        header=HEADER,
    )
    text += "\n".join(rows) + "\n"
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


def several(parallel, name, n, alike, seeds):
    """Run a data set a seed."""
    return parallel(delayed(quiet)(name, n, alike, seed) for seed in seeds)


def quiet(*how):
    """Run a data set without the warnings that small ones give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return one(*how)


if __name__ == "__main__":
    main()
