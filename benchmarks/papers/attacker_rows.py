"""
How many rows an attacker needs
===============================

Leakage is the quality of an attacker, so a weak attacker finds less than there is. Wang et al.
(2019, Table 2) train attackers of several sizes, and the largest on a part of the rows: except for
one layer, results differ by no more than 2 percentage points. Here attackers predict the colour of
a digit from the scores that a classifier gives to the ten digits.

**Result:** with a quarter of the rows, the linear attacker is as good as with all of them. A random
forest needs three quarters, and is then within 1 percentage point of it.
"""

# %%
# A model, and what it reveals
# ----------------------------
# Three in four even digits are red, and three in four odd ones are green. Colour and digits are
# noisy. The classifier is trained on one half of the rows, and the attackers see its scores of the
# other half.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    LearningCurveDisplay,
    ShuffleSplit,
    learning_curve,
    train_test_split,
)

from skbiasamp import LeakageAuditor
from skbiasamp.datasets import load_colored_digits

digits = load_colored_digits(correlation=0.75, random_state=0)
X = digits.data + 0.5 * np.random.default_rng(0).normal(size=digits.data.shape)
X, X_test, y, y_test, _, color = train_test_split(
    X, digits.target, digits.sensitive, train_size=0.4, random_state=0
)
model = LogisticRegression(max_iter=1000).fit(X, y)
scores = model.decision_function(X_test)

# %%
# Learning curves of attackers
# ----------------------------
# An attacker is a classifier of scikit-learn, so its learning curve is one too. Each point is a
# mean over ten random splits; the band is one standard deviation.

attackers = {
    "linear": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(random_state=0),
}
how = {
    "train_sizes": [0.1, 0.25, 0.5, 0.75, 1.0],
    "cv": ShuffleSplit(10, test_size=0.3, random_state=0),
    "scoring": "balanced_accuracy",
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
curves = {}
for name, attacker in attackers.items():
    sizes, _, quality = learning_curve(attacker, scores, color, **how)
    curves[name] = pd.Series(100 * quality.mean(axis=1), sizes)
    LearningCurveDisplay(
        train_sizes=sizes, train_scores=quality, test_scores=quality, score_name="balanced accuracy"
    ).plot(ax=ax, score_type="test")
    ax.lines[-1].set_label(name)
ax.axhline(0.5, color="0.6", linewidth=1)
ax.set(title="Quality of attackers on other rows", xlabel="training rows of the attacker")
ax.legend()
plt.show()
print(pd.DataFrame(curves).round(1))

# %%
# Leakage with either attacker
# ----------------------------
# An audit trains both attackers in five folds, so on four fifths of the rows. If the curve still
# rises there, the value is a lower bound. Random labels as accurate as the model hide colours in
# the same way for both attackers.

for name, attacker in attackers.items():
    auditor = LeakageAuditor(attacker=attacker, n_draws=5, random_state=0)
    result = auditor.audit(y_test, model.predict(X_test), y_score=scores, sensitive_features=color)
    print(f"{name:13} {result.value:+.3f} [{result.low:+.3f}, {result.high:+.3f}]")
