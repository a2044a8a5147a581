"""Assertions about bias amplification, for tests of models."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any

import pandas as pd

from skbiasamp._input.checks import is_one
from skbiasamp._input.errors import InputError, InputTypeError, meant, quote
from skbiasamp._utils.formatting import AMPLIFIES, REVEALS_MORE
from skbiasamp.results import AuditReport, AuditResult

__all__ = ["assert_amplification"]

_SHOWN = ["group", "task", "n", "base", "observed", "amplification", "low", "high"]
_MOST = 5


def assert_amplification(
    report: AuditReport | AuditResult,
    *,
    below: float = 0.02,
    on: str = "directional",
    group: Any = None,
    task: Any = None,
) -> None:
    r"""Assert that bias amplification does not lie above a limit.

    The assertion fails only if the confidence interval lies above the limit. A model whose
    amplification is uncertain passes.

    .. versionadded:: 0.1

    Parameters
    ----------
    report : AuditReport or AuditResult
        What `skbiasamp.audit` or an auditor returned.
    below : float, default=0.02
        The limit, in the unit of the metric: 0.02 is two percentage points of directional
        amplification.
    on : str, default="directional"
        The result that is checked, by its name ("directional A->T") or its metric ("directional":
        all its directions). It has no effect on an `AuditResult`.
    group, task : label, default=None
        Check the pairs of this group, of this task, or of both, in place of the metric's value. A
        pair fails if its interval lies above the limit and its adjusted p-value is significant.

    Raises
    ------
    AssertionError
        An interval lies above the limit. The message lists the pairs that are responsible.
    InputError
        There is no interval to check: the result is undefined, or the auditor has no interval.

    Examples
    --------
    >>> import skbiasamp
    >>> from skbiasamp.testing import assert_amplification
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> assert_amplification(report, below=0.15)
    >>> try:
    ...     assert_amplification(report, below=0.02)
    ... except AssertionError as error:
    ...     first, *_, m, f = str(error).splitlines()
    ...     print(first, m, f, sep="\n")
    directional A->T: +0.1125, 95 % interval +0.0925 to +0.1342, lies above 0.02.
        m     1 400 0.5000    0.6250         0.1250 0.0945 0.1570
        f     1 400 0.2500    0.1500         0.1000 0.0721 0.1309
    """
    __tracebackhide__ = True
    if not isinstance(report, AuditReport | AuditResult):
        raise InputTypeError(
            "{report} must be an AuditReport or an AuditResult; got {kind}.",
            kind=type(report).__name__,
        )
    if not isinstance(on, str):
        raise InputTypeError("{on} must be the name of a result; got {seen!r}.", seen=on)
    if not isinstance(below, Real) or not -sys.float_info.max <= below <= sys.float_info.max:
        raise InputTypeError("{below} must be a finite number; got {seen!r}.", seen=below)
    failed = []
    for result in [report] if isinstance(report, AuditResult) else _chosen(report, on):
        pairs = result.table
        one_pair = group is not None or task is not None
        if one_pair:
            pairs = _selected(pairs, group, task)
        if math.isnan(pairs["low"].max() if one_pair else result.low):
            raise InputError(
                "{report} has no confidence interval of {name} to check: {sentence} Audit more "
                "rows, or give the auditor an interval.",
                name=result.name,
                sentence=result.sentence,
            )
        level = result.confidence_level or 0.95
        sure = pairs.get("p_adjusted", pairs["low"] * 0).fillna(1) < 1 - level
        above = pairs[(pairs["low"] > below) & sure]
        if one_pair and len(above):
            failed.append(f"{result.name}: {len(above)} of {len(pairs)} pairs lie above {below:g}.")
            failed.append(_listed(above))
        found = result.verdict in (AMPLIFIES, REVEALS_MORE)
        if not one_pair and found and result.low > below:
            interval = f"{100 * level:g} % interval {result.low:+.4f} to {result.high:+.4f}"
            failed.append(
                f"{result.name}: {result.estimate:+.4f}, {interval}, lies above {below:g}."
            )
            failed.append(result.sentence)
            failed.append(_listed(pairs[pairs["amplification"] > 0]))
    if failed:
        raise AssertionError("\n".join(filter(None, failed)))


def _chosen(report: AuditReport, on: str) -> list[AuditResult]:
    """Return the results with a name or a metric."""
    key = on.casefold()
    names = [
        name
        for name, one in report.items()
        if key in (name.casefold(), one.name.casefold(), one.metric.casefold())
    ]
    if not names:
        raise InputError(
            "{on} must name a result of the report; got {seen!r}{meant} It has {names}.",
            seen=on,
            meant=meant(on, report),
            names=quote(list(report)),
        )
    return [report[name] for name in names]


def _selected(table: pd.DataFrame, group: Any, task: Any) -> pd.DataFrame:
    """Return the pairs of a group, a task or both."""
    for column, wanted in (("group", group), ("task", task)):
        if wanted is not None:
            known = list(dict.fromkeys(table[column]))
            if is_one(wanted, known):
                table = table[[one == wanted for one in table[column]]]
            if table.empty or not is_one(wanted, known):
                raise InputError(
                    f"{{{column}}} must be a {column} of the audit; got {{seen!r}}. It has "
                    "{known}.",
                    seen=wanted,
                    known=quote(known, most=10),
                )
    return table


def _listed(pairs: pd.DataFrame) -> str:
    """Return the pairs that amplify most, as text."""
    if pairs.empty:
        return ""
    shown = pairs.sort_values("amplification", ascending=False, kind="stable").head(_MOST)
    rest = f"\n(and {len(pairs) - _MOST} more pairs)" if len(pairs) > _MOST else ""
    columns = [name for name in _SHOWN if name in shown and shown[name].notna().any()]
    return shown[columns].to_string(index=False, float_format="{:.4f}".format) + rest
