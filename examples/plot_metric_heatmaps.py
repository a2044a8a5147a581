"""
Three metrics for every pair of data and model
==============================================

The simulation of Sec. 7.1 in "Making bias amplification in balanced datasets directional and
interpretable" (Tokas, Nair & Kerner 2024). Two groups and a binary task: each of the four cells
has probability 1/4, then α is added to (A=0, T=0) and taken from (A=1, T=1). One α makes the data,
another one the model's predictions.

**What to look at:** the white column in the middle of the first map. Data are balanced there, and
BiasAmp→ says 0 of any model. DPA is 0 on the two diagonals only, where data and model are equally
biased. Multi→ never says that bias shrank.
"""

# %%
# A hundred data sets, a hundred models
# -------------------------------------

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import Contingency, DirectionalAuditor, MultiAttributeAuditor
from skbiasamp.metrics import dataset_leakage

STEPS = range(-50, 50)  # of 0.005


def cells(step):
    """Return the four cells as counts of 200 rows."""
    return pd.DataFrame(
        {"group": [0, 0, 1, 1], "task": [0, 1, 0, 1], "n": [50 + step, 50, 50, 50 - step]}
    )


# %%
# DPA
# ---
# How well the best attacker predicts the task from the group depends on one α only, so that a
# hundred numbers make the whole map. (Nothing is equalised: the simulation has no rows, and so no
# accuracy.)


def predictability(step):
    """Return how well the best attacker predicts the task from the group."""
    table = cells(step)
    with warnings.catch_warnings():
        # At the ends the task has one value in a group, which is no matter here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return dataset_leakage(
            table["group"],
            sensitive_features=table["task"],
            sample_weight=table["n"],
            balanced=False,
            cv=None,
        )


# %%
# BiasAmp→ and Multi→
# -------------------
# The data are what the auditor is fitted on. They are its base too, since data and models are
# different rows.


def heatmaps(steps=STEPS):
    """Return the three values, models × data."""
    maps = {name: np.empty((len(steps), len(steps))) for name in ("BiasAmp→", "DPA", "Multi→")}
    quality = np.array([predictability(step) for step in steps])
    maps["DPA"][:] = (quality[:, None] - quality) / (quality[:, None] + quality)
    models = [
        Contingency.from_counts(cells(step).assign(task_pred=lambda t: t.task)) for step in steps
    ]
    for column, step in enumerate(steps):
        data = Contingency.from_counts(cells(step))
        for name, auditor in (
            ("BiasAmp→", DirectionalAuditor(base="train", interval=None)),
            ("Multi→", MultiAttributeAuditor(base="train", interval=None)),
        ):
            auditor.fit(data)
            maps[name][:, column] = [auditor.score(model) for model in models]
    return maps


maps = heatmaps()

# %%
# Where they are 0
# ----------------

alpha = np.array(STEPS)
equal = np.abs(alpha[:, None]) == np.abs(alpha)
print("measure      least   greatest   0 where |α| are equal   0 elsewhere")
for name, values in maps.items():
    zero = np.abs(values) < 1e-12
    print(
        f"{name:9} {values.min():8.4f} {values.max():10.4f} "
        f"{zero[equal].mean():18.0%} {zero[~equal].mean():17.1%}"
    )

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
edges = (STEPS[0] * 0.005, STEPS[-1] * 0.005)
for ax, (name, values) in zip(axes, maps.items(), strict=True):
    reach = np.abs(values).max()
    image = ax.imshow(
        values, origin="lower", extent=(*edges, *edges), cmap="RdBu_r", vmin=-reach, vmax=reach
    )
    ax.set(title=name, xlabel="α of the data", ylabel="α of the model")
    figure.colorbar(image, ax=ax, shrink=0.8)
plt.show()
