"""Fractional weights have no unit: only their ratios count."""

import inspect
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import (
    bias_disparity,
    differential_fairness_amplification,
    label_amplification,
    multi_attribute_amplification,
    percentage_amplification,
)

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (UndefinedMetricWarning, UncertaintyWarning)
]
N = 60
PREDICTABILITY = [
    *(LeakageAuditor(equalize=one) for one in ("f1", "accuracy", None)),
    *(
        DPAAuditor(direction, quality=quality)
        for direction in ("A->T", "T->A")
        for quality in ("accuracy", "balanced_accuracy", "f1")
    ),
]
AUDITORS = [
    MALSAuditor(),
    DirectionalAuditor("A->T"),
    DirectionalAuditor("A->T", base="train"),
    DirectionalAuditor("T->A"),
    *(
        MultiAttributeAuditor(direction, min_count=count, combinations=sets)
        for direction in ("A->T", "T->A", None)
        for count, sets in ((1, "observed"), (5, "all"))
    ),
    *(auditor.set_params(cv=None, attacker="exact") for auditor in PREDICTABILITY),
]
RELATED = [
    bias_disparity,
    # Its smoothing adds rows of weight 1.
    partial(differential_fairness_amplification, concentration=0.0),
    percentage_amplification,
    label_amplification,
]


def rows_of(kind, seed):
    """Labels, predictions, groups and weights of N rows in which all are associated."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N)
    shape = (N, 2) if kind == "multilabel" else N
    labels = rng.integers(0, 3 if kind == "multiclass" else 2, shape)
    predicted = np.where(rng.random(shape) < 0.7, labels, rng.permutation(labels))
    return {
        "y_true": labels,
        "y_pred": predicted,
        "sensitive_features": group,
        "sensitive_pred": np.where(rng.random(N) < 0.7, group, rng.permutation(group)),
        "sample_weight": rng.uniform(0.05, 3, N),
    }


def scaled(rows):
    """Return the rows with weights in two other units."""
    weight = rows["sample_weight"]
    return [rows | {"sample_weight": one} for one in (100 * weight, weight / weight.sum())]


def numbers_of(auditor, rows):
    auditor.set_params(interval="analytic" if hasattr(auditor, "reference") else None)
    train = {"y_train": rows["y_true"][::-1], "sensitive_features": rows["sensitive_features"]}
    auditor.fit(**train, sample_weight=rows["sample_weight"][::-1])
    if not hasattr(auditor, "reference"):
        auditor.set_params(random_state=0)
    result = auditor.audit(**rows)
    numbers = result.table.select_dtypes("number").drop(columns="n")
    flags = result.table.filter(["reliable", "direction_clear"]).astype(float)
    whole = [result.value, result.low, result.high, result.p_value]
    return np.concatenate([whole, numbers.to_numpy().ravel(), flags.to_numpy().ravel()])


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("auditor", AUDITORS, ids=repr)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16))
@example(seed=7052)  # a set whose change is 0 but for rounding
def test_the_scale_of_fractional_weights_does_not_matter(auditor, kind, seed):
    rows = rows_of(kind, seed)
    expected = numbers_of(auditor, rows)
    for other in scaled(rows):
        np.testing.assert_allclose(numbers_of(auditor, other), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("metric", RELATED)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**16))
def test_the_scale_of_fractional_weights_does_not_matter_to_related_measures(metric, kind, seed):
    taken = inspect.signature(metric).parameters
    rows = {name: one for name, one in rows_of(kind, seed).items() if name in taken}
    for other in scaled(rows):
        assert metric(**other) == pytest.approx(metric(**rows), abs=1e-9)


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
        value = multi_attribute_amplification(labels, predicted, min_count=3, **rows)
        assert value > 0
