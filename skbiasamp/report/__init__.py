"""audit(): every audit that the inputs allow, in one call."""

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

import skbiasamp
from skbiasamp._engines import names_of
from skbiasamp._files import are_files, patterns_of, reading, scan
from skbiasamp._labels import check_frame_columns, renamed, require_groups
from skbiasamp.auditors import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.contingency import Contingency, is_contingency
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics._base import read_train
from skbiasamp.metrics._signs import association_sign
from skbiasamp.report._findings import ALPHA, find
from skbiasamp.report._groups import describe_groups
from skbiasamp.results import AuditReport, AuditResult

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
    pos_label: Any = None,
    random_state: Any = None,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: str | list[str] | None = None,
    weight: str | None = None,
) -> AuditReport:
    """Audit predictions with every metric that the inputs allow, and report a verdict.

    The report opens with the verdict of its primary metric: directional A->T (does the group
    shift the predicted task?), or leakage if group and task are balanced in the labels.

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
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities and scores in one
        column are of that class. By default the class that sorts last.
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
    >>> print(report.verdict)
    The model amplifies the association: +0.0875 (95 % confidence interval +0.0677 to +0.1071).
    Most affected: the group f is predicted '1' for 85.0 % of its rows, and 75.0 % are labelled
    so; this strengthens the association in the labels.
    """
    options: dict[str, Any] = {"groups": groups, "missing": missing, "pos_label": pos_label}
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
        y_train.with_positive(pos_label)
        if is_contingency(y_train)
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
    scored = None
    if y_score is not None:
        with renamed(y_pred="y_score"):
            scored = Contingency.from_labels(
                y_true,
                y_score,
                sensitive_features=sensitive_features,
                sample_weight=sample_weight,
                like=train,
                scores=True,
                groups=groups,
                missing=missing,
            )
        if auditors is None:
            _run(results, LeakageAuditor(random_state=random_state), None, scored, _OF_SCORES)
    by_group, rates = describe_groups(test)
    report = AuditReport(
        results=results,
        groups=by_group,
        rates=rates,
        context=_context(test, train),
    )
    n_given = None if sample_weight is None else len(sample_weight)
    report.findings.extend(find(report, test, train, scored=scored, n_given=n_given))
    return report


def _count_train(frame: Any, named: dict[str, Any], options: dict[str, Any]) -> Any:
    """Return the training labels in a frame or in files, counted."""
    if is_contingency(frame):
        return frame.with_positive(options["pos_label"])
    if frame is None:
        return None
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
    moments = association_sign(signs), True
    return _count(frame, named, options, like=signs, moments=moments)


def _count(frame: Any, named: dict[str, Any], options: dict[str, Any], **asked: Any) -> Contingency:
    if not are_files(frame):
        return Contingency.from_frame(frame, **named, **options, **asked)
    with reading(patterns_of(frame)) as paths:
        needed = dict.fromkeys(name for one in named.values() for name in names_of(one))
        return Contingency.from_frame(scan(paths, list(needed)), **named, **options, **asked)


def _read_test(
    y_true: Any, y_pred: Any, *, like: Contingency | None, pos_label: Any, **labels: Any
) -> Contingency:
    if is_contingency(y_true):
        cells = y_true.with_positive(pos_label)
        return cells if like is None else cells.conform(like)
    return Contingency.from_labels(y_true, y_pred, like=like, pos_label=pos_label, **labels)


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
        many = len(test.groups) * len(test.tasks) > ALPHA * (MALSAuditor().n_resamples + 1)
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
        # The tables flag these pairs, and the findings name them once for the report.
        warnings.simplefilter("ignore", UncertaintyWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if train is not None:
            auditor.fit(train)
        result = auditor.audit(test)
    name = result.name + suffix
    same = sum(other == name or other.startswith(f"{name} (") for other in results)
    results[f"{name} ({same + 1})" if same else name] = result


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
        "group_columns": list(getattr(test, "group_columns", None) or ()),
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
