"""Signs that can be trusted, the parts of a value, and verdicts that hold.

What a value is made of and the signs of the estimate are compared with the formulas from rows, and
verdicts with data in which nothing, or something, was changed.
"""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from by_hand import (
    A_TO_T,
    AUDITED,
    METRICS,
    OPTIONS,
    T_TO_A,
    Plain,
    audit,
    numbers,
    overlapping,
    rows,
    soft,
    weighted,
    world,
)
from numpy.testing import assert_allclose, assert_array_equal

from skbiasamp import (
    BiasDisparityAuditor,
    Contingency,
    DirectionalAuditor,
    MALSAuditor,
    NumericAuditor,
)
from skbiasamp.inference._influence import association_moments

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
        yield f"{name}, training labels", metric(), nearly_random(n_groups=3, seed=8, n_train=200)
        few = rows(nearly_random(n_groups=3, seed=9), np.r_[:150])
        yield f"{name}, few rows", own, few
    for name in ("A->T", "T->A"):
        train, three = METRICS[name](base="train"), nearly_random(n_groups=3, seed=10, n_train=200)
        yield f"{name}, base='train'", train, three
        sums = METRICS[f"multi {name}"](base="test")
        yield f"multi {name}, base='test'", sums, nearly_random(seed=11, n_train=200)
    for name in ("A->T", "MALS"):
        yield f"{name}, soft", METRICS[name](reference="test"), soft(nearly_random(seed=12))


WEAK = {name: case for name, *case in weak_options()}
EVERY = OPTIONS | {f"{name}, weak": case for name, case in WEAK.items()}
every_option = pytest.mark.parametrize(("auditor", "data"), EVERY.values(), ids=EVERY)
every_weak_option = pytest.mark.parametrize(("auditor", "data"), WEAK.values(), ids=WEAK)


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
    result = audit(auditor.set_params(interval=None), data)
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
        part = audit(auditor.set_params(interval=None), data).statistics
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


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_values_of_clusters_are_the_sum_of_their_parts(direction):
    data = nearly_random(n_groups=3, seed=2)
    ids = np.random.default_rng(0).integers(0, 120, 400)
    auditor = DirectionalAuditor(direction, reference="test", interval="analytic")
    result = auditor.audit(**{key: data[key] for key in AUDITED if key in data}, clusters=ids)
    assert sum_of_parts(result) == pytest.approx(result.value, abs=1e-12)


@pytest.mark.parametrize("interval", [None, "analytic", "bootstrap"])
def test_with_two_groups_and_training_labels_the_estimate_is_the_value(interval):
    """Group → task: what users of two groups read stays as it was."""
    for seed in range(5):
        data = nearly_random(n_groups=2, n_tasks=5, seed=seed)
        auditor = DirectionalAuditor(interval=interval, n_resamples=49, random_state=0)
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
    auditor = DirectionalAuditor(interval="analytic").fit(train, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 1, -1]
    # Every rate rises by 0.3, and two of three signs are +.
    assert result.value == pytest.approx(0.3 / 3)
    assert result.statistics["shift"] == pytest.approx(0.3 / 3)
    assert result.estimate == pytest.approx(0, abs=1e-12)
    assert result.verdict == "no clear effect"
    assert "this shift adds +0.1000" in result.sentence
    assert "published value of the metric is +0.1000" in result.sentence


# --------------------------------------------------------------------------- signs


def covariance(one, other, square):
    """Return the covariance of two sums of influences, of rows."""
    return np.einsum("n,n...,n...->...", square, one, other)


def in_clusters(influence, weight, ids):
    """Return the influence of each cluster: the sum of those of its rows."""
    sums = np.zeros((ids.max() + 1, *influence.shape[1:]))
    np.add.at(sums, ids, influence * weight.reshape(-1, *[1] * (influence.ndim - 1)))
    return sums


