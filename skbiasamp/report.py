"""audit(): everything in one call, in numbers and in words."""

from __future__ import annotations

import datetime
import platform
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, confusion_matrix

import skbiasamp
from skbiasamp._engines import names_of
from skbiasamp._files import are_files, patterns_of, reading, scan
from skbiasamp._labels import (
    Array,
    check_frame_columns,
    quote,
    renamed,
    require_groups,
    rows_of,
)
from skbiasamp._page import listed, name_of, verdict
from skbiasamp.auditors import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.contingency import Contingency
from skbiasamp.inference import UncertaintyWarning, paired_p_values
from skbiasamp.inference._intervals import FEW
from skbiasamp.metrics._cooccurrence import directional_sign
from skbiasamp.metrics._pairs import read_train
from skbiasamp.results import AuditReport, AuditResult, Finding

# A difference between base rate and predicted rate that is worth a word, in points.
_WORTH_SAYING = 0.01
# A difference between groups' error rates that is.
_GAP = 0.05
# Below this accuracy co-occurrence says more of a model's errors than of its bias.
_LOW_ACCURACY = 0.75
_ALPHA = 0.05
# Sets of labels that occur less often are left out.
_MIN_COUNT = 10
_MANY_TASKS = 12
_OF_SCORES = " of scores"


def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    sensitive_pred: Any = None,
    y_score: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    auditors: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    random_state: Any = None,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: str | list[str] | None = None,
    weight: str | None = None,
) -> AuditReport:
    """Audit predictions with everything that the inputs allow, and say what was found.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency, frame or path
        Labels of the audited rows; or a data frame, lazy frame or query that has everything; or
        the path of CSV or Parquet files (``"part-*.parquet"``, or a list). Queries and files are
        counted where they are: by their engine, or by DuckDB or polars.
    y_pred : array-like
        Predicted labels, or probabilities.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred : array-like, optional
        The attribute as predicted by the model: adds the direction T->A.
    y_score : array-like, optional
        Scores behind the predictions, such as logits: adds leakage from scores.
    y_train : array-like, optional
        Labels that the model was trained on (or their Contingency): signs then come from there.
    sensitive_train : array-like, optional
        The protected attribute of these.
    sample_weight : array-like of shape (n_samples,), optional
        Weights: whole numbers count as that many rows each, so divide sampling weights by their
        mean.
    auditors : auditor or list of auditors, optional
        Which to run, in place of those that the inputs allow. Without `y_train`, one that is
        fitted keeps the training labels it has seen.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from, for auditors that have none of their own.
    target, prediction, sensitive, sensitive_prediction, weight : column name or list of names
        Where labels, predictions, attribute, its predictions and weights are, if `y_true` (and
        `y_train`, where there is one) is a frame or a path.

    Returns
    -------
    report : AuditReport

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> cooks = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
    >>> predicted = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330
    >>> report = skbiasamp.audit(cooks, predicted, sensitive_features=sex, random_state=0)
    >>> report["directional A->T"].value
    0.0875
    """
    options: dict[str, Any] = {"groups": groups, "missing": missing}
    columns = {
        "target": target,
        "prediction": prediction,
        "sensitive": sensitive,
        "sensitive_prediction": sensitive_prediction,
        "weight": weight,
    }
    named = {name: one for name, one in columns.items() if one is not None}
    if named or are_files(y_true):
        labels = (y_pred, sensitive_features, sensitive_pred, sample_weight, sensitive_train)
        check_frame_columns(named, (*labels, y_score))
        y_train = _count_train(y_train, named, options)
        y_true = count_rows(y_true, y_train, named, options)
    train = (
        y_train
        if isinstance(y_train, Contingency)
        else read_train(y_train, sensitive_train, **options)
    )
    test = _read_test(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        sample_weight=sample_weight,
        like=train,
        **options,
    )
    signs = test if train is None else train
    require_groups(signs.groups, signs.count("group"), signs.total, declared=signs.declared)
    if not (test.has("task_pred") or test.has("group_pred") or y_score is not None):
        raise ValueError(
            "There is nothing to audit: pass predictions as y_pred (of a frame, name their column: "
            "prediction=), the predicted attribute as sensitive_pred, or scores as y_score."
        )
    if auditors is None:
        chosen = _auditors(test, train, random_state)
    else:
        chosen = list(auditors) if isinstance(auditors, Sequence) else [auditors]
    results: dict[str, AuditResult] = {}
    for auditor in chosen:
        _run(results, auditor, train, test)
    if y_score is not None and auditors is None:
        with renamed(y_pred="y_score"):
            scored = Contingency.from_labels(
                y_true,
                y_score,
                sensitive_features=sensitive_features,
                sample_weight=sample_weight,
                like=train,
                scores=True,
                **options,
            )
        _run(results, LeakageAuditor(random_state=random_state), None, scored, _OF_SCORES)
    by_group, rates = describe_groups(test)
    report = AuditReport(
        results=results,
        sentences={
            name: say(result, seen="scores" if name.endswith(_OF_SCORES) else "predictions")
            for name, result in results.items()
        },
        groups=by_group,
        rates=rates,
        context=_context(test, train),
    )
    n_given = None if sample_weight is None else len(sample_weight)
    report.findings.extend(find(report, test, train, scores=y_score is not None, n_given=n_given))
    return report


