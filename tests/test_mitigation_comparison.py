"""search: the same folds for all, and nothing hidden from mitigations."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skbiasamp import (
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    cross_audit,
)
from skbiasamp.mitigation import (
    CorpusConstraintClassifier,
    DomainIndependentClassifier,
    GroupOverSampler,
    NoiseRandomizer,
    RatioBalancer,
    search,
)


def compared(X, y, sex, estimators, auditor=None, **options):
    """Search without a limit: all are trained, none is chosen. The first is the model as it is."""
    (_, first), *others = estimators.items()
    options = {"candidates": dict(others), "auditor": auditor, "limit": None, **options}
    options = {"uses_group": True, **options}
    return search(first, X, y, sensitive_features=sex, **options)


@pytest.fixture(scope="module")
def people():
    """Return features, labels and sex; height tells the sex, and skill is hardly known."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 1200)
    skill = rng.normal(size=1200)
    hired = (skill + (sex == "m") + rng.normal(0, 0.5, 1200) > 0.5).astype(int)
    height = (sex == "m") + rng.normal(0, 0.3, 1200)
    return np.column_stack([skill + rng.normal(0, 3, 1200), height]), hired, sex


def values(comparison, remedy, measure, column="value"):
    table = comparison.measures
    return table[(table["mitigation"] == remedy) & (table["measure"] == measure)][column].item()


def test_what_is_measured_is_what_happens_on_each_fold(people):
    X, y, sex = people
    splits = list(StratifiedKFold(4).split(X, y))
    estimators = {
        "none": LogisticRegression(),
        "forest": RandomForestClassifier(10, random_state=0),
    }
    comparison = compared(X, y, sex, estimators, cv=splits)
    folds = {}
    for name, estimator in estimators.items():
        rows = []
        for train, test in splits:
            y_pred = estimator.fit(X[train], y[train]).predict(X[test])
            auditor = DirectionalAuditor(interval=None).fit(y[train], sensitive_features=sex[train])
            rows.append(
                {
                    "accuracy": accuracy_score(y[test], y_pred),
                    "f1": f1_score(y[test], y_pred, average="macro"),
                    "directional A->T": auditor.score(
                        y[test], y_pred, sensitive_features=sex[test]
                    ),
                }
            )
        folds[name] = pd.DataFrame(rows)

    def interval(column):
        """Return Student's, as much wider as Nadeau and Bengio say: folds share training rows."""
        reach = stats.ttest_1samp(column, 0).confidence_interval(0.95).high - column.mean()
        reach *= np.sqrt(1 + 4 * 300 / 900)
        return [column.mean() - reach, column.mean() + reach]

    for row in comparison.measures.itertuples():
        column = folds[row.mitigation][row.measure]
        assert row.value == pytest.approx(column.mean())
        assert_allclose([row.low, row.high], interval(column))
        change = column - folds["none"][row.measure]
        assert row.change == pytest.approx(change.mean())
        if row.mitigation != "none":
            assert_allclose([row.change_low, row.change_high], interval(change))
    assert comparison.scores == ["accuracy", "f1"]
    assert comparison.amplifications == ["directional A->T"]


def test_mitigations_are_compared_with_the_baseline_on_the_same_rows(people):
    X, y, sex = people
    splits = list(StratifiedKFold(4).split(X, y))
    estimators = {
        "none": LogisticRegression(),
        "forest": RandomForestClassifier(5, random_state=0),
        "groups": DomainIndependentClassifier(LogisticRegression(), calibration=None),
    }
    auditors = [DirectionalAuditor(confidence_level=0.9), MALSAuditor(interval=None)]
    options = {"cv": splits}
    comparison = compared(X, y, sex, estimators, auditors, **options)
    predicted = {}
    for name, estimator in estimators.items():
        predicted[name] = np.empty(len(y), int)
        for train, test in splits:
            given = {"sensitive_features": sex[train]} if name == "groups" else {}
            model = clone(estimator).fit(X[train], y[train], **given)
            predicted[name][test] = model.predict(X[test])
    auditor = DirectionalAuditor(confidence_level=0.9)
    auditor.fit(y, sensitive_features=sex)
    expected = auditor.compare(y, predicted, sensitive_features=sex, reference="none").table
    names = ["difference", "difference_low", "difference_high", "p_value", "p_adjusted"]
    compared_rows = comparison.comparisons["directional A->T"]
    assert compared_rows.reference == "none"
    rows = compared_rows.table.set_index("model")[names]
    pd.testing.assert_frame_equal(rows, expected.set_index("model")[names])
    assert np.isnan(rows.loc["none"].to_numpy(float)).all()
    # Nothing of the kind is known without an interval but the difference.
    mals = comparison.comparisons["MALS"].table.set_index("model")
    assert mals.loc["groups", "difference"] != 0
    assert np.isnan(mals.loc["groups", "difference_low"])
    # Rows that are tested twice are not independent.
    twice = compared(X, y, sex, estimators, **{**options, "cv": ShuffleSplit(3)})
    table = twice.comparisons["directional A->T"].table.set_index("model")
    assert table["difference_low"].isna().all()
    assert np.isfinite(table.loc["groups", "difference"])


