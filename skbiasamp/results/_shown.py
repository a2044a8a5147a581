"""What has a document: it is shown as text, in a notebook, and as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from skbiasamp._input.errors import InputTypeError
from skbiasamp._io.writing import written
from skbiasamp.render.document import MOST_ROWS, Cell, Document, Row, Section, Table, Text
from skbiasamp.render.html import as_page, in_notebook
from skbiasamp.render.markdown import as_markdown
from skbiasamp.render.text import as_text
from skbiasamp.results.exports import Exported

_P_VALUES = ("p_value", "p_adjusted")


class Shown(Exported):
    """What Python and notebooks show by its document."""

    def to_document(self) -> Document:
        """Return what it says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return as_text(self.to_document())

    def _repr_html_(self) -> str:
        return in_notebook(self.to_document())


class Paged(Shown):
    """What has a page and Markdown, too."""

    def to_html(
        self, path: Any = None, *, model_name: str | None = None, data_name: str | None = None
    ) -> str:
        """Return one self-contained page, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, optional
            Where to write.
        model_name, data_name : str, default=None
            What the page calls the model and the data. The ``context`` of a report keeps them.

        Returns
        -------
        text : str
        """
        names = {"model_name": model_name, "data_name": data_name}
        given = {key: name for key, name in names.items() if name is not None}
        for key, name in given.items():
            if not isinstance(name, str):
                raise InputTypeError("{name} must be text; got {seen!r}.", name=key, seen=name)
        if given:
            context: dict[str, Any] = getattr(self, "context", {})
            context.update(given)
        return written(as_page(self.to_document()), path)

    def to_markdown(self, path: Any = None) -> str:
        """Return the first screen as Markdown, and write it to a file if one is named.

        That of an audit begins with the block of results that model cards have for programs.

        Parameters
        ----------
        path : str or path, optional
            Where to write.

        Returns
        -------
        text : str
        """
        return written(as_markdown(self.to_document()), path)


def of_frame(title: str, frame: pd.DataFrame, texts: Sequence[str]) -> Document:
    """Return a title, a table as it is, and texts."""
    first, *columns = map(str, frame)
    cells = ([_text(str(name), value) for value in frame[name].tolist()] for name in frame)
    rows = [Row(name, [*map(Cell, others)]) for name, *others in zip(*cells, strict=True)]
    table = Table("", first, columns, rows[:MOST_ROWS], len(rows), whole=True)
    return Document(title, [Section("", [table, *map(Text, texts)])])


def _text(name: str, value: Any) -> str:
    """Return rates to four places, p-values to two digits, a dash if there is nothing to show."""
    if value is None or value != value:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if name == "n" or name.startswith("n_"):
        return f"{value:.15g}"
    return f"{value:.2g}" if name in _P_VALUES else f"{value:.4f}"
