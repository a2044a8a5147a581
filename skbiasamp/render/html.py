"""A document as one self-contained page, and what a notebook shows of it. All text is escaped."""

from __future__ import annotations

import html
from functools import cache
from typing import Any

from skbiasamp._utils.formatting import limit_of, number, rate
from skbiasamp.render._chart import coordinates, places
from skbiasamp.render.document import Document
from skbiasamp.render.slider import lines
from skbiasamp.render.text import as_text

LARGEST = 2_000_000  # bytes
# Rows of each long table; fewer where the page would grow too large.
_ROWS = (500, 150, 40, 10)
_MOST_SHOWN = 20  # in a notebook
_SYMBOLS = {"above": "▲", "below": "▼", "across": "◆", "zero": "●", "undefined": "–"}


def as_page(document: Document) -> str:
    """Return the page of a document."""
    page = ""
    for most in _ROWS:
        page = _template().render(document=document, form="page", most=most)
        if len(page.encode()) < LARGEST:
            break
    return page


def in_notebook(document: Document) -> str:
    """Return what a notebook shows of a document."""
    try:
        shown: str = _template().render(document=document, form="short", most=_MOST_SHOWN)
    except ImportError:  # jinja2 is an extra
        return f"<pre>{html.escape(as_text(document))}</pre>"
    return shown


def _template() -> Any:
    return _environment(import_jinja2()).get_template("page.html")


@cache  # compiling the template takes longer than filling it
def _environment(jinja2: Any) -> Any:
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("skbiasamp", "render"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda item: type(item).__name__
    drawn = (coordinates, lines, number, places, rate)
    environment.filters |= {function.__name__: function for function in drawn}
    environment.filters["limit"] = limit_of
    environment.globals["symbols"] = _SYMBOLS
    return environment


def import_jinja2() -> Any:
    """Return jinja2, or say how to get it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("to_html needs jinja2: pip install 'skbiasamp[report]'") from error
    return jinja2
