"""Thresholds whose amplification is within a limit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer

from skbiasamp import DirectionalAuditor
from skbiasamp.mitigation import AmplificationThresholdClassifier


def world(n, seed=0):
    """Return features and labels; skill goes with the group, and scores exaggerate that."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n)})
    X["skill"] = rng.normal(X["sex"] == "m", 1)
    return X, (X["skill"] + rng.normal(0, 1.5, n) > 1).to_numpy().astype(int)


def amplification(y, predicted, sex):
    """Return A→T for the association of men with the label, by its definition."""
    rise = [(predicted[sex == group] - y[sex == group]).mean() for group in "fm"]
    return (rise[1] - rise[0]) / 2


def fitted(X, y, **options):
    inner = LogisticRegression().fit(X[["skill"]], y)
    model = AmplificationThresholdClassifier(inner, cv="prefit", **options)
    return model.fit(X[["skill"]], y, sensitive_features=X["sex"]), inner


@pytest.mark.parametrize(
    ("scoring", "measure"),
    [
        ("accuracy", accuracy_score),
        (make_scorer(fbeta_score, beta=2), lambda *labels: fbeta_score(*labels, beta=2)),
    ],
    ids=["accuracy", "a scorer"],
)
def test_no_threshold_within_the_limit_has_a_better_score(scoring, measure):
    X, y = world(100)
    model, inner = fitted(X, y, limit=0.05, scoring=scoring)
    scores = inner.predict_proba(X[["skill"]])[:, 1]
    decisions = [(scores >= t).astype(int) for t in (*np.unique(scores), 2)]
    sizes = [abs(amplification(y, one, X["sex"])) for one in decisions]
    best = max(measure(y, d) for d, size in zip(decisions, sizes, strict=True) if size <= 0.05)
    predicted = model.predict(X[["skill"]])
    assert measure(y, predicted) == best
    assert abs(amplification(y, predicted, X["sex"])) <= 0.05
    assert model.thresholds_["f"] == model.thresholds_["m"]
    if scoring == "accuracy":  # its interval is that of a share
        model, _ = fitted(*world(2000))
        reach = 1.959964 * np.sqrt(model.score_ * (1 - model.score_) / 2000)
        assert_allclose(
            model.score_interval_, (model.score_ - reach, model.score_ + reach), rtol=1e-3
        )


