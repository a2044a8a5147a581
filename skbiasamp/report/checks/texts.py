"""Checks of texts: of labels that were read from them, and of what attackers could not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skbiasamp._input.errors import rows_of
from skbiasamp._utils.formatting import listed, rate
from skbiasamp.counts.contingency import SideName
from skbiasamp.report.checks import Audited, Findings, check
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

TOPIC = "texts without a label"
_MOST_GROUPS = 5
_MANY = 0.3  # share of unknown words from which human texts are hardly read


@check(TOPIC, rank=155)
def texts_without_label(audited: Audited) -> Findings:
    """Texts from which no label was read."""
    return unread(list(_shares(audited, NO_LABEL)))


def unread(shares: list[str]) -> Findings:
    """Say in how many rows no label was read."""
    if shares:
        yield (
            f"Rows without a label: {listed(shares)}.",
            "Read some of these texts (unread_ of WordListLabeler has examples). If they name a "
            "task, add their words to its list.",
        )


@check("refusals", rank=65, place="next")
def refusals(audited: Audited) -> Findings:
    """Texts that refuse to answer."""
    shares = list(_shares(audited, REFUSAL))
    if shares:
        yield (
            f"Refusals: {listed(shares)}.",
            "Refusals count as a class of their own. Check whether the model refuses more often "
            "for one group.",
        )


def _shares(audited: Audited, task: str) -> Iterator[str]:
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


def share_of_rows(where: str, share: float, groups: Iterable[tuple[str, float]]) -> str:
    """Return a share of rows as text, and that of each group if these are few."""
    text = f"{rate(share)} in the {where}"
    of_groups = [f"{name} {rate(p)}" for name, p in groups]
    return f"{text} ({', '.join(of_groups)})" if share and len(of_groups) <= _MOST_GROUPS else text


# --------------------------------------------------------------------------- attacked texts


@check("empty texts", rank=54, place="next", reads=("texts",))
def empty_texts(audited: Audited) -> Findings:
    """Rows have no word in their text."""
    counts = [audited.most(f"empty_{side}") for side in ("data", "model")]
    if any(counts):
        yield (
            f"{rows_of(counts[0])} of the human texts and {rows_of(counts[1])} of the model's "
            "texts have no word. Attackers guess the group of these rows from their being empty.",
            "Check whether the model refused to answer, and for which group.",
        )


@check("unknown words", rank=55, place="next", reads=("texts",))
def unknown_words(audited: Audited) -> Findings:
    """Many words of the human texts are not in the model's vocabulary."""
    most = audited.most("unknown_words")
    if most >= _MANY:
        yield (
            f"The model never uses {rate(most)} of the words in the human texts, which an "
            "attacker reads as one unknown token. Human texts may reveal less than they would.",
            "Audit with equalize=None too, and report both.",
        )


@check("attacker", rank=180, reads=("texts",))
def attacker_of_texts(audited: Audited) -> Findings:
    """The attacker decides how much texts reveal."""
    yield (
        "How much texts reveal depends on the attacker that reads them, and so can the sign "
        "of the difference.",
        "Compare models by the same attacker, and name it beside the value.",
    )
