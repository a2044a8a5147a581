"""
Three shortcomings of MALS, as a table
======================================

Sec. 3.2 of "Directional bias amplification" (Wang & Russakovsky 2021) gives three reasons not to
use the measure of 2017 any more, each with counts. Here is what three metrics see of each.

**What to look at:** in every scenario the model exaggerates a correlation of its labels. MALS says
0, two different numbers for the same error, a negative number, and the same number for two
different errors. A→T and T→A say how much, and which way.
"""

# %%
# Counts
# ------
# A row is (group, label, predicted group, predicted label, how many). The label is one task: 1.

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
    # Sec. 3.2 has no counts here; these are ours. First the label is wrong, then the group.
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
# Signs come from the audited labels, as there is no training set.

AUDITORS = {
    "MALS": MALSAuditor(reference="test", interval=None),
    "A→T": DirectionalAuditor("A->T", reference="test", interval=None),
    "T→A": DirectionalAuditor("T->A", reference="test", interval=None),
}
COLUMNS = ["group", "task", "group_pred", "task_pred", "n"]


def seen(rows):
    """Return what each metric says of counts."""
    counts = Contingency.from_counts(pd.DataFrame(rows, columns=COLUMNS))
    return {name: auditor.audit(counts).value for name, auditor in AUDITORS.items()}


table = pd.DataFrame({name: seen(rows) for name, rows in SCENARIOS.items()}).T
print(table.to_string(float_format="{:+.4f}".format))

# %%
# *Shortcoming 1.* MALS looks at positive correlations only. With three groups it sees nothing. With
# two it sees 0.2 or 0.033 for the same error on one side or the other; A→T sees 0.1 both times.
#
# *Shortcoming 2.* MALS takes A1 for the group of the 1s, because most 1s are of A1. But so are most
# 0s: 1 in 3 of A1 has a 1, and 2 in 3 of A2. Its sign is wrong.
#
# *Shortcoming 3.* MALS compares predictions with predictions, and cannot say whether the label or
# the group was wrong. A→T and T→A say it.

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
places = np.arange(len(table))[::-1]
for shift, (name, values), color in zip(
    (0.26, 0, -0.26), table.items(), ("0.6", "#D55E00", "#0072B2"), strict=True
):
    bars = ax.barh(places + shift, values, height=0.24, color=color, label=name)
    ax.bar_label(bars, [f"{value + 0.0:.2f}" for value in values], padding=3, fontsize=8)
ax.axvline(0, color="black", linewidth=0.8)
ax.set(yticks=places, yticklabels=table.index, xlabel="amplification", xlim=(-0.7, 0.42))
ax.legend(loc="lower left")
ax.set_title("What each metric sees of six models that exaggerate")
plt.show()
