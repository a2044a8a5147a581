"""Data frames and query engines: they count, and the numbers are those of memory."""

import datetime

import numpy as np
import pandas as pd
import pytest

from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, MultiAttributeAuditor


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 5000
    group = rng.choice(["a", "b", "c"], n)
    target = (rng.random(n) < 0.3 + 0.2 * (group == "a")).astype(int)
    return pd.DataFrame(
        {
            "group": group,
            "region": rng.choice([1, 2], n),
            "target": target,
            "prediction": np.where(rng.random(n) < 0.1, 1 - target, target),
            "repeated": rng.integers(0, 3, n),
            "year": rng.choice([2024, 2025], n),
        }
    )


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


every_engine = pytest.mark.parametrize(
    "engine", [pandas, categories, arrow_types, polars, lazy_polars, pyarrow, duckdb, dask]
)


@every_engine
@pytest.mark.parametrize("sensitive", ["group", ["group", "region"]], ids=["one", "two"])
@pytest.mark.parametrize("weight", [None, "repeated"])
def test_an_engine_counts_what_memory_holds(rows, engine, sensitive, weight):
    counted = Contingency.from_frame(
        engine(rows), target="target", prediction="prediction", sensitive=sensitive, weight=weight
    )
    held = Contingency.from_labels(
        rows["target"],
        rows["prediction"],
        sensitive_features=rows[sensitive],
        sample_weight=None if weight is None else rows[weight],
    )
    assert counted == held


@every_engine
def test_an_audit_of_a_frame_is_that_of_its_columns(rows, engine):
    train, test = (rows[rows["year"] == year] for year in (2024, 2025))
    columns = {"target": "target", "sensitive": "group"}
    auditor = DirectionalAuditor().fit(engine(train), **columns)
    result = auditor.audit(engine(test), prediction="prediction", **columns)
    again = DirectionalAuditor()
    again.fit(train["target"], sensitive_features=train["group"])
    expected = again.audit(test["target"], test["prediction"], sensitive_features=test["group"])
    pd.testing.assert_frame_equal(result.table, expected.table)
    for name in ("value", "low", "high"):
        assert getattr(result, name) == pytest.approx(getattr(expected, name), abs=1e-14)
    assert auditor.score(engine(test), prediction="prediction", **columns) == expected.value


def test_a_frame_can_come_in_chunks(rows):
    columns = {"target": "target", "sensitive": "group"}
    auditor = DirectionalAuditor()
    for _, chunk in rows.groupby("year"):
        auditor.partial_fit(chunk, **columns)
    assert auditor.contingency_ == DirectionalAuditor().fit(rows, **columns).contingency_


def test_indicator_columns_and_overlapping_groups(rows):
    wide = pd.DataFrame(np.random.default_rng(1).random((500, 6)) < 0.4, columns=list("abcdef"))
    named = {"target": ["a", "b"], "prediction": ["c", "d"], "sensitive": ["e", "f"]}
    auditor = MultiAttributeAuditor(groups="indicator", reference="test", interval=None)
    held = auditor.audit(
        wide[["a", "b"]], wide[["c", "d"]].to_numpy(), sensitive_features=wide[["e", "f"]]
    )
    engine = pytest.importorskip("polars").from_pandas(wide)
    pd.testing.assert_frame_equal(auditor.audit(engine, **named).table, held.table)


def test_one_column_may_serve_two_sides(rows):
    cells = Contingency.from_frame(rows, target="target", prediction="target", sensitive="group")
    assert DirectionalAuditor(reference="test").score(cells) == 0


def test_predicted_attributes_are_counted_too(rows):
    auditor = DPAAuditor("T->A", cv=None, interval=None)
    predicted = np.where(rows["region"] == 1, rows["group"], "a")
    framed = rows.assign(predicted=predicted)
    value = auditor.score(
        framed, target="target", sensitive="group", sensitive_prediction="predicted"
    )
    assert value == auditor.score(
        rows["target"], sensitive_features=rows["group"], sensitive_pred=predicted
    )


