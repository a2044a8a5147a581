"""Where rows of a query do not repeat, engines sum: tasks by themselves, fractions by squares."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.inference import UncertaintyWarning

N_TASKS = 8
LABELS = [f"t{i}" for i in range(N_TASKS)]
PREDICTIONS = [f"p{i}" for i in range(N_TASKS)]
MANY = {"target": LABELS, "prediction": PREDICTIONS, "sensitive": "group"}


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    common = rng.random((n, 1))  # tasks depend on one another
    rates = np.linspace(0.1, 0.5, N_TASKS) + 0.2 * (group == "a")[:, None]
    labels = (0.6 * common + 0.4 * rng.random((n, N_TASKS))) < rates
    predictions = labels ^ (rng.random((n, N_TASKS)) < 0.15 * common)
    frame = pd.DataFrame(labels.astype(np.int8), columns=LABELS)
    frame[PREDICTIONS] = predictions.astype(np.int8)
    scores = np.clip(0.7 * predictions + 0.3 * rng.beta(0.4, 0.4, (n, N_TASKS)), 0, 1)
    frame[[f"s{i}" for i in range(N_TASKS)]] = scores
    frame["weight"] = rng.gamma(0.5, 2, n)
    frame["repeated"] = rng.integers(0, 4, n)
    frame["region"] = rng.choice([1, 2], n)
    frame["group"] = group
    frame["group_pred"] = np.where(rng.random(n) < 0.1, "b", group)
    return frame


@pytest.fixture(scope="module")
def train():
    return simulate(3000, 0)


@pytest.fixture(scope="module")
def test():
    return simulate(4000, 1)


def lazy_polars(rows):
    return pytest.importorskip("polars").from_pandas(rows).lazy()


def duckdb(rows):
    pytest.importorskip("pyarrow")
    return pytest.importorskip("duckdb").from_df(rows)


def dask(rows):
    return pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)


def ibis(rows):
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows)
    return pytest.importorskip("ibis").memtable(table)


every_engine = pytest.mark.parametrize("engine", [lazy_polars, duckdb, dask, ibis])
pytestmark = pytest.mark.filterwarnings(
    "ignore:fetch_arrow_table:DeprecationWarning",  # Ibis calls what DuckDB has renamed
)


def held(rows, columns, weight=None, like=None, **options):
    """Return what labels in memory give."""
    prediction = columns.get("prediction")
    predicted = columns.get("sensitive_prediction")
    return Contingency.from_labels(
        rows[columns["target"]],
        None if prediction is None else rows[prediction].to_numpy(),
        sensitive_features=rows[columns["sensitive"]],
        sensitive_pred=None if predicted is None else rows[predicted],
        sample_weight=None if weight is None else rows[weight],
        like=like,
        **options,
    )


SIDES = ("group", "task", "task_pred", "group_pred")


def assert_same_pairs(one, other, tolerance=0.0):
    """All that pairs of group and task are made of is equal."""
    assert (one.groups, one.tasks) == (other.groups, other.tasks)
    np.testing.assert_allclose(one.total, other.total, rtol=tolerance)
    for side in SIDES:
        assert one.has(side) == other.has(side)
        if not one.has(side):
            continue
        np.testing.assert_allclose(one.count(side), other.count(side), rtol=tolerance)
        for given_ in SIDES:
            if one.has(given_) and side.partition("_")[0] != given_.partition("_")[0]:
                pairs = [cells.joint(side, given_) for cells in (one, other)]
                np.testing.assert_allclose(*pairs, rtol=tolerance, atol=1e-9 if tolerance else 0)


def assert_same_values(found, expected):
    """Values and pairs are equal; how tasks vary together is not known, so only pairs have ends."""
    assert found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-14)
    assert found.published == pytest.approx(expected.published, rel=1e-9, abs=1e-14)
    names = ["n", "base", "observed", "delta", "change", "sign", "amplification"]
    names += ["low", "high", "p_value", "p_adjusted", "direction_clear", "reliable"]
    pairs = (result.table[names].to_numpy(float) for result in (found, expected))
    np.testing.assert_allclose(*pairs, rtol=1e-9, atol=1e-13)
    assert np.isnan([found.low, found.high, found.p_value]).all()
    assert found.verdict == "not measured"


# --------------------------------------------------------------------------- many tasks


@every_engine
@pytest.mark.parametrize(
    ("sides", "weight"),
    [
        ({}, None),
        ({"sensitive": ["group", "region"]}, "repeated"),
        ({"sensitive_prediction": "group_pred"}, None),
        ({"sensitive_prediction": "group_pred"}, "repeated"),
    ],
    ids=["one", "intersection, weights", "predicted", "predicted, weights"],
)
def test_tasks_summed_by_themselves_have_the_pairs_of_memory(test, engine, weight, sides):
    columns = MANY | sides
    counted = Contingency.from_frame(engine(test), weight=weight, **columns)
    expected = held(test, columns, weight)
    assert_same_pairs(counted, expected)
    for role in ("task", "group") if counted.has("group_pred") else ("task",):
        both = [cells.both(role).count(f"{role}_pred") for cells in (counted, expected)]
        np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("groups", ["marginal", "indicator"])
def test_tasks_can_be_summed_in_overlapping_groups(test, groups):
    rows = test.assign(region=test["region"] - 1, old=(test["group"] == "a").astype(int))
    columns = MANY | {"sensitive": ["region", "old"]}
    counted = Contingency.from_frame(lazy_polars(rows), groups=groups, **columns)
    assert_same_pairs(counted, held(rows, columns, groups=groups))


@every_engine
def test_the_audit_of_summed_tasks_is_that_of_rows(train, test, engine):
    columns = {"target": LABELS, "sensitive": "group"}
    auditor = DirectionalAuditor()
    auditor.fit(engine(train), **columns)
    with pytest.warns(UncertaintyWarning, match="Count with joint=True"):
        found = auditor.audit(engine(test), prediction=PREDICTIONS, **columns)
    again = DirectionalAuditor()
    again.fit(train[LABELS], sensitive_features=train["group"])
    expected = again.audit(
        test[LABELS], test[PREDICTIONS].to_numpy(), sensitive_features=test["group"]
    )
    assert_same_values(found, expected)
    # Rows that are kept apart have the interval too.
    joint = Contingency.from_frame(
        engine(test), prediction=PREDICTIONS, joint=True, like=again.contingency_, **columns
    )
    ends = [[result.low, result.high] for result in (again.audit(joint), expected)]
    np.testing.assert_allclose(*ends, rtol=1e-9)


@pytest.mark.parametrize("predicted", ["p", "s"], ids=["labels", "probabilities"])
@pytest.mark.parametrize(
    "auditor",
    [
        MALSAuditor(),
        DirectionalAuditor("T->A"),
        DirectionalAuditor(base="train"),
    ],
    ids=["MALS", "T->A", "A->T"],
)
def test_intervals_of_pairs_are_those_of_rows(train, test, auditor, predicted):
    predictions = [f"{predicted}{i}" for i in range(N_TASKS)]
    columns = MANY | {"prediction": predictions, "sensitive_prediction": "group_pred"}
    if predicted == "s" and isinstance(auditor, MALSAuditor):
        pytest.skip("MALS needs labels")
    auditor.fit(train[LABELS], sensitive_features=train["group"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertaintyWarning)
        expected = auditor.audit(held(test, columns, like=auditor.contingency_)).table
        found = clone(auditor).fit(lazy_polars(train), target=LABELS, sensitive="group")
        names = ["n", "base", "observed", "delta", "change", "amplification", "low", "high"]
        table = found.audit(duckdb(test), **columns).table
        # Sums of squares hold the standard error of probabilities, but not degrees of freedom.
        ends = [["low", "high"], []][predicted == "p"]
        exact = [name for name in names if name not in ends]
        pd.testing.assert_frame_equal(table[exact], expected[exact], rtol=1e-9)
        np.testing.assert_allclose(table[ends], expected[ends], rtol=0, atol=1e-5)


@every_engine
def test_what_is_no_indicator_is_refused(test, engine):
    test = test[:100]
    for column, value, message in (
        (
            "t3",
            2,
            "column 't3' is one of several, so it must be a 0/1 indicator .* got 2",
        ),
        ("p3", -1, "column 'p3' is one of several, .* got -1"),
    ):
        wrong = test.copy()
        wrong.loc[17, column] = value
        with pytest.raises(ValueError, match=message):
            Contingency.from_frame(engine(wrong), **MANY)
    with pytest.raises(ValueError, match=r"column 't3' .* got 0\.\d"):
        Contingency.from_frame(engine(test.assign(t3=test["s3"])), **MANY)
    for column in ("t3", "p3"):
        holed = test.astype({column: "Int64" if engine is not dask else float})
        holed.loc[17, column] = None
        with pytest.raises(ValueError, match="missing values in the columns of target"):
            Contingency.from_frame(engine(holed), **MANY)
    with pytest.raises(ValueError, match="'group' is one of several"):
        Contingency.from_frame(engine(test), **MANY | {"target": [*LABELS[1:], "group"]})
    with pytest.raises(ValueError, match=r"^column 'weight' .weight. must hold whole numbers"):
        Contingency.from_frame(engine(test), weight="weight", **MANY)


def test_as_many_predictions_as_labels_are_wanted(test):
    with pytest.raises(
        ValueError,
        match=r"^target .'t0', .* and 3 more. has 8 columns but prediction .'p1', .* has 7",
    ):
        Contingency.from_frame(lazy_polars(test), **MANY | {"prediction": PREDICTIONS[1:]})


@every_engine
def test_missing_groups_of_summed_tasks(test, engine):
    rows = test.assign(group=test["group"].where(test["group"] != "c", None))
    for missing in ("drop", "group"):
        counted = Contingency.from_frame(engine(rows), missing=missing, **MANY)
        expected = held(rows, MANY, missing=missing)
        assert counted.n_dropped == expected.n_dropped
        assert_same_pairs(counted, expected)


def test_truths_and_floats_of_0_and_1_count_alike(test):
    expected = held(test, MANY)
    for kind in (bool, float, "int64"):
        rows = test.astype(dict.fromkeys(LABELS + PREDICTIONS, kind))
        counted = Contingency.from_frame(duckdb(rows), **MANY)
        assert not counted.soft("task_pred")
        assert_same_pairs(counted, expected)


# --------------------------------------------------------------------------- fractions

ONE = {"target": "t0", "prediction": "s0", "sensitive": ["group", "region"]}


@every_engine
@pytest.mark.parametrize(
    ("prediction", "weight"), [("s0", None), ("s0", "repeated"), ("p0", "weight"), ("s0", "weight")]
)
def test_distinct_scores_and_weights_are_cells(train, test, engine, prediction, weight):
    columns = ONE | {"prediction": prediction}
    auditor = DirectionalAuditor()
    auditor.fit(train["t0"], sensitive_features=train[["group", "region"]])
    counted = Contingency.from_frame(
        engine(test), weight=weight, like=auditor.contingency_, **columns
    )
    expected = held(test, columns, weight, like=auditor.contingency_)
    assert counted.summed is None
    assert counted.rows.sum() == expected.rows.sum()
    assert_same_pairs(counted, expected, tolerance=1e-10)
    one, other = auditor.audit(counted), auditor.audit(expected)
    pd.testing.assert_frame_equal(one.table, other.table, rtol=1e-8)
    ends = (other.value, other.low, other.high)
    assert (one.value, one.low, one.high) == pytest.approx(ends, rel=1e-9)
    assert one.verdict == other.verdict
    # Written and read again they are the same rows.
    for again in (
        Contingency.from_counts(counted.to_frame()),
        Contingency.from_json(counted.to_json()),
    ):
        assert auditor.audit(again).low == pytest.approx(one.low, rel=1e-9)


def test_too_many_cells_say_what_to_do(test, monkeypatch):
    monkeypatch.setattr("skbiasamp.counts.frames.MOST_CELLS", 50)
    fix = "Bin or round numbers, probabilities and weights, or read the columns into memory"
    with pytest.raises(ValueError, match=f"^column 's0' .* more than 50 combinations .* {fix}"):
        Contingency.from_frame(duckdb(test), **ONE)


@every_engine
def test_what_is_no_probability_is_refused(test, engine):
    for value, message in (
        (1.5, r"^column 's0' .* got 1\.5\."),
        (-0.2, r"^column 's0' .* got -0\.2\."),
    ):
        wrong = test.copy()
        wrong.loc[3, "s0"] = value
        with pytest.raises(ValueError, match=message):
            Contingency.from_frame(engine(wrong), **ONE)
    holed = test.copy()
    holed.loc[3, "s0"] = None
    with pytest.raises(ValueError, match=r"column 's0' \(prediction\) has missing values in 1 row"):
        Contingency.from_frame(engine(holed), **ONE)
    wrong = test.assign(weight=test["weight"] - 0.5)
    with pytest.raises(ValueError, match="negative"):
        Contingency.from_frame(engine(wrong), weight="weight", target="t0", sensitive="group")


@pytest.mark.parametrize("missing", ["drop", "group"])
@pytest.mark.parametrize("kind", ["text", "numbers", "floats", "truths", "dates", "pairs"])
def test_sums_of_tasks_find_their_groups_whatever_they_are_called(train, test, kind, missing):
    if kind == "pairs" and missing == "group":
        missing = "error"

    def named(rows):
        number = rows["group"].map({"a": 1, "b": 2, "c": 3})
        names = {
            "text": rows["group"].where(rows["group"] != "c", None),
            "numbers": number,
            "floats": number.where(number != 3).astype(float),
            "truths": rows["group"] == "a",
            "dates": pd.to_datetime("2020-01-0" + number.astype(str)),
            "pairs": rows["group"],
        }
        return rows.assign(group=names[kind])

    attribute = ["group", "region"] if kind == "pairs" else "group"
    train, test = named(train), named(test)
    auditor = DirectionalAuditor(missing=missing)
    auditor.fit(train, target=LABELS, sensitive=attribute)
    columns = MANY | {"sensitive": attribute}
    found = auditor.audit(lazy_polars(test), **columns)
    expected = auditor.audit(test, **columns)
    assert_same_values(found, expected)


def test_what_needs_rows_counts_the_rows_of_a_query(test):
    auditor = MultiAttributeAuditor(reference="test", interval=None)
    assert auditor.score(lazy_polars(test), **MANY) == auditor.score(held(test, MANY))


@pytest.mark.parametrize(("low", "high"), [(-0.2, 0.9), (0.1, 1.2)])
def test_an_engine_refuses_scores_beyond_either_end(low, high):
    frame = (
        pytest.importorskip("polars")
        .DataFrame({"sex": ["f", "m"] * 4, "y": [0, 1] * 4, "p": [low, high, *[0.4] * 6]})
        .lazy()
    )
    with pytest.raises(ValueError, match=rf"in \[0, 1\]; got {low if low < 0 else high}"):
        Contingency.from_frame(frame, target="y", prediction="p", sensitive="sex")
