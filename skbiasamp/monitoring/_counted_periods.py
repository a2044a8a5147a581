"""The rows of a watch, counted by period."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.classes import positive_class, whole_classes
from skbiasamp._input.errors import InputError, InputTypeError, quote, rows_of
from skbiasamp._utils.progress import interruptible, progress
from skbiasamp.counts.cells import distinct, take
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.counts.frames import read_periods
from skbiasamp.metrics.inputs import opened_rows
from skbiasamp.monitoring._calendar import in_order, timed, without_gaps


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
        text = "{named} names a column, and {frame} holds counts of each period. Leave it out."
        raise InputTypeError(text, named=named[0])
    if not frame:
        raise InputError("{frame} has no periods: there is nothing to watch.")
    if not all(isinstance(name, str) for name in frame):
        raise InputTypeError("{frame} must have text as the names of periods, such as '2026-01'.")
    order = without_gaps(list(frame))
    return CountedPeriods({name: frame.get(name) for name in order}, {}, [])


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
    with opened_rows(frame, given) as (rows, _), progress("counting rows"), interruptible():
        clock = timed(rows, time, every)
        classes = _classes_of(reference, clock.name_of, every, how["pos_label"])
        read = read_periods(clock.frame, columns, clock.column, version, classes=classes, **how)
    cells = Contingency.of_rows(read.rows)
    raw = pd.Series(read.period, dtype=object)
    gaps = read.dropped.index.isna() | np.array([period is None for period in read.dropped.index])
    if gaps.any() or raw.isna().any():
        n = float(cells.weight[raw.isna().to_numpy()].sum() + read.dropped[gaps].sum())
        raise InputError(
            "{time} has no value in {n} of column {column!r}. Leave these rows out.",
            n=rows_of(n),
            column=time,
        )
    known = {period: clock.name_of(period) for period in dict.fromkeys([*raw, *read.dropped.index])}
    names = raw.map(known).to_numpy()
    others: dict[str, dict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
    for (period, label), n in read.others.items():
        others[known[period]][label] += n
    order = _ordered([*names, *others], every)
    parts: dict[str, Contingency | None] = {}
    versions: dict[str, str] = {}
    for name in order:
        rows = np.flatnonzero(names == name)
        empty = not len(rows) and name not in others
        parts[name] = None if empty else distinct(take(cells, rows, cells.weight[rows]))
        if read.version is not None and len(rows):
            of_rows = pd.Series(cells.weight[rows]).groupby(read.version[rows].astype(str)).sum()
            versions[name] = str(of_rows.idxmax())
    notes = [
        {"period": name, "text": f"{rows_of(n)} without a sensitive feature were left out."}
        for name, n in read.dropped.groupby(known).sum().items()
        if n
    ]
    return CountedPeriods(parts, versions, notes, others)


def _ordered(names: Iterable[str], every: str | None) -> list[str]:
    """Return the names of periods in their order, without gaps if these have a length."""
    return in_order(list(set(names))) if every is None else without_gaps(list(dict.fromkeys(names)))


def _classes_of(
    reference: Any, name_of: Callable[[Any], str], every: str | None, pos_label: Any
) -> Callable[[Array, Array, Names], Names | None]:
    """Return a function that returns the classes of the reference, from rows of all periods."""

    def classes(periods: Array, codes: Array, names: Names) -> Names | None:
        if is_contingency(reference):
            own = reference.classes
        else:
            known = {raw: name_of(raw) for raw in dict.fromkeys(periods) if not pd.isna(raw)}
            order, full = _ordered(known.values(), every), set(known.values())
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
            raise InputError(
                "{reference} must name a period that has rows; got {seen!r}. The periods are "
                "{known}.",
                seen=reference,
                known=quote(full, most=12),
            )
        return [reference]
    if isinstance(reference, int | np.integer) and not isinstance(reference, bool):
        if not 1 <= reference <= len(full):
            raise InputError(
                "{reference} must be a number of first periods from 1 to {most}, which have rows; "
                "got {seen}.",
                most=len(full),
                seen=reference,
            )
        return full[: int(reference)]
    raise InputTypeError(
        "{reference} must be a number of first periods, the name of a period, or a "
        "Contingency; got {kind}.",
        kind=type(reference).__name__,
    )
