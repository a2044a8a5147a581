"""What a report says, as plain data: results build it, and each renderer shows it its own way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np


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
        balanced: bool = False,
    ) -> Axis:
        """Return the least axis of round ends that holds all values; balanced, 0 in its middle."""
        known = [value for value in values if value is not None and math.isfinite(value)]
        known += [-value for value in known] if balanced else []
        low, high = round_number(-min([0, *known])), round_number(max([0, *known]))
        if low == high == 0:
            high = 1.0 if percent else 0.01
        return cls(-low, high, percent, limit)

    def share(self, value: float) -> float:
        """Return which share of the width lies before a value; margins hold marks at both ends."""
        inside = min(max(value, self.low), self.high)
        return (3 + 94 * (inside - self.low) / (self.high - self.low)) / 100

    def at(self, value: float) -> str:
        """Return the position of a value or, beyond an end, of it."""
        return f"{100 * self.share(value):.2f}%"

    def is_far(self, value: float | None) -> bool:
        """Return whether what is written behind a value needs space beyond the axis."""
        return value is not None and value - self.low > 0.85 * (self.high - self.low)

    def wide(self, start: float, end: float) -> str:
        """Return how wide a span of values is."""
        start, end = (min(max(value, self.low), self.high) for value in (start, end))
        return f"{94 * (end - start) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str, str]]:
        """Position, text and anchor of 0, of the limit, and of ends that are not close to 0."""
        form, scale = ("{:.3g} %", 100) if self.percent else ("{:+.3g}", 1)
        ends = {self.low: "start", self.high: "end"}
        # A label beside the 0 reads as one number with it.
        near = 0.5 * max(-self.low, self.high)
        ends = {end: anchor for end, anchor in ends.items() if end == 0 or abs(end) > near}
        middle = {} if 0 in ends else {0.0: "middle"}
        if self.limit is not None:
            form, middle = "{:.3g}", {**middle, self.limit: "middle"}
        return [
            (
                self.at(value),
                "0" if value == 0 else form.format(scale * value).replace("-", "−"),
                anchor,
            )
            for value, anchor in sorted({**ends, **middle}.items())
        ]

    @property
    def grid(self) -> list[tuple[str, str]]:
        """Position and text of round numbers from end to end."""
        values = self._round()
        texts = [f"{100 * v if self.percent else v:.6g}".replace("-", "−") for v in values]
        texts[-1] += " %" * self.percent
        return [(self.at(value), text) for value, text in zip(values, texts, strict=True)]

    @property
    def amounts(self) -> list[tuple[str, str, str, str]]:
        """Position, text and anchor of round numbers, and their pages: "", "phone" or "desk".

        Of numbers that would touch there, only some are written.
        """
        values = self._round()
        texts = [f"{value:,.12g}".replace("-", "−") for value in values]
        shares = [self.share(value) for value in values]
        # At an end a number stands to one side of its line, and is nearer to the next one.
        anchors = [
            "start" if at < _EDGE else "end" if at > 1 - _EDGE else "middle" for at in shares
        ]
        longest = max(map(len, texts))
        needed = 6 + longest * (9 if {*anchors} == {"middle"} else 13)
        apart = [max(1, size - 10 * longest) * (shares[1] - shares[0]) for size in _WIDTHS]
        phone, desk = (math.ceil(needed / each) for each in apart)
        return [
            (self.at(value), text, anchor, _SHOWN[i % phone == 0, i % desk == 0])
            for i, (value, text, anchor) in enumerate(zip(values, texts, anchors, strict=True))
            if 0 in (i % phone, i % desk)
        ]

    def _round(self) -> list[float]:
        """Round numbers from end to end."""
        step = 0.25 if self.percent else round_number((self.high - self.low) / 5)
        times = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [round(i * step, 12) for i in times]


_EDGE = 0.1  # of the width
_WIDTHS = 230, 290  # pixels of a picture and a number beside it: on a phone, and on a page
_SHOWN = {(True, True): "", (True, False): "phone", (False, True): "desk"}


def round_number(size: float) -> float:
    """Return the next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    if size <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if size <= step * power * (1 + 1e-9))


MOST_ROWS = 500  # of a table


