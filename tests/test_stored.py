"""Contingencies are stored, read and added: files are checked, names keep their type."""

import copy
import datetime
import json
import operator
import re
from functools import reduce

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency

# Internal: it tells our own refusals from errors that come from deep inside.
from skbiasamp._input.errors import InputError

ROWS = 40
RNG = np.random.default_rng(0)
GROUP = ["f", "m"] * (ROWS // 2)
Y = RNG.integers(0, 2, ROWS)
SOFT = RNG.random(ROWS)
MATRIX = RNG.integers(0, 2, (ROWS, 3))
WEIGHT = RNG.gamma(1, 1, ROWS)


def labels():
    return Contingency.from_labels(Y, 1 - Y, sensitive_features=GROUP)


def probabilities():
    return Contingency.from_labels(Y, SOFT, sensitive_features=GROUP)


def numbers():
    return Contingency.from_labels(Y, 9 * SOFT - 4, sensitive_features=GROUP, scores=True)


def fractions():
    return labels() + Contingency.from_labels(
        Y, Y, sensitive_features=GROUP, sample_weight=WEIGHT, missing="drop"
    )


def tasks():
    names = [f"t{i}" for i in range(3)]
    frame = pd.DataFrame(MATRIX, columns=names).assign(group=GROUP, score=SOFT)
    how = {"target": names, "prediction": ["score", "t1", "t2"], "sensitive": "group"}
    like = Contingency.from_frame(frame, target=names, sensitive="group")
    return Contingency.from_frame(frame, **how, like=like, joint=False)


def clustered():
    how = {"sensitive_features": GROUP, "clusters": np.arange(ROWS) // 2}
    return Contingency.from_labels(MATRIX, MATRIX[::-1], **how)


KINDS = [labels, probabilities, clustered, numbers, fractions, tasks]


# --------------------------------------------------------------------------- days and chunks


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


def test_a_cross_table_of_two_columns_has_their_combinations_as_groups():
    rows = simulate(200, 0)
    crossed = pd.crosstab([rows["group"], rows["region"]], rows["target"])
    labels = Contingency.from_frame(rows, target="target", sensitive=["group", "region"])
    assert Contingency.from_counts(crossed) == labels
    # A group may have this name if its row is no sum.
    named = pd.crosstab(rows["group"].replace("a", "All"), rows["target"])
    assert Contingency.from_counts(named).groups == ("All", "b", "c")


TASKS = {"target": [f"t{i}" for i in range(7)], "prediction": [f"p{i}" for i in range(7)]}


def classes(rows):
    return Contingency.from_frame(
        rows, target="target", prediction="prediction", sensitive=["group", "region"]
    )


def overlapping(rows):
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


def scores(rows):
    columns = {"target": "binary", "prediction": "score", "sensitive": "group"}
    return Contingency.from_frame(duckdb(rows), **columns)


def summed(rows):
    return Contingency.from_frame(duckdb(rows), sensitive="group", **TASKS)


CHUNKS = [classes, overlapping, missing, weights, scores, summed]


def same(one, other):
    return (
        one == other
        and one.rows.sum() == other.rows.sum()
        and (one.summed, one.n_dropped) == (other.summed, other.n_dropped)
    )


@pytest.mark.parametrize("kind", CHUNKS[:-1])
def test_tables_of_cells_are_read_back_from_parquet(kind, tmp_path):
    pytest.importorskip("pyarrow")
    cells = kind(simulate(500, 0))
    frame = cells.to_frame()
    if kind is classes:
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


@pytest.mark.parametrize("kind", CHUNKS)
def test_days_add_up_to_the_month(kind):
    days = [kind(simulate(200, day)) for day in range(5)]
    month = Contingency.sum(days)
    assert same(month, reduce(operator.add, days))
    assert same(month, sum(days))
    whole = kind(pd.concat([simulate(200, day) for day in range(5)]))
    if kind not in (weights, scores):
        assert same(month, whole)
    else:
        # Sums add up to the pairs of the whole, in other cells.
        np.testing.assert_allclose(
            month.joint("group", "task_pred"), whole.joint("group", "task_pred"), rtol=1e-12
        )


@pytest.mark.parametrize("kind", [*KINDS, *CHUNKS])
def test_every_kind_is_read_back(kind, tmp_path):
    cells = kind() if kind in KINDS else kind(simulate(500, 0))
    path, marked = tmp_path / "cells.json", tmp_path / "marked.json"  # as editors of Windows do
    marked.write_text(f"\ufeff{cells.to_json(path)}", encoding="utf-8")
    for text in (cells.to_json(), path, marked):
        again = Contingency.from_json(text)
        assert same(again, cells)
        assert again.to_json() == cells.to_json()
        assert again + cells == cells + cells


# --------------------------------------------------------------------------- what is damaged


def changed(content, path, value):
    content = copy.deepcopy(content)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ' * 100_000, "no JSON, or not all of it"),
        ("{}", "no contingency: its field 'format' must be 'skbiasamp contingency 1'"),
        ('{"format": "skbiasamp contingency 1"}', "damaged: its field 'weight'"),
        (b"{}", "must be JSON, or the path of a file that has it; got bytes"),
        ("\0", "cannot be read as JSON"),
    ],
)
def test_what_is_no_contingency_is_said(text, said):
    with pytest.raises(InputError, match=said):
        Contingency.from_json(text)


