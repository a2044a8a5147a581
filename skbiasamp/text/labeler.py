"""WordListLabeler: texts in, 0/1 columns out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._input.errors import InputError, InputTypeError, Role
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.warnings import warn
from skbiasamp.text._base import TextTransformer
from skbiasamp.text._matching import Matcher, read_lists, read_texts

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
            refused = self._refused(texts)
            labels &= ~refused
            columns.append(refused)
        if self.exclusive:
            labels &= labels.sum(axis=1, keepdims=True) == 1
        columns.append(~np.hstack(columns).any(axis=1, keepdims=True))
        index = X.index if isinstance(X, pd.Series | pd.DataFrame) else None
        return pd.DataFrame(np.hstack(columns).astype(np.int8), index=index, columns=names)

    def _refused(self, texts: list[str]) -> np.ndarray[Any, Any]:
        given = self.refusals
        if isinstance(given, str) and not _is_pattern(given):
            check_option("refusals", given, ("english",))
            given = _REFUSALS
            texts = [" ".join(text.replace("\u2019", "'").split()) for text in texts]
        return _labels_in(texts, {REFUSAL: given}, "refusals", plurals=self.plurals)


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
            raise InputTypeError(text, name=Role(role, f"[{name!r}]"), seen=given)
        patterns[name] = [_compiled(word, name, role) for word in several if _is_pattern(word)]
        if plain := [word for word in several if not _is_pattern(word)]:
            words[name] = plain
    return read_lists(words, role) if words else {}, patterns


def _compiled(word: Any, name: str, role: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(word[1:-1], re.IGNORECASE) if isinstance(word, str) else word
    except re.error as error:
        text = "{name} has a regular expression that is none: {seen!r}, {error}."
        raise InputError(text, name=Role(role, f"[{name!r}]"), seen=word, error=error) from None
    if not isinstance(pattern.pattern, str):
        text = "{name} must be a regular expression of text; got one of bytes."
        raise InputTypeError(text, name=Role(role, f"[{name!r}]"))
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
