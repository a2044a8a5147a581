"""What to know before the numbers of a report are used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import roc_auc_score

from skbiasamp._labels import quote, rows_of
from skbiasamp._page import listed, name_of
from skbiasamp.contingency import Contingency
from skbiasamp.inference import paired_p_values
from skbiasamp.inference._intervals import FEW
from skbiasamp.report._words import ALPHA
from skbiasamp.results import AuditReport, Finding

# A difference between base rate and predicted rate that is worth a word, in points.
_WORTH_SAYING = 0.01
# A difference between groups' error rates that is.
_GAP = 0.05
# Below this accuracy co-occurrence says more of a model's errors than of its bias.
_LOW_ACCURACY = 0.75


def find(
    report: AuditReport,
    test: Contingency,
    train: Contingency | None,
    *,
    scored: Contingency | None,
    n_given: int | None,
) -> list[Finding]:
    """Return what to know before the numbers of a report are used.

    `scored` are the audited rows with scores in place of predictions, where there are any.
    """
    found = [
        _constant(test if train is None else train) or _balanced(report),
        _never_labelled(test),
        _other_class(scored, test.pos_label) if scored is not None else None,
        _other_class(test, test.pos_label) if test.soft("task_pred") else None,
        _counted(test, n_given),
        _threshold(test),
        _errors(report),
        _error_rate_gap(report),
        _flagged(report, "reliable", "small cells", "rest on fewer than 10 rows"),
        _flagged(
            report,
            "sign_certain",
            "uncertain signs",
            "are so weakly correlated in the labels that which way counts as amplification could "
            "be a coin's",
        ),
        _undefined(report),
    ]
    if test.soft("task_pred"):
        found.append(
            Finding(
                "probabilities",
                "Predictions are probabilities. Directional amplification takes their mean in each "
                "group; accuracy and error rates count a probability of 0.5 or more as the label.",
            )
        )
    if test.summed is not None:
        found.append(_sums(test))
    if test.n_dropped:
        text = f"{test.n_dropped:,.15g} rows without a protected attribute were left out."
        found.append(Finding("missing values", text))
    if train is None:
        found.append(
            Finding(
                "training labels",
                "No training labels were given, so what counts as amplification is taken from the "
                "audited labels themselves. Pass y_train and sensitive_train to measure against "
                "what the model was trained on.",
            )
        )
    if test.has("group_pred"):
        found.append(
            Finding(
                "predicted attribute",
                "A protected attribute was predicted. That is questionable in itself, whatever "
                "the values of T->A: people are classified by how they look to a model.",
            )
        )
    if {"directional A->T", "directional T->A"} <= set(report):
        text = "Values of A->T and T->A answer different questions and cannot be compared."
        found.append(Finding("directions", text))
    if scored is not None:
        found.append(
            Finding(
                "risk prediction",
                "Where scores predict the future of people, a model without amplification repeats "
                "what the data did to them, and may be unfair all the same: look at the error "
                "rates of each group.",
            )
        )
    found.append(
        Finding(
            "labels as truth",
            "Labels are taken as the truth. Where there is none, or where labels carry the bias "
            "of those who gave them, 0 means no more than that the model repeats them.",
        )
    )
    return [one for one in found if one is not None]


def _sums(test: Contingency) -> Finding:
    held, instead = {
        "tasks": ("each task by itself", "count with Contingency.from_frame(..., joint=True)"),
        "scores": (
            "probabilities by their sums",
            "count with Contingency.from_frame(..., joint=True)",
        ),
        "weights": ("fractional weights by their sums", "read the columns into memory"),
    }[str(test.summed)]
    more = ", sets of labels, the interval of MALS" if test.summed == "tasks" else ""
    return Finding(
        "sums",
        f"The engine summed {held}, so what needs single rows was left out: leakage, DPA{more}. "
        f"For these, {instead}.",
    )


def _constant(signs: Contingency) -> Finding | None:
    """Say that the labels which give the signs are all the same."""
    counts = signs.count("task")
    if ((counts > 0) & (counts < signs.total)).any():
        return None
    return Finding(
        "constant labels",
        "The labels that tell what counts as amplification are the same in all rows, so no group "
        "leans to anything and there is nothing to amplify. Is it the right column?",
    )


def _never_labelled(test: Contingency) -> Finding | None:
    """Say which classes are predicted and never labelled: misspelt ones look like that."""
    if test.classes is None or not test.has("task_pred") or test.soft("task_pred"):
        return None
    labelled, predicted = test.count("task"), test.count("task_pred")
    strange = np.flatnonzero((labelled == 0) & (predicted > 0))
    if not len(strange):
        return None
    return Finding(
        "never labelled",
        f"The model predicts {quote([test.tasks[i] for i in strange])} for "
        f"{rows_of(predicted[strange].sum())}, and no audited row has that label. If it is a label "
        "in another spelling, the numbers here are wrong.",
    )


def _other_class(cells: Contingency, pos_label: Any) -> Finding | None:
    """Say that scores are larger for rows without the positive class than for rows with it."""
    truth, given = cells._sides["task"], cells._sides.get("task_pred")
    if pos_label is None or given is None or truth.codes is None:
        return None
    if given.matrix is not None:
        # One column is of the positive class; of more, one is.
        score = given.matrix[:, given.names.index(pos_label) if given.matrix.shape[1] > 1 else 0]
    elif all(type(name) in (int, float) for name in given.names):
        score = np.array(given.names, dtype=float)[given.codes]
    else:
        return None
    positive = np.array([name == pos_label for name in truth.names])[truth.codes]
    n, others = (cells.weight @ rows * cells.rows_per_weight for rows in (positive, ~positive))
    if min(n, others) == 0:
        return None
    auc = roc_auc_score(positive, score, sample_weight=cells.weight)
    spread = ((n + others + 1) / (12 * n * others)) ** 0.5  # of random scores
    if auc > 0.5 - stats.norm.isf(ALPHA / 2) * spread:
        return None
    other = truth.names[int(truth.codes[~positive][0])]
    shown = f"{auc:.2f}" if cells.summed is None else "clearly below 0.5"
    return Finding(
        "positive class",
        f"The scores should be larger for rows labelled {name_of(pos_label)}, the positive class, "
        f"and are larger for the others: their area under the ROC curve is {shown}. If they are "
        f"scores of {name_of(other)}, pass pos_label={other!r}.",
    )


def _counted(test: Contingency, n_given: int | None) -> Finding | None:
    """Say that weights were taken for counts, where there are many more than rows."""
    if n_given is None or not test.whole or test.total < 2 * n_given:
        return None
    return Finding(
        "weights",
        f"{n_given:,} rows came with weights that add up to {test.total:,.15g}. Whole numbers "
        "count as that many rows each. If they are not counts but sampling weights, intervals are "
        "far too narrow: divide them by their mean.",
    )


def _balanced(report: AuditReport) -> Finding | None:
    blind = [
        name
        for name, result in report.results.items()
        if result.metric == "directional" and (result.table["sign"] == 0).all()
    ]
    if not blind:
        return None
    told = [one for one in report if one.startswith(("leakage", "DPA"))]
    instead = f" Look at {listed(told)}, which can see there." if told else ""
    return Finding(
        "balanced data",
        "Group and task are exactly balanced in the labels, so directional amplification is 0 "
        f"whatever the model does ({listed(blind)}).{instead}",
    )


def _threshold(test: Contingency) -> Finding | None:
    """Say where the model predicts a task more or less often than it is there."""
    if not test.has("task_pred") or test.soft("task_pred"):
        return None
    base, predicted = test.count("task"), test.count("task_pred")
    both = test.both("task").count("task_pred")
    p_values = paired_p_values(np.rint(predicted - both), np.rint(base - both))
    gap = (predicted - base) / test.total
    off = np.flatnonzero((p_values < ALPHA) & (np.abs(gap) >= _WORTH_SAYING))
    if not len(off):
        return None
    first = off[np.argmax(np.abs(gap[off]))]
    binary = test.classes is None or len(test.classes) <= 2
    advice = ": compare at the base rate (BaseRateThresholdClassifier)" if binary else ""
    more = {1: "", 2: " (and 1 more task is off by 1 point or more)"}.get(
        len(off), f" (and {len(off) - 1} more tasks are off by 1 point or more)"
    )
    return Finding(
        "threshold",
        f"The model predicts {name_of(test.tasks[first])} for {predicted[first] / test.total:.1%} "
        f"of the rows, and {base[first] / test.total:.1%} have it{more}. A threshold away from the "
        "base rate moves all groups, and shows as amplification, also in DPA, which finds a class "
        f"that is said often easy to tell{advice}.",
    )


def _errors(report: AuditReport) -> Finding | None:
    if "accuracy" not in report.groups:
        return None
    seen = report.groups.dropna(subset="accuracy")  # a group may have no audited rows
    accuracy = float(np.average(seen["accuracy"], weights=seen["n"]))
    if accuracy >= _LOW_ACCURACY:
        return None
    return Finding(
        "errors",
        f"The model is right in {accuracy:.1%} of the cases. Co-occurrence does not tell its "
        "errors from its bias; leakage and DPA compare it with labels that have as many errors.",
    )


def _error_rate_gap(report: AuditReport) -> Finding | None:
    """Say where groups differ most in error rates, which amplification does not measure."""
    if "false_positive_rate" not in report.rates:
        return None
    size = dict(zip(report.groups["group"], report.groups["n"], strict=True))
    n = np.array([size[group] for group in report.rates["group"]])
    worst: tuple[float, str, Any] = (0.0, "", None)
    for kind, rows in (
        ("false_positive_rate", n * (1 - report.rates["base_rate"])),
        ("true_positive_rate", n * report.rates["base_rate"]),
    ):
        seen = report.rates[rows > FEW - 1e-9]
        if len(seen):
            by_task = seen.groupby("task", sort=False)[kind]
            gap = by_task.max() - by_task.min()
            if gap.max() > worst[0]:
                rates = seen[seen["task"] == gap.idxmax()].set_index("group")[kind]
                worst = float(gap.max()), kind, (gap.idxmax(), rates)
    largest, kind, found = worst
    if largest < _GAP:
        return None
    task, rates = found
    labelled = "not labelled" if kind == "false_positive_rate" else "labelled"
    return Finding(
        "error rates",
        f"Among rows {labelled} {name_of(task)}, the model predicts it for {rates.max():.1%} of "
        f"{name_of(rates.idxmax())} and {rates.min():.1%} of {name_of(rates.idxmin())}. "
        "Amplification asks only whether predictions repeat the labels; a gap in error rates is "
        "another harm.",
    )


def _flagged(report: AuditReport, flag: str, topic: str, what: str) -> Finding | None:
    worst: dict[str, list[str]] = {}
    for name, result in report.results.items():
        table = result.table
        if flag == "sign_certain" and flag in table:
            table = table[table["sign"] != 0]
        raised = [held is False for held in table.get(flag, ())]
        if any(raised):
            pairs = table[raised]
            worst[name] = [
                f"({name_of(group)}, {name_of(task)})"
                for group, task in zip(pairs["group"], pairs["task"], strict=True)
            ]
    if not worst:
        return None
    name, pairs_of = max(worst.items(), key=lambda one: len(one[1]))
    shown = ", ".join(pairs_of[:3]) + (
        f" and {len(pairs_of) - 3} more" if len(pairs_of) > 3 else ""
    )
    n = len(report[name].table)
    return Finding(topic, f"{len(pairs_of)} of {n} pairs of {name} {what}: {shown}.")


def _undefined(report: AuditReport) -> Finding | None:
    gone = {
        name: int(result.table["delta"].isna().sum()) for name, result in report.results.items()
    }
    gone = {name: n for name, n in gone.items() if n}
    if not gone:
        return None
    text = ", ".join(f"{n} of {len(report[name].table)} in {name}" for name, n in gone.items())
    return Finding("undefined pairs", f"Pairs without any rows to measure are left out: {text}.")
