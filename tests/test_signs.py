"""Signs that can be trusted, the parts of a value, and verdicts that hold.

What a value is made of and the signs of the estimate are compared with the formulas from rows, and
verdicts with data in which nothing, or something, was changed.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from by_hand import (
    AUDITED,
    METRICS,
    OPTIONS,
    Plain,
    audit,
    fitted,
    numbers,
    overlapping,
    rows,
    soft,
    weighted,
    world,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from skbiasamp import (
    DirectionalAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    NumericAuditor,
)
from skbiasamp.metrics import BiasDisparityAuditor, LabelAuditor, SignedMultiAttributeAuditor

pytestmark = [
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]
FEWEST = 30  # rows that a pair of the estimate rests on


def nearly_random(n=400, kind="multilabel", *, seed=0, left=0.15, **options):
    """Return a world in which groups and tasks are hardly associated."""
    data = world(n, kind, seed=seed, **options)
    rng = np.random.default_rng(seed + 1000)
    for name in ("sensitive_train", "sensitive_features"):
        group = np.array(data[name])
        moved = np.flatnonzero(rng.random(len(group)) > left)
        group[moved] = rng.permutation(group[moved])
        data[name] = group
    kept = rng.random(n) < 0.7
    data["sensitive_pred"] = np.where(kept, group, rng.permutation(group))
    return data


def weak_options():
    """Yield (name, auditor, world): associations that leave signs open, with every option."""
    for name, metric in METRICS.items():
        own = metric(reference="test")
        yield name, own, nearly_random(seed=1)
        yield f"{name}, one task", own, nearly_random(kind="binary", seed=2)
        yield f"{name}, three groups", own, nearly_random(n_groups=3, seed=3)
        yield f"{name}, classes", own, nearly_random(kind="multiclass", n_groups=3, seed=4)
        yield f"{name}, whole weights", own, weighted(nearly_random(seed=5), "whole")
        yield f"{name}, weights", own, weighted(nearly_random(seed=6), "fractional")
        indicator = metric(reference="test", groups="indicator")
        yield f"{name}, overlapping groups", indicator, overlapping(nearly_random(seed=7))
        yield f"{name}, training labels", metric(), nearly_random(n_groups=3, seed=8, n_train=900)
        few = rows(nearly_random(n_groups=3, seed=9), np.r_[:150])
        yield f"{name}, few rows", own, few
    for name in ("A->T", "T->A"):
        train, three = METRICS[name](base="train"), nearly_random(n_groups=3, seed=10, n_train=900)
        yield f"{name}, base='train'", train, three
        sums = METRICS[f"multi {name}"](base="test")
        yield f"multi {name}, base='test'", sums, nearly_random(seed=11, n_train=900)
    for name in ("A->T", "MALS"):
        yield f"{name}, soft", METRICS[name](reference="test"), soft(nearly_random(seed=12))


WEAK = {name: case for name, *case in weak_options()}
EVERY = OPTIONS | {f"{name}, weak": case for name, case in WEAK.items()}
every_option = pytest.mark.parametrize(("auditor", "data"), EVERY.values(), ids=EVERY)


def counted_pairs(result, data, ids=None):
    """Return which pairs have rows enough, or all if none has."""
    n, delta = numbers(result, "n", "delta")
    weight = np.asarray(data.get("sample_weight", np.ones(len(data["y_true"]))), dtype=float)
    if ids is not None:
        weight = np.bincount(ids, weight)
    if ids is not None or not np.array_equal(weight, np.rint(weight)):
        n = n * weight.sum() / (weight @ weight)  # Kish's effective sample size
    counted = (n >= FEWEST - 1e-9) & ~np.isnan(delta)
    return counted if counted.any() else np.ones(n.shape, dtype=bool)


# --------------------------------------------------------------------------- parts of a value


def sum_of_parts(result):
    return sum(result.statistics[name] for name in ("gap", "shift", "selection", "small_pairs"))


@every_option
def test_a_value_is_the_sum_of_its_parts(auditor, data):
    result = audit(clone(auditor).set_params(interval=None), data)
    plain, part = Plain(auditor, data), result.statistics
    published = part["signed_mean"] if plain.multi else result.value
    assert sum_of_parts(result) == pytest.approx(published, abs=1e-12)
    # Each of them by hand.
    w, used, counted = plain.weight, numbers(result, "sign_used"), counted_pairs(result, data)
    assert_array_equal(used[~counted], 0)
    sign = np.broadcast_to(plain.sign, used.shape)
    shift = np.broadcast_to(plain.shift(w), used.shape) + 0 * plain.delta(w)
    change, none = plain.change(w), np.zeros(used.shape)
    assert part["gap"] == result.estimate
    by_hand = {
        "gap": used * change,
        "shift": np.where(counted, sign * shift, none),
        "selection": np.where(counted, sign * change, none) - used * change,
        "small_pairs": np.where(counted, none, sign * plain.delta(w)),
    }
    before = plain.after(w) - plain.centre(w, plain.group_pred, plain.task_pred)
    by_hand["association_predictions"] = used * before
    by_hand["association_labels"] = used * (before - change)
    for name, pairs in by_hand.items():
        expected = plain.mean(np.where(used == 0, none, pairs) if "association" in name else pairs)
        assert part[name] == pytest.approx(expected, abs=1e-12), name
    assert part["n_small_pairs"] == (~counted & ~np.isnan(plain.delta(w))).sum()


def test_every_part_occurs():
    """Otherwise the sum would be an easy promise."""
    largest = dict.fromkeys(("gap", "shift", "selection", "small_pairs"), 0.0)
    for auditor, data in EVERY.values():
        part = audit(clone(auditor).set_params(interval=None), data).statistics
        largest = {name: max(size, abs(part[name])) for name, size in largest.items()}
    assert min(largest.values()) > 0.01


@pytest.mark.parametrize("reference", ["test", "train"])
@pytest.mark.parametrize("metric", [NumericAuditor, BiasDisparityAuditor])
def test_values_of_numbers_and_preferences_are_the_sum_of_their_parts(metric, reference):
    for seed in range(5):
        data = nearly_random(n_groups=4, seed=seed)
        del data["sensitive_pred"]
        group = data["sensitive_features"]
        few = np.flatnonzero(group == "g3")[:20]
        data = rows(data, np.r_[np.flatnonzero(group != "g3"), few])
        if metric is NumericAuditor:
            rng = np.random.default_rng(seed)
            noise = rng.normal(size=(2, *data["y_true"].shape))
            data |= {"y_true": data["y_true"] + noise[0], "y_pred": data["y_pred"] + noise[1] + 0.5}
            data["y_train"] = data["y_train"] + rng.normal(size=data["y_train"].shape)
        result = audit(metric(reference=reference, interval=None), data)
        published = result.value if metric is NumericAuditor else result.statistics["signed_mean"]
        assert sum_of_parts(result) == pytest.approx(published, abs=1e-12)
        assert result.statistics["gap"] == result.estimate
        assert result.statistics["n_small_pairs"] == 3
        assert abs(result.statistics["small_pairs"]) > 1e-4


def test_majorities_that_are_chance_have_signs_of_their_own():
    """Label amplification: rates are compared with a half."""
    other = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = (rng.random((400, 12)) < rng.uniform(0.47, 0.53, 12)).astype(int)
        p = np.where(rng.random(y.shape) < 0.5, rng.integers(0, 2, y.shape), y)
        result = LabelAuditor(reference="test", interval=None).audit(y, p)
        assert sum_of_parts(result) == pytest.approx(result.value, abs=1e-12)
        x, c = y.mean(axis=0) - 0.5, p.mean(axis=0) - y.mean(axis=0)
        shared = [np.cov(y[:, t], p[:, t] - y[:, t]) for t in range(12)]
        part = np.clip([-both[0, 1] / both[1, 1] for both in shared], 0, 1)
        assert (np.abs(x) < 4 * 0.5 / 20).all()  # none is certain
        expected = np.where(np.abs(x + part * c) < 1e-9, 0, np.sign(x + part * c))
        assert_array_equal(result.table["sign_used"], expected)
        assert result.estimate == pytest.approx((expected * c).mean(), abs=1e-12)
        other += (result.table["sign_used"] != result.table["sign"]).sum()
    assert other > 5


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_values_of_clusters_are_the_sum_of_their_parts(direction):
    data = nearly_random(n_groups=3, seed=2)
    ids = np.random.default_rng(0).integers(0, 120, 400)
    auditor = DirectionalAuditor(direction, reference="test")
    result = auditor.audit(**{key: data[key] for key in AUDITED if key in data}, clusters=ids)
    assert sum_of_parts(result) == pytest.approx(result.value, abs=1e-12)


@pytest.mark.parametrize("interval", [None, "analytic", "bootstrap"])
def test_with_two_groups_and_training_labels_the_estimate_is_the_value(interval):
    """Group → task: what users of two groups read stays as it was."""
    for seed in range(5):
        data = nearly_random(n_groups=2, n_tasks=5, seed=seed)
        auditor = DirectionalAuditor(interval=interval)
        result = audit(auditor, data)
        assert result.estimate == pytest.approx(result.value, abs=1e-12)
        assert_array_equal(result.table["sign_used"], result.table["sign"])
        for name in ("shift", "selection", "small_pairs"):
            assert result.statistics[name] == pytest.approx(0, abs=1e-12)
        assert not result.differs


def test_a_model_that_predicts_a_task_more_often_for_everybody_has_a_shift_and_no_gap():
    group, label = np.repeat(["a", "b", "c"], 100), np.tile([1] * 20 + [0] * 80, 3)
    predicted = np.tile([1] * 50 + [0] * 50, 3)
    train = np.concatenate([[1] * ones + [0] * (100 - ones) for ones in (40, 30, 10)])
    auditor = DirectionalAuditor().fit(train, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 1, -1]
    # Every rate rises by 0.3, and two of three signs are +.
    assert result.value == pytest.approx(0.3 / 3)
    assert result.statistics["shift"] == pytest.approx(0.3 / 3)
    assert result.estimate == pytest.approx(0, abs=1e-12)
    assert result.verdict == "no clear effect"
    assert "published" not in result.sentence  # whoever reads numbers finds all parts beside it
    assert (
        "The formula of the metric's paper gives +0.1000: the estimate of 0.0000 and +0.1000 for "
        "what is predicted more or less often over all rows (shift)."
    ) in " ".join(repr(result).split())


# --------------------------------------------------------------------------- signs


def covariance(one, other, square):
    """Return the covariance of two sums of influences, of rows."""
    return np.einsum("n,n...,n...->...", square, one, other)


def trusted(plain, counted):
    """Return the signs of X + λC by brute force, and where they are too near to call.

    X is the association in the labels that give the signs, C its change in the predictions, and
    λ = −Cov(X, C) / Var(C) makes their sum uncorrelated with the change. If X and X + C are clearly
    opposite in all pairs together, the labels' own signs are right.
    """
    one, square = plain.influence(plain.association)
    other, _ = plain.influence(plain.change)
    x, c = plain.association(plain.weight), plain.change(plain.weight)
    var_x, both, var_c = (
        covariance(*pair, square) for pair in ((one, one), (one, other), (other, other))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(var_c > 1e-18, np.maximum(-both / var_c, 0), 0)
        certain = np.abs(x) > 4 * np.sqrt(var_x)
        error, error_after = np.sqrt(var_x), np.sqrt(var_x + 2 * both + var_c)
        common = (var_x + both) / (error * error_after)
        agreement = x / error * (x + c) / error_after - common
        some = ~certain & np.isfinite(agreement) & counted
        noise = 1 + common**2
        own = x**2 / var_x + (x + c) ** 2 / error_after**2
        own = np.maximum(own + 2 * common * (agreement + common) - noise, noise)
    agreement = agreement[some].sum() / max(np.sqrt(own[some].sum()), 1e-12)
    whole = np.where(certain | (agreement < -3), x, x + part * c)
    near = (np.abs(whole) < 1e-9) | (np.abs(np.abs(x) - 4 * np.sqrt(var_x)) < 1e-9)
    near |= abs(agreement + 3) < 1e-6
    sign = np.sign(np.nan_to_num(whole)).astype(int)
    sign = np.maximum(sign, 0) if plain.kind == "MALS" else sign
    return np.where(np.isnan(whole), plain.sign, sign), near & ~np.isnan(whole)


@pytest.mark.parametrize(("auditor", "data"), WEAK.values(), ids=WEAK)
def test_the_signs_of_the_estimate_are_uncorrelated_with_the_change(auditor, data):
    result = audit(clone(auditor).set_params(interval=None), data)
    plain, counted = Plain(auditor, data), counted_pairs(result, data)
    expected, near = trusted(plain, counted)
    if not plain.from_test and plain.base is None:
        expected = plain.sign  # training labels share no rows with the change
    expected = np.where(counted, expected, 0)
    assert_array_equal(numbers(result, "sign_used")[~near], expected[~near])


def test_signs_of_the_user_s_own_are_taken_as_they_are():
    data = nearly_random(n_groups=2)
    sign = pd.DataFrame([[1, -1, 0], [1, 1, -1]], index=["g0", "g1"])
    base = pd.DataFrame([[0.5, 0.51, 0.4], [0.49, 0.52, 0.4]], index=["g0", "g1"])
    for own in ({"sign": sign}, {"base": base}):
        result = audit(DirectionalAuditor(reference="test", interval=None, **own), data)
        assert_array_equal(result.table["sign_used"], result.table["sign"])


def exchangeable(rng, n, n_groups, n_tasks, wrong, spread=0.0, rate=0.3):
    """Return groups, labels and predictions that have the same law, given the group."""
    group = rng.integers(0, n_groups, n)
    rates = rate + spread * rng.choice([-1, 1], (n_groups, n_tasks))
    y, again = (rng.random((2, n, n_tasks)) < rates[group]).astype(int)
    return group, y, np.where(rng.random((n, n_tasks)) < wrong, again, y)


# --------------------------------------------------------------------------- worlds without effect
#
# Each returns what is audited or compared, and the published value with its interval by the delta
# method at the signs of the labels, from rows.


def excludes_zero(low, high):
    return low > 0 or high < 0


def published(influence, value):
    reach = stats.norm.isf(0.025) * np.sqrt((influence**2).sum())
    return value - reach, value + reach


def one_hot(values, width):
    return np.eye(width, dtype=int)[values]


def value_of_rates(given, after, before, sign):
    """Return Σ s_at (P(after | given) − P(before | given)) over all pairs, and its influences.

    `sign` is conditions × labels. Rates are given groups (A→T) or tasks (T→A).
    """
    n, change = given.sum(axis=0), after - before
    delta = given.T @ change / n[:, None]
    influence = ((change @ sign.T - (sign * delta).sum(axis=1)) * given / n).sum(axis=1)
    return influence / sign.size, (sign * delta).sum() / sign.size


def signs_of_rates(given, label):
    return np.sign(given.T @ label / given.sum(axis=0)[:, None] - label.mean(axis=0))


def many_tasks_without_training_labels(rng):
    group, y, p = exchangeable(rng, 4000, 10, 66, 0.4)
    result = DirectionalAuditor(reference="test").audit(y, p, sensitive_features=group)
    given = one_hot(group, 10)
    by_hand = value_of_rates(given, p, y, signs_of_rates(given, y))
    return (result.low, result.high), published(*by_hand)


def three_groups_predicted_too_often(rng):
    group, trained = rng.integers(0, 3, (2, 2000))
    y, known = (rng.random((2, 2000)) < 0.3).astype(int)
    p = np.where(rng.random(2000) < 0.15, 1, y)
    auditor = DirectionalAuditor().fit(known, sensitive_features=trained)
    result = auditor.audit(y, p, sensitive_features=group)
    sign = signs_of_rates(one_hot(trained, 3), known[:, None])
    by_hand = value_of_rates(one_hot(group, 3), p[:, None], y[:, None], sign)
    return (result.low, result.high), published(*by_hand)


def a_group_predicted_too_often(rng):
    group, trained = rng.integers(0, 2, (2, 2000))
    y, known = rng.integers(0, 3, (2, 2000))
    named = np.where(rng.random(2000) < 0.3, 0, group)
    auditor = DirectionalAuditor("T->A").fit(known, sensitive_features=trained)
    result = auditor.audit(y, sensitive_features=group, sensitive_pred=named)
    sign = signs_of_rates(one_hot(known, 3), one_hot(trained, 2))
    by_hand = value_of_rates(one_hot(y, 3), one_hot(named, 2), one_hot(group, 2), sign)
    return (result.low, result.high), published(*by_hand)


def mals_with_few_training_rows(rng):
    group, trained = rng.integers(0, 4, 2000), rng.integers(0, 4, 300)
    y, again = (rng.random((2, 2000, 5)) < 0.3).astype(int)
    known = (rng.random((300, 5)) < 0.3).astype(int)
    p = np.where(rng.random((2000, 5)) < 0.4, again, y)
    auditor = MALSAuditor().fit(known, sensitive_features=trained)
    result = auditor.audit(y, p, sensitive_features=group)
    shares = known.T @ one_hot(trained, 4) / known.sum(axis=0)[:, None]
    sign = (shares > 0.25).astype(float)
    parts = []
    for label, groups in ((p, one_hot(group, 4)), (known, one_hot(trained, 4))):
        none = np.zeros(groups.shape)
        influence, value = value_of_rates(label, groups, none, sign)
        parts.append((influence * 4, value * 4))  # divided by the number of tasks
    influence = np.append(parts[0][0], parts[1][0])
    return (result.low, result.high), published(influence, parts[0][1] - parts[1][1])


def an_accurate_and_a_calibrated_model(rng):
    group, y, calibrated = exchangeable(rng, 1000, 2, 20, 0.8)
    accurate = np.where(rng.random(y.shape) < 0.03, 1 - y, y)
    auditor = DirectionalAuditor(reference="test")
    models = {"calibrated": calibrated, "accurate": accurate}
    row = auditor.compare(y, models, sensitive_features=group).table.iloc[1]
    given = one_hot(group, 2)
    by_hand = value_of_rates(given, accurate, calibrated, signs_of_rates(given, y))
    return (row["difference_low"], row["difference_high"]), published(*by_hand)


def five_runs_of_one_training(rng):
    """The runs have the errors of one model, and few of their own."""
    rates = np.array([0.2, 0.4])
    group, trained = rng.integers(0, 2, (2, 1000))
    y, once = (rng.random((2, 1000)) < rates[group]).astype(int)
    known = (rng.random(1000) < rates[trained]).astype(int)
    runs = [np.where(rng.random(1000) < 0.05, y, once) for _ in range(5)]
    auditor = DirectionalAuditor().fit(known, sensitive_features=trained)
    result = auditor.audit_runs(y, runs, sensitive_features=group)
    given, sign = one_hot(group, 2), signs_of_rates(one_hot(trained, 2), known[:, None])
    values = [value_of_rates(given, run[:, None], y[:, None], sign)[1] for run in runs]
    assert result.value == pytest.approx(np.mean(values), abs=1e-12)
    ends = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    return (result.low, result.high), ends


def scores_too_near_to_their_mean(rng):
    """Groups are random; scores know the chance of a label, and are half as far from its mean."""
    group, chance = rng.integers(0, 5, 1000), rng.beta(0.8, 1.6, (1000, 20))
    y = (rng.random(chance.shape) < chance).astype(int)
    scores = 1 / 3 + (chance - 1 / 3) / 2
    auditor = DirectionalAuditor(reference="test")
    result = auditor.audit(y, scores, sensitive_features=group)
    given = one_hot(group, 5)
    by_hand = value_of_rates(given, scores, y, signs_of_rates(given, y))
    return (result.low, result.high), published(*by_hand)


NULL = {
    scores_too_near_to_their_mean: 60,
    many_tasks_without_training_labels: 60,
    three_groups_predicted_too_often: 150,
    a_group_predicted_too_often: 150,
    mals_with_few_training_rows: 150,
    an_accurate_and_a_calibrated_model: 100,
    five_runs_of_one_training: 100,
}


@pytest.mark.parametrize(("draw", "n"), NULL.items(), ids=[draw.__name__ for draw in NULL])
def test_where_nothing_is_amplified_verdicts_are_as_rare_as_they_say(draw, n):
    """At most 5 %, and 2.5 standard errors of so many data sets; published values fail that."""
    found = np.zeros(2, dtype=int)
    for seed in range(n):
        found += [excludes_zero(*ends) for ends in draw(np.random.default_rng(seed))]
    most = 0.05 * n + 2.5 * np.sqrt(0.05 * 0.95 * n)
    assert found[0] <= most < found[1]


# --------------------------------------------------------------------------- worlds with an effect


def amplified(rng, n, n_groups, n_tasks, *, gap, more, wrong):
    """Return weak associations of ± `gap`, and predictions with `more` of them."""
    group = rng.integers(0, n_groups, n)
    turn = rng.choice([-1, 1], (n_groups, n_tasks))
    turn = np.stack([turn[0], -turn[0]]) if n_groups == 2 else turn - turn.mean(axis=0)
    y = (rng.random((n, n_tasks)) < (0.3 + gap * turn)[group]).astype(int)
    again = (rng.random((n, n_tasks)) < (0.3 + (gap + more / wrong) * turn)[group]).astype(int)
    return group, y, np.where(rng.random((n, n_tasks)) < wrong, again, y)


@pytest.mark.parametrize(
    ("n_groups", "n_tasks", "n", "wrong"), [(2, 80, 1000, 0.8), (10, 66, 4000, 0.6)]
)
def test_real_amplification_is_found_without_training_labels(n_groups, n_tasks, n, wrong):
    """Published values hardly find it: signs of the labels themselves bias them downwards."""
    found, n_data = np.zeros(2, dtype=int), 25
    for seed in range(n_data):
        rng = np.random.default_rng(seed)
        data = amplified(rng, n, n_groups, n_tasks, gap=0.01, more=0.0095, wrong=wrong)
        group, y, p = data
        auditor = DirectionalAuditor(reference="test")
        result = auditor.audit(y, p, sensitive_features=group)
        given = one_hot(group, n_groups)
        low, _ = published(*value_of_rates(given, p, y, signs_of_rates(given, y)))
        found += [result.verdict == "amplifies", low > 0]
    assert found[0] >= 0.9 * n_data
    assert found[1] <= 0.2 * n_data


def test_the_majority_of_several_classes_is_chosen_independently_of_its_change():
    """Eight classes are equally frequent: the one that is ahead by chance is predicted less."""
    estimates, values, signs = [], [], set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 8, 500)
        p = np.where(rng.random(500) < 0.4, rng.integers(0, 8, 500), y)
        result = LabelAuditor(reference="test").audit(y, p)
        labels, predicted = np.eye(8)[y], np.eye(8)[p]
        rate, change = labels.mean(axis=0), (predicted - labels).mean(axis=0)
        joint = np.cov(labels.T, (predicted - labels).T)
        # The part of each rate that no change explains, by least squares.
        slopes, *_ = np.linalg.lstsq(joint[8:, 8:], joint[8:, :8], rcond=1e-10)
        used = result.table["sign_used"].to_numpy()
        ahead = np.sort(rate)[-2:] @ [-1, 1] > 4 * np.sqrt(2 / 8 / 500)
        assert not ahead
        if (rate == rate.max()).sum() == 1:
            plain = [np.eye(8)[np.argmax(rate - change @ slopes)], np.eye(8)[np.argmax(rate)]]
            assert any(np.array_equal(used, one) for one in plain)
            signs.add((used == plain[0]).all())
        assert result.estimate == pytest.approx(change @ used / used.sum(), abs=1e-12)
        estimates.append(result.estimate)
        values.append(result.value)
    assert True in signs
    error = np.std(values) / np.sqrt(60)
    assert np.mean(values) < -4 * error
    assert abs(np.mean(estimates)) < 2.5 * error


def test_a_clear_majority_of_several_classes_keeps_its_sign():
    y = np.repeat([0, 1, 2], [250, 150, 100])
    p = np.where(np.arange(500) % 3 == 0, 2, y)
    result = LabelAuditor(reference="test").audit(y, p)
    assert result.table["sign_used"].tolist() == result.table["sign"].tolist() == [1, 0, 0]
    assert result.verdict == "reduces"
    assert result.estimate == result.value < 0
    trained = LabelAuditor().fit(np.repeat([1, 0, 2], [10, 9, 8])).audit(y, p)
    assert trained.table["sign_used"].tolist() == [0, 1, 0]  # other rows share no noise


def reversing(z, times, changed, half=1000):
    """Return two groups whose labels differ by `z` standard errors, and a model that turns that.

    Its association is `times` as large, in the other direction; `changed` rows of a group have
    another prediction. None if these are too few.
    """
    more = round(z * np.sqrt(half) / 2)
    labels, predictions = [], []
    for sign in (1, -1):
        ones, net = half + sign * more, -round(sign * (1 + times) * more)
        gained = (changed + net) // 2
        lost = gained - net
        if min(gained, lost) < 0:
            return None
        y = np.repeat([1, 0], [ones, 2 * half - ones])
        p = y.copy()
        p[:lost], p[ones : ones + gained] = 0, 1
        labels.append(y)
        predictions.append(p)
    return np.repeat(["a", "b"], 2 * half), np.concatenate(labels), np.concatenate(predictions)


@pytest.mark.parametrize("interval", ["analytic", "bootstrap"])
@pytest.mark.parametrize("z", [1.2, 1.9, 2.5, 3.5])
def test_a_model_that_reverses_a_weak_association_does_not_amplify(z, interval):
    verdicts = []
    for times in (0.3, 0.6, 1, 1.5, 2, 3):
        for changed in (100, 200, 300, 500, 800, 1200, 1800):
            data = reversing(z, times, changed)
            if data is None:
                continue
            group, y, p = data
            difference = y[group == "a"].mean() - y[group == "b"].mean()
            error = np.sqrt(sum(y[group == a].var() / 2000 for a in "ab"))
            assert difference / error == pytest.approx(z, abs=0.05)
            auditor = DirectionalAuditor(reference="test", interval=interval)
            result = auditor.audit(y, p, sensitive_features=group)
            verdicts.append(result.verdict)
            if times * z >= 3.5:  # clearly the other way round
                assert result.verdict in ("reverses", "no clear effect", "not measured")
            # As far apart, the other way round: the middle of both has no sign, which is no 0.
            assert (result.verdict == "not measured") == (result.estimate == 0)
    assert "amplifies" not in verdicts
    # What is turned around has to have a direction that is known.
    assert ("reverses" in verdicts) == (z > 1.96)


def turned(rng, n_groups, n_tasks, n, apart, times):
    """Return groups, weakly associated labels, predictions, and the true change of each pair.

    The predictions of groups are `times` as far apart as their labels.
    """
    group = rng.integers(0, n_groups, n)
    order = np.tile(np.linspace(-1, 1, n_groups)[:, None], n_tasks)
    reach = apart * rng.permuted(order, axis=0)
    y = (rng.random((n, n_tasks)) < (0.4 + reach)[group]).astype(int)
    rate, goal = 0.4 + reach, 0.4 + times * reach
    up, down = np.maximum(goal - rate, 0) / (1 - rate), np.maximum(rate - goal, 0) / rate
    p = y ^ (rng.random((n, n_tasks)) < np.where(y == 1, down[group], up[group]))
    again = rng.random((n, n_tasks)) < goal[group]
    p = np.where(rng.random((n, n_tasks)) < 0.3, again, p)
    return group, y, p, (times - 1) * reach


WEAK_REVERSALS = [
    ((2, 1), 1000, 0.03, -1, 0.05),
    ((2, 1), 1000, 0.05, -1, 0.7),
    ((2, 1), 4000, 0.03, -1, 0.9),
    ((2, 5), 1000, 0.03, -1, 0.7),
    ((3, 1), 1000, 0.05, -1, 0.2),
    ((5, 10), 1000, 0.03, -2, 0.4),
]


@pytest.mark.parametrize(("shape", "n", "apart", "times", "least"), WEAK_REVERSALS)
def test_reversals_of_weak_associations_are_found_or_left_open(shape, n, apart, times, least):
    """Signs that are independent of the change alone called 10 to 40 % of them amplifying."""
    n_data, verdicts, covered, higher = 60, [], 0, 0
    for seed in range(n_data):
        group, y, p, change = turned(np.random.default_rng(seed), *shape, n, apart, times)
        auditor = DirectionalAuditor(reference="test")
        result = auditor.audit(y, p, sensitive_features=group)
        verdicts.append(result.verdict)
        true = (numbers(result, "sign_used") * change).mean()
        covered += result.low <= true <= result.high
        of_models = auditor.compare(y, {"labels": y, "p": p}, sensitive_features=group)
        higher += of_models.table["difference_low"][1] > 0
    assert verdicts.count("amplifies") <= 0.05 * n_data
    assert verdicts.count("reverses") >= least * n_data
    assert covered >= 0.9 * n_data
    assert higher <= 0.05 * n_data


ADDED = [
    ((2, 1), 1_000, 0.1, 0.0),
    ((2, 1), 4_000, 0.1, 0.0),
    ((2, 1), 1_000, 0.3, 0.0),
    ((2, 10), 1_000, 0.1, 0.0),
    ((5, 5), 1_000, 0.1, 0.0),
    ((2, 20), 1_000, 0.1, 0.9),
]


@pytest.mark.parametrize(("shape", "n", "added", "alike"), ADDED)
def test_a_model_that_adds_what_labels_lack_has_no_direction(shape, n, added, alike):
    """Chance associates labels one way or the other: up to 58 % had a verdict that took it."""
    verdicts, n_data = [], 200
    for seed in range(n_data):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, shape[0], n)
        y = rng.random((n, shape[1])) < 0.4
        # `alike`: the share of rows with one label for all tasks.
        y = np.where((rng.random(n) < alike)[:, None], y[:, :1], y).astype(int)
        p = np.where(rng.random(y.shape) < 0.1, 1 - y, y)
        p = np.where((group == 0)[:, None] & (rng.random(y.shape) < added), 1, p)
        auditor = DirectionalAuditor(reference="test")
        verdicts.append(auditor.audit(y, p, sensitive_features=group).verdict)
    directed = [verdict for verdict in verdicts if verdict != "no clear effect"]
    assert len(directed) <= n_data * 0.05 + 2.5 * np.sqrt(n_data * 0.05 * 0.95)


def test_predictions_that_point_away_from_labels_do_not_amplify():
    """Labels differ by 2 points, predictions by 10 the other way: 16 % were called amplified.

    Any association of the labels counted as agreement, as the predictions' is so clear.
    """
    verdicts, n = [], 1_000
    for seed in range(150):
        rng = np.random.default_rng(seed)
        group, kept = rng.integers(0, 2, n), rng.random(n) < 0.5
        rate = np.where(group, 0.39, 0.41)
        y = rng.random(n) < rate
        p = np.where(kept, y, rng.random(n) < 2 * np.where(group, 0.45, 0.35) - rate)
        auditor = DirectionalAuditor(reference="test")
        known = {"sensitive_features": group}
        verdicts.append(auditor.audit(y.astype(int), p.astype(int), **known).verdict)
    assert verdicts.count("amplifies") <= 150 * 0.05 + 2 * np.sqrt(150 * 0.05 * 0.95)


def test_runs_that_reverse_weak_associations_do_not_amplify():
    verdicts = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        group, y, p, _ = turned(rng, 5, 10, 1000, 0.03, -2)
        runs = [np.where(rng.random(p.shape) < 0.05, y, p) for _ in range(3)]
        auditor = DirectionalAuditor(reference="test")
        verdicts.append(auditor.audit_runs(y, runs, sensitive_features=group).verdict)
    assert "amplifies" not in verdicts
    assert sum(verdict in ("reverses", "reduces") for verdict in verdicts) >= 15


@pytest.mark.parametrize("direction", ["A->T", "T->A", None])
@pytest.mark.parametrize("base", ["train", "test"])
def test_the_signed_mean_of_sets_has_the_interval_and_verdict_of_their_size(direction, base):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=2000)
    task = (rng.random((2000, 3)) < (0.3 + 0.1 * group)[:, None]).astype(int)
    pred = np.where(rng.random(task.shape) < 0.1, 1 - task, task)
    group_pred = np.where(rng.random(2000) < 0.1, rng.integers(3, size=2000), group)
    results = []
    for kind in (MultiAttributeAuditor, SignedMultiAttributeAuditor):
        auditor = kind(direction, base=base, n_resamples=99, random_state=0)
        auditor.fit(task[:1000], sensitive_features=group[:1000])
        sides = {"sensitive_features": group[1000:], "sensitive_pred": group_pred[1000:]}
        results.append(auditor.audit(task[1000:], pred[1000:], **sides))
    size, signed = results
    assert signed.value == size.statistics["signed_mean"] != size.value
    assert signed.judged == pytest.approx(size.judged, rel=1e-12)
    assert signed.verdict == size.verdict
    assert signed.statistics["variance"] == size.statistics["variance"]
    assert "is a size" not in signed.sentence


@pytest.mark.parametrize("interval", ["analytic", "bootstrap"])
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_a_model_that_reverses_a_strong_association_reverses(direction, interval):
    group, y, p = reversing(16, 1, 700)
    how = {"sensitive_features": group}
    if direction == "T->A":  # the same rows, with groups and tasks in each other's place
        y, how = np.where(group == "a", 1, 0), {"sensitive_features": np.where(y, "a", "b")}
        how["sensitive_pred"] = np.where(p, "a", "b")
    else:
        how["y_pred"] = p
    auditor = DirectionalAuditor(direction, interval=interval)
    auditor.fit(y, sensitive_features=how["sensitive_features"])
    result = auditor.audit(y, **how)
    assert result.verdict == "reverses"
    part = result.statistics
    assert part["association_labels"] > 0 > part["association_predictions"]
    low, high = (part[f"association_predictions_{end}"] for end in ("low", "high"))
    assert low < part["association_predictions"] < high < 0
    assert "reverses" in result.sentence


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_model_that_reverses_preferences_reverses_them(as_frame):
    group, y, p = reversing(16, 1, 700)
    auditor = BiasDisparityAuditor()
    auditor.fit(y, sensitive_features=group)
    rows = pd.DataFrame({"group": group, "y": y, "p": p})
    if as_frame:
        result = auditor.audit(rows, target="y", prediction="p", sensitive="group")
    else:
        result = auditor.audit(y, p, sensitive_features=group)
    assert result.verdict == "reverses"
    assert "reverses" in result.sentence

    def of_predictions(rows):
        of_groups = rows.groupby("group")[["y", "p"]].mean() / rows[["y", "p"]].mean()
        return np.mean([1, -1] * (of_groups["p"] - 1) / of_groups["y"])

    rng = np.random.default_rng(1)
    draws = [of_predictions(rows.iloc[rng.integers(0, len(rows), len(rows))]) for _ in range(400)]
    names = [f"association_predictions{end}" for end in ("", "_low", "_high")]
    known = [result.statistics[name] for name in names]
    assert known[0] == pytest.approx(of_predictions(rows), rel=1e-12)
    error = np.std(draws)
    assert_allclose(known[1:], stats.norm.interval(0.95, known[0], error), atol=0.25 * error)


def test_a_model_that_only_weakens_preferences_reduces_them():
    group, y, _ = reversing(16, 1, 700)
    p = np.where(np.random.default_rng(0).random(len(y)) < 0.5, np.arange(len(y)) % 2, y)
    auditor = BiasDisparityAuditor()
    auditor.fit(y, sensitive_features=group)
    assert auditor.audit(y, p, sensitive_features=group).verdict == "reduces"


def test_the_association_of_predictions_has_the_interval_of_a_difference_of_two_rates():
    group, y, p = reversing(16, 1, 700)
    auditor = DirectionalAuditor().fit(y, sensitive_features=group)
    part = auditor.audit(y, p, sensitive_features=group).statistics
    rates = [p[group == a].mean() for a in "ab"]
    error = np.sqrt(sum(rate * (1 - rate) / 2000 for rate in rates)) / 2
    expected = stats.norm.interval(0.95, (rates[0] - rates[1]) / 2, error)
    found = [part[f"association_predictions_{end}"] for end in ("low", "high")]
    assert_allclose(found, expected, rtol=1e-9)


def test_a_model_that_only_weakens_an_association_reduces_it():
    group, y, _ = reversing(16, 1, 700)
    p = np.where(np.random.default_rng(0).random(len(y)) < 0.5, np.arange(len(y)) % 2, y)
    auditor = DirectionalAuditor().fit(y, sensitive_features=group)
    result = auditor.audit(y, p, sensitive_features=group)
    assert result.verdict == "reduces"
    assert result.statistics["association_predictions_low"] > 0


# --------------------------------------------------------------------------- one test


@st.composite
def small_worlds(draw):
    """Small worlds with weak or strong associations, and models that are near to one another."""
    kind = draw(st.sampled_from(["binary", "multiclass", "multilabel"]))
    n_groups, seed = draw(st.integers(2, 3)), draw(st.integers(0, 10**6))
    left, n = draw(st.sampled_from([0.0, 0.2, 1.0])), draw(st.integers(40, 200))
    data = nearly_random(n, kind, n_groups=n_groups, seed=seed, left=left, n_train=100)
    weights = draw(st.sampled_from([None, None, "whole", "fractional"]))
    return data if weights is None else weighted(data, weights, seed)


def nearby(data, seed):
    """Return other predictions, of tasks and groups, that differ in a tenth of the rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data["y_true"]))
    other = rng.random(len(order)) < 0.1
    turned = np.where(other, order, np.arange(len(order)))
    return data["y_pred"][turned], data["sensitive_pred"][turned]


