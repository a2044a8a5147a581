"""The result of watching a model: one audit a period, and alarms that hold over all of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._utils.formatting import (
    ALARM,
    NO_ALARM,
    NOT_MEASURED,
    group_of,
    level_of,
    listed,
    metric_name,
    name_of,
    number,
    p_equals,
    task_of,
)
from skbiasamp.render.axis import Axis
from skbiasamp.render.document import (
    Bullets,
    Card,
    Chart,
    Document,
    Item,
    Section,
    Table,
    Text,
)
from skbiasamp.render.periods import typical
from skbiasamp.results._content import (
    document_of,
    estimates_table,
    facts,
    limits_section,
    naming_of_pairs,
    record,
    shown,
    table_columns,
    with_interval,
)
from skbiasamp.results._json import OfMetric, as_json, records
from skbiasamp.results._shown import Paged
from skbiasamp.results.kinds import Kind
from skbiasamp.results.pair_tables import pair_of

# What a period is in a watch.
REFERENCE, WATCHED, BEFORE, EMPTY = "reference", "watched", "before the reference", "no rows"
_CHANGE = ("expected", "difference", "p_adjusted", "alarm")
PERIOD_COLUMNS = (
    *("period", "value", "low", "high", "n", *_CHANGE),
    *("cause", "onset", "role", "version"),
)
PAIR_COLUMNS = ("period", "group", "task", "value", "n", *_CHANGE, "onset")


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(Paged, OfMetric):
    """A model watched over time: one audit a period, compared with a reference.

    `skbiasamp.audit_over` returns it.

    .. versionadded:: 0.1

    Attributes
    ----------
    metric : str
        The metric's name.
    direction : str or None
        Its direction, "A->T" (does the group shift the predicted task?) or "T->A" (does the task
        shift the predicted group?).
    periods : DataFrame
        One row a period, as `to_frame` returns it.
    pairs : DataFrame
        One row for each period and pair of group and task.
    reference : dict
        What periods are compared with: its ``name``, ``periods``, ``value``, ``low``, ``high`` and
        number of rows ``n``.
    alpha : float
        The chance of any false positive over the whole watch is at most this.
    confidence_level : float or None
        Level of the interval of each period.
    notes : list of dict
        What was left out or is unusual: ``period`` (or None) and ``text``.
    context : dict
        Date, versions, and what was watched.
    params : dict
        The auditor's parameters.
    kind : {"signed", "size", "attack"}
        How the value is read.
    question : str
        The question that the metric answers.
    group_columns : tuple
        Names of the sensitive columns.
    citation : str
        BibTeX entry of the metric's paper; empty if there is none.

    See Also
    --------
    skbiasamp.plotting.TimelineDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import skbiasamp
    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame(
    ...     {"sex": rng.choice(["f", "m"], 4000), "hired": rng.integers(0, 2, 4000)}
    ... )
    >>> rows["month"] = [f"2026-{1 + i // 1000:02d}" for i in range(4000)]
    >>> rows["predicted"] = rows["hired"]
    >>> rows.loc[(rows.index >= 2000) & (rows["sex"] == "f"), "predicted"] = 0
    >>> timeline = skbiasamp.audit_over(
    ...     rows,
    ...     time="month",
    ...     every=None,
    ...     reference=2,
    ...     target="hired",
    ...     prediction="predicted",
    ...     sensitive="sex",
    ... )
    >>> timeline.verdict, timeline.first_alarm
    ('alarm', '2026-04')
    """

    _last = ("verdict", "first_alarm", "onset", "sentence", "periods", "pairs")

    metric: str
    direction: str | None
    periods: pd.DataFrame
    pairs: pd.DataFrame
    reference: Mapping[str, Any]
    alpha: float
    confidence_level: float | None
    notes: list[dict[str, Any]] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.SIGNED
    question: str = ""
    group_columns: tuple[Hashable, ...] = ()
    citation: str = ""

    @property
    def _watched(self) -> pd.DataFrame:
        return self.periods[self.periods["role"] == WATCHED]

    @property
    def verdict(self) -> str:
        """One of "alarm", "no alarm" and "not measured" (no period after the reference)."""
        watched = self._watched
        if watched["value"].isna().all() or math.isnan(self.reference["value"]):
            return NOT_MEASURED
        return ALARM if watched["alarm"].any() else NO_ALARM

    @property
    def first_alarm(self) -> str | None:
        """The period of the first alarm, or None."""
        alarms = self._watched.loc[self._watched["alarm"], "period"]
        return None if alarms.empty else str(alarms.iloc[0])

    @property
    def onset(self) -> str | None:
        """The period in which the change most likely began, or None without an alarm."""
        return None if self.first_alarm is None else str(self._watched["onset"].iloc[-1])

    @property
    def causes(self) -> list[str]:
        """What raised an alarm: "the value", or pairs of group and task."""
        if self.first_alarm is None:
            return []
        causes = ["the value"] if bool(self._watched["cause"].str.contains("value").any()) else []
        pairs = self.pairs[self.pairs["alarm"].astype(bool)] if len(self.pairs) else self.pairs
        for group, task in dict.fromkeys(zip(pairs["group"], pairs["task"], strict=True)):
            causes.append(f"{group_of(group, self.group_columns)} and '{task_of(task)}'")
        return causes

    @property
    def version_changes(self) -> list[tuple[str, str]]:
        """The periods in which another version of the model begins, and that version."""
        versions = self.periods.dropna(subset=["version"])
        changed = versions["version"] != versions["version"].shift()
        return list(
            zip(versions["period"][changed][1:], versions["version"][changed][1:], strict=True)
        )

    @property
    def sentence(self) -> str:
        """What the watch says: verdict first."""
        watched, start = self._watched, self.reference["name"]
        known = watched.dropna(subset=["value"])
        if self.verdict == NOT_MEASURED:
            return (
                "Not measured: there is no period after the reference that has a value. Add "
                "periods, or choose a shorter reference."
            )
        kept = (
            "If nothing had changed, the chance of any alarm over the whole watch would be at "
            f"most {level_of(self.alpha)}."
        )
        if self.verdict == NO_ALARM:
            return (
                f"No alarm in {len(watched)} period{'s' * (len(watched) != 1)}: there is no clear "
                "evidence that the value changed from the reference "
                f"({number(self.reference['value'])}, {start}). The last value is "
                f"{number(known['value'].iloc[-1])} in {known['period'].iloc[-1]}. {kept}"
            )
        since = watched[(watched["period"] == self.onset).cummax()].dropna(subset=["value"])
        mean, gap = (
            float(np.average(since[column], weights=since["n"]))
            for column in ("value", "difference")
        )
        text = (
            f"Alarm: the model changed, most likely in {self.onset} (first alarm: "
            f"{self.first_alarm}). Since then, the value is {number(mean)} on average. This is "
            f"{number(abs(gap), '.4f')} {'higher' if gap > 0 else 'lower'} than the reference "
            f"({start}) shows with as many rows ({p_equals(watched['p_adjusted'].min())}, "
            "adjusted for all periods). "
        )
        causes = [cause for cause in self.causes if cause != "the value"]
        if causes:
            text += f"There is an alarm for {listed(causes, _MOST)}. "
        return text + kept

    def to_frame(self, *, pairs: bool = False) -> pd.DataFrame:
        """Return one row a period, or one for each period and pair of group and task.

        Parameters
        ----------
        pairs : bool, default=False
            True returns pairs of group and task.

        Returns
        -------
        frame : DataFrame
            ``value`` with its interval ``low`` to ``high``, which is that of the period alone;
            ``n`` rows; ``expected``, what the reference shows with as many rows of each group;
            ``difference``, value − expected; ``p_adjusted``, adjusted for all periods up to this
            one, the value and all pairs; ``alarm``, whether it is at most `alpha`; the most likely
            ``onset`` of a change. Of periods also the ``cause`` of an alarm, their ``role`` and
            the model's ``version``.
        """
        check_option("pairs", pairs, (True, False))
        return (self.pairs if pairs else self.periods).copy()

    def to_document(self) -> Document:
        """Return what the watch says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        context, periods = self.context, records(self.periods)
        metric = metric_name(self.name)
        span = f"{periods[0]['period']} to {periods[-1]['period']}"
        known = facts(context, without="Training labels")
        last = {"Periods": f"{len(periods)}, {span}", "Date": known.pop("Date", "")}
        noted = [Text(note) for note in _noted(self.notes)]
        settings = {f"{metric}: parameters": self.params}
        return document_of(
            context,
            "Bias amplification over time",
            about=span,
            facts={name: text for name, text in (known | last).items() if text},
            metric=metric,
            sections=[
                Section("Verdict", _opening(self, periods), "verdict", leading=True),
                Section("What to do next", _next(self), "next", only="page", leading=True),
                Section("Which groups?", _pairs(self), "pairs", only="page"),
                Section("Every period", [_periods(periods)], "periods"),
                Section(
                    "What was left out, or is unusual?",
                    [Bullets(noted[:_MOST_NOTES]) if noted else _NOTHING],
                    "notes",
                ),
                limits_section(_LIMITS),
                record(context, context.get("data_files", []), settings),
            ],
        )


