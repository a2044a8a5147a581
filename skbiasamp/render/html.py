"""A document as one self-contained page, and what a notebook shows of it. All text is escaped."""

from __future__ import annotations

import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from skbiasamp.render.document import Document, Item
from skbiasamp.render.pictures import coordinates, lines, places
from skbiasamp.render.words import environment

LARGEST = 2_000_000  # bytes
# Rows of each long table; fewer where the page would grow too large.
_ROWS = (500, 150, 40, 10)
_MOST_SHOWN = 20  # in a notebook
_SYMBOLS = {"up": "▲ ", "down": "▼ ", "rev": "⇄ ", "unc": "", "none": ""}


def as_page(document: Document) -> str:
    """Return the page of a document."""
    page = ""
    for most in _ROWS:
        page = _template("page").render(
            document=document, most=most, style=_file("page.css"), script=_file("page.js")
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
    return shown


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
    made.filters |= {"shown": _shown, "day": _day}
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
