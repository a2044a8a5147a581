"""Bad input gets one clear error: what was wrong, what was seen, what to do."""

import re
import warnings
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import (
    differential_fairness_amplification,
    directional_amplification,
    mals_amplification,
    multi_attribute_amplification,
)

SEX = ["f"] * 4 + ["m"] * 4
SKIN = ["dark", "light"] * 4
HIRED = [1, 1, 1, 0, 1, 0, 0, 0]
PREDICTED = [1, 1, 1, 1, 0, 0, 0, 0]
TAGS = np.array([HIRED, PREDICTED]).T
NAN = float("nan")
SHUFFLED = pd.RangeIndex(8)[::-1]

METRICS = [mals_amplification, directional_amplification, multi_attribute_amplification]
AUDITORS = [MALSAuditor, DirectionalAuditor, MultiAttributeAuditor]


@contextmanager
def raises(message, kind=ValueError):
    """Expect an error whose text can be shown to somebody who never saw the code."""
    with pytest.raises(kind, match=message) as caught:
        yield
    said = str(caught.value)
    assert not re.search(r"np\.|numpy\.|dtype|0x|<", said.replace("dtype=object", "")), said
    assert said.endswith((".", ")")), said


def count(y=HIRED, pred=None, sex=SEX, **options):
    return Contingency.from_labels(y, pred, sensitive_features=sex, **options)


def fitted(y=HIRED, sex=SEX, **options):
    return DirectionalAuditor(interval=None, **options).fit(y, sensitive_features=sex)


def score(y=HIRED, pred=PREDICTED, sex=SEX, auditor=None, **options):
    return (auditor or fitted()).score(y, pred, sensitive_features=sex, **options)


def first(value, labels):
    """The labels with their first one replaced."""
    return [value, *labels[1:]]


# --------------------------------------------------------------------------- rows that do not fit


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_pred": PREDICTED[:5]}, "^y_pred has 5 rows but y_true has 8"),
        ({"sensitive_features": SEX * 2}, "^sensitive_features has 16 rows but y_true has 8"),
        ({"sensitive_pred": SEX[:1]}, "^sensitive_pred has 1 row but y_true has 8"),
        ({"sample_weight": [1] * 7}, "^sample_weight has 7 rows but y_true has 8"),
    ],
    ids=["y_pred", "sensitive_features", "sensitive_pred", "sample_weight"],
)
@pytest.mark.parametrize("hold", [list, np.array, pd.Series, pl.Series, pa.array])
def test_lengths_differ(given, message, hold):
    given = {name: hold(labels) for name, labels in given.items()}
    options = {"y_pred": PREDICTED, "sensitive_features": SEX, **given}
    with raises(message + r".*Every row needs both.*did a train/test split keep the index"):
        fitted().score(HIRED, options.pop("y_pred"), **options)


def test_lengths_of_a_dict_of_columns_differ():
    with raises(r"sensitive_features\['skin'\] has 5 rows but sensitive_features\['sex'\] has 8"):
        count(sex={"sex": SEX, "skin": SKIN[:5]}, missing="group")


@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series([], dtype=float), pl.Series([])])
def test_no_rows(empty):
    audited = {"y_true": HIRED, "y_pred": HIRED, "sensitive_features": SEX}
    for name, call in (
        ("y_train", lambda: fitted(empty, empty)),
        ("y_true", lambda: score(empty, empty, empty)),
        ("y_true", lambda: directional_amplification(empty, empty, sensitive_features=empty)),
        ("y_train", lambda: DirectionalAuditor().partial_fit(empty, sensitive_features=empty)),
        (
            "y_train",
            lambda: directional_amplification(**audited, y_train=empty, sensitive_train=empty),
        ),
    ):
        with raises(f"^{name} is empty: there are no rows to audit"):
            call()


@pytest.mark.parametrize("name", ["y_true", "y_pred", "sensitive_features"])
def test_no_columns(name):
    given = {"y_true": HIRED, "y_pred": PREDICTED, "sensitive_features": SEX}
    with raises(rf"{name} has no columns, its shape is \(8, 0\)"):
        Contingency.from_labels(**given | {name: np.zeros((8, 0))})
    with raises(f"{name} is an empty dict"):
        Contingency.from_labels(**given | {name: {}})


INPUTS = {
    "y_true": HIRED,
    "y_pred": PREDICTED,
    "sensitive_features": SEX,
    "sensitive_pred": SEX,
    "sample_weight": [1, 2] * 4,
}


@pytest.mark.parametrize(
    ("one", "other"),
    [(a, b) for i, a in enumerate(INPUTS) for b in list(INPUTS)[i + 1 :]],
    ids="-".join,
)
@pytest.mark.parametrize("table", [False, True], ids=["Series", "DataFrame"])
def test_a_shuffled_index_between_any_two_inputs(one, other, table):
    series = {**INPUTS, one: pd.Series(INPUTS[one]), other: pd.Series(INPUTS[other], SHUFFLED)}
    if table:
        series = {k: v.to_frame() if isinstance(v, pd.Series) else v for k, v in series.items()}
    message = (
        rf"{one} and {other} have the same index labels in another order \(row 0: 0 and 7\), so "
        rf"one of them was shuffled or sorted.*{other}\.loc\[{one}\.index\], or pass \.to_numpy"
    )
    with raises(message):
        Contingency.from_labels(**series)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (list("abcdefgh"), r"\(row 0: 'a' and 'h'\)"),
        ([0, 0, 1, 1, 2, 2, 3, 3], r"\(row 0: 0 and 3\)"),
        ([NAN, 1, 2, 3, 4, 5, 6, NAN], r"\(row 1: 1\.0 and 6\.0\)"),
        (["x", 1, 2, 3, 4, 5, 6, 7], r"\(row 0: 'x' and 7\)"),
        (pd.date_range("2020", periods=8), r"\(row 0: Timestamp\('2020-01-01 "),
        (pd.MultiIndex.from_product([[0, 1], range(4)]), r"\(row 0: \(0, 0\) and \(1, 3\)\)"),
    ],
    ids=["text", "repeated", "NaN", "mixed", "dates", "MultiIndex"],
)
def test_a_shuffled_index_of_any_kind(index, message):
    hired = pd.Series(HIRED, index=index)
    with raises(message):
        count(hired, None, pd.Series(SEX, index=hired.index[::-1]))


