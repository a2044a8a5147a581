"""Several models on the same rows: their values, and the differences to a reference."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    name_of,
    side_of_zero,
)
from skbiasamp.render.document import Document
from skbiasamp.render.facts import Facts
from skbiasamp.render.words import express
from skbiasamp.results._comparison_facts import model_facts
from skbiasamp.results._json import OfMetric
from skbiasamp.results._shown import Shown, of_frame
from skbiasamp.results.kinds import Kind
from skbiasamp.results.pair_tables import without_equal_values

MODEL_COLUMNS = (
    *("model", "value", "published", "low", "high"),
    *("difference", "difference_low", "difference_high", "p_value", "p_adjusted", "changed"),
)


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Shown, OfMetric):
    """Result of comparing several models on the same rows.

    An auditor's ``compare`` returns it. Intervals of differences are narrower than separate
    intervals suggest: all models predict the same rows, and what they have in common cancels.

    .. versionadded:: 0.1

    Attributes
    ----------
    metric : str
        The metric's name, such as "MALS" or "directional".
    direction : str or None
        "A->T" (does the group shift the predicted task?), "T->A" (does the task shift the
        predicted group?), or None if the metric has no direction.
    reference : str
        The model that the others are compared with.
    table : DataFrame
        One row a model, the reference first: ``model``, its ``value`` with ``low`` and ``high``
        and its ``published`` value (see `AuditResult`), the ``difference`` of its value to the
        reference's with ``difference_low`` and ``difference_high``, its ``p_value``,
        ``p_adjusted`` (for the number of models), ``verdict`` (of the model by itself, if it is
        known), ``difference_verdict`` and ``changed``: the share of rows with another prediction
        than the reference's, NaN if each model has rows of its own.
    pairs : DataFrame
        One row for each model, group and task: the rate in the predictions of the ``reference``
        and of the model (``observed``), their ``difference``, ``change`` (the difference compared
        with that of all rows) with ``low``, ``high``, ``p_value`` (Student's t test) and
        ``p_adjusted`` for the number of pairs of this model, not of all models,
        ``low_simultaneous`` and ``high_simultaneous`` (of `change`, for all pairs at once), and
        ``amplification`` (what the pair adds to the difference of the values). For attackers: the
        quality that an attacker reaches from the predictions of either.
    churn : DataFrame
        One row for each model and group: its rows ``n``, how many were ``changed``, their
        ``share``, and the ``p_value`` of the test that this share is the same in all groups.
    confidence_level : float or None
        Level of the intervals, None if none were requested.
    n_samples : int or float
        Audited rows, or the sum of their weights.
    params : dict
        The auditor's parameters.
    kind : {"signed", "size", "attack"}
        How values are read: a signed mean, a mean of absolute changes, or the gain of an attacker.
    question : str
        The question that the metric answers.
    rank : int
        Rank among the results of a report.
    percent : bool
        Whether the rates of a pair are shares of 1.
    unit : str
        Unit of the values and of the pairs' amplification; empty if they are changes of shares.
    group_columns : tuple
        Names of the sensitive columns that make the groups, empty if unknown.
    citation : str
        BibTeX entry of the metric's paper; empty if there is none.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> old = [1] * 90 + [0] * 310 + [1] * 210 + [0] * 190
    >>> new = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.compare(hired, {"old": old, "new": new}, sensitive_features=sex)
    >>> result.verdicts
    {'new': 'amplifies more'}
    >>> round(result.difference("new"), 4)
    0.0875
    """

    _last = ("verdicts", "sentences", "table", "pairs", "churn")

    metric: str
    direction: str | None
    reference: str
    table: pd.DataFrame
    pairs: pd.DataFrame
    churn: pd.DataFrame
    confidence_level: float | None
    n_samples: float
    params: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.SIGNED
    question: str = ""
    rank: float = 9
    percent: bool = True
    unit: str = ""
    group_columns: tuple[Hashable, ...] = ()
    citation: str = ""

    @property
    def models(self) -> list[str]:
        """The models that are compared with the reference."""
        return [model for model in self.table["model"] if model != self.reference]

    def difference(self, model: str) -> float:
        """Return by how much a model's value exceeds the reference's.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        difference : float
        """
        return float(self._row(model)["difference"])

    def _row(self, model: str) -> Any:
        models = list(self.table["model"])
        check_option("model", model, models)
        return self.table.iloc[models.index(model)]

    def judged(self, model: str) -> tuple[float, float, float]:
        """Return the difference and interval that the verdict is about.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        difference, low, high : float
        """
        row = self._row(model)
        names = ("difference", "difference_low", "difference_high")
        value, low, high = (float(row[name]) for name in names)
        return value, low, high

    def verdict(self, model: str) -> str:
        """Return what the comparison of a model with the reference says, in a fixed vocabulary.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        verdict : str
            "amplifies more", "amplifies less"; "adds more" and "adds less" (the labels show no
            clear difference between groups, and the models add one); for attackers "reveals more"
            and "reveals less"; "no clear difference" or "not measured"; "reverses" if the model
            turns the association of the labels around, and the reference does not. The adjusted
            test, too, has to find a difference if there are several models.
        """
        side, row = side_of_zero(*self.judged(model)), self._row(model)
        if side in ("undefined", "unknown"):
            return words.NOT_MEASURED
        level = 0.95 if self.confidence_level is None else self.confidence_level
        p_value, named = float(row["p_adjusted"]), row.get("difference_verdict")
        if side == "across" and named in (words.ADDS_MORE, words.ADDS_LESS):
            return named  # by the changes of pairs, tested for all models together
        if not (math.isnan(p_value) or p_value < round(1 - level, 12)):
            return words.NO_DIFFERENCE
        if words.REVERSES == self.own_verdict(model) != self.own_verdict(self.reference):
            return words.REVERSES
        return named if isinstance(named, str) else self.kind.verdict_of_difference(side)

    def own_verdict(self, model: str) -> str:
        """Return the verdict about a model by itself, as an audit of it gives; or "".

        Parameters
        ----------
        model : str
            One of the models, or the reference.

        Returns
        -------
        verdict : str
            As `AuditResult.verdict`. Attackers, and comparisons of several runs, have none here.
        """
        return str(self._row(model).get("verdict", ""))

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict about each model."""
        return {model: self.verdict(model) for model in self.models}

    @property
    def sentences(self) -> dict[str, str]:
        """What the comparison of each model says."""
        return {model: self.sentence(model) for model in self.models}

    def sentence(self, model: str) -> str:
        """Return what the comparison of a model says: verdict, how much, and how sure that is.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        text : str
        """
        return express("comparison", "sentence", self.facts(model))

    def facts(self, model: str) -> Facts:
        """Return what the comparison tells of a model, as numbers and names.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        facts : Facts
        """
        return model_facts(self, model)

    def to_document(self) -> Document:
        """Return the models' values and sentences as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        title = f"{self.name}, compared with {self.reference!r} ({self.n_samples:,.15g} rows)"
        shown = without_equal_values(self.table.dropna(axis="columns", how="all"))
        shown = shown.drop(columns="difference_verdict", errors="ignore")
        shown = shown.assign(model=[name_of(model) for model in shown["model"]])
        if len(self.models) < 2:
            shown = shown.drop(columns="p_adjusted", errors="ignore")
        return of_frame(title, shown, [self.sentence(model) for model in self.models])
