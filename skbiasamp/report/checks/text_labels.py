"""Checks of labels that were read from texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from skbiasamp._utils.formatting import listed, rate
from skbiasamp.counts.contingency import SideName
from skbiasamp.report.checks import Audited, Check, Found
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

MOST_GROUPS = 5


class _ClassOfTexts(Check):
    """A class that texts have if no task can be read from them."""

    task: ClassVar[str]
    title: ClassVar[str]
    action: ClassVar[str]

    def finding(self, audited: Audited) -> Found:
        if self.task not in audited.test.tasks:
            return None
        shares = list(_shares(audited, self.task))
        if not shares:
            return None
        return f"{self.title}: {listed(shares)}.", self.action


def _shares(audited: Audited, task: str) -> Iterator[str]:
    """Yield in how many rows a task is, in labels and in predictions, and by group."""
    test = audited.test
    j = test.tasks.index(task)
    sides: tuple[tuple[SideName, str], ...] = (("task", "labels"), ("task_pred", "predictions"))
    for side, name in sides:
        if not test.has(side):
            continue
        n = test.count(side)[j]
        text = f"{rate(n / test.total)} in the {name}"
        if n and len(test.groups) <= MOST_GROUPS:
            of_groups = test.rate(side, given="group")[:, j]
            each = (
                f"{audited.group(a)} {rate(p)}" for a, p in zip(test.groups, of_groups, strict=True)
            )
            text += f" ({', '.join(each)})"
        yield text


class TextsWithoutLabel(_ClassOfTexts):
    """Texts from which no label was read."""

    topic = "texts without a label"
    rank = 155
    task, title = NO_LABEL, "Rows without a label"
    action = (
        "Read some of these texts (unread_ of WordListLabeler has examples). If they name a task, "
        "add their words to its list."
    )


class Refusals(_ClassOfTexts):
    """Texts that refuse to answer."""

    topic = "refusals"
    place = "next"
    rank = 65
    task, title = REFUSAL, "Refusals"
    action = (
        "Refusals count as a class of their own. Check whether the model refuses more often for "
        "one group."
    )
