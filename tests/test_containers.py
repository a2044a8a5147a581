"""The same labels give the same numbers and names, whatever holds them."""

from array import array
from collections import deque
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.metrics import directional_amplification

RNG = np.random.default_rng(7)
N = 60
SEX = RNG.choice(["f", "m"], N).tolist()
SKIN = RNG.choice(["dark", "light"], N).tolist()
HIRED = (RNG.random(N) < np.where(np.array(SEX) == "f", 0.3, 0.7)).astype(int).tolist()
PREDICTED = np.where(RNG.random(N) < 0.8, HIRED, 1 - np.array(HIRED)).tolist()
JOB = RNG.integers(0, 3, N).tolist()
JOB_NAMES = [["clerk", "cook", "nurse"][job] for job in JOB]
TAGS = RNG.integers(0, 2, (N, 3))
TAGS_PREDICTED = np.where(RNG.random((N, 3)) < 0.8, TAGS, 1 - TAGS)
PROBABILITY = RNG.random(N)


def counted(y=HIRED, pred=PREDICTED, sex=SEX, **options):
    return Contingency.from_labels(y, pred, sensitive_features=sex, **options)


def assert_same_cells(one, other):
    """Equal cells under names that are equal and look equal."""
    assert one == other
    assert repr(one.groups) == repr(other.groups)
    assert repr(one.tasks) == repr(other.tasks)


def chunked(values):
    return pa.chunked_array([pa.array(values[:7]), pa.array(values[7:])])


def readonly(values):
    values = np.array(values)
    values.setflags(write=False)
    return values


def typed(hold, *types):
    """Return ways to hold values by a container with each of some types, by their names."""
    module = getattr(hold, "__module__", "").partition(".")[0]
    return {f"{module} {one}": lambda v, one=one: hold(v, dtype=one) for one in types}


