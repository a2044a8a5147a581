"""
Dataset leakage on COCO: predicting gender from objects
=======================================================

This page repeats Fig. 4 of "Balanced datasets are not enough" (Wang et al. 2019) for COCO. An
attacker predicts the gender of a person from the objects in the image, first from the true labels,
then from labels with more and more errors. The paper's training rows are not available, so the
attacker learns from its validation rows.

**Result:** the objects alone reveal the gender of 68 % of people, as published (67.72 %). How much
labels with errors reveal depends on the kind of errors and on the attacker.
"""

# %%
# Two kinds of errors
# -------------------
# At the same F1 (the mean over objects), labels can be wrong in different ways. "Any label" flips
# each label with the same probability, so rare objects appear in many images where they are not.
# "As often" removes objects and adds as many elsewhere, so each object is as frequent as before.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from skbiasamp.datasets import fetch_coco_labels
from skbiasamp.metrics import dataset_leakage

# F1 and λ_D(F1) of the paper's models that were trained on the original split (Tables 3 and 4).
PAPER = pd.DataFrame(
    {
        "F1": [1, 0.5375, 0.5253, 0.5181, 0.5026, 0.4872, 0.4181],
        "leakage": [0.6772, 0.6053, 0.6035, 0.6024, 0.5999, 0.5976, 0.5871],
    }
)
SHARES = {
    "any label": (0, 0.01, 0.03, 0.05),
    "as often": (0, 0.2, 0.3, 0.4, 0.5),
}


def perturbed(labels, kind, share, rng):
    """Return labels of which a share of all, or of the objects present, is wrong."""
    labels = labels.to_numpy()
    if kind == "any label":
        wrong = share
    else:
        frequency = labels.mean(axis=0)
        wrong = np.where(labels == 1, share, share * frequency / (1 - frequency))
    return np.where(rng.random(labels.shape) < wrong, 1 - labels, labels)


def curve(val, test, kind, n_draws=2):
    """Return F1 and leakage, one row a share of wrong labels: means over draws."""
    rng = np.random.default_rng(0)
    found = []
    for share in np.repeat(SHARES[kind], n_draws):
        learned, judged = (perturbed(one.target, kind, share, rng) for one in (val, test))
        leakage = dataset_leakage(
            judged,
            sensitive_features=test.sensitive_features,
            y_train=learned,
            sensitive_train=val.sensitive_features,
            attacker=LogisticRegression(max_iter=500),
            random_state=0,
        )
        f1 = f1_score(test.target, judged, average="macro", zero_division=0)
        found.append((share, f1, leakage))
    return pd.DataFrame(found, columns=["share", "F1", "leakage"]).groupby("share").mean()


def at(found, f1):
    """Return leakage at an F1, interpolated between the two nearest values."""
    return np.interp(f1, found["F1"].iloc[::-1], found["leakage"].iloc[::-1])


val, test = fetch_coco_labels(subset="val"), fetch_coco_labels(subset="test")
curves = {kind: curve(val, test, kind) for kind in SHARES}
print("F1       published  any label  as often")
for f1, published in PAPER.itertuples(index=False):
    ours = "     ".join(f"{at(found, f1):.2%}" for found in curves.values())
    print(f"{f1:7.2%}  {published:.2%}     {ours}")

# %%
# The curve
# ---------
# The paper says that labels "were randomly flipped". The authors' code flips each label with the
# same probability ("any label"). Logistic regression then reveals more than published. The paper's
# network, trained here, is within 0.3 percentage points (benchmarks/results/replication.md). So
# compare a model with labels by the same kind of errors and the same attacker.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for (kind, found), color in zip(curves.items(), ("#aa3377", "#228833"), strict=True):
    ax.plot(found["F1"], found["leakage"], "o-", markersize=3, color=color, label=f"errors: {kind}")
ax.plot(PAPER["F1"], PAPER["leakage"], "x", color="black", markersize=8, label="published")
ax.axhline(0.5, color="0.75", linewidth=1, linestyle="dashed")
ax.set(xlabel="F1 of the labels", ylabel="genders predicted correctly, share")
ax.set_title("COCO: gender predicted from objects with errors")
ax.legend()
plt.show()
