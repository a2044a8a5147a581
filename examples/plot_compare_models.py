"""
Comparing models on the same rows
=================================

Six models predict the income of 332,900 people of the American Community Survey: two LightGBM
models, and four that were made to treat women and men more equally. Which of them amplifies less
than LightGBM, who gains, who loses, and what does it cost in accuracy?

**What to look at:** the two LightGBM models have the same amplification, and so have over- and
undersampling. The constraint (exponentiated gradient) amplifies a little less. Thresholds of each
group amplify more.
"""

# %%
# The data
# --------
# The associations come from counts of the training labels: men have a high income more often.

import matplotlib.pyplot as plt
import pandas as pd

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.datasets import fetch_acs_predictions
from skbiasamp.plotting import ComparisonDisplay

acs = fetch_acs_predictions()
train = Contingency.from_counts(acs.train_counts, target="income", sensitive="sex")
print(pd.Series(train.rate("task", given="group")[:, 0], train.groups).round(3))

# %%
# Differences, with intervals
# ---------------------------
# All models are measured on the same resamples. Most separate intervals overlap; the interval of
# a difference says which models differ from the reference.

auditor = DirectionalAuditor(random_state=0).fit(train)
result = auditor.compare(
    acs.target, dict(acs.predictions), sensitive_features=acs.sensitive_features
)
table = result.to_frame()
print(table.drop(columns=["p_value", "p_adjusted"]).round(4).to_string(index=False))
for model, verdict in result.verdicts.items():
    print(f"{model}: {verdict}")

# %%
# An interval of a difference is far narrower than separate intervals suggest.

apart = ((table["high"] - table["low"]) ** 2)[1:] + (table["high"] - table["low"])[0] ** 2
paired = (table["difference_high"] - table["difference_low"])[1:]
print((paired / apart**0.5).set_axis(table["model"][1:]).round(2))

# %%
# Who gains, who loses
# --------------------
# For each group: how the predicted rate of a high income differs from LightGBM's, and the rows
# gained and lost.

pairs = result.pairs
print(
    pairs[["model", "group", "reference", "observed", "difference", "gained", "lost"]]
    .round(3)
    .to_string(index=False)
)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ComparisonDisplay.from_result(result, ax=left)
for group, marker in (("female", "o"), ("male", "s")):
    mine = pairs[pairs["group"] == group]
    right.plot(mine["difference"] * 100, mine["model"], marker, label=group)
right.axvline(0, color="grey", linewidth=1)
right.set(xlabel="percentage points", title="Change of the predicted rate of a high income")
right.invert_yaxis()
right.legend()

# %%
# What it costs
# -------------
# Every metric in one call, with the accuracy of each model.

chosen = ["lgbm_a", "exponentiated", "group_threshold"]
report = skbiasamp.compare(
    acs.target,
    {name: acs.predictions[name] for name in chosen},
    sensitive_features=acs.sensitive_features,
    y_train=train,
    random_state=0,
)
print(report.accuracy.round(4).to_string(index=False))
print(report.summary.drop(columns="p_adjusted").round(4).to_string(index=False))

# %%
# The metrics disagree about the constraint. Directional amplification compares each group's
# predicted rate with its labelled rate: the constraint lowers both, the men's a little more. MALS
# compares shares: among those predicted to have a high income there are fewer women than before.
# Leakage and DPA ask what an attacker can tell from the predictions. A difference of a thousandth
# can be certain and still not matter: the interval says how large it is at most.
