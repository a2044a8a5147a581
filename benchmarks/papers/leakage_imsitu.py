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

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

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


def leakage(train, **options):
    """Return the share of test rows whose gender is predicted from a label."""
    return dataset_leakage(
        test.target,
        sensitive_features=test.sensitive,
        y_train=train.target,
        sensitive_train=train.sensitive,
        **{"attacker": "exact", "equalize": "f1", "random_state": 0} | options,
    )


# %%
# Leakage of labels with errors
# -----------------------------
# A share of the labels is replaced by random other verbs, in the training split and in the test
# rows. The paper reports leakage at the F1 of its models (the mean over verbs): ``at``.

F1 = np.linspace(0.1, 1, 10)
splits = {alpha: fetch_imsitu_annotations(subset="train", alpha=alpha) for alpha in (None, 3, 2, 1)}
curves = {alpha: leakage(train, at=F1) for alpha, train in splits.items()}

print("                leakage             at the F1 of the paper's model")
print("split           skbiasamp  paper    F1       skbiasamp  original split  paper")
for row in PAPER.itertuples(index=False):
    split, alpha, published, f1, published_at_f1 = row
    train = splits[None if pd.isna(alpha) else alpha]
    ours, original = (leakage(one, at=f1, n_draws=50) for one in (train, splits[None]))
    print(
        f"{split:14}  {leakage(train):.2%}     {published:.2%}   {f1:.2%}   "
        f"{ours:.2%}     {original:.2%}          {published_at_f1:.2%}"
    )

# %%
# On the split with α = 1, every verb has as many women as men, so the table reveals nothing. The
# paper has 54 %. It keeps the epoch that is best on validation rows, in which verbs do correlate
# with gender (``validation=`` of :func:`~skbiasamp.metrics.dataset_leakage`). With this choice, the
# paper's network, set up as in the authors' code, has 53 %, and without it 50 to 51 %: see
# benchmarks/results/replication.md.
#
# With errors in the labels, the original split agrees with the paper: one draw of errors moves the
# value by 0.6 percentage points. For α = 3 and α = 2, the published values are those that the paper
# has for the *original* split (Table 5), interpolated to the F1 of these models. Attackers trained
# on these balanced splits have lower values. For α = 1, the
# published 53.20 % is neither that of the balanced split nor that of the original.
#
# At an F1 of 1, the crosses of the original, α = 3 and α = 2 lie on each other (68.1 to 68.3 %).

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
colors = ("black", "#228833", "#66ccee", "#aa3377")
for (alpha, found), color in zip(curves.items(), colors, strict=True):
    name = "original" if alpha is None else f"α = {alpha}"
    ax.plot(F1, found, "o-", markersize=3, color=color, label=name)
for row in PAPER.itertuples(index=False):
    color = dict(zip(curves, colors, strict=True))[None if pd.isna(row.alpha) else row.alpha]
    ax.plot([1, row.F1], [row.leakage, row[4]], "x", color=color, markersize=8)
ax.plot([], [], "x", color="0.4", label="published")
ax.axhline(0.5, color="0.75", linewidth=1, linestyle="dashed")
ax.set(xlabel="F1 of the labels", ylabel="genders predicted correctly, share")
ax.set_title("imSitu: gender predicted from verbs with errors")
ax.legend()
plt.show()
