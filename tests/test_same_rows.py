"""Rows in any library, query or file: every function says of them what it says of a pandas frame.

Engines count rows where they are, or sum tasks by themselves; some calls need the rows one by one.
"""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor, NumericAuditor

N = 600
TASKS, PREDICTED = ([f"{side}{i}" for i in range(9)] for side in "tp")
ONE = {"target": "hired", "prediction": "decision", "sensitive": "sex"}
SEVERAL = {"target": TASKS, "prediction": PREDICTED, "sensitive": ["sex", "region"]}
SEEN = ["region", "guess"]
PLAIN = {"auditor": DirectionalAuditor(), "random_state": 0}


def made():
    rng = np.random.default_rng(0)
    man = rng.random(N) < 0.5
    law = rng.random(N) < 0.3 + 0.4 * man
    hired = rng.random(N) < 0.3 + 0.15 * man + 0.2 * law
    score = np.clip(0.6 * hired + 0.2 * man + 0.2 * rng.random(N), 0, 1)
    rows = pd.DataFrame({"sex": np.where(man, "m", "f"), "region": rng.choice([1, 2], N)})
    rows["dept"] = pd.Series(np.where(law, "law", "art")).where(np.arange(N) % 7 > 0, None)
    rows["hired"], rows["decision"] = hired.astype(int), (score > 0.5).astype(int)
    rows["other"] = np.where(rng.random(N) < 0.1, 1 - hired, hired).astype(int)
    rows["score"], rows["wage"] = score, np.round(20 + 3 * man + rng.normal(size=N), 2)
    rows["guess"] = np.where(rng.random(N) < 0.8, rows["sex"], "m")
    rows["weight"], rows["person"] = np.round(rng.gamma(2, 1, N), 3), np.arange(N) // 3
    rows["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(N) * 200 // N, "D")
    rows["day"] = rows["day"].astype("datetime64[us]")
    labels = rng.random((N, 9)) < 0.3 + 0.2 * man[:, None]
    more = [pd.DataFrame(labels.astype(int), columns=TASKS)]
    more += [pd.DataFrame((labels ^ (rng.random((N, 9)) < 0.1)).astype(int), columns=PREDICTED)]
    return pd.concat([rows, *more], axis=1)


ROWS = made()


# --------------------------------------------------------------------------- where rows are


def query_of_duckdb(folder):
    pytest.importorskip("pyarrow")
    return pytest.importorskip("duckdb").from_df(ROWS)


def memtable_of_ibis(folder):
    table = pytest.importorskip("pyarrow").Table.from_pandas(ROWS)
    return pytest.importorskip("ibis").memtable(table)


def parts_of_parquet(folder):
    pytest.importorskip("pyarrow")
    for i in range(3):
        ROWS.iloc[i::3].to_parquet(folder / f"rows-{i}.parquet")
    return sorted(folder.glob("rows-*.parquet"))


def file_of_csv(folder):
    ROWS.to_csv(folder / "rows.csv", index=False)
    return str(folder / "*.csv")


PLACES = {
    "polars": lambda folder: pytest.importorskip("polars").from_pandas(ROWS),
    "lazy": lambda folder: pytest.importorskip("polars").from_pandas(ROWS).lazy(),
    "pyarrow": lambda folder: pytest.importorskip("pyarrow").Table.from_pandas(ROWS),
    "duckdb": query_of_duckdb,
    "dask": lambda folder: pytest.importorskip("dask.dataframe").from_pandas(ROWS, npartitions=2),
    "ibis": memtable_of_ibis,
    "paths": parts_of_parquet,
    "csv": file_of_csv,
}


# --------------------------------------------------------------------------- what is said of them


def audited(rows, columns, **options):
    return told(skbiasamp.audit_frame(rows, **columns, **PLAIN | options))


def told(report):
    tables = [report.summary.drop(columns="verdict"), report.groups, report.rates, report.selection]
    tables += [result.table for result in report.values()]
    tables += [report.explanation.strata] if report.explanation is not None else []
    findings = pd.DataFrame({"said": sorted(each.code for each in report.findings)})
    return [*tables, findings, pd.DataFrame({"verdict": [report.facts.verdict]})]


def explained(rows, **options):
    explanation = skbiasamp.explain(rows, **ONE, random_state=0, **options)
    return parts_of(explanation)


def parts_of(explanation):
    tables = [explanation.to_frame(), explanation.audit.table]
    return [*tables, explanation.predictors, explanation.predictors_by_pair]


def scored(rows):
    columns = {name: ONE[name] for name in ("target", "sensitive")}
    auditor = MALSAuditor().fit(rows, **columns)
    both = auditor.score(rows, prediction="other", **columns), auditor.audit(rows, **ONE).low
    return [pd.DataFrame({"number": both})]


def selected(rows, **columns):
    rates = skbiasamp.selection_rates(rows, **columns)
    return [rates.table]


def watched(rows, **options):
    how = {"reference": 3, "n_draws": 19, "auditor": DirectionalAuditor(interval=None)}
    timeline = skbiasamp.audit_over(rows, time="day", **ONE | options, **how)
    return [timeline.to_frame(), timeline.pairs]


def summed(rows):
    """An engine that sums each task by itself knows no interval, and keeps no rows."""
    auditor = DirectionalAuditor(interval=None, reference="test")
    report = skbiasamp.audit_frame(rows, **SEVERAL, auditor=auditor)
    values = pd.DataFrame({"value": [report.value]})
    return [values, report.groups, report.rates, report.selection]


CALLS = {
    "an audit with training rows": lambda rows: audited(rows, ONE, train=rows),
    "an audit with weights": lambda rows: audited(rows, ONE, weight="weight"),
    "an audit with scores and strata": lambda rows: audited(
        rows, ONE, score="score", given="dept", sensitive_prediction="guess"
    ),
    "strata": lambda rows: audited(rows, ONE, given="dept"),
    "probabilities": lambda rows: audited(rows, ONE | {"prediction": "score"}, given="dept"),
    "many tasks": summed,
    "numbers": lambda rows: audited(
        rows, {**ONE, "target": "wage", "prediction": "score"}, auditor=NumericAuditor()
    ),
    "parts": lambda rows: explained(rows, given="dept", score="score"),
    "subgroups": lambda rows: [skbiasamp.explain(rows, **ONE).subgroups(SEEN)],
    "selection": lambda rows: selected(
        rows, prediction="decision", target="hired", sensitive=["sex", "region"]
    ),
    "selection by scores": lambda rows: selected(
        rows, prediction="score", sensitive="sex", cluster="person", scores=True
    ),
    "a comparison": lambda rows: [
        skbiasamp.compare(rows, **ONE | {"prediction": {"a": "decision", "b": "other"}}, **PLAIN)[
            "directional A->T"
        ].table
    ],
    "months": watched,
    "months of probabilities": lambda rows: watched(rows, prediction="score", weight="weight"),
    "an auditor": scored,
    "the class 0": lambda rows: audited(
        rows, ONE | {"prediction": "score"}, auditor=DirectionalAuditor(pos_label=0)
    ),
}


def sorted_rows(table):
    """Return a table whose rows are in an order of their own: engines count in any."""
    names = [name for name in table if not pd.api.types.is_float_dtype(table[name])]
    table = table.map(lambda cell: str(cell) if isinstance(cell, tuple) else cell)
    return table.sort_values(names, ignore_index=True) if names else table


@pytest.fixture(scope="module")
def expected():
    said = {name: call(ROWS) for name, call in CALLS.items()}
    return {
        name: [each if each is None else sorted_rows(each) for each in tables]
        for name, tables in said.items()
    }


# Dask takes a second for some calls: those that count, sum or keep rows.
OF_DASK = {"an audit with training rows", "many tasks", "parts", "months"}


@pytest.mark.parametrize(
    ("place", "call"),
    [(place, call) for place in PLACES for call in CALLS if place != "dask" or call in OF_DASK],
)
def test_the_same_is_said_of_rows_wherever_they_are(place, call, expected, tmp_path):
    found = CALLS[call](PLACES[place](tmp_path))
    assert_same(found, expected[call])


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        if one is not None or other is not None:
            pd.testing.assert_frame_equal(
                sorted_rows(one), other, check_dtype=False, rtol=1e-9, atol=1e-12
            )


# --------------------------------------------------------------------------- arrays and counts

LABEL, DECISION = ROWS["hired"].to_numpy(), ROWS["decision"].tolist()
BY = {"sensitive_features": ROWS["sex"]}
IN_STRATA = Contingency.from_labels(
    LABEL, DECISION, sensitive_features=ROWS[["dept", "sex"]], missing="group"
)
IN_COLUMNS = Contingency.from_labels(LABEL, DECISION, sensitive_features=ROWS[["sex", *SEEN]])
HELD = [
    ("strata", lambda: told(skbiasamp.audit(LABEL, DECISION, given=ROWS["dept"], **BY, **PLAIN))),
    ("strata", lambda: told(skbiasamp.audit(IN_STRATA, given="dept", **PLAIN))),
    (
        "parts",
        lambda: parts_of(
            skbiasamp.explain(
                LABEL, DECISION, y_score=ROWS["score"], given=ROWS["dept"], **BY, random_state=0
            )
        ),
    ),
    ("subgroups", lambda: [skbiasamp.explain(IN_COLUMNS, given=SEEN).subgroups(SEEN)]),
    (
        "selection by scores",
        lambda: selected(ROWS["score"].tolist(), clusters=ROWS["person"], scores=True, **BY),
    ),
]


@pytest.mark.parametrize(("call", "held"), HELD)
def test_the_same_is_said_of_arrays_and_counts(call, held, expected):
    assert_same(held(), expected[call])
