"""What a report is evidence of: what was audited, when, with what, and what was left out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from skbiasamp._input.errors import InputTypeError
from skbiasamp._utils.version import made_now
from skbiasamp.counts.contingency import Contingency


def context_of(
    test: Contingency,
    train: Contingency | None,
    names: Mapping[str, str | None],
    call: str,
    *,
    reads: str = "labels",
) -> dict[str, Any]:
    """Return what a report says of its data."""
    for name, text in names.items():
        if text is not None and not isinstance(text, str):
            raise InputTypeError("{name} must be text; got {seen!r}.", name=name, seen=text)
    groups, tasks = len(test.groups), len(test.tasks)
    what = "texts" if reads == "texts" else f"{tasks} task{'s' * (tasks != 1)}"
    return {
        **names,
        "rows": (f"{test.total:,.15g} rows, {groups} group{'s' * (groups != 1)}, {what}"),
        "n_samples": test.total,
        "n_train": None if train is None else train.total,
        "n_dropped": test.n_dropped,
        "groups": list(test.groups),
        "tasks": [] if reads == "texts" else list(test.tasks),
        "data_kind": reads,
        "group_columns": list(getattr(test, "group_columns", None) or ()),
        **made_now(),
        "call": call,
    }


def call_of(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return the call with these arguments: data by the names of their parameters."""
    arguments = []
    for name, parameter in inspect.signature(function).parameters.items():
        value = given[name]
        if value is parameter.default:
            continue
        is_option = _is_option(value) or name == "auditor"
        text = " ".join(repr(value).split()) if is_option else name
        positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        arguments.append(text if positional else f"{name}={text}")
    return f"skbiasamp.{function.__name__}({', '.join(arguments)})"


def _is_option(value: Any) -> bool:
    """Whether an argument is an option, and no data."""
    if isinstance(value, list):
        return len(value) < 10 and all(isinstance(item, str) for item in value)
    if isinstance(value, dict):  # the columns of several models
        return len(value) < 10 and all(map(_is_option, value.values()))
    return value is None or isinstance(value, str | bool | int | float)


def not_measured(
    test: Contingency, scored: Contingency | None, *, chosen: bool, reads: str = "labels"
) -> list[str]:
    """Return codes of what a report leaves out; `chosen` if the user chose the auditors."""
    if reads != "labels":
        return [reads, "causes"]
    left_out = {
        "chosen": chosen,
        "sums": not chosen and test.summed is not None,
        "labels": not test.has("task"),
        "predictions": not test.has("task_pred"),
        "groups": not test.has("group_pred"),
        "scores": scored is None,
        "sets": len(test.tasks) < 2 or test.classes is not None,
        "causes": True,
    }
    return [code for code, is_left_out in left_out.items() if is_left_out]


def described_files(
    audited: list[dict[str, Any]], training: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what was read, as a report holds it."""
    files_of = {"audited": audited, "training": training}
    return [{"rows_are": rows, **file} for rows, files in files_of.items() for file in files]
