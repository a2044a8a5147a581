"""Many rows through every engine, and what files and engines may get wrong."""

import decimal

import numpy as np
import pandas as pd
import pytest

from skbiasamp import Contingency, DirectionalAuditor

COLUMNS = {"target": "target", "prediction": "prediction", "sensitive": ["group", "region"]}


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
        }
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    pytest.importorskip("pyarrow")
    rows = simulate(300_000)
    path = tmp_path_factory.mktemp("many") / "rows.parquet"
    rows.to_parquet(path, row_group_size=1 << 17)
    held = {
        weight: Contingency.from_labels(
            rows["target"],
            rows["prediction"],
            sensitive_features=rows[["group", "region"]],
            sample_weight=None if weight is None else rows[weight],
        )
        for weight in (None, "repeated")
    }
    return path, held


def pandas(path):
    return pd.read_parquet(path)


def polars(path):
    return pytest.importorskip("polars").read_parquet(path)


def lazy_polars(path):
    return pytest.importorskip("polars").scan_parquet(path)


def pyarrow(path):
    return pytest.importorskip("pyarrow.parquet").read_table(path)


def duckdb(path):
    return pytest.importorskip("duckdb").read_parquet(str(path))


def dask(path):
    return pytest.importorskip("dask.dataframe").read_parquet(path, split_row_groups=2)


def ibis(path):
    return pytest.importorskip("ibis").duckdb.connect().read_parquet(path)


every_engine = pytest.mark.parametrize(
    "engine", [pandas, polars, lazy_polars, pyarrow, duckdb, dask, ibis]
)


# Ibis calls a method that DuckDB has renamed.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@every_engine
@pytest.mark.parametrize("weight", [None, "repeated"])
def test_many_rows_give_the_same_table_everywhere(many, engine, weight):
    path, held = many
    counted = Contingency.from_frame(engine(path), weight=weight, **COLUMNS)
    pd.testing.assert_frame_equal(counted.to_frame(), held[weight].to_frame())
    auditor = DirectionalAuditor(reference="test")
    pd.testing.assert_frame_equal(auditor.audit(counted).table, auditor.audit(held[weight]).table)


# --------------------------------------------------------------------------- what may go wrong


@pytest.fixture
def parts(tmp_path):
    pytest.importorskip("pyarrow")
    rows = simulate(2000)
    for i in range(3):
        rows.iloc[i::3].to_parquet(tmp_path / f"{i}.parquet")
    return rows, tmp_path


@pytest.mark.parametrize("engine", [lazy_polars, duckdb])
def test_files_count_as_one_by_glob(parts, engine):
    rows, folder = parts
    counted = Contingency.from_frame(engine(folder / "*.parquet"), **COLUMNS)
    assert counted == Contingency.from_frame(rows, **COLUMNS)


@pytest.mark.parametrize("engine", [lazy_polars, duckdb])
def test_a_file_that_is_cut_short_is_an_error(parts, engine):
    _, folder = parts
    path = folder / "1.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(Exception, match=r"(?i)magic bytes|out of specification"):
        Contingency.from_frame(engine(folder / "*.parquet"), **COLUMNS)


@pytest.mark.parametrize("kind", ["int64", "float64", "str", "bool"])
def test_a_column_whose_type_differs_between_files_is_counted_right_or_refused(parts, kind):
    rows, folder = parts
    rows.iloc[1::3].astype({"target": kind}).to_parquet(folder / "1.parquet")
    whole = folder / "*.parquet"
    assert Contingency.from_frame(duckdb(whole), **COLUMNS) == Contingency.from_frame(
        rows, **COLUMNS
    )
    with pytest.raises(Exception, match="data type mismatch for column target"):
        Contingency.from_frame(lazy_polars(whole), **COLUMNS)


def test_a_number_that_the_first_file_has_no_room_for_is_an_error(parts):
    rows, folder = parts
    wide = rows.iloc[1::3].astype({"target": "int64"})
    wide["target"] += 300
    wide.to_parquet(folder / "1.parquet")
    with pytest.raises(Exception, match=r"300|301"):
        Contingency.from_frame(duckdb(folder / "*.parquet"), **COLUMNS)


@pytest.mark.parametrize("kind", ["hugeint", "decimal(38, 0)", "ubigint", "double"])
@pytest.mark.parametrize("count", [3, 2**31 + 1, 2**53 - 2])
def test_counts_of_every_type_are_exact(kind, count):
    duckdb_ = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    query = duckdb_.sql(
        f"select g, t, w::{kind} as w from (values ('a', 0, {count}), ('b', 1, 1)) as v(g, t, w)"
    )
    counted = Contingency.from_frame(query, target="t", sensitive="g", weight="w")
    assert counted.to_frame()["n"].tolist() == [count, 1]


def test_weights_that_are_decimals_in_memory_count():
    frame = pd.DataFrame({"g": ["a", "b"], "t": [0, 1], "w": [decimal.Decimal(3)] * 2})
    counted = Contingency.from_frame(frame, target="t", sensitive="g", weight="w")
    assert counted.total == 6


def test_more_rows_than_a_float_can_count_are_refused():
    frame = pd.DataFrame({"g": ["a", "a", "b"], "t": [0, 0, 1], "w": [2**53, 1, 1]})
    with pytest.raises(ValueError, match="more than can be counted exactly"):
        Contingency.from_frame(frame, target="t", sensitive="g", weight="w")
