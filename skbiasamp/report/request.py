"""What a verb was asked: the rows, how they are read, and by which auditors."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from skbiasamp import metrics
from skbiasamp._input.checks import (
    MISSING_POLICIES,
    check_frame_columns,
    check_option,
    is_one,
    require_auditor,
    require_groups,
)
from skbiasamp._input.errors import InputError, InputTypeError, called, of_columns, renaming
from skbiasamp._utils.progress import give_back_memory, progress
from skbiasamp._utils.random import check_seed
from skbiasamp._utils.version import made_now
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.parts import wanted_outcomes
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.inputs import COLUMNS, opened_rows, read_train
from skbiasamp.results import AuditResult, ComparisonResult
from skbiasamp.results.kinds import Kind


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
    independent = test.rows.sum() if test.clusters is None else test.clusters.total
    left_out = {
        "chosen": chosen,
        "attackers": not chosen and test.summed is None and independent < 2,
        "thresholds": chosen and scored is not None,
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
        models = self.y_preds.values() if isinstance(self.y_preds, Mapping) else ()
        if any(isinstance(rows, Contingency) for rows in (self.y_true, self.y_pred, *models)):
            for name in ("min_rows", "max_groups"):
                if getattr(self, name) is not None:
                    raise InputError(
                        "{name} is for rows, and a Contingency holds rows that were read. Pass it "
                        "to Contingency.from_labels or Contingency.from_frame.",
                        name=name,
                    )

    @cached_property
    def call(self) -> str:
        """The call as text: data by the names of their parameters."""
        frames = {name: getattr(self, own) for name, own in _FRAMES.items()}
        given, arguments = {**vars(self), **frames, **self.options}, []
        for name, parameter in inspect.signature(self.verb).parameters.items():
            value = given[name]
            if value is parameter.default:
                continue
            is_option = _is_option(value) or name == "auditor"
            text = " ".join(repr(value).split()) if is_option else name
            positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            arguments.append(text if positional else f"{name}={text}")
        return f"skbiasamp.{self.verb.__name__}({', '.join(arguments)})"

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
        if self.auditor is None:
            return None
        own = list(self.auditor) if isinstance(self.auditor, list | tuple) else [self.auditor]
        if not own:
            raise InputError("{auditor} is an empty list: pass one auditor or more, or None.")
        for auditor in own:
            require_auditor(auditor, "auditor")
        return own

    @cached_property
    def reads(self) -> str:
        """What labels are, as these auditors read them: "labels", "texts" or "numbers"."""
        names: dict[str, str] = {}  # of the first auditor that reads each
        for auditor in self.own or ():
            names.setdefault(getattr(auditor, "reads", "labels"), type(auditor).__name__)
        if len(names) > 1:
            (kind, first), (kinds, other), *_ = names.items()
            text = (
                "{auditor} must all read {kind}, or all {kinds}; got {name} and {other}. Audit "
                "twice."
            )
            raise InputError(text, kind=kind, kinds=kinds, name=first, other=other)
        return next(iter(names), "labels")

    def renaming(self) -> AbstractContextManager[None]:
        """Let errors name the columns of a frame, in place of arrays that were not passed."""
        named = of_columns(self.columns)
        names = {name: role for name, role in named.items() if vars(self).get(name) is None}
        if "train" in inspect.signature(self.verb).parameters:
            names["y_train"] = "train"
        return renaming(names)

    def check_columns(self) -> None:
        """Raise if columns or scores are named where they cannot be."""
        if self.columns:
            check_frame_columns(self.columns, (self.y_score,))
        elif self.score is not None:
            raise InputTypeError("score= names a column of a frame: pass the frame as {y_true}.")
        if self.score is not None and self.threshold is not None:
            text = "score= needs predicted labels: pass these, and leave {threshold} out."
            raise InputError(text)

    def declared(self, test: Contingency) -> dict[str, Any]:
        """Return the label's name, and what people want, as a report's context holds them."""
        target = self.columns.get("target") if self.columns else getattr(self.y_true, "name", None)
        named = {"target": target} if self.reads == "labels" and isinstance(target, str) else {}
        if self.favourable is None or self.reads == "texts":
            return named
        numbers = self.reads == "numbers"
        return named | {"favourable": wanted_outcomes(test, self.favourable, numbers=numbers)}

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


# --------------------------------------------------------------------------- auditors

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
    try:
        with renaming(frame="y_train"), opened_rows(y_train, named) as (rows, files):
            return read_train(rows, sensitive_train, named, **how), files
    except InputError as error:  # its columns are called as those of the audited rows are
        name = called("y_train")
        if named and y_train is not None and name not in str(error):
            error.begin_with(f"{name}: ")
        raise


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
        with renaming(y_true="y_train"):
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
            with renaming(cv=f"cv of {type(auditor).__name__}"), collected():
                result = measure(readied(auditor, train, random_state), rows)
            name = result.name + suffix
            same = sum(other == name or other.startswith(f"{name} (") for other in results)
            results[f"{name} ({same + 1})" if same else name] = result
            give_back_memory(rows.n_cells)
            step.advance()
    return results