@dataclass(frozen=True)
class Text:
    """A paragraph: a short `lead`, the text, and what to do next."""

    text: str
    lead: str = ""
    action: str = ""
    quiet: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of texts."""

    texts: Sequence[Text]
    numbered: bool = False

    @classmethod
    def of(cls, texts: Iterable[str], *, numbered: bool = False) -> Self:
        """Return a list of texts without leads."""
        return cls([Text(text) for text in texts], numbered)


@dataclass(frozen=True)
class Terms:
    """Names and what they mean."""

    terms: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """A command or call."""

    code: str


@dataclass(frozen=True)
class Chip:
    """A verdict in a word; `tone`: "up", "down", "rev", "unc", or "none" for an outline."""

    word: str
    tone: str


@dataclass(frozen=True)
class Answer:
    """A question that a reader has, a strong word or number, and the rest of the answer."""

    question: str
    strong: str
    text: str
    big: bool = False


@dataclass(frozen=True)
class Card:
    """The first screen: a title, verdicts, five answers and a picture."""

    title: str
    chips: Sequence[Chip]
    lead: str
    answers: Sequence[Answer] = ()
    picture: Item | None = None
    scope: str = ""
    date: str = ""


@dataclass(frozen=True)
class Mark:
    """A row of a picture of changes: a ring before, a dot after; `tail` stands at its end."""

    name: str
    before: float | None
    after: float | None
    tone: str = "unc"
    tail: str = ""
    numbers: bool = True  # whether both ends are written
    band: tuple[float, float] | None = None  # where the dot may be


@dataclass(frozen=True)
class GapBar:
    """A gap on the axis of a picture: where it lies, and the part of it that was there before."""

    name: str
    start: float
    end: float
    text: str
    kept: tuple[float, float] | None = None  # None: it is the gap before
    tone: str = "unc"


@dataclass(frozen=True)
class Dumbbell:
    """Shares, or means, before and after, of groups ordered by harm; gaps stand below them.

    `key` explains the signs: their kind and text. `left_out` says which rows are not shown, before
    the row `cut`. `note` is what their rates say together.
    """

    caption: str
    marks: Sequence[Mark]
    axis: Axis
    sides: tuple[str, str]  # what is before, and after
    key: Sequence[tuple[str, str]] = ()
    ends: tuple[str, str] = ("", "")
    gaps: Sequence[GapBar] = ()
    left_out: str = ""
    cut: int = 0
    unit: str = ""
    of: str = "Group"
    note: str = ""


@dataclass(frozen=True)
class IntervalBar:
    """A number with its interval, 0 and the limit."""

    value: float
    low: float
    high: float
    axis: Axis
    text: str
    tone: str
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Lengths:
    """Bars of named numbers, in blocks with a heading."""

    blocks: Sequence[tuple[str, Sequence[tuple[str, float]]]]
    axis: Axis
    unit: str = ""


@dataclass(frozen=True)
class Parts:
    """A bar of two parts that follow each other: all groups alike, and between groups."""

    alike: float
    between: float
    text: str


@dataclass(frozen=True)
class Panel:
    """A small picture below its question, and what it says."""

    title: str
    picture: Item
    text: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Panels:
    """Small pictures side by side."""

    panels: Sequence[Panel]


@dataclass(frozen=True)
class Action:
    """A step to take, who can take it, and why."""

    owner: str
    step: str
    reason: str


@dataclass(frozen=True)
class Actions:
    """At most three steps, and what comes after them."""

    actions: Sequence[Action]
    after: str = ""


@dataclass(frozen=True)
class Cell:
    """A text, the number that it is sorted by, the ends of its interval, the side of a verdict."""

    text: str
    value: float | None = None
    ends: str = ""
    side: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.ends})" if self.ends else self.text


@dataclass(frozen=True)
class Row:
    """A row of a table: its name, its cells, and a mark in words and numbers."""

    name: str
    cells: Sequence[Cell]
    side: str = "plain"
    says: str = ""
    dot: float | None = None
    ring: float | None = None
    span: tuple[float, float] | None = None
    notes: Sequence[str] = ()
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table, the first rows the most important; an axis shows the rows' marks."""

    caption: str
    first: str  # heading of the names
    columns: Sequence[str]
    rows: Sequence[Row]
    n: int  # of how many these are the first
    id: str = ""
    marks: str = ""  # heading of the marks
    axis: Axis | None = None
    only: str = ""  # as of a section
    whole: bool = False  # all columns, however wide a text is
    brief: Sequence[str] = ()  # the columns of a text, if not all

    @classmethod
    def of(
        cls,
        rows: Sequence[Any],
        columns: Mapping[str, Callable[[Any], Cell]],
        mark: Callable[[Any], Mapping[str, Any]],
        *,
        balanced: bool = False,
        percent: bool = False,
        **options: Any,
    ) -> Self:
        """Return the table of rows: columns by their headings, and a mark with the row's name.

        If marks have a heading, the axis holds them all; `balanced` puts 0 into its middle.
        """
        marks = [mark(row) for row in rows]
        drawn = [
            Row(cells=[cell(row) for cell in columns.values()], **own)
            for row, own in zip(rows[:MOST_ROWS], marks, strict=False)
        ]
        if "marks" in options and "axis" not in options:
            ends = (
                end
                for own in marks
                for end in (own.get("dot"), own.get("ring"), *(own.get("span") or ()))
            )
            options["axis"] = Axis.around(ends, balanced=balanced, percent=percent)
        return cls(columns=list(columns), rows=drawn, **{"n": len(rows), **options})


