"""Identifiers and unbinned numbers are refused before tables are made; memory stays small."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import AuditedClassifier, Contingency, DirectionalAuditor, cross_audit, metrics

# Internal: the order of cells that several metrics share.
from skbiasamp.mitigation import AmplificationThresholdClassifier
from skbiasamp.model_selection import amplification_curve

IDS = np.arange(10_000)
LABELS = IDS % 2
QUESTION = "Is it an identifier, or a number to bin"


def peak_of(call):
    """Return the most memory that a call held, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_explanation_of_scores_holds_few_numbers_for_each_row():
    rng, n = np.random.default_rng(0), 50_000
    group, label = rng.choice(["f", "m"], n), rng.integers(0, 2, n)
    score = 0.5 * label + 0.3 * rng.random(n)
    predicted = (score > 0.5).astype(int)

    def explained(rows):
        how = {"sensitive_features": group[rows], "y_score": score[rows]}
        return skbiasamp.explain(label[rows], predicted[rows], **how)

    explained(slice(0, 200))  # what is imported is no part of it
    assert peak_of(lambda: explained(slice(None))) < 22 * 8 * n


def test_estimators_ask_for_fewer_groups():
    """They have no parameter for more, and take no contingency."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(300, 1)), rng.integers(21, size=300)
    y = (X[:, 0] > rng.normal(size=300)).astype(int)
    model, plain = LogisticRegression().fit(X, y), DirectionalAuditor(interval=None)
    calls = [
        lambda g: AmplificationThresholdClassifier(model).fit(X, y, sensitive_features=g),
        lambda g: AuditedClassifier(model, auditor=plain).fit(X, y, sensitive_features=g),
        lambda g: cross_audit(model, X, y, sensitive_features=g, auditor=plain, cv=2, n_halvings=0),
        lambda g: amplification_curve(y, X[:, 0], sensitive_features=g),
    ]
    merged = np.where(groups > 0, groups, 1)
    for call in calls:
        with pytest.raises(ValueError, match=r"got 21 values.* pass 20 or fewer: merge small ones"):
            call(groups)
        call(merged)


def counted(sex, **how):
    return Contingency.from_labels(np.arange(len(sex)) % 2, sensitive_features=sex, **how)


PEOPLE = pd.DataFrame({"sex": LABELS, "customer": IDS})
FIFTY, WEIGHT = np.arange(50), np.full(50, 20)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: counted(np.arange(42) % 21), f"21 values in 42 rows. {QUESTION}"),
        (lambda: counted(PEOPLE), "of 2 columns in 10,000 rows.*pass max_groups=100"),
        (lambda: counted(FIFTY, sample_weight=WEIGHT / 7), "in 50 rows"),
        (lambda: counted(IDS % 500, max_groups=499), "got 500 values"),
        (
            lambda: DirectionalAuditor().fit(LABELS, sensitive_features=IDS),
            r"pass Contingency.from_labels\(..., max_groups=10000\)",
        ),
        (
            lambda: Contingency.from_frame(PEOPLE, target="sex", sensitive="customer"),
            r"column 'customer' \(sensitive\).*max_groups=10000",
        ),
        (lambda: counted(["a", "b"], max_groups=2.5), "max_groups must be a whole number"),
    ],
)
def test_many_groups_of_few_rows_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_one_hundred_groups_and_few_groups_of_few_rows_are_allowed():
    assert len(counted(np.arange(2000) % 100).groups) == 100
    for few in (8, 20):
        assert len(counted(np.arange(2 * few) % few).groups) == few
    assert len(counted(np.arange(42) % 21, max_groups=21).groups) == 21
    assert counted(FIFTY, sample_weight=WEIGHT).total == 1000
    meant = Contingency.from_labels(LABELS, LABELS, sensitive_features=IDS % 500, max_groups=500)
    assert len(meant.groups) == 500
    assert Contingency.from_counts(meant.to_frame()) == meant


def test_groups_of_training_and_of_chunks_may_have_few_rows():
    groups = np.arange(1000) % 50
    weight = np.arange(1000) % 3 + 1
    train = Contingency.from_labels(groups % 2, sensitive_features=groups, sample_weight=weight)
    auditor = DirectionalAuditor()
    for low in range(0, 1000, 100):
        chunk, own = groups[low : low + 100], weight[low : low + 100]
        auditor.partial_fit(chunk % 2, sensitive_features=chunk, sample_weight=own)
    assert auditor.contingency_ == train


@pytest.mark.parametrize(
    ("labels", "groups", "said"),
    [
        (IDS, IDS, f"sensitive_features .* 10,000 values.*{QUESTION}"),
        # The table would have 80 MB.
        (np.arange(100_001), np.arange(100_001) % 100, r"y_true has 100,001 classes.*identifier"),
    ],
)
def test_identifiers_are_refused_in_little_memory(labels, groups, said):
    def call():
        with pytest.raises(ValueError, match=said):
            metrics.directional_amplification(labels, labels, sensitive_features=groups)

    assert peak_of(call) < 50e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_tasks", "more", "message"),
    [
        (400, 120, {"min_count": 2}, r"would have to count 8,\d\d\d,\d\d\d sets of 4 tasks"),
        (400, 120, {}, r"finds more than 2,000,000 sets: all those of \d\d tasks"),
        (2000, 200, {"min_count": 2}, r"combinations='all' would have to count 1,3\d\d,\d\d\d"),
    ],
)
def test_sets_of_tasks_are_refused_in_seconds(n, n_tasks, more, message):
    """Sets of three were made one by one: it took 14 seconds, and minutes with 200 tasks."""
    tasks = np.random.default_rng(0).random((n, n_tasks)) < 0.5
    before = time.process_time()
    with pytest.raises(ValueError, match=message):
        metrics.multi_attribute_amplification(
            tasks, tasks, sensitive_features=LABELS[:n], combinations="all", **more
        )
    assert time.process_time() - before < 8
