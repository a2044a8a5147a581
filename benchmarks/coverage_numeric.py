"""Measure intervals and tests of numeric tasks: prices, scores, waiting times.

    python benchmarks/coverage_numeric.py            # the table, a quarter of an hour on one core
    python benchmarks/coverage_numeric.py --data-sets 100   # a third of it
    python benchmarks/coverage_numeric.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_numeric.py --write docs/coverage-numeric.md
    python benchmarks/coverage_numeric.py --keep rows.json --minutes 10    # in parts

Prices follow a distribution that is written down, so that the true value is known.
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

from skbiasamp import NumericAuditor

RESAMPLES = 199
TRAINING_ROWS = 5_000  # leave no sign uncertain
PRICES = ("normal", "skewed", "heavy tail")
# Whether the group changes prices, and whether the model changes a group's mean.
MODELS = {
    "unbiased": "predicts the expected price of each row: no group's mean changes",
    "random group": "the same, and the group is random, also in as many training rows",
    "random group, untrained": "the same, and signs come from the audited rows",
    "noisy": "predicts the price with a random error: no group's mean changes",
    "to the mean": "halves the distance of each expected price from the mean of all",
    "amplifies": "predicts 10 % more for the group with the higher prices",
}
NULL = ("unbiased", "random group", "random group, untrained", "noisy")

TEXT = """# Coverage with numeric tasks

How often does a 95 % interval of `NumericAuditor` contain the true value? How often does an audit
find an effect (verdict "amplifies" or "reduces") if the model changes no group's mean? Two groups
have different prices; the second group has 50 % or 10 % of the rows.

Prices: **normal**; **skewed** (log-normal, with a skewness of about 8); **heavy tail** (Pareto with
exponent 3, so that the variance is finite and the skewness is not).

Models: {models}.

## All rows with the same prices

In per cent. A row has {pooled} data sets, {null} of them without an effect. A share of 95 % has a
standard error of {pooled_error:.1f} percentage points.

{summary}

With 500 rows, intervals contain the true value in {covered} % of data sets, and audits find an
effect in {found} % of data sets without one. Intervals of so few rows
are somewhat too short: a small group has 50 rows, and rare, large prices are missing among them.

## Each of them

{n} data sets a row, {resamples} resamples; a share of 95 % has a standard error of {error:.1f}
percentage points, one of 5 % the same. "Pairs" is the coverage of the intervals of both groups.
Bold: more than two standard errors away from 95 %, or above 5 % if there is no effect. Signs come
from {training} training rows, except for random groups.

{table}

A model that is always right has the value 0 in every data set, and "no clear effect".

Made by `python benchmarks/coverage_numeric.py --data-sets {n} --write docs/coverage-numeric.md`.
"""

HEADER = (
    "| prices | n | second group | model | true value | bootstrap | analytic | pairs, bootstrap "
    "| pairs, analytic | found, bootstrap | found, analytic |"
)


class Auditor(NumericAuditor):
    """The auditor without its sentence, which takes longer than the numbers of few rows."""

    def _sentence(self, result):
        return ""


def rows(price, n, share, model, rng):
    """Return group, price and predicted price of n rows, and each group's true change of mean."""
    first = rng.random(n) >= share
    gap = 0.0 if model.startswith("random group") else 0.4
    x, z = rng.normal(size=(2, n))
    if price == "normal":
        expected = 100 + 40 * gap * first + 30 * x
        paid = expected + 40 * z
        means = np.array([100 + 40 * gap, 100])
    else:
        expected = np.exp(gap * first + 0.4 * x)
        noise = np.exp(z - 0.5) if price == "skewed" else 2 * rng.pareto(3, n)  # of mean 1
        paid = expected * noise
        means = np.exp([gap + 0.08, 0.08])
    predicted, change = expected, np.zeros(2)
    if model == "noisy":
        predicted = paid + rng.normal(0, np.exp(0.08) if price != "normal" else 40, n)
    if model == "to the mean":
        mean = (1 - share) * means[0] + share * means[1]
        predicted, change = (expected + mean) / 2, (mean - means) / 2
    if model == "amplifies":
        predicted, change = expected * np.where(first, 1.1, 1.0), np.array([0.1 * means[0], 0.0])
    return np.where(first, "first", "second"), paid, predicted, change