def test_a_shuffled_index_between_the_second_and_third_input():
    with raises("y_pred and sensitive_features have the same index labels in another order"):
        count(pd.Series(HIRED, range(50, 58)), pd.Series(PREDICTED), pd.Series(SEX, SHUFFLED))


def test_a_shuffled_index_in_a_dict_of_columns():
    with raises(r"y_true and sensitive_features\['sex'\] have the same index labels"):
        count(pd.Series(HIRED), None, {"sex": pd.Series(SEX, SHUFFLED), "skin": SKIN})
    with raises(r"sensitive_features\['sex'\] and sensitive_features\['skin'\] have the same"):
        count(HIRED, None, {"sex": pd.Series(SEX), "skin": pd.Series(SKIN, SHUFFLED)})


# --------------------------------------------------------------------------- never seen in fit


@pytest.mark.parametrize("hold", [list, np.array, pd.Categorical, pl.Series])
def test_a_group_that_was_not_in_training(hold):
    message = (
        r"^group 'x' is in the audited data but was not in the training labels, so its training "
        r"correlation is unknown\. Fit on data that has it, or leave this 1 row out\. "
        r"\(Training had 'f' and 'm'\.\)$"
    )
    with raises(message):
        score(sex=hold(first("x", SEX)))
    with raises(r"^groups 'x' and 'y' are in .* that has them, or leave these 3 rows out\."):
        score(sex=hold(["x", "x", "y", *SEX[3:]]))


def test_a_predicted_group_that_was_not_in_training():
    auditor = fitted(direction="T->A")
    with raises("group 'x' is in the audited data but was not in the training labels"):
        score(auditor=auditor, sensitive_pred=first("x", SEX))


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_task_that_was_not_in_training(auditor):
    auditor = auditor(interval=None).fit(np.array([0, 1, 2, 1] * 2), sensitive_features=SEX)
    for y, pred in [(first(3, HIRED), HIRED), (HIRED, first(3, HIRED))]:
        with raises(r"^task 3 is in .* leave this 1 row out\. \(Training had 0, 1 and 2\.\)"):
            score(np.array(y), np.array(pred), auditor=auditor)


def test_the_rows_of_an_unseen_group_are_counted_by_weight():
    sex = first("x", SEX)
    with raises("leave these 5 rows out"):
        score(sex=sex, sample_weight=[5] + [1] * 7)
    with raises("or leave it out"):
        score(sex=sex, sample_weight=[0.25] + [1] * 7)


def test_a_column_that_was_not_in_training():
    auditor = fitted(pd.DataFrame(TAGS, columns=["cook", "clean"]))
    tags = pd.DataFrame(TAGS, columns=["cook", "drive"])
    with raises(r"^task 'drive' is in .* or leave it out\. \(Training had 'cook' and 'clean'\.\)"):
        score(tags, tags, auditor=auditor)


@pytest.mark.parametrize("groups", ["intersection", "marginal", "indicator"])
def test_a_group_of_several_columns_that_was_not_in_training(groups):
    people = pd.DataFrame({"sex": SEX, "skin": SKIN})
    unseen = people.assign(skin=first("green", SKIN))
    message = r"^group (\('f', 'green'\)|'skin=green') is in the audited data"
    if groups == "indicator":
        people = pd.DataFrame({"woman": HIRED, "dark": PREDICTED})
        unseen, message = people.rename(columns={"dark": "green"}), "^group 'green' is in"
    with raises(message):
        score(sex=unseen, auditor=fitted(sex=people, groups=groups))


def test_a_contingency_with_a_group_that_was_not_in_training():
    with raises("group 'x' is in the audited data but was not in the training labels"):
        fitted().score(count(HIRED, PREDICTED, first("x", SEX)))


# --------------------------------------------------------------------------- missing values


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize(
    "hold",
    [list, lambda v: np.array(v, dtype=object), pd.Series, lambda v: pd.Series(v, dtype=object)],
    ids=["list", "objects", "Series", "Series of objects"],
)
def test_missing_labels(hold, missing):
    with raises(r"y_true has missing values in 1 row, at position 0\. Only labelled rows can be"):
        score(hold(first(missing, HIRED)))
    with raises(r"y_pred has missing values in 1 row, at position 0\. Every audited row needs a"):
        score(HIRED, hold(first(missing, PREDICTED)))
    with raises(
        r"sensitive_features has missing values.*\(missing='drop'\), or .* \(missing='group'\)"
    ):
        score(sex=hold(first(missing, SEX)))
    with raises(r"sensitive_pred has missing values in 1 row, at position 0\. Every audited row"):
        score(auditor=fitted(direction="T->A"), sensitive_pred=hold(first(missing, SEX)))
    with raises(r"^y_train has missing values in 1 row, at position 0\."):
        fitted(hold(first(missing, HIRED)))


def test_missing_labels_stay_errors_whatever_missing_says():
    # It is about the attribute.
    for missing in ("drop", "group"):
        with raises("y_true has missing values in 8 rows, the first at position 0"):
            count([None] * 8, missing=missing)
        with raises("y_pred has missing values"):
            count(HIRED, first(None, PREDICTED), missing=missing)


@pytest.mark.parametrize(
    "hold",
    [
        np.ndarray.tolist,
        pd.DataFrame,
        pl.DataFrame,
        np.array,
        lambda v: pd.DataFrame(v).convert_dtypes(),
        lambda v: v.astype(object),
    ],
    ids=["lists", "pandas", "polars", "ndarray", "nullable", "objects"],
)
def test_missing_memberships_and_probabilities(hold):
    tags = TAGS.astype(float)
    tags[2, 1] = NAN
    held = hold(tags)
    with raises(r"y_true has missing values in 1 row, at position 2\. Leave these rows out"):
        count(held)
    with raises(r"y_pred has missing values in 1 row, at position 2"):
        count(TAGS, held)
    with raises(r"sensitive_features has missing values in 1 row, at .*\(missing is for columns"):
        count(sex=held, groups="indicator", missing="drop")


def test_missing_probabilities():
    soft = first(NAN, [0.5] * 8)
    with raises(r"y_pred has missing values in 1 row, at position 0"):
        score(HIRED, soft)
    with raises(r"y_pred has missing values in 1 row, at position 0"):
        score(HIRED, np.c_[soft, soft])
    with raises(r"sensitive_pred has missing values in 1 row, at position 0"):
        score(auditor=fitted(direction="T->A"), sensitive_pred=soft)


