"""What a result says, in plain words."""

from __future__ import annotations

import numpy as np

from skbiasamp._page import name_of, verdict
from skbiasamp.results import AuditResult

ALPHA = 0.05


def points(difference: float) -> str:
    """Return the size of a difference of rates: '4.1 points'."""
    size = f"{abs(difference) * 100:.1f}"
    return f"{size} point{'s' * (size != '1.0')}"


def _higher(difference: float) -> str:
    return "higher" if difference > 0 else "lower"


def say(result: AuditResult, *, seen: str = "predictions") -> str:
    """Return what a result says, in plain words; `seen` is what an attacker of leakage sees."""
    if np.isnan(result.value):
        return _say_nothing(result)
    if result.metric in ("leakage", "DPA"):
        return f"{_say_told(result, seen)} {_say_side(result)}"
    if result.metric == "multi-attribute":
        return _say_sets(result)
    deltas = result.table["delta"].dropna()
    if deltas.empty:
        return _say_nothing(result)
    if (deltas == 0).all():
        text = "Predictions move no pair of group and task: the value is 0 in these rows"
        if result.low < result.high:
            text += f"; in others like them it may be from {result.low:+.4f} to {result.high:+.4f}"
        return f"{text}."
    return f"{_say_strongest(result)} {_say_side(result)}"


def _say_nothing(result: AuditResult) -> str:
    if result.metric == "multi-attribute":
        least = f"{result.params.get('min_count', 1):.15g}"
        return (
            f"Nothing could be measured: no set of labels occurs {least} times or more in both the "
            "training labels and the audited ones."
        )
    return "Nothing could be measured: no pair has both labels and predictions to compare."


def _say_side(result: AuditResult) -> str:
    """Say on which side of 0 the interval lies."""
    told = result.metric in ("leakage", "DPA")
    side = verdict(result.value, result.low, result.high)
    if side == "unknown" and result.confidence_level is not None:
        return f"The value is {result.value:+.4f}; which interval it has cannot be told from sums."
    if side == "unknown":
        return f"The value is {result.value:+.4f}; no interval was asked for."
    if side in ("above", "below"):
        what = {
            "above": ("amplifies", "adds to what can be told"),
            "below": ("weakens what the labels lean to", "takes from what can be told"),
        }[side][told]
        barely = f", though barely (p = {result.p_value:.2g})" * (result.p_value >= ALPHA)
        return f"On the whole the model {what}: the interval lies {side} 0{barely}."
    if side == "zero":
        if not told and (result.table["sign"] == 0).all():
            return "The labels lean to no group, so there is nothing to amplify: the value is 0."
        return "The value is exactly 0."
    if not told and result.p_value < ALPHA:
        return (
            f"Predictions do differ from labels (p = {result.p_value:.2g}), but which way on the "
            "whole may be chance: the interval holds 0."
        )
    return "On the whole this may be chance: the interval holds 0."


def _say_strongest(result: AuditResult) -> str:
    table = result.table.dropna(subset=["delta"])
    sure = table[table["p_adjusted"] < ALPHA]
    doubt = ""
    if sure.empty and table["p_adjusted"].notna().any():
        pairs = f", p-values adjusted for {len(table):,} pairs" if len(table) > 1 else ""
        doubt = f"No single pair can be told from unchanged{pairs}; the largest: "
    likely = table if sure.empty else sure
    # A pair that goes the way of the whole, if there is one.
    side = {"above": 1, "below": -1}.get(verdict(result.value, result.low, result.high), 0)
    along = likely[np.sign(likely["sign"] * likely["delta"]) == side]
    likely = likely if along.empty else along
    pair = likely.iloc[int(likely["delta"].abs().to_numpy().argmax())]
    delta, task, group = pair["delta"], name_of(pair["task"]), name_of(pair["group"])
    if result.metric == "MALS":
        text = (
            f"among rows predicted {task}, the share of {group} is {_higher(delta)} than among "
            f"those so labelled, by {points(delta)}"
        )
    elif result.direction == "T->A":
        text = (
            f"among rows labelled {task}, the share that the model calls {group} is "
            f"{_higher(delta)} than the share that are, by {points(delta)}"
        )
    else:
        text = (
            f"predictions give {group} the label {task} {'more' if delta > 0 else 'less'} often "
            f"than the labels do, by {points(delta)}"
        )
    if result.metric != "MALS":
        # Towards more of the label or less of it: which of the two the labels lean to.
        labels = "the training labels" if _trained(result) else "the labels"
        if pair["sign"] == 0:
            text += f"; {labels} leaned neither way"
        elif pair["sign"] * delta > 0:
            text += f"; {labels} already leaned that way"
        else:
            text += f"; {labels} leaned the other way"
    text = doubt + text if doubt else text[0].upper() + text[1:]
    return text + "."


def _trained(result: AuditResult) -> bool:
    return result.params.get("reference") == "train"


def _say_sets(result: AuditResult) -> str:
    signed = result.statistics.get("signed_mean")
    text = (
        f"Predictions change how often sets of labels and groups come together by "
        f"{points(result.value)} on average; that is a size, and says nothing of the way."
    )
    if signed is None or np.isnan(signed):
        return text
    way = "along" if signed > 0 else "against"
    return f"{text} With signs it is {points(signed)} {way} what the labels lean to."


def _say_told(result: AuditResult, seen: str) -> str:
    data, model = result.table["quality_data"].mean(), result.table["quality_model"].mean()
    alike = " with as many errors" if result.params.get("equalize") is not None else ""
    if result.metric == "leakage":
        who, what = f"Who sees the {seen}", "the protected attribute"
        other = f"who sees {'labels' + alike if alike else 'the labels'}"
    elif result.direction == "A->T":
        who, what = "Who knows the protected attribute", "the prediction"
        other = f"labels{alike}" if alike else "the label"
    else:
        who, what = "Who knows the label", "the predicted attribute"
        other = f"an attribute{alike}" if alike else "the attribute itself"
    if result.params.get("quality") == "accuracy":
        # Balanced, every group counts the same: chance is one in as many as there are groups.
        cases = "cases, all groups counting the same" if _weighs_groups(result) else "rows"
        return f"{who} tells {what} in {model:.1%} of the {cases}; {other}, in {data:.1%}."
    return f"{who} tells {what} with a quality of {model:.4g}; {other}, with {data:.4g}."


def _weighs_groups(result: AuditResult) -> bool:
    return result.metric == "leakage" and bool(result.params.get("balanced"))
