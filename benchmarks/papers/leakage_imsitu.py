"""
Dataset leakage on imSitu: predicting gender from verbs
=======================================================

This page repeats Table 1 and Fig. 4 of "Balanced datasets are not enough" (Wang et al. 2019) for
imSitu. An attacker predicts gender from the verb of an image. It is trained on the original
training split, and on three balanced splits: no verb has more than α times as many images of one
gender as of the other.

**Result:** the splits with α = 3 and α = 2 reveal gender as well as the original. Only a split with
as many women as men for every verb reveals nothing. Labels with errors leak less, so a model must
be compared with equally accurate random labels.
"""

# %%
# Dataset leakage
# ---------------
# The attacker is trained on a training split and scored on the original test rows, with equal
# weight for both genders. The attacker is the best table: it predicts one gender for each verb.

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from skbiasamp.datasets import fetch_imsitu_annotations
from skbiasamp.metrics import dataset_leakage

# λ_D, and two more columns of the table: F1 of the paper's models, and λ_D(F1) at that F1.
PAPER = pd.DataFrame(
    {
        "split": ["original, CRF", "original", "α = 3", "α = 2", "α = 1"],
        "alpha": [None, None, 3, 2, 1],
        "leakage": [0.6826, 0.6826, 0.6811, 0.6815, 0.5399],
        "F1": [0.4075, 0.4011, 0.3764, 0.3641, 0.3394],
        "leakage at F1": [0.5658, 0.5646, 0.5598, 0.5574, 0.5320],
    }
)
test = fetch_imsitu_annotations(subset="test")


def leakage(train, labels, test_labels, attacker="exact", **options):
    """Return the share of test rows whose gender is predicted from a label."""
    return dataset_leakage(
        test_labels,
        sensitive_features=test.sensitive,
        y_train=labels,
        sensitive_train=train.sensitive,
        attacker=attacker,
        random_state=0,
        **options,
    )


# %%
# Leakage of labels with errors
# -----------------------------
# A share of the labels is replaced by random other verbs, in the training split and in the test
# rows. The paper reports leakage at the F1 of its models (the mean over verbs).


def perturbed(labels, share, verbs, rng):
    """Return labels of which a share was moved to another verb."""
    codes = np.searchsorted(verbs, labels)
    other = (codes + rng.integers(1, len(verbs), len(codes))) % len(verbs)
    return verbs[np.where(rng.random(len(codes)) < share, other, codes)]


def curve(alpha, shares, n_draws=5):
    """Return F1 and leakage, one row a share of wrong labels: means over draws."""
    rng = np.random.default_rng(0)
    train = fetch_imsitu_annotations(subset="train", alpha=alpha)
    verbs = np.unique(train.target)
    found = []
    for share, _ in product(shares, range(n_draws)):
        labels, test_labels = (perturbed(y, share, verbs, rng) for y in (train.target, test.target))
        f1 = f1_score(test.target, test_labels, average="macro")
        found.append((share, f1, leakage(train, labels, test_labels)))
    return pd.DataFrame(found, columns=["share", "F1", "leakage"]).groupby("share").mean()


SHARES = np.linspace(0, 0.9, 10)
curves = {alpha: curve(alpha, SHARES) for alpha in (None, 3, 2, 1)}


def at(found, f1):
    """Return leakage at an F1, interpolated between the two nearest values."""
    return np.interp(f1, found["F1"].iloc[::-1], found["leakage"].iloc[::-1])


print("                leakage             at the F1 of the paper's model")
print("split           skbiasamp  paper    F1       skbiasamp  original split  paper")
for row in PAPER.itertuples(index=False):
    split, alpha, published, f1, published_at_f1 = row
    found = curves[None if pd.isna(alpha) else alpha]
    print(
        f"{split:14}  {found['leakage'].iloc[0]:.2%}     {published:.2%}   {f1:.2%}   "
        f"{at(found, f1):.2%}     {at(curves[None], f1):.2%}          {published_at_f1:.2%}"
    )

# %%
# On the split with α = 1, every verb has as many women as men, so the table reveals nothing. The
# paper has 54 %. It keeps the epoch that is best on validation rows, in which verbs do correlate
# with gender (``validation=`` of :func:`~skbiasamp.metrics.dataset_leakage`). With this choice, the
# paper's network, set up as in the authors' code, has 53 %, and without it 50 to 51 %: see
# benchmarks/results/replication.md.
#
# With errors in the labels, the original split agrees with the paper: one draw of errors moves the
# value by 0.5 percentage points. For α = 3 and α = 2, the published values are those that the paper
# has for the *original* split (Table 5), interpolated to the F1 of these models. Attackers trained
# on these balanced splits have lower values. For α = 1, the
# published 53.20 % is neither that of the balanced split nor that of the original.
#
# At an F1 of 1, the crosses of the original, α = 3 and α = 2 lie on each other (68.1 to 68.3 %).

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
colors = ("black", "#228833", "#66ccee", "#aa3377")
for (alpha, found), color in zip(curves.items(), colors, strict=True):
    name = "original" if alpha is None else f"α = {alpha}"
    ax.plot(found["F1"], found["leakage"], "o-", markersize=3, color=color, label=name)
for row in PAPER.itertuples(index=False):
    color = dict(zip(curves, colors, strict=True))[None if pd.isna(row.alpha) else row.alpha]
    ax.plot([1, row.F1], [row.leakage, row[4]], "x", color=color, markersize=8)
ax.plot([], [], "x", color="0.4", label="published")
ax.axhline(0.5, color="0.75", linewidth=1, linestyle="dashed")
ax.set(xlabel="F1 of the labels", ylabel="genders predicted correctly, share")
ax.set_title("imSitu: gender predicted from verbs with errors")
ax.legend()
plt.show()
