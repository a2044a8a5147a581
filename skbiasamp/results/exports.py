"""What all results are shown and written as: JSON, text, pages, LaTeX and BibTeX."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import keywords
from skbiasamp._io import written
from skbiasamp._utils.formatting import printable
from skbiasamp._utils.version import __version__
from skbiasamp.render.document import MOST_ROWS, Cell, Document, Row, Section, Table, Text
from skbiasamp.render.formats import as_markdown, as_page, as_text, in_notebook

if TYPE_CHECKING:
    from skbiasamp.results.kinds import Kind


class Stored:
    """A dataclass that is written as JSON: its fields, and what it says."""

    # Fields and properties that are written before or after the other fields.
    _first: ClassVar[tuple[str, ...]] = ()
    _last: ClassVar[tuple[str, ...]] = ()
    _if_any: ClassVar[tuple[str, ...]] = ("citation",)  # left out if they are empty
    _unwritten: ClassVar[tuple[str, ...]] = ()
    _in_rows: ClassVar[bool] = False  # whether tables are written row by row

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        own: Any = self
        others = [field.name for field in fields(own) if field.name not in self._last]
        order = dict.fromkeys([*self._first, *others, *self._last])
        values = {name: getattr(self, name) for name in order}
        return {
            name: records(value) if self._in_rows and isinstance(value, pd.DataFrame)
            else as_json(value)
            for name, value in values.items()
            if name not in self._unwritten and (name not in self._if_any or len(value))
        }  # fmt: skip

    def to_json(self, path: Any = None, **options: Any) -> str:
        """Return `to_dict` as JSON, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, default=None
            Where to write.
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        text : str
        """
        return written(json.dumps(self.to_dict(), allow_nan=False, **options), path)


class OfMetric(Stored):
    """What can be stored, and is about one metric."""

    _in_rows = True
    metric: str
    direction: str | None
    kind: Kind

    @property
    def name(self) -> str:
        """Metric and direction, such as "directional A->T"."""
        return self.metric if self.direction is None else f"{self.metric} {self.direction}"


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return str(value)  # of a kind its text
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, pd.DataFrame):
        return {
            "index": as_json(list(value.index)),
            "columns": as_json(list(value.columns)),
            "data": as_json(list(value.itertuples(index=False, name=None))),
        }
    if isinstance(value, Stored):
        return value.to_dict()
    if is_dataclass(value):
        return {
            each.name: as_json(getattr(value, each.name)) for each in fields(value) if each.repr
        }
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(item) for item in value]
    return str(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON holds them."""
    columns = {str(name): map(as_json, values.tolist()) for name, values in table.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# --------------------------------------------------------------------------- papers

_PACKAGE = f"""@software{{skbiasamp,
  author = {{{{The skbiasamp developers}}}},
  title = {{skbiasamp: bias amplification in the style of scikit-learn}},
  version = {{{__version__}}}
}}"""
# The first reference of a docstring: authors. Title. Venue and year.
_REFERENCE = re.compile(r"\.\. \[1\] ([^.]+)\.\s+(.+?[.?])\s+(?:(.+?),?\s+)?(\d{4})\b", re.DOTALL)


@cache
def paper_of(metric: type) -> str:
    """Return the BibTeX entry of the first reference in a metric's docstring, "" without one."""
    match = _REFERENCE.search(inspect.getdoc(metric) or "")
    if match is None:
        return ""
    authors, title, venue, year = (" ".join((part or "").split()) for part in match.groups())
    names = [name.strip() for name in authors.split(",")]
    key = re.sub(r"\W", "", names[0] + year + title.split()[0]).lower()
    fields = {"author": " and ".join(names), "title": f"{{{title.rstrip('.')}}}"}
    fields |= {"howpublished": venue} if venue else {}
    lines = [f"  {name} = {{{text}}}" for name, text in (fields | {"year": year}).items()]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"


class Exported:
    """What papers take: a table as a frame and as LaTeX, and entries of BibTeX."""

    def to_latex(
        self, path: Any = None, *, caption: str | None = None, label: str | None = None
    ) -> str:
        """Return the table of `to_frame` as LaTeX, and write it to a file if one is named.

        It needs the LaTeX package booktabs.

        Parameters
        ----------
        path : str or path, optional
            Where to write.
        caption : str, default=None
            Caption of the table. None: there is none.
        label : str, default=None
            Label of the table, for references to it. None: there is none.

        Returns
        -------
        text : str
        """
        for name, text in {"caption": caption, "label": label}.items():
            if text is not None and not isinstance(text, str):
                raise InputTypeError(
                    "{name} must be a string or None; got {seen!r}.", name=name, seen=text
                )
        frame = without_equal_values(self.to_frame())
        styler = frame.style.format(precision=4, na_rep="--", escape="latex")
        styler = styler.format_index(escape="latex", axis="columns")
        if isinstance(frame.index, pd.RangeIndex):
            styler = styler.hide(axis="index")
        else:
            styler = styler.format_index(escape="latex", axis="index")
        return written(printable(styler.to_latex(hrules=True, caption=caption, label=label)), path)

    def to_frame(self) -> pd.DataFrame:
        """Return the main table.

        Returns
        -------
        frame : DataFrame
            A copy.
        """
        table: pd.DataFrame = self.table  # type: ignore[attr-defined]
        return table.copy()

    def cite(self) -> str:
        """Return BibTeX entries of the package and of the papers of its metrics.

        Returns
        -------
        text : str
        """
        return "\n\n".join(dict.fromkeys([_PACKAGE, *filter(None, self._papers)]))

    @property
    def _papers(self) -> list[str]:
        return [getattr(self, "citation", "")]


@keywords()
def find_changed_rows(y_true: Any, y_pred: Any, *, sensitive_features: Any, pair: Any) -> Array:
    """Return the positions of the rows behind a pair: those whose label and prediction differ.

    Counts know no rows, so labels and predictions are passed again. Look at these rows to find out
    why a pair changes.

    .. versionadded:: 0.2

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Predicted labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. Several columns make a group of their values.
    pair : tuple of group and task, or dict
        The pair: ``("f", 1)``, or a row of a result with these keys, such as ``result.affected``.

    Returns
    -------
    positions : ndarray of int
        Positions of the rows of the group for which either the label or the prediction is the
        task, but not both.

    Examples
    --------
    >>> from skbiasamp.results import find_changed_rows
    >>> sex = ["f", "f", "f", "m", "m"]
    >>> find_changed_rows([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], sensitive_features=sex, pair=("m", 1))
    array([3, 4])
    """
    if isinstance(pair, Mapping):
        pair = (pair.get("group"), pair.get("task"))
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        text = "{pair} must be a group and a task, or a row of a result; got {seen!r}."
        raise InputTypeError(text, seen=pair)
    group, task = (tuple(name) if isinstance(name, list) else name for name in pair)
    given = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": sensitive_features}
    native = {name: to_native(rows, name) for name, rows in given.items()}
    check_lengths(native)
    labels, predictions, groups = native.values()
    columns = [np.asarray(column, dtype=object) for _, column in columns_of(groups)]
    wanted = group if isinstance(group, tuple) and len(columns) > 1 else (group,)
    if len(wanted) != len(columns):
        text = "{pair} must name a value of each sensitive column; got {seen!r}."
        raise InputError(text, seen=group)
    inside = np.all(
        [column == value for column, value in zip(columns, wanted, strict=True)], axis=0
    )
    is_task = [_is_task(side, task) for side in (labels, predictions)]
    return np.flatnonzero(inside & (is_task[0] != is_task[1]))


def _is_task(labels: Any, task: Any) -> Array:
    """Return which rows have a task: a class, or a column of 0 and 1."""
    columns = dict(columns_of(labels))
    if len(columns) == 1:
        (column,) = columns.values()
        return np.asarray(column, dtype=object).ravel() == task
    if task not in columns:
        raise InputError(
            "{pair} names the task {seen!r}, which is no column of {y_true}.", seen=task
        )
    return np.asarray(columns[task], dtype=float) > 0.5


def without_equal_values(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the published values, if each is the value to four digits."""
    if "value" not in table or "published" not in table:
        return table
    gap = np.asarray(table["value"] - table["published"], dtype=float)
    return table if (np.abs(gap) >= 5e-5).any() else table.drop(columns="published")


# --------------------------------------------------------------------------- documents

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
