"""The results of several audits of the same rows, with a verdict, findings and context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import pandas as pd

from skbiasamp._io import schema
from skbiasamp._utils.formatting import CANNOT
from skbiasamp.render.document import Document
from skbiasamp.results._json import COUNT, NAME, SHARE, Stored, as_json, names_if_list
from skbiasamp.results._result import AuditResult
from skbiasamp.results._shown import Paged
from skbiasamp.results.gate import Gate, GateCheck, gate_of
from skbiasamp.results.pair_tables import label_index

REPORT_SCHEMA = "skbiasamp.AuditReport/2"

R = TypeVar("R")


@dataclass(frozen=True)
class Finding:
    """One thing to know before the numbers of a report are used.

    Attributes
    ----------
    topic : str
        Its topic, such as "balanced data" or "threshold".
    text : str
        What was seen.
    place : {"verdict", "next", "note"}, default="note"
        "verdict": it stands beside the verdict. "next": it changes what to do, the most urgent
        first. "note": it is good to know.
    action : str, default=""
        What to do next.
    """

    topic: str
    text: str
    place: str = "note"
    action: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.action}".strip()


class Report(Paged, Stored, Mapping[str, R]):
    """A report of several results: a mapping of their names."""

    results: dict[str, R]

    def __getitem__(self, name: str) -> R:
        if name not in self.results:
            raise KeyError(f"{name!r}: this report has {', '.join(map(repr, self.results))}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def gate(
        self, limit: float, *, on: str | Sequence[str] | None = None, one_sided: bool = False
    ) -> Gate:
        """Compare the report with the smallest effect that matters.

        Use it to decide whether a model may be released. A model that reverses the association
        fails at every limit. A report of several models compares their differences.

        Parameters
        ----------
        limit : float
            In the unit of the metric: 0.02 is two percentage points of directional amplification.
        on : str or list of str, default=None
            What is checked: a metric ("leakage"), a result ("DPA A->T"), "all", or "worst" (of an
            audit, the worst pair of group and task). None: the first metric of the report.
        one_sided : bool, default=False
            False: what the model adds or takes must lie within ±limit. True: only what it adds is
            limited.

        Returns
        -------
        gate : Gate
            It is true if all intervals lie within the limit. Its `outcome` is "passed", "failed",
            "inconclusive" or "not measured".
        """
        return gate_of(self.results, limit, on=on, one_sided=one_sided)


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Report[AuditResult]):
    """Report of several audits of the same rows.

    `skbiasamp.audit` returns it; ``report["directional A->T"]`` is the result of one auditor.

    Attributes
    ----------
    results : dict of str to AuditResult
        The results, by metric and direction.
    groups : DataFrame
        One row for each group: its rows, their share, and the accuracy of the model.
    rates : DataFrame
        One row for each pair of group and task: base rate, predicted rate, true positive rate
        and false positive rate.
    selection : DataFrame
        Selection rates and impact ratios of each sensitive column and of their combinations, if
        there are several: the table of `skbiasamp.selection_rates`.
    findings : list of Finding
        What to know before these numbers are used.
    context : dict
        Date, versions, and what was audited.
    data_files : list of dict
        The files that were read: path, number of rows, SHA-256, format, and whether their rows
        are the audited or the training ones. Empty if the rows came from memory or a query.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> list(report)
    ['directional A->T', 'MALS', 'leakage', 'DPA A->T']
    >>> report.primary
    'directional A->T'
    >>> print(report.verdict)
    The model amplifies the association: +0.1125, on average 11.2 percentage points along the
    association (95 % confidence interval +0.0925 to +0.1342). Largest change: the group m
    is predicted '1' for 62.5 % of its rows, and 50.0 % are labelled so. The difference
    between the groups grows from 25.0 to 47.5 percentage points.
    """

    results: dict[str, AuditResult]
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    findings: list[Finding] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    data_files: list[dict[str, Any]] = field(default_factory=list)
    selection: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def primary(self) -> str | None:
        """Name of the result that the verdict is about.

        Directional A->T; leakage if the labels are balanced; T->A if only the sensitive feature
        is predicted. In general the result with the lowest `rank` that can be measured.
        """
        ranked = sorted(self.results, key=lambda name: self.results[name].rank)
        able = (
            name
            for name in ranked
            if not math.isnan(self.results[name].value) and self.results[name].verdict != CANNOT
        )
        return next(able, next(iter(ranked), None))

    @property
    def limit(self) -> float | None:
        """The smallest effect that matters, if one was declared."""
        return self.context.get("limit")

    @property
    def verdict(self) -> str:
        """What the primary result says: verdict, value with interval, pair affected most.

        With a limit, it begins with whether the effect lies within.
        """
        if self.primary is None:
            return ""
        sentence = self.results[self.primary].sentence
        check = self._compared
        return sentence if check is None else f"{check.against(self.limit)} {sentence}"

    @property
    def _compared(self) -> GateCheck | None:
        """The primary result, compared with the limit."""
        if self.limit is None or self.primary is None:
            return None
        return self.gate(self.limit, on=self.primary).checks[0]

    @property
    def sentences(self) -> dict[str, str]:
        """What each result says."""
        return {name: result.sentence for name, result in self.results.items()}

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each result: published value, estimate, interval, p-value and verdict."""
        columns = ("value", "estimate", "low", "high", "p_value", "verdict")
        rows = [{key: getattr(one, key) for key in columns} for one in self.results.values()]
        return pd.DataFrame(rows, index=pd.Index(list(self.results), name="audit"))

    @property
    def warnings(self) -> list[str]:
        """The findings as text."""
        return [str(finding) for finding in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        return {
            "schema": REPORT_SCHEMA,
            "context": as_json(self.context),
            "data_files": [dict(one) for one in self.data_files],
            "primary": self.primary,
            "verdict": self.verdict,
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "groups": as_json(self.groups),
            "rates": as_json(self.rates),
            "selection": as_json(self.selection),
            "findings": [asdict(one) for one in self.findings],
        }

    @classmethod
    def _checked(cls, held: Any, field: str) -> AuditReport:
        read = _FIELDS(held, field)
        del read["schema"]
        return cls(**read)

    def to_document(self) -> Document:
        """Return what the report says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        from skbiasamp.results._audit_document import audit_document

        return audit_document(self)

    def _card(self) -> Document:
        from skbiasamp.results._audit_document import model_card

        return model_card(self)


def _frame_of(row: schema.Check) -> schema.Check:
    """Return the check of a table whose rows are checked as objects."""
    parts = schema.record(
        {
            "index": schema.list_of(NAME),
            "columns": schema.names,
            "data": schema.list_of(schema.list_of(schema.ANYTHING)),
        }
    )

    def checked(held: Any, field: str) -> pd.DataFrame:
        read = parts(held, field)
        rows, columns = read["data"], read["columns"]
        schema.of_length(read["index"], len(rows), f"{field}.index")
        for i, cells in enumerate(rows):
            schema.of_length(cells, len(columns), f"{field}.data[{i}]")
            rows[i] = list(row(dict(zip(columns, cells, strict=True)), f"{field}[{i}]").values())
        index, titles = label_index(tuple(read["index"])), label_index(columns)
        return pd.DataFrame(rows, index, titles).infer_objects()

    return checked


_RATES = ("accuracy", "predicted_rate", "true_positive_rate", "false_positive_rate")
_SHARES = {f"{name}{end}": SHARE for name in _RATES for end in ("", "_low", "_high")}
_RATIO = {f"impact_ratio{end}": COUNT for end in ("", "_low", "_high")}
_SELECTED = {f"selection_rate{end}": SHARE for end in ("", "_low", "_high")}
_SELECTED |= {"true_positive_rate": SHARE, "false_positive_rate": SHARE}
_FINDING = schema.record(
    {"topic": schema.TEXT, "text": schema.TEXT},
    {"place": schema.one_of("verdict", "next", "note"), "action": schema.TEXT},
)
CONTEXT = schema.record(
    {},
    {
        "rows": schema.TEXT,
        "date": schema.TEXT,
        "call": schema.TEXT,
        **dict.fromkeys(("model_name", "data_name"), schema.optional(schema.TEXT)),
        "not_measured": schema.dict_of(schema.TEXT),
        "n_samples": COUNT,
        "n_train": schema.optional(schema.number(0)),
        "n_dropped": COUNT,
        "versions": schema.dict_of(schema.TEXT),
        **dict.fromkeys(("groups", "tasks", "group_columns"), schema.list_of(NAME)),
    },
    rest=names_if_list,
)
DATA_FILES = schema.list_of(
    schema.record(
        {
            **dict.fromkeys(("rows_are", "path", "sha256", "format"), schema.TEXT),
            "rows": COUNT,
        }
    )
)
_FIELDS = schema.record(
    {
        "schema": schema.value(repr(REPORT_SCHEMA), lambda held: held == REPORT_SCHEMA),
        "results": schema.dict_of(AuditResult._checked),
        "groups": _frame_of(
            schema.record({"group": NAME, "n": COUNT, "share": SHARE}, _SHARES, rest=NAME)
        ),
        "rates": _frame_of(
            schema.record(
                {"group": NAME, "task": NAME}, {"base_rate": SHARE} | _SHARES | _RATIO, rest=NAME
            )
        ),
        "findings": schema.list_of(lambda held, field: Finding(**_FINDING(held, field))),
        "context": CONTEXT,
    },
    {
        "data_files": DATA_FILES,
        "selection": _frame_of(
            schema.record(
                {"by": schema.TEXT, "category": NAME, "task": NAME, "n": COUNT, "selected": COUNT},
                {"share": SHARE, "counted": schema.TRUTH, **_SELECTED, **_RATIO},
                rest=NAME,
            )
        ),
    },
)
