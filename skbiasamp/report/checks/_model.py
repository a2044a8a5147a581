"""Checks of the model: its errors, its threshold, and what it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference import paired_p_values
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.report.checks import ALPHA, WORTH_SAYING, Audited, Seen, check
from skbiasamp.results import FOUR_FIFTHS
from skbiasamp.results.thresholds import at_base_rate

# The least difference between base rate and predicted rate that is reported.
# The least difference between the error rates of groups that is.
_GAP = 0.05


@check("SBA111", "identical predictions", rank=45, severity="wrong", owner="model")
def identical_predictions(audited: Audited) -> Seen:
    """Labels and predictions are identical in every row, as if one column was read for both."""
    same = [side for side in ("task", "group") if _identical(audited.test, side, f"{side}_pred")]
    if same:
        yield {"sides": same}


def _identical(test: Contingency, side: Any, predicted: Any) -> bool:
    if not (test.has(side) and test.has(predicted)) or test.soft(predicted):
        return False
    both = test.both(side).count(predicted)
    return all(np.array_equal(both, test.count(name)) for name in (side, predicted))


@check("SBA204", "worse than chance", rank=70, severity="wrong", owner="model")
def worse_than_chance(audited: Audited) -> Seen:
    """Perturbed labels were pure noise, since the model is worse than a guess."""
    capped = audited.names(lambda result: result.statistics.get("flip_rate_capped"))
    if capped:
        yield {"metrics": capped}


@check("SBA206", "threshold", rank=80, owner="model")
def threshold(audited: Audited) -> Seen:
    """Tasks are predicted more or less often than they are labelled."""
    test = audited.test
    if not (test.has("task") and test.has("task_pred")) or test.soft("task_pred"):
        return
    base, predicted = test.count("task"), test.count("task_pred")
    both = test.both("task").count("task_pred")
    p_values = paired_p_values(np.rint(predicted - both), np.rint(base - both))
    gap = (predicted - base) / test.total
    off = np.flatnonzero((p_values < ALPHA) & (np.abs(gap) >= WORTH_SAYING))
    if not len(off):
        return
    first = off[np.argmax(np.abs(gap[off]))]
    nearest = at_base_rate(audited.report.curve)
    other = {"threshold": None, "then": None, "value": None}
    if nearest is not None:
        names = {"threshold": "threshold", "then": "predicted_rate", "value": "value"}
        other = {name: nearest[column] for name, column in names.items()}
    yield {
        "task": audited.task(test.tasks[first]),
        "predicted": float(predicted[first] / test.total),
        "labelled": float(base[first] / test.total),
        "more": len(off) - 1,
        "binary": len(test.tasks) == 1,
        **other,
    }


@check("SBA202", "error rates", rank=65, owner="policy")
def error_rates(audited: Audited) -> Seen:
    """The largest gap of error rates between groups, which amplification does not measure."""
    report = audited.report
    if "false_positive_rate" not in report.rates:
        return
    differences = report.rates[[f"{kind}_difference" for kind in _KINDS]]
    share = report.rates["base_rate"].to_numpy(float)
    n = np.repeat(report.groups["n"].to_numpy(float), len(share) // len(report.groups))
    enough = np.stack([n * (1 - share), n * share], axis=1) > FEWEST_ROWS - 1e-6
    # The largest gap of many groups may be chance.
    certain = report.rates[[f"{name}_low" for name in differences]].to_numpy() > 0
    gaps = np.where(enough & certain, differences, -1.0)
    k = int(gaps.max(axis=0).argmax())
    at, n_tasks = int(gaps[:, k].argmax()), len(gaps) // len(report.groups)
    if gaps[at, k] < _GAP:
        return
    of_task = report.rates.iloc[at % n_tasks :: n_tasks]
    row: Any = report.rates.iloc[at]
    base: Any = of_task[of_task[list(differences)[k]] == 0].iloc[0]
    known = differences.loc[[row.name, base.name]].notna().all()
    kinds = [kind for kind in _KINDS if known[f"{kind}_difference"]]
    if audited.is_favourable(row["task"]):
        kinds.reverse()  # who misses what people want is harmed
    yield {
        "task": audited.task(row["task"]),
        "most": audited.group(row["group"]),
        "least": audited.group(base["group"]),
        "errors": [
            {
                "of_labelled": kind == "true_positive_rate",
                "most": _wrong(row, kind),
                "least": _wrong(base, kind),
            }
            for kind in kinds
        ],
    }


_KINDS = ("false_positive_rate", "true_positive_rate")


def _wrong(rates: Any, kind: str) -> float:
    """Return the rate of an error."""
    share = float(rates[kind])
    return 1 - share if kind == "true_positive_rate" else share


@check("SBA201", "probabilities", rank=23, owner="model")
def predicted_probabilities(audited: Audited) -> Seen:
    """Predictions are probabilities."""
    if audited.test.soft("task_pred") and not audited.are_attacks:
        yield {}


@check("SBA207", "predicted attribute", rank=170, severity="note", owner="policy")
def predicted_attribute(audited: Audited) -> Seen:
    """A sensitive feature was predicted."""
    if audited.test.has("group_pred"):
        yield {}


@check("SBA208", "risk prediction", rank=190, severity="note", owner="policy")
def risk_prediction(audited: Audited) -> Seen:
    """Scores were given, which may predict the future of people."""
    if audited.scored is not None:
        yield {}


@check("SBA203", "impact ratio", rank=26, owner="policy")
def impact_ratio(audited: Audited) -> Seen:
    """A group gets what people want less than four fifths as often as another."""
    rates, context = audited.report.rates, audited.report.context
    if "favourable" not in context or "impact_ratio_high" not in rates:
        return
    below = rates[rates["impact_ratio_high"] < FOUR_FIFTHS]
    if below.empty:
        return
    row: Any = below.sort_values("impact_ratio").iloc[0]
    of_task = rates[rates["task"].map(str) == str(row["task"])]
    # Rows with a missing value are in no ratio.
    most: Any = of_task.sort_values("impact_ratio", na_position="first").iloc[-1]
    wanted = [
        name for name in audited.favourable if audited.task(name) == audited.task(row["task"])
    ]
    yield {
        "wanted": audited.task(row["task"] if wanted else audited.favourable[0]),
        "group": audited.group(row["group"]),
        "other": audited.group(most["group"]),
        "ratio": float(row["impact_ratio"]),
        "low": float(row["impact_ratio_low"]),
        "high": float(row["impact_ratio_high"]),
        "more": len(below) - 1,
        "given": audited.given,
    }
