"""What a verb was asked: the rows, how they are read, and what a report is evidence of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from skbiasamp._input.checks import (
    MISSING_POLICIES,
    check_frame_columns,
    check_option,
    is_one,
)
from skbiasamp._input.errors import InputError, InputTypeError, of_columns, speaking
from skbiasamp._utils.version import made_now
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.inputs import COLUMNS
from skbiasamp.report.auditors import checked, read_as


def context_of(
    test: Contingency,
    train: Contingency | None,
    names: Mapping[str, str | None],
    call: str,
    *,
    reads: str = "labels",
) -> dict[str, Any]:
    """Return what a report says of its data."""
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


# --------------------------------------------------------------------------- the request


# What `audit_frame` and `audit_over` call the rows.
_FRAMES = {"frame": "y_true", "train": "y_train"}


@dataclass(frozen=True, eq=False)
class Request:
    """A call of a verb, by the names of its parameters.

    Rows are arrays, or the columns of a frame that stands in place of `y_true`. `policies` are what
    `missing` may be, and `options` are those that no other verb has.
    """

    verb: Callable[..., Any]
    y_true: Any = None
    y_pred: Any = None
    _: KW_ONLY
    y_preds: Any = None
    sensitive_features: Any = None
    sensitive_pred: Any = None
    sensitive_preds: Any = None
    y_score: Any = None
    sample_weight: Any = None
    clusters: Any = None
    y_train: Any = None
    sensitive_train: Any = None
    given: Any = None
    attributions: Any = None
    target: Any = None
    prediction: Any = None
    sensitive: Any = None
    sensitive_prediction: Any = None
    score: Any = None
    weight: Any = None
    cluster: Any = None
    groups: str = "intersection"
    missing: str = "error"
    min_rows: int | None = None
    max_groups: float | None = None
    pos_label: Any = None
    threshold: float | None = None
    auditor: Any = None
    reference: Any = None
    favourable: Any = None
    limit: float | None = None
    random_state: Any = None
    model_name: str | None = None
    data_name: str | None = None
    policies: tuple[str, ...] = MISSING_POLICIES
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, text in self.names.items():
            if text is not None and not isinstance(text, str):
                raise InputTypeError("{name} must be text; got {seen!r}.", name=name, seen=text)
        if self.policies is MISSING_POLICIES and is_one(self.missing, ["bounds"]):
            raise InputError(
                "{missing} must be one of {options}. Got 'bounds' instead: "
                "{skbiasamp.audit(missing='bounds')} says what missing groups could change.",
                options=", ".join(map(repr, self.policies)),
            )
        check_option("missing", self.missing, self.policies)

    @cached_property
    def call(self) -> str:
        """The call as text: data by the names of their parameters."""
        arguments = {name: getattr(self, own) for name, own in _FRAMES.items()}
        return call_of(self.verb, {**vars(self), **arguments, **self.options})

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a frame that were named, by their options."""
        named = {name: getattr(self, name) for name in COLUMNS}
        return {name: column for name, column in named.items() if column is not None}

    @property
    def of_rows(self) -> dict[str, Any]:
        """What belongs to each row, beside labels and predictions."""
        return {name: getattr(self, name) for name in _OF_ROWS}

    @property
    def data(self) -> dict[str, Any]:
        """What belongs to each row beside labels: with the predictions of one model, or several."""
        if self.y_preds is None and self.sensitive_preds is None:
            return self.of_rows | {"y_pred": self.y_pred, "sensitive_pred": self.sensitive_pred}
        preds = {"y_preds": self.y_preds, "sensitive_preds": self.sensitive_preds}
        return self.of_rows | preds

    @property
    def how(self) -> dict[str, Any]:
        """How rows are read."""
        how = {name: getattr(self, name) for name in _HOW}
        if self.missing == "bounds":  # what rows without a group may change is asked afterwards
            how["missing"] = "drop"
        return how if self.reads == "labels" else how | {self.reads: True}

    @property
    def names(self) -> dict[str, Any]:
        """What model and data are called."""
        return {"model_name": self.model_name, "data_name": self.data_name}

    @cached_property
    def own(self) -> list[Any] | None:
        """The auditors that the user chose; None if there are none."""
        return None if self.auditor is None else checked(self.auditor)

    @cached_property
    def reads(self) -> str:
        """What labels are, as these auditors read them: "labels", "texts" or "numbers"."""
        return read_as(self.own)

    def speaking(self) -> AbstractContextManager[None]:
        """Let errors name the columns of a frame, in place of arrays that were not passed."""
        named = of_columns(self.columns)
        return speaking(
            {name: role for name, role in named.items() if vars(self).get(name) is None}
        )

    def check_columns(self) -> None:
        """Raise if columns or scores are named where they cannot be."""
        if self.columns:
            check_frame_columns(self.columns, (self.y_score,))
        elif self.score is not None:
            raise InputTypeError("score= names a column of a frame: pass the frame as {y_true}.")
        if self.score is not None and self.threshold is not None:
            text = "score= needs predicted labels: pass these, and leave {threshold} out."
            raise InputError(text)

    def refuse(self, *unused: str) -> None:
        """Raise if arguments were passed that metrics of numbers or texts do not use.

        Those of texts need no training labels either.
        """
        if self.reads == "labels":
            return
        for name in (*unused, *["y_train"] * (self.reads == "texts")):
            if getattr(self, name) is not None:
                text = "{name} is not used by metrics of {reads}: leave it out."
                raise InputError(text, name=name, reads=self.reads)


_OF_ROWS = ("sensitive_features", "sample_weight", "clusters")
_HOW = ("groups", "missing", "min_rows", "pos_label", "max_groups", "threshold")
