"""How many rows an attacker needs, on digits: the question of Table 2 of Wang et al. (2019).

Leakage is the quality of an attacker, so a weak attacker finds less than there is. The paper trains
attackers of several sizes, and the largest on a part of the rows: except for one layer, results
differ by no more than 2 percentage points. Here attackers predict the colour of a digit from the
scores that a classifier gives to the ten digits.

Result: with a quarter of the rows, the linear attacker is as good as with all of them. A random
forest needs three quarters, and is then within 1 percentage point of it.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, learning_curve, train_test_split

from skbiasamp.datasets import load_colored_digits

# Three in four even digits are red, three in four odd ones green; colour and digits are noisy.
digits = load_colored_digits(correlation=0.75, random_state=0)
X = digits.data + 0.5 * np.random.default_rng(0).normal(size=digits.data.shape)
X, X_test, y, y_test, _, color = train_test_split(
    X, digits.target, digits.sensitive, train_size=0.4, random_state=0
)
model = LogisticRegression(max_iter=1000).fit(X, y)
scores = model.decision_function(X_test)

attackers = {
    "linear": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(random_state=0),
}
splits = ShuffleSplit(10, test_size=0.3, random_state=0)
how = {"train_sizes": [0.1, 0.25, 0.5, 0.75, 1.0], "cv": splits, "scoring": "balanced_accuracy"}
curves = {}
for name, attacker in attackers.items():
    sizes, _, quality = learning_curve(attacker, scores, color, **how)
    curves[name] = pd.Series(100 * quality.mean(axis=1), sizes)
print(pd.DataFrame(curves).round(1))
