"""
Three shortcomings of MALS
==========================

Sec. 3.2 of "Directional bias amplification" (Wang & Russakovsky 2021) gives three reasons not to
use MALS (2017) any more. This page computes three metrics for each of its examples: MALS and
directional amplification, group → task (A→T: does the group shift the predicted task?) and task →
group (T→A: does the task shift the predicted group?).

**Result:** in every scenario, the model amplifies an association of its labels. MALS gives 0, two
different values for the same error, a negative value, and the same value for two different errors.
A→T and T→A measure the size and the direction.
"""

# %%
# Counts
# ------
# Each row is (group, label, predicted group, predicted label, number of rows). The task is label 1.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor

SCENARIOS = {
    # Only A1 is above one third of the 1s, and its predictions are right.
    "1: three groups": [
        ("A1", 0, "A1", 0, 10),
        ("A1", 1, "A1", 1, 40),
        ("A2", 0, "A2", 0, 40),
        ("A2", 1, "A2", 0, 10),
        ("A3", 0, "A3", 1, 10),
        ("A3", 1, "A3", 1, 20),
    ],
    "1: A2 gets 0": [
        ("A1", 0, "A1", 0, 10),
        ("A1", 1, "A1", 1, 40),
        ("A2", 0, "A2", 0, 40),
        ("A2", 1, "A2", 0, 10),
    ],
    "1: A1 gets 1": [
        ("A1", 0, "A1", 1, 10),
        ("A1", 1, "A1", 1, 40),
        ("A2", 0, "A2", 0, 40),
        ("A2", 1, "A2", 1, 10),
    ],
    # A1 has most of the 1s because it has most of the rows.
    "2: unequal groups": [
        ("A1", 0, "A1", 0, 60),
        ("A1", 1, "A1", 0, 30),
        ("A2", 0, "A2", 1, 10),
        ("A2", 1, "A2", 1, 20),
    ],
    # Sec. 3.2 has no counts for this one. First the label is wrong, then the group.
    "3: wrong labels": [
        ("A1", 0, "A1", 1, 10),
        ("A1", 1, "A1", 1, 30),
        ("A2", 0, "A2", 0, 30),
        ("A2", 1, "A2", 0, 10),
    ],
    "3: wrong groups": [
        ("A1", 0, "A2", 0, 10),
        ("A1", 1, "A1", 1, 30),
        ("A2", 0, "A2", 0, 30),
        ("A2", 1, "A1", 1, 10),
    ],
}

# %%
# Three metrics
# -------------
# The audited labels give the signs, because there is no training set.

AUDITORS = {
    "MALS": MALSAuditor(reference="test", interval=None),
    "A→T": DirectionalAuditor("A->T", reference="test", interval=None),
    "T→A": DirectionalAuditor("T->A", reference="test", interval=None),
}
COLUMNS = ["group", "task", "group_pred", "task_pred", "n"]


def seen(rows):
    """Return the published value of each metric for counts."""
    counts = Contingency.from_counts(pd.DataFrame(rows, columns=COLUMNS))
    return {name: auditor.audit(counts).published for name, auditor in AUDITORS.items()}


table = pd.DataFrame({name: seen(rows) for name, rows in SCENARIOS.items()}).T
print(table.to_string(float_format="{:+.4f}".format))

# %%
# *Shortcoming 1.* MALS counts positive correlations only. With three groups it is 0. With two
# groups it is 0.2 or 0.033 for the same error in one group or the other; A→T is 0.1 in both cases.
#
# *Shortcoming 2.* MALS associates label 1 with A1, because most rows with label 1 are in A1. But
# most rows with label 0 are in A1 too: 1 in 3 rows of A1 has label 1, and 2 in 3 rows of A2. The
# sign of MALS is wrong.
#
# *Shortcoming 3.* MALS compares predictions with predictions. It cannot distinguish a wrong label
# from a wrong group. A→T and T→A can.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
places = np.arange(len(table))[::-1]
for shift, (name, values), color in zip(
    (0.26, 0, -0.26), table.items(), ("0.6", "#aa3377", "#228833"), strict=True
):
    bars = ax.barh(places + shift, values, height=0.24, color=color, label=name)
    ax.bar_label(bars, [f"{value + 0.0:.2f}" for value in values], padding=3, fontsize=8)
ax.axvline(0, color="black", linewidth=0.8)
ax.set(yticks=places, yticklabels=table.index, xlabel="amplification", xlim=(-0.7, 0.42))
ax.legend(loc="lower left")
ax.set_title("Three metrics for six models that amplify")
plt.show()
