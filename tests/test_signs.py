"""Signs, and the parts of a value: how the judged number and the paper's formula go together."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from by_hand import METRICS, audit, rows, weighted, world
from numpy.testing import assert_array_equal
from scipy import stats

from skbiasamp import DirectionalAuditor, MultiAttributeAuditor, NumericAuditor
from skbiasamp.metrics import BiasDisparityAuditor, LabelAuditor, MALSAuditor

pytestmark = [
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


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


def worlds():
    yield "two groups", nearly_random(seed=1)
    yield "one task", nearly_random(kind="binary", seed=2)
    yield "classes", nearly_random(kind="multiclass", n_groups=3, seed=3)
    yield "three groups", nearly_random(n_groups=3, seed=4)
    yield "whole weights", weighted(nearly_random(seed=5), "whole")
    yield "weights", weighted(nearly_random(seed=6), "fractional")
    yield "few rows", rows(nearly_random(n_groups=3, seed=7), np.r_[:120])


WORLDS = dict(worlds())


@pytest.mark.parametrize("metric", METRICS)
def test_the_published_value_is_the_value_with_shift_and_selection(metric):
    for (name, data), reference in product(WORLDS.items(), ("test", "train")):
        result = audit(METRICS[metric](reference=reference), data)
        parts = result.value + result.statistics["shift"] + result.statistics["selection"]
        assert parts == pytest.approx(result.published, abs=1e-12), (name, reference)


def test_with_two_groups_and_training_labels_the_value_is_the_published_one():
    for seed in range(5):
        result = audit(DirectionalAuditor(), nearly_random(n_groups=2, n_tasks=5, seed=seed))
        assert result.value == pytest.approx(result.published, abs=1e-12)
        for part in ("shift", "selection"):
            assert result.statistics[part] == pytest.approx(0, abs=1e-12)


def test_a_model_that_predicts_a_task_more_often_for_everybody_has_a_shift_and_no_change():
    group, label = np.repeat(["a", "b", "c"], 100), np.tile([1] * 20 + [0] * 80, 3)
    predicted = np.tile([1] * 50 + [0] * 50, 3)
    train = np.concatenate([[1] * ones + [0] * (100 - ones) for ones in (40, 30, 10)])
    auditor = DirectionalAuditor().fit(train, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 1, -1]
    # Every rate rises by 0.3, and two of three signs are +.
    assert result.published == pytest.approx(0.3 / 3)
    assert result.statistics["shift"] == pytest.approx(0.3 / 3)
    assert result.value == pytest.approx(0, abs=1e-12)
    assert result.verdict == "no clear effect"


@pytest.mark.parametrize("auditor", [DirectionalAuditor, MultiAttributeAuditor])
def test_rates_of_training_rows_are_compared_in_groups_of_the_audited_sizes(auditor):
    """Equal rates are no change, however many rows of each group are audited."""
    label = np.repeat([1, 0, 1, 0], [80, 20, 60, 240])
    trained = auditor("A->T", base="train").fit(
        label[:, None], sensitive_features=np.repeat(["a", "b"], [100, 300])
    )
    audited = np.repeat([1, 0, 1, 0], [240, 60, 20, 80])[:, None]
    group = np.repeat(["a", "b"], [300, 100])
    assert trained.score(audited, audited, sensitive_features=group) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["training rows", "A->T", "T->A"])
def test_the_interval_of_other_rates_has_the_error_of_all_that_varies(base):
    """Rates of training rows have an error too, and those of the user's own have none."""
    rng, found = np.random.default_rng(0), []
    own = {"A->T": [0.3, 0.6], "T->A": [0.4, 0.6]}  # of the task by group, of the group with it
    if base in own:
        rates = pd.DataFrame({1: own[base]}, index=[0, 1])
        auditor = DirectionalAuditor(base, base=rates, reference="test")
    for _ in range(200):
        if base == "training rows":
            (train, trained), (label, group) = (
                ((rng.random(n) < np.array([0.6, 0.3, 0.4])[g]).astype(int), g)
                for n, g in (
                    (n, rng.choice(3, n, p=shares))
                    for n, shares in ((600, [0.2, 0.3, 0.5]), (400, [0.5, 0.3, 0.2]))
                )
            )
            auditor = DirectionalAuditor(base="train").fit(train, sensitive_features=trained)
            result = auditor.audit(None, label, sensitive_features=group)
        elif base == "A->T":
            group = rng.integers(0, 2, 400)
            label = (rng.random(400) < np.where(group, 0.6, 0.3)).astype(int)
            result = auditor.audit(label, rng.permutation(label), sensitive_features=group)
        else:
            group, label = (rng.random(400) < 0.6).astype(int), rng.integers(0, 2, 400)
            guessed = {"sensitive_pred": rng.permutation(group)}
            result = auditor.audit(label, label, sensitive_features=group, **guessed)
        found.append(result)
    if base == "training rows":
        assert 0.9 <= np.mean([one.low <= 0 <= one.high for one in found]) <= 0.99
    width = np.mean([one.high - one.low for one in found]) / 2
    assert 0.85 <= width / (1.96 * np.std([one.value for one in found])) <= 1.25


