"""Values that no parameter asks for, and some that one does: what the fuzzer passes."""

import array
import datetime
import decimal
import enum
import fractions
import functools
import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import Contingency, DirectionalAuditor, LeakageAuditor, MALSAuditor

N = 24
SEX = ["f"] * (N // 2) + ["m"] * (N // 2)
SKIN = ["dark", "light", "light"] * (N // 3)
HIRED = [1, 1, 1, 0, 1, 0] * 2 + [0, 0, 1, 0, 0, 0] * 2
PREDICTED = [1, 1, 1, 0, 1, 1] * 2 + [0, 0, 0, 0, 1, 0] * 2
JOB = ["cook", "clerk", "nurse", "clerk"] * (N // 4)
SOFT = [0.9, 0.7, 0.6, 0.2, 0.8, 0.4] * 2 + [0.1, 0.3, 0.5, 0.2, 0.6, 0.1] * 2
TAGS = np.column_stack([HIRED, PREDICTED])
PEOPLE_SAY = ["a woman cooks", "a man on a bike", "A chef with a bike", "two men cook"] * (N // 4)
MODEL_SAYS = ["a woman cooks", "a man cooks", "A woman with a bike", ""] * (N // 4)
FRAME = pd.DataFrame(
    {"hired": HIRED, "pred": PREDICTED, "sex": SEX, "skin": SKIN, "w": 1, "p": SOFT, "job": JOB}
)
X = pd.DataFrame({"sex": [0, 1] * (N // 2), "a": np.arange(N) % 5, "b": np.array(SOFT)})
COUNTED = Contingency.from_labels(HIRED, PREDICTED, sensitive_features=SEX)


def sums_of_tasks():
    """Return what an engine gives that summed each task by itself."""
    frame = pl.from_pandas(FRAME.assign(w=PREDICTED[::-1], other=HIRED[::-1])).lazy()
    how = {"target": ["hired", "w"], "prediction": ["pred", "other"], "sensitive": "sex"}
    return Contingency.from_frame(frame, **how, joint=False)


class Colour(enum.Enum):
    RED = 1


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier that predicts what no classifier should."""

    def __init__(self, predicted="text"):
        self.predicted = predicted

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X) // 2, self.predicted)


class Unequal:
    """Something that cannot be compared, as arrays cannot."""

    def __eq__(self, other):
        raise ValueError("no truth value")

    __hash__ = None


def recursive():
    held = [1]
    held.append(held)
    return held


def given(values):
    """Return what makes the values, one for each."""
    return [functools.partial(lambda one: one, one) for one in values]


NAN, INF = float("nan"), float("inf")
NUMBERS = [0, -1, 3, 1.5, NAN, INF, True, 1j, -(10**400), decimal.Decimal("0.5"), np.array(0)]
WORDS = ["bogus", "", "sex", b"bytes", np.str_("sex"), Path("no/such/file")]
HELD = [(), [], {}, {1, 2}, ["a", None], [[1]], ("sex", "skin"), {"a": 1}, range(3)]
HELD += [np.array([]), np.array([1, 2]), pd.Series([1, 2]), pd.DataFrame({"a": [1]})]
HELD += [pd.DataFrame([[0.1], [0.2]], ["f", "m"], [1])]
HELD += [pd.DataFrame([[np.nan], ["x"]], ["f", "m"], [1])]
OBJECTS = [None, object(), Unequal(), Colour.RED, pd.NA, pd.NaT, datetime.date(2020, 1, 1)]
OBJECTS += [DirectionalAuditor, LogisticRegression, type, functools]
FUNCTIONS = [
    lambda: 0.5,
    lambda *args, **kwargs: 0.5,
    lambda *args, **kwargs: "text",
    lambda *args, **kwargs: None,
]
SCALARS = [
    *given([*OBJECTS, *NUMBERS, *HELD, *WORDS, *FUNCTIONS]),
    # Made anew for every call, since they are used up or fitted.
    lambda: (one for one in [1, 2]),
    lambda: DirectionalAuditor(interval=None),
    LogisticRegression,
    LinearRegression,
]

# Ways to hold one value a row that are odd in themselves.
HOLDS = [list, tuple, np.array, pd.Series, pd.Index, pl.Series, pa.array, iter]
HOLDS += [
    lambda values: np.array(values, dtype=object),
    lambda values: np.array(values)[None, :],
    lambda values: np.array(values).reshape(2, -1, 2),
    lambda values: np.matrix([[0, 1]] * len(values)),
    lambda values: np.array(values[:5]),
    lambda values: np.array(values)[::-1],
    lambda values: pd.Series(values, index=range(len(values))[::-1]),
    lambda values: pd.Series(values, index=[0] * len(values), name=("a", 1)),
    lambda values: pd.Series(values, dtype="category"),
    lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    lambda values: pd.Categorical(values, categories=sorted(set(values))[:1]),
    lambda values: pd.MultiIndex.from_arrays([values, values]),
    lambda values: pl.Series("x", [str(one) for one in values], dtype=pl.Categorical),
    *(
        lambda values, hold=hold, names=names: hold(dict.fromkeys(names, values))
        for hold, names in [
            (dict, "a"),
            (pl.LazyFrame, "a"),
            (pl.DataFrame, "ab"),
            (pd.DataFrame, [("x", 1), ("x", 2)]),
        ]
    ),
    lambda values: pd.DataFrame({"a": values, "b": values}).set_axis(["a", "a"], axis=1),
    lambda values: {"a": values, "b": values[:-1]},
    lambda values: np.ma.array(values, mask=[True] + [False] * (len(values) - 1)),
    lambda values: dict.fromkeys(range(len(values)), 1),
    lambda values: [values],
    lambda values: [np.array(one) for one in values],
    lambda values: [{one} for one in values],
    lambda values: [values[:2], *values[1:]],
    lambda values: ["(missing)", None, *values[2:]],
    lambda values: pd.Series(first(values, "a\x00\ud800"), dtype=object),
    lambda values: pd.Series(first(values, pd.NA), dtype=object),
    lambda values: [str(one) for one in values],
    lambda values: np.array([str(one) for one in values], dtype="S4"),
]
FIRSTS = [None, NAN, INF, "x", 7, 0.25, [1], {}, object(), Unequal(), b"x", 2**70, 1j, np.zeros(2)]
FIRSTS += ["(missing)", Colour.RED, pd.Interval(0, 1)]


def first(values, value):
    """The values with their first one replaced."""
    return [value, *values[1:]]


def of_rows(values):
    """Return ways to hold one value a row, and to have another one first."""
    firsts = [functools.partial(first, values, one) for one in FIRSTS]
    return [*(functools.partial(hold, values) for hold in HOLDS), *firsts]


def numbers(n=N):
    """Columns that hold odd numbers, dates or intervals."""
    rng = np.random.default_rng(0)
    dates = pd.date_range("2020", periods=n)
    same = [0, -1, NAN, None, 0.5, 1e308, 5e-324, 2**70, -(10**400), decimal.Decimal("NaN")]
    two = [(INF, -INF), (INF, 0.5), (1e-300, 1e300), ((1, 2), (1,)), ((1, "a"), (2, None))]
    arrays = [np.arange(n), np.arange(n, dtype=np.uint64) + 2**63, rng.normal(size=n)]
    arrays += [rng.normal(size=(n, 2)), rng.normal(size=(n, 2)).astype("f2")]
    arrays += [rng.random((n, 2)) * 1j]
    arrays += [np.zeros((n, 0)), np.zeros((0, 2)), np.zeros((n, 2, 2))]
    arrays += [np.ones((n, 2)), TAGS, TAGS.astype(">i4"), np.where(TAGS == 1, np.nan, 0)]
    arrays += [sparse.csr_matrix(TAGS), sparse.coo_array(TAGS), list(sparse.csr_matrix(TAGS))]
    arrays += [pd.arrays.SparseArray(TAGS[:, 0]), array.array("d", SOFT)]
    times = [dates, dates.tz_localize("UTC"), dates.to_period("D"), dates.to_numpy()]
    times += [dates - dates[0], [pd.NaT, *dates[1:]], pd.cut(np.arange(n), 3)]
    times += [[datetime.date(2020, 1, 1 + i % 2) for i in range(n)]]
    odd = [memoryview(bytes(n)), bytearray(n), [frozenset([1])] * n, [True, 1, 0, "1"] * (n // 4)]
    odd += [recursive(), [recursive()] * n, pd.DataFrame(index=range(n)), pa.array([None] * n)]
    odd += [pl.DataFrame({"a": [[1, 2]] * n}), pl.Series([{"a": 1}] * n)]
    odd += [[kind(i % 2) for i in range(n)] for kind in (decimal.Decimal, fractions.Fraction)]
    repeated = [[one] * n for one in same] + [list(both) * (n // 2) for both in two]
    return given([*repeated, *arrays, *times, *odd])


def tensors():
    """Tensors and what holds them, if torch is there."""
    if not importlib.util.find_spec("torch"):
        return []
    import torch

    hired, soft = torch.tensor(HIRED), torch.tensor(SOFT)
    needing = torch.tensor(SOFT, requires_grad=True)
    found = [hired, soft * 1j, needing, torch.tensor(SOFT, dtype=torch.bfloat16), torch.tensor(1)]
    found += [torch.zeros(N, 2, 2), torch.tensor(TAGS).to_sparse(), list(hired), list(needing)]
    found += [list(torch.tensor(TAGS)), pd.Series(list(hired), dtype=object)]
    found += [np.array([None, *[torch.tensor(1.5)] * (N - 1)], dtype=object)]
    return given([*found, torch.utils.data.DataLoader(soft)])


NAMED = pd.DataFrame(TAGS, columns=["cook", "clean"])
GUESSED = ["f"] * (N // 2 - 2) + ["m"] * (N // 2) + ["f"] * 2
PEOPLE = FRAME[["sex", "skin"]]
# Of each, values at one position go together.
LABELS = {
    "y_true": [HIRED, TAGS, JOB, NAMED],
    "y_pred": [PREDICTED, TAGS[::-1], JOB[::-1], NAMED],
    "sensitive_features": [SEX, PEOPLE, SEX, [0, 1] * (N // 2)],
    "sensitive_pred": [GUESSED, PEOPLE, GUESSED, [0, 1, 1, 0] * (N // 4)],
    "sample_weight": [None, [1, 2] * (N // 2), [0.5, 1.5] * (N // 2), None],
}
OF_ANY_ROWS = [
    *SCALARS,
    *numbers(),
    *tensors(),
    *of_rows(HIRED),
    *of_rows(SEX),
    *of_rows(SOFT),
    *of_rows(PEOPLE_SAY),
    *given([FRAME, X]),
]
FRAMES = [
    *given([FRAME, FRAME.iloc[:0], FRAME.iloc[:1], pa.Table.from_pandas(FRAME)]),
    *given([pl.from_pandas(FRAME), pl.from_pandas(FRAME).lazy()]),
    lambda: FRAME.set_axis(["hired", "pred", "sex", "sex", "w", "p", "job"], axis=1),
    lambda: FRAME.set_axis(range(7), axis=1),
    lambda: FRAME.rename(columns={"job": "*", "skin": "^sex$"}),
    lambda: FRAME.assign(w=-1),
    lambda: FRAME.assign(w=NAN, p=INF),
    lambda: FRAME.assign(hired=[[1]] * N, pred=[{}] * N),
    lambda: FRAME.assign(sex=pd.cut(np.arange(N), 2), pred=pd.NaT),
    lambda: pl.from_pandas(FRAME).with_columns(pred=pl.lit(None), w=pl.lit("x")),
]
COLUMNS = ["hired", "pred", "sex", "skin", "w", "p", "job", "*", "^sex$", "nope", 0, 99, -1]
ESTIMATORS = [
    LogisticRegression,
    LinearRegression,
    lambda: LogisticRegression,
    lambda: LogisticRegression(C=-1),
    Odd,
    lambda: Odd(1.5),
    lambda: make_pipeline(StandardScaler()),
    lambda: make_pipeline(StandardScaler(), LogisticRegression()),
]
AUDITORS = [
    lambda: DirectionalAuditor(interval=None),
    lambda: DirectionalAuditor("T->A", reference="test"),
    lambda: [MALSAuditor(interval=None), DirectionalAuditor(interval=None)],
    lambda: {"a": MALSAuditor(interval=None), "b": MALSAuditor()},
    lambda: LeakageAuditor(attacker="exact", interval=None, n_draws=2, cv=2),
    lambda: DirectionalAuditor(reference="bogus"),
    lambda: MALSAuditor,
    lambda: ["directional"],
]
