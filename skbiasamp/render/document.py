"""What a report says, as plain data: results build it, and each renderer shows it its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np

from skbiasamp._utils.formatting import SIDE_OF
from skbiasamp.render.axis import Axis

MOST_ROWS = 500  # of a table


@dataclass(frozen=True)
class Text:
    """A paragraph: a short `lead`, the text, a `link` (target and text), and what to do next."""

    text: str
    lead: str = ""
    action: str = ""
    link: tuple[str, str] | None = None
    after: str = ""
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
    """Names and what they mean; `ids` make them targets of links."""

    terms: Sequence[tuple[str, str]]
    ids: Sequence[str] = ()


@dataclass(frozen=True)
class Code:
    """A command or call."""

    code: str


@dataclass(frozen=True)
class Card:
    """A verdict: its word, a headline, and what it says in a sentence, for which a page has texts.

    `name`: of what it is the verdict, if there are several. `others` are verdicts that stand before
    it: of what, word and side.
    """

    verdict: str
    side: str
    sentence: str
    headline: str = ""
    name: str = ""
    texts: Sequence[Text] = ()
    notes: Sequence[Text] = ()
    others: list[tuple[str, str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, verdict: str, sentence: str, **more: Any) -> Self:
        """Return the card of a verdict, on the side that it stands."""
        return cls(verdict, SIDE_OF[verdict], sentence, **more)


@dataclass(frozen=True)
class Figures:
    """A verdict beside its numbers, the value first."""

    verdict: str
    side: str
    numbers: Sequence[str]


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
    link: str = ""
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
class Bar:
    """Two shares of a group, before and after, and what the change is."""

    name: str
    before: float
    after: float
    change: str
    verdict: str
    side: str


@dataclass(frozen=True)
class Bars:
    """How often groups are labelled with a task, and predicted so; bars end at `end`."""

    caption: str
    bars: Sequence[Bar]
    end: float
    gap: str = ""
    n_left_out: int = 0
    apart: bool = False  # whether they are rates of other rows and of these


@dataclass(frozen=True)
class Chart:
    """A value over periods (rows with period, value, low, high, n, expected, role and alarm)."""

    caption: str
    says: str
    periods: Sequence[Mapping[str, Any]]
    reference: float
    onset: str | None = None
    versions: Sequence[tuple[str, str]] = ()  # first period and name


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

    `only`: "page" leaves it out of short forms, "short" out of the page. `leading`: it stands
    before the list of sections. `folded`: the page shows it on demand.
    """

    title: str
    items: Sequence[Item | None]
    id: str = ""
    only: str = ""
    leading: bool = False
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
    | Figures
    | Table
    | Bars
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
    metric: str = ""
    version: str = ""
    made: Sequence[str] = ()
    results: Sequence[tuple[str, str, float]] = ()

    def shown(self, form: str) -> Iterator[Section]:
        """Yield the sections of the "page", or of "short" forms."""
        yield from (section for section in self.sections if _is_in(section, form))
