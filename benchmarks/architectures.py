"""Architectures and class ratios, five seeds each: Fig. 4 of Wang and Russakovsky, on digits.

    python benchmarks/architectures.py          # writes benchmarks/published/architectures*.csv
    python benchmarks/architectures.py --short  # one run of each, to try it out

The paper trains three networks on CelebA. Here three classifiers of scikit-learn tell even from odd
digits in red or green. The ratio says how many even digits are red for each green one, and how many
odd ones are green for each red one, in training and test rows. The replication page has the means
over seeds.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_colored_digits
from skbiasamp.metrics import directional_amplification

FILE = Path(__file__).parent / "published" / "architectures.csv"
FIXED = FILE.with_name("architectures_fixed.csv")
MODELS = {
    "logistic regression": lambda seed: LogisticRegression(max_iter=1000),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "one hidden layer of 64": lambda seed: MLPClassifier(
        (64,), max_iter=40, n_iter_no_change=40, tol=0, random_state=seed
    ),
}
RATIOS = (1, 2, 4, 9)
SEEDS = range(5)
MEASURES = {
    "accuracy": "accuracy",
    "fpr_difference": "difference of FPR",
    "amplification": "BiasAmp A→T",
}


def drawn(ratio, seed):
    """Return training and test rows of images, labels and colours, with noise of their own."""
    digits = load_colored_digits(correlation=ratio / (1 + ratio), random_state=seed)
    noise = 0.5 * np.random.default_rng(seed).normal(size=digits.data.shape)
    even, color = (digits.target % 2 == 0).astype(int), digits.sensitive.to_numpy()
    return train_test_split(digits.data + noise, even, color, train_size=0.5, random_state=seed)


def run(model, ratio, seed):
    """Return the measures of one model; a seed has its own data and its own training."""
    X, X_test, y, y_test, group, group_test = drawn(ratio, seed)
    predicted = MODELS[model](seed).fit(X, y).predict(X_test)
    rates = [predicted[(y_test == 0) & (group_test == color)].mean() for color in ("red", "green")]
    return {
        "accuracy": np.mean(predicted == y_test),
        "fpr_difference": rates[0] - rates[1],
        "amplification": directional_amplification(
            y_test,
            predicted,
            sensitive_features=group_test,
            y_train=y,
            sensitive_train=group,
        ),
    }


def fixed(ratio):
    """Return a row for each model, whose runs share one data set and differ in their seed."""
    X, X_test, y, y_test, group, group_test = drawn(ratio, 0)
    runs = {
        name: [model(seed).fit(X, y).predict(X_test) for seed in SEEDS]
        for name, model in MODELS.items()
    }
    auditor = DirectionalAuditor().fit(y, sensitive_features=group)
    compared = auditor.compare(y_test, runs, sensitive_features=group_test)
    rows = compared.table[["model", "difference", "difference_low", "difference_high"]]
    means = [
        auditor.audit_runs(y_test, runs[name], sensitive_features=group_test) for name in MODELS
    ]
    by_training = half() * np.array([mean.statistics["between_run_sd"] for mean in means])
    return rows.assign(
        ratio=ratio,
        value=[mean.value for mean in means],
        low=[mean.low for mean in means],
        high=[mean.high for mean in means],
        by_training=by_training,
    )


def half():
    """Return half of the 95 % interval of a mean over seeds, in standard deviations."""
    return student.ppf(0.975, len(SEEDS) - 1) / len(SEEDS) ** 0.5


def number(value, sign="+"):
    return f"{value:{sign}.3f}".replace("-", "−")


def paired():
    """Return how much more than logistic regression each model amplifies, by ratio."""
    runs = pd.read_csv(FILE).set_index(["ratio", "seed", "model"])["amplification"].unstack()
    first, *others = MODELS
    differences = runs[others].sub(runs[first], axis=0).groupby("ratio")
    return differences.mean(), half() * differences.std()


def section():
    """Return the tables of means and 95 % intervals over seeds, and of one data set."""
    frame = pd.read_csv(FILE)
    n = frame["seed"].nunique()
    lines = [
        "## Architectures and class ratios (Wang & Russakovsky 2021, Fig. 4)",
        "",
        "The paper asks whether architectures, or class ratios, differ by more than training runs",
        f"do. Here with digits in place of CelebA: means of {n} seeds ± half of the 95 % interval.",
        "Each seed has new data, so intervals count data and training together.",
        "On these digits both differ: at 2 : 1 and 4 : 1, the random forest amplifies more than",
        "the other models, by more than the intervals. `python benchmarks/architectures.py` makes",
        "the numbers.",
        "",
        "| model | ratio | " + " | ".join(MEASURES.values()) + " |",
        "|---|--:|--:|--:|--:|",
    ]
    for (model, ratio), runs in frame.groupby(["model", "ratio"], sort=False):
        cells = [
            f"{number(runs[name].mean(), '' if name == 'accuracy' else '+')} "
            f"± {number(half() * runs[name].std(), '')}"
            for name in MEASURES
        ]
        lines.append(f"| {model} | {ratio} : 1 | {' | '.join(cells)} |")
    lines += [
        "",
        "The models of a seed share its data, so their difference varies less than each of them.",
        "Differences of BiasAmp A→T from logistic regression, paired by seed:",
        "",
        "| ratio | " + " | ".join(list(MODELS)[1:]) + " |",
        "|---|--:|--:|",
    ]
    means, halves = paired()
    for ratio in RATIOS:
        cells = [
            f"{number(means.loc[ratio, model])} ± {number(halves.loc[ratio, model], '')}"
            for model in means
        ]
        lines.append(f"| {ratio} : 1 | {' | '.join(cells)} |")
    lines += [
        "",
        "With one data set (that of seed 0), runs differ in their training only. The first",
        "interval is about other trainings on these rows, the second about other trainings and",
        "other test rows (`audit_runs`). The third is that of the difference from logistic",
        "regression (`compare` of lists of runs), which has no random numbers in its training.",
        "",
        "| model | ratio | BiasAmp A→T, by training | by training and test rows | difference |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in pd.read_csv(FIXED).itertuples():
        difference = "–"
        if row.model != next(iter(MODELS)):
            ends = f"{number(row.difference_low)} to {number(row.difference_high)}"
            difference = f"{number(row.difference)} ({ends})"
        lines.append(
            f"| {row.model} | {row.ratio} : 1 | {number(row.value)} ± {number(row.by_training, '')}"
            f" | {number(row.low)} to {number(row.high)} | {difference} |"
        )
    return "\n".join(lines) + "\n"


def order(models):
    return models.map(list(MODELS).index)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one seed, nothing is written")
    options = parser.parse_args()
    runs = [
        {"model": model, "ratio": ratio, "seed": seed, **run(model, ratio, seed)}
        for model in MODELS
        for ratio in RATIOS
        for seed in SEEDS[: 1 if options.short else None]
    ]
    frame = pd.DataFrame(runs).round(6)
    print(frame.groupby(["model", "ratio"], sort=False).mean().drop(columns="seed").round(3))
    if not options.short:
        frame.to_csv(FILE, index=False, lineterminator="\n")
        one_data_set = pd.concat(map(fixed, RATIOS)).sort_values("model", key=order, kind="stable")
        one_data_set.round(6).to_csv(FIXED, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
