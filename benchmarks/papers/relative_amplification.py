"""
DPA is relative, leakage amplification is absolute
==================================================

This page repeats Fig. 1 and Sec. 3.2.3 of "Making bias amplification in balanced datasets
directional and interpretable" (Tokas, Nair & Kerner 2024).

**Result:** leakage amplification is the difference of two qualities. It rises equally from every
level. DPA divides the difference by the sum, so the same difference counts more if the labels
reveal little about the group.
"""

# %%
# Data with a given predictability
# --------------------------------
# There are two groups of 100 rows, and a binary label that agrees with the group in a share q of
# the rows. The best attacker predicts the label from the group with accuracy q. Both metrics depend
# on q only.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp.metrics import dpa_amplification

group = np.repeat([0, 1], 100)


def labels(q):
    """Return labels that agree with the group in a share q of each group's rows."""
    agree = np.arange(200) % 100 < round(100 * q)
    return np.where(agree, group, 1 - group)


def step(data, model, normalize):
    """Return the amplification from one predictability to another."""
    return dpa_amplification(
        labels(data),
        labels(model),
        sensitive_features=group,
        attacker="exact",
        quality="accuracy",
        cv=None,
        equalize=None,
        normalize=normalize,
    )


# %%
# Two increases of 0.05
# ---------------------
# In the example of Sec. 3.2.3, predictability rises from 0.55 to 0.60, and from 0.90 to 0.95. The
# first increase is larger relative to its start.

steps = pd.DataFrame(
    {
        "relative": [(model - data) / data for data, model in ((0.55, 0.60), (0.90, 0.95))],
        "difference": [step(0.55, 0.60, False), step(0.90, 0.95, False)],
        "DPA": [step(0.55, 0.60, True), step(0.90, 0.95, True)],
    },
    index=["0.55 to 0.60", "0.90 to 0.95"],
)
print(steps.to_string(float_format="{:.4f}".format))

# %%
# All increases and decreases
# ---------------------------

qualities = np.linspace(0.5, 1, 26)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
colors = ("#228833", "#66ccee", "#aa3377")
for ax, normalize in zip(axes, (False, True), strict=True):
    for data, color in zip((0.5, 0.7, 0.9), colors, strict=True):
        values = [step(data, model, normalize) for model in qualities]
        ax.plot(qualities, values, color=color, label=f"data: {data}")
    ax.axhline(0, color="0.75", linewidth=1)
    ax.set_xlabel("predictability of the model's predictions")
axes[0].set(title="difference: parallel", ylabel="amplification")
axes[1].set_title("DPA: steeper for a low level")
axes[0].legend()
plt.show()
