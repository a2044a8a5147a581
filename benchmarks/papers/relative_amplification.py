"""DPA is relative, leakage amplification is absolute: Fig. 1 and Sec. 3.2.3 of Tokas et al. (2024).

Leakage amplification is the difference of two qualities. It rises equally from every level. DPA
divides the difference by the sum, so the same difference counts more if the labels reveal little
about the group.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp.metrics import dpa_amplification

GROUP = np.repeat([0, 1], 100)
EXACT = {"attacker": "exact", "quality": "accuracy", "cv": None, "equalize": None}


def labels(q):
    """Return labels that agree with the group in a share q of each group's rows.

    The best attacker predicts them from the group with accuracy q.
    """
    agree = np.arange(200) % 100 < round(100 * q)
    return np.where(agree, GROUP, 1 - GROUP)


def step(data, model, normalize):
    """Return the amplification from one predictability to another."""
    how = EXACT | {"sensitive_features": GROUP, "normalize": normalize}
    return dpa_amplification(labels(data), labels(model), **how)


if __name__ == "__main__":
    steps = pd.DataFrame(
        {
            f"{data:.2f} to {model:.2f}": {
                "relative": (model - data) / data,
                "difference": step(data, model, False),
                "DPA": step(data, model, True),
            }
            for data, model in ((0.55, 0.60), (0.90, 0.95))
        }
    ).T
    print(steps.to_string(float_format="{:.4f}".format))

    qualities = np.linspace(0.5, 1, 26)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    titles = {False: "difference: parallel", True: "DPA: steeper for a low level"}
    for ax, (normalize, title) in zip(axes, titles.items(), strict=True):
        for data in (0.5, 0.7, 0.9):
            values = [step(data, model, normalize) for model in qualities]
            ax.plot(qualities, values, label=f"data: {data}")
        ax.set(title=title, xlabel="predictability of predictions", ylabel="amplification")
    axes[0].legend()
    plt.show()