def agrees(p_value, low, high, alpha=0.05):
    """Return whether p-values are below α exactly where intervals exclude 0."""
    p_value, low, high = (np.asarray(one, dtype=float) for one in (p_value, low, high))
    known = ~np.isnan(p_value)
    return ((p_value < alpha) == ((low > 0) | (high < 0)))[known].all()


AUDITORS = [
    metric(reference=reference, interval=interval, n_resamples=59, random_state=0)
    for metric in METRICS.values()
    for reference in ("train", "test")
    for interval in ("analytic", "bootstrap")
]


@settings(max_examples=60)
@given(small_worlds(), st.sampled_from(AUDITORS), st.integers(0, 100))
def test_a_p_value_is_below_alpha_exactly_where_its_interval_excludes_zero(data, auditor, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = audit(auditor, data)
        assert agrees(result.p_value, result.low, result.high)
        assert agrees(*(result.table[name] for name in ("p_value", "low", "high")))
        others = [nearby(data, seed + i) for i in range(2)]
        tasks, groups = (
            [data[name], *more]
            for name, more in zip(
                ("y_pred", "sensitive_pred"), zip(*others, strict=True), strict=True
            )
        )
        known = fitted(auditor, data)
        labels = {key: data[key] for key in ("sensitive_features", "sample_weight") if key in data}
        runs = known.audit_runs(data["y_true"], tasks, sensitive_preds=groups, **labels)
        assert agrees(runs.p_value, runs.low, runs.high)
        assert agrees(*(runs.table[name] for name in ("p_value", "low", "high")))
        compared = known.compare(
            data["y_true"],
            dict(zip("abc", tasks, strict=True)),
            sensitive_preds=dict(zip("abc", groups, strict=True)),
            **labels,
        )
        ends = ("p_value", "difference_low", "difference_high")
        assert agrees(*(compared.table[name][1:] for name in ends))
        assert agrees(*(compared.pairs[name] for name in ("p_value", "low", "high")))


# --------------------------------------------------------------------------- what was estimated


def test_a_constant_prediction_does_not_reduce_what_is_not_there():
    """50 random differences are lost, and each was 0: own signs alone would reduce in each set."""
    reduced = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group = rng.integers(5, size=1000)
        labels = (rng.random((1000, 10)) < 0.4).astype(int)
        auditor = DirectionalAuditor(reference="test")
        result = auditor.audit(labels, 0 * labels, sensitive_features=group)
        reduced += result.verdict != "no clear effect"
        assert result.estimate < 0
    assert reduced <= 3


def test_rounding_of_weights_opens_no_sign():
    """All rows predicted so are of one group: their share does not vary, but for rounding."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.2, 3.0, 80)
    group, y = np.repeat(["a", "b"], 40), rng.integers(0, 2, 80)
    predicted = np.where(group == "a", rng.integers(0, 2, 80), 0)
    train = {"y_train": [1] * 9 + [0] * 11, "sensitive_features": ["a"] * 4 + ["b"] * 16}
    auditor = MALSAuditor().fit(**train)
    signs = {
        tuple(
            auditor.audit(
                y, predicted, sensitive_features=group, sample_weight=weight * scale
            ).table["sign_used"]
        )
        for scale in np.linspace(0.1, 2.0, 39)
    }
    assert len(signs) == 1


def test_pairs_of_few_training_rows_leave_what_is_compared_with_them():
    """A share of 0 of 5 training rows is no certain one: 87 % of data sets were reduced."""
    verdicts = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        train, test = ((rng.random((n, 20)) < 0.03).astype(int) for n in (300, 3_000))
        groups = [rng.integers(0, 4, n) for n in (300, 3_000)]
        auditor = MALSAuditor().fit(train, sensitive_features=groups[0])
        guesses = (rng.random(test.shape) < 0.03).astype(int)
        result = auditor.audit(test, guesses, sensitive_features=groups[1])
        few = np.tile(train.sum(axis=0) < FEWEST, 4)
        if few.all():
            assert result.verdict == "not measured"
        else:
            assert_array_equal(numbers(result, "sign_used").ravel()[few], 0)
        verdicts.append(result.verdict)
    assert verdicts.count("not measured") >= 50
    assert "reduces" not in verdicts
    # One group has rows enough in training: it would be compared with itself.
    sex, labels = np.r_[np.zeros(290, int), np.ones(10, int)], rng.integers(0, 2, 300)
    auditor = DirectionalAuditor(base="train")
    auditor.fit(labels, sensitive_features=sex)
    sex, labels = rng.integers(0, 2, 3_000), rng.integers(0, 2, 3_000)
    assert auditor.audit(labels, labels, sensitive_features=sex).verdict == "not measured"
