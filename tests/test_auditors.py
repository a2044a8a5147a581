"""Auditors are scikit-learn estimators, and their results can be kept, shown and sent."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, cross_validate

from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.testing import check_auditor

# A quarter of the women and half of the men are hired; the model hires no woman.
SEX = ["f"] * 4 + ["m"] * 4
HIRED = [1, 0, 0, 0, 1, 1, 0, 0]
PREDICTED = [0, 0, 0, 0, 1, 1, 1, 0]
SEX_PREDICTED = ["m", "f", "f", "f", "m", "m", "f", "m"]

AUDITORS = {
    "MALS": MALSAuditor(),
    "A->T": DirectionalAuditor(),
    "T->A": DirectionalAuditor("T->A", ties="negative", base="train"),
    "own base": DirectionalAuditor(base=pd.DataFrame({1: [0.1, 0.6]}, index=["f", "m"])),
    "multi A->T": MultiAttributeAuditor(),
    "multi T->A": MultiAttributeAuditor("T->A", combinations="all", max_size=2),
    "multi MALS": MultiAttributeAuditor(None),
}
every_auditor = pytest.mark.parametrize("auditor", AUDITORS.values(), ids=AUDITORS)


def fitted(auditor):
    return clone(auditor).fit(HIRED, sensitive_features=SEX)


def audited(auditor):
    return auditor.audit(HIRED, PREDICTED, sensitive_features=SEX, sensitive_pred=SEX_PREDICTED)


@pytest.mark.parametrize("name", sorted(set(AUDITORS) - {"own base"}))  # it has groups of its own
def test_an_auditor_keeps_its_promises_with_every_option(name):
    check_auditor(clone(AUDITORS[name]))


@every_auditor
def test_an_auditor_remembers_what_it_has_seen_and_forgets_what_it_saw_before(auditor):
    auditor = clone(auditor).fit([0, 0, 1, 1], sensitive_features=list("fmfm"))
    auditor.fit(HIRED, sensitive_features=SEX)
    assert auditor.groups_ == ["f", "m"]
    assert auditor.tasks_ == [1]
    assert auditor.n_samples_fit_ == 8
    assert isinstance(auditor.n_samples_fit_, int)
    assert auditor.fewest_rows == 1
    assert auditor.contingency_ == Contingency.from_labels(HIRED, sensitive_features=SEX)
    assert auditor.base_rates_.index.tolist() == auditor.y_at_.index.tolist() == ["f", "m"]
    of_sets = isinstance(auditor, MultiAttributeAuditor)
    assert auditor.y_at_.columns.tolist() == ([(1,)] if of_sets else [1])
    # A sign, or the lean of MALS.
    assert auditor.y_at_.to_numpy().ravel().tolist() == [0 if auditor.direction is None else -1, 1]
    assert not [name for name in vars(clone(auditor)) if name.endswith("_")]


def test_signs_of_own_rates_compare_with_their_mean_over_rows():
    """Of 10, 30 and 60 rows the mean is 31.5 %; the mean of the three rates would be 48.3 %."""
    sex = ["a"] * 10 + ["b"] * 30 + ["c"] * 60
    for direction, rates, signs in (
        ("A->T", [0.9, 0.35, 0.2], [1, 1, -1]),
        # In the other direction a rate is compared with the share of its group: 10, 30 and 60 %.
        ("T->A", [0.05, 0.35, 0.6], [-1, 1, 0]),
    ):
        own = pd.DataFrame({1: rates}, index=["a", "b", "c"])
        auditor = DirectionalAuditor(direction, base=own).fit([0, 1] * 50, sensitive_features=sex)
        assert auditor.y_at_[1].tolist() == signs
    own = pd.DataFrame({1: [0, -1]}, index=["f", "m"])
    assert fitted(DirectionalAuditor(sign=own)).y_at_[1].tolist() == [0, -1]


def test_a_group_without_rows_is_undefined_and_left_out():
    auditor = DirectionalAuditor().fit([*HIRED, 1, 0, 1], sensitive_features=[*SEX, *"xxx"])
    with pytest.warns(UndefinedMetricWarning, match=r"rows for group 'x': its pair is NaN"):
        result = audited(auditor)
    table = result.table.set_index("group")
    assert math.isnan(table.loc["x", "delta"])
    assert table.loc["x", "n"] == 0
    assert float(result) == pytest.approx((0.25 * 1 + 0.25 * -1 * -1) / 2)


def test_one_warning_names_what_is_undefined():
    jobs = ["cook", "clerk", "nurse", "clerk"] * 2
    auditor = DirectionalAuditor("T->A", interval=None).fit(jobs, sensitive_features=SEX)
    clerks = [job.replace("nurse", "clerk") for job in jobs]
    message = r"^no audited rows for task 'nurse': its 2 pairs are NaN and are left out of"
    with pytest.warns(UndefinedMetricWarning, match=message) as caught:
        result = auditor.audit(clerks, sensitive_features=SEX, sensitive_pred=SEX)
    assert [one.filename for one in caught] == [__file__]  # it points at the user's line
    undefined = result.table.set_index("task")["delta"].isna()
    assert undefined[undefined].index.unique().tolist() == ["nurse"]
    labels, guesses = (np.column_stack([one, PREDICTED]) for one in (HIRED, [0] * 8))
    auditor = fitted(MALSAuditor(interval=None))
    with pytest.warns(UndefinedMetricWarning, match=r"and so is the value\.$"):
        assert math.isnan(auditor.audit(HIRED, [0] * 8, sensitive_features=SEX).value)
    auditor.fit(labels, sensitive_features=SEX)
    message = r"^no predicted rows for task 0: its 2 pairs are NaN and count as 0\.$"
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert auditor.audit(labels, guesses, sensitive_features=SEX).value == 0


def test_sets_that_no_rows_have_are_named_and_have_no_value():
    with pytest.warns(UndefinedMetricWarning, match="no set of tasks occurs often enough"):
        result = audited(fitted(MultiAttributeAuditor(min_size=2)))
    assert math.isnan(float(result))
    assert json.loads(result.to_json(indent=2))["value"] is None
    assert "NaN" not in result.to_json()


def test_a_scorer_of_scikit_learn_routes_the_groups(routing):
    """DESIGN: score has the signature of a metric, so make_scorer and cross_validate take it."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 300)
    x = np.column_stack([rng.normal(size=300), sex + rng.normal(size=300)])
    y = (x.sum(axis=1) + rng.normal(size=300) > 0.5).astype(int)
    auditor = DirectionalAuditor().fit(y, sensitive_features=sex)
    scorer = make_scorer(auditor.score, greater_is_better=False)
    scorer = scorer.set_score_request(sensitive_features=True)
    how = {"cv": KFold(3), "scoring": scorer, "params": {"sensitive_features": sex}}
    found = cross_validate(LogisticRegression(), x, y, **how)["test_score"]
    expected = []
    for train, test in KFold(3).split(x):
        predicted = LogisticRegression().fit(x[train], y[train]).predict(x[test])
        expected.append(-auditor.score(y[test], predicted, sensitive_features=sex[test]))
    assert_allclose(found, expected, atol=1e-12)
    assert np.abs(found).min() > 0


@pytest.mark.parametrize(
    ("auditor", "given"),
    [
        (DirectionalAuditor(), "group"),
        (DirectionalAuditor("T->A"), "task"),
        (MALSAuditor(), "task"),
        (MultiAttributeAuditor("A->T"), "group"),
        (MultiAttributeAuditor(None), "task"),
    ],
    ids=repr,
)
def test_base_rates_are_what_the_metric_compares_with(auditor, given):
    group, labels = np.repeat(["a", "b"], 4), np.array([[1, 0], [1, 1], [0, 1], [1, 1]] * 2)
    labels[5] = 0
    auditor.fit(labels, sensitive_features=group)
    assert auditor.y_at_.shape == auditor.base_rates_.shape
    several = "Multi" in type(auditor).__name__
    has = labels.all(axis=1) if several else labels[:, 0] == 1
    rates = auditor.base_rates_[[(0, 1) if several else 0]].iloc[:, 0].to_dict()
    expected = {
        name: has[group == name].mean() if given == "group" else (group[has] == name).mean()
        for name in "ab"
    }
    assert rates == pytest.approx(expected)
