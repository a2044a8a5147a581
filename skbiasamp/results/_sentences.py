"""What any result says: its verdict with value and interval, before what its metric adds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import growth, level_of, listed, number, points
from skbiasamp.inference.independent_signs import FEWEST_ROWS
from skbiasamp.results._content import interval_in_words
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
    if result.kind.has_attacker or verdict in (words.CANNOT, words.NOT_MEASURED):
        return text
    gap = gap_of(result) if rates else ""
    text += f" {gap}" * bool(gap)
    if verdict == words.NO_EFFECT and rates and 0 < (effect := result.smallest_effect()) < 1:
        size = (
            f"a change of this difference by {points(2 * effect)}"
            if gap
            else f"an effect of {points(effect)}"
        )
        text += f" If there were {size}, 80 % of audits of this size would find it."
    if not result.kind.is_signed:
        return text
    by_rows, (_, low, high) = result.statistics.get("row_weighted", math.nan), result.judged
    if by_rows < low or by_rows > high:
        text += (
            f" If every pair counts by its rows, the estimate is {number(by_rows)}, outside this "
            "interval: pairs with many rows change otherwise than those with few."
        )
    return text


def _verdict(result: AuditResult, *, rates: bool, what: str, amount: str, cannot: str) -> str:
    value, low, high = result.judged
    mean = result.kind.mean
    unit = f" {result.unit}" * bool(result.unit)
    shown = f"{mean}{number(value)}{unit}" + f", {amount}" * bool(amount)
    if rates and not gap_of(result):
        side = "along" if value >= 0 else "against"
        of = f" in the {reference_labels(result)}" * (reference_labels(result) != "labels")
        size = points(value)
        if size == points(0) and number(value) != number(0):
            size = f"less than {points(0.001)}"
        shown += f", on average {size} {side} the association{of}"
    verdict = result.verdict
    if verdict == words.CANNOT:
        return (
            f"{words.BALANCED.capitalize()}: no group is associated with a task in the "
            f"{reference_labels(result)}, so there is nothing to amplify. Leakage and DPA also "
            "measure balanced labels, and MatchedPairsAuditor rows that come in matched pairs"
            if not cannot
            else f"{words.CANNOT.capitalize()}: {cannot}, so there is nothing to amplify"
        )
    if verdict == words.NOT_MEASURED:
        if result._undefined:
            return "Not measured: no pair has both labels and predictions to compare"
        reason = "no interval was requested"
        if result.confidence_level is not None:
            reason = "the data were summed in a way that gives no interval"
            if result.kind.has_attacker:
                reason = f"attackers need at least {FEWEST_ROWS} rows of similar weight"
            if "sign_used" in result.table and abs(result.estimate) < 1e-12:
                reason = (
                    f"the {reference_labels(result)} and the predictions do not agree on which "
                    "groups are associated with a task"
                )
                labelled = result.table[result.table["base"].notna()]
                if labelled["group"].nunique() == 1:
                    reason = "only one group has labels to compare with"
            if result.statistics.get("n_groups") == 1:
                reason = "only one group has rows"
        return f"Not measured: the {mean or 'value '}is {number(value)}, and {reason}"
    interval = interval_in_words(result.confidence_level, low, high)
    if verdict == words.NO_EFFECT:
        if low == high == 0:
            return f"{words.NO_EFFECT.capitalize()}: the value is exactly 0"
        if low > 0:
            return (
                f"{words.NO_EFFECT.capitalize()}: {number(value)} ({interval}), but the attacker "
                "on the predictions is not clearly better than a guess that ignores its input"
            )
        return f"{words.NO_EFFECT.capitalize()}: {shown} (the {interval} includes 0)"
    about = f"about {result.about}" if result.kind.has_attacker else what
    return f"The model {verdict} {about}: {shown} ({interval})"


# What the published value holds beside the estimate.
_PARTS = {
    "shift": "for what is predicted more or less often over all rows (shift)",
    "selection": "for signs that were fitted to the same labels",
    "small_pairs": "for pairs with fewer than 30 rows",
}
_UNLABELLED_SHIFT = "for what is more or less frequent over all rows than in the reference"


def published(result: AuditResult) -> str:
    """Return the published value and its parts, if it is another number than the estimate."""
    if not result.differs or math.isnan(result.value):
        return ""
    of = "metric's paper" if result.citation else "metric"
    text = f"The formula of the {of} gives {number(result.value)}"
    known = {name: result.statistics.get(name) for name in _PARTS}
    parts = {name: part for name, part in known.items() if isinstance(part, float)}
    rest = result.value - result.estimate - sum(parts.values())
    # A group without another one to compare it with has an estimate of 0, and no parts.
    alone = result.verdict == words.NOT_MEASURED and result.confidence_level is not None
    if not result.kind.is_signed or abs(rest) > 1e-9 or alone:
        return f"{text}."
    says = _PARTS if result.labelled else _PARTS | {"shift": _UNLABELLED_SHIFT}
    named = [f"{number(part)} {says[name]}" for name, part in parts.items() if abs(part) >= 5e-5]
    return (
        f"{text}: {listed([f'the estimate of {number(result.estimate)}', *named])}. The verdict is "
        "about the estimate."
    )


def _gap(result: AuditResult) -> tuple[float, float] | None:
    """Return the difference between two groups before and after; None if there are more pairs."""
    tasks = result.table["task"]
    if result.direction != "A->T" or len(tasks) != 2 or tasks.iloc[0] != tasks.iloc[1]:
        return None
    rates = np.array([result._column(name, math.nan) for name in ("base", "observed")])
    # The difference of the rates that are shown, so that a reader can check it.
    before, after = (float(first - other) for first, other in rates.round(3))
    return None if math.isnan(before + after) else (before, after)


def is_half_of_gap(result: AuditResult) -> bool:
    """Return whether the estimate is the mean of the two changes that `gap_of` sums."""
    gap = _gap(result)
    return gap is not None and abs(2 * result.estimate - (abs(gap[1]) - abs(gap[0]))) <= 2e-3


def gap_of(result: AuditResult) -> str:
    """Say how the difference between two groups changes; nothing if there are more pairs."""
    gap = _gap(result)
    if gap is None:
        return ""
    # Signs from training may be another's than those of the audited labels.
    of_rows = (
        reference_labels(result) == "training labels" and str(result.params.get("base")) == "test"
    )
    apart = "From the reference rows to these, the" * (not result.labelled)
    start = "In the audited rows, the" if of_rows else apart or "The"
    text = f"{start} difference between the groups {growth(*gap)}"
    _, low, high = result.judged
    if math.isnan(low) or not is_half_of_gap(result):
        return f"{text}."
    ends = " to ".join(number(200 * end, "+.1f") for end in (low, high))
    return f"{text} ({level_of(result.confidence_level or 0.95)} interval of this change: {ends})."


def reference_labels(result: AuditResult) -> str:
    """Return which labels give the signs."""
    if not result.labelled:
        return "reference rows"
    return "training labels" if result.params.get("reference") == "train" else "labels"


def by_guessing(result: AuditResult, form: Callable[[float], str]) -> str:
    """Return what guesses that ignore their input reach, if that is a share of rows."""
    chances = [result.statistics.get(f"chance_{side}", math.nan) for side in ("data", "model")]
    if not result.percent or any(map(math.isnan, chances)):
        return ""
    labels, predictions = map(form, chances)
    if labels == predictions:
        return f"{labels} by guessing"
    return f"{labels} (labels) and {predictions} (predictions) by guessing"
