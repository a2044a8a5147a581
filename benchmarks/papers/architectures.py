"""Architectures and class ratios, five seeds each: Fig. 4 of Wang and Russakovsky, on digits.

It makes the runs that are not in the files yet; with --short one run, which is not kept.
The paper trains three networks on CelebA. Here three classifiers of scikit-learn tell even from odd
digits in red or green. The ratio says how many even digits are red for each green one, and how many
odd ones are green for each red one, in training and test rows. The replication page has the means
over seeds.
"""

from itertools import product

import numpy as np
import pandas as pd
from published._rows import FOLDER, Runs, filled, markdown, number
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_colored_digits
from skbiasamp.metrics import directional_amplification

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
RUNS = Runs("architectures", ("model", "ratio", "seed"), tuple(MEASURES))
FIXED = FOLDER / "architectures_fixed.csv"


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
    given = {"sensitive_features": group_test, "y_train": y, "sensitive_train": group}
    return {
        "accuracy": np.mean(predicted == y_test),
        "fpr_difference": rates[0] - rates[1],
        "amplification": directional_amplification(y_test, predicted, **given),
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
        auditor.audit_runs(y_test, own, sensitive_features=group_test) for own in runs.values()
    ]
    values = {name: [getattr(mean, name) for mean in means] for name in ("value", "low", "high")}
    spread = np.array([mean.statistics["between_run_sd"] for mean in means])
    return rows.assign(ratio=ratio, **values, by_training=half() * spread)


def half():
    """Return half of the 95 % interval of a mean over seeds, in standard deviations."""
    return student.ppf(0.975, len(SEEDS) - 1) / len(SEEDS) ** 0.5


def paired():
    """Return how much more than logistic regression each model amplifies, by ratio."""
    runs = pd.read_csv(RUNS.file).set_index(["ratio", "seed", "model"])["amplification"].unstack()
    first, *others = MODELS
    differences = runs[others].sub(runs[first], axis=0).groupby("ratio")
    return differences.mean(), half() * differences.std()


def section():
    """Return the tables of means and 95 % intervals over seeds, and of one data set."""
    frame, fixed_data = pd.read_csv(RUNS.file), pd.read_csv(FIXED)
    first, *others = MODELS

    def around(mean, half, sign="+"):
        return f"{number(mean, sign)} ± {number(half, '')}"

    def between(low, high):
        return f"{number(low)} to {number(high)}"

    over_seeds = []
    for (model, ratio), runs in frame.groupby(["model", "ratio"], sort=False):
        cells = [
            around(runs[name].mean(), half() * runs[name].std(), "" if name == "accuracy" else "+")
            for name in MEASURES
        ]
        over_seeds.append([model, f"{ratio} : 1", *cells])
    means, halves = paired()
    by_seed = [
        [f"{ratio} : 1", *map(around, means.loc[ratio], halves.loc[ratio])] for ratio in RATIOS
    ]
    one_data_set = []
    for row in fixed_data.itertuples():
        ends = between(row.difference_low, row.difference_high)
        difference = "–" if row.model == first else f"{number(row.difference)} ({ends})"
        cells = around(row.value, row.by_training), between(row.low, row.high)
        one_data_set.append([row.model, f"{row.ratio} : 1", *cells, difference])
    intervals = ["BiasAmp A→T, by training", "by training and test rows", "difference"]
    header = ["model", "ratio"]
    return filled(
        __file__,
        n_seeds=len(SEEDS),
        over_seeds=markdown([*header, *MEASURES.values()], over_seeds, n_numbers=4),
        by_seed=markdown(["ratio", *others], by_seed, n_numbers=2),
        one_data_set=markdown([*header, *intervals], one_data_set, n_numbers=4),
    )


if __name__ == "__main__":
    short = "logistic regression", 1, 0
    jobs = product(MODELS, RATIOS, SEEDS)
    RUNS.command(__doc__, jobs, lambda *job: run(*job).values(), lambda: run(*short))
    if not FIXED.exists():
        rows = pd.concat(map(fixed, RATIOS))
        order = rows["model"].map(list(MODELS).index).argsort(kind="stable")
        rows.iloc[order].round(6).to_csv(FIXED, index=False, lineterminator="\n")