def test_remedies_get_the_attribute_wherever_they_ask_for_it(people):
    X, y, sex = people
    frame = pd.DataFrame(X, columns=["test", "height"])
    with_sex = frame.assign(sex=sex)
    drop = make_column_transformer(("passthrough", ["test", "height"]))
    constrained = CorpusConstraintClassifier(LogisticRegression(), margin=0.01)
    alone = DomainIndependentClassifier(LogisticRegression())
    comparison = compared(
        with_sex,
        y,
        sex,
        {
            "none": make_pipeline(drop, LogisticRegression()),
            "constraints": make_pipeline(drop, constrained),
            "constraints by column": CorpusConstraintClassifier(
                LogisticRegression(), margin=0.01, sensitive="sex", drop_sensitive=True
            ),
            "groups": make_pipeline(drop, StandardScaler(), alone),
            "groups by column": DomainIndependentClassifier(
                make_pipeline(StandardScaler(), LogisticRegression()), sensitive="sex"
            ),
        },
        [DirectionalAuditor(), MALSAuditor()],
        random_state=0,
    )
    for remedy in ("constraints", "groups"):
        passed, by_column = (
            comparison.measures[comparison.measures["mitigation"] == name]["value"]
            for name in (remedy, f"{remedy} by column")
        )
        # Each group is standardised on its own in one of them.
        assert_allclose(passed, by_column, atol=0.01)
    # Constraints are kept in the predictions of held-out rows, which takes their attribute.
    assert abs(values(comparison, "constraints", "MALS")) < 0.04
    assert values(comparison, "none", "MALS") > 0.1
    assert values(comparison, "groups", "directional A->T", "change_high") < -0.1


def test_samplers_in_a_pair_and_in_a_pipeline_of_imblearn_are_the_same(people):
    pipeline = pytest.importorskip("imblearn.pipeline")
    X, y, sex = people
    balancer = RatioBalancer(random_state=0)
    comparison = compared(
        X,
        y,
        sex,
        {
            "none": LogisticRegression(),
            "pair": (balancer, LogisticRegression()),
            "pipeline": pipeline.make_pipeline(balancer, LogisticRegression()),
            "repeated": (GroupOverSampler(random_state=0), LogisticRegression()),
            "both": (balancer, DomainIndependentClassifier(LogisticRegression())),
            "by column": (
                RatioBalancer(sensitive=lambda X: X[:, 1] > 0.5, random_state=0),
                LogisticRegression(),
            ),
        },
        random_state=0,
    )
    by_name = {
        name: part["value"].to_numpy() for name, part in comparison.measures.groupby("mitigation")
    }
    assert_allclose(by_name["pair"], by_name["pipeline"], rtol=0, atol=0)
    for name in ("pair", "repeated", "both", "by column"):
        assert values(comparison, name, "directional A->T", "change_high") < 0


def test_jobs_and_seeds_do_not_change_numbers(people):
    X, y, sex = people
    estimators = {
        "none": RandomForestClassifier(5),
        "pair": (RatioBalancer(), LogisticRegression()),
        "noise": make_pipeline(NoiseRandomizer(1), RandomForestClassifier(5)),
    }
    tables = [
        compared(X, y, sex, estimators, cv=3, random_state=0, n_jobs=jobs).measures
        for jobs in (None, 2)
    ]
    pd.testing.assert_frame_equal(*tables)
    other = compared(X, y, sex, estimators, cv=3, random_state=1).measures
    assert not np.allclose(other["value"], tables[0]["value"])


