"""
Base rates of your own
======================

After Table 2 of "Directional bias amplification" (Wang & Russakovsky 2021). A language model
fills in the pronoun of sentences about occupations. There is no true pronoun, so you have to
choose what to compare with: equal shares, counts in a text, or the statistics of a country.

**What to look at:** the same outputs amplify one base and not another. Statistics cannot decide
which base is right: see :doc:`/limits`.

The probabilities, the counts and the statistics on this page are made up; the paper's model has to
be downloaded, and its 32 occupations counted. The results come in the order of the
paper's.
"""

# %%
# What the model says
# -------------------
# For eight occupations, the probability of each pronoun, the mean over many sentences. Like the
# paper's model this one follows the occupation, prefers "he", and hardly ever says "they".

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DirectionalAuditor

jobs = ["carpenter", "driver", "guard", "cook", "tailor", "librarian", "nurse", "secretary"]
he = np.array([0.90, 0.86, 0.84, 0.72, 0.62, 0.44, 0.24, 0.20])
said = pd.DataFrame({"he": he, "she": 1 - he})

# %%
# Four base tables
# ----------------
# A table of P(pronoun given occupation) each, pronouns × occupations. Equal shares have no
# association, so the statistics say which way counts as amplification, as in the paper.

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
# T→A under each
# --------------
# One row an occupation; predictions of the attribute are probabilities, one column a pronoun. The
# rows' own pronouns do not matter (``base`` takes their place), but name the groups.


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
print(f"{'held against':30} here      the paper's Table 2")
for name, result in results.items():
    print(f"{name:30} {result.value:+.4f}   {paper[name]:+.4f}")

# %%
# With a third pronoun, which is never predicted and is associated with the occupations of "she",
# the value is two thirds of that with two: as many occupations are mostly male as mostly female.
# (In the paper 0.0914 is 0.668 of 0.1368.)
#
# Occupation by occupation the picture is another one than on the mean: "he" is said too often of
# the occupations in which most are women. Such pairs reduce the association in the statistics, and
# count as negative. That does not make them harmless.

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
ax.set_title("Above the line, the model says “he” more often than the statistics")
plt.show()