def test_masked_values_are_missing():
    masked = np.ma.array(HIRED, mask=[1] + [0] * 7)
    with raises("y_true has missing values in 1 row, at position 0"):
        count(masked)


def test_text_that_numpy_made_of_a_missing_value():
    sex = np.array([NAN, *SEX[1:]])
    assert sex[0] == "nan"
    for missing in ("error", "drop", "group"):
        with raises("holds the text 'nan' in 1 row, at position 0: that is what NumPy makes of"):
            count(sex=sex, missing=missing)
    assert count(sex=np.array(["nan", *SEX[1:]], dtype=object)).groups == ("f", "m", "nan")


def test_nothing_is_left():
    with raises("sensitive_features is missing in every row: there is nothing left to audit"):
        count(sex=[None] * 8, missing="drop")
    with raises("sensitive_features has one group only, 'f'"):
        fitted(sex=SEX[:4] + [None] * 4, missing="drop")


# --------------------------------------------------------------------------- groups and classes


@pytest.mark.parametrize("hold", [list, np.array, pd.Categorical, pl.Series])
def test_one_group(hold):
    sex = hold(["f"] * 8)
    message = r"sensitive_features has one group only, 'f'\. Amplification compares groups"
    for auditor in AUDITORS:
        with raises(message):
            auditor().fit(HIRED, sensitive_features=sex)
        with raises(message):
            auditor(reference="test").score(HIRED, PREDICTED, sensitive_features=sex)
    for metric in METRICS:
        with raises(message):
            metric(HIRED, PREDICTED, sensitive_features=sex)
        with raises(message.replace("features", "train")):
            metric(
                HIRED, PREDICTED, sensitive_features=SEX, y_train=HIRED, sensitive_train=["f"] * 8
            )


def test_one_group_in_several_columns():
    people = pd.DataFrame({"sex": ["f"] * 8, "skin": ["dark"] * 8})
    with raises(r"has one group only, \('f', 'dark'\)"):
        fitted(sex=people)


def test_one_group_learned_from_chunks():
    auditor = DirectionalAuditor().partial_fit(HIRED[:4], sensitive_features=SEX[:4])
    with raises("sensitive_features has one group only, 'f'"):
        score(HIRED[:4], PREDICTED[:4], SEX[:4], auditor=auditor)


AGES = [20.5, 21, 35.25, 40, 41.5, 60, 71.5, 80]


@pytest.mark.parametrize(
    "hold",
    [
        list,
        np.array,
        lambda v: np.array(v, "f2"),
        lambda v: np.array(v, object),
        lambda v: [Decimal(str(x)) for x in v],
        pd.Series,
        lambda v: pd.Series(v, dtype="Float64"),
        pl.Series,
        pa.array,
    ],
    ids=["list", "f8", "f2", "objects", "Decimal", "Series", "Float64", "polars", "pyarrow"],
)
def test_continuous_labels(hold):
    advice = r"this metric needs classes\. Threshold or bin it first"
    with raises(rf"y_true is continuous \(it holds 20\.5, for example\): {advice}"):
        count(hold(AGES))
    with raises(
        r"sensitive_features is continuous \(it holds 20\.5, .* bin it first \(pandas\.cut"
    ):
        count(sex=hold(AGES))
    for missing in ("error", "drop", "group"):
        with raises("sensitive_features is continuous"):
            count(sex=[None, *AGES[:7]], missing=missing)


def test_a_continuous_column_among_several():
    with raises(r"sensitive_features column 'age' is continuous \(it holds 20\.5"):
        count(sex={"sex": SEX, "age": AGES})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (first(np.inf, HIRED), "y_true holds infinite values in 1 row, at position 0"),
        (np.array(first(-np.inf, HIRED), object), "y_true holds infinite values in 1 row"),
        (pd.array([np.inf, None, *HIRED[2:]], "Float64"), "y_true holds infinite values"),
        (np.array(HIRED) * 1j, "y_true must hold classes or probabilities; got complex numbers"),
        (
            np.array([1j, *HIRED[1:]], object),
            "y_true must hold classes or probabilities; got complex numbers",
        ),
        ([0.5, "a", *HIRED[2:]], "y_true mixes labels with numbers that are no classes.* 0.5"),
    ],
    ids=["inf", "inf object", "inf Float64", "complex", "complex object", "mixed"],
)
def test_numbers_that_are_no_classes(labels, message):
    with raises(message):
        count(labels)