def _count_train(frame: Any, named: dict[str, Any], options: dict[str, Any]) -> Any:
    """Return the training labels in a frame or in files, counted."""
    if frame is None or isinstance(frame, Contingency):
        return frame
    on = {name: one for name, one in named.items() if name in ("target", "sensitive")}
    return _count(frame, on, options)


def count_rows(
    frame: Any, train: Contingency | None, named: dict[str, Any], options: dict[str, Any]
) -> Contingency:
    """Return the audited rows in a frame or in files, counted."""
    signs = train
    if signs is None:
        signs = _count(frame, named, options)
        if signs.summed != "tasks":
            return signs
    # Where tasks are summed by themselves, their mean has an interval once its signs are known.
    moments = directional_sign(signs, direction="A->T"), True
    return _count(frame, named, options, like=signs, moments=moments)


def _count(frame: Any, named: dict[str, Any], options: dict[str, Any], **asked: Any) -> Contingency:
    if not are_files(frame):
        return Contingency.from_frame(frame, **named, **options, **asked)
    with reading(patterns_of(frame)) as paths:
        needed = dict.fromkeys(name for one in named.values() for name in names_of(one))
        return Contingency.from_frame(scan(paths, list(needed)), **named, **options, **asked)


def _read_test(y_true: Any, y_pred: Any, *, like: Contingency | None, **labels: Any) -> Contingency:
    if isinstance(y_true, Contingency):
        return y_true if like is None else y_true.conform(like)
    return Contingency.from_labels(y_true, y_pred, like=like, **labels)


def _auditors(test: Contingency, train: Contingency | None, random_state: Any) -> list[Any]:
    """Return the auditors that the inputs allow."""
    reference = "test" if train is None else "train"
    options: dict[str, Any] = {"reference": reference, "random_state": random_state}
    directions = ["A->T"] * test.has("task_pred") + ["T->A"] * test.has("group_pred")
    every: list[Any] = [DirectionalAuditor(direction, **options) for direction in directions]
    if test.summed == "tasks":
        every = [auditor.set_params(interval="analytic") for auditor in every]
    if test.has("task_pred"):
        # Of more pairs than this, permutations are too few for the smallest p-value to stay below
        # 0.05 once it is multiplied by the number of pairs.
        many = len(test.groups) * len(test.tasks) > _ALPHA * (MALSAuditor().n_resamples + 1)
        every.append(MALSAuditor(adjust="fdr" if many else "holm", **options))
    if test.summed is not None:
        return every  # the others need rows
    if test.has("task_pred"):
        if len(test.tasks) > 1 and test.classes is None and not test.soft("task_pred"):
            # Sets of labels are many, and most of them rare.
            sets: dict[str, Any] = {
                "min_count": _MIN_COUNT,
                "interval": "analytic",
                "n_resamples": 199,
                "adjust": "fdr",
            }
            every.append(MultiAttributeAuditor(**sets, **options))
        # Where attackers have to be trained, fewer draws have to do.
        n_draws = 2 if test.soft("task_pred") or len(test.tasks) > _MANY_TASKS else 10
        every.append(LeakageAuditor(n_draws=n_draws, random_state=random_state))
    return every + [DPAAuditor(direction, random_state=random_state) for direction in directions]


