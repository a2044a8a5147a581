"""What one result shows: its value, its strongest pairs, and what is unusual about them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from skbiasamp.render.document import Document
from skbiasamp.render.words import express
from skbiasamp.results._result import AuditResult
from skbiasamp.results._shown import of_frame
from skbiasamp.results.pair_tables import uncounted

_MOST = 10  # pairs
_FLAGS = {
    "direction_clear": "no clear direction in the labels",
    "reliable": "fewer than 10 rows",
}


def result_document(result: AuditResult) -> Document:
    """Return value and strongest pairs of a result."""
    return of_frame(_title(result), _shown(result), _remarks(result))


def _title(result: AuditResult) -> str:
    value = "undefined" if math.isnan(result.value) else f"{result.value:+.4f}"
    text = f"{result.name}: {value}"
    if not math.isnan(result.low):
        text += f" [{result.low:+.4f}, {result.high:+.4f}]"
    if not math.isnan(result.p_value):
        text += f", p = {result.p_value:.3g}"
    rows = f"{result.n_samples:,.15g} row{'s' * (result.n_samples != 1)}"
    if "attacker" in result.statistics:
        return f"{text} ({rows}, {result.statistics['attacker']} attacker)"
    group, task = result.pair_of
    if all(isinstance(task, tuple) for task in result.table["task"]):
        task = "set of tasks"
    counts = [
        _counted(result.table[side].nunique(), what)
        for side, what in (("group", group), ("task", task))
        if list(result.table[side].unique()) != ["(all)"]
    ]
    return f"{text} ({', '.join([rows, ' x '.join(counts)])})"


def _shown(result: AuditResult) -> pd.DataFrame:
    """Return what fits a screen: the strongest pairs, and only columns that say something."""
    table = result.table if len(result.table) <= _MOST else result.strongest(_MOST)
    apart = uncounted(table)
    empty = table.columns[table.isna().all()].difference(["group", "task"])
    table = table.drop(columns=empty)
    if table["group"].map(lambda group: isinstance(group, tuple)).any():
        table = table.assign(group=[result.group_name(group) for group in table["group"]])
    hidden = table.columns.intersection(["amplification", "low", "high", "p_value"])
    if apart.any():
        table = table.assign(**{name: table[name].mask(apart) for name in hidden})
    # One p-value is enough to see, and a flag only where it is raised.
    counted = table[~apart]
    lowered = [flag for flag in _FLAGS if flag in table and counted[flag].all()]
    again = ["p_adjusted", "low_simultaneous", "high_simultaneous"]
    known = "sign_weight" in table and (table["sign_weight"] == table["sign"]).all()
    if known:
        again.append("sign_weight")
    alike = "change" in table and np.allclose(table["change"], table["delta"], equal_nan=True)
    if alike:
        again.append("change")
    return table.drop(columns=[*again, *lowered], errors="ignore")


def _remarks(result: AuditResult) -> list[str]:
    """Return how many pairs are not shown, and how many are flagged."""
    n, counted = len(result.table), ~uncounted(result.table)
    remarks = [f"(the strongest {_MOST} of {n:,} pairs)"] if n > _MOST else []
    for flag, what in _FLAGS.items():
        # NaN is no flag.
        raised = sum(value is False for value in result.table.loc[counted].get(flag, ()))
        if raised:
            remarks.append(f"({raised:,} of {n:,} pairs: {what}, {flag}=False)")
    if result.differs and not math.isnan(result.published):
        remarks.append(express("page", "stat_published", result.facts))
    return remarks


def _counted(n: int, what: str) -> str:
    """Return so many groups, pairs of groups, tasks or sets of tasks."""
    first, *rest = what.split(" ")
    return " ".join([f"{n} {first}{'s' * (n != 1)}", *rest])
