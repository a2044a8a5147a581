"""Other thresholds of the scores: the one at the base rate, and those that readers choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skbiasamp._input.checks import Array
from skbiasamp._utils.formatting import group_of
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.render.document import Slider
from skbiasamp.render.words import express
from skbiasamp.results.exports import records

_DRAWS = 400


def slider_of(report: Any) -> Slider | None:
    """Return decisions at thresholds of the scores of few groups, if there are any."""
    passed, curve, audits = report.passed, report.curve, report.results.values()
    able = (audit for audit in audits if audit.kind.is_signed and audit.direction == "A->T")
    result = next(able, None)
    if passed.empty or result is None or curve["value"].isna().any():
        return None
    n, columns = len(curve) + 1, report.context.get("group_columns", ())
    counts = passed[["others", "labelled"]].to_numpy(float).T.reshape(2, -1, n)
    groups = passed["group"].iloc[::n].tolist()
    signs = dict(zip(result.table["group"], result.table["sign"].tolist(), strict=True))
    large = counts[..., 0].sum(axis=0) >= FEWEST_ROWS
    above = counts.transpose(1, 0, 2)
    sign = [signs.get(name, 0) for name in groups]
    half = (curve["high"] - curve["low"]).to_numpy() / 2
    return Slider(
        caption=express("tables", "slider"),
        groups=[group_of(name, columns) for name in groups],
        thresholds=[None, *curve["threshold"].tolist()],
        above=above.tolist(),
        amplification=[0.0, *curve["value"]],
        counted=(large | ~large.any()).tolist(),
        start=1 + nearest_to(curve, predicted_share(report)),
        reach=_reach(above, sign, half / ndtri(0.975)).tolist(),
        limit=report.limit,
    )


def _reach(above: Array, signs: list[int], errors: Array) -> Array:
    """Return how far intervals of accuracy reach to either side, and those of amplification.

    They hold at all thresholds together: a standard error times a quantile of the largest deviation
    of drawn tables, at the `signs` of the labels. `errors` are those of the amplification. Weights
    widen both errors in the same proportion.
    """
    between = np.maximum(-np.diff(above, axis=-1, append=0), 0)
    n, share = int(np.ceil(between.sum())), between.ravel() / between.sum()
    drawn = np.random.default_rng(0).multinomial(n, share, _DRAWS).reshape(-1, *between.shape)
    tables = drawn[..., ::-1].cumsum(axis=-1)[..., ::-1]
    both = zip(_at_signs(tables, signs), _at_signs(above, signs), strict=True)
    deviations = np.stack([draws - observed for draws, observed in both])
    spread = deviations.std(axis=1)
    standardised = np.abs(deviations) / np.where(spread > 0, spread, np.inf)[:, None]
    times_accuracy, times_amplification = np.quantile(standardised.max(axis=2), 0.95, axis=1)
    of_accuracy, of_amplification = spread[0], spread[1, 1:]  # with no threshold nothing changes
    known = np.isfinite(errors) & (of_amplification > 0)
    by_weights = np.median(errors[known] / of_amplification[known]) if known.any() else 1.0
    reach = np.insert(np.nan_to_num(times_amplification * errors), 0, 0.0)
    return np.stack([times_accuracy * by_weights * of_accuracy, reach])


def _at_signs(above: Array, signs: list[int]) -> tuple[Array, Array]:
    """Return accuracy and amplification of tables at given signs."""
    rates, accuracy = Slider.numbers(above)
    sizes = above[..., 0].sum(axis=-1)[..., None]
    changes = rates - above[..., 1, :1] / np.maximum(sizes, 1)
    # What all groups share is no gap.
    changes -= (changes * sizes).sum(axis=-2, keepdims=True) / sizes.sum(axis=-2)[..., None]
    return accuracy, (np.asarray(signs)[:, None] * changes).mean(axis=-2)


def at_base_rate(curve: pd.DataFrame) -> dict[str, Any] | None:
    """Return the row at which a task is predicted as often as it is labelled."""
    return None if curve.empty else records(curve)[nearest_to(curve, curve["base_rate"])]


def nearest_to(curve: pd.DataFrame, share: Any) -> int:
    """Return the position at which a task is predicted for about this share of all rows."""
    return int((curve["predicted_rate"] - share).abs().argmin())


def predicted_share(report: Any) -> float:
    """Return for which share of all rows a report's one task is predicted, or labelled."""
    rates, sizes = report.rates, report.groups.set_index("group")["n"]
    known = rates["predicted_rate" if "predicted_rate" in rates else "base_rate"]
    n = rates["group"].map(sizes)
    return float((known * n).sum() / n.sum())
