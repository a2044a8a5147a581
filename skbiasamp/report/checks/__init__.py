"""Checks: what to know before the numbers of a report are used, one class a finding.

A check is a subclass of `Check` in any module of this package; nothing else has to know it.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from skbiasamp._utils.formatting import group_of, listed
from skbiasamp.counts.contingency import Contingency
from skbiasamp.results import AuditReport, AuditResult, Finding

ALPHA = 0.05
PAIRS = ("labels", "numbers")  # of what pairs of group and task are


@dataclass(frozen=True)
class Audited:
    """What a check looks at."""

    report: AuditReport
    test: Contingency
    train: Contingency | None
    scored: Contingency | None  # the audited rows with scores in place of predictions
    n_given: int | None  # rows that came with weights
    reads: str = "labels"  # what labels and predictions are: labels, texts or numbers

    @property
    def signs(self) -> Contingency:
        """The labels that give the signs."""
        return self.test if self.train is None else self.train

    def names(self, condition: Callable[[AuditResult], Any]) -> list[str]:
        """Return the names of the results for which something is true."""
        return [name for name, result in self.report.items() if condition(result)]

    def most(self, statistic: str) -> float:
        """Return the largest value of a statistic in the report."""
        return max((each.statistics.get(statistic, 0) for each in self.report.values()), default=0)

    @property
    def primary(self) -> AuditResult | None:
        """The result that gives the verdict."""
        return None if self.report.primary is None else self.report[self.report.primary]

    def group(self, name: Any) -> str:
        """Return a group as sentences name it."""
        return group_of(name, self.report.context.get("group_columns", ()))

    @property
    def attacks(self) -> str:
        """The metrics of attackers in the report, as a sentence lists them."""
        names = self.names(lambda result: result.kind.has_attacker)
        return listed(names) if names else "a metric with an attacker"


Found = tuple[str, str] | None


class Check(ABC):
    """One thing to know before the numbers of a report are used."""

    topic: ClassVar[str]
    place: ClassVar[str] = "note"  # as in Finding
    rank: ClassVar[int]  # place in the list of findings
    reads: ClassVar[tuple[str, ...]] = ("labels",)  # of what it says something

    @abstractmethod
    def finding(self, audited: Audited) -> Found:
        """Return what was seen and what to do next, or None if there is nothing to say."""


def every_check() -> list[Check]:
    """Return all checks of this package, in the order of their findings."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return sorted((check() for check in _below(Check)), key=lambda check: check.rank)


def _below(kind: Any) -> Iterator[type[Check]]:
    """Yield the checks of this package among the subclasses of a class."""
    for check in kind.__subclasses__():
        if hasattr(check, "topic") and check.__module__.startswith(f"{__name__}."):
            yield check
        yield from _below(check)


def findings_of(audited: Audited) -> list[Finding]:
    """Return what the checks find."""
    checks = (check for check in every_check() if audited.reads in check.reads)
    findings = ((check, check.finding(audited)) for check in checks)
    return [
        Finding(check.topic, parts[0], check.place, parts[1]) for check, parts in findings if parts
    ]
