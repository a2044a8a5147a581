"""
Multi-attribute amplification: sets of tasks
============================================

This page follows "Men also do laundry" (Zhao, Andrews & Xiang 2023). A model predicts whether an
image shows cooking and whether it shows cleaning. In the labels, half of the women and half of the
men do each task, but women more often do both. The model predicts each task as often as it occurs.
But it predicts both tasks more often for women, and only one of them more often for men.

**Result:** directional amplification is exactly 0 for every single task. The rate of the set
"cooking and cleaning" changes by 12.5 percentage points, in the direction of its association.
Metrics of single tasks do not detect this.
"""

# %%
# Labels and predictions
# ----------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DirectionalAuditor, MultiAttributeAuditor

kinds = {"both": (1, 1), "cooking": (1, 0), "cleaning": (0, 1), "neither": (0, 0)}


def images(**counts: int) -> pd.DataFrame:
    """Return one row per image, with its two tasks."""
    rows = [kinds[kind] for kind, n in counts.items() for _ in range(n)]
    return pd.DataFrame(rows, columns=["cooking", "cleaning"])


labels = pd.concat(
    [
        images(both=140, cooking=60, cleaning=60, neither=140),  # women
        images(both=100, cooking=100, cleaning=100, neither=100),  # men
    ]
)
of_women = images(both=190, cooking=10, cleaning=10, neither=190)
of_men = images(both=50, cooking=150, cleaning=150, neither=50)
predicted = pd.concat([of_women, of_men])
gender = np.repeat(["women", "men"], 400)
rates = {"labels": labels.groupby(gender).mean(), "predicted": predicted.groupby(gender).mean()}
print(pd.concat(rates, axis=1).to_string())

# %%
# Directional amplification of single tasks
# -----------------------------------------
# The direction is group → task (A→T): does the group shift the predicted task? It does not. The
# labels of single tasks are balanced, so this metric would be 0 for any model. But ``delta``, the
# change of the rate, is 0 as well.

single = DirectionalAuditor("A->T").fit(labels, sensitive_features=gender)
of_single = single.audit(labels, predicted, sensitive_features=gender)
print(of_single.table[["group", "task", "base", "observed", "delta"]].to_string(index=False))

# %%
# Multi-attribute amplification of sets
# -------------------------------------
# ``min_size=2`` counts sets of two or more tasks: here one set, with both tasks.

multi = MultiAttributeAuditor("A->T", min_size=2)
multi.fit(labels, sensitive_features=gender)
of_sets = multi.audit(labels, predicted, sensitive_features=gender)
print(of_sets.table[["group", "task", "base", "observed", "delta"]].to_string(index=False))
print(f"\ndirectional {of_single.value:.3f}, multi-attribute {of_sets.value:.3f}")
print(f"mean size of the changes of the sets {of_sets.published:.3f}")

# %%
# The value has a sign: both groups changed in the direction of the labels' association. The paper's
# number, ``published``, is a mean of absolute changes and cannot be negative.
#
# Size by random errors
# ---------------------
# A mean of absolute changes is above 0 for any model with errors. To measure the value that chance
# alone gives, keep the number of errors of each task, and assign them to random rows within each
# gender:

rng = np.random.default_rng(0)


def shuffled() -> pd.DataFrame:
    """Return predictions whose tasks are independent within each gender."""
    columns = {}
    for task in predicted:
        parts = [rng.permutation(part[task].to_numpy()) for part in (of_women, of_men)]
        columns[task] = np.concatenate(parts)
    return pd.DataFrame(columns)


scorer = MultiAttributeAuditor("A->T", min_size=2, formula="published", interval=None)
scorer.fit(labels, sensitive_features=gender)
by_chance = [scorer.score(labels, shuffled(), sensitive_features=gender) for _ in range(200)]
print(f"by chance {np.mean(by_chance):.3f}, at most {max(by_chance):.3f} of 200 draws")

# %%

shifts = pd.concat([of_single.table, of_sets.table])
shifts = shifts.assign(task=[" + ".join(np.atleast_1d(task)) for task in shifts["task"]])
figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
wide = shifts.pivot(index="task", columns="group", values="delta")
wide = wide.loc[["cooking + cleaning", "cleaning", "cooking"]]
wide.plot.barh(ax=ax, color={"women": "#228833", "men": "#aa3377"})
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel="predicted rate − rate of the labels", ylabel="")
ax.set_title("Single tasks do not change, the set of both tasks does")
plt.show()
