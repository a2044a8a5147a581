"""
Admissions at Berkeley: a difference that reverses within departments
=====================================================================

In 1973, the University of California at Berkeley admitted 44.5 % of the men and 30.4 % of the women
who applied to its six largest graduate programmes. Within departments, women were admitted slightly
more often: they had applied to departments that reject most people (Bickel, Hammel & O'Connell
1975, Science 187:398-404).

**Result:** a model that knows the department alone, and not the gender, amplifies the difference
overall: it admits 44 percentage points more of the men. Within departments it treats men and women
alike, which reduces the small advantage of women there. Both statements are right: the first is
about who is admitted, the second about how a department decides.
"""

# %%
# Labels: explained and unexplained
# ---------------------------------
# The counts are those of R's ``UCBAdmissions``. ``given`` names the columns that make strata.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import skbiasamp
from skbiasamp.plotting import WaterfallDisplay

admitted = {"Male": [512, 353, 120, 138, 53, 22], "Female": [89, 17, 202, 131, 94, 24]}
rejected = {"Male": [313, 207, 205, 279, 138, 351], "Female": [19, 8, 391, 244, 299, 317]}
counts = [
    (gender, department, label, n)
    for label, table in ((1, admitted), (0, rejected))
    for gender, numbers in table.items()
    for department, n in zip("ABCDEF", numbers, strict=True)
]
rows = pd.DataFrame(counts, columns=["gender", "department", "admitted", "n"])
rows = rows.loc[rows.index.repeat(rows["n"])].reset_index(drop=True)

# %%
# A model that sees the department alone
# --------------------------------------
# It admits everybody in departments that admit most people.

rate = rows.groupby("department")["admitted"].transform("mean")
rows["predicted"] = (rate > 0.5).astype(int)
columns = {"target": "admitted", "prediction": "predicted", "sensitive": "gender"}
explanation = skbiasamp.explain(rows, **columns, given="department")
print("\n".join(explanation.sentences))
print("\n".join(explanation.findings))
rates = pd.DataFrame(explanation.rates, columns=["group", "of", "rate", "standardised"])
print(rates.round(4))

# %%
# The departments in which most people are admitted add the most: men applied there.

figure, ax = plt.subplots(figsize=(4.4, 3.8), layout="constrained")
WaterfallDisplay.from_explanation(explanation, ax=ax)
ax.locator_params(axis="x", nbins=4)
plt.show()

# %%
# Within departments
# ------------------
# The value within strata has an interval and a verdict of its own.

conditional = explanation.tables["conditional"]
verdicts = conditional.set_index("part")["verdict"].dropna()
print(conditional.round(4))
unequal = rows.groupby(["department", "gender"])["predicted"].mean().unstack()
print("largest difference within a department:", np.ptp(unequal.to_numpy(), axis=1).max())
