"""What a metric declares: what it is, how it is read, and what it needs."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, cast

from skbiasamp._input.options import WithOptions
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import ASSOCIATION
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.results import AuditResult, reference_labels
from skbiasamp.results.exports import paper_of


class Declaration(ABC, WithOptions):
    """What a metric says about itself. Reports, pages and plots never compare its name."""

    interval: str | None
    confidence_level: float
    metric: ClassVar[str]
    kind: ClassVar[Any] = "signed"  # the name of a `Kind`
    definition: ClassVar[str] = ""  # what it measures, for the glossary of a report
    direction = cast("str | None", None)
    # What a pair compares: columns of a result's table, and their headings.
    columns: ClassVar[Mapping[str, str]] = {"base": "Labels", "observed": "Predictions"}
    baseline: ClassVar[str] = "equally accurate random labels"  # what attackers are compared with
    pair_of: ClassVar[tuple[str, str]] = ("group", "task")  # what a row of the table is about
    unit: ClassVar[str] = ""  # of the value, if it is no share
    amplified: ClassVar[str] = ASSOCIATION  # what a report says that the model amplifies
    uncounted: ClassVar[str] = ""  # why a pair without a sign adds 0
    # What the interval is about, and what the test asks. {labels} give the signs.
    estimand: ClassVar[str] = "The value in the population that the audited rows are a sample of."
    null: ClassVar[str] = "The value is 0 in this population."
    _uses_groups: ClassVar[bool] = True
    _of_scores: ClassVar[tuple[str, ...]] = ()  # what `audit` takes besides: y_score
    _of_function: ClassVar[tuple[str, ...]] = ()  # what its function takes besides: validation
    _scores: ClassVar[bool] = False  # whether labels may be numbers, and predictions any scores
    # What labels and predictions are: "labels", "texts" or "numbers".
    reads: ClassVar[Literal["labels", "texts", "numbers"]] = "labels"

    def _requires(self) -> tuple[SideName, ...]:
        """Return the predictions that the metric cannot do without."""
        return ("group_pred",) if self.direction == "T->A" else ("task_pred",)

    def _why_labels(self) -> str:
        """Return what the metric needs labels of the audited rows for; "" if it needs none."""
        return "compares predictions with labels: pass {y_true}."

    @property
    def question(self) -> str:
        """Question that the metric answers, in one sentence."""
        return ""

    @property
    def about(self) -> str:
        """What attackers guess, and predictions reveal."""
        return "the group"

    @property
    def citation(self) -> str:
        """BibTeX entry of the paper: the first reference of the metric's docstring, or ""."""
        return paper_of(type(self))

    @property
    def rank(self) -> int:
        """Rank in a report: the lowest that can be measured gives the verdict."""
        return 9

    @property
    def fewest_rows(self) -> int:
        """With how many rows an audit is no error."""
        return 1

    @property
    def percent(self) -> bool:
        """Whether the columns that a pair compares are shares of 1."""
        return True

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        """Return the auditors that a report of these rows runs unasked: none, by default.

        With `scores`, the rows hold scores in place of predictions.
        """
        return []

    def _made(
        self, test: Contingency, *, table: Any, published_ends: Any = None, **parts: Any
    ) -> AuditResult:
        """Return a result of audited rows.

        A function may make the table, and the interval of the published value, when it is read.
        """
        nan = float("nan")
        numbers: dict[str, Any] = {"low": nan, "high": nan, "p_value": nan}
        later: dict[str, Any] = {"table": lambda _: table()} if callable(table) else {}
        if not test.has("task"):
            parts["statistics"] = {**parts.get("statistics", {}), "labelled": False}
        if self._uses_groups and not self.kind.has_attacker and not differ_in_group(test):
            # One group alone is compared with nothing, whatever a formula says.
            parts["statistics"] = {**parts.get("statistics", {}), "n_groups": 1}
            parts |= {**numbers, "value": nan, "published": nan, "verdict": words.NOT_MEASURED}
        numbers["n_samples"] = int(test.total) if test.whole else test.total
        result = AuditResult(table=table, **self._declaration_for(AuditResult), **numbers | parts)
        if published_ends is not None:
            later["published_low"] = lambda _: published_ends().low
            later["published_high"] = lambda _: published_ends().high
        return self._declared(result, test.group_columns, **later)

    def _declared(self, result: AuditResult, columns: Any, **later: Any) -> AuditResult:
        """Return a result with what the metric says about it.

        Functions `later` make other fields when they are read.
        """
        known = {"labels": reference_labels(result), "about": self.about, "baseline": self.baseline}
        runs = " It is the mean over runs of the same training." * ("n_runs" in result.statistics)
        # A metric that does not say what its associations are is tested as it stands.
        own = self
        columns_of_pairs = dict(self.columns)
        if not result.labelled and "base" in columns_of_pairs:
            columns_of_pairs |= {"base": "Reference", "observed": "These rows"}
        of_result: dict[str, Any] = {
            "columns": columns_of_pairs,
            "settings": tuple(
                name
                for name, parameter in _parameters(type(self)).items()
                if result.params.get(name, parameter.default) is not parameter.default
                and repr(result.params[name]) != repr(parameter.default)
            ),
            "group_columns": tuple(columns or ()),
            "estimand": own.estimand.format(**known) + runs,
            "null": own.null.format(**known),
        }
        result = replace(result, **of_result)
        return result._make_later(**later)

    def _declaration_for(self, results: type) -> dict[str, Any]:
        """Return what the metric says about itself, as fields of a kind of results."""
        declared = {name: getattr(self, name) for name in _declared_fields(results)}
        return declared | {
            "metric": self.metric,
            "direction": self.direction,
            "confidence_level": None if self.interval is None else self.confidence_level,
            "params": self.get_params(deep=False),
        }

    @classmethod
    def for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        """Return the auditors that a report of these rows runs unasked, with labels or without."""
        auditors = cls._for_report(test, scores=scores)
        return [auditor for auditor in auditors if test.has("task") or not auditor._why_labels()]


@cache
def _declared_fields(results: type) -> list[str]:
    """Return the fields that a metric declares: those with a default that an auditor has too."""
    known = (field.name for field in fields(results) if field.default is not field.default_factory)
    return [name for name in known if hasattr(Declaration, name)]


@cache
def _parameters(auditor: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(auditor).parameters
