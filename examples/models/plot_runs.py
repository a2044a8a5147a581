"""
Several trainings: amplification beside other metrics
=====================================================

A neural network that is trained again, with another seed, has about the same accuracy. Its
amplification and its error rates may be others: Wang and Russakovsky (2021) show this in Figure 4,
for three architectures on photographs, and ask for confidence intervals. Here classifiers tell even
from odd digits. Most even digits are red, and most odd ones are green.

**Result:** the three models have nearly the same average precision, 0.85 to 0.86. The forest
amplifies more than twice as much as the linear model, and the network three quarters as much. Both
intervals of these differences exclude 0. That of the difference in false positive rates includes 0
for the network.
"""

# %%
# Five trainings of each model
# ----------------------------
# All models predict the same rows. A training varies by its seed alone.

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_colored_digits
from skbiasamp.metrics import FunctionAuditor

digits = load_colored_digits(correlation=0.8, random_state=0)
X = digits.data + 0.5 * np.random.default_rng(0).normal(size=digits.data.shape)
even, color = (digits.target % 2 == 0).astype(int), digits.sensitive.to_numpy()
X, X_test, y, y_test, color, color_test = train_test_split(
    X, even, color, train_size=0.5, random_state=0
)

models: dict[str, Any] = {
    "linear model": lambda seed: SGDClassifier("log_loss", alpha=0.01, random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "network": lambda seed: MLPClassifier((64,), tol=1e-3, max_iter=500, random_state=seed),
}
scores = {
    name: [model(seed).fit(X, y).predict_proba(X_test)[:, 1] for seed in range(5)]
    for name, model in models.items()
}
predictions = {name: [(score > 0.5).astype(int) for score in of] for name, of in scores.items()}

# %%
# Amplification and a difference of error rates
# ---------------------------------------------
# ``skbiasamp.compare`` takes a list of predictions for each model. Any number that a function of
# labels, predictions and groups returns is compared by ``FunctionAuditor``, with the same interval:
# it includes how other trainings, and other rows, would differ.


def fpr_difference(y_true: Any, y_pred: Any, group: Any) -> float:
    rates = [float(y_pred[(y_true == 0) & (group == name)].mean()) for name in ("red", "green")]
    return rates[0] - rates[1]


report = skbiasamp.compare(
    y_test,
    predictions,
    sensitive_features=color_test,
    y_train=y,
    sensitive_train=color,
    auditor=[DirectionalAuditor("A->T"), FunctionAuditor(fpr_difference, percent=True)],
)
for name, result in report.results.items():
    columns = ["model", "value", "difference", "difference_low", "difference_high"]
    print(name, result.table[columns].round(3), sep="\n", end="\n\n")

# %%
# A metric of scikit-learn
# ------------------------
# Average precision is a metric of scores. The papers' interval is ``method="runs"``, Student's t
# over trainings alone. It does not say how other rows would differ, and is shorter here.

measures = {
    "BiasAmp A→T": (DirectionalAuditor("A->T").fit(y, sensitive_features=color), predictions),
    "difference of false positive rates": (
        FunctionAuditor(fpr_difference, percent=True),
        predictions,
    ),
    "average precision": (
        FunctionAuditor(
            lambda y_true, y_pred, group: average_precision_score(y_true, y_pred), percent=False
        ),
        scores,
    ),
}
rows = []
for measure, (auditor, of) in measures.items():
    for name in models:
        for method in ("t", "runs"):
            mean = auditor.audit_runs(
                y_test, of[name], sensitive_features=color_test, method=method
            )
            rows.append((measure, name, method, mean.value, mean.low, mean.high))
table = pd.DataFrame(rows, columns=["measure", "model", "method", "value", "low", "high"])
print(table.round(3).to_string(index=False))

# %%
# Three pictures
# --------------
# Thick: the interval over trainings. Thin: that over trainings and rows.

figure, axes = plt.subplots(3, 1, figsize=(4.4, 5.6), layout="constrained", sharey=True)
for ax, measure in zip(axes, measures, strict=True):
    for method, width in (("t", 1.5), ("runs", 5)):
        own = table[(table["measure"] == measure) & (table["method"] == method)]
        ax.hlines(own["model"], own["low"], own["high"], color="0.5", linewidth=width)
    ax.plot(own["value"], own["model"], "o", color="black", markersize=4)
    if measure != "average precision":
        ax.axvline(0, color="0.6", linewidth=1)
    ax.set_title(measure)
    ax.margins(y=0.2)
axes[0].invert_yaxis()
plt.show()
