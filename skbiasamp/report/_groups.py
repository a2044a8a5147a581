"""Group sizes, base rates and error rates, for context."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, confusion_matrix

from skbiasamp._cells import column
from skbiasamp._input import Array
from skbiasamp._task_sums import of_one_task
from skbiasamp.contingency import Contingency


def describe_groups(test: Contingency) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task."""
    n_tasks = len(test.tasks)
    # Sums of tasks have other rows for each task, and the same groups.
    tasks = [of_one_task(test, j) for j in range(n_tasks)]
    true = [column(held, "task", j) for held, j in tasks]
    predicted = []
    # Of probabilities that were summed it is not known which are above one half.
    if test.has("task_pred") and not (test.summed == "tasks" and test.soft("task_pred")):
        predicted = [column(held, "task_pred", j) >= 0.5 for held, j in tasks]
    by_group, by_pair = [], []
    for i, group in enumerate(test.groups):
        own = tasks if test.summed == "tasks" else tasks[:1]
        weights = [held.weight * column(held, "group", i) for held, _ in own]
        weights *= n_tasks // len(weights)
        n = float(weights[0].sum())
        row: dict[str, Any] = {"group": group, "n": n, "share": n / test.total}
        if predicted and n:
            right = [
                accuracy_score(t, p, sample_weight=weight)
                for t, p, weight in zip(true, predicted, weights, strict=True)
            ]
            whole = _one_label_accuracy(test, weights[0])
            row["accuracy"] = float(np.mean(right)) if whole is None else whole
        by_group.append(row)
        for j, task in enumerate(test.tasks):
            pair: dict[str, Any] = {"group": group, "task": task}
            pair["base_rate"] = float(weights[j] @ true[j]) / n if n else np.nan
            if predicted and n:
                pair |= _error_rates(true[j], predicted[j], weights[j])
            by_pair.append(pair)
    return pd.DataFrame(by_group), pd.DataFrame(by_pair)


def _one_label_accuracy(test: Contingency, weight: Array) -> float | None:
    """Return the accuracy of several classes, of which only one can be right."""
    if test.classes is None or len(test.tasks) == 1:
        return None
    both = test.both("task")
    right = sum(column(both, "task_pred", j) for j in range(len(test.tasks)))
    return float(weight @ (np.asarray(right) > 0)) / float(weight.sum())


def _error_rates(true: Array, predicted: Array, weight: Array) -> dict[str, float]:
    (tn, fp), (fn, tp) = confusion_matrix(true, predicted, labels=[0, 1], sample_weight=weight)
    with np.errstate(invalid="ignore"):
        return {
            "predicted_rate": float((tp + fp) / weight.sum()),
            "true_positive_rate": float(np.divide(tp, tp + fn)),
            "false_positive_rate": float(np.divide(fp, fp + tn)),
        }
