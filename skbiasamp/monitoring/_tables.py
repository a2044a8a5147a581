"""Tables of a watch: one row a period, and one for each period and pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp.monitoring._watch import Watched
from skbiasamp.results._timeline import PAIR_COLUMNS, PERIOD_COLUMNS

_UNKNOWN = ("value", "low", "high", "expected", "difference", "p_adjusted")


def period_table(
    versions: Mapping[str, str],
    roles: Mapping[str, str],
    results: Mapping[str, Any],
    later: Sequence[str],
    found: Watched,
    alpha: float,
) -> pd.DataFrame:
    rows = []
    best = found.p_pairs.min(axis=0) if len(found.p_pairs) else np.ones(len(later))
    for name, role in roles.items():
        result = results.get(name)
        row: dict[str, Any] = dict.fromkeys(PERIOD_COLUMNS)
        row |= dict.fromkeys(_UNKNOWN, np.nan)
        row |= {"period": name, "role": role, "alarm": False, "cause": "", "n": 0}
        row["version"] = versions.get(name)
        if result is not None:
            row |= {one: getattr(result, one) for one in ("value", "low", "high")}
            row["n"] = result.n_samples
        if name in later:
            at = later.index(name)
            row["expected"] = found.expected[0, at]
            row["difference"] = row["value"] - row["expected"]
            row["p_adjusted"] = min(found.p_value[at], best[at])
            row["alarm"] = bool(row["p_adjusted"] <= alpha)
            if found.p_value[at] <= alpha:
                row["cause"] = "value"
            first = int(np.argmin(found.p_pairs[:, at])) if len(found.p_pairs) else 0
            onset = found.onset[at]
            if best[at] < found.p_value[at]:
                onset = found.onset_pairs[first, at]
            row["onset"] = later[onset]
        rows.append(row)
    return pd.DataFrame(rows, columns=list(PERIOD_COLUMNS))


def pairs_table(
    names: pd.DataFrame,
    results: Mapping[str, Any],
    later: Sequence[str],
    found: Watched,
    alpha: float,
) -> pd.DataFrame:
    tables = []
    for at, period in enumerate(later):
        table = names.copy()
        table.insert(0, "period", period)
        result = results.get(period)
        for column, source in (("value", "amplification"), ("n", "n")):
            table[column] = 0 if column == "n" else np.nan
            if result is not None:
                table[column] = result.table[source].to_numpy()
        table["expected"] = found.expected[1:, at]
        table["difference"] = table["value"] - table["expected"]
        table["p_adjusted"] = found.p_pairs[:, at]
        table["alarm"] = table["p_adjusted"] <= alpha
        table["onset"] = [later[one] for one in found.onset_pairs[:, at]]
        tables.append(table)
    if not tables:
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(PAIR_COLUMNS)]


def name_causes(periods: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """Say of each period which pairs raise an alarm."""
    raised = pairs[pairs["alarm"].astype(bool)].groupby("period").size()
    for i, name in enumerate(periods["period"]):
        n = int(raised.get(name, 0))
        if n:
            held = [str(periods.at[i, "cause"]), f"{n} pair{'s' * (n != 1)}"]
            periods.at[i, "cause"] = " and ".join(filter(None, held))
