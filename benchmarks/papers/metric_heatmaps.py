"""BiasAmp→, DPA and Multi→ on simulated data: Sec. 7.1 and Fig. 2 of Tokas et al. (2024).

There are two groups and a binary task. Each of the four cells has probability 1/4; then α is added
to (A=0, T=0) and subtracted from (A=1, T=1). One α gives the data, another α the predictions.

Result: the white column of the first map has balanced data: BiasAmp→ is 0 for any model. DPA is 0
only on the two diagonals, on which data and model are equally biased. Multi→ is never negative, so
it cannot show that a model reduces bias.
"""

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
    counts = {"group": [0, 0, 1, 1], "task": [0, 1, 0, 1], "n": [50 + step, 50, 50, 50 - step]}
    return pd.DataFrame(counts)


def predictability(step):
    """Return the score of the best attacker, which predicts the task from the group.

    Labels are not made equally accurate: the simulation has no rows and so no accuracy.
    """
    table = cells(step)
    given = {"sensitive_features": table["task"], "sample_weight": table["n"]}
    with warnings.catch_warnings():
        # At the ends, the task has one value in a group, which does not matter here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return dataset_leakage(table["group"], **given, balanced=False, cv=None)


def heatmaps(steps=STEPS):
    """Return the three values, models × data.

    Data also give the base rates (``base="train"``), because data and models are different rows.
    """
    maps = {name: np.empty((len(steps), len(steps))) for name in ("BiasAmp→", "DPA", "Multi→")}
    quality = np.array([predictability(step) for step in steps])
    maps["DPA"][:] = (quality[:, None] - quality) / (quality[:, None] + quality)
    how = {"base": "train", "formula": "published", "interval": None}
    auditors = {"BiasAmp→": DirectionalAuditor(**how), "Multi→": MultiAttributeAuditor(**how)}
    models = [
        Contingency.from_counts(cells(step).assign(task_pred=lambda t: t.task)) for step in steps
    ]
    for column, step in enumerate(steps):
        data = Contingency.from_counts(cells(step))
        for name, auditor in auditors.items():
            auditor.fit(data)
            maps[name][:, column] = [auditor.score(model) for model in models]
    return maps


maps = heatmaps()
alpha = np.array(STEPS)
equal = np.abs(alpha[:, None]) == np.abs(alpha)
zero = {name: np.abs(values) < 1e-12 for name, values in maps.items()}
found = {name: (values.min(), values.max()) for name, values in maps.items()}
found = pd.DataFrame(found, ["least", "greatest"]).T
found["0 where |α| are equal"] = [where[equal].mean() for where in zero.values()]
found["0 elsewhere"] = [where[~equal].mean() for where in zero.values()]
print(found.round(4).to_string())

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
edges = 2 * (STEPS[0] * 0.005, STEPS[-1] * 0.005)
for ax, (name, values) in zip(axes, maps.items(), strict=True):
    look = {"origin": "lower", "extent": edges, "cmap": "RdBu_r"}
    image = ax.imshow(values, **look, vmin=-np.abs(values).max(), vmax=np.abs(values).max())
    ax.set(title=name, xlabel="α of the data", ylabel="α of the model")
    figure.colorbar(image, ax=ax, shrink=0.8)
plt.show()
