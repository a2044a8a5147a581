"""Chunks, days and workers: contingencies are stored, read and added."""

import json
import operator
from functools import reduce

import numpy as np
import pandas as pd
import pytest

from skbiasamp import Contingency, DirectionalAuditor


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "group": rng.choice(["a", "b", "c"], n),
            "region": rng.choice([1, 2], n),
            "target": rng.choice(["x", "y", "z"], n),
            "weight": rng.gamma(1, 1, n),
            "score": rng.random(n),
            "binary": rng.integers(0, 2, n),
        }
    )
    frame["prediction"] = np.where(rng.random(n) < 0.8, frame["target"], rng.choice(["x", "y"], n))
    frame[[f"t{i}" for i in range(7)]] = rng.integers(0, 2, (n, 7))
    frame[[f"p{i}" for i in range(7)]] = rng.integers(0, 2, (n, 7))
    return frame


def duckdb(rows):
    pytest.importorskip("pyarrow")
    return pytest.importorskip("duckdb").from_df(rows)


TASKS = {"target": [f"t{i}" for i in range(7)], "prediction": [f"p{i}" for i in range(7)]}


def classes(rows):
    return Contingency.from_frame(
        rows, target="target", prediction="prediction", sensitive=["group", "region"]
    )


def fewer_classes(rows):
    return classes(rows[(rows["target"] != "z") & (rows["prediction"] != "z")])


def indicators(rows):
    return Contingency.from_labels(
        rows[TASKS["target"]],
        rows[TASKS["prediction"]].to_numpy(),
        sensitive_features=rows[["t0", "t1"]],
        groups="indicator",
    )


def missing(rows):
    holed = rows.assign(group=rows["group"].where(rows["group"] != "c", None))
    return Contingency.from_frame(holed, target="binary", sensitive="group", missing="drop")


def weights(rows):
    columns = {"target": "target", "prediction": "prediction", "sensitive": "group"}
    return Contingency.from_frame(duckdb(rows), weight="weight", **columns)


def weights_in_memory(rows):
    return Contingency.from_labels(
        rows["target"], sensitive_features=rows["group"], sample_weight=rows["weight"]
    )


def scores(rows):
    columns = {"target": "binary", "prediction": "score", "sensitive": "group"}
    return Contingency.from_frame(duckdb(rows), **columns)


def tasks(rows):
    return Contingency.from_frame(duckdb(rows), sensitive="group", **TASKS)


every_kind = pytest.mark.parametrize(
    "kind",
    [classes, fewer_classes, indicators, missing, weights, weights_in_memory, scores, tasks],
)


def same(one, other):
    return (
        one == other
        and one.rows.sum() == other.rows.sum()
        and (one.summed, one.n_dropped) == (other.summed, other.n_dropped)
    )


@every_kind
def test_json_holds_everything(kind, tmp_path):
    cells = kind(simulate(500, 0))
    path = tmp_path / "cells.json"
    text = cells.to_json(path)
    json.loads(text)
    for again in (Contingency.from_json(text), Contingency.from_json(path)):
        assert same(again, cells)
        assert again + cells == cells + cells


@pytest.mark.parametrize(
    "kind", [classes, fewer_classes, indicators, missing, weights, weights_in_memory, scores]
)
def test_tables_of_cells_are_read_back_from_parquet(kind, tmp_path):
    pytest.importorskip("pyarrow")
    cells = kind(simulate(500, 0))
    frame = cells.to_frame()
    if kind in (classes, fewer_classes):
        # Combinations of text and numbers are no one type: JSON has them.
        frame["group"] = frame["group"].map(lambda name: tuple(map(str, name)))
    frame.to_parquet(tmp_path / "cells.parquet")
    again = Contingency.from_counts(pd.read_parquet(tmp_path / "cells.parquet"))
    assert again.summed == cells.summed
    assert again.total == pytest.approx(cells.total, rel=1e-12)
    assert again.rows.sum() == cells.rows.sum()
    given = {"task": "group", "group": "task"}
    for side, other in given.items():
        # Columns that were names are numbers again where they were.
        np.testing.assert_allclose(again.joint(side, other), cells.joint(side, other), rtol=1e-12)