def test_the_limit_is_one_of_the_value():
    """What is predicted more often for everybody changes the published value of three groups."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m", "x"], 3000, p=[0.45, 0.45, 0.1])
    skill = rng.normal(np.select([sex == "m", sex == "x"], [1.0, 0.4], 0.0), 1)
    y = (skill + rng.normal(0, 1.5, 3000) > 0.5).astype(int)
    X = pd.DataFrame({"skill": skill})
    inner = LogisticRegression().fit(X, y)
    auditor = DirectionalAuditor().fit(y, sensitive_features=sex)
    for by_group in (False, True):
        # F2 wants far more positives than there are.
        how = {"limit": 0.02, "scoring": make_scorer(fbeta_score, beta=2), "by_group": by_group}
        model = AmplificationThresholdClassifier(inner, cv="prefit", **how)
        model.fit(X, y, sensitive_features=sex)
        own = {"sensitive_features": sex} if by_group else {}
        result = auditor.audit(y, model.predict(X, **own), sensitive_features=sex)
        assert abs(result.value) <= 0.02
        assert abs(result.value - result.published) > 0.04
        # The sign of the third group is open: the interval is that of an audit of these rows.
        rows = DirectionalAuditor(reference="test")
        result = rows.audit(y, model.predict(X, **own), sensitive_features=sex)
        low, high = model.amplification_interval_
        assert 1 <= (high - low) / (result.high - result.low) < 1.02
        assert model.amplification_ == pytest.approx(result.value, abs=0.01)


def test_thresholds_by_group_cost_less():
    X, y = world(3000)
    one, _ = fitted(X, y, limit=0.01)
    two, _ = fitted(X, y, limit=0.01, by_group=True)
    predicted = two.predict(X[["skill"]], sensitive_features=X["sex"])
    assert abs(amplification(y, predicted, X["sex"])) <= 0.01
    assert accuracy_score(y, predicted) > one.score(X[["skill"]], y) + 0.01
    assert two.score(X[["skill"]], y, sensitive_features=X["sex"]) == accuracy_score(y, predicted)
    with pytest.raises(ValueError, match="needs the sensitive feature in predict"):
        two.predict(X[["skill"]])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.8])
@pytest.mark.parametrize("by_group", [False, True])
def test_intervals_of_chosen_thresholds_cover_new_rows(noise, by_group):
    """Also if hardly any decision is wrong.

    The errors of the rows at hand alone cover none of them without noise, and half with some; with
    more, held-out decisions say how far the choice goes beyond the limit.
    """
    rng, covered = np.random.default_rng(0), []

    def drawn(n):
        X = pd.DataFrame({"sex": rng.choice(["f", "m"], n)})
        X["skill"] = rng.normal((X["sex"] == "m") / 2 - 0.25, 1)
        return X, (X["skill"] + noise * rng.normal(size=n) > 0).astype(int)

    X_new, y_new = drawn(50_000)
    for _ in range(30):
        X, y = drawn(120)
        model, _ = fitted(X, y, by_group=by_group)
        predicted = model.predict(X_new[["skill"]], sensitive_features=X_new["sex"])
        sign = np.sign(y[X["sex"] == "m"].mean() - y[X["sex"] == "f"].mean())
        truths = (
            sign * amplification(y_new, predicted, X_new["sex"]),
            accuracy_score(y_new, predicted),
        )
        ends = np.array([model.amplification_interval_, model.score_interval_])
        covered.append((ends[:, 0] <= truths) & (truths <= ends[:, 1]))
    assert (np.mean(covered, axis=0) >= (0.8 if noise == 0.8 else 0.88)).all()


def test_the_nearest_threshold_is_taken_if_none_is_within_the_limit():
    X, y = world(500)
    scores = (X["sex"] == "m").to_numpy(float)[:, None]  # nothing but the group
    inner = LogisticRegression().fit(scores, y)
    taken = r"within ±0\.001: the nearest one, 0\.\d+, is taken\. Raise limit"
    for by_group, step in ((True, r"\.$"), (False, r", or .* each group \(by_group=True\)\.$")):
        model = AmplificationThresholdClassifier(inner, cv="prefit", limit=0.001, by_group=by_group)
        with pytest.warns(UserWarning, match=taken + step):
            model.fit(scores, y, sensitive_features=X["sex"])
    sizes = [abs(amplification(y, np.full(500, c), X["sex"])) for c in (0, 1)]
    assert abs(amplification(y, model.predict(scores), X["sex"])) == min(sizes)


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("rest", [1, 0])
def test_a_weight_of_two_is_a_row_given_twice(rest, by_group):
    X, y = world(400)
    inner = LogisticRegression().fit(X[["skill"]], y)
    weight = np.where(np.arange(400) % 3 < 2, 2, rest)
    rows = np.repeat(np.arange(400), weight)
    weighted, repeated = (
        AmplificationThresholdClassifier(inner, cv="prefit", by_group=by_group) for _ in range(2)
    )
    weighted.fit(X[["skill"]], y, sensitive_features=X["sex"], sample_weight=weight)
    repeated.fit(X[["skill"]].iloc[rows], y[rows], sensitive_features=X["sex"].iloc[rows])
    assert_array_equal(weighted.thresholds_, repeated.thresholds_)


def test_what_it_cannot_do_it_refuses():
    X, y = world(60)
    X, sex = X[["skill"]], X["sex"]
    model = AmplificationThresholdClassifier(LogisticRegression().fit(X, 1 + y), cv="prefit")
    with pytest.raises(ValueError, match="got labels 0 and 1, and it was fitted on"):
        model.fit(X, y, sensitive_features=sex)
    model.estimator.fit(X, y).coef_[:] = np.nan
    with pytest.raises(ValueError, match=r"gives no score \(NaN\) for 60 rows"):
        model.fit(X, y, sensitive_features=sex)
    model = AmplificationThresholdClassifier(LogisticRegression(), scoring="roc_auc")
    with pytest.raises(ValueError, match=r"scoring must score decisions, .* got 'roc_auc': "):
        model.fit(X, y, sensitive_features=sex)
