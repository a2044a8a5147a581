"""Periods: dates and times as the names of days, weeks, months or years; rows counted by them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.classes import positive_class, whole_classes
from skbiasamp._input.errors import InputError, InputTypeError, counting, quote, rows_of
from skbiasamp._utils.progress import interruptible, progress
from skbiasamp.counts.cells import distinct, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.frames import open_frame, read_periods
from skbiasamp.metrics.inputs import opened_rows


class _Unit(NamedTuple):
    """A length of periods: as pandas calls it, and how names are written."""

    pandas: str
    form: str
    name: re.Pattern[str]


# Not \d, which is digits of every script: names of files sort and are found by those of ASCII.
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_UNITS = {
    "hour": _Unit("h", "%Y-%m-%dT%H", re.compile(f"{_DAY}T[0-9]{{2}}")),
    "day": _Unit("D", "%Y-%m-%d", re.compile(_DAY)),
    "week": _Unit("W", "", re.compile("[0-9]{4}-W[0-9]{2}")),
    "month": _Unit("M", "%Y-%m", re.compile("[0-9]{4}-[0-9]{2}")),
    "quarter": _Unit("Q", "%Y-Q%q", re.compile("[0-9]{4}-Q[1-4]")),
    "year": _Unit("Y", "%Y", re.compile("[0-9]{4}")),
}
EVERY = tuple(_UNITS)
_MOST = 10_000  # periods; more are a wrong year in some row


def _timed(frame: Any, time: Hashable, every: str | None) -> tuple[Any, str, Callable[[Any], str]]:
    """Add a column of periods to a frame or query of any library.

    Return the frame, this column, and what its values are as the names of periods.
    """
    rows = open_frame(frame, {"time": [time]})
    opened = rows.frame if rows.eager is None else rows.eager
    kind, own = rows.schema[time], rows.column(time)
    called = rows.called.get(time, time)
    pandas_like = opened.implementation.is_pandas_like() or opened.implementation.is_dask()
    if kind == nw.Unknown and pandas_like:
        # pandas knows time zones that narwhals does not read, such as America/New_York.
        zoned = isinstance(opened.to_native().dtypes[called], pd.DatetimeTZDtype)
        kind = nw.Datetime(time_zone="UTC") if zoned else kind  # any zone
    if kind == nw.Object and opened.implementation.is_pandas():
        native = opened.to_native()
        if pd.api.types.infer_dtype(native[called]) == "date":
            native = native.copy()
            native[called] = pd.to_datetime(native[called])
            opened, kind = nw.from_native(native), nw.Date()
    free = "period"
    while free in rows.schema:
        free += "_"
    made, name_of = _made(own, kind, every, time)
    return opened.with_columns(made.alias(free)).to_native(), free, name_of


def _made(
    own: nw.Expr, kind: Any, every: str | None, time: Hashable
) -> tuple[nw.Expr, Callable[[Any], str]]:
    text = kind in (nw.String, nw.Categorical) or isinstance(kind, nw.Enum | nw.Categorical)
    if every is None:
        return (own.cast(nw.String) if isinstance(kind, nw.Categorical | nw.Enum) else own), str
    if text:
        width = 13 if every == "hour" else 10
        return (
            own.cast(nw.String).str.slice(0, width),
            lambda text: _name_of_text(text, every, time),
        )
    if not (kind == nw.Date or isinstance(kind, nw.Datetime)):
        raise InputError(
            "{time} must hold dates or times, or text such as '2026-11-21'; got column {column!r} "
            "of type {kind}. Write dates so, convert them (pandas.to_datetime), or pass "
            "{every=None} if its values are the names of periods.",
            column=time,
            kind=kind,
        )
    if kind == nw.Date and every == "hour":
        raise InputError("{every='hour'} needs times; got column {column!r} of dates.", column=time)
    if kind != nw.Date:
        zoned = kind.time_zone is not None
        # The clock on the wall: an hour may come twice, and a day may begin at one o'clock.
        own = own.dt.replace_time_zone(None) if zoned else own
        own = own.dt.truncate("1h" if every == "hour" else "1d")
    return own, lambda time: _name(pd.Period(time, _UNITS[every].pandas), every)


def _name_of_text(text: str, every: str, time: Hashable) -> str:
    form = f"{_DAY}[T ][0-9]{{2}}" if every == "hour" else _DAY
    if every in ("month", "quarter", "year"):
        form = f"{_DAY}|[0-9]{{4}}-[0-9]{{2}}"
    try:
        if not re.fullmatch(form, text):
            raise ValueError
        return _name(pd.Period(pd.Timestamp(text), _UNITS[every].pandas), every)
    except ValueError as error:
        raise InputError(
            "{time} must hold dates that begin with year, month and day, such as "
            "'2026-11-21{more}'; got {seen!r} in column {column!r}. Day and month could be "
            "mistaken for one another: write dates as 2026-11-21{more}, or convert the column "
            "(pandas.to_datetime(..., dayfirst=True) if the day comes first).",
            more="T23" if every == "hour" else "",
            seen=text,
            column=time,
        ) from error


def _name(period: pd.Period, every: str) -> str:
    """Return the name of a period; names sort as times do."""
    if every == "week":  # of the ISO year that its Thursday is in
        return f"{(period.asfreq('D', 'start') + 3).year:04d}-W{period.week:02d}"
    return period.strftime(_UNITS[every].form)


def in_order(names: Iterable[str], *, filled: bool) -> list[str]:
    """Return the names of periods in their order: as text sorts, but numbers inside by size.

    If all are dates of one kind, they are `filled` with those that lack between them.
    """
    names = list(dict.fromkeys(names))
    units = _UNITS.items() if names and filled else ()
    kinds = [every for every, unit in units if all(map(unit.name.fullmatch, names))]
    if not kinds:
        try:
            return sorted(names, key=float)
        except ValueError:
            return sorted(names, key=_parts)
    every = kinds[0]
    first, last = (_period(name, every) for name in (min(names), max(names)))
    if (last - first).n >= _MOST:
        text = (
            "{every}={every_seen!r} gives more than {most:,} periods from {first!r} to {last!r}. "
            "Is the year wrong in some row? Otherwise use longer periods."
        )
        raise InputError(text, every_seen=every, most=_MOST, first=min(names), last=max(names))
    return [_name(period, every) for period in pd.period_range(first, last)]


def _parts(name: str) -> tuple[list[Any], str]:
    """Return what a name is sorted by: its parts, so that v9 comes before v10."""
    parts = re.split("([0-9]+)", name)  # each second one is a number
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], name


def _period(name: str, every: str) -> pd.Period:
    try:
        if every == "week":
            return pd.Period(pd.to_datetime(f"{name}-1", format="%G-W%V-%u"), "W")
        return pd.Period(name, _UNITS[every].pandas)
    except ValueError as error:
        raise InputError("{period} {seen!r} is no date.", seen=name) from error


# --------------------------------------------------------------------------- rows by period


class CountedPeriods(NamedTuple):
    """The counts of each period, in their order; None for periods without rows."""

    cells: dict[str, Contingency | None]
    versions: dict[str, str]
    notes: list[dict[str, Any]]
    others: Mapping[str, dict[Hashable, float]] = {}  # rows of classes that the reference lacks


def periods_of_counts(
    frame: Mapping[Any, Contingency], columns: Mapping[str, Any]
) -> CountedPeriods:
    """Return the counts of each period that the user passed, without gaps between periods."""
    named = [name for name, column in columns.items() if column is not None]
    if named:
        text = "{name} names a column, and {frame} holds counts of each period. Leave it out."
        raise InputTypeError(text, name=named[0])
    if not frame:
        raise InputError("{frame} has no periods: there is nothing to watch.")
    if not all(isinstance(name, str) for name in frame):
        raise InputTypeError("{frame} must have text as the names of periods, such as '2026-01'.")
    order = in_order(frame, filled=True)
    notes = _dropped({name: frame[name].n_dropped for name in order if name in frame})
    return CountedPeriods({name: frame.get(name) for name in order}, {}, notes)


def _dropped(rows: Mapping[Any, float]) -> list[dict[str, Any]]:
    """Return notes about the periods that have rows without a sensitive feature."""
    notes = []
    for period, n in rows.items():
        if n:
            text = (
                f"{rows_of(n)} without a sensitive feature {'was' if n == 1 else 'were'} left out."
            )
            notes.append({"period": period, "text": text, "dropped": n})
    return notes


def periods_of_rows(
    frame: Any,
    columns: dict[str, Any],
    every: str | None,
    reference: Any,
    *,
    time: Hashable = None,
    version: Hashable = None,
    **how: Any,
) -> CountedPeriods:
    """Count the rows of a frame by period."""
    if time is None:
        raise InputError(
            "{time} must name the column of dates or times; got None. Counts of each period may "
            "be passed as a dict: {{'2026-01': contingency}}."
        )
    needed = {**columns, "time": time, "version": version}
    given = {name: column for name, column in needed.items() if column is not None}
    with (
        opened_rows(frame, given) as (rows, _),
        progress("counting rows"),
        interruptible(),
        counting(None),
    ):
        timed, column, name_of = _timed(rows, time, every)
        classes = _classes_of(reference, name_of, every, how["pos_label"])
        read = read_periods(timed, columns, column, version, classes=classes, **how)
    cells = Contingency.of_rows(read.rows)
    raw, gaps = pd.Series(read.period, dtype=object), read.dropped.index.isna()
    if gaps.any():
        n = float(cells.weight[raw.isna().to_numpy()].sum() + read.dropped[gaps].sum())
        text = "{time} has no value in {n} of column {column!r}. Leave these rows out."
        raise InputError(text, n=rows_of(n), column=time)
    known = {period: name_of(period) for period in read.dropped.index}
    names = raw.map(known).to_numpy()
    others: dict[str, dict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
    for (period, label), n in read.others.items():
        others[known[period]][label] += n
    order = in_order([*names, *others], filled=every is not None)
    parts: dict[str, Contingency | None] = {}
    versions: dict[str, str] = {}
    for name in order:
        rows = np.flatnonzero(names == name)
        empty = not len(rows) and name not in others
        parts[name] = None if empty else distinct(take(cells, rows, cells.weight[rows]))
        if read.version is not None and not pd.isna(read.version[rows]).all():
            own = pd.Series(read.version[rows]).map(str, na_action="ignore")
            versions[name] = str(pd.Series(cells.weight[rows]).groupby(own).sum().idxmax())
    notes = _dropped(read.dropped.groupby(known).sum().to_dict())
    return CountedPeriods(parts, versions, notes, others)


def _classes_of(
    reference: Any, name_of: Callable[[Any], str], every: str | None, pos_label: Any
) -> Callable[[Array, Array, Names], Names | None]:
    """Return a function that returns the classes of the reference, from rows of all periods."""

    def classes(periods: Array, codes: Array, names: Names) -> Names | None:
        if isinstance(reference, Contingency):
            own = reference.classes
        else:
            known = {raw: name_of(raw) for raw in dict.fromkeys(periods) if not pd.isna(raw)}
            full = dict.fromkeys(known.values())
            order = in_order(full, filled=every is not None)
            chosen = periods_of(reference, [name for name in order if name in full])
            inside = [known.get(raw) in chosen for raw in periods]
            own = tuple(names[i] for i in np.unique(codes[inside]))
        if own is None:
            return None
        return whole_classes(own if pos_label is None else positive_class(pos_label, own)[0])

    return classes


def periods_of(reference: Any, full: list[str]) -> list[str]:
    """Return the periods that are the reference, of those that have rows."""
    if isinstance(reference, str):
        if reference not in full:
            text = (
                "{reference} must name a period that has rows; got {seen!r}. The periods are "
                "{known}."
            )
            raise InputError(text, seen=reference, known=quote(full, most=12))
        return [reference]
    if isinstance(reference, int | np.integer) and not isinstance(reference, bool):
        if not 1 <= reference <= len(full):
            text = (
                "{reference} must be a number of first periods from 1 to {most}, which have rows; "
                "got {seen}."
            )
            raise InputError(text, most=len(full), seen=reference)
        return full[: int(reference)]
    raise InputTypeError(
        "{reference} must be a number of first periods, the name of a period, or a "
        "Contingency; got {kind}.",
        kind=type(reference).__name__,
    )
