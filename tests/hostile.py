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
from sklearn.cluster import KMeans
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


# Made anew for every call, since some are used up.
SCALARS = [
    lambda: None,
    lambda: 0,
    lambda: -1,
    lambda: 1,
    lambda: 3,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: True,
    lambda: "bogus",
    lambda: "",
    lambda: "sex",
    lambda: b"bytes",
    lambda: (),
    lambda: [],
    lambda: {},
    lambda: {1, 2},
    lambda: ["a", None],
    lambda: [[1]],
    lambda: ("sex", "skin"),
    lambda: {"a": 1},
    lambda: object(),
    lambda: Unequal(),
    lambda: Colour.RED,
    lambda: 1j,
    lambda: -(10**400),
    lambda: decimal.Decimal("0.5"),
    lambda: fractions.Fraction(1, 3),
    lambda: np.float32(0.5),
    lambda: np.int64(2),
    lambda: np.str_("sex"),
    lambda: np.array(0),
    lambda: np.array([]),
    lambda: np.array([1, 2]),
    lambda: pd.NA,
    lambda: pd.NaT,
    lambda: pd.Series([1, 2]),
    lambda: pd.DataFrame({"a": [1]}),
    lambda: pd.DataFrame([[0.1], [0.2]], ["f", "m"], [1]),
    lambda: pd.DataFrame([[np.nan], ["x"]], ["f", "m"], [1]),
    lambda: datetime.date(2020, 1, 1),
    lambda: lambda *args, **kwargs: 0.5,
    lambda: lambda: 0.5,
    lambda: lambda *args, **kwargs: "text",
    lambda: lambda *args, **kwargs: [0.1, 0.2],
    lambda: lambda *args, **kwargs: None,
    lambda: DirectionalAuditor,
    lambda: DirectionalAuditor(interval=None),
    lambda: LogisticRegression,
    lambda: LogisticRegression(),
    lambda: LinearRegression(),
    lambda: (one for one in [1, 2]),
    lambda: range(3),
    lambda: Path("no/such/file"),
    lambda: type,
    lambda: functools,
]


def of_rows(values):
    """Ways to hold one value a row that are odd in themselves."""
    return [
        lambda: list(values),
        lambda: tuple(values),
        lambda: np.array(values),
        lambda: np.array(values, dtype=object),
        lambda: np.array(values)[:, None],
        lambda: np.array(values)[None, :],
        lambda: np.array(values).reshape(2, -1, 2),
        lambda: np.matrix([[0, 1]] * len(values)),
        lambda: np.array(values[:5]),
        lambda: np.array(values)[::-1],
        lambda: pd.Series(values),
        lambda: pd.Series(values, index=range(len(values))[::-1]),
        lambda: pd.Series(values, index=[0] * len(values), name=("a", 1)),
        lambda: pd.Series(values, dtype="category"),
        lambda: pd.Series(values).convert_dtypes(),
        lambda: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
        lambda: pd.Index(values),
        lambda: pd.Categorical(values, categories=sorted(set(values))[:1]),
        lambda: pd.MultiIndex.from_arrays([values, values]),
        lambda: pl.Series(values),
        lambda: pl.Series("x", [str(one) for one in values], dtype=pl.Categorical),
        lambda: pl.DataFrame({"a": values}),
        lambda: pl.DataFrame({"a": values, "b": values}),
        lambda: pl.DataFrame({"a": values}).lazy(),
        lambda: pa.array(values),
        lambda: pa.array(values).dictionary_encode(),
        lambda: pa.table({"a": values}),
        lambda: pd.DataFrame({"a": values, "b": values}),
        lambda: pd.DataFrame({"a": values, "b": values}).set_axis(["a", "a"], axis=1),
        lambda: pd.DataFrame({("x", 1): values, ("x", 2): values}),
        lambda: {"a": values},
        lambda: {"a": values, "b": values[:-1]},
        lambda: {1: values, "b": values},
        lambda: np.ma.array(values, mask=[True] + [False] * (len(values) - 1)),
        lambda: iter(values),
        lambda: dict.fromkeys(range(len(values)), 1),
        lambda: [values],
        lambda: [[one] for one in values],
        lambda: [np.array(one) for one in values],
        lambda: [{one} for one in values],
        lambda: [values[:2], *values[1:]],
        lambda: first(values, None),
        lambda: first(values, float("nan")),
        lambda: first(values, float("inf")),
        lambda: first(values, "x"),
        lambda: first(values, 7),
        lambda: first(values, 0.25),
        lambda: first(values, [1]),
        lambda: first(values, {}),
        lambda: first(values, object()),
        lambda: first(values, Unequal()),
        lambda: first(values, b"x"),
        lambda: first(values, 2**70),
        lambda: first(values, 1j),
        lambda: first(values, np.zeros(2)),
        lambda: first(values, "(missing)"),
        lambda: ["(missing)", None, *values[2:]],
        lambda: pd.Series(first(values, "a\x00\ud800"), dtype=object),
        lambda: first(values, Colour.RED),
        lambda: first(values, pd.Interval(0, 1)),
        lambda: pd.Series(first(values, pd.NA), dtype=object),
        lambda: [str(one) for one in values],
        lambda: [str(one).encode() for one in values],
        lambda: np.array([str(one) for one in values], dtype="S4"),
        lambda: Contingency.from_labels(HIRED, sensitive_features=SEX),
        lambda: COUNTED,
    ]


def first(values, value):
    """The values with their first one replaced."""
    return [value, *values[1:]]


