"""The result of a search for a mitigation: what candidates cost, and what they change."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import metric_name, name_of, number
from skbiasamp.render.document import (
    Axis,
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
from skbiasamp.render.facts import express
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._comparison_document import changed_pairs
from skbiasamp.results._content import Cells, estimates_table, shown, with_interval
from skbiasamp.results.exports import Paged, records

BASELINE = "none"  # the name of the model as it is
STOPPED, FAILED, WORSE = "stopped early", "failed", "worse elsewhere"
NO_LIMIT = "no limit"
_NUMBERS = ("value", "low", "high")
_CHANGE = {"change": "value", "change_low": "low", "change_high": "high"}
_SIZES: Cells = {
    "Amplification": with_interval("value", number, ("low", "high")),
    "Change of its size": with_interval("change", number),
}
_GROUPS: Cells = {
    "Change": with_interval("value", number, ("low", "high")),
    "Column": lambda row: Cell(row["columns"]),
    "Before": shown("before"),
    "After": shown("after"),
}
_COSTS: Cells = {
    "Status": lambda row: Cell(": ".join(filter(None, (row["status"], row["worse_for"])))),
    "Needs the group": lambda row: Cell("yes" if row["needs_group"] else "no"),
    "Seconds a fold": shown("seconds", partial(number, form=".1f")),
}


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
        one fold; ``worse_for``: the other column or crossing that it makes worse, by most;
        ``status``: "within the limit", "inconclusive", "outside the limit" (the interval is outside
        on either side), "no limit", "worse elsewhere", "stopped early" or "failed";
        ``needs_group``: whether it needs the sensitive feature to predict. The first row, unless it
        is "none", is from rows that did not choose it.
    measures : DataFrame
        One row for each candidate and measure. ``mitigation``; ``measure``; ``value``, ``low``,
        ``high``: mean over folds and its confidence interval; ``change``, ``change_low``,
        ``change_high``: difference from "none" on the same folds and its confidence interval;
        ``rows_changed``: share of held-out rows whose prediction differs from that of "none",
        missing if it was not trained on all folds; ``error``: why it was not, missing if it was.
    scores, amplifications : list of str
        Names of the measures that are scores, and of those that are amplifications. The first of
        each decides.
    limit : float or None
        The limit of the amplification.
    confidence_level : float
        Level of the intervals.
    models : dict of str to classifier
        The candidates that were trained on all folds, fitted on all rows: the runners-up, too.
    validated : dict of str to float
        The numbers of the first row if they are from rows that did not choose it: in each fold, of
        the candidate that ranks first on the other folds. Empty if no mitigation ranks first within
        the limit, or with one fold.
    comparisons : dict of str to ComparisonResult
        The held-out predictions of all candidates on the same rows and resamples, by the auditor's
        name. Empty if nothing but "none" was trained on all folds.
    also : DataFrame
        One row for each candidate, other column or crossing, and task: ``candidate``; ``columns``,
        such as "sex × race"; ``task``; ``before``, ``after``: how far rates of predictions are from
        those of labels, compared with all rows, on average over groups, for the model as it is and
        for the candidate; ``change``, ``change_low``, ``change_high``: with an interval that holds
        for all columns and candidates together. Rows of the winner are from rows that did not
        choose it.

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
    3          accuracy   -0.03       -0.08         0.02
    4                f1   -0.03       -0.08         0.02
    5  directional A->T   -0.11       -0.16        -0.06
    """

    table: pd.DataFrame
    measures: pd.DataFrame
    scores: list[str]
    amplifications: list[str]
    limit: float | None
    confidence_level: float
    models: dict[str, Any] = field(default_factory=dict)
    validated: dict[str, float] = field(default_factory=dict)
    comparisons: dict[str, ComparisonResult] = field(default_factory=dict)
    also: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def best(self) -> str | None:
        """Name of the winner. None: no candidate is within the limit, or there is no limit."""
        first = self.table.iloc[0]
        return str(first["candidate"]) if first["status"] == words.WITHIN else None

    @property
    def best_(self) -> Any:
        """The winner, fitted on all rows; None if there is none."""
        return None if self.best is None else self.models[self.best]

    @property
    def improved(self) -> bool:
        """Whether the winner clearly has less amplification, in size, than the model as it is.

        Rows say so that did not choose it; of one fold, an interval for all candidates together.
        """
        return self.best is not None and bool(self.table["change_high"].iloc[0] < 0)

    @property
    def sentence(self) -> str:
        """What the search found."""
        return express("search", "sentence", self, records(self.table))

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
        points = [
            (name_of(row["candidate"]), row[score], *(row[name] for name in _NUMBERS))
            for row in rows
            if row["low"] is not None and row[score] is not None
        ]
        caption = express("search", "picture", metric_name(self.amplifications[0]), score)
        picture = Scatter(caption, points, x=score, limit=self.limit, best=self.best)
        card = Card(
            express("search", "title", self),
            [Chip(express("search", "badge", self), "down" if self.improved else "unc")],
            self.sentence,
            [],
            picture if points else None,  # without intervals
        )
        ends = records(self.measures.drop_duplicates("mitigation"))
        notes = filter(None, (express("search", "note", row) for row in ends))
        also = self.also.rename(columns=_CHANGE).sort_values("value", ascending=False)
        also = also[(also["low"] > 0) | (also["candidate"] == self.best)]
        elsewhere = records(also.drop_duplicates(["candidate", "columns"]))
        cells = _SIZES | {score: shown(score, partial(number, form=".3f"))} | _COSTS
        pairs = Section(express("search", "pairs"), [self._pairs()], "pairs", only="page")
        limits = Bullets.of(express("search", f"limit_{i}") for i in (1, 2, 3, 4))
        return Document(
            express("search", "title_of_page"),
            [
                Section(express("page", "report"), [card, *map(Text, notes)], "first"),
                self._section("candidates", rows, cells),
                self._section("also", elsewhere, _GROUPS, only="page"),
                pairs,
                Section(express("search", "limits"), [limits], "limits", only="page", folded=True),
            ],
        )

    def _section(self, id: str, rows: list[Any], cells: Cells, only: str = "") -> Section:
        ends = [row[name] for row in rows for name in _NUMBERS]
        table = estimates_table(
            rows,
            cells,
            lambda row: {
                "name": name_of(row["candidate"]),
                "notes": ("winner",) * (row["candidate"] == self.best),
            },
            id=f"{id}-table",
            caption=express("search", f"{id}_table", self),
            first="Candidate",
            marks=next(iter(cells)),
            axis=Axis.around([*ends, self.limit, -(self.limit or 0)]),
        )
        return Section(express("search", id), [table if rows else None], id, only)

    def _pairs(self) -> Table | None:
        """Return the rates of each pair before and after."""
        compared = self.comparisons.get(self.amplifications[0])
        if compared is None or self.best in (None, BASELINE) or compared.pairs.empty:
            return None
        return changed_pairs("pairs-table", compared, str(self.best))
