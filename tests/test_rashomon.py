"""Sets of equally good models, against a set that can be enumerated, and under a null."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import AuditedClassifier, DirectionalAuditor
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import directional_amplification
from skbiasamp.mitigation import CorpusConstraintClassifier
from skbiasamp.model_selection import audit_rashomon

RNG = np.random.default_rng(0)
N = 600
GROUP = RNG.integers(0, 2, N)
X = RNG.normal(size=(N, 2)) + 0.5 * GROUP[:, None] * [1, 0]
Y = (X.sum(axis=1) + RNG.normal(size=N) > 0.5).astype(int)
QUICK = DirectionalAuditor(interval="analytic")
BY = {"sensitive_features": GROUP, "auditor": QUICK, "random_state": 0}
CUTS = [-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0]


class Cut(ClassifierMixin, BaseEstimator):
    """Who is above a cut; `extra` is added for the second group. It learns nothing."""

    def __init__(self, cut=0.0, extra=0.0):
        self.cut = cut
        self.extra = extra

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        X = np.asarray(X)
        group = X[:, 2] if X.shape[1] > 2 else 0
        return (X[:, 0] + X[:, 1] + self.extra * group > self.cut).astype(int)


def test_the_range_is_that_of_an_enumerated_set():
    """Seven models that learn nothing: all of them, and which are good, are known."""
    splits = [np.arange(i, N, 3) for i in range(3)]
    test, scored, train = splits
    result = audit_rashomon(
        Cut(),
        X,
        Y,
        tolerance=0.05,
        n_models=7,
        param_distributions={"cut": CUTS},
        bootstrap=False,
        cv=[(np.setdiff1d(np.arange(N), fold), fold) for fold in splits],
        **BY,
    )
    table = result.table.set_index("cut").loc[CUTS]
    predicted = {cut: Cut(cut).predict(X) for cut in CUTS}
    scores = [(predicted[cut] == Y)[scored].mean() for cut in CUTS]
    values = [
        directional_amplification(
            Y[test],
            predicted[cut][test],
            sensitive_features=GROUP[test],
            y_train=Y[train],
            sensitive_train=GROUP[train],
        )
        for cut in CUTS
    ]
    assert_allclose(table["score"], scores)
    assert_allclose(table["value"], values)
    good = np.array(scores) >= max(scores) - 0.05
    assert 2 < good.sum() < 7
    assert table["good"].tolist() == good.tolist()
    (row,) = result.classes.to_dict("records")
    # With two groups and training labels the estimate is the value.
    assert_allclose([row["lowest"], row["highest"]], [*np.sort(np.array(values)[good])[[0, -1]]])
    above = (np.array(values)[good] > 0).sum()
    assert row["share_above"] == above / good.sum()
    ends = stats.binomtest(int(above), int(good.sum())).proportion_ci(method="wilson")
    assert_allclose([row["share_low"], row["share_high"]], ends)
    fitted = DirectionalAuditor(interval="analytic").fit(Y[train], sensitive_features=GROUP[train])
    runs = [predicted[cut][test] for cut in table.index[good]]
    mean = fitted.audit_runs(Y[test], runs, sensitive_features=GROUP[test])
    assert_allclose([row[key] for key in ("estimate", "low", "high")], [*_ends(mean)])
    assert result.comparison is None
    assert f"{good.sum()} of 7 models of 'Cut' score within 0.05 of the best" in result.sentence
    assert f"between {row['lowest']:+.4f} and {row['highest']:+.4f}".replace("-", "−") in (
        result.sentence
    )


def _ends(result):
    return result.estimate, result.low, result.high


def test_two_classes_that_are_the_same_seldom_differ():
    """At most 5 % + 2.5 standard errors of 40 data sets; a good share of models is left out."""
    differ = left_out = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, 300)
        features = np.column_stack([rng.normal(size=300), group])
        labels = (features.sum(axis=1) + rng.normal(size=300) > 0.5).astype(int)
        result = audit_rashomon(
            {name: DecisionTreeClassifier(max_depth=2) for name in "ab"},
            features,
            labels,
            sensitive_features=group,
            auditor=QUICK,
            tolerance=0.05,
            n_models=4,
            random_state=seed,
        )
        left_out += (~result.table["good"]).sum()
        if result.comparison is not None:
            differ += result.comparison.verdict("b") != "no clear difference"
    assert differ / 40 <= 0.05 + 2.5 * (0.05 * 0.95 / 40) ** 0.5
    assert left_out > 40


def test_a_class_that_amplifies_more_is_found():
    features = np.column_stack([X, GROUP])
    classes = {"plain": Cut(0.5), "for the second": Cut(0.9, extra=1.0)}
    drawn = {"plain": {"cut": [0.45, 0.5, 0.55]}, "for the second": {"cut": [0.85, 0.9, 0.95]}}
    result = audit_rashomon(
        classes, features, Y, param_distributions=drawn, tolerance=1, n_models=6, **BY
    )
    assert result.comparison.verdicts == {"for the second": "amplifies more"}
    assert "'for the second' amplifies more than 'plain'" in result.sentence
    # Of three settings each is drawn twice, and of the other class none.
    assert result.table.groupby("model")["cut"].nunique().tolist() == [3, 3]
    assert "for the second" in repr(result)


def test_a_class_without_good_models_is_said_and_not_compared():
    classes = {"tree": DecisionTreeClassifier(max_depth=3), "never": Cut(100.0)}
    result = audit_rashomon(classes, X, Y, n_models=4, tolerance=0.1, **BY)
    assert result.comparison is None
    assert set(result.means) == {"tree"}
    assert "No model of 'never' scores within 0.1 of the best." in result.sentence
    assert result.classes.set_index("model").loc["never", ["lowest", "estimate"]].isna().all()


def test_draws_are_those_of_the_seed_whatever_the_jobs():
    forest = DecisionTreeClassifier(max_depth=4, max_features=1)
    how = {
        "n_models": 6,
        "tolerance": 0.1,
        "param_distributions": {"max_depth": stats.randint(2, 6)},
    }
    first = audit_rashomon(forest, X, Y, **how, **BY)
    with parallel_config("threading"):
        jobs = audit_rashomon(forest, X, Y, **how, n_jobs=2, **BY)
    assert_frame_equal(jobs.to_frame(), first.table)
    other = audit_rashomon(forest, X, Y, **how, **BY | {"random_state": 1})
    assert not first.table["estimate"].equals(other.table["estimate"])
    # Without resampled rows and free seeds, models are equal.
    fixed = DecisionTreeClassifier(max_depth=4, max_features=1, random_state=0)
    same = audit_rashomon(fixed, X, Y, n_models=3, bootstrap=False, **BY)
    assert same.table["estimate"].nunique() == 1
    assert audit_rashomon(forest, X, Y, n_models=3, bootstrap=False, **BY).table[
        "estimate"
    ].nunique() > 1  # fmt: skip


def test_frames_predicted_groups_several_tasks_and_clusters():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(sex=np.where(GROUP, "f", "m"))
    columns = AuditedClassifier(
        DecisionTreeClassifier(max_depth=3),
        auditor=DirectionalAuditor("T->A", interval="analytic"),
        sensitive="sex",
        drop_sensitive=True,
        sensitive_estimator=LogisticRegression(),
    )
    result = audit_rashomon(
        {"a": columns, "b": columns},
        frame,
        Y,
        tolerance=1,
        n_models=3,
        cv=GroupKFold(3),
        groups=np.arange(N) // 4,
        random_state=0,
    )
    assert (result.comparison.direction, result.comparison.n_samples) == ("T->A", N // 3)
    both = np.column_stack([Y, X[:, 0] > 0]).astype(int)
    tasks = audit_rashomon(DecisionTreeClassifier(max_depth=3), X, both, n_models=3, **BY)
    assert len(tasks.means["DecisionTreeClassifier"].table) == 4


def test_a_mitigation_gets_the_groups_of_the_rows_that_it_predicts():
    constrained = CorpusConstraintClassifier(LogisticRegression())
    result = audit_rashomon(
        {"plain": LogisticRegression(), "constrained": constrained},
        X,
        Y,
        n_models=3,
        tolerance=0.2,
        **BY,
    )
    assert result.classes["n_good"].tolist() == [3, 3]


def test_without_an_interval_the_sentence_has_no_ends():
    auditor = DirectionalAuditor(interval=None)
    result = audit_rashomon(Cut(0.5), X, Y, n_models=3, **BY | {"auditor": auditor})
    assert "nan" not in result.sentence
    assert result.sentence.count("confidence interval") == 1  # of the share of models


def test_a_warning_is_at_the_line_of_the_caller():
    labels = np.where(RNG.random(N) < 0.5, 1, 0)  # no association with the group
    with pytest.warns(UncertaintyWarning, match="weakly correlated") as seen:
        audit_rashomon(LogisticRegression(), X, labels, n_models=2, tolerance=1, **BY)
    assert {warning.filename for warning in seen} == {__file__}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 2}, "cv must make three folds or more"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "which share no test rows"),
        ({"auditor": [QUICK, QUICK]}, "auditor must be one auditor; got a list of 2"),
        ({"sensitive_features": None}, "audit_rashomon needs the sensitive feature"),
        ({"tolerance": -0.1}, "'tolerance' parameter of audit_rashomon must be a float"),
        ({"n_models": 1}, "'n_models' parameter of audit_rashomon must be an int"),
        ({"scoring": ["accuracy"]}, "'scoring' parameter of audit_rashomon must be an instance"),
    ],
)
def test_what_cannot_be_done_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        audit_rashomon(Cut(), X, Y, **BY | options)


def test_parameters_are_of_named_classes():
    with pytest.raises(ValueError, match=r"param_distributions must be .* got 'cut'"):
        audit_rashomon({"a": Cut(), "b": Cut()}, X, Y, param_distributions={"cut": CUTS}, **BY)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        audit_rashomon(Cut(), X, Y, param_distributions={"depth": [1]}, **BY)


def test_parameters_have_the_names_that_the_estimator_gives_them():
    audited = AuditedClassifier(Cut(), sensitive=2, drop_sensitive=True)
    features, how = np.column_stack([X, GROUP]), {"n_models": 7, "random_state": 0}
    drawn = audit_rashomon(
        audited, features, Y, param_distributions={"estimator__cut": CUTS}, **how
    ).table
    assert set(drawn["estimator__cut"]) == set(CUTS)
    alone = audit_rashomon(Cut(), X, Y, param_distributions={"cut": CUTS}, **BY | how).table
    assert drawn["value"].tolist() == alone["value"].tolist()
    with pytest.raises(ValueError, match="Invalid parameter 'cut' for estimator AuditedClassifier"):
        audit_rashomon(audited, features, Y, param_distributions={"cut": CUTS}, **how)
