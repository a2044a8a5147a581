"""Identifiers and numbers that were not binned are refused before tables are made of them."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    Contingency,
    DirectionalAuditor,
    LeakageProbe,
    cross_audit,
    metrics,
)
from skbiasamp.cli import main
from skbiasamp.mitigation import (
    AmplificationThresholdClassifier,
    search,
)
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


def test_identifiers_are_refused_in_little_memory():
    def call():
        with pytest.raises(ValueError, match=f"sensitive_features .* 10,000 values.*{QUESTION}"):
            metrics.directional_amplification(IDS, IDS, sensitive_features=IDS)

    assert peak_of(call) < 50e6


@pytest.mark.parametrize("groups", ["intersection", "marginal"])
def test_several_columns_are_refused_as_one_is(groups):
    people = pd.DataFrame({"sex": LABELS, "customer": IDS})
    with pytest.raises(ValueError, match=r"of 2 columns in 10,000 rows.*pass max_groups=100"):
        Contingency.from_labels(LABELS, sensitive_features=people, groups=groups)


def test_an_error_names_what_its_reader_can_pass():
    with pytest.raises(ValueError, match="pass max_groups=10000"):
        skbiasamp.audit(LABELS, LABELS, sensitive_features=IDS)
    with pytest.raises(ValueError, match=r"pass Contingency.from_labels\(..., max_groups=10000\)"):
        DirectionalAuditor().fit(LABELS, sensitive_features=IDS)
    frame = pd.DataFrame({"y": LABELS, "customer": IDS})
    with pytest.raises(ValueError, match=r"column 'customer' \(sensitive\).*max_groups=10000"):
        Contingency.from_frame(frame, target="y", sensitive="customer")


def test_estimators_ask_for_fewer_groups():
    """They have no parameter for more, and take no contingency."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(300, 1)), rng.integers(21, size=300)
    y = (X[:, 0] > rng.normal(size=300)).astype(int)
    model, plain = LogisticRegression().fit(X, y), DirectionalAuditor(interval=None)
    probe = LeakageProbe(n_resamples=9)
    calls = [
        lambda g: AmplificationThresholdClassifier(model).fit(X, y, sensitive_features=g),
        lambda g: AuditedClassifier(model, auditor=plain).fit(X, y, sensitive_features=g),
        lambda g: search(model, X, y, sensitive_features=g, auditor=plain, candidates={}, cv=2),
        lambda g: cross_audit(model, X, y, sensitive_features=g, auditor=plain, cv=2),
        lambda g: probe.fit(X, sensitive_features=g),
        lambda g: amplification_curve(y, X[:, 0], sensitive_features=g),
    ]
    merged = np.where(groups > 0, groups, 1)
    for call in calls:
        with pytest.raises(ValueError, match=r"got 21 values.* pass 20 or fewer: merge small ones"):
            call(groups)
        call(merged)


def test_the_command_has_the_option(tmp_path, capsys):
    path = tmp_path / "people.csv"
    groups = IDS[:6000] % 120
    pd.DataFrame({"y": LABELS[:6000], "p": 1 - LABELS[:6000], "group": groups}).to_csv(
        path, index=False
    )
    arguments = ["audit", str(path), "--target", "y", "--prediction", "p", "--sensitive", "group"]
    assert main(arguments) == 2
    seen = capsys.readouterr().err
    assert "--sensitive group must hold groups; got 120 values in 6,000 rows" in seen
    assert "pass --max-groups 120." in seen
    on = ["--auditor", "skbiasamp:DirectionalAuditor"]
    assert main([*arguments, "--max-groups", "120", *on]) == 0


@pytest.mark.parametrize(("n_groups", "n_rows", "fine"), [(100, 2000, True), (101, 9000, False)])
def test_one_hundred_groups_are_allowed(n_groups, n_rows, fine):
    groups = np.arange(n_rows) % n_groups
    if fine:
        assert len(Contingency.from_labels(groups % 2, sensitive_features=groups).groups) == 100
    else:
        with pytest.raises(ValueError, match=QUESTION):
            Contingency.from_labels(groups % 2, sensitive_features=groups)


