"""The report of a comparison: every metric, for several models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp.render.document import Document
from skbiasamp.render.facts import Accuracy, Facts, Finding
from skbiasamp.render.words import express
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._comparison_facts import findings_of_models, model_facts
from skbiasamp.results._json import records
from skbiasamp.results._report import Report


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonReport(Report[ComparisonResult]):
    """Report of comparing several models on the same rows, with every metric the inputs allow.

    `skbiasamp.compare` returns it; ``report["directional A->T"]`` is the comparison by one metric.

    .. versionadded:: 0.1

    Attributes
    ----------
    results : dict of str to ComparisonResult
        The comparisons, by metric and direction.
    accuracy : DataFrame
        One row a model: its ``accuracy``, and the ``difference`` to the reference's with
        ``difference_low`` and ``difference_high``, a 95 % interval by the same rows.
    rates : DataFrame
        One row for each model, group and task: base rate, predicted rate, true and false positive
        rate.
    context : dict
        Date, versions, and what was compared.
    data_files : list of dict
        The files that were read, with their rows and SHA-256.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> old = [1] * 90 + [0] * 310 + [1] * 210 + [0] * 190
    >>> new = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.compare(
    ...     hired, {"old": old, "new": new}, sensitive_features=sex, random_state=0
    ... )
    >>> report.primary
    'directional A->T'
    >>> report["directional A->T"].verdicts
    {'new': 'amplifies more'}
    """

    _first = ("context", "reference", "primary", "verdicts", "findings", "results")
    _last = ("data_files",)

    results: dict[str, ComparisonResult]
    accuracy: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    context: dict[str, Any] = field(default_factory=dict)
    data_files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def reference(self) -> str:
        """The model that the others are compared with."""
        return next(iter(self.results.values())).reference

    @property
    def models(self) -> list[str]:
        """The models that are compared with the reference."""
        return next(iter(self.results.values())).models

    @property
    def limit_verdicts(self) -> dict[str, str]:
        """Whether each model's value lies within the limit that was declared; {} without one."""
        return dict(self.context.get("limit_verdicts", {}))

    @property
    def primary(self) -> str:
        """Name of the comparison that the verdict is about: the first that was measured."""
        unmeasured = {words.NOT_MEASURED}
        return str(self._lowest_rank(lambda result: {*result.verdicts.values()} != unmeasured))

    @property
    def verdict(self) -> str:
        """What the primary comparison says of every model, with its accuracy."""
        return " ".join(self.verdicts.values())

    @property
    def verdicts(self) -> dict[str, str]:
        """What the primary comparison says of each model, with its accuracy."""
        sentences = {model: self.results[self.primary].sentence(model) for model in self.models}
        for row in self._accuracies:
            if row["model"] in sentences:
                sentences[row["model"]] += " " + express("comparison", "accuracy", row)
        return sentences

    def facts(self, model: str) -> Facts:
        """Return what the primary comparison tells of a model, as numbers and names.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        facts : Facts
        """
        own = model_facts(self[self.primary], model, self.context)
        names = ("accuracy", "difference", "difference_low", "difference_high")
        known: list[list[Any]] = [
            [row.get(name) for name in names] for row in self._accuracies if row["model"] == model
        ]
        accuracy = Accuracy(*known[0]) if known else None
        return replace(own, accuracy=accuracy, caveats=tuple(self.findings))

    @property
    def findings(self) -> list[Finding]:
        """What to know before a model is chosen."""
        return [*findings_of_models(self)]

    @property
    def _accuracies(self) -> list[dict[str, Any]]:
        """The rows of models whose accuracy is known."""
        return [row for row in records(self.accuracy) if row["accuracy"] is not None]

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each metric and model: difference, interval, p-value and verdict."""
        columns = ["model", "value", "difference", "difference_low", "difference_high"]
        tables = []
        for name, result in self.items():
            table = result.table.loc[
                result.table["model"] != result.reference, [*columns, "p_adjusted"]
            ]
            tables.append(table.assign(verdict=list(result.verdicts.values())))
            tables[-1].insert(0, "metric", name)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each metric and model.

        Returns
        -------
        frame : DataFrame
            `summary`.
        """
        return self.summary

    def to_document(self) -> Document:
        """Return what the report says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._comparison_document import comparison_document

        return comparison_document(self)
