"""The same rows in another order: the same intervals and p-values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.inference import UncertaintyWarning

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (UndefinedMetricWarning, UncertaintyWarning)
]
N = 48
KINDS = ("labels", "classes", "probabilities", "fractional weights", "indicators", "sets")


def rows_of(kind, seed):
    """Labels of N rows, as what auditors take."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N)
    rows = {"sensitive_features": group, "sensitive_pred": rng.permutation(group)}
    if kind in ("indicators", "sets"):
        rows["y_true"] = rng.integers(0, 2, (N, 3))
        rows["y_pred"] = rng.integers(0, 2, (N, 3)) if kind == "sets" else rng.random((N, 3))
    else:
        rows["y_true"] = rng.integers(0, 3 if kind == "classes" else 2, N)
        rows["y_pred"] = rng.permutation(rows["y_true"])
    if kind == "probabilities":
        rows["y_pred"] = rng.random(N)
    if kind == "fractional weights":
        rows["sample_weight"] = rng.random(N)
    return rows


def numbers_of(auditor, train, rows):
    result = auditor.fit(**train).audit(**rows)
    whole = [result.value, result.low, result.high, result.p_value]
    return np.append(whole, result.table.select_dtypes("number"))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16), random=st.randoms(use_true_random=False))
def test_the_same_rows_give_the_same_numbers_in_any_order(kind, seed, random):
    rows, known = rows_of(kind, seed), rows_of(kind, seed + 1)
    order, known_order = (random.sample(range(N), N) for _ in range(2))
    train = {"y_train": known["y_true"], "sensitive_features": known["sensitive_features"]}
    if "sample_weight" in known:
        train["sample_weight"] = known["sample_weight"]
    auditors = [
        DirectionalAuditor("A->T"),
        DirectionalAuditor("T->A"),
        MALSAuditor(),
    ]
    if kind in ("sets", "fractional weights"):
        auditors += [MultiAttributeAuditor(d) for d in ("A->T", "T->A", None)]
    for auditor in auditors:
        expected = numbers_of(auditor, train, rows)
        found = numbers_of(
            auditor,
            {name: value[known_order] for name, value in train.items()},
            {name: value[order] for name, value in rows.items()},
        )
        # Angles of signs whose correlation is near 1 have the largest rounding errors.
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


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