@pytest.mark.parametrize(("n_groups", "fine"), [(8, True), (20, True), (21, False)])
def test_few_groups_may_have_few_rows(n_groups, fine):
    groups = np.arange(2 * n_groups) % n_groups
    labels = np.arange(2 * n_groups) // n_groups
    if fine:
        Contingency.from_labels(labels, sensitive_features=groups)
    else:
        with pytest.raises(ValueError, match=f"21 values in 42 rows. {QUESTION}"):
            Contingency.from_labels(labels, sensitive_features=groups)
        Contingency.from_labels(labels, sensitive_features=groups, max_groups=21)


def test_rows_are_those_that_cells_count_for():
    groups, weight = np.arange(50), np.full(50, 20)
    Contingency.from_labels(groups % 2, sensitive_features=groups, sample_weight=weight)
    with pytest.raises(ValueError, match="in 50 rows"):
        Contingency.from_labels(groups % 2, sensitive_features=groups, sample_weight=weight / 7)


def test_groups_of_training_and_of_chunks_may_have_few_rows():
    groups = np.arange(1000) % 50
    train = Contingency.from_labels(groups % 2, sensitive_features=groups)
    few = groups[:60]
    Contingency.from_labels(few % 2, sensitive_features=few, like=train)
    auditor = DirectionalAuditor()
    for low in range(0, 1000, 100):
        chunk = groups[low : low + 100]
        auditor.partial_fit(chunk % 2, sensitive_features=chunk)
    assert auditor.contingency_ == train


def test_many_groups_that_are_meant_are_measured():
    groups = IDS % 500
    train = Contingency.from_labels(LABELS, LABELS, sensitive_features=groups, max_groups=500)
    assert len(train.groups) == 500
    assert Contingency.from_counts(train.to_frame()) == train
    with pytest.raises(ValueError, match="got 500 values"):
        Contingency.from_labels(LABELS, LABELS, sensitive_features=groups, max_groups=499)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", np.nan, [100]])
def test_the_limit_is_a_whole_number(wrong):
    with pytest.raises(ValueError, match="max_groups must be a whole number"):
        Contingency.from_labels([0, 1], sensitive_features=["a", "b"], max_groups=wrong)


def test_classes_and_groups_must_make_a_table_that_fits():
    def call():
        with pytest.raises(ValueError, match=r"y_true has 100,001 classes.*identifier"):
            Contingency.from_labels(many, sensitive_features=many % 100)

    many = np.arange(100_001)
    assert peak_of(call) < 50e6  # the table would have 80


def test_a_query_returns_no_cell_a_row(monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr("skbiasamp.counts.frames.MOST_CELLS", 1_048_576)
    ids = np.arange(1_100_000)
    query = polars.DataFrame({"y": ids % 2, "id": ids}).lazy()
    with pytest.raises(ValueError, match=r"column 'id' \(sensitive\) .* 1,048,577 values or more"):
        Contingency.from_frame(query, target="y", sensitive="id")


def test_sets_of_many_tasks_are_refused_before_they_are_counted():
    tasks = np.random.default_rng(0).random((2000, 200)) < 0.5
    with pytest.raises(ValueError, match=r"combinations='all' would have to count 1,3\d\d,\d\d\d"):
        metrics.multi_attribute_amplification(
            tasks, tasks, sensitive_features=LABELS[:2000], combinations="all", min_count=2
        )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"min_count": 2}, r"would have to count 8,\d\d\d,\d\d\d sets of 4 tasks"),
        ({}, r"finds more than 2,000,000 sets: all those of \d\d tasks"),
    ],
)
def test_sets_of_tasks_are_refused_in_seconds(more, message):
    """Sets of three were made one by one: it took 14 seconds, and minutes with 200 tasks."""
    tasks = np.random.default_rng(0).random((400, 120)) < 0.5
    before = time.process_time()
    with pytest.raises(ValueError, match=message):
        metrics.multi_attribute_amplification(
            tasks, tasks, sensitive_features=LABELS[:400], combinations="all", **more
        )
    assert time.process_time() - before < 8


def test_numbers_are_to_be_binned():
    with pytest.raises(ValueError, match=r"continuous .*: bin it first \(pandas.cut"):
        skbiasamp.audit(LABELS, LABELS, sensitive_features=20 + IDS / 7)