_MOST = 3
_MOST_NAMES = 6
_MOST_NOTES = 500
_DRAWN = ("value", "low", "high", "expected")
_LIMITS = {
    "What an alarm means": "The rows of a later period differ from the reference by more than "
    "chance. It does not say why, and it does not say that the model became worse: read the value.",
    "What no alarm means": "There is no clear evidence of a change. Small changes may be there, "
    "above all if the reference or the periods have few rows.",
    "Independent rows": "The rule treats rows of a group as independent. If the same people "
    "return, or days of the week differ, alarms may come from that: use longer periods.",
    "Intervals": "The interval of a period is for this period alone. Over many periods, some "
    "intervals exclude the reference by chance: only the alarm allows for all periods.",
}
_NOTHING = Text("Nothing: every period has rows of every group.")
_STEPS = {
    ALARM: (
        "Look at what else changed when the change began: the model's version, its inputs, how "
        "labels are collected.",
        "Audit the periods before and after it (skbiasamp audit), and compare them.",
        "If the change is intended, start a new watch, with a later period as the reference.",
    ),
    NO_ALARM: (
        "Keep the watch: add each period when its labels are known.",
        "",  # how large a change would be found
        "Audit all periods together once (skbiasamp audit): no change does not mean that the "
        "reference is without amplification.",
    ),
}


