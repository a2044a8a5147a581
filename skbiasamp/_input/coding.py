"""Columns to codes, codes to distinct rows, matrices to memberships or probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import check_lengths, is_tensor, one_column, to_native
from skbiasamp._input.errors import InputError, InputTypeError, first_row, plain, worded
from skbiasamp._input.labels import join_columns, narrow

# Integer labels within this span are counted as they are; a wider span is factorized first.
_SPAN = 4096
# Above this many possible joint codes the distinct rows are found by sorting, not by counting.
_TABLE = 1 << 21
# Rows counted at a time: the codes of one block stay in the processor's second-level cache.
_BLOCK = 1 << 16
_LARGEST = 1e50
HOLES = "{name} has missing values in {where}. Leave these rows out."


@dataclass(frozen=True, eq=False)
class Column:
    """Labels as integers: `raw - offset` is the position in `values`, of which None is the first.

    `floats` is whether they came as floats, which 0 and 1 may be as probabilities.
    """

    raw: Array
    offset: int
    values: list[Any]
    floats: bool = False

    def positions(self, rows: Any = slice(None)) -> Array:
        """Return the position of each of some rows in `values`."""
        positions = np.subtract(self.raw[rows], self.offset, dtype=np.intp)
        return narrow(positions, len(self.values))


@dataclass(frozen=True, eq=False)
class Continuous:
    """Numbers that are no classes."""

    numbers: Array


def encode(column: Any, name: str) -> Column | Continuous:
    """Give each row an integer, at the least cost its type allows."""
    if isinstance(column, pd.Series):
        if isinstance(column.dtype, pd.CategoricalDtype):
            categories = column.cat.categories
            names = [float(v) if isinstance(v, Decimal) else plain(v) for v in categories]
            if all(name.is_integer() for name in names if isinstance(name, float)):
                names = list(map(_whole, names))
            return Column(column.cat.codes.to_numpy(), -1, [None, *names])
        column = _without_extension(column)
    kind = column.dtype.kind
    if kind == "b":
        return Column(column.view(np.uint8), 0, [False, True])
    if kind in "iu":
        low, high = int(column.min()), int(column.max())
        if high - low < _SPAN and high <= np.iinfo(np.int64).max:
            return Column(column, low, list(range(low, high + 1)))
    elif kind == "f":
        column = np.asarray(column, dtype=float)  # pandas has no other floats
        nan = np.isnan(column)
        if not (nan | (column == np.rint(column))).all():
            return _continuous(column, name)
        least, most = column.min(), column.max()  # NaN where any is
        if np.isfinite([least, most]).all() and most - least < _SPAN and abs(most) < 2**53:
            whole = range(int(least), int(most) + 1)
            return Column(column.astype(np.int64), whole.start, list(whole), floats=True)
    try:
        codes, uniques = pd.factorize(column)
    except (TypeError, NotImplementedError):  # unhashable; in Arrow's types too
        unhashable = next(v for v in column if type(v).__hash__ is None)
        if isinstance(unhashable, dict):
            raise InputTypeError(
                "{name} must hold one label a row; got a dict in each row, as ONNX gives the "
                "probabilities of classes. Pass a column for each class: pd.DataFrame({name}).",
                name=name,
            ) from None
        raise InputTypeError(
            "{name} must hold one label a row; got {kind}s such as {seen!r}. For probabilities of "
            "classes pass a column for each: pd.DataFrame of these lists. For several labels a row "
            "pass a 0/1 indicator matrix (sklearn.preprocessing.MultiLabelBinarizer makes one).",
            name=name,
            kind=type(unhashable).__name__,
            seen=unhashable,
        ) from None
    values = [float(value) if isinstance(value, Decimal) else plain(value) for value in uniques]
    for value in values:
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:  # half of a surrogate pair
                text = (
                    "{name} holds text that is no Unicode, {value!r}: was it read in a wrong "
                    "encoding?"
                )
                raise InputError(text, name=name, value=value) from None
    if isinstance(column, np.ndarray) and column.dtype.kind == "U" and "nan" in values:
        raise InputError(
            "{name} holds the text 'nan' in {where}: that is what NumPy makes of a missing value "
            "among strings. Pass a list, or an array with dtype=object.",
            name=name,
            where=first_row(column == "nan"),
        )
    if set(map(type, values)) == {str}:
        return Column(codes, -1, [None, *values])
    if any(is_tensor(value) for value in values):
        text = "{name} must hold labels; it holds tensors. Pass one tensor, or tensor.item() a row."
        raise InputTypeError(text, name=name)
    if any(isinstance(value, complex) for value in values):
        text = "{name} must hold classes or probabilities; got complex numbers."
        raise InputError(text, name=name)
    fractions = [v for v in values if isinstance(v, float) and not v.is_integer()]
    if fractions:
        if all(isinstance(value, int | float) for value in values):
            return _continuous(np.array([*values, np.nan], dtype=float)[codes], name)
        text = "{name} mixes labels with numbers that are no classes, such as {seen!r}."
        raise InputError(text, name=name, seen=fractions[0])
    floats = any(isinstance(value, float) for value in values)
    return Column(codes, -1, [None, *(map(_whole, values) if floats else values)], floats)


def _without_extension(column: pd.Series) -> Any:
    """Return numbers and what else NumPy holds as an array; other columns stay what they are."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    if column.dtype.kind not in "biuf":
        return column
    if column.isna().any():
        return column.to_numpy(dtype=object)
    return column.to_numpy(dtype=np.dtype(f"{column.dtype.kind}8".replace("b8", "?")))


