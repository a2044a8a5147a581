"""Columns to codes, codes to distinct rows, matrices to memberships or probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._labels._containers import as_column, check_lengths, is_table, to_native
from skbiasamp._labels._errors import Array, first_row, plain

# Integer labels within this span are counted as they are; a wider span is factorized first.
_SPAN = 4096
# Above this many possible joint codes the distinct rows are found by sorting, not by counting.
_TABLE = 1 << 21
# Rows counted at a time: the codes of one block stay in the processor's second-level cache.
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Column:
    """Labels as integers: `raw - offset` is the position in `values`."""

    raw: Array
    offset: int
    values: list[Any]

    @property
    def missing(self) -> bool:
        return bool(self.values) and self.values[0] is None


@dataclass(frozen=True, eq=False)
class Continuous:
    """Numbers that are no classes."""

    numbers: Array


def encode(column: Any, name: str) -> Column | Continuous:
    """Give each row an integer, at the least cost its type allows."""
    if isinstance(column, pd.Series):
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy()
            return Column(codes, -1, [None, *map(plain, column.cat.categories)])
        if not isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            if column.isna().any():
                column = column.astype(object)
            else:
                column = column.to_numpy(dtype=np.dtype(f"{column.dtype.kind}8".replace("b8", "?")))
        elif isinstance(column.dtype, np.dtype):
            column = column.to_numpy()
    kind = column.dtype.kind
    if kind == "b":
        return Column(column.view(np.uint8), 0, [False, True])
    if kind in "iu":
        low, high = int(column.min()), int(column.max())
        if high - low < _SPAN:
            return Column(column, low, list(range(low, high + 1)))
    elif kind == "f":
        nan = np.isnan(column)
        if np.isinf(column).any():
            raise ValueError(f"{name} holds infinite values: {first_row(np.isinf(column))}.")
        if not (nan | (column == np.rint(column))).all():
            return Continuous(column)
    elif kind == "c":
        raise ValueError(f"{name} holds complex numbers: labels must be classes or probabilities.")
    codes, uniques = pd.factorize(column)
    values = [plain(value) for value in uniques]
    if any(isinstance(value, float) and not value.is_integer() for value in values):
        if all(isinstance(value, int | float) for value in values):
            return Continuous(np.asarray(pd.Series(column).astype(float)))
        bad = next(v for v in values if isinstance(v, float) and not v.is_integer())
        raise ValueError(f"{name} mixes labels with numbers that are no classes, such as {bad!r}.")
    values = [int(value) if isinstance(value, float) else value for value in values]
    return Column(codes, -1, [None, *values])


def need_classes(column: Column | Continuous, name: str) -> Column:
    if isinstance(column, Continuous):
        nan = np.isnan(column.numbers)
        seen = column.numbers[~nan & (column.numbers != np.rint(column.numbers))][0]
        advice = (
            "cut it into groups first (pandas.cut, KBinsDiscretizer)."
            if name.startswith("sensitive")
            else "co-occurrence needs classes: threshold or bin it first."
        )
        raise ValueError(f"{name} is continuous (it holds {seen:.6g}, for example): {advice}")
    return column


def tally(columns: list[Column], weight: Array | None) -> tuple[list[Array], Array]:
    """Return the distinct rows of several columns (as positions) and their total weights."""
    sizes = [len(column.values) for column in columns]
    n_codes = int(np.prod(sizes, dtype=float)) if np.prod(sizes, dtype=float) < _TABLE else 0
    if not n_codes:
        return _tally_by_sorting(columns, weight)
    # Narrow integers wrap around on the way, harmlessly: the result is below n_codes again.
    dtype = np.dtype(np.int16 if n_codes <= np.iinfo(np.int16).max else np.int32)
    strides = np.append(np.cumprod(sizes[::-1])[-2::-1], 1)
    wrapped = [np.array(s).astype(dtype) for s in strides]
    start = np.array(sum(c.offset * int(s) for c, s in zip(columns, strides, strict=True)))
    total = np.zeros(n_codes)
    n = len(columns[0].raw)
    for low in range(0, n, _BLOCK):
        rows = slice(low, low + _BLOCK)
        code = np.full(min(_BLOCK, n - low), -start.astype(dtype), dtype=dtype)
        for column, stride in zip(columns, wrapped, strict=True):
            code += column.raw[rows].astype(dtype) * stride
        total += np.bincount(code, None if weight is None else weight[rows], minlength=n_codes)
    cells = np.flatnonzero(total)
    return list(np.unravel_index(cells, sizes)), total[cells]


def _tally_by_sorting(columns: list[Column], weight: Array | None) -> tuple[list[Array], Array]:
    """Count rows with more possible codes than a table should hold."""
    code = np.zeros(len(columns[0].raw), dtype=np.int64)
    for column in columns:
        code = code * len(column.values) + (column.raw.astype(np.int64) - column.offset)
        code = pd.factorize(code)[0]  # keeps the product below n_rows * n_values
    _, first = np.unique(code, return_index=True)
    total = np.bincount(code, weight)
    keep = np.flatnonzero(total)
    return [c.raw[first[keep]].astype(np.intp) - c.offset for c in columns], total[keep]


def no_missing(column: Column, name: str, advice: str) -> None:
    if column.missing:
        mask = column.raw == column.offset
        if mask.any():
            raise ValueError(f"{name} has missing values in {first_row(mask)}. {advice}")


def indicator(value: Any, name: str, *, soft: bool) -> Array:
    """Return a 2-D input as booleans, or as probabilities where `soft` allows it."""
    if isinstance(value, pd.DataFrame):
        if any(not isinstance(dtype, np.dtype) for dtype in value.dtypes):
            value = value.to_numpy(dtype=object)
        else:
            value = value.to_numpy()
    if value.dtype.kind == "O":
        try:
            value = np.where(pd.isna(value), np.nan, value).astype(float)
        except (TypeError, ValueError):
            value = np.asarray(value, dtype=object)
    if value.dtype.kind == "b":
        return value
    if value.dtype.kind not in "iuf":
        seen = next(v for v in value.ravel().tolist() if not isinstance(v, int | float))
        raise ValueError(
            f"{name} has {value.shape[1]} columns, so each must be a 0/1 indicator of one label, "
            f"but it holds {seen!r}. For one label a row pass a single column."
        )
    hard = _as_membership(value)
    if hard is not None:
        return hard
    if value.dtype.kind == "f":
        nan = np.isnan(value).any(axis=1)
        if nan.any():
            raise ValueError(
                f"{name} has missing values in {first_row(nan)}. Leave these rows out."
            )
    if not soft:
        bad = value[(value != 0) & (value != 1)].flat[0]
        raise ValueError(
            f"{name} has {value.shape[1]} columns, so each must be a 0/1 indicator of one label, "
            f"but it holds {bad:.6g}. For one label a row pass a single column."
        )
    return probabilities(value, name)


def _as_membership(value: Array) -> Array | None:
    """Return numbers that are all 0 or 1 as booleans, else None (as for NaN)."""
    hard = np.empty_like(value, dtype=bool)
    flat, out = value.ravel(order="K"), hard.ravel(order="K")
    for low in range(0, flat.size, _BLOCK):
        block, here = flat[low : low + _BLOCK], slice(low, low + _BLOCK)
        if value.dtype.kind != "f":
            # Any bit but the last makes an integer something else than 0 or 1.
            if np.bitwise_or.reduce(block, initial=0) not in (0, 1):
                return None
            out[here] = block
        else:
            np.equal(block, 1, out=out[here])
            if not np.array_equal(block != 0, out[here]):
                return None
    return hard


def probabilities(value: Array, name: str) -> Array:
    """Return floats checked to lie in [0, 1]."""
    value = np.asarray(value, dtype=float)
    outside = np.asarray(~((value >= -1e-6) & (value <= 1 + 1e-6)))
    if outside.any():
        bad = value[outside].flat[0]
        if np.isnan(bad):
            where = first_row(np.asarray(outside.reshape(len(outside), -1).any(axis=1)))
            raise ValueError(f"{name} has missing values in {where}. Leave these rows out.")
        raise ValueError(
            f"{name} must hold labels or probabilities, and {bad:.6g} is a probability outside "
            "[0, 1]. For logits or margins apply a sigmoid or softmax first, or pass the labels."
        )
    return np.clip(value, 0.0, 1.0)  # float32 softmax may end at 1.0000001


def read_weight(sample_weight: Any, n: int) -> Array:
    """Return the checked weights of `n` rows."""
    value = as_column(to_native(sample_weight, "sample_weight"))
    if is_table(value):
        raise ValueError(f"sample_weight must be one column, got shape {value.shape}.")
    check_lengths({"sample_weight": value, "y_true": range(n)})
    try:
        weight = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers, and no missing values.") from None
    if not np.isfinite(weight).all():
        raise ValueError(f"sample_weight is not finite in {first_row(~np.isfinite(weight))}.")
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight is negative in {first_row(weight < 0)}. A row can count for nothing, "
            "but not for less."
        )
    if not weight.any():
        raise ValueError("sample_weight is 0 in every row: there is nothing to audit.")
    return weight