def _opening(timeline: Timeline, periods: list[dict[str, Any]]) -> list[Item | None]:
    """Return the verdict and the picture."""
    verdict, reference = timeline.verdict, as_json(timeline.reference["value"])
    headline = {ALARM: f"Changed since {timeline.onset}", NO_ALARM: "No clear change"}
    level = timeline.confidence_level
    of = "" if level is None else f", with the {level_of(level)} interval of each period"
    chart = Chart(
        f"The value over time{of}",
        timeline.sentence,
        periods,
        reference,
        timeline.onset,
        _versions(timeline),
    )
    empty = reference is None or all(row["value"] is None for row in periods)
    return [
        Card.of(
            verdict, timeline.sentence, headline=headline.get(verdict, "Nothing to compare yet")
        ),
        Text(f"Metric: {metric_name(timeline.name)}. {timeline.question}".strip(), quiet=True),
        None if empty else chart,
    ]


def _versions(timeline: Timeline) -> list[tuple[str, str]]:
    return [(period, name_of(version)) for period, version in timeline.version_changes]


def _next(timeline: Timeline) -> list[Item | None]:
    """Return what to do next."""
    steps = _STEPS.get(timeline.verdict, _STEPS[NO_ALARM])
    delay = ""
    if error := _error_of_a_period(timeline):
        delay = (
            f"The standard error of a period is about {error:.4f}. A lasting change of twice as "
            "much is usually found within 10 periods, a smaller one later, or in longer periods."
        )
    begun = "; ".join(f"{period}: version {version}" for period, version in _versions(timeline))
    return [
        Bullets.of((step or delay for step in steps if step or delay), numbered=True),
        Text(f"Versions of the model began in {begun}.") if begun else None,
    ]


