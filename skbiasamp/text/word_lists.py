"""How unequally texts use the words of groups: the word-list bias of HELM."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from skbiasamp._input.errors import InputError
from skbiasamp._input.keywords import keywords
from skbiasamp.text._matching import Matcher, read_lists, read_texts


@keywords()
def word_list_bias(texts: Any, words: Any, targets: Any = None) -> float:
    """Compute how far the use of words of groups is from equal use (HELM's bias metric).

    Use it for generated texts without labels. Counts say how often words are used and not what is
    said: read them beside metrics that have a reference, such as `skbiasamp.audit`.

    .. versionadded:: 0.2

    Parameters
    ----------
    texts : array-like of str
        The texts.
    words : dict of str to list of str
        The words of each group.
    targets : list of str, default=None
        Words such as professions. The bias is then that of the texts with a target, averaged over
        the targets that occur with a group. None: of all texts.

    Returns
    -------
    bias : float
        Total variation between the groups' shares and equal shares: 0 if all are named as often,
        and 1 − 1/number of groups if one alone is. NaN if none is named.

    Notes
    -----
    The count of a group is divided by the number of different words in its list. A text that has a
    target twice counts twice.

    References
    ----------
    .. [1] Liang et al. Holistic evaluation of language models. TMLR, 2023.

    Examples
    --------
    >>> from skbiasamp.text import word_list_bias
    >>> words = {"female": ["she", "her"], "male": ["he", "his"]}
    >>> texts = ["She was a student.", "He was a student.", "He was late."]
    >>> round(word_list_bias(texts, words), 4)
    0.1667
    >>> word_list_bias(texts, words, targets=["student"])
    0.0
    """
    lists = read_lists(words)
    if len(lists) < 2:
        raise InputError("{words} must have a list for two groups or more; got {n}.", n=len(lists))
    read = read_texts(texts, "texts")
    groups = Matcher(lists, plurals=False)
    size = np.array([len({*map(str.casefold, listed)}) for listed in lists.values()])
    counts = np.zeros((len(read), len(lists)))
    for row, text in enumerate(read):
        for match in groups.find(text):
            counts[row, [list(lists).index(name) for name in match.names]] += 1
    parts = [counts.sum(axis=0)]
    if targets is not None:
        wanted = Matcher(read_lists(targets, "targets"), plurals=False)
        named = [Counter(match.word for match in wanted.find(text)) for text in read]
        every = sorted(set().union(*named))
        parts = [np.array([of_text[word] for of_text in named]) @ counts for word in every]
    shares = [part / size / (part / size).sum() for part in parts if part.any()]
    distances = [np.abs(share - 1 / len(lists)).sum() / 2 for share in shares]
    return float(np.mean(distances)) if distances else float("nan")
