"""Columns of predictions, found by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skbiasamp._input.checks import Names
from skbiasamp._input.errors import InputError, Name, quote
from skbiasamp._input.spelling import spelt
from skbiasamp._utils.warnings import warn


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
