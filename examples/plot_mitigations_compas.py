"""
Mitigations side by side: what they take off, what they cost, what they raise
=============================================================================

Five mitigations on COMPAS and on a synthetic table, each measured with the same auditors on the
same folds: accuracy, amplification of single attributes, and of several at once. "Men also do
laundry" (Zhao, Andrews & Xiang 2023) reports that mitigations for the one can raise the other. They
do here too: dropping rows until groups are even, and training a classifier a group, lower
directional amplification on both data sets, and raise the multi-attribute one.
"""

# %%
# The data
# --------
# Of COMPAS two labels, which exclude each other no more than objects in a picture do: whether a
# defendant was charged again within two years, and whether the present charge is a felony. Race is
# the sensitive feature, and no input of the model. (A model of these labels should not be built to
# be used; see :doc:`/limits`.)

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import BaseRateThresholdClassifier, DirectionalAuditor, MALSAuditor
from skbiasamp import MultiAttributeAuditor as Multi
from skbiasamp.datasets import load_compas, make_biased_classification
from skbiasamp.mitigation import (
    CorpusConstraintClassifier,
    DataRepair,
    DomainIndependentClassifier,
    RatioBalancer,
    compare_mitigations,
)
from skbiasamp.plotting import MitigationDisplay

compas = load_compas()
felony = (compas.frame["c_charge_degree"] == "F").astype(int)
compas_labels = pd.DataFrame({"charged again": compas.target, "felony": felony})

# %%
# The synthetic table is as those of the Adult data: features that predict the labels, and proxies
# that predict the group. Three labels, two groups.

table = make_biased_classification(8000, n_tasks=3, random_state=0)

# %%
# The mitigations
# ---------------
# All are put around the same logistic regressions, one a label. The first is without mitigation.


def scaled(classifier):
    """Return a classifier of standardised features."""
    return make_pipeline(StandardScaler(), classifier)


several = MultiOutputClassifier(LogisticRegression())
mitigations = {
    "none": scaled(several),
    "base-rate thresholds": scaled(BaseRateThresholdClassifier(several)),
    "ratio balancer": (RatioBalancer(), scaled(several)),
    "data repair": (DataRepair(), scaled(several)),
    "corpus constraints": scaled(CorpusConstraintClassifier(several, margin=0.01)),
    "domain independent": scaled(DomainIndependentClassifier(several)),
}

# %%
# MALS and its multi-attribute form, then directional amplification A→T and its multi-attribute
# form. The multi-attribute ones count sizes: a mitigation that overshoots zero raises them.

auditors = [MALSAuditor(), Multi(direction=None), DirectionalAuditor(), Multi()]
options = {"auditors": auditors, "noise": (0.5, 1, 2, 4), "random_state": 0}
on_compas = compare_mitigations(
    compas.data, compas_labels, compas.sensitive_features, mitigations, **options
)
on_table = compare_mitigations(table.data, table.target, table.sensitive, mitigations, **options)

# %%
# What they do
# ------------
# Each number is the change against no mitigation on the same folds, with its 95 % interval.
# ``accuracy`` counts a row as right where all of its labels are.


def changes(comparison):
    """Return what mitigations change, mitigations × measures."""
    rows = comparison.table[comparison.table["noise"].isna()]
    rows = rows[rows["mitigation"] != comparison.baseline].assign(
        cell=lambda rows: [
            f"{row.change:+.3f} [{row.change_low:+.3f}, {row.change_high:+.3f}]"
            for row in rows.itertuples()
        ]
    )
    wide = rows.pivot(index="measure", columns="mitigation", values="cell")
    columns = [name for name in mitigations if name != comparison.baseline]
    return wide.loc[["accuracy", *comparison.amplifications], columns]


for name, comparison in {"COMPAS": on_compas, "synthetic table": on_table}.items():
    baseline = comparison.table[comparison.table["mitigation"] == "none"]
    without = baseline.set_index("measure")["value"]
    measures = ["accuracy", *comparison.amplifications]
    print(f"{name}, without mitigation")
    print(without[measures].round(3).rename_axis(None).to_string(), end="\n\n")
    print(f"{name}, change")
    for mitigation, column in changes(comparison).items():
        print(f"  {mitigation}")
        print("\n".join(f"    {measure:22}{cell}" for measure, cell in column.items()))
    print()

# %%
# Single and multi-attribute amplification, drawn
# -----------------------------------------------
# The dashed line is the model without mitigation, with growing noise on its features: amplification
# that is taken off at no merit. Above are single attributes, below several at once.

figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
for column, (name, comparison) in enumerate({"COMPAS": on_compas, "table": on_table}.items()):
    for row, measure in enumerate(["directional A->T", "multi-attribute A->T"]):
        ax = axes[row, column]
        MitigationDisplay.from_result(comparison, amplification=measure, ax=ax)
        ax.set_title(name)

# %%
# What they show
# --------------
# *Balancing the ratios*, *repairing the data* and *a classifier a group* push directional
# amplification down on both data sets, and multi-attribute amplification up. On the table they
# push the one far below zero: predictions have less of the bias than the labels have, which is
# what they are for, and the other counts distance from the labels in either direction. On COMPAS
# its rise has little to do with the groups. The rows that are dropped had a label more often than
# those that stay, so that "charged again" is predicted too rarely of everybody; and classifiers a
# group call even more charges felonies, in both:

pairs = ["group", "task"]
rates = {
    name: on_compas.audits[name]["multi-attribute A->T"].pooled.table.set_index(pairs)
    for name in ("none", "ratio balancer", "domain independent")
}
predicted = pd.DataFrame({name: table["observed"] for name, table in rates.items()})
predicted.insert(0, "labels", rates["none"]["base"])
print(predicted.round(2).to_string())

# %%
# The signed mean counts changes against the association in the labels as negative. It falls
# wherever directional amplification does. Report it with the mean of absolute changes:

signed = {
    name: {
        mitigation: comparison.audits[mitigation]["multi-attribute A->T"].pooled.statistics[
            "signed_mean"
        ]
        for mitigation in mitigations
    }
    for name, comparison in {"COMPAS": on_compas, "table": on_table}.items()
}
print(pd.DataFrame(signed).round(3).to_string())

# %%
# The two mitigations that drop rows cost 3 percentage points of accuracy on both data sets. On
# COMPAS they raise MALS too.
#
# *Base-rate thresholds* do nothing on the table, whose labels are even. On COMPAS they take the
# two apart the other way round: directional amplification rises, multi-attribute amplification
# falls. The model alone calls nearly every charge a felony: far from the labels, and with hardly
# anything left to amplify:

for name in ("none", "base-rate thresholds"):
    felonies = cross_val_predict(mitigations[name], compas.data, compas_labels)[:, 1].mean()
    print(f"{name}: {felonies:.0%} felonies predicted, of {felony.mean():.0%}")

# %%
# *Corpus constraints* do what they are asked to, keep the groups' training shares, and so bring
# MALS near zero and its multi-attribute form down, at a loss of accuracy too small to be
# distinguished from none. They need the sensitive feature of every row that is predicted.
#
# On COMPAS there is little to take off (without mitigation, the interval of directional
# amplification has zero in it), and noise takes off as much. No mitigation is best in every line:
# which one to take depends on the amplification that does harm where the model is used.
