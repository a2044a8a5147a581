"""
Numeric tasks: a regression model of COMPAS scores
==================================================

COMPAS gives defendants a score from 1 to 10. A regression model predicts this number from age,
prior crimes and the charge, with and without race. `NumericAuditor` compares the mean of each
group: group → task (A→T), does the group shift the predicted number?

**Result:** the model without race "reduces": its two means lie closer together than those of the
scores. This is regression to the mean, not fairness: the model does not know what makes the groups
different. The model with race keeps both means. A model that also overstates the difference
amplifies.
"""

# %%
# Scores, and two models
# ----------------------
# Every prediction is made by a model that was trained on other rows.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_predict

import skbiasamp
from skbiasamp import NumericAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.plotting import AmplificationDisplay

frame = load_compas().frame
score, race = frame["decile_score"], frame["race"]
X = frame[["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]]
X = X.assign(felony=(frame["c_charge_degree"] == "F").astype(int))
with_race = X.assign(race=(race == "African-American").astype(int))


def predicted(features: pd.DataFrame) -> np.ndarray:
    """Return predictions for rows that the model was not trained on."""
    model = HistGradientBoostingRegressor(max_depth=3, max_iter=60, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(model, features, score, cv=folds))


without, known = predicted(X), predicted(with_race)
mean = score.mean()
overstated = known + 0.2 * np.where(race == "African-American", 1, -1)

# %%
# Means of both groups
# --------------------
# Means have the unit of the score. The value and its interval are in standard deviations of the
# score, of which one is 2.8.

auditor = NumericAuditor().fit(score, sensitive_features=race)
results = {
    name: auditor.audit(score, y_pred, sensitive_features=race)
    for name, y_pred in (
        ("without race", without),
        ("with race", known),
        ("overstated", overstated),
    )
}
means = pd.concat({name: result.table.set_index("group") for name, result in results.items()})
print(means[["base", "observed", "delta", "amplification", "low", "high"]].round(3).to_string())
for name, result in results.items():
    print(f"\n{name}: {result.sentence}")

# %%
# The picture of pairs, for the model without race: both groups move towards the mean.

figure, ax = plt.subplots(figsize=(4.4, 2.4), layout="constrained")
AmplificationDisplay.from_result(results["without race"], ax=ax)
ax.set_title("the model without race")
plt.show()

# %%
# What the report adds
# --------------------
# Predictions vary less than scores, and the report says so.

report = skbiasamp.audit(score, without, sensitive_features=race, auditor=NumericAuditor())
for finding in report.findings:
    print(f"{finding.topic}: {finding.text}")

# %%
# Every threshold
# ---------------
# Cut scores and predictions at a threshold: the share of each group above it changes. Over all
# thresholds, the area of these changes is the change of the mean.

thresholds = np.unique(np.concatenate([score, without]))
areas = {}
for group in ("African-American", "Caucasian"):
    own = (race == group).to_numpy()
    change = np.array([(without[own] > c).mean() - (score[own] > c).mean() for c in thresholds])
    areas[group] = float((change[:-1] * np.diff(thresholds)).sum())

changes = results["without race"].table.set_index("group")["delta"]
print(pd.DataFrame({"area over all thresholds": areas, "change of the mean": changes}).round(12))
