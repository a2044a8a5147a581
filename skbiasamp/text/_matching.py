"""Lists of words, and where they are in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from sklearn.base import TransformerMixin

from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import WithOptions

_JOINERS = "\u00ad\u200c\u200d\u2060"  # soft hyphen, joiners: they do not end a word
_LETTER = r"[^\W_]"
_GAP = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_APOSTROPHE = re.compile("['\u2019\u02bc\u2018\uff07`\u00b4]")
_IRREGULAR = {
    "man": "men",
    "child": "children",
    "person": "people",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
}


class Found(NamedTuple):
    """A listed word in a text: where it is, which word, and of which lists."""

    start: int
    end: int
    word: str
    names: list[str]


class _Characters(dict[int, str]):
    """How characters of decomposed text are compared, by their codes.

    Accents become letters, since a word does not end before one: those of Hangul syllables, which
    no decomposed text has.
    """

    _letters = count(0xAC00)

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _JOINERS:
            self[code] = ""
        elif unicodedata.category(character).startswith("M"):
            self[code] = chr(next(self._letters))
        else:
            self[code] = character.casefold()
        return self[code]


_CHARACTERS = _Characters()
_ORPHANS = re.compile(rf"[\uac00-\ud7a3](?<!{_LETTER}.)[\uac00-\ud7a3]*", re.DOTALL)


def _folded(text: str) -> str:
    """Return a text as it is compared: decomposed, case folded, without joiners."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFD", text).translate(_CHARACTERS)
    # What combines with no letter, as after an emoji, is no part of the word after it.
    return _ORPHANS.sub(lambda match: "\ufffd" * len(match[0]), folded)


def _key(folded: str) -> str:
    """Return what is the same for all ways to write spaces, hyphens and apostrophes."""
    return _APOSTROPHE.sub("'", _GAP.sub(" ", folded)).strip("' ")


def _plurals(word: str) -> Iterator[str]:
    """Yield what the regular English plural of a word may be."""
    head, _, last = word.rpartition(" ")
    head = head and f"{head} "
    for ending, plural in _IRREGULAR.items():
        if last.endswith(ending):
            yield head + last.removesuffix(ending) + plural
    # Shorter words would give others: "mr" would give "mrs", "us" "uses", and "i" "is".
    if not last.isalpha() or len(last) < 3:
        return
    if last.endswith(("s", "x", "z", "ch", "sh")):
        yield f"{head}{last}es"
        return
    yield f"{head}{last}s"
    if last.endswith("o"):
        yield f"{head}{last}es"
    if last.endswith("y") and last[-2] not in "aeiou":
        yield f"{head}{last[:-1]}ies"
    if last.endswith(("f", "fe")):
        yield f"{head}{last.removesuffix('e')[:-1]}ves"


class Matcher:
    """Find the words of lists in texts.

    Words are compared without regard to case and to how accents are encoded. A word ends before
    anything that is no letter, digit, or accent. In phrases, spaces and hyphens are the same.
    """

    def __init__(
        self,
        lists: Mapping[str, list[str]],
        *,
        plurals: bool,
        role: str = "words",
        once: bool = True,
    ) -> None:
        self._role = role
        self._entries: dict[str, tuple[str, list[str]]] = {}
        for name, words in lists.items():
            for word in words:
                names = self._add(word, name)
                if once and len(names) > 1:
                    text = "{words} must name a word once; {word!r} is in {one!r} and in {two!r}."
                    raise InputError(text, word=word, one=names[0], two=names[1])
        if plurals:
            # A plural that is listed itself is not made from another word.
            listed = dict(self._entries)
            for word, names in listed.values():
                for name in list(names):
                    for plural in _plurals(word):
                        if _key(_folded(plural)) not in listed:
                            self._add(plural, name)
        self._pattern = _pattern_of(list(self._entries))

    def _add(self, word: str, name: str) -> list[str]:
        """Add a word of a list, and return all lists that it is in."""
        key = _key(_folded(word))
        if not key:
            text = "{name} must hold words; got {word!r}, which has no letter."
            raise InputError(text, name=self._role, word=word)
        bare = "".join(character for character in word if character not in _JOINERS)
        shown = unicodedata.normalize("NFC", unicodedata.normalize("NFD", bare).casefold())
        _, names = self._entries.setdefault(key, (_key(shown), []))
        if name not in names:
            names.append(name)
        return names

    def find(self, text: str) -> Iterator[Found]:
        """Yield the listed words of a text, left to right; the longest of those that overlap."""
        folded, places = _folded(text), list[int]()
        for match in self._pattern.finditer(folded):
            start, end = match.span()
            if not text.isascii():
                # Where in the text each character of the folded text comes from.
                places = places or [
                    i
                    for i, character in enumerate(text)
                    for _ in (character if character.isascii() else _folded(character))
                ]
                start, end = places[start], places[end - 1] + 1
            entry = self._entries.get(match[0]) or self._entries[_key(match[0])]
            yield Found(start, end, *entry)


