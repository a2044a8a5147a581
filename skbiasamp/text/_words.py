"""Lists of words: where they are in texts, and their replacement; words that name a gender."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin

from skbiasamp._input.checks import check_call, check_option
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import Option, PositionalOption, WithOptions, keywords
from skbiasamp._utils.warnings import warn

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


# --------------------------------------------------------------------------- masked words

# Words and their plurals. Left out: words that mean something else more often ("miss", "chick",
# "buck"), and traits that only correlate with a gender ("pregnant", "beard").
_FEMALE = """
woman women womens female females feminine womanly womanhood
she her hers herself
girl girls girly schoolgirl schoolgirls cowgirl cowgirls girlfriend girlfriends
lady ladies landlady landladies gal gals lass lasses madam ma'am mrs ms mademoiselle
mother mothers mom moms mommy mommies momma mum mums mama mamas ma
grandmother grandmothers grandma grandmas granny grannies stepmother stepmothers
godmother godmothers mother-in-law mothers-in-law
daughter daughters granddaughter granddaughters stepdaughter stepdaughters
daughter-in-law daughters-in-law
sister sisters stepsister stepsisters sister-in-law sisters-in-law
aunt aunts auntie aunties niece nieces
wife wives housewife housewives widow widows fiancée fiancées fiancee fiancees
bride brides bridesmaid bridesmaids
actress actresses waitress waitresses hostess hostesses stewardess stewardesses
seamstress seamstresses ballerina ballerinas heroine heroines goddess goddesses
doorwoman doorwomen princess princesses queen queens duchess duchesses empress empresses nun nuns
"""
_MALE = """
man men mans mens male males masculine manly manhood
he him his himself
boy boys boyish schoolboy schoolboys cowboy cowboys boyfriend boyfriends
gentleman gentlemen gent gents landlord landlords guy guys dude dudes lad lads fella fellas
sir mr mister
father fathers dad dads daddy daddies papa papas
grandfather grandfathers grandpa grandpas granddad granddads stepfather stepfathers
godfather godfathers father-in-law fathers-in-law
son sons grandson grandsons stepson stepsons son-in-law sons-in-law
brother brothers bro bros stepbrother stepbrothers brother-in-law brothers-in-law
uncle uncles nephew nephews
husband husbands househusband househusbands widower widowers fiancé fiancés fiance fiances
groom grooms bridegroom bridegrooms groomsman groomsmen
actor actors waiter waiters steward stewards
doorman doormen prince princes king kings duke dukes emperor emperors monk monks
"""
# What "man" and "woman" end.
_COMPOUNDS = """
alder anchor bats bar base business camera chair congress council country crafts fire fisher
fore front gun handy horse lay mail middle milk noble police post repair sales service show spokes
sports states stunt work yachts
"""


@keywords()
def gender_words(gender: str | None = None) -> list[str]:
    """Return English words that name a gender: nouns, pronouns, family and titles.

    Parameters
    ----------
    gender : {"female", "male"}, default=None
        "female" and "male": the words of this gender. None: all of them.

    Returns
    -------
    words : list of str
        Words with their plurals, sorted.

    Notes
    -----
    Pairs such as "waiter" and "waitress" are both in the list. A text without "waitress" but
    with "waiter" would still reveal the gender.

    Examples
    --------
    >>> from skbiasamp.text import gender_words
    >>> "policewomen" in gender_words("female"), "surgeon" in gender_words()
    (True, False)
    """
    check_option("gender", gender, (None, "female", "male"))
    compounds = _COMPOUNDS.split()
    words = {
        "female": [*_FEMALE.split(), *(c + end for c in compounds for end in ("woman", "women"))],
        "male": [*_MALE.split(), *(c + end for c in compounds for end in ("man", "men"))],
    }
    return sorted(words["female"] + words["male"] if gender is None else words[gender])


class WordMasker(TextTransformer):
    """Replace words of lists by placeholders in texts, and count them.

    Use it before an attacker that is to predict the group from what else a text says. Everything
    except the listed words stays as it is.

    .. versionadded:: 0.1

    Parameters
    ----------
    words : list of str, or dict of such lists, default=None
        Words and phrases to replace. None: English words that name a gender, `gender_words`.
        A list: these. A dict: several lists by name.
    placeholder : str or dict, default="<group>"
        What takes the place of a word. A str: the same for all lists. A dict: one for each list,
        by its name.
    substitute : callable, default=None
        Function of a word, as it is in the text, that returns its replacement. None: the
        placeholder.
    plurals : bool, default=True
        True replaces regular English plurals of the listed words too. False replaces the listed
        words alone.

    Attributes
    ----------
    counts_ : dict
        How often each word is in the texts that `fit` got, the most frequent first.
    n_masked_ : int
        How many of these texts have a listed word.

    See Also
    --------
    gender_words : The words that are masked by default.

    Notes
    -----
    Case, and the encoding of accents and apostrophes, make no difference. A word ends before
    anything that is no letter, digit or accent: the possessive "man's" becomes "<group>'s". In
    phrases, a space and a hyphen are the same. Of phrases that overlap, the longest is replaced.

    Examples
    --------
    >>> from skbiasamp.text import WordMasker
    >>> masker = WordMasker()
    >>> masker.fit_transform(["A Woman's bike.", "Two men on bikes"])
    ["A <group>'s bike.", 'Two <group> on bikes']
    >>> masker.counts_
    {'woman': 1, 'men': 1}
    >>> WordMasker(["wine glass"], placeholder="<object>").transform(["wine-glasses, a glass"])
    ['<object>, a glass']
    >>> swap = {"he": "she", "his": "her"}
    >>> WordMasker(list(swap), substitute=swap.get).transform(["he and his dog"])
    ['she and her dog']
    """

    words: Any = PositionalOption(list, tuple, set, dict, None, default=None, kw_only=False)
    placeholder: str | Mapping[str, str] = PositionalOption(
        str, dict, default="<group>", kw_only=False
    )
    substitute: Any = Option(None, callable, None)
    plurals: bool = Option(True, "boolean")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the listed words of texts.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.
        y : Ignored
            Here for pipelines.

        Returns
        -------
        self : WordMasker
            The fitted masker.
        """
        self._mask(read_texts(X), fit=True)
        return self

    def transform(self, X: Any) -> Any:
        """Replace the listed words of texts.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.

        Returns
        -------
        masked : list, Series or ndarray of str
            The masked texts: a Series if X is one, an array if X is one, else a list.
        """
        return _like(X, self._mask(read_texts(X)))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Count the listed words of texts, and replace them.

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
        masked : list, Series or ndarray of str
            The masked texts, as `transform` returns them.
        """
        return _like(X, self._mask(read_texts(X), fit=True))

    def _mask(self, texts: list[str], *, fit: bool = False) -> list[str]:
        """Return masked texts, and keep the counts if they are fitted."""
        self._validate_params()
        lists = read_lists(gender_words() if self.words is None else self.words)
        matcher = Matcher(lists, plurals=self.plurals)
        placeholder_of = self._placeholders(lists, matcher)
        counts: Counter[str] = Counter()
        masked, n_masked, anything_left = [], 0, False
        for text in texts:
            pieces, last = [], 0
            for start, end, word, names in matcher.find(text):
                counts[word] += 1
                replacement = placeholder_of[names[0]]
                if self.substitute is not None:
                    check_call("substitute", self.substitute, text[start:end])
                    replacement = self.substitute(text[start:end])
                    if not isinstance(replacement, str):
                        message = "{substitute} must return text; got {seen!r} for {word!r}."
                        raise InputTypeError(message, seen=replacement, word=text[start:end])
                pieces += [text[last:start], replacement]
                last = end
            pieces.append(text[last:])
            n_masked += last > 0
            anything_left = anything_left or any(map(str.isalnum, "".join(pieces[::2])))
            masked.append("".join(pieces))
        if fit:
            self.counts_ = dict(counts.most_common())
            self.n_masked_ = n_masked
            if n_masked and not anything_left:
                warn(
                    "WordMasker replaced every word of all texts: nothing is left to predict "
                    "from. Shorten the list of words."
                )
        return masked

    def _placeholders(self, lists: dict[str, list[str]], matcher: Matcher) -> dict[str, str]:
        """Return the placeholder of each list, or raise if a listed word is in it."""
        given = self.placeholder
        if isinstance(given, str):
            given = dict.fromkeys(lists, given)
        if set(map(str, given)) != set(lists):
            text = "{placeholder} must have the names of {words}, {names}; got {seen!r}."
            raise InputError(text, names=sorted(lists), seen=self.placeholder)
        for placeholder in given.values():
            if not isinstance(placeholder, str):
                text = "{placeholder} must be text; got {seen!r}."
                raise InputTypeError(text, seen=placeholder)
            if not placeholder.strip():
                text = (
                    "{placeholder} must not be empty; got {seen!r}. The words on both sides "
                    "would form new phrases."
                )
                raise InputError(text, seen=placeholder)
            for match in matcher.find(placeholder):
                text = (
                    "{placeholder} must hold no listed word; got {seen!r}, and {word!r} is listed."
                )
                raise InputError(text, seen=placeholder, word=match.word)
        return {str(name): placeholder for name, placeholder in given.items()}


def _like(X: Any, texts: list[str]) -> Any:
    """Return texts in the container of X, if this is a Series or an array."""
    if isinstance(X, pd.Series):
        return pd.Series(texts, index=X.index, name=X.name, dtype=object)
    return np.array(texts, dtype=object) if isinstance(X, np.ndarray) else texts
