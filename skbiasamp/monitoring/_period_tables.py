"""Tables of a watch: one row a period, and one for each period and pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp.monitoring._watch import Watched
from skbiasamp.results.timeline import PAIR_COLUMNS, PERIOD_COLUMNS

_UNKNOWN = ("value", "low", "high", "expected", "difference", "p_adjusted")


def period_table(
    versions: Mapping[str, str],
    roles: Mapping[str, str],
    results: Mapping[str, Any],
    later: Sequence[str],
    watched: Watched,
    alpha: float,
) -> pd.DataFrame:
    rows = []
    best = watched.p_pairs.min(axis=0) if len(watched.p_pairs) else np.ones(len(later))
    for name, role in roles.items():
        result = results.get(name)
        row: dict[str, Any] = dict.fromkeys(PERIOD_COLUMNS)
        row |= dict.fromkeys(_UNKNOWN, np.nan)
        row |= {"period": name, "role": role, "alarm": False, "cause": "", "n": 0}
        row["version"] = versions.get(name)
        if result is not None:
            row |= {"value": result.estimate, "low": result.low, "high": result.high}
            row["n"] = result.n_samples
        if name in later:
            at = later.index(name)
            row["expected"] = watched.expected[0, at]
            row["difference"] = row["value"] - row["expected"]
            row["p_adjusted"] = min(watched.p_value[at], best[at])
            row["alarm"] = bool(row["p_adjusted"] <= alpha)
            if watched.p_value[at] <= alpha:
                row["cause"] = "value"
            first = int(np.argmin(watched.p_pairs[:, at])) if len(watched.p_pairs) else 0
            onset = watched.onset[at]
            if best[at] < watched.p_value[at]:
                onset = watched.onset_pairs[first, at]
            row["onset"] = later[onset]
        rows.append(row)
    return pd.DataFrame(rows, columns=list(PERIOD_COLUMNS))


def pairs_table(
    names: pd.DataFrame,
    results: Mapping[str, Any],
    later: Sequence[str],
    watched: Watched,
    alpha: float,
) -> pd.DataFrame:
    if not later:
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    unknown = names.assign(amplification=np.nan, n=0)
    tables = [results[name].table if name in results else unknown for name in later]
    value, n = (np.concatenate([part[name] for part in tables]) for name in ("amplification", "n"))
    expected, p = watched.expected[1:].T.ravel(), watched.p_pairs.T.ravel()
    columns = {
        "period": np.repeat(np.array(later, dtype=object), len(names)),
        **{name: np.tile(names[name].to_numpy(), len(later)) for name in names},
        "value": value,
        "n": n,
        "expected": expected,
        "difference": value - expected,
        "p_adjusted": p,
        "alarm": p <= alpha,
        "onset": [later[at] for at in watched.onset_pairs.T.ravel()],
    }
    return pd.DataFrame(columns)[list(PAIR_COLUMNS)]


def name_causes(periods: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """Say of each period which pairs raise an alarm."""
    raised = pairs[pairs["alarm"].astype(bool)].groupby("period").size()
    for i, name in enumerate(periods["period"]):
        n = int(raised.get(name, 0))
        if n:
            causes = [str(periods.at[i, "cause"]), f"{n} pair{'s' * (n != 1)}"]
            periods.at[i, "cause"] = " and ".join(filter(None, causes))
