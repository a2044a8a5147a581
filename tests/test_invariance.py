"""The order of rows, names and the unit of weights change no value, no interval and no test."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skbiasamp import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import multi_attribute_amplification

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
N = 60
PAIRS = [
    MALSAuditor(),
    DirectionalAuditor("A->T"),
    DirectionalAuditor("A->T", base="train"),
    DirectionalAuditor("T->A"),
]
SETS = [
    MultiAttributeAuditor(direction, min_count=count, combinations=sets)
    for direction, count, sets in (("A->T", 1, "observed"), ("T->A", 5, "all"), (None, 1, "all"))
]
ATTACKS = [
    *(LeakageAuditor(equalize=one) for one in ("f1", "accuracy", None)),
    *(DPAAuditor("A->T", quality=one) for one in ("accuracy", "balanced_accuracy", "f1")),
    DPAAuditor("T->A", quality="accuracy"),
]
for each in ATTACKS:
    each.set_params(cv=None, attacker="exact", interval=None, random_state=0)


def rows_of(kind, seed):
    """Return labels, predictions, groups and weights of N rows in which all are associated."""
    rng = np.random.default_rng(seed)
    group = np.r_[np.arange(9) % 3, rng.integers(0, 3, N - 9)]
    shape = (N, 2) if kind == "indicators" else N
    labels = rng.integers(0, 3 if kind == "classes" else 2, shape)
    predicted = np.where(rng.random(shape) < 0.7, labels, rng.permutation(labels))
    return {
        "y_true": labels,
        "y_pred": rng.random(N) if kind == "probabilities" else predicted,
        "sensitive_features": group,
        "sensitive_pred": np.where(rng.random(N) < 0.7, group, rng.permutation(group)),
        "sample_weight": rng.uniform(0.05, 3, N),
    }


def numbers_of(auditor, train, rows):
    """Return all numbers of an audit."""
    names = {"sensitive_features": train["sensitive_features"]}
    auditor = clone(auditor).fit(train["y_true"], sample_weight=train["sample_weight"], **names)
    result = auditor.audit(**rows)
    flags = result.table.filter(["reliable", "direction_clear"]).astype(float)
    numbers = result.table.drop(columns=["n", *flags]).select_dtypes("number")
    whole = [result.value, result.low, result.high, result.p_value]
    return np.concatenate([whole, numbers.to_numpy().ravel(), flags.to_numpy().ravel()])


@pytest.mark.parametrize("auditor", [*PAIRS, *SETS, *ATTACKS], ids=repr)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16))
@example(seed=7052)  # a set whose change is 0 but for rounding
def test_the_unit_of_fractional_weights_does_not_matter(auditor, seed):
    kinds = ("binary", "classes", "indicators", "probabilities")
    for kind in kinds[: 4 if auditor in PAIRS else 3]:
        train, rows = rows_of(kind, seed), rows_of(kind, seed + 1)
        expected = numbers_of(auditor, train, rows)
        weight = rows["sample_weight"]
        for unit in (100, 1 / weight.sum()):
            other = rows | {"sample_weight": weight * unit}
            scaled = train | {"sample_weight": train["sample_weight"] * unit}
            found = numbers_of(auditor, scaled, other)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("constant", [[0], [0, 1]])
def test_labels_that_all_rows_have_are_so_in_any_order_of_fractional_weights(constant):
    """Rounding errors of their sums made a direction that the labels do not have."""
    rows = rows_of("indicators", 3)
    rows["y_true"][:, constant] = 1
    auditor, found = DirectionalAuditor(reference="test"), []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(N)
        result = auditor.audit(**{name: of[order] for name, of in rows.items()})
        found.append([result.value, result.low, result.high])
    np.testing.assert_allclose(found, found[:1] * 12, atol=1e-12)
    assert (np.ptp(found) == 0) == (constant == [0, 1])


@given(seed=st.integers(0, 2**16), random=st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_simultaneous_intervals_do_not_depend_on_the_order_of_names(seed, random):
    rng = np.random.default_rng(seed)
    group, y = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    pred = np.where(rng.random(300) < 0.8, y, rng.integers(0, 4, 300))
    auditor = DirectionalAuditor(reference="test")
    ends = ["low_simultaneous", "high_simultaneous"]
    before = auditor.audit(y, pred, sensitive_features=group).table.set_index(["group", "task"])
    names, classes = (np.array(random.sample(range(n), n)) for n in (3, 4))
    after = auditor.audit(classes[y], classes[pred], sensitive_features=names[group]).table
    after = after.set_index(["group", "task"])
    same = [(names[a], classes[t]) for a, t in before.index]
    np.testing.assert_allclose(after.loc[same, ends], before[ends], rtol=0, atol=1e-9)


def test_sets_have_to_occur_in_so_many_rows_whatever_these_weigh():
    """The third set is in three rows: it counts at min_count=3, and not at 4."""
    labels = np.array([[1, 0]] * 6 + [[0, 1]] * 6 + [[1, 1]] * 3)
    predicted, group = labels[::-1], np.arange(15) % 2
    weight = np.linspace(0.01, 0.5, 15)
    for unit in (1, 100, 1 / weight.sum()):
        rows = {"sensitive_features": group, "sample_weight": weight * unit}
        found = [
            MultiAttributeAuditor(min_count=count, interval=None, reference="test")
            .audit(labels, predicted, **rows)
            .statistics["n_combinations"]
            for count in (3, 4)
        ]
        assert found == [3, 2]
        assert multi_attribute_amplification(labels, predicted, min_count=3, **rows) > 0
