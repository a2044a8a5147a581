"""The report of a comparison: every metric, for several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import listed, name_of, points, rate
from skbiasamp.render.document import Document
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._content import in_points, interval_in_words
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

    _first = ("context", "reference", "primary", "verdicts", "notes", "results")
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
        sentences: dict[str, str] = {}
        accuracy = {row["model"]: row for row in self._accuracies}
        for model in self.models:
            sentences[model] = self.results[self.primary].sentence(model)
            if row := accuracy.get(model):
                more = "higher" if row["difference"] > 0 else "lower"
                size = points(row["difference"])
                change = f"{size} {more}"
                if row["difference"] == 0:
                    change = "the same"
                elif size == points(0):
                    change = f"less than {points(0.001)} {more}"
                low, high = (row.get(f"difference_{end}") for end in ("low", "high"))
                if low is not None:
                    form = partial(in_points, form="+.2f")
                    change += f" ({interval_in_words(0.95, low, high, form)})"
                sentences[model] += f" Its accuracy is {rate(row['accuracy'])}, {change}."
        return sentences

    @property
    def _accuracies(self) -> list[dict[str, Any]]:
        """The rows of models whose accuracy is known."""
        return [row for row in records(self.accuracy) if row["accuracy"] is not None]

    @property
    def notes(self) -> dict[str, str]:
        """What metrics say that disagree in direction about a model, and why they can."""
        notes = {}
        for model in self.models:
            verdicts = {name: result.verdict(model) for name, result in self.results.items()}
            sides = {name: words.DIRECTION_OF.get(verdict) for name, verdict in verdicts.items()}
            above, below = ([name for name in sides if sides[name] == way] for way in (1, -1))
            if not (above and below) or words.REVERSES in verdicts.values():
                continue
            more, less = (_listed(names, verdicts) for names in (above, below))
            notes[model] = f"'{name_of(model)}': {more}, but {less}. {self._why(above + below)}"
        return notes

    def _why(self, names: list[str]) -> str:
        """Return how metrics that disagree differ in what they ask."""
        asked = [name for name in names if not self.results[name].kind.has_attacker]
        rates = [name for name in asked if self.results[name].direction == "A->T"]
        shares = [name for name in asked if self.results[name].direction is None]
        text = "These metrics answer different questions."
        if rates and shares:
            text = (
                f"{listed(rates)} compare{'s' * (len(rates) == 1)} how often a task is predicted "
                f"in each group. {listed(shares)} compare{'s' * (len(shares) == 1)} the groups' "
                "shares of the rows for which the task is predicted. If a task is predicted more "
                "often in all groups, or less often, rates and shares can change in opposite "
                "directions."
            )
        return text

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


def _listed(names: list[str], verdicts: Mapping[str, str]) -> str:
    """Return what metrics say, those of the same verdict together."""
    metrics: dict[str, list[str]] = {}
    for name in names:
        metrics.setdefault(verdicts[name], []).append(name)
    return listed([f"{verdict} by {listed(own)}" for verdict, own in metrics.items()])
