"""label_columns: columns of texts in a data frame become columns of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skbiasamp._input.checks import check_option, no_column
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.keywords import keywords
from skbiasamp.text.labeler import NO_LABEL, REFUSAL, WordListLabeler


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """A data frame with labels in place of texts.

    .. versionadded:: 0.2

    Parameters
    ----------
    frame : DataFrame
        The other columns, and the columns of labels.
    target : list of str
        Columns with the true labels.
    predictions : dict of str to list of str
        Columns with the labels of each column of texts.
    no_label : DataFrame of bool
        The rows without a label: in the column "labels" and in each column of texts.
    unread : dict of str to list of str
        The distinct texts without a label, by column.

    See Also
    --------
    label_columns : Reads the labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.text import label_columns
    >>> frame = pd.DataFrame({"dog": [1, 0], "caption": ["a puppy", "a street"]})
    >>> label_columns(frame, {"dog": ["dog", "puppy"]}, "caption").unread
    {'caption': ['a street']}
    """

    frame: pd.DataFrame
    target: list[str]
    predictions: dict[str, list[str]]
    no_label: pd.DataFrame
    unread: dict[str, list[str]]


@keywords()
def label_columns(
    frame: Any,
    labels: Mapping[str, Any],
    texts: Any,
    *,
    target: Any = None,
    target_texts: str | None = None,
    refusals: bool | None = None,
) -> LabelledTexts:
    """Read labels from columns of texts, such as captions or answers of a model.

    The result can be audited: its `target` and `predictions` name columns of its `frame`.

    .. versionadded:: 0.2

    Parameters
    ----------
    frame : data frame
        Rows with texts, of any data frame library.
    labels : dict of str to list of str
        Words of each label, as `WordListLabeler` takes them.
    texts : str or list of str
        Columns of a model's texts. An empty list: read true labels only.
    target : str or list of str, default=None
        Columns of true labels. One column, if there are several labels: the class of each row;
        each text then gets one class. Several columns: a 0/1 column for each label, with its name.
        None: the columns with the names of the labels, unless `target_texts` has the true labels.
    target_texts : str, default=None
        Column of texts that people wrote. Their labels are the true ones.
    refusals : bool, default=None
        True makes refusals to answer a label "(refusal)". False does not. None does if a text
        refuses.

    Returns
    -------
    labelled : LabelledTexts

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.text import label_columns
    >>> frame = pd.DataFrame({"human": ["a dog", "an oven"], "model": ["a puppy", "a dog"]})
    >>> words = {"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}
    >>> labelled = label_columns(frame, words, "model", target_texts="human")
    >>> labelled.target, labelled.predictions
    (['dog', 'oven'], {'model': ['model: dog', 'model: oven']})
    >>> labelled.frame
       dog  oven  model: dog  model: oven
    0    1     0           1            0
    1    0     1           1            0
    """
    check_option("refusals", refusals, (None, True, False))
    if not isinstance(labels, Mapping) or not labels:
        text = "{labels} must be a dict with a list of words for each label; got {seen!r}."
        raise InputTypeError(text, seen=labels)
    native = to_native(frame, "frame")
    if not isinstance(native, pd.DataFrame):
        raise InputTypeError("{frame} must be a data frame; got {kind}.", kind=type(frame).__name__)
    if target is not None and target_texts is not None:
        raise InputError("{target_texts} takes the place of {target}: pass one of them.")
    columns = _names(texts, "texts", native)
    people = [] if target_texts is None else _names(target_texts, "target_texts", native)
    given = [] if people else _names(labels if target is None else target, "target", native)
    of_classes = len(given) == 1 < len(labels)
    labeler = WordListLabeler(labels, exclusive=of_classes, refusals="english")
    labelled = {name: _labels(labeler, name, native[name]) for name in (*people, *columns)}
    unread = {
        name: list(dict.fromkeys(_texts(native[name])[of_text[NO_LABEL] == 1]))
        for name, of_text in labelled.items()
    }
    rest = native.drop(columns=list(labelled))
    if of_classes:
        names, sides = given, {}
        made: dict[str, Any] = {given[0]: _classes(rest, given[0], labels)}
        shown = {name: [f"{name}: label"] for name in columns}
        made |= {f"{name}: label": labelled[name].idxmax(axis=1).astype(object) for name in columns}
    else:
        truth = labelled[people[0]] if people else _indicators(rest, given, labels)
        if refusals is None:
            refusals = any(side[REFUSAL].any() for side in (truth, *labelled.values()))
        own, sides = [REFUSAL] * refusals, {"labels": truth}
        names = [*(given if len(given) == 1 else labels), *own]
        shown = {name: [f"{name}: {label}" for label in (*labels, *own)] for name in columns}
        made = {name: truth[name] for name in names}
        for name in columns:
            values = (labelled[name][label] for label in (*labels, *own))
            made |= dict(zip(shown[name], values, strict=True))
    taken = set(made) & (set(rest) - set(given))
    if taken:
        text = (
            "{labels} names a label {seen}, and a column that holds something else is called so. "
            "Rename the label or the column."
        )
        raise InputError(text, seen=quote(sorted(taken)))
    sides |= {name: labelled[name] for name in columns}
    return LabelledTexts(
        rest.drop(columns=given).assign(**made),
        names,
        shown,
        pd.DataFrame({name: side[NO_LABEL] == 1 for name, side in sides.items()}),
        {name: several for name, several in unread.items() if several},
    )


def _names(value: Any, role: str, frame: pd.DataFrame) -> list[str]:
    """Return names of columns that a frame has."""
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, Sequence | Mapping) or not all(isinstance(c, str) for c in several):
        text = "{name} must name columns by text; got {seen!r}."
        raise InputTypeError(text, name=role, seen=value)
    for name in several:
        if name not in frame:
            raise no_column(name, frame.columns, role)
        if list(frame.columns).count(name) > 1:
            text = "{frame} has more than one column {seen!r}. Rename columns."
            raise InputError(text, seen=name)
    return list(dict.fromkeys(several))


def _texts(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), "")


def _labels(labeler: WordListLabeler, column: str, texts: pd.Series) -> pd.DataFrame:
    """Return the labels of a column; an empty cell is a text that says nothing."""
    texts = _texts(texts)
    numbers = [text for text in texts if not isinstance(text, str)]
    if numbers:
        text = "column {column!r} must hold texts; got {seen!r}. Name a column of texts."
        raise InputError(text, column=column, seen=numbers[0])
    labels = labeler.transform(texts)
    if labels[NO_LABEL].all():
        text = (
            "{labels} has no word that is in any of the {n:,} texts of column {column!r}{such}. "
            "Add the words that these texts use."
        )
        such = f", such as {texts.iloc[0]!r}" if len(texts) else ""
        raise InputError(text, n=len(texts), column=column, such=such)
    return labels


def _indicators(frame: pd.DataFrame, target: list[str], labels: Mapping[str, Any]) -> pd.DataFrame:
    """Return 0/1 columns of true labels."""
    if max(len(target), len(labels)) > 1 and set(target) != set(labels):
        text = (
            "{target} must name the labels in {labels}, {names}; got {seen}. Call these columns "
            "and the labels alike."
        )
        raise InputError(text, names=quote(labels), seen=quote(target))
    truth = frame[target]
    other = [name for name in truth if not truth[name].isin([0, 1]).all()]
    if other:
        text = "{target} must name 0/1 columns; {column!r} has the value {seen!r}."
        values = truth[other[0]]
        raise InputError(text, column=other[0], seen=values[~values.isin([0, 1])].tolist()[0])
    truth = truth.astype(int)
    empty = (truth.sum(axis=1) == 0).astype(int)
    truth[REFUSAL], truth[NO_LABEL] = 0, empty
    return truth


def _classes(frame: pd.DataFrame, target: str, labels: Mapping[str, Any]) -> pd.Series:
    """Return the class of each row."""
    classes = frame[target].astype(str)
    strange = sorted(set(classes) - set(labels))
    if strange:
        text = (
            "column {column!r} of {target} has the class {seen}, and {labels} has no words for it. "
            "It has the labels {names}."
        )
        raise InputError(text, column=target, seen=quote(strange), names=quote(labels))
    return classes
