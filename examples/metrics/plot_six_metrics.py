"""
Bias amplification compared with error-rate differences
=======================================================

This page repeats Fig. 2 of "Directional bias amplification" (Wang & Russakovsky 2021). 30 of 40
women paint, and 10 of 40 men. The model predicts every man correctly. It predicts "paints" for 0,
1, … or all 40 women. 30 is correct. With fewer than 30 the model weakens the association in its
labels, and with more it strengthens it.

**Result:** error-rate differences react to one of these errors only, or to both in the same way.
The two measures of amplification (last column) change sign. BiasAmp A→T is group → task: does the
group shift the predicted task? Here they agree. Where groups have other sizes they do not, and for
one model below MALS is −0.60 and BiasAmp A→T +0.33.
"""

# %%
# One model for each number of women
# ----------------------------------
# Women who paint come first, so the model that predicts "paints" for 30 women makes no error.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor
from skbiasamp.metrics import directional_amplification, mals_amplification

woman = np.repeat([True, False], 40)
paints = np.repeat([1, 0, 1, 0], [30, 10, 10, 30])


def predictions(n_women: int) -> np.ndarray:
    """Return the predictions of a model that predicts "paints" for so many women."""
    return np.concatenate([np.arange(40) < n_women, paints[~woman]]).astype(int)


# %%
# Six metrics
# -----------
# Four metrics use the false and true positive rates of each group. MALS and BiasAmp→ get a column
# for each class, as in the authors' code.


def rates(predicted: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return false positive rate, true positive rate and accuracy of a group."""
    true, pred = paints[group], predicted[group]
    return np.array([pred[true == 0].mean(), pred[true == 1].mean(), (pred == true).mean()])


def metrics(predicted: np.ndarray) -> dict[str, float]:
    """Return the six numbers."""
    women, men = rates(predicted, woman), rates(predicted, ~woman)
    fpr, tpr, accuracy = np.abs(women - men)
    labels = {"y_true": np.eye(2)[paints], "y_pred": np.eye(2)[predicted]}
    numbers = {
        "FPR difference": fpr,
        "accuracy difference": accuracy,
        "MALS": mals_amplification(**labels, sensitive_features=woman),
        "TPR difference": tpr,
        "accuracy per class": np.mean(
            [(1 - group_rates[0] + group_rates[1]) / 2 for group_rates in (women, men)]
        ),
        "directional, group → task": directional_amplification(**labels, sensitive_features=woman),
    }
    return {name: float(value) for name, value in numbers.items()}


table = pd.DataFrame({n / 40: metrics(predictions(n)) for n in range(41)}).T
table.index.name = "women painting"
print(table.iloc[[0, 15, 30, 40]].T.rename_axis(None).to_string(float_format="{:+.4f}".format))

# %%
# The columns are 0, 0.375, 0.75 (correct) and 1. Only the two measures of amplification have
# different signs at 0 and at 1. Directional amplification is a straight line, because each woman
# counts equally. MALS is a share of the predicted painters, so it is steeper if they are few.

figure, axes = plt.subplots(3, 2, figsize=(4.4, 6.4), sharex=True, layout="constrained")
for ax, (name, values) in zip(axes.flat, table.items(), strict=True):
    amplifies = name in ("MALS", "directional, group → task")
    ax.axhline(0, color="0.75", linewidth=1)
    ax.axvline(0.75, color="0.75", linewidth=1, linestyle="dashed")
    ax.plot(values.index, values, color="black", linewidth=2 if amplifies else 1)
    ax.set(ylim=(-0.6, 0.2) if amplifies else (-0.05, 1.05))
    ax.set_title(str(name).replace(", ", ",\n"), fontsize=10)
figure.supxlabel("share of women predicted as painters", fontsize=10)
figure.suptitle(
    "Left of the dashed line, an error weakens\nthe correlation; right of it, it strengthens it",
    fontsize=11,
)
plt.show()

# %%
# Two shortcomings of MALS
# ------------------------
# The paper (Sec. 3.2) has two examples in which MALS and BiasAmp A→T disagree. In the first, three
# groups have 50, 50 and 30 rows. The model is right for A1, predicts 0 for all of A2, and 1 for all
# of A3. MALS counts A1 alone, which has more than a third of the rows with label 1: it is 0.
#
# In the second, A1 has 90 rows and A2 has 30. One in three rows of A1 has label 1, and two in three
# of A2. The model predicts 0 for all of A1, and 1 for all of A2: nothing amplifies more. But of the
# rows with label 1, more are in A1, since A1 is larger. MALS takes this for an association of A1
# with label 1, which the model reverses.

columns = ["group", "task", "task_pred", "n"]
examples = {
    "three groups": [
        ("A1", 0, 0, 10), ("A1", 1, 1, 40), ("A2", 0, 0, 40),
        ("A2", 1, 0, 10), ("A3", 0, 1, 10), ("A3", 1, 1, 20),
    ],
    "unequal groups": [("A1", 0, 0, 60), ("A1", 1, 0, 30), ("A2", 0, 1, 10), ("A2", 1, 1, 20)],
}  # fmt: skip
shortcomings = {}
for name, rows in examples.items():
    counts = Contingency.from_counts(pd.DataFrame(rows, columns=columns))
    auditors = MALSAuditor(reference="test"), DirectionalAuditor(reference="test")
    shortcomings[name] = [auditor.audit(counts).published for auditor in auditors]
print(pd.DataFrame(shortcomings, ["MALS", "BiasAmp A→T"]).T.round(4))

# %%
# The report of the second model says why MALS must not be trusted here:

report = skbiasamp.audit(counts, random_state=0)
(finding,) = (finding for finding in report.findings if finding.code == "SBA306")
print(finding)
