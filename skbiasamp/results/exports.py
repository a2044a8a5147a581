"""What goes into a paper: tables as LaTeX, entries of BibTeX, and the rows behind a pair."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import keywords
from skbiasamp._io.writing import written
from skbiasamp._utils.formatting import printable
from skbiasamp._utils.version import __version__
from skbiasamp.results.pair_tables import without_equal_values

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
        table = without_equal_values(self.to_frame())
        return written(_latex(table, caption, label), path)

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


def _latex(frame: pd.DataFrame, caption: str | None, label: str | None) -> str:
    """Return a frame as a LaTeX table (booktabs)."""
    for name, text in {"caption": caption, "label": label}.items():
        if text is not None and not isinstance(text, str):
            raise InputTypeError(
                "{name} must be a string or None; got {seen!r}.", name=name, seen=text
            )
    styler = frame.style
    styler = styler.format(precision=4, na_rep="--", escape="latex")
    styler = styler.format_index(escape="latex", axis="columns")
    if isinstance(frame.index, pd.RangeIndex):
        styler = styler.hide(axis="index")
    else:
        styler = styler.format_index(escape="latex", axis="index")
    return printable(styler.to_latex(hrules=True, caption=caption, label=label))


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
    group, task = _pair(pair)
    labels, predictions, groups = (
        to_native(rows, name)
        for rows, name in (
            (y_true, "y_true"),
            (y_pred, "y_pred"),
            (sensitive_features, "sensitive_features"),
        )
    )
    check_lengths({"y_true": labels, "y_pred": predictions, "sensitive_features": groups})
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


def _pair(pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, Mapping):
        pair = (pair.get("group"), pair.get("task"))
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        text = "{pair} must be a group and a task, or a row of a result; got {seen!r}."
        raise InputTypeError(text, seen=pair)
    group, task = (tuple(name) if isinstance(name, list) else name for name in pair)
    return group, task


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
