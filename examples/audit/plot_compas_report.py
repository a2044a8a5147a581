"""
A full report in one call
=========================

:func:`skbiasamp.audit` runs every auditor that its inputs allow, and says in words what each saw,
what it could not see, and what to know before a number is used. Here for decision trees on COMPAS.

**What to look at:** the sentences. All four metrics find amplification here, and each means
something else by it. The caveats are part of the result: the tree is right in two cases
of three, and its errors are not shared evenly.
"""

# %%
# A model and its predictions
# ---------------------------
# Five features, without race. Half of the rows are for training, half for the audit.

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp.datasets import load_compas

compas = load_compas(target="is_recid")
X, X_test, y, y_test, race, race_test = train_test_split(
    compas.data, compas.target, compas.sensitive_features, test_size=0.5, random_state=0
)
tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(X, y)

# %%
# The audit
# ---------
# Training labels are given, so that signs come from what the model learnt from.

report = skbiasamp.audit(
    y_test,
    tree.predict(X_test),
    sensitive_features=race_test,
    y_train=y,
    sensitive_train=race,
    random_state=0,
)
print(report.summary[["value", "low", "high"]].rename_axis(None).round(3))

# %%
# Rates behind it:

columns = ["group", "base_rate", "predicted_rate", "true_positive_rate", "false_positive_rate"]
print(report.rates[columns].round(3).to_string(index=False))

# %%
# In words
# --------

for sentence in report.sentences.values():
    print(textwrap.fill(f"- {sentence}", 84, subsequent_indent="  "))

# %%
# What to know before using them:

for warning in report.warnings:
    print(textwrap.fill(f"- {warning}", 84, subsequent_indent="  "))

# %%
# The first picture
# -----------------
# The share of each group who are charged again, by the labels and by the predictions.

figure, ax = plt.subplots(figsize=(4.4, 2.4), layout="constrained")
report.plot(ax=ax)
ax.set_ylim(1.6, -0.6)
plt.show()

# %%
# The page
# --------
# ``to_html`` writes one file to hand on, with pictures and tables; it loads nothing from elsewhere.
# ``to_json`` and ``to_markdown`` write the same for programs and for model cards.

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    report.to_html(page)
    print(f"a page of {page.stat().st_size / 1000:.0f} kB")