@pytest.mark.parametrize(
    ("labels", "seen"),
    [
        ([{value} for value in HIRED], r"sets such as \{1\}"),
        (pd.Series([[value] for value in HIRED]), r"lists such as \[1\]"),
        (pl.Series([[value] for value in HIRED]), r"lists such as \[1\]"),
        (pa.array([[value] for value in HIRED]), r"lists such as \[1\]"),
        (
            pd.Series([[value] for value in HIRED], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
            r"(list|ndarray)s such as ",
        ),
    ],
    ids=["sets", "Series of lists", "polars lists", "pyarrow lists", "lists of Arrow in pandas"],
)
def test_several_labels_in_one_cell(labels, seen):
    with raises(
        rf"y_true must hold one label a row; got {seen}.*pd.DataFrame.*MultiLabelBin", TypeError
    ):
        count(labels)


# --------------------------------------------------------------------------- shapes and containers


@pytest.mark.parametrize(
    ("value", "seen"),
    [(1, "int"), (0.5, "float"), ("abcdefgh", "str"), ({1, 0}, "set"), (object(), "object")],
)
@pytest.mark.parametrize("name", ["y_true", "y_pred", "sensitive_features", "sample_weight"])
def test_no_column_at_all(name, value, seen):
    given = {"y_true": HIRED, "sensitive_features": SEX, name: value}
    with raises(rf"{name} must hold one value a row\. Got {seen} instead", TypeError):
        Contingency.from_labels(**given)


def test_generators_are_not_read():
    with raises(r"y_true must hold one value a row\. Got generator instead", TypeError):
        count(value for value in HIRED)


@pytest.mark.parametrize("shape", [(8, 2, 2), (8, 1, 1), ()])
def test_other_dimensions(shape):
    with raises(r"y_true must have one or two dimensions; got shape \(" + str(shape)[1:-1]):
        count(np.zeros(shape))
    with raises(r"sensitive_features must have one or two dimensions"):
        count(sex=np.zeros(shape))


@pytest.mark.torch
def test_tensors_of_other_dimensions():
    torch = pytest.importorskip("torch")
    with raises(r"y_true must have one or two dimensions; got shape \(8, 2, 2\)"):
        count(torch.zeros(8, 2, 2))


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def test_probabilities_of_several_tasks_in_a_list(library):
    one = np.array([[0.25, 0.75]] * 8)
    if library == "torch":
        one = pytest.importorskip("torch").tensor(one)
    with pytest.raises(
        ValueError,
        match=r"y_pred is a list of 2 tables, .* np\.column_stack\(\[p\[:, 1\] for p in ",
    ):
        count(TAGS, [one, one])
    assert count(TAGS, np.column_stack([one[:, 1], one[:, 1]])).total == 8


def test_nested_lists_of_other_dimensions():
    with raises(r"y_true has 2 columns, so each must be a 0/1 indicator .*; got \[1\]"):
        count([[[1], [0]]] * 8)


@pytest.mark.parametrize(
    "rows", [[[1], [1, 0]] * 4, [1, [1, 0]] * 4, [np.ones(1), np.ones(2)] * 4, [(1,), ()] * 4]
)
def test_ragged_rows(rows):
    with raises("y_true is a list of rows of different lengths.*MultiLabelBinarizer"):
        count(rows)


def test_none():
    with raises("y_true is None: pass the labels"):
        count(None)
    for call in (lambda: count(sex=None), lambda: DirectionalAuditor().fit(HIRED)):
        with raises(r"sensitive_features is None: .* sensitive_features=X\['sex'\]"):
            call()


def test_lazy_frames():
    lazy = pl.LazyFrame({"sex": SEX})
    with raises(r"sensitive_features is a lazy frame: collect\(\) the label columns", TypeError):
        count(sex=lazy)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sex": "f", "skin": SKIN}, r"sensitive_features\['sex'\] must hold one value a row"),
        ({"sex": TAGS, "skin": SKIN}, r"\['sex'\] must be one column; got shape \(8, 2\)"),
        ({np.int64(3): TAGS, 4: SKIN}, r"sensitive_features\[3\] must be one column"),
    ],
    ids=["scalar", "table", "numpy key"],
)
def test_columns_of_a_dict(columns, message):
    with raises(message, (ValueError, TypeError)):
        count(sex=columns)


@pytest.mark.parametrize("name", ["y_true", "y_pred", "sensitive_features"])
@pytest.mark.parametrize("groups", ["marginal", "indicator"])
def test_two_columns_of_one_name(name, groups):
    given = {"y_true": TAGS, "y_pred": TAGS, "sensitive_features": TAGS}
    given[name] = pd.DataFrame(TAGS, columns=["a", "a"])
    with raises(f"{name} has more than one column named 'a'"):
        Contingency.from_labels(**given, groups=groups)


@pytest.mark.parametrize(
    ("people", "twice"),
    [
        ({"a=1": ["2", "3"] * 4, "a": ["1=2", "x"] * 4}, "a=1=2"),
        ({"a": ["b=c", "x"] * 4, "a=b": ["c", "d"] * 4}, "a=b=c"),
    ],
)
def test_marginal_groups_of_one_name(people, twice):
    with raises(f"two groups of sensitive_features would be '{twice}'"):
        count(sex=people, groups="marginal")


# --------------------------------------------------------------------------- several labels a row


@pytest.mark.parametrize(
    ("matrix", "seen"),
    [
        (TAGS * 2, "2"),
        (TAGS * 255, "255"),
        (TAGS.astype("u1") * 255, "255"),
        (-TAGS, "-1"),
        (TAGS * 0.5, "0.5"),
        (np.where(TAGS == 1, np.inf, 0), "inf"),
        (TAGS.astype(str), "'1'"),
        (TAGS.astype(str).astype(object), "'1'"),
        (pd.DataFrame(TAGS).astype("string"), "'1'"),
        (pd.DataFrame({"a": HIRED, "b": SEX}), "'f'"),
        (TAGS * 1j, "1j"),
        (TAGS.astype("M8[ns]"), "Timestamp"),
        (sparse.csr_matrix(TAGS * 3), "3"),
        (pl.DataFrame({"a": HIRED, "b": SEX}), "'f'"),
    ],
    ids=[
        *("two", "255", "255 u1", "negative", "half", "inf", "text", "text objects", "string"),
        *("mixed", "complex", "dates", "sparse", "polars"),
    ],
)
def test_columns_that_are_no_indicators(matrix, seen):
    message = rf"has 2 columns, so each must be a 0/1 indicator of one label; got .*{seen}"
    with raises("y_true " + message):
        count(matrix)
    with raises("sensitive_features " + message):
        count(sex=matrix, groups="indicator")


def test_the_wrong_number_of_columns():
    with raises("y_true has 2 columns but y_pred has 3. Predict every column, in the same order"):
        count(TAGS, np.zeros((8, 3)))
    with raises("y_true has 2 columns but y_pred is one column"):
        count(TAGS, HIRED)
    with raises("y_pred has 3 columns but there are 2 classes .0 and 1."):
        count(HIRED, np.full((8, 3), 1 / 3))
    with raises("y_true has 3 columns but the training labels had 2 columns"):
        score(np.ones((8, 3)), np.ones((8, 3)), auditor=fitted(TAGS))
    with raises("y_true has 2 columns but the training labels had one column"):
        score(TAGS, TAGS)
    with raises("y_true is one column of labels, but the training labels had 2 indicator columns"):
        score(auditor=fitted(TAGS))
    with raises("sensitive_features has 2 columns but sensitive_pred is one column"):
        count(sex={"sex": SEX, "skin": SKIN}, sensitive_pred=SEX)
    with raises("sensitive_features has 2 columns but sensitive_pred has 3"):
        count(sex=TAGS, sensitive_pred=np.ones((8, 3)), groups="indicator")
    with raises("sensitive_features has 3 columns but the training labels had 2"):
        score(sex=np.ones((8, 3)), auditor=fitted(sex=TAGS, groups="indicator"))
    with raises(r"sensitive_features holds text .* but the training data holds combinations"):
        score(sex=SEX, auditor=fitted(sex={"sex": SEX, "skin": SKIN}))


