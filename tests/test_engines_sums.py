"""Where rows of a query do not repeat, engines sum: tasks by themselves, fractions by squares."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from test_frames import dask, duckdb, ibis, lazy_polars

from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor
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


# Ibis calls a method that DuckDB has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
every_engine = pytest.mark.parametrize("engine", [lazy_polars, duckdb, dask, ibis])


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
def test_tasks_summed_by_themselves_have_the_pairs_of_memory(test, engine):
    frame = engine(test)
    for sides, weight in (
        ({"sensitive": ["group", "region"]}, None),
        ({"sensitive_prediction": "group_pred"}, "repeated"),
    ):
        columns = MANY | sides
        counted = Contingency.from_frame(frame, weight=weight, **columns)
        expected = held(test, columns, weight)
        assert_same_pairs(counted, expected)
        for role in ("task", "group") if counted.has("group_pred") else ("task",):
            both = [cells.both(role).count(f"{role}_pred") for cells in (counted, expected)]
            np.testing.assert_array_equal(*both)


def test_tasks_are_summed_in_overlapping_groups_and_of_any_type(test):
    rows = test.assign(region=test["region"] - 1, old=(test["group"] == "a").astype(int))
    columns = MANY | {"sensitive": ["region", "old"]}
    for groups in ("marginal", "indicator"):
        counted = Contingency.from_frame(lazy_polars(rows), groups=groups, **columns)
        assert_same_pairs(counted, held(rows, columns, groups=groups))
    for kind in (bool, float, "int64"):
        counted = Contingency.from_frame(
            duckdb(test.astype(dict.fromkeys(LABELS + PREDICTIONS, kind))), **MANY
        )
        assert not counted.soft("task_pred")
        assert_same_pairs(counted, held(test, MANY))


@pytest.mark.parametrize("predicted", ["p", "s"], ids=["labels", "probabilities"])
@pytest.mark.parametrize(
    "auditor",
    [MALSAuditor(), DirectionalAuditor("T->A"), DirectionalAuditor(base="train")],
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


@pytest.mark.parametrize("engine", [lazy_polars, duckdb])
def test_what_is_no_indicator_is_refused(test, engine):
    test = test[:100]

    def changed(column, value):
        kind = float if isinstance(value, float) else "Int64"
        frame = test.astype({column: kind})
        frame.loc[17, column] = value
        return frame

    for frame, named, message in (
        (changed("t3", 2), {}, "column 't3' is one of several, so it must be a 0/1 .* got 2"),
        (changed("p3", -1), {}, "column 'p3' is one of several, .* got -1"),
        (changed("t3", 0.25), {}, r"column 't3' .* got 0\.25"),
        (changed("p3", None), {}, "missing values in the columns of target"),
        (test, {"target": [*LABELS[1:], "group"]}, "'group' is one of several"),
        (test, {"weight": "weight"}, r"^column 'weight' .weight. must hold whole numbers"),
        (
            test,
            {"prediction": PREDICTIONS[1:]},
            r"^target .'t0', .* and 3 more. has 8 columns but prediction .'p1', .* has 7",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            Contingency.from_frame(engine(frame), **MANY | named)


ONE = {"target": "t0", "prediction": "s0", "sensitive": ["group", "region"]}


@pytest.mark.parametrize("engine", [lazy_polars, duckdb])
def test_what_is_no_probability_is_refused(test, engine, monkeypatch):
    for value, message in (
        (1.5, r"^column 's0' .* got 1\.5\."),
        (-0.2, r"^column 's0' .* got -0\.2\."),
        (None, r"column 's0' \(prediction\) has missing values in 1 row"),
    ):
        wrong = test.copy()
        wrong.loc[3, "s0"] = value
        with pytest.raises(ValueError, match=message):
            Contingency.from_frame(engine(wrong), **ONE)
    # Our own limit: more rows would take longer.
    monkeypatch.setattr("skbiasamp.counts.frames.MOST_CELLS", 50)
    fix = "Bin or round numbers, probabilities and weights, or read the columns into memory"
    with pytest.raises(ValueError, match=f"^column 's0' .* more than 50 combinations .* {fix}"):
        Contingency.from_frame(engine(test), **ONE)


@pytest.mark.parametrize("kind", ["text", "floats", "truths", "dates"])
def test_sums_of_tasks_find_their_groups_whatever_they_are_called(train, test, kind):
    def named(rows):
        number = rows["group"].map({"a": 1, "b": 2, "c": 3})
        names = {
            "text": rows["group"].where(rows["group"] != "c", None),
            "floats": number.where(number != 3).astype(float),
            "truths": rows["group"] == "a",
            "dates": pd.to_datetime("2020-01-0" + number.astype(str)),
        }
        return rows.assign(group=names[kind])

    columns, train, test = MANY, named(train), named(test)
    for missing in ("drop", "group"):
        auditor = DirectionalAuditor(missing=missing)
        auditor.fit(train, target=LABELS, sensitive=columns["sensitive"])
        counted = Contingency.from_frame(lazy_polars(test), missing=missing, **columns)
        assert counted.n_dropped == held(test, columns, missing=missing).n_dropped
        with pytest.warns(UncertaintyWarning, match="Count with joint=True"):
            found = auditor.audit(lazy_polars(test), **columns)
        assert_same_values(found, auditor.audit(test, **columns))


def test_values_of_sums_are_those_of_rows(train, test):
    learned = {"target": LABELS, "sensitive": "group"}
    sums, audited = (
        Contingency.from_frame(lazy_polars(rows), **named, joint=False)
        for rows, named in ((train, learned), (test, MANY))
    )
    of_rows, audited_rows = held(train, learned), held(test, MANY)
    for auditor in (
        DirectionalAuditor(),
        DirectionalAuditor(base="train"),
        DirectionalAuditor(reference="test"),
        MALSAuditor(),
        MALSAuditor(reference="test"),
    ):
        expected = clone(auditor).fit(of_rows).audit(audited_rows).value
        for labels, rows in ((sums, audited_rows), (of_rows, audited), (sums, audited)):
            assert clone(auditor).fit(labels).audit(rows).value == pytest.approx(expected)
