"""scikit-learn's own checks of estimators, with metadata routing off and on."""

from importlib import import_module
from importlib.util import find_spec

import pytest
import sklearn
from discovery import failed_checks, what_routing_changes
from halving import halves, parity
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skbiasamp import AuditedClassifier, BaseRateThresholdClassifier, LeakageProbe
from skbiasamp.mitigation import (
    AmplificationThresholdClassifier,
    CorpusConstraintClassifier,
    DataRepair,
    DomainIndependentClassifier,
    NoiseRandomizer,
    RatioBalancer,
)

# Every entry is a check that cannot hold, and why.
ELSEWHERE = "wants predictions that are the sign of decision_function; the threshold is elsewhere"
FEW_ROWS = "draws few labels at random, and some class has rows of one group only"
EXPECTED_FAILED_CHECKS = {
    "AmplificationThresholdClassifier": {"check_classifiers_train": ELSEWHERE},
    "BaseRateThresholdClassifier": {"check_classifiers_train": ELSEWHERE},
    "CorpusConstraintClassifier": {
        "check_methods_subset_invariance": "a row's prediction depends on the rest of its batch"
    },
    "DomainIndependentClassifier": dict.fromkeys(
        (
            "check_estimators_overwrite_params",
            "check_estimators_fit_returns_self",
            "check_readonly_memmap_input",
            "check_estimators_dtypes",
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        FEW_ROWS,
    ),
}
if sklearn.__version__ == "1.7.0":
    EXPECTED_FAILED_CHECKS["NoiseRandomizer"] = {
        "check_positive_only_tag_during_fit": "it takes a mean from whole numbers in place"
    }

LINEAR = LogisticRegression()
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


def classifiers_around(inner):
    """Return classifiers that take weights; three folds, since some of the checks have few rows."""
    return [
        AuditedClassifier(inner),
        BaseRateThresholdClassifier(inner, cv=3),
        AmplificationThresholdClassifier(inner, sensitive=parity, cv=3),
        CorpusConstraintClassifier(inner, sensitive=parity),
        DomainIndependentClassifier(inner, sensitive=halves, calibration=None),
    ]


pytestmark = [
    # The checks know of no sensitive features.
    pytest.mark.filterwarnings("ignore:.* was fitted without the sensitive feature"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.parametrize(
    "estimator",
    [
        *classifiers_around(LINEAR),
        AmplificationThresholdClassifier(LINEAR, sensitive=parity, by_group=True, cv=3),
        LeakageProbe(),
        RatioBalancer(sensitive=halves, unpaired="drop", random_state=0),
        DataRepair(sensitive=halves, random_state=0),
        NoiseRandomizer(random_state=0),
    ],
    ids=str,
)
def test_scikit_learns_checks(estimator):
    assert failed_checks(estimator, expected_failed(estimator)) == {}


@what_routing_changes(
    parametrize_with_checks(classifiers_around(ROUTED), expected_failed_checks=expected_failed)
)
def test_scikit_learns_checks_under_metadata_routing(estimator, check):
    with sklearn.config_context(enable_metadata_routing=True):
        check(estimator)