ORDERED = pd.DataFrame({"a": HIRED, "b": PREDICTED})
PERMUTED = ORDERED[["b", "a"]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count(ORDERED, PERMUTED), "y_pred has the columns of y_true"),
        (
            lambda: score(PERMUTED, PERMUTED, auditor=fitted(ORDERED)),
            "y_true has the columns of the training data",
        ),
        (
            lambda: count(sex=ORDERED, sensitive_pred=PERMUTED),
            "sensitive_pred has the columns of sensitive_features",
        ),
        (
            lambda: count(sex=ORDERED, sensitive_pred=PERMUTED, groups="marginal"),
            "sensitive_pred has the columns of sensitive_features",
        ),
        (
            lambda: count(sex=ORDERED, sensitive_pred=PERMUTED, groups="indicator"),
            "sensitive_pred has the columns of sensitive_features",
        ),
        (
            lambda: score(sex=PERMUTED, auditor=fitted(sex=ORDERED)),
            "sensitive_features has the columns of the training data",
        ),
        (
            lambda: score(sex=PERMUTED, auditor=fitted(sex=ORDERED, groups="indicator")),
            "sensitive_features has the columns of the training data",
        ),
    ],
    ids=[
        *("predictions", "training", "predicted attributes", "predicted marginal"),
        *("predicted indicator", "training attributes", "training indicator"),
    ],
)
def test_columns_in_another_order(call, message):
    with raises(message + r" in another order \(column 0: 'b' and 'a'\).*matched by position"):
        call()


def test_attributes_in_another_order_after_chunks():
    auditor = DirectionalAuditor(interval=None)
    for _ in range(2):
        auditor.partial_fit(HIRED, sensitive_features=ORDERED)
    with raises("sensitive_features has the columns of the training data in another order"):
        score(sex=PERMUTED, auditor=auditor)


@pytest.mark.parametrize("counted", [False, True], ids=["labels", "counted"])
@pytest.mark.parametrize(
    ("trained", "audited", "seen"),
    [
        ("sex", "gender", "name 'gender', and the training labels had 'sex'"),
        (["sex", "race"], ["sex", "age"], "names 'sex' and 'age', and .* had 'sex' and 'race'"),
    ],
    ids=["one", "two"],
)
def test_groups_of_another_column_than_those_of_training(counted, trained, audited, seen):
    """Both columns may hold yes and no: the signs were those of another feature."""
    table = pd.DataFrame(dict.fromkeys(("sex", "gender", "race", "age"), SEX))
    auditor = DirectionalAuditor(interval=None).fit(HIRED, sensitive_features=table[trained])
    groups = table[audited]
    with raises(f"sensitive_features has the {seen}.*rename it"):
        if counted:
            auditor.score(Contingency.from_labels(HIRED, HIRED, sensitive_features=groups))
        auditor.score(HIRED, HIRED, sensitive_features=groups)
    # What has no name is taken at its word.
    assert auditor.score(HIRED, HIRED, sensitive_features=groups.to_numpy()) == 0
    assert auditor.score(HIRED, HIRED, sensitive_features=table[trained]) == 0
    unnamed = DirectionalAuditor(interval=None).fit(
        HIRED, sensitive_features=table[trained].to_numpy()
    )
    assert unnamed.score(HIRED, HIRED, sensitive_features=groups) == 0


def test_columns_moved_by_one():
    tags = np.eye(8, 3)
    with raises(r"y_pred has the columns of y_true in another order \(column 0: 'b' and 'a'\)"):
        count(pd.DataFrame(tags, columns=list("abc")), pd.DataFrame(tags, columns=list("bcd")))


def test_classes_in_another_order():
    jobs = ["cook", "nurse", "clerk", "nurse"] * 2
    share = pd.DataFrame(np.full((8, 3), 1 / 3), columns=["nurse", "cook", "clerk"])
    with raises(r"y_pred has the columns of classes in another order \(column 0: 'nurse' and 'cl"):
        count(jobs, share)
    with raises(r"sensitive_pred has the columns of groups in another order"):
        count(sex=jobs, sensitive_pred=share)


# --------------------------------------------------------------------------- text and numbers


@pytest.mark.parametrize("hold", [list, np.array, pd.Series, pd.Categorical, pl.Series])
def test_text_is_not_compared_with_numbers(hold):
    numbers, text = hold(HIRED), hold([str(value) for value in HIRED])
    with raises(
        r"y_pred holds text \('1' and '0'|'0' and '1'\) but y_true holds numbers .* same labels"
    ):
        count(numbers, text)
    with raises(r"y_true holds text .* but the training data holds numbers \(0 and 1\)"):
        score(text, text, auditor=fitted(numbers))
    with raises(r"sensitive_pred holds numbers .* but sensitive_features holds text"):
        count(sex=text, sensitive_pred=numbers)
    with raises(r"sensitive_features holds numbers .* but the training data holds text"):
        score(sex=numbers, auditor=fitted(sex=text))


def test_text_is_not_compared_with_numbers_in_combinations():
    numbers = pd.DataFrame({"sex": SEX, "old": HIRED})
    text = numbers.astype(str)
    with raises(r"sensitive_pred holds text .* but sensitive_features holds numbers"):
        count(sex=numbers, sensitive_pred=text)
    with raises(r"sensitive_features holds text .* but the training data holds numbers"):
        score(sex=text, auditor=fitted(sex=numbers))


def test_text_is_not_compared_with_bytes():
    with raises(r"sensitive_features holds bytes .* but the training data holds text"):
        score(sex=np.array(SEX, dtype="S"))


# --------------------------------------------------------------------------- probabilities


@pytest.mark.parametrize("bad", [1.5, -0.5, 1.001, 2.5, -1e-3])
@pytest.mark.parametrize("hold", [list, np.array, pd.Series, pl.Series])
def test_probabilities_outside_0_and_1(bad, hold):
    soft = hold([bad] + [0.25] * 7)
    message = rf"must hold labels or probabilities in \[0, 1\]; got {bad}\."
    with raises(f"y_pred {message}.*sigmoid or softmax"):
        score(HIRED, soft)
    with raises(f"sensitive_pred {message}"):
        score(auditor=fitted(direction="T->A"), sensitive_pred=soft)
    with raises(f"y_pred {message}"):
        count(TAGS, np.c_[[bad] + [0.25] * 7, [0.5] * 8])


