"""
Custom base rates: pronouns of a language model
===============================================

This page follows Table 2 of "Directional bias amplification" (Wang & Russakovsky 2021). A language
model fills in the pronoun of sentences about occupations. There is no true pronoun, so you choose
the base rates to compare with: equal shares, counts in a text, or the statistics of a country.

**Result:** the same outputs amplify compared with one base rate, and not compared with another.
Statistics cannot say which base rate is right: see :doc:`/limits`.

The probabilities, counts and statistics on this page are invented, because the paper's model must
be downloaded. The results have the same order as in the paper.
"""

# %%
# Predicted pronouns
# ------------------
# The table has the mean probability of each pronoun for eight occupations. As in the paper, the
# probabilities depend on the occupation, "he" is more frequent, and "they" hardly occurs (here its
# probability is 0).

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DirectionalAuditor

jobs = ["carpenter", "driver", "guard", "cook", "tailor", "librarian", "nurse", "secretary"]
he = np.array([0.90, 0.86, 0.84, 0.72, 0.62, 0.44, 0.24, 0.20])
said = pd.DataFrame({"he": he, "she": 1 - he})

# %%
# Four tables of base rates
# -------------------------
# Each is a table of P(pronoun given occupation), pronouns × occupations. Equal shares have no
# association. The direction of amplification then comes from the labour statistics, as in the
# paper.

statistics = pd.Series([0.97, 0.94, 0.78, 0.62, 0.30, 0.16, 0.10, 0.05], jobs)
counted = pd.Series([0.85, 0.80, 0.78, 0.66, 0.52, 0.45, 0.30, 0.25], jobs)


def shares(of_he):
    """Return the table of two pronouns."""
    return pd.DataFrame({"he": of_he, "she": 1 - of_he}).T


leaning = (shares(statistics) > 0.5) * 2 - 1
three = pd.DataFrame(1 / 3, index=["he", "she", "they"], columns=jobs)
yardsticks = {
    "equal shares, two pronouns": (shares(statistics) * 0 + 0.5, leaning),
    "equal shares, three pronouns": (
        three,
        leaning.reindex(three.index).fillna(leaning.loc["she"]),
    ),
    "counts in a text": (shares(counted), None),
    "labour statistics": (shares(statistics), None),
}

# %%
# Amplification, task → group (T→A)
# ---------------------------------
# Does the occupation shift the predicted pronoun? There is one row per occupation. The predictions
# are probabilities, one column per pronoun. `sensitive_features` only names the groups here,
# because ``base`` replaces the true pronouns.


def amplification(base, sign):
    """Return the result of T→A against a table."""
    pronouns = list(base.index)
    auditor = DirectionalAuditor(
        "T->A", base=base, sign=sign, reference="test", groups="indicator", interval=None
    )
    names = pd.DataFrame(np.eye(len(pronouns), dtype=int)[np.arange(8) % len(pronouns)])
    names.columns = pronouns
    return auditor.audit(
        jobs,
        sensitive_features=names,
        sensitive_pred=said.reindex(columns=pronouns, fill_value=0.0),
    )


results = {name: amplification(base, sign) for name, (base, sign) in yardsticks.items()}
paper = dict(zip(results, (0.1368, 0.0914, 0.0372, -0.1254), strict=True))
print(f"{'base rates':30} here      Table 2 of the paper")
for name, result in results.items():
    print(f"{name:30} {result.value:+.4f}   {paper[name]:+.4f}")

# %%
# The third pronoun is never predicted and has the same signs as "she". The value is then two thirds
# of the value with two pronouns, because as many occupations are mostly male as mostly female. (In
# the paper, 0.0914 is 0.668 of 0.1368.)
#
# Single occupations differ from the mean. "He" is predicted too often for occupations in which
# most people are women. These pairs weaken the association in the statistics, so they count as
# negative. They can still be harmful.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.75", linewidth=1)
ax.plot(statistics, he, "o", color="#D55E00")
for job, x, y in zip(jobs, statistics, he, strict=True):
    right = x > 0.75
    ax.annotate(
        job,
        (x, y),
        (-7 if right else 7, -4),
        textcoords="offset points",
        ha="right" if right else "left",
    )
ax.set(xlabel="share of men in the statistics", ylabel='probability of "he"')
ax.set_title('Above the line: "he" is more frequent than in the statistics')
plt.show()
