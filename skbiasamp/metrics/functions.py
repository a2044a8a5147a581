"""Metrics as functions, and a plain function as a metric."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array, check_train
from skbiasamp._input.errors import InputError, InputTypeError, quote, renaming
from skbiasamp._input.labels import Codes
from skbiasamp._input.options import PositionalOption, keywords
from skbiasamp._utils.compat import validate_parameter_constraints
from skbiasamp._utils.docstrings import described, entries_of, sections_of
from skbiasamp.counts.cells import labels_of, side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import differ_in_group, ordered
from skbiasamp.counts.parts import of_model
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.influence import degrees_of_freedom, interval
from skbiasamp.inference.runs import Mean, mean_of_runs, shared_rows, shared_rows_of_difference
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.comparing import Runs, comparison_result, numbers_of_model
from skbiasamp.results import AuditResult, ComparisonResult, pair_table

# Parameters of an auditor that say nothing about the value.
_OF_INTERVALS = {"interval", "confidence_level", "n_resamples", "adjust"}
_OF_INTERVALS |= {"reference", "formula", "verbose"}
_OF_DRAWS = {"random_state", "n_jobs"}
TRAINING = "its training rows"  # of a fold
_LABELS: tuple[str, ...] = ("y_true", "y_pred", "sensitive_features", "sensitive_pred")
_LABELS += ("y_train", "sensitive_train", "sample_weight")

_MOST_BLOCKS = 500


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


class FunctionAuditor(BaseAuditor):
    """Audit a number that a function of labels, predictions and groups returns.

    Use it for a metric that is no mean over pairs of rates, such as an error rate or a metric of
    scikit-learn, of a model, of several models or of runs of trainings. Derive
    `CooccurrenceAuditor` for one that is: it has signs of training labels, and verdicts with a
    direction.

    .. versionadded:: 0.3

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred, group)`` of arrays with one entry a row. It returns a number that
        is 0 if the model changes nothing, or a mapping of names to numbers, whose mean is the
        value. Rows come in another order than they were passed, and some of them at a time, so a
        function must use these three arrays alone.
    percent : bool
        True: the numbers are differences of rates, and are shown in percentage points. False: they
        have another unit.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    CooccurrenceAuditor : A metric of pairs of group and task.

    Notes
    -----
    The interval is that of the jackknife: rows, or clusters of rows, are left out one by one; more
    than 500 of them are left out in 500 random blocks. It fits numbers that are smooth, such as
    means, ratios and logarithms of rates. For a maximum or a quantile it is too short. There is no
    interval if the function is undefined without some rows.

    Examples
    --------
    By how much does the odds ratio of two groups grow?

    >>> import numpy as np
    >>> from skbiasamp.metrics import FunctionAuditor
    >>> def log_odds_ratio(y_true, y_pred, group):
    ...     def of(y):
    ...         odds = [y[group == name].mean() / (1 - y[group == name].mean()) for name in "mf"]
    ...         return np.log(odds[0] / odds[1])
    ...
    ...     return of(y_pred) - of(y_true)
    >>> sex = ["f"] * 100 + ["m"] * 100
    >>> hired = [1] * 25 + [0] * 75 + [1] * 50 + [0] * 50
    >>> predicted = [1] * 15 + [0] * 85 + [1] * 60 + [0] * 40
    >>> auditor = FunctionAuditor(log_odds_ratio, percent=False)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> round(result.value, 4)
    1.0415
    >>> result.verdict
    'amplifies'

    How far are the false positive rates of two groups apart, in three runs of a training?

    >>> def difference(y_true, y_pred, group):
    ...     wrong = [y_pred[(group == name) & (y_true == 0)].mean() for name in "mf"]
    ...     return wrong[0] - wrong[1]
    >>> runs = [predicted, hired, [1] * 25 + [0] * 75 + [1] * 55 + [0] * 45]
    >>> auditor = FunctionAuditor(difference, percent=True)
    >>> result = auditor.audit_runs(hired, runs, sensitive_features=sex, method="runs")
    >>> round(result.value, 4), round(result.low, 4), round(result.high, 4)
    (0.1, -0.1484, 0.3484)
    """

    definition = (
        "Any number that a function of labels, predictions and groups returns: 0 if the model "
        "changes nothing."
    )
    question = "Does the model change the number that the function returns?"
    amplified = "the number that the function returns"
    estimand = "What the function returns in the population that the audited rows are a sample of."
    null = "The function returns 0 in this population."
    columns = {"amplification": "Number"}  # noqa: RUF012
    pair_of = ("number", "task")
    function: Callable[[Array, Array, Array], Any] = PositionalOption(callable, kw_only=False)
    percent: bool = PositionalOption("boolean", kw_only=True)
    n_resamples: Any = None
    n_jobs: Any = None

    @property
    def metric(self) -> str:  # type: ignore[override]
        """The name of the function, which reports show."""
        name = str(getattr(self.function, "__name__", ""))
        return name.replace("_", " ") if name.isidentifier() else "function"

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        if not test.whole:
            raise InputError(
                "{sample_weight} must hold whole numbers: {metric} calls a function of rows.",
                metric=type(self).__name__,
            )
        test.require_rows("A function")

    def _value(self, test: Contingency) -> float:
        return float(np.mean([*self._numbers(*_rows(test)[:3]).values()]))

    def _numbers(self, *rows: Array) -> dict[Any, float]:
        """Return the numbers of some rows by their names."""
        number = self.function(*rows)
        named = dict(number) if isinstance(number, Mapping) else {"(all)": number}
        try:
            return {name: float(each) for name, each in named.items()}
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                "function must return a number, or a mapping of names to numbers; got {seen}.",
                seen=type(number).__name__,
            ) from error

    def _result(self, test: Contingency) -> AuditResult:
        return self._result_of(test, self._measured(test))

    def _measured(self, test: Contingency) -> _Numbers:
        """Return the numbers of audited rows, their mean, and what blocks of rows add to them."""
        *rows, unit = _rows(test)
        numbers = self._numbers(*rows)
        if not numbers:
            raise InputError("function must return a number, or a mapping with one or more.")
        values = np.array([*numbers.values(), np.mean([*numbers.values()])])
        moved = np.full((1, len(values)), np.nan)
        if self.interval is not None:
            moved = self._moved([*numbers], rows, unit)
        return _Numbers(tuple(numbers), values, moved)

    def _result_of(self, test: Contingency, numbers: _Numbers) -> AuditResult:
        level = None if self.interval is None else self.confidence_level
        low = high = p_value = np.full(len(numbers.values), np.nan)
        statistics = {}
        if level is not None:
            error, df = numbers.spread()
            low, high, p_value = interval(numbers.values, error, df, level)
            p_value = np.where(np.isnan(error), np.nan, p_value)
            statistics = {"standard_error": float(error[-1]), "degrees_of_freedom": float(df[-1])}
        shape = len(numbers.names), 1
        columns = {"amplification": numbers.values, "low": low, "high": high, "p_value": p_value}
        of_names = {name: column[:-1].reshape(shape) for name, column in columns.items()}
        of_names["p_adjusted"] = adjust_p_values(of_names["p_value"], self.adjust)
        of_names["n"] = np.full(shape, test.total)
        return self._made(
            test,
            value=float(numbers.values[-1]),
            low=float(low[-1]),
            high=float(high[-1]),
            p_value=float(p_value[-1]),
            verdict=self._verdict(low[-1], high[-1]),
            table=pair_table(numbers.names, ("(all)",), **of_names),
            statistics=statistics,
        )

    def _verdict(self, low: float, high: float) -> str:
        side = "above" if low > 0 else "below" if high < 0 else "includes 0"
        return self.kind.verdict("unknown" if math.isnan(low) else side, {})

    def _moved(self, names: list[Any], rows: list[Array], unit: Array) -> Array:
        """Return what each block of rows adds to the numbers and their mean (the jackknife)."""
        n_units = int(unit.max()) + 1
        n_blocks = min(n_units, _MOST_BLOCKS)
        if n_blocks < 2:
            return np.full((1, len(names) + 1), np.nan)
        # Blocks are random: parts of sorted rows would vary less than samples do.
        order = check_random_state(self.random_state or 0).permutation(n_units)
        block = (order % n_blocks)[unit]
        replicates = []
        for left_out in range(n_blocks):
            kept = block != left_out
            numbers = self._numbers(*(side[kept] for side in rows))
            each = [numbers.get(name, math.nan) for name in names]
            replicates.append([*each, float(np.mean(each))])
        away = np.array(replicates)
        return np.asarray((away.mean(axis=0) - away) * math.sqrt((n_blocks - 1) / n_blocks))

    # ------------------------------------------------------------------ models and runs

    def _of_models(self, cells: Contingency) -> dict[str, tuple[_Numbers, AuditResult]]:
        """Return the numbers of each model of ordered cells, by the same blocks, and its result."""
        measured = {}
        for model in cells.models:
            rows = of_model(cells, model)
            numbers = self._measured(rows)
            measured[model] = numbers, self._result_of(rows, numbers)
        names = {numbers.names for numbers, _ in measured.values()}
        if len(names) > 1:
            raise InputError("function must return the same names for every model.")
        return measured

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        measured = self._of_models(cells)
        level = self.confidence_level
        first, before = measured[reference]

        def difference_of(name: str) -> tuple[Mean, dict[str, Any]]:
            own, result = measured[name]
            gap = _Numbers(own.names, own.values - first.values, own.moved - first.moved)
            value, (error, df) = gap.values, gap.spread()
            low, high, p_value = interval(value, error, df, level)
            columns = {
                **result.table[["group", "task", "n"]],
                "reference": before.table["amplification"],
                "observed": result.table["amplification"],
                "difference": value[:-1],
                "amplification": value[:-1],
                "low": low[:-1],
                "high": high[:-1],
                "p_value": p_value[:-1],
                "p_adjusted": adjust_p_values(p_value[:-1], self.adjust),
            }
            return Mean(value[-1], low[-1], high[-1], p_value[-1]), columns

        models = {name: numbers_of_model(result) for name, (_, result) in measured.items()}
        return comparison_result(self, cells, reference, models, difference_of)

    def _runs(self, cells: Contingency) -> Runs:
        measured = self._of_models(cells)
        numbers = {name: own for name, (own, _) in measured.items()}

        def rows(names: Sequence[str], others: Sequence[str]) -> tuple[float, float]:
            moved = np.array([numbers[name].moved[:, -1] for name in (*names, *others)])
            covariance, n = moved @ moved.T, len(names)
            mean = moved[:n].mean(axis=0)
            shared = shared_rows(covariance)
            if others:
                mean = mean - moved[n:].mean(axis=0)
                shared = shared_rows_of_difference(covariance, n)
            return shared, float(degrees_of_freedom((mean**2).sum(), (mean**4).sum()))

        def of_pairs(method: str) -> dict[str, Array]:
            values = np.array([own.values[:-1] for own in numbers.values()])
            moved = np.array([own.moved[:, :-1] for own in numbers.values()])
            shared = np.array([shared_rows(own @ own.T) for own in np.moveaxis(moved, 2, 0)])
            mean = moved.mean(axis=0)
            df = degrees_of_freedom((mean**2).sum(axis=0), (mean**4).sum(axis=0))
            how: dict[str, Any] = {"confidence_level": self.confidence_level, "method": method}
            mean_run = mean_of_runs(values, shared, df_of_rows=df, **how)
            ends = {"low": mean_run.low, "high": mean_run.high, "p_value": mean_run.p_value}
            return ends | {"p_adjusted": adjust_p_values(mean_run.p_value, self.adjust)}

        return Runs(
            results={name: result for name, (_, result) in measured.items()},
            moved={name: own.values[:-1] for name, own in numbers.items()},
            rows=rows,
            verdict=lambda _, mean: self._verdict(float(mean.low), float(mean.high)),
            of_pairs=of_pairs,
        )


class _Numbers(NamedTuple):
    """Numbers of a function by their names, then their mean; `moved` is what blocks of rows add."""

    names: tuple[Any, ...]
    values: Array
    moved: Array

    def spread(self) -> tuple[Array, Array]:
        """Return standard errors and degrees of freedom."""
        parts = self.moved**2
        variance, fourth = parts.sum(axis=0), (parts**2).sum(axis=0)
        return np.sqrt(variance), degrees_of_freedom(variance, fourth)


def _rows(test: Contingency) -> tuple[Array, Array, Array, Array]:
    """Return labels, predictions and group of each row, and the row or cluster that it is of."""
    cells = ordered(test)
    times = cells.weight.astype(np.intp)

    def column(side: SideName) -> Array:
        named = side_of(cells, side)
        if isinstance(named.labels, Codes):
            names = np.empty(len(named.names), dtype=object)
            names[:] = named.names
            values = np.array(names[named.labels.codes].tolist())
            values = values if values.ndim == 1 else names[named.labels.codes]
        else:
            matrix = labels_of(cells, side)
            values = matrix.dense(slice(None), float if named.soft else np.int8)
            values = values[:, 0] if values.shape[1] == 1 else values
        return np.repeat(values, times, axis=0)

    unit = np.arange(times.sum())
    if cells.clusters is not None:
        unit = np.asarray(cells.clusters.apart(cells.weight).of)
    return column("task"), column("task_pred"), column("group"), unit