def test_the_error_about_a_file_names_it(tmp_path):
    (tmp_path / "page.json").write_bytes(b"\xff\xfe\0")
    with pytest.raises(InputError, match=r"page.json' cannot be read as JSON"):
        Contingency.from_json(tmp_path / "page.json")
    skbiasamp.audit(labels(), random_state=0).to_json(tmp_path / "report.json")
    with pytest.raises(InputError, match=r"report.json: This JSON is no contingency"):
        Contingency.from_json(str(tmp_path / "report.json"))


HOSTILE = [None, True, -7, 0.5, 7, 1e308, float("nan"), 10**400, "x", "3", "", [], [[]], [1.0]]
HOSTILE += [{}, {"a": 1}, [None], ["a", 1], ["f", "f"], [0, 2]]


def paths(content):
    """Every place in JSON."""
    items = (
        content.items() if isinstance(content, dict)
        else list(enumerate(content))[:2] if isinstance(content, list) else ()
    )  # fmt: skip
    for key, inner in items:
        yield [key]
        yield from ([key, *path] for path in paths(inner))


@pytest.mark.parametrize("kind", KINDS)
def test_a_contingency_is_read_and_works_or_its_wrong_field_is_named(kind):
    content = json.loads(kind().to_json())
    read, wrong = 0, []
    for path in paths(content):
        for value in HOSTILE:
            text = json.dumps(changed(content, path, value))
            try:
                cells = Contingency.from_json(text)
            except InputError as error:
                wrong.append((path[0], str(error)))
                continue
            read += 1
            assert Contingency.from_json(cells.to_json()) == cells
            assert repr(cells)
            assert len(cells.rate("task", given="group")) == len(cells.groups)
            cells.select(groups=cells.groups[:1])
    assert read
    # Sides that lack a row, or repeats, are named in place of a weight that does not fit them.
    fields = {(field, re.search(r"its field '(\w+)' ", text)[1]) for field, text in wrong}
    assert {field for field, named in fields if named not in (field, "sides", "repeats")} == set()


BELL = "\x1b]0;title\a\x1b[2J\x9b"


def drives(text):
    return any(not c.isprintable() and c != "\n" for c in text)


def test_names_drive_no_terminal():
    group = [BELL + one for one in GROUP]
    answers = [BELL + str(one) for one in Y]
    cells = Contingency.from_labels(answers, answers[::-1], sensitive_features=group)
    report = skbiasamp.audit(cells, random_state=0)
    assert any(BELL in name for name in report.context["groups"])
    shown = [repr(cells), repr(report), report.verdict, report.to_markdown()]
    shown += [repr(one) for one in report.values()]
    with pytest.raises(InputError) as raised:
        cells.select(groups=[BELL])
    shown.append(str(raised.value))
    assert [text for text in shown if drives(text)] == []


# --------------------------------------------------------------------------- names

NAMES = [
    (3, 7, -1),
    (("a", 1), ("a", 2), ("b", ("c", 0.5))),
    ("3", 3, "null"),
    ("true", "NaN", "{}"),
    ("task[1]", "a]", ""),
    (np.int64(4), np.float32(0.5), np.str_("s")),
]  # fmt: skip


