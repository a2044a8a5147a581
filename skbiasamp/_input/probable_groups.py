"""Groups that are known with a probability: each row counts in each group by its probability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import finite, numbers_of
from skbiasamp._input.containers import check_lengths, columns_of, is_table, to_native
from skbiasamp._input.errors import InputError

_NEAR = 0.01  # of sums of probabilities that are 1: they may be rounded, as predicted ones may


def read_probabilities(table: Any) -> tuple[list[Any], Array] | None:
    """Return the groups and the probabilities of each row, or None if groups are known."""
    table = to_native(table, "sensitive_features")
    if not is_table(table):
        return None
    titles, columns = zip(*columns_of(table), strict=True)
    name = "sensitive_features"
    share = np.column_stack([finite(numbers_of(column, name), name) for column in columns])
    total = share.sum(axis=1)
    wrong = (share < 0).any(axis=1) | (np.abs(total - 1) > _NEAR)
    if wrong.any():
        text = (
            "{sensitive_features} must hold a column of probabilities for each group, whose sum is "
            "1 in each row; row {row} has {seen}. Divide shares by the sum of their row."
        )
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(text, row=row, seen=[round(float(part), 6) for part in share[row]])
    return list(titles), share / total[:, None]


def in_each_group(
    native: dict[str, Any], weight: Array | None, clusters: Any
) -> tuple[dict[str, Any], Array, Any]:
    """Return rows once for each group, with its probability as weight, and what was one row."""
    read = read_probabilities(native["sensitive_features"])
    assert read is not None
    names, share = read
    n = len(share)
    at = np.repeat(np.arange(n), len(names))
    clusters = np.arange(n) if clusters is None else to_native(clusters, "clusters")
    check_lengths({"y_true": np.empty(n), "clusters": clusters})
    rows = {name: _rows(value, at) for name, value in native.items()}
    groups = np.array([*names, None], dtype=object)[:-1]
    rows["sensitive_features"] = pd.Series(np.tile(groups, n), dtype=object).infer_objects()
    own = share if weight is None else share * weight[:, None]
    return rows, own.ravel(), _rows(clusters, at)


def _rows(value: Any, at: Array) -> Any:
    return value.iloc[at] if isinstance(value, pd.Series | pd.DataFrame) else value[at]
