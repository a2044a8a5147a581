"""Checks: what to know before the numbers of a report are used, one function a finding.

A check is a function with the decorator `check` in any module of this package; nothing else has to
know it. It yields the numbers of a finding, and templates have its words.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from skbiasamp.counts.contingency import Contingency
from skbiasamp.render.facts import Finding
from skbiasamp.results import AuditReport, AuditResult, classes_wanted, group_name, task_name

ALPHA = 0.05
WORTH_SAYING = 0.01  # a change of a rate
PAIRS = ("labels", "numbers")  # of what pairs of group and task are
ROWS = ("labels", "texts", "numbers")  # of what rows and groups are


@dataclass(frozen=True)
class Audited:
    """What a check looks at."""

    report: AuditReport
    test: Contingency
    train: Contingency | None
    scored: Contingency | None  # the audited rows with scores in place of predictions
    n_given: int | None  # rows that came with weights
    reads: str = "labels"  # what labels and predictions are: labels, texts or numbers
    has_columns: bool = False  # whether the rows are columns of a frame

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

    @property
    def are_attacks(self) -> bool:
        """Whether all results are those of attackers, which need neither signs nor rates."""
        return all(result.kind.has_attacker for result in self.report.values())

    def group(self, name: Any) -> str:
        """Return a group as sentences name it."""
        return group_name(name, self.report.context.get("group_columns", ()))

    def task(self, name: Any) -> str:
        """Return a task as sentences name it."""
        return task_name(name, self.report.context)

    @property
    def favourable(self) -> list[Any]:
        """The classes or tasks that people want; none if the user names none."""
        return classes_wanted(self.report.context)


Seen = Iterator[dict[str, Any]]  # the numbers of findings
Finds = Callable[[Audited], Seen]


class Check(NamedTuple):
    """One thing to know before the numbers of a report are used."""

    code: str
    topic: str
    rank: int  # place in the list of findings
    severity: str  # as in Finding
    owner: str  # as in Finding
    reads: tuple[str, ...]  # of what it says something
    findings: Finds


_CHECKS: list[Check] = []


def check(
    code: str,
    topic: str,
    *,
    rank: int,
    owner: str,
    severity: str = "act",
    reads: tuple[str, ...] = ("labels",),
) -> Callable[[Finds], Finds]:
    """Make a check of a function, which yields nothing if there is nothing to say."""

    def checked(findings: Finds) -> Finds:
        _CHECKS.append(Check(code, topic, rank, severity, owner, reads, findings))
        return findings

    return checked


def every_check() -> list[Check]:
    """Return all checks of this package, in the order of their findings."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return sorted(_CHECKS, key=lambda check: check.rank)


def findings_of(audited: Audited) -> list[Finding]:
    """Return what the checks find."""
    return [
        Finding(check.code, check.topic, check.severity, check.owner, numbers)
        for check in every_check()
        if audited.reads in check.reads
        for numbers in check.findings(audited)
    ]
