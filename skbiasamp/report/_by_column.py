"""The primary metric by each sensitive column alone, beside their combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._utils.formatting import DIRECTION_OF, NO_EFFECT
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import with_merged_groups
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.report._groups import columns_of_groups
from skbiasamp.report.auditors import readied


def audit_columns(chosen: list[Any], test: Contingency, random_state: Any) -> pd.DataFrame:
    """Return one row for each of several sensitive columns: estimate, interval and verdict.

    It is of the first auditor that was chosen, if its value is signed. A verdict counts all
    columns: p-values are adjusted by Holm's method.
    """
    if not chosen or test.summed == "tasks" or not chosen[0][0].kind.is_signed:
        return pd.DataFrame()
    auditor, train, *_ = chosen[0]
    learned = {} if train is None else _merged(train)
    rows = []
    for name, audited in _merged(test).items():
        with collected():
            result = readied(auditor, learned.get(name), random_state).audit(audited)
        numbers = {key: getattr(result, key) for key in ("estimate", "low", "high", "p_value")}
        rows.append(
            {"column": name, "groups": len(audited.groups), **numbers, "verdict": result.verdict}
        )
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    adjusted = table["p_adjusted"] = adjust_p_values(table["p_value"].to_numpy())
    level = 0.95 if auditor.confidence_level is None else auditor.confidence_level
    unsure = ~(adjusted < 1 - level) & np.isin(table["verdict"], list(DIRECTION_OF))
    return table.assign(verdict=table["verdict"].mask(unsure, NO_EFFECT))


def _merged(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells by each column, without the combination of all of them."""
    *columns, _ = columns_of_groups(cells)
    return {
        name: with_merged_groups(cells, into, tuple(categories), (name,))
        for name, categories, into in columns
        if len(categories) > 1
    }