def _whole(value: Any) -> Any:
    """Return a whole float as an integer of any size, so that no two become one."""
    return int(value) if isinstance(value, float) else value


def _continuous(numbers: Array, name: str) -> Continuous:
    refuse(np.isinf(numbers), "{name} holds infinite values in {where}.", name)
    return Continuous(numbers)


def refuse(wrong: Any, text: str, name: str, **data: Any) -> None:
    """Raise if any row (or number of a row) is wrong; the text says {where} these are."""
    wrong = np.asarray(wrong)
    if wrong.any():
        where = first_row(wrong.reshape(len(wrong), -1).any(axis=1))
        raise InputError(text, name=name, where=where, **data)


def odd_values(values: Any) -> list[Any]:
    """Return the values of a column or table that are there and are no numbers."""
    there = map(plain, values[~np.asarray(pd.isna(values))])
    return [value for value in there if not isinstance(value, int | float | Decimal)]


def need_classes(column: Column | Continuous, name: str, advice: str) -> Column:
    """Return a column of classes; raise if it is continuous.

    With `advice`, which may name parameters, raise too if it has missing values.
    """
    if isinstance(column, Continuous):
        nan = np.isnan(column.numbers)
        fraction = column.numbers[~nan & (column.numbers != np.rint(column.numbers))][0]
        instead = (
            "bin it first ({pandas.cut, KBinsDiscretizer})."
            if is_sensitive(name)
            else "this metric needs classes. Threshold or bin it first, or audit prices and other "
            "numbers with {NumericAuditor}."
        )
        text = "{name} is continuous (it holds {seen:.6g}, for example): {advice}"
        raise InputError(text, name=name, seen=fraction, advice=worded(instead))
    if advice and column.values[:1] == [None]:
        missing = column.raw == column.offset
        if missing.any():
            text = "{name} has missing values in {where}. {advice}"
            refuse(missing, text, name, advice=worded(advice))
    return column