@every_engine
@pytest.mark.parametrize("missing", ["drop", "group"])
def test_missing_groups_are_told_from_the_rest(rows, engine, missing):
    holed = rows.assign(group=rows["group"].where(rows["group"] != "c", None))
    counted = Contingency.from_frame(
        engine(holed), target="target", sensitive="group", missing=missing
    )
    held = Contingency.from_labels(
        holed["target"], sensitive_features=holed["group"], missing=missing
    )
    assert counted == held
    assert counted.n_dropped == held.n_dropped
    with pytest.raises(ValueError, match="missing values"):
        Contingency.from_frame(engine(holed), target="target", sensitive="group")


@pytest.mark.parametrize("large", [2**31 + 1, 2**40 + 1])
def test_large_counts_stay_exact(large):
    frame = pd.DataFrame({"g": ["a", "b"], "t": [0, 1], "w": [large, 1]})
    for engine in (pandas, polars, duckdb):
        counted = Contingency.from_frame(engine(frame), target="t", sensitive="g", weight="w")
        assert counted.total == large + 1


def test_decimal_weights_are_numbers():
    duckdb_ = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    query = duckdb_.sql(
        "select * from (values ('a', 0, 3::decimal(18, 2)), ('b', 1, 4)) as v(g, t, w)"
    )
    assert Contingency.from_frame(query, target="t", sensitive="g", weight="w").total == 7


def test_what_is_wrong_with_a_frame_is_said(rows):
    columns = {"target": "target", "sensitive": "group"}
    with pytest.raises(
        ValueError, match=r"^sensitive must .* no column 'race'\. The columns are 'gr"
    ):
        Contingency.from_frame(rows, target="target", sensitive="race")
    with pytest.raises(ValueError, match=r"^weight must name a column; there is no column 'w'"):
        Contingency.from_frame(rows, weight="w", **columns)
    with pytest.raises(TypeError, match=r"^frame must be a data frame or a query"):
        Contingency.from_frame([1, 2], **columns)
    with pytest.raises(ValueError, match="no rows"):
        Contingency.from_frame(rows.iloc[:0], **columns)
    with pytest.raises(ValueError, match=r"^sensitive= must name a column of the frame; got None"):
        DirectionalAuditor().fit(rows, target="target")
    with pytest.raises(TypeError, match="labels or scores were passed as well"):
        DirectionalAuditor().fit(rows, sensitive_features=rows["group"], **columns)


def test_errors_name_the_columns_of_the_reader(rows):
    rows = rows.assign(y_true_label=rows["target"], y_pred=1.5, sex=None)
    fit = DirectionalAuditor().fit
    message = "^target must name a column; there is no column 'y_true_lable': did you mean 'y_true_"
    with pytest.raises(ValueError, match=message):
        fit(rows, target="y_true_lable", sensitive="group")
    columns = {"target": "y_true_label", "sensitive": "group"}
    message = (
        r"^column 'y_pred' \(prediction\) must hold labels or probabilities in \[0, 1\]; got 1.5"
    )
    with pytest.raises(ValueError, match=message):
        fit(rows, **columns).audit(rows, prediction="y_pred", **columns)
    with pytest.raises(ValueError, match=r"^column 'y_pred' \(target\) is continuous"):
        fit(rows, target="y_pred", sensitive="group")
    with pytest.raises(ValueError, match=r"^column 'sex' \(sensitive\) has missing values"):
        fit(rows, target="target", sensitive=["group", "sex"])
    message = (
        r"^target \('target' and 'y_true_label'\) has 2 columns but column 'y_pred' \(prediction\)"
    )
    with pytest.raises(ValueError, match=message):
        Contingency.from_frame(
            rows, target=["target", "y_true_label"], prediction="y_pred", sensitive="group"
        )


NAMES = {"target": "a", "prediction": "*", "sensitive": "^sex$"}


@every_engine
def test_names_of_columns_are_no_patterns(engine):
    frame = pd.DataFrame(
        {"*": [1, 0, 1, 1], "a": [1, 1, 0, 0], "^sex$": list("ffmm"), "sex": list("xxxx")}
    ).assign(group="all")
    plain = frame.rename(columns={"*": "p", "^sex$": "s"})
    expected = Contingency.from_frame(plain, target="a", prediction="p", sensitive="s")
    assert Contingency.from_frame(engine(frame), **NAMES) == expected


