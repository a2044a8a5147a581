"""Which auditors run, and how they are made ready."""

from __future__ import annotations

import copy
from typing import Any

from skbiasamp import metrics
from skbiasamp._input import InputError, check_auditor
from skbiasamp.contingency import Contingency
from skbiasamp.metrics._base import BaseAuditor

_KINDS = ("signed", "size", "attack")  # their order in a report


def allowed(test: Contingency, *, scores: bool = False) -> list[Any]:
    """Return the auditors that the inputs allow: every metric says so itself."""
    every = (getattr(metrics, name) for name in metrics.__all__)
    classes = [one for one in every if isinstance(one, type) and issubclass(one, BaseAuditor)]
    able = [one for metric in classes for one in metric._for_report(test, scores=scores)]
    if test.clusters is not None:
        able = [one for one in able if one.kind != "attack"]  # their folds are of single rows
    return sorted(able, key=lambda one: (_KINDS.index(one.kind), one.headline))


def at_once(auditor: Any) -> Any:
    """Return an auditor whose table has intervals that hold for all pairs, if it can have them."""
    if "simultaneous" in auditor.get_params(deep=False) and auditor.interval == "bootstrap":
        auditor.set_params(simultaneous=True)
    return auditor


def checked(auditors: Any) -> list[Any]:
    """Return the auditors that the user chose, one or several."""
    own = list(auditors) if isinstance(auditors, list | tuple) else [auditors]
    if not own:
        raise InputError("{auditors} is an empty list: pass one auditor or more, or None.")
    for one in own:
        check_auditor(one, "auditors")
    return own


def read_texts(auditors: list[Any]) -> bool:
    """Return whether labels and predictions are texts, which all auditors have to read then."""
    texts = [getattr(one, "reads_texts", False) for one in auditors]
    if any(texts) and not all(texts):
        raise InputError(
            "{auditors} must all read texts, or all labels; got {one} and {other}. Audit twice.",
            one=type(auditors[texts.index(True)]).__name__,
            other=type(auditors[texts.index(False)]).__name__,
        )
    return any(texts)


def readied(auditor: Any, train: Contingency | None, random_state: Any) -> Any:
    """Return a copy of an auditor that has the training labels, or takes its signs from the test.

    One that is fitted keeps its training labels if there are none.
    """
    auditor = copy.copy(auditor)
    params = auditor.get_params(deep=False)
    if params.get("random_state", random_state) is None:
        auditor.set_params(random_state=random_state)
    if train is None and "reference" in params and not hasattr(auditor, "contingency_"):
        auditor.set_params(reference="test")
    if train is not None:
        auditor.fit(train)
    return auditor


def named(results: dict[str, Any], name: str) -> str:
    """Return a name that no result has yet."""
    same = sum(other == name or other.startswith(f"{name} (") for other in results)
    return f"{name} ({same + 1})" if same else name
