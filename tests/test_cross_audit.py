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


def test_a_report_says_who_is_worse_off_and_what_to_do_first(audit_of_balanced_labels):
    codes = [finding.code for finding in audit_of_balanced_labels.findings]
    assert codes == ["SBA118", "SBA303", "SBA601"]  # no outcome, no clear effect, no final model
    rng = np.random.default_rng(0)
    sex, skill = rng.choice(["f", "m"], 3000), rng.normal(size=3000)
    hired = np.where(skill + (sex == "m") + rng.normal(size=3000) > 0, "yes", "no")
    how = {"sensitive_features": sex, "n_halvings": 2, "random_state": 0}
    X = np.column_stack([skill, sex == "m"])
    report = cross_audit(LogisticRegression(), X, hired, favourable="yes", **how)
    assert (report.facts.who.group, report.facts.who.favourable) == ("f", "yes")
    assert [finding.code for finding in report.findings][:2] == ["SBA304", "SBA601"]
    assert "What first? Search for a mitigation" in str(report)


def test_an_outcome_that_nobody_labelled_is_refused_before_any_training():
    class Untrained(LogisticRegression):
        def fit(self, *args, **kwargs):
            raise AssertionError("it was trained")

    with pytest.raises(ValueError, match="favourable must name a class or task; got 'paid'"):
        cross_audit(
            Untrained(), [[0]] * 8, ["no", "yes"] * 4, sensitive_features=[0, 1] * 4,
            favourable="paid",
        )  # fmt: skip
