"""A metric that is a plain function of labels, predictions and groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.labels import Codes
from skbiasamp._input.options import PositionalOption
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.cells import labels_of, side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.influence import degrees_of_freedom, interval
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.results import AuditResult, pair_table

_MOST_BLOCKS = 500


class FunctionAuditor(BaseAuditor):
    """Audit a number that a function of labels, predictions and groups returns.

    Use it for a metric that is no mean over pairs of rates. Derive `CooccurrenceAuditor` for one
    that is: it has signs of training labels, verdicts with a direction, and comparisons of models.

    .. versionadded:: 0.3

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred, group)`` of arrays with one entry a row. It returns a number that
        is 0 if the model changes nothing, or a mapping of names to numbers, whose mean is the
        value.
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
    """

    metric = "function"
    definition = (
        "Any number that a function of labels, predictions and groups returns: 0 if the model "
        "changes nothing."
    )
    question = "Does the model change the number that the function returns?"
    estimand = "What the function returns in the population that the audited rows are a sample of."
    null = "The function returns 0 in this population."
    columns = {"amplification": "Number"}  # noqa: RUF012
    pair_of = ("number", "task")
    function: Callable[[Array, Array, Array], Any] = PositionalOption(callable, kw_only=False)
    percent: bool = PositionalOption("boolean", kw_only=True)
    n_resamples: Any = None
    n_jobs: Any = None

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
        except TypeError as error:
            raise InputTypeError(
                "function must return a number, or a mapping of names to numbers; got {seen}.",
                seen=type(number).__name__,
            ) from error

    def _result(self, test: Contingency) -> AuditResult:
        *rows, unit = _rows(test)
        numbers = self._numbers(*rows)
        if not numbers:
            raise InputError("function must return a number, or a mapping with one or more.")
        values = np.array([*numbers.values(), np.mean([*numbers.values()])])
        level = None if self.interval is None else self.confidence_level
        low = high = p_value = error = df = np.full(len(values), np.nan)
        if level is not None:
            error, df = self._spread([*numbers], rows, unit)
            low, high, p_value = interval(values, error, df, level)
            p_value = np.where(np.isnan(error), np.nan, p_value)
        side = "above" if low[-1] > 0 else "below" if high[-1] < 0 else "includes 0"
        names = tuple(numbers)
        shape = len(names), 1
        columns = {"amplification": values, "low": low, "high": high, "p_value": p_value}
        of_names = {name: column[:-1].reshape(shape) for name, column in columns.items()}
        of_names["p_adjusted"] = adjust_p_values(of_names["p_value"], self.adjust)
        of_names["n"] = np.full(shape, test.total)
        return self._made(
            test,
            value=float(values[-1]),
            low=float(low[-1]),
            high=float(high[-1]),
            p_value=float(p_value[-1]),
            verdict=self.kind.verdict("unknown" if math.isnan(low[-1]) else side, {}),
            table=pair_table(names, ("(all)",), **of_names),
            statistics={
                "standard_error": float(error[-1]),
                "degrees_of_freedom": float(df[-1]),
            }
            if level is not None
            else {},
        )

    def _spread(self, names: list[Any], rows: list[Array], unit: Array) -> tuple[Array, Array]:
        """Return standard errors and degrees of freedom of the numbers, and of their mean."""
        n_units = int(unit.max()) + 1
        n_blocks = min(n_units, _MOST_BLOCKS)
        nan = np.full(len(names) + 1, np.nan)
        if n_blocks < 2:
            return nan, nan
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
        parts = (away - away.mean(axis=0)) ** 2 * (n_blocks - 1) / n_blocks
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