def _pattern_of(keys: list[str]) -> re.Pattern[str]:
    """Return a pattern of any of some words, the longest first."""
    by_first: dict[str, list[str]] = {}
    for key in sorted(keys, key=len, reverse=True):
        by_first.setdefault(key[0], []).append(key)
    parts = []
    for first, several in by_first.items():
        # After the first character: most places are passed over by that alone.
        start = f"(?<!{_LETTER}.)" * first.isalnum()
        rests = [
            # Gaps and apostrophes may be written in any way.
            re.escape(key[1:]).replace(r"\ ", _GAP.pattern).replace("'", _APOSTROPHE.pattern)
            + f"(?!{_LETTER})" * key[-1].isalnum()
            for key in several
        ]
        parts.append(f"{re.escape(first)}{start}(?:{'|'.join(rests)})")
    return re.compile("|".join(parts))


def read_texts(X: Any) -> list[str]:
    """Return texts as a list, or raise if something in it is no text."""
    if isinstance(X, str | bytes):
        raise InputTypeError("{X} must be a list of texts; got one text.")
    if isinstance(X, list):
        texts = X
    else:
        column = to_native(X, "X")
        if column.ndim == 2 and column.shape[1] != 1:
            text = "{X} must be one column of texts; got {n} columns."
            raise InputError(text, n=column.shape[1])
        texts = (column.to_numpy() if hasattr(column, "to_numpy") else column).ravel().tolist()
    for i, text_of_row in enumerate(texts):
        if type(text_of_row) is not str and not isinstance(text_of_row, str):
            text = (
                "{X} must hold texts; got {seen!r} at position {i}. Replace missing texts by "
                "'', or leave these rows out."
            )
            raise InputTypeError(text, seen=text_of_row, i=i)
    return texts


def read_lists(words: Any, role: str = "words") -> dict[str, list[str]]:
    """Return lists of words by name; one list without a name is called 'words'."""
    lists = words if isinstance(words, Mapping) else {"words": words}
    read: dict[str, list[str]] = {}
    for name, list_of_words in lists.items():
        if isinstance(list_of_words, str | bytes | Mapping) or not hasattr(
            list_of_words, "__iter__"
        ):
            text = "{name} must be a list of words, or a dict of such lists; got {seen!r}."
            raise InputTypeError(text, name=role, seen=list_of_words)
        read[str(name)] = several = list(list_of_words)
        for word in several:
            if not isinstance(word, str):
                text = "{name} must hold words; got {seen!r}."
                raise InputTypeError(text, name=role, seen=word)
        if not several:
            raise InputError(
                "{name} must name a word; got {seen!r}.", name=role, seen=list_of_words
            )
    if not read:
        raise InputError("{name} must name a word; got {seen!r}.", name=role, seen=words)
    return read


class TextTransformer(TransformerMixin, WithOptions):
    """A transformer whose X is one column of texts. It may be used without `fit`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
