"""Any container in: pandas or numpy of one or two dimensions out, positions kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._labels._errors import Array, plain


def to_native(value: Any, name: str) -> pd.Series | pd.DataFrame | Array:
    """Return pandas or numpy of one or two dimensions, positions kept."""
    if isinstance(value, pd.Series | pd.DataFrame):
        return value
    if isinstance(value, pd.Categorical | pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(value)
    if isinstance(value, Mapping):
        # An own index for each would align the columns by label; positions rule.
        columns = {key: to_native(column, f"{name}[{key!r}]") for key, column in value.items()}
        check_lengths({f"{name}[{key!r}]": column for key, column in columns.items()})
        return pd.DataFrame(
            {
                key: column.reset_index(drop=True) if isinstance(column, pd.Series) else column
                for key, column in columns.items()
            }
        )
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    elif hasattr(value, "toarray"):
        value = value.toarray()
    elif not isinstance(value, np.ndarray | list | tuple):
        value = _from_frame_library(value, name)
    if isinstance(value, pd.DataFrame | pd.Series):
        return value
    if isinstance(value, list | tuple):
        # Through pandas: numpy would turn ["a", None] or ["a", nan] into the strings 'None', 'nan'.
        nested = [isinstance(v, Sequence | np.ndarray) and not isinstance(v, str) for v in value]
        if not any(nested):
            return pd.Series(value, dtype=None if len(value) else object)
        if not all(nested) or len({len(v) for v in value}) > 1:
            raise ValueError(
                f"{name} is a list of rows of different lengths. For several labels a row pass a "
                "0/1 indicator matrix (sklearn.preprocessing.MultiLabelBinarizer makes one)."
            )
        return pd.DataFrame(list(value))
    if value.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions, got shape {value.shape}.")
    return value


def _from_frame_library(value: Any, name: str) -> pd.Series | pd.DataFrame | Array:
    """Polars, pyarrow and whatever else narwhals knows, eager."""
    if type(value).__module__.partition(".")[0] == "pyarrow" and hasattr(value, "type"):
        import pyarrow as pa

        if pa.types.is_dictionary(value.type):
            value = value.cast(value.type.value_type)
        if isinstance(value, pa.Array):
            value = pa.chunked_array([value])
    wrapped = nw.from_native(value, allow_series=True, pass_through=True)
    if isinstance(wrapped, nw.Series):
        return pd.Series(wrapped.to_numpy(), name=wrapped.name)
    if isinstance(wrapped, nw.DataFrame):
        return pd.DataFrame({column: wrapped[column].to_numpy() for column in wrapped.columns})
    if isinstance(wrapped, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame: collect() the label columns before passing them.")
    try:
        value = np.asarray(value)
    except Exception as error:
        raise TypeError(f"{name} cannot be read as labels: {type(value).__name__}.") from error
    if value.ndim == 0:
        raise TypeError(
            f"{name} must be a column of labels, one a row. Got {type(value.item()).__name__} "
            "instead."
        )
    return value


def check_lengths(given: Mapping[str, Any]) -> int:
    lengths = {name: len(value) for name, value in given.items()}
    first, n = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != n:
            raise ValueError(
                f"{name} has {length:,} rows but {first} has {n:,}. Every row needs both: pass the "
                "rows you predicted on (did a train/test split keep the index of one and not the "
                "other?)."
            )
    if n == 0:
        raise ValueError(f"{first} is empty: there are no rows to audit.")
    return n


def check_index(given: Mapping[str, Any]) -> None:
    """Raise where two pandas inputs hold the same index labels in another order."""
    indexed = [
        (name, value.index)
        for name, value in given.items()
        if isinstance(value, pd.Series | pd.DataFrame)
    ]
    for name, index in indexed[1:]:
        first, expected = indexed[0]
        if index is expected or index.equals(expected):
            continue
        try:
            same = index.sort_values().equals(expected.sort_values())
        except TypeError:  # labels of mixed type have no order
            same = sorted(map(repr, index)) == sorted(map(repr, expected))
        if same:
            at = next(i for i, (a, b) in enumerate(zip(expected, index, strict=True)) if a != b)
            raise ValueError(
                f"{first} and {name} have the same index labels in another order (row {at}: "
                f"{expected[at]!r} and {index[at]!r}), so one of them was shuffled or sorted. "
                f"Rows are matched by position: bring them in one order first, for example "
                f"{name}.loc[{first}.index], or pass .to_numpy() if the order is meant."
            )


def is_table(value: pd.Series | pd.DataFrame | Array) -> bool:
    return isinstance(value, pd.DataFrame) or value.ndim == 2


def columns_of(value: pd.Series | pd.DataFrame | Array) -> list[tuple[Hashable, Any]]:
    """Return the named columns of a table; positions are the names where it has none."""
    if isinstance(value, pd.DataFrame):
        return [(plain(name), value.iloc[:, i]) for i, name in enumerate(value.columns)]
    if value.ndim == 2:
        return [(i, value[:, i]) for i in range(value.shape[1])]
    return [(plain(getattr(value, "name", None)), value)]


def as_column(value: Any) -> Any:
    """Return a one-column table as the column it is."""
    if is_table(value) and value.shape[1] == 1:
        return value.iloc[:, 0] if isinstance(value, pd.DataFrame) else value[:, 0]
    return value
