"""Other thresholds of the scores: the one at the base rate, and those that readers choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._utils.formatting import group_of
from skbiasamp.inference.independent_signs import FEWEST_ROWS
from skbiasamp.render.document import Item, Section, Slider, Text
from skbiasamp.results._json import records

_READ = Text(
    "These are numbers of the audited rows, without intervals. A threshold that is chosen here "
    "looks better than it is: check it on other rows.",
    quiet=True,
)


def threshold_section(report: Any) -> Section:
    """Return decisions at thresholds of the scores; an empty section if there are none."""
    passed, result = report.passed, moved_by_thresholds(report)
    items: list[Item | None] = []
    if len(passed) and result is not None:
        n, columns = len(report.curve) + 1, report.context.get("group_columns", ())
        counts = passed[["others", "labelled"]].to_numpy(float).T.reshape(2, -1, n)
        groups = passed["group"].iloc[::n].tolist()
        signs = dict(zip(result.table["group"], result.table["sign"].tolist(), strict=True))
        rates = {}
        if "predicted_rate" in report.rates:
            rates = dict(zip(report.rates["group"], report.rates["predicted_rate"], strict=True))
        sizes, base = counts[..., 0].sum(axis=0), counts[1, :, 0]
        share = [
            rates.get(name, of / size) for name, of, size in zip(groups, base, sizes, strict=True)
        ]
        predicted = counts.sum(axis=(0, 1)) / sizes.sum()
        large = sizes >= FEWEST_ROWS
        slider = Slider(
            caption="Rates, accuracy and amplification A→T (group → task) at thresholds of the "
            "score, from the lowest to the highest",
            groups=[group_of(name, columns) for name in groups],
            thresholds=[None, *report.curve["threshold"].tolist()],
            above=counts.transpose(1, 0, 2).tolist(),
            signs=[signs.get(name, 0) * int(of) for name, of in zip(groups, large, strict=True)],
            counted=(large | ~large.any()).tolist(),
            start=int(np.abs(predicted - np.average(share, weights=sizes)).argmin()),
            limit=report.limit,
        )
        items = [slider, _READ]
    return Section("What would another threshold do?", items, "thresholds", only="page")


def moved_by_thresholds(report: Any) -> Any:
    """Return the result whose value at other thresholds a report shows, or None."""
    audits = report.results.values()
    able = (audit for audit in audits if audit.kind.is_signed and audit.direction == "A->T")
    return next(able, None)


def at_base_rate(curve: pd.DataFrame) -> dict[str, Any] | None:
    """Return the row at which a task is predicted as often as it is labelled."""
    if curve.empty:
        return None
    return records(curve)[int((curve["predicted_rate"] - curve["base_rate"]).abs().argmin())]
