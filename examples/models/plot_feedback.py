"""
Feedback loops
==============

The predictions of a model become the labels that its successor learns from. Does bias amplification
accumulate over generations?

**What to look at:** a calibrated model that draws its labels from its probabilities stays near
zero (Taori & Hashimoto 2023). A model that predicts the likelier class amplifies at once. Naive
Bayes, which is too sure of itself, amplifies more in each generation.
"""

# %%
# Labels that a logistic model draws
# ----------------------------------
# A logistic regression is then calibrated. Both groups have the same features.

from collections.abc import Callable
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB

from skbiasamp import DirectionalAuditor

rng = np.random.default_rng(0)
group = rng.random(6000) < 0.4
x = rng.normal(size=(6000, 3))
score = 0.8 * x[:, 0] + 0.5 * x[:, 1] + np.where(group, -0.9, 0.3) - 0.3
y = (rng.random(6000) < 1 / (1 + np.exp(-score))).astype(int)
X = np.column_stack([x, group])

# %%
# A loop
# ------
# People label a share of the training rows in each generation. The model labels the others. All
# generations are audited on the same test rows, whose labels people gave.


def labels_of(probabilities: np.ndarray, rng: np.random.Generator, sampled: bool) -> np.ndarray:
    """Draw labels from probabilities of class 1, or take the likelier class."""
    return (probabilities > (rng.random(len(probabilities)) if sampled else 0.5)).astype(int)


def generations(
    model: Any,
    *,
    sampled: bool = False,
    human_share: float = 0.5,
    n_generations: int = 8,
    seed: int = 0,
) -> list[float]:
    """Return the amplification of each generation."""
    rng = np.random.default_rng(seed)
    X_train, X_test, people, y_test, g_train, g_test = train_test_split(
        X, y, group, test_size=0.4, stratify=y, random_state=seed
    )
    auditor = DirectionalAuditor(interval=None).fit(people, sensitive_features=g_train)
    labels, values = people, []
    for _ in range(n_generations):
        shares = model.fit(X_train, labels).predict_proba(X_test)[:, 1]
        predicted = labels_of(shares, rng, sampled)
        values.append(auditor.score(y_test, predicted, sensitive_features=g_test))
        # Label each row by a model that was not trained on it, so that memorised labels do not
        # count.
        shares = cross_val_predict(model, X_train, labels, cv=3, method="predict_proba")[:, 1]
        from_people = rng.random(len(people)) < human_share
        labels = np.where(from_people, people, labels_of(shares, rng, sampled))
    return values


def draw(loops: dict[str, Callable[[int], list[float]]]) -> None:
    """Draw the mean over four runs, and its standard error."""
    _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    ax.axhline(0, color="0.3", linewidth=1)
    for color, (name, loop) in zip(("#228833", "#aa3377", "#66ccee"), loops.items(), strict=True):
        runs = np.array([loop(seed) for seed in range(4)])
        error = runs.std(axis=0, ddof=1) / 2
        at = np.arange(1, runs.shape[1] + 1)
        ax.errorbar(at, runs.mean(axis=0), error, marker="o", capsize=3, color=color, label=name)
        print(f"{name}: {runs[:, 0].mean():+.3f}, then {runs[:, -1].mean():+.3f}")
    ax.set(xlabel="generation", ylabel="amplification", ylim=(-0.03, 0.41))
    ax.legend(fontsize="small")


draw(
    {
        "logistic regression, sampled labels": lambda seed: generations(
            LogisticRegression(), sampled=True, seed=seed
        ),
        "logistic regression, predicted labels": lambda seed: generations(
            LogisticRegression(), seed=seed
        ),
        "naive Bayes, predicted labels": lambda seed: generations(GaussianNB(), seed=seed),
    }
)
plt.show()

# %%
# How much do people help?
# ------------------------
# The more labels people give, the less accumulates.


def with_people(share: float, seed: int) -> list[float]:
    """Return the amplification of each generation, if people label this share of the rows."""
    return generations(GaussianNB(), human_share=share, seed=seed)


draw(
    {
        f"{100 * share:.0f} % of the labels from people": partial(with_people, share)
        for share in (0.2, 0.5, 0.8)
    }
)
plt.show()
