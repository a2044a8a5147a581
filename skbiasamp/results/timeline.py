"""The result of watching a model: one audit a period, and alarms that hold over all of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import group_of, metric_name, name_of, shown_change
from skbiasamp.render.document import (
    Axis,
    Bullets,
    Chart,
    Document,
    Section,
    Table,
    Text,
)
from skbiasamp.render.facts import Change, Gap, Moved, Watch, express
from skbiasamp.render.first import first_screen_of_watch, steps_of_watch
from skbiasamp.render.pictures import typical
from skbiasamp.results._content import (
    document_of,
    estimates_table,
    folded,
    form_of,
    naming_of_pairs,
    record,
    scaled,
    shown,
    table_columns,
    with_interval,
)
from skbiasamp.results._facts import ratios_of, task_name, wanted_in, who_of
from skbiasamp.results.exports import OfMetric, Paged, as_json, records
from skbiasamp.results.kinds import Kind, pair_of

# What a period is in a watch.
REFERENCE, WATCHED, BEFORE, EMPTY = "reference", "watched", "before the reference", "no rows"
_CHANGE = ("expected", "difference", "p_adjusted", "alarm")
PERIOD_COLUMNS = (
    *("period", "value", "low", "high", "n", *_CHANGE),
    *("cause", "onset", "role", "version"),
)
PAIR_COLUMNS = ("period", "group", "task", "value", "n", *_CHANGE, "onset")
RATE_COLUMNS = ("period", "group", "task", "n", "labelled", "predicted")


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
    rates : DataFrame
        How often each group is labelled and predicted each task, in the reference (without a
        period) and in each later period. It has no rows if the metric compares something else.
    reference : dict
        What periods are compared with: its ``name``, ``periods``, ``value``, ``low``, ``high`` and
        number of rows ``n``.
    alpha : float
        The chance of any false positive over the whole watch is at most this.
    confidence_level : float or None
        Level of the interval of each period.
    notes : list of dict
        What was left out or is unusual: ``period`` (or None) and ``text``. Of rows left out also
        their number, ``dropped`` (without a group) or ``lacking`` (the reference lacks their group
        or class).
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

    _last = ("verdict", "first_alarm", "onset", "sentence", "periods", "pairs", "rates")

    metric: str
    direction: str | None
    periods: pd.DataFrame
    pairs: pd.DataFrame
    rates: pd.DataFrame
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
            return words.NOT_MEASURED
        return words.ALARM if watched["alarm"].any() else words.NO_ALARM

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
        """What raised an alarm: "the value", or pairs of group and task, the most moved first."""
        return self._causes()

    def _causes(self, least: float = 0.0) -> list[str]:
        """Return what raised an alarm, if its rate moved by at least a share of the largest move.

        Compared with all rows, a group that stays seems to move as much as another one does.
        """
        if self.first_alarm is None:
            return []
        causes = ["the value"] if bool(self._watched["cause"].str.contains("value").any()) else []
        pairs = self.pairs[self.pairs["alarm"].astype(bool)] if len(self.pairs) else self.pairs
        several = len(self.pairs) > 0 and self.pairs["task"].nunique() > 1
        since = (self._watched["period"] == self.onset).cummax()
        moved = self._moved(self._watched["period"][since])
        if least and len({each.group for each in moved}) == 2:
            # Of two groups, both move against each other: an alarm of one is one of the other.
            pairs = self.pairs[self.pairs["task"].isin(pairs["task"])]
        ranks = {(each.group, each.task): rank for rank, each in enumerate(moved)}
        keys = {
            pair: (name_of(pair[0]), task_name(pair[1], self.context))
            for pair in zip(pairs["group"], pairs["task"], strict=True)
        }
        ways = {key: abs(moved[rank].after - moved[rank].before) for key, rank in ranks.items()}
        # Of each task, the group that comes first of those that raised an alarm.
        most = {key[1]: ways[key] for key in reversed(ranks) if key in keys.values()}
        for (group, _), key in sorted(
            keys.items(), key=lambda item: ranks.get(item[1], len(ranks))
        ):
            if key in ways and ways[key] < least * most[key[1]]:
                continue
            columns = self.group_columns if isinstance(group, tuple) else ()
            name = group_of(group, columns)
            causes.append(f"{name} and “{key[1]}”" if several else name)
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
        return express("over", "sentence", self.facts)

    @property
    def facts(self) -> Watch:
        """What the watch tells, as numbers and names."""
        watched = self._watched
        known = watched.dropna(subset=["value"])
        since = watched[(watched["period"] == self.onset).cummax()].dropna(subset=["value"])
        mean, expected = (
            float(np.average(since[column], weights=since["n"])) if len(since) else None
            for column in ("value", "expected")
        )
        names = [str(period) for period in self.periods["period"]]
        moved = self._moved(since["period"] if len(since) else known["period"])
        gap = labelled = None
        if len(moved) == 2 and moved[0].task == moved[1].task:
            first, other = sorted(moved, key=lambda each: -each.after)
            # Differences of the rates that are shown, so that a reader can check them.
            before = shown_change(other.before, first.before)
            after = shown_change(other.after, first.after)
            growth = abs(after) - abs(before)
            gap = Gap(first.group, other.group, before, after, growth, None, None)
            if first.labels and other.labels:
                a, b = map(shown_change, other.labels, first.labels)
                labelled = a, b
        changes = [Change(each.group, each.task, None, each.before, each.after) for each in moved]
        tasks = list(dict.fromkeys(each.task for each in moved))
        rated = changes, tasks, wanted_in(self.context)
        who = who_of(*rated)
        if who is not None:  # compared with the reference
            who = replace(who, loses=(who.after or 0.0) < (who.before or 0.0))
        return Watch(
            self.verdict,
            self.onset,
            self.first_alarm,
            tuple(cause for cause in self._causes(0.1) if cause != "the value")[:_MOST],
            mean,
            expected,
            as_json(float(watched["p_adjusted"].min())) if len(watched) else None,
            str(self.reference["name"]),
            as_json(self.reference["value"]),
            float(known["value"].iloc[-1]) if len(known) else None,
            str(known["period"].iloc[-1]) if len(known) else None,
            len(watched),
            self.alpha,
            tuple((period, name_of(version)) for period, version in self.version_changes),
            len(names),
            f"{names[0]} to {names[-1]}",
            moved,
            gap,
            labelled,
            who,
            ratios_of(*rated),
            self._scale(gap is not None),
        )

    def _scale(self, of_gap: bool) -> float:
        """Return what turns values into the unit of the rates, see `Watch`."""
        if self.rates.empty:
            return 1.0
        rates = self.rates.dropna(subset=["period"])
        moved = (rates["predicted"] - rates["labelled"]).groupby(rates["period"]).agg(np.ptp)
        values = self.periods.set_index("period")["value"].reindex(moved.index)
        # A gap of two groups grows by twice the value.
        is_half = (2 * values.abs() - moved).abs() < 1e-6
        return 200.0 if of_gap and is_half[values.notna()].all() else 100.0

    def _moved(self, periods: Iterable[Any]) -> tuple[Moved, ...]:
        """Return the rates of groups in the reference and in some periods, the most moved first."""
        moved = []
        for (group, task), rows in self.rates.groupby(["group", "task"], sort=False):
            before = rows[rows["period"].isna()]
            after = rows[rows["period"].isin(list(periods)) & (rows["n"] > 0)]
            if not len(after) or before["predicted"].isna().any():
                continue
            labelled, predicted = (
                (float(before[name].iloc[0]), float(np.average(after[name], weights=after["n"])))
                for name in ("labelled", "predicted")
            )
            known = None if math.isnan(sum(labelled)) else labelled
            named = name_of(group), task_name(task, self.context)
            moved.append(Moved(*named, *predicted, known))

        def way(each: Moved) -> float:
            """Return how far predictions moved from the labels."""
            before, after = each.labels or (0.0, 0.0)
            return abs((each.after - after) - (each.before - before))

        return tuple(sorted(moved, key=way, reverse=True))

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
        periods, facts = records(self.periods), self.facts
        notes: dict[str, list[str]] = {}  # those of one text together: empty periods are many
        for note in self.notes:
            named = notes.setdefault(note["text"], [])
            named += [note["period"]] if note["period"] is not None else []
        noted = [Text(express("over", "note", *note[::-1])) for note in notes.items()]
        date = (self.context.get("date") or "").partition(" ")[0]
        left = {key: sum(note.get(key, 0) for note in self.notes) for key in ("dropped", "lacking")}
        card = first_screen_of_watch(facts, date, **left)
        chart = None
        if facts.reference_value is not None and any(row["value"] is not None for row in periods):
            caption = express("over", "chart", facts, self.confidence_level, self.kind.is_signed)
            chart = Chart(
                caption,
                self.sentence,
                scaled(periods, facts.scale),
                facts.scale * facts.reference_value,
                facts.onset,
                facts.versions,
                "points" if facts.scale > 1 else "",
            )
        settings = {metric_name(self.name): self.params}
        written = record(self.context, self.context.get("data_files", []), settings)
        return document_of(
            self.context,
            express("over", "title_of_page"),
            [
                Section(express("page", "report"), [card], "first"),
                Section(express("over", "picture"), [chart], "value"),
                steps_of_watch(facts),
                Section(express("over", "which"), _pairs(self, facts), "pairs", only="page"),
                Section(
                    express("over", "every"),
                    [_periods(periods, facts), Text(express("over", "periods_text"), quiet=True)],
                    "periods",
                    only="page",
                ),
                Section(
                    express("over", "notes"),
                    [Bullets(noted[:_MOST_NOTES] or [Text(express("over", "nothing"))])],
                    "notes",
                    only="page",
                ),
                folded("statistics", [written], "statistics"),
            ],
        )


_MOST = 3
_MOST_NOTES = 500
_DRAWN = ("value", "low", "high", "expected")


def _periods(watched: list[dict[str, Any]], facts: Watch) -> Table:
    """Return the periods, the latest first."""
    periods = scaled(watched, facts.scale)
    of_size = typical([row["n"] for row in periods])
    kept = [row for row, is_typical in zip(periods, of_size, strict=True) if is_typical]
    return _values_table(
        periods[::-1],
        with_interval("value", form_of(facts.scale), _DRAWN[1:3]),
        lambda row: {"name": row["period"]},
        facts.scale,
        id="periods-table",
        caption=express("over", "periods_table", facts),
        first="Period",
        marks="Value and interval",
        axis=Axis.around(row[key] for row in kept for key in _DRAWN),
    )


def _values_table(rows: Any, value: Any, named: Any, scale: float, **options: Any) -> Table:
    """Return values beside those that are expected; alarms are coloured."""
    form = form_of(scale)

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        role, side = row.get("role", WATCHED), "above" if row["alarm"] else "plain"
        notes = [role] * (role != WATCHED) + ["alarm"] * bool(row["alarm"])
        return {"notes": notes, "side": side, **named(row)}

    return estimates_table(
        rows,
        table_columns(
            "Rows",
            {"Value": value, "Expected": shown("expected", form)},
            {"Difference": shown("difference", form)},
            "Adjusted p",
        ),
        mark,
        _DRAWN[:3],
        **options,
    )


def _pairs(timeline: Timeline, facts: Watch) -> list[Table | Text | None]:
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
    # The changes of two groups add up to that of their gap.
    scale = min(facts.scale, 100.0)
    rows = scaled(map(_since, pairs.values()), scale)
    rows.sort(key=lambda row: row["p_adjusted"])
    heading, named = naming_of_pairs(timeline.pairs, timeline.group_columns)

    first, last = names[start], names[-1]
    table = _values_table(
        rows,
        shown("value", form_of(scale)),
        lambda row: {"name": named(row), "ring": row["expected"]},
        scale,
        id="pairs-table",
        caption=express("over", "pairs_table", facts, first, last),
        first=heading,
        marks="Value",
    )
    return [table, Text(express("over", "pairs_text", facts), quiet=True)]


def _since(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of a pair over periods, by its rows."""
    known = [row for row in rows if row["value"] is not None and row["n"]]
    means = {}
    for key in ("value", "expected", "difference"):
        own = [row for row in known if row[key] is not None]
        total = sum(row["n"] for row in own)
        means[key] = sum(row[key] * row["n"] for row in own) / total if own else None
    return rows[-1] | means | {"n": sum(row["n"] for row in known)}
