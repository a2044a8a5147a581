"""The amplification at other thresholds, if an audit has scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import as_numbers
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.model_selection import amplification_curve
from skbiasamp.model_selection.thresholds import rows_above
from skbiasamp.report.strata import RowSource

_READ = ("sensitive_features", "sample_weight", "groups", "missing", "pos_label")
_N = 99  # percentiles
_MOST_GROUPS = 20  # whose rows above thresholds a report holds


def threshold_tables(
    source: RowSource, y_score: Any, test: Contingency, scored: Contingency, train: Any
) -> dict[str, pd.DataFrame]:
    """Return the tables of a report about thresholds of the scores, if these are of one task.

    ``curve`` is the value at percentiles of the scores, at the base rate and at the rate of the
    predictions of `test`; ``passed`` are the rows of each group with and without the label above
    each threshold, unless groups are many.
    """
    scores = np.squeeze(np.asarray(y_score))
    if scores.ndim != 1 or not scored.has("task") or len(scored.tasks) != 1:
        return {}
    given = source.labels | source.how
    labels: dict[str, Any] = {name: given.get(name) for name in _READ}
    scores = as_numbers(pd.Series(scores), "y_score")
    base = float(scored.count("task")[0] / scored.total)
    shares = [base]
    if test.has("task_pred") and len(test.tasks) == 1:  # decisions of a threshold, probably
        shares.append(float(test.count("task_pred")[0] / test.total))
    percentiles = [*np.linspace(0, 1, _N + 2)[1:-1], *(1 - share for share in shares)]
    thresholds = np.unique(np.quantile(scores, percentiles, method="inverted_cdf"))
    rank = np.searchsorted(thresholds, scores, side="left")  # how many are below the score
    with collected():
        curve = amplification_curve(
            source.y_true,
            rank,
            limits=(0, len(thresholds)),
            y_train=train,
            interval="analytic",
            **labels,
        )
        if curve.low is None or np.isnan(curve.low).all():
            return {}
        above = _passed(source.y_true, rank, thresholds, labels)
    of_curve = np.searchsorted(curve.thresholds, np.arange(len(thresholds)), side="right") - 1
    numbers = {"predicted_rate": curve.rates, "value": curve.values}
    numbers |= {"low": curve.low, "high": curve.high}
    known = {name: np.asarray(values)[of_curve] for name, values in numbers.items()}
    table = pd.DataFrame({"threshold": thresholds, **known}).assign(base_rate=base)
    return {"curve": table, "passed": above}


def _passed(y_true: Any, rank: Array, thresholds: Array, labels: dict[str, Any]) -> pd.DataFrame:
    n = len(thresholds) + 1
    cells, above = rows_above(y_true, rank, n, labels)
    kept = cells.count("group") > 0
    if kept.sum() > _MOST_GROUPS:
        return pd.DataFrame()
    negatives, positives = above[:, kept, :-1]
    names = [name for name, is_kept in zip(cells.groups, kept, strict=True) if is_kept]
    return pd.DataFrame(
        {
            "group": [name for name in names for _ in range(n)],
            "threshold": np.tile([np.nan, *thresholds], len(names)),
            "labelled": positives.ravel(),
            "others": negatives.ravel(),
        }
    )
