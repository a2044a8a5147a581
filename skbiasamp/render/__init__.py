"""What people read of a report, from its plain content: a page, a notebook, a model card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from skbiasamp.render._card import card
from skbiasamp.render._comparison import comparison_view
from skbiasamp.render._selection import selection_view
from skbiasamp.render._timeline import timeline_view
from skbiasamp.render._view import view

__all__ = ["card", "comparison_page", "notebook", "page", "selection_page", "timeline_page"]

LARGEST = 2_000_000  # bytes
# Rows of each long table; fewer where the page would grow too large.
MOST_ROWS = (500, 150, 40, 10)


def page(content: dict[str, Any]) -> str:
    """Return the page of a report, from its `to_dict`; all text from data is escaped."""
    return _page("page.html", view, content)


def comparison_page(content: dict[str, Any]) -> str:
    """Return the page of a comparison, from its `to_dict`; all text from data is escaped."""
    return _page("comparison.html", comparison_view, content)


def selection_page(content: dict[str, Any]) -> str:
    """Return the page of selection rates; all text from data is escaped."""
    return _page("selection.html", selection_view, content)


def timeline_page(
    content: dict[str, Any], causes: Sequence[str], changes: Sequence[tuple[str, str]]
) -> str:
    """Return the page of a watch, from its `to_dict`; all text from data is escaped."""
    return _page("timeline.html", partial(timeline_view, causes=causes, changes=changes), content)


def _page(name: str, seen: Callable[..., dict[str, Any]], content: dict[str, Any]) -> str:
    html = ""
    for most in MOST_ROWS:
        html = _template(name).render(seen(content, most=most))
        if len(html.encode()) < LARGEST:
            break
    return html


def notebook(content: dict[str, Any]) -> str:
    """Return what a notebook shows of a report."""
    shown: str = _template("notebook.html").render(view(content, most=1))
    return shown


def _template(name: str) -> Any:
    return _environment(import_jinja2()).get_template(name)


@cache  # compiling the templates takes longer than filling them
def _environment(jinja2: Any) -> Any:
    return jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("skbiasamp", "render"),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def import_jinja2() -> Any:
    """Return jinja2, or say how to get it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("to_html needs jinja2: pip install 'skbiasamp[report]'") from error
    return jinja2
