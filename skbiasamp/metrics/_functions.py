"""Metrics as functions: an auditor without an interval, fitted and scored."""

from __future__ import annotations

import inspect
from typing import Any, Protocol

from skbiasamp._compat import validate_parameter_constraints
from skbiasamp.metrics._base import BaseAuditor
from skbiasamp.metrics._texts import PARAMETERS, entries_of, sections_of


class MetricFunction(Protocol):
    """A metric as a function: labels in, its value out."""

    __name__: str

    def __call__(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        sensitive_pred: Any = None,
        y_train: Any = None,
        sensitive_train: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> float:
        """Return the value."""


# Parameters of an auditor that say nothing about the value.
_OF_INTERVALS = {"interval", "confidence_level", "n_resamples", "adjust", "reference", "verbose"}
_OF_DRAWS = {"random_state", "n_jobs"}
_LABELS = (
    "y_pred",
    "sensitive_features",
    "sensitive_pred",
    "y_train",
    "sensitive_train",
    "sample_weight",
)


def function_of(
    auditor: type[BaseAuditor],
    name: str,
    summary: str,
    *,
    example: str,
    without: tuple[str, ...] = (),
) -> MetricFunction:
    """Return a metric as a function: its auditor without an interval, fitted and scored.

    The function takes those parameters of the auditor that say something about the value, and is
    documented with the auditor's own text. `without` names what the metric does not use.
    """
    idle = _OF_INTERVALS if auditor.kind == "attack" else _OF_INTERVALS | _OF_DRAWS
    own = inspect.signature(auditor).parameters
    options = {key: one for key, one in own.items() if key not in idle and key not in without}
    labels = [one for one in _LABELS if one not in without]
    kinds = inspect.Parameter
    by_position, by_name = kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            kinds("y_true", by_position),
            *(
                kinds(one, by_position if one == "y_pred" else by_name, default=None)
                for one in labels
            ),
            *(one.replace(kind=by_name) for one in options.values()),
        ]
    )

    def function(*args: Any, **kwargs: Any) -> float:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        chosen = {key: given.pop(key) for key in options if key in given}
        validate_parameter_constraints(auditor._parameter_constraints, chosen, caller_name=name)
        made = auditor(**chosen, interval=None)
        made._learn_or_not(given.pop("y_train", None), given.pop("sensitive_train", None))
        return made.score(**given)

    function.__name__ = function.__qualname__ = name
    function.__module__ = auditor.__module__
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _function_doc(auditor, summary, labels, list(options), example)
    return function


def _function_doc(
    auditor: type[BaseAuditor], summary: str, labels: list[str], options: list[str], example: str
) -> str:
    """Return the docstring of a metric's function, made of its auditor's."""
    text = sections_of(auditor.__doc__ or "")
    # A metric, or a kind of metric, may say more about labels than all metrics do.
    levels = (f"{auditor.metric}.", f"{auditor.kind}.", "")
    entries = [
        next(PARAMETERS[level + one] for level in levels if level + one in PARAMETERS).strip("\n")
        for one in ("y_true", *labels)
        if one in PARAMETERS
    ]
    name = auditor.__name__
    public = not name.startswith("_")
    parts = [
        summary,
        f"This is the value of `{name}`, without confidence interval and tests." * public,
        "Parameters\n----------",
        "\n".join([*entries, entries_of(text["Parameters"], options)]),
        "Returns\n-------\nvalue : float",
        f"See Also\n--------\nskbiasamp.{name} : The value with table, interval and tests."
        * public,
        *(
            f"{title}\n{'-' * len(title)}\n{text[title]}"
            for title in ("Notes", "References")
            if title in text
        ),
        f"Examples\n--------\n{inspect.cleandoc(example)}",
    ]
    return "\n\n".join(filter(None, parts)).replace("----------\n\n", "----------\n")
