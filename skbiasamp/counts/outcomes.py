"""Which outcomes people want: classes or tasks that a user calls favourable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skbiasamp._input.checks import is_one
from skbiasamp._input.classes import spelt
from skbiasamp._input.errors import InputError, quote
from skbiasamp.counts.contingency import Contingency


def outcomes_of(test: Contingency, favourable: Any) -> list[bool | None]:
    """Return for each task whether people want it; None if that is unknown.

    If there are two classes, people may want the one that is no task.
    """
    if favourable is None:
        return [True] * len(test.tasks)
    wanted = favourable if isinstance(favourable, list) else [favourable]
    side = test.naming
    known = side.names if side.one_label and len(side.names) == 2 else test.tasks
    wanted = [_named(name, known) for name in wanted]
    if known is test.tasks:
        return [True if is_one(task, wanted) else None for task in test.tasks]
    return [is_one(test.tasks[0], wanted)]


def _named(name: Any, known: Sequence[Any]) -> Any:
    """Return the class or task that a user names; text names a number that is written so."""
    if is_one(name, known):
        return name
    for other in known:
        if isinstance(name, str) and not isinstance(other, str) and spelt(other) == spelt(name):
            return other
    raise InputError(
        "{favourable} must name a class or task; got {seen!r}. There are {known}.",
        seen=name,
        known=quote(known),
    )


def outcome_names(test: Contingency, wanted: list[bool | None]) -> tuple[Any, ...]:
    """Return the names of these outcomes: of two classes, the wanted one may be no task."""
    if False not in wanted:
        return test.tasks
    return tuple(name for name in test.naming.names if name not in test.tasks)