def test_labels_of_several_classes_and_of_several_a_row(people):
    X, y, sex = people
    three = y + (X[:, 0] > 1)
    comparison = compared(
        X,
        np.array(["no", "perhaps", "yes"])[three],
        sex,
        {"none": LogisticRegression(), "groups": DomainIndependentClassifier(LogisticRegression())},
        [LeakageAuditor(n_draws=2, n_resamples=50), DirectionalAuditor()],
        cv=3,
        random_state=0,
    )
    assert comparison.amplifications == ["leakage", "directional A->T"]
    both = np.column_stack([y, X[:, 0] + X[:, 1] > 0.5])
    model = MultiOutputClassifier(LogisticRegression())
    comparison = compared(
        X,
        both,
        sex,
        {
            "none": model,
            "groups": DomainIndependentClassifier(model),
            "constraints": CorpusConstraintClassifier(model),
            "pair": (RatioBalancer(random_state=0), model),
            "noise": make_pipeline(NoiseRandomizer(1), model),
        },
        [DirectionalAuditor(), MultiAttributeAuditor()],
        cv=3,
        stratify="joint",
        random_state=0,
    )
    assert np.isfinite(comparison.measures["value"]).all()
    assert len(comparison.measures) == 5 * 4
    audited = cross_audit(
        model,
        X,
        both,
        sensitive_features=sex,
        auditor=[DirectionalAuditor(interval=None), MultiAttributeAuditor(interval=None)],
        cv=3,
        stratify="joint",
        random_state=0,
    )
    for name in comparison.amplifications:
        assert values(comparison, "none", name) == pytest.approx(audited[name].value)


@pytest.mark.parametrize(
    ("scoring", "names"),
    [
        ("f1", ["f1"]),
        (["accuracy", "f1"], ["accuracy", "f1"]),
        (make_scorer(f1_score), ["score"]),
    ],
    ids=["name", "names", "scorer"],
)
def test_scores_as_scikit_learn_takes_them(people, scoring, names):
    X, y, sex = people
    splits = list(StratifiedKFold(3).split(X, y))
    estimators = {"none": LogisticRegression()}
    comparison = compared(X, y, sex, estimators, cv=splits, scoring=scoring)
    assert comparison.scores == names
    expected = cross_val_score(LogisticRegression(), X, y, cv=splits, scoring="f1").mean()
    assert values(comparison, "none", names[-1]) == pytest.approx(expected, abs=1e-12)


def test_folds_that_overlap_say_less(people):
    X, y, sex = people
    estimators = {"none": LogisticRegression()}
    cv = ShuffleSplit(6, test_size=0.4, random_state=0)
    comparison = compared(X, y, sex, estimators, cv=cv)
    audited = cross_audit(LogisticRegression(), X, y, sensitive_features=sex, cv=cv)
    row = comparison.measures[comparison.measures["measure"] == "directional A->T"]
    assert_allclose(
        row[["value", "low", "high"]].to_numpy()[0], [audited.value, audited.low, audited.high]
    )


def with_text(people):
    X, y, sex = people
    job = np.where(X[:, 1] > 0.5, "smith", "nurse")
    return pd.DataFrame({"test": X[:, 0], "job": job}), y, sex


def test_noise_hides_what_text_reveals(people):
    X, y, sex = with_text(people)
    encode = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    models = {
        name: make_pipeline(noise, encode, LogisticRegression())
        for name, noise in (
            ("none", "passthrough"),
            ("noise 0", NoiseRandomizer(0)),
            ("noise 8", NoiseRandomizer(8)),
        )
    }
    comparison = compared(X, y, sex, models, cv=3, random_state=0)
    assert values(comparison, "none", "directional A->T") > 0.05
    assert values(comparison, "noise 0", "f1", "change") == 0
    low, high = (
        values(comparison, "noise 8", "directional A->T", f"change_{end}")
        for end in ("low", "high")
    )
    assert low < high < 0
    assert comparison.measures["error"].isna().all()


def test_a_mitigation_that_fails_is_a_row_with_its_error(people):
    X, y, sex = with_text(people)
    encode = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    estimators = {
        "none": make_pipeline(encode, LogisticRegression()),
        "text": (RatioBalancer(), LogisticRegression()),
        "again": make_pipeline(encode, LogisticRegression()),
    }
    options = {"cv": 3, "random_state": 0}
    with pytest.warns(FitFailedWarning, match="'text' failed .* could not convert string"):
        comparison = compared(X, y, sex, estimators, **options)
    rows = comparison.measures.set_index("mitigation")
    assert rows.loc["text", "error"].str.startswith("ValueError: could not convert string").all()
    assert rows.loc["text", "value"].isna().all()
    assert rows.loc[["none", "again"], "error"].isna().all()
    status = comparison.table.set_index("candidate")["status"]
    assert status.to_dict() == {"none": "inconclusive", "again": "inconclusive", "text": "failed"}
    assert "\ntext failed: ValueError: could not convert" in repr(comparison)
    # Of the model that all others are compared with, an error is an error.
    with pytest.raises(ValueError, match="could not convert string"):
        compared(X, y, sex, {"none": LogisticRegression()}, **options)