def trusted(plain, ids=None):
    """Return the signs of X + λC by brute force, and where they are too near to call.

    X is the association in the labels that give the signs, C its change in the predictions, and
    λ = −Cov(X, C) / Var(C) makes their sum uncorrelated with the change.
    """
    one, square = plain.influence(plain.association)
    other, _ = plain.influence(plain.change)
    if ids is not None:  # of audited rows alone
        n = len(plain.weight)
        one, other = (in_clusters(part[:n], plain.weight, ids) for part in (one, other))
        square = np.ones(len(one))
    x, c = plain.association(plain.weight), plain.change(plain.weight)
    var_x, both, var_c = (
        covariance(*pair, square) for pair in ((one, one), (one, other), (other, other))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.clip(np.where(var_c > 1e-18, -both / var_c, 0), 0, 1)
        certain = np.abs(x) > 4 * np.sqrt(var_x)
    whole = np.where(certain, x, x + part * c)
    near = (np.abs(whole) < 1e-9) | (np.abs(np.abs(x) - 4 * np.sqrt(var_x)) < 1e-9)
    sign = np.sign(np.nan_to_num(whole)).astype(int)
    sign = np.maximum(sign, 0) if plain.kind == "MALS" else sign
    return np.where(np.isnan(whole), plain.sign, sign), near & ~np.isnan(whole)


@every_weak_option
def test_the_signs_of_the_estimate_are_uncorrelated_with_the_change(auditor, data):
    result = audit(auditor.set_params(interval=None), data)
    plain = Plain(auditor, data)
    expected, near = trusted(plain)
    if not plain.from_test and plain.base is None:
        expected = plain.sign  # training labels share no rows with the change
    expected = np.where(counted_pairs(result, data), expected, 0)
    assert_array_equal(numbers(result, "sign_used")[~near], expected[~near])


def test_weak_associations_leave_signs_open():
    """Otherwise published signs would do."""
    other = {}
    for name, (auditor, data) in WEAK.items():
        result = audit(auditor.set_params(interval=None), data)
        used, sign = numbers(result, "sign_used", "sign")
        other[name] = int(((used != sign) & counted_pairs(result, data)).sum())
    assert sum(other.values()) > 50
    for metric in METRICS:
        assert sum(n for name, n in other.items() if name.startswith(metric)) > 3


@pytest.mark.parametrize("weights", [None, "whole", "fractional"])
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_signs_count_what_rows_of_a_cluster_share(direction, weights):
    changed = 0
    for seed in range(12):
        data = nearly_random(n_groups=3, seed=seed)
        # Six rows of a person, who are alike in half of what is measured.
        ids = np.arange(400) // 6
        for name in ("y_true", "y_pred"):
            first = np.asarray(data[name])[ids * 6]
            alike = np.random.default_rng(seed).random((400, 1)) < 0.7
            data[name] = np.where(alike, first, data[name])
        data = data if weights is None else weighted(data, weights)
        auditor = DirectionalAuditor(direction, reference="test", interval=None)
        labels = {key: data[key] for key in AUDITED if key in data}
        result = auditor.audit(**labels, clusters=ids)
        plain = Plain(auditor, data)
        (expected, near), (of_rows, _) = trusted(plain, ids), trusted(plain)
        near |= ~counted_pairs(result, data, ids)
        assert_array_equal(numbers(result, "sign_used")[~near], expected[~near])
        changed += (expected != of_rows)[~near].sum()
    assert changed > 0


def test_signs_of_the_user_s_own_are_taken_as_they_are():
    data = nearly_random(n_groups=2)
    sign = pd.DataFrame([[1, -1, 0], [1, 1, -1]], index=["g0", "g1"])
    base = pd.DataFrame([[0.5, 0.51, 0.4], [0.49, 0.52, 0.4]], index=["g0", "g1"])
    for own in ({"sign": sign}, {"base": base}):
        result = audit(DirectionalAuditor(reference="test", interval=None, **own), data)
        assert_array_equal(result.table["sign_used"], result.table["sign"])


def test_labels_and_predictions_that_could_be_swapped_have_the_sign_of_their_sum():
    """Then λ is a half, and swapping them leaves the signs alone."""
    n, agree, of_labels = 0, 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group, y, p = exchangeable(rng, 4000, 5, 20, 0.4)
        auditor = DirectionalAuditor(reference="test", interval=None)
        both = np.stack([(y + p)[group == a].mean(axis=0) for a in range(5)]) - (y + p).mean(axis=0)
        # λ has an error of its own, which decides where the sum is next to 0.
        clear = np.abs(both) > 0.003
        for labels, predicted in ((y, p), (p, y)):
            result = auditor.audit(labels, predicted, sensitive_features=group)
            agree += (numbers(result, "sign_used")[clear] == np.sign(both)[clear]).sum()
            of_labels += (numbers(result, "sign")[clear] == np.sign(both)[clear]).sum()
            n += clear.sum()
    assert n > 1500
    assert agree > 0.995 * n
    assert of_labels < 0.9 * n


def exchangeable(rng, n, n_groups, n_tasks, wrong, spread=0.0, rate=0.3):
    """Return groups, labels and predictions that have the same law, given the group."""
    group = rng.integers(0, n_groups, n)
    rates = rate + spread * rng.choice([-1, 1], (n_groups, n_tasks))
    y, again = (rng.random((2, n, n_tasks)) < rates[group]).astype(int)
    return group, y, np.where(rng.random((n, n_tasks)) < wrong, again, y)


# --------------------------------------------------------------------------- moments


def by_row(given, label, weight, ids=None):
    """Return each row's, or cluster's, influence on the rate of a label among some rows, minus
    that among all."""
    inside, n = weight @ given, weight.sum()
    rate, overall = weight @ (given * label) / inside, weight @ label / n
    influence = given * (label - rate) / inside - (label - overall) / n
    return influence if ids is None else np.bincount(ids, weight * influence)


@pytest.mark.parametrize("ids", [None, np.arange(600) // 4], ids=["rows", "clusters"])
@pytest.mark.parametrize("weights", [None, "whole", "fractional"])
@pytest.mark.parametrize("kind", ["labels", "probabilities", "groups"])
def test_moments_are_those_of_the_delta_method_row_by_row(kind, weights, ids):
    data = nearly_random(600, n_groups=3, n_tasks=4, seed=1)
    data = soft(data) if kind == "probabilities" else data
    data = data if weights is None else weighted(data, weights)
    labels = {key: data[key] for key in AUDITED if key in data}
    cells = Contingency.from_labels(**labels, clusters=ids)
    direction = "T->A" if kind == "groups" else "A->T"
    pairs = DirectionalAuditor(direction, reference="test")._measure(cells, cells)
    found = association_moments(cells, pairs, pairs.rates)
    weight = np.asarray(data.get("sample_weight", np.ones(600)), dtype=float)
    square = weight**2 if weights == "fractional" else weight
    groups = np.asarray(data["sensitive_features"])[:, None] == np.unique(
        data["sensitive_features"]
    )
    named = np.asarray(data["sensitive_pred"])[:, None] == np.unique(data["sensitive_features"])
    expected = np.zeros((3, 3, 4))
    for a, t in np.ndindex(3, 4):
        if kind == "groups":
            given, sides = data["y_true"][:, t], (groups[:, a], named[:, a])
        else:
            given, sides = groups[:, a], (data["y_true"][:, t], data["y_pred"][:, t])
        one, other = (by_row(given * 1.0, side * 1.0, weight, ids) for side in sides)
        count = square if ids is None else np.ones(len(one))
        expected[:, a, t] = count @ (one * one), count @ (one * other), count @ (other * other)
    assert_allclose(np.stack(found), expected, rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("ids", [None, np.arange(900) // 3], ids=["rows", "clusters"])
@pytest.mark.parametrize(
    "auditor", [A_TO_T(), T_TO_A(), MALSAuditor()], ids=["A->T", "T->A", "MALS"]
)
def test_moments_are_those_of_resamples(auditor, ids):
    data = nearly_random(900, n_groups=3, n_tasks=3, seed=2)
    labels = {key: data[key] for key in AUDITED if key in data}
    cells = Contingency.from_labels(**labels, clusters=ids)
    auditor.set_params(reference="test")
    measure = partial(auditor._measure, cells)
    pairs, drawn = measure(cells), measure(cells.resample(4000, random_state=0))
    found = association_moments(cells, pairs, pairs.rates)
    one, other = drawn.base - drawn.centre[0], drawn.observed - drawn.centre[1]
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    # A variance of 4,000 draws has an error of 2 %.
    errors = np.sqrt(found.labels * found.predictions)
    assert_allclose((one**2).mean(axis=0), found.labels, rtol=0.1)
    assert_allclose((other**2).mean(axis=0), found.predictions, rtol=0.1)
    assert (np.abs((one * other).mean(axis=0) - found.both) < 0.08 * errors).all()
