"""A document as Markdown, such as the sections of a model card. All text is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from skbiasamp._utils.formatting import escaped, printable
from skbiasamp.render.document import (
    Actions,
    Bullets,
    Card,
    Document,
    Dumbbell,
    Item,
    Section,
    Table,
    Terms,
    Text,
)
from skbiasamp.render.text import table_of_rates
from skbiasamp.render.words import express

MOST = 50  # rows of a table


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
            if item.title:
                yield f"{'#' * level} {escaped(item.title)}"
            for inner in item.shown("short"):
                yield from _parts(inner, level + 1)
        case Text():
            yield _words(item)
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
            yield "\n".join(f"- {_words(text)}" for text in item.texts)
        case Terms():
            yield "\n".join(f"- {escaped(f'{name}: {text}')}" for name, text in item.terms)
        case Table():
            rows = [
                (" · ".join(filter(None, (row.group, row.name))), *map(str, row.cells))
                for row in item.rows[:MOST]
            ]
            titles = (item.first, *item.columns)
            if any(row.notes for row in item.rows[:MOST]):
                titles += ("Notes",)
                notes = (", ".join(row.notes) for row in item.rows)
                rows = [(*cells, note) for cells, note in zip(rows, notes, strict=False)]
            yield from [escaped(item.caption)] * bool(item.caption)
            yield _table(titles, rows)


def _words(text: Text) -> str:
    return escaped(" ".join(part for part in (text.lead, text.text, text.action) if part))


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head, *body = ("| " + " | ".join(map(escaped, cells)) + " |" for cells in (titles, *rows))
    return "\n".join([head, "|" + "---|" * len(re.findall(r"(?<!\\)\|", head)[1:]), *body])
