"""Architectures and class ratios, five seeds each: Fig. 4 of Wang and Russakovsky, on digits.

    python benchmarks/papers/architectures.py          # writes published/architectures*.csv
    python benchmarks/papers/architectures.py --short  # one run of each, to try it out

The paper trains three networks on CelebA. Here three classifiers of scikit-learn tell even from odd
digits in red or green. The ratio says how many even digits are red for each green one, and how many
odd ones are green for each red one, in training and test rows. The replication page has the means
over seeds.
"""

import numpy as np
import pandas as pd
from published._rows import FOLDER, filled, is_short, markdown, number
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_colored_digits
from skbiasamp.metrics import directional_amplification

FILE, FIXED = FOLDER / "architectures.csv", FOLDER / "architectures_fixed.csv"
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
    runs = pd.read_csv(FILE).set_index(["ratio", "seed", "model"])["amplification"].unstack()
    first, *others = MODELS
    differences = runs[others].sub(runs[first], axis=0).groupby("ratio")
    return differences.mean(), half() * differences.std()


def section():
    """Return the tables of means and 95 % intervals over seeds, and of one data set."""
    frame, fixed_data = pd.read_csv(FILE), pd.read_csv(FIXED)
    first, *others = MODELS
    over_seeds = [
        [
            model,
            f"{ratio} : 1",
            *(
                f"{number(runs[name].mean(), '' if name == 'accuracy' else '+')} "
                f"± {number(half() * runs[name].std(), '')}"
                for name in MEASURES
            ),
        ]
        for (model, ratio), runs in frame.groupby(["model", "ratio"], sort=False)
    ]
    means, halves = paired()
    by_seed = [
        [f"{ratio} : 1"]
        + [f"{number(means.loc[ratio, m])} ± {number(halves.loc[ratio, m], '')}" for m in means]
        for ratio in RATIOS
    ]
    one_data_set = [
        [
            row.model,
            f"{row.ratio} : 1",
            f"{number(row.value)} ± {number(row.by_training, '')}",
            f"{number(row.low)} to {number(row.high)}",
            "–"
            if row.model == first
            else f"{number(row.difference)} "
            f"({number(row.difference_low)} to {number(row.difference_high)})",
        ]
        for row in fixed_data.itertuples()
    ]
    intervals = ["BiasAmp A→T, by training", "by training and test rows", "difference"]
    header = ["model", "ratio"]
    return filled(
        __file__,
        n_seeds=len(SEEDS),
        over_seeds=markdown([*header, *MEASURES.values()], over_seeds, n_numbers=4),
        by_seed=markdown(["ratio", *others], by_seed, n_numbers=2),
        one_data_set=markdown([*header, *intervals], one_data_set, n_numbers=4),
    )


def order(models):
    return models.map(list(MODELS).index)


def main(short):
    runs = [
        {"model": model, "ratio": ratio, "seed": seed, **run(model, ratio, seed)}
        for model in MODELS
        for ratio in RATIOS
        for seed in SEEDS[: 1 if short else None]
    ]
    frame = pd.DataFrame(runs).round(6)
    print(frame.groupby(["model", "ratio"], sort=False).mean().drop(columns="seed").round(3))
    if not short:
        frame.to_csv(FILE, index=False, lineterminator="\n")
        one_data_set = pd.concat(map(fixed, RATIOS)).sort_values("model", key=order, kind="stable")
        one_data_set.round(6).to_csv(FIXED, index=False, lineterminator="\n")


if __name__ == "__main__":
    main(is_short(__doc__))
