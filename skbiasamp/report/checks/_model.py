"""Checks of the model: its errors, its threshold, and what it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._input.errors import Said
from skbiasamp._utils.formatting import amount, listed, number, points, rate, task_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference import paired_p_values
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.report.checks import ALPHA, Audited, Findings, check
from skbiasamp.results import FOUR_FIFTHS
from skbiasamp.results.thresholds import at_base_rate, moved_by_thresholds

# The least difference between base rate and predicted rate that is reported.
_WORTH_SAYING = 0.01
# The least difference between the error rates of groups that is.
_GAP = 0.05


@check("identical predictions", rank=45, place="next")
def identical_predictions(audited: Audited) -> Findings:
    """Labels and predictions are identical in every row, as if one column was read for both."""
    shown = {"task": "labels and predictions", "group": "the sensitive feature and its predictions"}
    same = [text for side, text in shown.items() if _identical(audited.test, side, f"{side}_pred")]
    if same:
        yield (
            f"In every row {listed(same)} are identical, so there is nothing that the model "
            "could have amplified.",
            "Check that the predictions are those of the model, and not the labels once more.",
        )


def _identical(test: Contingency, side: Any, predicted: Any) -> bool:
    if not (test.has(side) and test.has(predicted)) or test.soft(predicted):
        return False
    both = test.both(side).count(predicted)
    return all(np.array_equal(both, test.count(name)) for name in (side, predicted))


@check("worse than chance", rank=70, place="next")
def worse_than_chance(audited: Audited) -> Findings:
    """Perturbed labels were pure noise, since the model is worse than a guess."""
    capped = audited.names(lambda result: result.statistics.get("flip_rate_capped"))
    if capped:
        yield (
            "The model is less accurate than a random guess, so the perturbed labels of "
            f"{listed(capped)} were pure noise.",
            "Check that labels and predictions belong to the same rows before you use these "
            "values.",
        )


@check("threshold", rank=80, place="next")
def threshold(audited: Audited) -> Findings:
    """Tasks are predicted more or less often than they are labelled."""
    test = audited.test
    if not (test.has("task") and test.has("task_pred")) or test.soft("task_pred"):
        return
    base, predicted = test.count("task"), test.count("task_pred")
    both = test.both("task").count("task_pred")
    p_values = paired_p_values(np.rint(predicted - both), np.rint(base - both))
    gap = (predicted - base) / test.total
    off = np.flatnonzero((p_values < ALPHA) & (np.abs(gap) >= _WORTH_SAYING))
    if not len(off):
        return
    first = off[np.argmax(np.abs(gap[off]))]
    n_more = len(off) - 1
    tasks = f"task{'s' * (n_more > 1)} differ{'s' * (n_more == 1)}"
    more = f" {n_more} more {tasks} by 1 percentage point or more." if n_more else ""
    yield (
        f"The model predicts '{task_of(test.tasks[first])}' for "
        f"{rate(predicted[first] / test.total)} of the rows, and "
        f"{rate(base[first] / test.total)} are labelled so.{more} The decision "
        "threshold changes the rates of all groups, and may explain a part of the change.",
        _at_base_rate(audited),
    )


def _at_base_rate(audited: Audited) -> Said | str:
    """Return what a threshold at the base rate would change, as far as it is known."""
    nearest, binary = at_base_rate(audited.report.curve), len(audited.test.tasks) == 1
    again = (
        "A threshold moves the other metrics too, and can worsen them: audit again before you "
        "change it."
    )
    if nearest is not None:
        return (
            f"If scores above {amount(nearest['threshold'])} count, the model predicts it for "
            f"{rate(nearest['predicted_rate'])} of rows, and directional A->T is "
            f"{number(nearest['value'])} ({number(nearest['low'])} to "
            f"{number(nearest['high'])} at this threshold alone)"
            f"{_than_now(audited, nearest['value'])}. {again}"
        )
    if binary:
        return Said(
            "Audit again with the scores of the predicted labels as {y_score}: the report then has "
            "the value at other thresholds."
        )
    return f"Compare the model with one that predicts each task as often as it is labelled. {again}"


def _than_now(audited: Audited, value: float) -> str:
    """Return whether a threshold brings the amplification closer to 0."""
    result = moved_by_thresholds(audited.report)
    if result is None or np.isnan(result.value):
        return ""
    closer = "closer" if abs(value) < abs(result.value) else "not closer"
    return f", {closer} to 0 than {number(result.value)} now"


@check("error rates", rank=65, place="next")
def error_rates(audited: Audited) -> Findings:
    """The largest gap of error rates between groups, which amplification does not measure."""
    report = audited.report
    if "false_positive_rate" not in report.rates:
        return
    differences = report.rates[[f"{kind}_difference" for kind in _LABELLED]]
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
    most, least = (audited.group(side["group"]) for side in (row, base))
    known = differences.loc[[row.name, base.name]].notna().all()
    kinds = [kind for kind in _LABELLED if known[f"{kind}_difference"]]
    if audited.is_favourable(row["task"]):
        kinds.reverse()  # who misses what people want is harmed
    task = f"'{task_of(row['task'])}'"
    texts: list[str] = []
    for kind in kinds:
        labelled, verb, name = _LABELLED[kind]
        first, other = (_wrong(side, kind) for side in (row, base))
        named, subject, who = "so", "it", f"{first} and {other}"
        if not texts:
            who = f"{first} of the group {most} and {other} of the group {least}"
            named, subject = task, "the model"
        texts.append(
            f"Among rows {labelled} {named}, {subject} {verb} it for {who} "
            f"({name}{_difference(row, base, kind)})."
        )
    yield (
        f"{' '.join(texts)} Amplification does not measure these error rates.",
        f"Decide which of the two errors does more harm, to predict {task} wrongly or to miss it, "
        "and whether its difference between the groups is acceptable.",
    )


# Rows in which each error occurs, what the model does there, and the name of its rate.
_LABELLED = {
    "false_positive_rate": ("not labelled", "wrongly predicts", "false positive rate"),
    "true_positive_rate": ("labelled", "misses", "false negative rate"),
}


def _wrong(rates: Any, kind: str) -> str:
    """Return the rate of an error."""
    shown = round(rates[kind], 3)
    return rate(1 - shown if kind == "true_positive_rate" else shown)


def _difference(row: Any, base: Any, kind: str) -> str:
    """Return the difference of two rates, and its interval if one of them is the lowest."""
    # The difference of the rates that are shown, so that a reader can check it.
    shown = abs(round(row[kind], 3) - round(base[kind], 3))
    high, low = sorted((row, base), key=lambda side: -side[f"{kind}_difference"])
    text = f"; difference {points(shown)}"
    if low[f"{kind}_difference"] > 0 or shown == 0:
        return text
    ends = (high[f"{kind}_difference_{end}"] for end in ("low", "high"))
    return f"{text}, 95 % interval {' to '.join(number(100 * end, '.1f') for end in ends)}"


@check("probabilities", rank=23, place="next")
def predicted_probabilities(audited: Audited) -> Findings:
    """Predictions are probabilities."""
    if audited.test.soft("task_pred") and not audited.are_attacks:
        yield (
            "The predictions are probabilities, and the verdict compares their means by group. "
            "Accuracy, error rates and selection rates count 0.5 or more as the label.",
            Said("To audit decisions, pass predicted labels, or {threshold=0.5}."),
        )


@check("predicted attribute", rank=170)
def predicted_attribute(audited: Audited) -> Findings:
    """A sensitive feature was predicted."""
    if audited.test.has("group_pred"):
        yield (
            "A sensitive feature was predicted. This is questionable in itself, whatever the "
            "values of T→A are.",
            "Check whether the model has to predict it.",
        )


@check("risk prediction", rank=190)
def risk_prediction(audited: Audited) -> Findings:
    """Scores were given, which may predict the future of people."""
    if audited.scored is not None:
        yield (
            "If the scores predict the future of people, a model without amplification still "
            "repeats the bias of the data.",
            "Check the error rates of each group.",
        )


@check("impact ratio", rank=66, place="next")
def impact_ratio(audited: Audited) -> Findings:
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
    group, other = (audited.group(side["group"]) for side in (row, most))
    wanted = [f"'{task_of(name)}'" for name in audited.favourable]
    others = len(below) - 1
    who = "group is" if others == 1 else "groups are"
    more = f" {others} more {who} clearly below it." * (others > 0)
    before = ""
    if len(context["tasks"]) == 1 and "base_rate" in rates:
        favours = audited.is_favourable(row["task"])
        labelled, of_most = (
            side["base_rate"] if favours else 1 - side["base_rate"] for side in (row, most)
        )
        before = f" ({labelled / of_most:.2f} in the labels)" if of_most > 0 else ""
    yield (
        f"What people want ({listed(wanted)}) is predicted for the group {group} "
        f"{row['impact_ratio']:.2f} times as often ({row['impact_ratio_low']:.2f} to "
        f"{row['impact_ratio_high']:.2f}) as for the group {other}{before}. This is below the "
        f"four fifths of US employment guidelines, which may not apply here.{more}",
        Said(
            "Find out whether a legitimate reason explains the difference (pass its column "
            "as the option {given}, to compare like with like), and which law applies."
        ),
    )