def test_columns_may_be_named_by_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 4)))
    named = frame.rename(columns="c{}".format)
    on = {"target": 0, "prediction": 1, "sensitive": [2, 3]}
    cells = Contingency.from_frame(frame, **on)
    assert cells == Contingency.from_frame(
        named, target="c0", prediction="c1", sensitive=["c2", "c3"]
    )
    assert cells.group_columns == (2, 3)
    weighted = Contingency.from_frame(frame.assign(w=0.5), target=0, sensitive=2, weight="w")
    assert weighted.total == 100
    with pytest.raises(ValueError, match="target must name a column; there is no column 7"):
        Contingency.from_frame(frame, target=7, sensitive=2)
    with pytest.raises(ValueError, match=r"column 1 \(weight\) has missing values"):
        Contingency.from_frame(
            frame.astype({1: float}).replace({1: {0: np.nan}}) + 0.5,
            target=0,
            sensitive=2,
            weight=1,
        )


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ({"sensitive": pd.Series(["f", "m"])}, "sensitive must be the name.*got Series.*features="),
        ({"sensitive": None}, "sensitive= must name a column of the frame; got None"),
        ({"target": []}, "target must be the name of a column, .*; got an empty list"),
        ({"target": [["y"]]}, "target must be the name of a column"),
        ({"target": {"y": 1}}, "target must be the name of a column.*got dict"),
        ({"weight": ["y"]}, "weight must be the name of a column; got list"),
        ({"weight": "sex"}, r"column 'sex' \(weight\) must hold numbers; got ('f'|values of)"),
        ({"like": 3}, "like must be a Contingency; got int"),
        ({"joint": "yes"}, "joint must be one of True, False, None"),
    ],
)
@pytest.mark.parametrize("engine", [pandas, lazy_polars, duckdb])
def test_options_of_a_frame_are_checked(engine, on, message):
    frame = engine(pd.DataFrame({"y": [0, 1], "sex": ["f", "m"]}))
    with pytest.raises(ValueError, match=message):
        Contingency.from_frame(frame, **{"target": "y", "sensitive": "sex", **on})


def test_an_audit_takes_no_series_for_a_name():
    frame = pd.DataFrame({"y": [0, 1], "sex": ["f", "m"]})
    with pytest.raises(TypeError, match="sensitive must be the name of a column"):
        DirectionalAuditor(reference="test").audit(
            frame, target="y", prediction="y", sensitive=frame["sex"]
        )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("interval (n) hour", ("01:00:00", "02:00:00")),
        ("n::bit", ("0" * 31 + "1", "0" * 30 + "10")),
        ("map([n], ['x'])", ("{1=x}", "{2=x}")),
    ],
)
def test_types_that_only_duckdb_knows_are_text(kind, expected):
    pytest.importorskip("pyarrow")
    db = pytest.importorskip("duckdb").connect()
    rows = db.sql(f"select n - 1 as y, {kind} as a from (select unnest([1, 2, 2, 1])::int as n)")
    assert Contingency.from_frame(rows, target="y", sensitive="a").groups == tuple(sorted(expected))


def test_names_that_are_no_text_are_refused():
    frame = pd.DataFrame([[1, "f"]], columns=pd.MultiIndex.from_tuples([("x", "y"), ("x", "a")]))
    message = r"got tuple\. Names are text or whole numbers"
    with pytest.raises(ValueError, match=message):
        Contingency.from_frame(frame, target=[("x", "y")], sensitive=[("x", "a")])


def test_two_columns_of_one_name_are_an_error():
    frame = pd.DataFrame([[1, 1, "a"]], columns=["y", "y", "sex"])
    with pytest.raises(ValueError, match=r"frame must have one column of each name.*'y' 2 times"):
        Contingency.from_frame(frame, target="y", sensitive="sex")
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([0, 1])] * 2, names=["a", "a"])
    with pytest.raises(ValueError, match=r"sensitive_features must have one column of each name"):
        Contingency.from_labels([0, 1], sensitive_features=table)


