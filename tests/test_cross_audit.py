"""Cross-audits at their edges: labels that are equal between groups, a single halving."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import cross_audit


@pytest.fixture(scope="module")
def audit_of_balanced_labels():
    """Return a cross-audit whose interval is above 0 though features know nothing of the group."""
    rng = np.random.default_rng(3)
    group, y = np.repeat([0, 1], 200), np.tile([0, 1], 200)
    X = rng.normal(size=(400, 3))
    X[:, 0] += y
    return cross_audit(LogisticRegression(), X, y, sensitive_features=group, random_state=3)


def test_a_limit_judges_the_changes_where_labels_are_balanced(audit_of_balanced_labels):
    report = audit_of_balanced_labels
    assert report.low > 0.001
    assert report.facts.verdict == "no clear effect"
    (check,) = report.gate(0.001).checks
    (result,) = report.results.values()
    largest = result.table["change"].abs().max()
    assert abs(check.value) == pytest.approx(largest)
    assert check.low < 0 < check.high
    assert check.outcome == "inconclusive"


def test_one_halving_is_refused():
    with pytest.raises(ValueError, match="n_halvings must be 0, or 2 or more"):
        cross_audit(
            LogisticRegression(), [[0]] * 8, [0, 1] * 4, sensitive_features=[0] * 8, n_halvings=1
        )


def test_an_outcome_that_nobody_labelled_is_refused_before_any_training():
    class Untrained(LogisticRegression):
        def fit(self, *args, **kwargs):
            raise AssertionError("it was trained")

    with pytest.raises(ValueError, match="favourable must name a class or task; got 'paid'"):
        cross_audit(
            Untrained(), [[0]] * 8, ["no", "yes"] * 4, sensitive_features=[0, 1] * 4,
            favourable="paid",
        )  # fmt: skip
