"""Which auditors run, and how they are made ready."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from skbiasamp import metrics
from skbiasamp._input.checks import require_auditor, require_groups
from skbiasamp._input.errors import InputError, speaking
from skbiasamp._utils.progress import progress
from skbiasamp._utils.random import check_seed
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.inputs import opened_rows, read_train
from skbiasamp.results import AuditResult, ComparisonResult
from skbiasamp.results.kinds import Kind

R = TypeVar("R", AuditResult, ComparisonResult)


def allowed(test: Contingency, *, scores: bool = False) -> list[Any]:
    """Return the auditors that the inputs allow: every metric says so itself."""
    able = [auditor for metric in _classes() for auditor in metric.for_report(test, scores=scores)]
    kinds = list(Kind)
    return sorted(able, key=lambda auditor: (kinds.index(auditor.kind), auditor.rank))


def reading(kind: str) -> list[Any]:
    """Return the auditors of the package that read numbers, for example."""
    own = [metric for metric in _classes() if metric.reads == kind]
    return [metric() for metric in own if not inspect.isabstract(metric)]


def _classes() -> list[type[BaseAuditor]]:
    every = (getattr(metrics, name) for name in metrics.__all__)
    return [value for value in every if isinstance(value, type) and issubclass(value, BaseAuditor)]


def checked(auditors: Any) -> list[Any]:
    """Return the auditors that the user chose, one or several."""
    own = list(auditors) if isinstance(auditors, list | tuple) else [auditors]
    if not own:
        raise InputError("{auditor} is an empty list: pass one auditor or more, or None.")
    for auditor in own:
        require_auditor(auditor, "auditor")
    return own


def read_as(auditors: list[Any] | None) -> str:
    """Return what all auditors read: "labels", "texts" or "numbers"."""
    names: dict[str, str] = {}  # of the first auditor that reads each
    for auditor in auditors or ():
        names.setdefault(getattr(auditor, "reads", "labels"), type(auditor).__name__)
    if len(names) > 1:
        (kind, first), (kinds, other), *_ = names.items()
        text = (
            "{auditor} must all read {kind}, or all {kinds}; got {name} and {other}. Audit twice."
        )
        raise InputError(text, kind=kind, kinds=kinds, name=first, other=other)
    return next(iter(names), "labels")


def read_training(
    y_train: Any, sensitive_train: Any, columns: Mapping[str, Any], how: dict[str, Any]
) -> tuple[Contingency | None, list[dict[str, Any]]]:
    """Return the training rows, counted, and their files.

    Columns are named as in audited rows, unless labels and groups are passed themselves.
    """
    if sensitive_train is not None:
        columns = {}
    named = {name: columns[name] for name in ("target", "sensitive") if name in columns}
    if "prediction" in columns and not isinstance(columns["prediction"], Mapping):
        # Audited rows without labels: their predictions are called as the training labels are.
        named.setdefault("target", columns["prediction"])
    with speaking(frame="y_train"), opened_rows(y_train, named) as (rows, files):
        return read_train(rows, sensitive_train, named, **how), files


def readied(auditor: Any, train: Contingency | None, random_state: Any) -> Any:
    """Return a copy of an auditor that has the training labels, or takes its signs from the test.

    One that is fitted keeps its training labels if there are none.
    """
    auditor = copy.copy(auditor)
    params = auditor.get_params(deep=False)
    if params.get("random_state", 0) is None:
        auditor.set_params(random_state=random_state)
    if train is None and "reference" in params and not hasattr(auditor, "contingency_"):
        auditor.set_params(reference="test")
    if train is not None:
        auditor.fit(train)
    return auditor


def require_reference(test: Contingency, train: Contingency | None, own: Any = None) -> None:
    """Raise if there are no labels to compare with, or no groups to compare.

    Labels are those of training or of the audited rows; `own` auditors may have learned some.
    """
    if train is not None:
        with speaking(y_true="y_train"):
            train.require("task")
    elif own is None and not test.has("task"):
        raise InputError(
            "There are no labels to compare the predictions with: pass {y_true} (of a frame, name "
            "their column: target=), or the labels of other rows as {y_train and sensitive_train}. "
            "Rates alone need none: use selection_rates(y_pred, ...)."
        )
    signs = test if train is None else train
    require_groups(signs.groups, signs.count("group"), signs.total, declared=signs.declared)


def run_each(
    title: str, chosen: list[Any], random_state: Any, measure: Callable[[Any, Contingency], R]
) -> dict[str, R]:
    """Return what `measure` makes of each auditor and its rows, by the name of the result.

    `chosen` are auditors with their training rows, their audited rows, and the end of the name.
    """
    check_seed(random_state)
    results: dict[str, R] = {}
    with progress(title, len(chosen)) as step:
        for auditor, train, rows, suffix in chosen:
            # Tables flag uncertain pairs and a finding lists them, so warnings are held back.
            with speaking(cv=f"cv of {type(auditor).__name__}"), collected():
                result = measure(readied(auditor, train, random_state), rows)
            results[_unused_name(results, result.name + suffix)] = result
            step.advance()
    return results


def _unused_name(results: dict[str, Any], name: str) -> str:
    """Return a name that no result has yet."""
    same = sum(other == name or other.startswith(f"{name} (") for other in results)
    return f"{name} ({same + 1})" if same else name
