"""
COMPAS at every threshold: little amplification, large disparity
================================================================

Fig. 6 of "Directional bias amplification" (Wang & Russakovsky 2021). Defendants whose risk score
exceeds a threshold are predicted to be charged again within two years.

**What to look at:** amplification stays close to 0, while at every realistic threshold many more
African-American than Caucasian defendants who were *not* charged again had been called a risk. In
risk prediction a small amplification says that a score agrees with the records, not that it is
fair: see :doc:`/limits`.
"""

# %%
# Eleven thresholds
# -----------------
# The rows of ProPublica's analysis for two races.

import matplotlib.pyplot as plt
import pandas as pd

from skbiasamp import amplification_curve
from skbiasamp.datasets import load_compas
from skbiasamp.metrics import directional_amplification
from skbiasamp.plotting import AmplificationCurveDisplay

compas = load_compas()


def at(threshold):
    """Return amplification, false positive rates and the share predicted."""
    predicted = (compas.decile_score > threshold).astype(int)
    amplification = directional_amplification(
        compas.target, predicted, sensitive_features=compas.sensitive_features
    )
    rates = predicted[compas.target == 0].groupby(compas.sensitive_features).mean()
    return {"A->T": amplification, **rates, "predicted": predicted.mean()}


table = pd.DataFrame({threshold: at(threshold) for threshold in range(11)}).T
base_rate = compas.target.mean()
print(table.rename_axis("threshold").round(4).to_string())
print(f"\n{base_rate:.1%} were charged again within two years.")

# %%
# The threshold that predicts about as many as were charged again is marked.

AmplificationCurveDisplay(
    table.index,
    table["A->T"],
    rates=table[["African-American", "Caucasian"]],
    base_rate_threshold=(table["predicted"] - base_rate).abs().idxmin(),
    title="COMPAS: score above a threshold against charges within two years",
).plot()
plt.show()

# %%
# One number for all thresholds
# -----------------------------
# :func:`~skbiasamp.amplification_curve` tries every score that occurs, and takes the mean over the
# thresholds from 0 to 10.

curve = amplification_curve(
    compas.target, compas.decile_score, sensitive_features=compas.sensitive_features, limits=(0, 10)
)
print(f"mean over thresholds {curve.integral:+.4f}, largest {max(curve.values):+.4f}")
