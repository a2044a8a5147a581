"""What any result says: its verdict with value and interval, before what its metric adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import growth, level_of, number, points, task_of
from skbiasamp.results._content import interval_in_words
from skbiasamp.results._result import AuditResult
from skbiasamp.results.pair_tables import row_of

FEWEST_ROWS = 30  # of an attack


def conclusion(
    result: AuditResult,
    *,
    rates: bool = False,
    what: str = "the association",
    amount: str = "",
) -> str:
    """Return the verdict with value and interval, and what limits it.

    `rates`: the value is a mean change of rates, and is also said in percentage points, or how the
    difference between two groups changes. A metric of something else than associations says `what`
    is amplified, by which `amount`.
    """
    verdict = result.verdict
    text = f"{_verdict(result, rates=rates, what=what, amount=amount)}."
    if result.kind.has_attacker or verdict == words.NOT_MEASURED:
        return text
    if verdict == words.ADDS:
        return text + _added(result)
    gap = gap_of(result) if rates else ""
    return text + f" {gap}" * bool(gap)


def _verdict(result: AuditResult, *, rates: bool, what: str, amount: str) -> str:
    value, low, high = result.judged
    unit = f" {result.unit}" * bool(result.unit)
    shown = f"{number(value)}{unit}" + f", {amount}" * bool(amount)
    if rates and not gap_of(result):
        side = "along" if value >= 0 else "against"
        of = f" in the {reference_labels(result)}" * (reference_labels(result) != "labels")
        size = points(value)
        if size == points(0) and number(value) != number(0):
            size = f"less than {points(0.001)}"
        shown += f", on average {size} {side} the association{of}"
    verdict = result.verdict
    if verdict == words.NOT_MEASURED:
        if result.statistics.get("n_groups") == 1:
            return "Not measured: only one group has rows"
        if result._undefined:
            return "Not measured: no pair has both labels and predictions to compare"
        return f"Not measured: the value is {number(value)}, and {_why_no_interval(result)}"
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
    if verdict == words.ADDS:
        return f"The model {verdict}: the {reference_labels(result)} show no clear one"
    about = f"about {result.about}" if result.kind.has_attacker else what
    return f"The model {verdict} {about}: {shown} ({interval})"


def _why_no_interval(result: AuditResult) -> str:
    """Return why there is a value and no verdict."""
    if result.confidence_level is None:
        return "no interval was requested"
    if result.kind.has_attacker:
        return f"attackers need at least {FEWEST_ROWS} rows of similar weight"
    if not math.isnan(result.low):
        return "a size of changes has no direction"
    return "the data were summed in a way that gives no interval"


def _added(result: AuditResult) -> str:
    """Return which group gets more, by how many percentage points, with its interval."""
    table = result.table
    if "low_simultaneous" not in table or not result.percent:
        return ""
    pair = largest_change(table)
    if pair is None:
        return ""
    group, task = result.group_name(pair["group"]), f"'{task_of(pair['task'])}'"
    if _gap(result) is None:
        than = {"T->A": "it occurs there", None: "of the rows labelled so"}
        of = than.get(result.direction, "it is labelled so")
        return " " + more_for(pair, group, task, result, of)
    # The changes of two groups mirror each other.
    at = list(map(str, table["group"])).index(str(pair["group"]))
    other = result.group_name(table["group"].iloc[1 - at])
    times = (pair["change"] - table["change"].iloc[1 - at]) / pair["change"]
    text = (
        f"Compared with the {_compared_with(result)}, the group {group} is predicted {task} "
        f"{points(times * pair['change'])} more often than the group {other}"
    )
    return f" {text} ({_in_points(pair, result.confidence_level, times)})."


def largest_change(table: pd.DataFrame) -> dict[str, Any] | None:
    """Return the pair that changes most; of two that mirror each other, the one that gets more."""
    size = np.abs(np.asarray(table["change"], dtype=float))
    if np.isnan(size).all():
        return None
    more = np.asarray(table["change"], dtype=float) > 0
    return row_of(table, int(np.nanargmax(size + 1e-12 * more)))


def more_for(
    pair: Mapping[str, Any], group: str, task: str, result: Any, than: str, of: str = ""
) -> str:
    """Return by how much a group gets more, or less, than labels or another model give it."""
    change = pair["change"]
    size = f"{points(change)} {'more' if change > 0 else 'less'}"
    text = f"the group {group} is predicted {task} {size} often{of} than {than}"
    if result.direction == "T->A":
        text = (
            f"the group {group} is predicted {size} often{of} for rows labelled {task} than {than}"
        )
    elif result.direction is None:
        text = f"the group {group} makes up {size} of the rows predicted {task}{of} than {than}"
    text = f"Compared with all rows, {text} ({_in_points(pair, result.confidence_level)})."
    apart = pair.get("delta", pair.get("difference"))
    if points(apart) == points(change):  # it is the same for all rows together
        text = text.removeprefix("Compared with all rows, ")
    return text[0].upper() + text[1:]


def _in_points(pair: Mapping[str, Any], level: float | None, times: float = 1.0) -> str:
    """Return the interval of the size of a change, in percentage points."""
    scale = 100 * times * math.copysign(1, pair["change"])
    ends = sorted(scale * pair[f"{end}_simultaneous"] for end in ("low", "high"))
    low, high = (number(end, ".1f") for end in ends)
    return f"{level_of(level or 0.95)} interval {low} to {high}"


def _compared_with(result: AuditResult) -> str:
    """Return what predictions are compared with."""
    if not result.labelled:
        return "reference rows"
    base = result.params.get("base", "test")
    known = {"test": "labels", "train": "training labels"}
    return known.get(base, "given base rates") if isinstance(base, str) else "given base rates"


def published(result: AuditResult) -> str:
    """Return the published value and its interval, if it is another number than the value."""
    if not result.differs or math.isnan(result.published):
        return ""
    of = "metric's paper" if result.citation else "metric"
    text = f"The formula of the {of} gives {number(result.published)}"
    if not math.isnan(result.published_low):
        ends = " to ".join(map(number, (result.published_low, result.published_high)))
        text += f" ({level_of(result.confidence_level or 0.95)} interval {ends})"
    return f"{text}."


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
    """Return whether the value is the mean of the two changes that `gap_of` sums."""
    gap = _gap(result)
    return gap is not None and abs(2 * result.value - (abs(gap[1]) - abs(gap[0]))) <= 2e-3


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
