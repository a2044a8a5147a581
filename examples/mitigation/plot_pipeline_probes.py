"""
Leakage probes in a pipeline
============================

:class:`~skbiasamp.LeakageProbe` is a pipeline step. It measures how well the sensitive feature can
be predicted from its input, and passes the input on unchanged. One probe before and one after a
step show what the step adds or removes.

**Result:** scaling removes no information about the group. Keeping only the feature that predicts
the label best removes nearly all of it, because other features are the proxies. Keeping the first
principal component does not remove it.
"""

# %%
# Data with proxies
# -----------------
# One feature predicts the label, and two features predict the group. The group is not a feature.

import matplotlib.pyplot as plt
import pandas as pd
import sklearn
from sklearn.base import TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import AuditedClassifier, DirectionalAuditor, LeakageProbe
from skbiasamp.datasets import make_biased_classification

made = make_biased_classification(4000, group_sep=2, random_state=0)
X = pd.DataFrame(made.data)
print(X.columns.tolist())

# %%
# A pipeline with probes
# ----------------------
# scikit-learn's metadata routing passes the group to the probes and to the audited classifier.

sklearn.set_config(enable_metadata_routing=True)
probe = LeakageProbe(random_state=0).set_fit_request(sensitive_features=True)


def pipeline(middle: TransformerMixin) -> Pipeline:
    """Return a pipeline with a probe before, between and after its steps."""
    model = AuditedClassifier(LogisticRegression(), auditor=DirectionalAuditor())
    return Pipeline(
        [
            ("features", clone(probe)),
            ("scale", StandardScaler()),
            ("scaled", clone(probe)),
            ("middle", middle),
            ("reduced", clone(probe)),
            ("model", model),
        ]
    )


train, test = slice(0, 2000), slice(2000, None)
middles = {"best feature": SelectKBest(k=1), "first component": PCA(n_components=1)}
leaked, amplified = {}, {}
for name, middle in middles.items():
    fitted = pipeline(middle).fit(
        X[train], made.target[train], sensitive_features=made.sensitive[train]
    )
    leaked[name] = {step: fitted[step].leakage_ for step in ("features", "scaled", "reduced")}
    result = fitted["model"].audit(
        fitted[:-1].transform(X[test]), made.target[test], sensitive_features=made.sensitive[test]
    )
    amplified[name] = result
sklearn.set_config(enable_metadata_routing=False)

table = pd.DataFrame(leaked)
print(table.round(3).to_string())
print(f"by chance {fitted['features'].chance_}")

# %%
# The first component of the PCA correlates with the group. Amplification of the two models on test
# rows, group → task (A→T: does the group shift the predicted task?):

for name, result in amplified.items():
    print(f"{name:16} {result.value:+.3f} [{result.low:+.3f}, {result.high:+.3f}]")

# %%
# The probe measures what a model *can* use, and the audit measures its predictions. With almost no
# information about the group, predictions differ less between the groups than the labels do. This
# gives a negative amplification.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (middle, values), color in zip(table.items(), ("#228833", "#aa3377"), strict=True):
    ax.plot(["features", "scaled", "reduced"], values, "o-", color=color, label=middle)
ax.axhline(0.5, color="0.6", linewidth=1, linestyle="dashed", label="chance")
ax.set(ylim=(0.45, 1), ylabel="groups predicted correctly, share")
ax.set_title("Accuracy of predicting the group after each step")
ax.legend(loc="center left")
plt.show()
