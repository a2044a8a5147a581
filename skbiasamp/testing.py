"""Assertions about bias amplification, for tests of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skbiasamp._input.checks import check_option, is_one
from skbiasamp._input.errors import InputError, InputTypeError, quote, speaking
from skbiasamp._utils.formatting import INCONCLUSIVE
from skbiasamp.results import AuditReport, AuditResult
from skbiasamp.results.gate import FAILED, UNDEFINED, Limit, gate_of, pair_checks

__all__ = ["assert_amplification"]

_SHOWN = ["group", "task", "n", "base", "observed", "amplification", "low", "high"]
_MOST = 5


def assert_amplification(
    report: AuditReport | AuditResult,
    *,
    below: float | None = None,
    limit: float | None = None,
    on: str = "directional",
    group: Any = None,
    task: Any = None,
    inconclusive: str = "fail",
) -> None:
    r"""Assert that bias amplification lies within a limit.

    The assertion holds only if the whole confidence interval lies within the limit, and never for
    a model that reverses the association. If the interval lies on both sides of the limit, the
    message says how many rows would decide.

    .. versionadded:: 0.1

    Parameters
    ----------
    report : AuditReport or AuditResult
        What `skbiasamp.audit` or an auditor returned.
    below : float, default=None
        The limit of what the model adds, in the unit of the metric: 0.02 is two percentage points
        of directional amplification. None: 0.02, if there is no `limit` either.
    limit : float, default=None
        The same for both directions, in place of `below`: what the model adds or takes must lie
        within ±limit.
    on : str, default="directional"
        The result that is checked, by its name ("directional A->T") or its metric ("directional":
        all its directions). It has no effect on an `AuditResult`.
    group, task : label, default=None
        Check the pairs of this group, of this task, or of both, in place of the metric's value. A
        pair fails if its interval lies outside and its adjusted p-value is significant.
    inconclusive : {"fail", "pass"}, default="fail"
        What an interval means that lies on both sides of the limit.

    Raises
    ------
    AssertionError
        An interval does not lie within the limit. The message lists the pairs that are
        responsible.
    InputError
        There is no interval to check: the result is undefined, or the auditor has no interval.

    See Also
    --------
    skbiasamp.AuditReport.gate : The outcome as an object.

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
    directional A->T: +0.1125, 95 % interval +0.0925 to +0.1342, amplifies: failed
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
    check_option("inconclusive", inconclusive, ("fail", "pass"))
    if below is not None and limit is not None:
        raise InputError("Pass either {below} or {limit}.")
    one_sided = limit is None
    size = (0.02 if below is None else below) if limit is None else limit
    results: Mapping[str, AuditResult] = (
        report if isinstance(report, AuditReport) else {report.name: report}
    )
    with speaking({"limit": "below" if one_sided else "limit"}):
        gate = gate_of(results, size, on=on if results is report else None, one_sided=one_sided)
        allowed = Limit.checked(size, one_sided)
    failed = []
    for whole in gate.checks:
        result = results[whole.name]
        pairs, checks = result.table, [whole]
        if group is not None or task is not None:
            pairs = _selected(pairs, group, task)
            checks = list(pair_checks(result, pairs, allowed))
        if all(check.outcome == UNDEFINED for check in checks):
            raise InputError(
                "{report} has no confidence interval of {name} to check: {sentence} Audit more "
                "rows, or give the auditor an interval.",
                name=whole.name,
                sentence=whole.sentence,
            )
        wrong = [
            check
            for check in checks
            if check.outcome == FAILED or (check.outcome, inconclusive) == (INCONCLUSIVE, "fail")
        ]
        if wrong:
            side = -1 if wrong[0].estimate < 0 else 1
            failed += [*map(str, wrong[:_MOST]), *dict.fromkeys(check.sentence for check in wrong)]
            failed.append(_listed(pairs[pairs["amplification"] * side > 0], side))
    if failed:
        raise AssertionError("\n".join(filter(None, failed)))


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


def _listed(pairs: pd.DataFrame, side: int) -> str:
    """Return the pairs that change most in a direction, as text."""
    if pairs.empty:
        return ""
    shown = pairs.sort_values("amplification", ascending=side < 0, kind="stable").head(_MOST)
    rest = f"\n(and {len(pairs) - _MOST} more pairs)" if len(pairs) > _MOST else ""
    columns = [name for name in _SHOWN if name in shown and shown[name].notna().any()]
    return shown[columns].to_string(index=False, float_format="{:.4f}".format) + rest
