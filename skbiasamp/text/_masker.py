"""WordMasker: words replaced in texts, and counted; English words that name a gender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_call, check_option
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import Option, PositionalOption, keywords
from skbiasamp._utils.warnings import warn
from skbiasamp.text._matching import Matcher, TextTransformer, read_lists, read_texts

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