def binary(rng, tasks=1, rate=0.5):
    return (rng.random((2, 300, tasks)) < rate).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "draw"),
    [
        (DirectionalAuditor, lambda rng: binary(rng, 4, 0.3)),
        (MALSAuditor, binary),
        (NumericAuditor, lambda rng: rng.normal(size=(2, 300))),
        (BiasDisparityAuditor, lambda rng: rng.integers(0, 3, (2, 300))),
        # It compares rates with a half, which six tasks have by chance.
        (LabelAuditor, lambda rng: binary(rng, 6)),
    ],
)
def test_soft_signs_are_unbiased_where_labels_and_predictions_have_the_same_law(metric, draw):
    """Signs of the same rows, taken as they are, would find that every model reduces."""
    values, naive, auditor = [], [], metric(reference="test", interval=None)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 3, 300)
        result = auditor.audit(*draw(rng), sensitive_features=group)
        values.append(result.value)
        if metric is DirectionalAuditor:
            naive.append((result.table["sign"] * result.table["change"]).mean())
    error = stats.sem(values)
    assert abs(np.mean(values)) < 3.5 * error
    assert not naive or np.mean(naive) < -10 * error


def test_ties_in_training_labels_count_as_0_and_stay_in_the_divisor():
    group = np.repeat(["a", "b"], 100)
    label = np.column_stack([np.repeat([1, 0, 1, 0], [70, 30, 30, 70]), np.tile([1, 0], 100)])
    predicted = label.copy()
    predicted[70:90] = 1  # more of each task in the first group
    auditor = DirectionalAuditor().fit(label, sensitive_features=group)
    result = auditor.audit(label, predicted, sensitive_features=group)
    assert result.table["sign"].tolist() == [1, 0, -1, 0]
    # The gap of the first task grows by 0.2: half of it for each group, and two ties beside them.
    assert result.value == pytest.approx(0.1 / 2)
    assert result.published == pytest.approx(result.value)


def test_signs_of_the_user_s_own_are_taken_as_they_are():
    data = nearly_random(n_groups=2)
    sign = pd.DataFrame([[1, -1, 0], [1, 1, -1]], index=["g0", "g1"])
    base = pd.DataFrame([[0.5, 0.51, 0.4], [0.49, 0.52, 0.4]], index=["g0", "g1"])
    for own in ({"sign": sign}, {"base": base}):
        table = audit(DirectionalAuditor(reference="test", **own), data).table
        assert_array_equal(table["sign_weight"], table["sign"])
        assert_array_equal(table["direction_clear"], table["sign"] != 0)


def test_a_value_amplifies_only_if_half_of_it_is_of_clear_directions():
    """a and b differ clearly, and their changes cancel; c, as frequent as all, gains a lot."""
    n = 2000

    def of_groups(*rates):
        return np.concatenate([np.arange(n) < rate * n for rate in rates]).astype(int)

    groups, labels = np.repeat(["a", "b", "c"], n), of_groups(0.5, 0.4, 0.455)
    auditor = DirectionalAuditor(reference="test")
    for predicted, verdict in (
        (of_groups(0.5, 0.4, 0.6), "adds a difference"),
        (of_groups(0.6, 0.4, 0.455), "amplifies"),
    ):
        result = auditor.audit(labels, predicted, sensitive_features=groups)
        assert result.table["direction_clear"].tolist() == [True, True, False]
        assert result.low > 0
        assert result.verdict == verdict
