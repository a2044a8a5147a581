"""Data frames and query engines: they count, and the numbers are those of memory."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor

COLUMNS = {"target": "target", "prediction": "prediction", "sensitive": ["group", "region"]}
# Ibis calls a method that DuckDB has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def simulate(n, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    target = rng.random(n) < 0.3 + 0.2 * (group == "a")
    return pd.DataFrame(
        {
            "group": group,
            "region": rng.integers(1, 3, n, dtype=np.int8),
            "target": target.astype(np.int8),
            "prediction": (target ^ (rng.random(n) < 0.1)).astype(np.int8),
            "repeated": rng.integers(0, 3, n, dtype=np.int8),
            "year": rng.choice([2024, 2025], n),
        }
    )


@pytest.fixture(scope="module")
def rows():
    return simulate(20_000)


def pandas(rows):
    return rows


def categories(rows):
    return rows.astype({"group": "category"})


def arrow_types(rows):
    pytest.importorskip("pyarrow")
    return rows.convert_dtypes(dtype_backend="pyarrow")


def polars(rows):
    return pytest.importorskip("polars").from_pandas(rows)


def lazy_polars(rows):
    return polars(rows).lazy()


def pyarrow(rows):
    return pytest.importorskip("pyarrow").Table.from_pandas(rows)


def duckdb(rows):
    pytest.importorskip("pyarrow")
    return pytest.importorskip("duckdb").from_df(rows)


def dask(rows):
    return pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)


def ibis(rows):
    return pytest.importorskip("ibis").memtable(pyarrow(rows))


ENGINES = [pandas, categories, arrow_types, polars, lazy_polars, pyarrow, duckdb, dask, ibis]
every_engine = pytest.mark.parametrize("engine", ENGINES)
few_engines = pytest.mark.parametrize("engine", [pandas, lazy_polars, duckdb])


# --------------------------------------------------------------------------- counts


@every_engine
def test_an_engine_counts_what_memory_holds(rows, engine):
    rows = rows.assign(holed=rows["group"].where(rows["group"] != "c", None))
    frame = engine(rows)
    for sensitive, weight, missing in (
        ("group", None, "error"),
        ("group", "repeated", "error"),
        (["group", "region"], None, "error"),
        (["group", "region"], "repeated", "error"),
        ("holed", None, "drop"),
        ("holed", None, "group"),
    ):
        named = COLUMNS | {"sensitive": sensitive, "missing": missing}
        counted = Contingency.from_frame(frame, weight=weight, **named)
        held = Contingency.from_labels(
            rows["target"],
            rows["prediction"],
            sensitive_features=rows[sensitive],
            sample_weight=None if weight is None else rows[weight],
            missing=missing,
        )
        assert counted == held
        assert counted.n_dropped == held.n_dropped
        pd.testing.assert_frame_equal(counted.to_frame(), held.to_frame())
    with pytest.raises(ValueError, match="missing values"):
        Contingency.from_frame(frame, **COLUMNS | {"sensitive": "holed"})


@every_engine
def test_long_integers_beside_a_missing_one_keep_their_digits(rows, engine):
    few, ids = rows[:600], (2**53, 2**53 + 1, None)
    named = COLUMNS | {"sensitive": "id", "missing": "group"}
    frame = engine(few.assign(id=pd.array([*ids] * 200, dtype="Int64")))
    texts = few.assign(id=["a", "b", "c"] * 200)
    held = Contingency.from_frame(texts, **named)
    counted = Contingency.from_frame(frame, **named)
    assert counted.groups == (*ids[:2], "(missing)")
    np.testing.assert_array_equal(*(c.joint("group", "task_pred") for c in (counted, held)))


def test_a_column_may_serve_two_sides_or_be_a_predicted_group(rows):
    cells = Contingency.from_frame(rows, target="target", prediction="target", sensitive="group")
    assert DirectionalAuditor(reference="test").score(cells) == 0
    auditor = DPAAuditor("T->A", cv=None, interval=None)
    predicted = np.where(rows["region"] == 1, rows["group"], "a")
    named = {"target": "target", "sensitive": "group", "sensitive_prediction": "predicted"}
    groups = {"sensitive_features": rows["group"], "sensitive_pred": predicted}
    value = auditor.score(rows.assign(predicted=predicted), **named)
    assert value == auditor.score(rows["target"], **groups)


def test_large_counts_and_decimals_stay_exact():
    named = {"target": "t", "sensitive": "g", "weight": "w"}
    for large in (2**31 + 1, 2**53 - 2):
        frame = pd.DataFrame({"g": ["a", "b"], "t": [0, 1], "w": [large, 1]})
        for engine in (pandas, polars, duckdb):
            assert Contingency.from_frame(engine(frame), **named).total == large + 1
        for kind in ("hugeint", "decimal(38, 0)", "ubigint", "double"):
            query = duckdb(frame).project(f"g, t, w::{kind} as w")
            assert Contingency.from_frame(query, **named).to_frame()["n"].tolist() == [large, 1]
    decimals = frame.assign(w=[decimal.Decimal(3)] * 2)
    assert Contingency.from_frame(decimals, **named).total == 6
    with pytest.raises(ValueError, match="more than can be counted exactly"):
        Contingency.from_frame(frame.assign(w=[2**53, 1]), **named)


DATES = pd.Series([datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)] * 6)
ZONED = pd.to_datetime(["2026-01-01 03:00", "2026-02-01 09:00"] * 6).tz_localize("Asia/Tokyo")


@pytest.mark.parametrize("times", [DATES, pd.Series(ZONED)], ids=["dates", "times with a zone"])
def test_times_have_the_names_that_queries_and_pandas_give_them(times):
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame({"time": times, "other": list("ffmm") * 3})
    rows = pl.DataFrame({"time": times.tolist(), "other": list("ffmm") * 3})
    for named in (
        {"target": "time", "sensitive": "other"},
        {"target": "other", "sensitive": "time"},
    ):
        expected = Contingency.from_frame(frame, **named)
        for read in (rows, rows.to_arrow(), rows.lazy()):
            assert Contingency.from_frame(read, **named, like=expected) == expected
            unlike = Contingency.from_frame(read, **named)
            assert repr(unlike.groups + unlike.classes) == repr(expected.groups + expected.classes)


def test_columns_may_be_named_by_numbers():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)))
    cells = Contingency.from_frame(frame, target=0, prediction=1, sensitive=[2, 3])
    assert cells == Contingency.from_frame(
        frame.rename(columns="c{}".format), target="c0", prediction="c1", sensitive=["c2", "c3"]
    )
    assert cells.group_columns == (2, 3)
    weighted = Contingency.from_frame(frame.assign(w=0.5), target=0, sensitive=2, weight="w")
    assert weighted.total == 100


# --------------------------------------------------------------------------- what is refused

FRAME = pd.DataFrame(
    {"y": [0, 1], "sex": ["f", "m"], "soft": 1.5, "other": [0, 1], "gap": None, "hole": [np.nan, 1]}
).assign(lists=[[1], [2]])
TUPLES = pd.DataFrame([[1, "f"]], columns=pd.MultiIndex.from_tuples([("x", "y"), ("x", "a")]))
TWICE = pd.DataFrame([[1, 1, "a"]], columns=["y", "y", "sex"])


def from_frame(frame, target="y", sensitive="sex", **named):
    return Contingency.from_frame(frame, target=target, sensitive=sensitive, **named)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"sensitive": "race"}, r"^sensitive must .* no column 'race'\. The columns are 'y'"),
        ({"target": "yy"}, "^target must name a column; there is no column 'yy': did you mean 'y'"),
        ({"sensitive": pd.Series(["f", "m"])}, "sensitive must be the name.*got Series.*features="),
        ({"sensitive": None}, "sensitive= must name a column of the frame; got None"),
        ({"target": []}, "target must be the name of a column, .*; got an empty list"),
        ({"target": "soft"}, r"^column 'soft' \(target\) is continuous"),
        ({"target": "lists"}, r"column 'lists' \(target\) must hold one label a row"),
        (
            {"target": ["y", "other"], "prediction": "soft"},
            r"^target \('y' and 'other'\) has 2 columns but column 'soft' \(prediction\)",
        ),
        ({"weight": ["y"]}, "weight must be the name of a column; got list"),
        ({"weight": "hole"}, r"^column 'hole' \(weight\) has missing values"),
    ],
)
def test_options_of_a_frame_are_checked(named, message):
    with pytest.raises((ValueError, TypeError), match=message):
        from_frame(FRAME, **named)


def test_what_is_wrong_with_a_frame_is_said():
    pa = pytest.importorskip("pyarrow")
    twice = pa.Table.from_arrays([pa.array([0])] * 2, names=["a", "a"])
    auditor = DirectionalAuditor(reference="test")
    for call, message in (
        (lambda: from_frame([1, 2]), r"^frame must be a data frame or a query .*Got list instead"),
        (
            lambda: auditor.audit(FRAME, targt="y", prediction="y", sensitive="sex"),
            r"unexpected keyword argument 'targt': did you mean 'target'",
        ),
        (
            lambda: from_frame(TUPLES, target=[("x", "y")], sensitive=[("x", "a")]),
            r"got tuple\. Names are text or whole numbers",
        ),
        (lambda: from_frame(TWICE), r"frame must have one column of each name.*'y' 2 times"),
        (
            lambda: Contingency.from_labels([1], sensitive_features=twice),
            r"sensitive_features must have one column of each name",
        ),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


@few_engines
def test_weights_of_equal_rows_are_checked_one_by_one(engine):
    for weights, message in (
        ([2.0, None, 1.0], "missing values"),
        ([0.5, -0.5, 1.0], "weight.*must be 0 or more; got negative values"),
    ):
        frame = pd.DataFrame({"y": [1, 1, 0], "sex": ["f", "f", "m"], "w": weights})
        with pytest.raises(ValueError, match=message):
            from_frame(engine(frame), weight="w")


def test_predicted_groups_are_a_column():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["sex", "hired", "guess"])
    named = {"target": "hired", "sensitive": "sex", "sensitive_prediction": "guess"}
    how = {"auditor": DirectionalAuditor("T->A"), "random_state": 0}
    found = skbiasamp.audit_frame(rows, **named, **how)["directional T->A"]
    expected = skbiasamp.audit(
        rows["hired"], sensitive_features=rows["sex"], sensitive_pred=rows["guess"], **how
    )["directional T->A"]
    assert (found.value, found.low) == (expected.value, expected.low)
