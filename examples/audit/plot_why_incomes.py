"""
Three metrics disagree on a language model's incomes, and all are right
=======================================================================

Llama-3-70B was asked whether each of the 48,842 people of the Adult data earns more than 50,000
dollars. Its answers are those published with SureMap (github.com/mkhodak/SureMap). By sex,
directional group → task (A→T) says that the model reduces the association. MALS and leakage say
that it amplifies.

**Result:** the model says yes too seldom: for 15.1 % of people, of 23.9 %. With fewer yes, a
difference of rates shrinks (19.5 to 17.1 percentage points), although the ratio of the rates grows
(2.8 to 5.7). A→T sees the difference, MALS the share of men among yes (84.9 to 91.9 %), and an
attacker guesses better from the answers than from labels with as many random errors.
"""

# %%
# The counts
# ----------
# Rows by sex, age, label and answer. All that follows is computed from them.

import matplotlib.pyplot as plt
import pandas as pd

import skbiasamp
from skbiasamp import Contingency
from skbiasamp.plotting import WaterfallDisplay

ages = ["up to 24", "25 to 34", "35 to 44", "45 to 54", "55 to 64", "65 or more"]
# Of each age: labelled no and answered no, no and yes, yes and no, yes and yes.
counts = {
    "Female": [
        [3789, 4, 16, 10],
        [3721, 36, 337, 75],
        [2826, 54, 490, 176],
        [2081, 36, 329, 111],
        [1213, 20, 135, 41],
        [623, 20, 37, 12],
    ],
    "Male": [
        [4519, 27, 51, 16],
        [6332, 373, 1090, 613],
        [4630, 624, 1615, 1778],
        [2711, 488, 1330, 1685],
        [1768, 243, 674, 688],
        [916, 101, 218, 160],
    ],
}
rows = pd.DataFrame(
    [
        (sex, age, label, answer, by_age[2 * label + answer])
        for sex, table in counts.items()
        for age, by_age in zip(ages, table, strict=True)
        for label in (0, 1)
        for answer in (0, 1)
    ],
    columns=["sex", "age", "label", "answer", "n"],
)
cells = Contingency.from_frame(
    rows, target="label", prediction="answer", sensitive=["sex", "age"], weight="n"
)
report = skbiasamp.audit(cells, given="age", random_state=0)
print(report.summary.round(4).to_string())

# %%
# Why they differ
# ---------------
# Differences, ratios and shares of the same eight numbers.

totals = rows.groupby(["sex", "label", "answer"])["n"].sum().unstack([1, 2])
n = totals.sum(axis=1)
yes = {
    "labels": totals[[(1, 0), (1, 1)]].sum(axis=1),
    "answers": totals[[(0, 1), (1, 1)]].sum(axis=1),
}
table = pd.DataFrame(yes)
rates = table.div(n, axis=0)
print(f"rates\n{rates.round(3)}")
print(f"difference {(rates.loc['Male'] - rates.loc['Female']).round(3).to_dict()}")
print(f"ratio {(rates.loc['Male'] / rates.loc['Female']).round(2).to_dict()}")
print(f"share of men {(table.loc['Male'] / table.sum()).round(3).to_dict()}")

# %%
# Where it comes from
# -------------------
# The difference shrinks most for people of 45 to 64. Within ages it shrinks, too.

explanation = skbiasamp.explain(cells, given="age")
print(explanation.tables["conditional"].round(4).to_string(index=False))
WaterfallDisplay.from_explanation(explanation)
plt.show()