def one(price, n, share, model, fitted, seed):
    """Return the true value, and of both intervals: value and pairs contained, effect found."""
    rng = np.random.default_rng(seed)
    if model == "random group, untrained":
        fitted = Auditor(reference="test")
    elif model == "random group":
        group, paid, *_ = rows(price, n, share, model, rng)
        fitted = Auditor().fit(paid, sensitive_features=group)
    group, paid, predicted, change = rows(price, n, share, model, rng)
    found = []
    for interval in ("bootstrap", "analytic"):
        auditor = fitted.set_params(interval=interval, n_resamples=RESAMPLES, random_state=seed)
        result = auditor.audit(paid, predicted, sensitive_features=group)
        table = result.table
        true = (table["sign"] * change / table["sd"]).to_numpy()
        pairs = (table["low"] <= true) & (true <= table["high"])
        effect = result.verdict in ("amplifies", "reduces")
        found.append([result.low <= true.mean() <= result.high, pairs.mean(), effect])
    return true.mean(), *np.transpose(found).ravel()


def quiet(*how):
    """Run a data set without the warnings that small ones give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return one(*how)


def several(parallel, price, n, share, model, fitted, seeds):
    """Run a data set a seed."""
    return parallel(delayed(quiet)(price, n, share, model, fitted, seed) for seed in seeds)


def marked(share, bad):
    """Return a share in per cent, bold if it is bad."""
    text = f"{100 * share:.1f}"
    return f"**{text}**" if bad else text


def measured(parallel, n_data, sizes, held):
    """Yield the table's rows: what they are, and their numbers. Each has data sets of its own."""
    for price in PRICES:
        for share in (0.5, 0.1):
            rng = np.random.default_rng(0)
            group, paid, *_ = rows(price, TRAINING_ROWS, share, "unbiased", rng)
            fitted = Auditor().fit(paid, sensitive_features=group)
            for n in sizes:
                for model in MODELS:
                    row = price, n, share, model
                    found = held.run(several, row, parallel, *row, fitted, trials=n_data)
                    yield row, np.mean(found, axis=0)


def main():
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--data-sets", type=int, default=300)
    add_arguments(parser)
    options = parser.parse_args()
    held = Trials(options.keep, options.minutes, part=50)
    n_data, sizes = (3, (500,)) if options.short else (options.data_sets, (500, 5_000))
    error = (0.95 * 0.05 / n_data) ** 0.5
    lines, kept = [HEADER, "|---" * HEADER.count(" | ") + "|---|"], []
    with Parallel(n_jobs=options.n_jobs) as parallel:
        for (price, n, share, model), (true, *numbers) in measured(parallel, n_data, sizes, held):
            none = model in NULL
            cells = [marked(c, abs(c - 0.95) > 2 * error) for c in numbers[:4]]
            cells += [marked(c, none and c > 0.05 + 2 * error) for c in numbers[4:]]
            true = f"{0 if none else true:+.4f}"
            first = (price, f"{n:,}", f"{share:.0%}", model, true)
            lines.append("| " + " | ".join([*first, *cells]) + " |")
            kept.append((price, n, none, numbers))
            print(lines[-1], flush=True)
    found = pooled(kept)
    text = TEXT.format(
        models="; ".join(f"**{name}** {text}" for name, text in MODELS.items()),
        n=f"{n_data:,}",
        resamples=RESAMPLES,
        error=100 * error,
        training=f"{TRAINING_ROWS:,}",
        pooled=2 * len(MODELS) * n_data,
        null=2 * len(NULL) * n_data,
        pooled_error=100 * error / (2 * len(MODELS)) ** 0.5,
        summary=summary(found),
        covered=of_few(found, 0),
        found=of_few(found, 1),
        table="\n".join(lines),
    )
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


def pooled(kept):
    """Return coverage and false positives of all rows of the table with the same prices."""
    found = {}
    for price, n in dict.fromkeys((price, n) for price, n, *_ in kept):
        own = [(none, numbers) for *what, none, numbers in kept if what == [price, n]]
        covered = np.mean([numbers[:2] for _, numbers in own], axis=0)
        false = np.mean([numbers[4:] for none, numbers in own if none], axis=0)
        found[price, n] = 100 * covered, 100 * false
    return found


def of_few(found, which):
    """Return the ends of coverage, or of false positives, of 500 prices."""
    shares = [one[which] for (_, n), one in found.items() if n == 500]
    return f"{np.min(shares):.1f} to {np.max(shares):.1f}"


def summary(found):
    """Return the table of all rows with the same prices."""
    lines = [
        "| prices | n | contains it, bootstrap | contains it, analytic "
        "| found without effect, bootstrap | found without effect, analytic |",
        "|---|---|---|---|---|---|",
    ]
    for (price, n), (covered, false) in found.items():
        cells = " | ".join(f"{one:.1f}" for one in (*covered, *false))
        lines.append(f"| {price} | {n:,} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
