"""Assertions about bias amplification, for tests of models and of metrics."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from skbiasamp._input.checks import check_option, is_one, require_auditor
from skbiasamp._input.errors import InputError, InputTypeError, quote, renaming
from skbiasamp._input.options import keywords
from skbiasamp._utils.formatting import INCONCLUSIVE
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.results import AuditReport, AuditResult
from skbiasamp.results.gate import FAILED, UNDEFINED, Limit, gate_of, pair_checks

__all__ = ["assert_amplification", "check_auditor"]

_SHOWN = ["group", "task", "n", "base", "observed", "change", "low", "high"]
_MOST = 5


@keywords()
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
    skbiasamp.results.AuditReport.gate : The outcome as an object.

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
    ...     first, *_, f, m = str(error).splitlines()
    ...     print(first, f, m, sep="\n")
    directional A->T: +0.1125, 95 % interval +0.0901 to +0.1349, amplifies: failed
        f     1 400 0.2500    0.1500 -0.1125 -0.1365 -0.0885
        m     1 400 0.5000    0.6250  0.1125  0.0885  0.1365
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
    with renaming({"limit": "below" if one_sided else "limit"}):
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
            side = -1 if wrong[0].value < 0 else 1
            failed += [*map(str, wrong[:_MOST]), *dict.fromkeys(check.sentence for check in wrong)]
            failed.append(_listed(pairs[pairs["amplification"] * side > 0], side))
    if failed:
        raise AssertionError("\n".join(filter(None, failed)))


def _selected(table: pd.DataFrame, group: Any, task: Any) -> pd.DataFrame:
    """Return the pairs of a group, a task or both."""
    for column, wanted in (("group", group), ("task", task)):
        if wanted is not None:
            known = list(dict.fromkeys(table[column]))
            rows = [value == wanted for value in table[column]] if is_one(wanted, known) else []
            if not rows:
                raise InputError(
                    f"{{{column}}} must be a {column} of the audit; got {{seen!r}}. It has "
                    "{known}.",
                    seen=wanted,
                    known=quote(known, most=10),
                )
            table = table[rows]
    return table


def _listed(pairs: pd.DataFrame, side: int) -> str:
    """Return the pairs that change most in a direction, as text."""
    if pairs.empty:
        return ""
    shown = pairs.sort_values("amplification", ascending=side < 0, kind="stable").head(_MOST)
    n = len(pairs) - _MOST
    rest = f"\n(and {n} more pair{'s' * (n != 1)})" if n > 0 else ""
    columns = [name for name in _SHOWN if name in shown and shown[name].notna().any()]
    return shown[columns].to_string(index=False, float_format="{:.4f}".format) + rest


@keywords()
def check_auditor(auditor: BaseAuditor) -> None:
    """Assert that an auditor keeps what every auditor promises, whatever it measures.

    It is run on 300 generated rows: labels, numbers or texts, as the auditor ``reads``. Use it
    to test a metric of your own.

    .. versionadded:: 0.2

    Parameters
    ----------
    auditor : auditor
        An instance; it stays as it is. Its intervals are computed with few resamples.

    Raises
    ------
    AssertionError
        A promise is broken; the message names it.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> from skbiasamp.testing import check_auditor
    >>> check_auditor(DirectionalAuditor("T->A"))
    """
    __tracebackhide__ = True
    require_auditor(auditor)
    for check in (check for name, check in vars(_Checked).items() if name.startswith("check_")):
        try:
            check(_Checked(auditor))
        except Exception as error:
            promise = (check.__doc__ or "").rstrip(".")
            text = f"{promise[:1].lower()}{promise[1:]}. {str(error) or type(error).__name__}"
            raise AssertionError(f"{type(auditor).__name__} breaks a promise: {text}") from error


class _Checked:
    """An auditor under test, and rows that it can read: y, predicted, sex and group predicted.

    Methods that begin with `check_` are its promises, which their docstrings name.
    """

    def __init__(self, auditor: Any) -> None:
        rng = np.random.default_rng(0)
        n = 300
        rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "y": rng.integers(0, 2, n)})
        wrong, unknown = rng.random((2, n)) < 0.2
        rows["p"] = np.where(wrong, rows["sex"] == "m", rows["y"]).astype(int)
        rows["sex_p"] = np.where(unknown, "f", rows["sex"])
        if auditor.reads == "texts":
            texts = {0: "a man paints a small house", 1: "a woman cooks some soup"}
            rows = rows.replace({"y": texts, "p": texts})
        if auditor.reads == "numbers":
            rows = rows.assign(**{name: rows[name] + 0.25 * wrong for name in ("y", "p")})
        quick = {"n_resamples": 19, "n_draws": 2, "cv": 2}
        known = auditor.get_params(deep=False)
        options = {name: value for name, value in quick.items() if known.get(name) is not None}
        options |= {"random_state": 0} if "random_state" in known else {}
        self.auditor, self.rows = clone(auditor).set_params(**options), rows

    def fitted(self, rows: pd.DataFrame | None = None, auditor: Any = None, **more: Any) -> Any:
        """Return an auditor, a new one if none is given, that learned the labels of rows."""
        rows = self.rows if rows is None else rows
        auditor = clone(self.auditor) if auditor is None else auditor
        return auditor.fit(rows["y"], sensitive_features=rows["sex"], **more)

    def labels(self, rows: pd.DataFrame | None = None) -> dict[str, Any]:
        """Return labels and predictions, as `score` and `audit` take them."""
        rows = self.rows if rows is None else rows
        named = {"y_true": rows["y"], "y_pred": rows["p"], "sensitive_features": rows["sex"]}
        predicted = getattr(self.auditor, "direction", None) == "T->A"
        if predicted and self.auditor.reads == "labels":
            named["sensitive_pred"] = rows["sex_p"]
        return named

    def score(self, auditor: Any, rows: pd.DataFrame | None = None, **more: Any) -> float:
        return float(auditor.score(**self.labels(rows), **more))

    def audit(self, auditor: Any, rows: pd.DataFrame | None = None) -> AuditResult:
        result: AuditResult = auditor.audit(**self.labels(rows))
        return result

    # ------------------------------------------------------------------ promises

    def check_parameters(self) -> None:
        """The constructor stores each parameter as it came, and a clone has the same parameters."""
        kind = type(self.auditor)
        marks = {name: f"<{name}>" for name in inspect.signature(kind).parameters}
        for auditor in (kind(**marks), clone(kind(**marks))):
            stored = auditor.get_params(deep=False)
            changed = [
                name for name in marks.keys() | stored if stored.get(name) != marks.get(name)
            ]
            assert not changed, f"Changed or lost: {quote(sorted(changed))}."

    def check_declaration(self) -> None:
        """It says what it measures and how it is read."""
        auditor = self.auditor
        assert auditor.metric and isinstance(auditor.metric, str), "`metric` must be its name."
        assert auditor.question in ("", auditor.question.rstrip("?") + "?"), (
            "`question` asks nothing."
        )
        result = self.audit(self.fitted())
        assert result.metric == auditor.metric, f"The result is of {result.metric!r}."
        assert result.sentence.endswith("."), f"The sentence is {result.sentence!r}."

    def check_calls(self) -> None:
        """Fit and audit leave the parameters alone, and fit returns the auditor."""
        auditor = clone(self.auditor)
        before = repr(auditor.get_params(deep=False))
        assert self.fitted(auditor=auditor) is auditor, "`fit` returns something else."
        self.audit(auditor)
        assert repr(auditor.get_params(deep=False)) == before, "Parameters have changed."

    def check_value(self) -> None:
        """Score is the value of audit."""
        auditor = self.fitted()
        _same(self.score(auditor), self.audit(auditor).value, what="score")

    def check_formula(self) -> None:
        """The value of formula="published" is the published value."""
        if "formula" in self.auditor.get_params(deep=False):
            published = self.audit(self.fitted()).published
            auditor = clone(self.auditor).set_params(formula="published")
            value = self.score(self.fitted(auditor=auditor))
            _same(value, published, what="published", within=1e-12)

    def check_copies(self) -> None:
        """A pickled copy and a clone that is fitted again measure the same."""
        auditor = self.fitted()
        value = self.score(auditor)
        _same(self.score(pickle.loads(pickle.dumps(auditor))), value, what="pickled")
        _same(self.score(self.fitted(auditor=clone(auditor))), value, what="cloned")

    def check_order(self) -> None:
        """The order of rows changes nothing."""
        shuffled = self.rows.sample(frac=1, random_state=1)
        value, expected = (
            (result.value, result.low, result.high, result.p_value)
            for result in (self.audit(self.fitted(rows), rows) for rows in (shuffled, self.rows))
        )
        _same(value, expected, what="value, low, high, p_value", within=1e-12)

    def check_weights(self) -> None:
        """A whole weight counts as so many rows."""
        weight = np.random.default_rng(1).integers(1, 4, len(self.rows))
        repeated = self.rows.loc[self.rows.index.repeat(weight)]
        value = self.score(self.fitted(sample_weight=weight), sample_weight=weight)
        expected = self.score(self.fitted(repeated), repeated)
        _same(value, expected, what="weighted", within=1e-6)

    def check_streams(self) -> None:
        """Training labels in chunks add up to the whole."""
        auditor = clone(self.auditor)
        for chunk in (self.rows[:100], self.rows[100:]):
            auditor.partial_fit(chunk["y"], sensitive_features=chunk["sex"])
        _same(self.score(auditor), self.score(self.fitted()), what="chunks", within=1e-12)

    def check_json(self) -> None:
        """A result is written as JSON, with the same numbers."""
        result = self.audit(self.fitted())
        names = ("value", "low", "high", "p_value", "published")
        content = json.loads(result.to_json())
        written = [np.nan if content[name] is None else content[name] for name in names]
        _same(written, [getattr(result, name) for name in names], what=", ".join(names))

    def check_bad_input(self) -> None:
        """Bad input raises an error."""
        labels = self.labels()
        bad: dict[str, dict[str, Any]] = {
            "Labels of fewer rows": {"y_true": labels["y_true"][:-1]},
            "Missing labels": {"y_true": [None, *labels["y_true"][1:]]},
            "Missing predictions": {"y_pred": [None, *labels["y_pred"][1:]]},
            "Rows without predictions": {"y_pred": None, "sensitive_pred": None},
        }
        for what, changed in bad.items():
            try:
                value = self.fitted().score(**labels | changed)
            except (ValueError, TypeError):
                continue
            raise AssertionError(f"{what} have the value {value}.")

    def check_a_perfect_model(self) -> None:
        """A model that is always right amplifies nothing."""
        right = self.rows.assign(p=self.rows["y"], sex_p=self.rows["sex"])
        # The audited rows are those of training: these are no sample beside them.
        known = "reference_is_sample" in inspect.signature(self.auditor.fit).parameters
        more: dict[str, Any] = {"reference_is_sample": False} if known else {}
        _same(self.score(self.fitted(**more), right), 0.0, what="value", within=1e-12)


def _same(value: Any, expected: Any, *, what: str, within: float = 0.0) -> None:
    """Assert that two numbers, or lists of numbers, are the same."""
    equal = np.allclose(value, expected, rtol=within, atol=within, equal_nan=True)
    assert equal, f"{what}: {value} in place of {expected}."
