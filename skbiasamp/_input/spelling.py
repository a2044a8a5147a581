"""Spellings of names: which texts look alike, and would be two labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable

from skbiasamp._input.checks import Names
from skbiasamp._input.errors import InputError


def check_spelling(
    labels: Names, predictions: Names, known: Names, argument: str, other: str
) -> None:
    """Raise if a prediction is a label in another spelling: 'Yes' for 'yes', '1.0' for '1'.

    Names that are `known` from training are classes, however alike.
    """
    spellings = {spelt(name): name for name in labels}
    own = {*labels, *known}
    for name in predictions:
        label = spellings.get(spelt(name))
        if label is not None and name not in own and isinstance(name, str | tuple):
            look_alike = visible(str(name)) == visible(str(label))
            raise InputError(
                "{other} holds {seen} where {name} holds {label}, which would be two labels. Use "
                "one spelling in both.",
                name=argument,
                other=other,
                seen=ascii(name) if look_alike else repr(name),
                label=ascii(label) if look_alike else repr(label),
            )


def spelt(name: Hashable) -> str:
    """Return a name as text, the same for all of its spellings."""
    return unspaced(visible(str(name))).removesuffix(".0")


def unspaced(text: str) -> str:
    """Return text without what spaces and capital letters make of it."""
    return " ".join(text.split()).casefold()


def visible(text: str) -> str:
    """Return text as it looks: without invisible characters, and in one Unicode normal form."""
    if text.isascii() and text.isprintable():
        return text
    characters = (c for c in text if c.isspace() or not _is_invisible(c))
    return unicodedata.normalize("NFC", "".join(characters))


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf") or character in _BLANK


# Characters that are drawn as nothing, though Unicode has them for letters or marks: joiners,
# fillers of Hangul, and variation selectors, which choose how the character before is drawn.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
