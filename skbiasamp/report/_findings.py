"""What to know before the numbers of a report are used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import roc_auc_score

from skbiasamp._cells import side_of, sides_of
from skbiasamp._labels import codes_of, quote, rows_of
from skbiasamp._words import CANNOT, DIRECTION_OF, group_of, listed, rate, task_of
from skbiasamp.contingency import Contingency
from skbiasamp.inference import paired_p_values
from skbiasamp.inference._intervals import FEW
from skbiasamp.results import AuditReport, Finding

ALPHA = 0.05
# The least difference between base rate and predicted rate that is reported.
_WORTH_SAYING = 0.01
# The least difference between the error rates of groups that is.
_GAP = 0.05
# Below this accuracy, errors alone change co-occurrence metrics much.
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
    threshold = _threshold(test)
    found = [
        _disagreement(report, threshold),
        _constant(test if train is None else train) or _balanced(report),
        _never_labelled(test),
        _other_class(scored, test.pos_label) if scored is not None else None,
        _other_class(test, test.pos_label) if test.soft("task_pred") else None,
        _counted(test, n_given),
        threshold,
        _worse_than_chance(report),
        _errors(report),
        _error_rate_gap(report),
        _flagged(report, "reliable", "small cells", "have fewer than 10 rows"),
        _flagged(
            report,
            "sign_certain",
            "uncertain signs",
            "have a correlation in the labels that is not statistically distinguishable from 0, so "
            "amplification and reduction could be the other way round",
        ),
        _undefined(report),
    ]
    if test.soft("task_pred"):
        found.append(
            Finding(
                "probabilities",
                "The predictions are probabilities. Directional amplification uses their mean in "
                "each group. Accuracy and error rates count 0.5 or more as the label.",
            )
        )
    if test.summed is not None:
        found.append(_sums(test))
    if test.n_dropped:
        text = f"{test.n_dropped:,.15g} rows without a sensitive feature were left out."
        found.append(Finding("missing values", text))
    if train is None:
        found.append(
            Finding(
                "training labels",
                "No training labels were given, so the audited labels decide which change counts "
                "as amplification. Pass y_train and sensitive_train to measure against the labels "
                "that the model was trained on.",
            )
        )
    if test.has("group_pred"):
        found.append(
            Finding(
                "predicted attribute",
                "A sensitive feature was predicted. This is questionable in itself, whatever the "
                "values of T->A are.",
            )
        )
    if len({one.direction for one in report.values()} & {"A->T", "T->A"}) > 1:
        text = (
            "Values of A->T (does the group shift the predicted task?) and T->A (does the task "
            "shift the predicted group?) answer different questions and cannot be compared."
        )
        found.append(Finding("directions", text))
    if scored is not None:
        found.append(
            Finding(
                "risk prediction",
                "If the scores predict the future of people, a model without amplification still "
                "repeats the bias of the data. Check the error rates of each group.",
            )
        )
    found.append(
        Finding(
            "labels as truth",
            "The labels are taken as the truth. If they are biased themselves, a value of 0 means "
            "only that the model repeats them.",
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
        f"The engine summed {held}, so metrics that need single rows were left out: leakage, "
        f"DPA{more}. To get them, {instead}.",
    )


def _constant(signs: Contingency) -> Finding | None:
    """Report that the labels which give the signs are all the same."""
    counts = signs.count("task")
    if ((counts > 0) & (counts < signs.total)).any():
        return None
    return Finding(
        "constant labels",
        "The labels that decide what counts as amplification are the same in all rows, so there is "
        "no association to amplify. Check that this is the right column.",
    )


def _never_labelled(test: Contingency) -> Finding | None:
    """Report classes that are predicted and never labelled, as misspelt ones are."""
    if test.classes is None or not test.has("task_pred") or test.soft("task_pred"):
        return None
    labelled, predicted = test.count("task"), test.count("task_pred")
    strange = np.flatnonzero((labelled == 0) & (predicted > 0))
    if not len(strange):
        return None
    return Finding(
        "never labelled",
        f"The model predicts {quote([test.tasks[i] for i in strange])} for "
        f"{rows_of(predicted[strange].sum())}, and no audited row has that label. If it is another "
        "spelling of a label, these numbers are wrong: correct the spelling.",
    )


def _other_class(cells: Contingency, pos_label: Any) -> Finding | None:
    """Say that scores are larger for rows without the positive class than for rows with it."""
    truth, given = side_of(cells, "task"), sides_of(cells).get("task_pred")
    if pos_label is None or given is None or truth.is_matrix:
        return None
    if given.is_matrix:
        # One column is of the positive class; of more, one is.
        width = given.labels.width
        score = given.labels.column(given.names.index(pos_label) if width > 1 else 0)
    elif all(type(name) in (int, float) for name in given.names):
        score = np.array(given.names, dtype=float)[codes_of(given)]
    else:
        return None
    codes = codes_of(truth)
    positive = np.array([name == pos_label for name in truth.names])[codes]
    n, others = (cells.weight @ rows * cells.rows_per_weight for rows in (positive, ~positive))
    if min(n, others) == 0:
        return None
    auc = roc_auc_score(positive, score, sample_weight=cells.weight)
    spread = ((n + others + 1) / (12 * n * others)) ** 0.5  # of random scores
    if auc > 0.5 - stats.norm.isf(ALPHA / 2) * spread:
        return None
    other = truth.names[int(codes[~positive][0])]
    shown = f"{auc:.2f}" if cells.summed is None else "clearly below 0.5"
    return Finding(
        "positive class",
        f"The scores should be larger for rows labelled '{task_of(pos_label)}', the positive "
        f"class, and are larger for the others: their area under the ROC curve is {shown}. If they "
        f"are scores of '{task_of(other)}', pass pos_label={other!r}.",
    )


def _counted(test: Contingency, n_given: int | None) -> Finding | None:
    """Report that weights were read as counts, if they add up to many more than the rows."""
    if n_given is None or not test.whole or test.total < 2 * n_given:
        return None
    return Finding(
        "weights",
        f"{n_given:,} rows came with weights that add up to {test.total:,.15g}. Whole numbers "
        "count as that many rows each. If they are sampling weights, the intervals are far too "
        "narrow: divide the weights by their mean.",
    )


def _disagreement(report: AuditReport, threshold: Finding | None) -> Finding | None:
    """Report which metrics point in another direction than the primary one, and why they may."""
    if report.primary is None:
        return None
    primary = report[report.primary]
    direction = DIRECTION_OF.get(primary.verdict, 0)
    others = {
        name: one
        for name, one in report.items()
        if DIRECTION_OF.get(one.verdict, direction) != direction
    }
    if not others:
        return None
    asked = " ".join(f"{name} ({one.verdict}): {one.question}" for name, one in others.items())
    text = (
        f"{listed(list(others))} give{'s' * (len(others) == 1)} another verdict than "
        f"{report.primary} ({primary.verdict}), since they answer different questions. {asked}"
    )
    if threshold is not None:
        text += (
            " The decision threshold is away from the base rate, which changes the rates of all "
            "groups and affects each metric differently."
        )
    if primary.statistics.get("row_weighted", np.nan) * primary.value < 0:
        text += " A mean over pairs counts small groups as much as large ones, and can hide these."
    return Finding("different directions", text)


def _balanced(report: AuditReport) -> Finding | None:
    blind = [name for name, result in report.items() if result.verdict == CANNOT]
    if not blind:
        return None
    able = [name for name, one in report.items() if one.kind == "attack"]
    instead = listed(able) if able else "LeakageAuditor or DPAAuditor"
    return Finding(
        "balanced data",
        "Cannot amplify (labels are balanced): no group is associated with a task in the labels, "
        f"so {listed(blind)} cannot show amplification, whatever the model predicts. Use {instead} "
        "instead: attackers also find what a model adds to balanced labels.",
    )


def _worse_than_chance(report: AuditReport) -> Finding | None:
    """Report where perturbed labels were pure noise, since the model is worse than a guess."""
    capped = [name for name, one in report.items() if one.statistics.get("flip_rate_capped")]
    if not capped:
        return None
    return Finding(
        "worse than chance",
        "The model is less accurate than a random guess, so the perturbed labels of "
        f"{listed(capped)} were pure noise. Check that labels and predictions belong to the same "
        "rows before you use these values.",
    )


def _threshold(test: Contingency) -> Finding | None:
    """Report tasks that are predicted more or less often than they are labelled."""
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
    advice = " Compare at the base rate (BaseRateThresholdClassifier)." if binary else ""
    n_more = len(off) - 1
    more = f" {n_more} more task{'s' * (n_more > 1)} differ{'s' * (n_more == 1)} by 1 percentage "
    more = f"{more}point or more." if n_more else ""
    return Finding(
        "threshold",
        f"The model predicts '{task_of(test.tasks[first])}' for "
        f"{rate(predicted[first] / test.total)} of the rows, and {rate(base[first] / test.total)} "
        f"are labelled so.{more} A decision threshold away from the base rate changes the rates of "
        f"all groups, which can look like amplification or reduction.{advice}",
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
        f"The accuracy of the model is {rate(accuracy)}. Co-occurrence metrics do not separate its "
        "errors from its bias. Leakage and DPA do: they compare with equally accurate random "
        "labels.",
    )


def _error_rate_gap(report: AuditReport) -> Finding | None:
    """Report the largest gap of error rates, which amplification does not measure."""
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
    columns = report.context.get("group_columns", ())

    def named(group: Any) -> str:
        return group_of(group, columns)

    labelled = "not labelled" if kind == "false_positive_rate" else "labelled"
    return Finding(
        "error rates",
        f"Among rows {labelled} '{task_of(task)}', the model predicts it for {rate(rates.max())} "
        f"of the group {named(rates.idxmax())} and {rate(rates.min())} of the group "
        f"{named(rates.idxmin())}. Amplification does not measure this gap in error rates.",
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
                f"({result.group_name(group)}; {task_of(task)})"
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
