"""Metrics as functions: an auditor without an interval, fitted and scored."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from skbiasamp._input.checks import check_train
from skbiasamp._input.errors import InputTypeError, quote, renaming
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import validate_parameter_constraints
from skbiasamp._utils.docstrings import described, entries_of, sections_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.metrics.base import BaseAuditor

# Parameters of an auditor that say nothing about the value.
_OF_INTERVALS = {"interval", "confidence_level", "n_resamples", "adjust"}
_OF_INTERVALS |= {"reference", "formula", "verbose"}
_OF_DRAWS = {"random_state", "n_jobs"}
TRAINING = "its training rows"  # of a fold
_LABELS: tuple[str, ...] = ("y_true", "y_pred", "sensitive_features", "sensitive_pred")
_LABELS += ("y_train", "sensitive_train", "sample_weight")


@keywords()
def function_of(
    auditor: type[BaseAuditor], name: str | None = None, *, without: Sequence[str] = ()
) -> Callable[..., float]:
    """Return a metric as a function: the published formula, without an interval.

    The function takes those parameters of the auditor that say something about the value, and is
    documented with the auditor's own text.

    .. versionadded:: 0.2

    Parameters
    ----------
    auditor : subclass of CooccurrenceAuditor or AttackAuditor
        The metric.
    name : str, default=None
        Name of the function. None: made of the metric's, ``"own"`` gives ``own_amplification``.
    without : sequence of str, default=()
        Labels and options that the metric does not use: the function does not take them.

    Returns
    -------
    function : callable
        Labels and options in, the value out.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from skbiasamp import DirectionalAuditor
    >>> from skbiasamp.metrics import Option, function_of
    >>> class ScaledAuditor(DirectionalAuditor):
    ...     metric = "scaled"
    ...     scale: float = Option(1.0)
    ...
    ...     def measure(self, train, test):
    ...         pairs = super().measure(train, test)
    ...         return replace(pairs, sign=self.scale * pairs.sign)
    >>> scaled_amplification = function_of(ScaledAuditor)
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooking = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> predicted = [1] * 40 + [0] * 40
    >>> scaled_amplification(cooking, predicted, sensitive_features=sex, scale=2)
    0.5
    """
    if not (isinstance(auditor, type) and issubclass(auditor, BaseAuditor)):
        raise InputTypeError(
            "{auditor} must be the class of an auditor; got {seen!r}.", seen=auditor
        )
    if not isinstance(name, str | None):
        raise InputTypeError("{name} must be text; got {seen!r}.", seen=name)
    if not isinstance(without, list | tuple):
        raise InputTypeError("{without} must be a list of names; got {seen!r}.", seen=without)
    if not name:  # of the metric: differential_fairness_amplification
        metric = auditor.metric.casefold().removesuffix(" amplification")
        name = "_".join(re.findall(r"\w+", metric)) + "_amplification"
    idle = {*_OF_INTERVALS, *without} | (set() if auditor.kind.has_attacker else _OF_DRAWS)
    own = inspect.signature(auditor).parameters
    options = {key: parameter for key, parameter in own.items() if key not in idle}
    fixed: dict[str, Any] = {"interval": None} if "interval" in own else {}
    if "formula" in own:
        fixed["formula"] = "published"
    kinds = inspect.Parameter
    by_position, by_name = kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY
    parameters = []
    for label in (*_LABELS, *auditor._of_function):
        if label not in without:
            kind = by_position if label in ("y_true", "y_pred") else by_name
            default = kinds.empty if label == "y_true" else None
            parameters.append(kinds(label, kind, default=default))
    parameters += [parameter.replace(kind=by_name) for parameter in options.values()]
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> float:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        chosen = {key: given.pop(key) for key in options if key in given}
        validate_parameter_constraints(auditor._parameter_constraints, chosen, caller_name=name)
        made: Any = auditor(**chosen, **fixed)
        if "validation" in given:
            made._chosen_on = given.pop("validation")
        fit_if_given(made, given.pop("y_train", None), given.pop("sensitive_train", None))
        return made.score(**given)

    function.__name__ = function.__qualname__ = name
    function.__module__ = auditor.__module__
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _function_doc(auditor, list(signature.parameters))
    return keywords()(function)


def fit_if_given(auditor: Any, y_train: Any, sensitive_train: Any) -> None:
    """Fit on training labels if there are any, else take the audited labels in their place."""
    if auditor._uses_groups and not isinstance(y_train, Contingency):
        check_train(y_train, sensitive_train)
    if y_train is not None:
        with renaming(sensitive_features="sensitive_train"):
            auditor.fit(y_train, sensitive_features=sensitive_train)
    elif "reference" in auditor.get_params(deep=False):
        auditor.set_params(reference="test")


def lacks(auditor: Any, audited: Contingency) -> str:
    """Return what keeps a fold from being measured; nothing if it is measured.

    `auditor` has learned the training rows of the fold, and `audited` are its held-out rows.
    """
    if not auditor._uses_groups:
        return ""
    counts, trained = audited.count("group"), auditor.contingency_
    present = [name for name, n in zip(audited.groups, counts, strict=True) if n > 0]
    if unknown := [name for name in present if name not in trained.groups]:
        return f"{TRAINING} lack {_named(unknown)}"
    for rows, cells in ((TRAINING, trained), ("its held-out rows", audited)):
        if not differ_in_group(cells):
            return f"{rows} are all of {_named(present)}"
    return ""


def _named(groups: list[Any]) -> str:
    return f"group{'s' * (len(groups) > 1)} {quote(groups)}"


def _function_doc(auditor: type[BaseAuditor], names: list[str]) -> str:
    """Return the docstring of a metric's function, made of its auditor's."""
    text = auditor.__doc__ or ""
    sections, name = sections_of(text), auditor.__name__
    own = entries_of(auditor)
    first = text.partition("\n")[0].replace("Audit", "Compute", 1)
    parts = [first or f"Compute {auditor.metric}."]
    if not name.startswith("_"):
        what = "number of the paper, `published`" if hasattr(auditor, "formula") else "value"
        parts.append(f"This is the {what} of `{name}`, without confidence interval and tests.")
        sections["See Also"] = f"skbiasamp.{name} : The value with table, interval and tests."
    sections["Parameters"] = described(names, own, attacks=auditor.kind.has_attacker)
    sections["Returns"] = "value : float"
    for title in ("Parameters", "Returns", "See Also", "Notes", "References", "Examples"):
        if title in sections:
            parts.append(f"{title}\n{'-' * len(title)}\n{sections[title]}")
    return "\n\n".join(parts)
