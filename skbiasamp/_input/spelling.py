"""Names as people write them: which look alike, and which column is meant by one."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from skbiasamp._input.checks import Names
from skbiasamp._input.errors import InputError, Name, quote
from skbiasamp._utils.warnings import warn


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


def positions_of(
    names: Names, titles: Names, argument: Name, other: Name, *, listed: bool = False
) -> list[int] | None:
    """Return where the column of each name is among `titles`; None: they have the order of names.

    Names are found as they are, as text, whatever their case, and behind what all titles have in
    common ("p_cook", "p_driver"). If only some are found, nobody knows which the others are; if
    none is, a warning says so, unless the caller `listed` the columns in their order.
    """
    unnamed = tuple(range(len(titles)))
    of_polars = tuple(f"column_{i}" for i in unnamed)  # where nobody gave names
    if len(titles) < 2 or titles in (names, unnamed, of_polars):
        return None
    by_text, shown = [spelt(name) for name in names], [spelt(title) for title in titles]
    for wanted, there in ((list(names), list(titles)), (by_text, shown)):
        if order := _in_order(wanted, there):
            return order
    if names == unnamed:
        return None  # labels without names
    ends = Counter(
        (title[:at], title[at + len(name) :])
        for title in shown
        for name in by_text
        if (at := title.find(name)) >= 0
    )
    for before, after in ends:
        if order := _in_order([before + name + after for name in by_text], shown):
            return order
    if listed:
        return None
    n_common = max((n for end, n in ends.items() if any(end)), default=0)
    if set(by_text) & set(shown) or n_common > 1:
        raise InputError(
            "{name} has the columns {titles}, and {other} are {names}: only some match. Name all "
            "columns alike, or pass an array, whose columns are taken in this order.",
            name=argument,
            titles=quote(titles),
            other=other,
            names=quote(names),
        )
    warn(
        f"{argument} has the columns {quote(titles)}, none of which is one of the {other} "
        f"({quote(names)}): they are taken in this order."
    )
    return None


def _in_order(wanted: Sequence[Any], there: Sequence[Any]) -> list[int] | None:
    """Return where each wanted name is, if there are just these."""
    at = {name: i for i, name in enumerate(there)}
    if len(at) < len(there) or set(wanted) != set(at) or len(wanted) != len(there):
        return None
    return [at[name] for name in wanted]
