"""Where a value comes from: parts that sum to it, with intervals and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import pandas as pd

from skbiasamp._utils.formatting import (
    group_of,
    in_points,
    name_of,
    number,
    points,
    side_of_zero,
    task_of,
)
from skbiasamp.render.document import Bullets, Document, Item, Section, Table, Text
from skbiasamp.render.facts import express
from skbiasamp.results._content import (
    document_of,
    interval_in_words,
    record,
    with_interval,
)
from skbiasamp.results._result import AuditResult
from skbiasamp.results.exports import Paged, Stored
from skbiasamp.results.kinds import pair_of


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Paged, Stored):
    """Where the amplification comes from: parts that sum to the value.

    `skbiasamp.explain` returns it. Each table has the columns `part`, `value`, `low` and `high`,
    and its values sum to the whole. `verdict` is what the interval of a part says.

    .. versionadded:: 0.2

    Attributes
    ----------
    audit : AuditResult
        The audit of the whole: directional A→T (group → task).
    change : DataFrame
        What the published value is made of: *change* (the value of the audit), *shift* (a task is
        predicted more often for every group) and *selection* (what signs of the audited labels
        add). *selection* has no interval: it is a property of these rows.
    change_by_task : DataFrame
        The same parts of each task; all tasks sum to the published value.
    decision : DataFrame or None
        What scores, rounding and threshold add.
    calibration : DataFrame or None
        Scores and rates of labels in up to ten bins of each task, and the p-value that these agree.
    strata : DataFrame or None
        What the rows of each stratum add.
    conditional : DataFrame or None
        The amplification within strata, each stratum weighted by its share of rows. None if no
        stratum has rows of all groups.
    gaps : DataFrame or None
        The difference between the rates of two groups, in labels and in predictions, and its
        change: explained by different strata, unexplained, and without overlap.
    rates : DataFrame or None
        Rates of each group, also standardised by stratum, and demographic disparities.
    features : DataFrame or None
        What each feature carries of the difference of the scores between groups, along the
        association in the labels. It sums to that difference; for two groups, to half of it.
        `predicts_group` is how well the feature predicts the group alone, and `proxy` whether it
        does so at all.
    predictors : DataFrame or None
        What the *task predictor* and the *group predictor* add to MALS, if the model predicts the
        group too: one of them takes the place of its label, then the other, and both orders are
        averaged. *labels* is how the labels of these rows differ from those of training.
    predictors_by_pair : DataFrame or None
        The same parts of each pair that MALS counts. They sum to the change of the group's share,
        as the paper defines it.
    findings : list of str
        What limits the explanation, or needs attention.
    context : dict
        Columns and options.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 150 + [0] * 250 + [1] * 250 + [0] * 150
    >>> predicted = [1] * 120 + [0] * 280 + [1] * 280 + [0] * 120
    >>> explanation = skbiasamp.explain(hired, predicted, sensitive_features=sex)
    >>> explanation.change[["part", "value"]].round(3)
            part  value
    0     change  0.075
    1      shift  0.000
    2  selection  0.000
    """

    audit: AuditResult
    change: pd.DataFrame
    change_by_task: pd.DataFrame
    decision: pd.DataFrame | None = None
    calibration: pd.DataFrame | None = None
    strata: pd.DataFrame | None = None
    conditional: pd.DataFrame | None = None
    gaps: pd.DataFrame | None = None
    rates: pd.DataFrame | None = None
    features: pd.DataFrame | None = None
    predictors: pd.DataFrame | None = None
    predictors_by_pair: pd.DataFrame | None = None
    findings: list[str] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    # What `subgroups` calls. It has the rows, which are not written.
    _search: ClassVar[Callable[..., pd.DataFrame]]

    @property
    def value(self) -> float:
        """The value of the audit, which decision and strata sum to."""
        return self.audit.value

    @property
    def conditional_value(self) -> float:
        """The amplification within strata at the signs of the labels."""
        return float("nan") if self.conditional is None else float(self.conditional["value"].sum())

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of parts, by name."""
        named = {name: getattr(self, name) for name in _TABLES}
        return {name: table for name, table in named.items() if table is not None}

    @property
    def sentences(self) -> list[str]:
        """One sentence or two for each part."""
        return [text for name in self.tables for text in sentences_of(self, name)]

    def subgroups(self, frame: Any, depth: int = 2, min_rows: int = 100) -> pd.DataFrame:
        """Find the subgroups of rows in which the model amplifies most.

        Use it to see whether the amplification is large in some rows, such as those of young
        people in one department. It searches all values of the columns, and all combinations of
        the values of up to `depth` columns.

        Parameters
        ----------
        frame : array-like of shape (n_samples, n_columns), or column names
            Columns of the rows that were explained; bin numbers first. If the explanation is of a
            frame, a file or a `Contingency`: names of its columns. A missing value is a value.
        depth : int, default=2
            The largest number of columns of a subgroup.
        min_rows : int, default=100
            The smallest number of rows of a subgroup.

        Returns
        -------
        subgroups : DataFrame
            One row for each subgroup, the largest value first. `value` is that of an audit of
            these rows alone. `low` and `high` are its interval, which hold for all subgroups
            together (max-T): columns that mean nothing find no amplification in 95 % of data sets
            that have none. `differs` says whether an interval of the difference to all rows, which
            likewise holds for all subgroups, excludes 0. Rows of one group alone have no interval
            (NaN).

        Examples
        --------
        The model exaggerates in one of two departments:

        >>> import skbiasamp
        >>> sex = (["f"] * 200 + ["m"] * 200) * 2
        >>> department = ["A"] * 400 + ["B"] * 400
        >>> hired = ([1] * 80 + [0] * 120 + [1] * 120 + [0] * 80) * 2
        >>> predicted = [1] * 50 + [0] * 150 + [1] * 150 + [0] * 50 + hired[400:]
        >>> explanation = skbiasamp.explain(hired, predicted, sensitive_features=sex)
        >>> explanation.subgroups({"department": department})[["subgroup", "value", "differs"]]
                 subgroup  value  differs
        0  department = A   0.15     True
        1  department = B   0.00     True
        """
        return self._search(frame, depth, min_rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the parts of all tables as one, with a column `table`."""
        parts = [table.assign(table=name) for name, table in self.tables.items()]
        whole = pd.concat(parts, ignore_index=True)
        first = ["table", "part", "value", "low", "high"]
        return whole[[*first, *(name for name in whole if name not in first)]]

    @property
    def _papers(self) -> list[str]:
        return [self.audit.citation]

    def to_document(self) -> Document:
        """Return what the explanation says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        parts = [
            Section(
                name.capitalize(),
                [
                    None if name == "gaps" else _waterfall(self, name),
                    Bullets.of(sentences_of(self, name)),
                ],
                name,
            )
            for name in self.tables
        ]
        return document_of(
            self.context,
            express("explain", "title_of_page"),
            sections=[
                Section("Verdict", [Text(self.audit.sentence)], "verdict"),
                *parts,
                Section("Findings", _findings(self), "findings"),
                record(self.context),
            ],
        )


def reversal(
    task: Any, groups: Sequence[str], of: str, whole: float, within: float, column: str
) -> str:
    """Say that a difference between groups reverses within strata (Simpson's paradox)."""
    named = groups if whole > 0 else groups[::-1]
    sizes = points(whole), column, points(within)
    return express("explain", "reversal", of, task_of(task), *named, *sizes)


_TABLES = ("change", "decision", "strata", "conditional", "gaps", "features", "predictors")
_NOISE = 1e-12
# Parts of the published value that change no association, and so cannot amplify.
_PLAIN = ("shift", "selection")
_ENDS = ("low", "high")
_WHOLE = "directional value"  # a report may be of other metrics
SUMS = {
    "change": "published value",
    "decision": _WHOLE,
    "strata": _WHOLE,
    "features": "difference of the scores",
    "conditional": "value within strata",
    "predictors": "value of MALS",
}
_MOST_PARTS, _MOST_SENTENCES = 6, 5  # on the page of an audit


def explanation_items(explanation: Explanation | None) -> Iterator[Item | None]:
    """Yield what the page of an audit shows: what was asked, on at most one screen."""
    if explanation is None:
        return
    for name in ("decision", "strata", "features"):
        if name in explanation.tables:
            texts = [*sentences_of(explanation, name)]
            if name == "strata":  # the table says these
                texts = [*sentences_of(explanation, "gaps")]
                if explanation.conditional is not None:
                    texts.insert(0, next(sentences_of(explanation, "conditional")))
            yield _waterfall(explanation, name, _MOST_PARTS)
            yield Bullets.of(texts[:_MOST_SENTENCES])
    yield from _findings(explanation)


def _findings(explanation: Explanation) -> list[Item | None]:
    given = [name_of(name) for name in explanation.context["given"]]
    caution = Text(express("explain", "caution", given)) if given else None
    return [Bullets.of(explanation.findings), caution]


def _waterfall(explanation: Explanation, name: str, most: int | None = None) -> Table:
    """Return the parts of a table, each drawn from where the one before ends.

    Beyond the `most` largest, parts are summed.
    """
    parts = [
        row | {"name": _named(explanation, row["part"], name)}
        for row in _rows(explanation.tables[name])
        if not _is_zero(row)
    ]
    if most is not None and len(parts) > most + 1:
        largest = sorted(parts, key=lambda row: -abs(row["value"]))[:most]
        others = [row["value"] for row in parts if row not in largest]
        parts = [row for row in parts if row in largest]
        parts.append(_sum(f"{len(others)} others", sum(others)))
    rows, reached, title = list[dict[str, Any]](), 0.0, SUMS[name]
    for part in parts:
        rows.append(part | {"from": reached, "to": reached + part["value"]})
        reached += part["value"]
    rows.append(_sum(title, reached))
    level = explanation.context["confidence_level"]
    return Table.of(
        rows,
        {"Value": with_interval("value", number, _ENDS)},
        lambda row: {
            "name": row["name"],
            "side": side_of_zero(row["value"], row["low"], row["high"]),
            "says": f"from {number(row['from'])} to {number(row['to'])}",
            "dot": row["to"],
            "span": (row["from"], row["to"]),
        },
        id=f"why-{name}",
        caption=express("explain", "waterfall", title, level),
        first="Part",
        marks="Waterfall",
    )


def _sum(name: str, value: float) -> dict[str, Any]:
    return {"name": name, "value": value, "from": 0.0, "to": value, "low": None, "high": None}


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return [
        {**row, **{end: None if math.isnan(row[end]) else row[end] for end in _ENDS}}
        for row in rows
    ]


def sentences_of(explanation: Explanation, name: str) -> Iterator[str]:
    """Yield a sentence for each part of a table."""
    if name == "gaps":
        yield from _of_gaps(explanation)
        return
    rows = _rows(explanation.tables[name])
    for row in rows:
        if not _is_zero(row):
            part, side = row["part"], side_of_zero(row["value"], row["low"], row["high"])
            of_table = name in ("change", "strata", "features") and part not in _PLAIN
            words = _named(explanation, part, name), row, name if of_table else part, side
            yield express("explain", "part", *words, _interval(explanation, row))
    if name == "decision":
        decided = sum(row["value"] for row in rows if row["part"] in ("rounding", "threshold"))
        yield express("explain", "decided", decided)
    if zero := [_named(explanation, row["part"], name) for row in rows if _is_zero(row)]:
        yield express("explain", "nothing", zero)


def _named(explanation: Explanation, part: Any, table: str) -> str:
    columns = explanation.context["given"] if table == "strata" else ()
    return "rounding (scores become yes or no)" if part == "rounding" else part_name(part, columns)


def part_name(part: Any, columns: Sequence[Any]) -> str:
    """Return the name of a part: of a stratum by the `columns` that make strata."""
    return name_of(part) if part in _PLAIN else group_of(part, columns)


def _interval(explanation: Explanation, row: Mapping[str, Any], form: Any = number) -> str:
    if row["low"] is None:
        return ""
    level = explanation.context["confidence_level"]
    return f" ({interval_in_words(level, row['low'], row['high'], form)})"


def _of_gaps(explanation: Explanation) -> Iterator[str]:
    """Say of each difference between two groups what strata make of it, and what remains."""
    context, gaps, rates = explanation.context, explanation.gaps, explanation.rates
    assert gaps is not None and rates is not None
    given = name_of(list(context["given"]))
    # Differences of the rates that a page shows, so that a reader can check them.
    rate_of = {
        (row["of"], pair_of(row)): round(row["rate"], 3)
        for row in cast("list[dict[str, Any]]", rates.to_dict("records"))
    }
    for (task, group, other, of), own in gaps.groupby(
        ["task", "group", "other", "of"], sort=False, dropna=False
    ):
        part = {row["part"]: row for row in _rows(own)}
        if of == "change" or math.isnan(sum(row["value"] for row in part.values())):
            continue
        names = " minus ".join(group_of(name, context["sensitive"]) for name in (group, other))
        first, second = (rate_of[of, pair_of({"group": g, "task": task})] for g in (group, other))
        inside, alone = (round(part[name]["value"], 3) for name in ("unexplained", "no overlap"))
        explained = first - second - inside - alone
        interval = _interval(explanation, part["unexplained"], in_points)
        numbers = first - second, explained, inside, interval, alone
        yield express("explain", "gap", names, task_of(task), of, given, *numbers)


def _is_zero(row: Mapping[str, Any]) -> bool:
    return not any(abs(row[name] or 0.0) > _NOISE for name in ("value", *_ENDS))
