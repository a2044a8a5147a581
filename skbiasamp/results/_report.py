"""Reports of several results of the same rows: an audit, or a comparison of models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import name_of
from skbiasamp.inference.hypothesis_tests import adjust_p_values, significant
from skbiasamp.render.document import Document
from skbiasamp.render.facts import Accuracy, Facts, Finding, Model, Trained, Unknown, express
from skbiasamp.render.pictures import draw_dumbbell
from skbiasamp.results._comparison import (
    ComparisonResult,
    finding_by_code,
    findings_of_models,
    model_facts,
)
from skbiasamp.results._facts import facts_by_column, possible_changes, report_facts
from skbiasamp.results._result import AuditResult
from skbiasamp.results.explanation import Explanation
from skbiasamp.results.exports import Paged, Stored, as_json, records
from skbiasamp.results.gate import FAILED, PASSED, UNDEFINED, Gate, GateCheck, Limit, gate_of

R = TypeVar("R", AuditResult, ComparisonResult)

_SPELLING = ("SBA108", "SBA109")  # names that differ only in spaces or capital letters

_WORST_FIRST = (
    *(
        words.REVERSES,
        words.AMPLIFIES,
        words.ADDS,
        words.REVEALS_MORE,
        words.REDUCES,
        words.REVEALS_LESS,
        words.NOT_MEASURED,
        words.NO_EFFECT,
    ),
)


class Report(Paged, Stored, Mapping[str, R]):
    """A report of several results: a mapping of their names."""

    results: dict[str, R]
    context: dict[str, Any]

    def __getitem__(self, name: str) -> R:
        if name not in self.results:
            raise KeyError(f"{name!r}: this report has {', '.join(map(repr, self.results))}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def _papers(self) -> list[str]:
        return [result.citation for result in self.values()]

    @property
    def primary(self) -> str | None:
        """Name of the result that the verdict is about."""
        raise NotImplementedError

    def _lowest_rank(self, is_measured: Callable[[R], bool]) -> str | None:
        """Return the name of the first result by rank that is measured; of the first if none is."""
        ranked = sorted(self.results, key=lambda name: self.results[name].rank)
        able = (name for name in ranked if is_measured(self.results[name]))
        return next(able, next(iter(ranked), None))

    def plot(self, ax: Any = None) -> Any:
        """Draw the picture of the first screen: rates of each group before and after.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        picture = self.to_document().picture
        if picture is None:
            raise InputError("There are no rates to draw: {name} has none.", name="the report")
        return draw_dumbbell(picture, ax)

    def gate(
        self, limit: float, *, on: str | Sequence[str] | None = None, one_sided: bool = False
    ) -> Gate:
        """Compare the report with the smallest effect that matters.

        Use it to decide whether a model may be released. A model that reverses the association
        fails at every limit. A report of several models compares their differences.

        Parameters
        ----------
        limit : float
            In the unit of the metric: 0.02 is two percentage points of directional amplification.
        on : str or list of str, default=None
            What is checked: a metric ("leakage"), a result ("DPA A->T"), "all", or "worst" (of an
            audit, the worst pair of group and task). None: the first metric of the report, and the
            one that its verdict is about if the first is not measured.
        one_sided : bool, default=False
            False: what the model adds or takes must lie within ±limit. True: only what it adds is
            limited.

        Returns
        -------
        gate : Gate
            It is true if all intervals lie within the limit. Its `outcome` is "passed", "failed",
            "inconclusive" or "not measured".
        """
        return self._gate(limit, on, one_sided)

    def _gate(self, limit: float, on: str | Sequence[str] | None, one_sided: bool) -> Gate:
        return gate_of(self.results, limit, on=on, one_sided=one_sided, primary=self.primary)


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Report[AuditResult]):
    """Report of several audits of the same rows.

    `skbiasamp.audit` returns it; ``report["directional A->T"]`` is the result of one auditor.

    Attributes
    ----------
    results : dict of str to AuditResult
        The results, by metric and direction.
    groups : DataFrame
        One row for each group: its rows, their share, and the accuracy of the model.
    rates : DataFrame
        One row for each pair of group and task: base rate, predicted rate, true positive rate
        and false positive rate.
    selection : DataFrame
        Selection rates and impact ratios of each sensitive column and of their combinations, if
        there are several: the table of `skbiasamp.selection_rates`.
    by_column : DataFrame
        The first metric by each sensitive column alone, if there are several: value, interval,
        p-value adjusted for the number of columns (Holm), and the verdict by it. The results are
        about the combinations of all columns, or about the groups of all columns side by side.
    columns : dict of str to AuditReport
        The report of each sensitive column alone, with ``groups="marginal"`` of several columns
        that are not counted yet. The verdict, the limit, the facts and the gate of the whole report
        are then those of the columns, the one that matters most first, and allow for their number,
        as `by_column` does. Each report by itself does not.
    explanation : Explanation or None
        Where the first metric's value comes from, if scores, strata or attributions were passed.
    curve : DataFrame
        Directional A->T at thresholds of the scores, if there are scores of one task: the
        ``threshold``, the ``predicted_rate`` above it, ``value``, ``low`` and ``high``, and the
        ``base_rate`` of the labels.
    passed : DataFrame
        One row for each group and threshold of `curve`, and one without threshold for all rows:
        how many rows above it have the label (``labelled``), and how many have not (``others``).
        Empty if there are more than 20 groups.
    unknown : Unknown or None
        Whether the verdict holds whichever groups the rows without a group belong to, and bounds of
        the value. None if every row has a group. With ``missing="bounds"``, `rates` has columns
        ``_lowest`` and ``_highest`` of rates and impact ratios.
    findings : list of Finding
        What to know before these numbers are used.
    context : dict
        Date, versions, and what was audited.
    data_files : list of dict
        The files that were read: path, number of rows, SHA-256, format, and whether their rows
        are the audited or the training ones. Empty if the rows came from memory or a query.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> list(report)
    ['directional A->T', 'MALS', 'leakage', 'DPA A->T']
    >>> report.primary
    'directional A->T'
    >>> print(report.verdict)
    The model widens the gap between m and f. The gap is 25.0 percentage points in the labels, and
    47.5 in the predictions. Allowing for chance, the model adds 18.0 to 27.0 percentage points.
    """

    _first = ("context", "data_files", "primary", "verdict", "facts", "results", "groups", "rates")
    _last = ("findings",)
    _if_any = (*Stored._if_any, "columns")
    _unwritten: ClassVar[tuple[str, ...]] = ("unknown",)  # facts hold it

    results: dict[str, AuditResult]
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    findings: list[Finding] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    data_files: list[dict[str, Any]] = field(default_factory=list)
    selection: pd.DataFrame = field(default_factory=pd.DataFrame)
    by_column: pd.DataFrame = field(default_factory=pd.DataFrame)
    explanation: Explanation | None = None
    curve: pd.DataFrame = field(default_factory=pd.DataFrame)
    passed: pd.DataFrame = field(default_factory=pd.DataFrame)
    unknown: Unknown | None = None
    columns: dict[str, AuditReport] = field(default_factory=dict)

    @cached_property
    def judged_columns(self) -> dict[str, AuditReport]:
        """The reports of columns with the verdicts of `by_column`, what matters most first."""
        reports = {}
        for row in records(self.by_column) if self.columns else ():
            own = self.columns[row["column"]]
            primary = str(own.primary)
            judged = replace(own[primary], verdict=row["verdict"])
            reports[row["column"]] = replace(own, results=own.results | {primary: judged})
        return dict(sorted(reports.items(), key=lambda item: _urgency(item[1])))

    @property
    def primary(self) -> str | None:
        """Name of the result that the verdict is about.

        Directional A->T; leakage or DPA if the labels are balanced; T->A if only the sensitive
        feature is predicted. In general the result with the lowest `rank` that can be measured.
        """
        return self._lowest_rank(lambda result: not math.isnan(result.value))

    @property
    def value(self) -> float:
        """The value of the primary result; NaN if there is none."""
        return math.nan if self.primary is None else self.results[self.primary].value

    @property
    def limit(self) -> float | None:
        """The smallest effect that matters, if one was declared."""
        return self.context.get("limit")

    @property
    def limit_verdict(self) -> str | None:
        """Whether the effect lies within the limit, outside, or neither; None without a limit."""
        return self.facts.limit_verdict

    @property
    def facts(self) -> Facts:
        """What the report tells, as numbers and names, with its findings."""
        if self.primary is None:
            return self._measured
        known = {"model": "model_name", "data": "data_name", "fail_above": "fail_above"}
        declared: dict[str, Any] = {name: self.context.get(key) for name, key in known.items()}
        facts = replace(self._measured, caveats=tuple(self.findings), **declared)
        if self._misspelt is not None:
            missing = ("value", "low", "high", "who", "robust", "limit_verdict")
            wrong: dict[str, Any] = dict.fromkeys(missing)
            facts = replace(facts, verdict=words.NOT_MEASURED, reason="misspelt", **wrong)
        return facts

    @property
    def _misspelt(self) -> Finding | None:
        """What says that names of labels or groups are misspelt, so that all numbers are wrong."""
        half = max((result.n_samples for result in self.values()), default=0) / 2
        for each in self.findings:
            known = each.numbers
            # Letters may be groups or classes by their case, and few rows be predicted a class that
            # the audited rows happen to lack.
            if each.code in _SPELLING and any(len(name) > len("'a'") for name in known["alike"]):
                return each
            if each.code == "SBA106" and not known["group"] and known["rows"] > half:
                return each
        return None

    @cached_property
    def _measured(self) -> Facts:
        """What numbers tell, which stays: findings and names are added to a report later."""
        return report_facts(self)

    @property
    def verdict(self) -> str:
        """The verdict of the primary result in sentences: what changes, by how much, how sure.

        Of columns that were audited on their own, the verdict of each.
        """
        if self.columns:
            return " ".join(
                express("audit", "verdict_by", name, facts, p)
                for name, facts, p in facts_by_column(self)
            )
        return express("audit", "verdict", self.facts)

    def _with_unknown(self, check: GateCheck, limit: float, one_sided: bool) -> GateCheck:
        """Return a check that says what is true in whatever groups the unknown rows are."""
        unknown, decided = self.unknown, check.outcome in (PASSED, FAILED)
        # Of a difference that is added, and of one that is reversed, not the value is judged.
        judged = decided and check.verdict not in (words.ADDS, words.REVERSES)
        if not judged or check.name != self.primary or unknown is None or unknown.low is None:
            return check
        assert unknown.high is not None
        if Limit.checked(limit, one_sided).outcome(unknown.low, unknown.high) == check.outcome:
            return check
        result = self.results[self.primary]
        facts = replace(result.facts, limit=limit, limit_verdict=words.INCONCLUSIVE)
        return replace(
            check,
            low=unknown.low,
            high=unknown.high,
            outcome=words.INCONCLUSIVE,
            rows=math.nan,
            sentence=express("audit", "verdict", facts),
        )

    def _gate(self, limit: float, on: str | Sequence[str] | None, one_sided: bool) -> Gate:
        if not self.columns:
            gate = super()._gate(limit, on, one_sided)
            checks = list(gate.checks)
            if "predicted_rate_lowest" in self.rates:
                checks = [self._with_unknown(check, limit, one_sided) for check in checks]
            if (wrong := self._misspelt) is not None:  # wrong numbers pass no gate
                said: dict[str, Any] = {
                    "outcome": UNDEFINED,
                    "sentence": f"{wrong.text} {wrong.action}",
                }
                checks = [
                    check if check.outcome == FAILED else replace(check, **said) for check in checks
                ]
            return replace(gate, checks=tuple(checks))
        judged = self.judged_columns
        gates = {name: own.gate(limit, on=on, one_sided=one_sided) for name, own in judged.items()}
        checks = [
            replace(check, name=f"{check.name}, {name_of(name)}")
            for name, gate in gates.items()
            for check in gate.checks
        ]
        first, *_ = gates.values()
        return replace(first, checks=tuple(checks))

    @property
    def sentences(self) -> dict[str, str]:
        """What each result says."""
        return {name: result.sentence for name, result in self.results.items()}

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each result: value, interval, p-value, published value and verdict.

        The primary result was chosen before looking. The verdicts of the others are adjusted for
        their number: `p_adjusted`.
        """
        columns = ("value", "low", "high", "p_value", "published")
        rows = [{key: getattr(result, key) for key in columns} for result in self.values()]
        verdicts = [adjusted_verdict(self[name], p) for name, p in self.p_adjusted.items()]
        index = pd.Index(list(self), name="audit")
        return pd.DataFrame(rows, index=index).assign(verdict=verdicts)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each result.

        Returns
        -------
        frame : DataFrame
            `summary`, with the name of the audit as first column.
        """
        return self.summary.reset_index()

    @property
    def p_adjusted(self) -> dict[str, float]:
        """The p-values of all results but the primary one, adjusted for their number (Holm)."""
        p_values = [
            math.nan if name == self.primary else result.p_value
            for name, result in self.results.items()
        ]
        return dict(zip(self.results, adjust_p_values(p_values).tolist(), strict=True))

    @property
    def warnings(self) -> list[str]:
        """The findings as text."""
        return [str(finding) for finding in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        findings = [
            {**as_json(finding), "text": finding.text, "action": finding.action}
            for finding in self.findings
        ]
        return super().to_dict() | {"findings": findings}

    def to_document(self) -> Document:
        """Return what the report says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._audit_document import audit_document

        return audit_document(self)


def adjusted_verdict(result: AuditResult, p_adjusted: float) -> str:
    """Return the verdict of one of several results, by a p-value that allows for the others."""
    _, low, high = result.judged
    sure = significant(p_adjusted, low, high, result.confidence_level or 0.95)
    # If the value's interval includes 0, the changes of pairs were tested.
    by_value = result.verdict in words.DIRECTION_OF or (
        result.verdict == words.ADDS and not low <= 0 <= high
    )
    return result.verdict if sure or not by_value else words.NO_EFFECT


def _urgency(report: AuditReport) -> tuple[bool, bool, int, float]:
    """Return how urgent a report is: the less, the more urgent."""
    facts = report.facts
    at = _WORST_FIRST.index(facts.verdict)
    unclear = facts.verdict in (words.NO_EFFECT, words.NOT_MEASURED)
    return unclear, facts.limit_verdict != words.OUTSIDE, at, -abs(facts.value or 0.0)


def columns_alone(report: AuditReport) -> dict[str, list[str]]:
    """Return the columns that show by themselves what all together do not, by their verdict."""
    if report.by_column.empty or report.primary is None or report.columns:
        return {}
    by_verdict = report.by_column.groupby("verdict")["column"].agg(list)
    names = {
        word: by_verdict[word] for word in (words.AMPLIFIES, words.REVERSES) if word in by_verdict
    }
    return names if report[report.primary].verdict == words.NO_EFFECT else {}


# --------------------------------------------------------------------------- comparisons


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonReport(Report[ComparisonResult]):
    """Report of comparing several models on the same rows, with every metric the inputs allow.

    `skbiasamp.compare` returns it; ``report["directional A->T"]`` is the comparison by one metric.

    .. versionadded:: 0.1

    Attributes
    ----------
    results : dict of str to ComparisonResult
        The comparisons, by metric and direction.
    accuracy : DataFrame
        One row a model: its ``accuracy``, and the ``difference`` to the reference's with
        ``difference_low`` and ``difference_high``, a 95 % interval by the same rows.
    rates : DataFrame
        One row for each model, group and task: base rate, predicted rate, true and false positive
        rate.
    context : dict
        Date, versions, and what was compared.
    data_files : list of dict
        The files that were read, with their rows and SHA-256.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> old = [1] * 90 + [0] * 310 + [1] * 210 + [0] * 190
    >>> new = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.compare(
    ...     hired, {"old": old, "new": new}, sensitive_features=sex, random_state=0
    ... )
    >>> report.primary
    'directional A->T'
    >>> report["directional A->T"].verdicts
    {'new': 'amplifies more'}
    """

    _first = ("context", "reference", "primary", "verdicts", "findings", "results")
    _last = ("data_files",)

    results: dict[str, ComparisonResult]
    accuracy: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    context: dict[str, Any] = field(default_factory=dict)
    data_files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def reference(self) -> str:
        """The model that the others are compared with."""
        return next(iter(self.results.values())).reference

    @property
    def models(self) -> list[str]:
        """The models that are compared with the reference."""
        return next(iter(self.results.values())).models

    @property
    def limit_verdicts(self) -> dict[str, str]:
        """Whether each model's value lies within the limit that was declared; {} without one."""
        return dict(self.context.get("limit_verdicts", {}))

    @property
    def primary(self) -> str:
        """Name of the comparison that the verdict is about: the first that was measured."""
        unmeasured = {words.NOT_MEASURED}
        return str(self._lowest_rank(lambda result: {*result.verdicts.values()} != unmeasured))

    @property
    def verdict(self) -> str:
        """What the primary comparison says of every model, with its accuracy."""
        return " ".join(self.verdicts.values())

    @property
    def verdicts(self) -> dict[str, str]:
        """What the primary comparison says of each model, with its accuracy."""
        sentences = {model: self.results[self.primary].sentence(model) for model in self.models}
        for row in self._accuracies:
            if row["model"] in sentences:
                sentences[row["model"]] += " " + express("comparison", "accuracy", row)
        return sentences

    def facts(self, model: str) -> Facts:
        """Return what the primary comparison tells of a model, as numbers and names.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        facts : Facts
        """
        own = model_facts(self[self.primary], model, self.context)
        names = ("accuracy", "difference", "difference_low", "difference_high")
        known: list[list[Any]] = [
            [row.get(name) for name in names] for row in self._accuracies if row["model"] == model
        ]
        accuracy = Accuracy(*known[0]) if known else None
        return replace(own, accuracy=accuracy, caveats=tuple(self.findings))

    @cached_property
    def findings(self) -> list[Finding]:
        """What to know before a model is chosen."""
        return [*findings_of_models(self)]

    @property
    def _accuracies(self) -> list[dict[str, Any]]:
        """The rows of models whose accuracy is known."""
        return [row for row in records(self.accuracy) if row["accuracy"] is not None]

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each metric and model: difference, interval, p-value and verdict."""
        columns = ["model", "value", "difference", "difference_low", "difference_high"]
        tables = []
        for name, result in self.items():
            table = result.table.loc[
                result.table["model"] != result.reference, [*columns, "p_adjusted"]
            ]
            tables.append(table.assign(verdict=list(result.verdicts.values())))
            tables[-1].insert(0, "metric", name)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each metric and model.

        Returns
        -------
        frame : DataFrame
            `summary`.
        """
        return self.summary

    def to_document(self) -> Document:
        """Return what the report says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._comparison_document import comparison_document

        return comparison_document(self)


# --------------------------------------------------------------------------- ways of training


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

    _unwritten = ("unknown", "predictions")

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
        several, models = self.table["repeat"].nunique() > 1, list[Model]()
        for row in records(self.table):
            repeat = row["repeat"] + 1 if several else None
            name = express("tables", "of_fold", row["fold"] + 1, repeat)
            models.append(Model(name, *(row[key] for key in ("value", "low", "high", "verdict"))))
        trained = Trained(
            tuple(models),
            self.context["n_models"],
            self.context["n_train"],
            *as_json(spread),
        )
        return replace(super().facts, trained=trained)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each fold.

        Returns
        -------
        frame : DataFrame
            A copy of `table`.
        """
        return self.table.copy()

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
    if facts.verdict == words.REVERSES:
        yield Finding("SBA302", "reversal", "wrong", "model", {"train": True})
    if facts.percent and facts.changes and not facts.favourable:
        yield Finding("SBA118", "favourable class", "act", "policy", {"number": None})
    if facts.verdict == words.NO_EFFECT and facts.low is not None and facts.high is not None:
        numbers = possible_changes(facts, facts.low, facts.high)
        yield Finding("SBA303", "precision", "act", "data", numbers)
    if facts.verdict in (words.AMPLIFIES, words.ADDS, words.REVEALS_MORE):
        yield Finding("SBA304", "mitigation", "act", "model", {"columns": []})
    yield finding_by_code("SBA601", n=report.context["n_models"])
