"""Leakage of scores: logits and embeddings, beside predictions or in their place."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, LeakageAuditor, LeakageProbe
from skbiasamp.metrics import leakage_amplification

RNG = np.random.default_rng(0)
N = 400
SEX = RNG.choice(["f", "m"], N)
HIRED = (RNG.random(N) < np.where(SEX == "m", 0.7, 0.3)).astype(int)
# From the labels an attacker guesses that those hired are men: right for this share of each group.
FROM_LABELS = (HIRED[SEX == "m"].mean() + 1 - HIRED[SEX == "f"].mean()) / 2
PREDICTED = np.where(RNG.random(N) < 0.2, 1 - HIRED, HIRED)
SIX = RNG.normal(size=(N, 6)) + np.outer(SEX == "m", [1.5, 0, 0, 0, 0, 0])
TAGS = RNG.integers(0, 2, (N, 3))


def auditor(**options):
    return LeakageAuditor(**{"interval": None, "n_draws": 2, "random_state": 0, **options})


def audited(*labels, how=None, **given):
    return auditor(**how or {}).audit(*labels, sensitive_features=SEX, **given)


def attacked(features):
    """The accuracy of the same attacker by scikit-learn, with equally weighted groups."""
    model = make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000, class_weight="balanced")
    )
    right = cross_val_predict(model, features, SEX, cv=5) == SEX
    return np.mean([right[group == SEX].mean() for group in ("f", "m")])


@pytest.mark.parametrize("hold", [np.array, pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_an_embedding_is_attacked_whatever_its_columns(hold):
    probe = LeakageProbe(random_state=0, n_draws=2).fit(SIX, sensitive_features=SEX)
    for argument in ("y_pred", "y_score"):
        result = audited(HIRED, **{argument: hold(SIX)})
        (row,) = result.table.to_dict("records")
        assert row["quality_model"] == pytest.approx(attacked(SIX), abs=0.02)
        assert row["quality_model"] == pytest.approx(probe.leakage_, abs=0.02)
        assert row["quality_data"] == pytest.approx(FROM_LABELS)
        assert result.value == pytest.approx(row["quality_model"] - row["quality_data"])
        # Nobody knows how accurate it is, so labels stay as they are, and the result says so.
        assert result.params["equalize"] is None
        assert result.facts.baseline == "the labels"
        assert result.columns["quality_data"] == "From labels"
    value = leakage_amplification(
        HIRED, hold(SIX), sensitive_features=SEX, n_draws=2, random_state=0
    )
    assert value == result.value


def test_predictions_beside_scores_say_how_accurate_the_model_is():
    result = audited(HIRED, PREDICTED, y_score=SIX)
    assert result.statistics["flip_rate"] == pytest.approx(np.mean(HIRED != PREDICTED))
    assert result.statistics["input"] == "scores"
    assert result.params["equalize"] == "auto"
    assert result.table["quality_model"][0] == pytest.approx(attacked(SIX), abs=0.02)
    shuffled = RNG.permutation(N)
    moved = auditor().audit(
        HIRED[shuffled],
        PREDICTED[shuffled],
        y_score=SIX[shuffled],
        sensitive_features=SEX[shuffled],
    )
    assert moved.value == result.value
    # The decisions and not the scores: those of another threshold have another accuracy.
    score = 0.3 * HIRED + 0.7 * RNG.random(N)
    strict = (score >= 0.7).astype(int)
    found = audited(HIRED, strict, y_score=score).statistics["flip_rate"]
    assert found == pytest.approx(np.mean(strict != HIRED))
    alone = audited(HIRED, y_score=score).statistics["flip_rate"]
    assert alone == pytest.approx(np.mean((score >= 0.5) != HIRED))


def test_scores_alone_are_what_predictions_were():
    score = RNG.random(N)
    for scores in (score, np.c_[1 - score, score], np.log(score / (1 - score))):
        one, other = audited(HIRED, scores), audited(HIRED, y_score=scores)
        assert (one.value, one.statistics) == (other.value, other.statistics)


def test_several_tasks_are_scored_or_embedded():
    for width in (2, 3, 8):
        features = RNG.normal(size=(N, width)) + np.outer(SEX == "m", np.ones(width))
        predicted = np.where(RNG.random(TAGS.shape) < 0.1, 1 - TAGS, TAGS)
        alone = audited(TAGS, features)
        assert (alone.params["equalize"] is None) == (width != 3)  # three are scores of the tasks
        beside = audited(TAGS, predicted, y_score=features)
        assert beside.statistics["flip_rate"] == pytest.approx(0.1, abs=0.03)
        assert beside.table["quality_model"][0] == pytest.approx(attacked(features), abs=0.02)


def test_an_accuracy_that_nobody_knows_cannot_be_equalized():
    for equalize in ("accuracy", "f1"):
        with pytest.raises(ValueError, match=r"Pass predictions as y_pred .* or equalize=None"):
            audited(HIRED, SIX, how={"equalize": equalize})
        known = audited(HIRED, PREDICTED, y_score=SIX, how={"equalize": equalize})
        assert known.statistics["flip_rate"] > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_pred": SIX, "y_score": SIX}, "y_pred has 6 columns but there are 2 classes"),
        ({"y_pred": PREDICTED, "y_score": SIX[1:]}, "y_score has 399 rows but y_true has 400"),
        ({"y_pred": PREDICTED, "y_score": np.where(SIX > 2, np.nan, SIX)}, "y_score has missing"),
        ({"y_pred": PREDICTED, "y_score": SEX}, "y_score must hold numbers; got '[fm]'"),
    ],
)
def test_scores_that_cannot_be_attacked(given, message):
    with pytest.raises(ValueError, match=message):
        audited(HIRED, **given)
    cells = Contingency.from_labels(HIRED, PREDICTED, sensitive_features=SEX)
    with pytest.raises(ValueError, match="already holds labels"):
        auditor().audit(cells, y_score=SIX)


def test_other_metrics_still_say_what_is_wrong():
    for other in (DPAAuditor(), DirectionalAuditor(reference="test")):
        with pytest.raises(ValueError, match="y_pred has 6 columns but there are 2 classes"):
            other.audit(HIRED, 1 / (1 + np.exp(-SIX)), sensitive_features=SEX)
    both = {"old": SIX, "new": SIX}
    with pytest.raises(ValueError, match="6 columns but there are 2 classes"):
        auditor().compare(HIRED, both, sensitive_features=SEX)
    indicators = {"sensitive_features": np.eye(2, dtype=int)[(SEX == "m").astype(int)]}
    with pytest.raises(ValueError, match="2 columns but sensitive_pred has 3"):
        auditor(groups="indicator").audit(
            HIRED, PREDICTED, sensitive_pred=TAGS, y_score=SIX, **indicators
        )


def test_reports_attack_an_embedding():
    for given in ({"y_pred": PREDICTED}, {}):
        how = {"y_score": SIX, "sensitive_features": SEX, "random_state": 0}
        found = skbiasamp.audit(HIRED, **given, **how)["leakage of scores"]
        assert found.table["quality_model"][0] == pytest.approx(attacked(SIX), abs=0.02)
        assert ("flip_rate" in found.statistics) == bool(given)


def test_scores_belong_to_the_chosen_class():
    """They were taken for those of the class that sorts last: half of the labels were flipped."""
    score = np.clip(0.3 + 0.4 * HIRED + RNG.normal(0, 0.2, N), 0.01, 0.99)
    named = np.where(HIRED == 1, "default", "no default")
    given = {"y_score": score, "pos_label": "default", "sensitive_features": SEX}
    statistics = skbiasamp.audit(named, **given, random_state=0)["leakage of scores"].statistics
    assert statistics["flip_rate"] == pytest.approx(np.mean((score >= 0.5) != HIRED))
    assert not statistics["flip_rate_capped"]