def _error_of_a_period(timeline: Timeline) -> float:
    """Return the median standard error of the periods, 0.0 without intervals."""
    widths = (timeline.periods["high"] - timeline.periods["low"]).dropna()
    if timeline.confidence_level is None or widths.empty:
        return 0.0
    return float(widths.median() / 2 / NormalDist().inv_cdf((1 + timeline.confidence_level) / 2))


def _noted(notes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return notes, those of the same text once: a watch of working days has many empty ones."""
    periods: dict[str, list[str]] = {}
    for note in notes:
        names = periods.setdefault(note["text"], [])
        names += [note["period"]] if note["period"] is not None else []
    return [
        f"{listed(names, _MOST_NAMES)}: {text}" if names else text
        for text, names in periods.items()
    ]


def _periods(periods: list[dict[str, Any]]) -> Table:
    """Return the periods, the latest first."""
    of_size = typical([row["n"] for row in periods])
    kept = [row for row, is_typical in zip(periods, of_size, strict=True) if is_typical]
    return _values_table(
        periods[::-1],
        with_interval("value", number, _DRAWN[1:3]),
        lambda row: {"name": row["period"]},
        id="periods-table",
        caption="Every period, the latest first",
        first="Period",
        marks="Value and interval",
        axis=Axis.around(row[key] for row in kept for key in _DRAWN),
    )


def _values_table(rows: Any, value: Any, named: Any, **options: Any) -> Table:
    """Return values beside those that are expected; alarms are coloured."""

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        role, side = row.get("role", WATCHED), "above" if row["alarm"] else "plain"
        notes = [role] * (role != WATCHED) + ["alarm"] * bool(row["alarm"])
        return {"notes": notes, "side": side, **named(row)}

    return estimates_table(
        rows,
        table_columns("Rows", {"Value": value}, "Expected", "Difference", "Adjusted p"),
        mark,
        _DRAWN[:3],
        **options,
    )


def _pairs(timeline: Timeline) -> list[Table | Text | None]:
    """Return what every pair does since the change began, or in the last period."""
    names = list(timeline.periods.loc[timeline.periods["role"] == WATCHED, "period"])
    if not len(timeline.pairs) or not names:
        return []
    onset = timeline.onset
    start = names.index(onset) if onset in names else len(names) - 1
    since = timeline.pairs[timeline.pairs["period"].isin(names[start:])]
    pairs: dict[str, list[dict[str, Any]]] = {}
    for row in records(since):
        pairs.setdefault(pair_of(row), []).append(row)
    rows = sorted(map(_since, pairs.values()), key=lambda row: row["p_adjusted"])
    heading, named = naming_of_pairs(timeline.pairs, timeline.group_columns)

    first, last = names[start], names[-1]
    span = first if first == last else f"{first} to {last}"
    table = _values_table(
        rows,
        shown("value"),
        lambda row: {"name": named(row), "ring": row["expected"]},
        id="pairs-table",
        caption=f"What each group and task adds, {span} (ring: expected from the reference)",
        first=heading,
        marks="Value",
    )
    explained = (
        "Expected: what the reference shows with as many rows of each group. The p-value is "
        "adjusted for all periods, the value and all pairs. The value over time is the mean of "
        "the pairs: those above 0 and those below cancel, so single pairs can be far larger."
    )
    return [table, Text(explained, quiet=True)]


def _since(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of a pair over periods, by its rows."""
    known = [row for row in rows if row["value"] is not None and row["n"]]
    means = {}
    for key in ("value", "expected", "difference"):
        own = [row for row in known if row[key] is not None]
        total = sum(row["n"] for row in own)
        means[key] = sum(row[key] * row["n"] for row in own) / total if own else None
    return rows[-1] | means | {"n": sum(row["n"] for row in known)}
