"""Checks of texts: what attackers on them could not read."""

from __future__ import annotations

from skbiasamp._input.errors import rows_of
from skbiasamp._utils.formatting import rate
from skbiasamp.report.checks import Audited, Check, Found

_MANY = 0.3  # share of unknown words from which human texts are hardly read


class EmptyTexts(Check):
    """Rows have no word in their text."""

    topic = "empty texts"
    place = "next"
    rank = 54
    reads = ("texts",)

    def finding(self, audited: Audited) -> Found:
        counts = [audited.most(f"empty_{side}") for side in ("data", "model")]
        if not any(counts):
            return None
        return (
            f"{rows_of(counts[0])} of the human texts and {rows_of(counts[1])} of the model's "
            "texts have no word. Attackers guess the group of these rows from their being empty.",
            "Check whether the model refused to answer, and for which group.",
        )


class UnknownWords(Check):
    """Many words of the human texts are not in the model's vocabulary."""

    topic = "unknown words"
    place = "next"
    rank = 55
    reads = ("texts",)

    def finding(self, audited: Audited) -> Found:
        most = audited.most("unknown_words")
        if most < _MANY:
            return None
        return (
            f"The model never uses {rate(most)} of the words in the human texts, which an "
            "attacker reads as one unknown token. Human texts may reveal less than they would.",
            "Audit with equalize=None too, and report both.",
        )


class AttackerOfTexts(Check):
    """The attacker decides how much texts reveal."""

    topic = "attacker"
    rank = 180
    reads = ("texts",)

    def finding(self, audited: Audited) -> Found:
        return (
            "How much texts reveal depends on the attacker that reads them, and so can the sign "
            "of the difference.",
            "Compare models by the same attacker, and name it beside the value.",
        )
