"""What any result says: its verdict with value and interval, before what its metric adds."""

from __future__ import annotations

import math

import numpy as np

from skbiasamp._utils.formatting import (
    AMPLIFIES,
    BALANCED,
    CANNOT,
    CANNOT_KNOW,
    NO_EFFECT,
    NOT_MEASURED,
    REDUCES,
    REVERSES,
    growth,
    level_of,
    points,
)
from skbiasamp.results._result import AuditResult


def conclusion(
    result: AuditResult,
    *,
    rates: bool = False,
    what: str = "the association",
    amount: str = "",
    cannot: str = "",
) -> str:
    """Return the verdict with value and interval, and what limits it.

    `rates`: the value is a mean change of rates, and is also said in percentage points, or how the
    difference between two groups changes. A metric of
    something else than associations says `what` is amplified, by which `amount`, and why nothing
    could be (`cannot`).
    """
    verdict = result.verdict
    text = f"{_verdict(result, rates=rates, what=what, amount=amount, cannot=cannot)}."
    if result.kind.has_attacker or verdict in (CANNOT, CANNOT_KNOW, NOT_MEASURED):
        return text
    gap = gap_of(result) if rates else ""
    text += (f" {gap}" if gap else "") + _shift(result) + _small_pairs(result) + _published(result)
    if verdict == NO_EFFECT and rates and 0 < (effect := result.smallest_effect()) < 1:
        size = (
            f"A change of this by {points(2 * effect)}" if gap else f"An effect of {points(effect)}"
        )
        text += f" {size} would be found with a probability of 80 %."
    if not result.kind.is_signed:
        return text
    by_rows = result.statistics.get("row_weighted", math.nan)
    # Within its interval's error a sign says nothing, and neither does another one.
    if verdict != NO_EFFECT and by_rows * result.estimate < 0:
        text += (
            f" Weighted by rows the value is {by_rows:+.4f}: the mean counts every pair equally, "
            "so small groups decide its sign."
        )
    return text


def _verdict(result: AuditResult, *, rates: bool, what: str, amount: str, cannot: str) -> str:
    value, low, high = result.judged
    mean = result.kind.mean
    unit = f" {result.unit}" * bool(result.unit)
    shown = f"{mean}{value:+.4f}{unit}" + f", {amount}" * bool(amount)
    if rates and not gap_of(result):
        side = "along" if value >= 0 else "against"
        of = f" in the {reference_labels(result)}" * (reference_labels(result) != "labels")
        shown += f", on average {points(value)} {side} the association{of}"
    verdict = result.verdict
    if verdict == CANNOT:
        return (
            f"{BALANCED.capitalize()}: no group is associated with a task in the "
            f"{reference_labels(result)}, so there is nothing to amplify. Leakage and DPA also "
            "measure balanced labels, and MatchedPairsAuditor rows that come in matched pairs"
            if not cannot
            else f"{CANNOT.capitalize()}: {cannot}, so there is nothing to amplify"
        )
    if verdict == NOT_MEASURED:
        if result._undefined:
            return "Not measured: no pair has both labels and predictions to compare"
        reason = "no interval was requested"
        if result.confidence_level is not None:
            reason = "the data were summed in a way that gives no interval"
        return f"Not measured: the {mean or 'value '}is {value:+.4f}, and {reason}"
    if verdict == CANNOT_KNOW:
        least, most = (result.statistics[f"bound_{end}"] for end in ("low", "high"))
        return (
            f"Cannot be known: {shown} {result.statistics['assuming']}. In truth it may be any "
            f"value from {least:+.4f} to {most:+.4f}, a width of {most - least:.4f}"
        )
    interval = f"{level_of(result.confidence_level or 0.95)} confidence interval"
    ends = f"{low:+.4f} to {high:+.4f}"
    if verdict == NO_EFFECT:
        if low == high == 0:
            return "No clear effect: the value is exactly 0"
        if low > 0:
            return (
                f"No clear effect: {value:+.4f} ({interval} {ends}), but the attacker on the "
                "predictions is not clearly better than a guess that ignores its input"
            )
        return f"No clear effect: {shown} (the {interval} {ends} includes 0)"
    about = what if verdict in (AMPLIFIES, REDUCES, REVERSES) else f"about {result.about}"
    return f"The model {verdict} {about}: {shown} ({interval} {ends})"


def _shift(result: AuditResult) -> str:
    """Return what the model predicts more often for everybody, if that is part of the value."""
    shift = result.statistics.get("shift", 0.0)
    if not result.kind.is_signed or not abs(shift) >= 5e-5:
        return ""
    what = "groups" if result.direction == "T->A" else "tasks"
    often = "are predicted more or less often than labelled"
    if not result.labelled:
        often = "are more or less frequent than in the reference"
    return (
        f" Over all rows, {what} {often}. This shift adds "
        f"{shift:+.4f} to the published value and is no amplification."
    )


def _small_pairs(result: AuditResult) -> str:
    """Return how many pairs have too few rows to count, if any have."""
    n = result.statistics.get("n_small_pairs", 0)
    if not n > 0:
        return ""
    have, are = ("pair has", "is") if n == 1 else ("pairs have", "are")
    return f" {n:.0f} {have} fewer than 30 rows and {are} left out of the estimate."


def _published(result: AuditResult) -> str:
    """Return the published value, if it is another number than the estimate."""
    if not result.differs or math.isnan(result.value):
        return ""
    return f" The published value of the metric, with all of its parts, is {result.value:+.4f}."


def gap_of(result: AuditResult) -> str:
    """Say how the difference between two groups changes; nothing if there are more pairs."""
    tasks = result.table["task"]
    if result.direction != "A->T" or len(tasks) != 2 or tasks.iloc[0] != tasks.iloc[1]:
        return ""
    rates = np.array([result._column(name, math.nan) for name in ("base", "observed")])
    # Of the rates as they are shown, so that a reader can check it.
    before, after = (float(first - other) for first, other in rates.round(3))
    if math.isnan(before + after):
        return ""
    # Signs from training may be another's than those of the audited labels.
    of_rows = (
        reference_labels(result) == "training labels" and str(result.params.get("base")) == "test"
    )
    apart = "From the reference rows to these, the" * (not result.labelled)
    start = "In the audited rows, the" if of_rows else apart or "The"
    text = f"{start} difference between the groups "
    text += growth(before, after)
    _, low, high = result.judged
    if math.isnan(low) or abs(2 * result.estimate - (abs(after) - abs(before))) > 2e-3:
        return f"{text}."
    # The estimate is the mean of the two changes.
    ends = " to ".join(f"{200 * end:+.1f}" for end in (low, high))
    return f"{text} ({level_of(result.confidence_level or 0.95)} interval of this change: {ends})."


def reference_labels(result: AuditResult) -> str:
    """Return which labels give the signs."""
    if not result.labelled:
        return "reference rows"
    return "training labels" if result.params.get("reference") == "train" else "labels"
