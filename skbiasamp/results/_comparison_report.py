"""The report of a comparison: every metric, for several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from skbiasamp._io import schema
from skbiasamp._utils.formatting import (
    DIRECTION_OF,
    NOT_MEASURED,
    listed,
    name_of,
    points,
    rate,
)
from skbiasamp.render.document import Document
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._json import COUNT, NAME, NUMBER, as_json
from skbiasamp.results._report import CONTEXT, DATA_FILES, Report, _frame_of

COMPARISON_REPORT_SCHEMA = "skbiasamp.ComparisonReport/1"


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
        One row a model: its ``accuracy`` with ``low`` and ``high``, and the ``difference`` to the
        reference's.
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
    def primary(self) -> str:
        """Name of the comparison that the verdict is about: the first that was measured."""
        ranked = sorted(self.results, key=lambda name: self.results[name].rank)
        able = (
            name for name in ranked if {*self.results[name].verdicts.values()} != {NOT_MEASURED}
        )
        return next(able, ranked[0])

    @property
    def verdict(self) -> str:
        """What the primary comparison says of every model, with its accuracy."""
        return " ".join(self.verdicts.values())

    @property
    def verdicts(self) -> dict[str, str]:
        """What the primary comparison says of each model, with its accuracy."""
        said = {}
        accuracy = self.accuracy.dropna(subset="accuracy").set_index("model")
        for model in self.models:
            said[model] = self.results[self.primary].sentence(model)
            if model in accuracy.index:
                row: Any = accuracy.loc[model]
                more = "higher" if row["difference"] > 0 else "lower"
                size = points(row["difference"])
                change = f"{size} {more}"
                if row["difference"] == 0:
                    change = "the same"
                elif size == points(0):
                    change = f"less than {points(0.001)} {more}"
                said[model] += f" Its accuracy is {rate(row['accuracy'])}, {change}."
        return said

    @property
    def notes(self) -> dict[str, str]:
        """Of each model about which metrics disagree in direction: which, and why they can."""
        notes = {}
        for model in self.models:
            found = {name: one.verdict(model) for name, one in self.results.items()}
            above = [name for name, verdict in found.items() if DIRECTION_OF.get(verdict, 0) > 0]
            below = [name for name, verdict in found.items() if DIRECTION_OF.get(verdict, 0) < 0]
            if not (above and below):
                continue
            notes[model] = (
                f"'{name_of(model)}': {self._told(above, found)}, but {self._told(below, found)}. "
                + self._why(above + below)
            )
        return notes

    @staticmethod
    def _told(names: list[str], verdicts: Mapping[str, str]) -> str:
        by_verdict: dict[str, list[str]] = {}
        for name in names:
            by_verdict.setdefault(verdicts[name], []).append(name)
        return listed([f"{verdict} by {listed(one)}" for verdict, one in by_verdict.items()])

    def _why(self, names: list[str]) -> str:
        """Return how metrics that disagree differ in what they ask."""
        asked = [name for name in names if self.results[name].kind != "attack"]
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
        rows = [
            {
                "metric": name,
                **{
                    key: row[key]
                    for key in ("model", "value", "difference", "difference_low", "difference_high")
                },
                "p_adjusted": row["p_adjusted"],
                "verdict": one.verdict(row["model"]),
            }
            for name, one in self.results.items()
            for _, row in one.table[1:].iterrows()
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        return {
            "schema": COMPARISON_REPORT_SCHEMA,
            "context": as_json(self.context),
            "reference": self.reference,
            "primary": self.primary,
            "verdicts": self.verdicts,
            "notes": self.notes,
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "accuracy": as_json(self.accuracy),
            "rates": as_json(self.rates),
            "data_files": [dict(one) for one in self.data_files],
        }

    @classmethod
    def _checked(cls, held: Any, field: str) -> ComparisonReport:
        read = _FIELDS(held, field)
        del read["schema"]
        if not read["results"]:
            raise schema.wrong(f"{field}.results".strip("."), "an object with a comparison", {})
        report = cls(**read)
        pairs: dict[str, list[tuple[str, str]]] = {}
        for row in report.rates.to_dict("records"):
            pairs.setdefault(row["model"], []).append((str(row["group"]), str(row["task"])))
        for model, own in pairs.items():
            if own != pairs.get(report.reference):
                expected = f"the same pairs of group and task for {model!r} as for the reference"
                raise schema.wrong(f"{field}.rates".strip("."), expected, own)
        return report

    def to_document(self) -> Document:
        """Return what the report says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._comparison_document import comparison_document

        return comparison_document(self)


_FIELDS = schema.record(
    {
        "schema": schema.value(
            repr(COMPARISON_REPORT_SCHEMA), lambda held: held == COMPARISON_REPORT_SCHEMA
        ),
        "results": schema.dict_of(ComparisonResult._checked),
        "accuracy": _frame_of(
            schema.record(
                {"model": schema.TEXT, "accuracy": NUMBER, "difference": NUMBER}, rest=NUMBER
            )
        ),
        "rates": _frame_of(
            schema.record(
                {"model": schema.TEXT, "group": NAME, "task": NAME},
                {"impact_ratio_interval": NAME},  # says what it holds for
                rest=COUNT,
            )
        ),
        "context": CONTEXT,
    },
    {"data_files": DATA_FILES},
)
