"""Sentences: which texts are captions or answers, and which are names of classes.

Names of classes have several words too: "Diseases of the nervous system", "Holding a broom".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

FEW_TEXTS = 10  # so few different texts are classes, however few rows there are

# What sentences begin with, and names of classes seldom do. Of people only the singular: "Men
# Running Shoes" are products.
_FIRST = frozenset(
    " ".join(
        [
            "a an the this that there he she it they i we you two three several",
            "man woman boy girl",
            "ein eine der die das er sie es",
            "un une le la les il elle",
            "una uno unas unos el los las lo gli",
            "um uma o os",
            "een het de",
        ]
    ).split()
)
_VERBS = frozenset(["is", "are", "was", "were"])
_INDEFINITE = frozenset(["a", "an"])  # "the" is in names too

# Letters of scripts without spaces between words, and how many of them are several words.
_IDEOGRAPHS = re.compile("[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SYLLABLES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese, Khmer
_SEVERAL = {_IDEOGRAPHS: 5, _SYLLABLES: 12}

_UNSPACED_SENTENCES = re.compile(
    "|".join(
        [
            # Chinese: a number with its measure word, "is doing", "in … on", he or she.
            "^[一两兩三几幾][个個名位只隻辆輛条條群张張对對]",
            "正在|\\w[着著]\\w|在\\w{1,8}[上里裡中下前旁边邊]|^[他她]",
            # Japanese: particles after a noun, verbs in their longer forms.
            "を|[てで]い[るたま]|[ァ-ヶー々一-龯][がはにで][ァ-ヶ一-龯]|(?:です|ます|ました)$",
            # Thai, Lao, Khmer, Burmese: "is doing", "is at", "one".
            "กำลัง|อยู่|หนึ่ง|ກຳລັງ|ກໍາລັງ|ຢູ່|កំពុង|នៅ|နေသည်|နေတယ်",
            "[。\uff01\uff1f။។]$",
        ]
    )
)


def texts_among(values: Sequence[Any], n_rows: float) -> list[str]:
    """Return the texts among many distinct values of a column, if they are most of these.

    If most rows have a value of their own, texts are those of several words. Else they are
    sentences, however often each occurs.
    """
    n = len(values)
    is_text = has_several_words if n > n_rows / 2 else is_sentence
    texts = [value for value in values if isinstance(value, str) and is_text(value)]
    return texts if len(texts) > n / 2 else []


def has_several_words(text: str) -> bool:
    """Return whether a text has more than one word."""
    return len(text.split()) > 1 or is_unspaced(text)


def is_sentence(text: str) -> bool:
    """Return whether a text is built as sentences and captions are."""
    if is_unspaced(text):
        return _UNSPACED_SENTENCES.search(text) is not None
    words = text.casefold().split()
    if len(words) < 3:
        return False
    if words[0] in _FIRST and words[1].isalpha():  # "A 01 Crops" is no sentence
        return True
    return not _VERBS.isdisjoint(words) or (len(words) > 4 and not _INDEFINITE.isdisjoint(words))


def is_unspaced(text: str) -> bool:
    """Return whether a text has several words of a script without spaces between them."""
    if text.isascii():
        return False
    return any(len(letter.findall(text)) >= least for letter, least in _SEVERAL.items())
