"""Tables of the page: rows of text, and the positions of their marks on one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skbiasamp._utils.formatting import group_of, number, rate, side_of_zero, task_of

# Text of a mark, for screen readers.
SIDES = {
    "above": "above 0",
    "below": "below 0",
    "across": "the interval includes 0",
    "zero": "exactly 0",
    "unknown": "no interval",
    "undefined": "undefined",
}

Cell = tuple[str, float | None]  # a text, and the number that it is sorted by
Columns = Mapping[str, Callable[[Mapping[str, Any]], Cell]]  # by their headings


@dataclass(frozen=True)
class Axis:
    """A scale that includes 0, and the positions of numbers on it."""

    low: float
    high: float
    percent: bool = False
    limit: float | None = None  # where a line is drawn

    @classmethod
    def around(
        cls,
        values: Iterable[float | None],
        *,
        percent: bool = False,
        limit: float | None = None,
    ) -> Axis:
        """Return the least axis of round ends that holds all values."""
        known = [one for one in values if one is not None and math.isfinite(one)]
        low, high = _round_up(-min([0, *known])), _round_up(max([0, *known]))
        if low == high == 0:
            high = 1.0 if percent else 0.01
        # Room for the 0 beside the label of a short end.
        low, high = (
            max(low, _room(high)) if low else 0,
            max(high, _room(low)) if high else 0,
        )
        return cls(-low, high, percent, limit)

    def at(self, value: float) -> str:
        """Return the position of a value; the margins hold marks that stand at an end."""
        return f"{3 + 94 * (value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str, str]]:
        """Position, text and anchor of 0, of both ends and of the limit."""
        form = "{:.0%}".format if self.percent else "{:+.3g}".format
        ends = {self.low: "start", self.high: "end"}
        middle = {} if 0 in ends else {0.0: "middle"}
        if self.limit is not None:
            form, middle = "{:.3g}".format, {**middle, self.limit: "middle"}
        return [
            (self.at(value), "0" if value == 0 else form(value).replace("-", "−"), anchor)
            for value, anchor in sorted({**ends, **middle}.items())
        ]


def _room(end: float) -> float:
    """Return how far an axis at least reaches on the other side of 0."""
    size = _round_up(end / 4)
    return size if len(f"{size:.3g}") <= _SHORT else _round_up(1.5 * size)


_SHORT = 4  # characters of a label that fits beside the 0


def _round_up(size: float) -> float:
    """Return the next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    if size <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if size <= step * power * (1 + 1e-9))


@dataclass(frozen=True)
class Table:
    """A table of rows, strongest first, with marks on one axis."""

    id: str
    caption: str
    first: str  # heading of the names
    marks: str  # heading of the marks
    axis: Axis
    columns: Columns
    rows: list[Any]
    mark: Callable[[Any], Mapping[str, Any]]  # name of a row, and what its mark shows
    n: int  # of how many these are the strongest

    @property
    def drawn(self) -> list[dict[str, Any]]:
        """Each row with its name, mark and cells."""
        return [
            {**self.mark(row), "texts": [cell(row) for cell in self.columns.values()]}
            for row in self.rows
        ]


def shown(key: str, form: Callable[[Any], str] = number) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number."""
    return lambda row: (form(row.get(key)), row.get(key))


def count(value: Any) -> str:
    """Return a number of rows."""
    return number(value, ",.15g")


def with_interval(
    key: str, form: Callable[[Any], str] = rate
) -> Callable[[Mapping[str, Any]], Cell]:
    """Return the cell of a number, and below it the ends of its interval."""

    def cell(row: Mapping[str, Any]) -> Cell:
        low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
        text = form(row.get(key))
        if low is not None and high is not None:
            ends = [form(end).removesuffix(" %") for end in (low, high)]
            text += f"\n{ends[0]} to {ends[1]}"
        return text, row.get(key)

    return cell


def interval(row: Mapping[str, Any]) -> str:
    """Return the ends of an interval."""
    low, high = row["low"], row["high"]
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def interval_mark(axis: Axis, value: Any, low: Any, high: Any) -> dict[str, Any]:
    """Return a dot with a line."""
    side = side_of_zero(value, low, high)
    return {
        "side": side,
        "says": SIDES[side],
        "dot": None if value is None else axis.at(value),
        "span": None if low is None or high is None else (axis.at(low), axis.at(high)),
    }


def naming_of_pairs(rows: list[dict[str, Any]], columns: Any) -> tuple[str, Callable[[Any], str]]:
    """Return the heading of pairs, and how each is named: by what differs between rows."""
    alone = len({str(row["task"]) for row in rows}) == 1

    def name(row: Mapping[str, Any]) -> str:
        named = [group_of(row["group"], columns)] if row["group"] != "(all)" else []
        if row["task"] != "(all)" and not (alone and named):
            named.append(task_of(row["task"]))
        return " · ".join(named) or "all groups"

    every = {str(row["group"]) for row in rows} == {"(all)"}
    return "Target" if every else "Group" if alone else "Pair", name


def word_tables(table_id: str, result: Mapping[str, Any]) -> list[Table]:
    """Return the words by which attackers recognise each target, one table a source of texts."""
    words: list[dict[str, Any]] = result["words"] or []
    columns = result["group_columns"]
    sources = list(dict.fromkeys(row["source"] for row in words))[::-1]
    axis = Axis.around((row[end] for row in words for end in _SHARES), percent=True)

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        dot, ring = (axis.at(row[end] or 0.0) for end in _SHARES)
        says = f"{rate(row['share'])} of these texts, {rate(row['share_others'])} of the others"
        return {
            "name": row["word"],
            "side": "plain",
            "says": says,
            "span": (ring, dot),
            "ring": ring,
            "dot": dot,
        }

    tables = []
    for i, source in enumerate(sources):
        own = [row for row in words if row["source"] == source]
        targets = list(dict.fromkeys(str(row["target"]) for row in own))
        ranks = dict.fromkeys(targets, 0)
        for row in own:  # the strongest of every target first
            row["rank"] = ranks[str(row["target"])]
            ranks[str(row["target"])] += 1
        own = sorted(own, key=lambda row: (row["rank"], targets.index(str(row["target"]))))
        tables.append(
            Table(
                id=f"{table_id}-{i}",
                caption=f"Words in {source} by which an attacker recognises each target: share of "
                "texts that have the word, of this target (dot) and of the others (ring)",
                first="Word",
                marks="Share of texts",
                axis=axis,
                columns={
                    "Points to": lambda row: (group_of(row["target"], columns), row["rank"]),
                    "Weight": shown("weight", lambda value: number(value, ".2f")),
                    "Share": shown("share", rate),
                    "Of the others": shown("share_others", rate),
                },
                rows=own,
                mark=mark,
                n=len(own),
            )
        )
    return tables


_SHARES = ("share", "share_others")