@dataclass(frozen=True)
class Chart:
    """A value over periods (rows with period, value, low, high, n, expected, role and alarm).

    Its numbers have four decimals, or one if the `unit` is "points".
    """

    caption: str
    says: str
    periods: Sequence[Mapping[str, Any]]
    reference: float
    onset: str | None = None
    versions: Sequence[tuple[str, str]] = ()  # first period and name
    unit: str = ""


@dataclass(frozen=True)
class Scatter:
    """Values with intervals against a score: points of name, score, value, low and high.

    Values nearer 0 and greater scores are better.
    """

    caption: str
    points: Sequence[tuple[str, float, float, float, float]]
    x: str
    limit: float | None = None
    best: str | None = None


@dataclass(frozen=True)
class Slider:
    """Decisions at thresholds of a score, which the reader of a page can move.

    `above` are the rows of each group with a score above each threshold, without and with the
    label. The first threshold is none: all rows are above it, and no decision is shown. The rates
    of groups that are `counted` are compared, and `start` is the position of the threshold in use.
    `reach` says by how much, at each threshold, the interval of the accuracy reaches to either
    side, and that of the amplification.
    """

    caption: str
    groups: Sequence[str]
    thresholds: Sequence[float | None]
    above: Sequence[Sequence[Sequence[float]]]
    amplification: Sequence[float]
    counted: Sequence[bool]
    start: int
    reach: Sequence[Sequence[float]]
    limit: float | None = None

    @staticmethod
    def numbers(above: Any) -> tuple[Any, Any]:
        """Return at each threshold the rate of each group, and the accuracy.

        `above` may hold several such tables: groups × labels × thresholds are the last axes.
        """
        others, labelled = np.moveaxis(np.asarray(above, dtype=float), -2, 0)
        # All rows are above the first threshold; a group without rows has rates of 0.
        sizes = np.maximum((others + labelled)[..., :1], np.finfo(float).tiny)
        right = others[..., :1] - others + labelled
        return (others + labelled) / sizes, right.sum(axis=-2) / sizes.sum(axis=-2)


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it; without that it is not shown.

    `only`: "page" leaves it out of short forms, "short" out of the page. `folded`: the page shows
    it on demand; paper shows it.
    """

    title: str
    items: Sequence[Item | None]
    id: str = ""
    only: str = ""
    folded: bool = False

    def shown(self, form: str) -> list[Item]:
        """Return what the page, or a short form, shows of it."""
        return [item for item in self.items if item is not None and _is_in(item, form)]


Item: TypeAlias = (
    Text
    | Bullets
    | Terms
    | Code
    | Card
    | Dumbbell
    | IntervalBar
    | Lengths
    | Parts
    | Panels
    | Actions
    | Table
    | Chart
    | Scatter
    | Slider
    | Section
)


def _is_in(item: Item, form: str) -> bool:
    match item:
        case Section():
            return item.only in ("", form) and bool(item.shown(form))
        case Table():
            return item.only in ("", form)
        case Bullets():
            return bool(item.texts)
        case Terms():
            return bool(item.terms)
    return True


@dataclass(frozen=True)
class Document:
    """A report: its title, what it is about, and its sections.

    `results` are those that a model card lists for programs: type, name and value.
    """

    title: str
    sections: Sequence[Section]
    about: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    results: Sequence[tuple[str, str, float]] = ()

    @property
    def heading(self) -> str:
        """The title of its first screen."""
        items = (item for section in self.sections for item in section.items)
        return next((item.title for item in items if isinstance(item, Card)), self.title)

    @property
    def picture(self) -> Dumbbell | None:
        """The picture of its first screen, if that is one of rates."""
        items = (item for section in self.sections for item in section.items)
        pictures = (item.picture for item in items if isinstance(item, Card))
        return next((each for each in pictures if isinstance(each, Dumbbell)), None)

    def shown(self, form: str) -> Iterator[Section]:
        """Yield the sections of the "page", or of "short" forms."""
        yield from (section for section in self.sections if _is_in(section, form))
