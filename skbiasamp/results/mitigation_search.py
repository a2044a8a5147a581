"""The result of a search for a mitigation: what candidates cost, and what they change."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import metric_name, name_of, number
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import (
    Bullets,
    Card,
    Cell,
    Chip,
    Document,
    Scatter,
    Section,
    Table,
    Text,
)
from skbiasamp.render.first import tone_of
from skbiasamp.render.words import express
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._comparison_document import changed_pairs
from skbiasamp.results._content import (
    Cells,
    estimates_table,
    shown,
    with_interval,
)
from skbiasamp.results._json import records
from skbiasamp.results._shown import Paged

BASELINE = "none"  # the name of the model as it is
STOPPED, FAILED = "stopped early", "failed"
_NUMBERS = ("value", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class MitigationSearch(Paged):
    """Mitigations compared with the model as it is, and the winner.

    `skbiasamp.mitigation.search` returns it. "none" is the model as it is.

    .. versionadded:: 0.2

    Attributes
    ----------
    table : DataFrame
        One row a candidate, the best first: ``candidate``; ``value``, ``low``, ``high``: its
        amplification in all held-out predictions (the first metric), with a confidence interval;
        ``change``, ``change_low``, ``change_high``: change of the size of the amplification, with
        an interval that holds for all candidates together; the score; ``loss``, ``loss_low``,
        ``loss_high``: what it loses of the score on the same folds; ``seconds`` to train and audit
        one fold; ``status``: "within the limit", "inconclusive", "outside the limit" (the interval
        is outside on either side), "stopped early" or "failed"; ``needs_group``: whether it needs
        the sensitive feature to predict.
    measures : DataFrame
        One row for each candidate and measure. ``mitigation``; ``measure``; ``value``, ``low``,
        ``high``: mean over folds and its confidence interval; ``change``, ``change_low``,
        ``change_high``: difference from "none" on the same folds and its confidence interval;
        ``rows_changed``: share of held-out rows whose prediction differs from that of "none";
        ``error``: why it was not trained on all folds, else None.
    scores, amplifications : list of str
        Names of the measures that are scores, and of those that are amplifications. The first of
        each decides.
    limit : float or None
        The limit of the amplification.
    confidence_level : float
        Level of the intervals.
    best : str or None
        Name of the winner. None: no candidate is within the limit, or there is no limit.
    best_ : classifier or None
        The winner, fitted on all rows.
    validated : dict of str to float
        The numbers of the winner's row on rows that did not choose it: in each fold, the candidate
        that ranks first on the other folds. Empty if the model stays as it is, or with one fold.
    comparisons : dict of str to ComparisonResult
        The held-out predictions of all candidates on the same rows and resamples, by the auditor's
        name. Empty if nothing but "none" was trained on all folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import RatioBalancer, search
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex + rng.normal(size=600) > 0.5).astype(int)
    >>> result = search(
    ...     LogisticRegression(),
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     candidates={"balanced": (RatioBalancer(), LogisticRegression())},
    ...     limit=None,
    ...     random_state=0,
    ... )
    >>> result.scores, result.amplifications
    (['accuracy', 'f1'], ['directional A->T'])
    >>> changes = result.measures[result.measures["mitigation"] == "balanced"]
    >>> changes[["measure", "change", "change_low", "change_high"]].round(2)
                measure  change  change_low  change_high
    3          accuracy   -0.03       -0.07         0.01
    4                f1   -0.03       -0.07         0.01
    5  directional A->T   -0.12       -0.18        -0.05
    """

    table: pd.DataFrame
    measures: pd.DataFrame
    scores: list[str]
    amplifications: list[str]
    limit: float | None
    confidence_level: float
    best: str | None
    best_: Any = None
    validated: dict[str, float] = field(default_factory=dict)
    comparisons: dict[str, ComparisonResult] = field(default_factory=dict)

    @property
    def improved(self) -> bool:
        """Whether the winner clearly has less amplification, in size, than the model as it is.

        Rows say so that did not choose it; of one fold, an interval for all candidates together.
        """
        row = {} if self.best is None else self.validated or self._row(self.best)
        return bool(row) and bool(row["change_high"] < 0)

    @property
    def sentence(self) -> str:
        """What the search found."""
        chosen = None if self.best is None else self._row(self.best)
        unsure = int((self.table["status"] == words.INCONCLUSIVE).sum())
        return express("search", "sentence", self, self._row(BASELINE), chosen, unsure)

    @property
    def _papers(self) -> list[str]:
        return [result.citation for result in self.comparisons.values()]

    def to_document(self) -> Document:
        """Return what it says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        rows, score = records(self.table), self.scores[0]
        verdict = words.AMPLIFIES_LESS if self.improved else words.NO_DIFFERENCE
        card = Card(
            express("search", "title", self.best),
            [Chip(verdict.capitalize(), tone_of(verdict))],
            self.sentence,
            [],
            self._picture(rows, score),
        )
        return Document(
            express("search", "title_of_page"),
            [
                Section(express("page", "report"), [card, *map(Text, self._notes(rows))], "first"),
                Section(
                    express("search", "candidates"), [self._candidates(rows, score)], "candidates"
                ),
                Section(express("search", "pairs"), [self._pairs()], "pairs", only="page"),
                Section(
                    express("search", "limits"),
                    [Bullets.of(express("search", f"limit_{i}") for i in (1, 2, 3))],
                    "limits",
                    only="page",
                    folded=True,
                ),
            ],
        )

    def _row(self, name: str) -> dict[str, Any]:
        row: Any = self.table.set_index("candidate").loc[name].to_dict()
        return dict(row)

    def _notes(self, rows: list[dict[str, Any]]) -> list[str]:
        ends = self.measures.drop_duplicates("mitigation").set_index("mitigation")
        texts = [
            express("search", "failed", row["candidate"], str(ends.loc[row["candidate"], "error"]))
            for row in rows
            if row["status"] == FAILED
        ]
        same = ends.index[ends["rows_changed"] == 0].drop(BASELINE, errors="ignore")
        return texts + [express("search", "changed_nothing", name) for name in same]

    def _candidates(self, rows: list[dict[str, Any]], score: str) -> Table:
        cells: Cells = {
            "Amplification": with_interval("value", number, ("low", "high")),
            "Change of its size": with_interval("change", number),
            score: shown(score, partial(number, form=".3f")),
            "Needs the group": lambda row: Cell("yes" if row["needs_group"] else "no"),
            "Seconds a fold": shown("seconds", partial(number, form=".1f")),
            "Status": lambda row: Cell(row["status"]),
        }
        ends = [row[name] for row in rows for name in _NUMBERS]
        return estimates_table(
            rows,
            cells,
            lambda row: {
                "name": name_of(row["candidate"]),
                "notes": ("winner",) * (row["candidate"] == self.best),
            },
            id="candidates-table",
            caption=express("search", "table", metric_name(self.amplifications[0])),
            first="Candidate",
            marks="Amplification",
            axis=Axis.around([*ends, self.limit, -(self.limit or 0)]),
        )

    def _picture(self, rows: list[dict[str, Any]], score: str) -> Scatter | None:
        points = [
            (name_of(row["candidate"]), row[score], *(row[name] for name in _NUMBERS))
            for row in rows
            if row["low"] is not None and row[score] is not None
        ]
        caption = express("search", "picture", metric_name(self.amplifications[0]), score)
        scatter = Scatter(caption, points, x=score, limit=self.limit, best=self.best)
        return scatter if points else None  # without intervals

    def _pairs(self) -> Table | None:
        """Return the rates of each pair before and after."""
        compared = self.comparisons.get(self.amplifications[0])
        if compared is None or self.best is None or self.best == BASELINE or compared.pairs.empty:
            return None
        return changed_pairs("pairs-table", compared, self.best)
