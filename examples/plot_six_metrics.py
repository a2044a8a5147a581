"""
Six metrics, one kind of error
==============================

Fig. 2 of "Directional bias amplification" (Wang & Russakovsky 2021). Of 40 women 30 paint, of 40
men 10. A model is right about every man; of the women it calls 0, 1, … or all 40 painters. 30
would be right: below, the model weakens the correlation in its labels, above it strengthens it.

**What to look at:** which curves distinguish the two sides. Differences of error rates see one side
only, or both alike. The two measures of amplification, in the last column, change sign.
"""

# %%
# One model for every number of women
# -----------------------------------
# Women who paint are called first, so that a model that calls 30 of them is always right.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp.metrics import directional_amplification, mals_amplification

woman = np.repeat([True, False], 40)
paints = np.repeat([1, 0, 1, 0], [30, 10, 10, 30])


def predictions(n_women):
    """Return what a model says that calls so many women painters."""
    return np.concatenate([np.arange(40) < n_women, paints[~woman]]).astype(int)


# %%
# Six metrics
# -----------
# Four are made of a group's false and true positive rates. MALS and BiasAmp→ get a column for each
# class, as in the authors' code; MALS, which looks at predicted attributes, gets the true ones.


def rates(predicted, group):
    """Return false positive rate, true positive rate and accuracy of a group."""
    true, said = paints[group], predicted[group]
    return np.array([said[true == 0].mean(), said[true == 1].mean(), (said == true).mean()])


def metrics(predicted):
    """Return the six numbers."""
    women, men = rates(predicted, woman), rates(predicted, ~woman)
    fpr, tpr, accuracy = np.abs(women - men)
    labels = {"y_true": np.eye(2)[paints], "y_pred": np.eye(2)[predicted]}
    return {
        "FPR difference": fpr,
        "accuracy difference": accuracy,
        "BiasAmp MALS": mals_amplification(**labels, sensitive_features=woman),
        "TPR difference": tpr,
        "accuracy per class": np.mean([(1 - one[0] + one[1]) / 2 for one in (women, men)]),
        "BiasAmp A→T": directional_amplification(**labels, sensitive_features=woman),
    }


table = pd.DataFrame({n / 40: metrics(predictions(n)) for n in range(41)}).T
table.index.name = "women painting"
print(table.iloc[[0, 15, 30, 40]].T.rename_axis(None).to_string(float_format="{:+.4f}".format))

# %%
# At 0, 0.375, 0.75 (right) and 1. Only the last column's metrics have another sign at 1 than at 0.
# BiasAmp A→T is a straight line: each woman counts the same. MALS, a share of those who are called
# painters, bends, and is steeper where few are.

figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), sharex=True, layout="constrained")
for ax, (name, values) in zip(axes.flat, table.items(), strict=True):
    amplifies = name.startswith("BiasAmp")
    ax.axhline(0, color="0.75", linewidth=1)
    ax.axvline(0.75, color="0.75", linewidth=1, linestyle="dashed")
    ax.plot(values.index, values, color="#D55E00" if amplifies else "#0072B2")
    ax.set_title(name)
for ax in axes[1]:
    ax.set_xlabel("share of women called painters")
figure.suptitle("An error that weakens a correlation (left of 0.75) or strengthens it (right)")
plt.show()