def test_infinite_logits():
    with raises("y_pred holds infinite values in 1 row, at position 1"):
        score(HIRED, [0.5, np.inf] + [0.25] * 6)
    with raises(r"y_pred must hold labels or probabilities in \[0, 1\]; got inf\."):
        count(TAGS, np.full((8, 2), np.inf))


def test_probabilities_of_classes_that_do_not_add_up():
    jobs = [0, 1, 2, 1] * 2
    with raises("y_pred has a column for each of 3 classes, so each row must sum to 1; one sums"):
        count(jobs, np.full((8, 3), 0.9))
    with raises("so each row must sum to 1; one sums to 3"):
        count(jobs, np.ones((8, 3), dtype=int))
    with raises("sensitive_pred has a column for each of 2 groups, so each row must sum to 1"):
        count(sensitive_pred=TAGS * 0.3)


def test_one_column_of_probabilities_for_several_classes():
    with raises(
        r"y_pred has one column of probabilities but there are 3 classes \(0, 1 and 2\)\. Pass "
        "labels, or probabilities with one column for each of them in sorted order"
    ):
        count([0, 1, 2, 1] * 2, [0.5] * 8)
    with raises(r"sensitive_pred has one column of probabilities but there are 4 groups"):
        count(sex=list("abcd") * 2, sensitive_pred=[0.5] * 8)


def test_probabilities_of_an_unknown_class():
    with raises(r"y_pred holds probabilities, of an unknown class: the labels are all 'no'"):
        count(["no"] * 8, [0.5] * 8)


@pytest.mark.parametrize("direction", ["A->T", "T->A", None])
def test_probabilities_for_sets_of_tasks(direction):
    auditor = MultiAttributeAuditor(direction, interval=None).fit(TAGS, sensitive_features=SEX)
    message = "Multi-attribute amplification needs labels, and {} holds probabilities"
    with raises(message.format("y_pred") + ".*Threshold them first"):
        score(TAGS, TAGS * 0.5, auditor=auditor, sensitive_pred=SEX)
    with raises(message.format("sensitive_pred")):
        score(TAGS, TAGS, auditor=auditor, sensitive_pred=[0.25] * 8)


# --------------------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            [-1] + [1] * 7,
            "must be 0 or more; got negative values in 1 row, at position 0\\.",
        ),
        (
            [1, -0.5, -1] + [1] * 5,
            "must be 0 or more; got negative values in 2 rows, the first at position 1",
        ),
        ([0] * 8, "is zero in every row: there is nothing to audit"),
        ([np.inf] + [1] * 7, "is not finite in 1 row, at position 0"),
        ([1e308] * 8, "adds up to inf, which cannot be counted with"),
        ([NAN] + [1] * 7, "has missing values in 1 row, at position 0"),
        ([None] + [1] * 7, "has missing values in 1 row, at position 0"),
        (pd.array([None] + [1] * 7), "has missing values in 1 row, at position 0"),
        (pl.Series([None] + [1] * 7), "has missing values in 1 row, at position 0"),
        (["1"] * 8, "must hold numbers; got '1'"),
        (np.array(["1"] * 8, dtype=object), "must hold numbers; got '1'"),
        ([1] * 7 + ["many"], "must hold numbers; got 'many'"),
        (np.ones(8) * 1j, "must hold numbers; got 1j"),
        (np.ones(8, "m8[D]"), r"must hold numbers; got Timedelta\('1 days"),
        (np.ones((8, 2)), r"must be one column; got shape \(8, 2\)"),
        (np.ones((8, 1, 1)), r"must have one or two dimensions; got shape \(8, 1, 1\)"),
    ],
    ids=[
        *("negative", "two negative", "zero", "inf", "overflow", "NaN", "None", "NA", "null"),
        *("text", "text objects", "mixed", "complex", "timedelta", "2-D", "3-D"),
    ],
)
def test_weights(weight, message):
    with raises("sample_weight " + message):
        score(sample_weight=weight)
    with raises("sample_weight " + message):
        DirectionalAuditor().fit(TAGS, sensitive_features=SEX, sample_weight=weight)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([3, -2], "column 'n' must be 0 or more; got negative values in 1 row"),
        ([3, NAN], "column 'n' has missing values"),
        (["3", "2"], "column 'n' must hold numbers; got '3'"),
    ],
)
def test_counts(counts, message):
    with raises(message):
        Contingency.from_counts(pd.DataFrame({"task": [0, 1], "group": ["f", "m"], "n": counts}))


@pytest.mark.parametrize(
    ("columns", "count", "message"),
    [
        (
            ("sex", "hired", "count"),
            "n",
            "or be a cross table .* got the columns 'sex', 'hired' and 'count', and 'f' in",
        ),
        (
            ("group", "task", "count"),
            "n",
            r"^count must name a column; there is no column 'n'\. The columns are 'group', 'task'",
        ),
        (
            ("sex", "hired", "n"),
            "cnt",
            r"there is no column 'cnt'\. The columns are 'sex', 'hired' and 'n'\.",
        ),
    ],
    ids=["other names", "another count", "no such count"],
)
def test_columns_of_counts_are_named(columns, count, message):
    frame = pd.DataFrame([("f", 0, 3), ("f", 1, 1), ("m", 0, 2), ("m", 1, 2)], columns=columns)
    with raises(message):
        Contingency.from_counts(frame, count=count)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("x", "or be a cross table .* and 'x' in column 1"),
        (None, "the table of counts has missing values in 1 row, at position 1"),
        (-1, "the table of counts must be 0 or more; got negative values in 1 row, at position 1"),
    ],
    ids=["text", "missing", "negative"],
)
def test_cells_of_a_cross_table(cell, message):
    with raises(message):
        Contingency.from_counts(pd.DataFrame({0: [1, 2], 1: [cell, 4]}, ["f", "m"]))


# --------------------------------------------------------------------------- what is lacking


def test_the_prediction_of_the_attribute_is_lacking():
    message = r"'T->A' .* needs the sensitive feature as predicted .* pass sensitive_pred\..*'A->T'"
    with raises(message):
        score(auditor=fitted(direction="T->A"))
    for metric in (directional_amplification, multi_attribute_amplification):
        with raises(message):
            metric(HIRED, PREDICTED, sensitive_features=SEX, direction="T->A")


