"""Lists of words, and where they are in a text."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError

_JOINERS = "\u00ad\u200c\u200d\u2060"  # soft hyphen, joiners: they do not end a word
_APOSTROPHES = "'\u2019\u02bc\u2018\uff07`\u00b4"
_GAP = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
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


class _Entry(NamedTuple):
    rest: tuple[tuple[str, str], ...]  # what follows the first token: gap and token
    word: str
    names: list[str]


class _Keys(dict[str, str]):
    """Tokens as they are compared."""

    def __missing__(self, token: str) -> str:
        self[token] = key = _key(token)
        return key


def _key(token: str) -> str:
    """Return a token as it is compared: case folded, composed, without joiners."""
    if token.isascii():
        return token.lower()
    bare = token.translate(dict.fromkeys(map(ord, _JOINERS)))
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", bare).casefold())


@cache
def _marks() -> str:
    """Return the characters that combine with a letter before them, as a class of a pattern."""
    codes = [c for c in range(0x300, sys.maxunicode) if unicodedata.category(chr(c))[0] == "M"]
    ends = [c for c, after in zip(codes, [*codes[1:], -1], strict=True) if after != c + 1]
    starts = [c for c, before in zip(codes, [-1, *codes[:-1]], strict=True) if before != c - 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))


@cache
def _tokens(symbols: str) -> re.Pattern[str]:
    """Return the pattern of a token: a run of letters and digits, or one of some symbols."""
    letter, marks = r"[^\W_]", _marks()
    word = rf"{letter}+(?:(?:[{marks}]+|[{_JOINERS}]+(?={letter})){letter}*)*"
    return re.compile(f"{word}|[{re.escape(symbols)}]" if symbols else word)


def _gap(text: str) -> str:
    """Return what is between two tokens, as it is compared."""
    if not text:
        return ""
    if _GAP.fullmatch(text):
        return " "
    return "'" if len(text) == 1 and text in _APOSTROPHES else text


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
        letters = _tokens("")
        symbols: dict[str, None] = {}
        for words in lists.values():
            for word in words:
                outside = letters.sub("", word)
                symbols |= dict.fromkeys(
                    c for c in outside if c not in _APOSTROPHES and not _GAP.fullmatch(c)
                )
        self._pattern = _tokens("".join(sorted(symbols)))
        self._keys = _Keys()
        self.entries: dict[str, list[_Entry]] = {}
        self._of: dict[tuple[str, ...], _Entry] = {}
        for name, words in lists.items():
            for word in words:
                self._add(word, name)
                if once and len(names := self._of[self._split(word)].names) > 1:
                    text = "{words} must name a word once; {word!r} is in {one!r} and in {two!r}."
                    raise InputError(text, word=word, one=names[0], two=names[1])
        if plurals:
            # A plural that is listed itself is not made from another word.
            made = [(one, name) for one in self._of.values() for name in one.names]
            listed = set(self._of)
            for entry, name in made:
                for plural in _plurals(entry.word):
                    if self._split(plural) not in listed:
                        self._add(plural, name)
        for held in self.entries.values():
            held.sort(key=lambda entry: -len(entry.rest))

    def _split(self, word: str) -> tuple[str, ...]:
        """Return tokens and the gaps between them, as they are compared."""
        tokens = list(self._pattern.finditer(word))
        parts = [self._keys[tokens[0][0]]] if tokens else []
        for before, after in pairwise(tokens):
            parts += [_gap(word[before.end() : after.start()]), self._keys[after[0]]]
        return tuple(parts)

    def _add(self, word: str, name: str) -> None:
        whole = self._split(word)
        if not whole:
            text = "{name} must hold words; got {word!r}, which has no letter."
            raise InputError(text, name=self._role, word=word)
        entry = self._of.get(whole)
        if entry is None:
            rest = tuple(zip(whole[1::2], whole[2::2], strict=True))
            entry = self._of[whole] = _Entry(rest, "".join(whole), [])
            self.entries.setdefault(whole[0], []).append(entry)
        if name not in entry.names:
            entry.names.append(name)

    def find(self, text: str) -> Iterator[Found]:
        """Yield the listed words of a text, left to right; the longest of those that overlap."""
        known, keys = self.entries, self._keys
        tokens = list(self._pattern.finditer(text))
        i = 0
        while i < len(tokens):
            held = known.get(keys[tokens[i][0]])
            for entry in held or ():
                n = len(entry.rest)
                if n and not self._follows(text, tokens, i, entry):
                    continue
                yield Found(tokens[i].start(), tokens[i + n].end(), entry.word, entry.names)
                i += n
                break
            i += 1

    def _follows(self, text: str, tokens: list[re.Match[str]], i: int, entry: _Entry) -> bool:
        """Return whether what follows a token is the rest of a phrase."""
        if i + len(entry.rest) >= len(tokens):
            return False
        for j, (gap, key) in enumerate(entry.rest, i):
            between = _gap(text[tokens[j].end() : tokens[j + 1].start()])
            if gap != between or key != self._keys[tokens[j + 1][0]]:
                return False
        return True


def read_texts(X: Any, name: str = "X") -> list[str]:
    """Return texts as a list, or raise if something in it is no text."""
    if isinstance(X, str | bytes):
        raise InputTypeError("{name} must be a list of texts; got one text.", name=name)
    if isinstance(X, list):
        texts = X
    else:
        held = to_native(X, name)
        if held.ndim == 2 and held.shape[1] != 1:
            text = "{name} must be one column of texts; got {n} columns."
            raise InputError(text, name=name, n=held.shape[1])
        texts = (held.to_numpy() if hasattr(held, "to_numpy") else held).ravel().tolist()
    for i, one in enumerate(texts):
        if type(one) is not str and not isinstance(one, str):
            text = (
                "{name} must hold texts; got {seen!r} at position {i}. Replace missing texts by "
                "'', or leave these rows out."
            )
            raise InputTypeError(text, name=name, seen=one, i=i)
    return texts


def read_lists(words: Any, role: str = "words") -> dict[str, list[str]]:
    """Return lists of words by name; one list without a name is called 'words'."""
    lists = words if isinstance(words, Mapping) else {"words": words}
    read: dict[str, list[str]] = {}
    for name, held in lists.items():
        if isinstance(held, str | bytes | Mapping) or not hasattr(held, "__iter__"):
            text = "{name} must be a list of words, or a dict of such lists; got {seen!r}."
            raise InputTypeError(text, name=role, seen=held)
        read[str(name)] = several = list(held)
        for one in several:
            if not isinstance(one, str):
                text = "{name} must hold words; got {seen!r}."
                raise InputTypeError(text, name=role, seen=one)
        if not several:
            raise InputError("{name} must name a word; got {seen!r}.", name=role, seen=held)
    if not read:
        raise InputError("{name} must name a word; got {seen!r}.", name=role, seen=words)
    return read
