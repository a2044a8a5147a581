"""The report of a cross-audit: what a way of training does, over other training samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._utils.formatting import ADDS, AMPLIFIES, NO_EFFECT, REVEALS_MORE, REVERSES
from skbiasamp.render.facts import Facts, Finding, Model, Trained
from skbiasamp.render.words import express
from skbiasamp.results._comparison import finding_by_code
from skbiasamp.results._facts import possible_changes
from skbiasamp.results._report import AuditReport
from skbiasamp.results._result import AuditResult
from skbiasamp.results.exports import as_json, records


@dataclass(frozen=True, eq=False, repr=False)
class CrossAuditResult(AuditReport):
    """Report of how models are trained, as returned by `cross_audit`.

    It is a report as `AuditReport` is, with a page, a verdict and a gate. Its result is the mean
    over folds, and its intervals are for models that are trained on other samples.

    Attributes
    ----------
    results : dict of str to AuditResult
        One result, by metric and direction: the means over folds. ``statistics`` holds the
        ``standard_error`` over samples and its ``degrees_of_freedom``.
    folds : list of AuditResult
        One for each fold of each repeat; None if its training rows lack a group. Means leave such
        folds out, and those whose held-out rows are all of one group.
    pooled : AuditResult
        Audit of all held-out predictions together, with the signs of these rows' labels. Its
        interval describes the choice of rows. With several repeats, value and interval are those
        of the mean over repeats.
    table : DataFrame
        One row for each fold: ``repeat``, ``fold``, ``n_train``, ``n_test``, the ``value``
        with ``low``, ``high`` and ``p_value``, the ``published`` value (see `AuditResult`), the
        ``verdict`` on the model of the fold, and the classifier's scores.
    predictions : list of ndarray
        The predictions of each fold's held-out rows.
    context : dict
        Date, versions, and how many models were trained.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import cross_audit
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.choice(["f", "m"], 600), rng.normal(size=600)
    >>> hired = (skill + (sex == "m") / 2 + rng.normal(size=600) > 0).astype(int)
    >>> report = cross_audit(
    ...     DecisionTreeClassifier(max_depth=3, random_state=0),
    ...     np.column_stack([skill, sex == "m"]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     random_state=0,
    ... )
    >>> print(report.verdict)
    Not clear whether such models change the gap between m and f. The gap is 16.0 percentage points
    in the labels, and 32.7 in the predictions. Allowing for other training samples, the gap changes
    by −7.1 to +40.3 percentage points. On their own held-out rows, 2 of 5 models amplify, 3 show no
    clear effect.
    >>> report.table[["fold", "n_test", "value", "low", "high", "verdict"]].round(3)
       fold  n_test  value    low   high          verdict
    0     0     120  0.055 -0.046  0.155  no clear effect
    1     1     120  0.149  0.061  0.237        amplifies
    2     2     120  0.163  0.057  0.269        amplifies
    3     3     120  0.076 -0.019  0.170  no clear effect
    4     4     120 -0.028 -0.117  0.061  no clear effect
    """

    folds: list[AuditResult | None] = field(default_factory=list)
    pooled: AuditResult | None = None
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    predictions: list[Array] = field(default_factory=list)

    def __float__(self) -> float:
        return self.value

    @property
    def low(self) -> float:
        """Lower end of the confidence interval of the value."""
        return self._result.low

    @property
    def high(self) -> float:
        """Upper end of the confidence interval of the value."""
        return self._result.high

    @property
    def published(self) -> float:
        """Mean of the published value over folds."""
        return float(self._result.published)

    @property
    def confidence_level(self) -> float:
        """Level of the interval."""
        return float(self._result.confidence_level or math.nan)

    @property
    def _result(self) -> AuditResult:
        return next(iter(self.results.values()))

    @property
    def facts(self) -> Facts:
        """What the report tells, as numbers and names, with the models of all folds."""
        repeats = self.table.groupby("repeat")["value"]
        spread = float(np.sqrt(repeats.var().mean())), float(repeats.mean().std())
        trained = Trained(
            tuple(Model(*row) for row in self._models()),
            self.context["n_models"],
            self.context["n_train"],
            *as_json(spread),
        )
        return replace(super().facts, trained=trained)

    def _models(self) -> Iterator[tuple[Any, ...]]:
        """Yield the name, the value with its interval, and the verdict of each model of a fold."""
        several = self.table["repeat"].nunique() > 1
        for row in records(self.table):
            name = express(
                "tables", "of_fold", row["fold"] + 1, row["repeat"] + 1 if several else None
            )
            yield name.strip(), *(row[key] for key in ("value", "low", "high", "verdict"))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each fold.

        Returns
        -------
        frame : DataFrame
            A copy of `table`.
        """
        return self.table.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None; predictions are left out.

        Returns
        -------
        content : dict
        """
        content = super().to_dict()
        del content["predictions"]
        return content

    @property
    def over(self) -> str:
        """What the mean is over: "5 folds", or "4 of 10 folds of 2 repeats"."""
        n, repeats = len(self.folds), self.table["repeat"].nunique()
        measured = int(self.table["value"].count())
        part = f"{measured} of " if measured < n else ""
        of_repeats = f" of {repeats} repeats" if repeats > 1 else ""
        return f"{part}{n} fold{'s' if n != 1 else ''}{of_repeats}"


def findings_of_training(report: CrossAuditResult) -> Iterator[Finding]:
    """Yield what to do about a way of training, as after an audit of one model."""
    facts = report.facts
    if facts.verdict == REVERSES:
        yield Finding("SBA302", "reversal", "wrong", "model", {"train": True})
    if facts.percent and facts.changes and not facts.favourable:
        yield Finding("SBA118", "favourable class", "act", "policy", {})
    if facts.verdict == NO_EFFECT and facts.low is not None and facts.high is not None:
        numbers = possible_changes(facts, facts.low, facts.high)
        yield Finding("SBA303", "precision", "act", "data", numbers)
    if facts.verdict in (AMPLIFIES, ADDS, REVEALS_MORE):
        yield Finding("SBA304", "mitigation", "act", "model", {"columns": []})
    yield finding_by_code("SBA601", n=report.context["n_models"])
