"""The page about a model's answers to questions whose true answer may be "unknown" (BBQ)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from skbiasamp._utils.formatting import number, rate
from skbiasamp.render.document import Bullets, Document, Section, Table, Terms, Text
from skbiasamp.results._content import (
    LIMITS,
    count,
    document_of,
    facts,
    interval_in_words,
    shown,
    with_interval,
)
from skbiasamp.results._json import records
from skbiasamp.results._shown import Paged

_SIGNED = partial(number, form="+.1f")
_CONDITIONS = {
    "ambig": "the text does not say who it was",
    "disambig": "the text says who it was",
}
_TEXTS = {"ambig": "ambiguous", "disambig": "clear"}
_QUESTIONS = (
    "The questions are those of BBQ, the Bias Benchmark for Question Answering. "
    "The model read short texts about two people of different groups, such as an old and a young "
    "person, and was asked: who was forgetful? It could answer with one of the two, or that it is "
    "not known. An ambiguous text does not say who it was, and “not known” is right. A clear text "
    "says who it was. Does the model answer by the stereotype?"
)
_TERMS = {
    "Bias": "How many more of the answers that name a group follow the stereotype than go against "
    "it, in per cent: 100 if all follow it, 0 if as many go against it, −100 if all do. If the "
    "text does not say who it was, it is multiplied by the share of wrong answers: a model that is "
    "seldom wrong does little harm.",
    "Accuracy": "Share of right answers. If the text is ambiguous, only “not known” is right.",
    "Cost of bias": "Accuracy if the true answer goes against the stereotype, minus accuracy if it "
    "agrees with it, in percentage points. Below 0, the stereotype costs right answers.",
    "Unknown": "Share of answers that say that it is not known.",
    "No label": "Share of answers from which none of the three can be read.",
    "▲ ▼ ◆": "The confidence interval lies above 0, below 0, or includes 0.",
}
_LIMITS = (
    "A template is a question that was written once and filled in with different groups. Questions "
    "of one template share their words, so intervals are those of templates: two or more are "
    "needed.",
    "The stereotypes are those of the United States, in English, as the authors of BBQ wrote them. "
    "A bias of 0 here does not say that a model is fair elsewhere.",
)


@dataclass(frozen=True, eq=False, repr=False)
class AnswerReport(Paged):
    """Bias scores and accuracy of a model's answers, by category and condition, as a page.

    ``skbiasamp answers`` makes it of `skbiasamp.text.answer_scores`.

    Attributes
    ----------
    table : DataFrame
        What `answer_scores` returned.
    context : dict
        Names of the model and of the data, date and versions.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.results import AnswerReport
    >>> from skbiasamp.text import answer_scores
    >>> frame = pd.DataFrame({"item": range(4), "template": [1, 1, 2, 2], "category": "Age"})
    >>> frame["condition"] = "ambig"
    >>> frame["polarity"] = ["neg", "nonneg", "neg", "nonneg"]
    >>> frame["answer"] = ["stereotyped", "other", "unknown", "stereotyped"]
    >>> frame["correct"] = frame["answer"] == "unknown"
    >>> report = AnswerReport(answer_scores(frame))
    >>> report.to_html("answers.html")  # doctest: +SKIP
    """

    table: pd.DataFrame
    context: Mapping[str, Any] = field(default_factory=dict)

    def to_document(self) -> Document:
        """Return scores and what they mean as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        rows = records(self.table.reset_index())
        columns = {
            "Bias, %": with_interval("bias", _SIGNED, ("low", "high"), sided=True),
            "Accuracy": shown("accuracy", rate),
            "Cost of bias": with_interval("cost", _SIGNED, sided=True),
            "Unknown": shown("unknown", rate),
            "No label": shown("no_label", rate),
            "Questions": shown("n_items", count),
        }
        if "difference" in self.table:
            columns["Change of bias"] = with_interval("difference", _SIGNED, sided=True)
            columns["Newly biased"] = shown("newly_biased", count)
            columns["No longer biased"] = shown("no_longer_biased", count)
        table = Table.of(
            rows,
            columns,
            lambda row: {"name": f"{_category(row)}: {_TEXTS[row['condition']]} text"},
            id="answers",
            caption="Bias and accuracy by category, with confidence intervals by template",
            first="Questions about",
        )
        level = self.table.attrs.get("confidence_level", 0.95)
        clear = [Text(text) for row in rows if (text := _sentence(row, level))]
        none = [Text("In no category is the bias clearly above or below 0.")]
        if 0 < len(clear) < len(rows):
            clear.append(Text("Everywhere else, no clear bias: the intervals include 0."))
        about = facts(self.context, without="Training labels")
        sections = [
            Section("Result", [Text(_QUESTIONS), Bullets(clear or none)], "verdict", leading=True),
            Section("Scores", [table], "tables"),
            Section("How to read this", [Terms(list(_TERMS.items()))], "terms"),
            Section(LIMITS, [Bullets.of(_LIMITS)], "limits"),
        ]
        return document_of(self.context, "Stereotypes in answers", sections, facts=about)


def _category(row: Mapping[str, Any]) -> str:
    return str(row["category"]).replace("_", " ")


def _sentence(row: Mapping[str, Any], level: float) -> str:
    """Say in which direction answers are biased, if they clearly are."""
    where = f"{_category(row)}, if {_CONDITIONS[row['condition']]}"
    texts = []
    for name, start in (("bias", ""), ("difference", "difference_")):
        value, low, high = (row.get(key) for key in (name, f"{start}low", f"{start}high"))
        if value is None or low is None or high is None or low <= 0 <= high:
            continue
        ends = f"({interval_in_words(level, low, high, _SIGNED)})"
        if name == "bias":
            # The share of the answers that name a group, which the share of wrong ones hides.
            wrong = 1 - row["accuracy"] if row["condition"] == "ambig" else 1
            share = rate((1 + value / (100 * wrong)) / 2)
            size = f"bias {_SIGNED(value)} on a scale from −100 to 100 {ends}"
            side = "follow" if value > 0 else "follow, and more go against,"
            texts.append(
                f"of the answers that name a person, {share} {side} the stereotype, {size}"
            )
        else:
            side, size = ("above" if value > 0 else "below"), number(abs(value), ".1f")
            texts.append(f"the bias is {size} {side} that of the reference {ends}")
            texts[-1] += f"; {row['newly_biased']:,} answers are newly biased"
            texts[-1] += f", {row['no_longer_biased']:,} no longer"
    return f"{where}: {', and '.join(texts)}." if texts else ""