@pytest.mark.parametrize("engine", [pandas, polars, lazy_polars, pyarrow, duckdb])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([2.0, None, 1.0], "missing values"),
        ([3.0, -1.0, 1.0], "weight.*must be 0 or more; got negative values"),
        ([0.5, -0.5, 1.0], "weight.*must be 0 or more; got negative values"),
    ],
)
def test_weights_of_equal_rows_are_checked_one_by_one(engine, weights, message):
    frame = pd.DataFrame({"y": [1, 1, 0], "sex": ["f", "f", "m"], "w": weights})
    with pytest.raises(ValueError, match=message):
        Contingency.from_frame(engine(frame), target="y", sensitive="sex", weight="w")


def test_values_that_cannot_be_grouped_are_named():
    frame = pd.DataFrame({"y": [[1], [2]], "sex": ["f", "m"]})
    with pytest.raises(ValueError, match=r"column 'y' \(target\) must hold one label a row"):
        Contingency.from_frame(frame, target="y", sensitive="sex")


def test_a_misspelt_column_option_is_named():
    frame = pd.DataFrame({"y": [0, 1], "p": [0, 1], "a": ["f", "m"]})
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'targt': did you mean 'target'"
    ):
        DirectionalAuditor(reference="test").audit(frame, targt="y", prediction="p", sensitive="a")


@pytest.mark.parametrize(
    "times",
    [
        pd.Series([datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)] * 6),
        pd.Series(
            pd.to_datetime(["2026-01-01 03:00", "2026-02-01 09:00"] * 6).tz_localize("Asia/Tokyo")
        ),
    ],
    ids=["dates", "times with a zone"],
)
@pytest.mark.parametrize("side", ["group", "task"])
def test_times_have_the_names_that_queries_and_pandas_give_them(times, side):
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame({"time": times, "other": list("ffmm") * 3})
    named = {"target": "time", "sensitive": "other"}
    if side == "group":
        named = {"target": "other", "sensitive": "time"}
    rows = pl.DataFrame({"time": times.tolist(), "other": list("ffmm") * 3})
    expected = Contingency.from_frame(frame, **named)
    for read in (rows, rows.to_arrow(), rows.lazy()):
        cells = Contingency.from_frame(read, **named, like=expected)
        assert cells == expected
        unlike = Contingency.from_frame(read, **named)
        assert [*map(repr, unlike.groups + unlike.classes)] == [
            *map(repr, expected.groups + expected.classes)
        ]


@pytest.mark.parametrize("container", [pandas, polars, pyarrow])
def test_rows_of_few_indicators_are_merged_as_an_engine_merges_them(rows, container):
    named = {"target": ["one", "two"], "prediction": ["one_pred", "two_pred"]}
    named |= {"sensitive": ["is_a", "is_b"], "groups": "indicator"}
    table = pd.DataFrame({"is_a": rows.group == "a", "is_b": rows.region == 1})
    for name, column in [("one", rows.target), ("two", rows.year == 2024)]:
        table[name] = column.astype(int)
        table[f"{name}_pred"] = (column * (rows.repeated > 0)).astype(float)
    cells = Contingency.from_frame(container(table), **named)
    assert cells.n_cells <= 2**6
    taken = {name: table[named[name]] for name in ("target", "prediction", "sensitive")}
    apart = Contingency.from_labels(
        taken["target"],
        taken["prediction"].set_axis(named["target"], axis=1),
        sensitive_features=taken["sensitive"],
        groups="indicator",
    )
    assert apart.n_cells == len(rows)
    assert cells == apart


@pytest.mark.parametrize("joint", [None, False])
def test_rows_that_an_engine_counted_have_no_number(joint):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"sex": ["f", "m", None] * 20, "y": [0, 1] * 30, "z": [1, 1, 0] * 20})
    named = {"target": ["y", "z"], "sensitive": "sex", "joint": joint}
    text = r"column 'sex' \(sensitive\) has missing values in {}. Leave these rows out"
    with pytest.raises(ValueError, match=text.format("20 rows")):
        Contingency.from_frame(frame.lazy(), **named)
    with pytest.raises(ValueError, match=text.format("20 rows, the first at position 2")):
        Contingency.from_frame(frame, **named | {"joint": None})