def assert_read_back(cells):
    """From a table and from JSON, with the types of its names."""
    again = Contingency.from_json(cells.to_json()), Contingency.from_counts(cells.to_frame())
    for read in again:
        assert read == cells
        for names, expected in ((read.groups, cells.groups), (read.tasks, cells.tasks)):
            assert names == expected
            assert list(map(type, names)) == list(map(type, expected))


@pytest.mark.parametrize("names", NAMES, ids=repr)
def test_names_of_tasks_survive_tables_and_json(names):
    columns = pd.Index(names, tupleize_cols=False, dtype=object)
    y = pd.DataFrame(MATRIX, columns=columns)
    cells = Contingency.from_labels(y, y.iloc[::-1].to_numpy(), sensitive_features=GROUP)
    assert cells.tasks == tuple(names)
    assert_read_back(cells)


@pytest.mark.parametrize(
    "values",
    [("x", "y", "z"), (3, 7, -1), (("a", 1), ("b", 2), ("b", 3)), (True, False), ("3", "4")],
)
def test_names_of_classes_and_groups_survive_tables_and_json(values):
    held = pd.Series([values[i % len(values)] for i in range(ROWS)])
    back = pd.Series(held[::-1].to_list())
    assert_read_back(Contingency.from_labels(held, back, sensitive_features=GROUP))
    assert_read_back(Contingency.from_labels(Y, sensitive_features=held))


def test_other_names_become_text_in_a_table_and_are_refused_by_json():
    days = [datetime.date(2020, 1, 1 + i) for i in range(3)]
    y = pd.DataFrame(MATRIX, columns=pd.Index(days, dtype=object))
    cells = Contingency.from_labels(y, sensitive_features=GROUP)
    assert Contingency.from_counts(cells.to_frame()).tasks == tuple(map(str, days))
    with pytest.raises(InputError, match="JSON has no date: name it with text"):
        cells.to_json()


# --------------------------------------------------------------------------- bad calls


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: labels().count("group_pred"), "'task_pred', which this .* got 'g"),
        (lambda: labels().rate("task", given="task_pred"), "one of groups and one of ta"),
        (lambda: numbers().count("task_pred"), "task_pred holds scores"),
        (lambda: numbers().to_frame(), "and task_pred scores: use to_json"),
        (lambda: Contingency.sum([labels(), None]), "must be a Contingency; got None"),
        (lambda: labels() + tasks(), "different kinds cannot be added"),
        (lambda: labels().with_positive(pd.NA), "pos_label must be one of the classes"),
        (lambda: labels().resample(3).resample(), "A resample needs one contingency"),
        (lambda: labels().resample(3).to_frame(), "A table of cells needs one contingency"),
        (lambda: tasks().resample(), "A resample needs rows"),
    ],
)  # fmt: skip
def test_bad_calls_are_errors_about_the_input(call, said):
    with pytest.raises(ValueError, match=said) as raised:
        call()
    assert type(raised.value).__name__ in ("InputError", "InputTypeError", "InvalidParameterError")


def test_resamples_are_narrowed_and_compared_draw_by_draw():
    cells = labels().resample(3, random_state=0)
    part = cells.select(groups=["f"])
    np.testing.assert_array_equal(part.total, cells.count("group")[:, 0])
    assert cells == cells.select(groups=["f", "m"])
    assert cells != labels()
    assert cells.n_cells == 4


def test_a_real_group_called_missing_stays_one_in_json():
    sex = ["(missing)", "a", "b", "a"]
    real = Contingency.from_labels([1, 0, 1, 0], sensitive_features=sex)
    gap = Contingency.from_labels([1, 0, 1], sensitive_features=[None, "a", "b"], missing="group")
    audited = {"sensitive_features": [None, "a", "b"], "missing": "group"}
    for known in (real, Contingency.from_json(real.to_json())):
        with pytest.raises(InputError, match="the training data a group named"):
            Contingency.from_labels([1, 0, 1], **audited, like=known)
        with pytest.raises(InputError, match="both would be one group"):
            known + gap
        assert (known + real).count("group").tolist() == [2, 4, 2]
    for known in (gap, Contingency.from_json(gap.to_json())):
        assert Contingency.from_labels([1, 0, 1], **audited, like=known).groups == gap.groups
        assert (known + gap).count("group").tolist() == [2, 2, 2]
        with pytest.raises(InputError, match="has missing values and a group named"):
            Contingency.from_labels(
                [1, 0], sensitive_features=["(missing)", None], missing="group", like=known
            )