def numbers(n=N):
    """Columns that hold odd numbers, dates or intervals."""
    rng = np.random.default_rng(0)
    dates = pd.date_range("2020", periods=n)
    return [
        lambda: [0] * n,
        lambda: [-1] * n,
        lambda: [float("nan")] * n,
        lambda: [None] * n,
        lambda: [float("inf"), float("-inf")] * (n // 2),
        lambda: [float("inf"), 0.5] * (n // 2),
        lambda: [0.5] * n,
        lambda: [1e308] * n,
        lambda: [5e-324] * n,
        lambda: [1e-300, 1e300] * (n // 2),
        lambda: [2**70] * n,
        lambda: [-(10**400)] * n,
        lambda: list(range(n)),
        lambda: np.arange(n, dtype=np.uint64) + 2**63,
        lambda: rng.normal(size=n),
        lambda: rng.normal(size=(n, 2)),
        lambda: rng.normal(size=(n, 2)).astype("f2"),
        lambda: rng.random(n).astype(np.longdouble),
        lambda: rng.random((n, 2)) * 1j,
        lambda: np.zeros((n, 0)),
        lambda: np.zeros((0, 2)),
        lambda: np.zeros((n, 2, 2)),
        lambda: np.zeros((n, 2), dtype=bool),
        lambda: np.ones((n, 2)),
        lambda: TAGS[:n],
        lambda: TAGS[:n].astype(">i4"),
        lambda: np.where(TAGS[:n] == 1, np.nan, 0),
        lambda: sparse.csr_matrix(TAGS[:n]),
        lambda: sparse.coo_array(TAGS[:n]),
        lambda: list(sparse.csr_matrix(TAGS[:n])),
        lambda: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(TAGS[:n])),
        lambda: pd.arrays.SparseArray(TAGS[:n, 0]),
        lambda: dates,
        lambda: dates.tz_localize("UTC"),
        lambda: dates.to_period("D"),
        lambda: dates.to_numpy(),
        lambda: dates - dates[0],
        lambda: [pd.NaT, *dates[1:]],
        lambda: [datetime.date(2020, 1, 1 + i % 2) for i in range(n)],
        lambda: pd.cut(np.arange(n), 3),
        lambda: [decimal.Decimal("NaN")] * n,
        lambda: [decimal.Decimal(i % 2) for i in range(n)],
        lambda: [fractions.Fraction(i, 2) for i in range(n)],
        lambda: array.array("d", SOFT[:n]),
        lambda: memoryview(bytes(n)),
        lambda: bytearray(n),
        lambda: np.array([(1, 2.0)] * n, dtype=[("a", int), ("b", float)]),
        lambda: [(1, 2), (1,)] * (n // 2),
        lambda: [(1, "a"), (2, None)] * (n // 2),
        lambda: [frozenset([1])] * n,
        lambda: [True, 1, 0, "1"] * (n // 4),
        lambda: recursive(),
        lambda: [recursive()] * n,
        lambda: pl.DataFrame({"a": [[1, 2]] * n}),
        lambda: pl.Series([{"a": 1}] * n),
        lambda: pa.array([None] * n),
        lambda: pd.DataFrame(index=range(n)),
    ]


def tensors():
    """Tensors and what holds them, if torch is there."""
    if not importlib.util.find_spec("torch"):
        return []
    import torch

    return [
        lambda: torch.tensor(HIRED),
        lambda: torch.tensor(SOFT, requires_grad=True),
        lambda: torch.tensor(SOFT, dtype=torch.bfloat16),
        lambda: torch.tensor(1),
        lambda: torch.zeros(N, 2, 2),
        lambda: torch.tensor(TAGS).to_sparse(),
        lambda: torch.tensor(SOFT) * 1j,
        lambda: [torch.tensor(one) for one in HIRED],
        lambda: [torch.tensor(one, requires_grad=True) for one in SOFT],
        lambda: list(torch.tensor(TAGS)),
        lambda: pd.Series([torch.tensor(one) for one in HIRED], dtype=object),
        lambda: np.array([None, *[torch.tensor(1.5)] * (N - 1)], dtype=object),
        lambda: [[torch.tensor(one)] for one in HIRED],
        lambda: torch.utils.data.TensorDataset(torch.tensor(SOFT), torch.tensor(HIRED)),
        lambda: torch.utils.data.DataLoader(torch.tensor(SOFT)),
    ]


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
    lambda: FRAME,
    lambda: X,
]
FRAMES = [
    lambda: FRAME,
    lambda: pl.from_pandas(FRAME),
    lambda: pl.from_pandas(FRAME).lazy(),
    lambda: pa.Table.from_pandas(FRAME),
    lambda: FRAME.set_axis(["hired", "pred", "sex", "sex", "w", "p", "job"], axis=1),
    lambda: FRAME.set_axis(range(7), axis=1),
    lambda: FRAME.rename(columns={"job": "*", "skin": "^sex$"}),
    lambda: FRAME.iloc[:0],
    lambda: FRAME.iloc[:1],
    lambda: FRAME.assign(w=-1),
    lambda: FRAME.assign(w=float("nan"), p=float("inf")),
    lambda: FRAME.assign(hired=[[1]] * N, pred=[{}] * N),
    lambda: FRAME.assign(sex=pd.cut(np.arange(N), 2), pred=pd.NaT),
    lambda: pl.from_pandas(FRAME).with_columns(pred=pl.lit(None), w=pl.lit("x")),
]
COLUMNS = ["hired", "pred", "sex", "skin", "w", "p", "job", "*", "^sex$", "nope", 0, 99, -1]
ESTIMATORS = [
    lambda: LogisticRegression(),
    lambda: LogisticRegression,
    lambda: LogisticRegression(C=-1),
    lambda: LinearRegression(),
    lambda: KMeans(2, n_init=1),
    lambda: Odd(),
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
    lambda: [],
    lambda: ["directional"],
    lambda: "directional",
]
