"""Checks of pairs: those with few rows, uncertain signs or nothing to measure."""

from __future__ import annotations

import numpy as np

from skbiasamp._utils.formatting import listed, task_of
from skbiasamp.report.checks import PAIRS, Audited, Findings, check
from skbiasamp.results import AuditResult

_MOST_NAMED = 4
# What findings say of one pair, by what they say of several.
_SINGULAR = {
    "have": "has",
    "their changes widen or narrow": "its change widens or narrows",
    "these changes": "this change",
    "these pairs one by one": "this pair by itself",
}


def _raised(result: AuditResult, flag: str) -> list[str]:
    """Return the pairs of a result for which a flag is False, as text."""
    pairs = result.table
    if flag not in pairs:
        return []
    raised = np.array([value is False for value in pairs[flag]], dtype=bool)
    pairs = pairs[raised]
    return [
        f"({result.group_name(group)}; {task_of(task)})"
        for group, task in zip(pairs["group"], pairs["task"], strict=True)
    ]


@check("unclear directions", rank=100, place="next", reads=PAIRS)
def unclear_directions(audited: Audited) -> Findings:
    """Amplification and reduction could be the other way round."""
    return _flagged(
        audited,
        "direction_clear",
        "{have} no clear direction in the {labels}, so it is not known whether "
        "{their changes widen or narrow} the association",
        "Report {these changes} without a direction, or measure more {rows}.",
    )


@check("small cells", rank=110, place="next", reads=PAIRS)
def small_cells(audited: Audited) -> Findings:
    """Pairs with few rows."""
    return _flagged(
        audited,
        "reliable",
        "{have} fewer than 10 rows",
        "Do not report {these pairs one by one}; collect more rows, or merge small groups.",
    )


def _flagged(audited: Audited, flag: str, what: str, action: str) -> Findings:
    """Name the pairs for which a flag is False, of the metric that has most of them."""
    raised = {name: _raised(result, flag) for name, result in audited.report.items()}
    name, pairs = max(raised.items(), key=lambda item: len(item[1]), default=("", []))
    if not pairs:
        return
    words = {"labels": "labels", "rows": "labelled rows"}
    if not audited.report[name].labelled:
        words = dict.fromkeys(words, "reference rows")
    for several, single in _SINGULAR.items():
        words[several] = single if len(pairs) == 1 else several
    yield (
        f"{len(pairs)} of {len(audited.report[name].table)} pairs of {name} "
        f"{what.format_map(words)}: {listed(pairs, 3)}.",
        action.format_map(words),
    )


@check("undefined pairs", rank=120, place="next", reads=PAIRS)
def undefined_pairs(audited: Audited) -> Findings:
    """Pairs without any rows to measure."""
    tables = {name: result.table for name, result in audited.report.items()}
    gone = {
        name: f"{int(table['delta'].isna().sum())} of {len(table)} in {name}"
        for name, table in tables.items()
        if "delta" in table and table["delta"].isna().any()
    }
    if gone:
        yield (
            f"Pairs without any rows to measure are left out: {', '.join(gone.values())}.",
            "Audit more rows of these groups and tasks.",
        )
