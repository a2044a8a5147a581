"""Checks of texts: what attackers on them could not read."""

from __future__ import annotations

from skbiasamp._input.errors import rows_of
from skbiasamp._utils.formatting import rate
from skbiasamp.report.checks import Audited, Found, check

_MANY = 0.3  # share of unknown words from which human texts are hardly read


@check("empty texts", rank=54, place="next", reads=("texts",))
def empty_texts(audited: Audited) -> Found:
    """Rows have no word in their text."""
    counts = [audited.most(f"empty_{side}") for side in ("data", "model")]
    if not any(counts):
        return None
    return (
        f"{rows_of(counts[0])} of the human texts and {rows_of(counts[1])} of the model's "
        "texts have no word. Attackers guess the group of these rows from their being empty.",
        "Check whether the model refused to answer, and for which group.",
    )


@check("unknown words", rank=55, place="next", reads=("texts",))
def unknown_words(audited: Audited) -> Found:
    """Many words of the human texts are not in the model's vocabulary."""
    most = audited.most("unknown_words")
    if most < _MANY:
        return None
    return (
        f"The model never uses {rate(most)} of the words in the human texts, which an "
        "attacker reads as one unknown token. Human texts may reveal less than they would.",
        "Audit with equalize=None too, and report both.",
    )


@check("attacker", rank=180, reads=("texts",))
def attacker_of_texts(audited: Audited) -> Found:
    """The attacker decides how much texts reveal."""
    return (
        "How much texts reveal depends on the attacker that reads them, and so can the sign "
        "of the difference.",
        "Compare models by the same attacker, and name it beside the value.",
    )
