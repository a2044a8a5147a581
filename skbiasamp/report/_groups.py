"""Sizes of groups, and rates by group with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._cells import column
from skbiasamp._input import Array
from skbiasamp._task_sums import of_one_task
from skbiasamp.contingency import Contingency
from skbiasamp.inference._shares import ratio_interval, share_interval


def describe_groups(test: Contingency, *, labels: bool = True) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task; of texts only the first."""
    if not labels:
        names = pd.Series(list(test.groups), dtype=object)
        held = pd.DataFrame({"group": names, "n": test.count("group")})
        return held.assign(share=held["n"] / test.total), pd.DataFrame()
    n_tasks = len(test.tasks)
    # Sums of tasks have other rows for each task, and the same groups.
    tasks = [of_one_task(test, j) for j in range(n_tasks)]
    labelled = test.has("task")
    true = [column(held, "task" if labelled else "task_pred", j) for held, j in tasks]
    predicted: list[Array] = []
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
        if predicted and labelled and n:
            right = [
                float(weight @ (t == p)) / n
                for t, p, weight in zip(true, predicted, weights, strict=True)
            ]
            whole = _one_label_accuracy(test, weights[0])
            # A mean over tasks varies less than one task of as many rows: its interval is not
            # too narrow.
            row |= _shares(test, accuracy=(np.mean(right) * n if whole is None else whole * n, n))
        by_group.append(row)
        for j, task in enumerate(test.tasks):
            pair: dict[str, Any] = {"group": group, "task": task}
            if labelled:
                pair["base_rate"] = float(weights[j] @ true[j]) / n if n else np.nan
            elif predicted and n:
                pair |= _shares(test, predicted_rate=(float(weights[j] @ predicted[j]), n))
            if predicted and labelled and n:
                # Each is a sum of its own: of fractional weights a difference leaves rounding.
                tp, fp, fn, tn = (
                    float(weights[j] @ ((true[j] == t) & (predicted[j] == p)))
                    for p, t in ((1, 1), (1, 0), (0, 1), (0, 0))
                )
                pair |= _shares(
                    test,
                    predicted_rate=(tp + fp, n),
                    accuracy=(tp + tn, n),
                    true_positive_rate=(tp, tp + fn),
                    false_positive_rate=(fp, fp + tn),
                )
            by_pair.append(pair)
    rates = pd.DataFrame(by_pair)
    if predicted:
        sizes = [row["n"] * test.units_per_weight for row in by_group]
        rates = _with_impact(rates, np.repeat(sizes, n_tasks))
    return pd.DataFrame(by_group), rates


def _one_label_accuracy(test: Contingency, weight: Array) -> float | None:
    """Return the accuracy of several classes, of which only one can be right."""
    if test.classes is None or len(test.tasks) == 1:
        return None
    both = test.both("task")
    right = sum(column(both, "task_pred", j) for j in range(len(test.tasks)))
    return float(weight @ (np.asarray(right) > 0)) / float(weight.sum())


def _shares(test: Contingency, **counts: tuple[Any, Any]) -> dict[str, float]:
    """Return shares k / n with Wilson's intervals, which hold near 0 and 1 too."""
    found: dict[str, float] = {}
    for name, (k, n) in counts.items():
        found |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
        if n:
            rows = test.units_per_weight
            low, high = share_interval(k * rows, n * rows)
            found |= {
                name: min(float(k / n), 1.0),
                f"{name}_low": float(low),
                f"{name}_high": float(high),
            }
    return found


def _with_impact(rates: pd.DataFrame, rows: Array) -> pd.DataFrame:
    """Add each group's predicted rate over the highest of any group, with Koopman's interval.

    Rates are one row a pair, all tasks of a group in a row.
    """
    rate = rates["predicted_rate"].to_numpy(float)
    n_tasks = rates["task"].map(repr).nunique()
    known = np.where(np.isnan(rate), -np.inf, rate).reshape(-1, n_tasks)
    best = np.tile(known.argmax(axis=0) * n_tasks + np.arange(n_tasks), len(known))
    top = rate[best]  # NaN if it is defined for no group
    itself = (np.arange(len(rate)) == best) & ~np.isnan(rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rate / top
    ends = ratio_interval(rate * rows, rows, top * rows[best], rows[best])
    low, high = (np.where(itself, np.nan, end) for end in ends)
    return rates.assign(impact_ratio=ratio, impact_ratio_low=low, impact_ratio_high=high)