def test_a_mitigation_that_changes_nothing_is_named(people):
    X, y, sex = people
    forest = RandomForestClassifier(5, random_state=0)
    estimators = {"none": LogisticRegression(), "same": LogisticRegression(), "forest": forest}
    splits = list(StratifiedKFold(3).split(X, y))
    comparison = compared(X, y, sex, estimators, cv=splits)
    assert values(comparison, "same", "accuracy", "rows_changed") == 0
    ours, theirs = (
        cross_val_predict(model, X, y, cv=splits) for model in (forest, estimators["none"])
    )
    share = np.mean(ours != theirs)
    assert values(comparison, "forest", "accuracy", "rows_changed") == pytest.approx(share)
    text = "same changed nothing: its predictions are those of “none” in every row."
    assert text in repr(comparison).splitlines()
    assert repr(comparison).count("changed nothing") == 1


def test_a_search_is_read_as_a_table(people):
    X, y, sex = people
    noisy = make_pipeline(NoiseRandomizer(2), LogisticRegression())
    models = {"none": LogisticRegression(), "noise 2": noisy}
    comparison = compared(X, y, sex, models, random_state=0)
    assert "No limit was given, so no winner was chosen." in repr(comparison).replace("\n  ", " ")
    accuracy = comparison.table.set_index("candidate")["accuracy"]
    assert accuracy["noise 2"] == pytest.approx(values(comparison, "noise 2", "accuracy"))
    frame = comparison.to_frame()
    frame["accuracy"] = 0.0
    assert (comparison.table["accuracy"] != 0).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidates": {"none": LogisticRegression()}}, ValueError, "has the name 'none'"),
        ({"estimator": RatioBalancer()}, TypeError, r"\['none'\] is RatioBalancer\(\)"),
        (
            {"candidates": {"a": (LogisticRegression(), LogisticRegression())}},
            TypeError,
            "which does not predict",
        ),
        (
            {"auditor": [MALSAuditor(), DirectionalAuditor(direction="T->A")]},
            ValueError,
            "pass sensitive_estimator, a classifier that learns to predict it",
        ),
        ({"stratify": "all"}, ValueError, "stratify"),
        ({"sensitive_features": ["f", "m"]}, ValueError, "sensitive_features has 2 rows but X"),
        ({"sensitive_features": "sex"}, TypeError, "one value a row. Got str instead"),
        ({"candidates": [LogisticRegression()]}, TypeError, "'candidates' .* instance of 'dict'"),
        ({"candidates": "all"}, TypeError, "'candidates' .* Got 'all' instead"),
        (
            {"candidates": {"a": CorpusConstraintClassifier(LogisticRegression())}},
            ValueError,
            r"candidates\['a'\] needs the group to predict. .* uses_group=True",
        ),
        ({"also": ["a", "b"]}, ValueError, "also has 2 rows but X"),
        (
            {"also": {"age": np.arange(1200)}},
            ValueError,
            "also must hold groups; got 1,200 values .* 20 or fewer: merge small ones",
        ),
        ({"limit": 0}, ValueError, "The 'limit' parameter of search"),
        (
            {"scoring": [accuracy_score]},
            ValueError,
            "Use a dict of score name mapped to the scorer",
        ),
        (
            {"auditor": MALSAuditor},
            TypeError,
            r"^auditor must be an auditor, .* got the class MALSAuditor\. Pass an instance",
        ),
        (
            {"sensitive_features": [None] + ["f", "m"] * 599 + ["f"]},
            ValueError,
            r"rows out \(auditor=DirectionalAuditor\(missing='drop'\)\)",
        ),
        ({"scoring": 3}, TypeError, "The 'scoring' parameter of search .* Got 3 instead"),
        ({"scoring": []}, ValueError, "Empty list was given"),
        ({"estimator": LogisticRegression}, TypeError, "which does not predict"),
        ({"candidates": {"a": (LogisticRegression(),)}}, TypeError, "or a pair of sampler"),
        ({"auditor": []}, ValueError, "auditor is an empty list: pass one auditor or more"),
        ({"cv": "five"}, ValueError, "The 'cv' parameter of search"),
    ],
    ids=[
        *("none", "sampler", "pair", "direction", "stratify", "lengths"),
        *(
            "column",
            "list",
            "text",
            "group",
            "rows",
            "many",
            "limit",
            "functions",
            "class",
            "missing",
            "number",
        ),
        *("no scores", "a class", "one of a pair", "no auditors"),
        "folds",
    ],
)
def test_what_cannot_be_compared_is_said(people, options, error, message):
    X, y, sex = people
    given = {"estimator": LogisticRegression(), "sensitive_features": sex, "candidates": {}}
    with pytest.raises(error, match=message):
        search(**given | {"X": X, "y": y} | options)


def test_rows_without_columns_cannot_be_compared(people):
    _, y, sex = people
    for X, message in ((pd.DataFrame(index=range(len(y))), "no columns"), (None, "NoneType")):
        with pytest.raises(ValueError, match=message):
            compared(X, y, sex, {"none": LogisticRegression()})
