"""Rows that cannot be tallied are resampled in blocks if they are many."""

import time

import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import DPAAuditor, LeakageAuditor

N_ROWS = 4_000


@pytest.fixture
def begin_early(monkeypatch):
    """Return what lets blocks begin at few rows."""

    def begin():
        # Our own limits: at as many rows as these are for, each test would take a minute.
        monkeypatch.setattr("skbiasamp.counts.draws.MANY_CELLS", 300)
        monkeypatch.setattr("skbiasamp.counts.draws.N_BLOCKS", 800)

    return begin


def rows(world):
    """Return rows of a world, all of which differ, as an auditor takes them."""
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=N_ROWS)
    label = (rng.random(N_ROWS) < 0.3 + 0.2 * group).astype(int)
    score = np.clip(0.2 + 0.4 * label + 0.1 * group + rng.normal(0, 0.15, N_ROWS), 0.01, 0.99)
    data = {"y_true": label, "y_pred": score, "sensitive_features": group}
    if world == "weights":
        wrong, weight = rng.random(N_ROWS) < 0.2, rng.gamma(0.5, 2, N_ROWS)
        data |= {"y_pred": np.where(wrong, 1 - label, label), "sample_weight": weight}
    if world == "few clusters":
        data["clusters"] = rng.integers(60, size=N_ROWS)
    return data


AUDITORS = {
    "DPA": DPAAuditor(random_state=0),
    "leakage": LeakageAuditor(n_draws=2, random_state=0),
    "log loss": LeakageAuditor(quality="inverse_log_loss", n_draws=2, random_state=0),
}


def spread(result):
    """Return standard errors, and how wide the intervals of targets are."""
    return np.append(
        result.statistics["standard_error"], result.table["high"] - result.table["low"]
    )


@pytest.mark.parametrize(
    ("kind", "world"),
    [
        ("DPA", "scores"),
        ("log loss", "scores"),
        ("leakage", "weights"),
        ("leakage", "few clusters"),
    ],
)
def test_intervals_are_as_wide_as_those_of_single_rows(kind, world, begin_early):
    data = rows(world)
    singly = AUDITORS[kind].audit(**data)
    begin_early()
    in_blocks = AUDITORS[kind].audit(**data)
    np.testing.assert_allclose(spread(in_blocks), spread(singly), rtol=0.15)
    assert abs(in_blocks.value - singly.value) < 0.5 * (singly.high - singly.low)
    for result in (singly, in_blocks):
        assert (result.p_value < 0.05) == (result.low > 0 or result.high < 0)


def test_two_models_are_compared_on_the_same_blocks(begin_early):
    data = rows("scores")
    score, label = data.pop("y_pred"), data.pop("y_true")
    noise = np.random.default_rng(2).normal(0, 0.03, N_ROWS)
    models = {"old": score, "new": np.clip(score + noise, 0.01, 0.99)}
    _, *singly = AUDITORS["leakage"].compare(label, models, **data).judged("new")
    begin_early()
    _, *in_blocks = AUDITORS["leakage"].compare(label, models, **data).judged("new")
    assert np.ptp(in_blocks) == pytest.approx(np.ptp(singly), rel=0.15)
    assert np.mean(in_blocks) == pytest.approx(np.mean(singly), abs=0.3 * np.ptp(singly))


def test_the_order_of_rows_does_not_change_a_result(begin_early):
    begin_early()
    data = rows("scores")
    order = np.random.default_rng(5).permutation(N_ROWS)
    mixed = {name: column[order] for name, column in data.items()}
    before, after = (AUDITORS["leakage"].audit(**each) for each in (data, mixed))
    np.testing.assert_allclose(
        [after.value, after.low, after.high], [before.value, before.low, before.high], rtol=1e-9
    )


def test_blocks_are_resampled_faster_than_fewer_single_rows():
    auditor = LeakageAuditor(quality="inverse_log_loss", n_draws=1, n_resamples=1_990)
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=20_400)
    label = (rng.random(20_400) < 0.3 + 0.2 * group).astype(int)
    score = rng.random(20_400)
    seconds = []
    for n in (20_000, 20_400):
        start = time.process_time()
        auditor.audit(label[:n], score[:n], sensitive_features=group[:n])
        seconds.append(time.process_time() - start)
    assert seconds[1] < seconds[0] / 2


def test_an_attacker_of_many_scores_learns_from_means_of_neighbours(monkeypatch):
    n_rows, learnt, softmax = [], LogisticRegression.fit, special.softmax

    def fit(self, X, y, sample_weight=None):
        n_rows.append(len(X))
        return learnt(self, X, y, sample_weight)

    def seen(logits, axis):  # of several that are fitted side by side
        n_rows.append(logits.shape[-1])
        return softmax(logits, axis=axis)

    monkeypatch.setattr(LogisticRegression, "fit", fit)
    monkeypatch.setattr(special, "softmax", seen)
    n = 60_000
    rng = np.random.default_rng(3)
    group = rng.integers(3, size=n)
    label = (rng.random(n) < 0.3 + 0.1 * group).astype(int)
    score = label - 0.5 + 0.1 * group + rng.standard_t(2, n)
    every, most = [], []
    for attacker in ("auto", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))):
        auditor = LeakageAuditor(attacker=attacker, n_draws=1, random_state=0)
        every.append(auditor.audit(label, label, y_score=score, sensitive_features=group))
        most.append(max(n_rows))
        n_rows.clear()
    means, rows = every
    assert most[0] <= 30_000 < most[1]
    error = rows.statistics["standard_error"]
    numbers = np.array([[one.value, one.low, one.high] for one in every])
    # Over eight seeds, the ends with heavy tails differ by up to 0.35 errors: few rows weigh much.
    np.testing.assert_allclose(numbers[0], numbers[1], atol=0.5 * error)
    assert means.statistics["attacker"] == rows.statistics["attacker"]
