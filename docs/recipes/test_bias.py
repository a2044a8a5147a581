"""A test of a model: it fails if the model amplifies the bias of its training data."""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import skbiasamp
from skbiasamp.datasets import load_compas
from skbiasamp.testing import assert_amplification


def test_the_model_does_not_amplify():
    # Replace these lines by your data and your model.
    data = load_compas()
    X, X_test, y, y_test, race, race_test = train_test_split(
        data.data, data.target, data.sensitive_features, test_size=0.5, random_state=0
    )
    model = LogisticRegression(max_iter=1000).fit(X, y)
    report = skbiasamp.audit(
        y_test,
        model.predict(X_test),
        sensitive_features=race_test,
        y_train=y,
        sensitive_train=race,
        auditor=[skbiasamp.DirectionalAuditor()],
    )
    # What the model adds or takes lies within ±10 percentage points. Choose your own limit.
    assert_amplification(report, limit=0.1)
