"""An attack metric of one's own: every part of the package works with it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import recall_score

import skbiasamp
from skbiasamp import Contingency, LeakageAuditor
from skbiasamp.metrics import AttackAuditor


def recall_of_first(y_true, y_pred, sample_weight=None):
    return recall_score(y_true, y_pred, pos_label=0, sample_weight=sample_weight, zero_division=0)


class ExposureAuditor(AttackAuditor):
    """Audit exposure: how much more often predictions give away members of the first group."""

    metric = "exposure"
    question = "Do the predictions give away members of the first group?"
    rank = 2

    def _attacks(self):
        return ("task", "group"), ("task_pred", "group")

    def _amplification(self, data, model):
        return np.log2((0.5 + model) / (0.5 + data))


class ReverseAuditor(ExposureAuditor):
    """Audit the other way round: which predictions the group gives away."""

    metric = "reverse"

    def _attacks(self):
        return ("group", "task"), ("group", "task_pred")


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 600)
    cooks = rng.integers(2, size=600)
    predicted = np.where(rng.random(600) < 0.5, sex == "f", cooks).astype(int)
    return {"y_true": cooks, "y_pred": predicted, "sensitive_features": sex}


@pytest.fixture(scope="module")
def auditor():
    return ExposureAuditor(quality=recall_of_first, equalize=None, n_resamples=99, random_state=0)


@pytest.fixture(scope="module")
def result(auditor, world):
    return auditor.audit(**world)


def test_the_value_is_the_formula_of_recalls_counted_by_hand(auditor, world):
    exact = clone(auditor).set_params(cv=None, attacker="exact", interval=None)
    women = world["sensitive_features"] == "f"
    recalls = []
    for side in ("y_true", "y_pred"):
        shares = [(women[world[side] == label]).mean() for label in (0, 1)]
        guessed = np.array(shares)[world[side]] > 0.5
        recalls.append(guessed[women].mean())
    expected = np.log2((0.5 + recalls[1]) / (0.5 + recalls[0]))
    assert exact.score(**world) == pytest.approx(expected, abs=1e-12)


def test_it_has_an_interval_a_p_value_a_table_and_a_section(auditor, world, result):
    assert result.low < float(result) < result.high
    assert 0 < result.p_value <= 1
    assert result.kind == "attack"
    row = result.table.iloc[0]
    assert (row["group"], row["task"]) == ("(all)", "(all)")
    assert row["amplification"] == float(result)
    assert row["delta"] == row["quality_model"] - row["quality_data"]
    report = skbiasamp.audit(**world, auditor=[auditor, LeakageAuditor(random_state=0)])
    assert list(report) == ["exposure", "leakage"]
    assert float(report["exposure"]) == float(result)
    assert "exposure" in report.to_markdown()
    with pytest.raises(ValueError, match=r"exposure amplification compares .*: pass y_pred\.$"):
        auditor.audit(world["y_true"], sensitive_features=world["sensitive_features"])


def test_it_learns_from_training_rows_that_have_predictions(auditor, world):
    half = {name: values[:300] for name, values in world.items()}
    rest = {name: values[300:] for name, values in world.items()}
    fitted = clone(auditor).set_params(interval=None).fit(Contingency.from_labels(**half))
    table = fitted.audit(**rest).table
    # The best table of the first half, applied to the second.
    for column, side in (("quality_data", "y_true"), ("quality_model", "y_pred")):
        women = half["sensitive_features"] == "f"
        known = [(half[side] == label)[women].sum() for label in (0, 1)]
        other = [(half[side] == label)[~women].sum() for label in (0, 1)]
        guessed = (np.array(known) > other)[rest[side]]
        recall = guessed[rest["sensitive_features"] == "f"].mean()
        assert table[column].item() == pytest.approx(recall, abs=1e-12)


def test_the_target_may_be_the_task(world):
    result = ReverseAuditor(n_resamples=49, random_state=0).audit(**world)
    assert result.table["task"].tolist() == [1]
    assert "Correct guesses go from" in result.sentence
    assert result.verdict == "reveals more"
