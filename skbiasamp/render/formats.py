"""A document as plain text, in Markdown, as one self-contained page, and in a notebook."""

from __future__ import annotations

import datetime
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

from skbiasamp._utils.formatting import (
    amount,
    decimals_of,
    escaped,
    in_points,
    number,
    printable,
    shown_change,
)
from skbiasamp.render.document import (
    Actions,
    Bullets,
    Card,
    Cell,
    Document,
    Dumbbell,
    Item,
    Mark,
    Row,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.render.facts import environment, express
from skbiasamp.render.pictures import coordinates, lines, places, space, text_of_gap, written

MOST = 20  # rows of a table
_SHORTEST = 17  # characters that a name in a table has at least
_MOST_IN_MARKDOWN = 50  # rows of a table
LARGEST = 2_000_000  # bytes
# Rows of each long table; fewer where the page would grow too large.
_ROWS = (500, 150, 40, 10)
_MOST_SHOWN = 20  # in a notebook
_SYMBOLS = {"up": "▲ ", "down": "▼ ", "rev": "⇄ ", "unc": "", "none": ""}


def as_text(document: Document, width: int = 96) -> str:
    """Return a document as text of so many columns; directions as they are typed, A->T."""
    title = f"{document.title}: {document.about}" if document.about else document.title
    blocks = [_wrapped(title, width)] if title else []
    for section in document.shown("short"):
        items = section.shown("short")
        shown = [block for item in items if (block := "\n".join(_lines(item, width)))]
        if section.title and shown and not isinstance(items[0], Card):
            shown[0] = f"{_typed(section.title)}\n{shown[0]}"
        blocks += shown
    if document.title and len(blocks) > 1 and not next(document.shown("short")).title:
        blocks[:2] = ["\n".join(blocks[:2])]
    return "\n\n".join(blocks)


def _typed(text: str) -> str:
    """Return text as it is typed, without what drives a terminal."""
    return printable(text).replace("A→T", "A->T").replace("T→A", "T->A")


def _wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> str:
    indent = first if rest is None else rest
    text = _typed(text).replace("−", "-")  # as in tables, and as terminals type numbers
    text = text.replace(" %", "\xa0%")  # a line does not begin with it
    filled = textwrap.fill(text, width, initial_indent=first, subsequent_indent=indent)
    return filled.replace("\xa0%", " %")


def _card(card: Card, width: int) -> Iterator[str]:
    """Yield a first screen: title, verdicts, answers and the numbers of the picture."""
    yield _wrapped(card.title, width)
    yield _wrapped(
        " · ".join(filter(None, [*(chip.word for chip in card.chips), card.lead])), width
    )
    for answer in card.answers:
        text = " ".join(filter(None, (answer.question, answer.strong, answer.text)))
        yield _wrapped(text, width, "", "  ")
    if card.picture is not None:
        yield from _lines(card.picture, width)
    yield _wrapped(f"{card.scope} {card.date}".strip(), width)


def table_of_rates(picture: Dumbbell) -> Table:
    """Return the numbers of a picture, one row a group."""
    in_one_digit = partial(number, form="+.1f")
    form: Callable[[Any], str] = partial(written, unit=picture.unit)
    moves = in_one_digit if picture.unit == "points" else partial(amount, form="+")
    ends = [end or 0.0 for mark in picture.marks for end in (mark.before, mark.after)]
    largest = max(map(abs, ends), default=0.0)
    if picture.unit == "amount" and 1e-3 <= largest < 1e15:
        # Means have as many decimals as the largest of them needs for four digits.
        decimals = f",.{max(0, decimals_of(largest))}f"
        form, moves = partial(number, form=decimals), partial(number, form=f"+{decimals}")

    def row(mark: Mark) -> Row:
        change: float | None = None
        if mark.before is not None and mark.after is not None:
            change = mark.after - mark.before
            if picture.unit in ("", "amount"):
                change = shown_change(mark.before, mark.after, largest if picture.unit else None)
        moved = in_points(change) if not picture.unit else moves(change)
        cells = [Cell(form(mark.before)), Cell(form(mark.after)), Cell(moved)]
        if bounded:
            cells.append(Cell(" to ".join(map(form, mark.band or ()))))
        return Row(mark.name, cells)

    bounded = any(mark.band for mark in picture.marks)
    columns: tuple[str, ...] = (*picture.sides, "Change")
    caption = picture.caption
    if bounded:
        columns += (f"Bounds of {picture.sides[1].lower()}",)
        caption += f" (bounds: {dict(picture.key)['band']})"
    return Table(caption, picture.of, columns, [*map(row, picture.marks)], len(picture.marks))


def _words(text: Text) -> str:
    return " ".join(part for part in (text.lead, text.text, text.action) if part)


def _lines(item: Item, width: int) -> Iterator[str]:
    """Yield the lines of an item; pictures have none."""
    match item:
        case Text():
            yield _wrapped(_words(item), width)
        case Card():
            yield from _card(item, width)
        case Dumbbell():
            yield from _table(table_of_rates(item), width)
            if item.note:
                yield _wrapped(item.note, width)
        case Bullets():
            for i, text in enumerate(item.texts, 1):
                first = f"{i}. " if item.numbered else "- "
                yield _wrapped(_words(text), width, first, " " * len(first))
        case Terms():
            yield "\n\n".join(
                f"{_typed(name)}\n{_wrapped(text, width, '  ')}" for name, text in item.terms
            )
        case Table():
            yield from _table(item, width)
        case Section():
            yield _typed(item.title)
            for inner in item.shown("short"):
                yield from _lines(inner, width)


def _table(table: Table, width: int) -> Iterator[str]:
    """Yield the lines of a table; intervals, ends of names and last columns may not fit."""
    rows = table.rows[:MOST]
    names = [_typed(f"{'  ' * bool(row.group)}{row.name}") for row in rows]
    notes = [["", *(", ".join(row.notes) for row in rows)]] if any(r.notes for r in rows) else []
    for with_ends in (True, False):
        cells = [[_cell(cell, with_ends=with_ends) for cell in row.cells] for row in rows]
        columns = [
            [title, *texts]
            for title, *texts in zip(table.columns, *cells, strict=True)
            if title in (table.brief or table.columns)
        ]
        if _width([[table.first, *names], *columns, *notes]) <= width:
            break
    if not table.whole:
        size = max(_least(rows, names), width - _width([*columns, *notes]) - 2)
        names = [_cut(name, size) for name in names]
    columns = [[table.first, *names], *columns, *notes]
    while _width(columns) > width and len(columns) > 2 and not table.whole:
        columns.pop()  # notes first
    if table.caption:
        yield _wrapped(table.caption, width)
    sizes = [max(map(len, column)) for column in columns]
    left = [
        column is columns[0] or any(text[:1].isalpha() for text in column[1:]) for column in columns
    ]
    lines = [
        "  ".join(
            text.ljust(size) if is_left else text.rjust(size)
            for text, size, is_left in zip(texts, sizes, left, strict=True)
        ).rstrip()
        for texts in zip(*columns, strict=True)
    ]
    yield lines[0]
    group = ""
    for row, line in zip(rows, lines[1:], strict=True):
        if row.group != group:
            yield _typed(row.group)
        group = row.group
        yield line
    if table.n > len(rows):
        yield f"The first {len(rows)} of {table.n:,}: the page and the JSON have more."


def _cell(cell: Cell, *, with_ends: bool) -> str:
    text = _typed(str(cell) if with_ends else cell.text)
    return text if cell.value is None else text.replace("−", "-")


def _width(columns: list[list[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + 2 * (len(columns) - 1)


def _least(rows: Sequence[Row], names: list[str]) -> int:
    """Return how long names in a table are at least: so that no two are alike."""
    for size in range(_SHORTEST, max(map(len, names), default=0)):
        pairs = zip(rows, names, strict=True)
        if len({(row.group, _cut(name, size)) for row, name in pairs}) == len(rows):
            return size
    return max(map(len, names), default=_SHORTEST)


def _cut(name: str, size: int) -> str:
    return name if len(name) <= size else f"{name[: size - 1]}…"


# --------------------------------------------------------------------------- Markdown


def as_markdown(document: Document) -> str:
    """Return the short form of a document."""
    parts = [*_results(document)]
    if document.title:
        parts += [f"## {escaped(document.title)}"]
        parts += [escaped(document.about)] if document.about else []
    for section in document.shown("short"):
        items = section.shown("short")
        if isinstance(items[0], Card):  # it has a title of its own
            parts += [part for item in items for part in _parts(item, 3)]
        else:
            parts += _parts(section, 2 + bool(document.title))
    if terms := [*document.facts.items()]:
        parts += _parts(Section(express("page", "measured"), [Terms(terms)]), 3)
    return "\n\n".join(parts) + "\n"


def _results(document: Document) -> Iterator[str]:
    """Yield the block of a model card that lists results for programs (YAML)."""
    if not document.results:
        return
    name, data = (document.facts.get(fact, "not named") for fact in ("Model", "Data"))
    lines = ["---", "model-index:", f"- name: {_quoted(name)}", "  results:", "  - task:"]
    lines += ["      type: bias-amplification", "      name: Bias amplification audit"]
    lines += ["    dataset:", "      type: tabular", f"      name: {_quoted(data)}"]
    lines += ["    metrics:"]
    for kind, title, value in document.results:
        lines += [f"    - type: {_quoted(kind)}", f"      name: {_quoted(title)}"]
        lines += [f"      value: {value!r}"]
    yield "\n".join([*lines, "---"])


def _quoted(text: str) -> str:
    """Return text as YAML reads it, without what HTML or Markdown would read."""
    return re.sub(
        r"[<\[\]`*|]", lambda match: f"\\u{ord(match[0]):04x}", json.dumps(printable(text))
    )


def _parts(item: Item, level: int) -> Iterator[str]:
    """Yield an item as blocks."""
    match item:
        case Section():
            below = [part for inner in item.shown("short") for part in _parts(inner, level + 1)]
            if item.title and below:  # pictures of periods leave none
                yield f"{'#' * level} {escaped(item.title)}"
            yield from below
        case Text():
            yield escaped(_words(item))
        case Card():
            yield f"**{escaped(item.title)}**"
            yield escaped(
                " · ".join(filter(None, [*(chip.word for chip in item.chips), item.lead]))
            )
            yield "\n".join(
                f"- {escaped(answer.question)} **{escaped(answer.strong)}** {escaped(answer.text)}"
                if answer.strong
                else f"- {escaped(answer.question)} {escaped(answer.text)}"
                for answer in item.answers
            )
            if item.picture is not None:
                yield from _parts(item.picture, level)
            yield escaped(f"{item.scope} {item.date}".strip())
        case Dumbbell():
            yield from _parts(table_of_rates(item), level)
            yield from [escaped(item.note)] * bool(item.note)
        case Actions():
            yield "\n".join(
                f"- **{escaped(each.step)}** {escaped(f'{each.reason} ({each.owner})')}"
                for each in item.actions
            )
        case Bullets():
            yield "\n".join(f"- {escaped(_words(text))}" for text in item.texts)
        case Terms():
            yield "\n".join(f"- {escaped(f'{name}: {text}')}" for name, text in item.terms)
        case Table():
            rows = [
                (" · ".join(filter(None, (row.group, row.name))), *map(str, row.cells))
                for row in item.rows[:_MOST_IN_MARKDOWN]
            ]
            titles = (item.first, *item.columns)
            if any(row.notes for row in item.rows[:_MOST_IN_MARKDOWN]):
                titles += ("Notes",)
                notes = (", ".join(row.notes) for row in item.rows)
                rows = [(*cells, note) for cells, note in zip(rows, notes, strict=False)]
            yield from [escaped(item.caption)] * bool(item.caption)
            yield _markdown_table(titles, rows)


def _markdown_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head, *body = ("| " + " | ".join(map(escaped, cells)) + " |" for cells in (titles, *rows))
    return "\n".join([head, "|" + "---|" * len(re.findall(r"(?<!\\)\|", head)[1:]), *body])


def as_page(document: Document) -> str:
    """Return the page of a document; all text is escaped."""
    page = ""
    for most in _ROWS:
        page = _with_space(
            _template("page").render(
                document=document, most=most, style=_file("page.css"), script=_file("page.js")
            )
        )
        if len(page.encode()) < LARGEST:
            break
    return page


def in_notebook(document: Document) -> str:
    """Return what a notebook shows of a document."""
    style = _file("page.css").replace(":root", "&")
    shown: str = _template("items/notebook").render(
        document=document, most=_MOST_SHOWN, style=style
    )
    return _with_space(shown)


def _with_space(page: str) -> str:
    """Add the rules of the space that pictures need: servers forbid elements a style of their own.

    Their one style has a hash, and these rules are numbers.
    """
    needed = sorted({*re.findall(r' data-space="((?:--[plqr]: [\d.]+(?:px)?(?:; )?){4})"', page)})
    rules = "".join(f'[data-space="{each}"] {{ {each} }}\n' for each in needed)
    return page.replace("</style>", f"{rules}</style>", 1)


def _shown(item: Item, form: str, most: int) -> Any:
    """Return an item in HTML, by the template of its kind."""
    level = 1 if form == "page" else 3
    values = {"it": item, "form": form, "most": most, "level": level}
    from markupsafe import Markup  # comes with jinja2

    return Markup(_template(f"items/{type(item).__name__}").render(values))


@cache
def _template(name: str) -> Any:
    """Return a template; each is compiled when it is first needed, which takes a while."""
    made = environment(lines=True)
    made.filters |= {"coordinates": coordinates, "lines": lines, "places": places}
    made.filters |= {"shown": _shown, "day": _day, "written": written, "space": space}
    made.filters |= {"text_of_gap": text_of_gap}
    made.globals["symbols"] = _SYMBOLS
    return made.get_template(f"{name}.html")


@cache
def _file(name: str) -> Any:
    """Return a file that goes into pages as it is."""
    from markupsafe import Markup

    return Markup(files("skbiasamp.render").joinpath(name).read_text(encoding="utf-8"))


def _day(date: str) -> str:
    """Return a date as people write it: 29 November 2026."""
    day = datetime.date.fromisoformat(date)
    return f"{day.day} {day:%B %Y}"
