"""Dates and times of every engine as names of periods, by the calendar of Python."""

import datetime

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor

NAMED = {"time": "at", "target": "hired", "prediction": "predicted", "sensitive": "sex"}
# Ends of ISO years (2023-12-31 is in 2023-W52, 2024-12-30 in 2025-W01), a leap day, the last moment
# of a year, and the hour that New York has twice.
TIMES = [
    "2023-12-31 23:59:59.999999",
    "2024-01-01 00:00:00",
    "2024-01-07 00:00:00",
    "2024-01-08 12:00:00",
    "2024-02-29 23:30:00",
    "2024-11-03 01:30:00",
    "2024-11-03 03:00:00",
    "2024-12-30 05:00:00",
]
ENDS = [datetime.datetime.fromisoformat(text) for text in TIMES]
NAMES = {
    "hour": [f"{at:%Y-%m-%dT%H}" for at in ENDS],
    "day": [f"{at:%Y-%m-%d}" for at in ENDS],
    "week": [f"{at:%G-W%V}" for at in ENDS],
    "month": [f"{at:%Y-%m}" for at in ENDS],
    "quarter": [f"{at:%Y}-Q{(at.month + 2) // 3}" for at in ENDS],
    "year": [f"{at:%Y}" for at in ENDS],
}


def rows_at(times):
    """Return rows of two groups, with every label and prediction, at each time."""
    labels = [(sex, y, p) for sex in "fm" for y in (0, 1) for p in (0, 1)] * 3
    rows = pd.DataFrame(labels, columns=["sex", "hired", "predicted"])
    return pd.concat([rows.assign(at=at) for at in times], ignore_index=True)


def polars(rows):
    return pytest.importorskip("polars").from_pandas(rows)


def duckdb(rows):
    return pytest.importorskip("duckdb").from_df(rows)


def in_new_york(rows):
    first = np.zeros(len(rows), bool)  # neither is in summer time
    return rows.assign(at=rows["at"].dt.tz_localize("America/New_York", ambiguous=first))


def duckdb_in_new_york(rows):
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("set timezone = 'America/New_York'")
    rows = in_new_york(rows)
    return connection.sql("select * from rows")


def dask(rows):
    return pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)


def ibis(rows):
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows, preserve_index=False)
    return pytest.importorskip("ibis").memtable(table)


FRAMES = {
    "us": lambda rows: rows.astype({"at": "datetime64[us]"}),
    "tokyo": lambda rows: rows.assign(at=rows["at"].dt.tz_localize("Asia/Tokyo")),
    "new york": in_new_york,
    "arrow dtype": lambda rows: rows.astype({"at": "timestamp[us][pyarrow]"}),
    "text": lambda rows: rows.astype({"at": "string"}),
    "categories": lambda rows: rows.assign(at=rows["at"].astype(str).astype("category")),
    "polars": polars,
    "polars zone": lambda rows: polars(in_new_york(rows)),
    "duckdb": duckdb,
    "duckdb zone": duckdb_in_new_york,
    "dask zone": lambda rows: dask(in_new_york(rows)),
    "ibis": ibis,
}


def periods_of(frame, every):
    timeline = skbiasamp.audit_over(
        frame, every=every, auditor=DirectionalAuditor(interval=None), n_draws=19, **NAMED
    )
    return timeline.to_frame().set_index("period")["n"]


def assert_counted(frame, every):
    """Each time is in the period that Python's calendar names, and periods are in order."""
    counted = periods_of(frame, every)
    expected = pd.Series(NAMES[every]).value_counts().sort_index() * 24
    assert counted[counted > 0].to_dict() == expected.to_dict()
    assert list(counted.index) == sorted(counted.index)


@pytest.mark.parametrize("every", [every for every in NAMES if every != "hour"])
def test_times_are_in_the_periods_of_the_calendar(every):
    assert_counted(FRAMES["us"](rows_at(ENDS)), every)


