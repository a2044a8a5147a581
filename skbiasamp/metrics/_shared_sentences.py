"""Sentences that metrics share: which pair changes most, and how well attackers guess."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._utils.formatting import (
    CANNOT,
    DIRECTION_OF,
    in_people,
    number,
    rate,
    task_of,
)
from skbiasamp.results import AuditResult, by_guessing, gap_of, reference_labels
from skbiasamp.results.pair_tables import beside_all


def most_affected(result: AuditResult, *, base: str) -> str:
    """Return which pair of group and task changes most, and how; nothing if none can.

    `base` says where the rate to compare with is from: "test", "train", or else the user.
    """
    pair, own = result.most_changed or (None, 0.0)
    if result.verdict == CANNOT or np.isnan(result._column("delta", np.nan)).all():
        return ""
    if pair is None:
        return " No pair of group and task changes."
    group, task = result.group_name(pair["group"]), f"'{task_of(pair['task'])}'"
    tested = not all(np.isnan(result._column(name, np.nan)).all() for name in ("p_adjusted", "low"))
    if tested and not pair["significant"]:
        return " No single pair changes significantly."
    observed, before = rate(pair["observed"]), rate(pair["base"])
    if not result.labelled:
        what = f"of the group {group} are {task} in these rows"
        if result.direction != "A->T":
            what = f"of those with {task} in these rows are of the group {group}"
        text, of = f"{observed} {what}, and {before} ", {"train": "in the reference rows"}
    elif result.direction == "A->T":
        text = f"the group {group} is predicted {task} for {observed} of its rows, and {before} "
        of = {"test": "are labelled so", "train": "are labelled so in training"}
    elif result.direction == "T->A":
        text = f"of the rows labelled {task}, {observed} are predicted to be in the group {group}, "
        text += f"and {before} "
        of = {"test": "are in it", "train": "are in it in the training labels"}
    else:
        text = f"the group {group} makes up {observed} of the rows predicted {task}, and {before} "
        of = {"test": "of the rows labelled so", "train": "of the training rows labelled so"}
    along = pair["sign"] * pair["delta"]
    effect = f"; this {'widens' if along > 0 else 'narrows'} the difference"
    if along == 0:
        effect = f"; the {reference_labels(result)} have no association here"
    same = result.table["delta"] == pair["delta"]
    if "sign_certain" in result.table and not result.table["sign_certain"][same].all():
        effect = "; whether this widens the difference is uncertain"
    people = beside = ""
    if own != pair["delta"]:
        beside = f"; {number(100 * own, '+.1f')} percentage points compared with all rows"
    if result.direction == "A->T":
        people = f" ({in_people(pair['delta'])} of this group{beside})"
    # What all groups share is a part of the pair's change, and widens or narrows nothing.
    if gap_of(result) or (people and abs(result.statistics.get("shift", 0.0)) >= 5e-5):
        effect = ""
    known = of.get(base, "is the given base rate")
    return f" {_largest(result, own, pair)}: {text}{known}{effect}{people}."


def _largest(result: AuditResult, own: float, pair: dict[str, Any]) -> str:
    """Return of which changes the reported one is the largest, if not of all."""
    every = np.abs(beside_all(result)[result._column("sign", np.nan) != 0])
    beside = " compared with all rows" * bool(own != pair["delta"])
    if abs(own) >= np.fmax.reduce(every, initial=np.nan):
        return f"Largest change{beside}"
    same = " in this direction" * (DIRECTION_OF.get(result.verdict, 0) != 0)
    if beside and pair["significant"]:  # tested is the whole change, with what all rows share
        return f"Largest change{same}{beside}, among pairs that change significantly"
    return f"Largest{' significant' * pair['significant']} change{same}{beside}"


# Names of sides in sentences.
_SIDES = {
    "group": "group",
    "task": "label",
    "group_pred": "predicted group",
    "task_pred": "prediction",
}


def how_well_guessed(result: AuditResult, auditor: Any, attack: tuple[str, str]) -> str:
    """Return how well the attackers of an auditor guess from labels and from predictions.

    `attack` is the input and the target of the attack on predictions.
    """
    known, target = (_SIDES[side] for side in attack)
    intro, source = f"Knowing the {known}", "for"
    if attack[1] == "task_pred":
        intro = "The group is revealed if it can be used to guess the prediction. Knowing it"
    if attack[0].endswith("_pred"):
        inputs = "scores" if result.statistics.get("input") == "scores" else f"{known}s"
        intro, source = f"From the {inputs}", "from"
    quality: Any = auditor.quality
    if quality == "accuracy":
        rows = "rows (all groups weighted equally)" if auditor.balanced else "rows"
        form, how = rate, f"correctly for {{}} of {rows}"
    elif quality == "balanced_accuracy":
        form, how = rate, "with a balanced accuracy of {}"
    else:
        name = getattr(quality, "__name__", str(quality)).replace("_", " ")
        form, how = "{:.4g}".format, f"with a quality ({name}) of {{}}"
    # The labels are those in place of which the model has predictions.
    labels = "groups" if "group_pred" in attack else "labels"
    other = f"equally accurate random {labels}"
    if auditor.equalize is None:
        other = f"the true {labels}"
    on_labels, on_model = (form(float(result.table[name].mean())) for name in auditor.columns)
    others = filter(None, (f"{on_labels} {source} {other}", by_guessing(result, form)))
    text = (
        f"{intro}, an attacker guesses the {target} {how.format(on_model)}, compared with "
        f"{' and '.join(others)}."
    )
    best = result.statistics.get("in_sample_model")
    return text if best is None else f"{text} No attacker exceeds {form(best)} on these rows."