def _run(
    results: dict[str, AuditResult],
    auditor: Any,
    train: Contingency | None,
    test: Contingency,
    suffix: str = "",
) -> None:
    if train is not None:
        auditor = clone(auditor)
    elif not hasattr(auditor, "contingency_") and "reference" in auditor.get_params(deep=False):
        auditor = clone(auditor).set_params(reference="test")
    with warnings.catch_warnings():
        # What these say stands in the tables, and is said once for the report.
        warnings.simplefilter("ignore", UncertaintyWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if train is not None:
            auditor.fit(train)
        result = auditor.audit(test)
    name = result.metric if result.direction is None else f"{result.metric} {result.direction}"
    name += suffix
    same = sum(other == name or other.startswith(f"{name} (") for other in results)
    results[f"{name} ({same + 1})" if same else name] = result


# --------------------------------------------------------------------------- groups


def describe_groups(test: Contingency) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task."""
    n_tasks = len(test.tasks)
    true = [test.column("task", j) for j in range(n_tasks)]
    predicted = []
    # Of probabilities summed by task it is not known which are above one half.
    if test.has("task_pred") and not (test.summed == "tasks" and test.soft("task_pred")):
        predicted = [test.column("task_pred", j) >= 0.5 for j in range(n_tasks)]
    by_group, by_pair = [], []
    for i, group in enumerate(test.groups):
        weight = test.weight * test.column("group", i)
        n = float(weight.sum())
        row: dict[str, Any] = {"group": group, "n": n, "share": n / test.total}
        if predicted and n:
            right = [
                accuracy_score(t, p, sample_weight=weight)
                for t, p in zip(true, predicted, strict=True)
            ]
            whole = _one_label_accuracy(test, weight)
            row["accuracy"] = float(np.mean(right)) if whole is None else whole
        by_group.append(row)
        for j, task in enumerate(test.tasks):
            pair: dict[str, Any] = {"group": group, "task": task}
            pair["base_rate"] = float(weight @ true[j]) / n if n else np.nan
            if predicted and n:
                pair |= _error_rates(true[j], predicted[j], weight)
            by_pair.append(pair)
    return pd.DataFrame(by_group), pd.DataFrame(by_pair)


def _one_label_accuracy(test: Contingency, weight: Array) -> float | None:
    """Return the accuracy of several classes, of which only one can be right."""
    if test.classes is None or len(test.tasks) == 1:
        return None
    both = test.both("task")
    right = sum(both.column("task_pred", j) for j in range(len(test.tasks)))
    return float(weight @ (np.asarray(right) > 0)) / float(weight.sum())


def _error_rates(true: Array, predicted: Array, weight: Array) -> dict[str, float]:
    (tn, fp), (fn, tp) = confusion_matrix(true, predicted, labels=[0, 1], sample_weight=weight)
    with np.errstate(invalid="ignore"):
        return {
            "predicted_rate": float((tp + fp) / weight.sum()),
            "true_positive_rate": float(np.divide(tp, tp + fn)),
            "false_positive_rate": float(np.divide(fp, fp + tn)),
        }


def _context(test: Contingency, train: Contingency | None) -> dict[str, Any]:
    groups, tasks = len(test.groups), len(test.tasks)
    return {
        "rows": (
            f"{test.total:,.15g} rows, {groups} group{'s' * (groups != 1)}, "
            f"{tasks} task{'s' * (tasks != 1)}"
        ),
        "n_samples": test.total,
        "n_train": None if train is None else train.total,
        "n_dropped": test.n_dropped,
        "groups": list(test.groups),
        "tasks": list(test.tasks),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": {
            "skbiasamp": skbiasamp.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "pandas": pd.__version__,
            "Python": platform.python_version(),
        },
    }


# --------------------------------------------------------------------------- words


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
        barely = f", though barely (p = {result.p_value:.2g})" * (result.p_value >= _ALPHA)
        return f"On the whole the model {what}: the interval lies {side} 0{barely}."
    if side == "zero":
        if not told and (result.table["sign"] == 0).all():
            return "The labels lean to no group, so there is nothing to amplify: the value is 0."
        return "The value is exactly 0."
    if not told and result.p_value < _ALPHA:
        return (
            f"Predictions do differ from labels (p = {result.p_value:.2g}), but which way on the "
            "whole may be chance: the interval holds 0."
        )
    return "On the whole this may be chance: the interval holds 0."


def _say_strongest(result: AuditResult) -> str:
    table = result.table.dropna(subset=["delta"])
    sure = table[table["p_adjusted"] < _ALPHA]
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


# --------------------------------------------------------------------------- findings


def find(
    report: AuditReport,
    test: Contingency,
    train: Contingency | None,
    *,
    scores: bool,
    n_given: int | None,
) -> list[Finding]:
    """Return what to know before the numbers of a report are used."""
    found = [
        _constant(test if train is None else train) or _balanced(report),
        _never_labelled(test),
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
    if scores:
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
    off = np.flatnonzero((p_values < _ALPHA) & (np.abs(gap) >= _WORTH_SAYING))
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
