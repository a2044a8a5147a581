"""scikit-learn's own checks of estimators, with metadata routing off and on."""

from importlib import import_module
from importlib.util import find_spec

import pytest
import sklearn
from discovery import failed_checks, what_routing_changes
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skbiasamp import AuditedClassifier, BaseRateThresholdClassifier

# Every entry is a check that cannot hold, and why.
EXPECTED_FAILED_CHECKS = {
    "BaseRateThresholdClassifier": {
        "check_classifiers_train": (
            "wants predictions that are the sign of decision_function; the threshold is elsewhere"
        ),
    },
}

# Requests made before imbalanced-learn is imported are lost when it is (seen with 0.14.2): it adds
# a method to scikit-learn's list, which they then lack.
if find_spec("imblearn") is not None:
    import_module("imblearn.base")

with sklearn.config_context(enable_metadata_routing=True):
    # Under routing, weights go where they are asked for.
    ROUTED = LogisticRegression().set_fit_request(sample_weight=True)
    ROUTED = ROUTED.set_score_request(sample_weight=True)


def expected_failed(estimator):
    return EXPECTED_FAILED_CHECKS.get(type(estimator).__name__, {})


# The checks know of no sensitive features.
pytestmark = pytest.mark.filterwarnings("ignore:.* was fitted without the sensitive feature")


# Three folds, since some of the checks have few rows.
@pytest.mark.parametrize(
    "estimator",
    [
        AuditedClassifier(LogisticRegression()),
        BaseRateThresholdClassifier(LogisticRegression(), cv=3),
    ],
    ids=str,
)
def test_scikit_learns_checks(estimator):
    assert failed_checks(estimator, expected_failed(estimator)) == {}


@what_routing_changes(
    parametrize_with_checks(
        [AuditedClassifier(ROUTED), BaseRateThresholdClassifier(ROUTED, cv=3)],
        expected_failed_checks=expected_failed,
    )
)
def test_scikit_learns_checks_under_metadata_routing(estimator, check):
    with sklearn.config_context(enable_metadata_routing=True):
        check(estimator)
