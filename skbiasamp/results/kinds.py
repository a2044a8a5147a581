"""What metrics hand over: the kind of a value, which says how it is read, and tables of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, Names
from skbiasamp._utils import formatting as words
from skbiasamp.results.exports import records


class Kind(StrEnum):
    """How the value of a metric is read. A kind equals its name: metrics declare it, files hold it.

    A signed mean, a mean whose published value is a size without direction, or the gain of an
    attacker.
    """

    SIGNED = "signed"
    SIZE = "size"
    ATTACK = "attack"

    @property
    def sides(self) -> str:
        """Label of an axis of values."""
        if self.has_attacker:
            return "← reveals less  |  reveals more →"
        return "← reduces  |  amplifies →"

    @property
    def is_signed(self) -> bool:
        """Whether the value is a mean of changes that have a direction."""
        return self is Kind.SIGNED

    @property
    def has_attacker(self) -> bool:
        """Whether the value compares what attackers guess."""
        return self is Kind.ATTACK

    def verdict(self, side: str, statistics: Mapping[str, Any]) -> str:
        """Return what an interval on one side of 0 says of a model."""
        if side == "unknown":
            return words.NOT_MEASURED
        above, below = words.AMPLIFIES, words.REDUCES
        if self.has_attacker:
            is_clear = statistics.get("above_chance_low", inf) > 0
            above, below = words.REVEALS_MORE if is_clear else words.NO_EFFECT, words.REVEALS_LESS
        return {"above": above, "below": below}.get(side, words.NO_EFFECT)

    def verdict_of_difference(self, side: str) -> str:
        """Return what an interval on one side of 0 says of the difference of two models."""
        more, less = words.AMPLIFIES_MORE, words.AMPLIFIES_LESS
        if self.has_attacker:
            more, less = words.REVEALS_MORE, words.REVEALS_LESS
        return {"above": more, "below": less}.get(side, words.NO_DIFFERENCE)


# --------------------------------------------------------------------------- pairs

COLUMNS = (
    "group",
    "task",
    "n",
    "base",
    "observed",
    "delta",
    "change",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "sign",
    "sign_weight",
    "amplification",
    "low_simultaneous",
    "high_simultaneous",
    "direction_clear",
    "reliable",
)


def row_of(table: pd.DataFrame, at: int) -> dict[str, Any]:
    """Return a row. As a Series, its whole numbers would be floats, and names among them too."""
    return {str(name): table[name].iloc[at] for name in table}


def label_index(names: Names) -> pd.Index[Any]:
    """Return names as an index; tuples stay names and do not become levels."""
    return pd.Index(list(names), tupleize_cols=False)


def pair_names(groups: Names, tasks: Names) -> dict[str, Any]:
    """Return group and task of every pair, one row a pair."""
    rows, cols = np.indices((len(groups), len(tasks))).reshape(2, -1)
    return {
        "group": label_index(groups).array.take(rows),
        "task": label_index(tasks).array.take(cols),
    }


def pair_table(groups: Names, tasks: Names, **columns: Array) -> pd.DataFrame:
    """Return arrays of groups × tasks as one row a pair, in the order of `COLUMNS`; others last."""
    data = pair_names(groups, tasks)
    n_pairs = len(groups) * len(tasks)
    for name in dict.fromkeys((*COLUMNS[2:], *columns)):
        column = columns.get(name)
        data[name] = np.full(n_pairs, np.nan) if column is None else np.ravel(column)
    counts = data["n"]
    if np.array_equal(counts, np.rint(counts)):
        data["n"] = counts.astype(np.int64)
    return pd.DataFrame(data)


def uncounted(table: pd.DataFrame) -> Array:
    """Return which pairs do not count: without a training correlation their part is always 0."""
    if "sign" not in table:
        return np.zeros(len(table), bool)
    return np.asarray((table["sign"] == 0) & (table["amplification"] == 0))


def pair_of(row: Mapping[str, Any]) -> str:
    """Return what a row's pair is known by: names of groups may be lists, as in JSON."""
    return repr((row["group"], row["task"]))


def by_pair(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the rows of a table, as JSON has them, by their pairs."""
    return {pair_of(row): row for row in records(table)}