def tally(columns: list[Column], weight: Array | None) -> tuple[list[Array], Array]:
    """Return the distinct rows of several columns (as positions) and their total weights."""
    sizes = [len(column.values) for column in columns]
    n_codes = int(np.prod(sizes, dtype=float)) if np.prod(sizes, dtype=float) < _TABLE else 0
    if not n_codes:
        code = join_columns((column.positions() for column in columns), len(columns[0].raw))
        _, first, cell = np.unique(code, return_index=True, return_inverse=True)
        sums = np.bincount(cell, weight)
        keep = np.flatnonzero(sums)
        return [column.positions(first[keep]) for column in columns], sums[keep]
    # Narrow integers wrap around on the way, harmlessly: the result is below n_codes again.
    dtype = np.dtype(np.int16 if n_codes <= np.iinfo(np.int16).max else np.int32)
    strides = np.append(np.cumprod(sizes[::-1])[-2::-1], 1)
    wrapped = [np.array(s).astype(dtype) for s in strides]
    shift = -sum(c.offset * int(s) for c, s in zip(columns, strides, strict=True))
    start = np.array(shift & 0xFFFFFFFF, dtype=np.uint32).astype(dtype)
    total = np.zeros(n_codes)
    n = len(columns[0].raw)
    for low in range(0, n, _BLOCK):
        rows = slice(low, low + _BLOCK)
        code = np.full(min(_BLOCK, n - low), start, dtype=dtype)
        for column, stride in zip(columns, wrapped, strict=True):
            code += column.raw[rows].astype(dtype) * stride
        total += np.bincount(code, None if weight is None else weight[rows], minlength=n_codes)
    cells = np.flatnonzero(total)
    return list(np.unravel_index(cells, sizes)), total[cells]


def is_sensitive(name: str) -> bool:
    """Whether a parameter holds sensitive features, or predictions of them."""
    return name.startswith("sensitive")


def indicator(value: Any, name: str, *, soft: bool, scores: bool = False) -> Array:
    """Return a 2-D input as booleans, or as what else is allowed: probabilities, any scores."""
    if isinstance(value, pd.DataFrame):
        if any(not isinstance(dtype, np.dtype) for dtype in value.dtypes):
            columns = range(value.shape[1])
            value = np.column_stack([_without_extension(value.iloc[:, i]) for i in columns])
        else:
            value = value.to_numpy()
    # Not whatever float() can read: the text '1' is no membership.
    if value.dtype.kind == "O" and not odd_values(value):
        value = numbers_of(value, name)
    if value.dtype.kind == "b":
        return value
    if value.dtype.kind not in "iuf":
        values = map(plain, value.ravel())
        stranger = next(v for v in values if not (isinstance(v, int | float) or v is None))
        raise _no_indicator(name, value.shape[1], repr(stranger))
    hard = _as_membership(value)
    if hard is not None:
        return hard
    if value.dtype.kind == "f":
        also = worded(" ({missing} is for columns of labels.)" if is_sensitive(name) else "")
        refuse(np.isnan(value), HOLES + "{also}", name, also=also)
    if not soft:
        bad = value[(value != 0) & (value != 1)].flat[0]
        advice = (
            "" if is_sensitive(name) else " Audit prices and other numbers with {NumericAuditor}."
        )
        raise _no_indicator(name, value.shape[1], f"{bad:.6g}", advice)
    return finite(value, name) if scores else probabilities(value, name)


def of_floats(table: pd.DataFrame | Array) -> bool:
    """Whether a column of a table holds floats."""
    dtypes = table.dtypes if isinstance(table, pd.DataFrame) else [table.dtype]
    return any(dtype.kind == "f" for dtype in dtypes)


def finite(value: Array, name: str) -> Array:
    """Return numbers checked to be numbers."""
    text = "{name} has missing or infinite values in {where}. Leave these rows out."
    refuse(~np.isfinite(value), text, name)
    return np.asarray(value, dtype=float)


def as_numbers(column: Any, name: str) -> Array:
    """Return a column as numbers; raise if any is missing or infinite."""
    return finite(numbers_of(column, name), name)


def distinct_maps(maps: Array, name: str) -> tuple[Array, Array]:
    """Return the distinct rows of an array of more than two dimensions, and which each row is.

    Rows are ordered by what they hold, as draws are. Sorting digests takes no copies of the rows.
    """
    maps = as_numbers(maps, name)
    digests = b"".join(blake2b(row + 0.0, digest_size=16).digest() for row in maps)
    keys = np.frombuffer(digests, np.dtype((np.void, 16)))
    _, first, code = np.unique(keys, return_index=True, return_inverse=True)
    return maps[first], code.reshape(-1)


