"""Models that learn from their own predictions: when amplification accumulates, and when not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

import skbiasamp
from skbiasamp.monitoring import FeedbackResult, feedback_audit


@pytest.fixture(scope="module")
def data():
    """Labels are drawn from a logistic model, so that a logistic regression is calibrated."""
    rng = np.random.default_rng(0)
    group = rng.random(5000) < 0.4
    x = rng.normal(size=(5000, 3))
    score = 0.8 * x[:, 0] + 0.5 * x[:, 1] + np.where(group, -0.9, 0.3) - 0.3
    y = (rng.random(5000) < 1 / (1 + np.exp(-score))).astype(int)
    return np.column_stack([x, group]), y, np.where(group, "f", "m")


def looped(data, estimator, **options):
    X, y, groups = data
    options = {"generations": 6, "n_runs": 4, "random_state": 0} | options
    return feedback_audit(estimator, X, y, sensitive_features=groups, **options)


def test_a_calibrated_classifier_that_samples_its_labels_stays_bounded(data):
    # Taori & Hashimoto (2023): calibrated sampling reproduces the rates of the data.
    result = looped(data, LogisticRegression(), labels="sample")
    assert result.verdict == "stays bounded"
    assert result.table["value"].abs().max() < 0.03


def test_thresholding_accumulates(data):
    # Naive Bayes counts what its features share twice, and each generation learns from that.
    result = looped(data, GaussianNB(), human_share=0.2)
    assert result.verdict == "accumulates"
    values = result.table["value"]
    assert values.iloc[-1] > values.iloc[0] + 0.05
    assert "Amplification accumulates" in result.sentence
    assert "The model predicts 80.0 % of the labels" in result.sentence


def test_thresholding_amplifies_more_than_sampling_in_every_generation(data):
    hard = looped(data, LogisticRegression()).table
    soft = looped(data, LogisticRegression(), labels="sample").table
    assert (hard["value"] > soft["value"] + 0.02).all()


def test_people_alone_change_nothing_but_the_draw(data):
    result = looped(data, LogisticRegression(), human_share=1.0, generations=3)
    assert result.table["difference"].abs().max() == 0


def test_the_first_generation_is_an_ordinary_audit(data):
    X, y, groups = data
    result = looped(data, LogisticRegression(), generations=2, n_runs=2)
    assert set(result.runs) == {"run", "generation", "value", "accuracy"}
    assert len(result.runs) == 4
    whole = skbiasamp.DirectionalAuditor(interval=None).fit(y, sensitive_features=groups)
    alone = whole.score(y, LogisticRegression().fit(X, y).predict(X), sensitive_features=groups)
    assert result.table["value"].iloc[0] == pytest.approx(alone, abs=0.03)
    assert result.table["accuracy"].iloc[0] == pytest.approx(0.68, abs=0.05)


def test_seeds_decide_and_jobs_do_not(data):
    options = {"generations": 2, "n_runs": 2, "labels": "sample"}
    one = looped(data, GaussianNB(), **options)
    other = looped(data, GaussianNB(), n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.runs, other.runs)


def test_frames_classes_of_any_name_and_any_auditor(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = np.where(y, "yes", "no")
    result = feedback_audit(
        GaussianNB(), frame, names, sensitive_features=pd.Series(groups, name="sex"),
        auditor=skbiasamp.LeakageAuditor(n_draws=2, random_state=0), generations=2, n_runs=2,
        random_state=0,
    )  # fmt: skip
    assert result.name == "leakage"
    assert np.isfinite(result.table["value"]).all()


def test_json_and_display(data):
    pytest.importorskip("matplotlib").use("Agg")
    from skbiasamp.plotting import FeedbackDisplay

    result = looped(data, GaussianNB(), generations=2, n_runs=2)
    again = FeedbackResult.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    display = FeedbackDisplay.from_results({"a": result, "b": again})
    assert list(display.lines_) == ["a", "b"]
    assert np.array_equal(display.lines_["a"].get_ydata(), result.table["value"])
    assert result.verdict in FeedbackDisplay.from_results(result).ax_.get_title()
    with pytest.raises(TypeError, match=r"from_results draws a FeedbackResult"):
        FeedbackDisplay.from_results({})
    with pytest.raises(ValueError, match=r"lacks the columns"):
        FeedbackDisplay({"a": pd.DataFrame()})


@pytest.mark.parametrize(
    ("estimator", "options", "text"),
    [
        (Perceptron(), {"labels": "sample"}, "labels='sample' needs a classifier with predict_pro"),
        (GaussianNB(), {"human_share": 2}, "human_share"),
        (GaussianNB(), {"generations": 1}, "generations"),
        (GaussianNB(), {"auditor": "dpa"}, "auditor must be"),
        ("model", {}, "estimator"),
    ],
)
def test_bad_input_is_named(data, estimator, options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        looped(data, estimator, **options)


def test_labels_in_columns_are_refused(data):
    X, y, groups = data
    with pytest.raises(ValueError, match=r"y must hold one label a row"):
        feedback_audit(GaussianNB(), X, np.column_stack([y, y]), sensitive_features=groups)


def test_features_that_are_no_table_are_refused(data):
    _, y, groups = data
    with pytest.raises(ValueError, match=r"X must be a table of features, .* got GaussianNB"):
        feedback_audit(GaussianNB(), GaussianNB(), y, sensitive_features=groups)


def test_features_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="X has 3 rows but y has 4"):
        feedback_audit(
            LogisticRegression(),
            np.zeros((3, 1)),
            [0, 1, 0, 1],
            sensitive_features=["f", "m", "f", "m"],
        )
