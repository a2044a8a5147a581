"""Measure how often certificates of amplification are broken, and how often there is one.

python benchmarks/certificate.py            # twenty minutes on one core
python benchmarks/certificate.py --short    # seconds: only checks that it runs
python benchmarks/certificate.py --write benchmarks/results/certificate.md
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from skbiasamp.mitigation import AmplificationController

GAP = 1.0  # between the groups' means of what decides the label
# What is added to the score of the second group.
KINDS = {"calibrated": 0.0, "uncalibrated": 0.5, "hopeless": -GAP}

TEXT = """# Certificates of amplification

`AmplificationController` certifies a threshold on calibration rows. A certificate is *broken* if
the amplification of its threshold in the population is beyond the limit. With a confidence level of
95 %, at most 5 % of data sets may give a broken certificate. *Certified* is the share of data sets
that give any certificate.

Two groups have means 0 and {gap:g} of a normal feature, and the label follows a logistic regression
of it. *Group* is the share of the first group. Scores are **calibrated** (the feature), or
**uncalibrated** (half a standard deviation is added for the second group; a logistic regression of
the labels on feature and group would not do that). In **hopeless** worlds scores are independent of
the group, so that all thresholds have the same amplification, {hopeless:.4f}: the limit is set just
below, so that every certificate is broken. This is the hardest case for the test.

{table}

{n_sets:,} data sets each; a share of 5 % has a standard error of {error:.1f} percentage points. The
amplification in the population is computed, not sampled. In the last rows all thresholds are given
in advance, and the first one is on the limit: this is a single test at 5 %.

Not tried: more than two groups, dependent rows, changed populations (which void a certificate).

Made by `python benchmarks/certificate.py --write benchmarks/results/certificate.md`.
"""


class Scores(ClassifierMixin, BaseEstimator):
    """Classifier whose only feature is its score."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return X[:, 0]


def accuracy(model, y_pred, y_true, sample_weight):
    """Return accuracy from confusion counts, faster than scikit-learn does."""
    return float(sample_weight[y_pred == y_true].sum() / sample_weight.sum())


def base_rates():
    """Return how often each group is labelled."""
    x = np.linspace(-9, 10, 20_001)
    return [(stats.norm.pdf(x - mean) * expit(1.5 * (x - 0.5))).sum() * (x[1] - x[0])
            for mean in (0, GAP)]  # fmt: skip


BASE = base_rates()


def amplification(threshold, shift):
    """Return the amplification of a threshold in the population."""
    rates = stats.norm.sf(threshold), stats.norm.sf(threshold - GAP - shift)
    return ((rates[1] - BASE[1]) - (rates[0] - BASE[0])) / 2


def measure(n, share, shift, limit, n_sets, rng, thresholds=None):
    """Return how often certificates are broken, and how often there is one."""
    broken = certified = 0
    for _ in range(n_sets):
        group = (rng.random(n) >= share).astype(int)
        x = rng.normal(GAP * group)
        y = (rng.random(n) < expit(1.5 * (x - 0.5))).astype(int)
        model = AmplificationController(
            Scores(), limit=limit, thresholds=thresholds, scoring=accuracy, random_state=rng
        )
        model.fit((x + shift * group)[:, None], y, sensitive_features=group)
        certified += model.certified_
        broken += model.certified_ and abs(amplification(model.threshold_, shift)) > limit
    return broken / n_sets, certified / n_sets


def rows(n_sets, sizes, rng):
    """Yield the rows of the table."""
    limits = {500: 0.1, 2000: 0.05, 5000: 0.05, 20_000: 0.02}
    for kind, shift in KINDS.items():
        for n in sizes:
            for share in (0.05, 0.2, 0.5):
                hopeless = kind == "hopeless"
                limit = 0.999 * abs(amplification(0, shift)) if hopeless else limits[n]
                yield kind, n, share, limit, *measure(n, share, shift, limit, n_sets, rng)
    for n in sizes:  # the first and only threshold is on the limit
        limit = 0.999 * abs(amplification(0.5, 0.5))
        shares = measure(n, 0.2, 0.5, limit, n_sets, rng, [0.5])
        yield "one threshold, on the limit", n, 0.2, limit, *shares


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    n_sets, sizes = (5, (500,)) if options.short else (options.sets, (500, 2000, 5000, 20_000))
    lines = ["| scores | rows | group | limit | broken | certified |", "|---|---|---|---|---|---|"]
    for kind, n, share, limit, broken, certified in rows(n_sets, sizes, np.random.default_rng(0)):
        line = f"| {kind} | {n:,} | {share:.0%} | {limit:.3f} | {broken:.1%} | {certified:.1%} |"
        lines.append(line)
        print(line, flush=True)
    text = TEXT.format(
        gap=GAP,
        hopeless=amplification(0, -GAP),
        table="\n".join(lines),
        n_sets=n_sets,
        error=100 * (0.05 * 0.95 / n_sets) ** 0.5,
    )
    if options.write:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
