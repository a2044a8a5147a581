"""Checks of pairs: those with few rows, uncertain signs or nothing to measure."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from skbiasamp._utils.formatting import listed, task_of
from skbiasamp.inference.independent_signs import FEWEST_ROWS
from skbiasamp.report.checks import PAIRS, Audited, Check, Found
from skbiasamp.results import AuditResult

_MOST_NAMED = 4


def _raised(result: AuditResult, flag: str) -> list[str]:
    """Return the pairs of a result for which a flag is False, as text."""
    pairs = result.table
    if flag not in pairs:
        return []
    raised = np.array([value is False for value in pairs[flag]], dtype=bool)
    if flag == "sign_certain":
        raised &= np.asarray(pairs["sign"] != 0)
    pairs = pairs[raised]
    return [
        f"({result.group_name(group)}; {task_of(task)})"
        for group, task in zip(pairs["group"], pairs["task"], strict=True)
    ]


class _Flagged(Check):
    """Pairs for which a flag is False, of the metric that has most of them."""

    place = "next"
    reads = PAIRS
    flag: ClassVar[str]
    what: ClassVar[str]
    action: ClassVar[str]

    def finding(self, audited: Audited) -> Found:
        raised = {name: _raised(result, self.flag) for name, result in audited.report.items()}
        name, pairs = max(raised.items(), key=lambda item: len(item[1]), default=("", []))
        if not pairs:
            return None
        more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
        words = {"labels": "labels", "rows": "labelled rows"}
        if not audited.report[name].labelled:
            words = dict.fromkeys(words, "reference rows")
        words["have"] = "has" if len(pairs) == 1 else "have"
        what, action = (text.format_map(words) for text in (self.what, self.action))
        return (
            f"{len(pairs)} of {len(audited.report[name].table)} pairs of {name} {what}: "
            f"{', '.join(pairs[:3])}{more}.",
            action,
        )


class UncertainSigns(_Flagged):
    """Amplification and reduction could be the other way round."""

    topic = "uncertain signs"
    rank = 100
    flag = "sign_certain"
    what = (
        "{have} a correlation in the {labels} that is not statistically distinguishable from 0, so "
        "it is not known whether their changes widen or narrow the association"
    )
    action = "Report these changes without a direction, or measure more {rows}."


class SmallCells(_Flagged):
    """Pairs with few rows."""

    topic = "small cells"
    rank = 110
    flag = "reliable"
    what = "{have} fewer than 10 rows"
    action = "Do not report these pairs one by one; collect more rows, or merge small groups."


class SmallGroups(Check):
    """Groups with too few rows for the estimate."""

    topic = "small groups"
    place = "next"
    rank = 95

    def finding(self, audited: Audited) -> Found:
        groups = audited.report.groups
        small = groups[groups["n"] < FEWEST_ROWS].sort_values("n")
        if small.empty or len(small) == len(groups):
            return None
        named = [
            f"{audited.group(group)} ({n:,.15g})"
            for group, n in zip(small["group"], small["n"], strict=True)
        ]
        return (
            f"Groups with fewer than {FEWEST_ROWS} rows: {listed(named, _MOST_NAMED)}. Their pairs "
            "leave the estimate.",
            "Merge them with other groups, or leave them out, before you audit again.",
        )


class UndefinedPairs(Check):
    """Pairs without any rows to measure."""

    topic = "undefined pairs"
    reads = PAIRS
    place = "next"
    rank = 120

    def finding(self, audited: Audited) -> Found:
        tables = {name: result.table for name, result in audited.report.items()}
        gone = {
            name: f"{int(table['delta'].isna().sum())} of {len(table)} in {name}"
            for name, table in tables.items()
            if "delta" in table and table["delta"].isna().any()
        }
        if not gone:
            return None
        return (
            f"Pairs without any rows to measure are left out: {', '.join(gone.values())}.",
            "Audit more rows of these groups and tasks.",
        )
