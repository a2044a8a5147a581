"""WordListLabeler: texts in, 0/1 columns out; columns of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_option, no_column
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.options import Option, PositionalOption, keywords
from skbiasamp._utils.warnings import warn
from skbiasamp.text._words import Matcher, TextTransformer, read_lists, read_texts

NO_LABEL, REFUSAL = "(no label)", "(refusal)"
_MOST_UNREAD = 10

# English refusals. "I cannot recommend ..." is an answer, and so is "I can't help but ...".
_REFUSALS = re.compile(
    r"""
    \bas\ an?\ (?:ai|large\ language\ model|language\ model)\b
    | \bi(?:'m|\ am)\ (?:just\ |only\ )?an\ ai\b
    | \bi\ (?:can't|cannot|can\ not|couldn't|could\ not|won't|will\ not|would\ not|wouldn't
        | must\ decline\ to|have\ to\ decline\ to|decline\ to)\ (?:\w+\ ){0,2}?
        (?:answer|assist|assess|comment|complete|comply|decide|describe|determine|engage|fulfill?
        | generate|help(?!\ but)|identify|infer|judge|make|predict|provide|respond|share|support)\b
    | \bi(?:'m|\ am)\ (?:unable|not\ able|not\ allowed|not\ permitted)\ to\b
    | \bi(?:'m|\ am)\ (?:\w+\ )?sorry,?\ but\ i\b
    | \bi(?:'d|\ would)\ (?:rather|prefer)\ not\b
    | \bi\ (?:do\ not|don't)\ feel\ comfortable\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class WordListLabeler(TextTransformer):
    """Read labels from texts: a list of words or a regular expression for each task.

    Use it to audit captions ("mentions a surfboard") and answers of language models ("recommends
    an interview") with any metric. Texts without a label and refusals are columns of their own.

    .. versionadded:: 0.1

    Parameters
    ----------
    labels : dict
        Tasks, and what names each: a list of words and phrases, a compiled regular expression, or
        a list of both. Text between slashes is a regular expression too, without regard to case:
        ``"/(do|would) recommend/"``.
    exclusive : bool, default=False
        False: a text has any number of labels. True: a text has one label; with two or more of
        them, none can be read.
    refusals : {"english"}, regular expression or list, default=None
        What a refusal is. A text that refuses has no other label. None: refusals are not looked
        for. "english": usual refusals of language models ("I cannot help with that"). Else words,
        phrases and regular expressions, as in `labels`.
    plurals : bool, default=True
        True finds regular English plurals of the listed words too. False finds the listed words
        alone.

    Attributes
    ----------
    counts_ : dict
        How many of the texts that `fit` got have each label, "(refusal)" and "(no label)"
        included.
    unread_ : list of str
        The first ten distinct texts of these that have no label.

    See Also
    --------
    WordMasker : Replace words of lists by placeholders.

    Notes
    -----
    Words are found as `WordMasker` finds them. The longest phrase counts: a "hot dog" is no "dog"
    if both are listed. A list does not know negation: "no surfboard" mentions one.

    Examples
    --------
    >>> from skbiasamp.text import WordListLabeler
    >>> labeler = WordListLabeler({"dog": ["dog", "puppy"], "food": ["hot dog", "pizza"]})
    >>> labeler.fit_transform(["Two puppies", "A hot-dog and a dog", "a street"])
       dog  food  (no label)
    0    1     0           0
    1    1     1           0
    2    0     0           1
    >>> labeler.counts_
    {'dog': 2, 'food': 1, '(no label)': 1}
    >>> answers = ["Yes.", "No, never.", "I cannot answer that.", "Yes and no."]
    >>> yes_no = WordListLabeler({"yes": ["yes"], "no": ["no"]}, exclusive=True, refusals="english")
    >>> yes_no.fit_transform(answers).idxmax(axis=1).tolist()
    ['yes', 'no', '(refusal)', '(no label)']
    """

    labels: Any = PositionalOption(dict, kw_only=False)
    exclusive: bool = Option(False, "boolean")
    refusals: Any = Option(None, str, re.Pattern, list, None)
    plurals: bool = Option(True, "boolean")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the labels of texts.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.
        y : Ignored
            Here for pipelines.

        Returns
        -------
        self : WordListLabeler
            The fitted labeler.
        """
        self.fit_transform(X)
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """Return the labels of texts.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.

        Returns
        -------
        labels : DataFrame of shape (n_samples, n_tasks + 1 or 2)
            A 0/1 column for each task, then "(refusal)" if refusals are looked for, and
            "(no label)". Every row has a 1. The index is that of X if X is a Series.
        """
        return self._read(X, read_texts(X))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> pd.DataFrame:
        """Count the labels of texts, and return them.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.
        y : Ignored
            Here for pipelines.
        **fit_params : dict
            Ignored.

        Returns
        -------
        labels : DataFrame
            The labels, as `transform` returns them.
        """
        texts = read_texts(X)
        labels = self._read(X, texts)
        self.counts_ = {name: int(n) for name, n in labels.sum().items()}
        without = np.flatnonzero(labels[NO_LABEL])
        self.unread_ = list(dict.fromkeys(texts[i] for i in without))[:_MOST_UNREAD]
        if texts and len(without) == len(texts):
            warn(
                f"WordListLabeler found no label in any of the {len(texts):,} texts, such as "
                f"{self.unread_[0][:80]!r}. Are these the words that the texts use?"
            )
        return labels

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : Ignored
            Here for pipelines.

        Returns
        -------
        names : ndarray of str
            The tasks, then "(refusal)" if refusals are looked for, and "(no label)".
        """
        return np.array(self._names(), dtype=object)

    def _names(self) -> list[str]:
        self._validate_params()
        own = [REFUSAL] * (self.refusals is not None) + [NO_LABEL]
        for name in self.labels:
            if not isinstance(name, str):
                raise InputTypeError("{labels} must name tasks by text; got {seen!r}.", seen=name)
            if name in (REFUSAL, NO_LABEL):
                text = "{labels} must not name a task {seen!r}: this is the class of other texts."
                raise InputError(text, seen=name)
        if not self.labels:
            raise InputError("{labels} must name a task; got {seen!r}.", seen=self.labels)
        return [*self.labels, *own]

    def _read(self, X: Any, texts: list[str]) -> pd.DataFrame:
        names = self._names()
        labels = _labels_in(texts, self.labels, "labels", plurals=self.plurals)
        columns: list[Any] = [labels]
        if self.refusals is not None:
            given = self.refusals
            if isinstance(given, str) and not _is_pattern(given):
                check_option("refusals", given, ("english",))
                given = _REFUSALS
                texts = [" ".join(text.replace("\u2019", "'").split()) for text in texts]
            refused = _labels_in(texts, {REFUSAL: given}, "refusals", plurals=self.plurals)
            labels &= ~refused
            columns.append(refused)
        if self.exclusive:
            labels &= labels.sum(axis=1, keepdims=True) == 1
        columns.append(~np.hstack(columns).any(axis=1, keepdims=True))
        index = X.index if isinstance(X, pd.Series | pd.DataFrame) else None
        return pd.DataFrame(np.hstack(columns).astype(np.int8), index=index, columns=names)


def _is_pattern(word: Any) -> bool:
    """Return whether something is a regular expression, compiled or between slashes."""
    if isinstance(word, re.Pattern):
        return True
    return isinstance(word, str) and len(word) > 2 and word[0] == word[-1] == "/"


def words_and_patterns(
    labels: Mapping[str, Any], role: str
) -> tuple[dict[str, list[str]], dict[str, list[re.Pattern[str]]]]:
    """Return words and regular expressions apart, by task."""
    words: dict[str, Any] = {}
    patterns: dict[str, list[re.Pattern[str]]] = {}
    for name, given in labels.items():
        several = [given] if _is_pattern(given) else given
        if not isinstance(several, list | tuple | set) or not several:
            text = "{name} must be a list of words or a regular expression; got {seen!r}."
            raise InputTypeError(text, name=f"{role}[{name!r}]", seen=given)
        patterns[name] = [_compiled(word, name, role) for word in several if _is_pattern(word)]
        if plain := [word for word in several if not _is_pattern(word)]:
            words[name] = plain
    return read_lists(words, role) if words else {}, patterns


def _compiled(word: Any, name: str, role: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(word[1:-1], re.IGNORECASE) if isinstance(word, str) else word
    except re.error as error:
        text = "{name} has a regular expression that is none: {seen!r}, {error}."
        raise InputError(text, name=f"{role}[{name!r}]", seen=word, error=error) from None
    if not isinstance(pattern.pattern, str):
        text = "{name} must be a regular expression of text; got one of bytes."
        raise InputTypeError(text, name=f"{role}[{name!r}]")
    return pattern


def _labels_in(
    texts: list[str], labels: Mapping[str, Any], role: str, *, plurals: bool
) -> np.ndarray[Any, Any]:
    """Return which labels texts have: one row a text, one column a label."""
    lists, patterns = words_and_patterns(labels, role)
    matched = {name: np.zeros(len(texts), bool) for name in labels}
    if lists:
        matcher = Matcher(lists, plurals=plurals, role=role, once=False)
        for i, text in enumerate(texts):
            for match in matcher.find(text):
                for name in match.names:
                    matched[name][i] = True
    for name, several in patterns.items():
        for pattern in several:
            matched[name] |= np.array([pattern.search(text) is not None for text in texts], bool)
    return np.column_stack([*matched.values()])


# --------------------------------------------------------------------------- columns of texts


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
