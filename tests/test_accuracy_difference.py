"""The interval of a difference of accuracy between two models that predict the same rows."""

import numpy as np
import pytest
from scipy import stats

import skbiasamp
from skbiasamp import DirectionalAuditor

N = 400


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    y, sex = rng.integers(0, 2, N), rng.choice(["f", "m"], N)
    old = np.where(rng.random(N) < 0.2, 1 - y, y)
    return y, sex, old, np.where(rng.random(N) < 0.1, 1 - old, old)


def report_of(y, old, new, sex, **more):
    how = {"sensitive_features": sex, "auditor": DirectionalAuditor()} | more
    return skbiasamp.compare(y, {"old": old, "new": new}, **how)


def ends(*labels, **more):
    last = report_of(*labels, **more).accuracy.iloc[1]
    return last[["difference", "difference_low", "difference_high"]].to_numpy(float)


def expected(value, parts, unseen=1 / N):
    """Student's t by what units add to a difference, and half a row gained and half a row lost."""
    squares = parts**2 * len(parts) / (len(parts) - 1)
    variance = squares.sum() + unseen**2
    reach = stats.t.isf(0.025, variance**2 / (squares @ squares + unseen**4 / 2)) * variance**0.5
    return pytest.approx([value, value - reach, value + reach], abs=1e-12)


def test_it_is_the_paired_interval_of_a_proportion(rows):
    y, sex, old, new = rows
    gain = (new == y) * 1.0 - (old == y)
    assert np.abs(gain).sum() >= 10
    assert ends(y, old, new, sex) == expected(gain.mean(), (gain - gain.mean()) / N)
    # Few clusters carry a variance that is itself uncertain, as it is for an audit.
    person = np.repeat(np.arange(20), N // 20)
    sums = np.bincount(person, (gain - gain.mean()) / N)
    assert ends(y, old, new, sex, clusters=person) == expected(gain.mean(), sums)
    # The sentence is about the other side.
    low, high = (f"{-100 * end:.1f}" for end in ends(y, old, new, sex)[1:])
    said = " ".join(str(report_of(y, old, new, sex)).split())
    assert f"percentage points lower than that of “old” ({high} to {low})." in said


def test_weights_are_repeated_rows_and_copies_in_a_cluster_add_nothing(rows):
    y, sex, old, new = rows
    times = np.random.default_rng(0).integers(1, 4, N)
    repeated = ends(*(np.repeat(part, times) for part in (y, old, new, sex)))
    weighted = ends(y, old, new, sex, sample_weight=times)
    assert weighted == pytest.approx(repeated, abs=1e-12)
    four = [np.repeat(part, 4) for part in (y, old, new, sex)]
    right = (new == y) * 1.0 - (old == y)
    parts = (right - right.mean()) / N
    copies = ends(*four, clusters=np.repeat(np.arange(N), 4))
    assert copies == expected(right.mean(), parts, 1 / N / 4)
    assert ends(*four) == expected(right.mean(), np.repeat(parts / 4, 4), 1 / N / 4)
    # Fractional weights: each row is one, and counts so much.
    share = np.random.default_rng(1).gamma(2, size=N)
    share /= share.sum()
    value = share @ right
    found = ends(y, old, new, sex, sample_weight=share)
    assert found == expected(value, share * (right - value), share.max())


def test_several_tasks_and_classes_and_groups_that_overlap(rows):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, (N, 3))
    old, new = (np.where(rng.random((N, 3)) < share, 1 - y, y) for share in (0.1, 0.2))
    classes = rng.integers(0, 3, N)
    guesses = [np.where(rng.random(N) < share, classes, 0) for share in (0.7, 0.8)]
    both = np.column_stack([np.ones(N, int), rng.integers(0, 2, N)])
    for (label, before, after), groups, more in (
        ((y, old, new), rows[1], {}),
        ((classes, *guesses), rows[1], {}),
        ((y, old, new), both, {"groups": "indicator"}),
    ):
        hits = ((after == label) * 1.0 - (before == label)).reshape(N, -1).mean(axis=1)
        times = both.sum(axis=1) if more else np.ones(N)
        value = times @ hits / times.sum()
        found = ends(label, before, after, groups, **more)
        assert found == expected(value, times * (hits - value) / times.sum())


def test_no_row_that_differs_may_hide_as_many_as_an_exact_bound_allows(rows):
    y, sex, old, _ = rows
    value, low, high = ends(y, old, old, sex)
    assert [value, low, high] == expected(0, np.zeros(N))
    assert high == -low
    assert 1 - 0.025 ** (1 / N) < high < 1.2 * (1 - 0.025 ** (1 / N))
    # Clusters of one row are rows.
    assert ends(y, old, old, sex, clusters=np.arange(N)) == pytest.approx([value, low, high])
