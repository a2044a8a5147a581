"""Checks of texts: of labels that were read from them, and of what attackers could not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skbiasamp.counts.contingency import SideName
from skbiasamp.render.facts import Finding
from skbiasamp.report.checks import Audited, Seen, check
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

_MOST_GROUPS = 5
_MANY = 0.3  # share of unknown words from which human texts are hardly read


@check("SBA404", "texts without a label", rank=155, severity="note", owner="data")
def texts_without_label(audited: Audited) -> Seen:
    """Texts from which no label was read."""
    if shares := list(_shares(audited, NO_LABEL)):
        yield {"shares": shares}


def unread(shares: list[dict[str, Any]]) -> list[Finding]:
    """Return the finding that no label was read from some texts, if there are any."""
    numbers = {"shares": shares}
    finding = Finding("SBA404", "texts without a label", "note", "data", numbers)
    return [finding] if shares else []


@check("SBA403", "refusals", rank=64, owner="model")
def refusals(audited: Audited) -> Seen:
    """Texts that refuse to answer."""
    if shares := list(_shares(audited, REFUSAL)):
        yield {"shares": shares}


def _shares(audited: Audited, task: str) -> Iterator[dict[str, Any]]:
    """Yield in how many rows a class of texts is, in labels and in predictions, and by group."""
    test = audited.test
    if task not in test.tasks:
        return
    j = test.tasks.index(task)
    sides: tuple[tuple[SideName, str], ...] = (("task", "labels"), ("task_pred", "predictions"))
    for side, name in sides:
        if test.has(side):
            of_groups = test.rate(side, given="group")[:, j]
            groups = zip(map(audited.group, test.groups), of_groups, strict=True)
            yield share_of_rows(name, test.count(side)[j] / test.total, groups)


def share_of_rows(where: str, share: float, groups: Iterable[tuple[str, float]]) -> dict[str, Any]:
    """Return a share of rows, and that of each group if these are few."""
    of_groups = {name: float(p) for name, p in groups}
    few = bool(share) and len(of_groups) <= _MOST_GROUPS
    return {"where": where, "share": float(share), "groups": of_groups if few else {}}


# --------------------------------------------------------------------------- attacked texts


@check("SBA401", "empty texts", rank=54, owner="model", reads=("texts",))
def empty_texts(audited: Audited) -> Seen:
    """Rows have no word in their text."""
    human, model = (audited.most(f"empty_{side}") for side in ("data", "model"))
    if human or model:
        yield {"human": human, "model": model}


@check("SBA402", "unknown words", rank=55, owner="data", reads=("texts",))
def unknown_words(audited: Audited) -> Seen:
    """Many words of the human texts are not in the model's vocabulary."""
    most = audited.most("unknown_words")
    if most >= _MANY:
        yield {"share": float(most)}


@check("SBA405", "attacker", rank=180, severity="note", owner="policy", reads=("texts",))
def attacker_of_texts(audited: Audited) -> Seen:
    """The attacker decides how much texts reveal."""
    yield {}
