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
    auditor = DirectionalAuditor()
    how = {"sensitive_features": sex, "auditor": auditor} | more
    return skbiasamp.compare(y, {"old": old, "new": new}, **how)


def ends(*labels, **more):
    last = report_of(*labels, **more).accuracy.iloc[1]
    return last[["difference", "difference_low", "difference_high"]].to_numpy(float)


def test_it_is_the_paired_interval_of_a_proportion(rows):
    y, sex, old, new = rows
    gained, lost = ((new == y) & (old != y)).sum(), ((new != y) & (old == y)).sum()
    assert gained + lost >= 10
    value = (gained - lost) / N
    error = np.sqrt(gained + lost - (gained - lost) ** 2 / N) / N
    reach = stats.norm.isf(0.025) * error
    expected = [value, value - reach, value + reach]
    assert ends(y, old, new, sex) == pytest.approx(expected, abs=1e-12)


def test_weights_are_repeated_rows_and_copies_in_a_cluster_add_nothing(rows):
    y, sex, old, new = rows
    plain = ends(y, old, new, sex)
    times = np.random.default_rng(0).integers(1, 4, N)
    repeated = ends(*(np.repeat(part, times) for part in (y, old, new, sex)))
    weighted = ends(y, old, new, sex, sample_weight=times)
    assert weighted == pytest.approx(repeated, abs=1e-12)
    four = [np.repeat(part, 4) for part in (y, old, new, sex)]
    copies = ends(*four, clusters=np.repeat(np.arange(N), 4))
    assert copies == pytest.approx(plain, abs=1e-12)
    assert np.ptp(ends(*four)[1:]) == pytest.approx(np.ptp(plain[1:]) / 2, abs=1e-12)
    # Fractional weights: each row is one, and counts so much.
    share = np.random.default_rng(1).gamma(2, size=N)
    share /= share.sum()
    right = (new == y) * 1.0 - (old == y)
    value = share @ right
    reach = stats.norm.isf(0.025) * np.sqrt((share**2) @ (right - value) ** 2)
    found = ends(y, old, new, sex, sample_weight=share)
    assert found == pytest.approx([value, value - reach, value + reach], abs=1e-12)


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
        reach = stats.norm.isf(0.025) * np.linalg.norm(times * (hits - value)) / times.sum()
        found = ends(label, before, after, groups, **more)
        assert found == pytest.approx([value, value - reach, value + reach], abs=1e-12)


def test_few_rows_that_differ_may_hide_as_many_as_exact_bounds_allow(rows):
    y, sex, old, _ = rows
    unseen = 1 - 0.025 ** (1 / N)
    assert ends(y, old, old, sex) == pytest.approx([0, -unseen, unseen], abs=1e-12)
    better = old.copy()
    better[np.flatnonzero(old != y)[:3]] ^= 1
    value, low, high = ends(y, old, better, sex)
    least, most = (stats.beta.ppf(q, *ab) for q, ab in ((0.025, (3, N - 2)), (0.975, (4, N - 3))))
    assert [value, low, high] == pytest.approx(
        [3 / N, 3 / N - np.hypot(3 / N - least, unseen), most], abs=1e-12
    )
    # Clusters of one row are rows; of four, a quarter of them.
    assert ends(y, old, better, sex, clusters=np.arange(N)) == pytest.approx([value, low, high])
    fours = ends(y, old, old, sex, clusters=np.arange(N) // 4)
    assert fours[2] == pytest.approx(1 - 0.025 ** (4 / N))


def test_it_is_on_the_page_in_text_in_markdown_and_in_files(rows):
    y, sex, old, new = rows
    report = report_of(y, old, new, sex)
    low, high = (f"{100 * end:+.2f}".replace("-", "−") for end in ends(y, old, new, sex)[1:])
    sentence = f"(95 % confidence interval {low} to {high})."
    assert report.verdicts["new"].endswith(sentence)
    assert sentence in report.to_markdown()
    assert sentence.replace("−", "-") in " ".join(str(report).split())
    pytest.importorskip("jinja2")
    assert sentence in report.to_html()


def test_few_clusters_have_students_t(rows):
    """A variance that few people carry is itself uncertain, as it is for an audit."""
    y, sex, old, new = rows
    person = np.repeat(np.arange(20), N // 20)
    value, low, high = ends(y, old, new, sex, clusters=person)
    sums = np.bincount(person, ((new == y) * 1.0 - (old == y) - value) / N)
    df = (sums @ sums) ** 2 / (sums**2 @ sums**2)
    reach = stats.t.isf(0.025, df) * np.sqrt(sums @ sums)
    assert [low, high] == pytest.approx([value - reach, value + reach], abs=1e-12)
