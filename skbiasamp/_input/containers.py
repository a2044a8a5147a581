"""Any container in: pandas or numpy of one or two dimensions out, positions kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, InputTypeError, plain, rows_of


def to_native(value: Any, name: str) -> pd.Series | pd.DataFrame | Array:
    """Return pandas or numpy of one or two dimensions, positions kept."""
    if isinstance(value, pd.Series | np.ndarray) and value.dtype == object and value.ndim == 1:
        first = value[:1].tolist()
        if first and is_tensor(first[0]):
            value = _from_sequence(value.tolist(), name)
    if isinstance(value, pd.Series | pd.DataFrame):
        return value
    if isinstance(value, pd.MultiIndex):
        return value.to_frame(index=False)
    if isinstance(value, pd.Categorical | pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(value)
    if isinstance(value, Mapping) and not hasattr(value, "toarray"):  # as a dok_matrix has
        if not value:
            raise InputError("{name} is an empty dict: pass at least one column.", name=name)
        columns: dict[str, Any] = {}
        for key, own in value.items():
            shown = f"{name}[{plain(key)!r}]"
            column = one_column(own, shown)
            # Positions rule: pandas would align the indexes.
            is_series = isinstance(column, pd.Series)
            columns[shown] = column.reset_index(drop=True) if is_series else column
        check_lengths(columns)
        return pd.DataFrame(dict(zip(value, columns.values(), strict=True)))
    if isinstance(value, np.ndarray):
        pass
    elif is_tensor(value):
        value = _from_tensor(value)
    elif hasattr(value, "toarray"):
        value = value.toarray()
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        try:
            value = _from_sequence(value, name)
        except UnicodeEncodeError:
            text = "{name} holds text that is no Unicode: was it read in a wrong encoding?"
            raise InputError(text, name=name) from None
    else:
        value = _from_frame_library(value, name)
    if isinstance(value, pd.DataFrame | pd.Series):
        return value
    if np.ma.is_masked(value):
        mask, value = np.ma.getmaskarray(value), np.ma.getdata(value).astype(object)
        value[mask] = None
    value = np.asarray(value)  # np.matrix would stay two-dimensional whatever is taken from it
    if value.dtype.names is not None:
        return pd.DataFrame(value)
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    if value.ndim not in (1, 2):
        text = "{name} must have one or two dimensions; got shape {shape}."
        raise InputError(text, name=name, shape=value.shape)
    return value


def is_tensor(value: Any) -> bool:
    """Return whether something is a tensor of torch, which may be missing."""
    return hasattr(value, "detach") and hasattr(value, "cpu")


def _from_tensor(value: Any) -> Array:
    value = value.detach().to_dense().cpu()
    array: Array = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    return array


def as_maps(value: Any) -> Array | None:
    """Return an array of more than two dimensions, such as images, or None if it is none."""
    if is_tensor(value) and value.ndim > 2:
        value = _from_tensor(value)
    return value if isinstance(value, np.ndarray) and value.ndim > 2 else None


def _from_sequence(value: Sequence[Any], name: str) -> pd.Series | pd.DataFrame | Array:
    """Labels, or rows of labels, one after the other."""
    if len(value) and hasattr(value[0], "toarray"):
        value = [np.ravel(row.toarray()) if hasattr(row, "toarray") else row for row in value]
    if len(value) and (is_tensor(value[0]) or isinstance(value[0], np.ndarray)):
        value = [_from_tensor(row) if is_tensor(row) else row for row in value]
        if all(np.ndim(row) == 2 for row in value):
            raise InputError(
                "{name} is a list of {n} tables, one for each task, as predict_proba of "
                "MultiOutputClassifier returns. Pass one column for each task, its probability: "
                "np.column_stack([p[:, 1] for p in probabilities]).",
                name=name,
                n=len(value),
            )
        if len({np.shape(row) for row in value}) == 1:
            return np.stack(value)
    nested = [
        isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes) for row in value
    ]
    if any(nested):
        if not all(nested) or len({len(row) for row in value}) > 1:
            raise InputError(
                "{name} is a list of rows of different lengths. For several labels a row pass a "
                "0/1 indicator matrix (sklearn.preprocessing.MultiLabelBinarizer makes one).",
                name=name,
            )
        if len(value[0]) and is_tensor(value[0][0]):
            value = [[cell.item() for cell in row] for row in value]
        return pd.DataFrame(list(value))
    # Through pandas: numpy would turn ["a", None] or ["a", nan] into the strings 'None', 'nan'.
    column = pd.Series(list(value), dtype=None if len(value) else object)
    return pd.Series(list(value), dtype=object) if may_be_rounded(column) else column


def may_be_rounded(column: pd.Series) -> bool:
    """Return whether integers beside a missing value may have lost digits, as floats."""
    return column.dtype.kind == "f" and bool((column.abs() >= 2**53).any())


def inferred(column: pd.Series) -> pd.Series:
    """Return a column of objects as the type that holds them without loss."""
    narrow = column.infer_objects()
    return column if may_be_rounded(narrow) else narrow


def as_precise(number: float, kind: Any) -> float:
    """Return a number as a column of some type holds it: 0.7 is another one in 32 bits."""
    return float(np.float32(number)) if kind == nw.Float32 else number


def twice_named(name: str, error: Exception) -> InputError:
    """Return the error that columns share a name, from that of a library."""
    text = "{name} must have one column of each name. {seen}"
    return InputError(text, name=name, seen=" ".join(str(error).split()))


def _from_frame_library(value: Any, name: str) -> pd.Series | pd.DataFrame | Array:
    """Polars, pyarrow and whatever else narwhals knows, eager."""
    if type(value).__module__.partition(".")[0] == "pyarrow" and hasattr(value, "type"):
        import pyarrow as pa

        if isinstance(value, pa.Array):
            value = pa.chunked_array([value])
    try:
        wrapped = nw.from_native(value, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise twice_named(name, error) from error
    columns = [wrapped] if isinstance(wrapped, nw.Series) else []
    if isinstance(wrapped, nw.DataFrame):
        columns = [wrapped[column] for column in wrapped.columns]
    if len(columns) == 1 and isinstance(columns[0].dtype, nw.Array):
        rows = columns[0].to_numpy()  # of polars an array of more dimensions
        return rows if rows.ndim > 1 else _from_sequence(columns[0].to_list(), name)
    if isinstance(wrapped, nw.Series):
        return _from_narwhals(wrapped)
    if isinstance(wrapped, nw.DataFrame):
        return pd.DataFrame({column.name: _from_narwhals(column) for column in columns})
    if isinstance(wrapped, nw.LazyFrame):
        text = "{name} is a lazy frame: collect() the label columns before passing them."
        raise InputTypeError(text, name=name)
    try:
        value = np.asarray(value)
    except Exception as error:
        text = "{name} must hold labels. Got {kind} instead."
        raise InputTypeError(text, name=name, kind=type(value).__name__) from error
    if value.ndim == 0:
        text = "{name} must hold one value a row. Got {kind} instead."
        raise InputTypeError(text, name=name, kind=type(value.item()).__name__)
    return value


def _from_narwhals(column: Any) -> pd.Series:
    # polars takes the name ^s$ for a pattern, even where the column is alone.
    name, column = column.name, column.alias("values")
    if column.dtype == nw.Categorical and column.implementation.is_pyarrow():
        coded = column.to_native()  # numbers have codes too
        values = coded.cast(coded.type.value_type)
        column = nw.from_native(values, series_only=True).alias("values")
    kind = column.dtype
    # NaN would make integers floats, and NumPy has none of 128 bits.
    exact = kind.is_integer() and (column.is_null().any() or kind in (nw.Int128, nw.UInt128))
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
        read = _factorized(column.cast(nw.String))
    elif kind == nw.Date or (kind == nw.Datetime and kind.time_zone is not None):
        read = _factorized(column)
    elif exact or kind.is_nested():
        read = pd.Series(column.to_list(), dtype=object)
    else:
        read = pd.Series(column.to_numpy())
    return read.rename(name)


def _factorized(text: Any) -> pd.Series:
    """Return text, dates, or times with a zone as categories found by the library that holds them.

    NumPy would give every text the length of the longest, and cut NULs off its end. It has no
    dates without a time, and no zones.
    """
    values = text.drop_nulls().unique(maintain_order=True).to_list()
    codes: Array = np.full(len(text), -1)
    if values:
        numbers = list(range(len(values)))
        replaced = text.replace_strict(values, numbers, return_dtype=nw.Int64)
        codes = replaced.fill_null(-1).to_numpy()
    named = [pd.Timestamp(v) if isinstance(v, datetime) else v for v in values]  # as engines do
    categories = pd.Index(named, dtype=object)
    return pd.Series(pd.Categorical.from_codes(codes, categories))


def check_lengths(given: Mapping[Any, Any]) -> int:
    """Return the number of rows; raise if two inputs differ in it, or there are none."""
    lengths = {name: len(value) for name, value in given.items()}
    first, n = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != n:
            raise InputError(
                "{name} has {rows} but {other} has {n:,}. Every row needs both: pass the rows you "
                "predicted on (did a train/test split keep the index of one and not the other?).",
                name=name,
                other=first,
                rows=rows_of(length),
                n=n,
            )
    if n == 0:
        raise InputError("{name} is empty: there are no rows to audit.", name=first)
    return n


def check_index(given: Mapping[str, Any]) -> None:
    """Raise where index labels of one pandas input stand at other positions in another.

    An index that only counts the rows says nothing: it was reset.
    """
    indexes: dict[str, pd.Index] = {}
    values: list[tuple[Any, Any]] = list(given.items())
    while values:
        name, value = values.pop(0)
        if isinstance(value, Mapping):
            values[:0] = [(f"{name}[{plain(key)!r}]", own) for key, own in value.items()]
        if not isinstance(value, pd.Series | pd.DataFrame):
            continue
        index = value.index
        if any(index is other or index.equals(other) for other in indexes.values()):
            continue
        for first, expected in indexes.items():
            try:
                same = index.sort_values().equals(expected.sort_values())
            except TypeError:  # labels of mixed type have no order
                same = sorted(map(repr, index)) == sorted(map(repr, expected))
            moved = _first_moved(index, expected, same)
            if moved is None:
                continue
            kind = (
                "the same index labels in another order"
                if same
                else "overlapping index labels at other positions"
            )
            raise InputError(
                "{other} and {name} have {kind} (row {at}: {a!r} and {b!r}), so {so}. Rows are "
                "matched by position: bring them into one order first, for example "
                "{name}.loc[{other}.index], or pass .to_numpy() if the order is meant.",
                name=name,
                other=first,
                kind=kind,
                so="one of them was shuffled or sorted" if same else "they are not the same rows",
                at=moved,
                a=plain(expected[moved]),
                b=plain(index[moved]),
            )
        indexes[name] = index


def _first_moved(index: pd.Index, other: pd.Index, same: bool) -> int | None:
    """Return the first row whose labels differ, if a label of one is elsewhere in the other."""
    counting = pd.RangeIndex(len(index))
    if len(index) != len(other):
        return None  # of weights and clusters lengths are checked later
    if not same and (index.equals(counting) or other.equals(counting)):
        return None
    differ = np.flatnonzero(np.asarray(index != other))
    if not same and len(differ):
        differ = differ[index[differ].isin(other)]
    # What is no number is not equal to itself.
    labels = ((i, repr(plain(index[i])), repr(plain(other[i]))) for i in map(int, differ))
    return next((i for i, a, b in labels if a != b), None)


def columns_of(value: pd.Series | pd.DataFrame | Array) -> list[tuple[Hashable, Any]]:
    """Return the named columns of a table; positions are the names where it has none."""
    if isinstance(value, pd.DataFrame):
        return [(plain(name), value.iloc[:, i]) for i, name in enumerate(value.columns)]
    if value.ndim == 2:
        return [(i, value[:, i]) for i in range(value.shape[1])]
    name = getattr(value, "name", None)
    return [(0 if name is None or name == "" else plain(name), value)]  # "" is what polars has


def one_column(value: Any, name: str) -> Any:
    """Return a column in any container as pandas or numpy of one dimension."""
    column = as_column(to_native(value, name))
    if column.ndim == 2:
        text = "{name} must be one column; got shape {shape}."
        raise InputError(text, name=name, shape=column.shape)
    return column


def as_column(value: Any) -> Any:
    """Return a one-column table as the column it is."""
    if value.ndim == 2 and value.shape[1] == 1:
        return value.iloc[:, 0] if isinstance(value, pd.DataFrame) else value[:, 0]
    return value


def without_times(X: Any) -> Any:
    """Return a frame with dates and durations as objects: NumPy has no type for them and numbers.

    Other data are returned as they are.
    """
    if not hasattr(X, "columns"):
        return X
    frame: Any = to_native(X, "X")
    for dtype in frame.dtypes:
        if isinstance(dtype, pd.CategoricalDtype):
            are_times = pd.api.types.infer_dtype(dtype.categories) in ("date", "datetime")
        else:
            are_times = getattr(dtype, "kind", "") in "mM"
        if are_times:
            return frame.astype(object)
    return X
