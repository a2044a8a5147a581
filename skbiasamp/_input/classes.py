"""Classes and their names: what people write alike, which values are groups or probabilities."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, Names, kind_of_name
from skbiasamp._input.errors import InputError, plain, quote, rows_of
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
    characters = (
        c
        for c in text
        if c.isspace() or not (unicodedata.category(c) in ("Cc", "Cf") or c in _BLANK)
    )
    return unicodedata.normalize("NFC", "".join(characters))


# Characters that are drawn as nothing, though Unicode has them for letters or marks: joiners,
# fillers of Hangul, and variation selectors, which choose how the character before is drawn.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0").union(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)


def positions_of(
    names: Names,
    titles: Names,
    argument: str,
    other: str,
    *,
    listed: bool,
    classes: bool = False,
) -> list[int] | slice:
    """Return where the column of each name is among `titles`; a slice if they are in this order.

    Names are found as they are, as text, whatever their case, and behind what all titles have in
    common ("p_cook", "p_driver"). If only some are found, nobody knows which the others are; if
    none is, a warning says so, unless the caller `listed` the columns in their order. `classes`:
    names are the values of one label.
    """
    unnamed = tuple(range(len(titles)))
    of_polars = tuple(f"column_{i}" for i in unnamed)  # where nobody gave names
    if len(titles) < 2 or titles in (names, unnamed, of_polars):
        return slice(None)
    by_text, shown = [spelt(name) for name in names], [spelt(title) for title in titles]
    for wanted, there in ((list(names), list(titles)), (by_text, shown)):
        if order := _in_order(wanted, there):
            return order
    ends = Counter(
        (title[:at], title[at + len(name) :])
        for title in shown
        for name in by_text
        if (at := title.find(name)) >= 0
    )
    for before, after in ends:
        if order := _in_order([before + name + after for name in by_text], shown):
            return order
    # Columns of an array have no names; classes 0, 1 and 2 have.
    if listed or (names == unnamed and not classes):
        return slice(None)
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
    return slice(None)


def _in_order(wanted: Sequence[Any], there: Sequence[Any]) -> list[int] | None:
    """Return where each wanted name is, if there are just these."""
    at = {name: i for i, name in enumerate(there)}
    if len(at) < len(there) or set(wanted) != set(at) or len(wanted) != len(there):
        return None
    return [at[name] for name in wanted]


# --------------------------------------------------------------------------- names of classes


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


def sort_names(names: Iterable[Hashable]) -> Names:
    """Sort names; of mixed types by type first."""
    names = set(names)
    try:
        return tuple(sorted(names))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(names, key=lambda name: (type(name).__name__, str(name))))


def united(every: Iterable[Names]) -> Names:
    """Return the names of all: in the order of the first if it has all of them, else sorted."""
    first, *others = every
    names = set(first).union(*others)
    return first if len(names) == len(first) else sort_names(names)


def whole_classes(classes: Names) -> Names:
    """Return both classes of a binary label that happens to be constant, else the classes."""
    if classes == (-1,):
        return (-1, 1)
    if len(classes) == 1 and classes[0] in (0, 1):
        return tuple(type(classes[0])(i) for i in (0, 1))
    return classes


def positive_class(pos_label: Any, classes: Names) -> tuple[Names, Hashable]:
    """Return the classes of a binary label and which of them `pos_label` names.

    Text names a number or a truth value that is written so: files and commands know no types.
    """
    whole = whole_classes(classes)
    if len(whole) > 2:
        raise InputError(
            "{pos_label} names the positive class of a binary label, and {y_true} has {n} classes "
            "({classes}), each a task of its own. Leave {pos_label} out.",
            n=len(whole),
            classes=quote(whole),
        )
    wanted = plain(pos_label)
    known = isinstance(wanted, Hashable)  # arrays and frames are no class
    matching = [name for name in whole if known and kind_of_name(name) == kind_of_name(wanted)]
    matching = [name for name in matching if name == wanted]
    if not matching and isinstance(wanted, str):
        written = (name for name in whole if not isinstance(name, str))
        matching = [name for name in written if spelt(name) == spelt(wanted)]
    if not matching and len(whole) == 1 and kind_of_name(wanted) == kind_of_name(whole[0]):
        # A label that happens to be constant, in one of many chunks for example.
        matching, whole = [wanted], sort_names((*whole, wanted))
    if not matching:
        text = (
            "{pos_label} must be one of the classes of {y_true}, {classes}. Got {seen!r} instead."
        )
        raise InputError(text, classes=quote(whole), seen=wanted)
    return (classes if matching[0] in classes else whole), matching[0]


def no_positive_class(problem: str) -> InputError:
    """Return the error for a positive class of labels that are not one column of classes."""
    return InputError(
        "{pos_label} names the positive class of a binary label in one column, and {y_true} "
        "{seen}. Leave {pos_label} out.",
        seen=problem,
    )


def task_names(classes: Names, pos_label: Hashable) -> tuple[Names, list[int | None]]:
    """Return the tasks of a 1-D label, and for each its position among the classes.

    Two classes are one task, the positive class: `pos_label`, or the greater. A lone 0 or False,
    1 or True is a binary label that happens to be constant.
    """
    if pos_label is not None:
        return (pos_label,), [classes.index(pos_label)]
    if len(classes) == 2:
        return classes[1:], [1]
    whole = whole_classes(classes)
    if whole != classes:
        return whole[1:], [0 if classes == whole[1:] else None]
    return classes, list(range(len(classes)))


# --------------------------------------------------------------------------- what a column is

# Kinds of values of which some look alike: 1 and '1', a day and its midnight.
_TIMES = ("date", "times without a time zone", "times with a time zone")
_ALIKE = ("numbers", "text", "bytes", *_TIMES)
_OF_ONE_KIND = ({int}, {str})  # most columns
_LONGEST = 60  # characters of a text that is shown


def check_one_kind(
    values: Sequence[Any], codes: Array, name: str, weight: Array | None = None
) -> None:
    """Raise if the values of a column are of several kinds that look alike.

    pandas.read_csv reads a long file in parts, and so the same cells as numbers and as text.
    """
    if set(map(type, values)) in _OF_ONE_KIND:
        return
    kinds_there = {kind_of_name(value) for value in values}
    kinds = [kind for kind in _ALIKE if kind in kinds_there]
    if len(kinds) < 2:
        return
    rows = np.bincount(codes, weight)
    kinds_seen = []
    for kind in kinds:
        at = [i for i, value in enumerate(values) if kind_of_name(value) == kind]
        examples = quote([values[i] for i in at[:3]])
        kinds_seen.append(f"{kind} in {rows_of(rows[at].sum())} (such as {examples})")
    fix = "text (astype(str), or pandas.read_csv(..., dtype=str)), or numbers (pandas.to_numeric)"
    if "bytes" in kinds:
        fix = "text (decode the bytes)"
    elif kinds[0] in _TIMES:
        fix = "times in one time zone (pandas.to_datetime(..., utc=True))"
    raise InputError(
        "{name} must hold values of one type; got {seen}. Values that look the same would be two "
        "groups or classes. Make the whole column {fix}.",
        name=name,
        seen=" and ".join(kinds_seen),
        fix=fix,
    )


def check_no_texts(values: Sequence[Any], n_rows: float, name: str) -> None:
    """Raise if most of a column's many classes are texts; `values` are the distinct ones.

    If most rows have a value of their own, texts are those of several words. Else they are
    sentences, however often each occurs.
    """
    n, texts = len(values), [value for value in values if isinstance(value, str)]
    if n > n_rows / 2:
        texts = [text for text in texts if len(text.split()) > 1 or is_unspaced(text)]
    else:
        texts = list(filter(is_sentence, texts))
    if len(texts) > n / 2:
        spaces = " Put spaces between their words first." if is_unspaced(texts[0]) else ""
        raise InputError(
            "{name} must hold classes; got {n:,} different texts in {rows}, such as {seen!r}. "
            "Audit texts with {LICAuditor}, or read labels from them first with {WordListLabeler}."
            "{spaces} If they are classes, pass numbers in their place (pandas.factorize).",
            name=name,
            n=n,
            rows=rows_of(n_rows),
            seen=textwrap.shorten(texts[0], _LONGEST, placeholder=" …"),
            spaces=spaces,
        )


def are_probabilities(
    values: Sequence[Any], classes: Names | None, positive: Hashable, name: str
) -> bool:
    """Return whether a column of no other `values` than the floats 0.0 and 1.0 holds probabilities.

    They are probabilities if they are no classes. If they are, it must make no difference: 1 is
    then the positive class, or 0 the other. Without labels (None), 0 and 1 are the classes.
    """
    known = (0, 1) if classes is None else whole_classes(classes)
    constant = len(known) == 1 and kind_of_name(known[0]) == "numbers"
    if not constant and not set(values) <= set(known):
        return True
    positive = known[-1] if positive is None else positive
    if len(known) > 2 or (not constant and all((v == 1) == (v == positive) for v in values)):
        return False
    raise InputError(
        "{name} holds only the floats {seen}, which may be classes, or probabilities of the "
        "positive class, {positive!r}. Pass classes as integers (astype(int)), and probabilities "
        "{fix}.",
        name=name,
        seen=quote(sorted(map(float, values))),
        positive=positive,
        fix="as classes too: (p < 0.5).astype(int)"
        if classes is None
        else "as two columns, one for each class (predict_proba)",
    )


def recode(codes: Array, names: Names, onto: Names) -> Array:
    """Return codes into `names` as codes into `onto`, which holds them all."""
    if names == onto:
        return codes
    position = {name: i for i, name in enumerate(onto)}
    # The last one is for code -1, which is none of the names and stays so.
    kind = np.min_scalar_type(-1 - len(onto))
    return np.array([*(position[name] for name in names), -1], dtype=kind)[codes]
