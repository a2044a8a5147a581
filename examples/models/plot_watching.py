"""
Watching a model over time
==========================

A model hires for a year. On 1 July a new version rejects more women than before. When does a watch
notice, who is affected, and why is it wrong to look at each day by itself?

**What to look at:** single days vary far more than the change. Their 95 % intervals exclude the
reference on some days before it. The watch raises no alarm before the change and names the group.
"""

# %%
# A year of decisions
# -------------------

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import skbiasamp
from skbiasamp.plotting import TimelineDisplay

rng = np.random.default_rng(1)
n = 40_000
rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n, p=[0.4, 0.6])})
rows["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
rows["hired"] = (rng.random(n) < np.where(rows["sex"] == "f", 0.25, 0.4)).astype(int)
rows["version"] = np.where(rows["day"] < "2026-07-01", "1.4", "2.0")
missed = np.where((rows["sex"] == "f") & (rows["version"] == "2.0"), 0.35, 0.15)
wrong = np.where(rows["hired"] == 1, rng.random(n) < missed, rng.random(n) < 0.06)
rows["predicted"] = np.where(wrong, 1 - rows["hired"], rows["hired"])

columns: dict[str, Any] = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}

# %%
# Months
# ------
# The first three months are the reference. The band is the 95 % interval of each month alone.

months = skbiasamp.audit_over(
    rows, time="day", every="month", reference=3, version="version", **columns
)
print(months.sentence)


def draw(**which: Any) -> None:
    """Draw the months, with the legend below."""
    ax: Any
    figure, ax = plt.subplots(figsize=(4.4, 4.6), layout="constrained")
    TimelineDisplay.from_timeline(months, ax=ax, **which)
    ax.get_legend().remove()
    ax.set_xticks(ax.get_xticks()[::3], [label.get_text() for label in ax.get_xticklabels()][::3])
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower left", frameon=False)


draw()
plt.show()

# %%
# One group
# ---------
# The value is a mean over groups. The watch looks at every pair of group and task as well.

draw(pair=("f", 1))
plt.show()

# %%
# Days
# ----
# A rule that looks at each day by itself would have raised false positives before the change.

days = skbiasamp.audit_over(
    rows,
    time="day",
    every="day",
    reference=60,
    version="version",
    auditor=skbiasamp.DirectionalAuditor(),
    n_draws=199,
    **columns,
)
frame = days.to_frame()
before = frame[(frame["role"] == "watched") & (frame["period"] < "2026-07-01")]
level = days.reference["value"]
excluded = (before["low"] > level) | (before["high"] < level)
print(f"{excluded.sum()} of {len(before)} days before the change exclude the reference")
print(f"alarms before the change: {before['alarm'].sum()}; first alarm: {days.first_alarm}")
print(f"the change most likely began on {days.onset}")

# %%
# Where the change began is an estimate. Here it is two weeks early, because single days vary so
# much. The change of the version, which is marked, is the likelier date.