@pytest.mark.parametrize("auditor", AUDITORS)
def test_the_prediction_of_the_task_is_lacking(auditor):
    auditor = auditor(interval=None).fit(HIRED, sensitive_features=SEX)
    directed = "" if auditor.direction is None else r" \(Only direction='T->A' can do without.\)"
    with raises(rf"compares the labels with their predictions: pass y_pred\.{directed}$"):
        score(HIRED, None, auditor=auditor)


@pytest.mark.parametrize("metric", METRICS)
def test_half_of_the_training_labels_is_lacking(metric):
    with raises(r"sensitive_train is None\. Pass both y_train and sensitive_train, or neither"):
        metric(HIRED, PREDICTED, sensitive_features=SEX, y_train=HIRED)
    with raises(r"y_train is None\. Pass both y_train and sensitive_train"):
        metric(HIRED, PREDICTED, sensitive_features=SEX, sensitive_train=SEX)


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("method", ["score", "audit"])
def test_an_auditor_that_was_never_fitted(auditor, method):
    message = (
        rf"This {auditor.__name__} has not seen training labels: call fit\(y_train, sensitive_fea"
        "tures=A_train.* reference='test'"
    )
    with raises(message, NotFittedError):
        getattr(auditor(), method)(HIRED, PREDICTED, sensitive_features=SEX)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("direction", "A->A", r"'A->T', 'T->A'|'T->A', 'A->T'"),
        ("direction", ["A->T"], r"'A->T', 'T->A'|'T->A', 'A->T'"),
        ("ties", "one", r"'zero', 'negative'|'negative', 'zero'"),
        ("base", "labels", r"'test', 'train'|'train', 'test'"),
        ("base", 0.5, r"'test', 'train'|'train', 'test'"),
        ("groups", "all", "'marginal'"),
        ("missing", "ignore", "'drop'"),
        ("missing", None, "'drop'"),
    ],
)
def test_wrong_options(option, value, allowed):
    message = rf"{option}.* must be .*({allowed}).*Got {re.escape(repr(value))} instead"
    with raises(message):
        fitted(**{option: value})
    with raises(message):
        directional_amplification(HIRED, PREDICTED, sensitive_features=SEX, **{option: value})


@pytest.mark.parametrize("option", ["direction", "ties", "groups", "missing"])
def test_options_that_are_arrays(option):
    with pytest.raises(
        ValueError,
        match=rf"The '{option}' parameter of directional_amplification must be .*Got array\(",
    ):
        directional_amplification(
            HIRED, PREDICTED, sensitive_features=SEX, **{option: np.array(["A->T", "T->A"])}
        )


# --------------------------------------------------------------------------- the user's own tables


def table(values, index=("f", "m"), columns=(1,)):
    return pd.DataFrame(values, index=list(index), columns=list(columns))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (table([[0.5]], index=["f"]), r"lacks group 'm' \(it has 'f'\)"),
        (table([[0.5]] * 2, columns=["1"]), r"lacks task 1 \(it has '1'\)"),
        (table([[0.5, 0.5]], index=[1], columns=["f", "m"]), r"lacks group 'f' and 'm'"),
        (table([[0.5]] * 3, index=["f", "m", "m"]), "base names a group twice"),
        (table([[0.5], [1.5]]), r"must hold a conditional probability in \[0, 1\] .* got 1\.5"),
        (table([[0.5], [-0.1]]), r"must hold a conditional probability in \[0, 1\] .* got -0\.1"),
        (table([[0.5], [NAN]]), r"must hold a conditional probability in \[0, 1\] .* got nan"),
        (table([["half"], ["half"]]), "base must hold numbers, and none may be missing"),
        (table([[pd.NA], [0.5]]), "base must hold numbers, and none may be missing"),
    ],
    ids=[
        *("lacks a group", "text", "transposed", "twice", "above 1", "below 0", "NaN", "no number"),
        "NA",
    ],
)
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_base_rates(base, message, direction):
    with raises(message):
        fitted(base=base, direction=direction)
    with raises(message):
        directional_amplification(
            HIRED,
            PREDICTED,
            sensitive_features=SEX,
            sensitive_pred=SEX,
            base=base,
            direction=direction,
        )


def test_signs():
    with raises(r"sign must hold -1, 0 or 1 for every pair; got 0\.5"):
        fitted(sign=table([[0.5], [1]]))
    with raises("sign must have a row for every group .* lacks group 'm'"):
        fitted(sign=table([[1]], index=["f"]))
    with raises(r"'sign' parameter .* instance of 'pandas.DataFrame' .* Got array", TypeError):
        directional_amplification(HIRED, PREDICTED, sensitive_features=SEX, sign=np.ones((2, 1)))


# --------------------------------------------------------------------------- contingencies

CELLS = count(HIRED, PREDICTED)


@pytest.mark.parametrize(
    "others",
    [{"y_pred": PREDICTED}, {"sensitive_features": SEX}, {"sample_weight": [1] * 8}],
    ids=lambda others: next(iter(others)),
)
def test_a_contingency_together_with_labels(others):
    with raises("A Contingency already holds labels, predictions.*: pass it alone", TypeError):
        fitted().score(CELLS, **others)


@pytest.mark.parametrize("metric", METRICS)
def test_a_contingency_where_labels_are_needed(metric):
    with raises("A Contingency already holds labels, predictions.*: pass it alone", TypeError):
        metric(CELLS, PREDICTED, sensitive_features=SEX)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: count(), "Only one of two contingencies has 'task_pred'"),
        (lambda: count(HIRED, [0.5] * 8), "hold tasks of different kinds .*cannot be added"),
        (lambda: count(TAGS, TAGS), "hold tasks of different kinds .*cannot be added"),
        (
            lambda: count(HIRED, PREDICTED, TAGS, groups="indicator"),
            "hold groups of different kinds .*cannot be added",
        ),
    ],
    ids=["fewer sides", "probabilities", "several labels", "overlapping groups"],
)
def test_contingencies_of_different_kinds(other, message):
    with raises(message):
        CELLS + other()
    with raises(message):
        other() + CELLS


def test_contingencies_with_different_columns():
    with raises("have different task columns: 'b' and 'c'"):
        count(pd.DataFrame(TAGS, columns=["a", "b"])) + count(
            pd.DataFrame(TAGS, columns=["a", "c"])
        )