@pytest.mark.parametrize("kind", FRAMES)
def test_times_of_every_engine_are_in_weeks_and_hours_of_the_clock_on_the_wall(kind):
    assert_counted(FRAMES[kind](rows_at(ENDS)), "week")
    counted = periods_of(FRAMES[kind](rows_at(ENDS[5:7])), "hour")
    assert counted.fillna(0).to_dict() == {
        "2024-11-03T01": 24, "2024-11-03T02": 0, "2024-11-03T03": 24
    }  # fmt: skip


@pytest.mark.parametrize("library", [polars, duckdb, pd.DataFrame])
def test_dates_are_in_the_periods_of_the_calendar(library):
    rows = rows_at(ENDS).assign(at=lambda rows: rows["at"].dt.date)
    assert_counted(library(rows.astype({"at": "date32[pyarrow]"})), "week")


def test_a_missing_version_is_no_version():
    versions = np.array([None, "v1", "v2"], dtype=object)[[0] * 24 + [0] * 13 + [1] * 35 + [2] * 24]
    rows = rows_at(TIMES[:4]).assign(version=versions)
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows)
    by_polars = pytest.importorskip("polars").from_arrow(table)
    for frame in (rows, table, by_polars, by_polars.lazy()):
        timeline = skbiasamp.audit_over(frame, every="day", version="version", n_draws=19, **NAMED)
        known = timeline.periods.dropna(subset=["version"])
        assert known["version"].tolist() == ["v1", "v1", "v2"]
        assert timeline.version_changes == [("2024-01-08", "v2")]


@pytest.mark.parametrize(
    ("every", "first", "last", "n"),
    [
        ("hour", "2024-02-28 22:00", "2024-02-29 01:00", 4),
        ("day", "2024-02-27", "2024-03-02", 5),
        ("week", "2020-12-20", "2021-01-10", 4),  # 2020-W51 to W53 and 2021-W01
        ("month", "2023-11-30", "2024-02-01", 4),
        ("year", "1999-12-31", "2004-01-01", 6),
    ],
)
def test_periods_without_rows_stand_between_the_others(every, first, last, n):
    counted = periods_of(rows_at([pd.Timestamp(first), pd.Timestamp(last)]), every)
    assert len(counted) == n
    assert list(counted.fillna(0) > 0) == [True] + [False] * (n - 2) + [True]


def test_numbers_in_the_names_of_periods_count_by_size():
    order = ["model", "v1", "v01-b", "v2", "v2.9", "v2.10", "v10", "v10a"]
    rows = rows_at(order[::-1])
    timeline = skbiasamp.audit_over(rows, every=None, n_draws=19, **NAMED)
    assert timeline.periods["period"].tolist() == order
    columns = {name: column for name, column in NAMED.items() if name != "time"}
    counts = {name: Contingency.from_frame(part, **columns) for name, part in rows.groupby("at")}
    timeline = skbiasamp.audit_over(counts, n_draws=19)
    assert timeline.periods["period"].tolist() == order


def test_a_wrong_year_is_reported_before_its_periods_are_made():
    rows = rows_at([pd.Timestamp("2024-01-01"), pd.Timestamp("1024-01-01")])
    with pytest.raises(ValueError, match=r"more than 10,000 periods from '1024-01-01' to '2024"):
        periods_of(rows, "day")


def test_text_of_year_and_month_is_a_month_and_no_day():
    rows = pd.concat([rows_at(["2026-01", "2026-02"]), rows_at(["2026-02-14", "2026-04-01"])])
    names = {
        every: skbiasamp.audit_over(rows, every=every, **NAMED).periods["period"].tolist()
        for every in ("month", "quarter")
    }
    assert names["month"][:2] == ["2026-01", "2026-02"]
    assert names["quarter"] == ["2026-Q1", "2026-Q2"]
    with pytest.raises(ValueError, match="must hold dates that begin with year, month and day"):
        skbiasamp.audit_over(rows, every="day", **NAMED)
    with pytest.raises(ValueError, match=r"time has no value in 24 rows of column 'at'"):
        skbiasamp.audit_over(rows_at([None, "2026-02-14"]), **NAMED)
    # Names of the user's own are sorted as numbers.
    timeline = skbiasamp.audit_over(rows_at([9, 10, 2]), every=None, n_draws=19, **NAMED)
    assert timeline.periods["period"].tolist() == ["2", "9", "10"]
