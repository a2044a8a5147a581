"""Checks of pairs: those with few rows, uncertain signs or nothing to measure."""

from __future__ import annotations

import numpy as np

from skbiasamp.report.checks import PAIRS, Audited, Seen, check


@check("SBA305", "unclear directions", rank=100, owner="data", reads=PAIRS)
def unclear_directions(audited: Audited) -> Seen:
    """Amplification and reduction could be the other way round."""
    return _flagged(audited, "direction_clear")


@check("SBA307", "few rows", rank=110, owner="data", reads=PAIRS)
def small_cells(audited: Audited) -> Seen:
    """Pairs with few rows."""
    return _flagged(audited, "reliable")


def _flagged(audited: Audited, flag: str) -> Seen:
    """Name the pairs for which a flag is False, of the metric that has most of them."""
    raised = {}
    for name, result in audited.report.items():
        table = result.table
        at = [i for i, value in enumerate(table.get(flag, ())) if value is False]
        raised[name] = [
            f"({audited.group(table['group'].iloc[i])}; {audited.task(table['task'].iloc[i])})"
            for i in at
        ]
    name, pairs = max(raised.items(), key=lambda item: len(item[1]), default=("", []))
    if pairs:
        yield {
            "metric": name,
            "pairs": pairs,
            "n": len(pairs),
            "n_pairs": len(audited.report[name].table),
            "labels": "labels" if audited.report[name].labelled else "reference rows",
        }


@check("SBA308", "undefined pairs", rank=120, owner="data", reads=PAIRS)
def undefined_pairs(audited: Audited) -> Seen:
    """Pairs without any rows to measure."""
    left = {}
    for name, result in audited.report.items():
        changes = result._column("delta", 1.0)
        if np.isnan(changes).any():
            left[name] = (int(np.isnan(changes).sum()), len(changes))
    if left:
        yield {"left": left}