# --------------------------------------------------------------------------- undefined quantities


@contextmanager
def warns_once(message):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    undefined = [w for w in caught if w.category is UndefinedMetricWarning]
    assert len(undefined) == 1
    assert re.search(message, str(undefined[0].message)), undefined[0].message
    assert undefined[0].filename == __file__  # it points at the user's line


def test_a_group_without_audited_rows():
    message = r"^no audited rows for group 'm': its pair is NaN and is left out of the mean\.$"
    with warns_once(message):
        result = fitted().audit(HIRED[:4], PREDICTED[:4], sensitive_features=SEX[:4])
    assert result.table.set_index("group")["delta"].isna().to_dict() == {"f": False, "m": True}
    with warns_once(message):
        value = fitted().score(HIRED[:4], PREDICTED[:4], sensitive_features=SEX[:4])
    assert value == result.value == 0.25
    with warns_once(message):
        directional_amplification(
            HIRED[:4],
            PREDICTED[:4],
            sensitive_features=SEX[:4],
            y_train=HIRED,
            sensitive_train=SEX,
        )


def test_a_task_without_audited_rows():
    jobs = ["cook", "clerk", "nurse", "clerk"] * 2
    auditor = fitted(jobs, direction="T->A")
    audited = [job.replace("nurse", "clerk") for job in jobs]
    message = r"^no audited rows for task 'nurse': its 2 pairs are NaN and are left out of the mean"
    with warns_once(message):
        result = auditor.audit(audited, sensitive_features=SEX, sensitive_pred=SEX)
    undefined = result.table.set_index("task")["delta"].isna()
    assert undefined["nurse"].all()
    assert not undefined[["cook", "clerk"]].any()
    with warns_once(message):
        assert auditor.score(audited, sensitive_features=SEX, sensitive_pred=SEX) == 0


def test_a_task_that_is_never_predicted():
    auditor = MALSAuditor(interval=None).fit(HIRED, sensitive_features=SEX)
    message = r"^no predicted rows for task 1: its 2 pairs are NaN and count as 0\.$"
    with warns_once(message):
        result = auditor.audit(HIRED, [0] * 8, sensitive_features=SEX)
    assert result.table["delta"].isna().all()
    assert result.value == 0
    with warns_once(message):
        assert mals_amplification(HIRED, [0] * 8, sensitive_features=SEX) == 0


def test_several_undefined_names_are_one_warning():
    sex = list("abcdefgh")
    auditor = fitted([0, 1] * 8, sex * 2)
    with warns_once(r"^no audited rows for groups 'c', 'd', 'e', 'f', 'g' and 1 more: their 6 pai"):
        auditor.audit(HIRED, PREDICTED, sensitive_features=["a", "b"] * 4)


def test_nothing_undefined_is_no_warning(recwarn):
    assert np.isfinite(score())
    assert not recwarn.list


# --------------------------------------------------------------------------- contingencies


def counted(labels, groups, columns=None):
    labels = labels if columns is None else pd.DataFrame(labels, columns=columns)
    return Contingency.from_labels(labels, sensitive_features=groups)


def test_a_contingency_that_lacks_columns_of_training():
    auditor = DirectionalAuditor(direction="T->A", interval=None)
    auditor.fit(counted([[1, 0, 1], [0, 1, 1]] * 4, list("ffmmffmm"), list("abc")))
    audited = Contingency.from_labels(
        pd.DataFrame([[1, 0], [0, 1]] * 4, columns=list("ab")),
        sensitive_features=list("ffmmffmm"),
        sensitive_pred=list("fmfmfmfm"),
    )
    with raises("training labels had the task columns 'c', which the audited ones lack"):
        auditor.score(audited)


def test_chunks_whose_labels_are_text_and_numbers():
    auditor = DirectionalAuditor(interval=None).partial_fit(HIRED, sensitive_features=SEX)
    with raises("the other's task holds text .* but one contingency's task holds numbers"):
        auditor.partial_fit(list(map(str, HIRED)), sensitive_features=SEX)


def test_groups_that_only_the_model_sees_are_nothing_to_compare():
    auditor = DirectionalAuditor("T->A", reference="test", interval=None)
    with raises("sensitive_features has one group only, 'f'"):
        auditor.score(HIRED, sensitive_features=["f"] * len(SEX), sensitive_pred=SEX)


def test_attributes_that_are_constant_are_nothing_to_compare():
    both = np.transpose([["f"] * len(SEX), ["old"] * len(SEX)])
    with raises("sensitive_features has every row in every group"):
        DirectionalAuditor(groups="marginal").fit(HIRED, sensitive_features=both)


@pytest.mark.parametrize("groups", [["f", "f"], [], ["x"], "x"])
def test_a_selection_that_selects_nothing_or_twice(groups):
    with raises("groups must be some of 'f' and 'm', each once; got "):
        counted(HIRED, SEX).select(groups=groups)


def test_text_selects_the_group_of_that_name():
    assert counted(HIRED, SEX).select(groups="f").groups == ("f",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"min_size": "2"},
            "'min_size' parameter .* must be an int in the range \\[1, inf\\)\\. Got '2'",
        ),
        (
            {"min_size": 0},
            "'min_size' parameter .* must be an int in the range \\[1, inf\\)\\. Got 0",
        ),
        ({"max_size": 0}, "'max_size' parameter .* in the range \\[1, inf\\) or None\\. Got 0"),
        ({"min_count": 0}, "'min_count' parameter .* in the range \\(0\\.0, inf\\)\\. Got 0"),
    ],
)
def test_bounds_of_sets_that_are_none(options, message):
    with raises(message):
        multi_attribute_amplification(HIRED, PREDICTED, sensitive_features=SEX, **options)


def test_a_concentration_that_is_no_number():
    with raises("'concentration' parameter .* in the range \\[0\\.0, inf\\)\\. Got 'a'"):
        differential_fairness_amplification(
            HIRED, PREDICTED, sensitive_features=SEX, concentration="a"
        )


def test_a_table_of_scores_of_their_own_tells_nothing():
    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 100), rng.integers(0, 2, 100)
    auditor = LeakageAuditor(attacker="exact", interval=None, random_state=0)
    with pytest.warns(UserWarning, match="each of these scores has 1 rows on average"):
        auditor.audit(hired, rng.normal(size=(100, 1)), sensitive_features=sex)