def measured(column: Any, name: str) -> Array:
    """Return a column of a numeric task; sums of its squares have to be finite."""
    numbers = as_numbers(column, name)
    text = "{name} holds numbers beyond 1e50 in {where}. Divide by a unit first, such as 1e9."
    refuse(np.abs(numbers) > _LARGEST, text, name)
    return numbers + 0.0  # no minus before a zero


def numbers_of(value: Any, name: str) -> Array:
    """Return a number, or an array of them, as floats. NaN passes, and what is missing is NaN."""
    if isinstance(value, str | bytes) or not isinstance(value, Real | Sized):
        text = "{name} must be a number, or several; got {seen!r}."
        raise InputTypeError(text, name=name, seen=value)
    if not isinstance(value, Real | np.ndarray):
        value = to_native(value, name)
    given = np.asarray(value)
    missing = np.asarray(pd.isna(given))
    if given.dtype.kind not in "biuf":
        odd = odd_values(given)
        if odd or given.dtype.kind != "O":
            wrong = odd[0] if odd else given.dtype
            raise InputError("{name} must hold numbers; got {seen!r}.", name=name, seen=wrong)
    numbers = np.full(given.shape, np.nan)
    try:
        numbers[~missing] = given[~missing]
    except OverflowError:
        text = "{name} holds numbers that are too large for a float."
        raise InputError(text, name=name) from None
    return numbers


def _no_indicator(name: str, n_columns: int, value: str, advice: str = "") -> InputError:
    return InputError(
        "{name} has {n} column{s}, so each must be a 0/1 indicator of one label; got {seen}. For "
        "one label a row pass a single column.{advice}",
        name=name,
        n=n_columns,
        s="s" * (n_columns > 1),
        seen=value,
        advice=worded(advice),
    )


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


def as_classes(predicted: Any) -> Any:
    """Return what a classifier predicts as classes: its floats 0.0 and 1.0 are no probabilities."""
    column = isinstance(predicted, np.ndarray) and predicted.ndim == 1
    if column and predicted.dtype.kind == "f" and np.isin(predicted, (0, 1)).all():
        return predicted.astype(int)
    return predicted


def probabilities(value: Array, name: str, of_numbers: Callable[[], bool] = lambda: False) -> Array:
    """Return floats checked to lie in [0, 1]; `of_numbers` says whether labels are many numbers."""
    value = np.asarray(value, dtype=float)
    outside = np.asarray(~((value >= -1e-6) & (value <= 1 + 1e-6)))
    if outside.any():
        refuse(np.isnan(value), HOLES, name)
        advice = "For logits or margins apply a sigmoid or softmax first, or pass the labels."
        if of_numbers():
            advice = "Audit prices and other numbers with {NumericAuditor}, or pass classes."
        raise InputError(
            "{name} must hold labels or probabilities in [0, 1]; got {seen:.6g}. {advice}",
            name=name,
            seen=value[outside][0],
            advice=worded(advice),
        )
    return np.clip(value, 0.0, 1.0)  # float32 softmax may end at 1.0000001


# Sums of 2**53 rows or more are not whole, and squares of tiny weights are 0.
_LEAST, _MOST = 1e-100, 2.0**53


def read_weight(sample_weight: Any, n: int, name: str = "sample_weight") -> Array:
    """Return the checked weights of `n` rows."""
    value = one_column(sample_weight, name)
    check_lengths({"y_true": range(n), name: value})
    weight = numbers_of(value, name)
    refuse(np.isnan(weight), "{name} has missing values in {where}.", name)
    refuse(~np.isfinite(weight), "{name} is not finite in {where}.", name)
    refuse(weight < 0, "{name} must be 0 or more; got negative values in {where}.", name)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not total:
        raise InputError("{name} is zero in every row: there is nothing to audit.", name=name)
    if not _LEAST <= total < _MOST:
        raise InputError(
            "{name} adds up to {total:.3g}, which cannot be counted with: divide it by its mean. "
            "Sums from 2**53 on are more than can be counted exactly, and tiny ones round to 0.",
            name=name,
            total=total,
        )
    return weight
