"""Periods: dates and times as the names of days, weeks, months, quarters or years."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import pandas as pd

from skbiasamp._input.errors import InputError, quote
from skbiasamp.counts.engines import open_frame


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


class Timed(NamedTuple):
    """A frame with a column to group by, and what its values are as the names of periods."""

    frame: Any
    column: str
    name_of: Callable[[Any], str]


def timed(frame: Any, time: Hashable, every: str | None) -> Timed:
    """Add a column of periods to a frame or query of any library."""
    rows = open_frame(frame, {"time": [time]})
    opened = rows.frame if rows.eager is None else rows.eager
    kind, own = rows.schema[time], rows.column(time)
    if kind == nw.Unknown and _of_pandas_zone(opened, rows.called.get(time, time)):
        kind = nw.Datetime(time_zone="UTC")  # any zone
    free = "period"
    while free in rows.schema:
        free += "_"
    made, name_of = _made(own, kind, every, time)
    return Timed(opened.with_columns(made.alias(free)).to_native(), free, name_of)


def _of_pandas_zone(opened: Any, time: Hashable) -> bool:
    """Return whether pandas knows a column's time zone; narwhals does not read America/New_York."""
    if not (opened.implementation.is_pandas_like() or opened.implementation.is_dask()):
        return False
    return isinstance(opened.to_native().dtypes[time], pd.DatetimeTZDtype)


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
            "of type {kind}. Convert it (pandas.to_datetime), or pass {every=None} if its values "
            "are the names of periods.",
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
    try:
        if not re.fullmatch(form, text):
            raise ValueError
        return _name(pd.Period(pd.Timestamp(text), _UNITS[every].pandas), every)
    except ValueError as error:
        raise InputError(
            "{time} must hold dates that begin with year, month and day, such as "
            "'2026-11-21{more}'; got {seen!r} in column {column!r}. Day and month could be "
            "mistaken for one another: convert the column first "
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


def every_of(names: Sequence[str]) -> str | None:
    """Return what kind of periods names are, or None if they are names of another kind."""
    return next(
        (every for every, unit in _UNITS.items() if names and all(map(unit.name.fullmatch, names))),
        None,
    )


def without_gaps(names: Sequence[str]) -> list[str]:
    """Return names in their order, with the periods between the first and the last that lack."""
    every = every_of(names)
    if every is None:
        return in_order(names)
    first, last = (_period(name, every) for name in (min(names), max(names)))
    if (last - first).n >= _MOST:
        raise InputError(
            "{every}={every_seen!r} gives more than {most:,} periods from {first!r} to {last!r}. "
            "Is the year wrong in some row? Otherwise use longer periods.",
            every_seen=every,
            most=_MOST,
            first=min(names),
            last=max(names),
        )
    return [_name(period, every) for period in pd.period_range(first, last)]


def _period(name: str, every: str) -> pd.Period:
    try:
        if every == "week":
            return pd.Period(pd.to_datetime(f"{name}-1", format="%G-W%V-%u"), "W")
        return pd.Period(name, _UNITS[every].pandas)
    except ValueError as error:
        raise InputError("{period} {seen!r} is no date.", seen=name) from error


def in_order(names: Sequence[str]) -> list[str]:
    """Return the names of periods in their order: numbers by size, all else as text sorts."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)


def checked_period(name: str) -> str:
    """Return the name of a period of a store, or raise."""
    every = every_of([name])
    if every is None:
        raise InputError(
            "{period} must name a day, week, month, quarter or year, such as "
            "{known}; got {seen!r}.",
            known=quote(["2026-11-21", "2026-W47", "2026-11", "2026-Q4", "2026"]),
            seen=name,
        )
    _period(name, every)
    return name