ANY_LABELS = {
    **{kind.__name__: kind for kind in (tuple, deque, np.array, np.ma.array)},
    **{f"pandas {kind.__name__}": kind for kind in (pd.Series, pd.Index, pd.Categorical)},
    **typed(np.array, object),
    **typed(pd.Series, object, "category"),
    "column vector": lambda v: np.array(v)[:, None],
    "list of rows of one": lambda v: [[value] for value in v],
    "non-contiguous": lambda v: np.repeat(np.array(v), 3)[::3],
    "reversed": lambda v: np.array(v[::-1])[::-1],
    "read-only": readonly,
    "Series of Arrow dictionaries": lambda v: pd.Series(
        pa.array(v).dictionary_encode().to_pandas()
    ),
    "Series with an index": lambda v: pd.Series(v, index=[f"row {i}" for i in range(len(v))]),
    "Categorical with unused": lambda v: pd.Categorical(
        v, categories=[*sorted(set(v), reverse=True), max(v) * 2 + max(v)]
    ),
    "DataFrame of one column": lambda v: pd.DataFrame({"label": v}),
    "dict of one column": lambda v: {"label": v},
    "polars Series": pl.Series,
    "polars DataFrame": lambda v: pl.DataFrame({"label": v}),
    "pyarrow Array": pa.array,
    "pyarrow chunked dictionary": lambda v: chunked(v).dictionary_encode(),
    "pyarrow Table": lambda v: pa.table({"label": v}),
}
TEXT = {
    **typed(np.array, np.dtypes.StringDType()),
    **typed(pd.Series, "string", pd.ArrowDtype(pa.string())),
    **typed(pl.Series, pl.Categorical),
    "polars Enum": lambda v: pl.Series(v, dtype=pl.Enum(sorted(set(v), reverse=True))),
    "pyarrow large_string": lambda v: pa.array(v, type=pa.large_string()),
}
INTEGERS = {
    **typed(np.array, "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">i8"),
    **typed(np.array, "f2", "f4", "f8", ">f8", "g"),
    **typed(pd.Series, "Int64", "UInt8", "Float64", pd.ArrowDtype(pa.int16())),
    **typed(pd.Series, pd.SparseDtype("int8", 0)),
    **typed(pl.Series, pl.Int8, pl.Float32),
    "array.array": lambda v: array("i", v),
    "Series of category of floats": lambda v: pd.Series(np.array(v, float), dtype="category"),
    "Decimals": lambda v: [Decimal(value) for value in v],
    "pyarrow uint8": lambda v: pa.array(v, type=pa.uint8()),
    "sparse matrix": lambda v: sparse.csr_matrix(np.array(v)[:, None]),
    "sparse array": lambda v: sparse.coo_array(np.array(v)[:, None]),
}
BOOLEANS = typed(pd.Series, "boolean", pd.ArrowDtype(pa.bool_()))
BOOLEANS |= {name: hold for name, hold in ANY_LABELS.items() if "unused" not in name}


def containers(*kinds):
    merged = {name: hold for kind in kinds for name, hold in kind.items()}
    return pytest.mark.parametrize("hold", merged.values(), ids=merged)


# --------------------------------------------------------------------------- one label a row


@containers(ANY_LABELS, TEXT)
def test_text_labels(hold):
    held = counted(hold(JOB_NAMES), hold(JOB_NAMES[::-1]), hold(SEX))
    assert_same_cells(held, counted(JOB_NAMES, JOB_NAMES[::-1], SEX))


@containers(ANY_LABELS, INTEGERS)
def test_whole_numbers(hold):
    for labels in (HIRED, JOB):
        held = hold(labels)
        expected = counted(labels, labels[::-1], labels)
        assert_same_cells(counted(held, hold(labels[::-1]), held), expected)


@containers(BOOLEANS)
def test_booleans(hold):
    hired, predicted = [bool(v) for v in HIRED], [bool(v) for v in PREDICTED]
    assert_same_cells(
        counted(hold(hired), hold(predicted), hold(hired)), counted(hired, predicted, hired)
    )
    assert counted(hold(hired), hold(predicted)).tasks == (True,)
    assert_same_cells(counted(hold(hired), hold(predicted)), counted(hired, np.array(predicted)))


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32"])
def test_torch_tensors(dtype):
    torch = pytest.importorskip("torch")
    hired, predicted, tags = (
        torch.tensor(one).to(getattr(torch, dtype)) for one in (HIRED, PREDICTED, TAGS)
    )
    for held in (hired, list(hired), hired[:, None]):
        assert counted(held, predicted) == counted()
    for held in (tags, list(tags), tags.to_sparse()):
        assert_same_cells(counted(held, TAGS_PREDICTED), counted(TAGS, TAGS_PREDICTED))


@pytest.mark.torch
def test_torch_probabilities_need_no_detaching():
    torch = pytest.importorskip("torch")
    logits = torch.tensor(np.log(PROBABILITY / (1 - PROBABILITY)), requires_grad=True)
    value = directional_amplification(HIRED, torch.sigmoid(logits), sensitive_features=SEX)
    expected = directional_amplification(HIRED, PROBABILITY, sensitive_features=SEX)
    assert value == pytest.approx(expected, abs=1e-12)


def test_indexes_that_differ_are_matched_by_position():
    twice, other = [0] * N, range(100, 100 + N)
    assert counted(pd.Series(HIRED, twice), PREDICTED, pd.Series(SEX, twice)) == counted()
    assert counted(pd.Series(HIRED), PREDICTED, pd.Series(SEX, other)) == counted()
    sex = pd.Series(SEX, index=pd.RangeIndex(N)[::-1])
    for hold in (list, np.array, pl.Series, pa.array, pd.Categorical, pd.Index):
        assert counted(hold(HIRED), hold(PREDICTED), sex) == counted()


def test_dates_intervals_and_bytes_are_groups():
    born = pd.to_datetime(["1980", "1990"] * (N // 2))
    for dates in (born, pd.Series(born), np.array(born), list(born), pl.Series(born)):
        assert [str(group)[:4] for group in counted(sex=dates).groups] == ["1980", "1990"]
    age = pd.cut(pd.Series(range(N)), [-1, 20, 100])
    assert [str(group) for group in counted(sex=age).groups] == ["(-1, 20]", "(20, 100]"]
    for held in ([value.encode() for value in SEX], np.array(SEX, dtype="S")):
        assert counted(sex=held).groups == (b"f", b"m")


# --------------------------------------------------------------------------- sizes of integers


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("i1", -128, 127),
        ("i2", -32768, -32767),
        ("i8", -(2**63), 2**63 - 1),
        ("u8", 2**64 - 2, 2**64 - 1),
        ("u8", 0, 2**64 - 1),
    ],
)
def test_extreme_integers(dtype, low, high):
    def extreme(labels):
        return np.array([high if v else low for v in labels], dtype=dtype)

    for weight in (None, np.full(N, 0.5)):
        cells = counted(extreme(HIRED), extreme(PREDICTED), extreme(HIRED), sample_weight=weight)
        plain = counted(HIRED, PREDICTED, HIRED, sample_weight=weight)
        assert (repr(cells.groups), cells.tasks) == (repr((low, high)), (high,))
        assert_allclose(cells.joint("group", "task_pred"), plain.joint("group", "task_pred"))


def test_long_integers_keep_their_digits():
    ids = [2**60, 2**60 + 1, None] * (N // 3)
    for held in (ids, pd.Series(ids, dtype="Int64"), pl.Series(ids), pa.array(ids)):
        groups = counted(sex=held, missing="group").groups
        assert set(groups) == {2**60, 2**60 + 1, "(missing)"}
    ids = [10**20, 10**20 + 1] * (N // 2)
    for held in (ids, pl.Series(ids, dtype=pl.Int128)):
        assert counted(sex=held).groups == (10**20, 10**20 + 1)


def test_the_text_nan_is_a_value_unless_numpy_wrote_it():
    names = ["nan", "bo"] * (N // 2)
    text = pd.Series(names, dtype=pd.ArrowDtype(pa.string()))
    assert counted(sex=text).groups == counted(sex=names).groups == ("bo", "nan")
    with pytest.raises(ValueError, match="holds the text 'nan'"):
        counted(sex=np.array(names))


def in_parts(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


@pytest.mark.parametrize("hold", [pd.DataFrame, pa.Table.from_pandas, in_parts])
def test_numbers_as_categories_are_numbers(hold):
    """To Arrow they are codes of numbers, and engines group categories by their text."""
    rows = pd.DataFrame({"sex": [5, 6] * 60, "hired": [0, 1, 1, 0, 0, 0] * 20})
    named = {"target": "hired", "prediction": "hired", "sensitive": "sex"}
    held = hold(rows.astype("category"))
    cells = Contingency.from_frame(held, **named)
    assert_same_cells(cells, Contingency.from_frame(rows, **named))
    assert_same_cells(cells, counted(rows["hired"], rows["hired"], held["sex"]))


# --------------------------------------------------------------------------- several labels

NAMES = ["cook", "clean", "drive"]
TABLES = {
    **{
        f"DataFrame of {kind}": lambda m, kind=kind: pd.DataFrame(m, columns=NAMES).astype(kind)
        for kind in ("i8", "?", "boolean", "category")
    },
    "DataFrame of mixed types": lambda m: pd.DataFrame(
        {"cook": m[:, 0].astype(bool), "clean": pd.array(m[:, 1]), "drive": m[:, 2] * 1.0}
    ),
    "dict of any columns": lambda m: {
        "cook": pl.Series(m[:, 0]),
        "clean": pd.Series(m[:, 1], index=range(9, 9 + N)),
        "drive": m[:, [2]],
    },
    "polars DataFrame of booleans": lambda m: pl.DataFrame(m == 1, schema=NAMES),
    "pyarrow Table": lambda m: pa.table(dict(zip(NAMES, m.T, strict=True))),
    "structured array": lambda m: np.array(
        [tuple(row) for row in m.tolist()], dtype=[(name, "i1") for name in NAMES]
    ),
}
MATRICES = {
    "list of lists": lambda m: m.tolist(),
    "list of arrays": list,
    "non-contiguous": lambda m: np.repeat(np.repeat(m, 2, axis=0), 2, axis=1)[::2, ::2],
    **{name: lambda m, name=name: m.astype(name) for name in ("O", "?", "i1", "u1", "f2", ">f8")},
    **{kind.__name__: kind for kind in (np.asfortranarray, readonly, sparse.csr_matrix)},
    **{kind.__name__: kind for kind in (sparse.csc_matrix, sparse.coo_array, sparse.dok_matrix)},
    "csr of booleans": lambda m: sparse.csr_array(m.astype(bool)),
}


@containers(TABLES)
def test_indicator_columns_with_names(hold):
    expected = counted(pd.DataFrame(TAGS, columns=NAMES), TAGS_PREDICTED)
    assert expected.tasks == tuple(NAMES)
    assert_same_cells(counted(hold(TAGS), hold(TAGS_PREDICTED)), expected)
    assert_same_cells(counted(hold(TAGS), TAGS_PREDICTED), expected)


@containers(MATRICES)
def test_indicator_columns_without_names(hold):
    assert_same_cells(counted(hold(TAGS), hold(TAGS_PREDICTED)), counted(TAGS, TAGS_PREDICTED))
    assert counted(hold(TAGS), None).tasks == (0, 1, 2)
    groups = counted(sex=hold(TAGS), groups="indicator")
    assert_same_cells(groups, counted(sex=TAGS, groups="indicator"))


def test_indicator_columns_have_the_names_of_training_or_of_labels():
    names = pd.DataFrame(TAGS, columns=NAMES)
    assert counted(TAGS, TAGS_PREDICTED, like=counted(names, None)).tasks == tuple(NAMES)
    assert counted(names, TAGS_PREDICTED, like=counted(TAGS, None)).tasks == (0, 1, 2)
    predicted = pd.DataFrame(TAGS_PREDICTED, columns=[f"predicted {name}" for name in NAMES])
    assert counted(names, predicted).tasks == tuple(NAMES)


def test_inputs_are_left_as_they_were():
    given = {"y_true": TAGS.astype(float), "y_pred": TAGS.astype(float)}
    given |= {"sensitive_features": np.array(SEX, dtype=object), "sample_weight": np.ones(N)}
    before = {name: one.copy() for name, one in given.items()}
    DirectionalAuditor(interval=None, reference="test").audit(**given)
    for name, one in given.items():
        np.testing.assert_array_equal(one, before[name])


# --------------------------------------------------------------------------- several attributes

PEOPLE = pd.DataFrame({"sex": SEX, "skin": SKIN})
PEOPLE_HELD = {
    "DataFrame": lambda: PEOPLE,
    "DataFrame of categories": lambda: PEOPLE.astype("category"),
    "dict of Series": lambda: {"sex": pd.Series(SEX, index=range(N, 0, -1)), "skin": SKIN},
    "polars": lambda: pl.DataFrame({"sex": SEX, "skin": pl.Series(SKIN, dtype=pl.Categorical)}),
    "pyarrow": lambda: pa.table({"sex": pa.array(SEX).dictionary_encode(), "skin": SKIN}),
    "MultiIndex": lambda: pd.MultiIndex.from_frame(PEOPLE),
    "records": lambda: PEOPLE.to_records(index=False),
}
PEOPLE_UNNAMED = {
    "list of tuples": lambda: list(zip(SEX, SKIN, strict=True)),
    "F-ordered objects": lambda: np.array([SEX, SKIN], dtype=object).T,
}
PAIRS = (("f", "dark"), ("f", "light"), ("m", "dark"), ("m", "light"))


@containers(PEOPLE_HELD, PEOPLE_UNNAMED)
def test_several_columns_make_combinations_or_the_groups_of_each(hold):
    held = hold()
    assert_same_cells(counted(sex=held), counted(sex=PEOPLE))
    assert counted(sex=held).groups == PAIRS
    cells = counted(sex=held, groups="marginal")
    if hold in PEOPLE_HELD.values():
        assert cells.groups == ("sex=f", "sex=m", "skin=dark", "skin=light")
        assert_same_cells(cells, counted(sex=PEOPLE, groups="marginal"))
    else:
        assert cells.groups == ("0=f", "0=m", "1=dark", "1=light")


def test_marginal_groups_are_those_of_each_column_by_name():
    marginal = counted(sex=PEOPLE, groups="marginal")
    parts = [counted(sex=PEOPLE[name]).joint("group", "task_pred") for name in PEOPLE]
    assert_allclose(marginal.joint("group", "task_pred"), np.concatenate(parts))
    train = counted(pred=None, sex=PEOPLE, groups="marginal")
    swapped = counted(sex=PEOPLE[["skin", "sex"]], groups="marginal", like=train)
    assert_same_cells(swapped, marginal)
    one = counted(sex=PEOPLE[["sex"]])
    assert one.groups == ("f", "m")
    assert_same_cells(counted(sex=PEOPLE[["sex"]], groups="marginal"), one)


def test_indicator_groups_may_overlap():
    member = pd.DataFrame({"woman": np.array(SEX) == "f", "dark": np.array(SKIN) == "dark"})
    cells = counted(sex=member, groups="indicator")
    assert cells.groups == ("woman", "dark")
    assert_allclose(cells.count("group"), member.sum())
    assert_allclose(
        cells.joint("group", "task")[:, 0], [member[c] @ np.array(HIRED) for c in member]
    )
    alone = counted(sex=HIRED, groups="indicator")
    assert (alone.groups, alone.count("group")) == ((0,), [sum(HIRED)])


@pytest.mark.parametrize("groups", ["intersection", "marginal"])
def test_predictions_of_several_attributes(groups):
    flipped = pd.DataFrame({"sex": SEX[::-1], "skin": SKIN[::-1]})
    expected = counted(sex=PEOPLE, sensitive_pred=flipped, groups=groups)
    for held in (flipped.to_numpy(), pl.from_pandas(flipped), flipped.to_dict("list")):
        assert_same_cells(counted(sex=PEOPLE, sensitive_pred=held, groups=groups), expected)
    perfect = counted(sex=PEOPLE, sensitive_pred=PEOPLE, groups=groups)
    assert_allclose(perfect.joint("group_pred", "task"), perfect.joint("group", "task"))


# --------------------------------------------------------------------------- missing values

GAPS = [None if i % 5 == 0 else sex for i, sex in enumerate(SEX)]
KEPT = np.array([sex is not None for sex in GAPS])


def with_nan(missing):
    return [missing if sex is None else sex for sex in GAPS]


MISSING_TEXT = {
    **{
        f"list of {missing}": lambda missing=missing: with_nan(missing)
        for missing in (None, np.nan, pd.NA, pd.NaT)
    },
    "object array of NaN": lambda: np.array(with_nan(np.nan), dtype=object),
    "masked array": lambda: np.ma.array(SEX, mask=~KEPT),
    **{
        f"Series of {kind}": lambda kind=kind: pd.Series(GAPS, dtype=kind)
        for kind in (object, "string", pd.ArrowDtype(pa.string()), "category")
    },
    "DataFrame": lambda: pd.DataFrame({"sex": with_nan(np.nan)}),
    "polars String": lambda: pl.Series(GAPS),
    "polars Categorical": lambda: pl.Series(GAPS, dtype=pl.Categorical),
    "pyarrow ChunkedArray": lambda: chunked(GAPS),
}
NUMBERS = [None if sex is None else int(sex == "m") for sex in GAPS]
TRUTHS = [None if number is None else number == 1 for number in NUMBERS]
MISSING_NUMBERS = {
    "list": lambda: NUMBERS,
    "float array": lambda: np.array(NUMBERS, dtype=float),
    "masked array": lambda: np.ma.array(np.array(SEX) == "m", mask=~KEPT, dtype=int),
    **{
        f"Series of {kind}": lambda kind=kind: pd.Series(NUMBERS, dtype=kind)
        for kind in ("Int64", "Float64", "boolean", "category", pd.ArrowDtype(pa.int8()))
    },
    "polars": lambda: pl.Series(NUMBERS),
    "polars Boolean": lambda: pl.Series(TRUTHS),
    "pyarrow bool": lambda: pa.array(TRUTHS),
}


@containers(
    {f"text in {k}": (v, ("f", "m")) for k, v in MISSING_TEXT.items()},
    {f"numbers in {k}": (v, (0, 1)) for k, v in MISSING_NUMBERS.items()},
)
def test_missing_values_are_refused_dropped_or_a_group(hold):
    hold, groups = hold
    with pytest.raises(ValueError, match=r"sensitive_features has missing values in 12 rows, the"):
        counted(sex=hold())
    dropped = counted(sex=hold(), missing="drop")
    complete = [np.array(v)[KEPT] for v in (HIRED, PREDICTED, SEX)]
    assert_allclose(
        dropped.joint("group", "task_pred"), counted(*complete).joint("group", "task_pred")
    )
    # The same where each row is its own cell.
    for cells in (dropped, counted(pred=PROBABILITY, sex=hold(), missing="drop")):
        assert (cells.groups, cells.n_dropped, cells.total) == (groups, 12, 48)
    kept = counted(sex=hold(), missing="group")
    assert set(kept.groups) == {*groups, "(missing)"}
    assert kept.count("group")[kept.groups.index("(missing)")] == 12
    assert (kept.n_dropped, kept.total) == (0, 60)


def test_missing_in_one_of_several_columns_or_in_a_prediction():
    people = PEOPLE.assign(skin=[None if i < 6 else skin for i, skin in enumerate(SKIN)])
    for held in (people, pl.from_pandas(people), people.to_dict("list"), people.to_numpy()):
        with pytest.raises(ValueError, match=r"column ('skin'|1) has missing values in 6 rows"):
            counted(sex=held)
        assert counted(sex=held, missing="drop").n_dropped == 6
        assert set(counted(sex=held, missing="group").groups) - set(PAIRS) == {
            (sex, "(missing)") for sex in SEX[:6]
        }
    assert counted(sensitive_pred=GAPS, missing="drop").n_dropped == 12
    assert counted(sex=GAPS, missing="drop", sample_weight=[0.5] * N).n_dropped == 6
    day = pd.Timestamp("2020-01-01")
    for dates in ([day] * 48 + [pd.NaT] * 12, pl.Series([day.to_pydatetime()] * 48 + [None] * 12)):
        assert len(counted(sex=dates, missing="group").groups) == 2
    kept = counted(sensitive_pred=GAPS, missing="group")
    assert set(kept.groups) == {"f", "m", "(missing)"}
    assert kept.count("group_pred")[kept.groups.index("(missing)")] == 12


# --------------------------------------------------------------------------- probabilities

BINARY_SOFT = {
    **{name: ANY_LABELS[name] for name in ("array", "column vector", "polars Series")},
    **typed(pd.Series, object, "Float64"),
    "both classes": lambda v: np.c_[1 - np.array(v), v],
    "polars of both": lambda v: pl.DataFrame({"p_0": 1 - np.array(v), "p_1": v}),
    "a polars column of arrays": lambda v: pl.DataFrame(
        {"p": both_of(v)}, schema={"p": pl.Array(pl.Float64, 2)}
    ),
    "pyarrow arrays": lambda v: pa.array(both_of(v), type=pa.list_(pa.float64(), 2)),
}


def both_of(values):
    return [[1 - one, one] for one in values]


@containers(BINARY_SOFT)
def test_probabilities_of_a_binary_task(hold):
    cells = counted(pred=hold(PROBABILITY.tolist()))
    expected = pd.Series(PROBABILITY).groupby(np.array(SEX)).mean()
    assert_allclose(cells.rate("task_pred", given="group")[:, 0], expected, atol=1e-12)


def test_probabilities_may_be_rounded():
    exact = shares_of(PROBABILITY)
    for dtype, within in (("f8", 1e-12), ("f4", 1e-6), ("f2", 1e-3), (">f4", 1e-6)):
        for held in (PROBABILITY, np.c_[1 - PROBABILITY, PROBABILITY]):
            assert_allclose(shares_of(held.astype(dtype)), exact, atol=within)
    above = np.array(PREDICTED) * np.float32(1 + 1e-7)  # as softmax may end
    above[0] = 0.5
    assert counted(pred=above).soft("task_pred")
    # The class is that of training, or the one that the labels lack.
    constant, train = counted([0] * N, PROBABILITY), counted(pred=None)
    assert_allclose(shares_of(PROBABILITY, y=[1] * N, like=train), exact)
    assert_allclose(constant.rate("task_pred", given="group"), exact)


def shares_of(pred, y=HIRED, **options):
    return counted(y, pred, **options).rate("task_pred", given="group")


@pytest.mark.parametrize("hold", [np.array, pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_probabilities_of_classes_and_of_several_labels(hold):
    share = RNG.dirichlet(np.ones(3), N)
    expected = pd.DataFrame(share).groupby(np.array(SEX)).mean().to_numpy()
    for dtype in ("f8", "f4", "f2"):
        held = hold(np.asfortranarray(share.astype(dtype)))
        assert_allclose(shares_of(held, JOB_NAMES), expected, atol=2e-3)
    assert_allclose(shares_of(hold(share), TAGS), expected)


def test_certain_probabilities_are_labels():
    for kind in (float, int):
        certain = counted(JOB, np.eye(3)[JOB].astype(kind)).joint("group", "task_pred")
        assert_allclose(certain, counted(JOB, JOB).joint("group", "task_pred"))
    assert counted(pred=np.array(PREDICTED, float)) == counted()


def test_the_dicts_of_onnx_are_refused_with_what_to_pass():
    rows = [{"0": 1 - one, "1": one} for one in PROBABILITY]
    objects = np.array(rows, dtype=object)
    for held in (rows, pd.Series(rows), objects, pl.Series(rows), pa.array(rows)):
        with pytest.raises(TypeError, match=r"a dict in each row.*: pd\.DataFrame\(y_pred\)\."):
            counted(pred=held)
    labels, frame = np.array(HIRED).astype(str), pd.DataFrame(rows)
    assert counted(labels, frame) == counted(labels, frame["1"])


def test_probabilities_of_the_attribute():
    # Of two groups one column is the probability of the last by name.
    men = pd.Series(PROBABILITY).groupby(np.array(HIRED)).mean()
    for held in (PROBABILITY, np.c_[1 - PROBABILITY, PROBABILITY]):
        cells = counted(sensitive_pred=held)
        assert_allclose(cells.rate("group_pred", given="task")[1], men[1])
    three = RNG.choice(["a", "b", "c"], N)
    share = RNG.dirichlet(np.ones(3), N)
    cells = counted(sex=three, sensitive_pred=share)
    expected = pd.DataFrame(share).groupby(np.array(HIRED)).mean().to_numpy()
    assert_allclose(cells.rate("group_pred", given="task")[:, 0], expected[1])


def test_rows_of_no_weight_are_not_there():
    dark = np.array(SKIN) == "dark"
    sex = np.where(dark, SEX, "nobody")
    for predicted in (PREDICTED, PROBABILITY):
        kept = [np.array(v)[dark] for v in (HIRED, predicted, SEX)]
        weighted = counted(HIRED, predicted, sex, sample_weight=np.where(dark, 0.5, 0))
        assert weighted.groups == ("f", "m")
        expected = counted(*kept).rate("task_pred", given="group")
        assert_allclose(weighted.rate("task_pred", given="group"), expected)


def test_a_real_group_may_be_called_missing():
    cells = counted([1, 0, 1, 0], None, ["(missing)", "a", "(missing)", "a"], missing="group")
    assert cells.groups == ("(missing)", "a")
    assert cells.count("group").tolist() == [2, 2]
    other = ["(missing)", None, "b", "a"]
    for labels in ({"sex": other}, {"sex": list("abab"), "sensitive_pred": other}):
        with pytest.raises(ValueError, match=r"missing values and a group named '\(missing\)'"):
            counted([1, 0, 1, 0], None, **labels, missing="group")


def test_classes_of_training_are_no_misspellings():
    train = counted(["a", "A", "b", "a"] * 5, None, list("ffmm") * 5)
    test, predicted = ["a", "b", "a", "b"], ["A", "b", "a", "b"]
    assert counted(test, predicted, list("ffmm"), like=train).classes == ("A", "a", "b")
    with pytest.raises(ValueError, match="Use one spelling in both"):
        counted(test, predicted, list("ffmm"))