@every_kind
def test_days_add_up_to_the_month(kind):
    days = [kind(simulate(200, day)) for day in range(5)]
    month = Contingency.sum(days)
    assert same(month, reduce(operator.add, days))
    assert same(month, sum(days))
    if kind not in (weights, scores):
        assert same(month, kind(pd.concat([simulate(200, day) for day in range(5)])))
    else:
        # Sums add up to the pairs of the whole, in other cells.
        whole = kind(pd.concat([simulate(200, day) for day in range(5)]))
        np.testing.assert_allclose(
            month.joint("group", "task_pred"), whole.joint("group", "task_pred"), rtol=1e-12
        )


def test_many_columns_add_up_however_they_lie_in_memory():
    labels = np.random.default_rng(0).random((300, 20)) < 0.3
    groups = ["a", "b", "c"] * 100
    days = [
        Contingency.from_labels(np.asarray(labels, order=order), sensitive_features=groups)
        for order in "CF"
    ]
    assert days[0] + days[1] == days[0] + days[0] == days[1] + days[1]
    frame = pd.DataFrame(labels, columns=[f"t{i}" for i in range(20)]).assign(group=groups)
    cells = Contingency.from_frame(
        frame, target=[f"t{i}" for i in range(20)], sensitive="group", joint=False
    )
    assert (cells + cells).joint("group", "task").tolist() == (
        2 * days[0].joint("group", "task")
    ).tolist()


def test_chunks_of_a_file_are_the_file(tmp_path):
    rows = simulate(1000, 0)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    columns = {"target": "target", "sensitive": "group"}
    auditor = DirectionalAuditor()
    test = []
    for chunk in pd.read_csv(tmp_path / "rows.csv", chunksize=150):
        auditor.partial_fit(chunk, **columns)
        test.append(Contingency.from_frame(chunk, prediction="prediction", **columns))
    whole = DirectionalAuditor().fit(rows, **columns)
    assert auditor.contingency_ == whole.contingency_
    expected = whole.audit(rows, prediction="prediction", **columns)
    pd.testing.assert_frame_equal(auditor.audit(sum(test)).table, expected.table)


def test_rows_of_fractional_weights_are_the_same_in_any_order():
    rows = {"y": [1, 1, 0, 0], "sex": ["f", "f", "m", "m"], "w": [0.5, 0.7, 0.3, 0.2]}

    def counted(order):
        y, sex, weight = (np.array(rows[name])[order] for name in ("y", "sex", "w"))
        return Contingency.from_labels(y, sensitive_features=sex, sample_weight=weight)

    assert counted([0, 1, 2, 3]) == counted([1, 0, 3, 2])
    assert counted([0, 1, 2, 3]) != counted([0, 0, 2, 3])


def test_fractional_weights_beside_whole_ones_keep_their_rows():
    rows = simulate(300, 0)
    whole = Contingency.from_labels(rows["target"], sensitive_features=rows["group"])
    both = whole + weights_in_memory(rows)
    weight = np.append(np.ones(300), rows["weight"])
    assert both.rows_per_weight == pytest.approx(weight.sum() / (weight**2).sum(), rel=1e-12)
    assert both.rows.sum() == 600


def test_what_cannot_be_added_or_read_is_said():
    rows = simulate(100, 0)
    with pytest.raises(ValueError, match="the list is empty"):
        Contingency.sum([])
    labels = Contingency.from_frame(rows, target="target", sensitive=["group", "region"])
    with pytest.raises(ValueError, match="Only one of two contingencies has 'task_pred'"):
        Contingency.sum([classes(rows), labels])
    with pytest.raises(ValueError, match="different kinds"):
        scores(rows) + tasks(rows)
    with pytest.raises(ValueError, match="no JSON, or not all of it"):
        Contingency.from_json(classes(rows).to_json()[:-10])
    with pytest.raises(ValueError, match="no contingency: its field 'format' must be 'skbiasamp"):
        Contingency.from_json("{}")
    dates = Contingency.from_labels([0, 1], sensitive_features=pd.to_datetime(["2020", "2021"]))
    with pytest.raises(TypeError, match="JSON has no Timestamp"):
        dates.to_json()
