"""
Feedback loops
==============

The predictions of a model become the labels that its successor learns from. Does bias amplification
accumulate over generations?

**What to look at:** a calibrated model that draws its labels from its probabilities stays near
zero (Taori & Hashimoto 2023). A model that predicts the likelier class amplifies at once. Naive
Bayes, which is too sure of itself, amplifies more in each generation.
"""

# %%
# Labels that a logistic model draws
# ----------------------------------
# A logistic regression is then calibrated. Both groups have the same features.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skbiasamp.monitoring import feedback_audit
from skbiasamp.plotting import FeedbackDisplay

rng = np.random.default_rng(0)
group = rng.random(6000) < 0.4
x = rng.normal(size=(6000, 3))
score = 0.8 * x[:, 0] + 0.5 * x[:, 1] + np.where(group, -0.9, 0.3) - 0.3
y = (rng.random(6000) < 1 / (1 + np.exp(-score))).astype(int)
X = np.column_stack([x, group])

# %%
# Eight generations
# -----------------
# People label half of the training rows in each generation. The model labels the others.

loop = {"sensitive_features": group, "generations": 8, "n_runs": 4, "random_state": 0}
results = {
    "logistic regression, sampled labels": feedback_audit(
        LogisticRegression(), X, y, labels="sample", **loop
    ),
    "logistic regression, predicted labels": feedback_audit(LogisticRegression(), X, y, **loop),
    "naive Bayes, predicted labels": feedback_audit(GaussianNB(), X, y, **loop),
}
for name, result in results.items():
    print(f"{name}: {result.sentence}\n")
FeedbackDisplay.from_results(results)
plt.show()

# %%
# How much do people help?
# ------------------------
# The more labels people give, the less accumulates.

shares = {
    f"{share:.0%} of the labels from people": feedback_audit(
        GaussianNB(), X, y, human_share=share, **loop
    )
    for share in (0.2, 0.5, 0.8)
}
FeedbackDisplay.from_results(shares)
plt.show()
